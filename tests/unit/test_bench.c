/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurements that the command and tests/bench share: statistics, threads, and the checks of
 * results, which have to accept right transforms of all kinds and refuse each wrong element.
 */
#include "tools/bench/bench.h"

#include <stdatomic.h>
#include <unistd.h>

#include "support/ntt.h"

static void test_median(void **state)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};

    (void)state;
    assert_true(bench_median(odd, 3) == 2);
    assert_true(odd[0] == 1 && odd[2] == 3);
    assert_true(bench_median(even, 4) == 2.5);
    assert_true(bench_median(one, 1) == 7);
}

static pool_status count_call(void *argument)
{
    ++*(unsigned *)argument;
    return POOL_OK;
}

static pool_status fail_third_call(void *argument)
{
    return ++*(unsigned *)argument == 3 ? POOL_ERR_TIMEOUT : POOL_OK;
}

static void count_run(void *user, uint64_t run, uint64_t runs)
{
    assert_int_equal(run, (*(unsigned *)user)++);
    assert_int_equal(runs, 5);
}

/* By the host's clock, without a device. */
static void test_time(void **state)
{
    unsigned calls = 0, runs = 0;
    const struct bench_timer timer = {
        .warm_ups = 2, .repeat = 3, .calls = 4, .on_run = count_run, .user = &runs};
    struct bench_timing timing;

    (void)state;
    assert_ok(bench_time(&timer, count_call, &calls, &timing));
    assert_int_equal(calls, 5 * 4);
    assert_int_equal(runs, 5);
    assert_true(timing.min >= 0 && timing.min <= timing.median && timing.median <= timing.max);
    assert_true(timing.host_median == timing.median);
    calls = runs = 0;
    assert_int_equal(bench_time(&timer, fail_third_call, &calls, &timing), POOL_ERR_TIMEOUT);
    assert_int_equal(calls, 3);
}

static atomic_int started, stops;

static void *wait_for_stop(void *argument)
{
    (void)argument;
    atomic_fetch_add(&started, 1);
    while (!atomic_load(&stops))
        usleep(1000);
    return NULL;
}

static void *count_thread(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
    return NULL;
}

static void test_threads(void **state)
{
    atomic_int count = 0;

    (void)state;
    assert_true(bench_run_threads(5, 0, count_thread, &count));
    assert_int_equal(count, 5);
    assert_false(bench_has_timed_out());
    assert_false(bench_run_threads(2, 1, wait_for_stop, NULL));
    while (atomic_load(&started) < 2)
        usleep(1000);
    assert_true(bench_has_timed_out());
    atomic_store(&stops, 1);
    usleep(100000); /* both threads end, so that no memory of theirs is left */
    assert_true(bench_processors(1) == 1 && bench_processors(1000) >= 1);
}

/* Accepts the transform, and refuses it with element `index` of input or output changed. */
static void check_one(const pool_ntt_params *params, uint64_t seed)
{
    const pool_field *field = params->domain->field;
    uint64_t count = (params->batch ? params->batch : 1) << params->domain->log_size;
    uint8_t *in = ntt_random(field, seed, count), *out = ntt_expected(params, in);
    uint64_t index = seed * 2654435761u % count;

    assert_true(bench_check_ntt(params, in, out));
    out[index * field->bytes] ^= 1;
    assert_false(bench_check_ntt(params, in, out));
    out[index * field->bytes] ^= 1;
    in[index * field->bytes] ^= 1;
    assert_false(bench_check_ntt(params, in, out));
    free(in);
    free(out);
}

static void test_ntt(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear"};
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < BENCH_COUNT_OF(names); i++) {
        for (uint32_t log_size = 0; log_size < 6; log_size++) {
            pool_ntt_params params = {.struct_size = sizeof(params)};

            params.domain = ntt_domain(ntt_field(names[i]), log_size);
            for (int kind = 0; kind < 32; kind++) {
                params.order = (pool_ntt_order)(kind & 3);
                params.direction = (pool_ntt_direction)(kind >> 2 & 1);
                params.coset = kind >> 3 & 1;
                params.layout = (pool_ntt_layout)(kind >> 4);
                params.batch = (uint64_t)(kind % 3);
                check_one(&params, seed++);
            }
            assert_ok(pool_ntt_domain_destroy(&params.domain));
        }
    }
}

/* More than one range, so that several threads share the sums. */
static void test_large_ntt(void **state)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .order = POOL_NTT_NR, .coset = 1};

    (void)state;
    params.domain = ntt_domain(ntt_field("bn254_fr"), 14);
    check_one(&params, 1);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* (p - 1) (p - 1) + 2 * 3 + 4 (p - 1) = 3, with the first factor's partner repeated. */
static void test_inner_product(void **state)
{
    const pool_field *field = ntt_field("goldilocks");
    const uint64_t p = 0xffffffff00000001u, a[3] = {p - 1, 2, 4}, b[2] = {p - 1, 3};
    uint64_t sum;

    (void)state;
    bench_inner_product(field, a, b, 3, 2, &sum);
    assert_int_equal(sum, 3);
}

/* Products and sums of elements that the library computes as well. */
static void check_small(const char *name)
{
    const pool_field *field = pool_field_by_name(name);
    struct bench_small_field small;
    uint8_t *elements = malloc(64 * field->bytes), *one = malloc(field->bytes);

    assert_true(bench_small_field(name, &small));
    assert_int_equal(small.degree * small.bytes, field->bytes);
    assert_ok(pool_random_scalars(field, 1, 64, POOL_FORM_STANDARD, elements));
    for (uint64_t i = 0; i < 63; i++) {
        uint64_t a[BENCH_MAX_DEGREE], b[BENCH_MAX_DEGREE], got[BENCH_MAX_DEGREE];
        uint64_t left[FIELD_MAX_LIMBS] = {0}, right[FIELD_MAX_LIMBS] = {0};
        uint64_t sum[FIELD_MAX_LIMBS] = {0};

        bench_small_load(&small, elements, i, a);
        bench_small_load(&small, elements, i + 1, b);
        bench_small_store(&small, one, 0, a);
        assert_memory_equal(one, elements + i * field->bytes, field->bytes);
        field_load(field, left, elements + i * field->bytes);
        field_load(field, right, elements + (i + 1) * field->bytes);
        field_add(field, sum, left, right);
        field_store(field, one, sum);
        bench_small_add(&small, got, a, b);
        bench_small_load(&small, one, 0, sum);
        assert_true(bench_small_is_equal(&small, got, sum));
        field_to_montgomery(field, left, left);
        field_mul(field, sum, left, right);
        field_store(field, one, sum);
        bench_small_load(&small, one, 0, sum);
        bench_small_multiply(&small, got, a, b);
        assert_true(bench_small_is_equal(&small, got, sum));
        got[small.degree - 1] ^= 1;
        assert_false(bench_small_is_equal(&small, got, sum));
        memcpy(got, b, sizeof(got));
        memset(b + 1, 0, sizeof(b) - sizeof(b[0]));
        bench_small_multiply(&small, sum, a, b);
        bench_small_scale(&small, got, a, b[0]);
        assert_true(bench_small_is_equal(&small, got, sum));
    }
    free(elements);
    free(one);
}

static void test_small_fields(void **state)
{
    static const char *const names[] = {"goldilocks", "babybear", "koalabear", "mersenne31",
        "goldilocks_x2", "babybear_x4", "koalabear_x4"};
    struct bench_small_field small;

    (void)state;
    for (size_t i = 0; i < BENCH_COUNT_OF(names); i++)
        check_small(names[i]);
    assert_false(bench_small_field("bn254_fr", &small));
    assert_false(bench_small_field("none", &small));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_median), cmocka_unit_test(test_time),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_ntt),
        cmocka_unit_test(test_large_ntt), cmocka_unit_test(test_inner_product),
        cmocka_unit_test(test_small_fields)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
