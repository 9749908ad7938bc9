/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon from many threads at once: one set for all, two simulated devices, each thread on a
 * stream of its own with several asynchronous calls in flight on pinned and pageable memory, in
 * chunks, the first use included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "zk/poseidon/poseidon.h"
#include "support/poseidon_tuning.h"

enum { THREADS = 5, CALLS = 3, ITEMS = 17, LEVELS = 17 + 9 + 5 + 3 + 2 + 1, DIGEST = 32 };

static device_pool *pool;
static pool_poseidon *set;

/* No assertion while threads run: only the main thread may fail. */
struct worker {
    pthread_t thread;
    unsigned number;
    pool_device *device;
    pool_stream *stream;
    pool_pinned *pinned;
    unsigned char *in[CALLS];
    unsigned char *out[CALLS];
    unsigned char *want[CALLS];
    int wrong;
};

static pool_status build(const pool_exec *run, unsigned char *in, unsigned char *out)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2, .leaf_elements = 4};
    pool_span leaves = {.data = in, .count = ITEMS};
    pool_span rows = {.data = out, .count = LEVELS};

    return pool_poseidon_merkle_build(set, run, &params, &leaves, &rows);
}

static int start(struct worker *worker)
{
    pool_exec host = {.struct_size = sizeof(host), .on_host = 1};
    pool_exec run = {.struct_size = sizeof(run),
        .device = worker->device,
        .stream = worker->stream,
        .is_async = 1,
        .checks = worker->number % 2 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE};

    for (unsigned i = 0; i < CALLS; i++) {
        if (pool_random_scalars(pool_poseidon_field(set), worker->number * CALLS + i, ITEMS * 4,
                POOL_FORM_STANDARD, worker->in[i]) ||
            build(&host, worker->in[i], worker->want[i]) ||
            build(&run, worker->in[i], worker->out[i]))
            return 1;
    }
    return pool_stream_synchronize(worker->stream) != POOL_OK;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    size_t bytes = (size_t)LEVELS * DIGEST;
    unsigned char *pinned = NULL;

    worker->wrong = pool_device_at(pool, worker->number % 2, &worker->device) ||
                    pool_stream_create(worker->device, NULL, &worker->stream) ||
                    pool_pinned_create(worker->device, 2 * bytes, 0, &worker->pinned);
    if (!worker->wrong)
        pinned = pool_pinned_data(worker->pinned);
    for (unsigned i = 0; i < CALLS; i++) {
        /* the first call's input and output are pinned, the others' pageable */
        worker->in[i] = i || !pinned ? calloc(1, bytes) : pinned;
        worker->out[i] = i || !pinned ? calloc(1, bytes) : pinned + bytes;
        worker->want[i] = calloc(1, bytes);
    }
    if (!worker->wrong)
        worker->wrong = start(worker);
    for (unsigned i = 0; i < CALLS; i++) {
        worker->wrong |= memcmp(worker->out[i], worker->want[i], bytes) != 0;
        if (i || !pinned) {
            free(worker->in[i]);
            free(worker->out[i]);
        }
        free(worker->want[i]);
    }
    worker->wrong |= pool_pinned_destroy(&worker->pinned) != POOL_OK;
    worker->wrong |= pool_stream_destroy(&worker->stream) != POOL_OK;
    return NULL;
}

static void test_threads(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    struct worker workers[THREADS];

    (void)state;
    assert_int_equal(pool_create(&pool, &params), POOL_OK);
    assert_int_equal(pool_poseidon_by_name("plonky2-goldilocks-t12", &set), POOL_OK);
    poseidon_tune(set, 300, 128);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_false(workers[i].wrong);
    }
    pool_poseidon_destroy(&set);
    assert_int_equal(pool_destroy(&pool), POOL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
