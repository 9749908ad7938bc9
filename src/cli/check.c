/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent checks: transforms at random points, and inner products.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/bn.h>

#include "check.h"

enum {
    CHUNK = 512, /* elements that sum one inversion */
    MAX_THREADS = 32,
    MIN_RANGE = 4096 /* elements per thread */
};

/* A transform and an evaluation point: the values at w^k of the polynomial with coefficients
 * g^j x_j. */
struct problem {
    const pool_ntt_params *params;
    const uint8_t *coefficients;
    const uint8_t *values;
    int are_coefficients_reversed;
    int are_values_reversed;
    size_t bytes;
    uint32_t log_size;
    uint64_t batch;
    uint64_t transform;
    BIGNUM *p;
    BN_MONT_CTX *montgomery;
    BIGNUM *root;    /* w; this and the following in Montgomery form */
    BIGNUM *point;   /* y */
    BIGNUM *shifted; /* g y */
};

/* Partial sums of one thread: x_j (g y)^j and X_k w^k / (y - w^k) over its range of j and k. */
struct partial_sum {
    const struct problem *problem;
    pthread_t thread;
    uint64_t from;
    uint64_t to;
    BIGNUM *of_coefficients;
    BIGNUM *of_values;
};

static uint64_t reverse(uint64_t index, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (index >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* Loads element `index` of the transform, counted in natural order. */
static void load_element(const struct problem *problem, const uint8_t *items, int is_reversed,
    uint64_t index, BIGNUM *number)
{
    uint64_t position = is_reversed ? reverse(index, problem->log_size) : index;

    if (problem->params->layout == POOL_NTT_COLUMNS)
        position = position * problem->batch + problem->transform;
    else
        position += problem->transform << problem->log_size;
    BN_lebin2bn(items + position * problem->bytes, (int)problem->bytes, number);
}

static void power(BIGNUM *result, const BIGNUM *base, uint64_t exponent,
    const struct problem *problem, BN_CTX *context)
{
    BIGNUM *square = BN_dup(base);

    BN_to_montgomery(result, BN_value_one(), problem->montgomery, context);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            BN_mod_mul_montgomery(result, result, square, problem->montgomery, context);
        BN_mod_mul_montgomery(square, square, square, problem->montgomery, context);
    }
    BN_free(square);
}

/* Replaces a by 1/a, both in Montgomery form. */
static void invert(BIGNUM *a, const struct problem *problem, BN_CTX *context)
{
    BN_from_montgomery(a, a, problem->montgomery, context);
    BN_mod_inverse(a, a, problem->p, context);
    BN_to_montgomery(a, a, problem->montgomery, context);
}

/* Adds X_k w^k / (y - w^k) for one chunk, with a single inversion by Montgomery's trick. */
static void add_values(struct partial_sum *sum, uint64_t from, uint64_t to, BIGNUM **roots,
    BIGNUM **products, BIGNUM *running, BIGNUM *scratch, BN_CTX *context)
{
    const struct problem *problem = sum->problem;
    BN_MONT_CTX *montgomery = problem->montgomery;

    BN_to_montgomery(products[0], BN_value_one(), montgomery, context);
    for (uint64_t k = from; k < to; k++) {
        BN_copy(roots[k - from], running);
        BN_mod_sub_quick(scratch, problem->point, running, problem->p);
        BN_mod_mul_montgomery(
            products[k - from + 1], products[k - from], scratch, montgomery, context);
        BN_mod_mul_montgomery(running, running, problem->root, montgomery, context);
    }
    BN_copy(scratch, products[to - from]);
    invert(scratch, problem, context);
    for (uint64_t k = to; k-- > from;) {
        BIGNUM *root = roots[k - from];
        BIGNUM *inverse = products[k - from];
        BIGNUM *value = products[k - from + 1];

        BN_mod_mul_montgomery(inverse, inverse, scratch, montgomery, context);
        BN_mod_sub_quick(value, problem->point, root, problem->p);
        BN_mod_mul_montgomery(scratch, scratch, value, montgomery, context);
        BN_mod_mul_montgomery(root, root, inverse, montgomery, context);
        load_element(problem, problem->values, problem->are_values_reversed, k, value);
        BN_mod_mul_montgomery(value, value, root, montgomery, context);
        BN_mod_add_quick(sum->of_values, sum->of_values, value, problem->p);
    }
}

static void add_coefficients(
    struct partial_sum *sum, BIGNUM *running, BIGNUM *scratch, BN_CTX *context)
{
    const struct problem *problem = sum->problem;

    power(running, problem->shifted, sum->from, problem, context);
    for (uint64_t j = sum->from; j < sum->to; j++) {
        load_element(
            problem, problem->coefficients, problem->are_coefficients_reversed, j, scratch);
        BN_mod_mul_montgomery(scratch, scratch, running, problem->montgomery, context);
        BN_mod_add_quick(sum->of_coefficients, sum->of_coefficients, scratch, problem->p);
        BN_mod_mul_montgomery(running, running, problem->shifted, problem->montgomery, context);
    }
}

static void *compute_partial_sum(void *argument)
{
    struct partial_sum *sum = argument;
    BN_CTX *context = BN_CTX_new();
    BIGNUM *running = BN_new();
    BIGNUM *scratch = BN_new();
    BIGNUM *roots[CHUNK];
    BIGNUM *products[CHUNK + 1];

    for (size_t i = 0; i <= CHUNK; i++) {
        products[i] = BN_new();
        if (i < CHUNK)
            roots[i] = BN_new();
    }
    add_coefficients(sum, running, scratch, context);
    power(running, sum->problem->root, sum->from, sum->problem, context);
    for (uint64_t k = sum->from; k < sum->to; k += CHUNK) {
        uint64_t to = sum->to - k < CHUNK ? sum->to : k + CHUNK;

        add_values(sum, k, to, roots, products, running, scratch, context);
    }
    for (size_t i = 0; i <= CHUNK; i++) {
        BN_free(products[i]);
        if (i < CHUNK)
            BN_free(roots[i]);
    }
    BN_free(running);
    BN_free(scratch);
    BN_CTX_free(context);
    return NULL;
}

/* Computes all partial sums, one per thread, and adds them up in the first. */
static void compute_sums(struct partial_sum *sums, size_t count)
{
    size_t started = 1;

    while (started < count &&
           pthread_create(&sums[started].thread, NULL, compute_partial_sum, &sums[started]) == 0)
        started++;
    compute_partial_sum(&sums[0]);
    for (size_t i = 1; i < count; i++) {
        if (i < started)
            pthread_join(sums[i].thread, NULL);
        else
            compute_partial_sum(&sums[i]);
        BN_mod_add_quick(sums[0].of_coefficients, sums[0].of_coefficients, sums[i].of_coefficients,
            sums[i].problem->p);
        BN_mod_add_quick(
            sums[0].of_values, sums[0].of_values, sums[i].of_values, sums[i].problem->p);
    }
}

/* Compares n times the value by coefficients with (y^n - 1) times the sum by values. */
static int compare_sums(const struct problem *problem, const struct partial_sum *sum,
    const BIGNUM *y_to_n, BN_CTX *context)
{
    BIGNUM *left = BN_new();
    BIGNUM *right = BN_new();
    int is_equal;

    BN_zero(left);
    BN_set_bit(left, (int)problem->log_size);
    BN_mod_mul(left, left, sum->of_coefficients, problem->p, context);
    BN_from_montgomery(right, y_to_n, problem->montgomery, context);
    BN_mod_sub(right, right, BN_value_one(), problem->p, context);
    BN_mod_mul(right, right, sum->of_values, problem->p, context);
    is_equal = BN_cmp(left, right) == 0;
    BN_free(left);
    BN_free(right);
    return is_equal;
}

/* Checks one transform at one point. */
static int check_at_point(struct problem *problem, const BIGNUM *y_to_n, BN_CTX *context)
{
    uint64_t n = (uint64_t)1 << problem->log_size;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t count = processors > 1 ? (uint64_t)processors : 1;
    struct partial_sum sums[MAX_THREADS];
    int is_correct;

    count = count > MAX_THREADS ? MAX_THREADS : count;
    count = count > n / MIN_RANGE ? n / MIN_RANGE : count;
    count = count ? count : 1;
    for (uint64_t i = 0; i < count; i++) {
        sums[i] = (struct partial_sum){.problem = problem,
            .from = n / count * i,
            .to = i + 1 == count ? n : n / count * (i + 1),
            .of_coefficients = BN_new(),
            .of_values = BN_new()};
        BN_zero(sums[i].of_coefficients);
        BN_zero(sums[i].of_values);
    }
    compute_sums(sums, count);
    is_correct = compare_sums(problem, &sums[0], y_to_n, context);
    for (uint64_t i = 0; i < count; i++) {
        BN_free(sums[i].of_coefficients);
        BN_free(sums[i].of_values);
    }
    return is_correct;
}

/* Chooses a point outside the domain, on which the formula divides by zero, and computes y^n. */
static void choose_point(struct problem *problem, BIGNUM *y_to_n, BN_CTX *context)
{
    uint64_t n = (uint64_t)1 << problem->log_size;
    BIGNUM *one = BN_new();

    BN_to_montgomery(one, BN_value_one(), problem->montgomery, context);
    do {
        BN_rand_range(problem->point, problem->p);
        power(y_to_n, problem->point, n, problem, context);
    } while (BN_is_zero(problem->point) || BN_cmp(y_to_n, one) == 0);
    BN_free(one);
}

static void init_problem(struct problem *problem, const pool_ntt_params *params, const void *in,
    const void *out, BN_CTX *context)
{
    const pool_field *field = pool_ntt_domain_field(params->domain);
    int is_inverse = params->direction == POOL_NTT_INVERSE;
    int is_in_reversed = params->order == POOL_NTT_RN || params->order == POOL_NTT_RR;
    int is_out_reversed = params->order == POOL_NTT_NR || params->order == POOL_NTT_RR;
    uint8_t element[POOL_FIELD_MAX_BYTES];
    size_t bytes = pool_field_element_bytes(field);

    *problem = (struct problem){.params = params,
        .coefficients = is_inverse ? out : in,
        .values = is_inverse ? in : out,
        .are_coefficients_reversed = is_inverse ? is_out_reversed : is_in_reversed,
        .are_values_reversed = is_inverse ? is_in_reversed : is_out_reversed,
        .bytes = bytes,
        .log_size = pool_ntt_domain_log_size(params->domain),
        .batch = params->batch ? params->batch : 1,
        .montgomery = BN_MONT_CTX_new(),
        .point = BN_new(),
        .shifted = BN_new()};
    pool_field_modulus(field, element);
    problem->p = BN_lebin2bn(element, (int)bytes, NULL);
    BN_MONT_CTX_set(problem->montgomery, problem->p, context);
    pool_ntt_domain_root(params->domain, POOL_FORM_STANDARD, element);
    problem->root = BN_lebin2bn(element, (int)bytes, NULL);
    BN_to_montgomery(problem->root, problem->root, problem->montgomery, context);
}

/* Computes g y, or y without a coset. */
static void shift_point(struct problem *problem, BN_CTX *context)
{
    uint8_t element[POOL_FIELD_MAX_BYTES];

    BN_copy(problem->shifted, problem->point);
    if (!problem->params->coset)
        return;
    pool_ntt_domain_coset(problem->params->domain, POOL_FORM_STANDARD, element);
    BN_lebin2bn(element, (int)problem->bytes, problem->shifted);
    BN_mod_mul(problem->shifted, problem->shifted, problem->point, problem->p, context);
}

int cli_check_ntt(const pool_ntt_params *params, const void *in, const void *out)
{
    BN_CTX *context = BN_CTX_new();
    BIGNUM *y_to_n = BN_new();
    struct problem problem;
    int points;
    int is_correct = 1;

    init_problem(&problem, params, in, out, context);
    points = BN_num_bits(problem.p) < 60 ? 4 : 1;
    for (uint64_t i = 0; i < problem.batch * (uint64_t)points && is_correct; i++) {
        problem.transform = i / (uint64_t)points;
        choose_point(&problem, y_to_n, context);
        shift_point(&problem, context);
        is_correct = check_at_point(&problem, y_to_n, context);
    }
    BN_free(problem.p);
    BN_free(problem.root);
    BN_free(problem.point);
    BN_free(problem.shifted);
    BN_MONT_CTX_free(problem.montgomery);
    BN_free(y_to_n);
    BN_CTX_free(context);
    return is_correct;
}

void cli_inner_product(
    const pool_field *field, const void *a, const void *b, uint64_t count, void *sum)
{
    size_t bytes = pool_field_element_bytes(field);
    uint8_t modulus[POOL_FIELD_MAX_BYTES];
    BN_CTX *context = BN_CTX_new();
    BIGNUM *left = BN_new();
    BIGNUM *right = BN_new();
    BIGNUM *total = BN_new();
    BIGNUM *p;

    pool_field_modulus(field, modulus);
    p = BN_lebin2bn(modulus, (int)bytes, NULL);
    BN_zero(total);
    for (uint64_t i = 0; i < count; i++) {
        BN_lebin2bn((const uint8_t *)a + i * bytes, (int)bytes, left);
        BN_lebin2bn((const uint8_t *)b + i * bytes, (int)bytes, right);
        BN_mul(left, left, right, context);
        BN_add(total, total, left);
    }
    BN_mod(total, total, p, context);
    BN_bn2lebinpad(total, sum, (int)bytes);
    BN_free(left);
    BN_free(right);
    BN_free(total);
    BN_free(p);
    BN_CTX_free(context);
}
