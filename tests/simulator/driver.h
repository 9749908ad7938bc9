/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the simulated driver: opening it, and short names for its table. */
#ifndef TESTS_SIMULATOR_DRIVER_H
#define TESTS_SIMULATOR_DRIVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <devicepool.h>

#include "driver/sim/table/sim.h"

static const pool_cuda_api *cu;

/* Opens the driver and initialises it. */
static inline void sim_begin(const char *spec)
{
    assert_int_equal(sim_open(spec, &cu), POOL_OK);
    assert_int_equal(cu->Init(0), 0);
}

/* The same with device 0's primary context current. */
static inline CUcontext sim_begin_context(const char *spec)
{
    CUcontext context = NULL;

    sim_begin(spec);
    assert_int_equal(cu->DevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cu->CtxSetCurrent(context), 0);
    return context;
}

/* Closes it; nothing may have been left behind but one primary context, which this releases. */
static inline void sim_end_context(void)
{
    uint64_t leaks = 99;

    assert_int_equal(cu->DevicePrimaryCtxRelease(0), 0);
    sim_close();
    assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &leaks, NULL), POOL_OK);
    assert_int_equal(leaks, 0);
}

static inline pool_sim_fault last_fault(void)
{
    pool_sim_fault fault = {.struct_size = sizeof(fault)};

    assert_int_equal(pool_sim_get_last_fault(&fault), POOL_OK);
    return fault;
}

static inline void sleep_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    nanosleep(&time, NULL);
}

/* A host function's gate: the stream waits in it until it is opened. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_open;
    int entered;
};
#define GATE_INIT                                                                                  \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0                                  \
    }

static inline void gate_function(void *user)
{
    struct gate *gate = user;

    pthread_mutex_lock(&gate->lock);
    gate->entered++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = 1;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_wait_entered(struct gate *gate, int times)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->entered < times)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

#endif
