/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of kernels' costs: the chips, what a file's kernels cost there, and the
 * budgets that were recorded for them.
 */
#ifndef TESTS_COMPILE_BUDGET_H
#define TESTS_COMPILE_BUDGET_H

#include "support/compiler.h"

enum { CHIPS = 3 };
extern const int chips[CHIPS];

/* The most that any kernel of a file uses, and the seconds of one compilation. */
struct cost {
    int registers;
    int spilled_bytes;
    double seconds;
};

struct budget {
    const char *subject; /* field, curve or set */
    const char *file;
    struct cost chip[CHIPS];
};

/* A row of the .def files. */
#define BUDGET(subject, file, r80, s80, r90, s90, r120, s120, seconds)                             \
    {subject, file, {{r80, s80, seconds}, {r90, s90, seconds}, {r120, s120, seconds}}},

/* Text of a file below ptx/; ends the program when there is none. */
const char *source_of(const char *file);

/* What an image cost; frees it. Ends the program when the compiler does not say. */
struct cost take_cost(struct compiler_image *image);

/*
 * Holds costs on all chips against the budget of subject and file and returns how many are over it;
 * when recording, prints the budget's row instead. A cost of zeros was not measured.
 */
int settle(const struct budget *budgets, size_t count, const char *subject, const char *file,
    const struct cost cost[CHIPS], bool is_recording);

#endif
