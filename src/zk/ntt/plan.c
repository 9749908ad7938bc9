/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans an NTT: the number of passes, the index bits of each and the tile of a block; and a call:
 * its device memory and its chunks. Pure: sizes, the properties of a chip and a budget in, launch
 * shapes, chunks and bytes out.
 */
#include "zk/ntt/ntt.h"

#include <string.h>

#include "base/math.h"
#include "base/status.h"
#include "pool/memory/scratch.h"

/* The largest first dimension of a grid. */
#define MAX_BLOCKS 0x7fffffffu

/* A memory sector of 32 bytes. */
#define SECTOR_WORDS 8
/* Elements of which two are one access of 16 bytes. */
#define PAIR_WORDS 2

enum { LOG_WARP = 5, SCHEDULERS = 4, LENGTHS_SHORT_BITS = 16 };

uint32_t ntt_log_tile(const struct ntt_tuning *tuning)
{
    return tuning->log_radix + tuning->log_threads + tuning->by_length;
}

uint32_t ntt_doubled(const struct ntt_tuning *tuning, uint32_t log_length)
{
    return tuning->by_length && log_length + tuning->min_tile_width > ntt_log_tile(tuning);
}

/* Shared memory of a block's tile in words, padding included. */
static uint64_t tile_words(const struct ntt_tuning *tuning, uint32_t words)
{
    if (tuning->by_length)
        return (uint64_t)2 << ntt_log_tile(tuning); /* of a doubled tile */
    return (uint64_t)words * ((1u << tuning->log_radix) + 1) << tuning->log_threads;
}

static struct ntt_tuning fit_shared_memory(
    struct ntt_tuning tuning, uint32_t words, const struct chip *chip)
{
    while (tuning.log_threads > LOG_WARP && 4 * tile_words(&tuning, words) > chip->shared_bytes)
        tuning.log_threads--;
    return tuning;
}

static uint32_t count_passes(const struct ntt_tuning *tuning, uint32_t log_size)
{
    uint32_t tile = ntt_log_tile(tuning);
    uint32_t most = tile - tuning->min_tile_width;

    if (tuning->by_length) {
        tile = (uint32_t)base_min(tile - 1, NTT_MAX_LENGTH);
        most = (uint32_t)base_min(most + 1, tile);
    }
    return log_size <= tile ? 1 : (log_size + most - 1) / most;
}

static bool has_few_warps(
    const struct ntt_job *job, const struct chip *chip, const struct ntt_tuning *tuning)
{
    uint64_t threads = (uint64_t)chip->multiprocessors * SCHEDULERS << LOG_WARP;

    return job->log_size + tuning->log_radix < 40 &&
           job->batch <= threads << tuning->log_radix >> job->log_size;
}

static const struct ntt_numbers *numbers_of(uint32_t words, const struct chip *chip)
{
    return &chip_tuning(chip)->ntt[tuning_ntt_width(words)];
}

uint32_t ntt_tunings(
    uint32_t words, const struct chip *chip, struct ntt_tuning tunings[NTT_TUNINGS])
{
    const struct ntt_numbers *numbers = numbers_of(words, chip);

    tunings[0] = fit_shared_memory(numbers->usual, words, chip);
    tunings[1] = fit_shared_memory(numbers->other, words, chip);
    return numbers->other.log_radix ? 2 : 1;
}

bool ntt_tuning_of_lengths(uint32_t words, const struct chip *chip, struct ntt_tuning *tuning)
{
    *tuning = numbers_of(words, chip)->lengths;
    /* Smaller tiles would be other programs, for chips older than 7.0 only. */
    if (4 * tile_words(tuning, words) > chip->shared_bytes)
        tuning->by_length = 0;
    return tuning->by_length;
}

/* Whether kernels of one length each support a job: their passes are neither too short nor too
 * long, and only a first pass in natural order multiplies by powers of a coset generator. */
static bool supports_lengths(const struct ntt_tuning *tuning, const struct ntt_job *job)
{
    const uint32_t bits = job->log_size - job->log_done, count = count_passes(tuning, bits);
    const bool is_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;

    return job->layout == POOL_NTT_ROWS && !job->coset_out && !(job->coset_in && is_reversed) &&
           bits / count >= NTT_MIN_LENGTH;
}

/* Whether they were measured to be faster. */
static bool prefers_lengths(
    const struct ntt_tuning *tuning, const struct chip *chip, const struct ntt_job *job)
{
    const struct ntt_numbers *numbers = numbers_of(job->words, chip);
    const bool is_short = job->log_size - job->log_done <= LENGTHS_SHORT_BITS;
    const uint32_t least = is_short ? numbers->lengths_short_min : numbers->lengths_min;

    return supports_lengths(tuning, job) && job->batch << job->log_size >= (uint64_t)1 << least;
}

struct ntt_tuning ntt_tuning_for(const struct ntt_job *job, const struct chip *chip)
{
    struct ntt_tuning tunings[NTT_TUNINGS], lengths;
    const struct ntt_tuning *usual = &tunings[0], *other = &tunings[1];
    const struct ntt_numbers *numbers = numbers_of(job->words, chip);
    const uint32_t bits = job->log_size - job->log_done;
    uint32_t choice = NTT_CHOICE_RULE, count;
    bool is_other;

    if (job->tuning && (!job->tuning->by_length || supports_lengths(job->tuning, job)))
        return *job->tuning;
    count = ntt_tunings(job->words, chip, tunings);
    /* Batches fill a chip as larger transforms do, so that what was measured alone says nothing. */
    if (job->batch == 1 && bits < TUNING_NTT_LOG_SIZES)
        choice = numbers->choice[bits];
    if (choice != NTT_CHOICE_RULE)
        return choice == NTT_CHOICE_OTHER && count > 1 ? *other : *usual;
    if (ntt_tuning_of_lengths(job->words, chip, &lengths) && prefers_lengths(&lengths, chip, job))
        return lengths;
    if (count == 1 || !numbers->other_by_rule)
        return *usual;
    is_other = other->log_radix > usual->log_radix
                   ? count_passes(other, bits) < count_passes(usual, bits)
                   : has_few_warps(job, chip, usual);
    return is_other ? *other : *usual;
}

/* Wide tiles use memory best, but there must be enough blocks for the whole chip. */
static uint32_t choose_tile_width(const struct ntt_tuning *tuning, const struct chip *chip,
    uint32_t words, const struct ntt_pass *pass, uint32_t min_width)
{
    const uint64_t wave = (uint64_t)numbers_of(words, chip)->wave_tiles * chip->multiprocessors;
    uint32_t most = ntt_log_tile(tuning) - pass->log_length;
    uint32_t log_tile_width = min_width;

    if (tuning->by_length)
        return most + ntt_doubled(tuning, pass->log_length);
    while (log_tile_width < most && pass->sub_transforms >> (log_tile_width + 1) >= wave)
        log_tile_width++;
    return log_tile_width;
}

static void choose_flags(const struct ntt_job *job, struct ntt_plan *plan, uint32_t index)
{
    struct ntt_pass *pass = &plan->pass[index];
    bool is_first = index == 0;
    bool is_last = index + 1 == plan->count;
    bool input_is_reversed = job->order == POOL_NTT_RN || job->order == POOL_NTT_RR;
    bool output_is_natural = job->order == POOL_NTT_NN || job->order == POOL_NTT_RN;
    bool is_strided = pass->log_done + pass->log_length < job->log_size;
    bool is_interleaved = job->layout == POOL_NTT_COLUMNS;
    bool stores_interleaved = is_interleaved && !(is_last && job->stores_rows);

    if (is_first && input_is_reversed)
        pass->flags |= NTT_REVERSED_INPUT;
    if (is_last && output_is_natural)
        pass->flags |= NTT_NATURAL_OUTPUT;
    if (is_interleaved)
        pass->flags |= NTT_INTERLEAVED;
    if (stores_interleaved)
        pass->flags |= NTT_STORE_INTERLEAVED;
    if (is_first && job->coset_in)
        pass->flags |= NTT_COSET_INPUT;
    if (is_last && job->coset_out)
        pass->flags |= NTT_COSET_OUTPUT;
    if (is_interleaved || (is_strided && !(pass->flags & NTT_REVERSED_INPUT)))
        pass->flags |= NTT_LOAD_TRANSPOSED;
    if (stores_interleaved || is_strided ||
        ((pass->flags & NTT_NATURAL_OUTPUT) && pass->log_length < job->log_size))
        pass->flags |= NTT_STORE_TRANSPOSED;
}

/* A pass of one stage loads and stores with the same assignment of points to threads, so that only
 * one of the two orders can use registers directly. */
static bool is_one_stage_with_two_orders(
    const struct ntt_tuning *tuning, const struct ntt_pass *pass)
{
    return pass->log_length <= tuning->log_radix && (pass->flags & NTT_LOAD_REGISTERS) &&
           !(pass->flags & NTT_LOAD_TRANSPOSED);
}

/*
 * A thread's points that are neighbours in memory, because the order there is bit-reversed, are
 * loaded and stored 16 bytes at a time. Neighbouring threads have neighbouring sub-transforms, so
 * that their accesses to the tile are to different banks (Goldilocks, RR: 2^24 in 0.405 instead of
 * 0.568 ms). Stores exchange elements between the threads of a warp that have neighbouring points.
 */
static void choose_neighbours(
    const struct ntt_tuning *tuning, const struct ntt_job *job, struct ntt_pass *pass)
{
    const uint32_t others = NTT_NATURAL_OUTPUT | NTT_COSET_OUTPUT;
    const uint32_t log_threads = pass->log_length + pass->log_tile_width - tuning->log_radix;
    const bool is_last = pass->log_done + pass->log_length == job->log_size;

    if (pass->log_length <= tuning->log_radix || tuning->log_radix < 2)
        return;
    if ((pass->flags & NTT_REVERSED_INPUT) && !(pass->flags & NTT_COSET_INPUT))
        pass->flags |= NTT_LOAD_REGISTERS | NTT_LOAD_TRANSPOSED;
    if (is_last && !(pass->flags & others) && log_threads >= LOG_WARP &&
        pass->log_tile_width < LOG_WARP)
        pass->flags |= NTT_STORE_REGISTERS | NTT_STORE_TRANSPOSED | NTT_STORE_NEIGHBOURS;
}

/*
 * The order of threads in the stages between the first and the last one, and what follows from it.
 * Where neighbouring threads load and store neighbours of one sub-transform they keep that order,
 * so that fewer points change warps (2^22 of 256 bits, NR: 0.890 instead of 0.907 ms).
 */
static void choose_exchanges(
    const struct ntt_tuning *tuning, const struct ntt_job *job, struct ntt_pass *pass)
{
    const uint32_t both = NTT_LOAD_TRANSPOSED | NTT_STORE_TRANSPOSED;
    const uint32_t log_threads = pass->log_length + pass->log_tile_width - tuning->log_radix;
    const bool is_along = !(pass->flags & both) || pass->log_tile_width == 0;

    if (is_along && job->words >= SECTOR_WORDS)
        pass->log_tile_inner = 0;
    if (log_threads < LOG_WARP)
        return;
    if (is_along && pass->log_tile_inner == 0)
        pass->log_in_warp = LOG_WARP;
    else if ((pass->flags & both) == both && pass->log_tile_inner < LOG_WARP)
        pass->log_in_warp = LOG_WARP - pass->log_tile_inner;
}

/*
 * Elements of one sector are stored by pairs of threads where a thread's two stores would be far
 * apart in time, that is, in transforms of few blocks (2^16 of 256 bits: 0.0225 instead of 0.0245
 * ms), and where its points are neighbours (NR: 2^18 0.0628 instead of 0.0653 ms, 2^20 0.223 and
 * 0.228; but 2^22 and 2^24 are 1 % slower, NN of 2^20 and more 2 %).
 */
static void choose_sectors(const struct ntt_tuning *tuning, const struct chip *chip,
    const struct ntt_job *job, struct ntt_pass *pass)
{
    const uint32_t log_threads = pass->log_length + pass->log_tile_width - tuning->log_radix;
    const uint64_t resident = (uint64_t)tuning->blocks * chip->multiprocessors;
    const uint64_t tile_mask = ((uint64_t)1 << pass->log_tile_width) - 1;

    if (job->words != SECTOR_WORDS || !(pass->flags & NTT_STORE_REGISTERS) ||
        log_threads < LOG_WARP || (pass->sub_transforms & tile_mask) != 0)
        return;
    if (tuning->log_radix == 1 || (!(pass->flags & NTT_STORE_TRANSPOSED) &&
                                      pass->sub_transforms >> pass->log_tile_width <= 4 * resident))
        pass->flags |= NTT_STORE_SECTORS;
}

static bool plan_pass(const struct ntt_tuning *tuning, const struct chip *chip,
    const struct ntt_job *job, struct ntt_plan *plan, uint32_t index)
{
    struct ntt_pass *pass = &plan->pass[index];
    uint32_t min_width = plan->count > 1 ? tuning->min_tile_width : 0;
    uint64_t blocks;

    pass->sub_transforms = job->batch << (job->log_size - pass->log_length);
    if (pass->log_length + min_width < tuning->log_radix)
        min_width =
            tuning->log_radix - pass->log_length; /* a thread then has several sub-transforms */
    pass->log_tile_width = choose_tile_width(tuning, chip, job->words, pass, min_width);
    choose_flags(job, plan, index);
    /* Short sub-transforms are outermost in the tile, so that a thread's points are neighbours. */
    if (pass->log_length >= tuning->log_radix) {
        bool is_permuted = (pass->flags & (NTT_REVERSED_INPUT | NTT_COSET_INPUT)) != 0;

        pass->log_tile_inner = pass->log_tile_width;
        if (!is_permuted)
            pass->flags |= NTT_LOAD_REGISTERS;
        /* Outputs of one thread that are adjacent in memory are stored through shared memory, so
         * that accesses coalesce, unless one element fills a sector (1.5 % of a 256-bit 2^24 NR).
         */
        if (((pass->flags & NTT_STORE_TRANSPOSED) || job->words >= SECTOR_WORDS) &&
            !(pass->flags & NTT_COSET_OUTPUT) && !is_one_stage_with_two_orders(tuning, pass))
            pass->flags |= NTT_STORE_REGISTERS;
        if (job->words == PAIR_WORDS && job->layout == POOL_NTT_ROWS)
            choose_neighbours(tuning, job, pass);
        choose_exchanges(tuning, job, pass);
        choose_sectors(tuning, chip, job, pass);
    }
    pass->threads = 1u << (pass->log_length + pass->log_tile_width - tuning->log_radix);
    pass->shared_bytes = (uint32_t)(4 * tile_words(tuning, job->words));
    if (tuning->by_length) {
        pass->threads >>= 1; /* each computes two butterflies per stage */
        pass->shared_bytes = 4u << (pass->log_length + pass->log_tile_width);
    }
    blocks = ((pass->sub_transforms - 1) >> pass->log_tile_width) + 1;
    pass->blocks = (uint32_t)blocks;
    /* When all blocks are resident at once, early blocks of the next pass would be distributed
     * unevenly over the multiprocessors (Goldilocks 2^20: 0.031 instead of 0.027 ms). */
    if (blocks > (uint64_t)tuning->blocks * chip->multiprocessors)
        pass->flags |= NTT_TRIGGERS_DEPENDENT;
    return blocks <= MAX_BLOCKS;
}

pool_status ntt_plan_fail(const struct ntt_job *job)
{
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "%llu transforms of 2^%u points need more blocks than a launch can have; use a smaller "
        "batch",
        (unsigned long long)job->batch, job->log_size);
}

/*
 * log2 of the sub-transforms of pass `index`. Kernels of one length compute 8 bits in two stages, 9
 * to 12 in three: all passes but the last have 8 bits where the last one then still accesses
 * 2^min_tile_width neighbours (2^26 in 0.616 ms; 10 + 8 + 8 bits 0.673, 9 + 9 + 8 bits 0.776).
 */
static uint32_t length_of_pass(
    const struct ntt_tuning *tuning, uint32_t bits, uint32_t count, uint32_t index, bool long_last)
{
    const uint32_t rest = bits % count, of_others = NTT_MIN_LENGTH * (count - 1);
    const uint32_t longest = ntt_log_tile(tuning) + 1 - tuning->min_tile_width;

    if (tuning->by_length && bits - of_others <= longest)
        return index + 1 == count ? bits - of_others : NTT_MIN_LENGTH;
    return bits / count + (long_last ? index >= count - rest : index < rest);
}

bool ntt_plan_make(const struct ntt_tuning *tuning, const struct chip *chip,
    const struct ntt_job *job, struct ntt_plan *plan)
{
    const bool long_last = numbers_of(job->words, chip)->long_last;
    uint32_t bits = job->log_size - job->log_done, done = job->log_done;
    bool is_one_pass;

    memset(plan, 0, sizeof(*plan));
    plan->count = count_passes(tuning, bits);
    is_one_pass = plan->count == 1 && job->log_done == 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct ntt_pass *pass = &plan->pass[i];

        pass->log_done = done;
        pass->log_length = length_of_pass(tuning, bits, plan->count, i, long_last);
        done += pass->log_length;
        if (!plan_pass(tuning, chip, job, plan, i))
            return false;
    }
    plan->first_is_out_of_place = !is_one_pass && (plan->pass[0].flags & NTT_REVERSED_INPUT);
    plan->last_is_out_of_place =
        job->stores_rows ||
        (!is_one_pass && (plan->pass[plan->count - 1].flags & NTT_NATURAL_OUTPUT));
    return true;
}

void ntt_table_layout_make(
    const struct ntt_tuning *tuning, uint32_t log_size, struct ntt_table_layout *layout)
{
    uint32_t tile = ntt_log_tile(tuning);
    uint64_t at = 0;

    memset(layout, 0, sizeof(*layout));
    layout->log_order = log_size < tile ? log_size : tile;
    layout->high_bits = log_size <= tuning->single_bits || log_size < tuning->high_bits
                            ? log_size
                            : tuning->high_bits;
    layout->low_bits = log_size - layout->high_bits;
    layout->stage_twiddles = at, at += (uint64_t)2 << layout->log_order;
    if (tuning->quotients == NTT_ALL_QUOTIENTS && layout->high_bits <= tuning->high_bits) {
        layout->shared_high = at, at += (uint64_t)1 << layout->high_bits;
        layout->shared_low = at, at += (uint64_t)1 << layout->low_bits;
        layout->shared_low_scaled = at, at += (uint64_t)1 << layout->low_bits;
    }
    layout->quotients = at, at += tuning->quotients ? at : 0;
    layout->twiddles_high = at, at += (uint64_t)1 << layout->high_bits;
    layout->twiddles_low = at, at += (uint64_t)1 << layout->low_bits;
    layout->twiddles_low_scaled = at, at += (uint64_t)1 << layout->low_bits;
    layout->coset_high = at, at += (uint64_t)1 << layout->high_bits;
    layout->coset_low = at, at += (uint64_t)1 << layout->low_bits;
    layout->constants = at, at += NTT_CONSTANTS;
    layout->powers_of_two = at, at += 5 * VECTOR_POWERS_OF_TWO;
    layout->total = at;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* One chunk is uploaded, one computed and one downloaded. */
enum { SLOTS = 3 };

bool ntt_plan_needs_workspace(
    const struct ntt_plan *plan, bool is_in_place, bool in_may_be_overwritten)
{
    if (plan->first_is_out_of_place && plan->last_is_out_of_place)
        return true;
    if (plan->first_is_out_of_place)
        return is_in_place;
    /* An input that may be overwritten serves as intermediate memory where the output cannot. */
    return plan->last_is_out_of_place && (is_in_place || !in_may_be_overwritten);
}

struct ntt_memory ntt_plan_memory(
    const struct ntt_plan *plan, const struct ntt_job *job, const struct ntt_operands *operands)
{
    uint64_t count = job->batch << job->log_size, bytes = count * operands->element_bytes;
    bool out_is_usable = !operands->out_is_on_host && operands->out_is_packed;
    struct ntt_memory memory = {.packs_input = operands->in_is_on_host || !operands->in_is_packed};
    bool is_staged_as_packed = operands->in_is_on_host && operands->in_is_packed;

    memory.copies_output = !out_is_usable && !memory.packs_input;
    if (ntt_plan_needs_workspace(
            plan, memory.packs_input ? !out_is_usable : operands->is_in_place, memory.packs_input))
        memory.workspace_bytes = bytes;
    /* A strided input in host memory is uploaded with the bytes between its elements. */
    if (operands->in_is_on_host)
        memory.staged_bytes =
            memory_scratch_bytes((count - 1) * operands->in_stride + operands->element_bytes);
    if (memory.packs_input && !is_staged_as_packed)
        memory.packed_bytes = memory_scratch_bytes(bytes);
    if (memory.copies_output && operands->out_is_on_host)
        memory.staged_bytes += memory_scratch_bytes(bytes);
    else if (memory.copies_output)
        memory.packed_bytes += memory_scratch_bytes(bytes);
    return memory;
}

static pool_status plan_memory(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, uint64_t batch, struct ntt_memory *memory)
{
    struct ntt_job chunk = *job;
    struct ntt_tuning tuning;
    struct ntt_plan plan;

    chunk.batch = batch;
    tuning = ntt_tuning_for(&chunk, chip);
    if (!ntt_plan_make(&tuning, chip, &chunk, &plan))
        return ntt_plan_fail(&chunk);
    *memory = ntt_plan_memory(&plan, &chunk, operands);
    return POOL_OK;
}

/* Sets the memory of chunks of that many rows. The last one may have fewer rows, and then another
 * plan, which may need a workspace where the others do not. */
static pool_status set_chunks(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, struct ntt_chunks *chunks)
{
    uint64_t rest = job->batch % chunks->rows;
    uint64_t check = operands->has_checks ? memory_scratch_bytes(sizeof(uint64_t)) : 0;
    struct ntt_memory memory, last = {0};
    pool_status status = plan_memory(chip, job, operands, chunks->rows, &memory);

    if (!status && rest)
        status = plan_memory(chip, job, operands, rest, &last);
    if (status)
        return status;
    chunks->workspace_bytes =
        operands->has_workspace ? 0 : base_max(memory.workspace_bytes, last.workspace_bytes);
    /* The answer of a check is freed before spans are packed. */
    chunks->bytes =
        chunks->slots * (memory.staged_bytes + memory_scratch_bytes(chunks->workspace_bytes)) +
        base_max(memory.packed_bytes, check);
    return POOL_OK;
}

/* As many slots as fit with one row each, and then as many rows as fit. */
static pool_status limit_chunks(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, uint64_t limit, struct ntt_chunks *chunks)
{
    uint64_t most_rows = chunks->rows, most_slots = base_min(SLOTS, job->batch);
    pool_status status = POOL_OK;

    *chunks = (struct ntt_chunks){.rows = 1, .slots = (uint32_t)most_slots};
    status = set_chunks(chip, job, operands, chunks);
    while (!status && chunks->bytes > limit && chunks->slots > 1) {
        chunks->slots--;
        status = set_chunks(chip, job, operands, chunks);
    }
    if (!status && chunks->bytes > limit)
        status = exec_fail_limit("pool_ntt", limit, chunks->bytes);
    most_slots = chunks->slots;
    /* One row fits. Plans differ by batch, so that a chunk may need another workspace than a row.
     */
    for (chunks->rows = most_rows; !status; chunks->rows /= 2) {
        chunks->slots = (uint32_t)base_min(most_slots, base_ceil_div(job->batch, chunks->rows));
        status = set_chunks(chip, job, operands, chunks);
        if (chunks->bytes <= limit)
            break;
    }
    return status;
}

static bool is_divisible(const struct ntt_job *job, const struct ntt_operands *operands)
{
    return operands->in_is_on_host && operands->in_is_packed && operands->out_is_on_host &&
           operands->out_is_packed && job->layout == POOL_NTT_ROWS && !operands->has_workspace;
}

pool_status ntt_plan_smallest(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, struct ntt_chunks *chunks)
{
    *chunks = (struct ntt_chunks){.rows = is_divisible(job, operands) ? 1 : job->batch, .slots = 1};
    return set_chunks(chip, job, operands, chunks);
}

pool_status ntt_plan_chunks(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, uint64_t limit, struct ntt_chunks *chunks)
{
    const bool has_parts = is_divisible(job, operands);
    uint64_t most = base_max(
        chip_tuning(chip)->ntt_chunk_bytes / (operands->element_bytes << job->log_size), 1);
    pool_status status;

    *chunks = (struct ntt_chunks){.rows = job->batch, .slots = 1};
    if (has_parts && job->batch > most)
        *chunks = (struct ntt_chunks){
            .rows = most, .slots = (uint32_t)base_min(SLOTS, base_ceil_div(job->batch, most))};
    status = set_chunks(chip, job, operands, chunks);
    if (status || chunks->bytes <= limit)
        return status;
    return has_parts ? limit_chunks(chip, job, operands, limit, chunks)
                     : exec_fail_limit("pool_ntt", limit, chunks->bytes);
}
