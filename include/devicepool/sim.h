/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated devices from a program: faults on demand, what the last fault was, instruction counts
 * and leaks. The devices themselves are asked for by the device string of a pool ("sim",
 * "sim:4,mem=24G,cc=90"; pool_params.devices), whose grammar is in docs/simulated-devices.md.
 *
 * All simulated devices of a process belong to one simulated driver, as all GPUs belong to the one
 * real one. It starts with the first pool that asks for it and is gone, with poison, counts and
 * fault rules, when the last such pool is destroyed. Every function here may be called by any
 * thread at any time, but not from a host function that runs in a stream. In a child forked while
 * there were simulated devices every function that returns a status fails with POOL_ERR_FORKED.
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
 * Makes driver calls fail. `rules` replaces all earlier rules and starts their counters anew; NULL
 * and "" remove them. Before the first simulated pool the rules are kept for it; without such a
 * call the environment variable DEVICEPOOL_SIM_FAULTS gives them. Grammar, rules separated by ';',
 * spaces allowed around every part:
 *
 *     [dev<ordinal>.]<function>[@<when>]=<what>
 *     function   a driver function, '*' and '?' match as in a shell: cuMemAlloc, cuMemcpy*, *
 *     when       3: the third matching call; 3+: from the third on; 3-5: third to fifth;
 *                left out: every one. Each rule counts the calls that match its own left side.
 *     what       a CUresult as number (2), as name (OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY), or
 *                hang: what the call puts into its stream never completes; a synchronous copy
 *                does not return
 *
 * A code that poisons the process (700, 719 …) given to a function that enqueues work (launches,
 * asynchronous copies and fills, events, host functions) shows as on a GPU: the call succeeds and
 * the fault arrives when the stream gets there. Everywhere else the call itself returns the code.
 * The first rule that matches and whose turn it is decides. POOL_ERR_INVALID_ARGUMENT names the
 * place where `rules` is wrong; then the earlier rules stay.
 */
POOL_API pool_status pool_sim_set_faults(const char *rules);

/* Lets everything that hangs by a rule complete. */
POOL_API pool_status pool_sim_resume(void);

/* Checks that can be switched on, for the launches after the call. */
#define POOL_SIM_REPORT_UNINITIALISED 1u /* reads of shared memory that no thread has written */
#define POOL_SIM_REPORT_BARRIER 2u       /* barriers that only some threads of a warp reach */
#define POOL_SIM_REPORT_LEAK 4u          /* log what is alive when the last pool is destroyed */

/*
 * Sets which checks are on (0: none); `report=` of the device string does the same. A finding of
 * the first two ends the launch with CUDA_ERROR_LAUNCH_FAILED, sticky as ever, and is described by
 * pool_sim_get_last_fault. POOL_ERR_NOT_FOUND while there is no simulated driver.
 */
POOL_API pool_status pool_sim_set_reports(uint32_t reports);

/* What went wrong first. Texts are "" and numbers 0 where they do not apply. */
typedef struct pool_sim_fault {
    size_t struct_size;
    int32_t driver_code; /* the sticky CUresult; 0: there was no fault */
    int32_t device;      /* ordinal, -1: none */
    char kind[40];       /* "out of bounds", "misaligned", "trap", "injected" … */
    char kernel[256];
    uint32_t block[3];
    uint32_t thread[3];
    uint32_t line;    /* of the module's PTX text, first is 1 */
    char space[16];   /* "global", "shared", "local" or "" */
    uint64_t address; /* of the access; an offset for shared and local memory */
    uint32_t bytes;   /* of the access */
    int32_t is_write;
    uint64_t nearest_address; /* the allocation nearest to it */
    uint64_t nearest_bytes;
    char text[512]; /* all of it as sentences */
} pool_sim_fault;

/*
 * Fills `fault` (struct_size set). It stays until the simulated driver starts anew, also after the
 * last pool was destroyed.
 */
POOL_API pool_status pool_sim_get_last_fault(pool_sim_fault *fault);

#define POOL_SIM_CLASSES 10

/*
 * What a kernel executed since the driver's start or the last pool_sim_kernel_stats_reset. The
 * numbers depend only on the kernel, its arguments and the launch shape, not on the host or its
 * speed, except where a kernel's own path depends on which block comes first.
 */
typedef struct pool_sim_kernel_stats {
    size_t struct_size;
    const char *kernel; /* lives for the visitor's call */
    int32_t device;     /* ordinal */
    uint64_t launches;  /* finished ones */
    uint64_t blocks;
    uint64_t threads;
    uint64_t warp_instructions;
    uint64_t lane_instructions;                /* one for each active lane of a warp instruction */
    uint64_t lanes_by_class[POOL_SIM_CLASSES]; /* see pool_sim_class_name */
} pool_sim_kernel_stats;

/* "integer", "multiply", "float", "global", "shared", "local", "atomic", "warp", "barrier",
 * "control" for 0 … POOL_SIM_CLASSES-1, else "?". Static. */
POOL_API const char *pool_sim_class_name(uint32_t index);

/* Calls `visit` for each kernel and device in order of first launch until it answers other than 0.
 * The visitor may call nothing of the library. POOL_ERR_NOT_FOUND without a simulated driver. */
typedef int (*pool_sim_kernel_visitor)(void *user, const pool_sim_kernel_stats *stats);
POOL_API pool_status pool_sim_kernel_stats_each(pool_sim_kernel_visitor visit, void *user);
POOL_API pool_status pool_sim_kernel_stats_reset(void);

/* The same as a table for people (as_json 0) or as JSON (1). *text goes to pool_text_free. */
POOL_API pool_status pool_sim_kernel_stats_text(int as_json, char **text);

/*
 * Everything that is alive: contexts, allocations, pinned and registered host memory, streams,
 * events, modules, memory pools. *count gets how many (may be NULL), *text (may be NULL) a list for
 * people or as JSON, to be given to pool_text_free. After the last pool was destroyed it tells what
 * was alive at that moment: the leaks.
 */
POOL_API pool_status pool_sim_leaks(int as_json, uint64_t *count, char **text);

#ifdef __cplusplus
}
#endif

#endif
