/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of this layer: loaded modules and kernels.
 */
#ifndef MODULE_MODULE_H
#define MODULE_MODULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/module.h>

#include "pool/device.h"

/* A launch checks this many parameters; further ones are not checked. */
#define MODULE_MAX_PARAMETERS 64

struct pool_kernel {
    pool_module *module;
    const char *work_name; /* the same name; lives as long as the device */
    struct pool_kernel *next;
    CUfunction function;
    int max_threads;
    int supports_pdl; /* compiled for a chip that supports it, and on one */
    uint64_t static_shared_bytes;
    uint64_t max_dynamic_shared_bytes;
    _Atomic uint64_t allowed_dynamic_shared_bytes; /* the present limit of a launch */
    int parameter_count;                           /* -1: the driver does not report it */
    size_t parameter_bytes[MODULE_MAX_PARAMETERS];
    size_t parameter_offset[MODULE_MAX_PARAMETERS];
    char name[];
};

struct pool_module {
    pool_device *device;
    CUmodule handle;
    pthread_mutex_t lock;
    struct pool_kernel *kernels;      /* guarded by lock */
    struct device_deferred *deferred; /* for an unload that has to wait */
    atomic_bool is_verified;          /* the self-test of its operation has passed */
};

/* Checks that `image` of `size` bytes is complete: the driver does not know the size. */
pool_status module_image_check(const void *image, size_t size, int *is_text);

/* A checked copy of the caller's params, whose struct may be of an older version. */
pool_status module_params_copy(
    const char *call, const pool_module_params *given, pool_module_params *params);

/* pool_module_compile without its arithmetic, which src/arithmetic/ adds; with only_ready *module is
 * not set when the module would be compiled. */
pool_status module_compile(
    pool_device *device, const pool_module_params *params, bool only_ready, pool_module **module);

/* Unloads the module (with the context current, unless the driver is gone) and frees it. */
pool_status module_free(pool_module *module, int driver_alive);

/* Inside device_enter. PTX in `image` ends with a NUL. */
pool_status module_load_inside(struct device_scope *scope, const void *image, CUmodule *handle);

#endif
