/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of a layer as matrices, and folds whose results are committed to.
 */
#include <string.h>

#include "base/log.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/commit.h"
#include "zk/fri/fri.h"
#include "zk/operation/timeout.h"

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
    item = (struct span_item){field->bytes, "elements", field->name};
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

/* A fold and the commitment to its results. */
struct fold_commit {
    pool_matrix matrices[POOL_FRI_MAX_ARITY];
    uint32_t count;
    uint64_t bytes; /* the most device memory at a time */
};

static const struct exec_rules exec_rules = {
    .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_memory_limit = true};

/* Refuses what can be refused without a device. */
static pool_status prepare(const char *call, const pool_fri_fold_params *params,
    uint32_t next_log_arity, const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const pool_span *levels, struct fold_commit *both)
{
    const pool_field *field;
    uint64_t bytes = 0;
    pool_exec unchecked;
    pool_status status = pool_fri_fold_workspace(params, exec, in, out, &both->bytes);

    if (!status)
        status = pool_fri_layer(params->field, out, next_log_arity, params->is_bit_reversed,
            both->matrices, &both->count);
    if (!status)
        status = exec_read(call, exec, &exec_rules, &unchecked);
    unchecked.checks = POOL_CHECK_NONE; /* results are reduced */
    if (!status)
        status = pool_matrix_commit_workspace(
            commit, &unchecked, both->matrices, both->count, levels, &bytes);
    if (status)
        return status;
    both->bytes = base_max(both->bytes, bytes);
    field = pool_poseidon_field(commit->set);
    return memcmp(field->fingerprint, params->field->base->fingerprint, sizeof(field->fingerprint))
               ? base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: the set is over %s, the coordinates of %s are in %s", call, field->name,
                     params->field->name, params->field->base->name)
               : POOL_OK;
}

/* Before the fold, which would have overwritten its results. */
static pool_status check_levels(const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *levels, struct exec_target *target)
{
    const struct pool_poseidon *set = commit->set;
    const struct span_item digest = {
        (uint64_t)set->digest_elements * set->field->bytes, "digests", set->field->name};
    pool_status status = exec_target_init(target, exec);

    return status ? status : span_check(target, levels, &digest, "levels");
}

static pool_status fri_fold_commit_timed(void *const *a)
{
    return pool_fri_fold_commit(a[0], *(uint32_t *)a[1], a[2], a[3], a[4], a[5], a[6]);
}

pool_status pool_fri_fold_commit(const pool_fri_fold_params *params, uint32_t next_log_arity,
    const pool_matrix_commit_params *commit, const pool_exec *exec, const pool_span *in,
    const pool_span *out, const pool_span *levels)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(fri_fold_commit_timed, NULL, TIMED_PARAMS(params),
            TIMED_VALUE(next_log_arity), TIMED_PARAMS(commit), TIMED_EXEC(exec), TIMED_SPAN(in),
            TIMED_SPAN(out), TIMED_SPAN(levels));
    EXEC_SCOPE(exec);
    struct fold_commit both;
    struct exec_target target;
    pool_exec sequence;
    pool_status status =
        prepare(__func__, params, next_log_arity, commit, exec, in, out, levels, &both);

    if (!status)
        status = exec_read(__func__, exec, &exec_rules, &sequence);
    if (!status)
        status = check_levels(commit, &sequence, levels, &target);
    if (status)
        return status;
    /* The commitment reads the results from host memory. */
    if (out->space == POOL_MEMORY_HOST)
        sequence.is_async = 0;
    status = pool_fri_fold(params, &sequence, in, out);
    if (status)
        return status;
    sequence.checks = POOL_CHECK_NONE; /* results are reduced */
    status = pool_matrix_commit(commit, &sequence, both.matrices, both.count, levels);
    /* After a failure the fold does not use the caller's memory any more. */
    return status ? exec_target_end(&target, 0, status) : POOL_OK;
}

pool_status pool_fri_fold_commit_workspace(const pool_fri_fold_params *params,
    uint32_t next_log_arity, const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const pool_span *levels, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct fold_commit both;
    pool_status status =
        bytes ? prepare(__func__, params, next_log_arity, commit, exec, in, out, levels, &both)
              : base_fail_null(__func__, "bytes");

    if (!status)
        *bytes = both.bytes;
    return status;
}
