#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program over the CUDA driver API by ctypes: the histogram of bytes, with shared memory and atomics."""
import ctypes
import random

PTX = b"""
.version 7.0
.target sm_60
.address_size 64
.visible .entry histogram(.param .u64 bytes, .param .u32 count, .param .u64 bins)
{
    .reg .pred %p;
    .reg .b32 %r<10>;
    .reg .b64 %d<6>;
    .shared .align 4 .b8 local[1024];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, local;
    shl.b32 %r3, %r1, 2;
    add.u32 %r3, %r2, %r3;
    st.shared.u32 [%r3], 0;
    bar.sync 0;
    ld.param.u32 %r4, [count];
    ld.param.u64 %d1, [bytes];
    mov.u32 %r5, %ctaid.x;
    mad.lo.u32 %r5, %r5, 256, %r1;
again:
    setp.ge.u32 %p, %r5, %r4;
    @%p bra store;
    cvt.u64.u32 %d2, %r5;
    add.u64 %d2, %d1, %d2;
    ld.global.u8 %r6, [%d2];
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r2, %r6;
    red.shared.add.u32 [%r6], 1;
    mov.u32 %r7, %nctaid.x;
    shl.b32 %r7, %r7, 8;
    add.u32 %r5, %r5, %r7;
    bra again;
store:
    bar.sync 0;
    ld.shared.u32 %r8, [%r3];
    ld.param.u64 %d3, [bins];
    mul.wide.u32 %d4, %r1, 4;
    add.u64 %d3, %d3, %d4;
    red.global.add.u32 [%d3], %r8;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def check(code, what):
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise SystemExit(f"{what}: {text.value.decode()}")


def call(name, *arguments):
    check(getattr(cuda, name)(*arguments), name)


context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
data, bins = ctypes.c_uint64(), ctypes.c_uint64()
name = ctypes.create_string_buffer(96)
text = random.Random(1).randbytes(100_003)

call("cuInit", 0)
call("cuDeviceGetName", name, len(name), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(function), module, b"histogram")
call("cuMemAlloc_v2", ctypes.byref(data), ctypes.c_size_t(len(text)))
call("cuMemAlloc_v2", ctypes.byref(bins), ctypes.c_size_t(1024))
call("cuMemcpyHtoD_v2", data, text, ctypes.c_size_t(len(text)))
call("cuMemsetD32_v2", bins, 0, ctypes.c_size_t(256))
count = ctypes.c_uint32(len(text))
arguments = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in (data, count, bins)))
call("cuLaunchKernel", function, 8, 1, 1, 256, 1, 1, 0, None, arguments, None)
result = (ctypes.c_uint32 * 256)()
call("cuMemcpyDtoH_v2", result, bins, ctypes.c_size_t(1024))
call("cuMemFree_v2", data)
call("cuMemFree_v2", bins)
call("cuModuleUnload", module)
call("cuDevicePrimaryCtxRelease_v2", 0)
if any(result[value] != text.count(value) for value in range(256)):
    raise SystemExit("the histogram is wrong")
print(f"histogram of {len(text)} bytes on {name.value.decode()}: right")
