/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of kernels' costs: the chips, what a file's kernels cost there, and the
 * budgets that were recorded for them.
 *
 * A row also records a digest of what was compiled: the source, every header that it includes, and
 * the compiler's version. A row whose digest has not changed is not compiled again, as its costs
 * cannot have changed either. `all` as the program's argument compiles every row nevertheless.
 */
#ifndef TESTS_COMPILE_BUDGET_H
#define TESTS_COMPILE_BUDGET_H

#include "support/compiler.h"

enum { CHIPS = 3 };

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
    uint64_t digest;
};

/* A row of the .def files. */
#define BUDGET(subject, file, r80, s80, r90, s90, r120, s120, seconds, digest)                     \
    {subject, file, {{r80, s80, seconds}, {r90, s90, seconds}, {r120, s120, seconds}}, digest},

/* What is compiled for each chip: the same text for all. */
struct budget_source {
    const char *text;
    const struct compiler_header *headers; /* besides the library's device sources */
    size_t header_count;
    bool is_for_sm90_only; /* the other chips are compiled when recording only */
};

struct budget_run {
    const struct nvrtc *nvrtc;
    const struct budget *rows;
    size_t count;
    const char *only; /* the requested subject, or NULL: all */
    bool is_recording;
    bool is_complete; /* compiles unchanged rows too */
    int compiled, unchanged, failures;
};

/*
 * Reads the program's arguments (`all`, or `record` and optionally a subject) and opens NVRTC; ends
 * the program with 77 where there is none.
 */
struct budget_run budget_start(const struct budget *rows, size_t count, int argc, char **argv);
/* Whether the subject is among the requested ones. */
bool budget_is_requested(const struct budget_run *run, const char *subject);
/* Holds the source's costs on all chips against its row, or prints the row when recording. */
void budget_check(struct budget_run *run, const char *subject, const char *file,
    const struct budget_source *source);
/* Prints the counts and returns the program's exit status. */
int budget_finish(const struct budget_run *run);

/* Text of a file below ptx/; ends the program when there is none. */
const char *source_of(const char *file);

#endif
