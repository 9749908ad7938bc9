/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a call into chunks that fit into memory. Pure: sizes, the properties of a chip and a
 * budget in; chunks, plans and the layout of the workspace out.
 *
 * A batch is divided into sub-batches of whole MSMs, which share one plan and their buckets. A
 * sub-batch is one chunk or, where not even one MSM fits, one MSM whose scalars are divided into
 * several chunks that are accumulated into the same buckets.
 */
#ifndef MSM_CHUNK_PLAN_H
#define MSM_CHUNK_PLAN_H

#include "msm/msm.h"

struct msm_chunk_job {
    struct msm_job msm;  /* of the whole batch; chunk_count is not used */
    bool has_bases_span; /* otherwise the bases are those of a handle */
    bool shares_bases;   /* all MSMs use the same bases */
    bool converts_bases; /* the accumulation cannot read the span's points where they are */
    bool bases_on_host;
    bool scalars_on_host;
    bool results_on_host;
    bool has_checks;
    bool combines_on_host; /* window sums are combined by the host, which waits for them */
    uint64_t base_stride;  /* of the span, in bytes; also the next two */
    uint64_t scalar_stride;
    uint64_t result_bytes;
};

/* Members that tests set to other values. */
struct msm_tuning {
    uint64_t min_ramp_bytes; /* of host memory from which on the first chunks are smaller */
};
extern const struct msm_tuning msm_default_tuning;

enum { MSM_MAX_SUB_BATCH_SIZES = 4 };

struct msm_chunk_plan {
    uint64_t sub_batch;      /* MSMs of a sub-batch, at most */
    uint64_t count;          /* scalars per MSM of a chunk, at most */
    bool has_whole_msms;     /* a sub-batch is one chunk */
    bool is_one_sub_batch;   /* all MSMs together */
    bool ramps_up;           /* the first chunks have 1/8 and 3/8 of all: see min_ramp_bytes */
    bool uploads_bases_once; /* the bases of the first chunk are those of all */
    bool writes_directly;    /* the combination writes to the caller's device memory */
    uint32_t slots;          /* of uploads: 2 where one is filled while the other is used */
    uint32_t plan_count;
    struct msm_plan plans[MSM_MAX_SUB_BATCH_SIZES]; /* one per size of a sub-batch */
    /* Offsets in the workspace in bytes, all multiples of 256. Unused parts have no bytes. */
    uint64_t scalars_at[2];
    uint64_t bases_at[2];
    uint64_t converted_at;
    uint64_t window_sums_at; /* of all MSMs, for the host; one sub-batch leaves them in place */
    uint64_t results_at;     /* of all MSMs, packed */
    uint64_t check_at;
    uint64_t bytes;
};

struct msm_chunk {
    uint64_t index; /* counts from 1; all zeros before the first chunk */
    uint64_t msm;   /* the first one */
    uint64_t msms;
    uint64_t first; /* scalar of each MSM */
    uint64_t count;
};

/* The largest chunks whose workspace has at most `limit` bytes; POOL_ERR_OUT_OF_DEVICE_MEMORY. */
pool_status msm_chunk_plan_make(const struct chip *chip, const struct msm_tuning *tuning,
    const struct msm_chunk_job *job, uint64_t limit, struct msm_chunk_plan *plan);
/* Advances to the next chunk; false past the last one. */
bool msm_chunk_next(
    const struct msm_chunk_job *job, const struct msm_chunk_plan *plan, struct msm_chunk *chunk);
/* The plan of the sub-batch that a chunk belongs to. */
const struct msm_plan *msm_chunk_plan_of(
    const struct msm_chunk_plan *plan, const struct msm_chunk *chunk);
bool msm_chunk_begins_sub_batch(const struct msm_chunk *chunk);
bool msm_chunk_ends_sub_batch(const struct msm_chunk_job *job, const struct msm_chunk *chunk);
/* How many bases the chunk uses. */
uint64_t msm_chunk_bases(const struct msm_chunk_job *job, const struct msm_chunk *chunk);

#endif
