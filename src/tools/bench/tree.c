/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures building Merkle trees, whose levels are written to pinned host memory or stay on the
 * device, or in shards on the devices, and openings of trees on the device; the size is the number
 * of leaves. A sample of the leaves is verified against the root on the host.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { SAMPLES = 16 };

struct tree_state {
    pool_poseidon *set;
    pool_merkle_params params;
    pool_merkle_shape shape;
    size_t digest_bytes;
    uint8_t *leaves;
    struct bench_array placed; /* the leaves */
    struct bench_array levels;
    uint8_t *paths; /* of openings, SAMPLES of them */
};

static pool_status create_tree(struct bench_run *run)
{
    struct tree_state *tree = bench_keep(run, 1, sizeof(*tree));
    const uint64_t size = run->spec.size;
    const pool_field *field;
    pool_status status;

    run->state = tree;
    run->units = (double)size;
    status = pool_poseidon_by_name(run->spec.subject, &tree->set);
    if (status)
        return status;
    field = pool_poseidon_field(tree->set);
    tree->params = (pool_merkle_params){.struct_size = sizeof(tree->params),
        .arity = run->spec.log_arity ? 1u << run->spec.log_arity : 2};
    tree->shape.struct_size = sizeof(tree->shape);
    tree->digest_bytes = pool_poseidon_digest_elements(tree->set) * pool_field_element_bytes(field);
    tree->leaves = bench_keep(run, size, tree->digest_bytes);
    status = bench_random_scalars(
        field, 1, size * pool_poseidon_digest_elements(tree->set), run->spec.form, tree->leaves);
    return status ? status : pool_merkle_get_shape(tree->set, &tree->params, size, &tree->shape);
}

static pool_status warm_up_tree(struct bench_run *run)
{
    struct tree_state *tree = run->state;

    return pool_poseidon_warm_up(
        tree->set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

/* Leaves per unit of a shard: those of a subtree, of which each device has many. */
static uint64_t shard_unit(const struct bench_run *run, const struct tree_state *tree)
{
    const uint64_t arity = tree->params.arity;
    uint64_t unit = 1;

    while (run->spec.size % (unit * arity) == 0 &&
           unit * arity * 64 * run->together->device_count <= run->spec.size)
        unit *= arity;
    return unit == 1 && run->spec.size % arity == 0 ? arity : unit;
}

static pool_status upload_tree(struct bench_run *run)
{
    struct tree_state *tree = run->state;
    const bool is_sharded = run->together && run->is_sharded;
    uint64_t digests[BENCH_MAX_DEVICES];
    struct bench_items levels = {.item_bytes = tree->digest_bytes,
        .count = tree->shape.digest_count,
        .form = run->spec.form,
        .is_pinned = !is_sharded && !run->spec.on_device};
    pool_status status = bench_place(run,
        &(struct bench_items){.from = tree->leaves,
            .item_bytes = tree->digest_bytes,
            .count = run->spec.size,
            .form = run->spec.form,
            .is_pinned = !is_sharded && run->spec.from_host,
            .unit = is_sharded ? shard_unit(run, tree) : 1},
        &tree->placed);

    if (!status && is_sharded) {
        status = pool_poseidon_merkle_shards(
            tree->set, &run->exec, &tree->params, &tree->placed.span, digests);
        levels.each = digests;
    }
    return status ? status : bench_place(run, &levels, &tree->levels);
}

static pool_status call_tree(struct bench_run *run)
{
    struct tree_state *tree = run->state;

    return pool_poseidon_merkle_build(
        tree->set, &run->exec, &tree->params, &tree->placed.span, &tree->levels.span);
}

static void locate_root(const struct bench_run *run, struct bench_result *result)
{
    const struct tree_state *tree = run->state;
    const uint64_t offset = (tree->shape.digest_count - 1) * tree->digest_bytes;

    *result = (struct bench_result){.bytes = tree->digest_bytes};
    if (tree->levels.buffer) {
        result->buffer = tree->levels.buffer;
        result->offset = offset;
    } else {
        result->data = (const uint8_t *)tree->levels.span.data + offset;
    }
}

static uint64_t sample_count(const struct bench_run *run)
{
    return run->spec.size < SAMPLES ? run->spec.size : SAMPLES;
}

static uint64_t sample_index(const struct bench_run *run, uint64_t i)
{
    const uint64_t samples = sample_count(run);

    return samples > 1 ? i * (run->spec.size - 1) / (samples - 1) : 0;
}

static pool_status verify_leaf(const struct bench_run *run, uint64_t index, const uint8_t *root,
    const uint8_t *path, bool *is_member)
{
    const struct tree_state *tree = run->state;
    pool_merkle_params params = tree->params;
    int32_t found = 0;
    pool_status status = POOL_OK;

    params.height = tree->shape.height;
    if (params.height)
        status = pool_poseidon_merkle_verify(tree->set, &params, run->spec.form, root,
            tree->leaves + index * tree->digest_bytes, index, path, &found);
    *is_member = found || !params.height;
    return status;
}

static pool_status check_leaf(
    struct bench_run *run, uint64_t index, const uint8_t *root, uint8_t *path, bool *is_member)
{
    const struct tree_state *tree = run->state;
    const pool_exec one = {.struct_size = sizeof(one), .device = run->device};
    const pool_exec *exec = tree->levels.shards ? &run->exec : &one;
    const pool_span siblings = {
        .data = path, .count = tree->shape.path_count, .form = run->spec.form};
    pool_status status = pool_poseidon_merkle_open(tree->set, exec, &tree->params, run->spec.size,
        tree->levels.shards ? &tree->placed.span : NULL, &tree->levels.span, index, &siblings);

    return status ? status : verify_leaf(run, index, root, path, is_member);
}

static pool_status check_tree(struct bench_run *run, bool *is_correct)
{
    const struct tree_state *tree = run->state;
    uint8_t *path = bench_alloc(tree->shape.path_count, tree->digest_bytes);
    uint8_t *root = bench_alloc(1, tree->digest_bytes);
    pool_status status = bench_copy_root(&tree->levels, root);

    *is_correct = true;
    for (uint64_t i = 0; i < sample_count(run) && !status; i++) {
        bool is_member = false;

        status = check_leaf(run, sample_index(run, i), root, path, &is_member);
        *is_correct = *is_correct && is_member;
    }
    free(root);
    free(path);
    return status;
}

static void destroy_tree(struct bench_run *run)
{
    struct tree_state *tree = run->state;

    pool_poseidon_destroy(&tree->set);
}

const struct bench_operation bench_tree = {
    .name = "tree",
    .options = "together sharded",
    .unit = "leaves",
    .option = "set",
    .default_subjects = "circom-bn254-t3",
    .default_sizes = "2^8,2^10,2^12",
    .is_blocking = true,
    .has_subject = bench_has_set,
    .create = create_tree,
    .warm_up = warm_up_tree,
    .upload = upload_tree,
    .call = call_tree,
    .check = check_tree,
    .result = locate_root,
    .destroy = destroy_tree,
};

/* ---- openings -------------------------------------------------------------------------------- */

static pool_status upload_open(struct bench_run *run)
{
    struct tree_state *tree = run->state;
    pool_status status;

    run->spec.on_device = true;
    run->units = (double)sample_count(run);
    tree->paths = bench_keep(run, SAMPLES * tree->shape.path_count, tree->digest_bytes);
    status = upload_tree(run);
    return status ? status : call_tree(run);
}

static uint8_t *path_of(const struct tree_state *tree, uint64_t i)
{
    return tree->paths + i * tree->shape.path_count * tree->digest_bytes;
}

static pool_status call_open(struct bench_run *run)
{
    const struct tree_state *tree = run->state;
    pool_status status = POOL_OK;

    for (uint64_t i = 0; i < sample_count(run) && !status; i++) {
        const pool_span path = {
            .data = path_of(tree, i), .count = tree->shape.path_count, .form = run->spec.form};

        status = pool_poseidon_merkle_open(tree->set, &run->exec, &tree->params, run->spec.size,
            NULL, &tree->levels.span, sample_index(run, i), &path);
    }
    return status;
}

static pool_status check_open(struct bench_run *run, bool *is_correct)
{
    const struct tree_state *tree = run->state;
    uint8_t *digest = bench_alloc(1, tree->digest_bytes);
    pool_status status = bench_copy_root(&tree->levels, digest);

    *is_correct = true;
    for (uint64_t i = 0; i < sample_count(run) && !status; i++) {
        bool is_member = false;

        status = verify_leaf(run, sample_index(run, i), digest, path_of(tree, i), &is_member);
        *is_correct = *is_correct && is_member;
    }
    free(digest);
    return status;
}

static void locate_paths(const struct bench_run *run, struct bench_result *result)
{
    const struct tree_state *tree = run->state;

    *result = (struct bench_result){.data = tree->paths,
        .bytes = sample_count(run) * tree->shape.path_count * tree->digest_bytes};
}

const struct bench_operation bench_open = {
    .name = "open",
    .options = "",
    .unit = "openings",
    .option = "set",
    .default_subjects = "circom-bn254-t3",
    .default_sizes = "2^8,2^10,2^12",
    .is_blocking = true,
    .has_subject = bench_has_set,
    .create = create_tree,
    .warm_up = warm_up_tree,
    .upload = upload_open,
    .call = call_open,
    .check = check_open,
    .result = locate_paths,
    .destroy = destroy_tree,
};
