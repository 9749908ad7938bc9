/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context that another part of the process ends, by what cudaDeviceReset and other owners of the
 * primary context call: the device is lost, its objects are refused, it comes back with a new
 * context, and nothing that was in the old one reaches the driver. On GPUs a wrong handle would end
 * the process.
 *
 *   test_devices_context_loss [DEVICES]
 */
#include <dlfcn.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/driver.h"
#include "pool/device/device.h"
#include "support/ntt.h"
#include "support/pool.h"

enum { LOG_SIZE = 10, COUNT = 1 << LOG_SIZE, SKIPPED = 77 };
#define SECOND UINT64_C(1000000000)

enum ending { RELEASED, RESET };

/* cuDevicePrimaryCtxReset, which the library never calls; NULL: simulated devices. */
static pool_cu_result (*reset_primary)(CUdevice device);
static pool_cu_result (*release_primary)(CUdevice device); /* there, too: without a pool */

static atomic_int wrong_handles;
static char wrong_call[512];

/* Codes of calls that were given what does not exist. */
static void hear(void *user, const pool_log_record *record)
{
    static const char *const names[] = {
        "CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_CONTEXT_IS_DESTROYED"};

    (void)user;
    /* How the loss is found. */
    if (strstr(record->message, "cuCtxGetId") || strstr(record->message, "its context was destr"))
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(record->message, names[i]) && !atomic_fetch_add(&wrong_handles, 1))
            snprintf(wrong_call, sizeof(wrong_call), "%s", record->message);
}

struct job {
    pool_ntt_domain *domain;
    uint8_t *in, *expected;
    uint8_t out[8 * COUNT];
};

static void assert_job(struct job *job)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = job->domain};
    const pool_exec exec = exec_here();
    const pool_span in = ntt_host(job->in, COUNT), out = ntt_host(job->out, COUNT);

    memset(job->out, 0, sizeof(job->out));
    assert_ok(pool_ntt(&params, &exec, &in, &out));
    ntt_assert_same(&params, job->out, job->expected);
}

static void create_job(struct job *job)
{
    const pool_field *field = ntt_field("goldilocks");

    job->domain = ntt_domain(field, LOG_SIZE);
    job->in = ntt_random(field, 5, COUNT);
    job->expected = ntt_expected(
        &(pool_ntt_params){.struct_size = sizeof(pool_ntt_params), .domain = job->domain}, job->in);
}

static void destroy_job(struct job *job)
{
    assert_ok(pool_ntt_domain_destroy(&job->domain));
    free(job->in);
    free(job->expected);
}

struct objects {
    pool_buffer *buffer;
    pool_pinned *pinned;
    pool_stream *stream;
    pool_event *event;
    char host[8192];
};

static void create_objects(struct objects *objects)
{
    memset(objects->host, 7, sizeof(objects->host));
    assert_ok(pool_buffer_alloc(device, sizeof(objects->host), &objects->buffer));
    assert_ok(pool_pinned_create(device, 4096, POOL_PINNED_SECRET, &objects->pinned));
    assert_ok(pool_stream_create(device, NULL, &objects->stream));
    assert_ok(pool_event_create(device, 0, &objects->event));
    assert_ok(pool_copy_to_device(
        objects->buffer, 0, objects->host, sizeof(objects->host), objects->stream));
    assert_ok(pool_event_record(objects->event, objects->stream));
    assert_ok(pool_stream_synchronize(objects->stream));
}

static void assert_lost(pool_status status)
{
    assert_status(status, POOL_ERR_DEVICE_LOST);
    assert_says("its context was destroyed by another part of the process");
}

static void assert_objects_lost(struct objects *objects)
{
    assert_lost(pool_copy_to_host(objects->host, objects->buffer, 0, 64, NULL));
    assert_lost(pool_stream_synchronize(objects->stream));
    assert_lost(pool_event_synchronize(objects->event));
    assert_lost(pool_event_record(objects->event, objects->stream));
    assert_null(pool_pinned_data(objects->pinned));
}

static void destroy_objects(struct objects *objects)
{
    assert_ok(pool_buffer_destroy(&objects->buffer));
    assert_ok(pool_pinned_destroy(&objects->pinned));
    assert_ok(pool_event_destroy(&objects->event));
    assert_ok(pool_stream_destroy(&objects->stream));
}

static void wait_for_return(void)
{
    uint64_t end = base_clock_ns() + 60 * SECOND;

    while (pool_usable_count(pool) == 0 && base_clock_ns() < end)
        usleep(1000);
    assert_int_equal(pool_usable_count(pool), 1);
}

static void end_context(enum ending ending)
{
    const pool_cuda_api *api = &device_driver(device)->api;
    CUdevice handle;

    assert_ok(pool_device_handle(device, &handle));
    assert_int_equal(
        ending == RESET ? reset_primary(handle) : api->DevicePrimaryCtxRelease(handle), 0);
}

static void assert_loss_and_return(enum ending ending, bool is_made_again)
{
    const pool_cuda_api *api;
    pool_request request = {.struct_size = sizeof(request)};
    struct objects objects, after;
    pool_lease *lease = NULL;
    CUcontext before, again = NULL;
    CUdevice handle;
    unsigned flags;
    int is_active;
    struct job job;

    assert_ok(open_pool(NULL));
    api = &device_driver(device)->api;
    request.device = device;
    create_job(&job);
    assert_job(&job);
    create_objects(&objects);
    assert_ok(pool_device_context(device, &before));
    assert_ok(pool_device_handle(device, &handle));
    assert_ok(pool_acquire(pool, &request, &lease)); /* the device does not come back meanwhile */

    end_context(ending);
    if (is_made_again)
        assert_int_equal(api->DevicePrimaryCtxRetain(&again, handle), 0);
    atomic_store(&wrong_handles, 0);
    assert_objects_lost(&objects);
    assert_int_equal(pool_usable_count(pool), 0);
    assert_lost(pool_buffer_alloc(device, 64, &(pool_buffer *){NULL}));
    assert_ok(pool_release(&lease));
    wait_for_return();
    assert_objects_lost(&objects);
    assert_job(&job);
    create_objects(&after);
    destroy_objects(&objects);
    assert_ok(pool_copy_to_host(after.host, after.buffer, 0, sizeof(after.host), after.stream));
    assert_job(&job);
    destroy_objects(&after);
    destroy_job(&job);
    assert_ok(pool_destroy(&pool));
    if (atomic_load(&wrong_handles))
        fail_msg("a call was given what does not exist: %s", wrong_call);
    /* The other owner's context is as it was. */
    assert_int_equal(api->DevicePrimaryCtxGetState(handle, &flags, &is_active), 0);
    assert_int_equal(is_active, is_made_again);
    if (is_made_again)
        assert_int_equal(api->DevicePrimaryCtxRelease(handle), 0);
}

static void test_released(void **state)
{
    (void)state;
    assert_loss_and_return(RELEASED, false);
}

static void test_released_and_made_again(void **state)
{
    (void)state;
    assert_loss_and_return(RELEASED, true);
}

static void test_reset(void **state)
{
    (void)state;
    if (reset_primary)
        assert_loss_and_return(RESET, false);
}

/* The library's reference cannot be told from the other owner's, so that one stays. A reset does
 * not change the count: left behind, it would keep the next case's release from ending anything. */
static void test_reset_and_made_again(void **state)
{
    (void)state;
    if (!reset_primary)
        return;
    assert_loss_and_return(RESET, true);
    assert_int_equal(release_primary(0), 0);
    assert_int_not_equal(release_primary(0), 0); /* that was the last one */
}

/* Without a return: pool_destroy directly after the loss, with the context current. */
static void test_destroy(void **state)
{
    struct objects objects;

    (void)state;
    assert_ok(open_pool(NULL));
    create_objects(&objects);
    assert_ok(pool_bind(device));
    end_context(RELEASED);
    assert_lost(pool_stream_synchronize(objects.stream));
    destroy_objects(&objects);
    (void)pool_unbind(device); /* the driver may have taken it off the stack */
    assert_ok(pool_destroy(&pool));
}

/* A program that only binds finds out, too, although a GPU's driver pushes an ended context. */
static void test_bind(void **state)
{
    (void)state;
    assert_ok(open_pool(NULL));
    assert_ok(pool_bind(device));
    assert_ok(pool_unbind(device));
    end_context(RELEASED);
    usleep(20000);
    assert_lost(pool_bind(device));
    assert_int_equal(pool_usable_count(pool), 0);
    assert_ok(pool_destroy(&pool));
}

/* Destructors are the first to find out. */
static void test_destructors(void **state)
{
    struct objects objects;

    (void)state;
    assert_ok(open_pool(NULL));
    create_objects(&objects);
    end_context(RELEASED);
    destroy_objects(&objects);
    assert_ok(pool_destroy(&pool));
}

/* Again and again. */
static void test_repeated(void **state)
{
    struct job job;

    (void)state;
    assert_ok(open_pool(NULL));
    create_job(&job);
    for (int i = 0; i < 3; i++) {
        const pool_ntt_params params = {.struct_size = sizeof(params), .domain = job.domain};
        const pool_exec exec = exec_here();
        const pool_span in = ntt_host(job.in, COUNT), out = ntt_host(job.out, COUNT);

        assert_job(&job);
        end_context(RELEASED);
        assert_lost(pool_ntt(&params, &exec, &in, &out));
        wait_for_return();
    }
    assert_job(&job);
    destroy_job(&job);
    assert_ok(pool_destroy(&pool));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_released),
        cmocka_unit_test(test_released_and_made_again),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_reset_and_made_again),
        cmocka_unit_test(test_destroy),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_destructors),
        cmocka_unit_test(test_repeated),
    };

    device_pool *keeper = NULL;
    int failed;

    device_text = argc > 1 ? argv[1] : "sim:1,mem=256M";
    /* Without a context: it keeps the driver open. */
    if (pool_create(&keeper,
            &(pool_params){
                .struct_size = sizeof(pool_params), .devices = device_text, .lazy = 1}) ||
        open_pool(NULL))
        return SKIPPED;
    if (device_driver(device)->library) {
        void *library = device_driver(device)->library;

        *(void **)&reset_primary = dlsym(library, "cuDevicePrimaryCtxReset_v2");
        *(void **)&release_primary = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
    }
    if (pool_destroy(&pool))
        return 1;
    pool_log_set(hear, NULL, POOL_LOG_WARN);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return pool_destroy(&keeper) || failed;
}
