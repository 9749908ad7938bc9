/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of images: memory, then the user's on disk, then the levels that are only read, then
 * the compiler or, if none can be used, prebuilt PTX. One thread compiles each key; concurrent
 * requests wait for its result. The number of concurrent compilations is bounded.
 */
#include "pool/module/image.h"

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
#include "pool/module/compiler.h"
#include "pool/module/counters.h"
#include "pool/module/disk.h"
#include "pool/module/includes.h"
#include "pool/module/levels.h"

/*
 * Bytes of images in memory: 256 MiB is several times the size of all built-in kernels. The least
 * recently used ones are evicted first.
 */
#define MEMORY_BYTES (UINT64_C(256) << 20)

/* The interval at which a waiting thread examines its cancel object. */
#define WAIT_NS 5000000

/* A key in memory: an image, or (image NULL) a compilation in progress. */
struct entry {
    struct entry *next;
    struct module_key key;
    struct module_image *image;
    uint64_t used; /* value of `ticks` at the last use */
    unsigned waiters;
    int is_complete; /* the compilation has ended; without an image it failed */
    int is_stale;    /* an included file has changed: for the waiters only */
    struct base_error_copy failure;
};

static pthread_cond_t changed =
    PTHREAD_COND_INITIALIZER; /* an entry is complete, or fewer compile */
static struct entry *entries; /* guarded by lock */
static uint64_t ticks;        /* guarded by lock */
static unsigned compiling;    /* guarded by lock */

/*
 * In a forked child images are valid, and no thread compiles or waits. The entry of a compilation
 * in progress is leaked, because its thread does not exist.
 */
static void reinit(void)
{
    struct entry **link = &entries;

    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    compiling = 0;
    while (*link) {
        (*link)->waiters = 0;
        if ((*link)->image)
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
}

static struct base_lock lock = BASE_LOCK_INIT_REINIT(reinit);

static struct entry *find_entry(const struct module_key *key)
{
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (!entry->is_stale && memcmp(&entry->key, key, sizeof(*key)) == 0)
            return entry;
    return NULL;
}

static void unlink_entry(struct entry *entry)
{
    struct entry **link = &entries;

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    module_image_release(entry->image);
    base_free(entry);
}

/* Evicts the least recently used images until the rest fits. Called with the lock held. */
static void evict_images(void)
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

/* Waits for a change, at most WAIT_NS. Called with the lock held. */
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

static pool_status fail_cancelled(const struct module_request *request)
{
    return base_fail(POOL_ERR_CANCELLED, "compiling %s was cancelled by the caller", request->name);
}

/* Compiles with the present compiler, once it is known to work. POOL_ERR_NO_COMPILER, which sets no
 * error: it does not, or not for this program. Errors in the source are returned. */
static pool_status compile(
    struct module_choice *choice, const struct module_request *request, struct module_image **image)
{
    char reason[DRIVER_NVRTC_REASON] = "";
    pool_status status = module_choice_try(choice);

    if (status)
        return status;
    status = module_compile_nvrtc(choice->nvrtc, request, reason, sizeof(reason), image);
    if (status != POOL_ERR_NO_COMPILER)
        return status;
    status = module_choice_doubt(choice, NULL);
    if (status)
        return status;
    base_log(POOL_LOG_WARN, "%s: %s", request->name, reason);
    module_choice_reject(choice, reason);
    return POOL_ERR_NO_COMPILER;
}

/* Whether the included files have changed since the key was computed. */
static bool files_changed(
    const struct nvrtc *nvrtc, const struct module_request *request, const struct module_key *key)
{
    struct module_includes includes;
    struct base_error_copy before;
    struct module_maker maker;
    struct module_key now;
    bool is_changed;

    if (!request->reads_files)
        return false;
    base_error_save(&before);
    is_changed = module_includes_find(nvrtc, request, &includes) || !includes.is_complete ||
                 levels_maker_of(nvrtc, &maker) ||
                 module_key_of(request, &maker, &includes.digest, &now) ||
                 memcmp(&now, key, sizeof(now)) != 0;
    base_error_restore(&before);
    return is_changed;
}

/* An image that need not be compiled, or NULL. */
static pool_status load_image(const struct module_request *request,
    const struct module_maker *maker, const struct module_key *key, struct module_image **image)
{
    pool_status status;

    *image = NULL;
    if (request->params->no_cache)
        return POOL_OK;
    *image = disk_load(key);
    if (*image) {
        module_count_image(MODULE_IMAGE_DISK);
        return POOL_OK;
    }
    status = levels_load(request, maker, key, NULL, image);
    if (!status && *image)
        module_count_image(MODULE_IMAGE_LEVEL);
    return status;
}

/* Loads the image from disk or compiles it. Called without the lock. */
static pool_status create_image(struct module_choice *choice, const struct module_request *request,
    const struct module_key *key, struct module_image **image, bool *is_stale)
{
    struct disk_header header = {.compute_capability = request->compute_capability};
    struct timespec now;
    pool_status status = levels_maker_of(choice->nvrtc, &header.maker);

    if (!status)
        status = load_image(request, &header.maker, key, image);
    if (status || *image || request->only_ready)
        return status;
    status = compile(choice, request, image);
    *is_stale = !status && files_changed(choice->nvrtc, request, key);
    if (status || *is_stale || request->params->no_cache)
        return status;
    snprintf(header.name, sizeof(header.name), "%s", request->name);
    clock_gettime(CLOCK_REALTIME, &now);
    header.created_unix_time = (uint64_t)now.tv_sec;
    disk_store(key, &header, *image);
    return POOL_OK;
}

/* Creates the image of `entry`, which this thread has added to the list. Called with the lock held.
 */
static pool_status compile_as_leader(
    struct module_choice *choice, const struct module_request *request, struct entry *entry)
{
    struct module_image *image = NULL;
    bool is_stale = false;
    pool_status status = POOL_OK;

    while (compiling >= base_parallel_threads() && !request->only_ready && !status) {
        wait_for_change();
        if (pool_cancel_requested(request->params->cancel))
            status = fail_cancelled(request);
    }
    if (!status) {
        compiling++;
        base_unlock(&lock);
        status = create_image(choice, request, &entry->key, &image, &is_stale);
        base_lock(&lock);
        compiling--;
    }
    entry->image = image;
    entry->is_stale = is_stale;
    entry->is_complete = 1;
    if (status && status != POOL_ERR_NO_COMPILER)
        base_error_save(&entry->failure);
    pthread_cond_broadcast(&changed);
    return status;
}

/* Waits for the leader. Only a compilation error applies to this request too; after other failures
 * it is retried. Called with the lock held. */
static pool_status wait_for_leader(
    const struct module_request *request, struct entry *entry, int *retry)
{
    while (!entry->is_complete) {
        wait_for_change();
        if (!entry->is_complete && pool_cancel_requested(request->params->cancel))
            return fail_cancelled(request);
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

/* Called with the lock held. */
static pool_status look_up(struct module_choice *choice, const struct module_request *request,
    const struct module_key *key, struct module_image **image, int *retry)
{
    struct entry *entry = find_entry(key);
    pool_status status;

    if (entry && !entry->is_complete && request->only_ready)
        return POOL_OK;
    if (entry && !(entry->is_complete && !entry->image)) {
        entry->waiters++;
        status = wait_for_leader(request, entry, retry);
    } else {
        entry = base_calloc(1, sizeof(*entry));
        if (!entry)
            return base_fail_memory("the table of compiled modules");
        entry->key = *key;
        entry->waiters = 1;
        entry->next = entries;
        entries = entry;
        status = compile_as_leader(choice, request, entry);
    }
    entry->waiters--;
    if (!status && entry->image) {
        entry->used = ++ticks;
        *image = module_image_retain(entry->image);
        if (entry->is_stale && !entry->waiters)
            unlink_entry(entry);
        evict_images();
    } else if (entry->is_complete && !entry->image && !entry->waiters) {
        unlink_entry(entry);
    }
    return status;
}

/* The compiled image, which is cached unless the set of included files cannot be determined. */
static pool_status get_compiled(struct module_choice *choice, struct module_image **image)
{
    const struct nvrtc *nvrtc = choice->nvrtc;
    struct module_request request = *choice->request;
    struct module_includes includes;
    struct module_maker maker;
    struct module_key key;
    pool_status status = module_includes_find(nvrtc, &request, &includes);
    int retry;

    if (status)
        return status;
    request.reads_files = includes.files || !includes.is_complete;
    if (!includes.is_complete) {
        base_log(POOL_LOG_INFO,
            "%s is not cached: an include directive or option is computed by a macro",
            request.name);
        return request.only_ready ? POOL_OK : compile(choice, &request, image);
    }
    status = levels_maker_of(nvrtc, &maker);
    if (!status)
        status = module_key_of(&request, &maker, &includes.digest, &key);
    if (status)
        return status;
    base_lock(&lock);
    do {
        retry = 0;
        status = pool_cancel_requested(request.params->cancel)
                     ? fail_cancelled(&request)
                     : look_up(choice, &request, &key, image, &retry);
    } while (retry && !status);
    base_unlock(&lock);
    return status;
}

/* Without a compiler: machine code of a level, whichever NVRTC has made it. NULL: there is none. */
static pool_status get_from_levels(
    const struct module_request *request, struct module_image **image)
{
    const struct nvrtc none = {.includes = {""}};
    struct module_includes includes;
    pool_status status = module_includes_find(&none, request, &includes);

    if (status || !includes.is_complete)
        return status;
    status = levels_load(request, NULL, NULL, &includes.digest, image);
    if (!status && *image)
        module_count_image(MODULE_IMAGE_LEVEL);
    return status;
}

pool_status module_image_choose(struct module_choice *choice, struct module_image **image)
{
    while (choice->nvrtc) {
        pool_status status = get_compiled(choice, image);

        if (status != POOL_ERR_NO_COMPILER)
            return status;
        module_choice_next(choice);
    }
    choice->is_from_level = false;
    if (!choice->skips_levels && !choice->request->params->no_cache) {
        pool_status status = get_from_levels(choice->request, image);

        choice->is_from_level = !status && *image;
        if (status || *image)
            return status;
    }
    return module_find_prebuilt(choice->request, choice->reason, image);
}

pool_status module_image_get(const struct module_request *request, struct module_image **image)
{
    struct module_choice choice;

    module_choice_begin(&choice, request);
    return module_image_choose(&choice, image);
}
