/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of Poseidon on a device, simulated or of this host, as in test_poseidon: trees, host and
 * device memory, forms, strides, chunks, asynchronous calls, progress and cancellation, memory of
 * other devices, kernels with wrong results.
 */
#include "support/poseidon.h"
#include "support/poseidon_tuning.h"

#include <devicepool/mock.h>

/* Strided host spans, the bound device, an asynchronous call on a stream. */
static void test_calls(void **state)
{
    enum { COUNT = 5 };
    pool_poseidon *set;
    pool_stream *stream;
    pool_buffer *buffer;
    CUdeviceptr address;
    pool_exec run = here();
    unsigned char wide[COUNT * 72];
    unsigned char want[COUNT * 32];
    unsigned char got[COUNT * 40];
    pool_span in = {.data = wide, .count = COUNT, .stride = 72};
    pool_span out = {.data = want, .count = COUNT};

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(
            pool_random_scalars(pool_poseidon_field(set), i, 2, POOL_FORM_STANDARD, wide + 72 * i));
    assert_ok(pool_poseidon_hash(set, &on_host, &in, 2, &out));
    memset(got, 0x5a, sizeof(got));
    out = (pool_span){.data = got, .count = COUNT, .stride = 40};
    assert_int_equal(pool_poseidon_hash(set, NULL, &in, 2, &out), POOL_ERR_NOT_BOUND);
    assert_ok(pool_bind(device));
    assert_ok(pool_poseidon_hash(set, NULL, &in, 2, &out));
    assert_ok(pool_unbind(device));
    for (size_t i = 0; i < COUNT; i++) {
        assert_memory_equal(got + 40 * i, want + 32 * i, 32);
        for (int k = 32; k < 40; k++)
            assert_int_equal(got[40 * i + (size_t)k], 0x5a);
    }
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_buffer_from_host(device, wide, sizeof(wide), &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    in.data = (void *)(uintptr_t)address, in.space = POOL_MEMORY_DEVICE;
    out = in; /* digests over the inputs' first elements */
    run.stream = stream, run.is_async = 1;
    assert_ok(pool_poseidon_hash(set, &run, &in, 2, &out));
    assert_ok(pool_stream_synchronize(stream));
    assert_ok(pool_copy_to_host(wide, buffer, 0, sizeof(wide), NULL));
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(wide + 72 * i, want + 32 * i, 32);
    in.data = (void *)(uintptr_t)(address + 2);
    assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_destroy(&buffer));
    assert_ok(pool_stream_destroy(&stream));
    pool_poseidon_destroy(&set);
}

struct shape {
    const char *set;
    pool_merkle_params params;
    uint64_t leaves;
};

#define TREE(arity_, leaf_, height_, kept_)                                                        \
    {                                                                                              \
        .struct_size = sizeof(pool_merkle_params), .arity = arity_, .leaf_elements = leaf_,        \
        .height = height_, .kept_levels = kept_                                                    \
    }
static const struct shape shapes[] = {
    {"circom-bn254-t3", TREE(2, 1, 0, 0), 1},
    {"circom-bn254-t3", TREE(2, 1, 0, 0), 13},
    {"circom-bn254-t3", TREE(2, 1, 6, 2), 13},
    {"circom-bn254-t3", TREE(2, 5, 0, 3), 9},
    {"circom-bn254-t5", TREE(4, 1, 0, 0), 17},
    {"poseidon2-plonky3-babybear-t16", TREE(2, 8, 0, 1), 21},
    {"poseidon2-plonky3-goldilocks-t8", TREE(2, 9, 5, 0), 10},
};

static void check_rows(const pool_poseidon *set, const struct shape *shape, const pool_span *leaves,
    const pool_span *rows, const unsigned char *got, const unsigned char *want, size_t bytes)
{
    pool_exec run = here();
    assert_ok(pool_poseidon_merkle_build(set, &run, &shape->params, leaves, rows));
    if (got)
        compare(set, "trees", got, want, bytes);
}

/* chunk_bytes 0: the default */
static void check_tree(const struct shape *shape, size_t chunk_bytes)
{
    pool_poseidon *set;
    pool_merkle_shape found = {.struct_size = sizeof(found)};
    pool_exec run = here();
    size_t leaf = shape->params.leaf_elements;

    assert_ok(pool_poseidon_by_name(shape->set, &set));
    if (chunk_bytes)
        poseidon_tune(set, chunk_bytes, 128);
    assert_ok(pool_merkle_get_shape(set, &shape->params, shape->leaves, &found));
    size_t bytes = found.digest_count * pool_poseidon_digest_elements(set) * element_bytes(set);
    unsigned char *elements = random_elements(set, shape->leaves * leaf, POOL_FORM_STANDARD);
    unsigned char *want = calloc(1, bytes);
    unsigned char *got = calloc(1, bytes);
    unsigned char *path = calloc(found.path_count + 1, bytes);
    unsigned char *other = calloc(found.path_count + 1, bytes);
    pool_span leaves = {.data = elements, .count = shape->leaves};
    pool_span rows = {.data = want, .count = found.digest_count};
    pool_span way = {.data = path, .count = found.path_count};
    pool_buffer *up;
    pool_buffer *down;
    CUdeviceptr address;

    assert_ok(pool_poseidon_merkle_build(set, &on_host, &shape->params, &leaves, &rows));
    rows.data = got;
    check_rows(set, shape, &leaves, &rows, got, want, bytes);
    assert_ok(pool_poseidon_merkle_open(
        set, &on_host, &shape->params, shape->leaves, &leaves, &rows, shape->leaves - 1, &way));
    /* the same in device memory */
    assert_ok(
        pool_buffer_from_host(device, elements, shape->leaves * leaf * element_bytes(set), &up));
    assert_ok(pool_buffer_zeroed(device, bytes, &down));
    assert_ok(pool_buffer_address(up, &address));
    leaves = (pool_span){
        .data = (void *)(uintptr_t)address, .count = shape->leaves, .space = POOL_MEMORY_DEVICE};
    assert_ok(pool_buffer_address(down, &address));
    rows = (pool_span){.data = (void *)(uintptr_t)address,
        .count = found.digest_count,
        .space = POOL_MEMORY_DEVICE};
    check_rows(set, shape, &leaves, &rows, NULL, NULL, 0);
    assert_ok(pool_copy_to_host(got, down, 0, bytes, NULL));
    compare(set, "trees in device memory", got, want, bytes);
    way.data = other;
    assert_ok(pool_poseidon_merkle_open(
        set, &run, &shape->params, shape->leaves, &leaves, &rows, shape->leaves - 1, &way));
    compare(set, "openings", other, path,
        found.path_count * pool_poseidon_digest_elements(set) * element_bytes(set));
    assert_ok(pool_buffer_destroy(&up));
    assert_ok(pool_buffer_destroy(&down));
    free(elements);
    free(want);
    free(got);
    free(path);
    free(other);
    set->tuning = NULL;
    pool_poseidon_destroy(&set);
}

static void test_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_tree(&shapes[i], 0);
}

/* Host memory in chunks of a few items: packed and strided permutations, and all trees. */
static void test_chunks(void **state)
{
    enum { COUNT = 23, STRIDE = 104 };
    unsigned char states[COUNT * STRIDE];
    unsigned char want[COUNT * STRIDE];
    unsigned char got[COUNT * STRIDE];
    pool_poseidon *set;
    pool_exec run = here();

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    poseidon_tune(set, 500, 128);
    for (uint64_t stride = 0; stride <= STRIDE; stride += STRIDE) {
        pool_span in = {.data = states, .count = COUNT, .stride = stride};
        pool_span out = {.data = want, .count = COUNT, .stride = stride};
        for (size_t i = 0; i < COUNT; i++)
            assert_ok(pool_random_scalars(pool_poseidon_field(set), i, 3, POOL_FORM_STANDARD,
                states + i * (stride ? stride : 96)));
        memset(want, 0x5a, sizeof(want));
        memset(got, 0x5a, sizeof(got));
        assert_ok(pool_poseidon_permute(set, &on_host, &in, &out));
        out.data = got;
        assert_ok(pool_poseidon_permute(set, &run, &in, &out));
        compare(set, "states in chunks", got, want, sizeof(got));
    }
    set->tuning = NULL;
    pool_poseidon_destroy(&set);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_tree(&shapes[i], 500);
}

/* What a watcher was notified. */
struct progress {
    uint64_t calls;
    uint64_t done;
    uint64_t total;
    pool_cancel *cancel; /* requested at the first call, unless NULL */
};

static void listen(void *user, uint64_t done, uint64_t total)
{
    struct progress *progress = user;

    assert_true(done > progress->done && done <= total);
    assert_true(progress->calls == 0 || progress->total == total);
    progress->calls++;
    progress->done = done;
    progress->total = total;
    if (progress->cancel)
        pool_cancel_request(progress->cancel);
}

/* A tree of 40 leaves, hashed or not, from host or device memory or on the host: progress
 * covers all of it, and cancellation stops it. */
static void check_watched(const pool_poseidon *set, uint32_t leaf, int on_device, int by_host)
{
    enum { LEAVES = 40, DIGESTS = 40 + 20 + 10 + 5 + 3 + 2 + 1, MOST = LEAVES * 3 * 32 };
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2, .leaf_elements = leaf};
    unsigned char *elements = random_elements(set, LEAVES * leaf, POOL_FORM_STANDARD);
    unsigned char got[DIGESTS * 32];
    struct progress progress = {0};
    pool_exec run = by_host ? on_host : here();
    pool_span leaves = {.data = elements, .count = LEAVES};
    pool_span rows = {.data = got, .count = DIGESTS};
    pool_buffer *up;
    CUdeviceptr address;

    assert_ok(pool_buffer_from_host(device, elements, LEAVES * leaf * 32, &up));
    assert_ok(pool_buffer_address(up, &address));
    if (on_device)
        leaves.data = (void *)(uintptr_t)address, leaves.space = POOL_MEMORY_DEVICE;
    run.progress = listen;
    run.user = &progress;
    assert_ok(pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows));
    assert_true(progress.calls > 1);
    assert_int_equal(progress.done, progress.total);
    assert_ok(pool_cancel_create(&progress.cancel));
    progress.calls = progress.done = 0;
    run.cancel = progress.cancel;
    assert_int_equal(
        pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows), POOL_ERR_CANCELLED);
    assert_int_equal(progress.calls, 1);
    assert_int_equal(
        pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows), POOL_ERR_CANCELLED);
    assert_int_equal(progress.calls, 1);
    pool_cancel_destroy(&progress.cancel);
    assert_ok(pool_buffer_destroy(&up));
    free(elements);
}

static void test_watched(void **state)
{
    pool_poseidon *set;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    poseidon_tune(set, 500, 128);
    for (uint32_t leaf = 1; leaf <= 3; leaf += 2) {
        check_watched(set, leaf, 0, 0);
        check_watched(set, leaf, 1, 0);
        check_watched(set, leaf, 0, 1);
    }
    set->tuning = NULL;
    pool_poseidon_destroy(&set);
}

/* Device spans that are not of the call's device, or no device memory at all. */
static void test_strangers(void **state)
{
    unsigned char host[96] = {0};
    pool_exec run = here();
    pool_span out = {.data = host, .count = 1};
    pool_poseidon *set;
    pool_buffer *buffer;
    CUdeviceptr address;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    pool_span in = {.data = host, .count = 1, .space = POOL_MEMORY_DEVICE};
    assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_buffer_alloc(device, 64, &buffer));
    assert_ok(pool_buffer_address(buffer, &address));
    in.data = (void *)(uintptr_t)address;
    run.is_async = 2;
    in.count = out.count = 0;
    assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    run = here();
    if (pool_device_count(pool) > 1) {
        in.count = out.count = 1;
        assert_ok(pool_device_at(pool, 1, &run.device));
        assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_WRONG_DEVICE);
        assert_int_equal(pool_poseidon_permute(set, &run, &out, &in), POOL_ERR_WRONG_DEVICE);
    }
    assert_ok(pool_buffer_destroy(&buffer));
    pool_poseidon_destroy(&set);
}

/* A driver whose kernels do nothing: the self-test fails before any of the caller's data is used.
 */
static void test_wrong_kernels(void **state)
{
    pool_mock_params params = {.struct_size = sizeof(params), .devices = 1};
    static const uint32_t sizes[] = {sizeof(struct poseidon_args)};
    pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "poseidon_hash_2thread",
        .argument_bytes = sizes,
        .argument_count = 1};
    pool_params with = {.struct_size = sizeof(with)};
    pool_exec run = {.struct_size = sizeof(run)};
    uint64_t words[12] = {1, 2, 3};
    pool_span in = {.data = words, .count = 1};
    pool_span out = {.data = words + 8, .count = 1};
    device_pool *mocked;
    pool_poseidon *set;
    pool_mock *mock;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_ok(pool_mock_create(&mock, &params));
    assert_ok(pool_mock_add_kernel(mock, &kernel));
    with.driver = pool_mock_table(mock);
    assert_ok(pool_create(&mocked, &with));
    assert_ok(pool_device_at(mocked, 0, &run.device));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_ERR_INTERNAL);
        assert_non_null(strstr(pool_last_error()->message, "compute a wrong result"));
    }
    assert_int_equal(words[8], 0);
    assert_ok(pool_destroy(&mocked));
    assert_string_equal(pool_mock_leaks(mock), "");
    pool_mock_destroy(&mock);
    pool_poseidon_destroy(&set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_kernels),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_strangers),
    };

    if (open_here(argc, argv))
        return 77;
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
