/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of an MSM, each with the input that a correct stage before it gives: scalars to signed
 * digits, digits to entries sorted by bucket, entries to buckets, buckets to window sums, window
 * sums to results; and the conversions of points. The references are the definitions, on the host.
 */
#include "zk/msm/msm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/random.h"
#include "zk/curve/endomorphism.h"
#include "zk/msm/convert.h"
#include "zk/msm/sort.h"

/* One MSM. */
struct msm_subject {
    const char *curve;
    uint64_t count;
    uint64_t batch;
    uint32_t window_bits;
    uint32_t precompute_factor; /* of precomputed bases; 1: none */
    bool is_equal;              /* all scalars are one: a partition for each window is oversized */
    bool on_gpu_only;
    uint32_t affine_passes; /* 0: none */
    uint64_t max_affine_groups;
};

/* Everything that the references use of a subject, and its addresses on the device. */
struct msm_case {
    struct harness *harness;
    const struct msm_subject *subject;
    const pool_curve *curve;
    struct msm_plan plan;
    struct msm_run run;
    struct msm_chunk_operands chunk;
    struct msm_sort_args sort;
    int stage;         /* of the sort */
    bool is_prepared;  /* what follows is there: from the first stage on that is selected */
    uint8_t *scalars;  /* standard form */
    int32_t *digits;   /* by window, MSM of the batch, scalar */
    uint32_t *offsets; /* of buckets */
    uint32_t *entries; /* by bucket, ascending in each */
    struct points points;
    struct curve_jacobian *buckets;
    struct curve_jacobian *sums; /* of windows */
};

/* ---- references ------------------------------------------------------------------------------ */

static uint32_t bits_of(const uint64_t *limbs, uint32_t count, uint32_t first, uint32_t bits)
{
    uint32_t value = 0;

    for (uint32_t bit = 0; bit < bits && first + bit < 64 * count; bit++)
        value |= (uint32_t)(limbs[(first + bit) / 64] >> (first + bit) % 64 & 1) << bit;
    return value;
}

/* Signed digits of a scalar below the order. The scalar s or, where it is smaller, order - s; the
 * digits of the latter are negated. Digits are in [-2^(c - 1), 2^(c - 1)). */
static void recode(const struct msm_case *one, const uint64_t *scalar, int32_t *digits)
{
    const pool_field *field = one->curve->scalar_field;
    uint32_t c = one->plan.window_bits;
    int32_t half = 1 << (c - 1), carry = 0, sign = 1;
    uint64_t chosen[FIELD_MAX_LIMBS], negative[FIELD_MAX_LIMBS];

    field_copy(field, chosen, scalar);
    field_neg(field, negative, scalar);
    for (uint32_t i = field->limbs; i-- > 0;)
        if (negative[i] != scalar[i]) {
            if (negative[i] < scalar[i]) {
                field_copy(field, chosen, negative);
                sign = -1;
            }
            break;
        }
    for (uint32_t window = 0; window < one->plan.windows; window++) {
        int32_t digit = (int32_t)bits_of(chosen, field->limbs, c * window, c) + carry;
        bool is_top = window + 1 == one->plan.windows;

        carry = !is_top && digit >= half + (sign < 0);
        digits[window] = sign * (digit - (carry ? 2 * half : 0));
    }
}

static uint64_t digit_index(const struct msm_case *one, uint32_t window, uint64_t msm, uint64_t i)
{
    return (window * one->subject->batch + msm) * one->subject->count + i;
}

static uint64_t bucket_of(
    const struct msm_case *one, uint32_t window, uint64_t msm, uint32_t magnitude)
{
    uint64_t set = msm * one->plan.sets_per_msm + window % one->plan.sets_per_msm;

    return (set << (one->plan.window_bits - 1)) + magnitude - 1;
}

static int compare_words(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Calls `visit` for each digit that is not 0, with its bucket and entry. */
typedef void entry_visit(struct msm_case *one, uint64_t bucket, uint32_t entry);
static void each_entry(struct msm_case *one, entry_visit *visit)
{
    const struct msm_chunk_operands *chunk = &one->chunk;

    for (uint32_t window = 0; window < one->plan.windows; window++)
        for (uint64_t msm = 0; msm < one->subject->batch; msm++)
            for (uint64_t i = 0; i < one->subject->count; i++) {
                int32_t digit = one->digits[digit_index(one, window, msm, i)];
                uint64_t point = chunk->first_base + i + msm * chunk->base_batch_stride +
                                 window / one->plan.sets_per_msm * chunk->multiple_stride;

                if (digit)
                    visit(one, bucket_of(one, window, msm, (uint32_t)abs(digit)),
                        (uint32_t)point | (digit < 0 ? MSM_ENTRY_NEGATIVE : 0));
            }
}

static void count_entry(struct msm_case *one, uint64_t bucket, uint32_t entry)
{
    (void)entry;
    one->offsets[bucket + 1]++;
}

static void store_entry(struct msm_case *one, uint64_t bucket, uint32_t entry)
{
    one->entries[one->offsets[bucket]++] = entry;
}

static void reference_sort(struct msm_case *one)
{
    uint64_t buckets = one->plan.buckets;

    each_entry(one, count_entry);
    for (uint64_t i = 0; i < buckets; i++)
        one->offsets[i + 1] += one->offsets[i];
    each_entry(one, store_entry);
    memmove(one->offsets + 1, one->offsets, buckets * sizeof(*one->offsets));
    one->offsets[0] = 0;
    for (uint64_t i = 0; i < buckets; i++)
        qsort(one->entries + one->offsets[i], one->offsets[i + 1] - one->offsets[i],
            sizeof(*one->entries), compare_words);
}

static void reference_accumulate(struct msm_case *one)
{
    for (uint64_t bucket = 0; bucket < one->plan.buckets; bucket++) {
        struct curve_jacobian *sum = &one->buckets[bucket];

        curve_jacobian_set_infinity(one->curve, sum);
        for (uint32_t at = one->offsets[bucket]; at < one->offsets[bucket + 1]; at++) {
            struct curve_jacobian point =
                one->points.jacobian[one->entries[at] & ~MSM_ENTRY_NEGATIVE];

            if (one->entries[at] & MSM_ENTRY_NEGATIVE)
                curve_jacobian_neg(one->curve, &point, &point);
            curve_jacobian_add(one->curve, sum, sum, &point);
        }
    }
}

/* Bucket i of a window counts i + 1 times: a running sum from the last one. */
static void reference_reduce(struct msm_case *one)
{
    uint64_t per_window = (uint64_t)1 << (one->plan.window_bits - 1);

    for (uint64_t window = 0; window < one->plan.bucket_sets; window++) {
        struct curve_jacobian running, *sum = &one->sums[window];

        curve_jacobian_set_infinity(one->curve, &running);
        curve_jacobian_set_infinity(one->curve, sum);
        for (uint64_t i = per_window; i-- > 0;) {
            curve_jacobian_add(
                one->curve, &running, &running, &one->buckets[window * per_window + i]);
            curve_jacobian_add(one->curve, sum, sum, &running);
        }
    }
}

static void reference_combine(const struct msm_case *one, struct curve_jacobian *results)
{
    for (uint64_t msm = 0; msm < one->subject->batch; msm++) {
        curve_jacobian_set_infinity(one->curve, &results[msm]);
        for (uint32_t set = one->plan.sets_per_msm; set-- > 0;) {
            for (uint32_t i = 0; i < one->plan.window_bits; i++)
                curve_jacobian_double(one->curve, &results[msm], &results[msm]);
            curve_jacobian_add(one->curve, &results[msm], &results[msm],
                &one->sums[msm * one->plan.sets_per_msm + set]);
        }
    }
}

/* ---- memory of a stage ----------------------------------------------------------------------- */

/* As kernels read buckets and window sums. */
static uint8_t *pack_xyzz(
    const pool_curve *curve, const struct curve_jacobian *points, uint64_t count)
{
    const struct field_extension *fe = &curve->coordinates;
    uint8_t *packed = harness_memory(count, 4 * (size_t)fe->bytes);

    for (uint64_t i = 0; i < count; i++) {
        uint8_t *to = packed + i * 4 * fe->bytes;
        uint64_t z[CURVE_MAX_LIMBS];

        if (curve_jacobian_is_infinity(curve, &points[i]))
            continue;
        field_extension_store(fe, to, POOL_FORM_MONTGOMERY, points[i].x);
        field_extension_store(fe, to + fe->bytes, POOL_FORM_MONTGOMERY, points[i].y);
        field_extension_sqr(fe, z, points[i].z);
        field_extension_store(fe, to + 2 * (size_t)fe->bytes, POOL_FORM_MONTGOMERY, z);
        field_extension_mul(fe, z, z, points[i].z);
        field_extension_store(fe, to + 3 * (size_t)fe->bytes, POOL_FORM_MONTGOMERY, z);
    }
    return packed;
}

/* The workspace, with one of its parts filled and the others as stage_alloc leaves memory. */
static void set_workspace(struct msm_case *one, struct stage *stage)
{
    one->run.workspace = stage_alloc(stage, one->plan.bytes);
    one->run.chunks = 0;
}

static void write_workspace(
    struct msm_case *one, struct stage *stage, uint64_t at, const void *data, size_t bytes)
{
    stage_write(stage, one->run.workspace + at, data, bytes);
}

static void upload_operands(struct msm_case *one, struct stage *stage)
{
    one->chunk.scalars = stage_upload(stage, one->scalars,
        one->subject->batch * one->subject->count * one->curve->scalar_field->bytes);
    one->chunk.bases =
        stage_upload(stage, one->points.packed, one->points.count * one->points.bytes);
}

static void make_scalars(struct msm_case *one)
{
    const pool_field *field = one->curve->scalar_field;
    uint64_t all = one->subject->batch * one->subject->count;
    int32_t *digits = harness_memory(one->plan.windows, sizeof(*digits));

    one->scalars = harness_memory(all, field->bytes);
    one->digits = harness_memory(all * one->plan.windows, sizeof(*one->digits));
    MUST(pool_random_scalars(field, 11, all, POOL_FORM_STANDARD, one->scalars));
    for (uint64_t i = 0; i < all; i++) {
        uint64_t scalar[FIELD_MAX_LIMBS] = {0};
        uint64_t small = i % 16; /* 0 ... 3: that; 4: -1 */

        if (one->subject->is_equal && i > 0) {
            memcpy(one->scalars + i * field->bytes, one->scalars, field->bytes);
        } else if (!one->subject->is_equal && small < 5) {
            field_set_integer(field, scalar, small < 4 ? (int64_t)small : -1);
            field_from_montgomery(field, scalar, scalar);
            field_store(field, one->scalars + i * field->bytes, scalar);
        }
        field_load(field, scalar, one->scalars + i * field->bytes);
        recode(one, scalar, digits);
        for (uint32_t window = 0; window < one->plan.windows; window++)
            one->digits[digit_index(
                one, window, i / one->subject->count, i % one->subject->count)] = digits[window];
    }
    free(digits);
}

/* Scalars, points and the results of all stages. */
static void prepare_references(struct msm_case *one)
{
    make_scalars(one);
    one->points =
        points_random(one->curve, 21, one->subject->precompute_factor * one->subject->count);
    one->offsets = harness_memory(one->plan.buckets + 2, sizeof(*one->offsets));
    one->entries = harness_memory(one->plan.entries, sizeof(*one->entries));
    one->buckets = harness_memory(one->plan.buckets, sizeof(*one->buckets));
    one->sums = harness_memory(one->plan.bucket_sets, sizeof(*one->sums));
    reference_sort(one);
    reference_accumulate(one);
    reference_reduce(one);
    one->is_prepared = true;
}

static bool begin(struct msm_case *one, struct stage *stage, const char *name)
{
    const struct msm_subject *subject = one->subject;

    if (!stage_begin(one->harness, stage, name,
            "%s, %llu of %llu, %u bits, precomputed x%u%s, %u affine passes", subject->curve,
            (unsigned long long)subject->batch, (unsigned long long)subject->count,
            subject->window_bits, subject->precompute_factor,
            subject->is_equal ? ", equal scalars" : "", one->plan.affine.passes))
        return false;
    if (!one->is_prepared)
        prepare_references(one);
    set_workspace(one, stage);
    return true;
}

/* ---- the sort -------------------------------------------------------------------------------- */

static pool_status prepare_sort(struct harness *harness, void *user)
{
    const struct msm_case *one = user;
    pool_status status = POOL_OK;

    (void)harness;
    for (int stage = 0; stage < one->stage && !status; stage++)
        status = msm_sort_enqueue(&one->run, &one->sort, (enum msm_sort_stage)stage);
    return status;
}

static pool_status launch_sort(struct harness *harness, void *user)
{
    const struct msm_case *one = user;

    (void)harness;
    return msm_sort_enqueue(&one->run, &one->sort, (enum msm_sort_stage)one->stage);
}

/* Entries of partition p begin at the first one of its first bucket. */
static uint32_t partition_start(const struct msm_case *one, uint64_t partition)
{
    uint64_t bucket = partition << one->sort.log_partition;

    return one->offsets[bucket < one->plan.buckets ? bucket : one->plan.buckets];
}

static void compare_digits(struct msm_case *one, struct stage *stage)
{
    uint64_t count = one->plan.windows * one->subject->batch * one->subject->count;
    uint32_t bytes = one->sort.digit_bytes, partitions = one->sort.partitions;
    uint8_t *expected = harness_memory(count, bytes);
    uint32_t *starts = harness_memory(partitions, sizeof(*starts));

    for (uint64_t i = 0; i < count; i++) {
        uint32_t stored = (uint32_t)(one->digits[i] + (1 << (one->plan.window_bits - 1)));

        memcpy(expected + i * bytes, &stored, bytes);
    }
    for (uint32_t i = 0; i < partitions; i++)
        starts[i] = partition_start(one, i);
    stage_compare(stage, "digit", one->sort.digits, expected, count, bytes);
    stage_compare(stage, "start of partition", one->sort.cursors, starts, partitions, 4);
    free(expected);
    free(starts);
}

/* An entry and the low bits of its bucket, of one partition. */
struct partitioned {
    uint32_t entry;
    uint32_t low;
};

static int compare_items(const void *left, const void *right)
{
    const struct partitioned *a = left, *b = right;

    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return compare_words(&a->entry, &b->entry);
}

static void compare_partitions(struct msm_case *one, struct stage *stage)
{
    uint64_t total = one->offsets[one->plan.buckets];
    uint32_t *entries = harness_memory(total, sizeof(*entries));
    uint16_t *lows = harness_memory(total, sizeof(*lows));
    struct partitioned *items = harness_memory(total, sizeof(*items));
    struct partitioned *expected = harness_memory(total, sizeof(*expected));

    stage_download(stage, entries, one->sort.partitioned_entries, total * sizeof(*entries));
    stage_download(stage, lows, one->sort.partitioned_buckets, total * sizeof(*lows));
    for (uint64_t i = 0; i < total; i++)
        items[i] = (struct partitioned){entries[i], lows[i]};
    for (uint64_t bucket = 0; bucket < one->plan.buckets; bucket++)
        for (uint32_t at = one->offsets[bucket]; at < one->offsets[bucket + 1]; at++)
            expected[at] = (struct partitioned){
                one->entries[at], (uint32_t)bucket & ((1u << one->sort.log_partition) - 1)};
    for (uint32_t i = 0; i < one->sort.partitions; i++)
        qsort(items + partition_start(one, i),
            partition_start(one, i + 1) - partition_start(one, i), sizeof(*items), compare_items);
    stage_compare_host(stage, "entry", items, expected, total, sizeof(*items));
    free(entries);
    free(lows);
    free(items);
    free(expected);
}

static void compare_entries(struct msm_case *one, struct stage *stage)
{
    uint64_t total = one->offsets[one->plan.buckets];
    uint32_t *entries = harness_memory(total, sizeof(*entries));

    stage_compare(
        stage, "offset", one->sort.bucket_offsets, one->offsets, one->plan.buckets + 1, 4);
    stage_download(stage, entries, one->sort.entries, total * sizeof(*entries));
    for (uint64_t i = 0; i < one->plan.buckets && !stage->is_wrong; i++)
        qsort(entries + one->offsets[i], one->offsets[i + 1] - one->offsets[i], sizeof(*entries),
            compare_words);
    stage_compare_host(stage, "entry", entries, one->entries, total, sizeof(*entries));
    free(entries);
}

/* Equal scalars, and only they, have oversized partitions: the second word of struct
 * msm_sort_state. */
static void check_oversized(struct msm_case *one, struct stage *stage)
{
    uint32_t counts[3];

    stage_download(stage, counts, one->sort.state, sizeof(counts));
    if ((counts[1] != 0) != one->subject->is_equal)
        stage_fail(stage, "%u oversized partitions", counts[1]);
}

static const struct sort_row {
    const char *name;
    int stage;
    bool is_oversized; /* works on oversized partitions only; the one before it on the others */
    void (*compare)(struct msm_case *one, struct stage *stage);
} sort_rows[] = {
    {"msm digits", MSM_STAGE_DIGITS, false, compare_digits},
    {"msm sort_partition", MSM_STAGE_PARTITION, false, compare_partitions},
    {"msm sort_buckets", MSM_STAGE_BUCKETS, false, compare_entries},
    {"msm sort_oversized", MSM_STAGE_OVERSIZED, true, compare_entries},
};

static void check_sort(struct msm_case *one)
{
    for (size_t i = 0; i < sizeof(sort_rows) / sizeof(sort_rows[0]); i++) {
        const struct sort_row *row = &sort_rows[i];
        struct stage stage;

        if (row->compare == compare_entries && row->is_oversized != one->subject->is_equal)
            continue;
        if (!begin(one, &stage, row->name))
            continue;
        upload_operands(one, &stage);
        one->stage = row->stage;
        msm_sort_args_init(&one->run, &one->chunk, &one->sort);
        stage_run(&stage, prepare_sort, one);
        stage_run(&stage, launch_sort, one);
        row->compare(one, &stage);
        if (row->compare == compare_entries)
            check_oversized(one, &stage);
        stage_time_prepared(&stage, prepare_sort, launch_sort, one,
            (double)(one->subject->batch * one->subject->count));
        stage_end(&stage);
    }
}

/* ---- buckets, windows, results --------------------------------------------------------------- */

static pool_status clear_buckets(struct harness *harness, void *user)
{
    const struct msm_case *one = user;

    (void)harness;
    return msm_run_clear(&one->run);
}

/* The partial buckets that threads share, which the merge adds up. */
static struct msm_partial_buckets partial_buckets(const struct msm_case *one, uint32_t level)
{
    const struct msm_merge_level *merge = &one->plan.merge[level];

    return (struct msm_partial_buckets){.sums = one->run.workspace + merge->sums_at,
        .buckets = one->run.workspace + merge->buckets_at};
}

static pool_status launch_accumulate_alone(struct harness *harness, void *user)
{
    const struct msm_case *one = user;
    uint32_t threads = msm_accumulate_bounds_for(one->plan.job.coordinate_words).threads;
    struct msm_accumulate_args args = {.entries = one->run.workspace + one->plan.entries_at,
        .bucket_offsets = one->run.workspace + one->plan.bucket_offsets_at,
        .buckets = one->run.workspace + one->plan.buckets_at,
        .partial = partial_buckets(one, 0),
        .bases = one->chunk.bases,
        .base_stride = one->chunk.base_stride,
        .bucket_count = (uint32_t)one->plan.buckets,
        .threads = one->plan.threads,
        .slice_entries = UINT32_MAX};
    const struct msm_launch launch = {.kernel = MSM_ACCUMULATE,
        .blocks = (one->plan.threads + threads - 1) / threads,
        .threads = threads,
        .args = &args,
        .args_bytes = sizeof(args)};

    (void)harness;
    return msm_enqueue(&one->run, &launch);
}

static pool_status launch_merge(struct harness *harness, void *user)
{
    const struct msm_case *one = user;
    pool_status status = POOL_OK;

    (void)harness;
    for (uint32_t level = 0; level < one->plan.merge_levels && !status; level++) {
        bool is_last = level + 1 == one->plan.merge_levels;
        struct msm_bucket_merge_args args = {.partial = partial_buckets(one, level),
            .next = is_last ? (struct msm_partial_buckets){0} : partial_buckets(one, level + 1),
            .buckets = one->run.workspace + one->plan.buckets_at,
            .count = one->plan.merge[level].slots,
            .is_last = is_last};
        const struct msm_launch launch = {.kernel = MSM_BUCKET_MERGE,
            .blocks = (args.count + MSM_MERGE_THREADS - 1) / MSM_MERGE_THREADS,
            .threads = MSM_MERGE_THREADS,
            .args = &args,
            .args_bytes = sizeof(args)};

        status = msm_enqueue(&one->run, &launch);
    }
    return status;
}

enum { NO_BUCKET = -1 };

/* Entries and their buckets, as the sort leaves them. */
static void write_entries(struct msm_case *one, struct stage *stage)
{
    upload_operands(one, stage);
    write_workspace(one, stage, one->plan.bucket_offsets_at, one->offsets,
        (one->plan.buckets + 1) * sizeof(*one->offsets));
    write_workspace(one, stage, one->plan.entries_at, one->entries,
        one->offsets[one->plan.buckets] * sizeof(*one->entries));
    stage_run(stage, clear_buckets, one);
}

/* Adds the partial sums of buckets to the buckets. */
static void add_partial_buckets(
    struct msm_case *one, struct stage *stage, struct curve_jacobian *sums)
{
    size_t bytes = pool_point_bytes(one->curve, POOL_POINT_XYZZ);
    uint64_t slots = one->plan.merge[0].slots;
    int32_t *buckets = harness_memory(slots, sizeof(*buckets));
    uint8_t *packed = harness_memory(slots, bytes);

    stage_download(stage, buckets, partial_buckets(one, 0).buckets, slots * sizeof(*buckets));
    stage_download(stage, packed, partial_buckets(one, 0).sums, slots * bytes);
    for (uint64_t i = 0; i < slots; i++) {
        struct curve_jacobian sum;

        if (buckets[i] == NO_BUCKET)
            continue;
        if (buckets[i] < 0 || (uint64_t)buckets[i] >= one->plan.buckets) {
            stage_fail(stage, "slot %llu is of bucket %d", (unsigned long long)i, buckets[i]);
            break;
        }
        point_unpack(one->curve, POOL_POINT_XYZZ, packed + i * bytes, &sum);
        curve_jacobian_add(one->curve, &sums[buckets[i]], &sums[buckets[i]], &sum);
    }
    free(buckets);
    free(packed);
}

/* Buckets and partial sums together are the sums of all entries of a bucket. */
static void check_accumulate_alone(struct msm_case *one)
{
    size_t bytes = pool_point_bytes(one->curve, POOL_POINT_XYZZ);
    struct curve_jacobian *sums;
    struct stage stage;
    uint8_t *packed;

    if (!begin(one, &stage, "msm accumulate"))
        return;
    sums = harness_memory(one->plan.buckets, sizeof(*sums));
    packed = harness_memory(one->plan.buckets, bytes);
    write_entries(one, &stage);
    stage_run(&stage, launch_accumulate_alone, one);
    stage_download(
        &stage, packed, one->run.workspace + one->plan.buckets_at, one->plan.buckets * bytes);
    for (uint64_t i = 0; i < one->plan.buckets; i++)
        point_unpack(one->curve, POOL_POINT_XYZZ, packed + i * bytes, &sums[i]);
    add_partial_buckets(one, &stage, sums);
    for (uint64_t i = 0; i < one->plan.buckets; i++)
        if (!curve_jacobian_equal(one->curve, &sums[i], &one->buckets[i]))
            stage_fail(&stage, "bucket %llu", (unsigned long long)i);
    stage_time(&stage, launch_accumulate_alone, one, (double)one->offsets[one->plan.buckets]);
    stage_end(&stage);
    free(sums);
    free(packed);
}

/* Runs of slots with one bucket, of all lengths, with unused slots between some of them. */
static void check_merge(struct msm_case *one)
{
    uint64_t slots = one->plan.merge[0].slots, bucket = 0;
    struct curve_jacobian *expected, *sums;
    struct stage stage;
    int32_t *buckets;
    uint8_t *packed;

    if (!begin(one, &stage, "msm bucket_merge"))
        return;
    expected = harness_memory(one->plan.buckets, sizeof(*expected));
    sums = harness_memory(slots, sizeof(*sums));
    buckets = harness_memory(slots, sizeof(*buckets));
    for (uint64_t i = 0; i < one->plan.buckets; i++)
        curve_jacobian_set_infinity(one->curve, &expected[i]);
    for (uint64_t i = 0; i < slots; i++) {
        bool is_new = next_random() % 256 < (i % 1000 < 500 ? 2 : 100);

        bucket += is_new;
        sums[i] = one->points.jacobian[i % one->points.count];
        buckets[i] = NO_BUCKET;
        if (bucket >= one->plan.buckets || (is_new && next_random() % 2))
            continue;
        buckets[i] = (int32_t)bucket;
        curve_jacobian_add(one->curve, &expected[bucket], &expected[bucket], &sums[i]);
    }
    packed = pack_xyzz(one->curve, sums, slots);
    stage_run(&stage, clear_buckets, one);
    stage_write(&stage, partial_buckets(one, 0).sums, packed,
        slots * pool_point_bytes(one->curve, POOL_POINT_XYZZ));
    stage_write(&stage, partial_buckets(one, 0).buckets, buckets, slots * sizeof(*buckets));
    stage_run(&stage, launch_merge, one);
    stage_compare_points(&stage, "bucket", one->curve, POOL_POINT_XYZZ,
        one->run.workspace + one->plan.buckets_at, expected, one->plan.buckets);
    stage_time(&stage, launch_merge, one, (double)slots);
    stage_end(&stage);
    free(expected);
    free(sums);
    free(buckets);
    free(packed);
}

static pool_status launch_accumulate(struct harness *harness, void *user)
{
    const struct msm_case *one = user;

    (void)harness;
    return msm_run_accumulate(&one->run, &one->chunk);
}

/* Into cleared buckets, and once more into those that have the sums already; with launches that
 * take one entry per thread, and on one multiprocessor. */
struct accumulation {
    const char *name;
    bool is_twice;
    struct exec_share share;
};

static const struct accumulation accumulations[] = {
    {.name = "msm accumulate and merge"},
    {.name = "msm accumulate and merge, twice", .is_twice = true},
    {.name = "msm accumulate and merge, in slices", .share = {.slice_ns = 1}},
    {.name = "msm accumulate and merge, in slices, twice",
        .is_twice = true,
        .share = {.slice_ns = 1}},
    {.name = "msm accumulate and merge, one multiprocessor",
        .share = {.slice_ns = 100000, .multiprocessors = 1}},
};

static void check_accumulate(struct msm_case *one, const struct accumulation *accumulation)
{
    bool accumulates_twice = accumulation->is_twice;
    struct curve_jacobian *expected;
    struct stage stage;

    if (!begin(one, &stage, accumulation->name))
        return;
    one->run.share = accumulation->share;
    one->run.chunks = 0;
    expected = harness_memory(one->plan.buckets, sizeof(*expected));
    memcpy(expected, one->buckets, one->plan.buckets * sizeof(*expected));
    for (uint64_t i = 0; accumulates_twice && i < one->plan.buckets; i++)
        curve_jacobian_double(one->curve, &expected[i], &expected[i]);
    write_entries(one, &stage);
    stage_run(&stage, launch_accumulate, one);
    if (accumulates_twice) {
        one->run.chunks = 1;
        stage_run(&stage, launch_accumulate, one);
    }
    stage_compare_points(&stage, "bucket", one->curve, POOL_POINT_XYZZ,
        one->run.workspace + one->plan.buckets_at, expected, one->plan.buckets);
    stage_time_prepared(
        &stage, clear_buckets, launch_accumulate, one, (double)one->offsets[one->plan.buckets]);
    stage_end(&stage);
    free(expected);
}

static struct msm_reduce_segments_args segments_args(const struct msm_case *one)
{
    return (struct msm_reduce_segments_args){.buckets = one->run.workspace + one->plan.buckets_at,
        .pairs = one->run.workspace + one->plan.scratch_at,
        .count = one->plan.buckets >> one->plan.log_segment,
        .log_segment = one->plan.log_segment,
        .slice_buckets = (1u << one->plan.log_segment) - 1,
        .doublings = one->plan.log_segment};
}

static pool_status launch_segments(struct harness *harness, void *user)
{
    const struct msm_case *one = user;
    struct msm_reduce_segments_args args = segments_args(one);
    const struct msm_launch launch = {.kernel = MSM_REDUCE_SEGMENTS,
        .blocks = (args.count + MSM_SEGMENT_THREADS - 1) / MSM_SEGMENT_THREADS,
        .threads = MSM_SEGMENT_THREADS,
        .args = &args,
        .args_bytes = sizeof(args)};

    (void)harness;
    return msm_enqueue(&one->run, &launch);
}

static void write_buckets(struct msm_case *one, struct stage *stage)
{
    uint8_t *packed = pack_xyzz(one->curve, one->buckets, one->plan.buckets);

    write_workspace(one, stage, one->plan.buckets_at, packed,
        one->plan.buckets * 4 * one->curve->coordinates.bytes);
    free(packed);
}

/* Of each segment of buckets, its weighted sum and its sum times its length. */
static void check_segments(struct msm_case *one)
{
    uint64_t length = (uint64_t)1 << one->plan.log_segment;
    struct curve_jacobian *expected;
    struct stage stage;

    if (!begin(one, &stage, "msm reduce_segments"))
        return;
    struct msm_reduce_segments_args args = segments_args(one);
    expected = harness_memory(2 * args.count, sizeof(*expected));
    for (uint64_t i = 0; i < args.count; i++) {
        struct curve_jacobian *pair = &expected[2 * i];

        curve_jacobian_set_infinity(one->curve, &pair[0]);
        curve_jacobian_set_infinity(one->curve, &pair[1]);
        for (uint64_t k = length; k-- > 0;) {
            curve_jacobian_add(one->curve, &pair[1], &pair[1], &one->buckets[i * length + k]);
            curve_jacobian_add(one->curve, &pair[0], &pair[0], &pair[1]);
        }
        for (uint32_t k = 0; k < one->plan.log_segment; k++)
            curve_jacobian_double(one->curve, &pair[1], &pair[1]);
    }
    write_buckets(one, &stage);
    stage_run(&stage, launch_segments, one);
    stage_compare_points(&stage, "half of a pair", one->curve, POOL_POINT_XYZZ,
        one->run.workspace + one->plan.scratch_at, expected, 2 * args.count);
    stage_time(&stage, launch_segments, one, (double)one->plan.buckets);
    stage_end(&stage);
    free(expected);
}

static pool_status launch_reduce(struct harness *harness, void *user)
{
    const struct msm_case *one = user;

    (void)harness;
    return msm_run_reduce(&one->run);
}

static void check_reduce(struct msm_case *one)
{
    struct stage stage;

    if (!begin(one, &stage, "msm reduce"))
        return;
    write_buckets(one, &stage);
    stage_run(&stage, launch_reduce, one);
    stage_compare_points(&stage, "window sum", one->curve, POOL_POINT_XYZZ,
        one->run.workspace + one->plan.window_sums_at, one->sums, one->plan.bucket_sets);
    stage_time(&stage, launch_reduce, one, (double)one->plan.buckets);
    stage_end(&stage);
}

struct combine {
    struct msm_case *one;
    struct msm_target target;
};

static pool_status launch_combine(struct harness *harness, void *user)
{
    const struct combine *combine = user;

    (void)harness;
    return msm_run_combine(&combine->one->run, &combine->target);
}

static void compare_results(struct msm_case *one, struct stage *stage,
    const struct msm_target *target, const struct curve_jacobian *expected)
{
    const pool_point_format format = {
        .layout = target->layout, .form = target->form, .stride = target->stride};
    uint8_t *results = harness_memory(one->subject->batch, target->stride);

    stage_download(stage, results, target->results, one->subject->batch * target->stride);
    for (uint64_t i = 0; i < one->subject->batch; i++) {
        struct curve_jacobian point;
        const char *wrong = curve_load(one->curve, &point, &format, results + i * target->stride);

        if (wrong || !curve_jacobian_equal(one->curve, &point, &expected[i]))
            stage_fail(
                stage, "result %llu: %s", (unsigned long long)i, wrong ? wrong : "another point");
    }
    free(results);
}

static void check_combine(struct msm_case *one, pool_point_layout layout, pool_form form)
{
    static const char *const names[] = {"msm window_combine, affine",
        "msm window_combine, affine with flag", "msm window_combine, Jacobian",
        "msm window_combine, projective", "msm window_combine, XYZZ"};
    struct curve_jacobian *expected = harness_memory(one->subject->batch, sizeof(*expected));
    struct combine combine = {.one = one,
        .target = {.stride = pool_point_bytes(one->curve, layout), .layout = layout, .form = form}};
    struct stage stage;

    if (begin(one, &stage, names[layout])) {
        uint8_t *packed = pack_xyzz(one->curve, one->sums, one->plan.bucket_sets);

        reference_combine(one, expected);
        write_workspace(one, &stage, one->plan.window_sums_at, packed,
            one->plan.bucket_sets * 4 * one->curve->coordinates.bytes);
        combine.target.results = stage_alloc(&stage, one->subject->batch * combine.target.stride);
        stage_run(&stage, launch_combine, &combine);
        compare_results(one, &stage, &combine.target, expected);
        stage_time(&stage, launch_combine, &combine, (double)one->subject->batch);
        stage_end(&stage);
        free(packed);
    }
    free(expected);
}

/* ---- points ---------------------------------------------------------------------------------- */

struct conversion {
    struct msm_case *one;
    struct msm_input_bases input;
    struct msm_doubling doubling;
};

static pool_status launch_convert(struct harness *harness, void *user)
{
    const struct conversion *conversion = user;

    (void)harness;
    return msm_convert_bases(&conversion->one->run, &conversion->input, conversion->doubling.out);
}

static pool_status launch_double(struct harness *harness, void *user)
{
    const struct conversion *conversion = user;

    (void)harness;
    return msm_double_bases(&conversion->one->run, &conversion->doubling);
}

static void check_convert(struct msm_case *one, pool_point_layout layout, pool_form form)
{
    static const char *const names[] = {"msm convert_bases, affine",
        "msm convert_bases, affine with flag", "msm convert_bases, Jacobian",
        "msm convert_bases, projective", "msm convert_bases, XYZZ"};
    const pool_point_format from = {.layout = POOL_POINT_AFFINE, .form = POOL_FORM_MONTGOMERY};
    const pool_point_format to = {.layout = layout, .form = form};
    uint64_t count = one->points.count;
    size_t bytes = pool_point_bytes(one->curve, layout);
    struct conversion conversion = {.one = one};
    struct stage stage;

    if (!begin(one, &stage, names[layout]))
        return;
    uint8_t *packed = harness_memory(count, bytes);
    pool_span span = {.count = count, .form = form, .space = POOL_MEMORY_DEVICE};

    MUST(pool_points_convert(
        one->curve, &from, one->points.packed, count, POOL_CHECK_CANONICAL, &to, packed));
    span.data = (void *)(uintptr_t)stage_upload(&stage, packed, count * bytes);
    msm_input_bases_init(&conversion.input, one->curve, &span, layout);
    conversion.doubling.out = stage_alloc(&stage, count * one->points.bytes);
    stage_run(&stage, launch_convert, &conversion);
    stage_compare(
        &stage, "point", conversion.doubling.out, one->points.packed, count, one->points.bytes);
    stage_time(&stage, launch_convert, &conversion, (double)count);
    stage_end(&stage);
    free(packed);
}

static void check_double(struct msm_case *one)
{
    enum { DOUBLINGS = 7 };
    uint64_t count = one->points.count;
    struct conversion conversion = {.one = one};
    struct stage stage;

    if (!begin(one, &stage, "msm double_bases"))
        return;
    struct curve_jacobian *expected = harness_memory(count, sizeof(*expected));

    for (uint64_t i = 0; i < count; i++) {
        expected[i] = one->points.jacobian[i];
        for (int k = 0; k < DOUBLINGS; k++)
            curve_jacobian_double(one->curve, &expected[i], &expected[i]);
    }
    conversion.doubling = (struct msm_doubling){
        .bases = stage_upload(&stage, one->points.packed, count * one->points.bytes),
        .out = stage_alloc(&stage, count * one->points.bytes),
        .scratch = stage_alloc(&stage, 2 * count * one->points.bytes),
        .count = count,
        .doublings = DOUBLINGS};
    stage_run(&stage, launch_double, &conversion);
    stage_compare_points(
        &stage, "point", one->curve, POOL_POINT_AFFINE, conversion.doubling.out, expected, count);
    stage_time(&stage, launch_double, &conversion, (double)count);
    stage_end(&stage);
    free(expected);
}

/* ---- split terms ----------------------------------------------------------------------------- */

struct split {
    struct msm_case *one;
    CUdeviceptr halves;
    CUdeviceptr mapped;
};

static pool_status launch_split(struct harness *harness, void *user)
{
    const struct split *split = user;
    struct msm_chunk_operands chunk = split->one->chunk;

    (void)harness;
    return msm_split_terms(&split->one->run, &chunk, split->halves, split->mapped);
}

/* A half as the kernel writes it: a negative one as order - |half|. */
static void store_half(
    const pool_field *order, const struct curve_halves *halves, int half, uint8_t *to)
{
    uint64_t value[FIELD_MAX_LIMBS];

    memcpy(value, halves->value[half], sizeof(value));
    if (halves->is_negative[half])
        field_neg(order, value, value);
    field_store(order, to, value);
}

/* Halves of each MSM's scalars, and its bases and their images, which are lambda times the bases.
 */
static void check_split(struct msm_case *one)
{
    const struct curve_endomorphism *e = curve_endomorphism_of(one->curve);
    const pool_field *order = one->curve->scalar_field;
    const uint64_t count = one->subject->count, batch = one->subject->batch;
    struct split split = {.one = one};
    uint64_t lambda[FIELD_MAX_LIMBS];
    struct stage stage;

    if (!begin(one, &stage, "msm split_scalars and map_bases"))
        return;
    uint8_t *halves = harness_memory(2 * batch * count, order->bytes);
    struct curve_jacobian *mapped = harness_memory(2 * count, sizeof(*mapped));

    field_from_montgomery(order, lambda, e->lambda);
    for (uint64_t i = 0; i < batch * count; i++) {
        uint64_t scalar[FIELD_MAX_LIMBS] = {0}, at = i / count * 2 * count + i % count;
        struct curve_halves of;

        field_load(order, scalar, one->scalars + i * order->bytes);
        curve_endomorphism_split(one->curve, e, scalar, &of);
        store_half(order, &of, 0, halves + at * order->bytes);
        store_half(order, &of, 1, halves + (at + count) * order->bytes);
    }
    for (uint64_t i = 0; i < count; i++) {
        mapped[i] = one->points.jacobian[i];
        curve_multiply(one->curve, &mapped[count + i], &mapped[i], lambda, order->limbs);
    }
    upload_operands(one, &stage);
    split.halves = stage_alloc(&stage, 2 * batch * count * order->bytes);
    split.mapped = stage_alloc(&stage, 2 * count * one->points.bytes);
    stage_run(&stage, launch_split, &split);
    stage_compare(&stage, "half", split.halves, halves, 2 * batch * count, order->bytes);
    stage_compare_points(
        &stage, "base", one->curve, POOL_POINT_AFFINE, split.mapped, mapped, 2 * count);
    stage_time(&stage, launch_split, &split, (double)(batch * count));
    stage_end(&stage);
    free(halves);
    free(mapped);
}

/* ---- one MSM --------------------------------------------------------------------------------- */

static void plan(struct msm_case *one)
{
    const struct msm_subject *subject = one->subject;
    const pool_field *field = one->curve->scalar_field;
    struct chip chip = chip_of(one->harness->device);
    struct tuning numbers = *chip_tuning(&chip);
    const struct msm_job job = {.coordinate_words = one->curve->coordinates.bytes / 4,
        .scalar_words = field->words,
        .order_bits = field->bits,
        .count = subject->count,
        .chunk_count = subject->count,
        .batch = subject->batch,
        .precompute_factor = subject->precompute_factor,
        .window_bits = subject->window_bits,
        .affine_passes = subject->affine_passes ? subject->affine_passes : POOL_AFFINE_NONE,
        .max_affine_groups = subject->max_affine_groups};

    for (int i = 0; i < TUNING_MSM_WIDTHS; i++)
        numbers.msm[i].small_max_terms = 0; /* which have other stages */
    chip.tuning = &numbers;
    MUST(msm_plan_make(&chip, &job, &one->plan));
    one->run = (struct msm_run){.device = one->harness->device,
        .stream = one->harness->stream,
        .curve = one->curve,
        .plan = &one->plan};
    one->chunk = (struct msm_chunk_operands){.count = subject->count,
        .scalar_stride = field->words,
        .scalar_batch_stride = subject->count,
        .scalar_form = POOL_FORM_STANDARD,
        .base_stride = pool_point_bytes(one->curve, POOL_POINT_AFFINE),
        .multiple_stride = subject->count};
}

static void check_subject(struct harness *harness, const struct msm_subject *subject)
{
    struct msm_case one = {
        .harness = harness, .subject = subject, .curve = pool_curve_by_name(subject->curve)};

    if (subject->on_gpu_only && (harness->is_simulated || !harness->is_timing))
        return;
    plan(&one);
    if (!subject->affine_passes) {
        check_sort(&one);
        check_accumulate_alone(&one);
        check_merge(&one);
    }
    for (size_t i = 0; i < sizeof(accumulations) / sizeof(accumulations[0]); i++)
        check_accumulate(&one, &accumulations[i]);
    one.run.share = (struct exec_share){0};
    if (!subject->affine_passes) {
        check_segments(&one);
        check_reduce(&one);
    }
    for (int layout = 0; layout < 5 && !subject->affine_passes; layout++) {
        check_combine(&one, (pool_point_layout)layout,
            layout % 2 ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD);
        check_convert(&one, (pool_point_layout)layout,
            layout % 2 ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD);
    }
    if (!subject->affine_passes)
        check_double(&one);
    if (!subject->affine_passes && subject->precompute_factor == 1)
        check_split(&one);
    points_free(&one.points);
    free(one.scalars);
    free(one.digits);
    free(one.offsets);
    free(one.entries);
    free(one.buckets);
    free(one.sums);
}

void check_msm_stages(struct harness *harness)
{
    static const struct msm_subject subjects[] = {
        {"bn254_g1", 300, 1, 6, 1, false, false, 0, 0},
        {"bn254_g1", 40, 3, 5, 1, false, false, 0, 0},
        {"bn254_g1", 100, 2, 7, 3, false, false, 0, 0},
        {"bn254_g1", 9000, 1, 3, 1, true, false, 0, 0},
        {"bls12_381_g1", 200, 1, 6, 1, false, false, 0, 0},
        {"secp256k1", 50, 2, 5, 1, false, false, 0, 0},
        {"bn254_g2", 100, 1, 5, 1, false, false, 0, 0},
        {"bn254_g1", 300, 1, 6, 1, false, false, 1, 0},
        {"bn254_g1", 300, 1, 6, 1, false, false, 2, 0},
        {"bn254_g1", 100, 2, 7, 3, false, false, 2, 100},
        {"bn254_g1", 2000, 1, 3, 1, true, false, 2, 600},
        {"bls12_381_g1", 200, 1, 6, 1, false, false, 2, 300},
        {"bn254_g2", 100, 1, 5, 1, false, false, 2, 0},
        {"bn254_g1", 1 << 16, 1, 13, 1, false, true, 0, 0},
        {"bls12_381_g1", 1 << 16, 1, 13, 1, false, true, 0, 0},
        {"bn254_g2", 1 << 14, 1, 11, 1, false, true, 0, 0},
        {"bn254_g1", 1 << 16, 1, 10, 1, false, true, 2, 0},
        {"bls12_381_g1", 1 << 16, 1, 10, 1, false, true, 1, 0},
        {"bls12_381_g1", 1 << 16, 1, 10, 1, false, true, 2, 1 << 15},
        {"bn254_g2", 1 << 14, 1, 9, 1, false, true, 2, 0},
    };

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        check_subject(harness, &subjects[i]);
}
