/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's other functions: each returns CUDA_ERROR_NOT_SUPPORTED, and says once which it is.
 */
#include <stdbool.h>

#include "driver/sim/libcuda/libcuda.h"

pool_cu_result libcuda_absent(const char *name, atomic_bool *is_said)
{
    if (!atomic_exchange(is_said, true))
        libcuda_log("%s is not simulated; it returns CUDA_ERROR_NOT_SUPPORTED (801)", name);
    return POOL_CU_NOT_SUPPORTED;
}

/* The parameters do not matter: a caller passes and removes them. */
#define ABSENT(exported, name, version)                                                            \
    LIBCUDA_EXPORT pool_cu_result exported(void);                                                  \
    pool_cu_result exported(void)                                                                  \
    {                                                                                              \
        static atomic_bool is_said;                                                                \
                                                                                                   \
        return libcuda_absent(#exported, &is_said);                                                \
    }
#include "driver/sim/libcuda/absent.def"
#undef ABSENT

const struct libcuda_symbol libcuda_absent_symbols[] = {
#define ABSENT(exported, name, version) {name, version, (void (*)(void))exported, NULL},
#include "driver/sim/libcuda/absent.def"
#undef ABSENT
};
const size_t libcuda_absent_symbol_count =
    sizeof(libcuda_absent_symbols) / sizeof(libcuda_absent_symbols[0]);
