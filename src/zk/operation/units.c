/* SPDX-License-Identifier: Apache-2.0 */
/* Units of items that are distributed over several devices: see operation.h. */
#include <string.h>

#include "base/status.h"
#include "zk/operation/frame.h"

pool_status operation_check_layout(const struct operation_division *division, bool is_interleaved)
{
    if (!is_interleaved || division->only_enqueues)
        return POOL_OK;
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: `layout` POOL_NTT_COLUMNS of a batch in host memory is not supported with "
        "`device_count` %u; it must be POOL_NTT_ROWS",
        division->call->name, division->devices.count);
}

static uint64_t units_of(const struct operation_division *division, uint32_t index)
{
    return division->first[index + 1] - division->first[index];
}

static bool is_sharded(const struct operation_operands *operand)
{
    return operand->span && operand->span->space == POOL_MEMORY_SHARDED;
}

static pool_status check_shards(const struct operation_division *division,
    const struct operation_operands *operand, const char *unit)
{
    const uint64_t per_unit = division->per_unit[operand->count];
    const pool_span *shards = operand->span->data;

    for (uint32_t i = 0; i < division->devices.count; i++) {
        const uint64_t units = units_of(division, i);

        if (shards[i].count != units * per_unit)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `%s` has %llu %s; %llu %s of %llu have %llu", division->call->name,
                i, operand->name, (unsigned long long)shards[i].count, operand->item.kind,
                (unsigned long long)units, unit, (unsigned long long)per_unit,
                (unsigned long long)(units * per_unit));
    }
    return POOL_OK;
}

pool_status operation_divide_units(
    struct operation_division *division, uint64_t units, const char *unit)
{
    struct operation_operands by = {.call = division->call}, operand = by;
    pool_status status = POOL_OK;
    bool has_shards;

    while ((has_shards = operation_next_operand(&by)) && !is_sharded(&by))
        ;
    if (has_shards)
        devices_divide(&division->devices, by.span, 1, division->first);
    else
        devices_split(&division->devices, units, 1, division->first);
    for (uint32_t i = 0; has_shards && i <= division->devices.count; i++)
        division->first[i] /= division->per_unit[by.count];
    while (!status && operation_next_operand(&operand))
        if (is_sharded(&operand))
            status = check_shards(division, &operand, unit);
    return status;
}

uint64_t operation_take_units(
    const struct operation_division *division, uint32_t index, struct operation_call *part)
{
    struct operation_operands operand = {.call = division->call};
    const uint64_t units = units_of(division, index);

    while (operation_next_operand(&operand)) {
        pool_span *span = &part->part[operand.count];
        const uint64_t items = division->per_unit[operand.count];

        if (!operand.span)
            continue;
        *span = is_sharded(&operand) ? ((const pool_span *)operand.span->data)[index]
                                     : span_slice(operand.span, operand.item.bytes,
                                           division->first[index] * items, units * items);
        memcpy((char *)part + operand.argument->at, &span, sizeof(span));
    }
    return units;
}
