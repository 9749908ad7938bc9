/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms from many threads at once: one domain for all, two simulated devices, each thread on
 * its own stream with several asynchronous calls in flight, the first use included. Then the laws:
 * the inverse restores the input, transforms are linear, products of values are convolutions, a
 * shift of the input multiplies the output by powers.
 */
#include "support/ntt.h"
#include "support/pool.h"

#include <pthread.h>

enum { THREADS = 6, CALLS = 4, LOG_SIZE = 9 };

static pool_ntt_domain *domain;

struct worker {
    pthread_t thread;
    unsigned number;
    int wrong;
};

static pool_status run_call(pool_device *device, pool_stream *stream, const pool_ntt_params *params,
    uint8_t *data, uint64_t count)
{
    const pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .stream = stream, .is_async = 1};
    pool_span span = {.data = data, .count = count};

    return pool_ntt(params, &exec, &span, &span);
}

/* No assertion here: only the main thread may fail. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    uint64_t count = (uint64_t)2 << LOG_SIZE;
    uint8_t *data[CALLS] = {NULL}, *wanted[CALLS] = {NULL};
    pool_device *device = NULL;
    pool_stream *stream = NULL;

    worker->wrong = pool_device_at(pool, worker->number % 2, &device) != POOL_OK ||
                    pool_stream_create(device, NULL, &stream) != POOL_OK;
    for (unsigned i = 0; i < CALLS && !worker->wrong; i++) {
        pool_ntt_params params = {.struct_size = sizeof(params),
            .domain = domain,
            .batch = 2,
            .order = (pool_ntt_order)((worker->number + i) % 4),
            .direction = (pool_ntt_direction)(i % 2),
            .coset = worker->number % 2};
        struct ntt_reference reference = {
            domain, params.direction, params.order, params.layout, 2, params.coset};

        data[i] = malloc(count * 4);
        wanted[i] = malloc(count * 4);
        worker->wrong = pool_random_scalars(domain->field, worker->number * CALLS + i, count,
                            POOL_FORM_STANDARD, data[i]) != POOL_OK ||
                        ntt_reference_run(&reference, data[i], wanted[i]) != POOL_OK ||
                        run_call(device, stream, &params, data[i], count) != POOL_OK;
    }
    worker->wrong |= pool_stream_synchronize(stream) != POOL_OK;
    for (unsigned i = 0; i < CALLS; i++) {
        worker->wrong |= !data[i] || memcmp(data[i], wanted[i], count * 4) != 0;
        free(data[i]);
        free(wanted[i]);
    }
    worker->wrong |= pool_stream_destroy(&stream) != POOL_OK;
    return NULL;
}

static void test_threads(void **state)
{
    struct worker workers[THREADS];

    (void)state;
    domain = ntt_domain(ntt_field("babybear"), LOG_SIZE);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_false(workers[i].wrong);
    }
    assert_ok(pool_ntt_domain_destroy(&domain));
}

/* ---- laws ------------------------------------------------------------------------------------ */

static pool_device *first_device(void)
{
    pool_device *device = NULL;

    assert_ok(pool_device_at(pool, 0, &device));
    return device;
}

static void transform(
    pool_ntt_domain *on, pool_ntt_direction direction, int coset, pool_ntt_order order, void *data)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = on,
        .direction = direction,
        .coset = coset,
        .order = order};
    pool_exec exec = {.struct_size = sizeof(exec), .device = first_device()};
    pool_span span = ntt_host(data, (uint64_t)1 << on->log_size);

    assert_ok(pool_ntt(&params, &exec, &span, &span));
}

static void check_laws(const char *name, uint32_t log_size)
{
    const pool_field *field = ntt_field(name);
    pool_ntt_domain *on = ntt_domain(field, log_size);
    uint64_t n = (uint64_t)1 << log_size, bytes = n * field->bytes;
    pool_exec vector = {.struct_size = sizeof(vector), .device = first_device()};
    uint8_t *a = ntt_random(field, 1, n), *b = ntt_random(field, 2, n), *kept = malloc(bytes),
            *sum = malloc(bytes), *root = malloc(field->bytes);
    pool_span span_a = ntt_host(a, n), span_b = ntt_host(b, n), span_sum = ntt_host(sum, n);

    /* forward and inverse, on the coset and through bit-reversed order */
    memcpy(kept, a, bytes);
    transform(on, POOL_NTT_FORWARD, 1, POOL_NTT_NR, a);
    assert_memory_not_equal(a, kept, bytes);
    transform(on, POOL_NTT_INVERSE, 1, POOL_NTT_RN, a);
    assert_memory_equal(a, kept, bytes);
    /* linearity */
    assert_ok(pool_vector_add(field, &vector, &span_a, &span_b, &span_sum));
    transform(on, POOL_NTT_FORWARD, 0, POOL_NTT_NN, a);
    transform(on, POOL_NTT_FORWARD, 0, POOL_NTT_NN, b);
    transform(on, POOL_NTT_FORWARD, 0, POOL_NTT_NN, sum);
    uint8_t *both = malloc(bytes);
    pool_span span_both = ntt_host(both, n);
    assert_ok(pool_vector_add(field, &vector, &span_a, &span_b, &span_both));
    assert_memory_equal(both, sum, bytes);
    /* products are cyclic convolutions: times x^1 first */
    memset(b, 0, bytes);
    b[field->bytes] = 1;
    transform(on, POOL_NTT_FORWARD, 0, POOL_NTT_NN, b);
    assert_ok(pool_ntt_domain_root(on, POOL_FORM_STANDARD, root));
    assert_ok(pool_vector_powers(field, &vector, root, &span_both));
    assert_memory_equal(both, b, bytes); /* a shift by one turns output k by w^k */
    assert_ok(pool_vector_mul(field, &vector, &span_a, &span_b, &span_both));
    transform(on, POOL_NTT_INVERSE, 0, POOL_NTT_NN, both);
    assert_memory_equal(both + field->bytes, kept, bytes - field->bytes);
    assert_memory_equal(both, kept + bytes - field->bytes, field->bytes);
    free(a);
    free(b);
    free(kept);
    free(sum);
    free(both);
    free(root);
    assert_ok(pool_ntt_domain_destroy(&on));
}

static void test_laws(void **state)
{
    (void)state;
    check_laws("bn254_fr", 7);
    check_laws("goldilocks", 10);
    check_laws("babybear", 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_laws)};

    device_text = "sim:2";
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
