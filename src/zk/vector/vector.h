/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a vector function: what the files of this layer share.
 */
#ifndef VECTOR_VECTOR_H
#define VECTOR_VECTOR_H

#include <stdbool.h>

#include <devicepool/vector.h>

#include "pool/tuning/chip.h"
#include "vector/args.h"
#include "zk/operation/operation.h"
#include "zk/operation/pipeline.h"
#include "zk/vector/kernels.h"

/* ---- plan.c: pure ---------------------------------------------------------------------------- */

/* What the computation of a chunk allocates besides copies of its spans, in elements. */
struct vector_scratch {
    uint64_t constants;
    bool has_products; /* one per element */
    bool has_sums;     /* two halves of partial sums */
};

/* The constants that vector_store_powers_of_two stores. */
enum { VECTOR_POWER_CONSTANTS = VECTOR_POWERS_OF_TWO + 1 };

struct vector_job {
    uint64_t count;
    uint64_t element_bytes;
    uint64_t upload_stride[2]; /* of inputs in host memory; 0: none */
    uint64_t download_stride;  /* of an output in host memory; 0: none */
    bool has_checks;
    bool is_divisible; /* false: all elements are one chunk */
    struct vector_scratch scratch;
};

struct vector_plan {
    uint64_t chunk_elements;
    uint64_t bytes; /* of device memory */
};

/* False when the smallest chunk, whose bytes are plan->bytes, needs more than `limit`. */
bool vector_plan_make(const struct vector_tuning *tuning, const struct vector_job *job,
    uint64_t limit, struct vector_plan *plan);

/* log2 of the threads for `count` powers: enough for every chip, few enough for short sums. */
uint32_t vector_log_threads(uint64_t count);

/* ---- calls ----------------------------------------------------------------------------------- */

struct vector_function;

struct vector_call {
    struct operation_call frame;
    const struct vector_function *function;
    enum pool_vector_operation operation;
    /* The arguments; those that the function does not have are NULL or 0. */
    const pool_field *field;
    const void *scalar;
    const pool_span *a;
    const pool_span *b; /* a where both are the same */
    const pool_span *out;
    void *value;
    uint64_t rows, columns;
    uint64_t number[FIELD_MAX_LIMBS]; /* the scalar, in Montgomery form */
    uint64_t sum[FIELD_MAX_LIMBS];    /* of the chunks that have been evaluated, likewise */
    struct vector_plan plan;
    struct pipeline_chunk *chunk;
    pool_buffer *scratch; /* of the chunk */
    pool_buffer *constants;
};

/* What differs between the functions. */
enum {
    VECTOR_A = 1, /* the arguments */
    VECTOR_B = 2,
    VECTOR_OUT = 4,
    VECTOR_SCALAR = 8,
    VECTOR_IN_PLACE = 16, /* results may replace an argument */
    VECTOR_CHUNKS = 32    /* elements can be computed in chunks */
};
struct vector_function {
    uint32_t has;
    pool_status (*check)(struct vector_call *call);   /* of the arguments, once spans are checked */
    pool_status (*compute)(struct vector_call *call); /* enqueues the computation of the chunk */
};
pool_status vector_compute_elements(struct vector_call *call);
pool_status vector_compute_inverses(struct vector_call *call);
pool_status vector_check_reversal(struct vector_call *call);
pool_status vector_compute_reversal(struct vector_call *call);
pool_status vector_check_transposition(struct vector_call *call);
pool_status vector_compute_transposition(struct vector_call *call);
pool_status vector_compute_powers(struct vector_call *call);
/* Adds the chunk's value times point^first to the sum. */
pool_status vector_compute_value(struct vector_call *call);

/* The factors between forms, see apply.c. */
/* ---- vector.c -------------------------------------------------------------------------------- */

/* Copies elements in device memory, which keep their form. */
pool_status vector_copy(
    const struct exec_target *target, const pool_span *from, const pool_span *to);
/* The powers of R that the factors of a, b and out are in a sum, a product or a copy, other factors
 * left aside; 0 where there is none. */
struct vector_exponents {
    int a, b, out;
};
struct vector_exponents vector_factor_exponents(const struct vector_call *call);
/* invert.c: likewise, of the factor of an inverse. */
int vector_inverse_exponent(const struct vector_call *call);
/* A number of the caller's, in standard form, as Montgomery limbs (FIELD_MAX_LIMBS of them). */
pool_status vector_load_scalar(
    const pool_field *field, const void *packed, const char *name, uint64_t *limbs);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* The steps of struct operation. */
pool_status vector_plan_call(void *call, uint64_t limit);
pool_status vector_run(void *call);

/* Elements in the device's form, copied there. */
pool_status vector_upload_constants(
    struct vector_call *call, const void *packed, size_t count, CUdeviceptr *address);
/*
 * powers.c: stores number^(2^i) for i < VECTOR_POWERS_OF_TWO on the device, and one more element
 * after them; `number` and `more` are Montgomery limbs.
 */
pool_status vector_store_powers_of_two(
    struct vector_call *call, const uint64_t *number, const uint64_t *more, CUdeviceptr *address);
struct vector_arg vector_arg_of(const pool_field *field, const pool_span *span);
/* The predicted seconds of a kernel with that many products and accesses to memory per element. */
double vector_seconds(
    const struct exec_target *target, uint64_t count, double products, double accesses);
/* How many of the steps of each thread, which take `seconds` together, a launch has. */
uint64_t vector_slice(const struct exec_target *target, uint64_t steps, double seconds);
/* Fills in kernel, stream and blocks for `items` threads; see slices_launch. */
pool_status vector_launch(const struct exec_target *target, const char *name, uint64_t items,
    struct module_launch *launch);

#endif
