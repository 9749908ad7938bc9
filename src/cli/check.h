/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to compare results with, computed on the host by OpenSSL's numbers: none of the library's
 * arithmetic takes part in them.
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli.h"

/*
 * Whether `out` is the transform of `in` that the params describe (domain, direction, coset, order,
 * layout, batch); both are packed host arrays in standard form. The polynomial is evaluated at a
 * random point from its coefficients and, by the barycentric formula, from its values: a wrong
 * output survives with a probability of at most size/p. Uses all processors.
 */
int cli_check_transform(const pool_ntt_params *params, const void *in, const void *out);

/* The sum of a[i] b[i] for `count` packed elements of the field, in standard form, into `sum`. */
void cli_dot(const pool_field *field, const void *a, const void *b, uint64_t count, void *sum);

#endif
