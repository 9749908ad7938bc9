/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of device memory were written, for report=unwritten: a flag for each byte of what
 * cuMemAlloc and the memory pools provide while the report is enabled. Kernels set the flags of
 * what they write; here are those of copies and fills. Memory without flags counts as written: that
 * of the host, of variables, mappings and other processes.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/sim/table/state.h"

/* The flags of large allocations use host memory only where they are touched. */
#define MAPPED_BYTES 65536u

void sim_written_create(struct sim_allocation *allocation)
{
    const bool is_checked =
        allocation->kind == SIM_MEMORY_DEVICE || allocation->kind == SIM_MEMORY_POOLED;
    void *flags;

    if (!is_checked || !(sim_state.reports & POOL_SIM_REPORT_UNWRITTEN))
        return;
    if (allocation->bytes < MAPPED_BYTES) {
        allocation->written = base_calloc(1, allocation->bytes);
        return;
    }
    flags = mmap(NULL, allocation->bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    allocation->written = flags == MAP_FAILED ? NULL : flags;
}

void sim_written_free(struct sim_allocation *allocation)
{
    if (!allocation->written)
        return;
    if (allocation->bytes < MAPPED_BYTES)
        base_free(allocation->written);
    else
        munmap(allocation->written, allocation->bytes);
    allocation->written = NULL;
}

/* The flags of a range within one allocation; NULL: all bytes are written. */
static unsigned char *flags_of(uint64_t address, uint64_t bytes)
{
    const struct sim_allocation *found = sim_memory_find(address, bytes);

    if (!found || !found->written || found->is_all_written)
        return NULL;
    return found->written + (address - found->base);
}

void sim_written_set(uint64_t address, uint64_t bytes)
{
    unsigned char *flags = flags_of(address, bytes);

    if (flags)
        memset(flags, 1, bytes);
}

void sim_written_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    unsigned char *flags = flags_of(to, bytes);
    const unsigned char *source = flags ? flags_of(from, bytes) : NULL;

    if (source)
        memmove(flags, source, bytes);
    else if (flags)
        memset(flags, 1, bytes);
}

void sim_written_forget(void)
{
    sim_memory_write_lock();
    for (size_t at = 0; at < sim_memory_count(); at++)
        sim_memory_item(at)->is_all_written = true;
    sim_memory_write_unlock();
}
