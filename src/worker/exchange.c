/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices of different workers, by the calling thread: the source's device copies
 * into a window of the destination's (window.c), which copies out of it. Where there is no window,
 * both copy through pinned memory.
 */
#include "base/math.h"
#include "worker/client_calls.h"

/* --- through a window ------------------------------------------------------------------------- */

/* On the default stream of the side's context. */
static pool_cu_result enqueue(
    const struct client_side *side, CUdeviceptr to, CUdeviceptr from, uint64_t bytes)
{
    pool_cu_result code = client_cu_CtxPushCurrent(side->context);

    if (code)
        return code;
    code = remote_MemcpyDtoDAsync(to, from, (size_t)bytes, NULL);
    (void)client_cu_CtxPopCurrent(NULL);
    return code;
}

static pool_cu_result complete(const struct client_side *side)
{
    pool_cu_result code = client_cu_CtxPushCurrent(side->context);

    if (code)
        return code;
    code = client_cu_StreamSynchronize(NULL);
    (void)client_cu_CtxPopCurrent(NULL);
    return code;
}

struct exchange {
    const struct client_window *window;
    const struct client_side *to, *from;
    uint64_t bytes;
    uint64_t slot_bytes;
};

/* The source's device fills one slot while the destination's empties the other one. */
static uint64_t slot_offset(const struct exchange *exchange, uint64_t at)
{
    return at / exchange->slot_bytes % 2 * exchange->slot_bytes;
}

static pool_cu_result fill(const struct exchange *exchange, uint64_t at)
{
    return enqueue(exchange->from, exchange->window->writer.address + slot_offset(exchange, at),
        exchange->from->address + at, base_min(exchange->slot_bytes, exchange->bytes - at));
}

static pool_cu_result empty(const struct exchange *exchange, uint64_t at)
{
    return enqueue(exchange->to, exchange->to->address + at,
        exchange->window->owner.address + slot_offset(exchange, at),
        base_min(exchange->slot_bytes, exchange->bytes - at));
}

static pool_cu_result copy_by_window(const struct exchange *exchange)
{
    pool_cu_result code = fill(exchange, 0), emptied;

    for (uint64_t at = 0; at < exchange->bytes && !code; at += exchange->slot_bytes) {
        code = complete(exchange->from);
        if (code)
            break; /* nothing is in progress */
        code = empty(exchange, at);
        if (!code && exchange->bytes - at > exchange->slot_bytes)
            code = fill(exchange, at + exchange->slot_bytes);
        emptied = complete(exchange->to);
        code = code ? code : emptied;
        if (code)
            (void)complete(exchange->from);
    }
    return code;
}

/* --- through pinned memory -------------------------------------------------------------------- */

#define PINNED_BYTES (UINT64_C(16) << 20)

static pool_cu_result copy_part(const struct client_side *side, enum worker_function function,
    uint64_t at, uint64_t offset, uint64_t bytes)
{
    struct client_call call;
    pool_cu_result code = client_cu_CtxPushCurrent(side->context);

    if (code)
        return code;
    call_begin(&call, function, CLIENT_SYNC);
    call_worker(&call, side->worker, client_handle_read(side->context).generation);
    call_word(&call, side->address + at);
    call_word(&call, offset);
    call_word(&call, bytes);
    code = call_run(&call);
    (void)client_cu_CtxPopCurrent(NULL);
    return code;
}

static pool_cu_result copy_by_pinned(
    const struct client_side *to, const struct client_side *from, uint64_t bytes)
{
    uint64_t chunk = base_min(bytes, PINNED_BYTES), offset = client_arena_borrow(chunk);
    pool_cu_result code = POOL_CU_SUCCESS;

    if (offset == UINT64_MAX)
        return POOL_CU_OUT_OF_MEMORY;
    for (uint64_t at = 0; at < bytes && !code; at += chunk) {
        uint64_t now = base_min(bytes - at, chunk);

        code = copy_part(from, WORKER_MemcpyDtoH, at, offset, now);
        if (!code)
            code = copy_part(to, WORKER_MemcpyHtoD, at, offset, now);
    }
    client_arena_return(offset, chunk);
    return code;
}

/* ---------------------------------------------------------------------------------------------- */

pool_cu_result client_exchange(
    const struct client_side *to, const struct client_side *from, size_t bytes)
{
    struct client_window *window = &client->windows[(unsigned)to->worker->ordinal * client->count +
                                                    (unsigned)from->worker->ordinal];
    struct exchange exchange = {.window = window, .to = to, .from = from, .bytes = bytes};
    bool has_window;
    pool_cu_result code = POOL_CU_SUCCESS;

    if (!client_address_is_present(to->worker, to->address))
        return client_lost_code(to->worker);
    if (!client_address_is_present(from->worker, from->address))
        return client_lost_code(from->worker);
    pthread_mutex_lock(&window->lock);
    has_window = client_window_open(window, to, from, bytes);
    if (has_window) {
        exchange.slot_bytes = window->bytes / 2;
        code = copy_by_window(&exchange);
    }
    pthread_mutex_unlock(&window->lock);
    if (!has_window)
        code = copy_by_pinned(to, from, bytes);
    if (!code)
        atomic_fetch_add(has_window ? &to->worker->window_bytes : &to->worker->pinned_bytes, bytes);
    return code;
}
