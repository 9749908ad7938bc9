/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expands the rows of calls.def: something for each argument, and the parameters of a function.
 */
#ifndef DRIVER_CALLS_H
#define DRIVER_CALLS_H

#define CALL_EACH_1(m, a) m a
#define CALL_EACH_2(m, a, ...) m a CALL_EACH_1(m, __VA_ARGS__)
#define CALL_EACH_3(m, a, ...) m a CALL_EACH_2(m, __VA_ARGS__)
#define CALL_EACH_4(m, a, ...) m a CALL_EACH_3(m, __VA_ARGS__)
#define CALL_EACH_5(m, a, ...) m a CALL_EACH_4(m, __VA_ARGS__)
#define CALL_EACH_6(m, a, ...) m a CALL_EACH_5(m, __VA_ARGS__)
#define CALL_EACH_7(m, a, ...) m a CALL_EACH_6(m, __VA_ARGS__)
#define CALL_EACH_8(m, a, ...) m a CALL_EACH_7(m, __VA_ARGS__)
#define CALL_EACH_9(m, a, ...) m a CALL_EACH_8(m, __VA_ARGS__)
#define CALL_EACH_10(m, a, ...) m a CALL_EACH_9(m, __VA_ARGS__)
#define CALL_EACH_11(m, a, ...) m a CALL_EACH_10(m, __VA_ARGS__)
#define CALL_LIST_1(m, a) m a
#define CALL_LIST_2(m, a, ...) m a, CALL_LIST_1(m, __VA_ARGS__)
#define CALL_LIST_3(m, a, ...) m a, CALL_LIST_2(m, __VA_ARGS__)
#define CALL_LIST_4(m, a, ...) m a, CALL_LIST_3(m, __VA_ARGS__)
#define CALL_LIST_5(m, a, ...) m a, CALL_LIST_4(m, __VA_ARGS__)
#define CALL_LIST_6(m, a, ...) m a, CALL_LIST_5(m, __VA_ARGS__)
#define CALL_LIST_7(m, a, ...) m a, CALL_LIST_6(m, __VA_ARGS__)
#define CALL_LIST_8(m, a, ...) m a, CALL_LIST_7(m, __VA_ARGS__)
#define CALL_LIST_9(m, a, ...) m a, CALL_LIST_8(m, __VA_ARGS__)
#define CALL_LIST_10(m, a, ...) m a, CALL_LIST_9(m, __VA_ARGS__)
#define CALL_LIST_11(m, a, ...) m a, CALL_LIST_10(m, __VA_ARGS__)
#define CALL_PICK(a, b, c, d, e, f, g, h, i, j, k, picked, ...) picked
#define CALL_COUNT(name, ...)                                                                      \
    CALL_PICK(__VA_ARGS__, name##_11, name##_10, name##_9, name##_8, name##_7, name##_6, name##_5, \
        name##_4, name##_3, name##_2, name##_1, )

/* m(class, kind, name) for each argument: one after another, and with commas in between. */
#define CALL_EACH(m, ...) CALL_COUNT(CALL_EACH, __VA_ARGS__)(m, __VA_ARGS__)
#define CALL_LIST(m, ...) CALL_COUNT(CALL_LIST, __VA_ARGS__)(m, __VA_ARGS__)
/* The same for the first argument alone. */
#define CALL_FIRST(m, ...) CALL_FIRST_OF(m, __VA_ARGS__, )
#define CALL_FIRST_OF(m, a, ...) m a

/* A part of several, each in parentheses: CALL_PART_2((first), (second), …). */
#define CALL_OPEN(...) __VA_ARGS__
#define CALL_PART_1_OF(a, ...) CALL_OPEN a
#define CALL_PART_2_OF(a, b, ...) CALL_OPEN b
#define CALL_PART_3_OF(a, b, c, ...) CALL_OPEN c
#define CALL_PART_4_OF(a, b, c, d, ...) CALL_OPEN d
#define CALL_PART_1(...) CALL_PART_1_OF(__VA_ARGS__, )
#define CALL_PART_2(...) CALL_PART_2_OF(__VA_ARGS__, )
#define CALL_PART_3(...) CALL_PART_3_OF(__VA_ARGS__, )
#define CALL_PART_4(...) CALL_PART_4_OF(__VA_ARGS__, )

/* The types of the handles. */
#define CALL_TYPE_STREAM CUstream
#define CALL_TYPE_EVENT CUevent
#define CALL_TYPE_MODULE CUmodule
#define CALL_TYPE_KERNEL CUfunction
#define CALL_TYPE_MEMORY_POOL CUmemoryPool
#define CALL_TYPE_ALLOCATION CUmemGenericAllocationHandle
#define CALL_TYPE_GRAPH CUgraph
#define CALL_TYPE_GRAPH_EXEC CUgraphExec
#define CALL_TYPE_GREEN CUgreenCtx
#define CALL_TYPE_RESOURCE_DESC CUdevResourceDesc

/* The parameters of a function: CALL_LIST(CALL_DECLARE, …). */
#define CALL_DECLARE(class, kind, name) CALL_DECLARE_##class(kind, name)
#define CALL_DECLARE_NONE(kind, name) void
#define CALL_DECLARE_IN(kind, name) kind name
#define CALL_DECLARE_COPY(kind, name) kind name
#define CALL_DECLARE_DEVICE(kind, name) kind name
#define CALL_DECLARE_ADDRESS(kind, name) kind name
#define CALL_DECLARE_OWNED(kind, name) kind name
#define CALL_DECLARE_HOST(kind, name) kind name
#define CALL_DECLARE_PINNED(kind, name) kind name
#define CALL_DECLARE_TEXT(kind, name) kind name
#define CALL_DECLARE_CONTEXT(kind, name) kind name
#define CALL_DECLARE_PEER(kind, name) kind name
#define CALL_DECLARE_OTHER(kind, name) kind name
#define CALL_DECLARE_ARGUMENTS(kind, name) void **name, void **extra
#define CALL_DECLARE_ARGUMENTS_ONLY(kind, name) void **name
#define CALL_DECLARE_HANDLE(kind, name) CALL_TYPE_##kind name
#define CALL_DECLARE_NEW(kind, name) CALL_TYPE_##kind *name
#define CALL_DECLARE_OUT(kind, name) kind *name
#define CALL_DECLARE_OPTIONAL(kind, name) kind *name
#define CALL_DECLARE_CONTEXT_OF(kind, name) kind *name
#define CALL_DECLARE_CHARS(kind, name) char *name, kind name##_size
#define CALL_DECLARE_STRUCT(kind, name) const kind *name
#define CALL_DECLARE_PROPS(kind, name) const kind *name
#define CALL_DECLARE_CONFIG(kind, name) const kind *name
#define CALL_DECLARE_ACCESS(kind, name) const kind *name, size_t name##_count
#define CALL_DECLARE_HANDLE_OF(kind, name) CALL_TYPE_##kind *name
#define CALL_DECLARE_RESOURCE(kind, name) kind *name
#define CALL_DECLARE_RESOURCE_MAYBE(kind, name) kind *name
#define CALL_DECLARE_RESOURCE_IN(kind, name) const kind *name
#define CALL_DECLARE_RESOURCES(kind, name) kind *name, unsigned int name##_count
#define CALL_DECLARE_GROUPS(kind, name) kind *name, unsigned int *name##_count
#define CALL_DECLARE_READ(kind, name) void *name
#define CALL_DECLARE_WRITTEN(kind, name) void *name

#endif
