#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The operations over ranks on the GPUs of this host, one per rank, by every transport that there is, and
# the time of one rank and of all. Run by hand; NCCL is found as libnccl.so.2, see LD_LIBRARY_PATH.
# usage: on_gpus.sh BUILD-DIRECTORY RANKS [MPIRUN]     default: mpirun.openmpi
set -u
build=$1
ranks=$2
mpirun=${3:-mpirun.openmpi}
run="sh $(dirname "$0")/run_ranks.sh $mpirun"
tool=$build/src/mpi/devicepool-mpi
kind=openmpi
case $mpirun in *mpich* | *hydra*) kind=mpich ;; esac
failed=0

$run "$ranks" "$tool" -d all info || exit 1
transports=$($run "$ranks" "$tool" -d all info | sed -n 's/^rank 0 .*can use: //p')
for transport in $transports; do
    export DEVICEPOOL_MPI_TRANSPORT="$transport"
    echo "== $transport: every operation against one device"
    $run "$ranks" "$build/tests/mpi/test_ranks_$kind" all || failed=1
    for size in 20 24 26; do
        $run "$ranks" "$tool" -d all -n $size --device-memory bench || failed=1
    done
done
unset DEVICEPOOL_MPI_TRANSPORT
echo "== one rank"
for size in 20 24 26; do
    $run 1 "$tool" -d all -n $size --device-memory bench || failed=1
done
exit $failed
