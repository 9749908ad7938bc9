/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of service.c: what they compute, and the leases under which they run.
 */
#ifndef SERVICE_JOBS_H
#define SERVICE_JOBS_H

#include <devicepool.h>

#include "groth16.h"

#include <stdatomic.h>

#define SERVICE_ELEMENT 32 /* bytes of a BN254 scalar */
#define SERVICE_MAX_LEAVES 4096

/* A proving key. */
struct service_key {
    const char *name;
    pool_file *file;
    struct groth16_residents residents; /* its points, on the devices */
    uint64_t device_bytes;              /* of a proof */
    size_t max_body;                    /* bytes of a witness */
};

/* Opens a zkey and registers its points; `name` must outlive the key. */
pool_status service_key_open(
    struct service_key *key, device_pool *pool, const char *name, const char *path);
void service_key_close(struct service_key *key);

/* Compiles the kernels of a key's curves. */
pool_status service_key_warm_up(const struct service_key *key, const pool_exec *exec);

/* Input and, after service_job_run, result. */
struct service_job {
    device_pool *pool;
    const pool_poseidon *hash;
    const struct service_key *key; /* NULL: the root of the body's elements */
    uint8_t *body;
    size_t length;
    uint64_t deadline;             /* as service_now counts */
    uint64_t duration_ns;          /* of a lease: the job should need less */
    _Atomic(pool_device *) device; /* of the lease that it has; NULL: none */
    unsigned code;                 /* of HTTP */
    char *answer;                  /* freed by the caller; NULL: out of memory */
};

/* Blocks, on a device that hangs for ever. */
void service_job_run(struct service_job *job);

/* Nanoseconds of the monotonic clock. */
uint64_t service_now(void);

#endif
