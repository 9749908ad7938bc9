#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# devicepool-mpi: each command computes and checks its result; what is wrong is an error, not a crash.
# usage: test_command.sh RUN_RANKS MPIRUN DEVICEPOOL-MPI
set -u
run=$1
mpirun=$2
tool=$3
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
failed=0

# expect CODE TEXT RANKS ARGUMENT...
expect() {
    code=$1
    text=$2
    ranks=$3
    shift 3
    sh "$run" "$mpirun" "$ranks" "$tool" "$@" >"$output" 2>&1
    got=$?
    [ "$code" = fails ] && [ "$got" -ne 0 ] && got=fails
    if [ "$got" != "$code" ] || ! grep -q -- "$text" "$output"; then
        echo "$ranks ranks, $*: status $got, expected $code and \"$text\":"
        cat "$output"
        failed=1
    fi
}

expect 0 "transport: host" 2 -d sim info
expect 0 "rank 1 .*can use: host" 2 -d sim info
expect 0 "tree of 128 leaves over 2 ranks, the last one opened: correct" 2 -d sim demo
expect 0 "ntt goldilocks 2^8 over 4 ranks, device memory" 4 -d sim -n 8 -f goldilocks --device-memory ntt
expect 0 "msm grumpkin 2^5 over 3 ranks" 3 -d sim -n 5 -c grumpkin msm
expect fails "a power of two" 3 -d sim -n 8 ntt
expect fails "usage:" 1 -d sim juggle
expect fails "usage:" 1 -d sim -n 99 msm
expect fails "nowhere" 1 -d sim -c nowhere msm
expect fails "bad-device" 2 -d bad-device info
exit $failed
