/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of the disk cache that are only read: directories with a pack per chip (pack.h), by
 * default the one that is installed with the library. They are read after the user's cache. A pack
 * is used only if this build of the library has written it, with the NVRTC that would compile;
 * where none can be used, with any.
 */
#ifndef MODULE_LEVELS_H
#define MODULE_LEVELS_H

#include <stdbool.h>

#include <devicepool/device.h>

#include "driver/nvrtc.h"
#include "pool/module/pack.h"

/*
 * The image of a request; *image is NULL when no pack has it. With `maker` the key is `key`;
 * without one the key depends on the pack, and `files` is the digest of included files.
 */
pool_status levels_load(const struct module_request *request, const struct module_maker *maker,
    const struct module_key *key, const struct module_key *files, struct module_image **image);

/* The directory of the level; false: there is none with this index, or levels are disabled. */
bool levels_directory(size_t index, char *path, size_t size);

/*
 * Opens the pack of a chip in a level and checks that it can be used: with `maker` by its NVRTC.
 * GOOD: the caller closes it. `path`, of `size` bytes, is the file. On any other result but MISSING
 * `reason` says why it is not used; BAD: *pack has been read, and nothing is open.
 */
enum disk_result levels_open(size_t index, int compute_capability, const struct module_maker *maker,
    struct pack *pack, char *path, char *reason, size_t size);

/*
 * What a chip's code is read from: NOT_FOUND with the reasons if no pack can be used. NULL for
 * `nvrtc`: none can be used.
 */
pool_status levels_report(
    int compute_capability, const struct nvrtc *nvrtc, pool_component *component);

/* The maker that an NVRTC is. POOL_ERR_IO. */
pool_status levels_maker_of(const struct nvrtc *nvrtc, struct module_maker *maker);

#endif
