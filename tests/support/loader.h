/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts a test program under a loader that ignores /etc/ld.so.cache, in which hosts with a CUDA
 * toolkit have NVRTC and its builtins library: only what a test has laid out is found.
 */
#ifndef TESTS_SUPPORT_LOADER_H
#define TESTS_SUPPORT_LOADER_H

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int loader_name(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)name = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the first object is the program */
}

/* Returns in the restarted program, or where there is no such loader. */
static inline void restart_without_loader_cache(char **arguments)
{
    const char *loader = NULL;
    char program[4096] = "", option[] = "--inhibit-cache";
    char *line[64] = {NULL, option, program};
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    size_t count = 3;

    if (getenv("TEST_WITHOUT_LOADER_CACHE") || length <= 0)
        return;
    program[length] = '\0';
    dl_iterate_phdr(loader_name, &loader);
    if (!loader)
        return;
    line[0] = (char *)(uintptr_t)loader;
    while (arguments[count - 2] && count < sizeof(line) / sizeof(line[0]) - 1) {
        line[count] = arguments[count - 2];
        count++;
    }
    setenv("TEST_WITHOUT_LOADER_CACHE", "1", 1);
    unsetenv("LD_LIBRARY_PATH");
    execv(loader, line);
    fprintf(stderr, "%s cannot be started\n", loader);
}

#endif
