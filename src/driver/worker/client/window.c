/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: device memory through which the device of one worker copies to that of another one. The
 * owner of a window, whose device has the memory, exports it; the writer imports and maps it. No
 * other process maps it, and no other memory of a device is mapped by another worker: what a kernel
 * of the writer can write to by mistake is what the writer is copying.
 *
 * A window is opened by the first copy of its pair of devices that is large enough. It stays open
 * until a process of either worker ends: the owner's memory is then as long as the writer maps it,
 * which it does until the next copy of the pair.
 */
#include <unistd.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

/*
 * Two slots of 32 MiB: at 390 GB/s, which peer copies between processes reach on H200s, a slot
 * takes 86 us to fill, and the two messages between slots a tenth of that. Of a small device less,
 * so that the windows of all other devices take at most a quarter of it.
 */
#define MOST_BYTES (UINT64_C(64) << 20)
#define PART_OF_DEVICE 256
/* Two slots of the granularity of every driver so far. */
#define UNIT_BYTES (UINT64_C(4) << 20)
/* Smaller copies do not open a window: through pinned memory they take as long. */
#define LEAST_COPY (UINT64_C(1) << 20)

bool client_windows_create(struct client *opened)
{
    size_t count = (size_t)opened->count * opened->count;

    opened->windows = base_calloc(count, sizeof(*opened->windows));
    for (size_t i = 0; opened->windows && i < count; i++)
        pthread_mutex_init(&opened->windows[i].lock, NULL);
    return opened->windows != NULL;
}

void client_windows_free(struct client *closing)
{
    size_t count = (size_t)closing->count * closing->count;

    for (size_t i = 0; closing->windows && i < count; i++)
        pthread_mutex_destroy(&closing->windows[i].lock);
    base_free(closing->windows);
}

/* --- mappings --------------------------------------------------------------------------------- */

/* Names the process, as another one of the worker may have other memory at the address. */
static pool_cu_result end_range(struct client_worker *worker, unsigned generation,
    enum worker_function function, CUdeviceptr address, uint64_t bytes)
{
    struct client_call call;

    call_begin(&call, function, CLIENT_WAIT);
    call_worker(&call, worker, generation);
    call_word(&call, address);
    call_word(&call, bytes);
    return call_run(&call);
}

static void free_addresses(
    struct client_worker *worker, const struct client_mapping *mapping, uint64_t bytes)
{
    (void)end_range(worker, mapping->generation, WORKER_MemAddressFree, mapping->address,
        base_round_up(bytes, CLIENT_ADDRESS_BLOCK));
}

static void unmap(struct client_worker *worker, struct client_mapping *mapping, uint64_t bytes)
{
    if (mapping->generation && mapping->generation == atomic_load(&worker->generation)) {
        (void)end_range(worker, mapping->generation, WORKER_MemUnmap, mapping->address, bytes);
        free_addresses(worker, mapping, bytes);
        (void)client_cu_MemRelease(mapping->allocation);
    }
    *mapping = (struct client_mapping){0};
}

/* Maps the allocation of the side's process, and releases it after a failure. */
static pool_cu_result map(
    const struct client_side *side, struct client_mapping *mapping, uint64_t bytes)
{
    const pool_cu_mem_access access = {
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = side->worker->ordinal},
        .flags = DRIVER_MEM_ACCESS_FLAGS_PROT_READWRITE};
    pool_cu_result code;

    code = client_cu_MemAddressReserve(&mapping->address, (size_t)bytes, 0, 0, 0);
    if (code)
        goto release;
    code = client_cu_MemMap(mapping->address, (size_t)bytes, 0, mapping->allocation, 0);
    if (code)
        goto free_addresses;
    code = client_cu_MemSetAccess(mapping->address, (size_t)bytes, &access, 1);
    if (!code)
        return code;
    (void)end_range(side->worker, mapping->generation, WORKER_MemUnmap, mapping->address, bytes);
free_addresses:
    free_addresses(side->worker, mapping, bytes);
release:
    (void)client_cu_MemRelease(mapping->allocation);
    *mapping = (struct client_mapping){0};
    return code;
}

/* --- the owner -------------------------------------------------------------------------------- */

/* In the owner's context. */
static pool_cu_result create(struct client_window *window, const struct client_side *owner)
{
    const pool_cu_mem_allocation_prop prop = {.type = DRIVER_MEM_ALLOCATION_TYPE_PINNED,
        .handle_types = DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = DRIVER_MEM_LOCATION_TYPE_DEVICE, .id = owner->worker->ordinal}};
    unsigned generation = atomic_load(&owner->worker->generation);
    size_t device_bytes = 0;
    pool_cu_result code = client_cu_DeviceTotalMem(&device_bytes, owner->worker->ordinal);

    window->bytes = base_min(device_bytes / PART_OF_DEVICE, MOST_BYTES);
    window->bytes -= window->bytes % UNIT_BYTES;
    if (!code && !window->bytes)
        code = POOL_CU_NOT_SUPPORTED;
    if (!code)
        code = client_cu_MemCreate(&window->owner.allocation, (size_t)window->bytes, &prop, 0);
    if (code)
        return code;
    window->owner.generation = generation;
    return map(owner, &window->owner, window->bytes);
}

/* --- the writer ------------------------------------------------------------------------------- */

/* In the writer's context. */
static pool_cu_result import(struct client_window *window, const struct client_side *writer)
{
    unsigned generation = atomic_load(&writer->worker->generation);
    int descriptor = -1;
    pool_cu_result code = client_cu_MemExportToShareableHandle(
        &descriptor, window->owner.allocation, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);

    if (code)
        return code;
    code = client_cu_MemImportFromShareableHandle(&window->writer.allocation,
        (void *)(intptr_t)descriptor, DRIVER_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    close(descriptor);
    if (code)
        return code;
    window->writer.generation = generation;
    return map(writer, &window->writer, window->bytes);
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool is_present(const struct client_mapping *mapping, const struct client_worker *worker)
{
    return mapping->generation && mapping->generation == atomic_load(&worker->generation);
}

static pool_cu_result run_in(CUcontext context, struct client_window *window,
    const struct client_side *side,
    pool_cu_result (*step)(struct client_window *window, const struct client_side *side))
{
    pool_cu_result code = client_cu_CtxPushCurrent(context);

    if (code)
        return code;
    code = step(window, side);
    (void)client_cu_CtxPopCurrent(NULL);
    return code;
}

/* Whether the processes will fail again: not where memory is short, or a process or context ended.
 */
static bool is_lasting(pool_cu_result code)
{
    switch (code) {
    case POOL_CU_OUT_OF_MEMORY:
    case POOL_CU_INVALID_CONTEXT:
    case POOL_CU_CONTEXT_IS_DESTROYED:
    case DRIVER_CODE_LOST:
        return false;
    default:
        return driver_code_class(code) != POOL_CLASS_PROCESS;
    }
}

static void refuse(struct client_window *window, const struct client_worker *owner,
    const struct client_worker *writer, pool_cu_result code)
{
    if (!is_lasting(code))
        return;
    window->refused_owner = atomic_load(&owner->generation);
    window->refused_writer = atomic_load(&writer->generation);
}

bool client_window_open(struct client_window *window, const struct client_side *owner,
    const struct client_side *writer, uint64_t bytes)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    if (is_present(&window->owner, owner->worker) && is_present(&window->writer, writer->worker))
        return true;
    if (bytes < LEAST_COPY ||
        (window->refused_owner == atomic_load(&owner->worker->generation) &&
            window->refused_writer == atomic_load(&writer->worker->generation)))
        return false;
    unmap(writer->worker, &window->writer, window->bytes); /* of a process that has ended */
    if (!is_present(&window->owner, owner->worker)) {
        window->owner = (struct client_mapping){0};
        code = run_in(owner->context, window, owner, create);
    }
    if (!code)
        code = run_in(writer->context, window, writer, import);
    if (code) {
        unmap(owner->worker, &window->owner, window->bytes);
        refuse(window, owner->worker, writer->worker, code);
    }
    return !code;
}
