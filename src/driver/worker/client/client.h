/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool's side of the workers. There is one set of workers per process, as there is one driver.
 *
 * Locks, in the order in which a thread may hold them: that of a window, client.memory_lock, a
 * worker's pass_lock or primary_lock, the mutex of a ring, client.lock, a worker's lock. The lock
 * of client.layouts is held alone.
 */
#ifndef WORKER_CLIENT_H
#define WORKER_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "driver/driver.h"
#include "driver/worker/layout.h"
#include "driver/worker/protocol.h"
#include "driver/worker/ring.h"
#include "driver/worker/worker.h"

struct client;

/* --- handles ---------------------------------------------------------------------------------- */

/*
 * A handle of the client is no address: a mark that no address has, kind, worker, generation of the
 * worker, and what the worker knows the object by.
 */
#define CLIENT_HANDLE_MARK UINT64_C(0xA)

struct client_handle {
    enum worker_kind kind;
    unsigned worker;
    unsigned generation; /* 16 bits */
    uint32_t id;         /* of a context: its number, and how often that was reused */
};

static inline void *client_handle_make(
    enum worker_kind kind, unsigned worker, unsigned generation, uint32_t id)
{
    return (void *)(uintptr_t)(CLIENT_HANDLE_MARK << 60 | (uint64_t)kind << 56 |
                               (uint64_t)worker << 48 | (uint64_t)(generation & 0xffff) << 32 | id);
}

static inline struct client_handle client_handle_read(const void *handle)
{
    uint64_t value = (uint64_t)(uintptr_t)handle;
    struct client_handle read = {.kind = WORKER_FREE};

    if (value >> 60 != CLIENT_HANDLE_MARK)
        return read;
    read.kind = (enum worker_kind)(value >> 56 & 0xf);
    read.worker = value >> 48 & 0xff;
    read.generation = value >> 32 & 0xffff;
    read.id = (uint32_t)value;
    return read;
}

/* --- workers ---------------------------------------------------------------------------------- */

/* The client's end of a ring; a thread owns it until it ends. */
struct client_ring {
    pthread_mutex_t mutex;
    struct ring_writer writer; /* guarded by mutex */
    atomic_uint last_posted;   /* number of the last message that nobody waited for */
    bool is_owned;             /* guarded by the worker's lock */
};

struct client_context {
    atomic_uint serial;   /* odd: alive */
    atomic_bool is_green; /* may be made current although it has ended */
};

/* Kernels by the index of their handle; changed with the worker's lock held. */
struct client_kernel {
    atomic_uint_least64_t handle; /* 0 while the entry changes */
    _Atomic(const struct worker_layout *) layout;
};
#define CLIENT_KERNEL_CHUNK 1024u
#define CLIENT_KERNEL_CHUNKS 1024u

struct client_worker {
    int ordinal;
    struct worker_shared *shared; /* NULL until the worker is started first */
    int control;                  /* its memfd, -1: none */
    char uuid[64];     /* "GPU-…": the only device that the worker sees; "": simulated */
    atomic_uint state; /* enum worker_state */
    atomic_uint generation;
    atomic_uint lost_code;  /* of calls of generations that have ended */
    atomic_uint ring_count; /* rings beyond have never been used */
    atomic_bool is_wanted;  /* a thread waits for it to run; changed with the state */
    struct client_ring rings[WORKER_RINGS];
    struct client_context contexts[WORKER_CONTEXTS];
    pthread_mutex_t primary_lock; /* held while the primary context is retained or released */
    _Atomic(struct client_kernel *) kernels[CLIENT_KERNEL_CHUNKS];
    /* Addresses of device memory, reserved here. Each process of the worker uses another part, so
     * that an address of an ended one is recognised. */
    uint64_t region_base, region_bytes;
    /* Addresses of virtual memory, the same for all processes; 0 bytes: it is not supported. */
    uint64_t virtual_base, virtual_bytes;
    uint64_t virtual_next; /* guarded by memory_lock */
    /* Descriptors to and from the process, one at a time; taken before the mutex of a ring. */
    pthread_mutex_t pass_lock;
    int passing;     /* a socket, -1: none; guarded by pass_lock */
    uint64_t passed; /* their number; guarded by pass_lock */
    pthread_mutex_t lock;
    /* Guarded by lock; the supervisor reads without it what only it writes. */
    pid_t pid;
    int process, lifeline; /* descriptors, -1: none */
    unsigned losses;
    unsigned losses_in_a_row; /* without a minute of service in between */
    /* Of these the last ones, whose processes did no work; see worker_skip_pause. */
    unsigned useless_in_a_row;
    uint64_t ready_ns, ready_unix_time, restart_ns;
    uint64_t deadline_ns; /* the process that starts, or was killed, is killed then */
    uint64_t killed_ns;   /* when it was killed first; 0: it was not */
    /* Of the process that runs: its beats at the last check, when the next one is due, and how many
     * checks in a row have seen no new one. */
    unsigned beats, missed_beats;
    uint64_t check_ns;
    char cause[1024];
    pthread_t host_thread;
    bool has_host_thread;
    atomic_bool stops_host_thread;
    bool is_notified_lost; /* the listeners know that it is lost */
    /* Copied from devices of other workers. */
    atomic_uint_least64_t window_bytes, pinned_bytes;
};

/* --- window.c --------------------------------------------------------------------------------- */

/* What one process has mapped of a window. */
struct client_mapping {
    unsigned generation; /* of the worker; 0: nothing is mapped */
    CUmemGenericAllocationHandle allocation;
    CUdeviceptr address;
};

/* Memory of the device of one worker, `owner`, which another one, `writer`, has mapped as well. */
struct client_window {
    pthread_mutex_t lock; /* held during a copy through the window */
    uint64_t bytes;
    struct client_mapping owner, writer;
    unsigned refused_owner, refused_writer; /* generations that cannot have one; 0: none */
    unsigned char *pinned;                  /* what takes its place; NULL: nothing yet */
};

/* One side of a copy between devices of different workers. */
struct client_side {
    struct client_worker *worker;
    CUcontext context;
    CUdeviceptr address;
};

/* Opens the window unless it is open; false: there is none for a copy of so many bytes. With its
 * lock held. */
bool client_window_open(struct client_window *window, const struct client_side *owner,
    const struct client_side *writer, uint64_t bytes);
bool client_windows_create(struct client *opened);
void client_windows_free(struct client *closing);

struct client {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned references; /* guarded by the lock of open and close */
    unsigned fork_generation;
    unsigned number; /* of this set of workers in the process */
    char devices[512];
    bool is_simulated;
    int driver_version;
    uint64_t device_bytes; /* memory of a simulated device */
    bool is_synchronous;   /* every call waits for its code */
    atomic_bool is_initialised;
    pool_cuda_api table;
    unsigned count;
    struct client_worker *workers;
    struct client_window *windows; /* by owner, then by writer */
    uint64_t spin_ns;
    unsigned spinners; /* threads that may spin for longer, see call.c; on each side */
    atomic_uint_least64_t long_spin_ns; /* of the threads of workers; the longest of all requests */
    uint64_t pause_ns;                  /* before the second replacement in a row */
    uint64_t start_timeout_ns;
    uint64_t stop_timeout_ns; /* of a process whose threads do not run; 0: none */
    char program[4096];
    /* the supervisor */
    pthread_t supervisor;
    bool has_supervisor;
    int wake;                          /* an eventfd */
    bool is_closing;                   /* guarded by lock */
    struct client_listener *listeners; /* guarded by lock */
    struct client_listener *calling;
    struct worker_layouts layouts;
    /* pinned memory */
    int arena;
    unsigned char *arena_base;
    uint64_t arena_bytes;
    pthread_rwlock_t memory_lock;
    struct client_block *blocks; /* in order of address; guarded by memory_lock */
    size_t block_count, block_capacity;
    struct client_range *ranges; /* device memory outside of the workers' regions; the same */
    atomic_size_t range_count;   /* also read without the lock */
    size_t range_capacity;
    uint64_t next_block_id;
    uint64_t reserved_base, reserved_bytes;
    atomic_uint spinning; /* threads that spin for long in a call */
};

/* NULL: there are no workers. Set while no call can be in progress. */
extern struct client *client;

/* The worker runs, or why its calls fail. */
static inline bool client_worker_runs(const struct client_worker *worker)
{
    return atomic_load_explicit(&worker->state, memory_order_acquire) == WORKER_STATE_RUNNING;
}

/* --- call.c: one call ------------------------------------------------------------------------- */

/* As in calls.def. */
enum client_mode {
    CLIENT_WAIT,
    CLIENT_SYNC,
    CLIENT_END,
    CLIENT_POST,
    CLIENT_CLEANUP,
    CLIENT_END_LATER
};

static inline bool client_mode_waits(enum client_mode mode)
{
    return mode <= CLIENT_END;
}

struct client_call {
    enum worker_function function;
    enum client_mode mode;
    const struct worker_ring *awaited; /* whose messages must be executed first */
    uint64_t neglected_ns; /* when its worker was last seen to sleep although it should not */
    unsigned neglects;     /* how often; 0: it does not sleep */
    struct client_worker *worker; /* NULL: that of the current context */
    unsigned generation;
    pool_cu_result code; /* of an argument; 0: all of them are valid */
    CUfunction kernel;   /* the last argument that is one */
    size_t count;        /* words of the message, the header included */
    size_t next;         /* word of the reply */
    union {
        struct worker_header header;
        uint64_t words[WORKER_MESSAGE_BYTES / 8];
    } message;
    struct worker_reply reply;
};

/* NOT_INITIALIZED, or NOT_PERMITTED in a host function. */
pool_cu_result call_check(void);

void call_begin(struct client_call *call, enum worker_function function, enum client_mode mode);
void call_word(struct client_call *call, uint64_t word);
void call_bytes(struct client_call *call, const void *data, size_t bytes);
void call_text(struct client_call *call, const char *text);
void call_device(struct client_call *call, CUdevice device);
void call_worker(struct client_call *call, struct client_worker *worker, unsigned generation);
void call_handle(struct client_call *call, enum worker_kind kind, const void *handle);
/* A context argument: number + 1. */
void call_context(struct client_call *call, CUcontext context);

/* Sends the message and waits for the reply, unless the call is posted. */
pool_cu_result call_run(struct client_call *call);
/* The same with bytes in the ring's stage; the call then waits. */
struct call_stage {
    const void *from; /* copied into the stage before the call; NULL: nothing is */
    void *to;         /* copied out of it after success; NULL: nothing is */
    size_t bytes;
    /* Reads the reply and the stage after success and failure; may be NULL. */
    void (*after)(struct client_call *call, const unsigned char *stage, void *user);
    void *user;
};
pool_cu_result call_run_staged(struct client_call *call, const struct call_stage *stage);

uint64_t call_result(struct client_call *call);
void call_result_bytes(struct client_call *call, void *to, size_t bytes);
/* A new object of the worker. */
void *call_result_handle(struct client_call *call, enum worker_kind kind);

/* What belongs to a thread of this process; released at its end. */
struct client_thread {
    unsigned client; /* number of the set of workers that the rings and contexts belong to */
    uint8_t rings[WORKER_MAX_DEVICES]; /* index + 1; 0: none */
    bool is_in_host_function;
    unsigned last_lost;     /* ordinal + 1 of the worker whose loss made a call fail; 0: none */
    size_t depth, capacity; /* of the stack of contexts */
    CUcontext *contexts;
};
_Static_assert(WORKER_RINGS < 256, "a ring's index fits a byte");
struct client_thread *client_thread(void); /* NULL: out of memory */
/* Held while a set of workers ends, against threads that end at the same time. */
void call_lock_threads(void);
void call_unlock_threads(void);

/* The code of calls to a worker that does not run. */
pool_cu_result client_lost_code(const struct client_worker *worker);
/* The device whose loss the last such code of this thread was about; -1: there was none. */
int client_last_lost(void);

/* --- context.c -------------------------------------------------------------------------------- */

CUcontext client_current(void);   /* NULL: none */
bool client_in_ended_green(void); /* an ended green context is current */
/* The worker of the current context, or why a call cannot use it: call_check's code, no current
 * context, one that was destroyed or lost. */
pool_cu_result client_current_worker(struct client_worker **worker);
/* The worker and number of a context; INVALID_CONTEXT, CONTEXT_IS_DESTROYED or the code of a lost
 * worker. */
pool_cu_result client_context_find(
    CUcontext context, struct client_worker **worker, unsigned *number);
CUcontext client_context_handle(const struct client_worker *worker, unsigned number);
/* All contexts of the worker are gone. */
void client_contexts_end(struct client_worker *worker);

/* --- addresses.c ------------------------------------------------------------------------------ */

#define CLIENT_PAGE UINT64_C(4096)
/* Drivers reserve whole blocks of this size at the requested address, and place less than a block
 * in a block that they have already (seen with 580.159): virtual memory is reserved in blocks. */
#define CLIENT_ADDRESS_BLOCK (UINT64_C(32) << 20)

pool_status client_arena_open(struct client *opened);
void client_arena_close(struct client *closing);
/* Keeps others from using the addresses; MAP_FAILED: they are in use. */
void *client_reserve(uint64_t base, uint64_t bytes);

/* --- pinned.c --------------------------------------------------------------------------------- */

/* Pinned memory: a range of the arena. */
struct client_block {
    uint64_t offset, bytes, mapped_bytes;
    uint64_t id;
    unsigned flags;
    CUcontext context;
    bool is_freeing;
    uint32_t registered[WORKER_MAX_DEVICES]; /* generation + 1 of the worker that knows it */
};

/* A range of the arena for the time of a call; UINT64_MAX: none is free. */
uint64_t client_arena_borrow(uint64_t bytes);
void client_arena_return(uint64_t offset, uint64_t bytes);
/* The offset of pinned memory that worker can use; false: the memory is pageable. */
bool client_find_pinned(const void *memory, size_t bytes, uint64_t *offset);
/* A copy of the block at the offset; false: there is none. */
bool client_copy_block(uint64_t offset, struct client_block *copy);
pool_cu_result client_register_block(struct client_worker *worker, uint64_t offset);

/* --- ranges.c --------------------------------------------------------------------------------- */

/* An allocation outside of the addresses that are reserved for its worker. */
struct client_range {
    uint64_t base, bytes;
    unsigned worker;
    unsigned opened;     /* how often, besides the first time; memory of another process */
    unsigned generation; /* of the worker */
};

/* Addresses of a worker's device memory, of which each of its processes uses one part. */
#define CLIENT_REGION_PARTS 4u
/* The worker that an address of device memory belongs to; NULL: host memory. */
struct client_worker *client_address_worker(uint64_t address);
/* Whether no process of the worker that has ended had the address. */
bool client_address_is_present(const struct client_worker *worker, uint64_t address);
/* A call that concerns the address of this worker's device. */
void call_address(struct client_call *call, struct client_worker *worker, uint64_t address);
/* Takes the addresses of an allocation of the worker, which may be 0; false: they are in use. */
bool client_range_claim(const struct client_worker *worker, uint64_t address, uint64_t bytes);
/* They are used no longer. */
void client_range_release(const struct client_worker *worker, uint64_t address);
/* Whether the process that has the range has not ended. */
bool client_range_is_present(const struct client_range *range);
void client_ranges_free(struct client *closing);

/* --- arguments.c ------------------------------------------------------------------------------ */

/* A struct with a location, whose worker executes the call; or the first one. */
void call_props(
    struct client_call *call, const void *props, size_t size, const pool_cu_mem_location *location);
/* Who may access memory of the call's worker: no other worker's device. */
void call_access(struct client_call *call, const pool_cu_mem_access *access, size_t count);
/* Perhaps of another worker, which is refused. */
void call_peer(struct client_call *call, CUcontext peer);
void call_result_context(struct client_call *call, CUcontext *context);
/* A handle of an object that has one, or NULL. */
void call_result_handle_of(struct client_call *call, enum worker_kind kind, void **handle);
/* Multiprocessors of a device, whose worker executes the call; and several of one device. */
void call_resource(struct client_call *call, const pool_cu_dev_resource *resource);
void call_resources(
    struct client_call *call, const pool_cu_dev_resource *resources, unsigned count);
void call_groups(
    struct client_call *call, const pool_cu_dev_resource *groups, const unsigned *count);
void call_result_resource(struct client_call *call, pool_cu_dev_resource *resource);
void call_result_groups(struct client_call *call, pool_cu_dev_resource *groups, unsigned *count);
/* An address, whose worker executes the call. */
void call_owned(struct client_call *call, uint64_t address);
void call_pinned(struct client_call *call, void *memory);
/* The bytes of a memory pool's attribute; 0: there is none. */
size_t call_attribute_bytes(pool_cu_enum attribute);
/* So many bytes of a value, at most 8, as a word and back; NULL: nothing. */
uint64_t call_load(const void *value, size_t bytes);
void call_store(void *value, size_t bytes, uint64_t word);

/* --- exchange.c ------------------------------------------------------------------------------- */

/* Copies between devices of different workers; complete when it returns. Work that uses the memory
 * must have been waited for. */
pool_cu_result client_exchange(
    const struct client_side *to, const struct client_side *from, size_t bytes);

/* --- module.c --------------------------------------------------------------------------------- */
void client_kernels_free(struct client_worker *worker);
/* The parameters of a kernel of the call's worker; NULL: the kernel is none, or no more. */
const struct worker_layout *client_kernel_layout(
    const struct client_call *call, CUfunction function);

/* --- launch_arguments.c ----------------------------------------------------------------------- */
void call_arguments(struct client_call *call, void **arguments, void **extra); /* of call->kernel */
void call_config(struct client_call *call, const pool_cu_launch_config *config);

/* --- host_function.c -------------------------------------------------------------------------- */
bool client_in_host_function(void);
/* Ends the thread that runs the host functions of a worker. */
void client_host_stop(struct client_worker *worker);
void client_host_forget(struct client_worker *worker);

/* --- spawn.c, supervise.c, state.c -------------------------------------------------------------
 */

pool_status client_find_program(char *path, size_t size);
/* A copy of the descriptor above those that a worker inherits; closes the original. -1: failed. */
int client_move_up(int descriptor);
/* Starts the process; called on the supervisor's thread, without the worker's lock. */
bool client_spawn(struct client *owner, struct client_worker *worker);
pool_status client_supervise(struct client *opened);
void client_supervise_end(struct client *closing);
/* Wakes the supervisor, threads that wait for a change of state, and threads that wait for an
 * answer of the worker. */
void client_wake(struct client *owner);
void client_announce(struct client *owner);
void client_wake_callers(struct client_worker *worker);
/* With the worker's lock held: the second start in a row that is of no use, and each one after it,
 * is later by a longer pause. */
void client_delay_restart(struct client_worker *worker, uint64_t now, uint64_t shortest);
/* With the worker's lock held. */
void client_set_lost(struct client_worker *worker, pool_cu_result code, const char *cause);
/* Calls the listeners, on the supervisor's thread. */
void client_notify(struct client *owner, const struct client_worker *worker);
void client_forget_listeners(struct client *closing);
/* The worker of this generation must end: marks it lost with the cause, once. */
void client_lose(
    struct client_worker *worker, unsigned generation, pool_cu_result code, const char *cause);
/* Has the worker started unless it runs. */
void client_want(struct client_worker *worker);
/* Runs the worker program to list the devices of the real driver. */
pool_status client_list_devices(const struct client *opened, char *text, size_t size);
/* Waits until the worker runs, or returns why it does not. */
pool_status client_wait_ready(struct client_worker *worker);

/* The table's functions. */
#define CLIENT_PROTOTYPE(field, symbol, suffix, version, need, parameters)                         \
    pool_cu_result client_cu_##field parameters;
POOL_CUDA_FUNCTIONS(CLIENT_PROTOTYPE)
#undef CLIENT_PROTOTYPE

#endif
