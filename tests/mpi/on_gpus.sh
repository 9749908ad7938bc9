#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The operations over ranks on the GPUs of this host, one per rank: every operation against one device by
# every transport that there is, then the times of MSM and NTT by every transport, of one rank, and of the
# command without MPI, with what docs/performance.md says about the host. Run by hand.
#
# Every step has a limit of time, and none starts after the last second for it, so that the whole ends
# within eight minutes. Exit code 1: a step failed, had no time, or NCCL was not there.
#
# usage: on_gpus.sh BUILD-DIRECTORY RANKS [MPIRUN]     default: mpirun.openmpi
#   BUILD-DIRECTORY may be one that bundle.sh has written. DEVICEPOOL_NCCL is the path of libnccl.so.2; where
#   it is not set, that of the Python package nvidia.nccl is used, which PyTorch brings.
#   ON_GPUS_DEVICES (default all), ON_GPUS_SIZES ("20 24 26"), ON_GPUS_SECONDS (470): for a trial
#   without GPUs.
set -u
build=$1
ranks=$2
mpirun=${3:-mpirun.openmpi}
devices=${ON_GPUS_DEVICES:-all}
sizes=${ON_GPUS_SIZES:-20 24 26}
here=$(dirname "$0")
kind=openmpi
case $mpirun in *mpich* | *hydra*) kind=mpich ;; esac
started=$(date +%s)
last=$((started + ${ON_GPUS_SECONDS:-470}))
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

program() { # PATH-IN-BUILD-DIRECTORY: there, or where bundle.sh puts it
    for path in "$build/$1" "$build/bin/$(basename "$1")"; do
        [ -x "$path" ] && echo "$path" && return
    done
    echo "$build/$1"
}
tool=$(program src/mpi/devicepool-mpi)
local_tool=$(program src/tools/command/devicepool)
tests=$(program "tests/mpi/test_ranks_$kind")

# step SECONDS COMMAND...: its output goes to $scratch/output as well.
step() {
    seconds=$1
    shift
    left=$((last - $(date +%s)))
    [ "$left" -lt "$seconds" ] && seconds=$left
    if [ "$seconds" -lt 5 ]; then
        echo "NOT RUN, no time is left: $*"
        failed=1
        return 1
    fi
    # SIGTERM to mpirun ends its ranks; SIGKILL ends what is left of the group.
    timeout -k 5 "$seconds" "$@" >"$scratch/output" 2>&1
    code=$?
    # The lines of test frameworks about what passed are left out.
    grep -v '^\[ RUN\|^\[       OK\|^\[=====\|^\[  PASSED' "$scratch/output"
    [ $code = 0 ] && return 0
    echo "FAILED with exit code $code (124: no end after $seconds s): $*"
    failed=1
    return 1
}
over() { # RANKS SECONDS PROGRAM ...
    over_ranks=$1
    over_seconds=$2
    shift 2
    step "$over_seconds" sh "$here/run_ranks.sh" "$mpirun" "$over_ranks" "$@"
}

echo "== host"
date -u +%Y-%m-%dT%H:%M:%SZ
git -C "$here" rev-parse --short HEAD 2>/dev/null
uname -r
nproc
if command -v nvidia-smi >/dev/null; then
    timeout 20 nvidia-smi --query-gpu=index,name,uuid,driver_version,memory.total --format=csv,noheader
    timeout 20 nvidia-smi topo -m
fi
if [ -z "${DEVICEPOOL_NCCL:-}" ] && command -v python3 >/dev/null; then
    DEVICEPOOL_NCCL=$(timeout 20 python3 -c 'import importlib.util as util, os
spec = util.find_spec("nvidia.nccl")
paths = [path + "/lib/libnccl.so.2" for path in (spec.submodule_search_locations if spec else [])]
print(next((path for path in paths if os.path.exists(path)), ""))' 2>/dev/null)
    [ -n "$DEVICEPOOL_NCCL" ] && export DEVICEPOOL_NCCL
fi
echo "NCCL: ${DEVICEPOOL_NCCL:-libnccl.so.2 of the dynamic linker}"
timeout 20 "$mpirun" --version | head -1

echo "== $ranks ranks"
over "$ranks" 40 "$tool" -d "$devices" info || exit 1
transports=$(sed -n 's/^rank 0 .*can use: //p' "$scratch/output")
# What a failed forced choice says about NCCL is worth more than its absence from the list.
case " $transports " in
*" nccl "*) ;;
*) transports="$transports nccl" ;;
esac

measured=
for transport in $transports; do
    echo "== $transport: every operation against one device"
    over "$ranks" 90 env DEVICEPOOL_MPI_TRANSPORT="$transport" "$tool" -d "$devices" --timeout 20 info &&
        over "$ranks" 90 env DEVICEPOOL_MPI_TRANSPORT="$transport" "$tests" "$devices" &&
        measured="$measured $transport"
done

: >"$scratch/times"
keep() { # LABEL
    sed -n "s/^\(msm\|ntt\) [a-z0-9_]* \(2^[0-9]*\) over .*: \([0-9.]*\) ms .*/$1 \1 \2 \3/p" "$scratch/output" >>"$scratch/times"
}
largest=${sizes##* }
echo "== times, data in device memory, the median of five calls"
for size in $largest $sizes; do # the largest first
    [ "$size" = "$largest" ] && [ -s "$scratch/times" ] && continue
    for transport in $measured; do
        over "$ranks" 60 env DEVICEPOOL_MPI_TRANSPORT="$transport" "$tool" -d "$devices" -n "$size" \
            --device-memory --timeout 20 bench ntt && keep "$transport"
    done
    over 1 60 "$tool" -d "$devices" -n "$size" --device-memory --timeout 20 bench ntt && keep one
    over "$ranks" 90 "$tool" -d "$devices" -n "$size" --device-memory --timeout 20 bench msm && keep all
    over 1 90 "$tool" -d "$devices" -n "$size" --device-memory --timeout 20 bench msm && keep one
done
echo "== the same on one device without MPI"
local_device=0
[ "$devices" = all ] || local_device=$devices
list=$(for size in $sizes; do printf '2^%s,' "$size"; done)
step 60 "$local_tool" bench ntt -d "$local_device" --sizes "${list%,}" --repeat 5
# The points of larger MSMs take one processor minutes; one rank's are those of one device.
[ "$largest" -lt 24 ] || step 60 "$local_tool" bench msm -d "$local_device" --sizes 2^24 --repeat 5

echo "== one rank's time divided by that of $ranks ranks (aims at 2^26 on two GPUs: msm 1.85, ntt 1.6)"
awk -v ranks="$ranks" '
    $1 == "one" { one[$2 $3] = $4; next }
    { rows[++count] = $0 }
    END {
        for (i = 1; i <= count; i++) {
            split(rows[i], row, " ")
            if (one[row[2] row[3]])
                printf "%s %s %s: %s ms over %d ranks, %s ms on one: %.2f times\n", row[2], row[3],
                    row[1] == "all" ? "" : "by " row[1], row[4], ranks, one[row[2] row[3]],
                    one[row[2] row[3]] / row[4]
        }
    }' "$scratch/times"
echo "ended after $(($(date +%s) - started)) s: $([ $failed = 0 ] && echo 'all steps succeeded' || echo 'a step FAILED')"
exit $failed
