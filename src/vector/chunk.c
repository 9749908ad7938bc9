/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors in parts, so that the device never holds more: long ones in host memory, and all where
 * the caller limits the memory.
 */
#include "vector/vector.h"

#include "base/status.h"

/* Of each operand. The calls around a part's copies cost nothing beside 64 MiB. */
#define PART_BYTES ((uint64_t)64 << 20)

/* Another one only between tests. */
static uint64_t part_bytes = PART_BYTES;

void vector_chunk_bytes_set(uint64_t bytes)
{
    part_bytes = bytes ? bytes : PART_BYTES;
}

static uint64_t stride_of(const pool_field *field, const pool_span *span)
{
    return span->stride ? span->stride : field->bytes;
}

/* Lowers *most to what a span allows. */
static void limit(const pool_field *field, const pool_span *span, uint64_t *most)
{
    uint64_t fit;

    if (!span || span->space != POOL_MEMORY_HOST)
        return;
    fit = part_bytes / stride_of(field, span);
    fit = fit ? fit : 1;
    *most = fit < *most ? fit : *most;
}

static const pool_span *cut(
    const pool_field *field, const pool_span *span, uint64_t first, uint64_t count, pool_span *part)
{
    if (!span)
        return NULL;
    *part = *span;
    if (first)
        part->data = (uint8_t *)span->data + first * stride_of(field, span);
    part->count = count;
    return part;
}

/* Bytes of an argument's copy on the device; a strided one has what lies between its elements. */
static uint64_t bytes_in(const pool_field *field, const pool_span *span, uint64_t count)
{
    return span && span->space == POOL_MEMORY_HOST && count
               ? (count - 1) * stride_of(field, span) + field->bytes
               : 0;
}

/* All that a step allocates: copies, what it says itself, and the answer of a check. */
static uint64_t bytes_of_step(const struct vector_call *call, const struct vector_spans *spans,
    ntt_vector_bytes bytes, uint64_t count)
{
    const pool_field *field = call->target.field;
    uint64_t all = bytes_in(field, spans->a, count) + (bytes ? bytes(field, count) : 0);

    if (spans->b != spans->a)
        all += bytes_in(field, spans->b, count);
    if (spans->out && spans->out->space == POOL_MEMORY_HOST)
        all += count * field->bytes;
    return all + (call->exec.checks ? sizeof(uint64_t) : 0);
}

/* Lowers *most to what the caller's limit allows: the most elements whose bytes are within it. */
static pool_status limit_memory(const struct vector_call *call, const struct vector_spans *spans,
    ntt_vector_bytes bytes, uint64_t *most)
{
    uint64_t allowed = call->exec.memory_limit, low = 1, high = *most;

    if (!allowed || high == 0)
        return POOL_OK;
    if (bytes_of_step(call, spans, bytes, 1) > allowed)
        return memory_exec_fail_limit(
            call->name, &call->exec, bytes_of_step(call, spans, bytes, 1));
    while (low < high) {
        uint64_t middle = low + (high - low) / 2 + 1;

        if (bytes_of_step(call, spans, bytes, middle) <= allowed)
            low = middle;
        else
            high = middle - 1;
    }
    *most = low;
    return POOL_OK;
}

pool_status vector_check_spans_limit(
    const struct vector_call *call, const struct vector_spans *spans)
{
    uint64_t bytes = bytes_of_step(call, spans, NULL, spans->a->count);
    pool_status status = memory_exec_cancelled(call->name, &call->exec);

    if (!status && call->exec.memory_limit && bytes > call->exec.memory_limit)
        status = memory_exec_fail_limit(call->name, &call->exec, bytes);
    return status;
}

pool_status vector_run_chunks(const struct vector_call *call, const struct vector_spans *spans,
    ntt_vector_bytes bytes, vector_chunk_function step, void *user)
{
    const pool_field *field = call->target.field;
    uint64_t count = spans->out ? spans->out->count : spans->a->count, most = count, first = 0;
    pool_status status;

    limit(field, spans->a, &most);
    limit(field, spans->b, &most);
    limit(field, spans->out, &most);
    status = limit_memory(call, spans, bytes, &most);
    if (status)
        return status;
    do {
        uint64_t now = count - first < most ? count - first : most;
        struct vector_call part = *call;
        pool_span a, b, out;
        struct vector_spans cuts = {.a = cut(field, spans->a, first, now, &a),
            .out = cut(field, spans->out, first, now, &out)};

        part.first = first;
        cuts.b = spans->b == spans->a ? cuts.a : cut(field, spans->b, first, now, &b);
        status = memory_exec_cancelled(call->name, &call->exec);
        if (!status)
            status = step(&part, &cuts, first, user);
        first += now;
        if (!status)
            memory_exec_report(&call->exec, first, count);
    } while (!status && first < count);
    return status;
}
