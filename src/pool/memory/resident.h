/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that stay in a device's memory between jobs and can be restored: bases, twiddle tables of
 * domains, buffers of registered sources, loaded modules. Each device has a list in the order of
 * use. Where an allocation needs memory, objects that nobody uses are evicted, least recently used
 * first.
 */
#ifndef MEMORY_RESIDENT_H
#define MEMORY_RESIDENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include <devicepool/memory.h>

#include "pool/device/device.h"

/* In memory_resident.launches: the code is evicted, or is being evicted. */
#define MEMORY_RESIDENT_EVICTED 0x80000000u

/* An object of one device, embedded in its owner's. All members are the list's once it is added. */
struct memory_resident {
    struct memory_resident *next; /* used more recently */
    struct memory_resident *previous;
    pool_device *device;
    const char *kind; /* static: "bases", "domain", "buffer", "module" */
    const char *name; /* lives as long as the entry */
    /* Where the object may outlive the process of its device (durable.h); NULL: it does not. */
    pool_buffer *buffer;
    uint64_t bytes;
    uint32_t users;
    uint32_t outside_users; /* of these, the ones that have not reserved its bytes by a lease */
    bool is_pinned;         /* never evicted */
    bool is_code;           /* see below */
    bool is_evicting;       /* or being verified */
    bool is_lost;           /* with its process: in the next one it is verified before it is used */
    bool is_suspect;        /* the process was lost while it was verified there */
    bool is_removed;        /* by its owner, while it was being verified */
    atomic_uint survivals;  /* of processes of the device */
    atomic_uint launches;   /* of code: those in progress, and MEMORY_RESIDENT_EVICTED */
    atomic_bool is_recent;  /* of code: launched since the list last examined it */
    uint64_t used_at;       /* base_clock_coarse_ns */
    /*
     * Releases the object, and the entry unless it is code's. It is no longer in the list and has
     * no users. Called without locks of this layer, inside device_enter, on any thread.
     */
    void (*evict)(struct memory_resident *entry);
};

/* Inside device_enter. The entry gets one user; `is_leased`: whose lease has reserved its bytes.
 * Its memory counts as used outside of leases until now. */
pool_status memory_resident_add(struct memory_resident *entry, bool is_leased);

/*
 * One user more or less. memory_resident_use returns false when the entry is being evicted: the
 * caller, whose own lock has kept the entry alive, has to forget it and to restore the object.
 */
bool memory_resident_use(struct memory_resident *entry, bool is_leased);
void memory_resident_unuse(struct memory_resident *entry, bool is_leased);

/*
 * Code is memory that the driver allocates for a module. Neither the memory limit nor the account
 * of leases covers it, and `bytes` is an estimate, so it is evicted only when the device itself has
 * no memory left. It is used by every launch, hence without the list's lock: its place in the order
 * of use is brought up to date when the list looks for something to evict. The entry exists as long
 * as its owner, who adds it again when it has loaded the evicted code.
 *
 * Returns false when the code is or is being evicted.
 */
static inline bool memory_resident_begin_launch(struct memory_resident *entry)
{
    if (atomic_fetch_add_explicit(&entry->launches, 1, memory_order_acquire) &
        MEMORY_RESIDENT_EVICTED) {
        atomic_fetch_sub_explicit(&entry->launches, 1, memory_order_relaxed);
        return false;
    }
    if (!atomic_load_explicit(&entry->is_recent, memory_order_relaxed))
        atomic_store_explicit(&entry->is_recent, true, memory_order_relaxed);
    return true;
}

static inline void memory_resident_end_launch(struct memory_resident *entry)
{
    atomic_fetch_sub_explicit(&entry->launches, 1, memory_order_release);
}

/* The number of users, and the time since the last one left; 0 while there are any. */
uint32_t memory_resident_users(const struct memory_resident *entry);
void memory_resident_read_use(
    const struct memory_resident *entry, uint32_t *users, uint64_t *idle_ns);

/*
 * The owner wants to release the object itself, and holds the lock of its own under which `evict`
 * forgets the entry, so that the entry exists. Never waits. False: the entry is being evicted, and
 * `evict` releases it; memory_resident_wait waits for that.
 */
bool memory_resident_remove(struct memory_resident *entry);

/*
 * Waits until no eviction is running on the device: what was being evicted there no longer exists,
 * and its `evict` does not touch the owner any more. The caller must not hold a lock that an
 * `evict` takes.
 */
void memory_resident_wait(pool_device *device);

/* Inside device_enter: evicts unused objects, code only `with_code`, until `bytes` are released or
 * none is left; returns the bytes that were released. */
uint64_t memory_resident_evict(pool_device *device, uint64_t bytes, bool with_code);

/* What is resident on a device. Zero while nothing was. */
struct memory_resident_counts {
    uint64_t bytes;
    uint64_t idle_bytes; /* without users, not pinned */
    uint64_t objects;
    uint64_t loads;     /* since the pool was created */
    uint64_t evictions; /* likewise */
    uint64_t evicted_bytes;
    uint64_t survivals; /* objects that outlived the process of their device */
    uint64_t losses;    /* objects that were lost with it; their owners load them again */
};
void memory_resident_read(pool_device *device, struct memory_resident_counts *counts);

#endif
