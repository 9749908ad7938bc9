/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded modules and kernels, as the files of this room know them.
 */
#ifndef MODULE_MODULE_H
#define MODULE_MODULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/module.h>

#include "pool/device.h"

/* As many parameters as the check of a launch knows; what comes after is not checked. */
#define MODULE_MAX_PARAMETERS 64

struct pool_kernel {
    pool_module *module;
    const char *kept_name; /* the same name, as long as the device lives */
    struct pool_kernel *next;
    CUfunction function;
    int max_threads;
    int can_start_early; /* compiled for a chip that can, on one */
    uint64_t static_shared_bytes;
    uint64_t max_dynamic_shared_bytes;
    _Atomic uint64_t allowed_dynamic_shared_bytes; /* what the driver lets a launch ask for now */
    int parameter_count;                           /* -1: the driver does not tell */
    size_t parameter_bytes[MODULE_MAX_PARAMETERS];
    size_t parameter_offset[MODULE_MAX_PARAMETERS];
    char name[];
};

struct pool_module {
    pool_device *device;
    CUmodule handle;
    pthread_mutex_t lock;
    struct pool_kernel *kernels;     /* guarded by lock */
    struct device_deferred *later;   /* for an unload that cannot be done at once */
};

/* Whether `image` of `size` bytes can be given to the driver, which is not told the size. */
pool_status module_image_check(const void *image, size_t size, int *is_text);

/* A checked copy of the caller's params, whose struct may be older and shorter than ours. */
pool_status module_params_copy(
    const char *call, const pool_module_params *given, pool_module_params *params);

/* pool_module_compile; with only_ready what has to be compiled is left, and *module too. */
pool_status module_compile(
    pool_device *device, const pool_module_params *params, bool only_ready, pool_module **module);

/* Unloads (with the context current, unless the driver is gone) and frees. */
void module_free(pool_module *module, int driver_alive);

/* Inside device_enter. `image` ends in a zero when it is text. */
pool_status module_load_inside(struct device_scope *scope, const void *image, CUmodule *handle);

#endif
