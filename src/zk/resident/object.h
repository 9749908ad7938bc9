/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered objects and their copies. The object's lock guards which devices have a copy; the list
 * of each device (memory/resident.h) guards who uses it and evicts it. No call that takes time runs
 * under the object's lock.
 */
#ifndef RESIDENT_OBJECT_H
#define RESIDENT_OBJECT_H

#include <devicepool/resident.h>

#include "pool/lease/lease.h"
#include "pool/memory/resident.h"
#include "zk/operation/operation.h"

/* One device's copy. */
struct resident_copy {
    struct memory_resident entry; /* first: the list knows the copy by it */
    struct pool_resident *owner;
    size_t index; /* of the GPU's first device */
    pool_bases *bases;
    pool_buffer *buffer;
};

/* Of a GPU, by the index of its first device: its parts have one copy. */
struct resident_slot {
    struct resident_copy *copy; /* guarded by the object's lock */
    bool is_loading;            /* likewise: a thread creates the copy */
    uint64_t loads;             /* likewise */
};

struct pool_resident {
    struct lease_locality locality; /* first: requests prefer devices that have a copy */
    device_pool *pool;
    pool_device *first; /* of the pool */
    char name[POOL_RESIDENT_NAME_BYTES];
    struct device_named dependent; /* of the first device */
    uint32_t flags;
    pool_bases_params bases; /* curve NULL: a buffer */
    pool_span points;        /* data NULL: none */
    char *path;
    pool_resident_source source;
    void *user;
    atomic_uint_fast64_t bytes; /* of a copy; 0: not known yet */
    atomic_uint uses;           /* open ones on all devices */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a load has ended */
    size_t count;
    struct resident_slot slots[];
};

/* ---- resident.c ------------------------------------------------------------------------------ */

/* Refuses a device of another pool. */
pool_status resident_check_device(
    const char *call, const pool_resident *resident, const pool_device *device);

/* ---- copies.c -------------------------------------------------------------------------------- */

/* Of the device's GPU, in the slots. */
size_t resident_index(const pool_device *device);
/* The device's copy with one more user; creates it where there is none. */
pool_status resident_get_copy(
    pool_resident *resident, size_t index, const pool_exec *exec, struct resident_copy **copy);
/*
 * Releases the copy on one device unless uses of it are open, whose number is then in *users. When
 * this returns, no eviction on the device touches the object any more: not the one of this copy,
 * and not that of an earlier copy, which another thread may have replaced already.
 */
pool_status resident_release_copy(pool_resident *resident, pool_device *device, uint32_t *users);
pool_status resident_destroy_copy(struct resident_copy *copy);

#endif
