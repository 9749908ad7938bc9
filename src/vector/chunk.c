/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors in host memory, a part at a time, so that the device never holds more of them.
 */
#include "vector/vector.h"

/* Of each operand. The calls around a part's copies cost nothing beside 64 MiB. */
#define PART_BYTES ((uint64_t)64 << 20)

/* Another one only between tests. */
static uint64_t part_bytes = PART_BYTES;

void ntt_vector_part_bytes_set(uint64_t bytes)
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

    if (!span || span->place != POOL_MEMORY_HOST)
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

pool_status ntt_vector_in_parts(const struct ntt_vector_call *call,
    const struct ntt_vector_spans *spans, ntt_vector_step step, void *user)
{
    const pool_field *field = call->params.field;
    uint64_t count = spans->out ? spans->out->count : spans->a->count, most = UINT64_MAX, first = 0;
    pool_status status;

    limit(field, spans->a, &most);
    limit(field, spans->b, &most);
    limit(field, spans->out, &most);
    do {
        uint64_t now = count - first < most ? count - first : most;
        struct ntt_vector_call part = *call;
        pool_span a, b, out;
        struct ntt_vector_spans cuts = {.a = cut(field, spans->a, first, now, &a),
            .out = cut(field, spans->out, first, now, &out)};

        part.first = first;
        cuts.b = spans->b == spans->a ? cuts.a : cut(field, spans->b, first, now, &b);
        status = step(&part, &cuts, first, user);
        first += now;
    } while (!status && first < count);
    return status;
}
