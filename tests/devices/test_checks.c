/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `check` switch of Poseidon, vectors and transforms: elements that are not below the modulus
 * are refused and the message has the index of the first one, whatever memory they are in, however
 * they are strided, in whichever chunk; on simulated devices and on the machine's own.
 */
#include "support/poseidon.h"
#include "support/poseidon_tuning.h"

#include "zk/ntt/ntt.h"
#include "zk/vector/vector.h"

enum { COUNT = 23, WIDTH = 3, GAP = 8 };

static pool_poseidon *set;
static const pool_field *field;

/* COUNT items of `elements` elements in host or device memory, item by item `stride` bytes apart.
 */
struct items {
    unsigned char *host;
    pool_buffer *buffer;
    pool_span span;
    uint32_t elements;
    size_t bytes;
};

static struct items items_of(uint32_t elements, int is_strided, pool_memory_space place)
{
    size_t packed = elements * element_bytes(set), stride = packed + (is_strided ? GAP : 0);
    struct items items = {.elements = elements, .bytes = COUNT * stride};

    items.host = calloc(1, items.bytes);
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(
            pool_random_scalars(field, i, elements, POOL_FORM_STANDARD, items.host + i * stride));
    items.span = (pool_span){.count = COUNT, .stride = is_strided ? stride : 0, .space = place};
    return items;
}

/* The modulus plus one at element `element` of item `item`. */
static void spoil(struct items *items, uint64_t item, uint64_t element)
{
    size_t stride = items->span.stride ? items->span.stride : items->elements * element_bytes(set);
    unsigned char *at = items->host + item * stride + element * element_bytes(set);

    assert_ok(pool_field_modulus(field, at));
    at[0]++; /* an odd number: no carry into the top of it */
}

static const pool_span *place(struct items *items)
{
    CUdeviceptr address;

    items->span.data = items->host;
    if (items->span.space == POOL_MEMORY_DEVICE) {
        assert_ok(pool_buffer_destroy(&items->buffer));
        assert_ok(pool_buffer_from_host(device, items->host, items->bytes, &items->buffer));
        assert_ok(pool_buffer_address(items->buffer, &address));
        items->span.data = (void *)(uintptr_t)address;
    }
    return &items->span;
}

static void drop(struct items *items)
{
    assert_ok(pool_buffer_destroy(&items->buffer));
    free(items->host);
}

enum { PERMUTE, HASH, SPONGE, TREE, OPENING, OPERATIONS };
static const uint32_t elements_of[OPERATIONS] = {WIDTH, 2, 5, 4, 4};
static const char *const name_of[OPERATIONS] = {"states", "inputs", "messages", "leaves", "leaves"};

static pool_status operate(int operation, const pool_exec *run, const pool_span *in)
{
    static unsigned char results[2 * COUNT * WIDTH * 32];
    pool_span out = {.data = results, .count = COUNT};
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = 5};
    pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2, .leaf_elements = 4};
    pool_span rows = {.data = results, .count = 3 * COUNT};
    pool_span path = {.data = results + COUNT * 32, .count = COUNT};

    if (operation == PERMUTE)
        return pool_poseidon_permute(set, run, in, &out);
    if (operation == HASH)
        return pool_poseidon_hash(set, run, in, 2, &out);
    if (operation == SPONGE)
        return pool_poseidon_sponge(set, run, &sponge, in, &out);
    if (operation == TREE)
        return pool_poseidon_merkle_build(set, run, &tree, in, &rows);
    tree.kept_levels = 3; /* the subtree of 8 leaves from leaf 16 on is built again */
    return pool_poseidon_merkle_open(set, run, &tree, COUNT, in, &rows, 18, &path);
}

static void expect_bad(
    int operation, const pool_exec *run, const pool_span *in, uint64_t item, uint64_t element)
{
    char text[200];
    pool_status status = operate(operation, run, in);

    snprintf(text, sizeof(text),
        "element %llu of item %llu of the %s is not below the modulus of bn254_fr",
        (unsigned long long)element, (unsigned long long)item, name_of[operation]);
    if (status != POOL_ERR_BAD_DATA)
        fail_msg("%s: %d, %s", name_of[operation], (int)status, pool_last_error()->message);
    assert_string_equal(pool_last_error()->message, text);
}

static void wait_for_default(void)
{
    pool_stream *stream;

    assert_ok(pool_stream_default(device, &stream));
    assert_ok(pool_stream_synchronize(stream));
}

static void check_poseidon(int operation, int is_strided, pool_memory_space where, int by_host)
{
    struct items items = items_of(elements_of[operation], is_strided, where);
    pool_exec run = by_host ? on_host : here();
    uint32_t last = elements_of[operation] - 1;

    run.checks = POOL_CHECK_CANONICAL;
    if (operation != OPENING)
        assert_ok(operate(operation, &run, place(&items)));
    spoil(&items, COUNT - 1, last);
    expect_bad(operation, &run, place(&items), COUNT - 1, last);
    run.is_async = where == POOL_MEMORY_DEVICE && !by_host;
    spoil(&items, 17, 1);
    spoil(&items, 18, 0);
    expect_bad(operation, &run, place(&items), 17, 1);
    if (operation != OPENING) {
        run.checks = POOL_CHECK_NONE;
        assert_ok(operate(operation, &run, &items.span));
        if (run.is_async)
            wait_for_default();
    }
    drop(&items);
}

static void test_poseidon(void **state)
{
    (void)state;
    for (int small = 0; small < 2; small++) {
        if (small)
            poseidon_tune(set, 500, 128);
        for (int operation = 0; operation < OPERATIONS; operation++)
            for (int is_strided = 0; is_strided < 2; is_strided++) {
                check_poseidon(operation, is_strided, POOL_MEMORY_HOST, 0);
                check_poseidon(operation, is_strided, POOL_MEMORY_DEVICE, 0);
                check_poseidon(operation, is_strided, POOL_MEMORY_HOST, 1);
            }
    }
    set->tuning = NULL;
}

/* More elements than items: they are checked item by item. */
static void test_long_messages(void **state)
{
    enum { LONG = 40, ITEMS = 2 };
    static unsigned char words[ITEMS * (LONG + 1) * 32];
    unsigned char results[ITEMS * 32];
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = LONG};
    pool_span in = {.data = words, .count = ITEMS, .stride = (LONG + 1) * 32};
    pool_span out = {.data = results, .count = ITEMS};
    pool_exec run = here();
    pool_buffer *buffer;
    CUdeviceptr address;

    (void)state;
    run.checks = POOL_CHECK_CANONICAL;
    memset(words + LONG * 32, 255, 32); /* bytes between the items are not checked */
    memset(words + (LONG + 1 + 7) * 32, 255, 64);
    assert_ok(pool_buffer_from_host(device, words, sizeof(words), &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    in.data = (void *)(uintptr_t)address, in.space = POOL_MEMORY_DEVICE;
    assert_int_equal(pool_poseidon_sponge(set, &run, &sponge, &in, &out), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "element 7 of item 1 of the messages"));
    in.count = 1;
    assert_ok(pool_poseidon_sponge(set, &run, &sponge, &in, &out));
    assert_ok(pool_buffer_destroy(&buffer));
}

/* Unchecked, the element p + 1 is the element 1, on a device as on the host. */
static void test_unchecked(void **state)
{
    unsigned char words[128] = {0}, digests[2][64];
    pool_exec runs[2] = {here(), on_host};
    pool_span in = {.data = words, .count = 2};

    (void)state;
    assert_ok(pool_field_modulus(field, words));
    words[0]++;
    words[64] = 1;
    words[32] = words[96] = 2;
    for (int i = 0; i < 2; i++) {
        pool_span out = {.data = digests[i], .count = 2};
        assert_ok(pool_poseidon_hash(set, &runs[i], &in, 2, &out));
        assert_memory_equal(digests[i], digests[i] + 32, 32);
        runs[i].checks = POOL_CHECK_CANONICAL;
        assert_int_equal(pool_poseidon_hash(set, &runs[i], &in, 2, &out), POOL_ERR_BAD_DATA);
        runs[i].checks = POOL_CHECK_ON_CURVE;
        assert_int_equal(
            pool_poseidon_hash(set, &runs[i], &in, 2, &out), POOL_ERR_INVALID_ARGUMENT);
    }
    assert_memory_equal(digests[0], digests[1], 64);
}

typedef pool_status (*binary)(
    const pool_field *, const pool_exec *, const pool_span *, const pool_span *, const pool_span *);

static void check_vectors(int is_strided, pool_memory_space where, bool is_limited)
{
    static const binary functions[] = {pool_vector_add, pool_vector_sub, pool_vector_mul};
    const uint64_t limit = is_limited ? 4 * 256 : 0; /* in chunks of some elements */
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = device,
        .checks = POOL_CHECK_CANONICAL,
        .memory_limit = limit};
    unsigned char result[COUNT * 32], value[32] = {2};
    pool_span out = {.data = result, .count = COUNT};

    for (int i = 0; i < 3; i++) {
        struct items a = items_of(1, is_strided, where), b = items_of(1, !is_strided, where);

        assert_ok(functions[i](field, &exec, place(&a), place(&b), &out));
        spoil(&b, 20, 0);
        assert_int_equal(functions[i](field, &exec, place(&a), place(&b), &out), POOL_ERR_BAD_DATA);
        assert_string_equal(pool_last_error()->message,
            "element 20 of the vector b is not below the modulus of bn254_fr");
        spoil(&a, 21, 0);
        spoil(&a, 19, 0);
        assert_int_equal(functions[i](field, &exec, place(&a), place(&a), &out), POOL_ERR_BAD_DATA);
        assert_non_null(strstr(pool_last_error()->message, "element 19 of the vector a"));
        exec.is_async = 1;
        assert_int_equal(functions[i](field, &exec, &a.span, &b.span, &out), POOL_ERR_BAD_DATA);
        exec.is_async = 0;
        assert_int_equal(pool_vector_scale(field, &exec, value, &a.span, &out), POOL_ERR_BAD_DATA);
        assert_int_equal(pool_vector_inverse(field, &exec, &a.span, &out), POOL_ERR_BAD_DATA);
        exec.memory_limit = 0;
        assert_int_equal(
            pool_vector_transpose(field, &exec, COUNT, 1, &a.span, &out), POOL_ERR_BAD_DATA);
        exec.memory_limit = is_limited ? 65 * 32 + 2 * limit : 0; /* powers as well */
        assert_int_equal(
            pool_vector_evaluate(field, &exec, &a.span, value, result), POOL_ERR_BAD_DATA);
        assert_non_null(strstr(pool_last_error()->message, "element 19 of the vector a"));
        exec.memory_limit = limit;
        exec.checks = POOL_CHECK_NONE;
        assert_ok(functions[i](field, &exec, &a.span, &b.span, &out));
        exec.checks = 2;
        assert_int_equal(
            functions[i](field, &exec, &a.span, &b.span, &out), POOL_ERR_INVALID_ARGUMENT);
        exec.checks = POOL_CHECK_CANONICAL;
        drop(&a);
        drop(&b);
    }
}

static void test_vectors(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        check_vectors(i % 2, POOL_MEMORY_HOST, i >= 2);
        check_vectors(i % 2, POOL_MEMORY_DEVICE, i >= 2);
    }
}

/* A batch in chunks: the index is that of the whole input. */
static void test_transforms(void **state)
{
    enum { LOG_SIZE = 3, BATCH = 9 };
    pool_ntt_domain_params wanted = {
        .struct_size = sizeof(wanted), .field = field, .log_size = LOG_SIZE};
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = BATCH};
    pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_CANONICAL};
    unsigned char words[(BATCH << LOG_SIZE) * 32] = {0};
    pool_span span = {.data = words, .count = BATCH << LOG_SIZE};

    (void)state;
    assert_ok(pool_ntt_domain_create(&wanted, &params.domain));
    memset(words + 50 * 32, 255, 32);
    exec.memory_limit = 3 * (2 << LOG_SIZE << 5) + 256; /* three slots of two rows, and an answer */
    assert_int_equal(pool_ntt(&params, &exec, &span, &span), POOL_ERR_BAD_DATA);
    assert_string_equal(
        pool_last_error()->message, "element 50 of the input is not below the modulus of bn254_fr");
    exec.memory_limit = 0;
    assert_int_equal(pool_ntt(&params, &exec, &span, &span), POOL_ERR_BAD_DATA);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poseidon),
        cmocka_unit_test(test_long_messages),
        cmocka_unit_test(test_unchecked),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_transforms),
    };
    int failed;

    if (open_here(argc, argv))
        return 77;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    field = pool_poseidon_field(set);
    failed = cmocka_run_group_tests(tests, NULL, close_pool);
    pool_poseidon_destroy(&set);
    return failed;
}
