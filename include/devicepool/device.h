/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One device of a pool: its properties, its state, its raw handles. Also the driver and the
 * compiler that are installed on the host.
 */
#ifndef DEVICEPOOL_DEVICE_H
#define DEVICEPOOL_DEVICE_H

#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device_pool; /* of pool.h */

/*
 * A device of a pool. It belongs to its pool and is valid until that pool is destroyed. Any thread
 * may use it at any time.
 */
typedef struct pool_device pool_device;

/* Whether a device can be used now. */
typedef enum pool_device_state {
    POOL_DEVICE_READY = 0,
    /* Its context could not be created, or a call reported the device as lost; permanent. The cause
     * is in pool_device_info.reason. */
    POOL_DEVICE_UNUSABLE = 1,
    POOL_DEVICE_POISONED = 2, /* the process had a sticky fault and cannot use any device */
    /* pool_device_drain: not chosen and not leased any more; existing uses continue. */
    POOL_DEVICE_DRAINING = 3,
    /* Suspected of wrong results or of failing soon: not chosen and not leased until a probe has
     * succeeded and pool_device_resume was called; existing uses continue. */
    POOL_DEVICE_QUARANTINED = 4,
    /* pool_device_abandon: given up for good, with everything on it, because it hangs. */
    POOL_DEVICE_ABANDONED = 5
} pool_device_state;

#define POOL_UUID_TEXT                                                                             \
    48                   /* "GPU-01234567-89ab-cdef-0123-456789abcdef" or "MIG-…", with the NUL  \
                          */
#define POOL_PCI_TEXT 24 /* "0000:06:00.0", with the NUL */

/*
 * Properties and state of a device. Sizes are in bytes, clocks in kHz. A member that the driver
 * does not report is 0, or -1 where 0 would be a value (numa_node). Set struct_size before the
 * call.
 */
typedef struct pool_device_info {
    size_t struct_size;
    uint32_t index;  /* index in the pool */
    int32_t ordinal; /* index in the driver's list, after CUDA_VISIBLE_DEVICES; not an identity */
    char uuid[POOL_UUID_TEXT];
    char pci[POOL_PCI_TEXT]; /* domain:bus:device.function */
    char name[128];
    int32_t compute_major;
    int32_t compute_minor;
    int32_t multiprocessors;
    int32_t clock_khz;
    int32_t memory_clock_khz;
    int32_t memory_bus_bits;
    uint64_t l2_bytes;
    uint64_t total_bytes;
    uint64_t free_bytes;  /* sampled by this call; 0 while a lazy device has no context */
    int32_t ecc;          /* 1: enabled */
    int32_t mps;          /* 1: through a Multi-Process Service daemon */
    int32_t mig;          /* 1: a MIG instance */
    int32_t numa_node;    /* of the nearest host memory; -1: unknown */
    int32_t integrated;   /* 1: shares the host's memory */
    int32_t compute_mode; /* 0: default, 2: prohibited, 3: exclusive process */
    int32_t warp_size;
    int32_t max_threads_per_block;
    int32_t max_threads_per_multiprocessor;
    int32_t max_blocks_per_multiprocessor;
    int32_t registers_per_multiprocessor;
    int32_t copy_engines;
    uint64_t shared_bytes_per_block;       /* without opting in */
    uint64_t shared_bytes_per_block_optin; /* the maximum, with opting in */
    uint64_t shared_bytes_per_multiprocessor;
    int32_t memory_pools;       /* 1: stream-ordered allocation */
    int32_t cooperative_launch; /* 1: supported */
    int32_t has_context;        /* 0: lazy and not used yet */
    pool_device_state state;
    char reason[256]; /* why it is not READY, or "" */
    /*
     * Of a part of a GPU (pool_params.devices, "0/16+116"): its number on the GPU, from 0, and how
     * many parts the GPU has. Both 0: the device is a whole GPU. `multiprocessors` is then the
     * number that the part has; all other properties, memory included, are the GPU's.
     */
    int32_t partition;
    int32_t partitions;
} pool_device_info;

/* Fills `info`, whose struct_size must be set. Creates no context. Any thread. */
POOL_API pool_status pool_device_get_info(pool_device *device, pool_device_info *info);

/*
 * Describes the device: what pool_device_get_info reports, and what it uses as a context. In JSON
 * it is the object of the device in pool_describe's list. The caller frees *text with
 * pool_text_free.
 */
POOL_API pool_status pool_device_describe(
    pool_device *device, pool_text_format format, char **text);

/* Peer access from one device to another of the same pool, from the driver's P2P attributes. */
typedef struct pool_peer_info {
    size_t struct_size;
    int32_t access;           /* 1: `from` can address memory of `to` */
    int32_t native_atomics;   /* 1: atomics over the link */
    int32_t performance_rank; /* the driver's rank of the link; 0 is best */
} pool_peer_info;

/* Fills `info`, whose struct_size must be set. POOL_ERR_INVALID_ARGUMENT for devices of different
 * pools. Any thread. */
POOL_API pool_status pool_device_get_peer(pool_device *from, pool_device *to, pool_peer_info *info);

/* The index in the pool and the driver's ordinal; -1 for NULL. */
POOL_API int pool_device_index(const pool_device *device);
POOL_API int pool_device_ordinal(const pool_device *device);

/*
 * The GPU of a part of it (pool_params.devices, "0/16+116"), as the first of its parts in the pool:
 * two devices are on one GPU where the results are equal. The device itself where it is a whole
 * GPU; NULL for NULL. The parts of a GPU have its memory, the loaded code, resident objects and
 * faults in common, and any of them may be named for memory of the GPU: work on it may run in every
 * part.
 */
POOL_API pool_device *pool_device_gpu(pool_device *device);

/* The number of a part on its GPU, from 0; -1 for a whole GPU and for NULL. */
POOL_API int pool_device_partition(const pool_device *device);

/* "GPU-…" or "MIG-…"; "" for NULL. Belongs to the device. */
POOL_API const char *pool_device_uuid(const pool_device *device);

/*
 * Raw handles with the types of cuda.h, for code that calls the driver or the runtime API itself on
 * the bound context. The context remains owned by the pool (or, if adopted, by its creator): do not
 * destroy it. pool_device_context creates the context of a lazy device. POOL_ERR_UNSUPPORTED for a
 * device in a worker process, as of every function that gives or takes a raw handle;
 * pool_device_handle returns the ordinal in the pool's table of driver functions there.
 */
POOL_API pool_status pool_device_handle(pool_device *device, CUdevice *handle);
POOL_API pool_status pool_device_context(pool_device *device, CUcontext *context);

/* Limits of a device's context, in bytes. */
typedef enum pool_limit {
    POOL_LIMIT_STACK = 0,  /* stack of each thread of a kernel */
    POOL_LIMIT_PRINTF = 1, /* the buffer of printf in kernels */
    POOL_LIMIT_HEAP = 2    /* malloc in kernels */
} pool_limit;

/*
 * The limit in effect, and a change of it. A limit belongs to the context; with a primary context
 * all of the process has it. The driver may round a value, and rejects a value that is too large
 * (POOL_ERR_DRIVER). The heap's limit cannot be changed after a module that uses it was loaded. On
 * simulated devices only the stack's limit has an effect.
 */
POOL_API pool_status pool_device_get_limit(pool_device *device, pool_limit limit, uint64_t *bytes);
POOL_API pool_status pool_device_set_limit(pool_device *device, pool_limit limit, uint64_t bytes);

#define POOL_MAX_RATE (UINT64_C(1) << 36) /* of pool_device_set_rate */

/*
 * How fast a device computes, relative to the other devices of its pool: what can be divided freely
 * of a job over several devices (exec.h) is divided in proportion. The rate is multiprocessors
 * times the clock rate in kHz until it is set, or measured by pool_measure_rates. 0 sets it back to
 * that. Rates that were set compare with each other only. A call reads them when it begins: what
 * ..._workspace and ..._shards functions report holds for the rates of their time, so rates are set
 * before. POOL_ERR_INVALID_ARGUMENT: more than POOL_MAX_RATE. Any thread.
 */
POOL_API pool_status pool_device_get_rate(pool_device *device, uint64_t *rate);
POOL_API pool_status pool_device_set_rate(pool_device *device, uint64_t rate);

/*
 * Measures the rates of all devices of a pool that are POOL_DEVICE_READY, one after
 * another, and sets them, by Poseidon permutations over a field of 256 bits: like most
 * kernels of MSMs and transforms they mostly multiply. Jobs over devices of different speed
 * are then divided by these rates. Blocks for some milliseconds per device, at the first
 * call also until the kernel is compiled; some MiB are allocated for the time. No other
 * work should run on the devices meanwhile. The rates keep their sum, so that they compare
 * with rates of devices that were not measured. After a failure no rate has changed. Any
 * thread.
 */
POOL_API pool_status pool_measure_rates(struct device_pool *pool);

/*
 * Starts and stops the collection of a profiler that was started with its collection off, as
 * `nsys profile --capture-range=cudaProfilerApi` and `ncu --profile-from-start off` do. Without a
 * profiler, and on simulated devices, there is no effect. POOL_ERR_UNSUPPORTED: the driver's table
 * has no such function.
 */
POOL_API pool_status pool_profiler_start(pool_device *device);
POOL_API pool_status pool_profiler_stop(pool_device *device);

/*
 * Taking a device out of service and into service again. All of these may be called by any thread
 * at any time, POOL_ERR_DEVICE_UNUSABLE: the device is lost or abandoned.
 *
 * pool_device_drain: the device is not chosen (pool_next_device, pool_best_device,
 * pool_pick_device) and not leased any more. Calls that name it still work, so that what has begun
 * there can end. A thread that chooses at this very moment may still get it. No effect on a
 * quarantined device, which is not chosen either.
 */
POOL_API pool_status pool_device_drain(pool_device *device);

/*
 * Waits until no lease includes the device, no call of the library is in progress on it and all of
 * its streams have finished; UINT64_MAX waits without limit. POOL_ERR_TIMEOUT: the message says
 * what remains. POOL_ERR_INVALID_ARGUMENT: the device is neither draining nor quarantined.
 */
POOL_API pool_status pool_device_wait_drained(pool_device *device, uint64_t timeout_ns);

/*
 * Makes a device that is draining or quarantined READY again; on a ready one a no-op. A quarantined
 * device is refused with POOL_ERR_BUSY unless pool_device_probe has succeeded since it was
 * quarantined.
 */
POOL_API pool_status pool_device_resume(pool_device *device);

/* Takes a suspected device out of service; `reason` is copied, up to 255 bytes,
 * and must not be empty. */
POOL_API pool_status pool_device_quarantine(pool_device *device, const char *reason);

/*
 * Runs a kernel with known results on all multiprocessors and compares them. The work is done by a
 * thread of the library, so that the call returns in time on a device that hangs as well, and on
 * the device's default stream. The first probe of a device loads a module and allocates up to 1 MiB
 * of device memory, which stay until the pool is destroyed. Errors: POOL_ERR_TIMEOUT: no answer
 * within `timeout_ns`; the device hangs, or other work keeps it busy. POOL_ERR_BUSY: an earlier
 * probe has not ended. POOL_ERR_DEVICE_UNUSABLE: a result is wrong, and the device is now
 * quarantined (the fault hook is called), or it was lost before. Others as for pool_launch. Until a
 * probe that was left behind ends, pool_destroy fails with POOL_ERR_BUSY, unless the device is
 * abandoned.
 */
POOL_API pool_status pool_device_probe(pool_device *device, uint64_t timeout_ns);

/*
 * Gives a device up that hangs: a kernel on it does not end, or a driver call does not return. From
 * then on no driver call is made on it. Calls that name it fail with POOL_ERR_DEVICE_UNUSABLE;
 * destructors of its objects free host memory only, at once; its memory, streams and modules are
 * leaked on purpose, until the process ends. The other devices continue to work. Pinned memory of
 * every device of the pool is reused but not returned any more, because that would wait for the
 * hung work; pool_destroy leaks the pool's host memory and returns within seconds. A thread that is
 * inside a driver call on the device stays there. `reason` is copied and must not be empty.
 */
POOL_API pool_status pool_device_abandon(pool_device *device, const char *reason);

/*
 * Has a device that is lost (POOL_ERR_DEVICE_LOST) taken into service again now: also one that the
 * library has given up because too many of its worker processes have ended in a row, which its
 * reason says. Another process is started at once, and earlier losses count no more; a device
 * whose context was destroyed gets a new one. Returns without waiting: the device is READY, and
 * pool_usable_count counts it, once it has been probed; docs/workers.md says what keeps it out of
 * service. No-op for a device that accepts calls. POOL_ERR_DEVICE_UNUSABLE: it is unusable for
 * another reason or abandoned, and only a new pool or process can use it. Any thread.
 */
POOL_API pool_status pool_device_readmit(pool_device *device);

/* ---- installed driver and compiler ------------------------------------------------------------
 */

/*
 * The driver or the compiler: `status` is POOL_OK if it is usable, otherwise `message` has the
 * reason. Versions are numbered as in CUDA: 13000 is 13.0. `path` is the loaded library file. For a
 * usable compiler `message` says why newer ones that were found are not used, or is empty.
 */
typedef struct pool_component {
    pool_status status;
    int32_t version;
    char path[256];
    char message[1024];
} pool_component;

/* The installed components. */
typedef struct pool_host_info {
    size_t struct_size;
    pool_component driver;
    pool_component compiler;
} pool_host_info;

/*
 * Fills `info`, whose struct_size must be set. Loads the libraries unless they are loaded already
 * and initialises the driver (up to a second). The compiler is the newest NVRTC that compiles a
 * trivial kernel which the driver loads on its first device; without a device, the newest that
 * compiles it. Unless the disk cache has the result, this takes a tenth of a second, and a context
 * is created on that device and released. Returns POOL_OK also when a component is missing, which
 * `info` reports. Any thread.
 */
POOL_API pool_status pool_host_get_info(pool_host_info *info);

/*
 * The compiler of the device's kernels: the newest NVRTC whose code the device's driver loads,
 * tried as by pool_host_get_info. Returns POOL_OK also when there is none, with the status
 * POOL_ERR_NO_COMPILER and the reason in `compiler`: the library then uses its prebuilt PTX. Fails
 * as other calls do when the device cannot be used. Any thread.
 */
POOL_API pool_status pool_device_get_compiler(pool_device *device, pool_component *compiler);

#ifdef __cplusplus
}
#endif

#endif
