/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of points on a device: references, the list in which they are found, fingerprints.
 */
#include "msm/bases.h"

#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "memory/memory.h"

static pool_status make_list(pool_device *device, void **object)
{
    struct points_list *list = base_calloc(1, sizeof(*list));

    (void)device;
    if (!list)
        return base_fail_memory("the list of points");
    pthread_mutex_init(&list->lock, NULL);
    *object = list;
    return POOL_OK;
}

/* Handles keep their pool alive, so the list is empty here or the process is lost. */
static void destroy_list(pool_device *device, void *object, int driver_alive)
{
    struct points_list *list = object;

    (void)driver_alive;
    device_lock_destroy(device, &list->lock);
    base_free(list);
}

static const struct device_resource_type kind = {
    .name = "the list of points", .create = make_list, .destroy = destroy_list};

pool_status points_begin(
    pool_device *device, const pool_curve *curve, uint64_t count, struct pool_bases **points)
{
    struct pool_bases *made;
    void *list = NULL;
    pool_status status = device_resource_get(device, &kind, &list);

    if (status)
        return status;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return base_fail_memory("a handle of points");
    atomic_init(&made->references, 1);
    made->list = list;
    made->device = device;
    made->curve = pool_curve_retain(curve);
    made->count = count;
    made->asked = made->levels = 1;
    *points = made;
    return POOL_OK;
}

pool_status points_allocate(struct pool_bases *points, pool_stream *stream)
{
    const struct exec_target site = {.device = points->device, .stream = stream};

    return memory_scratch(&site, points_bytes(points), &points->buffer, &points->address);
}

static void free_host(struct pool_bases *points)
{
    pool_curve_destroy(&points->curve);
    base_free(points);
}

pool_status points_discard(struct pool_bases *points, pool_status status)
{
    struct base_error_copy first;

    base_error_save(&first);
    if (points->buffer)
        memory_discard(points->buffer);
    free_host(points);
    base_error_restore(&first);
    return status;
}

void points_make_known(struct pool_bases *points, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    struct points_list *list = points->list;

    pthread_mutex_lock(&list->lock);
    if (!points->is_known) {
        memcpy(points->fingerprint, fingerprint, POOL_FINGERPRINT_BYTES);
        points->is_known = 1;
        points->next = list->first;
        list->first = points;
    }
    pthread_mutex_unlock(&list->lock);
}

pool_bases *pool_bases_retain(pool_bases *points)
{
    if (points)
        atomic_fetch_add_explicit(&points->references, 1, memory_order_relaxed);
    return points;
}

/*
 * Whether this was the last reference; then it can no longer be found. In a forked child nothing is
 * found, and the list may be half changed.
 */
static bool release(struct pool_bases *points)
{
    struct points_list *list = points->list;
    struct pool_bases **at = &list->first;
    bool is_last;

    if (device_is_forked(points->device))
        return atomic_fetch_sub_explicit(&points->references, 1, memory_order_acq_rel) == 1;
    pthread_mutex_lock(&list->lock);
    is_last = atomic_fetch_sub_explicit(&points->references, 1, memory_order_acq_rel) == 1;
    if (is_last && points->is_known) {
        while (*at != points)
            at = &(*at)->next;
        *at = points->next;
        points->is_known = 0;
    }
    pthread_mutex_unlock(&list->lock);
    return is_last;
}

pool_status points_hand_over(struct pool_bases *made, pool_status status, pool_bases **points)
{
    if (!status)
        *points = made;
    else if (made && release(made))
        return points_discard(made, status);
    return status;
}

pool_status pool_bases_destroy(pool_bases **points)
{
    pool_bases *gone = points ? *points : NULL;
    pool_status status;

    if (!gone)
        return POOL_OK;
    *points = NULL;
    if (!release(gone))
        return POOL_OK;
    status = pool_buffer_destroy(&gone->buffer);
    if (gone->buffer) {
        /* The device could not be entered: the handle stays for another try. */
        atomic_store_explicit(&gone->references, 1, memory_order_relaxed);
        *points = gone;
        return status;
    }
    free_host(gone);
    return status;
}

const pool_curve *pool_bases_curve(const pool_bases *points)
{
    return points ? points->curve : NULL;
}

pool_device *pool_bases_device(const pool_bases *points)
{
    return points ? points->device : NULL;
}

uint64_t pool_bases_count(const pool_bases *points)
{
    return points ? points->count : 0;
}

uint64_t pool_bases_bytes(const pool_bases *points)
{
    return points ? points_bytes(points) : 0;
}

uint32_t pool_bases_precompute_factor(const pool_bases *points)
{
    return points ? points->levels : 0;
}

uint32_t pool_bases_window_bits(const pool_bases *points)
{
    return points ? points->window_bits : 0;
}

/* The standard form of `count` points from `first` on, through scratch, to the host. */
static pool_status read_standard(const struct pool_bases *points, const struct msm_run *run,
    pool_buffer *scratch, uint64_t first, uint64_t count, uint8_t *host)
{
    const pool_field *field = points->curve->coordinates.field;
    uint64_t bytes = msm_affine_bytes(points->curve), power[FIELD_MAX_LIMBS];
    int degree = field_device_degree(field);
    struct msm_input_bases source = {.data = points->address + first * bytes,
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

static pool_status digest_points(const struct pool_bases *points, const struct msm_run *run,
    pool_buffer *scratch, uint8_t *host, struct base_sha256 *digest)
{
    uint64_t bytes = msm_affine_bytes(points->curve);
    uint8_t count[8];
    pool_status status = POOL_OK;

    for (int i = 0; i < 8; i++)
        count[i] = (uint8_t)(points->count >> 8 * i);
    base_sha256_add(digest, points->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    base_sha256_add(digest, count, sizeof(count));
    for (uint64_t first = 0; !status && first < points->count; first += POINTS_PART) {
        uint64_t part = points->count - first < POINTS_PART ? points->count - first : POINTS_PART;

        status = read_standard(points, run, scratch, first, part, host);
        if (!status)
            base_sha256_add(digest, host, (size_t)(part * bytes));
    }
    return status;
}

static pool_status compute(struct pool_bases *points, uint8_t *fingerprint)
{
    struct msm_run run = {.device = points->device, .curve = points->curve};
    uint64_t part = base_min(points->count, POINTS_PART);
    uint64_t bytes = part * msm_affine_bytes(points->curve);
    struct base_sha256 *digest = base_sha256_begin();
    uint8_t *host = base_calloc((size_t)bytes + 1, 1);
    pool_buffer *scratch = NULL;
    CUdeviceptr address;
    pool_status status = pool_stream_default(points->device, &run.stream);
    const struct exec_target site = {.device = points->device, .stream = run.stream};

    if (!status && (!digest || !host))
        status = base_fail_memory("the fingerprint of points");
    if (!status)
        status = memory_scratch(&site, bytes, &scratch, &address);
    if (!status)
        status = digest_points(points, &run, scratch, host, digest);
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

pool_status pool_bases_fingerprint(pool_bases *points, uint8_t fingerprint[POOL_FINGERPRINT_BYTES])
{
    uint8_t computed[POOL_FINGERPRINT_BYTES];
    pool_status status;
    int is_known;

    status = base_check_pointers(
        "pool_bases_fingerprint", {"points", points}, {"fingerprint", fingerprint});
    if (status)
        return status;
    status = device_check_forked(points->device);
    if (status)
        return status;
    pthread_mutex_lock(&points->list->lock);
    is_known = points->is_known;
    pthread_mutex_unlock(&points->list->lock);
    if (!is_known) {
        status = compute(points, computed);
        if (status)
            return status;
        points_make_known(points, computed);
    }
    memcpy(fingerprint, points->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}

pool_status pool_bases_find(pool_device *device, const uint8_t fingerprint[POOL_FINGERPRINT_BYTES],
    uint32_t factor, pool_bases **points)
{
    struct pool_bases *found;
    struct points_list *list;
    void *object = NULL;
    pool_status status;

    status = base_check_pointers(
        "pool_bases_find", {"device", device}, {"fingerprint", fingerprint}, {"points", points});
    if (status)
        return status;
    status = device_resource_get(device, &kind, &object);
    if (status)
        return status;
    factor = factor ? factor : 1;
    list = object;
    pthread_mutex_lock(&list->lock);
    found = list->first;
    while (found && ((found->asked != factor && found->levels != factor) ||
                        memcmp(found->fingerprint, fingerprint, POOL_FINGERPRINT_BYTES) != 0))
        found = found->next;
    pool_bases_retain(found);
    pthread_mutex_unlock(&list->lock);
    if (!found)
        return base_fail(POOL_ERR_NOT_FOUND, "no points of that fingerprint and factor are there");
    *points = found;
    return POOL_OK;
}
