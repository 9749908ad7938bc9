/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where and how operations run: see exec.h.
 */
#include "zk/operation/exec.h"

#include <stddef.h>
#include <stdio.h>

#include "base/math.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/lease/lease.h"
#include "pool/tuning/chip.h"

static const struct base_struct exec_type = BASE_STRUCT(pool_exec);

void pool_exec_init(pool_exec *exec, size_t struct_size)
{
    base_struct_init(exec, struct_size);
}

/* "POOL_CHECK_CANONICAL, POOL_CHECK_REDUCE", or "none". */
static void list_checks(uint32_t checks, char *text, size_t size)
{
    static const struct {
        uint32_t flags;
        const char *name;
    } names[] = {
        {POOL_CHECK_CANONICAL, "POOL_CHECK_CANONICAL"},
        {POOL_CHECK_ON_CURVE, "POOL_CHECK_ON_CURVE"},
        {POOL_CHECK_SUBGROUP, "POOL_CHECK_SUBGROUP"},
        {POOL_CHECK_REDUCE, "POOL_CHECK_REDUCE"},
    };
    size_t length = 0;

    snprintf(text, size, "none");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((checks & names[i].flags) == names[i].flags)
            length += (size_t)snprintf(
                text + length, size - length, "%s%s", length ? ", " : "", names[i].name);
}

static pool_status fail_checks(const char *call, uint32_t checks, uint32_t known)
{
    char names[128];

    list_checks(known, names, sizeof(names));
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%s: unsupported value 0x%x for `checks`; the supported flags are %s", call, checks, names);
}

static pool_status validate_checks(const char *call, uint32_t checks, uint32_t known)
{
    if (checks & ~known)
        return fail_checks(call, checks, known);
    if ((checks & (POOL_CHECK_SUBGROUP ^ POOL_CHECK_ON_CURVE)) && !(checks & POOL_CHECK_ON_CURVE))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; POOL_CHECK_SUBGROUP is 0x%x", call, checks,
            POOL_CHECK_SUBGROUP);
    if ((checks & POOL_CHECK_CANONICAL) && (checks & POOL_CHECK_REDUCE))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; POOL_CHECK_CANONICAL and POOL_CHECK_REDUCE "
            "exclude each other",
            call, checks);
    return POOL_OK;
}

static pool_status fail_unsupported(const char *call, const char *member)
{
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: `%s` is not supported by this function; it must be "
        "0",
        call, member);
}

/*
 * Device and stream of the lease where the caller left them open. A call may allocate what is left
 * of the budget, so that an operation that runs in chunks chooses chunks that fit. A workspace has
 * been charged already.
 */
static pool_status read_lease(const char *call, const struct exec_rules *rules, pool_exec *exec)
{
    struct lease_budget *budget;
    pool_status status = lease_budget_of(call, exec->lease, exec->device, &budget);

    if (status)
        return status;
    exec->device = budget->device;
    if (rules->has_memory_limit && !exec->workspace)
        exec->memory_limit =
            base_min(exec_limit(exec), base_max(lease_budget_left(budget), UINT64_C(1)));
    return exec->stream ? POOL_OK : lease_stream_of(budget, &exec->stream);
}

/* The label of exec->lease, where the pool_exec, which is not validated yet, has one. */
static const char *label_of(const pool_exec *given)
{
    bool has_lease = base_struct_is_valid(&exec_type, given) &&
                     given->struct_size >= offsetof(pool_exec, lease) + sizeof(given->lease);

    return has_lease ? lease_label(given->lease) : NULL;
}

static void begin_on(struct exec_scope *scope, pool_device *device)
{
    if (device && device_begin_operation(device))
        scope->devices[scope->count++] = device;
}

struct exec_scope exec_begin(const pool_exec *given)
{
    struct exec_scope scope;

    scope.outer_label = base_log_enter_label(label_of(given));
    scope.count = 0;
    scope.error = NULL;
    if (!base_struct_is_valid(&exec_type, given))
        return scope;
    if (given->struct_size >= offsetof(pool_exec, error) + sizeof(given->error))
        scope.error = given->error;
    if (given->struct_size >= offsetof(pool_exec, device) + sizeof(given->device))
        begin_on(&scope, given->device);
    if (given->struct_size < offsetof(pool_exec, device_count) + sizeof(given->device_count) ||
        given->struct_size < offsetof(pool_exec, devices) + sizeof(given->devices) ||
        !given->devices || given->device_count > EXEC_MAX_DEVICES)
        return scope;
    for (uint32_t i = 0; i < given->device_count && scope.count < EXEC_MAX_DEVICES; i++)
        begin_on(&scope, given->devices[i]);
    return scope;
}

void exec_end(struct exec_scope *scope)
{
    while (scope->count)
        device_end_operation(scope->devices[--scope->count], 1);
    base_log_restore_label(&scope->outer_label);
    base_error_fill(scope->error);
}

/* Members that have no meaning for several devices; `devices` itself is read by devices.c. */
static pool_status check_devices(
    const char *call, const struct exec_rules *rules, const pool_exec *exec)
{
    const struct {
        const char *name;
        bool is_given;
        const char *wanted;
    } members[] = {{"device", exec->device != NULL, "NULL"},
        {"workspace", exec->workspace != NULL, "NULL"}, {"on_host", exec->on_host != 0, "0"}};

    if (!exec->device_count && (exec->devices || exec->workspaces || exec->workspace_count))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s` is given and `device_count` is 0",
            call,
            exec->devices      ? "devices"
            : exec->workspaces ? "workspaces"
                               : "workspace_count");
    if (!exec->device_count)
        return POOL_OK;
    if (!rules->has_devices)
        return fail_unsupported(call, "device_count");
    if (exec->workspace_count != (exec->workspaces ? exec->device_count : 0))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `workspace_count`; with `workspaces` %s and "
            "`device_count` %u it must be %u",
            call, exec->workspace_count, exec->workspaces ? "given" : "NULL", exec->device_count,
            exec->workspaces ? exec->device_count : 0);
    if (!exec->devices && !exec->lease)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `device_count` is %u, `devices` and `lease` are both NULL; one of them is "
            "required",
            call, exec->device_count);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (members[i].is_given)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: `%s` cannot be combined with `device_count` %u; it must be %s", call,
                members[i].name, exec->device_count, members[i].wanted);
    if (!rules->has_async_devices && (exec->stream || exec->is_async))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "%s: `%s` is not supported with `device_count` %u, as steps of this operation run on "
            "the host; it must be %s",
            call, exec->is_async ? "is_async" : "stream", exec->device_count,
            exec->is_async ? "0" : "NULL");
    return POOL_OK;
}

pool_status exec_read(
    const char *call, const pool_exec *given, const struct exec_rules *rules, pool_exec *exec)
{
    static const pool_exec defaults = {.struct_size = sizeof(defaults)};
    pool_status status =
        base_struct_read(&exec_type, call, "exec", given ? given : &defaults, exec);

    if (!status)
        status = base_check_ranges(call, {"is_async", exec->is_async, 0, 1},
            {"on_host", exec->on_host, 0, 1}, {"reserved", exec->reserved, 0, 0},
            {"workspace_count", exec->workspace_count, 0, EXEC_MAX_DEVICES});
    if (!status)
        status = validate_checks(call, exec->checks, rules->checks);
    if (!status)
        status = base_error_slot_check(call, "exec->error", exec->error);
    if (status)
        return status;
    if (exec->is_async && !rules->has_async)
        return fail_unsupported(call, "is_async");
    if (exec->on_host && !rules->has_host)
        return fail_unsupported(call, "on_host");
    if (exec->workspace && !rules->has_workspace)
        return fail_unsupported(call, "workspace");
    if (exec->memory_limit && !rules->has_memory_limit)
        return fail_unsupported(call, "memory_limit");
    if (exec->on_host &&
        (exec->device || exec->stream || exec->is_async || exec->lease || exec->workspace))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `on_host` cannot be combined with `device`, `stream`, `is_async`, `workspace` or "
            "`lease`",
            call);
    status = check_devices(call, rules, exec);
    if (!status && exec->lease && !exec->device_count)
        status = read_lease(call, rules, exec);
    return status;
}

pool_status exec_read_warm_up(const char *call, const pool_exec *given, pool_exec *exec)
{
    static const struct exec_rules rules = {0};
    pool_status status = exec_read(call, given, &rules, exec);

    if (!status && exec->stream && !exec->lease)
        status = fail_unsupported(call, "stream");
    if (!status && exec->progress)
        status = fail_unsupported(call, "progress");
    if (!status)
        status = exec_check_cancelled(call, exec);
    return status ? status : device_or_bound(exec->device, &exec->device);
}

pool_status exec_check_cancelled(const char *call, const pool_exec *exec)
{
    struct progress progress = {.call = call, .exec = exec, .total = 1};

    return progress_add(&progress, 0);
}

/* The approximate number of calls of the callback. */
enum { PROGRESS_CALLS = 256 };

pool_status progress_add(struct progress *progress, uint64_t amount)
{
    const pool_exec *exec = progress->exec;
    bool is_all = progress->done + amount && progress->done + amount >= progress->total;
    uint64_t unreported;

    if (!is_all && pool_cancel_requested(exec->cancel))
        return base_fail(POOL_ERR_CANCELLED, "%s: cancelled by the caller after %llu of %llu",
            progress->call, (unsigned long long)progress->done,
            (unsigned long long)progress->total);
    progress->done += amount;
    unreported = progress->done - progress->reported;
    if (!exec->progress || !unreported ||
        (unreported < progress->total / PROGRESS_CALLS && !is_all))
        return POOL_OK;
    progress->reported = progress->done;
    exec->progress(exec->user, progress->done, progress->total);
    return POOL_OK;
}

pool_status exec_fail_limit(const char *call, uint64_t limit, uint64_t bytes)
{
    return base_fail(POOL_ERR_OUT_OF_DEVICE_MEMORY,
        "%s: the smallest chunk needs %s of device memory; `memory_limit` is %s", call,
        base_size_text(bytes).text, base_size_text(limit).text);
}

struct exec_share exec_share_of(const pool_exec *exec, const pool_device *device)
{
    const uint32_t all = chip_of(device).multiprocessors;
    const uint32_t reserve = (uint32_t)base_min(device_shared_multiprocessors(device), all / 2);
    const uint64_t slice_ns = device_slice_ns(device, exec->slice_ns);

    if (!lease_is_shared(exec->lease, device))
        return (struct exec_share){slice_ns, slice_ns, all};
    return (struct exec_share){.slice_ns = device_shared_slice_ns(device, exec->slice_ns),
        .partial_slice_ns = reserve ? slice_ns : device_shared_slice_ns(device, exec->slice_ns),
        .multiprocessors = all - reserve};
}
