/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of candidates that devicepool tune measures, in order.
 */
#ifndef CLI_TUNE_GROUPS_H
#define CLI_TUNE_GROUPS_H

#include "cli.h"
#include "tune.h"

enum { TUNE_MAX_GROUPS = 512, TUNE_OPERATIONS = 4 };

/* What a group varies. */
enum tune_kind {
    TUNE_WINDOWS,       /* of an MSM without precomputed bases */
    TUNE_TABLE_WINDOWS, /* with one multiple per window */
    TUNE_TABLE_FACTOR,
    TUNE_AFFINE,
    TUNE_RAMP,        /* chunks of scalars in host memory */
    TUNE_NTT_CHOICE,  /* the tuning of an NTT of one size */
    TUNE_NTT_PASSES,  /* of all sizes: tiles of a wave, the longer passes */
    TUNE_NTT_CHUNKS,  /* of a batch in host memory */
    TUNE_POSEIDON,    /* threads per state */
    TUNE_COPY_CHUNKS, /* the last two: of copies of pageable memory */
    TUNE_COPY_HELPERS
};

struct tune_plan {
    struct cli_sizes sizes; /* none: the default */
    bool has_sizes;         /* that the caller chose, which copies then use too */
    size_t count;
    struct {
        enum tune_kind kind;
        char subject[64];
        uint64_t size; /* 0: all sizes */
    } groups[TUNE_MAX_GROUPS];
    bool operations[TUNE_OPERATIONS]; /* msm, ntt, poseidon, copy */
};

/* Plans the groups of the operations and subjects, which are lists with commas; NULL: the usual
 * subjects. Returns CLI_GO or an exit code. */
int tune_plan_make(const struct cli_command *command, const char *operations, const char *subjects,
    struct tune_plan *plan);

/* The group at an index, given the numbers with the winners before it; false: it has none now. */
bool tune_plan_group(const struct tune_plan *plan, size_t index, const pool_tuning *numbers,
    struct tune_group *group);

/* The operation of a group: an index into plan->operations, and its name, "msm". */
size_t tune_plan_operation(const struct tune_plan *plan, size_t index, const char **name);

#endif
