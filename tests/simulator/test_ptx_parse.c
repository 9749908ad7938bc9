/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX parser: what it reads, what it refuses and with which line number, and the failure of
 * every allocation.
 */
#include "executor.h"

#include "base/alloc.h"
#include "driver/sim/exec/program.h"

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

static const char *parse_error(const char *text, enum sim_load want, uint32_t line)
{
    static struct sim_load_error error;
    struct sim_program *program = NULL;
    assert_int_equal(sim_program_parse(text, strlen(text), &program, &error), want);
    assert_null(program);
    if (error.line != line)
        fail_msg("line %u instead of %u: %s", error.line, line, error.text);
    return error.text;
}

static void expect(const char *text, enum sim_load want, uint32_t line, const char *part)
{
    const char *message = parse_error(text, want, line);
    if (!strstr(message, part))
        fail_msg("'%s' lacks '%s'", message, part);
}

/* A body on line 5 of a kernel with registers of every kind. */
#define BEGIN                                                                                      \
    HEAD ".entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg "     \
         ".pred %p<9>;\n"
#define BODY(TEXT) BEGIN TEXT " }\n"

static void test_unknown_is_named(void **state)
{
    (void)state;
    expect(BODY("wmma.load.a.sync {%r1}, [%rd1], %r2;"), SIM_LOAD_UNSUPPORTED, 5,
        "'wmma.load.a.sync' is valid PTX that simulated devices do not execute");
    expect(BODY("frobnicate %r1;"), SIM_LOAD_UNSUPPORTED, 5, "frobnicate");
    expect(BODY("add.u33 %r1, %r2, %r3;"), SIM_LOAD_UNSUPPORTED, 5, ".u33");
    expect(BODY("add.wide.u32 %r1, %r2, %r3;"), SIM_LOAD_UNSUPPORTED, 5,
        "'.wide' is not supported in 'add.wide.u32'");
    expect(BODY("popc.u32 %r1, %r2;"), SIM_LOAD_UNSUPPORTED, 5, "popc.u32");
    expect(BODY("mul.u32 %r1, %r2, %r3;"), SIM_LOAD_UNSUPPORTED, 5, "mul.u32");
    expect(BODY("\n\n  add.u32 %r1, %r2;"), SIM_LOAD_INVALID, 7, "operands");
    expect(BODY("add.u32 %r1, %r2, %rd3;"), SIM_LOAD_INVALID, 5, ".b64");
    expect(BODY("add.u64 %rd1, %rd2, %r3;"), SIM_LOAD_INVALID, 5, ".b32");
    expect(BODY("add.u32 %r1, %r2, %r9;"), SIM_LOAD_INVALID, 5, "%r9");
    expect(BODY("add.u32 5, %r2, %r3;"), SIM_LOAD_INVALID, 5, "register");
    expect(BODY("bra nowhere;"), SIM_LOAD_INVALID, 5, "'nowhere' is not declared");
    expect(BODY("setp.lt.u32 %r1, %r2, %r3;"), SIM_LOAD_INVALID, 5, "predicate");
    expect(BODY("@%r1 exit;"), SIM_LOAD_INVALID, 5, "guard");
    expect(BODY("L: L: exit;"), SIM_LOAD_INVALID, 5, "twice");
    expect(BODY("st.param.u32 [p], %r1;"), SIM_LOAD_INVALID, 5, "read only");
    expect(BODY("ld.param.u32 %r1, [p+8];"), SIM_LOAD_INVALID, 5, "outside");
    expect(BODY(".reg .b32 %r<4>; }"), SIM_LOAD_INVALID, 5, "twice");
    expect(BODY("atom.global.add.b32 %r1, [%rd1], 1;"), SIM_LOAD_UNSUPPORTED, 5,
        "atom.global.add.b32");
    expect(BODY("shfl.bfly.b32 %r1, %r2, 1, 31;"), SIM_LOAD_UNSUPPORTED, 5, "shfl.bfly.b32");
    expect(BODY("call gone;"), SIM_LOAD_INVALID, 5, "gone");
    expect(BODY("bar.sync 99;"), SIM_LOAD_INVALID, 5,
        "barrier 99 of 'bar.sync' is out of range, expected 0 to 15");
    expect(BODY("barrier.arrive 16, 64;"), SIM_LOAD_INVALID, 5, "barrier 16");
    expect(BODY("bar.red.popc.u32 %r1, 16, %p1;"), SIM_LOAD_INVALID, 5, "barrier 16");
    expect(BODY("mbarrier.init.shared.b32 [%rd1], 1;"), SIM_LOAD_UNSUPPORTED, 5, "mbarrier.init");
}

static void accept(const char *text)
{
    static struct sim_load_error error;
    struct sim_program *program = NULL;
    if (sim_program_parse(text, strlen(text), &program, &error))
        fail_msg("line %u: %s", error.line, error.text);
    sim_program_free(&program);
}

/* A chip holds a borrow inverted where an addition reads it, and a carry where a subtraction does.
 */
static void test_flag_of_the_other_kind(void **state)
{
    static const char *const carries[] = {"add.cc.u32 %r1, %r2, %r3;",
        "mad.lo.cc.u32 %r1, %r2, %r3, %r4;", "madc.hi.cc.u32 %r1, %r2, %r3, %r4;",
        "addc.cc.u64 %rd1, %rd2, %rd3;"};
    static const char *const borrows[] = {
        "sub.cc.u32 %r1, %r2, %r3;", "subc.cc.u64 %rd1, %rd2, %rd3;"};
    static const char *const reads_carry[] = {"addc.u32 %r5, %r6, 0;", "addc.cc.u32 %r5, %r6, 0;",
        "madc.lo.u32 %r5, %r6, %r7, 0;", "madc.hi.cc.u32 %r5, %r6, %r7, 0;"};
    static const char *const reads_borrow[] = {"subc.u32 %r5, %r6, 0;", "subc.cc.u32 %r5, %r6, 0;"};
    char text[1024];
    (void)state;
#define EACH_PAIR(WRITES, READS, ...)                                                              \
    for (size_t i = 0; i < sizeof(WRITES) / sizeof(*(WRITES)); i++)                                \
        for (size_t k = 0; k < sizeof(READS) / sizeof(*(READS)); k++) {                            \
            snprintf(text, sizeof(text), "%s%s\nxor.b32 %%r8, %%r8, 1;\n%s exit; }\n", BEGIN,      \
                (WRITES)[i], (READS)[k]);                                                          \
            __VA_ARGS__;                                                                           \
        }
    EACH_PAIR(carries, reads_carry, accept(text))
    EACH_PAIR(borrows, reads_borrow, accept(text))
    EACH_PAIR(
        borrows, reads_carry, expect(text, SIM_LOAD_UNSUPPORTED, 7, "reads a borrow as a carry"))
    EACH_PAIR(
        carries, reads_borrow, expect(text, SIM_LOAD_UNSUPPORTED, 7, "reads a carry as a borrow"))
    /* Another block, and a flag that was written again. */
    accept(BODY("sub.cc.u32 %r1, %r2, %r3; add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, 0; exit;"));
    accept(BODY("sub.cc.u32 %r1, %r2, %r3; L: addc.u32 %r4, %r5, 0; bra L;"));
}

/* Instructions that the target does not have yet. */
static void test_targets(void **state)
{
    static const struct {
        const char *instruction;
        uint32_t first; /* target with it */
    } cases[] = {{"cp.async.wait_all;", 80}, {"redux.sync.add.u32 %r1, %r2, -1;", 80},
        {"elect.sync %r1|%p1, -1;", 90}, {"griddepcontrol.wait;", 90}};
    static const uint32_t targets[] = {75, 80, 86, 90, 100};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t k = 0; k < sizeof(targets) / sizeof(*targets); k++) {
            snprintf(text, sizeof(text),
                ".version 8.0\n.target sm_%u\n.address_size 64\n.visible .entry k()\n{ .reg .b32 "
                "%%r<3>; .reg .pred %%p<2>;\n%s exit; }\n",
                targets[k], cases[i].instruction);
            if (targets[k] >= cases[i].first)
                accept(text);
            else
                expect(text, SIM_LOAD_INVALID, 6, "or higher");
        }
}

static void test_text_is_not_ptx(void **state)
{
    (void)state;
    expect("", SIM_LOAD_INVALID, 1, "'.version'");
    expect("\177ELF\001\002", SIM_LOAD_INVALID, 1, "'.version'");
    expect(".version 9.0\n.entry k() {}", SIM_LOAD_INVALID, 2, "'.target'");
    expect(HEAD ".entry k(", SIM_LOAD_INVALID, 4, "ends");
    expect(HEAD ".entry k() {\n add.u32", SIM_LOAD_INVALID, 5, "ends");
    expect(HEAD ".texref t;", SIM_LOAD_UNSUPPORTED, 4, ".texref");
    expect(HEAD ".global .u32 x[2] = {1,2,3};", SIM_LOAD_INVALID, 4, "too many");
    expect(HEAD ".extern .global .u32 x;\n", SIM_LOAD_UNRESOLVED, 4, "'x'");
    expect(HEAD ".extern .func f();\n.entry k() { call f; }", SIM_LOAD_UNRESOLVED, 5, "'f'");
    expect(HEAD ".entry k() {\n /* open", SIM_LOAD_INVALID, 5, "ends");
    expect(HEAD ".entry k() { .reg .b32 %r<4000000000>; }", SIM_LOAD_INVALID, 4, "registers");
    expect(HEAD ".global .u32 x = 0f1;", SIM_LOAD_INVALID, 4, "initial value");
}

static void test_deep_nesting(void **state)
{
    (void)state;
    size_t n = 200000;
    char *text = malloc(n + 200);
    strcpy(text, HEAD ".entry k() ");
    size_t at = strlen(text);
    memset(text + at, '{', n);
    text[at + n] = '\0';
    expect(text, SIM_LOAD_UNSUPPORTED, 4, "nested");
    free(text);
}

static void test_kernel_facts(void **state)
{
    (void)state;
    struct machine m = {0};
    machine_load(&m,
        HEAD ".func f();\n.const .f32 h = 0f3F800000;\n.global .align 8 .u64 g[3] = {1, "
             "generic(h)+4, f};\n"
             ".shared .align 16 .b8 all[64];\n.extern .shared .align 32 .b8 open[];\n"
             ".func f() { .local .b8 l[100]; .reg .b32 %r; ld.shared.u32 %r, [all]; ret; }\n"
             ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20])\n"
             ".maxntid 8, 4, 2\n.minnctapersm 3\n{ .shared .u32 own; .local .u64 l;\n"
             " .reg .b32 %r; st.shared.u32 [own], 1; mov.u32 %r, open; call f; ret; }\n"
             ".entry small() .reqntid 32 { ret; }\n");
    const struct sim_kernel *k = sim_program_find_kernel(m.program, "k");
    assert_int_equal(m.program->version, 90);
    assert_int_equal(sim_program_target(m.program), 90);
    assert_int_equal(sim_program_kernel_count(m.program), 2);
    assert_int_equal(k->parameter_count, 3);
    assert_int_equal(k->parameters[1].offset, 8);
    assert_int_equal(k->parameters[2].offset, 16);
    assert_int_equal(k->parameters[2].align, 16);
    assert_int_equal(k->parameter_bytes, 36);
    assert_int_equal(k->max_threads, 64);
    assert_int_equal(k->min_blocks, 3);
    assert_int_equal(k->shared_bytes, 96); /* own, then all at 16, then open at a multiple of 32 */
    assert_int_equal(k->local_bytes, 108);
    const struct sim_kernel *small = sim_program_find_kernel(m.program, "small");
    assert_int_equal(small->required_block[0], 32);
    assert_int_equal(small->max_threads, 32);
    assert_int_equal(small->shared_bytes, 0);
    assert_null(sim_program_find_kernel(m.program, "f"));
    const struct sim_variable *g = sim_program_find_variable(m.program, "g");
    const struct sim_variable *h = sim_program_find_variable(m.program, "h");
    assert_int_equal(g->size, 24);
    assert_true(h->is_constant);
    const uint64_t *values = (const uint64_t *)(uintptr_t)m.variables[g->index];
    assert_true(values[0] == 1);
    assert_true(values[1] == m.variables[h->index] + 4);
    assert_true(values[2] != 0);
    assert_true(*(const float *)(uintptr_t)m.variables[h->index] == 1.0f);
    machine_free(&m);
}

static void test_debug_lines(void **state)
{
    (void)state;
    struct machine m = {0};
    machine_load(&m, HEAD ".file 1 \"a.cu\"\n.entry k(.param .u64 out) {\n.loc 1 3 5\n.reg .b64 "
                          "%rd; .loc 1 4 5, function_name $L, inlined_at 1 2 3\n"
                          "ld.param.u64 %rd, [out]; .pragma \"nounroll\";\n{ .reg.b32 %r; mov.u32 "
                          "%r, 7; st.u32 [%rd], %r; }\nret; }\n"
                          ".section .debug_str { .b8 1,2,3\n.b32 $L }\n");
    uint32_t *out = machine_alloc(&m, 4);
    machine_run(&m, "k", 1, 1, &out);
    assert_int_equal(*out, 7);
    machine_free(&m);
}

/* ---- matrices, mbarrier, bulk copies ----------------------------------------------------------
 */

#define NOT_EXECUTED "is valid PTX that simulated devices do not execute"

static void test_what_is_not_executed_is_named(void **state)
{
    static const char *const texts[] = {
        "wgmma.fence.sync.aligned;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %rd1, %rd2, 1, 1, 1;",
        "tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];",
        "suld.b.1d.b32.trap %r1, [%rd1, {%r2}];",
        "sust.b.1d.b32.trap [%rd1, {%r2}], %r1;",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%rd2];",
        "mapa.u64 %rd1, %rd2, 1;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1}, %r1, 0;",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "cvt.rn.satfinite.e4m3x2.f32 %h1, %r1, %r2;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text), "%s%s }\n", BEGIN, texts[i]);
        expect(text, SIM_LOAD_UNSUPPORTED, 5, NOT_EXECUTED);
    }
    expect(HEAD ".extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 a, .param .b64 b);\n"
                ".entry k() { .param .b64 a; .param .b64 b; .param .b32 r;\n"
                "call.uni (r), cudaLaunchDeviceV2, (a, b); }\n",
        SIM_LOAD_UNSUPPORTED, 6, "launches from kernels are valid PTX");
}

#define F16_MMA(SHAPE) "mma.sync.aligned." SHAPE ".row.col.f32.f16.f16.f32 "
#define F64_MMA(SHAPE) "mma.sync.aligned." SHAPE ".row.col.f64.f64.f64.f64 "

/* ptxas 13.0 gives the same limits. */
static void test_targets_and_versions(void **state)
{
    static const struct {
        const char *text;
        unsigned target, version;
    } cases[] = {
        {F16_MMA("m16n8k8") "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1}, {%r1, %r2, %r3, %r4};", 75,
            65},
        {F16_MMA("m16n8k16") "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2, "
                             "%r3, %r4};",
            80, 70},
        {F64_MMA("m8n8k4") "{%rd1, %rd2}, {%rd1}, {%rd1}, {%rd1, %rd2};", 80, 70},
        {F64_MMA("m16n8k4") "{%rd1, %rd2, %rd3, %rd4}, {%rd1, %rd2}, {%rd1}, {%rd1, %rd2, %rd3, "
                            "%rd4};",
            90, 78},
        {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", 90, 78},
        {"mbarrier.init.shared.b64 [%r1], 4;", 80, 70},
        {"mbarrier.arrive.shared.b64 %rd1, [%r1], 2;", 90, 78},
        {"mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;", 80, 71},
        {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 1;", 90, 78},
        {"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 64;", 90, 80},
        {"cp.async.bulk.commit_group;", 90, 80},
        {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2];",
            90, 86},
        {"set.eq.bf16x2.bf16x2 %r1, %r2, %r3;", 90, 78},
        {"atom.add.noftz.bf16x2 %r1, [%rd1], %r2;", 90, 78},
        {"red.global.add.noftz.v2.f16x2 [%rd1], {%r1, %r2};", 90, 81},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int below = 0; below < 3; below++) {
            char text[1024];
            unsigned target = below == 1 ? cases[i].target - 1 : cases[i].target;
            unsigned version = below == 2 ? cases[i].version - 1 : cases[i].version;
            struct sim_program *program = NULL;
            struct sim_load_error error = {0};
            snprintf(text, sizeof(text),
                ".version %u.%u\n.target sm_%u\n.address_size 64\n%s%s }\n", version / 10,
                version % 10, target, &BEGIN[strlen(HEAD)], cases[i].text);
            enum sim_load result = sim_program_parse(text, strlen(text), &program, &error);
            if (result != (below ? SIM_LOAD_INVALID : SIM_LOAD_OK))
                fail_msg("sm_%u, %u: %s: %s", target, version, cases[i].text, error.text);
            if (below)
                assert_non_null(strstr(
                    error.text, below == 1 ? "requires .target sm_" : "requires PTX ISA .version"));
            sim_program_free(&program);
        }
}

static void test_forms_that_ptx_lacks(void **state)
{
    static const char *const texts[] = {
        /* a fragment of too few registers, or without braces */
        F16_MMA("m16n8k8") "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
        F16_MMA("m16n8k8") "{%r1, %r2, %r3, %r4}, {%r1, %r2}, %r1, {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1}, "
        "{%r1, %r2};",
        "mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r1}, "
        "{%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%r1, %r2, %r3, %r4}, {%r1, %r2}, "
        "{%r1}, {%r1, %r2, %r3, %r4};",
        "mma.sync.aligned.m16n8k8.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "mma.sync.m16n8k8.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r2];",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r2];",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b32 {%r1}, [%r2];",
        "mbarrier.init.shared.b32 [%r1], 4;",
        "mbarrier.init.shared.b64 %r1, 4;",
        "mbarrier.arrive.shared.b64 [%r1];",
        "mbarrier.test_wait.shared.b64 %p1, [%r1], %r2;",
        "mbarrier.b64 [%r1];",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 63;",
        "cp.async.bulk.global.shared::cta [%rd1], [%r1], 64;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64;",
        "atom.add.f16x2 %r1, [%rd1], %r2;",
        "atom.global.min.noftz.f16x2 %r1, [%rd1], %r2;",
        "red.add.noftz.v2.f16x2 [%rd1], {%r1, %r2};",
        "red.global.add.noftz.v8.f16x2 [%rd1], {%r1, %r2, %r1, %r2, %r1, %r2, %r1, %r2};",
        "setp.lt.ftz.bf16 %p1, %h1, %h2;",
        "set.lt.f32.f16 %r1, %h1, %h2;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sim_program *program = NULL;
        struct sim_load_error error;
        char text[1024];
        snprintf(text, sizeof(text), "%s%s }\n", BEGIN, texts[i]);
        if (sim_program_parse(text, strlen(text), &program, &error) == SIM_LOAD_OK)
            fail_msg("accepted: %s", texts[i]);
        assert_int_equal(error.line, 5);
    }
}

/* ---- memory that fails at every allocation --------------------------------------------------- */

struct failing {
    int left;
};

static int fail_at(void *user)
{
    struct failing *failing = user;
    return failing->left-- == 0;
}

static const char rich[] = HEAD ".func (.param .b32 r) f (.param .b32 a) { .reg .b32 %r<3>; .reg "
                                ".pred %p; ld.param.u32 %r1, [a];\n"
                                "setp.lt.u32 %p, %r1, 2; @%p bra E; sub.u32 %r1, %r1, 1; { .param "
                                ".b32 q; st.param.b32 [q], %r1; .param .b32 s;\n"
                                "call (s), f, (q); ld.param.b32 %r2, [s]; } add.u32 %r1, %r1, %r2; "
                                "E: st.param.b32 [r], %r1; ret; }\n"
                                ".entry k(.param .u64 out) { .reg .b64 %rd; .reg .b32 %r<3>; "
                                "ld.param.u64 %rd, [out]; mov.u32 %r1, %tid.x;\n"
                                "{ .param .b32 q; st.param.b32 [q], %r1; .param .b32 s; call (s), "
                                "f, (q); ld.param.b32 %r2, [s]; }\n"
                                "mad.wide.u32 %rd, %r1, 4, %rd; st.global.u32 [%rd], %r2; ret; }\n";

static void test_memory_fails(void **state)
{
    (void)state;
    struct machine m = {0};
    int parsed_at = -1;
    for (int n = 0; parsed_at < 0; n++) {
        struct failing failing = {n};
        struct sim_load_error error;
        base_alloc_set_hook(fail_at, &failing);
        enum sim_load result = sim_program_parse(rich, strlen(rich), &m.program, &error);
        base_alloc_set_hook(NULL, NULL);
        if (result == SIM_LOAD_OK)
            parsed_at = n;
        else
            assert_int_equal(result, SIM_LOAD_NO_MEMORY);
        assert_true(n < 1000);
    }
    assert_true(parsed_at > 2);
    uint32_t *out = machine_alloc(&m, 64 * 4);
    int ran_at = -1;
    for (int n = 0; ran_at < 0; n++) {
        struct failing failing = {n};
        base_alloc_set_hook(fail_at, &failing);
        enum sim_fault_kind kind = machine_launch(&m, "k", 1, 64, &out);
        base_alloc_set_hook(NULL, NULL);
        if (kind == SIM_FAULT_NONE)
            ran_at = n;
        else
            assert_int_equal(kind, SIM_FAULT_NO_MEMORY);
        assert_true(n < 1000);
    }
    assert_true(ran_at > 2);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], t == 0 ? 0 : t * (t - 1) / 2 + 1);
    machine_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_is_named),
        cmocka_unit_test(test_what_is_not_executed_is_named),
        cmocka_unit_test(test_targets_and_versions),
        cmocka_unit_test(test_forms_that_ptx_lacks),
        cmocka_unit_test(test_flag_of_the_other_kind),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_text_is_not_ptx),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_kernel_facts),
        cmocka_unit_test(test_debug_lines),
        cmocka_unit_test(test_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
