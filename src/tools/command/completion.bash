# SPDX-License-Identifier: Apache-2.0
# Bash completion of the devicepool command. Commands and options are read from the help of the command itself.

_devicepool_names() {
    "$1" list "$2" --json 2>/dev/null | sed -n 's/^[[:space:]]*"name":[[:space:]]*"\(.*\)",\{0,1\}$/\1/p'
}

# Completes the last name of a comma-separated list.
_devicepool_list() {
    local word="$2" before=""
    case $word in
    *,*) before="${word%,*}," ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${word##*,}")
}

_devicepool() {
    local tool="${COMP_WORDS[0]}" word="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}"
    local last="${COMP_WORDS[COMP_CWORD - 1]}" words=""
    COMPREPLY=()

    if [ "$COMP_CWORD" = 1 ]; then
        words=$("$tool" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words help --help --version" -- "$word")
        return
    fi
    case $last in
    --field) _devicepool_list "$(_devicepool_names "$tool" fields)" "$word" && return ;;
    --curve | -c) _devicepool_list "$(_devicepool_names "$tool" curves)" "$word" && return ;;
    --set | -s)
        [ "$last" = -s ] && [ "$command" = bench ] && return
        _devicepool_list "$(_devicepool_names "$tool" sets)" "$word" && return
        ;;
    --devices | -d) words="all sim sim:2 0" ;;
    --order) words="nn nr rn rr" ;;
    --form | --scalar-form) words="standard montgomery" ;;
    --mode)
        [ "$command" = bench ] && _devicepool_list "as-it-comes priority" "$word" && return
        words="add overwrite"
        ;;
    --short | --long) _devicepool_list "msm ntt poseidon open tree extend" "$word" && return ;;
    --padding) words="none 10 zero" ;;
    --layout | -l) words="affine affine-flag jacobian projective xyzz" ;;
    --what) words="to-device to-device-pinned to-host to-host-pinned on-device peer next best bind alloc event" ;;
    --operation) _devicepool_list "msm ntt poseidon copy" "$word" && return ;;
    --only) words="copy vector ntt msm poseidon" ;;
    help) words=$("$tool" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p') ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
    fi
    case $word in
    -*)
        words=$("$tool" "$command" --help 2>/dev/null | grep -o -e '--[a-z][a-z-]*' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        return
        ;;
    esac
    case $command in
    bench) words="msm ntt extend ecntt poseidon tree commit fold evaluate reverse vector copy pool share" ;;
    cache) words="list verify clear path" ;;
    list) words="fields curves sets" ;;
    mpi) [ "$COMP_CWORD" = 2 ] && words="info demo msm ntt bench" ;;
    poseidon) [ "$COMP_CWORD" = 2 ] && words="hash permute sponge tree" ;;
    warm-up)
        words="$(_devicepool_names "$tool" fields) $(_devicepool_names "$tool" curves)
            $(_devicepool_names "$tool" sets)"
        ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -o filenames -F _devicepool devicepool
