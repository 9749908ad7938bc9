/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joint MSMs: the sums of several base sets and several lists of scalars equal those of the
 * reference, with shared and own sorts, multiples and none, short chunks, every place of scalars
 * and results, skewed scalars and points at infinity; workspaces are exact, and bad arguments are
 * refused without a write.
 *
 *   test_devices_msm_joint [DEVICES]
 */
#include "support/msm.h"
#include "support/pool.h"
#include "support/sample.h"

enum { MOST_TERMS = 8, MOST_RESULTS = 8 };

/* Terms over the points and scalars of problems, with what the reference needs of them. */
struct joint {
    pool_msm_joint_params params;
    pool_exec exec;
    pool_msm_term terms[MOST_TERMS];
    struct msm_problem problem[MOST_TERMS]; /* of each term: its points and scalars */
    uint32_t count;
    uint64_t results;
    pool_buffer *buffers[MOST_TERMS];
    pool_form form; /* of the results */
    pool_memory_space space;
};

static struct joint joint_of(uint64_t results)
{
    return (struct joint){.params = {.struct_size = sizeof(pool_msm_joint_params)},
        .exec = exec_here(),
        .results = results};
}

static pool_bases *bases_behind(
    const struct msm_problem *problem, uint32_t factor, uint64_t planned_terms, uint64_t infinities)
{
    const pool_bases_params params = {.struct_size = sizeof(params),
        .curve = problem->curve,
        .precompute_factor = factor,
        .planned_terms = planned_terms,
        .leading_infinities = infinities};
    const pool_exec exec = exec_here();
    const pool_span span = msm_span(problem->points, problem->count);
    pool_bases *bases = NULL;

    assert_ok(pool_bases_create(&params, &exec, &span, &bases));
    return bases;
}

static pool_bases *bases_of(
    const struct msm_problem *problem, uint32_t factor, uint64_t planned_terms)
{
    return bases_behind(problem, factor, planned_terms, 0);
}

/* A term over `bases`, which have the points of `points`, from base `first` on. */
static void add_term(struct joint *joint, pool_bases *bases, const struct msm_problem *points,
    uint64_t first, const struct msm_problem *scalars, uint64_t result)
{
    pool_msm_term *term = &joint->terms[joint->count];
    struct msm_problem *problem = &joint->problem[joint->count++];

    *term = (pool_msm_term){.bases = bases,
        .first_base = first,
        .scalars = msm_span(scalars->scalars, scalars->count),
        .result = result};
    *problem = *scalars;
    problem->points = msm_point(points, first);
}

/* The scalars of all terms move to the device; those with one address keep one address. */
static void place_scalars(struct joint *joint)
{
    for (uint32_t i = 0; i < joint->count; i++) {
        uint32_t same = 0;

        while (joint->problem[same].scalars != joint->problem[i].scalars)
            same++;
        if (same < i)
            joint->terms[i].scalars = joint->terms[same].scalars;
        else
            joint->terms[i].scalars = msm_place(device, POOL_MEMORY_DEVICE,
                joint->problem[i].scalars, joint->problem[i].count, joint->problem[i].scalar_bytes,
                POOL_FORM_STANDARD, &joint->buffers[i]);
    }
}

static void free_scalars(struct joint *joint)
{
    for (uint32_t i = 0; i < joint->count; i++)
        assert_ok(pool_buffer_destroy(&joint->buffers[i]));
}

/* Affine points in standard form, from the reference over the terms of each result in a row. */
static void expect(const struct joint *joint, uint8_t *wanted)
{
    const pool_curve *curve = joint->problem[0].curve;

    for (uint64_t r = 0; r < joint->results; r++) {
        uint64_t count = 0, at = 0;

        for (uint32_t i = 0; i < joint->count; i++)
            count += joint->terms[i].result == r ? joint->problem[i].count : 0;
        struct msm_problem all = msm_problem_empty(curve, count);
        for (uint32_t i = 0; i < joint->count; i++) {
            const struct msm_problem *part = &joint->problem[i];

            if (joint->terms[i].result != r)
                continue;
            memcpy(msm_point(&all, at), part->points, part->count * part->point_bytes);
            memcpy(msm_scalar(&all, at), part->scalars, part->count * part->scalar_bytes);
            at += part->count;
        }
        msm_expect(&all, wanted + r * all.point_bytes);
        msm_problem_free(&all);
    }
}

static pool_status compute(struct joint *joint, uint8_t *got)
{
    const pool_curve *curve = joint->problem[0].curve;
    const pool_point_format format = {joint->params.result_layout, joint->form, 0};
    const size_t bytes = pool_point_bytes(curve, joint->params.result_layout);
    uint8_t *made = calloc(joint->results, bytes + 4);
    pool_buffer *buffer = NULL;
    pool_span results =
        msm_place(device, joint->space, made, joint->results, bytes, joint->form, &buffer);
    pool_status status =
        pool_msm_joint(&joint->params, &joint->exec, joint->terms, joint->count, &results);

    if (!status && joint->exec.is_async)
        assert_ok(pool_stream_synchronize(joint->exec.stream));
    if (!status && buffer)
        assert_ok(pool_copy_to_host(made, buffer, 0, joint->results * bytes, NULL));
    if (!status)
        assert_ok(pool_points_convert(
            curve, &format, made, joint->results, POOL_CHECK_ON_CURVE, NULL, got));
    assert_ok(pool_buffer_destroy(&buffer));
    free(made);
    return status;
}

static void compare(struct joint *joint)
{
    const size_t bytes = joint->problem[0].point_bytes;
    uint8_t *wanted = calloc(joint->results, bytes), *got = calloc(joint->results, bytes);

    expect(joint, wanted);
    assert_ok(compute(joint, got));
    for (uint64_t r = 0; r < joint->results; r++)
        if (memcmp(got + r * bytes, wanted + r * bytes, bytes) != 0)
            fail_msg("%s: result %llu of %llu is wrong", pool_curve_name(joint->problem[0].curve),
                (unsigned long long)r, (unsigned long long)joint->results);
    free(wanted);
    free(got);
}

static uint64_t forecast(const struct joint *joint)
{
    const pool_span results = {.count = joint->results, .form = joint->form, .space = joint->space};
    pool_msm_term terms[MOST_TERMS];
    uint64_t bytes = 0;

    memcpy(terms, joint->terms, sizeof(terms));
    for (uint32_t i = 0; i < joint->count; i++)
        terms[i].scalars.data = NULL;
    assert_ok(pool_msm_joint_workspace(
        &joint->params, &joint->exec, terms, joint->count, &results, &bytes));
    return bytes;
}

/* A workspace of the forecast's size is enough, and one of less is refused, unless only affine
 * passes, which tests that set the tuning have, need the rest. */
static void check_workspace(struct joint *joint)
{
    const uint64_t bytes = forecast(joint);
    uint8_t *got = calloc(joint->results, joint->problem[0].point_bytes);
    pool_status status;

    assert_ok(pool_buffer_alloc(device, bytes, &joint->exec.workspace));
    compare(joint);
    assert_ok(pool_buffer_destroy(&joint->exec.workspace));
    assert_ok(pool_buffer_alloc(device, bytes - 1, &joint->exec.workspace));
    status = compute(joint, got);
    assert_true(status == POOL_ERR_INVALID_ARGUMENT ||
                (status == POOL_OK && getenv("DEVICEPOOL_TEST_TUNING")));
    assert_ok(pool_buffer_destroy(&joint->exec.workspace));
    free(got);
}

/* What a Groth16 prover computes: three base sets with the witness, of which the third begins
 * later, and a fourth one with scalars of its own for the third result. */
struct prover {
    struct msm_problem witness, private, quotient, b; /* b: points only */
    pool_bases *bases[4];
};

/* Zeros, ones, equal and opposite scalars, points at infinity, equal points. */
static void make_hard(const struct msm_problem *problem)
{
    for (uint64_t i = 0; i + 7 < problem->count; i += 11) {
        msm_set_scalar(problem, i, 0);
        msm_set_scalar(problem, i + 1, 1);
        memset(msm_point(problem, i + 2), 0, problem->point_bytes);
        memcpy(msm_point(problem, i + 4), msm_point(problem, i + 3), problem->point_bytes);
        memcpy(msm_scalar(problem, i + 4), msm_scalar(problem, i + 3), problem->scalar_bytes);
        memset(msm_scalar(problem, i + 5), 0, problem->scalar_bytes);
    }
}

static struct prover prover_of(
    const char *name, uint64_t variables, uint64_t domain, uint32_t factor)
{
    const pool_curve *curve = pool_curve_by_name(name);
    struct prover prover = {.witness = msm_problem_random(curve, variables, 1),
        .private = msm_problem_random(curve, variables - 3, 2),
        .quotient = msm_problem_random(curve, domain, 3),
        .b = msm_problem_random(curve, variables, 4)};

    make_hard(&prover.witness);
    make_hard(&prover.quotient);
    memcpy(prover.private.scalars, msm_scalar(&prover.witness, 3),
        prover.private.count * prover.private.scalar_bytes);
    memcpy(prover.b.scalars, prover.witness.scalars, variables * prover.b.scalar_bytes);
    prover.bases[0] = bases_of(&prover.witness, factor, domain);
    prover.bases[1] = bases_of(&prover.b, factor, domain);
    prover.bases[2] = bases_of(&prover.private, factor, domain);
    prover.bases[3] = bases_of(&prover.quotient, factor, domain);
    return prover;
}

static void free_prover(struct prover *prover)
{
    for (int i = 0; i < 4; i++)
        assert_ok(pool_bases_destroy(&prover->bases[i]));
    msm_problem_free(&prover->witness);
    msm_problem_free(&prover->private);
    msm_problem_free(&prover->quotient);
    msm_problem_free(&prover->b);
}

static struct joint joint_of_prover(const struct prover *prover)
{
    struct joint joint = joint_of(3);

    add_term(&joint, prover->bases[0], &prover->witness, 0, &prover->witness, 0);
    add_term(&joint, prover->bases[1], &prover->b, 0, &prover->witness, 1);
    add_term(&joint, prover->bases[2], &prover->private, 0, &prover->private, 2);
    add_term(&joint, prover->bases[3], &prover->quotient, 0, &prover->quotient, 2);
    return joint;
}

static void test_prover(void **state)
{
    static const uint32_t factors[] = {1, 3, POOL_PRECOMPUTE_ALL};
    static const char *const names[] = {"bn254_g1", "bls12_381_g2"};

    (void)state;
    for (uint32_t k = 0; k < 2; k++)
        for (uint32_t i = 0; i < 3; i++) {
            if (!is_sampled(i + k, 2))
                continue;
            struct prover prover = prover_of(names[k], k ? 40 : 190, k ? 64 : 256, factors[i]);
            struct joint joint = joint_of_prover(&prover);

            compare(&joint);
            place_scalars(&joint);
            check_workspace(&joint);
            joint.exec.checks = POOL_CHECK_CANONICAL;
            joint.params.result_layout = POOL_POINT_JACOBIAN;
            joint.form = POOL_FORM_MONTGOMERY;
            joint.space = POOL_MEMORY_DEVICE;
            compare(&joint);
            free_scalars(&joint);
            free_prover(&prover);
        }
}

static uint64_t launches_of(struct joint *joint)
{
    static const char name[] = "\ndevicepool_launches_total{device=\"0\"} ";
    uint8_t got[MOST_RESULTS * MSM_POINT_MAX];
    uint64_t counts[2];

    for (int i = 0; i < 2; i++) {
        char *text = NULL;

        assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
        assert_non_null(strstr(text, name));
        counts[i] = strtoull(strstr(text, name) + strlen(name), NULL, 10);
        pool_text_free(&text);
        if (!i)
            assert_ok(compute(joint, got));
    }
    return counts[1] - counts[0];
}

/* A base set with infinities in front is computed with the sort of the others, and has the sums of
 * the points behind them. */
static void test_infinities(void **state)
{
    struct prover prover = prover_of("bn254_g1", 60, 64, POOL_PRECOMPUTE_ALL);
    struct joint own = joint_of_prover(&prover), shared = joint_of_prover(&prover);
    pool_bases *bases = bases_behind(&prover.private, POOL_PRECOMPUTE_ALL, 64, 3);
    const pool_exec exec = exec_here();
    const pool_span span = msm_span(prover.private.points, prover.private.count);
    pool_bases_params params;
    uint64_t launches, bytes, at_a_time;

    (void)state;
    assert_int_equal(pool_bases_count(bases), 60);
    params = (pool_bases_params){.struct_size = sizeof(params),
        .curve = prover.private.curve,
        .precompute_factor = POOL_PRECOMPUTE_ALL,
        .planned_terms = 64,
        .leading_infinities = 3};
    assert_ok(pool_bases_create_workspace(&params, &exec, &span, &bytes, &at_a_time));
    assert_int_equal(bytes, pool_bases_bytes(bases));
    params.leading_infinities = INT32_MAX;
    assert_int_equal(pool_bases_create_workspace(&params, &exec, &span, &bytes, &at_a_time),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("57 points behind 2147483647 at infinity");
    params.planned_terms = UINT64_C(1) << 31;
    assert_int_equal(pool_bases_create_workspace(&params, &exec, &span, &bytes, &at_a_time),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("for `planned_terms`");
    shared.terms[2].bases = bases;
    shared.terms[2].scalars = shared.terms[0].scalars;
    place_scalars(&own);
    launches = launches_of(&own);
    free_scalars(&own);
    compare(&shared); /* the reference's scalars are those behind the infinities */
    shared.problem[2].scalars = shared.problem[0].scalars;
    place_scalars(&shared);
    shared.problem[2].scalars = prover.private.scalars;
    assert_true(launches_of(&shared) + 3 <= launches);
    compare(&shared);
    free_scalars(&shared);
    assert_ok(pool_bases_destroy(&bases));
    free_prover(&prover);
}

/* The first call's results, and a later one's that finds other bytes in the workspace. */
static void test_limits(void **state)
{
    struct prover prover = prover_of("bn254_g1", 2500, 3000, takes_a_sample() ? 1 : 4);
    struct joint joint = joint_of_prover(&prover);
    const uint64_t whole = forecast(&joint);
    uint8_t got[3 * MSM_POINT_MAX];

    (void)state;
    compare(&joint);
    joint.exec.memory_limit = whole;
    assert_int_equal(forecast(&joint), whole);
    joint.exec.memory_limit = whole - 1; /* two chunks of the longest list, or smaller */
    assert_true(forecast(&joint) < whole);
    check_workspace(&joint);
    place_scalars(&joint);
    compare(&joint);
    joint.exec.memory_limit = 4096;
    assert_int_equal(compute(&joint, got), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    free_scalars(&joint);
    free_prover(&prover);
}

/* Ranges of one handle, a term twice, results without terms or scalars, more results than the host
 * combines, and a stream. */
static void test_terms(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem points = msm_problem_random(curve, 160, 9);
    struct msm_problem short_list = msm_problem_random(curve, 50, 10);
    struct msm_problem empty = msm_problem_empty(curve, 0);
    pool_bases *bases = bases_of(&points, 0, 0);
    struct joint joint = joint_of(6);

    (void)state;
    add_term(&joint, bases, &points, 0, &points, 5);
    add_term(&joint, bases, &points, 7, &short_list, 0);
    add_term(&joint, bases, &points, 110, &short_list, 1);
    add_term(&joint, bases, &points, 110, &short_list, 1);
    add_term(&joint, bases, &points, 110, &short_list, 4);
    add_term(&joint, bases, &points, 160, &empty, 3);
    compare(&joint);
    joint.params.window_bits = 6;
    compare(&joint);
    assert_ok(pool_stream_create(device, NULL, &joint.exec.stream));
    place_scalars(&joint);
    joint.space = POOL_MEMORY_DEVICE;
    joint.exec.is_async = 1;
    check_workspace(&joint);
    joint.exec.is_async = 0;
    joint.exec.timeout_ns = UINT64_C(600000000000);
    compare(&joint);
    assert_ok(pool_stream_destroy(&joint.exec.stream));
    free_scalars(&joint);
    joint = joint_of(1);
    add_term(&joint, bases, &points, 0, &empty, 0);
    compare(&joint);
    assert_ok(pool_bases_destroy(&bases));
    msm_problem_free(&points);
    msm_problem_free(&short_list);
    msm_problem_free(&empty);
}

/* A single scalar has no gap behind it, however long its span's stride is. */
static void test_long_stride(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem points = msm_problem_random(curve, 160, 14);
    struct msm_problem one = msm_problem_random(curve, 1, 15);
    pool_bases *bases = bases_of(&points, 0, 0);
    struct joint joint = joint_of(2);
    uint64_t packed;

    (void)state;
    add_term(&joint, bases, &points, 0, &points, 0);
    add_term(&joint, bases, &points, 0, &one, 1);
    packed = forecast(&joint);
    joint.terms[1].scalars.stride = UINT64_C(1) << 52;
    assert_int_equal(forecast(&joint), packed);
    compare(&joint);
    assert_ok(pool_bases_destroy(&bases));
    msm_problem_free(&points);
    msm_problem_free(&one);
}

/* Short scalars use fewer windows, and the check finds those that are not. */
static void test_short_scalars(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem points = msm_problem_random(curve, 90, 12);
    pool_bases *bases = bases_of(&points, POOL_PRECOMPUTE_ALL, 0);
    struct joint joint = joint_of(2);
    uint8_t got[2 * MSM_POINT_MAX];

    (void)state;
    for (uint64_t i = 0; i < points.count; i++)
        msm_set_scalar(&points, i, i * 601);
    add_term(&joint, bases, &points, 0, &points, 0);
    add_term(&joint, bases, &points, 0, &points, 1);
    joint.params.scalar_bits = 16;
    joint.exec.checks = POOL_CHECK_CANONICAL;
    compare(&joint);
    msm_set_scalar(&points, 77, 1 << 16);
    assert_int_equal(compute(&joint, got), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "scalar 77 is not below 2^16"));
    assert_ok(pool_bases_destroy(&bases));
    msm_problem_free(&points);
}

/* Forecasts of residents, before a device has a copy, are those of the handles. */
static void test_residents(void **state)
{
    struct prover prover = prover_of("bn254_g1", 30, 64, 3);
    struct joint joint = joint_of_prover(&prover);
    const struct msm_problem *points[] = {
        &prover.witness, &prover.b, &prover.private, &prover.quotient};
    const pool_span results = {.count = joint.results};
    const uint64_t wanted = forecast(&joint);
    pool_resident *residents[4] = {NULL};
    uint64_t bytes = 0;

    (void)state;
    for (int i = 0; i < 4; i++) {
        const pool_span span = msm_span(points[i]->points, points[i]->count);
        const pool_bases_params bases = {.struct_size = sizeof(bases),
            .curve = points[i]->curve,
            .precompute_factor = 3,
            .planned_terms = 64};
        const pool_resident_params params = {
            .struct_size = sizeof(params), .bases = &bases, .points = &span};

        assert_ok(pool_resident_create(pool, &params, &residents[i]));
    }
    assert_int_equal(pool_resident_msm_joint_workspace(residents, &joint.params, &joint.exec,
                         joint.terms, joint.count, &results, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    for (int i = 0; i < 4; i++)
        joint.terms[i].bases = NULL;
    assert_ok(pool_resident_msm_joint_workspace(
        residents, &joint.params, &joint.exec, joint.terms, joint.count, &results, &bytes));
    assert_int_equal(bytes, wanted);
    for (int i = 0; i < 4; i++)
        assert_ok(pool_resident_destroy(&residents[i]));
    free_prover(&prover);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static struct prover refused;

static void refuse(struct joint *joint, pool_status status, const char *text)
{
    uint8_t result[4 * 64], untouched[sizeof(result)];
    pool_span results = msm_span(result, joint->results);

    memset(result, 7, sizeof(result));
    memset(untouched, 7, sizeof(untouched));
    if (joint->results == 99) /* over the first list of scalars */
        results = msm_span(joint->terms[0].scalars.data, 1);
    assert_int_equal(
        pool_msm_joint(&joint->params, &joint->exec, joint->terms, joint->count, &results), status);
    if (!strstr(pool_last_error()->message, text))
        fail_msg("\"%s\" does not contain \"%s\"", pool_last_error()->message, text);
    assert_memory_equal(result, untouched, sizeof(result));
}

#define REFUSE_AS(status, change, text)                                                            \
    do {                                                                                           \
        struct joint joint = joint_of_prover(&refused);                                            \
        change;                                                                                    \
        refuse(&joint, status, text);                                                              \
    } while (0)
#define REFUSE(change, text) REFUSE_AS(POOL_ERR_INVALID_ARGUMENT, change, text)

static void test_refusals(void **state)
{
    struct msm_problem g2 = msm_problem_random(pool_curve_by_name("bn254_g2"), 20, 1);
    pool_bases *of_g2 = bases_of(&g2, 3, 32);
    pool_bases *of_other_windows = bases_of(&refused.b, POOL_PRECOMPUTE_ALL, 1 << 20);
    pool_device *other = NULL;
    const pool_span results = {.count = 3};
    uint64_t bytes;

    (void)state;
    assert_ok(pool_device_at(pool, pool_device_count(pool) - 1, &other));
    REFUSE(joint.params.struct_size = 0, "struct_size");
    REFUSE(joint.count = 0, "value 0 for `count`; it must be 1 to 64");
    REFUSE(joint.count = 65, "value 65 for `count`");
    REFUSE(joint.params.result_layout = (pool_point_layout)5, "for `result_layout`");
    REFUSE(joint.params.window_bits = 25, "value 25 for `window_bits`");
    REFUSE(joint.params.window_bits = 2, "the bases are precomputed for");
    REFUSE(joint.params.scalar_bits = 257, "value 257 for `scalar_bits`");
    REFUSE((joint.params.scalar_bits = 9, joint.exec.checks = POOL_CHECK_REDUCE),
        "value 9 for `scalar_bits`");
    REFUSE(joint.exec.checks = POOL_CHECK_ON_CURVE, "for `checks`");
    REFUSE_AS(POOL_ERR_UNSUPPORTED, joint.exec.on_host = 1, "`on_host` is not supported");
    REFUSE(joint.terms[2].bases = NULL, "`terms[2].bases` must not be NULL");
    REFUSE(joint.terms[1].bases = of_g2, "`terms[1].bases` are points of bn254_g2");
    REFUSE(joint.terms[1].bases = of_other_windows, "same `window_bits` or `planned_terms`");
    REFUSE(joint.terms[3].result = 3, "`terms[3].result` is 3");
    REFUSE(joint.terms[1].first_base = 1, "20 bases from 1 on are more than the 20 of `terms[1]");
    REFUSE(joint.terms[1].first_base = UINT64_MAX, "more than the 20");
    REFUSE(joint.terms[3].scalars.count = 33, "more than the 32");
    REFUSE(joint.terms[3].scalars.data = NULL, "the data of the terms[3].scalars");
    REFUSE(joint.terms[0].scalars.stride = 30, "terms[0].scalars has a stride of 30");
    REFUSE(joint.terms[0].scalars.form = (pool_form)2, "unsupported value 2 for `form`");
    REFUSE(joint.results = 0, "room for 0 points");
    REFUSE((joint.results = 4, joint.count = 3), "room for 4 points");
    REFUSE((joint.results = 99, joint.terms[0].scalars.count = 4,
               joint.terms[1].result = joint.terms[2].result = joint.terms[3].result = 0),
        "overlap");
    if (other != device)
        REFUSE_AS(POOL_ERR_WRONG_DEVICE, joint.exec.device = other, "on device 0");
    struct joint joint = joint_of_prover(&refused);
    assert_int_equal(
        pool_msm_joint(&joint.params, &joint.exec, NULL, 4, &results), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_msm_joint(&joint.params, &joint.exec, joint.terms, 4, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_msm_joint_workspace(&joint.params, &joint.exec, NULL, 4, &results, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_msm_joint_workspace(&joint.params, &joint.exec, joint.terms, 4, &results, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_bases_destroy(&of_g2));
    assert_ok(pool_bases_destroy(&of_other_windows));
    msm_problem_free(&g2);
}

static int open_refused(void **state)
{
    (void)state;
    refused = prover_of("bn254_g1", 20, 32, 3);
    return 0;
}

static int close_refused(void **state)
{
    (void)state;
    free_prover(&refused);
    return 0;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prover),
        cmocka_unit_test(test_infinities),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_long_stride),
        cmocka_unit_test(test_short_scalars),
        cmocka_unit_test(test_residents),
        cmocka_unit_test_setup_teardown(test_refusals, open_refused, close_refused),
    };
    int failed;

    if (count > 1)
        device_text = arguments[1];
    if (open_pool(NULL))
        return 77;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return close_pool(NULL) || failed;
}
