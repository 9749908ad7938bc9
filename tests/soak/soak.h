/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The soak: threads that run random jobs under leases and check every answer, while another thread
 * drains, evicts, cancels and injects faults. See soak.c for its options.
 */
#ifndef TESTS_SOAK_SOAK_H
#define TESTS_SOAK_SOAK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <devicepool.h>

enum soak_kind {
    SOAK_MSM,
    SOAK_BASES,
    SOAK_NTT,
    SOAK_POSEIDON,
    SOAK_COPY,
    SOAK_RESIDENT,
    SOAK_KINDS
};

enum {
    SOAK_PROBLEMS = 4,   /* of each kind, with known answers */
    SOAK_RESIDENTS = 10, /* buffers, of which not all fit below the memory limit */
    SOAK_WINDOW = 4096,  /* bytes of a resident buffer that a job compares */
    SOAK_MAX_DEVICES = 64,
};

struct soak_options {
    const char *devices;
    unsigned seconds;
    unsigned threads;
    unsigned slots;
    unsigned log_msm;
    unsigned log_ntt;
    unsigned hashes;
    uint64_t copy_bytes;
    uint64_t memory_limit;
    uint64_t seed;
    bool is_simulated;
    bool has_losses; /* one device is lost and one is abandoned */
};

/* A problem: operands and the answer that the host computed. */
struct soak_problem {
    uint8_t *in;
    uint8_t *answer;
};

/* The source of a resident buffer. */
struct soak_source {
    pool_resident *resident;
    uint64_t bytes;
    uint8_t byte;
};

/* What the jobs work on; constant while threads run. */
struct soak_work {
    const pool_curve *curve;
    size_t point_bytes;
    uint8_t *points;
    pool_resident *bases;
    pool_ntt_domain *domain;
    pool_poseidon *set;
    size_t element_bytes; /* of the set's field */
    struct soak_problem problems[SOAK_KINDS][SOAK_PROBLEMS];
    struct soak_source sources[SOAK_RESIDENTS];
    uint64_t lease_bytes[SOAK_KINDS];
    uint64_t answer_bytes[SOAK_KINDS];
};

struct soak_counts {
    atomic_uint_fast64_t jobs[SOAK_KINDS];
    atomic_uint_fast64_t retries;   /* after the loss of a device, or a refused allocation */
    atomic_uint_fast64_t timeouts;  /* of requests that were meant to time out */
    atomic_uint_fast64_t cancelled; /* jobs that another thread cancelled */
    atomic_uint_fast64_t wrong;
    atomic_uint_fast64_t unexpected;
};

struct soak;

struct soak_thread {
    struct soak *soak;
    pthread_t thread;
    unsigned index;
    uint64_t random;
    pthread_mutex_t lock; /* of `cancel`, which another thread requests */
    pool_cancel *cancel;
    pool_stream *streams[SOAK_MAX_DEVICES]; /* of jobs without leases */
    uint8_t *scratch;                       /* for answers */
};

struct soak {
    struct soak_options options;
    struct soak_work work;
    struct soak_counts counts;
    device_pool *pool;
    pool_device *devices[SOAK_MAX_DEVICES];
    size_t device_count;
    struct soak_thread *threads;
    atomic_bool is_stopping;
    atomic_bool has_leases;   /* of the present phase */
    atomic_bool is_disturbed; /* requests time out on purpose */
    /* What calls may fail with from now on. */
    atomic_bool may_lack_memory;
    atomic_bool may_lose_devices;
    bool is_lost[SOAK_MAX_DEVICES]; /* written by the disturbing thread */
    uint64_t drains, quarantines, evicts, cancels, faults, hangs;
};

/* --- work.c --- */

const char *soak_kind_name(enum soak_kind kind);
/* Prints a failed call and ends the program. */
void soak_must(pool_status status, const char *call);
#define SOAK_MUST(call) soak_must((call), #call)
/* Creates operands and computes all answers on the host. */
void soak_work_create(struct soak *soak);
void soak_work_destroy(struct soak *soak);
uint64_t soak_random(uint64_t *state);

/* --- jobs.c --- */

/* Where a job runs: under a lease, or on a device and stream of the thread. */
struct soak_site {
    pool_lease *lease;
    pool_device *device;
    pool_stream *stream;
    pool_cancel *cancel;
};

/* Runs one job and compares its answer. Returns POOL_ERR_INTERNAL for a wrong answer. */
pool_status soak_job(
    struct soak_thread *thread, enum soak_kind kind, const struct soak_site *site, bool *is_wrong);
/* A thread's loop until soak->is_stopping. */
void *soak_thread_run(void *argument);

/* --- disturb.c --- */

/* Disturbs the jobs until `end_ns` of soak_now; `has_losses`: one device is lost on the way, and
 * one is abandoned. */
void soak_disturb(struct soak *soak, uint64_t end_ns, bool has_losses);
uint64_t soak_now(void);
void soak_sleep(uint64_t nanoseconds);

#endif
