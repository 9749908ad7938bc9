/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on devices. Spans in device memory are worked on where they are; those in host
 * memory go through device memory piece by piece.
 */
#include <string.h>

#include <devicepool/memory.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device.h"
#include "poseidon/launch.h"

/* A piece of host data on its way: 64 MiB hold more states than a chip runs at once, and two of
 * them keep a link busy; larger ones gained nothing but memory. */
enum { PIECE_BYTES = 64 << 20 };

/* Where an operation runs, its stream always a real one. */
struct place {
    pool_device *device;
    pool_stream *stream;
};

static pool_status find_place(const pool_poseidon_run *run, struct place *place)
{
    pool_status status = device_or_bound(run->device, &place->device);

    place->stream = run->stream;
    if (!status && run->stream && !run->device && pool_stream_device(run->stream) != place->device)
        return base_fail(
            POOL_ERR_WRONG_DEVICE, "the stream is of another device than the bound one");
    if (!status && !run->stream)
        status = pool_stream_default(place->device, &place->stream);
    return status;
}

static bool needs_conversion(const pool_poseidon *set, pool_form form)
{
    bool is_standard = (set->field->flags & FIELD_DEVICE_STANDARD) != 0;
    return is_standard != (form == POOL_FORM_STANDARD);
}

static uint64_t stride_of(const pool_span *span, size_t item_bytes)
{
    return span->stride ? span->stride : item_bytes;
}

static void set_in(const pool_poseidon *set, struct poseidon_items *items, const pool_span *span,
    size_t item_bytes)
{
    items->in = (uint64_t)(uintptr_t)span->data;
    items->in_stride = stride_of(span, item_bytes);
    items->in_convert = needs_conversion(set, span->form);
    items->in_aligned = (items->in | items->in_stride) % 16 == 0 && set->field->bytes % 16 == 0;
}

static void set_out(const pool_poseidon *set, struct poseidon_items *items, const pool_span *span,
    size_t item_bytes)
{
    items->out = (uint64_t)(uintptr_t)span->data;
    items->out_stride = stride_of(span, item_bytes);
    items->out_convert = needs_conversion(set, span->form);
    items->out_aligned = (items->out | items->out_stride) % 16 == 0 && set->field->bytes % 16 == 0;
}

/* One kernel over items, from one span to another. */
struct pass {
    const pool_poseidon *set;
    struct place place;
    enum poseidon_kernel kernel;
    struct poseidon_items items; /* all but the spans */
    size_t in_bytes;             /* of an item */
    size_t out_bytes;
};

static pool_status check_words(const pool_span *span, const char *what)
{
    if (span->place == POOL_PLACE_DEVICE && ((uintptr_t)span->data | span->stride) % 4)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%s in device memory are not aligned to 4 bytes", what);
    return POOL_OK;
}

/* Both spans in device memory. */
static pool_status launch_pass(struct pass *pass, const pool_span *in, const pool_span *out)
{
    set_in(pass->set, &pass->items, in, pass->in_bytes);
    set_out(pass->set, &pass->items, out, pass->out_bytes);
    return poseidon_launch(
        pass->set, pass->place.device, pass->place.stream, pass->kernel, &pass->items);
}

/* Host memory of a piece where items do not lie one behind the other. */
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

/* A span, or a piece of it, made to lie in device memory: the span itself or a buffer. */
struct landing {
    pool_buffer *buffer;
    unsigned char *packed; /* host memory of strided items */
    size_t item_bytes;
};

static pool_status landing_make(struct landing *landing, const struct place *place,
    const pool_span *span, size_t item_bytes, uint64_t most)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = most * item_bytes, .stream = place->stream};

    memset(landing, 0, sizeof(*landing));
    landing->item_bytes = item_bytes;
    if (span->place == POOL_PLACE_DEVICE)
        return POOL_OK;
    if (stride_of(span, item_bytes) != item_bytes) {
        landing->packed = base_calloc(most, item_bytes);
        if (!landing->packed)
            return base_fail_memory("items that are not packed");
    }
    return pool_buffer_create(place->device, &params, &landing->buffer);
}

static pool_status landing_free(
    struct landing *landing, const struct place *place, pool_status status)
{
    pool_status freed = POOL_OK;

    if (landing->buffer)
        freed = pool_buffer_free_on(&landing->buffer, place->stream);
    base_free(landing->packed);
    return status ? status : freed;
}

static pool_status landing_address(
    const struct landing *landing, const pool_span *piece, pool_span *there)
{
    CUdeviceptr address;
    pool_status status;

    *there = *piece;
    if (!landing->buffer)
        return POOL_OK;
    status = pool_buffer_address(landing->buffer, &address);
    there->data = (void *)(uintptr_t)address;
    there->stride = 0;
    there->place = POOL_PLACE_DEVICE;
    return status;
}

static pool_status landing_up(
    const struct landing *landing, const struct place *place, const pool_span *piece)
{
    const void *from = piece->data;

    if (!landing->buffer || piece->count == 0)
        return POOL_OK;
    if (landing->packed) {
        gather(landing->packed, piece, landing->item_bytes);
        from = landing->packed;
    }
    return pool_copy_to_device(
        landing->buffer, 0, from, piece->count * landing->item_bytes, place->stream);
}

static pool_status landing_down(
    const struct landing *landing, const struct place *place, const pool_span *piece)
{
    void *to = landing->packed ? landing->packed : piece->data;
    pool_status status;

    if (!landing->buffer || piece->count == 0)
        return POOL_OK;
    status = pool_copy_to_host(
        to, landing->buffer, 0, piece->count * landing->item_bytes, place->stream);
    if (!status && landing->packed) {
        status = pool_stream_synchronize(place->stream);
        if (!status)
            scatter(piece, landing->packed, landing->item_bytes);
    }
    return status;
}

static pool_span piece_of(const pool_span *span, size_t bytes, uint64_t first, uint64_t count)
{
    pool_span piece = *span;

    piece.data = count ? poseidon_span_item(span, bytes, first) : NULL;
    piece.count = count;
    return piece;
}

static pool_status run_piece(struct pass *pass, const struct landing *from,
    const struct landing *to, const pool_span *in, const pool_span *out)
{
    pool_span in_there;
    pool_span out_there;
    pool_status status = landing_up(from, &pass->place, in);

    if (!status)
        status = landing_address(from, in, &in_there);
    if (!status)
        status = landing_address(to, out, &out_there);
    pass->items.count = in->count;
    if (!status)
        status = launch_pass(pass, &in_there, &out_there);
    return status ? status : landing_down(to, &pass->place, out);
}

/* All items of `in`, piece by piece when one of the spans is in host memory. */
static pool_status run_pass(struct pass *pass, const pool_span *in, const pool_span *out)
{
    bool on_device = in->place == POOL_PLACE_DEVICE && out->place == POOL_PLACE_DEVICE;
    size_t larger = pass->in_bytes > pass->out_bytes ? pass->in_bytes : pass->out_bytes;
    uint64_t most =
        on_device || in->count * larger <= PIECE_BYTES ? in->count : PIECE_BYTES / larger + 1;
    struct landing from = {0};
    struct landing to = {0};
    pool_status status = check_words(in, "items");

    if (most > (uint64_t)INT32_MAX * POSEIDON_BLOCK)
        most = (uint64_t)INT32_MAX * POSEIDON_BLOCK;
    if (!status)
        status = check_words(out, "results");
    if (!status && in->count)
        status = landing_make(&from, &pass->place, in, pass->in_bytes, most);
    if (!status && in->count)
        status = landing_make(&to, &pass->place, out, pass->out_bytes, most);
    for (uint64_t first = 0; first < in->count && !status; first += most) {
        uint64_t count = in->count - first < most ? in->count - first : most;
        pool_span in_piece = piece_of(in, pass->in_bytes, first, count);
        pool_span out_piece = piece_of(out, pass->out_bytes, first, count);
        status = run_piece(pass, &from, &to, &in_piece, &out_piece);
    }
    status = landing_free(&from, &pass->place, status);
    return landing_free(&to, &pass->place, status);
}

/* Without is_async all is done when a call returns. */
static pool_status finish(
    const struct place *place, const pool_poseidon_run *run, pool_status status)
{
    return status || run->is_async ? status : pool_stream_synchronize(place->stream);
}

static pool_status pass_make(struct pass *pass, const pool_poseidon *set,
    const pool_poseidon_run *run, enum poseidon_kernel kernel, uint32_t in_elements,
    uint32_t out_elements)
{
    memset(pass, 0, sizeof(*pass));
    pass->set = set;
    pass->kernel = kernel;
    pass->in_bytes = (size_t)in_elements * set->field->bytes;
    pass->out_bytes = (size_t)out_elements * set->field->bytes;
    pass->items.elements = in_elements;
    return find_place(run, &pass->place);
}

pool_status poseidon_device_permute(const pool_poseidon *set, const pool_poseidon_run *run,
    const pool_span *states, const pool_span *results)
{
    struct pass pass;
    pool_status status = pass_make(&pass, set, run, POSEIDON_PERMUTE, set->width, set->width);

    if (status)
        return status;
    return finish(&pass.place, run, run_pass(&pass, states, results));
}

pool_status poseidon_device_hash(const pool_poseidon *set, const pool_poseidon_run *run,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    struct pass pass;
    pool_status status = pass_make(&pass, set, run, POSEIDON_HASH, elements, set->digest);

    if (status)
        return status;
    return finish(&pass.place, run, run_pass(&pass, inputs, digests));
}

static void set_sponge(struct pass *pass, const struct poseidon_sponge *sponge)
{
    pass->items.rate = sponge->rate;
    pass->items.squeezed = sponge->squeezed;
    pass->items.overwrites = sponge->mode == POOL_SPONGE_OVERWRITE;
    pass->items.is_padded = sponge->padding == POOL_SPONGE_ONE_ZEROS;
    poseidon_device_words(pass->set->field, pass->items.tag, sponge->tag);
}

pool_status poseidon_device_sponge(const pool_poseidon *set, const pool_poseidon_run *run,
    const struct poseidon_sponge *sponge, const pool_span *messages, const pool_span *results)
{
    struct pass pass;
    pool_status status =
        pass_make(&pass, set, run, POSEIDON_SPONGE, sponge->elements, sponge->squeezed);

    if (status)
        return status;
    set_sponge(&pass, sponge);
    return finish(&pass.place, run, run_pass(&pass, messages, results));
}

/* A tree being built: rows that are kept go where the caller wants them, others to two buffers in
 * turn. */
struct building {
    const pool_poseidon *set;
    const struct poseidon_tree *tree;
    struct place place;
    pool_span kept;          /* kept rows on the device */
    pool_buffer *kept_here;  /* when the caller's are on the host */
    pool_buffer *between[2]; /* rows that are not kept */
    size_t bytes;            /* of a digest */
};

static pool_form device_form(const pool_poseidon *set)
{
    return set->field->flags & FIELD_DEVICE_STANDARD ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
}

static pool_status scratch(struct building *building, uint64_t bytes, pool_buffer **buffer)
{
    pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = bytes, .stream = building->place.stream};

    return *buffer ? POOL_OK : pool_buffer_create(building->place.device, &params, buffer);
}

/* Where row `row` lies. */
static pool_status row_span(struct building *building, uint32_t row, pool_span *span)
{
    const struct poseidon_tree *tree = building->tree;
    pool_buffer **buffer = &building->between[row % 2];
    CUdeviceptr address;
    pool_status status;

    if (row >= tree->first_row) {
        *span =
            piece_of(&building->kept, building->bytes, tree->row_start[row], tree->row_count[row]);
        return POOL_OK;
    }
    status = scratch(building, tree->row_count[row] * building->bytes, buffer);
    if (!status)
        status = pool_buffer_address(*buffer, &address);
    if (!status)
        *span = (pool_span){.data = (void *)(uintptr_t)address,
            .count = tree->row_count[row],
            .form = device_form(building->set),
            .place = POOL_PLACE_DEVICE};
    return status;
}

static pool_status make_row(
    struct building *building, uint32_t row, const pool_span *below, const pool_span *nodes)
{
    const pool_poseidon *set = building->set;
    const struct poseidon_tree *tree = building->tree;
    size_t limbs = (size_t)set->digest * set->field->limbs;
    struct pass pass = {.set = set,
        .place = building->place,
        .kernel = POSEIDON_ROW,
        .in_bytes = building->bytes,
        .out_bytes = building->bytes};

    pass.items.arity = tree->arity;
    pass.items.children = tree->row_count[row - 1];
    pass.items.count = tree->row_count[row];
    for (uint32_t i = 0; i < set->digest; i++)
        poseidon_device_words(set->field, pass.items.missing + i * set->field->words,
            tree->padding + (row - 1) * limbs + i * set->field->limbs);
    return launch_pass(&pass, below, nodes);
}

/* Row 0: hashed, or copied unless the leaves can be read where they are. */
static pool_status make_leaves(struct building *building, const pool_span *leaves, pool_span *row)
{
    const struct poseidon_tree *tree = building->tree;
    struct pass pass = {.set = building->set,
        .place = building->place,
        .kernel = tree->hashes_leaves ? POSEIDON_SPONGE : POSEIDON_COPY,
        .in_bytes = (size_t)tree->leaf_elements * building->set->field->bytes,
        .out_bytes = building->bytes};
    pool_status status;

    if (!tree->hashes_leaves && tree->first_row > 0 && leaves->place == POOL_PLACE_DEVICE) {
        *row = *leaves;
        return check_words(leaves, "leaves");
    }
    pass.items.elements = tree->leaf_elements;
    if (tree->hashes_leaves)
        set_sponge(&pass, &tree->leaf);
    status = row_span(building, 0, row);
    return status ? status : run_pass(&pass, leaves, row);
}

static pool_status build_rows(struct building *building, const pool_span *leaves)
{
    pool_span below;
    pool_status status = make_leaves(building, leaves, &below);

    for (uint32_t row = 1; row <= building->tree->height && !status; row++) {
        pool_span nodes;
        status = row_span(building, row, &nodes);
        if (!status)
            status = make_row(building, row, &below, &nodes);
        below = nodes;
    }
    return status;
}

/* The kept rows from the device to the caller. */
static pool_status fetch_rows(struct building *building, const pool_span *rows)
{
    struct landing landing = {.buffer = building->kept_here, .item_bytes = building->bytes};
    pool_span wanted = *rows;
    pool_status status;

    wanted.count = building->tree->digests;
    if (stride_of(rows, building->bytes) != building->bytes) {
        landing.packed = base_calloc(wanted.count, building->bytes);
        if (!landing.packed)
            return base_fail_memory("rows that are not packed");
    }
    status = landing_down(&landing, &building->place, &wanted);
    base_free(landing.packed);
    return status;
}

static pool_status place_rows(struct building *building, const pool_span *rows)
{
    CUdeviceptr address;
    pool_status status;

    building->kept = *rows;
    if (rows->place == POOL_PLACE_DEVICE)
        return check_words(rows, "rows");
    status = scratch(building, building->tree->digests * building->bytes, &building->kept_here);
    if (!status)
        status = pool_buffer_address(building->kept_here, &address);
    if (!status)
        building->kept = (pool_span){.data = (void *)(uintptr_t)address,
            .count = building->tree->digests,
            .form = rows->form,
            .place = POOL_PLACE_DEVICE};
    return status;
}

static pool_status free_on(pool_buffer **buffer, pool_stream *stream, pool_status status)
{
    pool_status freed = *buffer ? pool_buffer_free_on(buffer, stream) : POOL_OK;
    return status ? status : freed;
}

pool_status poseidon_device_build(const pool_poseidon *set, const pool_poseidon_run *run,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *rows)
{
    struct building building = {
        .set = set, .tree = tree, .bytes = (size_t)set->digest * set->field->bytes};
    pool_status status = POOL_OK;

    if (set->digest * set->field->words > POSEIDON_MISSING_WORDS)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "a tree of digests of %u words: devices take up to %d, the host any",
            set->digest * set->field->words, POSEIDON_MISSING_WORDS);
    status = find_place(run, &building.place);
    if (!status)
        status = place_rows(&building, rows);
    if (!status)
        status = build_rows(&building, leaves);
    if (!status && building.kept_here)
        status = fetch_rows(&building, rows);
    status = free_on(&building.between[0], building.place.stream, status);
    status = free_on(&building.between[1], building.place.stream, status);
    status = free_on(&building.kept_here, building.place.stream, status);
    return finish(&building.place, run, status);
}

pool_status poseidon_device_read(
    const pool_poseidon_run *run, const void *from, void *to, size_t bytes)
{
    struct place place;
    pool_buffer *view = NULL;
    pool_status status = find_place(run, &place);

    if (!status)
        status = pool_buffer_adopt(place.device, (CUdeviceptr)(uintptr_t)from, bytes, &view);
    if (!status)
        status = pool_copy_to_host(to, view, 0, bytes, place.stream);
    if (!status)
        status = pool_stream_synchronize(place.stream);
    if (view) {
        pool_status freed = pool_buffer_free(&view);
        status = status ? status : freed;
    }
    return status;
}
