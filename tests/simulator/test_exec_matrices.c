/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix operations, mbarrier and bulk copies with operands for which they are not meant: each ends
 * with a fault or with some result, never with a crash. The rounding of mma. What they compute is
 * tested in tests/conformance.
 */
#include "executor.h"

#define BEGIN                                                                                      \
    ".version 9.0\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out, .param .u64 value)\n{\n"                                   \
    " .reg .b64 %o, %a, %s, %x, %v; .reg .b32 %t, %r<8>; .reg .f32 %f<4>; .reg .pred %p, %q;\n"    \
    " .shared .align 128 .b8 sh[256];\n"                                                           \
    " ld.param.u64 %o, [out]; ld.param.u64 %v, [value]; mov.u32 %t, %tid.x;\n"                     \
    " cvt.u32.u64 %r0, %v; mad.wide.u32 %a, %t, 4, %o; mov.u32 %r7, sh;\n"
#define END "\n ret;\n}\n"

struct parameters {
    void *out;
    uint64_t value;
};

static uint32_t results[32];

static enum sim_fault_kind run(
    struct machine *m, const char *body, uint32_t threads, uint64_t value)
{
    char text[4096];
    memset(m, 0, sizeof(*m));
    snprintf(text, sizeof(text), "%s%s%s", BEGIN, body, END);
    machine_load(m, text);
    m->limit = 20000;
    struct parameters parameters = {machine_alloc(m, sizeof(results)), value};
    enum sim_fault_kind kind = machine_launch(m, "k", 1, threads, &parameters);
    memcpy(results, parameters.out, sizeof(results));
    machine_free(m);
    return kind;
}

static void expect(const char *body, uint32_t threads, uint64_t value, enum sim_fault_kind want)
{
    struct machine m;
    enum sim_fault_kind kind = run(&m, body, threads, value);
    if (kind != want)
        fail_msg("%s with %llx: %d instead of %d: %s", body, (unsigned long long)value, (int)kind,
            (int)want, m.fault.text);
}

static void test_addresses(void **state)
{
    static const struct {
        const char *body;
        uint32_t valid, outside, misaligned;
    } cases[] = {
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];", 240, 256, 8},
        {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};", 240, 0xfffffff0, 2},
        {"mbarrier.init.shared.b64 [%r0], 1;", 248, 256, 4},
        {"mbarrier.inval.shared.b64 [%r0 + 8];", 240, 0xfffffff0, 4},
        {"mbarrier.arrive.shared.b64 _, [%r0];", 248, 256, 4},
        {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0], 16;", 248, 256, 1},
        {"cp.async.mbarrier.arrive.shared.b64 [%r0];", 248, 256, 4},
        {"cp.async.bulk.global.shared::cta.bulk_group [%o], [%r0], 64;", 192, 208, 8},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%o], 16, [sh];",
            240, 256, 8},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%o], 16, [%r0];",
            248, 256, 4},
        {"cp.async.bulk.global.shared::cta.bulk_group [%o], [sh], %r0;", 128, 144, 0x80000010},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_size = i + 1 == sizeof(cases) / sizeof(cases[0]);
        expect(cases[i].body, 32, cases[i].valid, SIM_FAULT_NONE);
        expect(cases[i].body, 32, cases[i].outside, SIM_FAULT_OUT_OF_BOUNDS);
        expect(cases[i].body, 32, cases[i].misaligned,
            is_size ? SIM_FAULT_OUT_OF_BOUNDS : SIM_FAULT_MISALIGNED);
    }
    /* generic addresses of other memory than shared */
    expect("mbarrier.arrive.b64 %s, [%o];", 32, 0, SIM_FAULT_OUT_OF_BOUNDS);
    expect("mbarrier.arrive.b64 %s, [%v];", 32, UINT64_MAX - 7, SIM_FAULT_OUT_OF_BOUNDS);
    expect("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%v];", 32, 16, SIM_FAULT_OUT_OF_BOUNDS);
    expect("red.global.add.noftz.v4.f16x2 [%o + 8], {%r1, %r2, %r3, %r4};", 32, 0,
        SIM_FAULT_MISALIGNED);
}

/* Objects with any bits, counts beyond the limits, waits without an arrival. */
static void test_mbarrier_of_any_bits(void **state)
{
    static const char body[] =
        "st.shared.u64 [sh], %v; mbarrier.arrive.shared.b64 %s, [sh]; mbarrier.arrive.shared.b64 "
        "%s, [sh], %r0; mbarrier.arrive_drop.shared.b64 %s, [sh], %r0;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [sh], %r0; "
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [sh], %r0; "
        "mbarrier.arrive.expect_tx.shared.b64 %s, [sh], %r0; mbarrier.test_wait.shared.b64 %p, "
        "[sh], %v; mbarrier.test_wait.parity.shared.b64 %q, [sh], %r0; mbarrier.init.shared.b64 "
        "[sh + 8], %r0; mbarrier.pending_count.b64 %r1, %v;";
    static const uint64_t values[] = {0, 1, 0xfffff, 0x100000, UINT32_MAX, UINT64_MAX,
        UINT64_C(0x8000000000000000), UINT64_C(0x123456789abcdef0)};
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        expect(body, 33, values[i], SIM_FAULT_NONE);
    expect("mbarrier.init.shared.b64 [sh], 64; W: mbarrier.try_wait.parity.shared.b64 %p, [sh], 0; "
           "@!%p bra W;",
        64, 0, SIM_FAULT_INSTRUCTION_LIMIT);
}

#define MMA                                                                                        \
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3}, " \
    "{%f0, %f1, %f2, %f3};"

/* Fewer lanes than a warp, a guard, lanes that never arrive. */
static void test_lanes_of_mma(void **state)
{
    (void)state;
    expect(MMA, 5, 0, SIM_FAULT_NONE);
    expect("setp.eq.u32 %p, %r0, 7; @%p " MMA, 32, 0, SIM_FAULT_NONE);
    expect("setp.lt.u32 %p, %t, 16; @%p bra A; bra.uni E; A: " MMA " E: st.global.u32 [%a], %r0;",
        32, 0, SIM_FAULT_SYNC_DEADLOCK);
}

/* C = 2^24, then 1 + 1 - 2^24 + 1 ...: single additions in float would lose the ones. The sum is
 * rounded once, to even. */
static void test_sum_is_rounded_once(void **state)
{
    struct machine m;
    (void)state;
    /* A is all ones, and so is B: D = C + 8 */
    const char *body = "mov.b32 %r1, 0x3f803f80; mov.b32 %r2, %r1; mov.b32 %r3, %r1; mov.b32 %f0, "
                       "%r0; mov.b32 %f1, %r0; mov.b32 %f2, %r0; mov.b32 %f3, %r0;\n" MMA
                       " st.global.f32 [%a], %f3;";
    assert_int_equal(run(&m, body, 32, 0x4b800000), SIM_FAULT_NONE); /* 2^24 */
    for (int i = 0; i < 32; i++)
        assert_int_equal(results[i], 0x4b800004);                    /* 2^24 + 8 */
    assert_int_equal(run(&m, body, 32, 0x4d800000), SIM_FAULT_NONE); /* 2^28, steps of 32 */
    assert_int_equal(results[31], 0x4d800000);
    assert_int_equal(run(&m, body, 32, 0x7f800001), SIM_FAULT_NONE); /* NaN */
    assert_int_equal(results[0], 0x7fffffff);
    assert_int_equal(run(&m, body, 32, 0xff800000), SIM_FAULT_NONE); /* -infinity */
    assert_int_equal(results[0], 0xff800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_mbarrier_of_any_bits),
        cmocka_unit_test(test_lanes_of_mma),
        cmocka_unit_test(test_sum_is_rounded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
