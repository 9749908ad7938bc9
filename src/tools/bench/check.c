/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent checks by OpenSSL's integers: transforms at random points, and inner products.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/rand.h>

#include "check.h"

enum {
    MAX_THREADS = 64,
    RANGE = 4096, /* elements that a thread processes at a time */
};

/*
 * A transform of n elements and a random point y outside the domain of w. With z = y^n - 1, the
 * polynomial with coefficients g^j x_j and values X_k at w^k satisfies
 *
 *   n sum_j x_j (g y)^j = z sum_k X_k w^k / (y - w^k) = sum_k X_k w^k prod_(i != k) (y - w^i),
 *
 * because z is the product of all y - w^i. The right side is the numerator of the sum of fractions,
 * so no inversion is needed. Transforms of a batch are combined by the powers of a random number.
 */
struct problem {
    const pool_ntt_params *params;
    const struct check_transform *transform;
    BIGNUM *p;
    BN_MONT_CTX *montgomery;
    BIGNUM *root;    /* w; this and the following in Montgomery form */
    BIGNUM *point;   /* y */
    BIGNUM *shifted; /* g y */
    BIGNUM *combiner;
    atomic_uint_fast64_t next; /* first index of the next range */
    pthread_mutex_t lock;
    /* The total, guarded by lock: sum_j, and sum_k as a fraction. */
    BIGNUM *of_coefficients;
    BIGNUM *numerator;
    BIGNUM *denominator;
};

void check_random(void *bytes, size_t count)
{
    RAND_bytes(bytes, (int)count);
}

uint64_t check_reverse_bits(uint64_t index, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (index >> i & 1) << (bits - 1 - i);
    return reversed;
}

static void multiply_montgomery(
    const struct problem *problem, BIGNUM *product, const BIGNUM *a, const BIGNUM *b, BN_CTX *ctx)
{
    BN_mod_mul_montgomery(product, a, b, problem->montgomery, ctx);
}

/* Loads the combination of element `index`, counted in natural order, of all transforms. */
static void load_element(const struct problem *problem, const uint8_t *items, bool is_reversed,
    uint64_t index, BIGNUM *sum, BIGNUM *element, BN_CTX *ctx)
{
    const struct check_transform *transform = problem->transform;
    const int bytes = (int)transform->bytes;
    uint64_t stride = transform->has_columns ? 1 : UINT64_C(1) << transform->log_size;

    if (is_reversed)
        index = check_reverse_bits(index, transform->log_size);
    items += (transform->has_columns ? index * transform->batch : index) * transform->bytes;
    BN_lebin2bn(items, bytes, sum);
    for (uint64_t i = 1; i < transform->batch; i++) {
        multiply_montgomery(problem, sum, sum, problem->combiner, ctx);
        BN_lebin2bn(items + i * stride * transform->bytes, bytes, element);
        BN_mod_add_quick(sum, sum, element, problem->p);
    }
}

static void raise_to_power(const struct problem *problem, BIGNUM *result, const BIGNUM *base,
    uint64_t exponent, BN_CTX *ctx)
{
    BIGNUM *square = BN_dup(base);

    BN_to_montgomery(result, BN_value_one(), problem->montgomery, ctx);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            multiply_montgomery(problem, result, result, square, ctx);
        multiply_montgomery(problem, square, square, square, ctx);
    }
    BN_free(square);
}

/* Adds the fraction by cross-multiplication: a/b += c/d. Overwrites c. */
static void add_fraction(
    const struct problem *problem, BIGNUM *a, BIGNUM *b, BIGNUM *c, const BIGNUM *d, BN_CTX *ctx)
{
    multiply_montgomery(problem, a, a, d, ctx);
    multiply_montgomery(problem, c, c, b, ctx);
    BN_mod_add_quick(a, a, c, problem->p);
    multiply_montgomery(problem, b, b, d, ctx);
}

/* Sums ranges of j and k, and adds the sums to the total. */
static void *sum_ranges(void *argument)
{
    struct problem *problem = argument;
    const struct check_transform *transform = problem->transform;
    uint64_t n = UINT64_C(1) << transform->log_size;
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *of_coefficients, *numerator, *denominator, *power, *root, *item, *difference;
    uint64_t first;

    BN_CTX_start(ctx);
    of_coefficients = BN_CTX_get(ctx);
    numerator = BN_CTX_get(ctx);
    denominator = BN_CTX_get(ctx);
    power = BN_CTX_get(ctx);
    root = BN_CTX_get(ctx);
    item = BN_CTX_get(ctx);
    difference = BN_CTX_get(ctx);
    BN_zero(of_coefficients);
    BN_zero(numerator);
    BN_to_montgomery(denominator, BN_value_one(), problem->montgomery, ctx);
    while ((first = atomic_fetch_add(&problem->next, RANGE)) < n) {
        raise_to_power(problem, power, problem->shifted, first, ctx);
        raise_to_power(problem, root, problem->root, first, ctx);
        for (uint64_t i = first; i < n && i < first + RANGE; i++) {
            load_element(problem, transform->coefficients, transform->are_coefficients_reversed, i,
                item, difference, ctx);
            multiply_montgomery(problem, item, item, power, ctx);
            BN_mod_add_quick(of_coefficients, of_coefficients, item, problem->p);
            multiply_montgomery(problem, power, power, problem->shifted, ctx);
            load_element(problem, transform->values, transform->are_values_reversed, i, item,
                difference, ctx);
            multiply_montgomery(problem, item, item, root, ctx);
            BN_mod_sub_quick(difference, problem->point, root, problem->p);
            add_fraction(problem, numerator, denominator, item, difference, ctx);
            multiply_montgomery(problem, root, root, problem->root, ctx);
        }
    }
    pthread_mutex_lock(&problem->lock);
    BN_mod_add_quick(
        problem->of_coefficients, problem->of_coefficients, of_coefficients, problem->p);
    add_fraction(problem, problem->numerator, problem->denominator, numerator, denominator, ctx);
    pthread_mutex_unlock(&problem->lock);
    BN_CTX_end(ctx);
    BN_CTX_free(ctx);
    return NULL;
}

/* Chooses a point outside the domain, its shift to the coset, and the combiner of the batch. */
static void choose_point(struct problem *problem, BN_CTX *ctx)
{
    uint8_t element[POOL_FIELD_MAX_BYTES];
    BIGNUM *one = BN_new();
    BIGNUM *y_to_n = BN_new();

    BN_to_montgomery(one, BN_value_one(), problem->montgomery, ctx);
    do {
        BN_rand_range(problem->point, problem->p);
        raise_to_power(
            problem, y_to_n, problem->point, UINT64_C(1) << problem->transform->log_size, ctx);
    } while (BN_is_zero(problem->point) || BN_cmp(y_to_n, one) == 0);
    BN_rand_range(problem->combiner, problem->p);
    BN_copy(problem->shifted, problem->point);
    if (problem->params->coset) {
        pool_ntt_domain_coset(problem->params->domain, POOL_FORM_STANDARD, element);
        BN_lebin2bn(element, (int)problem->transform->bytes, problem->shifted);
        BN_mod_mul(problem->shifted, problem->shifted, problem->point, problem->p, ctx);
    }
    BN_free(one);
    BN_free(y_to_n);
}

/* Checks the batch at one point. */
static bool check_at_point(struct problem *problem, BN_CTX *ctx)
{
    uint64_t ranges = ((UINT64_C(1) << problem->transform->log_size) + RANGE - 1) / RANGE;
    BIGNUM *n = BN_new();
    bool is_correct;

    choose_point(problem, ctx);
    atomic_store(&problem->next, 0);
    BN_zero(problem->of_coefficients);
    BN_zero(problem->numerator);
    BN_to_montgomery(problem->denominator, BN_value_one(), problem->montgomery, ctx);
    bench_run_threads(
        bench_processors(ranges < MAX_THREADS ? ranges : MAX_THREADS), 0, sum_ranges, problem);
    BN_zero(n);
    BN_set_bit(n, (int)problem->transform->log_size);
    BN_mod_mul(n, n, problem->of_coefficients, problem->p, ctx);
    is_correct = BN_cmp(n, problem->numerator) == 0;
    BN_free(n);
    return is_correct;
}

/* Elements of more than 64 bits. */
static bool check_wide_transform(
    const pool_ntt_params *params, const struct check_transform *transform)
{
    struct problem problem = {.params = params,
        .transform = transform,
        .montgomery = BN_MONT_CTX_new(),
        .lock = PTHREAD_MUTEX_INITIALIZER};
    BIGNUM **const numbers[] = {&problem.p, &problem.root, &problem.point, &problem.shifted,
        &problem.combiner, &problem.of_coefficients, &problem.numerator, &problem.denominator};
    BN_CTX *ctx = BN_CTX_new();
    uint8_t element[POOL_FIELD_MAX_BYTES];
    bool is_correct;

    for (size_t i = 0; i < BENCH_COUNT_OF(numbers); i++)
        *numbers[i] = BN_new();
    pool_field_modulus(pool_ntt_domain_field(params->domain), element);
    BN_lebin2bn(element, (int)transform->bytes, problem.p);
    BN_MONT_CTX_set(problem.montgomery, problem.p, ctx);
    pool_ntt_domain_root(params->domain, POOL_FORM_STANDARD, element);
    BN_lebin2bn(element, (int)transform->bytes, problem.root);
    BN_to_montgomery(problem.root, problem.root, problem.montgomery, ctx);
    is_correct = check_at_point(&problem, ctx);
    for (size_t i = 0; i < BENCH_COUNT_OF(numbers); i++)
        BN_free(*numbers[i]);
    BN_MONT_CTX_free(problem.montgomery);
    BN_CTX_free(ctx);
    return is_correct;
}

static uint64_t word_of(const uint8_t *element, size_t bytes)
{
    uint64_t word = 0;

    memcpy(&word, element, bytes);
    return word;
}

static bool check_short_transform(
    const pool_ntt_params *params, const struct check_transform *transform)
{
    uint8_t modulus[POOL_FIELD_MAX_BYTES], root[POOL_FIELD_MAX_BYTES];
    uint8_t generator[POOL_FIELD_MAX_BYTES] = {1};

    pool_field_modulus(pool_ntt_domain_field(params->domain), modulus);
    pool_ntt_domain_root(params->domain, POOL_FORM_STANDARD, root);
    if (params->coset)
        pool_ntt_domain_coset(params->domain, POOL_FORM_STANDARD, generator);
    return check_small_transform(transform, word_of(modulus, transform->bytes),
        word_of(root, transform->bytes), word_of(generator, transform->bytes));
}

bool bench_check_ntt(const pool_ntt_params *params, const void *in, const void *out)
{
    const bool is_inverse = params->direction == POOL_NTT_INVERSE;
    const bool is_in_reversed = params->order == POOL_NTT_RN || params->order == POOL_NTT_RR;
    const bool is_out_reversed = params->order == POOL_NTT_NR || params->order == POOL_NTT_RR;
    const struct check_transform transform = {.coefficients = is_inverse ? out : in,
        .values = is_inverse ? in : out,
        .are_coefficients_reversed = is_inverse ? is_out_reversed : is_in_reversed,
        .are_values_reversed = is_inverse ? is_in_reversed : is_out_reversed,
        .has_columns = params->layout == POOL_NTT_COLUMNS,
        .bytes = pool_field_element_bytes(pool_ntt_domain_field(params->domain)),
        .log_size = pool_ntt_domain_log_size(params->domain),
        .batch = params->batch ? params->batch : 1};

    return transform.bytes <= sizeof(uint64_t) ? check_short_transform(params, &transform)
                                               : check_wide_transform(params, &transform);
}

/* An inner product whose ranges are summed by several threads. */
struct products {
    const uint8_t *a;
    const uint8_t *b;
    size_t bytes;
    uint64_t count;
    uint64_t period;
    atomic_uint_fast64_t next; /* first index of the next range */
    pthread_mutex_t lock;
    BIGNUM *total; /* guarded by lock; not reduced */
};

static void *sum_products(void *argument)
{
    struct products *products = argument;
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *left = BN_new();
    BIGNUM *right = BN_new();
    BIGNUM *sum = BN_new();
    uint64_t first;

    BN_zero(sum);
    while ((first = atomic_fetch_add(&products->next, RANGE)) < products->count)
        for (uint64_t i = first; i < products->count && i < first + RANGE; i++) {
            BN_lebin2bn(products->a + i * products->bytes, (int)products->bytes, left);
            BN_lebin2bn(
                products->b + i % products->period * products->bytes, (int)products->bytes, right);
            BN_mul(left, left, right, ctx);
            BN_add(sum, sum, left);
        }
    pthread_mutex_lock(&products->lock);
    BN_add(products->total, products->total, sum);
    pthread_mutex_unlock(&products->lock);
    BN_free(left);
    BN_free(right);
    BN_free(sum);
    BN_CTX_free(ctx);
    return NULL;
}

void bench_inner_product(const pool_field *field, const void *a, const void *b, uint64_t count,
    uint64_t period, void *sum)
{
    struct products products = {.a = a,
        .b = b,
        .bytes = pool_field_element_bytes(field),
        .count = count,
        .period = period,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .total = BN_new()};
    uint64_t ranges = (count + RANGE - 1) / RANGE;
    uint8_t modulus[POOL_FIELD_MAX_BYTES];
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *p = BN_new();

    BN_zero(products.total);
    bench_run_threads(
        bench_processors(ranges < MAX_THREADS ? ranges : MAX_THREADS), 0, sum_products, &products);
    pool_field_modulus(field, modulus);
    BN_lebin2bn(modulus, (int)products.bytes, p);
    BN_mod(products.total, products.total, p, ctx);
    BN_bn2lebinpad(products.total, sum, (int)products.bytes);
    BN_free(p);
    BN_free(products.total);
    BN_CTX_free(ctx);
}
