/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of the torture harness: they count calls of the driver, allocations and file
 * operations, inject the failure of the current point, and record its consequences for the checks
 * afterwards.
 */
#include "torture/watch.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "base/alloc.h"
#include "base/file.h"

const char *const source_names[SOURCES] = {"driver call", "allocation", "file operation"};

struct watch watch;

int watch_matches(const char *name, const char *pattern)
{
    size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(name, pattern, length - 1) == 0;
    /* The driver's names may carry a version suffix. */
    return strncmp(name, pattern, length) == 0 &&
           (name[length] == '\0' || strncmp(name + length, "_v", 2) == 0);
}

static int is_in(const char *name, const char *const *patterns)
{
    for (; patterns && *patterns; patterns++)
        if (watch_matches(name, *patterns))
            return 1;
    return 0;
}

static const char *const stack_calls[] = {
    "cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxSetCurrent", NULL};
static const char *const silent_calls[] = {"cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxSetCurrent",
    "cuCtxGetCurrent", "cuCtxGetDevice", "cuGetErrorName", "cuGetErrorString", "cuDriverGetVersion",
    NULL};

static int is_process_code(pool_cu_result code)
{
    return code == POOL_CU_ILLEGAL_ADDRESS || code == POOL_CU_LAUNCH_FAILED;
}

/* ---- where events come from ----------------------------------------------------------------- */

/* Of the last recorded run: a hash of the call stack of each event. */
enum { MAX_EVENTS = 16384 };
static uint64_t stacks[SOURCES][MAX_EVENTS];

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *hash)
{
    uint64_t *sum = hash;

    *sum = (*sum ^ (uint64_t)_Unwind_GetIP(context)) * UINT64_C(0x100000001b3);
    return _URC_NO_REASON;
}

static void record_stack(enum source source, uint64_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (n > MAX_EVENTS)
        return;
    _Unwind_Backtrace(add_frame, &hash);
    stacks[source][n - 1] = hash;
}

int watch_is_distinct(enum source source, uint64_t n, uint64_t count)
{
    int before = 0, after = 0;

    if (count > MAX_EVENTS)
        return 1;
    for (uint64_t i = 0; i < n - 1 && !before; i++)
        before = stacks[source][i] == stacks[source][n - 1];
    for (uint64_t i = n; i < count && !after; i++)
        after = stacks[source][i] == stacks[source][n - 1];
    return !before || !after;
}

/*
 * Whether this event is the one to fail. `only_asks`: the call asks for the words of a failure that
 * is there already, so that its own failure is absorbed.
 */
static int is_due(enum source source, const char *name, int only_asks)
{
    const struct torture_scenario *scenario = watch.scenario;
    const struct point *point = &watch.point;
    uint64_t n = ++watch.seen[source];

    if (watch.is_recording)
        record_stack(source, n);
    if (!watch.is_on || point->source != source || point->n == 0 || n < point->n ||
        (n > point->n && !point->from_then_on))
        return 0;
    if (watch.made++ == 0)
        snprintf(watch.first, sizeof(watch.first), "%s", name);
    if (watch.in_finish)
        return 1;
    watch.made_in_run++;
    int is_process = source == SOURCE_DRIVER && is_process_code(point->code);
    if (is_process || !(only_asks || scenario->goes_on || is_in(name, scenario->absorbs)))
        watch.any_not_absorbed = 1;
    return 1;
}

/* Every driver function that some scenario called. */
static const char *met[128];
static size_t met_count;

static void note_met(const char *function)
{
    for (size_t i = 0; i < met_count; i++)
        if (met[i] == function)
            return;
    if (met_count < sizeof(met) / sizeof(met[0]))
        met[met_count++] = function;
}

static pool_cu_result fail_driver(void *user, const char *function, uint64_t call)
{
    /* driver/ names the device of a failed call, and pool/ examines whether its context has ended,
     * which take queries. */
    static const char *const asking_calls[] = {"cuCtxGetDevice", "cuDevicePrimaryCtxGetState",
        "cuCtxGetId", "cuDevicePrimaryCtxRelease", NULL};
    int only_asks = watch.driver_failed && is_in(function, asking_calls);

    (void)user;
    (void)call;
    watch.driver_failed = 0;
    note_met(function);
    if (watch.is_lost && !watch.noise[0] && !is_in(function, silent_calls))
        snprintf(watch.noise, sizeof(watch.noise), "%s", function);
    if (!is_due(SOURCE_DRIVER, function, only_asks))
        return POOL_CU_SUCCESS;
    watch.driver_failed = 1;
    if (is_in(function, stack_calls))
        watch.stack_call_failed = 1;
    if (is_process_code(watch.point.code))
        watch.is_lost = 1;
    return watch.point.code;
}

static int fail_memory(void *user)
{
    (void)user;
    return is_due(SOURCE_MEMORY, "malloc", 0);
}

static int fail_file(void *user, const char *operation)
{
    (void)user;
    (void)operation;
    return is_due(SOURCE_FILE, "file", 0) ? EIO : 0;
}

void watch_set(struct torture *torture, int on)
{
    pool_mock_set_hook(torture->mock, on ? fail_driver : NULL, NULL);
    base_alloc_set_hook(on ? fail_memory : NULL, NULL);
    base_file_set_hook(on ? fail_file : NULL, NULL);
    watch.is_on = on;
}

void watch_print_met(void)
{
    for (size_t i = 0; i < met_count; i++)
        printf("called %s\n", met[i]);
}
