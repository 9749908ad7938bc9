/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled module that is not loaded yet, PTX or machine code, and the request for it.
 * Independent of devices; a request is a value.
 */
#ifndef MODULE_IMAGE_H
#define MODULE_IMAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/module.h>

#include "base/sha256.h"

enum module_form { MODULE_PTX = 1, MODULE_CUBIN = 2 };

/* Immutable, reference-counted. PTX ends in a NUL that `size` does not include. */
struct module_image {
    atomic_uint references;
    enum module_form form;
    size_t size;
    char bytes[];
};

struct module_image *module_image_new(enum module_form form, size_t size); /* NULL: no memory */
struct module_image *module_image_retain(struct module_image *image);
void module_image_release(struct module_image *image); /* NULL is a no-op */

/*
 * Headers that are generated only if the source is compiled: those of params->headers from `first`
 * on. The text that they have there stands for the generated one in keys and has to determine it.
 */
struct module_generator {
    size_t first;
    /* Generates the text of header `first + index`, which the caller frees with base_free. */
    pool_status (*generate)(const void *user, size_t index, char **text);
    const void *user;
};

/* A request to compile: the caller's params, the chip and the form of the result. */
struct module_choice;
struct module_request {
    const pool_module_params *params;
    const struct module_generator *generator; /* NULL: no header is generated */
    const char *name;                         /* params->name or its default */
    pool_device *device;    /* its driver has to load the image; NULL: only compiled */
    int compute_capability; /* 90; 0: the newest that the compiler knows */
    int ptx_only;           /* the driver accepts no machine code */
    int only_ready;         /* do not compile: the image is NULL instead */
    int is_trial;           /* of the compiler, see compiler.h: every failure is the compiler's */
    int reads_files;        /* set by module_image_choose: an #include may be a file on disk */
};

struct module_key {
    uint8_t bytes[BASE_SHA256_BYTES];
};

/*
 * The key of the source, independent of compiler and chip: SHA-256 over name, source, headers,
 * defines and options in their order, each with its length. Prebuilt PTX is found by it.
 */
pool_status module_text_key_of(const struct module_request *request, struct module_key *key);

/* The NVRTC that has made an image, or that is to make it. */
struct module_maker {
    int version;                       /* 13000 */
    uint8_t digest[BASE_SHA256_BYTES]; /* driver_nvrtc_identify */
};

/*
 * The key of a request: SHA-256 over the source key, the cache format, the library's version, chip,
 * form, NVRTC's digest and the digest of the files that it may include (includes.h; zero: none).
 */
pool_status module_key_of(const struct module_request *request, const struct module_maker *maker,
    const struct module_key *files, struct module_key *key);
void module_key_text(const struct module_key *key, char text[2 * BASE_SHA256_BYTES + 1]);
void module_key_parse(const char *text, struct module_key *key); /* of 64 hexadecimal digits */

/*
 * The image of a request, from memory, from disk or compiled by the first NVRTC that works; without
 * one from prebuilt PTX. Concurrent requests with the same key compile once (single-flight). The
 * caller releases the image. module_image_choose continues with the present compiler of a choice,
 * which is then the one of the image; NULL: it is prebuilt.
 */
pool_status module_image_get(const struct module_request *request, struct module_image **image);
pool_status module_image_choose(struct module_choice *choice, struct module_image **image);

/* Clears the cache in memory, but not on disk (for tests). */
void module_image_forget(void);

/*
 * The sources of images: a compiler and, for hosts without a usable one, the embedded prebuilt PTX.
 * If the NVRTC itself does not work or does not know the chip, module_compile_nvrtc returns
 * POOL_ERR_NO_COMPILER with the reason and sets no error; module_find_prebuilt puts the reason into
 * its message when there is no prebuilt PTX either.
 */
struct nvrtc;
pool_status module_compile_nvrtc(const struct nvrtc *nvrtc, const struct module_request *request,
    char *reason, size_t size, struct module_image **image);
pool_status module_find_prebuilt(
    const struct module_request *request, const char *reason, struct module_image **image);

/* Whether it finds one. */
pool_status module_look_for_prebuilt(const struct module_request *request, bool *exists);

#endif
