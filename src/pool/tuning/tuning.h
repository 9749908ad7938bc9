/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tuning parameters of a chip: what plans choose by measurement and not by calculation. Plans
 * take these numbers from here only. The defaults are in tuning.c; a file that `devicepool tune`
 * wrote replaces some of them when a pool is created.
 */
#ifndef POOL_TUNING_H
#define POOL_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/device.h>
#include <devicepool/pool.h>
#include <devicepool/tuning.h>

/* ---- MSM ------------------------------------------------------------------------------------- */

enum { TUNING_MSM_WIDTHS = 4, TUNING_MSM_LOG_SIZES = 29 };

/* For curves whose coordinates have up to 8, 12 or 16 words of 32 bits, or more. */
struct msm_numbers {
    /* Costs in sixteenths of a mixed addition: of an entry, and of a bucket. */
    uint32_t entry_cost;
    uint32_t bucket_cost;
    /* Of one MSM of about 2^i full-length scalars, without precomputed bases and where these leave
     * one bucket set; 0: the least cost. */
    uint32_t window_bits[TUNING_MSM_LOG_SIZES];
    uint32_t table_window_bits[TUNING_MSM_LOG_SIZES];
    /* Single MSMs of so many terms, without precomputed bases, split their scalars where the curve
     * has an endomorphism: half the windows for twice the terms. */
    uint32_t split_min_terms;
    uint32_t split_max_terms; /* 0: none are split */
    uint32_t small_max_terms; /* of all MSMs of a call that has few launches; 0: none has */
    uint32_t table_factor;    /* of POOL_PRECOMPUTE_AUTO; 0: one multiple per window */
    /* Affine passes before the accumulation; 0: none. Made for at least that many entries. */
    uint32_t affine_passes;
    uint32_t affine_min_bucket_entries; /* on average: fewer are mostly padding */
    uint32_t affine_min_entries;
};

/* ---- NTT ------------------------------------------------------------------------------------- */

enum { TUNING_NTT_WIDTHS = 5, TUNING_NTT_LOG_SIZES = 33 };

/* Products by which twiddles use precomputed quotients (Shoup), in fields that have room for them:
 * 0.75 to 0.8 of the multiplications of a Montgomery product, for twice the bytes of a twiddle. */
enum ntt_quotients {
    NTT_NO_QUOTIENTS,
    NTT_STAGE_QUOTIENTS, /* within a pass: tables that all blocks share */
    NTT_ALL_QUOTIENTS,   /* and between passes, where no table is longer than 2^high_bits */
};

/* How kernels are built for elements of a given size. */
struct ntt_tuning {
    uint32_t log_radix;      /* of a stage: a thread holds 2^log_radix points in registers */
    uint32_t log_threads;    /* of a full block */
    uint32_t min_tile_width; /* log2 of the neighbouring elements that a pass accesses together */
    uint32_t high_bits;      /* log2 of the longest table of twiddles */
    uint32_t single_bits;    /* NTTs up to this log size have one table of all twiddles */
    uint32_t blocks;         /* full blocks that a multiprocessor has registers for */
    uint32_t log_chunk;      /* log2 of the bytes that a device of several uploads at once */
    uint32_t quotients;      /* enum ntt_quotients */
    uint32_t by_length;      /* 1: a kernel per length of sub-transform, ptx/ntt/pass_word.cu */
};

/* Which tuning a size uses. */
enum ntt_choice { NTT_CHOICE_RULE, NTT_CHOICE_USUAL, NTT_CHOICE_OTHER };

/* For fields whose elements have 1, 2, up to 8 or up to 12 words of 32 bits, or more. */
struct ntt_numbers {
    struct ntt_tuning usual;
    struct ntt_tuning other;   /* for some sizes; log_radix 0: none */
    struct ntt_tuning lengths; /* of kernels of one length each; by_length 0: none */
    /* log2 of the elements of all rows from which on it is used: for rows of more than 2^16
     * elements, and for shorter ones. */
    uint32_t lengths_min;
    uint32_t lengths_short_min;
    uint32_t other_by_rule; /* 1: also where it saves a pass or fills the chip, see ntt/plan.c */
    uint32_t choice[TUNING_NTT_LOG_SIZES];
    uint32_t wave_tiles; /* tiles are widened while there are as many per multiprocessor */
    uint32_t long_last;  /* 1: the last passes of uneven ones are the longer; 0: the first */
};

/* ---- chunks of host memory ------------------------------------------------------------------- */

/* The chunks of Poseidon operations and vectors are the same on all chips and have no names, as
 * forecasts of their memory need no device. */
struct poseidon_tuning {
    uint32_t chunk_bytes;       /* of the larger of a chunk's input and output */
    uint32_t two_thread_states; /* launches of up to that many per multiprocessor use two threads
                                   per state */
};

struct vector_tuning {
    uint32_t chunk_bytes; /* of each operand in host memory */
};

/* How pageable memory is staged through pinned slots. */
struct copy_numbers {
    uint32_t helpers;         /* threads besides the caller */
    uint32_t slots;           /* of a ring */
    uint32_t chunk_bytes;     /* size of a slot */
    uint32_t min_chunk_bytes; /* of short copies, which have smaller chunks than slots */
};

struct tuning {
    struct msm_numbers msm[TUNING_MSM_WIDTHS];
    struct ntt_numbers ntt[TUNING_NTT_WIDTHS];
    uint32_t msm_ramp_bytes; /* of host memory from which on the first chunks are smaller */
    uint32_t ntt_chunk_bytes;
    struct poseidon_tuning poseidon;
    struct vector_tuning vector;
    struct copy_numbers copy;
};

/* The numbers of the table. They were measured on compute capability 9.0 and work on all chips:
 * plans fit tiles into the shared memory that a chip has. */
const struct tuning *tuning_default(void);

/* The index of the numbers for that many words. */
uint32_t tuning_msm_width(uint32_t coordinate_words);
uint32_t tuning_ntt_width(uint32_t words);

/* ---- names ----------------------------------------------------------------------------------- */

enum { TUNING_NAME = 48, TUNING_CANDIDATES = 10 };

/* One number of the struct. */
struct tuning_number {
    char name[TUNING_NAME]; /* "msm.8.window_bits.20" */
    size_t offset;
    uint32_t min;
    uint32_t max;
    uint32_t standard; /* the default */
    uint32_t candidates[TUNING_CANDIDATES];
    uint32_t candidate_count;
};

/* The number at an index, in the order of the struct; false past the last one. */
bool tuning_number_at(size_t index, struct tuning_number *number);
/* By its name; false: there is none. */
bool tuning_number_named(const char *name, struct tuning_number *number);
uint32_t tuning_value(const struct tuning *tuning, const struct tuning_number *number);
void tuning_set_value(struct tuning *tuning, const struct tuning_number *number, uint32_t value);
/* Whether all numbers are within their ranges, and do not contradict each other. */
bool tuning_is_valid(const struct tuning *tuning);
/* Whether kernels are built otherwise than by default, so that they are not among the prebuilt. */
bool tuning_needs_compiler(const struct tuning *tuning);

/* ---- files: tuning_file.c -------------------------------------------------------------------- */

/* What a file was measured on. */
struct tuning_key {
    char chip[192]; /* "NVIDIA H200, compute capability 9.0, 132 multiprocessors" */
    int32_t driver_version;
};

enum { TUNING_MAX_BYTES = 1 << 16 };

/* Why a file, or a line of it, is not used, for a message; "": none. */
struct tuning_reason {
    char text[256];
};

/*
 * A file's text, see tuning_file.c; the caller frees *text with base_free. tuning_decode changes
 * the text, which has one byte more. It skips lines that it does not understand, of which the first
 * is the reason; *tuning is the default with the numbers of the file, and it and *key are written
 * only on success. POOL_ERR_BAD_DATA: it is no such file, or its numbers contradict each other.
 */
pool_status tuning_encode(
    const struct tuning_key *key, const struct tuning *tuning, char **text, size_t *bytes);
pool_status tuning_decode(char *text, size_t bytes, struct tuning_key *key, struct tuning *tuning,
    struct tuning_reason *reason);

/* tuning_decode of a file; POOL_ERR_NOT_FOUND when there is none. No failure is recorded. */
pool_status tuning_read(
    const char *path, struct tuning_key *key, struct tuning *tuning, struct tuning_reason *reason);
/* Replaces the file in one step. */
pool_status tuning_write(
    const char *path, const struct tuning_key *key, const struct tuning *tuning);
/* The name of the file of a chip in the cache directory. */
enum { TUNING_FILE_NAME = 32 };
pool_status tuning_file_name(const struct tuning_key *key, char name[TUNING_FILE_NAME]);

/* ---- devices: tuning_device.c ---------------------------------------------------------------- */

/* The numbers of a device, constant after the creation of its pool. */
const struct tuning *device_tuning(const pool_device *device);
/* Sets the numbers of all devices, whose properties have been read. Files that cannot be used are
 * only logged. */
pool_status device_pool_tune(
    device_pool *pool, const pool_tuning *given, bool (*has_compiler)(void));
void device_pool_free_tuning(device_pool *pool);

#endif
