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
# Every tier of headers has its group, and no licence line describes a header.
html=$(sed -n 's/^OUTPUT_DIRECTORY *= *//p' "$2")/html
for tier in base devices memory_and_execution mathematics operations files testing; do
    [ -f "$html/group__tier__$(echo "$tier" | sed 's/_/__/g').html" ] || {
        echo "there is no group of the tier $tier"
        exit 1
    }
done
if grep -l SPDX-License-Identifier "$html"/*_8h.html; then
    echo "a licence line is taken for a description in the files above"
    exit 1
fi
