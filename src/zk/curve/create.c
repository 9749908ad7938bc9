/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom curves: parsing and validation of their parameters; reference counting.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "zk/curve/cofactor.h"
#include "zk/curve/curve.h"
#include "zk/field/integer.h"

static const struct base_struct curve_params_type = BASE_STRUCT(pool_curve_params);

void pool_curve_params_init(pool_curve_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

static pool_status read_coordinate(const struct field_extension *f, uint64_t *x,
    const char *const numbers[2], const char *what, bool required)
{
    field_extension_set_zero(f, x);
    if (!numbers[0] && required)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "a curve needs a %s", what);
    if (f->degree == 1 && numbers[1])
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the %s has a second part, but there is no nonresidue for an extension", what);
    for (uint32_t i = 0; i < f->degree; i++) {
        uint64_t *part = x + i * f->field->limbs;
        const char *wrong;

        if (!numbers[i])
            continue;
        wrong = field_integer_parse(part, f->field->limbs, numbers[i]);
        if (!wrong && !field_is_canonical(f->field, part))
            wrong = "is not below the modulus";
        if (wrong)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "the %s \"%.200s\" %s", what, numbers[i], wrong);
        field_to_montgomery(f->field, part, part);
    }
    return POOL_OK;
}

static enum curve_a kind_of_a(const struct field_extension *f, const uint64_t *a)
{
    uint64_t minus_3[CURVE_MAX_LIMBS];

    if (field_extension_is_zero(f, a))
        return CURVE_A_ZERO;
    field_extension_set_zero(f, minus_3);
    field_set_integer(f->field, minus_3, -3);
    return field_extension_equal(f, a, minus_3) ? CURVE_A_MINUS_3 : CURVE_A_GENERAL;
}

/* 4 a^3 + 27 b^2. */
static bool discriminant_is_zero(const pool_curve *curve)
{
    const struct field_extension *f = &curve->coordinates;
    uint64_t left[CURVE_MAX_LIMBS];
    uint64_t right[CURVE_MAX_LIMBS];
    uint64_t factor[CURVE_MAX_LIMBS];

    field_extension_sqr(f, left, curve->a);
    field_extension_mul(f, left, left, curve->a);
    field_extension_double(f, left, left);
    field_extension_double(f, left, left);
    field_extension_set_zero(f, factor);
    field_set_integer(f->field, factor, 27);
    field_extension_sqr(f, right, curve->b);
    field_extension_mul(f, right, right, factor);
    field_extension_add(f, left, left, right);
    return field_extension_is_zero(f, left);
}

static pool_status check_group(const pool_curve *curve)
{
    struct curve_jacobian generator;

    if (discriminant_is_zero(curve))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the discriminant of the curve is zero: it has a singular point");
    if (!curve_affine_is_on_curve(curve, &curve->generator))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the generator is not on the curve");
    curve_jacobian_from_affine(curve, &generator, &curve->generator);
    if (!curve_is_in_subgroup(curve, &generator))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the order times the generator is not the point at infinity");
    return POOL_OK;
}

static pool_status derive_cofactor(pool_curve *curve, const char *number, bool check)
{
    const char *wrong = NULL;

    if (!number) {
        curve->cofactor_known = curve_find_cofactor(curve, curve->cofactor, &wrong);
        if (wrong)
            return base_fail(POOL_ERR_INVALID_ARGUMENT, "the order of the curve %s", wrong);
        return POOL_OK;
    }
    wrong = field_integer_parse(curve->cofactor, CURVE_MAX_LIMBS, number);
    if (!wrong && check && !curve_cofactor_is_possible(curve, curve->cofactor))
        wrong = "times the order is not a possible number of points";
    if (wrong)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "the cofactor \"%.400s\" %s", number, wrong);
    curve->cofactor_known = true;
    return POOL_OK;
}

static pool_status derive_fingerprint(pool_curve *curve)
{
    struct {
        char label[24];
        uint64_t degree;
        int64_t nonresidue;
        uint8_t field[32];
        uint8_t scalar_field[32];
        uint64_t numbers[4][CURVE_MAX_LIMBS];
    } input;

    memset(&input, 0, sizeof(input));
    snprintf(input.label, sizeof(input.label), "devicepool curve 1");
    input.degree = curve->coordinates.degree;
    input.nonresidue = curve->coordinates.nonresidue;
    memcpy(input.field, curve->coordinates.field->fingerprint, sizeof(input.field));
    memcpy(input.scalar_field, curve->scalar_field->fingerprint, sizeof(input.scalar_field));
    memcpy(input.numbers[0], curve->a, sizeof(input.numbers[0]));
    memcpy(input.numbers[1], curve->b, sizeof(input.numbers[1]));
    memcpy(input.numbers[2], curve->generator.x, sizeof(input.numbers[2]));
    memcpy(input.numbers[3], curve->generator.y, sizeof(input.numbers[3]));
    return base_sha256_of(&input, sizeof(input), curve->fingerprint);
}

pool_status curve_derive(
    pool_curve *curve, const pool_curve_params *params, const pool_field *scalar_field, bool check)
{
    struct field_extension *f = &curve->coordinates;
    pool_status status;

    memset(curve, 0, sizeof(*curve));
    atomic_init(&curve->references, 1);
    snprintf(curve->name, sizeof(curve->name), "%s", params->name);
    curve->scalar_field = scalar_field;
    status = field_extension_init(f, params->field, params->nonresidue);
    if (!status)
        status = read_coordinate(f, curve->a, params->a, "coefficient a", false);
    if (!status)
        status = read_coordinate(f, curve->b, params->b, "coefficient b", false);
    if (!status)
        status = read_coordinate(f, curve->generator.x, params->generator_x, "generator's x", true);
    if (!status)
        status = read_coordinate(f, curve->generator.y, params->generator_y, "generator's y", true);
    if (status)
        return status;
    curve->a_kind = kind_of_a(f, curve->a);
    if (check)
        status = check_group(curve);
    if (!status)
        status = derive_cofactor(curve, params->cofactor, check);
    if (!status)
        status = derive_fingerprint(curve);
    return status;
}

/* The scalar field is the given one, whose modulus must be the order, or is created from the order.
 */
static pool_status take_scalar_field(const pool_curve_params *params, pool_field **scalar_field)
{
    pool_field_params of_order = {.struct_size = sizeof(of_order)};
    uint64_t order[FIELD_MAX_LIMBS];
    const char *wrong;

    if (!params->scalar_field) {
        of_order.modulus = params->order;
        of_order.name = params->name;
        return field_create(&of_order, "order of the curve", scalar_field);
    }
    if (params->order) {
        wrong = field_integer_parse(order, FIELD_MAX_LIMBS, params->order);
        if (!wrong && memcmp(order, params->scalar_field->modulus, sizeof(order)))
            wrong = "is not the modulus of the scalar field";
        if (wrong)
            return base_fail(POOL_ERR_INVALID_ARGUMENT, "the order of the curve \"%.200s\" %s",
                params->order, wrong);
    }
    *scalar_field = pool_field_retain(params->scalar_field);
    return POOL_OK;
}

static pool_status read_params(pool_curve_params *given, const pool_curve_params *params)
{
    pool_status status =
        base_struct_read(&curve_params_type, "pool_curve_create", "params", params, given);

    if (!status)
        status = base_check_ranges("pool_curve_create", {"reserved", given->reserved, 0, 0});
    if (status)
        return status;
    if (!given->name)
        given->name = "custom";
    if (strlen(given->name) > FIELD_MAX_NAME)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the curve's name has %zu characters, %d are allowed", strlen(given->name),
            FIELD_MAX_NAME);
    if (!given->field)
        return base_fail_null("pool_curve_create", "params->field");
    if (field_check_prime("pool_curve_create", given->field) ||
        field_check_prime("pool_curve_create", given->scalar_field))
        return POOL_ERR_UNSUPPORTED;
    if (given->field->bits == 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "there is no short Weierstrass form over the field of 3 elements");
    return POOL_OK;
}

pool_status pool_curve_create(const pool_curve_params *params, pool_curve **curve)
{
    pool_curve_params given;
    pool_field *scalar_field = NULL;
    pool_curve *made;
    pool_status status;

    if (!curve)
        return base_fail_null("pool_curve_create", "curve");
    status = read_params(&given, params);
    if (!status)
        status = take_scalar_field(&given, &scalar_field);
    if (status)
        return status;
    made = base_calloc(1, sizeof(*made));
    if (!made) {
        status = base_fail_memory("a curve");
        goto drop_scalar_field;
    }
    status = curve_derive(made, &given, scalar_field, true);
    if (status)
        goto free_curve;
    pool_field_retain(given.field);
    *curve = made;
    return POOL_OK;

free_curve:
    base_free(made);
drop_scalar_field:
    pool_field_destroy(&scalar_field);
    return status;
}

pool_curve *pool_curve_retain(const pool_curve *curve)
{
    /* Only the reference count of a shared curve changes. */
    pool_curve *counted = (pool_curve *)(uintptr_t)curve;

    if (counted && !counted->built_in)
        atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
    return counted;
}

void pool_curve_destroy(pool_curve **curve)
{
    pool_curve *given = curve ? *curve : NULL;
    pool_field *held[2];

    if (!given)
        return;
    *curve = NULL;
    if (given->built_in ||
        atomic_fetch_sub_explicit(&given->references, 1, memory_order_acq_rel) != 1)
        return;
    held[0] = (pool_field *)(uintptr_t)given->coordinates.field;
    held[1] = (pool_field *)(uintptr_t)given->scalar_field;
    pool_field_destroy(&held[0]);
    pool_field_destroy(&held[1]);
    base_free(given);
}
