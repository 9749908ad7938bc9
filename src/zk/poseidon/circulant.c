/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device code of a Goldilocks MDS matrix of small integers. The kernels split state elements
 * into three limbs (ptx/poseidon/circulant.cuh), on which a row is a sum of single-word products. A
 * circulant matrix is a product modulo x^t - 1, which for even t follows from those modulo
 * x^(t/2) - 1 and x^(t/2) + 1: half the multiplications, and again for t / 2. For plonky2's matrix,
 * whose authors chose it so, nearly all factors are then powers of two.
 */
#include "zk/poseidon/codegen.h"

#include <stdio.h>

#include "base/math.h"

/* The widest state: three limbs per element are in registers. */
enum { SMALL_WIDTH_MAX = 16 };
/* The largest limb (ptx/poseidon/circulant.cuh) times the sum of a row must fit into a signed word.
 */
enum { LIMB_BITS = 22, ROW_LIMIT = 1 << (32 - LIMB_BITS) };

/* Integers: m[i * width + j] = circulant[(j - i) mod width], and on the diagonal extra[i] more. */
struct small_matrix {
    uint32_t width;
    uint32_t entries[SMALL_WIDTH_MAX * SMALL_WIDTH_MAX];
    uint32_t circulant[SMALL_WIDTH_MAX];
    uint32_t extra[SMALL_WIDTH_MAX];
};

/* Whether the entries are small enough; *row_max is the largest sum of a row. */
static bool read_entries(const pool_poseidon *set, struct small_matrix *matrix, uint32_t *row_max)
{
    *matrix = (struct small_matrix){.width = set->width};
    *row_max = 0;
    for (uint32_t i = 0; i < set->width; i++) {
        uint32_t sum = 0;

        for (uint32_t j = 0; j < set->width; j++) {
            uint64_t entry;

            field_from_montgomery(set->field, &entry, set->mds + (size_t)i * set->width + j);
            if (entry >= ROW_LIMIT)
                return false;
            matrix->entries[i * set->width + j] = (uint32_t)entry;
            sum += (uint32_t)entry;
        }
        *row_max = (uint32_t)base_max(*row_max, sum);
    }
    return *row_max < ROW_LIMIT;
}

static bool find_circulant(struct small_matrix *matrix)
{
    const uint32_t t = matrix->width;

    matrix->circulant[0] = matrix->entries[0];
    for (uint32_t i = 0; i < t; i++)
        matrix->circulant[0] = (uint32_t)base_min(matrix->circulant[0], matrix->entries[i * t + i]);
    for (uint32_t j = 1; j < t; j++)
        matrix->circulant[j] = matrix->entries[j];
    for (uint32_t i = 0; i < t; i++) {
        matrix->extra[i] = matrix->entries[i * t + i] - matrix->circulant[0];
        for (uint32_t j = 0; j < t; j++)
            if (j != i && matrix->entries[i * t + j] != matrix->circulant[(j + t - i) % t])
                return false;
    }
    return true;
}

/* ---- products of polynomials ------------------------------------------------------------------
 */

/* A product with a constant polynomial modulo x^n - 1, or x^n + 1. */
struct product {
    uint32_t n;
    bool is_negacyclic;
    int32_t factors[SMALL_WIDTH_MAX];
};

/* out[k] = the sum of factors times in[i] */
static void emit_sum(
    struct field_emit_writer *writer, const struct product *product, uint32_t k, const char *in)
{
    bool is_empty = true;

    for (uint32_t i = 0; i < product->n; i++) {
        int32_t factor = product->factors[(k + product->n - i) % product->n];

        if (product->is_negacyclic && i > k)
            factor = -factor;
        if (!factor)
            continue;
        field_emit(writer, "%s%uu * %s[%u]",
            factor < 0 ? " - "
            : is_empty ? " "
                       : " + ",
            (uint32_t)(factor < 0 ? -factor : factor), in, i);
        is_empty = false;
    }
    field_emit(writer, "%s;\n", is_empty ? " 0u" : "");
}

/* The products modulo x^(n/2) - 1 and x^(n/2) + 1 whose sum and difference are twice the halves of
 * this one, or once: 1 or 2 is returned. Factors that are all even are halved. */
static uint32_t split_product(
    const struct product *product, struct product *low, struct product *high)
{
    const uint32_t half = product->n / 2;
    bool is_even = true;

    *low = (struct product){.n = half};
    *high = (struct product){.n = half, .is_negacyclic = true};
    for (uint32_t i = 0; i < half; i++) {
        low->factors[i] = product->factors[i] + product->factors[i + half];
        high->factors[i] = product->factors[i] - product->factors[i + half];
        is_even = is_even && low->factors[i] % 2 == 0;
    }
    for (uint32_t i = 0; i < half && is_even; i++) {
        low->factors[i] /= 2;
        high->factors[i] /= 2;
    }
    return is_even ? 1 : 2;
}

static bool is_direct(const struct product *product)
{
    return product->is_negacyclic || product->n % 2;
}

/* The multiple of a product that emit_product computes. */
static uint32_t scale_of(const struct product *product)
{
    struct product low, high;

    if (is_direct(product))
        return 1;
    return split_product(product, &low, &high) * scale_of(&low);
}

static void emit_direct(struct field_emit_writer *writer, const struct product *product,
    const char *out, const char *in)
{
    for (uint32_t k = 0; k < product->n; k++) {
        field_emit(writer, "    %s[%u] =", out, k);
        emit_sum(writer, product, k, in);
    }
}

/* Emits out = scale_of(product) in times the factors, modulo 2^32. */
static void emit_product(struct field_emit_writer *writer, const struct product *product,
    const char *out, const char *in)
{
    enum { SUM, DIFFERENCE, LOW, HIGH, NAMES };
    const uint32_t half = product->n / 2;
    struct product low, high;
    char names[NAMES][16];

    if (is_direct(product)) {
        emit_direct(writer, product, out, in);
        return;
    }
    split_product(product, &low, &high);
    for (uint32_t i = 0; i < half; i++)
        high.factors[i] *= (int32_t)scale_of(&low);
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "%c%u", "sdlh"[i], half);
        field_emit(writer, "    unsigned %s[%u];\n", names[i], half);
    }
    for (uint32_t i = 0; i < half; i++)
        field_emit(writer, "    %s[%u] = %s[%u] + %s[%u];\n    %s[%u] = %s[%u] - %s[%u];\n",
            names[SUM], i, in, i, in, i + half, names[DIFFERENCE], i, in, i, in, i + half);
    emit_product(writer, &low, names[LOW], names[SUM]);
    emit_direct(writer, &high, names[HIGH], names[DIFFERENCE]);
    for (uint32_t i = 0; i < half; i++)
        field_emit(writer, "    %s[%u] = %s[%u] + %s[%u];\n    %s[%u] = %s[%u] - %s[%u];\n", out, i,
            names[LOW], i, names[HIGH], i, out, i + half, names[LOW], i, names[HIGH], i);
}

/* y_i = sum over j of circulant[j - i] x_j = sum over k of circulant[-k] x_(i - k) */
static struct product product_of(const struct small_matrix *matrix)
{
    struct product product = {.n = matrix->width};

    for (uint32_t k = 0; k < matrix->width; k++)
        product.factors[k] = (int32_t)matrix->circulant[(matrix->width - k) % matrix->width];
    return product;
}

/* ---- the function of the kernels --------------------------------------------------------------
 */

bool poseidon_emit_circulant(struct field_emit_writer *writer, const pool_poseidon *set)
{
    struct small_matrix matrix;
    struct product product;
    uint32_t row_max;

    if (set->field->kind != FIELD_KIND_GOLDILOCKS || set->width > SMALL_WIDTH_MAX ||
        set->full_rounds % 2 || !read_entries(set, &matrix, &row_max) || !find_circulant(&matrix))
        return false;
    product = product_of(&matrix);
    if (scale_of(&product) > 1)
        return false;
    field_emit(writer,
        "__device__ __forceinline__ void poseidon_circulant(unsigned *y, const unsigned *x)\n{\n");
    emit_product(writer, &product, "y", "x");
    for (uint32_t i = 0; i < matrix.width; i++) {
        if (matrix.extra[i])
            field_emit(writer, "    y[%u] += %uu * x[%u];\n", i, matrix.extra[i], i);
    }
    field_emit(writer, "}\n");
    return true;
}
