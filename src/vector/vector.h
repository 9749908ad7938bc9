/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a vector function, as vector.c and more.c share it.
 */
#ifndef NTT_VECTOR_H
#define NTT_VECTOR_H

#include "memory/exec.h"
#include "ntt/ntt.h"

struct ntt_vector_call {
    const char *name; /* of the function */
    pool_exec exec;
    struct ntt_place place;
    uint64_t first; /* index of the first element in the caller's spans */
    struct ntt_operand in[2];
    struct ntt_operand out;
    pool_buffer *scratch;
    pool_buffer *constants;
};

/* `exec` copied and checked, device and stream found. */
pool_status ntt_vector_begin(
    const pool_field *field, const pool_exec *exec, struct ntt_vector_call *call, const char *name);
pool_status ntt_vector_check(const struct ntt_vector_call *call, const pool_span *in,
    const pool_span *out, int same_is_allowed);
pool_status ntt_vector_bring(struct ntt_vector_call *call, int index, const pool_span *span);
/* Delivers (unless out is NULL), gives everything back, waits. */
pool_status ntt_vector_end(struct ntt_vector_call *call, const pool_span *out, pool_status status);

/* Elements in the device's form, copied there. */
pool_status ntt_vector_constants(
    struct ntt_vector_call *call, const void *packed, size_t count, CUdeviceptr *address);
/* A number of the caller's, in standard form, as Montgomery limbs (FIELD_MAX_LIMBS of them). */
pool_status ntt_vector_scalar(
    const pool_field *field, const void *packed, const char *name, uint64_t *limbs);
/* Fills in kernel, stream and blocks for `items` threads. */
pool_status ntt_vector_launch(const struct ntt_vector_call *call, const char *name, uint64_t items,
    struct module_launch *launch);

/* What a call is given; those that it does not take are NULL, and b is a where both are the same.
 */
struct ntt_vector_spans {
    const pool_span *a;
    const pool_span *b;
    const pool_span *out;
};

/* A call of its own on elements `first` and following ones. */
typedef pool_status (*ntt_vector_step)(
    struct ntt_vector_call *call, const struct ntt_vector_spans *spans, uint64_t first, void *user);
/* Bytes of device memory that a step allocates for `count` elements besides copies of its spans;
 * not less for more elements. */
typedef uint64_t (*ntt_vector_bytes)(const pool_field *field, uint64_t count);
/*
 * One step, or several where host memory is long or exec.memory_limit is small; at least one, also
 * without elements. Reports progress, and POOL_ERR_CANCELLED.
 */
pool_status ntt_vector_in_parts(const struct ntt_vector_call *call,
    const struct ntt_vector_spans *spans, ntt_vector_bytes bytes, ntt_vector_step step, void *user);
/* For operations that have one step: refuses more copies than exec.memory_limit allows. */
pool_status ntt_vector_check_limit(
    const struct ntt_vector_call *call, const struct ntt_vector_spans *spans);
/* For tests: what is long; 0 goes back to the usual. */
void ntt_vector_part_bytes_set(uint64_t bytes);

#endif
