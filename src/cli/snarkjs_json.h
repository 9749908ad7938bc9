/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements and points as snarkjs writes them in its JSON files: decimal numbers between quotes,
 * every level indented by one space, no newline at the end.
 */
#ifndef CLI_SNARKJS_JSON_H
#define CLI_SNARKJS_JSON_H

#include <stdio.h>

#include <devicepool.h>

/* An element in standard form, below the modulus. */
void snarkjs_write_element(FILE *file, const pool_field *field, const void *element);

/* A packed affine point in standard form as the member `name` and a comma: [x, y, 1], over an
 * extension each of them [c0, c1]. */
void snarkjs_write_point(
    FILE *file, const char *name, const pool_curve *curve, const uint8_t *point);

/* snarkjs' name of the pairing whose G1 this is. */
const char *snarkjs_curve_name(const pool_curve *g1);

#endif
