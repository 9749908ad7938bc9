/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight: what has been enqueued on each device and is not known to have finished.
 *
 * After a sticky fault every stream of every device answers the fault, so nobody can be asked any
 * more what had finished. It has to be known before, and without a driver call per launch: each
 * stream has a queue that counts what is enqueued, and every wait or query of the library that
 * succeeds says up to where the queue has finished. What is counted may have finished long ago;
 * what is not counted has finished for certain.
 */
#ifndef DRIVER_WORK_H
#define DRIVER_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "driver/driver.h"

/*
 * The last launches of a device that are kept by name. A stream runs some ten launches ahead of the
 * host in the library's own operations; eight streams then have room.
 */
#define DRIVER_WORK_LAUNCHES 64

/* The work of one stream. Positions count from 1 and never go back. */
struct driver_queue {
    atomic_uint_least64_t begun;    /* enqueued, or just about to be */
    atomic_uint_least64_t returned; /* of these, how many the driver call has returned for */
    atomic_uint_least64_t finished; /* all up to this position have finished */
    atomic_uint_least64_t launched; /* position of the last kernel */
    _Atomic(const char *) kernel;   /* its name */
    _Atomic(void *) stream;         /* whose completion is that of this queue; NULL: the default */
    int is_used;                    /* guarded by the work's lock: a stream object has it */
    struct driver_queue *next;      /* constant */
};

struct driver_launch {
    atomic_uint_least64_t number; /* of the launch on its device, from 1; 0: being written */
    atomic_uint_least64_t position;
    _Atomic(const char *) kernel;
    _Atomic(struct driver_queue *) queue;
};

struct driver_kernel_name {
    struct driver_kernel_name *next;
    char text[];
};

/* The work of one device of a pool. */
struct driver_work {
    struct driver *driver; /* NULL: not opened */
    int device;            /* ordinal */
    char name[80];         /* "device 2 (GPU-…)" */
    pthread_mutex_t lock;  /* for queues' streams and names; no lock is taken under it */
    struct driver_queue default_queue;
    _Atomic(struct driver_queue *) queues; /* grows only */
    struct driver_kernel_name *names;      /* guarded by lock, grows only */
    struct driver_work *next;              /* guarded by the state lock of drivers */
    _Alignas(128) atomic_uint_least64_t launches;
    struct driver_launch last[DRIVER_WORK_LAUNCHES];
};

/* `work` is zeroed. While it is open the driver's first fault reports what is unfinished in it. */
pool_status driver_work_open(
    struct driver_work *work, struct driver *driver, int device, const char *uuid);
void driver_work_close(struct driver_work *work);

/* A copy of `name` that lives as long as the work; NULL: out of memory. */
const char *driver_work_name(struct driver_work *work, const char *name);

/* A queue for a new stream; NULL: out of memory. */
struct driver_queue *driver_queue_take(struct driver_work *work, void *stream);
/*
 * The stream ends. What is unfinished on it is done when `heir` is, which waits for it; with
 * `is_done` nothing is. From here on the stream is not asked any more.
 */
void driver_queue_give(
    struct driver_work *work, struct driver_queue *queue, void *heir, int is_done);

/* The streams of the device are gone: nothing of it is asked for any more. */
void driver_work_end(struct driver_work *work);

/* Around a driver call that enqueues something. */
static inline void driver_work_begin(struct driver_queue *queue)
{
    atomic_fetch_add_explicit(&queue->begun, 1, memory_order_relaxed);
}

static inline void driver_work_returned(struct driver_queue *queue)
{
    atomic_fetch_add_explicit(&queue->returned, 1, memory_order_release);
}

/* A launch between its begin and the return of the driver call. */
struct driver_ticket {
    struct driver_queue *queue;
    struct driver_launch *launch;
    uint64_t number, position, before; /* before: the queue's last launch until then */
};

void driver_work_launch(struct driver_work *work, struct driver_queue *queue, const char *kernel,
    struct driver_ticket *ticket);

/* The driver has refused the launch: it is not enqueued. Before the failure is reported. */
void driver_work_refused(const struct driver_ticket *ticket);

/*
 * How far a queue has got. The mark is taken before a wait or query, and driver_work_reached called
 * when that says that the stream has nothing left to do. While another thread's call is under way
 * on the stream there is no saying whether the wait covers it: the mark is then none.
 */
struct driver_mark {
    struct driver_queue *queue;
    uint64_t position; /* 0: none */
};

static inline struct driver_mark driver_work_mark(struct driver_queue *queue)
{
    /* In this order: then all that had begun when `begun` was read had returned before. */
    uint64_t returned = atomic_load_explicit(&queue->returned, memory_order_acquire);
    uint64_t begun = atomic_load_explicit(&queue->begun, memory_order_acquire);

    return (struct driver_mark){queue, begun == returned ? begun : 0};
}

void driver_work_reached(struct driver_mark mark);

static inline uint64_t driver_queue_unfinished(const struct driver_queue *queue)
{
    uint64_t finished = atomic_load_explicit(&queue->finished, memory_order_acquire);
    uint64_t begun = atomic_load_explicit(&queue->begun, memory_order_acquire);

    return begun > finished ? begun - finished : 0;
}

static inline int driver_mark_is_reached(struct driver_mark mark)
{
    return atomic_load_explicit(&mark.queue->finished, memory_order_acquire) >= mark.position;
}

/* Marks at the end of all that is unfinished now, at most `room` of them; how many. With NULL only
 * counts. */
uint32_t driver_work_unfinished(
    const struct driver_work *work, struct driver_mark *marks, uint32_t room);

/* What is unfinished on a device, as far as it is known now. */
struct driver_load {
    uint32_t streams; /* with something unfinished */
    uint64_t items;   /* launches, copies and fills */
};
struct driver_load driver_work_load(const struct driver_work *work);

/*
 * Asks the driver about the streams that have something unfinished; with `all` about every stream,
 * also one that the caller may have enqueued to by himself. Inside the device's context. NOT_READY
 * when something is unfinished, a failure when a stream cannot be asked.
 */
pool_status driver_work_poll(struct driver_work *work, int all);

/*
 * Fills into the fault what was unfinished where, names the culprit if it is certain, and appends
 * both to the message. With the state lock held.
 */
void driver_work_blame(const struct driver *driver, struct driver_fault *fault);

#endif
