#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Groth16 proofs of synthetic circuits, measured and verified: makes a key and a witness of each size, proves, and
# verifies the first proof, which all others equal.
# BENCH_REPEAT: proofs per measurement; BENCH_TRACE: a directory for the
# ranges of one proof each; BENCH_CURVES: fewer curves; BENCH_FACTORS: precompute factors, 0 for what the prover chooses;
# BENCH_WITNESSES: uniform (random values) and small (most values 0, 1 or short, as in most circuits).
# usage: prove.sh BUILD-DIRECTORY [DEVICES] [LOG-DOMAIN]...   (default: every GPU, 16 20 22)
set -u
build=$1 devices=${2:-}
shift "$(($# < 2 ? $# : 2))"
verifier=$(dirname "$0")/../cli/verify_groth16.py
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failed=0

for size in ${*:-16 20 22}; do
    for curve in ${BENCH_CURVES:-bn254 bls12_381}; do
        stem=$directory/$curve
        for witness in ${BENCH_WITNESSES:-uniform small}; do
            option=
            [ "$witness" = small ] && option=--small
            # shellcheck disable=SC2086 # no option at all for a uniform witness
            "$build/tests/bench/groth16_key" $option "$devices" $curve "$size" "$stem.zkey" "$stem.wtns" "$stem.json" || exit
            for factor in ${BENCH_FACTORS:-1 0}; do
                echo "witness $witness"
                # shellcheck disable=SC2086 # no option at all where there is no device string
                "$build/tests/bench/bench_groth16" ${devices:+--device "$devices"} --factor $factor \
                    ${BENCH_REPEAT:+--repeat "$BENCH_REPEAT"} \
                    ${BENCH_TRACE:+--trace "$BENCH_TRACE/$curve-$size-$witness-$factor.json"} "$stem.zkey" "$stem.wtns" \
                    "$stem-proof.json" "$stem-public.json" &&
                    python3 "$verifier" "$stem.json" "$stem-public.json" "$stem-proof.json" || failed=1
            done
            rm -f "$stem".*
        done
    done
done
exit $failed
