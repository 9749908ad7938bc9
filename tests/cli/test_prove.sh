#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# devicepool prove: proofs over BN254 and over BLS12-381 are verified by snarkjs (from npm, as $SNARKJS or in the
# path; without it the test is skipped) or by verify_groth16.py. With another public signal each has to be rejected.
# The devices are those of $DEVICEPOOL_DEVICES.
# usage: test_prove.sh DEVICEPOOL VECTORS-DIRECTORY snarkjs|python
set -u
tool=$1 vectors=$2/iden3 verifier=$3
here=$(dirname "$0")
# shellcheck disable=SC2034 # for expect.sh
shared_cache=yes
. "$here/expect.sh"
snarkjs=${SNARKJS:-snarkjs}
if [ "$verifier" = snarkjs ] && ! command -v "$snarkjs" >/dev/null; then
    echo "snarkjs is not installed: npm install -g snarkjs"
    exit 77
fi

verify() { # KEY PUBLIC PROOF
    if [ "$verifier" = snarkjs ]; then
        "$snarkjs" groth16 verify "$@"
    else
        python3 "$here/verify_groth16.py" "$@"
    fi
}

# without_digits FILE: prints its JSON with each number replaced by N
without_digits() {
    sed 's/[0-9][0-9][0-9]*/N/g' "$1"
}

echo >"$scratch/newline" # one of the vectors ends with one
for circuit in poseidon_bn254 chain_bls12_381; do
    stem=$vectors/$circuit
    proof=$scratch/$circuit.json public=$scratch/$circuit-public.json
    "$tool" prove "$stem.zkey" "$stem.wtns" "$proof" "$public"
    code=$?
    [ $code = 4 ] && exit 77
    [ $code = 0 ] || exit 1
    expect 0 . verify "${stem}_verification_key.json" "$public" "$proof"
    tail -c 1 "${stem}_public.json" | cmp -s - "$scratch/newline" && echo >>"$public"
    same "public signals" "$public" "${stem}_public.json"
    without_digits "$proof" >"$scratch/ours"
    without_digits "${stem}_proof.json" >"$scratch/theirs"
    same "shape of the proof" "$scratch/ours" "$scratch/theirs"
    sed 's/1"/2"/; t; s/[0-9]"/1"/' "$public" >"$scratch/wrong.json" # the last digit of each signal
    expect 1 . verify "${stem}_verification_key.json" "$scratch/wrong.json" "$proof"
    # DEVICEPOOL_TEST_SAMPLE: other ways to prove with one curve only. The verifier in Python takes most of the time.
    [ -n "${DEVICEPOOL_TEST_SAMPLE:-}" ] && [ $circuit != poseidon_bn254 ] && continue
    expect_json "import json, sys
report = json.load(sys.stdin)
assert report['public_signals'] == len(json.load(open(report['public']))), report
assert json.load(open(report['proof']))['protocol'] == 'groth16', report" \
        "$tool" prove "$stem.zkey" "$stem.wtns" "$scratch/again.json" "$public" --json --trusted
    expect 0 . verify "${stem}_verification_key.json" "$public" "$scratch/again.json"
    expect 1 differ cmp "$proof" "$scratch/again.json" # the blinding is random
    expect 0 . "$tool" prove "$stem.zkey" "$stem.wtns" "$scratch/again.json" "$public" --together
    expect 0 . verify "${stem}_verification_key.json" "$public" "$scratch/again.json"
done

# Without public signals snarkjs writes an array of two lines.
expect 0 . "$tool" prove "$vectors/no_public.zkey" "$vectors/no_public.wtns" "$scratch/again.json" "$public"
printf '[\n]' >"$scratch/none.json"
same "no public signals" "$public" "$scratch/none.json"
rm "$scratch/none.json"

# change FILE COPY OFFSET: writes a copy whose byte at the offset is changed
change() {
    cp "$1" "$2"
    printf '\001' | dd of="$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
}

# A witness that does not satisfy the circuit: value 100 is changed. Values have 32 bytes each, from byte 76 on.
key=$vectors/poseidon_bn254.zkey
witness=$vectors/poseidon_bn254.wtns
change "$witness" "$scratch/wrong.wtns" $((76 + 32 * 100))
expect 0 'domain of 256' "$tool" prove "$key" "$scratch/wrong.wtns" "$scratch/wrong.json" "$public"
expect 1 . verify "$vectors/poseidon_bn254_verification_key.json" \
    "$vectors/poseidon_bn254_public.json" "$scratch/wrong.json"

# A command that fails leaves no files.
refused() { # EXIT-CODE STRING KEY WITNESS [OPTION]
    code=$1 string=$2
    shift 2
    expect "$code" "$string" "$tool" prove "$@" "$scratch/none.json" "$scratch/none-public.json"
    if [ -e "$scratch/none.json" ] || [ -e "$scratch/none-public.json" ]; then
        echo "FAILED: a failed proof leaves files"
        failed=1
    fi
}
refused 1 'poseidon_bn254.zkey with .*chain_bls12_381.wtns: the witness is over bls12_381_fr' \
    "$key" "$vectors/chain_bls12_381.wtns"
refused 1 'none.zkey cannot be opened' "$scratch/none.zkey" "$witness"
refused 1 'poseidon_bn254.wtns' "$witness" "$witness"
change "$witness" "$scratch/wrong.wtns" $((76 + 1))
refused 1 'value 0 of the witness is not 1' "$key" "$scratch/wrong.wtns"
# Invalid entries of the key: the number of a matrix, and a point of A.
offset() { # SECTION
    "$tool" info --json "$key" | python3 -c "import json, sys
print(next(s['offset'] for s in json.load(sys.stdin)['sections'] if s['name'] == sys.argv[1]))" "$1"
}
change "$key" "$scratch/wrong.zkey" $(($(offset coefficients) + 2))
refused 1 'coefficient 0 of the key is outside its matrices' "$scratch/wrong.zkey" "$witness"
change "$key" "$scratch/wrong.zkey" $(($(offset A) + 64 * 3))
refused 1 'point 3' "$scratch/wrong.zkey" "$witness"
expect 1 'cannot be written' "$tool" prove "$key" "$witness" "$scratch/none/p.json" "$public"
expect 1 'cannot be written' "$tool" prove "$key" "$witness" "$scratch/none.json" "$scratch"
[ -e "$scratch/none.json" ] && echo "FAILED: a proof without its public signals" && failed=1
expect 2 'needs KEY WITNESS PROOF PUBLIC' "$tool" prove "$key" "$witness"
case ${DEVICEPOOL_DEVICES-} in
sim*)
    # Failures of the driver at different points leave no files.
    for fault in 'cuStreamCreate*@1=2' 'cuMemcpyHtoD*@2=999' 'cuMemcpyDtoH*@3=999'; do
        export DEVICEPOOL_SIM_FAULTS="$fault"
        refused 1 . "$key" "$witness"
    done
    export DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*@9=719'
    refused 5 LAUNCH_FAILED "$key" "$witness"
    ;;
esac
exit $failed
