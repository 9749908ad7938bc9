# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the command: a temporary directory, and functions that check calls.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Programs in the cache are shared with all tests where a script sets shared_cache: it must not depend on
# what is there, and not change what is.
[ -n "${shared_cache:-}" ] || export DEVICEPOOL_CACHE_DIR="$scratch/cache"
failed=0

# expect EXIT-CODE STRING-IN-OUTPUT COMMAND...
expect() {
    code=$1
    string=$2
    shift 2
    output=$("$@" 2>&1)
    got=$?
    if [ $got != "$code" ]; then
        echo "FAILED: '$*' exits with $got, not $code: $output"
        failed=1
    elif ! printf '%s' "$output" | grep -q -e "$string"; then
        echo "FAILED: '$*' does not print '$string': $output"
        failed=1
    else
        echo "ok: $* -> $code"
    fi
}

# also STRING: the output of the last command that was expected contains it as well.
also() {
    if printf '%s' "$output" | grep -q -e "$1"; then
        echo "ok: it prints '$1' as well"
    else
        echo "FAILED: it does not print '$1': $output"
        failed=1
    fi
}

# has_compiler: an NVRTC works on this host.
has_compiler() {
    ! "$tool" version | grep -q '^nvrtc  *none'
}

# expect_json PYTHON-PROGRAM COMMAND...: the exit code is 0, and the program accepts the standard output. Without NVRTC, what
# has no prebuilt PTX is left out.
expect_json() {
    program=$1
    shift
    if ! output=$("$@" 2>"$scratch/stderr"); then
        if grep -q 'has to be compiled, because there is no prebuilt PTX' "$scratch/stderr" && ! has_compiler; then
            echo "skipped: $*: it has no prebuilt PTX, and NVRTC is not here"
            return
        fi
        echo "FAILED: '$*' exits with an error: $(cat "$scratch/stderr")"
        failed=1
    elif ! printf '%s' "$output" | python3 -c "$program"; then
        echo "FAILED: the JSON of '$*' is wrong: $output"
        failed=1
    else
        echo "ok: $*"
    fi
}

# same WHAT FILE FILE: the files are equal.
same() {
    if cmp -s "$2" "$3"; then
        echo "ok: $1"
    else
        echo "FAILED: $1: $(head -c 300 "$2")"
        failed=1
    fi
}
