/* SPDX-License-Identifier: Apache-2.0 */
/* Verification of openings of Merkle trees, on the host. */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/poseidon/merkle.h"

/* Computes the root from the leaf's digest and the path, in place of the digest. */
static pool_status compute_root(const pool_poseidon *set, const struct poseidon_tree *tree,
    pool_form form, uint64_t index, const void *path, uint64_t *digest)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    size_t bytes = (size_t)set->digest_elements * set->field->bytes;
    const unsigned char *sibling = path;
    uint64_t children[POSEIDON_STATE_LIMBS];

    for (uint32_t level = 0; level < tree->height; level++) {
        for (uint32_t i = 0; i < tree->arity; i++) {
            if (i == index % tree->arity) {
                memcpy(children + i * limbs, digest, limbs * sizeof(*digest));
                continue;
            }
            pool_status status = poseidon_load(
                set->field, children + i * limbs, sibling, set->digest_elements, form, "`path`");
            if (status)
                return status;
            sibling += bytes;
        }
        poseidon_hash_one(set, children, tree->arity * set->digest_elements, digest);
        index /= tree->arity;
    }
    return POOL_OK;
}

static pool_status verify_path(const pool_poseidon *set, const struct poseidon_tree *tree,
    pool_form form, const void *root, const void *leaf, uint64_t index, const void *path,
    bool *is_member)
{
    size_t limbs = (size_t)set->digest_elements * set->field->limbs;
    uint64_t expected[POSEIDON_STATE_LIMBS];
    uint64_t digest[POSEIDON_STATE_LIMBS];
    uint64_t *elements = base_calloc(tree->leaf_elements, set->field->limbs * sizeof(*elements));
    pool_status status;

    if (!elements)
        return base_fail_memory("a leaf");
    status = poseidon_load(set->field, elements, leaf, tree->leaf_elements, form, "`leaf`");
    if (!status)
        status = poseidon_load(set->field, expected, root, set->digest_elements, form, "`root`");
    if (!status) {
        poseidon_leaf_digest(set, tree, elements, digest);
        status = compute_root(set, tree, form, index, path, digest);
    }
    if (!status)
        *is_member = memcmp(digest, expected, limbs * sizeof(*digest)) == 0;
    base_free(elements);
    return status;
}

pool_status pool_poseidon_merkle_verify(const pool_poseidon *set, const pool_merkle_params *params,
    pool_form form, const void *root, const void *leaf, uint64_t index, const void *path,
    int32_t *is_member)
{
    static const char call[] = "pool_poseidon_merkle_verify";
    struct poseidon_tree tree;
    uint64_t ancestor = index;
    bool member = false;
    pool_status status = poseidon_tree_init(call, set, params, 1, &tree);

    if (status)
        return status;
    for (uint32_t level = 0; level < tree.height; level++)
        ancestor /= tree.arity;
    status = base_check_pointers(call, {"root", root}, {"leaf", leaf},
        {"path", tree.height ? path : root}, {"is_member", is_member});
    if (!status)
        status = base_check_ranges(call, {"form", form, 0, POOL_FORM_MONTGOMERY});
    if (!status && ancestor == 0)
        status = verify_path(set, &tree, form, root, leaf, index, path, &member);
    poseidon_tree_free(&tree);
    if (!status)
        *is_member = member;
    return status;
}
