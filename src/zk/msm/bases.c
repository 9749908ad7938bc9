/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bases in device memory: references, fingerprints, and the list for look-ups by fingerprint.
 */
#include "zk/msm/bases.h"

#include <string.h>

#include <stdio.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "pool/memory/memory.h"
#include "zk/operation/pipeline.h"

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
    .name = "the list of bases", .is_of_gpu = true, .create = create_list, .destroy = destroy_list};

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

pool_status msm_bases_allocate(struct pool_bases *bases, const struct exec_target *target)
{
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = msm_bases_bytes(bases),
        .flags = POOL_BUFFER_DURABLE,
        .stream = target->stream,
        .lease = target->lease};
    pool_status status = pool_buffer_create(bases->device, &params, &bases->buffer);
    char name[128];

    if (status)
        return status;
    snprintf(name, sizeof(name), "%llu points of %s", (unsigned long long)bases->count,
        bases->curve->name);
    memory_buffer_set_owner(bases->buffer, DEVICE_DEPENDENT_BASES, name);
    return pool_buffer_address(bases->buffer, &bases->address);
}

static void free_host(struct pool_bases *bases)
{
    pool_curve_destroy(&bases->curve);
    base_free(bases);
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

    if (!device_usable(bases->device, DEVICE_USE_HOST))
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

void msm_bases_discard(void *handle)
{
    struct pool_bases *bases = handle;

    if (!release_reference(bases))
        return;
    if (bases->buffer)
        memory_discard(bases->buffer);
    free_host(bases);
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

/* Bases whose fingerprint is computed, and memory for a chunk of them in standard form. */
struct digest_job {
    const struct pool_bases *bases;
    struct base_sha256 *digest;
    pool_buffer *scratch;
    CUdeviceptr address; /* of the scratch memory */
    uint8_t *host;
};

static pool_status convert_to_standard(void *user, struct pipeline_chunk *chunk)
{
    const struct digest_job *job = user;
    const struct pool_bases *bases = job->bases;
    const pool_field *field = bases->curve->coordinates.field;
    const struct msm_run run = {.device = bases->device,
        .stream = chunk->target.stream,
        .curve = bases->curve,
        .slices = chunk->target.slices,
        .share = {.slice_ns = chunk->target.slice_ns}};
    uint64_t bytes = msm_affine_bytes(bases->curve), power[FIELD_MAX_LIMBS];
    int degree = field_device_degree(field);
    struct msm_input_bases source = {.data = bases->address + chunk->first * bytes,
        .stride = bytes / 4,
        .count = chunk->count,
        .layout = POOL_POINT_AFFINE,
        .converts = degree != 0};

    field_power_of_r(field, power, -degree);
    field_store_for_device(field, source.factor, power);
    return msm_convert_bases(&run, &source, job->address);
}

static pool_status digest_chunk(void *user, struct pipeline_chunk *chunk)
{
    const struct digest_job *job = user;
    uint64_t bytes = chunk->count * msm_affine_bytes(job->bases->curve);
    pool_status status = pool_copy_to_host(job->host, job->scratch, 0, bytes, chunk->target.stream);

    if (!status)
        status = pool_stream_synchronize(chunk->target.stream);
    if (!status)
        base_sha256_add(job->digest, job->host, (size_t)bytes);
    return status;
}

static pool_status digest_points(struct digest_job *job, const struct exec_target *target)
{
    static const pool_exec exec = {.struct_size = sizeof(exec)};
    const struct pool_bases *bases = job->bases;
    struct progress progress = {
        .call = "pool_bases_fingerprint", .exec = &exec, .total = bases->count};
    const struct pipeline pipeline = {.target = *target,
        .progress = &progress,
        .weight = 1,
        .count = bases->count,
        .chunk_items = MSM_BASES_CHUNK,
        .slots = 1,
        .compute = convert_to_standard,
        .download = digest_chunk,
        .user = job};

    msm_bases_digest_begin(bases, job->digest);
    return pipeline_run(&pipeline);
}

void msm_bases_digest_begin(const struct pool_bases *bases, struct base_sha256 *digest)
{
    uint8_t count[8];

    for (int i = 0; i < 8; i++)
        count[i] = (uint8_t)(bases->count >> 8 * i);
    base_sha256_add(digest, bases->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    base_sha256_add(digest, count, sizeof(count));
}

static pool_status compute_fingerprint(struct pool_bases *bases, uint8_t *fingerprint)
{
    uint64_t bytes = base_min(bases->count, MSM_BASES_CHUNK) * msm_affine_bytes(bases->curve);
    struct digest_job job = {
        .bases = bases, .digest = base_sha256_begin(), .host = base_calloc((size_t)bytes + 1, 1)};
    struct exec_target target = {.device = bases->device};
    pool_status status = pool_stream_default(bases->device, &target.stream);

    if (!status && (!job.digest || !job.host))
        status = base_fail_memory("the fingerprint of bases");
    if (!status)
        status = scratch_allocate(&target, bytes, &job.scratch, &job.address);
    if (!status)
        status = digest_points(&job, &target);
    status = scratch_free(&target, &job.scratch, status);
    if (job.digest) {
        struct base_error_copy first;
        base_error_save(&first);
        pool_status end = base_sha256_end(job.digest, fingerprint);
        if (status)
            base_error_restore(&first);
        status = status ? status : end;
    }
    base_free(job.host);
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
    status = device_check(bases->device, DEVICE_USE_HOST);
    if (status)
        return status;
    pthread_mutex_lock(&bases->list->lock);
    is_listed = bases->is_listed;
    pthread_mutex_unlock(&bases->list->lock);
    if (!is_listed) {
        int is_inside = device_begin_operation(bases->device);

        status = msm_bases_check(bases);
        if (!status)
            status = compute_fingerprint(bases, computed);
        device_end_operation(bases->device, is_inside);
        if (status)
            return status;
        msm_bases_set_fingerprint(bases, computed);
    }
    memcpy(fingerprint, bases->fingerprint, POOL_FINGERPRINT_BYTES);
    return POOL_OK;
}

/* With the process of their device. */
static bool has_ended(const struct pool_bases *bases)
{
    struct base_error_copy before;
    bool has_ended;

    base_error_save(&before);
    has_ended = msm_bases_check(bases) != POOL_OK;
    base_error_restore(&before);
    return has_ended;
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
                        memcmp(found->fingerprint, fingerprint, POOL_FINGERPRINT_BYTES) != 0 ||
                        has_ended(found)))
        found = found->next;
    pool_bases_retain(found);
    pthread_mutex_unlock(&list->lock);
    if (!found)
        return base_fail(POOL_ERR_NOT_FOUND,
            "pool_bases_find: the device has no bases with this fingerprint and factor");
    *bases = found;
    return POOL_OK;
}
