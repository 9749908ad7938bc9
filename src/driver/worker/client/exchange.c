/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between devices of different workers, by the calling thread: the source's device copies
 * into a window of the destination's (window.c), which copies out of it. Where there is no window,
 * both copy through pinned memory.
 */
#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

/* At 55 GB/s a slot takes 76 us to fill, and the two messages between slots a tenth of that. */
#define PINNED_SLOT_BYTES (UINT64_C(4) << 20)

struct exchange {
    const struct client_window *window;
    const struct client_side *to, *from;
    uint64_t bytes;
    uint64_t slot_bytes;
    bool is_pinned; /* pinned memory takes the place of the window */
};

/* --- the slots -------------------------------------------------------------------------------- */

/* One side fills one slot while the other side empties the other one. */
static uint64_t slot_offset(const struct exchange *exchange, uint64_t at)
{
    return at / exchange->slot_bytes % 2 * exchange->slot_bytes;
}

static size_t bytes_at(const struct exchange *exchange, uint64_t at)
{
    return (size_t)base_min(exchange->slot_bytes, exchange->bytes - at);
}

/*
 * A code that says that a device is unusable would be taken for that of the device which the caller
 * has entered, and the exchange concerns two: the process of the one that failed is ended, so that
 * the failure names it.
 */
static pool_cu_result blame(const struct client_side *side, pool_cu_result code)
{
    if (driver_code_class(code) != POOL_CLASS_DEVICE)
        return code;
    client_lose(side->worker, client_handle_read(side->context).generation, code, NULL);
    return client_lost_code(side->worker);
}

enum step { FILL, EMPTY };

/* On the default stream of the side's context, as all copies of an exchange. */
static pool_cu_result copy_slot(const struct exchange *exchange, enum step step, uint64_t at)
{
    const struct client_window *window = exchange->window;
    const struct client_side *side = step == FILL ? exchange->from : exchange->to;
    const struct client_mapping *mapping = step == FILL ? &window->writer : &window->owner;
    const uint64_t slot = slot_offset(exchange, at);
    const CUdeviceptr address = side->address + at;
    const size_t bytes = bytes_at(exchange, at);
    pool_cu_result code = client_cu_CtxPushCurrent(side->context);

    if (code)
        return code;
    if (exchange->is_pinned)
        code = step == FILL
                   ? client_cu_MemcpyDtoHAsync(window->pinned + slot, address, bytes, NULL)
                   : client_cu_MemcpyHtoDAsync(address, window->pinned + slot, bytes, NULL);
    else
        code = step == FILL ? remote_MemcpyDtoDAsync(mapping->address + slot, address, bytes, NULL)
                            : remote_MemcpyDtoDAsync(address, mapping->address + slot, bytes, NULL);
    (void)client_cu_CtxPopCurrent(NULL);
    return blame(side, code);
}

static pool_cu_result complete(const struct client_side *side)
{
    pool_cu_result code = client_cu_CtxPushCurrent(side->context);

    if (code)
        return code;
    code = client_cu_StreamSynchronize(NULL);
    (void)client_cu_CtxPopCurrent(NULL);
    return blame(side, code);
}

/* Nothing is in progress when it returns. */
static pool_cu_result copy_by_slots(const struct exchange *exchange)
{
    pool_cu_result code = copy_slot(exchange, FILL, 0), emptied;

    for (uint64_t at = 0; at < exchange->bytes && !code; at += exchange->slot_bytes) {
        code = complete(exchange->from);
        if (code)
            break;
        code = copy_slot(exchange, EMPTY, at);
        if (!code && exchange->bytes - at > exchange->slot_bytes)
            code = copy_slot(exchange, FILL, at + exchange->slot_bytes);
        emptied = complete(exchange->to);
        code = code ? code : emptied;
        if (code)
            (void)complete(exchange->from);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- */

/* Kept for further copies of the pair. */
static pool_cu_result open_pinned(struct client_window *window, const struct client_side *to)
{
    void *memory = NULL;
    pool_cu_result code;

    if (window->pinned)
        return POOL_CU_SUCCESS;
    code = client_cu_CtxPushCurrent(to->context);
    if (code)
        return code;
    code = client_cu_MemHostAlloc(&memory, 2 * PINNED_SLOT_BYTES, DRIVER_MEMHOSTALLOC_PORTABLE);
    (void)client_cu_CtxPopCurrent(NULL);
    window->pinned = memory;
    return code;
}

/* With the window's lock held. */
static pool_cu_result exchange_locked(struct exchange *exchange, struct client_window *window)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    exchange->is_pinned =
        !client_window_open(window, exchange->to, exchange->from, exchange->bytes);
    exchange->slot_bytes = exchange->is_pinned ? PINNED_SLOT_BYTES : window->bytes / 2;
    if (exchange->is_pinned)
        code = open_pinned(window, exchange->to);
    return code ? code : copy_by_slots(exchange);
}

pool_cu_result client_exchange(
    const struct client_side *to, const struct client_side *from, size_t bytes)
{
    struct client_window *window = &client->windows[(unsigned)to->worker->ordinal * client->count +
                                                    (unsigned)from->worker->ordinal];
    struct exchange exchange = {.window = window, .to = to, .from = from, .bytes = bytes};
    pool_cu_result code;

    if (!client_address_is_present(to->worker, to->address))
        return client_lost_code(to->worker);
    if (!client_address_is_present(from->worker, from->address))
        return client_lost_code(from->worker);
    pthread_mutex_lock(&window->lock);
    code = exchange_locked(&exchange, window);
    pthread_mutex_unlock(&window->lock);
    if (!code)
        atomic_fetch_add(
            exchange.is_pinned ? &to->worker->pinned_bytes : &to->worker->window_bytes, bytes);
    return code;
}
