/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of the sort, for run.c and for tests and benchmarks of single stages.
 */
#ifndef MSM_SORT_H
#define MSM_SORT_H

#include "zk/msm/msm.h"

enum msm_sort_stage {
    MSM_STAGE_CLEAR,     /* clears the counts */
    MSM_STAGE_DIGITS,    /* scalars to digits and counts per partition */
    MSM_STAGE_PARTITION, /* digits to entries sorted by partition */
    MSM_STAGE_BUCKETS,   /* entries sorted by bucket, where a block can sort the partition */
    MSM_STAGE_OVERSIZED, /* and of the other partitions */
    MSM_SORT_STAGES
};

/* How kernels convert scalars of this form to standard form: enum msm_scalar_conversion; may set
 * the words of the factor. */
uint32_t msm_scalar_conversion_of(
    const pool_field *field, pool_form scalar_form, uint32_t *factor_words);

/* For a chunk that is not empty. */
void msm_sort_args_init(
    const struct msm_run *run, const struct msm_chunk_operands *chunk, struct msm_sort_args *args);
/* Enqueues nothing where the stage has no work. */
pool_status msm_sort_enqueue(
    const struct msm_run *run, const struct msm_sort_args *args, enum msm_sort_stage stage);

#endif
