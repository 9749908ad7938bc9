/* SPDX-License-Identifier: Apache-2.0 */
/* The number by which a worker program finds out whether it is of the same build as the library. */
#include <devicepool/version.h>

#include "driver/calls.h"
#include "driver/worker/protocol.h"

/* FNV-1a; the byte 0 ends each string, so that "ab", "c" and "a", "bc" differ. */
static uint64_t add_string(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

uint64_t worker_build(void)
{
#define NAME(field, symbol, suffix, version, need, parameters) #field #parameters,
    static const char *const functions[] = {POOL_CUDA_FUNCTIONS(NAME)};
#undef NAME
    uint64_t hash = add_string(UINT64_C(0xcbf29ce484222325), pool_version_text());

    for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        hash = add_string(hash, functions[i]);
    return hash ^ sizeof(struct worker_shared);
}
