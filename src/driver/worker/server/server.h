/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process: the objects of its driver by handle, and the execution of messages.
 */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver/worker/layout.h"
#include "driver/worker/protocol.h"
#include "driver/worker/ring.h"

/* An object of the driver. */
struct server_object {
    uint32_t handle; /* the slot's index and how often the slot has been reused; 0: none */
    enum worker_kind kind;
    void *object;
    unsigned context;                   /* number of the context that it belongs to */
    uint32_t module;                    /* of a kernel: the handle of its module; 0: no kernel */
    const struct worker_layout *layout; /* of a kernel */
    atomic_uint *failure; /* of a stream or a recorded event: the code that is not reported yet */
};

/*
 * The place of an object in the table. Threads read it while others fill, empty and reuse it, see
 * slots.c; what is not atomic is guarded by the server's lock.
 */
struct server_slot {
    atomic_uint handle; /* 0: free */
    atomic_uint kind;
    _Atomic(void *) object;
    atomic_uint context;
    atomic_uint module;
    _Atomic(const struct worker_layout *) layout;
    atomic_uint failure;
    unsigned serial;
    uint32_t next_free;
};

struct server_context {
    _Atomic(CUcontext) object; /* NULL: none */
    atomic_uint epoch;         /* incremented after each change of the object */
    atomic_uint failure;       /* of the default stream */
};

#define SERVER_CHUNK 1024u
#define SERVER_CHUNKS 1024u

struct server {
    const pool_cuda_api *api;
    struct worker_shared *shared; /* NULL in tests of the execution alone */
    CUdevice device;
    int passing; /* a socket for descriptors, -1: none */
    struct ring_spin spin;
    unsigned char *arena;
    uint64_t arena_bytes;
    uint64_t client_arena; /* its address in the client */
    struct server_context contexts[WORKER_CONTEXTS];
    pthread_mutex_t lock; /* for changes of slots and contexts */
    /* Written with the lock before slot_count, which is read before it. */
    struct server_slot *chunks[SERVER_CHUNKS];
    atomic_uint slot_count;
    uint32_t first_free; /* index + 1; guarded by lock */
    struct worker_layouts layouts;
};

/* What belongs to one ring. */
struct server_thread {
    struct server *server;
    struct worker_ring *ring;
    unsigned char *stage; /* of WORKER_STAGE_BYTES */
    unsigned context;     /* number + 1 of the context that is current here; 0: none */
    unsigned epoch;
    unsigned failure;       /* of a posted call of this thread, not reported yet */
    atomic_uint *failed_on; /* where the same failure is stored with its stream */
};

/* A message while it is executed. */
struct execution {
    struct server *server;
    struct server_thread *thread;
    enum worker_function function;
    unsigned context; /* number + 1 */
    const uint64_t *words;
    size_t count, next;
    bool is_malformed;
    pool_cu_result code;                /* of an argument; 0: all of them are valid */
    atomic_uint *stream_failure;        /* of the stream argument; NULL: none */
    atomic_uint *event_failure;         /* of the event argument; NULL: none */
    struct server_object object;        /* of the last handle that was read */
    const struct worker_layout *layout; /* of the last kernel that was read */
    struct worker_reply *reply;
    size_t reply_words;
};

/* --- slots.c --- */

void server_init(struct server *server, const pool_cuda_api *api, CUdevice device);
void server_free(struct server *server);

/*
 * Stores a new object and its handle; false: memory has run out, or the kernel's module is
 * unloaded. A kernel that has a handle already keeps it.
 */
bool server_add(struct server *server, struct server_object *object);
/* Copies the object of a handle; false: it has none, and the copy is empty. */
bool server_find(
    struct server *server, enum worker_kind kind, uint64_t handle, struct server_object *found);
/* The handle of an object of the driver, 0: none; of a kernel with that of its module. */
uint32_t server_handle_of(
    struct server *server, enum worker_kind kind, const void *object, uint32_t module);
/* An object was destroyed; with a module its kernels are. */
void server_remove(struct server *server, uint32_t handle);
/* A context was destroyed with everything in it. */
void server_remove_context(struct server *server, unsigned number);

/* --- context.c --- */

/* A context argument, number + 1; 0 is NULL. */
CUcontext execution_context(struct execution *execution);
/* Number + 1 of the driver's context; 0: none of ours. */
uint64_t server_context_number(struct server *server, const void *context);

/* --- dispatch.c --- */

/*
 * Executes the message and fills the reply, if the message asks for one: *has_reply. False: it is
 * no valid message.
 */
bool server_execute(struct server_thread *thread, const struct worker_header *message,
    struct worker_reply *reply, bool *has_reply);

/* Arguments in order. */
uint64_t execution_word(struct execution *execution);
const void *execution_bytes(struct execution *execution, uint64_t *bytes);
const char *execution_text(struct execution *execution);
void *execution_handle(struct execution *execution, enum worker_kind kind);
/* `bytes` of host memory; NULL and malformed: outside of the arena or longer than the stage. */
void *execution_host(struct execution *execution, uint64_t offset, uint64_t bytes, bool *is_stage);
/* An address of pinned memory. */
void *execution_pinned(struct execution *execution);
/* Copies a struct of this size; NULL: the client has none. */
void *execution_struct(struct execution *execution, void *to, size_t size);
/* At most WORKER_MAX_DEVICES elements, whose ordinal is this worker's where the client's was; NULL:
 * the client has none. */
const pool_cu_mem_access *execution_access(
    struct execution *execution, pool_cu_mem_access *access, size_t *count);
/* At most WORKER_RESOURCES; NULL: the client has none. */
pool_cu_dev_resource *execution_resources(
    struct execution *execution, pool_cu_dev_resource *resources, unsigned *count);
/* A number that the function changes; NULL: the client has none. */
unsigned *execution_count(struct execution *execution, unsigned *count);
/* The call waits for the default stream. */
void execution_default_stream(struct execution *execution);
/* Once all arguments are read: POOL_CU_SUCCESS, or why the function must not be called. */
pool_cu_result execution_check(struct execution *execution);

void execution_reply(struct execution *execution, uint64_t word);
void execution_reply_bytes(struct execution *execution, const void *data, size_t bytes);
/* Adds the handle of a new object; on failure there is none, and the object is the caller's. */
pool_cu_result execution_reply_new(
    struct execution *execution, enum worker_kind kind, void *object);

/* Calls a function that the driver may lack. */
#define EXECUTION_CALL(execution, function, ...)                                                   \
    ((execution)->server->api->function ? (execution)->server->api->function(__VA_ARGS__)          \
                                        : POOL_CU_NOT_SUPPORTED)

/* The executors: generated in calls.c, the others by subject. */
typedef pool_cu_result (*server_executor)(struct execution *execution);
#define SIDES_MADE(function) pool_cu_result server_##function(struct execution *execution);
#define SIDES_WRAPPED SIDES_MADE
#define SIDES_WRITTEN SIDES_MADE
#define SIDES_LOCAL(function)
#define CALL_ROW(function, needs, mode, sides, ...) SIDES_##sides(function)
#include "driver/calls.def"
#undef SIDES_MADE
#undef SIDES_WRAPPED
#undef SIDES_WRITTEN
#undef SIDES_LOCAL
pool_cu_result server_PinArena(struct execution *execution);
pool_cu_result server_UnpinArena(struct execution *execution);

/* --- launch_arguments.c --- */

/* The arguments of the last kernel that was read, whose bytes must be exactly its own. */
struct server_arguments {
    void *each[WORKER_MAX_PARAMETERS]; /* into the message */
    void **given;                      /* NULL: the caller passed none */
    void *extra[5];
    void **given_extra;
    size_t extra_bytes;
};
void execution_arguments(struct execution *execution, struct server_arguments *arguments);

struct server_config {
    pool_cu_launch_config config;
    pool_cu_launch_attribute attributes[WORKER_ATTRIBUTES];
};
/* NULL: the caller passed none. */
const pool_cu_launch_config *execution_config(
    struct execution *execution, struct server_config *room);

/* --- host_call.c --- */

/* Runs a host function in the client and waits for its end; for cuLaunchHostFunc. */
pool_cu_result server_launch_host_call(
    struct execution *execution, CUstream stream, uint64_t token);

/* --- abort.c --- */

/* Steps of the protocol at which a test can end the process, in the order of a process's life. */
#define SERVER_STEPS(X)                                                                            \
    X(SERVER_STEP_START, "start")         /* the program has begun */                              \
    X(SERVER_STEP_CONTROL, "control")     /* the control block is mapped */                        \
    X(SERVER_STEP_DRIVER, "driver")       /* the driver is open */                                 \
    X(SERVER_STEP_TABLE, "table")         /* the driver's functions are published */               \
    X(SERVER_STEP_READY, "ready")         /* the phase is set, the client not yet notified */      \
    X(SERVER_STEP_NOTIFIED, "notified")   /* the client is notified that the worker is ready */    \
    X(SERVER_STEP_RING, "ring")           /* a client's thread has activated a ring */             \
    X(SERVER_STEP_CALL, "call")           /* a call whose caller waits is taken from its ring */   \
    X(SERVER_STEP_EXECUTED, "executed")   /* such a call is executed, without reply so far */      \
    X(SERVER_STEP_REPLY, "reply")         /* such a call has its reply */                          \
    X(SERVER_STEP_POSTED, "posted")       /* a posted call is taken from its ring */               \
    X(SERVER_STEP_DONE, "done")           /* a posted call is executed */                          \
    X(SERVER_STEP_HOST_CALL, "host-call") /* a stream has reached a host function */               \
    X(SERVER_STEP_HOST_DONE, "host-done") /* the client has executed it */                         \
    X(SERVER_STEP_END, "end")             /* the client has closed the lifeline */
enum server_step {
#define SERVER_STEP(step, name) step,
    SERVER_STEPS(SERVER_STEP)
#undef SERVER_STEP
};

#define SERVER_ABORT_VARIABLE "DEVICEPOOL_WORKER_ABORT"
#define SERVER_ABORT_SYNTAX "devN[.genG].STEP[@COUNT]"

/* Reads the variable for this process, the generation-th of its device; false: it is malformed. */
bool server_abort_open(unsigned ordinal, unsigned generation);

extern bool server_has_abort;
void server_abort_count(enum server_step step);

/* The process takes a step, and ends there if the variable says so. */
static inline void server_take_step(enum server_step step)
{
    if (server_has_abort)
        server_abort_count(step);
}

/* --- limits.c --- */

/* Before any thread is started; false: `reason` says which limit cannot be set. */
bool server_set_limits(char *reason, size_t size);

/* --- serve.c --- */

/* Ends the process before it is ready, because of `text`. */
_Noreturn void server_fail(struct worker_shared *shared, const char *text);
#define SERVER_OTHER_BUILD                                                                         \
    "the worker program is of another build than the library: install both of the same version, "  \
    "or name the worker program of that version by DEVICEPOOL_WORKER"

/* Serves the control block until the client ends. Does not return. */
void server_run(struct worker_shared *shared, int lifeline, int arena, int passing);

#endif
