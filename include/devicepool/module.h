/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any kernel of the user's own: source text to a loaded module, kernels, launches.
 */
#ifndef DEVICEPOOL_MODULE_H
#define DEVICEPOOL_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/cancel.h>
#include <devicepool/pool.h>
#include <devicepool/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A loaded module: code and variables on one device. Any thread may use it. It must be destroyed
 * before its pool. Work launched from it may still be unfinished then.
 */
typedef struct pool_module pool_module;

/* A kernel of a module. It belongs to the module and is valid until that is destroyed. Any thread.
 */
typedef struct pool_kernel pool_kernel;

/*
 * A header that the source can include by this name, as text in memory. It comes before any file of
 * that name. Files are found by `-I` options and in the CUDA toolkit's include directories, where
 * these exist; the cache's key covers the files that a source can include (docs/compiler.md).
 */
typedef struct pool_module_header {
    const char *name;
    const char *text;
} pool_module_header;

/* Zero is the default of every member but struct_size and source. */
typedef struct pool_module_params {
    size_t struct_size;
    const char *source; /* CUDA C++; kernels are found by name when declared extern "C" */
    const char *name;   /* for messages, logs and quoted includes, which are looked for in its
                         * directory; NULL: "kernel.cu" */
    const pool_module_header *headers;
    size_t header_count;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
    size_t define_count;
    const char *const *options; /* further NVRTC options; the architecture is the device's own */
    size_t option_count;
    int32_t no_cache; /* 1: neither read nor write the disk cache */
    pool_cancel *cancel;
} pool_module_params;

/*
 * Compiles for exactly this device's chip (or takes the binary from memory or disk, see cache.h)
 * and loads it. Blocks for as long as NVRTC takes; threads that ask for the same thing wait for one
 * compile. Errors: POOL_ERR_COMPILE (the text has NVRTC's log with numbered source lines),
 * POOL_ERR_NO_COMPILER, POOL_ERR_CANCELLED, POOL_ERR_BAD_IMAGE (the driver is older than NVRTC).
 */
POOL_API pool_status pool_module_compile(
    pool_device *device, const pool_module_params *params, pool_module **module);

/*
 * Loads PTX text (`size` without or with its ending zero), a cubin or a fatbin. The bytes are the
 * caller's and needed for the call only. POOL_ERR_BAD_IMAGE carries the driver's JIT log.
 */
POOL_API pool_status pool_module_load(
    pool_device *device, const void *image, size_t size, pool_module **module);

/*
 * Unloads the module, destroys its kernels and sets *module to NULL; NULL or a pointer to NULL is a
 * no-op. The driver's unload blocks until all work of the device has finished; this function does
 * not: while work is unfinished, or the context cannot be entered, the unload is deferred until the
 * device is idle, to pool_memory_trim or to pool_destroy. A driver error is returned, and the
 * module is destroyed nevertheless.
 */
POOL_API pool_status pool_module_destroy(pool_module **module);

/* The device a module lives on; NULL for NULL. */
POOL_API pool_device *pool_module_device(const pool_module *module);

/* Address and size in bytes of a __device__ or __constant__ variable. */
POOL_API pool_status pool_module_variable(
    pool_module *module, const char *name, CUdeviceptr *address, uint64_t *bytes);

/* Raw handles as cuda.h types them. */
POOL_API pool_status pool_module_handle(pool_module *module, CUmodule *handle);
POOL_API pool_status pool_kernel_handle(pool_kernel *kernel, CUfunction *handle);

/* A kernel by name; the same name gives the same object. POOL_ERR_NOT_FOUND. */
POOL_API pool_status pool_kernel_get(pool_module *module, const char *name, pool_kernel **kernel);

/* What the driver knows of a kernel on its device. Sizes are bytes. */
typedef struct pool_kernel_info {
    size_t struct_size;
    int32_t max_threads_per_block;
    int32_t registers;
    uint64_t static_shared_bytes;
    uint64_t max_dynamic_shared_bytes; /* the most a launch can ask for on this device */
    uint64_t local_bytes;              /* a thread; spills show here */
    uint64_t constant_bytes;
    int32_t ptx_version;     /* 90 is 9.0 */
    int32_t binary_version;  /* 90 is sm_90 */
    int32_t parameter_count; /* -1: this driver does not tell (before CUDA 12.4) */
} pool_kernel_info;

/* Fills `info` (struct_size set). */
POOL_API pool_status pool_kernel_get_info(pool_kernel *kernel, pool_kernel_info *info);

/* Offset and size of a parameter; POOL_ERR_UNSUPPORTED before CUDA 12.4, NOT_FOUND past the last.
 */
POOL_API pool_status pool_kernel_get_parameter(
    pool_kernel *kernel, size_t index, uint64_t *offset, uint64_t *bytes);

/* Blocks of that size that one multiprocessor holds at once. */
POOL_API pool_status pool_kernel_get_occupancy(pool_kernel *kernel, uint32_t block_threads,
    uint64_t dynamic_shared_bytes, uint32_t *blocks_per_multiprocessor);

/* The block size with most threads in flight, and the blocks that then fill the device. */
POOL_API pool_status pool_kernel_get_best_block(
    pool_kernel *kernel, uint64_t dynamic_shared_bytes, uint32_t *block_threads, uint32_t *blocks);

/* Shape of a launch. A zero dimension counts as 1, zero is the default of every other member. */
typedef struct pool_launch_shape {
    size_t struct_size;
    uint32_t grid[3];              /* blocks in x, y, z */
    uint32_t block[3];             /* threads a block in x, y, z */
    uint64_t dynamic_shared_bytes; /* above 48 KB is asked for by itself */
    int32_t cooperative;           /* 1: all blocks run at once and may synchronise as a grid */
    uint32_t argument_count;       /* entries of `arguments` in pool_launch */
    const size_t *argument_bytes;  /* NULL, or the size of each, to be checked */
    int32_t pdl;                   /* 1: see below */
} pool_launch_shape;

/*
 * With `pdl` (programmatic dependent launch) a kernel may be scheduled, and run up to its
 * griddepcontrol.wait, while the preceding kernel of the stream is still running.
 * It hides a microsecond or two a launch. The kernel has to execute griddepcontrol.wait, in all its
 * threads, before it reads what earlier work wrote or writes anything; from then on it is as if it
 * had been launched in order. Compiled for less than compute capability 9.0 a kernel cannot have
 * that instruction, so there, on older devices and with drivers before CUDA 11.6 it starts in order
 * as ever. Not together with `cooperative`.
 */

/*
 * Fills `shape` (struct_size set) for one thread an item: blocks of 256 threads in x.
 * POOL_ERR_INVALID_ARGUMENT above 2^31−1 blocks. n = 0 gives one block, whose threads have to check
 * their index as always.
 */
POOL_API pool_status pool_launch_shape_for(uint64_t n, pool_launch_shape *shape);

/*
 * Enqueues the kernel on `stream` (NULL: the device's default stream) with `arguments`, an array of
 * pointers to each argument's value; the values are copied before the call returns. Where the
 * driver tells a kernel's parameters, a wrong number or size of arguments is refused with
 * POOL_ERR_INVALID_ARGUMENT before anything runs. Does not wait; a fault of the kernel shows at a
 * later call. A stream of another device: POOL_ERR_WRONG_DEVICE.
 */
POOL_API pool_status pool_launch(
    pool_kernel *kernel, const pool_launch_shape *shape, void **arguments, pool_stream *stream);

/*
 * Compiles and loads modules on every usable device of the pool before the first job needs them, in
 * parallel; a later pool_module_compile of the same parameters finds the binary. The loaded modules
 * are kept until the pool is destroyed. Returns the first failure after trying all.
 */
POOL_API pool_status pool_warm_up(
    device_pool *pool, const pool_module_params *modules, size_t count);

#ifdef __cplusplus
}
#endif

#endif
