/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public function beside a kernel that does not end, on another stream of the same device: it
 * returns, within 50 ms and the time of its own kernels, except for those of beside_exceptions.def.
 * The list of functions is generated from the headers; one that is in no table fails the test. On
 * simulated devices, which wait where a GPU does, or on the devices that are named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/clock.h"
#include "support/needs_compiler.h"

enum {
    BYTES = 3 << 20, /* more than a small staging slot */
    ITEMS = 64,
    ELEMENT = 32,
    SPARES = 8,
    TRIES = 6 /* other programs may delay a call */
};
#define LIMIT_NS UINT64_C(50000000)
#define GIVE_UP_S 20

extern char **environ;

static const char *devices = "sim:2,mem=1G";

static const char ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .entry count(.param .u64 out)\n{\n"
    "\t.reg .u64 %p;\n\tld.param.u64 %p, [out];\n\tred.global.add.u32 [%p], 1;\n\tret;\n}\n"
    ".visible .entry wait_for(.param .u64 flag)\n{\n"
    "\t.reg .u64 %p;\n\t.reg .u32 %v;\n\t.reg .pred %is_zero;\n\tld.param.u64 %p, [flag];\n"
    "again:\n\tld.volatile.global.u32 %v, [%p];\n\tsetp.eq.u32 %is_zero, %v, 0;\n"
    "\t@%is_zero bra again;\n\tret;\n}\n";

static struct {
    device_pool *pool;
    pool_device *device, *peer; /* peer NULL: there is one device */
    pool_stream *hung, *stream;
    pool_buffer *busy; /* of the work that does not end */
    pool_kernel *wait_for;
    pool_pinned *flag; /* on a GPU: of the kernel that does not end */
    pool_buffer *buffer, *other;
    pool_event *event, *start;
    pool_buffer *shareable;
    pool_event *shareable_event;
    pool_pinned *pinned;
    pool_module *module, *spares[SPARES];
    unsigned spare;
    pool_kernel *kernel;
    unsigned char *data;
    const pool_field *field;
    pool_ntt_domain *domain;
    pool_poseidon *hash;
    const pool_curve *curve;
    unsigned char *points, *scalars, *elements, *results;
    const pool_field *extension; /* a small field's, for commitments and FRI */
    pool_ntt_domain *small_domain, *point_domain;
    pool_poseidon *small_hash;
    unsigned char *small;
    pool_bases *bases;
} with;

/* What cannot be destroyed beside the kernel, until the end. */
enum { KEPT = 16 };
static struct {
    pool_pinned *pinned[KEPT];
    void *memory[KEPT];
    pool_range *ranges[KEPT];
    device_pool *pools[KEPT];
    pool_buffer *opened[KEPT];
    unsigned pinned_count, range_count, pool_count, opened_count;
} kept;

/* Another process, which shares memory and an event of the same device until its input ends. */
static struct {
    const char *program;
    pid_t pid;
    int input;
    struct {
        pool_shared_buffer buffer;
        pool_shared_event event;
    } shares;
} owner;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        pool_status try_status = (call);                                                           \
        if (try_status)                                                                            \
            return try_status;                                                                     \
    } while (0)

/* ---- memory ---------------------------------------------------------------------------------- */

static pool_status buffers(void)
{
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = BYTES,
        .flags = POOL_BUFFER_ZEROED,
        .stream = with.stream};
    const pool_buffer_params secret = {
        .struct_size = sizeof(secret), .bytes = 4096, .flags = POOL_BUFFER_SECRET};
    pool_buffer *buffer = NULL, *slice = NULL;
    CUdeviceptr address;

    TRY(pool_buffer_alloc(with.device, BYTES, &buffer));
    TRY(pool_buffer_slice(buffer, 8, 64, &slice));
    TRY(pool_buffer_destroy(&slice));
    TRY(pool_buffer_destroy(&buffer));
    TRY(pool_buffer_zeroed(with.device, BYTES, &buffer));
    TRY(pool_buffer_destroy(&buffer));
    TRY(pool_buffer_from_host(with.device, with.data, BYTES, &buffer));
    TRY(pool_buffer_destroy(&buffer));
    TRY(pool_buffer_create(with.device, &params, &buffer));
    TRY(pool_buffer_destroy_on(&buffer, with.stream));
    TRY(pool_buffer_create(with.device, &secret, &buffer));
    TRY(pool_buffer_destroy(&buffer));
    TRY(pool_buffer_address(with.buffer, &address));
    TRY(pool_buffer_adopt(with.device, address, BYTES, &buffer));
    return pool_buffer_destroy(&buffer);
}

static pool_status fills(void)
{
    TRY(pool_buffer_fill8(with.buffer, 0, 64, 1, with.stream));
    TRY(pool_buffer_fill16(with.buffer, 0, 64, 1, with.stream));
    TRY(pool_buffer_fill32(with.buffer, 0, 64, 1, with.stream));
    return pool_buffer_fill8(with.buffer, 0, 64, 1, NULL);
}

/* Pageable memory of every way, with and without a stream. */
static pool_status copies_to_device(void)
{
    static const uint64_t sizes[] = {32, 64 << 10, 200 << 10, BYTES};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        TRY(pool_copy_to_device(with.buffer, 0, with.data, sizes[i], with.stream));
        TRY(pool_copy_to_device(with.buffer, 0, with.data, sizes[i], NULL));
    }
    return pool_copy_to_device(with.buffer, 0, pool_pinned_data(with.pinned), 4096, with.stream);
}

static pool_status copies_to_host(void)
{
    static const uint64_t sizes[] = {32, 1024, 200 << 10, BYTES};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        TRY(pool_copy_to_host(with.data, with.buffer, 0, sizes[i], with.stream));
        TRY(pool_copy_to_host(with.data, with.buffer, 0, sizes[i], NULL));
    }
    return pool_copy_to_host(pool_pinned_data(with.pinned), with.buffer, 0, 4096, with.stream);
}

static pool_status copies_on_device(void)
{
    TRY(pool_copy_device(with.other, 0, with.buffer, 0, BYTES, with.stream));
    TRY(pool_copy_device(with.buffer, 1, with.buffer, 0, BYTES / 2, with.stream));
    return pool_copy_device(with.other, 0, with.buffer, 0, BYTES, NULL);
}

static pool_status copies_of_rows(void)
{
    const pool_pitched device = {.buffer = with.buffer, .pitch = 128};
    const pool_pitched host = {.host = with.data, .pitch = 100};

    TRY(pool_copy_2d(&device, &host, 64, 1000, with.stream));
    TRY(pool_copy_2d(&host, &device, 64, 1000, with.stream));
    return pool_copy_2d(&host, &device, 64, 20000, NULL);
}

static pool_status pinned_memory(void)
{
    pool_pinned *pinned = NULL;
    void *memory;

    TRY(pool_pinned_create(with.device, 1 << 20, 0, &pinned));
    TRY(pool_pinned_destroy(&pinned));
    memory = aligned_alloc(4096, 1 << 20); /* it stays registered: see the exceptions */
    if (!memory || kept.pinned_count == KEPT)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    kept.memory[kept.pinned_count] = memory;
    return pool_pinned_register(with.device, memory, 1 << 20, 0, &kept.pinned[kept.pinned_count++]);
}

static pool_status memory_information(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    CUmemoryPool pool;

    TRY(pool_memory_get_info(with.device, &info));
    TRY(pool_memory_reset_high_water(with.device));
    TRY(pool_memory_set_threshold(with.device, UINT64_MAX));
    TRY(pool_pinned_set_threshold(with.device, 256 << 20));
    TRY(pool_memory_handle(with.device, &pool));
    return with.peer ? pool_device_enable_peer(with.device, with.peer) : POOL_OK;
}

static pool_status virtual_memory(void)
{
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;
    uint64_t unit;

    TRY(pool_virtual_granularity(with.device, &unit));
    TRY(pool_physical_create(with.device, unit, 0, &physical));
    TRY(pool_range_reserve(with.device, 2 * unit, &range));
    kept.ranges[kept.range_count++ % KEPT] = range;
    TRY(pool_range_map(range, 0, physical));
    TRY(pool_physical_destroy(&physical));
    TRY(pool_range_grant_access(range, &with.device, 1));
    TRY(pool_range_buffer(range, 0, unit, &buffer));
    return pool_buffer_destroy(&buffer); /* the range is kept: see the exceptions */
}

static pool_status shared_memory(void)
{
    pool_physical *physical = NULL, *imported = NULL;
    pool_shared_buffer shared;
    pool_shared_event event;
    int descriptor;
    uint64_t unit;

    TRY(pool_buffer_share(with.shareable, &shared));
    TRY(pool_event_share(with.shareable_event, &event));
    TRY(pool_virtual_granularity(with.device, &unit));
    TRY(pool_physical_create(with.device, unit, POOL_PHYSICAL_EXPORTABLE, &physical));
    TRY(pool_physical_export(physical, &descriptor));
    TRY(pool_physical_import(with.device, descriptor, unit, &imported));
    close(descriptor);
    TRY(pool_physical_destroy(&imported));
    return pool_physical_destroy(&physical);
}

/* ---- streams, events, graphs ----------------------------------------------------------------- */

static void nothing(void *user)
{
    (void)user;
}

static pool_status streams(void)
{
    pool_stream *stream = NULL, *wrapped = NULL;
    CUstream handle;
    int32_t least, most;
    uint32_t flags;

    TRY(pool_stream_get_priority_range(with.device, &least, &most));
    TRY(pool_stream_create(with.device, NULL, &stream));
    TRY(pool_stream_handle(stream, &handle));
    TRY(pool_stream_adopt(with.device, handle, &wrapped));
    TRY(pool_stream_destroy(&wrapped));
    TRY(pool_stream_get_priority(stream, &least));
    TRY(pool_stream_get_flags(stream, &flags));
    TRY(pool_stream_fork(with.stream, &stream, 1));
    TRY(pool_stream_join(with.stream, &stream, 1));
    TRY(pool_stream_call(stream, nothing, NULL));
    TRY(pool_stream_synchronize(stream));
    TRY(pool_stream_wait(stream, 1000000000));
    TRY(pool_stream_query(stream));
    TRY(pool_stream_destroy(&stream));
    TRY(pool_stream_default(with.device, &stream));
    return pool_stream_synchronize(stream);
}

static pool_status events(void)
{
    pool_event *event = NULL;
    CUevent handle;
    double milliseconds;

    TRY(pool_event_create(with.device, 0, &event));
    TRY(pool_event_handle(event, &handle));
    TRY(pool_event_destroy(&event));
    TRY(pool_event_record(with.start, with.stream));
    TRY(pool_event_record(with.event, with.stream));
    TRY(pool_stream_wait_event(with.stream, with.start));
    TRY(pool_event_synchronize(with.event));
    TRY(pool_event_wait(with.event, 1000000000));
    TRY(pool_event_query(with.event));
    return pool_event_elapsed(with.start, with.event, &milliseconds);
}

static pool_status graphs(void)
{
    pool_graph *graph = NULL;

    TRY(pool_stream_begin_capture(with.stream));
    TRY(pool_buffer_fill8(with.buffer, 0, 64, 2, with.stream));
    TRY(pool_stream_end_capture(with.stream, &graph));
    TRY(pool_graph_launch(graph, with.stream));
    TRY(pool_stream_begin_capture(with.stream));
    TRY(pool_buffer_fill8(with.buffer, 0, 64, 3, with.stream));
    TRY(pool_graph_update(graph, with.stream));
    TRY(pool_graph_launch(graph, with.stream));
    TRY(pool_stream_synchronize(with.stream));
    return pool_graph_destroy(&graph);
}

/* ---- modules --------------------------------------------------------------------------------- */

static pool_status launches(void)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    CUdeviceptr address;
    void *arguments[] = {&address};

    TRY(pool_buffer_address(with.buffer, &address));
    TRY(pool_launch_shape_for(32, &shape));
    shape.argument_count = 1;
    TRY(pool_launch(with.kernel, &shape, arguments, with.stream));
    TRY(pool_stream_synchronize(with.stream));
    return pool_launch(with.kernel, &shape, arguments, NULL);
}

static pool_status kernels(void)
{
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_kernel *kernel;
    CUmodule module;
    CUfunction function;
    CUdeviceptr address;
    uint64_t offset, bytes;
    uint32_t threads, blocks;
    int32_t percent;

    TRY(pool_kernel_get(with.module, "count", &kernel));
    TRY(pool_kernel_get_info(kernel, &info));
    TRY(pool_kernel_get_parameter(kernel, 0, &offset, &bytes));
    TRY(pool_kernel_get_carveout(kernel, &percent));
    TRY(pool_kernel_set_carveout(kernel, 50));
    TRY(pool_kernel_get_occupancy(kernel, 128, 0, &blocks));
    TRY(pool_kernel_get_best_block(kernel, 0, &threads, &blocks));
    TRY(pool_kernel_handle(kernel, &function));
    TRY(pool_module_handle(with.module, &module));
    return pool_module_variable(with.module, "counter", &address, &bytes);
}

/* Simulated devices have no clusters, and say so without a wait. */
static pool_status clusters(void)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}};
    uint32_t largest, resident;
    pool_status status = pool_kernel_get_clusters(with.kernel, &shape, &largest, &resident);

    return status == POOL_ERR_UNSUPPORTED ? POOL_OK : status;
}

static pool_status module_destroy(void)
{
    return pool_module_destroy(&with.spares[with.spare++]);
}

/* ---- the pool, its devices, leases ----------------------------------------------------------- */

static pool_status run(pool_device *device, void *user)
{
    (void)device;
    (void)user;
    return POOL_OK;
}

static pool_status choices(void)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device *device;
    CUdeviceptr address;
    char *text = NULL;

    TRY(pool_next_device(with.pool, &device));
    TRY(pool_best_device(with.pool, &device));
    TRY(pool_pick_device(with.pool, NULL, &device));
    TRY(pool_bind(with.device));
    TRY(pool_bound_device(with.pool, &device));
    TRY(pool_check_device(with.pool, 0));
    TRY(pool_unbind(with.device));
    TRY(pool_run_on(with.device, run, NULL));
    TRY(pool_buffer_address(with.buffer, &address));
    TRY(pool_pointer_device(with.pool, (const void *)(uintptr_t)address, &device));
    TRY(pool_get_health(with.pool, &health));
    TRY(pool_describe(with.pool, POOL_TEXT_JSON, &text));
    pool_text_free(&text);
    return POOL_OK;
}

static pool_status device_information(void)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_peer_info peer = {.struct_size = sizeof(peer)};
    char *text = NULL;
    CUdevice handle;
    CUcontext context;
    uint64_t value;

    TRY(pool_device_get_info(with.device, &info));
    if (with.peer)
        TRY(pool_device_get_peer(with.device, with.peer, &peer));
    TRY(pool_device_handle(with.device, &handle));
    TRY(pool_device_context(with.device, &context));
    TRY(pool_device_get_limit(with.device, POOL_LIMIT_STACK, &value));
    TRY(pool_device_get_rate(with.device, &value));
    TRY(pool_device_describe(with.device, POOL_TEXT_PLAIN, &text));
    pool_text_free(&text);
    TRY(pool_device_drain(with.device));
    TRY(pool_device_resume(with.device));
    TRY(pool_metrics(with.pool, POOL_METRICS_JSON, &text));
    pool_text_free(&text);
    return POOL_OK;
}

static pool_status leases(void)
{
    pool_request request = {.struct_size = sizeof(request), .bytes = 1 << 20};
    pool_lease_counts counts = {.struct_size = sizeof(counts)};
    pool_lease_info info = {.struct_size = sizeof(info)};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_lease *lease = NULL;
    pool_ticket *ticket = NULL;
    pool_device *device;
    pool_stream *stream;

    request.device = with.device;
    TRY(pool_acquire(with.pool, &request, &lease));
    TRY(pool_lease_device(lease, 0, &device));
    TRY(pool_lease_stream(lease, 0, &stream));
    TRY(pool_buffer_fill8(with.buffer, 0, 64, 2, stream));
    TRY(pool_lease_get_info(lease, &info));
    TRY(pool_lease_get_usage(lease, 0, &usage));
    TRY(pool_release(&lease));
    TRY(pool_acquire_async(with.pool, &request, NULL, NULL, &ticket));
    TRY(pool_ticket_take(ticket, &lease));
    TRY(pool_ticket_destroy(&ticket));
    TRY(pool_release(&lease));
    return pool_get_lease_counts(with.pool, &counts);
}

static pool_status another_pool(void)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};

    if (kept.pool_count == KEPT)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    return pool_create(&kept.pools[kept.pool_count++], &params);
}

static pool_status probe(void)
{
    return pool_device_probe(with.device, UINT64_C(20000000000));
}

static pool_status quarantine(void)
{
    pool_device *device = with.peer ? with.peer : with.device;

    TRY(pool_device_quarantine(device, "a test"));
    TRY(pool_device_probe(device, UINT64_C(20000000000)));
    return pool_device_resume(device);
}

static pool_status readmission(void)
{
    return pool_device_readmit(with.device); /* which is not lost: those have no other work */
}

/* Of the whole pool, the device of the kernel included. */
static pool_status rates(void)
{
    return pool_measure_rates(with.pool);
}

/* What is opened stays open: see the exceptions. */
static pool_status memory_of_a_process(void)
{
    pool_event *event = NULL;

    if (kept.opened_count == KEPT)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    TRY(pool_buffer_open(with.device, &owner.shares.buffer, &kept.opened[kept.opened_count++]));
    TRY(pool_event_open(with.device, &owner.shares.event, &event));
    return pool_event_destroy(&event);
}

/* ---- operations, after their warm-up --------------------------------------------------------- */

static pool_exec exec_on(pool_stream *stream)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .device = with.device, .stream = stream};
}

static pool_span span_of(void *data, uint64_t count)
{
    return (pool_span){.data = data, .count = count};
}

static pool_status vectors(void)
{
    const pool_exec exec = exec_on(with.stream);
    const pool_span a = span_of(with.elements, ITEMS), out = span_of(with.results, ITEMS);
    uint64_t bytes;

    TRY(pool_vector_workspace(with.field, &exec, POOL_VECTOR_ADD, &a, &a, &out, &bytes));
    TRY(pool_vector_add(with.field, &exec, &a, &a, &out));
    TRY(pool_vector_sub(with.field, &exec, &a, &a, &out));
    TRY(pool_vector_mul(with.field, &exec, &a, &a, &out));
    TRY(pool_vector_scale(with.field, &exec, with.elements, &a, &out));
    TRY(pool_vector_inverse(with.field, &exec, &a, &out));
    TRY(pool_vector_bit_reverse(with.field, &exec, &a, &out));
    TRY(pool_vector_transpose(with.field, &exec, 4, ITEMS / 4, &a, &out));
    TRY(pool_vector_powers(with.field, &exec, with.elements, &out));
    return pool_vector_evaluate(with.field, &exec, &a, with.elements, with.results);
}

static pool_status transforms(void)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = with.domain};
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.elements, ITEMS), out = span_of(with.results, ITEMS);
    uint64_t bytes;

    TRY(pool_ntt_workspace(&params, &exec, &in, &out, &bytes));
    return pool_ntt(&params, &exec, &in, &out);
}

static pool_status hashes(void)
{
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.elements, ITEMS / 2), out = span_of(with.results, ITEMS / 2);
    const pool_span states = span_of(with.elements, ITEMS / 4),
                    permuted = span_of(with.results, ITEMS / 4);
    uint64_t bytes;

    TRY(pool_poseidon_hash_workspace(with.hash, &exec, &in, 2, &out, &bytes));
    TRY(pool_poseidon_permute_workspace(with.hash, &exec, &states, &permuted, &bytes));
    TRY(pool_poseidon_hash(with.hash, &exec, &in, 2, &out));
    return pool_poseidon_permute(with.hash, &exec, &states, &permuted);
}

static pool_status trees(void)
{
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    const pool_exec exec = exec_on(with.stream);
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span leaves = span_of(with.elements, ITEMS), levels, path;
    unsigned char *nodes = with.results;
    uint64_t bytes;

    TRY(pool_merkle_get_shape(with.hash, &params, ITEMS, &shape));
    levels = span_of(nodes, shape.digest_count);
    path = span_of(nodes + shape.bytes, shape.path_count);
    TRY(pool_poseidon_merkle_build_workspace(with.hash, &exec, &params, &leaves, &levels, &bytes));
    TRY(pool_poseidon_merkle_open_workspace(
        with.hash, &exec, &params, ITEMS, &leaves, &levels, 5, &path, &bytes));
    TRY(pool_poseidon_merkle_build(with.hash, &exec, &params, &leaves, &levels));
    return pool_poseidon_merkle_open(with.hash, &exec, &params, ITEMS, &leaves, &levels, 5, &path);
}

static pool_status sums(void)
{
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = with.curve};
    const pool_exec exec = exec_on(with.stream);
    const pool_span points = span_of(with.points, ITEMS), scalars = span_of(with.scalars, ITEMS),
                    result = span_of(with.results, 1);
    uint64_t bytes;

    TRY(pool_msm_workspace(&params, &exec, &points, &scalars, &result, &bytes));
    return pool_msm(&params, &exec, &points, &scalars, &result);
}

static pool_status sums_over_bases(void)
{
    const pool_msm_params params = {.struct_size = sizeof(params), .bases = with.bases};
    const pool_exec exec = exec_on(with.stream);
    const pool_span scalars = span_of(with.scalars, ITEMS), result = span_of(with.results, 1);

    return pool_msm(&params, &exec, NULL, &scalars, &result);
}

static pool_status joint_sums(void)
{
    const pool_msm_joint_params params = {.struct_size = sizeof(params)};
    const pool_exec exec = exec_on(with.stream);
    const pool_span result = span_of(with.results, 1);
    const pool_msm_term terms[] = {{.bases = with.bases, .scalars = span_of(with.scalars, ITEMS)},
        {.bases = with.bases, .scalars = span_of(with.scalars, ITEMS / 2)}};
    uint64_t bytes;

    TRY(pool_msm_joint_workspace(&params, &exec, terms, 2, &result, &bytes));
    return pool_msm_joint(&params, &exec, terms, 2, &result);
}

static pool_status bases(void)
{
    const pool_bases_params params = {.struct_size = sizeof(params), .curve = with.curve};
    const pool_exec exec = exec_on(with.stream);
    const pool_span points = span_of(with.points, ITEMS);
    pool_bases *made = NULL;
    uint64_t bytes, more;

    TRY(pool_bases_create_workspace(&params, &exec, &points, &bytes, &more));
    TRY(pool_bases_create(&params, &exec, &points, &made));
    return pool_bases_destroy(&made);
}

static pool_status transform_extensions(void)
{
    const pool_ntt_extend_params params = {
        .struct_size = sizeof(params), .domain = with.domain, .log_blowup = 1};
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.elements, ITEMS / 2), out = span_of(with.results, ITEMS);
    uint64_t bytes;

    TRY(pool_ntt_extend_workspace(&params, &exec, &in, NULL, &out, &bytes));
    return pool_ntt_extend(&params, &exec, &in, NULL, &out);
}

static pool_status sponges(void)
{
    const pool_poseidon_sponge_params params = {.struct_size = sizeof(params), .elements = 5};
    const pool_exec exec = exec_on(with.stream);
    const pool_span messages = span_of(with.elements, 8), out = span_of(with.results, 8);
    uint64_t bytes;

    TRY(pool_poseidon_sponge_workspace(with.hash, &exec, &params, &messages, &out, &bytes));
    return pool_poseidon_sponge(with.hash, &exec, &params, &messages, &out);
}

static pool_status commitments(void)
{
    const pool_matrix_commit_params params = {
        .struct_size = sizeof(params), .set = with.small_hash};
    const pool_exec exec = exec_on(with.stream);
    const pool_ntt_extend_params extend = {
        .struct_size = sizeof(extend), .domain = with.small_domain, .log_blowup = 1, .batch = 2};
    const pool_matrix matrix = {.span = span_of(with.small, ITEMS),
        .height = ITEMS,
        .width = 2,
        .layout = POOL_MATRIX_ROWS};
    const pool_extension extension = {.params = &extend, .trace = span_of(with.small, ITEMS)};
    const uint64_t index = 5;
    pool_matrix_commit_shape shape = {.struct_size = sizeof(shape)};
    pool_span levels, rows, paths;
    uint64_t bytes;

    TRY(pool_matrix_commit_get_shape(&params, &matrix, 1, &shape));
    levels = span_of(with.results, shape.digest_count);
    rows = span_of(with.results + shape.bytes, 1);
    paths = span_of(with.results + shape.bytes + 64, shape.height);
    TRY(pool_matrix_commit_workspace(&params, &exec, &matrix, 1, &levels, &bytes));
    TRY(pool_matrix_open_workspace(&params, &exec, &matrix, 1, &levels, 1, &rows, &paths, &bytes));
    TRY(pool_extend_commit_workspace(&params, &exec, &extension, 1, &levels, &bytes));
    TRY(pool_matrix_commit(&params, &exec, &matrix, 1, &levels));
    TRY(pool_matrix_open(&params, &exec, &matrix, 1, &levels, &index, 1, &rows, &paths));
    return pool_extend_commit(&params, &exec, &extension, 1, &levels);
}

static pool_status evaluations(void)
{
    const pool_matrix_evaluate_params params = {
        .struct_size = sizeof(params), .field = with.extension, .domain = with.small_domain};
    const pool_exec exec = exec_on(with.stream);
    const pool_matrix matrix = {.span = span_of(with.small, ITEMS),
        .height = ITEMS,
        .width = 2,
        .layout = POOL_MATRIX_ROWS};
    pool_matrix in = matrix, out = matrix;
    CUdeviceptr address;
    uint64_t bytes;

    TRY(pool_matrix_evaluate_workspace(&params, &exec, &matrix, 1, &bytes));
    TRY(pool_matrix_evaluate(&params, &exec, &matrix, with.small, 1, with.results));
    TRY(pool_buffer_address(with.buffer, &address));
    in.span.space = out.span.space = POOL_MEMORY_DEVICE;
    in.span.data = (void *)(uintptr_t)address;
    out.span.data = (void *)(uintptr_t)(address + 4096);
    TRY(pool_buffer_fill8(with.buffer, 0, 4096, 0, with.stream));
    return pool_matrix_bit_reverse(pool_field_base(with.extension), &exec, &in, &out);
}

static pool_status folds(void)
{
    const pool_fri_fold_params params = {.struct_size = sizeof(params),
        .field = with.extension,
        .domain = with.small_domain,
        .log_arity = 1,
        .is_bit_reversed = 1,
        .challenge = with.small};
    const pool_matrix_commit_params commit = {
        .struct_size = sizeof(commit), .set = with.small_hash};
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.small, ITEMS), out = span_of(with.results, ITEMS / 2);
    const pool_span levels = span_of(with.results + 1024, ITEMS / 2 - 1);
    uint64_t bytes;

    TRY(pool_fri_fold_workspace(&params, &exec, &in, &out, &bytes));
    TRY(pool_fri_fold_commit_workspace(&params, 1, &commit, &exec, &in, &out, &levels, &bytes));
    TRY(pool_fri_fold(&params, &exec, &in, &out));
    return pool_fri_fold_commit(&params, 1, &commit, &exec, &in, &out, &levels);
}

static pool_status point_transforms(void)
{
    const pool_ecntt_params params = {
        .struct_size = sizeof(params), .curve = with.curve, .domain = with.point_domain};
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.points, 4), out = span_of(with.results, 4);
    uint64_t bytes;

    TRY(pool_ecntt_workspace(&params, &exec, &in, &out, &bytes));
    return pool_ecntt(&params, &exec, &in, &out);
}

static pool_status warm_ups(void)
{
    const pool_matrix_commit_params params = {
        .struct_size = sizeof(params), .set = with.small_hash};
    const pool_ntt_extend_params extend = {
        .struct_size = sizeof(extend), .domain = with.domain, .log_blowup = 1};
    const pool_exec exec = exec_on(NULL);

    TRY(pool_msm_warm_up(with.curve, &exec));
    TRY(pool_ntt_warm_up(with.domain, &exec));
    TRY(pool_ntt_extend_warm_up(&extend, &exec));
    TRY(pool_poseidon_warm_up(with.hash, &exec));
    TRY(pool_matrix_commit_warm_up(&params, &exec));
    TRY(pool_fri_warm_up(with.extension, &exec));
    TRY(pool_ecntt_warm_up(with.curve, &exec));
    return pool_vector_warm_up(with.field, &exec);
}

static pool_status found_bases(void)
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    pool_bases *found = NULL;

    TRY(pool_bases_fingerprint(with.bases, fingerprint));
    TRY(pool_bases_find(
        with.device, fingerprint, pool_bases_precompute_factor(with.bases), &found));
    return pool_bases_destroy(&found);
}

static pool_status domains(void)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = with.field, .log_size = 5};
    pool_ntt_params transform = {.struct_size = sizeof(transform)};
    const pool_exec exec = exec_on(with.stream);
    const pool_span in = span_of(with.elements, 32), out = span_of(with.results, 32);
    pool_ntt_domain *domain = NULL;
    pool_status status;

    TRY(pool_ntt_domain_create(&params, &domain));
    transform.domain = domain;
    status = pool_ntt(&transform, &exec, &in, &out);
    if (status)
        return status;
    pool_ntt_domain_destroy(&domain);
    return POOL_OK;
}

static pool_status bases_in_files(void)
{
    const pool_bases_params params = {.struct_size = sizeof(params), .curve = with.curve};
    const pool_exec exec = exec_on(with.stream);
    char path[] = "/tmp/devicepool-beside-XXXXXX";
    pool_bases *loaded = NULL;
    int file = mkstemp(path);
    uint64_t bytes, more;
    pool_status status;

    if (file < 0)
        return POOL_ERR_IO;
    close(file);
    status = pool_bases_save(with.bases, path);
    if (!status)
        status = pool_bases_load_workspace(&params, &exec, path, &more, &bytes);
    if (!status)
        status = pool_bases_load(&params, &exec, path, &loaded);
    unlink(path);
    TRY(status);
    return pool_bases_destroy(&loaded);
}

static pool_status residents(void)
{
    const pool_bases_params of_bases = {.struct_size = sizeof(of_bases), .curve = with.curve};
    const pool_span points = span_of(with.points, ITEMS), scalars = span_of(with.scalars, ITEMS),
                    result = span_of(with.results, 1);
    const pool_resident_params params = {
        .struct_size = sizeof(params), .name = "beside", .bases = &of_bases, .points = &points};
    const pool_exec exec = exec_on(with.stream);
    pool_resident_info info = {.struct_size = sizeof(info)};
    pool_msm_params sum = {.struct_size = sizeof(sum)};
    pool_resident *resident = NULL;
    pool_resident_use *use = NULL;
    uint64_t bytes;

    TRY(pool_resident_create(with.pool, &params, &resident));
    TRY(pool_resident_open_workspace(resident, &exec, &bytes));
    TRY(pool_resident_msm_joint_workspace(&resident,
        &(pool_msm_joint_params){.struct_size = sizeof(pool_msm_joint_params)}, &exec,
        &(pool_msm_term){.scalars = scalars}, 1, &result, &bytes));
    TRY(pool_resident_open(resident, &exec, &use));
    TRY(pool_resident_msm_workspace(resident, &sum, &exec, &scalars, &result, &bytes));
    sum.bases = pool_resident_bases(use);
    TRY(pool_msm(&sum, &exec, NULL, &scalars, &result));
    TRY(pool_resident_close(&use));
    TRY(pool_resident_get_info(resident, with.device, &info));
    TRY(pool_resident_evict(resident, with.device));
    return pool_resident_destroy(&resident);
}

static pool_status profiler(void)
{
    TRY(pool_profiler_start(with.device));
    return pool_profiler_stop(with.device);
}

/* ---- the tables ------------------------------------------------------------------------------ */

struct one {
    const char *name;
    pool_status (*make)(void);
};

/* Functions that are called by the same case are listed with it. */
static const struct one cases[] = {{"pool_buffer_create", buffers}, {"pool_buffer_alloc", buffers},
    {"pool_buffer_zeroed", buffers}, {"pool_buffer_from_host", buffers},
    {"pool_buffer_adopt", buffers}, {"pool_buffer_slice", buffers},
    {"pool_buffer_destroy", buffers}, {"pool_buffer_destroy_on", buffers},
    {"pool_buffer_address", buffers}, {"pool_buffer_fill8", fills}, {"pool_buffer_fill16", fills},
    {"pool_buffer_fill32", fills}, {"pool_copy_to_device", copies_to_device},
    {"pool_copy_to_host", copies_to_host}, {"pool_copy_device", copies_on_device},
    {"pool_copy_2d", copies_of_rows}, {"pool_pinned_create", pinned_memory},
    {"pool_pinned_register", pinned_memory}, {"pool_pinned_destroy", pinned_memory},
    {"pool_memory_get_info", memory_information},
    {"pool_memory_reset_high_water", memory_information},
    {"pool_memory_set_threshold", memory_information},
    {"pool_pinned_set_threshold", memory_information}, {"pool_memory_handle", memory_information},
    {"pool_device_enable_peer", memory_information}, {"pool_virtual_granularity", virtual_memory},
    {"pool_physical_create", virtual_memory}, {"pool_physical_destroy", virtual_memory},
    {"pool_range_reserve", virtual_memory}, {"pool_range_map", virtual_memory},
    {"pool_range_grant_access", virtual_memory}, {"pool_range_buffer", virtual_memory},
    {"pool_stream_get_priority_range", streams}, {"pool_stream_create", streams},
    {"pool_stream_adopt", streams}, {"pool_stream_default", streams},
    {"pool_stream_destroy", streams}, {"pool_stream_handle", streams},
    {"pool_stream_get_priority", streams}, {"pool_stream_get_flags", streams},
    {"pool_stream_query", streams}, {"pool_stream_synchronize", streams},
    {"pool_stream_wait", streams}, {"pool_stream_fork", streams}, {"pool_stream_join", streams},
    {"pool_stream_call", streams}, {"pool_stream_wait_event", events},
    {"pool_event_create", events}, {"pool_event_destroy", events}, {"pool_event_handle", events},
    {"pool_event_record", events}, {"pool_event_query", events}, {"pool_event_synchronize", events},
    {"pool_event_wait", events}, {"pool_event_elapsed", events},
    {"pool_stream_begin_capture", graphs}, {"pool_stream_end_capture", graphs},
    {"pool_graph_launch", graphs}, {"pool_graph_update", graphs}, {"pool_graph_destroy", graphs},
    {"pool_launch", launches}, {"pool_launch_shape_for", launches}, {"pool_kernel_get", kernels},
    {"pool_kernel_get_info", kernels}, {"pool_kernel_get_parameter", kernels},
    {"pool_kernel_get_carveout", kernels}, {"pool_kernel_set_carveout", kernels},
    {"pool_kernel_get_occupancy", kernels}, {"pool_kernel_get_best_block", kernels},
    {"pool_kernel_handle", kernels}, {"pool_module_handle", kernels},
    {"pool_module_variable", kernels}, {"pool_module_destroy", module_destroy},
    {"pool_next_device", choices}, {"pool_best_device", choices}, {"pool_pick_device", choices},
    {"pool_bind", choices}, {"pool_bound_device", choices}, {"pool_unbind", choices},
    {"pool_run_on", choices}, {"pool_check_device", choices}, {"pool_pointer_device", choices},
    {"pool_get_health", choices}, {"pool_describe", choices},
    {"pool_device_get_info", device_information}, {"pool_device_get_peer", device_information},
    {"pool_device_handle", device_information}, {"pool_device_context", device_information},
    {"pool_device_get_limit", device_information}, {"pool_device_get_rate", device_information},
    {"pool_device_describe", device_information}, {"pool_device_drain", device_information},
    {"pool_device_resume", device_information}, {"pool_metrics", device_information},
    {"pool_acquire", leases}, {"pool_release", leases}, {"pool_acquire_async", leases},
    {"pool_ticket_take", leases}, {"pool_ticket_destroy", leases}, {"pool_lease_device", leases},
    {"pool_lease_stream", leases}, {"pool_lease_get_info", leases},
    {"pool_lease_get_usage", leases}, {"pool_get_lease_counts", leases},
    {"pool_create", another_pool}, {"pool_device_probe", probe}, {"pool_vector_workspace", vectors},
    {"pool_vector_add", vectors}, {"pool_vector_sub", vectors}, {"pool_vector_mul", vectors},
    {"pool_vector_scale", vectors}, {"pool_vector_inverse", vectors},
    {"pool_vector_bit_reverse", vectors}, {"pool_vector_transpose", vectors},
    {"pool_vector_powers", vectors}, {"pool_vector_evaluate", vectors},
    {"pool_ntt_workspace", transforms}, {"pool_ntt", transforms},
    {"pool_poseidon_hash_workspace", hashes}, {"pool_poseidon_permute_workspace", hashes},
    {"pool_poseidon_hash", hashes}, {"pool_poseidon_permute", hashes},
    {"pool_poseidon_merkle_build_workspace", trees}, {"pool_poseidon_merkle_open_workspace", trees},
    {"pool_poseidon_merkle_build", trees}, {"pool_poseidon_merkle_open", trees},
    {"pool_merkle_get_shape", trees}, {"pool_msm_workspace", sums}, {"pool_msm", sums},
    {"pool_msm", sums_over_bases}, {"pool_msm_joint", joint_sums},
    {"pool_msm_joint_workspace", joint_sums}, {"pool_ntt_extend_workspace", transform_extensions},
    {"pool_ntt_extend", transform_extensions}, {"pool_poseidon_sponge_workspace", sponges},
    {"pool_poseidon_sponge", sponges}, {"pool_matrix_commit_workspace", commitments},
    {"pool_matrix_open_workspace", commitments}, {"pool_extend_commit_workspace", commitments},
    {"pool_matrix_commit", commitments}, {"pool_matrix_open", commitments},
    {"pool_extend_commit", commitments}, {"pool_matrix_evaluate_workspace", evaluations},
    {"pool_matrix_evaluate", evaluations}, {"pool_matrix_bit_reverse", evaluations},
    {"pool_fri_fold_workspace", folds}, {"pool_fri_fold_commit_workspace", folds},
    {"pool_fri_fold", folds}, {"pool_fri_fold_commit", folds},
    {"pool_ecntt_workspace", point_transforms}, {"pool_ecntt", point_transforms},
    {"pool_msm_warm_up", warm_ups}, {"pool_ntt_warm_up", warm_ups},
    {"pool_ntt_extend_warm_up", warm_ups}, {"pool_poseidon_warm_up", warm_ups},
    {"pool_matrix_commit_warm_up", warm_ups}, {"pool_fri_warm_up", warm_ups},
    {"pool_ecntt_warm_up", warm_ups}, {"pool_vector_warm_up", warm_ups},
    {"pool_bases_fingerprint", found_bases}, {"pool_bases_find", found_bases},
    {"pool_ntt_domain_destroy", domains}, {"pool_bases_save", bases_in_files},
    {"pool_bases_load", bases_in_files}, {"pool_bases_load_workspace", bases_in_files},
    {"pool_resident_create", residents}, {"pool_resident_open_workspace", residents},
    {"pool_resident_msm_workspace", residents}, {"pool_resident_msm_joint_workspace", residents},
    {"pool_resident_open", residents}, {"pool_resident_close", residents},
    {"pool_resident_get_info", residents}, {"pool_resident_evict", residents},
    {"pool_resident_destroy", residents}, {"pool_buffer_share", shared_memory},
    {"pool_event_share", shared_memory}, {"pool_physical_export", shared_memory},
    {"pool_physical_import", shared_memory}, {"pool_kernel_get_clusters", clusters},
    {"pool_device_quarantine", quarantine}, {"pool_profiler_start", profiler},
    {"pool_profiler_stop", profiler}, {"pool_bases_create_workspace", bases},
    {"pool_bases_create", bases}, {"pool_bases_destroy", bases}, {"pool_measure_rates", rates},
    {"pool_device_readmit", readmission}, {"pool_buffer_open", memory_of_a_process},
    {"pool_event_open", memory_of_a_process}};

/* How long each case takes without other work: the simulated kernels take their time. */
static uint64_t alone_ns[sizeof(cases) / sizeof(cases[0])];

static const struct {
    const char *name, *reason;
} exceptions[] = {
#define EXCEPTION(function, reason) {#function, reason},
#include "beside_exceptions.def"
#undef EXCEPTION
};

/* Functions of the host: fields, curves, files and texts are computed without a device, and what
 * reads a handle's members makes no driver call. */
static const char *const of_the_host[] = {"pool_*_init", "pool_cache_*", "pool_pack_*",
    "pool_cancel_*", "pool_curve_*", "pool_points_*", "pool_point_*", "pool_encoding_bytes",
    "pool_random_*", "pool_field_*", "pool_file_*", "pool_status_*", "pool_error_*",
    "pool_last_error", "pool_text_free", "pool_trace_set", "pool_version_*", "pool_log_*",
    "pool_host_get_info", "pool_setting_*", "pool_sim_*", "pool_image_free", "pool_tuning_*",
    "pool_device_get_tuning", "pool_device_get_compiler", "pool_poseidon_count",
    "pool_poseidon_name*", "pool_poseidon_by_name", "pool_poseidon_create", "pool_poseidon_retain",
    "pool_poseidon_destroy", "pool_poseidon_field", "pool_poseidon_width",
    "pool_poseidon_max_inputs", "pool_poseidon_rate", "pool_poseidon_digest_elements",
    "pool_poseidon_fingerprint", "pool_poseidon_merkle_verify", "pool_poseidon_merkle_shards",
    "pool_matrix_verify", "pool_matrix_commit_get_shape", "pool_matrix_commit_shards",
    "pool_fri_layer", "pool_buffer_bytes", "pool_buffer_flags", "pool_buffer_device",
    "pool_buffer_span", "pool_pinned_data", "pool_pinned_bytes", "pool_pinned_flags",
    "pool_pinned_device", "pool_stream_device", "pool_event_device", "pool_graph_device",
    "pool_module_device", "pool_module_symbol", "pool_physical_bytes", "pool_physical_device",
    "pool_physical_handle", "pool_range_address", "pool_range_bytes", "pool_range_device",
    "pool_range_mapped_bytes", "pool_retain", "pool_device_count", "pool_usable_count",
    "pool_device_at", "pool_device_by_*", "pool_device_index", "pool_device_ordinal",
    "pool_device_gpu", "pool_device_partition", "pool_device_uuid", "pool_device_set_rate",
    "pool_lease_device_count", "pool_ticket_fd", "pool_set_phase_timing", "pool_device_each",
    "pool_module_build", "pool_resident_bases", "pool_resident_buffer", "pool_resident_bytes",
    "pool_bases_curve", "pool_bases_device", "pool_bases_count", "pool_bases_bytes",
    "pool_bases_precompute_factor", "pool_bases_window_bits", "pool_bases_retain",
    "pool_ntt_domain_create", "pool_ntt_domain_retain", "pool_ntt_domain_field",
    "pool_ntt_domain_log_size", "pool_ntt_domain_root", "pool_ntt_domain_coset",
    "pool_ntt_domain_power", "pool_ntt_domain_bytes", NULL};

static const char *const functions[] = {
#define X(name, kind, arguments) #name,
#include "all_null.def"
#undef X
};

static bool is_listed(const char *name, const char *const *patterns)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, 0) == 0)
            return true;
    return false;
}

static bool has_case(const char *name)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, name) == 0)
            return true;
    return false;
}

static bool is_exception(const char *name)
{
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (strcmp(exceptions[i].name, name) == 0)
            return true;
    return false;
}

static bool is_function(const char *name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (strcmp(functions[i], name) == 0)
            return true;
    return false;
}

static void test_all_are_listed(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        const char *name = functions[i];
        /* Some functions wait for some of their arguments only. */
        if (!has_case(name) && !is_exception(name) && !is_listed(name, of_the_host)) {
            printf("%s is in none of the tables\n", name);
            wrong++;
        }
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!is_function(cases[i].name)) {
            printf("%s is no public function\n", cases[i].name);
            wrong++;
        }
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (!is_function(exceptions[i].name)) {
            printf("%s is no public function\n", exceptions[i].name);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

/* The table of docs/scheduling.md has the same rows. */
static void test_documentation(void **state)
{
    FILE *file = fopen(TEST_DOCS "/scheduling.md", "r");
    char line[512], row[512];
    size_t found[sizeof(exceptions) / sizeof(exceptions[0])] = {0};

    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
            snprintf(row, sizeof(row), "| `%s` | %s |\n", exceptions[i].name, exceptions[i].reason);
            found[i] += strcmp(row, line) == 0;
        }
    fclose(file);
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (found[i] != 1)
            fail_msg("docs/scheduling.md has no row for %s: %s", exceptions[i].name,
                exceptions[i].reason);
}

/* ---- beside work that does not end ----------------------------------------------------------- */

struct attempt {
    const struct one *one;
    pool_status status;
    uint64_t took_ns;
    char message[256];
};

static void *attempt_in_thread(void *argument)
{
    struct attempt *attempt = argument;
    const uint64_t start = base_clock_ns();

    attempt->status = attempt->one->make();
    attempt->took_ns = base_clock_ns() - start;
    if (attempt->status)
        snprintf(attempt->message, sizeof(attempt->message), "%s", pool_last_error()->message);
    return NULL;
}

static void must(pool_status status, const char *call)
{
    if (status)
        fail_msg("%s is %s: %s", call, pool_status_name(status), pool_last_error()->message);
}
#define MUST(call) must((call), #call)

static bool is_simulated(void)
{
    return strncmp(devices, "sim", 3) == 0;
}

/* Begins the work that does not end; on a GPU a kernel that reads the flag until it is set. */
static void hang(void)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {1}, .block = {1}, .argument_count = 1};
    void *flag = NULL, *arguments[] = {&flag};

    if (!is_simulated()) {
        flag = pool_pinned_data(with.flag);
        *(volatile uint32_t *)flag = 0;
        MUST(pool_launch(with.wait_for, &shape, arguments, with.hung));
        return;
    }
    MUST(pool_sim_set_faults("cuMemsetD8Async@1=hang"));
    MUST(pool_buffer_fill8(with.busy, 0, 64, 1, with.hung));
    MUST(pool_sim_set_faults(NULL));
}

static void end_hang(void)
{
    if (is_simulated())
        MUST(pool_sim_resume());
    else
        *(volatile uint32_t *)pool_pinned_data(with.flag) = 1;
}

/* 1: it returned in time; 0: too late; -1: not at all, until the other work was ended. */
static int attempt(const struct one *one, uint64_t limit_ns, double *milliseconds)
{
    struct attempt attempt = {.one = one};
    struct timespec deadline;
    pthread_t thread;
    bool is_stuck;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += GIVE_UP_S;
    assert_int_equal(pthread_create(&thread, NULL, attempt_in_thread, &attempt), 0);
    is_stuck = pthread_timedjoin_np(thread, NULL, &deadline) != 0;
    if (is_stuck) {
        end_hang();
        pthread_join(thread, NULL);
        MUST(pool_stream_synchronize(with.hung));
        hang();
    }
    *milliseconds = (double)attempt.took_ns / 1e6;
    if (attempt.status) {
        printf("%s: %s: %s\n", one->name, pool_status_name(attempt.status), attempt.message);
        return -1;
    }
    return is_stuck ? -1 : attempt.took_ns <= limit_ns;
}

static void test_cases(void **state)
{
    int wrong = 0;

    (void)state;
    hang();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double milliseconds = 0;
        int result = 0;

        if (i && cases[i].make == cases[i - 1].make)
            continue;
        for (int tries = 0; tries < TRIES && result == 0; tries++)
            result = attempt(&cases[i], LIMIT_NS + 3 * alone_ns[i], &milliseconds);
        if (result != 1) {
            printf("the case of %s %s: %.1f ms\n", cases[i].name,
                result ? "did not return beside a kernel that does not end"
                       : "took more than 50 ms",
                milliseconds);
            wrong++;
        }
    }
    assert_int_equal(pool_stream_query(with.hung), POOL_ERR_NOT_READY);
    end_hang();
    assert_int_equal(wrong, 0);
}

/* ---- the fixture ----------------------------------------------------------------------------- */

static void create_inputs(void)
{
    const pool_ntt_domain_params domain = {
        .struct_size = sizeof(domain), .field = with.field, .log_size = 6};

    const pool_ntt_domain_params small = {
        .struct_size = sizeof(small), .field = pool_field_base(with.extension), .log_size = 6};
    const pool_ntt_domain_params four = {
        .struct_size = sizeof(four), .field = with.field, .log_size = 2};

    with.data = calloc(1, BYTES);
    with.small = calloc(ITEMS, 4 * sizeof(uint32_t));
    with.elements = calloc(ITEMS, ELEMENT);
    with.scalars = calloc(ITEMS, ELEMENT);
    with.points = calloc(ITEMS, 2 * ELEMENT);
    with.results = calloc(8 * ITEMS, 4 * ELEMENT);
    assert_true(
        with.small && with.data && with.elements && with.scalars && with.points && with.results);
    MUST(pool_random_scalars(with.field, 1, ITEMS, POOL_FORM_STANDARD, with.elements));
    MUST(pool_random_scalars(with.field, 2, ITEMS, POOL_FORM_STANDARD, with.scalars));
    MUST(pool_random_points(with.curve, 3, ITEMS, NULL, with.points, NULL));
    MUST(pool_ntt_domain_create(&domain, &with.domain));
    MUST(pool_ntt_domain_create(&small, &with.small_domain));
    MUST(pool_ntt_domain_create(&four, &with.point_domain));
    MUST(pool_poseidon_by_name("circom-bn254-t3", &with.hash));
    MUST(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &with.small_hash));
    MUST(pool_random_scalars(
        pool_field_base(with.extension), 4, 4 * ITEMS, POOL_FORM_STANDARD, with.small));
}

static void create_objects(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const pool_bases_params of_bases = {.struct_size = sizeof(of_bases), .curve = with.curve};
    const pool_span points = span_of(with.points, ITEMS);
    pool_exec exec;

    MUST(pool_create(&with.pool, &params));
    MUST(pool_device_at(with.pool, 0, &with.device));
    if (pool_device_count(with.pool) > 1)
        MUST(pool_device_at(with.pool, 1, &with.peer));
    MUST(pool_stream_create(with.device, NULL, &with.hung));
    MUST(pool_stream_create(with.device, NULL, &with.stream));
    MUST(pool_buffer_zeroed(with.device, 64, &with.busy));
    MUST(pool_buffer_zeroed(with.device, BYTES, &with.buffer));
    MUST(pool_buffer_zeroed(with.device, BYTES, &with.other));
    MUST(pool_event_create(with.device, POOL_EVENT_TIMING, &with.event));
    MUST(pool_event_create(with.device, POOL_EVENT_TIMING, &with.start));
    MUST(pool_event_create(with.device, POOL_EVENT_SHAREABLE, &with.shareable_event));
    MUST(pool_buffer_create(with.device,
        &(pool_buffer_params){.struct_size = sizeof(pool_buffer_params),
            .bytes = 2 << 20,
            .flags = POOL_BUFFER_SHAREABLE},
        &with.shareable));
    MUST(pool_pinned_create(with.device, 4096, 0, &with.pinned));
    MUST(pool_pinned_create(with.device, 64, 0, &with.flag));
    MUST(pool_module_load(with.device, ptx, sizeof(ptx) - 1, &with.module));
    for (int i = 0; i < SPARES; i++)
        MUST(pool_module_load(with.device, ptx, sizeof(ptx) - 1, &with.spares[i]));
    MUST(pool_kernel_get(with.module, "count", &with.kernel));
    MUST(pool_kernel_get(with.module, "wait_for", &with.wait_for));
    exec = exec_on(with.stream);
    MUST(pool_bases_create(&of_bases, &exec, &points, &with.bases));
}

/* The other process. */
static int share_until_the_end(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const pool_buffer_params of_buffer = {
        .struct_size = sizeof(of_buffer), .bytes = 2 << 20, .flags = POOL_BUFFER_SHAREABLE};
    pool_device *device = NULL;
    device_pool *pool = NULL;
    pool_buffer *buffer = NULL;
    pool_event *event = NULL;
    char end;

    if (pool_create(&pool, &params) || pool_device_at(pool, 0, &device) ||
        pool_buffer_create(device, &of_buffer, &buffer) ||
        pool_event_create(device, POOL_EVENT_SHAREABLE, &event) || pool_event_record(event, NULL) ||
        pool_buffer_share(buffer, &owner.shares.buffer) ||
        pool_event_share(event, &owner.shares.event))
        return 1;
    if (write(STDOUT_FILENO, &owner.shares, sizeof(owner.shares)) != sizeof(owner.shares))
        return 1;
    while (read(STDIN_FILENO, &end, 1) > 0)
        ;
    return pool_event_destroy(&event) || pool_buffer_destroy(&buffer) || pool_destroy(&pool);
}

static void start_owner(void)
{
    char *arguments[] = {
        (char *)(uintptr_t)owner.program, "--share", (char *)(uintptr_t)devices, NULL};
    posix_spawn_file_actions_t actions;
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO), 0);
    assert_int_equal(posix_spawn(&owner.pid, owner.program, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    owner.input = in[1];
    assert_int_equal(read(out[0], &owner.shares, sizeof(owner.shares)), sizeof(owner.shares));
    close(out[0]);
}

static void end_owner(void)
{
    int status = -1;

    close(owner.input);
    assert_int_equal(waitpid(owner.pid, &status, 0), owner.pid);
    assert_int_equal(status, 0);
}

/* The first use of an operation loads its kernels and makes its tables. */
static int set_up(void **state)
{
    (void)state;
    with.field = pool_field_by_name("bn254_fr");
    with.curve = pool_curve_by_name("bn254_g1");
    with.extension = pool_field_by_name("babybear_x4");
    start_owner();
    create_inputs();
    create_objects();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int k = 0; k < 2 && (!i || cases[i].make != cases[i - 1].make); k++) {
            const uint64_t start = base_clock_ns();

            if (cases[i].make())
                fail_msg("%s, before: %s", cases[i].name, pool_last_error()->message);
            alone_ns[i] = base_clock_ns() - start;
        }
    MUST(pool_stream_synchronize(with.stream));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    end_hang();
    for (unsigned i = 0; i < kept.pinned_count; i++) {
        MUST(pool_pinned_destroy(&kept.pinned[i]));
        free(kept.memory[i]);
    }
    for (unsigned i = 0; i < kept.range_count && i < KEPT; i++)
        MUST(pool_range_destroy(&kept.ranges[i]));
    for (unsigned i = 0; i < kept.pool_count; i++)
        MUST(pool_destroy(&kept.pools[i]));
    for (unsigned i = 0; i < kept.opened_count; i++)
        MUST(pool_buffer_destroy(&kept.opened[i]));
    end_owner();
    for (unsigned i = with.spare; i < SPARES; i++)
        MUST(pool_module_destroy(&with.spares[i]));
    MUST(pool_module_destroy(&with.module));
    MUST(pool_bases_destroy(&with.bases));
    pool_ntt_domain_destroy(&with.domain);
    pool_ntt_domain_destroy(&with.small_domain);
    pool_ntt_domain_destroy(&with.point_domain);
    pool_poseidon_destroy(&with.small_hash);
    free(with.small);
    pool_poseidon_destroy(&with.hash);
    MUST(pool_pinned_destroy(&with.pinned));
    MUST(pool_pinned_destroy(&with.flag));
    MUST(pool_event_destroy(&with.event));
    MUST(pool_event_destroy(&with.start));
    MUST(pool_event_destroy(&with.shareable_event));
    MUST(pool_buffer_destroy(&with.shareable));
    MUST(pool_buffer_destroy(&with.busy));
    MUST(pool_buffer_destroy(&with.buffer));
    MUST(pool_buffer_destroy(&with.other));
    MUST(pool_stream_destroy(&with.hung));
    MUST(pool_stream_destroy(&with.stream));
    MUST(pool_destroy(&with.pool));
    free(with.data);
    free(with.elements);
    free(with.scalars);
    free(with.points);
    free(with.results);
    return 0;
}

static bool there_is_a_device(void)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    device_pool *pool = NULL;

    return !pool_create(&pool, &params) && !pool_destroy(&pool);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_listed),
        cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_cases),
    };

    owner.program = argv[0];
    if (argc > 2 && strcmp(argv[1], "--share") == 0) {
        devices = argv[2];
        return share_until_the_end();
    }
    if (argc > 1)
        devices = argv[1];
    if (is_simulated() &&
        simulated_compiler_is_missing()) /* some kernels of FRI have no prebuilt PTX */
        return 77;
    if (!is_simulated() && !there_is_a_device())
        return 77;
    return cmocka_run_group_tests_name(
        "beside a kernel that does not end", tests, set_up, tear_down);
}
