/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Permutations, fixed-length hashes and sponges: validation of the arguments, then the host or a
 * device computes.
 */
#include "poseidon/poseidon.h"

#include "base/log.h"
#include "base/params.h"
#include "base/status.h"
#include "poseidon/host.h"
#include "poseidon/run.h"

static const struct base_struct sponge_params_type = BASE_STRUCT(pool_poseidon_sponge_params);

void pool_poseidon_sponge_params_init(pool_poseidon_sponge_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

/* Validates the spans of an operation that writes one item of `out` per item of `in` and, for the
 * host, the elements of `in`; a device checks them chunk by chunk. */
static pool_status check_spans(const char *call, const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_operand *in, const struct poseidon_operand *out)
{
    uint64_t count = in->span ? in->span->count : 0;
    pool_status status = poseidon_check_operands(call, set->field, exec, in, out, count);

    if (!status && exec->on_host && exec->checks)
        status = poseidon_host_check(set, in->span, in->elements, 0, in->name);
    return status;
}

pool_status pool_poseidon_permute(const pool_poseidon *set, const pool_exec *given,
    const pool_span *states, const pool_span *results)
{
    BASE_LOG_LABEL(memory_exec_label(given));
    static const char call[] = "pool_poseidon_permute";
    struct memory_progress progress;
    pool_exec exec;
    pool_status status = poseidon_read_exec(call, set, given, &exec);

    if (status)
        return status;
    const struct poseidon_operand in = {states, set->width, "states"};
    const struct poseidon_operand out = {results, set->width, "results"};
    status = check_spans(call, set, &exec, &in, &out);
    if (status)
        return status;
    progress = (struct memory_progress){.call = call, .exec = &exec, .total = states->count};
    return exec.on_host ? poseidon_host_permute(set, states, results, &progress)
                        : poseidon_device_permute(set, &exec, states, results, &progress);
}

pool_status pool_poseidon_hash(const pool_poseidon *set, const pool_exec *given,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    BASE_LOG_LABEL(memory_exec_label(given));
    static const char call[] = "pool_poseidon_hash";
    struct memory_progress progress;
    pool_exec exec;
    pool_status status = poseidon_read_exec(call, set, given, &exec);

    if (status)
        return status;
    if (elements == 0 || elements > set->max_inputs)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %u for `elements`; %s hashes 1 to %u elements", call, elements,
            set->name, set->max_inputs);
    const struct poseidon_operand in = {inputs, elements, "inputs"};
    const struct poseidon_operand out = {digests, set->digest_elements, "digests"};
    status = check_spans(call, set, &exec, &in, &out);
    if (status)
        return status;
    progress = (struct memory_progress){.call = call, .exec = &exec, .total = inputs->count};
    return exec.on_host ? poseidon_host_hash(set, inputs, elements, digests, &progress)
                        : poseidon_device_hash(set, &exec, inputs, elements, digests, &progress);
}

pool_status pool_poseidon_sponge(const pool_poseidon *set, const pool_exec *given,
    const pool_poseidon_sponge_params *params, const pool_span *messages, const pool_span *results)
{
    BASE_LOG_LABEL(memory_exec_label(given));
    static const char call[] = "pool_poseidon_sponge";
    pool_poseidon_sponge_params known;
    struct memory_progress progress;
    struct poseidon_sponge sponge;
    pool_exec exec;
    pool_status status = poseidon_read_exec(call, set, given, &exec);

    if (!status)
        status = base_struct_read(&sponge_params_type, call, "params", params, &known);
    if (!status)
        status = poseidon_sponge_init(set, &known, &sponge);
    if (status)
        return status;
    const struct poseidon_operand in = {messages, sponge.elements, "messages"};
    const struct poseidon_operand out = {results, sponge.output_elements, "results"};
    status = check_spans(call, set, &exec, &in, &out);
    if (status)
        return status;
    progress = (struct memory_progress){.call = call, .exec = &exec, .total = messages->count};
    return exec.on_host ? poseidon_host_sponge(set, &sponge, messages, results, &progress)
                        : poseidon_device_sponge(set, &exec, &sponge, messages, results, &progress);
}
