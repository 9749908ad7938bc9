/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix operations of whole warps: mma, ldmatrix, stmatrix. Every fragment of mma has the same
 * form: a register of lane 4g + t holds E consecutive elements of row g (of column g for B), from
 * 4E * (its number among those of the row) + tE; the registers of A and C for rows g + 8 alternate
 * with those for rows g.
 *
 * Products are exact in double precision. They are added to C in the order of k, for .f64 with one
 * rounding per addition, otherwise in double precision with one rounding of the sum to the type of
 * D. A GPU adds in another order and, for other types than .f64, cuts off low bits while it adds.
 */
#include "driver/sim/exec/half.h"
#include "driver/sim/exec/machine.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 8, DEPTH = 32 };

struct matrices {
    double a[ROWS][DEPTH], b[DEPTH][COLUMNS], c[ROWS][COLUMNS];
};

struct shape {
    uint32_t rows, depth;
    bool saturates;
    enum ptx_type a, b, c, d;
};

static enum ptx_type type_of(uint32_t aux, unsigned index)
{
    uint32_t mask = (1u << SIM_MMA_TYPE_BITS) - 1;
    return (enum ptx_type)(aux >> (SIM_MMA_FIRST_SHIFT + index * SIM_MMA_TYPE_BITS) & mask);
}

static struct shape shape_of(uint32_t aux)
{
    return (struct shape){aux >> SIM_MMA_ROWS_SHIFT & 31, aux >> SIM_MMA_DEPTH_SHIFT & 63,
        (aux & SIM_MMA_SATURATES) != 0, type_of(aux, 0), type_of(aux, 1), type_of(aux, 2),
        type_of(aux, 3)};
}

/* Elements of a type in a register of mma. */
static uint32_t packed_count(enum ptx_type type)
{
    return ptx_type_size(type) < 4 ? 4 / ptx_type_size(type) : 1;
}

static double load_element(const unsigned char *at, enum ptx_type type)
{
    uint16_t half;
    uint32_t word;
    float single;
    double wide;
    switch (type) {
    case PTX_U8:
        return *at;
    case PTX_S8:
        return (int8_t)*at;
    case PTX_F16:
        memcpy(&half, at, sizeof(half));
        return sim_half_to_double(half);
    case PTX_BF16:
        memcpy(&half, at, sizeof(half));
        return sim_bfloat_to_double(half);
    case PTX_S32:
        memcpy(&word, at, sizeof(word));
        return (int32_t)word;
    case PTX_F32:
        memcpy(&single, at, sizeof(single));
        return (double)single;
    default:
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
}

static double without_low_bits(double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof(bits));
    bits &= ~UINT32_C(0x1fff);
    memcpy(&single, &bits, sizeof(bits));
    return (double)single;
}

static void store_element(unsigned char *at, enum ptx_type type, double value, bool saturates)
{
    uint16_t half;
    float single;
    switch (type) {
    case PTX_F16:
        half = sim_double_to_half(value, SIM_RN);
        memcpy(at, &half, sizeof(half));
        break;
    case PTX_F32:
        single = (float)value;
        if (isnan(value))
            memcpy(&single, &(uint32_t){0x7fffffff}, sizeof(single));
        memcpy(at, &single, sizeof(single));
        break;
    case PTX_S32: {
        double bounded = saturates ? fmin(fmax(value, INT32_MIN), INT32_MAX) : value;
        uint32_t word = (uint32_t)(int64_t)bounded;
        memcpy(at, &word, sizeof(word));
        break;
    }
    default:
        memcpy(at, &value, sizeof(value));
        break;
    }
}

/* Rows g and g + 8 alternate from register to register of A. */
static void gather_a(
    const struct sim_warp *warp, const uint32_t *vregs, struct shape shape, struct matrices *m)
{
    uint32_t packed = packed_count(shape.a), halves = shape.rows / 8;
    uint32_t bytes = ptx_type_size(shape.a), count = halves * shape.depth / (4 * packed);
    for (uint32_t r = 0; r < count; r++) {
        const unsigned char *from = sim_vreg_at(warp, vregs[r]);
        for (uint32_t i = 0; i < SIM_LANES * packed; i++) {
            uint32_t lane = i / packed, row = lane / 4 + 8 * (r % halves);
            uint32_t k = r / halves * 4 * packed + lane % 4 * packed + i % packed;
            double value = load_element(from + (size_t)i * bytes, shape.a);
            m->a[row][k] = shape.a == PTX_F32 ? without_low_bits(value) : value;
        }
    }
}

static void gather_b(
    const struct sim_warp *warp, const uint32_t *vregs, struct shape shape, struct matrices *m)
{
    uint32_t packed = packed_count(shape.b);
    uint32_t bytes = ptx_type_size(shape.b), count = shape.depth / (4 * packed);
    for (uint32_t r = 0; r < count; r++) {
        const unsigned char *from = sim_vreg_at(warp, vregs[r]);
        for (uint32_t i = 0; i < SIM_LANES * packed; i++) {
            uint32_t lane = i / packed, k = r * 4 * packed + lane % 4 * packed + i % packed;
            double value = load_element(from + (size_t)i * bytes, shape.b);
            m->b[k][lane / 4] = shape.b == PTX_F32 ? without_low_bits(value) : value;
        }
    }
}

/* C and D: two columns per lane, in one register of .f16x2 or in two registers. */
static unsigned char *element_of_c(const struct sim_warp *warp, const uint32_t *vregs,
    enum ptx_type type, uint32_t row, uint32_t column)
{
    uint32_t lane = row % 8 * 4 + column / 2, bytes = ptx_type_size(type);
    if (type == PTX_F16)
        return (unsigned char *)sim_vreg_at(warp, vregs[row / 8]) + lane * 4 + column % 2 * bytes;
    return (unsigned char *)sim_vreg_at(warp, vregs[row / 8 * 2 + column % 2]) + lane * bytes;
}

static double multiply_add(const struct matrices *m, struct shape shape, uint32_t row, uint32_t col)
{
    double sum = m->c[row][col];
    for (uint32_t k = 0; k < shape.depth; k++)
        sum = shape.a == PTX_F64 ? fma(m->a[row][k], m->b[k][col], sum)
                                 : sum + m->a[row][k] * m->b[k][col];
    return sum;
}

static const struct sim_op *run_mma(struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t vregs[8 * SIM_MMA_WORDS];
    struct shape shape = shape_of(op->aux);
    struct matrices m;
    if (!sim_active_lanes(warp, op))
        return op + 1 + SIM_MMA_WORDS;
    for (unsigned i = 0; i < SIM_MMA_WORDS; i++)
        memcpy(vregs + (size_t)i * 8, op[1 + i].words, sizeof(op->words));
    gather_a(warp, vregs + SIM_MMA_A, shape, &m);
    gather_b(warp, vregs + SIM_MMA_B, shape, &m);
    for (uint32_t i = 0; i < shape.rows * COLUMNS; i++)
        m.c[i / COLUMNS][i % COLUMNS] = load_element(
            element_of_c(warp, vregs + SIM_MMA_C, shape.c, i / COLUMNS, i % COLUMNS), shape.c);
    for (uint32_t i = 0; i < shape.rows * COLUMNS; i++)
        store_element(element_of_c(warp, vregs, shape.d, i / COLUMNS, i % COLUMNS), shape.d,
            multiply_add(&m, shape, i / COLUMNS, i % COLUMNS), shape.saturates);
    return op + 1 + SIM_MMA_WORDS;
}

/* ---- 8 by 8 matrices of 16-bit elements in shared memory ------------------------------------- */

/* Rows of matrix j are at the addresses of lanes 8j to 8j + 7. aux: the number of matrices, and 8
 * where they are transposed. */
static bool find_rows(struct sim_warp *warp, const struct sim_op *op, uint64_t *rows, bool is_write)
{
    uint32_t count = op->aux & 7, lanes = count == 4 ? SIM_ALL_LANES : (1u << count * 8) - 1;
    sim_lane_addresses(warp, op->a, op->b, op->c, rows);
    return sim_translate(warp, op, op->b & 7, rows, lanes, 16, 16, is_write, false);
}

/* The element i of a lane's pair in a matrix, among those of its 8 rows. */
static unsigned char *element_of_row(
    const uint64_t *rows, uint32_t matrix, uint32_t lane, uint32_t i, bool is_transposed)
{
    uint32_t major = lane / 4, minor = lane % 4 * 2 + i;
    uint32_t row = is_transposed ? minor : major, column = is_transposed ? major : minor;
    return (unsigned char *)(uintptr_t)rows[matrix * 8 + row] + (size_t)column * 2;
}

static const struct sim_op *run_ldmatrix(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t rows[SIM_LANES];
    if (!sim_active_lanes(warp, op))
        return op + 2;
    if (!find_rows(warp, op, rows, false))
        return NULL;
    for (uint32_t matrix = 0; matrix < (op->aux & 7); matrix++) {
        uint16_t *d = sim_vreg_at(warp, op[1].words[matrix]);
        for (uint32_t i = 0; i < SIM_LANES * 2; i++)
            memcpy(&d[i], element_of_row(rows, matrix, i / 2, i % 2, op->aux & 8), sizeof(*d));
    }
    return op + 2;
}

static const struct sim_op *run_stmatrix(struct sim_warp *warp, const struct sim_op *op)
{
    uint64_t rows[SIM_LANES];
    if (!sim_active_lanes(warp, op))
        return op + 2;
    if (!find_rows(warp, op, rows, true))
        return NULL;
    for (uint32_t matrix = 0; matrix < (op->aux & 7); matrix++) {
        const uint16_t *from = sim_vreg_at(warp, op[1].words[matrix]);
        for (uint32_t i = 0; i < SIM_LANES * 2; i++)
            memcpy(
                element_of_row(rows, matrix, i / 2, i % 2, op->aux & 8), &from[i], sizeof(*from));
    }
    return op + 2;
}

void sim_mma_fill(struct sim_handlers *handlers)
{
    handlers->run[SIM_MMA][PTX_NONE] = run_mma;
    handlers->run[SIM_LDMATRIX][PTX_NONE] = run_ldmatrix;
    handlers->run[SIM_STMATRIX][PTX_NONE] = run_stmatrix;
}
