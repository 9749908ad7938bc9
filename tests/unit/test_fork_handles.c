/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles in a forked child. A thread that the child does not have may hold any lock of a handle or
 * wait on its condition, so no function may touch one there: every call of the threads library is
 * watched, over every public function that takes such a handle. And children forked while threads
 * wait for staging buffers end their pool instead of waiting for these threads.
 */
#include "support/mock_pool.h"

#include "driver/sim/table/state.h"
#include "pool/memory/memory.h"
#include "support/child.h"

/* A child that hangs dies of this. */
enum { CHILD_SECONDS = 30 };

/* ---- the watch ------------------------------------------------------------------------------- */

static atomic_int is_watched; /* set in children only */
static atomic_int touched;
static atomic_int waiting; /* threads in pthread_cond_wait */
static const char *current_call = "";

extern char __data_start, _end; /* static data of this program, the library's included */

/* Locks of the process lie in static data and are free again in a child; the simulated driver's
 * belongs to its threads. Handles lie in the heap. */
static void watch(const void *object, const char *function)
{
    uintptr_t at = (uintptr_t)object, sim = (uintptr_t)&sim_state;
    int is_static = at >= (uintptr_t)&__data_start && at < (uintptr_t)&_end;

    if (!atomic_load(&is_watched) || (is_static && (at < sim || at >= sim + sizeof(sim_state))))
        return;
    fprintf(stderr, "%s: %s of a lock of the parent\n", current_call, function);
    atomic_store(&touched, 1);
    _exit(1); /* it may wait for ever */
}

#define WATCHED(function, type)                                                                    \
    int __real_##function(type *object);                                                           \
    int __wrap_##function(type *object);                                                           \
    int __wrap_##function(type *object)                                                            \
    {                                                                                              \
        watch(object, #function);                                                                  \
        return __real_##function(object);                                                          \
    }
WATCHED(pthread_mutex_lock, pthread_mutex_t)
WATCHED(pthread_mutex_trylock, pthread_mutex_t)
WATCHED(pthread_mutex_unlock, pthread_mutex_t)
WATCHED(pthread_mutex_destroy, pthread_mutex_t)
WATCHED(pthread_cond_signal, pthread_cond_t)
WATCHED(pthread_cond_broadcast, pthread_cond_t)
WATCHED(pthread_cond_destroy, pthread_cond_t)
WATCHED(pthread_rwlock_rdlock, pthread_rwlock_t)
WATCHED(pthread_rwlock_wrlock, pthread_rwlock_t)
WATCHED(pthread_rwlock_unlock, pthread_rwlock_t)

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    int result;

    watch(condition, "pthread_cond_wait");
    atomic_fetch_add(&waiting, 1);
    result = __real_pthread_cond_wait(condition, lock);
    atomic_fetch_sub(&waiting, 1);
    return result;
}

/* ---- the handles ----------------------------------------------------------------------------- */

static const char kernel_text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .global .align 4 .u32 counter;\n"
                                  ".visible .entry nothing()\n{\n ret;\n}\n";

static struct {
    device_pool *pool;
    pool_device *device, *other;
    pool_stream *stream;
    pool_event *event;
    pool_graph *graph;
    pool_lease *lease, *other_lease;
    pool_ticket *ticket, *other_ticket; /* granted, and waiting */
    pool_buffer *buffer, *slice;
    pool_pinned *pinned;
    pool_physical *physical;
    pool_range *range;
    pool_buffer *in_range, *shareable;
    pool_module *module;
    pool_kernel *kernel;
    pool_bases *points; /* NULL without a compiler */
    pool_ntt_domain *domain;
    pool_poseidon *set;
    pool_resident *resident;
    pool_resident_use *use;
} h;

enum { POINTS = 4, LOG_SIZE = 3 };

static void make_points(void)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    uint8_t bytes[POINTS * 64];
    pool_bases_params params;
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_span span = {.data = bytes, .count = POINTS};
    pool_status status;

    pool_bases_params_init(&params, sizeof(params));
    params.curve = curve;
    exec.device = h.device;
    assert_ok(pool_random_points(curve, 1, POINTS, NULL, bytes, NULL));
    status = pool_bases_create(&params, &exec, &span, &h.points);
    if (status != POOL_ERR_NO_COMPILER)
        assert_int_equal(status, POOL_OK);
}

static pool_status load_resident(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    (void)user;
    return pool_buffer_alloc(exec->device, 4096, buffer);
}

static void make_resident(void)
{
    const pool_resident_params params = {
        .struct_size = sizeof(params), .name = "key", .source = load_resident, .bytes = 4096};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = h.device};

    assert_ok(pool_resident_create(h.pool, &params, &h.resident));
    assert_ok(pool_resident_open(h.resident, &exec, &h.use));
}

static void make_leases(void)
{
    pool_request request = {.struct_size = sizeof(request), .slots = POOL_LEASE_SLOTS - 1};
    pool_stream *stream = NULL;

    request.timeout_ns = POOL_WAIT_FOREVER;
    assert_ok(pool_acquire(h.pool, &request, &h.lease));
    assert_ok(pool_lease_stream(h.lease, 0, &stream));
    assert_ok(pool_acquire(h.pool, NULL, &h.other_lease));
    assert_ok(pool_acquire_async(h.pool, &request, NULL, NULL, &h.ticket));
    assert_ok(pool_acquire_async(h.pool, &request, NULL, NULL, &h.other_ticket));
}

static void make_handles(void)
{
    pool_ntt_domain_params domain;
    pool_buffer_params params_of_buffer = {.struct_size = sizeof(params_of_buffer), .bytes = 4096};
    pool_params params;
    char bytes[1024] = "";

    pool_params_init(&params, sizeof(params));
    params.devices = "sim:2";
    assert_ok(pool_create(&h.pool, &params));
    assert_ok(pool_device_at(h.pool, 0, &h.device));
    assert_ok(pool_device_at(h.pool, 1, &h.other));
    assert_ok(pool_stream_create(h.device, NULL, &h.stream));
    assert_ok(pool_event_create(h.device, POOL_EVENT_TIMING, &h.event));
    assert_ok(pool_event_record(h.event, h.stream));
    assert_ok(pool_stream_begin_capture(h.stream));
    assert_ok(pool_stream_end_capture(h.stream, &h.graph));
    make_leases();
    assert_ok(pool_buffer_from_host(h.device, bytes, sizeof(bytes), &h.buffer));
    assert_ok(pool_buffer_slice(h.buffer, 0, 256, &h.slice));
    assert_ok(pool_pinned_create(h.device, 4096, POOL_PINNED_SECRET, &h.pinned));
    params_of_buffer.flags = POOL_BUFFER_SHAREABLE;
    assert_ok(pool_buffer_create(h.device, &params_of_buffer, &h.shareable));
    assert_ok(pool_physical_create(h.device, 4096, POOL_PHYSICAL_EXPORTABLE, &h.physical));
    assert_ok(pool_range_reserve(h.device, 2 * pool_physical_bytes(h.physical), &h.range));
    assert_ok(pool_range_map(h.range, 0, h.physical));
    assert_ok(pool_range_buffer(h.range, 0, 4096, &h.in_range));
    assert_ok(pool_module_load(h.device, kernel_text, sizeof(kernel_text), &h.module));
    assert_ok(pool_kernel_get(h.module, "nothing", &h.kernel));
    pool_ntt_domain_params_init(&domain, sizeof(domain));
    domain.field = pool_field_by_name("goldilocks");
    domain.log_size = LOG_SIZE;
    assert_ok(pool_ntt_domain_create(&domain, &h.domain));
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &h.set));
    make_points();
    make_resident();
}

static void destroy_handles(void)
{
    assert_ok(pool_resident_close(&h.use));
    assert_ok(pool_resident_destroy(&h.resident));
    assert_ok(pool_bases_destroy(&h.points));
    assert_ok(pool_ntt_domain_destroy(&h.domain));
    pool_poseidon_destroy(&h.set);
    pool_module_destroy(&h.module);
    assert_ok(pool_pinned_destroy(&h.pinned));
    assert_ok(pool_buffer_destroy(&h.shareable));
    assert_ok(pool_buffer_destroy(&h.in_range));
    assert_ok(pool_physical_destroy(&h.physical));
    assert_ok(pool_range_destroy(&h.range));
    assert_ok(pool_buffer_destroy(&h.slice));
    assert_ok(pool_buffer_destroy(&h.buffer));
    assert_ok(pool_ticket_destroy(&h.ticket));
    assert_ok(pool_ticket_destroy(&h.other_ticket));
    assert_ok(pool_release(&h.lease));
    assert_ok(pool_release(&h.other_lease));
    assert_ok(pool_graph_destroy(&h.graph));
    assert_ok(pool_event_destroy(&h.event));
    assert_ok(pool_stream_destroy(&h.stream));
    assert_ok(pool_destroy(&h.pool));
}

/* ---- every public function ------------------------------------------------------------------- */

static const char *const functions[] = {
#define X(name, kind, arguments) #name,
#include "all_null.def"
#undef X
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };
static int is_called[FUNCTIONS];
static int failures;

static void begin_call(const char *text)
{
    size_t length = strcspn(text, "(");

    current_call = text;
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strlen(functions[i]) == length && memcmp(functions[i], text, length) == 0)
            is_called[i] = 1;
}

static void check_refused(const char *text, pool_status status)
{
    if (status == POOL_ERR_FORKED && pool_last_error()->status == status)
        return;
    fprintf(stderr, "%s: %s, not POOL_ERR_FORKED\n", text, pool_status_name(status));
    failures++;
}

#define REFUSED(call) (begin_call(#call), check_refused(#call, (call)))
#define ANSWERS(call) (begin_call(#call), (void)(call)) /* from host memory */

static int visit_device(void *user, pool_device *device)
{
    (void)user;
    (void)device;
    return 0;
}

static pool_status run_task(pool_device *device, void *user)
{
    (void)device;
    (void)user;
    return POOL_OK;
}

static void host_task(void *user)
{
    (void)user;
}

static int visit_kernel(void *user, const pool_sim_kernel_stats *stats)
{
    (void)user;
    (void)stats;
    return 0;
}

static void call_pool(void)
{
    uint64_t rate, limit;
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_tuning_info tuning_info = {.struct_size = sizeof(tuning_info)};
    pool_component compiler;
    pool_tuning *tuning = NULL;
    char path[64];
    pool_peer_info peer = {.struct_size = sizeof(peer)};
    pool_pick pick = {.struct_size = sizeof(pick)};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = h.device};
    pool_resident_info resident = {.struct_size = sizeof(resident)};
    pool_resident_use *use = NULL;
    pool_device *device = NULL;
    CUcontext context;
    char *text = NULL;
    int answer = 0;

    ANSWERS(pool_device_count(h.pool));
    ANSWERS(pool_retain(NULL));
    ANSWERS(pool_usable_count(h.pool));
    ANSWERS(pool_device_at(h.pool, 0, &device));
    ANSWERS(pool_device_by_ordinal(h.pool, 0, &device));
    ANSWERS(pool_device_by_uuid(h.pool, "GPU", &device));
    ANSWERS(pool_device_by_pci(h.pool, "0:0", &device));
    ANSWERS(pool_device_each(h.pool, visit_device, NULL, &answer));
    ANSWERS(pool_describe(h.pool, POOL_TEXT_PLAIN, &text));
    ANSWERS(pool_text_free(&text));
    REFUSED(pool_device_describe(h.device, POOL_TEXT_PLAIN, &text));
    REFUSED(pool_next_device(h.pool, &device));
    REFUSED(pool_best_device(h.pool, &device));
    REFUSED(pool_pick_device(h.pool, &pick, &device));
    REFUSED(pool_bind(h.device));
    ANSWERS(pool_unbind(h.device));
    ANSWERS(pool_bound_device(h.pool, &device));
    REFUSED(pool_check_device(h.pool, 0));
    REFUSED(pool_run_on(h.device, run_task, NULL));
    REFUSED(pool_pointer_device(h.pool, &health, &device));
    REFUSED(pool_get_health(h.pool, &health));
    REFUSED(pool_metrics(h.pool, POOL_METRICS_JSON, &text));
    REFUSED(pool_set_phase_timing(h.pool, 1));
    REFUSED(pool_resident_open(h.resident, &exec, &use));
    REFUSED(pool_resident_evict(h.resident, h.device));
    REFUSED(pool_resident_get_info(h.resident, h.device, &resident));
    ANSWERS(pool_resident_bytes(h.resident));
    ANSWERS(pool_resident_bases(h.use));
    ANSWERS(pool_resident_buffer(h.use));
    REFUSED(pool_device_get_info(h.device, &info));
    REFUSED(pool_device_get_compiler(h.device, &compiler));
    REFUSED(pool_device_get_tuning(h.device, &tuning_info));
    REFUSED(pool_tuning_create(h.device, &tuning));
    REFUSED(pool_tuning_path(h.device, path, sizeof(path)));
    REFUSED(pool_device_get_peer(h.device, h.other, &peer));
    REFUSED(pool_device_drain(h.device));
    REFUSED(pool_device_get_limit(h.device, POOL_LIMIT_STACK, &limit));
    REFUSED(pool_device_set_limit(h.device, POOL_LIMIT_STACK, 1024));
    REFUSED(pool_device_get_rate(h.device, &rate));
    REFUSED(pool_device_set_rate(h.device, 1));
    REFUSED(pool_measure_rates(h.pool));
    REFUSED(pool_profiler_start(h.device));
    REFUSED(pool_profiler_stop(h.device));
    REFUSED(pool_device_wait_drained(h.device, 0));
    REFUSED(pool_device_resume(h.device));
    REFUSED(pool_device_probe(h.device, 0));
    REFUSED(pool_device_quarantine(h.device, "why"));
    REFUSED(pool_device_abandon(h.device, "why"));
    REFUSED(pool_device_readmit(h.device));
    ANSWERS(pool_device_index(h.device));
    ANSWERS(pool_device_ordinal(h.device));
    ANSWERS(pool_device_gpu(h.device));
    ANSWERS(pool_device_partition(h.device));
    ANSWERS(pool_device_uuid(h.device));
    ANSWERS(pool_device_handle(h.device, (CUdevice[1]){0}));
    REFUSED(pool_device_context(h.device, &context));
}

static void call_streams(void)
{
    pool_stream *stream = NULL;
    pool_graph *graph = NULL;
    pool_event *event = NULL;
    int32_t least, most;
    uint32_t flags;
    CUstream handle;
    CUevent event_handle;
    double milliseconds;

    REFUSED(pool_stream_get_priority_range(h.device, &least, &most));
    REFUSED(pool_stream_create(h.device, NULL, &stream));
    REFUSED(pool_stream_adopt(h.device, NULL, &stream));
    REFUSED(pool_stream_default(h.device, &stream));
    ANSWERS(pool_stream_device(h.stream));
    ANSWERS(pool_stream_handle(h.stream, &handle));
    REFUSED(pool_stream_get_priority(h.stream, &least));
    REFUSED(pool_stream_get_flags(h.stream, &flags));
    REFUSED(pool_stream_query(h.stream));
    REFUSED(pool_stream_synchronize(h.stream));
    REFUSED(pool_stream_wait(h.stream, 1));
    REFUSED(pool_device_synchronize(h.device));
    REFUSED(pool_device_wait(h.device, 1));
    REFUSED(pool_stream_wait_event(h.stream, h.event));
    REFUSED(pool_stream_fork(h.stream, &h.stream, 1));
    REFUSED(pool_stream_join(h.stream, &h.stream, 1));
    REFUSED(pool_stream_call(h.stream, host_task, NULL));
    REFUSED(pool_stream_begin_capture(h.stream));
    REFUSED(pool_stream_end_capture(h.stream, &graph));
    REFUSED(pool_graph_launch(h.graph, h.stream));
    REFUSED(pool_graph_update(h.graph, h.stream));
    ANSWERS(pool_graph_device(h.graph));
    REFUSED(pool_event_create(h.device, 0, &event));
    ANSWERS(pool_event_device(h.event));
    ANSWERS(pool_event_handle(h.event, &event_handle));
    REFUSED(pool_event_record(h.event, h.stream));
    REFUSED(pool_event_query(h.event));
    REFUSED(pool_event_synchronize(h.event));
    REFUSED(pool_event_wait(h.event, 1));
    REFUSED(pool_event_elapsed(h.event, h.event, &milliseconds));
}

static void call_leases(void)
{
    pool_request request = {.struct_size = sizeof(request)};
    pool_lease_info info = {.struct_size = sizeof(info)};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_lease_counts counts = {.struct_size = sizeof(counts)};
    pool_lease *lease = NULL;
    pool_ticket *ticket = NULL;
    pool_stream *stream;
    pool_device *device;
    int fd;

    REFUSED(pool_acquire(h.pool, &request, &lease));
    REFUSED(pool_acquire_async(h.pool, &request, NULL, NULL, &ticket));
    REFUSED(pool_ticket_fd(h.ticket, &fd));
    REFUSED(pool_ticket_take(h.ticket, &lease));
    ANSWERS(pool_lease_device_count(h.lease));
    ANSWERS(pool_lease_device(h.lease, 0, &device));
    ANSWERS(pool_lease_stream(h.lease, 0, &stream));
    REFUSED(pool_lease_stream(h.other_lease, 0, &stream));
    ANSWERS(pool_lease_get_info(h.lease, &info));
    ANSWERS(pool_lease_get_usage(h.lease, 0, &usage));
    REFUSED(pool_get_lease_counts(h.pool, &counts));
    ANSWERS(pool_request_init(&request, sizeof(request)));
}

static void call_virtual(void)
{
    CUmemGenericAllocationHandle handle;
    pool_physical *physical = NULL;
    pool_range *range = NULL;
    pool_buffer *buffer = NULL;
    CUdeviceptr address;
    uint64_t bytes;
    int descriptor;

    pool_shared_buffer shared = {{0}, 0, 64};
    pool_shared_event shared_event = {{0}};
    pool_event *event = NULL;

    REFUSED(pool_buffer_share(h.shareable, &shared));
    REFUSED(pool_buffer_open(h.device, &shared, &buffer));
    REFUSED(pool_event_open(h.device, &shared_event, &event));
    ANSWERS(pool_event_share(h.event, &shared_event)); /* the event is not shareable */
    REFUSED(pool_virtual_granularity(h.device, &bytes));
    REFUSED(pool_physical_create(h.device, 1, 0, &physical));
    REFUSED(pool_physical_export(h.physical, &descriptor));
    REFUSED(pool_physical_import(h.device, 0, 1, &physical));
    ANSWERS(pool_physical_bytes(h.physical));
    ANSWERS(pool_physical_device(h.physical));
    ANSWERS(pool_physical_handle(h.physical, &handle));
    REFUSED(pool_range_reserve(h.device, 1, &range));
    REFUSED(pool_range_map(h.range, 2 << 20, h.physical));
    REFUSED(pool_range_unmap(h.range, 0, 2 << 20));
    REFUSED(pool_range_grant_access(h.range, &h.other, 1));
    REFUSED(pool_range_buffer(h.range, 0, 64, &buffer));
    ANSWERS(pool_range_address(h.range, &address));
    ANSWERS(pool_range_bytes(h.range));
    ANSWERS(pool_range_mapped_bytes(h.range));
    ANSWERS(pool_range_device(h.range));
}

static void call_memory(void)
{
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = 64};
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_buffer *buffer = NULL;
    pool_pinned *pinned = NULL;
    CUmemoryPool handle;
    CUdeviceptr address;
    pool_span span;
    char bytes[64] = "";

    REFUSED(pool_buffer_create(h.device, &params, &buffer));
    REFUSED(pool_buffer_alloc(h.device, 64, &buffer));
    REFUSED(pool_buffer_zeroed(h.device, 64, &buffer));
    REFUSED(pool_buffer_from_host(h.device, bytes, 64, &buffer));
    REFUSED(pool_buffer_adopt(h.device, 4096, 64, &buffer));
    ANSWERS(pool_buffer_slice(h.buffer, 0, 64, &buffer));
    ANSWERS(pool_buffer_destroy(&buffer));
    ANSWERS(pool_buffer_address(h.buffer, &address));
    ANSWERS(pool_buffer_bytes(h.buffer));
    ANSWERS(pool_buffer_span(h.buffer, 0, 0, POOL_FORM_STANDARD, &span));
    ANSWERS(pool_buffer_flags(h.buffer));
    ANSWERS(pool_buffer_device(h.buffer));
    REFUSED(pool_buffer_fill8(h.buffer, 0, 1, 0, h.stream));
    REFUSED(pool_buffer_fill16(h.buffer, 0, 1, 0, h.stream));
    REFUSED(pool_buffer_fill32(h.buffer, 0, 1, 0, h.stream));
    REFUSED(pool_copy_to_device(h.buffer, 0, bytes, 64, NULL));
    REFUSED(pool_copy_to_host(bytes, h.buffer, 0, 64, h.stream));
    REFUSED(pool_copy_device(h.buffer, 0, h.buffer, 64, 64, NULL));
    REFUSED(pool_copy_2d(&(pool_pitched){.buffer = h.buffer},
        &(pool_pitched){.buffer = h.buffer, .offset = 64}, 8, 2, NULL));
    REFUSED(pool_device_enable_peer(h.device, h.other));
    REFUSED(pool_pinned_create(h.device, 64, 0, &pinned));
    REFUSED(pool_pinned_register(h.device, bytes, 64, 0, &pinned));
    ANSWERS(pool_pinned_data(h.pinned));
    ANSWERS(pool_pinned_bytes(h.pinned));
    ANSWERS(pool_pinned_flags(h.pinned));
    ANSWERS(pool_pinned_device(h.pinned));
    REFUSED(pool_memory_get_info(h.device, &info));
    REFUSED(pool_memory_reset_high_water(h.device));
    REFUSED(pool_memory_set_threshold(h.device, 0));
    REFUSED(pool_pinned_set_threshold(h.device, 0));
    REFUSED(pool_memory_trim(h.device, 0));
    REFUSED(pool_memory_handle(h.device, &handle));
    REFUSED(pool_memory_adopt(h.device, NULL));
}

static void call_modules(void)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = "", .no_cache = 1};
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_launch_shape shape = {.struct_size = sizeof(shape), .grid = {1, 1, 1}, .block = {1, 1, 1}};
    pool_module *module = NULL;
    pool_kernel *kernel;
    CUmodule handle;
    CUfunction function;
    CUdeviceptr address;
    uint64_t bytes;
    uint32_t blocks, threads;
    int32_t percent;

    REFUSED(pool_module_compile(h.device, &params, &module));
    REFUSED(pool_module_load(h.device, kernel_text, sizeof(kernel_text), &module));
    REFUSED(pool_module_load_file(h.device, "/dev/null", &module));
    ANSWERS(pool_module_symbol(h.module, "nothing"));
    ANSWERS(pool_module_device(h.module));
    REFUSED(pool_module_variable(h.module, "counter", &address, &bytes));
    ANSWERS(pool_module_handle(h.module, &handle));
    REFUSED(pool_kernel_get(h.module, "nothing", &kernel));
    ANSWERS(pool_kernel_handle(h.kernel, &function));
    REFUSED(pool_kernel_get_info(h.kernel, &info));
    REFUSED(pool_kernel_set_carveout(h.kernel, 50));
    REFUSED(pool_kernel_get_carveout(h.kernel, &percent));
    ANSWERS(pool_kernel_get_parameter(h.kernel, 0, &bytes, &bytes));
    REFUSED(pool_kernel_get_occupancy(h.kernel, 32, 0, &blocks));
    REFUSED(pool_kernel_get_best_block(h.kernel, 0, &threads, &blocks));
    REFUSED(pool_kernel_get_clusters(h.kernel, &shape, &blocks, NULL));
    REFUSED(pool_launch(h.kernel, &shape, NULL, h.stream));
    REFUSED(pool_warm_up(h.pool, NULL, &params, 1));
}

static void call_msm(void)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES] = {0};
    uint8_t points[64] = {0}, scalars[32] = {0}, result[64];
    pool_span in = {.data = points, .count = 1}, by = {.data = scalars, .count = 1};
    pool_span out = {.data = result, .count = 1};
    pool_bases_params points_params;
    pool_bases *made = NULL;
    pool_msm_params params;
    pool_exec exec;
    uint64_t bytes;

    pool_exec_init(&exec, sizeof(exec));
    pool_msm_params_init(&params, sizeof(params));
    params.curve = curve;
    exec.device = h.device;
    REFUSED(pool_msm(&params, &exec, &in, &by, &out));
    REFUSED(pool_msm_workspace(&params, &exec, &in, &by, &out, &bytes));
    REFUSED(pool_msm_warm_up(
        curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    pool_bases_params_init(&points_params, sizeof(points_params));
    points_params.curve = curve;
    REFUSED(pool_bases_create(&points_params, &exec, &in, &made));
    REFUSED(pool_bases_load(&points_params, &exec, "/dev/null", &made));
    ANSWERS(pool_bases_create_workspace(&points_params, &exec, &in, &bytes, &bytes));
    ANSWERS(pool_bases_load_workspace(&points_params, &exec, "/dev/null", &bytes, &bytes));
    ANSWERS(pool_resident_open_workspace(h.resident, &exec, &bytes));
    ANSWERS(pool_resident_msm_workspace(h.resident, &params, &exec, &by, &out, &bytes));
    pool_msm_joint_params joint;
    pool_msm_term term = {.bases = NULL, .scalars = by};
    pool_msm_joint_params_init(&joint, sizeof(joint));
    ANSWERS(pool_resident_msm_joint_workspace(&h.resident, &joint, &exec, &term, 1, &out, &bytes));
    REFUSED(pool_bases_find(h.device, fingerprint, 1, &made));
    if (h.points) {
        REFUSED(pool_bases_fingerprint(h.points, fingerprint));
        REFUSED(pool_bases_save(h.points, "/tmp/not-written"));
        term.bases = h.points;
        REFUSED(pool_msm_joint(&joint, &exec, &term, 1, &out));
        REFUSED(pool_msm_joint_workspace(&joint, &exec, &term, 1, &out, &bytes));
    }
    ANSWERS(pool_bases_retain(h.points));
    made = h.points;
    ANSWERS(pool_bases_destroy(&made));
    ANSWERS(pool_bases_curve(h.points));
    ANSWERS(pool_bases_device(h.points));
    ANSWERS(pool_bases_count(h.points));
    ANSWERS(pool_bases_bytes(h.points));
    ANSWERS(pool_bases_precompute_factor(h.points));
    ANSWERS(pool_bases_window_bits(h.points));
}

/* The domain is made here, as that of the handles is of another field, and ends with the child. */
static void ecntt_calls(const pool_exec *exec)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_curve_scalar_field(curve),
        .log_size = 1};
    uint8_t points[2 * 64] = {0};
    pool_span span = {.data = points, .count = 2};
    pool_ntt_domain *domain = NULL;
    pool_ecntt_params params;
    uint64_t bytes;

    pool_ecntt_params_init(&params, sizeof(params));
    ANSWERS(pool_ntt_domain_create(&domain_params, &domain));
    params.curve = curve;
    params.domain = domain;
    REFUSED(pool_ecntt(&params, exec, &span, &span));
    REFUSED(pool_ecntt_workspace(&params, exec, &span, &span, &bytes));
    REFUSED(pool_ecntt_warm_up(
        curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = exec->device}));
}

static void call_ntt(void)
{
    uint64_t values[1 << LOG_SIZE] = {0};
    pool_span in = {.data = values, .count = 1 << LOG_SIZE}, out = in;
    pool_ntt_domain *domain = h.domain;
    const pool_field *field = pool_field_by_name("goldilocks");
    pool_ntt_params params;
    pool_ntt_extend_params extension;
    pool_exec exec = {.struct_size = sizeof(exec)};
    uint64_t bytes;

    pool_ntt_params_init(&params, sizeof(params));
    params.domain = h.domain;
    exec.device = h.device;
    REFUSED(pool_ntt(&params, &exec, &in, &out));
    REFUSED(pool_ntt_workspace(&params, &exec, &in, &out, &bytes));
    REFUSED(pool_ntt_warm_up(
        h.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    pool_ntt_extend_params_init(&extension, sizeof(extension));
    extension.domain = h.domain;
    REFUSED(pool_ntt_extend(&extension, &exec, &in, NULL, &out));
    ANSWERS(pool_ntt_extend_workspace(&extension, &exec, &in, NULL, &out, &bytes));
    REFUSED(pool_ntt_extend_warm_up(
        &extension, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    ecntt_calls(&exec);
    ANSWERS(pool_ntt_domain_bytes(h.domain, h.device, &bytes));
    ANSWERS(pool_vector_workspace(field, &exec, POOL_VECTOR_SUB, &in, &in, &out, &bytes));
    REFUSED(pool_vector_warm_up(
        field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    ANSWERS(pool_ntt_domain_retain(h.domain));
    ANSWERS(pool_ntt_domain_destroy(&domain));
    ANSWERS(pool_ntt_domain_field(h.domain));
    ANSWERS(pool_ntt_domain_log_size(h.domain));
    ANSWERS(pool_ntt_domain_root(h.domain, POOL_FORM_STANDARD, values));
    ANSWERS(pool_ntt_domain_coset(h.domain, POOL_FORM_STANDARD, values));
    REFUSED(pool_ntt_domain_power(h.domain, 1, &domain));
    REFUSED(pool_vector_add(field, &exec, &in, &in, &out));
    REFUSED(pool_vector_sub(field, &exec, &in, &in, &out));
    REFUSED(pool_vector_mul(field, &exec, &in, &in, &out));
    REFUSED(pool_vector_scale(field, &exec, values, &in, &out));
    REFUSED(pool_vector_inverse(field, &exec, &in, &out));
    REFUSED(pool_vector_bit_reverse(field, &exec, &in, &out));
    REFUSED(pool_vector_transpose(field, &exec, 2, 4, &in, &out));
    REFUSED(pool_vector_powers(field, &exec, values, &out));
    REFUSED(pool_vector_evaluate(field, &exec, &in, values, values));
}

static void call_poseidon(void)
{
    uint8_t states[6 * 32] = {0}, digests[8 * 32];
    pool_span in = {.data = states, .count = 1}, out = {.data = digests, .count = 1};
    pool_span rows = {.data = digests, .count = 3};
    pool_poseidon_sponge_params sponge;
    pool_merkle_params merkle;
    uint64_t bytes;
    pool_exec run;

    pool_exec_init(&run, sizeof(run));
    run.device = h.device;
    pool_poseidon_sponge_params_init(&sponge, sizeof(sponge));
    sponge.elements = 2;
    sponge.output_elements = 1;
    pool_merkle_params_init(&merkle, sizeof(merkle));
    merkle.arity = 2;
    REFUSED(pool_poseidon_warm_up(
        h.set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    REFUSED(pool_poseidon_permute(h.set, &run, &in, &out));
    REFUSED(pool_poseidon_hash(h.set, &run, &in, 2, &out));
    REFUSED(pool_poseidon_sponge(h.set, &run, &sponge, &in, &out));
    in.count = 2;
    REFUSED(pool_poseidon_merkle_build(h.set, &run, &merkle, &in, &rows));
    ANSWERS(pool_poseidon_merkle_shards(h.set, &run, &merkle, &in, &bytes));
    ANSWERS(pool_poseidon_merkle_open(h.set, &run, &merkle, 2, &in, &rows, 0, &out));
    ANSWERS(pool_poseidon_permute_workspace(h.set, &run, &in, &in, &bytes));
    ANSWERS(pool_poseidon_hash_workspace(h.set, &run, &in, 2, &in, &bytes));
    ANSWERS(pool_poseidon_sponge_workspace(h.set, &run, &sponge, &in, &in, &bytes));
    ANSWERS(pool_poseidon_merkle_build_workspace(h.set, &run, &merkle, &in, &rows, &bytes));
    ANSWERS(
        pool_poseidon_merkle_open_workspace(h.set, &run, &merkle, 2, &in, &rows, 0, &out, &bytes));
}

static void call_commit(void)
{
    uint8_t elements[2 * 32] = {0}, digests[4 * 32];
    const pool_matrix matrix = {.span = {.data = elements, .count = 1}, .height = 2, .width = 1};
    const pool_span levels = {.data = digests, .count = 3};
    const pool_span row = {.data = elements, .count = 1}, path = {.data = digests, .count = 1};
    const uint64_t index = 0;
    pool_ntt_extend_params extend = {.struct_size = sizeof(extend), .domain = h.domain};
    const pool_extension extension = {.params = &extend};
    pool_matrix_commit_params params;
    pool_matrix_commit_shape shape = {.struct_size = sizeof(shape)};
    int32_t is_member;
    uint64_t bytes;
    pool_exec run;

    pool_exec_init(&run, sizeof(run));
    run.device = h.device;
    pool_matrix_commit_params_init(&params, sizeof(params));
    params.set = h.set;
    REFUSED(pool_matrix_commit_warm_up(
        &params, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    REFUSED(pool_matrix_commit(&params, &run, &matrix, 1, &levels));
    ANSWERS(pool_extend_commit(&params, &run, &extension, 1, &levels));
    ANSWERS(pool_extend_commit_workspace(&params, &run, &extension, 1, &levels, &bytes));
    ANSWERS(pool_matrix_commit_workspace(&params, &run, &matrix, 1, &levels, &bytes));
    ANSWERS(pool_matrix_commit_get_shape(&params, &matrix, 1, &shape));
    ANSWERS(pool_matrix_commit_shards(&params, &run, &matrix, 1, &bytes));
    ANSWERS(pool_matrix_open(&params, &run, &matrix, 1, &levels, &index, 1, &row, &path));
    ANSWERS(pool_matrix_open_workspace(&params, &run, &matrix, 1, &levels, 1, &row, &path, &bytes));
    ANSWERS(pool_matrix_verify(
        &params, POOL_FORM_STANDARD, &matrix, 1, digests, 0, elements, digests, &is_member));
}

static void call_fri(void)
{
    static uint32_t values[8], results[4], digests[8];
    const pool_field *field = pool_field_by_name("babybear_x4");
    const pool_span in = {.data = values, .count = 2}, out = {.data = results, .count = 1};
    const pool_span levels = {.data = digests, .count = 1};
    const pool_matrix matrix = {.span = {.data = values, .count = 1}, .height = 2, .width = 1};
    pool_fri_fold_params params;
    pool_matrix_evaluate_params evaluate;
    pool_matrix_commit_params commit;
    pool_matrix layer[POOL_FRI_MAX_ARITY];
    uint32_t count;
    uint64_t bytes;
    pool_exec run;

    pool_exec_init(&run, sizeof(run));
    run.device = h.device;
    pool_fri_fold_params_init(&params, sizeof(params));
    pool_matrix_evaluate_params_init(&evaluate, sizeof(evaluate));
    pool_matrix_commit_params_init(&commit, sizeof(commit));
    params.field = evaluate.field = field;
    params.domain = h.domain;
    params.log_arity = 1;
    params.challenge = values;
    commit.set = h.set;
    ANSWERS(pool_field_base(field) != pool_field_by_name("babybear"));
    ANSWERS(pool_field_degree(field) != 4);
    REFUSED(pool_fri_warm_up(
        field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = h.device}));
    ANSWERS(pool_fri_fold(&params, &run, &in, &out));
    ANSWERS(pool_fri_fold_workspace(&params, &run, &in, &out, &bytes));
    ANSWERS(pool_fri_fold_commit(&params, 0, &commit, &run, &in, &out, &levels));
    ANSWERS(pool_fri_fold_commit_workspace(&params, 0, &commit, &run, &in, &out, &levels, &bytes));
    ANSWERS(pool_fri_layer(field, &in, 1, 0, layer, &count));
    REFUSED(pool_matrix_evaluate(&evaluate, &run, &matrix, values, 1, results));
    ANSWERS(pool_matrix_evaluate_workspace(&evaluate, &run, &matrix, 1, &bytes));
    ANSWERS(pool_matrix_bit_reverse(pool_field_base(field), &run, &matrix, &matrix));
}

static void call_sim(void)
{
    pool_sim_fault fault = {.struct_size = sizeof(fault)};
    uint64_t count;
    char *text = NULL;

    REFUSED(pool_sim_set_faults("cuMemAlloc@1=2"));
    REFUSED(pool_sim_resume());
    REFUSED(pool_sim_set_reports(0));
    REFUSED(pool_sim_get_last_fault(&fault));
    REFUSED(pool_sim_kernel_stats_each(visit_kernel, NULL));
    REFUSED(pool_sim_kernel_stats_reset());
    REFUSED(pool_sim_kernel_stats_text(POOL_TEXT_PLAIN, &text));
    REFUSED(pool_sim_leaks(POOL_TEXT_PLAIN, &count, &text));
    REFUSED(pool_sim_profile_text(POOL_TEXT_PLAIN, &text));
}

#define DESTROYED(call)                                                                            \
    do {                                                                                           \
        begin_call(#call);                                                                         \
        CHILD_CHECK((call) == POOL_OK);                                                            \
    } while (0)

static int destroy_all(void)
{
    if (h.points)
        DESTROYED(pool_bases_destroy(&h.points));
    DESTROYED(pool_resident_close(&h.use));
    DESTROYED(pool_resident_destroy(&h.resident));
    DESTROYED(pool_ntt_domain_destroy(&h.domain));
    DESTROYED(pool_module_destroy(&h.module));
    DESTROYED(pool_pinned_destroy(&h.pinned));
    DESTROYED(pool_buffer_destroy(&h.shareable));
    DESTROYED(pool_buffer_destroy(&h.in_range));
    DESTROYED(pool_range_destroy(&h.range));
    DESTROYED(pool_physical_destroy(&h.physical));
    DESTROYED(pool_buffer_destroy_on(&h.slice, h.stream));
    DESTROYED(pool_buffer_destroy(&h.buffer));
    DESTROYED(pool_graph_destroy(&h.graph));
    DESTROYED(pool_event_destroy(&h.event));
    DESTROYED(pool_release(&h.lease));
    DESTROYED(pool_ticket_destroy(&h.ticket));
    DESTROYED(pool_ticket_destroy(&h.other_ticket));
    DESTROYED(pool_stream_destroy(&h.stream));
    DESTROYED(pool_destroy(&h.pool));
    CHILD_CHECK(!h.pool && !h.stream && !h.buffer && !h.module && !h.domain);
    return 0;
}

/* Functions that take no handle of a pool, by the beginnings of their names, and plain values. */
static const char *const without_handles[] = {"pool_field_", "pool_curve_", "pool_point_",
    "pool_points_check", "pool_points_convert", "pool_points_decode", "pool_points_encode",
    "pool_random_", "pool_encoding_", "pool_cache_", "pool_pack_", "pool_tuning_", "pool_file_",
    "pool_cancel_", "pool_version_", "pool_resident_create", "pool_resident_params_init",
    "pool_status_", "pool_error_", "pool_last_error", "pool_log_", "pool_setting_",
    "pool_trace_set", "pool_host_get_info", "pool_image_free", "pool_module_build",
    "pool_launch_shape_for", "pool_sim_class_name", "pool_create", "pool_ntt_domain_create",
    "pool_merkle_get_shape", "pool_poseidon_merkle_verify", "pool_poseidon_count",
    "pool_poseidon_create", "pool_poseidon_destroy", "pool_poseidon_digest_elements",
    "pool_poseidon_field", "pool_poseidon_fingerprint", "pool_poseidon_by_name",
    "pool_poseidon_max_inputs", "pool_poseidon_name", "pool_poseidon_rate", "pool_poseidon_retain",
    "pool_poseidon_width"};

static int needs_no_call(const char *name)
{
    size_t length = strlen(name);

    if (length > 5 && strcmp(name + length - 5, "_init") == 0)
        return 1;
    for (size_t i = 0; i < sizeof(without_handles) / sizeof(without_handles[0]); i++)
        if (strncmp(name, without_handles[i], strlen(without_handles[i])) == 0)
            return 1;
    return 0;
}

static int call_everything(void *argument)
{
    (void)argument;
    alarm(CHILD_SECONDS);
    atomic_store(&is_watched, 1);
    call_pool();
    call_streams();
    call_leases();
    call_memory();
    call_virtual();
    call_modules();
    call_msm();
    call_ntt();
    call_poseidon();
    call_commit();
    call_fri();
    call_sim();
    CHILD_CHECK(!destroy_all());
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (is_called[i] || needs_no_call(functions[i]) ||
            (!h.points && strncmp(functions[i], "pool_points_", 12) == 0))
            continue;
        fprintf(stderr, "%s is not called here: add it, or to without_handles\n", functions[i]);
        failures++;
    }
    CHILD_CHECK(!failures && !atomic_load(&touched));
    return 0;
}

static void test_every_function(void **state)
{
    (void)state;
    make_handles();
    assert_int_equal(child_run(call_everything, NULL), 0);
    destroy_handles();
}

/* A caller that ends the pool alone, with everything that lives in it. */
static int destroy_pool_alone(void *argument)
{
    (void)argument;
    alarm(CHILD_SECONDS);
    atomic_store(&is_watched, 1);
    DESTROYED(pool_destroy(&h.pool));
    return 0;
}

static void test_pool_alone(void **state)
{
    (void)state;
    make_handles();
    assert_int_equal(child_run(destroy_pool_alone, NULL), 0);
    destroy_handles();
}

/* ---- threads that hold and wait -------------------------------------------------------------- */

enum { COPIERS = 6, RINGS = 4, ROUNDS = 20 };

static void *copy_much(void *argument)
{
    const uint64_t bytes = 2 * MIB;
    void *from = calloc(1, (size_t)bytes);
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_from_host(h.device, from, bytes, &buffer);

    if (!status)
        status = pool_buffer_destroy(&buffer);
    free(from);
    *(pool_status *)argument = status;
    return NULL;
}

static int end_without_the_watch(void *argument)
{
    pool_kernel *kernel;
    uint64_t count;

    (void)argument;
    alarm(CHILD_SECONDS);
    CHILD_CHECK(pool_kernel_get(h.module, "nothing", &kernel) == POOL_ERR_FORKED);
    CHILD_CHECK(pool_sim_leaks(POOL_TEXT_PLAIN, &count, NULL) == POOL_ERR_FORKED);
    CHILD_CHECK(pool_sim_set_faults("") == POOL_ERR_FORKED);
    CHILD_CHECK(pool_sim_resume() == POOL_ERR_FORKED);
    CHILD_CHECK(!destroy_all());
    return 0;
}

/* Four copies have a staging ring whose device work hangs; the others wait for one of these. */
static void test_waiting_for_staging(void **state)
{
    pthread_t threads[COPIERS];
    pool_status results[COPIERS];
    int idle;

    (void)state;
    make_handles();
    idle = atomic_load(&waiting);
    assert_ok(pool_sim_set_faults("cuMemcpyHtoDAsync=hang"));
    for (int i = 0; i < COPIERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, copy_much, &results[i]), 0);
    while (atomic_load(&waiting) < idle + COPIERS)
        usleep(1000);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(child_run(end_without_the_watch, NULL), 0);
    assert_ok(pool_sim_set_faults(""));
    assert_ok(pool_sim_resume());
    for (int i = 0; i < COPIERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(results[i], POOL_OK);
    }
    destroy_handles();
}

/* ThreadSanitizer does not keep the locks of its own allocator over a fork: while other threads
 * call all the time, a child that frees memory may wait in it for ever. */
#ifndef __SANITIZE_THREAD__

static atomic_int is_over;

/* One after another takes the simulated driver's lock, the module's and the list of streams'. */
static void *call_all_the_time(void *argument)
{
    pool_kernel *kernel;
    uint64_t count;

    (void)argument;
    while (!atomic_load(&is_over)) {
        pool_stream *stream = NULL;

        if (pool_kernel_get(h.module, "nothing", &kernel) ||
            pool_sim_leaks(POOL_TEXT_PLAIN, &count, NULL) || pool_sim_resume() ||
            pool_stream_create(h.device, NULL, &stream) || pool_stream_destroy(&stream))
            abort();
    }
    return NULL;
}

static void test_busy_threads(void **state)
{
    pthread_t threads[2];

    (void)state;
    make_handles();
    atomic_store(&is_over, 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_all_the_time, NULL), 0);
    for (int i = 0; i < 2 * ROUNDS; i++)
        assert_int_equal(child_run(end_without_the_watch, NULL), 0);
    atomic_store(&is_over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    destroy_handles();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_function),
        cmocka_unit_test(test_pool_alone),
        cmocka_unit_test(test_waiting_for_staging),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(test_busy_threads),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
