/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address space that this process shares with the workers: the arena of pinned memory, one
 * sparse memfd that this process and every worker have mapped, and the addresses of device memory.
 *
 * Every address of device memory is reserved in this process as well: the reservation is what keeps
 * the addresses of workers apart from each other and from host memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/math.h"
#include "base/status.h"
#include "driver/worker/client/client.h"

/*
 * Where the arena and the regions of simulated devices are, if the addresses are free: away from
 * where the kernel, sanitizers and the driver place mappings. The second set is for
 * ThreadSanitizer, which leaves little: the kernel places libraries at 0x7eff'xxxxxxxx and above,
 * and programs at 0x5555'xxxxxxxx and above.
 */
static const struct {
    uint64_t arena, region, region_stride, virtual, virtual_stride;
} layouts[] = {
    {UINT64_C(0x670000000000), UINT64_C(0x680000000000), UINT64_C(1) << 40,
        UINT64_C(0x420000000000), UINT64_C(1) << 38},
    {UINT64_C(0x7e8000000000), UINT64_C(0x7e9000000000), UINT64_C(1) << 36,
        UINT64_C(0x550000000000), UINT64_C(1) << 35},
};
/* Stream-ordered pools of a worker start here; each next worker's are moved up by the stride. */
#define POOL_BASE UINT64_C(0x300000000)
#define POOL_STRIDE (UINT64_C(4) << 40)

/* At the address or not at all. Only as a hint: for a fixed address that it must not use,
 * ThreadSanitizer asks the kernel for address 0, which root can have. */
static void *map_at(uint64_t base, uint64_t bytes, int protection, int flags, int descriptor)
{
    void *mapped = mmap(
        (void *)(uintptr_t)base, (size_t)bytes, protection, flags | MAP_NORESERVE, descriptor, 0);

    if (mapped != MAP_FAILED && (uint64_t)(uintptr_t)mapped != base) {
        munmap(mapped, (size_t)bytes);
        return MAP_FAILED;
    }
    return mapped;
}

void *client_reserve(uint64_t base, uint64_t bytes)
{
    return map_at(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void *map_arena(const struct client *opened, uint64_t base)
{
    return map_at(base, opened->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened->arena);
}

/* As much as the host has: the arena occupies what is allocated in it. */
static uint64_t host_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    uint64_t bytes = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;

    return base_max(base_round_up(bytes, UINT64_C(1) << 30), UINT64_C(4) << 30);
}

static bool open_region(struct client *opened, struct client_worker *worker, size_t layout)
{
    uint64_t stride = layouts[layout].region_stride;

    worker->region_base = layouts[layout].region + (uint64_t)worker->ordinal * stride;
    worker->region_bytes =
        base_min(stride, CLIENT_REGION_PARTS * (opened->device_bytes * 2 + (UINT64_C(128) << 20)));
    return worker->region_bytes / CLIENT_REGION_PARTS >=
               opened->device_bytes + (UINT64_C(64) << 20) &&
           client_reserve(worker->region_base, worker->region_bytes) != MAP_FAILED;
}

static void close_regions(struct client *opened)
{
    for (unsigned i = 0; i < opened->count; i++) {
        if (opened->is_simulated && opened->workers[i].region_bytes)
            munmap((void *)(uintptr_t)opened->workers[i].region_base,
                (size_t)opened->workers[i].region_bytes);
        opened->workers[i].region_bytes = 0;
    }
}

static bool open_regions(struct client *opened, size_t layout)
{
    for (unsigned i = 0; i < opened->count; i++) {
        if (open_region(opened, &opened->workers[i], layout))
            continue;
        opened->workers[i].region_bytes = 0;
        close_regions(opened);
        return false;
    }
    return true;
}

/* Without these addresses there is no virtual memory. */
static void reserve_virtual(struct client *opened, size_t layout)
{
    uint64_t bytes = layouts[layout].virtual_stride;

    for (unsigned i = 0; i < opened->count; i++) {
        uint64_t base = layouts[layout].virtual + i * bytes;

        if (client_reserve(base, bytes) == MAP_FAILED)
            continue;
        opened->workers[i].virtual_base = base;
        opened->workers[i].virtual_bytes = bytes;
    }
}

static void release_virtual(struct client *closing)
{
    for (unsigned i = 0; i < closing->count; i++)
        if (closing->workers[i].virtual_bytes)
            munmap((void *)(uintptr_t)closing->workers[i].virtual_base,
                (size_t)closing->workers[i].virtual_bytes);
}

/* The pools of all workers in one reservation. Without it addresses are still told apart by the
 * current context; only that host memory could have the same ones. */
static void reserve_pools(struct client *opened)
{
    uint64_t bytes = opened->count * POOL_STRIDE;

    if (client_reserve(POOL_BASE, bytes) == MAP_FAILED)
        return;
    opened->reserved_base = POOL_BASE;
    opened->reserved_bytes = bytes;
    for (unsigned i = 0; i < opened->count; i++) {
        opened->workers[i].region_base = POOL_BASE + i * POOL_STRIDE;
        opened->workers[i].region_bytes = POOL_STRIDE;
    }
}

pool_status client_arena_open(struct client *opened)
{
    void *mapped = MAP_FAILED;

    opened->arena_bytes = host_bytes();
    opened->arena =
        client_move_up(memfd_create("devicepool pinned memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (opened->arena < 0 || base_truncate(opened->arena, opened->arena_bytes) ||
        fcntl(opened->arena, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY,
            "the memory that is shared with worker processes cannot be created: %s%s",
            strerror(errno),
            errno == EFBIG ? " (the limit on the size of files, ulimit -f, holds for it)" : "");
    for (size_t i = 0; i < 2 && mapped == MAP_FAILED; i++) {
        mapped = map_arena(opened, layouts[i].arena);
        if (mapped != MAP_FAILED && opened->is_simulated && !open_regions(opened, i)) {
            munmap(mapped, (size_t)opened->arena_bytes);
            mapped = MAP_FAILED;
        }
        if (mapped != MAP_FAILED)
            reserve_virtual(opened, i);
    }
    if (mapped == MAP_FAILED)
        return base_fail(POOL_ERR_OUT_OF_HOST_MEMORY,
            "no addresses are free for the memory of %u worker processes (limits of address "
            "space: ulimit -v)",
            opened->count);
    opened->arena_base = mapped;
    if (!opened->is_simulated)
        reserve_pools(opened);
    return POOL_OK;
}

void client_arena_close(struct client *closing)
{
    close_regions(closing);
    release_virtual(closing);
    if (closing->reserved_bytes)
        munmap((void *)(uintptr_t)closing->reserved_base, (size_t)closing->reserved_bytes);
    client_ranges_free(closing);
    base_free(closing->blocks);
    if (closing->arena_base)
        munmap(closing->arena_base, (size_t)closing->arena_bytes);
    if (closing->arena >= 0)
        close(closing->arena);
}
