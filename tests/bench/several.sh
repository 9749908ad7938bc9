#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One job over all devices, and the same job on the first one alone: the rows of "One job over several
# devices" in docs/performance.md, as a JSON object with the rows of each command. With `small` in sizes
# for simulated devices.
#
#   several.sh DEVICEPOOL [DEVICES [small]]
set -e
tool=$1 devices=${2:-all}
separator='{'
bench() {
    printf '%s"%s":' "$separator" "$*"
    "$tool" bench "$@" --together --json --devices "$devices"
    separator=,
}
case $3 in
    small) msm=32 ntt=2^8 leaves=2^8 columns=2^5 batch=4 precompute=2 ;;
    *) msm=2^22,2^24,2^26 ntt=2^22,2^24,2^26 leaves=2^26 columns=2^20 batch=64 precompute=12 ;;
esac
bench msm --sharded --sizes "$msm"
bench msm --sharded --sizes "${msm%,*}" --precompute "$precompute"
bench ntt --sharded --sizes "$ntt" --order nr
bench ntt --sizes "$ntt"
bench ntt --sharded --sizes "$columns" --batch "$batch" --order nr
bench extend --sharded --sizes "$columns" --batch "$batch" --order nr
bench extend --sizes "$columns" --batch "$batch" --order nr
bench commit --sharded --sizes "$columns" --batch "$batch"
bench commit --sizes "$columns" --batch "$batch"
bench tree --sharded --sizes "$leaves"
bench tree --sizes "$leaves"
echo '}'
