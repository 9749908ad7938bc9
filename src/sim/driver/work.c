/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What streams carry: copies, fills, launches, host functions and so on, and how each is done. The
 * order is the stream's affair (stream.c).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "sim/driver/state.h"

struct sim_op *sim_op_make(enum sim_op_kind kind)
{
    struct sim_op *op = base_calloc(1, sizeof *op);

    if (op)
        op->kind = kind;
    return op;
}

void sim_op_free(struct sim_op *op)
{
    if (!op)
        return;
    if (op->kind == SIM_OP_COPY)
        base_free(op->u.copy.staged);
    if (op->kind == SIM_OP_LAUNCH)
        base_free(op->u.launch.parameters);
    if (op->kind == SIM_OP_RECORD || op->kind == SIM_OP_WAIT)
        sim_marker_release(op->u.marker);
    base_free(op);
}

/* Memory that was freed between the call and now. */
static bool has_vanished(uint64_t address, uint64_t bytes, const char *what, int device)
{
    if (bytes == 0 || sim_memory_find(address, bytes))
        return false;
    sim_poison_text(POOL_CU_ILLEGAL_ADDRESS, device, "use after free",
        "A %s of %llu byte%s at 0x%llx reached its turn in the stream after that memory was freed.",
        what, (unsigned long long)bytes, base_plural(bytes), (unsigned long long)address);
    return true;
}

static void execute_copy(struct sim_stream *stream, struct sim_op *op)
{
    const int device = stream->context->device;
    const uint64_t bytes = op->u.copy.bytes;
    const void *from = op->u.copy.staged ? op->u.copy.staged : (void *)(uintptr_t)op->u.copy.from;

    if ((op->u.copy.checks_to && has_vanished(op->u.copy.to, bytes, "copy to memory", device)) ||
        (op->u.copy.checks_from &&
            has_vanished(op->u.copy.from, bytes, "copy from memory", device)))
        return;
    pthread_mutex_unlock(&sim_state.lock);
    memmove((void *)(uintptr_t)op->u.copy.to, from, bytes);
    pthread_mutex_lock(&sim_state.lock);
}

static void fill(uint64_t to, uint64_t count, uint32_t value, uint32_t width)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)to;

    if (width == 1) {
        memset(byte, (int)value, count);
        return;
    }
    for (uint64_t at = 0; at < count; at++)
        memcpy(byte + at * width, &value, width); /* little-endian host */
}

static void execute_fill(struct sim_stream *stream, struct sim_op *op)
{
    if (has_vanished(
            op->u.fill.to, op->u.fill.count * op->u.fill.width, "fill", stream->context->device))
        return;
    pthread_mutex_unlock(&sim_state.lock);
    fill(op->u.fill.to, op->u.fill.count, op->u.fill.value, op->u.fill.width);
    pthread_mutex_lock(&sim_state.lock);
}

static void execute_host(struct sim_op *op)
{
    pthread_mutex_unlock(&sim_state.lock);
    sim_in_host_function(true);
    op->u.host.function(op->u.host.user);
    sim_in_host_function(false);
    pthread_mutex_lock(&sim_state.lock);
}

void sim_op_execute(struct sim_stream *stream, struct sim_op *op)
{
    struct sim_allocation *allocation;

    switch (op->kind) {
    case SIM_OP_COPY:
        execute_copy(stream, op);
        break;
    case SIM_OP_FILL:
        execute_fill(stream, op);
        break;
    case SIM_OP_LAUNCH:
        sim_launch_execute(stream->context, &op->u.launch);
        break;
    case SIM_OP_HOST:
        execute_host(op);
        break;
    case SIM_OP_FREE:
        allocation = sim_memory_at(op->u.address);
        if (allocation)
            sim_memory_drop(allocation);
        break;
    case SIM_OP_FAULT:
        sim_poison_text(op->u.code, stream->context->device, "injected",
            "A fault rule put this fault into a stream.");
        break;
    default:
        break;
    }
}
