/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees on devices, row by row. Leaves in host memory come in pieces, and the row above them is
 * computed with them; rows wanted in host memory go there while the next one is computed.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "poseidon/launch.h"
#include "stream/stream.h"

/* Rows that are kept lie where the caller wants them, others in two buffers in turn. */
struct building {
    const pool_poseidon *set;
    const struct poseidon_tree *tree;
    struct memory_site site;
    pool_span kept;               /* kept rows on the device */
    struct poseidon_landing home; /* of kept rows that the caller wants in host memory */
    const pool_span *wanted;      /* those */
    struct memory_site way_home;  /* a stream of their own */
    pool_event *computed;         /* the last row */
    pool_buffer *between[2];      /* rows that are not kept */
    size_t bytes;                 /* of a digest */
    struct poseidon_watch watch;
    bool checks;
    uint64_t first_leaf; /* index of the first leaf in messages */
};

static pool_form device_form(const pool_poseidon *set)
{
    return set->field->flags & FIELD_DEVICE_STANDARD ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
}

/* Where row `row` lies. */
static pool_status row_span(struct building *building, uint32_t row, pool_span *span)
{
    const struct poseidon_tree *tree = building->tree;
    pool_buffer **buffer = &building->between[row % 2];
    CUdeviceptr address;
    pool_status status = POOL_OK;

    if (row >= tree->first_row) {
        *span = poseidon_span_part(
            &building->kept, building->bytes, tree->row_start[row], tree->row_count[row]);
        return POOL_OK;
    }
    if (*buffer)
        status = pool_buffer_address(*buffer, &address);
    else
        status = memory_temporary(
            &building->site, tree->row_count[row] * building->bytes, buffer, &address);
    if (!status)
        *span = (pool_span){.data = (void *)(uintptr_t)address,
            .count = tree->row_count[row],
            .form = device_form(building->set),
            .place = POOL_MEMORY_DEVICE};
    return status;
}

/* Nodes of row `row` from their children below, enqueued. */
static pool_status make_nodes(const struct building *building, const struct memory_site *site,
    uint32_t row, const pool_span *below, const pool_span *nodes)
{
    const pool_poseidon *set = building->set;
    const struct poseidon_tree *tree = building->tree;
    const uint64_t *missing = tree->padding + (size_t)(row - 1) * set->digest * set->field->limbs;
    struct poseidon_pass pass = {.set = set,
        .kernel = POSEIDON_MERKLE_LEVEL,
        .in_bytes = building->bytes,
        .out_bytes = building->bytes,
        .args = {.arity = tree->arity, .child_count = below->count}};

    for (uint32_t i = 0; i < set->digest; i++)
        poseidon_device_words(set->field, pass.args.padding_node + i * set->field->words,
            missing + i * set->field->limbs);
    return poseidon_pass_launch(&pass, site, below, nodes, nodes->count);
}

/* Row 0 of some leaves: hashed or copied, or the leaves themselves where they can be read as it. */
static pool_status make_leaves(struct building *building, const struct memory_site *site,
    const pool_span *leaves, uint64_t first, pool_span *row)
{
    const struct poseidon_tree *tree = building->tree;
    struct poseidon_pass pass = {.set = building->set,
        .kernel = tree->hashes_leaves ? POSEIDON_SPONGE : POSEIDON_CONVERT,
        .in_bytes = (size_t)tree->leaf_elements * building->set->field->bytes,
        .out_bytes = building->bytes,
        .args = {.elements = tree->leaf_elements}};
    pool_span all;
    pool_status status;

    *row = *leaves;
    if (!tree->hashes_leaves && tree->first_row > 0)
        return POOL_OK;
    status = row_span(building, 0, &all);
    if (status)
        return status;
    if (tree->hashes_leaves)
        poseidon_pass_sponge(&pass, &tree->leaf);
    *row = poseidon_span_part(&all, building->bytes, first, leaves->count);
    return poseidon_pass_launch(&pass, site, leaves, row, leaves->count);
}

/* Rows 0 and 1 of a piece of the leaves. */
static pool_status plant(void *user, const struct memory_site *site, const pool_span *leaves,
    const pool_span *none, uint64_t first)
{
    struct building *building = user;
    uint64_t arity = building->tree->arity;
    pool_span below;
    pool_span row;
    pool_status status = make_leaves(building, site, leaves, first, &below);

    (void)none;
    if (building->tree->height == 0 || status)
        return status;
    status = row_span(building, 1, &row);
    if (status)
        return status;
    row = poseidon_span_part(
        &row, building->bytes, first / arity, (leaves->count + arity - 1) / arity);
    return make_nodes(building, site, 1, &below, &row);
}

static pool_status plant_all(struct building *building, const pool_span *leaves)
{
    const struct poseidon_tree *tree = building->tree;
    struct poseidon_pieces pieces = {.site = building->site,
        .in = leaves,
        .in_bytes = (size_t)tree->leaf_elements * building->set->field->bytes,
        .unit = tree->arity,
        .weight = tree->hashes_leaves ? 2 : 1,
        .work = plant,
        .user = building,
        .watch = &building->watch,
        .checks = building->checks,
        .field = building->set->field,
        .elements = tree->leaf_elements,
        .first = building->first_leaf,
        .what = "leaves"};
    pool_span row;
    pool_status status = POOL_OK;

    /* What pieces write must be there before the first of them, in the order of the call's stream.
     */
    if (tree->hashes_leaves || tree->first_row == 0)
        status = row_span(building, 0, &row);
    if (!status && tree->height)
        status = row_span(building, 1, &row);
    return status ? status : poseidon_pieces_run(&pieces);
}

static pool_status make_row(struct building *building, uint32_t row)
{
    pool_span below;
    pool_span nodes;
    pool_status status = row_span(building, row - 1, &below);

    if (!status)
        status = row_span(building, row, &nodes);
    if (!status)
        status = make_nodes(building, &building->site, row, &below, &nodes);
    return status ? status : poseidon_watch_done(&building->watch, &building->site, below.count);
}

/* What is enqueued later on the call's stream runs beside the way home of what is there now. */
static pool_status mark(struct building *building)
{
    pool_status status;

    if (!building->home.buffer)
        return POOL_OK;
    status = pool_event_record(building->computed, building->site.stream);
    return status ? status : pool_stream_wait_event(building->way_home.stream, building->computed);
}

static pool_status fetch_row(const struct building *building, uint32_t row)
{
    const struct poseidon_tree *tree = building->tree;
    pool_span wanted;

    if (!building->home.buffer || row < tree->first_row)
        return POOL_OK;
    wanted = poseidon_span_part(
        building->wanted, building->bytes, tree->row_start[row], tree->row_count[row]);
    return poseidon_landing_down(
        &building->home, &building->way_home, tree->row_start[row], &wanted);
}

/* Rows 0 and 1 are enqueued. Copies to pageable memory make the host wait, so a row is fetched when
 * the one after the next has been enqueued. */
static pool_status grow(struct building *building)
{
    uint32_t height = building->tree->height;
    pool_status status = POOL_OK;

    for (uint32_t row = 0; row <= height && !status; row++) {
        status = mark(building);
        if (!status && row + 2 <= height)
            status = make_row(building, row + 2);
        if (!status)
            status = fetch_row(building, row);
    }
    return status;
}

static pool_status open_home(struct building *building, const pool_span *rows)
{
    const struct poseidon_tree *tree = building->tree;
    pool_status status;

    building->kept = *rows;
    building->wanted = rows;
    building->way_home = building->site;
    if (rows->place == POOL_MEMORY_DEVICE)
        return POOL_OK;
    status = poseidon_landing_make(
        &building->home, &building->site, rows, building->bytes, tree->digests);
    if (!status)
        building->kept = poseidon_landing_there(&building->home, rows);
    building->way_home.stream = NULL;
    if (!status)
        status = pool_event_create(building->site.device, 0, &building->computed);
    if (!status)
        status = pool_stream_create(building->site.device, NULL, &building->way_home.stream);
    return status;
}

/* What the call's stream does next comes after the copies. After a failure the host waits for them:
 * they write the caller's memory. */
static pool_status end_home(struct building *building, pool_status status)
{
    pool_stream *stream = building->way_home.stream;

    if (!status)
        status = pool_event_record(building->computed, stream);
    if (!status)
        status = pool_stream_wait_event(building->site.stream, building->computed);
    if (status && stream) {
        struct base_error_copy first;

        base_error_save(&first);
        (void)pool_stream_synchronize(stream);
        base_error_restore(&first);
    }
    return status;
}

static pool_status close_home(struct building *building, pool_status status)
{
    struct base_error_copy first;
    pool_status ends[2];

    if (building->wanted->place == POOL_MEMORY_DEVICE)
        return status;
    status = end_home(building, status);
    base_error_save(&first);
    ends[0] = pool_stream_destroy(&building->way_home.stream);
    if (!status && ends[0])
        base_error_save(&first);
    ends[1] = pool_event_destroy(&building->computed);
    if (!status && !ends[0] && ends[1])
        base_error_save(&first);
    status = status ? status : ends[0] ? ends[0] : ends[1];
    if (building->way_home.stream)
        stream_discard(building->way_home.stream);
    if (building->computed)
        stream_discard_event(building->computed);
    if (status)
        base_error_restore(&first);
    return poseidon_landing_free(&building->home, &building->site, status);
}

static pool_status build(struct building *building, const pool_span *leaves, const pool_span *rows)
{
    pool_status status = open_home(building, rows);

    if (!status)
        status = plant_all(building, leaves);
    if (!status)
        status = grow(building);
    status = close_home(building, status);
    for (int i = 0; i < 2; i++)
        status = memory_temporary_free(&building->site, &building->between[i], status);
    return status;
}

pool_status poseidon_device_build(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_tree *tree, const pool_span *leaves, uint64_t first_leaf,
    const pool_span *rows)
{
    struct building building = {.set = set,
        .tree = tree,
        .bytes = (size_t)set->digest * set->field->bytes,
        .watch = poseidon_watch_of(exec, poseidon_tree_work(tree)),
        .checks = exec->checks != 0,
        .first_leaf = first_leaf};
    pool_status status;

    if (set->digest * set->field->words > POSEIDON_NODE_WORDS)
        return base_fail(POOL_ERR_UNSUPPORTED,
            "a tree of digests of %u words: devices take up to %d, the host any",
            set->digest * set->field->words, POSEIDON_NODE_WORDS);
    status = memory_site_init(&building.site, exec->device, exec->stream);
    if (!status)
        status = poseidon_pass_check(
            &building.site, leaves, (size_t)tree->leaf_elements * set->field->bytes, "leaves");
    if (!status)
        status = poseidon_pass_check(&building.site, rows, building.bytes, "rows");
    if (status)
        return status;
    return memory_site_end(&building.site, exec->is_async, build(&building, leaves, rows));
}
