/* SPDX-License-Identifier: Apache-2.0 */
#include "zk/poseidon/arguments.h"

#include "base/params.h"
#include "base/status.h"
#include "zk/operation/exec.h"

pool_status poseidon_read_exec(
    const char *call, const pool_poseidon *set, const pool_exec *given, pool_exec *exec)
{
    static const struct exec_rules rules = {.checks = POOL_CHECK_CANONICAL,
        .has_async = true,
        .has_host = true,
        .has_workspace = true,
        .has_memory_limit = true,
        .has_devices = true,
        .has_async_devices = true};

    return set ? exec_read(call, given, &rules, exec) : base_fail_null(call, "set");
}

pool_status poseidon_check_operand(const char *call, const pool_field *field, const pool_exec *exec,
    const struct poseidon_operand *operand)
{
    const pool_span *span = operand->span;
    uint64_t item_bytes = (uint64_t)operand->elements * field->bytes;
    uint64_t stride, bytes;

    if (!span)
        return base_fail_null(call, operand->name);
    if (span->form != POOL_FORM_STANDARD && span->form != POOL_FORM_MONTGOMERY)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %d for `%s->form`", call,
            (int)span->form, operand->name);
    if (exec->device_count && span->space == POOL_MEMORY_SHARDED)
        return POOL_OK; /* each shard is an operand of one device */
    if (span->space != POOL_MEMORY_HOST && span->space != POOL_MEMORY_DEVICE)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: unsupported value %d for `%s->space`",
            call, (int)span->space, operand->name);
    stride = span->stride ? span->stride : item_bytes;
    if (stride < item_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value %llu for `%s->stride`; an item has %llu bytes", call,
            (unsigned long long)stride, operand->name, (unsigned long long)item_bytes);
    if (__builtin_mul_overflow(stride, span->count, &bytes) || bytes > UINT64_MAX / 2)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` exceeds the address space: %llu items with a stride of %llu bytes", call,
            operand->name, (unsigned long long)span->count, (unsigned long long)stride);
    return POOL_OK;
}

pool_status poseidon_check_data(const char *call, const struct poseidon_operand *operand)
{
    return operand->span->data || !operand->span->count
               ? POOL_OK
               : base_fail(POOL_ERR_INVALID_ARGUMENT,
                     "%s: `%s->data` must not be NULL with a count of %llu", call, operand->name,
                     (unsigned long long)operand->span->count);
}

pool_status poseidon_check_operands(const char *call, const pool_field *field,
    const pool_exec *exec, const struct poseidon_operand *in, const struct poseidon_operand *out,
    uint64_t results)
{
    pool_status status = poseidon_check_operand(call, field, exec, in);

    if (!status)
        status = poseidon_check_operand(call, field, exec, out);
    if (status)
        return status;
    if (out->span->count < results)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `%s` has space for %llu items, the call writes %llu", call, out->name,
            (unsigned long long)out->span->count, (unsigned long long)results);
    if (exec->on_host &&
        (in->span->space != POOL_MEMORY_HOST || out->span->space != POOL_MEMORY_HOST))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: with `on_host` `%s` must be in host memory", call,
            in->span->space != POOL_MEMORY_HOST ? in->name : out->name);
    return POOL_OK;
}
