/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pool_exec says is what happens: memory limits from all that is wanted down to where not even
 * the smallest chunk fits, progress, cancellation, warm-up, members that an operation has no use
 * for. On simulated devices unless an argument names others. MSM has tests of its own.
 */
#include "support/assert.h"
#include "support/ntt.h"
#include "support/pool.h"

#include "zk/vector/vector.h"

enum { LOG_SIZE = 6, BATCH = 12, COUNT = BATCH << LOG_SIZE };

static const pool_field *field;

static uint64_t memory_used(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info.used_bytes;
}

static uint64_t memory_high(void)
{
    pool_memory_info info = {.struct_size = sizeof(info)};

    assert_ok(pool_memory_get_info(device, &info));
    return info.used_high_water_bytes;
}

static bool is_simulated(void)
{
    return strncmp(device_text, "sim", 3) == 0;
}

/* ---- memory limits --------------------------------------------------------------------------- */

/* A call with this limit; its results are compared by the caller. */
typedef pool_status (*limited_call)(const pool_exec *exec, void *results);

/*
 * Halves the limit until the call fails, which it does with POOL_ERR_OUT_OF_DEVICE_MEMORY. Until
 * then results are those of the call without limit. Returns how often it fitted.
 */
static int check_limits(limited_call call, uint64_t start, size_t result_bytes, uint32_t checks)
{
    uint8_t *wanted = calloc(1, result_bytes), *got = malloc(result_bytes);
    pool_exec exec = exec_here();
    uint64_t before;
    int fitted = 0;

    exec.checks = checks;
    assert_ok(call(&exec, wanted));
    before = memory_used();
    for (exec.memory_limit = start; exec.memory_limit; exec.memory_limit /= 2, fitted++) {
        pool_status status;

        memset(got, 0xa5, result_bytes);
        assert_ok(pool_memory_reset_high_water(device));
        status = call(&exec, got);
        assert_int_equal(memory_used(), before);
        if (status)
            assert_int_equal(status, POOL_ERR_OUT_OF_DEVICE_MEMORY);
        if (status) {
            assert_says("the smallest chunk needs");
            assert_says("`memory_limit` is");
            break;
        }
        assert_memory_equal(got, wanted, result_bytes);
        assert_true(memory_high() - before <= exec.memory_limit);
    }
    assert_true(exec.memory_limit > 0);
    free(wanted);
    free(got);
    return fitted;
}

static struct {
    pool_ntt_params params;
    uint8_t *data;
    uint64_t stride; /* of the input */
} transform;

static pool_status transform_batch(const pool_exec *exec, void *results)
{
    pool_span in = {.data = transform.data, .count = COUNT, .stride = transform.stride};
    pool_span out = ntt_host(results, COUNT);

    return pool_ntt(&transform.params, exec, &in, &out);
}

static void test_ntt_limits(void **state)
{
    uint64_t bytes = (uint64_t)COUNT * field->bytes;

    (void)state;
    transform.params = (pool_ntt_params){.struct_size = sizeof(transform.params),
        .domain = ntt_domain(field, LOG_SIZE),
        .batch = BATCH};
    transform.data = ntt_random(field, 3, 2 * COUNT);
    /* Rows are chunked: 12 of them fit once, one fits when the limit is about a twelfth. */
    for (int order = 0; order < 4; order++) {
        transform.params.order = (pool_ntt_order)order;
        assert_true(check_limits(transform_batch, 4 * bytes, bytes, POOL_CHECK_NONE) >= 5);
        assert_true(check_limits(transform_batch, 4 * bytes, bytes, POOL_CHECK_CANONICAL) >= 5);
    }
    /* Columns and strided rows are not. */
    transform.params.layout = POOL_NTT_COLUMNS;
    assert_between(check_limits(transform_batch, 4 * bytes, bytes, POOL_CHECK_NONE), 1, 3);
    transform.params.layout = POOL_NTT_ROWS;
    transform.stride = 2 * field->bytes;
    assert_between(check_limits(transform_batch, 8 * bytes, bytes, POOL_CHECK_NONE), 1, 3);
    transform.stride = 0;
    assert_ok(pool_ntt_domain_destroy(&transform.params.domain));
    free(transform.data);
}

/* A workspace is not part of what the call allocates. */
static void test_ntt_workspace(void **state)
{
    uint64_t bytes = (uint64_t)COUNT * field->bytes, needed = 0;
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(field, LOG_SIZE),
        .order = POOL_NTT_NN,
        .batch = BATCH};
    pool_exec exec = exec_here();
    uint8_t *data = ntt_random(field, 3, COUNT);
    pool_span span = ntt_host(data, COUNT);

    (void)state;
    assert_ok(pool_ntt_workspace(&params, &exec, &span, &span, &needed));
    assert_int_equal(needed, bytes);
    /* A large one takes everything, */
    assert_ok(pool_buffer_alloc(device, needed, &exec.workspace));
    assert_ok(pool_memory_reset_high_water(device));
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    assert_int_equal(memory_high(), memory_used());
    assert_ok(pool_ntt_workspace(&params, &exec, &span, &span, &needed));
    assert_int_equal(needed, 0);
    assert_ok(pool_buffer_destroy(&exec.workspace));
    /* one that is too small for all elements is refused, whatever the plan needs. */
    assert_ok(pool_buffer_alloc(device, bytes - 4, &exec.workspace));
    assert_int_equal(pool_ntt(&params, &exec, &span, &span), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy(&exec.workspace));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(data);
}

enum { VECTOR = 700 };

static struct {
    uint8_t *a, *b;
    pool_buffer *buffer; /* a copy of a, or NULL */
    uint64_t stride;
    uint32_t scalar[FIELD_MAX_WORDS];
} vectors;

static pool_span vector_a(void)
{
    pool_span span = {.data = vectors.a, .count = VECTOR, .stride = vectors.stride};
    CUdeviceptr address = 0;

    if (vectors.buffer) {
        assert_ok(pool_buffer_address(vectors.buffer, &address));
        span.data = (void *)(uintptr_t)address;
        span.space = POOL_MEMORY_DEVICE;
    }
    return span;
}

static pool_status vector_multiply(const pool_exec *exec, void *results)
{
    pool_span a = vector_a(), b = ntt_host(vectors.b, VECTOR), out = ntt_host(results, VECTOR);

    return pool_vector_mul(field, exec, &a, &b, &out);
}

static pool_status vector_square(const pool_exec *exec, void *results)
{
    pool_span a = vector_a(), out = ntt_host(results, VECTOR);

    return pool_vector_mul(field, exec, &a, &a, &out);
}

static pool_status vector_scale(const pool_exec *exec, void *results)
{
    pool_span a = vector_a(), out = {.data = results, .count = VECTOR, .form = 1};

    return pool_vector_scale(field, exec, vectors.scalar, &a, &out);
}

static pool_status vector_invert(const pool_exec *exec, void *results)
{
    pool_span a = vector_a(), out = ntt_host(results, VECTOR);

    return pool_vector_inverse(field, exec, &a, &out);
}

static pool_status vector_powers(const pool_exec *exec, void *results)
{
    pool_span out = ntt_host(results, VECTOR);

    return pool_vector_powers(field, exec, vectors.scalar, &out);
}

static pool_status vector_evaluate(const pool_exec *exec, void *results)
{
    pool_span a = vector_a();

    return pool_vector_evaluate(field, exec, &a, vectors.scalar, results);
}

static pool_status vector_transpose(const pool_exec *exec, void *results)
{
    pool_span a = vector_a(), out = ntt_host(results, VECTOR);

    return pool_vector_transpose(field, exec, 7, VECTOR / 7, &a, &out);
}

static void test_vector_limits(void **state)
{
    static const struct {
        limited_call call;
        int least; /* limits that fit: 131072, 65536, … bytes */
    } calls[] = {{vector_multiply, 8}, {vector_square, 8}, {vector_scale, 8}, {vector_invert, 8},
        {vector_powers, 4}, {vector_evaluate, 4}, {vector_transpose, 1}};
    uint64_t bytes = (uint64_t)VECTOR * field->bytes;

    (void)state;
    vectors.a = ntt_random(field, 1, 2 * VECTOR);
    vectors.b = ntt_random(field, 2, VECTOR);
    vectors.scalar[0] = 3;
    for (int way = 0; way < 3; way++) {
        vectors.stride = way == 1 ? 2 * field->bytes : 0;
        if (way == 2)
            assert_ok(pool_buffer_from_host(device, vectors.a, bytes, &vectors.buffer));
        for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
            bool is_one = calls[i].call == vector_evaluate;
            uint32_t checks =
                calls[i].call == vector_powers ? POOL_CHECK_NONE : POOL_CHECK_CANONICAL;

            if (way && calls[i].call == vector_invert)
                continue; /* its kernel is the slowest, its operands are read like the others' */
            for (int check = 0; check < 2; check++)
                assert_true(check_limits(calls[i].call, 131072, is_one ? field->bytes : bytes,
                                check ? checks : POOL_CHECK_NONE) >= calls[i].least);
        }
    }
    assert_ok(pool_buffer_destroy(&vectors.buffer));
    free(vectors.a);
    free(vectors.b);
}

static pool_poseidon *set;

enum { HASHES = 90, LEAVES = 41 };

static pool_status hash_items(const pool_exec *exec, void *results)
{
    const pool_span in = {.data = vectors.a, .count = HASHES, .stride = vectors.stride};
    const pool_span out = {.data = results, .count = HASHES};

    return pool_poseidon_hash(set, exec, &in, 2, &out);
}

static pool_status permute_items(const pool_exec *exec, void *results)
{
    const pool_span in = {.data = vectors.a, .count = HASHES};
    const pool_span out = {.data = results, .count = HASHES};

    return pool_poseidon_permute(set, exec, &in, &out);
}

static pool_status build_tree(const pool_exec *exec, void *results)
{
    static const pool_merkle_params params = {
        .struct_size = sizeof(params), .arity = 2, .leaf_elements = 7};
    const pool_span in = {.data = vectors.a, .count = LEAVES};
    const pool_span out = {.data = results, .count = 41 + 21 + 11 + 6 + 3 + 2 + 1};

    return pool_poseidon_merkle_build(set, exec, &params, &in, &out);
}

static void test_poseidon_limits(void **state)
{
    uint64_t bytes = field->bytes;

    (void)state;
    vectors.a = ntt_random(field, 1, 7 * HASHES);
    for (uint32_t checks = 0; checks < 2; checks++) { /* POOL_CHECK_CANONICAL */
        vectors.stride = 0;
        assert_true(check_limits(hash_items, 32768, HASHES * bytes, checks) >= 6);
        assert_true(check_limits(permute_items, 32768, 3 * HASHES * bytes, checks) >= 6);
        vectors.stride = 3 * bytes;
        assert_true(check_limits(hash_items, 32768, HASHES * bytes, checks) >= 6);
        /* The levels, 2816 bytes, are not divided. */
        assert_int_equal(check_limits(build_tree, 32768, 85 * bytes, checks), 4);
    }
    free(vectors.a);
}

/* The message of a refusal names the limit that works. */
static void test_poseidon_smallest_limit(void **state)
{
    uint8_t *results = calloc(85, field->bytes);
    pool_exec exec = exec_within(1);
    /* 85 digests and two leaves of 7 elements, rounded up to multiples of 256 bytes */
    uint64_t smallest = (85 * (uint64_t)field->bytes + 255) / 256 * 256 +
                        (2 * 7 * (uint64_t)field->bytes + 255) / 256 * 256;
    char text[64];

    (void)state;
    vectors.a = ntt_random(field, 1, 7 * LEAVES);
    snprintf(
        text, sizeof(text), "the smallest chunk needs %llu bytes", (unsigned long long)smallest);
    assert_status(build_tree(&exec, results), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says(text);
    exec.memory_limit = smallest - 1;
    assert_status(build_tree(&exec, results), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says(text);
    exec.memory_limit = smallest;
    assert_ok(build_tree(&exec, results));
    free(vectors.a);
    free(results);
}

/* ---- progress and cancellation --------------------------------------------------------------- */

struct watch {
    pool_cancel *cancel;
    int cancel_at; /* call of progress; 0: never */
    int calls;
    uint64_t done, total;
};

static void watch_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *watch = user;

    assert_true(done > watch->done && done <= total);
    watch->done = done;
    watch->total = total;
    if (++watch->calls == watch->cancel_at)
        pool_cancel_request(watch->cancel);
}

/* In one chunk, or with a limit in several. */
static void check_watched(limited_call call, uint64_t total, uint64_t limit)
{
    uint8_t *results = calloc(COUNT + VECTOR, field->bytes);

    for (int is_async = 0; is_async < 2; is_async++) {
        struct watch watch = {.cancel = NULL};
        pool_exec exec = exec_within(limit);
        pool_stream *stream = NULL;

        exec.is_async = is_async;
        exec.progress = watch_progress;
        exec.user = &watch;
        assert_ok(call(&exec, results));
        assert_true(limit ? watch.calls > 1 : watch.calls == 1);
        assert_int_equal(watch.done, total);
        assert_int_equal(watch.total, total);
        assert_ok(pool_cancel_create(&watch.cancel));
        exec.cancel = watch.cancel;
        watch.done = 0;
        watch.calls = 0;
        watch.cancel_at = 1;
        if (limit)
            assert_int_equal(call(&exec, results), POOL_ERR_CANCELLED);
        else
            assert_ok(call(&exec, results)); /* all is enqueued before it is reported */
        assert_int_equal(watch.calls, 1);
        /* Requested before: nothing is enqueued. */
        assert_int_equal(call(&exec, results), POOL_ERR_CANCELLED);
        assert_int_equal(watch.calls, 1);
        pool_cancel_destroy(&watch.cancel);
        assert_ok(pool_stream_default(device, &stream));
        assert_ok(pool_stream_synchronize(stream));
    }
    free(results);
}

static void test_watched(void **state)
{
    static const limited_call calls[] = {vector_multiply, vector_square, vector_scale,
        vector_invert, vector_powers, vector_evaluate};

    (void)state;
    transform.params = (pool_ntt_params){.struct_size = sizeof(transform.params),
        .domain = ntt_domain(field, LOG_SIZE),
        .batch = BATCH};
    transform.data = ntt_random(field, 3, COUNT);
    vectors.a = ntt_random(field, 1, VECTOR);
    vectors.b = ntt_random(field, 2, VECTOR);
    vectors.stride = 0;
    check_watched(transform_batch, COUNT, 0);
    check_watched(transform_batch, COUNT, (uint64_t)field->bytes << (LOG_SIZE + 1));
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        check_watched(calls[i], VECTOR, 0);
        check_watched(calls[i], VECTOR, 16384);
    }
    check_watched(vector_transpose, VECTOR, 0);
    assert_ok(pool_ntt_domain_destroy(&transform.params.domain));
    free(transform.data);
    free(vectors.a);
    free(vectors.b);
}

/* ---- defaults, refusals, warm-up ------------------------------------------------------------- */

/* NULL is the bound device, its default stream, and done when the call returns. */
static void test_defaults(void **state)
{
    uint8_t *data = ntt_random(field, 1, 4), *twice = calloc(4, field->bytes);
    uint8_t *wanted = calloc(4, field->bytes);
    pool_span a = ntt_host(data, 4), out = ntt_host(twice, 4), expected = ntt_host(wanted, 4);
    pool_exec exec = exec_here();

    (void)state;
    assert_int_equal(pool_vector_add(field, NULL, &a, &a, &out), POOL_ERR_NOT_BOUND);
    assert_ok(pool_bind(device));
    assert_ok(pool_vector_add(field, NULL, &a, &a, &out));
    assert_ok(pool_unbind(device));
    assert_ok(pool_vector_add(field, &exec, &a, &a, &expected));
    assert_memory_equal(twice, wanted, 4 * field->bytes);
    free(data);
    free(twice);
    free(wanted);
}

static pool_status permute(const pool_exec *exec, void *results)
{
    pool_span span = {.data = results, .count = 1};

    return pool_poseidon_permute(set, exec, &span, &span);
}

static void test_refusals(void **state)
{
    static const struct {
        limited_call call;
        uint32_t checks;
        bool has_host, has_workspace, has_limit;
    } calls[] = {
        {transform_batch, POOL_CHECK_CANONICAL, false, true, true},
        {vector_square, POOL_CHECK_CANONICAL, false, false, true},
        {permute, POOL_CHECK_CANONICAL, true, true, true},
    };
    uint8_t *results = calloc(COUNT, field->bytes);
    pool_buffer *buffer = NULL;

    (void)state;
    transform.params = (pool_ntt_params){.struct_size = sizeof(transform.params),
        .domain = ntt_domain(field, LOG_SIZE),
        .batch = BATCH};
    transform.data = ntt_random(field, 3, COUNT);
    vectors.a = ntt_random(field, 1, VECTOR);
    vectors.stride = 0;
    assert_ok(pool_buffer_alloc(device, 2 * COUNT * (uint64_t)field->bytes, &buffer));
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (uint32_t checks = 1; checks < 32; checks++) {
            pool_exec exec = exec_here();

            exec.checks = checks;
            assert_int_equal(calls[i].call(&exec, results),
                checks & ~calls[i].checks ? POOL_ERR_INVALID_ARGUMENT : POOL_OK);
            if (checks & ~calls[i].checks)
                assert_says("the supported flags are POOL_CHECK_CANONICAL");
        }
        pool_exec exec = {.struct_size = sizeof(exec), .on_host = 1};
        assert_int_equal(
            calls[i].call(&exec, results), calls[i].has_host ? POOL_OK : POOL_ERR_UNSUPPORTED);
        exec = exec_here();
        exec.memory_limit = UINT64_MAX;
        assert_int_equal(
            calls[i].call(&exec, results), calls[i].has_limit ? POOL_OK : POOL_ERR_UNSUPPORTED);
        exec = exec_here();
        exec.workspace = buffer;
        assert_int_equal(
            calls[i].call(&exec, results), calls[i].has_workspace ? POOL_OK : POOL_ERR_UNSUPPORTED);
        if (!calls[i].has_workspace)
            assert_says("`workspace` is not supported by this function");
        exec = exec_here();
        exec.reserved = 1;
        assert_int_equal(calls[i].call(&exec, results), POOL_ERR_INVALID_ARGUMENT);
        exec.reserved = 0;
        exec.is_async = 2;
        assert_int_equal(calls[i].call(&exec, results), POOL_ERR_INVALID_ARGUMENT);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_ntt_domain_destroy(&transform.params.domain));
    free(transform.data);
    free(vectors.a);
    free(results);
}

/* After warm-up no call loads a module, on a device of a separate pool. */
static void test_warm_up(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:1"};
    device_pool *fresh = NULL;
    pool_device *cold = NULL;
    pool_exec exec = {.struct_size = sizeof(exec)};
    uint8_t elements[5 * 32] = {0}, results[5 * 32];
    pool_span a = {.data = elements, .count = 2}, out = {.data = results, .count = 2};
    pool_span one = {.data = elements, .count = 1}, digest = {.data = results, .count = 1};

    (void)state;
    assert_int_equal(
        pool_vector_warm_up(NULL, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_poseidon_warm_up(
                         NULL, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}),
        POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_vector_warm_up(field, NULL), POOL_ERR_NOT_BOUND);
    assert_int_equal(pool_poseidon_warm_up(set, NULL), POOL_ERR_NOT_BOUND);
    assert_ok(pool_vector_warm_up(
        field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_poseidon_warm_up(
        set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    if (!is_simulated())
        return;
    assert_ok(pool_create(&fresh, &params));
    assert_ok(pool_device_at(fresh, 0, &cold));
    exec.device = cold;
    assert_ok(
        pool_vector_warm_up(field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = cold}));
    assert_ok(
        pool_poseidon_warm_up(set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = cold}));
    assert_ok(pool_sim_set_faults("cuModuleLoad*=999"));
    assert_ok(pool_vector_inverse(field, &exec, &a, &out));
    assert_ok(pool_vector_evaluate(field, &exec, &a, elements, results));
    assert_ok(pool_vector_powers(field, &exec, elements, &out));
    assert_ok(pool_poseidon_permute(set, &exec, &one, &digest));
    assert_ok(pool_poseidon_hash(set, &exec, &one, 2, &digest));
    assert_ok(pool_sim_set_faults(""));
    assert_ok(pool_destroy(&fresh));
}

static int open_all(void **state)
{
    field = pool_field_by_name("bn254_fr");
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
        cmocka_unit_test(test_ntt_limits),
        cmocka_unit_test(test_ntt_workspace),
        cmocka_unit_test(test_vector_limits),
        cmocka_unit_test(test_poseidon_limits),
        cmocka_unit_test(test_poseidon_smallest_limit),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_warm_up),
    };

    if (count > 1)
        device_text = arguments[1];
    if (!is_simulated()) { /* a real one: is there any? */
        pool_params params = {.struct_size = sizeof(params), .devices = device_text};

        if (pool_create(&pool, &params)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return 77;
        }
        pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_all, close_all);
}
