/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX for the tests of modules and launches, written by hand so that they need no compiler, and
 * short ways to load and launch it.
 */
#ifndef TESTS_SIMULATOR_KERNELS_H
#define TESTS_SIMULATOR_KERNELS_H

#include "driver.h"

#define PTX_HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

/* Line numbers matter to the tests: the first line is ".version". */
static const char kernels_ptx[] = PTX_HEAD
    ".visible .global .align 4 .u32 counter = 5;\n"                       /* line 4 */
    ".visible .const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n" /* 5 */
    ".visible .entry add_one(.param .u64 data, .param .u32 count)\n"      /* 6 */
    "{\n"
    " .reg .pred %p<2>;\n"
    " .reg .b32 %r<8>;\n"
    " .reg .b64 %rd<5>;\n"
    " ld.param.u64 %rd1, [data];\n"
    " ld.param.u32 %r1, [count];\n"
    " mov.u32 %r2, %ctaid.x;\n"
    " mov.u32 %r3, %ntid.x;\n"
    " mov.u32 %r4, %tid.x;\n"
    " mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    " setp.ge.u32 %p1, %r5, %r1;\n"
    " @%p1 bra DONE;\n"
    " cvta.to.global.u64 %rd2, %rd1;\n"
    " mul.wide.u32 %rd3, %r5, 4;\n"
    " add.s64 %rd4, %rd2, %rd3;\n"
    " ld.global.u32 %r6, [%rd4];\n"
    " add.s32 %r7, %r6, 1;\n"
    " st.global.u32 [%rd4], %r7;\n" /* line 24 */
    "DONE:\n"
    " ret;\n"
    "}\n"
    ".visible .entry set_count(.param .u32 value)\n" /* 28 */
    "{\n"
    " .reg .b32 %r<3>;\n"
    " .reg .b64 %rd<2>;\n"
    " ld.param.u32 %r1, [value];\n"
    " mov.u64 %rd1, counter;\n"
    " st.global.u32 [%rd1], %r1;\n"
    " ret;\n"
    "}\n"
    ".visible .entry give_up()\n" /* 37 */
    "{\n"
    " trap;\n" /* 39 */
    " ret;\n"
    "}\n"
    ".visible .entry for_ever()\n" /* 42 */
    "{\n"
    "AGAIN:\n"
    " bra AGAIN;\n"
    "}\n"
    ".visible .entry bounded(.param .u64 a, .param .u32 b, .param .align 8 .b8 c[24])\n" /* 47 */
    ".maxntid 64, 1, 1\n"
    "{\n"
    " .shared .align 8 .b8 buffer[1024];\n"
    " .reg .b64 %rd<2>;\n"
    " .reg .b32 %r<2>;\n"
    " mov.u64 %rd1, buffer;\n"
    " mov.u32 %r1, 0;\n"
    " st.shared.u32 [%rd1], %r1;\n"
    " ret;\n"
    "}\n"
    ".extern .shared .align 16 .b8 dynamic[];\n" /* 58 */
    ".visible .entry uses_dynamic(.param .u32 offset)\n"
    "{\n"
    " .reg .b32 %r<4>;\n"
    " ld.param.u32 %r1, [offset];\n"
    " mov.u32 %r2, dynamic;\n"
    " add.u32 %r3, %r2, %r1;\n"
    " st.shared.u32 [%r3], %r1;\n" /* line 65 */
    " ret;\n"
    "}\n"
    ".visible .entry reads_shared(.param .u64 out)\n" /* 68 */
    "{\n"
    " .shared .align 4 .b8 never[128];\n"
    " .reg .b32 %r<2>;\n"
    " .reg .b64 %rd<3>;\n"
    " ld.param.u64 %rd1, [out];\n"
    " cvta.to.global.u64 %rd2, %rd1;\n"
    " ld.shared.u32 %r1, [never];\n" /* line 75 */
    " st.global.u32 [%rd2], %r1;\n"
    " ret;\n"
    "}\n"
    ".visible .entry exactly()\n" /* 79 */
    ".reqntid 32, 2, 1\n"
    "{\n"
    " ret;\n"
    "}\n"
    ".visible .entry half_waits()\n" /* 84 */
    "{\n"
    " .reg .pred %p<2>;\n"
    " .reg .b32 %r<2>;\n"
    " mov.u32 %r1, %tid.x;\n"
    " setp.ge.u32 %p1, %r1, 16;\n"
    " @%p1 bra OUT;\n"
    " bar.sync 0;\n" /* line 91 */
    "OUT:\n"
    " ret;\n"
    "}\n";

static inline CUmodule load(const char *text)
{
    CUmodule module = NULL;

    assert_int_equal(cu->ModuleLoadData(&module, text), 0);
    return module;
}

static inline CUfunction kernel(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    assert_int_equal(cu->ModuleGetFunction(&function, module, name), 0);
    return function;
}

static inline pool_cu_result launch(
    CUfunction function, unsigned grid, unsigned block, void **arguments)
{
    return cu->LaunchKernel(function, grid, 1, 1, block, 1, 1, 0, NULL, arguments, NULL);
}

#endif
