#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The man pages that docs/man.py makes of the pages are well-formed: mandoc and groff, as far as they are there, have
# nothing to say.
# usage: man_pages.sh PAGE...
set -u
failed=0
checked=""
if command -v mandoc >/dev/null; then
    checked="mandoc"
    mandoc -Tlint -Wwarning "$@" || failed=1
fi
if command -v groff >/dev/null && command -v tbl >/dev/null && command -v preconv >/dev/null; then
    checked="$checked groff"
    for page; do
        complaints=$(groff -K utf8 -t -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$complaints" ] || {
            echo "$complaints"
            failed=1
        }
    done
fi
[ -n "$checked" ] || {
    echo "skipped: neither mandoc nor groff is installed"
    exit 77
}
echo "$# pages checked by $checked"
exit $failed
