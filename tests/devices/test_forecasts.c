/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forecasts of device memory are exact: an operation under a lease whose budget is the forecast
 * succeeds and uses all of it, and with one byte less it is refused or divides its work into
 * smaller chunks, as the forecast for that budget says. On simulated devices unless an argument
 * names others.
 *
 *   test_forecasts [DEVICES]
 */
#include "support/assert.h"
#include "support/msm.h"
#include "support/needs_compiler.h"
#include "support/ntt.h"
#include "support/pool.h"

#include <unistd.h>

enum { RESULTS_MAX = 1 << 18 };

/* An operation writes its results, which are compared, to host memory at `results`. */
struct forecast {
    const char *name;
    pool_status (*run)(const pool_exec *exec, uint8_t *results);
    pool_status (*forecast)(const pool_exec *exec, uint64_t *bytes);
    enum { REFUSED, DIVIDED, EITHER } smaller; /* with less memory than its forecast */
};

static uint32_t with_workspace; /* operations that took all of their memory from one */

static pool_lease *lease_of(uint64_t bytes)
{
    const pool_request request = {
        .struct_size = sizeof(request), .bytes = bytes, .device = device, .label = "forecast"};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

static uint64_t peak_of(const pool_lease *lease)
{
    pool_lease_usage usage = {.struct_size = sizeof(usage)};

    assert_ok(pool_lease_get_usage(lease, 0, &usage));
    return usage.peak_bytes;
}

static pool_memory_info memory(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info;
}

/* Under a lease of the whole forecast; all that the device's account saw was the lease's. */
static uint64_t check_whole(const struct forecast *operation, const uint8_t *wanted)
{
    uint8_t *got = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    uint64_t bytes = UINT64_MAX, again = UINT64_MAX, before = memory().used_bytes;

    assert_ok(operation->forecast(&exec, &bytes));
    exec.lease = lease_of(bytes);
    assert_ok(operation->forecast(&exec, &again));
    assert_int_equal(again, bytes);
    assert_ok(pool_memory_reset_high_water(device));
    assert_ok(operation->run(&exec, got));
    assert_int_equal(peak_of(exec.lease), bytes);
    assert_int_equal(memory().used_high_water_bytes - before, bytes);
    assert_int_equal(memory().used_bytes, before);
    assert_memory_equal(got, wanted, RESULTS_MAX);
    assert_ok(pool_release(&exec.lease));
    free(got);
    return bytes;
}

/* With a workspace of the whole forecast, from which all memory of the call is taken; MSMs and some
 * others have one of their own rules where it is smaller. `limit`: of the memory of forecast and
 * call, so that data is divided; 0: none. */
static void check_workspace(
    const struct forecast *operation, const uint8_t *wanted, uint64_t bytes, uint64_t limit)
{
    uint8_t *got = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    pool_buffer *whole = NULL;
    uint32_t guard[64];
    uint64_t before;
    pool_status status;

    exec.memory_limit = limit;
    assert_ok(pool_buffer_alloc(device, bytes + sizeof(guard), &whole));
    assert_ok(pool_buffer_fill32(whole, 0, (bytes + sizeof(guard)) / 4, 0xa5a5a5a5, NULL));
    assert_ok(pool_buffer_slice(whole, 0, bytes, &exec.workspace));
    before = memory().used_bytes;
    assert_ok(pool_memory_reset_high_water(device));
    status = operation->run(&exec, got);
    if (status) {
        assert_status(status, POOL_ERR_UNSUPPORTED);
        assert_says("`workspace` is not supported by this function");
    } else {
        with_workspace++;
        assert_int_equal(memory().used_high_water_bytes, before);
        assert_memory_equal(got, wanted, RESULTS_MAX);
    }
    assert_ok(pool_copy_to_host(guard, whole, bytes, sizeof(guard), NULL));
    for (size_t i = 0; i < sizeof(guard) / sizeof(guard[0]); i++)
        assert_int_equal(guard[i], 0xa5a5a5a5);
    assert_ok(pool_buffer_destroy(&exec.workspace));
    assert_ok(pool_buffer_destroy(&whole));
    free(got);
}

/* One byte less: refused, unless the operation takes less, and then allocates the rest. */
static void check_smaller_workspace(
    const struct forecast *operation, const uint8_t *wanted, uint64_t bytes)
{
    uint8_t *got = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    uint64_t before;
    pool_status status;

    assert_ok(pool_buffer_alloc(device, bytes, &exec.workspace));
    before = memory().used_bytes;
    assert_ok(pool_memory_reset_high_water(device));
    status = operation->run(&exec, got);
    if (!status) {
        assert_true(memory().used_high_water_bytes > before);
        assert_memory_equal(got, wanted, RESULTS_MAX);
    } else if (status != POOL_ERR_UNSUPPORTED) {
        assert_status(status, POOL_ERR_INVALID_ARGUMENT);
        assert_says("`workspace` has");
    }
    assert_ok(pool_buffer_destroy(&exec.workspace));
    free(got);
}

/* With a budget that is smaller: returns whether the operation still ran. */
static bool check_smaller(const struct forecast *operation, const uint8_t *wanted, uint64_t budget)
{
    uint8_t *got = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    uint64_t bytes = 0, before = memory().used_bytes;
    pool_status status, forecast;

    exec.lease = lease_of(budget);
    forecast = operation->forecast(&exec, &bytes);
    status = operation->run(&exec, got);
    if (status) {
        assert_status(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
        assert_true(forecast == status || bytes > budget);
    } else {
        assert_ok(forecast);
        assert_between(bytes, 0, budget);
        assert_int_equal(peak_of(exec.lease), bytes);
        assert_memory_equal(got, wanted, RESULTS_MAX);
    }
    assert_int_equal(memory().used_bytes, before);
    assert_ok(pool_release(&exec.lease));
    free(got);
    return !status;
}

static void check_operation(const struct forecast *operation)
{
    uint8_t *wanted = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    uint64_t bytes, limited = 0;
    bool ran;

    assert_ok(operation->run(&exec, wanted)); /* also loads kernels and computes tables */
    bytes = check_whole(operation, wanted);
    if (bytes)
        check_workspace(operation, wanted, bytes, 0);
    if (bytes > 1 && operation->smaller == DIVIDED) {
        exec.memory_limit = bytes - 1;
        if (!operation->forecast(&exec, &limited))
            check_workspace(operation, wanted, limited, bytes - 1);
    }
    if (bytes > 1)
        check_smaller_workspace(operation, wanted, bytes - 1);
    if (bytes) {
        ran = check_smaller(operation, wanted, bytes - 1);
        if (operation->smaller != EITHER)
            assert_int_equal(ran, operation->smaller == DIVIDED);
        while (ran && bytes > 1)
            ran = check_smaller(operation, wanted, bytes /= 8);
        assert_false(ran);
    }
    free(wanted);
}

/* An operand of the operations: packed or strided, in host memory or a copy on the device. */
static pool_span operand(uint8_t *data, uint64_t count, uint64_t item_bytes, uint64_t stride,
    bool is_on_device, pool_buffer **buffer)
{
    pool_span span = {.data = data, .count = count, .stride = stride};
    CUdeviceptr address = 0;

    if (is_on_device) {
        assert_ok(
            pool_buffer_from_host(device, data, count * (stride ? stride : item_bytes), buffer));
        assert_ok(pool_buffer_address(*buffer, &address));
        span.data = (void *)(uintptr_t)address;
        span.space = POOL_MEMORY_DEVICE;
    }
    return span;
}

/* Reads device memory, which results in it are compared by. */
static void read_back(const pool_buffer *buffer, uint8_t *results)
{
    if (buffer)
        assert_ok(pool_copy_to_host(results, buffer, 0, pool_buffer_bytes(buffer), NULL));
}

/* The spans of the call that is being checked. */
static struct {
    pool_span in[2], out;
    pool_buffer *in_buffer[2], *out_buffer;
    uint32_t checks;
} call;

/* Results go to the host memory that the test provides unless they are on the device. */
static pool_span output(uint8_t *results)
{
    pool_span span = call.out;

    if (span.space == POOL_MEMORY_HOST)
        span.data = results;
    return span;
}

static pool_exec checked(const pool_exec *exec)
{
    pool_exec made = *exec;

    made.checks = call.checks;
    return made;
}

/* Spans without data: a forecast does not read it. */
static pool_span without_data(pool_span span)
{
    span.data = NULL;
    return span;
}

static void free_call(void)
{
    assert_ok(pool_buffer_destroy(&call.in_buffer[0]));
    assert_ok(pool_buffer_destroy(&call.in_buffer[1]));
    assert_ok(pool_buffer_destroy(&call.out_buffer));
    memset(&call, 0, sizeof(call));
}

/* ---- Poseidon -------------------------------------------------------------------------------- */

enum { STATES = 24, WIDTH = 3, MESSAGE = 5, LEAVES = 21 };

static pool_poseidon *set;
static pool_merkle_params tree = {.struct_size = sizeof(tree)};
static uint64_t opened_leaf;

static pool_status run_permute(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_poseidon_permute(set, &with, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_permute(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_poseidon_permute_workspace(set, &with, &in, &out, bytes);
}

static pool_status run_hash(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_poseidon_hash(set, &with, &call.in[0], 2, &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_hash(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_poseidon_hash_workspace(set, &with, &in, 2, &out, bytes);
}

static const pool_poseidon_sponge_params sponge = {
    .struct_size = sizeof(sponge), .elements = MESSAGE};

static pool_status run_sponge(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_poseidon_sponge(set, &with, &sponge, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_sponge(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_poseidon_sponge_workspace(set, &with, &sponge, &in, &out, bytes);
}

/* The combinations of memory spaces, strides and checks. */
static void check_hashes(struct forecast operation, uint32_t in_elements, uint32_t out_elements)
{
    const uint64_t element = pool_field_element_bytes(pool_poseidon_field(set));
    const uint64_t in_bytes = in_elements * element, out_bytes = out_elements * element;

    for (int way = 0; way < 16; way += in_elements == 2 ? 1 : 5) {
        uint64_t stride = way & 4 ? in_bytes + 8 : 0;
        uint8_t *data = calloc(STATES, in_bytes + 8), *none = calloc(STATES, out_bytes);

        call.checks = way & 8 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
        for (uint32_t i = 0; i < STATES; i++)
            data[i * (stride ? stride : in_bytes)] = (uint8_t)(i + 1);
        call.in[0] = operand(data, STATES, in_bytes, stride, way & 1, &call.in_buffer[0]);
        call.out = operand(none, STATES, out_bytes, 0, way & 2, &call.out_buffer);
        operation.smaller = (way & 3) == 3 ? REFUSED : DIVIDED;
        check_operation(&operation);
        free_call();
        free(data);
        free(none);
    }
}

static void test_poseidon(void **state)
{
    (void)state;
    check_hashes(
        (struct forecast){"permute", run_permute, forecast_permute, DIVIDED}, WIDTH, WIDTH);
    check_hashes((struct forecast){"hash", run_hash, forecast_hash, DIVIDED}, 2, 1);
    check_hashes((struct forecast){"sponge", run_sponge, forecast_sponge, DIVIDED}, MESSAGE, 1);
}

static pool_status run_build(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_poseidon_merkle_build(set, &with, &tree, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_build(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_poseidon_merkle_build_workspace(set, &with, &tree, &in, &out, bytes);
}

static pool_merkle_shape tree_shape(void)
{
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};

    assert_ok(pool_merkle_get_shape(set, &tree, LEAVES, &shape));
    return shape;
}

static pool_status run_open(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span path = {.data = results, .count = tree_shape().path_count};

    return pool_poseidon_merkle_open(
        set, &with, &tree, LEAVES, &call.in[0], &call.out, opened_leaf, &path);
}

static pool_status forecast_open(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span path = {.count = tree_shape().path_count};
    const pool_span in = without_data(call.in[0]), levels = without_data(call.out);

    return pool_poseidon_merkle_open_workspace(
        set, &with, &tree, LEAVES, &in, &levels, opened_leaf, &path, bytes);
}

static void check_tree(uint32_t leaf_elements, uint32_t kept_levels, bool is_on_device)
{
    const uint64_t element = pool_field_element_bytes(pool_poseidon_field(set));
    struct forecast build = {"build", run_build, forecast_build, is_on_device ? REFUSED : DIVIDED};
    struct forecast open = {"open", run_open, forecast_open, EITHER};
    uint8_t *leaves = calloc(LEAVES, leaf_elements * element), *levels;
    pool_merkle_shape shape;

    tree.arity = 2;
    tree.leaf_elements = leaf_elements;
    tree.kept_levels = kept_levels;
    shape = tree_shape();
    assert_int_equal(shape.bytes, shape.digest_count * element);
    levels = calloc(1, shape.bytes);
    for (uint32_t i = 0; i < LEAVES; i++)
        leaves[i * leaf_elements * element] = (uint8_t)(i + 1);
    call.checks = kept_levels % 2 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    call.in[0] =
        operand(leaves, LEAVES, leaf_elements * element, 0, is_on_device, &call.in_buffer[0]);
    call.out = operand(levels, shape.digest_count, element, 0, is_on_device, &call.out_buffer);
    check_operation(&build);
    if (!is_on_device) {
        const pool_exec exec = exec_here();

        assert_ok(pool_poseidon_merkle_build(set, &exec, &tree, &call.in[0], &call.out));
    }
    opened_leaf = kept_levels % 2 ? LEAVES - 1 : 3;
    check_operation(&open);
    free_call();
    free(leaves);
    free(levels);
}

static void test_merkle(void **state)
{
    static const uint32_t kept_levels[] = {0, 1, 4};

    (void)state;
    for (size_t i = 0; i < sizeof(kept_levels) / sizeof(kept_levels[0]); i++)
        for (int way = 0; way < 4; way++)
            check_tree(way & 1 ? 1 : 4, kept_levels[i], way & 2);
}

/* ---- commitments ----------------------------------------------------------------------------- */

enum { MATRICES = 3 };

static pool_matrix_commit_params commit = {.struct_size = sizeof(commit)};
static pool_matrix matrices[MATRICES];
static pool_buffer *matrix_buffers[MATRICES];
static pool_matrix_commit_shape commit_shape;

/* Spans without data. */
static void forget_matrices(pool_matrix without[MATRICES])
{
    memcpy(without, matrices, sizeof(matrices));
    for (int i = 0; i < MATRICES; i++)
        without[i].span.data = NULL;
}

static pool_status run_commit(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_matrix_commit(&commit, &with, matrices, MATRICES, &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_commit(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span out = without_data(call.out);
    pool_matrix without[MATRICES];

    forget_matrices(without);
    return pool_matrix_commit_workspace(&commit, &with, without, MATRICES, &out, bytes);
}

static const uint64_t opened_rows[] = {0, 5, 31};

static pool_status run_open_rows(const pool_exec *exec, uint8_t *results)
{
    const uint64_t row_bytes = commit_shape.row_elements * 4;
    const pool_span rows = {.data = results, .count = 3};
    const pool_span paths = {.data = results + 3 * row_bytes, .count = 3 * commit_shape.height};

    return pool_matrix_open(
        &commit, exec, matrices, MATRICES, &call.out, opened_rows, 3, &rows, &paths);
}

static pool_status forecast_open_rows(const pool_exec *exec, uint64_t *bytes)
{
    const pool_span rows = {.count = 3}, paths = {.count = 3 * commit_shape.height};
    const pool_span levels = without_data(call.out);
    pool_matrix without[MATRICES];

    forget_matrices(without);
    return pool_matrix_open_workspace(
        &commit, exec, without, MATRICES, &levels, 3, &rows, &paths, bytes);
}

/* Bits of `way`: rows, matrices and levels on the device, gaps, not all levels kept; the check. */
static void check_commit(int way)
{
    static const uint32_t sizes[MATRICES][2] = {{32, 5}, {8, 3}, {32, 11}};
    struct forecast build = {"commit", run_commit, forecast_commit, way & 2 ? REFUSED : DIVIDED};
    struct forecast open = {"open rows", run_open_rows, forecast_open_rows, EITHER};
    const bool has_rows = way & 1;
    uint8_t *data[MATRICES], *levels;

    for (int i = 0; i < MATRICES; i++) {
        const uint64_t items = sizes[i][!has_rows], length = sizes[i][has_rows] * 4;
        const uint64_t stride = way & 8 ? length + 4 : 0;

        data[i] = calloc(items, length + 4);
        data[i][length - 4] = (uint8_t)(i + 1);
        matrices[i] = (pool_matrix){.height = sizes[i][0],
            .width = sizes[i][1],
            .layout = has_rows ? POOL_MATRIX_ROWS : POOL_MATRIX_COLUMNS,
            .span = operand(data[i], items, length, stride, way & 2, &matrix_buffers[i])};
    }
    commit.set = set;
    commit.kept_levels = way & 16 ? 2 : 0;
    commit_shape.struct_size = sizeof(commit_shape);
    assert_ok(pool_matrix_commit_get_shape(&commit, matrices, MATRICES, &commit_shape));
    levels = calloc(1, commit_shape.bytes);
    call.checks = way & 32 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    call.out = operand(levels, commit_shape.digest_count, 32, 0, way & 4, &call.out_buffer);
    check_operation(&build);
    if (!(way & 4)) {
        const pool_exec exec = exec_here();

        assert_ok(pool_matrix_commit(&commit, &exec, matrices, MATRICES, &call.out));
    }
    check_operation(&open);
    for (int i = 0; i < MATRICES; i++) {
        assert_ok(pool_buffer_destroy(&matrix_buffers[i]));
        free(data[i]);
    }
    free_call();
    free(levels);
}

static void test_commitments(void **state)
{
    pool_poseidon *other = set;

    (void)state;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &set));
    for (int way = 0; way < 64; way += 3)
        check_commit(way);
    pool_poseidon_destroy(&set);
    set = other;
}

/* ---- vectors --------------------------------------------------------------------------------- */

enum { VECTOR = 210 };

static const pool_field *field;
static pool_vector_operation vector;
static const pool_span *vector_b; /* of call.in, NULL: none */

static pool_status run_vector(const pool_exec *exec, uint8_t *results)
{
    static const uint8_t scalar[POOL_FIELD_MAX_BYTES] = {3};
    const pool_exec with = checked(exec);
    const pool_span *a = &call.in[0], out = output(results);
    pool_status status = POOL_ERR_INTERNAL;

    switch (vector) {
    case POOL_VECTOR_ADD:
        status = pool_vector_add(field, &with, a, vector_b, &out);
        break;
    case POOL_VECTOR_SUB:
        status = pool_vector_sub(field, &with, a, vector_b, &out);
        break;
    case POOL_VECTOR_MUL:
        status = pool_vector_mul(field, &with, a, vector_b, &out);
        break;
    case POOL_VECTOR_SCALE:
        status = pool_vector_scale(field, &with, scalar, a, &out);
        break;
    case POOL_VECTOR_INVERSE:
        status = pool_vector_inverse(field, &with, a, &out);
        break;
    case POOL_VECTOR_BIT_REVERSE:
        status = pool_vector_bit_reverse(field, &with, a, &out);
        break;
    case POOL_VECTOR_TRANSPOSE:
        status = pool_vector_transpose(field, &with, VECTOR / 7, 7, a, &out);
        break;
    case POOL_VECTOR_POWERS:
        status = pool_vector_powers(field, &with, scalar, &out);
        break;
    case POOL_VECTOR_EVALUATE:
        status = pool_vector_evaluate(field, &with, a, scalar, results);
        break;
    }
    if (vector != POOL_VECTOR_EVALUATE)
        read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_vector(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in[2] = {without_data(call.in[0]), without_data(call.in[1])};
    const pool_span out = without_data(call.out);
    bool has_a = vector != POOL_VECTOR_POWERS, has_out = vector != POOL_VECTOR_EVALUATE;

    return pool_vector_workspace(field, &with, vector, has_a ? &in[0] : NULL,
        vector_b ? &in[vector_b - call.in] : NULL, has_out ? &out : NULL, bytes);
}

static void test_vectors(void **state)
{
    const struct forecast operation = {"vector", run_vector, forecast_vector, EITHER};
    const uint64_t bytes = field->bytes;

    (void)state;
    for (int way = 0; way < 9 * 16; way += 3) { /* all ways, each for a third of the operations */
        uint64_t stride = way & 2 ? bytes + 8 : 0, count;
        uint8_t *a, *b, *none;

        vector = (pool_vector_operation)(way / 16);
        count = vector == POOL_VECTOR_BIT_REVERSE ? 128 : VECTOR;
        a = calloc(count, bytes + 8);
        b = ntt_random(field, 5, count);
        none = calloc(count, bytes);
        for (uint64_t i = 0; i < count; i++)
            a[i * (stride ? stride : bytes)] = (uint8_t)(i + 1);
        call.in[0] = operand(a, count, bytes, stride, way & 1, &call.in_buffer[0]);
        call.in[1] = operand(b, count, bytes, 0, way & 4, &call.in_buffer[1]);
        call.out = operand(none, count, bytes, 0, way & 4, &call.out_buffer);
        if (way & 8 && vector != POOL_VECTOR_BIT_REVERSE && vector != POOL_VECTOR_TRANSPOSE)
            call.out.form = POOL_FORM_MONTGOMERY;
        if (way & 8 && vector != POOL_VECTOR_POWERS)
            call.checks = POOL_CHECK_CANONICAL;
        vector_b = vector > POOL_VECTOR_MUL ? NULL : &call.in[way & 2 ? 0 : 1];
        check_operation(&operation);
        free_call();
        free(a);
        free(b);
        free(none);
    }
}

/* Elements of an extension, which pass as others do. */
static void test_extension_vectors(void **state)
{
    const pool_field *other = field;

    field = pool_field_by_name("babybear_x4");
    test_vectors(state);
    field = other;
}

static void test_vector_arguments(void **state)
{
    const pool_exec exec = exec_here();
    const pool_span a = {.count = 4}, other = {.count = 5};
    uint64_t bytes = 7;

    (void)state;
    assert_status(
        pool_vector_workspace(field, &exec, 9, &a, NULL, &a, &bytes), POOL_ERR_INVALID_ARGUMENT);
    assert_says("unsupported value 9 for `operation`");
    assert_status(pool_vector_workspace(field, &exec, POOL_VECTOR_ADD, &a, NULL, &a, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("b must not be NULL");
    assert_status(pool_vector_workspace(field, &exec, POOL_VECTOR_SCALE, &a, &a, &a, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`b` must be NULL");
    assert_status(pool_vector_workspace(field, &exec, POOL_VECTOR_SCALE, &a, NULL, &other, &bytes),
        POOL_ERR_INVALID_ARGUMENT);
    assert_says("`out` has 5 elements and another span 4");
    assert_int_equal(bytes, 7);
}

/* ---- NTT ------------------------------------------------------------------------------------- */

static pool_ntt_params ntt;

static pool_status run_ntt(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_ntt(&ntt, &with, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

/* Device memory has its addresses: a transform in place is another one. */
static pool_status forecast_ntt(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = call.in[0].space ? call.in[0] : without_data(call.in[0]);

    return pool_ntt_workspace(&ntt, &with, &in, &call.out, bytes);
}

static void check_ntt(uint32_t log_size, uint64_t batch, int way)
{
    const struct forecast operation = {
        "ntt", run_ntt, forecast_ntt, batch > 1 && !(way & 7) ? DIVIDED : EITHER};
    const uint64_t count = batch << log_size, bytes = field->bytes;
    const uint64_t stride = way & 4 ? bytes + 4 : 0;
    uint8_t *data = calloc(count, bytes + 4), *none = calloc(count, bytes + 4);

    for (uint64_t i = 0; i < count; i++)
        data[i * (stride ? stride : bytes)] = (uint8_t)(i + 1);
    call.checks = way & 8 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    call.in[0] = operand(data, count, bytes, stride, way & 1, &call.in_buffer[0]);
    call.out = operand(none, count, bytes, way & 2 ? stride : 0, way & 2, &call.out_buffer);
    for (int order = 0; order < 4; order++) {
        ntt.order = (pool_ntt_order)order;
        ntt.batch = batch;
        check_operation(&operation);
    }
    free_call();
    free(data);
    free(none);
}

/* One pass, and several, which need memory for their results; batches that are divided. */
static void test_ntt(void **state)
{
    (void)state;
    for (int log_size = 3; log_size < 14; log_size += 8) {
        ntt = (pool_ntt_params){
            .struct_size = sizeof(ntt), .domain = ntt_domain(field, (uint32_t)log_size)};
        for (int way = 0; way < 16; way++)
            if (log_size < 8 || way % 5 == 0)
                check_ntt((uint32_t)log_size, log_size < 8 ? 11 : 1, way);
        if (log_size > 8)
            check_ntt((uint32_t)log_size, 3, 0);
        assert_ok(pool_ntt_domain_destroy(&ntt.domain));
    }
}

/* ---- transforms of points -------------------------------------------------------------------- */

static pool_ecntt_params ecntt;

static pool_status run_ecntt(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_ecntt(&ecntt, &with, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_ecntt(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_ecntt_workspace(&ecntt, &with, &in, &out, bytes);
}

/* Batches in rows are divided, those in columns are not. */
static void test_ecntt(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    enum { COUNT = 6, BYTES = 64 };

    (void)state;
    ecntt = (pool_ecntt_params){.struct_size = sizeof(ecntt),
        .curve = curve,
        .domain = ntt_domain(pool_curve_scalar_field(curve), 1),
        .batch = COUNT / 2};
    for (int way = 0; way < 16; way += 3) {
        const struct forecast operation = {
            "ecntt", run_ecntt, forecast_ecntt, way & 4 ? REFUSED : DIVIDED};
        uint8_t data[COUNT * BYTES], none[COUNT * (BYTES + 4)] = {0};

        assert_ok(pool_random_points(curve, 1, COUNT, NULL, data, NULL));
        ecntt.layout = way & 4 ? POOL_NTT_COLUMNS : POOL_NTT_ROWS;
        ecntt.direction = way & 8 ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
        ecntt.coset = way & 1;
        call.checks = way & 8 ? POOL_CHECK_ON_CURVE : POOL_CHECK_NONE;
        call.in[0] = operand(data, COUNT, BYTES, 0, way & 1, &call.in_buffer[0]);
        call.out = operand(none, COUNT, BYTES, way & 1 ? BYTES + 4 : 0, way & 2, &call.out_buffer);
        check_operation(&operation);
        free_call();
    }
    assert_ok(pool_ntt_domain_destroy(&ecntt.domain));
}

/* ---- extensions ------------------------------------------------------------------------------ */

static pool_ntt_extend_params extension;
static bool keeps_coefficients; /* in call.in[1] */

static pool_status run_extension(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_ntt_extend(
        &extension, &with, &call.in[0], keeps_coefficients ? &call.in[1] : NULL, &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_extension(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), kept = without_data(call.in[1]);
    const pool_span out = without_data(call.out);

    return pool_ntt_extend_workspace(
        &extension, &with, &in, keeps_coefficients ? &kept : NULL, &out, bytes);
}

/* Bits of `way`: input and output on the device, coefficients, those on the device, a check. */
static void check_extension(uint64_t batch, int way)
{
    const uint64_t count = batch << pool_ntt_domain_log_size(extension.domain);
    const uint64_t points = count >> extension.log_blowup;
    const struct forecast operation = {"extension", run_extension, forecast_extension,
        batch > 1 && !(way & 11) ? DIVIDED : EITHER};
    uint8_t *data = ntt_random(field, 9, points), *kept = calloc(points, field->bytes);
    uint8_t *none = calloc(count, field->bytes);

    keeps_coefficients = way & 4;
    extension.batch = batch;
    call.checks = way & 16 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    call.in[0] = operand(data, points, field->bytes, 0, way & 1, &call.in_buffer[0]);
    call.in[1] = operand(kept, points, field->bytes, 0, way & 8, &call.in_buffer[1]);
    call.out = operand(none, count, field->bytes, 0, way & 2, &call.out_buffer);
    for (int order = 0; order < 4; order++) {
        extension.order = (pool_ntt_order)order;
        check_operation(&operation);
    }
    free_call();
    free(kept);
    free(data);
    free(none);
}

static void test_extensions(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 3; b += 2) {
        extension = (pool_ntt_extend_params){
            .struct_size = sizeof(extension), .domain = ntt_domain(field, 7), .log_blowup = b};
        for (int way = 0; way < 32; way++)
            check_extension(way % 3 ? 5 : 1, way);
        assert_ok(pool_ntt_domain_destroy(&extension.domain));
    }
}

/* ---- folds and evaluations ------------------------------------------------------------------- */

enum { LOG_VALUES = 8 }; /* so that chunks of values are larger than what memory is rounded up to */

static pool_fri_fold_params fold = {.struct_size = sizeof(fold)};
static uint32_t next_log_arity; /* of the committed layer */
static pool_matrix_evaluate_params evaluation = {.struct_size = sizeof(evaluation)};
static pool_matrix evaluated;
static const uint32_t points[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};

static pool_status run_fold(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = output(results);
    pool_status status = pool_fri_fold(&fold, &with, &call.in[0], &out);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_fold(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.out);

    return pool_fri_fold_workspace(&fold, &with, &in, &out, bytes);
}

/* Results are in call.in[1], the levels are the output. */
static pool_status run_fold_commit(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span levels = output(results);
    pool_status status = pool_fri_fold_commit(
        &fold, next_log_arity, &commit, &with, &call.in[0], &call.in[1], &levels);

    read_back(call.out_buffer, results);
    return status;
}

static pool_status forecast_fold_commit(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span in = without_data(call.in[0]), out = without_data(call.in[1]);
    const pool_span levels = without_data(call.out);

    return pool_fri_fold_commit_workspace(
        &fold, next_log_arity, &commit, &with, &in, &out, &levels, bytes);
}

/* Bits of `way`: bit-reversed, values and results on the device, a check; `way` also selects the
 * arity. Values in natural order are not divided. */
static void check_fold(int way)
{
    const uint64_t values = 1 << LOG_VALUES, bytes = field->bytes;
    const bool is_divided = way & 1 && (way & 6) != 6;
    const struct forecast alone = {"fold", run_fold, forecast_fold, is_divided ? DIVIDED : REFUSED};
    const struct forecast both = {
        "fold and commitment", run_fold_commit, forecast_fold_commit, EITHER};
    uint8_t *data = ntt_random(field, 5, values), *none = calloc(values, bytes);
    uint64_t results, leaves;

    fold.field = field;
    fold.is_bit_reversed = way & 1;
    fold.log_arity = 1 + (uint32_t)(way % 3);
    fold.challenge = points[0];
    results = values >> fold.log_arity;
    call.checks = way & 8 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    call.in[0] = operand(data, values, bytes, 0, way & 2, &call.in_buffer[0]);
    call.out = operand(none, results, bytes, 0, way & 4, &call.out_buffer);
    check_operation(&alone);
    assert_ok(pool_buffer_destroy(&call.out_buffer));
    call.in[1] = operand(none, results, bytes, 0, way & 4, &call.in_buffer[1]);
    next_log_arity = 1 + (uint32_t)(way / 3 % 3);
    leaves = results >> next_log_arity;
    call.out = operand(NULL, 2 * leaves - 1, 32, 0, false, NULL);
    check_operation(&both);
    free_call();
    free(data);
    free(none);
}

static pool_status run_evaluation(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);

    return pool_matrix_evaluate(&evaluation, &with, &evaluated, points, 2, results);
}

static pool_status forecast_evaluation(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    pool_matrix without = evaluated;

    without.span.data = NULL;
    return pool_matrix_evaluate_workspace(&evaluation, &with, &without, 2, bytes);
}

/* Bits of `way`: rows, on the device, gaps, coefficients, a check. */
static void check_evaluation(pool_ntt_domain *domain, uint32_t width, int way)
{
    const struct forecast operation = {"evaluation", run_evaluation, forecast_evaluation, REFUSED};
    const uint64_t height = 1 << LOG_VALUES, items = way & 1 ? height : width;
    const uint64_t length = (way & 1 ? width : height) * 4, stride = way & 4 ? length + 4 : 0;
    uint8_t *data = calloc(items, length + 4);

    data[length - 4] = 9;
    evaluation.field = field;
    evaluation.domain = way & 8 ? NULL : domain;
    evaluated = (pool_matrix){.height = height,
        .width = width,
        .layout = way & 1 ? POOL_MATRIX_ROWS : POOL_MATRIX_COLUMNS,
        .span = operand(data, items, length, stride, way & 2, &call.in_buffer[0])};
    call.checks = way & 16 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    check_operation(&operation);
    free_call();
    free(data);
}

static void test_folds_and_evaluations(void **state)
{
    const pool_field *other_field = field;
    pool_poseidon *hash = NULL;
    pool_ntt_domain *domain;

    (void)state;
    field = pool_field_by_name("babybear_x4");
    domain = ntt_domain(field->base, LOG_VALUES);
    fold.domain = domain;
    assert_ok(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &hash));
    commit = (pool_matrix_commit_params){.struct_size = sizeof(commit), .set = hash};
    for (int way = 0; way < 16; way++)
        check_fold(way);
    for (int way = 0; way < 32; way++)
        check_evaluation(domain, way % 3 ? 3 : 200, way); /* a sum per column is the larger part */
    pool_poseidon_destroy(&hash);
    assert_ok(pool_ntt_domain_destroy(&domain));
    commit.set = NULL;
    field = other_field;
}

/* ---- domains --------------------------------------------------------------------------------- */

static void test_domain_tables(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks"};

    (void)state;
    for (int i = 0; i < 8; i++) {
        pool_ntt_domain *domain = ntt_domain(ntt_field(names[i % 2]), (uint32_t)(3 * (i / 2)));
        uint64_t bytes = 0, before = memory().used_bytes;

        assert_ok(pool_ntt_domain_bytes(domain, device, &bytes));
        assert_ok(pool_ntt_warm_up(
            domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
        assert_int_equal(memory().used_bytes - before, bytes);
        assert_ok(pool_ntt_domain_destroy(&domain));
        assert_int_equal(memory().used_bytes, before);
    }
}

/* ---- MSM and bases --------------------------------------------------------------------------- */

enum { POINTS = 4200, SCALAR_BITS = 32 }; /* short scalars: the simulator takes less time */

static struct msm_problem problem;
static pool_msm_params msm;
static pool_bases_params bases_params;
static pool_span msm_points, msm_scalars;
static pool_buffer *msm_buffers[2];

static pool_status run_msm(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    const pool_span out = {.data = results, .count = msm.batch ? msm.batch : 1};

    return pool_msm(&msm, &with, msm.bases ? NULL : &msm_points, &msm_scalars, &out);
}

static pool_status forecast_msm(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span points = msm_points.space ? msm_points : without_data(msm_points);
    const pool_span scalars = without_data(msm_scalars);
    const pool_span out = {.count = msm.batch ? msm.batch : 1};

    return pool_msm_workspace(&msm, &with, msm.bases ? NULL : &points, &scalars, &out, bytes);
}

/* Points in host memory; on the device, read in place or converted; bases without and with
 * precomputed multiples. */
static void check_msm(int way, uint64_t batch)
{
    const struct forecast operation = {"msm", run_msm, forecast_msm, DIVIDED};
    const pool_exec exec = exec_here();

    const pool_point_format montgomery = {
        POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, problem.point_bytes};
    uint8_t *converted = calloc(POINTS, problem.point_bytes);

    assert_ok(pool_points_convert(
        problem.curve, NULL, problem.points, POINTS, POOL_CHECK_NONE, &montgomery, converted));
    msm = (pool_msm_params){.struct_size = sizeof(msm),
        .curve = problem.curve,
        .batch = batch,
        .scalar_bits = SCALAR_BITS};
    msm_points = operand(way == 2 ? converted : problem.points, POINTS, problem.point_bytes, 0,
        way == 1 || way == 2, &msm_buffers[0]);
    msm_points.form = way == 2 ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD;
    msm_scalars =
        operand(problem.scalars, POINTS, problem.scalar_bytes, 0, way >= 2, &msm_buffers[1]);
    if (way >= 3) {
        bases_params.precompute_factor = way == 3 ? 0 : 3;
        bases_params.scalar_bits = way == 3 ? 0 : SCALAR_BITS;
        assert_ok(pool_bases_create(&bases_params, &exec, &msm_points, &msm.bases));
        bases_params.scalar_bits = 0;
    }
    call.checks = way % 2 ? POOL_CHECK_CANONICAL : POOL_CHECK_NONE;
    check_operation(&operation);
    call.checks = 0;
    assert_ok(pool_bases_destroy(&msm.bases));
    assert_ok(pool_buffer_destroy(&msm_buffers[0]));
    assert_ok(pool_buffer_destroy(&msm_buffers[1]));
    free(converted);
}

static void test_msm(void **state)
{
    (void)state;
    for (int way = 0; way < 5; way++)
        check_msm(way, way == 1 ? 4 : 1);
}

static const char *bases_path; /* NULL: from points */
static pool_resident *resident;

static pool_status run_bases(const pool_exec *exec, uint8_t *results)
{
    const pool_exec with = checked(exec);
    pool_resident_use *use = NULL;
    pool_bases *bases = NULL;
    pool_status status = resident ? pool_resident_open(resident, &with, &use)
                         : bases_path
                             ? pool_bases_load(&bases_params, &with, bases_path, &bases)
                             : pool_bases_create(&bases_params, &with, &msm_points, &bases);

    if (status)
        return status;
    if (!resident) {
        assert_ok(pool_bases_fingerprint(bases, results));
        assert_ok(pool_bases_destroy(&bases));
        return POOL_OK;
    }
    assert_ok(pool_bases_fingerprint(pool_resident_bases(use), results));
    assert_ok(pool_resident_close(&use));
    return pool_resident_evict(resident, device);
}

static pool_status forecast_bases(const pool_exec *exec, uint64_t *bytes)
{
    const pool_exec with = checked(exec);
    const pool_span points = without_data(msm_points);
    uint64_t bases_bytes = 0;
    pool_status status =
        resident ? pool_resident_open_workspace(resident, &with, bytes)
        : bases_path
            ? pool_bases_load_workspace(&bases_params, &with, bases_path, &bases_bytes, bytes)
            : pool_bases_create_workspace(&bases_params, &with, &points, &bases_bytes, bytes);

    if (!status && !resident)
        assert_true(bases_bytes > 0 && bases_bytes <= *bytes);
    return status;
}

/* The description of bases that do not exist is that of the bases. */
static void check_described(const pool_bases *bases)
{
    const pool_exec exec = exec_here();
    const pool_span points = without_data(msm_points), result = {.count = 1};
    pool_msm_params params = {.struct_size = sizeof(params)};
    uint64_t bases_bytes = 0, bytes = 0, expected = 0;

    assert_ok(pool_bases_create_workspace(&bases_params, &exec, &points, &bases_bytes, &bytes));
    assert_int_equal(bases_bytes, pool_bases_bytes(bases));
    assert_int_equal(pool_resident_bytes(resident), bases_path ? 0 : bases_bytes);
    assert_ok(pool_resident_msm_workspace(resident, &params, &exec, &points, &result, &bytes));
    params.bases = (pool_bases *)(uintptr_t)bases;
    assert_ok(pool_msm_workspace(&params, &exec, NULL, &points, &result, &expected));
    assert_int_equal(bytes, expected);
}

static void check_bases(const char *path, uint32_t factor, uint32_t checks)
{
    const struct forecast operation = {"bases", run_bases, forecast_bases, REFUSED};
    pool_resident_params params = {
        .struct_size = sizeof(params), .name = "bases", .bases = &bases_params, .path = path};
    const pool_exec exec = exec_here();
    pool_bases *bases = NULL;

    call.checks = checks;
    bases_path = path;
    bases_params.precompute_factor = factor;
    params.points = path ? NULL : &msm_points;
    assert_ok(pool_bases_create(&bases_params, &exec, &msm_points, &bases));
    if (path)
        assert_ok(pool_bases_save(bases, path));
    check_operation(&operation);
    assert_ok(pool_resident_create(pool, &params, &resident));
    check_described(bases);
    check_operation(&operation);
    assert_ok(pool_resident_destroy(&resident));
    assert_ok(pool_bases_destroy(&bases));
    call.checks = 0;
}

static void test_bases(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "/tmp/devicepool-forecasts-%d", (int)getpid());
    msm_points = (pool_span){.data = problem.points, .count = 60};
    for (uint32_t factor = 1; factor < 4; factor++) {
        check_bases(NULL, factor, POOL_CHECK_NONE);
        check_bases(NULL, factor, POOL_CHECK_ON_CURVE);
        check_bases(path, factor, POOL_CHECK_NONE);
        check_bases(path, factor, POOL_CHECK_ON_CURVE);
    }
    unlink(path);
}

/* ---- the pool -------------------------------------------------------------------------------- */

static int open_all(void **state)
{
    field = pool_field_by_name("bn254_fr");
    problem = msm_problem_random(pool_curve_by_name("bn254_g1"), POINTS, 1);
    for (uint64_t i = 0; i < POINTS; i++)
        memset(
            msm_scalar(&problem, i) + SCALAR_BITS / 8, 0, problem.scalar_bytes - SCALAR_BITS / 8);
    bases_params = (pool_bases_params){.struct_size = sizeof(bases_params), .curve = problem.curve};
    return pool_poseidon_by_name("circom-bn254-t3", &set) || open_pool(state);
}

static int close_all(void **state)
{
    pool_poseidon_destroy(&set);
    msm_problem_free(&problem);
    return close_pool(state);
}

/* Of the operations above; vectors, bases and resident objects have no workspaces. */
static void test_workspaces(void **state)
{
    (void)state;
    assert_true(with_workspace > 200);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poseidon),
        cmocka_unit_test(test_merkle),
        cmocka_unit_test(test_commitments),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_extension_vectors),
        cmocka_unit_test(test_vector_arguments),
        cmocka_unit_test(test_ntt),
        cmocka_unit_test(test_ecntt),
        cmocka_unit_test(test_extensions),
        cmocka_unit_test(test_folds_and_evaluations),
        cmocka_unit_test(test_domain_tables),
        cmocka_unit_test(test_msm),
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_workspaces),
    };

    if (count > 1)
        device_text = arguments[1];
    if (open_pool(NULL)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    if (compiler_is_missing(device)) {
        close_pool(NULL);
        return 77;
    }
    close_pool(NULL);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
