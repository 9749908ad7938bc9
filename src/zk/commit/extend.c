/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_extend_commit: matrices that are extended chunk by chunk and then hashed by run.c.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/commit/devices.h"
#include "zk/ntt/extend.h"
#include "zk/operation/slices.h"

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
        .slice_ns = target->slice_ns,
        .is_async = 1};
    const pool_span from = elements_of(in, in->count, commit_trace_height(extension));
    const pool_span to = elements_of(out, in->count, height);
    pool_ntt_extend_params params = extension->params;
    struct slices *lent;
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
    lent = slices_lend(target->slices);
    if (!status)
        status = pool_ntt_extend(&params, &exec, &from, NULL, &to);
    slices_lend(lent);
    return scratch_free(target, &scratch, status);
}

/* ---- steps ----------------------------------------------------------------------------------- */

pool_status commit_read_extension(
    const struct commit_call *call, const pool_extension *given, pool_ntt_extend_params *params)
{
    const char *name = call->frame.name;
    pool_status status = base_check_pointers(name, {"extensions->params", given->params});

    if (!status)
        status = ntt_extend_params_read(name, given->params, params);
    if (!status && params->layout != POOL_NTT_ROWS)
        status = base_fail(POOL_ERR_UNSUPPORTED,
            "%s: unsupported value %d for `layout`; columns are stored one after another", name,
            (int)params->layout);
    if (!status && params->batch > UINT32_MAX)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %llu for `batch`",
            name, (unsigned long long)params->batch);
    return status;
}

/* The call without data validates everything else. */
static pool_status read_extension(const struct commit_call *call, pool_device *device,
    const pool_extension *given, pool_matrix *matrix, struct commit_extension *extension)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_span out = given->extended;
    uint64_t bytes, height;
    pool_status status = commit_read_extension(call, given, &extension->params);

    if (status)
        return status;
    height = UINT64_C(1) << pool_ntt_domain_log_size(extension->params.domain);
    extension->is_kept = given->extended.count != 0;
    extension->device = device;
    extension->trace = given->trace;
    if (!extension->is_kept)
        out = (pool_span){.count = extension->params.batch * height,
            .form = given->trace.form,
            .space = POOL_MEMORY_DEVICE};
    status =
        pool_ntt_extend_workspace(&extension->params, &exec, &given->trace, NULL, &out, &bytes);
    extension->trace.count = out.count = extension->params.batch;
    extension->trace.stride = out.stride = 0;
    *matrix =
        (pool_matrix){.span = out, .height = height, .width = (uint32_t)extension->params.batch};
    return status;
}

static pool_status read_extensions(struct commit_call *call)
{
    const uint32_t count = call->count;
    pool_matrix *matrices = base_calloc(count, sizeof(*matrices) + sizeof(struct commit_extension));
    struct commit_extension *extensions = (struct commit_extension *)(matrices + count);
    pool_device *device;
    pool_status status = device_or_bound(call->frame.exec.device, &device);

    call->frame.host_memory = matrices;
    if (!matrices)
        return base_fail_memory("extensions");
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_extension(call, device, &call->extensions[i], &matrices[i], &extensions[i]);
    if (!status)
        status = commit_tree_init(call->frame.name, &call->params, matrices, count, &call->tree);
    if (!status)
        call->tree.extensions = extensions;
    for (uint32_t i = 0; i < count && !status; i++)
        status = commit_check_field(call, extensions[i].params.domain, i);
    return status;
}

pool_status commit_check_field(
    const struct commit_call *call, const pool_ntt_domain *domain, uint32_t index)
{
    const pool_field *field = domain->field;

    if (!memcmp(field->fingerprint, call->tree.field->fingerprint, POOL_FINGERPRINT_BYTES))
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: extension %u is over %s, the parameter set over %s", call->frame.name, index,
        field->name, call->tree.field->name);
}

static pool_status read_call(void *user)
{
    struct commit_call *call = user;
    pool_status status =
        base_check_ranges(call->frame.name, {"count", call->count, 1, COMMIT_MAX_MATRICES});

    if (status)
        return status;
    return call->frame.exec.device_count ? commit_read_jobs(call) : read_extensions(call);
}

/* The traces and the extensions that are kept, in turn. */
static bool list_extensions(const void *user, uint32_t index, struct operation_operand *operand)
{
    const struct commit_call *call = user;
    const pool_extension *extension = &call->extensions[index / 2];
    const pool_field *field = call->tree.field;

    if (call->tree.sources || index / 2 >= call->count)
        return false;
    operand->span = index % 2 == 0              ? &extension->trace
                    : extension->extended.count ? &extension->extended
                                                : NULL;
    operand->item =
        (struct span_item){.bytes = field->bytes, .kind = "elements", .name = field->name};
    (void)strcpy(operand->name, index % 2 ? "extension" : "trace");
    return true;
}

static const struct operation operation = {.counter = "commit",
    .call_bytes = sizeof(struct commit_call),
    .rules = {COMMIT_RULES},
    .arguments = {{"params", offsetof(struct commit_call, given), OPERATION_PARAMS,
                      .type = &commit_params_type, .copy_at = offsetof(struct commit_call, params)},
        {"extensions", offsetof(struct commit_call, extensions), OPERATION_ARRAY,
            .copy_at = offsetof(struct commit_call, count), .bytes = sizeof(pool_extension),
            .most = COMMIT_MAX_MATRICES},
        {"levels", offsetof(struct commit_call, levels), OPERATION_SPAN, .operand = "levels"}},
    .list = list_extensions,
    .forecasts_by_chip = true,
    .read = read_call,
    .prepare = commit_set_items,
    .check = commit_check_levels,
    .plan = commit_plan,
    .run = commit_run,
    .divide = commit_divide_jobs,
    .part = commit_make_part,
    .open_part = commit_open_part};

/* ---- public ---------------------------------------------------------------------------------- */

pool_status pool_extend_commit(const pool_matrix_commit_params *params, const pool_exec *exec,
    const pool_extension *extensions, uint32_t count, const pool_span *levels)
{
    struct commit_call call = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .extensions = extensions,
        .count = count,
        .levels = levels};

    return operation_run(&call.frame);
}

pool_status pool_extend_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels, uint64_t *bytes)
{
    struct commit_call call = {.frame = OPERATION_CALL(&operation, exec),
        .given = params,
        .extensions = extensions,
        .count = count,
        .levels = levels};

    return operation_forecast(&call.frame, bytes);
}
