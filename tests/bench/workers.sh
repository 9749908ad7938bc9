#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same measurements in the process and through a worker process, in one run: the rows of "Worker
# processes" in docs/performance.md, as a JSON object with a member for each. With `small` in sizes
# for simulated devices.
#
#   workers.sh DEVICEPOOL BENCH-LAUNCH [DEVICE [small]]
set -e
tool=$1 bench_launch=$2 device=${3:-0}
case $4 in
    small) sizes=32 ntt=2^8 tree=2^8 bytes=2^16 ;;
    *) sizes=2^20 ntt=2^22 tree=2^20 bytes=2^28 ;;
esac
file=$(mktemp)
trap 'rm -f "$file"' EXIT
separator='{'
for devices in "$device" "workers:$device"; do
    printf '%s"%s":{"launch":' "$separator" "$devices"
    "$bench_launch" "$devices" "$file" >&2
    cat "$file"
    for rows in "msm --sizes $sizes" "ntt --sizes $ntt" "tree --sizes $tree" \
        "copy --sizes $bytes --what to-device-pinned,to-host-pinned,to-device,to-host"; do
        printf ',"%s":' "$rows"
        # shellcheck disable=SC2086 # a list on purpose
        "$tool" bench $rows --json --devices "$devices"
    done
    printf '}'
    separator=,
done
echo '}'
