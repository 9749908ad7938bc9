/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that already has a CUDA context, created by itself or by a framework, lets the library
 * use it: both then share one address space, and no second context occupies half a gigabyte. The
 * pool neither changes the current context nor destroys it.
 *
 *   adopt_context [DEVICES]      "sim": a simulated device; default: the first GPU
 */
#include <devicepool.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* ---- the program's context, which exists before the pool --------------------------------------
 */

struct owner {
    CUcontext context;
    int (*destroy)(CUcontext);
    device_pool *simulated; /* replaces the program's CUDA code on hosts without CUDA */
};

/* Corresponds to cuInit, cuDeviceGet and cuCtxCreate of a program with cuda.h. */
static void make_by_driver(struct owner *owner)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = cuda ? (int (*)(unsigned))dlsym(cuda, "cuInit") : NULL;
    int (*create)(CUcontext *, unsigned, CUdevice) =
        cuda ? (int (*)(CUcontext *, unsigned, CUdevice))dlsym(cuda, "cuCtxCreate_v2") : NULL;

    owner->destroy = cuda ? (int (*)(CUcontext))dlsym(cuda, "cuCtxDestroy_v2") : NULL;
    if (!init || !create || !owner->destroy || init(0) || create(&owner->context, 0, 0)) {
        fprintf(stderr, "no context here: is there a GPU?\n");
        exit(77);
    }
}

static void make_simulated(struct owner *owner, const char *devices)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .context_mode = POOL_CONTEXT_OWN};
    pool_device *device;

    must(pool_create(&owner->simulated, &params));
    must(pool_next_device(owner->simulated, &device));
    must(pool_device_context(device, &owner->context));
}

/* ---- the library in that context --------------------------------------------------------------
 */

/* Computes the squares of 0 … N-1 in BabyBear by a pool on the program's context. */
static void square(pool_device *device)
{
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint32_t numbers[N], squares[N];
    pool_span in = {.data = numbers, .count = N}, out = {.data = squares, .count = N};

    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i;
    must(pool_vector_mul(pool_field_by_name("babybear"), &exec, &in, &in, &out));
    for (uint32_t i = 0; i < N; i++)
        if (squares[i] != i * i) {
            fprintf(stderr, "%u squared is not %u\n", i, squares[i]);
            exit(1);
        }
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    int is_simulated = devices && strncmp(devices, "sim", 3) == 0;
    pool_params params = {.struct_size = sizeof(params),
        .devices = is_simulated ? devices : NULL, /* adopted contexts determine the GPUs */
        .context_mode = POOL_CONTEXT_ADOPT,
        .context_count = 1};
    struct owner owner = {0};
    CUcontext used;
    pool_device *device;
    device_pool *pool;

    if (is_simulated)
        make_simulated(&owner, devices);
    else
        make_by_driver(&owner);

    params.contexts = &owner.context;
    must(pool_create(&pool, &params));
    must(pool_device_at(pool, 0, &device));
    must(pool_device_context(device, &used));
    if (used != owner.context)
        return fprintf(stderr, "the pool created another context\n"), 1;
    square(device);
    printf("%d squares in the caller's context on device %d\n", N, pool_device_ordinal(device));
    must(pool_destroy(&pool));

    /* The context is still owned by the program. */
    if (owner.destroy && owner.destroy(owner.context))
        return fprintf(stderr, "the context does not exist any more\n"), 1;
    must(pool_destroy(&owner.simulated));
    return 0;
}
