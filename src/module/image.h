/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled module that is not loaded yet: PTX text or machine code, and the request it answers.
 * Nothing here knows a device; a request is a value.
 */
#ifndef MODULE_IMAGE_H
#define MODULE_IMAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/module.h>

#include "base/sha256.h"

enum module_form { MODULE_PTX = 1, MODULE_CUBIN = 2 };

/* Immutable once made; shared by reference. PTX ends in a zero that `size` does not count. */
struct module_image {
    atomic_uint references;
    enum module_form form;
    size_t size;
    char bytes[];
};

struct module_image *module_image_new(enum module_form form, size_t size); /* NULL: no memory */
struct module_image *module_image_retain(struct module_image *image);
void module_image_release(struct module_image *image); /* NULL is a no-op */

/* What is to be compiled: the caller's texts, and for which chip in which form. */
struct module_request {
    const pool_module_params *params;
    const char *name;       /* params->name or its default */
    int compute_capability; /* 90 */
    int ptx_only;           /* the driver takes no machine code */
    int only_ready;         /* what would have to be compiled is left: the image is NULL */
    int reads_files;        /* set by module_image_get: an #include may be a file on disk */
};

struct module_key {
    uint8_t bytes[BASE_SHA256_BYTES];
};

/*
 * What is to be compiled, whatever compiles it for whichever chip: SHA-256 over name, source,
 * headers, defines and sorted options, each with its length. Prebuilt PTX is found by it.
 */
pool_status module_text_key_of(const struct module_request *request, struct module_key *key);

/*
 * The key of a request: SHA-256 over that, the cache format, the library's version, chip, form,
 * NVRTC's version and the digest of the files that it may include (includes.h; zero: none).
 */
pool_status module_key_of(const struct module_request *request, int compiler_version,
    const struct module_key *files, struct module_key *key);
void module_key_text(const struct module_key *key, char text[2 * BASE_SHA256_BYTES + 1]);

/*
 * request → image: from memory, from disk, else compiled, once however many threads ask for the
 * same key at the same time; without a usable NVRTC prebuilt. The caller releases the image.
 */
pool_status module_image_get(const struct module_request *request, struct module_image **image);

/* Forgets what memory holds (tests; the disk stays). */
void module_image_forget(void);

/*
 * The makers of images: the compiler, and for hosts without one that works the PTX that is
 * embedded. Where NVRTC itself does not work or does not know the chip, module_compile_nvrtc
 * records no failure: it returns POOL_ERR_NO_COMPILER and says why in `reason`, which becomes the
 * failure's text for what is not among the prebuilt programs.
 */
pool_status module_compile_nvrtc(
    const struct module_request *request, char *reason, size_t size, struct module_image **image);
pool_status module_find_prebuilt(
    const struct module_request *request, const char *reason, struct module_image **image);

#endif
