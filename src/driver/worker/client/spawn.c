/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the worker program: where it is, its environment, its descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/installed.h"
#include "base/settings.h"
#include "base/status.h"
#include "driver/worker/client/client.h"
#include "installed_paths.h"

#define PROGRAM "devicepool-worker"
#define PROGRAM_VARIABLE "DEVICEPOOL_WORKER"
#define VISIBLE_DEVICES "CUDA_VISIBLE_DEVICES"

/* --- the program ------------------------------------------------------------------------------ */

pool_status client_find_program(char *path, size_t size)
{
    static const struct base_installed installed = {POOL_LIBEXECDIR "/" PROGRAM,
        POOL_LIBEXECDIR_FROM_LIBRARY "/" PROGRAM, POOL_LIBEXECDIR_FROM_PROGRAM "/" PROGRAM};
    const char *given = base_setting(BASE_SETTING_WORKER);

    if (given) {
        snprintf(path, size, "%s", given);
        if (strlen(given) >= size || access(path, X_OK))
            return base_fail(POOL_ERR_NOT_FOUND,
                PROGRAM_VARIABLE "=\"%.200s\" names no program that can be run: %s", given,
                strerror(errno));
        return POOL_OK;
    }
    if (base_installed_find(&installed, X_OK, path, size))
        return POOL_OK;
    return base_fail(POOL_ERR_NOT_FOUND,
        "the program " PROGRAM " of worker processes is not in " POOL_LIBEXECDIR
        ", nor was it moved together with the library: install it or set " PROGRAM_VARIABLE);
}

/* The environment of a worker, in one block with its own strings. */
struct environment {
    char visible[sizeof(VISIBLE_DEVICES) + 80];
    char settings[BASE_SETTINGS_BYTES];
    char *variables[]; /* ends with NULL */
};

static bool has_name(const char *variable, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* A worker does not run setuid or setgid, although its parent does: it gets nothing that it would
 * take for the operator's word. */
static bool is_trusted(const char *variable)
{
    return !getauxval(AT_SECURE) ||
           (strncmp(variable, "DEVICEPOOL_", 11) != 0 && strncmp(variable, "NVTX_", 5) != 0);
}

/*
 * With CUDA_VISIBLE_DEVICES set to `uuid`, if that is not "", and with the settings of the
 * configuration file as this process has read it, which the worker does not read. Free with
 * base_free.
 */
static struct environment *make_environment(const char *uuid)
{
    static char no_file[] = "DEVICEPOOL_CONFIG=off";
    size_t count = 0, used = 0;
    struct environment *made;

    while (environ && environ[count])
        count++;
    made = base_calloc(1, sizeof(*made) + (count + BASE_SETTINGS + 3) * sizeof(char *));
    if (!made)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!(uuid[0] && has_name(environ[i], VISIBLE_DEVICES)) &&
            !has_name(environ[i], "DEVICEPOOL_CONFIG") && is_trusted(environ[i]))
            made->variables[used++] = environ[i];
    used += base_settings_of_file(made->settings, sizeof(made->settings), made->variables + used);
    made->variables[used++] = no_file;
    if (uuid[0]) {
        snprintf(made->visible, sizeof(made->visible), VISIBLE_DEVICES "=%s", uuid);
        made->variables[used++] = made->visible;
    }
    return made;
}

/*
 * Starts the program with the descriptors as its descriptors from 3 on; they must be above
 * WORKER_FD_FIRST_OTHER. Returns 0 or an errno.
 */
static int spawn_program(const char *program, const char *uuid, char *const *arguments,
    const int *descriptors, size_t count, pid_t *pid)
{
    struct environment *environment = make_environment(uuid);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int failure = ENOMEM;

    if (!environment)
        return failure;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions))
        goto free_environment;
    if (posix_spawnattr_init(&attributes))
        goto destroy_actions;
    failure = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    for (size_t i = 0; i < count && !failure; i++)
        failure =
            posix_spawn_file_actions_adddup2(&actions, descriptors[i], WORKER_FD_LIFELINE + (int)i);
    if (!failure)
        failure =
            posix_spawn(pid, program, &actions, &attributes, arguments, environment->variables);
    posix_spawnattr_destroy(&attributes);
destroy_actions:
    posix_spawn_file_actions_destroy(&actions);
free_environment:
    base_free(environment);
    return failure;
}

int client_move_up(int descriptor)
{
    int moved = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 16), failure = errno;

    if (descriptor >= 0)
        close(descriptor);
    /* The limit is at most 16. */
    errno = descriptor >= 0 && moved < 0 && failure == EINVAL ? EMFILE : failure;
    return moved;
}

/* --- the list of devices ---------------------------------------------------------------------- */

/* A driver that needs longer is broken. */
#define LIST_TIMEOUT_MS 60000

pool_status client_list_devices(const struct client *opened, char *text, size_t size)
{
    char parent[16];
    char *arguments[] = {
        (char *)(uintptr_t)opened->program, (char *)(uintptr_t) "--list", parent, NULL};
    int ends[2], failure;
    size_t used = 0;
    ssize_t got = 1;
    pid_t pid;

    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    if (pipe2(ends, O_CLOEXEC))
        return base_fail(POOL_ERR_INTERNAL, "pipe2: %s", strerror(errno));
    ends[1] = client_move_up(ends[1]);
    if (ends[1] < 0) {
        failure = errno;
        close(ends[0]);
        return base_fail(POOL_ERR_INTERNAL, "a pipe to a worker process: %s", strerror(failure));
    }
    failure = spawn_program(opened->program, "", arguments, &ends[1], 1, &pid);
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        return base_fail(
            POOL_ERR_NOT_FOUND, "%s cannot be started: %s", opened->program, strerror(failure));
    }
    while (got > 0 && used + 1 < size) {
        struct pollfd end = {.fd = ends[0], .events = POLLIN};

        got = poll(&end, 1, LIST_TIMEOUT_MS) > 0 ? read(ends[0], text + used, size - 1 - used) : -1;
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    close(ends[0]);
    if (got < 0)
        kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    return got < 0 ? base_fail(POOL_ERR_TIMEOUT, "%s has not listed the devices within %d s",
                         opened->program, LIST_TIMEOUT_MS / 1000)
                   : POOL_OK;
}

/* --- a worker --------------------------------------------------------------------------------- */

static bool create_control(struct client_worker *worker)
{
    struct worker_shared *shared;
    int control;

    if (worker->shared)
        return true;
    control = client_move_up(memfd_create("devicepool worker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (control < 0)
        return false;
    if (base_truncate(control, sizeof(*shared)) ||
        fcntl(control, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        close(control);
        return false;
    }
    shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, control, 0);
    if (shared == MAP_FAILED) {
        close(control);
        return false;
    }
    /* A child of fork() could delay the end of nobody, but would keep the memory. */
    (void)madvise(shared, sizeof(*shared), MADV_DONTFORK);
    pthread_mutex_lock(&worker->lock);
    worker->control = control;
    worker->shared = shared;
    pthread_mutex_unlock(&worker->lock);
    return true;
}

static void fill_config(const struct client *owner, struct client_worker *worker)
{
    struct worker_shared *shared = worker->shared;
    struct worker_config *config = &shared->config;
    uint64_t part_bytes;
    unsigned part;

    shared->build = worker_build();
    shared->text[0] = '\0';
    atomic_store(&shared->phase, WORKER_STARTING);
    atomic_store(&shared->fault, 0);
    atomic_store(&shared->fault_function, 0);
    memset(shared->functions, 0, sizeof(shared->functions));
    for (unsigned i = 0; i < WORKER_HOST_CALLS; i++)
        atomic_store(&shared->host_calls[i].state, WORKER_HOST_FREE);
    memset(config, 0, sizeof(*config));
    memcpy(config->devices, owner->devices, sizeof(config->devices));
    config->ordinal = owner->is_simulated ? worker->ordinal : 0;
    config->ring_count = WORKER_RINGS;
    config->arena_base = (uint64_t)(uintptr_t)owner->arena_base;
    config->arena_bytes = owner->arena_bytes;
    config->spin_ns = owner->spin_ns;
    config->long_spinners = owner->spinners ? owner->spinners : 1;
    pthread_mutex_lock(&worker->lock); /* worker_set_spin changes both */
    atomic_store(&shared->long_spin_ns, atomic_load(&owner->long_spin_ns));
    pthread_mutex_unlock(&worker->lock);
    part_bytes = worker->region_bytes / CLIENT_REGION_PARTS;
    part = (atomic_load(&worker->generation) + 1) % CLIENT_REGION_PARTS;
    if (owner->is_simulated) {
        config->region_base = worker->region_base + part * part_bytes;
        config->region_bytes = part_bytes;
    } else if (owner->reserved_bytes) {
        config->blocked_base = owner->reserved_base;
        config->blocked_bytes = worker->region_base + part * part_bytes - owner->reserved_base;
    }
}

/* Messages of the worker before are gone. */
static void reset_rings(struct client *owner, struct client_worker *worker)
{
    for (unsigned i = 0; i < WORKER_RINGS; i++) {
        struct client_ring *own = &worker->rings[i];
        struct worker_ring *ring = &worker->shared->rings[i];

        pthread_mutex_lock(&own->mutex);
        if (own->writer.ring) { /* else it is untouched, and its memory need not exist */
            atomic_store(&ring->posted, 0);
            atomic_store(&ring->posted_bytes, 0);
            atomic_store(&ring->executed, 0);
            atomic_store(&ring->consumed_bytes, 0);
            atomic_store(&ring->worker_sleeps, 0);
            atomic_store(&ring->is_expected, 0);
        }
        ring_writer_open(&own->writer, ring, owner->spin_ns);
        atomic_store(&own->last_posted, 0);
        pthread_mutex_unlock(&own->mutex);
    }
}

/* For worker_get_status, which any thread may call. */
static bool set_failed(struct client_worker *worker, const char *what, int failure)
{
    pthread_mutex_lock(&worker->lock);
    snprintf(worker->cause, sizeof(worker->cause), "%.200s: %s", what, strerror(failure));
    pthread_mutex_unlock(&worker->lock);
    return false;
}

enum { SOCKET_LIFELINE, SOCKET_PASSING, SOCKETS };

static void close_sockets(const int sockets[SOCKETS])
{
    for (int i = 0; i < SOCKETS; i++)
        if (sockets[i] >= 0)
            close(sockets[i]);
}

/* Both ends of each; false: errno says why, and nothing stays open. */
static bool create_sockets(int own[SOCKETS], int theirs[SOCKETS])
{
    static const int types[SOCKETS] = {SOCK_STREAM, SOCK_SEQPACKET};
    int pair[2], failure = 0;

    for (int i = 0; i < SOCKETS; i++)
        own[i] = theirs[i] = -1;
    for (int i = 0; i < SOCKETS && !failure; i++) {
        if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair)) {
            failure = errno;
            break;
        }
        own[i] = pair[0];
        theirs[i] = client_move_up(pair[1]);
        failure = theirs[i] < 0 ? errno : 0;
    }
    if (!failure)
        return true;
    close_sockets(own);
    close_sockets(theirs);
    errno = failure;
    return false;
}

bool client_spawn(struct client *owner, struct client_worker *worker)
{
    char parent[16], what[64], failed[256];
    char *arguments[] = {owner->program, (char *)(uintptr_t) "--of", parent, what, NULL};
    int own[SOCKETS], theirs[SOCKETS], process = -1, failure;
    pid_t pid;

    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    snprintf(what, sizeof(what), "device=%d,generation=%u", worker->ordinal,
        atomic_load(&worker->generation) + 1);
    if (!create_control(worker) || !create_sockets(own, theirs))
        return set_failed(worker, "no memory or descriptors for a worker process", errno);
    reset_rings(owner, worker);
    fill_config(owner, worker);
    failure = spawn_program(owner->program, worker->uuid, arguments,
        (const int[]){
            theirs[SOCKET_LIFELINE], worker->control, owner->arena, theirs[SOCKET_PASSING]},
        4, &pid);
    close_sockets(theirs);
    if (!failure) {
        process = (int)syscall(SYS_pidfd_open, pid, 0);
        failure = process < 0 ? errno : 0;
        if (failure) {
            kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
    }
    if (failure) {
        close_sockets(own);
        snprintf(failed, sizeof(failed), "%.200s cannot be started", owner->program);
        return set_failed(worker, failed, failure);
    }
    pthread_mutex_lock(&worker->pass_lock);
    worker->passing = own[SOCKET_PASSING];
    pthread_mutex_unlock(&worker->pass_lock);
    pthread_mutex_lock(&worker->lock);
    worker->pid = pid;
    worker->process = process;
    worker->lifeline = own[SOCKET_LIFELINE];
    pthread_mutex_unlock(&worker->lock);
    return true;
}
