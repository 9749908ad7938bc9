/* SPDX-License-Identifier: Apache-2.0 */
/* Between the harness and its hooks: the current failure point, and what the hooks recorded. */
#ifndef TESTS_TORTURE_WATCH_H
#define TESTS_TORTURE_WATCH_H

#include "torture/torture.h"

enum source { SOURCE_DRIVER, SOURCE_MEMORY, SOURCE_FILE, SOURCES };
extern const char *const source_names[SOURCES];

/* One point: what fails and how. */
struct point {
    enum source source;
    uint64_t n; /* 0: nothing fails */
    pool_cu_result code;
    int from_then_on;
};

/* What the hooks recorded in the current run. */
struct watch {
    struct point point;
    uint64_t seen[SOURCES];
    int is_on;
    int is_recording;      /* the call stack of every event */
    uint64_t made;         /* failures */
    uint64_t made_in_run;  /* of them before `finish` */
    int any_not_absorbed;  /* a failure that the scenario may not survive */
    int driver_failed;     /* the last driver call was made to fail */
    int stack_call_failed; /* a push, pop or set was among them */
    int is_lost;           /* a PROCESS code was answered */
    char first[64];        /* what failed first */
    char noise[64];        /* the first call after the loss that is not silent */
    const struct torture_scenario *scenario;
    int in_finish;
};
extern struct watch watch;

/* Puts the hooks into mock, memory and files, or takes them off. */
void watch_set(struct torture *torture, int on);

/*
 * Whether event n of `count` in the recorded run is the first or the last one from its call stack.
 * Those in between are other rounds of a loop, in the same code with the same objects alive but for
 * their number.
 */
int watch_is_distinct(enum source source, uint64_t n, uint64_t count);

/* Whether a name of a function (perhaps with its version) is what the pattern means. */
int watch_matches(const char *name, const char *pattern);

/* Prints every driver function that some scenario called. */
void watch_print_met(void);

#endif
