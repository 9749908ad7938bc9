/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver and the NVRTC compiler that are installed on this host, and the compiler of a
 * device.
 */
#ifndef DEVICEPOOL_HOST_H
#define DEVICEPOOL_HOST_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The driver or the compiler: `status` is POOL_OK if it is usable, otherwise `message` has the
 * reason. Versions are numbered as in CUDA: 13000 is 13.0. `path` is the loaded library file. For a
 * usable compiler `message` says why newer ones that were found are not used, or is empty.
 */
typedef struct pool_component {
    pool_status status;
    int32_t version;
    char path[256];
    char message[1024];
} pool_component;

/* The installed components. */
typedef struct pool_host_info {
    size_t struct_size;
    pool_component driver;
    pool_component compiler;
} pool_host_info;

/*
 * Fills `info`, whose struct_size must be set. Loads the libraries unless they are loaded already
 * and initialises the driver (up to a second). The compiler is the newest NVRTC that compiles a
 * trivial kernel which the driver loads on its first device; without a device, the newest that
 * compiles it. Unless the disk cache has the result, this takes a tenth of a second, and a context
 * is created on that device and released. Returns POOL_OK also when a component is missing, which
 * `info` reports. Any thread.
 */
POOL_API pool_status pool_host_get_info(pool_host_info *info);

/*
 * The compiler of the device's kernels: the newest NVRTC whose code the device's driver loads,
 * tried as by pool_host_get_info. Returns POOL_OK also when there is none, with the status
 * POOL_ERR_NO_COMPILER and the reason in `compiler`: the library then uses its prebuilt PTX. Fails
 * as other calls do when the device cannot be used. Any thread.
 */
POOL_API pool_status pool_device_get_compiler(pool_device *device, pool_component *compiler);

#ifdef __cplusplus
}
#endif

#endif
