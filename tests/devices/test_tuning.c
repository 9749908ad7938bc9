/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans with extreme tuning parameters give the same results as with the defaults: MSMs with and
 * without precomputed bases, transforms in all orders, hashes, and copies, of sizes that use them.
 * The first argument names the devices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "driver/nvrtc.h"
#include "support/assert.h"
#include "support/needs_compiler.h"
#include "support/pool.h"

enum { MSM_COUNT = 70, LOG_NTT = 9, NTT_COUNT = 1 << LOG_NTT, COPY = 300001, HASHES = 40 };

struct numbers {
    const char *name;
    uint32_t value;
};

struct results {
    uint8_t msm[3][128];
    uint8_t ntt[4][NTT_COUNT * 32];
    uint8_t hashes[HASHES * 32];
    uint8_t copy[COPY];
};

static void compute_msms(pool_device *on, struct results *results)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const uint64_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    uint8_t *points = calloc(MSM_COUNT, bytes), *scalars = calloc(MSM_COUNT, 32);
    const pool_point_format format = {.form = POOL_FORM_MONTGOMERY};
    const uint32_t factors[] = {1, POOL_PRECOMPUTE_ALL, POOL_PRECOMPUTE_AUTO};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = on};
    const pool_span in = {.data = points, .count = MSM_COUNT, .form = POOL_FORM_MONTGOMERY};
    const pool_span by = {.data = scalars, .count = MSM_COUNT};

    assert_ok(pool_random_points(curve, 1, MSM_COUNT, &format, points, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(curve), 2, MSM_COUNT, POOL_FORM_STANDARD, scalars));
    for (size_t i = 0; i < 3; i++) {
        const pool_bases_params made = {
            .struct_size = sizeof(made), .curve = curve, .precompute_factor = factors[i]};
        pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
        const pool_span out = {.data = results->msm[i], .count = 1};

        assert_ok(pool_bases_create(&made, &exec, &in, &params.bases));
        assert_ok(pool_msm(&params, &exec, NULL, &by, &out));
        assert_ok(pool_bases_destroy(&params.bases));
    }
    free(scalars);
    free(points);
}

static void compute_ntts(pool_device *on, const char *name, struct results *results)
{
    const pool_field *field = pool_field_by_name(name);
    const pool_ntt_domain_params made = {
        .struct_size = sizeof(made), .field = field, .log_size = LOG_NTT};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = on};
    uint8_t *values = calloc(NTT_COUNT, 32);
    const pool_span in = {.data = values, .count = NTT_COUNT};
    pool_ntt_params params = {.struct_size = sizeof(params)};

    assert_ok(pool_ntt_domain_create(&made, &params.domain));
    assert_ok(pool_random_scalars(field, 3, NTT_COUNT, POOL_FORM_STANDARD, values));
    for (int order = 0; order < 4; order++) {
        const pool_span out = {.data = results->ntt[order], .count = NTT_COUNT};

        params.order = (pool_ntt_order)order;
        params.coset = order & 1;
        assert_ok(pool_ntt(&params, &exec, &in, &out));
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(values);
}

static void compute_hashes(pool_device *on, struct results *results)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = on};
    pool_poseidon *set = NULL;
    uint8_t values[HASHES * 64];
    const pool_span in = {.data = values, .count = HASHES};
    const pool_span out = {.data = results->hashes, .count = HASHES};

    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-goldilocks-t8", &set));
    assert_ok(
        pool_random_scalars(pool_poseidon_field(set), 4, 4 * HASHES, POOL_FORM_STANDARD, values));
    assert_ok(pool_poseidon_hash(set, &exec, &in, 4, &out));
    pool_poseidon_destroy(&set);
}

static void copy_there_and_back(pool_device *on, struct results *results)
{
    uint8_t *bytes = calloc(1, COPY);
    pool_buffer *buffer = NULL;

    for (size_t i = 0; i < COPY; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_ok(pool_buffer_alloc(on, COPY, &buffer));
    assert_ok(pool_copy_to_device(buffer, 0, bytes, COPY, NULL));
    assert_ok(pool_copy_to_host(results->copy, buffer, 0, COPY, NULL));
    assert_memory_equal(results->copy, bytes, COPY);
    assert_ok(pool_buffer_destroy(&buffer));
    free(bytes);
}

static struct results *compute(
    const struct numbers *numbers, size_t count, const char *field, bool is_small)
{
    struct results *results = calloc(1, sizeof(*results));
    pool_params params = {.struct_size = sizeof(params), .devices = device_text};
    pool_tuning *tuning = NULL;
    device_pool *own = NULL;
    pool_device *on = NULL;

    assert_ok(pool_tuning_create(NULL, &tuning));
    for (size_t i = 0; i < count; i++)
        assert_ok(pool_tuning_set(tuning, numbers[i].name, numbers[i].value));
    params.tuning = tuning;
    assert_ok(pool_create(&own, &params));
    assert_ok(pool_device_at(own, 0, &on));
    compute_ntts(on, field, results);
    if (!is_small) {
        compute_msms(on, results);
        compute_hashes(on, results);
        copy_there_and_back(on, results);
    }
    assert_ok(pool_destroy(&own));
    pool_tuning_destroy(&tuning);
    return results;
}

static void check(const struct numbers *numbers, size_t count, const char *field, bool is_small)
{
    struct results *expected = compute(NULL, 0, field, is_small);
    struct results *tuned = compute(numbers, count, field, is_small);

    assert_memory_equal(expected, tuned, sizeof(*expected));
    free(expected);
    free(tuned);
}

#define CHECK(field, is_small, ...)                                                                \
    check((const struct numbers[]){__VA_ARGS__},                                                   \
        sizeof((const struct numbers[]){__VA_ARGS__}) / sizeof(struct numbers), field, is_small)

static void test_least(void **state)
{
    (void)state;
    CHECK("goldilocks", false, {"msm.8.window_bits.6", 2}, {"msm.8.table_window_bits.6", 2},
        {"msm.8.table_factor", 2}, {"msm.8.affine_passes", 1}, {"msm.8.affine_min_entries", 0},
        {"msm.8.affine_min_bucket_entries", 0}, {"msm.ramp_bytes", 1}, {"ntt.2.wave_tiles", 1},
        {"ntt.2.long_last", 1}, {"ntt.chunk_bytes", 4096}, {"poseidon.two_thread_states", 0},
        {"copy.helpers", 0}, {"copy.slots", 2}, {"copy.chunk_bytes", 4096});
}

static void test_most(void **state)
{
    (void)state;
    CHECK("goldilocks", false, {"msm.8.window_bits.6", 12}, {"msm.8.table_window_bits.6", 12},
        {"msm.8.table_factor", 256}, {"msm.8.affine_passes", 2}, {"msm.8.affine_min_entries", 0},
        {"msm.8.affine_min_bucket_entries", 0}, {"msm.ramp_bytes", UINT32_MAX},
        {"ntt.2.wave_tiles", 64}, {"ntt.2.other_by_rule", 0}, {"ntt.chunk_bytes", 1 << 30},
        {"poseidon.two_thread_states", 4096}, {"copy.helpers", 63}, {"copy.slots", 64},
        {"copy.chunk_bytes", 1 << 20});
}

/* Costs that choose the narrowest and the widest windows. */
static void test_costs(void **state)
{
    (void)state;
    CHECK("goldilocks", false, {"msm.8.entry_cost", 1}, {"msm.8.bucket_cost", 1024});
    CHECK("goldilocks", false, {"msm.8.entry_cost", 1024}, {"msm.8.bucket_cost", 64});
}

/* Kernels of other shapes, several passes with uneven bits, choices against the rule. */
static void test_kernels(void **state)
{
    char reason[DRIVER_NVRTC_REASON];

    (void)state;
    if (!driver_nvrtc_candidate(0, reason, sizeof(reason)))
        return;
    CHECK("babybear", true, {"ntt.1.usual.log_radix", 1}, {"ntt.1.usual.log_threads", 5},
        {"ntt.1.usual.min_tile_width", 3}, {"ntt.1.usual.high_bits", 8},
        {"ntt.1.usual.single_bits", 8}, {"ntt.1.usual.blocks", 16}, {"ntt.1.long_last", 1});
    CHECK("babybear", true, {"ntt.1.usual.log_radix", 5}, {"ntt.1.usual.log_threads", 10},
        {"ntt.1.usual.min_tile_width", 0}, {"ntt.1.usual.high_bits", 22},
        {"ntt.1.usual.blocks", 1});
    CHECK("babybear", true, {"ntt.1.other.log_radix", 3}, {"ntt.1.other.log_threads", 5},
        {"ntt.1.other.min_tile_width", 1}, {"ntt.1.other.high_bits", 8},
        {"ntt.1.other.single_bits", 8}, {"ntt.1.other.blocks", 1}, {"ntt.1.other.log_chunk", 12},
        {"ntt.1.choice.9", 2});
    CHECK("goldilocks", true, {"ntt.2.choice.9", 2}, {"ntt.2.other.high_bits", 8},
        {"ntt.2.other.single_bits", 8});
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_least), cmocka_unit_test(test_most),
        cmocka_unit_test(test_costs), cmocka_unit_test(test_kernels)};
    pool_params params = {.struct_size = sizeof(params)};
    bool is_skipped;

    device_text = count > 1 ? arguments[1] : "sim";
    params.devices = device_text;
    if (pool_create(&pool, &params))
        return 77;
    is_skipped = pool_device_at(pool, 0, &device) == POOL_OK && compiler_is_missing(device);
    pool_destroy(&pool);
    if (is_skipped)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
