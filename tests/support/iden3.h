/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iden3 files made section by section, so that a test can leave out, repeat, move and damage any of
 * them.
 */
#ifndef TESTS_SUPPORT_IDEN3_H
#define TESTS_SUPPORT_IDEN3_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/curve.h>
#include <devicepool/field.h>

enum { IDEN3_MAX_PARTS = 20, IDEN3_MAX_BYTES = 4096 };

struct iden3_part {
    uint32_t type;
    size_t size;
    uint8_t bytes[IDEN3_MAX_BYTES];
};

struct iden3 {
    const char *magic;
    uint32_t version;
    size_t count;
    struct iden3_part parts[IDEN3_MAX_PARTS];
};

static inline void iden3_put(struct iden3_part *part, const void *bytes, size_t size)
{
    if (part->size + size > sizeof(part->bytes))
        abort();
    memcpy(part->bytes + part->size, bytes, size);
    part->size += size;
}

static inline void iden3_put32(struct iden3_part *part, uint32_t number)
{
    const uint8_t bytes[4] = {
        (uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};

    iden3_put(part, bytes, 4);
}

static inline void iden3_put64(struct iden3_part *part, uint64_t number)
{
    iden3_put32(part, (uint32_t)number);
    iden3_put32(part, (uint32_t)(number >> 32));
}

static inline struct iden3_part *iden3_add(struct iden3 *file, uint32_t type)
{
    struct iden3_part *part = &file->parts[file->count++];

    if (file->count > IDEN3_MAX_PARTS)
        abort();
    part->type = type;
    part->size = 0;
    return part;
}

static inline void iden3_put_prime(struct iden3_part *part, const pool_field *field)
{
    uint8_t modulus[POOL_FIELD_MAX_BYTES];

    pool_field_modulus(field, modulus);
    iden3_put32(part, (uint32_t)pool_field_element_bytes(field));
    iden3_put(part, modulus, pool_field_element_bytes(field));
}

/* Points that differ from section to section. */
static inline void iden3_put_points(struct iden3_part *part, const pool_curve *curve, size_t count)
{
    static const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    uint8_t points[IDEN3_MAX_BYTES];

    if (pool_random_points(curve, part->type, count, &format, points, NULL))
        abort();
    iden3_put(part, points, count * pool_point_bytes(curve, POOL_POINT_AFFINE));
}

/* The whole file in memory of exactly its size, to be freed. */
static inline uint8_t *iden3_compose(const struct iden3 *file, size_t *size)
{
    struct iden3_part head = {0};
    uint8_t *bytes;
    size_t total = 12;

    for (size_t i = 0; i < file->count; i++)
        total += 12 + file->parts[i].size;
    bytes = malloc(total);
    if (!bytes)
        abort();
    iden3_put(&head, file->magic, 4);
    iden3_put32(&head, file->version);
    iden3_put32(&head, (uint32_t)file->count);
    memcpy(bytes, head.bytes, 12);
    *size = 12;
    for (size_t i = 0; i < file->count; i++) {
        head.size = 0;
        iden3_put32(&head, file->parts[i].type);
        iden3_put64(&head, file->parts[i].size);
        memcpy(bytes + *size, head.bytes, 12);
        memcpy(bytes + *size + 12, file->parts[i].bytes, file->parts[i].size);
        *size += 12 + file->parts[i].size;
    }
    return bytes;
}

/* ---- valid files ---------------------------------------------------------------------------- */

/* 2^power powers over "bn254" or "bls12_381". `levels` of Lagrange bases in section 12, one less in
 * the others; 0: not prepared. */
static inline void iden3_make_ptau(
    struct iden3 *file, const char *pairing, uint32_t power, uint32_t levels)
{
    const pool_curve *g1 = pool_curve_by_name(pairing[1] == 'n' ? "bn254_g1" : "bls12_381_g1");
    const pool_curve *g2 = pool_curve_by_name(pairing[1] == 'n' ? "bn254_g2" : "bls12_381_g2");
    size_t n = (size_t)1 << power;
    struct iden3_part *head;

    *file = (struct iden3){.magic = "ptau", .version = 1};
    head = iden3_add(file, 1);
    iden3_put_prime(head, pool_curve_base_field(g1));
    iden3_put32(head, power);
    iden3_put32(head, 28);
    iden3_put_points(iden3_add(file, 2), g1, 2 * n - 1);
    iden3_put_points(iden3_add(file, 3), g2, n);
    iden3_put_points(iden3_add(file, 4), g1, n);
    iden3_put_points(iden3_add(file, 5), g1, n);
    iden3_put_points(iden3_add(file, 6), g2, 1);
    iden3_put(iden3_add(file, 7), "who contributed", 15);
    if (!levels)
        return;
    iden3_put_points(iden3_add(file, 12), g1, ((size_t)1 << levels) - 1);
    iden3_put_points(iden3_add(file, 13), g2, 2 * n - 1);
    iden3_put_points(iden3_add(file, 14), g1, 2 * n - 1);
    iden3_put_points(iden3_add(file, 15), g1, 2 * n - 1);
}

static inline void iden3_put_coefficient(struct iden3_part *part, const pool_field *field,
    uint32_t matrix, uint32_t constraint, uint32_t signal)
{
    uint8_t element[POOL_FIELD_MAX_BYTES];

    pool_random_scalars(field, signal, 1, POOL_FORM_STANDARD, element);
    iden3_put32(part, matrix);
    iden3_put32(part, constraint);
    iden3_put32(part, signal);
    iden3_put(part, element, pool_field_element_bytes(field));
}

/* 5 variables, 2 of them public, a domain of 4, 3 coefficients. */
static inline void iden3_make_zkey(struct iden3 *file, const char *pairing)
{
    const pool_curve *g1 = pool_curve_by_name(pairing[1] == 'n' ? "bn254_g1" : "bls12_381_g1");
    const pool_curve *g2 = pool_curve_by_name(pairing[1] == 'n' ? "bn254_g2" : "bls12_381_g2");
    const pool_field *scalars = pool_curve_scalar_field(g1);
    struct iden3_part *part;

    *file = (struct iden3){.magic = "zkey", .version = 1};
    iden3_put32(iden3_add(file, 1), 1);
    part = iden3_add(file, 2);
    iden3_put_prime(part, pool_curve_base_field(g1));
    iden3_put_prime(part, scalars);
    iden3_put32(part, 5);
    iden3_put32(part, 2);
    iden3_put32(part, 4);
    iden3_put_points(part, g1, 2);
    iden3_put_points(part, g2, 2);
    iden3_put_points(part, g1, 1);
    iden3_put_points(part, g2, 1);
    part = iden3_add(file, 4);
    iden3_put32(part, 3);
    iden3_put_coefficient(part, scalars, 0, 0, 1);
    iden3_put_coefficient(part, scalars, 1, 0, 2);
    iden3_put_coefficient(part, scalars, 0, 3, 4);
    iden3_put_points(iden3_add(file, 3), g1, 3);
    iden3_put_points(iden3_add(file, 9), g1, 4);
    iden3_put_points(iden3_add(file, 8), g1, 2);
    iden3_put_points(iden3_add(file, 5), g1, 5);
    iden3_put_points(iden3_add(file, 6), g1, 5);
    iden3_put_points(iden3_add(file, 7), g2, 5);
    iden3_put32(iden3_add(file, 10), 0);
}

static inline void iden3_make_wtns(struct iden3 *file, const pool_field *field, uint32_t count)
{
    uint8_t values[IDEN3_MAX_BYTES];
    struct iden3_part *part;

    *file = (struct iden3){.magic = "wtns", .version = 2};
    part = iden3_add(file, 1);
    iden3_put_prime(part, field);
    iden3_put32(part, count);
    if (pool_random_scalars(field, 1, count, POOL_FORM_STANDARD, values))
        abort();
    iden3_put(iden3_add(file, 2), values, count * pool_field_element_bytes(field));
}

/* 7 wires: 1, an output, 2 public and 1 private inputs, 2 more; 2 constraints without terms. */
static inline void iden3_make_r1cs(struct iden3 *file, const pool_field *field)
{
    struct iden3_part *part;

    *file = (struct iden3){.magic = "r1cs", .version = 1};
    part = iden3_add(file, 2);
    for (int i = 0; i < 6; i++)
        iden3_put32(part, 0);
    part = iden3_add(file, 1);
    iden3_put_prime(part, field);
    iden3_put32(part, 7);
    iden3_put32(part, 1);
    iden3_put32(part, 2);
    iden3_put32(part, 1);
    iden3_put64(part, 9);
    iden3_put32(part, 2);
    part = iden3_add(file, 3);
    for (uint64_t i = 0; i < 7; i++)
        iden3_put64(part, i);
}

#endif
