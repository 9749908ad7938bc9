/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that streams execute: copies, fills, launches, host functions and so on. The order is
 * determined in stream.c.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "driver/sim/table/state.h"

struct sim_work *sim_work_create(enum sim_work_kind kind)
{
    struct sim_work *work = base_calloc(1, sizeof(*work));

    if (work)
        work->kind = kind;
    return work;
}

void sim_work_free(struct sim_work *work)
{
    if (!work)
        return;
    if (work->kind == SIM_WORK_COPY)
        base_free(work->u.copy.staged);
    if (work->kind == SIM_WORK_LAUNCH)
        base_free(work->u.launch.parameters);
    if (work->kind == SIM_WORK_RECORD || work->kind == SIM_WORK_WAIT)
        sim_marker_release(work->u.marker);
    base_free(work);
}

/* Detects memory that was freed between the call and its execution. */
static bool was_freed(uint64_t address, uint64_t bytes, const char *what, int device)
{
    if (bytes == 0 || sim_memory_find(address, bytes))
        return false;
    sim_poison_text(POOL_CU_ILLEGAL_ADDRESS, device, "use after free",
        "A %s of %llu byte%s at 0x%llx reached its turn in the stream after that memory was freed.",
        what, (unsigned long long)bytes, base_plural(bytes), (unsigned long long)address);
    return true;
}

static void execute_copy(struct sim_stream *stream, struct sim_work *work)
{
    const int device = stream->context->device;
    const uint64_t bytes = work->u.copy.bytes, last = work->u.copy.rows - 1;
    const uint64_t to_extent = last * work->u.copy.to_pitch + bytes;
    const uint64_t from_extent = last * work->u.copy.from_pitch + bytes;
    const unsigned char *from =
        work->u.copy.staged ? work->u.copy.staged : (void *)(uintptr_t)work->u.copy.from;
    unsigned char *to = (unsigned char *)(uintptr_t)work->u.copy.to;

    if ((work->u.copy.checks_to &&
            was_freed(work->u.copy.to, to_extent, "copy to memory", device)) ||
        (work->u.copy.checks_from &&
            was_freed(work->u.copy.from, from_extent, "copy from memory", device)))
        return;
    for (uint64_t row = 0; row <= last && work->u.copy.checks_to; row++)
        sim_written_copy(work->u.copy.to + row * work->u.copy.to_pitch,
            work->u.copy.checks_from ? work->u.copy.from + row * work->u.copy.from_pitch : 0,
            bytes);
    pthread_mutex_unlock(&sim_state.lock);
    for (uint64_t row = 0; row <= last; row++)
        memmove(to + row * work->u.copy.to_pitch, from + row * work->u.copy.from_pitch, bytes);
    pthread_mutex_lock(&sim_state.lock);
}

static void fill_bytes(uint64_t to, uint64_t count, uint32_t value, uint32_t width)
{
    uint8_t *byte = (uint8_t *)(uintptr_t)to;

    if (width == 1) {
        memset(byte, (int)value, count);
        return;
    }
    for (uint64_t at = 0; at < count; at++)
        memcpy(byte + at * width, &value, width); /* little-endian host */
}

static void execute_fill(struct sim_stream *stream, struct sim_work *work)
{
    if (was_freed(work->u.fill.to, work->u.fill.count * work->u.fill.width, "fill",
            stream->context->device))
        return;
    sim_written_set(work->u.fill.to, work->u.fill.count * work->u.fill.width);
    pthread_mutex_unlock(&sim_state.lock);
    fill_bytes(work->u.fill.to, work->u.fill.count, work->u.fill.value, work->u.fill.width);
    pthread_mutex_lock(&sim_state.lock);
}

static void execute_host(struct sim_work *work)
{
    pthread_mutex_unlock(&sim_state.lock);
    sim_set_in_host_function(true);
    work->u.host.function(work->u.host.user);
    sim_set_in_host_function(false);
    pthread_mutex_lock(&sim_state.lock);
}

void sim_work_execute(struct sim_stream *stream, struct sim_work *work)
{
    struct sim_allocation *allocation;

    switch (work->kind) {
    case SIM_WORK_COPY:
        execute_copy(stream, work);
        break;
    case SIM_WORK_FILL:
        execute_fill(stream, work);
        break;
    case SIM_WORK_LAUNCH:
        sim_launch_execute(stream->context->root, &work->u.launch);
        break;
    case SIM_WORK_HOST:
        execute_host(work);
        break;
    case SIM_WORK_FREE:
        allocation = sim_memory_starting_at(work->u.address);
        if (allocation)
            sim_memory_release(allocation);
        break;
    case SIM_WORK_FAULT:
        sim_poison_text(work->u.code, stream->context->device, "injected",
            "A fault rule put this fault into a stream.");
        break;
    default:
        break;
    }
}
