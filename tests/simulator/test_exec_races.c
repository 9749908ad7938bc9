/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check for data races in shared memory: kernels with a race, and the same ones where a
 * barrier, an atomic or a flag orders the accesses.
 */
#include "executor.h"

#define BEGIN(name)                                                                                \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                               \
    ".reg .b32 %t,%own,%base,%v,%w,%x; .reg .pred %p; .reg .b64 %o,%g,%h;\n"                       \
    ".shared .align 8 .b8 words[1024]; .shared .align 4 .b32 flag;\n"                              \
    "mov.u32 %t, %tid.x; mov.u32 %base, words; mad.lo.s32 %own, %t, 4, %base;\n"                   \
    "ld.param.u64 %o, [out];\n"
#define END "st.global.u32 [%o], %x;\nret;\n}\n"
/* The address of another thread's word in %w. */
#define OTHER(distance) "xor.b32 %v, %t, " #distance "; mad.lo.s32 %w, %v, 4, %base;\n"
#define WRITE "st.shared.u32 [%own], %t;\n"
#define READ "ld.shared.u32 %x, [%w];\n"
#define BARRIER "bar.sync 0;\n"
#define WARP_BARRIER "bar.warp.sync 0xffffffff;\n"
/* Only threads from 32 to 63 continue. */
#define SECOND_WARP "setp.lo.u32 %p, %t, 32; @%p bra end; setp.hs.u32 %p, %t, 64; @%p bra end;\n"

/* clang-format off */
static const char source[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
    /* ---- of two warps */
    BEGIN("no_barrier") OTHER(32) WRITE READ END
    BEGIN("barrier") OTHER(32) WRITE BARRIER READ END
    BEGIN("read_then_write") OTHER(32) WRITE BARRIER READ WRITE END
    BEGIN("read_barrier_write") OTHER(32) WRITE BARRIER READ BARRIER WRITE END
    BEGIN("only_reads") OTHER(32) READ "mov.u32 %w, %base;\n" READ END
    BEGIN("broadcast_then_write") "mov.u32 %w, %base;\n" READ
        "setp.ne.u32 %p, %t, 63; @%p bra end; st.shared.u32 [%w], %t;\nend:\n" END
    BEGIN("both_write")
        "and.b32 %v, %t, 31; mad.lo.s32 %w, %v, 4, %base; st.shared.u32 [%w], %t;\n" END
    BEGIN("generic") OTHER(32) "cvta.shared.u64 %g, words; mad.wide.u32 %h, %t, 4, %g;\n"
        "st.u32 [%h], %t; mad.wide.u32 %h, %v, 4, %g; ld.u32 %x, [%h];\n" END
    BEGIN("bytes") "add.u32 %w, %base, %t; st.shared.u8 [%w], %t; ld.shared.u8 %x, [%w];\n" END
    BEGIN("word_of_bytes") "add.u32 %w, %base, %t; st.shared.u8 [%w], %t;\n"
        "and.b32 %v, %t, 60; add.u32 %w, %base, %v; ld.shared.u32 %x, [%w];\n" END
    BEGIN("vector") "mad.lo.s32 %w, %t, 8, %base; st.shared.v2.u32 [%w], {%t, %t};\n"
        OTHER(32) READ END
    /* ---- of one warp */
    BEGIN("no_warp_barrier") OTHER(1) WRITE READ END
    BEGIN("warp_barrier") OTHER(1) WRITE WARP_BARRIER READ END
    BEGIN("shuffle_only") OTHER(1) WRITE "shfl.sync.idx.b32 %x, %t, 0, 31, 0xffffffff;\n" READ END
    BEGIN("one_operation") "st.shared.u32 [%base], 1;\n" END
    BEGIN("own_words") WRITE "ld.shared.u32 %x, [%own];\n" WRITE END
    /* ---- other barriers: three warps */
    BEGIN("named") OTHER(32) WRITE "setp.hs.u32 %p, %t, 64; @%p bra end; bar.sync 1, 64;\n" READ
        "end:\n" END
    BEGIN("outsider") WRITE "setp.lo.u32 %p, %t, 64; @%p bar.sync 1, 64; @%p bra end;\n"
        "ld.shared.u32 %x, [%base];\nend:\n" END
    BEGIN("arrive") "setp.lo.u32 %p, %t, 32; @!%p bra consumer;\n" WRITE
        "bar.arrive 1, 64; bra end;\n"
        "consumer: setp.hs.u32 %p, %t, 64; @%p bra end; bar.sync 1, 64;\n" OTHER(32) READ
        "end:\n" END
    BEGIN("write_after_arrive") "setp.lo.u32 %p, %t, 32; @!%p bra consumer;\n"
        "bar.arrive 1, 64;\n" WRITE "bra end;\n"
        "consumer: setp.hs.u32 %p, %t, 64; @%p bra end; bar.sync 1, 64;\n" OTHER(32) READ
        "end:\n" END
    /* ---- without barriers */
    BEGIN("atomics") "red.shared.add.u32 [%base], 1;\n" BARRIER "ld.shared.u32 %x, [%base];\n" END
    BEGIN("read_of_atomic") "setp.lo.u32 %p, %t, 32; @%p red.shared.add.u32 [%base], 1;\n"
        SECOND_WARP "ld.shared.u32 %x, [%base];\nend:\n" END
    BEGIN("flag") "setp.ne.u32 %p, %t, 0; @%p bra wait;\n" WRITE "membar.cta; mov.u32 %v, 1;\n"
        "st.volatile.shared.u32 [flag], %v; bra end;\n" "wait:\n" SECOND_WARP
        "spin: ld.volatile.shared.u32 %v, [flag]; setp.eq.u32 %p, %v, 0; @%p bra spin;\n"
        "membar.cta; ld.shared.u32 %x, [%base];\nend:\n" END
    BEGIN("plain_flag") "setp.ne.u32 %p, %t, 0; @%p bra wait;\n" WRITE "membar.cta;\n"
        "st.shared.u32 [flag], 1; bra end;\n" "wait:\n" SECOND_WARP
        "ld.volatile.shared.u32 %v, [flag]; ld.shared.u32 %x, [%base];\nend:\n" END
    BEGIN("flag_in_global") "setp.ne.u32 %p, %t, 0; @%p bra wait;\n" WRITE "membar.cta;\n"
        "atom.global.exch.b32 %v, [%o+4], 1; bra end;\n" "wait:\n" SECOND_WARP
        "spin: atom.global.or.b32 %v, [%o+4], 0; setp.eq.u32 %p, %v, 0; @%p bra spin;\n"
        "ld.shared.u32 %x, [%base];\nend:\n" END;
/* clang-format on */

static const struct {
    const char *kernel;
    uint32_t threads;
    bool has_race;
} cases[] = {{"no_barrier", 64, true}, {"barrier", 64, false}, {"read_then_write", 64, true},
    {"read_barrier_write", 64, false}, {"only_reads", 64, false},
    {"broadcast_then_write", 64, true}, {"both_write", 64, true}, {"both_write", 32, false},
    {"generic", 64, true}, {"generic", 32, false}, {"bytes", 64, false}, {"word_of_bytes", 4, true},
    {"vector", 64, true}, {"no_warp_barrier", 32, true}, {"warp_barrier", 32, false},
    {"shuffle_only", 32, true}, {"one_operation", 32, false}, {"own_words", 96, false},
    {"named", 64, false}, {"named", 96, false}, {"outsider", 96, true}, {"arrive", 64, false},
    {"write_after_arrive", 64, true}, {"atomics", 96, false}, {"read_of_atomic", 64, true},
    {"flag", 64, false}, {"plain_flag", 64, true}, {"flag_in_global", 64, false}};

static struct machine *start(void)
{
    struct machine *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    machine_load(m, source);
    return m;
}

static void test_cases(void **state)
{
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 64);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        enum sim_fault_kind kind;

        m->checks = SIM_CHECK_RACES;
        memset(out, 0, 64);
        kind = machine_launch(m, cases[i].kernel, 2, cases[i].threads, &out);
        if (kind != (cases[i].has_race ? SIM_FAULT_RACE : SIM_FAULT_NONE))
            fail_msg("%s with %u threads: %s", cases[i].kernel, cases[i].threads,
                kind ? m->fault.text : "no race");
        m->checks = 0;
        memset(out, 0, 64);
        machine_run(m, cases[i].kernel, 2, cases[i].threads, &out);
    }
    machine_free(m);
    free(m);
}

/* Which line the n-th statement of a kind is in. */
static uint32_t line_of(const char *kernel, const char *statement)
{
    const char *at = strstr(source, kernel), *end = at ? strstr(at, statement) : NULL;
    uint32_t line = 1;

    assert_non_null(end);
    for (at = source; at < end; at++)
        line += *at == '\n';
    return line;
}

static void test_report(void **state)
{
    struct machine *m = start();
    uint32_t *out = machine_alloc(m, 64);
    char wanted[400];

    (void)state;
    m->checks = SIM_CHECK_RACES | SIM_CHECK_SHARED_INIT;
    assert_int_equal(machine_launch(m, "read_then_write", 1, 64, &out), SIM_FAULT_RACE);
    /* The warp that arrives last continues first. */
    assert_int_equal(m->fault.thread[0], 0);
    assert_int_equal(m->fault.address, 128);
    assert_false(m->fault.is_write);
    snprintf(wanted, sizeof(wanted),
        "data race in kernel read_then_write, block (0,0,0), thread (0,0,0), PTX line %u, read of "
        "4 "
        "bytes at shared 0x80, which thread (32,0,0) writes in line %u with no barrier between",
        line_of("read_then_write", "ld.shared"), line_of("read_then_write", "ld.shared") + 1);
    assert_string_equal(m->fault.text, wanted);
    machine_free(m);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_report)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
