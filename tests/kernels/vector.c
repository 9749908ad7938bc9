/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of field vectors and of tables of powers, on packed elements and on elements with a
 * stride that is two words longer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "zk/ntt/ntt.h"
#include "zk/vector/kernels.h"

enum { BLOCK = 256, TILE = 16, LOG_THREADS = 6 };

/* One check: operands a, b and the result on host and device. */
struct vector_case {
    struct stage stage;
    const pool_field *field;
    const struct vector_stage *row;
    uint64_t count;
    uint64_t results;
    size_t stride;
    uint64_t *a, *b, *expected;
    uint64_t factors[3][FIELD_MAX_LIMBS]; /* of a, b and the result; 1 where there are none */
    CUdeviceptr in[2], out, constants;
};

/* Fills the launch's arguments and runs it. */
typedef void vector_launch(struct vector_case *one, pool_kernel *kernel);
typedef void vector_reference(struct vector_case *one);

struct vector_stage {
    const char *name;
    const char *kernel;
    vector_launch *launch;
    vector_reference *reference;
    uint32_t op;
    bool has_factors;
    uint64_t simulated, gpu; /* elements */
};

static uint64_t *element(const struct vector_case *one, uint64_t *elements, uint64_t i)
{
    return elements + i * one->field->limbs;
}

static struct vector_arg argument(const struct vector_case *one, CUdeviceptr address)
{
    return (struct vector_arg){address, one->stride / 4};
}

static uint32_t no_block; /* before the first one: all blocks are launched */

static void run_kernel(struct vector_case *one, pool_kernel *kernel, uint64_t items,
    uint32_t threads, void **arguments, uint32_t count)
{
    struct kernel_launch launch = {.kernel = kernel,
        .blocks = (items + threads - 1) / threads,
        .threads = threads,
        .arguments = arguments,
        .argument_count = count};

    stage_run(&one->stage, kernel_launch, &launch);
    stage_compare_elements(&one->stage, "element", one->field, one->out, one->stride, one->expected,
        one->results, false);
    stage_time(&one->stage, kernel_launch, &launch, (double)one->count);
}

/* base^(2^i) for i < VECTOR_POWERS_OF_TWO, on the device. */
static CUdeviceptr upload_powers_of_two(struct vector_case *one, const uint64_t *base)
{
    uint8_t *packed = harness_memory(VECTOR_POWERS_OF_TWO, one->field->bytes);
    CUdeviceptr address;

    vector_pack_powers_of_two(one->field, packed, base);
    address = stage_upload(&one->stage, packed, VECTOR_POWERS_OF_TWO * (size_t)one->field->bytes);
    free(packed);
    return address;
}

/* ---- element by element ---------------------------------------------------------------------- */

static void launch_apply(struct vector_case *one, pool_kernel *kernel)
{
    uint32_t op = one->row->op;
    size_t bytes = one->row->has_factors ? one->field->bytes : 0;
    struct vector_arg a = argument(one, one->in[0]), b = argument(one, one->in[1]),
                      out = argument(one, one->out);
    CUdeviceptr factors[3] = {0};
    void *arguments[] = {
        &op, &a, &b, &out, &factors[0], &factors[1], &factors[2], &one->count, &no_block};

    for (size_t i = 0; bytes && i < 3; i++)
        factors[i] = one->constants + i * bytes;
    run_kernel(one, kernel, one->count, BLOCK, arguments, 9);
}

static void reference_apply(struct vector_case *one)
{
    const pool_field *field = one->field;

    for (uint64_t i = 0; i < one->count; i++) {
        uint64_t a[FIELD_MAX_LIMBS], b[FIELD_MAX_LIMBS], *out = element(one, one->expected, i);

        field_mul(field, a, element(one, one->a, i), one->factors[0]);
        field_mul(field, b, element(one, one->b, i), one->factors[1]);
        if (one->row->op == VECTOR_ADD)
            field_add(field, out, a, b);
        else if (one->row->op == VECTOR_SUB)
            field_sub(field, out, a, b);
        else if (one->row->op == VECTOR_MUL)
            field_mul(field, out, a, b);
        else
            field_copy(field, out, a);
        field_mul(field, out, out, one->factors[2]);
    }
}

static void launch_invert(struct vector_case *one, pool_kernel *kernel)
{
    struct vector_arg a = argument(one, one->in[0]), out = argument(one, one->out);
    CUdeviceptr factor = one->row->has_factors ? one->constants : 0;
    CUdeviceptr scratch = stage_alloc(&one->stage, one->count * one->field->bytes);
    uint32_t blocks = (uint32_t)(((one->count + 15) / 16 + 63) / 64);
    void *arguments[] = {&a, &out, &scratch, &factor, &one->count, &blocks, &no_block};

    run_kernel(one, kernel, (one->count + 15) / 16, 64, arguments, 7);
}

/* factor / a[i], and 0 for 0 */
static void reference_invert(struct vector_case *one)
{
    for (uint64_t i = 0; i < one->count; i++) {
        uint64_t *out = element(one, one->expected, i);

        field_inverse(one->field, out, element(one, one->a, i));
        field_mul(one->field, out, out, one->factors[0]);
    }
}

/* ---- permutations ---------------------------------------------------------------------------- */

static uint32_t log2_of(uint64_t count)
{
    return 63 - (uint32_t)__builtin_clzll(count);
}

static void launch_bit_reverse(struct vector_case *one, pool_kernel *kernel)
{
    struct vector_arg a = argument(one, one->in[0]), out = argument(one, one->out);
    uint32_t log_count = log2_of(one->count);
    void *arguments[] = {&a, &out, &log_count, &no_block};

    run_kernel(one, kernel, one->count, BLOCK, arguments, 4);
}

static void reference_bit_reverse(struct vector_case *one)
{
    uint32_t bits = log2_of(one->count);

    for (uint64_t i = 0; i < one->count; i++) {
        uint64_t reversed = 0;

        for (uint32_t bit = 0; bit < bits; bit++)
            reversed |= (i >> bit & 1) << (bits - 1 - bit);
        field_copy(one->field, element(one, one->expected, reversed), element(one, one->a, i));
    }
}

/* Rows of a matrix that has one more than two tiles' columns. */
static uint64_t rows_of(const struct vector_case *one)
{
    return one->count / (2 * TILE + 1);
}

static void launch_transpose(struct vector_case *one, pool_kernel *kernel)
{
    struct vector_arg a = argument(one, one->in[0]), out = argument(one, one->out);
    uint64_t rows = rows_of(one), columns = one->count / rows;
    uint64_t tiles = (rows + TILE - 1) / TILE * ((columns + TILE - 1) / TILE);
    void *arguments[] = {&a, &out, &rows, &columns, &no_block};

    one->results = rows * columns;
    run_kernel(one, kernel, tiles * TILE * TILE, TILE * TILE, arguments, 5);
}

static void reference_transpose(struct vector_case *one)
{
    uint64_t rows = rows_of(one), columns = one->count / rows;

    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t column = 0; column < columns; column++)
            field_copy(one->field, element(one, one->expected, column * rows + row),
                element(one, one->a, row * columns + column));
}

/* ---- sums and powers ------------------------------------------------------------------------- */

/* Partial values of the polynomial a at b[3]: one per thread. */
static void launch_evaluate(struct vector_case *one, pool_kernel *kernel)
{
    struct vector_arg a = argument(one, one->in[0]);
    uint32_t log_threads = LOG_THREADS;
    CUdeviceptr powers = upload_powers_of_two(one, element(one, one->b, 3));
    uint64_t first = 0;
    void *arguments[] = {&a, &one->count, &powers, &one->out, &log_threads, &first, &one->count};

    one->stride = one->field->bytes;
    one->results = 1u << LOG_THREADS;
    run_kernel(one, kernel, one->results, 32, arguments, 7);
}

/* partial[t] = the sum of a[i] z^i over i = t modulo the threads */
static void reference_evaluate(struct vector_case *one)
{
    const pool_field *field = one->field;
    uint64_t power[FIELD_MAX_LIMBS], term[FIELD_MAX_LIMBS];

    field_set_one(field, power);
    for (uint64_t i = 0; i < one->count; i++) {
        uint64_t *partial = element(one, one->expected, i % (1u << LOG_THREADS));

        field_mul(field, term, element(one, one->a, i), power);
        field_add(field, partial, partial, term);
        field_mul(field, power, power, element(one, one->b, 3));
    }
}

static void launch_sum_blocks(struct vector_case *one, pool_kernel *kernel)
{
    uint8_t *packed = elements_pack(one->field, one->a, one->count, one->field->bytes);
    CUdeviceptr in = stage_upload(&one->stage, packed, one->count * one->field->bytes);
    void *arguments[] = {&in, &one->count, &one->out};

    free(packed);
    one->stride = one->field->bytes;
    one->results = (one->count + BLOCK - 1) / BLOCK;
    run_kernel(one, kernel, one->count, BLOCK, arguments, 3);
}

static void reference_sum_blocks(struct vector_case *one)
{
    for (uint64_t i = 0; i < one->count; i++) {
        uint64_t *sum = element(one, one->expected, i / BLOCK);

        field_add(one->field, sum, sum, element(one, one->a, i));
    }
}

static void launch_powers(struct vector_case *one, pool_kernel *kernel)
{
    uint64_t stride = one->stride / 4;
    uint32_t log_threads = LOG_THREADS;
    CUdeviceptr powers = upload_powers_of_two(one, element(one, one->b, 3));
    CUdeviceptr scale = one->row->has_factors ? one->constants : 0;
    uint64_t first = 0;
    void *arguments[] = {&one->out, &one->count, &stride, &powers, &scale, &log_threads, &first};

    run_kernel(one, kernel, 1u << LOG_THREADS, 32, arguments, 7);
}

static void reference_powers(struct vector_case *one)
{
    const pool_field *field = one->field;

    field_copy(field, one->expected, one->factors[0]);
    for (uint64_t i = 1; i < one->count; i++)
        field_mul(field, element(one, one->expected, i), element(one, one->expected, i - 1),
            element(one, one->b, 3));
}

/* Twiddles of radix-4 stages for a base in the role of a root of unity of order `count`. */
enum { TABLE_LOG_RADIX = 2 };

static void launch_stage_twiddles(struct vector_case *one, pool_kernel *kernel)
{
    uint32_t log_order = log2_of(one->count) - 1, log_radix = TABLE_LOG_RADIX;
    CUdeviceptr powers = upload_powers_of_two(one, element(one, one->b, 3));
    void *arguments[] = {&one->out, &powers, &log_order, &log_radix};

    run_kernel(one, kernel, one->count, BLOCK, arguments, 4);
}

/* The order that ptx/ntt/tables.cu documents. */
static void reference_stage_twiddles(struct vector_case *one)
{
    uint32_t log_order = log2_of(one->count) - 1;

    field_set_one(one->field, one->expected);
    for (uint32_t s = 0; s <= log_order; s++)
        for (uint64_t i = 0; i < (uint64_t)1 << s; i++) {
            uint64_t exponent = i;

            if (s > TABLE_LOG_RADIX) {
                uint64_t distance = (uint64_t)1 << (s - TABLE_LOG_RADIX);

                exponent = i / distance * (i % distance);
            }
            exponent <<= log_order - s;
            field_pow(one->field, element(one, one->expected, ((uint64_t)1 << s) + i),
                element(one, one->b, 3), &exponent, 1);
        }
}

/* ---- elements below the modulus -------------------------------------------------------------- */

static void launch_check(struct vector_case *one, pool_kernel *kernel)
{
    const uint64_t none = UINT64_MAX, wrong[] = {one->count - 1, one->count / 3, one->count / 2};
    uint8_t *packed = elements_pack(one->field, one->a, one->count, one->stride);
    struct vector_arg a;
    uint64_t first = 0;
    CUdeviceptr result, result_none = stage_upload(&one->stage, &none, sizeof(none));
    void *arguments[] = {&a, &one->count, &result_none, &no_block};
    struct kernel_launch launch = {.kernel = kernel,
        .blocks = (one->count + BLOCK - 1) / BLOCK,
        .threads = BLOCK,
        .arguments = arguments,
        .argument_count = 4};

    a = argument(one, one->in[0]);
    stage_run(&one->stage, kernel_launch, &launch);
    stage_download(&one->stage, &first, result_none, sizeof(first));
    if (first != UINT64_MAX)
        stage_fail(&one->stage, "element %llu counts as wrong", (unsigned long long)first);
    stage_time(&one->stage, kernel_launch, &launch, (double)one->count);
    for (size_t i = 0; i < 3; i++)
        memcpy(packed + wrong[i] * one->stride, one->field->modulus, one->field->bytes);
    result = stage_upload(&one->stage, &none, sizeof(none));
    a = argument(one, stage_upload(&one->stage, packed, one->count * one->stride));
    arguments[2] = &result;
    stage_run(&one->stage, kernel_launch, &launch);
    stage_download(&one->stage, &first, result, sizeof(first));
    if (first != wrong[1])
        stage_fail(&one->stage, "%llu is the first wrong element, not %llu",
            (unsigned long long)wrong[1], (unsigned long long)first);
    free(packed);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct vector_stage stages[] = {
    {"add", "vector_apply", launch_apply, reference_apply, VECTOR_ADD, false, 700, 1 << 18},
    {"sub", "vector_apply", launch_apply, reference_apply, VECTOR_SUB, false, 700, 1 << 18},
    {"mul", "vector_apply", launch_apply, reference_apply, VECTOR_MUL, false, 700, 1 << 18},
    {"copy", "vector_apply", launch_apply, reference_apply, VECTOR_COPY, false, 700, 1 << 18},
    {"add scaled", "vector_apply", launch_apply, reference_apply, VECTOR_ADD, true, 700, 1 << 18},
    {"mul scaled", "vector_apply", launch_apply, reference_apply, VECTOR_MUL, true, 700, 1 << 18},
    {"copy scaled", "vector_apply", launch_apply, reference_apply, VECTOR_COPY, true, 700, 1 << 18},
    {"invert", "vector_invert", launch_invert, reference_invert, 0, false, 300, 1 << 14},
    {"invert scaled", "vector_invert", launch_invert, reference_invert, 0, true, 300, 1 << 14},
    {"bit_reverse", "vector_bit_reverse", launch_bit_reverse, reference_bit_reverse, 0, false, 1024,
        1 << 18},
    {"transpose", "vector_transpose", launch_transpose, reference_transpose, 0, false, 33 * 50,
        33 * 5000},
    {"evaluate", "vector_evaluate", launch_evaluate, reference_evaluate, 0, false, 1000, 1 << 16},
    {"sum_blocks", "vector_sum_blocks", launch_sum_blocks, reference_sum_blocks, 0, false, 1000,
        1 << 18},
    {"check", "vector_check", launch_check, NULL, 0, false, 700, 1 << 18},
    {"powers", "vector_powers", launch_powers, reference_powers, 0, false, 500, 1 << 16},
    {"powers scaled", "vector_powers", launch_powers, reference_powers, 0, true, 500, 1 << 16},
    {"stage_twiddles", "ntt_stage_twiddles", launch_stage_twiddles, reference_stage_twiddles, 0,
        false, 512, 2048},
};

static void check_stage(struct harness *harness, const struct vector_stage *row,
    const pool_field *field, uint32_t gap_words)
{
    struct vector_case one = {.field = field, .row = row};
    bool is_table = strncmp(row->kernel, "ntt_", 4) == 0;
    pool_kernel *kernel = NULL;
    uint8_t *packed;
    char name[64];

    /* The table of stage twiddles is packed. */
    if (gap_words && row->launch == launch_stage_twiddles)
        return;
    snprintf(name, sizeof(name), "vector %s", row->name);
    if (!stage_begin(harness, &one.stage, name, "%s%s", pool_field_name(field),
            gap_words ? ", strided" : ""))
        return;
    one.count = one.results = harness_size(harness, row->simulated, row->gpu);
    one.stride = field->bytes + 4 * (size_t)gap_words;
    one.a = elements_random(field, 1, one.count);
    one.b = elements_random(field, 2, one.count);
    one.expected = harness_memory(one.count, field->limbs * sizeof(*one.expected));
    packed = harness_memory(3, field->bytes);
    for (uint64_t i = 0; i < 3; i++) {
        field_set_one(field, one.factors[i]);
        if (row->has_factors)
            field_copy(field, one.factors[i], element(&one, one.b, 4 + i));
        element_pack(field, packed + i * field->bytes, one.factors[i]);
    }
    one.constants = stage_upload(&one.stage, packed, 3 * (size_t)field->bytes);
    free(packed);
    packed = elements_pack(field, one.a, one.count, one.stride);
    one.in[0] = stage_upload(&one.stage, packed, one.count * one.stride);
    free(packed);
    packed = elements_pack(field, one.b, one.count, one.stride);
    one.in[1] = stage_upload(&one.stage, packed, one.count * one.stride);
    free(packed);
    one.out = stage_alloc(&one.stage, one.count * one.stride);
    if (row->reference)
        row->reference(&one);
    MUST(is_table ? ntt_tables_kernel(harness->device, field, row->kernel, &kernel)
                  : vector_kernel(harness->device, field, row->kernel, &kernel));
    row->launch(&one, kernel);
    stage_end(&one.stage);
    free(one.a);
    free(one.b);
    free(one.expected);
}

void check_vector_stages(struct harness *harness)
{
    /* A field of each width, and of each way of computing. */
    static const char *const fields[] = {
        "babybear", "mersenne31", "goldilocks", "bn254_fr", "bls12_381_fq", "bw6_761_fq"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        for (size_t k = 0; k < sizeof(stages) / sizeof(stages[0]); k++)
            for (uint32_t gap = 0; gap < 4; gap += 2)
                check_stage(harness, &stages[k], pool_field_by_name(fields[i]), gap);
}
