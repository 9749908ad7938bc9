/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort of the MSM on a device: every scalar's entries have to add up to it, for all curves'
 * scalar fields, sizes, window bits, tables and skews. test_sim_msm_sort [device]; exit 77 without
 * it or a compiler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/nvrtc.h"
#include "support/assert.h"
#include "support/msm_sort.h"
#include "support/sample.h"

static device_pool *pool;
static pool_device *device;
static pool_stream *stream;

static CUdeviceptr address_of(const pool_buffer *buffer)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return address;
}

static const char *text_of(const struct sort_case *one)
{
    static char text[256];

    snprintf(text, sizeof(text),
        "%s kind %d: %llu of %llu, %u bits, %u levels, scalars of %u bits, %s%s%s+%u+%u",
        one->curve->scalar_field->name, one->kind, (unsigned long long)one->batch,
        (unsigned long long)one->count, one->window_bits, one->levels, one->scalar_bits,
        one->is_montgomery ? "Montgomery " : "", one->shared_bases ? "shared " : "",
        one->reduces ? "reduced " : "", one->extra_words, one->extra_scalars);
    return text;
}

static uint64_t stride_of(const struct sort_case *one)
{
    return one->curve->scalar_field->words + one->extra_words;
}

static uint32_t *make_scalars(const struct sort_case *one)
{
    uint64_t all = one->batch * (one->count + one->extra_scalars);
    uint32_t *words = malloc((all * stride_of(one) + 1) * 4);
    uint64_t state = one->seed;
    mpz_t s;

    assert_non_null(words);
    memset(words, 0xa5, all * stride_of(one) * 4);
    mpz_init(s);
    for (uint64_t i = 0; i < all; i++) {
        sort_scalar(one, &state, s);
        sort_put(one, s, words + i * stride_of(one));
    }
    mpz_clear(s);
    return words;
}

/* What one sort gave, on the host. */
struct sorted {
    uint32_t *offsets;
    uint32_t *entries;
};

static void download(pool_buffer *workspace, const struct msm_plan *plan, struct sorted *sorted)
{
    sorted->offsets = malloc((plan->buckets + 1) * 4);
    sorted->entries = malloc(plan->entries * 4 + 4);
    assert_non_null(sorted->offsets);
    assert_non_null(sorted->entries);
    assert_ok(pool_copy_to_host(
        sorted->offsets, workspace, plan->bucket_offsets_at, (plan->buckets + 1) * 4, NULL));
    assert_ok(
        pool_copy_to_host(sorted->entries, workspace, plan->entries_at, plan->entries * 4, NULL));
}

static void run_sort(const struct sort_case *one, const uint32_t *words,
    const struct msm_plan *plan, struct sorted *sorted)
{
    uint64_t all = one->batch * (one->count + one->extra_scalars);
    pool_buffer *scalars, *workspace;
    struct msm_run run = {.device = device, .stream = stream, .curve = one->curve, .plan = plan};
    struct msm_chunk_operands part = {.count = one->count,
        .scalar_stride = stride_of(one),
        .scalar_batch_stride = one->count + one->extra_scalars,
        .scalar_form = one->is_montgomery ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD,
        .reduces = one->reduces};

    assert_ok(pool_buffer_from_host(device, words, all * stride_of(one) * 4, &scalars));
    assert_ok(pool_buffer_alloc(device, plan->bytes, &workspace));
    assert_ok(pool_buffer_fill8(workspace, 0, plan->bytes, 0xee, NULL));
    run.workspace = address_of(workspace);
    part.scalars = all ? address_of(scalars) : 0;
    sort_points(one, &part);
    assert_ok(msm_run_sort(&run, &part));
    assert_ok(pool_stream_synchronize(stream));
    download(workspace, plan, sorted);
    assert_ok(pool_buffer_destroy(&scalars));
    assert_ok(pool_buffer_destroy(&workspace));
}

static void check(const struct sort_case *one)
{
    struct chip chip = chip_of(device);
    static size_t index;
    uint32_t *words;
    struct msm_plan plan;
    struct sorted sorted;
    int is_right;

    /* A prime that divides none of the loops' lengths. */
    if (!is_sampled(index++, 5))
        return;
    words = make_scalars(one);
    sort_plan(one, &chip, &plan);
    run_sort(one, words, &plan, &sorted);
    is_right = sort_check_offsets(&plan, sorted.offsets, plan.windows * one->batch * one->count);
    if (is_right && (one->kind != SORT_GARBAGE || one->reduces)) {
        int32_t *digits = malloc(one->batch * one->count * plan.windows * 4 + 4);

        assert_non_null(digits);
        is_right = sort_read(one, &plan, sorted.offsets, sorted.entries, one->count, digits);
        for (uint64_t i = 0; is_right && i < one->batch * one->count; i++) {
            uint64_t sum = i / one->count, place = i % one->count;
            const uint32_t *scalar =
                words + (sum * (one->count + one->extra_scalars) + place) * stride_of(one);

            is_right = sort_add_up(one, &plan, digits + i * plan.windows, scalar);
            if (!is_right)
                print_error("the digits of scalar %llu do not add up\n", (unsigned long long)i);
        }
        free(digits);
    }
    if (!is_right)
        print_error("%s\n", text_of(one));
    assert_true(is_right);
    free(words);
    free(sorted.offsets);
    free(sorted.entries);
}

/* A curve with another scalar field: the sort depends on nothing else of the curve. */
static const pool_curve *curve_over(const char *field)
{
    static struct pool_curve made[8];
    static int count;
    struct pool_curve *curve = &made[count++];

    assert_true(count <= 8);
    memcpy(curve, pool_curve_by_name("bn254_g1"), sizeof(*curve));
    curve->scalar_field = pool_field_by_name(field);
    assert_non_null(curve->scalar_field);
    curve->fingerprint[0] = (uint8_t)(count * 17);
    curve->fingerprint[1] = 0x5a;
    return curve;
}

static struct sort_case of(const char *curve, uint64_t count, uint32_t window_bits)
{
    return (struct sort_case){.curve = pool_curve_by_name(curve),
        .count = count,
        .batch = 1,
        .window_bits = window_bits,
        .levels = 1,
        .seed = (uint32_t)(count * 31 + window_bits)};
}

static void test_sizes(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 257, 1000, 4097, 20000};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (uint32_t bits = 2; bits <= 17; bits += counts[i] > 300 ? 5 : 3) {
            struct sort_case one = of("bn254_g1", counts[i], bits);

            check(&one);
        }
}

/* Few buckets with many entries each: a partition fills a block of all threads. */
static void test_full_blocks(void **state)
{
    struct sort_case one = of("bn254_g1", 60000, 2);

    (void)state;
    one.scalar_bits = 16;
    check(&one);
}

static void test_window_bits(void **state)
{
    (void)state;
    for (uint32_t bits = 2; bits <= 20; bits++) {
        struct sort_case one = of("bn254_g1", 700, bits);

        check(&one);
        one.curve = pool_curve_by_name("secp256k1"); /* 256 bits: full top windows */
        check(&one);
        one.kind = SORT_HALVES;
        check(&one);
    }
    struct sort_case one = of("bn254_g1", 100, 24);
    check(&one);
}

static void test_skews(void **state)
{
    static const uint64_t counts[] = {5, 3000, 30000};

    (void)state;
    for (uint32_t kind = 0; kind < SORT_KINDS; kind++)
        for (size_t i = 0; i < 3; i++) {
            struct sort_case one = of("bls12_381_g1", counts[i], 4 + 4 * (uint32_t)i);

            one.kind = kind;
            one.seed = kind;
            check(&one);
            one.reduces = 1;
            one.is_montgomery = 1;
            one.levels = 3 + kind;
            one.window_bits = 13;
            check(&one);
        }
}

static void test_batches(void **state)
{
    static const struct {
        uint64_t batch, count;
        uint32_t bits;
    } shapes[] = {{2, 1, 5}, {3, 100, 8}, {100, 3, 4}, {1000, 1, 3}, {700, 16, 4}, {7, 5000, 9},
        {40, 700, 6}, {300, 64, 11}, {0, 10, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (uint32_t levels = 1; levels <= 40; levels = levels * 2 + 1) {
            struct sort_case one = of("bn254_g1", shapes[i].count, shapes[i].bits);

            one.batch = shapes[i].batch;
            one.levels = levels;
            one.shared_bases = levels % 4 == 3;
            one.extra_scalars = levels % 5;
            one.extra_words = levels % 3;
            one.planned = levels == 7 ? one.count + 1000 : 0;
            one.kind = levels == 15 ? SORT_BITS : SORT_UNIFORM;
            check(&one);
        }
}

static void test_scalar_bits(void **state)
{
    static const uint32_t lengths[] = {1, 2, 8, 31, 32, 33, 64, 128, 200, 253, 254, 255, 256};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (uint32_t bits = 2; bits <= 16; bits += 7) {
            struct sort_case one = of("bn254_g1", 500, bits);

            one.scalar_bits = lengths[i];
            one.levels = 1 + (uint32_t)i % 3;
            check(&one);
            one.is_montgomery = 1;
            one.extra_words = 3;
            check(&one);
            one.kind = SORT_GARBAGE;
            check(&one);
        }
}

static void test_fields(void **state)
{
    static const char *const fields[] = {"babybear", "goldilocks", "mersenne31", "bls12_377_fr",
        "secp256k1_fr", "bls12_381_fq", "bw6_761_fq"};

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct sort_case one = of("bn254_g1", 600, 7);

        if (!pool_field_by_name(fields[i]))
            continue;
        one.curve = curve_over(fields[i]);
        for (uint32_t way = 0; way < 12; way++) {
            one.is_montgomery = way & 1;
            one.reduces = way >> 1 & 1;
            one.kind = way < 4 ? SORT_UNIFORM : way < 8 ? SORT_GARBAGE : SORT_LAST;
            one.window_bits = 4 + way;
            check(&one);
        }
    }
}

/* Plans for chips with less shared memory take other ways. */
static void test_random(void **state)
{
    uint64_t random = 99;

    (void)state;
    for (int i = 0; i < 60; i++) {
        struct sort_case one = of("bn254_g1", sort_next(&random) % 3000, 2);

        one.window_bits = 2 + sort_next(&random) % 14;
        one.batch = 1 + sort_next(&random) % 5;
        one.levels = 1 + sort_next(&random) % 9;
        one.kind = sort_next(&random) % SORT_KINDS;
        one.is_montgomery = sort_next(&random) % 2;
        one.shared_bases = sort_next(&random) % 2;
        one.reduces = sort_next(&random) % 2;
        one.seed = (uint32_t)i;
        check(&one);
    }
}

static const char *device_text = "sim";

static pool_status open_pool(void)
{
    pool_params params = {.struct_size = sizeof(params), .devices = device_text};
    pool_status status = pool_create(&pool, &params);

    if (!status)
        status = pool_device_at(pool, 0, &device);
    return status ? status : pool_stream_create(device, NULL, &stream);
}

static int close_pool(void **state)
{
    (void)state;
    return pool_stream_destroy(&stream) || pool_destroy(&pool);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_full_blocks), cmocka_unit_test(test_window_bits),
        cmocka_unit_test(test_skews), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_scalar_bits), cmocka_unit_test(test_fields),
        cmocka_unit_test(test_random)};
    const struct nvrtc *nvrtc;

    if (argc > 1)
        device_text = argv[1];
    if (driver_nvrtc_open(&nvrtc))
        return 77;
    pool_status status = open_pool();
    if (status) {
        fprintf(stderr, "no pool of %s: %s\n", device_text, pool_last_error()->message);
        return pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1;
    }
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
