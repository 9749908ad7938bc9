/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of other processes with simulated devices. cuMemAlloc backs memory of whole granules by a
 * sealed memfd, as virtual memory is; a handle names the process and its descriptor, by which
 * another process of the same user opens the memory. As on a GPU the exporting process has to live
 * until then, and no process opens its own memory. Events are in ipc_event.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/sim/table/state.h"

#define MAGIC UINT64_C(0x79726f6d656d6970)

/* What the 64 bytes of a handle are. */
struct memory_handle {
    uint64_t magic, bytes, inode;
    int64_t process, descriptor;
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct memory_handle) == sizeof(pool_cu_ipc_handle), "64 bytes");

void sim_shared_back(struct sim_allocation *allocation)
{
    int descriptor = sim_physical_create_memory(allocation->bytes, allocation->device);

    if (descriptor < 0)
        return; /* it cannot be shared */
    if (mmap((void *)(uintptr_t)allocation->base, allocation->bytes, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
        close(descriptor);
        return;
    }
    (void)madvise((void *)(uintptr_t)allocation->base, allocation->bytes, MADV_DONTDUMP);
    allocation->is_shared = true;
    allocation->descriptor = descriptor;
}

void sim_shared_end(const struct sim_allocation *allocation)
{
    sim_memory_renew(allocation->base, allocation->bytes);
    close(allocation->descriptor);
}

pool_cu_result sim_cu_IpcGetMemHandle(pool_cu_ipc_handle *handle, CUdeviceptr address)
{
    struct memory_handle made = {.magic = MAGIC, .process = getpid()};
    struct sim_allocation *found;
    struct stat status;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_IpcGetMemHandle, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    found = sim_memory_find(address, 1);
    if (!handle || !found || found->kind != SIM_MEMORY_DEVICE || found->is_freeing)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (!found->is_shared || fstat(found->descriptor, &status))
        return sim_leave(POOL_CU_NOT_SUPPORTED); /* parts of a granule */
    sim_memory_write_lock();
    found->is_all_written = true; /* by the other process, as far as is known */
    sim_memory_write_unlock();
    made.bytes = found->bytes;
    made.inode = status.st_ino;
    made.descriptor = found->descriptor;
    memcpy(handle, &made, sizeof(made));
    return sim_leave(POOL_CU_SUCCESS);
}

int sim_ipc_open(int64_t process, int64_t descriptor, uint64_t inode)
{
    char path[64];
    struct stat status;
    int opened;

    snprintf(path, sizeof(path), "/proc/%lld/fd/%lld", (long long)process, (long long)descriptor);
    opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (opened >= 0 && (fstat(opened, &status) || status.st_ino != inode)) {
        close(opened);
        opened = -1;
    }
    return opened;
}

/* The descriptor of another process, -1: there is no such memory. */
static int open_memory(const struct memory_handle *handle)
{
    int descriptor = sim_ipc_open(handle->process, handle->descriptor, handle->inode);

    if (descriptor >= 0 && sim_physical_memory_bytes(descriptor) != handle->bytes) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}

/* Memory that the context has open already: once more. */
static struct sim_allocation *find_opened(const struct sim_context *context, uint64_t inode)
{
    for (size_t i = 0; i < sim_memory_count(); i++) {
        struct sim_allocation *at = sim_memory_item(i);
        struct stat status;

        if (at->kind == SIM_MEMORY_OPENED && at->context == context && !at->is_freeing &&
            fstat(at->descriptor, &status) == 0 && status.st_ino == inode)
            return at;
    }
    return NULL;
}

static pool_cu_result map_opened(
    struct sim_context *context, const struct memory_handle *handle, struct sim_allocation **opened)
{
    int descriptor = open_memory(handle);
    struct sim_allocation *made;
    pool_cu_result code;

    if (descriptor < 0)
        return POOL_CU_INVALID_VALUE;
    code = sim_memory_allocate(context, SIM_MEMORY_OPENED, handle->bytes, 4096, 0, &made);
    if (code) {
        close(descriptor);
        return code;
    }
    made->is_shared = true;
    made->descriptor = descriptor;
    if (mmap((void *)(uintptr_t)made->base, made->bytes, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
        sim_memory_release(made);
        return POOL_CU_OUT_OF_MEMORY;
    }
    *opened = made;
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_IpcOpenMemHandle(
    CUdeviceptr *address, pool_cu_ipc_handle handle, unsigned int flags)
{
    struct sim_allocation *opened;
    struct memory_handle given;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_IpcOpenMemHandle, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    memcpy(&given, &handle, sizeof(given));
    if (!address || flags & ~(unsigned)DRIVER_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ||
        given.magic != MAGIC)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (given.process == getpid())
        return sim_leave(POOL_CU_INVALID_CONTEXT);
    opened = find_opened(call.context, given.inode);
    if (!opened)
        code = map_opened(call.context, &given, &opened);
    if (code)
        return sim_leave(code);
    opened->opens++;
    *address = opened->base;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_IpcCloseMemHandle(CUdeviceptr address)
{
    struct sim_allocation *found;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_IpcCloseMemHandle, SIM_NEED_INIT, -1);

    if (code)
        return code;
    found = sim_memory_starting_at(address);
    if (!found || found->kind != SIM_MEMORY_OPENED || found->is_freeing)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (--found->opens)
        return sim_leave(POOL_CU_SUCCESS);
    found->is_freeing = true;
    const uint64_t id = found->id;
    code = sim_context_drain(found->context);
    found = sim_memory_starting_at(address);
    if (found && found->id == id)
        sim_memory_release(found);
    return sim_leave(code);
}
