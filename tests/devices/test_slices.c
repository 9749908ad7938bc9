/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel of the library is cut into launches of slice_ns, or has a bound (slices.def). Each
 * operation is computed without a limit and with launches as short as they can be: the results are
 * the same bit for bit, and every kernel that is cut has had more launches in one of them.
 *
 *   test_devices_slices [DEVICES]
 */
#include <ctype.h>

#include "pool/module/sources.h"
#include "support/msm.h"
#include "support/needs_compiler.h"
#include "support/ntt.h"
#include "support/pool.h"

static const struct {
    const char *name;
    const char *bound; /* why a launch is short; NULL: it is cut */
} kernels[] = {
#define CUT(name) {name, NULL},
#define BOUNDED(name, reason) {name, reason},
#include "slices.def"
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static bool was_cut[KERNELS];

/* The launches of all kernels so far. */
static void count_launches(uint64_t *launches)
{
    char *text = NULL;

    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    for (size_t i = 0; i < KERNELS; i++) {
        char name[160];
        const char *at;

        snprintf(name, sizeof(name),
            "\ndevicepool_timed_launches_total{device=\"0\",kernel=\"%s\"} ", kernels[i].name);
        at = strstr(text, name);
        launches[i] = at ? strtoull(at + strlen(name), NULL, 10) : 0;
    }
    pool_text_free(&text);
}

/* A call that writes `bytes` bytes of results to host memory. */
typedef void (*run_call)(const pool_exec *exec, void *results, const void *user);

static void compare(run_call run, const void *user, size_t bytes)
{
    uint8_t *whole = calloc(bytes, 1), *sliced = calloc(bytes, 1);
    uint64_t before[KERNELS], between[KERNELS], after[KERNELS]; /* whole, with its tables; sliced */
    pool_exec exec = exec_here();

    assert_true(whole && sliced);
    count_launches(before);
    exec.slice_ns = UINT64_MAX;
    run(&exec, whole, user);
    count_launches(between);
    exec.slice_ns = 1;
    run(&exec, sliced, user);
    count_launches(after);
    assert_memory_equal(whole, sliced, bytes);
    for (size_t i = 0; i < KERNELS; i++)
        was_cut[i] |= after[i] - between[i] > between[i] - before[i] && between[i] > before[i];
    free(whole);
    free(sliced);
}

/* ---- MSMs ------------------------------------------------------------------------------------ */

enum { SUB_BATCH_BYTES = 3 << 20 };

struct msm_subject {
    struct msm_problem problem;
    pool_msm_params params;
    struct msm_tuning tuning;
    uint32_t checks;
    bool in_sub_batches; /* results in device memory, of sub-batches that fit into little memory */
};

static void run_msm(const pool_exec *given, void *results, const void *user)
{
    const struct msm_subject *subject = user;
    const struct msm_problem *problem = &subject->problem;
    const uint64_t batch = subject->params.batch ? subject->params.batch : 1;
    const pool_span scalars = {.data = problem->scalars, .count = problem->count},
                    points = {.data = problem->points, .count = problem->count};
    pool_span out = {.data = results, .count = batch};
    pool_exec exec = *given;
    pool_buffer *buffer = NULL;

    exec.checks = subject->checks;
    if (subject->in_sub_batches) {
        exec.memory_limit = SUB_BATCH_BYTES;
        out = msm_place(device, POOL_MEMORY_DEVICE, results, batch, problem->point_bytes,
            POOL_FORM_STANDARD, &buffer);
    }
    assert_ok(msm_compute(&subject->tuning, &subject->params, &exec, &points, &scalars, &out));
    if (buffer)
        assert_ok(pool_copy_to_host(results, buffer, 0, batch * problem->point_bytes, NULL));
    assert_ok(pool_buffer_destroy(&buffer));
}

static struct msm_subject msm_subject_of(const char *curve, uint64_t count)
{
    struct msm_subject subject = {
        .problem = msm_problem_random(pool_curve_by_name(curve), count, 21)};

    subject.params =
        (pool_msm_params){.struct_size = sizeof(subject.params), .curve = subject.problem.curve};
    return subject;
}

static void compare_msm(const struct msm_subject *subject)
{
    const uint64_t batch = subject->params.batch ? subject->params.batch : 1;

    compare(run_msm, subject, batch * subject->problem.point_bytes);
}

static void test_msm(void **state)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 2000);

    (void)state;
    subject.params.window_bits = 8;
    subject.checks = POOL_CHECK_CANONICAL | POOL_CHECK_ON_CURVE;
    compare_msm(&subject);
    subject.checks = 0;
    subject.tuning.splitting = MSM_SPLITS_ALWAYS;
    compare_msm(&subject);
    subject.tuning.splitting = MSM_SPLITS_NEVER;
    /* Equal scalars, whose partitions are oversized. */
    for (uint64_t i = 1; i < subject.problem.count; i++)
        memcpy(msm_scalar(&subject.problem, i), msm_scalar(&subject.problem, 0),
            subject.problem.scalar_bytes);
    compare_msm(&subject);
    msm_problem_free(&subject.problem);
}

/* Windows of more than 16 bits, for which digits have 32. */
static void test_wide_window(void **state)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 2000);

    (void)state;
    for (uint64_t i = 0; i < subject.problem.count; i++)
        msm_set_scalar(&subject.problem, i, i * 40503 % 65536);
    subject.params.window_bits = 17;
    subject.params.scalar_bits = 16;
    compare_msm(&subject);
    msm_problem_free(&subject.problem);
}

/* Results in device memory, too, which the device combines and copies. */
static void compare_batches(uint32_t batch)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 2 * batch);

    for (uint64_t i = 0; i < subject.problem.count; i++)
        msm_set_scalar(&subject.problem, i, i * 40503 % 65536);
    subject.params.batch = batch;
    subject.params.window_bits = 4;
    subject.params.scalar_bits = 16;
    compare_msm(&subject);
    subject.in_sub_batches = true;
    compare_msm(&subject);
    msm_problem_free(&subject.problem);
}

static void test_batches(void **state)
{
    (void)state;
    compare_batches(1000);
}

/* The kernels of few terms have a launch per MSM or more. */
static void test_small_batches(void **state)
{
    (void)state;
    compare_batches(60);
}

static void test_affine_passes(void **state)
{
    static const char *const curves[] = {"bls12_381_g1", "bn254_g2"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct msm_subject subject = msm_subject_of(curves[i], i ? 1000 : 4000);

        subject.params.affine_passes = (uint32_t)(2 - i);
        subject.params.window_bits = 6;
        compare_msm(&subject);
        subject.tuning.never_copies_ahead = true;
        compare_msm(&subject);
        msm_problem_free(&subject.problem);
    }
}

/* Buckets of many blocks, whose groups are counted. */
static void test_many_buckets(void **state)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 3000);

    (void)state;
    subject.params.affine_passes = 1;
    subject.params.window_bits = 13;
    compare_msm(&subject);
    msm_problem_free(&subject.problem);
}

static void run_bases(const pool_exec *exec, void *results, const void *user)
{
    const struct msm_subject *subject = user;
    pool_bases_params params = {
        .struct_size = sizeof(params), .curve = subject->problem.curve, .precompute_factor = 3};
    const pool_span points = {.data = subject->problem.points, .count = subject->problem.count};
    pool_bases *bases = NULL;

    assert_ok(pool_bases_create(&params, exec, &points, &bases));
    assert_ok(pool_bases_fingerprint(bases, results));
    assert_ok(pool_bases_destroy(&bases));
}

static void test_bases(void **state)
{
    struct msm_subject subject = msm_subject_of("bn254_g1", 1500);

    (void)state;
    compare(run_bases, &subject, POOL_FINGERPRINT_BYTES);
    msm_problem_free(&subject.problem);
}

/* ---- vectors --------------------------------------------------------------------------------- */

struct vector_subject {
    const pool_field *field;
    uint64_t count;
    uint8_t *a, *b;
    pool_vector_operation operation;
};

static void run_vector(const pool_exec *given, void *results, const void *user)
{
    const struct vector_subject *subject = user;
    const pool_field *field = subject->field;
    const pool_span a = {.data = subject->a, .count = subject->count},
                    b = {.data = subject->b, .count = subject->count},
                    out = {.data = results, .count = subject->count};
    pool_exec exec = *given;

    exec.checks = POOL_CHECK_CANONICAL;
    switch (subject->operation) {
    case POOL_VECTOR_INVERSE:
        assert_ok(pool_vector_inverse(field, &exec, &a, &out));
        break;
    case POOL_VECTOR_BIT_REVERSE:
        assert_ok(pool_vector_bit_reverse(field, &exec, &a, &out));
        break;
    case POOL_VECTOR_TRANSPOSE:
        assert_ok(pool_vector_transpose(field, &exec, 128, subject->count / 128, &a, &out));
        break;
    case POOL_VECTOR_POWERS:
        exec.checks = 0;
        assert_ok(pool_vector_powers(field, &exec, subject->a, &out));
        break;
    case POOL_VECTOR_EVALUATE:
        assert_ok(pool_vector_evaluate(field, &exec, &a, subject->b, results));
        break;
    default:
        assert_ok(pool_vector_mul(field, &exec, &a, &b, &out));
    }
}

static void test_vectors(void **state)
{
    static const struct {
        pool_vector_operation operation;
        uint64_t count;
    } calls[] = {{POOL_VECTOR_MUL, 20000}, {POOL_VECTOR_INVERSE, 300000},
        {POOL_VECTOR_BIT_REVERSE, 1 << 14}, {POOL_VECTOR_TRANSPOSE, 1 << 14},
        {POOL_VECTOR_POWERS, 20000}, {POOL_VECTOR_EVALUATE, 20000}};

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct vector_subject subject = {.field = ntt_field("babybear"),
            .count = calls[i].count,
            .operation = calls[i].operation};

        subject.a = ntt_random(subject.field, 1, subject.count);
        subject.b = ntt_random(subject.field, 2, subject.count);
        compare(run_vector, &subject, subject.count * 4);
        free(subject.a);
        free(subject.b);
    }
}

/* ---- Poseidon -------------------------------------------------------------------------------- */

struct hash_subject {
    const pool_poseidon *set;
    uint64_t count;
    uint8_t *elements; /* 16 per item */
    int call;
};
enum { PERMUTE, HASH, SPONGE, TREE, DIGEST_TREE, WIDTH = 16, DIGEST = 8 };

static void run_hash(const pool_exec *exec, void *results, const void *user)
{
    const struct hash_subject *subject = user;
    const uint64_t count = subject->count;
    const pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = WIDTH};
    const pool_merkle_params tree = {.struct_size = sizeof(tree),
        .arity = 2,
        .leaf_elements = subject->call == TREE ? WIDTH : 0};
    const pool_span items = {.data = subject->elements, .count = count, .stride = 4 * WIDTH},
                    states = {.data = results, .count = count},
                    digests = {.data = results, .count = count, .form = POOL_FORM_MONTGOMERY},
                    levels = {.data = results, .count = 2 * count - 1};

    if (subject->call == PERMUTE)
        assert_ok(pool_poseidon_permute(subject->set, exec, &items, &states));
    else if (subject->call == HASH)
        assert_ok(pool_poseidon_hash(subject->set, exec, &items, DIGEST, &digests));
    else if (subject->call == SPONGE)
        assert_ok(pool_poseidon_sponge(subject->set, exec, &sponge, &items, &digests));
    else
        assert_ok(pool_poseidon_merkle_build(subject->set, exec, &tree, &items, &levels));
}

static void test_poseidon(void **state)
{
    struct hash_subject subject = {.count = 1 << 13};
    pool_poseidon *set = NULL;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    subject.set = set;
    subject.elements = ntt_random(ntt_field("babybear"), 3, subject.count * WIDTH);
    for (subject.call = PERMUTE; subject.call <= DIGEST_TREE; subject.call++)
        compare(run_hash, &subject, subject.count * 4 * WIDTH);
    free(subject.elements);
    pool_poseidon_destroy(&set);
}

/* ---- transforms ------------------------------------------------------------------------------ */

struct transform_subject {
    const pool_field *field;
    uint32_t log_size, log_blowup;
    uint64_t batch;
    uint8_t *elements;
};

static void run_transform(const pool_exec *exec, void *results, const void *user)
{
    const struct transform_subject *subject = user;
    const uint64_t count = subject->batch << subject->log_size;
    const pool_span in = {.data = subject->elements, .count = count >> subject->log_blowup},
                    out = {.data = results, .count = count};
    pool_ntt_domain *domain = ntt_domain(subject->field, subject->log_size);
    const pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = domain, .batch = subject->batch};
    const pool_ntt_extend_params extend = {.struct_size = sizeof(extend),
        .domain = domain,
        .log_blowup = subject->log_blowup,
        .batch = subject->batch};

    if (subject->log_blowup)
        assert_ok(pool_ntt_extend(&extend, exec, &in, NULL, &out));
    else
        assert_ok(pool_ntt(&params, exec, &in, &out));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_transforms(void **state)
{
    static const struct transform_subject subjects[] = {
        {.log_size = 10, .batch = 128}, {.log_size = 12, .log_blowup = 2, .batch = 32}};
    static const char *const fields[] = {"babybear", "goldilocks", "bn254_fr"};

    (void)state;
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
            struct transform_subject subject = subjects[i];

            subject.field = ntt_field(fields[k]);
            subject.batch >>= k;
            subject.elements = ntt_random(subject.field, 4, subject.batch << subject.log_size);
            compare(run_transform, &subject,
                (subject.batch << subject.log_size) * pool_field_element_bytes(subject.field));
            free(subject.elements);
        }
}

/* A transform that is divided between two devices. */
static void run_split(const pool_exec *given, void *results, const void *user)
{
    const struct transform_subject *subject = user;
    const uint64_t count = UINT64_C(1) << subject->log_size;
    const pool_span in = {.data = subject->elements, .count = count},
                    out = {.data = results, .count = count};
    pool_ntt_domain *domain = ntt_domain(subject->field, subject->log_size);
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    pool_device *devices[2];
    pool_exec exec = *given;

    for (size_t i = 0; i < 2; i++)
        assert_ok(pool_device_at(pool, i, &devices[i]));
    exec.device = NULL;
    exec.devices = devices;
    exec.device_count = 2;
    assert_ok(pool_ntt(&params, &exec, &in, &out));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_split_transform(void **state)
{
    struct transform_subject subject = {.field = ntt_field("goldilocks"), .log_size = 18};

    (void)state;
    if (pool_device_count(pool) < 2)
        skip();
    subject.elements = ntt_random(subject.field, 7, UINT64_C(1) << subject.log_size);
    compare(run_split, &subject, (size_t)8 << subject.log_size);
    free(subject.elements);
}

/* ---- matrices and FRI ------------------------------------------------------------------------ */

enum { LOG_ROWS = 13, ROWS = 1 << LOG_ROWS, COLUMNS = 8 };

struct matrix_subject {
    uint8_t *elements; /* of babybear: ROWS x COLUMNS */
    pool_ntt_domain *domain;
    pool_poseidon *set;
    uint32_t log_arity;
    pool_matrix_layout layout;
};

static pool_matrix matrix_of(const struct matrix_subject *subject, void *data)
{
    const bool has_rows = subject->layout == POOL_MATRIX_ROWS;

    return (pool_matrix){.span = {.data = data, .count = has_rows ? ROWS : COLUMNS},
        .height = ROWS,
        .width = COLUMNS,
        .layout = subject->layout};
}

static void run_fold(const pool_exec *exec, void *results, const void *user)
{
    const struct matrix_subject *subject = user;
    const pool_fri_fold_params params = {.struct_size = sizeof(params),
        .field = ntt_field("babybear_x4"),
        .domain = subject->domain,
        .log_arity = subject->log_arity,
        .challenge = subject->elements + 16};
    const pool_span in = {.data = subject->elements, .count = ROWS},
                    out = {.data = results, .count = ROWS >> subject->log_arity};

    assert_ok(pool_fri_fold(&params, exec, &in, &out));
}

static void run_evaluation(const pool_exec *given, void *results, const void *user)
{
    const struct matrix_subject *subject = user;
    const pool_matrix_evaluate_params params = {.struct_size = sizeof(params),
        .field = ntt_field("babybear_x4"),
        .domain = subject->domain};
    const pool_matrix matrix = matrix_of(subject, subject->elements);

    assert_ok(pool_matrix_evaluate(&params, given, &matrix, subject->elements + 32, 1, results));
}

static void run_reversal(const pool_exec *exec, void *results, const void *user)
{
    const struct matrix_subject *subject = user;
    const size_t bytes = (size_t)ROWS * COLUMNS * 4;
    pool_matrix matrix = matrix_of(subject, NULL);
    pool_buffer *elements = NULL;
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_from_host(device, subject->elements, bytes, &elements));
    assert_ok(pool_buffer_address(elements, &address));
    matrix.span.data = (void *)(uintptr_t)address;
    matrix.span.space = POOL_MEMORY_DEVICE;
    assert_ok(pool_matrix_bit_reverse(ntt_field("babybear"), exec, &matrix, &matrix));
    assert_ok(pool_copy_to_host(results, elements, 0, bytes, NULL));
    assert_ok(pool_buffer_destroy(&elements));
}

/* A commitment, and the rows of all its indices. */
static void run_commitment(const pool_exec *exec, void *results, const void *user)
{
    const struct matrix_subject *subject = user;
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = subject->set};
    pool_buffer *elements = NULL, *digests = NULL;
    CUdeviceptr address = 0;
    uint64_t *indices = calloc(ROWS, sizeof(*indices));
    uint8_t *paths = malloc((size_t)ROWS * LOG_ROWS * 4 * DIGEST);
    pool_matrix matrix;
    pool_span levels = {.count = 2 * ROWS - 1, .space = POOL_MEMORY_DEVICE};
    const pool_span rows = {.data = results, .count = ROWS},
                    path = {.data = paths, .count = (uint64_t)ROWS * LOG_ROWS};

    assert_true(indices && paths);
    for (uint64_t i = 0; i < ROWS; i++)
        indices[i] = i * 5 % ROWS;
    assert_ok(pool_buffer_from_host(device, subject->elements, ROWS * COLUMNS * 4, &elements));
    assert_ok(pool_buffer_alloc(device, 2 * ROWS * 4 * DIGEST, &digests));
    assert_ok(pool_buffer_address(elements, &address));
    matrix = matrix_of(subject, (void *)(uintptr_t)address);
    matrix.span.space = POOL_MEMORY_DEVICE;
    assert_ok(pool_buffer_address(digests, &address));
    levels.data = (void *)(uintptr_t)address;
    assert_ok(pool_matrix_commit(&params, exec, &matrix, 1, &levels));
    assert_ok(pool_matrix_open(&params, exec, &matrix, 1, &levels, indices, ROWS, &rows, &path));
    memcpy((uint8_t *)results + ROWS * COLUMNS * 4, paths, (size_t)ROWS * LOG_ROWS * 4 * DIGEST);
    assert_ok(pool_buffer_destroy(&elements));
    assert_ok(pool_buffer_destroy(&digests));
    free(indices);
    free(paths);
}

static void test_matrices(void **state)
{
    const size_t elements = (size_t)ROWS * COLUMNS;
    struct matrix_subject subject = {0};

    (void)state;
    if (compiler_is_missing(device))
        skip();
    subject.elements = ntt_random(ntt_field("babybear"), 5, elements);
    subject.domain = ntt_domain(ntt_field("babybear"), LOG_ROWS);
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &subject.set));
    for (subject.log_arity = 1; subject.log_arity <= 3; subject.log_arity++)
        compare(run_fold, &subject, (ROWS >> subject.log_arity) * 16);
    for (int i = 0; i < 2; i++) {
        subject.layout = i ? POOL_MATRIX_ROWS : POOL_MATRIX_COLUMNS;
        compare(run_evaluation, &subject, COLUMNS * 16);
        compare(run_reversal, &subject, elements * 4);
        compare(run_commitment, &subject, elements * 4 + (size_t)ROWS * LOG_ROWS * 4 * DIGEST);
    }
    pool_poseidon_destroy(&subject.set);
    assert_ok(pool_ntt_domain_destroy(&subject.domain));
    free(subject.elements);
}

/* ---- transforms of points -------------------------------------------------------------------- */

enum { LOG_POINTS = 11, POINTS = 1 << LOG_POINTS };

static void run_ecntt(const pool_exec *exec, void *results, const void *user)
{
    const struct msm_problem *problem = user;
    pool_ntt_domain *domain = ntt_domain(pool_curve_scalar_field(problem->curve), LOG_POINTS);
    const pool_ecntt_params params = {
        .struct_size = sizeof(params), .curve = problem->curve, .domain = domain, .coset = 1};
    const pool_span in = {.data = problem->points, .count = POINTS},
                    out = {.data = results, .count = POINTS};

    assert_ok(pool_ecntt(&params, exec, &in, &out));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_ecntt(void **state)
{
    struct msm_problem problem = msm_problem_random(pool_curve_by_name("bn254_g1"), POINTS, 6);

    (void)state;
    compare(run_ecntt, &problem, POINTS * problem.point_bytes);
    msm_problem_free(&problem);
}

/* ---- the list of kernels --------------------------------------------------------------------- */

static size_t find_kernel(const char *name)
{
    size_t i = 0;

    while (i < KERNELS && strcmp(kernels[i].name, name) != 0)
        i++;
    return i;
}

/* The name behind `at`, the end of a kernel's __global__: "void", launch bounds, then the name. */
static void read_name(const char *at, char *name, size_t size)
{
    size_t length = 0;

    for (;;) {
        at += strcspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        for (length = 0; isalnum((unsigned char)at[length]) || at[length] == '_';)
            length++;
        if (length == strlen("__launch_bounds__") && !strncmp(at, "__launch_bounds__", length))
            at = strchr(at, ')') + 1;
        else if (length == 4 && !strncmp(at, "void", 4))
            at += length;
        else
            break;
    }
    if (!strncmp(at, "POSEIDON_KERNEL(", 16)) {
        snprintf(name, size, "poseidon_%.*s", (int)strcspn(at + 16, ")"), at + 16);
        return;
    }
    snprintf(name, size, "%.*s", (int)length, at);
}

/* Every kernel of the sources is in the list, and the other way round. */
static void test_list(void **state)
{
    bool is_there[KERNELS] = {false};

    (void)state;
    for (size_t i = 0; i < module_sources_count; i++) {
        const char *at = module_sources[i].text;

        while ((at = strstr(at, "__global__"))) {
            char name[128], both[160];
            size_t found;

            at += strlen("__global__");
            read_name(at, name, sizeof(name));
            found = find_kernel(name);
            if (found == KERNELS)
                fail_msg("%s of %s is not in slices.def: it needs a cut or a bound", name,
                    module_sources[i].name);
            is_there[found] = true;
            snprintf(both, sizeof(both), "%s_2thread", name);
            if (find_kernel(both) < KERNELS)
                is_there[find_kernel(both)] = true;
        }
    }
    for (size_t i = 0; i < KERNELS; i++)
        if (!is_there[i])
            fail_msg("there is no kernel %s", kernels[i].name);
}

/* The others above have been computed: small problems have several waves on one multiprocessor. */
static void test_all_are_cut(void **state)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    size_t missing = 0;

    (void)state;
    if (compiler_is_missing(device))
        skip();
    assert_ok(pool_device_get_info(device, &info));
    for (size_t i = 0; i < KERNELS && info.multiprocessors == 1; i++)
        if (!was_cut[i] && !kernels[i].bound) {
            print_message("%s has not been cut\n", kernels[i].name);
            missing++;
        }
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_msm),
        cmocka_unit_test(test_wide_window), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_affine_passes), cmocka_unit_test(test_many_buckets),
        cmocka_unit_test(test_bases), cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_poseidon), cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_split_transform), cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_ecntt)};
    const struct CMUnitTest small[] = {
        cmocka_unit_test(test_small_batches), cmocka_unit_test(test_all_are_cut)};
    int failed;

    device_text = argc > 1 ? argv[1] : "sim:2,mem=512M,sms=1";
    tuning_text = POOL_NO_SMALL_MSMS;
    if (open_pool(NULL))
        return 77;
    assert_ok(pool_set_phase_timing(pool, 2));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    failed = close_pool(NULL) || failed;
    tuning_text = "";
    if (open_pool(NULL))
        return 77;
    assert_ok(pool_set_phase_timing(pool, 2));
    failed = cmocka_run_group_tests(small, NULL, NULL) || failed;
    return close_pool(NULL) || failed;
}
