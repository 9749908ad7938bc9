/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sums are cut, in thousands of sizes, batches, places and budgets without a kernel: pieces
 * cover all scalars once, each fits its plan and the budget, nothing in the workspace overlaps; and
 * sizes far beyond any memory.
 */
#include "support/msm.h"

#include <devicepool/mock.h>

#include "msm/call.h"
#include "support/random.h"

static pool_mock *mock;
static device_pool *pool;
static pool_device *device;

/* A number of up to `bits` bits, all lengths alike. */
static uint64_t random_size(uint32_t bits)
{
    return next_random() >> (64 - bits + next_random() % bits);
}

static void make_call(struct msm_call *call, uint64_t count, uint64_t batch)
{
    static const char *const names[] = {"bn254_g1", "bls12_381_g2", "bw6_761_g1", "secp256k1"};
    uint64_t flags = next_random();

    memset(call, 0, sizeof(*call));
    call->curve = pool_curve_by_name(names[flags % 4]);
    call->site.device = device;
    call->params.batch = batch;
    call->params.curve = call->curve;
    call->params.shared_points = flags >> 2 & 1;
    call->exec.is_async = flags >> 3 & 1;
    call->params.scalar_bits = flags >> 4 & 3 ? 0 : 64;
    call->params.window_bits = flags >> 6 & 7 ? 0 : 12;
    call->params.point_layout = (pool_point_layout)(flags >> 9 & 3);
    call->exec.checks = flags >> 11 & 1 ? POOL_CHECK_ON_CURVE : POOL_CHECK_NONE;
    call->count = count;
    call->scalars.count = count * batch;
    call->scalars.place = (pool_memory_space)(flags >> 12 & 1);
    call->points.count = call->params.shared_points ? count : count * batch;
    call->points.place = (pool_memory_space)(flags >> 13 & 1);
    call->points.form = (pool_form)(flags >> 14 & 1);
    call->results.count = batch;
    call->results.place = (pool_memory_space)(flags >> 15 & 1);
    call->result_bytes = pool_point_bytes(call->curve, POOL_POINT_AFFINE);
    call->point_stride = pool_point_bytes(call->curve, call->params.point_layout);
    call->scalar_stride = call->curve->scalar_field->bytes;
    msm_input_bases_init(&call->source, call->curve, &call->points, call->params.point_layout);
}

/* A range of the workspace, to be asked for overlaps. */
struct range {
    uint64_t start, end;
};

static void add_range(struct range *ranges, size_t *count, uint64_t start, uint64_t bytes)
{
    assert_int_equal(start % 256, 0);
    if (bytes)
        ranges[(*count)++] = (struct range){start, start + bytes};
}

static void check_places(const struct msm_call *call, const struct msm_cut *cut, uint64_t work)
{
    const struct msm_piece largest = {.sums = cut->sums, .count = cut->count};
    uint64_t scalars = cut->sums * cut->count * call->scalar_stride;
    uint64_t points = msm_piece_points(call, &largest);
    bool on_host = msm_call_combines_on_host(call);
    struct range ranges[9];
    size_t count = 0;

    add_range(ranges, &count, 0, work);
    for (uint32_t i = 0; i < cut->slots; i++) {
        if (call->scalars.place == POOL_MEMORY_HOST)
            add_range(ranges, &count, cut->scalars_at[i], scalars);
        if (call->points.place == POOL_MEMORY_HOST && (i == 0 || !msm_cut_brings_once(call, cut)))
            add_range(ranges, &count, cut->points_at[i], points * call->point_stride);
    }
    if (!msm_input_is_converted(call->curve, &call->source))
        add_range(ranges, &count, cut->imported_at, points * msm_affine_bytes(call->curve));
    if (on_host && !msm_cut_is_one_run(call, cut))
        add_range(ranges, &count, cut->sums_at,
            call->params.batch * cut->groups * 2 * msm_affine_bytes(call->curve));
    if (!msm_call_is_direct(call, cut) && !(on_host && call->results.place == POOL_MEMORY_HOST))
        add_range(ranges, &count, cut->results_at, call->params.batch * call->result_bytes);
    if (call->exec.checks)
        add_range(ranges, &count, cut->answer_at, 8);
    for (size_t i = 0; i < count; i++) {
        assert_true(ranges[i].end <= cut->bytes);
        for (size_t j = 0; j < i; j++)
            assert_true(ranges[i].end <= ranges[j].start || ranges[j].end <= ranges[i].start);
    }
}

static void check_cut(const struct msm_call *call, const struct msm_cut *cut)
{
    struct msm_piece piece = {0};
    uint64_t sum = 0, first = 0, done = 0, last = 0, work = 0;
    struct msm_plan plan;

    while (msm_cut_next(call, cut, &piece)) {
        assert_int_equal(piece.sum, sum);
        assert_int_equal(piece.first, first);
        assert_in_range(piece.sums, 1, cut->sums);
        assert_true(piece.count <= cut->count && (piece.count > 0 || call->count == 0));
        assert_true(piece.count == call->count || piece.sums == 1);
        assert_int_equal(msm_piece_begins_run(&piece), first == 0);
        if (piece.sums != last) {
            assert_ok(msm_cut_plan(call, cut, piece.sums, &plan));
            assert_true(plan.entries >= piece.sums * piece.count);
            work = plan.bytes > work ? plan.bytes : work;
            last = piece.sums;
        }
        done += piece.sums * piece.count;
        first += piece.count;
        assert_int_equal(msm_piece_ends_run(call, &piece), first == call->count);
        if (first == call->count) {
            sum += piece.sums;
            first = 0;
        }
    }
    assert_int_equal(sum, call->params.batch);
    assert_int_equal(done, call->count * call->params.batch);
    check_places(call, cut, work);
}

static void test_thousands(void **state)
{
    int cut_up = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        uint64_t batch = i % 3 ? 1 + random_size(10) : 1, count = random_size(i % 7 ? 24 : 13);
        uint64_t limit = i % 2 ? UINT64_MAX : (uint64_t)1 << 22 | random_size(34);
        struct msm_call call;
        struct msm_cut cut;

        make_call(&call, count, batch);
        if (msm_cut_make(&call, limit, &cut)) {
            assert_int_equal(pool_last_error()->status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
            refused++;
            continue;
        }
        assert_true(cut.bytes <= limit);
        check_cut(&call, &cut);
        cut_up += !cut.is_single;
    }
    assert_in_range(cut_up, 200, 4000);
    assert_in_range(refused, 1, 2000);
}

/* Beyond 2^32 bytes, entries and points. */
static void test_giants(void **state)
{
    static const uint64_t counts[] = {(uint64_t)1 << 27, ((uint64_t)1 << 28) + 5, (uint64_t)1 << 31,
        ((uint64_t)1 << 33) + 1, (uint64_t)3 << 35};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (int k = 0; k < 16; k++) {
            uint64_t limit = k % 2 ? UINT64_MAX : (uint64_t)100 << 30;
            struct msm_call call;
            struct msm_cut cut;

            make_call(&call, counts[i], k % 3 + 1);
            assert_ok(msm_cut_make(&call, limit, &cut));
            check_cut(&call, &cut);
        }
}

/* The public query takes spans without data. */
static void test_query(void **state)
{
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = pool_curve_by_name("bn254_g1")};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_span points = msm_span(NULL, (uint64_t)1 << 33);
    pool_span scalars = msm_span(NULL, (uint64_t)1 << 33), results = msm_span(NULL, 1);
    uint64_t bytes = 0;

    (void)state;
    assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes));
    assert_true(bytes > (uint64_t)1 << 32);
    exec.memory_limit = (uint64_t)4 << 30;
    assert_ok(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes));
    assert_in_range(bytes, (uint64_t)1 << 30, exec.memory_limit);
    exec.memory_limit = 1000;
    assert_int_equal(pool_msm_workspace(&params, &exec, &points, &scalars, &results, &bytes),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
}

static int open_pool(void **state)
{
    pool_params params = {.struct_size = sizeof(params)};

    (void)state;
    if (pool_mock_create(&mock, NULL))
        return 1;
    params.driver = pool_mock_table(mock);
    return pool_create(&pool, &params) || pool_device_at(pool, 0, &device);
}

static int close_pool(void **state)
{
    pool_status status = pool_destroy(&pool);

    (void)state;
    pool_mock_destroy(&mock);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thousands),
        cmocka_unit_test(test_giants), cmocka_unit_test(test_query)};

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
