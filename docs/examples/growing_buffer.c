/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer that grows without being copied: addresses for the largest size are reserved once,
 * memory is mapped as it is needed, and the bytes stay where they are. Here it takes results whose
 * number is not known in advance.
 *
 *   growing_buffer [DEVICES]
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>

#define BATCH 700000 /* 64-bit values: no multiple of anything */
#define BATCHES 6

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/*
 * Makes `buffer` (NULL at first) a buffer of at least `bytes` bytes at the start of the range.
 * Memory is mapped behind what is mapped already; the mapping keeps it when its handle is
 * destroyed.
 */
static pool_status grow(pool_range *range, uint64_t bytes, pool_buffer **buffer)
{
    uint64_t mapped = pool_range_mapped_bytes(range);
    pool_physical *more = NULL;
    pool_buffer *grown = NULL;
    pool_status status = POOL_OK, destroyed;

    if (bytes > mapped) {
        status = pool_physical_create(pool_range_device(range), bytes - mapped, 0, &more);
        if (!status)
            status = pool_range_map(range, mapped, more);
        destroyed = pool_physical_destroy(&more);
        status = status ? status : destroyed;
    }
    if (!status)
        status = pool_range_buffer(range, 0, bytes, &grown);
    if (status)
        return status;
    status = pool_buffer_destroy(buffer);
    *buffer = grown;
    return status;
}

int main(int argc, char **argv)
{
    static uint64_t values[BATCH], back[BATCH];
    pool_params params = {.struct_size = sizeof(params), .devices = argc > 1 ? argv[1] : NULL};
    device_pool *pool;
    pool_device *device;
    pool_range *range = NULL;
    pool_buffer *results = NULL;
    uint64_t bytes = 0, unit;
    CUdeviceptr first = 0, now;

    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    if (pool_virtual_granularity(device, &unit)) {
        printf("%s\n", pool_last_error()->message);
        return 77;
    }
    must(pool_range_reserve(device, UINT64_C(64) << 30, &range)); /* more than will be needed */
    must(pool_range_address(range, &first));
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        for (uint64_t i = 0; i < BATCH; i++)
            values[i] = batch * BATCH + i;
        must(grow(range, bytes + sizeof(values), &results));
        must(pool_copy_to_device(results, bytes, values, sizeof(values), NULL));
        bytes += sizeof(values);
    }
    must(pool_buffer_address(results, &now));
    if (now != first)
        return 1;
    for (uint64_t batch = 0; batch < BATCHES; batch++) {
        must(pool_copy_to_host(back, results, batch * sizeof(back), sizeof(back), NULL));
        for (uint64_t i = 0; i < BATCH; i++)
            if (back[i] != batch * BATCH + i) {
                printf("value %llu is wrong\n", (unsigned long long)(batch * BATCH + i));
                return 1;
            }
    }
    printf("%llu bytes in %llu mapped bytes of %llu reserved ones, at one address\n",
        (unsigned long long)bytes, (unsigned long long)pool_range_mapped_bytes(range),
        (unsigned long long)pool_range_bytes(range));
    must(pool_buffer_destroy(&results));
    must(pool_range_destroy(&range));
    must(pool_destroy(&pool));
    return 0;
}
