/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NUMA node on which the calling thread's new pages are placed.
 */
#ifndef MEMORY_NUMA_H
#define MEMORY_NUMA_H

#include <stdbool.h>

enum { MEMORY_NUMA_NODES = 1024 }; /* as many as kernels support */

/* The policy that memory_numa_prefer has replaced. */
struct memory_numa_policy {
    int mode;
    unsigned long nodes[MEMORY_NUMA_NODES / (8 * sizeof(unsigned long))];
};

/* Prefers pages of `node` until memory_numa_restore. false: nothing was changed, because the node
 * is negative, the kernel refuses it, or the thread has a policy of its own. */
bool memory_numa_prefer(int node, struct memory_numa_policy *before);
void memory_numa_restore(const struct memory_numa_policy *before);

#endif
