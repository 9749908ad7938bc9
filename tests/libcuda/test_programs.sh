#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that know nothing of this library, run by 'devicepool sim'; and what libcuda.so.1 exports. What needs rustc,
# nvcc or cuda.h is left out where they are missing.
# usage: test_programs.sh COMMAND DIRECTORY-OF-LIBCUDA SOURCE-ROOT CUDA-TOOLKIT
tool=$1
library=$2
root=$3
toolkit=$4
here=$(dirname "$0")
# shellcheck source=tests/cli/expect.sh
. "$here/../cli/expect.sh"
unset LD_LIBRARY_PATH DEVICEPOOL_SIM

simulated() {
    "$tool" sim --library "$library" "$@"
}

# ---- the command
expect 2 'belong behind --' "$tool" sim
expect 2 'belong behind --' simulated --
expect 2 "'0' does not describe simulated devices" simulated --devices 0 -- true
expect 1 'cc=12 is not a compute capability' simulated --devices sim:cc=12 -- true
expect 4 'was not found in /nowhere' "$tool" sim --library /nowhere -- true
expect 127 'cannot be run: No such file' simulated -- /nowhere/program
expect 126 'cannot be run: Permission denied' simulated -- "$here"
expect 0 "^$library\$" "$tool" sim --library "$library" --path
expect 3 'ended' simulated -- sh -c 'echo ended; exit 3'
expect 0 "sim:2 $library:/before -q" env LD_LIBRARY_PATH=/before "$tool" sim --library "$library" --devices sim:2 -- \
    sh -c 'echo "$DEVICEPOOL_SIM $LD_LIBRARY_PATH $1"' sh -q
expect 0 '^sim:3$' env DEVICEPOOL_SIM=sim:3 "$tool" sim --library "$library" -- sh -c 'echo "$DEVICEPOOL_SIM"'

# ---- programs
python=$(command -v python3)
expect 0 'histogram of 100003 bytes on Simulated device (cc 9.0): right' simulated -- "$python" "$root/docs/examples/histogram.py"
expect 0 'on Slow one: right' simulated --devices "sim:name=Slow one" -- "$python" "$root/docs/examples/histogram.py"
expect 1 'cuModuleLoadData: CUDA_ERROR_OUT_OF_MEMORY' env DEVICEPOOL_SIM_FAULTS=cuModuleLoadData@1=2 \
    "$tool" sim --library "$library" -- "$python" "$root/docs/examples/histogram.py"
# This library's own command takes it for a driver.
expect 0 "driver    $library/libcuda.so.1" simulated --devices sim:2 -- "$tool" devices
also 'devices   2, 2 usable'
expect 0 'copy *4 *4 ' simulated -- "$tool" selftest --only copy

# What is not simulated is said once, and not with -q; a description that is wrong is said too.
absent='import ctypes; cuda = ctypes.CDLL("libcuda.so.1"); print([cuda.cuArrayCreate_v2(None, None) for _ in range(2)])'
expect 0 'cuArrayCreate_v2 is not simulated; it returns CUDA_ERROR_NOT_SUPPORTED (801)' simulated -- \
    "$python" -c "$absent"
also '\[801, 801\]'
[ "$(printf '%s' "$output" | grep -c 'is not simulated')" = 1 ] || { echo "FAILED: said more than once"; failed=1; }
expect 0 '^\[801, 801\]$' simulated -q -- "$python" -c "$absent"
opened='import ctypes; print(ctypes.CDLL("libcuda.so.1").cuInit(0))'
expect 0 'DEVICEPOOL_SIM: device string: .*' env LD_LIBRARY_PATH="$library" DEVICEPOOL_SIM=sim:mem=x "$python" -c "$opened"
also '^100$'
count='import ctypes; cuda = ctypes.CDLL("libcuda.so.1"); print("init", cuda.cuInit(0)); n = ctypes.c_int(9)
cuda.cuDeviceGetCount(ctypes.byref(n)); bytes = ctypes.c_size_t(); cuda.cuDeviceTotalMem_v2(ctypes.byref(bytes), 0); print(n.value, bytes.value >> 20)'
expect 0 '^3 512$' simulated --devices 'sim:mem=512M;2,mem=1G' -- "$python" -c "$count"
expect 0 '^2 1024$' env CUDA_VISIBLE_DEVICES=1,0 "$tool" sim --library "$library" --devices 'sim:mem=512M;2,mem=1G' -- "$python" -c "$count"
expect 0 '^init 100$' env CUDA_VISIBLE_DEVICES= "$tool" sim --library "$library" --devices sim -- "$python" -c "$count"
leak='import ctypes; cuda = ctypes.CDLL("libcuda.so.1"); cuda.cuInit(0); cuda.cuCtxCreate_v2(ctypes.byref(ctypes.c_void_p()), 0, 0)
print(cuda.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(4096)))'
expect 0 'left behind: context on device 0' simulated --devices sim:report=leak -- "$python" -c "$leak"
also 'device memory of 4096 bytes'

# ---- the profile: of the histogram's lines, as text and as JSON
expect 0 'histogram of 100003 bytes on Simulated device (cc 9.0): right' simulated --profile -- "$python" "$root/docs/examples/histogram.py"
also '^histogram on device 0: 1 launch, [0-9]* blocks of [0-9]* threads$'
also 'occupancy [0-9]* %: [0-9]* blocks on a multiprocessor, limited by '
also 'shared atomic .*-way bank conflict; up to [0-9]* lanes at one address$'
expect 0 ': right' simulated --output "$scratch/profile-%p.json" -- "$python" "$root/docs/examples/histogram.py"
expect_json "import json, sys
kernel, = json.load(sys.stdin)
assert kernel['kernel'] == 'histogram' and kernel['launches'] == 1, kernel
atomics = [row for row in kernel['accesses'] if row['access'] == 'atomic']
# Each byte is counted in shared memory.
assert sum(row['lanes'] for row in atomics if row['space'] == 'shared') == 100003, atomics" \
    sh -c 'cat "$1"/profile-*.json' sh "$scratch"
expect 0 'DEVICEPOOL_SIM_PROFILE: the profile cannot be written to /nowhere/x: No such file' simulated -o /nowhere/x -- \
    "$python" -c "$opened"
if command -v rustc >/dev/null; then
    rustc --edition 2021 -L "$library" -o "$scratch/reduce" "$here/reduce.rs" || failed=1
    expect 0 'sum of 10000 numbers: right' simulated -- "$scratch/reduce"
else
    echo "skipped: rustc is not here"
fi
# The toolkit's compiler takes the host's only in some versions.
if "$toolkit/bin/nvcc" -gencode arch=compute_75,code=compute_75 -o "$scratch/runtime" "$here/runtime.cu" 2>/dev/null; then
    expect 1 'programs of the CUDA runtime library (libcudart) cannot start' simulated -- "$scratch/runtime"
    also '^cudaErrorSymbolNotFound, 0$'
else
    echo "skipped: nvcc is not here, or not for this host's compiler"
fi

# ---- exports: names of the driver only, and all that the toolkit declares
others=$(nm -D --defined-only "$library/libcuda.so.1" | awk '{ print $3 }' | grep -v '^cu[A-Z]')
if [ -n "$others" ]; then
    echo "FAILED: libcuda.so.1 exports $others"
    failed=1
fi
# A newer toolkit may declare more.
version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$toolkit/include/cuda.h" 2>/dev/null)
if [ -f "$toolkit/include/cudaEGLTypedefs.h" ] && [ "${version:-0}" -le 13000 ]; then
    # The committed list has also names of older drivers.
    "$python" "$root/src/driver/sim/libcuda/absent.py" "$toolkit/include" | grep '^ABSENT' >"$scratch/absent"
    missing=$(grep -v -F -x -f "$root/src/driver/sim/libcuda/absent.def" "$scratch/absent")
    if [ -n "$missing" ]; then
        echo "FAILED: absent.def lacks $missing"
        failed=1
    fi
fi
exit $failed
