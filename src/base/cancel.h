/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking a thread that sleeps when a cancel object is requested.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <devicepool/cancel.h>

#include "base/wake.h"

/*
 * From now on a request posts `wake`; one that came before is not posted, so the caller examines
 * the object afterwards. false: too many threads wait with this object, and the caller has to
 * examine it from time to time.
 */
bool base_cancel_subscribe(pool_cancel *cancel, struct base_wake *wake);

/*
 * A cancel object of the library's own, which is requested with `parent` as well; NULL: with no
 * other. Nothing subscribes to it. The parent must outlive it.
 */
pool_status base_cancel_create_child(const pool_cancel *parent, pool_cancel **cancel);

/* Whether the caller can request it: false for NULL and for a child without a parent. */
bool base_cancel_is_callers(const pool_cancel *cancel);

/* Ends a subscription; afterwards nothing posts `wake` any more. */
void base_cancel_unsubscribe(pool_cancel *cancel, struct base_wake *wake);

#endif
