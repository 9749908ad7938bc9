/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's side of NVTX's injection protocol, version 3 of the ABI, as far as ranges of a
 * thread need it: the callback table of the core module and two of its entries. A profiler may set
 * any entry of the table; those that this file does not call lie there unused.
 */
#include "driver/nvtx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

/* Names and numbers of the protocol. */
enum {
    EXPORT_CALLBACKS = 1,
    EXPORT_VERSION = 3,
    MODULE_CORE = 1,
    CORE_RANGE_PUSH = 9, /* int (*)(const char *) */
    CORE_RANGE_POP = 11, /* int (*)(void) */
    CORE_ENTRIES = 16,   /* from 1 on; entry 0 is unused */
    ABI_VERSION = 3
};

typedef void (*entry_point)(void);

static entry_point entries[CORE_ENTRIES];
static entry_point *const core_table[CORE_ENTRIES + 1] = {
    NULL, /* entry 0 */
    &entries[1], &entries[2], &entries[3], &entries[4], &entries[5], &entries[6], &entries[7],
    &entries[8], &entries[9], &entries[10], &entries[11], &entries[12], &entries[13], &entries[14],
    &entries[15], NULL /* the end */
};

struct callbacks_export {
    size_t struct_size;
    int (*module_table)(uint32_t module, entry_point *const **table, unsigned *entry_count);
};

struct version_export {
    size_t struct_size;
    uint32_t version;
    uint32_t reserved;
    void (*set_injection_version)(uint32_t version);
};

/* 1: the table was found. */
static int module_table(uint32_t module, entry_point *const **table, unsigned *entry_count)
{
    if (module != MODULE_CORE)
        return 0;
    if (table)
        *table = core_table;
    if (entry_count)
        *entry_count = CORE_ENTRIES;
    return 1;
}

static void set_injection_version(uint32_t version)
{
    (void)version;
}

static const void *export_table(uint32_t id)
{
    static const struct callbacks_export callbacks = {sizeof(callbacks), module_table};
    static const struct version_export version = {
        sizeof(version), ABI_VERSION, 0, set_injection_version};

    switch (id) {
    case EXPORT_CALLBACKS:
        return &callbacks;
    case EXPORT_VERSION:
        return &version;
    default:
        return NULL;
    }
}

/* Why the profiler's library did not attach; "" if it did or none is named. */
static char refusal[4096];

/* The library stays loaded: its functions are called until the process ends. */
static void attach(void)
{
    const char *path = secure_getenv("NVTX_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;

    if (!path || !*path)
        return;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    if (!initialize) {
        snprintf(refusal, sizeof(refusal), "the profiler's library of NVTX_INJECTION64_PATH: %s",
            dlerror());
        return;
    }
    if (!initialize(export_table))
        snprintf(refusal, sizeof(refusal), "the profiler's library %s refused to attach", path);
}

bool nvtx_is_attached(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_bool is_logged;

    pthread_once(&once, attach);
    if (*refusal && !atomic_exchange(&is_logged, true))
        base_log(POOL_LOG_WARN, "%s", refusal);
    return entries[CORE_RANGE_PUSH] && entries[CORE_RANGE_POP];
}

void nvtx_push(const pool_trace_event *event)
{
    char message[160];
    int length = snprintf(message, sizeof(message), "%s%s%s", event->name,
        *event->subject ? " " : "", event->subject);

    if (event->items && length > 0 && length < (int)sizeof(message))
        snprintf(message + length, sizeof(message) - (size_t)length, ", %llu items",
            (unsigned long long)event->items);
    ((int (*)(const char *))entries[CORE_RANGE_PUSH])(message);
}

void nvtx_pop(void)
{
    ((int (*)(void))entries[CORE_RANGE_POP])();
}
