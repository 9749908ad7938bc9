#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The configuration file and the environment: what is in effect, which precedes, what is refused.
# usage: test_config.sh DEVICEPOOL STATUS-SERVICE
set -u
. "$(dirname "$0")/expect.sh"
tool=$1
service=$2
file=$scratch/devicepool.conf
for name in $(env | sed -n 's/^\(DEVICEPOOL_[A-Z_]*\)=.*/\1/p'); do
    case $name in DEVICEPOOL_NVRTC | DEVICEPOOL_WORKER | DEVICEPOOL_CACHE*) ;; *) unset "$name" ;; esac
done
export DEVICEPOOL_CONFIG="$file"

# The file sets what the environment does not.
cat >"$file" <<END
# a comment, an empty line, blanks

 DEVICEPOOL_DEVICES = sim:3,mem=2G
DEVICEPOOL_SLOTS=7
DEVICEPOOL_MEMORY_LIMIT=50%
END
expect 0 "DEVICEPOOL_SLOTS  *7  *$file:4" "$tool" version --config
expect 0 "DEVICEPOOL_DEVICES  *sim:3,mem=2G  *$file:3" "$tool" version --config
expect 0 'DEVICEPOOL_SLICE  *2ms  *default' "$tool" version --config
expect 0 'DEVICEPOOL_SLOTS  *9  *environment' env DEVICEPOOL_SLOTS=9 "$tool" version --config
expect 0 'DEVICEPOOL_SLOTS  *4  *environment' env DEVICEPOOL_SLOTS= "$tool" version --config
expect 0 '"from":.*"environment"' env DEVICEPOOL_SLOTS=9 "$tool" version --config --json
expect 0 '"meaning":.*"leases of one slot' "$tool" version --config --json
expect 0 '"ordinal":.*2' "$tool" devices --json
expect 0 'leases  *7 slots' "$tool" devices
expect 0 'leases  *9 slots' env DEVICEPOOL_SLOTS=9 "$tool" devices
expect 0 'leases  *4 slots' env DEVICEPOOL_CONFIG=off "$tool" devices -d sim

# Values that cannot be used name where they stand.
for row in 'SLOTS=0|line 1 of' 'SLOTS=70000|1 to 65536' 'SLOTS=4x|1 to 65536' 'SLICE=2|500us' 'SLICE=0ms|500us' \
    'SLICE=99999999999s|500us' 'LOG=loud|error, warn, info, debug' 'MEMORY_LIMIT=120%|line 1 of'; do
    echo "DEVICEPOOL_${row%%|*}" >"$file"
    expect 2 "${row#*|}" "$tool" devices -d sim
done
echo 'DEVICEPOOL_STATUS_SOCKET=/tmp/x%d' >"$file"
expect 1 '%p is the number' "$service" ""
echo 'DEVICEPOOL_SLOTS=5' >"$file"
expect 2 'the environment variable DEVICEPOOL_SLOTS is "many"' env DEVICEPOOL_SLOTS=many "$tool" devices -d sim

# Files that cannot be understood set nothing, and say what is wrong.
printf 'DEVICEPOOL_SLOTS=5\nDEVICEPOOL_SLOT=6\n' >"$file"
expect 2 'unknown setting "DEVICEPOOL_SLOT" in line 2' "$tool" devices -d sim
expect 1 'unknown setting "DEVICEPOOL_SLOT" in line 2' "$tool" version --config
printf 'DEVICEPOOL_SLOTS=5\n\nDEVICEPOOL_SLOTS=6\n' >"$file"
expect 2 'DEVICEPOOL_SLOTS in lines 1 and 3' "$tool" devices -d sim
printf 'DEVICEPOOL_SLOTS 5\n' >"$file"
expect 2 'no NAME=VALUE in line 1' "$tool" devices -d sim
head -c 20000 /dev/zero >"$file"
expect 2 'not a regular file of at most' "$tool" devices -d sim
head -c 200 /dev/zero >"$file"
expect 2 'not a text' "$tool" devices -d sim
expect 2 'cannot be opened: No such file' env DEVICEPOOL_CONFIG="$scratch/none" "$tool" devices -d sim
mkfifo "$scratch/pipe"
expect 2 'not a regular file' env DEVICEPOOL_CONFIG="$scratch/pipe" "$tool" devices -d sim
: >"$file"
expect 0 'sim' "$tool" devices -d sim

# The socket of a process has its number; a second pool, and one that cannot have it, do without.
serve() {
    "$service" "" <"$scratch/input" >"$scratch/output" 2>"$scratch/errors" &
    served=$!
    exec 3>"$scratch/input" 4<"$scratch/output"
    read -r ready <&4
}
finish() {
    exec 3>&- 4<&-
    wait "$served" || { echo "FAILED: the service: $(cat "$scratch/errors")"; failed=1; }
}
mkfifo "$scratch/input" "$scratch/output"
echo "DEVICEPOOL_STATUS_SOCKET=$scratch/%%-%p.sock" >"$file"
serve
expect 0 '"slots"' "$tool" top "$scratch/%-$served.sock" --json
finish
printf 'DEVICEPOOL_STATUS_SOCKET=%s/pool.sock\nDEVICEPOOL_LOG=warn\n' "$scratch" >"$file"
serve
expect 0 '"slots"' "$tool" top "$scratch/pool.sock" --json
expect 0 'ready' sh -c '"$1" "" 2>&1 </dev/null' sh "$service"
also 'this pool has no status socket (DEVICEPOOL_STATUS_SOCKET in line 1 of'
finish
printf 'DEVICEPOOL_STATUS_SOCKET=%s/none/pool.sock\nDEVICEPOOL_LOG=warn\n' "$scratch" >"$file"
expect 0 'ready' sh -c '"$1" "" 2>&1 </dev/null' sh "$service"
also 'this pool has no status socket'
expect 0 'sim' "$tool" devices -d sim
printf 'DEVICEPOOL_DEVICES=workers:sim:2\nDEVICEPOOL_WORKER_LIMITS=nice=7\n' >"$file"
expect 0 'worker processes' "$tool" devices
for row in WORKER_SPIN_US=-1 WORKER_SPIN_US=abc WORKER_SPIN_US=9999999 WORKER_START_MS=60s WORKER_START_MS=0 \
    WORKER_PAUSE_MS=x WORKER_STOPPED_MS=99999999999999999999 WORKERS_SYNCHRONOUS=yes CACHE=no CACHE_MAX=lots; do
    echo "DEVICEPOOL_$row" >"$file"
    expect 2 "DEVICEPOOL_${row%%=*} in line 1 of .* is \"${row#*=}\"; it must be" "$tool" devices -d workers:sim
done
: >"$file"
expect 2 "must be an absolute path" env DEVICEPOOL_CACHE_DIR=relative "$tool" devices -d sim
for levels in packs /a:b /a: :/a on; do
    expect 2 "must be absolute paths, separated by colons, or off" \
        env DEVICEPOOL_CACHE_LEVELS=$levels "$tool" devices -d sim
done
expect 0 'sim' env DEVICEPOOL_CACHE_LEVELS=/none:/none2 "$tool" devices -d sim
echo 'DEVICEPOOL_SIM=sim:3' >"$file"

# Messages of programs that set no callback go to standard error.
expect 0 'devicepool: info: ' env DEVICEPOOL_LOG=info "$tool" devices -d sim
# Also where nobody reads them.
expect 0 '^0$' sh -c '{ { DEVICEPOOL_LOG=info "$1" devices -d sim >/dev/null; echo $? >&3; } 2>&1 | :; } 3>&1' sh "$tool"
exit $failed
