#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The prover service as its clients and its operator see it: proofs that a verifier accepts, clear
# answers to wrong requests, metrics, health, 2,000 requests, draining on SIGTERM; on simulated
# devices the 2,000 requests meet a device that fails and a kernel that never ends, and worker
# processes that are killed, and a service
# with a sticky fault is started again by its supervisor. The requests of the load are of POST /root,
# because a proof takes tenths of a second on simulated devices.
# usage: check_service.sh SERVICE TESTS-DIRECTORY [DEVICES [brief]]; brief: no load, no faults
set -u
service=$(realpath "$1")
tests=$(realpath "$2")
devices=${3:-}
vectors=$tests/vectors/iden3
directory=$(mktemp -d) || exit 1
id=
manager=
trap 'for process in $id $manager; do kill -KILL "$process" 2>/dev/null; done; rm -rf "$directory"' EXIT
cd "$directory" || exit 1
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# start [OPTION]...: runs the service in the background; sets $id and $url
start() {
    : >log
    # shellcheck disable=SC2086 # no option at all where there is no device string
    "$service" ${devices:+-d "$devices"} "$@" chain="$vectors/chain_bls12_381.zkey" 2>log &
    id=$!
    tries=0
    until url=$(sed -n 's/^ready: \([^,]*\),.*/\1/p' log) && [ -n "$url" ]; do
        tries=$((tries + 1))
        if ! kill -0 $id 2>/dev/null || [ $tries = 6000 ]; then
            kill -KILL $id 2>/dev/null
            wait $id
            code=$?
            cat log
            exit $code
        fi
        sleep 0.1
    done
}

# stop CODE: SIGTERM ends the service with that exit code
stop() {
    kill -TERM $id 2>/dev/null
    ended "$1"
}

ended() {
    wait $id
    code=$?
    id=
    [ $code = "$1" ] || {
        fail "exit code $code, expected $1:"
        cat log
    }
}

# answers CODE TEXT CURL-ARGUMENT...: the answer has that code and a line that matches
answers() {
    expected=$1 text=$2
    shift 2
    code=$(curl -s -S -m 600 -o answer -w '%{http_code}' "$@")
    [ "$code" = "$expected" ] && grep -q -e "$text" answer && return
    fail "$*: $code, expected $expected with '$text':"
    cat answer
}

# becomes TEXT URL: what the service answers has a line that matches in the end
becomes() {
    tries=0
    until curl -s "$2" | grep -q -e "$1" || [ $tries = 6000 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    answers 200 "$1" "$2"
}

# verify CIRCUIT: a verifier accepts the proof that is the last answer
verify() {
    python3 - "$vectors/$1" "$tests/cli/verify_groth16.py" <<'END' || fail "a proof of $1 is not accepted"
import json, subprocess, sys
answer = json.load(open("answer"))
json.dump(answer["proof"], open("proof.json", "w"))
json.dump(answer["publicSignals"], open("public.json", "w"))
sys.exit(subprocess.call([sys.executable, sys.argv[2], sys.argv[1] + "_verification_key.json", "public.json",
                          "proof.json"]))
END
}

# Leaves 1, 2, 3, 4.
leaf='\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000'
for i in 1 2 3 4; do
    printf "\\00$i$leaf\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000"
done >leaves
head -c 32 /dev/zero | tr '\000' '\377' >large_element
head -c 200000 /dev/zero >zeros

# A service manager: what the service says, until it is gone.
python3 - "$directory/notify" >said <<'END' &
import os, socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1] + ".new")
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    message = manager.recv(100).decode()
    print(message, flush=True)
    if message == "STOPPING=1":
        break
END
manager=$!
while [ ! -e "$directory/notify" ]; do sleep 0.05; done

# A proof, checked by a verifier in Python, of a service that shows its status.
export NOTIFY_SOCKET="$directory/notify"
start --status-socket "$directory/status"
answers 200 '"protocol": "groth16"' --data-binary @"$vectors/chain_bls12_381.wtns" "$url/prove/chain"
verify chain_bls12_381
answers 200 '^[0-9a-f]\{64\}$' --data-binary @leaves "$url/root"
cp answer root
python3 - "$directory/status" <<'END' || fail "the status socket has no snapshot"
import json, socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
text = b"".join(iter(lambda: client.recv(65536), b""))
json.loads(text)
sys.exit(b"devicepool_leases_granted_total" not in text)
END

# Wrong requests.
answers 404 'not found: POST /prove/KEY' --data-binary @leaves "$url/prove/none"
answers 404 'not found' "$url/root"
answers 404 'not found' "$url/"
answers 404 'not found' -X PUT --data-binary @leaves "$url/root"
answers 400 'expected a .wtns file' -X POST "$url/prove/chain"
answers 400 'expected elements of 32 bytes' --data-binary abc "$url/root"
answers 400 . --data-binary @leaves "$url/prove/chain"
head -c 1000 "$vectors/chain_bls12_381.wtns" >truncated
answers 400 . --data-binary @truncated "$url/prove/chain"
cp "$vectors/chain_bls12_381.wtns" wrong
printf '\002' | dd of=wrong bs=1 seek=76 conv=notrunc 2>dd.log
answers 422 'value 0 of the witness is not 1' --data-binary @wrong "$url/prove/chain"
answers 422 . --data-binary @large_element "$url/root"
answers 413 'the body exceeds' --data-binary @zeros "$url/root"
answers 413 'the body exceeds' -H 'Transfer-Encoding: chunked' --data-binary @zeros "$url/prove/chain"
# A client that goes away in the middle of its body.
curl -s -m 1 -H 'Content-Length: 4096' --data-binary @leaves "$url/root" >answer &&
    fail "an incomplete body has an answer"

answers 200 'devicepool_usable_devices [1-9]' "$url/metrics"
grep -q 'lease' answer || fail "no metrics of leases"
answers 200 '^healthy' "$url/healthz"
answers 200 'devicepool_resident_loads_total{device="[0-9]*"} [1-9]' "$url/metrics"
sleep 1.5 # its supervisor speaks once a second
stop 0
unset NOTIFY_SOCKET
wait $manager
manager=
[ "$(sort -u said | tr '\n' ' ')" = "READY=1 STOPPING=1 WATCHDOG=1 " ] && [ "$(tail -n 1 said)" = STOPPING=1 ] ||
    fail "the service said $(tr '\n' ' ' <said)"
grep -q drained log || fail "not drained"
[ "${4:-}" != brief ] || {
    [ $failed = 0 ] && echo "the service proves, refuses wrong requests and drains"
    exit $failed
}

# load COUNT: that many requests over 16 connections; the file codes has a line for each
load() {
    curl -s -Z --parallel-max 16 -m 100 --data-binary @leaves -o 'answer.#1' -w '%{http_code} %{exitcode}\n' \
        "$url/root?[1-$1]" >codes 2>progress
}

# metric NAME: the value of a sample without the prefix of all metrics
metric() {
    curl -s "$url/metrics" | sed -n "s/^devicepool_$1 //p"
}

# holds: how many descriptors, mappings of memory shared with workers, and children the service has
holds() {
    echo "$(find /proc/$id/fd -type l | wc -l) descriptors, $(grep -c memfd:devicepool /proc/$id/maps) mappings," \
        "$(grep -s -l "^PPid:.$id\$" /proc/[0-9]*/status | wc -l) processes"
}

# settled: the same once the service has closed all connections, which are established or closed by the client
settled() {
    port=$(printf ':%04X' "${url##*:}")
    while cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        awk -v port="$port" 'substr($2, length($2) - 4) == port && ($4 == "01" || $4 == "08")' | grep -q .; do
        sleep 0.1
    done
    holds
}

# A complete answer to each of $1 requests: the root, or 503 with the reason. Sets $refused.
check_load() {
    [ "$(wc -l <codes)" = "$1" ] || fail "$(wc -l <codes) answers to $1 requests"
    grep -v -e '^200 0$' -e '^503 0$' codes && fail "an answer is neither 200 nor 503, or not complete"
    refused=$(grep -c '^503' codes)
    echo "$1 requests, $refused refused: $(cat answer.* 2>cat.log | grep -v -x -f root | sort | uniq -c | sort -rn | head -3)"
    good=0 bad=0
    for number in $(seq "$1"); do
        if cmp -s root "answer.$number"; then
            good=$((good + 1))
        elif grep -s -q . "answer.$number"; then
            bad=$((bad + 1))
        fi
    done
    [ $good = $(($1 - refused)) ] || fail "$good roots for $(($1 - refused)) requests"
    [ $bad = "$refused" ] || fail "$bad reasons for $refused refused requests"
    rm -f answer.*
}

case $devices in
sim*)
    # More keys than the memory limit has space for beside the 5 MiB of a proof, in three units of 2 MiB: they are evicted
    # and brought back.
    all=$devices devices=sim:1
    export DEVICEPOOL_MEMORY_LIMIT=6400K
    key=$vectors/poseidon_bn254.zkey
    start 1="$key" 2="$key" 3="$key" 4="$key" 5="$key" 6="$key" 7="$key"
    for name in 1 2 3 4 5 6 7 1; do
        answers 200 groth16 --data-binary @"$vectors/poseidon_bn254.wtns" "$url/prove/$name"
    done
    verify poseidon_bn254
    answers 200 'devicepool_resident_evictions_total{device="0"} [1-9]' "$url/metrics"
    stop 0
    unset DEVICEPOOL_MEMORY_LIMIT
    devices=$all

    # In worker processes, which are killed one after another under load, each when the one before is back in
    # service: the requests they had are repeated on other devices, none is refused and no answer is wrong, each
    # fault names the process that was killed, and neither the load nor the end leaves anything behind.
    devices=workers:$all
    start
    answers 200 . --data-binary @leaves "$url/root"
    held=$(settled)
    (
        until [ -e shot ]; do
            load 200
            check_load 200
            [ "$refused" = 0 ] || fail "$refused requests are refused although devices were left"
        done
        exit $failed
    ) &
    client=$!
    killed=
    for device in 0 1 2; do
        goal=$(($(metric leases_granted_total) + 100))
        until [ "$(metric leases_granted_total)" -ge $goal ] || ! kill -0 $client 2>/dev/null; do
            sleep 0.1
        done
        worker=$(metric "worker_process_id{device=\"$device\"}")
        killed="$killed $worker"
        kill -KILL "$worker" || fail "device $device has no worker"
        tries=0
        until [ "$(metric "worker_generation{device=\"$device\"}")" = 2 ] && [ "$(metric usable_devices)" = 3 ] ||
            [ $tries = 6000 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        [ $tries -lt 6000 ] || fail "device $device is not in service again"
    done
    touch shot
    wait $client || failed=1
    for worker in $killed; do
        grep -q "fault of the device: .*worker process $worker was ended by signal 9" log ||
            fail "no fault names process $worker"
    done
    [ "$(grep -c 'fault of' log)" = 3 ] || fail "there were other faults: $(grep 'fault of' log)"
    answers 200 '^healthy' "$url/healthz"
    answers 200 groth16 --data-binary @"$vectors/chain_bls12_381.wtns" "$url/prove/chain"
    verify chain_bls12_381
    tries=0
    until [ "$(holds)" = "$held" ] || [ $tries = 6000 ]; do # connections that end
        tries=$((tries + 1))
        sleep 0.1
    done
    [ "$(holds)" = "$held" ] || fail "the service holds $(holds) after the load, before it $held"
    workers=$(curl -s "$url/metrics" | sed -n 's/^devicepool_worker_process_id{.*} //p')
    stop 0
    [ "$(echo "$workers" | wc -l)" = 3 ] || fail "the metrics do not have three workers: $workers"
    for worker in $killed $workers; do
        grep -q -s -x "Name:.devicepool-work" "/proc/$worker/status" &&
            fail "worker process $worker is left behind"
    done
    devices=$all

    # No device is left.
    export DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*=46'
    start
    answers 503 . --data-binary @leaves "$url/root"
    answers 503 '^unhealthy: 0 of' "$url/healthz"
    stop 0

    # A device hangs while it is warmed up: the others serve, and SIGTERM ends the service at once.
    export DEVICEPOOL_SIM_FAULTS='dev0.cuLaunchKernel*@1=hang'
    start
    answers 200 . --data-binary @leaves "$url/root"
    began=$(date +%s)
    stop 75
    [ $(($(date +%s) - began)) -lt 60 ] || fail "the service has not ended at once"
    devices=sim:1
    start
    stop 75
    devices=$all

    # One device fails and is left out; one kernel hangs, whose device is abandoned: the requests that both had are
    # repeated on the third one, and none is lost.
    # DEVICEPOOL_TEST_SAMPLE: an eighth of the load.
    part=${DEVICEPOOL_TEST_SAMPLE:+8}
    part=${part:-1}
    export DEVICEPOOL_SIM_FAULTS="dev0.cuLaunchKernel*@$((300 / part))=46; dev1.cuLaunchKernel*@$((600 / part))=hang"
    start -t 60000
    load $((2000 / part))
    check_load $((2000 / part))
    grep -q 'fault of the device' log || fail "no device has failed"
    [ "$refused" = 0 ] || fail "$refused requests are refused although a device was left"
    becomes '1 of 3 devices' "$url/healthz"
    becomes 'state="abandoned"} 1' "$url/metrics" # after it was quarantined
    stop 75
    grep -q 'jobs on a device that hangs' log || fail "the service does not say why it ends so"

    # After a sticky fault every request gets its answer, and the supervisor starts the service again.
    export DEVICEPOOL_SIM_FAULTS='cuLaunchKernel*@100=700'
    start
    load 200
    ended 75
    grep -q 'fault of the process' log || fail "no sticky fault"
    grep -q '^200 0' codes || fail "no answer before the fault"
    grep -q '^503 0' codes || fail "no answer after the fault"
    grep -v -e '^200 0$' -e '^503 0$' -e '^000 \(7\|5[56]\)$' codes && fail "an answer is not complete"
    unset DEVICEPOOL_SIM_FAULTS
    rm -f answer.*
    start
    answers 200 . --data-binary @leaves "$url/root"
    stop 0
    ;;
*)
    start
    load 2000
    check_load 2000
    [ "$refused" = 0 ] || fail "$refused requests are refused"
    stop 0
    ;;
esac

# The queue is bounded.
start -q 2
refused=0
until [ "$refused" -ge 1 ] || [ $failed = 1 ]; do # 16 connections fill a queue of 2 sooner or later
    load 100
    check_load 100
done
stop 0

# SIGTERM: accepted proofs are completed, everything else is refused. A request with an incomplete body keeps the
# service from ending until it has reported that it drains.
start
mkfifo body
curl -s -m 600 -X POST -T - -o held -w '%{http_code}' "$url/root" <body >held_code &
holder=$!
exec 9>body
head -c 32 leaves >&9
sleep 1
curl -s -Z --parallel-max 8 --data-binary @"$vectors/chain_bls12_381.wtns" -o 'answer.#1' \
    -w '%{http_code} %{exitcode}\n' "$url/prove/chain?[1-96]" >codes 2>progress 9>&- &
client=$!
tries=0
until [ -s answer.1 ] || [ $tries = 6000 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
kill -TERM $id
answers 503 '^draining' "$url/healthz"
exec 9>&-
wait $holder
grep -q -x 503 held_code || fail "a request that was complete too late has the code $(cat held_code)"
wait $client
ended 0
grep -v -e '^200 0$' -e '^503 0$' -e '^000 \(7\|5[56]\)$' codes && fail "SIGTERM leaves an incomplete answer"
[ "$(grep -c '^200' codes)" = "$(cat answer.* | grep -c publicSignals)" ] || fail "a proof is lost"
grep -q -v '^200' codes || fail "SIGTERM ends nothing"
[ $failed = 0 ] && echo "the service proves, reports, survives faults and drains"
exit $failed
