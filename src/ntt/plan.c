/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a transform: how many trips through memory, which bits of the index in each, which
 * tile a block takes. Pure: sizes and a chip's numbers in, launch shapes out.
 */
#include "ntt/ntt.h"

#include <string.h>

/* A grid's first dimension. */
#define MAX_BLOCKS 0x7fffffffu

/* 32 bytes. */
#define SECTOR_WORDS 8

/*
 * Measured on one H200 with the sweep of bench_ntt, times of 2^16 ... 2^24 points. Points a thread:
 * 4 long ones in 80 registers and 24 warps beat 8 in 128 and 16 (4.15 against 4.27 ms for 2^24 of
 * 256 bits) and 2 (5.2); 32 short ones need 80 registers. Neighbours in memory, 2^min_columns of
 * them, fill 32-byte sectors, 64 bytes for long elements. Tables of powers of 2 MiB stay in the
 * second-level cache beside the data; transforms of up to 2^20 long elements are quicker with one
 * table of all powers (0.248 against 0.264 ms), because a multiplication more costs more than 32
 * bytes more.
 *
 * Some sizes have another tuning. A larger tile where it saves a trip (2^20 of Goldilocks: 0.034
 * against 0.041 ms). Fewer points a thread, and blocks of a column each, where there are not even
 * two warps a scheduler to hide what a step waits for (2^16 of 256 bits: 0.028 against 0.031 ms,
 * 2^14: 0.020 against 0.027).
 */
static const struct tuning_row {
    uint32_t words;
    struct ntt_tuning usual;
    struct ntt_tuning other; /* of some sizes; radix 0: none */
} rows[] = {
    /* radix, log_threads, min_columns, high_bits, single_bits, blocks */
    {1, {5, 8, 3, 18, 18, 3}, {0}},
    {2, {4, 7, 2, 17, 17, 5}, {5, 7, 2, 17, 17, 3}},
    {8, {2, 7, 1, 16, 20, 6}, {1, 8, 0, 16, 20, 2}},
    {12, {2, 7, 1, 15, 15, 4}, {0}},
    {UINT32_MAX, {1, 7, 1, 14, 14, 3}, {0}},
};

enum { LOG_WARP = 5, SCHEDULERS = 4 };

/* Words of shared memory for a block's tile with its gaps. */
static uint64_t tile_words(const struct ntt_tuning *tuning, uint32_t words)
{
    return (uint64_t)words * ((1u << tuning->radix) + 1) << tuning->log_threads;
}

static struct ntt_tuning fit(struct ntt_tuning tuning, uint32_t words, const struct ntt_chip *chip)
{
    while (tuning.log_threads > LOG_WARP && 4 * tile_words(&tuning, words) > chip->shared_bytes)
        tuning.log_threads--;
    return tuning;
}

static uint32_t count_trips(const struct ntt_tuning *tuning, uint32_t log_size)
{
    uint32_t tile = tuning->radix + tuning->log_threads;
    uint32_t most = tile - tuning->min_columns;

    return log_size <= tile ? 1 : (log_size + most - 1) / most;
}

static bool is_few(
    const struct ntt_job *job, const struct ntt_chip *chip, const struct ntt_tuning *tuning)
{
    uint64_t threads = (uint64_t)chip->multiprocessors * SCHEDULERS << LOG_WARP;

    return job->log_size + tuning->radix < 40 &&
           job->batch <= threads << tuning->radix >> job->log_size;
}

uint32_t ntt_tunings(
    uint32_t words, const struct ntt_chip *chip, struct ntt_tuning tunings[NTT_TUNINGS])
{
    const struct tuning_row *row = rows;

    while (words > row->words)
        row++;
    tunings[0] = fit(row->usual, words, chip);
    tunings[1] = fit(row->other, words, chip);
    return row->other.radix ? 2 : 1;
}

struct ntt_tuning ntt_tuning_for(const struct ntt_job *job, const struct ntt_chip *chip)
{
    struct ntt_tuning tunings[NTT_TUNINGS];
    const struct ntt_tuning *usual = &tunings[0], *other = &tunings[1];
    bool is_other;

    if (ntt_tunings(job->words, chip, tunings) == 1)
        return *usual;
    is_other = other->radix > usual->radix
                   ? count_trips(other, job->log_size) < count_trips(usual, job->log_size)
                   : is_few(job, chip, usual);
    return is_other ? *other : *usual;
}

/* Columns of a tile: wide ones use memory best, but there have to be blocks for the whole chip. */
static uint32_t choose_columns(const struct ntt_tuning *tuning, const struct ntt_chip *chip,
    const struct ntt_trip *trip, uint32_t least)
{
    uint32_t most = tuning->radix + tuning->log_threads - trip->bits;
    uint32_t log_columns = least;

    while (log_columns < most && trip->columns >> (log_columns + 1) >= 2 * chip->multiprocessors)
        log_columns++;
    return log_columns;
}

static void choose_flags(const struct ntt_job *job, struct ntt_plan *plan, uint32_t index)
{
    struct ntt_trip *trip = &plan->trip[index];
    bool is_first = index == 0;
    bool is_last = index + 1 == plan->count;
    bool takes_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    bool gives_natural = job->order == POOL_NTT_NN || job->order == POOL_NTT_RN;
    bool is_strided = trip->before + trip->bits < job->log_size;
    bool is_interleaved = job->layout == POOL_NTT_COLUMNS;

    if (is_first && takes_reversed)
        trip->flags |= NTT_GATHER;
    if (is_last && gives_natural)
        trip->flags |= NTT_SCATTER;
    if (is_interleaved)
        trip->flags |= NTT_COLUMNS;
    if (is_first && job->coset_in)
        trip->flags |= NTT_COSET_IN;
    if (is_last && job->coset_out)
        trip->flags |= NTT_COSET_OUT;
    if (is_interleaved || (is_strided && !(trip->flags & NTT_GATHER)))
        trip->flags |= NTT_LOAD_ACROSS;
    if (is_interleaved || is_strided || ((trip->flags & NTT_SCATTER) && trip->bits < job->log_size))
        trip->flags |= NTT_STORE_ACROSS;
}

/* A trip of one step loads and stores with the same threads: it can be direct in one order only. */
static bool is_one_step_of_two_ways(const struct ntt_tuning *tuning, const struct ntt_trip *trip)
{
    return trip->bits <= tuning->radix && (trip->flags & NTT_LOAD_DIRECT) &&
           !(trip->flags & NTT_LOAD_ACROSS);
}

static bool plan_trip(const struct ntt_tuning *tuning, const struct ntt_chip *chip,
    const struct ntt_job *job, struct ntt_plan *plan, uint32_t index)
{
    struct ntt_trip *trip = &plan->trip[index];
    uint32_t least = plan->count > 1 ? tuning->min_columns : 0;
    uint64_t blocks;

    trip->columns = job->batch << (job->log_size - trip->bits);
    if (trip->bits + least < tuning->radix)
        least = tuning->radix - trip->bits; /* a thread then has several columns' points */
    trip->log_columns = choose_columns(tuning, chip, trip, least);
    choose_flags(job, plan, index);
    /* Short columns are at the top of the tile's index: there a thread's points are neighbours. */
    if (trip->bits >= tuning->radix) {
        bool is_moved = (trip->flags & (NTT_GATHER | NTT_COSET_IN)) != 0;

        trip->lower_columns = trip->log_columns;
        if (!is_moved)
            trip->flags |= NTT_LOAD_DIRECT;
        /* Where a thread's own outputs lie together others bring them out better, unless an
         * element alone fills what memory writes at once (1.5 % of 2^24 256-bit points, NR). */
        if (((trip->flags & NTT_STORE_ACROSS) || job->words >= SECTOR_WORDS) &&
            !(trip->flags & NTT_COSET_OUT) && !is_one_step_of_two_ways(tuning, trip))
            trip->flags |= NTT_STORE_DIRECT;
    }
    trip->threads = 1u << (trip->bits + trip->log_columns - tuning->radix);
    trip->shared_bytes = (uint32_t)(4 * tile_words(tuning, job->words));
    blocks = ((trip->columns - 1) >> trip->log_columns) + 1;
    trip->blocks = (uint32_t)blocks;
    /* Where all blocks find room, early ones of the next trip would spread unevenly (2^20 of
     * Goldilocks: 0.031 instead of 0.027 ms). */
    if (blocks > (uint64_t)tuning->blocks * chip->multiprocessors)
        trip->flags |= NTT_HANDS_ON;
    return blocks <= MAX_BLOCKS;
}

bool ntt_plan_make(const struct ntt_tuning *tuning, const struct ntt_chip *chip,
    const struct ntt_job *job, struct ntt_plan *plan)
{
    uint32_t done = 0;

    memset(plan, 0, sizeof(*plan));
    plan->count = count_trips(tuning, job->log_size);
    for (uint32_t i = 0; i < plan->count; i++) {
        struct ntt_trip *trip = &plan->trip[i];

        trip->before = done;
        trip->bits = job->log_size / plan->count + (i < job->log_size % plan->count);
        done += trip->bits;
        if (!plan_trip(tuning, chip, job, plan, i))
            return false;
    }
    plan->needs_other_in = plan->count > 1 && (plan->trip[0].flags & NTT_GATHER);
    plan->needs_other_out = plan->count > 1 && (plan->trip[plan->count - 1].flags & NTT_SCATTER);
    return true;
}

void ntt_table_layout_make(
    const struct ntt_tuning *tuning, uint32_t log_size, struct ntt_table_layout *layout)
{
    uint32_t tile = tuning->radix + tuning->log_threads;
    uint64_t at = 0;

    memset(layout, 0, sizeof(*layout));
    layout->levels = log_size < tile ? log_size : tile;
    layout->high_bits = log_size <= tuning->single_bits || log_size < tuning->high_bits
                            ? log_size
                            : tuning->high_bits;
    layout->low_bits = log_size - layout->high_bits;
    layout->roots = at, at += (uint64_t)2 << layout->levels;
    layout->high = at, at += (uint64_t)1 << layout->high_bits;
    layout->low = at, at += (uint64_t)1 << layout->low_bits;
    layout->low_scaled = at, at += (uint64_t)1 << layout->low_bits;
    layout->coset_high = at, at += (uint64_t)1 << layout->high_bits;
    layout->coset_low = at, at += (uint64_t)1 << layout->low_bits;
    layout->constants = at, at += NTT_CONSTANTS;
    layout->squares = at, at += 5 * NTT_SQUARES;
    layout->total = at;
}
