/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver and the NVRTC compiler that are installed on this host.
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
 * The driver or the compiler: `status` is POOL_OK if it is usable, otherwise `message` has the
 * reason. Versions are numbered as in CUDA: 13000 is 13.0. `path` is the loaded library file.
 */
typedef struct pool_component {
    pool_status status;
    int32_t version;
    char path[256];
    char message[512];
} pool_component;

/* The installed components. */
typedef struct pool_host_info {
    size_t struct_size;
    pool_component driver;
    pool_component compiler;
} pool_host_info;

/*
 * Fills `info`, whose struct_size must be set. Loads both libraries unless they are loaded already,
 * initialises the driver (up to a second) and creates no context. Returns POOL_OK also when a
 * component is missing, which `info` reports. Any thread.
 */
POOL_API pool_status pool_host_get_info(pool_host_info *info);

#ifdef __cplusplus
}
#endif

#endif
