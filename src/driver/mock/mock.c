/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation and destruction of the mock, its function table, shared helpers.
 */
#include "driver/mock/mock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define H200_BYTES (UINT64_C(143771) << 20)

static _Atomic(pool_mock *) current_mock;
static atomic_uint_fast64_t generations;

pool_mock *mock_current(void)
{
    return atomic_load(&current_mock);
}

void mock_string_append(struct mock_string *text, const char *format, ...)
{
    va_list list;
    char *larger;
    int length;

    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0)
        return;
    size_t wanted = text->length + (size_t)length + 1;
    if (wanted > text->capacity) {
        larger = realloc(text->text, wanted * 2);
        if (!larger)
            return;
        text->text = larger;
        text->capacity = wanted * 2;
    }
    va_start(list, format);
    vsnprintf(text->text + text->length, (size_t)length + 1, format, list);
    va_end(list);
    text->length += (size_t)length;
}

pool_status mock_misuse(pool_mock *mock, pool_status status, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    mock_string_append(&mock->misuse_log, "%s\n", text);
    return status;
}

/* Removing a function leaves the table entry NULL; callers must check the table. */
static void init_table(pool_cuda_api *table)
{
    table->struct_size = sizeof(*table);
#define MOCK_FILL(field, symbol, suffix, version, need, parameters) table->field = mock_cu_##field;
    POOL_CUDA_FUNCTIONS(MOCK_FILL)
#undef MOCK_FILL
}

static bool create_devices(pool_mock *mock, uint64_t memory)
{
    size_t count = (size_t)mock->device_count;

    mock->devices = calloc(count ? count : 1, sizeof(*mock->devices));
    if (!mock->devices)
        return false;
    for (int i = 0; i < mock->device_count; i++) {
        struct mock_context *primary = calloc(1, sizeof(*primary));

        mock_device_defaults(&mock->devices[i], i, mock->device_count, memory);
        if (!primary || !mock_object_add(mock, &primary->object, MOCK_PRIMARY, i, NULL)) {
            free(primary);
            return false;
        }
        primary->object.number = (unsigned)i;
        mock->devices[i].primary = primary;
    }
    return true;
}

static void free_records(pool_mock *mock)
{
    for (size_t i = 0; mock->records && i < MOCK_LAUNCHES; i++) {
        free(mock->records[i].name);
        free(mock->records[i].values);
    }
    free(mock->records);
    mock_log_clear(mock);
}

static void free_script(pool_mock *mock)
{
    for (size_t i = 0; i < mock->failure_count; i++)
        free(mock->failures[i].function);
    for (size_t i = 0; i < mock->script_count; i++)
        free(mock->script[i].call);
    for (size_t i = 0; i < mock->kernel_count; i++)
        mock_kernel_free(mock->kernels[i]);
    for (size_t i = 0; i < mock->global_count; i++)
        free(mock->globals[i].name);
    free(mock->failures);
    free(mock->script);
    free(mock->kernels);
    free(mock->globals);
    free(mock->image_log);
    free(mock->deferred);
}

static void free_threads(pool_mock *mock)
{
    while (mock->threads) {
        struct mock_thread *thread = mock->threads;

        mock->threads = thread->next;
        free(thread->stack);
        free(thread);
    }
}

static void destroy_mock(pool_mock *mock)
{
    while (mock->memory_count > 0)
        mock_memory_release(mock, mock->memory[mock->memory_count - 1]);
    for (size_t i = mock->object_count; i-- > 0;)
        if (mock->objects[i])
            mock_object_release(mock, mock->objects[i]);
    free(mock->memory);
    free(mock->objects);
    free(mock->devices);
    free_records(mock);
    free_script(mock);
    free_threads(mock);
    free(mock->orphaned_names.text);
    free(mock->misuse_log.text);
    for (size_t i = 0; i < sizeof(mock->answers) / sizeof(mock->answers[0]); i++)
        free(mock->answers[i].text);
    pthread_cond_destroy(&mock->work_done);
    pthread_mutex_destroy(&mock->lock);
    free(mock);
}

bool mock_struct_read(const void *from, void *known, size_t known_bytes)
{
    size_t size;

    memcpy(&size, from, sizeof(size));
    if (size < known_bytes || size > MOCK_STRUCT_BYTES_MAX)
        return false;
    for (size_t i = known_bytes; i < size; i++)
        if (((const unsigned char *)from)[i])
            return false;
    memcpy(known, from, known_bytes);
    return true;
}

static bool read_params(const pool_mock_params *from, pool_mock_params *params)
{
    memset(params, 0, sizeof(*params));
    if (from && !mock_struct_read(from, params, sizeof(*params)))
        return false;
    if (params->devices == POOL_MOCK_NO_DEVICES)
        return true;
    if (params->devices == 0)
        params->devices = 1;
    return params->devices <= POOL_MOCK_MAX_DEVICES;
}

pool_status pool_mock_create(pool_mock **mock, const pool_mock_params *from)
{
    pool_mock_params params;
    pool_mock *made;
    pool_mock *none = NULL;

    if (!mock || !read_params(from, &params))
        return POOL_ERR_INVALID_ARGUMENT;
    made = calloc(1, sizeof(*made));
    if (!made)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->work_done, NULL);
    made->generation = atomic_fetch_add(&generations, 1) + 1;
    made->pid = getpid();
    made->device_count = params.devices == POOL_MOCK_NO_DEVICES ? 0 : (int)params.devices;
    made->context_bytes = params.context_bytes;
    made->version = params.driver_version ? params.driver_version : 13000;
    made->no_log = params.no_log != 0;
    made->sticky_everywhere = params.sticky_everywhere != 0;
    init_table(&made->table);
    if (!create_devices(made, params.memory_bytes ? params.memory_bytes : H200_BYTES)) {
        destroy_mock(made);
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    }
    if (!atomic_compare_exchange_strong(&current_mock, &none, made)) {
        destroy_mock(made);
        return POOL_ERR_BUSY;
    }
    *mock = made;
    return POOL_OK;
}

void pool_mock_destroy(pool_mock **mock)
{
    if (!mock || !*mock)
        return;
    pool_mock *ended = *mock;
    pool_mock *expected = ended;
    atomic_compare_exchange_strong(&current_mock, &expected, NULL);
    *mock = NULL;
    destroy_mock(ended);
}

const pool_cuda_api *pool_mock_table(pool_mock *mock)
{
    return mock ? &mock->table : NULL;
}

pool_status pool_mock_remove_function(pool_mock *mock, const char *function)
{
    if (!mock || !function)
        return POOL_ERR_INVALID_ARGUMENT;
    pthread_mutex_lock(&mock->lock);
    pool_status status = POOL_OK;
    if (!mock_fn_known(function))
        status = mock_misuse(mock, POOL_ERR_NOT_FOUND,
            "pool_mock_remove_function: there is no function %s", function);
#define MOCK_REMOVE(field, symbol, suffix, version, need, parameters)                              \
    if (mock_fn_is(MOCK_FN_##field, function))                                                     \
        mock->table.field = NULL;
    POOL_CUDA_FUNCTIONS(MOCK_REMOVE)
#undef MOCK_REMOVE
    pthread_mutex_unlock(&mock->lock);
    return status;
}

void pool_mock_set_hook(pool_mock *mock, pool_mock_hook hook, void *user)
{
    if (!mock)
        return;
    pthread_mutex_lock(&mock->lock);
    mock->hook = hook;
    mock->hook_user = user;
    pthread_mutex_unlock(&mock->lock);
}
