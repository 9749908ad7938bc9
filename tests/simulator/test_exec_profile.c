/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of a profile: accesses whose bank conflicts and sectors follow from their addresses by
 * the programming guide. A stride of s words has conflicts of gcd(s, 32) ways.
 */
#include "executor.h"

enum { MOST_COUNTS = 16 };

struct counts {
    struct sim_access_count items[MOST_COUNTS];
    uint32_t count;
};

/* clang-format off */
#define BEGIN(name)                                                                                \
    ".visible .entry " name "(.param .u64 memory, .param .u32 stride)\n{\n"                        \
    ".reg .b32 %t,%a,%v,%w,%x,%s; .reg .b64 %m,%l,%g; .reg .b128 %q; .reg .pred %p;\n"             \
    ".shared .align 16 .b8 words[32768];\n"                                                        \
    "mov.u32 %t, %tid.x; ld.param.u64 %m, [memory]; ld.param.u32 %s, [stride];\n"                  \
    "mul.lo.u32 %a, %t, %s; cvt.u64.u32 %l, %a; add.u64 %g, %m, %l;\n"                             \
    "mov.u32 %w, words; add.u32 %w, %w, %a;\n"
#define END "ret;\n}\n"
static const char source[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .b8 table[128];\n.file 1 \"source.cu\"\n"
    BEGIN("shared_write") "st.shared.u32 [%w], %t;\n" END
    BEGIN("shared_read") "ld.shared.u32 %v, [%w];\n" END
    BEGIN("shared_read_64") "ld.shared.u64 %l, [%w];\n" END
    BEGIN("shared_read_v4") "ld.shared.v4.u32 {%v,%v,%v,%v}, [%w];\n" END
    BEGIN("shared_read_8") "ld.shared.u8 %v, [%w];\n" END
    BEGIN("shared_atomic") "red.shared.add.u32 [%w], 1;\n" END
    BEGIN("global_write") "st.global.u32 [%g], %t;\n" END
    BEGIN("global_read") "ld.global.u32 %v, [%g];\n" END
    BEGIN("global_read_64") "ld.global.u64 %l, [%g];\n" END
    BEGIN("global_read_v4") "ld.global.v4.u32 {%v,%v,%v,%v}, [%g];\n" END
    BEGIN("global_read_8") "ld.global.u8 %v, [%g];\n" END
    BEGIN("global_atomic") "atom.global.add.u32 %v, [%g], 1;\n" END
    BEGIN("half_of_the_lanes") "and.b32 %v, %t, 1; setp.eq.u32 %p, %v, 0;\n"
        "@%p ld.global.u32 %v, [%g];\n" END
    BEGIN("no_lanes") "setp.hi.u32 %p, %t, 999; @%p ld.global.u32 %v, [%g];\n" END
    BEGIN("constants") "ld.const.u32 %v, [table];\n" END
    BEGIN("generic") "cvta.shared.u64 %l, words; cvt.u64.u32 %g, %a; add.u64 %g, %g, %l;\n"
        "ld.u32 %v, [%g];\n" END
    BEGIN("either") "cvta.shared.u64 %l, words; setp.lo.u32 %p, %t, 16;\n"
        "selp.b64 %g, %m, %l, %p; ld.u32 %v, [%g];\n" END
    BEGIN("copied") ".loc 1 7 0\ncp.async.ca.shared.global [%w], [%g], 4;\n.loc 1 8 0\n"
        "cp.async.wait_all;\n" END
    BEGIN("line") ".loc 1 41 0\nst.global.u32 [%m], %t;\n.loc 1 42 3\nst.shared.u32 [%w], %t;\n" END;
/* clang-format on */

static void add_count(void *context, const struct sim_access_count *count)
{
    struct counts *counts = context;

    assert_true(counts->count < MOST_COUNTS);
    counts->items[counts->count++] = *count;
}

struct parameters {
    void *memory;
    uint32_t stride;
};

static struct machine *start(void)
{
    struct machine *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    machine_load(m, source);
    return m;
}

static void end(struct machine *m)
{
    machine_free(m);
    free(m);
}

static struct counts profile(struct machine *m, const char *kernel, uint32_t blocks,
    uint32_t threads, void *memory, uint32_t stride)
{
    const struct parameters parameters = {memory, stride};
    struct counts counts = {.count = 0};

    m->count = add_count;
    m->count_context = &counts;
    machine_run(m, kernel, blocks, threads, &parameters);
    m->count = NULL;
    return counts;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* One request of 32 lanes with 4 bytes each: the ways of its conflict for each stride. */
static void test_strides_of_shared_memory(void **state)
{
    struct machine *m = start();
    void *memory = machine_alloc(m, 32768);

    (void)state;
    for (uint32_t stride = 1; stride <= 66; stride++) {
        static const char *const kernels[] = {"shared_write", "shared_read", "generic"};

        for (size_t i = 0; i < 3; i++) {
            struct counts counts = profile(m, kernels[i], 1, 32, memory, stride * 4);
            const uint32_t ways = common_divisor(stride, 32);

            assert_int_equal(counts.count, 1);
            if (counts.items[0].units != ways || counts.items[0].worst != ways)
                fail_msg("%s, stride %u: %u passes, %u ways", kernels[i], stride,
                    (unsigned)counts.items[0].units, counts.items[0].worst);
            assert_int_equal(counts.items[0].ideal, 1);
            assert_int_equal(counts.items[0].space, SIM_SPACE_SHARED);
            assert_int_equal(counts.items[0].use, i ? SIM_USE_READ : SIM_USE_WRITE);
        }
    }
    end(m);
}

static const struct {
    const char *kernel;
    uint32_t offset, stride; /* bytes */
    uint32_t units, ideal, worst, same;
} requests[] = {
    /* A word for all lanes is one pass; so are bytes of a word. */
    {"shared_read", 0, 0, 1, 1, 1, 0},
    {"shared_read_8", 0, 1, 1, 1, 1, 0},
    {"shared_read_8", 0, 4, 1, 1, 1, 0},
    {"shared_read_8", 0, 128, 32, 1, 32, 0},
    /* 16 lanes at once */
    {"shared_read_64", 0, 8, 2, 2, 1, 0},
    {"shared_read_64", 0, 16, 4, 2, 2, 0},
    {"shared_read_64", 0, 128, 32, 2, 16, 0},
    /* 8 lanes at once */
    {"shared_read_v4", 0, 16, 4, 4, 1, 0},
    {"shared_read_v4", 0, 32, 8, 4, 2, 0},
    {"shared_read_v4", 0, 128, 32, 4, 8, 0},
    /* Lanes of an atomic operation share nothing. */
    {"shared_atomic", 0, 4, 1, 1, 1, 1},
    {"shared_atomic", 0, 0, 32, 1, 32, 32},
    {"global_read", 0, 4, 4, 4, 4, 0},
    {"global_write", 0, 4, 4, 4, 4, 0},
    {"global_read", 4, 4, 5, 4, 5, 0},
    {"global_read", 0, 8, 8, 4, 8, 0},
    {"global_write", 0, 128, 32, 4, 32, 0},
    {"global_read", 0, 0, 1, 1, 1, 0},
    {"global_read_64", 0, 8, 8, 8, 8, 0},
    {"global_read_64", 0, 32, 32, 8, 32, 0},
    {"global_read_v4", 0, 16, 16, 16, 16, 0},
    {"global_read_8", 0, 1, 1, 1, 1, 0},
    {"global_read_8", 0, 32, 32, 1, 32, 0},
    {"global_atomic", 0, 4, 4, 4, 4, 1},
    {"global_atomic", 0, 0, 1, 1, 1, 32},
    {"half_of_the_lanes", 0, 4, 4, 2, 4, 0},
};

static void test_requests(void **state)
{
    struct machine *m = start();
    char *memory = machine_alloc(m, 32768);

    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        struct counts counts =
            profile(m, requests[i].kernel, 1, 32, memory + requests[i].offset, requests[i].stride);
        const struct sim_access_count *count = &counts.items[0];

        assert_int_equal(counts.count, 1);
        assert_int_equal(count->requests, 1);
        assert_int_equal(count->lanes, strcmp(requests[i].kernel, "half_of_the_lanes") ? 32 : 16);
        if (count->units != requests[i].units || count->ideal != requests[i].ideal ||
            count->worst != requests[i].worst || count->same != requests[i].same)
            fail_msg("%s, stride %u: %u units, least %u, worst %u, same %u", requests[i].kernel,
                requests[i].stride, (unsigned)count->units, (unsigned)count->ideal, count->worst,
                count->same);
    }
    end(m);
}

static void test_what_is_not_counted(void **state)
{
    struct machine *m = start();
    void *memory = machine_alloc(m, 4096);

    (void)state;
    assert_int_equal(profile(m, "no_lanes", 1, 64, memory, 4).count, 0);
    assert_int_equal(profile(m, "constants", 1, 64, memory, 4).count, 0);
    end(m);
}

/* Lanes 0 to 15 read a word of global memory, the others one of shared memory. */
static void test_both_spaces(void **state)
{
    struct machine *m = start();
    void *memory = machine_alloc(m, 4096);
    struct counts counts = profile(m, "either", 1, 32, memory, 0);

    (void)state;
    assert_int_equal(counts.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(counts.items[i].space, i ? SIM_SPACE_GLOBAL : SIM_SPACE_SHARED);
        assert_int_equal(counts.items[i].lanes, 16);
        assert_int_equal(counts.items[i].units, 1);
    }
    counts = profile(m, "copied", 1, 32, memory, 128);
    assert_int_equal(counts.count, 2);
    assert_int_equal(counts.items[0].use, SIM_USE_WRITE);
    assert_int_equal(counts.items[0].worst, 32);
    assert_int_equal(counts.items[1].use, SIM_USE_READ);
    assert_int_equal(counts.items[1].requests, 1);
    assert_int_equal(counts.items[1].units, 32);
    assert_int_equal(counts.items[1].source_line, 7);
    end(m);
}

/* Over blocks, warps and cores; with the lines of the source. */
static void test_whole_launches(void **state)
{
    struct machine *m = start();
    void *memory = machine_alloc(m, 4096);

    (void)state;
    for (int with = 0; with < 2; with++) {
        struct counts counts;

        if (with)
            assert_true(base_thread_pool_create(4, &m->workers));
        counts = profile(m, "line", 50, 80, memory, 128);
        assert_int_equal(counts.count, 2);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(counts.items[i].requests, 150);
            assert_int_equal(counts.items[i].lanes, 4000);
            assert_int_equal(counts.items[i].source_line, i ? 42 : 41);
            assert_string_equal(counts.items[i].source_file, "source.cu");
        }
        assert_int_equal(counts.items[0].units, 150);
        assert_int_equal(counts.items[1].units, 50 * 80); /* two of 32 ways and one of 16 */
        assert_int_equal(counts.items[1].worst, 32);
    }
    end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strides_of_shared_memory),
        cmocka_unit_test(test_requests), cmocka_unit_test(test_what_is_not_counted),
        cmocka_unit_test(test_both_spaces), cmocka_unit_test(test_whole_launches)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
