/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Low-degree extensions whose columns are distributed over 1, 2, 3, 4 and 8 simulated devices or
 * those of the argument, against the reference: spans in host memory and sharded at random, both
 * layouts, in place, the memory of each device, what is refused, progress, cancellation and a
 * failure on one device.
 */
#include <pthread.h>

#include "support/ntt_extend.h"
#include "support/several.h"

static struct several_columns columns_of(const pool_ntt_extend_params *params, uint64_t elements)
{
    return (struct several_columns){.count = params->batch,
        .items = elements,
        .item_bytes = params->domain->field->bytes,
        .is_interleaved = params->layout == POOL_NTT_COLUMNS};
}

static void check_operand(const struct several_columns *columns, struct several_operand *operand,
    const uint8_t *wanted, const uint64_t *first)
{
    uint8_t *got = several_read_operand(columns, operand, first);

    assert_memory_equal(got, wanted, columns->count * columns->items * columns->item_bytes);
    free(got);
}

/* Bits of `sharded`: input, coefficients, output. */
static void compare(const pool_ntt_extend_params *params, uint32_t count, uint64_t seed,
    uint32_t sharded, bool keeps)
{
    const uint32_t log_size = params->domain->log_size;
    const uint64_t size = UINT64_C(1) << log_size, points = size >> params->log_blowup;
    const struct several_columns traces = columns_of(params, points),
                                 extensions = columns_of(params, size);
    uint64_t columns[SEVERAL_MAX + 1], bytes[SEVERAL_MAX];
    uint8_t *data = ntt_random(params->domain->field, seed, params->batch * points);
    struct ntt_extend_answer wanted = ntt_extend_expected(params, data);
    pool_exec exec = several_exec(count);
    struct several_operand in, kept, out;

    several_divide(count, params->batch, 1, true, columns);
    in = several_operand_of(&traces, data, sharded & 1, count, columns);
    kept = several_operand_of(&traces, NULL, sharded & 2, count, columns);
    out = several_operand_of(&extensions, NULL, sharded & 4, count, columns);
    assert_ok(pool_ntt_extend_workspace(
        params, &exec, &in.span, keeps ? &kept.span : NULL, &out.span, bytes));
    exec.lease = several_lease(count, bytes);
    assert_ok(pool_ntt_extend(params, &exec, &in.span, keeps ? &kept.span : NULL, &out.span));
    several_release(&exec.lease, count, bytes);
    SEVERAL_CHECK_WORKSPACES(count, bytes, &exec,
        pool_ntt_extend(params, &exec, &in.span, keeps ? &kept.span : NULL, &out.span));
    check_operand(&extensions, &out, wanted.out, columns);
    if (keeps)
        check_operand(&traces, &kept, wanted.coefficients, columns);
    several_free_operand(&in);
    several_free_operand(&kept);
    several_free_operand(&out);
    ntt_extend_free(&wanted);
    free(data);
}

static void test_extensions(void **state)
{
    static const char *const names[] = {"babybear", "goldilocks", "bn254_fr"};

    (void)state;
    for
        several_each(count)
        {
            for (uint32_t turn = 0; turn < 8; turn++) {
                pool_ntt_extend_params params = {.struct_size = sizeof(params),
                    .domain = ntt_domain(ntt_field(names[turn % 3]), 3 + turn % 4),
                    .log_blowup = turn % 3,
                    .order = (pool_ntt_order)(next_random() & 3),
                    .batch = 1 + next_random() % 12,
                    .from_coefficients = turn == 5};
                bool keeps = turn % 2 == 0;

                compare(&params, count, turn, turn, keeps);
                params.layout = POOL_NTT_COLUMNS;
                compare(&params, count, turn, 7, keeps);
                assert_ok(pool_ntt_domain_destroy(&params.domain));
            }
        }
}

/* Each shard of the output begins with the device's input. */
static void test_in_place(void **state)
{
    enum { LOG_SIZE = 6, BATCH = 5, POINTS = 32, SIZE = 64 };
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(ntt_field("babybear"), LOG_SIZE),
        .log_blowup = 1,
        .order = POOL_NTT_NR,
        .batch = BATCH};
    const uint64_t columns[] = {0, 3, 5}, first[] = {0, 3 * SIZE, 5 * SIZE};
    pool_exec exec = several_exec(2);
    uint8_t *data = ntt_random(params.domain->field, 3, BATCH * POINTS);
    struct ntt_extend_answer wanted = ntt_extend_expected(&params, data);
    struct several_shards *out = several_allocate(2, 4, POOL_FORM_STANDARD, first);
    pool_span shards[2] = {out->shard[0], out->shard[1]};
    const pool_span in = {.data = shards, .count = BATCH * POINTS, .space = POOL_MEMORY_SHARDED};
    static uint32_t got[BATCH * SIZE];

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        shards[i].count = (columns[i + 1] - columns[i]) * POINTS;
        assert_ok(pool_copy_to_device(
            out->buffer[i], 0, data + columns[i] * POINTS * 4, shards[i].count * 4, NULL));
    }
    assert_ok(pool_ntt_extend(&params, &exec, &in, NULL, &out->span));
    several_download(out, (uint8_t *)got, false);
    assert_memory_equal(got, wanted.out, sizeof(got));
    several_free(out);
    ntt_extend_free(&wanted);
    free(data);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct {
    pool_ntt_extend_params params;
    pool_exec exec;
    pool_span in, coefficients, out;
    uint32_t data[64], kept[64], result[256];
} call;

static void fresh(void)
{
    memset(&call.exec, 0, sizeof(call.exec));
    call.params.layout = POOL_NTT_ROWS;
    call.exec = several_exec(2);
    call.in = ntt_host(call.data, 64);
    call.coefficients = ntt_host(call.kept, 64);
    call.out = ntt_host(call.result, 256);
}

static void refuse(pool_status wanted, const char *text)
{
    uint64_t bytes[2] = {77, 77};

    assert_status(
        pool_ntt_extend(&call.params, &call.exec, &call.in, &call.coefficients, &call.out), wanted);
    assert_says(text);
    if (wanted == POOL_ERR_BAD_DATA)
        return;
    assert_status(pool_ntt_extend_workspace(
                      &call.params, &call.exec, &call.in, &call.coefficients, &call.out, bytes),
        wanted);
    assert_int_equal(bytes[0], 77);
}

static void test_refused(void **state)
{
    const uint64_t by_columns[] = {0, 48, 64}, other[] = {0, 32, 64}, uneven[] = {0, 40, 64};
    struct several_shards *in = several_allocate(2, 4, POOL_FORM_STANDARD, by_columns);
    struct several_shards *kept = several_allocate(2, 4, POOL_FORM_STANDARD, other);
    struct several_shards *odd = several_allocate(2, 4, POOL_FORM_STANDARD, uneven);

    (void)state;
    call.params = (pool_ntt_extend_params){.struct_size = sizeof(call.params),
        .domain = ntt_domain(ntt_field("babybear"), 6),
        .log_blowup = 2,
        .batch = 4};
#define REFUSE(change, status, text)                                                               \
    do {                                                                                           \
        fresh();                                                                                   \
        change;                                                                                    \
        refuse(status, text);                                                                      \
    } while (0)
    REFUSE(call.exec.devices = NULL, POOL_ERR_INVALID_ARGUMENT, "one of them is required");
    REFUSE(call.exec.device = several[0], POOL_ERR_INVALID_ARGUMENT, "`device` cannot be");
    REFUSE(call.params.layout = POOL_NTT_COLUMNS, POOL_ERR_UNSUPPORTED, "POOL_NTT_ROWS");
    REFUSE(call.in.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT, "`space` of `in`");
    REFUSE(call.coefficients.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT,
        "`space` of `coefficients`");
    REFUSE(call.out.space = POOL_MEMORY_DEVICE, POOL_ERR_INVALID_ARGUMENT, "`space` of `out`");
    REFUSE(call.in.count = 60, POOL_ERR_INVALID_ARGUMENT, "input has 60");
    REFUSE(call.out.count = 255, POOL_ERR_INVALID_ARGUMENT, "output has 255");
    REFUSE(call.in.stride = 8, POOL_ERR_UNSUPPORTED, "packed");
    REFUSE(call.in = ntt_host(call.result + 200, 64), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(call.coefficients = ntt_host(call.data + 4, 64), POOL_ERR_INVALID_ARGUMENT, "overlap");
    REFUSE(call.in = odd->span, POOL_ERR_INVALID_ARGUMENT,
        "shard 0 of `in` has 40 elements; 2 columns of 16 have 32");
    REFUSE(call.in = in->span; call.coefficients = kept->span, POOL_ERR_INVALID_ARGUMENT,
           "shard 0 of `coefficients` has 32 elements; 3 columns of 16 have 48");
    REFUSE(call.in = in->span; call.in.data = NULL, POOL_ERR_INVALID_ARGUMENT, "must not be NULL");
    REFUSE(call.exec.memory_limit = 100, POOL_ERR_OUT_OF_DEVICE_MEMORY, "`memory_limit`");
    call.data[16 * 3 + 5] = 0x78000001;
    REFUSE(call.exec.checks = POOL_CHECK_CANONICAL, POOL_ERR_BAD_DATA, "element 53 of the input");
    call.data[16 * 3 + 5] = 0;
#undef REFUSE
    fresh();
    in->shard[1] = in->shard[0]; /* memory of another device */
    in->shard[1].count = 16;
    call.in = in->span;
    assert_status(pool_ntt_extend(&call.params, &call.exec, &call.in, NULL, &call.out),
        POOL_ERR_WRONG_DEVICE);
    several_free(in);
    several_free(kept);
    several_free(odd);
    assert_ok(pool_ntt_domain_destroy(&call.params.domain));
}

static void test_progress_and_cancel(void **state)
{
    enum { BATCH = 600, SIZE = 64 };
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(ntt_field("babybear"), 6),
        .log_blowup = 1,
        .order = POOL_NTT_NR,
        .batch = BATCH};
    struct several_observer observer = {.thread = pthread_self()};
    pool_exec exec = several_exec(2);
    static uint32_t data[BATCH * SIZE / 2], result[BATCH * SIZE];
    const pool_span in = ntt_host(data, BATCH * SIZE / 2), out = ntt_host(result, BATCH * SIZE);

    (void)state;
    exec.memory_limit = 16 * SIZE * 4; /* many chunks */
    exec.progress = several_observe;
    exec.user = &observer;
    assert_ok(pool_ntt_extend(&params, &exec, &in, NULL, &out));
    assert_int_equal(observer.done, BATCH * SIZE);
    assert_int_equal(observer.total, BATCH * SIZE);
    observer.done = 0;
    assert_ok(pool_cancel_create(&exec.cancel));
    observer.cancel = exec.cancel;
    /* The first report may come when all columns have been extended. */
    if (pool_ntt_extend(&params, &exec, &in, NULL, &out))
        assert_status(pool_last_error()->status, POOL_ERR_CANCELLED);
    else
        assert_int_equal(observer.done, BATCH * SIZE);
    observer.done = 0;
    assert_status(pool_ntt_extend(&params, &exec, &in, NULL, &out), POOL_ERR_CANCELLED);
    assert_int_equal(observer.done, 0);
    pool_cancel_destroy(&exec.cancel);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* The failure of one device is the call's; the next call succeeds. */
static void test_failure_on_one_device(void **state)
{
    (void)state;
    if (strncmp(several_text, "sim", 3) != 0)
        return;
    call.params = (pool_ntt_extend_params){.struct_size = sizeof(call.params),
        .domain = ntt_domain(ntt_field("babybear"), 6),
        .log_blowup = 2,
        .batch = 4};
    fresh();
    for (uint32_t i = 0; i < 2; i++) {
        char rules[64];

        assert_ok(pool_ntt_extend(&call.params, &call.exec, &call.in, NULL, &call.out));
        snprintf(rules, sizeof(rules), "dev%u.cuLaunchKernel*@1=701", i);
        assert_ok(pool_sim_set_faults(rules));
        assert_status(pool_ntt_extend(&call.params, &call.exec, &call.in, NULL, &call.out),
            POOL_ERR_INVALID_ARGUMENT);
        snprintf(rules, sizeof(rules), "on device %u failed", i);
        assert_says(rules);
        assert_ok(pool_sim_set_faults(NULL));
    }
    assert_ok(pool_ntt_extend(&call.params, &call.exec, &call.in, NULL, &call.out));
    assert_ok(pool_ntt_domain_destroy(&call.params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_progress_and_cancel), cmocka_unit_test(test_failure_on_one_device)};

    if (argc > 1)
        several_text = argv[1];
    if (!several_exist())
        return 77;
    return cmocka_run_group_tests_name("extend_several", tests, several_open, several_close);
}
