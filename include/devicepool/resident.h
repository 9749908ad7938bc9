/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident objects: proving keys and other data that jobs use again and again, kept on the devices
 * as long as their memory is not needed otherwise. An object is registered once with a source. Each
 * device gets a copy when a job first uses it there; copies that nobody uses are evicted, least
 * recently used first, when an allocation or a lease needs their memory, and are restored from the
 * source at their next use. Twiddle tables of domains and the library's own modules stay on devices
 * in the same way.
 */
#ifndef DEVICEPOOL_RESIDENT_H
#define DEVICEPOOL_RESIDENT_H

#include <devicepool/exec.h>
#include <devicepool/msm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A registered object of a pool. Any thread may use it. It must be destroyed before its pool. */
typedef struct pool_resident pool_resident;

/* The use of an object on one device: while it is open the copy is not evicted. One thread at a
 * time. */
typedef struct pool_resident_use pool_resident_use;

/* Flags of a resident object. */
typedef enum pool_resident_flag {
    POOL_RESIDENT_PINNED = 1 /* copies are never evicted */
} pool_resident_flag;

#define POOL_RESIDENT_NAME_BYTES 64 /* of a name, with its end */

/*
 * A source of the caller: allocates a buffer on exec->device and fills it, by work that is done
 * when it returns or enqueued on exec->stream. The buffer is the object's from then on. Called on
 * the thread that needs the copy, also for different devices at once; it must not use the object
 * itself.
 *
 * On devices in worker processes (docs/workers.md) a buffer with POOL_BUFFER_DURABLE outlives the
 * process of its device, as bases do, and is not loaded again, unless its contents have changed
 * since it was loaded.
 */
typedef pool_status (*pool_resident_source)(
    void *user, const pool_exec *exec, pool_buffer **buffer);

/* Zero is the default of every member but struct_size. Exactly one of `points`, `path` and `source`
 * is given. */
typedef struct pool_resident_params {
    size_t struct_size;
    const char *name;  /* for messages, metrics and descriptions; at most 63 bytes, copied */
    uint32_t flags;    /* POOL_RESIDENT_… */
    uint32_t reserved; /* 0 */
    /*
     * Bases. `bases` are the params of pool_bases_create and pool_bases_load, copied; the curve is
     * retained. The points are a span in host memory, which must stay valid and unchanged until the
     * object is destroyed, or a file that pool_bases_save wrote.
     */
    const pool_bases_params *bases;
    const pool_span *points;
    const char *path;
    /* A buffer of `bytes` bytes from the caller's own source. */
    pool_resident_source source;
    void *user;
    uint64_t bytes;
} pool_resident_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_resident_params_init(pool_resident_params *params, size_t struct_size);

/*
 * Registers an object. Nothing is read or allocated on a device yet. Errors: INVALID_ARGUMENT,
 * OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_resident_create(
    device_pool *pool, const pool_resident_params *params, pool_resident **resident);

/*
 * Releases all copies and sets *resident to NULL; NULL and a pointer to NULL are no-ops. Refused
 * with POOL_ERR_BUSY while a use is open.
 */
POOL_API pool_status pool_resident_destroy(pool_resident **resident);

/*
 * Opens a use on exec->device (NULL: the first device of exec->lease, else the device that the
 * thread has bound), loading the copy if the device has none; threads that open at once wait for
 * one load. Only `device`, `stream`, `lease`, `checks` (of bases), `cancel` and `progress` of
 * `exec` are used. Under a lease the bytes of the copy are charged to its budget for as long as the
 * use is open, whether they had to be loaded or not, so a request includes the bytes of the copies
 * that its job uses (pool_resident_bytes); copies that are POOL_RESIDENT_PINNED are not charged
 * once they are loaded. Errors: OUT_OF_DEVICE_MEMORY, and the source's.
 */
POOL_API pool_status pool_resident_open(
    pool_resident *resident, const pool_exec *exec, pool_resident_use **use);

/* Closes the use and sets *use to NULL; NULL and a pointer to NULL are no-ops. Work that uses the
 * copy may still be enqueued: its memory is only released after that work. */
POOL_API pool_status pool_resident_close(pool_resident_use **use);

/* The copy; it belongs to the object and is valid until the use is closed. NULL where the object is
 * of the other sort. */
POOL_API pool_bases *pool_resident_bases(const pool_resident_use *use);
POOL_API pool_buffer *pool_resident_buffer(const pool_resident_use *use);

/*
 * The most device memory that pool_resident_open with the same `exec` charges to its lease at a
 * time, where the copy has to be loaded: pool_resident_bytes, and scratch memory for the conversion
 * and the checks of bases. `exec` needs no lease. Of a file the header is read.
 */
POOL_API pool_status pool_resident_open_workspace(
    const pool_resident *resident, const pool_exec *exec, uint64_t *bytes);

/*
 * pool_msm_workspace for MSMs over the object's bases, whether a device has a copy of them or not.
 * params->bases must be NULL. POOL_ERR_INVALID_ARGUMENT: the object is not bases.
 */
POOL_API pool_status pool_resident_msm_workspace(const pool_resident *resident,
    const pool_msm_params *params, const pool_exec *exec, const pool_span *scalars,
    const pool_span *results, uint64_t *bytes);

/*
 * pool_msm_joint_workspace for terms over the bases of objects, residents[i] those of terms[i],
 * whose `bases` must be NULL, whether a device has copies of them or not.
 * POOL_ERR_INVALID_ARGUMENT: an object is not bases.
 */
POOL_API pool_status pool_resident_msm_joint_workspace(pool_resident *const *residents,
    const pool_msm_joint_params *params, const pool_exec *exec, const pool_msm_term *terms,
    uint32_t count, const pool_span *results, uint64_t *bytes);

/* Device memory that a copy takes; for bases from a file 0 until the first copy has been loaded. */
POOL_API uint64_t pool_resident_bytes(const pool_resident *resident);

/* Releases the copy on a device now. POOL_ERR_BUSY while it is in use; no-op where there is none.
 */
POOL_API pool_status pool_resident_evict(pool_resident *resident, pool_device *device);

/* A copy on a device. Set struct_size before the call. */
typedef struct pool_resident_info {
    size_t struct_size;
    char name[POOL_RESIDENT_NAME_BYTES];
    int32_t is_resident; /* 1: the device has a copy */
    uint32_t users;      /* open uses on the device */
    uint64_t bytes;      /* of the copy; 0: none */
    uint64_t loads;      /* copies that have been loaded there since the registration */
    uint64_t idle_ns;    /* since its last use; 0: in use, or no copy */
    uint64_t survivals;  /* how often this copy has outlived the process of its device */
} pool_resident_info;
POOL_API pool_status pool_resident_get_info(
    pool_resident *resident, pool_device *device, pool_resident_info *info);

#ifdef __cplusplus
}
#endif

#endif
