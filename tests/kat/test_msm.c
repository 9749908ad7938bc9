/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs with known answers: adversarial ones over BN254, those of EIP-2537, commitments to KZG blobs
 * over the ceremony's 4096 points, the transform identity of a powers-of-tau file. The references
 * and a simulated device must all give these answers.
 */
#include "support/msm.h"

#include "driver/nvrtc.h"
#include "support/point_vectors.h"
#include "support/pool.h"
#include "support/sample.h"

static pool_status run_on_device(const struct msm_problem *problem, const pool_msm_params *params,
    const pool_exec *exec, uint8_t *result)
{
    pool_span points = msm_span(problem->points, problem->count);
    pool_span scalars = msm_span(problem->scalars, problem->count);
    pool_span results = msm_span(result, 1);

    return pool_msm(params, exec, &points, &scalars, &results);
}

static void check_on_device(
    const struct msm_problem *problem, const uint8_t *expected, const char *name)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem->curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_REDUCE};
    bool is_canonical = !pool_field_check(
        pool_curve_scalar_field(problem->curve), problem->scalars, problem->count, NULL);
    uint8_t result[MSM_POINT_MAX] = {0};

    assert_ok(run_on_device(problem, &params, &exec, result));
    if (memcmp(result, expected, problem->point_bytes) != 0)
        fail_msg("%s: wrong on the device", name);
    memset(result, 7, sizeof(result));
    exec.checks = POOL_CHECK_CANONICAL;
    if (!is_canonical) {
        assert_int_equal(run_on_device(problem, &params, &exec, result), POOL_ERR_BAD_DATA);
        assert_says("is not below the order");
        assert_int_equal(result[0], 7);
        return;
    }
    exec.checks = problem->count <= 8 ? POOL_CHECK_SUBGROUP : POOL_CHECK_ON_CURVE;
    assert_ok(run_on_device(problem, &params, &exec, result));
    if (memcmp(result, expected, problem->point_bytes) != 0)
        fail_msg("%s: wrong on the device with checks", name);
}

/* The same MSM by every implementation. */
static void check_sum(const struct msm_problem *problem, const uint8_t *expected, const char *name)
{
    static size_t index;
    uint8_t result[MSM_POINT_MAX];

    assert_ok(msm_reference_buckets(
        problem->curve, problem->count, problem->points, problem->scalars, result));
    if (memcmp(result, expected, problem->point_bytes) != 0)
        fail_msg("%s: wrong by buckets", name);
    /* Each thousand points takes a second on simulated devices. */
    if (device && is_sampled(index++, problem->count > 600 ? 5 : 23))
        check_on_device(problem, expected, name);
    if (problem->count > 600)
        return;
    assert_ok(msm_reference_double_and_add(
        problem->curve, problem->count, problem->points, problem->scalars, result));
    if (memcmp(result, expected, problem->point_bytes) != 0)
        fail_msg("%s: wrong by double and add", name);
}

/* Fails with the check, and nothing is written. */
static void check_bad_point(const struct msm_problem *problem, const char *text)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = problem->curve};
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = device,
        .checks = POOL_CHECK_REDUCE | POOL_CHECK_SUBGROUP};
    uint8_t result[MSM_POINT_MAX] = {7};

    if (!device)
        return;
    assert_int_equal(run_on_device(problem, &params, &exec, result), POOL_ERR_BAD_DATA);
    assert_says(text);
    assert_int_equal(result[0], 7);
}

/* Big-endian hexadecimal digits to little-endian bytes, zeros behind them. */
static void read_hex(const char *text, size_t digits, uint8_t *out, size_t bytes)
{
    memset(out, 0, bytes);
    for (size_t i = 0; i < digits; i++) {
        size_t place = digits - 1 - i;
        char digit[2] = {text[i], 0};

        if (place / 2 < bytes)
            out[place / 2] |= (uint8_t)(strtoul(digit, NULL, 16) << (place % 2 * 4));
    }
}

/* "x y" of 32 bytes each; an empty text is infinity. */
static void read_xy(const char *text, uint8_t *point)
{
    memset(point, 0, 64);
    if (*text) {
        read_hex(text, 64, point, 32);
        read_hex(text + 64, 64, point + 32, 32);
    }
}

/* Item i of runs of (first, step, length). */
static int run_item(const cJSON *runs, uint64_t index)
{
    for (const cJSON *first = runs->child; first; first = first->next->next->next) {
        const cJSON *step = first->next, *length = step->next;

        if (index < (uint64_t)length->valueint)
            return first->valueint + (int)index * step->valueint;
        index -= (uint64_t)length->valueint;
    }
    fail_msg("no item");
    return 0;
}

struct texts {
    const char **text;
    int count;
};

static struct texts texts_of(const cJSON *array)
{
    struct texts texts = {calloc((size_t)cJSON_GetArraySize(array), sizeof(*texts.text)), 0};
    const cJSON *item;

    cJSON_ArrayForEach(item, array) texts.text[texts.count++] = item->valuestring;
    return texts;
}

static struct msm_problem adversarial_problem(
    const cJSON *one, const struct texts *points, const struct texts *scalars)
{
    uint64_t n = (uint64_t)cJSON_GetObjectItem(one, "n")->valueint;
    struct msm_problem problem = msm_problem_empty(pool_curve_by_name("bn254_g1"), n);

    for (uint64_t i = 0; i < n; i++) {
        int point = run_item(cJSON_GetObjectItem(one, "points"), i);
        const char *scalar = scalars->text[run_item(cJSON_GetObjectItem(one, "scalars"), i)];

        read_xy(point < 0 ? "" : points->text[point], msm_point(&problem, i));
        read_hex(scalar, strlen(scalar), msm_scalar(&problem, i), 32);
    }
    return problem;
}

static void test_adversarial(void **state)
{
    cJSON *json = read_vectors("generated/msm_bn254_g1_adversarial.json");
    struct texts points = texts_of(cJSON_GetObjectItem(json, "points"));
    struct texts scalars = texts_of(cJSON_GetObjectItem(json, "scalars"));
    const cJSON *one;
    int count = 0;

    (void)state;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "cases"))
    {
        struct msm_problem problem = adversarial_problem(one, &points, &scalars);
        uint8_t expected[64];

        count++;
        read_xy(json_text(one, "expected"), expected);
        if (strncmp(json_text(one, "name"), "badpoint_x", 10) == 0)
            check_bad_point(&problem, "point 0 has a coordinate that is not below the modulus");
        else if (strcmp(json_text(one, "name"), "badpoint_not_on_curve") == 0)
            check_bad_point(&problem, "point 0 is not on the curve");
        else
            check_sum(&problem, expected, json_text(one, "name"));
        msm_problem_free(&problem);
    }
    assert_int_equal(count, 122);
    free(points.text);
    free(scalars.text);
    cJSON_Delete(json);
}

/* Records of a point and a scalar of 32 bytes. */
static struct msm_problem eip2537_problem(
    const pool_curve *curve, const uint8_t *input, size_t size)
{
    size_t encoded = pool_encoding_bytes(curve, POOL_ENCODING_EIP2537);
    struct msm_problem problem = msm_problem_empty(curve, size / (encoded + 32));

    for (uint64_t i = 0; i < problem.count; i++) {
        const uint8_t *record = input + i * (encoded + 32);

        assert_ok(pool_points_decode(curve, POOL_ENCODING_EIP2537, 0, record, 1,
            POOL_CHECK_SUBGROUP, NULL, msm_point(&problem, i)));
        for (int j = 0; j < 32; j++)
            msm_scalar(&problem, i)[j] = record[encoded + 31 - (size_t)j];
    }
    return problem;
}

/* The same without validation: big-endian elements of 64 bytes to packed ones. */
static struct msm_problem eip2537_raw(const pool_curve *curve, const uint8_t *input, size_t size)
{
    size_t encoded = pool_encoding_bytes(curve, POOL_ENCODING_EIP2537);
    struct msm_problem problem = msm_problem_empty(curve, size / (encoded + 32));

    for (uint64_t i = 0; i < problem.count; i++)
        for (size_t element = 0; element < encoded / 64; element++)
            for (size_t j = 0; j < 48; j++)
                msm_point(&problem, i)[element * 48 + j] =
                    input[i * (encoded + 32) + element * 64 + 63 - j];
    return problem;
}

static void check_eip2537(const char *file, const char *curve_name, int cases)
{
    const pool_curve *curve = pool_curve_by_name(curve_name);
    cJSON *json = read_vectors(file);
    const cJSON *one;
    int count = 0;

    cJSON_ArrayForEach(one, json)
    {
        size_t size, expected_size;
        uint8_t *input = hex_bytes(json_text(one, "Input"), &size);
        uint8_t *encoded = hex_bytes(json_text(one, "Expected"), &expected_size);
        uint8_t expected[MSM_POINT_MAX];
        struct msm_problem problem = eip2537_problem(curve, input, size);

        assert_ok(pool_points_decode(
            curve, POOL_ENCODING_EIP2537, 0, encoded, 1, POOL_CHECK_SUBGROUP, NULL, expected));
        check_sum(&problem, expected, json_text(one, "Name"));
        msm_problem_free(&problem);
        free(input);
        free(encoded);
        count++;
    }
    assert_int_equal(count, cases);
    cJSON_Delete(json);
}

static void test_eip2537(void **state)
{
    (void)state;
    check_eip2537("eip-2537/msm_G1_bls.json", "bls12_381_g1", 163);
    check_eip2537("eip-2537/mul_G1_bls.json", "bls12_381_g1", 11);
    check_eip2537("eip-2537/mul_G2_bls.json", "bls12_381_g2", 11);
}

enum { BLOB = 4096, ELEMENT_DIGITS = 64 };

/* The ceremony's Lagrange points in bit-reversed order, as a blob's scalars go with them. */
static void read_lagrange(const struct msm_problem *problem)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file *file = NULL;

    assert_ok(pool_file_open(TEST_VECTORS "/kzg/trusted_setup.txt", NULL, &file));
    assert_ok(pool_file_get_section(file, "lagrange", &section));
    assert_int_equal(section.span.count, BLOB);
    for (uint64_t i = 0; i < BLOB; i++) {
        const pool_point_format format = {section.layout, section.span.form, section.span.stride};
        uint64_t reversed = 0;

        for (int bit = 0; bit < 12; bit++)
            reversed |= (i >> bit & 1) << (11 - bit);
        assert_ok(pool_points_convert(problem->curve, &format,
            (const uint8_t *)section.span.data + i * section.span.stride, 1, POOL_CHECK_CANONICAL,
            NULL, msm_point(problem, reversed)));
    }
    pool_file_destroy(&file);
}

/* Runs "count:hex" to the end of the line, or the name of a file with a line "blob hex". */
static void read_blob(const struct msm_problem *problem, const char *line)
{
    uint64_t i = 0;

    if (strncmp(line, "compute_cells_2", 15) == 0) {
        char *text = read_vector_file("kzg/compute_cells_2.txt");
        const char *blob = strstr(text, "blob ") + 5;

        for (; i < BLOB; i++)
            read_hex(blob + i * ELEMENT_DIGITS, ELEMENT_DIGITS, msm_scalar(problem, i), 32);
        free(text);
        return;
    }
    while (i < BLOB) {
        char *end;
        uint64_t run = strtoull(line, &end, 10);

        for (; run; run--)
            read_hex(end + 1, ELEMENT_DIGITS, msm_scalar(problem, i++), 32);
        line = end + 1 + ELEMENT_DIGITS;
    }
}

static void check_blob(const struct msm_problem *problem, const char *line)
{
    char name[32], commitment[97];
    uint8_t *encoded, expected[MSM_POINT_MAX];
    size_t size;
    int used = 0;

    assert_int_equal(sscanf(line, "%31s %96s %n", name, commitment, &used), 2);
    read_blob(problem, line + used);
    if (strcmp(commitment, "null") == 0) {
        assert_int_equal(
            pool_field_check(pool_curve_scalar_field(problem->curve), problem->scalars, BLOB, NULL),
            POOL_ERR_BAD_DATA);
        return;
    }
    encoded = hex_bytes(commitment, &size);
    assert_int_equal(size, 48);
    assert_ok(pool_points_decode(problem->curve, POOL_ENCODING_ZCASH_COMPRESSED, 0, encoded, 1,
        POOL_CHECK_SUBGROUP, NULL, expected));
    free(encoded);
    check_sum(problem, expected, name);
}

static void test_blobs(void **state)
{
    struct msm_problem problem = msm_problem_empty(pool_curve_by_name("bls12_381_g1"), BLOB);
    char *text = read_vector_file("kzg/blob_to_kzg_commitment.txt");
    int count = 0;

    (void)state;
    read_lagrange(&problem);
    for (char *line = text; line && *line; count++) {
        check_blob(&problem, line);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    assert_int_equal(count, 5);
    free(text);
    msm_problem_free(&problem);
}

static void test_eip2537_refused(void **state)
{
    static const struct {
        const char *file, *curve;
    } sets[] = {{"eip-2537/fail-msm_G1_bls.json", "bls12_381_g1"},
        {"eip-2537/fail-mul_G1_bls.json", "bls12_381_g1"},
        {"eip-2537/fail-msm_G2_bls.json", "bls12_381_g2"},
        {"eip-2537/fail-mul_G2_bls.json", "bls12_381_g2"}};
    int refused = 0;

    (void)state;
    for (size_t i = 0; device && i < sizeof(sets) / sizeof(sets[0]); i++) {
        const pool_curve *curve = pool_curve_by_name(sets[i].curve);
        cJSON *json = read_vectors(sets[i].file);
        const cJSON *one;

        cJSON_ArrayForEach(one, json)
        {
            const char *why = json_text(one, "ExpectedError");
            size_t size;
            uint8_t *input = hex_bytes(json_text(one, "Input"), &size);
            const char *text = strstr(why, "not on curve") ? "is not on the curve"
                               : strstr(why, "subgroup")   ? "is not in the subgroup"
                               : strstr(why, "fp.Element") ? "is not below the modulus"
                                                           : NULL;

            if (text) {
                struct msm_problem problem = eip2537_raw(curve, input, size);

                check_bad_point(&problem, text);
                msm_problem_free(&problem);
                refused++;
            }
            free(input);
        }
        cJSON_Delete(json);
    }
    assert_int_equal(refused, device ? 16 : 0);
}

static void test_sage_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; device && i < SAGE_SETS; i++) {
        if (!is_sampled(i, 4)) /* test_curve.c computes all of them on the host */
            continue;
        struct msm_problem problem =
            msm_problem_empty(pool_curve_by_name(sage_sets[i].curve), SAGE_VECTORS);
        const pool_field *field = pool_curve_scalar_field(problem.curve);
        cJSON *json = read_vectors(sage_sets[i].file), *vector;
        pool_msm_params params = {
            .struct_size = sizeof(params), .curve = problem.curve, .batch = SAGE_VECTORS};
        pool_exec exec = {.struct_size = sizeof(exec), .device = device};
        uint8_t *wanted = calloc(SAGE_VECTORS, problem.point_bytes),
                *got = calloc(SAGE_VECTORS, problem.point_bytes);
        pool_span points = msm_span(problem.points, SAGE_VECTORS),
                  scalars = msm_span(problem.scalars, SAGE_VECTORS);
        pool_span results = msm_span(got, SAGE_VECTORS);
        uint64_t n = 0;

        cJSON_ArrayForEach(vector, cJSON_GetObjectItemCaseSensitive(json, "vectors"))
        {
            read_point(problem.curve, vector, "P", msm_point(&problem, n));
            read_point(problem.curve, vector, "Q", wanted + n * problem.point_bytes);
            assert_ok(pool_field_parse(
                field, json_text(vector, "scalar"), POOL_FORM_STANDARD, msm_scalar(&problem, n)));
            n++;
        }
        assert_int_equal(n, SAGE_VECTORS);
        assert_ok(pool_msm(&params, &exec, &points, &scalars, &results));
        assert_memory_equal(got, wanted, SAGE_VECTORS * problem.point_bytes);
        free(wanted);
        free(got);
        msm_problem_free(&problem);
        cJSON_Delete(json);
    }
}

/* sum of c_i tau^i G = sum of NTT(c)_i L_i: powers and Lagrange points of a ceremony. */
static void test_powers_of_tau(void **state)
{
    enum { POWER = 8, SIZE = 1 << POWER };
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_field *field = pool_curve_scalar_field(curve);
    pool_ntt_domain_params domain = {
        .struct_size = sizeof(domain), .field = field, .log_size = POWER};
    pool_ntt_params transform = {.struct_size = sizeof(transform)};
    pool_exec transform_exec = {.struct_size = sizeof(transform_exec), .device = device};
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_file_section powers = {.struct_size = sizeof(powers)},
                      lagrange = {.struct_size = sizeof(lagrange)};
    uint8_t scalars[SIZE * 32], values[SIZE * 32], left[64], right[64];
    pool_span in = msm_span(scalars, SIZE), out = msm_span(values, SIZE);
    pool_span left_span = msm_span(left, 1), right_span = msm_span(right, 1);
    pool_file *file = NULL;

    (void)state;
    if (!device)
        return;
    assert_ok(pool_file_open(TEST_VECTORS "/iden3/powersOfTau28_hez_final_08.ptau", NULL, &file));
    assert_ok(pool_file_get_section(file, "tauG1", &powers));
    assert_ok(pool_file_get_section(file, "lagrange:8", &lagrange));
    assert_int_equal(lagrange.span.count, SIZE);
    powers.span.count = SIZE;
    assert_ok(pool_random_scalars(field, 5, SIZE, POOL_FORM_STANDARD, scalars));
    assert_ok(pool_ntt_domain_create(&domain, &transform.domain));
    assert_ok(pool_ntt(&transform, &transform_exec, &in, &out));
    assert_ok(pool_msm(&params, &exec, &powers.span, &in, &left_span));
    assert_ok(pool_msm(&params, &exec, &lagrange.span, &out, &right_span));
    assert_memory_equal(left, right, 64);
    assert_ok(pool_msm(&params, &exec, &powers.span, &out, &right_span));
    assert_memory_not_equal(left, right, 64);
    assert_ok(pool_ntt_domain_destroy(&transform.domain));
    pool_file_destroy(&file);
}

/* Without NVRTC there is no device, and only the references are tested. */
static int open_with_compiler(void **state)
{
    const struct nvrtc *nvrtc;

    return driver_nvrtc_open(&nvrtc) ? 0 : open_pool(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_adversarial),
        cmocka_unit_test(test_eip2537), cmocka_unit_test(test_eip2537_refused),
        cmocka_unit_test(test_sage_vectors), cmocka_unit_test(test_blobs),
        cmocka_unit_test(test_powers_of_tau)};

    return cmocka_run_group_tests(tests, open_with_compiler, close_pool);
}
