#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_survivors.c with an mpirun that tolerates processes that end. All ranks that are left have to report that
# their checks have passed; the status of mpirun is not looked at, because a rank was killed.
# usage: test_survivors.sh MPIRUN PROGRAM CASE LEFT POINT ...      LEFT: of four ranks
#   exit 77: mpirun has no --with-ft ulfm
set -u
mpirun=$1
program=$2
name=$3
left=$4
shift 4
log=$(mktemp) || exit 1
report=$(mktemp) || exit 1
trap 'rm -f "$log" "$report"' EXIT
options="--with-ft ulfm --allow-run-as-root --map-by slot:OVERSUBSCRIBE --mca mpi_yield_when_idle 1"
# shellcheck disable=SC2086
"$mpirun" $options -n 1 true >"$log" 2>&1 || {
    cat "$log"
    echo "skipped: this mpirun has no --with-ft ulfm"
    exit 77
}
export RANKS_REPORT="$report"
failed=0
for point in "$@"; do
    : >"$report"
    # shellcheck disable=SC2086
    timeout 90 "$mpirun" $options -n 4 "$program" "$name" "$point" >"$log" 2>&1
    code=$?
    passed=$(grep -c ': passed$' "$report")
    echo "$name $point: $passed of $left ranks have passed, mpirun: $code"
    if [ "$passed" != "$left" ] || grep -q ': failed$' "$report"; then
        cat "$log"
        failed=1
    fi
done
exit $failed
