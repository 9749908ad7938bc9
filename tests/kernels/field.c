/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every device operation of every built-in field and of custom ones against GMP, at the edges of
 * the field and of its words and on random values.
 */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/compiler.h"
#include "support/sample.h"
#include "zk/field/emit_field.h"

enum { GPU_PAIRS = 110000, SIM_PAIRS = 1500, MAX_EDGES = 64 };

enum formula {
    ADD,
    SUB,
    NEG,
    DBL,
    MUL,
    SQR,
    MUL_ADD,
    MUL_SUB,
    SAME,
    TO_MONT,
    FROM_MONT,
    CNEG,
    INVERSE,
    IS_ZERO,
    EQ,
    LESS,
};

static const struct operation {
    const char *name;
    enum formula formula;
    bool is_lazy;     /* arguments and result in [0, 2p) */
    bool is_reducing; /* lazy arguments, reduced result */
    int every;        /* on one element in so many: slow operations */
} operations[] = {
    {"add", ADD, false, false, 1},
    {"sub", SUB, false, false, 1},
    {"neg", NEG, false, false, 1},
    {"dbl", DBL, false, false, 1},
    {"mul", MUL, false, false, 1},
    {"sqr", SQR, false, false, 1},
    {"mul_add", MUL_ADD, false, false, 1},
    {"mul_sub", MUL_SUB, false, false, 1},
    {"add_lazy", ADD, true, false, 1},
    {"sub_lazy", SUB, true, false, 1},
    {"neg_lazy", NEG, true, false, 1},
    {"dbl_lazy", DBL, true, false, 1},
    {"mul_lazy", MUL, true, false, 1},
    {"sqr_lazy", SQR, true, false, 1},
    {"mul_signed", MUL, false, false, 1},
    {"mul_add_lazy", MUL_ADD, true, false, 1},
    {"mul_sub_lazy", MUL_SUB, true, false, 1},
    {"reduce", SAME, true, true, 1},
    {"to_mont", TO_MONT, false, false, 1},
    {"from_mont", FROM_MONT, false, false, 1},
    {"cneg", CNEG, false, false, 1},
    {"inverse", INVERSE, false, false, 16},
    {"is_zero", IS_ZERO, false, true, 1},
    {"is_zero_lazy", IS_ZERO, true, true, 1},
    {"eq", EQ, false, true, 1},
    {"less", LESS, false, true, 1},
};

/* One field under test: its numbers, and arguments a, b, c, d. */
struct subject {
    struct harness *harness;
    const pool_field *field;
    pool_module *module; /* compiled for the first stage that is selected */
    bool is_lazy;
    mpz_t p, limit, inverse_r, one; /* limit: of lazy values; one: 1 in the device's form */
    uint32_t count;
    uint32_t *host[2][4]; /* [strict, lazy] */
};

static gmp_randstate_t random_state;

static void put_words(const struct subject *subject, uint32_t *words, const mpz_t value)
{
    memset(words, 0, subject->field->bytes);
    mpz_export(words, NULL, -1, 4, 0, 0, value);
}

static void get_words(const struct subject *subject, mpz_t value, const uint32_t *words)
{
    mpz_import(value, subject->field->words, -1, 4, 0, 0, words);
}

/* 0, 1, 2, the ends of the range, all ones up to, in, and a single one at the start of each word.
 */
static int make_edges(const struct subject *subject, const mpz_t limit, mpz_t *edges)
{
    int count = 0;
    for (unsigned i = 0; i < 3; i++)
        mpz_set_ui(edges[count++], i);
    for (int i = -2; i < 2; i++) {
        mpz_set(edges[count], subject->p);
        if (i < 0)
            mpz_sub_ui(edges[count++], subject->p, (unsigned)-i);
        else
            mpz_add_ui(edges[count++], subject->p, (unsigned)i);
    }
    mpz_sub_ui(edges[count++], limit, 1);
    mpz_fdiv_q_2exp(edges[count++], subject->p, 1);
    mpz_set(edges[count++], subject->one);
    for (unsigned i = 0; i < subject->field->words && count + 3 <= MAX_EDGES; i++) {
        mpz_set_ui(edges[count], 0);
        mpz_setbit(edges[count++], 32 * i);
        mpz_mul_ui(edges[count], edges[count - 1], 0xffffffffu);
        count++;
        mpz_sub_ui(edges[count], edges[count - 2], 1);
        count++;
    }
    for (int i = 0; i < count; i++)
        if (mpz_cmp(edges[i], limit) >= 0)
            mpz_mod(edges[i], edges[i], limit);
    return count;
}

static void fill_arguments(struct subject *subject, int lazy)
{
    mpz_t edges[MAX_EDGES], value;
    for (int i = 0; i < MAX_EDGES; i++)
        mpz_init(edges[i]);
    mpz_init(value);
    const mpz_t *limit = lazy ? &subject->limit : &subject->p;
    uint32_t edge_count = (uint32_t)make_edges(subject, *limit, edges);
    for (uint32_t i = 0; i < subject->count; i++) {
        uint32_t divisor = 1;
        for (int argument = 0; argument < 4; argument++) {
            uint32_t *words = subject->host[lazy][argument] + (size_t)i * subject->field->words;
            if (i < edge_count * edge_count && argument < 2)
                mpz_set(value, edges[i / divisor % edge_count]);
            else if (i < 2 * edge_count * edge_count)
                mpz_set(value, edges[gmp_urandomm_ui(random_state, edge_count)]);
            else
                mpz_urandomm(value, random_state, *limit);
            divisor *= edge_count;
            put_words(subject, words, value);
        }
    }
    for (int i = 0; i < MAX_EDGES; i++)
        mpz_clear(edges[i]);
    mpz_clear(value);
}

static void expect(const struct subject *subject, enum formula formula, mpz_t result, mpz_t v[4])
{
    mpz_t t;
    mpz_init(t);
    switch (formula) {
    case ADD:
        mpz_add(result, v[0], v[1]);
        break;
    case SUB:
        mpz_sub(result, v[0], v[1]);
        break;
    case NEG:
        mpz_neg(result, v[0]);
        break;
    case DBL:
        mpz_add(result, v[0], v[0]);
        break;
    case SAME:
        mpz_set(result, v[0]);
        break;
    case CNEG:
        if (mpz_odd_p(v[1]))
            mpz_neg(result, v[0]);
        else
            mpz_set(result, v[0]);
        break;
    case MUL:
    case SQR:
    case MUL_ADD:
    case MUL_SUB:
        mpz_mul(result, v[0], formula == SQR ? v[0] : v[1]);
        mpz_mul(t, v[2], v[3]);
        if (formula == MUL_ADD)
            mpz_add(result, result, t);
        if (formula == MUL_SUB)
            mpz_sub(result, result, t);
        mpz_mod(result, result, subject->p);
        mpz_mul(result, result, subject->inverse_r);
        break;
    case TO_MONT:
        mpz_mul(result, v[0], subject->one);
        break;
    case FROM_MONT:
        mpz_mul(result, v[0], subject->inverse_r);
        break;
    case INVERSE:
        mpz_mul(t, v[0], subject->inverse_r);
        mpz_mod(t, t, subject->p);
        if (mpz_sgn(t) == 0 || !mpz_invert(result, t, subject->p))
            mpz_set_ui(result, 0);
        mpz_mul(result, result, subject->one);
        break;
    case IS_ZERO:
        mpz_set_ui(result, mpz_divisible_p(v[0], subject->p) != 0);
        break;
    case EQ:
        mpz_set_ui(result, mpz_cmp(v[0], v[1]) == 0);
        break;
    case LESS:
        mpz_set_ui(result, mpz_cmp(v[0], v[1]) < 0);
        break;
    }
    if (formula >= IS_ZERO)
        mpz_mul(result, result, subject->one);
    mpz_mod(result, result, subject->p);
    mpz_clear(t);
}

static void report_wrong(const char *name, const struct subject *subject, mpz_t v[4],
    const mpz_t got, const mpz_t expected)
{
    gmp_printf("%s of a field of %u bits\n  p %#Zx\n  a %#Zx\n  b %#Zx\n  c %#Zx\n  d %#Zx\n"
               "  got      %#Zx\n  expected %#Zx\n",
        name, subject->field->bits, subject->p, v[0], v[1], v[2], v[3], got, expected);
}

/* Whether a result is the expected one, or, of a lazy operation, congruent and below the limit. */
static bool is_right(
    const struct subject *subject, bool is_lazy_result, const mpz_t got, const mpz_t expected)
{
    bool is_right = mpz_cmp(got, expected) == 0;

    if (is_lazy_result)
        is_right = mpz_cmp(got, subject->limit) < 0 && mpz_congruent_p(got, expected, subject->p);
    return is_right;
}

static void compare_results(struct stage *stage, const struct subject *subject,
    const struct operation *operation, CUdeviceptr result, uint32_t count)
{
    int lazy = operation->is_lazy && subject->is_lazy;
    uint32_t words = subject->field->words;
    uint32_t *results = harness_memory(count, subject->field->bytes);
    mpz_t v[4], got, expected;

    stage_download(stage, results, result, (size_t)count * subject->field->bytes);
    mpz_inits(v[0], v[1], v[2], v[3], got, expected, NULL);
    for (uint32_t i = 0; i < count && !stage->is_wrong; i += (uint32_t)operation->every) {
        for (int argument = 0; argument < 4; argument++)
            get_words(subject, v[argument], subject->host[lazy][argument] + (size_t)i * words);
        get_words(subject, got, results + (size_t)i * words);
        expect(subject, operation->formula, expected, v);
        if (is_right(subject, lazy && !operation->is_reducing, got, expected))
            continue;
        stage_fail(stage, "element %u of %u", i, count);
        report_wrong(operation->name, subject, v, got, expected);
    }
    mpz_clears(v[0], v[1], v[2], v[3], got, expected, NULL);
    free(results);
}

static char *joined_headers(const pool_field *field)
{
    char *operations = compiler_field_header(field, "fq");
    char *products = compiler_shoup_header(field, "fq");
    char *text = harness_memory(strlen(operations) + strlen(products) + 1, 1);

    strcat(strcpy(text, operations), products);
    free(operations);
    free(products);
    return text;
}

static pool_module *module_of(struct subject *subject)
{
    char *text;

    if (subject->module == NULL) {
        text = joined_headers(subject->field);
        subject->module = harness_compile(subject->harness, "field_kernels.cu", "", "fq.cuh", text);
        free(text);
    }
    return subject->module;
}

static bool begin(struct subject *subject, struct stage *stage, const char *operation)
{
    char name[64];

    snprintf(name, sizeof(name), "field %s", operation);
    return stage_begin(subject->harness, stage, name, "%s, %u bits",
        pool_field_name(subject->field), subject->field->bits);
}

static void check_operation(struct subject *subject, const struct operation *operation)
{
    struct stage stage;
    int lazy = operation->is_lazy && subject->is_lazy;
    uint32_t n = subject->count;
    size_t bytes = (size_t)n * subject->field->bytes;

    if (!begin(subject, &stage, operation->name))
        return;
    CUdeviceptr in[4], result;
    for (int i = 0; i < 4; i++)
        in[i] = stage_upload(&stage, subject->host[lazy][i], bytes);
    result = stage_alloc(&stage, bytes);
    void *arguments[] = {&in[0], &in[1], &in[2], &in[3], &result, &n};
    struct kernel_launch launch = {.kernel = kernel_of(module_of(subject), operation->name),
        .blocks = (n + 127) / 128,
        .threads = 128,
        .arguments = arguments,
        .argument_count = sizeof(arguments) / sizeof(arguments[0])};
    stage_run(&stage, kernel_launch, &launch);
    compare_results(&stage, subject, operation, result, n);
    stage_end(&stage);
}

/* Values and zeros inverted together, in place. */
static void check_batch_inverse(struct subject *subject)
{
    static const struct operation inverse = {"batch_inverse", INVERSE, false, false, 1};
    struct stage stage;
    uint32_t n = 1024;
    size_t bytes = (size_t)n * subject->field->bytes;

    if (!begin(subject, &stage, inverse.name))
        return;
    CUdeviceptr values = stage_upload(&stage, subject->host[0][0], bytes);
    CUdeviceptr scratch = stage_alloc(&stage, bytes);
    void *arguments[] = {&values, &scratch, &n};
    struct kernel_launch launch = {.kernel = kernel_of(module_of(subject), inverse.name),
        .blocks = 1,
        .threads = 64,
        .arguments = arguments,
        .argument_count = sizeof(arguments) / sizeof(arguments[0])};
    stage_run(&stage, kernel_launch, &launch);
    compare_results(&stage, subject, &inverse, values, n);
    stage_end(&stage);
}

/* ---- products with precomputed quotients ----------------------------------------------------- */

/* Arguments a of such products and w, w' in arrays of words; `bound`: of a. */
struct quotients {
    mpz_t radix, bound;
    uint32_t *a, *w, *quotient, *montgomery;
};

/* Whether 4p, or 2p in fields without lazy forms, leaves the room that emit_shoup.c needs. */
static bool has_room(const struct subject *subject, const struct quotients *quotients)
{
    const pool_field *field = subject->field;
    mpz_t top;
    bool has;

    if (field->kind == FIELD_KIND_MONTGOMERY_31)
        return true;
    if (field->words < 2 || field->kind != FIELD_KIND_MONTGOMERY)
        return false;
    mpz_init(top);
    mpz_fdiv_q_2exp(top, quotients->bound, 32 * (field->words - 1));
    has = mpz_cmp_ui(top, UINT32_MAX - field->words) < 0;
    mpz_clear(top);
    return has;
}

/* The largest number below the bound whose product with w is `residue`: with p - 1 the result is
 * the largest that its residue allows. */
static void set_extreme(const struct subject *subject, const struct quotients *quotients, mpz_t a,
    const mpz_t w, unsigned residue)
{
    mpz_t multiple;

    mpz_init(multiple);
    if (!mpz_invert(a, w, subject->p))
        mpz_set_ui(a, 1);
    mpz_mul_ui(a, a, residue);
    mpz_neg(a, a);
    mpz_mod(a, a, subject->p);
    mpz_sub(multiple, quotients->bound, a);
    mpz_sub_ui(multiple, multiple, 1);
    mpz_fdiv_q(multiple, multiple, subject->p);
    mpz_addmul(a, multiple, subject->p);
    mpz_clear(multiple);
}

/* Constants at the edges: 0, 1, -1, those whose w R is 1, -1 or 2^(32 i) modulo p (the quotient is
 * then least or most rounded), and numbers at the edges of words; the rest are random. */
static void set_constant(const struct subject *subject, uint32_t i, mpz_t w)
{
    const uint32_t words = subject->field->words;

    if (i < 2)
        mpz_set_ui(w, i);
    else if (i == 2)
        mpz_sub_ui(w, subject->p, 1);
    else if (i == 3)
        mpz_set(w, subject->inverse_r);
    else if (i == 4)
        mpz_sub(w, subject->p, subject->inverse_r);
    else if (i < 5 + words)
        mpz_mul_2exp(w, subject->inverse_r, 32 * (i - 5));
    else if (i < 5 + 2 * words) {
        mpz_set_ui(w, 1);
        mpz_mul_2exp(w, w, 32 * (i - 4 - words));
        mpz_sub_ui(w, w, 1);
    } else
        mpz_urandomm(w, random_state, subject->p);
    mpz_mod(w, w, subject->p);
}

static void set_argument(const struct subject *subject, const struct quotients *quotients,
    uint32_t i, const mpz_t w, mpz_t a)
{
    const uint32_t words = subject->field->words;

    if (i < 2)
        mpz_set_ui(a, i);
    else if (i < 5)
        mpz_sub_ui(a, quotients->bound, i - 1);
    else if (i < 8)
        mpz_set(a, subject->p), mpz_sub_ui(a, a, i - 5);
    else if (i < 11)
        set_extreme(subject, quotients, a, w, i - 8);
    else if (i < 11 + words) {
        mpz_set_ui(a, 1);
        mpz_mul_2exp(a, a, 32 * (i - 10));
        mpz_sub_ui(a, a, 1);
    } else
        mpz_urandomm(a, random_state, quotients->bound);
    mpz_mod(a, a, quotients->bound);
}

/* Every kind of constant with every kind of argument, repeated with other random numbers. */
static void fill_quotients(const struct subject *subject, struct quotients *quotients)
{
    const uint32_t words = subject->field->words, constants = 7 + 2 * words, kinds = 13 + words;
    mpz_t a, w, value;

    mpz_inits(a, w, value, NULL);
    for (uint32_t i = 0; i < subject->count; i++) {
        set_constant(subject, i % constants, w);
        set_argument(subject, quotients, i / constants % kinds, w, a);
        put_words(subject, quotients->a + (size_t)i * words, a);
        put_words(subject, quotients->w + (size_t)i * words, w);
        mpz_mul(value, w, quotients->radix);
        mpz_fdiv_qr(w, value, value, subject->p);
        put_words(subject, quotients->quotient + (size_t)i * words, w);
        put_words(subject, quotients->montgomery + (size_t)i * words, value);
    }
    mpz_clears(a, w, value, NULL);
}

static CUdeviceptr run_shoup(struct subject *subject, struct stage *stage, const char *name,
    const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    const size_t bytes = (size_t)subject->count * subject->field->bytes;
    CUdeviceptr in[3] = {stage_upload(stage, a, bytes), stage_upload(stage, b, bytes),
        stage_upload(stage, c, bytes)};
    CUdeviceptr result = stage_alloc(stage, bytes);
    void *arguments[] = {&in[0], &in[1], &in[2], &in[0], &result, &subject->count};
    struct kernel_launch launch = {.kernel = kernel_of(module_of(subject), name),
        .blocks = (subject->count + 127) / 128,
        .threads = 128,
        .arguments = arguments,
        .argument_count = sizeof(arguments) / sizeof(arguments[0])};

    stage_run(stage, kernel_launch, &launch);
    return result;
}

static void check_shoup_products(struct subject *subject, const struct quotients *quotients)
{
    const uint32_t words = subject->field->words;
    const size_t bytes = subject->field->bytes;
    uint32_t *results;
    mpz_t a, w, got, expected;
    struct stage stage;

    if (!begin(subject, &stage, "mul_shoup"))
        return;
    results = harness_memory(subject->count, bytes);
    stage_download(&stage, results,
        run_shoup(subject, &stage, "mul_shoup", quotients->a, quotients->w, quotients->quotient),
        subject->count * bytes);
    mpz_inits(a, w, got, expected, NULL);
    for (uint32_t i = 0; i < subject->count && !stage.is_wrong; i++) {
        get_words(subject, a, quotients->a + (size_t)i * words);
        get_words(subject, w, quotients->w + (size_t)i * words);
        get_words(subject, got, results + (size_t)i * words);
        mpz_mul(expected, a, w);
        mpz_mod(expected, expected, subject->p);
        if (is_right(subject, subject->is_lazy, got, expected))
            continue;
        stage_fail(&stage, "element %u of %u", i, subject->count);
        gmp_printf("  p %#Zx\n  a %#Zx\n  w %#Zx\n  got      %#Zx\n  expected %#Zx\n", subject->p,
            a, w, got, expected);
    }
    mpz_clears(a, w, got, expected, NULL);
    free(results);
    stage_end(&stage);
}

static void check_shoup_quotients(struct subject *subject, const struct quotients *quotients)
{
    struct stage stage;

    if (!begin(subject, &stage, "shoup_quotient"))
        return;
    stage_compare(&stage, "quotient",
        run_shoup(
            subject, &stage, "shoup_quotient", quotients->montgomery, quotients->w, quotients->w),
        quotients->quotient, subject->count, subject->field->bytes);
    stage_end(&stage);
}

/* a + b, and a - b + bound / 2, of lazy values: exact, and below the bound. */
static void check_unreduced(struct subject *subject, const struct quotients *quotients, bool is_sum)
{
    const char *name = is_sum ? "add_unreduced" : "sub_unreduced";
    const size_t words = subject->field->words;
    uint32_t *const *host = subject->host[subject->is_lazy];
    uint32_t *expected;
    struct stage stage;
    mpz_t a, b;

    if (!begin(subject, &stage, name))
        return;
    expected = harness_memory(subject->count, subject->field->bytes);
    mpz_inits(a, b, NULL);
    for (uint32_t i = 0; i < subject->count; i++) {
        get_words(subject, a, host[0] + i * words);
        get_words(subject, b, host[1] + i * words);
        if (!is_sum) {
            mpz_neg(b, b);
            mpz_addmul_ui(b, subject->p, subject->is_lazy ? 2 : 1);
        }
        mpz_add(a, a, b);
        if (mpz_cmp(a, quotients->bound) >= 0 || mpz_sgn(a) < 0)
            stage_fail(&stage, "element %u is not below the bound", i);
        put_words(subject, expected + i * words, a);
    }
    mpz_clears(a, b, NULL);
    stage_compare(&stage, "value", run_shoup(subject, &stage, name, host[0], host[1], host[1]),
        expected, subject->count, subject->field->bytes);
    free(expected);
    stage_end(&stage);
}

static void check_shoup(struct subject *subject)
{
    const size_t bytes = subject->field->bytes;
    struct quotients quotients = {.a = harness_memory(subject->count, bytes),
        .w = harness_memory(subject->count, bytes),
        .quotient = harness_memory(subject->count, bytes),
        .montgomery = harness_memory(subject->count, bytes)};
    const bool has = field_emit_has_quotients(subject->field);

    mpz_inits(quotients.radix, quotients.bound, NULL);
    mpz_setbit(quotients.radix, 32 * subject->field->words);
    mpz_mul_ui(quotients.bound, subject->p, subject->is_lazy ? 4 : 2);
    if (has != has_room(subject, &quotients)) {
        printf("a field of %u bits %s products with quotients\n", subject->field->bits,
            has ? "must not have" : "lacks");
        subject->harness->wrong++;
    } else if (has) {
        fill_quotients(subject, &quotients);
        check_shoup_products(subject, &quotients);
        check_shoup_quotients(subject, &quotients);
        check_unreduced(subject, &quotients, true);
        check_unreduced(subject, &quotients, false);
    }
    mpz_clears(quotients.radix, quotients.bound, NULL);
    free(quotients.a);
    free(quotients.w);
    free(quotients.quotient);
    free(quotients.montgomery);
}

static void set_numbers(struct subject *subject)
{
    const pool_field *field = subject->field;
    mpz_inits(subject->p, subject->limit, subject->inverse_r, subject->one, NULL);
    mpz_import(subject->p, field->limbs, -1, 8, 0, 0, field->modulus);
    mpz_set_ui(subject->one, 0);
    mpz_setbit(subject->one, 32 * field->words);
    /* Two spare bits make lazy forms; every 64-bit value is one in the Goldilocks field. */
    mpz_mul_ui(subject->limit, subject->p, 4);
    subject->is_lazy = field->kind == FIELD_KIND_GOLDILOCKS ||
                       (field->words > 1 && mpz_cmp(subject->limit, subject->one) <= 0);
    if (field->kind == FIELD_KIND_GOLDILOCKS)
        mpz_set(subject->limit, subject->one);
    else
        mpz_mul_ui(subject->limit, subject->p, 2);
    if ((field->flags & FIELD_DEVICE_STANDARD) != 0)
        mpz_set_ui(subject->one, 1);
    mpz_mod(subject->one, subject->one, subject->p);
    mpz_invert(subject->inverse_r, subject->one, subject->p);
}

static void check_field(struct harness *harness, const pool_field *field)
{
    struct subject subject = {.harness = harness,
        .field = field,
        .count = (uint32_t)harness_size(harness, SIM_PAIRS, GPU_PAIRS)};

    set_numbers(&subject);
    for (int lazy = 0; lazy < 2; lazy++) {
        for (int i = 0; i < 4; i++)
            subject.host[lazy][i] = harness_memory(subject.count, field->bytes);
        fill_arguments(&subject, lazy);
    }
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        check_operation(&subject, &operations[i]);
    check_batch_inverse(&subject);
    check_shoup(&subject);
    for (int lazy = 0; lazy < 2; lazy++)
        for (int i = 0; i < 4; i++)
            free(subject.host[lazy][i]);
    pool_module_destroy(&subject.module);
    mpz_clears(subject.p, subject.limit, subject.inverse_r, subject.one, NULL);
}

/* The smallest prime above 2^(bits - 1) + 2^(bits - 3), or the largest below 2^bits. */
static void check_custom(struct harness *harness, unsigned bits, bool is_full)
{
    mpz_t p;
    mpz_init(p);
    mpz_setbit(p, is_full ? bits : bits - 1);
    if (is_full) {
        do
            mpz_sub_ui(p, p, 1);
        while (mpz_probab_prime_p(p, 30) == 0);
    } else {
        mpz_setbit(p, bits - 3);
        mpz_nextprime(p, p);
    }
    char *modulus = mpz_get_str(NULL, 10, p);
    pool_field_params params = {.struct_size = sizeof(params)};
    pool_field *field = NULL;
    params.modulus = modulus;
    MUST(pool_field_create(&params, &field));
    check_field(harness, field);
    pool_field_destroy(&field);
    free(modulus);
    mpz_clear(p);
}

void check_field_stages(struct harness *harness)
{
    static const unsigned bits[] = {5, 17, 31, 32, 33, 61, 64, 127, 192, 255, 256, 381, 384, 753};

    gmp_randinit_mt(random_state);
    gmp_randseed_ui(random_state, 20261121);
    for (size_t i = 0; i < pool_field_count(); i++)
        if (is_sampled(i, 2))
            check_field(harness, pool_field_at(i));
    /* A sample has every size, with one of the two kinds. */
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        if (is_sampled(i, 2))
            check_custom(harness, bits[i], false);
        if (is_sampled(i + 1, 2))
            check_custom(harness, bits[i], true);
    }
    gmp_randclear(random_state);
}
