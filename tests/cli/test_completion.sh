#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The completions that bash proposes for the command.
# usage: test_completion.sh DEVICEPOOL SOURCE-ROOT DEVICEPOOL-MPI|none
set -u
PATH=$(dirname "$1"):$PATH
[ "$3" = none ] || PATH=$(dirname "$3"):$PATH
. "$2/src/tools/command/completion.bash"
failed=0

# proposes "LINE" WORD...: each word is among the proposals for the last word of the line.
proposes() {
    line=$1
    shift
    read -r -a COMP_WORDS <<<"$line"
    case $line in
    *" ") COMP_WORDS+=("") ;;
    esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _devicepool
    for word in "$@"; do
        case " ${COMPREPLY[*]} " in
        *" $word "*) echo "ok: '$line' proposes $word" ;;
        *)
            echo "FAILED: '$line' proposes '${COMPREPLY[*]}', not $word"
            failed=1
            ;;
        esac
    done
}

proposes "devicepool " demo selftest bench msm ntt poseidon prove devices cache info warm-up list top sim mpi version help
proposes "devicepool sel" selftest
proposes "devicepool help be" bench
proposes "devicepool bench " msm ntt extend ecntt poseidon tree commit fold evaluate reverse vector copy pool share
proposes "devicepool bench share --mode as" as-it-comes
proposes "devicepool bench share --long msm,nt" msm,ntt
proposes "devicepool bench ntt --" --sizes --field --json --devices --plot
proposes "devicepool bench ntt --field bn254" bn254_fr bn254_fq
proposes "devicepool bench ntt --field bn254_fr,gol" bn254_fr,goldilocks
proposes "devicepool bench msm --curve bls12_381" bls12_381_g1 bls12_381_g2
proposes "devicepool mpi " info demo msm ntt bench
[ "$3" = none ] || proposes "devicepool mpi ntt --" --devices --log-size --output --timeout
proposes "devicepool poseidon " hash permute tree sponge
proposes "devicepool poseidon sponge --padding " none 10 zero
proposes "devicepool poseidon tree --set circom-bn254-t1" circom-bn254-t10 circom-bn254-t17
proposes "devicepool devices --devices s" sim
proposes "devicepool warm-up gold" goldilocks
proposes "devicepool info /etc/pass" /etc/passwd
exit $failed
