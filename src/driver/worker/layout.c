/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of the layouts of kernels' parameters. There are as many as kernels differ in the sizes
 * of their parameters, which is few, so that none is removed.
 */
#include "driver/worker/layout.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"

void worker_layouts_init(struct worker_layouts *layouts)
{
    *layouts = (struct worker_layouts){.lists = {NULL}};
    pthread_mutex_init(&layouts->lock, NULL);
}

void worker_layouts_free(struct worker_layouts *layouts)
{
    for (unsigned i = 0; i < WORKER_LAYOUT_LISTS; i++) {
        struct worker_layout *layout = layouts->lists[i];

        while (layout) {
            struct worker_layout *next = layout->next;

            base_free(layout);
            layout = next;
        }
    }
    pthread_mutex_destroy(&layouts->lock);
}

static bool is_equal(
    const struct worker_layout *layout, uint32_t count, uint32_t listed, const uint32_t *sizes)
{
    return layout->count == count &&
           (listed == 0 || memcmp(layout->sizes, sizes, listed * sizeof(*sizes)) == 0);
}

static struct worker_layout *create_layout(uint32_t count, uint32_t listed, const uint32_t *sizes)
{
    struct worker_layout *layout =
        base_calloc(1, sizeof(*layout) + listed * sizeof(layout->sizes[0]));

    if (!layout)
        return NULL;
    layout->count = count;
    for (uint32_t i = 0; i < listed; i++) {
        layout->sizes[i] = sizes[i];
        layout->bytes += worker_parameter_bytes(sizes[i]);
    }
    return layout;
}

const struct worker_layout *worker_layouts_add(
    struct worker_layouts *layouts, uint32_t count, const uint32_t *sizes)
{
    uint32_t listed = count == WORKER_LAYOUT_UNKNOWN ? 0 : count, digest = count;
    struct worker_layout **list, *found;

    for (uint32_t i = 0; i < listed; i++)
        digest = digest * 31 + sizes[i];
    list = &layouts->lists[digest % WORKER_LAYOUT_LISTS];
    pthread_mutex_lock(&layouts->lock);
    for (found = *list; found && !is_equal(found, count, listed, sizes); found = found->next)
        ;
    if (!found) {
        found = create_layout(count, listed, sizes);
        if (found) {
            found->next = *list;
            *list = found;
        }
    }
    pthread_mutex_unlock(&layouts->lock);
    return found;
}
