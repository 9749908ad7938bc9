/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: a thread that starts the worker processes, notices their end, and starts
 * replacements. The processes end with it, so it lives as long as the set of workers.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/math.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "driver/worker/client/client.h"

#define SECOND_NS UINT64_C(1000000000)
/* A process that was killed and has not ended, or a start that could not even create a process. */
#define KILL_AGAIN_NS SECOND_NS
#define FAILED_START_PAUSE_NS (SECOND_NS / 10)
/* More losses in a row, less than a minute apart, and the device is given up. */
#define LOSSES_IN_A_ROW 8
/* Between two looks whether the threads of a worker run; one of them wakes up more often. */
#define CHECK_NS (SECOND_NS / 2)
/* Workers that have not ended by themselves after this time are killed. */
#define END_TIMEOUT_NS (2 * SECOND_NS)
/* A process that has been killed and has not ended after this time is not waited for. SIGKILL does
 * not end one that the freezer of cgroup version 1 has frozen, before it is thawed, and one that
 * waits inside the kernel. */
#define KILLED_TIMEOUT_NS (10 * SECOND_NS)

/* --- processes -------------------------------------------------------------------------------- */

static void close_process(struct client_worker *worker)
{
    if (worker->process >= 0)
        close(worker->process);
    if (worker->lifeline >= 0)
        close(worker->lifeline);
    worker->process = worker->lifeline = -1;
    worker->pid = 0;
}

/* How far the start of a process had come, which the process itself has written. */
static const char *describe_phase(unsigned phase)
{
    switch (phase) {
    case WORKER_STARTING:
        return " before it opened the driver";
    case WORKER_OPENING_DRIVER:
        return " while it opened the driver";
    default:
        return " before its first call";
    }
}

static void describe_end(
    const struct client_worker *worker, int status, bool is_known, char *text, size_t size)
{
    pid_t pid = worker->pid;
    const char *when = atomic_load(&worker->state) == WORKER_STATE_STARTING
                           ? describe_phase(atomic_load(&worker->shared->phase))
                           : "";

    if (!is_known)
        snprintf(text, size, "worker process %d has ended%s; its status was read by other code",
            pid, when);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "worker process %d was ended by signal %d (%s)%s", pid,
            WTERMSIG(status), strsignal(WTERMSIG(status)), when);
    else if (WEXITSTATUS(status) == WORKER_EXIT_START)
        snprintf(text, size, "%.*s", (int)sizeof(worker->shared->text) - 1, worker->shared->text);
    else if (WEXITSTATUS(status) == WORKER_EXIT_PROTOCOL)
        snprintf(text, size, "worker process %d has received a message that it does not know", pid);
    else
        snprintf(text, size, "worker process %d has exited with status %d%s", pid,
            WEXITSTATUS(status), when);
}

/* Calls that wait for the process have ended, or end as it is lost. */
static void close_passing(struct client_worker *worker)
{
    pthread_mutex_lock(&worker->pass_lock);
    if (worker->passing >= 0)
        close(worker->passing);
    worker->passing = -1;
    pthread_mutex_unlock(&worker->pass_lock);
}

/* The process has ended: reads its status and prepares the replacement. */
static void reap(struct client *owner, struct client_worker *worker)
{
    char text[WORKER_TEXT_BYTES], last[sizeof(worker->cause)];
    int status = 0;
    bool is_known, was_running, has_failed = false;

    kill(-worker->pid, SIGKILL); /* processes that it may have started */
    is_known = waitpid(worker->pid, &status, 0) == worker->pid;
    describe_end(worker, status, is_known, text, sizeof(text));
    text[base_text_printable(text)] = '\0'; /* the worker may have written it */
    pthread_mutex_lock(&worker->lock);
    close_process(worker);
    was_running = atomic_load(&worker->state) == WORKER_STATE_RUNNING;
    if (atomic_load(&worker->state) == WORKER_STATE_STARTING || was_running)
        client_set_lost(worker, DRIVER_CODE_LOST, text);
    /* The first start is not repeated: its cause will not go away by itself. */
    if (!atomic_load(&worker->generation) || worker->losses_in_a_row > LOSSES_IN_A_ROW) {
        has_failed = true;
        atomic_store(&worker->is_wanted, false);
        atomic_store(&worker->state, WORKER_STATE_FAILED);
    }
    if (has_failed && atomic_load(&worker->generation)) {
        memcpy(last, worker->cause, sizeof(last));
        snprintf(worker->cause, sizeof(worker->cause),
            "%u worker processes in a row have ended, and no other one is started until "
            "pool_device_readmit is called; the last one: %.800s",
            worker->losses_in_a_row, last);
        base_log(POOL_LOG_ERROR, "device %d: %s", worker->ordinal, worker->cause);
    }
    pthread_mutex_unlock(&worker->lock);
    client_wake_callers(worker);
    client_host_forget(worker);
    client_announce(owner);
    close_passing(worker);
    if (has_failed)
        client_notify(owner, worker);
}

static void become_ready(struct client *owner, struct client_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->ready_ns = base_clock_ns();
    worker->check_ns = worker->ready_ns + CHECK_NS;
    worker->missed_beats = 0;
    worker->ready_unix_time = (uint64_t)time(NULL);
    client_contexts_end(worker);
    atomic_fetch_add(&worker->generation, 1);
    atomic_store(&worker->state, WORKER_STATE_RUNNING);
    pthread_mutex_unlock(&worker->lock);
    base_log(POOL_LOG_INFO, "device %d: worker process %d is ready", worker->ordinal, worker->pid);
    client_announce(owner);
    if (atomic_load(&worker->generation) > 1)
        client_notify(owner, worker);
}

/* No process could be created: the host lacks descriptors, memory or the program, which says
 * nothing of the device and may pass. Only a first start is not repeated, as its caller waits. */
static void fail_start(struct client *owner, struct client_worker *worker)
{
    bool is_first = !atomic_load(&worker->generation);

    pthread_mutex_lock(&worker->lock);
    if (is_first) {
        atomic_store(&worker->is_wanted, false);
        atomic_store(&worker->state, WORKER_STATE_FAILED);
    } else {
        client_delay_restart(worker, base_clock_ns(), FAILED_START_PAUSE_NS);
        atomic_store(&worker->state, WORKER_STATE_LOST);
    }
    pthread_mutex_unlock(&worker->lock);
    client_announce(owner);
    if (is_first)
        client_notify(owner, worker);
    else
        base_log(POOL_LOG_WARN, "device %d: no worker process can be started for now: %s",
            worker->ordinal, worker->cause);
}

static void start(struct client *owner, struct client_worker *worker)
{
    client_host_stop(worker); /* no function of the worker before is running any more */
    atomic_store(&worker->state, WORKER_STATE_STARTING);
    worker->deadline_ns = base_clock_ns() + owner->start_timeout_ns;
    worker->killed_ns = 0;
    if (worker->pid || !client_spawn(owner, worker)) /* with the cause of the last attempt */
        fail_start(owner, worker);
}

static void kill_process(struct client_worker *worker, uint64_t now)
{
    kill(-worker->pid, SIGKILL);
    kill(worker->pid, SIGKILL);
    worker->deadline_ns = now + KILL_AGAIN_NS; /* its descriptor reports the end */
    if (!worker->killed_ns)
        worker->killed_ns = now;
}

/* Ends a start that takes too long; callers do not wait for a process that cannot be ended. */
static void end_start(struct client *owner, struct client_worker *worker, uint64_t now)
{
    char text[256];

    kill_process(worker, now);
    if (now - worker->killed_ns < KILLED_TIMEOUT_NS)
        return;
    snprintf(text, sizeof(text),
        "worker process %d has hung%s and does not end although it was killed: it is frozen, or "
        "waits inside the kernel",
        worker->pid, describe_phase(atomic_load(&worker->shared->phase)));
    if (atomic_load(&worker->generation)) {
        pthread_mutex_lock(&worker->lock);
        client_set_lost(worker, DRIVER_CODE_LOST, text);
        pthread_mutex_unlock(&worker->lock);
        return;
    }
    base_text_copy(worker->cause, sizeof(worker->cause), text);
    fail_start(owner, worker);
}

/* Why the threads of a process do not run, as far as the system says it. */
static void describe_stop(
    const struct client_worker *worker, double seconds, char *text, size_t size)
{
    siginfo_t stop = {0};

    /* Its end is not waited for here: only reap reads the status. */
    if (!waitid(P_PID, (id_t)worker->pid, &stop, WSTOPPED | WNOHANG | WNOWAIT) && stop.si_pid)
        snprintf(text, size, "worker process %d has been stopped by signal %d (%s) for %.1f s",
            worker->pid, stop.si_status, strsignal(stop.si_status), seconds);
    else
        snprintf(text, size,
            "no thread of worker process %d has run for %.1f s: it is frozen, or a debugger has "
            "stopped it",
            worker->pid, seconds);
}

/*
 * A process that is stopped executes nothing, and its callers would wait without end. Checks are
 * counted, because a clock alone would also count the time in which the whole host stood still.
 */
static void check_beats(struct client *owner, struct client_worker *worker, uint64_t now)
{
    unsigned beats = atomic_load(&worker->shared->beats);
    char text[256];

    if (!owner->stop_timeout_ns || now < worker->check_ns)
        return;
    worker->check_ns = now + CHECK_NS;
    worker->missed_beats = beats == worker->beats ? worker->missed_beats + 1 : 0;
    worker->beats = beats;
    if (worker->missed_beats * CHECK_NS < owner->stop_timeout_ns)
        return;
    describe_stop(worker, (double)(worker->missed_beats * CHECK_NS) / 1e9, text, sizeof(text));
    client_lose(worker, atomic_load(&worker->generation), DRIVER_CODE_LOST, text);
}

/* Ends what must end and starts what must start. */
static void attend(struct client *owner, struct client_worker *worker)
{
    uint64_t now = base_clock_ns();

    switch (atomic_load(&worker->state)) {
    case WORKER_STATE_ABSENT:
        if (atomic_load(&worker->is_wanted))
            start(owner, worker);
        break;
    case WORKER_STATE_STARTING:
        if (now >= worker->deadline_ns)
            end_start(owner, worker, now);
        break;
    case WORKER_STATE_RUNNING:
        check_beats(owner, worker, now);
        break;
    case WORKER_STATE_LOST:
        if (!worker->is_notified_lost) {
            worker->is_notified_lost = true;
            base_log(POOL_LOG_WARN, "device %d: its worker process is lost: %s", worker->ordinal,
                worker->cause);
            client_notify(owner, worker);
        }
        if (worker->pid)
            kill_process(worker, now);
        else if (now >= worker->restart_ns)
            start(owner, worker);
        break;
    default:
        break;
    }
}

/* When a worker needs attention next without another event. It depends on the state that the
 * worker has now, so that no change of it can be left without its deadline. */
static uint64_t next_attention(const struct client *owner, const struct client_worker *worker)
{
    switch (atomic_load(&worker->state)) {
    case WORKER_STATE_STARTING:
        return worker->deadline_ns;
    case WORKER_STATE_RUNNING:
        return owner->stop_timeout_ns ? worker->check_ns : UINT64_MAX;
    case WORKER_STATE_LOST:
        if (!worker->is_notified_lost)
            return 0;
        return worker->pid ? worker->deadline_ns : worker->restart_ns;
    default:
        return UINT64_MAX; /* a change of these wakes the supervisor */
    }
}

/* --- the thread ------------------------------------------------------------------------------- */

struct watched {
    struct pollfd items[1 + 2 * WORKER_MAX_DEVICES];
    unsigned count;
};

static void watch(struct client *owner, struct watched *watched)
{
    watched->items[0] = (struct pollfd){.fd = owner->wake, .events = POLLIN};
    watched->count = 1;
    for (unsigned i = 0; i < owner->count; i++) {
        const struct client_worker *worker = &owner->workers[i];
        bool is_starting = atomic_load(&worker->state) == WORKER_STATE_STARTING;

        watched->items[watched->count++] = (struct pollfd){.fd = worker->process, .events = POLLIN};
        watched->items[watched->count++] =
            (struct pollfd){.fd = is_starting ? worker->lifeline : -1, .events = POLLIN};
    }
}

static void handle_events(struct client *owner, const struct watched *watched)
{
    uint64_t ignored;
    char byte;

    if (watched->items[0].revents)
        (void)!read(owner->wake, &ignored, sizeof(ignored));
    for (unsigned i = 0; i < owner->count; i++) {
        struct client_worker *worker = &owner->workers[i];

        if (watched->items[2 + 2 * i].revents && read(worker->lifeline, &byte, 1) == 1 &&
            atomic_load(&worker->shared->phase) == WORKER_READY)
            become_ready(owner, worker);
        if (watched->items[1 + 2 * i].revents)
            reap(owner, worker);
    }
}

static bool is_closing(struct client *owner)
{
    bool closes;

    pthread_mutex_lock(&owner->lock);
    closes = owner->is_closing;
    pthread_mutex_unlock(&owner->lock);
    return closes;
}

/* Whether the process has ended before the deadline. */
static bool wait_for_end(const struct client_worker *worker, uint64_t deadline)
{
    struct pollfd end = {.fd = worker->process, .events = POLLIN};
    uint64_t now = base_clock_ns();

    return poll(&end, 1, now < deadline ? (int)((deadline - now) / 1000000) : 0) > 0;
}

/* The workers end when their lifelines close; those that do not are killed. */
static void end_all(struct client *owner)
{
    uint64_t deadline = base_clock_ns() + END_TIMEOUT_NS;

    for (unsigned i = 0; i < owner->count; i++) {
        struct client_worker *worker = &owner->workers[i];

        if (worker->lifeline >= 0)
            close(worker->lifeline);
        worker->lifeline = -1;
    }
    for (unsigned i = 0; i < owner->count; i++) {
        struct client_worker *worker = &owner->workers[i];

        if (!worker->pid)
            continue;
        if (!wait_for_end(worker, deadline))
            kill(worker->pid, SIGKILL);
        kill(-worker->pid, SIGKILL); /* processes that it may have started */
        if (wait_for_end(worker, deadline + KILLED_TIMEOUT_NS))
            (void)waitpid(worker->pid, NULL, 0);
        else
            base_log(POOL_LOG_WARN,
                "device %d: worker process %d does not end although it was killed: it is frozen, "
                "or waits inside the kernel, and ends when it runs again",
                worker->ordinal, worker->pid);
        pthread_mutex_lock(&worker->lock);
        close_process(worker);
        pthread_mutex_unlock(&worker->lock);
    }
}

static void *supervise(void *user)
{
    struct client *owner = user;
    struct watched watched;

    while (!is_closing(owner)) {
        uint64_t next = UINT64_MAX, now;
        int timeout = -1;

        for (unsigned i = 0; i < owner->count; i++)
            attend(owner, &owner->workers[i]);
        for (unsigned i = 0; i < owner->count; i++)
            next = base_min(next, next_attention(owner, &owner->workers[i]));
        watch(owner, &watched);
        now = base_clock_ns();
        if (next != UINT64_MAX)
            timeout = next > now ? (int)((next - now) / 1000000) + 1 : 0;
        if (poll(watched.items, watched.count, timeout) > 0)
            handle_events(owner, &watched);
    }
    end_all(owner);
    return NULL;
}

pool_status client_supervise(struct client *opened)
{
    opened->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (opened->wake < 0)
        return base_fail(POOL_ERR_INTERNAL, "eventfd: %s", strerror(errno));
    opened->has_supervisor = base_thread_start(&opened->supervisor, supervise, opened);
    return opened->has_supervisor ? POOL_OK : base_fail_memory("the thread of worker processes");
}

void client_supervise_end(struct client *closing)
{
    if (!closing->has_supervisor)
        return;
    pthread_mutex_lock(&closing->lock);
    closing->is_closing = true;
    pthread_cond_broadcast(&closing->changed);
    pthread_mutex_unlock(&closing->lock);
    client_wake(closing);
    pthread_join(closing->supervisor, NULL);
    for (unsigned i = 0; i < closing->count; i++) {
        client_host_stop(&closing->workers[i]);
        client_host_forget(&closing->workers[i]);
    }
    client_forget_listeners(closing);
}
