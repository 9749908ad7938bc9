/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_extend_commit: matrices that are extended chunk by chunk and then hashed by run.c.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/devices.h"
#include "zk/ntt/extend.h"
#include "zk/operation/timeout.h"

const struct commit_extension *commit_extension_of(
    const struct commit_tree *tree, const pool_matrix *matrix)
{
    return tree->extensions ? &tree->extensions[matrix - tree->matrices] : NULL;
}

/* `columns` columns as elements, which pool_ntt_extend takes. */
static pool_span elements_of(const pool_span *span, uint64_t columns, uint64_t height)
{
    pool_span elements = *span;

    elements.count = columns * height;
    elements.stride = 0;
    return elements;
}

/* In device memory; of the caller's spans where they are there. */
uint64_t commit_extension_bytes(
    const struct commit_extension *extension, const pool_matrix *matrix, uint64_t columns)
{
    const pool_ntt_extend_params *params = &extension->params;
    const pool_field *field = params->domain->field;
    const struct chip chip = chip_of(extension->device);
    const struct ntt_extend_job job = {.words = field->words,
        .log_size = params->domain->log_size,
        .log_blowup = params->log_blowup,
        .batch = columns,
        .order = params->order,
        .layout = params->layout,
        .from_coefficients = params->from_coefficients,
        .tuning = params->domain->tuning};
    const struct ntt_extend_operands operands = {.element_bytes = field->bytes,
        .out_begins_with_in = extension->is_kept && matrix->span.data &&
                              matrix->span.space == POOL_MEMORY_DEVICE &&
                              extension->trace.space == POOL_MEMORY_DEVICE &&
                              matrix->span.data == extension->trace.data};
    struct ntt_extend_chunks chunks;

    /* A grid that is too large is refused when the extension is enqueued. */
    return ntt_extend_plan_chunks(&chip, &job, &operands, UINT64_MAX, &chunks) ? 0 : chunks.bytes;
}

pool_status commit_extend_columns(const struct commit_extension *extension,
    const struct exec_target *target, const pool_span *in, const pool_span *out)
{
    const uint64_t height = UINT64_C(1) << pool_ntt_domain_log_size(extension->params.domain);
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = target->device,
        .stream = target->stream,
        .lease = target->lease,
        .is_async = 1};
    const pool_span from = elements_of(in, in->count, commit_trace_height(extension));
    const pool_span to = elements_of(out, in->count, height);
    pool_ntt_extend_params params = extension->params;
    pool_buffer *scratch = NULL;
    CUdeviceptr address;
    uint64_t bytes = 0;
    pool_status status = POOL_OK;

    params.batch = in->count;
    if (target->workspace) { /* the lease has been charged for it already */
        exec.lease = NULL;
        status = pool_ntt_extend_workspace(&params, &exec, &from, NULL, &to, &bytes);
        exec.lease = target->lease;
    }
    if (!status && bytes)
        status = scratch_allocate(target, bytes, &scratch, &address);
    exec.workspace = scratch;
    if (!status)
        status = pool_ntt_extend(&params, &exec, &from, NULL, &to);
    return scratch_free(target, &scratch, status);
}

/* ---- the call -------------------------------------------------------------------------------- */

struct extend_commit {
    pool_exec exec;
    struct exec_target site;
    struct commit_tree tree;
    pool_matrix *matrices;
    struct commit_extension *extensions;
};

static void free_call(struct extend_commit *call)
{
    base_free(call->matrices);
    base_free(call->extensions);
}

/* The call without data validates everything else. */
static pool_status read_extension(const char *name, const struct extend_commit *call,
    const pool_extension *given, pool_matrix *matrix, struct commit_extension *extension)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = call->site.device};
    pool_span out = given->extended;
    uint64_t bytes, batch;
    pool_status status = base_check_pointers(name, {"extensions->params", given->params});

    if (!status)
        status = ntt_extend_params_read(name, given->params, &extension->params);
    if (status)
        return status;
    batch = extension->params.batch;
    if (extension->params.layout != POOL_NTT_ROWS)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: unsupported value %d for `layout`; columns are stored one after another", name,
            (int)extension->params.layout);
    if (batch > UINT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %llu for `batch`", name,
            (unsigned long long)batch);
    extension->is_kept = given->extended.count != 0;
    extension->device = call->site.device;
    extension->trace = given->trace;
    if (!extension->is_kept)
        out = (pool_span){.count = batch << pool_ntt_domain_log_size(extension->params.domain),
            .form = given->trace.form,
            .space = POOL_MEMORY_DEVICE};
    status =
        pool_ntt_extend_workspace(&extension->params, &exec, &given->trace, NULL, &out, &bytes);
    extension->trace.count = out.count = batch;
    extension->trace.stride = out.stride = 0;
    *matrix = (pool_matrix){.span = out,
        .height = UINT64_C(1) << pool_ntt_domain_log_size(extension->params.domain),
        .width = (uint32_t)batch};
    return status;
}

static pool_status read_extensions(
    const char *name, struct extend_commit *call, const pool_extension *extensions, uint32_t count)
{
    pool_status status = POOL_OK;

    call->matrices = base_calloc(count, sizeof(*call->matrices));
    call->extensions = base_calloc(count, sizeof(*call->extensions));
    if (!call->matrices || !call->extensions)
        return base_fail_memory("extensions");
    for (uint32_t i = 0; i < count && !status; i++)
        status =
            read_extension(name, call, &extensions[i], &call->matrices[i], &call->extensions[i]);
    return status;
}

static pool_status check_fields(const char *name, const struct commit_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        const pool_field *field = pool_ntt_domain_field(tree->extensions[i].params.domain);

        if (memcmp(field->fingerprint, tree->field->fingerprint, POOL_FINGERPRINT_BYTES))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: extension %u is over %s, the parameter set over %s", name, i, field->name,
                tree->field->name);
    }
    return POOL_OK;
}

static pool_status read_exec(const char *name, const pool_exec *given,
    const pool_extension *extensions, uint32_t count, pool_exec *exec)
{
    pool_status status = exec_read(name, given, &commit_exec_rules, exec);

    if (!status)
        status = base_check_pointers(name, {"extensions", extensions});
    return status ? status : base_check_ranges(name, {"count", count, 1, COMMIT_MAX_MATRICES});
}

/* Everything but the spans' data, for call->exec. The caller frees the call in any case. */
static pool_status read_call(const char *name, const pool_matrix_commit_params *params,
    const pool_extension *extensions, uint32_t count, const pool_span *levels,
    struct extend_commit *call)
{
    pool_status status = exec_target_init(&call->site, &call->exec);
    if (!status)
        status = read_extensions(name, call, extensions, count);
    if (!status)
        status = commit_tree_init(name, params, call->matrices, count, &call->tree);
    if (status)
        return status;
    call->tree.extensions = call->extensions;
    status = check_fields(name, &call->tree);
    return status ? status : commit_check_levels(name, &call->tree, &call->exec, levels);
}

static pool_status check_data(const struct extend_commit *call)
{
    const uint64_t element = call->tree.field->bytes;
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < call->tree.count && !status; i++) {
        const struct commit_extension *extension = &call->extensions[i];
        const pool_matrix *matrix = &call->matrices[i];
        const struct span_item in = {.bytes = commit_trace_height(extension) * element,
            .kind = "columns",
            .name = call->tree.field->name};
        const struct span_item out = {
            .bytes = matrix->height * element, .kind = "columns", .name = call->tree.field->name};

        status = span_check(&call->site, &extension->trace, &in, "trace");
        if (!status && extension->is_kept)
            status = span_check(&call->site, &matrix->span, &out, "extension");
    }
    return status;
}

static pool_status extend_commit_timed(void *const *a)
{
    return pool_extend_commit(a[0], a[1], a[2], *(uint32_t *)a[3], a[4]);
}

pool_status pool_extend_commit(const pool_matrix_commit_params *params, const pool_exec *exec,
    const pool_extension *extensions, uint32_t count, const pool_span *levels)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(extend_commit_timed, NULL, TIMED_PARAMS(params), TIMED_EXEC(exec),
            TIMED_BYTES(extensions, count <= COMMIT_MAX_MATRICES ? count * sizeof(*extensions) : 0),
            TIMED_VALUE(count), TIMED_SPAN(levels));
    EXEC_SCOPE(exec);
    struct extend_commit call = {0};
    struct progress progress = {.call = __func__, .exec = &call.exec};
    pool_status status = read_exec(__func__, exec, extensions, count, &call.exec);

    if (status)
        return status;
    if (call.exec.device_count)
        return commit_extend_on_devices(__func__, params, &call.exec, extensions, count, levels);
    status = read_call(__func__, params, extensions, count, levels, &call);

    if (!status)
        status = check_data(&call);
    if (!status)
        status = commit_init_site(__func__, &call.tree, &call.exec, levels, &call.site);
    progress.total = status ? 0 : commit_work(&call.tree);
    if (!status)
        status = commit_compute(&call.tree, &call.site, levels, &progress);
    free_call(&call);
    return status;
}

pool_status pool_extend_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct extend_commit call = {0};
    pool_status status = bytes ? read_exec(__func__, exec, extensions, count, &call.exec)
                               : base_fail_null(__func__, "bytes");

    if (status)
        return status;
    if (call.exec.device_count)
        return commit_extend_forecast(
            __func__, params, &call.exec, extensions, count, levels, bytes);
    status = read_call(__func__, params, extensions, count, levels, &call);
    if (!status)
        status = commit_forecast(__func__, &call.tree, &call.exec, levels, bytes);
    free_call(&call);
    return status;
}
