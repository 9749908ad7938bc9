#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves with a key over BN254 and one over BLS12-381 and has the proofs verified: by snarkjs (from npm, as
# $SNARKJS or in the path; without it the test is skipped) or by the Python beside this script. With
# another public signal each has to be refused.
# usage: check_groth16.sh EXAMPLE VECTORS snarkjs|python [DEVICES]
set -eu
example=$1 vectors=$2 verifier=$3
shift 3
here=$(dirname "$0")
snarkjs=${SNARKJS:-snarkjs}
if [ "$verifier" = snarkjs ] && ! command -v "$snarkjs" > /dev/null; then
    echo "snarkjs is not installed: npm install -g snarkjs"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

verify() { # KEY PUBLIC PROOF
    if [ "$verifier" = snarkjs ]; then
        "$snarkjs" groth16 verify "$@"
    else
        python3 "$here/verify_groth16.py" "$@"
    fi
}

for circuit in poseidon_bn254 chain_bls12_381; do
    stem=$vectors/$circuit
    proof=$folder/$circuit.json public=$folder/$circuit-public.json
    "$example" "$stem.zkey" "$stem.wtns" "$proof" "$public" "$@"
    verify "${stem}_verification_key.json" "$public" "$proof"
    verify "${stem}_verification_key.json" "${stem}_public.json" "$proof"
    sed 's/1"/2"/; t; s/[0-9]"/1"/' "$public" > "$folder/wrong.json" # the last digit of each signal
    if verify "${stem}_verification_key.json" "$folder/wrong.json" "$proof"; then
        echo "$circuit: taken with another public signal"
        exit 1
    fi
    "$example" "$stem.zkey" "$stem.wtns" "$folder/again.json" "$public" "$@"
    if cmp -s "$proof" "$folder/again.json"; then
        echo "$circuit: two proofs are the same, the blinding is not random"
        exit 1
    fi
done

# A witness that does not satisfy the circuit: another value at 100, of 32 bytes each from byte 76.
cp "$vectors/poseidon_bn254.wtns" "$folder/wrong.wtns"
printf '\001' | dd of="$folder/wrong.wtns" bs=1 seek=$((76 + 32 * 100)) conv=notrunc 2> /dev/null
"$example" "$vectors/poseidon_bn254.zkey" "$folder/wrong.wtns" "$folder/wrong.json" "$public" "$@"
if verify "$vectors/poseidon_bn254_verification_key.json" "$vectors/poseidon_bn254_public.json" \
    "$folder/wrong.json"; then
    echo "a proof for a witness that is none was taken"
    exit 1
fi
if "$example" "$vectors/poseidon_bn254.zkey" "$vectors/chain_bls12_381.wtns" "$folder/none.json" \
    "$folder/none-public.json" "$@" || [ -e "$folder/none.json" ]; then
    echo "a witness of another circuit was taken"
    exit 1
fi
