/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status names and the thread's error detail. The detail is allocated at a thread's first failure
 * and freed at its exit; thread-local storage holds pointers only, because the whole segment must
 * fit into the space that the loader reserves for libraries opened by dlopen.
 */
#include "base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/params.h"
#include "base/text.h"

/* The thread's detail, and what pool_last_error returns: its error or a constant one. */
static _Thread_local struct base_error_copy *detail __attribute__((tls_model("initial-exec")));
static _Thread_local const pool_error *last_error __attribute__((tls_model("initial-exec")));
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t detail_key;
static int has_key;

static const pool_error no_error = {.driver_name = "", .call = "", .message = ""};

/* `bare` is the error of a thread that has no memory for a detail. */
static const struct status_row {
    pool_status status;
    const char *name;
    const char *text;
    pool_error bare;
} status_rows[] = {
#define ROW(name, text)                                                                            \
    {                                                                                              \
        POOL_##name, "POOL_" #name, text,                                                          \
        {                                                                                          \
            .status = POOL_##name, .driver_name = "", .call = "",                                  \
            .message = text " (out of host memory for the error detail)"                           \
        }                                                                                          \
    }
    ROW(OK, "success"),
    ROW(ERR_INVALID_ARGUMENT, "an argument is invalid"),
    ROW(ERR_OUT_OF_HOST_MEMORY, "the host has no memory left"),
    ROW(ERR_OUT_OF_DEVICE_MEMORY, "the device has no memory left"),
    ROW(ERR_NOT_FOUND, "the named object does not exist"),
    ROW(ERR_NOT_BOUND, "the calling thread has no device of the pool bound"),
    ROW(ERR_WRONG_DEVICE, "another device is bound or required"),
    ROW(ERR_BUSY, "still in use"),
    ROW(ERR_NOT_READY, "asynchronous work is unfinished"),
    ROW(ERR_TIMEOUT, "the deadline passed"),
    ROW(ERR_CANCELLED, "cancelled by the caller"),
    ROW(ERR_UNSUPPORTED, "unsupported by this driver, device or build"),
    ROW(ERR_COMPILE, "the kernel source does not compile"),
    ROW(ERR_BAD_IMAGE, "the device cannot load this PTX or cubin"),
    ROW(ERR_BAD_DATA, "the data violates its format"),
    ROW(ERR_IO, "a file operation failed"),
    ROW(ERR_UNBALANCED, "bind and unbind do not match"),
    ROW(ERR_DRIVER, "a driver call failed"),
    ROW(ERR_DEVICE_UNUSABLE, "the device cannot be used"),
    ROW(ERR_DEVICE_LOST, "the worker process or the context of the device has ended"),
    ROW(ERR_NO_DRIVER, "there is no usable CUDA driver"),
    ROW(ERR_DRIVER_TOO_OLD, "the CUDA driver is too old"),
    ROW(ERR_NO_DEVICE, "there is no usable device"),
    ROW(ERR_NO_COMPILER, "there is no usable NVRTC compiler"),
    ROW(ERR_PROCESS_POISONED, "a sticky device fault ended this process's use of every GPU"),
    ROW(ERR_FORKED, "the pool belongs to the parent process"),
    ROW(ERR_SHUTDOWN, "the driver is shutting down"),
    ROW(ERR_INTERNAL, "a defect of the library"),
#undef ROW
};

static const struct status_row *find_row(pool_status status)
{
    for (size_t i = 0; i < sizeof(status_rows) / sizeof(status_rows[0]); i++)
        if (status_rows[i].status == status)
            return &status_rows[i];
    return NULL;
}

const char *pool_status_name(pool_status status)
{
    const struct status_row *row = find_row(status);

    return row ? row->name : "POOL_ERR_?";
}

const char *pool_status_text(pool_status status)
{
    const struct status_row *row = find_row(status);

    return row ? row->text : "not a status of this library";
}

pool_error_class pool_status_class(pool_status status)
{
    if (status == POOL_OK)
        return POOL_CLASS_NONE;
    if (!find_row(status) || status <= POOL_ERR_INTERNAL)
        return POOL_CLASS_INTERNAL;
    if (status <= POOL_ERR_PROCESS_POISONED)
        return POOL_CLASS_PROCESS;
    if (status <= POOL_ERR_NO_DRIVER)
        return POOL_CLASS_HOST;
    return status <= POOL_ERR_DEVICE_UNUSABLE ? POOL_CLASS_DEVICE : POOL_CLASS_CALL;
}

const char *pool_error_class_name(pool_error_class error_class)
{
    static const char *const names[] = {"none", "call", "device", "host", "process", "internal"};
    size_t index = (size_t)error_class;

    return index < sizeof(names) / sizeof(names[0]) ? names[index] : "internal";
}

const pool_error *pool_last_error(void)
{
    return last_error ? last_error : &no_error;
}

/* A destructor that runs later may fail and allocate a detail again; this one then runs again. */
static void free_detail(void *value)
{
    detail = NULL;
    last_error = NULL;
    base_free(value);
}

static void make_key(void)
{
    has_key = pthread_key_create(&detail_key, free_detail) == 0;
}

/* The thread's detail, allocated if need be; NULL without memory. */
static struct base_error_copy *open_detail(void)
{
    struct base_error_copy *made;

    if (detail)
        return detail;
    pthread_once(&key_once, make_key);
    if (!has_key)
        return NULL;
    made = base_calloc(1, sizeof(*made));
    if (!made || pthread_setspecific(detail_key, made)) {
        base_free(made);
        return NULL;
    }
    detail = made;
    return made;
}

/* Without memory for a detail the status and its general text remain. */
static void show_bare(pool_status status)
{
    const struct status_row *row = find_row(status);

    last_error = row ? &row->bare : &find_row(POOL_ERR_INTERNAL)->bare;
}

static void show(struct base_error_copy *shown)
{
    shown->error.call = shown->call;
    shown->error.message = shown->message;
    last_error = &shown->error;
}

static void record(bool is_logged, pool_status status, int driver_code, const char *driver_name,
    const char *call, const char *format, va_list arguments)
{
    struct base_error_copy *own = open_detail();
    char message[sizeof(own->message) + 1]; /* one more byte detects a message that is too long */

    /* The arguments may point into the old detail, so the message is written to a separate buffer.
     */
    vsnprintf(message, sizeof(message), format, arguments);
    base_text_make_printable(message, "\n\t"); /* names of files and devices may have anything */
    if (own) {
        own->error.status = status;
        own->error.driver_code = driver_code;
        own->error.driver_name = driver_name;
        snprintf(own->call, sizeof(own->call), "%s", call);
        base_text_copy(own->message, sizeof(own->message), message);
        show(own);
    } else {
        show_bare(status);
    }
    if (is_logged)
        base_log_failure(message, pool_status_name(status), call, driver_code);
}

pool_status base_fail(pool_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(true, status, 0, "", "", format, arguments);
    va_end(arguments);
    return status;
}

pool_status base_fail_quietly(pool_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(false, status, 0, "", "", format, arguments);
    va_end(arguments);
    return status;
}

pool_status pool_error_set(pool_status status, const char *message)
{
    if (!message)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "pool_error_set: message must not be NULL");
    if (status >= POOL_OK)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_error_set: status %d is not a failure, which are negative", (int)status);
    return base_fail(status, "%s", message);
}

pool_status base_fail_driver(pool_status status, int driver_code, const char *driver_name,
    const char *call, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(true, status, driver_code, driver_name, call, format, arguments);
    va_end(arguments);
    return status;
}

static const struct base_struct slot_type = BASE_STRUCT(pool_error_slot);

pool_status base_error_slot_check(
    const char *call, const char *argument, const pool_error_slot *slot)
{
    return slot ? base_struct_check(&slot_type, call, argument, slot) : POOL_OK;
}

void base_error_fill(pool_error_slot *slot)
{
    const pool_error *error = pool_last_error();
    pool_error_slot now = {
        .struct_size = sizeof(now), .status = error->status, .driver_code = error->driver_code};

    if (!base_struct_is_valid(&slot_type, slot))
        return;
    base_text_copy(now.driver_name, sizeof(now.driver_name), error->driver_name);
    base_text_copy(now.call, sizeof(now.call), error->call);
    base_text_copy(now.message, sizeof(now.message), error->message);
    base_struct_write(&slot_type, &now, slot);
}

pool_status pool_error_read(pool_error_slot *slot)
{
    pool_status status = base_struct_check(&slot_type, "pool_error_read", "slot", slot);

    if (!status)
        base_error_fill(slot);
    return status;
}

void base_error_save(struct base_error_copy *copy)
{
    const pool_error *error = pool_last_error();

    copy->error = *error;
    snprintf(copy->call, sizeof(copy->call), "%s", error->call);
    snprintf(copy->message, sizeof(copy->message), "%s", error->message);
}

void base_error_restore(const struct base_error_copy *copy)
{
    struct base_error_copy *own;

    if (copy->error.status == POOL_OK) {
        last_error = NULL;
        return;
    }
    own = open_detail();
    if (!own) {
        show_bare(copy->error.status);
        return;
    }
    *own = *copy;
    show(own);
}
