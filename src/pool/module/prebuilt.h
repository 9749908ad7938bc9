/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX of the library's own programs for hosts without NVRTC: the files of ptx/prebuilt, embedded by
 * ptx/embed_prebuilt.py.
 */
#ifndef MODULE_PREBUILT_H
#define MODULE_PREBUILT_H

#include "pool/module/image.h"

struct module_prebuilt {
    const char *name;     /* of the files: "ntt-pass.bn254_fr" */
    const char *key;      /* module_text_key_of the program, in hexadecimal digits */
    const char *compiler; /* the version of NVRTC that compiled it: "13.0" */
    size_t text_size;
    const unsigned char *bytes; /* the PTX, compressed by xz */
    size_t size;
};

/* The last entry's name is NULL. */
extern const struct module_prebuilt module_prebuilt_programs[];

/* Decompresses the PTX of an entry. */
pool_status module_prebuilt_unpack(
    const struct module_prebuilt *prebuilt, struct module_image **image);

/* Makes the unpacked PTX loadable on an older chip than it is for: 60 is 6.0. */
pool_status module_prebuilt_lower(struct module_image *image, const char *name, int capability);

#endif
