/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a transform that is split over devices share: the run, and its steps in order.
 *
 * Each device has two regions for its elements: FIRST, to which columns are uploaded and in which
 * the results appear, and SECOND, in which the rows that it transforms arrive. All work is enqueued
 * on the devices' streams; events order it across devices.
 */
#ifndef NTT_SPLIT_RUN_H
#define NTT_SPLIT_RUN_H

#include "pool/memory/memory.h"
#include "zk/ntt/split.h"

enum { NTT_SPLIT_FIRST, NTT_SPLIT_SECOND, NTT_SPLIT_REGIONS };
/* READY: other devices may write to the device's regions. SENT: it has written to theirs. UPLOADED:
 * a chunk of columns. */
enum { NTT_SPLIT_READY, NTT_SPLIT_SENT, NTT_SPLIT_UPLOADED, NTT_SPLIT_EVENTS };

struct ntt_split_device {
    struct operation_device of_call;
    pool_span in; /* the device's shard, if the span is sharded */
    pool_span out;
    CUdeviceptr region[NTT_SPLIT_REGIONS];
    pool_buffer *scratch[NTT_SPLIT_REGIONS]; /* NULL for a region that is the shard of the output */
    pool_buffer *view[NTT_SPLIT_REGIONS];    /* of the regions, for copies */
    struct stream_set *set;                  /* the events, and the stream of uploads */
};

struct ntt_split_run {
    const struct ntt_call *call;
    const struct operation_division *division;
    struct ntt_split plan;
    uint32_t count;              /* of devices */
    uint64_t local;              /* elements per device */
    pool_ntt_domain *of_columns; /* of the transforms of columns: 2^log_rows points */
    pool_ntt_domain *of_rows;
    bool is_direct;     /* every device can address the memory of every other */
    bool uploads_2d;    /* several rows are copied at once */
    bool downloads_2d;  /* runs of rows are copied to their places, otherwise collected before */
    uint64_t transform; /* of the batch, in progress */
    struct fork fork;
    struct ntt_split_device device[NTT_SPLIT_DEVICES];
};

static inline uint64_t ntt_split_element_bytes(const struct ntt_split_run *run)
{
    return run->call->frame.target.field->bytes;
}

static inline bool ntt_split_is_on_host(const pool_span *span)
{
    return span->space == POOL_MEMORY_HOST;
}

/* The regions of the transform that is computed now, where they are parts of a shard. */
static inline CUdeviceptr ntt_split_part_of(const struct ntt_split_run *run, const pool_span *shard)
{
    return (CUdeviceptr)(uintptr_t)shard->data +
           run->transform * run->local * ntt_split_element_bytes(run);
}

/* --- split_open.c ----------------------------------------------------------------------------- */

/* Of each device, for the transform of one element of the batch. */
uint64_t ntt_split_bytes_of_device(const struct ntt_call *call, const struct ntt_split *plan);
/* Validates the shards, and allocates what the devices need. After a failure the run is closed,
 * too. */
pool_status ntt_split_open(struct ntt_split_run *run);
/* Once no work uses the regions or the caller's memory; `status` is that of the run. */
pool_status ntt_split_close(struct ntt_split_run *run, pool_status status);

/* --- split_columns.c -------------------------------------------------------------------------- */

/* Device `index` transforms its columns and stores them where their rows are transformed; `user` is
 * the run. */
pool_status ntt_split_columns(void *user, uint32_t index, const pool_exec *exec);

/* --- split_exchange.c ------------------------------------------------------------------------- */

/* Work that device `index` gets from now on starts after `event` of all devices. */
pool_status ntt_split_wait(struct ntt_split_run *run, uint32_t index, int event);
pool_status ntt_split_record(struct ntt_split_run *run, uint32_t index, int event);
/* Without peer access: what the columns' kernels have stored is copied to the devices of its rows.
 */
pool_status ntt_split_exchange(struct ntt_split_run *run);
/* Each device has the same rows of all columns, and gets all rows of some columns. */
pool_status ntt_split_collect(struct ntt_split_run *run);

#endif
