/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_matrix_commit: validation of the arguments, then the stages of run.c.
 */
#include "zk/commit/devices.h"

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "pool/device/device.h"
#include "zk/operation/timeout.h"
#include "zk/operation/workspace.h"
#include "zk/poseidon/arguments.h"
#include "zk/poseidon/kernels.h"
#include "zk/poseidon/run.h"

const struct exec_rules commit_exec_rules = {.checks = POOL_CHECK_CANONICAL,
    .has_async = true,
    .has_workspace = true,
    .has_memory_limit = true,
    .has_devices = true};

/* Reads everything but the spans' data. */
static pool_status read_call(const char *call, const pool_matrix_commit_params *params,
    const pool_exec *given, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    pool_exec *exec, struct commit_tree *tree)
{
    pool_status status = exec_read(call, given, &commit_exec_rules, exec);

    if (!status)
        status = commit_tree_init(call, params, matrices, count, tree);
    if (!status)
        status = commit_check_levels(call, tree, exec, levels);
    return status || exec->device_count ? status : commit_check_matrices(call, tree, NULL);
}

static pool_status plan_call(const struct commit_tree *tree, const pool_span *levels,
    const struct progress *progress, struct commit_plan *plan)
{
    const uint64_t limit = exec_limit(progress->exec);

    return commit_plan_make(
               tree, levels->space == POOL_MEMORY_HOST, progress->exec->checks != 0, limit, plan)
               ? POOL_OK
               : exec_fail_limit(progress->call, limit, plan->bytes);
}

pool_status commit_init_site(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels, struct exec_target *site)
{
    const struct poseidon_operand out = {levels, tree->set->digest_elements, "levels"};
    pool_status status = poseidon_check_data(call, &out);

    if (!status)
        status = exec_target_init(site, exec);
    if (status)
        return status;
    site->field = tree->field;
    return poseidon_check_device_span(site, levels, tree->digest_bytes, "levels");
}

pool_status commit_check_workspace(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels)
{
    const struct workspace_span kept = {levels, tree->digest_bytes, "levels"};
    pool_status status = workspace_check_spans(call, exec, &kept, 1);

    for (uint32_t i = 0; i < tree->count && !status; i++) {
        const pool_matrix *matrix = &tree->matrices[i];
        const struct commit_extension *extension = commit_extension_of(tree, matrix);
        const struct workspace_span spans[] = {
            {&matrix->span, commit_item_elements(matrix) * tree->field->bytes, "matrices"},
            {extension ? &extension->trace : NULL,
                extension ? commit_trace_height(extension) * tree->field->bytes : 0, "traces"}};

        status = workspace_check_spans(call, exec, spans, 2);
    }
    return status;
}

pool_status commit_compute(const struct commit_tree *tree, const struct exec_target *site,
    const pool_span *levels, struct progress *progress)
{
    struct exec_target target = *site;
    struct device_operation counted;
    struct workspace workspace;
    struct commit_plan plan;
    pool_status status = plan_call(tree, levels, progress, &plan);

    if (!status)
        status = workspace_open(&workspace, progress->call, progress->exec, plan.bytes, &target);
    if (!status)
        status = commit_check_workspace(progress->call, tree, progress->exec, levels);
    if (status)
        return status;
    device_operation_begin(
        &counted, site->device, "commit", tree->row_set->name, commit_level_nodes(tree, 0));
    status = commit_run(tree, &plan, &target, levels, progress);
    return device_operation_end(&counted, exec_target_end(site, progress->exec->is_async, status));
}

pool_status commit_forecast(const char *name, const struct commit_tree *tree, const pool_exec *exec,
    const pool_span *levels, uint64_t *bytes)
{
    const struct progress progress = {.call = name, .exec = exec};
    struct commit_plan plan;
    pool_status status = plan_call(tree, levels, &progress, &plan);

    if (!status)
        *bytes = plan.bytes;
    return status;
}

static pool_status matrix_commit_timed(void *const *a)
{
    return pool_matrix_commit(a[0], a[1], a[2], *(uint32_t *)a[3], a[4]);
}

pool_status pool_matrix_commit(const pool_matrix_commit_params *params, const pool_exec *given,
    const pool_matrix *matrices, uint32_t count, const pool_span *levels)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(matrix_commit_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(given),
            TIMED_BYTES(matrices, count <= COMMIT_MAX_MATRICES ? count * sizeof(*matrices) : 0),
            TIMED_VALUE(count), TIMED_SPAN(levels));
    EXEC_SCOPE(given);
    struct exec_target site;
    struct commit_tree tree;
    pool_exec exec;
    pool_status status = read_call(__func__, params, given, matrices, count, levels, &exec, &tree);
    struct progress progress = {.call = __func__, .exec = &exec};

    if (!status && exec.device_count)
        return commit_devices_run(__func__, &tree, &exec, levels, NULL);
    if (!status)
        status = commit_init_site(__func__, &tree, &exec, levels, &site);
    if (!status)
        status = commit_check_matrices(__func__, &tree, &site);
    if (status)
        return status;
    progress.total = commit_work(&tree);
    return commit_compute(&tree, &site, levels, &progress);
}

pool_status pool_matrix_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *given, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    uint64_t *bytes)
{
    EXEC_SCOPE(given);
    struct commit_tree tree;
    pool_exec exec;
    pool_status status =
        bytes ? read_call(__func__, params, given, matrices, count, levels, &exec, &tree)
              : base_fail_null(__func__, "bytes");

    if (!status && exec.device_count)
        return commit_devices_forecast(__func__, &tree, &exec, levels, NULL, bytes);
    return status ? status : commit_forecast(__func__, &tree, &exec, levels, bytes);
}

static pool_status matrix_commit_shards_timed(void *const *a)
{
    return pool_matrix_commit_shards(a[0], a[1], a[2], *(uint32_t *)a[3], a[4]);
}

pool_status pool_matrix_commit_shards(const pool_matrix_commit_params *params,
    const pool_exec *given, const pool_matrix *matrices, uint32_t count, uint64_t *digests)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(matrix_commit_shards_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(given),
            TIMED_BYTES(matrices, count <= COMMIT_MAX_MATRICES ? count * sizeof(*matrices) : 0),
            TIMED_VALUE(count), TIMED_POINTER(digests));
    EXEC_SCOPE(given);
    struct commit_tree tree;
    pool_exec exec;
    pool_status status = digests ? exec_read(__func__, given, &commit_exec_rules, &exec)
                                 : base_fail_null(__func__, "digests");

    if (!status && !exec.device_count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0 for `device_count`; levels have shards over several devices",
            __func__);
    if (!status)
        status = commit_tree_init(__func__, params, matrices, count, &tree);
    return status ? status : commit_devices_shards(__func__, &tree, &exec, digests);
}

static pool_status matrix_commit_warm_up_timed(void *const *a)
{
    return pool_matrix_commit_warm_up(a[0], a[1]);
}

pool_status pool_matrix_commit_warm_up(
    const pool_matrix_commit_params *params, const pool_exec *given)
{
    if (exec_has_timeout(given))
        return TIMED_RUN(
            matrix_commit_warm_up_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(given));
    EXEC_SCOPE(given);
    static const pool_matrix one = {.height = 1, .width = 1};
    struct commit_tree tree;
    pool_matrix_commit_params known;
    pool_exec exec;
    pool_status status = commit_params_read(__func__, params, &known);

    if (!status) {
        known.cap_height = known.kept_levels = 0;
        status = commit_tree_init(__func__, &known, &one, 1, &tree);
    }
    if (!status)
        status = exec_read_warm_up(__func__, given, &exec);
    if (!status)
        status = pool_poseidon_warm_up(tree.set, &exec);
    if (!status)
        status = exec_check_cancelled(__func__, &exec);
    return status ? status : poseidon_warm_up_rows(tree.row_set, exec.device);
}
