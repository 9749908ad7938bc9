/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device for tests of device text: any driver table (the machine's or the simulated one) and
 * NVRTC, with none of the rooms above them. What fails ends the program with a message, so tests
 * call it from their main thread without looking at results.
 */
#ifndef TESTS_DEVICE_H
#define TESTS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"
#include "driver/nvrtc.h"
#include "field/field.h"

struct device {
    struct driver *driver;
    const struct nvrtc *nvrtc;
    CUcontext context;
    int capability; /* 90 */
    int multiprocessors;
    bool is_simulated;
    char name[64];
};

/* One text that others include by its name. */
struct device_text {
    const char *name;
    const char *text;
};

/* What a compilation gave. */
struct device_image {
    char *bytes;
    size_t size;
    char *log;
    double seconds; /* of this process's processor time, whatever else runs */
};

/* Device 0 of the table (NULL: the machine's driver). False, with the reason printed, when there is
 * no device or no compiler. */
bool device_open(struct device *device, const pool_cuda_api *table);
/* The table of a simulated device. */
const pool_cuda_api *device_simulated(void);
void device_close(struct device *device);

/*
 * Compiles `source` with the library's device sources and `texts` (count of them) as headers, for
 * one chip, to machine code or PTX.
 */
struct device_image device_compile(const struct nvrtc *nvrtc, const char *source,
    const struct device_text *texts, size_t count, int capability, bool to_ptx);
void device_image_free(struct device_image *image);
/* The largest number right after or before `word` in the compiler's report. */
int device_reported(const char *log, const char *word, bool is_before);

CUmodule device_build(
    struct device *device, const char *source, const struct device_text *texts, size_t count);
void device_unload(struct device *device, CUmodule module);

CUdeviceptr device_alloc(struct device *device, size_t bytes);
CUdeviceptr device_upload(struct device *device, const void *data, size_t bytes);
void device_download(struct device *device, void *data, CUdeviceptr from, size_t bytes);
void device_free(struct device *device, CUdeviceptr memory);

/* Runs a kernel to its end; `arguments` as cuLaunchKernel takes them. Milliseconds between events
 * around it. */
float device_run(struct device *device, CUmodule module, const char *kernel, uint32_t blocks,
    uint32_t threads, void **arguments);

/* A text of the tests' own kernels (tests/device/<name>), and the field's generated one. */
const char *device_kernels(const char *name);
char *device_field_text(const pool_field *field, const char *prefix);

/*
 * What a compilation may take that took `seconds` when its budget was recorded: other machines are
 * slower and busy, and a recorded time of nothing is not one of zero.
 */
static inline double device_allowed_seconds(double seconds)
{
    return 0.5 + 6 * seconds;
}

#endif
