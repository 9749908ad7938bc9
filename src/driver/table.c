/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of driver functions as an array, and the copying of a caller's table.
 */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "driver/internal.h"

#define SYMBOL_NEEDED 1
#define SYMBOL_EXTRA 0

const struct driver_symbol driver_symbols[] = {
#define SYMBOL(field, symbol, suffix, version, need, parameters)                                   \
    {symbol, suffix, version, SYMBOL_##need, offsetof(pool_cuda_api, field)},
    POOL_CUDA_FUNCTIONS(SYMBOL)
#undef SYMBOL
};
const size_t driver_symbol_count = sizeof(driver_symbols) / sizeof(driver_symbols[0]);

/*
 * No version of the table is larger than this: each function occupies one pointer, and the driver
 * has about 600 functions.
 */
#define TABLE_BYTES_MAX 65536

int driver_needed_version(void)
{
    int version = 0;

    for (size_t i = 0; i < driver_symbol_count; i++)
        if (driver_symbols[i].needed && driver_symbols[i].version > version)
            version = driver_symbols[i].version;
    return version;
}

const struct driver_symbol *driver_missing_symbol(const pool_cuda_api *api)
{
    for (size_t i = 0; i < driver_symbol_count; i++) {
        void *function;

        memcpy(&function, (const char *)api + driver_symbols[i].offset, sizeof(function));
        if (driver_symbols[i].needed && !function)
            return &driver_symbols[i];
    }
    return NULL;
}

pool_status driver_table_copy(struct driver *driver, const pool_cuda_api *table)
{
    const struct driver_symbol *missing;
    size_t size = table->struct_size;

    if (size <= offsetof(pool_cuda_api, Init) || size % sizeof(void *) || size > TABLE_BYTES_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the driver table's struct_size is %zu; set it to sizeof(pool_cuda_api), here %zu",
            size, sizeof(driver->api));
    memset(&driver->api, 0, sizeof(driver->api));
    memcpy(&driver->api, table, size < sizeof(driver->api) ? size : sizeof(driver->api));
    driver->api.struct_size = sizeof(driver->api);
    snprintf(driver->path, sizeof(driver->path), "custom table");
    missing = driver_missing_symbol(&driver->api);
    if (missing)
        return base_fail(POOL_ERR_DRIVER_TOO_OLD,
            "the driver table of %zu bytes (this library's has %zu) lacks the required %s%s", size,
            sizeof(driver->api), missing->name, missing->suffix);
    return POOL_OK;
}
