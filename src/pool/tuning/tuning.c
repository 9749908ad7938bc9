/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all tuning parameters: name, member, range, default for each length of elements, and
 * what `devicepool tune` tries. Everything that lists numbers reads it.
 */
#include "pool/tuning/tuning.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"

/*
 * Measured on one H200; docs/performance.md has the figures.
 *
 * MSM. A bucket costs two full additions. Affine passes are off: in pieces, as the memory bounds
 * them, they were slower in every row, with as much memory as they could use faster from these
 * sizes on. Split terms were measured for 2^16 and 2^18 terms: faster by 8 % for 8 words and 2^16
 * terms, by 10 % for 12 words, by 12 and 4 % for 16.
 *
 * Few terms in three launches instead of ten: BN254 G1 2^10 0.22 ms instead of 0.32, 2^13 0.35
 * instead of 0.36 and 2^14 0.43 as before; BLS12-381 G1 2^12 0.46 instead of 0.55, 2^13 0.64 and
 * 0.63; BN254 G2 2^13 0.84 instead of 0.95, 2^14 1.11 instead of 1.02. 24 words were not measured.
 *
 * Uploads of an MSM. Less host memory than 32 MiB is uploaded in one chunk: a link transfers it in
 * 0.6 ms, and two more chunks cost some 0.2 ms of further passes over the buckets.
 *
 * NTT, with the sweep of bench_ntt, for 2^16 to 2^24 points. Points per thread: 4 long elements in
 * 80 registers with 24 warps per multiprocessor (4.15 ms for 2^24 of 256 bits) beat 8 in 128
 * registers with 16 warps (4.27 ms) and 2 (5.2 ms); with precomputed quotients 96 registers and 20
 * warps are best (BLS12-381: 3.69 ms, 80 registers 3.74 ms, 128 registers 3.81 ms, Montgomery
 * products 4.09 ms). 32 short elements need 80 registers. 2^min_tile_width neighbouring elements
 * fill memory sectors of 32 bytes, 64 bytes for long elements. Twiddle tables of 2 MiB stay in the
 * L2 cache beside the data; NTTs of up to 2^20 long elements are faster with one table of all
 * twiddles (0.248 against 0.264 ms), because one more multiplication costs more than 32 more bytes.
 *
 * Some sizes use another tuning: a larger tile where it saves a pass (Goldilocks 2^20: 0.034
 * against 0.041 ms), and fewer points per thread with tiles one sub-transform wide where there are
 * fewer than two warps per scheduler to hide latency (256-bit 2^16: 0.028 against 0.031 ms, 2^14:
 * 0.020 against 0.027 ms).
 *
 * Elements of one word have kernels of one length of sub-transform each, with tiles of 2^13 or 2^14
 * elements: 2^24 in 0.156 ms instead of 0.221, 4096 x 2^12 in 0.072 instead of 0.144. Four blocks
 * of 256 threads for lengths up to 2^10 beat five (2^24 0.161 ms, batches of 2^20 4 % slower) and
 * three (0.164 ms). They were slower for one transform of 2^20 (0.030 instead of 0.025 ms) and for
 * 4 of 2^18, and faster for rows of up to 2^16 elements from 2^18 elements on and for extensions of
 * longer rows from 2^21 elements on, which were the smallest measured.
 *
 * Chunks of NTTs, not measured: an upload of 16 MiB takes 0.3 ms on the link, which is many times
 * what its calls cost.
 *
 * Poseidon. A chunk of 32 MiB takes 0.6 ms to copy, many times what its calls cost, and has more
 * states than a chip computes at a time. 128 states per multiprocessor are one warp per scheduler.
 * Up to there the latency of one permutation decides, which two threads shorten: by a factor of 1.4
 * (t = 3) to 1.75 (t = 12) for up to 2^13 states and up to 1.3 for 2^14; for 2^15 they are slower.
 *
 * Vectors. The calls around a chunk's copies cost little compared with 64 MiB.
 *
 * Staged copies. Slots of 1 MiB: the driver calls per slot (two, about 5 us) are short compared
 * with the 20 us that the link needs for it, and a copy of a few megabytes occupies four threads.
 * Of the 16 slots four are being filled, as many are being copied and the others are reserve; they
 * fit in the last-level cache of a server. Shorter copies have eight chunks of at least 256 KiB: 1
 * to 8 MiB at 13 to 22 GB/s to the device (chunks of 1 MiB: 9 to 20) and 13 to 24 GB/s to the host
 * (9 to 21), where chunks of 64 and 128 KiB are slower for 1 MiB (11 GB/s).
 *
 * Affine passes win for coordinates of 12 and 16 words: 6.32 to 5.64 ms for 2^20 BLS12-381 terms,
 * 9.22 to 7.87 for G2 of BN254. 8 words gain nothing, 24 were not measured.
 */

enum {
    LENGTHS = 5, /* of elements, at most */
    MAX_WINDOW_BITS = 24,
    /* A bucket takes 128 bytes or more: windows much wider than the scalars are many cannot pay. */
    MAX_WINDOW_EXCESS = 6,
    MAX_LOG_RADIX = 5,
    MAX_CHUNK = 1 << 30
};

/* A tile of 32 threads fits into the 48 KiB of shared memory that every chip has. */
static const uint32_t max_log_radix[TUNING_NTT_WIDTHS] = {5, 5, 5, 4, 3};

/* A member, or an array of `logs` numbers that are named by the log2 of a size. */
struct row {
    const char *name;
    size_t offset;
    uint32_t logs; /* 0: no array */
    uint32_t min;
    uint32_t max;
    uint32_t standard[LENGTHS]; /* the default for each length of elements */
    const uint32_t *candidates; /* of devicepool tune */
    uint32_t candidate_count;
    struct { /* candidates of window bits: log2 of the size less and plus these */
        int32_t below, above;
    } windows;
};

#define TRY(...)                                                                                   \
    .candidates = (const uint32_t[]){__VA_ARGS__},                                                 \
    .candidate_count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* Coordinates of up to 8, 12, 16 words of 32 bits, or more. */
static const uint32_t msm_lengths[] = {8, 12, 16, 24};
#define MSM(member) #member, offsetof(struct tuning, msm[0].member)
static const struct row msm_rows[] = {
    {MSM(entry_cost), 0, 1, 1024, .standard = {16, 16, 16, 16}},
    {MSM(bucket_cost), 0, 1, 1024, .standard = {46, 46, 46, 46}},
    {MSM(window_bits), TUNING_MSM_LOG_SIZES, 0, MAX_WINDOW_BITS, .standard = {0},
        .windows = {6, -1}},
    {MSM(table_window_bits), TUNING_MSM_LOG_SIZES, 0, MAX_WINDOW_BITS, .standard = {0},
        .windows = {4, 2}},
    {MSM(split_min_terms), 0, 0, UINT32_MAX, .standard = {1 << 15, 1 << 15, 1 << 15, 1 << 15}},
    {MSM(split_max_terms), 0, 0, UINT32_MAX, .standard = {1 << 16, 1 << 18, 1 << 18, 0}},
    {MSM(small_max_terms), 0, 0, 1 << 15, .standard = {1 << 13, 1 << 13, 1 << 13, 1 << 13}},
    {MSM(table_factor), 0, 0, 256, .standard = {0}, TRY(2, 4, 8)},
    {MSM(affine_passes), 0, 0, 2, .standard = {0, 2, 2, 0}},
    {MSM(affine_min_bucket_entries), 0, 0, 1 << 20, .standard = {20, 20, 20, 20}},
    {MSM(affine_min_entries), 0, 0, UINT32_MAX,
        .standard = {12 << 20, 12 << 20, 12 << 20, 12 << 20}},
};

/* Elements of 1, 2, up to 8 or up to 12 words of 32 bits, or more. */
static const uint32_t ntt_lengths[] = {1, 2, 8, 12, 24};
#define NTT(member) #member, offsetof(struct tuning, ntt[0].member)
static const struct row ntt_rows[] = {
    {NTT(usual.log_radix), 0, 1, MAX_LOG_RADIX, .standard = {5, 4, 2, 2, 1}},
    {NTT(usual.log_threads), 0, 5, 10, .standard = {8, 7, 7, 7, 7}},
    {NTT(usual.min_tile_width), 0, 0, 3, .standard = {3, 2, 1, 1, 1}},
    {NTT(usual.high_bits), 0, 8, 22, .standard = {18, 17, 16, 15, 14}},
    {NTT(usual.single_bits), 0, 8, 22, .standard = {18, 17, 20, 15, 14}},
    {NTT(usual.blocks), 0, 1, 16, .standard = {3, 5, 5, 4, 3}},
    {NTT(usual.log_chunk), 0, 12, 30, .standard = {24, 24, 24, 24, 24}},
    {NTT(usual.quotients), 0, 0, NTT_ALL_QUOTIENTS, .standard = {[2] = NTT_ALL_QUOTIENTS}},
    {NTT(usual.by_length), 0, 0, 0, .standard = {0}},
    {NTT(other.log_radix), 0, 0, MAX_LOG_RADIX, .standard = {0, 5, 1}},
    {NTT(other.log_threads), 0, 0, 10, .standard = {0, 7, 8}},
    {NTT(other.min_tile_width), 0, 0, 3, .standard = {0, 2, 0}},
    {NTT(other.high_bits), 0, 0, 22, .standard = {0, 17, 16}},
    {NTT(other.single_bits), 0, 0, 22, .standard = {0, 17, 20}},
    {NTT(other.blocks), 0, 0, 16, .standard = {0, 3, 2}},
    {NTT(other.log_chunk), 0, 0, 30, .standard = {0, 24, 24}},
    {NTT(other.quotients), 0, 0, NTT_ALL_QUOTIENTS, .standard = {[2] = NTT_ALL_QUOTIENTS}},
    {NTT(other.by_length), 0, 0, 0, .standard = {0}},
    {NTT(lengths.log_radix), 0, 0, MAX_LOG_RADIX, .standard = {4}},
    {NTT(lengths.log_threads), 0, 0, 10, .standard = {8}},
    {NTT(lengths.min_tile_width), 0, 0, 3, .standard = {3}},
    {NTT(lengths.high_bits), 0, 0, 22, .standard = {18}},
    {NTT(lengths.single_bits), 0, 0, 22, .standard = {18}},
    {NTT(lengths.blocks), 0, 0, 16, .standard = {4}},
    {NTT(lengths.log_chunk), 0, 0, 30, .standard = {24}},
    {NTT(lengths.quotients), 0, 0, NTT_ALL_QUOTIENTS, .standard = {NTT_NO_QUOTIENTS}},
    {NTT(lengths.by_length), 0, 0, 1, .standard = {1}},
    {NTT(lengths_min), 0, 0, 63, .standard = {21}},
    {NTT(lengths_short_min), 0, 0, 63, .standard = {18}},
    {NTT(other_by_rule), 0, 0, 1, .standard = {1, 1, 1, 1, 1}},
    {NTT(choice), TUNING_NTT_LOG_SIZES, 0, NTT_CHOICE_OTHER, .standard = {0},
        TRY(NTT_CHOICE_USUAL, NTT_CHOICE_OTHER)},
    {NTT(wave_tiles), 0, 1, 64, .standard = {2, 2, 2, 2, 2}, TRY(1, 4)},
    {NTT(long_last), 0, 0, 1, .standard = {0}, TRY(1)},
};

#define MIB(count) ((uint32_t)(count) << 20)
#define ALL(member) offsetof(struct tuning, member)
static const struct row other_rows[] = {
    {"msm.ramp_bytes", ALL(msm_ramp_bytes), 0, 1, UINT32_MAX, .standard = {MIB(32)},
        TRY(MIB(16), MIB(64), UINT32_MAX)},
    {"ntt.chunk_bytes", ALL(ntt_chunk_bytes), 0, 1 << 12, MAX_CHUNK, .standard = {MIB(16)},
        TRY(MIB(4), MIB(8), MIB(32), MIB(64))},
    {"poseidon.two_thread_states", ALL(poseidon.two_thread_states), 0, 0, 4096, .standard = {128},
        TRY(0, 64, 256, 512)},
    {"copy.helpers", ALL(copy.helpers), 0, 0, 63, .standard = {3}, TRY(1, 5, 7)},
    {"copy.slots", ALL(copy.slots), 0, 2, 64, .standard = {16}},
    {"copy.chunk_bytes", ALL(copy.chunk_bytes), 0, 1 << 12, MIB(64), .standard = {MIB(1)},
        TRY(256 << 10, 512 << 10, MIB(2), MIB(4))},
    {"copy.min_chunk_bytes", ALL(copy.min_chunk_bytes), 0, 1 << 12, MIB(64),
        .standard = {256 << 10}},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
static const struct group {
    const char *operation; /* NULL: in the names of the rows */
    const uint32_t *lengths;
    size_t length_count, stride;
    const struct row *rows;
    size_t row_count;
} groups[] = {
    {"msm", msm_lengths, TUNING_MSM_WIDTHS, sizeof(struct msm_numbers), msm_rows,
        COUNT_OF(msm_rows)},
    {"ntt", ntt_lengths, TUNING_NTT_WIDTHS, sizeof(struct ntt_numbers), ntt_rows,
        COUNT_OF(ntt_rows)},
    {NULL, NULL, 1, 0, other_rows, COUNT_OF(other_rows)},
};

/* ---- numbers --------------------------------------------------------------------------------- */

static void set_name(const struct group *group, const struct row *row, size_t length, uint32_t log,
    struct tuning_number *number)
{
    size_t used = 0;

    if (group->operation)
        used = (size_t)snprintf(
            number->name, sizeof(number->name), "%s.%u.", group->operation, group->lengths[length]);
    used += (size_t)snprintf(number->name + used, sizeof(number->name) - used, "%s", row->name);
    if (row->logs)
        snprintf(number->name + used, sizeof(number->name) - used, ".%u", log);
}

static void set_windows(const struct row *row, uint32_t log, struct tuning_number *number)
{
    const int32_t least = (int32_t)log - row->windows.below;
    const int32_t most = (int32_t)log + row->windows.above;

    number->max = (uint32_t)base_min(log + MAX_WINDOW_EXCESS, MAX_WINDOW_BITS);
    for (int32_t bits = 2; bits <= MAX_WINDOW_BITS; bits++)
        if (bits >= least && (bits <= most || bits == 2))
            number->candidates[number->candidate_count++] = (uint32_t)bits;
}

bool tuning_number_at(size_t index, struct tuning_number *number)
{
    for (const struct group *group = groups; group < groups + COUNT_OF(groups); group++)
        for (size_t i = 0; i < group->length_count * group->row_count; i++) {
            const struct row *row = &group->rows[i % group->row_count];
            const size_t length = i / group->row_count, count = row->logs ? row->logs : 1;

            if (index >= count) {
                index -= count;
                continue;
            }
            *number = (struct tuning_number){
                .offset = row->offset + length * group->stride + index * sizeof(uint32_t),
                .min = row->min,
                .max = row->max == MAX_LOG_RADIX ? max_log_radix[length] : row->max,
                .standard = row->standard[length],
                .candidate_count = row->candidate_count};
            set_name(group, row, length, (uint32_t)index, number);
            for (uint32_t c = 0; c < row->candidate_count; c++)
                number->candidates[c] = row->candidates[c];
            if (row->max == MAX_WINDOW_BITS)
                set_windows(row, (uint32_t)index, number);
            return true;
        }
    return false;
}

bool tuning_number_named(const char *name, struct tuning_number *number)
{
    for (size_t i = 0; tuning_number_at(i, number); i++)
        if (strcmp(number->name, name) == 0)
            return true;
    return false;
}

uint32_t tuning_value(const struct tuning *tuning, const struct tuning_number *number)
{
    uint32_t value;

    memcpy(&value, (const char *)tuning + number->offset, sizeof(value));
    return value;
}

void tuning_set_value(struct tuning *tuning, const struct tuning_number *number, uint32_t value)
{
    memcpy((char *)tuning + number->offset, &value, sizeof(value));
}

static struct tuning standard = {.poseidon.chunk_bytes = MIB(32), .vector.chunk_bytes = MIB(64)};

static void set_standard(void)
{
    struct tuning_number number;

    for (size_t i = 0; tuning_number_at(i, &number); i++)
        tuning_set_value(&standard, &number, number.standard);
}

const struct tuning *tuning_default(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_standard);
    return &standard;
}

static uint32_t find_length(const uint32_t *lengths, uint32_t count, uint32_t words)
{
    uint32_t i = 0;

    while (i + 1 < count && words > lengths[i])
        i++;
    return i;
}

uint32_t tuning_msm_width(uint32_t coordinate_words)
{
    return find_length(msm_lengths, TUNING_MSM_WIDTHS, coordinate_words);
}

uint32_t tuning_ntt_width(uint32_t words)
{
    return find_length(ntt_lengths, TUNING_NTT_WIDTHS, words);
}

/* ---- what contradicts itself ------------------------------------------------------------------
 */

/* The kernels of one length each are written for elements of one word and 16 points per thread. */
static bool lengths_are_valid(const struct ntt_tuning *lengths, bool is_word)
{
    return !lengths->by_length ||
           (is_word && lengths->log_radix == 4 && lengths->log_threads >= 6 &&
               lengths->log_threads <= 9 && lengths->min_tile_width >= 2 &&
               lengths->high_bits >= 8 && lengths->single_bits >= 8 && lengths->blocks &&
               lengths->log_chunk >= 12 && lengths->quotients == NTT_NO_QUOTIENTS);
}

/* An other tuning needs all of its numbers, and a choice needs it. */
static bool ntt_is_valid(const struct ntt_numbers *numbers, bool is_word)
{
    const struct ntt_tuning *other = &numbers->other;

    if (!lengths_are_valid(&numbers->lengths, is_word))
        return false;
    if (other->log_radix)
        return other->log_threads >= 5 && other->high_bits >= 8 && other->single_bits >= 8 &&
               other->blocks && other->log_chunk >= 12;
    for (uint32_t i = 0; i < TUNING_NTT_LOG_SIZES; i++)
        if (numbers->choice[i] == NTT_CHOICE_OTHER)
            return false;
    return true;
}

/* Windows of one bit do not exist, and a factor of 1 is no table. */
static bool msm_is_valid(const struct msm_numbers *numbers)
{
    for (uint32_t log = 0; log < TUNING_MSM_LOG_SIZES; log++)
        if (numbers->window_bits[log] == 1 || numbers->table_window_bits[log] == 1)
            return false;
    return numbers->table_factor != 1;
}

bool tuning_is_valid(const struct tuning *tuning)
{
    struct tuning_number number;

    for (size_t i = 0; tuning_number_at(i, &number); i++) {
        const uint32_t value = tuning_value(tuning, &number);

        if (value < number.min || value > number.max)
            return false;
    }
    for (uint32_t i = 0; i < TUNING_MSM_WIDTHS; i++)
        if (!msm_is_valid(&tuning->msm[i]))
            return false;
    for (uint32_t i = 0; i < TUNING_NTT_WIDTHS; i++)
        if (!ntt_is_valid(&tuning->ntt[i], i == 0))
            return false;
    return true;
}

static bool is_other_kernel(const struct ntt_tuning *a, const struct ntt_tuning *b)
{
    return a->log_radix != b->log_radix || a->log_threads != b->log_threads ||
           a->blocks != b->blocks || a->quotients != b->quotients || a->by_length != b->by_length;
}

bool tuning_needs_compiler(const struct tuning *tuning)
{
    const struct ntt_numbers *usual = tuning_default()->ntt, *ntt = tuning->ntt;

    for (uint32_t i = 0; i < TUNING_NTT_WIDTHS; i++)
        if (is_other_kernel(&ntt[i].usual, &usual[i].usual) ||
            is_other_kernel(&ntt[i].other, &usual[i].other) ||
            is_other_kernel(&ntt[i].lengths, &usual[i].lengths))
            return true;
    return false;
}
