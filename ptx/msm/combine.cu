/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the sums of a batch member's sets to its result: Horner's rule, c doublings between two
 * sets, four lanes a member; then the layout and form that were asked for.
 */
#include "base/launch.cuh"
#include "ec/convert.cuh"
#include "ec/lanes.cuh"

typedef unsigned long long u64;

#define BLOCK 32
#define MAX_WORDS 24

/* As pool_point_layout. */
enum { AFFINE, AFFINE_FLAG, JACOBIAN, PROJECTIVE, XYZZ };

struct combine {
    const xyzz *sums; /* of the sets, one member's after another's */
    unsigned *results;
    u64 result_stride; /* in words */
    u64 batch;
    unsigned groups;
    unsigned distance; /* doublings between two sets */
    unsigned layout;
    unsigned scales;             /* 1: coordinates are multiplied by factor */
    unsigned factor[MAX_WORDS];  /* an element, as it lies in memory */
};

__device__ __forceinline__ void put(const struct combine *job, unsigned *to, unsigned index, fe x)
{
    fe value = x;
    if (job->scales) {
        fq factor;
#pragma unroll
        for (unsigned i = 0; i < FQ_WORDS; i++)
            factor.word[i] = job->factor[i];
        value = fe_scale(value, factor);
    }
    value = fe_reduce(value);
    const unsigned *words = (const unsigned *)&value;
    unsigned count = sizeof(fe) / sizeof(unsigned);
#pragma unroll
    for (unsigned i = 0; i < count; i++)
        to[index * count + i] = words[i];
}

/* 0 and 1 scale as all others do: the form of one is the form of all. */
__device__ __forceinline__ void put_affine(const struct combine *job, unsigned *to, xyzz sum)
{
    affine p = affine_infinity();
    if (!xyzz_is_infinity(sum))
        p = xyzz_to_affine(sum);
    put(job, to, 0, p.x);
    put(job, to, 1, p.y);
    if (job->layout == AFFINE_FLAG) {
        unsigned at = 2 * sizeof(fe) / sizeof(unsigned);
        unsigned end = (2 * sizeof(fe) + 8) / 8 * 2;
        to[at] = xyzz_is_infinity(sum);
        if (at + 1 < end)
            to[at + 1] = 0;
    }
}

__device__ __forceinline__ void put_result(const struct combine *job, unsigned *to, xyzz sum)
{
    int is_infinity = xyzz_is_infinity(sum);
    if (job->layout == JACOBIAN) {
        jacobian p = xyzz_to_jacobian(sum);
        put(job, to, 0, fe_select(is_infinity, fe_one(), p.x));
        put(job, to, 1, fe_select(is_infinity, fe_one(), p.y));
        put(job, to, 2, p.z);
    } else if (job->layout == PROJECTIVE) {
        projective p = xyzz_to_projective(sum);
        put(job, to, 0, p.x);
        put(job, to, 1, p.y);
        put(job, to, 2, p.z);
    } else if (job->layout == XYZZ) {
        put(job, to, 0, fe_select(is_infinity, fe_one(), sum.x));
        put(job, to, 1, fe_select(is_infinity, fe_one(), sum.y));
        put(job, to, 2, sum.zz);
        put(job, to, 3, fe_select(is_infinity, fe_zero(), sum.zzz));
    } else {
        put_affine(job, to, sum);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) msm_combine(struct combine job)
{
    pdl_wait();
    unsigned lane = threadIdx.x % EC_LANES;
    u64 member = (u64)blockIdx.x * (BLOCK / EC_LANES) + threadIdx.x / EC_LANES;
    int is_inside = member < job.batch;
    const xyzz *sums = job.sums + member * job.groups;
    xyzz sum = xyzz_infinity();
#pragma unroll 1
    for (unsigned group = job.groups; group-- > 0;) {
        xyzz set = xyzz_infinity();
        if (is_inside)
            set = sums[group];
        if (group + 1 == job.groups) {
            sum = set;
        } else {
#pragma unroll 1
            for (unsigned i = 0; i < job.distance; i++)
                sum = lanes_double(lane, sum);
            sum = lanes_add(lane, sum, set);
        }
    }
    if (is_inside && lane == 0)
        put_result(&job, job.results + member * job.result_stride, sum);
}
