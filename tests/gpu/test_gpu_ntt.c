/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large transforms on a real device: outputs at random indices against the polynomial evaluated
 * there, and the inverse. Exit 77 without a device.
 */
#include "support/ntt.h"
#include "support/random.h"

static device_pool *pool;
static pool_device *device;

enum { POINTS = 4 };

static uint64_t reverse(uint64_t x, uint32_t bits)
{
    uint64_t reversed = 0;

    for (uint32_t i = 0; i < bits; i++)
        reversed |= (x >> i & 1) << (bits - 1 - i);
    return reversed;
}

/* g^coset w^k in standard form. */
static void point_of(const pool_ntt_domain *domain, int coset, uint64_t k, uint8_t *point)
{
    const pool_field *field = domain->field;
    uint64_t x[FIELD_MAX_LIMBS] = {0};

    field_pow(field, x, domain->root[POOL_NTT_FORWARD], &k, 1);
    if (coset)
        field_mul(field, x, x, domain->coset[POOL_NTT_FORWARD]);
    field_from_montgomery(field, x, x);
    field_store(field, point, x);
}

static pool_span span_of(pool_buffer *buffer, uint64_t count)
{
    CUdeviceptr address = 0;

    assert_ok(pool_buffer_address(buffer, &address));
    return (pool_span){
        .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
}

static void check_outputs(const pool_ntt_params *params, const pool_span *in, pool_buffer *out)
{
    const pool_field *field = params->domain->field;
    uint32_t log_size = params->domain->log_size;
    pool_exec vector = {.struct_size = sizeof(vector), .device = device};
    uint8_t point[POOL_FIELD_MAX_BYTES], value[POOL_FIELD_MAX_BYTES], got[POOL_FIELD_MAX_BYTES];

    for (int i = 0; i < POINTS; i++) {
        uint64_t k = next_random() >> (64 - log_size);
        uint64_t place = params->order == POOL_NTT_NR ? reverse(k, log_size) : k;

        point_of(params->domain, params->coset, k, point);
        assert_ok(pool_vector_evaluate(field, &vector, in, point, value));
        assert_ok(pool_copy_to_host(got, out, place * field->bytes, field->bytes, NULL));
        assert_memory_equal(got, value, field->bytes);
    }
}

static void check_size(const char *name, uint32_t log_size, pool_ntt_order order, int coset)
{
    const pool_field *field = ntt_field(name);
    uint64_t count = (uint64_t)1 << log_size;
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = ntt_domain(field, log_size),
        .order = order,
        .coset = coset};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_exec vector = {.struct_size = sizeof(vector), .device = device};
    uint8_t *base = ntt_random(field, log_size, 1);
    uint8_t before[POOL_FIELD_MAX_BYTES], after[POOL_FIELD_MAX_BYTES];
    pool_buffer *buffers[2] = {NULL};

    for (int i = 0; i < 2; i++)
        assert_ok(pool_buffer_alloc(device, count * field->bytes, &buffers[i]));
    pool_span in = span_of(buffers[0], count), out = span_of(buffers[1], count);
    assert_ok(pool_vector_powers(field, &vector, base, &in));
    assert_ok(pool_ntt(&params, &exec, &in, &out));
    check_outputs(&params, &in, buffers[1]);
    params.direction = POOL_NTT_INVERSE;
    params.order = order == POOL_NTT_NR ? POOL_NTT_RN : order;
    assert_ok(pool_ntt(&params, &exec, &out, &out));
    assert_ok(pool_vector_sub(field, &vector, &out, &in, &out));
    /* A difference of all zeros is 0 at any point, and another one hardly is. */
    memset(before, 0, sizeof(before));
    assert_ok(pool_vector_evaluate(field, &vector, &out, base, after));
    assert_memory_equal(before, after, field->bytes);
    for (int i = 0; i < 2; i++)
        assert_ok(pool_buffer_destroy(&buffers[i]));
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    free(base);
}

static void test_long_elements(void **state)
{
    (void)state;
    check_size("bn254_fr", 26, POOL_NTT_NN, 0);
    check_size("bls12_381_fr", 24, POOL_NTT_NR, 1);
    check_size("bls12_377_fq", 22, POOL_NTT_NN, 1);
    check_size("bw6_761_fq", 1, POOL_NTT_NN, 0);
}

static void test_short_elements(void **state)
{
    (void)state;
    check_size("goldilocks", 28, POOL_NTT_NN, 0);
    check_size("goldilocks", 27, POOL_NTT_NR, 1);
    check_size("babybear", 27, POOL_NTT_NN, 1);
    check_size("koalabear", 24, POOL_NTT_NR, 0);
}

static int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_elements), cmocka_unit_test(test_short_elements)};
    pool_params params = {.struct_size = sizeof(params), .devices = "0"};

    if (pool_create(&pool, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    assert_ok(pool_device_at(pool, 0, &device));
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
