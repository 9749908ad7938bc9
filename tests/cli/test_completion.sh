#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The words that each shell proposes when it has loaded the script that the command prints for it.
# usage: test_completion.sh DEVICEPOOL bash|zsh|fish
set -u
shell=$2
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch XDG_CONFIG_HOME=$scratch LC_ALL=C.UTF-8
failed=0
command -v "$shell" >/dev/null || { echo "skipped: $shell is not installed" && exit 77; }
"$1" completion "$shell" >"$scratch/_devicepool" || exit 1
mkdir "$scratch/files" && cd "$scratch/files" && touch points.bin other.txt && mkdir directory || exit 1

# proposals LINE: prints one word per line
case $shell in
bash)
    . "$scratch/_devicepool"
    # As readline separates words: at blanks, and at each run of the characters $breaks.
    breaks="=:"
    proposals() {
        local line=$1
        [ -z "$breaks" ] || line=$(sed 's/[=:][=:]*/ & /g' <<<"$1")
        read -r -a COMP_WORDS <<<"$line"
        case $1 in *" ") COMP_WORDS+=("") ;; esac
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMPREPLY=()
        _devicepool
        printf '%s\n' "${COMPREPLY[@]}"
    }
    ;;
fish)
    # shellcheck disable=SC2016
    proposals() {
        fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$scratch/_devicepool" "$1" | cut -f 1
    }
    ;;
zsh)
    # A terminal for zsh's line editor, which lists the matches of one tab.
    proposals() {
        python3 - "$scratch" "$1" <<'END'
import os, pty, re, select, sys, time
scratch, line = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="dumb", COLUMNS="4000", LINES="500", HISTFILE="", PS1="")
    os.execlp("zsh", "zsh", "-f", "-i")
def read_until(mark):
    output, end = "", time.monotonic() + 60
    while mark not in output and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            output += os.read(terminal, 65536).decode()
    return output
def send(text):
    os.write(terminal, text.encode())
send("PS1='' PS2='' RPS1=''; setopt no_beep no_always_last_prompt; unsetopt prompt_sp list_types; fpath=('%s' $fpath)\r" % scratch)
# What compsys adds, it adds by compadd, whose matches are printed instead of listed.
send("autoload -Uz compinit && compinit -u -D -d '%s/dump'\r" % scratch)
send("""compadd() { if [[ ${@[(I)-[OAD]]} -gt 0 ]]; then builtin compadd "$@"; return; fi
local -a found; builtin compadd -O found "$@"; (( $#found )) && print -rl -- $found >>'%s/matches'; builtin compadd "$@" }\r""" % scratch)
send("finish() { zle complete-word; print >'%s/done'; zle kill-whole-line; }; zle -N finish; bindkey '^T' finish\r" % scratch)
send("stty -echo; echo rea''dy\r")
read_until("ready")
send(line + "\x14")
end = time.monotonic() + 60
while not os.path.exists(scratch + "/done") and time.monotonic() < end:
    if select.select([terminal], [], [], 0.05)[0]:
        os.read(terminal, 65536)
os.close(terminal)
for name in ("matches", "done"):
    if os.path.exists(scratch + "/" + name):
        if name == "matches":
            print(open(scratch + "/" + name).read())
        os.unlink(scratch + "/" + name)
END
    }
    ;;
esac

# proposes LINE WORD...: each word is among the proposals for the last word of the line, -WORD is not.
proposes() {
    line=$1
    shift
    found=$(proposals "$line" | tr '\n' ' ')
    for word; do
        case $word in
        !*) case " $found " in *" ${word#!} "*) ;; *) continue ;; esac ;;
        *) case " $found " in *" $word "*) continue ;; esac ;;
        esac
        echo "FAILED: '$line' proposes '$found': $word"
        failed=1
    done
}

before=""
[ "$shell" = zsh ] || before=bn254_fr,
proposes "devicepool " demo selftest bench msm ntt poseidon prove devices cache info warm-up list top sim mpi version \
    completion help
proposes "devicepool sel" selftest !demo
proposes "devicepool help be" bench
proposes "devicepool bench " msm ntt extend ecntt poseidon tree commit fold evaluate reverse vector copy pool share
proposes "devicepool bench share --mode as" as-it-comes
proposes "devicepool bench ntt --" --sizes --field --json --devices --plot --timeout !--skip
proposes "devicepool bench ntt --field bn254" bn254_fr bn254_fq !goldilocks
proposes "devicepool bench ntt --field bn254_fr,gol" "${before}goldilocks"
proposes "devicepool msm -c bls12_381" bls12_381_g1 bls12_381_g2 !bn254_g1
proposes "devicepool msm --trusted poi" points.bin
proposes "devicepool mpi " info demo msm ntt bench
proposes "devicepool mpi ntt --" --devices --log-size --output --timeout
proposes "devicepool poseidon " hash permute tree sponge
proposes "devicepool poseidon -s circom-bn254-t3 " hash permute tree sponge
proposes "devicepool poseidon sponge --padding " none 10 zero
proposes "devicepool poseidon tree --set circom-bn254-t1" circom-bn254-t10 circom-bn254-t17 !circom-bn254-t2
proposes "devicepool devices --devices s" sim
# A value in the word of its option. Bash replaces what follows the last = or :, unless COMP_WORDBREAKS lacks these; fish
# and zsh are given the whole word or the value.
option="" colon=sim:
[ "$shell" != fish ] || option=--devices=
[ "$shell" != bash ] || colon=""
proposes "devicepool devices --devices=s" "${option}sim" "${option}sim:2"
proposes "devicepool devices --devices=" "${option}all" "${option}sim" !--devices
proposes "devicepool devices --devices=sim:" "$option${colon}2" !all
proposes "devicepool devices --devices sim:" "${colon}2" !all
proposes "devicepool bench ntt --field=bn254_fr,gol" "${before:+${option:+--field=}$before}goldilocks"
proposes "devicepool msm --curve=bls12_381 poi" points.bin
proposes "devicepool msm kzg:points.bin:lagrange oth" other.txt
proposes "devicepool poseidon --set=circom-bn254-t3 --devices sim:2 " hash permute tree sponge
proposes "devicepool msm --output=poi" "${option:+--output=}points.bin"
if [ "$shell" = bash ]; then
    proposes "devicepool msm poi" points.bin
    breaks=""
    proposes "devicepool devices --devices=s" --devices=sim --devices=sim:2
    proposes "devicepool bench ntt --field=bn254_fr,gol" --field=bn254_fr,goldilocks
    proposes "devicepool msm --output=poi" --output=points.bin
    breaks="=:"
fi
proposes "devicepool warm-up bn254_fr gold" goldilocks
proposes "devicepool warm-up --" --chip --output
proposes "devicepool cache " list verify clear path levels pack unpack
proposes "devicepool selftest -o " copy vector
proposes "devicepool top --" --web --json
proposes "devicepool completion " bash zsh fish
[ $failed = 0 ] && echo "ok: $shell"
exit $failed
