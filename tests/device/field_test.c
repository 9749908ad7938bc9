/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every device operation of every built-in field and of custom ones against GMP, at the edges of
 * the field and of its words and on random values: on the machine's GPU (exit 77 without one) or,
 * with the argument `sim`, on a simulated device. Two more arguments share the work out: part 0 of
 * 4, say.
 */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

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

/* One field under test: its numbers, and arguments a, b, c, d on host and device. */
struct subject {
    struct device *device;
    const pool_field *field;
    CUmodule module;
    bool is_lazy;
    mpz_t p, limit, inverse_r, one; /* limit: of lazy values; one: 1 in the device's form */
    uint32_t count;
    uint32_t *host[2][4]; /* [strict, lazy] */
    CUdeviceptr memory[2][4];
    CUdeviceptr result;
};

static gmp_randstate_t random_state;

/* Of `parts` processes that share the fields, this is number `part`. */
static unsigned part, parts = 1, fields_seen;

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

static void fail(const struct subject *subject, const char *name, mpz_t v[4], const mpz_t got,
    const mpz_t expected)
{
    gmp_printf("%s of a field of %u bits\n  p %#Zx\n  a %#Zx\n  b %#Zx\n  c %#Zx\n  d %#Zx\n"
               "  gives    %#Zx\n  expected %#Zx\n",
        name, subject->field->bits, subject->p, v[0], v[1], v[2], v[3], got, expected);
    exit(1);
}

static void check_operation(struct subject *subject, const struct operation *operation)
{
    int lazy = operation->is_lazy && subject->is_lazy;
    uint32_t n = subject->count, words = subject->field->words;
    CUdeviceptr *in = subject->memory[lazy];
    void *arguments[] = {&in[0], &in[1], &in[2], &in[3], &subject->result, &n};
    uint32_t *results = malloc((size_t)n * subject->field->bytes);
    mpz_t v[4], got, expected;

    device_run(subject->device, subject->module, operation->name, (n + 127) / 128, 128, arguments);
    device_download(subject->device, results, subject->result, (size_t)n * subject->field->bytes);
    mpz_inits(v[0], v[1], v[2], v[3], got, expected, NULL);
    for (uint32_t i = 0; i < n; i += (uint32_t)operation->every) {
        for (int argument = 0; argument < 4; argument++)
            get_words(subject, v[argument], subject->host[lazy][argument] + (size_t)i * words);
        get_words(subject, got, results + (size_t)i * words);
        expect(subject, operation->formula, expected, v);
        bool is_in_range =
            mpz_cmp(got, lazy && !operation->is_reducing ? subject->limit : subject->p) < 0;
        if (lazy && !operation->is_reducing && is_in_range) {
            mpz_t reduced;
            mpz_init(reduced);
            mpz_mod(reduced, got, subject->p);
            is_in_range = mpz_cmp(reduced, expected) == 0;
            mpz_clear(reduced);
        } else {
            is_in_range = is_in_range && mpz_cmp(got, expected) == 0;
        }
        if (!is_in_range)
            fail(subject, operation->name, v, got, expected);
    }
    mpz_clears(v[0], v[1], v[2], v[3], got, expected, NULL);
    free(results);
}

/* Values and zeros inverted together, against the single inversions. */
static void check_batch_inverse(struct subject *subject)
{
    uint32_t n = 1024, words = subject->field->words;
    CUdeviceptr values =
        device_upload(subject->device, subject->host[0][0], (size_t)n * subject->field->bytes);
    CUdeviceptr scratch = device_alloc(subject->device, (size_t)n * subject->field->bytes);
    uint32_t *results = malloc((size_t)n * subject->field->bytes);
    void *arguments[] = {&values, &scratch, &n};
    mpz_t v[4], got, expected;
    mpz_inits(v[0], v[1], v[2], v[3], got, expected, NULL);
    device_run(subject->device, subject->module, "batch_inverse", 1, 64, arguments);
    device_download(subject->device, results, values, (size_t)n * subject->field->bytes);
    for (uint32_t i = 0; i < n; i++) {
        get_words(subject, v[0], subject->host[0][0] + (size_t)i * words);
        get_words(subject, got, results + (size_t)i * words);
        expect(subject, INVERSE, expected, v);
        if (mpz_cmp(got, expected) != 0)
            fail(subject, "batch_inverse", v, got, expected);
    }
    mpz_clears(v[0], v[1], v[2], v[3], got, expected, NULL);
    device_free(subject->device, values);
    device_free(subject->device, scratch);
    free(results);
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

static void check_field(struct device *device, const pool_field *field)
{
    struct subject subject = {.device = device, .field = field};
    if (fields_seen++ % parts != part)
        return;
    subject.count = device->is_simulated ? SIM_PAIRS : GPU_PAIRS;
    size_t bytes = (size_t)subject.count * field->bytes;
    char *text = device_field_text(field, "fq");
    const struct device_text texts[] = {{"fq.cuh", text}};
    set_numbers(&subject);
    subject.module = device_build(device, device_kernels("field_kernels.cu"), texts, 1);
    subject.result = device_alloc(device, bytes);
    for (int lazy = 0; lazy < 2; lazy++) {
        for (int i = 0; i < 4; i++)
            subject.host[lazy][i] = malloc(bytes);
        fill_arguments(&subject, lazy);
        for (int i = 0; i < 4; i++)
            subject.memory[lazy][i] = device_upload(device, subject.host[lazy][i], bytes);
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        check_operation(&subject, &operations[i]);
    check_batch_inverse(&subject);
    printf("ok: %s, %u bits, %u words%s: %zu operations on %u values each\n",
        pool_field_name(field), field->bits, field->words, subject.is_lazy ? ", lazy" : "",
        sizeof operations / sizeof operations[0], subject.count);
    for (int lazy = 0; lazy < 2; lazy++)
        for (int i = 0; i < 4; i++) {
            device_free(device, subject.memory[lazy][i]);
            free(subject.host[lazy][i]);
        }
    device_free(device, subject.result);
    device_unload(device, subject.module);
    mpz_clears(subject.p, subject.limit, subject.inverse_r, subject.one, NULL);
    free(text);
}

/* The smallest prime above 2^(bits - 1) + 2^(bits - 3), or the largest below 2^bits. */
static void check_custom(struct device *device, unsigned bits, bool is_full)
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
    if (pool_field_create(&params, &field)) {
        printf("%s: %s\n", modulus, pool_last_error()->message);
        exit(1);
    }
    check_field(device, field);
    pool_field_destroy(&field);
    free(modulus);
    mpz_clear(p);
}

int main(int argc, char **argv)
{
    static const unsigned bits[] = {5, 17, 31, 32, 33, 61, 64, 127, 192, 255, 256, 381, 384, 753};
    struct device device;
    const pool_cuda_api *table = NULL;
    if (argc > 1 && strcmp(argv[1], "sim") == 0)
        table = device_simulated();
    if (argc > 3) {
        part = (unsigned)atoi(argv[2]);
        parts = (unsigned)atoi(argv[3]);
    }
    if (!device_open(&device, table))
        return 77;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%s\n", device.name);
    gmp_randinit_mt(random_state);
    gmp_randseed_ui(random_state, 20261121);
    for (size_t i = 0; i < pool_field_count(); i++)
        check_field(&device, pool_field_at(i));
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        check_custom(&device, bits[i], false);
        check_custom(&device, bits[i], true);
    }
    gmp_randclear(random_state);
    device_close(&device);
    return 0;
}
