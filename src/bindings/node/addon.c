/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Node-API addon: any function of the library by its number, at once or on a thread of Node's
 * pool; requests for leases, filters, and progress as calls of JavaScript. index.js is the layer
 * that programs use.
 */
#define NAPI_VERSION 8
#include <node_api.h>

#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

#define MAX_ARGUMENTS 16

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != napi_ok)                                                                     \
            return fail(env, "devicepool: " #call);                                                \
    } while (0)

static napi_value fail(napi_env env, const char *what)
{
    bool is_pending = false;

    if (napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending)
        napi_throw_error(env, NULL, what);
    return NULL;
}

/* ---- calls by number ---------------------------------------------------------------------------
 */

struct call {
    uint32_t function;
    uint64_t arguments[MAX_ARGUMENTS];
    char *strings[MAX_ARGUMENTS]; /* copies */
    uint64_t result;
    pool_error_slot slot;
    napi_ref kept; /* the array of arguments */
    napi_deferred deferred;
    napi_async_work work;
};

static void run(struct call *call)
{
    call->result = raw_call(call->function, call->arguments);
    if (raw_returns_status(call->function) && (int32_t)call->result != POOL_OK) {
        call->slot.struct_size = sizeof(call->slot);
        (void)pool_error_read(&call->slot);
    }
}

static void release(struct call *call)
{
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        free(call->strings[i]);
    free(call);
}

/* A number, a bigint, a boolean; the memory of a string's copy or of a view; null. */
static int read_argument(napi_env env, napi_value value, struct call *call, uint32_t i)
{
    napi_valuetype type;
    bool is = false, is_lossless;
    void *data = NULL;
    double number;
    size_t length;

    if (napi_typeof(env, value, &type) != napi_ok)
        return 0;
    switch (type) {
    case napi_undefined:
    case napi_null:
        return 1;
    case napi_boolean:
        if (napi_get_value_bool(env, value, &is) != napi_ok)
            return 0;
        call->arguments[i] = is;
        return 1;
    case napi_number:
        if (napi_get_value_double(env, value, &number) != napi_ok ||
            number != (double)(int64_t)number)
            return 0;
        call->arguments[i] = (uint64_t)(int64_t)number;
        return 1;
    case napi_bigint:
        return napi_get_value_bigint_uint64(env, value, &call->arguments[i], &is_lossless) ==
               napi_ok;
    case napi_string:
        if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok)
            return 0;
        call->strings[i] = malloc(length + 1);
        if (!call->strings[i] || napi_get_value_string_utf8(
                                     env, value, call->strings[i], length + 1, &length) != napi_ok)
            return 0;
        call->arguments[i] = (uint64_t)(uintptr_t)call->strings[i];
        return 1;
    default:
        break;
    }
    if (napi_is_typedarray(env, value, &is) == napi_ok && is) {
        if (napi_get_typedarray_info(env, value, NULL, NULL, &data, NULL, NULL) != napi_ok)
            return 0;
    } else if (napi_is_arraybuffer(env, value, &is) == napi_ok && is) {
        if (napi_get_arraybuffer_info(env, value, &data, NULL) != napi_ok)
            return 0;
    } else {
        return 0;
    }
    call->arguments[i] = (uint64_t)(uintptr_t)data;
    return 1;
}

static struct call *read_call(napi_env env, napi_value number, napi_value arguments)
{
    struct call *call = calloc(1, sizeof(*call));
    uint32_t count;
    napi_value value;

    if (!call)
        return NULL;
    if (napi_get_value_uint32(env, number, &call->function) != napi_ok ||
        napi_get_array_length(env, arguments, &count) != napi_ok || count > MAX_ARGUMENTS)
        goto refused;
    for (uint32_t i = 0; i < count; i++)
        if (napi_get_element(env, arguments, i, &value) != napi_ok ||
            !read_argument(env, value, call, i))
            goto refused;
    return call;

refused:
    release(call);
    return NULL;
}

static void set(napi_env env, napi_value object, const char *name, const char *text, int32_t number)
{
    napi_value value;
    napi_status status = text ? napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value)
                              : napi_create_int32(env, number, &value);

    if (status == napi_ok)
        (void)napi_set_named_property(env, object, name, value);
}

static napi_value error_of(napi_env env, const pool_error_slot *slot)
{
    napi_value error, message;

    /* Node prints an error as "name: message". */
    if (napi_create_string_utf8(env, slot->message, NAPI_AUTO_LENGTH, &message) != napi_ok ||
        napi_create_error(env, NULL, message, &error) != napi_ok)
        return NULL;
    set(env, error, "name", pool_status_name(slot->status), 0);
    set(env, error, "status", NULL, slot->status);
    set(env, error, "harms", pool_error_class_name(pool_status_class(slot->status)), 0);
    set(env, error, "driverCode", NULL, slot->driver_code);
    set(env, error, "driverName", slot->driver_name, 0);
    set(env, error, "call", slot->call, 0);
    return error;
}

static int has_failed(const struct call *call)
{
    return raw_returns_status(call->function) && (int32_t)call->result != POOL_OK;
}

static napi_value call_now(napi_env env, napi_callback_info info)
{
    size_t count = 2;
    napi_value arguments[2], result = NULL;
    struct call *call;

    CHECK(napi_get_cb_info(env, info, &count, arguments, NULL, NULL));
    call = read_call(env, arguments[0], arguments[1]);
    if (!call)
        return fail(env, "an argument is no number, string, view or null");
    run(call);
    if (has_failed(call))
        napi_throw(env, error_of(env, &call->slot));
    else if (napi_create_bigint_uint64(env, call->result, &result) != napi_ok)
        result = NULL;
    release(call);
    return result;
}

static void execute(napi_env env, void *data)
{
    (void)env;
    run(data);
}

static void complete(napi_env env, napi_status status, void *data)
{
    struct call *call = data;
    napi_value value;

    (void)status;
    napi_delete_reference(env, call->kept);
    if (has_failed(call))
        napi_reject_deferred(env, call->deferred, error_of(env, &call->slot));
    else if (napi_create_bigint_uint64(env, call->result, &value) == napi_ok)
        napi_resolve_deferred(env, call->deferred, value);
    napi_delete_async_work(env, call->work);
    release(call);
}

/* The arguments' memory is kept until the promise is settled. */
static napi_value call_later(napi_env env, napi_callback_info info)
{
    size_t count = 2;
    napi_value arguments[2], promise, name;
    struct call *call;

    CHECK(napi_get_cb_info(env, info, &count, arguments, NULL, NULL));
    CHECK(napi_create_string_utf8(env, "devicepool", NAPI_AUTO_LENGTH, &name));
    call = read_call(env, arguments[0], arguments[1]);
    if (!call)
        return fail(env, "an argument is no number, string, view or null");
    if (napi_create_reference(env, arguments[1], 1, &call->kept) != napi_ok ||
        napi_create_promise(env, &call->deferred, &promise) != napi_ok ||
        napi_create_async_work(env, NULL, name, execute, complete, call, &call->work) != napi_ok ||
        napi_queue_async_work(env, call->work) != napi_ok) {
        release(call);
        return fail(env, "a call cannot be queued");
    }
    return promise;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static napi_value address_of(napi_env env, napi_callback_info info)
{
    struct call call = {0};
    size_t count = 1;
    napi_value argument, result;

    CHECK(napi_get_cb_info(env, info, &count, &argument, NULL, NULL));
    if (!read_argument(env, argument, &call, 0) || call.strings[0]) {
        free(call.strings[0]);
        return fail(env, "only a view has an address");
    }
    CHECK(napi_create_bigint_uint64(env, call.arguments[0], &result));
    return result;
}

/* A string at an address. */
static napi_value text_at(napi_env env, napi_callback_info info)
{
    size_t count = 1;
    napi_value argument, result;
    uint64_t address;
    bool is_lossless;

    CHECK(napi_get_cb_info(env, info, &count, &argument, NULL, NULL));
    CHECK(napi_get_value_bigint_uint64(env, argument, &address, &is_lossless));
    if (!address)
        return fail(env, "no text");
    CHECK(
        napi_create_string_utf8(env, (const char *)(uintptr_t)address, NAPI_AUTO_LENGTH, &result));
    return result;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

struct waiting {
    napi_threadsafe_function function;
    napi_deferred deferred;
    pool_error_slot slot;
    pool_status status;
    pool_lease *lease;
};

/* On the thread of JavaScript. */
static void decide(napi_env env, napi_value callback, void *context, void *data)
{
    struct waiting *waiting = data;
    napi_value value;

    (void)callback;
    (void)context;
    if (env && waiting->status != POOL_OK)
        napi_reject_deferred(env, waiting->deferred, error_of(env, &waiting->slot));
    else if (env &&
             napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)waiting->lease, &value) == napi_ok)
        napi_resolve_deferred(env, waiting->deferred, value);
    else
        (void)pool_release(&waiting->lease);
    napi_release_threadsafe_function(waiting->function, napi_tsfn_release);
    free(waiting);
}

/* On a thread of the library. */
static void granted(void *user, pool_ticket *ticket)
{
    struct waiting *waiting = user;

    waiting->status = pool_ticket_take(ticket, &waiting->lease);
    (void)pool_ticket_destroy(&ticket);
    if (napi_call_threadsafe_function(waiting->function, waiting, napi_tsfn_nonblocking) !=
        napi_ok) {
        (void)pool_release(&waiting->lease); /* Node ends */
        free(waiting);
    }
}

/* acquire(pool, request): the request is a pool_request in a view. */
static napi_value acquire(napi_env env, napi_callback_info info)
{
    struct waiting *waiting = calloc(1, sizeof(*waiting));
    struct call call = {0};
    size_t count = 2;
    napi_value arguments[2], promise, name;
    pool_request request;
    pool_ticket *ticket;

    if (!waiting || napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok ||
        !read_argument(env, arguments[0], &call, 0) ||
        !read_argument(env, arguments[1], &call, 1) || !call.arguments[1] ||
        napi_create_string_utf8(env, "devicepool", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_promise(env, &waiting->deferred, &promise) != napi_ok ||
        napi_create_threadsafe_function(
            env, NULL, NULL, name, 0, 1, NULL, NULL, NULL, decide, &waiting->function) != napi_ok) {
        free(waiting);
        return fail(env, "a request cannot be made");
    }
    memcpy(&request, (const void *)(uintptr_t)call.arguments[1], sizeof(request));
    waiting->slot.struct_size = sizeof(waiting->slot);
    request.error = &waiting->slot;
    if (pool_acquire_async(
            (device_pool *)(uintptr_t)call.arguments[0], &request, granted, waiting, &ticket)) {
        napi_reject_deferred(env, waiting->deferred, error_of(env, &waiting->slot));
        napi_release_threadsafe_function(waiting->function, napi_tsfn_release);
        free(waiting);
    }
    return promise;
}

/* ---- calls of JavaScript -----------------------------------------------------------------------
 */

struct choice {
    napi_env env;
    napi_value function;
};

/* The result for the device's address, free bytes and leases; NaN after an exception. */
static double ask(const struct choice *choice, const pool_candidate *candidate)
{
    napi_env env = choice->env;
    napi_value arguments[3], undefined, result;
    bool is_pending = true;
    double number;

    if (napi_is_exception_pending(env, &is_pending) != napi_ok || is_pending ||
        napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)candidate->device, &arguments[0]) !=
            napi_ok ||
        napi_create_double(env, (double)candidate->free_bytes, &arguments[1]) != napi_ok ||
        napi_create_uint32(env, candidate->leases, &arguments[2]) != napi_ok ||
        napi_get_undefined(env, &undefined) != napi_ok ||
        napi_call_function(env, undefined, choice->function, 3, arguments, &result) != napi_ok ||
        napi_coerce_to_number(env, result, &result) != napi_ok ||
        napi_get_value_double(env, result, &number) != napi_ok)
        return 0.0 / 0.0;
    return number;
}

static int passes(void *user, const pool_candidate *candidate)
{
    return ask(user, candidate) > 0;
}

static double value_of(void *user, const pool_candidate *candidate)
{
    return ask(user, candidate);
}

/* pick(pool, policy, minimum of free bytes, function or null): a score with POOL_POLICY_SCORE, else
 * a filter. */
static napi_value pick(napi_env env, napi_callback_info info)
{
    struct choice choice = {.env = env};
    struct call call = {0};
    size_t count = 4;
    napi_value arguments[4], result;
    napi_valuetype type;
    pool_pick wanted = {.struct_size = sizeof(wanted), .user = &choice};
    pool_device *device;
    bool is_pending = false;

    CHECK(napi_get_cb_info(env, info, &count, arguments, NULL, NULL));
    CHECK(napi_typeof(env, arguments[3], &type));
    for (uint32_t i = 0; i < 3; i++)
        if (!read_argument(env, arguments[i], &call, i))
            return fail(env, "pick: an argument is no number");
    choice.function = arguments[3];
    wanted.policy = (pool_policy)call.arguments[1];
    wanted.min_free_bytes = call.arguments[2];
    if (type == napi_function && wanted.policy == POOL_POLICY_SCORE)
        wanted.score = value_of;
    else if (type == napi_function)
        wanted.filter = passes;
    if (pool_pick_device((device_pool *)(uintptr_t)call.arguments[0], &wanted, &device)) {
        pool_error_slot slot = {.struct_size = sizeof(slot)};
        (void)pool_error_read(&slot);
        CHECK(napi_is_exception_pending(env, &is_pending));
        if (!is_pending)
            napi_throw(env, error_of(env, &slot));
        return NULL;
    }
    CHECK(napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)device, &result));
    return result;
}

struct step {
    uint64_t done;
    uint64_t total;
};

static void report_step(napi_env env, napi_value callback, void *context, void *data)
{
    struct step *step = data;
    napi_value arguments[2], undefined;

    (void)context;
    if (env && napi_create_double(env, (double)step->done, &arguments[0]) == napi_ok &&
        napi_create_double(env, (double)step->total, &arguments[1]) == napi_ok &&
        napi_get_undefined(env, &undefined) == napi_ok)
        (void)napi_call_function(env, undefined, callback, 2, arguments, NULL);
    free(step);
}

/* pool_exec.progress */
static void progress(void *user, uint64_t done, uint64_t total)
{
    struct step *step = malloc(sizeof(*step));

    if (!step)
        return;
    *step = (struct step){done, total};
    if (napi_call_threadsafe_function(user, step, napi_tsfn_nonblocking) != napi_ok)
        free(step);
}

static void all_reported(napi_env env, void *data, void *hint)
{
    napi_value undefined;

    (void)hint;
    if (napi_get_undefined(env, &undefined) == napi_ok)
        napi_resolve_deferred(env, data, undefined);
}

/* progressOf(function): [address of the callback, its user, a promise of the end after
 * progressEnd(user)] */
static napi_value progress_of(napi_env env, napi_callback_info info)
{
    size_t count = 1;
    napi_value argument, name, promise, result, address, user;
    napi_threadsafe_function function;
    napi_deferred deferred;

    CHECK(napi_get_cb_info(env, info, &count, &argument, NULL, NULL));
    CHECK(napi_create_string_utf8(env, "devicepool", NAPI_AUTO_LENGTH, &name));
    CHECK(napi_create_promise(env, &deferred, &promise));
    CHECK(napi_create_threadsafe_function(
        env, argument, NULL, name, 0, 1, deferred, all_reported, NULL, report_step, &function));
    CHECK(napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)progress, &address));
    CHECK(napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)function, &user));
    CHECK(napi_create_array_with_length(env, 3, &result));
    CHECK(napi_set_element(env, result, 0, address));
    CHECK(napi_set_element(env, result, 1, user));
    CHECK(napi_set_element(env, result, 2, promise));
    return result;
}

static napi_value progress_end(napi_env env, napi_callback_info info)
{
    size_t count = 1;
    napi_value argument;
    uint64_t user;
    bool is_lossless;

    CHECK(napi_get_cb_info(env, info, &count, &argument, NULL, NULL));
    CHECK(napi_get_value_bigint_uint64(env, argument, &user, &is_lossless));
    CHECK(napi_release_threadsafe_function(
        (napi_threadsafe_function)(uintptr_t)user, napi_tsfn_release));
    return NULL;
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *name;
        napi_callback function;
    } functions[] = {{"call", call_now}, {"callAsync", call_later}, {"address", address_of},
        {"text", text_at}, {"acquire", acquire}, {"pick", pick}, {"progress", progress_of},
        {"progressEnd", progress_end}};
    napi_value value;

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        CHECK(napi_create_function(
            env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &value));
        CHECK(napi_set_named_property(env, exports, functions[i].name, value));
    }
    return exports;
}
