/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fat binaries: containers of machine code and PTX for several chips. Only PTX can be executed.
 */
#ifndef SIM_DRIVER_FATBIN_H
#define SIM_DRIVER_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/sim/table/image.h"

/* Whether the image begins as a fat binary does. */
bool sim_fatbin_is(const void *image);

/*
 * Extracts the PTX for the newest target that a device of `capability` runs; free *text with
 * base_free. The image has as many bytes as its header says; everything within them may be hostile.
 * 209 with a line in the log when there is no such PTX, 200 when the container is damaged.
 */
pool_cu_result sim_fatbin_ptx(
    const void *image, uint32_t capability, const struct sim_jit *jit, char **text);

/*
 * Decompresses an LZ4 block, which has to fill `to` exactly. False for a damaged block; `to` may be
 * partly written then.
 */
bool sim_lz4_decompress(
    const unsigned char *from, size_t from_bytes, unsigned char *to, size_t to_bytes);

#endif
