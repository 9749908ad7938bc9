/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_ntt: what is refused, where the data comes from and goes to. The transform itself is run.c.
 */
#include "ntt/ntt.h"

#include <string.h>

#include "base/params.h"
#include "base/status.h"
#include "ntt/call.h"
#include "vector/check.h"
#include "vector/vector.h"

static const struct base_struct ntt_params_type = BASE_STRUCT(pool_ntt_params);

void pool_ntt_params_init(pool_ntt_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status read_params(const char *call, const pool_ntt_params *given,
    const pool_exec *given_exec, pool_ntt_params *params, pool_exec *exec)
{
    static const struct memory_exec_rules rules = {.checks = POOL_CHECK_CANONICAL,
        .has_async = true,
        .has_workspace = true,
        .has_memory_limit = true};
    pool_status status = base_struct_read(&ntt_params_type, call, "params", given, params);

    if (!status && !params->domain)
        status = base_fail_null(call, "params->domain");
    if (!status)
        status = base_check_ranges(call, {"direction", params->direction, 0, POOL_NTT_INVERSE},
            {"order", params->order, 0, POOL_NTT_RR},
            {"layout", params->layout, 0, POOL_NTT_COLUMNS}, {"coset", params->coset, 0, 1});
    if (!status)
        status = memory_exec_read(call, given_exec, &rules, exec);
    if (!params->batch)
        params->batch = 1;
    return status;
}

static pool_status check_count(
    const pool_ntt_params *params, const pool_span *span, const char *what)
{
    uint32_t log_size = params->domain->log_size;

    if (params->batch > UINT64_MAX >> log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu transforms of 2^%u points are too many",
            (unsigned long long)params->batch, log_size);
    if (span->count != params->batch << log_size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has %llu elements: %llu transforms of 2^%u points have %llu", what,
            (unsigned long long)span->count, (unsigned long long)params->batch, log_size,
            (unsigned long long)(params->batch << log_size));
    return POOL_OK;
}

static pool_status check_spans(const struct ntt_call *call)
{
    const pool_field *field = call->target.field;
    pool_status status = memory_elements_check(&call->target, &call->in, "input");

    if (!status)
        status = memory_elements_check(&call->target, &call->out, "output");
    if (!status)
        status = check_count(&call->params, &call->in, "input");
    if (!status)
        status = check_count(&call->params, &call->out, "output");
    if (!status)
        status = memory_elements_check_overlap(field, &call->in, &call->out, 1);
    return status;
}

static void init_run(struct ntt_call *call)
{
    const pool_ntt_params *params = &call->params;
    bool is_inverse = params->direction == POOL_NTT_INVERSE;

    call->run = (struct ntt_run){.target = call->target,
        .domain = params->domain,
        .direction = params->direction,
        .form_change = (int)call->out.form - (int)call->in.form,
        .job = {.words = call->target.field->words,
            .log_size = params->domain->log_size,
            .batch = params->batch,
            .order = params->order,
            .layout = params->layout,
            .coset_in = params->coset && !is_inverse,
            .coset_out = params->coset && is_inverse}};
}

static pool_status prepare(const char *name, const pool_ntt_params *given, const pool_exec *exec,
    const pool_span *in, const pool_span *out, struct ntt_call *call)
{
    pool_status status = base_check_pointers(name, {"in", in}, {"out", out});

    memset(call, 0, sizeof(*call));
    if (!status)
        status = read_params(name, given, exec, &call->params, &call->exec);
    if (status)
        return status;
    call->in = *in;
    call->out = *out;
    call->target.field = call->params.domain->field;
    return exec_target_init(&call->target, call->exec.device, call->exec.stream);
}

/* Bytes of all elements, packed. */
static uint64_t bytes_of(const struct ntt_call *call)
{
    return call->in.count * call->target.field->bytes;
}

/* Which temporary memory a call has beside its spans. */
struct needs {
    int in;  /* a packed copy of the input */
    int out; /* a packed copy of the output */
    int workspace;
};

static struct needs needs_of(const struct ntt_call *call)
{
    const pool_field *field = call->target.field;
    bool in_fits =
        call->in.space == POOL_MEMORY_DEVICE && memory_elements_are_packed(field, &call->in);
    bool out_fits =
        call->out.space == POOL_MEMORY_DEVICE && memory_elements_are_packed(field, &call->out);
    struct needs needs = {.in = !in_fits};
    bool is_in_place = in_fits && out_fits && call->in.data == call->out.data;

    /* A copy of the input is as good a place for the output. */
    if (!out_fits && needs.in)
        is_in_place = true;
    else
        needs.out = !out_fits;
    needs.workspace = ntt_run_needs_workspace(&call->plan, is_in_place, needs.in);
    return needs;
}

static pool_status take_workspace(struct ntt_call *call, uint64_t bytes)
{
    pool_buffer *given = call->exec.workspace;

    return given ? pool_buffer_address(given, &call->run.workspace)
                 : memory_scratch(&call->target, bytes, &call->workspace, &call->run.workspace);
}

/* What pool_ntt_workspace answers: a strided host span is first copied with what lies between. */
static uint64_t workspace_bytes(const struct ntt_call *call)
{
    struct needs needs = needs_of(call);
    uint64_t copies = (uint64_t)(needs.in + needs.out + needs.workspace);
    bool has_gaps = call->in.space == POOL_MEMORY_HOST &&
                    !memory_elements_are_packed(call->target.field, &call->in);

    return copies * bytes_of(call) + (has_gaps ? call->in.count * call->in.stride : 0);
}

uint64_t ntt_call_allocates(const struct ntt_call *call)
{
    uint64_t bytes = workspace_bytes(call) + (call->exec.checks ? sizeof(uint64_t) : 0);

    return call->exec.workspace && needs_of(call).workspace ? bytes - bytes_of(call) : bytes;
}

/* Refused or not whether this size of transform has a use for it or not. */
static pool_status check_workspace(const struct ntt_call *call)
{
    pool_buffer *given = call->exec.workspace;
    uint64_t bytes = workspace_bytes(call);
    CUdeviceptr address = 0;
    pool_status status;

    if (!given)
        return POOL_OK;
    status = pool_buffer_address(given, &address);
    if (status)
        return status;
    if (pool_buffer_device(given) != call->target.device)
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "pool_ntt: `workspace` is memory of device %d, not %d",
            pool_device_ordinal(pool_buffer_device(given)),
            pool_device_ordinal(call->target.device));
    if (pool_buffer_bytes(given) < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: `workspace` has %llu bytes; pool_ntt_workspace says %llu",
            (unsigned long long)pool_buffer_bytes(given), (unsigned long long)bytes);
    if (address % 16)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_ntt: `workspace` is at 0x%llx, which is no multiple of 16",
            (unsigned long long)address);
    return POOL_OK;
}

static pool_status ntt_copy(const struct exec_target *target, const struct memory_operand *from,
    const struct memory_operand *to)
{
    const pool_span a = {
        (void *)(uintptr_t)from->address, .count = from->count, .stride = from->stride};
    const pool_span b = {(void *)(uintptr_t)to->address, .count = to->count, .stride = to->stride};

    return vector_copy(target, &a, &b);
}

/* Strided or unaligned input becomes packed; a host's copy already may be. */
static pool_status pack_input(struct ntt_call *call)
{
    uint64_t bytes = call->target.field->bytes;
    struct memory_operand packed = {.stride = bytes, .count = call->in.count};
    pool_status status;

    if (call->source.owned && call->source.stride == bytes)
        return POOL_OK;
    status = memory_scratch(&call->target, bytes_of(call), &packed.owned, &packed.address);
    if (!status)
        status = ntt_copy(&call->target, &call->source, &packed);
    status = memory_operand_free(&call->target, &call->source, status);
    call->source = packed;
    return status;
}

static pool_status check_input(const struct ntt_call *call)
{
    const struct vector_items items = {.address = call->source.address,
        .stride = call->source.stride,
        .count = call->source.count,
        .elements = 1,
        .first = call->first,
        .what = "input"};

    return vector_check_elements(&call->target, call->target.field, &items);
}

static pool_status bring_input(struct ntt_call *call, const struct needs *needs)
{
    pool_status status = memory_operand_upload(&call->target, &call->in, &call->source);

    if (!status && call->exec.checks)
        status = check_input(call);
    if (!status && needs->in)
        status = pack_input(call);
    call->run.in = call->source.address;
    call->run.in_may_be_overwritten = needs->in;
    return status;
}

/* Where the last pass writes. */
static pool_status find_output(struct ntt_call *call, const struct needs *needs)
{
    if (needs->out) {
        call->result.stride = call->target.field->bytes;
        call->result.count = call->out.count;
        pool_status status = memory_scratch(
            &call->target, bytes_of(call), &call->result.owned, &call->result.address);
        call->run.out = call->result.address;
        return status;
    }
    if (call->out.space == POOL_MEMORY_DEVICE &&
        memory_elements_are_packed(call->target.field, &call->out))
        call->run.out = (CUdeviceptr)(uintptr_t)call->out.data;
    else
        call->run.out = call->run.in;
    return POOL_OK;
}

static pool_status deliver(struct ntt_call *call)
{
    struct memory_operand result = {.address = call->run.out,
        .stride = call->target.field->bytes,
        .count = call->out.count,
        .owned = call->result.owned ? call->result.owned : call->source.owned};
    struct memory_operand there = {.address = (CUdeviceptr)(uintptr_t)call->out.data,
        .stride = call->out.stride ? call->out.stride : call->target.field->bytes,
        .count = call->out.count};

    if (call->out.space == POOL_MEMORY_HOST)
        return memory_operand_download(&call->target, &result, &call->out);
    return there.address == result.address ? POOL_OK : ntt_copy(&call->target, &result, &there);
}

pool_status ntt_call_release(struct ntt_call *call, pool_status status)
{
    status = memory_scratch_free(&call->target, &call->workspace, status);
    status = memory_operand_free(&call->target, &call->result, status);
    return memory_operand_free(&call->target, &call->source, status);
}

pool_status ntt_call_compute(struct ntt_call *call)
{
    struct needs needs = needs_of(call);
    pool_status status = bring_input(call, &needs);

    if (!status)
        status = find_output(call, &needs);
    if (!status && needs.workspace)
        status = take_workspace(call, bytes_of(call));
    if (!status)
        status = ntt_run_enqueue(&call->run, &call->plan);
    return status ? ntt_call_release(call, status) : POOL_OK;
}

pool_status ntt_call_deliver(struct ntt_call *call)
{
    return ntt_call_release(call, deliver(call));
}

static pool_status enqueue(struct ntt_call *call)
{
    pool_status status = ntt_call_compute(call);

    return status ? status : ntt_call_deliver(call);
}

/* One binding for all the calls below: each of them then finds the context current. */
static pool_status run_inside(struct ntt_call *call)
{
    struct ntt_chunking chunking = {0};
    pool_status status = check_spans(call);

    if (!status) {
        init_run(call);
        status = ntt_run_plan(&call->run, &call->plan);
    }
    if (!status)
        status = check_workspace(call);
    if (!status)
        status = ntt_call_chunking(call, &chunking);
    if (!status)
        status = memory_exec_cancelled("pool_ntt", &call->exec);
    if (status)
        return status;
    status = chunking.rows ? ntt_call_enqueue_chunks(call, &chunking) : enqueue(call);
    status = exec_target_end(&call->target, call->exec.is_async, status);
    if (!status && !chunking.rows)
        memory_exec_report(&call->exec, call->in.count, call->in.count);
    return status;
}

pool_status pool_ntt(
    const pool_ntt_params *params, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    struct device_scope scope;
    struct ntt_call call;
    pool_status status = prepare("pool_ntt", params, exec, in, out, &call);

    if (!status)
        status = device_enter(call.target.device, &scope);
    return status ? status : device_leave(&scope, run_inside(&call));
}

pool_status pool_ntt_workspace(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes)
{
    struct ntt_call call;
    pool_status status;

    if (!bytes)
        return base_fail_null("pool_ntt_workspace", "bytes");
    status = prepare("pool_ntt_workspace", params, exec, in, out, &call);
    if (!status)
        status = check_spans(&call);
    if (status)
        return status;
    init_run(&call);
    status = ntt_run_plan(&call.run, &call.plan);
    if (!status)
        *bytes = workspace_bytes(&call);
    return status;
}
