/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs and outputs of operations: an array of equal items in host or device memory. Each
 * operation says what an item is (an element, a state, a point, a leaf) and how many elements it
 * has. Also the checks of their elements.
 */
#ifndef DEVICEPOOL_SPAN_H
#define DEVICEPOOL_SPAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an element x of a field is represented in memory; field.h defines R. */
typedef enum pool_form {
    POOL_FORM_STANDARD = 0,  /* x itself */
    POOL_FORM_MONTGOMERY = 1 /* x * R mod p */
} pool_form;

/* The memory space of a span. */
typedef enum pool_memory_space {
    POOL_MEMORY_HOST = 0,   /* any host memory, pageable or pinned */
    POOL_MEMORY_DEVICE = 1, /* memory of the device that the operation runs on */
    /*
     * For operations over several devices: `data` is an array of spans in POOL_MEMORY_DEVICE, the
     * i-th one in memory of the i-th device, all in the same form. Their counts add up to `count`;
     * `stride` is 0. The operation says which items each device has.
     */
    POOL_MEMORY_SHARDED = 2
} pool_memory_space;

/*
 * A plain value that owns nothing; operations copy it. Inputs are only read. Items must not
 * overlap; input and output may be the same memory only where the operation says so.
 */
typedef struct pool_span {
    void *data;      /* first item: a host pointer, or a device address cast to a pointer; may be
                        NULL when count is 0. POOL_MEMORY_SHARDED: an array of pool_span */
    uint64_t count;  /* items */
    uint64_t stride; /* bytes between the starts of adjacent items; 0: packed */
    pool_form form;  /* of the field elements inside */
    pool_memory_space space; /* of `data` */
} pool_span;

/*
 * Check flags for elements, scalars and points, combined by |. Checks are off unless they are
 * requested; invalid input that is not checked gives a wrong result and does no other harm. An
 * invalid item fails the operation with POOL_ERR_BAD_DATA; the message has the index of the first
 * one. Functions accept the flags that apply to their data; others fail with
 * POOL_ERR_INVALID_ARGUMENT.
 */
typedef enum pool_check_flag {
    POOL_CHECK_NONE = 0,
    POOL_CHECK_CANONICAL = 1, /* elements are below the modulus, scalars below the order */
    POOL_CHECK_ON_CURVE = 2,  /* points: canonical coordinates and the curve's equation */
    POOL_CHECK_SUBGROUP = 6,  /* points: order * P = infinity; includes POOL_CHECK_ON_CURVE */
    POOL_CHECK_REDUCE = 8     /* scalars only: reduced modulo the order instead of checked */
} pool_check_flag;

#ifdef __cplusplus
}
#endif

#endif
