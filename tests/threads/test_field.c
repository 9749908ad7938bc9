/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First use of the built-in fields and curves by many threads at once, and references to one custom
 * curve retained and released by all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/curve.h>

enum { THREADS = 8, ROUNDS = 2000 };

static pthread_barrier_t start;
static atomic_int wrong; /* asserts off the main thread would end the program silently */

struct seen {
    const pool_field *field;
    const pool_curve *curve;
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
};

static void *use_first(void *arg)
{
    struct seen *seen = arg;

    pthread_barrier_wait(&start);
    seen->curve = pool_curve_by_name("bls12_377_g2");
    seen->field = pool_field_by_name("stark252");
    if (pool_curve_fingerprint(seen->curve, seen->fingerprint))
        atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void test_first_use(void **state)
{
    pthread_t threads[THREADS];
    struct seen seen[THREADS];

    (void)state;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_first, &seen[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(atomic_load(&wrong), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_non_null(seen[i].field);
        assert_ptr_equal(seen[i].field, seen[0].field);
        assert_ptr_equal(seen[i].curve, seen[0].curve);
        assert_memory_equal(seen[i].fingerprint, seen[0].fingerprint, POOL_FINGERPRINT_BYTES);
    }
}

static void *take_and_give(void *arg)
{
    pool_curve *curve = arg;

    for (int i = 0; i < ROUNDS; i++) {
        pool_curve *mine = pool_curve_retain(curve);
        pool_field *field = pool_field_retain(pool_curve_base_field(mine));
        uint8_t point[8];

        if (pool_random_points(mine, (uint64_t)i, 1, NULL, point, NULL))
            atomic_fetch_add(&wrong, 1);
        pool_curve_destroy(&mine);
        if (pool_field_bits(field) != 7)
            atomic_fetch_add(&wrong, 1);
        pool_field_destroy(&field);
    }
    pool_curve_destroy(&curve); /* the reference that this thread was given */
    return NULL;
}

static void test_references(void **state)
{
    pool_field_params field_params = {.struct_size = sizeof(field_params)};
    pool_curve_params params = {.struct_size = sizeof(params)};
    pthread_t threads[THREADS];
    pool_field *field;
    pool_curve *curve;

    (void)state;
    field_params.modulus = "97";
    assert_int_equal(pool_field_create(&field_params, &field), POOL_OK);
    params.field = field;
    params.a[0] = "2";
    params.b[0] = "3";
    params.generator_x[0] = "3";
    params.generator_y[0] = "6";
    params.order = "5";
    assert_int_equal(pool_curve_create(&params, &curve), POOL_OK);
    pool_field_destroy(&field);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, take_and_give, pool_curve_retain(curve)), 0);
    pool_curve_destroy(&curve);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_use),
        cmocka_unit_test(test_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
