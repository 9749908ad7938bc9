/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a file of tuning parameters: what is read has valid numbers, and the text that they are
 * written to is read as the same numbers, with no line that is not understood.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pool/tuning/tuning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuning_reason reason;
    struct tuning_key key, key_again;
    struct tuning tuning, tuning_again;
    char *text = malloc(size + 1), *again = NULL;
    size_t bytes = 0;

    if (!text)
        return 0;
    memcpy(text, data, size);
    if (!tuning_decode(text, size, &key, &tuning, &reason)) {
        if (!tuning_is_valid(&tuning) || tuning_encode(&key, &tuning, &again, &bytes) ||
            tuning_decode(again, bytes, &key_again, &tuning_again, &reason) || reason.text[0] ||
            memcmp(&tuning, &tuning_again, sizeof(tuning)) != 0 ||
            strcmp(key.chip, key_again.chip) != 0 || key.driver_version != key_again.driver_version)
            abort();
        base_free(again);
    }
    free(text);
    return 0;
}
