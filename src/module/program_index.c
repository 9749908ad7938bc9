/* SPDX-License-Identifier: Apache-2.0 */
/* The list of programs that a device's operations have asked for: see program_index.h. */
#include "module/program_index.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

struct known {
    struct known *next;
    struct module_tag tag;
    pool_module *module;
};

struct known_list {
    pthread_mutex_t lock;
    struct known *first; /* guarded by lock */
};

static pool_status make_list(pool_device *device, void **object)
{
    struct known_list *list = base_calloc(1, sizeof(*list));

    (void)device;
    if (!list)
        return base_fail_memory("the list of known programs");
    pthread_mutex_init(&list->lock, NULL);
    *object = list;
    return POOL_OK;
}

/* Modules are kept by resident.c and go with the device. */
static void unmake_list(pool_device *device, void *object, int driver_alive)
{
    struct known_list *list = object;

    (void)driver_alive;
    while (list->first) {
        struct known *gone = list->first;

        list->first = gone->next;
        base_free(gone);
    }
    device_lock_destroy(device, &list->lock);
    base_free(list);
}

static const struct device_keep kind = {
    .name = "the list of known programs", .make = make_list, .unmake = unmake_list};

static bool is_same(const struct module_tag *a, const struct module_tag *b)
{
    return a->file == b->file && memcmp(a->numbers, b->numbers, sizeof(a->numbers)) == 0 &&
           memcmp(a->fingerprint, b->fingerprint, sizeof(a->fingerprint)) == 0;
}

pool_status module_known_find(
    pool_device *device, const struct module_tag *tag, pool_module **module)
{
    void *object = NULL;
    pool_module *found = NULL;
    pool_status status = device_kept(device, &kind, &object);

    if (status)
        return status;
    struct known_list *list = object;
    pthread_mutex_lock(&list->lock);
    for (const struct known *at = list->first; at && !found; at = at->next)
        if (is_same(&at->tag, tag))
            found = at->module;
    pthread_mutex_unlock(&list->lock);
    *module = found;
    return POOL_OK;
}

pool_status module_known_add(pool_device *device, const struct module_tag *tag, pool_module *module)
{
    void *object = NULL;
    struct known *made = NULL;
    pool_status status = device_kept(device, &kind, &object);

    if (status)
        return status;
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return base_fail_memory("an entry of the list of known programs");
    struct known_list *list = object;
    *made = (struct known){.tag = *tag, .module = module};
    pthread_mutex_lock(&list->lock);
    made->next = list->first;
    list->first = made;
    pthread_mutex_unlock(&list->lock);
    return POOL_OK;
}
