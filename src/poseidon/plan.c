/* SPDX-License-Identifier: Apache-2.0 */
#include "poseidon/plan.h"

#include "poseidon/args.h"

/*
 * A chunk of 32 MiB takes 0.6 ms to copy, many times what its calls cost, and has more states than
 * a chip computes at a time.
 *
 * 128 states per multiprocessor are one warp per scheduler. Up to there the latency of one
 * permutation decides, which two threads shorten: on an H200 by a factor of 1.4 (t = 3) to 1.75
 * (t = 12) for up to 2^13 states and up to 1.3 for 2^14; for 2^15 they are slower.
 */
struct poseidon_tuning poseidon_tuning_default(void)
{
    return (struct poseidon_tuning){.chunk_bytes = 32 << 20, .two_thread_states = 128};
}

struct poseidon_chunk_plan poseidon_plan_chunks(
    const struct poseidon_tuning *tuning, const struct poseidon_job *job)
{
    size_t larger = job->in_bytes > job->out_bytes ? job->in_bytes : job->out_bytes;
    uint64_t items = tuning->chunk_bytes / larger / job->multiple * job->multiple;
    struct poseidon_chunk_plan plan = {.chunk_items = job->count, .slots = 1};

    if (items == 0)
        items = job->multiple;
    if (job->count == 0)
        return plan;
    if (job->uses_host_memory && job->count > items)
        plan.chunk_items = items;
    plan.chunk_count = (job->count - 1) / plan.chunk_items + 1;
    if (plan.chunk_count > 1)
        plan.slots = POSEIDON_SLOTS;
    return plan;
}

static enum poseidon_kernel two_thread_kernel(enum poseidon_kernel kernel)
{
    switch (kernel) {
    case POSEIDON_PERMUTE:
        return POSEIDON_PERMUTE_2THREAD;
    case POSEIDON_HASH:
        return POSEIDON_HASH_2THREAD;
    case POSEIDON_MERKLE_LEVEL:
        return POSEIDON_MERKLE_LEVEL_2THREAD;
    default:
        return kernel;
    }
}

struct poseidon_launch_plan poseidon_plan_launch(const struct poseidon_tuning *tuning,
    const struct chip *chip, enum poseidon_kernel kernel, bool can_share, uint64_t count)
{
    struct poseidon_launch_plan plan = {.kernel = kernel};
    uint64_t threads = count;

    if (can_share && count <= (uint64_t)tuning->two_thread_states * chip->multiprocessors)
        plan.kernel = two_thread_kernel(kernel);
    if (plan.kernel != kernel)
        threads *= 2;
    plan.blocks = (threads + POSEIDON_BLOCK - 1) / POSEIDON_BLOCK;
    return plan;
}
