#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands on simulated devices: results, JSON that other programs can read, exit codes.
# usage: test_cli_sim.sh DEVICEPOOL
set -u
tool=$1
. "$(dirname "$0")/expect.sh"

export DEVICEPOOL_DEVICES=sim:2

# every_row COMMAND...: the rows of its JSON all say that they were checked.
every_row() {
    expect_json "import json, sys
rows = json.load(sys.stdin)
assert rows and all(row['checked'] is True for row in rows), rows
assert all(row['median_seconds'] > 0 and row['size'] for row in rows), rows" "$@"
}

every_row "$tool" bench ntt --sizes 1,2^6..2^8 --repeat 2 --json --field goldilocks,bn254_fr
every_row "$tool" bench ntt -s 2^7 -r 1 -b 3 -o nr --inverse --coset --json --field babybear
every_row "$tool" bench poseidon -s 1,100 -r 1 --json --set circom-bn254-t3
every_row "$tool" bench copy -s 1000,64K -r 2 --json \
    --what to-device,to-device-pinned,to-host,to-host-pinned,on-device,peer
every_row "$tool" bench pool -s 64 -r 2 --json
expect 0 'elements/s' "$tool" bench ntt -s 64 -r 1 -d sim
expect 1 'cannot be written' "$tool" bench pool -s 64 --plot "$scratch/none/x.svg"
expect 1 'not installed' env PATH=/nowhere "$tool" bench pool -s 64 --plot "$scratch/x.svg"
if command -v gnuplot >/dev/null; then
    expect 0 'drawn' "$tool" bench pool -s 64..256 --plot "$scratch/x.svg"
    expect 0 '</svg>' cat "$scratch/x.svg"
fi
expect 0 'poseidon .* [0-9]' "$tool" selftest --quick
expect_json "import json, sys
rows = json.load(sys.stdin)
assert {row['device'][0] for row in rows} == {'0', '1'}, rows
assert len(rows) >= 10 and all(row['checked'] is True and row['subject'] for row in rows), rows" \
    "$tool" selftest --only vector --each --json
expect 5 'LAUNCH_FAILED' env DEVICEPOOL_SIM_FAULTS='cuLaunchKernel@4=719' \
    "$tool" selftest --only ntt -d sim
# Without NVRTC what is prebuilt is tested, and the rest said to be left out.
expect 0 'tests need NVRTC and were left out' env DEVICEPOOL_NVRTC=off \
    "$tool" selftest --only ntt -d sim
# A device that loses data is found out: exit code 5, with the first cause.
expect 5 'LAUNCH_FAILED' env DEVICEPOOL_SIM_FAULTS='cuLaunchKernel@4=719' \
    "$tool" bench ntt -s 64 -r 3
exit $failed
