/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service for the tests of 'devicepool top': opens a pool on two simulated devices with a status
 * socket, prints a line, and destroys the pool at the end of its input.
 *
 *   status_service SOCKET
 */
#include <stdio.h>

#include <devicepool.h>

int main(int argc, char **argv)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    device_pool *pool = NULL;
    pool_buffer *buffer = NULL;
    pool_device *device = NULL;

    if (argc != 2)
        return 2;
    params.status_socket = argv[1];
    if (pool_create(&pool, &params) || pool_device_at(pool, 1, &device) ||
        pool_buffer_alloc(device, 1 << 20, &buffer)) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    pool_buffer_destroy(&buffer);
    return pool_destroy(&pool) ? 1 : 0;
}
