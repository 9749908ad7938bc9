/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All steps from CUDA C++ source to a checked result: a pool, a device, memory, a kernel compiled
 * at run time, a launch, slices, copies to the host.
 *
 *   walkthrough [DEVICES]      "sim" runs without a GPU; default: the first GPU
 */
#include <devicepool.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

static const char source[] =
    "extern \"C\" __global__ void sine(float *out, const float *in, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = sinf(in[i]);\n"
    "}\n";

/* Exits with the library's message when a call fails; with 77 if there is no device. */
static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void launch_sine(pool_device *device, pool_buffer *out, const pool_buffer *in, int n)
{
    pool_module_params params = {
        .struct_size = sizeof(params), .source = source, .name = "sine.cu"};
    CUdeviceptr out_address, in_address;
    void *arguments[] = {&out_address, &in_address, &n};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_module *module;
    pool_kernel *kernel;
    pool_stream *stream;

    must(pool_module_compile(device, &params, &module));
    must(pool_kernel_get(module, "sine", &kernel));
    must(pool_buffer_address(out, &out_address));
    must(pool_buffer_address(in, &in_address));
    must(pool_launch_shape_for((uint64_t)n, &shape));
    shape.argument_count = 3;
    must(pool_launch(kernel, &shape, arguments, NULL));
    must(pool_stream_default(device, &stream));
    must(pool_stream_synchronize(stream));
    pool_module_destroy(&module);
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    pool_buffer *in, *out, *half;
    float host_in[N], host_out[N], host_half[N / 2];
    pool_device *device;
    device_pool *pool;

    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    for (int i = 0; i < N; i++)
        host_in[i] = (float)i / 10;
    must(pool_buffer_from_host(device, host_in, sizeof(host_in), &in));
    must(pool_buffer_zeroed(device, sizeof(host_out), &out));

    launch_sine(device, out, in, N);

    must(pool_copy_to_host(host_out, out, 0, sizeof(host_out), NULL));
    must(pool_buffer_slice(out, sizeof(host_out) / 2, sizeof(host_half), &half));
    must(pool_copy_to_host(host_half, half, 0, sizeof(host_half), NULL));
    if (!pool_buffer_slice(out, sizeof(host_out) / 2, sizeof(host_out), &half))
        return fprintf(stderr, "a slice beyond the end was created\n"), 1;
    for (int i = 0; i < N; i++)
        if (fabsf(host_out[i] - sinf(host_in[i])) > 1e-5f)
            return fprintf(stderr, "sin(%g) is %g\n", host_in[i], host_out[i]), 1;
    for (int i = 0; i < N / 2; i++)
        if (host_half[i] != host_out[N / 2 + i])
            return fprintf(stderr, "the slice differs at %d\n", i), 1;
    printf("%d sines on device %d, all correct\n", N, pool_device_ordinal(device));

    must(pool_buffer_destroy(&half));
    must(pool_buffer_destroy(&in));
    must(pool_buffer_destroy(&out));
    must(pool_destroy(&pool));
    return 0;
}
