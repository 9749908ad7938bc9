#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with -Dfuzz=true and runs each over its corpus and a little further. The
# library has to be instrumented: a target alone has some dozens of edges, with what it links of the
# library hundreds to tens of thousands.
# usage: build.sh MESON CLANG SOURCE-DIRECTORY TARGET ...
set -u
meson=$1
clang=$2
source=$3
shift 3
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
export DEVICEPOOL_CACHE=off
least_edges=150
failed=0

CC=$clang "$meson" setup "$directory/build" "$source" -Dfuzz=true -Dtests=enabled -Dcli=false \
    -Dwerror=true -Doptimization=1 -Ddebug=true >"$directory/log" 2>&1 || {
    cat "$directory/log"
    exit 1
}
programs=""
for target; do
    programs="$programs tests/fuzz/fuzz_$target"
done
# shellcheck disable=SC2086 # a list on purpose
ninja -C "$directory/build" $programs >"$directory/log" 2>&1 || {
    grep -v '^\[' "$directory/log" | tail -n 60
    exit 1
}
for target; do
    cp -r "$source/tests/fuzz/corpus/$target" "$directory/corpus"
    "$directory/build/tests/fuzz/fuzz_$target" -runs=500 -max_total_time=20 \
        -artifact_prefix="$directory/" "$directory/corpus" >"$directory/log" 2>&1 || {
        echo "$target fails:"
        tail -n 40 "$directory/log"
        failed=1
    }
    edges=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$directory/log" | head -n 1)
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$directory/log" | tail -n 1)
    echo "$target: ${covered:-0} of ${edges:-0} edges"
    [ "${edges:-0}" -ge "$least_edges" ] || {
        echo "$target: the library is not instrumented"
        failed=1
    }
    rm -r "$directory/corpus"
done
exit $failed
