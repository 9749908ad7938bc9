/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports every function of the table under its name in libcuda, from the rows of
 * <devicepool/driver.h> and of calls.def. For programs that are built with a default stream per
 * thread there is a second function, of which the NULL stream is that one.
 */
#include "driver/calls.h"
#include "driver/sim/libcuda/libcuda.h"

#define EXPORTED(field, symbol, suffix, version, need, parameters)                                 \
    LIBCUDA_EXPORT pool_cu_result libcuda_##field parameters __asm__(symbol suffix);
POOL_CUDA_FUNCTIONS(EXPORTED)
#undef EXPORTED

/* What is passed on for each class of arguments. */
#define PASS(class, kind, name) PASS_##class(kind, name)
#define PASS_NONE(kind, name)
#define PASS_IN(kind, name) name
#define PASS_COPY(kind, name) name
#define PASS_DEVICE(kind, name) name
#define PASS_ADDRESS(kind, name) name
#define PASS_OWNED(kind, name) name
#define PASS_HOST(kind, name) name
#define PASS_PINNED(kind, name) name
#define PASS_TEXT(kind, name) name
#define PASS_CONTEXT(kind, name) name
#define PASS_PEER(kind, name) name
#define PASS_OTHER(kind, name) name
#define PASS_ARGUMENTS(kind, name) name, extra
#define PASS_ARGUMENTS_ONLY(kind, name) name
#define PASS_HANDLE(kind, name) PASS_##kind(name)
#define PASS_NEW(kind, name) name
#define PASS_OUT(kind, name) name
#define PASS_OPTIONAL(kind, name) name
#define PASS_CONTEXT_OF(kind, name) name
#define PASS_CHARS(kind, name) name, name##_size
#define PASS_STRUCT(kind, name) name
#define PASS_PROPS(kind, name) name
#define PASS_CONFIG(kind, name) CONFIG_OF(name)
#define PASS_ACCESS(kind, name) name, name##_count
#define PASS_HANDLE_OF(kind, name) name
#define PASS_RESOURCE(kind, name) name
#define PASS_RESOURCE_MAYBE(kind, name) name
#define PASS_RESOURCE_IN(kind, name) name
#define PASS_RESOURCES(kind, name) name, name##_count
#define PASS_GROUPS(kind, name) name, name##_count
#define PASS_READ(kind, name) name
#define PASS_WRITTEN(kind, name) name

#define PASS_STREAM(name) STREAM_OF(name)
#define PASS_EVENT(name) name
#define PASS_MODULE(name) name
#define PASS_KERNEL(name) libcuda_function(name)
#define PASS_MEMORY_POOL(name) name
#define PASS_ALLOCATION(name) name
#define PASS_GRAPH(name) name
#define PASS_GRAPH_EXEC(name) name
#define PASS_GREEN(name) name
#define PASS_RESOURCE_DESC(name) name

#define STREAM_OF(name) name
#define CONFIG_OF(name) name
#define CALL_ROW(field, needs, mode, sides, ...)                                                   \
    pool_cu_result libcuda_##field(CALL_LIST(CALL_DECLARE, __VA_ARGS__))                           \
    {                                                                                              \
        return libcuda_table()->field(CALL_LIST(PASS, __VA_ARGS__));                               \
    }
#include "driver/calls.def"
#undef CALL_ROW
#undef STREAM_OF
#undef CONFIG_OF

static CUstream stream_of_thread(CUstream stream)
{
    return stream ? stream : LIBCUDA_THREAD_STREAM;
}

static const pool_cu_launch_config *config_of_thread(
    const pool_cu_launch_config *config, pool_cu_launch_config *copy)
{
    if (!config)
        return NULL;
    *copy = *config;
    copy->stream = stream_of_thread(config->stream);
    return copy;
}

#define STREAM_OF(name) stream_of_thread(name)
#define CONFIG_OF(name) config_of_thread(name, &(pool_cu_launch_config){.grid = {0}})
#define CALL_ROW(field, needs, mode, sides, ...)                                                   \
    static pool_cu_result thread_##field(CALL_LIST(CALL_DECLARE, __VA_ARGS__))                     \
    {                                                                                              \
        return libcuda_table()->field(CALL_LIST(PASS, __VA_ARGS__));                               \
    }
#include "driver/calls.def"
#undef CALL_ROW

/* The same under the names that cuda.h gives them with CUDA_API_PER_THREAD_DEFAULT_STREAM. */
#define THREAD_NAME(field, symbol)                                                                 \
    LIBCUDA_EXPORT extern __typeof__(thread_##field) exported_##field __asm__(symbol)              \
        __attribute__((alias("thread_" #field)));
#include "driver/sim/libcuda/thread_names.def"
#undef THREAD_NAME

const struct libcuda_symbol libcuda_table_symbols[] = {
#define ROW(field, symbol, suffix, version, need, parameters)                                      \
    {symbol, version, (void (*)(void))libcuda_##field, (void (*)(void))thread_##field},
    POOL_CUDA_FUNCTIONS(ROW)
#undef ROW
    /* As of 12.0 cuda.h gives it this name. */
    {"cuGraphInstantiate", 12000, (void (*)(void))libcuda_GraphInstantiateWithFlags, NULL},
};
const size_t libcuda_table_symbol_count =
    sizeof(libcuda_table_symbols) / sizeof(libcuda_table_symbols[0]);
