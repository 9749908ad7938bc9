/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: the newest function of a name that a CUDA version has.
 */
#include <stdbool.h>
#include <string.h>

#include "driver/sim/libcuda/functions.h"

#define FLAG_LEGACY_STREAM 1u
#define FLAG_THREAD_STREAM 2u
#define SYMBOL_FOUND 0u
#define SYMBOL_UNKNOWN 1u
#define SYMBOL_NEWER 2u /* than the version */

const struct libcuda_symbol libcuda_more_symbols[] = {
#define MORE(exported, name, version) {name, version, (void (*)(void))exported, NULL},
#define THREAD(exported, name, version)                                                            \
    {name, version, (void (*)(void))exported, (void (*)(void))exported##_ptsz},
#define WAITS MORE
#include "driver/sim/libcuda/more.def"
#undef MORE
#undef THREAD
#undef WAITS
};
const size_t libcuda_more_symbol_count =
    sizeof(libcuda_more_symbols) / sizeof(libcuda_more_symbols[0]);

/* Keeps the newest of the rows with that name as of the version; says whether there are any. */
static bool search(const struct libcuda_symbol *rows, size_t count, const char *name, int version,
    const struct libcuda_symbol **newest)
{
    bool is_known = false;

    for (size_t at = 0; at < count; at++) {
        if (strcmp(rows[at].name, name) != 0)
            continue;
        is_known = true;
        if (rows[at].version <= version && (!*newest || rows[at].version > (*newest)->version))
            *newest = &rows[at];
    }
    return is_known;
}

pool_cu_result cuGetProcAddress_v2(
    const char *symbol, void **function, int version, uint64_t flags, pool_cu_enum *found)
{
    const struct libcuda_symbol *newest = NULL;
    void (*address)(void) = NULL;
    bool is_known;

    if (!symbol || !function || flags & ~(uint64_t)(FLAG_LEGACY_STREAM | FLAG_THREAD_STREAM))
        return POOL_CU_INVALID_VALUE;
    is_known = search(libcuda_table_symbols, libcuda_table_symbol_count, symbol, version, &newest);
    is_known |= search(libcuda_more_symbols, libcuda_more_symbol_count, symbol, version, &newest);
    is_known |=
        search(libcuda_absent_symbols, libcuda_absent_symbol_count, symbol, version, &newest);
    if (newest)
        address =
            flags & FLAG_THREAD_STREAM && newest->of_thread ? newest->of_thread : newest->function;
    memcpy(function, &address, sizeof(address));
    if (found)
        *found = newest ? SYMBOL_FOUND : is_known ? SYMBOL_NEWER : SYMBOL_UNKNOWN;
    return POOL_CU_SUCCESS;
}

pool_cu_result cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    pool_cu_enum found = SYMBOL_UNKNOWN;
    pool_cu_result code = cuGetProcAddress_v2(symbol, function, version, flags, &found);

    return !code && found ? POOL_CU_NOT_FOUND : code;
}

/*
 * Tables of functions that are not documented, by which NVIDIA's own libraries use the driver. The
 * first request is logged: it is how the runtime library begins.
 */
pool_cu_result cuGetExportTable(const void **table, const pool_cu_uuid *id)
{
    static atomic_bool is_said;

    if (!table || !id)
        return POOL_CU_INVALID_VALUE;
    if (!atomic_exchange(&is_said, true))
        libcuda_log("the undocumented functions of cuGetExportTable are not simulated: programs of "
                    "the CUDA runtime library (libcudart) cannot start without them; NVRTC, which "
                    "asks for them as well, works");
    *table = NULL;
    return POOL_CU_NOT_FOUND;
}
