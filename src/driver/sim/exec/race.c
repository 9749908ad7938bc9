/* SPDX-License-Identifier: Apache-2.0 */
/* Data races in shared and global memory; see race.h. */
#include "driver/sim/exec/race.h"

#include "base/alloc.h"
#include "base/mix.h"

#include <string.h>

enum {
    WORD = 4,
    PAGE_WORDS = 1024,
    MOST_PAGES = 10000,   /* of 4 KiB of global memory in one launch; about 1 GiB of host memory */
    MOST_HISTORY = 65536, /* entries */
};

struct access {
    uint32_t clock;  /* of the thread's warp; 0: there was none */
    uint32_t number; /* of the operation, in its block */
    uint32_t pc;
    uint32_t block; /* its number in the grid */
    uint32_t epoch; /* of the block: how often it had published */
    uint16_t thread;
    bool is_ordered;
};

struct byte {
    struct access write;
    struct access read, other_lane, other_warp;
};

typedef uint32_t clocks[SIM_MAX_WARPS];

/* A word of global memory; its bytes are apart once one of them was accessed alone. */
struct word {
    struct byte whole;
    struct byte *bytes; /* WORD of them; NULL: not apart */
};

struct page {
    uint64_t number; /* of the address */
    struct word words[PAGE_WORDS];
};

/*
 * Of a block, as others see it. A block that reads what was published knows all that was published
 * before, by any block, so that a clock of a block is the number of what was published last when it
 * read.
 */
struct history {
    uint64_t known;
    bool joins;          /* the next access knows what is published by then */
    uint64_t *published; /* the first number of 2^shift epochs that follow each other */
    uint32_t count, capacity, shift;
    uint32_t epochs;
};

struct sim_global_races {
    pthread_mutex_t lock;
    uint64_t published; /* counts ordered writes of all blocks */
    struct history *blocks;
    uint64_t block_count;
    struct page **pages; /* a hash table, at most half full */
    uint32_t page_count, page_capacity;
};

struct sim_races {
    uint32_t number;
    uint32_t
        exchanged[SIM_MAX_WARPS]; /* number of each warp's last operation before a warp-wide one */
    clocks known[SIM_MAX_WARPS];  /* what each warp knows of each warp's clock, its own included */
    clocks published;             /* by ordered writes */
    clocks arrived[SIM_BARRIERS]; /* by the warps that have arrived */
    struct byte bytes[];
};

size_t sim_races_bytes(uint32_t shared_bytes)
{
    return sizeof(struct sim_races) + (size_t)shared_bytes * sizeof(struct byte);
}

void sim_races_start(struct sim_block *block)
{
    memset(block->races, 0, sim_races_bytes(block->shared_bytes));
    for (uint32_t w = 0; w < SIM_MAX_WARPS; w++)
        block->races->known[w][w] = 1;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void join(clocks to, const clocks from)
{
    for (uint32_t w = 0; w < SIM_MAX_WARPS; w++)
        to[w] = to[w] > from[w] ? to[w] : from[w];
}

/* Others know what the warp has done so far, and nothing of what follows. */
static void publish(const struct sim_warp *warp, clocks to)
{
    uint32_t *known = warp->block->races->known[warp->index];

    join(to, known);
    known[warp->index]++;
}

void sim_races_arrive(struct sim_warp *warp, uint32_t barrier)
{
    publish(warp, warp->block->races->arrived[barrier]);
}

void sim_races_release(struct sim_block *block, uint32_t barrier)
{
    struct sim_races *races = block->races;

    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->barriers[barrier].arrived[w])
            join(races->known[w], races->arrived[barrier]);
    memset(races->arrived[barrier], 0, sizeof(races->arrived[barrier]));
}

void sim_races_exchange(const struct sim_warp *warp)
{
    struct sim_races *races = warp->block->races;

    races->exchanged[warp->index] = races->number;
}

void sim_races_sync_warp(const struct sim_warp *warp)
{
    warp->block->races->known[warp->index][warp->index]++;
}

static struct history *history_of(const struct sim_warp *warp)
{
    struct sim_global_races *global = warp->core->run->global_races;

    return global ? &global->blocks[warp->block->number] : NULL;
}

/* With half of the entries when they are many: more counts as published early than was. */
static bool add_published(struct history *history, uint64_t number)
{
    if (history->epochs & ((1u << history->shift) - 1)) {
        history->epochs++;
        return true;
    }
    if (history->count == MOST_HISTORY) {
        for (uint32_t i = 0; i < MOST_HISTORY / 2; i++)
            history->published[i] = history->published[2 * i];
        history->count /= 2;
        history->shift++;
    }
    if (history->count == history->capacity) {
        const uint32_t capacity = history->capacity ? history->capacity * 2 : 4;
        uint64_t *grown = base_realloc(history->published, capacity, sizeof(*grown));

        if (!grown)
            return false;
        history->published = grown;
        history->capacity = capacity;
    }
    history->published[history->count++] = number;
    history->epochs++;
    return true;
}

void sim_races_begin(struct sim_warp *warp, bool is_ordered, bool is_shared)
{
    struct sim_races *races = warp->block->races;
    struct history *history = is_shared ? NULL : history_of(warp);

    races->number++;
    if (is_ordered)
        join(races->known[warp->index], races->published);
    if (history && (is_ordered || history->joins)) {
        /* The operation has its effect later, and may see what is published until then. */
        history->known =
            __atomic_load_n(&warp->core->run->global_races->published, __ATOMIC_ACQUIRE);
        history->joins = is_ordered;
    }
}

bool sim_races_end(struct sim_warp *warp, bool is_ordered, bool is_write, bool is_shared)
{
    struct sim_global_races *global = warp->core->run->global_races;
    bool is_added = true;

    if (!is_ordered || !is_write)
        return true;
    publish(warp, warp->block->races->published);
    if (global && !is_shared) {
        pthread_mutex_lock(&global->lock);
        const uint64_t number = global->published + 1;
        is_added = add_published(history_of(warp), number);
        __atomic_store_n(&global->published, number, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&global->lock);
    }
    if (!is_added)
        sim_fault_run(warp->core->run, SIM_FAULT_NO_MEMORY);
    warp->core->has_faulted |= !is_added;
    return is_added;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static uint32_t warp_of(const struct access *access)
{
    return access->thread / SIM_LANES;
}

static bool are_of_one_warp(const struct access *one, const struct access *other)
{
    return one->block == other->block && warp_of(one) == warp_of(other);
}

/* Whether what one block did before was published, and read by the block that acts now. */
static bool is_known(
    const struct sim_global_races *global, const struct access *before, const struct access *now)
{
    const struct history *history = &global->blocks[before->block];

    return before->epoch < history->epochs &&
           history->published[before->epoch >> history->shift] <= global->blocks[now->block].known;
}

/* Whether nothing orders an earlier access of another thread before this one. Lanes of one
 * operation do not race. */
static bool is_concurrent(
    const struct sim_warp *warp, const struct access *before, const struct access *now)
{
    if (!before->clock)
        return false;
    if (before->block != now->block)
        return !is_known(warp->core->run->global_races, before, now);
    if (before->thread == now->thread || before->number == now->number)
        return false;
    if (warp_of(before) == warp->index)
        return before->clock == now->clock;
    return before->clock > warp->block->races->known[warp->index][warp_of(before)];
}

static bool races_with(
    const struct sim_warp *warp, const struct access *before, const struct access *now)
{
    return !(before->is_ordered && now->is_ordered) && is_concurrent(warp, before, now);
}

/* A read whose value the lanes of the warp had before they exchanged registers is over. */
static bool is_read_over(
    const struct sim_warp *warp, const struct access *read, const struct access *now)
{
    return are_of_one_warp(read, now) && read->number <= warp->block->races->exchanged[warp->index];
}

/* The access that the new one races with; NULL: none. */
static const struct access *find_race(
    const struct sim_warp *warp, const struct byte *byte, const struct access *now, bool is_write)
{
    const struct access *reads[] = {&byte->read, &byte->other_lane, &byte->other_warp};

    if (races_with(warp, &byte->write, now))
        return &byte->write;
    for (size_t i = 0; is_write && i < sizeof(reads) / sizeof(*reads); i++)
        if (!is_read_over(warp, reads[i], now) && races_with(warp, reads[i], now))
            return reads[i];
    return NULL;
}

/* Reads before a write need not be kept: who races with them races with the write, too, or is
 * ordered before it. */
static void record(struct byte *byte, const struct access *now, bool is_write)
{
    if (is_write) {
        *byte = (struct byte){.write = *now};
        return;
    }
    if (byte->read.clock && !are_of_one_warp(&byte->read, now)) {
        byte->other_warp = byte->read;
        byte->other_lane = (struct access){0};
    } else if (byte->read.clock && byte->read.thread != now->thread) {
        byte->other_lane = byte->read;
    }
    byte->read = *now;
}

static struct access access_now(
    const struct sim_warp *warp, const struct sim_op *op, unsigned lane, bool is_ordered)
{
    const struct sim_races *races = warp->block->races;
    const struct history *history = history_of(warp);

    return (struct access){.clock = races->known[warp->index][warp->index],
        .number = races->number,
        .pc = sim_pc(warp, op),
        .block = (uint32_t)warp->block->number,
        .epoch = history ? history->epochs : 0,
        .thread = (uint16_t)(warp->index * SIM_LANES + lane),
        .is_ordered = is_ordered};
}

/* One byte, or a word of which all bytes are accessed. *other is what it races with. */
static bool access_byte(const struct sim_warp *warp, struct byte *byte, const struct access *now,
    bool is_write, struct sim_race *other)
{
    const struct access *before = find_race(warp, byte, now, is_write);

    if (!before) {
        record(byte, now, is_write);
        return true;
    }
    *other = (struct sim_race){.block = before->block,
        .thread = before->thread,
        .pc = before->pc,
        .is_write = before == &byte->write};
    return false;
}

bool sim_races_access(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t offset, uint32_t bytes, bool is_write, bool is_ordered)
{
    struct sim_races *races = warp->block->races;
    const struct access now = access_now(warp, op, lane, is_ordered);
    struct sim_race other;

    for (uint32_t i = 0; i < bytes; i++)
        if (!access_byte(warp, &races->bytes[offset + i], &now, is_write, &other)) {
            sim_fault_race(warp, op, SIM_SPACE_SHARED, lane, offset, bytes, is_write, &other);
            return false;
        }
    return true;
}

/* ---- global memory --------------------------------------------------------------------------- */

struct sim_global_races *sim_global_races_create(uint64_t block_count)
{
    struct sim_global_races *global = base_calloc(1, sizeof(*global));

    if (global) {
        global->blocks = base_calloc(block_count, sizeof(*global->blocks));
        global->block_count = block_count;
        global->page_capacity = 64;
        global->pages = base_calloc(global->page_capacity, sizeof(struct page *));
    }
    if (!global || !global->blocks || !global->pages) {
        base_free(global ? global->blocks : NULL);
        base_free(global ? global->pages : NULL);
        base_free(global);
        return NULL;
    }
    pthread_mutex_init(&global->lock, NULL);
    return global;
}

static void free_page(struct page *page)
{
    for (uint32_t i = 0; page && i < PAGE_WORDS; i++)
        base_free(page->words[i].bytes);
    base_free(page);
}

void sim_global_races_free(struct sim_global_races *global)
{
    if (!global)
        return;
    for (uint64_t i = 0; i < global->block_count; i++)
        base_free(global->blocks[i].published);
    for (uint32_t i = 0; i < global->page_capacity; i++)
        free_page(global->pages[i]);
    base_free(global->blocks);
    base_free(global->pages);
    pthread_mutex_destroy(&global->lock);
    base_free(global);
}

/* The place of the page in a table. */
static struct page **place_of(struct page **pages, uint32_t capacity, uint64_t number)
{
    uint32_t at = (uint32_t)base_mix(number) & (capacity - 1);

    while (pages[at] && pages[at]->number != number)
        at = (at + 1) & (capacity - 1);
    return &pages[at];
}

static bool grow(struct sim_global_races *global)
{
    const uint32_t capacity = global->page_capacity * 2;
    struct page **pages = base_calloc(capacity, sizeof(struct page *));

    for (uint32_t i = 0; pages && i < global->page_capacity; i++)
        if (global->pages[i])
            *place_of(pages, capacity, global->pages[i]->number) = global->pages[i];
    if (!pages)
        return false;
    base_free(global->pages);
    global->pages = pages;
    global->page_capacity = capacity;
    return true;
}

/* NULL: there are too many, and this one is not checked. */
static struct page *find_page(struct sim_global_races *global, uint64_t number)
{
    struct page **place = place_of(global->pages, global->page_capacity, number), *page = *place;

    if (page || global->page_count >= MOST_PAGES)
        return page;
    if (global->page_count >= global->page_capacity / 2) {
        if (!grow(global))
            return NULL;
        place = place_of(global->pages, global->page_capacity, number);
    }
    page = base_calloc(1, sizeof(*page));
    if (page) {
        page->number = number;
        *place = page;
        global->page_count++;
    }
    return page;
}

/* The bytes of a word, apart; NULL: no memory. */
static struct byte *split(struct word *word)
{
    if (!word->bytes)
        word->bytes = base_calloc(WORD, sizeof(*word->bytes));
    else
        return word->bytes;
    for (int i = 0; word->bytes && i < WORD; i++)
        word->bytes[i] = word->whole;
    return word->bytes;
}

/* The bytes of one word from `address` on. */
static bool access_word(struct sim_warp *warp, uint64_t address, uint32_t bytes,
    const struct access *now, bool is_write, struct sim_race *other)
{
    const uint64_t page_bytes = (uint64_t)PAGE_WORDS * WORD;
    struct page *page = find_page(warp->core->run->global_races, address / page_bytes);
    struct word *word = page ? &page->words[address % page_bytes / WORD] : NULL;

    if (!word)
        return true;
    if (bytes == WORD && !word->bytes)
        return access_byte(warp, &word->whole, now, is_write, other);
    struct byte *apart = split(word);
    for (uint32_t i = 0; apart && i < bytes; i++)
        if (!access_byte(warp, &apart[address % WORD + i], now, is_write, other))
            return false;
    return true;
}

bool sim_races_global(struct sim_warp *warp, const struct sim_op *op, unsigned lane,
    uint64_t address, uint32_t bytes, bool is_write, bool is_ordered)
{
    struct sim_global_races *global = warp->core->run->global_races;
    const struct access now = access_now(warp, op, lane, is_ordered);
    struct sim_race other;
    bool is_right = true;

    pthread_mutex_lock(&global->lock);
    for (uint32_t done = 0, some; is_right && done < bytes; done += some) {
        some = WORD - (uint32_t)((address + done) % WORD);
        some = some > bytes - done ? bytes - done : some;
        is_right = access_word(warp, address + done, some, &now, is_write, &other);
    }
    pthread_mutex_unlock(&global->lock);
    if (!is_right)
        sim_fault_race(warp, op, SIM_SPACE_GLOBAL, lane, address, bytes, is_write, &other);
    return is_right;
}
