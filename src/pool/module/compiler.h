/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NVRTC compiles for a device: the first of the host's whose code the device's driver loads.
 * That is decided by a trial, a trivial kernel that is compiled and loaded before anything else is
 * compiled. A good verdict is an entry of the disk cache, the image of the trial under a key of the
 * files of NVRTC and its builtins, the driver, the chip and the form. A bad one lasts as long as
 * the pool.
 */
#ifndef MODULE_COMPILER_H
#define MODULE_COMPILER_H

#include <stdbool.h>

#include <devicepool/device.h>

#include "driver/nvrtc.h"
#include "pool/device/device.h"
#include "pool/module/image.h"

/* The compilers for a request, one after the other. */
struct module_choice {
    const struct module_request *request;
    const struct nvrtc *nvrtc;        /* the present one; NULL: none is left */
    size_t index;                     /* of the present one */
    bool skips_levels;                /* without a compiler: the driver does not load their code */
    bool is_from_level;               /* without a compiler: the image came from a level */
    char reason[DRIVER_NVRTC_REASON]; /* why those before it are not used, or there is none */
};

/* Begins with the first compiler that is not known to fail. */
void module_choice_begin(struct module_choice *choice, const struct module_request *request);

/* Continues with the next one. */
void module_choice_next(struct module_choice *choice);

/*
 * The trial of the present compiler, unless its verdict is known. POOL_ERR_NO_COMPILER: it does not
 * work, or this device's driver does not load its code, with the reason in `reason`; no error is
 * set. Not inside device_enter.
 */
pool_status module_choice_try(struct module_choice *choice);

/*
 * Another trial, after a program was not compiled or, inside device_enter (scope not NULL), the
 * driver has refused its image. POOL_OK: it is the program's own failure.
 */
pool_status module_choice_doubt(struct module_choice *choice, struct device_scope *scope);

/* Adds the reason why the present compiler is not used for this request. */
void module_choice_reject(struct module_choice *choice, const char *reason);

/*
 * What compiles for the device: with `tries` trials are made as far as needed, without it the
 * device is not used and what has not been tried is taken to work. NULL: whether an NVRTC works at
 * all on this host.
 */
pool_status module_compiler_report(pool_device *device, bool tries, pool_component *component);

/* The pack of machine code that the device's chip uses: see levels_report. Nothing is tried. */
pool_status module_pack_report(pool_device *device, pool_component *component);

#endif
