/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits the terms of a chunk by the curve's endomorphism: k P = k0 P + k1 phi(P) with scalars of
 * half the length (curve/endomorphism.h), so that an MSM of twice the terms has half the windows.
 */
#include "base/math.h"
#include "pool/stream/phase.h"
#include "zk/curve/endomorphism.h"
#include "zk/msm/convert.h"
#include "zk/msm/sort.h"

enum { SPLIT_PRODUCTS = 8 }; /* of scalars: roundings and remainders */

void msm_lattice_of(const pool_field *order, const struct curve_endomorphism *endomorphism,
    struct msm_lattice *lattice)
{
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < order->words; k++) {
            lattice->a[i][k] = field_word(endomorphism->a[i], k);
            lattice->b[i][k] = field_word(endomorphism->b[i], k);
        }
        for (uint32_t k = 0; k <= order->words; k++)
            lattice->reciprocal[i][k] = field_word(endomorphism->reciprocal[i], k);
    }
}

static pool_status split_scalars(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, CUdeviceptr halves)
{
    struct msm_split_scalars_args args = {
        .scalars = chunk->scalars,
        .scalar_stride = chunk->scalar_stride,
        .scalar_batch_stride = chunk->scalar_batch_stride,
        .halves = halves,
        .count = (uint32_t)chunk->count,
        .batch = (uint32_t)run->plan->job.batch,
        .reduces = chunk->reduces,
    };
    const struct msm_launch launch = {
        .kernel = MSM_SPLIT_SCALARS,
        .blocks = base_ceil_div(chunk->count * run->plan->job.batch, MSM_SPLIT_THREADS),
        .threads = MSM_SPLIT_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds =
            msm_seconds(run, (double)SPLIT_PRODUCTS * (double)(chunk->count * args.batch), 0),
    };

    args.conversion =
        msm_scalar_conversion_of(run->curve->scalar_field, chunk->scalar_form, args.factor);
    msm_lattice_of(run->curve->scalar_field, curve_endomorphism_of(run->curve), &args.lattice);
    return msm_enqueue(run, &launch);
}

static pool_status map_bases(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, CUdeviceptr mapped)
{
    struct msm_map_bases_args args = {
        .bases = chunk->bases,
        .base_stride = chunk->base_stride,
        .first_base = chunk->first_base,
        .base_batch_stride = chunk->base_batch_stride,
        .mapped = mapped,
        .count = (uint32_t)chunk->count,
        .batch = chunk->base_batch_stride ? (uint32_t)run->plan->job.batch : 1,
    };
    const struct msm_launch launch = {
        .kernel = MSM_MAP_BASES,
        .blocks = base_ceil_div(chunk->count * args.batch, MSM_SPLIT_THREADS),
        .threads = MSM_SPLIT_THREADS,
        .args = &args,
        .args_bytes = sizeof(args),
        .first_block = &args.first_block,
        .seconds = msm_seconds(run, (double)(chunk->count * args.batch),
            3 * (double)(chunk->count * args.batch * msm_affine_bytes(run->curve))),
    };

    field_store_for_device(
        run->curve->coordinates.field, args.beta, curve_endomorphism_of(run->curve)->beta);
    return msm_enqueue(run, &launch);
}

pool_status msm_split_terms(const struct msm_run *run, struct msm_chunk_operands *chunk,
    CUdeviceptr halves, CUdeviceptr mapped)
{
    const uint64_t count = 2 * chunk->count;
    struct phase phase;
    pool_status status = POOL_OK;

    if (chunk->count) {
        phase_begin(&phase, run->device, run->stream, "msm", "split");
        status = split_scalars(run, chunk, halves);
        if (!status)
            status = map_bases(run, chunk, mapped);
        status = phase_end(&phase, status);
    }
    *chunk = (struct msm_chunk_operands){.count = count,
        .scalars = halves,
        .scalar_stride = run->plan->job.scalar_words,
        .scalar_batch_stride = count,
        .scalar_form = POOL_FORM_STANDARD,
        .bases = mapped,
        .base_stride = msm_affine_bytes(run->curve),
        .base_batch_stride = chunk->base_batch_stride ? count : 0};
    return status;
}
