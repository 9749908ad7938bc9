/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own kernels: a file of ptx/ with the texts generated for it (fields, curves,
 * constants), compiled and loaded on a device at its first use and kept there.
 */
#ifndef MODULE_PROGRAM_H
#define MODULE_PROGRAM_H

#include <stdbool.h>

#include "module/image.h"

struct module_program {
    const char *file;                /* below ptx/: "poseidon/permute.cu" */
    const char *variant;             /* for lists: what tells it from others of the same file and
                                      * subject; NULL: nothing */
    const pool_module_header *texts; /* generated, found by the file's #include lines by name */
    size_t text_count;
    const char *const *defines;
    size_t define_count;
    const char *const *options; /* further NVRTC options */
    size_t option_count;
};

/*
 * All that is compiled for a program: its texts and the files of ptx/ that these include, in
 * params->headers, which the caller gives back by base_free; the rest is the program's own.
 */
pool_status module_program_params(const struct module_program *program, pool_module_params *params);

/* Is handed the programs of a room one by one; other than POOL_OK ends that and is passed on. */
typedef pool_status (*module_program_visit)(void *user, const struct module_program *program);

/*
 * What tells programs apart: a digest over file name, texts, defines and options. Costs a hash of
 * all texts, so the owner (a domain, a curve, a parameter set) computes it once.
 */
pool_status module_program_identify(const struct module_program *program, struct module_key *id);

/*
 * The program's module on a device: a list look-up once it is loaded, else compile (or cache) and
 * load. It belongs to the device and stays until the pool goes. Any thread.
 */
pool_status module_program_get(pool_device *device, const struct module_program *program,
    const struct module_key *id, pool_module **module);

/* A visitor that does this for the program that it is handed; with only_ready, unless it has to be
 * compiled: then *module is left. */
struct module_building {
    pool_device *device;
    pool_module **module;
    bool only_ready;
};
pool_status module_program_build(void *building, const struct module_program *program);

/*
 * What `count` programs need to be there. `load` gets program `index`; with only_ready only what
 * need not be compiled (it is loaded, in memory, on disk or prebuilt), and *is_there says whether
 * it was. First the calling thread gets what is ready, then the rest is compiled side by side.
 */
struct module_loading {
    size_t count; /* at most MODULE_LOADING_MAX */
    pool_status (*load)(void *user, size_t index, bool only_ready, bool *is_there);
    void *user;
};
enum { MODULE_LOADING_MAX = 16 };
pool_status module_load_programs(const struct module_loading *loading);

#endif
