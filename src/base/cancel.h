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

/* Ends a subscription; afterwards nothing posts `wake` any more. */
void base_cancel_unsubscribe(pool_cancel *cancel, struct base_wake *wake);

#endif
