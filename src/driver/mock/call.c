/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that every driver call executes before and after its own work: counting, the test's
 * hook, expectations and failures, the sticky fault, the checks common to all functions, and the
 * log.
 */
#include "driver/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Non-zero while a hook, effect or host function of the test runs on this thread. */
static _Thread_local int guest_depth;

/* This thread's entry in the mock of that generation. */
static _Thread_local uint64_t thread_generation;
static _Thread_local struct mock_thread *thread_entry;

void mock_guest_begin(void)
{
    guest_depth++;
}

void mock_guest_end(void)
{
    guest_depth--;
}

bool mock_is_sticky(pool_cu_result code)
{
    switch (code) {
#define MOCK_STICKY_NONE false
#define MOCK_STICKY_CALL false
#define MOCK_STICKY_DEVICE false
#define MOCK_STICKY_HOST false
#define MOCK_STICKY_SHUTDOWN false
#define MOCK_STICKY_PROCESS true
#define MOCK_STICKY(name, number, harms)                                                           \
    case number:                                                                                   \
        return MOCK_STICKY_##harms;
        POOL_CU_RESULTS(MOCK_STICKY)
#undef MOCK_STICKY
    default:
        return false;
    }
}

static const struct {
    const char *symbol;
    const char *full;
} names[MOCK_FN_COUNT] = {
#define MOCK_NAME(field, symbol, suffix, version, need, parameters) {symbol, symbol suffix},
    POOL_CUDA_FUNCTIONS(MOCK_NAME)
#undef MOCK_NAME
};

const char *mock_fn_name(enum mock_fn fn)
{
    return names[fn].full;
}

bool mock_fn_is(enum mock_fn fn, const char *name)
{
    size_t length = strlen(name);

    if (length > 0 && name[length - 1] == '*')
        return strncmp(names[fn].full, name, length - 1) == 0;
    if (strcmp(names[fn].full, name) == 0)
        return true;
    /* A symbol with two versions in the table is matched by its full name only for the second one.
     */
    return fn != MOCK_FN_DeviceGetUuidV2 && strcmp(names[fn].symbol, name) == 0;
}

bool mock_fn_known(const char *name)
{
    for (int fn = 0; fn < MOCK_FN_COUNT; fn++)
        if (mock_fn_is((enum mock_fn)fn, name))
            return true;
    return false;
}

struct mock_thread *mock_thread_of(pool_mock *mock)
{
    if (thread_generation != mock->generation) {
        struct mock_thread *made = calloc(1, sizeof(*made));

        if (!made)
            return NULL;
        made->next = mock->threads;
        mock->threads = made;
        thread_entry = made;
        thread_generation = mock->generation;
    }
    return thread_entry;
}

/* ---- log text -------------------------------------------------------------------------------- */

static void name_handle(pool_mock *mock, const void *handle, char *text, size_t size)
{
    const struct mock_object *object = mock_object_find(mock, handle);

    if (!handle)
        snprintf(text, size, "NULL");
    else if (object)
        mock_object_name(object, text, size);
    else
        snprintf(text, size, "stale %p", handle);
}

static void name_address(pool_mock *mock, uint64_t address, char *text, size_t size)
{
    const struct mock_memory *memory = mock_memory_at(mock, address);
    char name[32];

    if (!memory) {
        snprintf(text, size, address ? "0x%llx" : "0", (unsigned long long)address);
        return;
    }
    mock_memory_name(memory, name, sizeof(name));
    if (address == memory->base)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s+%llu", name, (unsigned long long)(address - memory->base));
}

/* The configuration of a launch, as the arguments of cuLaunchKernel have it. */
static void name_config(
    pool_mock *mock, const pool_cu_launch_config *config, char *text, size_t size)
{
    char stream[32];

    if (!config) {
        snprintf(text, size, "NULL");
        return;
    }
    name_handle(mock, config->stream, stream, sizeof(stream));
    snprintf(text, size, "%u, %u, %u, %u, %u, %u, %u, %s, %u", config->grid[0], config->grid[1],
        config->grid[2], config->block[0], config->block[1], config->block[2],
        config->dynamic_shared_bytes, stream, config->attribute_count);
}

static void name_argument(
    pool_mock *mock, const struct mock_argument *argument, char *text, size_t size)
{
    const void *pointer = (const void *)(uintptr_t)argument->value;

    switch (argument->letter) {
    case 'h':
        name_handle(mock, pointer, text, size);
        break;
    case 'a':
        name_address(mock, argument->value, text, size);
        break;
    case 'p':
        snprintf(text, size, "%s", pointer ? "host" : "NULL");
        break;
    case 'i':
        snprintf(text, size, "%lld", (long long)argument->value);
        break;
    case 'u':
        snprintf(text, size, "%llu", (unsigned long long)argument->value);
        break;
    case 'c':
        name_config(mock, pointer, text, size);
        break;
    default:
        snprintf(text, size, "%.60s", pointer ? (const char *)pointer : "NULL");
    }
}

static void write_text(struct mock_call *call, const struct mock_argument *arguments)
{
    size_t size = sizeof(call->text);
    const char *name =
        call->fn == MOCK_FN_DeviceGetUuidV2 ? names[call->fn].full : names[call->fn].symbol;
    size_t used = (size_t)snprintf(call->text, size, "%s(", name);

    for (const struct mock_argument *at = arguments; at->letter; at++) {
        char one[128];

        name_argument(call->mock, at, one, sizeof(one));
        if (used < size)
            used += (size_t)snprintf(
                call->text + used, size - used, "%s%s", at == arguments ? "" : ", ", one);
    }
    if (used > size - 2)
        used = size - 2;
    snprintf(call->text + used, size - used, ")");
}

static void write_log(struct mock_call *call, pool_cu_result code)
{
    pool_mock *mock = call->mock;
    char line[280];
    char device[24] = "";

    if (mock->no_log)
        return;
    if (call->device >= 0)
        snprintf(device, sizeof(device), " on dev%d", call->device);
    snprintf(line, sizeof(line), "%llu: %s = %u%s", (unsigned long long)call->number, call->text,
        code, device);
    char **slot = &mock->lines[mock->line_count++ % MOCK_LOG_LINES];
    free(*slot);
    *slot = strdup(line);
}

void mock_log_clear(pool_mock *mock)
{
    uint64_t used = mock->line_count < MOCK_LOG_LINES ? mock->line_count : MOCK_LOG_LINES;

    for (uint64_t i = 0; i < used; i++) {
        free(mock->lines[i]);
        mock->lines[i] = NULL;
    }
    mock->line_count = 0;
}

/* ---- expectations and failures --------------------------------------------------------------- */

static bool matches_expectation(const struct mock_call *call, const char *expected)
{
    return strchr(expected, '(') ? strcmp(call->text, expected) == 0
                                 : mock_fn_is(call->fn, expected);
}

/* The result that the script specifies for this call, or 0. */
static pool_cu_result follow_script(struct mock_call *call)
{
    pool_mock *mock = call->mock;
    size_t at = mock->script_next;

    if (mock->script_count == 0 || mock->script_broken || call->fn == MOCK_FN_GetErrorName ||
        call->fn == MOCK_FN_GetErrorString)
        return 0;
    bool gap = at < mock->script_count && strcmp(mock->script[at].call, "...") == 0;
    if (gap)
        at++;
    if (at < mock->script_count && matches_expectation(call, mock->script[at].call)) {
        mock->script_next = at + 1;
        return (pool_cu_result)mock->script[at].answer;
    }
    if (gap)
        return 0;
    mock->script_broken = true;
    mock_string_append(&mock->misuse_log, "call %llu: expected %s, came %s\n",
        (unsigned long long)call->number,
        at < mock->script_count ? mock->script[at].call : "no more calls", call->text);
    return 0;
}

static bool matches_failure(const struct mock_failure *failure, const struct mock_call *call)
{
    return (failure->device < 0 || failure->device == call->device) &&
           (!failure->function || mock_fn_is(call->fn, failure->function));
}

/* Every failure counts all calls that it matches, including those for which another failure
 * applies. */
static pool_cu_result next_failure(struct mock_call *call)
{
    pool_mock *mock = call->mock;
    pool_cu_result code = 0;

    for (size_t i = 0; i < mock->failure_count; i++) {
        struct mock_failure *failure = &mock->failures[i];

        if (!failure->left || !matches_failure(failure, call))
            continue;
        if (failure->left > 1) {
            failure->left--;
            continue;
        }
        if (failure->repeat == POOL_MOCK_ONCE)
            failure->left = 0;
        if (code == 0)
            code = (pool_cu_result)failure->code;
    }
    return code;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_affected_by_fault(const pool_mock *mock, enum mock_needs needs)
{
    if (!mock->sticky || needs == MOCK_ANYTIME)
        return false;
    return mock->sticky_everywhere || needs == MOCK_WORK || needs == MOCK_INSIDE;
}

static pool_cu_result check_state(struct mock_call *call, enum mock_needs needs)
{
    pool_mock *mock = call->mock;

    if (is_affected_by_fault(mock, needs))
        return mock->sticky;
    if (needs != MOCK_ANYTIME && !mock->initialised)
        return POOL_CU_NOT_INITIALIZED;
    if (needs == MOCK_INSIDE && call->thread->depth == 0)
        return POOL_CU_INVALID_CONTEXT;
    if (needs == MOCK_INSIDE && !call->context)
        return call->thread->stack[call->thread->depth - 1] ? POOL_CU_CONTEXT_IS_DESTROYED
                                                            : POOL_CU_INVALID_CONTEXT;
    return 0;
}

static bool end_with(struct mock_call *call, pool_cu_result code, bool on_demand)
{
    call->on_demand = on_demand;
    if (on_demand)
        call->mock->failures_made++;
    if (on_demand && call->fn == MOCK_FN_CtxPopCurrent)
        call->thread->unpopped--;
    call->code = mock_leave(call, code);
    return false;
}

static void find_context(struct mock_call *call, int device)
{
    struct mock_thread *thread = call->thread;

    call->scope =
        thread->depth > 0 ? mock_context_get(call->mock, thread->stack[thread->depth - 1]) : NULL;
    call->context = call->scope && call->scope->active ? mock_root(call->scope) : NULL;
    call->device = device >= 0 ? device : call->scope ? call->scope->object.device : -1;
}

/* Finds the mock and locks it; on false, call->code is the result. */
static bool begin_call(struct mock_call *call, enum mock_fn fn)
{
    pool_mock *mock = mock_current();

    memset(call, 0, offsetof(struct mock_call, text));
    call->text[0] = '\0';
    call->mock = mock;
    call->fn = fn;
    call->code = POOL_CU_DEINITIALIZED;
    if (!mock)
        return false;
    call->code = POOL_CU_NOT_INITIALIZED;
    if (mock->pid != getpid())
        return false; /* a forked child: its copy of the lock may be held for ever */
    call->code = POOL_CU_NOT_PERMITTED;
    if (guest_depth > 0)
        return false;
    pthread_mutex_lock(&mock->lock);
    call->thread = mock_thread_of(mock);
    if (call->thread)
        return true;
    pthread_mutex_unlock(&mock->lock);
    call->code = POOL_CU_OUT_OF_MEMORY;
    return false;
}

/* Runs the test's hook outside the lock. */
static pool_cu_result run_hook(struct mock_call *call)
{
    pool_mock *mock = call->mock;
    pool_mock_hook hook = mock->hook;
    void *user = mock->hook_user;
    pool_cu_result wanted;

    if (!hook)
        return 0;
    pthread_mutex_unlock(&mock->lock);
    mock_guest_begin();
    wanted = hook(user, mock_fn_name(call->fn), call->number);
    mock_guest_end();
    pthread_mutex_lock(&mock->lock);
    return wanted;
}

bool mock_enter(struct mock_call *call, enum mock_fn fn, enum mock_needs needs, int device,
    const struct mock_argument *arguments)
{
    if (!begin_call(call, fn))
        return false;
    pool_mock *mock = call->mock;
    call->number = ++mock->calls;
    mock->calls_of[fn]++;
    pool_cu_result hooked = run_hook(call);
    find_context(call, device);
    if (!mock->no_log || mock->script_count > 0)
        write_text(call, arguments);
    /* All three examine every call, so that each keeps its own count. */
    pool_cu_result scripted = follow_script(call);
    pool_cu_result due = next_failure(call);
    pool_cu_result wanted = hooked ? hooked : scripted ? scripted : due;
    if (wanted)
        return end_with(call, wanted, true);
    pool_cu_result bad = check_state(call, needs);
    return bad ? end_with(call, bad, false) : true;
}

pool_cu_result mock_leave(struct mock_call *call, pool_cu_result code)
{
    pool_mock *mock = call->mock;

    if (mock_is_sticky(code) && !mock->sticky)
        mock->sticky = code;
    write_log(call, code);
    pthread_mutex_unlock(&mock->lock);
    return code;
}
