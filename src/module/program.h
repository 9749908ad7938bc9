/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own programs: a file of ptx/ with the sources generated for it (fields, curves,
 * constants), compiled and loaded on a device at its first use and resident from then on.
 */
#ifndef MODULE_PROGRAM_H
#define MODULE_PROGRAM_H

#include <stdbool.h>

#include "module/image.h"
#include "module/registry.h"

struct module_program {
    const char *file;                /* below ptx/: "poseidon/permute.cu" */
    const char *variant;             /* for lists: distinguishes programs of the same file and
                                      * subject; NULL: none */
    const char *subject;             /* name of the field, curve or parameter set; NULL: none */
    const pool_module_header *texts; /* generated; the file includes them by name */
    size_t text_count;
    const char *const *defines;
    size_t define_count;
    const char *const *options; /* further NVRTC options */
    size_t option_count;
};

/*
 * Everything that is compiled for a program: its generated sources and the files of ptx/ that these
 * include, in params->headers, which the caller frees with base_free. The program owns the rest.
 */
pool_status module_program_params(const struct module_program *program, pool_module_params *params);

/* Called with one program after another; a status other than POOL_OK ends that and is returned. */
typedef pool_status (*module_program_visit)(void *user, const struct module_program *program);

/*
 * A digest over file name, sources, defines and options, which identifies the program. It hashes
 * all sources, so a long-lived object computes it once.
 */
pool_status module_program_identify(const struct module_program *program, struct module_key *id);

/*
 * The program's module on a device: a look-up once it is resident, else it is compiled (or found in
 * the cache) and loaded. Any thread.
 */
pool_status module_program_get(pool_device *device, const struct module_program *program,
    const struct module_key *id, pool_module **module);

/* A visitor that does this for the program it is called with; with only_ready *module is not set
 * when the program would be compiled. */
struct module_building {
    pool_device *device;
    pool_module **module;
    bool only_ready;
};
pool_status module_program_build(void *building, const struct module_program *program);

/*
 * Loads `count` programs. `load` gets program `index`; with only_ready only if it need not be
 * compiled (it is resident, cached or prebuilt), and *is_there says whether it was. The calling
 * thread first loads what is ready, then the rest is compiled in parallel.
 */
struct module_loading {
    size_t count; /* at most MODULE_LOADING_MAX */
    pool_status (*load)(void *user, size_t index, bool only_ready, bool *is_there);
    void *user;
};
enum { MODULE_LOADING_MAX = 16 };
pool_status module_load_programs(const struct module_loading *loading);

/* ---- programs by key ------------------------------------------------------------------------- */

/* How an operation generates the programs of a subject: a field, a curve, a parameter set. */
struct module_generator {
    /* Generates the sources of the program with this key, which live as long as the call of
     * `visit`. */
    pool_status (*generate)(const void *subject, const struct module_program_key *key,
        module_program_visit visit, void *user);
    const void *subject;
};

/* The resident module with this key; if there is none, its program is generated and loaded. */
pool_status module_find_or_load(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *key, pool_module **module);

/* Loads at most MODULE_LOADING_MAX programs, compiling in parallel. */
pool_status module_load_keys(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *keys, size_t count);

/* The kernel `name` of module_find_or_load. */
pool_status module_find_kernel(pool_device *device, const struct module_generator *generator,
    const struct module_program_key *key, const char *name, pool_kernel **kernel);

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
    int pdl; /* programmatic dependent launch, see pool_launch_shape */
};
pool_status module_launch_enqueue(const struct module_launch *launch);

#endif
