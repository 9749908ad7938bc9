/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a call is cut so that it fits into memory, and what lies where in its workspace.
 */
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "msm/call.h"

enum { ALIGNMENT = 256, LEAST_COUNT = 1 << 10 };

/*
 * Less host memory than this comes in one piece: a link brings it in 0.6 ms, and two more pieces
 * cost some 0.2 ms of further passes over the buckets.
 */
uint64_t msm_grows_from = (uint64_t)32 << 20;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool has_host_points(const struct msm_call *call)
{
    return !call->params.points && call->points.place == POOL_MEMORY_HOST;
}

static bool has_host_scalars(const struct msm_call *call)
{
    return call->scalars.place == POOL_MEMORY_HOST;
}

static bool is_whole(const struct msm_call *call, const struct msm_cut *cut)
{
    return cut->count == call->count;
}

bool msm_call_combines_on_host(const struct msm_call *call)
{
    return !call->exec.is_async && call->params.batch <= MSM_HOST_COMBINES;
}

bool msm_cut_is_one_run(const struct msm_call *call, const struct msm_cut *cut)
{
    return is_whole(call, cut) ? cut->is_single : call->params.batch == 1;
}

bool msm_call_is_direct(const struct msm_call *call, const struct msm_cut *cut)
{
    return call->results.place == POOL_MEMORY_DEVICE && msm_cut_is_one_run(call, cut) &&
           !msm_call_combines_on_host(call);
}

bool msm_cut_brings_once(const struct msm_call *call, const struct msm_cut *cut)
{
    return call->params.shared_points && is_whole(call, cut);
}

uint64_t msm_piece_points(const struct msm_call *call, const struct msm_piece *piece)
{
    return call->params.shared_points ? piece->count : piece->count * piece->sums;
}

bool msm_piece_begins_run(const struct msm_piece *piece)
{
    return piece->first == 0;
}

bool msm_piece_ends_run(const struct msm_call *call, const struct msm_piece *piece)
{
    return piece->first + piece->count == call->count;
}

/* The most that piece `index` takes of `total`. */
static uint64_t most(const struct msm_cut *cut, uint64_t index, uint64_t total, uint64_t limit)
{
    uint64_t size = limit;

    if (cut->grows && index == 0)
        size = total / 8;
    if (cut->grows && index == 1)
        size = total / 8 * 3;
    size = size < limit ? size : limit;
    return size ? size : 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool msm_cut_next(const struct msm_call *call, const struct msm_cut *cut, struct msm_piece *piece)
{
    uint64_t index = piece->index++;

    if (is_whole(call, cut)) {
        piece->sum += piece->sums;
        piece->count = call->count;
        piece->sums =
            least(most(cut, index, call->params.batch, cut->sums), call->params.batch - piece->sum);
        return piece->sum < call->params.batch;
    }
    piece->sums = 1;
    piece->first += piece->count;
    if (piece->first == call->count) {
        piece->first = 0;
        piece->sum++;
    }
    piece->count = least(most(cut, index, call->count, cut->count), call->count - piece->first);
    return piece->sum < call->params.batch;
}

static struct msm_job job_of(const struct msm_call *call, const struct msm_cut *cut, uint64_t sums)
{
    const pool_field *order = call->curve->scalar_field;
    const struct pool_bases *points = call->params.points;

    return (struct msm_job){.coordinate_words = call->curve->coordinates.bytes / 4,
        .scalar_words = order->words,
        .order_bits = order->bits,
        .scalar_bits = call->params.scalar_bits,
        .count = call->count,
        .chunk_count = cut->count,
        .batch = sums,
        .precompute_factor = points ? points->levels : 1,
        .sets_per_msm = points && points->levels > 1 ? points->groups : 0,
        .window_bits = cut->window_bits};
}

pool_status msm_cut_plan(
    const struct msm_call *call, const struct msm_cut *cut, uint64_t sums, struct msm_plan *plan)
{
    const struct msm_chip chip = msm_chip_of(call->site.device);
    const struct msm_job job = job_of(call, cut, sums);

    return msm_plan_make(&chip, &job, plan);
}

/* Buckets may take half of the memory: more bits make them many, fewer make more entries. */
static bool choose_window(const struct msm_call *call, uint64_t limit, struct msm_cut *cut)
{
    const pool_bases *points = call->params.points;
    bool is_given = call->params.window_bits || (points && points->levels > 1);
    struct msm_job job;
    struct msm_plan plan;

    cut->window_bits =
        points && points->levels > 1 ? points->window_bits : call->params.window_bits;
    for (;;) {
        job = job_of(call, cut, cut->sums);
        if (!msm_plan_fits(&job) || msm_cut_plan(call, cut, cut->sums, &plan))
            return false;
        cut->window_bits = plan.window_bits;
        cut->groups = plan.sets_per_msm;
        if (is_given || plan.bucket_offsets_at <= limit / 2 ||
            plan.window_bits == MSM_MIN_WINDOW_BITS)
            return true;
        cut->window_bits--;
    }
}

/* The most that the plans of all runs take. */
static uint64_t work_bytes(const struct msm_call *call, const struct msm_cut *cut)
{
    struct msm_piece piece = {0};
    uint64_t bytes = 0, last = 0;
    struct msm_plan plan;

    while (msm_cut_next(call, cut, &piece)) {
        if (piece.sums == last)
            continue;
        last = piece.sums;
        if (msm_cut_plan(call, cut, last, &plan))
            return UINT64_MAX / 2;
        bytes = plan.bytes > bytes ? plan.bytes : bytes;
    }
    return aligned(bytes);
}

/* Places for `slots` copies of `bytes`; returns the end. */
static uint64_t take(uint64_t at, uint64_t places[2], uint32_t slots, uint64_t bytes)
{
    places[0] = at;
    places[1] = slots > 1 ? at + aligned(bytes) : at;
    return at + slots * aligned(bytes);
}

static void place(const struct msm_call *call, struct msm_cut *cut)
{
    const struct msm_piece largest = {.sums = cut->sums, .count = cut->count};
    uint64_t points = call->params.points ? 0 : msm_piece_points(call, &largest);
    uint64_t set_bytes = 2 * msm_affine_bytes(call->curve);
    uint64_t checks = (call->exec.checks & (POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP)) != 0;
    uint32_t point_slots = msm_cut_brings_once(call, cut) ? 1 : cut->slots;
    uint64_t at = work_bytes(call, cut);

    at = take(at, cut->scalars_at, cut->slots,
        has_host_scalars(call) ? cut->sums * cut->count * call->scalar_stride : 0);
    at = take(
        at, cut->points_at, point_slots, has_host_points(call) ? points * call->point_stride : 0);
    cut->imported_at = at;
    if (points && !msm_input_is_converted(call->curve, &call->source))
        at += aligned(points * msm_affine_bytes(call->curve));
    cut->sums_at = at;
    if (msm_call_combines_on_host(call) && !msm_cut_is_one_run(call, cut))
        at += aligned(call->params.batch * cut->groups * set_bytes);
    cut->results_at = at;
    if (!msm_call_is_direct(call, cut) &&
        !(msm_call_combines_on_host(call) && call->results.place == POOL_MEMORY_HOST))
        at += aligned(call->params.batch * call->result_bytes);
    cut->answer_at = at;
    cut->bytes = at + checks * ALIGNMENT;
}

/* False when the pieces need more than `limit`. */
static bool try_cut(const struct msm_call *call, uint64_t limit, struct msm_cut *cut)
{
    bool has_host = has_host_points(call) || has_host_scalars(call);

    cut->is_single = is_whole(call, cut) && cut->sums == call->params.batch;
    cut->slots = has_host && !cut->is_single ? 2 : 1;
    if (!choose_window(call, limit, cut))
        return false;
    place(call, cut);
    return cut->bytes <= limit;
}

static bool make_smaller(const struct msm_call *call, struct msm_cut *cut)
{
    if (cut->sums > 1) {
        cut->sums = (cut->sums + 1) / 2;
        return true;
    }
    if (cut->count <= LEAST_COUNT)
        return false;
    cut->count = (cut->count + 1) / 2;
    if (cut->count < LEAST_COUNT)
        cut->count = LEAST_COUNT;
    return cut->count < call->count;
}

pool_status msm_cut_make(const struct msm_call *call, uint64_t limit, struct msm_cut *cut)
{
    uint64_t host = (has_host_points(call) ? call->points.count * call->point_stride : 0) +
                    (has_host_scalars(call) ? call->scalars.count * call->scalar_stride : 0);

    memset(cut, 0, sizeof(*cut));
    cut->sums = call->params.batch;
    cut->count = call->count;
    cut->grows = host >= msm_grows_from;
    if (cut->grows)
        make_smaller(call, cut);
    while (!try_cut(call, limit, cut))
        if (!make_smaller(call, cut))
            return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
                "the smallest chunk of the MSM takes %s; the limit is %s",
                base_size_text(cut->bytes).text, base_size_text(limit).text);
    return POOL_OK;
}
