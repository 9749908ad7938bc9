/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mock's internal state. The mock is a library separate from devicepool: it includes public
 * headers and the rows of calls.def, and calls no function of devicepool, so that it works
 * independently of the library under test.
 *
 * One lock protects everything in struct pool_mock. mock_enter locks it and mock_leave unlocks it;
 * hooks, effects and host functions run without it.
 */
#ifndef MOCK_MOCK_H
#define MOCK_MOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/mock.h>

#include "driver/calls.h"
#include "driver/partition.h"

enum mock_fn {
#define MOCK_FN(field, symbol, suffix, version, need, parameters) MOCK_FN_##field,
    POOL_CUDA_FUNCTIONS(MOCK_FN)
#undef MOCK_FN
        MOCK_FN_COUNT
};

#define MOCK_DECLARE(field, symbol, suffix, version, need, parameters)                             \
    pool_cu_result mock_cu_##field parameters;
POOL_CUDA_FUNCTIONS(MOCK_DECLARE)
#undef MOCK_DECLARE

#define MOCK_ATTRIBUTES 160 /* one more than the highest device attribute stored */
#define MOCK_LIMITS 8
#define MOCK_LOG_LINES 4096
#define MOCK_LAUNCHES 1024
#define MOCK_ARGUMENTS 64
#define MOCK_STRUCT_BYTES_MAX 4096 /* a larger struct_size was not initialised */

/* ---- handles (account.c) --------------------------------------------------------------------- */

struct mock_call;

enum mock_kind {
    MOCK_CONTEXT,
    MOCK_PRIMARY,
    MOCK_STREAM,
    MOCK_EVENT,
    MOCK_MODULE,
    MOCK_KERNEL,
    MOCK_MEMORY_POOL,
    MOCK_ALLOCATION,
    MOCK_GRAPH,
    MOCK_GRAPH_EXEC,
    MOCK_GREEN,
    MOCK_RESOURCE_DESC,
    MOCK_KINDS
};

/*
 * The object of a handle. Handles are not addresses but tagged serial numbers that are never
 * reused, not even by the next mock: stale and foreign handles are always detected, and
 * dereferencing a handle faults.
 */
struct mock_object {
    enum mock_kind kind;
    uint64_t serial;
    unsigned number; /* number within its kind, used in names */
    int device;
    struct mock_context *context; /* owning context; NULL: owned by the device */
    bool release_failed;          /* its release failed as scripted */
};

struct mock_stream {
    struct mock_object object;
    struct mock_context *scope; /* the context or green context that it was created in */
    unsigned flags;
    int priority;
    uint64_t stall_number; /* the stall that its most recent work belongs to */
    uint64_t capture;      /* number of the capture that it is part of; 0: none */
    bool is_origin;        /* the capture began on it; the members below are of the capture */
    bool is_capture_broken;
    uint64_t operations;
};

/* A green context is a scope of its own for streams; what else is created while it is current
 * belongs to its root, the primary context. */
struct mock_context {
    struct mock_object object; /* a green one's context is its root */
    bool active;               /* a primary one without references is not */
    unsigned references;
    unsigned greens;          /* of a primary one: its green ones, which keep it active */
    struct mock_green *green; /* NULL: no green one */
    unsigned failed_releases;
    unsigned flags;
    size_t limits[MOCK_LIMITS];
    struct mock_stream default_stream;
    uint64_t *peers; /* serial numbers of the contexts whose memory it may access */
    size_t peer_count;
    uint64_t stall_number;
    uint64_t id; /* another one each time it becomes active */
};

struct mock_event {
    struct mock_object object;
    unsigned flags;
    bool recorded;
    uint64_t time_ns;
    uint64_t stall_number;
    uint64_t capture; /* of its last record; 0: none */
};

/* What a green context is known by besides its CUcontext. */
struct mock_green {
    struct mock_object object;
    struct mock_context *scope;
    struct partition partition;
};

struct mock_resource_desc {
    struct mock_object object;
    struct partition partition;
};

/* A graph or, by its kind, an instantiated one. */
struct mock_graph {
    struct mock_object object;
    uint64_t operations;
};

struct mock_memory_pool {
    struct mock_object object;
    uint64_t max_bytes; /* 0: the device's memory */
    uint64_t threshold;
    uint64_t used;
    uint64_t used_high;
    uint64_t reserved;
    uint64_t reserved_high;
    int reuse[3];
    bool is_destroyed; /* destroyed, but allocations of it are live */
    unsigned allocations;
};

/* Memory without addresses. */
struct mock_allocation {
    struct mock_object object;
    size_t bytes;
    int descriptor;
    unsigned mappings;
    bool is_exportable;
    bool is_released; /* but mapped */
};

enum mock_memory_kind {
    MOCK_DEVICE_MEMORY,
    MOCK_POOLED_MEMORY,
    MOCK_GLOBAL_MEMORY, /* a module's variable */
    MOCK_HOST_MEMORY,
    MOCK_REGISTERED_MEMORY,
    MOCK_RESERVED_MEMORY, /* addresses only */
    MOCK_MAPPED_MEMORY,
    MOCK_OPENED_MEMORY, /* by an IPC handle */
    MOCK_MEMORY_KINDS
};

struct mock_memory {
    enum mock_memory_kind kind;
    uint64_t base; /* host address and device address */
    size_t bytes;
    size_t mapped; /* size of a separate mapping; 0: allocated with malloc */
    int device;
    struct mock_context *context; /* NULL for pooled memory */
    struct mock_memory_pool *pool;
    struct mock_allocation *allocation; /* of a mapping */
    struct mock_object *module;
    uint64_t id;
    unsigned number;
    unsigned flags;
    bool is_shared; /* device memory that is a mapping of `descriptor` */
    int descriptor;
    bool release_failed;
};

/* ---- devices, threads, scripted behaviour ---------------------------------------------------- */

struct mock_peer {
    int access;
    int atomics;
    int rank;
};

struct mock_device {
    char name[256];
    pool_cu_uuid uuid;
    pool_cu_uuid instance;
    uint64_t total;
    uint64_t used;   /* used by this process: allocations, pools, contexts */
    int64_t foreign; /* used by other processes */
    int attributes[MOCK_ATTRIBUTES];
    struct mock_peer peers[POOL_MOCK_MAX_DEVICES];
    struct mock_context *primary;
};

struct mock_thread {
    struct mock_thread *next;
    CUcontext *stack;
    size_t depth;
    size_t capacity;
    int64_t unpopped; /* pushes without an attempted pop */
};

struct mock_failure {
    char *function; /* NULL: any */
    int device;     /* -1: any */
    uint64_t left;  /* matching calls left until it applies */
    pool_cu_code code;
    pool_mock_repeat repeat;
};

struct mock_expectation {
    char *call;
    pool_cu_code answer;
};

struct mock_kernel {
    char *name;
    uint32_t argument_count;
    uint32_t argument_bytes[MOCK_ARGUMENTS];
    uint32_t registers;
    uint32_t shared_bytes;
    uint32_t local_bytes;
    uint32_t max_threads;
    pool_mock_effect effect;
    void *user;
    uint64_t launches;
};

struct mock_module {
    struct mock_object object;
    struct mock_kernel **kernels; /* kernels named by the module's PTX, owned by the module */
    size_t kernel_count;
};

struct mock_function {
    struct mock_object object;
    struct mock_module *module;
    struct mock_kernel *kernel;
    int max_dynamic_shared;
    int carveout;
    int allows_large_clusters;
};

struct mock_global {
    char *name;
    size_t bytes;
};

struct mock_record {
    pool_mock_launch launch;
    char *name;
    uint32_t argument_bytes[MOCK_ARGUMENTS];
    const void *arguments[MOCK_ARGUMENTS];
    unsigned char *values;
};

struct mock_host_call {
    pool_cu_host_function function;
    void *user;
};

/* A string that grows; when memory runs out, it stays truncated. */
struct mock_string {
    char *text;
    size_t length;
    size_t capacity;
};

struct pool_mock {
    pool_cuda_api table;
    pthread_mutex_t lock;
    pthread_cond_t work_done;
    uint64_t generation; /* number of the mock within the process */
    int pid;
    int device_count;
    struct mock_device *devices;
    uint64_t context_bytes;
    int version;
    bool no_log;
    bool sticky_everywhere;
    bool initialised;
    pool_cu_result sticky;

    struct mock_object **objects; /* by serial number */
    size_t object_count;
    size_t object_capacity;
    unsigned numbers[MOCK_KINDS];
    struct mock_memory **memory; /* sorted by base */
    size_t memory_count;
    size_t memory_capacity;
    unsigned memory_numbers[MOCK_MEMORY_KINDS];
    uint64_t next_memory_id;
    uint64_t host_memory; /* available on the host; 0: not known */
    uint64_t context_ids; /* used so far */
    unsigned orphaned;
    struct mock_string orphaned_names;
    struct mock_thread *threads;

    pool_mock_hook hook;
    void *hook_user;
    struct mock_failure *failures;
    size_t failure_count;
    uint64_t failures_made;
    struct mock_expectation *script;
    size_t script_count;
    size_t script_next;
    bool script_broken;
    struct mock_string misuse_log;

    uint64_t calls; /* since the last reset */
    uint64_t calls_of[MOCK_FN_COUNT];
    char *lines[MOCK_LOG_LINES]; /* a ring buffer */
    uint64_t line_count;

    bool stalled;
    uint64_t stall_number; /* number of the current or most recent stall */
    struct mock_host_call *deferred;
    size_t deferred_count;
    uint64_t last_capture;
    uint64_t last_split;

    struct mock_kernel **kernels;
    size_t kernel_count;
    struct mock_global *globals;
    size_t global_count;
    pool_cu_code image_code;
    char *image_log;
    struct mock_record *records; /* a ring buffer, allocated at the first launch */
    uint64_t launch_count;

    struct mock_string answers[3]; /* leaks, verify, log: strings returned to the test */
};

/* ---- functions (calls.c) --------------------------------------------------------------------- */

/* The objects of handles. */
#define MOCK_TYPE_STREAM struct mock_stream
#define MOCK_TYPE_EVENT struct mock_event
#define MOCK_TYPE_MODULE struct mock_module
#define MOCK_TYPE_KERNEL struct mock_function
#define MOCK_TYPE_MEMORY_POOL struct mock_memory_pool
#define MOCK_TYPE_ALLOCATION struct mock_allocation
#define MOCK_TYPE_GRAPH struct mock_graph
#define MOCK_TYPE_GRAPH_EXEC struct mock_graph
#define MOCK_TYPE_GREEN struct mock_green
#define MOCK_TYPE_RESOURCE_DESC struct mock_resource_desc

/* What is left of each function once calls.c has checked its arguments; the mock is locked. Handles
 * have become objects, and contexts too, where NULL may be one. */
#define MOCK_OBJECT_NONE(kind, name) (), ()
#define MOCK_OBJECT_HANDLE(kind, name) (), (, MOCK_TYPE_##kind * name)
#define MOCK_OBJECT_CONTEXT(kind, name) (), (, struct mock_context * name)
#define MOCK_OBJECT_PEER MOCK_OBJECT_CONTEXT
#define MOCK_PARAMETER(class, kind, name)                                                          \
    CALL_PART_2(MOCK_OBJECT_##class(kind, name), (, CALL_DECLARE(class, kind, name)))
#define CALL_ROW(function, needs, mode, sides, ...)                                                \
    pool_cu_result mock_do_##function(                                                             \
        struct mock_call *call CALL_EACH(MOCK_PARAMETER, __VA_ARGS__));
#include "driver/calls.def"

/* ---- a call (call.c) ------------------------------------------------------------------------- */

/* Requirements of a function, and whether a sticky fault affects it. */
enum mock_needs {
    MOCK_ANYTIME, /* valid before cuInit */
    MOCK_QUERY,   /* requires cuInit */
    MOCK_STACK,   /* changes the thread's context stack */
    MOCK_WORK,    /* accesses a device without a current context */
    MOCK_INSIDE   /* requires a current context */
};

struct mock_call {
    pool_mock *mock;
    enum mock_fn fn;
    uint64_t number;
    struct mock_thread *thread;
    struct mock_context *context; /* the root of the current and live one, or NULL */
    struct mock_context *scope;   /* the current one, also an ended green one; or NULL */
    int device;                   /* or -1 */
    pool_cu_result code;          /* the result when mock_enter returns false */
    bool on_demand;               /* the failure was scripted by the test */
    bool is_captured;             /* the operation is part of a graph and not carried out */
    CUstream stream;              /* the handle of the stream argument */
    char text[200];
};

/* An argument in the log: h handle, a device address, p host address, i int, u unsigned, s string,
 * c configuration of a launch; 0 ends the list. */
struct mock_argument {
    char letter;
    uint64_t value;
};

/*
 * Begins a call of `fn`: counts it, runs the hook, formats the log text, applies scripted failures
 * and checks the state. Returns true with the mock locked when the function may proceed. `device`
 * -1 is the current context's device.
 */
bool mock_enter(struct mock_call *call, enum mock_fn fn, enum mock_needs needs, int device,
    const struct mock_argument *arguments);
/* Ends the call: writes the log, latches a sticky code, unlocks. */
pool_cu_result mock_leave(struct mock_call *call, pool_cu_result code);

/* Mark code that runs inside a hook, effect or host function, where driver calls return
 * NOT_PERMITTED. */
void mock_guest_begin(void);
void mock_guest_end(void);

void mock_log_clear(pool_mock *mock);

bool mock_is_sticky(pool_cu_result code);
const char *mock_fn_name(enum mock_fn fn); /* includes the version suffix */
/* Whether `name` (with or without suffix, or a prefix ending in '*') denotes `fn`. */
bool mock_fn_is(enum mock_fn fn, const char *name);
bool mock_fn_known(const char *name);
pool_mock *mock_current(void);

/* The calling thread's context stack in this mock; NULL when memory runs out. Locked. */
struct mock_thread *mock_thread_of(pool_mock *mock);

/* ---- account.c ------------------------------------------------------------------------------- */

/* Assigns a handle to the object, which the caller has allocated zeroed; false: out of memory. */
bool mock_object_add(pool_mock *mock, struct mock_object *object, enum mock_kind kind, int device,
    struct mock_context *context);
/* A new object of so many bytes, zeroed; NULL: out of memory. */
void *mock_object_new(
    pool_mock *mock, size_t bytes, enum mock_kind kind, int device, struct mock_context *context);
void *mock_object_handle(const pool_mock *mock, const struct mock_object *object);
struct mock_object *mock_object_find(const pool_mock *mock, const void *handle);
/* The object of an argument; NULL: *code was or is an error. */
void *mock_object_get(
    struct mock_call *call, const void *handle, enum mock_kind kind, pool_cu_result *code);
bool mock_is_device(const struct mock_call *call, int ordinal);
/* Removes the object and frees it with what it owns. */
void mock_object_release(pool_mock *mock, struct mock_object *object);
void mock_object_name(const struct mock_object *object, char *text, size_t size);
/* Releases everything that belongs to a context that is being destroyed. */
void mock_release_context(pool_mock *mock, struct mock_context *context);
/* Marks the object as released by the caller when the failure was scripted. */
void mock_release_failed(struct mock_call *call, const void *handle);

/* A live context, or an ended green one; NULL: the handle is none. */
struct mock_context *mock_context_get(const pool_mock *mock, CUcontext handle);
static inline struct mock_context *mock_root(struct mock_context *context)
{
    return context && context->object.context ? context->object.context : context;
}
/* The object is lost with its context. */
void mock_orphan(pool_mock *mock, const struct mock_object *object);
/* The primary context of a device with a reference; false: not enough memory. */
bool mock_primary_retain(struct mock_call *call, int device);
void mock_primary_release(pool_mock *mock, int device); /* ends it if there is no other reference */
/* What a context has from its beginning: a primary one each time it becomes active. */
void mock_context_begin(pool_mock *mock, struct mock_context *context);
/* Ends a green context, which stays known. */
void mock_green_end(pool_mock *mock, struct mock_green *green);
void mock_primary_release_failed(struct mock_call *call, int device);

/* ---- memory.c -------------------------------------------------------------------------------- */

uint64_t mock_device_free(const struct mock_device *device);
struct mock_memory *mock_memory_new(
    pool_mock *mock, enum mock_memory_kind kind, size_t bytes, void *registered);
void mock_memory_release(pool_mock *mock, struct mock_memory *memory);
/* A release that failed as scripted counts as released by the caller. */
void mock_memory_release_failed(struct mock_call *call, uint64_t address);
/* The memory that contains `address`, or NULL; reserved addresses are none. */
struct mock_memory *mock_memory_at(const pool_mock *mock, uint64_t address);
void mock_memory_name(const struct mock_memory *memory, char *text, size_t size);
/* Returns unused pool memory to the device, as a synchronisation does. */
void mock_pools_trim(pool_mock *mock, int device);
void mock_pool_unuse(pool_mock *mock, struct mock_memory_pool *pool, uint64_t bytes);

/* ---- virtual.c ------------------------------------------------------------------------------- */

/* The end of a mapping: its addresses stay reserved. */
void mock_allocation_unmap(pool_mock *mock, struct mock_memory *mapping);

/* ---- stream.c -------------------------------------------------------------------------------- */

pool_cu_result mock_stream_create(struct mock_call *call, struct mock_context *scope,
    unsigned flags, int priority, CUstream *stream);
/* A recording in work of that stall. */
void mock_event_record(struct mock_event *event, uint64_t stall_number);
/* The default stream of the call's context. */
struct mock_stream *mock_default_stream(struct mock_call *call);
/* Records that work was enqueued in the stream, or captured: call->is_captured. */
void mock_stream_work(struct mock_call *call, struct mock_stream *stream);
/* Waits, with the mock locked, until the stall that the work belongs to is over. */
void mock_stall_wait(pool_mock *mock, uint64_t stall_number);
bool mock_is_stalled(const pool_mock *mock, uint64_t stall_number);

/* ---- graph.c --------------------------------------------------------------------------------- */

void mock_capture_operation(struct mock_call *call, const struct mock_stream *stream);
/* A wait of a captured stream, or for a captured event. */
pool_cu_result mock_capture_wait(
    struct mock_call *call, struct mock_stream *stream, const struct mock_event *event);
/* The capture, if it has not ended, can only be ended; returns `code`. */
pool_cu_result mock_capture_violated(pool_mock *mock, uint64_t capture, pool_cu_result code);
/* SUCCESS if no stream of the current context is captured. */
pool_cu_result mock_context_uncaptured(struct mock_call *call);

/* ---- function.c ------------------------------------------------------------------------------ */

/* The attributes of the device that the function was loaded on. */
const int *mock_function_device(const struct mock_call *call, const struct mock_function *function);
/* The most blocks that a cluster of the function may have. */
int mock_largest_cluster(const struct mock_function *function);
pool_cu_result mock_read_launch_attributes(
    const pool_cu_launch_config *config, pool_mock_launch *launch);
/* Number of blocks that fit on one of its multiprocessors at once. */
int mock_blocks_that_fit(
    const int *device, const struct mock_function *function, int threads, size_t dynamic);

/* ---- module.c, device.c, mock.c -------------------------------------------------------------- */

void mock_kernel_free(struct mock_kernel *kernel);
void mock_device_defaults(struct mock_device *device, int index, int count, uint64_t memory);
/* "s" unless count is 1: "%llu byte%s". */
static inline const char *mock_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

void mock_string_append(struct mock_string *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Copies the caller's struct, whose struct_size must be the known size, or larger with zeros after
 * the known members; returns false otherwise. The mock uses public headers only, so it cannot use
 * base/params.h.
 */
bool mock_struct_read(const void *from, void *known, size_t known_bytes);

/* Records a wrong use of the mock for pool_mock_verify and returns the status. Locked. */
pool_status mock_misuse(pool_mock *mock, pool_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Locks the mock and finds a device; NULL: a misuse was recorded, and the mock is not locked. */
struct mock_device *mock_device_lock(pool_mock *mock, int device, const char *who);

#endif
