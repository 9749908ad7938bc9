/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as Go needs them: see shim.h.
 */
#include "shim.h"

#include <stdlib.h>

#include "_cgo_export.h"

pool_status go_keep(pool_status status, pool_error_slot *slot)
{
    if (status) {
        slot->struct_size = sizeof(*slot);
        (void)pool_error_read(slot);
    }
    return status;
}

static void report(void *user, uint64_t done, uint64_t total)
{
    goProgress((uint64_t)(uintptr_t)user, done, total);
}

static pool_exec exec_of(struct go_where where)
{
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = where.device,
        .lease = where.lease,
        .stream = where.stream,
        .cancel = where.cancel,
        .memory_limit = where.memory_limit,
        .checks = where.checks,
        .progress = where.progress ? report : NULL,
        .user = (void *)(uintptr_t)where.progress};

    return exec;
}

/* Fills `span` for items of that size. */
static pool_status span_of(
    const void *data, struct go_array array, size_t item_bytes, pool_span *span)
{
    *span = (pool_span){.data = (void *)(uintptr_t)data, .form = array.form};
    if (!item_bytes || array.bytes % item_bytes)
        return pool_error_set(
            POOL_ERR_INVALID_ARGUMENT, "the size of an array is no multiple of an item's");
    span->count = array.bytes / item_bytes;
    if (array.buffer)
        return pool_buffer_span(array.buffer, 0, span->count, array.form, span);
    return POOL_OK;
}

pool_status go_open(const char *devices, uint32_t slots, uint32_t min_devices, device_pool **pool,
    pool_error_slot *slot)
{
    pool_params params = {.struct_size = sizeof(params),
        .devices = devices,
        .slots = slots,
        .min_devices = min_devices};

    return go_keep(pool_create(pool, &params), slot);
}

struct choice {
    uint64_t filter;
    uint64_t score;
};

static int passes(void *user, const pool_candidate *candidate)
{
    const struct choice *choice = user;

    return goFilter(choice->filter, (pool_candidate *)candidate);
}

static double value(void *user, const pool_candidate *candidate)
{
    const struct choice *choice = user;

    return goScore(choice->score, (pool_candidate *)candidate);
}

pool_status go_pick(device_pool *pool, pool_policy policy, uint64_t min_free, uint64_t filter,
    uint64_t score, pool_device **device, pool_error_slot *slot)
{
    struct choice choice = {filter, score};
    pool_pick pick = {.struct_size = sizeof(pick),
        .policy = policy,
        .min_free_bytes = min_free,
        .filter = filter ? passes : NULL,
        .score = score ? value : NULL,
        .user = &choice};

    return go_keep(pool_pick_device(pool, &pick, device), slot);
}

/* A request that is not decided yet; the hook frees it. */
struct waiting {
    uint64_t handle;
    pool_error_slot slot;
};

static void granted(void *user, pool_ticket *ticket)
{
    struct waiting *waiting = user;
    pool_lease *lease = NULL;
    pool_status status = pool_ticket_take(ticket, &lease);

    (void)pool_ticket_destroy(&ticket);
    goGranted(waiting->handle, status, lease, &waiting->slot);
    free(waiting);
}

pool_status go_acquire(device_pool *pool, uint64_t bytes, uint32_t slots, uint32_t devices,
    int32_t priority, const char *label, pool_cancel *cancel, uint64_t handle,
    pool_error_slot *slot)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    pool_ticket *ticket; /* the hook destroys it, maybe before it is written here */
    pool_request request = {.struct_size = sizeof(request),
        .bytes = bytes,
        .slots = slots,
        .devices = devices,
        .priority = priority,
        .label = label,
        .timeout_ns = POOL_WAIT_FOREVER,
        .cancel = cancel};
    pool_status status;

    if (!waiting)
        return go_keep(
            pool_error_set(POOL_ERR_OUT_OF_HOST_MEMORY, "no memory for a request"), slot);
    waiting->handle = handle;
    waiting->slot.struct_size = sizeof(waiting->slot);
    request.error = &waiting->slot;
    status = pool_acquire_async(pool, &request, granted, waiting, &ticket);
    if (status)
        free(waiting); /* the hook is not called */
    return go_keep(status, slot);
}

pool_status go_alloc(pool_device *device, uint64_t bytes, uint32_t flags, pool_lease *lease,
    pool_buffer **buffer, pool_error_slot *slot)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .flags = flags, .lease = lease};

    return go_keep(pool_buffer_create(device, &params, buffer), slot);
}

pool_status go_compile(
    pool_device *device, const char *source, pool_module **module, pool_error_slot *slot)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = source};

    return go_keep(pool_module_compile(device, &params, module), slot);
}

#define MAX_ARGUMENTS 128

pool_status go_launch(pool_kernel *kernel, const pool_launch_shape *shape, const uint8_t *values,
    const uint32_t *sizes, uint32_t count, pool_stream *stream, pool_error_slot *slot)
{
    pool_launch_shape copy = *shape;
    void *pointers[MAX_ARGUMENTS];
    size_t bytes[MAX_ARGUMENTS];

    if (count > MAX_ARGUMENTS)
        return go_keep(
            pool_error_set(POOL_ERR_INVALID_ARGUMENT, "more than 128 arguments of a kernel"), slot);
    for (uint32_t i = 0; i < count; i++) {
        pointers[i] = (void *)(uintptr_t)(values + 16 * (size_t)i);
        bytes[i] = sizes[i];
    }
    copy.argument_count = count;
    copy.argument_bytes = bytes;
    return go_keep(pool_launch(kernel, &copy, pointers, stream), slot);
}

pool_status go_field(const char *modulus, pool_field **field, pool_error_slot *slot)
{
    pool_field_params params = {.struct_size = sizeof(params), .modulus = modulus};

    return go_keep(pool_field_create(&params, field), slot);
}

pool_status go_bases(const pool_curve *curve, uint32_t factor, struct go_where where,
    const void *points, struct go_array points_array, pool_bases **bases, pool_error_slot *slot)
{
    pool_bases_params params = {
        .struct_size = sizeof(params), .curve = curve, .precompute_factor = factor};
    pool_exec exec = exec_of(where);
    pool_span span;
    pool_status status =
        span_of(points, points_array, pool_point_bytes(curve, POOL_POINT_AFFINE), &span);

    if (!status)
        status = pool_bases_create(&params, &exec, &span, bases);
    return go_keep(status, slot);
}

pool_status go_msm(const pool_curve *curve, pool_bases *bases, uint64_t batch, int32_t shared,
    struct go_where where, const void *points, struct go_array points_array, const void *scalars,
    struct go_array scalars_array, void *results, struct go_array results_array,
    pool_error_slot *slot)
{
    pool_msm_params params = {.struct_size = sizeof(params),
        .curve = curve,
        .bases = bases,
        .batch = batch,
        .shared_bases = shared};
    pool_exec exec = exec_of(where);
    size_t size = pool_point_bytes(curve, POOL_POINT_AFFINE);
    pool_span from, factors, to;
    pool_status status = bases ? POOL_OK : span_of(points, points_array, size, &from);

    if (!status)
        status = span_of(scalars, scalars_array,
            pool_field_element_bytes(pool_curve_scalar_field(curve)), &factors);
    if (!status)
        status = span_of(results, results_array, size, &to);
    if (!status)
        status = pool_msm(&params, &exec, bases ? NULL : &from, &factors, &to);
    return go_keep(status, slot);
}

pool_status go_domain(
    const pool_field *field, uint32_t log_size, pool_ntt_domain **domain, pool_error_slot *slot)
{
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = log_size};

    return go_keep(pool_ntt_domain_create(&params, domain), slot);
}

pool_status go_ntt(pool_ntt_domain *domain, pool_ntt_direction direction, int32_t coset,
    pool_ntt_order order, pool_ntt_layout layout, uint64_t batch, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .direction = direction,
        .coset = coset,
        .order = order,
        .layout = layout,
        .batch = batch};
    pool_exec exec = exec_of(where);
    size_t size = pool_field_element_bytes(pool_ntt_domain_field(domain));
    pool_span from, to;
    pool_status status = span_of(in, in_array, size, &from);

    if (!status)
        status = span_of(out, out_array, size, &to);
    if (!status)
        status = pool_ntt(&params, &exec, &from, &to);
    return go_keep(status, slot);
}

static size_t element_bytes(const pool_poseidon *set)
{
    return pool_field_element_bytes(pool_poseidon_field(set));
}

static size_t digest_bytes(const pool_poseidon *set)
{
    return element_bytes(set) * pool_poseidon_digest_elements(set);
}

pool_status go_hash(const pool_poseidon *set, uint32_t elements, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot)
{
    pool_exec exec = exec_of(where);
    pool_span from, to;
    pool_status status = span_of(in, in_array, element_bytes(set) * elements, &from);

    if (!status)
        status = span_of(out, out_array, digest_bytes(set), &to);
    if (!status)
        status = pool_poseidon_hash(set, &exec, &from, elements, &to);
    return go_keep(status, slot);
}

pool_status go_permute(const pool_poseidon *set, struct go_where where, const void *in,
    struct go_array in_array, void *out, struct go_array out_array, pool_error_slot *slot)
{
    pool_exec exec = exec_of(where);
    size_t size = element_bytes(set) * pool_poseidon_width(set);
    pool_span from, to;
    pool_status status = span_of(in, in_array, size, &from);

    if (!status)
        status = span_of(out, out_array, size, &to);
    if (!status)
        status = pool_poseidon_permute(set, &exec, &from, &to);
    return go_keep(status, slot);
}

pool_status go_merkle_bytes(const pool_poseidon *set, uint32_t arity, uint64_t leaves,
    uint64_t *bytes, pool_error_slot *slot)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = arity};
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_status status = pool_merkle_get_shape(set, &params, leaves, &shape);

    *bytes = shape.bytes;
    return go_keep(status, slot);
}

pool_status go_merkle(const pool_poseidon *set, uint32_t arity, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = arity};
    pool_exec exec = exec_of(where);
    pool_span from, to;
    pool_status status = span_of(in, in_array, digest_bytes(set), &from);

    if (!status)
        status = span_of(out, out_array, digest_bytes(set), &to);
    if (!status)
        status = pool_poseidon_merkle_build(set, &exec, &params, &from, &to);
    return go_keep(status, slot);
}

pool_status go_vector(pool_vector_operation operation, const pool_field *field,
    struct go_where where, const void *scalar, const void *a, struct go_array a_array,
    const void *b, struct go_array b_array, void *out, struct go_array out_array,
    pool_error_slot *slot)
{
    pool_exec exec = exec_of(where);
    size_t size = pool_field_element_bytes(field);
    int has_two = operation == POOL_VECTOR_ADD || operation == POOL_VECTOR_SUB ||
                  operation == POOL_VECTOR_MUL;
    pool_span first, second, to;
    pool_status status = span_of(a, a_array, size, &first);

    if (!status && has_two)
        status = span_of(b, b_array, size, &second);
    if (!status)
        status = span_of(out, out_array, size, &to);
    if (status)
        return go_keep(status, slot);
    switch (operation) {
    case POOL_VECTOR_ADD:
        return go_keep(pool_vector_add(field, &exec, &first, &second, &to), slot);
    case POOL_VECTOR_SUB:
        return go_keep(pool_vector_sub(field, &exec, &first, &second, &to), slot);
    case POOL_VECTOR_MUL:
        return go_keep(pool_vector_mul(field, &exec, &first, &second, &to), slot);
    case POOL_VECTOR_SCALE:
        return go_keep(pool_vector_scale(field, &exec, scalar, &first, &to), slot);
    case POOL_VECTOR_INVERSE:
        return go_keep(pool_vector_inverse(field, &exec, &first, &to), slot);
    case POOL_VECTOR_BIT_REVERSE:
        return go_keep(pool_vector_bit_reverse(field, &exec, &first, &to), slot);
    default:
        return go_keep(pool_error_set(POOL_ERR_INVALID_ARGUMENT, "no operation of vectors"), slot);
    }
}

/* --- calls of C, with their detail --- */

pool_status go_close(device_pool **pool, pool_error_slot *slot)
{
    return go_keep(pool_destroy(pool), slot);
}

pool_status go_device_at(
    device_pool *pool, size_t index, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_device_at(pool, index, device), slot);
}

pool_status go_next_device(device_pool *pool, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_next_device(pool, device), slot);
}

pool_status go_best_device(device_pool *pool, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_best_device(pool, device), slot);
}

pool_status go_device_by_uuid(
    device_pool *pool, const char *uuid, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_device_by_uuid(pool, uuid, device), slot);
}

pool_status go_bound(device_pool *pool, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_bound_device(pool, device), slot);
}

pool_status go_health(device_pool *pool, pool_health_info *info, pool_error_slot *slot)
{
    return go_keep(pool_get_health(pool, info), slot);
}

pool_status go_info(pool_device *device, pool_device_info *info, pool_error_slot *slot)
{
    return go_keep(pool_device_get_info(device, info), slot);
}

pool_status go_synchronize(pool_device *device, pool_error_slot *slot)
{
    return go_keep(pool_device_synchronize(device), slot);
}

pool_status go_bind(pool_device *device, pool_error_slot *slot)
{
    return go_keep(pool_bind(device), slot);
}

pool_status go_unbind(pool_device *device, pool_error_slot *slot)
{
    return go_keep(pool_unbind(device), slot);
}

pool_status go_cancel(pool_cancel **cancel, pool_error_slot *slot)
{
    return go_keep(pool_cancel_create(cancel), slot);
}

pool_status go_release(pool_lease **lease, pool_error_slot *slot)
{
    return go_keep(pool_release(lease), slot);
}

pool_status go_lease_device(
    const pool_lease *lease, uint32_t index, pool_device **device, pool_error_slot *slot)
{
    return go_keep(pool_lease_device(lease, index, device), slot);
}

pool_status go_lease_info(const pool_lease *lease, pool_lease_info *info, pool_error_slot *slot)
{
    return go_keep(pool_lease_get_info(lease, info), slot);
}

pool_status go_lease_usage(
    const pool_lease *lease, uint32_t index, pool_lease_usage *usage, pool_error_slot *slot)
{
    return go_keep(pool_lease_get_usage(lease, index, usage), slot);
}

pool_status go_free(pool_buffer **buffer, pool_error_slot *slot)
{
    return go_keep(pool_buffer_destroy(buffer), slot);
}

pool_status go_slice(
    pool_buffer *buffer, uint64_t offset, uint64_t bytes, pool_buffer **part, pool_error_slot *slot)
{
    return go_keep(pool_buffer_slice(buffer, offset, bytes, part), slot);
}

pool_status go_write(
    pool_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes, pool_error_slot *slot)
{
    return go_keep(pool_copy_to_device(buffer, offset, from, bytes, NULL), slot);
}

pool_status go_read(
    const pool_buffer *buffer, uint64_t offset, void *to, uint64_t bytes, pool_error_slot *slot)
{
    return go_keep(pool_copy_to_host(to, buffer, offset, bytes, NULL), slot);
}

pool_status go_fill(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint8_t value, pool_error_slot *slot)
{
    return go_keep(pool_buffer_fill8(buffer, offset, count, value, NULL), slot);
}

pool_status go_address(const pool_buffer *buffer, CUdeviceptr *address, pool_error_slot *slot)
{
    return go_keep(pool_buffer_address(buffer, address), slot);
}

pool_status go_pinned(
    pool_device *device, uint64_t bytes, pool_pinned **pinned, pool_error_slot *slot)
{
    return go_keep(pool_pinned_create(device, bytes, 0, pinned), slot);
}

pool_status go_unpin(pool_pinned **pinned, pool_error_slot *slot)
{
    return go_keep(pool_pinned_destroy(pinned), slot);
}

pool_status go_stream(pool_device *device, pool_stream **stream, pool_error_slot *slot)
{
    return go_keep(pool_stream_create(device, NULL, stream), slot);
}

pool_status go_stream_close(pool_stream **stream, pool_error_slot *slot)
{
    return go_keep(pool_stream_destroy(stream), slot);
}

pool_status go_stream_wait(pool_stream *stream, pool_error_slot *slot)
{
    return go_keep(pool_stream_synchronize(stream), slot);
}

pool_status go_stream_query(pool_stream *stream, pool_error_slot *slot)
{
    return go_keep(pool_stream_query(stream), slot);
}

pool_status go_load(pool_device *device, const void *image, size_t size, pool_module **module,
    pool_error_slot *slot)
{
    return go_keep(pool_module_load(device, image, size, module), slot);
}

pool_status go_unload(pool_module **module, pool_error_slot *slot)
{
    return go_keep(pool_module_destroy(module), slot);
}

pool_status go_kernel(
    pool_module *module, const char *name, pool_kernel **kernel, pool_error_slot *slot)
{
    return go_keep(pool_kernel_get(module, name, kernel), slot);
}

pool_status go_modulus(const pool_field *field, void *to, pool_error_slot *slot)
{
    return go_keep(pool_field_modulus(field, to), slot);
}

pool_status go_root(const pool_field *field, uint32_t log, void *to, pool_error_slot *slot)
{
    return go_keep(pool_field_root_of_unity(field, NULL, log, POOL_FORM_STANDARD, to), slot);
}

pool_status go_random(
    const pool_field *field, uint64_t seed, size_t count, void *to, pool_error_slot *slot)
{
    return go_keep(pool_random_scalars(field, seed, count, POOL_FORM_STANDARD, to), slot);
}

pool_status go_montgomery(
    const pool_field *field, const void *from, size_t count, void *to, pool_error_slot *slot)
{
    return go_keep(pool_field_to_montgomery(field, from, count, to), slot);
}

pool_status go_point_add(
    const pool_curve *curve, const void *p, const void *q, void *to, pool_error_slot *slot)
{
    return go_keep(pool_point_add(curve, NULL, p, q, to), slot);
}

pool_status go_point_mul(const pool_curve *curve, const void *p, const void *scalar, size_t bytes,
    void *to, pool_error_slot *slot)
{
    return go_keep(pool_point_mul(curve, NULL, p, scalar, bytes, to), slot);
}

pool_status go_random_points(const pool_curve *curve, uint64_t seed, size_t count, void *points,
    void *scalars, pool_error_slot *slot)
{
    return go_keep(pool_random_points(curve, seed, count, NULL, points, scalars), slot);
}

pool_status go_encode(const pool_curve *curve, const void *points, size_t count,
    pool_encoding encoding, void *to, pool_error_slot *slot)
{
    return go_keep(pool_points_encode(curve, NULL, points, count, encoding, 0, to), slot);
}

pool_status go_decode(const pool_curve *curve, const void *from, size_t count,
    pool_encoding encoding, void *to, pool_error_slot *slot)
{
    return go_keep(
        pool_points_decode(curve, encoding, 0, from, count, POOL_CHECK_SUBGROUP, NULL, to), slot);
}

pool_status go_free_bases(pool_bases **bases, pool_error_slot *slot)
{
    return go_keep(pool_bases_destroy(bases), slot);
}

pool_status go_free_domain(pool_ntt_domain **domain, pool_error_slot *slot)
{
    return go_keep(pool_ntt_domain_destroy(domain), slot);
}

pool_status go_poseidon(const char *name, pool_poseidon **set, pool_error_slot *slot)
{
    return go_keep(pool_poseidon_by_name(name, set), slot);
}

pool_status go_shape(uint64_t items, pool_launch_shape *shape, pool_error_slot *slot)
{
    *shape = (pool_launch_shape){.struct_size = sizeof(*shape)};
    return go_keep(pool_launch_shape_for(items, shape), slot);
}

/* Built-in fields and curves are static: the reference is not counted. */
pool_status go_named_field(const char *name, pool_field **field, pool_error_slot *slot)
{
    *field = pool_field_retain(pool_field_by_name(name));
    return *field ? POOL_OK : go_keep(pool_last_error()->status, slot);
}

pool_status go_named_curve(const char *name, pool_curve **curve, pool_error_slot *slot)
{
    *curve = pool_curve_retain(pool_curve_by_name(name));
    return *curve ? POOL_OK : go_keep(pool_last_error()->status, slot);
}
