/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident objects: loaded once per device, evicted when memory is needed, restored from their
 * source, never evicted in use.
 *
 *   test_resident [DEVICES]
 */
#include "support/assert.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pool/device/device.h"

enum { COUNT = 64, LIMIT_MIB = 64 };

/* Drivers of GPUs hold memory in blocks of some MiB: there all sizes are larger. */
static uint64_t mib = 1 << 20;

static const char *devices = "sim:2,mem=256M";
static device_pool *pool;
static pool_device *device[2];
static size_t device_count;

static pool_exec on(size_t index)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .device = device[index]};
}

static int open_pool(void **state)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .memory_limit = LIMIT_MIB * mib};

    (void)state;
    assert_ok(pool_create(&pool, &params));
    device_count = pool_device_count(pool);
    for (size_t i = 0; i < 2 && i < device_count; i++)
        assert_ok(pool_device_at(pool, i, &device[i]));
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    assert_ok(pool_destroy(&pool));
    return 0;
}

/* ---- buffers from a source ---------------------------------------------------------------------
 */

/* A source whose buffers are filled with its byte. */
struct source {
    uint8_t byte;
    uint64_t bytes;
    atomic_int calls;
    pool_status failure;
};

static pool_status fill(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    struct source *source = user;
    pool_status status;

    atomic_fetch_add(&source->calls, 1);
    if (source->failure)
        return source->failure;
    status = pool_buffer_alloc(exec->device, source->bytes, buffer);
    return status ? status
                  : pool_buffer_fill8(*buffer, 0, source->bytes, source->byte, exec->stream);
}

static pool_resident *register_source(struct source *source, uint32_t flags)
{
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "a buffer",
        .flags = flags,
        .source = fill,
        .user = source,
        .bytes = source->bytes};
    pool_resident *made = NULL;

    assert_ok(pool_resident_create(pool, &params, &made));
    return made;
}

static void check_bytes(const pool_resident_use *use, uint8_t byte)
{
    uint8_t seen[16];

    memset(seen, ~byte, sizeof(seen));
    assert_ok(pool_copy_to_host(seen, pool_resident_buffer(use), 0, sizeof(seen), NULL));
    for (size_t i = 0; i < sizeof(seen); i++)
        assert_int_equal(seen[i], byte);
}

static void use_once(pool_resident *resident, size_t index, uint8_t byte)
{
    const pool_exec exec = on(index);
    pool_resident_use *use = NULL;

    assert_ok(pool_resident_open(resident, &exec, &use));
    check_bytes(use, byte);
    assert_ok(pool_resident_close(&use));
    assert_null(use);
}

static pool_resident_info info_of(pool_resident *resident, size_t index)
{
    pool_resident_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_resident_get_info(resident, device[index], &info));
    return info;
}

static void test_loaded_once_per_device(void **state)
{
    struct source source = {.byte = 7, .bytes = mib};
    pool_resident *resident = register_source(&source, 0);

    (void)state;
    assert_int_equal(pool_resident_bytes(resident), mib);
    assert_int_equal(info_of(resident, 0).is_resident, 0);
    use_once(resident, 0, 7);
    use_once(resident, 0, 7);
    assert_int_equal(atomic_load(&source.calls), 1);
    assert_int_equal(info_of(resident, 0).is_resident, 1);
    assert_int_equal(info_of(resident, 0).loads, 1);
    if (device_count > 1) {
        use_once(resident, 1, 7);
        assert_int_equal(atomic_load(&source.calls), 2);
    }
    assert_ok(pool_resident_evict(resident, device[0]));
    assert_int_equal(info_of(resident, 0).is_resident, 0);
    use_once(resident, 0, 7);
    assert_int_equal(info_of(resident, 0).loads, 2);
    assert_ok(pool_resident_destroy(&resident));
    assert_null(resident);
}

/* Four objects of 24 MiB below a limit of 64: two fit. */
static void test_least_recently_used_is_evicted(void **state)
{
    struct source sources[4];
    pool_resident *residents[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        sources[i] = (struct source){.byte = (uint8_t)(10 + i), .bytes = 24 * mib};
        residents[i] = register_source(&sources[i], 0);
    }
    use_once(residents[0], 0, 10);
    use_once(residents[1], 0, 11);
    use_once(residents[0], 0, 10);
    use_once(residents[2], 0, 12); /* evicts 1 */
    assert_int_equal(info_of(residents[0], 0).is_resident, 1);
    assert_int_equal(info_of(residents[1], 0).is_resident, 0);
    use_once(residents[3], 0, 13); /* evicts 0 */
    assert_int_equal(info_of(residents[0], 0).is_resident, 0);
    use_once(residents[0], 0, 10);
    assert_int_equal(atomic_load(&sources[0].calls), 2);
    for (int i = 0; i < 4; i++)
        assert_ok(pool_resident_destroy(&residents[i]));
}

static void test_objects_in_use_stay(void **state)
{
    struct source first_source = {.byte = 1, .bytes = 40 * mib};
    struct source second_source = {.byte = 2, .bytes = 40 * mib};
    pool_resident *first = register_source(&first_source, 0);
    pool_resident *second = register_source(&second_source, 0);
    const pool_exec exec = on(0);
    pool_resident_use *use = NULL, *refused = NULL;

    (void)state;
    assert_ok(pool_resident_open(first, &exec, &use));
    assert_status(pool_resident_open(second, &exec, &refused), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_null(refused);
    check_bytes(use, 1);
    assert_status(pool_resident_evict(first, device[0]), POOL_ERR_BUSY);
    assert_status(pool_resident_destroy(&first), POOL_ERR_BUSY);
    assert_non_null(first);
    assert_ok(pool_resident_close(&use));
    use_once(second, 0, 2);
    assert_int_equal(info_of(first, 0).is_resident, 0);
    assert_ok(pool_resident_destroy(&first));
    assert_ok(pool_resident_destroy(&second));
}

static void test_pinned_objects_stay(void **state)
{
    struct source source = {.byte = 3, .bytes = 40 * mib};
    pool_resident *pinned = register_source(&source, POOL_RESIDENT_PINNED);
    pool_buffer *buffer = NULL;

    (void)state;
    use_once(pinned, 0, 3);
    assert_status(pool_buffer_alloc(device[0], 40 * mib, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    use_once(pinned, 0, 3);
    assert_int_equal(atomic_load(&source.calls), 1);
    assert_ok(pool_resident_destroy(&pinned));
    assert_ok(pool_buffer_alloc(device[0], 40 * mib, &buffer));
    assert_ok(pool_buffer_destroy(&buffer));
}

static void test_plain_allocations_evict(void **state)
{
    struct source source = {.byte = 4, .bytes = 40 * mib};
    pool_resident *resident = register_source(&source, 0);
    pool_buffer *buffer = NULL;

    (void)state;
    use_once(resident, 0, 4);
    assert_ok(pool_buffer_alloc(device[0], 40 * mib, &buffer));
    assert_int_equal(info_of(resident, 0).is_resident, 0);
    assert_ok(pool_buffer_destroy(&buffer));
    use_once(resident, 0, 4);
    assert_ok(pool_resident_destroy(&resident));
}

static void sleep_100_ms(void *user)
{
    const struct timespec time = {.tv_nsec = 100000000};

    (void)user;
    nanosleep(&time, NULL);
}

static pool_status fill_late(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    pool_status status = pool_stream_call(exec->stream, sleep_100_ms, NULL);

    return status ? status : fill(user, exec, buffer);
}

/* The source returns before its work is done; other streams see the whole copy nevertheless. */
static void test_source_with_enqueued_work(void **state)
{
    struct source source = {.byte = 9, .bytes = mib};
    const pool_resident_params params = {
        .struct_size = sizeof(params), .source = fill_late, .user = &source, .bytes = source.bytes};
    pool_resident *resident = NULL;
    pool_resident_use *use = NULL;
    pool_exec exec = on(0);

    (void)state;
    assert_ok(pool_stream_create(device[0], NULL, &exec.stream));
    assert_ok(pool_resident_create(pool, &params, &resident));
    assert_ok(pool_resident_open(resident, &exec, &use));
    check_bytes(use, 9);
    assert_ok(pool_resident_close(&use));
    assert_ok(pool_resident_destroy(&resident));
    assert_ok(pool_stream_destroy(&exec.stream));
}

static void test_failing_sources(void **state)
{
    struct source source = {.byte = 5, .bytes = mib, .failure = POOL_ERR_IO};
    pool_resident *resident = register_source(&source, 0);
    const pool_exec exec = on(0);
    pool_resident_use *use = NULL;

    (void)state;
    assert_status(pool_resident_open(resident, &exec, &use), POOL_ERR_IO);
    assert_null(use);
    source.failure = POOL_OK;
    use_once(resident, 0, 5);
    assert_ok(pool_resident_destroy(&resident));
}

/* ---- threads ------------------------------------------------------------------------------------
 */

struct load_test {
    pool_resident *residents[6];
    atomic_int wrong;
};

static void *use_many(void *argument)
{
    struct load_test *test = argument;
    unsigned seed = (unsigned)(uintptr_t)&seed;

    for (int i = 0; i < 60; i++) {
        int which = rand_r(&seed) % 6;
        const pool_exec exec = on((size_t)rand_r(&seed) % (device_count < 2 ? 1 : 2));
        pool_resident_use *use = NULL;
        uint8_t seen[4] = {0};
        pool_status status = pool_resident_open(test->residents[which], &exec, &use);

        if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
            continue; /* all others are in use */
        if (status || pool_copy_to_host(seen, pool_resident_buffer(use), 0, sizeof(seen), NULL) ||
            seen[0] != 20 + which || seen[3] != 20 + which)
            atomic_fetch_add(&test->wrong, 1);
        if (pool_resident_close(&use))
            atomic_fetch_add(&test->wrong, 1);
    }
    return NULL;
}

static void test_threads_under_memory_pressure(void **state)
{
    struct source sources[6];
    struct load_test test = {.wrong = 0};
    pthread_t threads[8];

    (void)state;
    for (int i = 0; i < 6; i++) {
        sources[i] = (struct source){.byte = (uint8_t)(20 + i), .bytes = 24 * mib};
        test.residents[i] = register_source(&sources[i], 0);
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_many, &test), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&test.wrong), 0);
    for (int i = 0; i < 6; i++)
        assert_ok(pool_resident_destroy(&test.residents[i]));
}

/* ---- bases
 * --------------------------------------------------------------------------------------- */

/* sum of i * G, from points that are resident: before and after an eviction. */
static void test_bases_are_restored(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    pool_bases_params bases = {.struct_size = sizeof(bases), .curve = curve};
    pool_msm_params msm = {.struct_size = sizeof(msm), .batch = 1};
    uint8_t points[COUNT * 64], scalars[COUNT * 32], result[3][64];
    const pool_span points_span = {.data = points, .count = COUNT};
    const pool_span scalars_span = {.data = scalars, .count = COUNT};
    pool_resident_params params = {.struct_size = sizeof(params),
        .name = "bn254 key",
        .bases = &bases,
        .points = &points_span};
    const pool_exec exec = on(0);
    pool_resident *resident = NULL;

    (void)state;
    memset(result, 0, sizeof(result));
    assert_ok(pool_random_points(curve, 1, COUNT, NULL, points, NULL));
    assert_ok(
        pool_random_scalars(pool_curve_scalar_field(curve), 2, COUNT, POOL_FORM_STANDARD, scalars));
    assert_ok(pool_resident_create(pool, &params, &resident));
    for (int i = 0; i < 3; i++) {
        const pool_span result_span = {.data = result[i], .count = 1};
        pool_resident_use *use = NULL;

        msm.curve = i < 2 ? NULL : curve;
        msm.bases = NULL;
        if (i < 2) {
            assert_ok(pool_resident_open(resident, &exec, &use));
            assert_null(pool_resident_buffer(use));
            msm.bases = pool_resident_bases(use);
        }
        assert_ok(pool_msm(&msm, &exec, i < 2 ? NULL : &points_span, &scalars_span, &result_span));
        assert_ok(pool_resident_close(&use));
        if (i == 0)
            assert_ok(pool_resident_evict(resident, device[0]));
    }
    assert_memory_equal(result[0], result[1], 64);
    assert_memory_equal(result[0], result[2], 64);
    assert_int_equal(info_of(resident, 0).loads, 2);
    assert_ok(pool_resident_destroy(&resident));
}

static double evictions(void)
{
    static const char name[] = "devicepool_resident_evictions_total{device=\"0\"} ";
    char *text = NULL;
    const char *at;
    double value;

    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    assert_non_null(at);
    value = strtod(at + sizeof(name) - 1, NULL);
    pool_text_free(&text);
    return value;
}

/* The tables of a domain are evicted for an allocation and computed again. */
static void test_domain_tables_are_restored(void **state)
{
    pool_ntt_domain_params params = {.struct_size = sizeof(params), .log_size = 12};
    pool_ntt_params ntt = {.struct_size = sizeof(ntt)};
    static uint8_t values[3][(1 << 12) * 32];
    const pool_exec exec = on(0);
    pool_ntt_domain *domain = NULL;
    pool_buffer *buffer = NULL;
    double before;

    (void)state;
    params.field = pool_field_by_name("bn254_fr");
    assert_ok(pool_ntt_domain_create(&params, &domain));
    ntt.domain = domain;
    assert_ok(pool_random_scalars(params.field, 3, 1 << 12, POOL_FORM_STANDARD, values[0]));
    for (int i = 1; i < 3; i++) {
        const pool_span in = {.data = values[0], .count = 1 << 12};
        const pool_span out = {.data = values[i], .count = 1 << 12};

        assert_ok(pool_ntt(&ntt, &exec, &in, &out));
        if (i == 2)
            break;
        /* As much as there is without the tables. */
        before = evictions();
        assert_ok(pool_memory_trim(device[0], 0));
        assert_ok(pool_buffer_alloc(device[0], LIMIT_MIB * mib - 100 * 1024, &buffer));
        assert_true(evictions() > before);
        assert_ok(pool_buffer_destroy(&buffer));
    }
    assert_memory_equal(values[1], values[2], sizeof(values[1]));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

/* ---- modules -----------------------------------------------------------------------------------
 */

enum { VALUES = 100 };

/* The description's part about a resident object; NULL: it has none of that name. */
static bool is_listed(device_pool *of, const char *name, const char *users)
{
    char *text = NULL, wanted[160];
    const char *at;
    bool is_found;

    snprintf(wanted, sizeof(wanted), "\"name\":\t\"%s\"", name);
    assert_ok(pool_describe(of, POOL_TEXT_JSON, &text));
    at = strstr(text, wanted);
    is_found = at != NULL;
    if (at) {
        const char *end = strchr(at, '}');

        snprintf(wanted, sizeof(wanted), "\"users\":\t%s,", users);
        at = strstr(at, wanted);
        assert_true(at && at < end);
    }
    pool_text_free(&text);
    return is_found;
}

/* The driver has not that much: everything that is unused is evicted. */
static void exhaust(pool_device *of)
{
    pool_buffer *none = NULL;

    assert_status(pool_buffer_alloc(of, UINT64_C(1) << 45, &none), POOL_ERR_OUT_OF_DEVICE_MEMORY);
}

static void add_values(pool_device *of)
{
    const pool_field *field = pool_field_by_name("babybear");
    const pool_exec exec = {.struct_size = sizeof(exec), .device = of};
    uint32_t a[VALUES], b[VALUES], sum[VALUES];
    const pool_span spans[] = {
        {.data = a, .count = VALUES}, {.data = b, .count = VALUES}, {.data = sum, .count = VALUES}};

    for (uint32_t i = 0; i < VALUES; i++) {
        a[i] = i;
        b[i] = 1000 * i;
        sum[i] = 0;
    }
    assert_ok(pool_vector_add(field, &exec, &spans[0], &spans[1], &spans[2]));
    for (uint32_t i = 0; i < VALUES; i++)
        assert_int_equal(sum[i], 1001 * i);
}

/* The library's modules are unloaded where the device has no memory left, also while work is
 * unfinished, and loaded again; a module of the caller's stays. */
static void test_modules_are_restored(void **state)
{
    static const char name[] = "vector/vector.cu of babybear";
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry nothing()\n{\n    ret;\n}\n";
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_stream *stream = NULL;
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    device_pool *other = NULL;
    pool_device *on_it = NULL;

    (void)state;
    assert_ok(pool_create(&other, &params));
    assert_ok(pool_device_at(other, 0, &on_it));
    assert_ok(pool_module_load(on_it, ptx, sizeof(ptx), &module));
    assert_ok(pool_kernel_get(module, "nothing", &kernel));
    add_values(on_it);
    assert_true(is_listed(other, name, "0"));
    assert_true(is_listed(other, "an image", "1"));
    exhaust(on_it);
    assert_false(is_listed(other, name, "0"));
    assert_true(is_listed(other, "an image", "1"));
    add_values(on_it);
    assert_true(is_listed(other, name, "0"));
    /* The unload waits for the work. */
    assert_ok(pool_stream_create(on_it, NULL, &stream));
    assert_ok(pool_stream_call(stream, sleep_100_ms, NULL));
    exhaust(on_it);
    assert_false(is_listed(other, name, "0"));
    add_values(on_it);
    assert_true(is_listed(other, name, "0"));
    assert_ok(pool_launch(kernel, &shape, NULL, stream));
    assert_ok(pool_stream_destroy(&stream));
    assert_ok(pool_module_destroy(&module));
    assert_false(is_listed(other, "an image", "1"));
    assert_ok(pool_destroy(&other));
}

/* ---- misuse
 * -------------------------------------------------------------------------------------- */

static void test_description_lists_objects(void **state)
{
    struct source source = {.byte = 2, .bytes = mib};
    pool_resident *resident = register_source(&source, 0);
    const pool_exec exec = on(0);
    pool_resident_use *use = NULL;
    char bytes[40];
    char *text = NULL;

    (void)state;
    snprintf(bytes, sizeof(bytes), "\"bytes\":\t%llu", (unsigned long long)mib);
    assert_ok(pool_resident_open(resident, &exec, &use));
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"kind\":\t\"buffer\""));
    assert_non_null(strstr(text, "\"name\":\t\"a buffer\""));
    assert_non_null(strstr(text, bytes));
    assert_non_null(strstr(text, "\"users\":\t1"));
    assert_non_null(strstr(text, "\"pinned\":\tfalse"));
    pool_text_free(&text);
    assert_ok(pool_resident_close(&use));
    assert_ok(pool_resident_destroy(&resident));
}

static void test_bad_params_are_refused(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_bases_params bases = {.struct_size = sizeof(bases), .curve = curve};
    struct source source = {.bytes = mib};
    pool_resident_params params = {.struct_size = sizeof(params), .name = "x"};
    pool_resident *resident = NULL;
    pool_resident_use *none = NULL;

    (void)state;
    assert_status(pool_resident_create(pool, &params, &resident), POOL_ERR_INVALID_ARGUMENT);
    assert_says("exactly one");
    params.source = fill;
    params.user = &source;
    assert_status(pool_resident_create(pool, &params, &resident), POOL_ERR_INVALID_ARGUMENT);
    assert_says("bytes");
    params.bytes = mib;
    params.bases = &bases;
    assert_status(pool_resident_create(pool, &params, &resident), POOL_ERR_INVALID_ARGUMENT);
    params.bases = NULL;
    params.flags = 2;
    assert_status(pool_resident_create(pool, &params, &resident), POOL_ERR_INVALID_ARGUMENT);
    params = (pool_resident_params){.struct_size = sizeof(params), .path = "/nowhere"};
    assert_status(pool_resident_create(pool, &params, &resident), POOL_ERR_INVALID_ARGUMENT);
    params.bases = &bases;
    assert_ok(pool_resident_create(pool, &params, &resident));
    const pool_exec exec = on(0);
    assert_status(pool_resident_open(resident, &exec, &none), POOL_ERR_IO);
    assert_status(pool_resident_open(resident, &exec, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_resident_close(&none));
    assert_ok(pool_resident_destroy(&resident));
    assert_ok(pool_resident_destroy(&resident));
}

/* ---- under leases -------------------------------------------------------------------------------
 */

static pool_lease *acquire(uint64_t bytes, const pool_resident *near)
{
    const pool_request request = {
        .struct_size = sizeof(request), .bytes = bytes, .near_resident = near, .label = "a job"};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

static uint64_t charged_to(const pool_lease *lease)
{
    pool_lease_usage usage = {.struct_size = sizeof(usage)};

    assert_ok(pool_lease_get_usage(lease, 0, &usage));
    return usage.used_bytes;
}

static uint64_t used_outside(pool_device *of)
{
    struct device_account_info account;

    device_account_read(of, &account);
    return account.used_outside;
}

static pool_device *device_of(const pool_lease *lease)
{
    pool_device *of = NULL;

    assert_ok(pool_lease_device(lease, 0, &of));
    return of;
}

/* Both when the copy is loaded and when it is there already: the use is charged while it is open,
 * and the memory never counts as used outside of leases. */
static void test_uses_are_charged_to_leases(void **state)
{
    struct source source = {.byte = 3, .bytes = mib};
    pool_resident *resident = register_source(&source, 0);
    pool_lease *lease = acquire(2 * mib + 1, NULL);
    const pool_exec exec = {.struct_size = sizeof(exec), .lease = lease};
    uint64_t outside = used_outside(device_of(lease));
    pool_resident_use *first = NULL, *second = NULL, *third = NULL;

    (void)state;
    assert_ok(pool_resident_open(resident, &exec, &first));
    assert_ptr_equal(pool_buffer_device(pool_resident_buffer(first)), device_of(lease));
    assert_int_equal(charged_to(lease), mib);
    assert_int_equal(used_outside(device_of(lease)), outside);
    assert_ok(pool_resident_open(resident, &exec, &second));
    assert_int_equal(charged_to(lease), 2 * mib);
    assert_status(pool_resident_open(resident, &exec, &third), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("a job");
    assert_ok(pool_resident_close(&second));
    assert_ok(pool_resident_close(&first));
    assert_int_equal(charged_to(lease), 0);
    assert_int_equal(used_outside(device_of(lease)), outside);
    assert_int_equal(atomic_load(&source.calls), 1);
    assert_ok(pool_release(&lease));
    assert_ok(pool_resident_destroy(&resident));
}

/* A source that allocates under the lease is charged once: for the use, not for the buffer too. */
static pool_status fill_under_lease(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    struct source *source = user;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = source->bytes,
        .stream = exec->stream,
        .lease = exec->lease};

    assert_ok(pool_buffer_create(exec->device, &params, buffer));
    return pool_buffer_fill8(*buffer, 0, source->bytes, source->byte, exec->stream);
}

static void test_loads_are_charged_once(void **state)
{
    struct source source = {.byte = 4, .bytes = mib};
    pool_lease *lease = acquire(mib, NULL);
    const pool_exec exec = {.struct_size = sizeof(exec), .lease = lease};
    pool_device *of = device_of(lease);
    uint64_t outside = used_outside(of);
    pool_resident_use *use = NULL;
    pool_resident *resident[2] = {NULL, NULL};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const pool_resident_params params = {.struct_size = sizeof(params),
            .flags = i ? POOL_RESIDENT_PINNED : 0,
            .source = fill_under_lease,
            .user = &source,
            .bytes = source.bytes};

        assert_ok(pool_resident_create(pool, &params, &resident[i]));
        assert_ok(pool_resident_open(resident[i], &exec, &use));
        check_bytes(use, 4);
        assert_int_equal(charged_to(lease), i ? 0 : mib); /* pinned copies only while loading */
        assert_int_equal(used_outside(of), i ? outside + mib : outside);
        assert_ok(pool_resident_close(&use));
        assert_int_equal(charged_to(lease), 0);
    }
    assert_ok(pool_release(&lease));
    assert_int_equal(used_outside(of), outside + mib);
    for (size_t i = 0; i < 2; i++)
        assert_ok(pool_resident_destroy(&resident[i]));
    assert_int_equal(used_outside(of), outside);
}

/* From the release on, the use counts as used outside of leases, until it is closed. */
static void test_use_outlives_its_lease(void **state)
{
    struct source source = {.byte = 5, .bytes = mib};
    pool_resident *resident = register_source(&source, 0);
    pool_lease *lease = acquire(mib, NULL);
    const pool_exec exec = {.struct_size = sizeof(exec), .lease = lease};
    pool_device *of = device_of(lease);
    uint64_t outside = used_outside(of);
    pool_resident_use *use = NULL;

    (void)state;
    assert_ok(pool_resident_open(resident, &exec, &use));
    assert_ok(pool_release(&lease));
    assert_int_equal(used_outside(of), outside + mib);
    check_bytes(use, 5);
    assert_ok(pool_resident_close(&use));
    assert_int_equal(used_outside(of), outside);
    assert_ok(pool_resident_destroy(&resident));
    assert_int_equal(used_outside(of), outside);
}

static void test_requests_prefer_devices_with_a_copy(void **state)
{
    struct source source = {.byte = 6, .bytes = mib};
    pool_resident *resident = register_source(&source, 0);

    (void)state;
    if (device_count < 2)
        skip();
    for (size_t i = 0; i < 2; i++) {
        use_once(resident, i, 6);
        for (int round = 0; round < 3; round++) {
            pool_lease *lease = acquire(mib, resident);

            assert_ptr_equal(device_of(lease), device[i]);
            assert_ok(pool_release(&lease));
        }
        assert_ok(pool_resident_evict(resident, device[i]));
    }
    assert_ok(pool_resident_destroy(&resident));
}

/* A refused pool_destroy says of what kind the objects are that keep the pool, and names them. */
static void test_names_of_what_keeps_a_pool(void **state)
{
    struct source source = {.byte = 3, .bytes = 4096};
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_bases_params bases_params = {.struct_size = sizeof(bases_params), .curve = curve};
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("goldilocks"),
        .log_size = 10};
    const pool_exec exec = on(0);
    static uint8_t points[16 * 64];
    const pool_span span = {.data = points, .count = 16};
    pool_resident *resident;
    pool_ntt_domain *domain = NULL;
    pool_pinned *pinned[2] = {NULL};
    pool_buffer *buffer = NULL;
    pool_bases *bases = NULL;

    (void)state;
    assert_ok(pool_random_points(curve, 7, 16, NULL, points, NULL));
    resident = register_source(&source, 0);
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY); /* although nothing is loaded */
    assert_string_equal(pool_last_error()->message,
        "pool_destroy: the pool is in use: 1 resident object (a buffer)");
    use_once(resident, 0, 3);
    assert_ok(pool_bases_create(&bases_params, &exec, &span, &bases));
    assert_ok(pool_ntt_domain_create(&domain_params, &domain));
    assert_ok(pool_ntt_warm_up(
        domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device[0]}));
    assert_ok(pool_buffer_alloc(device[0], 64, &buffer));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_pinned_create(device[0], 64, 0, &pinned[i]));
    assert_int_equal(pool_destroy(&pool), POOL_ERR_BUSY);
    assert_says("1 buffer, 1 set of bases (16 points of bn254_g1), ");
    assert_says("of NTT domains (");
    assert_says("2^10 of goldilocks), 1 resident object (a buffer), 1 copy of a resident object (a "
                "buffer), 2 blocks of pinned memory");
    for (int i = 0; i < 2; i++)
        assert_ok(pool_pinned_destroy(&pinned[i]));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_bases_destroy(&bases));
    assert_ok(pool_resident_destroy(&resident));
    assert_ok(pool_destroy(&pool));
    assert_ok(open_pool(NULL));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaded_once_per_device),
        cmocka_unit_test(test_least_recently_used_is_evicted),
        cmocka_unit_test(test_objects_in_use_stay),
        cmocka_unit_test(test_pinned_objects_stay),
        cmocka_unit_test(test_plain_allocations_evict),
        cmocka_unit_test(test_source_with_enqueued_work),
        cmocka_unit_test(test_failing_sources),
        cmocka_unit_test(test_threads_under_memory_pressure),
        cmocka_unit_test(test_bases_are_restored),
        cmocka_unit_test(test_domain_tables_are_restored),
        cmocka_unit_test(test_modules_are_restored),
        cmocka_unit_test(test_description_lists_objects),
        cmocka_unit_test(test_bad_params_are_refused),
        cmocka_unit_test(test_names_of_what_keeps_a_pool),
        cmocka_unit_test(test_uses_are_charged_to_leases),
        cmocka_unit_test(test_loads_are_charged_once),
        cmocka_unit_test(test_use_outlives_its_lease),
        cmocka_unit_test(test_requests_prefer_devices_with_a_copy),
    };

    devices = argc > 1 ? argv[1] : devices;
    if (strncmp(devices, "sim", 3) != 0) {
        if (pool_create(&pool, NULL))
            return 77;
        (void)pool_destroy(&pool);
        mib <<= 6;
    }
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
