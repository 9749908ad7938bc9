/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a function of vectors: the elements of a chunk, so that the device never holds more of long
 * vectors in host memory or than the caller allows. Pure: sizes and a budget in, chunks out.
 */
#include "base/math.h"
#include "pool/memory/scratch.h"
#include "zk/vector/vector.h"

enum { MAX_LOG_THREADS = 17 };

uint32_t vector_log_threads(uint64_t count)
{
    uint32_t log_threads = 0;

    while (log_threads < MAX_LOG_THREADS && count >> log_threads > 1)
        log_threads++;
    return log_threads;
}

static uint64_t scratch_bytes(const struct vector_job *job, uint64_t count)
{
    const struct vector_scratch *scratch = &job->scratch;
    const uint64_t sums = scratch->has_sums ? (uint64_t)2 << vector_log_threads(count) : 0;
    const uint64_t products = scratch->has_products ? count : 0;

    return memory_scratch_bytes(scratch->constants * job->element_bytes) +
           memory_scratch_bytes(products * job->element_bytes) +
           memory_scratch_bytes(sums * job->element_bytes);
}

/* A strided input is uploaded with the bytes between its elements. The answer of a check is freed
 * before the computation allocates. */
static uint64_t chunk_bytes(const struct vector_job *job, uint64_t count)
{
    uint64_t bytes = base_max(
        scratch_bytes(job, count), job->has_checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0);

    if (!count)
        return 0;
    for (int i = 0; i < 2; i++)
        if (job->upload_stride[i])
            bytes += memory_scratch_bytes((count - 1) * job->upload_stride[i] + job->element_bytes);
    return bytes + (job->download_stride ? memory_scratch_bytes(count * job->element_bytes) : 0);
}

bool vector_plan_make(const struct vector_tuning *tuning, const struct vector_job *job,
    uint64_t limit, struct vector_plan *plan)
{
    const uint64_t strides[] = {job->upload_stride[0], job->upload_stride[1], job->download_stride};
    uint64_t low = 1, high = job->count;

    for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]) && job->is_divisible; i++)
        if (strides[i] && high > tuning->chunk_bytes / strides[i])
            high = tuning->chunk_bytes / strides[i];
    if (!job->is_divisible || !job->count)
        low = high = job->count;
    else if (!high)
        high = 1;
    if (chunk_bytes(job, low) <= limit)
        while (low < high) { /* the most elements that fit */
            uint64_t middle = low + (high - low) / 2 + 1;

            if (chunk_bytes(job, middle) <= limit)
                low = middle;
            else
                high = middle - 1;
        }
    *plan = (struct vector_plan){.chunk_elements = low, .bytes = chunk_bytes(job, low)};
    return plan->bytes <= limit;
}
