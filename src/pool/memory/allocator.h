/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of allocations share: allocator.c allocates, release.c frees, account.c counts,
 * quarantine.c has what cannot be freed, device_memory.c creates and ends it all. Called inside
 * device_enter.
 */
#ifndef MEMORY_ALLOCATOR_H
#define MEMORY_ALLOCATOR_H

#include "pool/memory/memory.h"

/* --- account.c -------------------------------------------------------------------------------- */

/* The charge of an allocation to its lease's budget and to the account of the device, which are
 * taken back together; each charge holds a reference to the budget. */
pool_status memory_charge(struct device_memory *memory, const struct memory_request *request);
void memory_uncharge(struct device_memory *memory, const struct memory_request *request);

/* The gauges of memory in use. */
void memory_begin_use(struct device_memory *memory, const struct memory_request *request);
void memory_end_use(struct device_memory *memory, const struct memory_request *request);

/* Memory of other processes, which account for it. */
bool memory_is_foreign(const struct memory_request *request);

/* --- quarantine.c ----------------------------------------------------------------------------- */

struct memory_quarantined {
    struct memory_quarantined *next;
    CUdeviceptr address;
    struct memory_request request;
};

/* Memory that must not be freed is listed and counted. */
void memory_quarantine_request(
    struct device_memory *memory, const struct memory_request *request, CUdeviceptr address);
/* Blocks that fail again are quarantined again. */
void memory_release_quarantined(struct device_memory *memory);
/* What could not be overwritten or unmapped has ended with the process. */
void memory_forget_quarantined(struct device_memory *memory);
/* Frees the list; without a driver call. */
void memory_free_quarantined(struct device_memory *memory);

#endif
