/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service for the tests of 'devicepool top': opens a pool on two simulated devices with a status
 * socket, holds two leases, one of them overdue, lets requests wait, prints a line, and destroys
 * the pool at the end of its input.
 *
 *   status_service SOCKET [REQUESTS]
 *
 * SOCKET "": the one of the setting DEVICEPOOL_STATUS_SOCKET.
 */
#include <stdio.h>
#include <stdlib.h>

#include <devicepool.h>

enum { MOST_REQUESTS = 100 };

static pool_lease *leases[2];
static pool_ticket *tickets[MOST_REQUESTS];

/* Two leases take all slots of both devices, then requests wait. */
static pool_status acquire(device_pool *pool, int requests)
{
    pool_request request = {.struct_size = sizeof(request),
        .bytes = 3 << 20,
        .slots = 3,
        .devices = 2,
        .label = "block 7"};
    pool_status status = pool_acquire(pool, &request, &leases[0]);

    request.slots = 1;
    request.bytes = 0;
    request.duration_ns = 1;
    request.label = "Übergröße, a label of more columns than are shown";
    if (!status)
        status = pool_acquire(pool, &request, &leases[1]);
    request.bytes = 5 << 20;
    request.duration_ns = 0;
    request.timeout_ns = POOL_WAIT_FOREVER;
    request.label = "block 8";
    for (int i = 0; i < requests && !status; i++) {
        request.priority = -i;
        status = pool_acquire_async(pool, &request, NULL, NULL, &tickets[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    pool_buffer_params buffer_params = {.struct_size = sizeof(buffer_params), .bytes = 1 << 20};
    int requests = argc > 2 ? atoi(argv[2]) : 2;
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    device_pool *pool = NULL;
    pool_buffer *buffer = NULL;
    pool_device *device = NULL;

    if (argc < 2 || requests > MOST_REQUESTS)
        return 2;
    params.status_socket = argv[1][0] ? argv[1] : NULL;
    if (pool_create(&pool, &params) || pool_device_at(pool, 1, &device) ||
        acquire(pool, requests)) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        return 1;
    }
    buffer_params.lease = leases[0];
    if (pool_buffer_create(device, &buffer_params, &buffer)) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    pool_buffer_destroy(&buffer);
    for (int i = 0; i < requests; i++)
        pool_ticket_destroy(&tickets[i]);
    for (int i = 0; i < 2; i++)
        pool_release(&leases[i]);
    return pool_destroy(&pool) ? 1 : 0;
}
