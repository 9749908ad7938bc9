#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the API reference. Whatever Doxygen complains of is an error, but for members, enumerators and
# macros without a comment of their own: their names say it, or the comment above them all.
# usage: reference.sh DOXYGEN|none DOXYFILE
if [ "$1" = none ]; then
    echo "doxygen is not here"
    exit 77
fi
complaints=$("$1" "$2" 2>&1) || {
    echo "$complaints"
    exit 1
}
complaints=$(echo "$complaints" |
    grep -v -E '\((variable|enumvalue|macro definition)\) of .* is not documented\.$')
[ -z "$complaints" ] || {
    echo "$complaints"
    exit 1
}
