/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a Merkle tree on a device, level by level. Leaves in host memory pass through the
 * pipeline in chunks, with which the level above them is computed. Kept levels that the caller
 * wants in host memory are downloaded while the next ones are computed.
 */
#include "base/math.h"
#include "base/status.h"
#include "poseidon/merkle.h"
#include "poseidon/run.h"
#include "stream/stream.h"

struct build {
    const pool_poseidon *set;
    const struct poseidon_tree *tree;
    const pool_exec *exec;
    struct exec_target site;
    pool_span kept;                   /* the kept levels in device memory */
    const pool_span *levels;          /* the caller's span of them */
    struct poseidon_staging staging;  /* if that is in host memory */
    struct exec_target download_site; /* with its own stream then */
    pool_event *computed;             /* recorded after the last computed level */
    pool_buffer *scratch[2];          /* levels that are not kept, alternating */
    size_t digest_bytes;
    uint64_t first_leaf; /* index of the first leaf in messages */
    struct memory_progress *progress;
};

static pool_form device_form(const pool_poseidon *set)
{
    return set->field->flags & FIELD_DEVICE_STANDARD ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
}

/* The device memory of a level, which is allocated if the level is not kept. */
static pool_status level_span(struct build *build, uint32_t level, pool_span *span)
{
    const struct poseidon_tree *tree = build->tree;
    pool_buffer **buffer = &build->scratch[level % 2];
    uint64_t nodes = tree->level_nodes[level];
    CUdeviceptr address;
    pool_status status;

    if (level >= tree->first_level) {
        *span =
            poseidon_span_slice(&build->kept, build->digest_bytes, tree->level_start[level], nodes);
        return POOL_OK;
    }
    if (*buffer)
        status = pool_buffer_address(*buffer, &address);
    else
        status = memory_scratch(&build->site, nodes * build->digest_bytes, buffer, &address);
    if (!status)
        *span = (pool_span){.data = (void *)(uintptr_t)address,
            .count = nodes,
            .form = device_form(build->set),
            .space = POOL_MEMORY_DEVICE};
    return status;
}

/* Enqueues the computation of nodes of a level from their children. */
static pool_status enqueue_nodes(const struct build *build, const struct exec_target *site,
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
        .args = {.arity = build->tree->arity, .child_count = children->count}};

    for (uint32_t i = 0; i < set->digest_elements; i++)
        poseidon_device_words(
            field, operation.args.padding_node + i * field->words, padding + i * field->limbs);
    return poseidon_operation_enqueue(&operation, site, children, nodes);
}

/* Level 0 of some leaves: hashed, converted, or the leaves themselves if they need neither. */
static pool_status enqueue_leaf_digests(struct build *build, const struct exec_target *site,
    const pool_span *leaves, uint64_t first, pool_span *digests)
{
    const struct poseidon_tree *tree = build->tree;
    struct poseidon_operation operation = {.set = build->set,
        .kernel = tree->hashes_leaves ? POSEIDON_SPONGE : POSEIDON_CONVERT,
        .in_bytes = (size_t)tree->leaf_elements * build->set->field->bytes,
        .out_bytes = build->digest_bytes,
        .args = {.elements = tree->leaf_elements}};
    pool_span level;
    pool_status status;

    *digests = *leaves;
    if (!tree->hashes_leaves && tree->first_level > 0)
        return POOL_OK;
    status = level_span(build, 0, &level);
    if (status)
        return status;
    if (tree->hashes_leaves)
        poseidon_operation_set_sponge(&operation, &tree->leaf_sponge);
    *digests = poseidon_span_slice(&level, build->digest_bytes, first, leaves->count);
    return poseidon_operation_enqueue(&operation, site, leaves, digests);
}

/* Levels 0 and 1 of a chunk of the leaves. */
static pool_status compute_leaf_chunk(void *user, const struct exec_target *site,
    const pool_span *leaves, const pool_span *out, uint64_t first)
{
    struct build *build = user;
    uint64_t arity = build->tree->arity;
    pool_span digests, level, nodes;
    pool_status status = enqueue_leaf_digests(build, site, leaves, first, &digests);

    (void)out;
    if (build->tree->height == 0 || status)
        return status;
    status = level_span(build, 1, &level);
    if (status)
        return status;
    nodes = poseidon_span_slice(
        &level, build->digest_bytes, first / arity, base_ceil_div(leaves->count, arity));
    return enqueue_nodes(build, site, 1, &digests, &nodes);
}

static pool_status compute_leaves(struct build *build, const pool_span *leaves)
{
    const struct poseidon_tree *tree = build->tree;
    const struct poseidon_pipeline pipeline = {.set = build->set,
        .site = build->site,
        .in = {leaves, tree->leaf_elements, "leaves"},
        .multiple = tree->arity,
        .weight = tree->hashes_leaves ? 2 : 1,
        .first_index = build->first_leaf,
        .checks = build->exec->checks != 0,
        .compute = compute_leaf_chunk,
        .user = build,
        .progress = build->progress};
    pool_span level;
    pool_status status = POOL_OK;

    /* The memory that chunks write is allocated before the first one, in the order of the call's
     * stream. */
    if (tree->hashes_leaves || tree->first_level == 0)
        status = level_span(build, 0, &level);
    if (!status && tree->height)
        status = level_span(build, 1, &level);
    return status ? status : poseidon_pipeline_run(&pipeline);
}

static pool_status compute_level(struct build *build, uint32_t level)
{
    pool_span children, nodes;
    pool_status status = level_span(build, level - 1, &children);

    if (!status)
        status = level_span(build, level, &nodes);
    if (!status)
        status = enqueue_nodes(build, &build->site, level, &children, &nodes);
    if (!status && memory_progress_waits(build->progress))
        status = pool_stream_synchronize(build->site.stream);
    return status ? status : memory_progress_add(build->progress, children.count);
}

/* ---- downloads ------------------------------------------------------------------------------- */

static pool_status open_downloads(struct build *build)
{
    const pool_span *levels = build->levels;
    pool_status status;

    build->kept = *levels;
    build->download_site = build->site;
    if (levels->space == POOL_MEMORY_DEVICE)
        return POOL_OK;
    status = poseidon_staging_alloc(
        &build->staging, &build->site, levels, build->digest_bytes, build->tree->digest_count);
    if (!status)
        build->kept = poseidon_staging_span(&build->staging, levels);
    build->download_site.stream = NULL;
    if (!status)
        status = pool_event_create(build->site.device, 0, &build->computed);
    if (!status)
        status = pool_stream_create(build->site.device, NULL, &build->download_site.stream);
    return status;
}

/* Later downloads wait for what the call's stream has computed until now, but not for what is
 * enqueued there afterwards. */
static pool_status mark_computed(struct build *build)
{
    pool_status status;

    if (!build->staging.buffer)
        return POOL_OK;
    status = pool_event_record(build->computed, build->site.stream);
    return status ? status : pool_stream_wait_event(build->download_site.stream, build->computed);
}

static pool_status download_level(const struct build *build, uint32_t level)
{
    const struct poseidon_tree *tree = build->tree;
    pool_span span;

    if (!build->staging.buffer || level < tree->first_level)
        return POOL_OK;
    span = poseidon_span_slice(
        build->levels, build->digest_bytes, tree->level_start[level], tree->level_nodes[level]);
    return poseidon_staging_download(
        &build->staging, &build->download_site, tree->level_start[level], &span);
}

/* Later work of the call's stream starts after the downloads. After a failure the host waits for
 * them, because they write the caller's memory. */
static pool_status join_downloads(struct build *build, pool_status status)
{
    pool_stream *stream = build->download_site.stream;
    struct base_error_copy first;

    if (!status)
        status = pool_event_record(build->computed, stream);
    if (!status)
        status = pool_stream_wait_event(build->site.stream, build->computed);
    if (status && stream) {
        base_error_save(&first);
        (void)pool_stream_synchronize(stream);
        base_error_restore(&first);
    }
    return status;
}

static pool_status close_downloads(struct build *build, pool_status status)
{
    struct base_error_copy first;
    pool_status destroyed;

    if (build->levels->space == POOL_MEMORY_DEVICE)
        return status;
    status = join_downloads(build, status);
    base_error_save(&first);
    destroyed = pool_stream_destroy(&build->download_site.stream);
    if (!status && destroyed)
        base_error_save(&first);
    status = status ? status : destroyed;
    destroyed = pool_event_destroy(&build->computed);
    if (!status && destroyed)
        base_error_save(&first);
    status = status ? status : destroyed;
    if (build->download_site.stream)
        stream_discard(build->download_site.stream);
    if (build->computed)
        stream_discard_event(build->computed);
    if (status)
        base_error_restore(&first);
    return poseidon_staging_free(&build->staging, &build->site, status);
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Levels 0 and 1 have been enqueued. Downloads to pageable memory block the host, so level i is
 * downloaded after level i + 2 has been enqueued. */
static pool_status compute_and_download_levels(struct build *build)
{
    uint32_t height = build->tree->height;
    pool_status status = POOL_OK;

    for (uint32_t level = 0; level <= height && !status; level++) {
        status = mark_computed(build);
        if (!status && level + 2 <= height)
            status = compute_level(build, level + 2);
        if (!status)
            status = download_level(build, level);
    }
    return status;
}

static pool_status build_tree(struct build *build, const pool_span *leaves)
{
    pool_status status = open_downloads(build);

    if (!status)
        status = compute_leaves(build, leaves);
    if (!status)
        status = compute_and_download_levels(build);
    status = close_downloads(build, status);
    for (int i = 0; i < 2; i++)
        status = memory_scratch_free(&build->site, &build->scratch[i], status);
    return status;
}

pool_status poseidon_device_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_tree *tree, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *levels, struct memory_progress *progress)
{
    uint32_t node_words = set->digest_elements * set->field->words;
    size_t leaf_bytes = (size_t)tree->leaf_elements * set->field->bytes;
    struct build build = {.set = set,
        .tree = tree,
        .exec = exec,
        .levels = levels,
        .digest_bytes = (size_t)set->digest_elements * set->field->bytes,
        .first_leaf = first_leaf,
        .progress = progress};
    pool_status status;

    if (node_words > POSEIDON_NODE_WORDS)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_poseidon_merkle_build: digests of %s have %u words; devices support up to %d, "
            "the host any number",
            set->name, node_words, POSEIDON_NODE_WORDS);
    status = exec_target_init(&build.site, exec->device, exec->stream);
    if (!status)
        status = poseidon_check_device_span(&build.site, leaves, leaf_bytes, "leaves");
    if (!status)
        status = poseidon_check_device_span(&build.site, levels, build.digest_bytes, "levels");
    if (status)
        return status;
    return exec_target_end(&build.site, exec->is_async, build_tree(&build, leaves));
}
