/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of this layer only.
 */
#ifndef DRIVER_INTERNAL_H
#define DRIVER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"
#include "driver/driver.h"

/* One row of POOL_CUDA_FUNCTIONS as data. */
struct driver_symbol {
    const char *name;
    const char *suffix;
    int version;
    int needed;
    size_t offset; /* of the entry in pool_cuda_api */
};
extern const struct driver_symbol driver_symbols[];
extern const size_t driver_symbol_count;

/* The version that has every NEEDED function. */
int driver_needed_version(void);

/* The first NEEDED symbol whose entry is NULL, or NULL. */
const struct driver_symbol *driver_missing_symbol(const pool_cuda_api *api);

/* Copies a caller's table into driver->api. */
pool_status driver_table_copy(struct driver *driver, const pool_cuda_api *table);

/* Opens libcuda and fills api, path and library; closes it again on failure. */
pool_status driver_library_load(struct driver *driver);
void driver_library_unload(struct driver *driver);

/* POOL_ERR_NO_DRIVER that says that the toolkit's stub was found, and where. */
pool_status driver_stub_failure(const char *path);

/* The path of a dlopen handle's file, with all links resolved; "" if unknown. */
void driver_library_path(void *handle, char *path, size_t size);

/* Version of the loaded kernel module ("580.82.07"), or "" when there is none. */
void driver_kernel_module_version(char *text, size_t size);

/* A digest of what cuInit of the driver depends on; false: it could not be made. */
bool driver_host_state(const struct driver *driver, uint8_t state[BASE_SHA256_BYTES]);

/* Guards the list of drivers, their references, fault and listeners. Held for short times only. */
void driver_state_lock(void);
void driver_state_unlock(void);

/* The open driver of `table`; NULL if it is not open. Called with the state lock held. */
struct driver *driver_find(const pool_cuda_api *table);

/* Detects a child that was created without the fork handlers. Costs a system call. */
void driver_fork_check(void);

#endif
