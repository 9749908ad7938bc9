/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cofactors against Hasse's bound |#E - (q + 1)| <= 2 sqrt(q). Integers only; private to curve/.
 */
#ifndef DEVICEPOOL_CURVE_COFACTOR_H
#define DEVICEPOOL_CURVE_COFACTOR_H

#include "curve/curve.h"

/* Whether cofactor * order can be the number of points. */
bool curve_cofactor_is_possible(const pool_curve *curve, const uint64_t *cofactor);

/*
 * The only cofactor that is possible with this order: true and written. False when there are
 * several; false and *wrong set when there is none.
 */
bool curve_find_cofactor(const pool_curve *curve, uint64_t *cofactor, const char **wrong);

#endif
