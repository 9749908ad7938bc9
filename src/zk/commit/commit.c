/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_commit, its shards and its warm-up: their arguments, and the steps of all
 * commitments. run.c enqueues.
 */
#include "zk/commit/devices.h"

#include "base/params.h"
#include "base/status.h"
#include "zk/poseidon/kernels.h"
#include "zk/poseidon/run.h"

/* ---- steps ----------------------------------------------------------------------------------- */

static pool_status read_matrices(void *user)
{
    struct commit_call *call = user;

    return commit_tree_init(
        call->frame.name, &call->params, call->matrices, call->count, &call->tree);
}

void commit_set_items(void *user)
{
    struct commit_call *call = user;
    const struct commit_tree *tree = &call->tree;

    call->frame.target.field = tree->field;
    call->frame.subject = tree->row_set->name;
    call->frame.items = commit_level_nodes(tree, 0);
    call->frame.work = call->frame.work_before + commit_work(tree);
    call->frame.item[0] = poseidon_item(tree->set, tree->set->digest_elements);
}

/* The matrices of one device's part have been checked as those of the whole call. */
static bool list_matrices(const void *user, uint32_t index, struct operation_operand *operand)
{
    const struct commit_tree *tree = &((const struct commit_call *)user)->tree;

    if (tree->sources || index >= tree->count)
        return false;
    commit_list_matrix(tree, index, operand);
    return true;
}

pool_status commit_check_levels(void *user)
{
    const struct commit_call *call = user;
    const struct commit_tree *tree = &call->tree;

    if (call->levels->count < tree->digest_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `levels` has space for %llu digests, the kept levels have %llu", call->frame.name,
            (unsigned long long)call->levels->count, (unsigned long long)tree->digest_count);
    return POOL_OK;
}

static pool_status check_call(void *user)
{
    const struct commit_call *call = user;
    pool_status status = commit_check_levels(user);

    return status || call->tree.sources ? status
                                        : commit_check_matrices(call->frame.name, &call->tree);
}

pool_status commit_plan(void *user, uint64_t limit)
{
    struct commit_call *call = user;

    (void)commit_plan_make(&call->tree, call->levels->space == POOL_MEMORY_HOST,
        call->frame.exec.checks != 0, limit, &call->plan);
    call->frame.memory.bytes = call->plan.bytes;
    return POOL_OK;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define ARGUMENTS                                                                                  \
    {"params", offsetof(struct commit_call, given), OPERATION_PARAMS, .type = &commit_params_type, \
        .copy_at = offsetof(struct commit_call, params)},                                          \
    {                                                                                              \
        "matrices", offsetof(struct commit_call, matrices), OPERATION_ARRAY,                       \
            .copy_at = offsetof(struct commit_call, count), .bytes = sizeof(pool_matrix),          \
            .most = COMMIT_MAX_MATRICES                                                            \
    }

static const struct operation commitment = {.counter = "commit",
    .call_bytes = sizeof(struct commit_call),
    .rules = {COMMIT_RULES},
    .arguments = {ARGUMENTS,
        {"levels", offsetof(struct commit_call, levels), OPERATION_SPAN, .operand = "levels"}},
    .list = list_matrices,
    .read = read_matrices,
    .prepare = commit_set_items,
    .check = check_call,
    .plan = commit_plan,
    .run = commit_run,
    .divide = commit_divide_call,
    .part = commit_make_part,
    .open_part = commit_open_part};

static const struct operation counting = {.call_bytes = sizeof(struct commit_call),
    .rules = {COMMIT_RULES},
    .arguments = {ARGUMENTS, {.name = "digests", .at = offsetof(struct commit_call, digests)}},
    .read = read_matrices,
    .run = commit_count_call};

/* The tree has been read. */
static const struct operation part = {.counter = "commit",
    .call_bytes = sizeof(struct commit_call),
    .rules = {COMMIT_RULES},
    .arguments = {{"levels", offsetof(struct commit_call, levels), OPERATION_SPAN,
        .operand = "levels"}},
    .list = list_matrices,
    .prepare = commit_set_items,
    .check = check_call,
    .plan = commit_plan,
    .run = commit_run};

pool_status commit_compute(const char *name, const struct commit_tree *tree, const pool_exec *exec,
    const pool_span *levels, uint64_t *bytes)
{
    struct commit_call call = {.frame = {.operation = &part, .name = name, .given = exec},
        .levels = levels,
        .tree = *tree};

    return bytes ? operation_forecast(&call.frame, bytes) : operation_run(&call.frame);
}

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_matrix_commit(const pool_matrix_commit_params *params, const pool_exec *exec,
    const pool_matrix *matrices, uint32_t count, const pool_span *levels)
{
    struct commit_call call = {.frame = OPERATION_CALL(&commitment, exec),
        .given = params,
        .matrices = matrices,
        .count = count,
        .levels = levels};

    return operation_run(&call.frame);
}

pool_status pool_matrix_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    uint64_t *bytes)
{
    struct commit_call call = {.frame = OPERATION_CALL(&commitment, exec),
        .given = params,
        .matrices = matrices,
        .count = count,
        .levels = levels};

    return operation_forecast(&call.frame, bytes);
}

pool_status pool_matrix_commit_shards(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, uint64_t *digests)
{
    struct commit_call call = {.frame = OPERATION_CALL(&counting, exec),
        .given = params,
        .matrices = matrices,
        .count = count,
        .digests = digests};

    return operation_run(&call.frame);
}

/* ---- warm-up --------------------------------------------------------------------------------- */

static pool_status read_warm_up(void *user)
{
    static const pool_matrix one = {.height = 1, .width = 1};
    struct commit_call *call = user;

    call->params.cap_height = call->params.kept_levels = 0;
    return commit_tree_init(call->frame.name, &call->params, &one, 1, &call->tree);
}

static pool_status load(void *user)
{
    const struct commit_call *call = user;
    const pool_exec *exec = &call->frame.exec;
    pool_status status = pool_poseidon_warm_up(call->tree.set, exec);

    if (!status)
        status = exec_check_cancelled(call->frame.name, exec);
    return status ? status : poseidon_warm_up_rows(call->tree.row_set, exec->device);
}

pool_status pool_matrix_commit_warm_up(
    const pool_matrix_commit_params *params, const pool_exec *exec)
{
    static const struct operation operation = {.call_bytes = sizeof(struct commit_call),
        .rules = {.is_warm_up = true},
        .arguments = {{"params", offsetof(struct commit_call, given), OPERATION_PARAMS,
            .type = &commit_params_type, .copy_at = offsetof(struct commit_call, params)}},
        .read = read_warm_up,
        .run = load};
    struct commit_call call = {.frame = OPERATION_CALL(&operation, exec), .given = params};

    return operation_run(&call.frame);
}
