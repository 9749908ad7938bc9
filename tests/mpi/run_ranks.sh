#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts a program in several ranks on this host, also as root and on fewer processors than ranks.
# usage: run_ranks.sh MPIRUN RANKS|killed RANKS PROGRAM [ARGUMENT ...]
#   killed RANKS: one rank ends itself by SIGKILL; the others have to report it, or to be ended by
#   mpirun: in either case everything ends.
set -u
mpirun=$1
shift
killed=no
if [ "$1" = killed ]; then
    killed=yes
    shift
fi
ranks=$1
shift

case $("$mpirun" --version 2>&1) in
*"Open MPI"* | *OpenRTE*)
    options="--allow-run-as-root --map-by slot:OVERSUBSCRIBE --mca pml ob1 --mca mpi_yield_when_idle 1"
    options="$options --mca btl_vader_single_copy_mechanism none --mca smsc ^cma,xpmem"
    survive="--enable-recovery"
    least=$((ranks - 1))
    kind=openmpi
    ;;
*)
    options=""
    export MPIR_CVAR_POLLS_BEFORE_YIELD=1
    kind=mpich
    survive="-disable-auto-cleanup"
    least=0 # its process manager sends the others SIGUSR1, and in version 4.0 SIGKILL soon after
    ;;
esac

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
# A program for the standard ABI takes the library of this mpirun, where Debian has it.
for library in /usr/lib/*/libmpi_abi_$kind.so.1*; do
    [ -e "$library" ] && ln -sf "$library" "$scratch/libmpi_abi.so.1"
done
export LD_LIBRARY_PATH="$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if [ $killed = no ]; then
    # shellcheck disable=SC2086
    "$mpirun" $options -n "$ranks" "$@"
    exit $?
fi

log=$scratch/log
report=$scratch/report
: >"$report"
# As users start it: mpirun may end the other ranks at once, and has to report a failure.
# shellcheck disable=SC2086
if "$mpirun" $options -n "$ranks" "$@" >"$log" 2>&1; then
    cat "$log"
    echo "mpirun did not report the rank that was killed"
    exit 1
fi
echo "all ranks have ended"
# Where the launcher leaves them alone, the library notifies the survivors.
export RANKS_REPORT="$report"
# shellcheck disable=SC2086
"$mpirun" $options $survive -n "$ranks" "$@" >"$log" 2>&1
notified=$(grep -c 'survived and was notified' "$report")
echo "with $survive, $notified of $((ranks - 1)) ranks were notified"
if grep -q '^rank .* failed$' "$report" || [ "$notified" -lt "$least" ]; then
    cat "$log"
    exit 1
fi
