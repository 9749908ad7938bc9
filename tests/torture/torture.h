/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture: a scenario runs again and again, and each time another driver call, allocation or file
 * operation fails, once or from then on. What has to hold after every run:
 *
 * - The status is not POOL_OK when a failure came up while the scenario ran, unless the scenario
 *   says that it absorbs failures of that function; a failure while things are given back
 *   (`finish`) may be silent, as destructors continue.
 * - The status is of the class that the driver's code has (or, when making a pool, says that the
 *   device cannot be used), and pool_last_error agrees with it and names the code.
 * - The caller's own context is current again and lies as deep as before. Where a pop itself was
 *   made to fail, every push has had its attempt at a pop.
 * - Nothing is live in the driver that was not before: contexts, references, memory, streams,
 *   events, modules, pools. A handle whose giving back was made to fail counts as given back.
 *   After a fault of class PROCESS, and when every call says that the driver has ended, the driver
 *   takes nothing back; then what must hold is silence: from the fault on no call but those that
 *   move this thread's stack, ask for its context, for an error's name or for the version.
 * - No host memory is lost (by the C library's count, and under LSan), and nothing takes longer
 *   than ten seconds.
 */
#ifndef TESTS_TORTURE_TORTURE_H
#define TESTS_TORTURE_TORTURE_H

#include <devicepool.h>
#include <devicepool/mock.h>

/* What a scenario works on and with; it may keep what it made in `objects`. */
struct torture {
    /* NULL on worker processes */
    pool_mock *mock;
    const pool_cuda_api *table;
    const char *devices; /* of the pool; NULL: those of the table */
    CUcontext caller;    /* of device 0; current before the scenario */
    void *objects[16];
};

struct torture_scenario {
    const char *name;
    uint32_t devices;
    /* Before anything: kernels, memory sizes. May be NULL. Nothing fails yet. */
    void (*prepare)(struct torture *torture);
    /* The first status that is not POOL_OK, as a careful user's code would return it. */
    pool_status (*run)(struct torture *torture);
    /*
     * Releases all that is in `objects`, in the state in which `run` left it. When it says
     * something else than POOL_OK the failures stop and it is called again; then it has to succeed.
     */
    pool_status (*finish)(struct torture *torture);
    /* NULL or names, the last one NULL, of functions whose failure `run` may survive with POOL_OK;
     * "*" at the end as in mock.h; "malloc" and "file" for those. */
    const char *const *absorbs;
    /* 1: a code that harms only a call or a device may leave POOL_OK behind wherever it comes up
     * (a pool with several devices continues without one). PROCESS codes may not. */
    int goes_on;
    /* 1: no driver call fails (a scenario that is dear to run and has them elsewhere). */
    int spares_driver;
    /* 1: what it calls is not the same with worker processes, or it scripts the mock. */
    int needs_mock;
};

enum torture_kind {
    TORTURE_SWALLOWED,
    TORTURE_STATUS,
    TORTURE_DETAIL,
    TORTURE_CONTEXT,
    TORTURE_HANDLES,
    TORTURE_NOISE,
    TORTURE_HOST_MEMORY,
    TORTURE_PLAIN_RUN, /* the scenario fails without any failure made */
    TORTURE_KINDS
};

struct torture_report {
    uint64_t points; /* runs with a failure made */
    uint64_t driver_calls;
    uint64_t allocations;
    uint64_t file_operations;
    uint64_t found[TORTURE_KINDS];
};

/*
 * Runs all points of one scenario and adds to the report; 0 when nothing was found. What is found
 * is written to stderr (the first few), unless `quiet`.
 */
int torture_run(const struct torture_scenario *scenario, struct torture_report *report, int quiet);

/*
 * Every driver call, allocation and file operation fails, driver calls with each of the seven
 * codes. Otherwise, of those with the same call stack, as in the rounds of a loop, the first and
 * the last one fail, driver calls once with one code and from then on with another one; the codes
 * alternate from one to the next.
 */
extern int torture_all;

/* How long a run may take before the program is ended as hanging: 10. */
extern unsigned torture_seconds_per_run;

/* Whether the C library's count is available: not under a sanitizer, and only where meson.build's
 * environment is set. */
int torture_counts_host_memory(void);

/* File operations of the last scenarios that torture_main ran, for tests that must have some. */
uint64_t torture_file_operations(void);

/*
 * Runs a table of scenarios, prints the numbers and returns an exit status. With the argument
 * "all" torture_all is set. With the arguments
 * "workers:sim [MOST]" torture_on_workers runs them.
 */
int torture_main(
    int argument_count, char **arguments, const struct torture_scenario *scenarios, size_t count);

/* The same with a disk cache of kernels in a directory of its own, which is removed. */
int torture_main_with_cache(
    int argument_count, char **arguments, const struct torture_scenario *scenarios, size_t count);

/*
 * Runs the scenarios on simulated devices in worker processes, whose driver calls fail. `most_runs`
 * per device, spread evenly over calls and codes; 0: all of them.
 */
int torture_on_workers(const struct torture_scenario *scenarios, size_t count, unsigned most_runs);

#endif
