#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host's NVRTC, copied to a directory that the loader does not search: with its builtins library, without
# it and with a wrong one. The loader's cache, which knows the original, is not used.
# usage: test_nvrtc.sh DEVICEPOOL VECTORS-DIRECTORY; exit 77: no NVRTC, or one that the loader finds anyway
set -u
tool=$1
vectors=$2
. "$(dirname "$0")/expect.sh"

export DEVICEPOOL_LIBCUDA="$scratch/none.so" DEVICEPOOL_DEVICES=sim:1
real=$("$tool" version --json | python3 -c "import json, sys; print(json.load(sys.stdin)['nvrtc']['path'])")
loader=$(readelf -l "$tool" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')
[ -n "$real" ] && [ -n "$loader" ] || { echo "no NVRTC or no loader here"; exit 77; }
mkdir "$scratch/nvrtc"
cp "$real" "$scratch/nvrtc/libnvrtc.so"
cp "$(dirname "$real")"/libnvrtc-builtins.so.[0-9]* "$scratch/nvrtc"
builtins=$(ls "$scratch"/nvrtc/libnvrtc-builtins.so.*.* | head -1)
mv "$builtins" "$scratch/builtins"

# apart COMMAND...: the command with that copy, without the loader's cache.
apart() {
    env -u LD_LIBRARY_PATH DEVICEPOOL_NVRTC="$scratch/nvrtc/libnvrtc.so" \
        "$loader" --inhibit-cache "$tool" "$@"
}

# broken REASON: every command says the same of it and works with prebuilt PTX.
broken() {
    expect 0 "nvrtc .* none: NVRTC does not work: .*$1.*; reinstall NVRTC" apart version
    expect 0 'prebuilt PTX kernels and cannot compile others' apart version
    expect 0 "compiler *none (NVRTC does not work: .*$1.*), the library uses its prebuilt PTX" apart devices
    expect_json "import json, sys
report = json.load(sys.stdin)['nvrtc']
assert not report['usable'] and report['message'].startswith('NVRTC does not work: '), report" apart version --json
}

# everywhere: the same in the commands that run jobs, with prebuilt PTX.
everywhere() {
    expect 0 "NVRTC does not work: .*belongs at .*5 of 5 correct" one_line apart demo --data "$vectors"
    expect 0 'tests were skipped because they need NVRTC: NVRTC does not work: .*belongs at' \
        apart selftest --only vector --quick
    if [ "$(printf '%s\n' "$output" | wc -l)" -gt 12 ]; then
        echo "FAILED: selftest floods the user: $output"
        failed=1
    fi
}

one_line() {
    "$@" | tr '\n' ' '
}

if apart version | grep -q '^nvrtc .* CUDA'; then
    echo "the loader finds a builtins library in a directory that it always searches"
    exit 77
fi
broken 'belongs at .*libnvrtc-builtins'
everywhere
echo 'this is no library' > "$builtins"
broken 'belongs at .*libnvrtc-builtins'
# A bad verdict is not stored: the compiler is used as soon as it works.
cp "$scratch/builtins" "$builtins"
expect 0 "^nvrtc .* CUDA .*$scratch/nvrtc/libnvrtc.so" apart version
expect 0 "compiler .*$scratch/nvrtc/libnvrtc.so, NVRTC [0-9.]*\$" apart devices
expect 0 'NVRTC [0-9.]* compiles the kernels' apart demo --data "$vectors"
expect_json "import json, sys
rows = json.load(sys.stdin)
assert rows and all(row['passed'] == row['tests'] and not row.get('skipped') for row in rows), rows" \
    apart selftest --only vector --quick --json
# A good one is: no second trial.
expect 0 '2 entries\|devicepool_trial' apart cache list
exit $failed
