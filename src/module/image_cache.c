/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request → image: memory, then disk, then the compiler, and where that cannot be used the prebuilt
 * PTX. One thread compiles a key, the others that ask for it meanwhile wait for that; how many
 * compile at once is bounded.
 */
#include "module/image.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/status.h"
#include "driver/nvrtc.h"
#include "module/counters.h"
#include "module/disk.h"
#include "module/includes.h"

/*
 * Images that memory holds: 256 MiB is several times what all built-in kernels take; what was
 * unused for longest goes first.
 */
#define MEMORY_BYTES (UINT64_C(256) << 20)

/* A waiting thread looks at its cancel request this often. */
#define WAIT_NS 5000000

/* One key that memory knows: an image, or (image NULL) a compile under way. */
struct entry {
    struct entry *next;
    struct module_key key;
    struct module_image *image;
    uint64_t used; /* value of `ticks` at the last use */
    unsigned waiters;
    int ended;   /* the compile is over; without an image it failed */
    int passing; /* an included file changed meanwhile: for those who wait, then gone */
    struct base_error_copy failure;
};

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* an entry ended, a place is free */
static struct entry *entries;                             /* guarded by lock */
static uint64_t ticks;                                    /* guarded by lock */
static unsigned compiling;                                /* guarded by lock */

/*
 * In a forked child: images stay, nobody compiles and nobody waits. An entry of a compile that was
 * under way is left where it is in memory; its image went with the thread that made it.
 */
static void reinit(void)
{
    struct entry **place = &entries;

    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    compiling = 0;
    while (*place) {
        (*place)->waiters = 0;
        if ((*place)->image)
            place = &(*place)->next;
        else
            *place = (*place)->next;
    }
}

static struct base_lock lock = BASE_LOCK_INIT_REINIT(reinit);

static struct entry *find(const struct module_key *key)
{
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (!entry->passing && memcmp(&entry->key, key, sizeof(*key)) == 0)
            return entry;
    return NULL;
}

static void unlink_entry(struct entry *entry)
{
    struct entry **place = &entries;

    while (*place != entry)
        place = &(*place)->next;
    *place = entry->next;
    module_image_release(entry->image);
    base_free(entry);
}

/* With the lock held: drops images unused for longest until the rest fits. */
static void keep_within_bounds(void)
{
    for (;;) {
        struct entry *oldest = NULL;
        uint64_t total = 0;

        for (struct entry *entry = entries; entry; entry = entry->next) {
            if (!entry->image || entry->waiters)
                continue;
            total += entry->image->size;
            if (!oldest || entry->used < oldest->used)
                oldest = entry;
        }
        if (total <= MEMORY_BYTES || !oldest)
            return;
        unlink_entry(oldest);
    }
}

void module_image_forget(void)
{
    struct entry *next;

    base_lock(&lock);
    for (struct entry *entry = entries; entry; entry = next) {
        next = entry->next;
        if (entry->image && !entry->waiters)
            unlink_entry(entry);
    }
    base_unlock(&lock);
}

/* With the lock held: until something changed or a moment passed. */
static void wait_for_change(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&changed, &lock.mutex, &until);
}

static pool_status cancelled(const struct module_request *request)
{
    return base_fail(POOL_ERR_CANCELLED, "compiling %s was cancelled by the caller", request->name);
}

/* Once a process, when somebody listens. */
static void warn(const char *reason)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;

    if (base_log_wanted(POOL_LOG_WARN) && !atomic_flag_test_and_set(&is_told))
        base_log(POOL_LOG_WARN,
            "NVRTC does not work here, only what comes as prebuilt PTX will run: %s", reason);
}

/* By the compiler; where that itself does not work, prebuilt. An error in what is compiled is one.
 */
static pool_status compile(
    const struct module_request *request, struct module_image **image, bool *is_prebuilt)
{
    char reason[DRIVER_NVRTC_REASON] = "";
    pool_status status = module_compile_nvrtc(request, reason, sizeof(reason), image);

    *is_prebuilt = status == POOL_ERR_NO_COMPILER;
    if (!*is_prebuilt)
        return status;
    warn(reason);
    return module_find_prebuilt(request, reason, image);
}

/* Whether the files that a compile included are still what its key says. */
static bool files_changed(const struct module_request *request, const struct module_key *key)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *nvrtc = driver_nvrtc_find(reason, sizeof(reason));
    struct module_includes includes;
    struct base_error_copy before;
    struct module_key now;
    bool is_changed;

    if (!request->reads_files)
        return false;
    base_error_save(&before);
    is_changed = !nvrtc || module_includes_find(nvrtc, request, &includes) ||
                 !includes.is_complete ||
                 module_key_of(request, nvrtc->version, &includes.digest, &now) ||
                 memcmp(&now, key, sizeof(now)) != 0;
    base_error_restore(&before);
    return is_changed;
}

/* Without the lock: from disk, else by the compiler. What is prebuilt is not kept on disk: the next
 * process may have a compiler that works. */
static pool_status make_image(const struct module_request *request, const struct module_key *key,
    struct module_image **image, bool *is_passing)
{
    struct disk_facts facts = {.compute_capability = request->compute_capability};
    struct timespec now;
    bool is_prebuilt;
    pool_status status;

    *image = request->params->no_cache ? NULL : disk_load(key);
    if (*image)
        module_count_image(MODULE_IMAGE_DISK);
    if (*image || request->only_ready)
        return POOL_OK;
    status = compile(request, image, &is_prebuilt);
    *is_passing = !status && files_changed(request, key);
    if (status || is_prebuilt || *is_passing || request->params->no_cache)
        return status;
    snprintf(facts.name, sizeof(facts.name), "%s", request->name);
    clock_gettime(CLOCK_REALTIME, &now);
    facts.created_unix_time = (uint64_t)now.tv_sec;
    disk_store(key, &facts, *image);
    return POOL_OK;
}

/* With the lock held: this thread makes the image of `entry`, which it has put into the list. */
static pool_status lead(const struct module_request *request, struct entry *entry)
{
    struct module_image *image = NULL;
    bool is_passing = false;
    pool_status status = POOL_OK;

    while (compiling >= base_parallel_threads() && !request->only_ready && !status) {
        wait_for_change();
        if (pool_cancel_requested(request->params->cancel))
            status = cancelled(request);
    }
    if (!status) {
        compiling++;
        base_unlock(&lock);
        status = make_image(request, &entry->key, &image, &is_passing);
        base_lock(&lock);
        compiling--;
    }
    entry->image = image;
    entry->passing = is_passing;
    entry->ended = 1;
    if (status)
        base_error_save(&entry->failure);
    pthread_cond_broadcast(&changed);
    return status;
}

/* With the lock held: waits for the leader. Its failure is ours only when it would be ours too. */
static pool_status follow(const struct module_request *request, struct entry *entry, int *retry)
{
    while (!entry->ended) {
        wait_for_change();
        if (!entry->ended && pool_cancel_requested(request->params->cancel))
            return cancelled(request);
    }
    if (entry->image) {
        module_count_image(MODULE_IMAGE_MEMORY);
        return POOL_OK;
    }
    if (entry->failure.error.status == POOL_ERR_COMPILE) {
        base_error_restore(&entry->failure);
        return POOL_ERR_COMPILE;
    }
    *retry = 1;
    return POOL_OK;
}

/* With the lock held. */
static pool_status get_once(const struct module_request *request, const struct module_key *key,
    struct module_image **image, int *retry)
{
    struct entry *entry = find(key);
    pool_status status;

    if (entry && !entry->ended && request->only_ready)
        return POOL_OK;
    if (entry && !(entry->ended && !entry->image)) {
        entry->waiters++;
        status = follow(request, entry, retry);
    } else {
        entry = base_calloc(1, sizeof(*entry));
        if (!entry)
            return base_fail_memory("the table of compiled modules");
        entry->key = *key;
        entry->waiters = 1;
        entry->next = entries;
        entries = entry;
        status = lead(request, entry);
    }
    entry->waiters--;
    if (!status && entry->image) {
        entry->used = ++ticks;
        *image = module_image_retain(entry->image);
        if (entry->passing && !entry->waiters)
            unlink_entry(entry);
        keep_within_bounds();
    } else if (entry->ended && !entry->image && !entry->waiters) {
        unlink_entry(entry);
    }
    return status;
}

/* By the compiler, and kept from then on unless what it reads cannot be known. */
static pool_status get_compiled(
    const struct module_request *wanted, const struct nvrtc *nvrtc, struct module_image **image)
{
    struct module_request request = *wanted;
    struct module_includes includes;
    struct module_key key;
    bool is_prebuilt;
    pool_status status = module_includes_find(nvrtc, &request, &includes);
    int retry;

    if (status)
        return status;
    request.reads_files = includes.files || !includes.is_complete;
    if (!includes.is_complete) {
        base_log(POOL_LOG_INFO,
            "%s is compiled anew each time: a macro or an option makes up what it includes",
            request.name);
        return request.only_ready ? POOL_OK : compile(&request, image, &is_prebuilt);
    }
    status = module_key_of(&request, nvrtc->version, &includes.digest, &key);
    if (status)
        return status;
    base_lock(&lock);
    do {
        retry = 0;
        status = pool_cancel_requested(request.params->cancel)
                     ? cancelled(&request)
                     : get_once(&request, &key, image, &retry);
    } while (retry && !status);
    base_unlock(&lock);
    return status;
}

pool_status module_image_get(const struct module_request *request, struct module_image **image)
{
    char reason[DRIVER_NVRTC_REASON];
    const struct nvrtc *nvrtc = driver_nvrtc_find(reason, sizeof(reason));

    return nvrtc ? get_compiled(request, nvrtc, image)
                 : module_find_prebuilt(request, reason, image);
}
