/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a matrix's rows put into bit-reversed order, from one place in device memory to another;
 * the size is the number of rows, the batch that of the columns. Every row is compared.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct reverse_state {
    const pool_field *field;
    size_t element_bytes;
    uint64_t bytes;
    uint8_t *elements;
    pool_matrix in;
    pool_matrix out;
    struct bench_array from;
    struct bench_array to;
};

static pool_status create_reverse(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct reverse_state *reverse = bench_keep(run, 1, sizeof(*reverse));
    const uint64_t count = spec->size * spec->batch;

    run->state = reverse;
    run->units = (double)count;
    reverse->field = pool_field_by_name(spec->subject);
    reverse->element_bytes = pool_field_element_bytes(reverse->field);
    reverse->bytes = count * reverse->element_bytes;
    reverse->elements = bench_keep(run, count, reverse->element_bytes);
    reverse->in = reverse->out =
        (pool_matrix){.height = spec->size, .width = (uint32_t)spec->batch, .layout = spec->layout};
    return bench_random_scalars(reverse->field, 1, count, POOL_FORM_STANDARD, reverse->elements);
}

static pool_status upload_reverse(struct bench_run *run)
{
    struct reverse_state *reverse = run->state;
    const uint64_t items =
        reverse->in.layout == POOL_MATRIX_ROWS ? reverse->in.height : reverse->in.width;
    struct bench_items matrix = {
        .from = reverse->elements, .item_bytes = reverse->bytes / items, .count = items};
    pool_status status = bench_place(run, &matrix, &reverse->from);

    matrix.from = NULL;
    if (!status)
        status = bench_place(run, &matrix, &reverse->to);
    reverse->in.span = reverse->from.span;
    reverse->out.span = reverse->to.span;
    return status;
}

static pool_status call_reverse(struct bench_run *run)
{
    const struct reverse_state *reverse = run->state;

    return pool_matrix_bit_reverse(reverse->field, &run->exec, &reverse->in, &reverse->out);
}

/* Row `from` of the argument is row `to` of the result. */
static bool is_moved(
    const struct reverse_state *reverse, const uint8_t *results, uint64_t from, uint64_t to)
{
    const size_t bytes = reverse->element_bytes;
    const uint64_t height = reverse->in.height, width = reverse->in.width;

    if (reverse->in.layout == POOL_MATRIX_ROWS)
        return memcmp(reverse->elements + from * width * bytes, results + to * width * bytes,
                   width * bytes) == 0;
    for (uint64_t c = 0; c < width; c++)
        if (memcmp(reverse->elements + (c * height + from) * bytes,
                results + (c * height + to) * bytes, bytes) != 0)
            return false;
    return true;
}

static pool_status check_reverse(struct bench_run *run, bool *is_correct)
{
    const struct reverse_state *reverse = run->state;
    uint8_t *results = bench_alloc(1, reverse->bytes);
    pool_status status = bench_gather(&reverse->to, results);

    *is_correct = true;
    for (uint64_t i = 0, reversed = 0; i < reverse->in.height && *is_correct && !status; i++) {
        uint64_t bit = reverse->in.height >> 1;

        *is_correct = is_moved(reverse, results, i, reversed);
        for (; reversed & bit; bit >>= 1) /* a carry from the highest bit down */
            reversed ^= bit;
        reversed |= bit;
    }
    free(results);
    return status;
}

const struct bench_operation bench_reverse = {
    .name = "reverse",
    .options = "batch layout",
    .unit = "elements",
    .option = "field",
    .arrays = 1,
    .default_subjects = "babybear",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = bench_has_field,
    .create = create_reverse,
    .upload = upload_reverse,
    .call = call_reverse,
    .check = check_reverse,
};
