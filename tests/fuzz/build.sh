#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with -Dfuzz=true and runs each over its corpus and a little further. The
# library has to be instrumented: a target alone has some dozens of edges, with what it links of the
# library hundreds to tens of thousands.
# usage: build.sh MESON CLANG SOURCE-FOLDER TARGET ...
set -u
meson=$1
clang=$2
source=$3
shift 3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
export DEVICEPOOL_CACHE=off
least_edges=300
failed=0

CC=$clang "$meson" setup "$folder/build" "$source" -Dfuzz=true -Dtests=enabled -Dcli=false \
    -Dwerror=true --buildtype=debugoptimized >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
programs=""
for target; do
    programs="$programs tests/fuzz/fuzz_$target"
done
# shellcheck disable=SC2086 # a list on purpose
ninja -C "$folder/build" $programs >"$folder/log" 2>&1 || {
    grep -v '^\[' "$folder/log" | tail -n 60
    exit 1
}
for target; do
    cp -r "$source/tests/fuzz/corpus/$target" "$folder/corpus"
    "$folder/build/tests/fuzz/fuzz_$target" -runs=500 -max_total_time=20 \
        -artifact_prefix="$folder/" "$folder/corpus" >"$folder/log" 2>&1 || {
        echo "$target fails:"
        tail -n 40 "$folder/log"
        failed=1
    }
    edges=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$folder/log" | head -n 1)
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$folder/log" | tail -n 1)
    echo "$target: ${covered:-0} of ${edges:-0} edges"
    [ "${edges:-0}" -ge "$least_edges" ] || {
        echo "$target: the library is not instrumented"
        failed=1
    }
    rm -r "$folder/corpus"
done
exit $failed
