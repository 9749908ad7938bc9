/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomics and addresses of the PTX executor, with one short kernel each. */
#include "executor.h"

/* One thread; %p points to 256 bytes, %s to 64 shared bytes (32-bit address). */
static void run_text(const char *body, void *memory_in_out)
{
    struct machine m = {0};
    char text[8192];
    snprintf(text, sizeof(text),
        ".version 9.0\n.target sm_90\n.address_size 64\n.const .align 8 .b8 table[16] = "
        "{1,2,3,4,5,6,7,8};\n"
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 st[16]) {\n.shared .align 16 .b8 "
        "sh[64]; .local .align 16 .b8 lo[64];\n"
        ".reg .b64 %%p, %%d<9>, %%g; .reg .b32 %%s, %%r<12>; .reg .b16 %%h<9>; .reg .pred %%q<4>; "
        ".reg .b128 %%x<3>;\n"
        "ld.param.u64 %%p, [out]; mov.u32 %%s, sh;\n%s\nret; }\n",
        body);
    machine_load(&m, text);
    unsigned char *memory = machine_alloc(&m, 256);
    memcpy(memory, memory_in_out, 256);
    struct {
        void *out;
        unsigned char st[16];
    } parameters = {memory, {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8}};
    machine_run(&m, "k", 1, 1, &parameters);
    memcpy(memory_in_out, memory, 256);
    machine_free(&m);
}

struct memory {
    union {
        unsigned char b[256];
        uint16_t h[128];
        uint32_t w[64];
        uint64_t d[32];
        float f[64];
        double g[32];
    };
};

static struct memory counted(void)
{
    struct memory m;
    for (int i = 0; i < 256; i++)
        m.b[i] = (unsigned char)(i * 7 + 130);
    return m;
}

static void test_loads(void **state)
{
    (void)state;
    struct memory m = counted(), was = m;
    run_text(
        "ld.global.s8 %r1, [%p+1]; st.global.b32 [%p+64], %r1; ld.global.u8 %d1, [%p+2]; "
        "st.global.b64 [%p+72], %d1;\n"
        "ld.global.s16 %r2, [%p+4]; st.global.u32 [%p+80], %r2; ld.u16 %h1, [%p+6]; st.b16 "
        "[%p+84], %h1;\n"
        "ld.volatile.global.s32 %d2, [%p+8]; st.volatile.global.u64 [%p+88], %d2;\n"
        "ld.global.nc.L1::no_allocate.v2.u16 {%h2, %h3}, [%p+12]; st.v2.b16 [%p+96], {%h3, %h2};\n"
        "ld.relaxed.gpu.global.b64 %d3, [%p+16]; st.release.sys.global.b64 [%p+104], %d3;\n"
        "ld.global.v4.b32 {%r3, _, %r4, %r5}, [%p+32]; st.global.v4.b32 [%p+112], {%r5, %r4, %r3, "
        "7};\n"
        "ld.global.v2.b64 {%d4, %d5}, [%p+48]; st.global.v2.b64 [%p+128], {%d5, %d4};\n"
        "ld.global.v4.s8 {%r6, %r7, %r8, %r9}, [%p+20]; st.global.v4.b32 [%p+144], {%r6, %r7, %r8, "
        "%r9};\n"
        "ld.global.b128 %x1, [%p+16]; st.global.b128 [%p+160], %x1; st.global.u8 [%p+176], %r1; "
        "ld.const.u8 %r1, [table+3]; st.u32 [%p+180], %r1;",
        &m);
    assert_int_equal((int32_t)m.w[16], (int8_t)was.b[1]);
    assert_true(m.d[9] == was.b[2]);
    assert_int_equal((int32_t)m.w[20], (int16_t)was.h[2]);
    assert_int_equal(m.h[42], was.h[3]);
    assert_true((int64_t)m.d[11] == (int32_t)was.w[2]);
    assert_int_equal(m.h[48], was.h[7]);
    assert_int_equal(m.h[49], was.h[6]);
    assert_true(m.d[13] == was.d[2]);
    assert_int_equal(m.w[28], was.w[11]);
    assert_int_equal(m.w[29], was.w[10]);
    assert_int_equal(m.w[30], was.w[8]);
    assert_int_equal(m.w[31], 7);
    assert_true(m.d[16] == was.d[7] && m.d[17] == was.d[6]);
    for (int i = 0; i < 4; i++)
        assert_int_equal((int32_t)m.w[36 + i], (int8_t)was.b[20 + i]);
    assert_memory_equal(&m.b[160], &was.b[16], 16);
    assert_int_equal(m.b[176], was.b[1]);
    assert_int_equal(m.w[45], 4);
}

static void test_spaces(void **state)
{
    (void)state;
    struct memory m = counted(), was = m;
    run_text(
        "ld.global.u32 %r1, [%p]; st.shared.u32 [%s+4], %r1; ld.shared.u32 %r2, [sh+4]; "
        "st.global.u32 [%p+64], %r2;\n"
        "mov.u64 %d1, lo; st.local.u32 [%d1+8], %r1; ld.local.u16 %r3, [lo+10]; st.global.u32 "
        "[%p+68], %r3;\n"
        "cvta.local.u64 %d2, %d1; ld.u32 %r4, [%d2+8]; st.u32 [%p+72], %r4; cvta.to.local.u64 %d3, "
        "%d2; sub.u64 %d3, %d3, %d1; st.u64 [%p+80], %d3;\n"
        "cvt.u64.u32 %d4, %s; cvta.shared.u64 %d5, %d4; ld.u32 %r5, [%d5+4]; st.u32 [%p+88], %r5;\n"
        "isspacep.shared %q1, %d5; isspacep.local %q2, %d5; isspacep.global %q3, %p;\n"
        "selp.u32 %r6, 1, 0, %q1; selp.u32 %r7, 1, 0, %q2; selp.u32 %r8, 1, 0, %q3; "
        "st.global.v2.u32 [%p+96], {%r6, %r7}; st.global.u32 [%p+104], %r8;\n"
        "ld.param.u8 %r9, [st+1]; st.u32 [%p+112], %r9; mov.b64 %d6, st; ld.param.u32 %r10, "
        "[%d6+4]; st.u32 [%p+116], %r10;\n"
        "cvta.param.u64 %d6, %d6; ld.s8 %r11, [%d6+8]; st.u32 [%p+120], %r11;",
        &m);
    assert_int_equal(m.w[16], was.w[0]);
    assert_int_equal(m.w[17], was.h[1]);
    assert_int_equal(m.w[18], was.w[0]);
    assert_true(m.d[10] == 0);
    assert_int_equal(m.w[22], was.w[0]);
    assert_int_equal(m.w[24], 1);
    assert_int_equal(m.w[25], 0);
    assert_int_equal(m.w[26], 1);
    assert_int_equal(m.w[28], 0xf1);
    assert_int_equal(m.w[29], 0xf7f6f5f4);
    assert_int_equal((int32_t)m.w[30], -8);
}

static void test_async_copy(void **state)
{
    (void)state;
    struct memory m = counted(), was = m;
    run_text("cp.async.ca.shared.global [%s], [%p+8], 8; cp.async.cg.shared.global.L2::128B "
             "[%s+16], [%p+16], 16; cp.async.ca.shared.global [%s+32], [%p+4], 4, 2;\n"
             "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n"
             "ld.shared.u64 %d1, [%s]; st.u64 [%p+64], %d1; ld.shared.v2.u64 {%d2, %d3}, [%s+16]; "
             "st.v2.u64 [%p+80], {%d2, %d3}; ld.shared.u32 %r1, [%s+32]; st.u32 [%p+96], %r1;",
        &m);
    assert_true(m.d[8] == was.d[1]);
    assert_true(m.d[10] == was.d[2] && m.d[11] == was.d[3]);
    assert_int_equal(m.w[24], was.h[2]);
}

static void test_atomics(void **state)
{
    (void)state;
    struct memory m = {.w = {5, 7, 0xfffffff0, 12, 3, 3, 9, 9}};
    m.d[8] = 100;
    m.d[9] = (uint64_t)-5;
    m.g[10] = 1.5;
    m.h[44] = 17;
    m.d[12] = 1;
    m.d[13] = 2;
    run_text("atom.global.add.u32 %r1, [%p], 10; st.u32 [%p+128], %r1; atom.global.sys.min.s32 "
             "%r2, [%p+8], -3; atom.max.u32 %r3, [%p+4], 6;\n"
             "red.global.and.b32 [%p+12], 6; red.relaxed.gpu.global.inc.u32 [%p+16], 3; "
             "atom.dec.u32 %r4, [%p+20], 9; atom.exch.b32 %r5, [%p+24], 77; st.u32 [%p+132], %r5;\n"
             "atom.cas.b32 %r6, [%p+28], 9, 55; atom.global.add.u64 %d1, [%p+64], -1; atom.max.s64 "
             "%d2, [%p+72], 3; atom.add.f64 %d3, [%p+80], 0d4000000000000000;\n"
             "mov.u16 %h1, 17; mov.u16 %h2, 99; atom.global.cas.b16 %h3, [%p+88], %h1, %h2; st.b16 "
             "[%p+136], %h3;\n"
             "mov.b128 %x1, {%d4, %d5}; ld.global.b128 %x1, [%p+96]; mov.u64 %d4, 11; mov.u64 %d5, "
             "22; mov.b128 %x2, {%d4, %d5};\n"
             "atom.global.cas.b128 %x0, [%p+96], %x1, %x2; st.global.b128 [%p+144], %x0;\n"
             "st.shared.u32 [%s], 4; atom.shared.add.u32 %r7, [%s], 5; ld.shared.u32 %r8, [%s]; "
             "st.v2.u32 [%p+160], {%r7, %r8};\n"
             "st.u32 [%p+168], 20; atom.dec.u32 %r4, [%p+168], 9; st.u32 [%p+172], 0; red.dec.u32 "
             "[%p+172], 6;",
        &m);
    assert_int_equal(m.w[0], 15);
    assert_int_equal(m.w[32], 5);
    assert_int_equal(m.w[2], 0xfffffff0);
    assert_int_equal(m.w[1], 7);
    assert_int_equal(m.w[3], 4);
    assert_int_equal(m.w[4], 0);
    assert_int_equal(m.w[5], 2);
    assert_int_equal(m.w[6], 77);
    assert_int_equal(m.w[33], 9);
    assert_int_equal(m.w[7], 55);
    assert_true(m.d[8] == 99);
    assert_true(m.d[9] == 3);
    assert_true(m.g[10] == 3.5);
    assert_int_equal(m.h[44], 99);
    assert_int_equal(m.h[68], 17);
    assert_true(m.d[12] == 11 && m.d[13] == 22);
    assert_true(m.d[18] == 1 && m.d[19] == 2);
    assert_int_equal(m.w[40], 4);
    assert_int_equal(m.w[41], 9);
    assert_int_equal(m.w[42], 9);
    assert_int_equal(m.w[43], 6);
}

static void test_stack(void **state)
{
    (void)state;
    struct memory m = counted();
    run_text(
        "stacksave.u64 %d1; mov.u64 %d2, 40; alloca.u64 %d3, %d2; st.local.u32 [%d3], 123; "
        "st.local.u32 [%d3+36], 456;\n"
        "ld.local.u32 %r1, [%d3]; ld.local.u32 %r2, [%d3+36]; st.v2.u32 [%p], {%r1, %r2}; "
        "stackrestore.u64 %d1; alloca.u64 %d4, %d2; sub.u64 %d4, %d4, %d3; st.u64 [%p+8], %d4;",
        &m);
    assert_int_equal(m.w[0], 123);
    assert_int_equal(m.w[1], 456);
    assert_true(m.d[1] == 0);
}

static void test_special_registers(void **state)
{
    (void)state;
    struct memory m = counted();
    run_text("mov.u32 %r1, %laneid; mov.u32 %r2, %nsmid; mov.u32 %r3, %lanemask_lt; mov.u32 %r4, "
             "%warpid; st.v4.u32 [%p], {%r1, %r2, %r3, %r4};\n"
             "mov.u64 %d1, %gridid; st.u64 [%p+16], %d1; mov.u32 %r5, %lanemask_ge; mov.u32 %r6, "
             "%ntid.x; mov.u32 %r7, %total_smem_size; mov.u32 %r8, %nctaid.z; st.v4.u32 [%p+32], "
             "{%r5, %r6, %r7, %r8};\n"
             "mov.u64 %d2, %clock64; mov.u64 %d3, %globaltimer; mov.u64 %d4, %clock64; setp.ge.u64 "
             "%q1, %d4, %d2; selp.u32 %r9, 1, 0, %q1; st.u32 [%p+48], %r9; cvt.u64.u32 %d5, "
             "%tid.x; st.u64 [%p+56], %d5;\n"
             "activemask.b32 %r10; st.u32 [%p+64], %r10; mov.u32 %r11, %clock; nanosleep.u32 5; "
             "membar.gl; fence.acq_rel.gpu; fence.sc.cta; prefetch.global.L2 [%p]; pmevent 1; "
             "griddepcontrol.launch_dependents; griddepcontrol.wait;",
        &m);
    assert_int_equal(m.w[0], 0);
    assert_int_equal(m.w[1], 4);
    assert_int_equal(m.w[2], 0);
    assert_int_equal(m.w[3], 0);
    assert_true(m.d[2] == 7);
    assert_int_equal(m.w[8], 0xffffffff);
    assert_int_equal(m.w[9], 1);
    assert_int_equal(m.w[10], 64);
    assert_int_equal(m.w[11], 1);
    assert_int_equal(m.w[12], 1);
    assert_true(m.d[7] == 0);
    assert_int_equal(m.w[16], 1);
}

/* A warp that reaches into two allocations and back is right in both, and one byte beyond either is
 * caught. */
static void test_two_allocations(void **state)
{
    (void)state;
    struct machine m = {0};
    machine_load(&m, ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 a, "
                     ".param .u64 b, .param .u32 n) {\n"
                     ".reg .b64 %p, %q; .reg .b32 %r<4>; .reg .pred %x; ld.param.u64 %p, [a]; "
                     "ld.param.u64 %q, [b]; mov.u32 %r1, %tid.x;\n"
                     "and.b32 %r2, %r1, 1; setp.ne.u32 %x, %r2, 0; selp.b64 %p, %p, %q, %x; "
                     "mad.wide.u32 %p, %r1, 4, %p;\n"
                     "st.global.u32 [%p], %r1; ld.param.u32 %r3, [n]; setp.eq.u32 %x, %r1, %r3; "
                     "@%x add.u64 %p, %p, 4;\nld.global.u32 %r2, [%p]; ret; }");
    struct {
        uint32_t *a, *b;
        uint32_t n;
    } p = {machine_alloc(&m, 128), machine_alloc(&m, 124), 99};
    machine_run(&m, "k", 1, 32, &p);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal((t & 1 ? p.a : p.b)[t], t);
    p.n = 31;
    assert_int_equal(machine_launch(&m, "k", 1, 32, &p), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m.fault.thread[0], 31);
    assert_int_equal(m.fault.line, 8);
    assert_false(m.fault.is_write);
    p.n = 30;
    assert_int_equal(machine_launch(&m, "k", 1, 32, &p), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m.fault.thread[0], 30);
    p.n = 29;
    machine_run(&m, "k", 1, 32, &p);
    machine_free(&m);
}

static void test_shared_bounds(void **state)
{
    (void)state;
    struct machine m = {0};
    machine_load(&m,
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u32 at) { .shared .u32 "
        "s[4]; .reg .b32 %r, %b; ld.param.u32 %r, [at]; mov.u32 %b, s; add.u32 %r, %r, %b;\n"
        "st.shared.u32 [%r], 1; ret; }\n.entry l(.param .u32 at) { .local .b32 s[4]; .reg .b32 %r; "
        "ld.param.u32 %r, [at];\nst.local.u32 [%r], 1; ret; }");
    uint32_t at = 12;
    machine_run(&m, "k", 1, 1, &at);
    at = 16;
    assert_int_equal(machine_launch(&m, "k", 1, 1, &at), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m.fault.space, SIM_SPACE_SHARED);
    assert_int_equal(m.fault.line, 5);
    at = 0xfffffffc;
    assert_int_equal(machine_launch(&m, "k", 1, 1, &at), SIM_FAULT_OUT_OF_BOUNDS);
    at = 0x100000;
    assert_int_equal(machine_launch(&m, "l", 1, 1, &at), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m.fault.space, SIM_SPACE_LOCAL);
    at = 2;
    assert_int_equal(machine_launch(&m, "l", 1, 1, &at), SIM_FAULT_MISALIGNED);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_async_copy),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_special_registers),
        cmocka_unit_test(test_two_allocations),
        cmocka_unit_test(test_shared_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
