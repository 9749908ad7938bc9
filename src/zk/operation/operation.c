/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a call: see operation.h. */
#include "zk/operation/frame.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/counters.h"
#include "zk/operation/slices.h"
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

static bool next_of_list(struct operation_operands *operands)
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

bool operation_next_operand(struct operation_operands *operands)
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
    struct operation_operands operands = {.call = call};

    while (operation_next_operand(&operands) && operands.count < index)
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
static bool is_known(const struct operation_operands *operand)
{
    struct operation_operands before = {.call = operand->call};

    while (!operand->listed && operation_next_operand(&before) && before.count < operand->count)
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
static pool_status check_operand(
    const struct operation_call *call, const struct operation_operands *operand)
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
pool_status operation_check_operands(struct operation_call *call)
{
    struct operation_operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && operation_next_operand(&operand))
        if (operand.span && !is_known(&operand) &&
            !(call->exec.device_count && operand.span->space == POOL_MEMORY_SHARDED))
            status = check_operand(call, &operand);
    return status || !call->operation->check ? status : call->operation->check(call);
}

pool_status operation_check_workspace_overlap(const struct operation_call *call)
{
    struct operation_operands operand = {.call = call};
    pool_status status = POOL_OK;

    while (!status && operation_next_operand(&operand))
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

/* The host of an asynchronous call must not wait, unless the call is part of a blocking one. */
static void begin_slices(struct operation_call *call, struct slices *slices)
{
    *slices = (struct slices){.device = call->target.device,
        .progress = &call->progress,
        .slice_ns = device_slice_ns(call->target.device, call->exec.slice_ns)};
    call->target.slices = call->exec.is_async ? slices_lent(call->target.device) : slices;
}

static pool_status run_entered(struct operation_call *call)
{
    struct workspace workspace;
    struct slices slices;
    pool_status status = operation_check_operands(call);

    if (!status)
        status = operation_open_memory(call, &workspace);
    if (status)
        return operation_free_memory(call, status);
    begin_progress(call);
    begin_slices(call, &slices);
    status = call->operation->run(call);
    slices_end(&slices);
    status = operation_free_memory(call, status);
    return exec_target_end(&call->target, call->exec.is_async, status);
}

/* Of a call whose pool_exec names a device and is validated. */
pool_status operation_run_on_device(struct operation_call *call)
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

pool_status operation_forecast_on_device(struct operation_call *call, uint64_t *bytes)
{
    pool_status status =
        call->operation->forecasts_by_chip ? exec_target_init(&call->target, &call->exec) : POOL_OK;

    if (!status)
        status = operation_check_operands(call);
    if (!status)
        status = operation_plan(call);
    if (!status)
        *bytes = call->memory.bytes;
    return status;
}

/* On the host, or as other calls. */
static pool_status run_without_device(struct operation_call *call)
{
    pool_status status = operation_check_operands(call);

    if (!status && call->exec.workspace)
        status = operation_check_workspace_overlap(call);
    if (status)
        return status;
    begin_progress(call);
    return call->exec.on_host ? call->operation->on_host(call) : call->operation->run(call);
}

/* ---- calls ----------------------------------------------------------------------------------- */

pool_status operation_read(struct operation_call *call)
{
    const struct operation *operation = call->operation;
    pool_status status = read_arguments(call);

    if (!status)
        status = operation->rules.is_warm_up
                     ? exec_read_warm_up(call->name, call->given, &call->exec)
                     : exec_read(call->name, call->given, &operation->rules, &call->exec);
    if (!status && call->exec.device && !call->is_forecast)
        device_expect_use(call->exec.device);
    if (!status && operation->read)
        status = operation->read(call);
    if (!status && operation->prepare)
        operation->prepare(call);
    return status;
}

static pool_status run_read(struct operation_call *call)
{
    const struct operation *operation = call->operation;

    if (call->exec.device_count && operation->divide)
        return operation_run_divided(call, NULL);
    return !has_device(call) ? run_without_device(call) : operation_run_on_device(call);
}

pool_status operation_run(struct operation_call *call)
{
    if (exec_has_timeout(call->given))
        return timed_run(call);
    EXEC_SCOPE(call->given);
    pool_status status = operation_read(call);

    if (!status)
        status = run_read(call);
    base_free(call->host_memory);
    return status;
}

static pool_status forecast_read(struct operation_call *call, uint64_t *bytes)
{
    if (call->exec.device_count)
        return operation_run_divided(call, bytes);
    if (!call->exec.on_host)
        return operation_forecast_on_device(call, bytes);
    *bytes = 0;
    return operation_check_operands(call);
}

pool_status operation_forecast(struct operation_call *call, uint64_t *bytes)
{
    EXEC_SCOPE(call->given);
    pool_status status = bytes ? POOL_OK : base_fail_null(call->name, "bytes");

    call->is_forecast = true;
    if (!status)
        status = operation_read(call);
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
