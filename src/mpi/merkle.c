/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Merkle tree over the leaves of all ranks: each rank builds the subtree of its leaves, and every
 * rank builds the levels above from the roots of the subtrees.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const struct base_struct pool_merkle_params_type = BASE_STRUCT(pool_merkle_params);

struct merkle_run {
    pool_mpi *mpi;
    const pool_poseidon *set;
    pool_exec exec;
    pool_merkle_params subtree; /* params of the parts */
    pool_merkle_params top;
    pool_merkle_shape subtree_shape;
    pool_merkle_shape top_shape;
    size_t digest_bytes;
    uint8_t *padding; /* of the top: the root of a subtree of absent leaves; standard form */
    struct group_call call;
};

/* log of `leaves` to the base `arity`, or UINT32_MAX. */
static uint32_t exact_log(uint64_t leaves, uint32_t arity)
{
    uint32_t log = 0;

    if (!leaves || arity < 2)
        return UINT32_MAX;
    for (; leaves % arity == 0; leaves /= arity)
        log++;
    return leaves == 1 ? log : UINT32_MAX;
}

static pool_status set_shapes(
    struct merkle_run *run, const pool_merkle_params *params, uint64_t leaves)
{
    const char *call = run->call.name;
    const uint32_t height = exact_log(leaves, params->arity);
    pool_status status;

    if (params->arity < 2 || params->arity > 16)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %u for `arity` is out of range: 2 ... 16",
            call, params->arity);
    if (height == UINT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %llu leaves per rank are not a power of the arity %u; every rank must have the "
            "same power",
            call, (unsigned long long)leaves, params->arity);
    if (params->height && params->height < height)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: a tree of height %u has fewer leaves than each rank, %llu", call, params->height,
            (unsigned long long)leaves);
    run->subtree = *params;
    run->subtree.height = height;
    run->top = *params;
    run->top.height = params->height ? params->height - height : 0;
    run->top.kept_levels = 0;
    run->top.leaf_elements = 0;
    run->top.padding = run->padding;
    run->subtree_shape.struct_size = sizeof(run->subtree_shape);
    run->top_shape.struct_size = sizeof(run->top_shape);
    /* A tree of height 0 has no params of its own: its root is its leaf. */
    if (params->height && params->height == height && run->mpi->ranks > 1)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: a tree of height %u has fewer leaves than all ranks together", call,
            params->height);
    status = pool_merkle_get_shape(run->set, &run->subtree, leaves, &run->subtree_shape);
    return status ? status
                  : pool_merkle_get_shape(
                        run->set, &run->top, (uint64_t)run->mpi->ranks, &run->top_shape);
}

pool_status pool_mpi_merkle_get_shape(const pool_mpi *mpi, const pool_poseidon *set,
    const pool_merkle_params *params, uint64_t leaves, pool_merkle_shape *subtree,
    pool_merkle_shape *top)
{
    static const struct base_struct type = BASE_STRUCT(pool_merkle_shape);
    struct merkle_run run = {.set = set, .call = {.name = "pool_mpi_merkle_get_shape"}};
    pool_merkle_params known;
    pool_status status =
        base_check_pointers(run.call.name, {"mpi", mpi}, {"set", set}, {"top", top});

    if (!status)
        status =
            base_struct_read(&pool_merkle_params_type, run.call.name, "params", params, &known);
    if (!status)
        status = base_struct_check(&type, run.call.name, "subtree", subtree);
    if (!status)
        status = base_struct_check(&type, run.call.name, "top", top);
    if (status)
        return status;
    run.mpi = (pool_mpi *)mpi;
    known.padding = NULL;
    status = set_shapes(&run, &known, leaves);
    if (status)
        return status;
    base_struct_write(&type, &run.subtree_shape, subtree);
    base_struct_write(&type, &run.top_shape, top);
    return POOL_OK;
}

static pool_status read_call(struct merkle_run *run, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaves)
{
    const char *call = run->call.name;
    pool_merkle_params known;
    pool_status status = base_check_pointers(call, {"set", run->set});

    if (!status)
        status = base_struct_read(&pool_merkle_params_type, call, "params", params, &known);
    if (!status)
        status = group_exec_read(run->mpi, call, exec, &run->exec);
    if (status)
        return status;
    run->digest_bytes = pool_poseidon_digest_elements(run->set) *
                        pool_field_element_bytes(pool_poseidon_field(run->set));
    run->padding = base_calloc(1, run->digest_bytes);
    if (!run->padding)
        return base_fail_memory("a padding node");
    snprintf(run->call.object, sizeof(run->call.object), "%s", pool_poseidon_name(run->set));
    group_call_add(&run->call, "the number of leaves", leaves);
    group_call_add(&run->call, "arity", known.arity);
    group_call_add(&run->call, "leaf_elements", known.leaf_elements);
    group_call_add(&run->call, "height", known.height);
    group_call_add(&run->call, "kept_levels", known.kept_levels);
    group_call_add(&run->call, "leaf_mode", (uint64_t)known.leaf_mode);
    group_call_add(&run->call, "the digest of padding",
        known.padding ? group_digest(known.padding, run->digest_bytes)
                      : group_digest(run->padding, run->digest_bytes));
    status = pool_poseidon_fingerprint(run->set, run->call.fingerprint);
    return status ? status : set_shapes(run, &known, leaves);
}

/* The top is small and in host memory on every rank. */
static pool_status check_digests(
    const struct merkle_run *run, const pool_span *span, uint64_t count, const char *name)
{
    if (!span)
        return base_fail_null(run->call.name, name);
    if (!span->data)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s: %s->data must not be NULL", run->call.name, name);
    if (span->space != POOL_MEMORY_HOST)
        return base_fail(
            POOL_ERR_UNSUPPORTED, "%s: %s must be in host memory", run->call.name, name);
    if (span->stride && span->stride != run->digest_bytes)
        return base_fail(POOL_ERR_UNSUPPORTED, "%s: %s must be packed", run->call.name, name);
    if (span->count != count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %s has %llu digests; it needs %llu",
            run->call.name, name, (unsigned long long)span->count, (unsigned long long)count);
    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unknown value %d for `form` of %s",
            run->call.name, (int)span->form, name);
    return POOL_OK;
}

/* On the host, or on one device: the few hashes of the top are not divided. */
static pool_exec exec_of_top(const struct merkle_run *run)
{
    pool_exec exec = run->exec;

    exec.devices = NULL;
    exec.device_count = 0;
    exec.progress = NULL;
    exec.checks = POOL_CHECK_NONE;
    if (!exec.device && !exec.lease && !exec.on_host)
        exec.device = run->mpi->device;
    return exec;
}

/* ---- building -------------------------------------------------------------------------------- */

/* The root of a subtree whose leaves are all absent. */
static pool_status find_padding(struct merkle_run *run, const pool_merkle_params *params)
{
    const pool_exec exec = exec_of_top(run);
    pool_merkle_params absent = *params;
    uint8_t *zeros = base_calloc(1, run->digest_bytes);
    const pool_span leaf = {
        .data = params->padding ? (void *)(uintptr_t)params->padding : zeros, .count = 1};
    const pool_span root = {.data = run->padding, .count = 1};
    pool_status status;

    if (!zeros)
        return base_fail_memory("a padding node");
    absent.kept_levels = 1;
    absent.leaf_elements = 0;
    if (absent.height)
        status = pool_poseidon_merkle_build(run->set, &exec, &absent, &leaf, &root);
    else
        status = (memcpy(run->padding, leaf.data, run->digest_bytes), POOL_OK);
    base_free(zeros);
    return status;
}

/* The last kept digest, in standard form. */
static pool_status read_root(const struct merkle_run *run, const pool_span *levels, void *root)
{
    const pool_field *field = pool_poseidon_field(run->set);
    const uint64_t stride = levels->stride ? levels->stride : run->digest_bytes;
    const uint64_t at = (run->subtree_shape.digest_count - 1) * stride;
    const uint32_t elements = pool_poseidon_digest_elements(run->set);
    pool_span from = {.data = (uint8_t *)levels->data + at,
        .count = elements,
        .form = levels->form,
        .space = levels->space};
    const pool_span to = {.data = root, .count = elements};
    uint8_t one[POOL_FIELD_MAX_BYTES] = {1};
    const pool_exec exec = exec_of_top(run);

    if (levels->space == POOL_MEMORY_HOST) {
        memcpy(root, from.data, run->digest_bytes);
        return levels->form == POOL_FORM_STANDARD
                   ? POOL_OK
                   : pool_field_from_montgomery(field, root, elements, root);
    }
    return pool_vector_scale(field, &exec, one, &from, &to);
}

static pool_status build_subtree(
    struct merkle_run *run, const pool_span *leaves, const pool_span *levels, uint8_t **roots)
{
    pool_status status =
        pool_poseidon_merkle_build(run->set, &run->exec, &run->subtree, leaves, levels);
    void *memory;

    if (!status)
        status = find_padding(run, &run->subtree);
    if (!status)
        status = group_buffer_get(
            run->mpi, GROUP_RECEIVED, (uint64_t)run->mpi->ranks * run->digest_bytes, &memory);
    if (status)
        return status;
    *roots = memory;
    return read_root(run, levels, *roots + (size_t)run->mpi->rank * run->digest_bytes);
}

/* To all ranks. */
static pool_status gather_roots(struct merkle_run *run, uint8_t *roots)
{
    pool_status status = group_gather(run->mpi, roots, run->digest_bytes);

    return status
               ? status
               : group_broadcast(run->mpi, roots, (uint64_t)run->mpi->ranks * run->digest_bytes, 0);
}

pool_status pool_mpi_merkle_build(pool_mpi *mpi, const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *levels,
    const pool_span *top)
{
    struct merkle_run run = {.mpi = mpi,
        .set = set,
        .call = {.name = "pool_mpi_merkle_build",
            .operation = GROUP_MERKLE_BUILD,
            .object_kind = "parameter set"}};
    pool_status status = group_check(mpi, run.call.name);
    uint8_t *roots = NULL;

    if (status)
        return status;
    status = base_check_pointers(run.call.name, {"leaves", leaves}, {"levels", levels});
    if (!status)
        status = read_call(&run, exec, params, leaves->count);
    if (!status)
        status = check_digests(&run, top, run.top_shape.digest_count, "top");
    status = group_agree(mpi, &run.call, status);
    if (!status)
        status = group_agree(mpi, &run.call, build_subtree(&run, leaves, levels, &roots));
    if (!status)
        status = group_agree(mpi, &run.call, gather_roots(&run, roots));
    if (!status) {
        const pool_exec here = exec_of_top(&run);
        const pool_span digests = {.data = roots, .count = (uint64_t)mpi->ranks};

        status = group_agree(
            mpi, &run.call, pool_poseidon_merkle_build(set, &here, &run.top, &digests, top));
    }
    base_free(run.padding);
    return status;
}

/* ---- openings -------------------------------------------------------------------------------- */

/* Every rank has the top; `data` is library memory for digests of that form. */
static pool_status open_top(
    struct merkle_run *run, const pool_span *top, uint64_t owner, pool_form form, void *data)
{
    const pool_exec here = exec_of_top(run);
    const pool_span upper = {.data = data, .count = run->top_shape.path_count, .form = form};
    pool_status status = find_padding(run, &run->subtree);

    if (status || !upper.count)
        return status;
    return pool_poseidon_merkle_open(
        run->set, &here, &run->top, (uint64_t)run->mpi->ranks, NULL, top, owner, &upper);
}

/* The rank of the leaf, into library memory. */
static pool_status open_subtree(struct merkle_run *run, const pool_span *leaves,
    const pool_span *levels, uint64_t leaf_count, uint64_t index, pool_form form, void *data)
{
    const pool_exec here = exec_of_top(run);
    const pool_span lower = {.data = data, .count = run->subtree_shape.path_count, .form = form};

    if ((uint64_t)run->mpi->rank != index / leaf_count || !lower.count)
        return POOL_OK;
    return pool_poseidon_merkle_open(
        run->set, &here, &run->subtree, leaf_count, leaves, levels, index % leaf_count, &lower);
}

static pool_status read_opening(struct merkle_run *run, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *top, uint64_t index,
    const pool_span *path)
{
    pool_status status = read_call(run, exec, params, leaf_count);

    if (!status)
        status = check_digests(run, top, run->top_shape.digest_count, "top");
    if (!status)
        status = check_digests(
            run, path, run->subtree_shape.path_count + run->top_shape.path_count, "path");
    if (!status && index / leaf_count >= (uint64_t)run->mpi->ranks)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: index %llu; %d ranks with %llu leaves have %llu", run->call.name,
            (unsigned long long)index, run->mpi->ranks, (unsigned long long)leaf_count,
            (unsigned long long)(leaf_count * (uint64_t)run->mpi->ranks));
    if (!status) {
        group_call_add(&run->call, "index", index);
        group_call_add(&run->call, "the form of path", (uint64_t)path->form);
    }
    return status;
}

pool_status pool_mpi_merkle_open(pool_mpi *mpi, const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, uint64_t leaf_count, const pool_span *leaves,
    const pool_span *levels, const pool_span *top, uint64_t index, const pool_span *path)
{
    struct merkle_run run = {.mpi = mpi,
        .set = set,
        .call = {.name = "pool_mpi_merkle_open",
            .operation = GROUP_MERKLE_OPEN,
            .object_kind = "parameter set"}};
    pool_status status = group_check(mpi, run.call.name);
    uint64_t bytes = 0, owner = 0;
    void *opened = NULL;

    if (status)
        return status;
    status =
        group_agree(mpi, &run.call, read_opening(&run, exec, params, leaf_count, top, index, path));
    if (!status) {
        owner = index / leaf_count;
        bytes = run.subtree_shape.path_count * run.digest_bytes;
        status = group_buffer_get(mpi, GROUP_SENT, path->count * run.digest_bytes + 1, &opened);
        if (!status)
            status = open_subtree(&run, leaves, levels, leaf_count, index, path->form, opened);
        if (!status)
            status = open_top(&run, top, owner, path->form, (uint8_t *)opened + bytes);
        status = group_agree(mpi, &run.call, status);
    }
    if (!status)
        status = group_agree(mpi, &run.call, group_broadcast(mpi, opened, bytes, (int)owner));
    if (!status && path->count)
        memcpy(path->data, opened, (size_t)path->count * run.digest_bytes);
    base_free(run.padding);
    return status;
}
