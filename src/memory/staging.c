/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pageable memory through a ring of pinned slots.
 *
 * The copy is cut into pieces of a slot's size; piece p uses slot p mod slots. The calling thread
 * makes all driver calls, in the order of the pieces, and copies bytes when there is nothing to
 * call. The ring's helper threads only move bytes between host memory and slots: they make no
 * driver calls, need no context, and wait between copies, so that a fault never meets one. On the
 * way in a slot is filled, then sent; on the way out it is received, then emptied.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "driver/cleanup.h"
#include "memory/memory.h"

/* Pieces for each thread before it pays to wake another one. */
#define PIECES_PER_THREAD 2

struct job {
    struct device_memory *memory;
    const struct memory_transfer *transfer;
    struct memory_ring *ring;
    int outward;     /* from the device to the host */
    uint64_t pieces; /* all of them */
    pthread_mutex_t lock;
    pthread_cond_t opened;                  /* for helpers: `open` grew, or `stop` */
    pthread_cond_t moved;                   /* for the caller: a piece was moved */
    uint64_t next;                          /* guarded by lock: the piece that is taken next */
    uint64_t open;                          /* guarded by lock: pieces below this may be moved */
    uint64_t contiguous;                    /* guarded by lock: pieces below this are moved */
    uint64_t moved_piece[MEMORY_SLOTS_MAX]; /* guarded by lock: 1 + the last piece moved there */
    int stop;                               /* guarded by lock */
    /* The caller's alone. */
    uint64_t issued;  /* pieces whose driver copy is enqueued */
    uint64_t arrived; /* pieces whose driver copy is known to be done */
    int lost;         /* nobody knows when the device is done with the ring */
    pool_status status;
};

static uint64_t piece_bytes(const struct job *job, uint64_t piece)
{
    uint64_t size = job->ring->shape.piece_bytes, start = piece * size;

    return job->transfer->bytes - start < size ? job->transfer->bytes - start : size;
}

static uint32_t slot_of(const struct job *job, uint64_t piece)
{
    return (uint32_t)(piece % job->ring->shape.slots);
}

static unsigned char *slot_memory(const struct job *job, uint64_t piece)
{
    return job->ring->slots + (size_t)slot_of(job, piece) * job->ring->shape.piece_bytes;
}

/* Under the lock, given up while the bytes move: takes a piece that is open. 0: there is none. */
static int move_one(struct job *job)
{
    uint64_t piece = job->next;
    unsigned char *host, *slot;
    size_t bytes;

    if (job->stop || piece >= job->open)
        return 0;
    job->next++;
    host = job->transfer->host + piece * job->ring->shape.piece_bytes;
    slot = slot_memory(job, piece);
    bytes = (size_t)piece_bytes(job, piece);
    pthread_mutex_unlock(&job->lock);
    if (job->outward)
        memcpy(host, slot, bytes);
    else
        memcpy(slot, host, bytes);
    if (job->outward && job->transfer->secret)
        base_wipe(slot, bytes);
    pthread_mutex_lock(&job->lock);
    job->moved_piece[slot_of(job, piece)] = piece + 1;
    while (job->contiguous < job->next &&
           job->moved_piece[slot_of(job, job->contiguous)] == job->contiguous + 1)
        job->contiguous++;
    pthread_cond_signal(&job->moved);
    return 1;
}

static void move_until_done(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    while (!job->stop && job->next < job->pieces)
        if (!move_one(job))
            pthread_cond_wait(&job->opened, &job->lock);
    pthread_mutex_unlock(&job->lock);
}

/* Reserves as many threads as the work, the shape and the processors allow, the caller's included;
 * fewer when threads cannot be started. */
static unsigned acquire_threads(const struct job *job)
{
    struct memory_ring *ring = job->ring;
    uint64_t wanted = base_min(job->pieces / PIECES_PER_THREAD, ring->shape.helpers + 1);

    if (wanted > 1 && !ring->helpers)
        base_thread_pool_create(
            (unsigned)base_min(base_processors(), ring->shape.helpers + 1), &ring->helpers);
    return base_thread_pool_acquire(ring->helpers, (unsigned)wanted);
}

/* Under the lock. */
static void open_up_to(struct job *job, uint64_t open)
{
    job->open = base_min(open, job->pieces);
    pthread_cond_broadcast(&job->opened);
}

/* Enqueues the driver's part of the next piece, with its event. */
static pool_status issue(struct job *job)
{
    const struct memory_transfer *transfer = job->transfer;
    struct driver *driver = job->memory->driver;
    CUdeviceptr device = transfer->device + job->issued * job->ring->shape.piece_bytes;
    unsigned char *slot = slot_memory(job, job->issued);
    size_t bytes = (size_t)piece_bytes(job, job->issued);
    pool_status status;

    if (job->outward)
        status = DRIVER_CALL_FOR(driver, MemcpyDtoHAsync(slot, device, bytes, transfer->stream),
            "%s", base_size_text(bytes).text);
    else
        status = DRIVER_CALL_FOR(driver, MemcpyHtoDAsync(device, slot, bytes, transfer->stream),
            "%s", base_size_text(bytes).text);
    if (!status)
        status = DRIVER_CALL(
            driver, EventRecord(job->ring->done[slot_of(job, job->issued)], transfer->stream));
    if (!status)
        job->issued++;
    return status;
}

/* Learns which of the issued copies are done; with `wait` at least one more will be. */
static pool_status learn_arrived(struct job *job, int wait)
{
    struct driver *driver = job->memory->driver;

    while (job->arrived < job->issued) {
        CUevent done = job->ring->done[slot_of(job, job->arrived)];
        pool_status status;

        if (wait)
            status = DRIVER_CALL(driver, EventSynchronize(done));
        else
            status = driver_check_query(driver, driver->api.EventQuery(done), "cuEventQuery");
        if (status)
            return status == POOL_ERR_NOT_READY ? POOL_OK : status;
        if (!job->outward && job->transfer->secret)
            base_wipe(slot_memory(job, job->arrived), (size_t)piece_bytes(job, job->arrived));
        job->arrived++;
        wait = 0;
    }
    return POOL_OK;
}

/* Fill slots, send them in order. A slot is open again when what it held has arrived. */
static pool_status run_inward(struct job *job)
{
    uint64_t slots = job->ring->shape.slots;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&job->lock);
    open_up_to(job, slots);
    while (!status && job->issued < job->pieces) {
        int can_issue = job->issued < job->contiguous, can_move = job->next < job->open;

        if (can_issue || !can_move) {
            int all_open_moved = job->contiguous == job->open;

            if (!can_issue && !all_open_moved) {
                pthread_cond_wait(&job->moved, &job->lock); /* helpers have the rest */
                continue;
            }
            pthread_mutex_unlock(&job->lock);
            if (can_issue)
                status = issue(job);
            if (!status)
                status = learn_arrived(job, !can_issue);
            pthread_mutex_lock(&job->lock);
            if (job->arrived + slots > job->open)
                open_up_to(job, job->arrived + slots);
        } else {
            move_one(job);
        }
    }
    pthread_mutex_unlock(&job->lock);
    return status;
}

/* Receive into slots, empty them. A slot is received into again when it was emptied. */
static pool_status run_outward(struct job *job)
{
    uint64_t slots = job->ring->shape.slots;
    pool_status status = POOL_OK;

    pthread_mutex_lock(&job->lock);
    while (!status && job->contiguous < job->pieces) {
        uint64_t may_issue = job->contiguous + slots;
        int can_move, waiting;

        may_issue = base_min(may_issue, job->pieces);
        can_move = job->next < job->open;
        waiting = !can_move && job->issued >= may_issue;
        if (waiting && job->arrived == job->issued) {
            pthread_cond_wait(&job->moved, &job->lock); /* helpers have the rest */
            continue;
        }
        if (can_move && job->issued >= may_issue && job->arrived == job->issued) {
            move_one(job);
            continue;
        }
        pthread_mutex_unlock(&job->lock);
        while (!status && job->issued < may_issue)
            status = issue(job);
        if (!status)
            status = learn_arrived(job, waiting);
        pthread_mutex_lock(&job->lock);
        open_up_to(job, job->arrived);
        if (!status)
            move_one(job);
    }
    pthread_mutex_unlock(&job->lock);
    return status;
}

/*
 * After the pieces: what is still on its way. A failed copy and one of a secret wait for the device
 * and leave nothing in the slots, whatever else fails.
 */
static pool_status finish(struct job *job, pool_status status)
{
    struct base_error_copy first;
    struct memory_ring *ring = job->ring;
    int secret = job->transfer->secret;

    ring->in_flight = status != POOL_OK || !job->outward;
    if (!status && !secret)
        return status;
    if (!status) {
        status = learn_arrived(job, 1);
        while (!status && job->arrived < job->issued)
            status = learn_arrived(job, 1);
        if (!status)
            ring->in_flight = 0;
    }
    if (status) {
        base_error_save(&first);
        /* Without the event of the last piece only the stream knows when the slots are quiet. */
        if (DRIVER_CLEANUP(job->memory->driver, StreamSynchronize(job->transfer->stream)))
            job->lost = 1;
        else
            ring->in_flight = 0;
        base_error_restore(&first);
    }
    if (secret)
        base_wipe(ring->slots, (size_t)memory_ring_bytes(ring));
    return status;
}

/* The work of the copying thread, whose index is 0, and of its helpers. */
static void copy_pieces(void *argument, unsigned index)
{
    struct job *job = argument;

    if (index) {
        move_until_done(job);
        return;
    }
    job->status = job->outward ? run_outward(job) : run_inward(job);
    pthread_mutex_lock(&job->lock);
    job->stop = 1;
    pthread_cond_broadcast(&job->opened);
    pthread_mutex_unlock(&job->lock);
}

static pool_status run(
    struct device_memory *memory, const struct memory_transfer *transfer, int outward)
{
    struct job job = {.memory = memory, .transfer = transfer, .outward = outward};
    pool_status status = memory_ring_take(memory, &job.ring);

    if (status)
        return status;
    job.pieces = base_ceil_div(transfer->bytes, job.ring->shape.piece_bytes);
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.opened, NULL);
    pthread_cond_init(&job.moved, NULL);
    base_thread_pool_run(job.ring->helpers, acquire_threads(&job), copy_pieces, &job);
    status = finish(&job, job.status);
    pthread_cond_destroy(&job.moved);
    pthread_cond_destroy(&job.opened);
    pthread_mutex_destroy(&job.lock);
    if (job.lost)
        memory_ring_abandon(memory, job.ring);
    else
        memory_ring_give(memory, job.ring);
    return status;
}

pool_status memory_stage_in(struct device_memory *memory, const struct memory_transfer *transfer)
{
    return run(memory, transfer, 0);
}

pool_status memory_stage_out(struct device_memory *memory, const struct memory_transfer *transfer)
{
    return run(memory, transfer, 1);
}
