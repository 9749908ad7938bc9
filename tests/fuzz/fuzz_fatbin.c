/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a fat binary whose header has the right size, which is all that is known of an image
 * in cuModuleLoadData, and the same bytes as an LZ4 block.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/sim/table/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sim_jit no_log = {0};
    unsigned char plain[1000];
    unsigned char *image;
    uint64_t payload;
    char *text = NULL;

    sim_lz4_decompress(data, size, plain, size < sizeof(plain) ? size : sizeof(plain));
    if (size < 16)
        return 0;
    image = malloc(size);
    if (!image)
        return 0;
    memcpy(image, data, size);
    memcpy(image, "\x50\xed\x55\xba\1\0\x10\0", 8);
    payload = size - 16;
    memcpy(image + 8, &payload, sizeof(payload));
    pool_cu_result code = sim_fatbin_ptx(image, 90, &no_log, &text);
    if ((code == POOL_CU_SUCCESS) != (text != NULL) || (text && strlen(text) > 255 * size))
        abort();
    base_free(text);
    free(image);
    return 0;
}
