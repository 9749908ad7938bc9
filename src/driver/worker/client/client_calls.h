/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generated functions that the hand-written ones of the same names call: remote_MemAlloc and so
 * on.
 */
#ifndef WORKER_CLIENT_CALLS_H
#define WORKER_CLIENT_CALLS_H

#include "driver/calls.h"
#include "driver/worker/client/client.h"

#define SIDES_MADE(function, ...)
#define SIDES_WRITTEN SIDES_MADE
#define SIDES_LOCAL SIDES_MADE
#define SIDES_WRAPPED(function, ...)                                                               \
    pool_cu_result remote_##function(CALL_LIST(CALL_DECLARE, __VA_ARGS__));
#define CALL_ROW(function, needs, mode, sides, ...) SIDES_##sides(function, __VA_ARGS__)
#include "driver/calls.def"
#undef SIDES_MADE
#undef SIDES_WRITTEN
#undef SIDES_LOCAL
#undef SIDES_WRAPPED

#endif
