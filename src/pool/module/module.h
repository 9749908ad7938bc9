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

#include "pool/device/device.h"
#include "pool/memory/resident.h"
#include "pool/module/image.h"

/* A launch checks this many parameters; further ones are not checked. */
#define MODULE_MAX_PARAMETERS 64

struct pool_kernel {
    pool_module *module;
    const char *work_name; /* the same name; lives as long as the device */
    struct pool_kernel *next;
    CUfunction function; /* valid between module_begin_use and module_end_use */
    int max_threads;
    int supports_pdl; /* compiled for a chip that supports it, and on one */
    uint64_t static_shared_bytes;
    uint64_t max_dynamic_shared_bytes;
    _Atomic uint64_t allowed_dynamic_shared_bytes; /* the present limit of a launch */
    atomic_bool allows_large_clusters;             /* of more than PORTABLE_CLUSTER blocks */
    int parameter_count;                           /* -1: the driver does not report it */
    size_t parameter_bytes[MODULE_MAX_PARAMETERS];
    size_t parameter_offset[MODULE_MAX_PARAMETERS];
    char name[];
};

struct pool_module {
    struct memory_resident entry; /* first: in the device's list while the module is loaded */
    pool_device *device;
    unsigned renewals; /* of the device when it was loaded first */
    bool
        is_evictable; /* the library's, which is loaded again after a renewal; constant once used */
    _Atomic(CUmodule) handle; /* NULL: it is evicted; set with the lock held */
    char *names;              /* of name expressions, see names.h */
    pthread_mutex_t lock;
    struct pool_kernel *kernels;      /* guarded by lock */
    struct device_deferred *deferred; /* for an unload that has to wait; of who has the handle */
    struct module_image *image;       /* to load it again; NULL: it is never evicted */
    atomic_bool is_verified;          /* the self-test of its operation has passed */
    char name[80];                    /* "ntt/pass.cu of bn254_fr" */
};

/* Checks that `image` of `size` bytes is complete: the driver does not know the size. */
pool_status module_image_check(const void *image, size_t size, int *is_text);

/* A checked copy of the caller's params, whose struct may be of an older version. */
pool_status module_params_copy(
    const char *call, const pool_module_params *given, pool_module_params *params);

/*
 * pool_module_compile without its arithmetic, which src/arithmetic/ adds. Of the request, params,
 * generator and only_ready are read; with only_ready *module is not set when the module would be
 * compiled. The module has its image, so that it may be made evictable. `subject` is what it was
 * compiled for, for descriptions, or NULL.
 */
pool_status module_compile(pool_device *device, const struct module_request *wanted,
    const char *subject, pool_module **module);

/* The symbol that `name` stands for: that of a name expression, or `name` itself. */
const char *module_symbol_of(const pool_module *module, const char *name);

/* POOL_ERR_DEVICE_LOST for a module that has ended with the process of its device. One that has its
 * image is loaded again. */
static inline pool_status module_check(const pool_module *module)
{
    return module->image ? POOL_OK
                         : device_check_object(module->device, module->renewals, "the module");
}

/* Unloads the module (with the context current, unless the driver is gone) and frees it. */
pool_status module_free(pool_module *module, int driver_alive);

/* The driver does not take an image: the code, 0 if it was not that, and the log of its compiler.
 */
struct module_refusal {
    pool_cu_result code;
    char log[512];
};

/*
 * Inside device_enter: loads an image of `bytes` bytes; PTX ends with a NUL. Where the device has
 * no memory for it, unused resident objects are evicted and the memory pool is trimmed. If
 * `refusal` is not NULL, an image that the driver does not take is no error: the status is
 * POOL_ERR_BAD_IMAGE, and nothing is logged.
 */
pool_status module_load_inside(struct device_scope *scope, const void *image, size_t bytes,
    CUmodule *handle, struct module_refusal *refusal);

/* Fills the members of a request that follow from the device. */
void module_request_set_device(struct module_request *request, pool_device *device);

/* Unloads code whose module has no further use for `deferred`: when the device's unfinished work
 * has finished, because cuModuleUnload waits for it. Inside device_enter. */
pool_status module_unload(pool_device *device, CUmodule handle, struct device_deferred *deferred);

/* ---- modules as resident objects (resident.c) ------------------------------------------------ */

/* Inside device_enter: lists a module that was loaded from an image of `bytes` bytes, in use. */
pool_status module_add_resident(pool_module *module, uint64_t bytes);
/* The module's owner, who may be a forked child, destroys it. */
void module_remove_resident(pool_module *module);

/* The module stays loaded until it is destroyed. */
void module_make_permanent(pool_module *module);
/* From now on the module may be unloaded while no launch uses it; no-op without an image. */
void module_make_evictable(pool_module *module);

/*
 * Inside device_enter: keeps the module loaded until module_end_use, loading it again if it was
 * evicted. Kernels that have been enqueued need no use: an unload waits for them.
 */
pool_status module_reload(struct device_scope *scope, pool_module *module);
static inline pool_status module_begin_use(struct device_scope *scope, pool_module *module)
{
    if (!module->image || memory_resident_begin_launch(&module->entry))
        return POOL_OK;
    return module_reload(scope, module);
}
static inline void module_end_use(pool_module *module)
{
    if (module->image)
        memory_resident_end_launch(&module->entry);
}

/* Raises the kernel's limit of dynamic shared memory, which by default is 48 KiB, if `bytes` exceed
 * it. */
pool_status module_raise_shared_limit(
    struct driver *driver, struct pool_kernel *kernel, uint64_t bytes);

#endif
