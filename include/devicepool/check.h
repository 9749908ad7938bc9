/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations check their inputs for. All checks are off unless they are requested: unchecked
 * bad input gives a wrong result and does no other harm.
 */
#ifndef DEVICEPOOL_CHECK_H
#define DEVICEPOOL_CHECK_H

/*
 * Check flags of elements, scalars and points, to be combined by |. The first bad item ends the
 * operation with POOL_ERR_BAD_DATA, whose message has its index. Functions accept the flags that
 * apply to their data and refuse all others with POOL_ERR_INVALID_ARGUMENT.
 */
#define POOL_CHECK_NONE 0u
#define POOL_CHECK_CANONICAL 1u /* elements are below the modulus, scalars below the order */
#define POOL_CHECK_ON_CURVE 2u  /* points: canonical coordinates and the curve's equation */
#define POOL_CHECK_SUBGROUP 6u  /* points: order * P = infinity; includes POOL_CHECK_ON_CURVE */
#define POOL_CHECK_REDUCE 8u    /* scalars only: reduced modulo the order instead of checked */

#endif
