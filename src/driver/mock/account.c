/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting of handles: creation, validation (live, stale or foreign), destruction, and the list
 * of leaked handles.
 */
#include "driver/mock/mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A handle consists of MARK, the mock's generation and a serial number, shifted so that it looks
 * aligned. The mark makes it a non-canonical x86-64 address.
 */
#define HANDLE_MARK UINT64_C(0x5a)
#define HANDLE_MARK_SHIFT 56
#define HANDLE_GENERATION_SHIFT 36
#define HANDLE_GENERATION_MASK UINT64_C(0xfffff)
#define HANDLE_SERIAL_SHIFT 4
#define HANDLE_SERIAL_MASK UINT64_C(0xffffffff)

static const char *const kind_names[MOCK_KINDS] = {
    [MOCK_CONTEXT] = "ctx",
    [MOCK_PRIMARY] = "primary",
    [MOCK_STREAM] = "stream",
    [MOCK_EVENT] = "event",
    [MOCK_MODULE] = "module",
    [MOCK_KERNEL] = "function",
    [MOCK_MEMORY_POOL] = "pool",
    [MOCK_ALLOCATION] = "allocation",
    [MOCK_GRAPH] = "graph",
    [MOCK_GRAPH_EXEC] = "exec",
    [MOCK_GREEN] = "green",
    [MOCK_RESOURCE_DESC] = "desc",
};

bool mock_object_add(pool_mock *mock, struct mock_object *object, enum mock_kind kind, int device,
    struct mock_context *context)
{
    if (mock->object_count == mock->object_capacity) {
        size_t capacity = mock->object_capacity ? mock->object_capacity * 2 : 64;
        struct mock_object **larger = realloc(mock->objects, capacity * sizeof(*larger));

        if (!larger)
            return false;
        mock->objects = larger;
        mock->object_capacity = capacity;
    }
    object->kind = kind;
    object->serial = mock->object_count;
    object->number = ++mock->numbers[kind];
    object->device = device;
    object->context = context;
    mock->objects[mock->object_count++] = object;
    return true;
}

void *mock_object_new(
    pool_mock *mock, size_t bytes, enum mock_kind kind, int device, struct mock_context *context)
{
    struct mock_object *object = calloc(1, bytes);

    if (object && mock_object_add(mock, object, kind, device, context))
        return object;
    free(object);
    return NULL;
}

void *mock_object_handle(const pool_mock *mock, const struct mock_object *object)
{
    uint64_t value = HANDLE_MARK << HANDLE_MARK_SHIFT |
                     (mock->generation & HANDLE_GENERATION_MASK) << HANDLE_GENERATION_SHIFT |
                     object->serial << HANDLE_SERIAL_SHIFT;

    return (void *)(uintptr_t)value;
}

struct mock_object *mock_object_find(const pool_mock *mock, const void *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    uint64_t serial = value >> HANDLE_SERIAL_SHIFT & HANDLE_SERIAL_MASK;
    struct mock_object *object = serial < mock->object_count ? mock->objects[serial] : NULL;

    return object && mock_object_handle(mock, object) == handle ? object : NULL;
}

/* Whether it is there for its owner. */
static bool is_live(const struct mock_object *object)
{
    if (object->kind == MOCK_MEMORY_POOL)
        return !((const struct mock_memory_pool *)object)->is_destroyed;
    return object->kind != MOCK_ALLOCATION ||
           !((const struct mock_allocation *)object)->is_released;
}

void *mock_object_get(
    struct mock_call *call, const void *handle, enum mock_kind kind, pool_cu_result *code)
{
    struct mock_object *object = mock_object_find(call->mock, handle);

    if (*code)
        return NULL;
    if (kind == MOCK_STREAM)
        call->stream = (CUstream)(uintptr_t)handle;
    /* A green context has no per-thread stream. */
    if (kind == MOCK_STREAM && (uintptr_t)handle < (call->scope && call->scope->green ? 2 : 3))
        return mock_default_stream(call);
    if (object && object->kind == kind && is_live(object))
        return object;
    if (kind == MOCK_GREEN) {
        *code = POOL_CU_INVALID_CONTEXT;
        return NULL;
    }
    *code = kind == MOCK_RESOURCE_DESC || kind == MOCK_MEMORY_POOL || kind == MOCK_ALLOCATION ||
                    kind == MOCK_GRAPH || kind == MOCK_GRAPH_EXEC
                ? POOL_CU_INVALID_VALUE
                : POOL_CU_INVALID_HANDLE;
    return NULL;
}

bool mock_is_device(const struct mock_call *call, int ordinal)
{
    return ordinal >= 0 && ordinal < call->mock->device_count;
}

struct mock_context *mock_context_get(const pool_mock *mock, CUcontext handle)
{
    struct mock_object *object = mock_object_find(mock, handle);

    if (!object || (object->kind != MOCK_CONTEXT && object->kind != MOCK_PRIMARY))
        return NULL;
    struct mock_context *context = (struct mock_context *)object;
    return context->active || context->object.context ? context : NULL;
}

static void free_module(struct mock_module *module)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        mock_kernel_free(module->kernels[i]);
    free(module->kernels);
}

void mock_object_release(pool_mock *mock, struct mock_object *object)
{
    mock->objects[object->serial] = NULL;
    if (object->kind == MOCK_MODULE)
        free_module((struct mock_module *)object);
    if (object->kind == MOCK_ALLOCATION)
        close(((struct mock_allocation *)object)->descriptor);
    if (object->kind == MOCK_CONTEXT || object->kind == MOCK_PRIMARY)
        free(((struct mock_context *)object)->peers);
    free(object);
}

void mock_object_name(const struct mock_object *object, char *text, size_t size)
{
    snprintf(text, size, "%s%u", kind_names[object->kind], object->number);
}

void mock_release_failed(struct mock_call *call, const void *handle)
{
    if (!call->on_demand)
        return;
    pthread_mutex_lock(&call->mock->lock);
    struct mock_object *object = mock_object_find(call->mock, handle);
    if (object)
        object->release_failed = true;
    pthread_mutex_unlock(&call->mock->lock);
}

/* ---- destruction with a context -------------------------------------------------------------- */

static void record_orphan(pool_mock *mock, const char *name)
{
    mock->orphaned++;
    mock_string_append(&mock->orphaned_names, "%s died with its context\n", name);
}

void mock_orphan(pool_mock *mock, const struct mock_object *object)
{
    char name[40];

    mock_object_name(object, name, sizeof(name));
    if (!object->release_failed)
        record_orphan(mock, name);
}

static void release_context_memory(pool_mock *mock, struct mock_context *context)
{
    for (size_t i = mock->memory_count; i-- > 0;) {
        struct mock_memory *memory = mock->memory[i];
        char name[40];

        if (memory->context != context)
            continue;
        mock_memory_name(memory, name, sizeof(name));
        if (memory->kind != MOCK_GLOBAL_MEMORY && !memory->release_failed)
            record_orphan(mock, name);
        mock_memory_release(mock, memory);
    }
}

/* Removes peer access to a context that is being destroyed. */
static void remove_from_peers(pool_mock *mock, const struct mock_context *ended)
{
    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_object *object = mock->objects[i];
        struct mock_context *context = (struct mock_context *)object;

        if (!object || (object->kind != MOCK_CONTEXT && object->kind != MOCK_PRIMARY))
            continue;
        for (size_t at = context->peer_count; at-- > 0;)
            if (context->peers[at] == ended->object.serial)
                context->peers[at] = context->peers[--context->peer_count];
    }
}

void mock_release_context(pool_mock *mock, struct mock_context *context)
{
    release_context_memory(mock, context);
    remove_from_peers(mock, context);
    /* Functions have higher serial numbers than their modules and own no other objects. */
    for (size_t i = 0; i < mock->object_count; i++) {
        struct mock_object *object = mock->objects[i];

        if (!object || object->context != context)
            continue;
        if (object->kind != MOCK_KERNEL && object->kind != MOCK_CONTEXT)
            mock_orphan(mock, object);
        if (object->kind == MOCK_GREEN)
            mock_green_end(mock, (struct mock_green *)object);
        else if (object->kind != MOCK_CONTEXT) /* of a green one */
            mock_object_release(mock, object);
    }
    context->peer_count = 0;
}

/* ---- balance --------------------------------------------------------------------------------- */

static void count_object(const struct mock_object *object, pool_mock_balance *balance)
{
    const struct mock_context *context = (const struct mock_context *)object;
    const struct mock_memory_pool *pool = (const struct mock_memory_pool *)object;

    balance->failed_releases += object->release_failed ? 1 : 0;
    switch (object->kind) {
    case MOCK_CONTEXT:
        balance->contexts += object->context ? 0 : 1; /* green ones are in pool_mock_leaks */
        balance->peer_accesses += (uint32_t)context->peer_count;
        break;
    case MOCK_PRIMARY:
        balance->primary_refs += context->references;
        balance->failed_releases += context->failed_releases;
        balance->peer_accesses += (uint32_t)context->peer_count;
        break;
    case MOCK_STREAM:
        balance->streams++;
        break;
    case MOCK_EVENT:
        balance->events++;
        break;
    case MOCK_MODULE:
        balance->modules++;
        break;
    case MOCK_MEMORY_POOL:
        balance->memory_pools += pool->is_destroyed ? 0 : 1;
        break;
    case MOCK_KERNEL:
    case MOCK_ALLOCATION:
    case MOCK_GRAPH: /* pool_mock_leaks has them */
    case MOCK_GRAPH_EXEC:
    case MOCK_GREEN:
    case MOCK_RESOURCE_DESC:
    case MOCK_KINDS:
        break;
    }
}

static void count_memory(const struct mock_memory *memory, pool_mock_balance *balance)
{
    balance->failed_releases += memory->release_failed ? 1 : 0;
    switch (memory->kind) {
    case MOCK_DEVICE_MEMORY:
    case MOCK_POOLED_MEMORY:
        balance->allocations++;
        balance->device_bytes += memory->bytes;
        break;
    case MOCK_HOST_MEMORY:
        balance->host_allocations++;
        balance->host_bytes += memory->bytes;
        break;
    case MOCK_REGISTERED_MEMORY:
        balance->host_registrations++;
        break;
    case MOCK_GLOBAL_MEMORY:
    case MOCK_RESERVED_MEMORY:
    case MOCK_MAPPED_MEMORY:
    case MOCK_OPENED_MEMORY:
    case MOCK_MEMORY_KINDS:
        break;
    }
}

void pool_mock_get_balance(pool_mock *mock, pool_mock_balance *balance)
{
    if (!mock || !balance)
        return;
    memset(balance, 0, sizeof(*balance));
    pthread_mutex_lock(&mock->lock);
    for (size_t i = 0; i < mock->object_count; i++)
        if (mock->objects[i])
            count_object(mock->objects[i], balance);
    for (size_t i = 0; i < mock->memory_count; i++)
        count_memory(mock->memory[i], balance);
    for (struct mock_thread *thread = mock->threads; thread; thread = thread->next)
        balance->stacked += (uint32_t)thread->depth;
    balance->orphaned = mock->orphaned;
    pthread_mutex_unlock(&mock->lock);
}

static void describe_leak(struct mock_string *text, const struct mock_object *object)
{
    const struct mock_context *context = (const struct mock_context *)object;
    char name[40];

    mock_object_name(object, name, sizeof(name));
    bool is_context = object->kind == MOCK_CONTEXT || object->kind == MOCK_PRIMARY;
    if (is_context && context->peer_count > 0)
        mock_string_append(text, "%s still reaches %zu peers\n", name, context->peer_count);
    if (object->release_failed || object->kind == MOCK_KERNEL ||
        object->kind == MOCK_RESOURCE_DESC || (is_context && object->context))
        return; /* functions and descriptors have no end, and a green one is listed as that */
    if (object->kind == MOCK_PRIMARY) {
        if (context->references > context->failed_releases)
            mock_string_append(text, "%s is still retained %u times\n", name,
                context->references - context->failed_releases);
        return;
    }
    if (object->kind == MOCK_ALLOCATION && ((const struct mock_allocation *)object)->is_released)
        return;
    if (object->kind == MOCK_MEMORY_POOL && ((const struct mock_memory_pool *)object)->is_destroyed)
        return;
    mock_string_append(text, "%s on device %d was not destroyed\n", name, object->device);
}

const char *pool_mock_leaks(pool_mock *mock)
{
    if (!mock)
        return "";
    pthread_mutex_lock(&mock->lock);
    struct mock_string *text = &mock->answers[0];
    text->length = 0;
    /* After a sticky fault the driver releases nothing, so what is left is not a leak. */
    for (size_t i = 0; i < mock->object_count && !mock->sticky; i++)
        if (mock->objects[i])
            describe_leak(text, mock->objects[i]);
    for (size_t i = 0; i < mock->memory_count && !mock->sticky; i++) {
        const struct mock_memory *memory = mock->memory[i];
        char name[40];

        if (memory->release_failed || memory->kind == MOCK_GLOBAL_MEMORY)
            continue;
        mock_memory_name(memory, name, sizeof(name));
        mock_string_append(text, "%s of %zu byte%s on device %d was not freed\n", name,
            memory->bytes, mock_plural(memory->bytes), memory->device);
    }
    if (mock->orphaned_names.length > 0)
        mock_string_append(text, "%s", mock->orphaned_names.text);
    for (struct mock_thread *thread = mock->threads; thread; thread = thread->next)
        if (thread->depth > 0)
            mock_string_append(
                text, "a thread still has %zu contexts on its stack\n", thread->depth);
    const char *answer = text->length > 0 ? text->text : "";
    pthread_mutex_unlock(&mock->lock);
    return answer;
}
