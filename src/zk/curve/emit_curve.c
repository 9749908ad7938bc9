/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the device code of a curve: see emit_curve.h. */
#include "zk/curve/emit_curve.h"

#include "base/alloc.h"
#include "base/status.h"
#include "zk/field/emit_field.h"

#include <stdio.h>

/* An initialiser of words: at most "{{" + 12 characters per word + "}}", twice. */
enum { MAX_INITIALISER = 2 * (FIELD_MAX_WORDS * 12 + 8) + 8 };

/* The case of the coefficient a in ptx/ec/. */
static const char *kind_of_a(const struct curve_emit_params *params)
{
    const pool_field *field = params->field;
    uint64_t minus_three[FIELD_MAX_LIMBS];
    if (params->a == NULL)
        return "EC_A_ZERO";
    if (params->nonresidue != 0 && !field_is_zero(field, params->a + field->limbs))
        return "EC_A_GENERAL";
    field_set_integer(field, minus_three, -3);
    if (field_is_zero(field, params->a))
        return "EC_A_ZERO";
    return field_equal(field, params->a, minus_three) ? "EC_A_MINUS_3" : "EC_A_GENERAL";
}

static void write_element(
    const pool_field *field, const uint64_t *montgomery, char *initialiser, size_t size)
{
    uint64_t standard[FIELD_MAX_LIMBS];
    const uint64_t *limbs = montgomery;
    if ((field->flags & FIELD_DEVICE_STANDARD) != 0) {
        field_from_montgomery(field, standard, montgomery);
        limbs = standard;
    }
    size_t length = (size_t)snprintf(initialiser, size, "{{");
    for (uint32_t i = 0; i < field->words; i++)
        length +=
            (size_t)snprintf(initialiser + length, size - length, "0x%08x,", field_word(limbs, i));
    snprintf(initialiser + length, size - length, "}}");
}

static void write_a(const struct curve_emit_params *params, char *initialiser, size_t size)
{
    static const uint64_t zero[2 * FIELD_MAX_LIMBS];
    const uint64_t *a = params->a == NULL ? zero : params->a;
    char first[MAX_INITIALISER / 2];
    char second[MAX_INITIALISER / 2] = "";
    write_element(params->field, a, first, sizeof first);
    if (params->nonresidue == 0) {
        snprintf(initialiser, size, "%s", first);
        return;
    }
    write_element(params->field, a + params->field->limbs, second, sizeof second);
    snprintf(initialiser, size, "{%s,%s}", first, second);
}

pool_status curve_emit_generate(const struct curve_emit_params *params, char **source)
{
    char *field_source = NULL;
    char a[MAX_INITIALISER];
    char nonresidue[64] = "";
    if (params == NULL || source == NULL)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "curve_emit_generate: params and source must not be NULL");
    pool_status status = field_emit_generate_typed(params->field, "fq", params->type, &field_source);
    if (status)
        return status;
    write_a(params, a, sizeof a);
    if (params->nonresidue != 0)
        snprintf(nonresidue, sizeof nonresidue, "#define FQ2_NONRESIDUE (%d)\n",
            (int)params->nonresidue);
    char *all = base_format("%s#define EC_DEGREE %d\n%s#define EC_A %s\n#define EC_A_VALUE %s\n",
        field_source, params->nonresidue == 0 ? 1 : 2, nonresidue, kind_of_a(params), a);
    base_free(field_source);
    if (all == NULL)
        return base_fail_memory("the device source of a curve");
    *source = all;
    return POOL_OK;
}

pool_status curve_emit_typed(const pool_curve *curve, const char *type, char **source)
{
    if (curve == NULL)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "device source of a curve: curve missing");
    const struct curve_emit_params params = {.field = curve->coordinates.field,
        .nonresidue = curve->coordinates.nonresidue,
        .a = curve->a,
        .type = type};
    return curve_emit_generate(&params, source);
}

pool_status curve_emit_of(const pool_curve *curve, char **source)
{
    return curve_emit_typed(curve, NULL, source);
}
