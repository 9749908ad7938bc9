/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of kernels, as both sides of a launch's message have to know them.
 *
 * A layout does not change, kernels with equal parameters have one together, and it exists as long
 * as its set: a thread may read the layout of a kernel that another thread is about to unload.
 */
#ifndef WORKER_LAYOUT_H
#define WORKER_LAYOUT_H

#include <pthread.h>
#include <stdint.h>

/* The count of a kernel whose parameters the driver cannot report; it has no sizes. */
#define WORKER_LAYOUT_UNKNOWN UINT32_MAX

struct worker_layout {
    struct worker_layout *next;
    uint64_t bytes; /* in a message, where each parameter starts at a multiple of 8 */
    uint32_t count;
    uint32_t sizes[];
};

#define WORKER_LAYOUT_LISTS 64u

struct worker_layouts {
    pthread_mutex_t lock;
    struct worker_layout *lists[WORKER_LAYOUT_LISTS]; /* guarded by lock */
};

void worker_layouts_init(struct worker_layouts *layouts);
void worker_layouts_free(struct worker_layouts *layouts);

/* The layout of parameters with these sizes, at most WORKER_MAX_PARAMETERS unless the count is
 * WORKER_LAYOUT_UNKNOWN; NULL: memory has run out. */
const struct worker_layout *worker_layouts_add(
    struct worker_layouts *layouts, uint32_t count, const uint32_t *sizes);

/* The bytes that a parameter takes in a message. */
static inline uint64_t worker_parameter_bytes(uint32_t size)
{
    return ((uint64_t)size + 7) / 8 * 8;
}

#endif
