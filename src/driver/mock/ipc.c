/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and events of other processes. There is one mock in a process, which opens what it has
 * shared itself, other than a GPU's driver; handles of other processes are refused.
 */
#include "driver/mock/mock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_MAGIC UINT64_C(0x6d6f636b6d656d6f)
#define EVENT_MAGIC UINT64_C(0x6d6f636b6576656e)
#define PAGE 4096u
#define LAZY_ENABLE_PEER_ACCESS 1u
#define EVENT_INTERPROCESS 4u
#define EVENT_DISABLE_TIMING 2u

/* What the 64 bytes of a handle are. */
struct handle {
    uint64_t magic, base, mock;
    int64_t process;
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct handle) == sizeof(pool_cu_ipc_handle), "64 bytes");

static void write_handle(
    const struct mock_call *call, pool_cu_ipc_handle *handle, uint64_t magic, uint64_t base)
{
    const struct handle made = {
        .magic = magic, .base = base, .mock = (uintptr_t)call->mock, .process = getpid()};

    memcpy(handle, &made, sizeof(made));
}

static pool_cu_result read_handle(const struct mock_call *call, const pool_cu_ipc_handle *handle,
    uint64_t magic, struct handle *given)
{
    memcpy(given, handle, sizeof(*given));
    return given->magic == magic && given->process == getpid() &&
                   given->mock == (uintptr_t)call->mock
               ? POOL_CU_SUCCESS
               : POOL_CU_INVALID_VALUE;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Moves the contents to a memfd, which is mapped in their place. The mock is locked. */
static bool back_by_descriptor(struct mock_memory *memory)
{
    void *base = (void *)(uintptr_t)memory->base;
    int descriptor;

    if (memory->is_shared)
        return true;
    if (!memory->mapped || memory->bytes % PAGE)
        return false; /* parts of pages cannot be shared */
    descriptor = memfd_create("devicepool mock memory", MFD_CLOEXEC);
    if (descriptor < 0)
        return false;
    if (ftruncate(descriptor, (off_t)memory->bytes) ||
        write(descriptor, base, memory->bytes) != (ssize_t)memory->bytes ||
        mmap(base, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) ==
            MAP_FAILED) {
        close(descriptor);
        return false;
    }
    memory->is_shared = true;
    memory->descriptor = descriptor;
    return true;
}

pool_cu_result mock_do_IpcGetMemHandle(
    struct mock_call *call, pool_cu_ipc_handle *handle, CUdeviceptr address)
{
    struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!memory || memory->kind != MOCK_DEVICE_MEMORY)
        return POOL_CU_INVALID_VALUE;
    if (!back_by_descriptor(memory))
        return POOL_CU_NOT_SUPPORTED;
    write_handle(call, handle, MEMORY_MAGIC, memory->base);
    return POOL_CU_SUCCESS;
}

/* Each opening has addresses of its own. */
pool_cu_result mock_do_IpcOpenMemHandle(
    struct mock_call *call, CUdeviceptr *address, pool_cu_ipc_handle handle, unsigned int flags)
{
    struct handle given;

    if (flags & ~LAZY_ENABLE_PEER_ACCESS || read_handle(call, &handle, MEMORY_MAGIC, &given))
        return POOL_CU_INVALID_VALUE;
    const struct mock_memory *shared = mock_memory_at(call->mock, given.base);
    if (!shared || shared->base != given.base || !shared->is_shared)
        return POOL_CU_INVALID_VALUE;
    void *base =
        mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->descriptor, 0);
    struct mock_memory *memory =
        base == MAP_FAILED ? NULL
                           : mock_memory_new(call->mock, MOCK_OPENED_MEMORY, shared->bytes, base);
    if (!memory) {
        if (base != MAP_FAILED)
            munmap(base, shared->bytes);
        return POOL_CU_OUT_OF_MEMORY;
    }
    memory->mapped = memory->bytes;
    memory->device = call->device;
    memory->context = call->context;
    *address = memory->base;
    return POOL_CU_SUCCESS;
}

pool_cu_result mock_do_IpcCloseMemHandle(struct mock_call *call, CUdeviceptr address)
{
    struct mock_memory *memory = mock_memory_at(call->mock, address);
    if (!memory || memory->kind != MOCK_OPENED_MEMORY || memory->base != address)
        return POOL_CU_INVALID_VALUE;
    mock_memory_release(call->mock, memory);
    return POOL_CU_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

pool_cu_result mock_do_IpcGetEventHandle(
    struct mock_call *call, pool_cu_ipc_handle *handle, struct mock_event *event)
{
    if (!(event->flags & EVENT_INTERPROCESS))
        return POOL_CU_INVALID_VALUE;
    write_handle(call, handle, EVENT_MAGIC, 0);
    return POOL_CU_SUCCESS;
}

/* An event of its own, as if the other one had been recorded and reached. */
pool_cu_result mock_do_IpcOpenEventHandle(
    struct mock_call *call, CUevent *event, pool_cu_ipc_handle handle)
{
    struct handle given;
    pool_cu_result code;

    code = event ? read_handle(call, &handle, EVENT_MAGIC, &given) : POOL_CU_INVALID_VALUE;
    if (code)
        return code;
    struct mock_event *made =
        mock_object_new(call->mock, sizeof(*made), MOCK_EVENT, call->device, call->context);
    if (!made)
        return POOL_CU_OUT_OF_MEMORY;
    made->flags = EVENT_INTERPROCESS | EVENT_DISABLE_TIMING;
    *event = mock_object_handle(call->mock, &made->object);
    return POOL_CU_SUCCESS;
}
