/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of objects, their release, and what is known of them: see object.h. */
#include "zk/resident/object.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "pool/device/release.h"
#include "zk/msm/bases.h"

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

pool_status resident_check_device(
    const char *call, const pool_resident *resident, const pool_device *device)
{
    return device_pool_of(device) == resident->pool
               ? POOL_OK
               : base_fail(POOL_ERR_WRONG_DEVICE,
                     "%s: device %d belongs to another pool than \"%s\"", call,
                     pool_device_ordinal(device), resident->name);
}

/* ---- release -----------------------------------------------------------------------------------
 */

pool_status pool_resident_evict(pool_resident *resident, pool_device *device)
{
    uint32_t users = 0;
    pool_status status =
        base_check_pointers("pool_resident_evict", {"resident", resident}, {"device", device});

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (!status)
        status = resident_check_device("pool_resident_evict", resident, device);
    if (!status)
        status = resident_release_copy(resident, device, &users);
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
            status = resident_release_copy(gone, device, &users);
        else if (gone->slots[i].copy) /* a forked child frees host memory only, takes no lock */
            status = resident_destroy_copy(gone->slots[i].copy);
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
        status = resident_check_device("pool_resident_get_info", resident, device);
    if (status)
        return status;
    memcpy(now.name, resident->name, sizeof(now.name));
    pthread_mutex_lock(&resident->lock);
    slot = &resident->slots[resident_index(device)];
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
