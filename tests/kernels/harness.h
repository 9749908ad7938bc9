/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harness of kernel tests. A stage is a kernel, or a few kernels that belong together; a file
 * of this directory declares the stages of one operation in a table, a line each: its name, how it
 * is launched, the plain C that computes the same, and sizes. A check uploads the arguments, runs
 * the stage once, compares every result with the reference and, with --bench, times the stage by
 * events. Only results that were right are timed.
 *
 * Failures of the library end the program with a message; a wrong result is reported and counted.
 */
#ifndef TESTS_KERNELS_HARNESS_H
#define TESTS_KERNELS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool.h>

#include "zk/curve/curve.h"

struct harness {
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
    pool_event *start, *end;
    char **patterns; /* stages whose name and subject contain one of them; none: all */
    int pattern_count;
    uint32_t multiprocessors;
    bool is_simulated;
    bool is_timing;
    bool is_listing;
    unsigned checked, wrong;
};

/* Ends the program with the library's message when a call has failed. */
#define MUST(call) harness_must((call), #call)
void harness_must(pool_status status, const char *call);
void *harness_memory(size_t count, size_t bytes);

/* The number of elements that suits the device: simulated ones are slow. */
static inline uint64_t harness_size(const struct harness *harness, uint64_t simulated, uint64_t gpu)
{
    return harness->is_simulated ? simulated : gpu;
}

/* ---- modules of the tests' own kernels ------------------------------------------------------- */

/* Compiles tests/kernels/<file>, after `defines` ("": none), with one generated header. */
pool_module *harness_compile(struct harness *harness, const char *file, const char *defines,
    const char *header, const char *text);

/* ---- one stage on one input ------------------------------------------------------------------ */

enum { STAGE_BUFFERS = 24, STAGE_POISON = 0xa5 };

struct stage {
    struct harness *harness;
    char name[64];
    char subject[96];
    pool_buffer *buffers[STAGE_BUFFERS];
    unsigned count;
    bool is_wrong;
};

/* False if the command line does not select it, or only lists it. */
bool stage_begin(struct harness *harness, struct stage *stage, const char *name,
    const char *subject, ...) __attribute__((format(printf, 4, 5)));
/* Frees the memory, reports the result. */
void stage_end(struct stage *stage);

/* Device memory until stage_end; new memory is filled with STAGE_POISON. */
CUdeviceptr stage_alloc(struct stage *stage, size_t bytes);
CUdeviceptr stage_upload(struct stage *stage, const void *data, size_t bytes);
void stage_write(struct stage *stage, CUdeviceptr to, const void *data, size_t bytes);
void stage_download(struct stage *stage, void *data, CUdeviceptr from, size_t bytes);

/* Enqueues the stage on harness->stream. */
typedef pool_status (*stage_launch)(struct harness *harness, void *user);
void stage_run(struct stage *stage, stage_launch launch, void *user);

/* Compares `count` results of `bytes` bytes each; reports the first wrong one. */
void stage_compare(struct stage *stage, const char *what, CUdeviceptr got, const void *expected,
    size_t count, size_t bytes);
void stage_compare_host(struct stage *stage, const char *what, const void *got,
    const void *expected, size_t count, size_t bytes);
/* For results that are compared in another way. */
void stage_fail(struct stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* With --bench, unless the result was wrong: the median over several runs; `items` per run. */
void stage_time(struct stage *stage, stage_launch launch, void *user, double items);
/* The same, with `prepare` run before each launch and not timed. */
void stage_time_prepared(
    struct stage *stage, stage_launch prepare, stage_launch launch, void *user, double items);

/* A launch of one kernel, as a stage_launch whose `user` this is. */
struct kernel_launch {
    pool_kernel *kernel;
    uint64_t blocks;
    uint32_t threads;
    uint32_t shared_bytes;
    void **arguments;
    uint32_t argument_count;
};
pool_status kernel_launch(struct harness *harness, void *user);
/* A kernel of a module of the tests. */
pool_kernel *kernel_of(pool_module *module, const char *name);

/* ---- field elements -------------------------------------------------------------------------- */

/* The same number for the same seed and index, below the modulus; `limbs` of field->limbs. */
void element_random(const pool_field *field, uint64_t seed, uint64_t index, uint64_t *limbs);
/* In the form that kernels compute with, from and to Montgomery limbs. */
void element_pack(const pool_field *field, void *packed, const uint64_t *montgomery);
void element_unpack(const pool_field *field, uint64_t *montgomery, const void *packed);
/* Montgomery limbs of `count` elements, of which the first are 0, 1 and -1. */
uint64_t *elements_random(const pool_field *field, uint64_t seed, size_t count);
/* The same packed, `stride` bytes apart. */
uint8_t *elements_pack(
    const pool_field *field, const uint64_t *elements, size_t count, size_t stride);

/* Limbs as kernels leave them, perhaps not below the modulus but below twice it. */
void element_reduce(const pool_field *field, uint64_t *limbs);
/* Compares elements `stride` bytes apart with Montgomery limbs; lazy ones modulo the modulus. Bytes
 * between elements must be as stage_alloc leaves them. */
void stage_compare_elements(struct stage *stage, const char *what, const pool_field *field,
    CUdeviceptr got, size_t stride, const uint64_t *expected, size_t count, bool is_lazy);

/* ---- points ---------------------------------------------------------------------------------- */

/* `count` points of the curve's group, the same for the same seed; packed affine in Montgomery
 * form, as kernels read them, and as the references use them. */
struct points {
    uint64_t count;
    size_t bytes;
    uint8_t *packed;
    struct curve_jacobian *jacobian;
};
struct points points_random(const pool_curve *curve, uint64_t seed, uint64_t count);
void points_free(struct points *points);

/* A point as kernels write it: layout POOL_POINT_AFFINE or POOL_POINT_XYZZ, Montgomery form,
 * coordinates below 2p where the field has lazy forms. */
void point_unpack(const pool_curve *curve, pool_point_layout layout, const void *packed,
    struct curve_jacobian *point);
/* Compares points as elements of the group. */
void stage_compare_points(struct stage *stage, const char *what, const pool_curve *curve,
    pool_point_layout layout, CUdeviceptr got, const struct curve_jacobian *expected, size_t count);

/* ---- operations ------------------------------------------------------------------------------ */

void check_field_stages(struct harness *harness);
void check_chain_stages(struct harness *harness);
void check_curve_stages(struct harness *harness);
void check_curve_vectors(struct harness *harness);
void check_vector_stages(struct harness *harness);
void check_ntt_stages(struct harness *harness);
void check_poseidon_stages(struct harness *harness);
void check_msm_stages(struct harness *harness);

#endif
