/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector addition on every device of a pool: jobs are assigned round robin, each with its own
 * stream, and waited for with a deadline.
 *
 *   vector_add [DEVICES]
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>

#define N 100000
#define JOBS 4
#define SECOND UINT64_C(1000000000)

static const char source[] = "extern \"C\" __global__ void add(unsigned *c, const unsigned *a,\n"
                             "                               const unsigned *b, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        c[i] = a[i] + b[i];\n"
                             "}\n";

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void run_job(pool_device *device, unsigned job)
{
    static uint32_t a[N], b[N], c[N];
    pool_module_params params = {.struct_size = sizeof(params), .source = source, .name = "add.cu"};
    pool_buffer *buffers[3];
    CUdeviceptr addresses[3];
    int n = N;
    void *arguments[] = {&addresses[0], &addresses[1], &addresses[2], &n};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_module *module;
    pool_kernel *kernel;
    pool_stream *stream;

    for (uint32_t i = 0; i < N; i++) {
        a[i] = i * (job + 1);
        b[i] = ~i;
    }
    must(pool_stream_create(device, NULL, &stream));
    must(pool_module_compile(device, &params, &module));
    must(pool_kernel_get(module, "add", &kernel));
    for (int i = 0; i < 3; i++) {
        must(pool_buffer_alloc(device, sizeof(a), &buffers[i]));
        must(pool_buffer_address(buffers[i], &addresses[i]));
    }
    must(pool_copy_to_device(buffers[1], 0, a, sizeof(a), stream));
    must(pool_copy_to_device(buffers[2], 0, b, sizeof(b), stream));
    must(pool_launch_shape_for(N, &shape));
    shape.argument_count = 4;
    must(pool_launch(kernel, &shape, arguments, stream));
    must(pool_copy_to_host(c, buffers[0], 0, sizeof(c), stream));
    must(pool_stream_wait(stream, 60 * SECOND));
    for (uint32_t i = 0; i < N; i++)
        if (c[i] != a[i] + b[i]) {
            fprintf(stderr, "job %u: wrong at %u\n", job, i);
            exit(1);
        }
    printf("job %u: %d sums by device %d\n", job, N, pool_device_ordinal(device));
    for (int i = 0; i < 3; i++)
        must(pool_buffer_destroy(&buffers[i]));
    pool_module_destroy(&module);
    must(pool_stream_destroy(&stream));
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    pool_device *device;
    device_pool *pool;

    must(pool_create(&pool, &params));
    for (unsigned job = 0; job < JOBS; job++) {
        must(pool_next_device(pool, &device));
        run_job(device, job);
    }
    must(pool_destroy(&pool));
    return 0;
}
