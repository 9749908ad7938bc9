/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far calls enqueue ahead of a simulated device whose first launch does not end: blocking ones
 * two slices of pool_exec.slice_ns, asynchronous ones and those without a limit all of their
 * launches. A cancellation then ends a blocking call without the launches that it has not enqueued.
 * The slices of a call may be on several streams, and so may be the parts of one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <devicepool/sim.h>

#include "base/clock.h"
#include "support/msm.h"
#include "support/needs_compiler.h"
#include "support/ntt.h"
#include "support/pool.h"
#include "zk/operation/exec.h"
#include "zk/operation/slices.h"
#include "zk/poseidon/poseidon.h"

enum { TERMS = 1500, LOG_POINTS = 5, POINTS = 1 << LOG_POINTS, LEAVES = 1 << 9 };

static struct {
    pool_stream *stream;
    struct msm_problem problem;
    pool_bases *bases;
    pool_buffer *scalars, *point, *transformed, *leaves, *levels;
    pool_ntt_domain *domain, *small_domain;
    pool_poseidon *set;
} with;

static pool_span span_of(pool_buffer *buffer, uint64_t count)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return (pool_span){
        .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
}

static pool_status run_msm(const pool_exec *exec)
{
    const pool_msm_params params = {
        .struct_size = sizeof(params), .curve = with.problem.curve, .bases = with.bases};
    const pool_span scalars = span_of(with.scalars, TERMS), result = span_of(with.point, 1);

    return pool_msm(&params, exec, NULL, &scalars, &result);
}

static pool_status run_ecntt(const pool_exec *exec)
{
    const pool_ecntt_params params = {
        .struct_size = sizeof(params), .curve = with.problem.curve, .domain = with.domain};
    const pool_span points = span_of(with.transformed, POINTS);

    return pool_ecntt(&params, exec, &points, &points);
}

static pool_status run_tree(const pool_exec *exec)
{
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    const pool_span leaves = span_of(with.leaves, LEAVES),
                    levels = span_of(with.levels, 2 * LEAVES - 1);

    return pool_poseidon_merkle_build(with.set, exec, &params, &leaves, &levels);
}

/* The extension is a call of its own, inside. */
static pool_status run_extension(const pool_exec *exec)
{
    enum { COLUMNS = 8 };
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = with.set};
    const pool_ntt_extend_params extend = {
        .struct_size = sizeof(extend), .domain = with.domain, .log_blowup = 1, .batch = COLUMNS};
    const pool_extension extension = {
        .params = &extend, .trace = span_of(with.leaves, COLUMNS * POINTS / 2)};
    const pool_span levels = span_of(with.levels, 2 * POINTS - 1);

    return pool_extend_commit(&params, exec, &extension, 1, &levels);
}

/* The inverses of the factors are a call of vectors, inside. */
static pool_status run_evaluation(const pool_exec *exec)
{
    static const uint32_t point[4] = {5};
    const pool_matrix_evaluate_params params = {.struct_size = sizeof(params),
        .field = pool_field_by_name("babybear_x4"),
        .domain = with.small_domain,
        .on_subgroup = 1};
    const pool_matrix matrix = {.span = span_of(with.transformed, POINTS),
        .height = POINTS,
        .width = 2,
        .layout = POOL_MATRIX_ROWS};
    uint32_t values[2 * 4];

    return pool_matrix_evaluate(&params, exec, &matrix, point, 1, values);
}

static const struct {
    const char *name;
    pool_status (*run)(const pool_exec *exec);
    bool blocks; /* it has no asynchronous form */
} operations[] = {{"MSM", run_msm, false}, {"ECNTT", run_ecntt, false}, {"tree", run_tree, false},
    {"extension", run_extension, false}, {"evaluation", run_evaluation, true}};

enum { TWO_SLICES = 2 }; /* launches: with a limit of 1 ns each is a slice of its own */

static int open_all(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    pool_bases_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec;
    pool_span points = {.count = TERMS};
    uint8_t *elements;

    if (open_pool(state))
        return -1;
    with.problem = msm_problem_random(curve, TERMS, 3);
    exec = exec_here();
    points.data = with.problem.points;
    assert_ok(pool_bases_create(&params, &exec, &points, &with.bases));
    assert_ok(pool_buffer_from_host(
        device, with.problem.scalars, TERMS * with.problem.scalar_bytes, &with.scalars));
    assert_ok(pool_buffer_alloc(device, MSM_POINT_MAX, &with.point));
    assert_ok(pool_buffer_from_host(
        device, with.problem.points, POINTS * with.problem.point_bytes, &with.transformed));
    with.domain = ntt_domain(pool_curve_scalar_field(curve), LOG_POINTS);
    with.small_domain = ntt_domain(pool_field_by_name("babybear"), LOG_POINTS);
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &with.set));
    elements = ntt_random(pool_curve_scalar_field(curve), 5, LEAVES);
    assert_ok(pool_buffer_from_host(device, elements, LEAVES * 32, &with.leaves));
    free(elements);
    assert_ok(pool_buffer_alloc(device, (2 * LEAVES - 1) * 32, &with.levels));
    assert_ok(pool_stream_create(device, NULL, &with.stream));
    return 0;
}

static int close_all(void **state)
{
    assert_ok(pool_stream_destroy(&with.stream));
    assert_ok(pool_bases_destroy(&with.bases));
    assert_ok(pool_buffer_destroy(&with.scalars));
    assert_ok(pool_buffer_destroy(&with.point));
    assert_ok(pool_buffer_destroy(&with.transformed));
    assert_ok(pool_buffer_destroy(&with.leaves));
    assert_ok(pool_buffer_destroy(&with.levels));
    assert_ok(pool_ntt_domain_destroy(&with.domain));
    assert_ok(pool_ntt_domain_destroy(&with.small_domain));
    pool_poseidon_destroy(&with.set);
    msm_problem_free(&with.problem);
    return close_pool(state);
}

/* ---- a call beside a launch that does not end ------------------------------------------------ */

static int read_unfinished(void *user, const pool_candidate *candidate)
{
    *(uint64_t *)user = candidate->unfinished;
    return 1;
}

static uint64_t unfinished(void)
{
    uint64_t count = 0;
    pool_device *found;
    const pool_pick pick = {.struct_size = sizeof(pick), .filter = read_unfinished, .user = &count};

    assert_ok(pool_pick_device(pool, &pick, &found));
    return count;
}

struct caller {
    pool_status (*run)(const pool_exec *exec);
    pool_exec exec;
    pool_status status;
    atomic_bool has_ended;
};

static void *call(void *user)
{
    struct caller *caller = user;

    caller->status = caller->run(&caller->exec);
    atomic_store(&caller->has_ended, true);
    return NULL;
}

/* What the call has enqueued once it enqueues no more. */
static uint64_t settled(const struct caller *caller)
{
    uint64_t count = 0, since = base_clock_ns();

    while (base_clock_ns() - since < 300000000 && !atomic_load(&caller->has_ended)) {
        const uint64_t now = unfinished();

        if (now != count || !now)
            since = base_clock_ns();
        count = now;
        usleep(10000);
    }
    return unfinished();
}

/* The number of launches and copies that are enqueued behind the first one, which ends only after
 * that. */
static uint64_t enqueued_by(
    size_t index, uint64_t slice_ns, int32_t is_async, bool cancels, pool_status wanted)
{
    struct caller caller = {.run = operations[index].run, .exec = exec_here()};
    pool_cancel *cancel = NULL;
    pthread_t thread;
    uint64_t count;

    assert_ok(pool_cancel_create(&cancel));
    assert_ok(pool_stream_synchronize(with.stream));
    caller.exec.stream = with.stream;
    caller.exec.slice_ns = slice_ns;
    caller.exec.is_async = is_async;
    /* For the progress of a call that can be cancelled, the host waits for each level of a tree. */
    caller.exec.cancel = cancels ? cancel : NULL;
    assert_ok(pool_sim_set_faults("cuLaunchKernel*@1=hang"));
    assert_int_equal(pthread_create(&thread, NULL, call, &caller), 0);
    count = settled(&caller);
    if (cancels)
        pool_cancel_request(cancel);
    assert_ok(pool_sim_set_faults(NULL));
    assert_ok(pool_sim_resume());
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(caller.status, wanted);
    assert_ok(pool_stream_synchronize(with.stream));
    pool_cancel_destroy(&cancel);
    return count;
}

/* The kernels of FRI have no prebuilt PTX. */
static size_t operation_count(void)
{
    const size_t count = sizeof(operations) / sizeof(operations[0]);

    return compiler_is_missing(device) ? count - 1 : count;
}

static void test_two_slices(void **state)
{
    (void)state;
    for (size_t i = 0; i < operation_count(); i++) {
        pool_exec exec = exec_here();
        uint64_t all;

        exec.slice_ns = 1;
        assert_ok(operations[i].run(&exec)); /* loads its kernels */
        all = operations[i].blocks ? UINT64_MAX : enqueued_by(i, 1, 1, false, POOL_OK);
        print_message("%s: %llu enqueued\n", operations[i].name, (unsigned long long)all);
        assert_true(all > TWO_SLICES + 2);
        assert_int_equal(enqueued_by(i, 1, 0, false, POOL_OK), TWO_SLICES);
        assert_true(enqueued_by(i, UINT64_MAX, 0, false, POOL_OK) > TWO_SLICES);
    }
}

/* ---- slices on several streams --------------------------------------------------------------- */

enum { CHUNK_HASHES = 64, HASHES = 8 * CHUNK_HASHES };

/* Chunks of host memory, of one launch per chunk, on the three streams of a pipeline in turn. */
static pool_status run_hashes(const pool_exec *exec)
{
    static uint8_t elements[2 * HASHES * 32]; /* zeros */
    const pool_span inputs = {.data = elements, .count = HASHES},
                    digests = span_of(with.levels, HASHES);

    return pool_poseidon_hash(with.set, exec, &inputs, 2, &digests);
}

static int add_launches(void *user, const pool_sim_kernel_stats *stats)
{
    *(uint64_t *)user += stats->launches;
    return 0;
}

static uint64_t ended_launches(void)
{
    uint64_t count = 0;

    assert_ok(pool_sim_kernel_stats_each(add_launches, &count));
    return count;
}

/* The steps of a call that takes no more of them for a while. */
static uint64_t settled_steps(uint64_t (*steps)(void), uint64_t least)
{
    uint64_t count = steps(), since = base_clock_ns();
    const uint64_t begun = since;

    while (base_clock_ns() - since < 300000000 ||
           (count < least && base_clock_ns() - begun < 30000000000)) {
        const uint64_t now = steps();

        if (now != count)
            since = base_clock_ns();
        count = now;
        usleep(10000);
    }
    return count;
}

static uint64_t steps_beside_hang(
    struct caller *caller, const char *faults, uint64_t (*steps)(void), uint64_t least)
{
    pthread_t thread;
    uint64_t count;

    assert_ok(pool_sim_set_faults(faults));
    assert_int_equal(pthread_create(&thread, NULL, call, caller), 0);
    count = settled_steps(steps, least);
    assert_ok(pool_sim_set_faults(NULL));
    assert_ok(pool_sim_resume());
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(caller->status, POOL_OK);
    return count;
}

static void test_slices_on_streams(void **state)
{
    struct poseidon_tuning tuning = tuning_default()->poseidon;
    struct caller caller = {.run = run_hashes, .exec = exec_here()};

    (void)state;
    tuning.chunk_bytes = 2 * CHUNK_HASHES * 32;
    with.set->tuning = &tuning;
    caller.exec.slice_ns = 1;
    assert_ok(run_hashes(&caller.exec)); /* loads its kernel */
    assert_ok(pool_sim_kernel_stats_reset());
    assert_ok(run_hashes(&caller.exec));
    assert_int_equal(ended_launches(), HASHES / CHUNK_HASHES);
    assert_ok(pool_sim_kernel_stats_reset());
    /* The second slice is on another stream and ends; the third one is not enqueued. */
    assert_int_equal(
        steps_beside_hang(&caller, "cuLaunchKernel*@1=hang", ended_launches, TWO_SLICES - 1),
        TWO_SLICES - 1);
    with.set->tuning = NULL;
}

static atomic_uint enqueued_parts;
static pool_stream *other_stream;

static uint64_t parts(void)
{
    return atomic_load(&enqueued_parts);
}

/* Two parts of the first slice, on two streams, then two slices of one part on the second stream.
 */
static pool_status run_parts(const pool_exec *exec)
{
    static const struct {
        int is_other;
        double seconds;
    } part[] = {{0, 4e-7}, {1, 4e-7}, {1, 9e-7}, {1, 9e-7}};
    struct progress progress = {.call = "parts", .exec = exec};
    struct slices slices = {.device = device, .progress = &progress, .slice_ns = 1000};
    pool_status status = POOL_OK;

    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]) && !status; i++) {
        pool_stream *stream = part[i].is_other ? other_stream : with.stream;

        status = slices_enqueue(&slices, stream, part[i].seconds);
        if (!status)
            status = pool_buffer_fill8(with.levels, i * 4096, 4096, 0, stream);
        atomic_fetch_add(&enqueued_parts, 1);
    }
    slices_end(&slices);
    return status;
}

static void test_slice_of_several_streams(void **state)
{
    struct caller caller = {.run = run_parts, .exec = exec_here()};

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &other_stream));
    /* The first part hangs: the call waits for it before its third slice. */
    assert_int_equal(steps_beside_hang(&caller, "cuMemset*@1=hang", parts, 3), 3);
    assert_int_equal(parts(), 4);
    assert_ok(pool_stream_synchronize(with.stream));
    assert_ok(pool_stream_destroy(&other_stream));
}

/* ---- uploads beside slices ------------------------------------------------------------------- */

/* Scalars and points in host memory, in several chunks. */
static pool_status run_host_msm(const pool_exec *exec)
{
    static const struct msm_shape_of_call shape = {.ramps_up = true};
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = with.problem.curve};
    uint8_t sum[MSM_POINT_MAX];

    return msm_call_shaped(&with.problem, &params, exec, &shape, TERMS, sum);
}

static uint64_t uploads(void)
{
    static const char name[] = "\ndevicepool_copies_total{device=\"0\",direction=\"to_device\"} ";
    const char *at;
    char *text = NULL;
    uint64_t count;

    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    assert_non_null(at);
    count = strtoull(at + strlen(name), NULL, 10);
    pool_text_free(&text);
    return count;
}

/* Of the first chunk a launch does not end: two slices are enqueued, and the copies of the next. */
static void test_uploads_ahead(void **state)
{
    enum { COPIES = 2 }; /* of a chunk: scalars and points */
    struct caller caller = {.run = run_host_msm, .exec = exec_here()};
    uint64_t before, all;

    (void)state;
    caller.exec.slice_ns = 1;
    before = uploads();
    assert_ok(run_host_msm(&caller.exec));
    all = uploads() - before;
    assert_true(all > 2 * COPIES); /* there are more chunks */
    before = uploads();
    assert_int_equal(
        steps_beside_hang(&caller, "cuLaunchKernel*@1=hang", uploads, before + 2 * COPIES) - before,
        2 * COPIES);
    assert_int_equal(uploads() - before, all);
}

static void test_cancelled(void **state)
{
    (void)state;
    for (size_t i = 0; i < operation_count(); i++)
        (void)enqueued_by(i, 1, 0, true, POOL_ERR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_slices),
        cmocka_unit_test(test_slices_on_streams), cmocka_unit_test(test_slice_of_several_streams),
        cmocka_unit_test(test_uploads_ahead), cmocka_unit_test(test_cancelled)};

    device_text = "sim:1,mem=512M";
    tuning_text = POOL_NO_SMALL_MSMS;
    return cmocka_run_group_tests(tests, open_all, close_all);
}
