/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver for unit tests: a strict CUDA driver without a GPU, to be put under a pool through
 * pool_params.driver. It answers the real driver's codes, keeps account of every handle, can be
 * scripted, and fails where a test asks for it. Library: devicepool-mock (static), pkg-config file
 * of the same name; docs/mocking.md shows its use.
 *
 * A process has one mock at a time, as it has one libcuda. Functions are named by their symbol
 * ("cuMemAlloc"; a version suffix may be left out). Every function here may be called from any
 * thread at any time unless it says otherwise; only pool_mock_create and pool_mock_destroy want no
 * other thread inside the mock. Texts returned belong to the mock and live until the next call of
 * the same function, or its end.
 *
 * The functions that set something answer POOL_OK, POOL_ERR_INVALID_ARGUMENT for a NULL or a number
 * out of range, and POOL_ERR_NOT_FOUND for a function, device or handle that does not exist; such a
 * mistake is also kept for pool_mock_verify, so that tests need not check each call.
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

#define POOL_MOCK_NO_DEVICES 0xffffffffu /* for pool_mock_params.devices */
#define POOL_MOCK_MAX_DEVICES 64

/* Zero is the default of every member but struct_size. */
typedef struct pool_mock_params {
    size_t struct_size;
    uint32_t devices;       /* 0: one; POOL_MOCK_NO_DEVICES: a driver that finds none */
    int32_t driver_version; /* 0: 13000, CUDA 13.0 */
    uint64_t memory_bytes;  /* of each device; 0: 143771 MiB, an H200 */
    uint64_t context_bytes; /* what each context costs of it; 0: nothing */
    int32_t no_log;         /* 1: pool_mock_log stays empty: for tests that count nanoseconds */
    /* After a sticky fault 0: everything that reaches a device answers the fault's code, while the
     * thread's context stack, device queries and versions go on; 1: they answer it too. */
    int32_t sticky_everywhere;
} pool_mock_params;

/*
 * Makes the mock; params may be NULL. POOL_ERR_BUSY while another one exists,
 * POOL_ERR_OUT_OF_HOST_MEMORY, POOL_ERR_INVALID_ARGUMENT. Its devices are H200s in all attributes,
 * each a peer of each other; UUIDs and PCI addresses (0000:06:00.0 and on) are fixed.
 */
pool_status pool_mock_create(pool_mock **mock, const pool_mock_params *params);

/*
 * Ends it, frees all memory it handed out and sets *mock to NULL. Calls through its table answer
 * DEINITIALIZED from then on, but the table itself is gone: destroy pools first.
 */
void pool_mock_destroy(pool_mock **mock);

/* The table for pool_params.driver; it belongs to the mock. */
const pool_cuda_api *pool_mock_table(pool_mock *mock);

/* ---- devices -------------------------------------------------------------------------------- */

/* What is free right now; what the mock hands out later comes off it. At most the total. */
pool_status pool_mock_set_free(pool_mock *mock, int device, uint64_t free_bytes);
pool_status pool_mock_set_memory(pool_mock *mock, int device, uint64_t total_bytes);
pool_status pool_mock_set_name(pool_mock *mock, int device, const char *name);
/* 16 bytes; `instance` (for cuDeviceGetUuid_v2) may be NULL: the same, no MIG. */
pool_status pool_mock_set_uuid(pool_mock *mock, int device, const void *uuid, const void *instance);
pool_status pool_mock_set_pci(
    pool_mock *mock, int device, unsigned domain, unsigned bus, unsigned slot);
/* Any of the driver's device attributes by its number; compute capability is 75 and 76. */
pool_status pool_mock_set_attribute(pool_mock *mock, int device, pool_cu_enum attribute, int value);
/* One direction of a link: whether `from` reaches `to`, with atomics, and the driver's rank. */
pool_status pool_mock_set_peer(
    pool_mock *mock, int from, int to, int access, int atomics, int rank);
/* Takes a function out of the table, as an older driver would lack it. Before the pool is made. */
pool_status pool_mock_remove(pool_mock *mock, const char *function);

/* ---- failures ------------------------------------------------------------------------------- */

typedef enum pool_mock_repeat {
    POOL_MOCK_ONCE = 0,
    POOL_MOCK_FROM_THEN_ON = 1 /* this call and every later one that matches */
} pool_mock_repeat;

/*
 * The n-th call (1 is the next one) of `function` answers `code` and does nothing else. NULL: the
 * n-th call of any function; a name that ends in '*' stands for all that begin so. Several failures
 * may wait at once; the first set that is due wins. A sticky code (700, 719, …) poisons the mock.
 */
pool_status pool_mock_fail(
    pool_mock *mock, const char *function, uint64_t n, pool_cu_code code, pool_mock_repeat repeat);

/* The same for calls that concern one device: named by ordinal, or whose context is current. */
pool_status pool_mock_fail_on(pool_mock *mock, int device, const char *function, uint64_t n,
    pool_cu_code code, pool_mock_repeat repeat);

/* Forgets all failures that wait or go on. */
void pool_mock_clear_failures(pool_mock *mock);
/* Failures that were answered because of pool_mock_fail, pool_mock_fail_on or a hook. */
uint64_t pool_mock_failures_made(pool_mock *mock);

/* As a kernel's fault would: every call answers `code` (700, 719, …) from now on. 0 heals. */
pool_status pool_mock_poison(pool_mock *mock, pool_cu_code code);
/* The sticky code, or 0. */
pool_cu_result pool_mock_poisoned(pool_mock *mock);

/*
 * Runs before each call of any function, outside all locks, so it may sleep, wait for other
 * threads and call everything here (no driver calls). An answer other than 0 is what the driver
 * call answers instead of running. `call` counts all calls, the first is 1. NULL removes it; set it
 * while no other thread calls.
 */
typedef pool_cu_result (*pool_mock_hook)(void *user, const char *function, uint64_t call);
void pool_mock_set_hook(pool_mock *mock, pool_mock_hook hook, void *user);

/* ---- the script ----------------------------------------------------------------------------- */

/*
 * Adds an expected call. With one expectation set, each call is compared in order with the next
 * one, cuGetErrorName and cuGetErrorString left out. `call` is a name ("cuMemAlloc"), or a name
 * with arguments as pool_mock_log writes them ("cuMemAlloc(1024)"), or "..." for any number of
 * calls until one fits what follows. `answer` other than 0 is what the call answers instead of
 * running. After the first mismatch nothing more is compared.
 */
pool_status pool_mock_expect(pool_mock *mock, const char *call, pool_cu_code answer);

/* "" when the script was met to its end and no call of this header was wrong, else what was. */
const char *pool_mock_verify(pool_mock *mock);

/* ---- what happened -------------------------------------------------------------------------- */

/* Calls of `function` so far (NULL: of all; '*' as above); UINT64_MAX when there is none such. */
uint64_t pool_mock_calls(pool_mock *mock, const char *function);
/* Forgets counts and log, not state. */
void pool_mock_reset_calls(pool_mock *mock);
/*
 * The calls in order, a line each, with number, answer and, where one is concerned, device:
 * "7: cuMemAlloc(1024) = 0 on dev1". Handles are written ctx1, primary0, stream1, mem1+16 and so
 * on, numbered as they were made. The oldest lines go after 4096 of them.
 */
const char *pool_mock_log(pool_mock *mock);

/* Live handles: what was made and not given back. */
typedef struct pool_mock_balance {
    uint32_t contexts;     /* by cuCtxCreate */
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
    /* Of the handles counted above, those whose giving back was tried and failed on a test's
     * demand: the caller did its part. */
    uint32_t refused;
    /* Handles that died with their context: nobody gave them back. Not counted above. */
    uint32_t swept;
    uint64_t device_bytes;
    uint64_t host_bytes;
} pool_mock_balance;

/* Fills `balance`. */
void pool_mock_get_balance(pool_mock *mock, pool_mock_balance *balance);

/*
 * "" when nothing is live, swept or stacked, else a line for each by name, with device and size.
 * Refused handles are not listed, and after a sticky fault no handles and no memory are.
 */
const char *pool_mock_leaks(pool_mock *mock);

/* The calling thread's stack, without a driver call: its current context (NULL: none), depth. */
CUcontext pool_mock_current(pool_mock *mock);
size_t pool_mock_depth(pool_mock *mock);
/*
 * Context pushes of the calling thread that nobody tried to take off again: pushes (also by
 * cuCtxCreate) less pops, where a pop that failed on a test's demand counts as tried.
 */
int64_t pool_mock_unreturned(pool_mock *mock);

/* ---- work that takes its time --------------------------------------------------------------- */

/*
 * From now on work put on streams and event records stay unfinished: queries answer NOT_READY and
 * synchronising calls wait until pool_mock_let_go. Copies and launches take effect at once all the
 * same, host functions run at pool_mock_let_go, on its thread.
 */
void pool_mock_hold(pool_mock *mock);
void pool_mock_let_go(pool_mock *mock);

/* ---- kernels -------------------------------------------------------------------------------- */

/* One launch, as the callback and pool_mock_get_launch see it. */
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
} pool_mock_launch;

/*
 * The effect of a kernel: runs inside cuLaunchKernel on the calling thread; device addresses among
 * the arguments can be read and written as host addresses. Any answer but 0 is what the launch
 * answers (700 poisons). No driver calls.
 */
typedef pool_cu_result (*pool_mock_effect)(void *user, const pool_mock_launch *launch);

/* Zero is the default of every member but struct_size and name. Copied. */
typedef struct pool_mock_kernel {
    size_t struct_size;
    const char *name;
    const uint32_t *argument_bytes; /* sizes of the arguments in order */
    uint32_t argument_count;
    uint32_t registers;      /* a thread; 0: 32 */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* a thread */
    uint32_t max_threads;    /* a block; 0: 1024 */
    pool_mock_effect effect; /* NULL: none */
    void *user;
} pool_mock_kernel;

/*
 * Every module loaded has this kernel. Kernels that a PTX text names by .entry exist besides: they
 * can be launched, to no effect, with what arguments the text declares.
 */
pool_status pool_mock_add_kernel(pool_mock *mock, const pool_mock_kernel *kernel);
/* Every module loaded has this global variable. */
pool_status pool_mock_add_global(pool_mock *mock, const char *name, size_t bytes);
/* Loading any image answers `code` with `log` in the JIT error log; 0 takes images again. */
pool_status pool_mock_refuse_images(pool_mock *mock, pool_cu_code code, const char *log);

/* Launches so far of a kernel (NULL: of all). */
uint64_t pool_mock_launches(pool_mock *mock, const char *kernel);
/* The index-th launch since the mock was made; the last 1024 are kept. POOL_ERR_NOT_FOUND. */
pool_status pool_mock_get_launch(pool_mock *mock, uint64_t index, pool_mock_launch *launch);

#ifdef __cplusplus
}
#endif

#endif
