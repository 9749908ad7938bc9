/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling and loading side by side: NVRTC takes one thread for each program, so several programs
 * are given to several threads.
 */
#ifndef MODULE_CREW_H
#define MODULE_CREW_H

#include <stdbool.h>
#include <stddef.h>

#include <devicepool/status.h>

/* Compilations at once: one for each processor that the process may use, at most 8, because NVRTC
 * takes up to 1 GiB for a large curve. */
unsigned module_crew_places(void);

struct module_crew {
    size_t count;
    pool_status (*task)(void *user, size_t index); /* any thread; gives its context back */
    void *user;
    bool tries_all; /* a failure does not keep the tasks after it from starting */
};

/*
 * Runs tasks 0 to count - 1, started in that order by the calling thread and as many others as
 * there are places and tasks for; fewer where threads cannot be had. Returns when all threads are
 * gone, with the failure of the first task that failed, which is then the calling thread's last
 * error.
 */
pool_status module_crew_run(const struct module_crew *crew);

/*
 * What `count` programs need to be there. `load` gets program `index`; with only_ready only what
 * need not be compiled (it is loaded, in memory, on disk or prebuilt), and *is_there says whether
 * it was. First the calling thread gets what is ready, then the rest is compiled side by side.
 */
struct module_loading {
    size_t count; /* at most MODULE_LOADING_MAX */
    pool_status (*load)(void *user, size_t index, bool only_ready, bool *is_there);
    void *user;
};
enum { MODULE_LOADING_MAX = 16 };
pool_status module_crew_load(const struct module_loading *loading);

#endif
