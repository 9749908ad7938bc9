/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch memory from the caller's workspace: see workspace.h. */
#include "zk/operation/workspace.h"

#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "pool/memory/memory.h"

bool workspace_fits(const pool_exec *exec, uint64_t bytes)
{
    CUdeviceptr address = 0;

    return exec->workspace && pool_buffer_bytes(exec->workspace) >= bytes &&
           !pool_buffer_address(exec->workspace, &address) &&
           address % MEMORY_SCRATCH_ALIGNMENT == 0;
}

pool_status workspace_check(const char *call, const pool_exec *exec, uint64_t bytes,
    uint32_t alignment, const struct exec_target *target)
{
    pool_buffer *given = exec->workspace;
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(given, &address);

    if (status)
        return status;
    if (!device_is_same_gpu(pool_buffer_device(given), target->device))
        return base_fail(POOL_ERR_WRONG_DEVICE, "%s: `workspace` is memory of device %d, not of %d",
            call, pool_device_ordinal(pool_buffer_device(given)),
            pool_device_ordinal(target->device));
    if (pool_buffer_bytes(given) < bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: `workspace` has %llu bytes; %llu are needed", call,
            (unsigned long long)pool_buffer_bytes(given), (unsigned long long)bytes);
    if (address % alignment)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: `workspace` is not aligned to %u bytes",
            call, alignment);
    return POOL_OK;
}

pool_status workspace_open(struct workspace *workspace, const char *call, const pool_exec *exec,
    uint64_t bytes, struct exec_target *target)
{
    pool_status status = POOL_OK;

    if (!exec->workspace)
        return POOL_OK;
    status = workspace_check(call, exec, bytes, MEMORY_SCRATCH_ALIGNMENT, target);
    workspace->buffer = exec->workspace;
    workspace->count = 0;
    if (!status)
        target->workspace = workspace;
    return status;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The index that a block of `bytes` gets, and where it begins. */
static uint32_t find_gap(const struct workspace *workspace, uint64_t bytes, uint64_t *offset)
{
    uint32_t index = 0;

    *offset = 0;
    while (index < workspace->count && workspace->block[index].offset - *offset < bytes) {
        *offset = workspace->block[index].offset + workspace->block[index].bytes;
        index++;
    }
    return index;
}

pool_status workspace_allocate(
    struct workspace *workspace, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address)
{
    const uint64_t all = pool_buffer_bytes(workspace->buffer);
    uint64_t offset;
    const uint32_t index = find_gap(workspace, bytes, &offset);
    pool_status status;

    if (offset > all || bytes > all - offset || workspace->count == WORKSPACE_BLOCKS)
        return base_fail(POOL_ERR_INTERNAL,
            "the workspace of %s has no space for %s besides %u other blocks",
            base_size_text(all).text, base_size_text(bytes).text, workspace->count);
    status = memory_buffer_part(workspace->buffer, offset, bytes, buffer);
    if (status)
        return status;
    memmove(&workspace->block[index + 1], &workspace->block[index],
        (workspace->count - index) * sizeof(workspace->block[0]));
    workspace->block[index] = (struct workspace_block){offset, bytes};
    workspace->count++;
    return pool_buffer_address(*buffer, address);
}

void workspace_free(struct workspace *workspace, const pool_buffer *buffer)
{
    const uint64_t offset = buffer->address - workspace->buffer->address;

    for (uint32_t i = 0; i < workspace->count; i++)
        if (buffer->block == workspace->buffer->block && workspace->block[i].offset == offset) {
            workspace->count--;
            memmove(&workspace->block[i], &workspace->block[i + 1],
                (workspace->count - i) * sizeof(workspace->block[0]));
            return;
        }
}
