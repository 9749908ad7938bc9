/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the simulated driver share: its one state, its objects and the helpers that
 * every function of the table begins and ends with.
 *
 * One lock guards all of it. It is never held while work of a stream executes. Allocations are
 * also looked up by running kernels: the map has a lock of its own, taken after the state's.
 */
#ifndef SIM_DRIVER_STATE_H
#define SIM_DRIVER_STATE_H

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>

#include <devicepool/sim.h>

#include "driver/attributes.h"
#include "sim/driver/chip.h"
#include "sim/driver/sim.h"
#include "sim/exec/executor.h"

/* Place of each function in POOL_CUDA_FUNCTIONS, and its prototype: sim_cu_MemAlloc and so on. */
enum sim_function {
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

/* ---- handles ---------------------------------------------------------------------------------
 * A handle is a slot and how often that slot was given out, never an address: a handle that was
 * destroyed or made up is recognised and refused instead of followed.
 */
enum sim_kind {
    SIM_KIND_FREE = 0,
    SIM_KIND_CONTEXT = 1,
    SIM_KIND_STREAM,
    SIM_KIND_EVENT,
    SIM_KIND_MODULE,
    SIM_KIND_KERNEL,
    SIM_KIND_POOL
};

struct sim_slot {
    void *object;
    uint64_t generation;
    enum sim_kind kind;
    uint32_t next_free;
};

/* NULL when memory runs out, else the handle. */
void *sim_handle_make(enum sim_kind kind, void *object);
void *sim_handle_get(enum sim_kind kind, const void *handle); /* NULL: no live object of the kind */
bool sim_handle_was(enum sim_kind kind, const void *handle);  /* once given out, destroyed since */
void sim_handle_drop(void *handle);

/* ---- memory ---------------------------------------------------------------------------------- */
enum sim_memory_kind {
    SIM_MEMORY_DEVICE,     /* cuMemAlloc */
    SIM_MEMORY_POOLED,     /* cuMemAllocFromPoolAsync */
    SIM_MEMORY_VARIABLE,   /* a module's variable */
    SIM_MEMORY_PINNED,     /* cuMemHostAlloc */
    SIM_MEMORY_REGISTERED, /* cuMemHostRegister */
};

struct sim_pool;

struct sim_allocation {
    uint64_t base;
    uint64_t bytes;   /* what was asked for: one byte more is out of bounds */
    uint64_t charged; /* what the device's free memory lost */
    enum sim_memory_kind kind;
    int device;
    struct sim_context *context;
    struct sim_pool *pool; /* POOLED only */
    bool is_freeing;       /* its cuMemFreeAsync waits in a stream */
    uint64_t id;           /* counts from 1 over all kinds */
};

/* Backing addresses of one device: reserved at its first allocation, given pages when touched. */
struct sim_region {
    uint64_t base;
    uint64_t bytes;
    uint64_t cursor; /* the search for a free place goes on from here, so that reuse comes late */
};

/* The allocation that holds `bytes` bytes at `address`; NULL when none does. State locked. */
struct sim_allocation *sim_memory_find(uint64_t address, uint64_t bytes);
struct sim_allocation *sim_memory_at(uint64_t base); /* that begins there */
bool sim_memory_overlaps(uint64_t base, uint64_t bytes);
/* A range on the device, charged against its free memory unless charged is 0. */
pool_cu_result sim_memory_make(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t bytes, uint64_t align, uint64_t charged, struct sim_allocation **out);
pool_cu_result sim_memory_adopt(struct sim_context *context, enum sim_memory_kind kind,
    uint64_t base, uint64_t bytes, struct sim_allocation **out);
void sim_memory_drop(struct sim_allocation *allocation);
void sim_memory_drop_context(struct sim_context *context);
void sim_memory_reset(void);
uint64_t sim_memory_free_bytes(int device);
/* For the executor: `context` is a struct sim_context. Takes only the map's lock. */
bool sim_memory_resolve(void *context, uint64_t address, struct sim_range *range);
/* If the address lies in memory freed not long ago: its range. Takes only the map's lock. */
bool sim_memory_freed(uint64_t address, struct sim_range *range);
/* Around changes of what sim_memory_resolve reads besides the map: peers, access to pools. */
void sim_memory_write_lock(void);
void sim_memory_write_unlock(void);
size_t sim_memory_count(void);
struct sim_allocation *sim_memory_item(size_t index); /* in order of address */

/* ---- streams, events ------------------------------------------------------------------------- */

/* A moment in a stream that can be waited for: one recording of an event. */
struct sim_marker {
    unsigned references;
    bool is_done;
    uint64_t time_ns; /* when it was reached; valid once done */
};

enum sim_op_kind {
    SIM_OP_NOTHING, /* a place in the order to wait for */
    SIM_OP_COPY,
    SIM_OP_FILL,
    SIM_OP_LAUNCH,
    SIM_OP_HOST,
    SIM_OP_RECORD,
    SIM_OP_WAIT,
    SIM_OP_FREE,
    SIM_OP_FAULT, /* by a fault rule */
    SIM_OP_HANG   /* by a fault rule */
};

struct sim_module;
struct sim_function_object;

struct sim_launch_work {
    struct sim_function_object *function;
    struct sim_module *module;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    bool is_cooperative;
    void *parameters;
};

struct sim_op {
    struct sim_op *next;
    enum sim_op_kind kind;
    uint64_t sequence; /* order of enqueuing over all streams */
    union {
        struct {
            uint64_t to, from, bytes;
            bool checks_to, checks_from; /* whether these are device addresses */
            void *staged;                /* owned copy of pageable source bytes, or NULL */
        } copy;
        struct {
            uint64_t to, count;
            uint32_t value;
            uint32_t width; /* 1, 2 or 4 */
        } fill;
        struct sim_launch_work launch;
        struct {
            pool_cu_host_function function;
            void *user;
        } host;
        struct sim_marker *marker; /* RECORD and WAIT */
        uint64_t address;          /* FREE */
        pool_cu_result code;       /* FAULT */
        uint64_t hang_epoch;       /* HANG: ends when the state's is another */
    } u;
};

struct sim_stream {
    CUstream handle; /* NULL for a context's default stream */
    struct sim_context *context;
    struct sim_stream *next; /* of the context */
    unsigned flags;
    int priority;
    struct sim_op *head; /* under way or next */
    struct sim_op *tail;
    pthread_cond_t arrived;
    bool has_thread;
    bool is_destroyed; /* freed once it is empty and nobody waits */
    unsigned waiters;
};

struct sim_event {
    CUevent handle;
    struct sim_context *context;
    struct sim_event *next;
    unsigned flags;
    struct sim_marker *marker; /* of the last recording; NULL: none yet */
};

struct sim_context {
    CUcontext handle;
    int device;
    bool is_primary;
    bool is_alive;     /* false: a primary context that nobody retains */
    unsigned retained; /* primary */
    unsigned flags;
    uint64_t cost;
    uint64_t limits[SIM_LIMITS];
    struct sim_context *next; /* of the device */
    struct sim_stream *streams;
    struct sim_stream *null_stream; /* also in `streams` */
    struct sim_event *events;
    struct sim_module *modules;
    struct sim_context *peers[SIM_MAX_PEERS]; /* guarded by the map's lock as well */
    unsigned peer_count;
};

/* Streams. State locked; `op` is consumed in every case. */
struct sim_op *sim_op_make(enum sim_op_kind kind); /* NULL: no memory */
void sim_op_free(struct sim_op *op);
/* Does the work; the state is locked before and after, not meanwhile. */
void sim_op_execute(struct sim_stream *stream, struct sim_op *op);
pool_cu_result sim_stream_put(struct sim_stream *stream, struct sim_op *op);
pool_cu_result sim_stream_make(
    struct sim_context *context, unsigned flags, int priority, struct sim_stream **out);
/* Waits until everything in the stream (for the default stream: also in the blocking ones) that is
 * there now has ended; the sticky code when there is one. */
pool_cu_result sim_stream_drain(struct sim_stream *stream);
bool sim_stream_is_idle(const struct sim_stream *stream);
pool_cu_result sim_context_drain(struct sim_context *context);
/* Releases the stream's handle; the work that is in it goes on. */
void sim_stream_retire(struct sim_stream *stream);
/* The stream of a handle in the current context: 400 when it is none of this context. */
pool_cu_result sim_stream_of(
    struct sim_context *context, CUstream handle, struct sim_stream **stream);
void sim_event_free(struct sim_event *event);
void sim_marker_release(struct sim_marker *marker);

/* ---- memory pools ---------------------------------------------------------------------------- */
struct sim_pool {
    CUmemoryPool handle;
    int device;
    struct sim_pool *next;
    uint64_t max_bytes; /* 0: none */
    uint64_t threshold;
    uint64_t reserved, reserved_high;
    uint64_t used, used_high;
    int reuse[3];
    uint64_t access;   /* bit per device that may read and write */
    bool is_destroyed; /* lives on while allocations of it do */
};

void sim_pool_release(struct sim_allocation *allocation); /* the allocation has gone back */
void sim_pools_at_sync(int device);                       /* gives back what is over thresholds */
void sim_pool_free_all(void);

/* ---- modules --------------------------------------------------------------------------------- */
struct sim_function_object {
    CUfunction handle; /* NULL until somebody asked for it */
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

void sim_module_free(struct sim_module *module); /* nothing of it may be running */
/* Executes a launch; the state is locked before and after, not meanwhile. */
void sim_launch_execute(struct sim_context *context, struct sim_launch_work *work);
/* The sticky code of an executor's fault. */
pool_cu_result sim_fault_code(enum sim_fault_kind kind);

/* ---- devices, contexts ----------------------------------------------------------------------- */
struct sim_device {
    uint64_t used_bytes; /* by contexts, allocations, pools and "others" (mem= less free=) */
    struct sim_region region;
    struct sim_context *primary;  /* made at its first retain, kept */
    struct sim_context *contexts; /* alive ones, the primary included */
};

/* The calling thread's stack of contexts; sim_stack_pop is only for a stack that has a top. */
pool_cu_result sim_stack_push(CUcontext handle);
CUcontext sim_stack_top(void);
void sim_stack_pop(void);

/* Ends work and frees everything of the context; `is_gone` frees the struct too. */
void sim_context_end(struct sim_context *context, bool is_gone);
/* A living context by handle: else 709 for one that is gone and 201 for what never was one. */
pool_cu_result sim_context_of(CUcontext handle, struct sim_context **context);
struct sim_context *sim_context_current(void); /* NULL: none; may be dead */

/* ---- the state ------------------------------------------------------------------------------- */
struct sim_stats {
    char *kernel;
    int device;
    uint64_t launches, blocks, threads;
    struct sim_counts counts;
};

struct sim_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an operation ended, or anything else that somebody may wait for */
    /* all below: guarded by lock */
    unsigned references;
    bool is_initialised; /* cuInit was called */
    bool is_closing;
    unsigned generation; /* of the driver: stacks of contexts of an earlier one are void */
    unsigned threads;    /* of streams, alive */
    uint64_t sequence;
    uint64_t launches; /* started ones */
    uint64_t hang_epoch;
    uint64_t next_allocation_id;
    pool_cu_result poison; /* sticky code, 0: none */
    uint32_t cancel;       /* read by the executor, set atomically */
    struct sim_config config;
    uint32_t reports; /* POOL_SIM_REPORT_… */
    const struct sim_chip *chip;
    struct sim_device devices[SIM_MAX_DEVICES];
    struct sim_slot *slots;
    uint32_t slot_count, slot_room, first_free_slot;
    struct sim_pool *pools;
    struct sim_rules rules;
    bool has_program_rules; /* by pool_sim_set_faults: the environment is not asked */
    struct sim_workers *workers;
    struct sim_stats *stats;
    size_t stats_count;
    pool_sim_fault fault;
    char *leak_text; /* of the last close */
    char *leak_json;
    uint64_t leak_count;
};
extern struct sim_state sim_state;

/* ---- entry ----------------------------------------------------------------------------------- */
enum sim_need {
    SIM_NEED_NOTHING,     /* works before cuInit and in a host function */
    SIM_NEED_INIT,        /* a question about devices or this thread's stack; works when poisoned */
    SIM_NEED_HEALTHY,     /* refused when poisoned */
    SIM_NEED_CONTEXT,     /* refused when poisoned or without a current, living context */
    SIM_NEED_CONTEXT_ONLY /* needs a context but works when poisoned */
};

struct sim_call {
    enum sim_function function;
    struct sim_context *context; /* with SIM_NEED_CONTEXT… */
    const struct sim_rule *rule; /* a hang or a delayed fault that the enqueued work has to carry */
};

/*
 * Begins a driver call: fault rules, then the strict order of refusals (800 in a host function, 3
 * before cuInit, the sticky code, 201 or 709 without a living context). 0: the state is locked and
 * must be left by sim_leave. `device`: the ordinal that the call is about, -1: the current
 * context's.
 */
pool_cu_result sim_enter(
    struct sim_call *call, enum sim_function function, enum sim_need need, int device);
pool_cu_result sim_leave(pool_cu_result code);

/* Puts the operation into the stream as the call's fault rule wants it: as it is, replaced by a
 * fault, or behind a hang. */
pool_cu_result sim_put(const struct sim_call *call, struct sim_stream *stream, struct sim_op *op);

/* The first fault wins: latches the code and the report. State locked. */
void sim_poison(pool_cu_result code, const pool_sim_fault *report);
void sim_poison_text(pool_cu_result code, int device, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Locks the state for a call that is not the driver's: POOL_ERR_FORKED in a child of fork(). */
pool_status sim_lock(void);

/* Waits for a change; false: the driver is closing. State locked. */
bool sim_wait(void);

/* Whether this thread runs a host function. */
void sim_in_host_function(bool is_inside);

void sim_stats_free(void);

/* Leaks: what is alive now, as text and JSON. State locked. */
uint64_t sim_leaks_list(char **text, char **json);

#endif
