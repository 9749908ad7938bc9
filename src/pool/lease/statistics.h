/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the admission of a pool has done and is doing, for metrics and the status socket.
 */
#ifndef LEASE_STATISTICS_H
#define LEASE_STATISTICS_H

#include <stdbool.h>

#include <devicepool/lease.h>

/*
 * Durations are counted by these upper bounds, two per power of ten from a millisecond to five
 * minutes, and beyond: jobs take milliseconds (a transform) to minutes (a proof), and a factor of
 * about three tells them apart with 13 series.
 */
#define LEASE_BOUNDS(X)                                                                            \
    X(0.001) X(0.003) X(0.01) X(0.03) X(0.1) X(0.3) X(1) X(3) X(10) X(30) X(100) X(300)
enum { LEASE_BUCKETS = 13 };

/* Durations by their size; guarded by the lock of the admission that counts them. */
struct lease_histogram {
    uint64_t counts[LEASE_BUCKETS]; /* of each bucket alone; the last has no bound */
    uint64_t sum_ns;
};

/* The upper bounds in nanoseconds, of all buckets but the last. */
extern const uint64_t lease_bounds_ns[LEASE_BUCKETS - 1];

static inline void lease_histogram_add(struct lease_histogram *histogram, uint64_t duration_ns)
{
    int bucket = 0;

    while (bucket < LEASE_BUCKETS - 1 && duration_ns > lease_bounds_ns[bucket])
        bucket++;
    histogram->counts[bucket]++;
    histogram->sum_ns += duration_ns;
}

/* The requests of one priority that wait. A priority stays in the list once a request of it has
 * waited; when the list is full, further priorities are counted together. */
struct lease_class {
    int32_t priority;
    uint32_t waiting;
};
enum { LEASE_CLASSES = 16 };

struct lease_queue {
    struct lease_class classes[LEASE_CLASSES];
    uint32_t class_count;
    uint32_t others; /* waiting requests of further priorities */
};

struct lease_statistics {
    uint64_t held;
    uint64_t overdue;        /* of these */
    uint64_t became_overdue; /* since the pool was created, as the monitor found them */
    uint64_t waiting;
    uint64_t longest_wait_ns; /* of a request that waits now */
    uint64_t granted;         /* since the pool was created, as are the next and the histograms */
    uint64_t failed;
    struct lease_histogram granted_waits; /* from the request to the grant */
    struct lease_histogram failed_waits;  /* from the request to its failure */
    struct lease_histogram holds;         /* of released leases */
    struct lease_queue queue;
};

/* All zero for a pool without requests so far. No driver call; also after a sticky fault. Not in a
 * forked child. */
void lease_statistics_read(device_pool *pool, struct lease_statistics *statistics);

/* A lease that is held, or a request that waits. */
struct lease_view {
    char label[POOL_LEASE_LABEL_BYTES];
    uint64_t bytes;      /* reserved or requested on each device */
    uint64_t used_bytes; /* of the lease on all its devices; 0 for a request, as the next three */
    uint64_t held_ns;
    bool is_overdue;
    const uint32_t *indices; /* of the lease's devices in the pool, ascending; NULL for a request */
    uint64_t waited_ns;      /* to the grant, or to now */
    uint64_t duration_ns;    /* as requested; 0: none */
    uint32_t devices;
    uint32_t slots; /* on each device */
    int32_t priority;
    bool is_head; /* of the queue: what the devices are earmarked for */
};

enum { LEASE_VIEWS = 64 };

struct lease_views {
    uint32_t held_count;
    uint32_t held_omitted;
    struct lease_view held[LEASE_VIEWS]; /* those that were requested first, in this order */
    uint32_t waiting_count;
    uint32_t waiting_omitted;
    struct lease_view waiting[LEASE_VIEWS]; /* the first of the queue, in its order */
};

/* The caller frees it with base_free; NULL: out of host memory. The same limits as above. */
struct lease_views *lease_views_read(device_pool *pool);

#endif
