/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that is streamed through a device in chunks: while one chunk is computed, the next
 * one is uploaded and the previous one is downloaded. All operations use it, also for a single
 * chunk and for device memory, which is not copied.
 */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "zk/operation/exec.h"
#include "zk/operation/operand.h"

enum { PIPELINE_SLOTS = 3, PIPELINE_INPUTS = 2 };

/* A span that is uploaded or downloaded if it is in host memory. */
struct pipeline_span {
    const pool_span *span; /* NULL: none */
    uint64_t item_bytes;
    bool packs; /* the calling thread packs strided items; otherwise the bytes between them are
                   uploaded as well */
};

/* A copy to the device that an upload stage requests. */
struct pipeline_copy {
    pool_buffer *buffer;
    uint64_t offset;
    const unsigned char *host;
    uint64_t bytes, done;
};
enum { PIPELINE_COPIES = 4 };

/* A chunk in progress. */
struct pipeline_chunk {
    uint64_t first; /* item of the call */
    uint64_t count;
    uint32_t slot;
    struct exec_target target; /* with the stream of the stage */
    CUdeviceptr scratch;       /* of the slot */
    /* The chunk's items in device memory. */
    pool_span in[PIPELINE_INPUTS];
    pool_span out;
    /* The memory that `out` is downloaded from. The computation may choose another one, which has
     * to live until the pipeline has run. */
    pool_buffer *result;
    uint64_t result_offset;
    struct pipeline_copy uploads[PIPELINE_COPIES];
    uint32_t upload_count;
};

typedef pool_status (*pipeline_stage)(void *user, struct pipeline_chunk *chunk);

struct pipeline {
    struct exec_target target; /* of the call */
    struct progress *progress;
    uint64_t weight; /* of an item in the progress */
    /* Chunks of `chunk_items` items, or those that `next` sets; it returns false past the last. */
    uint64_t count;
    uint64_t chunk_items; /* also the most of a chunk, where spans are copied */
    bool (*next)(void *user, struct pipeline_chunk *chunk);
    /*
     * Chunks in progress at a time. One: everything is enqueued on the call's stream. Several: each
     * slot has a stream, or, with `is_serial`, the chunks are computed one after the other on the
     * call's stream and one more stream has the copies. Those streams start after the work that the
     * call's stream has, and work that follows there starts after theirs.
     */
    uint32_t slots;
    bool is_serial;
    /*
     * With `is_serial`, and without results to download: `next` is called and the uploads of the
     * next chunk begin while this chunk is computed, in the time in which the host waits for its
     * slices. `next` and `upload` know nothing of the chunk that is computed, and `upload` only
     * calls pipeline_upload.
     */
    bool is_uploaded_ahead;
    struct pipeline_span in[PIPELINE_INPUTS];
    struct pipeline_span out;
    bool is_in_place;       /* results replace the uploaded in[0] and need no memory of their own */
    uint64_t scratch_bytes; /* of device memory for the computation, per slot */
    /* Stages besides the copies of the spans; NULL: none. All but `next` only enqueue work. */
    pipeline_stage upload;
    pipeline_stage compute;
    pipeline_stage finish; /* computes on, without the uploaded or downloaded memory */
    pipeline_stage download;
    void *user;
};

/*
 * Runs all chunks, none where there are no items. A chunk is downloaded after the next one has been
 * enqueued, because copies of pageable memory block the host. Chunks count as progress when a slot
 * is used again and at the end; for that the host waits for them if the call is not asynchronous.
 * After a failure the pipeline's streams have nothing left to do; the caller waits for its own.
 */
pool_status pipeline_run(const struct pipeline *pipeline);

/* In an upload stage, instead of pool_copy_to_device: a copy that may be made in parts. The host
 * memory is read before the chunk's computation is enqueued. */
void pipeline_upload(struct pipeline_chunk *chunk, pool_buffer *buffer, uint64_t offset,
    const void *host, uint64_t bytes);

/* Work that `later` gets from now on starts after the work that `earlier` has. */
pool_status pipeline_order_streams(pool_event *event, pool_stream *earlier, pool_stream *later);

#endif
