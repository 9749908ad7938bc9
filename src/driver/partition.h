/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiprocessors of a device as the driver's resources: what simulated devices and the mock write
 * into pool_cu_dev_resource, and how they split it. Header-only, as the mock is a library of its
 * own.
 */
#ifndef DRIVER_PARTITION_H
#define DRIVER_PARTITION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <devicepool/driver.h>

#define PARTITION_WORDS 9
#define PARTITION_MULTIPROCESSORS (64u * PARTITION_WORDS) /* the most that are described */
#define PARTITION_TYPE 1u                                 /* CU_DEV_RESOURCE_TYPE_SM */
#define PARTITION_MAGIC 0x536du
/* CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING and …_MAX_POTENTIAL_CLUSTER_SIZE. */
#define PARTITION_IGNORE_COSCHEDULING 1u
#define PARTITION_FLAGS 3u

/* A set of multiprocessors. */
struct partition {
    uint16_t magic;
    uint16_t major; /* of the device's compute capability */
    int32_t device;
    uint64_t split; /* of which it is a part: 0 for all of a device or a context */
    uint64_t multiprocessors[PARTITION_WORDS];
};
_Static_assert(
    sizeof(struct partition) <= sizeof(((pool_cu_dev_resource *)0)->internal), "internal bytes");

static inline struct partition partition_of_device(int device, int major, unsigned count)
{
    struct partition all = {
        .magic = PARTITION_MAGIC, .major = (uint16_t)major, .device = device, .split = 0};

    for (unsigned i = 0; i < count && i < PARTITION_MULTIPROCESSORS; i++)
        all.multiprocessors[i / 64] |= UINT64_C(1) << i % 64;
    return all;
}

static inline unsigned partition_size(const struct partition *partition)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PARTITION_WORDS; i++)
        count += (unsigned)__builtin_popcountll(partition->multiprocessors[i]);
    return count;
}

/* The fewest multiprocessors of a part, a multiple of *alignment, as cuda.h lists them. */
static inline unsigned partition_fewest(int major, unsigned flags, unsigned *alignment)
{
    bool is_fine = major < 9 || flags & PARTITION_IGNORE_COSCHEDULING;

    *alignment = is_fine ? 2 : 8;
    return major == 8 && !(flags & PARTITION_IGNORE_COSCHEDULING) ? 4 : *alignment;
}

/* None: a resource of no type. */
static inline void partition_write(
    const struct partition *partition, pool_cu_dev_resource *resource)
{
    memset(resource, 0, sizeof(*resource));
    resource->sm_count = partition_size(partition);
    if (!resource->sm_count)
        return;
    resource->type = PARTITION_TYPE;
    resource->min_partition = partition_fewest(partition->major, 0, &resource->sm_alignment);
    memcpy(resource->internal, partition, sizeof(*partition));
}

static inline bool partition_read(const pool_cu_dev_resource *resource, struct partition *partition)
{
    memcpy(partition, resource->internal, sizeof(*partition));
    return resource->type == PARTITION_TYPE && partition->magic == PARTITION_MAGIC;
}

/* Moves the first multiprocessors of a set to a new one. */
static inline struct partition partition_take(struct partition *from, unsigned count)
{
    struct partition taken = *from;

    memset(taken.multiprocessors, 0, sizeof(taken.multiprocessors));
    for (unsigned i = 0; i < PARTITION_MULTIPROCESSORS && count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        if (!(from->multiprocessors[i / 64] & bit))
            continue;
        from->multiprocessors[i / 64] &= ~bit;
        taken.multiprocessors[i / 64] |= bit;
        count--;
    }
    return taken;
}

/*
 * cuDevSmResourceSplitByCount: at most *count groups of min_count multiprocessors, rounded up to
 * what the chip allows; without an array as many as there can be. A part of a split cannot be split
 * again. `split` is a number that no other split has.
 */
static inline pool_cu_result partition_split(pool_cu_dev_resource *groups, unsigned int *count,
    const pool_cu_dev_resource *input, pool_cu_dev_resource *remaining, unsigned int flags,
    unsigned int min_count, uint64_t split)
{
    struct partition left;
    unsigned fewest, alignment, size, possible;

    if (flags & ~PARTITION_FLAGS || (groups && !*count))
        return POOL_CU_INVALID_VALUE;
    if (!partition_read(input, &left))
        return POOL_CU_INVALID_RESOURCE_TYPE;
    if (left.split || min_count > partition_size(&left))
        return POOL_CU_INVALID_RESOURCE_CONFIGURATION;
    fewest = partition_fewest(left.major, flags, &alignment);
    size = (min_count + alignment - 1) / alignment * alignment;
    size = size < fewest ? fewest : size;
    possible = partition_size(&left) / size;
    if (!possible)
        return POOL_CU_INVALID_RESOURCE_CONFIGURATION;
    if (!groups || *count > possible)
        *count = possible;
    left.split = split;
    for (unsigned i = 0; i < *count; i++) {
        struct partition group = partition_take(&left, size);

        if (groups)
            partition_write(&group, &groups[i]);
    }
    if (remaining)
        partition_write(&left, remaining);
    return POOL_CU_SUCCESS;
}

/* cuDevResourceGenerateDesc: several must be disjoint parts of one split. */
static inline pool_cu_result partition_join(
    const pool_cu_dev_resource *resources, unsigned int count, struct partition *joined)
{
    struct partition next;

    if (!count)
        return POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!partition_read(&resources[i], &next))
            return POOL_CU_INVALID_RESOURCE_TYPE;
        if (i == 0) {
            *joined = next;
            continue;
        }
        if (!next.split || next.split != joined->split || next.device != joined->device)
            return POOL_CU_INVALID_RESOURCE_CONFIGURATION;
        for (unsigned word = 0; word < PARTITION_WORDS; word++) {
            if (next.multiprocessors[word] & joined->multiprocessors[word])
                return POOL_CU_INVALID_RESOURCE_CONFIGURATION;
            joined->multiprocessors[word] |= next.multiprocessors[word];
        }
    }
    joined->split = 0;
    return POOL_CU_SUCCESS;
}

#endif
