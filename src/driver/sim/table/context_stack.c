/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread's stack of contexts.
 */
#include "base/alloc.h"
#include "driver/sim/table/state.h"

struct stack {
    unsigned generation; /* generation of the driver that the handles belong to */
    size_t depth, capacity;
    CUcontext *items;
};

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static bool has_stack_key;

static void free_stack(void *memory)
{
    struct stack *stack = memory;

    base_free(stack->items);
    base_free(stack);
}

static void create_stack_key(void)
{
    has_stack_key = pthread_key_create(&stack_key, free_stack) == 0;
}

/* The calling thread's stack, emptied when it belongs to an earlier driver; NULL: none yet. */
static struct stack *thread_stack(void)
{
    struct stack *stack;

    pthread_once(&stack_once, create_stack_key);
    stack = has_stack_key ? pthread_getspecific(stack_key) : NULL;
    if (stack && stack->generation != sim_state.generation) {
        stack->generation = sim_state.generation;
        stack->depth = 0;
    }
    return stack;
}

pool_cu_result sim_stack_push(CUcontext handle)
{
    struct stack *stack = thread_stack();

    if (!stack) {
        stack = has_stack_key ? base_calloc(1, sizeof(*stack)) : NULL;
        if (!stack)
            return POOL_CU_OUT_OF_MEMORY;
        stack->generation = sim_state.generation;
        if (pthread_setspecific(stack_key, stack)) {
            base_free(stack);
            return POOL_CU_OUT_OF_MEMORY;
        }
    }
    if (stack->depth == stack->capacity) {
        size_t capacity = stack->capacity ? stack->capacity * 2 : 8;
        CUcontext *items = base_realloc(stack->items, capacity, sizeof(CUcontext));
        if (!items)
            return POOL_CU_OUT_OF_MEMORY;
        stack->items = items;
        stack->capacity = capacity;
    }
    stack->items[stack->depth++] = handle;
    return POOL_CU_SUCCESS;
}

CUcontext sim_stack_top(void)
{
    struct stack *stack = thread_stack();

    return stack && stack->depth ? stack->items[stack->depth - 1] : NULL;
}

void sim_stack_pop(void)
{
    thread_stack()->depth--;
}

/* Whether a context may become current. An ended green one may, as with a GPU's driver. */
static pool_cu_result check_context(CUcontext context)
{
    struct sim_context *found = NULL;
    pool_cu_result code = sim_context_of(context, &found);

    return sim_context_is_ended_green(found) ? POOL_CU_SUCCESS : code;
}

pool_cu_result sim_cu_CtxPushCurrent(CUcontext context)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxPushCurrent, SIM_NEED_INIT, -1);

    if (code)
        return code;
    code = context ? check_context(context) : POOL_CU_INVALID_VALUE;
    return sim_leave(code ? code : sim_stack_push(context));
}

pool_cu_result sim_cu_CtxPopCurrent(CUcontext *context)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxPopCurrent, SIM_NEED_INIT, -1);

    if (code)
        return code;
    struct stack *stack = thread_stack();
    if (!stack || stack->depth == 0)
        return sim_leave(POOL_CU_INVALID_CONTEXT);
    stack->depth--;
    if (context)
        *context = stack->items[stack->depth];
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxSetCurrent(CUcontext context)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxSetCurrent, SIM_NEED_INIT, -1);

    if (code)
        return code;
    struct stack *stack = thread_stack();
    bool has_top = stack && stack->depth > 0;
    if (!context) {
        if (has_top)
            stack->depth--;
        return sim_leave(POOL_CU_SUCCESS);
    }
    code = check_context(context);
    if (code)
        return sim_leave(code);
    if (!has_top)
        return sim_leave(sim_stack_push(context));
    stack->items[stack->depth - 1] = context;
    return sim_leave(POOL_CU_SUCCESS);
}

pool_cu_result sim_cu_CtxGetCurrent(CUcontext *context)
{
    struct sim_call call;
    pool_cu_result code = sim_enter(&call, SIM_CU_CtxGetCurrent, SIM_NEED_INIT, -1);

    if (code)
        return code;
    if (!context)
        return sim_leave(POOL_CU_INVALID_VALUE);
    *context = sim_stack_top();
    return sim_leave(POOL_CU_SUCCESS);
}
