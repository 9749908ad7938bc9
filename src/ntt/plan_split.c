/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans one transform over 2^a devices in four steps. With n = N1 N2, j = j1 N2 + j2 and
 * k = k1 + N1 k2:
 *
 *   X[k] = sum over j2 of w_N2^(j2 k2) ( w_n^(j2 k1) sum over j1 of w_N1^(j1 k1) x[j] )
 *
 * Each device transforms 1/2^a of the columns j2 of the matrix x[j1][j2]; an exchange multiplies by
 * the twiddles w_n^(j2 k1) and moves the elements to the devices of the rows k1; each device
 * transforms its rows. Orders and distributions are permutations of the bits of an index, so that
 * the exchange is one as well. Pure: sizes in, jobs, permutations and bytes out.
 */
#include "ntt/split.h"

#include <string.h>

#include "base/math.h"

/* ---- layouts --------------------------------------------------------------------------------- */

/* Appends `count` bits of the logical index to a layout: `first` and the following ones, or, with a
 * step of -1, the preceding ones. */
static void append(
    struct ntt_layout *layout, uint32_t *at, uint32_t first, int step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        layout->logical[(*at)++] = (uint8_t)((int)first + step * (int)i);
}

/* Before the exchange: rows are bit-reversed, because that is the fastest order of transforms. */
static void set_computed_layout(const struct ntt_split *split, struct ntt_layout *layout)
{
    const uint32_t a = split->log_devices, rows = split->log_rows, columns = split->log_columns;
    uint32_t at = 0;

    if (split->takes_reversed) { /* [column reversed][row reversed], the device on top */
        append(layout, &at, columns + rows - 1, -1, rows);
        append(layout, &at, columns - 1, -1, columns);
        return;
    }
    append(layout, &at, split->is_uploaded ? 0 : a, 1, columns - a); /* [row reversed][column] */
    append(layout, &at, columns + rows - 1, -1, rows);
    append(layout, &at, split->is_uploaded ? columns - a : 0, 1, a);
}

/* After the exchange. */
static void set_exchanged_layout(const struct ntt_split *split, struct ntt_layout *layout)
{
    const uint32_t a = split->log_devices, rows = split->log_rows, columns = split->log_columns;
    uint32_t at = 0;

    if (split->gives_reversed) { /* [row reversed][column], the device on top */
        if (split->rows_job.order == POOL_NTT_RR)
            append(layout, &at, columns - 1, -1, columns);
        else
            append(layout, &at, 0, 1, columns);
        append(layout, &at, columns + rows - 1, -1, rows);
        return;
    }
    append(layout, &at, columns + (split->is_downloaded ? 0 : a), 1, rows - a); /* [column][row] */
    append(layout, &at, 0, 1, columns);
    append(layout, &at, columns + (split->is_downloaded ? rows - a : 0), 1, a);
}

/* Results in natural order as they are downloaded; `column` now stands for k2. */
static void set_natural_layout(const struct ntt_split *split, struct ntt_layout *layout)
{
    uint32_t at = 0;

    append(layout, &at, split->log_columns, 1, split->log_rows);
    append(layout, &at, 0, 1, split->log_columns);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void find_positions(const struct ntt_layout *layout, uint32_t bits, uint8_t *position)
{
    for (uint32_t i = 0; i < bits; i++)
        position[layout->logical[i]] = (uint8_t)i;
}

/* The bit of `candidates` with the least key that is not in *taken, which it is added to. */
static uint32_t take_least(const uint8_t *key, uint32_t bits, uint64_t *taken)
{
    uint32_t least = bits;

    for (uint32_t i = 0; i < bits; i++)
        if (!(*taken >> i & 1) && (least == bits || key[i] < key[least]))
            least = i;
    *taken |= UINT64_C(1) << least;
    return least;
}

/* A tile has the lowest bits of the source and those that become the lowest of the destination. */
static uint64_t choose_tile(const uint8_t *to, uint32_t bits, uint32_t log_tile)
{
    const uint32_t half = (uint32_t)base_min(bits, log_tile / 2);
    uint64_t tile = (UINT64_C(1) << half) - 1, stored = 0;

    for (uint32_t i = 0; i < half; i++)
        (void)take_least(to, bits, &stored);
    tile |= stored;
    for (uint32_t i = 0; (uint32_t)__builtin_popcountll(tile) < log_tile; i++)
        tile |= UINT64_C(1) << i;
    return tile;
}

void ntt_exchange_make(const struct ntt_layout *from, const struct ntt_layout *to,
    uint32_t log_size, uint32_t log_devices, struct ntt_exchange *exchange)
{
    const uint32_t bits = log_size - log_devices;
    uint8_t position[NTT_EXCHANGE_BITS], target[NTT_EXCHANGE_BITS], reader[NTT_EXCHANGE_BITS] = {0};
    uint64_t tile, stored;
    uint32_t at = 0, block = 0;

    memset(exchange, 0, sizeof(*exchange));
    find_positions(to, log_size, position);
    for (uint32_t i = 0; i < log_size; i++)
        target[i] = position[from->logical[i]];
    exchange->log_local = bits;
    exchange->log_devices = log_devices;
    exchange->log_tile = (uint32_t)base_min(bits, NTT_EXCHANGE_LOG_TILE);
    tile = choose_tile(target, bits, exchange->log_tile);
    for (uint32_t i = 0; i < bits; i++) {
        if (!(tile >> i & 1)) {
            exchange->block_read[block] = (uint8_t)i;
            exchange->block_logical[block] = from->logical[i];
            exchange->block_to[block++] = target[i];
            continue;
        }
        reader[i] = (uint8_t)at;
        exchange->read[at] = (uint8_t)i;
        exchange->read_logical[at++] = from->logical[i];
    }
    stored = ~tile;
    for (uint32_t i = 0; i < exchange->log_tile; i++) {
        uint32_t source = take_least(target, bits, &stored);

        exchange->slot[i] = reader[source];
        exchange->write_to[i] = target[source];
    }
    for (uint32_t i = 0; i < log_devices; i++) {
        exchange->device_logical[i] = from->logical[bits + i];
        exchange->device_to[i] = target[bits + i];
    }
}

/*
 * Without peer access the exchange goes through copies of blocks: it first gathers what each
 * destination gets ([destination][rest] on each source), and after the copies ([source][rest] on
 * each destination) it distributes the elements.
 */
static void set_staged_layouts(const struct ntt_layout *from, const struct ntt_layout *to,
    uint32_t log_size, uint32_t a, struct ntt_layout *sent, struct ntt_layout *received)
{
    const uint32_t bits = log_size - a;
    uint32_t at = 0;

    for (uint32_t i = 0; i < bits; i++) {
        bool is_source = false;

        for (uint32_t d = 0; d < a; d++)
            is_source |= from->logical[bits + d] == to->logical[i];
        if (!is_source)
            sent->logical[at++] = to->logical[i];
    }
    *received = *sent;
    for (uint32_t d = 0; d < a; d++) {
        sent->logical[at + d] = received->logical[at + a + d] = to->logical[bits + d];
        received->logical[at + d] = sent->logical[at + a + d] = from->logical[bits + d];
    }
}

static void make_exchanges(const struct ntt_layout *from, const struct ntt_layout *to,
    uint32_t log_size, uint32_t log_devices, struct ntt_exchanges *exchanges)
{
    struct ntt_layout sent = {{0}}, received = {{0}};

    ntt_exchange_make(from, to, log_size, log_devices, &exchanges->direct);
    set_staged_layouts(from, to, log_size, log_devices, &sent, &received);
    ntt_exchange_make(from, &sent, log_size, log_devices, &exchanges->gather);
    ntt_exchange_make(&received, to, log_size, log_devices, &exchanges->distribute);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static uint32_t passes_of(
    const struct ntt_job *job, const struct chip *chip, uint32_t log_size, uint64_t batch)
{
    struct ntt_job part = *job;
    struct ntt_tuning tuning;
    struct ntt_plan plan;

    part.log_size = log_size;
    part.batch = batch;
    tuning = ntt_tuning_for(&part, chip);
    return ntt_plan_make(&tuning, chip, &part, &plan) ? plan.count : UINT32_MAX / 2;
}

/* Rows of 2^a … 2^(log_size - a): the fewest passes in all, and then the squarest matrix. */
static uint32_t choose_rows(const struct ntt_job *job, const struct chip *chip, uint32_t a)
{
    const uint32_t log_size = job->log_size;
    uint32_t best = 0, fewest = UINT32_MAX, best_distance = 0;

    for (uint32_t rows = a; rows <= log_size - a; rows++) {
        const uint32_t columns = log_size - rows;
        uint32_t distance = rows > columns ? rows - columns : columns - rows;
        uint32_t passes = passes_of(job, chip, rows, UINT64_C(1) << (columns - a)) +
                          passes_of(job, chip, columns, UINT64_C(1) << (rows - a));

        if (passes < fewest || (passes == fewest && distance < best_distance)) {
            best = rows;
            fewest = passes;
            best_distance = distance;
        }
    }
    return best;
}

/* Rows are uploaded one by one: few, but enough for the stores of the last exchange to coalesce. */
enum { UPLOADED_ROWS = 4 };

uint32_t ntt_split_log_devices(uint32_t log_size, uint32_t devices)
{
    uint32_t a = 0;

    while (a < NTT_EXCHANGE_LOG_DEVICES && (UINT32_C(2) << a) <= devices && 2 * (a + 1) <= log_size)
        a++;
    return a;
}

static void plan_jobs(const struct ntt_job *job, struct ntt_split *split)
{
    const uint32_t a = split->log_devices;

    split->columns_job = *job;
    split->columns_job.log_size = split->log_rows;
    split->columns_job.batch = UINT64_C(1) << (split->log_columns - a);
    split->columns_job.order = split->takes_reversed ? POOL_NTT_RR : POOL_NTT_NR;
    split->columns_job.layout = split->takes_reversed ? POOL_NTT_ROWS : POOL_NTT_COLUMNS;
    split->columns_job.coset_out = 0;
    split->rows_job = *job;
    split->rows_job.log_size = split->log_columns;
    split->rows_job.batch = UINT64_C(1) << (split->log_rows - a);
    /* Columns that are dealt out in turn are neighbours once they are reversed. */
    split->rows_job.order = !split->gives_reversed                         ? POOL_NTT_NN
                            : !split->takes_reversed && split->is_uploaded ? POOL_NTT_NR
                                                                           : POOL_NTT_RR;
    split->rows_job.layout = split->gives_reversed ? POOL_NTT_ROWS : POOL_NTT_COLUMNS;
    split->rows_job.coset_in = 0;
}

void ntt_split_make(const struct chip *chip, const struct ntt_job *job, uint32_t log_devices,
    bool is_uploaded, bool is_downloaded, struct ntt_split *split)
{
    const uint32_t a = log_devices, most = job->log_size - a;
    struct ntt_layout computed, exchanged, natural;

    memset(split, 0, sizeof(*split));
    split->log_size = job->log_size;
    split->log_devices = a;
    split->takes_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    split->gives_reversed = job->order == POOL_NTT_NR || job->order == POOL_NTT_RR;
    split->is_uploaded = is_uploaded;
    split->is_downloaded = is_downloaded;
    split->log_rows = is_uploaded && !split->takes_reversed
                          ? (uint32_t)base_min(a + UPLOADED_ROWS, most)
                          : choose_rows(job, chip, a);
    split->log_columns = job->log_size - split->log_rows;
    plan_jobs(job, split);
    set_computed_layout(split, &computed);
    set_exchanged_layout(split, &exchanged);
    make_exchanges(&computed, &exchanged, job->log_size, a, &split->exchange);
    split->collects = is_downloaded && !split->gives_reversed;
    if (split->collects) {
        set_natural_layout(split, &natural);
        make_exchanges(&exchanged, &natural, job->log_size, a, &split->collect);
    }
}
