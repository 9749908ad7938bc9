/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping on a word of memory that two processes share.
 */
#ifndef WORKER_FUTEX_H
#define WORKER_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while the word has the value, at most `ns`; may return early. */
static inline void worker_futex_wait(atomic_uint *word, unsigned value, uint64_t ns)
{
    struct timespec timeout = {
        .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

    syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, NULL, 0);
}

static inline void worker_futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}

static inline void worker_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
