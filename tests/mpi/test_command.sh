#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# devicepool-mpi: each command computes and checks its result; what is wrong is an error, not a crash.
# usage: test_command.sh RUN_RANKS MPIRUN DEVICEPOOL-MPI DEVICEPOOL
set -u
run=$1
mpirun=$2
tool=$3
devicepool=$4
scratch=$(mktemp -d) || exit 1
output=$scratch/output
trap 'rm -rf "$scratch"' EXIT
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

expect 0 "rank 1 .*can use: host" 2 -d sim info
expect 0 "tree of 128 leaves over 2 ranks, the last one opened: correct" 2 -d sim demo
expect 0 "ntt goldilocks 2^8 over 4 ranks, device memory" 4 -d sim -n 8 -f goldilocks --device-memory ntt
expect 0 "msm bls12_381_g1 2^5 over 3 ranks" 3 -d sim -n 5 -c bls12_381_g1 msm
expect fails "a power of two" 3 -d sim -n 8 ntt
# Invalid command lines need no MPI.
for line in juggle "-n 99 msm" "ntt some-file" "info extra" "bench tree" "-n -1 msm" ""; do
    # shellcheck disable=SC2086
    "$tool" $line >"$output" 2>&1
    if [ $? != 2 ] || ! grep -q "invalid command line" "$output"; then
        echo "'$line' is no invalid command line: $(cat "$output")"
        failed=1
    fi
done
expect fails "bad-device" 2 -d bad-device info

# Files: each rank reads its part; the answer is that of the local command.
same() {
    if ! cmp -s "$1" "$2"; then
        echo "$1 and $2 differ:"
        head -c 300 "$1" "$2"
        failed=1
    fi
}
# 64 points and 61 scalars of BN254, which three ranks divide unequally.
python3 - "$scratch" <<'END' || exit 1
import random, sys
p, r = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47, \
    0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001
random.seed(1)
def add(a, b):
    if a[0] == b[0]:
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, p)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, p)
    x = (slope * slope - a[0] - b[0]) % p
    return x, (slope * (a[0] - x) - a[1]) % p
point = (1, 2)
with open(sys.argv[1] + '/points', 'wb') as file:
    for i in range(64):
        file.write(point[0].to_bytes(32, 'little') + point[1].to_bytes(32, 'little'))
        point = add(point, (1, 2))
with open(sys.argv[1] + '/scalars', 'wb') as file:
    for i in range(61):
        file.write(random.randrange(r).to_bytes(32, 'little'))
with open(sys.argv[1] + '/elements', 'wb') as file:
    for i in range(64):
        file.write(random.randrange(r).to_bytes(32, 'little'))
END
digits() {
    grep '^[xy] ' "$1" | sed 's/0x0*//' >"$2"
}
expect 0 "^x 0x" 3 -d sim msm "$scratch/points" "$scratch/scalars"
digits "$output" "$scratch/sum"
"$devicepool" msm -d sim "$scratch/points" "$scratch/scalars" >"$output" || failed=1
digits "$output" "$scratch/local-sum"
same "$scratch/sum" "$scratch/local-sum"
expect 0 "transform of 64 elements" 4 -d sim ntt "$scratch/elements" --output "$scratch/values"
"$devicepool" ntt -d sim "$scratch/elements" --output "$scratch/local-values" || failed=1
same "$scratch/values" "$scratch/local-values"
expect 0 "transform of 64 elements" 2 -d sim ntt "$scratch/values" --output "$scratch/back" --inverse
same "$scratch/back" "$scratch/elements"
expect fails "also an input" 2 -d sim ntt "$scratch/values" --output "$scratch/values"
expect fails "cannot be written" 2 -d sim ntt "$scratch/values" --output "$scratch/none/values"
expect 0 "transform of 64 elements" 2 -d sim ntt "$scratch/values" --output /dev/null
echo old >"$scratch/kept"
expect fails "power of two" 2 -d sim ntt "$scratch/scalars" --output "$scratch/kept"
[ "$(cat "$scratch/kept")" = old ] || { echo "FAILED: a failed transform changes its output"; failed=1; }
expect fails "power of two" 2 -d sim ntt "$scratch/scalars" --output "$scratch/none"
expect fails "cannot be opened" 2 -d sim ntt "$scratch/missing" --output "$scratch/none"
head -c 64 /dev/zero | tr '\0' '\377' >"$scratch/invalid"
expect fails "rank 1" 2 -d sim ntt "$scratch/invalid" --output "$scratch/none"
for left in "$scratch/none" "$scratch"/.devicepool-*; do
    [ -e "$left" ] && echo "FAILED: $left is left" && failed=1
done
[ -e "$scratch/none" ] && echo "a failed transform has written a file" && failed=1

# As a subcommand: every rank runs the program that is found in PATH or beside.
PATH=$(dirname "$tool"):$PATH
tool=$devicepool
expect 0 "transport: host" 2 mpi info -d sim
expect 0 "tree of 64 leaves over 1 ranks" 1 mpi demo -d sim
exit $failed
