/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/poseidon/plan.h"

#include "base/math.h"
#include "pool/memory/scratch.h"
#include "poseidon/args.h"

static uint64_t plan_bytes(const struct poseidon_job *job, uint64_t items, uint32_t slots)
{
    uint64_t in_bytes = job->in_is_on_host ? items * job->in_bytes : 0;
    uint64_t out_bytes = job->out_is_on_host ? items * job->out_bytes : 0;

    return job->common_bytes +
           slots * (memory_scratch_bytes(in_bytes) + memory_scratch_bytes(out_bytes)) +
           memory_scratch_bytes(base_min(job->check_answers, items) * sizeof(uint64_t));
}

static void set_chunks(
    const struct poseidon_job *job, uint64_t items, struct poseidon_chunk_plan *plan)
{
    plan->chunk_items = base_min(items, job->count);
    plan->chunk_count = job->count ? (job->count - 1) / plan->chunk_items + 1 : 0;
    plan->slots = (uint32_t)base_max(base_min(plan->slots, plan->chunk_count), UINT64_C(1));
    plan->bytes = plan_bytes(job, plan->chunk_items, plan->slots);
}

/* As many slots as fit with one group of items each, and then as many groups as fit. */
static void limit_chunks(
    const struct poseidon_job *job, uint64_t limit, struct poseidon_chunk_plan *plan)
{
    uint64_t low = 1, high = base_max(plan->chunk_items / job->multiple, UINT64_C(1));
    uint64_t smallest = base_min(job->multiple, job->count);

    plan->slots = POSEIDON_SLOTS;
    while (plan->slots > 1 && plan_bytes(job, smallest, plan->slots) > limit)
        plan->slots--;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        if (plan_bytes(job, middle * job->multiple, plan->slots) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    set_chunks(job, low * job->multiple, plan);
}

bool poseidon_plan_chunks(const struct poseidon_tuning *tuning, const struct poseidon_job *job,
    uint64_t limit, struct poseidon_chunk_plan *plan)
{
    bool uses_host_memory = job->in_is_on_host || job->out_is_on_host;
    uint64_t larger = base_max(job->in_bytes, job->out_bytes);
    uint64_t items = tuning->chunk_bytes / larger / job->multiple * job->multiple;

    *plan = (struct poseidon_chunk_plan){.slots = POSEIDON_SLOTS};
    set_chunks(job, uses_host_memory ? base_max(items, job->multiple) : job->count, plan);
    if (plan->bytes > limit && uses_host_memory && job->count)
        limit_chunks(job, limit, plan);
    return plan->bytes <= limit;
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
