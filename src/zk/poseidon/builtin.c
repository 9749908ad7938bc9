/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in parameter sets of sets.def, each computed by its authors' rule at its first use.
 * They are created through pool_poseidon_create, so that every validation applies to them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/field/integer.h"
#include "zk/poseidon/constants.h"
#include "zk/poseidon/poseidon.h"

enum constants { GRAIN, CHACHA, HADES, MINA_KIMCHI, MINA_LEGACY };
enum mds {
    CAUCHY_GRAIN,   /* 1 / (x_i + y_j), x and y drawn from Grain after the constants */
    CAUCHY_INTEGER, /* 1 / (i + t + j) */
    CIRCULANT,      /* small integers, see circulants below */
    PLONKY2,        /* a circulant matrix plus 8 at (0, 0) */
    CAUCHY_MINA,    /* 1 / (x_i - y_j), x and y drawn by SHA-256 */
    STARKNET,       /* ((3, 1, 1), (1, -1, 1), (1, 1, -2)) */
    HORIZEN,        /* Poseidon2's external matrix with M4 = ((5,7,1,3),(4,6,1,1),(1,3,5,7),...) */
    PLONKY3,        /* Poseidon2's external matrix with M4 = circ(2,3,1,1) */
};
/* POSEIDON2's internal diagonal: POWERS of two, or the vector that Grain draws after that many
 * others; DRAW(0) is ones and a 2 at the end. */
enum { NONE = -1, POWERS = -2 };

struct hashing {
    uint32_t max_inputs, input_index, rate, domain_tag_index, output_index, digest_elements;
    int32_t feed_forward;
    const char *domain_tag;
};

struct rule {
    const char *name;
    const char *field;
    pool_poseidon_kind kind;
    uint32_t width, alpha, full_rounds, partial_rounds;
    enum constants constants;
    uint32_t sbox;
    enum mds mds;
    int diagonal;
    struct hashing hashing;
};

#define DRAW(n) n
enum { LAST = 255 }; /* state element t - 1 */
/* Inputs in state elements 1 … t - 1, the domain tag in 0; the digest is element `output`. */
#define TAG_FIRST(t, tag, output)                                                                  \
    {                                                                                              \
        (t) - 1, 1, (t)-1, 0, output, 1, 0, tag                                                    \
    }
/* Inputs in state elements 0 … t - 2, the domain tag in t - 1; the digest is element 0. */
#define TAG_LAST(t, tag)                                                                           \
    {                                                                                              \
        (t) - 1, 0, (t)-1, (t)-1, 0, 1, 0, tag                                                     \
    }
/* The compression function with feed-forward of section 3.1 of the Poseidon2 paper. */
#define FORWARD(t)                                                                                 \
    {                                                                                              \
        t, 0, (t)-1, (t)-1, 0, 1, 1, NULL                                                          \
    }
/* Digests of several elements from state element 0 on, no domain tag. */
#define DIGESTS(inputs, rate, digest)                                                              \
    {                                                                                              \
        inputs, 0, rate, LAST, 0, digest, 0, NULL                                                  \
    }
#define SET(name, field, kind, t, alpha, full, partial, constants, sbox, matrix, diagonal, ...)    \
    {name, field, kind, t, alpha, full, partial, constants, sbox, matrix, diagonal, __VA_ARGS__},
static const struct rule rules[] = {
#include "zk/poseidon/sets.def"
};
enum { RULE_COUNT = sizeof(rules) / sizeof(rules[0]) };

/* The prefixes of the strings that Mina's constants and matrices are drawn from. */
static const struct {
    const char *constants, *x, *y;
} mina_prefixes[] = {
    [MINA_KIMCHI] = {"CodaRescuePasta_p_kimchiRoundConstants", "CodaRescuePasta_p_kimchiMDSx",
        "CodaRescuePasta_p_kimchiMDSy"},
    [MINA_LEGACY] = {"Pasta_pRoundConstants", "CodaRescueMDSx", "CodaRescueMDSy"},
};

/* The first rows of Plonky3's circulant matrices. */
static const uint32_t circulants[][24] = {
    {7, 1, 3, 8, 8, 3, 4, 9},
    {1, 1, 2, 1, 8, 9, 10, 7, 5, 9, 4, 10},
    {1, 1, 51, 1, 11, 17, 2, 1, 101, 63, 15, 2, 67, 22, 13, 3},
    {0x2D0AAAAB, 0x64850517, 0x17F5551D, 0x04ECBEB5, 0x6D91A8D5, 0x60703026, 0x18D6F3CA, 0x729601A7,
        0x77CDA9E2, 0x3C0F5038, 0x26D52A61, 0x0360405D, 0x68FC71C8, 0x2495A71D, 0x5D57AFC2,
        0x1689DD98, 0x3C2C3DBE, 0x0C23DC41, 0x0524C7F2, 0x6BE4DF69, 0x0A6E572C, 0x5C7790FA,
        0x17E118F6, 0x0878A07F},
};
static const uint32_t plonky2_row[12] = {17, 15, 41, 16, 2, 28, 13, 13, 39, 18, 34, 20};

/* Plonky3's internal diagonals: n is the integer n, H + k is 2^-k, -H - k is -2^-k, D + k is 2^k.
 */
enum { H = 100, D = 200 };
#define START -2, 1, 2, H + 1, 3, 4, -H - 1, -3, -4
static const struct {
    const char *field;
    uint32_t width;
    int16_t entries[24];
} powers[] = {
    {"goldilocks", 8, {-2, 1, 2, H + 1, 3, -H - 1, -3, -4}},
    {"goldilocks", 12, {START, H + 2, -H - 2, H + 3}},
    {"goldilocks", 16, {START, H + 3, H + 4, H + 5, -H - 3, -H - 4, -H - 5, H + 32}},
    {"babybear", 16, {START, H + 8, H + 2, H + 3, H + 27, -H - 8, -H - 4, -H - 27}},
    {"babybear", 24,
        {START, H + 8, H + 2, H + 3, H + 4, H + 7, H + 9, H + 27, -H - 8, -H - 2, -H - 3, -H - 4,
            -H - 5, -H - 6, -H - 7, -H - 27}},
    {"mersenne31", 16,
        {-2, 1, 2, 4, 8, 16, 32, 64, D + 7, D + 8, D + 10, D + 12, D + 13, D + 14, D + 15, D + 16}},
    {"mersenne31", 24,
        {-2, 1, 2, 4, 8, 16, 32, 64, D + 7, D + 8, D + 9, D + 10, D + 11, D + 12, D + 13, D + 14,
            D + 15, D + 16, D + 17, D + 18, D + 19, D + 20, D + 21, D + 22}},
    {"koalabear", 16, {START, H + 8, H + 3, H + 24, -H - 8, -H - 3, -H - 4, -H - 24}},
    {"koalabear", 24,
        {START, H + 8, H + 2, H + 3, H + 4, H + 5, H + 6, H + 24, -H - 8, -H - 3, -H - 4, -H - 5,
            -H - 6, -H - 7, -H - 9, -H - 24}},
};

/* The parameters computed by a rule, as limbs in Montgomery form. */
struct draft {
    const pool_field *field;
    const struct rule *rule;
    struct poseidon_grain grain;
    size_t constant_count;
    uint64_t *constants;
    uint64_t *mds;
    uint64_t *diagonal;
};

static uint64_t *element(const struct draft *draft, uint64_t *elements, size_t index)
{
    return elements + index * draft->field->limbs;
}

static void to_montgomery(const struct draft *draft, uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        field_to_montgomery(draft->field, element(draft, elements, i), element(draft, elements, i));
}

static bool is_mina(const struct rule *rule)
{
    return rule->constants == MINA_KIMCHI || rule->constants == MINA_LEGACY;
}

/* Kimchi's first round adds no constants; both of Mina's sets add constants after the last linear
 * layer. */
static pool_status draw_constants(struct draft *draft)
{
    const struct rule *rule = draft->rule;
    size_t skipped = rule->constants == MINA_KIMCHI ? rule->width : 0;
    pool_status status = POOL_OK;

    poseidon_grain_init(&draft->grain, rule->sbox, draft->field->bits, rule->width,
        rule->full_rounds, rule->partial_rounds);
    if (rule->constants == CHACHA)
        poseidon_chacha_elements(draft->field, draft->constants, draft->constant_count);
    else if (is_mina(rule))
        status = poseidon_coda_elements(draft->field, mina_prefixes[rule->constants].constants, 0,
            element(draft, draft->constants, skipped), draft->constant_count - skipped);
    else if (rule->constants == HADES)
        status = poseidon_hades_elements(draft->field, draft->constants, draft->constant_count);
    else
        for (size_t i = 0; i < draft->constant_count; i++)
            poseidon_grain_rejection(
                &draft->grain, draft->field, element(draft, draft->constants, i));
    to_montgomery(draft, draft->constants, draft->constant_count);
    return status;
}

/* Whether 2 t numbers define a Cauchy matrix: they are distinct and no x_i + y_j is 0. */
static bool is_cauchy(const struct draft *draft, uint64_t *drawn)
{
    size_t t = draft->rule->width;
    uint64_t sum[FIELD_MAX_LIMBS];

    for (size_t i = 0; i < 2 * t; i++)
        for (size_t j = 0; j < i; j++)
            if (field_equal(draft->field, element(draft, drawn, i), element(draft, drawn, j)))
                return false;
    for (size_t i = 0; i < t; i++) {
        for (size_t j = 0; j < t; j++) {
            field_add(draft->field, sum, element(draft, drawn, i), element(draft, drawn, t + j));
            if (field_is_zero(draft->field, sum))
                return false;
        }
    }
    return true;
}

static pool_status draw_mina_cauchy(struct draft *draft, uint64_t *drawn)
{
    const enum constants rule = draft->rule->constants;
    size_t t = draft->rule->width;
    pool_status status =
        poseidon_coda_elements(draft->field, mina_prefixes[rule].x, 0, element(draft, drawn, 0), t);

    if (!status)
        status = poseidon_coda_elements(
            draft->field, mina_prefixes[rule].y, 0, element(draft, drawn, t), t);
    if (!status)
        to_montgomery(draft, drawn, 2 * t);
    for (size_t i = t; !status && i < 2 * t; i++)
        field_neg(draft->field, element(draft, drawn, i), element(draft, drawn, i));
    return status;
}

/* Draws x and y and computes 1 / (x_i + y_j). */
static pool_status compute_cauchy(struct draft *draft)
{
    const pool_field *field = draft->field;
    const enum mds mds = draft->rule->mds;
    size_t t = draft->rule->width;
    uint64_t drawn[2 * POSEIDON_STATE_LIMBS];
    pool_status status = mds == CAUCHY_MINA ? draw_mina_cauchy(draft, drawn) : POOL_OK;

    for (size_t i = 0; mds == CAUCHY_INTEGER && i < 2 * t; i++)
        field_set_integer(field, element(draft, drawn, i), (int64_t)i);
    if (mds == CAUCHY_GRAIN)
        do {
            for (size_t i = 0; i < 2 * t; i++)
                poseidon_grain_reduction(&draft->grain, field, element(draft, drawn, i));
            to_montgomery(draft, drawn, 2 * t);
        } while (!is_cauchy(draft, drawn));
    for (size_t i = 0; !status && i < t * t; i++) {
        uint64_t *entry = element(draft, draft->mds, i);

        field_add(field, entry, element(draft, drawn, i / t), element(draft, drawn, t + i % t));
        field_inverse(field, entry, entry);
    }
    return status;
}

static const uint32_t *circulant_row(const struct rule *rule)
{
    if (rule->mds == PLONKY2)
        return plonky2_row;
    return circulants[rule->width == 8 ? 0 : rule->width == 12 ? 1 : rule->width == 16 ? 2 : 3];
}

/* Entry (i, j) of a matrix of small integers. */
static int64_t integer_entry(const struct rule *rule, size_t i, size_t j)
{
    static const int64_t starknet[3][3] = {{3, 1, 1}, {1, -1, 1}, {1, 1, -2}};
    static const int64_t horizen[4][4] = {{5, 7, 1, 3}, {4, 6, 1, 1}, {1, 3, 5, 7}, {1, 1, 4, 6}};
    static const int64_t plonky3[4] = {2, 3, 1, 1};
    size_t t = rule->width;

    if (rule->mds == STARKNET)
        return starknet[i][j];
    if (rule->mds == CIRCULANT || rule->mds == PLONKY2)
        return circulant_row(rule)[(j + t - i) % t] +
               (rule->mds == PLONKY2 && i == 0 && j == 0 ? 8 : 0);
    if (t < 4)
        return i == j ? 2 : 1;
    int64_t block = rule->mds == HORIZEN ? horizen[i % 4][j % 4] : plonky3[(j + 4 - i % 4) % 4];
    return t > 4 && i / 4 == j / 4 ? 2 * block : block;
}

static pool_status compute_mds(struct draft *draft)
{
    size_t t = draft->rule->width;

    if (draft->rule->mds == CAUCHY_GRAIN || draft->rule->mds == CAUCHY_INTEGER ||
        draft->rule->mds == CAUCHY_MINA)
        return compute_cauchy(draft);
    for (size_t i = 0; i < t * t; i++)
        field_set_integer(
            draft->field, element(draft, draft->mds, i), integer_entry(draft->rule, i / t, i % t));
    return POOL_OK;
}

/* Grain draws the diagonal of J + diag(d), so 1 is subtracted. */
static void draw_diagonal(struct draft *draft)
{
    const pool_field *field = draft->field;
    size_t t = draft->rule->width;

    for (int draw = 0; draw < draft->rule->diagonal; draw++)
        for (size_t i = 0; i < t; i++)
            poseidon_grain_reduction(&draft->grain, field, element(draft, draft->diagonal, i));
    for (size_t i = 0; i < t; i++) {
        uint64_t *entry = element(draft, draft->diagonal, i);
        if (draft->rule->diagonal == 0) {
            field_set_integer(field, entry, i + 1 == t ? 2 : 1);
            continue;
        }
        field_to_montgomery(field, entry, entry);
        field_sub(field, entry, entry, field->one);
    }
}

static void set_signed_quotient(const pool_field *field, uint64_t *entry, int value)
{
    int halvings = abs(value) > H ? abs(value) - H : 0;

    field_set_integer(field, entry, halvings == 0 ? value : value < 0 ? -1 : 1);
    for (int k = 0; k < halvings; k++)
        field_halve(field, entry, entry);
}

static pool_status set_power_diagonal(struct draft *draft)
{
    const struct rule *rule = draft->rule;
    size_t row = 0;

    while (row < sizeof(powers) / sizeof(powers[0]) &&
           (strcmp(powers[row].field, rule->field) || powers[row].width != rule->width))
        row++;
    if (row == sizeof(powers) / sizeof(powers[0]))
        return base_fail(
            POOL_ERR_INTERNAL, "the parameter set %s has no internal diagonal", rule->name);
    for (size_t i = 0; i < rule->width; i++) {
        uint64_t *entry = element(draft, draft->diagonal, i);
        int value = powers[row].entries[i];
        if (value >= D)
            field_set_integer(draft->field, entry, INT64_C(1) << (value - D));
        else
            set_signed_quotient(draft->field, entry, value);
    }
    return POOL_OK;
}

/* Packs limbs as field->bytes bytes per element, the layout of pool_poseidon_params. */
static void pack_in_place(const struct draft *draft, uint64_t *elements, size_t count)
{
    for (size_t i = 0; elements && i < count; i++) {
        uint64_t limbs[FIELD_MAX_LIMBS];
        field_copy(draft->field, limbs, element(draft, elements, i));
        field_store(draft->field, (unsigned char *)elements + i * draft->field->bytes, limbs);
    }
}

static pool_status create_from_draft(struct draft *draft, pool_poseidon **set)
{
    const struct rule *rule = draft->rule;
    size_t t = rule->width;
    unsigned char tag[POOL_FIELD_MAX_BYTES];
    pool_poseidon_params params = {.struct_size = sizeof(params),
        .name = rule->name,
        .field = draft->field,
        .kind = rule->kind,
        .width = rule->width,
        .alpha = rule->alpha,
        .full_rounds = rule->full_rounds,
        .partial_rounds = rule->partial_rounds,
        .partial_index = rule->mds == STARKNET ? 2 : 0,
        .form = POOL_FORM_MONTGOMERY,
        .round_constants = draft->constants,
        .round_constant_count = draft->constant_count,
        .mds = draft->mds,
        .mds_count = t * t,
        .internal_diagonal = draft->diagonal,
        .internal_diagonal_count = draft->diagonal ? t : 0,
        .max_inputs = rule->hashing.max_inputs,
        .input_index = rule->hashing.input_index,
        .rate = rule->hashing.rate,
        .domain_tag_index = rule->hashing.domain_tag_index == LAST ? rule->width - 1
                                                                   : rule->hashing.domain_tag_index,
        .output_index = rule->hashing.output_index,
        .digest_elements = rule->hashing.digest_elements,
        .feed_forward = rule->hashing.feed_forward};
    pool_status status = POOL_OK;

    pack_in_place(draft, draft->constants, draft->constant_count);
    pack_in_place(draft, draft->mds, t * t);
    pack_in_place(draft, draft->diagonal, t);
    if (rule->hashing.domain_tag && strcmp(rule->hashing.domain_tag, "0") != 0) {
        status =
            pool_field_parse(draft->field, rule->hashing.domain_tag, POOL_FORM_MONTGOMERY, tag);
        params.domain_tag = tag;
    }
    return status ? status : pool_poseidon_create(&params, set);
}

static pool_status create_builtin(const struct rule *rule, pool_poseidon **set)
{
    struct draft draft = {.field = pool_field_by_name(rule->field), .rule = rule};
    bool has_diagonal = rule->kind == POOL_POSEIDON2;
    size_t t = rule->width;
    pool_status status = POOL_OK;

    if (!draft.field)
        return pool_last_error()->status;
    draft.constant_count = rule->full_rounds * t +
                           rule->partial_rounds * (size_t)(has_diagonal ? 1 : t) +
                           (is_mina(rule) ? t : 0);
    draft.constants = base_calloc(draft.constant_count, draft.field->limbs * sizeof(uint64_t));
    draft.mds = base_calloc(t * t, draft.field->limbs * sizeof(uint64_t));
    draft.diagonal = has_diagonal ? base_calloc(t, draft.field->limbs * sizeof(uint64_t)) : NULL;
    if (!draft.constants || !draft.mds || (has_diagonal && !draft.diagonal))
        status = base_fail_memory("a Poseidon parameter set");
    if (!status)
        status = draw_constants(&draft);
    if (!status)
        status = compute_mds(&draft);
    if (!status && has_diagonal && rule->diagonal == POWERS)
        status = set_power_diagonal(&draft);
    else if (!status && has_diagonal)
        draw_diagonal(&draft);
    if (!status)
        status = create_from_draft(&draft, set);
    base_free(draft.constants);
    base_free(draft.mds);
    base_free(draft.diagonal);
    return status;
}

static struct base_lock builtin_lock = BASE_LOCK_INIT;
static pool_poseidon *builtin_sets[RULE_COUNT]; /* guarded by builtin_lock; never freed */

size_t pool_poseidon_count(void)
{
    return RULE_COUNT;
}

const char *pool_poseidon_name_at(size_t index)
{
    return index < RULE_COUNT ? rules[index].name : NULL;
}

pool_status pool_poseidon_by_name(const char *name, pool_poseidon **set)
{
    size_t i = 0;
    pool_status status = base_check_pointers("pool_poseidon_by_name", {"name", name}, {"set", set});

    if (status)
        return status;
    while (i < RULE_COUNT && strcmp(rules[i].name, name))
        i++;
    if (i == RULE_COUNT)
        return base_fail(
            POOL_ERR_NOT_FOUND, "there is no built-in Poseidon parameter set \"%.80s\"", name);
    base_lock(&builtin_lock);
    if (!builtin_sets[i])
        status = create_builtin(&rules[i], &builtin_sets[i]);
    if (!status)
        *set = pool_poseidon_retain(builtin_sets[i]);
    base_unlock(&builtin_lock);
    return status;
}
