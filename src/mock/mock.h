/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mock's state, for the files of this room only. The room is a library of its own beside
 * devicepool: it includes public headers and calls no function of the library, so that it works
 * whatever the library under test does.
 *
 * One lock guards everything in struct pool_mock. mock_enter takes it, mock_leave gives it back;
 * hooks, effects and host functions run outside it.
 */
#ifndef MOCK_MOCK_H
#define MOCK_MOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <devicepool/mock.h>

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

#define MOCK_ATTRIBUTES 160 /* one more than the highest device attribute we keep */
#define MOCK_LIMITS 8
#define MOCK_LOG_LINES 4096
#define MOCK_LAUNCHES 1024
#define MOCK_ARGUMENTS 64
#define MOCK_STRUCT_BYTES_MAX 4096 /* a struct_size above this was never set */

/* ---- handles (account.c) -------------------------------------------------------------------- */

enum mock_kind {
    MOCK_CONTEXT,
    MOCK_PRIMARY,
    MOCK_STREAM,
    MOCK_EVENT,
    MOCK_MODULE,
    MOCK_FUNCTION,
    MOCK_MEMORY_POOL,
    MOCK_KINDS
};

/*
 * What a handle stands for. Handles are no addresses but tagged serial numbers that are never given
 * twice, also not by the next mock: a stale or foreign one is always told from a live one, and code
 * that looks inside a handle dies at once.
 */
struct mock_object {
    enum mock_kind kind;
    uint64_t serial;
    unsigned number; /* within its kind, for texts */
    int device;
    struct mock_context *context; /* whose it is; NULL: of the device */
    bool refused;                 /* giving it back failed on a test's demand */
};

struct mock_stream {
    struct mock_object object;
    unsigned flags;
    int priority;
    uint64_t held_in; /* the hold that its last work fell into */
};

struct mock_context {
    struct mock_object object;
    bool active; /* a primary one without references is not */
    unsigned references;
    unsigned refused_references;
    unsigned flags;
    size_t limits[MOCK_LIMITS];
    struct mock_stream default_stream;
    uint64_t *peers; /* serials of the contexts whose memory it may reach */
    size_t peer_count;
    uint64_t held_in;
};

struct mock_event {
    struct mock_object object;
    unsigned flags;
    bool recorded;
    uint64_t time_ns;
    uint64_t held_in;
};

struct mock_memory_pool {
    struct mock_object object;
    uint64_t max_bytes; /* 0: the device's */
    uint64_t threshold;
    uint64_t used;
    uint64_t used_high;
    uint64_t reserved;
    uint64_t reserved_high;
    int reuse[3];
    bool gone; /* destroyed, kept while allocations of it live */
    unsigned allocations;
};

enum mock_memory_kind {
    MOCK_DEVICE_MEMORY,
    MOCK_POOLED_MEMORY,
    MOCK_GLOBAL_MEMORY, /* a module's variable */
    MOCK_HOST_MEMORY,
    MOCK_REGISTERED_MEMORY,
    MOCK_MEMORY_KINDS
};

struct mock_memory {
    enum mock_memory_kind kind;
    uint64_t base; /* host address, and device address at once */
    size_t bytes;
    size_t mapped; /* bytes of its own mapping, 0: from malloc */
    int device;
    struct mock_context *context; /* NULL for pooled memory */
    struct mock_memory_pool *pool;
    struct mock_object *module;
    uint64_t id;
    unsigned number;
    unsigned flags;
    bool refused;
};

/* ---- devices, threads, tests' wishes -------------------------------------------------------- */

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
    uint64_t used;   /* by this process: allocations, pools, contexts */
    int64_t foreign; /* by others */
    int attributes[MOCK_ATTRIBUTES];
    struct mock_peer peers[POOL_MOCK_MAX_DEVICES];
    struct mock_context *primary;
};

struct mock_thread {
    struct mock_thread *next;
    CUcontext *stack;
    size_t depth;
    size_t capacity;
    int64_t unreturned; /* pushes that nobody tried to pop */
};

struct mock_failure {
    char *function; /* NULL: any */
    int device;     /* -1: any */
    uint64_t left;  /* calls until it is due */
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
    struct mock_kernel **kernels; /* named by its text, its own */
    size_t kernel_count;
};

struct mock_function {
    struct mock_object object;
    struct mock_module *module;
    struct mock_kernel *kernel;
    int max_dynamic_shared;
    int carveout;
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

/* A text that grows; stays short when there is no memory for more. */
struct mock_text {
    char *text;
    size_t length;
    size_t capacity;
};

struct pool_mock {
    pool_cuda_api table;
    pthread_mutex_t lock;
    pthread_cond_t work_done;
    uint64_t generation; /* of the process's mocks */
    int pid;
    int device_count;
    struct mock_device *devices;
    uint64_t context_bytes;
    int version;
    bool no_log;
    bool sticky_everywhere;
    bool initialised;
    pool_cu_result sticky;

    struct mock_object **objects; /* by serial */
    size_t object_count;
    size_t object_capacity;
    unsigned numbers[MOCK_KINDS];
    struct mock_memory **memory; /* by base */
    size_t memory_count;
    size_t memory_capacity;
    unsigned memory_numbers[MOCK_MEMORY_KINDS];
    uint64_t next_memory_id;
    unsigned swept;
    struct mock_text swept_names;
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
    struct mock_text complaints;

    uint64_t calls; /* since the last reset */
    uint64_t calls_of[MOCK_FN_COUNT];
    char *lines[MOCK_LOG_LINES]; /* a ring */
    uint64_t line_count;

    bool held;
    uint64_t hold; /* counts the holds */
    struct mock_host_call *deferred;
    size_t deferred_count;

    struct mock_kernel **kernels;
    size_t kernel_count;
    struct mock_global *globals;
    size_t global_count;
    pool_cu_code image_code;
    char *image_log;
    struct mock_record *records; /* a ring, made at the first launch */
    uint64_t launch_count;

    struct mock_text answers[3]; /* log, leaks, verify: texts handed to the test */
};

/* ---- a call (call.c) ------------------------------------------------------------------------ */

/* What a function needs and whether a sticky fault concerns it. */
enum mock_needs {
    MOCK_ANYTIME, /* works before cuInit */
    MOCK_QUERY,   /* needs cuInit */
    MOCK_STACK,   /* moves the thread's stack */
    MOCK_WORK,    /* reaches a device without a current context */
    MOCK_INSIDE   /* needs a current context */
};

struct mock_call {
    pool_mock *mock;
    enum mock_fn fn;
    uint64_t number;
    struct mock_thread *thread;
    struct mock_context *context; /* current and alive, or NULL */
    int device;                   /* or -1 */
    pool_cu_result code;          /* the answer when mock_enter says false */
    bool on_demand;               /* a test asked for the failure */
    char text[200];
};

/*
 * Begins a call of `fn`: counts, runs the hook, writes the text, looks for a failure to make,
 * checks state. True: go on, the lock is taken. `device`: -1 is the current context's. `format` has
 * one letter an argument: h handle, a device address, p host address, i int, u unsigned, z size_t,
 * s text.
 */
bool mock_enter(struct mock_call *call, enum mock_fn fn, enum mock_needs needs, int device,
    const char *format, ...);
/* Ends it: log, latch, unlock. */
pool_cu_result mock_leave(struct mock_call *call, pool_cu_result code);

/* Marks code that runs inside a hook, effect or host function: driver calls answer NOT_PERMITTED.
 */
void mock_guest_begin(void);
void mock_guest_end(void);

void mock_log_clear(pool_mock *mock);

bool mock_is_sticky(pool_cu_result code);
const char *mock_fn_name(enum mock_fn fn); /* with its suffix */
/* Whether `name` (with or without suffix, or ending in '*') means `fn`. */
bool mock_fn_is(enum mock_fn fn, const char *name);
bool mock_fn_known(const char *name);
pool_mock *mock_current(void);

/* The calling thread's stack in this mock; NULL when there is no memory. Lock held. */
struct mock_thread *mock_thread_of(pool_mock *mock);

/* ---- account.c ------------------------------------------------------------------------------ */

/* Gives the object, which the caller allocated zeroed, its handle; false: no memory. */
bool mock_object_add(pool_mock *mock, struct mock_object *object, enum mock_kind kind, int device,
    struct mock_context *context);
void *mock_object_handle(const pool_mock *mock, const struct mock_object *object);
struct mock_object *mock_object_find(const pool_mock *mock, const void *handle);
/* Of that kind, or NULL. */
void *mock_object_get(const pool_mock *mock, const void *handle, enum mock_kind kind);
/* Takes it out and frees it with what it owns. */
void mock_object_drop(pool_mock *mock, struct mock_object *object);
void mock_object_name(const struct mock_object *object, char *text, size_t size);
/* Gives back all that belongs to a context that ends. */
void mock_sweep(pool_mock *mock, struct mock_context *context);
/* A failed attempt to give back counts as the caller's part done. */
void mock_refused(struct mock_call *call, const void *handle);

struct mock_context *mock_context_get(const pool_mock *mock, CUcontext handle);

/* ---- memory.c ------------------------------------------------------------------------------- */

uint64_t mock_device_free(const struct mock_device *device);
struct mock_memory *mock_memory_new(
    pool_mock *mock, enum mock_memory_kind kind, size_t bytes, void *registered);
void mock_memory_drop(pool_mock *mock, struct mock_memory *memory);
/* The memory that contains `address`, or NULL. */
struct mock_memory *mock_memory_at(const pool_mock *mock, uint64_t address);
void mock_memory_name(const struct mock_memory *memory, char *text, size_t size);
/* Gives freed bytes back to the device as a synchronisation does; context NULL: all pools. */
void mock_pools_trim(pool_mock *mock, int device);
void mock_pool_unuse(pool_mock *mock, struct mock_memory_pool *pool, uint64_t bytes);

/* ---- stream.c ------------------------------------------------------------------------------- */

/* The stream that a handle means in the call's context (NULL, 1, 2: the default one). */
pool_cu_result mock_stream_get(
    struct mock_call *call, CUstream handle, struct mock_stream **stream);
/* Notes that work was put on it. */
void mock_stream_work(struct mock_call *call, struct mock_stream *stream);
/* Waits, lock held, until the hold that `held_in` fell into is over. */
void mock_hold_wait(pool_mock *mock, uint64_t held_in);
bool mock_hold_pending(const pool_mock *mock, uint64_t held_in);

/* ---- function.c ----------------------------------------------------------------------------- */

/* The attributes of the device that a function was loaded on. */
const int *mock_function_device(const struct mock_call *call, const struct mock_function *function);
/* Blocks that fit on one of its multiprocessors at once. */
int mock_blocks_that_fit(
    const int *device, const struct mock_function *function, int threads, size_t dynamic);

/* ---- module.c, device.c, mock.c ------------------------------------------------------------- */

void mock_kernel_free(struct mock_kernel *kernel);
void mock_device_defaults(struct mock_device *device, int index, int count, uint64_t memory);
void mock_text_add(struct mock_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Keeps a mistake of the test for pool_mock_verify and returns the status. Lock held. */
/*
 * The caller's struct, whose size must be ours, or larger with nothing but zeros behind what we
 * know; false for others. The mock has public headers only, so base/params.h is not for it.
 */
bool mock_struct_read(const void *from, void *known, size_t known_bytes);

pool_status mock_misuse(pool_mock *mock, pool_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Locks and finds a device; NULL: misuse kept, not locked. */
struct mock_device *mock_device_lock(pool_mock *mock, int device, const char *who);

#endif
