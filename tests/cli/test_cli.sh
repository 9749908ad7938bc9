#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line on a host without a driver: output and exit codes.
# usage: test_cli.sh DEVICEPOOL
set -u
tool=$1
. "$(dirname "$0")/expect.sh"
export DEVICEPOOL_LIBCUDA="$scratch/no-such-library.so"

expect 2 'usage: devicepool COMMAND' "$tool"
expect 0 'Exit codes' "$tool" --help
expect 0 'devicepool  *[0-9]' "$tool" version
expect 0 'devicepool  *[0-9]' "$tool" --version
expect 0 '"usable":.*false' "$tool" version --json
expect 2 "no command 'nonsense'" "$tool" nonsense
for command in demo devices list info msm ntt poseidon prove warm-up bench tune selftest cache top sim completion version; do
    expect 0 "usage: devicepool $command" "$tool" $command --help
    expect 0 "usage: devicepool $command" "$tool" help $command
    expect 2 "explains the options" "$tool" $command --no-such-option
done
expect 2 'info, demo, msm, ntt or bench' "$tool" mpi
# Help fits a terminal of 80 columns, and its clauses end as those of other tools do.
for command in "" $("$tool" --help | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p' | grep -v -x mpi); do
    # shellcheck disable=SC2086
    wrong=$("$tool" $command --help | awk 'length > 80 || /^  +-.*\.$/')
    [ -z "$wrong" ] || { echo "FAILED: $command --help: $wrong" && failed=1; }
done
expect 4 'cannot be run.*-Dmpi=enabled' env PATH=/nowhere "$tool" mpi info
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "runs $*"\n' >"$scratch/bin/devicepool-mpi"
chmod +x "$scratch/bin/devicepool-mpi"
expect 0 'runs info -d sim' env PATH="$scratch/bin:$PATH" "$tool" mpi info -d sim
for help in "mpi --help" "help mpi"; do
    # shellcheck disable=SC2086
    expect 0 'runs --help' env PATH="$scratch/bin:$PATH" "$tool" $help
done
# Without a GPU: what the host lacks, and the same command on a simulated device.
head -c 64 /dev/zero >"$scratch/zeros"
for line in devices "bench ntt" "bench share" selftest "tune --operation ntt" "warm-up bn254_fr" "ntt $scratch/zeros" \
    "poseidon hash $scratch/zeros" "msm $scratch/zeros $scratch/zeros --count 1"; do
    # shellcheck disable=SC2086
    expect 4 '^To use a GPU:$' "$tool" $line
    also "^  devicepool ${line%% *} --devices sim"
done
expect 4 "^  devicepool ntt --devices sim -o 'x y' $scratch/zeros\$" "$tool" ntt -o "x y" "$scratch/zeros"
expect 4 "^  devicepool ntt --devices sim -o 'ö'.''ü' $scratch/zeros\$" "$tool" ntt -o "ö'ü" "$scratch/zeros"
# In the place of the devices that were named: what is behind "--" is an operand.
expect 4 '^  devicepool devices -d sim$' "$tool" devices -d 0
expect 4 '^  devicepool devices -dsim$' "$tool" devices -d0
expect 4 '^  devicepool devices -d 0 --devices=sim --free$' "$tool" devices -d 0 --devices=0,1 --free
expect 4 "^  devicepool ntt -d sim -- $scratch/zeros\$" "$tool" ntt -d 0 -- "$scratch/zeros"
expect 4 "^  devicepool ntt --devices sim -- $scratch/zeros\$" "$tool" ntt -- "$scratch/zeros"
expect 0 '^  .*\.$' "$tool" version
# Simulated devices that cannot be used say nothing of GPUs.
expect 4 'none of the pool' env DEVICEPOOL_SIM_FAULTS='cuDevicePrimaryCtxRetain=2' "$tool" devices --free -d sim
DEVICEPOOL_SIM_FAULTS='cuDevicePrimaryCtxRetain=2' "$tool" devices --free -d sim 2>&1 | grep 'To use a GPU' && echo "FAILED: advice for simulated devices" && failed=1
# The one beside the program comes first.
cp "$tool" "$scratch/bin/devicepool"
expect 0 'runs demo --inverse' env PATH=/usr/bin:/bin "$scratch/bin/devicepool" mpi demo --inverse
expect 2 'needs SOCKET' "$tool" top
expect 1 'there is no such socket' "$tool" top "$scratch/none"
expect 1 'no service is running' "$tool" top "$0"
expect 2 'path of a socket' "$tool" top "$(printf '%0200d' 1)"
expect 0 'bls12_381_fr .* 255 ' "$tool" list fields
expect 0 '"degree":.*2' "$tool" list curves --json
expect 0 'circom-bn254-t3' "$tool" list sets
expect 2 "list has no 'primes'; it has fields, curves and sets" "$tool" list primes
expect 2 "list has no 'field' (did you mean 'fields'?); it has" "$tool" list field
expect 2 "needs fields|curves|sets" "$tool" list
expect 2 'no .fft' "$tool" bench fft
expect 2 'bench ntt does not take --set' "$tool" bench ntt --set circom-bn254-t3
expect 2 'bench ntt does not take --short' "$tool" bench ntt --short msm
expect 2 'bench ntt does not take --label' "$tool" bench ntt --label x
expect 2 'bench --suite does not take --sizes' "$tool" bench --suite -s 4
expect 2 'bench share does not take --repeat' "$tool" bench share --repeat 3
expect 2 'bench --suite does not take --short' "$tool" bench share --suite --short msm
expect 2 "no field 'x'" "$tool" bench ntt --field bn254_fr,x
expect 2 'must be powers of two' "$tool" bench ntt --sizes 3
expect 2 'takes sizes' "$tool" bench copy --sizes 2^99
expect 2 'takes a number' "$tool" bench ntt --batch 99999999999999999999
expect 2 'takes sizes' "$tool" bench ntt --sizes 2^4294967297
expect 2 'must be one of nn, nr' "$tool" bench ntt --order xx
expect 2 'repeat must be 1' "$tool" bench ntt --repeat 0
expect 2 'only must be one of copy' "$tool" selftest --only all
expect 2 'bench ntt does not take --blowup' "$tool" bench ntt --blowup 2
expect 2 'blowup must be 1 to 4' "$tool" bench extend --blowup 5
expect 2 'blowup must be 1 to 4' "$tool" bench extend --blowup 0
expect 2 'arity must be 2, 4 or 8' "$tool" bench fold --arity 3
expect 2 'sizes of fold must be at least --arity' "$tool" bench fold --arity 8 -s 4
expect 2 "bench fold: no field 'babybear'" "$tool" bench fold --field babybear
expect 2 "bench vector: no field 'bn254_fr'" "$tool" bench vector --field bn254_fr
expect 2 'nothing was run: goldilocks_x2 has fold sizes up to 2^32, not 2^33' "$tool" bench fold -f goldilocks_x2 -s 2^33
expect 2 'bench evaluate does not take --arity' "$tool" bench evaluate --arity 4
expect 2 'bench vector does not take --commit' "$tool" bench vector --commit
expect 2 'bench commit does not take --layout' "$tool" bench commit --layout rows
expect 2 'must be one of mul, add' "$tool" bench vector --function neg
expect 2 'bench reverse does not take --montgomery' "$tool" bench reverse --montgomery
expect 2 'batch must be 1' "$tool" bench msm --together --sharded --batch 2
expect 2 'bench ntt does not take --precompute' "$tool" bench ntt --precompute 2
expect 2 'bench ntt does not take --affine' "$tool" bench ntt --affine 2
expect 2 '--affine must be 0, 1 or 2, or several of them' "$tool" bench msm --affine 0,3
expect 2 'bench pool does not take --inverse' "$tool" bench pool --inverse
expect 2 'bench copy does not take --batch' "$tool" bench copy --batch 2
expect 2 'nothing was run: bn254_fr has ntt sizes up to 2^28, not 2^29' "$tool" bench ntt -s 2^29
expect 2 'takes a number' "$tool" selftest --timeout soon
expect 2 'does not name a device' "$tool" devices --devices nonsense
expect 2 'does not name a device' "$tool" demo --devices nonsense
expect 2 'not a number from 1 to 64' "$tool" bench ntt --devices sim:99
expect 2 "help takes no argument 'x'" "$tool" help bench x
expect 2 "takes no argument 'x'" "$tool" --help x
expect 2 "takes no argument 'x'" "$tool" --version x
expect 2 'bench copy does not take --together' "$tool" bench copy --together
expect 2 'bench copy does not take --sharded' "$tool" bench copy --sharded
expect 2 'sharded needs --together' "$tool" bench ntt --sharded
expect 2 'no curve .x' "$tool" msm --curve x a b
expect 2 'needs POINTS SCALARS' "$tool" msm a
expect 2 'must be one of affine, affine-flag' "$tool" msm --layout x a b
expect 1 'cannot be read' "$tool" demo --data "$scratch" --devices sim
expect 4 'no-such-library' "$tool" demo --data "$scratch" --devices all
expect 4 'no-such-library' "$tool" selftest
expect 4 'no-such-library' "$tool" devices
expect 4 '"class":.*"host"' "$tool" devices --json
expect 2 "takes no argument" "$tool" devices 0
expect 0 'deleted' "$tool" cache clear # the trial of the compiler
expect 0 '0 entries' "$tool" cache
expect 0 '^\[\]' "$tool" cache list --json
expect 0 '0 entries kept, 0 deleted' "$tool" cache verify
expect 0 '"deleted":' "$tool" cache clear --json
expect 0 "$scratch/cache" "$tool" cache path
expect 2 "cache has no 'burn'; it has list, verify, clear, path, levels, pack and unpack" "$tool" cache burn
expect 2 "bench has no 'foo'; it has msm, ntt, .* and share" "$tool" bench foo
expect 2 "no command 'foo'; 'devicepool --help' lists them" "$tool" foo
expect 2 "no command 'mms' (did you mean 'msm'?)" "$tool" mms
expect 2 'takes the directory' "$tool" cache pack
expect 2 'takes packs' "$tool" cache unpack
expect 2 "takes no argument 'x'" "$tool" cache levels x
expect 2 'does not take --chip' "$tool" cache list --chip 90
expect 1 'No such file' "$tool" cache verify "$scratch/none.pack"
expect 1 'has no entries' "$tool" cache pack "$scratch/packs"
for chip in 9 1000 4294967386; do # 2^32 + 90
    expect 2 'without their points' "$tool" cache pack --chip "$chip" "$scratch/packs"
done
expect 2 'belong together' "$tool" warm-up --chip 90 bn254_fr
expect 2 'belong together' "$tool" warm-up --output "$scratch/packs" bn254_fr
expect 2 'without their points' "$tool" warm-up --chip 9 --output "$scratch/packs" bn254_fr
expect 1 'DEVICEPOOL_CACHE=off' env DEVICEPOOL_CACHE=off "$tool" cache
# Tuning parameters. Copies need no compiler; which candidate wins is chance on simulated devices.
tune="$tool tune -d sim --sizes 64K --repeat 1"
expect 2 'operation takes msm' "$tool" tune --operation hash
expect 2 'powers of two' "$tool" tune --sizes 100
expect 2 "no curve, field or parameter set 'x'" "$tool" tune --subject x
expect 2 'must be 1 to 1000' "$tool" tune --repeat 0
expect 2 'there is no device 1' "$tool" tune -d sim --device 1
# shellcheck disable=SC2086
expect 0 'not measured' $tune --operation copy --seconds 0 --output "$scratch/none"
# shellcheck disable=SC2086
expect 0 'nothing is written' $tune --operation copy --dry-run
expect 0 'tuning    defaults$' "$tool" devices -d sim
# shellcheck disable=SC2086
expect 1 'cannot be written' $tune --operation copy --output "$scratch/missing/file"
# shellcheck disable=SC2086
expect_json "import json, sys
rows = json.load(sys.stdin)
assert len(rows) == 2 and all(row['verdict'] in ('default', 'faster') for row in rows), rows
assert all(row['gain_percent'] > 0 for row in rows if row['verdict'] == 'faster'), rows" \
    $tune --operation copy --json
expect 0 "tuning    [0-9]* numbers\\{0,1\\} of $scratch/cache/tuning-" "$tool" devices -d sim
expect 0 '"source":.*"file"' "$tool" devices -d sim --json
expect 0 'tuning    defaults (.*several kinds\|tuning    defaults$' "$tool" devices -d sim:1,cc=80
expect 0 'tuning    defaults$' env DEVICEPOOL_TUNING=off "$tool" devices -d sim
expect 0 'is not used: No such file' env DEVICEPOOL_TUNING="$scratch/x" "$tool" devices -d sim
for file in "$scratch"/cache/tuning-*; do
    echo x >>"$file"
done
expect 0 'of .*tuning-.*; line [0-9]* is not understood: "x"' "$tool" devices -d sim
for file in "$scratch"/cache/tuning-*; do
    echo x >"$file"
done
expect 0 'is not used: the file does not begin with' "$tool" devices -d sim
if [ -e "$scratch/none" ] && ! grep -q '^devicepool tuning: .*, driver' "$scratch/none"; then
    echo "FAILED: the file without measured numbers is incomplete"
    failed=1
fi
rm -f "$scratch"/cache/tuning-*
if [ -w /dev/full ]; then
    expect 1 'standard output cannot be written' sh -c '"$1" list fields >/dev/full' sh "$tool"
fi
# Names that are nearly right.
expect 1 "did you mean 'bench'" sh -c '"$1" benhc 2>&1; exit 1' sh "$tool"
expect 2 "no field 'babybaer' (did you mean 'babybear'?)" "$tool" ntt -f babybaer "$scratch/none"
expect 2 "no curve 'bn245_g1' (did you mean 'bn254_g1'?)" "$tool" msm --curve bn245_g1 a b
expect 2 "no parameter set 'circom-bn254-t33' (did you mean 'circom-bn254-t3'?)" \
    "$tool" poseidon hash -s circom-bn254-t33 "$scratch/none"
expect 2 "no option '--outptu'.*(did you mean 'output'?)" "$tool" ntt --outptu x "$scratch/none"
expect 2 "'bn254' (did you mean 'bn254_.*'devicepool list fields' (or curves, sets)" "$tool" warm-up bn254
expect 2 "no field, curve or parameter set 'xyzzy';" "$tool" warm-up xyzzy
expect 2 "option '--output' requires an argument" "$tool" ntt --output
expect 2 "option '--json' takes no argument" "$tool" ntt --json=1 "$scratch/none"
exit $failed
