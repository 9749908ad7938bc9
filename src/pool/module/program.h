/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's programs: a file of ptx/ with the sources generated for it (fields, curves,
 * constants), compiled and loaded on a device at its first use and resident from then on. Each
 * operation declares its programs and kernels in tables.
 */
#ifndef MODULE_PROGRAM_H
#define MODULE_PROGRAM_H

#include <stdbool.h>

#include "pool/module/image.h"
#include "pool/module/registry.h"

/* ---- tables of programs ---------------------------------------------------------------------- */

enum { MODULE_MAX_SOURCES = 3, MODULE_MAX_KEYS = 20 };

/* What programs are generated for: a field, a curve or a parameter set. */
struct module_subject {
    const char *(*name)(const void *subject);
    /* The generated sources, which the files of ptx/ include by name. The caller of `generate`
     * frees the text with base_free. */
    struct {
        const char *name;
        pool_status (*generate)(const void *subject, char **text);
    } sources[MODULE_MAX_SOURCES];
};

/* A line of an operation's table of programs. */
struct module_program_type {
    const char *file;                           /* in ptx/: "poseidon/permute.cu" */
    const struct module_subject *subject;       /* NULL: the program has no generated sources */
    const char *defines[MODULE_KEY_PARAMETERS]; /* macros; the key's parameters are their values */
};

/* A line of an operation's table of kernels. */
struct module_kernel_type {
    const struct module_program_type *program;
    const char *name;
};

/* The key of a program for the subject with this fingerprint. */
struct module_program_key module_key_for(
    const struct module_program_type *type, const uint8_t *fingerprint);

/* The resident module with this key; if there is none, its program is generated, compiled (or found
 * in the cache) and loaded. Any thread. */
pool_status module_find_or_load(pool_device *device, const void *subject,
    const struct module_program_key *key, pool_module **module);

/* The kernel `name` of module_find_or_load. */
pool_status module_find_kernel(pool_device *device, const void *subject,
    const struct module_program_key *key, const char *name, pool_kernel **kernel);

/* Loads at most MODULE_MAX_KEYS programs: first those that need not be compiled (resident, cached
 * or prebuilt), on the calling thread, then the others, which are compiled in parallel. */
pool_status module_load_keys(
    pool_device *device, const void *subject, const struct module_program_key *keys, size_t count);

/* ---- generated programs ---------------------------------------------------------------------- */

struct module_program {
    const char *file;                /* below ptx/ */
    const char *subject;             /* name of the field, curve or parameter set; NULL: none */
    const pool_module_header *texts; /* generated */
    size_t text_count;
    const char *const *defines;
    size_t define_count;
};

/* Called for each program; a status other than POOL_OK ends the iteration and is returned. */
typedef pool_status (*module_program_visit)(void *user, const struct module_program *program);

/* Generates a program and calls `visit` with it. */
pool_status module_program_generate(const void *subject, const struct module_program_key *key,
    module_program_visit visit, void *user);

/*
 * Everything that is compiled for a program: its generated sources and the files of ptx/ that these
 * include, in params->headers, which the caller frees with base_free. The program owns the rest.
 */
pool_status module_program_params(const struct module_program *program, pool_module_params *params);

/* ---- launches -------------------------------------------------------------------------------- */

/* A launch of a one-dimensional grid; `sizes` of the arguments are checked where the driver can. */
struct module_launch {
    pool_kernel *kernel;
    uint64_t blocks;
    uint32_t threads;
    uint32_t shared_bytes;
    uint32_t count; /* of the arguments */
    void **arguments;
    const size_t *sizes;
    pool_stream *stream;
    int pdl;        /* programmatic dependent launch, see pool_launch_shape */
    double seconds; /* predicted */
    /* An argument, or a member of one, that the kernel adds to blockIdx.x, so that it can be
     * launched for some of its blocks at a time. NULL: it cannot. */
    unsigned *first_block;
};
pool_status module_launch_enqueue(const struct module_launch *launch);

/*
 * Chooses the blocks of each of several launches, so that none takes longer than slice_ns (0: that
 * of the pool): whole waves of blocks, one at least, about the same number in each.
 */
pool_status module_launch_slice(
    const struct module_launch *launch, uint64_t slice_ns, uint64_t *blocks);

#endif
