/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault latch from many threads at once: one first cause, everybody is notified once, nobody is
 * notified after having left; and opening and closing a driver from many threads.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/internal.h"
#include "support/plain_table.h"

#define THREADS 8
#define ROUNDS 200

/* An assert off the main thread would end the program silently. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static pool_cuda_api table;
static pthread_barrier_t start;

struct worker {
    struct driver *driver;
    int index;
    unsigned seed;
    atomic_int notified;
    atomic_int has_left;
    int first_code; /* that the thread's own failing call was notified */
};

static void on_fault(void *user, const struct driver_fault *fault)
{
    struct worker *worker = user;

    CHECK(!atomic_load(&worker->has_left));
    CHECK(fault->code >= 700 && strlen(fault->message) > 20);
    atomic_fetch_add(&worker->notified, 1);
    /* Long enough for the others to leave meanwhile; those being notified have to wait. */
    usleep(200);
    CHECK(!atomic_load(&worker->has_left));
}

/* Every thread fails with a different code; those with odd numbers unregister at the same time. */
static void *fail_together(void *argument)
{
    static const pool_cu_result codes[THREADS] = {700, 719, 715, 716, 702, 999, 710, 718};
    struct worker *worker = argument;

    pthread_barrier_wait(&start);
    if (worker->index % 2) {
        usleep((useconds_t)(rand_r(&worker->seed) % 1500));
        driver_unlisten(worker->driver, on_fault, worker);
        atomic_store(&worker->has_left, 1);
    }
    CHECK(driver_check(worker->driver, codes[worker->index], "cuX()") == POOL_ERR_PROCESS_POISONED);
    worker->first_code = pool_last_error()->driver_code;
    CHECK(driver_usable(worker->driver) == POOL_ERR_PROCESS_POISONED);
    return NULL;
}

static void latch_round(void)
{
    static unsigned seed = 1;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    struct driver *driver = NULL;

    plain_table(&table);
    plain_answers.MemGetInfo = 999;
    CHECK(driver_open(&table, &driver) == POOL_OK);
    memset(workers, 0, sizeof(workers));
    for (int i = 0; i < THREADS; i++) {
        workers[i].driver = driver;
        workers[i].index = i;
        workers[i].seed = seed++;
        CHECK(driver_listen(driver, on_fault, &workers[i]) == POOL_OK);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, fail_together, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        CHECK(workers[i].first_code == driver->fault.code);
        CHECK(i % 2 ? workers[i].notified <= 1 : workers[i].notified == 1);
        driver_unlisten(driver, on_fault, &workers[i]);
    }
    driver_close(&driver);
}

static void *open_and_close(void *argument)
{
    struct driver *driver = NULL;

    (void)argument;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(driver_open(&table, &driver) == POOL_OK);
        CHECK(driver_usable(driver) == POOL_OK && driver->version == 13000);
        driver_close(&driver);
    }
    return NULL;
}

static void open_round(void)
{
    pthread_t threads[THREADS];

    plain_table(&table);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, open_and_close, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (int i = 0; i < ROUNDS; i++)
        latch_round();
    open_round();
    pthread_barrier_destroy(&start);
    printf("%d rounds with %d threads\n", ROUNDS, THREADS);
    return 0;
}
