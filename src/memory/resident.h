/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that stay in a device's memory between jobs and can be restored: bases, twiddle tables of
 * domains, buffers of registered sources. Each device has a list in the order of use. Where an
 * allocation needs memory, objects that nobody uses are evicted, least recently used first.
 */
#ifndef MEMORY_RESIDENT_H
#define MEMORY_RESIDENT_H

#include <stdbool.h>

#include "pool/device.h"

/* An object of one device, embedded in its owner's. All members are the list's once it is added. */
struct memory_resident {
    struct memory_resident *next; /* used more recently */
    struct memory_resident *previous;
    pool_device *device;
    const char *kind; /* static: "bases", "domain", "buffer" */
    const char *name; /* lives as long as the entry */
    uint64_t bytes;
    uint32_t users;
    uint32_t outside_users; /* of these, the ones that have not reserved its bytes by a lease */
    bool is_pinned;         /* never evicted */
    bool is_evicting;
    uint64_t used_at; /* base_clock_coarse_ns */
    /*
     * Releases the object and the entry, which is no longer in the list and has no users. Called
     * without locks of this layer, inside device_enter, on any thread.
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

/* Inside device_enter: evicts unused objects until `bytes` are released or none is left; returns
 * the bytes that were released. */
uint64_t memory_resident_evict(pool_device *device, uint64_t bytes);

/* What is resident on a device. Zero while nothing was. */
struct memory_resident_counts {
    uint64_t bytes;
    uint64_t idle_bytes; /* without users, not pinned */
    uint64_t objects;
    uint64_t loads;     /* since the pool was created */
    uint64_t evictions; /* likewise */
    uint64_t evicted_bytes;
};
void memory_resident_read(pool_device *device, struct memory_resident_counts *counts);

#endif
