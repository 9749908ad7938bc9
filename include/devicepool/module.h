/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom kernels: from CUDA C++ source or an image to a loaded module, its kernels and their
 * launches.
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

struct pool_field;    /* of field.h */
struct pool_curve;    /* of curve.h */
struct pool_poseidon; /* of poseidon.h */
struct pool_exec;     /* of exec.h */

/*
 * A loaded module: code and variables on one device. Any thread may use it. It must be destroyed
 * before its pool; work launched from it may be unfinished then.
 */
typedef struct pool_module pool_module;

/* A kernel of a module. It belongs to the module and is valid until that is destroyed. Any thread.
 */
typedef struct pool_kernel pool_kernel;

/*
 * A header in memory that the source can include by this name; it takes precedence over files of
 * that name. Files are searched for in the directories of `-I` options and in the CUDA toolkit's
 * include directories; the cache's key covers every file that a source can include
 * (docs/kernels.md).
 */
typedef struct pool_module_header {
    const char *name;
    const char *text;
} pool_module_header;

/*
 * The library's arithmetic for a kernel: with the prefix "fr" the source can `#include "fr.cuh"`
 * and call fr_mul, fr_add, …, generated for exactly this modulus as for the library's own kernels.
 * docs/kernels.md lists what each header defines. Exactly one of the three pointers is set; it is
 * not needed after the call. A prefix has up to 16 lower-case letters, digits and underscores,
 * begins with a letter, and is unique among the entries.
 */
typedef struct pool_module_arithmetic {
    const char *prefix;
    const struct pool_field *field;
    const struct pool_curve *curve;
    const struct pool_poseidon *poseidon;
} pool_module_arithmetic;

/* Zero is the default of every member but struct_size and source. */
typedef struct pool_module_params {
    size_t struct_size;
    const char *source; /* CUDA C++; kernels are found by name when declared extern "C" */
    const char *name;   /* for messages and logs; quoted includes are searched for in its directory;
                         * NULL: "kernel.cu" */
    const pool_module_header *headers;
    size_t header_count;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
    size_t define_count;
    /* Further NVRTC options. Of those that set one value the last one counts. One of the library,
     * --std=c++17 and --gpu-architecture=<the device's chip>, only applies if it is not among them.
     */
    const char *const *options;
    size_t option_count;
    int32_t no_cache; /* 1: neither read nor write the disk cache */
    pool_cancel *cancel;
    const pool_module_arithmetic *arithmetic; /* headers that the library generates */
    size_t arithmetic_count;
    /* Name expressions, as C++ writes them: "scale<float, 4>", "app::kernel". Kernels, and the
     * address of __device__ and __constant__ variables as "&app::table", which need not be
     * extern "C"; templates are instantiated for them. pool_kernel_get and pool_module_variable
     * find them by exactly this string. */
    const char *const *names;
    size_t name_count;
} pool_module_params;

/*
 * Compiles for exactly this device's chip, or takes the binary from the cache in memory or on disk
 * (see below), and loads it. Blocks while NVRTC compiles; threads that need the same binary wait
 * for one compilation. The caller destroys the module. Errors: POOL_ERR_COMPILE (the message has
 * NVRTC's log with numbered source lines), POOL_ERR_NO_COMPILER, POOL_ERR_CANCELLED,
 * POOL_ERR_BAD_IMAGE (the driver is older than NVRTC).
 */
POOL_API pool_status pool_module_compile(
    pool_device *device, const pool_module_params *params, pool_module **module);

/* What an image is. */
typedef enum pool_image_form {
    POOL_IMAGE_CUBIN = 0, /* machine code of one chip */
    POOL_IMAGE_PTX = 1    /* for that compute capability and every later one */
} pool_image_form;

/*
 * Compiles without a device or a driver, for files that pool_module_load_file and other programs
 * load: for chips of `compute_capability` (90 is 9.0). The image comes from the same caches as
 * pool_module_compile's; *size does not include the NUL that follows it. Name expressions follow it
 * as comments, so that a loaded image has them. The caller frees *image with pool_image_free.
 * Errors: as pool_module_compile, and POOL_ERR_UNSUPPORTED if NVRTC does not support the chip.
 */
POOL_API pool_status pool_module_build(const pool_module_params *params, int32_t compute_capability,
    pool_image_form form, void **image, size_t *size);

/* Frees the image and sets *image to NULL; NULL or a pointer to NULL is a no-op. */
POOL_API void pool_image_free(void **image);

/*
 * Loads PTX (`size` with or without the NUL), a cubin or a fatbin. The image is not needed after
 * the call. The caller destroys the module. The message of POOL_ERR_BAD_IMAGE has the driver's JIT
 * log.
 */
POOL_API pool_status pool_module_load(
    pool_device *device, const void *image, size_t size, pool_module **module);

/* The same for a file. POOL_ERR_IO. */
POOL_API pool_status pool_module_load_file(
    pool_device *device, const char *path, pool_module **module);

/*
 * Unloads the module, destroys its kernels and sets *module to NULL; NULL or a pointer to NULL is a
 * no-op. The driver's unload blocks until all work of the device has finished; this function does
 * not: while work is unfinished, or the context cannot be entered, the unload is deferred until the
 * device is idle, to pool_memory_trim or to pool_destroy. A driver error is returned, and the
 * module is destroyed nevertheless.
 */
POOL_API pool_status pool_module_destroy(pool_module **module);

/* The module's device; NULL for NULL. */
POOL_API pool_device *pool_module_device(const pool_module *module);

/*
 * The symbol of a name expression that the module was compiled with, for the driver's own
 * functions; it lives as long as the module. NULL for other names and for a NULL argument.
 */
POOL_API const char *pool_module_symbol(const pool_module *module, const char *expression);

/* Address and size in bytes of a __device__ or __constant__ variable. */
POOL_API pool_status pool_module_variable(
    pool_module *module, const char *name, CUdeviceptr *address, uint64_t *bytes);

/* Raw handles with the types of cuda.h. */
POOL_API pool_status pool_module_handle(pool_module *module, CUmodule *handle);
POOL_API pool_status pool_kernel_handle(pool_kernel *kernel, CUfunction *handle);

/* Finds a kernel by its name or name expression; the same name returns the same object.
 * POOL_ERR_NOT_FOUND. */
POOL_API pool_status pool_kernel_get(pool_module *module, const char *name, pool_kernel **kernel);

/* Properties of a kernel on its device, as the driver reports them. Sizes are bytes. */
typedef struct pool_kernel_info {
    size_t struct_size;
    int32_t max_threads_per_block;
    int32_t registers;
    uint64_t static_shared_bytes;
    uint64_t max_dynamic_shared_bytes; /* the maximum per launch on this device */
    uint64_t local_bytes;              /* per thread; includes spilled registers */
    uint64_t constant_bytes;
    int32_t ptx_version;     /* 90 is 9.0 */
    int32_t binary_version;  /* 90 is sm_90 */
    int32_t parameter_count; /* -1: unknown to the driver (before CUDA 12.4) */
} pool_kernel_info;

/* Fills `info`, whose struct_size must be set. */
POOL_API pool_status pool_kernel_get_info(pool_kernel *kernel, pool_kernel_info *info);

/* Offset and size of a parameter in bytes; POOL_ERR_UNSUPPORTED before CUDA 12.4,
 * POOL_ERR_NOT_FOUND past the last one. */
POOL_API pool_status pool_kernel_get_parameter(
    pool_kernel *kernel, size_t index, uint64_t *offset, uint64_t *bytes);

/* The carve-out that leaves the choice to the driver. */
#define POOL_CARVEOUT_DEFAULT (-1)

/*
 * The share of a multiprocessor's on-chip memory that the kernel would like as shared memory, in
 * percent, the rest being L1 cache; POOL_CARVEOUT_DEFAULT leaves it to the driver. A hint: the
 * driver takes the next larger configuration, and what the launch needs in any case. Large dynamic
 * shared memory needs no call: pool_launch opts in.
 */
POOL_API pool_status pool_kernel_set_carveout(pool_kernel *kernel, int32_t percent);
POOL_API pool_status pool_kernel_get_carveout(pool_kernel *kernel, int32_t *percent);

/* The number of blocks of that size that are resident on a multiprocessor at once. */
POOL_API pool_status pool_kernel_get_occupancy(pool_kernel *kernel, uint32_t block_threads,
    uint64_t dynamic_shared_bytes, uint32_t *blocks_per_multiprocessor);

/* The block size with the most resident threads, and the number of blocks that then fill the
 * device. */
POOL_API pool_status pool_kernel_get_best_block(
    pool_kernel *kernel, uint64_t dynamic_shared_bytes, uint32_t *block_threads, uint32_t *blocks);

/*
 * Shape of a launch. A zero dimension counts as 1; zero is the default of every other member.
 *
 * With `pdl` (programmatic dependent launch) a kernel may be scheduled, and run up to its
 * griddepcontrol.wait, while the preceding kernel of the stream is still running, which hides one
 * to two microseconds per launch. All threads of the kernel must execute griddepcontrol.wait before
 * they read results of earlier work or write anything. The instruction exists from compute
 * capability 9.0 on; on older devices, and with drivers before CUDA 11.6, the kernel starts in
 * stream order. Not together with `cooperative`.
 */
typedef struct pool_launch_shape {
    size_t struct_size;
    uint32_t grid[3];              /* blocks in x, y, z */
    uint32_t block[3];             /* threads per block in x, y, z */
    uint64_t dynamic_shared_bytes; /* more than 48 KB is opted in automatically */
    int32_t cooperative;           /* 1: all blocks run at once and may synchronise as a grid */
    uint32_t argument_count;       /* entries of `arguments` in pool_launch */
    const size_t *argument_bytes;  /* NULL, or the size of each, to be checked */
    int32_t pdl;                   /* 1: programmatic dependent launch, see above */
    /* The driver's priority of this launch's blocks; 0: the stream's, on default streams level 0.
     * Drivers since CUDA 11.7 (POOL_ERR_UNSUPPORTED); no effect on simulated devices. */
    int32_t priority;
    /* Blocks per thread-block cluster in x, y, z; all zero: no clusters. The grid is a multiple of
     * it in every dimension. More than 8 blocks, which not every device can run, are opted in
     * automatically. Compute capability 9.0 and CUDA 11.8; POOL_ERR_UNSUPPORTED elsewhere and on
     * simulated devices, which execute neither barriers nor distributed shared memory of clusters.
     */
    uint32_t cluster[3];
} pool_launch_shape;

/*
 * Clusters of a launch with this block and these bytes of shared memory, whatever the grid: the
 * number of blocks of the largest possible cluster, and how many clusters of `shape->cluster` are
 * resident on the whole device at once (0: such a launch cannot start). Either output may be NULL.
 * POOL_ERR_UNSUPPORTED as for pool_launch_shape.cluster. Any thread.
 */
POOL_API pool_status pool_kernel_get_clusters(
    pool_kernel *kernel, const pool_launch_shape *shape, uint32_t *largest, uint32_t *resident);

/*
 * Fills `shape`, whose struct_size must be set, for one thread per item: blocks of 256 threads in
 * x. POOL_ERR_INVALID_ARGUMENT above 2^31−1 blocks. The shape for n = 0 has one block; the kernel
 * must compare each thread's index with n in any case.
 */
POOL_API pool_status pool_launch_shape_for(uint64_t n, pool_launch_shape *shape);

/*
 * Enqueues the kernel on `stream` (NULL: the device's default stream) with `arguments`, an array of
 * pointers to each argument's value; the values are copied before the call returns. If the driver
 * reports a kernel's parameters, a wrong number or size of arguments fails with
 * POOL_ERR_INVALID_ARGUMENT before anything runs. Does not wait; a fault of the kernel shows at a
 * later call. A stream of another device: POOL_ERR_WRONG_DEVICE. Any thread.
 */
POOL_API pool_status pool_launch(
    pool_kernel *kernel, const pool_launch_shape *shape, void **arguments, pool_stream *stream);

/*
 * Compiles and loads modules on every usable device of the pool, in parallel, before the first job
 * needs them; a later pool_module_compile with the same params finds the binary. The modules stay
 * loaded until the pool is destroyed or the device has no memory left. Blocks. After a failure the
 * other modules are still compiled; the first failure is returned. `exec` as for other warm-ups
 * (exec.h), but `device` NULL, and `exec` NULL, stand for all usable devices.
 */
POOL_API pool_status pool_warm_up(device_pool *pool, const struct pool_exec *exec,
    const pool_module_params *modules, size_t count);

/* ---- the disk cache --------------------------------------------------------------------------
 *
 * The disk cache of compiled kernels: $DEVICEPOOL_CACHE_DIR, else $XDG_CACHE_HOME/devicepool, else
 * ~/.cache/devicepool. DEVICEPOOL_CACHE=off disables it, DEVICEPOOL_CACHE_MAX ("512M") limits its
 * size (default 1G; the least recently used entries are evicted first). It is disabled in setuid
 * programs and for directories that another user owns or can write. A damaged entry is a cache miss
 * and is deleted. All functions may be called by any thread.
 */

#define POOL_CACHE_KEY_TEXT 65 /* of the key of an entry, with the NUL */

/* One entry. `valid` is 0 if its digest does not match; only `key` and `bytes` are set then. */
typedef struct pool_cache_entry {
    size_t struct_size;
    char key[POOL_CACHE_KEY_TEXT]; /* hexadecimal; also the file's name */
    char name[64];                 /* of the module, pool_module_params.name */
    uint64_t bytes;                /* of the file */
    uint64_t created_unix_time;    /* seconds */
    int32_t compute_capability;    /* 90 is sm_90; 0: for any chip */
    int32_t is_ptx;                /* 1: PTX, 0: machine code */
    int32_t valid;
} pool_cache_entry;

/*
 * Writes the directory that is or would be used to `path`, which has `size` bytes. If the cache is
 * disabled the status is POOL_ERR_UNSUPPORTED and the message says why.
 */
POOL_API pool_status pool_cache_directory(char *path, size_t size);

/* Calls `visit` for each entry, including damaged ones, until it returns non-zero. */
typedef int (*pool_cache_visitor)(void *user, const pool_cache_entry *entry);
POOL_API pool_status pool_cache_each(pool_cache_visitor visit, void *user);

/* Reads every entry and deletes the damaged ones. *kept and *deleted receive the number of intact
 * and of deleted entries; either pointer may be NULL. */
POOL_API pool_status pool_cache_verify(uint64_t *kept, uint64_t *deleted);

/* Deletes every entry; *deleted, unless NULL, receives their number. */
POOL_API pool_status pool_cache_clear(uint64_t *deleted);

/* ---- packs --------------------------------------------------------------------------------------
 *
 * A pack has compiled kernels of one chip in one file, DIRECTORY/sm_90.pack for compute capability
 * 9.0. Directories of packs are levels of the disk cache that are only read, after the cache itself
 * and before anything is compiled: DEVICEPOOL_CACHE_LEVELS names them, separated by colons; by
 * default it is the one that is installed with the library, and "off", as DEVICEPOOL_CACHE=off,
 * disables them. A pack is used by the build of the library that has written it and only if the
 * NVRTC that would compile has made it; without NVRTC whichever has. Root or the user has to own
 * file and directory, and nobody else may be able to write them. A damaged entry is a cache miss.
 * All functions may be called by any thread.
 */

/* One pack. Set struct_size before the call. */
typedef struct pool_pack_info {
    size_t struct_size;
    char path[512];
    int32_t compute_capability; /* 90 is 9.0 */
    int32_t compiler_version;   /* of the NVRTC that has made it: 13000 is 13.0 */
    uint64_t entries;           /* programs */
    uint64_t bytes;             /* of the file */
    int32_t is_used;            /* 1: for devices of its chip */
    char reason[512];           /* why not, or empty */
} pool_pack_info;

/*
 * The packs of the levels in the order of the search, and levels that cannot be read; of a file
 * that is no pack only path and reason. POOL_ERR_NOT_FOUND: there are no more. The NVRTC that would
 * compile is taken to be the first that is found.
 */
POOL_API pool_status pool_pack_at(size_t index, pool_pack_info *info);

/* Called on the caller's thread when the programs of a field, curve or set have been compiled, with
 * their number. A result other than 0 cancels. */
typedef int (*pool_pack_progress)(void *user, const char *subject, uint64_t programs);

/* Zero is the default of every member but struct_size and compute_capability. */
typedef struct pool_pack_params {
    size_t struct_size;
    int32_t compute_capability;
    int32_t form;                           /* pool_image_form; PTX is for simulated devices */
    const struct pool_field *const *fields; /* vectors, transforms; of extensions: FRI */
    size_t field_count;
    const struct pool_curve *const *curves; /* MSMs, transforms of points */
    size_t curve_count;
    struct pool_poseidon *const *sets; /* permutations, hashes, trees, commitments */
    size_t set_count;
    pool_pack_progress progress; /* NULL: none */
    void *user;
} pool_pack_params;

/*
 * Compiles all programs of the fields, curves and sets for a chip, which need not be there, and
 * writes DIRECTORY/sm_90.pack, replacing an old one at the end. Creates the directory. Takes from
 * the cache what it has, and stores the rest there. Blocks. `info` may be NULL, here and below.
 * Errors: POOL_ERR_NO_COMPILER, POOL_ERR_UNSUPPORTED (NVRTC has no machine code for the chip),
 * POOL_ERR_CANCELLED, POOL_ERR_IO.
 */
POOL_API pool_status pool_pack_build(
    const char *directory, const pool_pack_params *params, pool_pack_info *info);

/*
 * Writes the cache's entries for a chip to DIRECTORY/sm_90.pack: those of the NVRTC that has made
 * the newest. *left_out, unless NULL, receives the number of the others. POOL_ERR_NOT_FOUND: there
 * are no entries.
 */
POOL_API pool_status pool_pack_cache(
    const char *directory, int32_t compute_capability, pool_pack_info *info, uint64_t *left_out);

/* Copies the entries of a pack to the cache, or only reads them all. POOL_ERR_BAD_DATA: one is
 * damaged (the others are copied), or it is no pack. POOL_ERR_IO: the cache cannot take all. */
POOL_API pool_status pool_pack_unpack(const char *path, pool_pack_info *info);
POOL_API pool_status pool_pack_verify(const char *path, pool_pack_info *info);

#ifdef __cplusplus
}
#endif

#endif
