/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dense matrices over a field, in row-major order and no larger than a state.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/poseidon/poseidon.h"

void poseidon_matrix_vector(const pool_field *field, uint64_t *result, const uint64_t *matrix,
    const uint64_t *vector, uint32_t rows, uint32_t columns)
{
    uint32_t limbs = field->limbs;
    uint64_t product[FIELD_MAX_LIMBS];

    for (uint32_t i = 0; i < rows; i++) {
        uint64_t *sum = result + (size_t)i * limbs;
        const uint64_t *row = matrix + (size_t)i * columns * limbs;
        field_set_zero(field, sum);
        for (uint32_t j = 0; j < columns; j++) {
            field_mul(field, product, row + (size_t)j * limbs, vector + (size_t)j * limbs);
            field_add(field, sum, sum, product);
        }
    }
}

/* to -= factor * from, for rows of `count` elements */
static void subtract_row(const pool_field *field, uint64_t *to, const uint64_t *from,
    const uint64_t *factor, uint32_t count)
{
    uint64_t term[FIELD_MAX_LIMBS];

    for (uint32_t j = 0; j < count; j++) {
        size_t at = (size_t)j * field->limbs;
        field_mul(field, term, from + at, factor);
        field_sub(field, to + at, to + at, term);
    }
}

static void scale_row(
    const pool_field *field, uint64_t *row, const uint64_t *factor, uint32_t count)
{
    for (uint32_t j = 0; j < count; j++)
        field_mul(field, row + (size_t)j * field->limbs, row + (size_t)j * field->limbs, factor);
}

static void exchange_rows(uint64_t *x, uint64_t *y, size_t limbs)
{
    for (size_t i = 0; i < limbs; i++) {
        uint64_t old = x[i];
        x[i] = y[i];
        y[i] = old;
    }
}

/* Gauss-Jordan elimination on rows of 2 size elements, whose right half is the identity; false if
 * the matrix is singular. */
static bool eliminate(const pool_field *field, uint64_t *work, uint32_t size)
{
    size_t limbs = field->limbs;
    size_t row_limbs = 2 * (size_t)size * limbs;
    uint64_t factor[FIELD_MAX_LIMBS];

    for (uint32_t c = 0; c < size; c++) {
        uint32_t pivot = c;
        while (pivot < size && field_is_zero(field, work + pivot * row_limbs + c * limbs))
            pivot++;
        if (pivot == size)
            return false;
        if (pivot != c)
            exchange_rows(work + pivot * row_limbs, work + c * row_limbs, row_limbs);
        field_inverse(field, factor, work + c * row_limbs + c * limbs);
        scale_row(field, work + c * row_limbs, factor, 2 * size);
        for (uint32_t i = 0; i < size; i++) {
            if (i == c)
                continue;
            field_copy(field, factor, work + i * row_limbs + c * limbs);
            subtract_row(field, work + i * row_limbs, work + c * row_limbs, factor, 2 * size);
        }
    }
    return true;
}

pool_status poseidon_matrix_inverse(const pool_field *field, uint64_t *inverse,
    const uint64_t *matrix, uint32_t size, bool *is_invertible)
{
    size_t limbs = field->limbs;
    size_t half = (size_t)size * limbs;
    uint64_t *work = base_calloc((size_t)size * 2, half * sizeof(*work));

    if (!work)
        return base_fail_memory("a matrix");
    for (uint32_t i = 0; i < size; i++) {
        memcpy(work + i * 2 * half, matrix + i * half, half * sizeof(*work));
        field_set_one(field, work + i * 2 * half + half + i * limbs);
    }
    *is_invertible = eliminate(field, work, size);
    for (uint32_t i = 0; *is_invertible && i < size; i++)
        memcpy(inverse + i * half, work + i * 2 * half + half, half * sizeof(*work));
    base_free(work);
    return POOL_OK;
}
