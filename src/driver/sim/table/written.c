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

/* In front of the flags of an allocation. */
struct flags {
    struct flags *next; /* of those that were freed while launches ran */
    uint64_t bytes;     /* this included */
};

/* Guarded by sim_state.lock. A launch keeps addresses of flags without a lock, also of memory that
 * another stream frees meanwhile, so flags are freed when no launch runs. */
static struct flags *retired;
static unsigned launches;

static void free_flags(struct flags *flags)
{
    if (flags->bytes < MAPPED_BYTES)
        base_free(flags);
    else
        munmap(flags, flags->bytes);
}

void sim_written_begin_launch(void)
{
    launches++;
}

void sim_written_end_launch(void)
{
    if (--launches)
        return;
    while (retired) {
        struct flags *flags = retired;

        retired = flags->next;
        free_flags(flags);
    }
}

void sim_written_create(struct sim_allocation *allocation)
{
    const bool is_checked =
        allocation->kind == SIM_MEMORY_DEVICE || allocation->kind == SIM_MEMORY_POOLED;
    const uint64_t bytes = sizeof(struct flags) + allocation->bytes;
    struct flags *flags;

    if (!is_checked || !(sim_state.reports & POOL_SIM_REPORT_UNWRITTEN))
        return;
    if (bytes < MAPPED_BYTES) {
        flags = base_calloc(1, bytes);
    } else {
        flags = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (flags == MAP_FAILED)
            flags = NULL;
    }
    if (!flags)
        return;
    flags->bytes = bytes;
    allocation->written = (unsigned char *)(flags + 1);
}

void sim_written_free(struct sim_allocation *allocation)
{
    struct flags *flags;

    if (!allocation->written)
        return;
    flags = (struct flags *)(void *)allocation->written - 1;
    allocation->written = NULL;
    if (!launches) {
        free_flags(flags);
        return;
    }
    flags->next = retired;
    retired = flags;
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
