/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a vector function: what the files of this layer share.
 */
#ifndef VECTOR_VECTOR_H
#define VECTOR_VECTOR_H

#include "memory/exec.h"
#include "ntt/ntt.h"

struct vector_call {
    const char *name; /* of the function */
    pool_exec exec;
    struct exec_target target;
    uint64_t first; /* index of the first element in the caller's spans */
    struct memory_operand in[2];
    struct memory_operand out;
    pool_buffer *scratch;
    pool_buffer *constants;
};

/* `exec` copied and checked, device and stream found. */
pool_status vector_begin(
    const pool_field *field, const pool_exec *exec, struct vector_call *call, const char *name);
pool_status vector_check_spans(
    const struct vector_call *call, const pool_span *in, const pool_span *out, int same_is_allowed);
pool_status vector_upload(struct vector_call *call, int index, const pool_span *span);
/* Both for functions of one vector, whose spans they check. */
pool_status vector_begin_unary(const pool_field *field, const pool_exec *exec,
    struct vector_call *call, const pool_span *a, const pool_span *out, int same_is_allowed,
    const char *name);
/* Uploads the argument and allocates the result. */
pool_status vector_upload_unary(struct vector_call *call, const pool_span *a, const pool_span *out);
/* Delivers (unless out is NULL), gives everything back, waits. */
pool_status vector_end(struct vector_call *call, const pool_span *out, pool_status status);

/* Elements in the device's form, copied there. */
pool_status vector_upload_constants(
    struct vector_call *call, const void *packed, size_t count, CUdeviceptr *address);
/*
 * Stores number^(2^i) for i < NTT_POWERS_OF_TWO on the device, and one more element after them;
 * `number` and `more` are Montgomery limbs.
 */
pool_status vector_store_powers_of_two(
    struct vector_call *call, const uint64_t *number, const uint64_t *more, CUdeviceptr *address);
/* Bytes of what it stores. */
uint64_t vector_powers_bytes(const pool_field *field, uint64_t count);
/* log2 of the threads for `count` powers: enough for every chip, few enough for short sums. */
uint32_t vector_log_threads(uint64_t count);
/* A number of the caller's, in standard form, as Montgomery limbs (FIELD_MAX_LIMBS of them). */
pool_status vector_load_scalar(
    const pool_field *field, const void *packed, const char *name, uint64_t *limbs);
/* Fills in kernel, stream and blocks for `items` threads. */
pool_status vector_launch(
    const struct vector_call *call, const char *name, uint64_t items, struct module_launch *launch);

/* What a call is given; those that it does not take are NULL, and b is a where both are the same.
 */
struct vector_spans {
    const pool_span *a;
    const pool_span *b;
    const pool_span *out;
};

/* A call of its own on elements `first` and following ones. */
typedef pool_status (*vector_chunk_function)(
    struct vector_call *call, const struct vector_spans *spans, uint64_t first, void *user);
/* Bytes of device memory that a step allocates for `count` elements besides copies of its spans;
 * not less for more elements. */
typedef uint64_t (*ntt_vector_bytes)(const pool_field *field, uint64_t count);
/*
 * One step, or several where host memory is long or exec.memory_limit is small; at least one, also
 * without elements. Reports progress, and POOL_ERR_CANCELLED.
 */
pool_status vector_run_chunks(const struct vector_call *call, const struct vector_spans *spans,
    ntt_vector_bytes bytes, vector_chunk_function step, void *user);
/* For operations that have one step: refuses more copies than exec.memory_limit allows. */
pool_status vector_check_spans_limit(
    const struct vector_call *call, const struct vector_spans *spans);
/* For tests: what is long; 0 goes back to the usual. */
void vector_chunk_bytes_set(uint64_t bytes);

#endif
