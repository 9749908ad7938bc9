/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight: what has been enqueued on each device and is not known to have finished.
 *
 * After a sticky fault every query of every stream returns the fault, so the driver can no longer
 * say what had finished. The library must know it before, and without a driver call per launch:
 * each stream has a queue that counts enqueued work, and every successful wait or query of the
 * library records up to which position the queue has finished. Work that is counted as unfinished
 * may have finished long ago; all other work has certainly finished.
 */
#ifndef DRIVER_WORK_H
#define DRIVER_WORK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "driver/driver.h"

/*
 * The number of launches per device whose names are stored. In the library's operations the host is
 * some ten launches ahead of a stream, so this suffices for eight streams.
 */
#define DRIVER_WORK_LAUNCHES 64

/* The bytes of a label, the terminating zero included; longer ones are cut. */
#define DRIVER_LABEL_BYTES 64

/* A label, which one thread may write while others read it: they may then see parts of both. */
struct driver_label {
    atomic_uint_least64_t words[DRIVER_LABEL_BYTES / 8];
};

/* The work of one stream. Positions count from 1 and only grow. */
struct driver_queue {
    atomic_uint_least64_t begun;    /* enqueued, or just about to be */
    atomic_uint_least64_t returned; /* of these, the number whose driver call has returned */
    atomic_uint_least64_t finished; /* everything up to this position has finished */
    atomic_uint_least64_t launched; /* position of the last kernel */
    _Atomic(const char *) kernel;   /* its name */
    struct driver_label kernel_label;
    struct driver_label label; /* of launches from now on; empty: none */
    _Atomic(void *) stream;    /* its completion completes the queue; NULL: the default stream */
    int is_used;               /* by a stream object; guarded by the work's lock */
    struct driver_queue *next; /* constant */
};

struct driver_launch {
    atomic_uint_least64_t number; /* of the launch on its device, from 1; 0: being written */
    atomic_uint_least64_t position;
    _Atomic(const char *) kernel;
    _Atomic(struct driver_queue *) queue;
    struct driver_label label;
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
    atomic_bool is_shared;                 /* through an MPS server, with other processes */
    _Alignas(128) atomic_uint_least64_t launches;
    struct driver_launch last[DRIVER_WORK_LAUNCHES];
};

/* `work` must be zeroed. While it is open, the driver's first fault reports its unfinished work. */
pool_status driver_work_open(
    struct driver_work *work, struct driver *driver, int device, const char *uuid);
void driver_work_close(struct driver_work *work);

/* The device is used through an MPS server: a fault of one of its clients ends the work of all, so
 * that a fault need not be due to this work. */
void driver_work_set_shared(struct driver_work *work);

/* A copy of `name` that lives as long as the work; NULL: out of memory. */
const char *driver_work_name(struct driver_work *work, const char *name);

/* A queue for a new stream; NULL: out of memory. */
struct driver_queue *driver_queue_acquire(struct driver_work *work, void *stream);
/*
 * The stream ends. Its unfinished work completes with `successor`, which waits for it; with
 * `is_done` no work is unfinished. The stream is not queried any more.
 */
void driver_queue_release(
    struct driver_work *work, struct driver_queue *queue, void *successor, int is_done);

/* The queue's work completes with `stream` from now on. */
void driver_queue_redirect(struct driver_work *work, struct driver_queue *queue, void *stream);

/* What launches on the queue's stream belong to from now on, for messages: the label of a lease.
 * NULL or "": nothing. Any thread; a new queue has none. */
void driver_queue_set_label(struct driver_queue *queue, const char *label);

/* The device's streams are destroyed: none of them is queried any more. */
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

/* The launch failed and was not enqueued; to be called before the failure is reported. */
void driver_work_failed(const struct driver_ticket *ticket);

/*
 * A position in a queue. The mark is taken before a wait or query, and driver_work_reached is
 * called when that reports that the stream is idle. While another thread's call is in progress on
 * the stream it is unknown whether the wait covers it: the position is then 0.
 */
struct driver_mark {
    struct driver_queue *queue;
    uint64_t position; /* 0: none */
};

static inline struct driver_mark driver_work_mark(struct driver_queue *queue)
{
    /* In this order: if both are equal, every call that had begun had returned. */
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

/* Writes marks at the end of all work that is unfinished now, at most `capacity`, and returns their
 * number; with NULL it only counts. */
uint32_t driver_work_unfinished(
    const struct driver_work *work, struct driver_mark *marks, uint32_t capacity);

/* The unfinished work of a device, as far as it is known now. */
struct driver_load {
    uint32_t streams; /* with unfinished work */
    uint64_t items;   /* launches, copies and fills */
};
struct driver_load driver_work_load(const struct driver_work *work);

/*
 * Waits for all work of the device, the caller's own included. The device's context must be
 * current.
 */
pool_status driver_work_synchronize(struct driver_work *work);

/* The sum of the positions up to which the queues have finished; it only grows. */
uint64_t driver_work_finished(const struct driver_work *work);

/* Records in `fault` the kernels of one device that are not known to have finished, and appends
 * them to its message. */
void driver_work_list(struct driver_work *work, struct driver_fault *fault);

/* Appends the kernels of a device of the table's driver, in all pools, that are not known to have
 * finished; what does not fit is cut. */
void driver_work_append(const pool_cuda_api *table, int device, char *text, size_t size);

/*
 * Queries the streams that have unfinished work, or with `all` every stream, including those that
 * the caller may have enqueued work to directly. The device's context must be current. NOT_READY
 * while work is unfinished, another failure if a stream cannot be queried.
 */
pool_status driver_work_poll(struct driver_work *work, int all);

/*
 * Records in the fault which work was unfinished on which device and the culprit, if it is certain,
 * and appends both to the message. Called with the state lock held.
 */
void driver_work_explain(const struct driver *driver, struct driver_fault *fault);

#endif
