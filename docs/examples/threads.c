/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that bind the same device and work on one buffer, each on its own slice, with one module.
 *
 *   threads [DEVICES]
 */
#include <devicepool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define EACH 5000

static const char source[] =
    "extern \"C\" __global__ void number(unsigned *out, unsigned first, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = first + i;\n"
    "}\n";

struct worker {
    pthread_t thread;
    pool_device *device;
    pool_kernel *kernel;
    pool_buffer *slice;
    uint32_t first;
    pool_status status;
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* Runs with the device bound, so its context is current for driver and runtime calls too. */
static pool_status number(pool_device *device, void *arg)
{
    struct worker *worker = arg;
    int n = EACH;
    CUdeviceptr address;
    void *arguments[] = {&address, &worker->first, &n};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_stream *stream;
    pool_status status;

    status = pool_stream_create(device, NULL, &stream);
    if (status)
        return status;
    pool_buffer_address(worker->slice, &address);
    pool_launch_shape_for(EACH, &shape);
    shape.argument_count = 3;
    status = pool_launch(worker->kernel, &shape, arguments, stream);
    if (!status)
        status = pool_stream_synchronize(stream);
    pool_stream_destroy(&stream);
    return status;
}

static void *work(void *arg)
{
    struct worker *worker = arg;

    worker->status = pool_run_on(worker->device, number, worker);
    if (worker->status)
        fprintf(stderr, "%s\n", pool_last_error()->message);
    return NULL;
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    pool_module_params text = {.struct_size = sizeof(text), .source = source};
    static uint32_t answer[THREADS * EACH];
    struct worker workers[THREADS] = {{0}};
    pool_buffer *buffer;
    pool_device *device;
    pool_module *module;
    pool_kernel *kernel;
    device_pool *pool;

    must(pool_create(&pool, &params));
    must(pool_best_device(pool, &device));
    must(pool_module_compile(device, &text, &module));
    must(pool_kernel_get(module, "number", &kernel));
    must(pool_buffer_alloc(device, sizeof(answer), &buffer));
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].device = device;
        workers[i].kernel = kernel;
        workers[i].first = i * EACH;
        must(pool_buffer_slice(buffer, i * EACH * 4ull, EACH * 4ull, &workers[i].slice));
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        must(workers[i].status);
        must(pool_buffer_destroy(&workers[i].slice));
    }
    must(pool_copy_to_host(answer, buffer, 0, sizeof(answer), NULL));
    for (uint32_t i = 0; i < THREADS * EACH; i++)
        if (answer[i] != i)
            return fprintf(stderr, "element %u is %u\n", i, answer[i]), 1;
    printf("%d threads on device %d numbered %d elements\n", THREADS, pool_device_ordinal(device),
        THREADS * EACH);
    must(pool_buffer_destroy(&buffer));
    pool_module_destroy(&module);
    must(pool_destroy(&pool));
    return 0;
}
