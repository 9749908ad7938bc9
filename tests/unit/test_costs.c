/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted durations: those of one device and of transforms over two are within 10 % of the
 * measured ones, those of several devices are the ones in docs/performance.
 *
 *   test_unit_costs --print FILE    writes the file (target predictions)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "support/assert.h"
#include "support/vectors.h"
#include "zk/msm/plan.h"
#include "zk/ntt/split.h"
#include "zk/poseidon/plan.h"

#define PREDICTED "../../docs/performance/predicted_h200.json"

static const struct chip h200 = {.multiprocessors = 132, .shared_bytes = 232448};
static const uint32_t device_counts[] = {1, 2, 4, 8};
enum { COUNTS = 4 };

static double predict_msm(
    const char *curve, uint32_t log_size, uint64_t batch, uint32_t factor, uint32_t devices)
{
    const bool is_bn254 = strcmp(curve, "bn254_g1") == 0;
    const struct msm_job job = {.coordinate_words = is_bn254 ? 8 : 12,
        .scalar_words = 8,
        .order_bits = is_bn254 ? 254 : 255,
        .count = UINT64_C(1) << log_size,
        .chunk_count = UINT64_C(1) << log_size,
        .batch = batch,
        .precompute_factor = factor};

    return msm_cost(&h200, &chip_rates_h200, &job, devices);
}

static struct ntt_job ntt_job_of(uint32_t log_size, uint64_t batch, bool is_reversed)
{
    return (struct ntt_job){.words = 8,
        .log_size = log_size,
        .batch = batch,
        .order = is_reversed ? POOL_NTT_NR : POOL_NTT_NN};
}

/* ---- several devices ------------------------------------------------------------------------- */

static double predict_bn254_msm(uint32_t log_size, uint32_t devices)
{
    return predict_msm("bn254_g1", log_size, 1, 1, devices);
}

static double predict_precomputed(uint32_t log_size, uint32_t devices)
{
    return predict_msm("bn254_g1", log_size, 1, 12, devices);
}

static double predict_ntt(uint32_t log_size, uint32_t devices)
{
    const struct ntt_job job = ntt_job_of(log_size, 1, true);

    return ntt_cost(&h200, &chip_rates_h200, &job, devices);
}

static double predict_ntt_on_host(uint32_t log_size, uint32_t devices)
{
    const struct ntt_job job = ntt_job_of(log_size, 1, false);

    return ntt_cost_on_host(&h200, &chip_rates_h200, &job, devices);
}

static double predict_columns(uint32_t log_size, uint32_t devices)
{
    const struct ntt_job job = ntt_job_of(log_size, 64, true);

    return ntt_cost(&h200, &chip_rates_h200, &job, devices);
}

static double predict_tree(uint32_t log_size, uint32_t devices)
{
    return poseidon_tree_cost(&chip_rates_h200, UINT64_C(1) << log_size, 2, devices);
}

static const struct predicted_row {
    const char *what;
    uint32_t log_size;
    double (*predict)(uint32_t log_size, uint32_t devices);
} predicted_rows[] = {
    {"MSM BN254 G1, bases and scalars on the devices, 2^22", 22, predict_bn254_msm},
    {"MSM BN254 G1, bases and scalars on the devices, 2^24", 24, predict_bn254_msm},
    {"MSM BN254 G1, bases and scalars on the devices, 2^26", 26, predict_bn254_msm},
    {"the same with precompute factor 12, 2^24", 24, predict_precomputed},
    {"NTT BN254, shards, NR, 2^22", 22, predict_ntt},
    {"NTT BN254, shards, NR, 2^24", 24, predict_ntt},
    {"NTT BN254, shards, NR, 2^26", 26, predict_ntt},
    {"NTT BN254, pinned host memory, NN, 2^24", 24, predict_ntt_on_host},
    {"64 NTTs BN254, shards, NR, 2^20", 20, predict_columns},
    {"Merkle tree, circom-bn254-t3, arity 2, 2^26", 26, predict_tree},
};

/* The file; the caller frees it. */
static char *predicted_text(void)
{
    const size_t count = sizeof(predicted_rows) / sizeof(*predicted_rows), bytes = 1 << 16;
    char *text = calloc(1, bytes);
    size_t at = 0;

    at += (size_t)snprintf(
        text + at, bytes - at, "{\"device\": \"%s\", \"rows\": [\n", chip_rates_h200.chip);
    for (size_t i = 0; i < count; i++) {
        const struct predicted_row *row = &predicted_rows[i];

        at += (size_t)snprintf(text + at, bytes - at, "  {\"what\": \"%s\"", row->what);
        for (int k = 0; k < COUNTS; k++)
            at += (size_t)snprintf(text + at, bytes - at, ", \"ms_of_%u\": %.4g", device_counts[k],
                1e3 * row->predict(row->log_size, device_counts[k]));
        at += (size_t)snprintf(text + at, bytes - at, "}%s\n", i + 1 < count ? "," : "");
    }
    (void)snprintf(text + at, bytes - at, "]}\n");
    return text;
}

static void test_several_devices(void **state)
{
    char *text = predicted_text(), *written = read_vector_file(PREDICTED);

    (void)state;
    assert_string_equal(text, written);
    free(text);
    free(written);
}

/* More devices are faster, but hardly by more than their number: several transform columns while
 * others are uploaded, and may need fewer passes. */
static void test_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(predicted_rows) / sizeof(*predicted_rows); i++) {
        const struct predicted_row *row = &predicted_rows[i];
        const double one = row->predict(row->log_size, 1);

        for (int k = 1; k < COUNTS; k++) {
            double now = row->predict(row->log_size, device_counts[k]);

            assert_true(isfinite(now) && now > one / device_counts[k] * 0.9);
            assert_true(now < row->predict(row->log_size, device_counts[k - 1]));
        }
    }
}

/* Whole MSMs and transforms are distributed; the rest is split. */
static void test_batches(void **state)
{
    const struct ntt_job three = ntt_job_of(24, 3, true), four = ntt_job_of(24, 4, true),
                         eight = ntt_job_of(24, 8, true), impossible = ntt_job_of(40, 1, true);

    (void)state;
    assert_true(predict_msm("bn254_g1", 20, 8, 1, 4) < predict_msm("bn254_g1", 20, 9, 1, 4));
    assert_true(predict_msm("bn254_g1", 20, 1, 1, 4) < predict_msm("bn254_g1", 20, 2, 1, 4));
    assert_true(isinf(predict_msm("bn254_g1", 32, 1, 1, 1)));
    assert_true(ntt_cost(&h200, &chip_rates_h200, &eight, 4) <
                2.1 * ntt_cost(&h200, &chip_rates_h200, &four, 4));
    assert_true(ntt_cost(&h200, &chip_rates_h200, &three, 4) <
                ntt_cost(&h200, &chip_rates_h200, &four, 4) * 1.5);
    assert_true(isinf(ntt_cost(&h200, &chip_rates_h200, &impossible, 1)));
}

/* ---- against measurements -------------------------------------------------------------------- */

static double number_of(const cJSON *row, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(row, name)->valuedouble;
}

static const char *text_of(const cJSON *row, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(row, name)->valuestring;
}

static void check_within_tenth(const char *what, double size, double predicted, double measured)
{
    if (fabs(predicted / measured - 1) > 0.1)
        fail_msg("%s of 2^%g: predicted %.3f ms, measured %.3f ms", what, size, 1e3 * predicted,
            1e3 * measured);
}

static void test_msm(void **state)
{
    cJSON *file = read_vectors("../../docs/performance/msm_h200_2026-11-21.json");
    const cJSON *row;
    int checked = 0;

    (void)state;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(file, "rows"))
    {
        const char *curve = text_of(row, "curve");
        double size = number_of(row, "log_size"), batch = number_of(row, "batch");

        if (strcmp(curve, "bn254_g2") == 0 || strcmp(text_of(row, "scalars"), "uniform") != 0 ||
            strcmp(text_of(row, "from"), "device") != 0 || size + log2(batch) < 20)
            continue;
        check_within_tenth(curve, size,
            predict_msm(
                curve, (uint32_t)size, (uint64_t)batch, (uint32_t)number_of(row, "levels"), 1),
            1e-3 * number_of(row, "ms"));
        checked++;
    }
    assert_int_equal(checked, 14);
    check_within_tenth("bn254_g1", 26, predict_bn254_msm(26, 1), 156.7e-3);
    cJSON_Delete(file);
}

/* The rows of `devicepool bench --suite`, whose names are "ntt FIELD [BATCH x ]2^LOG, ORDER". */
static void test_ntt(void **state)
{
    cJSON *file = read_vectors("../../docs/performance/suite_h200_2026-11-26.json");
    const cJSON *row;
    int checked = 0;

    (void)state;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(file, "rows"))
    {
        const char *name = text_of(row, "name");
        unsigned batch = 1, size = 0;
        char field[32], order[3];
        struct ntt_job job;

        if (sscanf(name, "ntt %31s %u x 2^%u, %2s", field, &batch, &size, order) != 4) {
            batch = 1;
            if (sscanf(name, "ntt %31s 2^%u, %2s", field, &size, order) != 3)
                continue;
        }
        job = ntt_job_of(size, batch, strcmp(order, "NR") == 0);
        if (!strstr(field, "_fr") || job.batch << job.log_size < 1 << 20)
            continue;
        check_within_tenth(name, size, ntt_cost(&h200, &chip_rates_h200, &job, 1),
            1e-3 * number_of(row, "figure"));
        checked++;
    }
    assert_int_equal(checked, 15);
    cJSON_Delete(file);
}

static void test_split_ntt(void **state)
{
    cJSON *file = read_vectors("../../docs/performance/ntt_split_h200x2_2026-11-26.json");
    const cJSON *row;
    int checked = 0;

    (void)state;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(file, "rows"))
    {
        const char *data = text_of(row, "data");
        const bool is_sharded = strcmp(data, "shards") == 0;
        double size = number_of(row, "log_size");
        double predicted =
            is_sharded ? predict_ntt((uint32_t)size, 2) : predict_ntt_on_host((uint32_t)size, 2);

        check_within_tenth(data, size, predicted, 1e-3 * number_of(row, "ms_of_2"));
        checked++;
    }
    assert_int_equal(checked, 5);
    /* Measured before passes over long elements got faster; the link decides. */
    check_within_tenth("pinned host memory", 26, predict_ntt_on_host(26, 2), 45.08e-3);
    cJSON_Delete(file);
}

static void test_tree(void **state)
{
    cJSON *file = read_vectors("../../docs/performance/poseidon_h200_2026-11-21.json");
    const cJSON *row;
    int checked = 0;

    (void)state;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(
                                file, "rows")) if (strcmp(text_of(row, "what"), "tree 2") == 0)
    {
        check_within_tenth("tree", 24, predict_tree(24, 1), number_of(row, "median_s"));
        checked++;
    }
    assert_int_equal(checked, 1);
    cJSON_Delete(file);
}

static int print_predictions(const char *path)
{
    char *text = predicted_text();
    FILE *file = fopen(path, "w");
    bool is_written = file && fputs(text, file) >= 0;

    if (file && fclose(file))
        is_written = false;
    if (!is_written)
        perror(path);
    free(text);
    return is_written ? 0 : 1;
}

/* Launches of an accumulation are equally long, take every entry, and last at most as long as they
 * should, but for the one entry that each takes at least. */
static void test_slices(void **state)
{
    static const uint64_t slice_ns[] = {1, 1000, 150000, 2000000, 40000000, UINT64_MAX};
    static const uint32_t words[] = {8, 12, 16, 24};
    /* The entries of 2^24 terms in 15 windows, of one thread of 132 * 512, in 34 ms. */
    const double entry_ns = 0.159 * 132 * 512;

    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (uint64_t range = 1; range < 5000; range += range / 3 + 1) {
            uint64_t before = 0;

            for (size_t i = 0; i < sizeof(slice_ns) / sizeof(slice_ns[0]); i++) {
                uint64_t entries = msm_slice_entries(words[w], range, slice_ns[i]);

                assert_true(entries >= 1 && entries <= range && entries >= before);
                if (words[w] == 8 && entries > 1)
                    assert_true((double)entries * entry_ns <= (double)slice_ns[i] + entry_ns);
                before = entries;
            }
            assert_int_equal(before, range);
        }
    /* 17 slices of 2 ms. */
    assert_between(
        (3724 + msm_slice_entries(8, 3724, 2000000) - 1) / msm_slice_entries(8, 3724, 2000000), 17,
        21);
    /* G2 takes longer than G1, and so does a longer field. */
    assert_true(msm_slice_entries(16, 3000, 2000000) < msm_slice_entries(8, 3000, 2000000));
    assert_true(msm_slice_entries(12, 3000, 2000000) < msm_slice_entries(8, 3000, 2000000));
}

/* What slices are chosen by: at most a tenth less than what launches take, and a third more where
 * products of extensions save multiplications. The longest of some rows of `devicepool bench
 * --suite --launches` on an H200 (2026-11-28), then still whole. */
static void test_launches(void **state)
{
    static const struct {
        uint32_t log_count, words;
        double milliseconds; /* of the sums of the first affine pass */
    } rows[] = {{22, 12, 6.982}, {24, 12, 24.64}, {20, 16, 2.551}};
    const struct chip_work pass = {.products = 5.0 * (1 << 24), .words = 8};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const uint64_t count = UINT64_C(1) << rows[i].log_count;
        const struct msm_job job = {.coordinate_words = rows[i].words,
            .scalar_words = 8,
            .order_bits = rows[i].words == 12 ? 255 : 254,
            .count = count,
            .chunk_count = count,
            .batch = 1,
            .precompute_factor = 1};
        struct chip_work work = {.words = rows[i].words};
        struct msm_plan plan;
        double ratio;

        assert_int_equal(msm_plan_make(&h200, &job, &plan), POOL_OK);
        assert_true(plan.affine.passes > 0);
        work.products = 6.0 * (double)(plan.affine.groups << (plan.affine.passes - 1));
        ratio = 1e3 * chip_seconds(132, &work) / rows[i].milliseconds;
        print_message("affine sums of 2^%u, %u words: %.2f of the measured time\n",
            rows[i].log_count, rows[i].words, ratio);
        assert_true(ratio > 0.9 && ratio < 1.33);
    }
    /* A pass of 8 stages over 2^24 elements of bn254_fr: 1.373 ms. */
    assert_true(fabs(chip_seconds(132, &pass) / 1.373e-3 - 1) < 0.2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msm),
        cmocka_unit_test(test_ntt),
        cmocka_unit_test(test_split_ntt),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_several_devices),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_launches),
    };

    if (argc == 3 && strcmp(argv[1], "--print") == 0)
        return print_predictions(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
