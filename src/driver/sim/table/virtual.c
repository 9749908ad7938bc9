/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory of the simulated driver: reserved addresses, allocations without addresses, and
 * mappings of these. An allocation is a sealed memfd, so that its exported descriptor works in
 * other processes, also after this one has ended. As on a GPU it exists as long as a handle, a
 * mapping or a descriptor does.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/math.h"
#include "driver/sim/table/state.h"

#define GRANULARITY (UINT64_C(2) << 20)
#define PAGE 4096u
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define MAGIC UINT64_C(0x79726f6d656d6973)
/* New memory starts with a pattern, as that of alloc.c does. */
#define PATTERN_BYTES 65536u
#define PATTERN 0xa5

/* The last page of the memfd: another simulated driver learns from it what it imports. */
struct label {
    uint64_t magic, bytes;
    int64_t device;
};

struct sim_physical {
    struct sim_physical *next;
    int device;
    int descriptor;
    uint64_t bytes;
    ino_t inode;
    unsigned references; /* handles and mappings */
    unsigned handles;
    bool is_exportable;
};

struct reservation {
    struct reservation *next;
    uint64_t base, bytes;
};

static struct sim_physical *physicals;   /* guarded by the state's lock */
static struct reservation *reservations; /* likewise */

/* ---- allocations ----------------------------------------------------------------------------- */

static void release_physical(struct sim_physical *physical)
{
    struct sim_physical **link = &physicals;

    if (--physical->references)
        return;
    while (*link != physical)
        link = &(*link)->next;
    *link = physical->next;
    sim_state.devices[physical->device].used_bytes -= physical->bytes;
    close(physical->descriptor);
    base_free(physical);
}

void sim_physical_unmap(struct sim_physical *physical, uint64_t base, uint64_t bytes)
{
    (void)mmap((void *)(uintptr_t)base, bytes, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    release_physical(physical);
}

void sim_virtual_each(sim_virtual_visitor visit, void *user)
{
    for (const struct sim_physical *at = physicals; at; at = at->next)
        visit(user, at->device, 0, at->bytes, at->handles);
    for (const struct reservation *at = reservations; at; at = at->next)
        visit(user, 0, at->base, at->bytes, 0);
}

static bool fill_memory(int descriptor, const struct label *label)
{
    unsigned char pattern[PAGE];

    memset(pattern, PATTERN, sizeof(pattern));
    for (uint64_t at = 0; at < PATTERN_BYTES; at += PAGE)
        if (pwrite(descriptor, pattern, sizeof(pattern), (off_t)at) != (ssize_t)sizeof(pattern))
            return false;
    return pwrite(descriptor, label, sizeof(*label), (off_t)label->bytes) == sizeof(*label);
}

static int create_memory(const struct label *label)
{
    int descriptor = memfd_create("devicepool simulated memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (descriptor < 0)
        return -1;
    if (base_truncate(descriptor, label->bytes + PAGE) || !fill_memory(descriptor, label) ||
        fcntl(descriptor, F_ADD_SEALS, SEALS)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Takes over the descriptor. */
static pool_cu_result add_physical(
    const struct label *label, int descriptor, struct sim_physical **physical)
{
    struct sim_device *device = &sim_state.devices[label->device];
    struct sim_physical *made = base_calloc(1, sizeof(*made));
    struct stat status;

    if (!made || fstat(descriptor, &status) ||
        label->bytes > sim_memory_free_bytes((int)label->device)) {
        base_free(made);
        close(descriptor);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *made = (struct sim_physical){.next = physicals,
        .device = (int)label->device,
        .descriptor = descriptor,
        .bytes = label->bytes,
        .inode = status.st_ino};
    device->used_bytes += label->bytes;
    physicals = made;
    *physical = made;
    return POOL_CU_SUCCESS;
}

static pool_cu_result add_handle(
    struct sim_physical *physical, CUmemGenericAllocationHandle *allocation)
{
    void *handle = sim_handle_create(SIM_HANDLE_ALLOCATION, physical);

    physical->references++;
    if (!handle) {
        release_physical(physical);
        return POOL_CU_OUT_OF_MEMORY;
    }
    physical->handles++;
    *allocation = (CUmemGenericAllocationHandle)(uintptr_t)handle;
    return POOL_CU_SUCCESS;
}

static struct sim_physical *find_physical(CUmemGenericAllocationHandle allocation)
{
    return sim_handle_get(SIM_HANDLE_ALLOCATION, (const void *)(uintptr_t)allocation);
}

static bool is_valid_prop(const pool_cu_mem_allocation_prop *prop)
{
    return prop && prop->type == DRIVER_MEM_ALLOCATION_TYPE_PINNED &&
           prop->location.type == DRIVER_MEM_LOCATION_TYPE_DEVICE && prop->location.id >= 0 &&
           (uint32_t)prop->location.id < sim_state.config.device_count;
}

pool_cu_result sim_cu_MemGetAllocationGranularity(
    size_t *bytes, const pool_cu_mem_allocation_prop *prop, pool_cu_enum option)
{
    struct sim_call call;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_MemGetAllocationGranularity, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    if (!bytes || !is_valid_prop(prop) || option > DRIVER_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *bytes = GRANULARITY;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemCreate(CUmemGenericAllocationHandle *allocation, size_t bytes,
    const pool_cu_mem_allocation_prop *prop, unsigned long long flags)
{
    struct sim_physical *physical;
    struct label label;
    struct sim_call call;
    int descriptor;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_MemCreate, SIM_NEED_HEALTHY, prop ? prop->location.id : -1);

    if (code)
        return code;
    if (!allocation || !bytes || bytes % GRANULARITY || flags || !is_valid_prop(prop))
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (prop->handle_types & ~(unsigned)DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return sim_leave(POOL_CU_NOT_SUPPORTED);
    if (bytes > sim_memory_free_bytes(prop->location.id))
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    label = (struct label){MAGIC, bytes, prop->location.id};
    descriptor = create_memory(&label);
    code = descriptor < 0 ? POOL_CU_OUT_OF_MEMORY : add_physical(&label, descriptor, &physical);
    if (code)
        return sim_leave(code);
    physical->is_exportable = prop->handle_types != DRIVER_MEM_HANDLE_TYPE_NONE;
    return sim_leave(add_handle(physical, allocation));
}

pool_cu_result sim_cu_MemRelease(CUmemGenericAllocationHandle allocation)
{
    struct sim_physical *physical;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemRelease, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    physical = find_physical(allocation);
    if (!physical)
        return sim_leave(POOL_CU_INVALID_VALUE);
    sim_handle_release((void *)(uintptr_t)allocation);
    physical->handles--;
    release_physical(physical);
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemExportToShareableHandle(void *shareable,
    CUmemGenericAllocationHandle allocation, pool_cu_enum type, unsigned long long flags)
{
    const struct sim_physical *physical;
    struct sim_call call;
    int descriptor;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemExportToShareableHandle, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    physical = find_physical(allocation);
    if (!shareable || flags || !physical || !physical->is_exportable ||
        type != DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return sim_leave(POOL_CU_INVALID_VALUE);
    descriptor = fcntl(physical->descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0)
        return sim_leave(POOL_CU_OPERATING_SYSTEM);
    *(int *)shareable = descriptor;
    return sim_leave(POOL_CU_SUCCESS);
}

/* What a descriptor is, if it is an allocation of a simulated driver. */
static bool read_label(int descriptor, struct stat *status, struct label *label)
{
    int seals = fcntl(descriptor, F_GET_SEALS);

    /* Without the seals its owner could shrink it, and reading it would be fatal. */
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(descriptor, status) == 0 &&
           status->st_size > (off_t)PAGE &&
           pread(descriptor, label, sizeof(*label), status->st_size - (off_t)PAGE) ==
               (ssize_t)sizeof(*label) &&
           label->magic == MAGIC && label->bytes == (uint64_t)status->st_size - PAGE &&
           label->bytes % GRANULARITY == 0 && label->device >= 0 &&
           label->device < (int64_t)sim_state.config.device_count;
}

int sim_physical_create_memory(uint64_t bytes, int device)
{
    const struct label label = {MAGIC, bytes, device};

    return create_memory(&label);
}

uint64_t sim_physical_memory_bytes(int descriptor)
{
    struct label label;
    struct stat status;

    return read_label(descriptor, &status, &label) ? label.bytes : 0;
}

pool_cu_result sim_cu_MemImportFromShareableHandle(
    CUmemGenericAllocationHandle *allocation, void *shareable, pool_cu_enum type)
{
    int given = (int)(intptr_t)shareable, descriptor;
    struct sim_physical *physical;
    struct label label;
    struct stat status;
    struct sim_call call;
    pool_cu_result code =
        sim_enter(&call, SIM_CU_MemImportFromShareableHandle, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    if (!allocation || type != DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !read_label(given, &status, &label))
        return sim_leave(POOL_CU_INVALID_VALUE);
    for (physical = physicals; physical && physical->inode != status.st_ino;)
        physical = physical->next;
    if (!physical) {
        descriptor = fcntl(given, F_DUPFD_CLOEXEC, 0);
        code =
            descriptor < 0 ? POOL_CU_OPERATING_SYSTEM : add_physical(&label, descriptor, &physical);
        if (code)
            return sim_leave(code);
        physical->is_exportable = true;
    }
    return sim_leave(add_handle(physical, allocation));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static void *reserve_at(uint64_t wanted, uint64_t bytes)
{
    void *mapped = mmap((void *)(uintptr_t)wanted, bytes, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (wanted ? MAP_FIXED_NOREPLACE : 0), -1, 0);

    if (mapped != MAP_FAILED && wanted && (uint64_t)(uintptr_t)mapped != wanted) {
        munmap(mapped, bytes);
        return MAP_FAILED;
    }
    return mapped;
}

/* At the wanted address if it is free, else at any multiple of `alignment`; 0: none is free. */
static uint64_t reserve(uint64_t wanted, uint64_t bytes, uint64_t alignment)
{
    void *mapped = wanted && wanted % alignment == 0 ? reserve_at(wanted, bytes) : MAP_FAILED;
    uint64_t base, start;

    if (mapped != MAP_FAILED)
        return (uint64_t)(uintptr_t)mapped;
    if (bytes > UINT64_MAX - alignment)
        return 0;
    mapped = reserve_at(0, bytes + alignment);
    if (mapped == MAP_FAILED)
        return 0;
    base = (uint64_t)(uintptr_t)mapped;
    start = base_round_up(base, alignment);
    if (start > base)
        munmap(mapped, start - base);
    munmap((void *)(uintptr_t)(start + bytes), base + alignment - start);
    return start;
}

pool_cu_result sim_cu_MemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
    CUdeviceptr wanted, unsigned long long flags)
{
    struct reservation *made;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemAddressReserve, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    if (!address || !bytes || bytes % GRANULARITY || (alignment & (alignment - 1)) || flags)
        return sim_leave(POOL_CU_INVALID_VALUE);
    made = base_calloc(1, sizeof(*made));
    if (made)
        made->base = reserve(wanted, bytes, base_max(alignment, GRANULARITY));
    if (!made || !made->base) {
        base_free(made);
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    }
    made->bytes = bytes;
    made->next = reservations;
    reservations = made;
    *address = made->base;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_MemAddressFree(CUdeviceptr address, size_t bytes)
{
    struct reservation **link = &reservations, *freed;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemAddressFree, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    while (*link && ((*link)->base != address || (*link)->bytes != bytes))
        link = &(*link)->next;
    freed = *link;
    if (!freed || sim_memory_overlaps(address, bytes))
        return sim_leave(POOL_CU_INVALID_VALUE);
    *link = freed->next;
    munmap((void *)(uintptr_t)address, bytes);
    base_free(freed);
    return sim_leave(POOL_CU_SUCCESS);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static bool is_reserved(uint64_t address, uint64_t bytes)
{
    for (const struct reservation *at = reservations; at; at = at->next)
        if (address - at->base < at->bytes && bytes <= at->bytes - (address - at->base))
            return true;
    return false;
}

pool_cu_result sim_cu_MemMap(CUdeviceptr address, size_t bytes, size_t offset,
    CUmemGenericAllocationHandle allocation, unsigned long long flags)
{
    struct sim_physical *physical;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemMap, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    physical = find_physical(allocation);
    if (!physical || !bytes || address % GRANULARITY || bytes % GRANULARITY ||
        offset % GRANULARITY || flags || offset > physical->bytes ||
        bytes > physical->bytes - offset || !is_reserved(address, bytes) ||
        sim_memory_overlaps(address, bytes))
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
            physical->descriptor, (off_t)offset) == MAP_FAILED)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    (void)madvise((void *)(uintptr_t)address, bytes, MADV_DONTDUMP);
    physical->references++;
    code = sim_memory_map(physical, physical->device, address, bytes);
    if (code)
        sim_physical_unmap(physical, address, bytes);
    return sim_leave(code);
}

/* One bit per device. */
struct access_change {
    uint64_t devices;    /* whose access is set */
    uint64_t granted;    /* of these */
    bool *has_strangers; /* some of these are not the memory's device */
};

/* Calls `visit` for the mappings that fill the range exactly; false: the range is no such one. */
static bool each_mapping(uint64_t address, uint64_t bytes,
    void (*visit)(struct sim_allocation *mapping, const struct access_change *change),
    const struct access_change *change)
{
    uint64_t at = address, end = address + bytes;
    struct sim_allocation *mapping;

    while (at < end) {
        mapping = sim_memory_starting_at(at);
        if (!mapping || mapping->kind != SIM_MEMORY_MAPPED || mapping->is_freeing ||
            mapping->bytes > end - at)
            return false;
        at += mapping->bytes;
    }
    for (at = address; at < end;) {
        uint64_t mapped;

        mapping = sim_memory_starting_at(at);
        mapped = mapping->bytes;
        visit(mapping, change);
        at += mapped;
    }
    return bytes > 0;
}

static void begin_freeing(struct sim_allocation *mapping, const struct access_change *change)
{
    (void)change;
    mapping->is_freeing = true;
}

static void find_strangers(struct sim_allocation *mapping, const struct access_change *change)
{
    for (int device = 0; change->granted >> device; device++)
        if (change->granted >> device & 1 && device != mapping->device &&
            !sim_are_peers(device, mapping->device))
            *change->has_strangers = true;
}

static void set_access(struct sim_allocation *mapping, const struct access_change *change)
{
    mapping->access = (mapping->access & ~change->devices) | change->granted;
}

pool_cu_result sim_cu_MemUnmap(CUdeviceptr address, size_t bytes)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemUnmap, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    if (bytes > UINT64_MAX - address || !each_mapping(address, bytes, begin_freeing, NULL))
        return sim_leave(POOL_CU_INVALID_VALUE);
    /* What may still use the memory ends first, as otherwise this process would. */
    code = sim_drain();
    for (uint64_t at = address; at < address + bytes;) {
        struct sim_allocation *mapping = sim_memory_starting_at(at);

        if (!mapping)
            break; /* the driver has been closed meanwhile */
        at += mapping->bytes;
        sim_memory_release(mapping);
    }
    return sim_leave(code);
}

pool_cu_result sim_cu_MemSetAccess(
    CUdeviceptr address, size_t bytes, const pool_cu_mem_access *access, size_t count)
{
    bool is_mapped, has_strangers = false;
    struct access_change change = {.has_strangers = &has_strangers};
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_MemSetAccess, SIM_NEED_HEALTHY, -1);

    if (code)
        return code;
    if (!access || !count || bytes > UINT64_MAX - address)
        return sim_leave(POOL_CU_INVALID_VALUE);
    for (size_t at = 0; at < count; at++) {
        int device = access[at].location.id;

        if (access[at].location.type != DRIVER_MEM_LOCATION_TYPE_DEVICE || device < 0 ||
            (uint32_t)device >= sim_state.config.device_count)
            return sim_leave(POOL_CU_INVALID_VALUE);
        change.devices |= UINT64_C(1) << device;
        if (access[at].flags == DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE)
            change.granted |= UINT64_C(1) << device;
        else if (access[at].flags)
            return sim_leave(POOL_CU_NOT_SUPPORTED); /* memory that is only read */
    }
    if (!each_mapping(address, bytes, find_strangers, &change))
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (has_strangers)
        return sim_leave(POOL_CU_INVALID_DEVICE);
    sim_memory_write_lock();
    is_mapped = each_mapping(address, bytes, set_access, &change);
    sim_memory_write_unlock();
    return sim_leave(is_mapped ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE);
}

void sim_virtual_free(void)
{
    while (physicals) {
        physicals->references = 1;
        release_physical(physicals);
    }
    while (reservations) {
        struct reservation *freed = reservations;

        reservations = freed->next;
        munmap((void *)(uintptr_t)freed->base, freed->bytes);
        base_free(freed);
    }
}
