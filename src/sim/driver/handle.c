/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of the simulated driver: (generation, slot, kind) packed into what the caller sees as a
 * pointer. Such a value lies outside what a process can map or is not mapped, so that following it
 * faults.
 */
#include "base/alloc.h"
#include "sim/driver/state.h"

#define SLOT_BITS 24u
#define KIND_BITS 4u
#define GENERATION_SHIFT (SLOT_BITS + KIND_BITS)
#define MAX_SLOTS (1u << SLOT_BITS)
#define EPOCH_SHIFT 18u
#define MAX_EPOCH (1u << 18)
#define MAX_GENERATION (1u << EPOCH_SHIFT)
#define NO_SLOT UINT32_MAX

static void *pack(uint32_t slot, uint64_t generation, enum sim_kind kind)
{
    uint64_t value = generation << GENERATION_SHIFT | (uint64_t)slot << KIND_BITS | kind;

    return (void *)(uintptr_t)value;
}

/* Each start of the driver counts in a range of its own: handles of an earlier one never fit. */
static uint64_t epoch(void)
{
    return (uint64_t)(sim_state.generation % MAX_EPOCH) << EPOCH_SHIFT;
}

static bool grow(void)
{
    uint32_t room = sim_state.slot_room ? sim_state.slot_room * 2 : 64;
    struct sim_slot *slots;

    if (room > MAX_SLOTS)
        return false;
    slots = base_realloc(sim_state.slots, room, sizeof *slots);
    if (!slots)
        return false;
    sim_state.slots = slots;
    sim_state.slot_room = room;
    return true;
}

void *sim_handle_make(enum sim_kind kind, void *object)
{
    uint32_t at = sim_state.slot_count;
    struct sim_slot *slot;

    if (at > 0 && sim_state.first_free_slot != NO_SLOT) {
        at = sim_state.first_free_slot;
        slot = &sim_state.slots[at];
        sim_state.first_free_slot = slot->next_free;
    } else {
        if (at == sim_state.slot_room && !grow())
            return NULL;
        sim_state.first_free_slot = NO_SLOT;
        sim_state.slot_count++;
        slot = &sim_state.slots[at];
        slot->generation = epoch();
    }
    slot->generation++;
    slot->object = object;
    slot->kind = kind;
    return pack(at, slot->generation, kind);
}

static struct sim_slot *slot_of(enum sim_kind kind, const void *handle)
{
    uint64_t value = (uintptr_t)handle;
    uint32_t at = (uint32_t)(value >> KIND_BITS) & (MAX_SLOTS - 1);

    if ((value & ((1u << KIND_BITS) - 1)) != (uint64_t)kind || at >= sim_state.slot_count)
        return NULL;
    return &sim_state.slots[at];
}

void *sim_handle_get(enum sim_kind kind, const void *handle)
{
    struct sim_slot *slot = slot_of(kind, handle);

    if (!slot || slot->kind != kind ||
        slot->generation != (uint64_t)(uintptr_t)handle >> GENERATION_SHIFT)
        return NULL;
    return slot->object;
}

bool sim_handle_was(enum sim_kind kind, const void *handle)
{
    uint64_t generation = (uint64_t)(uintptr_t)handle >> GENERATION_SHIFT;
    struct sim_slot *slot = slot_of(kind, handle);

    return slot && !sim_handle_get(kind, handle) && generation > epoch() &&
           generation <= slot->generation;
}

void sim_handle_drop(void *handle)
{
    uint32_t at = (uint32_t)((uintptr_t)handle >> KIND_BITS) & (MAX_SLOTS - 1);
    struct sim_slot *slot = &sim_state.slots[at];

    slot->object = NULL;
    slot->kind = SIM_KIND_FREE;
    /* A slot that was given out very often is given up, so that no handle ever comes again. */
    if (slot->generation - epoch() >= MAX_GENERATION - 1)
        return;
    slot->next_free = sim_state.first_free_slot;
    sim_state.first_free_slot = at;
}
