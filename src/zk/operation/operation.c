/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a call: see operation.h. */
#include "zk/operation/operation.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/operation/timeout.h"
#include "zk/operation/workspace.h"

/* ---- arguments and operands ------------------------------------------------------------------ */

static void *pointer_at(const struct operation_call *call, size_t at)
{
    void *pointer;

    memcpy(&pointer, (const char *)call + at, sizeof(pointer));
    return pointer;
}

static pool_status read_arguments(struct operation_call *call)
{
    const struct operation_argument *argument = call->operation->arguments;
    pool_status status = POOL_OK;

    for (; argument->name && !status; argument++) {
        const void *given = pointer_at(call, argument->at);

        if (argument->type)
            status = base_struct_read(argument->type, call->name, argument->name, given,
                (char *)call + argument->copy_at);
        else if (!given && !argument->is_optional && !(argument->is_for_run && call->is_forecast))
            status = base_fail_null(call->name, argument->name);
    }
    return status;
}

/* The operands in their order: each call sets the next one, those of the list at last. */
struct operands {
    const struct operation_call *call;
    const struct operation_argument *argument;
    const pool_span *span; /* NULL: the call has none */
    struct span_item item;
    const char *name, *what; /* of the argument, and in messages */
    uint32_t count;          /* of those before */
    uint32_t listed;         /* of the list, so far */
    struct operation_operand of_list;
};

static bool next_of_list(struct operands *operands)
{
    const struct operation_call *call = operands->call;

    if (!call->operation->list ||
        !call->operation->list(call, operands->listed, &operands->of_list))
        return false;
    operands->listed++;
    operands->span = operands->of_list.span;
    operands->item = operands->of_list.item;
    operands->name = operands->what = operands->of_list.name;
    return true;
}

static bool next_operand(struct operands *operands)
{
    const struct operation_argument *argument = operands->argument;

    if (operands->listed)
        return next_of_list(operands);
    argument = argument ? argument + 1 : operands->call->operation->arguments;
    operands->count += operands->argument != NULL;
    while (argument->name && !argument->operand)
        argument++;
    operands->argument = argument;
    if (!argument->name)
        return next_of_list(operands);
    operands->span = pointer_at(operands->call, argument->at);
    operands->item = operands->call->item[operands->count];
    operands->name = argument->name;
    operands->what = argument->operand;
    return true;
}

const pool_span *operation_operand(const struct operation_call *call, uint32_t index)
{
    struct operands operands = {.call = call};

    while (next_operand(&operands) && operands.count < index)
        ;
    return operands.span;
}

void operation_set_elements(struct operation_call *call, const pool_field *field, uint64_t items)
{
    call->target.field = field;
    call->subject = field->name;
    call->items = items;
    for (uint32_t i = 0; i < OPERATION_OPERANDS; i++)
        call->item[i] =
            (struct span_item){.bytes = field->bytes, .kind = "elements", .name = field->name};
}

/* Whether an operand before it is the same memory, which has been checked. */
static bool is_known(const struct operands *operand)
{
    struct operands before = {.call = operand->call};

    while (!operand->listed && next_operand(&before) && before.count < operand->count)
        if (before.span && before.item.bytes == operand->item.bytes &&
            !memcmp(before.span, operand->span, sizeof(*operand->span)))
            return true;
    return false;
}

static bool has_device(const struct operation_call *call)
{
    return !call->exec.on_host && (call->operation->counter || call->operation->is_uncounted);
}

/* Device memory of a call without a device is checked by the calls that it consists of. */
static pool_status check_operand(const struct operation_call *call, const struct operands *operand)
{
    const pool_span *span = operand->span;

    if (call->exec.on_host && span->space != POOL_MEMORY_HOST)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: with `on_host` `%s` must be in host memory", call->name, operand->name);
    return call->is_forecast || (!has_device(call) && span->space != POOL_MEMORY_HOST)
               ? span_check_shape(span, &operand->item, operand->what)
               : span_check(&call->target, span, &operand->item, operand->what);
}

/* Those in one memory; shards are checked by the calls on their devices. */
static pool_status check_operands(struct operation_call *call)
{
    struct operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && next_operand(&operand))
        if (operand.span && !is_known(&operand) &&
            !(call->exec.device_count && operand.span->space == POOL_MEMORY_SHARDED))
            status = check_operand(call, &operand);
    return status || !call->operation->check ? status : call->operation->check(call);
}

pool_status operation_check_workspace_overlap(const struct operation_call *call)
{
    struct operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && next_operand(&operand))
        if (operand.span)
            status = workspace_check_overlap(
                call->name, call->exec.workspace, operand.span, operand.item.bytes, operand.what);
    return status;
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Gives the caller the handle that has been made, or releases it after a failure. */
static pool_status return_made(const struct operation_call *call, pool_status status)
{
    const struct operation_argument *argument = call->operation->arguments;
    struct base_error_copy failure;
    void **result;

    while (argument->kind != OPERATION_RESULT)
        argument++;
    result = pointer_at(call, argument->at);
    if (!status) {
        *result = call->made;
        return POOL_OK;
    }
    base_error_save(&failure);
    argument->discard(call->made);
    base_error_restore(&failure);
    return status;
}

/* ---- one device ------------------------------------------------------------------------------ */

static void begin_progress(struct operation_call *call)
{
    call->progress = (struct progress){.call = call->name,
        .exec = &call->exec,
        .done = call->work_before,
        .reported = call->work_before,
        .total = call->work ? call->work : call->items};
}

static pool_status run_entered(struct operation_call *call)
{
    struct workspace workspace;
    pool_status status = check_operands(call);

    if (!status)
        status = operation_open_memory(call, &workspace);
    if (status)
        return scratch_free(&call->target, &call->owned, status);
    begin_progress(call);
    status = call->operation->run(call);
    status = scratch_free(&call->target, &call->owned, status);
    return exec_target_end(&call->target, call->exec.is_async, status);
}

/* Of a call whose pool_exec names a device and is validated. */
static pool_status run_on_device(struct operation_call *call)
{
    struct device_operation counted;
    struct device_scope scope;
    pool_status status = exec_target_init(&call->target, &call->exec);

    if (!status)
        status = device_enter(call->target.device, &scope);
    if (status)
        return status;
    if (!call->operation->is_uncounted)
        device_operation_begin(
            &counted, call->target.device, call->operation->counter, call->subject, call->items);
    status = run_entered(call);
    if (!call->operation->is_uncounted)
        status = device_operation_end(&counted, status);
    status = device_leave(&scope, status);
    return call->made ? return_made(call, status) : status;
}

static pool_status forecast_on_device(struct operation_call *call, uint64_t *bytes)
{
    pool_status status =
        call->operation->forecasts_by_chip ? exec_target_init(&call->target, &call->exec) : POOL_OK;

    if (!status)
        status = check_operands(call);
    if (!status)
        status = operation_plan(call);
    if (!status)
        *bytes = call->memory.bytes;
    return status;
}

/* On the host, or as other calls. */
static pool_status run_without_device(struct operation_call *call)
{
    pool_status status = check_operands(call);

    if (!status && call->exec.workspace)
        status = operation_check_workspace_overlap(call);
    if (status)
        return status;
    begin_progress(call);
    return call->exec.on_host ? call->operation->on_host(call) : call->operation->run(call);
}

/* ---- several devices ------------------------------------------------------------------------- */

enum { CALL_BYTES = 8192 }; /* more than any call has */

const pool_span *operation_part(const struct operation_division *division, uint32_t operand,
    uint32_t index, struct operation_call *part)
{
    part->part[operand] = devices_part(operation_operand(division->call, operand),
        division->call->item[operand].bytes, index, division->first);
    return &part->part[operand];
}

/* All parts of a device one after the other; forecasts the most of them with `bytes`. */
static pool_status run_parts_of(const struct operation_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes)
{
    _Alignas(16) unsigned char memory[CALL_BYTES];
    struct operation_call *part = (struct operation_call *)(void *)memory;
    const struct operation *operation = division->call->operation;
    pool_status status = POOL_OK;

    assert(operation->call_bytes <= sizeof(memory));
    for (uint32_t number = 0; !status; number++) {
        uint64_t needed = 0;

        memcpy(part, division->call, operation->call_bytes);
        part->is_forecast |= bytes != NULL;
        if (!operation->part(division->call, division, index, number, part))
            break;
        part->given = exec;
        status = exec_read(part->name, exec, &operation->rules, &part->exec);
        if (!status && operation->open_part)
            status = operation->open_part(part, division, index);
        if (!status && operation->prepare)
            operation->prepare(part);
        if (bytes)
            part->exec.workspace = NULL; /* its size is requested */
        if (!status)
            status = bytes ? forecast_on_device(part, &needed) : run_on_device(part);
        if (part->host_memory != division->call->host_memory)
            base_free(part->host_memory);
        if (bytes)
            *bytes = base_max(*bytes, needed);
    }
    return status;
}

pool_status operation_compute_part(
    const struct operation_division *division, uint32_t index, const pool_exec *exec)
{
    return run_parts_of(division, index, exec, NULL);
}

pool_status operation_forecast_part(const struct operation_division *division, uint32_t index,
    const pool_exec *exec, uint64_t *bytes)
{
    *bytes = 0;
    return run_parts_of(division, index, exec, bytes);
}

static pool_status compute_part(void *user, uint32_t index, const pool_exec *exec)
{
    return operation_compute_part(user, index, exec);
}

/* Or, with `bytes`, forecasts. */
static pool_status join_parts(struct operation_division *division, uint64_t *bytes)
{
    const pool_exec exec = devices_exec(&division->devices, &division->call->exec, 0);
    pool_status status;

    division->is_joining = true;
    status = bytes ? operation_forecast_part(division, 0, &exec, bytes)
                   : operation_compute_part(division, 0, &exec);
    division->is_joining = false;
    return status;
}

static pool_status run_parts(struct operation_division *division)
{
    const struct operation_call *call = division->call;
    const struct parts parts = {.call = call->name,
        .exec = &call->exec,
        .devices = &division->devices,
        .total = call->work ? call->work : call->items,
        .only_enqueues = division->only_enqueues,
        .compute = compute_part,
        .user = division};
    pool_status status = parts_run(&parts);

    if (!status && division->joins)
        status = join_parts(division, NULL);
    return status || !division->finish ? status : division->finish(division);
}

static pool_status forecast_parts(struct operation_division *division, uint64_t *bytes)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < division->devices.count && !status; i++) {
        const pool_exec exec = devices_exec(&division->devices, &division->call->exec, i);

        status = operation_forecast_part(division, i, &exec, &bytes[i]);
    }
    if (!status && division->joins) {
        uint64_t needed = 0;

        status = join_parts(division, &needed);
        bytes[0] = base_max(bytes[0], needed);
    }
    return status;
}

static pool_status open_division(struct operation_division *division)
{
    struct operation_call *call = division->call;
    struct operands operand = {.call = call};
    pool_status status = devices_read(call->name, &call->exec, &division->devices);

    division->only_enqueues = true;
    while (!status && next_operand(&operand))
        if (operand.span) {
            status = devices_check_span(call->name, &division->devices, operand.span, operand.name);
            division->only_enqueues &= operand.span->space == POOL_MEMORY_SHARDED;
        }
    if (!status)
        status = check_operands(call);
    return status ? status : call->operation->divide(call, division);
}

/* The caller's workspaces, which are large enough, and their devices' shards. */
static pool_status check_shard_overlaps(const struct operation_division *division)
{
    const struct operation_call *call = division->call;
    struct operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && next_operand(&operand))
        for (uint32_t i = 0; i < division->devices.count && !status; i++)
            if (operand.span && operand.span->space == POOL_MEMORY_SHARDED &&
                call->exec.workspaces[i])
                status = workspace_check_overlap(call->name, call->exec.workspaces[i],
                    (const pool_span *)operand.span->data + i, operand.item.bytes, operand.what);
    return status;
}

/* Or, with `bytes`, forecasts. */
static pool_status run_on_devices(struct operation_call *call, uint64_t *bytes)
{
    struct operation_division division = {
        .call = call, .run = run_parts, .forecast = forecast_parts};
    uint64_t needed[EXEC_MAX_DEVICES];
    pool_status status = open_division(&division);

    if (!status && (bytes || call->exec.workspaces))
        status = division.forecast(&division, needed);
    if (!status && bytes)
        memcpy(bytes, needed, division.devices.count * sizeof(*bytes));
    else if (!status)
        status = devices_check_workspaces(call->name, &division.devices, &call->exec, needed);
    if (!status && !bytes && call->exec.workspaces)
        status = check_shard_overlaps(&division);
    if (!status && !bytes)
        status = division.run(&division);
    base_free(division.memory);
    return status;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static pool_status read_call(struct operation_call *call)
{
    const struct operation *operation = call->operation;
    pool_status status = read_arguments(call);

    if (!status)
        status = operation->rules.is_warm_up
                     ? exec_read_warm_up(call->name, call->given, &call->exec)
                     : exec_read(call->name, call->given, &operation->rules, &call->exec);
    if (!status && operation->read)
        status = operation->read(call);
    if (!status && operation->prepare)
        operation->prepare(call);
    return status;
}

pool_status operation_divide(struct operation_division *division)
{
    pool_status status = read_call(division->call);

    return status ? status : open_division(division);
}

static pool_status run_read(struct operation_call *call)
{
    const struct operation *operation = call->operation;

    if (call->exec.device_count && operation->divide)
        return run_on_devices(call, NULL);
    return !has_device(call) ? run_without_device(call) : run_on_device(call);
}

pool_status operation_run(struct operation_call *call)
{
    if (exec_has_timeout(call->given))
        return timed_run(call);
    EXEC_SCOPE(call->given);
    pool_status status = read_call(call);

    if (!status)
        status = run_read(call);
    base_free(call->host_memory);
    return status;
}

static pool_status forecast_read(struct operation_call *call, uint64_t *bytes)
{
    if (call->exec.device_count)
        return run_on_devices(call, bytes);
    if (!call->exec.on_host)
        return forecast_on_device(call, bytes);
    *bytes = 0;
    return check_operands(call);
}

pool_status operation_forecast(struct operation_call *call, uint64_t *bytes)
{
    EXEC_SCOPE(call->given);
    pool_status status = bytes ? POOL_OK : base_fail_null(call->name, "bytes");

    call->is_forecast = true;
    if (!status)
        status = read_call(call);
    if (!status)
        status = forecast_read(call, bytes);
    base_free(call->host_memory);
    return status;
}

/* ---- warm-ups -------------------------------------------------------------------------------- */

struct warm_up_call {
    struct operation_call frame;
    const void *subject;
    operation_load load;
};

static pool_status run_warm_up(void *user)
{
    struct warm_up_call *call = user;

    return call->load(&call->frame, call->subject);
}

pool_status operation_warm_up(const char *name, const pool_exec *exec, const char *argument,
    const void *subject, operation_load load)
{
    static const struct operation operation = {.call_bytes = sizeof(struct warm_up_call),
        .rules = {.is_warm_up = true},
        .run = run_warm_up};
    struct warm_up_call call = {.frame = {.operation = &operation, .name = name, .given = exec},
        .subject = subject,
        .load = load};

    if (subject)
        return operation_run(&call.frame);
    EXEC_SCOPE(exec); /* the error slot and the log label */
    return base_fail_null(name, argument);
}
