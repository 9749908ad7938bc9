/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms on devices, simulated ones unless `--device` names others, against the reference: all
 * orders, directions, cosets and layouts, for small sizes in all combinations and for larger ones
 * in turn, with passes of every kind.
 */
#include "support/ntt.h"
#include "support/pool.h"
#include "support/sample.h"

/* Every combination of a size, or every `step`th one. */
static void all_ways(const pool_field *field, uint32_t log_size, uint64_t batch, uint32_t step)
{
    pool_ntt_domain *domain = ntt_domain(field, log_size);
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain, .batch = batch};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    for (uint32_t way = log_size % step; way < 32; way += step) {
        params.order = (pool_ntt_order)(way & 3);
        params.direction = (pool_ntt_direction)(way >> 2 & 1);
        params.coset = way >> 3 & 1;
        params.layout = (pool_ntt_layout)(way >> 4 & 1);
        ntt_compare(&params, &exec, 1000 * log_size + way);
    }
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_small_sizes(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear"};

    (void)state;
    for (size_t f = 0; f < 3; f++)
        for (uint32_t log_size = 0; log_size <= 12; log_size++)
            all_ways(ntt_field(names[f]), log_size, log_size < 8 ? 3 : 1,
                f == 2 || log_size < 5 ? 1 : 7);
}

/* Neither one transform nor many, in either direction, make anything after a domain is warm. */
static void test_warm_up(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks"};

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        pool_ntt_domain *domain = ntt_domain(ntt_field(names[f]), 6);
        pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
        pool_exec exec = {.struct_size = sizeof(exec), .device = device};
        const struct ntt_tables *warm;

        assert_ok(pool_ntt_warm_up(
            domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
        warm = domain->tables;
        assert_non_null(warm);
        assert_ok(pool_ntt_warm_up(
            domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device}));
        for (uint32_t way = 0; way < 4; way++) {
            params.direction = (pool_ntt_direction)(way & 1);
            params.batch = way >> 1 ? 100 : 1;
            ntt_compare(&params, &exec, way);
        }
        assert_ptr_equal(domain->tables, warm);
        assert_ok(pool_ntt_domain_destroy(&domain));
    }
}

/* Tiny tiles and tables, so that small sizes take many passes and two-level tables. */
static void test_many_passes(void **state)
{
    static const struct ntt_tuning tunings[] = {
        {.log_radix = 2, .log_threads = 5, .min_tile_width = 2, .high_bits = 5, .blocks = 1},
        {.log_radix = 3, .log_threads = 5, .min_tile_width = 1, .high_bits = 4, .blocks = 1},
        {.log_radix = 1, .log_threads = 5, .min_tile_width = 3, .high_bits = 6, .blocks = 1},
        {.log_radix = 4, .log_threads = 5, .min_tile_width = 4, .high_bits = 12, .blocks = 1},
    };

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    for (size_t t = 0; t < 4; t++) {
        ntt_tuning = &tunings[t];
        for (uint32_t log_size = 8; log_size <= 13; log_size += 2 + (t == 2))
            if (is_sampled(log_size / 2 + t, 2))
                all_ways(ntt_field("babybear"), log_size, 1 + log_size % 3, 3);
        all_ways(ntt_field(t % 2 ? "goldilocks" : "bls12_381_fr"), 11, 2, 5);
    }
    ntt_tuning = NULL;
}

/* Every tuning of a plan, whichever the size and chip would choose. */
static void test_tunings(void **state)
{
    static const char *const names[] = {"bn254_fr", "bls12_381_fr", "goldilocks", "babybear"};
    const struct chip chip = {.multiprocessors = 1, .shared_bytes = 64 << 10};

    (void)state;
    for (size_t f = 0; f < 4; f++) {
        struct ntt_tuning tunings[NTT_TUNINGS];
        uint32_t count = ntt_tunings(ntt_field(names[f])->words, &chip, tunings);

        for (uint32_t t = 0; t < count; t++) {
            if (!is_sampled(t + f, 2))
                continue;
            ntt_tuning = &tunings[t];
            for (uint32_t log_size = 3; log_size <= 13; log_size += 5)
                all_ways(ntt_field(names[f]), log_size, log_size < 8 ? 5 : 1, 7);
        }
    }
    ntt_tuning = NULL;
}

/* Every field that has transforms, and one of a caller's own. */
static void test_fields(void **state)
{
    pool_field_params params = {
        .struct_size = sizeof(params), .modulus = "0xfffffffffffffffffffffffffffffc6600000001"};
    pool_field_params small = {.struct_size = sizeof(small), .modulus = "4293918721"};
    pool_field *own = NULL;

    (void)state;
    if (ntt_needs_compiler("every field"))
        return;
    for (size_t i = 0; i < pool_field_count(); i++) {
        const pool_field *field = pool_field_at(i);
        uint32_t log_size = field->two_adicity < 6 ? field->two_adicity : 6;

        if (field->words != 8 || i % 3 == 0)
            all_ways(field, log_size, 2, 9);
    }
    if (pool_field_create(&params, &own) == POOL_OK) {
        all_ways(own, own->two_adicity < 5 ? own->two_adicity : 5, 2, 9);
        pool_field_destroy(&own);
    }
    assert_ok(pool_field_create(&small, &own)); /* 32 bits, no spare one */
    all_ways(own, 9, 2, 9);
    pool_field_destroy(&own);
}

/*
 * Where roots are powers of two: every one that a root can be, in transforms of less than a
 * thread's points and more, on values at the ends of words, which carry and borrow all the way.
 */
static void test_shifts(void **state)
{
    static const uint64_t ends[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
        0x7fffffffffffffff, 0x8000000000000000, 0xfffffffe00000000, 0xfffffffeffffffff,
        0xffffffff00000000};
    const pool_field *field = ntt_field("goldilocks");
    const size_t count = sizeof(ends) / sizeof(ends[0]);
    uint64_t in[1 << 10], out[1 << 10], random = 1;

    (void)state;
    if (ntt_needs_compiler("other roots of goldilocks"))
        return;
    if (ntt_needs_compiler("other roots"))
        return;
    for (uint64_t odd = 1; odd < 32; odd += 2) {
        uint32_t log_size = 1 + (uint32_t)(odd * 7 % 10);
        uint64_t root[FIELD_MAX_LIMBS] = {0};
        char text[32];
        pool_ntt_domain_params domain = {
            .struct_size = sizeof(domain), .field = field, .log_size = log_size, .root = text};
        pool_ntt_params params = {.struct_size = sizeof(params)};
        pool_exec exec = {.struct_size = sizeof(exec), .device = device};
        pool_span from = ntt_host(in, (uint64_t)1 << log_size);
        pool_span to = ntt_host(out, (uint64_t)1 << log_size);

        field_root_of_unity(field, root, log_size);
        field_pow(field, root, root, &odd, 1);
        field_from_montgomery(field, root, root);
        snprintf(text, sizeof(text), "%llu", (unsigned long long)root[0]);
        assert_ok(pool_ntt_domain_create(&domain, &params.domain));
        for (int direction = 0; direction < 2; direction++) {
            params.direction = (pool_ntt_direction)direction;
            for (size_t i = 0; i < from.count; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                in[i] = ends[(random >> 33) % (odd % 8 == 1 ? 2 : count)];
            }
            uint8_t *wanted = ntt_expected(&params, in);
            assert_ok(pool_ntt(&params, &exec, &from, &to));
            ntt_assert_same(&params, (uint8_t *)out, wanted);
            free(wanted);
        }
        assert_ok(pool_ntt_domain_destroy(&params.domain));
    }
}

/* ---- forms, memory spaces, strides ----------------------------------------------------------- */

static void run_between(const pool_ntt_params *params, const pool_exec *exec, const uint8_t *in,
    const uint8_t *wanted, const pool_span *from_shape, const pool_span *to_shape, uint32_t skew)
{
    const pool_field *field = params->domain->field;
    uint64_t count = params->batch << params->domain->log_size;
    uint64_t in_stride = from_shape->stride ? from_shape->stride : field->bytes;
    uint64_t out_stride = to_shape->stride ? to_shape->stride : field->bytes;
    uint8_t *source = malloc(count * in_stride + skew), *result = malloc(count * out_stride + skew);
    uint8_t *value = malloc(field->bytes);
    pool_span from = *from_shape, to = *to_shape;
    pool_buffer *buffers[2] = {NULL};
    CUdeviceptr address[2];

    memset(source, 0x5a, count * in_stride + skew);
    memset(result, 0xa5, count * out_stride + skew);
    for (uint64_t i = 0; i < count; i++) {
        if (from.form == POOL_FORM_MONTGOMERY)
            assert_ok(pool_field_to_montgomery(field, in + i * field->bytes, 1, value));
        else
            memcpy(value, in + i * field->bytes, field->bytes);
        memcpy(source + skew + i * in_stride, value, field->bytes);
    }
    assert_ok(pool_buffer_from_host(device, source, count * in_stride + skew, &buffers[0]));
    assert_ok(pool_buffer_from_host(device, result, count * out_stride + skew, &buffers[1]));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_buffer_address(buffers[i], &address[i]));
    from.data =
        from.space == POOL_MEMORY_HOST ? source + skew : (void *)(uintptr_t)(address[0] + skew);
    to.data = to.space == POOL_MEMORY_HOST ? result + skew : (void *)(uintptr_t)(address[1] + skew);
    from.count = to.count = count;
    assert_ok(pool_ntt(params, exec, &from, &to));
    if (to.space == POOL_MEMORY_DEVICE)
        assert_ok(pool_copy_to_host(result, buffers[1], 0, count * out_stride + skew, NULL));
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *at = result + skew + i * out_stride;

        memcpy(value, at, field->bytes);
        if (to.form == POOL_FORM_MONTGOMERY)
            assert_ok(pool_field_from_montgomery(field, at, 1, value));
        assert_memory_equal(value, wanted + i * field->bytes, field->bytes);
        for (uint64_t gap = field->bytes; gap < out_stride && i + 1 < count; gap++)
            assert_int_equal(at[gap], 0xa5); /* the bytes in between are the caller's */
    }
    for (int i = 0; i < 2; i++)
        assert_ok(pool_buffer_destroy(&buffers[i]));
    free(source);
    free(result);
    free(value);
}

static void shapes(const char *name, uint32_t log_size, pool_ntt_direction direction, int coset)
{
    const pool_field *field = ntt_field(name);
    pool_ntt_domain *domain = ntt_domain(field, log_size);
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .direction = direction,
        .coset = coset,
        .batch = 2};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *in = ntt_random(field, 5, (uint64_t)2 << log_size);
    uint8_t *wanted = ntt_expected(&params, in);

    for (uint32_t way = 0; way < 64; way += way < 16 ? 1 : 5) {
        pool_span from = {.form = (pool_form)(way & 1), .space = (pool_memory_space)(way >> 1 & 1)};
        pool_span to = {
            .form = (pool_form)(way >> 2 & 1), .space = (pool_memory_space)(way >> 3 & 1)};

        from.stride = way >> 4 & 1 ? field->bytes + 4 : 0;
        to.stride = way >> 5 & 1 ? 2 * (uint64_t)field->bytes : 0;
        run_between(&params, &exec, in, wanted, &from, &to, way >= 16 ? 4 : 0);
    }
    free(in);
    free(wanted);
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_shapes(void **state)
{
    static const struct ntt_tuning tuning = {
        .log_radix = 2, .log_threads = 5, .min_tile_width = 2, .high_bits = 5, .blocks = 1};

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    shapes("bn254_fr", 5, POOL_NTT_FORWARD, 0);
    shapes("goldilocks", 6, POOL_NTT_INVERSE, 1);
    ntt_tuning = &tuning;
    shapes("babybear", 8, POOL_NTT_INVERSE, 0); /* two passes and tables with 1/n */
    ntt_tuning = NULL;
}

/* In place on the device, with a workspace of the reported size, and one that is slightly too
 * small. */
static void in_place(pool_ntt_order order, uint32_t log_size)
{
    const pool_field *field = ntt_field("babybear");
    pool_ntt_domain *domain = ntt_domain(field, log_size);
    uint64_t count = (uint64_t)1 << log_size, bytes = count * field->bytes, needed = 0;
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain, .order = order};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    uint8_t *in = ntt_random(field, 9, count), *wanted = ntt_expected(&params, in);
    pool_buffer *buffer = NULL;
    CUdeviceptr address;

    assert_ok(pool_buffer_from_host(device, in, bytes, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    pool_span span = {
        .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
    assert_ok(pool_ntt_workspace(&params, &exec, &span, &span, &needed));
    if (needed) {
        assert_ok(pool_buffer_alloc(device, needed - 1, &exec.workspace));
        assert_int_equal(pool_ntt(&params, &exec, &span, &span), POOL_ERR_INVALID_ARGUMENT);
        assert_ok(pool_buffer_destroy(&exec.workspace));
        assert_ok(pool_buffer_alloc(device, needed, &exec.workspace));
    }
    assert_ok(pool_ntt(&params, &exec, &span, &span));
    assert_ok(pool_copy_to_host(in, buffer, 0, bytes, NULL));
    ntt_assert_same(&params, in, wanted);
    assert_ok(pool_buffer_destroy(&exec.workspace));
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_ntt_domain_destroy(&domain));
    free(in);
    free(wanted);
}

static void test_in_place(void **state)
{
    static const struct ntt_tuning tuning = {
        .log_radix = 3, .log_threads = 5, .min_tile_width = 2, .high_bits = 5, .blocks = 1};

    (void)state;
    if (ntt_needs_compiler("other tunings"))
        return;
    for (int order = 0; order < 4; order++)
        in_place((pool_ntt_order)order, 7);
    ntt_tuning = &tuning;
    for (int order = 0; order < 4; order++)
        in_place((pool_ntt_order)order, 11);
    ntt_tuning = NULL;
}

/* More host memory than one part: copies under computation. */
static void test_chunks(void **state)
{
    const pool_field *field = ntt_field("babybear");
    pool_ntt_params params = {
        .struct_size = sizeof(params), .domain = ntt_domain(field, 12), .batch = 2305};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};

    (void)state;
    ntt_compare(&params, &exec, 77);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_warm_up), cmocka_unit_test(test_many_passes),
        cmocka_unit_test(test_tunings), cmocka_unit_test(test_fields),
        cmocka_unit_test(test_shifts), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_in_place), cmocka_unit_test(test_chunks)};

    if (argc > 2 && strcmp(argv[1], "--device") == 0)
        device_text = argv[2];
    if (strcmp(device_text, "sim") != 0) { /* a real one: is there any? */
        pool_params params = {.struct_size = sizeof(params), .devices = device_text};

        if (pool_create(&pool, &params)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return 77;
        }
        pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
