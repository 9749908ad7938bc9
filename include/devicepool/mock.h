/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver for unit tests: a strict CUDA driver without a GPU, to be used by a pool through
 * pool_params.driver. It returns the real driver's codes, tracks every handle, can be scripted,
 * and fails where a test wants it to. Library: devicepool-mock (static), with a pkg-config file of
 * the same name; docs/testing.md explains its use.
 *
 * A process has one mock at a time, as it has one libcuda. Functions are identified by their
 * symbol ("cuMemAlloc"); a version suffix is optional. Unless stated otherwise, every function may
 * be called from any thread at any time; no other thread may use the mock during pool_mock_create
 * and pool_mock_destroy. Returned strings belong to the mock and are valid until the next call of
 * the same function or the mock's destruction.
 *
 * Functions that set something return POOL_OK, POOL_ERR_INVALID_ARGUMENT for NULL or a number out
 * of range, and POOL_ERR_NOT_FOUND for a function, device or handle that does not exist; such a
 * misuse is also recorded for pool_mock_verify, so that tests need not check each call.
 */
#ifndef DEVICEPOOL_MOCK_H
#define DEVICEPOOL_MOCK_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/driver.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A mock driver. */
typedef struct pool_mock pool_mock;

#define POOL_MOCK_NO_DEVICES 0xffffffffu /* value of pool_mock_params.devices */
#define POOL_MOCK_MAX_DEVICES 64         /* of a mock */

/* The default of every member but struct_size is zero. */
typedef struct pool_mock_params {
    size_t struct_size;
    uint32_t devices;       /* 0: one; POOL_MOCK_NO_DEVICES: a driver without devices */
    int32_t driver_version; /* 0: 13000, CUDA 13.0 */
    uint64_t memory_bytes;  /* of each device; 0: 143771 MiB, an H200 */
    uint64_t context_bytes; /* memory used by each context; 0: none */
    int32_t no_log;         /* 1: pool_mock_log stays empty, for tests that measure nanoseconds */
    /*
     * Behaviour after a sticky fault. 0: every function that accesses a device returns the fault's
     * code, while the thread's context stack, device queries and versions still work; 1: these
     * return the code as well.
     */
    int32_t sticky_everywhere;
} pool_mock_params;

/*
 * Creates the mock; params may be NULL. POOL_ERR_BUSY while another one exists,
 * POOL_ERR_OUT_OF_HOST_MEMORY, POOL_ERR_INVALID_ARGUMENT. Its devices have all attributes of an
 * H200, and all are peers of one another; UUIDs and PCI addresses (0000:06:00.0 and upwards) are
 * fixed.
 */
pool_status pool_mock_create(pool_mock **mock, const pool_mock_params *params);

/*
 * Destroys the mock, frees all memory that it allocated and sets *mock to NULL. The table is freed
 * with it, so pools must be destroyed first.
 */
void pool_mock_destroy(pool_mock **mock);

/* The table for pool_params.driver; it belongs to the mock. */
const pool_cuda_api *pool_mock_table(pool_mock *mock);

/* ---- devices --------------------------------------------------------------------------------- */

/* Sets the memory that is free now, at most the total; later allocations of the mock reduce it. */
pool_status pool_mock_set_free_memory(pool_mock *mock, int device, uint64_t free_bytes);
/* Sets the device's total memory; all of it is free, except allocations of the mock. */
pool_status pool_mock_set_memory(pool_mock *mock, int device, uint64_t total_bytes);
/*
 * What pool_mock_host_memory reports: the memory that is available on the host, for integrated
 * devices (attribute POOL_CU_ATTRIBUTE_INTEGRATED). 0, the default: not known.
 */
pool_status pool_mock_set_host_memory(pool_mock *mock, uint64_t available_bytes);
/* For pool_params.host_memory, with the mock as its host_memory_user. */
uint64_t pool_mock_host_memory(void *mock);
/* Sets the device's name. */
pool_status pool_mock_set_name(pool_mock *mock, int device, const char *name);
/* Sets the device's UUIDs: 16 bytes each; `instance` (for cuDeviceGetUuid_v2) may be NULL: the same
 * as `uuid`, no MIG. */
pool_status pool_mock_set_uuid(pool_mock *mock, int device, const void *uuid, const void *instance);
/* Sets the device's PCI address; the function is 0. */
pool_status pool_mock_set_pci(
    pool_mock *mock, int device, unsigned domain, unsigned bus, unsigned slot);
/* Sets a device attribute, POOL_CU_ATTRIBUTE_… of <devicepool/driver.h> or any other number of
 * CUdevice_attribute. */
pool_status pool_mock_set_attribute(pool_mock *mock, int device, pool_cu_enum attribute, int value);
/* Sets one direction of a link: whether `from` can access the memory of `to`, whether atomics work
 * across it, and the driver's performance rank. */
pool_status pool_mock_set_peer(
    pool_mock *mock, int from, int to, int access, int atomics, int rank);
/* Removes a function from the table, as if the driver were older. Call it before pool_create. */
pool_status pool_mock_remove_function(pool_mock *mock, const char *function);

/* ---- failures -------------------------------------------------------------------------------- */

/* How long a scripted result lasts. */
typedef enum pool_mock_repeat {
    POOL_MOCK_ONCE = 0,
    POOL_MOCK_FROM_THEN_ON = 1 /* this call and every later one that matches */
} pool_mock_repeat;

/*
 * The n-th call (1 is the next one) of `function` returns `code` and has no other effect. NULL:
 * the n-th call of any function; a name that ends in '*' matches every function with that prefix.
 * Several failures may be pending at once; of those that apply to a call, the one set first wins.
 * A sticky code (700, 719, …) poisons the mock.
 */
pool_status pool_mock_fail(
    pool_mock *mock, const char *function, uint64_t n, pool_cu_code code, pool_mock_repeat repeat);

/* The same for calls that concern one device: given by its ordinal, or by the current context. */
pool_status pool_mock_fail_on(pool_mock *mock, int device, const char *function, uint64_t n,
    pool_cu_code code, pool_mock_repeat repeat);

/* Removes all failures. */
void pool_mock_clear_failures(pool_mock *mock);
/* Number of calls that returned a code because of pool_mock_fail, pool_mock_fail_on,
 * pool_mock_expect or a hook. */
uint64_t pool_mock_failures_made(pool_mock *mock);

/* Acts as a kernel's fault: every call returns `code` (700, 719, …) from now on. 0 clears the
 * fault. */
pool_status pool_mock_poison(pool_mock *mock, pool_cu_code code);
/* The sticky code, or 0. */
pool_cu_result pool_mock_poisoned(pool_mock *mock);

/*
 * Runs before each call of any function, outside all locks, so it may sleep, wait for other
 * threads and call every function of this header, but no driver function. When it returns
 * non-zero, the driver call returns that code instead of executing. `call` counts all calls from
 * 1. NULL removes the hook; set it while no other thread calls the driver.
 */
typedef pool_cu_result (*pool_mock_hook)(void *user, const char *function, uint64_t call);
void pool_mock_set_hook(pool_mock *mock, pool_mock_hook hook, void *user);

/*
 * Acts as cudaDeviceReset of another part of the process (cuDevicePrimaryCtxReset): the device's
 * primary context and everything in it ends, and the references of its owners stay. The next
 * cuDevicePrimaryCtxRetain makes it active again, under the same handle. No-op while it is not
 * active.
 */
pool_status pool_mock_reset_device(pool_mock *mock, int device);

/* ---- expectations ---------------------------------------------------------------------------- */

/*
 * Adds an expected call. Once there is an expectation, each call is compared in order with the
 * next one; cuGetErrorName and cuGetErrorString are ignored. `call` is a name ("cuMemAlloc"), a
 * name with arguments in the format of pool_mock_log ("cuMemAlloc(1024)"), or "..." for any number
 * of calls until one matches the expectation that follows. When `answer` is not 0, the call
 * returns it instead of executing. After the first mismatch no further call is compared.
 */
pool_status pool_mock_expect(pool_mock *mock, const char *call, pool_cu_code answer);

/* "" when all expectations were met and no function of this header was misused, otherwise a
 * description. */
const char *pool_mock_verify(pool_mock *mock);

/* ---- counts and log -------------------------------------------------------------------------- */

/* Number of calls of `function` (NULL: of all; '*' as above); UINT64_MAX when there is no such
 * function. */
uint64_t pool_mock_calls(pool_mock *mock, const char *function);
/* Clears counts and log; the state is unchanged. */
void pool_mock_reset_calls(pool_mock *mock);
/*
 * The calls in order, one per line, with number, result and, where a call concerns one, device:
 * "7: cuMemAlloc(1024) = 0 on dev1". Handles are written as ctx1, primary0, stream1, mem1+16 and
 * so on, numbered in order of creation. Only the last 4096 lines are stored.
 */
const char *pool_mock_log(pool_mock *mock);

/* Live handles: those created and not destroyed. */
typedef struct pool_mock_balance {
    uint32_t contexts;     /* created by cuCtxCreate */
    uint32_t primary_refs; /* retained and not released */
    uint32_t allocations;  /* device memory */
    uint32_t host_allocations;
    uint32_t host_registrations;
    uint32_t memory_pools;
    uint32_t streams;
    uint32_t events;
    uint32_t modules;
    uint32_t peer_accesses;
    uint32_t stacked; /* contexts on the stacks of all threads */
    /* Of the handles counted above, those whose release was attempted and failed as scripted. */
    uint32_t failed_releases;
    /* Handles destroyed with their context instead of by a call of their own; not counted above. */
    uint32_t orphaned;
    uint64_t device_bytes;
    uint64_t host_bytes;
} pool_mock_balance;

/* Fills `balance`. */
void pool_mock_get_balance(pool_mock *mock, pool_mock_balance *balance);

/*
 * "" when nothing is live, orphaned or on a context stack; otherwise one line per object with its
 * name, device and size. Handles whose release failed as scripted are not listed,
 * and after a sticky fault neither handles nor memory are.
 */
const char *pool_mock_leaks(pool_mock *mock);

/* The current context of the calling thread (NULL: none) and the depth of its context stack, read
 * without a driver call. */
CUcontext pool_mock_current_context(pool_mock *mock);
size_t pool_mock_depth(pool_mock *mock);
/*
 * Context pushes of the calling thread without a matching pop: pushes (including cuCtxCreate)
 * minus pops, where a pop that failed as scripted counts as a pop.
 */
int64_t pool_mock_unpopped(pool_mock *mock);

/* ---- asynchronous work ----------------------------------------------------------------------- */

/*
 * From now on, work on streams and recorded events stays incomplete: queries return NOT_READY and
 * synchronising calls wait until pool_mock_resume. Copies and launches still take effect
 * immediately; host functions run in pool_mock_resume, on its thread.
 */
void pool_mock_stall(pool_mock *mock);
void pool_mock_resume(pool_mock *mock);

/* ---- kernels --------------------------------------------------------------------------------- */

/* One launch, as passed to the effect and returned by pool_mock_get_launch. */
typedef struct pool_mock_launch {
    const char *kernel;
    int device;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    int32_t cooperative;
    int32_t pdl; /* programmatic stream serialization */
    CUstream stream;
    uint32_t argument_count;
    const void *const *arguments; /* each points to a copy of the argument's value */
    const uint32_t *argument_bytes;
    uint32_t cluster[3]; /* zeros: none */
    int32_t priority;    /* of the launch; 0: none */
} pool_mock_launch;

/*
 * The effect of a kernel: it runs inside cuLaunchKernel on the calling thread. Device addresses
 * among the arguments are valid host addresses. A result other than 0 is returned by the launch
 * (700 poisons the mock). It must not call driver functions.
 */
typedef pool_cu_result (*pool_mock_effect)(void *user, const pool_mock_launch *launch);

/* The default of every member but struct_size and name is zero. The struct is copied. */
typedef struct pool_mock_kernel {
    size_t struct_size;
    const char *name;
    const uint32_t *argument_bytes; /* sizes of the arguments in order */
    uint32_t argument_count;
    uint32_t registers;      /* per thread; 0: 32 */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* per thread */
    uint32_t max_threads;    /* per block; 0: 1024 */
    pool_mock_effect effect; /* NULL: none */
    void *user;
} pool_mock_kernel;

/*
 * Adds the kernel to every module loaded. Kernels that a module's PTX declares by .entry exist
 * too: they can be launched with the arguments that the PTX declares, without any effect.
 */
pool_status pool_mock_add_kernel(pool_mock *mock, const pool_mock_kernel *kernel);
/* Adds the global variable to every module loaded. */
pool_status pool_mock_add_global(pool_mock *mock, const char *name, size_t bytes);
/* PTX for a newer chip than the device's is refused with 218, as by a driver. The function makes
 * loading any image return `code` with `log` in the JIT error log; 0 accepts images again. */
pool_status pool_mock_reject_images(pool_mock *mock, pool_cu_code code, const char *log);

/* Number of launches of a kernel (NULL: of all kernels). */
uint64_t pool_mock_launches(pool_mock *mock, const char *kernel);
/* The index-th launch since the mock was created; the last 1024 are stored. POOL_ERR_NOT_FOUND. */
pool_status pool_mock_get_launch(pool_mock *mock, uint64_t index, pool_mock_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
