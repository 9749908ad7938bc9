/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction against one C function: the instruction runs in a kernel, one thread for each
 * triple of edge values, and each result must equal that of the function. In the PTX, %a %b %c are
 * the 32-bit inputs and %d the result; %la … %ld are 64 bits wide, %ha … %hd 16 bits; %p is a
 * predicate result, %q the predicate "bit 0 of c".
 */
#ifndef TESTS_SIMULATOR_LANES_H
#define TESTS_SIMULATOR_LANES_H

#include "executor.h"

struct triple {
    uint64_t a, b, c;
};

struct outcome {
    uint64_t d;
    uint64_t p;
};

typedef uint64_t (*lane_answer)(uint64_t a, uint64_t b, uint64_t c);

static const uint64_t edge_values[] = {0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x7fff,
    0x8000, 0xffff, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
    0x100000000, 0x123456789abcdef0, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe,
    0xffffffffffffffff};
enum { EDGES = sizeof(edge_values) / sizeof(edge_values[0]), TRIPLES = EDGES * EDGES * EDGES };

static const char lanes_before[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
    ".reg .b64 %pi, %po, %la, %lb, %lc, %ld, %le;\n.reg .b32 %i, %j, %n, %a, %b, %c, %d, %e;\n"
    ".reg .b16 %ha, %hb, %hc, %hd;\n.reg .pred %p, %q, %out;\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %j, %ntid.x; mul.lo.u32 %i, %i, %j; mov.u32 %j, %tid.x;\n"
    "add.u32 %i, %i, %j; ld.param.u32 %n, [n]; setp.ge.u32 %out, %i, %n; @%out exit;\n"
    "ld.param.u64 %pi, [in]; ld.param.u64 %po, [out];\n"
    "mad.wide.u32 %pi, %i, 24, %pi; mad.wide.u32 %po, %i, 16, %po;\n"
    "ld.global.u64 %la, [%pi]; ld.global.u64 %lb, [%pi+8]; ld.global.u64 %lc, [%pi+16];\n"
    "cvt.u32.u64 %a, %la; cvt.u32.u64 %b, %lb; cvt.u32.u64 %c, %lc;\n"
    "cvt.u16.u64 %ha, %la; cvt.u16.u64 %hb, %lb; cvt.u16.u64 %hc, %lc;\n"
    "and.b32 %j, %c, 1; setp.ne.u32 %q, %j, 0; setp.ne.u32 %p, 0, 0;\n"
    "mov.u64 %ld, 0; mov.u32 %d, 0; mov.u16 %hd, 0;\n";
static const char lanes_after[] =
    "st.global.u64 [%po], %ld; selp.u64 %le, 1, 0, %p; st.global.u64 [%po+8], %le; ret;\n}\n";

/* width: of the result, 16, 32 or 64; 1: the predicate is the result. */
static inline void run_lanes(
    const char *body, unsigned width, const struct triple *in, struct outcome *out, uint32_t count)
{
    struct machine m = {0};
    char text[8192];
    const char *widen = width == 16   ? "cvt.u64.u16 %ld, %hd;\n"
                        : width == 32 ? "cvt.u64.u32 %ld, %d;\n"
                                      : "";
    snprintf(text, sizeof(text), "%s%s\n%s%s", lanes_before, body, widen, lanes_after);
    machine_load(&m, text);
    void *from = machine_alloc(&m, count * sizeof(*in)),
         *to = machine_alloc(&m, count * sizeof(*out));
    memcpy(from, in, count * sizeof(*in));
    struct {
        void *in, *out;
        uint32_t n;
    } parameters = {from, to, count};
    machine_run(&m, "k", (count + 127) / 128, 128, &parameters);
    memcpy(out, to, count * sizeof(*out));
    machine_free(&m);
}

static inline void check_lanes(const char *body, unsigned width, lane_answer answer)
{
    struct triple *in = malloc(TRIPLES * sizeof(*in));
    struct outcome *out = malloc(TRIPLES * sizeof(*out));
    uint32_t n = 0;
    for (int i = 0; i < EDGES; i++)
        for (int j = 0; j < EDGES; j++)
            for (int k = 0; k < EDGES; k++)
                in[n++] = (struct triple){edge_values[i], edge_values[j], edge_values[k]};
    run_lanes(body, width, in, out, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t want = answer(in[i].a, in[i].b, in[i].c), got = width == 1 ? out[i].p : out[i].d;
        want &= width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
        if (got != want)
            fail_msg("%s\na %llx b %llx c %llx: got %llx, want %llx", body,
                (unsigned long long)in[i].a, (unsigned long long)in[i].b,
                (unsigned long long)in[i].c, (unsigned long long)got, (unsigned long long)want);
    }
    free(in);
    free(out);
}

#endif
