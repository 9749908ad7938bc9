/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of libcuda.so.1 over simulated devices: the driver's ABI for programs that were built
 * for a GPU.
 *
 * - exports.c: the functions of the library's table of driver functions, one exported for each row.
 * - memory.c, execution.c: functions that programs use beside these, made of those of the table.
 * - library.c: cuLibrary… and cuKernel….
 * - absent.c: the driver's other functions, which answer CUDA_ERROR_NOT_SUPPORTED.
 * - lookup.c: cuGetProcAddress.
 * - open.c: opens the simulated devices at the first call, and writes the log.
 */
#ifndef SIM_LIBCUDA_H
#define SIM_LIBCUDA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/driver.h>

#define LIBCUDA_EXPORT __attribute__((visibility("default")))

/* The handle of the stream that belongs to the calling thread: CU_STREAM_PER_THREAD. */
#define LIBCUDA_THREAD_STREAM ((CUstream)2)

/* The table of the simulated devices that the environment variable DEVICEPOOL_SIM describes. */
const pool_cuda_api *libcuda_table(void);

/* Tells the user once that the driver's function is not simulated; returns 801. */
pool_cu_result libcuda_absent(const char *name, atomic_bool *is_said);
/* Writes a line to standard error unless the environment variable DEVICEPOOL_SIM_QUIET is 1. */
void libcuda_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The function in the current context of what may be a CUkernel; other handles are returned as they
 * are. NULL, which the driver refuses, when it cannot be loaded there. */
CUfunction libcuda_function(CUfunction handle);
/* An image as the table takes it: what a wrapper of the runtime library points to. */
const void *libcuda_image(const void *image);

/* What cuGetProcAddress returns: rows of an exported name without suffix, the CUDA version as of
 * which it exists, and the function; another one for programs with a default stream per thread. */
struct libcuda_symbol {
    const char *name;
    int version;
    void (*function)(void);
    void (*of_thread)(void); /* NULL: the same */
};
extern const struct libcuda_symbol libcuda_table_symbols[], libcuda_more_symbols[],
    libcuda_absent_symbols[];
extern const size_t libcuda_table_symbol_count, libcuda_more_symbol_count,
    libcuda_absent_symbol_count;

#endif
