/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A custom kernel with shared memory, shuffles, a header in memory and a define: it reduces an
 * array to its sum in two launches, first per block, with the block size that the driver suggests.
 *
 *   reduction [DEVICES]
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>

#define N 1000003

static const pool_module_header warp_header = {"warp.h",
    "__device__ inline unsigned long long warp_sum(unsigned long long x)\n"
    "{\n"
    "    for (int lane = 16; lane; lane /= 2)\n"
    "        x += __shfl_down_sync(0xffffffffu, x, lane);\n"
    "    return x;\n"
    "}\n"};

static const char source[] =
    "#include \"warp.h\"\n"
    "extern \"C\" __global__ void __launch_bounds__(MAX_BLOCK)\n"
    "reduce(unsigned long long *sums, const unsigned long long *in, unsigned long long n)\n"
    "{\n"
    "    __shared__ unsigned long long part[MAX_BLOCK / 32];\n"
    "    unsigned long long sum = 0;\n"
    "    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"
    "         i < n; i += (unsigned long long)gridDim.x * blockDim.x)\n"
    "        sum += in[i];\n"
    "    sum = warp_sum(sum);\n"
    "    if (threadIdx.x % 32 == 0)\n"
    "        part[threadIdx.x / 32] = sum;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < 32) {\n"
    "        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);\n"
    "        if (threadIdx.x == 0)\n"
    "            sums[blockIdx.x] = sum;\n"
    "    }\n"
    "}\n";

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void reduce(pool_kernel *kernel, uint32_t blocks, uint32_t threads, pool_buffer *sums,
    pool_buffer *in, uint64_t n)
{
    static const size_t sizes[] = {8, 8, 8};
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {blocks},
        .block = {threads},
        .argument_count = 3,
        .argument_bytes = sizes};
    CUdeviceptr sums_address, in_address;
    void *arguments[] = {&sums_address, &in_address, &n};

    must(pool_buffer_address(sums, &sums_address));
    must(pool_buffer_address(in, &in_address));
    must(pool_launch(kernel, &shape, arguments, NULL));
}

int main(int count, char **arguments)
{
    static const char *const defines[] = {"MAX_BLOCK=512"};
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};
    pool_module_params text = {.struct_size = sizeof(text),
        .source = source,
        .name = "reduce.cu",
        .headers = &warp_header,
        .header_count = 1,
        .defines = defines,
        .define_count = 1};
    pool_kernel_info info = {.struct_size = sizeof(info)};
    static uint64_t numbers[N];
    uint64_t expected = 0, answer = 0;
    pool_buffer *in, *sums, *total;
    uint32_t threads, blocks;
    pool_device *device;
    pool_module *module;
    pool_kernel *kernel;
    device_pool *pool;

    for (uint64_t i = 0; i < N; i++) {
        numbers[i] = i * i * UINT64_C(0x9e3779b97f4a7c15);
        expected += numbers[i];
    }
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    must(pool_module_compile(device, &text, &module));
    must(pool_kernel_get(module, "reduce", &kernel));
    must(pool_kernel_get_info(kernel, &info));
    must(pool_kernel_get_best_block(kernel, 0, &threads, &blocks));
    must(pool_buffer_from_host(device, numbers, sizeof(numbers), &in));
    must(pool_buffer_alloc(device, blocks * 8ull, &sums));
    must(pool_buffer_alloc(device, 8, &total));

    reduce(kernel, blocks, threads, sums, in, N);
    reduce(kernel, 1, threads, total, sums, blocks);
    must(pool_copy_to_host(&answer, total, 0, sizeof(answer), NULL));
    if (answer != expected)
        return fprintf(stderr, "the sum is wrong\n"), 1;
    printf("%d numbers summed by %u blocks of %u threads, %d registers each\n", N, blocks, threads,
        info.registers);

    must(pool_buffer_destroy(&total));
    must(pool_buffer_destroy(&sums));
    must(pool_buffer_destroy(&in));
    pool_module_destroy(&module);
    must(pool_destroy(&pool));
    return 0;
}
