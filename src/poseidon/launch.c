/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel over items in device memory, and host memory made to lie there.
 */
#include "poseidon/launch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static bool needs_conversion(const pool_poseidon *set, pool_form form)
{
    bool is_standard = (set->field->flags & FIELD_DEVICE_STANDARD) != 0;
    return is_standard != (form == POOL_FORM_STANDARD);
}

static void set_in(
    const struct poseidon_pass *pass, struct poseidon_args *args, const pool_span *span)
{
    args->in = (uint64_t)(uintptr_t)span->data;
    args->in_stride = memory_span_stride(span, pass->in_bytes);
    args->in_is_converted = needs_conversion(pass->set, span->form);
    args->in_is_aligned =
        (args->in | args->in_stride) % 16 == 0 && pass->set->field->bytes % 16 == 0;
}

static void set_out(
    const struct poseidon_pass *pass, struct poseidon_args *args, const pool_span *span)
{
    args->out = (uint64_t)(uintptr_t)span->data;
    args->out_stride = memory_span_stride(span, pass->out_bytes);
    args->out_is_converted = needs_conversion(pass->set, span->form);
    args->out_is_aligned =
        (args->out | args->out_stride) % 16 == 0 && pass->set->field->bytes % 16 == 0;
}

pool_status poseidon_pass_launch(const struct poseidon_pass *pass, const struct memory_site *site,
    const pool_span *in, const pool_span *out, uint64_t count)
{
    struct poseidon_args args = pass->args;

    set_in(pass, &args, in);
    set_out(pass, &args, out);
    args.count = count;
    return poseidon_launch(pass->set, site->device, site->stream, pass->kernel, &args);
}

void poseidon_pass_sponge(struct poseidon_pass *pass, const struct poseidon_sponge *sponge)
{
    pass->args.rate = sponge->rate;
    pass->args.output_elements = sponge->squeezed;
    pass->args.overwrites = sponge->mode == POOL_SPONGE_OVERWRITE;
    pass->args.is_padded = sponge->padding == POOL_SPONGE_PAD_10;
    poseidon_device_words(pass->set->field, pass->args.domain_tag, sponge->tag);
}

pool_status poseidon_pass_check(
    const struct memory_site *site, const pool_span *span, size_t item_bytes, const char *what)
{
    const struct memory_item item = {item_bytes, "items", "the set"};

    return span->place == POOL_MEMORY_DEVICE ? memory_span_check(site, span, &item, what) : POOL_OK;
}

pool_span poseidon_span_part(
    const pool_span *span, size_t item_bytes, uint64_t first, uint64_t count)
{
    pool_span part = *span;

    part.data = count ? poseidon_span_item(span, item_bytes, first) : NULL;
    part.count = count;
    return part;
}

static void gather(unsigned char *packed, const pool_span *span, size_t bytes)
{
    for (uint64_t i = 0; i < span->count; i++)
        memcpy(packed + i * bytes, poseidon_span_item(span, bytes, i), bytes);
}

static void scatter(const pool_span *span, const unsigned char *packed, size_t bytes)
{
    for (uint64_t i = 0; i < span->count; i++)
        memcpy(poseidon_span_item(span, bytes, i), packed + i * bytes, bytes);
}

pool_status poseidon_landing_make(struct poseidon_landing *landing, const struct memory_site *site,
    const pool_span *span, size_t item_bytes, uint64_t most)
{
    *landing = (struct poseidon_landing){.item_bytes = item_bytes};
    if (!span || span->place == POOL_MEMORY_DEVICE)
        return POOL_OK;
    if (memory_span_stride(span, item_bytes) != item_bytes) {
        landing->packed = base_calloc(most, item_bytes);
        if (!landing->packed)
            return base_fail_memory("items that are not packed");
    }
    return memory_temporary(site, most * item_bytes, &landing->buffer, &landing->address);
}

pool_status poseidon_landing_free(
    struct poseidon_landing *landing, const struct memory_site *site, pool_status status)
{
    base_free(landing->packed);
    landing->packed = NULL;
    return memory_temporary_free(site, &landing->buffer, status);
}

pool_span poseidon_landing_there(const struct poseidon_landing *landing, const pool_span *piece)
{
    pool_span there = *piece;

    if (landing->buffer) {
        there.data = (void *)(uintptr_t)landing->address;
        there.stride = 0;
        there.place = POOL_MEMORY_DEVICE;
    }
    return there;
}

pool_status poseidon_landing_up(
    const struct poseidon_landing *landing, const struct memory_site *site, const pool_span *piece)
{
    const void *from = piece->data;

    if (!landing->buffer || piece->count == 0)
        return POOL_OK;
    if (landing->packed) {
        gather(landing->packed, piece, landing->item_bytes);
        from = landing->packed;
    }
    return pool_copy_to_device(
        landing->buffer, 0, from, piece->count * landing->item_bytes, site->stream);
}

pool_status poseidon_landing_down(const struct poseidon_landing *landing,
    const struct memory_site *site, uint64_t first, const pool_span *piece)
{
    void *to = landing->packed ? landing->packed : piece->data;
    pool_status status;

    if (!landing->buffer || piece->count == 0)
        return POOL_OK;
    status = pool_copy_to_host(to, landing->buffer, first * landing->item_bytes,
        piece->count * landing->item_bytes, site->stream);
    if (!status && landing->packed) {
        status = pool_stream_synchronize(site->stream);
        if (!status)
            scatter(piece, landing->packed, landing->item_bytes);
    }
    return status;
}
