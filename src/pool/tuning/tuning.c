/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default numbers and the names and ranges of all numbers.
 */
#include "pool/tuning/tuning.h"

#include <stdio.h>
#include <string.h>

/*
 * Measured on one H200; docs/performance.md has the figures.
 *
 * MSM. A bucket costs two full additions. Affine passes are off: in pieces, as the memory bounds
 * them, they were slower in every row, with as much memory as they could use faster from these
 * sizes on. Split terms were measured for 2^16 and 2^18 terms: faster by 8 % for 8 words and 2^16
 * terms, by 10 % for 12 words, by 12 and 4 % for 16.
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
 */
/* Affine passes win for coordinates of 12 and 16 words (docs/performance.md): 6.32 to 5.64 ms for
 * 2^20 BLS12-381 terms, 9.22 to 7.87 for G2 of BN254. 8 words gain nothing, 24 were not measured.
 */
#define MSM_NUMBERS(most, passes)                                                                  \
    {                                                                                              \
        .entry_cost = 16, .bucket_cost = 46, .affine_passes = (passes),                            \
        .affine_min_bucket_entries = 20, .affine_min_entries = 12 << 20,                           \
        .split_min_terms = 1 << 15, .split_max_terms = (most)                                      \
    }
static const struct tuning h200 = {
    .msm = {MSM_NUMBERS(1 << 16, 0), MSM_NUMBERS(1 << 18, 2), MSM_NUMBERS(1 << 18, 2),
        MSM_NUMBERS(0, 0)},
    .msm_ramp_bytes = 32 << 20,
    /* log_radix, log_threads, min_tile_width, high_bits, single_bits, blocks, log_chunk,
     * quotients, by_length */
    .ntt = {{.usual = {5, 8, 3, 18, 18, 3, 24, NTT_NO_QUOTIENTS, 0},
                .lengths = {4, 8, 3, 18, 18, 4, 24, NTT_NO_QUOTIENTS, 1},
                .lengths_min = 21,
                .lengths_short_min = 18,
                .other_by_rule = 1,
                .wave_tiles = 2},
        {.usual = {4, 7, 2, 17, 17, 5, 24, NTT_NO_QUOTIENTS, 0},
            .other = {5, 7, 2, 17, 17, 3, 24, NTT_NO_QUOTIENTS, 0},
            .other_by_rule = 1,
            .wave_tiles = 2},
        {.usual = {2, 7, 1, 16, 20, 5, 24, NTT_ALL_QUOTIENTS, 0},
            .other = {1, 8, 0, 16, 20, 2, 24, NTT_ALL_QUOTIENTS, 0},
            .other_by_rule = 1,
            .wave_tiles = 2},
        {.usual = {2, 7, 1, 15, 15, 4, 24, NTT_NO_QUOTIENTS, 0},
            .other_by_rule = 1,
            .wave_tiles = 2},
        {.usual = {1, 7, 1, 14, 14, 3, 24, NTT_NO_QUOTIENTS, 0},
            .other_by_rule = 1,
            .wave_tiles = 2}},
    .ntt_chunk_bytes = 16 << 20,
    .poseidon = {.chunk_bytes = 32 << 20, .two_thread_states = 128},
    .vector = {.chunk_bytes = 64 << 20},
    .copy = {.helpers = 3,
        .slots = 16,
        .chunk_bytes = 1 << 20,
        .min_chunk_bytes = 256 << 10},
};

/* Only compute capability 9.0 was measured; the others have its numbers, which work on all: plans
 * fit tiles into the shared memory that a chip has. */
static const struct {
    int major, minor;
    const struct tuning *tuning;
} defaults[] = {
    {8, 0, &h200}, {8, 6, &h200}, {8, 9, &h200}, {9, 0, &h200}, {10, 0, &h200}, {12, 0, &h200}};

const struct tuning *tuning_default(int compute_major, int compute_minor)
{
    size_t found = 0;

    for (size_t i = 1; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        if (compute_major > defaults[i].major ||
            (compute_major == defaults[i].major && compute_minor >= defaults[i].minor))
            found = i;
    return defaults[found].tuning;
}

const struct tuning *tuning_of_any_chip(void)
{
    return &h200;
}

static const uint32_t msm_widths[TUNING_MSM_WIDTHS] = {8, 12, 16, 24};
static const uint32_t ntt_widths[TUNING_NTT_WIDTHS] = {1, 2, 8, 12, 24};

static uint32_t find_width(const uint32_t *widths, uint32_t count, uint32_t words)
{
    uint32_t i = 0;

    while (i + 1 < count && words > widths[i])
        i++;
    return i;
}

uint32_t tuning_msm_width(uint32_t coordinate_words)
{
    return find_width(msm_widths, TUNING_MSM_WIDTHS, coordinate_words);
}

uint32_t tuning_ntt_width(uint32_t words)
{
    return find_width(ntt_widths, TUNING_NTT_WIDTHS, words);
}

/* ---- names and ranges ------------------------------------------------------------------------ */

/* A member, or an array of `length` whose elements are named by their index. */
struct member {
    const char *name;
    size_t offset;
    uint32_t length; /* 0: no array */
    uint32_t min;
    uint32_t max;
};

enum {
    MAX_CHUNK = 1 << 30,
    /* A bucket takes 128 bytes or more: windows much wider than the scalars are many cannot pay. */
    MAX_WINDOW_EXCESS = 6,
    MAX_WINDOW_BITS = 24
};

/* A tile of 32 threads fits into the 48 KiB of shared memory that every chip has. */
static const uint32_t max_log_radix[TUNING_NTT_WIDTHS] = {5, 5, 5, 4, 3};

#define MSM(member) offsetof(struct msm_numbers, member)
static const struct member msm_members[] = {
    {"entry_cost", MSM(entry_cost), 0, 1, 1024},
    {"bucket_cost", MSM(bucket_cost), 0, 1, 1024},
    {"window_bits", MSM(window_bits), TUNING_MSM_LOG_SIZES, 0, MAX_WINDOW_BITS},
    {"table_window_bits", MSM(table_window_bits), TUNING_MSM_LOG_SIZES, 0, MAX_WINDOW_BITS},
    {"split_min_terms", MSM(split_min_terms), 0, 0, UINT32_MAX},
    {"split_max_terms", MSM(split_max_terms), 0, 0, UINT32_MAX},
    {"table_factor", MSM(table_factor), 0, 0, 256},
    {"affine_passes", MSM(affine_passes), 0, 0, 2},
    {"affine_min_bucket_entries", MSM(affine_min_bucket_entries), 0, 0, 1 << 20},
    {"affine_min_entries", MSM(affine_min_entries), 0, 0, UINT32_MAX},
};

#define NTT(member) offsetof(struct ntt_numbers, member)
#define NTT_TUNING(name, which, no_radix, has_by_length)                                           \
    {name ".log_radix", NTT(which.log_radix), 0, no_radix, 5},                                     \
        {name ".log_threads", NTT(which.log_threads), 0, 5 * (no_radix), 10},                      \
        {name ".min_tile_width", NTT(which.min_tile_width), 0, 0, 3},                              \
        {name ".high_bits", NTT(which.high_bits), 0, 8 * (no_radix), 22},                          \
        {name ".single_bits", NTT(which.single_bits), 0, 8 * (no_radix), 22},                      \
        {name ".blocks", NTT(which.blocks), 0, no_radix, 16},                                      \
        {name ".log_chunk", NTT(which.log_chunk), 0, 12 * (no_radix), 30},                         \
        {name ".quotients", NTT(which.quotients), 0, 0, NTT_ALL_QUOTIENTS},                        \
    {                                                                                              \
        name ".by_length", NTT(which.by_length), 0, 0, has_by_length                               \
    }
static const struct member ntt_members[] = {
    NTT_TUNING("usual", usual, 1, 0),
    NTT_TUNING("other", other, 0, 0),
    NTT_TUNING("lengths", lengths, 0, 1),
    {"lengths_min", NTT(lengths_min), 0, 0, 63},
    {"lengths_short_min", NTT(lengths_short_min), 0, 0, 63},
    {"other_by_rule", NTT(other_by_rule), 0, 0, 1},
    {"choice", NTT(choice), TUNING_NTT_LOG_SIZES, 0, NTT_CHOICE_OTHER},
    {"wave_tiles", NTT(wave_tiles), 0, 1, 64},
    {"long_last", NTT(long_last), 0, 0, 1},
};

#define TOP(member) offsetof(struct tuning, member)
static const struct member other_members[] = {
    {"msm.ramp_bytes", TOP(msm_ramp_bytes), 0, 1, UINT32_MAX},
    {"ntt.chunk_bytes", TOP(ntt_chunk_bytes), 0, 1 << 12, MAX_CHUNK},
    {"poseidon.two_thread_states", TOP(poseidon.two_thread_states), 0, 0, 4096},
    {"copy.helpers", TOP(copy.helpers), 0, 0, 63},
    {"copy.slots", TOP(copy.slots), 0, 2, 64},
    {"copy.chunk_bytes", TOP(copy.chunk_bytes), 0, 1 << 12, 1 << 26},
    {"copy.min_chunk_bytes", TOP(copy.min_chunk_bytes), 0, 1 << 12, 1 << 26},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static size_t count_of_member(const struct member *member)
{
    return member->length ? member->length : 1;
}

/* Finds the number at *index, or subtracts the count of all from it. */
static bool find_number(const struct member *members, size_t count, const char *prefix, size_t base,
    size_t *index, struct tuning_number *number)
{
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        const size_t numbers = count_of_member(member);

        if (*index >= numbers) {
            *index -= numbers;
            continue;
        }
        number->offset = base + member->offset + *index * sizeof(uint32_t);
        number->min = member->min;
        number->max = member->max;
        if (member->max == MAX_WINDOW_BITS && *index + MAX_WINDOW_EXCESS < MAX_WINDOW_BITS)
            number->max = (uint32_t)*index + MAX_WINDOW_EXCESS;
        if (member->length)
            snprintf(number->name, sizeof(number->name), "%s%s.%zu", prefix, member->name, *index);
        else
            snprintf(number->name, sizeof(number->name), "%s%s", prefix, member->name);
        return true;
    }
    return false;
}

bool tuning_number_at(size_t index, struct tuning_number *number)
{
    char prefix[16];

    for (uint32_t i = 0; i < TUNING_MSM_WIDTHS; i++) {
        snprintf(prefix, sizeof(prefix), "msm.%u.", msm_widths[i]);
        if (find_number(msm_members, COUNT_OF(msm_members), prefix,
                TOP(msm) + i * sizeof(struct msm_numbers), &index, number))
            return true;
    }
    for (uint32_t i = 0; i < TUNING_NTT_WIDTHS; i++) {
        snprintf(prefix, sizeof(prefix), "ntt.%u.", ntt_widths[i]);
        if (find_number(ntt_members, COUNT_OF(ntt_members), prefix,
                TOP(ntt) + i * sizeof(struct ntt_numbers), &index, number)) {
            if (strstr(number->name, ".log_radix"))
                number->max = max_log_radix[i];
            return true;
        }
    }
    return find_number(other_members, COUNT_OF(other_members), "", 0, &index, number);
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

static bool builds_differ(const struct ntt_tuning *a, const struct ntt_tuning *b)
{
    return a->log_radix != b->log_radix || a->log_threads != b->log_threads ||
           a->blocks != b->blocks || a->quotients != b->quotients || a->by_length != b->by_length;
}

bool tuning_needs_compiler(const struct tuning *tuning, const struct tuning *standard)
{
    for (uint32_t i = 0; i < TUNING_NTT_WIDTHS; i++)
        if (builds_differ(&tuning->ntt[i].usual, &standard->ntt[i].usual) ||
            builds_differ(&tuning->ntt[i].other, &standard->ntt[i].other) ||
            builds_differ(&tuning->ntt[i].lengths, &standard->ntt[i].lengths))
            return true;
    return false;
}
