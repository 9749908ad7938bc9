/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of transforms of points that are distributed over 1, 2, 3, 4 and 8 simulated devices or
 * those of the argument, against the reference: spans in host memory and sharded at random, both
 * layouts, in place, the memory of each device, what is refused, progress, cancellation and a
 * failure on one device.
 *
 *   test_ecntt_several [DEVICES]
 */
#include <pthread.h>

#include "support/ecntt.h"
#include "support/several.h"

enum { POINT = 64 }; /* bytes, of BN254 G1 */

static const pool_curve *curve;

static void check_operand(const pool_ecntt_params *params, const struct several_columns *columns,
    struct several_operand *operand, const uint8_t *wanted, const uint64_t *transforms)
{
    uint8_t *got = several_read_operand(columns, operand, transforms);

    assert_ecntt_points(params, got, wanted, columns->count * columns->items);
    free(got);
}

/* Bits of `sharded`: input, output; all of both: in place. */
static void compare(
    const pool_ecntt_params *params, uint32_t count, uint64_t seed, uint32_t sharded)
{
    struct ecntt_problem problem =
        ecntt_random(curve, seed, params->batch << params->domain->log_size);
    uint8_t *wanted = ecntt_expected(params, &problem);
    uint64_t transforms[SEVERAL_MAX + 1], bytes[SEVERAL_MAX];
    const bool in_place = seed % 3 == 0 && (sharded == 0 || sharded == 3);
    pool_exec exec = several_exec(count);
    const struct several_columns columns = {.count = params->batch,
        .items = UINT64_C(1) << params->domain->log_size,
        .item_bytes = POINT,
        .is_interleaved = params->layout == POOL_NTT_COLUMNS};
    struct several_operand in, out, *result = in_place ? &in : &out;

    several_divide(count, params->batch, 1, true, transforms);
    in = several_operand_of(&columns, problem.points, sharded & 1, count, transforms);
    out = several_operand_of(&columns, NULL, sharded & 2, count, transforms);
    exec.checks = seed % 2 ? POOL_CHECK_ON_CURVE : POOL_CHECK_NONE;
    assert_ok(pool_ecntt_workspace(params, &exec, &in.span, &result->span, bytes));
    exec.lease = several_lease(count, bytes);
    assert_ok(pool_ecntt(params, &exec, &in.span, &result->span));
    several_release(&exec.lease, count, bytes);
    check_operand(params, &columns, result, wanted, transforms);
    if (count == 3 && !in_place) {
        SEVERAL_CHECK_WORKSPACES(
            count, bytes, &exec, pool_ecntt(params, &exec, &in.span, &out.span));
        check_operand(params, &columns, result, wanted, transforms);
    }
    several_free_operand(&in);
    several_free_operand(&out);
    free(wanted);
    ecntt_free(&problem);
}

static void test_batches(void **state)
{
    (void)state;
    for
        several_each(count)
        {
            for (uint32_t turn = 0; turn < 4; turn++) {
                pool_ecntt_params params = ecntt_params_of(curve, turn == 1 ? 2 : 1);

                params.direction = (pool_ntt_direction)(turn >> 1);
                params.coset = turn & 1;
                params.order = (pool_ntt_order)(next_random() & 3);
                params.batch = 1 + next_random() % 4;
                compare(&params, count, 4 * count + turn, turn);
                if (turn == 3) {
                    params.layout = POOL_NTT_COLUMNS;
                    compare(&params, count, turn, turn);
                }
                assert_ok(pool_ntt_domain_destroy(&params.domain));
            }
        }
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum { SIZE = 2, BATCH = 4, COUNT = SIZE * BATCH };

static struct {
    pool_ecntt_params params;
    pool_exec exec;
    pool_span in, out;
    uint8_t points[COUNT * POINT], results[2 * COUNT * POINT];
} call;

static void fresh(void)
{
    memset(&call.exec, 0, sizeof(call.exec));
    call.params.layout = POOL_NTT_ROWS;
    call.params.batch = BATCH;
    call.exec = several_exec(2);
    call.in = ntt_host(call.points, COUNT);
    call.out = ntt_host(call.results, COUNT);
}

static int create_call(void **state)
{
    (void)state;
    call.params = ecntt_params_of(curve, 1);
    fresh();
    return pool_random_points(curve, 3, COUNT, NULL, call.points, NULL);
}

static int destroy_call(void **state)
{
    (void)state;
    return pool_ntt_domain_destroy(&call.params.domain);
}

static void refuse(pool_status wanted, const char *text)
{
    uint64_t bytes[2] = {77, 77};

    assert_status(pool_ecntt(&call.params, &call.exec, &call.in, &call.out), wanted);
    assert_says(text);
    if (wanted == POOL_ERR_BAD_DATA)
        return;
    assert_status(
        pool_ecntt_workspace(&call.params, &call.exec, &call.in, &call.out, bytes), wanted);
    assert_int_equal(bytes[0], 77);
    assert_int_equal(bytes[1], 77);
}

static void test_refused(void **state)
{
    const uint64_t even[] = {0, 6, COUNT}, other[] = {0, 4, COUNT}, uneven[] = {0, 3, COUNT};
    struct several_shards *in = several_allocate(2, POINT, POOL_FORM_STANDARD, even);
    struct several_shards *out = several_allocate(2, POINT, POOL_FORM_STANDARD, other);
    struct several_shards *odd = several_allocate(2, POINT, POOL_FORM_STANDARD, uneven);
    pool_device *twice[] = {several[0], several[0]};

    (void)state;
#define REFUSE(change, status, text)                                                               \
    do {                                                                                           \
        fresh();                                                                                   \
        change;                                                                                    \
        refuse(status, text);                                                                      \
    } while (0)
    REFUSE(call.exec.devices = NULL, POOL_ERR_INVALID_ARGUMENT, "one of them is required");
    REFUSE(call.exec.devices = twice, POOL_ERR_INVALID_ARGUMENT, "are both device");
    REFUSE(call.exec.device = several[0], POOL_ERR_INVALID_ARGUMENT, "`device` cannot be");
    REFUSE(call.exec.workspace = in->buffer[0], POOL_ERR_INVALID_ARGUMENT, "`workspace` cannot");
    REFUSE(call.params.layout = POOL_NTT_COLUMNS, POOL_ERR_UNSUPPORTED, "must be POOL_NTT_ROWS");
    REFUSE(call.in.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT, "`space` of `in`");
    REFUSE(call.out.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT, "`space` of `out`");
    REFUSE(call.in.count = 7, POOL_ERR_INVALID_ARGUMENT, "the input has 7 points");
    REFUSE(call.out.count = 10, POOL_ERR_INVALID_ARGUMENT, "the output has 10 points");
    REFUSE(call.in.stride = 60, POOL_ERR_INVALID_ARGUMENT, "60");
    REFUSE(call.in = ntt_host(call.results + POINT, COUNT), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(call.in = odd->span, POOL_ERR_INVALID_ARGUMENT,
        "shard 0 of `in` has 3 points; 1 transforms of 2 have 2");
    REFUSE(call.in = in->span; call.out = out->span, POOL_ERR_INVALID_ARGUMENT,
           "shard 0 of `out` has 4 points; 3 transforms of 2 have 6");
    REFUSE(call.in = in->span; call.in.data = NULL, POOL_ERR_INVALID_ARGUMENT, "must not be NULL");
    REFUSE(call.exec.memory_limit = 100, POOL_ERR_OUT_OF_DEVICE_MEMORY, "`memory_limit`");
    call.points[5 * POINT] ^= 1; /* of the second device */
    REFUSE(
        call.exec.checks = POOL_CHECK_ON_CURVE, POOL_ERR_BAD_DATA, "point 5 is not on the curve");
    call.points[5 * POINT] ^= 1;
#undef REFUSE
    fresh();
    in->shard[1] = in->shard[0]; /* memory of another device */
    in->shard[1].count = 2;
    call.in = in->span;
    assert_status(pool_ecntt(&call.params, &call.exec, &call.in, &call.out), POOL_ERR_WRONG_DEVICE);
    several_free(in);
    several_free(out);
    several_free(odd);
}

/* A single transform, and more devices than transforms: the others have no part. */
static void test_few(void **state)
{
    static uint8_t wanted[COUNT * POINT];
    pool_exec one = {.struct_size = sizeof(one), .device = several[0]};
    uint64_t bytes[SEVERAL_MAX] = {0}, sum = 0;

    (void)state;
    fresh();
    call.params.batch = 1;
    call.in.count = call.out.count = SIZE;
    assert_ok(pool_ecntt(&call.params, &one, &call.in, &call.out));
    memcpy(wanted, call.results, SIZE * POINT);
    memset(call.results, 0, SIZE * POINT);
    call.exec = several_exec(several_count);
    call.params.layout = POOL_NTT_COLUMNS; /* one transform has no layout */
    assert_ok(pool_ecntt_workspace(&call.params, &call.exec, &call.in, &call.out, bytes));
    for (uint32_t i = 0; i < several_count; i++)
        sum += bytes[i] != 0;
    assert_int_equal(sum, 1);
    assert_ok(pool_ecntt(&call.params, &call.exec, &call.in, &call.out));
    assert_memory_equal(call.results, wanted, SIZE * POINT);
}

static void test_progress_and_cancel(void **state)
{
    struct several_observer observer = {.thread = pthread_self()};
    uint64_t bytes[2];

    (void)state;
    fresh();
    call.params.batch = 1; /* chunks of one transform */
    call.in.count = call.out.count = SIZE;
    assert_ok(pool_ecntt_workspace(&call.params, &call.exec, &call.in, &call.out, bytes));
    fresh();
    call.exec.memory_limit = bytes[0] + bytes[1];
    call.exec.progress = several_observe;
    call.exec.user = &observer;
    assert_ok(pool_ecntt(&call.params, &call.exec, &call.in, &call.out));
    assert_int_equal(observer.done, COUNT);
    assert_int_equal(observer.total, COUNT);
    observer.done = 0;
    assert_ok(pool_cancel_create(&call.exec.cancel));
    pool_cancel_request(call.exec.cancel);
    assert_status(pool_ecntt(&call.params, &call.exec, &call.in, &call.out), POOL_ERR_CANCELLED);
    assert_int_equal(observer.done, 0);
    pool_cancel_destroy(&call.exec.cancel);
}

/* The failure of one device is the call's; the next call succeeds. */
static void test_failure_on_one_device(void **state)
{
    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        skip();
    fresh();
    for (uint32_t i = 0; i < 2; i++) {
        char rules[64];

        assert_ok(pool_ecntt(&call.params, &call.exec, &call.in, &call.out));
        snprintf(rules, sizeof(rules), "dev%u.cuLaunchKernel*@1=701", i);
        assert_ok(pool_sim_set_faults(rules));
        assert_status(
            pool_ecntt(&call.params, &call.exec, &call.in, &call.out), POOL_ERR_INVALID_ARGUMENT);
        snprintf(rules, sizeof(rules), "on device %u failed", i);
        assert_says(rules);
        assert_ok(pool_sim_set_faults(NULL));
    }
    assert_ok(pool_ecntt(&call.params, &call.exec, &call.in, &call.out));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches),
        cmocka_unit_test_setup_teardown(test_refused, create_call, destroy_call),
        cmocka_unit_test_setup_teardown(test_few, create_call, destroy_call),
        cmocka_unit_test_setup_teardown(test_progress_and_cancel, create_call, destroy_call),
        cmocka_unit_test_setup_teardown(test_failure_on_one_device, create_call, destroy_call)};

    if (ntt_needs_compiler("transforms of points"))
        return 77;
    if (argc > 1)
        several_text = argv[1];
    curve = pool_curve_by_name("bn254_g1");
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests(tests, several_open, several_close);
}
