/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and siblings in the memory of one device: gathered by kernels for all indices at once. */
#include "zk/commit/open.h"
#include "zk/poseidon/kernels.h"
#include "zk/poseidon/run.h"

void commit_open_set_items(void *user)
{
    struct opening *opening = user;
    const struct commit_tree *tree = &opening->tree;
    struct span_item *item = opening->frame.item;

    opening->frame.target.field = tree->field;
    item[0] = item[2] = poseidon_item(tree->set, tree->set->digest_elements);
    item[1] = poseidon_item(tree->set, (uint32_t)tree->row_elements);
}

bool commit_open_list(const void *user, uint32_t index, struct operation_operand *operand)
{
    const struct commit_tree *tree = &((const struct opening *)user)->tree;

    if (index >= tree->count)
        return false;
    commit_list_matrix(tree, index, operand);
    return true;
}

static bool gathers(const struct opening *opening)
{
    const struct commit_tree *tree = &opening->tree;
    bool has_device_memory = opening->levels->space == POOL_MEMORY_DEVICE;

    for (uint32_t i = 0; i < tree->count; i++)
        has_device_memory |= tree->matrices[i].span.space == POOL_MEMORY_DEVICE;
    return has_device_memory && opening->count > 0;
}

uint64_t commit_gather_bytes(const struct opening *opening)
{
    return gathers(opening)
               ? memory_scratch_bytes(
                     opening->count * (sizeof(uint64_t) + opening->row_bytes + opening->path_bytes))
               : 0;
}

/* `args` has what depends on the source; the result is at `offset` of each index's results. */
static pool_status launch_gather(const struct opening *opening, const struct exec_target *target,
    struct poseidon_gather_args *args, pool_form from, pool_form to)
{
    const pool_form form = poseidon_device_form(opening->tree.row_set);

    args->count = opening->count;
    args->in_is_converted = from != form;
    args->out_is_converted = to != form;
    return poseidon_launch_gather(opening->tree.row_set, target, args);
}

static pool_status gather_rows(
    const struct opening *opening, const struct exec_target *target, CUdeviceptr scratch)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t bytes = tree->field->bytes;
    CUdeviceptr out = scratch + opening->count * sizeof(uint64_t);
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < tree->count && !status; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const uint64_t stride = span_stride(&matrix->span, commit_item_elements(matrix) * bytes);
        const bool has_rows = matrix->layout == POOL_MATRIX_ROWS;
        struct poseidon_gather_args args = {.in = (CUdeviceptr)(uintptr_t)matrix->span.data,
            .indices = scratch,
            .out = out,
            .row_stride = has_rows ? stride : bytes,
            .column_stride = has_rows ? bytes : stride,
            .out_stride = opening->row_bytes,
            .columns = matrix->width,
            .shift = commit_matrix_level(tree, matrix)};

        if (matrix->span.space == POOL_MEMORY_DEVICE)
            status = launch_gather(opening, target, &args, matrix->span.form, opening->rows->form);
        out += matrix->width * bytes;
    }
    return status;
}

static pool_status gather_paths(
    const struct opening *opening, const struct exec_target *target, CUdeviceptr scratch)
{
    const struct commit_tree *tree = &opening->tree;
    const uint64_t stride = span_stride(opening->levels, tree->digest_bytes);
    const CUdeviceptr out = scratch + opening->count * (sizeof(uint64_t) + opening->row_bytes);
    pool_status status = POOL_OK;

    if (opening->levels->space != POOL_MEMORY_DEVICE)
        return POOL_OK;
    for (uint32_t level = tree->first_level; level < tree->height && !status; level++) {
        struct poseidon_gather_args args = {.in = (CUdeviceptr)(uintptr_t)opening->levels->data +
                                                  commit_level_start(tree, level) * stride,
            .indices = scratch,
            .out = out + level * tree->digest_bytes,
            .row_stride = stride,
            .column_stride = tree->field->bytes,
            .out_stride = opening->path_bytes,
            .columns = tree->set->digest_elements,
            .shift = level,
            .is_sibling = 1};

        status = launch_gather(opening, target, &args, opening->levels->form, opening->paths->form);
    }
    return status;
}

static pool_status plan_gather(void *user, uint64_t limit)
{
    struct opening *opening = user;

    (void)limit;
    opening->frame.memory.bytes = commit_gather_bytes(opening);
    return POOL_OK;
}

static pool_status run_gather(void *user)
{
    struct opening *opening = user;
    const struct exec_target *target = &opening->frame.target;
    const uint64_t index_bytes = opening->count * sizeof(uint64_t);
    const CUdeviceptr address = opening->frame.address;
    pool_buffer *scratch = opening->frame.block;
    pool_status status =
        pool_copy_to_device(scratch, 0, opening->indices, index_bytes, target->stream);

    if (!status)
        status = gather_rows(opening, target, address);
    if (!status)
        status = gather_paths(opening, target, address);
    if (!status)
        status = pool_copy_to_host(opening->packed, scratch, index_bytes,
            opening->count * (opening->row_bytes + opening->path_bytes), target->stream);
    return status;
}

pool_status commit_gather(const struct opening *whole, const pool_exec *exec)
{
    static const struct operation operation = {.is_uncounted = true,
        .call_bytes = sizeof(struct opening),
        .rules = {.has_workspace = true, .has_memory_limit = true},
        .arguments = {{"levels", offsetof(struct opening, levels), OPERATION_SPAN,
            .operand = "levels"}},
        .takes_block = true,
        .list = commit_open_list,
        .prepare = commit_open_set_items,
        .plan = plan_gather,
        .run = run_gather};
    struct opening opening = *whole;

    opening.frame =
        (struct operation_call){.operation = &operation, .name = whole->frame.name, .given = exec};
    return commit_gather_bytes(&opening) ? operation_run(&opening.frame) : POOL_OK;
}
