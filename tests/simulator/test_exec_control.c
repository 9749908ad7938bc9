/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, divergence, barriers, warps, atomics and faults: kernels of tests/vectors/ptx/control.cu
 * against C. */
#include "executor.h"

static char *control_text, *grid_text;

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file && text && fread(text, 1, (1 << 20) - 1, file) == 0)
        text[0] = '\0';
    if (file)
        fclose(file);
    return text;
}

static int read_texts(void **state)
{
    (void)state;
    control_text = read_file(TEST_VECTORS "/ptx/control.ptx");
    grid_text = read_file(TEST_VECTORS "/ptx/grid.ptx");
    return control_text[0] && grid_text[0] ? 0 : -1;
}

static int drop_texts(void **state)
{
    (void)state;
    free(control_text);
    free(grid_text);
    return 0;
}

static struct machine *start(void)
{
    struct machine *m = calloc(1, sizeof(*m));
    machine_load(m, control_text);
    m->limit = 200000000;
    return m;
}

static void finish(struct machine *m)
{
    machine_free(m);
    free(m);
}

static int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void test_recursion(void **state)
{
    (void)state;
    struct machine *m = start();
    int *out = machine_alloc(m, 100 * sizeof(int));
    machine_run(m, "calls", 1, 100, &out);
    for (int t = 0; t < 100; t++)
        assert_int_equal(out[t], factorial(t % 9) + fibonacci(t % 7) * 1000000);
    finish(m);
}

static void test_indirect(void **state)
{
    (void)state;
    struct machine *m = start();
    int *out = machine_alloc(m, 64 * sizeof(int));
    machine_run(m, "indirect", 1, 64, &out);
    for (int t = 0; t < 64; t++)
        assert_int_equal(out[t], t % 3 == 0 ? t + 6 : t % 3 == 1 ? (t + 5) * 2 : -(t + 5));
    finish(m);
}

struct big {
    uint32_t v[8];
    uint64_t w;
};

static void test_by_value(void **state)
{
    (void)state;
    static const uint32_t table[16] = {1, 2, 3, 5, 8, 13};
    struct machine *m = start();
    uint64_t *out = machine_alloc(m, 40 * sizeof(*out));
    struct {
        struct big b;
        uint64_t *out;
    } p = {{{1, 20, 300, 4000, 50000, 6, 7, 0xfffffff0}, 1ull << 40}, out};
    machine_run(m, "by_value", 1, 40, &p);
    for (uint32_t t = 0; t < 40; t++) {
        struct big b = p.b;
        b.v[t & 7] += table[t & 7];
        b.v[t & 7] += 100;
        uint64_t sum = b.w + t;
        for (int i = 0; i < 8; i++)
            sum += (uint64_t)b.v[i] << i;
        assert_true(out[t] == sum);
    }
    finish(m);
}

static void test_locals(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 77 * sizeof(*out));
    machine_run(m, "locals", 1, 77, &out);
    for (uint32_t t = 0; t < 77; t++) {
        uint32_t v[4] = {t * 7 % 11, t * 5 % 13, t * 3 % 17, t};
        for (int i = 0; i < 4; i++)
            for (int j = i + 1; j < 4; j++)
                if (v[j] < v[i]) {
                    uint32_t swap = v[i];
                    v[i] = v[j];
                    v[j] = swap;
                }
        assert_int_equal(out[t], v[0] | v[1] << 8 | v[2] << 16 | v[t & 3] << 24);
    }
    finish(m);
}

static void test_divergent_loop(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *out, *active;
    } p = {machine_alloc(m, 1000 * 4), machine_alloc(m, 1000 * 4)};
    assert_true(base_thread_pool_create(3, &m->workers));
    machine_run(m, "collatz", 10, 100, &p);
    for (uint32_t t = 0; t < 1000; t++) {
        uint32_t steps = 0;
        for (uint64_t x = t + 1; x != 1; x = x & 1 ? 3 * x + 1 : x / 2)
            steps++;
        assert_int_equal(p.out[t], steps);
        /* All lanes of a warp have reconverged after the loop. */
        assert_int_equal(p.active[t], t % 100 >= 96 ? 0xf : 0xffffffff);
    }
    finish(m);
}

/* A value that is read only at the head of a loop is live throughout the loop: nothing in the tail
 * may reuse its vector register. */
static void test_value_lives_around_loop(void **state)
{
    (void)state;
    struct machine *m = calloc(1, sizeof(*m));
    machine_load(m,
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out) {\n"
        ".reg .b64 %p; .reg .b32 %v, %i, %s, %t<9>; .reg .pred %q; ld.param.u64 %p, [out];\n"
        "mov.u32 %v, 5; mov.u32 %i, 0; mov.u32 %s, 0;\nL: add.u32 %s, %s, %v;\n"
        "mul.lo.u32 %t1, %i, 3; add.u32 %t2, %t1, 7; xor.b32 %t3, %t2, %t1; shl.b32 %t4, %t3, 4; "
        "or.b32 %t5, %t4, %t2;\n"
        "st.global.u32 [%p+4], %t5; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 10; @%q bra L;\n"
        "st.global.u32 [%p], %s; ret; }");
    uint32_t *out = machine_alloc(m, 8);
    machine_run(m, "k", 1, 1, &out);
    assert_int_equal(out[0], 50);
    assert_int_equal(out[1], ((27 + 7) ^ 27) << 4 | 34);
    finish(m);
}

static bool branch_answer(uint32_t t, uint32_t x, uint32_t *answer)
{
    switch (x & 15) {
    case 0:
        *answer = x + 3;
        break;
    case 1:
        *answer = x ^ 9;
        break;
    case 2:
        *answer = x * 5 - 8;
        break;
    case 3:
        *answer = x - 8;
        break;
    case 4:
        *answer = x | 6;
        break;
    case 5:
        *answer = x & 0xff;
        break;
    case 6:
        *answer = x << 3 | x >> 29;
        break;
    case 7:
        *answer = x / 7;
        break;
    case 8:
        *answer = x % 13;
        break;
    case 9:
        *answer = (uint32_t)__builtin_popcount(x);
        break;
    case 10:
        *answer = 77;
        return !(t & 1);
    default:
        *answer = ~x;
    }
    return true;
}

static void test_branches(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *out, *in;
    } p = {machine_alloc(m, 512 * 4), machine_alloc(m, 512 * 4)};
    for (uint32_t t = 0; t < 512; t++)
        p.in[t] = t * 2654435761u ^ t >> 3;
    machine_run(m, "branches", 1, 512, &p);
    for (uint32_t t = 0; t < 512; t++) {
        uint32_t want;
        if (!branch_answer(t, p.in[t], &want))
            want = 0;
        assert_int_equal(p.out[t], want);
    }
    finish(m);
}

static void test_block_sum(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *in, *out;
    } p = {machine_alloc(m, 8 * 256 * 4), machine_alloc(m, 8 * 4)};
    for (uint32_t i = 0; i < 8 * 256; i++)
        p.in[i] = i * i;
    m->dynamic_shared = 1024;
    m->checks = SIM_CHECK_SHARED_INIT | SIM_CHECK_DIVERGENT_BARRIER;
    machine_run(m, "block_sum", 8, 256, &p);
    for (uint32_t b = 0; b < 8; b++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 256; i++)
            sum += p.in[b * 256 + i];
        assert_int_equal(p.out[b], sum + 2 * p.in[b * 256 + 192] + 2 * p.in[b * 256 + 1]);
    }
    finish(m);
}

static void check_warp_lane(uint32_t t, const uint32_t *o)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < 32; i++)
        own |= i % 4 == t % 4 ? 1u << i : 0;
    assert_int_equal(o[0], (t ^ 5) * 3);
    assert_int_equal(o[1], (t < 2 ? t : t - 2) * 3);
    assert_int_equal(o[2], ((t & 7) + 3 > 7 ? t : t + 3) * 3);
    assert_int_equal(o[3], 5 * 3);
    assert_int_equal(o[4], 0x49249249);
    assert_int_equal(o[5], 3);
    assert_int_equal(o[6], own);
    assert_int_equal(o[7], 0);
    assert_int_equal(o[8], 31 * 16);
    assert_int_equal((int32_t)o[9], -7);
    assert_int_equal(o[10], t & 1 ? 0xaaaa0000 : 0);
    assert_int_equal(o[11], 16 + 100 + 0);
}

static void test_warp_ops(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 32 * 12 * 4);
    machine_run(m, "warp_ops", 1, 32, &out);
    for (uint32_t t = 0; t < 32; t++)
        check_warp_lane(t, out + t * 12);
    finish(m);
}

static void test_atomics(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *a;
        uint64_t *b;
        int *c;
        float *f;
    } p = {machine_alloc(m, 32), machine_alloc(m, 8), machine_alloc(m, 4), machine_alloc(m, 4)};
    uint32_t n = 64 * 128, x = 0;
    uint64_t sum = 0;
    assert_true(base_thread_pool_create(4, &m->workers));
    machine_run(m, "atomics", 64, 128, &p);
    for (uint32_t t = 0; t < n; t++) {
        sum += t;
        x ^= t;
    }
    assert_int_equal(p.a[0], n);
    assert_int_equal(p.a[1], (uint32_t)sum);
    assert_int_equal(p.a[2], n - 1);
    assert_int_equal(p.a[3], x);
    assert_int_equal(p.a[4], 0xffffffff);
    assert_int_equal(p.a[5], n % 100);
    assert_int_equal(p.a[6], n * 2);
    assert_int_equal(p.a[7], 42);
    assert_true(p.b[0] == sum << 20);
    assert_int_equal(p.c[0], -(int)(n - 1));
    assert_true(p.f[0] == (float)n / 2);
    finish(m);
}

static void test_locks(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *lock, *count;
    } p = {machine_alloc(m, 4), machine_alloc(m, 4)};
    assert_true(base_thread_pool_create(2, &m->workers));
    machine_run(m, "locked", 6, 64, &p);
    assert_int_equal(p.count[0], 6 * 64);
    finish(m);
}

static void test_cooperative(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *arrived, *out;
    } p = {machine_alloc(m, 4), machine_alloc(m, 100 * 40 * 4)};
    assert_true(base_thread_pool_create(2, &m->workers));
    m->is_cooperative = true;
    machine_run(m, "grid_wait", 100, 40, &p);
    for (uint32_t t = 0; t < 100 * 40; t++)
        assert_int_equal(p.out[t], 300);
    finish(m);
}

/* Barriers of cooperative groups: their state is where two special registers say. */
static void test_grid_groups(void **state)
{
    (void)state;
    struct machine *m = calloc(1, sizeof(*m));
    machine_load(m, grid_text);
    uint32_t *sums = machine_alloc(m, 64);
    assert_true(base_thread_pool_create(2, &m->workers));
    m->limit = 200000000;
    assert_int_equal(machine_launch(m, "grid_rounds", 50, 64, &sums), SIM_FAULT_TRAP);
    memset(sums, 0, 64);
    m->is_cooperative = true;
    machine_run(m, "grid_rounds", 50, 64, &sums);
    for (int round = 0; round < 4; round++)
        assert_int_equal(sums[round], 3200);
    assert_int_equal(sums[8], 0);
    assert_int_equal(sums[9], 3200);
    finish(m);
}

/* The same without a cooperative launch: as many blocks are resident as on a GPU. */
static void test_co_residency(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *arrived, *out;
    } p = {machine_alloc(m, 4), machine_alloc(m, 20 * 40 * 4)};
    machine_run(m, "grid_wait", 20, 40, &p);
    for (uint32_t t = 0; t < 20 * 40; t++)
        assert_int_equal(p.out[t], 60);
    finish(m);
}

static void test_shape(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 24 * 60 * 4), *at = out;
    struct sim_launch launch = {.program = m->program,
        .kernel = sim_program_find_kernel(m->program, "shape"),
        .grid = {2, 3, 4},
        .block = {3, 5, 4},
        .parameters = &out,
        .variables = m->variables,
        .memory = {machine_resolve, m}};
    assert_int_equal(sim_launch_run(&launch, &m->counts, &m->fault), SIM_FAULT_NONE);
    for (uint32_t b = 0; b < 24; b++)
        for (uint32_t t = 0; t < 60; t++)
            assert_int_equal(*at++,
                t % 3 | t / 3 % 5 << 4 | t / 15 << 8 | b % 2 << 12 | b / 2 % 3 << 16 | b / 6 << 20);
    finish(m);
}

static void test_bytes(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        unsigned char *in;
        int16_t *s;
        int8_t *c;
        uint32_t *q;
        int64_t *w;
    } p = {machine_alloc(m, 200), machine_alloc(m, 400), machine_alloc(m, 200),
        machine_alloc(m, 3200), machine_alloc(m, 1600)};
    for (uint32_t t = 0; t < 200; t++)
        p.in[t] = (unsigned char)(t * 37);
    for (uint32_t t = 0; t < 800; t++)
        p.q[t] = t * 1001;
    machine_run(m, "bytes", 1, 200, &p);
    for (uint32_t t = 0; t < 200; t++) {
        int8_t c = (int8_t)(p.in[t] + 1);
        assert_int_equal(p.s[t], (int16_t)(p.in[t] * 257 - 32768));
        assert_int_equal(p.c[t], c);
        assert_int_equal(p.q[t * 4], (t * 4 + 3) * 1001);
        assert_int_equal(p.q[t * 4 + 3], t * 4 * 1001 + (uint32_t)(int32_t)c);
        assert_true(p.w[t] == (int64_t)p.s[t] * p.c[t]);
    }
    finish(m);
}

static void test_print(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        int x;
        double y;
    } p = {-5, 2.5};
    machine_run(m, "speak", 1, 32, &p);
    assert_string_equal(m->printed, "x -5 y 2.50 text 123456789012%\n");
    finish(m);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void test_out_of_bounds(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        uint32_t *out;
        int64_t index;
    } p = {machine_alloc(m, 40), 10};
    assert_int_equal(machine_launch(m, "store_at", 1, 1, &p), SIM_FAULT_OUT_OF_BOUNDS);
    assert_true(m->fault.address == (uint64_t)(uintptr_t)p.out + 40);
    assert_int_equal(m->fault.size, 4);
    assert_true(m->fault.is_write);
    assert_string_equal(m->fault.kernel, "store_at");
    assert_true(m->fault.nearest.base == (uint64_t)(uintptr_t)p.out);
    assert_int_equal(m->fault.nearest.size, 40);
    assert_true(m->fault.line > 0);
    p.index = 9;
    assert_int_equal(machine_launch(m, "store_at", 1, 1, &p), SIM_FAULT_NONE);
    p.index = -1;
    assert_int_equal(machine_launch(m, "store_at", 1, 1, &p), SIM_FAULT_OUT_OF_BOUNDS);
    p.index = INT64_MIN / 4;
    assert_int_equal(machine_launch(m, "store_at", 1, 1, &p), SIM_FAULT_OUT_OF_BOUNDS);
    finish(m);
}

static void test_misaligned(void **state)
{
    (void)state;
    struct machine *m = start();
    char *out = machine_alloc(m, 64);
    assert_int_equal(machine_launch(m, "store_odd", 1, 1, &out), SIM_FAULT_MISALIGNED);
    assert_true(m->fault.address == (uint64_t)(uintptr_t)out + 2);
    finish(m);
}

static void test_trap(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 64 * 4);
    assert_int_equal(machine_launch(m, "stop", 1, 64, &out), SIM_FAULT_TRAP);
    assert_int_equal(m->fault.thread[0], 33);
    finish(m);
}

static void test_limit(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 4);
    m->limit = 100000;
    assert_int_equal(machine_launch(m, "forever", 3, 64, &out), SIM_FAULT_INSTRUCTION_LIMIT);
    finish(m);
}

static void test_divergent_barrier(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 32 * 4);
    m->checks = SIM_CHECK_DIVERGENT_BARRIER;
    assert_int_equal(machine_launch(m, "half_barrier", 1, 32, &out), SIM_FAULT_DIVERGENT_BARRIER);
    m->checks = 0;
    assert_int_equal(machine_launch(m, "half_barrier", 1, 32, &out), SIM_FAULT_NONE);
    finish(m);
}

static void test_deadlock(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 96 * 4);
    assert_int_equal(machine_launch(m, "lone_barrier", 1, 64, &out), SIM_FAULT_DEADLOCK);
    assert_int_equal(machine_launch(m, "lone_barrier", 1, 96, &out), SIM_FAULT_NONE);
    finish(m);
}

static void test_unwritten_shared(void **state)
{
    (void)state;
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 64 * 4);
    m->checks = SIM_CHECK_SHARED_INIT;
    assert_int_equal(machine_launch(m, "unwritten", 1, 64, &out), SIM_FAULT_UNINITIALISED_SHARED);
    assert_int_equal(m->fault.thread[0], 4);
    assert_int_equal(m->fault.address, 20);
    m->checks = 0;
    assert_int_equal(machine_launch(m, "unwritten", 1, 64, &out), SIM_FAULT_NONE);
    finish(m);
}

static void test_stack(void **state)
{
    (void)state;
    struct machine *m = start();
    struct {
        int n;
        int *out;
    } p = {5, machine_alloc(m, 8)};
    assert_int_equal(machine_launch(m, "sink", 1, 1, &p), SIM_FAULT_NONE);
    assert_int_equal(p.out[1], 15);
    p.n = 100;
    assert_int_equal(machine_launch(m, "sink", 1, 1, &p), SIM_FAULT_STACK_OVERFLOW);
    m->stack_bytes = 65536;
    assert_int_equal(machine_launch(m, "sink", 1, 1, &p), SIM_FAULT_NONE);
    assert_int_equal(p.out[1], 5050);
    finish(m);
}

/* Lines of the source, by .file and .loc: of the same function only, malformed ones ignored. */
static void test_source_lines(void **state)
{
    static const char source[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry with_lines(.param .u64 at)\n{\n.reg .b64 %a; .reg .b32 %x;\n"
        ".loc 2 41 3\nld.param.u64 %a, [at];\n"
        ".loc 2 42 7, function_name $L__info, inlined_at 2 10 1\nst.global.u32 [%a], 1;\n"
        ".loc 1 7 1\nret;\n}\n"
        ".visible .entry without(.param .u64 at)\n{\n.reg .b64 %a;\n"
        "ld.param.u64 %a, [at];\nst.global.u32 [%a], 1;\nret;\n}\n"
        ".visible .entry odd(.param .u64 at)\n{\n.reg .b64 %a;\n"
        ".loc 3 99 1\n.loc 99999999999 1\n.loc\n.loc x\nld.param.u64 %a, [at];\n"
        "st.global.u32 [%a], 1;\nret;\n}\n"
        ".file 1 \"other.cu\"\n.file 2 \"/a/kernel.cu\", 1, 2\n.file 4 \"open\n.file\n";
    struct machine *m = calloc(1, sizeof(*m));
    uint64_t nowhere = 64;

    (void)state;
    machine_load(m, source);
    assert_int_equal(machine_launch(m, "with_lines", 1, 1, &nowhere), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m->fault.source_line, 42);
    assert_string_equal(m->fault.source_file, "/a/kernel.cu");
    assert_non_null(strstr(m->fault.text, "PTX line 10 (/a/kernel.cu:42), write of 4 bytes"));
    assert_int_equal(machine_launch(m, "without", 1, 1, &nowhere), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m->fault.source_line, 0);
    assert_null(strstr(m->fault.text, ".cu"));
    assert_int_equal(machine_launch(m, "odd", 1, 1, &nowhere), SIM_FAULT_OUT_OF_BOUNDS);
    assert_int_equal(m->fault.source_line, 0); /* there is no file 3 */
    machine_free(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_by_value),
        cmocka_unit_test(test_locals),
        cmocka_unit_test(test_divergent_loop),
        cmocka_unit_test(test_value_lives_around_loop),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_block_sum),
        cmocka_unit_test(test_source_lines),
        cmocka_unit_test(test_warp_ops),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_cooperative),
        cmocka_unit_test(test_grid_groups),
        cmocka_unit_test(test_co_residency),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_trap),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_divergent_barrier),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_unwritten_shared),
        cmocka_unit_test(test_stack),
    };
    return cmocka_run_group_tests(tests, read_texts, drop_texts);
}
