/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC for tests of what a compilation costs, and the sources that tests compile. A failure ends
 * the program with a message.
 */
#ifndef TESTS_SUPPORT_COMPILER_H
#define TESTS_SUPPORT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/nvrtc.h"
#include "zk/field/field.h"

/* A header that sources include by its name. */
struct compiler_header {
    const char *name;
    const char *text;
};

/* The result of a compilation. */
struct compiler_image {
    char *bytes;
    size_t size;
    char *log;
    double seconds; /* of this process's processor time, whatever else runs */
};

/*
 * Compiles `source` with the library's device sources and `headers` (count of them) for one compute
 * capability (90 is 9.0), to machine code or PTX.
 */
struct compiler_image compiler_compile(const struct nvrtc *nvrtc, const char *source,
    const struct compiler_header *headers, size_t count, int capability, bool to_ptx);
void compiler_image_free(struct compiler_image *image);
/*
 * The first 8 bytes of the SHA-256 of all that determines the result of compiler_compile for a
 * chip: the compiler's version, the source, and every header that it includes, directly or not.
 */
uint64_t compiler_digest(const struct nvrtc *nvrtc, const char *source,
    const struct compiler_header *headers, size_t count);
/* The largest number right after or before `word` in the compiler's report. */
int compiler_reported(const char *log, const char *word, bool is_before);

/* The source of the tests' own kernels (tests/kernels/<name>). */
const char *compiler_test_kernels(const char *name);
/* The generated header of a field; the caller frees it. */
char *compiler_field_header(const pool_field *field, const char *prefix);
/* The generated header of its products with precomputed quotients; likewise. */
char *compiler_shoup_header(const pool_field *field, const char *prefix);

/*
 * What a compilation may take that took `seconds` when its budget was recorded: other machines are
 * slower and busy, and a recorded time of 0 is a rounded one.
 */
static inline double compiler_allowed_seconds(double seconds)
{
    return 0.5 + 6 * seconds;
}

#endif
