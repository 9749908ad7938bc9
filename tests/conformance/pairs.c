/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of half-precision pairs and of single halves with every type of result; atomics on
 * vectors of halves. */
#include "conformance.h"

#include <stdio.h>

#include "softfloat.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static const struct {
    const char *text;
    uint32_t holds; /* for these orders */
} comparisons[] = {{"eq", EQUAL}, {"ne", LESS | GREATER}, {"lt", LESS}, {"le", LESS | EQUAL},
    {"gt", GREATER}, {"ge", GREATER | EQUAL}, {"equ", EQUAL | UNORDERED},
    {"neu", LESS | GREATER | UNORDERED}, {"ltu", LESS | UNORDERED},
    {"leu", LESS | EQUAL | UNORDERED}, {"gtu", GREATER | UNORDERED},
    {"geu", GREATER | EQUAL | UNORDERED}, {"num", LESS | EQUAL | GREATER}, {"nan", UNORDERED}};

enum { BF16 = 1, FTZ = 2 };

static int holds(const struct lane_case *lane, uint64_t a, uint64_t b)
{
    const struct format *format = lane->how[1] & BF16 ? &bfloat_format : &half_format;
    double x = value_of_format(format, a), y = value_of_format(format, b);
    double least = lane->how[1] & FTZ ? ldexp(1, format->least) : 0;
    uint32_t order;

    x = fabs(x) < least ? 0 : x;
    y = fabs(y) < least ? 0 : y;
    order = x < y ? LESS : x > y ? GREATER : x == y ? EQUAL : UNORDERED;
    return (lane->how[0] & order) != 0;
}

/* how: orders, flags, combination with the predicate q (and, or, xor), the value of true */
static int combined(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    int result = holds(lane, a, b), q = (int)(c & 1);

    switch (lane->how[2]) {
    case 1:
        return result && q;
    case 2:
        return result || q;
    case 3:
        return result != q;
    default:
        return result;
    }
}

static uint64_t single(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    return combined(lane, a & 0xffff, b & 0xffff, c) ? lane->how[3] : 0;
}

/* Of the pairs {ha, hb} and {hb, hc}. */
static uint64_t pair(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low = combined(lane, a & 0xffff, b & 0xffff, c) ? lane->how[3] : 0;
    uint64_t high = combined(lane, b & 0xffff, c & 0xffff, c) ? lane->how[3] : 0;

    return low | high << 16;
}

#define PAIRS "{.reg .b32 x, y; mov.b32 x, {ha, hb}; mov.b32 y, {hb, hc}; "

static void add_one(size_t comparison, uint32_t flags, uint32_t how)
{
    static const char *const booleans[] = {"", ".and", ".or", ".xor"};
    const char *type = flags & BF16 ? "bf16" : "f16", *third = how ? ", q" : "";
    uint32_t one = flags & BF16 ? 0x3f80 : 0x3c00;
    char head[40], name[80], body[400];
    const struct {
        const char *to;
        enum result result;
        uint32_t yes;
    } singles[] = {{type, R16, one}, {"u16", R16, 0xffff}, {"s16", R16, 0xffff},
        {"u32", R32, UINT32_MAX}, {"s32", R32, UINT32_MAX}};
    struct lane_case lane = {body, R32, flags & BF16 ? BFLOATS : HALVES, pair, name,
        {comparisons[comparison].holds, flags, how, 1}, NULL};

    snprintf(head, sizeof(head), "%s%s%s", comparisons[comparison].text, booleans[how],
        flags & FTZ ? ".ftz" : "");
    snprintf(name, sizeof(name), "setp.%s.%sx2", head, type);
    snprintf(body, sizeof(body),
        PAIRS ".reg .pred r, s; %s r|s, x, y%s; selp.b32 d, 1, 0, r; @s or.b32 d, d, 0x10000;}",
        name, third);
    lane_add(&lane);
    for (int bits = 0; bits < 2; bits++) {
        const char *to = bits ? "u32" : flags & BF16 ? "bf16x2" : "f16x2";

        lane.how[3] = bits ? 0xffff : one;
        snprintf(name, sizeof(name), "set.%s.%s.%sx2", head, to, type);
        snprintf(body, sizeof(body), PAIRS "%s d, x, y%s;}", name, third);
        lane_add(&lane);
    }
    lane.answer = single;
    for (size_t i = 0; i < COUNT_OF(singles) && (how == 0 || i == 0); i++) {
        lane.how[3] = singles[i].yes;
        lane.result = singles[i].result;
        snprintf(name, sizeof(name), "set.%s.%s.%s", head, singles[i].to, type);
        snprintf(
            body, sizeof(body), "%s %s, ha, hb%s;", name, lane.result == R16 ? "hd" : "d", third);
        lane_add(&lane);
    }
    if (!(flags & FTZ))
        return;
    lane.result = PREDICATE;
    lane.how[3] = 1;
    snprintf(name, sizeof(name), "setp.%s.%s", head, type);
    snprintf(body, sizeof(body), "%s p, ha, hb%s;", name, third);
    lane_add(&lane);
}

static void add_cases(void)
{
    for (size_t comparison = 0; comparison < COUNT_OF(comparisons); comparison++)
        for (uint32_t flags = 0; flags < (BF16 | FTZ); flags++)
            for (uint32_t how = 0; how < 4; how++)
                if (how == 0 || (comparison == 2 && flags != FTZ))
                    add_one(comparison, flags, how);
}

/* Small whole numbers, whose sums are exact in every order; the elements of eight threads each. */
static const char source[] =
    "typedef unsigned int u32;\n"
    "#define K extern \"C\" __global__ void\n"
    "__device__ u32 f16(int v) { unsigned short h; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(h) : "
    "\"f\"((float)v)); return h; }\n"
    "__device__ u32 bf16(int v) { unsigned short h; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : "
    "\"f\"((float)v)); return h; }\n"
    "#define V(i) (int)(in[threadIdx.x * 8 + (i)] % 7) - 3\n"
    "#define P(f, i) (f(V(2 * (i))) | f(V(2 * (i) + 1)) << 16)\n"
    "K vectors(const u32 *in, u32 *out, u32 n) { u32 d0, d1, d2, d3; float f0, f1;\n"
    "  asm volatile(\"red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};\" :: \"l\"(out), "
    "\"r\"(P(f16, 0)), \"r\"(P(f16, 1)), \"r\"(P(f16, 2)), \"r\"(P(f16, 3)) : \"memory\");\n"
    "  asm volatile(\"atom.global.max.noftz.v4.bf16x2 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};\" "
    ": \"=r\"(d0), \"=r\"(d1), \"=r\"(d2), \"=r\"(d3) : \"l\"(out + 4), \"r\"(P(bf16, 0)), "
    "\"r\"(P(bf16, 1)), \"r\"(P(bf16, 2)), \"r\"(P(bf16, 3)) : \"memory\");\n"
    "  asm volatile(\"red.global.min.noftz.v2.f16x2 [%0], {%1, %2};\" :: \"l\"(out + 8), "
    "\"r\"(P(f16, 0)), \"r\"(P(f16, 1)) : \"memory\");\n"
    "  asm volatile(\"{.reg .b16 h<8>; mov.b32 {h0, h1}, %1; mov.b32 {h2, h3}, %2; mov.b32 {h4, "
    "h5}, %3; mov.b32 {h6, h7}, %4; red.global.add.noftz.v8.bf16 [%0], {h0, h1, h2, h3, h4, h5, "
    "h6, h7};}\" :: \"l\"(out + 12), \"r\"(P(bf16, 0)), \"r\"(P(bf16, 1)), \"r\"(P(bf16, 2)), "
    "\"r\"(P(bf16, 3)) : \"memory\");\n"
    "  asm volatile(\"atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};\" : \"=f\"(f0), \"=f\"(f1) "
    ": \"l\"(out + 16), \"f\"((float)(V(0))), \"f\"((float)(V(1))) : \"memory\");\n"
    "  asm volatile(\"{.reg .b32 d; atom.add.noftz.bf16x2 d, [%0], %1; atom.add.noftz.f16x2 d, "
    "[%0 + 4], %2;}\" :: \"l\"(out + 18), \"r\"(P(bf16, 0)), \"r\"(P(f16, 0)) : \"memory\"); }\n";

static void vectors(const struct program_case *p, const u32 *in, u32 *out)
{
    double sum[8] = {0}, most[8] = {0}, least[8] = {0};
    const struct format *h = &half_format, *b = &bfloat_format;

    for (u32 i = 0; i < p->in_words; i++) {
        double v = (int)(in[i] % 7) - 3;

        sum[i % 8] += v;
        most[i % 8] = fmax(most[i % 8], v);
        least[i % 8] = fmin(least[i % 8], v);
    }
#define WORD(f, values, i)                                                                         \
    (u32)(bits_of_format(f, (values)[2 * (i)], RN) | bits_of_format(f, (values)[2 * (i) + 1], RN)  \
                                                         << 16)
    for (int i = 0; i < 4; i++) {
        out[i] = WORD(h, sum, i);
        out[4 + i] = WORD(b, most, i);
        out[12 + i] = WORD(b, sum, i);
    }
    for (int i = 0; i < 2; i++) {
        out[8 + i] = WORD(h, least, i);
        out[16 + i] = (u32)bits_of_float((float)sum[i]);
    }
    out[18] = WORD(b, sum, 0);
    out[19] = WORD(h, sum, 0);
}

static const struct program_case programs[] = {
    {"vectors", {1, 1, 1}, {40, 1, 1}, 0, 0, 320, 20, vectors},
};

const struct group pairs_group = {
    .name = "pairs",
    .add = add_cases,
    .source = source,
    .programs = programs,
    .program_count = COUNT_OF(programs),
};
