#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command as a person uses it on a host without a driver: what it prints and how it exits.
# usage: test_cli.sh DEVICEPOOL
set -u
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export DEVICEPOOL_CACHE_DIR="$scratch/cache" DEVICEPOOL_LIBCUDA="$scratch/no-such-library.so"
failed=0

# expect EXIT-CODE TEXT-IN-OUTPUT COMMAND...
expect() {
    code=$1
    text=$2
    shift 2
    output=$("$@" 2>&1)
    got=$?
    if [ $got != "$code" ]; then
        echo "FAILED: '$*' exits with $got, not $code: $output"
        failed=1
    elif ! printf '%s' "$output" | grep -q -e "$text"; then
        echo "FAILED: '$*' does not print '$text': $output"
        failed=1
    else
        echo "ok: $* -> $code"
    fi
}

expect 2 'usage: devicepool COMMAND' "$tool"
expect 0 'Exit codes' "$tool" --help
expect 0 'devicepool  *[0-9]' "$tool" version
expect 0 'devicepool  *[0-9]' "$tool" --version
expect 0 '"usable":.*false' "$tool" version --json
expect 2 "no command 'nonsense'" "$tool" nonsense
for command in devices list cache version; do
    expect 0 "usage: devicepool $command" "$tool" $command --help
    expect 0 "usage: devicepool $command" "$tool" help $command
    expect 2 "explains the options" "$tool" $command --no-such-option
done
expect 0 'bls12_381_fr .* 255 ' "$tool" list fields
expect 0 '"degree":.*2' "$tool" list curves --json
expect 0 'circom-bn254-t3' "$tool" list sets
expect 2 "has no 'primes'" "$tool" list primes
expect 2 "needs fields|curves|sets" "$tool" list
expect 4 'no-such-library' "$tool" devices
expect 4 '"class":.*"host"' "$tool" devices --json
expect 2 "takes no argument" "$tool" devices 0
expect 0 '0 entries' "$tool" cache
expect 0 '^\[\]' "$tool" cache list --json
expect 0 '0 entries kept, 0 deleted' "$tool" cache verify
expect 0 '"deleted":' "$tool" cache clear --json
expect 0 "$scratch/cache" "$tool" cache path
expect 2 "has no 'burn'" "$tool" cache burn
expect 1 'DEVICEPOOL_CACHE=off' env DEVICEPOOL_CACHE=off "$tool" cache
exit $failed
