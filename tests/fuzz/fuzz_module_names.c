/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of names behind an image: of any bytes, every pair that is read lies in the image and
 * is found again, and the list ends.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pool/module/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *pair;
    char *names;
    size_t length = 0;

    if (module_names_read((const char *)data, size, &names))
        return 0;
    for (pair = names; pair && *pair;) {
        const char *name = pair + strlen(pair) + 1;

        length += strlen(pair) + strlen(name);
        if (length > size || !module_names_find(names, name))
            abort();
        pair = name + strlen(name) + 1;
    }
    if (module_names_find(names, "no name has a\nline break"))
        abort();
    base_free(names);
    return 0;
}
