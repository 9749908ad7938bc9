/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors on simulated devices against the host's arithmetic: forms, memory spaces and strides in
 * turn, and sizes near those of blocks.
 */
#include "support/ntt.h"

#include "support/pool.h"
#include "zk/vector/vector.h"

enum { MOST = 1500 };

/* A vector with a form, a memory space and a stride. */
struct given {
    pool_span span;
    pool_buffer *buffer;
    uint8_t *host;
    uint64_t bytes;
};

static const pool_field *field;

/* Montgomery limbs of element i of a packed standard array. */
static void limbs_of(const uint8_t *data, uint64_t i, uint64_t *x)
{
    memset(x, 0, FIELD_MAX_LIMBS * sizeof(*x));
    field_load(field, x, data + i * field->bytes);
    field_to_montgomery(field, x, x);
}

static void put(uint8_t *data, uint64_t i, const uint64_t *x)
{
    uint64_t standard[FIELD_MAX_LIMBS];

    field_from_montgomery(field, standard, x);
    field_store(field, data + i * field->bytes, standard);
}

static struct given give(const uint8_t *data, uint64_t count, uint32_t way)
{
    struct given given = {0};
    uint64_t stride = way >> 2 & 1 ? field->bytes + 8u : field->bytes;

    given.span = (pool_span){.count = count,
        .stride = way >> 2 & 1 ? stride : 0,
        .form = (pool_form)(way & 1),
        .space = (pool_memory_space)(way >> 1 & 1)};
    given.bytes = count * stride;
    given.host = calloc(1, given.bytes + 1);
    for (uint64_t i = 0; data && i < count; i++) {
        if (given.span.form == POOL_FORM_MONTGOMERY)
            assert_ok(pool_field_to_montgomery(
                field, data + i * field->bytes, 1, given.host + i * stride));
        else
            memcpy(given.host + i * stride, data + i * field->bytes, field->bytes);
    }
    given.span.data = given.host;
    if (given.span.space == POOL_MEMORY_DEVICE) {
        CUdeviceptr address = 0;

        assert_ok(pool_buffer_from_host(device, given.host, given.bytes, &given.buffer));
        assert_ok(pool_buffer_address(given.buffer, &address));
        given.span.data = (void *)(uintptr_t)address;
    }
    return given;
}

static void take(struct given *given, const uint8_t *wanted)
{
    uint64_t stride = given->span.stride ? given->span.stride : field->bytes;
    uint8_t value[POOL_FIELD_MAX_BYTES];

    if (given->buffer)
        assert_ok(pool_copy_to_host(given->host, given->buffer, 0, given->bytes, NULL));
    for (uint64_t i = 0; wanted && i < given->span.count; i++) {
        memcpy(value, given->host + i * stride, field->bytes);
        if (given->span.form == POOL_FORM_MONTGOMERY)
            assert_ok(pool_field_from_montgomery(field, given->host + i * stride, 1, value));
        assert_memory_equal(value, wanted + i * field->bytes, field->bytes);
    }
    assert_ok(pool_buffer_destroy(&given->buffer));
    free(given->host);
}

static uint64_t memory_limit; /* 0: none */

typedef void (*host_op)(const pool_field *, uint64_t *, const uint64_t *, const uint64_t *);
typedef pool_status (*device_op)(
    const pool_field *, const pool_exec *, const pool_span *, const pool_span *, const pool_span *);

static void check_binary(device_op run, host_op plain, uint64_t count, uint32_t way)
{
    const pool_exec exec = exec_within(memory_limit);
    uint8_t *a = ntt_random(field, way, count), *b = ntt_random(field, way + 1, count);
    uint8_t *wanted = malloc(count * field->bytes + 1);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];

        limbs_of(a, i, x);
        limbs_of(b, i, y);
        plain(field, x, x, y);
        put(wanted, i, x);
    }
    struct given first = give(a, count, way), second = give(b, count, way >> 3),
                 out = give(NULL, count, way >> 6);
    assert_ok(run(field, &exec, &first.span, &second.span, &out.span));
    take(&first, a);
    take(&second, b);
    take(&out, wanted);
    free(a);
    free(b);
    free(wanted);
}

static void test_sums_and_products(void **state)
{
    static const uint64_t sizes[] = {0, 1, 255, 257, 600};
    static const char *const names[] = {
        "bn254_fr", "goldilocks", "babybear", "mersenne31", "goldilocks_x2", "babybear_x4"};

    (void)state;
    for (size_t f = 0; f < 6; f++) {
        field = ntt_field(names[f]);
        if (f >= 3 && ntt_needs_compiler(names[f]))
            continue;
        for (uint32_t way = 0; way < 512; way += 29) {
            check_binary(pool_vector_add, field_add, sizes[way % 5], way);
            check_binary(pool_vector_sub, field_sub, sizes[way % 4], way);
            check_binary(pool_vector_mul, field_mul, sizes[(way + 1) % 5], way);
        }
    }
}

static void check_one(uint64_t count, uint32_t way)
{
    const pool_exec exec = exec_within(memory_limit);
    uint8_t *a = ntt_random(field, way, count), *wanted = malloc((count + 1) * field->bytes);
    uint8_t *scalar = ntt_random(field, 99, 1), *value = calloc(1, field->bytes);
    uint64_t x[FIELD_MAX_LIMBS], s[FIELD_MAX_LIMBS], power[FIELD_MAX_LIMBS],
        sum[FIELD_MAX_LIMBS] = {0};
    struct given in = give(a, count, way), out = give(NULL, count, way >> 3);

    /* scalar times vector */
    limbs_of(scalar, 0, s);
    for (uint64_t i = 0; i < count; i++) {
        limbs_of(a, i, x);
        field_mul(field, x, x, s);
        put(wanted, i, x);
    }
    assert_ok(pool_vector_scale(field, &exec, scalar, &in.span, &out.span));
    take(&out, wanted);
    /* value at a point */
    field_set_one(field, power);
    for (uint64_t i = 0; i < count; i++) {
        limbs_of(a, i, x);
        field_mul(field, x, x, power);
        field_add(field, sum, sum, x);
        field_mul(field, power, power, s);
    }
    put(wanted, 0, sum);
    assert_ok(pool_vector_evaluate(field, &exec, &in.span, scalar, value));
    assert_memory_equal(value, wanted, field->bytes);
    /* inverses, of zeros too */
    take(&in, a);
    for (uint64_t i = 0; i < count; i += 37)
        memset(a + i * field->bytes, 0, field->bytes);
    in = give(a, count, way);
    out = give(NULL, count, way >> 3);
    for (uint64_t i = 0; i < count; i++) {
        limbs_of(a, i, x);
        field_inverse(field, x, x);
        put(wanted, i, x);
    }
    assert_ok(pool_vector_inverse(field, &exec, &in.span, &out.span));
    take(&in, a);
    take(&out, wanted);
    /* powers */
    field_set_one(field, power);
    for (uint64_t i = 0; i < count; i++) {
        put(wanted, i, power);
        field_mul(field, power, power, s);
    }
    out = give(NULL, count, way >> 3);
    assert_ok(pool_vector_powers(field, &exec, scalar, &out.span));
    take(&out, wanted);
    free(a);
    free(wanted);
    free(scalar);
    free(value);
}

static void test_one_argument(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 300, MOST};
    static const char *const names[] = {
        "bls12_381_fr", "goldilocks", "koalabear", "goldilocks_x2", "koalabear_x4"};

    (void)state;
    for (size_t f = 0; f < 5; f++) {
        field = ntt_field(names[f]);
        if (f >= 2 && ntt_needs_compiler(names[f]))
            continue;
        for (uint32_t way = 0; way < 64; way += 3)
            check_one(sizes[(way / 3 + f) % 8], way);
    }
}

/* More elements than threads of an evaluation: every thread has several. */
static void test_many(void **state)
{
    (void)state;
    field = ntt_field("babybear");
    check_one(((uint64_t)1 << 17) + 12345, 2);
}

static void check_moves(uint64_t rows, uint64_t columns, uint32_t way)
{
    const pool_exec exec = exec_within(memory_limit);
    uint64_t count = rows * columns;
    uint8_t *a = ntt_random(field, way, count), *wanted = malloc(count * field->bytes + 1);
    struct given in = give(a, count, way & 6), out = give(NULL, count, way >> 3 & 6);

    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            memcpy(wanted + (c * rows + r) * field->bytes, a + (r * columns + c) * field->bytes,
                field->bytes);
    assert_ok(pool_vector_transpose(field, &exec, rows, columns, &in.span, &out.span));
    take(&out, wanted);
    take(&in, a);
    free(a);
    free(wanted);
}

static void test_moves(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear", "babybear_x4"};

    (void)state;
    for (size_t f = 0; f < 4; f++) {
        field = ntt_field(names[f]);
        if (f >= 3 && ntt_needs_compiler(names[f]))
            continue;
        check_moves(1, 1, 0);
        check_moves(17, 33, 9);
        check_moves(16, 16, 2);
        check_moves(1, 100, 18);
        check_moves(0, 5, 0);
        for (uint32_t log_count = 0; log_count <= 9; log_count += 3) {
            const pool_exec exec = exec_within(memory_limit);
            uint64_t count = (uint64_t)1 << log_count;
            uint8_t *a = ntt_random(field, 1, count), *wanted = malloc(count * field->bytes);
            struct given in = give(a, count, log_count & 6), out = give(NULL, count, 0);

            for (uint64_t i = 0; i < count; i++) {
                uint64_t j = 0;
                for (uint32_t bit = 0; bit < log_count; bit++)
                    j |= (i >> bit & 1) << (log_count - 1 - bit);
                memcpy(wanted + j * field->bytes, a + i * field->bytes, field->bytes);
            }
            assert_ok(pool_vector_bit_reverse(field, &exec, &in.span, &out.span));
            take(&out, wanted);
            assert_ok(pool_vector_bit_reverse(field, &exec, &in.span, &in.span)); /* in place */
            take(&in, wanted);
            free(a);
            free(wanted);
        }
    }
}

/* The same in chunks of some elements and of single ones. */
static void test_chunks(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear"};

    (void)state;
    for (size_t f = 0; f < 3; f++) {
        field = ntt_field(names[f]);
        for (uint32_t way = 0; way < 512; way += 29) {
            memory_limit = 1024 + (200 + way % 3 * 100) * (uint64_t)field->bytes;
            check_binary(pool_vector_add, field_add, 257, way);
            check_binary(pool_vector_mul, field_mul, 600, way);
        }
    }
    field = ntt_field("bn254_fr");
    for (uint32_t way = 0; way < 64; way += 5) {
        memory_limit = 512 + (65 + 70) * (uint64_t)field->bytes;
        check_one(300, way);
        memory_limit = 3 * 256 + 256; /* three operands and factors */
        check_binary(pool_vector_mul, field_mul, 5, way);
    }
    memory_limit = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_and_products),
        cmocka_unit_test(test_one_argument), cmocka_unit_test(test_many),
        cmocka_unit_test(test_moves), cmocka_unit_test(test_chunks)};

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
