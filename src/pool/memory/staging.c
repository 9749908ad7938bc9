/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pageable memory through a ring of pinned slots.
 *
 * The copy is divided into chunks of a slot's size; chunk i uses slot i mod slots. The calling
 * thread makes all driver calls, in the order of the chunks, and copies bytes in between. Threads
 * of the pool that help it only copy bytes between host memory and slots: they make no driver calls
 * and need no context, so faults do not concern them. To the device, a slot is filled and then
 * copied; to the host, it receives a copy and is then read.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/cleanup.h"
#include "pool/memory/memory.h"

enum {
    CHUNKS_PER_THREAD = 2, /* that justify waking another thread */
    MIN_CHUNKS = 8,        /* of a copy, unless they become too short: four threads */
    PAGE_BYTES = 4096
};

struct job {
    struct device_memory *memory;
    const struct memory_transfer *transfer;
    struct memory_ring *ring;
    int to_host; /* from the device to the host */
    uint64_t chunk_bytes;
    uint64_t chunks; /* of the copy */
    pthread_mutex_t lock;
    pthread_cond_t opened;                  /* for helpers: `open` grew, or `stop` */
    pthread_cond_t moved;                   /* for the caller: a chunk was copied */
    uint64_t next;                          /* guarded by lock: the next chunk to copy */
    uint64_t open;                          /* guarded by lock: chunks below this may be copied */
    uint64_t contiguous;                    /* guarded by lock: chunks below this are copied */
    uint64_t moved_chunk[MEMORY_SLOTS_MAX]; /* guarded by lock: 1 + the slot's last copied chunk */
    int stop;                               /* guarded by lock */
    /* Used by the calling thread only. */
    uint64_t enqueued;  /* chunks whose driver copy is enqueued */
    uint64_t completed; /* chunks whose driver copy is known to have completed */
    int is_unsafe;      /* the device may use the ring for an unknown time */
    pool_status status;
};

static uint64_t chunk_bytes(const struct job *job, uint64_t chunk)
{
    uint64_t size = job->chunk_bytes, start = chunk * size;

    return job->transfer->bytes - start < size ? job->transfer->bytes - start : size;
}

static uint32_t slot_of(const struct job *job, uint64_t chunk)
{
    return (uint32_t)(chunk % job->ring->shape.slots);
}

static unsigned char *slot_memory(const struct job *job, uint64_t chunk)
{
    return job->ring->slots + slot_of(job, chunk) * job->chunk_bytes;
}

/* Copies a chunk between host memory and its slot, where rows are adjacent. */
static void move_chunk(const struct job *job, uint64_t chunk)
{
    const struct memory_transfer *transfer = job->transfer;
    unsigned char *slot = slot_memory(job, chunk);
    size_t bytes = (size_t)chunk_bytes(job, chunk), row = bytes;
    uint64_t offset = chunk * job->chunk_bytes, pitch = 0;

    if (transfer->row_bytes) {
        row = (size_t)transfer->row_bytes;
        pitch = transfer->host_pitch;
        offset = offset / row * pitch;
    }
    for (size_t at = 0; at < bytes; at += row, offset += pitch) {
        if (job->to_host)
            memcpy(transfer->host + offset, slot + at, row);
        else
            memcpy(slot + at, transfer->host + offset, row);
    }
    if (job->to_host && transfer->secret)
        base_wipe(slot, bytes);
}

/* Copies the next open chunk; 0 if there is none. Called with the lock held, which is released
 * during the copy. */
static int copy_chunk(struct job *job)
{
    uint64_t chunk = job->next;

    if (job->stop || chunk >= job->open)
        return 0;
    job->next++;
    pthread_mutex_unlock(&job->lock);
    move_chunk(job, chunk);
    pthread_mutex_lock(&job->lock);
    job->moved_chunk[slot_of(job, chunk)] = chunk + 1;
    while (job->contiguous < job->next &&
           job->moved_chunk[slot_of(job, job->contiguous)] == job->contiguous + 1)
        job->contiguous++;
    pthread_cond_signal(&job->moved);
    return 1;
}

static void copy_chunks(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    while (!job->stop && job->next < job->chunks)
        if (!copy_chunk(job))
            pthread_cond_wait(&job->opened, &job->lock);
    pthread_mutex_unlock(&job->lock);
}

/* As many threads as chunks, shape and processors allow, including the caller's. */
static unsigned wanted_threads(const struct job *job)
{
    uint64_t wanted =
        base_min(job->chunks / CHUNKS_PER_THREAD, job->ring->shape.helpers + UINT64_C(1));

    return (unsigned)base_min(wanted, base_processors());
}

/* Opens further chunks, if the number exceeds that of the open ones. Called with the lock held. */
static void set_open(struct job *job, uint64_t open)
{
    open = base_min(open, job->chunks);
    if (open <= job->open)
        return;
    job->open = open;
    pthread_cond_broadcast(&job->opened);
}

/* Whether the end of the chunk's copy matters: so that its bytes are read, its slot is used again
 * or wiped, or as the end of the whole copy. */
static int needs_event(const struct job *job, uint64_t chunk)
{
    return job->to_host || job->transfer->secret || job->chunks > job->ring->shape.slots ||
           chunk + 1 == job->chunks;
}

static pool_status enqueue_rows(const struct job *job, unsigned char *slot, size_t bytes)
{
    const struct memory_transfer *transfer = job->transfer;
    const uint64_t first = job->enqueued * job->chunk_bytes / transfer->row_bytes;
    const pool_cu_copy_side slots = {
        .memory_type = DRIVER_MEMORYTYPE_HOST, .host = slot, .pitch = (size_t)transfer->row_bytes};
    const pool_cu_copy_side device = {.memory_type = DRIVER_MEMORYTYPE_DEVICE,
        .device = transfer->device + first * transfer->device_pitch,
        .pitch = (size_t)transfer->device_pitch};
    const pool_cu_copy_2d rows = {.from = job->to_host ? device : slots,
        .to = job->to_host ? slots : device,
        .width_bytes = (size_t)transfer->row_bytes,
        .height = (size_t)(bytes / transfer->row_bytes)};

    return DRIVER_CALL_FOR(job->memory->driver, Memcpy2DAsync(&rows, transfer->stream),
        "%zu rows of %zu bytes", rows.height, rows.width_bytes);
}

/* Enqueues the driver's copy of the next chunk and records its event. */
static pool_status enqueue_chunk(struct job *job)
{
    const struct memory_transfer *transfer = job->transfer;
    struct driver *driver = job->memory->driver;
    CUdeviceptr device = transfer->device + job->enqueued * job->chunk_bytes;
    unsigned char *slot = slot_memory(job, job->enqueued);
    size_t bytes = (size_t)chunk_bytes(job, job->enqueued);
    pool_status status;

    if (transfer->row_bytes)
        status = enqueue_rows(job, slot, bytes);
    else if (job->to_host)
        status = DRIVER_CALL_FOR(driver, MemcpyDtoHAsync(slot, device, bytes, transfer->stream),
            "%s", base_size_text(bytes).text);
    else
        status = DRIVER_CALL_FOR(driver, MemcpyHtoDAsync(device, slot, bytes, transfer->stream),
            "%s", base_size_text(bytes).text);
    if (!status && needs_event(job, job->enqueued)) {
        status = DRIVER_CALL(
            driver, EventRecord(job->ring->done[slot_of(job, job->enqueued)], transfer->stream));
        job->ring->last = slot_of(job, job->enqueued);
    }
    job->enqueued += !status;
    return status;
}

/* Updates `completed`; with `wait` it waits for at least one more chunk. */
static pool_status poll_completed(struct job *job, int wait)
{
    struct driver *driver = job->memory->driver;

    while (job->completed < job->enqueued) {
        CUevent done = job->ring->done[slot_of(job, job->completed)];
        pool_status status;

        if (wait)
            status = DRIVER_CALL(driver, EventSynchronize(done));
        else
            status = driver_check_query(driver, driver->api.EventQuery(done), "cuEventQuery");
        if (status)
            return status == POOL_ERR_NOT_READY ? POOL_OK : status;
        if (!job->to_host && job->transfer->secret)
            base_wipe(slot_memory(job, job->completed), (size_t)chunk_bytes(job, job->completed));
        job->completed++;
        wait = 0;
    }
    return POOL_OK;
}

/* Fills slots and copies them in order. A slot is open again when its chunk has been copied. */
static pool_status stage_to_device(struct job *job)
{
    uint64_t slots = job->ring->shape.slots;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&job->lock);
    set_open(job, slots);
    while (!status && job->enqueued < job->chunks) {
        int can_enqueue = job->enqueued < job->contiguous, can_move = job->next < job->open;

        if (can_enqueue || !can_move) {
            int all_open_moved = job->contiguous == job->open;

            if (!can_enqueue && !all_open_moved) {
                pthread_cond_wait(&job->moved, &job->lock); /* for the helpers' chunks */
                continue;
            }
            pthread_mutex_unlock(&job->lock);
            if (can_enqueue)
                status = enqueue_chunk(job);
            /* Completed chunks matter if slots have to be used again, and if they are wiped. */
            if (!status && (job->completed + slots < job->chunks || job->transfer->secret))
                status = poll_completed(job, !can_enqueue);
            pthread_mutex_lock(&job->lock);
            set_open(job, job->completed + slots);
        } else {
            copy_chunk(job);
        }
    }
    pthread_mutex_unlock(&job->lock);
    return status;
}

/* Copies to slots and reads them. A slot is used again when it has been read. */
static pool_status stage_to_host(struct job *job)
{
    uint64_t slots = job->ring->shape.slots;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&job->lock);
    while (!status && job->contiguous < job->chunks) {
        uint64_t enqueue_limit = job->contiguous + slots;
        int can_move, waiting;

        enqueue_limit = base_min(enqueue_limit, job->chunks);
        can_move = job->next < job->open;
        waiting = !can_move && job->enqueued >= enqueue_limit;
        if (waiting && job->completed == job->enqueued) {
            pthread_cond_wait(&job->moved, &job->lock); /* for the helpers' chunks */
            continue;
        }
        if (can_move && job->enqueued >= enqueue_limit && job->completed == job->enqueued) {
            copy_chunk(job);
            continue;
        }
        pthread_mutex_unlock(&job->lock);
        while (!status && job->enqueued < enqueue_limit)
            status = enqueue_chunk(job);
        if (!status)
            status = poll_completed(job, !can_move);
        pthread_mutex_lock(&job->lock);
        set_open(job, job->completed);
        if (!status)
            copy_chunk(job);
    }
    pthread_mutex_unlock(&job->lock);
    return status;
}

/*
 * After the last chunk: a failed copy and a copy of a secret wait for the device, and a secret is
 * removed from the slots, whatever else fails.
 */
static pool_status finish_copy(struct job *job, pool_status status)
{
    struct base_error_copy first;
    struct memory_ring *ring = job->ring;
    int secret = job->transfer->secret;

    ring->in_flight = status != POOL_OK || !job->to_host;
    if (!status && !secret)
        return status;
    if (!status) {
        status = poll_completed(job, 1);
        while (!status && job->completed < job->enqueued)
            status = poll_completed(job, 1);
        if (!status)
            ring->in_flight = 0;
    }
    if (status && !device_has_context(job->memory->device)) {
        job->is_unsafe = 1; /* the slots have ended with the context */
        return status;
    }
    if (status) {
        base_error_save(&first);
        /* The event of the last chunk may be missing, so this waits for the whole stream. */
        if (DRIVER_CLEANUP(job->memory->driver, StreamSynchronize(job->transfer->stream)))
            job->is_unsafe = 1;
        else
            ring->in_flight = 0;
        base_error_restore(&first);
    }
    if (secret)
        base_wipe(ring->slots, (size_t)memory_ring_bytes(ring));
    return status;
}

/* The work of the copying thread, whose index is 0, and of its helpers. */
static void copy_as_thread(void *context, unsigned index, unsigned count)
{
    struct job *job = context;

    (void)count;
    if (index) {
        copy_chunks(job);
        return;
    }
    job->status = job->to_host ? stage_to_host(job) : stage_to_device(job);
    pthread_mutex_lock(&job->lock);
    job->stop = 1;
    pthread_cond_broadcast(&job->opened);
    pthread_mutex_unlock(&job->lock);
}

/* Short copies have short chunks, so that several threads share in them and the first chunk is on
 * the link early. Chunks have whole rows. */
static uint64_t chunk_bytes_of(
    const struct memory_staging_shape *shape, const struct memory_transfer *transfer)
{
    uint64_t part = base_ceil_div(transfer->bytes, MIN_CHUNKS * PAGE_BYTES) * PAGE_BYTES;
    uint64_t least = shape->min_chunk_bytes ? shape->min_chunk_bytes : shape->chunk_bytes;
    uint64_t bytes = base_min(base_max(part, least), shape->chunk_bytes);
    uint64_t row = transfer->row_bytes;

    return row ? base_max(bytes / row, 1) * row : bytes;
}

static pool_status stage_copy(
    struct device_memory *memory, const struct memory_transfer *transfer, int to_host)
{
    struct job job = {.memory = memory, .transfer = transfer, .to_host = to_host};
    pool_status status = memory_ring_acquire(
        memory, transfer->bytes, transfer->stream, transfer->priority, &job.ring);

    if (status)
        return status;
    job.chunk_bytes = chunk_bytes_of(&job.ring->shape, transfer);
    job.chunks = base_ceil_div(transfer->bytes, job.chunk_bytes);
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.opened, NULL);
    pthread_cond_init(&job.moved, NULL);
    base_thread_pool_run(
        device_threads(memory->device), wanted_threads(&job), copy_as_thread, &job);
    status = finish_copy(&job, job.status);
    pthread_cond_destroy(&job.moved);
    pthread_cond_destroy(&job.opened);
    pthread_mutex_destroy(&job.lock);
    if (job.is_unsafe)
        memory_ring_abandon(memory, job.ring);
    else
        memory_ring_release(memory, job.ring);
    return status;
}

pool_status memory_stage_in(struct device_memory *memory, const struct memory_transfer *transfer)
{
    return stage_copy(memory, transfer, 0);
}

pool_status memory_stage_out(struct device_memory *memory, const struct memory_transfer *transfer)
{
    return stage_copy(memory, transfer, 1);
}
