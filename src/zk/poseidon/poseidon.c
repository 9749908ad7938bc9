/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations, fixed-length hashes and sponges: their arguments, and how several devices divide
 * them. run.c enqueues, host.c computes on the host.
 */
#include "zk/poseidon/poseidon.h"

#include "base/params.h"
#include "base/status.h"
#include "zk/poseidon/host.h"
#include "zk/poseidon/run.h"

static const struct base_struct sponge_params_type = BASE_STRUCT(pool_poseidon_sponge_params);

void pool_poseidon_sponge_params_init(pool_poseidon_sponge_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

struct span_item poseidon_item(const pool_poseidon *set, uint32_t elements)
{
    return (struct span_item){.bytes = (uint64_t)elements * set->field->bytes,
        .kind = "items",
        .name = set->name,
        .any_host_stride = true};
}

/* ---- steps ----------------------------------------------------------------------------------- */

static pool_status read_permutation(void *user)
{
    struct poseidon_call *call = user;

    call->in_elements = call->out_elements = call->set->width;
    return POOL_OK;
}

static pool_status read_hash(void *user)
{
    struct poseidon_call *call = user;

    call->out_elements = call->set->digest_elements;
    return call->in_elements && call->in_elements <= call->set->max_inputs
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: unsupported value %u for `elements`; %s hashes 1 to %u elements",
                     call->frame.name, call->in_elements, call->set->name, call->set->max_inputs);
}

static pool_status read_sponge(void *user)
{
    struct poseidon_call *call = user;
    pool_status status = poseidon_sponge_init(call->set, &call->params, &call->sponge);

    call->in_elements = call->sponge.elements;
    call->out_elements = call->sponge.output_elements;
    return status;
}

static void set_items(void *user)
{
    struct poseidon_call *call = user;

    call->frame.subject = call->set->name;
    call->frame.items = call->in->count;
    call->frame.item[0] = poseidon_item(call->set, call->in_elements);
    call->frame.item[1] = poseidon_item(call->set, call->out_elements);
}

pool_status poseidon_check_space(
    const struct operation_call *call, const pool_span *out, const char *name, uint64_t items)
{
    return out->count >= items
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: `%s` has space for %llu items, the call writes %llu", call->name, name,
                     (unsigned long long)out->count, (unsigned long long)items);
}

static pool_status check_space(void *user)
{
    const struct poseidon_call *call = user;

    return poseidon_check_space(
        &call->frame, call->out, call->frame.operation->arguments[2].name, call->in->count);
}

static pool_status compute_on_host(void *user)
{
    struct poseidon_call *call = user;
    struct progress *progress = &call->frame.progress;
    pool_status status = call->frame.exec.checks
                             ? poseidon_host_check(call->set, call->in, call->in_elements, 0,
                                   call->frame.operation->arguments[1].name)
                             : POOL_OK;

    if (status)
        return status;
    switch (call->kernel) {
    case POSEIDON_PERMUTE:
        return poseidon_host_permute(call->set, call->in, call->out, progress);
    case POSEIDON_HASH:
        return poseidon_host_hash(call->set, call->in, call->in_elements, call->out, progress);
    default:
        return poseidon_host_sponge(call->set, &call->sponge, call->in, call->out, progress);
    }
}

/* ---- several devices: consecutive items ------------------------------------------------------ */

static pool_status divide(void *user, struct operation_division *division)
{
    const struct poseidon_call *call = user;
    const pool_span *in = call->in, *out = call->out;
    const bool is_by_results =
        in->space != POOL_MEMORY_SHARDED && out->space == POOL_MEMORY_SHARDED;

    if (is_by_results && out->count != in->count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: the shards of `%s` have %llu items, the call writes %llu", call->frame.name,
            call->frame.operation->arguments[2].name, (unsigned long long)out->count,
            (unsigned long long)in->count);
    devices_divide(&division->devices, is_by_results ? out : in, 1, division->first);
    division->per_unit[0] = division->per_unit[1] = 1;
    return POOL_OK;
}

static bool make_part(const void *whole, const struct operation_division *division, uint32_t index,
    uint32_t number, void *user)
{
    struct poseidon_call *part = user;

    (void)whole;
    (void)operation_take_units(division, index, &part->frame);
    part->first = division->first[index];
    return !number;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define OPERATION(its_read, its_in, its_out, ...)                                                  \
    {                                                                                              \
        .counter = "poseidon", .call_bytes = sizeof(struct poseidon_call),                         \
        .rules = {POSEIDON_EXEC_RULES},                                                            \
        .arguments = {{.name = "set", .at = offsetof(struct poseidon_call, set)},                  \
            {(its_in), offsetof(struct poseidon_call, in), OPERATION_SPAN, .operand = (its_in)},   \
            {(its_out), offsetof(struct poseidon_call, out), OPERATION_SPAN,                       \
                .operand = (its_out)},                                                             \
            __VA_ARGS__},                                                                          \
        .read = (its_read), .prepare = set_items, .check = check_space, .plan = poseidon_plan,     \
        .run = poseidon_run, .on_host = compute_on_host, .divide = divide, .part = make_part       \
    }

static const struct operation permutation = OPERATION(read_permutation, "states", "results", );
static const struct operation hash = OPERATION(read_hash, "inputs", "digests", );
static const struct operation sponge = OPERATION(read_sponge, "messages", "results",
    {"params", offsetof(struct poseidon_call, given), OPERATION_PARAMS, .type = &sponge_params_type,
        .copy_at = offsetof(struct poseidon_call, params)});

/* ---- public ---------------------------------------------------------------------------------- */

#define POSEIDON_CALL(its_operation, its_kernel, ...)                                              \
    {                                                                                              \
        .frame = OPERATION_CALL(&(its_operation), exec), .kernel = (its_kernel), .set = set,       \
        __VA_ARGS__                                                                                \
    }

pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results)
{
    struct poseidon_call call =
        POSEIDON_CALL(permutation, POSEIDON_PERMUTE, .in = states, .out = results);

    return operation_run(&call.frame);
}

pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    struct poseidon_call call =
        POSEIDON_CALL(hash, POSEIDON_HASH, .in = inputs, .in_elements = elements, .out = digests);

    return operation_run(&call.frame);
}

pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results)
{
    struct poseidon_call call =
        POSEIDON_CALL(sponge, POSEIDON_SPONGE, .given = params, .in = messages, .out = results);

    return operation_run(&call.frame);
}

pool_status pool_poseidon_permute_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results, uint64_t *bytes)
{
    struct poseidon_call call =
        POSEIDON_CALL(permutation, POSEIDON_PERMUTE, .in = states, .out = results);

    return operation_forecast(&call.frame, bytes);
}

pool_status pool_poseidon_hash_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests, uint64_t *bytes)
{
    struct poseidon_call call =
        POSEIDON_CALL(hash, POSEIDON_HASH, .in = inputs, .in_elements = elements, .out = digests);

    return operation_forecast(&call.frame, bytes);
}

pool_status pool_poseidon_sponge_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results,
    uint64_t *bytes)
{
    struct poseidon_call call =
        POSEIDON_CALL(sponge, POSEIDON_SPONGE, .given = params, .in = messages, .out = results);

    return operation_forecast(&call.frame, bytes);
}
