/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check for data races in shared and global memory: kernels with a race, and the same ones
 * where a barrier, an atomic or a flag orders the accesses.
 */
#include "executor.h"

#define BEGIN(name)                                                                                \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                               \
    ".reg .b32 %t,%own,%base,%v,%w,%x; .reg .pred %p; .reg .b64 %o,%g,%h;\n"                       \
    ".shared .align 8 .b8 words[1024]; .shared .align 4 .b32 flag;\n"                              \
    "mov.u32 %t, %tid.x; mov.u32 %base, words; mad.lo.s32 %own, %t, 4, %base;\n"                   \
    "ld.param.u64 %o, [out];\n"
/* A word of each thread. */
#define END                                                                                        \
    "mov.u32 %v, %ctaid.x; mad.lo.u32 %v, %v, 96, %t; mul.wide.u32 %g, %v, 4;\n"                   \
    "add.u64 %g, %g, %o; st.global.u32 [%g+64], %x;\nret;\n}\n"
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
    BEGIN("read_shuffle_write") OTHER(1) READ
        "shfl.sync.idx.b32 %x, %x, 0, 31, 0xffffffff;\n" WRITE END
    BEGIN("read_write_of_lanes") OTHER(1) READ WRITE END
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

/* In global memory: %own is a word of each thread of the grid, %flag is behind them all; block and
 * thread numbers are in %b and %t. */
#define BEGIN_GLOBAL(name)                                                                         \
    ".visible .entry " name "(.param .u64 words)\n{\n"                                             \
    ".reg .b32 %t,%b,%n,%i,%v,%x; .reg .pred %p; .reg .b64 %m,%own,%flag,%g;\n"                    \
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;\n"                             \
    "ld.param.u64 %m, [words]; mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %own, %i, 4;\n"             \
    "add.u64 %own, %m, %own; add.u64 %flag, %m, 4000;\n"
#define END_GLOBAL "ret;\n}\n"
#define WRITE_OWN "st.global.u32 [%own], %i;\n"
#define READ_FIRST "ld.global.u32 %x, [%m];\n"
#define BLOCK_0 "setp.ne.u32 %p, %b, 0; @%p bra end;\n"
#define BLOCK_1 "setp.ne.u32 %p, %b, 1; @%p bra end;\n"
#define ONE_THREAD "setp.ne.u32 %p, %t, 0; @%p bra end;\n"
/* Block 1 continues when thread 0 of block 0 has set the flag. */
#define HAND_OVER(fence, store, load)                                                              \
    "setp.eq.u32 %p, %b, 1; @%p bra consumer; setp.ne.u32 %p, %b, 0; @%p bra end;\n"               \
    WRITE_OWN fence "bar.sync 0;\n" ONE_THREAD "mov.u32 %v, 1;\n" store "bra end;\n"             \
    "consumer: setp.ne.u32 %p, %t, 0; @%p bra wait;\n"                                             \
    "spin: " load "setp.eq.u32 %p, %v, 0; @%p bra spin;\n" "wait: bar.sync 0;\n"

/* clang-format off */
static const char global_source[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
    BEGIN_GLOBAL("own_words") WRITE_OWN "ld.global.u32 %x, [%own];\n" WRITE_OWN END_GLOBAL
    BEGIN_GLOBAL("read_of_other_block") WRITE_OWN BLOCK_1 READ_FIRST "end:\n" END_GLOBAL
    BEGIN_GLOBAL("both_write") "st.global.u32 [%m], %b;\n" END_GLOBAL
    BEGIN_GLOBAL("only_reads") READ_FIRST END_GLOBAL
    BEGIN_GLOBAL("read_then_written") BLOCK_0 READ_FIRST
        "end: setp.ne.u32 %p, %b, 1; @%p bra out; st.global.u32 [%m], %b;\nout:\n" END_GLOBAL
    BEGIN_GLOBAL("barrier") "bar.sync 0;\n" "st.global.u32 [%m], %b;\nbar.sync 0;\n" END_GLOBAL
    BEGIN_GLOBAL("bytes") "cvt.u64.u32 %g, %i; add.u64 %g, %m, %g; st.global.u8 [%g], %t;\n" END_GLOBAL
    BEGIN_GLOBAL("byte_of_a_word") "cvt.u64.u32 %g, %b; add.u64 %g, %m, %g; st.global.u8 [%g], %b;\n"
        BLOCK_1 READ_FIRST "end:\n" END_GLOBAL
    BEGIN_GLOBAL("halves") "mul.wide.u32 %g, %i, 2; add.u64 %g, %m, %g; st.global.u16 [%g], %t;\n"
        "and.b32 %v, %i, 1; setp.ne.u32 %p, %v, 0; @%p bra end;\n"
        "ld.global.u32 %x, [%g];\nend:\n" END_GLOBAL
    BEGIN_GLOBAL("vector") "mul.wide.u32 %g, %i, 16; add.u64 %g, %m, %g;\n"
        "st.global.v4.u32 [%g], {%t,%t,%t,%t};\n" END_GLOBAL
    BEGIN_GLOBAL("vectors_overlap") "mul.wide.u32 %g, %b, 8; add.u64 %g, %m, %g;\n" ONE_THREAD
        "and.b64 %g, %g, -16; st.global.v4.u32 [%g], {%t,%t,%t,%t};\nend:\n" END_GLOBAL
    BEGIN_GLOBAL("generic") "st.u32 [%m], %b;\n" END_GLOBAL
    BEGIN_GLOBAL("atomics") "red.global.add.u32 [%m], 1;\n" END_GLOBAL
    BEGIN_GLOBAL("plain_beside_atomics") "setp.eq.u32 %p, %b, 0; @%p red.global.add.u32 [%m], 1;\n"
        BLOCK_1 READ_FIRST "end:\n"
        END_GLOBAL
    /* Each block adds to a counter; the last one reads what all have written. */
    BEGIN_GLOBAL("last_block") ".shared .b32 count;\n" WRITE_OWN "membar.gl; bar.sync 0;\n"
        "setp.ne.u32 %p, %t, 0; @%p bra told; atom.global.add.u32 %v, [%flag], 1;\n"
        "st.shared.u32 [count], %v;\ntold: bar.sync 0; ld.shared.u32 %v, [count];\n"
        "mov.u32 %x, %nctaid.x; sub.u32 %x, %x, 1; setp.ne.u32 %p, %v, %x; @%p bra end;\n"
        "mul.wide.u32 %g, %t, 4; add.u64 %g, %m, %g; ld.global.u32 %x, [%g];\nend:\n" END_GLOBAL
    BEGIN_GLOBAL("count_without_atomic") ".shared .b32 count;\n" WRITE_OWN "membar.gl; bar.sync 0;\n"
        ONE_THREAD "ld.global.u32 %v, [%flag]; add.u32 %v, %v, 1; st.global.u32 [%flag], %v;\nend:\n"
        END_GLOBAL
    BEGIN_GLOBAL("flag") HAND_OVER("membar.gl;\n", "st.volatile.global.u32 [%flag], %v;\n",
        "ld.volatile.global.u32 %v, [%flag];\n") READ_FIRST "end:\n" END_GLOBAL
    BEGIN_GLOBAL("release") HAND_OVER("", "st.release.gpu.global.u32 [%flag], %v;\n",
        "ld.acquire.gpu.global.u32 %v, [%flag];\n") READ_FIRST "end:\n" END_GLOBAL
    BEGIN_GLOBAL("atomic_flag") HAND_OVER("membar.gl;\n", "atom.global.exch.b32 %x, [%flag], %v;\n",
        "atom.global.or.b32 %v, [%flag], 0;\n") READ_FIRST "end:\n" END_GLOBAL
    /* What the first block writes after the flag is not passed on. */
    BEGIN_GLOBAL("written_after_flag") HAND_OVER("membar.gl;\n",
        "st.volatile.global.u32 [%flag], %v;\nst.global.u32 [%m], 7;\n",
        "ld.volatile.global.u32 %v, [%flag];\n") "st.global.u32 [%m], 9;\nend:\n" END_GLOBAL
    BEGIN_GLOBAL("many_flags") "mov.u32 %v, 0;\nagain: red.global.add.u32 [%flag], 1;\n"
        "add.u32 %v, %v, 1; setp.lo.u32 %p, %v, 70000; @%p bra again;\n" WRITE_OWN
        "red.global.add.u32 [%flag], 1;\n" END_GLOBAL
    ;
/* clang-format on */

static const struct {
    const char *kernel;
    uint32_t blocks, threads;
    bool has_race;
} global_cases[] = {{"own_words", 4, 64, false}, {"read_of_other_block", 2, 32, true},
    {"read_of_other_block", 1, 64, false}, {"both_write", 2, 32, true},
    {"both_write", 1, 32, false}, {"both_write", 1, 64, true}, {"only_reads", 4, 64, false},
    {"read_then_written", 2, 32, true}, {"barrier", 1, 32, false}, {"barrier", 2, 32, true},
    {"bytes", 5, 37, false}, {"byte_of_a_word", 2, 1, true}, {"byte_of_a_word", 1, 1, false},
    {"halves", 3, 2, true}, {"vector", 3, 32, false}, {"vectors_overlap", 2, 32, true},
    {"vectors_overlap", 1, 32, false}, {"generic", 2, 32, true}, {"atomics", 4, 64, false},
    {"plain_beside_atomics", 2, 32, true}, {"last_block", 8, 64, false},
    {"count_without_atomic", 2, 32, true}, {"count_without_atomic", 1, 64, false},
    {"flag", 2, 64, false}, {"release", 2, 64, false}, {"atomic_flag", 2, 64, false},
    {"written_after_flag", 2, 64, true}, {"many_flags", 2, 1, false}};

static void test_global_cases(void **state)
{
    struct machine *m = calloc(1, sizeof(*m));
    uint32_t *words;

    (void)state;
    assert_non_null(m);
    machine_load(m, global_source);
    words = machine_alloc(m, 4096);
    for (int with = 0; with < 2; with++) {
        if (with)
            assert_true(base_thread_pool_create(3, &m->workers));
        for (size_t i = 0; i < sizeof(global_cases) / sizeof(*global_cases); i++) {
            enum sim_fault_kind kind;

            m->checks = SIM_CHECK_RACES;
            memset(words, 0, 4096);
            kind = machine_launch(
                m, global_cases[i].kernel, global_cases[i].blocks, global_cases[i].threads, &words);
            if (kind != (global_cases[i].has_race ? SIM_FAULT_RACE : SIM_FAULT_NONE))
                fail_msg("%s with %u blocks of %u threads: %s", global_cases[i].kernel,
                    global_cases[i].blocks, global_cases[i].threads,
                    kind ? m->fault.text : "no race");
        }
    }
    machine_free(m);
    free(m);
}

static void test_global_report(void **state)
{
    struct machine *m = calloc(1, sizeof(*m));
    uint32_t *words;
    char wanted[400];

    (void)state;
    assert_non_null(m);
    machine_load(m, ".version 7.0\n.target sm_75\n.address_size 64\n.file 1 \"sum.cu\"\n"
                    ".visible .entry sum(.param .u64 out)\n{\n.reg .b64 %m; .reg .b32 %b;\n"
                    "ld.param.u64 %m, [out];\nmov.u32 %b, %ctaid.x;\n"
                    ".loc 1 20 0\nst.global.u32 [%m+8], %b;\nret;\n}\n");
    words = machine_alloc(m, 64);
    m->checks = SIM_CHECK_RACES;
    assert_int_equal(machine_launch(m, "sum", 2, 1, &words), SIM_FAULT_RACE);
    assert_int_equal(m->fault.space, SIM_SPACE_GLOBAL);
    assert_int_equal(m->fault.source_line, 20);
    snprintf(wanted, sizeof(wanted),
        "data race in kernel sum, block (1,0,0), thread (0,0,0), PTX line 11 (sum.cu:20), write of "
        "4 bytes at global 0x%llx, which block (0,0,0), thread (0,0,0) writes in line 11 "
        "(sum.cu:20) with no order between",
        (unsigned long long)(uintptr_t)(words + 2));
    assert_string_equal(m->fault.text, wanted);
    machine_free(m);
    free(m);
}

static const struct {
    const char *kernel;
    uint32_t threads;
    bool has_race;
} cases[] = {{"no_barrier", 64, true}, {"barrier", 64, false}, {"read_then_write", 64, true},
    {"read_barrier_write", 64, false}, {"only_reads", 64, false},
    {"broadcast_then_write", 64, true}, {"both_write", 64, true}, {"both_write", 32, false},
    {"generic", 64, true}, {"generic", 32, false}, {"bytes", 64, false}, {"word_of_bytes", 4, true},
    {"vector", 64, true}, {"no_warp_barrier", 32, true}, {"warp_barrier", 32, false},
    {"shuffle_only", 32, true}, {"read_shuffle_write", 32, false},
    {"read_write_of_lanes", 32, true}, {"one_operation", 32, false}, {"own_words", 96, false},
    {"named", 64, false}, {"named", 96, false}, {"outsider", 96, true}, {"arrive", 64, false},
    {"write_after_arrive", 64, true}, {"atomics", 96, false}, {"read_of_atomic", 64, true},
    {"flag", 64, false}, {"plain_flag", 64, true}, {"flag_in_global", 64, false}};

enum { OUT_BYTES = 64 + 2 * 96 * 4 };

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
    uint32_t *out = machine_alloc(m, OUT_BYTES);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        enum sim_fault_kind kind;

        m->checks = SIM_CHECK_RACES;
        memset(out, 0, OUT_BYTES);
        kind = machine_launch(m, cases[i].kernel, 2, cases[i].threads, &out);
        if (kind != (cases[i].has_race ? SIM_FAULT_RACE : SIM_FAULT_NONE))
            fail_msg("%s with %u threads: %s", cases[i].kernel, cases[i].threads,
                kind ? m->fault.text : "no race");
        m->checks = 0;
        memset(out, 0, OUT_BYTES);
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
    uint32_t *out = machine_alloc(m, OUT_BYTES);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_report),
        cmocka_unit_test(test_global_cases), cmocka_unit_test(test_global_report)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
