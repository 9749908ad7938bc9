/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object that the layer of leases attaches to a pool: created at its first use, however many
 * threads need it, and destroyed with the pool.
 */
#ifndef POOL_EXTENSION_H
#define POOL_EXTENSION_H

#include <stdbool.h>

#include <devicepool/pool.h>

struct device_pool_extension_type {
    pool_status (*create)(device_pool *pool, void **object);
    /* POOL_ERR_BUSY, with the reason, keeps the pool from being destroyed. */
    pool_status (*check_idle)(void *object);
    /* After the last device: host memory only. `is_forked`: no lock may be taken or destroyed. */
    void (*destroy)(void *object, bool is_forked);
};

/* The pool's object, created now if necessary. A pool has one type. */
pool_status device_pool_extend(
    device_pool *pool, const struct device_pool_extension_type *type, void **object);

/* The object if there is one, else NULL. */
void *device_pool_extension(device_pool *pool);

/* --- for the layer of leases --- */

/* pool_params.slots, or the default. */
uint32_t device_pool_slots(const device_pool *pool);
/* A sample of the free memory of all devices that is at most some milliseconds old. */
pool_status device_pool_sample(device_pool *pool);
/* Counts the unfinished work of the devices, unless that was done a moment ago. */
pool_status device_pool_poll_work(device_pool *pool);
/* Calls in progress on the device and streams with unfinished work. */
uint32_t device_load(const pool_device *device);
/* Every device as filters and scores see it; `candidates` has space for all of them. */
pool_status device_pool_candidates(device_pool *pool, pool_candidate *candidates);

#endif
