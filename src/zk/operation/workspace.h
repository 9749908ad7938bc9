/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workspace of the caller's as the source of a call's scratch memory.
 */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "zk/operation/exec.h"
#include "zk/operation/operand.h"

enum { WORKSPACE_BLOCKS = 48 }; /* more than any operation has at a time */

/*
 * Blocks are cut off where the first gap is large enough. Memory that is free again may be used at
 * once: operations free scratch memory only in the order of the stream that uses it next, or after
 * that stream has been ordered behind it. One thread at a time.
 */
struct workspace {
    pool_buffer *buffer;
    uint32_t count;
    struct workspace_block {
        uint64_t offset;
        uint64_t bytes;
    } block[WORKSPACE_BLOCKS]; /* in use, in their order */
};

/*
 * From now on the target's scratch memory is part of exec->workspace; where that is NULL, it is
 * allocated. The workspace must be memory of the target's device that has `bytes` bytes and
 * is aligned for scratch memory. `workspace` lives as long as the target.
 */
pool_status workspace_open(struct workspace *workspace, const char *call, const pool_exec *exec,
    uint64_t bytes, struct exec_target *target);
/* The checks alone. */
pool_status workspace_check(const char *call, const pool_exec *exec, uint64_t bytes,
    uint32_t alignment, const struct exec_target *target);
/* Whether exec->workspace could be opened with `bytes` bytes. */
bool workspace_fits(const pool_exec *exec, uint64_t bytes);

/* For scratch_allocate and scratch_free. */
pool_status workspace_allocate(
    struct workspace *workspace, uint64_t bytes, pool_buffer **buffer, CUdeviceptr *address);
void workspace_free(struct workspace *workspace, const pool_buffer *buffer);

#endif
