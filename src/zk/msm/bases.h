/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bases in device memory: declarations shared by bases.c, bases_precompute.c, bases_file.c and
 * MSMs.
 */
#ifndef MSM_BASES_H
#define MSM_BASES_H

#include <pthread.h>

#include "base/sha256.h"
#include "pool/memory/memory.h"
#include "zk/msm/convert.h"
#include "zk/operation/operation.h"

struct pool_bases {
    atomic_uint references; /* the last one is released under list->lock */
    struct msm_bases_list *list;
    pool_device *device;
    pool_curve *curve; /* holds a reference */
    uint64_t count;
    uint32_t requested_factor; /* the requested factor; 1 for 0 */
    uint32_t factor;           /* precompute factor: multiple j of base i is at j * count + i */
    uint32_t bucket_sets; /* per MSM; multiple j is 2^(j * window_bits * bucket_sets) P; 0: none
                             precomputed */
    uint32_t window_bits;
    uint32_t scalar_bits;
    pool_buffer *buffer;
    CUdeviceptr address;
    int is_listed; /* guarded by list->lock: is in the list, with its fingerprint */
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES]; /* set once listed */
    struct pool_bases *next;                     /* guarded by list->lock */
};

/* The bases of a device whose fingerprint is known. */
struct msm_bases_list {
    pthread_mutex_t lock;
    struct pool_bases *first;
};

/* The maximum precompute factor: one multiple per bit of a scalar. */
enum { MSM_BASES_MAX_FACTOR = POOL_FIELD_MAX_BITS };

/* Bases per chunk of conversions and checks: enough to fill a chip, with some MiB of scratch
 * memory. */
#define MSM_BASES_CHUNK ((uint64_t)1 << 17)

/* Creates an object without device memory and with one reference. */
pool_status msm_bases_begin(
    pool_device *device, const pool_curve *curve, uint64_t count, struct pool_bases **bases);
/* Allocates memory for all multiples. */
pool_status msm_bases_allocate(struct pool_bases *bases, const struct exec_target *target);
/* Releases the creator's reference of an object that is not returned. */
void msm_bases_discard(void *bases);
/* Sets the fingerprint and adds the object to the list, unless another thread has done so. */
void msm_bases_set_fingerprint(
    struct pool_bases *bases, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);
/*
 * Describes bases that do not exist, of `count` points and the params' infinities, for forecasts: a
 * struct with device, curve, count and the precomputation of the params, without memory and references. The second one reads the header of a
 * file of pool_bases_save; device and curve are set.
 */
pool_status msm_bases_describe(
    const pool_bases_params *params, uint64_t count, struct pool_bases *described);
pool_status msm_bases_describe_file(const char *path, struct pool_bases *described);
/* What the creation of bases from `span`, or the checks of a load, allocate besides the bases. */
uint64_t msm_bases_build_bytes(
    const struct pool_bases *bases, const pool_span *span, pool_point_layout layout);

/* pool_msm_workspace for described bases, whose device is set to the one of the call; `name` is the
 * public function. */
pool_status msm_workspace_of_described(const char *name, struct pool_bases *described,
    const pool_msm_params *given, const pool_exec *given_exec, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes);

/* pool_msm_joint_workspace, of which the terms' bases may be described ones of the call's device.
 */
pool_status msm_joint_forecast(const char *name, const pool_msm_joint_params *params,
    const pool_exec *exec, const pool_msm_term *terms, uint32_t count, const pool_span *results,
    uint64_t *bytes);

/* Adds what the fingerprint covers besides the points: curve and count. */
void msm_bases_digest_begin(const struct pool_bases *bases, struct base_sha256 *digest);
/* POOL_ERR_DEVICE_LOST for bases that have ended with the process of their device. */
static inline pool_status msm_bases_check(const struct pool_bases *bases)
{
    return bases && bases->buffer ? memory_check_renewals(bases->buffer) : POOL_OK;
}

/* Device bytes of all multiples of all bases. */
static inline uint64_t msm_bases_bytes(const struct pool_bases *bases)
{
    return bases->count * bases->factor * msm_affine_bytes(bases->curve);
}

/* ---- calls: bases_create.c, bases_precompute.c, bases_file.c --------------------------------- */

/* A call of pool_bases_create or pool_bases_load, or its forecast. */
struct bases_call {
    struct operation_call frame;
    const pool_bases_params *given;
    const pool_span *points; /* NULL: a load */
    const char *path;        /* of a load */
    pool_bases **bases;
    uint64_t *bases_bytes; /* of a forecast */
    pool_bases_params params;
    struct pool_bases described; /* by the plan */
};
pool_status msm_bases_create(void *call);
pool_status msm_bases_load(void *call);

/* Performs progress->exec->checks on bases from a file, and recomputes their multiples. */
pool_status msm_bases_check_loaded(
    struct pool_bases *bases, const struct exec_target *target, struct progress *progress);

#endif
