/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status socket of a pool (pool_params.status_socket). A task of the pool's monitor runs every
 * 100 ms: it accepts clients, writes one snapshot to each and closes the connection. Nothing here
 * waits for a client; one that does not read is disconnected.
 *
 * One thread at a time uses the state, first the creating thread, then the monitor, and the
 * destroying thread once the monitor has ended.
 *
 * The path belongs to the process that holds the lock of PATH.lock, from before the socket is bound
 * until it is closed. A forked child has neither the lock nor any of the sockets.
 */
#include "pool/metrics/status_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <devicepool/status.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/process_lock.h"
#include "base/status.h"
#include "pool/device/monitor.h"
#include "pool/metrics/snapshot.h"

enum {
    MAX_CLIENTS = 16, /* at one time; further ones wait in the backlog */
    BACKLOG = 64
};
#define CHILD_NS 1000000000u /* in which a forked child has closed its copy of the socket */
#define IDLE_NS 100000000u   /* between two runs of the task */
#define WRITING_NS 10000000u /* the same while clients have not read everything */
#define CLIENT_NS                                                                                  \
    5000000000u /* a client that has not read its snapshot by then is disconnected                 \
                 */

struct client {
    int socket; /* -1: no client */
    char *text;
    size_t size;
    size_t written;
    uint64_t deadline_ns;
};

#define LOCK_SUFFIX ".lock"

struct status_socket {
    device_pool *pool;
    int listener; /* -1: none */
    struct sockaddr_un address;
    struct process_lock lock;
    char lock_path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(LOCK_SUFFIX)];
    dev_t file_device; /* of the socket's file, which is deleted only if it is still this one */
    ino_t file_inode;
    struct client clients[MAX_CLIENTS];
    struct monitor_task task;
    struct status_socket *next;
};

static struct status_socket *sockets; /* of this process; guarded by sockets_lock */

/* Once the descriptor is not known any more, so that a child that is forked meanwhile closes no
 * other one with its number. */
static void close_known(int *known)
{
    int descriptor = *known;

    *known = -1;
    base_close(descriptor);
}

/* In a forked child, which would keep clients connected and the path served. */
static void close_all(void)
{
    for (struct status_socket *status = sockets; status; status = status->next) {
        close_known(&status->listener);
        for (int i = 0; i < MAX_CLIENTS; i++)
            close_known(&status->clients[i].socket);
    }
    sockets = NULL;
}

static struct base_lock sockets_lock = BASE_LOCK_INIT_REINIT(close_all);

static void add_socket(struct status_socket *status)
{
    base_lock(&sockets_lock);
    status->next = sockets;
    sockets = status;
    base_unlock(&sockets_lock);
}

static void remove_socket(struct status_socket *status)
{
    struct status_socket **link = &sockets;

    base_lock(&sockets_lock);
    while (*link && *link != status)
        link = &(*link)->next;
    if (*link)
        *link = status->next;
    base_unlock(&sockets_lock);
}

/* ---- clients ----------------------------------------------------------------------------------
 */

static void disconnect(struct client *client)
{
    close_known(&client->socket);
    pool_text_free(&client->text);
}

/* Whether the process at the other end belongs to this process's user or to root. */
static bool is_allowed(int socket)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return false;
    return peer.uid == geteuid() || peer.uid == 0;
}

static struct client *free_client(struct status_socket *status)
{
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (status->clients[i].socket < 0)
            return &status->clients[i];
    return NULL;
}

static void accept_clients(struct status_socket *status, uint64_t now_ns)
{
    struct client *client;

    while ((client = free_client(status))) {
        struct base_error_copy saved;

        client->socket = accept4(status->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client->socket < 0)
            return;
        base_error_save(&saved);
        client->deadline_ns = now_ns + CLIENT_NS;
        client->written = 0;
        if (!is_allowed(client->socket) || metrics_snapshot(status->pool, &client->text))
            disconnect(client);
        else
            client->size = strlen(client->text);
        base_error_restore(&saved);
    }
}

/* Writes what the client takes now; disconnects it at the end. */
static void write_to(struct client *client, uint64_t now_ns)
{
    while (client->written < client->size) {
        ssize_t count = send(client->socket, client->text + client->written,
            client->size - client->written, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN && now_ns < client->deadline_ns)
            return;
        if (count <= 0)
            break;
        client->written += (size_t)count;
    }
    disconnect(client);
}

static uint64_t serve(void *user, uint64_t now_ns)
{
    struct status_socket *status = user;
    bool is_writing = false;

    accept_clients(status, now_ns);
    for (int i = 0; i < MAX_CLIENTS; i++) {
        if (status->clients[i].socket >= 0)
            write_to(&status->clients[i], now_ns);
        is_writing |= status->clients[i].socket >= 0;
    }
    return now_ns + (is_writing ? WRITING_NS : IDLE_NS);
}

/* ---- the socket's file -------------------------------------------------------------------------
 */

static pool_status fail_socket(const struct status_socket *status, const char *what, int error)
{
    return base_fail(POOL_ERR_IO, "pool_create: `status_socket` \"%s\" cannot be %s: %s",
        status->address.sun_path, what, strerror(error));
}

static pool_status take_path(struct status_socket *status)
{
    pid_t owner;
    char process[32] = "";

    snprintf(
        status->lock_path, sizeof(status->lock_path), "%s" LOCK_SUFFIX, status->address.sun_path);
    if (!process_lock_take(&status->lock, status->lock_path, &owner))
        return POOL_OK;
    if (errno == EEXIST)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: \"%s\", the lock file of `status_socket`, is not a file of this user",
            status->lock_path);
    if (errno != EWOULDBLOCK)
        return base_fail(POOL_ERR_IO,
            "pool_create: \"%s\", the lock file of `status_socket`, cannot be locked: %s",
            status->lock_path, strerror(errno));
    if (owner)
        snprintf(process, sizeof(process), ", process %d", (int)owner);
    return base_fail(POOL_ERR_BUSY,
        "pool_create: `status_socket` \"%s\" is the socket of a running service%s",
        status->address.sun_path, process);
}

/*
 * Whether a process has a socket that is bound to the path. A socket of another type is refused
 * with EPROTOTYPE whether or not the stream socket is listened on, and no connection is made.
 */
static bool is_bound(const struct status_socket *status)
{
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_refused;

    if (probe < 0)
        return true;
    is_refused =
        connect(probe, (const struct sockaddr *)&status->address, sizeof(status->address)) &&
        errno == ECONNREFUSED;
    close(probe);
    return !is_refused;
}

/*
 * The same, but a process that a service has forked closes its copy of the socket when it first
 * runs, which on a busy host can be after the end of the service: it gets time for that.
 */
static bool stays_bound(const struct status_socket *status)
{
    const uint64_t end = base_clock_ns() + CHILD_NS;

    while (is_bound(status)) {
        if (base_clock_ns() >= end)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = WRITING_NS}, NULL);
    }
    return false;
}

/* Deletes the socket that a process of the same user has left; refuses everything else. */
static pool_status remove_stale(const struct status_socket *status)
{
    const char *path = status->address.sun_path;
    struct stat found;

    if (lstat(path, &found))
        return errno == ENOENT ? POOL_OK : fail_socket(status, "examined", errno);
    if (!S_ISSOCK(found.st_mode))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `status_socket` \"%s\" exists and is not a socket", path);
    if (found.st_uid != geteuid())
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `status_socket` \"%s\" is a socket of another user", path);
    if (stays_bound(status))
        return base_fail(POOL_ERR_BUSY,
            "pool_create: `status_socket` \"%s\" is the socket of a running service that does not "
            "hold \"%s\": end it or use another path",
            path, status->lock_path);
    return unlink(path) && errno != ENOENT ? fail_socket(status, "replaced", errno) : POOL_OK;
}

/* The file gets the mode of the unbound socket, so that it never has another one. */
static pool_status open_listener(struct status_socket *status)
{
    const struct sockaddr *address = (const struct sockaddr *)&status->address;
    struct stat made;

    status->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (status->listener < 0)
        return fail_socket(status, "opened", errno);
    if (fchmod(status->listener, 0600) || bind(status->listener, address, sizeof(status->address)))
        return fail_socket(status, "created", errno);
    if (lstat(status->address.sun_path, &made))
        return fail_socket(status, "examined", errno);
    status->file_device = made.st_dev;
    status->file_inode = made.st_ino;
    return listen(status->listener, BACKLOG) ? fail_socket(status, "opened", errno) : POOL_OK;
}

static void remove_file(const struct status_socket *status)
{
    struct stat found;

    if (status->file_inode && !lstat(status->address.sun_path, &found) &&
        found.st_dev == status->file_device && found.st_ino == status->file_inode)
        unlink(status->address.sun_path);
}

/* ---- with the pool ----------------------------------------------------------------------------
 */

pool_status device_pool_open_status(
    device_pool *pool, const char *path, struct status_socket **opened)
{
    struct status_socket *status;
    pool_status result;

    if (!*path || strlen(path) >= sizeof(status->address.sun_path))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `status_socket` has %zu bytes; the path of a socket has 1 to %zu",
            strlen(path), sizeof(status->address.sun_path) - 1);
    status = base_calloc(1, sizeof(*status));
    if (!status)
        return base_fail_memory("the status socket");
    status->pool = pool;
    status->listener = status->lock.file = -1;
    status->address.sun_family = AF_UNIX;
    strcpy(status->address.sun_path, path);
    for (int i = 0; i < MAX_CLIENTS; i++)
        status->clients[i].socket = -1;
    status->task.run = serve;
    status->task.user = status;
    add_socket(status);
    result = take_path(status);
    if (!result)
        result = remove_stale(status);
    if (!result)
        result = open_listener(status);
    if (!result)
        result = monitor_schedule(device_pool_monitor(pool), &status->task, base_clock_ns());
    if (result) {
        device_pool_close_status(status, false, true);
        return result;
    }
    *opened = status;
    return POOL_OK;
}

void device_pool_close_status(struct status_socket *status, bool is_forked, bool has_ended)
{
    if (!status)
        return;
    if (!is_forked)
        remove_file(status);
    process_lock_release(&status->lock);
    if (!has_ended)
        return; /* the monitor thread may still use everything else */
    for (int i = 0; i < MAX_CLIENTS; i++)
        if (status->clients[i].socket >= 0)
            disconnect(&status->clients[i]);
    close_known(&status->listener);
    remove_socket(status);
    base_free(status);
}
