/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree on a device, level by level. Leaves in host memory pass through the
 * pipeline in chunks, with which the level above them is computed. Kept levels that the caller
 * wants in host memory are downloaded while the next ones are computed.
 */
#include "base/math.h"
#include "base/status.h"
#include "zk/operation/pipeline.h"
#include "zk/poseidon/merkle.h"
#include "zk/poseidon/run.h"

struct build {
    const pool_poseidon *set;
    const struct poseidon_tree *tree;
    struct exec_target target;
    pool_span kept;                 /* the kept levels in device memory */
    const pool_span *levels;        /* the caller's span of them */
    pool_buffer *staging;           /* the memory of `kept` if that is in host memory */
    CUdeviceptr scratch_address[2]; /* levels that are not kept, alternating */
    uint32_t next_level;
    size_t digest_bytes;
    uint64_t first_leaf; /* index of the first leaf in messages */
    bool checks;
    struct progress *progress;
};

/* The nodes of the largest level that is not kept and uses scratch memory `parity`: levels
 * alternate between both. Leaves that are their own digests are read where they are. */
static uint64_t count_scratch_nodes(const struct poseidon_tree *tree, uint32_t parity)
{
    uint32_t level = parity == 0 && !tree->hashes_leaves ? 2 : parity;

    return level < tree->first_level ? tree->level_nodes[level] : 0;
}

/* The device memory of a level. */
static pool_span level_span(const struct build *build, uint32_t level)
{
    const struct poseidon_tree *tree = build->tree;
    uint64_t nodes = tree->level_nodes[level];

    if (level >= tree->first_level)
        return span_slice(&build->kept, build->digest_bytes, tree->level_start[level], nodes);
    return (pool_span){.data = (void *)(uintptr_t)build->scratch_address[level % 2],
        .count = nodes,
        .form = poseidon_device_form(build->set),
        .space = POOL_MEMORY_DEVICE};
}

/* Enqueues the computation of nodes of a level from their children. */
static pool_status enqueue_nodes(const struct build *build, const struct exec_target *target,
    uint32_t level, const pool_span *children, const pool_span *nodes)
{
    const pool_poseidon *set = build->set;
    const pool_field *field = set->field;
    const uint64_t *padding =
        build->tree->padding + (size_t)(level - 1) * set->digest_elements * field->limbs;
    struct poseidon_operation operation = {.set = set,
        .kernel = POSEIDON_MERKLE_LEVEL,
        .in_bytes = build->digest_bytes,
        .out_bytes = build->digest_bytes,
        .args = {.arity = build->tree->arity, .input_count = children->count}};

    for (uint32_t i = 0; i < set->digest_elements; i++)
        poseidon_device_words(
            field, operation.args.padding_node + i * field->words, padding + i * field->limbs);
    return poseidon_operation_enqueue(&operation, target, children, nodes);
}

/* Level 0 of some leaves: hashed, converted, or the leaves themselves if they need neither. */
static pool_status enqueue_leaf_digests(struct build *build, const struct exec_target *target,
    const pool_span *leaves, uint64_t first, pool_span *digests)
{
    const struct poseidon_tree *tree = build->tree;
    struct poseidon_operation operation = {.set = build->set,
        .kernel = tree->hashes_leaves ? POSEIDON_SPONGE : POSEIDON_CONVERT,
        .in_bytes = (size_t)tree->leaf_elements * build->set->field->bytes,
        .out_bytes = build->digest_bytes,
        .args = {.elements = tree->leaf_elements}};
    pool_span level;

    *digests = *leaves;
    if (!tree->hashes_leaves && tree->first_level > 0)
        return POOL_OK;
    level = level_span(build, 0);
    if (tree->hashes_leaves)
        poseidon_operation_set_sponge(&operation, &tree->leaf_sponge);
    *digests = span_slice(&level, build->digest_bytes, first, leaves->count);
    return poseidon_operation_enqueue(&operation, target, leaves, digests);
}

/* Levels 0 and 1 of a chunk of the leaves. */
static pool_status compute_leaf_chunk(void *user, const struct exec_target *target,
    const pool_span *leaves, const pool_span *out, uint64_t first)
{
    struct build *build = user;
    uint64_t arity = build->tree->arity;
    pool_span digests, level, nodes;
    pool_status status = enqueue_leaf_digests(build, target, leaves, first, &digests);

    (void)out;
    if (build->tree->height == 0 || status)
        return status;
    level = level_span(build, 1);
    nodes =
        span_slice(&level, build->digest_bytes, first / arity, base_ceil_div(leaves->count, arity));
    return enqueue_nodes(build, target, 1, &digests, &nodes);
}

/* The pipeline of the leaves, without the members that only the run needs. */
static struct poseidon_pipeline leaf_pipeline(const struct build *build, const pool_span *leaves)
{
    const struct poseidon_tree *tree = build->tree;
    const size_t bytes = build->digest_bytes;
    uint64_t common = memory_scratch_bytes(count_scratch_nodes(tree, 0) * bytes) +
                      memory_scratch_bytes(count_scratch_nodes(tree, 1) * bytes);

    if (build->levels->space == POOL_MEMORY_HOST)
        common += memory_scratch_bytes(tree->digest_count * bytes);
    return (struct poseidon_pipeline){.set = build->set,
        .target = build->target,
        .in = {leaves, tree->leaf_elements, "leaves"},
        .multiple = tree->arity,
        .weight = tree->hashes_leaves ? 2 : 1,
        .first_index = build->first_leaf,
        .checks = build->checks,
        .common_bytes = common,
        .progress = build->progress};
}

static pool_status compute_level(struct build *build, uint32_t level)
{
    const pool_span children = level_span(build, level - 1), nodes = level_span(build, level);
    pool_status status = enqueue_nodes(build, &build->target, level, &children, &nodes);

    if (!status && progress_waits(build->progress))
        status = pool_stream_synchronize(build->target.stream);
    return status ? status : progress_add(build->progress, children.count);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Before the first chunk, in the order of the call's stream. */
static pool_status allocate_levels(struct operation_call *call, struct build *build)
{
    CUdeviceptr address = 0;
    pool_buffer *unused;
    pool_status status = POOL_OK;

    build->kept = *build->levels;
    if (build->levels->space == POOL_MEMORY_HOST) {
        status = operation_scratch(call, &build->target,
            build->tree->digest_count * build->digest_bytes, &build->staging, &address);
        build->kept.data = (void *)(uintptr_t)address;
        build->kept.stride = 0;
        build->kept.space = POOL_MEMORY_DEVICE;
    }
    for (uint32_t i = 0; i < 2 && !status; i++)
        status = operation_scratch(call, &build->target,
            count_scratch_nodes(build->tree, i) * build->digest_bytes, &unused,
            &build->scratch_address[i]);
    return status;
}

/* The chunk is a level, or nothing if the level is not kept. */
static bool set_next_level(void *user, struct pipeline_chunk *chunk)
{
    struct build *build = user;
    const struct poseidon_tree *tree = build->tree;
    uint32_t level = build->next_level++;

    if (level > tree->height)
        return false;
    if (level >= tree->first_level) {
        chunk->first = tree->level_target[level];
        chunk->count = tree->level_nodes[level];
    }
    return true;
}

/* The level above the chunk's one; levels 0 and 1 have been computed with the leaves. */
static pool_status compute_next_level(void *user, struct pipeline_chunk *chunk)
{
    struct build *build = user;

    /* The chunk's level is next_level - 1. */
    chunk->result = build->staging;
    chunk->result_offset = build->tree->level_start[build->next_level - 1] * build->digest_bytes;
    return build->next_level > 1 && build->next_level <= build->tree->height
               ? compute_level(build, build->next_level)
               : POOL_OK;
}

/* Level i is downloaded after level i + 2 has been enqueued. */
static pool_status compute_and_download_levels(struct build *build)
{
    const struct poseidon_tree *tree = build->tree;
    const struct pipeline levels = {.target = build->target,
        .progress = build->progress,
        .chunk_items = tree->level_nodes[tree->first_level],
        .next = set_next_level,
        .slots = build->staging ? 2 : 1,
        .is_serial = true,
        .out = {build->levels, build->digest_bytes, true},
        .is_in_place = true,
        .compute = compute_next_level,
        .user = build};

    return pipeline_run(&levels);
}

static struct build build_of(struct merkle_call *call)
{
    return (struct build){.set = call->set,
        .tree = &call->tree,
        .target = call->frame.target,
        .levels = call->levels,
        .digest_bytes = call->frame.item[MERKLE_LEVELS].bytes,
        .first_leaf = call->first_leaf,
        .checks = call->frame.exec.checks != 0,
        .progress = &call->frame.progress};
}

static pool_status check_node_words(const char *call, const pool_poseidon *set)
{
    uint32_t node_words = set->digest_elements * set->field->words;

    return node_words <= POSEIDON_NODE_WORDS
               ? POOL_OK
               : base_fail(POOL_ERR_UNSUPPORTED,
                     "%s: digests of %s have %u words; devices support up to %d, the host any "
                     "number",
                     call, set->name, node_words, POSEIDON_NODE_WORDS);
}

pool_status merkle_plan(void *user, uint64_t limit)
{
    struct merkle_call *call = user;
    const struct build build = build_of(call);
    const struct poseidon_pipeline pipeline = leaf_pipeline(&build, call->leaves);

    poseidon_pipeline_plan(&pipeline, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    return check_node_words(call->frame.name, call->set);
}

pool_status merkle_run(void *user)
{
    struct merkle_call *call = user;
    struct build build = build_of(call);
    struct poseidon_pipeline pipeline = leaf_pipeline(&build, call->leaves);
    pool_status status = allocate_levels(&call->frame, &build);

    pipeline.compute = compute_leaf_chunk;
    pipeline.user = &build;
    if (!status)
        status = poseidon_pipeline_run(&pipeline, &call->plan);
    return status ? status : compute_and_download_levels(&build);
}
