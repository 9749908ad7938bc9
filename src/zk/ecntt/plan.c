/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a transform of points, a pure function: chunks of whole transforms and their
 * workspace.
 */
#include "zk/ecntt/ecntt.h"

#include "base/math.h"

/* 2^20 points have 2^19 butterflies at a time, several times as many as the largest chips can hold,
 * and take 128 to 192 bytes each in the usual curves. */
#define CHUNK_POINTS ((uint64_t)1 << 20)

enum { ALIGNMENT = 256 };

static uint64_t aligned(uint64_t bytes)
{
    return base_ceil_div(bytes, ALIGNMENT) * ALIGNMENT;
}

static uint64_t staging_bytes(const struct ecntt_job *job, uint64_t points)
{
    uint64_t in = job->in_is_on_host ? (points - 1) * job->in_stride + job->in_bytes : 0;
    uint64_t out = job->out_is_on_host ? points * job->out_bytes : 0;

    return base_max(in, out);
}

static void place(const struct ecntt_job *job, uint64_t transforms, struct ecntt_plan *plan)
{
    const uint64_t points = transforms << job->log_size;

    plan->transforms = transforms;
    plan->points_at = 0;
    plan->digits_at = aligned(points * 4 * job->coordinate_bytes);
    plan->staging_at = plan->digits_at + aligned(plan->factors * plan->windows * plan->halves);
    plan->check_at = plan->staging_at + aligned(staging_bytes(job, points));
    plan->bytes = plan->check_at + (job->has_checks ? ALIGNMENT : 0);
}

bool ecntt_plan_make(const struct ecntt_job *job, uint64_t limit, struct ecntt_plan *plan)
{
    uint64_t low = 1, high = base_min(job->batch, base_max(CHUNK_POINTS >> job->log_size, 1));

    *plan = (struct ecntt_plan){.halves = job->half_bits ? 2 : 1};
    /* One more bit than the factors have: digits are signed. */
    plan->windows = (job->half_bits ? job->half_bits : job->scalar_bits) / ECNTT_WINDOW_BITS + 1;
    if (job->log_size)
        plan->table = (uint64_t)1 << (job->has_coset ? job->log_size : job->log_size - 1);
    plan->factors = job->is_inverse ? 2 * plan->table : plan->table;
    if (job->is_interleaved)
        low = high = job->batch;
    place(job, low, plan);
    if (plan->bytes > limit)
        return false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2 + 1;

        place(job, middle, plan);
        if (plan->bytes <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    place(job, low, plan);
    return true;
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Products in XYZZ coordinates, a = 0; ptx/ec/xyzz.cuh. */
static const double addition = 14, doubling = 9;

double ecntt_cost(const struct ecntt_job *job, const struct ecntt_plan *plan)
{
    const double points = (double)((uint64_t)1 << job->log_size) * (double)job->batch;
    const double butterflies = points / 2 * job->log_size;
    /* Without a coset the factor of block 0 of each stage is 1; the inverse scales log_size of
     * these and one point. */
    const double free = job->has_coset ? 0 : points - (double)job->batch;
    const double scaled =
        job->is_inverse ? (job->has_coset ? 1.0 : job->log_size + 1.0) * (double)job->batch : 0;
    const double digits = (double)plan->windows * plan->halves;
    const double nonzero = digits * 15 / 16;
    const double product = doubling + (ECNTT_MULTIPLES - 2) * addition +
                           (double)(plan->windows - 1) * ECNTT_WINDOW_BITS * doubling +
                           (nonzero - 1) * addition + (plan->halves == 2 ? nonzero / 2 : 0);

    return (butterflies - free + scaled) * product + butterflies * 2 * addition;
}
