#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the binary interface of this tree with that of the last tag by the promises of docs/versioning.md: api_diff.py the
# descriptions of the API, which have every type, and libabigail's abidiff the shared libraries. Functions, enumerators and
# members at the end of structs may have been added. From a git checkout.
# usage: sh tests/abi/abidiff.sh [-o DIRECTORY] [REVISION]    default: build/abi, the last tag
# exit status: 0 compatible, 1 not, 77 there is nothing to compare with or no abidiff
set -u
cd "$(dirname "$0")/../.." || exit 1
output=$PWD/build/abi
if [ "${1-}" = -o ]; then
    output=$2
    shift 2
fi
if ! command -v abidiff >/dev/null; then
    echo "skipped: there is no abidiff; it is in the package abigail-tools of Debian, libabigail of Fedora"
    exit 77
fi
if [ ! -e .git ]; then
    echo "skipped: this is no git checkout"
    exit 77
fi
revision=${1-$(git describe --tags --abbrev=0 HEAD 2>/dev/null)}
if [ -z "$revision" ]; then
    echo "skipped: there is no tag yet, so nothing to compare with"
    exit 77
fi
mkdir -p "$output" || exit 1

# library DIRECTORY SOURCE: sets $built to the library, with debugging information, from which abidiff reads the types
library() {
    rm -rf "$1"
    meson setup "$1" "$2" -Dtests=disabled -Dcli=false -Dmpi=disabled -Ddefault_library=shared -Ddebug=true \
        -Doptimization=0 >"$1.log" 2>&1 || {
        cat "$1.log"
        exit 1
    }
    built=$(ninja -C "$1" -t targets all | sed -n 's|^\(src/libdevicepool\.so\.[0-9.]*\): .*|\1|p' | head -n 1)
    ninja -C "$1" "$built" include/api.json >"$1.log" 2>&1 || {
        tail -n 40 "$1.log"
        exit 1
    }
    api=$1/include/api.json
    built=$1/$built
}

rm -rf "$output/source"
mkdir "$output/source" && git archive "$revision" | tar -x -C "$output/source" || exit 1
library "$output/old" "$output/source"
old=$built
old_api=$api
library "$output/new" "$PWD"
failed=0
python3 tests/abi/api_diff.py "$old_api" "$api" || failed=1
abidiff --no-added-syms --suppressions tests/abi/abidiff.ini --headers-dir1 "$output/source/include" \
    --headers-dir2 include "$old" "$built"
code=$?
if [ $code != 0 ] || [ $failed = 1 ]; then
    echo "the binary interface differs from that of $revision in the ways above (abidiff's status $code)"
    exit 1
fi
echo "the binary interface is compatible with that of $revision"
