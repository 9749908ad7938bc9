/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of transforms over several devices as pure functions: every column of the matrix is one
 * transform of one device, every result is stored once, at the device of its row and beside its
 * neighbours; columns are transformed in one pass; splits of all sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "zk/ntt/split.h"

static const uint32_t words[] = {1, 2, 8, 12, 24};
static const struct chip chip = {.multiprocessors = 132, .shared_bytes = 227 << 10};

/* A way is a number of devices, where input and output are, and an order. */
enum { WAYS = 64 };

static struct ntt_split split_of(uint32_t log_size, uint32_t way)
{
    const struct ntt_job job = {.words = words[log_size % 5],
        .log_size = log_size,
        .batch = 1,
        .order = (pool_ntt_order)(way & 3)};
    struct ntt_split split;

    ntt_split_make(
        &chip, &job, ntt_split_log_devices(log_size, 2u << (way >> 4)), way & 4, way & 8, &split);
    return split;
}

static uint64_t reverse(uint64_t index, uint32_t bits)
{
    uint64_t result = 0;

    for (uint32_t i = 0; i < bits; i++)
        result |= (index >> i & 1) << (bits - 1 - i);
    return result;
}

/* The index in the input of row `row` of transform `transform` of a device. */
static uint64_t input_index(
    const struct ntt_split *split, uint64_t device, uint64_t transform, uint64_t row)
{
    const uint32_t a = split->log_devices, local = split->log_size - a;
    const uint64_t columns = split->columns_job.batch;

    if (split->takes_reversed)
        return reverse(
            device << local | transform << split->log_rows | reverse(row, split->log_rows),
            split->log_size);
    if (split->is_uploaded)
        return (row << split->log_columns) + device * columns + transform;
    return ((row * columns + transform) << a) + device;
}

/* The row whose result is at `run` of a column at a destination. */
static uint64_t row_at(const struct ntt_split *split, uint64_t device, uint64_t run)
{
    const uint32_t a = split->log_devices, log_run = split->log_rows - a;

    if (split->gives_reversed)
        return reverse(device << log_run | run, split->log_rows);
    return split->is_downloaded ? device << log_run | run : run << a | device;
}

/* What the kernel does with a result, on the host: the column and row that it is scaled by, and
 * where it is stored. */
struct stored {
    uint64_t column, row, device, at;
};

static struct stored store(
    const struct ntt_split *split, const struct ntt_split_args *args, uint64_t t, uint64_t place)
{
    const uint32_t log_run = split->log_rows - args->log_devices;
    const uint64_t run = place & ((UINT64_C(1) << log_run) - 1);
    struct stored stored = {.device = place >> log_run};

    if (args->flags & NTT_SPLIT_REVERSED_COLUMNS)
        t = reverse(t, args->log_transforms);
    stored.row =
        args->flags & NTT_SPLIT_CYCLIC_ROWS ? run << args->log_devices | stored.device : place;
    if (!(args->flags & NTT_SPLIT_NATURAL_ROWS))
        stored.row = reverse(stored.row, split->log_rows);
    stored.column = t << args->column_shift | args->first_column;
    stored.at = (t << args->place_shift | args->first_place) << log_run | run;
    return stored;
}

static void check_device(
    const struct ntt_split *split, uint32_t device, bool is_direct, uint8_t *seen)
{
    const struct ntt_split_args args = ntt_split_args_of(split, device, is_direct);
    const uint32_t a = split->log_devices, log_run = split->log_rows - a;
    const uint64_t local = UINT64_C(1) << (split->log_size - a);

    for (uint64_t t = 0; t < split->columns_job.batch; t++)
        for (uint64_t place = 0; place < UINT64_C(1) << split->log_rows; place++) {
            const struct stored stored = store(split, &args, t, place);
            const uint64_t column = is_direct ? stored.at >> log_run : stored.column;

            assert_int_equal(input_index(split, device, t, place),
                (place << split->log_columns) + stored.column);
            assert_int_equal(column, stored.column);
            assert_int_equal(stored.row,
                row_at(split, stored.device, stored.at & ((UINT64_C(1) << log_run) - 1)));
            assert_true(stored.at < (is_direct ? local : local >> a));
            if (is_direct)
                assert_int_equal(seen[stored.device * local + stored.at]++, 0);
            else
                assert_int_equal(seen[stored.device * (local >> a) + stored.at]++, 0);
        }
}

static void test_columns(void **state)
{
    (void)state;
    for (uint32_t log_size = 2; log_size <= 13; log_size++)
        for (uint32_t way = 0; way < WAYS; way++) {
            const struct ntt_split split = split_of(log_size, way);
            uint8_t *seen = calloc(1, (size_t)1 << log_size);

            for (uint32_t device = 0; device < 1u << split.log_devices; device++)
                check_device(&split, device, true, seen);
            for (uint32_t device = 0; device < 1u << split.log_devices; device++) {
                memset(seen, 0, (size_t)1 << log_size);
                check_device(&split, device, false, seen);
            }
            free(seen);
        }
}

static uint32_t passes_of(const struct ntt_job *job)
{
    const struct ntt_tuning tuning = ntt_tuning_for(job, &chip);
    struct ntt_plan plan;

    assert_true(ntt_plan_make(&tuning, &chip, job, &plan));
    return plan.count;
}

static void test_splits(void **state)
{
    (void)state;
    assert_int_equal(ntt_split_log_devices(24, 1), 0);
    assert_int_equal(ntt_split_log_devices(24, 3), 1);
    assert_int_equal(ntt_split_log_devices(24, 8), 3);
    assert_int_equal(ntt_split_log_devices(24, 64), 4);
    assert_int_equal(ntt_split_log_devices(5, 8), 2);
    for (uint32_t log_size = 2; log_size <= 32; log_size++)
        for (uint32_t way = 0; way < WAYS; way++) {
            const struct ntt_split split = split_of(log_size, way);
            const uint32_t a = split.log_devices;
            struct ntt_job whole = split.rows_job;

            assert_int_equal(split.log_rows + split.log_columns, log_size);
            assert_true(split.log_rows >= a && split.log_columns >= a);
            assert_int_equal(
                split.columns_job.batch << split.log_rows, UINT64_C(1) << (log_size - a));
            assert_int_equal(
                split.rows_job.batch << split.log_columns, UINT64_C(1) << (log_size - a));
            assert_int_equal(passes_of(&split.columns_job), 1);
            whole.log_size = log_size;
            whole.batch = 1;
            if (log_size >= 20) /* a split needs no more passes than one device does */
                assert_true(1 + passes_of(&split.rows_job) <= passes_of(&whole));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns), cmocka_unit_test(test_splits)};

    return cmocka_run_group_tests_name("ntt_split_plan", tests, NULL, NULL);
}
