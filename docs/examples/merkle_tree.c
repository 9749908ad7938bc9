/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Merkle tree of circom's Poseidon: it is built on a device and opened at a leaf, and the opening
 * is verified on the host. The verification of a modified leaf must fail.
 *
 *   merkle_tree [DEVICES] [LOG_LEAVES]      default: 2^16 leaves, 2^8 on simulated devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

#define ELEMENT 32 /* bytes of a BN254 scalar; a digest is one element */

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* Builds the tree, from the lowest level to the root; `shape` has the number of digests. */
static uint8_t *build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *tree, uint8_t *leaves, uint64_t count, pool_merkle_shape *shape)
{
    pool_span in = {.data = leaves, .count = count};
    pool_span rows = {0};

    shape->struct_size = sizeof(*shape);
    must(pool_merkle_get_shape(set, tree, count, shape));
    rows.count = shape->digest_count;
    rows.data = calloc(shape->digest_count, ELEMENT);
    if (!rows.data)
        exit(1);
    must(pool_poseidon_merkle_build(set, exec, tree, &in, &rows));
    return rows.data;
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_leaves(const char *devices)
{
    return devices && strstr(devices, "sim") ? 8 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    uint64_t log_leaves =
        count > 2 ? strtoull(arguments[2], NULL, 10) : default_log_leaves(devices);
    uint64_t leaf_count = UINT64_C(1) << log_leaves, index = leaf_count / 3;
    pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_merkle_shape shape = {0};
    pool_span rows, path = {0};
    const uint8_t *root;
    int32_t is_member;
    uint8_t *leaves;
    pool_poseidon *set;
    device_pool *pool;

    if (log_leaves > 28)
        return fprintf(stderr, "too many leaves\n"), 1;
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &exec.device));
    must(pool_poseidon_by_name("circom-bn254-t3", &set));
    exec.progress = show_part;
    exec.user = "building the tree";
    show_step(exec.user);
    leaves = calloc(leaf_count, ELEMENT);
    if (!leaves)
        return 1;
    must(pool_random_scalars(
        pool_poseidon_field(set), 1, (size_t)leaf_count, POOL_FORM_STANDARD, leaves));

    rows.data = build(set, &exec, &tree, leaves, leaf_count, &shape);
    rows = (pool_span){.data = rows.data, .count = shape.digest_count};
    root = (uint8_t *)rows.data + (shape.digest_count - 1) * ELEMENT;

    show_step("checking an opening");
    exec.progress = NULL;
    path.count = shape.path_count;
    path.data = calloc(shape.path_count + 1, ELEMENT);
    if (!path.data)
        return 1;
    must(pool_poseidon_merkle_open(set, &exec, &tree, leaf_count, NULL, &rows, index, &path));

    tree.height = shape.height; /* a verifier knows the height of the tree */
    must(pool_poseidon_merkle_verify(set, &tree, POOL_FORM_STANDARD, root, leaves + index * ELEMENT,
        index, path.data, &is_member));
    if (!is_member)
        return fprintf(stderr, "the opening was rejected\n"), 1;
    leaves[index * ELEMENT] ^= 1;
    must(pool_poseidon_merkle_verify(set, &tree, POOL_FORM_STANDARD, root, leaves + index * ELEMENT,
        index, path.data, &is_member));
    if (is_member)
        return fprintf(stderr, "a modified leaf was accepted\n"), 1;
    show_step(NULL);
    printf("%llu leaves, height %u, by device %d; an opening of %llu digests checked\n",
        (unsigned long long)leaf_count, shape.height, pool_device_ordinal(exec.device),
        (unsigned long long)shape.path_count);

    free(path.data);
    free(rows.data);
    free(leaves);
    pool_poseidon_destroy(&set);
    must(pool_destroy(&pool));
    return 0;
}
