/* SPDX-License-Identifier: Apache-2.0 */
/* setp and set with every comparison and type, also combined with a predicate; selp, slct; logic
 * of predicates; testp, copysign; isspacep is in memory.c. */
#include "conformance.h"

#include <stdio.h>

#include "softfloat.h"

enum comparison { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NAN_ };
enum type { U16, S16, B16, U32, S32, B32, U64, S64, B64, F32, FTZ, F64, F16, BF16, TYPES };
enum { FIRST, AND, OR, XOR };

static const struct {
    const char *text;
    enum comparison comparison;
    enum { ANY, UNSIGNED, FLOATING } of;
} comparisons[] = {{"eq", EQ, ANY}, {"ne", NE, ANY}, {"lt", LT, ANY}, {"le", LE, ANY},
    {"gt", GT, ANY}, {"ge", GE, ANY}, {"lo", LT, UNSIGNED}, {"ls", LE, UNSIGNED},
    {"hi", GT, UNSIGNED}, {"hs", GE, UNSIGNED}, {"equ", EQU, FLOATING}, {"neu", NEU, FLOATING},
    {"ltu", LTU, FLOATING}, {"leu", LEU, FLOATING}, {"gtu", GTU, FLOATING}, {"geu", GEU, FLOATING},
    {"num", NUM, FLOATING}, {"nan", NAN_, FLOATING}};

static const struct {
    const char *text;
    const char *prefix; /* of its registers */
    enum inputs inputs;
} types[] = {{"u16", "h", INTEGERS}, {"s16", "h", INTEGERS}, {"b16", "h", INTEGERS},
    {"u32", "", INTEGERS}, {"s32", "", INTEGERS}, {"b32", "", INTEGERS}, {"u64", "l", INTEGERS},
    {"s64", "l", INTEGERS}, {"b64", "l", INTEGERS}, {"f32", "", FLOATS}, {"ftz.f32", "", FLOATS},
    {"f64", "l", DOUBLES}, {"f16", "h", HALVES}, {"bf16", "h", BFLOATS}};

/* -1, 0, 1, or 2: unordered */
static int order(enum type type, uint64_t a, uint64_t b)
{
#define ORDER(x, y) return (x) < (y) ? -1 : (x) > (y) ? 1 : (x) == (y) ? 0 : 2
    switch (type) {
    case U16:
    case B16:
        ORDER((u16)a, (u16)b);
    case S16:
        ORDER((s16)a, (s16)b);
    case U32:
    case B32:
        ORDER((u32)a, (u32)b);
    case S32:
        ORDER((s32)a, (s32)b);
    case U64:
    case B64:
        ORDER(a, b);
    case S64:
        ORDER((s64)a, (s64)b);
    case F32:
        ORDER(float_of(a), float_of(b));
    case FTZ:
        ORDER(flush(float_of(a)), flush(float_of(b)));
    case F64:
        ORDER(double_of(a), double_of(b));
    case F16:
        ORDER(value_of_format(&half_format, a), value_of_format(&half_format, b));
    default:
        ORDER(value_of_format(&bfloat_format, a), value_of_format(&bfloat_format, b));
    }
#undef ORDER
}

static int holds(enum comparison comparison, int o)
{
    switch (comparison) {
    case EQ:
        return o == 0;
    case NE:
        return o == -1 || o == 1;
    case LT:
        return o == -1;
    case LE:
        return o == -1 || o == 0;
    case GT:
        return o == 1;
    case GE:
        return o == 1 || o == 0;
    case EQU:
        return o == 0 || o == 2;
    case NEU:
        return o != 0;
    case LTU:
        return o == -1 || o == 2;
    case LEU:
        return o != 1;
    case GTU:
        return o == 1 || o == 2;
    case GEU:
        return o != -1;
    case NUM:
        return o != 2;
    default:
        return o == 2;
    }
}

static int combine(uint32_t how, int first, int second)
{
    return how == AND ? first && second : how == OR ? first || second : first != second;
}

/* how: comparison, type, combination, and what is written: 0 p, 1 the second predicate, else a
 * value
 */
static uint64_t compare(const struct lane_case *lane, uint64_t a, uint64_t b, uint64_t c)
{
    int result = holds((enum comparison)lane->how[0], order((enum type)lane->how[1], a, b));

    if (lane->how[3] == 1)
        result = !result;
    if (lane->how[2] != FIRST)
        result = combine(lane->how[2], result, (int)(c & 1));
    return result ? (lane->how[3] > 1 ? lane->how[3] : 1) : 0;
}

static int exists(size_t comparison, enum type type)
{
    int is_float = type >= F32, is_bits = type == B16 || type == B32 || type == B64;

    if (is_bits)
        return comparison < 2;
    if (comparisons[comparison].of == UNSIGNED)
        return type == U16 || type == U32 || type == U64;
    return comparisons[comparison].of == ANY || is_float;
}

static void add_setp(size_t comparison, enum type type)
{
    static const char *const combinations[] = {"", ".and", ".or", ".xor"};
    const char *text = comparisons[comparison].text, *prefix = types[type].prefix;
    char body[200];
    struct lane_case lane = {body, PREDICATE, types[type].inputs, compare, NULL,
        {comparisons[comparison].comparison, type, FIRST, 0}, NULL};

    snprintf(body, sizeof(body), "setp.%s.%s p, %sa, %sb;", text, types[type].text, prefix, prefix);
    lane_add(&lane);
    for (uint32_t how = AND; how <= XOR && comparison < 4; how++) {
        char name[64];

        lane.how[2] = how;
        lane.how[3] = 0;
        lane.name = name;
        snprintf(name, sizeof(name), "setp.%s%s.%s", text, combinations[how], types[type].text);
        snprintf(body, sizeof(body), "%s p, %sa, %sb, q;", name, prefix, prefix);
        lane_add(&lane);
        if (type == F16 || type == BF16) /* they have no second predicate */
            continue;
        lane.how[3] = 1;
        snprintf(body, sizeof(body), "{.reg .pred r; %s r|p, %sa, %sb, q;}", name, prefix, prefix);
        snprintf(
            name, sizeof(name), "setp.%s%s.%s|second", text, combinations[how], types[type].text);
        lane_add(&lane);
    }
}

static void add_set(size_t comparison, enum type type)
{
    static const struct {
        const char *text;
        const char *to;
        enum result result;
        uint32_t yes;
    } forms[] = {{"u32", "d", R32, 0xffffffff}, {"s32", "d", R32, 0xffffffff},
        {"f32", "d", R32, 0x3f800000}};
    const char *ftz = type == FTZ ? ".ftz" : "", *from = type == FTZ ? "f32" : types[type].text;

    if (type == F16 || type == BF16)
        return;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        char body[200];
        struct lane_case lane = {body, forms[i].result, types[type].inputs, compare, NULL,
            {comparisons[comparison].comparison, type, FIRST, forms[i].yes}, NULL};

        snprintf(body, sizeof(body), "set.%s%s.%s.%s %s, %sa, %sb;", comparisons[comparison].text,
            ftz, forms[i].text, from, forms[i].to, types[type].prefix, types[type].prefix);
        lane_add(&lane);
    }
}

ANSWER(select, c & 1 ? a : b)
ANSWER(select_s32, (s32)c >= 0 ? a : b)
ANSWER(select_f32, float_of(c) >= 0 ? a : b)
ANSWER(select_f32_ftz, flush(float_of(c)) >= 0 ? a : b)
ANSWER(predicates, (((c & 1) && (a & 1)) != !(b & 1)) || !(c & 1))
ANSWER(copysign32, (a & 0x80000000) | (b & 0x7fffffff))
ANSWER(copysign64, (a & 0x8000000000000000) | (b & INT64_MAX))
#define CLASS32(test) (fpclassify(float_of(a)) test)
#define CLASS64(test) (fpclassify(double_of(a)) test)
ANSWER(finite32, isfinite(float_of(a)) != 0)
ANSWER(infinite32, isinf(float_of(a)) != 0)
ANSWER(number32, !isnan(float_of(a)))
ANSWER(nan32, isnan(float_of(a)) != 0)
ANSWER(normal32, CLASS32(== FP_NORMAL) || CLASS32(== FP_ZERO))
ANSWER(subnormal32, CLASS32(== FP_SUBNORMAL))
ANSWER(finite64, isfinite(double_of(a)) != 0)
ANSWER(infinite64, isinf(double_of(a)) != 0)
ANSWER(number64, !isnan(double_of(a)))
ANSWER(nan64, isnan(double_of(a)) != 0)
ANSWER(normal64, CLASS64(== FP_NORMAL) || CLASS64(== FP_ZERO))
ANSWER(subnormal64, CLASS64(== FP_SUBNORMAL))

static const struct lane_case others[] = {
    {"selp.b16 hd, ha, hb, q;", R16, INTEGERS, select},
    {"selp.u32 d, a, b, q;", R32, INTEGERS, select},
    {"selp.s64 ld, la, lb, q;", R64, INTEGERS, select},
    {"selp.f32 d, a, b, q;", R32, FLOATS, select},
    {"selp.f64 ld, la, lb, q;", R64, DOUBLES, select},
    {"slct.b16.s32 hd, ha, hb, c;", R16, INTEGERS, select_s32},
    {"slct.u32.s32 d, a, b, c;", R32, INTEGERS, select_s32},
    {"slct.u64.s32 ld, la, lb, c;", R64, INTEGERS, select_s32},
    {"slct.f32.s32 d, a, b, c;", R32, INTEGERS, select_s32},
    {"slct.b32.f32 d, a, b, c;", R32, FLOATS, select_f32},
    {"slct.ftz.b32.f32 d, a, b, c;", R32, FLOATS, select_f32_ftz},
    {"{.reg .pred r, s; .reg .b32 t; and.b32 t, a, 1; setp.ne.u32 r, t, 0; and.b32 t, b, 1; "
     "setp.ne.u32 s, t, 0; and.pred p, q, r; not.pred s, s; xor.pred p, p, s; or.pred p, p, !q;}",
        PREDICATE, INTEGERS, predicates, "and or xor not.pred"},
    {"mov.b32 d, b; @q mov.b32 d, a;", R32, INTEGERS, select, "@q mov"},
    {"mov.b32 d, a; @!q mov.b32 d, b;", R32, INTEGERS, select, "@!q mov"},
    {"@q bra $yes; mov.b64 ld, lb; bra $end; $yes: mov.b64 ld, la; $end:", R64, INTEGERS, select,
        "@q bra"},
    {"copysign.f32 d, a, b;", R32, FLOATS, copysign32},
    {"copysign.f64 ld, la, lb;", R64, DOUBLES, copysign64},
    {"testp.finite.f32 p, a;", PREDICATE, FLOATS, finite32},
    {"testp.infinite.f32 p, a;", PREDICATE, FLOATS, infinite32},
    {"testp.number.f32 p, a;", PREDICATE, FLOATS, number32},
    {"testp.notanumber.f32 p, a;", PREDICATE, FLOATS, nan32},
    {"testp.normal.f32 p, a;", PREDICATE, FLOATS, normal32},
    {"testp.subnormal.f32 p, a;", PREDICATE, FLOATS, subnormal32},
    {"testp.finite.f64 p, la;", PREDICATE, DOUBLES, finite64},
    {"testp.infinite.f64 p, la;", PREDICATE, DOUBLES, infinite64},
    {"testp.number.f64 p, la;", PREDICATE, DOUBLES, number64},
    {"testp.notanumber.f64 p, la;", PREDICATE, DOUBLES, nan64},
    {"testp.normal.f64 p, la;", PREDICATE, DOUBLES, normal64},
    {"testp.subnormal.f64 p, la;", PREDICATE, DOUBLES, subnormal64},
};

static void add_cases(void)
{
    for (size_t comparison = 0; comparison < COUNT_OF(comparisons); comparison++)
        for (int type = 0; type < TYPES; type++)
            if (exists(comparison, (enum type)type)) {
                add_setp(comparison, (enum type)type);
                add_set(comparison, (enum type)type);
            }
    lane_add_all(others, COUNT_OF(others));
}

const struct group compare_group = {.name = "compare", .add = add_cases};
