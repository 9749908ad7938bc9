/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that transforms and vector functions refuse, without writing anything. */
#include "support/ntt.h"
#include "support/pool.h"

#include <time.h>

static pool_device *other;

static void refuse_domain(pool_ntt_domain_params params, pool_status status, const char *text)
{
    pool_ntt_domain *domain = NULL;

    params.struct_size = sizeof(params);
    assert_int_equal(pool_ntt_domain_create(&params, &domain), status);
    assert_says(text);
    assert_null(domain);
}

static void test_domains(void **state)
{
    const pool_field *baby = ntt_field("babybear"), *bls = ntt_field("bls12_381_fr");
    pool_ntt_domain_params none = {.field = baby};
    pool_ntt_domain *domain = NULL;

    (void)state;
    none.struct_size = 0;
    assert_int_equal(pool_ntt_domain_create(&none, &domain), POOL_ERR_INVALID_ARGUMENT);
    refuse_domain((pool_ntt_domain_params){.log_size = 4}, POOL_ERR_INVALID_ARGUMENT, "field");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 28},
        POOL_ERR_INVALID_ARGUMENT, "value 28 for `log_size`; it must be 0 to 27");
    refuse_domain((pool_ntt_domain_params){.field = ntt_field("stark252"), .log_size = 41},
        POOL_ERR_INVALID_ARGUMENT, "value 41 for `log_size`; it must be 0 to 40");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 4, .coset = "0"},
        POOL_ERR_INVALID_ARGUMENT, "coset generator is 0");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 4, .root = "1"},
        POOL_ERR_INVALID_ARGUMENT, "order 2^4");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 0, .root = "2013265920"},
        POOL_ERR_INVALID_ARGUMENT, "order 2^0");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 2, .root = "2013265920"},
        POOL_ERR_INVALID_ARGUMENT, "order 2^2");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 4, .root = "2013265921"},
        POOL_ERR_BAD_DATA, "");
    refuse_domain((pool_ntt_domain_params){.field = bls, .log_size = 4, .convention = "nobody"},
        POOL_ERR_NOT_FOUND, "nobody");
    refuse_domain(
        (pool_ntt_domain_params){.field = bls, .log_size = 4, .convention = "icicle", .root = "1"},
        POOL_ERR_INVALID_ARGUMENT, "one of them has to be NULL");
    refuse_domain((pool_ntt_domain_params){.field = baby, .log_size = 4, .reserved = 1},
        POOL_ERR_INVALID_ARGUMENT, "reserved");
}

/* Of the domain of 2^3 points on the coset of 7 the one of 2^2 points is on that of 7^2. */
static void test_power(pool_ntt_domain *domain)
{
    pool_ntt_domain *power = NULL, *again = NULL, *four = ntt_domain(ntt_field("bls12_381_fr"), 2);
    uint8_t root[32], expected[32], coset[32], square[32] = {49};

    assert_ok(pool_ntt_domain_power(domain, 2, &power));
    assert_int_equal(pool_ntt_domain_log_size(power), 2);
    assert_ok(pool_ntt_domain_root(power, POOL_FORM_STANDARD, root));
    assert_ok(pool_ntt_domain_root(four, POOL_FORM_STANDARD, expected));
    assert_memory_equal(root, expected, 32);
    assert_ok(pool_ntt_domain_coset(power, POOL_FORM_STANDARD, coset));
    assert_memory_equal(coset, square, 32);
    assert_ok(pool_ntt_domain_power(domain, 2, &again));
    assert_ptr_equal(power, again);
    assert_ok(pool_ntt_domain_power(domain, 3, &again));
    assert_ptr_equal(again, domain);
    again = power;
    assert_status(pool_ntt_domain_power(domain, 4, &power), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_ntt_domain_power(NULL, 2, &power), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_ntt_domain_power(domain, 2, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ptr_equal(power, again);
    assert_ok(pool_ntt_domain_destroy(&four));
    four = ntt_domain(ntt_field("bls12_377_fr"), POOL_NTT_MAX_LOG_SIZE); /* the largest */
    assert_ok(pool_ntt_domain_power(four, POOL_NTT_MAX_LOG_SIZE, &power));
    assert_ptr_equal(power, four);
    assert_ok(pool_ntt_domain_power(four, POOL_NTT_MAX_LOG_SIZE - 1, &power));
    assert_int_equal(pool_ntt_domain_log_size(power), POOL_NTT_MAX_LOG_SIZE - 1);
    assert_ok(pool_ntt_domain_destroy(&four));
}

/* A root of custom choice and another system's convention are used. */
static void test_roots(void **state)
{
    const pool_field *bls = ntt_field("bls12_381_fr");
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = bls, .log_size = 3, .convention = "icicle"};
    pool_ntt_params run = {.struct_size = sizeof(run)};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t own[32], theirs[32], coset[32];
    pool_ntt_domain *domain = ntt_domain(bls, 3);

    (void)state;
    assert_ok(pool_ntt_domain_root(domain, POOL_FORM_STANDARD, own));
    assert_ok(pool_ntt_domain_coset(domain, POOL_FORM_STANDARD, coset));
    assert_int_equal(coset[0], 7);
    assert_int_equal(pool_ntt_domain_log_size(domain), 3);
    assert_ptr_equal(pool_ntt_domain_field(domain), bls);
    test_power(domain);
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_null(domain);
    params.coset = "0x1234567";
    assert_ok(pool_ntt_domain_create(&params, &run.domain));
    assert_ok(pool_ntt_domain_root(run.domain, POOL_FORM_STANDARD, theirs));
    assert_memory_not_equal(own, theirs, 32);
    run.coset = 1;
    ntt_compare(&run, &exec, 3);
    pool_ntt_domain *second = pool_ntt_domain_retain(run.domain);
    assert_ok(pool_ntt_domain_destroy(&run.domain));
    run.domain = second;
    ntt_compare(&run, &exec, 4);
    assert_ok(pool_ntt_domain_destroy(&run.domain));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct {
    pool_ntt_params params;
    pool_exec exec;
    pool_span in, out;
    uint8_t data[4096], result[4096], untouched[4096];
} call;

static void refuse(pool_status status, const char *text)
{
    assert_int_equal(pool_ntt(&call.params, &call.exec, &call.in, &call.out), status);
    assert_int_equal(pool_last_error()->status, status);
    assert_says(text);
    assert_memory_equal(call.result, call.untouched, sizeof(call.result));
}

static void fresh(pool_ntt_domain *domain)
{
    call.params =
        (pool_ntt_params){.struct_size = sizeof(call.params), .domain = domain, .batch = 2};
    call.exec = exec_here();
    call.in = ntt_host(call.data, 32);
    call.out = ntt_host(call.result, 32);
}

static void test_calls(void **state)
{
    CUdeviceptr address = 0;
    pool_ntt_domain *domain = ntt_domain(ntt_field("babybear"), 4);
    pool_stream *wrong = NULL;
    pool_buffer *small = NULL;

    (void)state;
#define REFUSE(change, status, text)                                                               \
    do {                                                                                           \
        fresh(domain);                                                                             \
        change;                                                                                    \
        refuse((status), (text));                                                                  \
    } while (0)
#define REFUSE_ARGUMENT(change, text) REFUSE(change, POOL_ERR_INVALID_ARGUMENT, text)
    REFUSE_ARGUMENT(call.params.struct_size = 0, "struct_size");
    REFUSE_ARGUMENT(call.params.domain = NULL, "domain");
    REFUSE_ARGUMENT(call.params.direction = (pool_ntt_direction)2,
        "value 2 for `direction`; it must be 0 to 1");
    REFUSE_ARGUMENT(
        call.params.order = (pool_ntt_order)4, "value 4 for `order`; it must be 0 to 3");
    REFUSE_ARGUMENT(call.params.layout = (pool_ntt_layout)2, "value 2 for `layout`");
    REFUSE_ARGUMENT(call.params.coset = 2, "value 2 for `coset`");
    REFUSE_ARGUMENT(call.exec.is_async = -1, "value -1 for `is_async`");
    REFUSE_ARGUMENT(call.exec.checks = POOL_CHECK_ON_CURVE,
        "value 0x2 for `checks`; the supported flags are POOL_CHECK_CANONICAL");
    REFUSE_ARGUMENT(call.in.count = 31, "has 31 elements");
    REFUSE_ARGUMENT(call.out.count = 33, "has 33 elements");
    REFUSE_ARGUMENT(call.params.batch = 0, "1 transforms of 2^4 points have 16");
    REFUSE_ARGUMENT(call.params.batch = UINT64_MAX / 8, "too many");
    REFUSE_ARGUMENT(
        (call.params.batch = (uint64_t)1 << 59, call.in.count = call.out.count = (uint64_t)1 << 63),
        "too many");
    REFUSE_ARGUMENT(call.in.stride = 3, "stride of 3");
    REFUSE_ARGUMENT(call.in.stride = 2, "stride of 2");
    REFUSE_ARGUMENT(call.out.stride = 6, "stride of 6");
    REFUSE_ARGUMENT(call.out.stride = UINT64_MAX - 3, "too many");
    REFUSE_ARGUMENT(call.in.form = (pool_form)2, "unsupported value 2 for `form`");
    REFUSE_ARGUMENT(call.out.space = (pool_memory_space)2, "unsupported value 2 for `space`");
    REFUSE_ARGUMENT(call.in.data = NULL, "the data of the input must not be NULL");
    REFUSE_ARGUMENT(call.in.data = call.result + 4, "overlap");
    REFUSE_ARGUMENT((call.in.data = call.result, call.in.stride = 8), "overlap");
    REFUSE_ARGUMENT(call.in.space = POOL_MEMORY_DEVICE, "not device memory");
    REFUSE_ARGUMENT(
        (call.in.space = POOL_MEMORY_DEVICE, call.in.data = call.data + 2), "aligned to 4 bytes");
    assert_int_equal(
        pool_ntt(&call.params, &call.exec, NULL, &call.out), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_ntt(&call.params, &call.exec, &call.in, NULL), POOL_ERR_INVALID_ARGUMENT);
    REFUSE(call.exec.device = NULL, POOL_ERR_NOT_BOUND, "bound");
    assert_ok(pool_stream_create(other, NULL, &wrong));
    REFUSE(call.exec.stream = wrong, POOL_ERR_WRONG_DEVICE, "");
    assert_ok(pool_stream_destroy(&wrong));
    assert_ok(pool_ntt_domain_destroy(&domain));
    domain = ntt_domain(ntt_field("babybear"), 4);
    /* A workspace is refused for what it is, also where the transform would do without. */
    assert_ok(pool_buffer_alloc(other, 4096, &small));
    REFUSE(call.exec.workspace = small, POOL_ERR_WRONG_DEVICE, "memory of device 1, not of 0");
    assert_ok(pool_buffer_destroy(&small));
    assert_ok(pool_buffer_alloc(device, 4, &small));
    REFUSE_ARGUMENT(call.exec.workspace = small, "has 4 bytes; 128 are needed");
    assert_ok(pool_buffer_destroy(&small));
    assert_ok(pool_buffer_alloc(device, 1 << 20, &small));
    assert_ok(pool_buffer_address(small, &address));
    REFUSE_ARGUMENT((call.exec.workspace = small, call.in.space = POOL_MEMORY_DEVICE,
                        call.in.data = (void *)(uintptr_t)(address + 512)),
        "overlaps the input");
    REFUSE_ARGUMENT((call.exec.workspace = small, call.out.space = POOL_MEMORY_DEVICE,
                        call.out.data = (void *)(uintptr_t)(address + 512)),
        "overlaps the output");
    assert_ok(pool_buffer_destroy(&small));
    /* An element that is the modulus, in host and in strided device memory. */
    const uint32_t modulus = 0x78000001;
    memcpy(call.data + 17 * 4, &modulus, 4);
    REFUSE(call.exec.checks = POOL_CHECK_CANONICAL, POOL_ERR_BAD_DATA, "element 17");
    memset(call.data, 0, sizeof(call.data));
    fresh(domain);
    call.exec.checks = POOL_CHECK_CANONICAL;
    assert_ok(pool_ntt(&call.params, &call.exec, &call.in, &call.out));
    memcpy(call.result, call.untouched, sizeof(call.result));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

/* Without a device named it runs on the bound one. */
static void test_bound(void **state)
{
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(ntt_field("babybear"), 5)};
    pool_device *bound = NULL;

    (void)state;
    assert_ok(pool_bind(other));
    ntt_compare(&params, NULL, 8);
    assert_ok(pool_bound_device(pool, &bound));
    assert_ptr_equal(bound, other);
    assert_ok(pool_unbind(other));
    assert_ok(pool_ntt_warm_up(
        params.domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

static void test_vectors_refuse(void **state)
{
    const pool_field *field = ntt_field("babybear");
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint32_t data[16] = {0}, result[16] = {0}, number = 3, modulus = 0x78000001;
    pool_span a = ntt_host(data, 12), out = ntt_host(result, 12);

    (void)state;
    assert_int_equal(pool_vector_bit_reverse(field, &exec, &a, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_says("no power of two");
    assert_int_equal(
        pool_vector_transpose(field, &exec, 5, 2, &a, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(
        pool_vector_transpose(field, &exec, UINT64_MAX, 3, &a, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_vector_transpose(field, &exec, 4, 3, &a, &a), POOL_ERR_INVALID_ARGUMENT);
    out.count = 11;
    assert_int_equal(pool_vector_add(field, &exec, &a, &a, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_vector_scale(field, &exec, &modulus, &a, &a), POOL_ERR_BAD_DATA);
    assert_int_equal(
        pool_vector_evaluate(field, &exec, &a, NULL, &number), POOL_ERR_INVALID_ARGUMENT);
    exec.is_async = 2;
    assert_int_equal(pool_vector_add(field, &exec, &a, &a, &a), POOL_ERR_INVALID_ARGUMENT);
    exec.is_async = 0;
    assert_int_equal(pool_vector_add(NULL, &exec, &a, &a, &a), POOL_ERR_INVALID_ARGUMENT);
    assert_says("pool_vector_add: field must not be NULL");
}

static int open_both(void **state)
{
    device_text = "sim:2";
    return open_pool(state) || pool_device_at(pool, 1, &other);
}

static void pause_stream(void *user)
{
    const struct timespec pause = {.tv_nsec = 20000000};

    (void)user;
    nanosleep(&pause, NULL);
}

/* A call that fails once work is enqueued has ended on the device when it returns: nothing reads or
 * writes the caller's pinned memory any more. */
static void test_failures_wait(void **state)
{
    enum { LOG_SIZE = 5, BATCH = 8, COUNT = BATCH << LOG_SIZE };
    static const char *const rules[] = {"cuMemcpyDtoHAsync@1=801", "cuMemcpyHtoDAsync@3=801",
        "cuLaunchKernel*@2=801", "cuEventRecord@3=801", "cuStreamWaitEvent@5=801"};
    const pool_field *field = ntt_field("babybear");
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(field, LOG_SIZE), .batch = BATCH};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .is_async = 1};
    pool_pinned *pinned = NULL;
    int failures = 0;

    (void)state;
    assert_ok(pool_stream_create(device, NULL, &exec.stream));
    assert_ok(pool_pinned_create(device, COUNT * 4, 0, &pinned));
    memset(pool_pinned_data(pinned), 0, COUNT * 4);
    pool_span span = {.data = pool_pinned_data(pinned), .count = COUNT};
    assert_ok(
        pool_ntt(&params, &exec, &span, &span)); /* kernels and tables are there from here on */
    assert_ok(pool_vector_mul(field, &exec, &span, &span, &span));
    for (size_t i = 0; i < 3 * sizeof(rules) / sizeof(rules[0]); i++) {
        pool_status status;

        /* In chunks on streams of their own: three slots of two rows. */
        exec.memory_limit = i % 3 == 1 ? 3 * 256 : 0;
        assert_ok(pool_stream_synchronize(exec.stream));
        assert_ok(pool_stream_call(exec.stream, pause_stream, NULL));
        assert_ok(pool_sim_set_faults(rules[i / 3]));
        status = i % 3 == 2 ? pool_vector_mul(field, &exec, &span, &span, &span)
                            : pool_ntt(&params, &exec, &span, &span);
        assert_ok(pool_sim_set_faults(""));
        failures += status != POOL_OK;
        if (status)
            assert_ok(pool_stream_query(exec.stream));
    }
    assert_true(failures > 6);
    assert_ok(pool_stream_synchronize(exec.stream));
    assert_ok(pool_pinned_destroy(&pinned));
    assert_ok(pool_stream_destroy(&exec.stream));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_domains), cmocka_unit_test(test_roots),
        cmocka_unit_test(test_calls), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_vectors_refuse), cmocka_unit_test(test_failures_wait)};

    return cmocka_run_group_tests(tests, open_both, close_pool);
}
