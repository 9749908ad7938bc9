/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's arithmetic as headers for custom kernels: one per entry of
 * pool_module_params.arithmetic. The text is that of the library's own kernels: the generated
 * sources of the field, curve or parameter set and the files of ptx/ that are built on them.
 */
#ifndef ARITHMETIC_HEADER_H
#define ARITHMETIC_HEADER_H

#include <stdatomic.h>

#include <devicepool/module.h>

#include "pool/module/image.h"

/* Generates "<prefix>.cuh" of a valid entry. The caller frees *text by base_free. */
pool_status arithmetic_generate(const pool_module_arithmetic *entry, char **text);

/* The number of headers that this process has generated. */
extern atomic_uint_fast64_t arithmetic_generated;

/* SHA-256 over the sources that determine what is generated (digest.py), in hexadecimal. */
extern const char arithmetic_sources_digest[];

/* Params whose headers include those of their arithmetic, which are generated when compiled. */
struct arithmetic_expansion {
    pool_module_params params; /* to be compiled; arithmetic_count is 0 */
    pool_module_header *headers;
    struct module_generator generator; /* the caller's headers precede the generated ones */
};

/*
 * Validates and copies `given` and adds its headers, each with a text that determines the generated
 * one: the entry's kind and fingerprint, and the generator's sources. `call` is for messages. The
 * strings and arrays of `given` are not copied. After success the caller releases the expansion.
 */
pool_status arithmetic_expand(
    const char *call, const pool_module_params *given, struct arithmetic_expansion *expansion);
void arithmetic_release(struct arithmetic_expansion *expansion);

#endif
