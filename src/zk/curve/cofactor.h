/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks cofactors by Hasse's bound |#E - (q + 1)| <= 2 sqrt(q), on integers. Private to curve/.
 */
#ifndef CURVE_COFACTOR_H
#define CURVE_COFACTOR_H

#include "zk/curve/curve.h"

/* Whether cofactor * order is a possible number of points. */
bool curve_cofactor_is_possible(const pool_curve *curve, const uint64_t *cofactor);

/*
 * Computes the cofactor if it is unique for this order. Returns false if there are several, and
 * false with *wrong set if there is none.
 */
bool curve_find_cofactor(const pool_curve *curve, uint64_t *cofactor, const char **wrong);

#endif
