/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pool's functions are compared with: a bare atomic addition, and the driver's functions.
 * Also launches through the library, which use the same kernel as those without it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* ---- a counter ------------------------------------------------------------------------------- */

static _Alignas(128) atomic_uint_fast64_t counter;

static pool_status create_counter(struct bench_run *run)
{
    (void)run;
    atomic_store(&counter, 0);
    return POOL_OK;
}

static pool_status call_fetch_add(struct bench_run *run)
{
    const uint64_t calls = ((const struct calls_state *)run->state)->calls;
    uint64_t sum = 0;

    /* The sum uses the results, as a selection does, so that the compiler cannot discard them. */
    for (uint64_t i = 0; i < calls; i++)
        sum += atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    __asm__ volatile("" : : "r"(sum));
    return POOL_OK;
}

static pool_status check_counter(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;

    *is_correct = atomic_load(&counter) == state->runs * state->calls * state->threads;
    return POOL_OK;
}

/* ---- the driver ------------------------------------------------------------------------------ */

static bool find_functions(void *library, struct bench_driver *driver)
{
    const struct {
        void *function;
        const char *name;
    } functions[] = {{&driver->push, "cuCtxPushCurrent_v2"}, {&driver->pop, "cuCtxPopCurrent_v2"},
        {&driver->launch, "cuLaunchKernel"}, {&driver->copy_to_device, "cuMemcpyHtoD_v2"},
        {&driver->copy_to_host, "cuMemcpyDtoH_v2"}};

    for (size_t i = 0; i < BENCH_COUNT_OF(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);

        if (!symbol)
            return false;
        memcpy(functions[i].function, &symbol, sizeof(symbol));
    }
    return true;
}

/* Whether the driver of this process has the device. */
static bool has_device(void *library, pool_device *device)
{
    pool_cu_result (*get_uuid)(pool_cu_uuid * uuid, CUdevice device);
    void *symbol = dlsym(library, "cuDeviceGetUuid_v2");
    char text[POOL_UUID_TEXT] = "GPU-";
    size_t length = strlen(text);
    pool_cu_uuid uuid;

    memcpy(&get_uuid, &symbol, sizeof(symbol));
    if (!get_uuid || get_uuid(&uuid, pool_device_ordinal(device)))
        return false;
    for (int i = 0; i < 16; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%02x",
            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)uuid.bytes[i]);
    return strcmp(text, pool_device_uuid(device)) == 0;
}

pool_status bench_driver_find(struct bench_run *run, struct bench_driver *driver)
{
    /* Loaded by the pool if at all. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    bool is_found = library && has_device(library, run->device) && find_functions(library, driver);

    if (is_found)
        return pool_device_context(run->device, &driver->context);
    snprintf(run->failure, sizeof(run->failure), "the driver of this process has no such device");
    return POOL_ERR_UNSUPPORTED;
}

static pool_status create_driver(struct bench_run *run)
{
    return bench_driver_find(run, &((struct calls_state *)run->state)->driver);
}

static pool_status fail_driver(struct bench_run *run, const char *call, pool_cu_result code)
{
    run->driver_code = (int)code;
    snprintf(run->failure, sizeof(run->failure), "%s: %d", call, (int)code);
    return POOL_ERR_DRIVER;
}

static pool_status call_push_pop(struct bench_run *run)
{
    const struct calls_state *state = run->state;
    CUcontext popped = NULL;
    pool_cu_result code = POOL_CU_SUCCESS;

    for (uint64_t i = 0; i < state->calls && !code; i++) {
        code = state->driver.push(state->driver.context);
        if (!code)
            code = state->driver.pop(&popped);
    }
    return code ? fail_driver(run, "cuCtxPushCurrent and cuCtxPopCurrent", code) : POOL_OK;
}

/* The context that was pushed is the one that is popped. */
static pool_status check_push_pop(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;
    CUcontext popped = NULL;

    *is_correct = !state->driver.push(state->driver.context) && !state->driver.pop(&popped) &&
                  popped == state->driver.context;
    return POOL_OK;
}

/* ---- launches -------------------------------------------------------------------------------- */

static const char source[] = "extern \"C\" __global__ void count(unsigned *x, unsigned n)\n"
                             "{ if (threadIdx.x == 0) atomicAdd(x, n); }\n";

static pool_status create_kernel(struct bench_run *run)
{
    struct calls_state *state = run->state;
    struct calls_kernel *launched = &state->launched;
    const pool_module_params params = {
        .struct_size = sizeof(params), .source = source, .name = "count.cu"};
    pool_status status = pool_module_compile(run->device, &params, &launched->module);

    launched->number = 1;
    launched->shape.struct_size = sizeof(launched->shape);
    if (!status)
        status = pool_kernel_get(launched->module, "count", &launched->kernel);
    if (!status)
        status = pool_buffer_zeroed(run->device, sizeof(unsigned), &launched->buffer);
    if (!status)
        status = pool_buffer_address(launched->buffer, &launched->address);
    if (!status)
        status = pool_launch_shape_for(32, &launched->shape);
    launched->shape.argument_count = 2;
    return status;
}

static pool_status create_driver_kernel(struct bench_run *run)
{
    struct calls_kernel *launched = &((struct calls_state *)run->state)->launched;
    pool_status status = create_driver(run);

    if (!status)
        status = create_kernel(run);
    if (!status)
        status = pool_kernel_handle(launched->kernel, &launched->function);
    if (!status)
        status = pool_stream_handle(run->stream, &launched->stream);
    return status;
}

static void destroy_kernel(struct bench_run *run)
{
    struct calls_state *state = run->state;

    pool_stream_synchronize(run->stream);
    pool_buffer_destroy(&state->launched.buffer);
    pool_module_destroy(&state->launched.module);
}

static pool_status launch_all(struct bench_run *run)
{
    struct calls_state *state = run->state;
    struct calls_kernel *launched = &state->launched;
    void *arguments[] = {&launched->address, &launched->number};
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < state->calls && !status; i++)
        status = pool_launch(launched->kernel, &launched->shape, arguments, run->stream);
    return status;
}

static pool_status call_launch(struct bench_run *run)
{
    pool_status status = pool_bind(run->device);

    if (status)
        return status;
    status = launch_all(run);
    pool_unbind(run->device);
    return status;
}

static pool_status call_driver_launch(struct bench_run *run)
{
    struct calls_state *state = run->state;
    struct calls_kernel *launched = &state->launched;
    void *arguments[] = {&launched->address, &launched->number};
    pool_cu_result code = POOL_CU_SUCCESS;
    pool_status status = pool_bind(run->device);

    if (status)
        return status;
    for (uint64_t i = 0; i < state->calls && !code; i++)
        code = state->driver.launch(
            launched->function, 1, 1, 1, 256, 1, 1, 0, launched->stream, arguments, NULL);
    pool_unbind(run->device);
    return code ? fail_driver(run, "cuLaunchKernel", code) : POOL_OK;
}

/* Every launch has been executed. */
static pool_status check_launches(struct bench_run *run, bool *is_correct)
{
    const struct calls_state *state = run->state;
    unsigned executed = 0;
    pool_status status = pool_stream_synchronize(run->stream);

    if (!status)
        status = pool_copy_to_host(&executed, state->launched.buffer, 0, sizeof(executed), NULL);
    *is_correct = executed == (unsigned)(state->runs * state->calls);
    return status;
}

const struct calls_function calls_of_driver[] = {
    {"fetch-add", 0, create_counter, call_fetch_add, check_counter, NULL},
    {"fetch-add-16", 16, create_counter, call_fetch_add, check_counter, NULL},
    {"push-pop", 0, create_driver, call_push_pop, check_push_pop, NULL},
    {"launch", 0, create_kernel, call_launch, check_launches, destroy_kernel},
    {"launch-unbound", 0, create_kernel, launch_all, check_launches, destroy_kernel},
    {"driver-launch", 0, create_driver_kernel, call_driver_launch, check_launches, destroy_kernel},
    {0},
};
