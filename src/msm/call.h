/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of pool_msm, as msm.c, chunk_plan.c, chunk.c and results.c share it.
 */
#ifndef MSM_ENTRY_H
#define MSM_ENTRY_H

#include "memory/exec.h"
#include "memory/span.h"
#include "msm/bases.h"
#include "msm/convert.h"

/*
 * How a call goes through the device: in pieces of whole sums, or, where not even one sum fits, in
 * parts of one sum after another. A run is what shares buckets: the sums of a piece, or one sum.
 * The rest is places in the workspace, all multiples of 256; what is not needed takes no bytes.
 */
struct msm_cut {
    uint64_t sums;  /* of a piece, at most */
    uint64_t count; /* scalars of a sum in a piece, at most */
    int grows;     /* the first pieces are 1/8 and 3/8 of all, for host memory to come under work */
    int is_single; /* one piece is all */
    uint32_t slots; /* for host memory: 2 where one is filled while the other one is used */
    uint32_t window_bits;
    uint32_t groups;
    uint64_t scalars_at[2];
    uint64_t points_at[2];
    uint64_t imported_at;
    uint64_t sums_at;    /* of all sets, to be combined on the host; single runs leave them */
    uint64_t results_at; /* of all sums, packed */
    uint64_t answer_at;
    uint64_t bytes;
};

struct msm_piece {
    uint64_t index; /* counts from 1; all zeros before the first piece */
    uint64_t sum;
    uint64_t sums;
    uint64_t first; /* scalar of each sum */
    uint64_t count;
};

struct msm_call {
    pool_msm_params params; /* batch at least 1 */
    pool_exec exec;
    struct memory_site site;
    const pool_curve *curve;
    pool_span points; /* all zeros with a handle */
    pool_span scalars;
    pool_span results;
    bool enqueues_results;         /* copies to the host in the order of the stream */
    struct msm_input_bases source; /* of the span of points */
    uint64_t count;                /* scalars of a sum */
    uint64_t point_stride;         /* bytes; also the next two */
    uint64_t scalar_stride;
    uint64_t result_bytes;
    struct msm_cut cut;
    pool_buffer *own;
    pool_buffer *workspace; /* own or the caller's */
    CUdeviceptr address;    /* of it */
    struct msm_plan plan;   /* of the run under way */
    struct msm_run run;
};

/* Bytes of host memory from which a call comes in growing pieces; set by tests, between calls. */
extern uint64_t msm_grows_from;

/* chunk_plan.c: the largest pieces whose bytes are at most `limit`; POOL_ERR_OUT_OF_DEVICE_MEMORY.
 */
pool_status msm_cut_make(const struct msm_call *call, uint64_t limit, struct msm_cut *cut);
/* False past the last piece. */
bool msm_cut_next(const struct msm_call *call, const struct msm_cut *cut, struct msm_piece *piece);
bool msm_piece_begins_run(const struct msm_piece *piece);
bool msm_piece_ends_run(const struct msm_call *call, const struct msm_piece *piece);
/* The plan of the run that a piece begins. */
pool_status msm_cut_plan(
    const struct msm_call *call, const struct msm_cut *cut, uint64_t sums, struct msm_plan *plan);
/* Whether all sums are one run. */
bool msm_cut_is_one_run(const struct msm_call *call, const struct msm_cut *cut);
/* Points that a piece has. */
uint64_t msm_piece_points(const struct msm_call *call, const struct msm_piece *piece);
/* Whether the points of the first piece are those of all. */
bool msm_cut_brings_once(const struct msm_call *call, const struct msm_cut *cut);
bool msm_call_combines_on_host(const struct msm_call *call);
/* Whether combine writes where the results belong. */
bool msm_call_is_direct(const struct msm_call *call, const struct msm_cut *cut);

/* chunk.c: all pieces, in the order of the call's stream. */
pool_status msm_call_run(struct msm_call *call);

/* results.c: the results of a run, and of the whole call, to where they belong. */
pool_status msm_deliver_run(struct msm_call *call, const struct msm_piece *piece);
pool_status msm_deliver_all(struct msm_call *call);

#endif
