/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of results on the host by OpenSSL's integers, independent of the library's arithmetic.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli.h"

/*
 * Whether `out` is the transform of `in` that the params describe (domain, direction, coset, order,
 * layout, batch); both are packed host arrays in standard form. The polynomial is evaluated at a
 * random point from its coefficients and, by the barycentric formula, from its values: a wrong
 * output passes with a probability of at most size/p. Uses all processors.
 */
int cli_check_ntt(const pool_ntt_params *params, const void *in, const void *out);

/* Computes the sum of a[i] b[i] over `count` packed elements in standard form. */
void cli_inner_product(
    const pool_field *field, const void *a, const void *b, uint64_t count, void *sum);

#endif
