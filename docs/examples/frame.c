/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the code blocks of the documentation that have no main: such a block is the body of
 * the function `block` below and uses the objects declared above it. Without a block the program
 * only creates and destroys them.
 *
 *   frame [DEVICES]      "sim" runs without a GPU; default: all GPUs
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1024

/* Exits with the library's message when a call fails; with 77 if there is no device. */
static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

/* The span of `count` packed elements of the buffer. */
static pool_span on_device(pool_buffer *buffer, uint64_t count)
{
    pool_span span = {.count = count, .space = POOL_MEMORY_DEVICE};
    CUdeviceptr address;

    must(pool_buffer_address(buffer, &address));
    span.data = (void *)(uintptr_t)address;
    return span;
}

/* Stands for a memory pool that the program has created itself. */
__attribute__((unused)) static CUmemoryPool my_memory_pool(pool_device *its_device)
{
    CUmemoryPool handle;

    must(pool_memory_handle(its_device, &handle));
    return handle;
}

static device_pool *pool;
static pool_device *device;
static pool_stream *producer, *consumer;
static pool_event *done;
static uint64_t values[N];    /* elements of Goldilocks in standard form */
static pool_buffer *buffer;   /* the same on the device */
static pool_span device_span; /* all of the buffer */

/* Functions of a page stand here. */

static int block(void)
{
    /* the block */
    return 0;
}

int main(int count, char **arguments)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : NULL};

    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    must(pool_stream_create(device, NULL, &producer));
    must(pool_stream_create(device, NULL, &consumer));
    must(pool_event_create(device, 0, &done));
    must(pool_random_scalars(pool_field_by_name("goldilocks"), 1, N, POOL_FORM_STANDARD, values));
    must(pool_buffer_from_host(device, values, sizeof(values), &buffer));
    device_span = on_device(buffer, N);
    if (block())
        return 1;
    must(pool_last_error()->status);
    must(pool_buffer_destroy(&buffer));
    must(pool_event_destroy(&done));
    must(pool_stream_destroy(&producer));
    must(pool_stream_destroy(&consumer));
    must(pool_destroy(&pool));
    return 0;
}
