/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a layer as matrices, and folds whose results are committed to.
 */
#include <string.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"

pool_status pool_fri_layer(const pool_field *field, const pool_span *layer, uint32_t log_arity,
    int32_t is_bit_reversed, pool_matrix *matrices, uint32_t *count)
{
    pool_status status =
        base_check_pointers(__func__, {"layer", layer}, {"matrices", matrices}, {"count", count});
    struct span_item item;
    uint64_t rows, bytes;

    if (!status)
        status = fri_check_field(__func__, field, NULL);
    if (!status)
        status = base_check_ranges(__func__, {"log_arity", log_arity, 0, FRI_MAX_LOG_ARITY},
            {"is_bit_reversed", is_bit_reversed, 0, 1});
    if (status)
        return status;
    item = (struct span_item){.bytes = field->bytes, .kind = "elements", .name = field->name};
    status = span_check_shape(layer, &item, "layer");
    if (status)
        return status;
    rows = layer->count >> log_arity;
    if (!base_is_power_of_two(layer->count) || !rows ||
        span_stride(layer, field->bytes) != field->bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %llu elements are no packed layer of rows of 2^%u", __func__,
            (unsigned long long)layer->count, (unsigned)log_arity);
    *count = is_bit_reversed ? 1 : 1u << log_arity;
    bytes = rows * field->bytes;
    for (uint32_t i = 0; i < *count; i++) {
        matrices[i] = (pool_matrix){.span = *layer,
            .height = rows,
            .width = is_bit_reversed ? field->degree << log_arity : field->degree,
            .layout = POOL_MATRIX_ROWS};
        matrices[i].span.count = rows;
        matrices[i].span.stride = 0;
        if (layer->data)
            matrices[i].span.data = (unsigned char *)layer->data + i * bytes;
    }
    return POOL_OK;
}

/* A fold and the commitment to its results: calls of the two operations. */
struct fold_commit {
    struct operation_call frame;
    const pool_fri_fold_params *params;
    const pool_matrix_commit_params *commit;
    uint32_t next_log_arity;
    const pool_span *in, *out, *levels;
    pool_matrix matrices[POOL_FRI_MAX_ARITY];
    uint32_t count;
};

/* Refuses what can be refused without a device; results are reduced. */
static pool_status plan(struct fold_commit *call, uint64_t *bytes)
{
    const pool_field *field;
    pool_exec unchecked = call->frame.exec;
    uint64_t of_commitment = 0;
    pool_status status =
        pool_fri_fold_workspace(call->params, call->frame.given, call->in, call->out, bytes);

    unchecked.checks = POOL_CHECK_NONE;
    if (!status)
        status = pool_fri_layer(call->params->field, call->out, call->next_log_arity,
            call->params->is_bit_reversed, call->matrices, &call->count);
    if (!status)
        status = pool_matrix_commit_workspace(
            call->commit, &unchecked, call->matrices, call->count, call->levels, &of_commitment);
    if (status)
        return status;
    *bytes = base_max(*bytes, of_commitment);
    field = pool_poseidon_field(call->commit->set);
    return memcmp(field->fingerprint, call->params->field->base->fingerprint,
               sizeof(field->fingerprint))
               ? base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: the set is over %s, the coordinates of %s are in %s", call->frame.name,
                     field->name, call->params->field->name, call->params->field->base->name)
               : POOL_OK;
}

/* Before the fold, which would have overwritten its results. */
static pool_status check_levels(struct fold_commit *call)
{
    const struct pool_poseidon *set = call->commit->set;
    const struct span_item digest = {.bytes = (uint64_t)set->digest_elements * set->field->bytes,
        .kind = "digests",
        .name = set->field->name};
    pool_status status = exec_target_init(&call->frame.target, &call->frame.exec);

    return status ? status : span_check(&call->frame.target, call->levels, &digest, "levels");
}

static pool_status run(void *user)
{
    struct fold_commit *call = user;
    pool_exec sequence = call->frame.exec;
    uint64_t bytes;
    pool_status status = plan(call, &bytes);

    if (!status)
        status = check_levels(call);
    if (status)
        return status;
    /* The commitment reads the results from host memory. */
    if (call->out->space == POOL_MEMORY_HOST)
        sequence.is_async = 0;
    status = pool_fri_fold(call->params, &sequence, call->in, call->out);
    if (status)
        return status;
    sequence.checks = POOL_CHECK_NONE;
    status = pool_matrix_commit(call->commit, &sequence, call->matrices, call->count, call->levels);
    /* After a failure the fold does not use the caller's memory any more. */
    return status ? exec_target_end(&call->frame.target, 0, status) : POOL_OK;
}

static pool_status forecast(void *user, uint64_t limit)
{
    struct fold_commit *call = user;

    (void)limit;
    return plan(call, &call->frame.memory.bytes);
}

static const struct operation operation = {.call_bytes = sizeof(struct fold_commit),
    .rules = {.checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true},
    .arguments = {{.name = "params",
                      .at = offsetof(struct fold_commit, params),
                      .kind = OPERATION_PARAMS},
        {.name = "commit", .at = offsetof(struct fold_commit, commit), .kind = OPERATION_PARAMS},
        {.name = "in", .at = offsetof(struct fold_commit, in), .kind = OPERATION_SPAN},
        {.name = "out", .at = offsetof(struct fold_commit, out), .kind = OPERATION_SPAN},
        {.name = "levels", .at = offsetof(struct fold_commit, levels), .kind = OPERATION_SPAN}},
    .plan = forecast,
    .run = run};

pool_status pool_fri_fold_commit(const pool_fri_fold_params *params, uint32_t next_log_arity,
    const pool_matrix_commit_params *commit, const pool_exec *exec, const pool_span *in,
    const pool_span *out, const pool_span *levels)
{
    struct fold_commit call = {.frame = OPERATION_CALL(&operation, exec),
        .params = params,
        .commit = commit,
        .next_log_arity = next_log_arity,
        .in = in,
        .out = out,
        .levels = levels};

    return operation_run(&call.frame);
}

pool_status pool_fri_fold_commit_workspace(const pool_fri_fold_params *params,
    uint32_t next_log_arity, const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const pool_span *levels, uint64_t *bytes)
{
    struct fold_commit call = {.frame = OPERATION_CALL(&operation, exec),
        .params = params,
        .commit = commit,
        .next_log_arity = next_log_arity,
        .in = in,
        .out = out,
        .levels = levels};

    return operation_forecast(&call.frame, bytes);
}
