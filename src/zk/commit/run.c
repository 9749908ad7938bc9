/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a commitment on a device, level by level: the rows of the matrices that have as
 * many rows as the level has nodes, and the compression of the level below. Matrices in host memory
 * pass through the pipeline in chunks; the sponges' states are kept between chunks of columns.
 */
#include "zk/commit/commit.h"

#include <stdio.h>

#include "base/math.h"
#include "base/status.h"
#include "zk/operation/pipeline.h"
#include "zk/poseidon/run.h"
#include "zk/vector/check.h"

struct stages {
    const struct commit_tree *tree;
    const struct commit_plan *plan;
    struct exec_target target;
    struct progress *progress;
    pool_span kept;       /* the kept levels in device memory */
    pool_buffer *staging; /* the memory of `kept` for levels in host memory */
    pool_buffer *scratch[2];
    CUdeviceptr scratch_address[2];
    CUdeviceptr pair_address;
    CUdeviceptr state_address;
};

/* The rows of a level that are hashed. */
struct row_hash {
    const struct stages *call;
    uint32_t level;
    uint64_t width;    /* of the rows of all matrices */
    uint64_t absorbed; /* elements of the matrices before this one */
    const pool_matrix *matrix;
    const pool_span *digests;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static pool_status allocate_memory(
    struct operation_call *frame, const pool_span *levels, struct stages *call)
{
    const struct commit_plan *plan = call->plan;
    const struct exec_target *target = &call->target;
    CUdeviceptr staging;
    pool_buffer *unused;
    pool_status status =
        operation_scratch(frame, target, plan->staging_bytes, &call->staging, &staging);

    call->kept = *levels;
    if (levels->space == POOL_MEMORY_HOST) {
        call->kept.data = (void *)(uintptr_t)staging;
        call->kept.stride = 0;
        call->kept.space = POOL_MEMORY_DEVICE;
    }
    for (int i = 0; i < 2 && !status; i++)
        status = operation_scratch(
            frame, target, plan->scratch_bytes[i], &call->scratch[i], &call->scratch_address[i]);
    if (!status)
        status = operation_scratch(frame, target, plan->pair_bytes, &unused, &call->pair_address);
    if (!status)
        status = operation_scratch(frame, target, plan->state_bytes, &unused, &call->state_address);
    return status;
}

/* The device memory of a level. */
static pool_span level_span(const struct stages *call, uint32_t level)
{
    const struct commit_tree *tree = call->tree;
    const uint64_t nodes = commit_level_nodes(tree, level);

    if (level >= tree->first_level)
        return span_slice(&call->kept, tree->digest_bytes, commit_level_start(tree, level), nodes);
    return (pool_span){.data = (void *)(uintptr_t)call->scratch_address[level % 2],
        .count = nodes,
        .form = level == 0 && tree->leaves ? call->kept.form : poseidon_device_form(tree->set),
        .space = POOL_MEMORY_DEVICE};
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The chunk's items that are hashed, in device memory. */
static pool_span hashed_items(const struct row_hash *hash, const struct pipeline_chunk *chunk)
{
    const struct commit_extension *extension = commit_extension_of(hash->call->tree, hash->matrix);
    pool_span items = extension ? chunk->out : chunk->in[0];

    if (extension ? !extension->is_kept : commit_is_fetched(hash->call->tree, hash->matrix))
        items = (pool_span){.data = (void *)(uintptr_t)chunk->scratch,
            .count = chunk->count,
            .form = hash->matrix->span.form,
            .space = POOL_MEMORY_DEVICE};
    return items;
}

/* Of the matrix or, if that is an extension, of what is extended. */
static pool_status check_chunk(const struct row_hash *hash, const struct pipeline_chunk *chunk)
{
    const struct commit_tree *tree = hash->call->tree;
    const struct commit_extension *extension = commit_extension_of(tree, hash->matrix);
    const size_t index = (size_t)(hash->matrix - tree->matrices);
    const struct commit_source whole = {.matrix = (uint32_t)index};
    const struct commit_source *source = tree->sources ? &tree->sources[index] : &whole;
    const pool_span given = extension ? chunk->in[0] : hashed_items(hash, chunk);
    const uint64_t elements =
        extension ? commit_trace_height(extension) : commit_item_elements(hash->matrix);
    char name[32];
    const struct vector_items items = {.address = (CUdeviceptr)(uintptr_t)given.data,
        .stride = span_stride(&given, elements * tree->field->bytes),
        .count = chunk->count,
        .elements = elements,
        .first = source->first_item + chunk->first,
        .whole_elements = source->whole_elements,
        .first_element = source->first_element,
        .what = name};

    (void)snprintf(name, sizeof(name), "matrix %u", source->matrix);
    return hash->call->progress->exec->checks
               ? vector_check_elements(&chunk->target, tree->field, &items)
               : POOL_OK;
}

/* Runs on the stream of the copies, so that it overlaps with the hashing of the chunk before. */
static pool_status extend_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct row_hash *hash = user;
    const pool_span out = hashed_items(hash, chunk);
    pool_status status = check_chunk(hash, chunk);

    return status ? status
                  : commit_extend_columns(commit_extension_of(hash->call->tree, hash->matrix),
                        &chunk->target, &chunk->in[0], &out);
}

static bool is_aligned(const pool_field *field, uint64_t addresses)
{
    return field->words == 2 ? addresses % 8 == 0 : field->words % 4 == 0 && addresses % 16 == 0;
}

static pool_status fetch_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct row_hash *hash = user;

    return commit_fetch(
        hash->call->tree, hash->matrix, &chunk->target, chunk->first, chunk->count, chunk->scratch);
}

/* The launch that absorbs rows `first` to first + rows - 1 of a chunk of columns or of rows. */
static struct poseidon_rows_args rows_args(
    const struct row_hash *hash, const struct pipeline_chunk *chunk)
{
    const struct commit_tree *tree = hash->call->tree;
    const pool_span items = hashed_items(hash, chunk);
    const pool_poseidon *set = tree->row_set;
    const pool_form form = poseidon_device_form(set);
    const uint64_t bytes = tree->field->bytes;
    const bool has_rows = hash->matrix->layout == POOL_MATRIX_ROWS;
    const uint64_t stride = span_stride(&items, commit_item_elements(hash->matrix) * bytes);
    const uint64_t first_row = has_rows ? chunk->first : 0;
    const uint64_t start = hash->absorbed + (has_rows ? 0 : chunk->first);
    struct poseidon_rows_args args = {.in = (CUdeviceptr)(uintptr_t)items.data,
        .row_stride = has_rows ? stride : bytes,
        .column_stride = has_rows ? bytes : stride,
        .rows = has_rows ? chunk->count : hash->matrix->height,
        .columns = has_rows ? hash->matrix->width : chunk->count,
        .position = (unsigned)(start % set->rate),
        .rate = set->rate,
        .digest_elements = set->digest_elements,
        .is_first = start == 0,
        .is_permuted = !tree->keeps_short_rows || hash->width > set->digest_elements,
        .in_is_converted = items.form != form,
        .out_is_converted = hash->digests->form != form};

    args.in_is_aligned = is_aligned(tree->field, args.in | args.row_stride | args.column_stride);
    args.state_rows = hash->matrix->height;
    if (hash->call->state_address)
        args.states = hash->call->state_address + first_row * bytes;
    args.out_stride = span_stride(hash->digests, tree->digest_bytes);
    if (start + args.columns == hash->width)
        args.out = (CUdeviceptr)(uintptr_t)hash->digests->data + first_row * args.out_stride;
    args.out_is_aligned = tree->field->words % 4 == 0 && (args.out | args.out_stride) % 16 == 0;
    return args;
}

static pool_status hash_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct row_hash *hash = user;
    const struct commit_tree *tree = hash->call->tree;
    struct poseidon_rows_args args = rows_args(hash, chunk);
    pool_status status =
        commit_extension_of(tree, hash->matrix) ? POOL_OK : check_chunk(hash, chunk);

    return status ? status : poseidon_launch_rows(tree->row_set, &chunk->target, &args);
}

/* The trace is uploaded, the extension downloaded, unless they are in device memory. */
static void set_extension(const struct row_hash *hash, const struct commit_extension *extension,
    const struct commit_chunks *chunks, struct pipeline *pipeline)
{
    const pool_field *field = hash->call->tree->field;
    const uint64_t column = hash->matrix->height * field->bytes;

    pipeline->in[0] = (struct pipeline_span){
        &extension->trace, commit_trace_height(extension) * field->bytes, false};
    if (extension->is_kept)
        pipeline->out = (struct pipeline_span){&hash->matrix->span, column, false};
    else
        pipeline->scratch_bytes = chunks->items * column;
    pipeline->upload = extend_chunk;
}

static pool_status hash_matrix(struct row_hash *hash, const pool_matrix *matrix)
{
    const struct stages *call = hash->call;
    const struct commit_extension *extension = commit_extension_of(call->tree, matrix);
    const uint64_t elements = commit_item_elements(matrix);
    const struct commit_chunks chunks = commit_plan_chunks(call->plan, call->tree, matrix);
    struct pipeline pipeline = {.target = call->target,
        .progress = call->progress,
        .weight = elements,
        .count = matrix->span.count,
        .chunk_items = chunks.items,
        .slots = chunks.slots,
        .is_serial = true,
        .is_uploaded_ahead = !extension && !commit_is_fetched(call->tree, matrix),
        .in = {{&matrix->span, elements * call->tree->field->bytes, true}},
        .compute = hash_chunk,
        .user = hash};
    pool_status status;

    hash->matrix = matrix;
    if (extension)
        set_extension(hash, extension, &chunks, &pipeline);
    if (commit_is_fetched(call->tree, matrix)) {
        pipeline.in[0].span = NULL;
        pipeline.scratch_bytes = chunks.bytes;
        pipeline.upload = fetch_chunk;
    }
    status = pipeline_run(&pipeline);
    hash->absorbed += matrix->width;
    return status;
}

/* The digests of the rows that belong to a level. */
static pool_status hash_rows(
    const struct stages *call, uint32_t level, uint64_t width, const pool_span *digests)
{
    const struct commit_tree *tree = call->tree;
    struct row_hash hash = {.call = call, .level = level, .width = width, .digests = digests};
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++)
        if (commit_matrix_level(tree, &tree->matrices[i]) == level)
            status = hash_matrix(&hash, &tree->matrices[i]);
    return status;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Each node is the hash of two of `children`. */
static pool_status enqueue_nodes(
    const struct stages *call, const pool_span *children, const pool_span *nodes)
{
    const struct commit_tree *tree = call->tree;
    const struct poseidon_operation operation = {.set = tree->set,
        .kernel = POSEIDON_MERKLE_LEVEL,
        .in_bytes = tree->digest_bytes,
        .out_bytes = tree->digest_bytes,
        .args = {.arity = 2, .input_count = children->count}};

    return poseidon_operation_enqueue(&operation, &call->target, children, nodes);
}

/* The nodes of a level, each compressed with the digest of its row. The pairs of both are in
 * scratch memory. */
static pool_status compress_with_rows(const struct stages *call, uint32_t level, uint64_t width,
    const pool_span *children, const pool_span *nodes)
{
    const struct commit_tree *tree = call->tree;
    const pool_span pairs = {.data = (void *)(uintptr_t)call->pair_address,
        .count = 2 * nodes->count,
        .form = poseidon_device_form(tree->set),
        .space = POOL_MEMORY_DEVICE};
    pool_span first = pairs, second;
    pool_status status;

    first.count = nodes->count;
    first.stride = 2 * tree->digest_bytes;
    second = first;
    second.data = (void *)(uintptr_t)(call->pair_address + tree->digest_bytes);
    status = enqueue_nodes(call, children, &first);
    if (!status)
        status = hash_rows(call, level, width, &second);
    return status ? status : enqueue_nodes(call, &pairs, nodes);
}

static pool_status compute_level(const struct stages *call, uint32_t level)
{
    const struct commit_tree *tree = call->tree;
    const uint64_t width = commit_level_width(tree, level);
    const pool_span nodes = level_span(call, level);
    pool_span children;
    pool_status status;

    if (level == 0 && tree->leaves)
        return pool_copy_to_device(call->scratch[0], 0, tree->leaves,
            nodes.count * tree->digest_bytes, call->target.stream);
    if (level == 0)
        return hash_rows(call, level, width, &nodes);
    children = level_span(call, level - 1);
    status = width ? compress_with_rows(call, level, width, &children, &nodes)
                   : enqueue_nodes(call, &children, &nodes);
    if (!status && progress_waits(call->progress))
        status = pool_stream_synchronize(call->target.stream);
    return status ? status : progress_add(call->progress, nodes.count);
}

/* Kept levels that are adjacent in `levels`. */
struct level_run {
    const struct stages *call;
    uint64_t first; /* digest of the kept ones */
    uint64_t count;
};

static pool_status choose_staging(void *user, struct pipeline_chunk *chunk)
{
    const struct level_run *run = user;

    chunk->result = run->call->staging;
    chunk->result_offset = run->first * run->call->tree->digest_bytes;
    return POOL_OK;
}

static pool_status download_run(
    const struct level_run *run, const pool_span *levels, uint64_t target)
{
    const struct stages *call = run->call;
    const pool_span to = span_slice(levels, call->tree->digest_bytes, target, run->count);
    const struct pipeline pipeline = {.target = call->target,
        .progress = call->progress,
        .count = run->count,
        .chunk_items = run->count,
        .slots = 1,
        .out = {&to, call->tree->digest_bytes, true},
        .is_in_place = true,
        .compute = choose_staging,
        .user = (void *)(uintptr_t)run};

    return pipeline_run(&pipeline);
}

static pool_status download_levels(const struct stages *call, const pool_span *levels)
{
    const struct commit_tree *tree = call->tree;
    pool_status status = POOL_OK;

    for (uint32_t level = tree->first_level, next; level <= tree->height && !status; level = next) {
        struct level_run run = {.call = call, .first = commit_level_start(tree, level)};

        for (next = level; next <= tree->height &&
                           tree->level_target[next] == tree->level_target[level] + run.count;
             next++)
            run.count += commit_level_nodes(tree, next);
        status = download_run(&run, levels, tree->level_target[level]);
    }
    return status;
}

uint64_t commit_work(const struct commit_tree *tree)
{
    uint64_t work = 0;

    for (uint32_t i = 0; i < tree->count; i++)
        work += tree->matrices[i].width * tree->matrices[i].height;
    for (uint32_t level = 1; level <= tree->height; level++)
        work += commit_level_nodes(tree, level);
    return work;
}

pool_status commit_run(void *user)
{
    struct commit_call *call = user;
    struct stages stages = {.tree = &call->tree,
        .plan = &call->plan,
        .target = call->frame.target,
        .progress = &call->frame.progress};
    pool_status status = progress_add(stages.progress, 0); /* whether the call was cancelled */

    if (!status)
        status = allocate_memory(&call->frame, call->levels, &stages);
    for (uint32_t level = 0; level <= call->tree.height && !status; level++)
        status = compute_level(&stages, level);
    if (!status && call->levels->space == POOL_MEMORY_HOST)
        status = download_levels(&stages, call->levels);
    return status;
}
