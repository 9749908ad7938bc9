/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a commitment and the chunks of its matrices, a function of sizes.
 */
#include "zk/commit/commit.h"

#include "base/math.h"
#include "pool/memory/scratch.h"

/* A chunk of 32 MiB takes 0.6 ms to copy, many times what its launches cost. */
#define CHUNK_BYTES ((uint64_t)32 << 20)

/* One chunk is hashed while the next one is uploaded; the third hides differences. */
enum { SLOTS = 3 };

/* The device memory of an item in a chunk, in two blocks; 0: read and extended in place. */
struct item_bytes {
    uint64_t item;
    uint64_t trace; /* of an extension */
};

static struct item_bytes item_bytes(const struct commit_tree *tree, const pool_matrix *matrix)
{
    const struct commit_extension *extension = commit_extension_of(tree, matrix);
    const uint64_t bytes = commit_item_elements(matrix) * tree->field->bytes;
    struct item_bytes copies = {0};

    if (commit_is_fetched(tree, matrix))
        return (struct item_bytes){.item = bytes};
    if (matrix->span.space == POOL_MEMORY_HOST || (extension && !extension->is_kept))
        copies.item = bytes;
    if (extension && extension->trace.space == POOL_MEMORY_HOST)
        copies.trace = commit_trace_height(extension) * tree->field->bytes;
    return copies;
}

struct commit_chunks commit_plan_chunks(
    const struct commit_plan *plan, const struct commit_tree *tree, const pool_matrix *matrix)
{
    const uint64_t count = commit_item_count(matrix);
    const struct item_bytes bytes = item_bytes(tree, matrix);
    struct commit_chunks chunks = {.items = count, .slots = 1};

    if (bytes.item + bytes.trace == 0)
        return chunks;
    chunks.items = base_min(base_max(plan->chunk_bytes / (bytes.item + bytes.trace), 1), count);
    chunks.slots = (uint32_t)base_min(plan->slots, base_ceil_div(count, chunks.items));
    chunks.bytes = memory_scratch_bytes(chunks.items * bytes.item) +
                   memory_scratch_bytes(chunks.items * bytes.trace);
    return chunks;
}

/* What a check of a chunk stores, see vector/check.h; items that are uploaded are packed. */
static uint64_t check_bytes(const struct commit_tree *tree, const pool_matrix *matrix)
{
    const uint64_t elements = commit_item_elements(matrix);
    const uint64_t bytes = elements * tree->field->bytes;
    const bool is_packed = matrix->span.space == POOL_MEMORY_HOST ||
                           commit_is_fetched(tree, matrix) ||
                           span_stride(&matrix->span, bytes) == bytes;

    return memory_scratch_bytes(
        sizeof(uint64_t) * (is_packed ? 1 : base_min(elements, commit_item_count(matrix))));
}

/* What the work on a chunk allocates besides the chunk: a check, then the extension. The last chunk
 * may have fewer columns. */
static uint64_t work_bytes(const struct commit_tree *tree, const pool_matrix *matrix,
    const struct commit_chunks *chunks, bool has_checks)
{
    const struct commit_extension *extension = commit_extension_of(tree, matrix);
    const uint64_t rest = commit_item_count(matrix) % chunks->items;
    uint64_t bytes;

    if (!extension)
        return has_checks ? check_bytes(tree, matrix) : 0;
    bytes = base_max(commit_extension_bytes(extension, matrix, chunks->items),
        has_checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0);
    return rest ? base_max(bytes, commit_extension_bytes(extension, matrix, rest)) : bytes;
}

/* The most of the matrices, which are hashed one after another. */
static uint64_t copy_bytes(
    const struct commit_plan *plan, const struct commit_tree *tree, bool has_checks)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const struct commit_chunks chunks = commit_plan_chunks(plan, tree, matrix);

        most = base_max(
            most, chunks.slots * chunks.bytes + work_bytes(tree, matrix, &chunks, has_checks));
    }
    return most;
}

/* The sponges of a level's rows, if several launches absorb them. */
static uint64_t level_state_bytes(
    const struct commit_plan *plan, const struct commit_tree *tree, uint32_t level)
{
    uint64_t launches = 0;

    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const struct commit_chunks chunks = commit_plan_chunks(plan, tree, matrix);

        if (commit_matrix_level(tree, matrix) == level)
            launches += matrix->layout == POOL_MATRIX_ROWS
                            ? 1
                            : base_ceil_div(commit_item_count(matrix), chunks.items);
    }
    return launches > 1 ? memory_scratch_bytes(commit_level_nodes(tree, level) *
                                               tree->row_set->width * tree->field->bytes)
                        : 0;
}

static void set_level_bytes(
    const struct commit_tree *tree, bool levels_are_on_host, struct commit_plan *plan)
{
    if (levels_are_on_host)
        plan->staging_bytes = memory_scratch_bytes(tree->digest_count * tree->digest_bytes);
    for (uint32_t level = 0; level < 2 && level < tree->first_level; level++)
        plan->scratch_bytes[level] =
            memory_scratch_bytes(commit_level_nodes(tree, level) * tree->digest_bytes);
    for (uint32_t level = tree->height; level > 0; level--)
        if (commit_level_width(tree, level))
            plan->pair_bytes =
                memory_scratch_bytes(2 * commit_level_nodes(tree, level) * tree->digest_bytes);
}

static void set_bytes(const struct commit_tree *tree, bool has_checks, struct commit_plan *plan)
{
    plan->state_bytes = 0;
    for (uint32_t level = 0; level <= tree->height; level++)
        plan->state_bytes = base_max(plan->state_bytes, level_state_bytes(plan, tree, level));
    plan->bytes = plan->staging_bytes + plan->scratch_bytes[0] + plan->scratch_bytes[1] +
                  plan->pair_bytes + plan->state_bytes + copy_bytes(plan, tree, has_checks);
}

/* Smaller chunks first: chunks in progress at a time hide the copies. */
static bool shrink_chunks(struct commit_plan *plan)
{
    if (plan->chunk_bytes)
        plan->chunk_bytes /= 2;
    else
        plan->slots--;
    return plan->slots > 0;
}

bool commit_plan_make(const struct commit_tree *tree, bool levels_are_on_host, bool has_checks,
    uint64_t limit, struct commit_plan *plan)
{
    uint64_t least = UINT64_MAX;

    *plan = (struct commit_plan){.chunk_bytes = CHUNK_BYTES, .slots = SLOTS};
    set_level_bytes(tree, levels_are_on_host, plan);
    do {
        set_bytes(tree, has_checks, plan);
        if (plan->bytes <= limit)
            return true;
        least = base_min(least, plan->bytes);
    } while (shrink_chunks(plan));
    plan->bytes = least;
    return false;
}
