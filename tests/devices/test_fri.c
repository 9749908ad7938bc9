/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds, layers, columns at points and rows in bit-reversed order, on simulated devices or the
 * machine's own, against the answers of tests/kat/extension_fields.py, the host's hashes, and the
 * definitions; exact forecasts, and what is refused.
 *
 *   test_fri [DEVICES]
 */
#include "support/ntt.h"
#include "support/pool.h"
#include "support/poseidon.h"
#include "support/stark.h"

static struct stark_case one;

static int json_int(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name)->valueint;
}

static uint64_t reversed(uint64_t i, uint32_t bits)
{
    uint64_t r = 0;

    for (uint32_t bit = 0; bit < bits; bit++)
        r |= (i >> bit & 1) << (bits - 1 - bit);
    return r;
}

static void permute(unsigned char *items, size_t bytes, uint32_t log_count)
{
    unsigned char *copy = malloc(bytes << log_count);

    memcpy(copy, items, bytes << log_count);
    for (uint64_t i = 0; i < 1u << log_count; i++)
        memcpy(items + i * bytes, copy + reversed(i, log_count) * bytes, bytes);
    free(copy);
}

static pool_ntt_domain *domain_of(const pool_field *field, uint32_t log_size)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = log_size};
    pool_ntt_domain *domain = NULL;

    assert_ok(pool_ntt_domain_create(&params, &domain));
    return domain;
}

/* Host memory, or a copy of it on the device. */
struct given {
    pool_span span;
    pool_buffer *buffer;
};

static struct given give(void *data, uint64_t count, size_t bytes, pool_form form, bool on_device)
{
    struct given given = {.span = {.data = data, .count = count, .form = form}};
    CUdeviceptr address;

    if (on_device) {
        assert_ok(pool_buffer_from_host(device, data, count * bytes, &given.buffer));
        assert_ok(pool_buffer_address(given.buffer, &address));
        given.span.data = (void *)(uintptr_t)address;
        given.span.space = POOL_MEMORY_DEVICE;
    }
    return given;
}

static void take(struct given *given, void *data, size_t bytes)
{
    if (given->buffer)
        assert_ok(pool_copy_to_host(data, given->buffer, 0, given->span.count * bytes, NULL));
    assert_ok(pool_buffer_destroy(&given->buffer));
}

static pool_span without_data(pool_span span)
{
    span.data = NULL;
    return span;
}

/* Bits of `way`: bit-reversed, Montgomery form, input and output on the device, checks. */
static void check_fold(const cJSON *fold, unsigned way)
{
    const uint32_t log_size = (uint32_t)json_int(fold, "log_size");
    const uint32_t log_folded = (uint32_t)json_int(fold, "log_folded");
    unsigned char *in = stark_elements(&one, fold, "in"),
                  *wanted = stark_elements(&one, fold, "out");
    unsigned char *challenge = stark_elements(&one, fold, "challenge"), *out;
    pool_ntt_domain *domain = domain_of(one.base, log_size + log_folded);
    const pool_fri_fold_params params = {.struct_size = sizeof(params),
        .field = one.field,
        .domain = domain,
        .log_folded = log_folded,
        .log_arity = (uint32_t)json_int(fold, "log_arity"),
        .is_bit_reversed = way & 1,
        .on_subgroup = json_int(fold, "on_subgroup"),
        .challenge = challenge};
    const uint32_t log_out = log_size - params.log_arity;
    const pool_form form = (pool_form)(way >> 1 & 1);
    pool_exec exec = exec_within(0);
    struct given from, to;
    uint64_t bytes = 1;

    out = calloc(1, one.bytes << log_out);
    if (way & 1) {
        permute(in, one.bytes, log_size);
        permute(wanted, one.bytes, log_out);
    }
    if (form) {
        assert_ok(pool_field_to_montgomery(one.field, in, 1u << log_size, in));
        assert_ok(pool_field_to_montgomery(one.field, wanted, 1u << log_out, wanted));
    }
    exec.checks = way & 16 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    from = give(in, 1u << log_size, one.bytes, form, way & 4);
    to = give(out, 1u << log_out, one.bytes, form, way & 8);
    const pool_span shapes[] = {without_data(from.span), without_data(to.span)};
    assert_ok(pool_fri_fold_workspace(&params, &exec, &shapes[0], &shapes[1], &bytes));
    if ((way & 12) == 12 && !exec.checks)
        assert_int_equal(bytes, 0);
    exec.memory_limit = bytes;
    assert_ok(pool_fri_fold(&params, &exec, &from.span, &to.span));
    if ((way & 1) && log_out && (way & 12) != 12) { /* smaller chunks, where any are smaller */
        const uint64_t one_result = 256 * (!(way & 4) + !(way & 8) + !!exec.checks);
        pool_status status;

        exec.memory_limit = bytes - 1;
        status = pool_fri_fold(&params, &exec, &from.span, &to.span);
        if (status)
            assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
        assert_true(!status || bytes <= one_result);
    } else if (bytes > 1) {
        exec.memory_limit = bytes - 1;
        assert_status(
            pool_fri_fold(&params, &exec, &from.span, &to.span), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    }
    take(&from, in, one.bytes);
    take(&to, out, one.bytes);
    if (memcmp(out, wanted, one.bytes << log_out))
        fail_msg("%s: a fold of 2^%u by 2^%u differs, way %u", pool_field_name(one.field), log_size,
            params.log_arity, way);
    assert_ok(pool_ntt_domain_destroy(&domain));
    free(in);
    free(out);
    free(wanted);
    free(challenge);
}

static void test_folds(void **state)
{
    unsigned way = 0;

    (void)state;
    for (int i = 0; stark_case(&one, i); i++) {
        const cJSON *fold;

        assert_ok(pool_fri_warm_up(
            one.field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
        cJSON_ArrayForEach(fold, cJSON_GetObjectItemCaseSensitive(one.json, "folds"))
        {
            for (int k = 0; k < 8; k++, way += 5)
                check_fold(fold, way & 31);
        }
    }
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Results are those of a fold and of a commitment, and rows open to the values that fold to them.
 */
static void check_layer(int32_t is_bit_reversed, bool on_device)
{
    enum { LOG = 5, ARITY = 4, RESULTS = 16, LEAVES = 4 };
    const pool_field *field = pool_field_by_name("babybear_x4");
    pool_ntt_domain *domain = domain_of(pool_field_base(field), LOG);
    uint32_t in[1 << LOG][4], out[RESULTS][4], challenge[4] = {1, 2, 3, 4};
    uint32_t digests[2 * LEAVES - 1][8], wanted[2 * LEAVES - 1][8];
    uint32_t opened[ARITY][4], path[2][8];
    pool_matrix_commit_params commit = {.struct_size = sizeof(commit)};
    pool_fri_fold_params params = {.struct_size = sizeof(params),
        .field = field,
        .domain = domain,
        .log_arity = 1,
        .is_bit_reversed = is_bit_reversed,
        .challenge = challenge};
    const pool_exec exec = exec_within(0);
    pool_matrix matrices[POOL_FRI_MAX_ARITY];
    pool_span levels = {.data = digests, .count = 2 * LEAVES - 1};
    const pool_span rows = {.data = opened, .count = 1}, paths = {.data = path, .count = 2};
    const uint64_t leaf = 3;
    int32_t is_member = 0;
    uint64_t bytes, parts[2];
    uint32_t count;
    pool_poseidon *set;
    struct given from, to;

    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    commit.set = set;
    assert_ok(pool_random_scalars(field, 3, 1 << LOG, POOL_FORM_STANDARD, in));
    from = give(in, 1 << LOG, 16, POOL_FORM_STANDARD, on_device);
    to = give(out, RESULTS, 16, POOL_FORM_STANDARD, on_device);
    assert_ok(pool_fri_fold_commit(&params, 2, &commit, &exec, &from.span, &to.span, &levels));
    assert_ok(pool_fri_fold_commit_workspace(
        &params, 2, &commit, &exec, &from.span, &to.span, &levels, &bytes));
    assert_ok(pool_fri_layer(field, &to.span, 2, is_bit_reversed, matrices, &count));
    assert_int_equal(count, is_bit_reversed ? 1 : ARITY);
    assert_ok(pool_fri_fold_workspace(&params, &exec, &from.span, &to.span, &parts[0]));
    assert_ok(pool_matrix_commit_workspace(&commit, &exec, matrices, count, &levels, &parts[1]));
    assert_int_equal(bytes, parts[0] > parts[1] ? parts[0] : parts[1]);
    levels.data = wanted;
    assert_ok(pool_matrix_commit(&commit, &exec, matrices, count, &levels));
    assert_memory_equal(digests, wanted, sizeof(digests));
    assert_ok(pool_matrix_open(&commit, &exec, matrices, count, &levels, &leaf, 1, &rows, &paths));
    assert_ok(pool_matrix_verify(&commit, POOL_FORM_STANDARD, matrices, count,
        digests[2 * LEAVES - 2], leaf, opened, path, &is_member));
    assert_int_equal(is_member, 1);
    take(&from, in, 16);
    take(&to, out, 16);
    for (uint64_t t = 0; t < ARITY; t++)
        assert_memory_equal(
            opened[t], out[is_bit_reversed ? leaf * ARITY + t : leaf + t * LEAVES], 16);
    /* refused before anything is computed */
    params.field = pool_field_by_name("goldilocks_x2");
    assert_int_not_equal(
        pool_fri_fold_commit(&params, 2, &commit, &exec, &from.span, &to.span, &levels), POOL_OK);
    assert_ok(pool_ntt_domain_destroy(&domain));
    pool_poseidon_destroy(&set);
}

static void test_layers(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        check_layer(way & 1, way & 2);
}

/* ---- columns at points ----------------------------------------------------------------------- */

/* Bits of `way`: values instead of coefficients, rows, on the device, Montgomery form,
 * bit-reversed, checks. */
static void check_evaluation(unsigned way)
{
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(one.json, "columns");
    const size_t element = one.base->bytes;
    unsigned char *data = stark_elements(&one, columns, way & 1 ? "evaluations" : "coefficients");
    unsigned char *points = stark_elements(&one, columns, "points");
    unsigned char *wanted = stark_elements(&one, columns, "values"), *values = calloc(6, one.bytes);
    pool_ntt_domain *domain = domain_of(one.base, 3);
    pool_matrix_evaluate_params params = {.struct_size = sizeof(params), .field = one.field};
    pool_exec exec = exec_within(0);
    pool_matrix matrix = {.height = 8, .width = 3};
    struct given given;
    uint64_t bytes = 0;

    if (way & 1) {
        params.domain = domain;
        params.is_bit_reversed = way >> 4 & 1;
        for (int c = 0; c < 3 && params.is_bit_reversed; c++)
            permute(data + c * 8 * element, element, 3);
    }
    if (way & 8)
        assert_ok(pool_field_to_montgomery(one.base, data, 24, data));
    if (way & 2) {
        unsigned char *rows = malloc(24 * element);

        for (int i = 0; i < 24; i++)
            memcpy(rows + (i % 8 * 3 + i / 8) * element, data + i * element, element);
        memcpy(data, rows, 24 * element);
        free(rows);
        matrix.layout = POOL_MATRIX_ROWS;
    }
    exec.checks = way & 32 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    given = give(
        data, way & 2 ? 8 : 3, (way & 2 ? 3 : 8) * element, (pool_form)(way >> 3 & 1), way & 4);
    matrix.span = given.span;
    assert_ok(pool_matrix_evaluate_workspace(&params, &exec, &matrix, 2, &bytes));
    exec.memory_limit = bytes;
    assert_ok(pool_matrix_evaluate(&params, &exec, &matrix, points, 2, values));
    if (memcmp(values, wanted, 6 * one.bytes))
        fail_msg("%s: the values of columns differ, way %u", pool_field_name(one.field), way);
    exec.memory_limit = bytes - 1;
    assert_status(pool_matrix_evaluate(&params, &exec, &matrix, points, 2, values),
        POOL_ERR_OUT_OF_DEVICE_MEMORY);
    exec.memory_limit = 0;
    if (way & 1) { /* a point of the domain: its shift */
        unsigned char *point = calloc(1, one.bytes);

        assert_ok(pool_ntt_domain_coset(domain, POOL_FORM_STANDARD, point));
        assert_status(pool_matrix_evaluate(&params, &exec, &matrix, point, 1, values),
            POOL_ERR_INVALID_ARGUMENT);
        params.on_subgroup = 1;
        assert_ok(pool_matrix_evaluate(&params, &exec, &matrix, point, 1, values));
        free(point);
    }
    take(&given, data, (way & 2 ? 3 : 8) * element);
    assert_ok(pool_ntt_domain_destroy(&domain));
    free(data);
    free(points);
    free(wanted);
    free(values);
}

static void test_evaluations(void **state)
{
    (void)state;
    for (int i = 0; stark_case(&one, i); i++)
        for (unsigned way = 0; way < 64; way += 3)
            check_evaluation(way);
}

/* Several segments and groups of columns: against single columns, which Horner's rule evaluates. */
static void test_many_rows(void **state)
{
    enum { LOG = 12, WIDTH = 35 };
    const pool_field *field = pool_field_by_name("koalabear_x4"), *base = pool_field_base(field);
    const pool_matrix_evaluate_params params = {.struct_size = sizeof(params), .field = field};
    const pool_exec exec = exec_within(0);
    uint32_t *elements = malloc(sizeof(uint32_t) * WIDTH << LOG), *wide = calloc(4u << LOG, 4);
    uint32_t point[4] = {5, 6, 7, 8}, values[WIDTH][4], wanted[4];
    pool_matrix matrix = {
        .height = 1 << LOG, .width = WIDTH, .span = {.data = elements, .count = 1 << LOG}};

    (void)state;
    matrix.layout = POOL_MATRIX_ROWS;
    assert_ok(pool_random_scalars(base, 9, (size_t)WIDTH << LOG, POOL_FORM_STANDARD, elements));
    assert_ok(pool_matrix_evaluate(&params, &exec, &matrix, point, 1, values));
    for (int c = 0; c < WIDTH; c += 17) {
        const pool_span span = {.data = wide, .count = 1 << LOG};

        for (size_t r = 0; r < 1 << LOG; r++)
            wide[4 * r] = elements[r * WIDTH + (size_t)c];
        assert_ok(pool_vector_evaluate(field, &exec, &span, point, wanted));
        assert_memory_equal(values[c], wanted, 16);
    }
    free(elements);
    free(wide);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void check_rows(
    const char *name, pool_matrix_layout layout, uint32_t log_height, uint32_t width, size_t gap)
{
    const pool_field *field = pool_field_by_name(name);
    const size_t element = pool_field_element_bytes(field), height = (size_t)1 << log_height;
    const size_t items = layout ? height : width, length = (layout ? width : height) * element;
    const size_t stride = length + gap;
    unsigned char *data = calloc(items, stride), *out = calloc(items, stride);
    unsigned char *wanted = calloc(items, stride);
    const pool_exec exec = exec_within(0);
    pool_matrix from = {.height = height, .width = width, .layout = layout}, to;
    struct given in, result;

    for (size_t i = 0; i < items * stride; i++)
        data[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t c = 0; c < (layout ? 1 : width); c++)
        for (size_t r = 0; r < height; r++) {
            const size_t unit = layout ? length : element, other = reversed(r, log_height);

            memcpy(wanted + c * stride + r * (layout ? stride : element),
                data + c * stride + other * (layout ? stride : element), unit);
        }
    in = give(data, items, stride, POOL_FORM_STANDARD, true);
    result = give(out, items, stride, POOL_FORM_STANDARD, true);
    in.span.stride = result.span.stride = stride;
    to = from;
    from.span = in.span;
    to.span = result.span;
    assert_ok(pool_matrix_bit_reverse(field, &exec, &from, &to));
    assert_ok(pool_matrix_bit_reverse(field, &exec, &from, &from));
    take(&in, data, stride);
    take(&result, out, stride);
    for (size_t i = 0; i < items; i++) {
        assert_memory_equal(out + i * stride, wanted + i * stride, length);
        assert_memory_equal(data + i * stride, wanted + i * stride, length);
    }
    free(data);
    free(out);
    free(wanted);
}

static void test_rows(void **state)
{
    (void)state;
    check_rows("babybear", POOL_MATRIX_ROWS, 0, 3, 0);
    check_rows("babybear", POOL_MATRIX_ROWS, 5, 7, 4);
    check_rows("babybear", POOL_MATRIX_COLUMNS, 6, 5, 8);
    check_rows("goldilocks", POOL_MATRIX_ROWS, 7, 1, 0);
    check_rows("bn254_fr", POOL_MATRIX_COLUMNS, 3, 2, 0);
    check_rows("koalabear_x4", POOL_MATRIX_ROWS, 4, 2, 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* These functions run on one device. */
static void refuse_devices(const pool_fri_fold_params *fold, const pool_span *from,
    const pool_span *to, const pool_matrix_evaluate_params *evaluate, const pool_matrix *matrix)
{
    const uint32_t point[4] = {0, 0, 0, 1};
    pool_matrix_commit_params commit = {.struct_size = sizeof(commit)};
    pool_exec exec = {.struct_size = sizeof(exec), .devices = &device, .device_count = 1};
    uint32_t values[4][4], digests[7][8];
    const pool_span levels = {.data = digests, .count = 7};
    pool_poseidon *set;

    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    commit.set = set;
    assert_status(pool_fri_fold(fold, &exec, from, to), POOL_ERR_UNSUPPORTED);
    assert_says("pool_fri_fold: `device_count` is not supported by this function");
    assert_status(
        pool_fri_fold_commit(fold, 0, &commit, &exec, from, to, &levels), POOL_ERR_UNSUPPORTED);
    assert_says("`device_count` is not supported by this function");
    assert_status(
        pool_matrix_evaluate(evaluate, &exec, matrix, point, 1, values), POOL_ERR_UNSUPPORTED);
    assert_says("pool_matrix_evaluate: `device_count` is not supported by this function");
    assert_status(
        pool_matrix_bit_reverse(fold->field, &exec, matrix, matrix), POOL_ERR_UNSUPPORTED);
    assert_says("pool_matrix_bit_reverse: `device_count` is not supported by this function");
    pool_poseidon_destroy(&set);
}

static void test_refusals(void **state)
{
    const pool_field *field = pool_field_by_name("babybear_x4"), *base = pool_field_base(field);
    pool_ntt_domain *domain = domain_of(base, 3),
                    *other = domain_of(pool_field_by_name("koalabear"), 3);
    uint32_t in[8][4] = {{0}}, out[4][4], challenge[4] = {0, 0, 0, 1}, bad[4] = {0x78000001};
    pool_span from = {.data = in, .count = 8}, to = {.data = out, .count = 4};
    const pool_fri_fold_params good = {.struct_size = sizeof(good),
        .field = field,
        .domain = domain,
        .log_arity = 1,
        .challenge = challenge};
    pool_exec exec = exec_within(0);
    pool_fri_fold_params params = good;
    pool_matrix_evaluate_params evaluate = {
        .struct_size = sizeof(evaluate), .field = field, .domain = domain};
    pool_matrix matrix = {.height = 8, .width = 4, .span = {.data = in, .count = 4}};
    pool_matrix layer[POOL_FRI_MAX_ARITY];
    uint64_t bytes = 77;
    uint32_t count = 77;

    (void)state;
    assert_status(pool_fri_fold(NULL, &exec, &from, &to), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_fri_fold(&good, &exec, NULL, &to), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_fri_fold(&good, &exec, &from, NULL), POOL_ERR_INVALID_ARGUMENT);
#define REFUSE(member, value, status)                                                              \
    do {                                                                                           \
        params = good;                                                                             \
        params.member = value;                                                                     \
        assert_status(pool_fri_fold(&params, &exec, &from, &to), status);                          \
    } while (0)
    REFUSE(struct_size, 4, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(field, NULL, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(field, base, POOL_ERR_UNSUPPORTED);
    REFUSE(domain, NULL, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(domain, other, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(log_arity, 0, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(log_arity, 4, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(log_folded, 4, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(log_folded, 3, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(log_folded, 1, POOL_ERR_INVALID_ARGUMENT); /* counts */
    REFUSE(is_bit_reversed, 2, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(on_subgroup, -1, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(challenge, NULL, POOL_ERR_INVALID_ARGUMENT);
    REFUSE(challenge, bad, POOL_ERR_BAD_DATA);
    refuse_devices(&good, &from, &to, &evaluate, &matrix);
    params = good;
    to.form = POOL_FORM_MONTGOMERY;
    assert_status(pool_fri_fold(&good, &exec, &from, &to), POOL_ERR_INVALID_ARGUMENT);
    to.form = POOL_FORM_STANDARD;
    to.stride = 20;
    assert_status(pool_fri_fold(&good, &exec, &from, &to), POOL_ERR_INVALID_ARGUMENT);
    to.stride = 0;
    to.data = in[3];
    assert_status(pool_fri_fold(&good, &exec, &from, &to), POOL_ERR_INVALID_ARGUMENT);
    to.data = NULL;
    assert_status(pool_fri_fold(&good, &exec, &from, &to), POOL_ERR_INVALID_ARGUMENT);
    to.data = out;
    assert_status(
        pool_fri_fold_workspace(&good, &exec, &from, &to, NULL), POOL_ERR_INVALID_ARGUMENT);
    in[5][2] = UINT32_C(0x78000001);
    exec.checks = POOL_CHECK_CANONICAL;
    assert_status(pool_fri_fold(&good, &exec, &from, &to), POOL_ERR_BAD_DATA);
    assert_status(
        pool_matrix_evaluate(&evaluate, &exec, &matrix, challenge, 1, out), POOL_ERR_BAD_DATA);
    exec.checks = 0;
    assert_ok(pool_fri_fold(&good, &exec, &from, &to));

    assert_status(pool_fri_layer(field, &from, 4, 0, layer, &count), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_fri_layer(base, &from, 1, 0, layer, &count), POOL_ERR_UNSUPPORTED);
    assert_status(pool_fri_layer(field, &from, 1, 2, layer, &count), POOL_ERR_INVALID_ARGUMENT);
    from.count = 6;
    assert_status(pool_fri_layer(field, &from, 1, 0, layer, &count), POOL_ERR_INVALID_ARGUMENT);
    from.count = 4;
    assert_status(pool_fri_layer(field, &from, 3, 0, layer, &count), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(count, 77);

    assert_status(
        pool_matrix_evaluate(NULL, &exec, &matrix, challenge, 1, out), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_matrix_evaluate(&evaluate, &exec, NULL, challenge, 1, out), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_matrix_evaluate(&evaluate, &exec, &matrix, NULL, 1, out), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_matrix_evaluate(&evaluate, &exec, &matrix, challenge, 0, out),
        POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_matrix_evaluate(&evaluate, &exec, &matrix, challenge, 65, out),
        POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_matrix_evaluate(&evaluate, &exec, &matrix, bad, 1, out), POOL_ERR_BAD_DATA);
    assert_status(pool_matrix_evaluate_workspace(&evaluate, &exec, &matrix, 1, NULL),
        POOL_ERR_INVALID_ARGUMENT);
    matrix.height = 4;
    assert_status(pool_matrix_evaluate_workspace(&evaluate, &exec, &matrix, 1, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    matrix.height = 7;
    assert_status(pool_matrix_evaluate_workspace(&evaluate, &exec, &matrix, 1, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    matrix.height = 8;
    evaluate.domain = other;
    assert_status(pool_matrix_evaluate_workspace(&evaluate, &exec, &matrix, 1, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    evaluate.domain = NULL;
    evaluate.is_bit_reversed = 1;
    assert_status(pool_matrix_evaluate_workspace(&evaluate, &exec, &matrix, 1, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(bytes, 77);
    assert_status(
        pool_matrix_bit_reverse(base, &exec, &matrix, &matrix), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_matrix_bit_reverse(NULL, &exec, &matrix, &matrix), POOL_ERR_INVALID_ARGUMENT);
    assert_status(
        pool_fri_warm_up(base, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}),
        POOL_ERR_UNSUPPORTED);
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_ntt_domain_destroy(&other));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folds), cmocka_unit_test(test_layers),
        cmocka_unit_test(test_evaluations), cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_rows), cmocka_unit_test(test_refusals)};
    int skipped;

    if (ntt_needs_compiler("folds"))
        return 77;
    skipped = open_here(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, close_pool);
}
