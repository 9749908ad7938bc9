#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The service as an operator sees it: answers, metrics on SIGUSR1, draining on SIGTERM and at the
# end of the input; on simulated devices also a sticky fault and a kernel that never ends.
# usage: check_service.sh SERVICE [DEVICES]
set -u
service=$1
devices=${2:-}
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# has TEXT FILE: a line that matches comes within a minute
has() {
    tries=0
    until grep -q -e "$1" "$directory/$2"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || {
            fail "no '$1' in $2:"
            cat "$directory/$2"
            return
        }
        sleep 0.1
    done
}

# run INPUT: one service over all of the input
run() {
    # shellcheck disable=SC2086 # no argument at all where there is no device string
    printf "$1" | "$service" $devices >"$directory/out" 2>"$directory/log"
    code=$?
}

run '3 1\n4 7\n3 1\nnonsense\n4 8\n3 1 0\n'
[ $code = 77 ] && {
    cat "$directory/log"
    exit 77
}
[ $code = 0 ] || fail "exit code $code at the end of the input"
has '^job 4 refused' out
has '^job 6 late' out
has 'drained' log
root() {
    sed -n "s/^job $1 device [0-9]* root //p" "$directory/out"
}
[ "$(root 1)" = "$(root 3)" ] || fail "the same leaves have different roots"
[ "$(root 1 | wc -c)" = 65 ] || fail "no root of 32 bytes"
[ "$(root 2)" != "$(root 5)" ] || fail "different leaves have the same root"

# Signals, while the input stays open.
mkfifo "$directory/input"
# shellcheck disable=SC2086
"$service" $devices <"$directory/input" >"$directory/out" 2>"$directory/log" &
id=$!
exec 3>"$directory/input"
printf '3 1\n3 2\n' >&3
has '^job 1 device' out
has '^job 2 device' out
kill -USR1 $id
has 'service_jobs_total{outcome="done"} [12]' log
has 'pool_lost 0' log
grep -q drained "$directory/log" && fail "SIGUSR1 ended it"
printf '4 3\n4 4\n4 5\n' >&3
has '^job 5 ' out
kill -TERM $id
wait $id
code=$?
exec 3>&-
[ $code = 0 ] || fail "exit code $code after SIGTERM"
has 'drained' log
[ "$(grep -c root "$directory/out")" = 5 ] || fail "SIGTERM lost accepted jobs"

case $devices in
sim*)
    DEVICEPOOL_SIM_FAULTS='cuLaunchKernel@12=700' run '3 1\n3 2\n3 3\n3 4\n'
    [ $code = 75 ] || fail "exit code $code after a sticky fault"
    has 'fault of the process' log
    [ "$(wc -l <"$directory/out")" = 4 ] || fail "a job has no answer after the fault"

    DEVICEPOOL_SIM_FAULTS='cuLaunchKernel@12=hang' run '3 1 3000\n3 2 3000\n3 3 3000\n'
    [ $code = 75 ] || fail "exit code $code with a kernel that hangs"
    has ' late' out
    [ "$(grep -c root "$directory/out")" = 2 ] || fail "more than one job is late"
    ;;
esac
[ $failed = 0 ] && echo "the service answers, reports and drains"
exit $failed
