/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as Go needs them. Each fills `slot` in the same call when it fails, so that no goroutine
 * has to stay on its thread; memory of Go is an argument of its own, never behind a pointer in
 * memory of Go.
 */
#ifndef DEVICEPOOL_GO_SHIM_H
#define DEVICEPOOL_GO_SHIM_H

#include <devicepool.h>

/* Where an operation runs. `progress` is a handle of Go, 0: none. */
struct go_where {
    pool_device *device;
    pool_lease *lease;
    pool_stream *stream;
    pool_cancel *cancel;
    uint64_t memory_limit;
    uint64_t progress;
    uint32_t checks;
};

/* What describes an array besides its address: a buffer, or the bytes at that address. */
struct go_array {
    pool_buffer *buffer;
    uint64_t bytes;
    pool_form form;
};

pool_status go_keep(pool_status status, pool_error_slot *slot);

pool_status go_open(const char *devices, uint32_t slots, uint32_t min_devices, device_pool **pool,
    pool_error_slot *slot);
pool_status go_pick(device_pool *pool, pool_policy policy, uint64_t min_free, uint64_t filter,
    uint64_t score, pool_device **device, pool_error_slot *slot);
pool_status go_acquire(device_pool *pool, uint64_t bytes, uint32_t slots, uint32_t devices,
    int32_t priority, const char *label, pool_cancel *cancel, uint64_t handle,
    pool_error_slot *slot);
pool_status go_alloc(pool_device *device, uint64_t bytes, uint32_t flags, pool_lease *lease,
    pool_buffer **buffer, pool_error_slot *slot);
pool_status go_compile(
    pool_device *device, const char *source, pool_module **module, pool_error_slot *slot);
pool_status go_launch(pool_kernel *kernel, const pool_launch_shape *shape, const uint8_t *values,
    const uint32_t *sizes, uint32_t count, pool_stream *stream, pool_error_slot *slot);
pool_status go_field(const char *modulus, pool_field **field, pool_error_slot *slot);
pool_status go_bases(const pool_curve *curve, uint32_t factor, struct go_where where,
    const void *points, struct go_array points_array, pool_bases **bases, pool_error_slot *slot);
pool_status go_msm(const pool_curve *curve, pool_bases *bases, uint64_t batch, int32_t shared,
    struct go_where where, const void *points, struct go_array points_array, const void *scalars,
    struct go_array scalars_array, void *results, struct go_array results_array,
    pool_error_slot *slot);
pool_status go_domain(
    const pool_field *field, uint32_t log_size, pool_ntt_domain **domain, pool_error_slot *slot);
pool_status go_ntt(pool_ntt_domain *domain, pool_ntt_direction direction, int32_t coset,
    pool_ntt_order order, pool_ntt_layout layout, uint64_t batch, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot);
pool_status go_hash(const pool_poseidon *set, uint32_t elements, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot);
pool_status go_permute(const pool_poseidon *set, struct go_where where, const void *in,
    struct go_array in_array, void *out, struct go_array out_array, pool_error_slot *slot);
pool_status go_merkle_bytes(const pool_poseidon *set, uint32_t arity, uint64_t leaves,
    uint64_t *bytes, pool_error_slot *slot);
pool_status go_merkle(const pool_poseidon *set, uint32_t arity, struct go_where where,
    const void *in, struct go_array in_array, void *out, struct go_array out_array,
    pool_error_slot *slot);
pool_status go_vector(pool_vector_operation operation, const pool_field *field,
    struct go_where where, const void *scalar, const void *a, struct go_array a_array,
    const void *b, struct go_array b_array, void *out, struct go_array out_array,
    pool_error_slot *slot);

/* Calls of C, with their detail. */
pool_status go_close(device_pool **pool, pool_error_slot *slot);
pool_status go_device_at(
    device_pool *pool, size_t index, pool_device **device, pool_error_slot *slot);
pool_status go_next_device(device_pool *pool, pool_device **device, pool_error_slot *slot);
pool_status go_best_device(device_pool *pool, pool_device **device, pool_error_slot *slot);
pool_status go_device_by_uuid(
    device_pool *pool, const char *uuid, pool_device **device, pool_error_slot *slot);
pool_status go_bound(device_pool *pool, pool_device **device, pool_error_slot *slot);
pool_status go_health(device_pool *pool, pool_health_info *info, pool_error_slot *slot);
pool_status go_info(pool_device *device, pool_device_info *info, pool_error_slot *slot);
pool_status go_synchronize(pool_device *device, pool_error_slot *slot);
pool_status go_bind(pool_device *device, pool_error_slot *slot);
pool_status go_unbind(pool_device *device, pool_error_slot *slot);
pool_status go_cancel(pool_cancel **cancel, pool_error_slot *slot);
pool_status go_release(pool_lease **lease, pool_error_slot *slot);
pool_status go_lease_device(
    const pool_lease *lease, uint32_t index, pool_device **device, pool_error_slot *slot);
pool_status go_lease_info(const pool_lease *lease, pool_lease_info *info, pool_error_slot *slot);
pool_status go_lease_usage(
    const pool_lease *lease, uint32_t index, pool_lease_usage *usage, pool_error_slot *slot);
pool_status go_free(pool_buffer **buffer, pool_error_slot *slot);
pool_status go_slice(pool_buffer *buffer, uint64_t offset, uint64_t bytes, pool_buffer **part,
    pool_error_slot *slot);
pool_status go_write(
    pool_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes, pool_error_slot *slot);
pool_status go_read(
    const pool_buffer *buffer, uint64_t offset, void *to, uint64_t bytes, pool_error_slot *slot);
pool_status go_fill(
    pool_buffer *buffer, uint64_t offset, uint64_t count, uint8_t value, pool_error_slot *slot);
pool_status go_address(const pool_buffer *buffer, CUdeviceptr *address, pool_error_slot *slot);
pool_status go_pinned(
    pool_device *device, uint64_t bytes, pool_pinned **pinned, pool_error_slot *slot);
pool_status go_unpin(pool_pinned **pinned, pool_error_slot *slot);
pool_status go_stream(pool_device *device, pool_stream **stream, pool_error_slot *slot);
pool_status go_stream_close(pool_stream **stream, pool_error_slot *slot);
pool_status go_stream_wait(pool_stream *stream, pool_error_slot *slot);
pool_status go_stream_query(pool_stream *stream, pool_error_slot *slot);
pool_status go_load(pool_device *device, const void *image, size_t size, pool_module **module,
    pool_error_slot *slot);
pool_status go_unload(pool_module **module, pool_error_slot *slot);
pool_status go_kernel(
    pool_module *module, const char *name, pool_kernel **kernel, pool_error_slot *slot);
pool_status go_modulus(const pool_field *field, void *to, pool_error_slot *slot);
pool_status go_root(const pool_field *field, uint32_t log, void *to, pool_error_slot *slot);
pool_status go_random(
    const pool_field *field, uint64_t seed, size_t count, void *to, pool_error_slot *slot);
pool_status go_montgomery(
    const pool_field *field, const void *from, size_t count, void *to, pool_error_slot *slot);
pool_status go_point_add(
    const pool_curve *curve, const void *p, const void *q, void *to, pool_error_slot *slot);
pool_status go_point_mul(const pool_curve *curve, const void *p, const void *scalar, size_t bytes,
    void *to, pool_error_slot *slot);
pool_status go_random_points(const pool_curve *curve, uint64_t seed, size_t count, void *points,
    void *scalars, pool_error_slot *slot);
pool_status go_encode(const pool_curve *curve, const void *points, size_t count,
    pool_encoding encoding, void *to, pool_error_slot *slot);
pool_status go_decode(const pool_curve *curve, const void *from, size_t count,
    pool_encoding encoding, void *to, pool_error_slot *slot);
pool_status go_free_bases(pool_bases **bases, pool_error_slot *slot);
pool_status go_free_domain(pool_ntt_domain **domain, pool_error_slot *slot);
pool_status go_poseidon(const char *name, pool_poseidon **set, pool_error_slot *slot);
pool_status go_shape(uint64_t items, pool_launch_shape *shape, pool_error_slot *slot);
pool_status go_named_field(const char *name, pool_field **field, pool_error_slot *slot);
pool_status go_named_curve(const char *name, pool_curve **curve, pool_error_slot *slot);

#endif
