/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points that stay on a device: what bases.c, bases_precompute.c, bases_file.c and sums share.
 */
#ifndef MSM_POINTS_H
#define MSM_POINTS_H

#include <pthread.h>

#include "memory/exec.h"
#include "memory/operand.h"
#include "msm/convert.h"

struct pool_bases {
    atomic_uint references; /* the last one is given back under list->lock */
    struct points_list *list;
    pool_device *device;
    pool_curve *curve; /* one reference held */
    uint64_t count;
    uint32_t asked;  /* factor, as it was asked for; 1 where that was 0 */
    uint32_t levels; /* of the table: level j is `count` points from j * count on */
    uint32_t groups; /* levels are 2^(window_bits * groups) apart; 0 without tables */
    uint32_t window_bits;
    uint32_t scalar_bits;
    pool_buffer *buffer;
    CUdeviceptr address;
    int is_known;                                /* guarded by list->lock: in the list */
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES]; /* once it is known */
    struct pool_bases *next;                     /* guarded by list->lock */
};

/* A device's handles whose fingerprint is known. */
struct points_list {
    pthread_mutex_t lock;
    struct pool_bases *first;
};

/* Levels of a table: more than the bits of a scalar have no use. */
enum { POINTS_MAX_LEVELS = POOL_FIELD_MAX_BITS };

/* Points a time that go through scratch memory: enough to fill a chip, and some MiB of scratch. */
#define POINTS_PART ((uint64_t)1 << 17)

/* A handle without memory and with one reference; device, curve and count from the arguments. */
pool_status points_begin(
    pool_device *device, const pool_curve *curve, uint64_t count, struct pool_bases **points);
/* Memory for all levels. */
pool_status points_allocate(struct pool_bases *points, pool_stream *stream);
/* Frees a handle that nobody got; returns `status`, whose detail stays. */
pool_status points_discard(struct pool_bases *points, pool_status status);
/* The handle to the caller, or, when leaving the device failed after all, away. */
pool_status points_hand_over(struct pool_bases *made, pool_status status, pool_bases **points);
/* Puts it into the list; where two threads do that at once the second changes nothing. */
void points_make_known(
    struct pool_bases *points, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES]);
/* Bytes of a point, and of all levels. */
static inline uint64_t points_bytes(const struct pool_bases *points)
{
    return points->count * points->levels * msm_affine_bytes(points->curve);
}

/* bases_precompute.c: the caller's params, checked. */
pool_status points_params_copy(const char *call, const pool_bases_params *given,
    const pool_exec *given_exec, pool_bases_params *params, pool_exec *exec);
/* What exec->checks asks for of points from a file, whose multiples are computed anew then. */
pool_status points_check_loaded(
    struct pool_bases *points, const pool_exec *exec, const struct exec_target *site);

#endif
