#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands on simulated devices: results, JSON that other programs can read, exit codes.
# usage: test_cli_sim.sh DEVICEPOOL VECTORS-DIRECTORY
set -u
tool=$1
vectors=$2
# shellcheck disable=SC2034 # for expect.sh
shared_cache=yes # compilations took two thirds of the time of this test
. "$(dirname "$0")/expect.sh"

export DEVICEPOOL_DEVICES=sim:2

# every_row COMMAND...: all rows of its JSON report a checked result.
every_row() {
    expect_json "import json, sys
rows = json.load(sys.stdin)
assert rows and all(row['checked'] is True for row in rows), rows
assert all(row['median_seconds'] > 0 and row['size'] for row in rows), rows" "$@"
}

every_row "$tool" bench ntt --sizes 1,2^6..2^8 --repeat 2 --json --field goldilocks,bn254_fr
every_row "$tool" bench ntt -s 2^7 -r 1 -b 3 -o nr --inverse --coset --json --field babybear
every_row "$tool" bench extend -s 1,2^6 -r 1 --json --field koalabear,bn254_fr
every_row "$tool" bench extend -s 2^7 -r 1 -b 3 -o rr --blowup 3 --json --field goldilocks
every_row "$tool" bench ecntt -s 1,2^2 -r 1 -d sim --json --curve bn254_g1
every_row "$tool" bench ecntt -s 2 -r 1 -b 3 -o nr --inverse --coset -d sim --json --curve bls12_381_g1
every_row "$tool" bench commit -s 1,2^5 -r 1 -b 5 --json --set poseidon2-plonky3-koalabear-t16,plonky2-goldilocks-t12
every_row "$tool" bench fold -s 2,2^6 -r 1 --json --field babybear_x4,goldilocks_x2
every_row "$tool" bench fold -s 2^5 -r 1 --arity 4 -d sim --json --field koalabear_x4
every_row "$tool" bench fold -s 8,2^6 -r 1 --arity 8 --commit --json --field babybear_x4,goldilocks_x2
every_row "$tool" bench evaluate -s 1,2^5 -r 1 -b 3 --json --field goldilocks_x2,koalabear_x4
every_row "$tool" bench evaluate -s 2^5 -r 1 -b 3 --layout rows -d sim --json
every_row "$tool" bench reverse -s 1,2^5 -r 1 -b 3 --json --field babybear,bn254_fr
every_row "$tool" bench reverse -s 2^5 -r 1 -b 3 --layout rows -d sim --json
for function in mul add inverse powers; do
    every_row "$tool" bench vector -s 1,50 -r 1 --function $function -d sim --json
done
every_row "$tool" bench vector -s 50 -r 1 --montgomery -d sim --json --field koalabear_x4,mersenne31
every_row "$tool" bench poseidon -s 1,100 -r 1 --json --set circom-bn254-t3
every_row "$tool" bench msm -s 1,50 -r 1 -d sim --json --curve bn254_g1,bn254_g2
every_row "$tool" bench msm -s 20 -r 1 -b 3 --precompute 3 -d sim --json --curve bls12_381_g1
every_row "$tool" bench msm -s 20 -r 1 --affine 0,2 -d sim --json --curve bls12_381_g1
every_row "$tool" bench tree -s 1,100 -r 1 --json
# One job over the devices: in host memory and in shards, with the speed over that of one of them.
for job in "ntt -s 2^5 -o nn" "ntt -s 2^5 -o rr" "poseidon -s 100" "tree -s 64" \
    "extend -s 2^5 -b 3" "ecntt -s 2 -b 3 --curve bn254_g1" "commit -s 2^5 -b 3"; do
    # shellcheck disable=SC2086
    every_row "$tool" bench $job -r 1 --json --together
    # shellcheck disable=SC2086
    every_row "$tool" bench $job -r 1 --json --together --sharded
done
expect_json "import json, sys
rows = sum(json.load(sys.stdin).values(), [])
assert len(rows) == 22 and all(row['checked'] for row in rows), rows
assert [row['device'] for row in rows] == ['1 alone', '2 together'] * 11, rows
assert all(row['speedup'] > 0 for row in rows[1::2]), rows" \
    sh "$(dirname "$0")/../bench/several.sh" "$tool" sim:2 small
every_row "$tool" bench copy -s 1000,64K -r 2 --json \
    --what to-device,to-device-pinned,to-host,to-host-pinned,on-device,peer
every_row "$tool" bench pool -s 64 -r 2 --json
# A device whose context cannot be created is omitted from a benchmark, and fails a self-test.
expect_json "import json, sys
rows = json.load(sys.stdin)
assert {row['device'][0] for row in rows} == {'0'}, rows" \
    env DEVICEPOOL_SIM_FAULTS='dev1.cuDevicePrimaryCtxRetain=2' "$tool" bench pool -s 64 -r 1 --json
expect 3 '^1 .* device .*✗' env LC_ALL=C.UTF-8 \
    DEVICEPOOL_SIM_FAULTS='dev1.cuDevicePrimaryCtxRetain=2' "$tool" selftest --only copy
expect 0 'elements/s' "$tool" bench ntt -s 64 -r 1 -d sim
# An unwritable path or a missing gnuplot is detected before anything runs; no file is left.
expect 1 'cannot be written' timeout 60 "$tool" bench msm -s 2^20 --plot "$scratch/none/x.svg"
expect 1 'not installed' timeout 60 env PATH=/nowhere "$tool" bench msm -s 2^20 --plot "$scratch/x.svg"
[ -e "$scratch/x.svg" ] && echo "FAILED: an empty plot was written" && failed=1
# What cannot succeed is refused before anything is computed: sizes beyond the memory of a device, files and
# directories that cannot be written. Each of these would take minutes.
for case in "ntt bn254_fr 2^26 4.0" "extend bn254_fr 2^26 4.0" "ecntt bn254_g1 2^24 2.0" "msm bn254_g1 2^25 2.0" \
    "poseidon circom-bn254-t3 2^26 4.0" "commit plonky2-goldilocks-t12 2^30 8.0" "fold babybear_x4 2^27 2.0" \
    "evaluate goldilocks_x2 2^27 2.0" "reverse bn254_fr 2^26 2.0" "vector goldilocks_x2 2^27 4.0" \
    "copy to-device 2^31 2.0"; do
    # shellcheck disable=SC2086
    set -- $case
    case $1 in
    msm | ecntt) option=--curve ;;
    poseidon | commit) option=--set ;;
    copy) option=--what ;;
    *) option=--field ;;
    esac
    expect 2 "nothing was run: $1 of 2^[0-9]* $2 needs $4 GiB of device memory or more, and device 0 .* has 64.0 MiB" \
        timeout 60 "$tool" bench "$1" -s "2^10,$3" "$option" "$2" -d sim:1,mem=64M
done
expect 2 'nothing was run: ntt of 2^27 ' timeout 60 "$tool" bench share --short msm:2^10 --long ntt:2^27 -d sim:1,mem=64M
expect 2 'too little for 2^40 elements' timeout 60 "$tool" tune --operation ntt -s 2^40 -d sim -n
expect 1 'cannot be written' timeout 60 "$tool" tune --operation ntt -s 2^24 -d sim -o "$scratch/none/x"
expect 1 'cannot be written' timeout 60 env DEVICEPOOL_CACHE_DIR=/proc/none "$tool" tune --operation ntt -s 2^24 -d sim
expect 1 'no kernels can be stored' timeout 60 env DEVICEPOOL_CACHE_DIR=/proc/none "$tool" warm-up bls12_381_g2 -d sim
# The median of two runs is their mean.
expect_json "import json, sys
row = json.load(sys.stdin)[0]
mean = (row['min_seconds'] + row['max_seconds']) / 2
assert abs(row['median_seconds'] - mean) < 1e-9 * mean, row" \
    "$tool" bench copy -s 1M -r 2 -d sim --json --what to-host
# A kernel that never ends: the device is abandoned, the other one is still tested.
# The kernels are compiled before, as 10 s without a result are a device that hangs.
expect 0 ntt "$tool" selftest --only ntt
hung() {
    timeout 300 env DEVICEPOOL_SIM_FAULTS='dev0.cuLaunchKernel*@7=hang' "$tool" "$@"
}
expect 3 '^devicepool: 0 .*, ntt: .*: no result after 10 s: the device hangs' env LC_ALL=C.UTF-8 timeout 300 \
    env DEVICEPOOL_SIM_FAULTS='dev0.cuLaunchKernel*@7=hang' "$tool" selftest --only ntt --timeout 10
also '^1 .* ntt .*✓'
expect 3 'ntt bn254_fr 64 on 0 .*: no result after 10 s: the device hangs' \
    hung bench ntt -s 64 -r 8 -d sim --timeout 10
expect 3 '"passed":.*' hung selftest --only ntt --timeout 10 --json -d sim
expect 3 '^\[\]$' hung bench ntt -s 64 -r 8 -d sim --timeout 10 --json --quiet
if command -v gnuplot >/dev/null; then
    expect 0 'drawn' "$tool" bench pool -s 64..256 --plot "$scratch/x.svg"
    # Chip, version and date are below the plot, and there are bars at points of its line.
    cat >"$scratch/plot.py" <<'PYTHON'
import datetime, re, sys
import xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
texts = " | ".join("".join(text.itertext()) for text in root.iter(space + "text"))
days = [datetime.date.today() - datetime.timedelta(days=n) for n in (0, 1)]
assert any("Simulated device (cc 9.0), devicepool %s, %s" % (sys.argv[2], day) in texts for day in days), texts
number = r"(-?[0-9.]+),(-?[0-9.]+)"
bars = 0
for group in root.iter(space + "g"):
    if not group.get("id", "").startswith("gnuplot_plot_"):
        continue
    for path in group.iter(space + "path"):
        parts = [re.findall(number, part) for part in path.get("d").split("M")[1:]]
        line = max(parts, key=len)
        bars += sum(len(part) == 2 and part[0][0] == part[1][0] and part[0][1] != part[1][1] and
            part[0][0] in [x for x, _ in line] for part in parts)
assert bars >= 2, bars
print(bars, "bars")
PYTHON
    expect 0 'drawn' "$tool" bench copy -s 64K,1M,4M -r 7 --what to-host,to-device -d sim --plot "$scratch/x.svg"
    expect 0 'bars' python3 "$scratch/plot.py" "$scratch/x.svg" "$("$tool" version | sed -n 's/^devicepool *//p')"
fi
expect 0 'poseidon .* [0-9]' "$tool" selftest --quick
expect_json "import json, sys
rows = json.load(sys.stdin)
assert {row['device'][0] for row in rows} == {'0', '1'}, rows
assert len(rows) >= 10 and all(row['checked'] is True and row['subject'] for row in rows), rows" \
    "$tool" selftest --only vector --each --json
expect 5 'LAUNCH_FAILED' env DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*@4=719' \
    "$tool" selftest --only ntt -d sim
# Without NVRTC, operations with prebuilt PTX are tested, and the others are reported as skipped.
expect 0 'tests were skipped because they need NVRTC' env DEVICEPOOL_NVRTC=off \
    "$tool" selftest --only ntt -d sim
# A faulting device gives exit code 5, with the first cause.
expect 5 'LAUNCH_FAILED' env DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*@4=719' \
    "$tool" bench ntt -s 64 -r 3

# The demo: without --devices and without a GPU it reports that it uses two simulated devices.
unset DEVICEPOOL_DEVICES
demo() {
    DEVICEPOOL_LIBCUDA="$scratch/none.so" "$tool" demo --data "$vectors" "$@"
}
expect 0 'This host has no GPU' demo
also '5 of 5 correct in .* over 2 devices'
# No escape sequences without a terminal; below, colours and the progress line with one.
esc=$(printf '\033')
plain() {
    if printf '%s' "$output" | grep -q "$esc"; then
        echo "FAILED: $1 prints escape sequences"
        failed=1
    else
        echo "ok: $1 is plain"
    fi
}
plain demo
expect_json "import json, sys
rows = json.load(sys.stdin)
assert len(rows) == 10 and len({row['device'] for row in rows}) == 6, rows
assert all(row['checked'] is True for row in rows), rows" demo --json --devices sim:6
# A modified blob, which does not match the known commitment.
mkdir -p "$scratch/data"
cp -r "$vectors/kzg" "$vectors/iden3" "$scratch/data"
printf '\001' | dd of="$scratch/data/kzg/valid_blob_3.blob" bs=1 seek=1000 conv=notrunc 2>/dev/null
changed="'$tool' demo --devices sim:1 --data '$scratch/data'"
prebuilt="DEVICEPOOL_NVRTC=off DEVICEPOOL_LIBCUDA=$scratch/none.so '$tool' demo --data '$vectors'"
if command -v script >/dev/null; then # the same in a terminal, in colours, and without by NO_COLOR
    export TERM=xterm
    expect 3 'another blob, 0: wrong result' script -qec "NO_COLOR=1 $changed --quiet" /dev/null
    plain 'a terminal with NO_COLOR'
    expect 0 "$esc\[32m" script -qec "$prebuilt" /dev/null
    also " of 5  [0-9]"
else
    expect 3 '4 of 5 correct' sh -c "$changed"
    expect 0 '5 of 5 correct' sh -c "$prebuilt"
fi
also 'host has no usable NVRTC'
also '5 of 5 correct.* over 2 devices'
rm "$scratch/data/kzg/trusted_setup.txt"
expect 1 'trusted_setup.txt' "$tool" demo --data "$scratch/data" --devices sim:2
expect 5 'wrong\|LAUNCH_FAILED' env DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*@9=719' \
    "$tool" demo --data "$vectors" --devices sim:1
also '^0 of 5 correct'

# The cache has to be usable, whether or not something needed storing.
expect 0 'bn254_g1' env DEVICEPOOL_CACHE_DIR="$scratch/new/cache" DEVICEPOOL_NVRTC=off "$tool" warm-up -d sim:1 bn254_g1
expect 1 'no kernels can be stored: .*/proc/none' \
    env DEVICEPOOL_CACHE_DIR=/proc/none DEVICEPOOL_NVRTC=off "$tool" warm-up -d sim:1 bn254_g1
expect 0 'bn254_g1' env DEVICEPOOL_CACHE=off DEVICEPOOL_NVRTC=off "$tool" warm-up -d sim:1 bn254_g1
exit $failed
