/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes elements and points in the format of snarkjs' JSON files: quoted decimal numbers, one
 * space of indentation per level, no newline at the end.
 */
#ifndef CLI_SNARKJS_JSON_H
#define CLI_SNARKJS_JSON_H

#include <stdio.h>

#include <devicepool.h>

/* Writes a canonical element in standard form. */
void snarkjs_write_element(FILE *file, const pool_field *field, const void *element);

/* Writes a packed affine point in standard form as the member `name` followed by a comma: [x, y,
 * 1], where each coordinate is [c0, c1] over an extension. NULL: the array alone. */
void snarkjs_write_point(
    FILE *file, const char *name, const pool_curve *curve, const uint8_t *point);

/* Returns snarkjs' name of the pairing with this G1. */
const char *snarkjs_curve_name(const pool_curve *g1);

#endif
