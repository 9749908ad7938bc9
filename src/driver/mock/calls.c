/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table's functions, generated from calls.def: each logs its arguments, checks pointers,
 * ordinals and handles in the order of the parameters, and leaves the rest to mock_do_….
 */
#include "driver/calls.h"
#include "driver/mock/mock.h"

/* For each class: what is logged, what is checked, what is passed on, and the device of the call.
 */
#define LOG(class, kind, name) CALL_PART_1(ARGUMENT_##class(kind, name))
#define CHECK(class, kind, name) CALL_PART_2(ARGUMENT_##class(kind, name))
#define PASS(class, kind, name) CALL_PART_3(ARGUMENT_##class(kind, name))
#define DEVICE(class, kind, name) CALL_PART_4(ARGUMENT_##class(kind, name))

#define LOGGED(letter, value) {letter, (uint64_t)(value)},
#define REFUSED(condition, result)                                                                 \
    if (!code && (condition))                                                                      \
        code = result;

#define ARGUMENT_NONE(kind, name) (), (), (), ()
#define ARGUMENT_IN(kind, name) (LOGGED((kind)-1 < (kind)1 ? 'i' : 'u', name)), (), (, name), ()
#define ARGUMENT_COPY(kind, name) (), (), (, name), ()
#define ARGUMENT_OTHER ARGUMENT_COPY
#define ARGUMENT_ARGUMENTS(kind, name) (), (), (, name, extra), ()
#define ARGUMENT_ARGUMENTS_ONLY ARGUMENT_COPY
#define ARGUMENT_DEVICE(kind, name)                                                                \
    (LOGGED('i', name)), (REFUSED(!mock_is_device(&call, name), POOL_CU_INVALID_DEVICE)),          \
        (, name), (of_device = of_device < 0 ? name : of_device;)
#define ARGUMENT_ADDRESS(kind, name) (LOGGED('a', name)), (), (, name), ()
#define ARGUMENT_OWNED ARGUMENT_ADDRESS
#define ARGUMENT_PINNED(kind, name) (LOGGED('a', (uintptr_t)name)), (), (, name), ()
#define ARGUMENT_HOST(kind, name) (LOGGED('p', (uintptr_t)name)), (), (, name), ()
#define ARGUMENT_TEXT(kind, name)                                                                  \
    (LOGGED('s', (uintptr_t)name)), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name), ()
#define ARGUMENT_HANDLE(kind, name)                                                                \
    (LOGGED('h', (uintptr_t)name)),                                                                \
        (MOCK_TYPE_##kind *name##_object =                                                         \
                mock_object_get(&call, (const void *)(uintptr_t)name, MOCK_##kind, &code);),       \
        (, name##_object), ()
#define ARGUMENT_CONTEXT(kind, name)                                                               \
    (LOGGED('h', (uintptr_t)name)),                                                                \
        (struct mock_context *name##_object = mock_context_get(call.mock, name);                   \
            REFUSED(name && !name##_object, POOL_CU_INVALID_CONTEXT)),                             \
        (, name##_object), ()
#define ARGUMENT_PEER ARGUMENT_CONTEXT
#define ARGUMENT_OUT(kind, name) (), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name), ()
#define ARGUMENT_NEW ARGUMENT_OUT
#define ARGUMENT_CONTEXT_OF ARGUMENT_OUT
#define ARGUMENT_READ ARGUMENT_OUT
#define ARGUMENT_WRITTEN ARGUMENT_OUT
#define ARGUMENT_OPTIONAL ARGUMENT_COPY
#define ARGUMENT_HANDLE_OF ARGUMENT_OUT
#define ARGUMENT_RESOURCE ARGUMENT_OUT
#define ARGUMENT_RESOURCE_IN ARGUMENT_OUT
#define ARGUMENT_RESOURCE_MAYBE ARGUMENT_COPY
#define ARGUMENT_RESOURCES(kind, name)                                                             \
    (LOGGED('u', name##_count)), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name, name##_count), ()
#define ARGUMENT_GROUPS(kind, name)                                                                \
    (), (REFUSED(!name##_count, POOL_CU_INVALID_VALUE)), (, name, name##_count), ()
#define ARGUMENT_CHARS(kind, name)                                                                 \
    (), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name, name##_size), ()
#define ARGUMENT_STRUCT(kind, name)                                                                \
    (LOGGED('p', (uintptr_t)name)), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name), ()
#define ARGUMENT_CONFIG(kind, name)                                                                \
    (LOGGED('c', (uintptr_t)name)), (REFUSED(!name, POOL_CU_INVALID_VALUE)), (, name), ()
#define ARGUMENT_PROPS(kind, name)                                                                 \
    (LOGGED('i', name ? name->location.id : -1)), (REFUSED(!name, POOL_CU_INVALID_VALUE)),         \
        (, name), (of_device = name ? name->location.id : -1;)
#define ARGUMENT_ACCESS(kind, name)                                                                \
    (LOGGED('u', name##_count)), (REFUSED(!name && name##_count > 0, POOL_CU_INVALID_VALUE)),      \
        (, name, name##_count), ()

/* What counts as released by the caller when the test lets a call that destroys it fail. */
#define RELEASED(class, kind, name) RELEASED_##class(name)
#define RELEASED_DEVICE(name) mock_primary_release_failed(&call, name)
#define RELEASED_HANDLE(name) mock_release_failed(&call, (const void *)(uintptr_t)name)
#define RELEASED_CONTEXT RELEASED_HANDLE
#define RELEASED_ADDRESS(name) mock_memory_release_failed(&call, name)
#define RELEASED_OWNED RELEASED_ADDRESS
#define RELEASED_PINNED(name) mock_memory_release_failed(&call, (uintptr_t)name)
#define FAILED_WAIT(...)
#define FAILED_SYNC FAILED_WAIT
#define FAILED_POST FAILED_WAIT
#define FAILED_CLEANUP FAILED_WAIT
#define FAILED_END(...) CALL_FIRST(RELEASED, __VA_ARGS__);
#define FAILED_END_LATER FAILED_END

#define CALL_ROW(function, needs, mode, sides, ...)                                                \
    pool_cu_result mock_cu_##function(CALL_LIST(CALL_DECLARE, __VA_ARGS__))                        \
    {                                                                                              \
        const struct mock_argument logged[] = {CALL_EACH(LOG, __VA_ARGS__){0, 0}};                 \
        struct mock_call call;                                                                     \
        pool_cu_result code = POOL_CU_SUCCESS;                                                     \
        int of_device = -1;                                                                        \
                                                                                                   \
        CALL_EACH(DEVICE, __VA_ARGS__)                                                             \
        if (!mock_enter(&call, MOCK_FN_##function, MOCK_##needs, of_device, logged)) {             \
            FAILED_##mode(__VA_ARGS__);                                                            \
            return call.code;                                                                      \
        }                                                                                          \
        CALL_EACH(CHECK, __VA_ARGS__)                                                              \
        if (!code)                                                                                 \
            code = mock_do_##function(&call CALL_EACH(PASS, __VA_ARGS__));                         \
        return mock_leave(&call, code);                                                            \
    }
#include "driver/calls.def"
