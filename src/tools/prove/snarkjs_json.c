/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "snarkjs_json.h"

void snarkjs_write_element(FILE *file, const pool_field *field, const void *element)
{
    char string[POOL_FIELD_STRING_BYTES] = "";

    pool_field_format(
        field, POOL_FORM_STANDARD, element, POOL_DECIMAL, string, sizeof(string), NULL);
    fprintf(file, "\"%s\"", string);
}

static void write_coordinate(FILE *file, const pool_curve *curve, const uint8_t *coordinate)
{
    const pool_field *field = pool_curve_base_field(curve);

    if (pool_curve_degree(curve) == 1) {
        snarkjs_write_element(file, field, coordinate);
        return;
    }
    fputs("[\n   ", file);
    snarkjs_write_element(file, field, coordinate);
    fputs(",\n   ", file);
    snarkjs_write_element(file, field, coordinate + pool_field_element_bytes(field));
    fputs("\n  ]", file);
}

void snarkjs_write_point(
    FILE *file, const char *name, const pool_curve *curve, const uint8_t *point)
{
    static const uint8_t zero[2 * POOL_FIELD_MAX_BYTES], one[2 * POOL_FIELD_MAX_BYTES] = {1};
    size_t bytes = pool_curve_coordinate_bytes(curve);
    int is_infinity = !memcmp(point, zero, bytes) && !memcmp(point + bytes, zero, bytes);

    if (name)
        fprintf(file, " \"%s\": ", name);
    fputs("[\n  ", file);
    write_coordinate(file, curve, point);
    fputs(",\n  ", file);
    write_coordinate(file, curve, is_infinity ? one : point + bytes);
    fputs(",\n  ", file);
    write_coordinate(file, curve, is_infinity ? zero : one);
    fputs(name ? "\n ],\n" : "\n ]", file);
}

const char *snarkjs_curve_name(const pool_curve *g1)
{
    static const char *const names[][2] = {
        {"bn254_g1", "bn128"}, {"bls12_381_g1", "bls12381"}, {"bls12_377_g1", "bls12377"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(pool_curve_name(g1), names[i][0]) == 0)
            return names[i][1];
    return pool_curve_name(g1);
}
