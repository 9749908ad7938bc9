/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bases in device memory: references, fingerprints, and the list for look-ups by fingerprint.
 */
#include "msm/bases.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "memory/memory.h"

static pool_status create_list(pool_device *device, void **object)
{
    struct msm_bases_list *list = base_calloc(1, sizeof(*list));

    (void)device;
    if (!list)
        return base_fail_memory("the list of bases");
    pthread_mutex_init(&list->lock, NULL);
    *object = list;
    return POOL_OK;
}

/* Bases prevent the pool's destruction, so the list is empty unless the process is poisoned. */
static void destroy_list(pool_device *device, void *object, int driver_alive)
{
    struct msm_bases_list *list = object;

    (void)driver_alive;
    device_lock_destroy(device, &list->lock);
    base_free(list);
}

static const struct device_resource_type kind = {
    .name = "the list of bases", .create = create_list, .destroy = destroy_list};

pool_status msm_bases_begin(
    pool_device *device, const pool_curve *curve, uint64_t count, struct pool_bases **bases)
{
    struct pool_bases *created;
    void *list = NULL;
    pool_status status = device_resource_get(device, &kind, &list);

    if (status)
        return status;
    created = base_calloc(1, sizeof(*created));
    if (!created)
        return base_fail_memory("bases");
    atomic_init(&created->references, 1);
    created->list = list;
    created->device = device;
    created->curve = pool_curve_retain(curve);
    created->count = count;
    created->requested_factor = created->factor = 1;
    *bases = created;
    return POOL_OK;
}

pool_status msm_bases_allocate(struct pool_bases *bases, const struct exec_target *site)
{
    return memory_scratch(site, msm_bases_bytes(bases), &bases->buffer, &bases->address);
}

static void free_host(struct pool_bases *bases)
{
    pool_curve_destroy(&bases->curve);
    base_free(bases);
}

pool_status msm_bases_discard(struct pool_bases *bases, pool_status status)
{
    struct base_error_copy first;

    base_error_save(&first);
    if (bases->buffer)
        memory_discard(bases->buffer);
    free_host(bases);
    base_error_restore(&first);
    return status;
}

void msm_bases_set_fingerprint(
    struct pool_bases *bases, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    struct msm_bases_list *list = bases->list;

    pthread_mutex_lock(&list->lock);
    if (!bases->is_listed) {
        memcpy(bases->fingerprint, fingerprint, POOL_FINGERPRINT_BYTES);
        bases->is_listed = 1;
        bases->next = list->first;
        list->first = bases;
    }
    pthread_mutex_unlock(&list->lock);
}

pool_bases *pool_bases_retain(pool_bases *bases)
{
    if (bases)
        atomic_fetch_add_explicit(&bases->references, 1, memory_order_relaxed);
    return bases;
}

/*
 * Releases a reference. If it was the last one, removes the bases from the list and returns true.
 * In a forked child the list may be inconsistent and is not used.
 */
static bool release_reference(struct pool_bases *bases)
{
    struct msm_bases_list *list = bases->list;
    struct pool_bases **at = &list->first;
    bool is_last;

    if (device_is_forked(bases->device))
        return atomic_fetch_sub_explicit(&bases->references, 1, memory_order_acq_rel) == 1;
    pthread_mutex_lock(&list->lock);
    is_last = atomic_fetch_sub_explicit(&bases->references, 1, memory_order_acq_rel) == 1;
    if (is_last && bases->is_listed) {
        while (*at != bases)
            at = &(*at)->next;
        *at = bases->next;
        bases->is_listed = 0;
    }
    pthread_mutex_unlock(&list->lock);
    return is_last;
}

pool_status msm_bases_return(struct pool_bases *created, pool_status status, pool_bases **bases)
{
    if (!status)
        *bases = created;
    else if (created && release_reference(created))
        return msm_bases_discard(created, status);
    return status;
}

pool_status pool_bases_destroy(pool_bases **bases)
{
    pool_bases *destroyed = bases ? *bases : NULL;
    pool_status status;

    if (!destroyed)
        return POOL_OK;
    *bases = NULL;
    if (!release_reference(destroyed))
        return POOL_OK;
    status = pool_buffer_destroy(&destroyed->buffer);
    if (destroyed->buffer) {
        /* The device could not be entered: the handle remains valid, so that the caller can retry.
         */
        atomic_store_explicit(&destroyed->references, 1, memory_order_relaxed);
        *bases = destroyed;
        return status;
    }
    free_host(destroyed);
    return status;
}

const pool_curve *pool_bases_curve(const pool_bases *bases)
{
    return bases ? bases->curve : NULL;
}

pool_device *pool_bases_device(const pool_bases *bases)
{
    return bases ? bases->device : NULL;
}

uint64_t pool_bases_count(const pool_bases *bases)
{
    return bases ? bases->count : 0;
}

uint64_t pool_bases_bytes(const pool_bases *bases)
{
    return bases ? msm_bases_bytes(bases) : 0;
}

uint32_t pool_bases_precompute_factor(const pool_bases *bases)
{
    return bases ? bases->factor : 0;
}

uint32_t pool_bases_window_bits(const pool_bases *bases)
{
    return bases ? bases->window_bits : 0;
}

/* Copies `count` bases from index `first` to the host in standard form, through scratch memory. */
static pool_status read_standard(const struct pool_bases *bases, const struct msm_run *run,
    pool_buffer *scratch, uint64_t first, uint64_t count, uint8_t *host)
{
    const pool_field *field = bases->curve->coordinates.field;
    uint64_t bytes = msm_affine_bytes(bases->curve), power[FIELD_MAX_LIMBS];
    int degree = field_device_degree(field);
    struct msm_input_bases source = {.data = bases->address + first * bytes,
        .stride = bytes / 4,
        .count = count,
        .layout = POOL_POINT_AFFINE,
        .converts = degree != 0};
    CUdeviceptr to = 0;
    pool_status status = pool_buffer_address(scratch, &to);

    field_power_of_r(field, power, -degree);
    field_store_for_device(field, source.factor, power);
    if (!status)
        status = msm_convert_bases(run, &source, to);
    if (!status)
        status = pool_copy_to_host(host, scratch, 0, count * bytes, run->stream);
    return status ? status : pool_stream_synchronize(run->stream);
}

static pool_status digest_points(const struct pool_bases *bases, const struct msm_run *run,
    pool_buffer *scratch, uint8_t *host, struct base_sha256 *digest)
{
    uint64_t bytes = msm_affine_bytes(bases->curve);
    uint8_t count[8];
    pool_status status = POOL_OK;

    for (int i = 0; i < 8; i++)
        count[i] = (uint8_t)(bases->count >> 8 * i);
    base_sha256_add(digest, bases->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    base_sha256_add(digest, count, sizeof(count));
    for (uint64_t first = 0; !status && first < bases->count; first += MSM_BASES_CHUNK) {
        uint64_t part =
            bases->count - first < MSM_BASES_CHUNK ? bases->count - first : MSM_BASES_CHUNK;

        status = read_standard(bases, run, scratch, first, part, host);
        if (!status)
            base_sha256_add(digest, host, (size_t)(part * bytes));
    }
    return status;
}

static pool_status compute_fingerprint(struct pool_bases *bases, uint8_t *fingerprint)
{
    struct msm_run run = {.device = bases->device, .curve = bases->curve};
    uint64_t part = base_min(bases->count, MSM_BASES_CHUNK);
    uint64_t bytes = part * msm_affine_bytes(bases->curve);
    struct base_sha256 *digest = base_sha256_begin();
    uint8_t *host = base_calloc((size_t)bytes + 1, 1);
    pool_buffer *scratch = NULL;
    CUdeviceptr address;
    pool_status status = pool_stream_default(bases->device, &run.stream);
    const struct exec_target site = {.device = bases->device, .stream = run.stream};

    if (!status && (!digest || !host))
        status = base_fail_memory("the fingerprint of bases");
    if (!status)
        status = memory_scratch(&site, bytes, &scratch, &address);
    if (!status)
        status = digest_points(bases, &run, scratch, host, digest);
    status = memory_scratch_free(&site, &scratch, status);
    if (digest) {
        struct base_error_copy first;
        base_error_save(&first);
        pool_status end = base_sha256_end(digest, fingerprint);
        if (status)
            base_error_restore(&first);
        status = status ? status : end;
    }
    base_free(host);
    return status;
}

pool_status pool_bases_fingerprint(pool_bases *bases, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    uint8_t computed[POOL_FINGERPRINT_BYTES];
    pool_status status;
    int is_listed;

    status = base_check_pointers(
        "pool_bases_fingerprint", {"bases", bases}, {"fingerprint", fingerprint});
    if (status)
        return status;
    status = device_check_forked(bases->device);
    if (status)
        return status;
    pthread_mutex_lock(&bases->list->lock);
    is_listed = bases->is_listed;
    pthread_mutex_unlock(&bases->list->lock);
    if (!is_listed) {
        status = compute_fingerprint(bases, computed);
        if (status)
            return status;
        msm_bases_set_fingerprint(bases, computed);
    }
    memcpy(fingerprint, bases->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}

pool_status pool_bases_find(pool_device *device, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES],
    uint32_t factor, pool_bases **bases)
{
    struct pool_bases *found;
    struct msm_bases_list *list;
    void *object = NULL;
    pool_status status;

    status = base_check_pointers(
        "pool_bases_find", {"device", device}, {"fingerprint", fingerprint}, {"bases", bases});
    if (status)
        return status;
    status = device_resource_get(device, &kind, &object);
    if (status)
        return status;
    factor = factor ? factor : 1;
    list = object;
    pthread_mutex_lock(&list->lock);
    found = list->first;
    while (found && ((found->requested_factor != factor && found->factor != factor) ||
                        memcmp(found->fingerprint, fingerprint, POOL_FINGERPRINT_BYTES) != 0))
        found = found->next;
    pool_bases_retain(found);
    pthread_mutex_unlock(&list->lock);
    if (!found)
        return base_fail(POOL_ERR_NOT_FOUND,
            "pool_bases_find: the device has no bases with this fingerprint and factor");
    *bases = found;
    return POOL_OK;
}
