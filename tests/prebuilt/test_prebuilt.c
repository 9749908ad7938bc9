/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host without NVRTC: every program of ptx/prebuilt computes what the plain reference does, the
 * pool says that it is in use, and what is not among them fails with the text that helps.
 *   test_prebuilt [--device DEVICES]     (default: sim:2,cc=75; "0" is a GPU)
 */
#include "support/assert.h"
#include "support/ecntt.h"
#include "support/msm_reference.h"
#include "support/ntt_extend.h"
#include "support/poseidon_tuning.h"

#include "pool/module/prebuilt.h"
#include "zk/msm/msm.h"
#include "zk/ntt/ntt.h"
#include "zk/poseidon/poseidon.h"

enum { MOST_PROGRAMS = 256 };

static const char *devices = "sim:2,cc=75";
static device_pool *pool;
static pool_device *device;
static bool is_used[MOST_PROGRAMS]; /* programs that the log named */
static int prebuilt_first;          /* programs that were not compiled because NVRTC is last */

static void watch(void *user, const pool_log_record *record)
{
    const char *found = strstr(record->message, "prebuilt PTX ");

    (void)user;
    prebuilt_first += found && strstr(found, "NVRTC=last");
    if (record->level != POOL_LOG_INFO || !found || !strstr(found, "NVRTC=off"))
        return;
    found += strlen("prebuilt PTX ");
    for (int i = 0; module_prebuilt_programs[i].name && i < MOST_PROGRAMS; i++) {
        size_t length = strlen(module_prebuilt_programs[i].name);

        if (strncmp(found, module_prebuilt_programs[i].name, length) == 0 && found[length] == ' ')
            is_used[i] = true;
    }
}

/* Kernels differ with the size: where there are few points for the chip, and where there are not.
 */
static void check_transforms(const pool_field *field, uint32_t log_size)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = ntt_domain(field, log_size)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    ntt_compare(&params, &exec, 1);
    params.direction = POOL_NTT_INVERSE;
    params.coset = 1;
    ntt_compare(&params, &exec, 2);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Kernels of one length each, which by default only large transforms use. */
static void check_lengths(const pool_field *field)
{
    const struct chip chip = chip_of(device);
    struct ntt_tuning tuning;

    if (!ntt_tuning_of_lengths(field->words, &chip, &tuning))
        return;
    for (uint32_t length = NTT_MIN_LENGTH; length <= NTT_MAX_LENGTH; length++) {
        pool_ntt_params params = {
            .struct_size = sizeof(params), .batch = 3, .domain = ntt_domain(field, length)};
        pool_exec exec = {.struct_size = sizeof(exec), .device = device};

        params.domain->tuning = &tuning;
        ntt_compare(&params, &exec, 6);
        assert_ok(pool_ntt_domain_destroy(&params.domain));
    }
}

/* One transform over two devices, with the kernel of its columns. */
static void check_split(const pool_field *field, uint32_t log_size)
{
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_device *both[2] = {device, NULL};
    pool_exec exec = {.struct_size = sizeof(exec), .devices = both, .device_count = 2};

    if (pool_device_count(pool) < 2)
        return;
    assert_ok(pool_device_at(pool, 1, &both[1]));
    params.domain = ntt_domain(field, log_size);
    ntt_compare(&params, &exec, 4);
    params.direction = POOL_NTT_INVERSE;
    ntt_compare(&params, &exec, 5);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* With the kernel that multiplies coefficients by powers of all cosets' generators. */
static void check_extension(const pool_field *field, uint32_t log_size)
{
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(field, log_size),
        .log_blowup = 1,
        .batch = 1};
    const uint64_t size = UINT64_C(1) << log_size;
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *in = ntt_random(field, 7, size / 2), *got = calloc(size, field->bytes);
    pool_span from = ntt_host(in, size / 2), to = ntt_host(got, size);
    struct ntt_extend_answer expected = ntt_extend_expected(&params, in);

    assert_ok(pool_ntt_extend(&params, &exec, &from, NULL, &to));
    assert_memory_equal(got, expected.out, size * field->bytes);
    ntt_extend_free(&expected);
    free(in);
    free(got);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

/* Domains of 2^17 to 2^20 points of 256 bits have one long table, and a kernel of their own. */
static void load_long_table(const pool_field *field)
{
    pool_ntt_domain *domain = ntt_domain(field, 17);

    assert_ok(
        pool_ntt_warm_up(domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void check_ntt(const char *name)
{
    enum { COUNT = 300 };
    const pool_field *field = ntt_field(name);
    pool_exec vector = {.struct_size = sizeof(vector), .device = device};
    uint8_t *in = ntt_random(field, 3, COUNT);
    uint8_t *sum = calloc(COUNT, field->bytes);
    pool_span from = ntt_host(in, COUNT), to = ntt_host(sum, COUNT);

    check_transforms(field, 9);
    check_transforms(field, 12);
    check_lengths(field);
    check_split(field, 9);
    check_split(field, 14);
    check_extension(field, 10);
    if (field->bytes == 32)
        load_long_table(field);
    assert_ok(pool_vector_add(field, &vector, &from, &from, &to));
    assert_ok(pool_vector_sub(field, &vector, &to, &from, &to));
    assert_memory_equal(sum, in, (size_t)COUNT * field->bytes);
    free(in);
    free(sum);
}

/* Permutation, hash and sponge of some items, on the device as on the host. */
static void check_items(const char *name, uint64_t count)
{
    pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};
    pool_exec here = {.struct_size = sizeof(here), .device = device};
    pool_poseidon *set;

    assert_ok(pool_poseidon_by_name(name, &set));
    uint32_t inputs = pool_poseidon_max_inputs(set);
    pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .elements = inputs, .output_elements = 1};
    size_t bytes = count * set->width * set->field->bytes;
    uint8_t *in = ntt_random(set->field, 5, count * set->width);
    uint8_t *want = calloc(1, bytes), *got = calloc(1, bytes);
    pool_span from = ntt_host(in, count), expected = ntt_host(want, count);
    pool_span to = ntt_host(got, count);

    /* With two threads per state where the set has such kernels, then with one. */
    for (int i = 0; i < 2; i++, poseidon_tune(set, 0, 0)) {
        assert_ok(pool_poseidon_permute(set, &on_host, &from, &expected));
        assert_ok(pool_poseidon_permute(set, &here, &from, &to));
        assert_memory_equal(got, want, bytes);
        assert_ok(pool_poseidon_hash(set, &on_host, &from, inputs, &expected));
        assert_ok(pool_poseidon_hash(set, &here, &from, inputs, &to));
        assert_memory_equal(got, want, bytes);
    }
    set->tuning = NULL;
    assert_ok(pool_poseidon_sponge(set, &on_host, &sponge, &from, &expected));
    assert_ok(pool_poseidon_sponge(set, &here, &sponge, &from, &to));
    assert_memory_equal(got, want, bytes);
    free(in);
    free(want);
    free(got);
    pool_poseidon_destroy(&set);
}

/* A commitment to a matrix of one column, opened and verified on the host. */
static void check_commitment(const char *name)
{
    enum { ROWS = 8, INDEX = 5, MOST_BYTES = 4096 };
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_matrix_commit_params params = {.struct_size = sizeof(params)};
    pool_matrix_commit_shape shape = {.struct_size = sizeof(shape)};
    uint8_t levels[MOST_BYTES], row[64], path[1024];
    const uint64_t index = INDEX;
    pool_matrix matrix = {.height = ROWS, .width = 1, .layout = POOL_MATRIX_ROWS};
    pool_poseidon *set;
    int32_t is_member = 0;

    assert_ok(pool_poseidon_by_name(name, &set));
    params.set = set;
    size_t digest = pool_poseidon_digest_elements(set) * set->field->bytes;
    uint8_t *in = ntt_random(set->field, 7, ROWS);
    matrix.span = ntt_host(in, ROWS);
    assert_ok(pool_matrix_commit_get_shape(&params, &matrix, 1, &shape));
    assert_true(shape.bytes <= sizeof(levels) && shape.height * digest <= sizeof(path));
    pool_span level_span = ntt_host(levels, shape.digest_count), row_span = ntt_host(row, 1);
    pool_span path_span = ntt_host(path, shape.height);
    assert_ok(pool_matrix_commit(&params, &exec, &matrix, 1, &level_span));
    assert_ok(pool_matrix_open(
        &params, &exec, &matrix, 1, &level_span, &index, 1, &row_span, &path_span));
    assert_memory_equal(row, in + INDEX * set->field->bytes, set->field->bytes);
    assert_ok(pool_matrix_verify(&params, POOL_FORM_STANDARD, &matrix, 1,
        levels + shape.bytes - digest, INDEX, row, path, &is_member));
    assert_int_equal(is_member, 1);
    free(in);
    pool_poseidon_destroy(&set);
}

/* Every program of a set computes its known answer when it is loaded. */
static void check_known_answers(const char *name)
{
    pool_poseidon *set;

    assert_ok(pool_poseidon_by_name(name, &set));
    assert_ok(pool_poseidon_warm_up(
        set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    pool_poseidon_destroy(&set);
}

/* Few items and many have kernels of their own, as above. */
static void check_poseidon(const char *name)
{
    check_known_answers(name);
    check_commitment(name);
    check_items(name, 3);
    check_items(name, 600);
}

static void check_msm(const char *name)
{
    enum { COUNT = 33 };
    const pool_curve *curve = pool_curve_by_name(name);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_ON_CURVE};
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    uint8_t *points = calloc(COUNT, bytes), *want = calloc(1, bytes), *got = calloc(1, bytes);
    uint8_t *scalars = ntt_random(pool_curve_scalar_field(curve), 11, COUNT);
    pool_span point_span = ntt_host(points, COUNT), scalar_span = ntt_host(scalars, COUNT);
    pool_span result = ntt_host(got, 1);

    assert_ok(
        pool_msm_warm_up(curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_random_points(curve, 9, COUNT, NULL, points, NULL));
    assert_ok(msm_reference_buckets(curve, COUNT, points, scalars, want));
    for (params.affine_passes = 0; params.affine_passes <= 2; params.affine_passes += 2) {
        memset(got, 0, bytes);
        assert_ok(pool_msm(&params, &exec, &point_span, &scalar_span, &result));
        assert_memory_equal(got, want, bytes);
    }
    free(points);
    free(want);
    free(got);
    free(scalars);
}

static void check_ecntt(const char *name)
{
    enum { LOG_SIZE = 2, COUNT = 4 };
    const pool_curve *curve = pool_curve_by_name(name);
    pool_ecntt_params params = ecntt_params_of(curve, LOG_SIZE);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_SUBGROUP};
    struct ecntt_problem problem = ecntt_random(curve, 13, COUNT);
    uint8_t *want, *got = calloc(COUNT, problem.point_bytes);
    pool_span in = ntt_host(problem.points, COUNT), out = ntt_host(got, COUNT);

    assert_ok(pool_ecntt_warm_up(
        curve, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    for (params.coset = 0; params.coset < 2; params.coset++) {
        params.direction = params.coset ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
        want = ecntt_expected(&params, &problem);
        assert_ok(pool_ecntt(&params, &exec, &in, &out));
        assert_ecntt_points(&params, got, want, COUNT);
        free(want);
    }
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    ecntt_free(&problem);
    free(got);
}

static void test_every_program(void **state)
{
    /* The tiles of kernels of one length do not fit on chips older than 7.0. */
    const bool has_lengths = chip_of(device).shared_bytes >= 64 << 10;
    int count = 0, used = 0, expected = 0;

    (void)state;
#define NTT(field) check_ntt(field);
#define POSEIDON(set) check_poseidon(set);
#define MSM(curve) check_msm(curve);
#define ECNTT(curve) check_ecntt(curve);
#include "prebuilt/programs.def"
#undef NTT
#undef POSEIDON
#undef MSM
#undef ECNTT
    for (; module_prebuilt_programs[count].name; count++) {
        used += is_used[count];
        expected += has_lengths || !strstr(module_prebuilt_programs[count].name, ".length");
    }
    assert_between(count, 1, MOST_PROGRAMS);
    if (strncmp(devices, "sim", 3) == 0) /* small enough for these sizes to be few and many */
        assert_int_equal(used, expected);
    else
        assert_true(used > 0);
    assert_int_equal(pool_last_error()->status, POOL_OK);
}

static void test_others_are_refused(void **state)
{
    pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void nothing() {}",
        .name = "my.cu"};
    const pool_field *field = ntt_field("pallas_fq");
    pool_ntt_params transform = {.struct_size = sizeof(transform), .domain = ntt_domain(field, 3)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *data = ntt_random(field, 7, 8);
    pool_span span = ntt_host(data, 8);
    pool_module *module = NULL;

    (void)state;
    assert_int_equal(pool_module_compile(device, &params, &module), POOL_ERR_NO_COMPILER);
    assert_null(module);
    assert_says("my.cu has to be compiled");
    assert_says("DEVICEPOOL_NVRTC=off");
    assert_int_equal(pool_ntt(&transform, &exec, &span, &span), POOL_ERR_NO_COMPILER);
    assert_says(".cu has to be compiled");
    assert_ok(pool_ntt_domain_destroy(&transform.domain));
    free(data);
}

static void test_pool_describes_the_compiler(void **state)
{
    char *text;

    (void)state;
    assert_ok(pool_describe(pool, POOL_TEXT_PLAIN, &text));
    assert_non_null(strstr(text, "compiler  none (DEVICEPOOL_NVRTC=off disables NVRTC), the "
                                 "library uses its prebuilt PTX"));
    pool_text_free(&text);
    assert_ok(pool_describe(pool, POOL_TEXT_JSON, &text));
    assert_non_null(strstr(text, "\"message\":\t\"DEVICEPOOL_NVRTC=off"));
    pool_text_free(&text);
}

/* Where NVRTC is last, only what is not prebuilt is compiled. The last test, as a process keeps the
 * NVRTC that it has opened. */
static void test_prebuilt_before_nvrtc(void **state)
{
    pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void nothing() {}",
        .name = "my.cu"};
    pool_params of_mine = {.struct_size = sizeof(of_mine), .devices = devices};
    device_pool *mine;
    pool_module *module = NULL;
    pool_device *before = device;
    pool_status status;

    (void)state;
    setenv("DEVICEPOOL_NVRTC", "last", 1);
    assert_ok(pool_create(&mine, &of_mine));
    assert_ok(pool_device_at(mine, 0, &device));
    check_transforms(ntt_field("bn254_fr"), 5);
    assert_true(prebuilt_first > 0);
    prebuilt_first = 0;
    status = pool_module_compile(device, &params, &module);
    assert_int_equal(prebuilt_first, 0);
    if (status) { /* a host without NVRTC */
        assert_int_equal(status, POOL_ERR_NO_COMPILER);
        assert_null(strstr(pool_last_error()->message, "=last"));
    }
    pool_module_destroy(&module);
    device = before;
    assert_ok(pool_destroy(&mine));
    setenv("DEVICEPOOL_NVRTC", "off", 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_program),
        cmocka_unit_test(test_others_are_refused),
        cmocka_unit_test(test_pool_describes_the_compiler),
        cmocka_unit_test(test_prebuilt_before_nvrtc)};
    pool_params params = {.struct_size = sizeof(params)};
    int failed;

    if (argc > 2 && strcmp(argv[1], "--device") == 0)
        devices = argv[2];
    setenv("DEVICEPOOL_NVRTC", "off", 1);
    params.devices = devices;
    if (pool_create(&pool, &params) || pool_device_at(pool, 0, &device)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    pool_log_set(watch, NULL, POOL_LOG_INFO);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return pool_destroy(&pool) || failed;
}
