/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests with vectors of points: coordinates and points as JSON, and files of them. A string
 * that is not a coordinate ends the program.
 */
#ifndef TESTS_SUPPORT_POINT_VECTORS_H
#define TESTS_SUPPORT_POINT_VECTORS_H

#include <devicepool/curve.h>

#include "support/vectors.h"

/* Files of {"P", "scalar", "Q"} with Q = scalar P, made with Sage. */
static const struct {
    const char *curve, *file;
} sage_sets[] = {
    {"bn254_g1", "curves/tv_BN254_Snarks_scalar_mul_G1_254bit.json"},
    {"bn254_g2", "curves/tv_BN254_Snarks_scalar_mul_G2_254bit.json"},
    {"bls12_381_g1", "curves/tv_BLS12_381_scalar_mul_G1_255bit.json"},
    {"bls12_381_g2", "curves/tv_BLS12_381_scalar_mul_G2_255bit.json"},
    {"bls12_377_g1", "curves/tv_BLS12_377_scalar_mul_G1_253bit.json"},
    {"bw6_761_g1", "curves/tv_BW6_761_scalar_mul_G1_377bit.json"},
    {"pallas", "curves/tv_Pallas_scalar_mul_G1_255bit.json"},
    {"vesta", "curves/tv_Vesta_scalar_mul_G1_255bit.json"},
};

enum { SAGE_SETS = sizeof(sage_sets) / sizeof(sage_sets[0]), SAGE_VECTORS = 40 };

static inline void read_element(const pool_field *field, const char *text, uint8_t *out)
{
    if (pool_field_parse(field, text, POOL_FORM_STANDARD, out)) {
        fprintf(stderr, "%s: %s\n", text, pool_last_error()->message);
        abort();
    }
}

/* "0x…", or {"c0": "0x…", "c1": "0x…"}, to a packed coordinate in standard form. */
static inline void read_coordinate(const pool_curve *curve, const cJSON *json, uint8_t *out)
{
    const pool_field *field = pool_curve_base_field(curve);

    if (cJSON_IsString(json)) {
        read_element(field, json->valuestring, out);
        return;
    }
    read_element(field, json_text(json, "c0"), out);
    read_element(field, json_text(json, "c1"), out + pool_field_element_bytes(field));
}

/* {"x": …, "y": …} under `key`, to a packed affine point in standard form. */
static inline void read_point(
    const pool_curve *curve, const cJSON *object, const char *key, uint8_t *out)
{
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(object, key);

    read_coordinate(curve, cJSON_GetObjectItemCaseSensitive(json, "x"), out);
    read_coordinate(curve, cJSON_GetObjectItemCaseSensitive(json, "y"),
        out + pool_curve_coordinate_bytes(curve));
}

#endif
