/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver semantics as a transcript: each section runs in a process of its own, calls the driver and
 * prints what the calls returned. The transcripts of simulated and real devices are equal.
 */
#ifndef TESTS_CONFORMANCE_TRANSCRIPT_H
#define TESTS_CONFORMANCE_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <devicepool.h>

struct section {
    const char *name;
    void (*run)(void);
    int needs_context; /* 1: the primary context of device 0 is current */
};

extern const struct section *const section_lists[];
extern const size_t section_list_count;

extern const pool_cuda_api *cu;
extern CUcontext primary;   /* where a section needs it */
extern const char *vectors; /* the directory of the committed files */
extern int is_initialised;  /* 0: the driver is open but Init was not called */

/* The call as it is written, and its code. */
#define SAY(call) printf("%s -> %u\n", #call, cu->call)
/* The result of a call whose error must not be logged. */
#define QUIET(call)                                                                                \
    do {                                                                                           \
        pool_cu_result quiet = cu->call;                                                           \
        if (quiet)                                                                                 \
            printf("%s -> %u, unexpectedly\n", #call, quiet);                                      \
    } while (0)
/* A value that must be the same everywhere. */
#define VALUE(expression) printf("    %s: %lld\n", #expression, (long long)(expression))

#endif
