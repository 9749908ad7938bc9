/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated devices: fault injection, the last fault, instruction statistics and leaks. The
 * devices themselves are requested by a pool's device string ("sim", "sim:4,mem=24G,cc=90";
 * pool_params.devices); docs/testing.md describes its grammar.
 *
 * All simulated devices of a process belong to one simulated driver, as all GPUs belong to the one
 * real driver. It starts with the first pool that requests it and ends, with its sticky fault,
 * statistics and fault rules, when the last such pool is destroyed. Every function here may be
 * called by any thread at any time, but not from a host function that runs in a stream. In a child
 * forked while there were simulated devices, every function that returns a status fails with
 * POOL_ERR_FORKED.
 */
#ifndef DEVICEPOOL_SIM_H
#define DEVICEPOOL_SIM_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes driver calls fail. `rules` replaces all earlier rules and restarts their counters; NULL and
 * "" remove them. Rules that are set before the first simulated pool apply to it; otherwise the
 * environment variable DEVICEPOOL_SIM_FAULTS supplies them. Rules are separated by ';', and spaces
 * are allowed around every part:
 *
 *     [dev<ordinal>.]<function>[@<when>]=<what>
 *     function   a driver function; '*' and '?' match as in a shell: cuMemAlloc, cuMemcpy*, *
 *     when       3: the third matching call; 3+: from the third on; 3-5: third to fifth;
 *                omitted: every call. Each rule counts the calls that match its own left side.
 *     what       a CUresult as a number (2) or a name (OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY), or
 *                hang: the work that the call enqueues never completes; a synchronous copy does
 *                not return
 *
 * A code that poisons the process (700, 719 …) for a function that enqueues work (launches,
 * asynchronous copies and fills, events, host functions) acts as on a GPU: the call succeeds, and
 * the fault occurs when the stream reaches the work. Other functions return the code themselves.
 * The first matching rule that applies to the call decides. The message of
 * POOL_ERR_INVALID_ARGUMENT gives the position of the error in `rules`; the earlier rules then
 * remain in force.
 */
POOL_API pool_status pool_sim_set_faults(const char *rules);

/* Completes all work that hangs because of a fault rule. */
POOL_API pool_status pool_sim_resume(void);

/* Checks that can be enabled for the launches that follow, combined by |. */
typedef enum pool_sim_report {
    POOL_SIM_REPORT_UNINITIALISED = 1, /* reads of shared memory that no thread has written */
    POOL_SIM_REPORT_BARRIER = 2,       /* barriers that only some threads of a warp reach */
    POOL_SIM_REPORT_LEAK = 4,          /* log live objects when the last pool is destroyed */
    POOL_SIM_REPORT_RACES = 8,         /* accesses of a byte with no order between */
    POOL_SIM_REPORT_PROFILE = 16,      /* count requests of memory for pool_sim_profile_text */
    POOL_SIM_REPORT_UNWRITTEN = 32     /* reads of global memory that nothing has written */
} pool_sim_report;

/*
 * Sets the enabled checks (0: none), as `report=` of the device string does. A finding of one of
 * the first, second and fourth ends the launch with CUDA_ERROR_LAUNCH_FAILED, which is sticky as
 * always, and is described by pool_sim_get_last_fault. POOL_ERR_NOT_FOUND while there is no
 * simulated driver.
 */
POOL_API pool_status pool_sim_set_reports(uint32_t reports);

/* A description of the first fault. Strings are "" and numbers 0 where they do not apply. */
typedef struct pool_sim_fault {
    size_t struct_size;
    int32_t driver_code; /* the sticky CUresult; 0: there was no fault */
    int32_t device;      /* ordinal, -1: none */
    char kind[40];       /* "out of bounds", "misaligned", "trap", "injected" … */
    char kernel[256];
    uint32_t block[3];
    uint32_t thread[3];
    uint32_t line;    /* line of the module's PTX; the first is 1 */
    char space[16];   /* "global", "shared", "local" or "" */
    uint64_t address; /* of the access; an offset for shared and local memory */
    uint32_t bytes;   /* of the access */
    int32_t is_write;
    uint64_t nearest_address; /* the allocation nearest to it */
    uint64_t nearest_bytes;
    char text[512]; /* complete description in sentences */
    /* With -lineinfo, from which line of the source that line of the PTX was compiled; 0 and "". */
    uint32_t source_line;
    char source_file[256];
} pool_sim_fault;

/*
 * Fills `fault`, whose struct_size must be set. The fault is available until the simulated driver
 * starts again, also after the last pool was destroyed.
 */
POOL_API pool_status pool_sim_get_last_fault(pool_sim_fault *fault);

#define POOL_SIM_CLASSES 10 /* of instructions, see pool_sim_class_name */

/*
 * What a kernel has executed since the driver's start or the last pool_sim_kernel_stats_reset. The
 * numbers depend only on the kernel, its arguments and the launch shape, not on the host or its
 * speed, unless the kernel's control flow depends on which block runs first.
 */
typedef struct pool_sim_kernel_stats {
    size_t struct_size;
    const char *kernel; /* valid during the visitor's call */
    int32_t device;     /* ordinal */
    uint64_t launches;  /* completed launches */
    uint64_t blocks;
    uint64_t threads;
    uint64_t warp_instructions;
    uint64_t lane_instructions;                /* one per active lane of a warp instruction */
    uint64_t lanes_by_class[POOL_SIM_CLASSES]; /* see pool_sim_class_name */
} pool_sim_kernel_stats;

/* The name of an instruction class: "integer", "multiply", "float", "global", "shared", "local",
 * "atomic", "warp", "barrier", "control" for 0 … POOL_SIM_CLASSES-1, else "?". Static. */
POOL_API const char *pool_sim_class_name(uint32_t index);

/* Calls `visit` for each kernel and device in order of first launch until it returns non-zero. The
 * visitor must not call functions of the library. POOL_ERR_NOT_FOUND without a simulated driver. */
typedef int (*pool_sim_kernel_visitor)(void *user, const pool_sim_kernel_stats *stats);
POOL_API pool_status pool_sim_kernel_stats_each(pool_sim_kernel_visitor visit, void *user);
/* Sets all counts to 0, those of the profile too. POOL_ERR_NOT_FOUND without a simulated driver. */
POOL_API pool_status pool_sim_kernel_stats_reset(void);

/* The same as a table or as JSON. The caller frees *text with pool_text_free. */
POOL_API pool_status pool_sim_kernel_stats_text(pool_text_format format, char **text);

/*
 * The profile of the launches that ended while POOL_SIM_REPORT_PROFILE was set: for each kernel,
 * device, and shape of blocks the launches, occupancy, and instructions; for each line and memory
 * space the requests of warps, and the passes over the banks of shared memory or the sectors of
 * global memory that they take, beside the least without bank conflicts or gaps. Lines are those of
 * the source if it was compiled with -lineinfo, otherwise of the PTX. Plain text has the lines of
 * each kernel that take most beyond the least; JSON has all. The counts do not depend on the host.
 * The caller frees *text with pool_text_free. POOL_ERR_NOT_FOUND without a simulated driver.
 */
POOL_API pool_status pool_sim_profile_text(pool_text_format format, char **text);

/*
 * Lists all live objects: contexts, allocations, pinned and registered host memory, streams,
 * events, modules, memory pools. *count (may be NULL) receives their number, *text (may be NULL) a
 * list, which the caller frees with pool_text_free. After the last pool was destroyed
 * the list shows what was alive at that moment: the leaks.
 */
POOL_API pool_status pool_sim_leaks(pool_text_format format, uint64_t *count, char **text);

#ifdef __cplusplus
}
#endif

#endif
