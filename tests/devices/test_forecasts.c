/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forecasts of device memory are exact: an operation under a lease whose budget is the forecast
 * succeeds and uses all of it, and with one byte less it is refused or divides its work into
 * smaller chunks, as the forecast for that budget says. On simulated devices unless an argument
 * names others.
 *
 *   test_forecasts [DEVICES]
 */
#include "support/ntt.h"
#include "support/pool.h"

enum { RESULTS_MAX = 1 << 18 };

/* An operation writes its results, which are compared, to host memory at `results`. */
struct operation {
    const char *name;
    pool_status (*run)(const pool_exec *exec, uint8_t *results);
    pool_status (*forecast)(const pool_exec *exec, uint64_t *bytes);
    enum { REFUSED, DIVIDED, EITHER } smaller; /* with less memory than its forecast */
};

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
static uint64_t check_whole(const struct operation *operation, const uint8_t *wanted)
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

/* With a budget that is smaller: returns whether the operation still ran. */
static bool check_smaller(const struct operation *operation, const uint8_t *wanted, uint64_t budget)
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
        assert_in_range(bytes, 0, budget);
        assert_int_equal(peak_of(exec.lease), bytes);
        assert_memory_equal(got, wanted, RESULTS_MAX);
    }
    assert_int_equal(memory().used_bytes, before);
    assert_ok(pool_release(&exec.lease));
    free(got);
    return !status;
}

static void check_operation(const struct operation *operation)
{
    uint8_t *wanted = calloc(RESULTS_MAX, 1);
    pool_exec exec = exec_here();
    uint64_t bytes;
    bool ran;

    assert_ok(operation->run(&exec, wanted)); /* also loads kernels and computes tables */
    bytes = check_whole(operation, wanted);
    if (bytes) {
        ran = check_smaller(operation, wanted, bytes - 1);
        if (operation->smaller != EITHER)
            assert_int_equal(ran, operation->smaller == DIVIDED);
        while (ran && bytes > 1)
            ran = check_smaller(operation, wanted, bytes /= 4);
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

enum { STATES = 40, WIDTH = 3, MESSAGE = 5, LEAVES = 37 };

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
static void check_hashes(struct operation operation, uint32_t in_elements, uint32_t out_elements)
{
    const uint64_t element = pool_field_element_bytes(pool_poseidon_field(set));
    const uint64_t in_bytes = in_elements * element, out_bytes = out_elements * element;

    for (int way = 0; way < 16; way++) {
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
        (struct operation){"permute", run_permute, forecast_permute, DIVIDED}, WIDTH, WIDTH);
    check_hashes((struct operation){"hash", run_hash, forecast_hash, DIVIDED}, 2, 1);
    check_hashes((struct operation){"sponge", run_sponge, forecast_sponge, DIVIDED}, MESSAGE, 1);
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
    struct operation build = {"build", run_build, forecast_build, is_on_device ? REFUSED : DIVIDED};
    struct operation open = {"open", run_open, forecast_open, EITHER};
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
    static const uint32_t kept_levels[] = {0, 1, 4, 5, 6, 7};

    (void)state;
    for (size_t i = 0; i < sizeof(kept_levels) / sizeof(kept_levels[0]); i++)
        for (int way = 0; way < 4; way++)
            check_tree(way & 1 ? 1 : 4, kept_levels[i], way & 2);
}

/* ---- the pool -------------------------------------------------------------------------------- */

static int open_all(void **state)
{
    return pool_poseidon_by_name("circom-bn254-t3", &set) || open_pool(state);
}

static int close_all(void **state)
{
    pool_poseidon_destroy(&set);
    return close_pool(state);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poseidon),
        cmocka_unit_test(test_merkle),
    };

    if (count > 1)
        device_text = arguments[1];
    if (strncmp(device_text, "sim", 3) != 0) { /* a real one: is there any? */
        pool_params params = {.struct_size = sizeof(params), .devices = device_text};

        if (pool_create(&pool, &params)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return 77;
        }
        pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
