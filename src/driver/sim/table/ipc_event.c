/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of several processes with simulated devices. An interprocess event has a sealed memfd; a
 * handle names the process and its descriptor, as that of memory does. The memfd counts the
 * recordings of all processes. A process that records holds a lock on the byte of the recording's
 * number until its stream has reached it; other processes wait for the lock. The kernel releases it
 * when the process ends, so that no wait outlasts the process that it is for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/thread.h"
#include "driver/sim/table/state.h"

#define MAGIC UINT64_C(0x746e6576656d6973)
#define PAGE 4096u
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* The memfd's only page. */
struct page {
    uint64_t magic;
    atomic_uint_least64_t begun; /* recordings */
    atomic_uint_least64_t last;  /* the number of the last one that was enqueued, from 1; 0: none */
};

struct sim_shared_event {
    unsigned references; /* of the event and of markers; guarded by the state's lock */
    int descriptor;      /* has the locks: each process opens the memfd by itself */
    bool is_opened;      /* of another process */
    struct page *page;
};

/* What the 64 bytes of a handle are. */
struct event_handle {
    uint64_t magic, inode;
    int64_t process, descriptor;
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct event_handle) == sizeof(pool_cu_ipc_handle), "64 bytes");

/* ---- the memfd ------------------------------------------------------------------------------- */

/* Takes over the descriptor. */
static struct sim_shared_event *map_event(int descriptor, bool is_opened)
{
    struct sim_shared_event *made = base_calloc(1, sizeof(*made));
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

    if (!made || page == MAP_FAILED) {
        if (page != MAP_FAILED)
            munmap(page, PAGE);
        base_free(made);
        close(descriptor);
        return NULL;
    }
    made->references = 1;
    made->descriptor = descriptor;
    made->is_opened = is_opened;
    made->page = page;
    return made;
}

struct sim_shared_event *sim_shared_event_create(void)
{
    const struct page page = {.magic = MAGIC};
    int descriptor = memfd_create("devicepool simulated event", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (descriptor < 0)
        return NULL;
    if (base_truncate(descriptor, PAGE) ||
        pwrite(descriptor, &page, sizeof(page), 0) != (ssize_t)sizeof(page) ||
        fcntl(descriptor, F_ADD_SEALS, SEALS)) {
        close(descriptor);
        return NULL;
    }
    return map_event(descriptor, false);
}

void sim_shared_event_release(struct sim_shared_event *shared)
{
    if (!shared || --shared->references)
        return;
    munmap(shared->page, PAGE);
    close(shared->descriptor);
    base_free(shared);
}

/* ---- recordings ------------------------------------------------------------------------------ */

/* A lock of the descriptor on the byte of a recording, whose number another process may have made
 * up. Returns 0 or an errno. */
static int lock_recording(int descriptor, uint64_t number, int command, short type)
{
    struct flock lock = {.l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)(number & (UINT64_MAX >> 2)),
        .l_len = 1};
    int code;

    do
        code = fcntl(descriptor, command, &lock) ? errno : 0;
    while (code == EINTR);
    return code || command != F_OFD_GETLK || lock.l_type == F_UNLCK ? code : EAGAIN;
}

bool sim_shared_event_begin(struct sim_shared_event *shared, struct sim_marker *marker)
{
    uint64_t number = atomic_fetch_add(&shared->page->begun, 1) + 1;

    if (lock_recording(shared->descriptor, number, F_OFD_SETLK, F_WRLCK))
        return false;
    marker->number = number;
    marker->shared = shared;
    shared->references++;
    return true;
}

void sim_shared_event_publish(const struct sim_marker *marker)
{
    uint64_t last = atomic_load(&marker->shared->page->last);

    while (last < marker->number &&
           !atomic_compare_exchange_weak(&marker->shared->page->last, &last, marker->number))
        ;
}

void sim_shared_event_end(const struct sim_marker *marker)
{
    (void)lock_recording(marker->shared->descriptor, marker->number, F_OFD_SETLK, F_UNLCK);
}

/* Waits, without the state's lock, for a recording of another process. The thread does not belong
 * to the driver, which may end before that process does. */
static void *await_recording(void *argument)
{
    struct sim_marker *marker = argument;

    (void)lock_recording(marker->shared->descriptor, marker->number, F_OFD_SETLKW, F_RDLCK);
    sim_shared_event_end(marker);
    pthread_mutex_lock(&sim_state.lock);
    marker->is_done = true;
    sim_marker_release(marker);
    pthread_cond_broadcast(&sim_state.changed);
    pthread_mutex_unlock(&sim_state.lock);
    return NULL;
}

static pool_cu_result start_waiting(struct sim_marker *marker)
{
    pthread_t thread;

    marker->references++;
    if (!base_thread_start(&thread, await_recording, marker)) {
        marker->references--;
        return POOL_CU_OUT_OF_MEMORY;
    }
    pthread_detach(thread);
    marker->is_awaited = true;
    return POOL_CU_SUCCESS;
}

/* The marker of a recording that another process has made. */
static struct sim_marker *create_foreign(struct sim_shared_event *shared, uint64_t number)
{
    struct sim_marker *made = base_calloc(1, sizeof(*made));

    if (!made)
        return NULL;
    made->references = 1;
    made->number = number;
    made->is_foreign = true;
    made->shared = shared;
    shared->references++;
    return made;
}

pool_cu_result sim_shared_event_refresh(struct sim_event *event, bool is_awaited)
{
    struct sim_shared_event *shared = event->shared;
    uint64_t last = atomic_load(&shared->page->last);
    struct sim_marker *marker = event->marker;

    if (last > (marker ? marker->number : 0)) {
        marker = create_foreign(shared, last);
        if (!marker)
            return POOL_CU_OUT_OF_MEMORY;
        sim_marker_release(event->marker);
        event->marker = marker;
    }
    if (!marker || !marker->is_foreign || marker->is_done || marker->is_awaited)
        return POOL_CU_SUCCESS;
    if (lock_recording(shared->descriptor, marker->number, F_OFD_GETLK, F_RDLCK) != EAGAIN) {
        marker->is_done = true;
        return POOL_CU_SUCCESS;
    }
    return is_awaited ? start_waiting(marker) : POOL_CU_SUCCESS;
}

/* ---- handles --------------------------------------------------------------------------------- */

pool_cu_result sim_cu_IpcGetEventHandle(pool_cu_ipc_handle *handle, CUevent event)
{
    struct event_handle made = {.magic = MAGIC, .process = getpid()};
    const struct sim_event *found;
    struct stat status;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_IpcGetEventHandle, SIM_NEED_CONTEXT, -1);

    if (code)
        return code;
    found = sim_handle_get(SIM_HANDLE_EVENT, event);
    if (!handle || !found || !found->shared || found->shared->is_opened)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (fstat(found->shared->descriptor, &status))
        return sim_leave(POOL_CU_OPERATING_SYSTEM);
    made.inode = status.st_ino;
    made.descriptor = found->shared->descriptor;
    memcpy(handle, &made, sizeof(made));
    return sim_leave(POOL_CU_SUCCESS);
}

/* The descriptor of another process, -1: there is no such event. */
static int open_event(const struct event_handle *handle)
{
    int descriptor = sim_ipc_open(handle->process, handle->descriptor, handle->inode);
    int seals = descriptor < 0 ? -1 : fcntl(descriptor, F_GET_SEALS);
    struct stat status;
    struct page page;

    if (descriptor < 0)
        return -1;
    /* Without the seals the other process could truncate what is mapped here. */
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(descriptor, &status) ||
        status.st_size != PAGE ||
        pread(descriptor, &page, sizeof(page), 0) != (ssize_t)sizeof(page) || page.magic != MAGIC) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

pool_cu_result sim_cu_IpcOpenEventHandle(CUevent *event, pool_cu_ipc_handle handle)
{
    struct sim_shared_event *shared;
    struct event_handle given;
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_IpcOpenEventHandle, SIM_NEED_CONTEXT, -1);
    int descriptor;

    if (code)
        return code;
    memcpy(&given, &handle, sizeof(given));
    if (!event || given.magic != MAGIC)
        return sim_leave(POOL_CU_INVALID_VALUE);
    if (given.process == getpid())
        return sim_leave(POOL_CU_INVALID_CONTEXT);
    descriptor = open_event(&given);
    if (descriptor < 0)
        return sim_leave(POOL_CU_INVALID_VALUE);
    shared = map_event(descriptor, true);
    if (!shared)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    code = sim_event_create(
        call.context, DRIVER_EVENT_INTERPROCESS | DRIVER_EVENT_DISABLE_TIMING, shared, event);
    if (code)
        sim_shared_event_release(shared);
    return sim_leave(code);
}
