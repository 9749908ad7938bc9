/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host has installed: the CUDA driver and the NVRTC compiler.
 */
#ifndef DEVICEPOOL_HOST_H
#define DEVICEPOOL_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One of the two: `status` says whether it is usable, `message` why not. Versions count as CUDA
 * does: 13000 is 13.0. `path` is the library file that was loaded.
 */
typedef struct pool_component {
    pool_status status;
    int32_t version;
    char path[256];
    char message[512];
} pool_component;

/* Both of them. */
typedef struct pool_host_info {
    size_t struct_size;
    pool_component driver;
    pool_component compiler;
} pool_host_info;

/*
 * Fills `info` (struct_size set). Loads both libraries if that did not happen yet and initialises
 * the driver (up to a second), makes no context. POOL_OK also when something is missing: the answer
 * is in `info`. Any thread.
 */
POOL_API pool_status pool_host_get_info(pool_host_info *info);

#ifdef __cplusplus
}
#endif

#endif
