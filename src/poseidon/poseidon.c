/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations as they are called: arguments checked, once, then the host or a device.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "memory/exec.h"
#include "poseidon/poseidon.h"
#include "vector/check.h"

static const struct base_struct poseidon_sponge_params_type =
    BASE_STRUCT(pool_poseidon_sponge_params);

void pool_poseidon_sponge_params_init(pool_poseidon_sponge_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

pool_status poseidon_exec_read(const char *call, const pool_exec *given, pool_exec *exec)
{
    static const struct memory_exec_rules rules = {
        .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_host = true};

    return memory_exec_read(call, given, &rules, exec);
}

/* Told in so many steps at most. */
enum { WATCH_STEPS = 256 };

struct poseidon_watch poseidon_watch_of(const pool_exec *exec, uint64_t total)
{
    return (struct poseidon_watch){.is_async = exec->is_async != 0,
        .progress = exec->progress,
        .user = exec->user,
        .cancel = exec->cancel,
        .total = total};
}

pool_status poseidon_watch_count(struct poseidon_watch *watch, uint64_t amount)
{
    if (pool_cancel_requested(watch->cancel))
        return base_fail(POOL_ERR_CANCELLED, "the caller cancelled after %llu of %llu",
            (unsigned long long)watch->done, (unsigned long long)watch->total);
    watch->done += amount;
    if (!watch->progress || watch->done == watch->told ||
        (watch->done - watch->told < watch->total / WATCH_STEPS && watch->done < watch->total))
        return POOL_OK;
    watch->told = watch->done;
    watch->progress(watch->user, watch->done, watch->total);
    return POOL_OK;
}

/* Both spans of an operation, whose items have so many elements. */
static pool_status check_spans(const pool_poseidon *set, const pool_exec *exec, const pool_span *in,
    uint32_t in_elements, const char *in_name, const pool_span *out, uint64_t out_count,
    uint32_t out_elements, const char *out_name)
{
    size_t bytes = set->field->bytes;
    pool_status status = poseidon_span_check(in, in_elements * bytes, in_name);

    if (!status)
        status = poseidon_span_check(out, out_elements * bytes, out_name);
    if (status)
        return status;
    if (out->count < out_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu %s are computed, there is room for %llu",
            (unsigned long long)out_count, out_name, (unsigned long long)out->count);
    if (exec->on_host && (in->place != POOL_MEMORY_HOST || out->place != POOL_MEMORY_HOST))
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "on_host is set, but %s lie in device memory",
            in->place != POOL_MEMORY_HOST ? in_name : out_name);
    return POOL_OK;
}

/* The elements of a call that computes on the host; on a device it is done piece by piece. */
static pool_status check_on_host(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *in, uint32_t elements, uint64_t first, const char *what)
{
    const struct vector_items items = {.elements = elements, .first = first, .what = what};

    return exec->checks ? poseidon_host_check(set, in, &items) : POOL_OK;
}

static pool_status begin(
    const char *call, const pool_poseidon *set, const pool_exec *given, pool_exec *exec)
{
    return set ? poseidon_exec_read(call, given, exec) : base_fail_null(call, "set");
}

pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *given,
    const pool_span *states, const pool_span *results)
{
    pool_exec exec;
    struct poseidon_watch watch;
    pool_status status = begin("pool_poseidon_permute", set, given, &exec);

    if (!status)
        status = check_spans(set, &exec, states, set->width, "states", results,
            states ? states->count : 0, set->width, "results");
    if (status)
        return status;
    watch = poseidon_watch_of(&exec, states->count);
    if (exec.on_host) {
        status = check_on_host(set, &exec, states, set->width, 0, "states");
        return status ? status : poseidon_host_permute(set, states, results, &watch);
    }
    return poseidon_device_permute(set, &exec, states, results);
}

pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *given,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    pool_exec exec;
    struct poseidon_watch watch;
    pool_status status = begin("pool_poseidon_hash", set, given, &exec);

    if (!status && (elements == 0 || elements > set->inputs))
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_poseidon_hash: unsupported value %u for `elements`; %s hashes 1 to %u", elements,
            set->name, set->inputs);
    if (!status)
        status = check_spans(set, &exec, inputs, elements, "inputs", digests,
            inputs ? inputs->count : 0, set->digest, "digests");
    if (status)
        return status;
    watch = poseidon_watch_of(&exec, inputs->count);
    if (exec.on_host) {
        status = check_on_host(set, &exec, inputs, elements, 0, "inputs");
        return status ? status : poseidon_host_hash(set, inputs, elements, digests, &watch);
    }
    return poseidon_device_hash(set, &exec, inputs, elements, digests);
}

pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *given,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results)
{
    pool_poseidon_sponge_params known;
    pool_exec exec;
    struct poseidon_sponge sponge;
    struct poseidon_watch watch;
    pool_status status = begin("pool_poseidon_sponge", set, given, &exec);

    if (!status)
        status = base_struct_read(
            &poseidon_sponge_params_type, "pool_poseidon_sponge", "params", params, &known);
    if (!status)
        status = poseidon_sponge_read(set, &known, &sponge);
    if (!status)
        status = check_spans(set, &exec, messages, sponge.elements, "messages", results,
            messages ? messages->count : 0, sponge.squeezed, "results");
    if (status)
        return status;
    watch = poseidon_watch_of(&exec, messages->count);
    if (exec.on_host) {
        status = check_on_host(set, &exec, messages, sponge.elements, 0, "messages");
        return status ? status : poseidon_host_sponge(set, &sponge, messages, results, &watch);
    }
    return poseidon_device_sponge(set, &exec, &sponge, messages, results);
}

pool_status poseidon_build(const pool_poseidon *set, const pool_exec *given,
    const pool_merkle_params *params, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *rows)
{
    pool_exec exec;
    struct poseidon_tree tree;
    struct poseidon_watch watch;
    pool_status status = begin("pool_poseidon_merkle_build", set, given, &exec);

    if (!status && !leaves)
        status = base_fail_null("pool_poseidon_merkle_build", "leaves");
    if (!status)
        status =
            poseidon_tree_read("pool_poseidon_merkle_build", set, params, leaves->count, &tree);
    if (status)
        return status;
    status = check_spans(
        set, &exec, leaves, tree.leaf_elements, "leaves", rows, tree.digests, set->digest, "rows");
    watch = poseidon_watch_of(&exec, poseidon_tree_work(&tree));
    if (!status && exec.on_host)
        status = check_on_host(set, &exec, leaves, tree.leaf_elements, first_leaf, "leaves");
    if (!status && exec.on_host)
        status = poseidon_host_build(set, &tree, leaves, rows, &watch);
    else if (!status)
        status = poseidon_device_build(set, &exec, &tree, leaves, first_leaf, rows);
    poseidon_tree_free(&tree);
    return status;
}

pool_status pool_poseidon_merkle_build(const pool_poseidon *set, const pool_exec *exec,
    const pool_merkle_params *params, const pool_span *leaves, const pool_span *rows)
{
    return poseidon_build(set, exec, params, leaves, 0, rows);
}
