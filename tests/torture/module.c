/* SPDX-License-Identifier: Apache-2.0 */
/* Torture of modules: loading, kernels, launches, and compilation with the disk cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/nvrtc.h"
#include "pool/module/registry.h"
#include "torture/torture.h"

enum { POOL, MODULE };

static const uint32_t argument_sizes[] = {8, 4};

static void prepare(struct torture *torture)
{
    const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "twice",
        .argument_bytes = argument_sizes,
        .argument_count = 2};

    pool_mock_add_kernel(torture->mock, &kernel);
    pool_mock_add_global(torture->mock, "table", 64);
}

static pool_status create(struct torture *torture, pool_device **device)
{
    pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = torture->devices};
    pool_status status = pool_create((device_pool **)&torture->objects[POOL], &params);

    return status ? status : pool_device_at(torture->objects[POOL], 0, device);
}

static pool_status finish(struct torture *torture)
{
    pool_module_destroy((pool_module **)&torture->objects[MODULE]);
    return pool_destroy((device_pool **)&torture->objects[POOL]);
}

/* ---- load and launch ------------------------------------------------------------------------ */

static pool_status ask_kernel(pool_kernel *kernel)
{
    pool_kernel_info info = {.struct_size = sizeof(info)};
    uint32_t blocks;
    uint32_t threads;
    int32_t percent;
    pool_status status = pool_kernel_get_info(kernel, &info);

    if (!status)
        status = pool_kernel_get_occupancy(kernel, 128, 0, &blocks);
    if (!status)
        status = pool_kernel_get_best_block(kernel, 0, &threads, &blocks);
    if (!status)
        status = pool_kernel_set_carveout(kernel, 100);
    if (!status)
        status = pool_kernel_get_carveout(kernel, &percent);
    return status;
}

static pool_status launch(pool_module *module)
{
    static const size_t sizes[] = {8, 4};
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .dynamic_shared_bytes = 100000, /* has to be opted in */
        .argument_count = 2,
        .argument_bytes = sizes};
    pool_kernel *kernel;
    CUdeviceptr address;
    uint64_t bytes;
    uint32_t n = 64;
    pool_status status = pool_module_variable(module, "table", &address, &bytes);

    if (!status)
        status = pool_kernel_get(module, "twice", &kernel);
    if (!status)
        status = ask_kernel(kernel);
    void *arguments[] = {&address, &n};
    if (!status)
        status = pool_launch(kernel, &shape, arguments, NULL);
    shape.cluster[0] = shape.grid[0] = 16; /* has to be opted in */
    if (!status)
        status = pool_kernel_get_clusters(kernel, &shape, &n, &n);
    if (!status)
        status = pool_launch(kernel, &shape, arguments, NULL);
    shape.cluster[0] = 0;
    shape.cooperative = 1;
    if (!status)
        status = pool_launch(kernel, &shape, arguments, NULL);
    return status;
}

static pool_status load_and_launch(struct torture *torture)
{
    static const char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry other()\n{\n    ret;\n}\n";
    pool_module *module = NULL;
    pool_device *device;
    pool_status status = create(torture, &device);

    if (!status)
        status = pool_module_load(device, ptx, sizeof(ptx), &module);
    torture->objects[MODULE] = module;
    return status ? status : launch(module);
}

/* ---- compile -------------------------------------------------------------------------------- */

static pool_status compile(struct torture *torture)
{
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void twice(unsigned *data, unsigned n)\n"
                  "{\n    if (threadIdx.x < n)\n        data[threadIdx.x] *= 2;\n}\n"};
    pool_module *module = NULL;
    pool_device *device;
    pool_kernel *kernel;
    pool_status status = create(torture, &device);

    if (!status)
        status = pool_module_compile(device, &params, &module);
    torture->objects[MODULE] = module;
    return status ? status : pool_kernel_get(module, "twice", &kernel);
}

static pool_status compile_from_disk(struct torture *torture)
{
    module_image_forget();
    return compile(torture);
}

static void prepare_empty_cache(struct torture *torture)
{
    prepare(torture);
    module_image_forget();
    pool_cache_clear(NULL);
}

/* Headers are generated for this source, which includes none of them, and so compiles fast. */
static pool_status compile_generated(struct torture *torture)
{
    pool_module_arithmetic entries[] = {{.prefix = "fr", .field = pool_field_by_name("babybear")},
        {.prefix = "g1", .curve = pool_curve_by_name("bn254_g1")}, {.prefix = "h"}};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void twice(unsigned *data, unsigned n) {}\n",
        .arithmetic = entries,
        .arithmetic_count = 3};
    pool_module *module = NULL;
    pool_poseidon *set = NULL;
    pool_device *device;
    pool_kernel *kernel;
    pool_status status = create(torture, &device);

    if (!status)
        status = pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set);
    entries[2].poseidon = set;
    if (!status)
        status = pool_module_compile(device, &params, &module);
    pool_poseidon_destroy(&set);
    torture->objects[MODULE] = module;
    return status ? status : pool_kernel_get(module, "twice", &kernel);
}

/* A field, a curve and a parameter set, found in memory, and a name; then an image without a
 * device. */
static pool_status compile_arithmetic(struct torture *torture)
{
    static const char *const names[] = {"twice<3>"};
    pool_module_arithmetic entries[] = {{.prefix = "fr", .field = pool_field_by_name("babybear")},
        {.prefix = "g1", .curve = pool_curve_by_name("bn254_g1")}, {.prefix = "h"}};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = "#include \"fr.cuh\"\n"
                  "template <int n> __global__ void twice(fr *data)\n"
                  "{\n    if (threadIdx.x < n)\n        data[threadIdx.x] = fr_dbl(data[0]);\n}\n",
        .arithmetic = entries,
        .arithmetic_count = 3,
        .names = names,
        .name_count = 1};
    pool_module *module = NULL;
    pool_poseidon *set = NULL;
    pool_device *device;
    void *image = NULL;
    size_t size;
    pool_status status = create(torture, &device);

    if (!status)
        status = pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set);
    entries[2].poseidon = set;
    if (!status)
        status = pool_module_compile(device, &params, &module);
    if (!status)
        status = pool_module_build(&params, 90, POOL_IMAGE_PTX, &image, &size);
    pool_image_free(&image);
    pool_poseidon_destroy(&set);
    torture->objects[MODULE] = module;
    return status;
}

static pool_status warm_up(struct torture *torture)
{
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void twice(unsigned *data, unsigned n) {}\n"};
    pool_device *device;
    pool_status status = create(torture, &device);

    return status ? status : pool_warm_up(torture->objects[POOL], NULL, &params, 1);
}

/* A module of the library's: evicted between its launches. */
static pool_status load_evictable(pool_device *device, pool_module **module)
{
    const struct module_key digest = {{1}};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void twice(unsigned long long a, unsigned n) {}\n"};
    const struct module_request request = {.params = &params};
    pool_status status = module_compile(device, &request, NULL, module);

    if (!status)
        status = module_registry_add(device, &digest, module);
    if (status)
        pool_module_destroy(module);
    return status;
}

static pool_status launch_evicted(struct torture *torture)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2};
    uint64_t address = 0;
    uint32_t n = 0;
    void *arguments[] = {&address, &n};
    struct device_scope scope;
    pool_module *module = NULL;
    pool_device *device;
    pool_kernel *kernel;
    pool_status status = create(torture, &device);

    if (!status)
        status = load_evictable(device, &module);
    if (!status)
        status = pool_kernel_get(module, "twice", &kernel);
    for (int round = 0; round < 2 && !status; round++) {
        status = device_enter(device, &scope);
        if (!status) {
            (void)memory_resident_evict(device, UINT64_MAX, true);
            status = device_leave(&scope, POOL_OK);
        }
        if (!status)
            status = pool_launch(kernel, &shape, arguments, NULL);
    }
    return status;
}

/* A property that the driver does not report is 0; a disk that fails is a cache that misses; a full
 * device is tried again. */
static const char *const facts_absorbed[] = {
    "cuDeviceGetAttribute", "file", "cuModuleLoadDataEx", NULL};
/* Without a ring of pinned memory the driver stages the results (memory/copy.c), as in the scenarios
 * of operations. */
static const char *const probe_absorbed[] = {
    "cuDeviceGetAttribute", "file", "cuModuleLoadDataEx", "cuMemHostAlloc", "malloc", NULL};

/* The same goes for memory that the cache would have needed; the other scenarios are strict there.
 */
static const char *const cache_absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", NULL};
/* Warm-up queries the devices' states, which samples memory; failures of that appear later. */
static const char *const state_absorbed[] = {"cuDeviceGetAttribute", "file", "cuCtxGetCurrent",
    "cuCtxGetId", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuMemGetInfo", "cuModuleLoadDataEx",
    NULL};
/* An unload that fails is logged; one that cannot be made now is deferred. */
static const char *const evict_absorbed[] = {"cuDeviceGetAttribute", "file", "cuCtxGetCurrent",
    "cuCtxGetId", "cuStreamQuery", "cuModuleLoadDataEx", "cuModuleUnload", "malloc", NULL};

/* The mock runs no kernel, so that the results of a whole probe are wrong. */
static pool_status probe(struct torture *torture)
{
    pool_device *device = NULL;
    pool_status status = create(torture, &device);

    if (!status)
        status = pool_device_probe(device, 20000000000u);
    if (status == POOL_ERR_DEVICE_UNUSABLE && strstr(pool_last_error()->message, "wrong results"))
        return POOL_OK;
    return status;
}

static const struct torture_scenario scenarios[] = {
    {.name = "load and launch",
        .devices = 1,
        .prepare = prepare,
        .run = load_and_launch,
        .finish = finish,
        .absorbs = facts_absorbed,
        .needs_mock = 1},
    {.name = "compile, from memory",
        .devices = 1,
        .prepare = prepare,
        .run = compile,
        .finish = finish,
        .absorbs = facts_absorbed},
    {.name = "compile, from disk",
        .devices = 1,
        .prepare = prepare,
        .run = compile_from_disk,
        .finish = finish,
        .absorbs = cache_absorbed,
        .spares_driver = 1},
    {.name = "compile and store",
        .devices = 1,
        .prepare = prepare_empty_cache,
        .run = compile,
        .finish = finish,
        .absorbs = cache_absorbed,
        .spares_driver = 1},
    {.name = "generate headers",
        .devices = 1,
        .prepare = prepare_empty_cache,
        .run = compile_generated,
        .finish = finish,
        .absorbs = cache_absorbed,
        .spares_driver = 1},
    {.name = "compile with arithmetic",
        .devices = 1,
        .prepare = prepare,
        .run = compile_arithmetic,
        .finish = finish,
        .absorbs = facts_absorbed},
    {.name = "warm up",
        .devices = 1,
        .prepare = prepare,
        .run = warm_up,
        .finish = finish,
        .absorbs = state_absorbed},
    {.name = "evicted module",
        .devices = 1,
        .prepare = prepare,
        .run = launch_evicted,
        .finish = finish,
        .absorbs = evict_absorbed},
    {.name = "probe", .devices = 1, .run = probe, .finish = finish, .absorbs = probe_absorbed},
};

int main(int argument_count, char **arguments)
{
    char directory[] = "/tmp/devicepool-torture-XXXXXX";
    const struct nvrtc *nvrtc;
    size_t count = sizeof(scenarios) / sizeof(scenarios[0]);

    char cache[64];

    /* Two levels deep: the cache refuses a directory directly below a world-writable one. */
    if (!mkdtemp(directory))
        return 1;
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    if (setenv("DEVICEPOOL_CACHE_DIR", cache, 1))
        return 1;
    if (driver_nvrtc_open(&nvrtc)) {
        printf("without NVRTC only what is loaded: %s\n", pool_last_error()->message);
        count = 1;
    }
    int failed = torture_main(argument_count, arguments, scenarios, count);
    if (argument_count == 1 && count > 1 && torture_file_operations() < 15) {
        printf("the disk cache was not used\n");
        failed = 1;
    }
    pool_cache_clear(NULL);
    char command[80];
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) || failed;
}
