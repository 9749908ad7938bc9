/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monotonic time.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since a fixed moment; monotonic. */
static inline uint64_t base_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The same clock at its last tick, at most some milliseconds ago; four times cheaper. */
static inline uint64_t base_clock_coarse_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sleeps at least `ns`, less if a signal arrives. */
static inline void base_sleep_ns(uint64_t ns)
{
    struct timespec duration = {
        .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    nanosleep(&duration, NULL);
}

#endif
