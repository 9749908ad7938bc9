/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of transforms over fields of at most 64 bits by 64-bit integers, in Montgomery's form,
 * independent of the library's arithmetic. The equation is that of check.c. It is linear in the
 * elements of both sides, so standard elements are used as if they were in Montgomery's form.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MAX_THREADS = 64, RANGE = 4096, POINTS = 4 };

struct small_problem {
    const struct check_transform *transform;
    uint64_t p;
    uint64_t inverse; /* -1/p mod 2^64 */
    uint64_t one;
    uint64_t root; /* w; this and the next two in Montgomery's form */
    uint64_t point;
    uint64_t shifted;
    const uint32_t *combiner; /* a factor for each transform of the batch */
    atomic_uint_fast64_t next;
    pthread_mutex_t lock;
    /* The total, guarded by lock: sum_j, and sum_k as a fraction. */
    uint64_t of_coefficients;
    uint64_t numerator;
    uint64_t denominator;
};

/* t / 2^64 mod p for t < 2^64 p */
static uint64_t reduce(const struct small_problem *problem, unsigned __int128 t)
{
    const uint64_t p = problem->p;
    const uint64_t low = (uint64_t)t;
    const unsigned __int128 multiple = (unsigned __int128)(low * problem->inverse) * p;
    unsigned __int128 sum = (t >> 64) + (multiple >> 64) + (low != 0);

    return (uint64_t)(sum >= p ? sum - p : sum);
}

static uint64_t multiply(const struct small_problem *problem, uint64_t a, uint64_t b)
{
    return reduce(problem, (unsigned __int128)a * b);
}

static uint64_t add(const struct small_problem *problem, uint64_t a, uint64_t b)
{
    return a >= problem->p - b ? a - (problem->p - b) : a + b;
}

static uint64_t subtract(const struct small_problem *problem, uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + (problem->p - b);
}

static uint64_t power(const struct small_problem *problem, uint64_t base, uint64_t exponent)
{
    uint64_t result = problem->one;

    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(problem, result, base);
        base = multiply(problem, base, base);
    }
    return result;
}

/* Of an integer below p. */
static uint64_t to_montgomery(const struct small_problem *problem, uint64_t x)
{
    return (uint64_t)(((unsigned __int128)x << 64) % problem->p);
}

static uint64_t load(const uint8_t *element, size_t bytes)
{
    uint32_t word;
    uint64_t words;

    if (bytes == sizeof(word)) {
        memcpy(&word, element, sizeof(word));
        return word;
    }
    memcpy(&words, element, sizeof(words));
    return words;
}

/* The combination of element `index`, counted in natural order, of all transforms. */
static uint64_t load_element(
    const struct small_problem *problem, const uint8_t *items, bool is_reversed, uint64_t index)
{
    const struct check_transform *transform = problem->transform;
    const uint64_t batch = transform->batch;
    const uint64_t n = UINT64_C(1) << transform->log_size;
    const uint64_t stride = (transform->has_columns ? 1 : n) * transform->bytes;
    unsigned __int128 sum = 0;

    if (is_reversed)
        index = check_reverse_bits(index, transform->log_size);
    items += (transform->has_columns ? index * batch : index) * transform->bytes;
    for (uint64_t i = 0; i < batch; i++)
        sum += (unsigned __int128)load(items + i * stride, transform->bytes) * problem->combiner[i];
    return reduce(problem, sum);
}

/* Adds the fraction c/d to a/b by cross-multiplication. */
static void add_fraction(
    const struct small_problem *problem, uint64_t *a, uint64_t *b, uint64_t c, uint64_t d)
{
    *a = add(problem, multiply(problem, *a, d), multiply(problem, c, *b));
    *b = multiply(problem, *b, d);
}

static void *sum_ranges(void *argument)
{
    struct small_problem *problem = argument;
    const struct check_transform *transform = problem->transform;
    const uint64_t n = UINT64_C(1) << transform->log_size;
    uint64_t of_coefficients = 0, numerator = 0, denominator = problem->one, first;

    while ((first = atomic_fetch_add(&problem->next, RANGE)) < n) {
        uint64_t factor = power(problem, problem->shifted, first);
        uint64_t root = power(problem, problem->root, first);

        for (uint64_t i = first; i < n && i < first + RANGE; i++) {
            uint64_t item = load_element(
                problem, transform->coefficients, transform->are_coefficients_reversed, i);

            of_coefficients = add(problem, of_coefficients, multiply(problem, item, factor));
            factor = multiply(problem, factor, problem->shifted);
            item = load_element(problem, transform->values, transform->are_values_reversed, i);
            add_fraction(problem, &numerator, &denominator, multiply(problem, item, root),
                subtract(problem, problem->point, root));
            root = multiply(problem, root, problem->root);
        }
    }
    pthread_mutex_lock(&problem->lock);
    problem->of_coefficients = add(problem, problem->of_coefficients, of_coefficients);
    add_fraction(problem, &problem->numerator, &problem->denominator, numerator, denominator);
    pthread_mutex_unlock(&problem->lock);
    return NULL;
}

/* Any integer below p, in any form. */
static uint64_t random_element(const struct small_problem *problem)
{
    uint64_t x;

    check_random(&x, sizeof(x));
    return x % problem->p;
}

static bool check_at_point(struct small_problem *problem, uint64_t generator, uint32_t *combiner)
{
    const struct check_transform *transform = problem->transform;
    const uint64_t n = UINT64_C(1) << transform->log_size;
    const uint64_t ranges = (n + RANGE - 1) / RANGE;

    do
        problem->point = random_element(problem);
    while (!problem->point || power(problem, problem->point, n) == problem->one);
    problem->shifted = multiply(problem, problem->point, generator);
    check_random(combiner, transform->batch * sizeof(*combiner));
    problem->combiner = combiner;
    atomic_store(&problem->next, 0);
    problem->of_coefficients = problem->numerator = 0;
    problem->denominator = problem->one;
    bench_run_threads(
        bench_processors(ranges < MAX_THREADS ? ranges : MAX_THREADS), 0, sum_ranges, problem);
    return multiply(problem, to_montgomery(problem, n % problem->p), problem->of_coefficients) ==
           problem->numerator;
}

bool check_small_transform(
    const struct check_transform *transform, uint64_t p, uint64_t root, uint64_t generator)
{
    struct small_problem problem = {
        .transform = transform, .p = p, .inverse = 1, .lock = PTHREAD_MUTEX_INITIALIZER};
    uint32_t *combiner = bench_alloc(transform->batch, sizeof(*combiner));
    bool is_correct = true;

    for (int i = 0; i < 6; i++) /* Newton: 1/p */
        problem.inverse *= 2 - p * problem.inverse;
    problem.inverse = -problem.inverse;
    problem.one = to_montgomery(&problem, 1);
    problem.root = to_montgomery(&problem, root);
    generator = to_montgomery(&problem, generator);
    for (int i = 0; i < POINTS && is_correct; i++)
        is_correct = check_at_point(&problem, generator, combiner);
    free(combiner);
    return is_correct;
}
