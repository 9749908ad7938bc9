/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning parameters: what the plans of operations choose by measurement, such as the window bits of
 * an MSM of a given size. The defaults were measured on one kind of chip; `devicepool tune`
 * measures on the present one and writes what is faster there to a file beside the cached kernels,
 * which pool_create reads. docs/performance.md describes the file and the command. Parameters
 * change durations and the use of memory, never results.
 */
#ifndef DEVICEPOOL_TUNING_H
#define DEVICEPOOL_TUNING_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A complete set of parameters, and the chip that they belong to: its name, compute capability and
 * number of multiprocessors, and the version of the driver. One thread at a time may use it.
 */
typedef struct pool_tuning pool_tuning;

/* Where the parameters of a device come from. */
typedef enum pool_tuning_source {
    POOL_TUNING_DEFAULT = 0,
    POOL_TUNING_FILE = 1,
    POOL_TUNING_GIVEN = 2 /* pool_params.tuning */
} pool_tuning_source;

/* Where the tuning of a device comes from. Set struct_size before the call. */
typedef struct pool_tuning_info {
    size_t struct_size;
    pool_tuning_source source;
    uint32_t changed;  /* numbers that are not the defaults */
    char path[256];    /* of the file that was read or refused; "": none */
    char message[256]; /* why a file, or a line of it, was not used, or "" */
} pool_tuning_info;

/* Fills `info`, whose struct_size must be set. No driver call. Any thread. */
POOL_API pool_status pool_device_get_tuning(pool_device *device, pool_tuning_info *info);

/*
 * Creates a copy of the parameters that a device uses, for its chip. NULL: the defaults, for every
 * chip; as pool_params.tuning they turn tuning parameters off. The caller destroys it.
 */
POOL_API pool_status pool_tuning_create(pool_device *device, pool_tuning **tuning);

/* Sets *tuning to NULL; NULL and a pointer to NULL are no-ops. Pools have their own copy. */
POOL_API void pool_tuning_destroy(pool_tuning **tuning);

/*
 * Changes or reads a parameter. POOL_ERR_NOT_FOUND: no parameter has this name.
 * POOL_ERR_INVALID_ARGUMENT: the value is not between its min and max.
 */
POOL_API pool_status pool_tuning_set(pool_tuning *tuning, const char *name, uint32_t value);
POOL_API pool_status pool_tuning_get(const pool_tuning *tuning, const char *name, uint32_t *value);

/* A parameter. The name is "msm.8.window_bits.20": operation, words of an element or coordinate,
 * what it is, log2 of the size; it and the candidates are valid during the visit only. */
typedef struct pool_tuning_number {
    size_t struct_size;
    const char *name;
    uint32_t value;
    uint32_t default_value;
    uint32_t min;
    uint32_t max;
    const uint32_t *candidates; /* values that devicepool tune tries one by one */
    uint32_t candidate_count;
} pool_tuning_number;

/* Calls `visit` for each parameter, in the order of the file, until it returns non-zero. */
typedef int (*pool_tuning_visitor)(void *user, const pool_tuning_number *number);
POOL_API pool_status pool_tuning_each(
    const pool_tuning *tuning, pool_tuning_visitor visit, void *user);

/*
 * Writes the path of the file that pool_create reads for the device's chip to `path`, which has
 * `size` bytes, whether it exists or not: the file of the setting DEVICEPOOL_TUNING, or one in the
 * cache directory. POOL_ERR_UNSUPPORTED, and the message says why: DEVICEPOOL_TUNING=off, or the
 * cache is disabled.
 */
POOL_API pool_status pool_tuning_path(pool_device *device, char *path, size_t size);

/*
 * Write replaces the file at `path` in one step: there is never a part of a file. NULL: the file
 * that DEVICEPOOL_TUNING names, or the one in the cache directory, which is created. Read logs and
 * skips lines that it does not understand. POOL_ERR_INVALID_ARGUMENT: the parameters are for every
 * chip, or contradict each other. POOL_ERR_BAD_DATA: the file does not begin with a chip, or its
 * parameters contradict each other. POOL_ERR_UNSUPPORTED, for write without a path: the cache is
 * disabled. POOL_ERR_NOT_FOUND, POOL_ERR_IO.
 */
POOL_API pool_status pool_tuning_write(const pool_tuning *tuning, const char *path);
POOL_API pool_status pool_tuning_read(const char *path, pool_tuning **tuning);

#ifdef __cplusplus
}
#endif

#endif
