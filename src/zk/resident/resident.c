/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered objects and their copies. The object's lock guards which devices have a copy; the list
 * of each device (memory/resident.h) guards who uses it and evicts it. No call that takes time runs
 * under the object's lock.
 */
#include <devicepool/resident.h>

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/release.h"
#include "pool/lease/lease.h"
#include "pool/memory/durable.h"
#include "pool/memory/resident.h"
#include "zk/msm/bases.h"
#include "zk/operation/operation.h"

/* One device's copy. */
struct resident_copy {
    struct memory_resident entry; /* first: the list knows the copy by it */
    struct pool_resident *owner;
    size_t index; /* of the GPU's first device */
    pool_bases *bases;
    pool_buffer *buffer;
};

/* Of a GPU, by the index of its first device: its parts have one copy. */
struct resident_slot {
    struct resident_copy *copy; /* guarded by the object's lock */
    bool is_loading;            /* likewise: a thread creates the copy */
    uint64_t loads;             /* likewise */
};

struct pool_resident {
    struct lease_locality locality; /* first: requests prefer devices that have a copy */
    device_pool *pool;
    pool_device *first; /* of the pool */
    char name[POOL_RESIDENT_NAME_BYTES];
    struct device_named dependent; /* of the first device */
    uint32_t flags;
    pool_bases_params bases; /* curve NULL: a buffer */
    pool_span points;        /* data NULL: none */
    char *path;
    pool_resident_source source;
    void *user;
    atomic_uint_fast64_t bytes; /* of a copy; 0: not known yet */
    atomic_uint uses;           /* open ones on all devices */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a load has ended */
    size_t count;
    struct resident_slot slots[];
};

struct pool_resident_use {
    pool_resident *resident;
    struct resident_copy *copy;
    struct lease_budget *budget; /* the copy's bytes are charged to it; NULL: to none */
};

static const struct base_struct params_type = BASE_STRUCT(pool_resident_params);
static const struct base_struct info_type = BASE_STRUCT(pool_resident_info);

void pool_resident_params_init(pool_resident_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- registration ------------------------------------------------------------------------------
 */

static pool_status check_params(const pool_resident_params *params)
{
    static const char call[] = "pool_resident_create";
    int sources = (params->points != NULL) + (params->path != NULL) + (params->source != NULL);
    pool_status status = base_flags_check(call, "flags", params->flags, POOL_RESIDENT_PINNED);

    if (!status)
        status = base_check_ranges(call, {"reserved", params->reserved, 0, 0});
    if (status)
        return status;
    if (sources != 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %d of `points`, `path` and `source` are given; exactly one is required", call,
            sources);
    if (params->source && params->bases)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `source` provides a buffer; `bases` must be NULL", call);
    if (params->source && !params->bytes)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: `bytes` must not be 0 with `source`", call);
    if (!params->source && params->bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `bytes`; it must be 0 without `source`", call,
            (unsigned long long)params->bytes);
    if (!params->source && (!params->bases || !params->bases->curve))
        return base_fail_null(call, params->bases ? "bases->curve" : "bases");
    if (params->points && (!params->points->data || params->points->space != POOL_MEMORY_HOST))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `points` must be a span of host memory, from which copies can be restored", call);
    return POOL_OK;
}

static pool_status copy_source(pool_resident *made, const pool_resident_params *params)
{
    base_text_copy(made->name, sizeof(made->name), params->name ? params->name : "");
    made->flags = params->flags;
    made->source = params->source;
    made->user = params->user;
    atomic_store(&made->bytes, params->bytes);
    if (params->source)
        return POOL_OK;
    made->bases = *params->bases;
    made->bases.curve = pool_curve_retain(params->bases->curve);
    if (params->points) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = made->first};
        uint64_t bases_bytes = 0, bytes;
        pool_status status;

        made->points = *params->points;
        status =
            pool_bases_create_workspace(&made->bases, &exec, &made->points, &bases_bytes, &bytes);
        atomic_store(&made->bytes, bases_bytes);
        return status;
    }
    made->path = base_strdup(params->path);
    return made->path ? POOL_OK : base_fail_memory("a resident object");
}

static void free_object(pool_resident *gone)
{
    pool_curve *curve = (pool_curve *)(uintptr_t)gone->bases.curve;

    pool_curve_destroy(&curve);
    base_free(gone->path);
    base_free(gone);
}

pool_status pool_resident_create(
    device_pool *pool, const pool_resident_params *given, pool_resident **resident)
{
    pool_resident_params params;
    pool_device *first = NULL;
    pool_resident *made;
    size_t count;
    pool_status status =
        base_check_pointers("pool_resident_create", {"pool", pool}, {"resident", resident});

    if (!status)
        status = base_struct_read(&params_type, "pool_resident_create", "params", given, &params);
    if (!status)
        status = check_params(&params);
    if (!status)
        status = pool_device_at(pool, 0, &first);
    if (!status)
        status = device_check(first, DEVICE_USE_HOST);
    if (status)
        return status;
    count = pool_device_count(pool);
    made = base_calloc(
        1, sizeof(*made) + count * (sizeof(made->slots[0]) + sizeof(made->locality.has_copy[0])));
    if (!made)
        return base_fail_memory("a resident object");
    made->locality =
        (struct lease_locality){.pool = pool, .has_copy = (atomic_bool *)(made->slots + count)};
    made->pool = pool;
    made->first = first;
    made->count = count;
    status = copy_source(made, &params);
    if (status) {
        free_object(made);
        return status;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    device_dependent_named_added(first, DEVICE_DEPENDENT_RESIDENT, made->name, &made->dependent);
    *resident = made;
    return POOL_OK;
}

uint64_t pool_resident_bytes(const pool_resident *resident)
{
    return resident ? atomic_load_explicit(&resident->bytes, memory_order_relaxed) : 0;
}

/* ---- copies ------------------------------------------------------------------------------------
 */

static pool_status destroy_copy(struct resident_copy *copy)
{
    pool_status status =
        copy->bases ? pool_bases_destroy(&copy->bases) : pool_buffer_destroy(&copy->buffer);

    if (!copy->bases && !copy->buffer)
        base_free(copy);
    return status;
}

static size_t index_of(const pool_device *device)
{
    return (size_t)pool_device_index(device_gpu(device));
}

/* With the object's lock held. */
static void set_copy(pool_resident *resident, size_t index, struct resident_copy *copy)
{
    pool_device *gpu = resident->first;

    resident->slots[index].copy = copy;
    (void)pool_device_at(resident->pool, index, &gpu); /* it exists */
    for (pool_device *part = NULL; (part = device_next_part(gpu, part));)
        atomic_store_explicit(&resident->locality.has_copy[pool_device_index(part)], copy != NULL,
            memory_order_relaxed);
}

/* Called by the list of the device, which has taken the entry out. */
static void evict_copy(struct memory_resident *entry)
{
    struct resident_copy *copy = (struct resident_copy *)entry;
    struct pool_resident *owner = copy->owner;
    struct base_error_copy first;

    pthread_mutex_lock(&owner->lock);
    if (owner->slots[copy->index].copy == copy)
        set_copy(owner, copy->index, NULL);
    pthread_mutex_unlock(&owner->lock);
    base_error_save(&first);
    (void)destroy_copy(copy);
    base_error_restore(&first);
}

/* Work of the source may still be enqueued, and other threads use the copy on other streams. */
static pool_status run_source(
    const pool_resident *resident, const pool_exec *exec, pool_buffer **buffer)
{
    pool_stream *stream = exec->stream;
    pool_status status = resident->source(resident->user, exec, buffer);

    if (status && pool_last_error()->status != status)
        return base_fail(status < 0 ? status : POOL_ERR_INTERNAL,
            "the source of \"%s\" returned %s without a message", resident->name,
            pool_status_name(status));
    if (!status && !stream)
        status = pool_stream_default(exec->device, &stream);
    return status ? status : pool_stream_synchronize(stream);
}

static pool_status create_object(
    const pool_resident *resident, const pool_exec *exec, struct resident_copy *copy)
{
    if (resident->source)
        return run_source(resident, exec, &copy->buffer);
    if (resident->path)
        return pool_bases_load(&resident->bases, exec, resident->path, &copy->bases);
    return pool_bases_create(&resident->bases, exec, &resident->points, &copy->bases);
}

/* The memory below a copy. */
static pool_buffer *buffer_of(const struct resident_copy *copy)
{
    return copy->bases ? copy->bases->buffer : copy->buffer;
}

static pool_status check_object(
    const pool_resident *resident, const pool_exec *exec, const struct resident_copy *copy)
{
    if (!buffer_of(copy))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the source of \"%s\" returned success and no buffer", resident->name);
    if (!device_is_same_gpu(pool_buffer_device(buffer_of(copy)), exec->device))
        return base_fail(POOL_ERR_WRONG_DEVICE,
            "the source of \"%s\" returned a buffer of device %d; it is needed on device %d",
            resident->name, pool_device_ordinal(pool_buffer_device(buffer_of(copy))),
            pool_device_ordinal(exec->device));
    return POOL_OK;
}

/* Creates the copy and adds it to the device's list, with one user. */
static pool_status load_copy(
    pool_resident *resident, size_t index, const pool_exec *exec, struct resident_copy **copy)
{
    struct resident_copy *made = base_calloc(1, sizeof(*made));
    struct base_error_copy first;
    pool_status status;

    if (!made)
        return base_fail_memory("a copy of a resident object");
    status = create_object(resident, exec, made);
    if (!status)
        status = check_object(resident, exec, made);
    if (status)
        goto destroy;
    made->owner = resident;
    made->index = index;
    made->entry = (struct memory_resident){.device = exec->device,
        .kind = made->bases ? "bases" : "buffer",
        .name = resident->name,
        .buffer = buffer_of(made),
        .bytes = pool_buffer_bytes(buffer_of(made)),
        .is_pinned = (resident->flags & POOL_RESIDENT_PINNED) != 0,
        .evict = evict_copy};
    memory_buffer_set_owner(buffer_of(made), DEVICE_DEPENDENT_COPY, resident->name);
    memory_seal(buffer_of(made));
    memory_detach_budget(buffer_of(made)); /* the use is charged, the copy outlives the lease */
    status = memory_resident_add(&made->entry, false);
    if (status)
        goto destroy;
    *copy = made;
    return POOL_OK;
destroy:
    base_error_save(&first);
    (void)destroy_copy(made);
    base_error_restore(&first);
    return status;
}

/*
 * With the lock held: the device's copy with one more user, or NULL and the right to create it
 * (is_loading is set). Waits for other threads that create it; after their failure this thread
 * tries by itself.
 */
static struct resident_copy *use_or_begin_loading(pool_resident *resident, size_t index)
{
    struct resident_slot *slot = &resident->slots[index];

    for (;;) {
        if (slot->copy && memory_resident_use(&slot->copy->entry, false))
            return slot->copy;
        set_copy(resident, index, NULL); /* none, or it is being evicted */
        if (!slot->is_loading)
            break;
        pthread_cond_wait(&resident->changed, &resident->lock);
    }
    slot->is_loading = true;
    return NULL;
}

static pool_status get_copy(
    pool_resident *resident, size_t index, const pool_exec *exec, struct resident_copy **copy)
{
    struct resident_slot *slot = &resident->slots[index];
    struct resident_copy *found;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&resident->lock);
    found = use_or_begin_loading(resident, index);
    pthread_mutex_unlock(&resident->lock);
    if (!found) {
        status = load_copy(resident, index, exec, &found);
        pthread_mutex_lock(&resident->lock);
        slot->is_loading = false;
        if (!status) {
            set_copy(resident, index, found);
            slot->loads++;
            atomic_store(&resident->bytes, found->entry.bytes);
        }
        pthread_cond_broadcast(&resident->changed);
        pthread_mutex_unlock(&resident->lock);
    }
    if (!status)
        *copy = found;
    return status;
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

static pool_status check_device(
    const char *call, const pool_resident *resident, const pool_device *device)
{
    return device_pool_of(device) == resident->pool
               ? POOL_OK
               : base_fail(POOL_ERR_WRONG_DEVICE,
                     "%s: device %d belongs to another pool than \"%s\"", call,
                     pool_device_ordinal(device), resident->name);
}

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
    return status ? status : check_device(call->frame.name, call->resident, exec->device);
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

static pool_status plan_msm(void *user, uint64_t limit)
{
    struct resident_call *call = user;
    const pool_resident *resident = call->resident;
    struct pool_bases described = {
        .device = resident->first, .curve = (pool_curve *)(uintptr_t)resident->bases.curve};
    pool_status status;

    (void)limit;
    if (resident->source)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: \"%s\" is a buffer and has no bases",
            call->frame.name, resident->name);
    status = resident->path
                 ? msm_bases_describe_file(resident->path, &described)
                 : msm_bases_describe(&resident->bases, resident->points.count, &described);
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
    status = get_copy(resident, index_of(exec.device), &exec, &copy);
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

/* ---- release -----------------------------------------------------------------------------------
 */

/*
 * Releases the copy on one device unless uses of it are open, whose number is then in *users. When
 * this returns, no eviction on the device touches the object any more: not the one of this copy,
 * and not that of an earlier copy, which another thread may have replaced already.
 */
static pool_status release_copy(pool_resident *resident, pool_device *device, uint32_t *users)
{
    size_t index = index_of(device);
    struct resident_copy *copy;
    bool is_evicting = false;

    /* In one section with the check, so that no thread opens a use in between, and no eviction
     * frees the copy. */
    pthread_mutex_lock(&resident->lock);
    copy = resident->slots[index].copy;
    *users = copy ? memory_resident_users(&copy->entry) : 0;
    if (!*users) {
        is_evicting = copy && !memory_resident_remove(&copy->entry);
        set_copy(resident, index, NULL);
    }
    pthread_mutex_unlock(&resident->lock);
    if (*users)
        return POOL_OK;
    memory_resident_wait(device);
    return copy && !is_evicting ? destroy_copy(copy) : POOL_OK;
}

pool_status pool_resident_evict(pool_resident *resident, pool_device *device)
{
    uint32_t users = 0;
    pool_status status =
        base_check_pointers("pool_resident_evict", {"resident", resident}, {"device", device});

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        status = check_device("pool_resident_evict", resident, device);
    if (!status)
        status = release_copy(resident, device, &users);
    if (users)
        return base_fail(POOL_ERR_BUSY,
            "pool_resident_evict: %u uses of \"%s\" are open on device %d", users, resident->name,
            pool_device_ordinal(device));
    return status;
}

pool_status pool_resident_destroy(pool_resident **resident)
{
    pool_resident *gone = resident ? *resident : NULL;
    pool_status first = POOL_OK;
    bool is_forked;
    unsigned uses;

    if (!gone)
        return POOL_OK;
    is_forked = !device_usable(gone->first, DEVICE_USE_HOST);
    uses = is_forked ? 0 : atomic_load(&gone->uses);
    if (uses)
        return base_fail(POOL_ERR_BUSY, "pool_resident_destroy: %u use%s of \"%s\" are open", uses,
            base_plural(uses), gone->name);
    for (size_t i = 0; i < gone->count; i++) {
        pool_device *device = NULL;
        uint32_t users;
        pool_status status = pool_device_at(gone->pool, i, &device);

        if (!is_forked)
            status = release_copy(gone, device, &users);
        else if (gone->slots[i].copy) /* a forked child frees host memory only, takes no lock */
            status = destroy_copy(gone->slots[i].copy);
        first = first ? first : status;
    }
    if (!is_forked)
        pthread_cond_destroy(&gone->changed);
    device_lock_destroy(gone->first, &gone->lock);
    device_dependent_named_removed(gone->first, &gone->dependent);
    free_object(gone);
    *resident = NULL;
    return first;
}

pool_status pool_resident_get_info(
    pool_resident *resident, pool_device *device, pool_resident_info *info)
{
    pool_resident_info now = {.struct_size = sizeof(now)};
    const struct resident_slot *slot;
    pool_status status =
        base_check_pointers("pool_resident_get_info", {"resident", resident}, {"device", device});

    if (!status)
        status = base_struct_check(&info_type, "pool_resident_get_info", "info", info);
    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        status = check_device("pool_resident_get_info", resident, device);
    if (status)
        return status;
    memcpy(now.name, resident->name, sizeof(now.name));
    pthread_mutex_lock(&resident->lock);
    slot = &resident->slots[index_of(device)];
    now.loads = slot->loads;
    now.is_resident = slot->copy != NULL;
    if (slot->copy) {
        now.bytes = slot->copy->entry.bytes;
        now.survivals = slot->copy->entry.survivals;
        memory_resident_read_use(&slot->copy->entry, &now.users, &now.idle_ns);
    }
    pthread_mutex_unlock(&resident->lock);
    base_struct_write(&info_type, &now, info);
    return POOL_OK;
}
