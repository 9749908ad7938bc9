/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans one transform over 2^a devices in four steps. With n = N1 N2, j = j1 N2 + j2 and
 * k = k1 + N1 k2:
 *
 *   X[k] = sum over j2 of w_N2^(j2 k2) ( w_n^(j2 k1) sum over j1 of w_N1^(j1 k1) x[j] )
 *
 * Each device transforms 1/2^a of the columns j2 of the matrix x[j1][j2] in one pass, which
 * multiplies by the twiddles w_n^(j2 k1) and stores every row k1 in the memory of the device that
 * transforms it. There the matrix is [j2][k1], so that each store is a run of rows and the
 * transforms of the rows are interleaved. Pure: sizes in, jobs and permutations out.
 */
#include "zk/ntt/split.h"

#include <string.h>

#include "base/math.h"

uint32_t ntt_split_log_devices(uint32_t log_size, uint32_t devices)
{
    uint32_t a = 0;

    while (a < NTT_SPLIT_LOG_DEVICES && (UINT32_C(2) << a) <= devices && 2 * (a + 1) <= log_size)
        a++;
    return a;
}

/* As many as one pass transforms while it still loads 2^min_tile_width neighbours. */
static uint32_t choose_rows(const struct ntt_job *job, const struct chip *chip, uint32_t a)
{
    const struct ntt_tuning tuning = ntt_tuning_for(job, chip);
    uint32_t rows = ntt_log_tile(&tuning) - tuning.min_tile_width;
    struct ntt_tuning tunings[NTT_TUNINGS];

    /* The columns, and chunks of them, may use each of these. */
    for (uint32_t i = ntt_tunings(job->words, chip, tunings); i-- > 0 && !job->tuning;)
        rows = (uint32_t)base_min(rows, ntt_log_tile(&tunings[i]));
    return (uint32_t)base_min(base_max(rows, a), job->log_size - a);
}

/* While a chunk of columns is uploaded the one before it is transformed. */
static uint64_t choose_chunk(const struct ntt_job *job, const struct chip *chip, uint32_t log_rows)
{
    const uint64_t bytes = UINT64_C(1) << ntt_tuning_for(job, chip).log_chunk;

    return base_max(bytes / (4 * job->words) >> log_rows, 1);
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
    split->rows_job.order = split->gives_reversed ? POOL_NTT_NR : POOL_NTT_NN;
    split->rows_job.layout = POOL_NTT_COLUMNS;
    split->rows_job.stores_rows = split->gives_reversed;
    split->rows_job.coset_in = 0;
}

void ntt_split_make(const struct chip *chip, const struct ntt_job *job, uint32_t log_devices,
    bool is_uploaded, bool is_downloaded, struct ntt_split *split)
{
    memset(split, 0, sizeof(*split));
    split->log_size = job->log_size;
    split->log_devices = log_devices;
    split->takes_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    split->gives_reversed = job->order == POOL_NTT_NR || job->order == POOL_NTT_RR;
    split->is_uploaded = is_uploaded;
    split->is_downloaded = is_downloaded;
    split->log_rows = choose_rows(job, chip, log_devices);
    split->log_columns = job->log_size - split->log_rows;
    split->chunk = choose_chunk(job, chip, split->log_rows);
    plan_jobs(job, split);
}

static uint32_t reverse(uint32_t index, uint32_t bits)
{
    uint32_t result = 0;

    for (uint32_t i = 0; i < bits; i++)
        result |= (index >> i & 1) << (bits - 1 - i);
    return result;
}

struct ntt_split_args ntt_split_args_of(
    const struct ntt_split *split, uint32_t device, bool is_direct)
{
    const uint32_t a = split->log_devices;
    struct ntt_split_args args = {.log_transforms = split->log_columns - a, .log_devices = a};

    if (split->takes_reversed) { /* blocks of reversed columns */
        args.first_column = reverse(device, a);
        args.column_shift = a;
        args.flags |= NTT_SPLIT_REVERSED_COLUMNS;
    } else if (split->is_uploaded) { /* blocks of columns */
        args.first_column = (uint64_t)device << (split->log_columns - a);
    } else { /* in turn */
        args.first_column = device;
        args.column_shift = a;
    }
    if (is_direct) {
        args.first_place = args.first_column;
        args.place_shift = args.column_shift;
    }
    if (!split->gives_reversed)
        args.flags |= NTT_SPLIT_NATURAL_ROWS;
    if (!split->gives_reversed && !split->is_downloaded)
        args.flags |= NTT_SPLIT_CYCLIC_ROWS;
    return args;
}
