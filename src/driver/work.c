/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in flight: queues, the last launches by name, and the search for a fault's cause.
 */
#include "driver/work.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/internal.h"

/* The maximum number of kernels per device in a first cause, so that one device does not fill the
 * list. */
#define NAMED_PER_DEVICE 4

pool_status driver_work_open(
    struct driver_work *work, struct driver *driver, int device, const char *uuid)
{
    if (pthread_mutex_init(&work->lock, NULL))
        return base_fail_memory("a lock");
    work->device = device;
    snprintf(work->name, sizeof(work->name), "device %d (%s)", device, uuid);
    work->default_queue.is_used = 1;
    atomic_store(&work->queues, &work->default_queue);
    work->driver = driver;
    driver_state_lock();
    work->next = driver->works;
    driver->works = work;
    driver_state_unlock();
    return POOL_OK;
}

void driver_work_set_shared(struct driver_work *work)
{
    atomic_store(&work->is_shared, true);
}

void driver_work_close(struct driver_work *work)
{
    struct driver_work **link;

    if (!work->driver)
        return;
    driver_state_lock();
    for (link = &work->driver->works; *link && *link != work; link = &(*link)->next)
        ;
    if (*link)
        *link = work->next;
    driver_state_unlock();
    for (struct driver_queue *at = atomic_load(&work->queues), *next; at; at = next) {
        next = at->next;
        if (at != &work->default_queue)
            base_free(at);
    }
    for (struct driver_kernel_name *at = work->names, *next; at; at = next) {
        next = at->next;
        base_free(at);
    }
    /* In a forked child the lock may be held by a thread that does not exist there. */
    if (work->driver->generation == driver_fork_generation())
        pthread_mutex_destroy(&work->lock);
    work->driver = NULL;
}

const char *driver_work_name(struct driver_work *work, const char *name)
{
    struct driver_kernel_name *at;

    pthread_mutex_lock(&work->lock);
    for (at = work->names; at && strcmp(at->text, name) != 0;)
        at = at->next;
    if (!at) {
        at = base_calloc(1, sizeof(*at) + strlen(name) + 1);
        if (at) {
            memcpy(at->text, name, strlen(name) + 1);
            at->next = work->names;
            work->names = at;
        }
    }
    pthread_mutex_unlock(&work->lock);
    return at ? at->text : NULL;
}

void driver_queue_set_label(struct driver_queue *queue, const char *label)
{
    uint64_t words[DRIVER_LABEL_BYTES / 8] = {0};

    if (label)
        snprintf((char *)words, sizeof(words), "%s", label);
    for (size_t i = 0; i < DRIVER_LABEL_BYTES / 8; i++)
        atomic_store_explicit(&queue->label.words[i], words[i], memory_order_relaxed);
}

/* An empty label costs one load and one store. */
static void copy_label(struct driver_label *to, struct driver_label *from)
{
    uint64_t word = atomic_load_explicit(&from->words[0], memory_order_relaxed);

    atomic_store_explicit(&to->words[0], word, memory_order_relaxed);
    for (size_t i = 1; word && i < DRIVER_LABEL_BYTES / 8; i++)
        atomic_store_explicit(&to->words[i],
            atomic_load_explicit(&from->words[i], memory_order_relaxed), memory_order_relaxed);
}

static void read_label(const struct driver_label *label, char text[DRIVER_LABEL_BYTES])
{
    uint64_t words[DRIVER_LABEL_BYTES / 8] = {0};

    for (size_t i = 0; i < DRIVER_LABEL_BYTES / 8; i++) {
        words[i] = atomic_load_explicit(&label->words[i], memory_order_acquire);
        if (!words[0])
            break;
    }
    memcpy(text, words, DRIVER_LABEL_BYTES);
    text[DRIVER_LABEL_BYTES - 1] = '\0';
}

struct driver_queue *driver_queue_acquire(struct driver_work *work, void *stream)
{
    struct driver_queue *at;

    pthread_mutex_lock(&work->lock);
    for (at = atomic_load(&work->queues); at; at = at->next)
        if (!at->is_used && !driver_queue_unfinished(at))
            break;
    if (!at) {
        at = base_calloc(1, sizeof(*at));
        if (at) {
            at->next = atomic_load_explicit(&work->queues, memory_order_relaxed);
            atomic_store_explicit(&work->queues, at, memory_order_release);
        }
    }
    if (at) {
        at->is_used = 1;
        driver_queue_set_label(at, NULL);
        atomic_store_explicit(&at->stream, stream, memory_order_relaxed);
    }
    pthread_mutex_unlock(&work->lock);
    return at;
}

void driver_queue_release(
    struct driver_work *work, struct driver_queue *queue, void *successor, int is_done)
{
    pthread_mutex_lock(&work->lock);
    if (is_done)
        driver_work_reached(
            (struct driver_mark){queue, atomic_load_explicit(&queue->begun, memory_order_relaxed)});
    atomic_store_explicit(&queue->stream, successor, memory_order_relaxed);
    queue->is_used = 0;
    pthread_mutex_unlock(&work->lock);
}

void driver_queue_redirect(struct driver_work *work, struct driver_queue *queue, void *stream)
{
    pthread_mutex_lock(&work->lock);
    atomic_store_explicit(&queue->stream, stream, memory_order_relaxed);
    pthread_mutex_unlock(&work->lock);
}

void driver_work_end(struct driver_work *work)
{
    for (struct driver_queue *at = atomic_load(&work->queues); at; at = at->next) {
        atomic_store(&at->finished, atomic_load(&at->begun));
        atomic_store(&at->stream, NULL);
    }
}

/* Increases `value` to `to` if it is less, and returns the previous value. */
static uint64_t advance_to(atomic_uint_least64_t *value, uint64_t to)
{
    uint64_t now = atomic_load_explicit(value, memory_order_relaxed);

    while (now < to && !atomic_compare_exchange_weak_explicit(
                           value, &now, to, memory_order_release, memory_order_relaxed))
        ;
    return now;
}

void driver_work_launch(struct driver_work *work, struct driver_queue *queue, const char *kernel,
    struct driver_ticket *ticket)
{
    uint64_t position = atomic_fetch_add_explicit(&queue->begun, 1, memory_order_relaxed) + 1;
    uint64_t before = advance_to(&queue->launched, position);
    uint64_t number = atomic_fetch_add_explicit(&work->launches, 1, memory_order_relaxed) + 1;
    struct driver_launch *launch = &work->last[number % DRIVER_WORK_LAUNCHES];

    atomic_store_explicit(&queue->kernel, kernel, memory_order_release); /* its text, too */
    copy_label(&queue->kernel_label, &queue->label);
    atomic_store_explicit(&launch->number, 0, memory_order_relaxed);
    copy_label(&launch->label, &queue->label);
    atomic_store_explicit(&launch->position, position, memory_order_release);
    atomic_store_explicit(&launch->kernel, kernel, memory_order_release);
    atomic_store_explicit(&launch->queue, queue, memory_order_release);
    atomic_store_explicit(&launch->number, number, memory_order_release);
    *ticket = (struct driver_ticket){queue, launch, number, position, before};
}

void driver_work_failed(const struct driver_ticket *ticket)
{
    struct driver_queue *queue = ticket->queue;
    uint64_t number = ticket->number, position = ticket->position, one_less = position - 1;

    atomic_compare_exchange_strong(&ticket->launch->number, &number, 0);
    atomic_compare_exchange_strong(&queue->launched, &position, ticket->before);
    atomic_compare_exchange_strong(&queue->finished, &one_less, ticket->position);
}

void driver_work_reached(struct driver_mark mark)
{
    advance_to(&mark.queue->finished, mark.position);
}

uint32_t driver_work_unfinished(
    const struct driver_work *work, struct driver_mark *marks, uint32_t capacity)
{
    uint32_t count = 0;

    for (struct driver_queue *at = atomic_load_explicit(&work->queues, memory_order_acquire); at;
         at = at->next) {
        if (!driver_queue_unfinished(at))
            continue;
        if (marks && count == capacity)
            break;
        if (marks)
            marks[count] =
                (struct driver_mark){at, atomic_load_explicit(&at->begun, memory_order_acquire)};
        count++;
    }
    return count;
}

struct driver_load driver_work_load(const struct driver_work *work)
{
    struct driver_load load = {0};

    for (const struct driver_queue *at = atomic_load_explicit(&work->queues, memory_order_acquire);
         at; at = at->next) {
        uint64_t unfinished = driver_queue_unfinished(at);

        load.streams += unfinished != 0;
        load.items += unfinished;
    }
    return load;
}

pool_status driver_work_synchronize(struct driver_work *work)
{
    struct driver_queue *first = atomic_load_explicit(&work->queues, memory_order_acquire);
    struct driver_mark *marks;
    size_t count = 0;
    pool_status status;

    for (struct driver_queue *at = first; at; at = at->next)
        count++;
    marks = base_calloc(count, sizeof(*marks));
    if (!marks)
        return base_fail_memory("the marks of a device's streams");
    count = 0;
    for (struct driver_queue *at = first; at; at = at->next)
        marks[count++] = driver_work_mark(at);
    status = DRIVER_CALL(work->driver, CtxSynchronize());
    for (size_t i = 0; i < count && !status; i++)
        driver_work_reached(marks[i]);
    base_free(marks);
    return status;
}

uint64_t driver_work_finished(const struct driver_work *work)
{
    uint64_t sum = 0;

    for (const struct driver_queue *at = atomic_load_explicit(&work->queues, memory_order_acquire);
         at; at = at->next)
        sum += atomic_load_explicit(&at->finished, memory_order_relaxed);
    return sum;
}

pool_status driver_work_poll(struct driver_work *work, int all)
{
    const pool_cuda_api *api = &work->driver->api;
    pool_cu_result failure = POOL_CU_SUCCESS;
    pool_status status = driver_usable(work->driver);
    int is_busy = 0;

    if (status)
        return status;
    pthread_mutex_lock(&work->lock);
    for (struct driver_queue *at = atomic_load(&work->queues); at && !failure; at = at->next) {
        struct driver_mark mark = driver_work_mark(at);
        pool_cu_result code;

        if (!driver_queue_unfinished(at) && !(all && at->is_used))
            continue;
        code = api->StreamQuery(atomic_load_explicit(&at->stream, memory_order_relaxed));
        /* The owner of an adopted stream may have destroyed it; it then has no unfinished work. */
        if (code == POOL_CU_SUCCESS || code == POOL_CU_INVALID_HANDLE ||
            code == POOL_CU_CONTEXT_IS_DESTROYED)
            driver_work_reached(mark);
        else if (code != POOL_CU_NOT_READY)
            failure = code;
        is_busy |= code == POOL_CU_NOT_READY || driver_queue_unfinished(at);
    }
    pthread_mutex_unlock(&work->lock);
    /* After the lock is released, because a sticky code calls the fault hook. */
    if (failure)
        return driver_check(work->driver, failure, "cuStreamQuery");
    return is_busy ? POOL_ERR_NOT_READY : POOL_OK;
}

/* Codes that only a kernel can cause; other sticky codes may have other causes. */
static int is_kernel_fault(int code)
{
    static const pool_cu_code codes[] = {POOL_CU_ILLEGAL_ADDRESS, POOL_CU_LAUNCH_TIMEOUT,
        POOL_CU_ASSERT, POOL_CU_HARDWARE_STACK_ERROR, POOL_CU_ILLEGAL_INSTRUCTION,
        POOL_CU_MISALIGNED_ADDRESS, POOL_CU_INVALID_ADDRESS_SPACE, POOL_CU_INVALID_PC,
        POOL_CU_LAUNCH_FAILED, POOL_CU_TENSOR_MEMORY_LEAK};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if ((int)codes[i] == code)
            return 1;
    return 0;
}

static int has_unfinished_kernel(const struct driver_queue *queue)
{
    uint64_t finished = atomic_load_explicit(&queue->finished, memory_order_acquire);

    return atomic_load_explicit(&queue->launched, memory_order_acquire) > finished;
}

/* Counts a launch of the kernel on the queue's stream; kernels beyond a full list are omitted. */
static void add_kernel(struct driver_fault *fault, const struct driver_work *work,
    const struct driver_queue *queue, const char *kernel, const char *label)
{
    void *stream = atomic_load_explicit(&queue->stream, memory_order_relaxed);
    struct driver_fault_kernel *at;
    unsigned of_device = 0;

    for (unsigned i = 0; i < fault->kernel_count; i++) {
        at = &fault->kernels[i];
        of_device += at->work == work;
        if (at->work == work && at->stream == stream && strcmp(at->name, kernel) == 0 &&
            strcmp(at->label, label) == 0) {
            at->launches++;
            return;
        }
    }
    if (of_device == NAMED_PER_DEVICE || fault->kernel_count == DRIVER_FAULT_KERNELS)
        return;
    at = &fault->kernels[fault->kernel_count++];
    at->device = work->device;
    at->work = work;
    at->stream = stream;
    at->launches = 1;
    snprintf(at->name, sizeof(at->name), "%s", kernel);
    snprintf(at->label, sizeof(at->label), "%s", label);
}

/* Reads one of the last launches; 0 if it has finished or its entry is being overwritten. */
static int read_launch(struct driver_work *work, uint64_t number, const struct driver_queue **queue,
    const char **kernel, char label[DRIVER_LABEL_BYTES])
{
    struct driver_launch *launch = &work->last[number % DRIVER_WORK_LAUNCHES];
    uint64_t position;

    if (atomic_load_explicit(&launch->number, memory_order_acquire) != number)
        return 0;
    position = atomic_load_explicit(&launch->position, memory_order_acquire);
    *kernel = atomic_load_explicit(&launch->kernel, memory_order_acquire);
    *queue = atomic_load_explicit(&launch->queue, memory_order_acquire);
    read_label(&launch->label, label);
    return atomic_load_explicit(&launch->number, memory_order_acquire) == number &&
           position > atomic_load_explicit(&(*queue)->finished, memory_order_acquire);
}

/* Adds the last launches, oldest first, and the last kernel of each queue without any of them. */
static int add_kernels(struct driver_work *work, struct driver_fault *fault)
{
    uint64_t last = atomic_load_explicit(&work->launches, memory_order_acquire);
    uint64_t first = last > DRIVER_WORK_LAUNCHES ? last - DRIVER_WORK_LAUNCHES + 1 : 1;
    const struct driver_queue *queue;
    char label[DRIVER_LABEL_BYTES];
    const char *kernel;
    int is_unfinished = 0;

    for (uint64_t number = first; number <= last; number++)
        if (read_launch(work, number, &queue, &kernel, label))
            add_kernel(fault, work, queue, kernel, label);
    for (queue = atomic_load_explicit(&work->queues, memory_order_acquire); queue;
         queue = queue->next) {
        void *stream = atomic_load_explicit(&queue->stream, memory_order_relaxed);
        int is_named = 0;

        if (!has_unfinished_kernel(queue))
            continue;
        is_unfinished = 1;
        for (unsigned i = 0; i < fault->kernel_count; i++)
            is_named |= fault->kernels[i].work == work && fault->kernels[i].stream == stream;
        kernel = atomic_load_explicit(&queue->kernel, memory_order_acquire);
        read_label(&queue->kernel_label, label);
        if (!is_named && kernel)
            add_kernel(fault, work, queue, kernel, label);
    }
    return is_unfinished;
}

__attribute__((format(printf, 2, 3))) static void append(
    struct driver_fault *fault, const char *format, ...)
{
    size_t used = strlen(fault->message);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault->message + used, sizeof(fault->message) - used, format, arguments);
    va_end(arguments);
}

static void append_shared(struct driver_fault *fault, const struct driver_work *work)
{
    append(fault,
        "; device %d is used through an MPS server: the cause may be the work of another process, "
        "as "
        "a fault of one client ends the work of all",
        work->device);
}

static void append_kernels(struct driver_fault *fault)
{
    const struct driver_work *work = NULL;

    append(fault, "; unfinished");
    for (unsigned i = 0; i < fault->kernel_count; i++) {
        const struct driver_fault_kernel *at = &fault->kernels[i];

        if (at->work != work)
            append(fault, "%s on %s:", work ? ";" : "", at->work->name);
        append(fault, "%s %s", at->work == work ? "," : "", at->name);
        if (at->launches > 1)
            append(fault, " (%u launches)", at->launches);
        if (at->label[0])
            append(fault, " of lease \"%s\"", at->label);
        work = at->work;
    }
}

void driver_work_list(struct driver_work *work, struct driver_fault *fault)
{
    fault->kernel_count = 0;
    fault->unfinished_devices = (unsigned)add_kernels(work, fault);
    if (fault->kernel_count)
        append_kernels(fault);
}

void driver_work_append(const pool_cuda_api *table, int device, char *text, size_t size)
{
    struct driver_fault fault = {.device = device};
    const struct driver *driver;
    const struct driver_work *shared = NULL;
    size_t used = strlen(text);

    driver_state_lock();
    driver = driver_find(table);
    for (struct driver_work *work = driver ? driver->works : NULL; work; work = work->next) {
        if (work->device != device)
            continue;
        add_kernels(work, &fault);
        shared = atomic_load(&work->is_shared) ? work : shared;
    }
    if (shared)
        append_shared(&fault, shared);
    if (fault.kernel_count)
        append_kernels(&fault);
    driver_state_unlock();
    base_text_copy(text + used, size - used, fault.message);
}

/* Writes the known cause first, so that a long list of kernels does not truncate it. */
static void describe_cause(struct driver_fault *fault, const struct driver_work *shared)
{
    if (shared) {
        append_shared(fault, shared);
        if (fault->kernel_count)
            append_kernels(fault);
        return;
    }
    if (!fault->kernel_count) {
        append(fault, "; no kernel launched through the library was unfinished, so the cause is "
                      "unknown");
        return;
    }
    if (fault->culprit >= 0)
        append(fault, "; the cause is work of device %d", fault->culprit);
    else
        append(fault, "; it is not certain which device's work is the cause");
    append_kernels(fault);
}

void driver_work_explain(const struct driver *driver, struct driver_fault *fault)
{
    const struct driver_work *shared = NULL;

    fault->culprit = -1;
    fault->kernel_count = 0;
    fault->unfinished_devices = 0;
    for (struct driver_work *work = driver->works; work; work = work->next) {
        shared = atomic_load(&work->is_shared) ? work : shared;
        if (!add_kernels(work, fault))
            continue;
        /* Two pools may have the same device. */
        if (!fault->unfinished_devices || work->device != fault->culprit)
            fault->unfinished_devices++;
        fault->culprit = work->device;
    }
    if (fault->unfinished_devices != 1 || !is_kernel_fault(fault->code) || shared)
        fault->culprit = -1;
    describe_cause(fault, shared);
}
