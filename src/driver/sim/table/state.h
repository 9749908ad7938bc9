/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the files of the simulated driver: its state, its objects and the helpers
 * that every function of the table begins and ends with.
 *
 * One lock protects all of it and is never held while work of a stream executes. Running kernels
 * look up allocations too: the allocation map has a separate lock, which is taken after the
 * state's.
 */
#ifndef SIM_DRIVER_STATE_H
#define SIM_DRIVER_STATE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>

#include <devicepool/sim.h>

#include "driver/attributes.h"
#include "driver/partition.h"
#include "driver/sim/exec/executor.h"
#include "driver/sim/table/chip.h"
#include "driver/sim/table/sim.h"

/* Index of each function in POOL_CUDA_FUNCTIONS, and its prototype: sim_cu_MemAlloc and so on. */
enum sim_driver_function {
#define SIM_FUNCTION(field, symbol, suffix, version, need, parameters) SIM_CU_##field,
    POOL_CUDA_FUNCTIONS(SIM_FUNCTION)
#undef SIM_FUNCTION
        SIM_CU_COUNT
};
#define SIM_PROTOTYPE(field, symbol, suffix, version, need, parameters)                            \
    pool_cu_result sim_cu_##field parameters;
POOL_CUDA_FUNCTIONS(SIM_PROTOTYPE)
#undef SIM_PROTOTYPE

#define SIM_ALIGNMENT 256u
#define SIM_MAX_PEERS 64
#define SIM_LIMITS 3 /* stack size, printf buffer, malloc heap */

/* ---- handles --------------------------------------------------------------------------------- */

/* A handle encodes a slot and the number of times that the slot was reused, never an address: a
 * destroyed or made-up handle is detected instead of dereferenced. */
enum sim_handle_kind {
    SIM_HANDLE_FREE = 0,
    SIM_HANDLE_CONTEXT = 1,
    SIM_HANDLE_STREAM,
    SIM_HANDLE_EVENT,
    SIM_HANDLE_MODULE,
    SIM_HANDLE_KERNEL,
    SIM_HANDLE_MEMORY_POOL,
    SIM_HANDLE_ALLOCATION,
    SIM_HANDLE_GRAPH,
    SIM_HANDLE_GRAPH_EXEC,
    SIM_HANDLE_GREEN,
    SIM_HANDLE_RESOURCE_DESC
};

struct sim_slot {
    void *object;
    uint64_t generation;
    enum sim_handle_kind kind;
    uint32_t next_free;
};

/* Returns the handle; NULL when memory runs out. */
void *sim_handle_create(enum sim_handle_kind kind, void *object);
void *sim_handle_get(
    enum sim_handle_kind kind, const void *handle); /* NULL: no live object of the kind */
bool sim_handle_was_valid(
    enum sim_handle_kind kind, const void *handle); /* valid once, destroyed since */
void sim_handle_release(void *handle);

/* ---- memory ---------------------------------------------------------------------------------- */
enum sim_memory_kind {
    SIM_MEMORY_DEVICE,     /* cuMemAlloc */
    SIM_MEMORY_POOLED,     /* cuMemAllocFromPoolAsync */
    SIM_MEMORY_VARIABLE,   /* a module's variable */
    SIM_MEMORY_PINNED,     /* cuMemHostAlloc */
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
    SIM_MEMORY_MAPPED,     /* cuMemMap */
    SIM_MEMORY_OPENED,     /* cuIpcOpenMemHandle */
};

struct sim_memory_pool;
struct sim_physical;

struct sim_allocation {
    uint64_t base;
    uint64_t bytes;   /* requested size: an access beyond it is out of bounds */
    uint64_t charged; /* bytes subtracted from the device's free memory */
    enum sim_memory_kind kind;
    int device;
    struct sim_context *context;   /* NULL: MAPPED */
    struct sim_memory_pool *pool;  /* POOLED only */
    struct sim_physical *physical; /* MAPPED only */
    uint64_t access;               /* MAPPED only: one bit per device; guarded by the map's lock */
    bool is_shared;                /* DEVICE and OPENED: backed by `descriptor` */
    int descriptor;
    unsigned opens;         /* OPENED only */
    bool is_freeing;        /* its cuMemFreeAsync waits in a stream */
    uint64_t id;            /* counts from 1 over all kinds of memory */
    unsigned char *written; /* written.c, a flag for each byte; NULL: not known */
    bool is_all_written;    /* as far as is known; guarded by the map's lock */
};

/* Backing addresses of one device: reserved at its first allocation, committed when touched. */
struct sim_region {
    uint64_t base;
    uint64_t bytes;
    uint64_t cursor; /* the next search starts here, so that freed ranges are reused late */
};

/* The allocation that contains `bytes` bytes at `address`, or the first of adjoining mappings of
 * virtual memory that contain them; NULL when none does. State locked. */
struct sim_allocation *sim_memory_find(uint64_t address, uint64_t bytes);
struct sim_allocation *sim_memory_starting_at(uint64_t base); /* that starts there */
bool sim_memory_overlaps(uint64_t base, uint64_t bytes);
/* Allocates a range on the device and charges it against its free memory unless charged is 0. */
pool_cu_result sim_memory_allocate(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t bytes, uint64_t align, uint64_t charged, struct sim_allocation **out);
pool_cu_result sim_memory_register(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t base, uint64_t bytes, struct sim_allocation **out);
/* A mapping of virtual memory, which no device may access yet. */
pool_cu_result sim_memory_map(
    struct sim_physical *physical, int device, uint64_t base, uint64_t bytes);
void sim_memory_release(struct sim_allocation *allocation);
/* Fresh pages of device memory in the place of what is mapped at whole pages. */
void sim_memory_renew(uint64_t base, uint64_t bytes);
void sim_memory_release_context(struct sim_context *context);
void sim_memory_reset(void);
uint64_t sim_memory_free_bytes(int device);
/* For the executor: `context` is a struct sim_context. Takes the map's lock only. */
bool sim_memory_resolve(void *context, uint64_t address, struct sim_range *range);
/* Likewise: the flags of what was written. */
void sim_memory_find_written(void *context, uint64_t address, struct sim_written *written);
/* If the address lies in recently freed memory: its former range. Takes the map's lock only. */
bool sim_memory_freed(uint64_t address, struct sim_range *range);
/* Lock for changes of the data that sim_memory_resolve reads besides the map: peers and access to
 * pools. */
void sim_memory_write_lock(void);
void sim_memory_write_unlock(void);
size_t sim_memory_count(void);
struct sim_allocation *sim_memory_item(size_t index); /* in order of address */

/* ---- what was written (written.c), state locked ---------------------------------------------- */
void sim_written_create(struct sim_allocation *allocation); /* with report=unwritten */
void sim_written_free(struct sim_allocation *allocation);
/* Around the execution of a launch, which may use flags that are freed meanwhile. */
void sim_written_begin_launch(void);
void sim_written_end_launch(void);
void sim_written_set(uint64_t address, uint64_t bytes);
/* Bytes that were not written are copied as such; host memory counts as written. */
void sim_written_copy(uint64_t to, uint64_t from, uint64_t bytes);
/* What kernels write is not recorded from here on: all memory counts as written. */
void sim_written_forget(void);

/* ---- streams, events ------------------------------------------------------------------------- */

struct sim_call;
struct sim_shared_event;

/* A point in a stream that can be waited for: one recording of an event. */
struct sim_marker {
    unsigned references;
    bool is_done;
    uint64_t time_ns;                /* when it was reached; valid once done */
    struct sim_shared_event *shared; /* with a reference; NULL: of this process alone */
    uint64_t number;                 /* of the recording among those of all processes */
    bool is_foreign;                 /* of another process: set to done when that is noticed */
    bool is_awaited;                 /* a thread waits for it, to set it to done */
};

enum sim_work_kind {
    SIM_WORK_NO_OP, /* a no-op to wait for */
    SIM_WORK_COPY,
    SIM_WORK_FILL,
    SIM_WORK_LAUNCH,
    SIM_WORK_HOST,
    SIM_WORK_RECORD,
    SIM_WORK_WAIT,
    SIM_WORK_FREE,
    SIM_WORK_FAULT, /* injected by a fault rule */
    SIM_WORK_HANG   /* injected by a fault rule */
};

struct sim_module;
struct sim_function_object;
struct sim_graph;
struct sim_capture;

enum { SIM_PRIORITIES = 6 }; /* 0 to -5 */

struct sim_launch_request {
    struct sim_function_object *function;
    struct sim_module *module;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    bool is_cooperative;
    bool has_priority; /* its own one; otherwise that of its stream */
    int priority;
    struct sim_context *scope; /* whose multiprocessors it runs on */
    void *parameters;
};

struct sim_work {
    struct sim_work *next;
    enum sim_work_kind kind;
    uint64_t sequence; /* order of enqueuing across all streams */
    bool is_delayed;   /* with jitter=: it has been */
    union {
        struct {
            uint64_t to, from, bytes;      /* of a row */
            uint64_t rows;                 /* 1 but for 2-D copies */
            uint64_t to_pitch, from_pitch; /* between the starts of rows */
            bool checks_to, checks_from;   /* whether these are device addresses */
            void *staged; /* copy of pageable source bytes, owned by the operation, or NULL */
        } copy;
        struct {
            uint64_t to, count;
            uint32_t value;
            uint32_t width; /* 1, 2 or 4 */
        } fill;
        struct sim_launch_request launch;
        struct {
            pool_cu_host_function function;
            void *user;
        } host;
        struct sim_marker *marker; /* RECORD and WAIT */
        uint64_t address;          /* FREE */
        pool_cu_result code;       /* FAULT */
        uint64_t hang_epoch;       /* HANG: ends when the state's epoch differs */
    } u;
};

struct sim_stream {
    CUstream handle; /* NULL for a context's default stream */
    struct sim_context *context;
    struct sim_stream *next; /* of the context */
    uint64_t thread;         /* number of the thread whose default stream it is; 0: of none */
    unsigned flags;
    int priority;
    struct sim_work *head; /* running or next */
    struct sim_work *tail;
    pthread_cond_t arrived;
    bool has_thread;
    bool is_destroyed; /* freed once it is empty and no thread waits */
    unsigned waiters;
    struct sim_capture *capture; /* its operations become nodes; NULL: they are enqueued */
    size_t captured;             /* number of its last node, 0: none */
};

struct sim_event {
    CUevent handle;
    struct sim_context *context;
    struct sim_event *next;
    unsigned flags;
    struct sim_marker *marker;       /* of the last recording; NULL: none yet */
    struct sim_shared_event *shared; /* of interprocess events; NULL: of this process alone */
    uint64_t capture; /* number of the capture that the last recording belongs to, 0: none */
    size_t captured;  /* and the node that it follows */
};

/*
 * A green context is a scope of its own for streams: it has some of the device's multiprocessors.
 * What else is created while it is current belongs to its root, the primary context.
 */
struct sim_context {
    CUcontext handle;
    int device;
    bool is_primary;
    bool is_alive;            /* false: a primary one without references, or an ended green one */
    unsigned retained;        /* references of a primary context */
    unsigned greens;          /* its green contexts, which keep it alive */
    struct sim_context *root; /* itself but for green ones */
    CUgreenCtx green;         /* NULL: no green context */
    struct partition partition;
    uint16_t *multiprocessors; /* of a green context: their numbers */
    /* Of a green context, NULL until they are used: streams without handle, of its recordings and
     * of what all its work waits for; and the latter's last marker, for which new streams wait. */
    struct sim_stream *event_stream, *gate_stream;
    struct sim_marker *gate;
    unsigned flags;
    uint64_t id; /* another one each time it becomes alive */
    uint64_t cost;
    uint64_t limits[SIM_LIMITS];
    uint64_t local_bytes;        /* per thread, that kernels and limits have needed so far */
    unsigned launch_blocks;      /* threads in calls beside which no kernel can be launched */
    bool is_copying_pageable[2]; /* to a device, to the host: one such copy at a time */
    struct sim_context *next;    /* of the device */
    struct sim_stream *streams;
    struct sim_stream *null_stream; /* also in `streams` */
    struct sim_event *events;
    struct sim_module *modules;
    struct sim_graph *graphs;                 /* also instantiated ones */
    struct sim_context *peers[SIM_MAX_PEERS]; /* protected by the map's lock as well */
    unsigned peer_count;
};

static inline int sim_clamp_priority(int priority)
{
    return priority > 0 ? 0 : priority <= -SIM_PRIORITIES ? 1 - SIM_PRIORITIES : priority;
}

/* Streams. State locked; `work` is consumed in every case. */
struct sim_work *sim_work_create(enum sim_work_kind kind); /* NULL: no memory */
void sim_work_free(struct sim_work *work);
/* Executes the work; the state is locked before and after, but not during execution. */
void sim_work_execute(struct sim_stream *stream, struct sim_work *work);
pool_cu_result sim_stream_enqueue(struct sim_stream *stream, struct sim_work *work);
pool_cu_result sim_stream_create(
    struct sim_context *context, unsigned flags, int priority, struct sim_stream **out);
/* With a handle, for the caller of the driver. */
pool_cu_result sim_stream_create_handle(
    struct sim_context *context, unsigned flags, int priority, CUstream *stream);
/* What follows in the stream waits for the marker. */
pool_cu_result sim_stream_await(struct sim_stream *stream, struct sim_marker *marker);
/* Waits until everything that is in the stream now has completed (for the default stream, also in
 * the blocking streams); returns the sticky code when there is one. */
pool_cu_result sim_stream_drain(struct sim_stream *stream);
pool_cu_result sim_context_drain(struct sim_context *context);
/* Likewise; launches of other threads wait meanwhile. */
pool_cu_result sim_context_drain_alone(struct sim_context *context);
/* Waits as calls do that wait for the context's work only on a GPU, so with `waits`. The context
 * may then have been destroyed, which is a failure. */
pool_cu_result sim_context_wait_for_work(struct sim_context *context, bool blocks_launches);
/* Waits until `is_ready` is true of the context; it may then have been destroyed, which is a
 * failure. */
pool_cu_result sim_context_wait(struct sim_context *context,
    bool (*is_ready)(const struct sim_context *context, uint64_t value), uint64_t value);
pool_cu_result sim_drain(void); /* all contexts of all devices */
/* Releases the stream's handle; work in the stream continues. */
void sim_stream_retire(struct sim_stream *stream);
/* The stream of a handle in the current context; 400 when it is no stream of this context or of one
 * with the same root. */
pool_cu_result sim_stream_of(
    struct sim_context *context, CUstream handle, struct sim_stream **stream);
/* An event in the current context; `shared` becomes part of it unless the call fails. */
pool_cu_result sim_event_create(
    struct sim_context *context, unsigned flags, struct sim_shared_event *shared, CUevent *handle);
void sim_event_free(struct sim_event *event);
/* A recording of the event that is reached when the stream is. */
pool_cu_result sim_event_record(
    const struct sim_call *call, struct sim_event *event, struct sim_stream *stream);
/* Makes event->marker the last recording; `is_awaited`: it is set to done without a further call.
 */
pool_cu_result sim_event_refresh(struct sim_event *event, bool is_awaited);
void sim_marker_release(struct sim_marker *marker);

/* ---- events of several processes (ipc_event.c) ----------------------------------------------- */
struct sim_shared_event *sim_shared_event_create(void);         /* NULL: no memory */
void sim_shared_event_release(struct sim_shared_event *shared); /* NULL is a no-op */
/* A recording begins, before it is enqueued; the marker gets its number. False: no memory. */
bool sim_shared_event_begin(struct sim_shared_event *shared, struct sim_marker *marker);
/* It was enqueued: from now on it is the last one, for which other processes wait. */
void sim_shared_event_publish(const struct sim_marker *marker);
/* It was reached, or will never be. */
void sim_shared_event_end(const struct sim_marker *marker);
/* Makes event->marker that of the last recording, whichever process made it. If `is_awaited` is
 * set, the marker is set to done without a further call. */
pool_cu_result sim_shared_event_refresh(struct sim_event *event, bool is_awaited);
/* A descriptor of another process, if it has this inode; -1: there is none. */
int sim_ipc_open(int64_t process, int64_t descriptor, uint64_t inode);

/* ---- graphs ---------------------------------------------------------------------------------- */

/* An operation, and the numbers, from 1, of the nodes that it follows directly; 0: none. */
struct sim_graph_node {
    struct sim_work *work;
    size_t previous[2];
};

struct sim_graph_nodes {
    struct sim_graph_node *items;
    size_t count;
};

struct sim_capture {
    uint64_t number; /* never reused */
    struct sim_stream *origin;
    struct sim_graph_nodes nodes;
    bool is_invalid;
    struct sim_capture *next;
};

/* A graph or, by the kind of its handle, an instantiated one. */
struct sim_graph {
    void *handle;
    struct sim_context *context;
    struct sim_graph *next; /* of the context */
    struct sim_graph_nodes nodes;
    bool is_stale;         /* a module of its kernels was unloaded */
    bool keeps_priorities; /* of the capture's launches; false: they get that of the stream */
};

struct sim_capture *sim_capture_of(uint64_t number); /* NULL: it has ended */
/* The capture can only be ended; returns `code`. */
pool_cu_result sim_capture_violated(struct sim_capture *capture, pool_cu_result code);
/* The captured stream's next node; it follows node number `after`, too. `work` is consumed. */
pool_cu_result sim_capture_add(struct sim_stream *stream, struct sim_work *work, size_t after);
void sim_capture_stream_ends(struct sim_stream *stream);
void sim_graph_free(struct sim_graph *graph);
void sim_graphs_forget_module(const struct sim_module *module);

/* ---- memory pools ---------------------------------------------------------------------------- */
struct sim_memory_pool {
    CUmemoryPool handle;
    int device;
    struct sim_memory_pool *next;
    uint64_t max_bytes; /* 0: none */
    uint64_t threshold;
    uint64_t reserved, reserved_high;
    uint64_t used, used_high;
    int reuse[3];
    uint64_t access;   /* one bit per device that may read and write */
    bool is_destroyed; /* exists as long as allocations of it do */
};

void sim_memory_pool_release(
    struct sim_allocation *allocation); /* called when the allocation was freed */
void sim_memory_pools_trim(int device); /* releases memory above the thresholds */
void sim_memory_pools_free(void);

/* ---- virtual memory -------------------------------------------------------------------------- */

/* A sealed memfd, whose label says what it is; -1: there is no memory. */
int sim_physical_create_memory(uint64_t bytes, int device);
/* The size of memory of a simulated driver by its descriptor; 0: it is none. */
uint64_t sim_physical_memory_bytes(int descriptor);
/* Memory that other processes can open: backs it, if it can; undoes that. */
#define SIM_SHARED_GRANULARITY (UINT64_C(2) << 20)
void sim_shared_back(struct sim_allocation *allocation);
void sim_shared_end(const struct sim_allocation *allocation);

/* The end of a mapping: its addresses stay reserved. */
void sim_physical_unmap(struct sim_physical *physical, uint64_t base, uint64_t bytes);
/* Calls `visit` for each allocation with the handles of it that exist, and for each reservation
 * with 0. */
typedef void (*sim_virtual_visitor)(
    void *user, int device, uint64_t base, uint64_t bytes, unsigned handles);
void sim_virtual_each(sim_virtual_visitor visit, void *user);
void sim_virtual_free(void);

/* ---- modules --------------------------------------------------------------------------------- */
struct sim_function_object {
    CUfunction handle; /* NULL until it was requested */
    struct sim_module *module;
    const struct sim_kernel *kernel;
    int max_dynamic_shared;
    int carveout;
};

struct sim_module {
    CUmodule handle;
    struct sim_context *context;
    struct sim_module *next;
    struct sim_program *program;
    struct sim_function_object *functions; /* by kernel index */
    uint64_t *variables;                   /* address by variable index */
};

void sim_module_free(struct sim_module *module); /* no kernel of it may be running */
/* Executes a launch; the state is locked before and after, but not during execution. */
void sim_launch_execute(struct sim_context *context, struct sim_launch_request *work);

/* ---- devices, contexts ----------------------------------------------------------------------- */
struct sim_device {
    uint64_t
        used_bytes; /* by contexts, allocations, pools and other processes (mem= minus free=) */
    struct sim_region region;
    struct sim_context *primary;  /* created at its first retain */
    unsigned primary_flags;       /* until the primary context is released for the last time */
    struct sim_context *contexts; /* live ones, the primary one included */
    struct sim_context *ended;    /* green ones */
    bool is_launching;            /* with `serial`: a launch is being executed */
    const struct sim_chip *chip;
};

/* The calling thread's context stack; sim_stack_pop requires a non-empty stack. */
pool_cu_result sim_stack_push(CUcontext handle);
CUcontext sim_stack_top(void);
void sim_stack_pop(void);

/* Ends all work of the context, its green ones first, and frees everything in it; `is_gone` frees
 * the struct too, unless it is that of a green context: the driver knows those for ever. */
void sim_context_end(struct sim_context *context, bool is_gone);
/* The primary context of the device, alive, with a reference. */
pool_cu_result sim_primary_retain(int device, struct sim_context **primary);
void sim_primary_release(struct sim_context *primary); /* of a reference by a green context */
/* A context that shares all but its streams with the primary one, which has a reference for it. */
pool_cu_result sim_context_create_green(
    struct sim_context *primary, const struct partition *partition, struct sim_context **out);
/* May be current nevertheless. */
static inline bool sim_context_is_ended_green(const struct sim_context *context)
{
    return context && context->root != context && !context->is_alive;
}
bool sim_is_device(CUdevice device);
void sim_greens_free(void); /* green.c: what outlives its context */
/* A live context by handle; 709 for a destroyed one, 201 for an invalid handle. */
pool_cu_result sim_context_of(CUcontext handle, struct sim_context **context);
struct sim_context *sim_context_current(void); /* NULL: none; may be destroyed */

/* ---- the state ------------------------------------------------------------------------------- */
struct sim_stats {
    char *kernel;
    int device;
    uint64_t launches, blocks, threads;
    struct sim_counts counts;
};

struct sim_profile; /* of the launches of a kernel with one shape of blocks */

struct sim_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signals that work completed or any other condition changed */
    /* everything below is protected by lock */
    unsigned references;
    bool is_initialised; /* cuInit was called */
    bool is_closing;
    unsigned generation; /* of the driver: context stacks of an earlier generation are invalid */
    unsigned threads;    /* live stream threads */
    uint64_t sequence;
    uint64_t launches; /* launches started */
    uint64_t hang_epoch;
    uint64_t next_allocation_id;
    uint64_t last_context_id;
    pool_cu_result poison; /* sticky code, 0: none */
    uint32_t cancel;       /* read by the executor, written atomically */
    struct sim_config config;
    uint32_t reports; /* POOL_SIM_REPORT_… */
    struct sim_device devices[SIM_MAX_DEVICES];
    struct sim_slot *slots;
    uint32_t slot_count, slot_capacity, first_free_slot;
    struct sim_memory_pool *pools;
    struct sim_capture *captures;
    uint64_t last_capture;
    uint64_t last_split;
    struct sim_resource_desc *descs;
    struct sim_rules rules;
    bool has_program_rules; /* set through the API: the environment variable is ignored */
    struct base_thread_pool *workers;
    struct sim_stats *stats;
    size_t stats_count;
    struct sim_profile *profiles;
    size_t profile_count;
    pool_sim_fault fault;
    char *leak_text; /* of the last close */
    char *leak_json;
    uint64_t leak_count;
};
extern struct sim_state sim_state;

static inline const struct sim_device_config *sim_config_of(int device)
{
    return &sim_state.config.devices[device];
}

/* Whether a device can address the memory of another one. */
static inline bool sim_are_peers(int device, int other)
{
    return sim_config_of(device)->peers >> sim_config_of(other)->identity & 1;
}

/* ---- begin and end of calls ------------------------------------------------------------------ */
enum sim_need {
    SIM_NEED_NOTHING, /* valid before cuInit and in a host function */
    SIM_NEED_INIT,    /* queries of devices and of the thread's context stack; valid after a sticky
                         fault */
    SIM_NEED_HEALTHY, /* fails after a sticky fault */
    SIM_NEED_CONTEXT, /* fails after a sticky fault or without a live current context */
    SIM_NEED_CONTEXT_ONLY /* requires a context but is valid after a sticky fault */
};

struct sim_call {
    enum sim_driver_function function;
    struct sim_context *context; /* with SIM_NEED_CONTEXT…: the root of the current one */
    struct sim_context *scope;   /* the current one */
    const struct sim_rule *rule; /* a hang or a delayed fault to be attached to the enqueued work */
};

/*
 * Begins a driver call: applies fault rules, then validates in the documented order (800 in a host
 * function, 3 before cuInit, the sticky code, 201 or 709 without a live context). On 0 the state
 * is locked and the call must end with sim_leave. `device` is the ordinal that the call concerns;
 * -1 is the current context's device.
 */
pool_cu_result sim_enter(
    struct sim_call *call, enum sim_driver_function function, enum sim_need need, int device);
pool_cu_result sim_leave(pool_cu_result code);
/* Begins a call on a stream given by its handle, or on the default stream. */
pool_cu_result sim_stream_enter(struct sim_call *call, enum sim_driver_function function,
    enum sim_need need, CUstream handle, struct sim_stream **stream);

/* Enqueues the work as the call's fault rule demands: unchanged, replaced by a fault, or after a
 * hang. */
pool_cu_result sim_enqueue(
    const struct sim_call *call, struct sim_stream *stream, struct sim_work *work);

/* Records the sticky code and the report; the first fault wins. State locked. */
void sim_poison(pool_cu_result code, const pool_sim_fault *report);
void sim_poison_text(pool_cu_result code, int device, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Locks the state outside driver calls; POOL_ERR_FORKED in a child of fork(). */
pool_status sim_lock(void);

/* Waits for a change; false: the driver is closing. State locked. */
bool sim_wait(void);

/* Marks that this thread runs a host function. */
void sim_set_in_host_function(bool is_inside);

void sim_stats_free(void);

/* ---- profile.c ------------------------------------------------------------------------------- */
/* The requests of a launch, while it runs. */
struct sim_requests {
    struct sim_access_count *items;
    size_t count, capacity;
    bool has_failed; /* host memory ran out: the launch is left out */
};
void sim_requests_add(void *requests, const struct sim_access_count *count);
/* Adds a launch that has ended, and frees its requests. State locked. */
void sim_profile_record(const struct sim_launch_request *work, int device,
    const struct sim_counts *counts, struct sim_requests *requests);
void sim_profiles_free(void);

/* Lists live objects as plain text and JSON. State locked. */
uint64_t sim_leaks_list(char **text, char **json);

#endif
