/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NUMA policies by system calls: see numa.h. libnuma would be one more dependency for two calls.
 */
#include "pool/memory/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h */
enum { POLICY_DEFAULT = 0, POLICY_PREFERRED = 1 };

static const unsigned bits_per_word = 8 * sizeof(unsigned long);

bool memory_numa_prefer(int node, struct memory_numa_policy *before)
{
    struct memory_numa_policy wanted = {0};

    if (node < 0 || node >= MEMORY_NUMA_NODES)
        return false;
    if (syscall(SYS_get_mempolicy, &before->mode, before->nodes, MEMORY_NUMA_NODES, NULL, 0))
        return false;
    if (before->mode != POLICY_DEFAULT)
        return false;
    wanted.nodes[(unsigned)node / bits_per_word] = 1ul << ((unsigned)node % bits_per_word);
    return !syscall(SYS_set_mempolicy, POLICY_PREFERRED, wanted.nodes, MEMORY_NUMA_NODES);
}

void memory_numa_restore(const struct memory_numa_policy *before)
{
    (void)syscall(SYS_set_mempolicy, before->mode, NULL, 0);
}
