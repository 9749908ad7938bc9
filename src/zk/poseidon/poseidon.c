/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations, fixed-length hashes and sponges: validation of the arguments, then the host or a
 * device computes.
 */
#include "zk/poseidon/poseidon.h"

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "zk/operation/timeout.h"
#include "zk/poseidon/host.h"
#include "zk/poseidon/run.h"

static const struct base_struct sponge_params_type = BASE_STRUCT(pool_poseidon_sponge_params);

void pool_poseidon_sponge_params_init(pool_poseidon_sponge_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* ---- calls, read and checked but for their spans' data ----------------------------------------
 */

static pool_status check_spans(const struct poseidon_call *call)
{
    uint64_t count = call->in.span ? call->in.span->count : 0;

    return poseidon_check_operands(
        call->name, call->set->field, &call->exec, &call->in, &call->out, count);
}

static pool_status read_permutation(const char *name, const pool_poseidon *set,
    const pool_exec *exec, const pool_span *states, const pool_span *results,
    struct poseidon_call *call)
{
    pool_status status;

    *call = (struct poseidon_call){.name = name, .set = set, .kernel = POSEIDON_PERMUTE};
    status = poseidon_read_exec(name, set, exec, &call->exec);
    if (status)
        return status;
    call->in = (struct poseidon_operand){states, set->width, "states"};
    call->out = (struct poseidon_operand){results, set->width, "results"};
    return check_spans(call);
}

static pool_status read_hash(const char *name, const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests,
    struct poseidon_call *call)
{
    pool_status status;

    *call = (struct poseidon_call){.name = name, .set = set, .kernel = POSEIDON_HASH};
    status = poseidon_read_exec(name, set, exec, &call->exec);
    if (status)
        return status;
    if (elements == 0 || elements > set->max_inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `elements`; %s hashes 1 to %u elements", name, elements,
            set->name, set->max_inputs);
    call->in = (struct poseidon_operand){inputs, elements, "inputs"};
    call->out = (struct poseidon_operand){digests, set->digest_elements, "digests"};
    return check_spans(call);
}

static pool_status read_sponge(const char *name, const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results,
    struct poseidon_call *call)
{
    pool_poseidon_sponge_params known;
    pool_status status;

    *call = (struct poseidon_call){.name = name, .set = set, .kernel = POSEIDON_SPONGE};
    status = poseidon_read_exec(name, set, exec, &call->exec);
    if (!status)
        status = base_struct_read(&sponge_params_type, name, "params", params, &known);
    if (!status)
        status = poseidon_sponge_init(set, &known, &call->sponge);
    if (status)
        return status;
    call->in = (struct poseidon_operand){messages, call->sponge.elements, "messages"};
    call->out = (struct poseidon_operand){results, call->sponge.output_elements, "results"};
    return check_spans(call);
}

/* ---- operations ------------------------------------------------------------------------------ */

static pool_status compute_on_host(const struct poseidon_call *call)
{
    const pool_span *in = call->in.span, *out = call->out.span;
    struct progress progress = {.call = call->name, .exec = &call->exec, .total = in->count};
    pool_status status =
        call->exec.checks ? poseidon_host_check(call->set, in, call->in.elements, 0, call->in.name)
                          : POOL_OK;

    if (status)
        return status;
    switch (call->kernel) {
    case POSEIDON_PERMUTE:
        return poseidon_host_permute(call->set, in, out, &progress);
    case POSEIDON_HASH:
        return poseidon_host_hash(call->set, in, call->in.elements, out, &progress);
    default:
        return poseidon_host_sponge(call->set, &call->sponge, in, out, &progress);
    }
}

static pool_status compute(const struct poseidon_call *call)
{
    pool_status status = poseidon_check_data(call->name, &call->in);

    if (!status)
        status = poseidon_check_data(call->name, &call->out);
    if (status)
        return status;
    if (call->exec.device_count)
        return poseidon_devices_run(call);
    return call->exec.on_host ? compute_on_host(call) : poseidon_device_run(call);
}

static pool_status poseidon_permute_timed(void *const *a)
{
    return pool_poseidon_permute(a[0], a[1], a[2], a[3]);
}

pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(poseidon_permute_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(exec),
            TIMED_SPAN(states), TIMED_SPAN(results));
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_permutation(__func__, set, exec, states, results, &call);

    return status ? status : compute(&call);
}

static pool_status poseidon_hash_timed(void *const *a)
{
    return pool_poseidon_hash(a[0], a[1], a[2], *(uint32_t *)a[3], a[4]);
}

pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(poseidon_hash_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(exec),
            TIMED_SPAN(inputs), TIMED_VALUE(elements), TIMED_SPAN(digests));
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_hash(__func__, set, exec, inputs, elements, digests, &call);

    return status ? status : compute(&call);
}

static pool_status poseidon_sponge_timed(void *const *a)
{
    return pool_poseidon_sponge(a[0], a[1], a[2], a[3], a[4]);
}

pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results)
{
    if (exec_has_timeout(exec))
        return TIMED_RUN(poseidon_sponge_timed, NULL, TIMED_POINTER(set), TIMED_EXEC(exec),
            TIMED_PARAMS(params), TIMED_SPAN(messages), TIMED_SPAN(results));
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_sponge(__func__, set, exec, params, messages, results, &call);

    return status ? status : compute(&call);
}

/* ---- forecasts ------------------------------------------------------------------------------- */

/* `status`: of the call that has been read. */
static pool_status forecast(const struct poseidon_call *call, pool_status status, uint64_t *bytes)
{
    if (status)
        return status;
    if (!bytes)
        return base_fail_null(call->name, "bytes");
    if (call->exec.device_count)
        return poseidon_devices_forecast(call, bytes);
    if (!call->exec.on_host)
        return poseidon_device_forecast(call, bytes);
    *bytes = 0;
    return POOL_OK;
}

pool_status pool_poseidon_permute_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_permutation(__func__, set, exec, states, results, &call);

    return forecast(&call, status, bytes);
}

pool_status pool_poseidon_hash_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests, uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_hash(__func__, set, exec, inputs, elements, digests, &call);

    return forecast(&call, status, bytes);
}

pool_status pool_poseidon_sponge_workspace(const pool_poseidon *set, const pool_exec *exec,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results,
    uint64_t *bytes)
{
    EXEC_SCOPE(exec);
    struct poseidon_call call;
    pool_status status = read_sponge(__func__, set, exec, params, messages, results, &call);

    return forecast(&call, status, bytes);
}
