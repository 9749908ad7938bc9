/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles of the simulated driver: (generation, slot, kind) packed into a value of pointer type.
 * No process can map such an address, so dereferencing a handle faults.
 */
#include "base/alloc.h"
#include "driver/sim/table/state.h"

#define SLOT_BITS 24u
#define KIND_BITS 4u
#define GENERATION_SHIFT (SLOT_BITS + KIND_BITS)
#define MAX_SLOTS (1u << SLOT_BITS)
#define EPOCH_SHIFT 18u
#define MAX_EPOCH (1u << 18)
#define MAX_GENERATION (1u << EPOCH_SHIFT)
#define NO_SLOT UINT32_MAX

static void *pack_handle(uint32_t slot, uint64_t generation, enum sim_handle_kind kind)
{
    uint64_t value = generation << GENERATION_SHIFT | (uint64_t)slot << KIND_BITS | kind;

    return (void *)(uintptr_t)value;
}

/* Each start of the driver counts in a separate range, so handles of an earlier driver are never
 * valid. */
static uint64_t generation_base(void)
{
    return (uint64_t)(sim_state.generation % MAX_EPOCH) << EPOCH_SHIFT;
}

static bool grow_slots(void)
{
    uint32_t capacity = sim_state.slot_capacity ? sim_state.slot_capacity * 2 : 64;
    struct sim_slot *slots;

    if (capacity > MAX_SLOTS)
        return false;
    slots = base_realloc(sim_state.slots, capacity, sizeof(*slots));
    if (!slots)
        return false;
    sim_state.slots = slots;
    sim_state.slot_capacity = capacity;
    return true;
}

void *sim_handle_create(enum sim_handle_kind kind, void *object)
{
    uint32_t at = sim_state.slot_count;
    struct sim_slot *slot;

    if (at > 0 && sim_state.first_free_slot != NO_SLOT) {
        at = sim_state.first_free_slot;
        slot = &sim_state.slots[at];
        sim_state.first_free_slot = slot->next_free;
    } else {
        if (at == sim_state.slot_capacity && !grow_slots())
            return NULL;
        sim_state.first_free_slot = NO_SLOT;
        sim_state.slot_count++;
        slot = &sim_state.slots[at];
        slot->generation = generation_base();
    }
    slot->generation++;
    slot->object = object;
    slot->kind = kind;
    return pack_handle(at, slot->generation, kind);
}

static struct sim_slot *slot_of(enum sim_handle_kind kind, const void *handle)
{
    uint64_t value = (uintptr_t)handle;
    uint32_t at = (uint32_t)(value >> KIND_BITS) & (MAX_SLOTS - 1);

    if ((value & ((1u << KIND_BITS) - 1)) != (uint64_t)kind || at >= sim_state.slot_count)
        return NULL;
    return &sim_state.slots[at];
}

void *sim_handle_get(enum sim_handle_kind kind, const void *handle)
{
    struct sim_slot *slot = slot_of(kind, handle);

    if (!slot || slot->kind != kind ||
        slot->generation != (uint64_t)(uintptr_t)handle >> GENERATION_SHIFT)
        return NULL;
    return slot->object;
}

bool sim_handle_was_valid(enum sim_handle_kind kind, const void *handle)
{
    uint64_t generation = (uint64_t)(uintptr_t)handle >> GENERATION_SHIFT;
    struct sim_slot *slot = slot_of(kind, handle);

    return slot && !sim_handle_get(kind, handle) && generation > generation_base() &&
           generation <= slot->generation;
}

void sim_handle_release(void *handle)
{
    uint32_t at = (uint32_t)((uintptr_t)handle >> KIND_BITS) & (MAX_SLOTS - 1);
    struct sim_slot *slot = &sim_state.slots[at];

    slot->object = NULL;
    slot->kind = SIM_HANDLE_FREE;
    /* A slot that was reused very often is retired, so that no handle value repeats. */
    if (slot->generation - generation_base() >= MAX_GENERATION - 1)
        return;
    slot->next_free = sim_state.first_free_slot;
    sim_state.first_free_slot = at;
}
