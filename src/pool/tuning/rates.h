/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates of a chip and its links, from which the costs of operations are predicted. They are fitted
 * to measurements of docs/performance.md, and tests hold them to those within 10 %. All durations
 * are in seconds.
 */
#ifndef POOL_RATES_H
#define POOL_RATES_H

#include <stdint.h>

/* Of MSMs whose coordinates have this many words; see msm/plan.h for entries and buckets. */
struct msm_rates {
    uint32_t coordinate_words;
    double sort_entry;
    double accumulate; /* for any number of entries */
    double accumulate_entry;
    double reduce; /* for any number of buckets */
    double reduce_bucket;
    double finish; /* the doublings on the host, which precomputed bases do not need */
};

enum { CHIP_MSM_RATES = 2 };

struct chip_rates {
    const char *chip;
    uint32_t multiprocessors;
    double host_bytes;          /* per second: pinned memory, one direction */
    double peer_bytes;          /* per second: to the memory of all other devices together */
    double memory_bytes;        /* per second: read and written */
    double launch;              /* a kernel that has nothing to do; an event of another device */
    double parts;               /* starting and joining the parts of a job: estimated */
    double ntt_multiplications; /* per second: of 8 words, in butterflies and by twiddles */
    double poseidon_hashes;     /* per second: circom-bn254-t3 */
    double poseidon_level;      /* the least duration of a tree level of the same parameter set */
    struct msm_rates msm[CHIP_MSM_RATES];
};

extern const struct chip_rates chip_rates_h200;

/*
 * Work that fills a chip: multiplications of elements of `words` words, or bytes that are read and
 * written, whichever take longer. Elements of an extension have the words of all coordinates, whose
 * products take the square of their number.
 */
struct chip_work {
    double products;
    uint32_t words;
    double bytes;
};
/* Its predicted seconds: each multiprocessor is as fast as one of the measured chip. */
double chip_seconds(uint32_t multiprocessors, const struct chip_work *work);
/* How many of `items` steps, which take `seconds` together, each of several equally long launches
 * has, so that none lasts longer than slice_ns; one at least. */
uint64_t chip_slice(uint64_t items, double seconds, uint64_t slice_ns);

#endif
