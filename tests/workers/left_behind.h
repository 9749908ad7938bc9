/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process has that worker processes could leave behind: children, descriptors, mappings,
 * threads.
 */
#ifndef TESTS_WORKERS_LEFT_BEHIND_H
#define TESTS_WORKERS_LEFT_BEHIND_H

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/assert.h"

struct left_behind {
    unsigned descriptors, mappings, children, threads;
};

static inline unsigned count_entries(const char *path)
{
    DIR *directory = opendir(path);
    unsigned count = 0;

    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

/* Where src/driver/worker/client/addresses.c reserves addresses; sanitizers have mappings beside.
 */
static inline bool is_address_of_workers(uint64_t address)
{
    const uint64_t terabyte = address >> 40;

    return terabyte == 0x67 || terabyte == 0x68 || terabyte == 0x42 ||
           address - UINT64_C(0x550000000000) < UINT64_C(0x5000000000);
}

/* Mappings of shared memory, and reservations of terabytes of addresses. */
static inline unsigned count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    unsigned count = 0;

    while (maps && fgets(line, sizeof(line), maps))
        count +=
            strstr(line, "memfd:devicepool") || is_address_of_workers(strtoull(line, NULL, 16));
    if (maps)
        fclose(maps);
    return count;
}

static inline void *do_nothing(void *user)
{
    return user;
}

/* With the first thread of a process ThreadSanitizer starts one of its own. */
static __attribute__((constructor)) void start_first_thread(void)
{
    pthread_t thread;

    if (!pthread_create(&thread, NULL, do_nothing, NULL))
        pthread_join(thread, NULL);
}

static inline struct left_behind look(void)
{
    struct left_behind found = {.descriptors = count_entries("/proc/self/fd"),
        .mappings = count_mappings(),
        .threads = count_entries("/proc/self/task")};
    siginfo_t child;

    found.children = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
    return found;
}

/* A joined thread is listed in /proc for a while: threads of an earlier test may be among those
 * before, and are waited for afterwards. */
static inline void assert_nothing_left(struct left_behind before)
{
    struct left_behind after = look();

    for (int i = 0; i < 600000 && after.threads > before.threads; i++) {
        usleep(1000);
        after = look();
    }
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.mappings, before.mappings);
    assert_int_equal(after.children, before.children);
    assert_true(after.threads <= before.threads);
}

#endif
