/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations whose launches are cut (pool_exec.slice_ns): with launches as short as they can be the
 * results are bit for bit those without a limit, and every kernel that the operation cuts has more
 * launches.
 *
 *   test_devices_slices [DEVICES]
 */
#include "support/msm.h"
#include "support/pool.h"

/* The launches of a kernel so far. */
static uint64_t count_launches(const char *kernel)
{
    char name[160], *text = NULL;
    const char *at;
    uint64_t count;

    snprintf(name, sizeof(name), "\ndevicepool_timed_launches_total{device=\"0\",kernel=\"%s\"} ",
        kernel);
    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    at = strstr(text, name);
    count = at ? strtoull(at + strlen(name), NULL, 10) : 0;
    pool_text_free(&text);
    return count;
}

/* A call that writes `bytes` bytes of results to host memory. */
struct sliced_call {
    void (*run)(const pool_exec *exec, void *results, const void *user);
    const void *user;
    size_t bytes;
    const char *kernels[12]; /* that it cuts */
};

static void compare(const struct sliced_call *call)
{
    uint8_t *whole = calloc(call->bytes, 1), *sliced = calloc(call->bytes, 1);
    pool_exec exec = exec_here();
    uint64_t before[12], launches[12];
    size_t count = 0;

    assert_true(whole && sliced);
    for (; count < 12 && call->kernels[count]; count++)
        before[count] = count_launches(call->kernels[count]);
    exec.slice_ns = UINT64_MAX;
    call->run(&exec, whole, call->user);
    for (size_t i = 0; i < count; i++) {
        launches[i] = count_launches(call->kernels[i]) - before[i];
        before[i] += launches[i];
    }
    exec.slice_ns = 1;
    call->run(&exec, sliced, call->user);
    assert_memory_equal(whole, sliced, call->bytes);
    for (size_t i = 0; i < count; i++) {
        const uint64_t more = count_launches(call->kernels[i]) - before[i];

        if (!launches[i] || more <= launches[i])
            fail_msg("%s: %llu launches without a limit, %llu with one", call->kernels[i],
                (unsigned long long)launches[i], (unsigned long long)more);
    }
    free(whole);
    free(sliced);
}

/* ---- MSMs ------------------------------------------------------------------------------------ */

struct msm_subject {
    struct msm_problem problem;
    pool_msm_params params;
};

static void run_msm(const pool_exec *exec, void *results, const void *user)
{
    const struct msm_subject *subject = user;
    const struct msm_problem *problem = &subject->problem;
    const pool_span scalars = {.data = problem->scalars, .count = problem->count};
    const pool_span points = {.data = problem->points, .count = problem->count};
    const pool_span out = {
        .data = results, .count = subject->params.batch ? subject->params.batch : 1};

    assert_ok(pool_msm(&subject->params, exec, &points, &scalars, &out));
}

static struct msm_subject msm_subject_of(const char *curve, uint64_t count)
{
    struct msm_subject subject = {
        .problem = msm_problem_random(pool_curve_by_name(curve), count, 21)};

    subject.params =
        (pool_msm_params){.struct_size = sizeof(subject.params), .curve = subject.problem.curve};
    return subject;
}

static void test_msm(void **state)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 6000);

    (void)state;
    subject.params.window_bits = 8;
    compare(&(struct sliced_call){.run = run_msm,
        .user = &subject,
        .bytes = subject.problem.point_bytes,
        .kernels = {"msm_digits_16", "msm_sort_partition", "msm_sort_buckets",
            "msm_reduce_segments", "msm_convert_bases", "msm_accumulate"}});
    /* Equal scalars, whose partitions are oversized. */
    for (uint64_t i = 1; i < subject.problem.count; i++)
        memcpy(msm_scalar(&subject.problem, i), msm_scalar(&subject.problem, 0),
            subject.problem.scalar_bytes);
    compare(&(struct sliced_call){.run = run_msm,
        .user = &subject,
        .bytes = subject.problem.point_bytes,
        .kernels = {"msm_sort_buckets", "msm_sort_oversized"}});
    msm_problem_free(&subject.problem);
}

static void test_affine_passes(void **state)
{
    static const char *const curves[] = {"bls12_381_g1", "bn254_g2"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct msm_subject subject = msm_subject_of(curves[i], i ? 3000 : 12000);

        subject.params.affine_passes = (uint32_t)(2 - i);
        subject.params.window_bits = 6;
        compare(&(struct sliced_call){.run = run_msm,
            .user = &subject,
            .bytes = subject.problem.point_bytes,
            .kernels = {"msm_affine_prefixes_of_entries", "msm_affine_sums_of_entries_ahead",
                "msm_affine_pad", i ? NULL : "msm_affine_prefixes", "msm_affine_sums"}});
        msm_problem_free(&subject.problem);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_msm),
        cmocka_unit_test(test_affine_passes),
    };
    int failed;

    device_text = argc > 1 ? argv[1] : "sim:1,mem=512M,sms=1";
    tuning_text = POOL_NO_SMALL_MSMS;
    if (open_pool(NULL))
        return 77;
    assert_ok(pool_set_phase_timing(pool, 2));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return close_pool(NULL) || failed;
}
