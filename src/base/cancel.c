/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cancel request: one atomic flag.
 */
#include <devicepool/cancel.h>

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"

struct pool_cancel {
    atomic_int requested;
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
    if (cancel)
        atomic_store(&cancel->requested, 1);
}

int pool_cancel_requested(const pool_cancel *cancel)
{
    return cancel && atomic_load(&((pool_cancel *)cancel)->requested);
}

void pool_cancel_destroy(pool_cancel **cancel)
{
    if (cancel) {
        base_free(*cancel);
        *cancel = NULL;
    }
}
