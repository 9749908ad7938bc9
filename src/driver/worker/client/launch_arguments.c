/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What launches of kernels and queries about them have besides plain arguments: the kernel's own,
 * and configurations.
 */
#include <string.h>

#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

static void fail(struct client_call *call, pool_cu_result code)
{
    if (!call->code)
        call->code = code;
}

/* Appends the bytes of the arguments, each at a multiple of 8. */
static void write_each(struct client_call *call, void **arguments)
{
    const struct worker_layout *layout = client_kernel_layout(call, call->kernel);

    if (!layout) { /* the worker will refuse the handle */
        call_word(call, WORKER_ARGUMENTS_NONE);
        call_word(call, 0);
        return;
    }
    call_word(call, WORKER_ARGUMENTS_EACH);
    if (layout->count == WORKER_LAYOUT_UNKNOWN ||
        call->count + 1 + layout->bytes / 8 > WORKER_MESSAGE_BYTES / 8) {
        fail(call, POOL_CU_NOT_SUPPORTED);
        return;
    }
    call_word(call, layout->bytes);
    for (uint32_t i = 0; i < layout->count; i++) {
        size_t words = (size_t)(worker_parameter_bytes(layout->sizes[i]) / 8);

        if (!arguments[i]) {
            fail(call, POOL_CU_INVALID_VALUE);
            return;
        }
        if (words)
            call->message.words[call->count + words - 1] = 0;
        memcpy(call->message.words + call->count, arguments[i], layout->sizes[i]);
        call->count += words;
    }
}

void call_arguments(struct client_call *call, void **arguments, void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;

    if (arguments && extra)
        fail(call, POOL_CU_INVALID_VALUE);
    if (arguments) {
        write_each(call, arguments);
        return;
    }
    for (; extra && (uintptr_t)*extra != DRIVER_LAUNCH_PARAM_END && !call->code; extra += 2) {
        if ((uintptr_t)*extra == DRIVER_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if ((uintptr_t)*extra == DRIVER_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(const size_t *)extra[1];
        else
            fail(call, POOL_CU_INVALID_VALUE);
    }
    call_word(call, buffer ? WORKER_ARGUMENTS_BUFFER : WORKER_ARGUMENTS_NONE);
    call_bytes(call, buffer, buffer ? bytes : 0);
}

/* A message has at most 8 attributes. */
void call_config(struct client_call *call, const pool_cu_launch_config *config)
{
    static const pool_cu_launch_config none;
    const pool_cu_launch_config *given = config ? config : &none;
    unsigned count = given->attributes ? given->attribute_count : 0;

    if (count > WORKER_ATTRIBUTES) {
        fail(call, POOL_CU_NOT_SUPPORTED);
        return;
    }
    call_word(call, config != NULL);
    call_word(call, given->attribute_count);
    call_word(call, given->attributes != NULL);
    for (unsigned i = 0; i < count; i++) {
        call_word(call, given->attributes[i].id);
        call_bytes(call, &given->attributes[i].value, sizeof(given->attributes[i].value));
    }
    for (int i = 0; i < 3; i++)
        call_word(call, given->grid[i]);
    for (int i = 0; i < 3; i++)
        call_word(call, given->block[i]);
    call_word(call, given->dynamic_shared_bytes);
    call_handle(call, WORKER_STREAM, given->stream);
}

pool_cu_result client_cu_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes,
    int block_size_limit)
{
    struct client_call call;
    uint64_t sizes[33] = {0};
    int grid, block;
    pool_cu_result code = call_check();

    if (code)
        return code;
    /* The driver tries multiples of the warp size. */
    for (int i = 1; shared_of && i <= 32; i++)
        sizes[i] = shared_of(32 * i);
    call_begin(&call, WORKER_OccupancyMaxPotentialBlockSize, CLIENT_WAIT);
    call_word(&call, min_grid_size != NULL);
    call_word(&call, block_size != NULL);
    call_handle(&call, WORKER_KERNEL, function);
    call_word(&call, dynamic_shared_bytes);
    call_word(&call, (uint64_t)(int64_t)block_size_limit);
    call_word(&call, shared_of != NULL);
    call_bytes(&call, sizes, shared_of ? sizeof(sizes) : 0);
    code = call_run(&call);
    if (code)
        return code;
    grid = (int)call_result(&call);
    block = (int)call_result(&call);
    if (min_grid_size)
        *min_grid_size = grid;
    if (block_size)
        *block_size = block;
    return POOL_CU_SUCCESS;
}
