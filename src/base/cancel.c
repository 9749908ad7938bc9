/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cancel request: one atomic flag, and the threads to be woken. A signal handler may request, so
 * there is no lock; a subscription ends when no request is in progress that could have seen it.
 */
#include "base/cancel.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"

#define CANCEL_WAKES 16

struct pool_cancel {
    const pool_cancel *parent; /* constant: requested with it; NULL: none */
    bool is_internal;          /* constant */
    atomic_int requested;
    atomic_uint posting; /* requests in progress */
    _Atomic(struct base_wake *) wakes[CANCEL_WAKES];
};

pool_status pool_cancel_create(pool_cancel **cancel)
{
    pool_cancel *made;

    if (!cancel)
        return base_fail_null("pool_cancel_create", "cancel");
    made = base_calloc(1, sizeof(*made));
    if (!made)
        return base_fail_memory("a cancel object");
    *cancel = made;
    return POOL_OK;
}

void pool_cancel_request(pool_cancel *cancel)
{
    if (!cancel)
        return;
    atomic_fetch_add(&cancel->posting, 1);
    atomic_store(&cancel->requested, 1);
    for (int i = 0; i < CANCEL_WAKES; i++) {
        struct base_wake *wake = atomic_load(&cancel->wakes[i]);

        if (wake)
            base_wake_post(wake);
    }
    atomic_fetch_sub(&cancel->posting, 1);
}

int pool_cancel_requested(const pool_cancel *cancel)
{
    for (; cancel; cancel = cancel->parent)
        if (atomic_load(&((pool_cancel *)cancel)->requested))
            return 1;
    return 0;
}

pool_status base_cancel_create_child(const pool_cancel *parent, pool_cancel **cancel)
{
    pool_status status = pool_cancel_create(cancel);

    if (status)
        return status;
    (*cancel)->parent = parent;
    (*cancel)->is_internal = true;
    return POOL_OK;
}

bool base_cancel_is_callers(const pool_cancel *cancel)
{
    return cancel && (!cancel->is_internal || base_cancel_is_callers(cancel->parent));
}

bool base_cancel_subscribe(pool_cancel *cancel, struct base_wake *wake)
{
    for (int i = 0; i < CANCEL_WAKES; i++) {
        struct base_wake *none = NULL;

        if (atomic_compare_exchange_strong(&cancel->wakes[i], &none, wake))
            return true;
    }
    return false;
}

void base_cancel_unsubscribe(pool_cancel *cancel, struct base_wake *wake)
{
    for (int i = 0; i < CANCEL_WAKES; i++) {
        struct base_wake *its = wake;

        atomic_compare_exchange_strong(&cancel->wakes[i], &its, NULL);
    }
    while (atomic_load(&cancel->posting))
        sched_yield();
}

void pool_cancel_destroy(pool_cancel **cancel)
{
    if (cancel) {
        base_free(*cancel);
        *cancel = NULL;
    }
}
