/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of the inputs of operations. Checks are off unless they are requested; invalid input
 * that is not checked gives a wrong result and does no other harm.
 */
#ifndef DEVICEPOOL_CHECK_H
#define DEVICEPOOL_CHECK_H

/*
 * Check flags for elements, scalars and points, combined by |. An invalid item fails the operation
 * with POOL_ERR_BAD_DATA; the message has the index of the first one. Functions accept the flags
 * that apply to their data; others fail with POOL_ERR_INVALID_ARGUMENT.
 */
typedef enum pool_check_flag {
    POOL_CHECK_NONE = 0,
    POOL_CHECK_CANONICAL = 1, /* elements are below the modulus, scalars below the order */
    POOL_CHECK_ON_CURVE = 2,  /* points: canonical coordinates and the curve's equation */
    POOL_CHECK_SUBGROUP = 6,  /* points: order * P = infinity; includes POOL_CHECK_ON_CURVE */
    POOL_CHECK_REDUCE = 8     /* scalars only: reduced modulo the order instead of checked */
} pool_check_flag;

#endif
