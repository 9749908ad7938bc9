/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of copies, and forecasts of what they take. */
#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/msm/bases.h"
#include "zk/resident/object.h"

struct pool_resident_use {
    pool_resident *resident;
    struct resident_copy *copy;
    struct lease_budget *budget; /* the copy's bytes are charged to it; NULL: to none */
};

/* ---- arguments ---------------------------------------------------------------------------------
 */

/* A call of pool_resident_open, or a forecast of that or of an MSM. */
struct resident_call {
    struct operation_call frame;
    pool_resident *resident;
    pool_resident_use **use;
    const pool_msm_params *params;
    const pool_span *scalars, *results;
};

static pool_status read_call(void *user)
{
    struct resident_call *call = user;
    pool_exec *exec = &call->frame.exec;
    pool_status status = device_or_bound(exec->device, &exec->device);

    if (!status && exec->checks && call->resident->source)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `checks`; a buffer has none", call->frame.name,
            exec->checks);
    exec->is_async = 1; /* a use is not waited for */
    return status ? status : resident_check_device(call->frame.name, call->resident, exec->device);
}

/* As the caller gave it. */
static pool_exec exec_of(const struct resident_call *call)
{
    pool_exec exec = call->frame.exec;

    exec.is_async = 0;
    return exec;
}

/* ---- forecasts ---------------------------------------------------------------------------------
 */

static pool_status plan_use(void *user, uint64_t limit)
{
    struct resident_call *call = user;
    const pool_resident *resident = call->resident;
    const pool_exec exec = exec_of(call);
    uint64_t bases_bytes = 0, *bytes = &call->frame.memory.bytes;

    (void)limit;
    if (!call->frame.is_forecast)
        return POOL_OK;
    if (resident->path)
        return pool_bases_load_workspace(
            &resident->bases, &exec, resident->path, &bases_bytes, bytes);
    if (!resident->source)
        return pool_bases_create_workspace(
            &resident->bases, &exec, &resident->points, &bases_bytes, bytes);
    *bytes = pool_resident_bytes(resident);
    return POOL_OK;
}

/* The bases of a copy on `device`, which need not have one. */
static pool_status describe_bases(const char *name, const pool_resident *resident,
    pool_device *device, struct pool_bases *described)
{
    *described = (struct pool_bases){
        .device = device, .curve = (pool_curve *)(uintptr_t)resident->bases.curve};
    if (resident->source)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: \"%s\" is a buffer and has no bases", name,
            resident->name);
    return resident->path ? msm_bases_describe_file(resident->path, described)
                          : msm_bases_describe(&resident->bases, resident->points.count, described);
}

static pool_status plan_msm(void *user, uint64_t limit)
{
    struct resident_call *call = user;
    struct pool_bases described;
    pool_status status =
        describe_bases(call->frame.name, call->resident, call->resident->first, &described);

    (void)limit;
    return status ? status
                  : msm_workspace_of_described(call->frame.name, &described, call->params,
                        &call->frame.exec, call->scalars, call->results, &call->frame.memory.bytes);
}

pool_status pool_resident_msm_workspace(const pool_resident *resident,
    const pool_msm_params *params, const pool_exec *exec, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes)
{
    static const struct operation operation = {.call_bytes = sizeof(struct resident_call),
        .rules = {.checks = POOL_CHECK_CANONICAL | POOL_CHECK_SUBGROUP | POOL_CHECK_REDUCE,
            .has_async = true,
            .has_workspace = true,
            .has_memory_limit = true},
        .arguments = {{.name = "resident", .at = offsetof(struct resident_call, resident)}},
        .plan = plan_msm};
    struct resident_call call = {.frame = OPERATION_CALL(&operation, exec),
        .resident = (pool_resident *)(uintptr_t)resident,
        .params = params,
        .scalars = scalars,
        .results = results};

    return operation_forecast(&call.frame, bytes);
}

/* A forecast of pool_msm_joint. */
struct joint_call {
    struct operation_call frame;
    pool_resident *const *residents;
    const pool_msm_joint_params *params;
    const pool_msm_term *terms;
    uint32_t count;
    const pool_span *results;
};

static pool_status check_residents(void *user)
{
    struct joint_call *call = user;
    pool_exec *exec = &call->frame.exec;
    const char *name = call->frame.name;
    pool_status status = base_check_ranges(name, {"count", call->count, 1, POOL_MSM_MAX_TERMS});

    if (!status)
        status = device_or_bound(exec->device, &exec->device);
    for (uint32_t i = 0; i < call->count && !status; i++) {
        if (!call->residents[i] || call->terms[i].bases)
            status = base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `%s[%u]%s must %sbe NULL", name,
                call->residents[i] ? "terms" : "residents", i, call->residents[i] ? ".bases`" : "`",
                call->residents[i] ? "" : "not ");
        else
            status = resident_check_device(name, call->residents[i], exec->device);
    }
    return status;
}

static pool_status plan_joint(void *user, uint64_t limit)
{
    struct joint_call *call = user;
    struct pool_bases described[POOL_MSM_MAX_TERMS];
    pool_msm_term terms[POOL_MSM_MAX_TERMS];
    pool_status status = POOL_OK;

    (void)limit;
    for (uint32_t i = 0; i < call->count && !status; i++) {
        status = describe_bases(
            call->frame.name, call->residents[i], call->frame.exec.device, &described[i]);
        terms[i] = call->terms[i];
        terms[i].bases = &described[i];
    }
    return status ? status
                  : msm_joint_forecast(call->frame.name, call->params, &call->frame.exec, terms,
                        call->count, call->results, &call->frame.memory.bytes);
}

pool_status pool_resident_msm_joint_workspace(pool_resident *const *residents,
    const pool_msm_joint_params *params, const pool_exec *exec, const pool_msm_term *terms,
    uint32_t count, const pool_span *results, uint64_t *bytes)
{
    static const struct operation operation = {.call_bytes = sizeof(struct joint_call),
        .rules = {.checks = POOL_CHECK_CANONICAL | POOL_CHECK_REDUCE,
            .has_async = true,
            .has_workspace = true,
            .has_memory_limit = true},
        .arguments = {{.name = "residents", .at = offsetof(struct joint_call, residents)},
            {.name = "terms", .at = offsetof(struct joint_call, terms)}},
        .read = check_residents,
        .plan = plan_joint};
    struct joint_call call = {.frame = OPERATION_CALL(&operation, exec),
        .residents = residents,
        .params = params,
        .terms = terms,
        .count = count,
        .results = results};

    return operation_forecast(&call.frame, bytes);
}

/* ---- uses --------------------------------------------------------------------------------------
 */

/*
 * A use begins as one outside of leases. Under a lease its bytes are charged to the lease's budget
 * instead, but for pinned copies, whose memory is never anyone else's.
 */
static pool_status charge_use(pool_resident_use *use, const pool_exec *exec)
{
    struct memory_resident *entry = &use->copy->entry;
    struct lease_budget *budget;
    pool_status status;

    if (!exec->lease || entry->is_pinned)
        return POOL_OK;
    status = lease_budget_of("pool_resident_open", exec->lease, exec->device, &budget);
    if (!status)
        status = lease_budget_charge(budget, entry->bytes);
    if (status)
        return status;
    lease_budget_retain(budget);
    use->budget = budget;
    (void)memory_resident_use(entry, true);
    memory_resident_unuse(entry, false);
    return POOL_OK;
}

/* Ends a use. If its lease has been released meanwhile, its bytes count as used outside of leases
 * since then. */
static void end_use(pool_resident_use *use)
{
    struct memory_resident *entry = &use->copy->entry;
    pool_device *device = entry->device;
    uint64_t bytes = entry->bytes;

    memory_resident_unuse(entry, use->budget != NULL); /* from here on it may be evicted */
    if (!use->budget)
        return;
    if (!lease_budget_uncharge(use->budget, bytes))
        device_account_evictable(device, (int64_t)bytes);
    lease_budget_release(use->budget);
}

static void discard_use(void *handle)
{
    pool_resident_use *use = handle;

    (void)pool_resident_close(&use);
}

static pool_status open_use(void *user)
{
    struct resident_call *call = user;
    pool_resident *resident = call->resident;
    const pool_exec exec = exec_of(call);
    struct resident_copy *copy = NULL;
    pool_resident_use *made = base_calloc(1, sizeof(*made));
    pool_status status;

    if (!made)
        return base_fail_memory("a use of a resident object");
    atomic_fetch_add(&resident->uses, 1);
    made->resident = resident;
    status = resident_get_copy(resident, resident_index(exec.device), &exec, &copy);
    made->copy = copy;
    if (!status)
        status = charge_use(made, &exec);
    if (!status) {
        call->frame.made = made;
        return POOL_OK;
    }
    if (copy)
        end_use(made);
    atomic_fetch_sub(&resident->uses, 1);
    base_free(made);
    return status;
}

static const struct operation opening = {.is_uncounted = true,
    .call_bytes = sizeof(struct resident_call),
    .rules = {.checks = POOL_CHECK_SUBGROUP},
    .arguments = {{.name = "resident", .at = offsetof(struct resident_call, resident)},
        {"use", offsetof(struct resident_call, use), OPERATION_RESULT, .is_for_run = true,
            .discard = discard_use}},
    .read = read_call,
    .plan = plan_use,
    .run = open_use};

pool_status pool_resident_open(
    pool_resident *resident, const pool_exec *exec, pool_resident_use **use)
{
    struct resident_call call = {
        .frame = OPERATION_CALL(&opening, exec), .resident = resident, .use = use};

    return operation_run(&call.frame);
}

pool_status pool_resident_open_workspace(
    const pool_resident *resident, const pool_exec *exec, uint64_t *bytes)
{
    struct resident_call call = {
        .frame = OPERATION_CALL(&opening, exec), .resident = (pool_resident *)(uintptr_t)resident};

    return operation_forecast(&call.frame, bytes);
}

pool_status pool_resident_close(pool_resident_use **use)
{
    pool_resident_use *gone = use ? *use : NULL;

    if (!gone)
        return POOL_OK;
    *use = NULL;
    if (device_usable(gone->copy->entry.device, DEVICE_USE_HOST))
        end_use(gone);
    atomic_fetch_sub(&gone->resident->uses, 1);
    base_free(gone);
    return POOL_OK;
}

pool_bases *pool_resident_bases(const pool_resident_use *use)
{
    return use ? use->copy->bases : NULL;
}

pool_buffer *pool_resident_buffer(const pool_resident_use *use)
{
    return use ? use->copy->buffer : NULL;
}
