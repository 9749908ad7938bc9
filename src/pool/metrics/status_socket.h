/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status socket that pool_create opens for pool_params.status_socket. It writes metrics, so
 * that it is implemented above the pool: src/pool/metrics/status_socket.c.
 */
#ifndef POOL_STATUS_SOCKET_H
#define POOL_STATUS_SOCKET_H

#include <stdbool.h>

#include <devicepool/pool.h>

struct status_socket;

/* Opens the socket and has the pool's monitor serve it. */
pool_status device_pool_open_status(
    device_pool *pool, const char *path, struct status_socket **opened);

/*
 * Deletes the socket's file and disconnects its clients; NULL is a no-op. The monitor must have
 * ended; with `has_ended` false it has not, and everything but the file stays. A forked child
 * closes its descriptors only.
 */
void device_pool_close_status(struct status_socket *status, bool is_forked, bool has_ended);

#endif
