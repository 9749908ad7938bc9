/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon on a device against the host: `test_poseidon sim` on simulated devices, without an
 * argument on the machine's own. Random states of every set, hashes, sponges, trees; host and
 * device memory, forms, strides, asynchronous calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "driver/nvrtc.h"
#include "poseidon/pass.h"

static device_pool *pool;
static pool_device *device;
static const char *only; /* a set's name begins so */

static const pool_poseidon_run on_host = {.struct_size = sizeof(on_host), .on_host = 1};

#define OK(call)                                                                                   \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, pool_last_error()->message);                                 \
    } while (0)

static pool_poseidon_run here(void)
{
    return (pool_poseidon_run){.struct_size = sizeof(pool_poseidon_run), .device = device};
}

static size_t element_bytes(const pool_poseidon *set)
{
    return pool_field_element_bytes(pool_poseidon_field(set));
}

static unsigned char *random_elements(const pool_poseidon *set, size_t count, pool_form form)
{
    unsigned char *elements = calloc(count ? count : 1, element_bytes(set));

    OK(pool_random_scalars(pool_poseidon_field(set), count, form, count, elements));
    return elements;
}

static void compare(
    const pool_poseidon *set, const char *what, const void *got, const void *want, size_t bytes)
{
    if (memcmp(got, want, bytes))
        fail_msg("%s: %s differ from the host's", pool_poseidon_name(set), what);
}

/* Zeros, ones below p and random states. */
static void check_permute(const pool_poseidon *set, pool_form in_form, pool_form out_form)
{
    enum { COUNT = 6 };
    size_t t = pool_poseidon_width(set);
    size_t bytes = t * element_bytes(set);
    unsigned char *states = random_elements(set, COUNT * t, in_form);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    unsigned char top[POOL_FIELD_MAX_BYTES];
    pool_span in = {.data = states, .count = COUNT, .form = in_form};
    pool_span out = {.data = want, .count = COUNT, .form = out_form};
    pool_poseidon_run run = here();

    memset(states, 0, bytes);
    OK(pool_field_modulus(pool_poseidon_field(set), top));
    top[0] = (unsigned char)(top[0] - 1);
    for (size_t i = 0; i < t; i++)
        memcpy(states + bytes + i * element_bytes(set), top, element_bytes(set));
    OK(pool_poseidon_permute(set, &on_host, &in, &out));
    out.data = got;
    OK(pool_poseidon_permute(set, &run, &in, &out));
    compare(set, "permutations", got, want, COUNT * bytes);
    free(states);
    free(want);
    free(got);
}

static void check_hash(const pool_poseidon *set, uint32_t elements)
{
    enum { COUNT = 3 };
    size_t bytes = pool_poseidon_digest(set) * element_bytes(set);
    unsigned char *inputs = random_elements(set, COUNT * elements, POOL_FORM_STANDARD);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    pool_span in = {.data = inputs, .count = COUNT};
    pool_span out = {.data = want, .count = COUNT};
    pool_poseidon_run run = here();

    OK(pool_poseidon_hash(set, &on_host, &in, elements, &out));
    out.data = got;
    OK(pool_poseidon_hash(set, &run, &in, elements, &out));
    compare(set, "hashes", got, want, COUNT * bytes);
    free(inputs);
    free(want);
    free(got);
}

static void test_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_poseidon_count(); i++) {
        const char *name = pool_poseidon_name_at(i);
        pool_poseidon *set;

        if (only && strncmp(name, only, strlen(only)))
            continue;
        fprintf(stderr, "%s\n", name);
        OK(pool_poseidon_get(name, &set));
        check_permute(set, (pool_form)(i % 2), (pool_form)(i / 2 % 2));
        check_hash(set, pool_poseidon_inputs(set));
        pool_poseidon_destroy(&set);
    }
}

/* The same by one thread a state: so few items go to two by themselves, where a set has that. */
static void test_one_thread(void **state)
{
    static const char *const names[] = {"circom-bn254-t2", "circom-bn254-t3", "circom-bn254-t12",
        "neptune-bls12_381-arity4", "neptune-bls12_381-arity16", "orchard-pallas-t3",
        "starknet-stark252-t3"};
    uint32_t below = poseidon_pairs_below;

    (void)state;
    poseidon_pairs_below = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pool_poseidon *set;
        if (only && strncmp(names[i], only, strlen(only)))
            continue;
        OK(pool_poseidon_get(names[i], &set));
        check_permute(set, POOL_FORM_STANDARD, POOL_FORM_MONTGOMERY);
        check_hash(set, pool_poseidon_inputs(set));
        pool_poseidon_destroy(&set);
    }
    poseidon_pairs_below = below;
}

static void check_sponge(const pool_poseidon *set, const pool_poseidon_sponge_params *params)
{
    enum { COUNT = 2 };
    size_t bytes = params->squeezed * element_bytes(set);
    unsigned char *messages = random_elements(set, COUNT * params->elements, POOL_FORM_MONTGOMERY);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    pool_span in = {.data = messages, .count = COUNT, .form = POOL_FORM_MONTGOMERY};
    pool_span out = {.data = want, .count = COUNT};
    pool_poseidon_run run = here();

    OK(pool_poseidon_sponge(set, &on_host, params, &in, &out));
    out.data = got;
    OK(pool_poseidon_sponge(set, &run, params, &in, &out));
    compare(set, "sponges", got, want, COUNT * bytes);
    free(messages);
    free(want);
    free(got);
}

static void test_sponges(void **state)
{
    static const char *const names[] = {
        "circom-bn254-t3", "starknet-stark252-t3", "poseidon2-plonky3-koalabear-t16"};
    static const uint32_t lengths[] = {0, 1, 2, 7, 8, 9, 17};
    unsigned char tag[POOL_FIELD_MAX_BYTES] = {5, 1};

    (void)state;
    for (size_t n = 0; n < 3; n++) {
        pool_poseidon *set;
        OK(pool_poseidon_get(names[n], &set));
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            for (int how = 0; how < 4; how++) {
                pool_poseidon_sponge_params params = {.struct_size = sizeof(params),
                    .elements = lengths[i],
                    .squeezed = how == 3 ? 19 : 3,
                    .mode = (pool_sponge_mode)(how & 1),
                    .padding = (pool_sponge_padding)(how >> 1),
                    .tag = n != 1 && how ? tag : NULL,
                    .rate = n == 2 && how == 2 ? 5 : 0};
                check_sponge(set, &params);
            }
        }
        pool_poseidon_destroy(&set);
    }
}

struct shape {
    const char *set;
    pool_merkle_params params;
    uint64_t leaves;
};

#define TREE(arity_, leaf_, height_, kept_)                                                        \
    {                                                                                              \
        .struct_size = sizeof(pool_merkle_params), .arity = arity_, .leaf_elements = leaf_,        \
        .height = height_, .kept_rows = kept_                                                      \
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
    pool_poseidon_run run = here();
    OK(pool_poseidon_merkle_build(set, &run, &shape->params, leaves, rows));
    if (got)
        compare(set, "trees", got, want, bytes);
}

static void check_tree(const struct shape *shape)
{
    pool_poseidon *set;
    pool_merkle_shape found = {.struct_size = sizeof(found)};
    pool_poseidon_run run = here();
    size_t leaf = shape->params.leaf_elements;

    OK(pool_poseidon_get(shape->set, &set));
    OK(pool_merkle_get_shape(set, &shape->params, shape->leaves, &found));
    size_t bytes = found.digests * pool_poseidon_digest(set) * element_bytes(set);
    unsigned char *elements = random_elements(set, shape->leaves * leaf, POOL_FORM_STANDARD);
    unsigned char *want = calloc(1, bytes);
    unsigned char *got = calloc(1, bytes);
    unsigned char *path = calloc(found.path + 1, bytes);
    unsigned char *other = calloc(found.path + 1, bytes);
    pool_span leaves = {.data = elements, .count = shape->leaves};
    pool_span rows = {.data = want, .count = found.digests};
    pool_span way = {.data = path, .count = found.path};
    pool_buffer *up;
    pool_buffer *down;
    CUdeviceptr address;

    OK(pool_poseidon_merkle_build(set, &on_host, &shape->params, &leaves, &rows));
    rows.data = got;
    check_rows(set, shape, &leaves, &rows, got, want, bytes);
    OK(pool_poseidon_merkle_open(
        set, &on_host, &shape->params, shape->leaves, &leaves, &rows, shape->leaves - 1, &way));
    /* the same in device memory */
    OK(pool_buffer_from_host(device, elements, shape->leaves * leaf * element_bytes(set), &up));
    OK(pool_buffer_zeroed(device, bytes, &down));
    OK(pool_buffer_address(up, &address));
    leaves = (pool_span){
        .data = (void *)(uintptr_t)address, .count = shape->leaves, .place = POOL_PLACE_DEVICE};
    OK(pool_buffer_address(down, &address));
    rows = (pool_span){
        .data = (void *)(uintptr_t)address, .count = found.digests, .place = POOL_PLACE_DEVICE};
    check_rows(set, shape, &leaves, &rows, NULL, NULL, 0);
    OK(pool_copy_to_host(got, down, 0, bytes, NULL));
    compare(set, "trees in device memory", got, want, bytes);
    way.data = other;
    OK(pool_poseidon_merkle_open(
        set, &run, &shape->params, shape->leaves, &leaves, &rows, shape->leaves - 1, &way));
    compare(
        set, "openings", other, path, found.path * pool_poseidon_digest(set) * element_bytes(set));
    OK(pool_buffer_free(&up));
    OK(pool_buffer_free(&down));
    free(elements);
    free(want);
    free(got);
    free(path);
    free(other);
    pool_poseidon_destroy(&set);
}

static void test_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_tree(&shapes[i]);
}

/* Strided host spans, the bound device, an asynchronous call on a stream. */
static void test_calls(void **state)
{
    enum { COUNT = 5 };
    pool_poseidon *set;
    pool_stream *stream;
    pool_buffer *buffer;
    CUdeviceptr address;
    pool_poseidon_run run = here();
    unsigned char wide[COUNT * 72];
    unsigned char want[COUNT * 32];
    unsigned char got[COUNT * 40];
    pool_span in = {.data = wide, .count = COUNT, .stride = 72};
    pool_span out = {.data = want, .count = COUNT};

    (void)state;
    OK(pool_poseidon_get("circom-bn254-t3", &set));
    for (size_t i = 0; i < COUNT; i++)
        OK(pool_random_scalars(pool_poseidon_field(set), i, POOL_FORM_STANDARD, 2, wide + 72 * i));
    OK(pool_poseidon_hash(set, &on_host, &in, 2, &out));
    memset(got, 0x5a, sizeof(got));
    out = (pool_span){.data = got, .count = COUNT, .stride = 40};
    assert_int_equal(pool_poseidon_hash(set, NULL, &in, 2, &out), POOL_ERR_NOT_BOUND);
    OK(pool_bind(device));
    OK(pool_poseidon_hash(set, NULL, &in, 2, &out));
    OK(pool_unbind(device));
    for (size_t i = 0; i < COUNT; i++) {
        assert_memory_equal(got + 40 * i, want + 32 * i, 32);
        for (int k = 32; k < 40; k++)
            assert_int_equal(got[40 * i + (size_t)k], 0x5a);
    }
    OK(pool_stream_create(device, NULL, &stream));
    OK(pool_buffer_from_host(device, wide, sizeof(wide), &buffer));
    OK(pool_buffer_address(buffer, &address));
    in.data = (void *)(uintptr_t)address, in.place = POOL_PLACE_DEVICE;
    out = in; /* digests over the inputs' first elements */
    run.stream = stream, run.is_async = 1;
    OK(pool_poseidon_hash(set, &run, &in, 2, &out));
    OK(pool_stream_synchronize(stream));
    OK(pool_copy_to_host(wide, buffer, 0, sizeof(wide), NULL));
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(wide + 72 * i, want + 32 * i, 32);
    in.data = (void *)(uintptr_t)(address + 2);
    assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_ERR_INVALID_ARGUMENT);
    OK(pool_buffer_free(&buffer));
    OK(pool_stream_destroy(&stream));
    pool_poseidon_destroy(&set);
}

/* Sets of one's own over every field, narrow and wide, plain matrices of random elements: the sums
 * of products meet every amount of room above the modulus. */
static void check_own(const pool_field *field, uint32_t width, pool_poseidon_kind kind)
{
    uint32_t partial = 3;
    size_t each = kind == POOL_POSEIDON2 ? 1 : width;
    size_t count = 4 * width + partial * each;
    size_t bytes = pool_field_element_bytes(field);
    unsigned char *elements = calloc(count + (size_t)width * width + width, bytes);
    pool_poseidon *set = NULL;
    pool_poseidon_params params = {.struct_size = sizeof(params),
        .field = field,
        .kind = kind,
        .width = width,
        .alpha = 3,
        .full_rounds = 4,
        .partial_rounds = partial,
        .partial_lane = width / 2,
        .round_constants = elements,
        .round_constant_count = count,
        .matrix = elements + count * bytes,
        .matrix_count = (size_t)width * width};

    OK(pool_random_scalars(
        field, width, POOL_FORM_STANDARD, count + width * width + width, elements));
    if (kind == POOL_POSEIDON2) {
        params.internal_diagonal = elements + (count + (size_t)width * width) * bytes;
        params.internal_diagonal_count = width;
    }
    while (pool_poseidon_create(&params, &set)) {
        params.alpha += 2;
        assert_true(params.alpha < 32);
    }
    fprintf(stderr, "%s, %u lanes, alpha %u\n", pool_field_name(field), width, params.alpha);
    check_permute(set, POOL_FORM_STANDARD, POOL_FORM_MONTGOMERY);
    check_permute(set, POOL_FORM_MONTGOMERY, POOL_FORM_STANDARD);
    check_hash(set, width - 1);
    pool_poseidon_destroy(&set);
    free(elements);
}

static void test_own(void **state)
{
    (void)state;
    if (only)
        return;
    for (size_t i = 0; i < pool_field_count(); i++) {
        check_own(pool_field_at(i), 5, POOL_POSEIDON);
        check_own(pool_field_at(i), 8, POOL_POSEIDON2);
    }
}

/* A driver whose kernels do nothing: the known answer is missed before any input is touched. */
static void test_wrong_kernels(void **state)
{
    pool_mock_params params = {.struct_size = sizeof(params), .devices = 1};
    static const uint32_t sizes[] = {sizeof(struct poseidon_items)};
    pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
        .name = "poseidon_pair_permute",
        .argument_bytes = sizes,
        .argument_count = 1};
    pool_params with = {.struct_size = sizeof(with)};
    pool_poseidon_run run = {.struct_size = sizeof(run)};
    uint64_t words[12] = {1, 2, 3};
    pool_span in = {.data = words, .count = 1};
    pool_span out = {.data = words + 8, .count = 1};
    device_pool *mocked;
    pool_poseidon *set;
    pool_mock *mock;

    (void)state;
    OK(pool_poseidon_get("circom-bn254-t3", &set));
    OK(pool_mock_create(&mock, &params));
    OK(pool_mock_add_kernel(mock, &kernel));
    kernel.name = "poseidon_pair_hash";
    OK(pool_mock_add_kernel(mock, &kernel));
    with.driver = pool_mock_table(mock);
    OK(pool_create(&mocked, &with));
    OK(pool_device_at(mocked, 0, &run.device));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_ERR_INTERNAL);
        assert_non_null(strstr(pool_last_error()->message, "wrong answer"));
    }
    assert_int_equal(words[8], 0);
    OK(pool_destroy(&mocked));
    assert_string_equal(pool_mock_leaks(mock), "");
    pool_mock_destroy(&mock);
    pool_poseidon_destroy(&set);
}

/* The same with host memory cut into pieces of a few items: packed and strided permutations, and
 * all the trees. */
static void test_pieces(void **state)
{
    enum { COUNT = 23, STRIDE = 104 };
    size_t whole = poseidon_piece_bytes;
    unsigned char states[COUNT * STRIDE];
    unsigned char want[COUNT * STRIDE];
    unsigned char got[COUNT * STRIDE];
    pool_poseidon *set;
    pool_poseidon_run run = here();

    (void)state;
    poseidon_piece_bytes = 500;
    OK(pool_poseidon_get("circom-bn254-t3", &set));
    for (uint64_t stride = 0; stride <= STRIDE; stride += STRIDE) {
        pool_span in = {.data = states, .count = COUNT, .stride = stride};
        pool_span out = {.data = want, .count = COUNT, .stride = stride};
        for (size_t i = 0; i < COUNT; i++)
            OK(pool_random_scalars(pool_poseidon_field(set), i, POOL_FORM_STANDARD, 3,
                states + i * (stride ? stride : 96)));
        memset(want, 0x5a, sizeof(want));
        memset(got, 0x5a, sizeof(got));
        OK(pool_poseidon_permute(set, &on_host, &in, &out));
        out.data = got;
        OK(pool_poseidon_permute(set, &run, &in, &out));
        compare(set, "states in pieces", got, want, sizeof(got));
    }
    pool_poseidon_destroy(&set);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        check_tree(&shapes[i]);
    poseidon_piece_bytes = whole;
}

/* What a watcher was told. */
struct told {
    uint64_t calls;
    uint64_t done;
    uint64_t total;
    pool_cancel *cancel; /* requested at the first call, unless NULL */
};

static void listen(void *user, uint64_t done, uint64_t total)
{
    struct told *told = user;

    assert_true(done > told->done && done <= total);
    assert_true(told->calls == 0 || told->total == total);
    told->calls++;
    told->done = done;
    told->total = total;
    if (told->cancel)
        pool_cancel_request(told->cancel);
}

/* A tree of 40 leaves, hashed or not, from host or device memory or on the host: told all of it,
 * and stopped when asked to. */
static void check_watched(const pool_poseidon *set, uint32_t leaf, int on_device, int by_host)
{
    enum { LEAVES = 40, DIGESTS = 40 + 20 + 10 + 5 + 3 + 2 + 1, MOST = LEAVES * 3 * 32 };
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2, .leaf_elements = leaf};
    unsigned char *elements = random_elements(set, LEAVES * leaf, POOL_FORM_STANDARD);
    unsigned char got[DIGESTS * 32];
    struct told told = {0};
    pool_poseidon_run run = by_host ? on_host : here();
    pool_span leaves = {.data = elements, .count = LEAVES};
    pool_span rows = {.data = got, .count = DIGESTS};
    pool_buffer *up;
    CUdeviceptr address;

    OK(pool_buffer_from_host(device, elements, LEAVES * leaf * 32, &up));
    OK(pool_buffer_address(up, &address));
    if (on_device)
        leaves.data = (void *)(uintptr_t)address, leaves.place = POOL_PLACE_DEVICE;
    run.progress = listen;
    run.progress_user = &told;
    OK(pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows));
    assert_true(told.calls > 1);
    assert_int_equal(told.done, told.total);
    OK(pool_cancel_create(&told.cancel));
    told.calls = told.done = 0;
    run.cancel = told.cancel;
    assert_int_equal(
        pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows), POOL_ERR_CANCELLED);
    assert_int_equal(told.calls, 1);
    assert_int_equal(
        pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows), POOL_ERR_CANCELLED);
    assert_int_equal(told.calls, 1);
    pool_cancel_destroy(&told.cancel);
    OK(pool_buffer_free(&up));
    free(elements);
}

static void test_watched(void **state)
{
    size_t whole = poseidon_piece_bytes;
    pool_poseidon *set;

    (void)state;
    poseidon_piece_bytes = 500;
    OK(pool_poseidon_get("circom-bn254-t3", &set));
    for (uint32_t leaf = 1; leaf <= 3; leaf += 2) {
        check_watched(set, leaf, 0, 0);
        check_watched(set, leaf, 1, 0);
        check_watched(set, leaf, 0, 1);
    }
    pool_poseidon_destroy(&set);
    poseidon_piece_bytes = whole;
}

/* Device spans that are not of the call's device, or no device memory at all. */
static void test_strangers(void **state)
{
    unsigned char host[96] = {0};
    pool_poseidon_run run = here();
    pool_span out = {.data = host, .count = 1};
    pool_poseidon *set;
    pool_buffer *buffer;
    CUdeviceptr address;

    (void)state;
    OK(pool_poseidon_get("circom-bn254-t3", &set));
    pool_span in = {.data = host, .count = 1, .place = POOL_PLACE_DEVICE};
    assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    OK(pool_buffer_alloc(device, 64, &buffer));
    OK(pool_buffer_address(buffer, &address));
    in.data = (void *)(uintptr_t)address;
    run.is_async = 1;
    run.progress = listen;
    in.count = out.count = 0;
    assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    run = here();
    if (pool_device_count(pool) > 1) {
        in.count = out.count = 1;
        OK(pool_device_at(pool, 1, &run.device));
        assert_int_equal(pool_poseidon_permute(set, &run, &in, &out), POOL_ERR_WRONG_DEVICE);
        assert_int_equal(pool_poseidon_permute(set, &run, &out, &in), POOL_ERR_WRONG_DEVICE);
    }
    OK(pool_buffer_free(&buffer));
    pool_poseidon_destroy(&set);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_kernels),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_sponges),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_every_set),
    };
    pool_params params = {.struct_size = sizeof(params), .devices = argc > 1 ? argv[1] : NULL};
    const struct nvrtc *nvrtc;
    int failed;

    only = argc > 2 ? argv[2] : NULL;
    if (driver_nvrtc_open(&nvrtc) || pool_create(&pool, &params)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    if (pool_device_at(pool, 0, &device))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    pool_destroy(&pool);
    return failed;
}
