/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees on the host: against trees of full height that are computed hash by hash, with every
 * leaf count, openings of every leaf from all choices of stored levels, and damaged openings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

static const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};

struct shape {
    const char *set;
    uint32_t arity;
    uint32_t leaf_elements;
    uint32_t height; /* 0: as needed */
    int padded;      /* with something else than zeros */
    uint64_t most;   /* leaves */
};

static const struct shape shapes[] = {
    {"circom-bn254-t3", 2, 1, 0, 0, 9},
    {"circom-bn254-t3", 2, 3, 5, 1, 5},
    {"neptune-bls12_381-arity8", 8, 1, 0, 1, 17},
    {"circom-bn254-t17", 16, 1, 2, 0, 18},
    {"poseidon2-plonky3-babybear-t16", 2, 11, 0, 1, 9},
    {"poseidon2-plonky3-goldilocks-t8", 2, 4, 0, 0, 6},
    {"starknet-stark252-t3", 2, 1, 0, 0, 5},
    {"neptune-bls12_381-arity4", 3, 1, 0, 1, 10},
};

enum { MOST_LEAVES = 32, MOST_BYTES = 11 * 8 * 4, MOST_NODES = 512 };

struct tree {
    const struct shape *shape;
    pool_poseidon *set;
    size_t digest_bytes;
    size_t leaf_bytes;
    uint32_t height;
    uint64_t leaves;
    pool_merkle_params params;
    unsigned char leaf[MOST_LEAVES * MOST_BYTES];
    unsigned char padding[64];
    unsigned char node[16][MOST_NODES * 64]; /* whole levels, padding included */
};

static void digest_leaf(struct tree *tree, const unsigned char *leaf, unsigned char *digest)
{
    pool_poseidon_sponge_params sponge = {
        .struct_size = sizeof(sponge), .elements = tree->params.leaf_elements};
    pool_span in = {.data = (void *)(uintptr_t)leaf, .count = 1};
    pool_span out = {.data = digest, .count = 1};

    if (tree->leaf_bytes == tree->digest_bytes)
        memcpy(digest, leaf, tree->leaf_bytes);
    else
        assert_int_equal(pool_poseidon_sponge(tree->set, &on_host, &sponge, &in, &out), POOL_OK);
}

/* All arity^height leaves, level by level. */
static void write_out(struct tree *tree)
{
    uint64_t count = 1;
    uint32_t arity = tree->params.arity;

    for (uint32_t i = 0; i < tree->height; i++)
        count *= arity;
    assert_true(count <= MOST_NODES);
    for (uint64_t i = 0; i < count; i++) {
        if (i < tree->leaves)
            digest_leaf(
                tree, tree->leaf + i * tree->leaf_bytes, tree->node[0] + i * tree->digest_bytes);
        else
            memcpy(tree->node[0] + i * tree->digest_bytes, tree->padding, tree->digest_bytes);
    }
    for (uint32_t row = 0; row < tree->height; row++) {
        count /= arity;
        pool_span in = {.data = tree->node[row], .count = count};
        pool_span out = {.data = tree->node[row + 1], .count = count};
        assert_int_equal(pool_poseidon_hash(tree->set, &on_host, &in,
                             arity * pool_poseidon_digest_elements(tree->set), &out),
            POOL_OK);
    }
}

static void make_tree(struct tree *tree, const struct shape *shape, uint64_t leaves)
{
    const pool_field *field;
    pool_merkle_shape found = {.struct_size = sizeof(found)};

    memset(tree, 0, sizeof(*tree));
    tree->shape = shape;
    tree->leaves = leaves;
    assert_int_equal(pool_poseidon_by_name(shape->set, &tree->set), POOL_OK);
    field = pool_poseidon_field(tree->set);
    tree->digest_bytes = pool_poseidon_digest_elements(tree->set) * pool_field_element_bytes(field);
    tree->leaf_bytes = shape->leaf_elements * pool_field_element_bytes(field);
    if (pool_poseidon_digest_elements(tree->set) == 8 && shape->leaf_elements == 1)
        tree->leaf_bytes = tree->digest_bytes;
    pool_random_scalars(field, leaves, leaves * tree->leaf_bytes / pool_field_element_bytes(field),
        POOL_FORM_STANDARD, tree->leaf);
    if (shape->padded)
        pool_random_scalars(
            field, 99, pool_poseidon_digest_elements(tree->set), POOL_FORM_STANDARD, tree->padding);
    tree->params = (pool_merkle_params){.struct_size = sizeof(tree->params),
        .arity = shape->arity,
        .leaf_elements = shape->leaf_elements,
        .height = shape->height,
        .padding = shape->padded ? tree->padding : NULL};
    assert_int_equal(pool_merkle_get_shape(tree->set, &tree->params, leaves, &found), POOL_OK);
    tree->height = found.height;
    write_out(tree);
}

static void check_opening(
    struct tree *tree, const pool_span *leaves, const pool_span *rows, uint64_t index)
{
    unsigned char path[16 * 15 * 64];
    pool_span way = {.data = path, .count = (uint64_t)tree->height * (tree->params.arity - 1)};
    pool_merkle_params params = tree->params;
    const unsigned char *root = tree->node[tree->height];
    unsigned char *leaf = tree->leaf + index * tree->leaf_bytes;
    unsigned char *sibling = path;
    uint64_t node = index;
    int32_t is_member = 0;

    assert_int_equal(pool_poseidon_merkle_open(tree->set, &on_host, &tree->params, tree->leaves,
                         leaves, rows, index, &way),
        POOL_OK);
    for (uint32_t row = 0; row < tree->height; row++, node /= params.arity) {
        for (uint64_t i = node - node % params.arity, k = 0; k < params.arity; k++) {
            if (i + k == node)
                continue;
            assert_memory_equal(
                sibling, tree->node[row] + (i + k) * tree->digest_bytes, tree->digest_bytes);
            sibling += tree->digest_bytes;
        }
    }
    params.height = tree->height;
    params.kept_levels = 0;
#define VERIFY(leaf, index)                                                                        \
    assert_int_equal(pool_poseidon_merkle_verify(tree->set, &params, POOL_FORM_STANDARD, root,     \
                         leaf, index, path, &is_member),                                           \
        POOL_OK)
    VERIFY(leaf, index);
    assert_int_equal(is_member, 1);
    leaf[0] ^= 1;
    VERIFY(leaf, index);
    assert_int_equal(is_member, 0);
    leaf[0] ^= 1;
    if (tree->height == 0)
        return;
    path[0] ^= 1;
    VERIFY(leaf, index);
    assert_int_equal(is_member, 0);
    path[0] ^= 1;
    VERIFY(leaf, index ^ 1);
    assert_int_equal(is_member, 0);
    VERIFY(leaf, index + UINT64_MAX / 2);
    assert_int_equal(is_member, 0);
}

/* The tree with so many stored levels. */
static void check_kept(struct tree *tree, uint32_t kept)
{
    unsigned char *nodes = calloc(MOST_NODES, 2 * tree->digest_bytes);
    unsigned char *at = nodes;
    pool_span leaves = {.data = tree->leaf, .count = tree->leaves};
    pool_span rows = {.data = nodes};
    pool_merkle_shape found = {.struct_size = sizeof(found)};
    uint64_t count = tree->leaves;

    tree->params.kept_levels = kept;
    assert_int_equal(
        pool_merkle_get_shape(tree->set, &tree->params, tree->leaves, &found), POOL_OK);
    rows.count = found.digest_count;
    assert_int_equal(found.first_level, kept ? tree->height + 1 - kept : 0);
    assert_int_equal(
        pool_poseidon_merkle_build(tree->set, &on_host, &tree->params, &leaves, &rows), POOL_OK);
    for (uint32_t row = 0; row <= tree->height; row++) {
        if (row >= found.first_level) {
            assert_memory_equal(at, tree->node[row], count * tree->digest_bytes);
            at += count * tree->digest_bytes;
        }
        count = (count + tree->params.arity - 1) / tree->params.arity;
    }
    assert_int_equal(at - nodes, found.digest_count * tree->digest_bytes);
    for (uint64_t i = 0; i < tree->leaves; i++)
        check_opening(tree, found.first_level ? &leaves : NULL, &rows, i);
    if (found.first_level > 0)
        assert_int_equal(pool_poseidon_merkle_open(tree->set, &on_host, &tree->params, tree->leaves,
                             NULL, &rows, 0, &rows),
            POOL_ERR_INVALID_ARGUMENT);
    free(nodes);
}

static void test_trees(void **state)
{
    struct tree *tree = malloc(sizeof(*tree));

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (uint64_t leaves = 1; leaves <= shapes[i].most; leaves++) {
            make_tree(tree, &shapes[i], leaves);
            for (uint32_t kept = 0; kept <= tree->height + 1; kept += tree->height > 2 ? 2 : 1)
                check_kept(tree, kept);
            pool_poseidon_destroy(&tree->set);
        }
    }
    free(tree);
}

static void test_refused(void **state)
{
    pool_poseidon *set = NULL;
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    uint64_t words[64] = {0};
    int32_t is_member;

    (void)state;
    assert_int_equal(pool_poseidon_by_name("circom-bn254-t3", &set), POOL_OK);
#define REFUSED(call) assert_int_equal(call, POOL_ERR_INVALID_ARGUMENT)
    REFUSED(pool_merkle_get_shape(set, &params, 0, &shape));
    params.arity = 1;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.arity = 3; /* t = 3 has two inputs */
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.arity = 17;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.arity = 2, params.height = 1;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.height = 65;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.height = 0, params.kept_levels = 4;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.kept_levels = 0, params.leaf_mode = (pool_sponge_mode)3;
    REFUSED(pool_merkle_get_shape(set, &params, 4, &shape));
    params.leaf_mode = POOL_SPONGE_ADD, params.height = 2;
    REFUSED(pool_poseidon_merkle_verify(
        set, &params, POOL_FORM_STANDARD, words, words, 0, NULL, &is_member));
    REFUSED(pool_poseidon_merkle_verify(
        set, &params, (pool_form)3, words, words, 0, words, &is_member));
    memset(words + 8, 255, 32);
    assert_int_equal(pool_poseidon_merkle_verify(
                         set, &params, POOL_FORM_STANDARD, words, words + 8, 0, words, &is_member),
        POOL_ERR_BAD_DATA);
    /* the most leaves that there can be: shapes are counted, nothing is built */
    params.height = 0, params.kept_levels = 1;
    assert_int_equal(pool_merkle_get_shape(set, &params, UINT64_MAX, &shape), POOL_OK);
    assert_int_equal(shape.height, 64);
    assert_int_equal(shape.digest_count, 1);
    pool_poseidon_destroy(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
