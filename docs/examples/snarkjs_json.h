/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements and points as snarkjs writes them in its JSON files.
 */
#ifndef SNARKJS_JSON_H
#define SNARKJS_JSON_H

#include <devicepool.h>

#include <stdio.h>
#include <string.h>

/* An element of standard form as a decimal number between quotes. */
static void write_number(FILE *file, const uint8_t *element, size_t width)
{
    uint8_t rest[POOL_FIELD_MAX_BYTES];
    char digits[3 * POOL_FIELD_MAX_BYTES];
    size_t at = sizeof(digits);
    unsigned any;

    memcpy(rest, element, width);
    digits[--at] = 0;
    do {
        unsigned remainder = 0;

        any = 0;
        for (size_t i = width; i-- > 0;) {
            unsigned value = remainder << 8 | rest[i];

            rest[i] = (uint8_t)(value / 10);
            remainder = value % 10;
            any |= rest[i];
        }
        digits[--at] = (char)('0' + remainder);
    } while (any);
    fprintf(file, "\"%s\"", digits + at);
}

/* [x, y, 1], over an extension each of them [c0, c1]. */
static void write_point(FILE *file, const char *name, const pool_curve *curve, const uint8_t *point)
{
    size_t width = pool_field_element_bytes(pool_curve_base_field(curve));
    int is_extension = pool_curve_degree(curve) == 2;

    fprintf(file, " \"%s\": [", name);
    for (int i = 0; i < 2; i++, point += pool_curve_coordinate_bytes(curve)) {
        fprintf(file, "\n  %s", is_extension ? "[" : "");
        write_number(file, point, width);
        if (is_extension) {
            fprintf(file, ", ");
            write_number(file, point + width, width);
        }
        fprintf(file, "%s,", is_extension ? "]" : "");
    }
    fprintf(file, "\n  %s\n ],\n", is_extension ? "[\"1\", \"0\"]" : "\"1\"");
}

#endif
