/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of kernels and of the library's operations: what a launch computes is what the calls
 * themselves compute; operations that need the host or scratch memory are refused.
 *
 *   test_graph_operations [DEVICES]
 */
#include "support/msm.h"
#include "support/ntt.h"
#include "support/pool.h"

#include "pool/memory/resident.h"

enum { LOG_SIZE = 6, COUNT = 1 << LOG_SIZE, DIGESTS = COUNT / 2 };

static struct {
    const pool_field *field;
    pool_ntt_domain *domain;
    pool_poseidon *set;
    pool_stream *stream;
    pool_buffer *values, *sums, *workspace, *digests;
    size_t bytes; /* of an element */
} with;

static pool_span span_of(pool_buffer *buffer, uint64_t count)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return (pool_span){
        .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
}

static pool_exec exec_on_stream(void)
{
    pool_exec exec = exec_here();

    exec.stream = with.stream;
    exec.is_async = 1;
    return exec;
}

/* A transform in place, sums of the transformed values, and hashes of pairs of them. */
static void compute(void)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = with.domain};
    const pool_span values = span_of(with.values, COUNT), sums = span_of(with.sums, COUNT),
                    digests = span_of(with.digests, DIGESTS), pairs = span_of(with.sums, DIGESTS);
    pool_exec exec = exec_on_stream();

    exec.workspace = with.workspace;
    assert_ok(pool_ntt(&params, &exec, &values, &values));
    exec.workspace = NULL;
    assert_ok(pool_vector_add(with.field, &exec, &values, &values, &sums));
    assert_ok(pool_poseidon_hash(with.set, &exec, &pairs, 2, &digests));
}

static void load(uint64_t seed)
{
    uint8_t *data = ntt_random(with.field, seed, COUNT);

    assert_ok(pool_copy_to_device(with.values, 0, data, COUNT * with.bytes, NULL));
    free(data);
}

static void read_digests(uint8_t *digests)
{
    assert_ok(pool_stream_synchronize(with.stream));
    assert_ok(pool_copy_to_host(digests, with.digests, 0, DIGESTS * with.bytes, NULL));
}

static int open_all(void **state)
{
    if (open_pool(state))
        return -1;
    with.field = ntt_field("bn254_fr");
    with.bytes = with.field->bytes;
    with.domain = ntt_domain(with.field, LOG_SIZE);
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &with.set));
    assert_ok(pool_stream_create(device, NULL, &with.stream));
    assert_ok(pool_buffer_alloc(device, COUNT * with.bytes, &with.values));
    assert_ok(pool_buffer_alloc(device, COUNT * with.bytes, &with.sums));
    assert_ok(pool_buffer_alloc(device, COUNT * with.bytes, &with.workspace));
    assert_ok(pool_buffer_alloc(device, DIGESTS * with.bytes, &with.digests));
    return 0;
}

static int close_all(void **state)
{
    assert_ok(pool_buffer_destroy(&with.values));
    assert_ok(pool_buffer_destroy(&with.sums));
    assert_ok(pool_buffer_destroy(&with.workspace));
    assert_ok(pool_buffer_destroy(&with.digests));
    assert_ok(pool_stream_destroy(&with.stream));
    assert_ok(pool_ntt_domain_destroy(&with.domain));
    pool_poseidon_destroy(&with.set);
    return close_pool(state);
}

/* ---- refused, before anything is warm -------------------------------------------------------- */

static void refused(const char *says)
{
    assert_says(says);
    assert_status(pool_stream_end_capture(with.stream, NULL), POOL_ERR_UNSUPPORTED);
    assert_ok(pool_stream_begin_capture(with.stream));
}

static void test_refused(void **state)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = with.domain};
    const pool_span values = span_of(with.values, COUNT), sums = span_of(with.sums, COUNT);
    uint8_t *data = ntt_random(with.field, 1, COUNT);
    const pool_span host = ntt_host(data, COUNT);
    pool_exec exec = exec_on_stream();

    (void)state;
    assert_ok(pool_stream_begin_capture(with.stream));
    exec.workspace = with.workspace;
    assert_status(pool_ntt(&params, &exec, &values, &values), POOL_ERR_UNSUPPORTED);
    refused("pool_ntt_warm_up");
    exec.workspace = NULL;
    exec.is_async = 0;
    assert_status(
        pool_vector_mul(with.field, &exec, &values, &values, &sums), POOL_ERR_UNSUPPORTED);
    refused("is_async");
    exec.is_async = 1;
    exec.checks = POOL_CHECK_CANONICAL;
    assert_status(
        pool_vector_mul(with.field, &exec, &values, &values, &sums), POOL_ERR_UNSUPPORTED);
    refused("checks");
    exec.checks = 0;
    assert_status(pool_vector_mul(with.field, &exec, &host, &values, &sums), POOL_ERR_UNSUPPORTED);
    refused("pool_vector_mul: the stream is being captured into a graph, which cannot contain "
            "operands of host memory");
    assert_status(pool_vector_inverse(with.field, &exec, &values, &values), POOL_ERR_UNSUPPORTED);
    refused("allocations");
    /* A factor between the forms is uploaded. */
    assert_status(
        pool_vector_mul(with.field, &exec, &values, &values, &sums), POOL_ERR_UNSUPPORTED);
    refused("pool_vector_mul, which uploads constants");
    assert_ok(pool_stream_end_capture(with.stream, NULL));
    free(data);
}

/* No factor is needed between Montgomery forms, nor where one of the two vectors alone has it. */
static void test_products(void **state)
{
    pool_span values = span_of(with.values, COUNT), out = span_of(with.sums, COUNT), other = values;
    pool_exec exec = exec_on_stream();
    pool_graph *graph = NULL;

    (void)state;
    assert_ok(pool_stream_begin_capture(with.stream));
    values.form = other.form = out.form = POOL_FORM_MONTGOMERY;
    assert_ok(pool_vector_mul(with.field, &exec, &values, &other, &out));
    other.form = out.form = POOL_FORM_STANDARD;
    assert_ok(pool_vector_mul(with.field, &exec, &values, &other, &out));
    assert_ok(pool_stream_end_capture(with.stream, &graph));
    assert_ok(pool_graph_launch(graph, with.stream));
    assert_ok(pool_stream_synchronize(with.stream));
    assert_ok(pool_graph_destroy(&graph));
}

/* An MSM needs its workspace, and results in device memory. */
static void test_msm(void **state)
{
    enum { POINTS = 16 };
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    struct msm_problem problem = msm_problem_random(curve, POINTS, 3);
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_buffer *points = NULL, *results = NULL, *workspace = NULL;
    uint8_t expected[MSM_POINT_MAX] = {0}, got[MSM_POINT_MAX] = {0};
    const pool_span on_host = {.data = expected, .count = 1};
    pool_exec exec = exec_on_stream();
    pool_graph *graph = NULL;
    pool_span in, scalars, out;
    uint64_t bytes = 0;

    (void)state;
    assert_ok(pool_buffer_from_host(device, problem.points, POINTS * problem.point_bytes, &points));
    assert_ok(pool_buffer_zeroed(device, sizeof(got), &results));
    in = span_of(points, POINTS);
    scalars = span_of(with.values, POINTS);
    out = span_of(results, 1);
    assert_ok(pool_msm_workspace(&params, &exec, &in, &scalars, &out, &bytes));
    assert_ok(
        pool_buffer_alloc(device, bytes + 4096, &workspace)); /* also for results on the host */
    assert_ok(pool_stream_begin_capture(with.stream));
    assert_status(pool_msm(&params, &exec, &in, &scalars, &out), POOL_ERR_UNSUPPORTED);
    refused("allocations");
    exec.workspace = workspace;
    assert_status(pool_msm(&params, &exec, &in, &scalars, &on_host), POOL_ERR_UNSUPPORTED);
    refused("being captured into a graph");
    assert_ok(pool_msm(&params, &exec, &in, &scalars, &out));
    assert_ok(pool_stream_end_capture(with.stream, &graph));
    for (uint64_t seed = 20; seed < 23; seed++) {
        load(seed);
        exec.is_async = 0;
        exec.workspace = NULL;
        assert_ok(pool_msm(&params, &exec, &in, &scalars, &on_host));
        assert_ok(pool_graph_launch(graph, with.stream));
        assert_ok(pool_stream_synchronize(with.stream));
        assert_ok(pool_copy_to_host(got, results, 0, problem.point_bytes, NULL));
        assert_memory_equal(got, expected, problem.point_bytes);
    }
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_buffer_destroy(&workspace));
    assert_ok(pool_buffer_destroy(&results));
    assert_ok(pool_buffer_destroy(&points));
    msm_problem_free(&problem);
}

/* ---- computed -------------------------------------------------------------------------------- */

static void test_operations(void **state)
{
    uint8_t expected[DIGESTS * POOL_FIELD_MAX_BYTES], got[sizeof(expected)];
    pool_graph *graph = NULL;

    (void)state;
    assert_ok(pool_ntt_warm_up(
        with.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_stream_begin_capture(with.stream));
    compute();
    assert_ok(pool_stream_end_capture(with.stream, &graph));
    for (uint64_t seed = 10; seed < 14; seed++) {
        load(seed);
        compute();
        read_digests(expected);
        load(seed);
        assert_ok(pool_buffer_fill8(with.digests, 0, DIGESTS * with.bytes, 0, NULL));
        assert_ok(pool_graph_launch(graph, with.stream));
        read_digests(got);
        assert_memory_equal(got, expected, DIGESTS * with.bytes);
    }
    /* Tables and kernels of the graph stay where they are. */
    (void)memory_resident_evict(device, UINT64_MAX, true);
    load(13);
    assert_ok(pool_graph_launch(graph, with.stream));
    read_digests(got);
    assert_memory_equal(got, expected, DIGESTS * with.bytes);
    assert_ok(pool_graph_destroy(&graph));
    assert_true(memory_resident_evict(device, UINT64_MAX, true) > 0);
}

/* ---- leases ---------------------------------------------------------------------------------- */

static pool_lease *lease_of(int32_t class, const char *label)
{
    const pool_request request = {.struct_size = sizeof(request),
        .device = device,
        .bytes = 1 << 20,
        .priority = class,
        .label = label};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

/*
 * Captured under one lease, launched under others: the memory stays that of the capture, and is
 * charged to no later lease. Copies that are enqueued behind a launch have its results, though the
 * next launch writes them to the same memory.
 */
static void test_leases(void **state)
{
    enum { LAUNCHES = 4 };
    const size_t bytes = DIGESTS * with.bytes;
    pool_lease *captured = lease_of(0, "capture"), *lease = NULL;
    const pool_span values = span_of(with.values, COUNT / 2), other = span_of(with.values, DIGESTS);
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .lease = captured};
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    uint8_t expected[LAUNCHES][DIGESTS * POOL_FIELD_MAX_BYTES];
    pool_pinned *read = NULL, *written = NULL;
    pool_exec exec = exec_on_stream();
    pool_buffer *results = NULL;
    pool_graph *graph = NULL;
    pool_stream *stream;
    pool_span out;

    (void)state;
    assert_ok(pool_buffer_create(device, &params, &results));
    out = span_of(results, DIGESTS);
    exec.lease = captured;
    assert_ok(pool_vector_add(with.field, &exec, &values, &other, &out)); /* loads the kernels */
    assert_ok(pool_stream_begin_capture(with.stream));
    assert_ok(pool_vector_add(with.field, &exec, &values, &other, &out));
    assert_ok(pool_stream_end_capture(with.stream, &graph));
    assert_ok(pool_lease_stream(captured, 0, &stream));
    assert_status(pool_stream_begin_capture(stream), POOL_ERR_INVALID_ARGUMENT);
    assert_says("lease");
    assert_ok(pool_release(&captured));

    assert_ok(pool_pinned_create(device, LAUNCHES * bytes, 0, &read));
    assert_ok(pool_pinned_create(device, LAUNCHES * COUNT * with.bytes, 0, &written));
    lease = lease_of(100, "launch");
    assert_ok(pool_lease_stream(lease, 0, &stream));
    for (uint64_t i = 0; i < LAUNCHES; i++) {
        uint8_t *in = (uint8_t *)pool_pinned_data(written) + i * COUNT * with.bytes;

        assert_ok(pool_random_scalars(with.field, 70 + i, COUNT, POOL_FORM_STANDARD, in));
        assert_ok(pool_copy_to_device(with.values, 0, in, COUNT * with.bytes, with.stream));
        exec.lease = NULL;
        out = span_of(with.digests, DIGESTS);
        assert_ok(pool_vector_add(with.field, &exec, &values, &other, &out));
        read_digests(expected[i]);
    }
    for (uint64_t i = 0; i < LAUNCHES; i++) { /* nothing waits in between */
        assert_ok(pool_copy_to_device(with.values, 0,
            (uint8_t *)pool_pinned_data(written) + i * COUNT * with.bytes, COUNT * with.bytes,
            stream));
        assert_ok(pool_graph_launch(graph, stream));
        assert_ok(pool_copy_to_host(
            (uint8_t *)pool_pinned_data(read) + i * bytes, results, 0, bytes, stream));
    }
    assert_ok(pool_stream_synchronize(stream));
    for (uint64_t i = 0; i < LAUNCHES; i++)
        assert_memory_equal((uint8_t *)pool_pinned_data(read) + i * bytes, expected[i], bytes);
    assert_ok(pool_lease_get_usage(lease, 0, &usage));
    assert_int_equal(usage.peak_bytes, 0);
    assert_ok(pool_release(&lease));
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_buffer_destroy(&results));
    assert_ok(pool_pinned_destroy(&read));
    assert_ok(pool_pinned_destroy(&written));
}

static const char kernel_source[] =
    "extern \"C\" __global__ void add(unsigned *values, unsigned amount)\n"
    "{\n"
    "    values[threadIdx.x] += amount;\n"
    "}\n";

static void capture_add(pool_kernel *kernel, unsigned amount)
{
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .block = {COUNT}, .argument_count = 2};
    CUdeviceptr address;
    void *arguments[] = {&address, &amount};

    assert_ok(pool_buffer_address(with.values, &address));
    assert_ok(pool_stream_begin_capture(with.stream));
    for (int i = 0; i < 3; i++)
        assert_ok(pool_launch(kernel, &shape, arguments, with.stream));
    amount = 1000; /* the arguments were copied */
}

static void test_kernels(void **state)
{
    const pool_module_params params = {.struct_size = sizeof(params), .source = kernel_source};
    unsigned values[COUNT];
    pool_graph *graph = NULL;
    pool_module *module;
    pool_kernel *kernel;

    (void)state;
    if (ntt_needs_compiler("a custom kernel"))
        return;
    assert_ok(pool_module_compile(device, &params, &module));
    assert_ok(pool_kernel_get(module, "add", &kernel));
    assert_ok(pool_buffer_fill32(with.values, 0, COUNT, 1, NULL));
    capture_add(kernel, 2);
    assert_ok(pool_stream_end_capture(with.stream, &graph));
    for (int i = 0; i < 4; i++)
        assert_ok(pool_graph_launch(graph, with.stream));
    capture_add(kernel, 5);
    assert_ok(pool_graph_update(graph, with.stream));
    assert_ok(pool_graph_launch(graph, with.stream));
    assert_ok(pool_stream_synchronize(with.stream));
    assert_ok(pool_copy_to_host(values, with.values, 0, sizeof(values), NULL));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], 1 + 4 * 3 * 2 + 3 * 5);
    assert_ok(pool_graph_destroy(&graph));
    assert_ok(pool_module_destroy(&module));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_msm),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_leases),
        cmocka_unit_test(test_kernels),
    };
    pool_params params = {.struct_size = sizeof(params)};

    if (argc > 1)
        device_text = argv[1];
    params.devices = device_text;
    if (pool_create(&pool, &params)) {
        printf("no device \"%s\": %s\n", device_text, pool_last_error()->message);
        return strncmp(device_text, "sim", 3) ? 77 : 1;
    }
    assert_ok(pool_destroy(&pool));
    return cmocka_run_group_tests_name("graph operations", tests, open_all, close_all);
}
