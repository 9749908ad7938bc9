/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that wait for the lanes of a mask: late lanes are waited for, and lanes that never
 * arrive are detected and named. Each kernel gets the address of its results; %t is the thread, %l
 * its lane, %r the value that it stores at the end.
 */
#include "executor.h"

#define BEGIN                                                                                      \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                              \
    ".func (.reg .b32 d) swap(.reg .b32 x) {\n"                                                    \
    " .reg .b32 %y; shfl.sync.bfly.b32 %y, x, 16, 31, 0xffffffff; mov.u32 d, %y; ret;\n}\n"        \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    " .reg .b64 %o, %a, %b; .reg .b32 %t, %l, %r, %v, %w, %m, %i, %j; .reg .pred %p, %q, %s;\n"    \
    " ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %o;\n"                   \
    " mov.u32 %l, %laneid; mov.u32 %r, 1000; add.u32 %v, %t, 100; mov.u32 %m, 0xffffffff;\n"       \
    " setp.lt.u32 %p, %l, 16; and.b32 %j, %l, 1; setp.eq.u32 %q, %j, 0;\n"
#define STORE " st.global.u32 [%a], %r;\n ret;\n}\n"
/* An arm that other lanes reach late: after a loop of 300 rounds. */
#define SLOWLY(LABEL)                                                                              \
    " mov.u32 %i, 0;\n" LABEL ": add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 300; @%s bra " LABEL ";\n"

static uint32_t results[256];

static enum sim_fault_kind run(struct machine *m, const char *body, uint32_t threads)
{
    char text[8192];
    memset(m, 0, sizeof(*m));
    snprintf(text, sizeof(text), "%s%s", BEGIN, body);
    machine_load(m, text);
    m->limit = 1000000;
    uint32_t *out = machine_alloc(m, sizeof(results));
    enum sim_fault_kind kind = machine_launch(m, "k", 1, threads, &out);
    memcpy(results, out, sizeof(results));
    if (kind != SIM_FAULT_NONE)
        assert_string_equal(m->fault.kernel, "k");
    machine_free(m);
    return kind;
}

/* The line of a marker in the text that run() makes of a body. */
static unsigned line_of(const char *body, const char *what)
{
    unsigned line = 1;
    const char *at = strstr(body, what);
    assert_non_null(at);
    for (const char *c = BEGIN; *c; c++)
        line += *c == '\n';
    for (const char *c = body; c < at; c++)
        line += *c == '\n';
    return line;
}

static void expect_deadlock(const char *body, uint32_t threads, const char *at, const char *text)
{
    struct machine m;
    enum sim_fault_kind kind = run(&m, body, threads);
    if (kind != SIM_FAULT_SYNC_DEADLOCK || !strstr(m.fault.text, text))
        fail_msg("kind %d: %s\nnot: %s", (int)kind, m.fault.text, text);
    assert_int_equal(m.fault.line, line_of(body, at));
}

static void expect_results(const char *body, uint32_t threads, uint32_t (*want)(uint32_t thread))
{
    struct machine m;
    if (run(&m, body, threads) != SIM_FAULT_NONE)
        fail_msg("%s", m.fault.text);
    for (uint32_t t = 0; t < threads; t++)
        assert_int_equal(results[t], want(t));
}

static uint32_t swapped(uint32_t t)
{
    return (t ^ 16) + 100;
}

/* ---- lanes that never arrive ------------------------------------------------------------------
 */

/* The other half skips the branch and continues. */
static void test_skipped_branch(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra AFTER;\n"
                               " shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffffffff;\n"
                               "AFTER:\n" STORE;
    char past[64];
    snprintf(
        past, sizeof(past), "lanes 16-31, gone past it to line %u", line_of(body, "AFTER:") + 1);
    expect_deadlock(body, 32, "shfl", past);
    expect_deadlock(body, 32, "shfl", "block (0,0,0), thread (0,0,0)");
    expect_deadlock(body, 32, "shfl", "shfl.sync of warp 0 with mask 0xffffffff");
}

/* The code of the branch is placed after the code that follows it: lanes that skip it are first. */
static void test_skipped_branch_behind(void **state)
{
    (void)state;
    static const char body[] = " @%p bra APART;\n"
                               "AFTER: st.global.u32 [%a], %r;\n ret;\n"
                               "APART: shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffffffff;\n"
                               " bra AFTER;\n}\n";
    expect_deadlock(body, 32, "APART:", "waits for lanes 16-31, gone past it");
}

/* The same with lanes that have exited when the others diverge again. */
static void test_ended_behind_the_join(void **state)
{
    (void)state;
    static const char body[] = " @%p bra APART;\n"
                               "AFTER: st.global.u32 [%a], %r;\n ret;\n"
                               "APART: @!%q bra ON;\n bar.warp.sync 0x5555;\n"
                               "ON: shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffffffff;\n"
                               " bra AFTER;\n}\n";
    expect_deadlock(body, 32, "ON:", "waits for lanes 16-31, gone past it");
}

static void test_second_warp(void **state)
{
    (void)state;
    static const char body[] = " setp.ne.u32 %p, %t, 40; @!%p bra AFTER;\n"
                               " vote.sync.any.pred %q, %p, 0xffffffff; selp.u32 %r, 1, 0, %q;\n"
                               "AFTER:\n" STORE;
    expect_deadlock(body, 64, "vote", "vote.sync of warp 1 with mask 0xffffffff waits for lane 8,");
    expect_deadlock(body, 64, "vote", "thread (32,0,0)");
}

static void test_every_operation(void **state)
{
    (void)state;
    static const char *const operations[][2] = {
        {"shfl.sync.idx.b32 %r, %v, 0, 31, 0xffff;", "shfl.sync"},
        {"vote.sync.ballot.b32 %r, %p, 0xffff;", "vote.sync"},
        {"vote.sync.all.pred %s, %p, 0xffff;", "vote.sync"},
        {"match.any.sync.b32 %r, %v, 0xffff;", "match.sync"},
        {"match.all.sync.b64 %r|%s, %o, 0xffff;", "match.sync"},
        {"redux.sync.add.u32 %r, %v, 0xffff;", "redux.sync"},
        {"redux.sync.min.s32 %r, %v, 0xffff;", "redux.sync"},
        {"elect.sync %r|%s, 0xffff;", "elect.sync"}, {"bar.warp.sync 0xffff;", "bar.warp.sync"},
        {"mov.u32 %m, 0xffff; bar.warp.sync %m;", "bar.warp.sync"}};
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        char body[1024], text[128];
        snprintf(body, sizeof(body),
            " and.b32 %%j, %%l, 1; setp.eq.u32 %%q, %%j, 0; @%%q bra ON;\n"
            " setp.gt.u32 %%q, %%l, 15; @%%q bra ON;\n %s\nON:\n%s",
            operations[i][0], STORE);
        snprintf(text, sizeof(text),
            ": %s of warp 0 with mask 0x0000ffff waits for lanes 0, 2, 4, 6, 8, 10, 12, 14, gone",
            operations[i][1]);
        expect_deadlock(body, 32, operations[i][0], text);
    }
}

/* Not all runs of lanes fit: then the mask is given. */
static void test_many_lanes(void **state)
{
    (void)state;
    static const char body[] = " @%q bra ON;\n bar.warp.sync 0xffffffff;\nON:\n" STORE;
    expect_deadlock(body, 32, "bar.warp", "waits for lanes 0x55555555, gone past it");
}

static void test_nested_divergence(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra OUTER;\n @!%q bra INNER;\n"
                               " shfl.sync.bfly.b32 %r, %v, 2, 31, 0xffff;\n"
                               "INNER: add.u32 %r, %r, 1;\n"
                               "OUTER:\n" STORE;
    expect_deadlock(body, 32, "shfl", "waits for lanes 1, 3, 5, 7, 9, 11, 13, 15, gone");
    /* Of two that skip, those at the inner join are distinguished. */
    static const char full[] = " @!%p bra OUTER;\n @!%q bra INNER;\n bar.warp.sync 0xffffffff;\n"
                               "INNER: add.u32 %r, %r, 1;\nOUTER:\n" STORE;
    expect_deadlock(full, 32, "bar.warp", "waits for lanes 1, 3, 5, 7, 9, 11, 13, 15, gone");
}

/* Half of the lanes leave the loop earlier and have work after it. */
static void test_loop_left_early(void **state)
{
    (void)state;
    static const char body[] = " mov.u32 %i, 0; selp.u32 %w, 3, 5, %p;\n"
                               "AGAIN: shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffffffff;\n"
                               " add.u32 %i, %i, 1; setp.lt.u32 %s, %i, %w; @%s bra AGAIN;\n" STORE;
    expect_deadlock(body, 32, "shfl", "waits for lanes 0-15, gone past it");
}

/* Lanes that skip the operation in one iteration reach it in the next one: on a GPU they do not get
 * that far. */
static void test_skip_in_a_loop(void **state)
{
    (void)state;
    static const char body[] =
        " mov.u32 %i, 0;\n"
        "AGAIN: add.u32 %j, %i, %l; and.b32 %j, %j, 1;\n"
        " setp.eq.u32 %q, %j, 0; @%q bra NEXT;\n"
        " bar.warp.sync 0xffffffff;\n"
        "NEXT: add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 4; @%s bra AGAIN;\n ret;\n}\n";
    expect_deadlock(body, 32, "bar.warp", "waits for lanes 0x55555555, gone past it");
}

static void test_skipped_call(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra AFTER;\n call (%r), swap, (%v);\nAFTER:\n" STORE;
    struct machine m;
    assert_int_equal(run(&m, body, 32), SIM_FAULT_SYNC_DEADLOCK);
    assert_int_equal(m.fault.line, 5);
    assert_non_null(strstr(m.fault.text, "waits for lanes 16-31, gone past it"));
}

static void test_skipped_by_index(void **state)
{
    (void)state;
    static const char body[] = " and.b32 %i, %l, 3;\n"
                               "TO: .branchtargets A, B, C, A;\n brx.idx %i, TO;\n"
                               "A: add.u32 %r, %r, 1; bra AFTER;\n"
                               "B: add.u32 %r, %r, 2; bra AFTER;\n"
                               "C: redux.sync.add.u32 %r, %v, 0xffffffff;\n"
                               "AFTER:\n" STORE;
    expect_deadlock(body, 8, "C: redux", "waits for lanes 0-1, 3-5, 7, gone past it");
}

static void test_guarded(void **state)
{
    (void)state;
    static const char body[] = " @%p shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffffffff;\n" STORE;
    expect_deadlock(body, 32, "@%p shfl", "waits for lanes 16-31, gone past it");
}

/* ---- lanes that wait elsewhere --------------------------------------------------------------- */

static void test_other_operation(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra OTHER;\n bar.warp.sync 0xffffffff;\n bra AFTER;\n"
                               "OTHER: vote.sync.any.pred %q, %p, 0xffffffff;\nAFTER:\n" STORE;
    char text[96];
    snprintf(text, sizeof(text),
        "bar.warp.sync of warp 0 with mask 0xffffffff waits for lanes "
        "16-31, waiting at line %u",
        line_of(body, "OTHER:"));
    expect_deadlock(body, 32, "bar.warp", text);
}

static void test_other_qualifier(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra OTHER;\n shfl.sync.up.b32 %r, %v, 1, 0, 0xffffffff;\n"
                               " bra AFTER;\nOTHER: shfl.sync.down.b32 %r, %v, 1, 31, 0xffffffff;\n"
                               "AFTER:\n" STORE;
    expect_deadlock(body, 32, "shfl.sync.up", "waits for lanes 16-31, waiting at line");
}

static void test_other_mask(void **state)
{
    (void)state;
    static const char body[] = " selp.u32 %m, 0xffff, 0xffffffff, %p; bar.warp.sync %m;\n"
                               " vote.sync.any.pred %q, %p, 0xffffffff;\n" STORE;
    expect_deadlock(body, 32, "selp", "with mask 0xffffffff waits for lanes 0-15, waiting at line");
}

static void test_barrier_of_the_block(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra OTHER;\n bar.warp.sync 0xffffffff;\n bra AFTER;\n"
                               "OTHER: barrier.sync 0;\nAFTER:\n" STORE;
    char text[64];
    snprintf(
        text, sizeof(text), "waits for lanes 16-31, waiting at line %u", line_of(body, "OTHER:"));
    expect_deadlock(body, 32, "bar.warp", text);
    expect_deadlock(body, 96, "bar.warp", text);
}

static void test_outside_the_mask(void **state)
{
    (void)state;
    struct machine m;
    static const char body[] = " shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffff7fff;\n" STORE;
    assert_int_equal(run(&m, body, 32), SIM_FAULT_SYNC_MASK);
    assert_int_equal(m.fault.thread[0], 15);
    assert_int_equal(m.fault.line, line_of(body, "shfl"));
    assert_non_null(strstr(m.fault.text, "lane outside its own member mask in kernel k"));
}

/* ---- lanes that arrive late -------------------------------------------------------------------
 */

static void test_late_arrival(void **state)
{
    (void)state;
    static const char body[] = " @%p bra FAST;\n" SLOWLY(
        "ROUND") "FAST: shfl.sync.bfly.b32 %r, %v, 16, 31, 0xffffffff;\n" STORE;
    expect_results(body, 64, swapped);
    /* Those who come late come from behind. */
    static const char behind[] = " @!%p bra SLOW;\n"
                                 "FAST: shfl.sync.bfly.b32 %r, %v, 16, 31, 0xffffffff;\n"
                                 " st.global.u32 [%a], %r;\n ret;\n"
                                 "SLOW:\n" SLOWLY("ROUND") " bra FAST;\n}\n";
    expect_results(behind, 64, swapped);
}

/* The lanes of each branch have an instruction of their own; qualifiers and mask are the same. */
static void test_two_places(void **state)
{
    (void)state;
    static const char body[] = " @!%p bra OTHER;\n shfl.sync.bfly.b32 %r, %v, 16, 31, 0xffffffff;\n"
                               " bra AFTER;\n"
                               "OTHER: add.u32 %w, %v, 0; shfl.sync.bfly.b32 %r, %w, 16, 31, %m;\n"
                               "AFTER:\n" STORE;
    expect_results(body, 64, swapped);
    static const char called[] = " @!%p bra OTHER;\n call (%r), swap, (%v);\n bra AFTER;\n"
                                 "OTHER: shfl.sync.bfly.b32 %r, %v, 16, 31, 0xffffffff;\n"
                                 "AFTER:\n" STORE;
    expect_results(called, 64, swapped);
}

static uint32_t votes(uint32_t t)
{
    return 0x0000ff00 + (t % 32 < 16);
}

static uint32_t sums(uint32_t t)
{
    (void)t;
    return 16 * 1 + 16 * 1000;
}

static uint32_t matches(uint32_t t)
{
    return t & 1 ? 0xaaaaaaaa : 0x55555555;
}

static void test_two_places_of_each(void **state)
{
    (void)state;
    expect_results(
        " sub.u32 %w, %l, 8; setp.lt.u32 %q, %w, 8; @!%p bra OTHER;\n"
        " vote.sync.ballot.b32 %r, %q, %m; add.u32 %r, %r, 1; bra AFTER;\n"
        "OTHER: setp.eq.u32 %s, %l, 99; vote.sync.ballot.b32 %r, %s, %m;\nAFTER:\n" STORE,
        32, votes);
    expect_results(" @!%p bra OTHER;\n redux.sync.add.u32 %r, 1, %m; bra AFTER;\n"
                   "OTHER: redux.sync.add.u32 %r, 1000, %m;\nAFTER:\n" STORE,
        32, sums);
    expect_results(" cvt.u64.u32 %b, %j; add.u64 %b, %b, 0x100000000; @!%p bra OTHER;\n"
                   " match.any.sync.b64 %r, %b, %m; bra AFTER;\n"
                   "OTHER: match.any.sync.b64 %r, %b, %m;\nAFTER:\n" STORE,
        32, matches);
    expect_results(
        " @!%p bra OTHER;\n bar.warp.sync %m; bra AFTER;\n"
        "OTHER: bar.warp.sync %m;\nAFTER: shfl.sync.bfly.b32 %r, %v, 16, 31, %m;\n" STORE,
        64, swapped);
}

static uint32_t neighbour(uint32_t t)
{
    return (t ^ 1) + 100;
}

/* Masks of parts of the warp: each part waits for itself only, together or apart. */
static void test_parts(void **state)
{
    (void)state;
    static const char together[] = " selp.u32 %m, 0xffff, 0xffff0000, %p;\n"
                                   " shfl.sync.bfly.b32 %r, %v, 1, 31, %m;\n" STORE;
    expect_results(together, 64, neighbour);
    static const char in_branch[] =
        " @!%p bra OTHER;\n"
        " shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffff;\n bra AFTER;\n"
        "OTHER:\n" SLOWLY("ROUND") " shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffff0000;\nAFTER:\n" STORE;
    expect_results(in_branch, 64, neighbour);
    /* A quarter comes late, the other half does not wait for it. */
    static const char quarter[] =
        " selp.u32 %m, 0xffff, 0xffff0000, %p; setp.lt.u32 %q, %l, 8;\n"
        " @!%q bra ON;\n" SLOWLY("ROUND") "ON: shfl.sync.bfly.b32 %r, %v, 1, 31, %m;\n" STORE;
    expect_results(quarter, 64, neighbour);
    /* Lanes whose guard is false are in no mask. */
    static const char guarded[] = " xor.b32 %w, %t, 1; add.u32 %r, %w, 100;\n"
                                  " @%p shfl.sync.bfly.b32 %r, %v, 1, 31, 0xffff;\n" STORE;
    expect_results(guarded, 64, neighbour);
    static const char active[] = " xor.b32 %w, %t, 1; add.u32 %r, %w, 100; @!%p bra AFTER;\n"
                                 " activemask.b32 %m; shfl.sync.bfly.b32 %r, %v, 1, 31, %m;\n"
                                 "AFTER:\n" STORE;
    expect_results(active, 64, neighbour);
}

/* A lane that waits after a join for lanes that have yet to reach it is not reported. */
static void test_waiting_behind_a_join(void **state)
{
    (void)state;
    static const char body[] =
        " setp.lt.u32 %s, %l, 8; @!%s bra APART;\n"
        "AFTER: selp.u32 %m, 0xffff, 0xffff0000, %p;\n"
        " shfl.sync.bfly.b32 %r, %v, 8, 31, %m;\n"
        " xor.b32 %r, %r, 24; st.global.u32 [%a], %r;\n ret;\n"
        "APART: @%p bra AFTER;\n bar.warp.sync 0xffff0000;\n" SLOWLY("ROUND") " bra AFTER;\n}\n";
    struct machine m;
    if (run(&m, body, 32) != SIM_FAULT_NONE)
        fail_msg("%s", m.fault.text);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(results[t], ((t ^ 8) + 100) ^ 24);
}

static uint32_t nested(uint32_t t)
{
    uint32_t lane = t % 32;
    return lane < 16 ? (t ^ 2) + 100 : lane % 2 ? 1000 : (t ^ 16) + 100 + 1000;
}

/* Lanes diverge twice and reach one operation on three paths. */
static void test_nested_arrival(void **state)
{
    (void)state;
    static const char body[] =
        " mov.u32 %w, 2; @%p bra MEET;\n mov.u32 %w, 16; @%q bra MEET;\n" SLOWLY(
            "ROUND") " mov.u32 %w, 0;\n"
                     "MEET: shfl.sync.idx.b32 %j, %v, 0, 31, 0xffffffff;\n"
                     " xor.b32 %w, %w, %l;\n"
                     " shfl.sync.idx.b32 %r, %v, %w, 31, 0xffffffff;\n"
                     " @%p bra AFTER;\n @%q bra EVEN;\n mov.u32 %r, 1000;\n bra AFTER;\n"
                     "EVEN: add.u32 %r, %r, 1000;\nAFTER:\n" STORE;
    expect_results(body, 64, nested);
}

static uint32_t rounds(uint32_t t)
{
    return t % 32;
}

/* A lane gives way to the next, which waits for it: they go through one operation in turn. */
static void test_turns_in_a_loop(void **state)
{
    (void)state;
    static const char body[] = " mov.u32 %i, 0; mov.u32 %r, 0;\n"
                               "AGAIN: setp.ge.u32 %s, %i, %l; @%s bra ON;\n add.u32 %r, %r, 1;\n"
                               "ON: bar.warp.sync 0xffffffff;\n"
                               " add.u32 %i, %i, 1; setp.lt.u32 %s, %i, 32; @%s bra AGAIN;\n" STORE;
    expect_results(body, 64, rounds);
}

/* ---- lanes that have ended ------------------------------------------------------------------- */

static uint32_t of_those_left(uint32_t t)
{
    uint32_t lane = t % 32;
    return lane < 16 ? 0 : 0xffff0000;
}

/* Who has ended is not waited for: before, meanwhile, and never there. */
static void test_ended_lanes(void **state)
{
    (void)state;
    expect_results(
        " @%p exit;\n vote.sync.ballot.b32 %r, 1, 0xffffffff;\n" STORE, 64, of_those_left);
    expect_results(" @%p bra OUT;\n vote.sync.ballot.b32 %r, 1, 0xffffffff;\n"
                   " st.global.u32 [%a], %r;\nOUT: ret;\n}\n",
        64, of_those_left);
    /* They do something first, behind or before the others. */
    expect_results(" @%p bra OUT;\n bar.warp.sync 0xffffffff;\n"
                   " vote.sync.ballot.b32 %r, 1, 0xffffffff;\n st.global.u32 [%a], %r;\n ret;\n"
                   "OUT:\n" SLOWLY("ROUND") " mov.u32 %r, 0; st.global.u32 [%a], %r; ret;\n}\n",
        64, of_those_left);
    expect_results(" @!%p bra OTHER;\n" SLOWLY(
                       "ROUND") " mov.u32 %r, 0; st.global.u32 [%a], %r; ret;\n"
                                "OTHER: vote.sync.ballot.b32 %r, 1, 0xffffffff;\n" STORE,
        64, of_those_left);
}

static uint32_t all_of_a_part(uint32_t t)
{
    return t < 32 ? 0xffffffff : 0xff;
}

/* They end behind a join that the others pass too before they ask for them. */
static void test_ended_behind_a_passed_join(void **state)
{
    (void)state;
    struct machine m;
    static const char body[] = " @%p bra APART;\n"
                               "AFTER: mov.u32 %r, 0; @!%p bra OUT;\n"
                               " vote.sync.ballot.b32 %r, 1, 0xffffffff;\n"
                               " st.global.u32 [%a], %r;\n ret;\n"
                               "OUT: st.global.u32 [%a], %r;\n ret;\n"
                               "APART: bar.warp.sync 0xffff;\n bra AFTER;\n}\n";
    if (run(&m, body, 32) != SIM_FAULT_NONE)
        fail_msg("%s", m.fault.text);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(results[t], t < 16 ? 0xffff : 0);
}

static void test_short_warp(void **state)
{
    (void)state;
    expect_results(" vote.sync.ballot.b32 %r, 1, 0xffffffff;\n" STORE, 40, all_of_a_part);
    expect_results(" bar.warp.sync 0xffffffff; setp.lt.u32 %q, %l, 4; @%q bra FAST;\n" SLOWLY(
                       "ROUND") "FAST: vote.sync.ballot.b32 %r, 1, 0xffffffff;\n" STORE,
        40, all_of_a_part);
}

/* A loop that lanes leave to end: those who stay wait for nobody who has left. */
static uint32_t last_vote(uint32_t t)
{
    return ~0u << (t % 32);
}

static void test_leaving_a_loop_to_end(void **state)
{
    (void)state;
    static const char body[] = " mov.u32 %i, 0;\n"
                               "AGAIN: vote.sync.ballot.b32 %r, 1, 0xffffffff;\n"
                               " st.global.u32 [%a], %r; add.u32 %i, %i, 1;\n"
                               " setp.le.u32 %s, %i, %l; @%s bra AGAIN;\n ret;\n}\n";
    expect_results(body, 64, last_vote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skipped_branch),
        cmocka_unit_test(test_skipped_branch_behind),
        cmocka_unit_test(test_ended_behind_the_join),
        cmocka_unit_test(test_second_warp),
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_many_lanes),
        cmocka_unit_test(test_nested_divergence),
        cmocka_unit_test(test_loop_left_early),
        cmocka_unit_test(test_skip_in_a_loop),
        cmocka_unit_test(test_skipped_call),
        cmocka_unit_test(test_skipped_by_index),
        cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_other_operation),
        cmocka_unit_test(test_other_qualifier),
        cmocka_unit_test(test_other_mask),
        cmocka_unit_test(test_barrier_of_the_block),
        cmocka_unit_test(test_outside_the_mask),
        cmocka_unit_test(test_late_arrival),
        cmocka_unit_test(test_two_places),
        cmocka_unit_test(test_two_places_of_each),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_waiting_behind_a_join),
        cmocka_unit_test(test_nested_arrival),
        cmocka_unit_test(test_turns_in_a_loop),
        cmocka_unit_test(test_ended_lanes),
        cmocka_unit_test(test_ended_behind_a_passed_join),
        cmocka_unit_test(test_short_warp),
        cmocka_unit_test(test_leaving_a_loop_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
