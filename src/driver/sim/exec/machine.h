/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a running launch: run → cores (one per CPU thread) → blocks → warps. The lanes of a
 * warp that execute are in `active`; lanes that diverged from them form groups. The handlers of
 * exec/ operate on this state.
 */
#ifndef SIM_EXEC_MACHINE_H
#define SIM_EXEC_MACHINE_H

#include "driver/sim/exec/executor.h"
#include "driver/sim/exec/ops.h"
#include "driver/sim/exec/program.h"

#include <pthread.h>

enum {
    SIM_MAX_WARPS = 32,
    SIM_BARRIERS = 16,
    SIM_SLOTS = 256, /* operations per core whose last allocation is cached */
    SIM_RANGES = 16, /* last allocations cached per core */
    SIM_WORKSPACE_BYTES = 64,
    SIM_MAX_DEPTH = 4096, /* nested calls */
    SIM_MAX_RECONVERGENCE =
        48 /* reconvergence points tracked per warp; the oldest are dropped and not checked */
};

enum sim_group_state { SIM_GROUP_READY, SIM_GROUP_AT_BARRIER, SIM_GROUP_AT_SYNC };

struct sim_group {
    uint32_t pc;
    uint32_t mask;
    uint32_t depth;
    uint32_t members; /* lanes that it waits for, itself included: SIM_GROUP_AT_SYNC */
    uint8_t state;
    uint8_t barrier;
};

/* Lanes that diverged at a branch and reconverge at pc. */
struct sim_reconvergence {
    uint32_t pc;
    uint32_t depth;
    uint32_t pending; /* lanes that have not arrived */
    uint32_t arrived;
};

enum sim_warp_status { SIM_WARP_READY, SIM_WARP_BLOCKED, SIM_WARP_DONE };

struct sim_block;
struct sim_core;

struct sim_frame_record { /* one call of one lane */
    uint32_t pc;
    uint32_t local;
    uint32_t stack;
};

struct sim_warp {
    unsigned char *frame;
    const struct sim_op *code;
    struct sim_core *core;
    struct sim_block *block;
    unsigned char *local; /* of lane 0; consecutive lanes are local_stride bytes apart */
    uint32_t local_stride;
    uint32_t local_bytes; /* available per lane */
    uint32_t active;
    uint32_t live;
    uint32_t depth;
    uint32_t index;           /* index within the block */
    uint32_t spin;            /* basic blocks executed while other groups were ready */
    uint32_t priority_blocks; /* basic blocks that the scheduled group may execute before the order
                      by pc applies again */
    uint32_t sync_lanes;      /* lanes whose warp-wide operation is being executed now, else 0 */
    uint8_t status;
    uint32_t group_count, reconvergence_count;
    struct sim_group groups[SIM_LANES];
    struct sim_reconvergence reconvergence[SIM_MAX_RECONVERGENCE]; /* oldest first */
    uint32_t stack_top[SIM_LANES];                                 /* of alloca; grows downwards */
    struct sim_frame_record *records;                              /* [depth][lane] */
    uint32_t record_capacity;                                      /* capacity in call depths */
    unsigned char **saved; /* saved registers of recursive callers, by depth */
    uint32_t saved_capacity;
};

struct sim_barrier {
    uint32_t arrived[SIM_MAX_WARPS]; /* arrived lanes per warp */
    uint32_t expected;               /* expected threads; 0: all */
    uint32_t true_count, lane_count;
    uint32_t result_true, result_lanes;
    bool is_used;
};

struct sim_block {
    struct sim_core *core;
    uint32_t id[3];
    uint64_t number;
    uint32_t warp_count;
    uint32_t warps_left;
    unsigned char *shared;
    uint32_t shared_bytes;
    unsigned char *shadow;   /* 1 for each shared byte that was written; NULL: not checked */
    struct sim_races *races; /* race.h; NULL: not checked */
    bool is_watched;         /* accesses are checked or counted */
    struct sim_barrier barriers[SIM_BARRIERS];
    struct sim_block *next;
    bool is_fresh; /* the constants of its frames are not filled yet */
    struct sim_warp warps[SIM_MAX_WARPS];
    unsigned char *memory;
};

struct sim_block_count {
    uint64_t warps, lanes;
};

struct sim_run {
    const struct sim_launch *launch;
    const struct sim_program *program;
    const struct sim_kernel_code *kernel;
    uint32_t threads_per_block, warps_per_block;
    uint32_t shared_bytes, local_bytes, local_stride;
    uint64_t block_count;
    uint64_t next_block;   /* atomic */
    uint64_t instructions; /* atomic: consumed from the limit so far */
    uint32_t stop;         /* atomic: a fault has occurred */
    int64_t fuel;          /* instructions between checks of the limit and the cancel flag */
    pthread_mutex_t lock;
    struct sim_fault fault;   /* guarded by lock */
    struct sim_counts counts; /* guarded by lock */
    unsigned char *parameters;
    uint32_t parameter_bytes;
    unsigned char *workspace; /* SIM_WORKSPACE_BYTES for the barriers of a cooperative grid */
    struct sim_site *sites;   /* profile.h, by operation; guarded by lock; NULL: not counted */
    struct sim_global_races *global_races; /* race.h; NULL: not checked */
};

struct sim_core {
    struct sim_run *run;
    int64_t fuel;
    unsigned index, core_count;
    bool is_sliced; /* fuel ran out or a thread sleeps: another warp runs next */
    bool has_faulted;
    uint32_t strong_loads;
    struct sim_range slots[SIM_SLOTS]; /* by operation */
    struct sim_range ranges[SIM_RANGES];
    uint32_t next_range;
    struct sim_written written; /* the last that was looked up */
    struct sim_block_count *counts;
    struct sim_site *sites; /* NULL: not counted */
    struct sim_block *idle; /* finished blocks whose memory can be reused */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define SIM_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define SIM_THREAD_SANITIZER
#elif defined(__SANITIZE_ADDRESS__)
#define SIM_ADDRESS_SANITIZER
#endif

/* One thread at a time has the frames of a block: there is no race for ThreadSanitizer to find in
 * them, and these accesses are many. */
#ifdef SIM_THREAD_SANITIZER
#define SIM_OF_ONE_THREAD __attribute__((no_sanitize("thread")))
#elif defined(                                                                                     \
    SIM_ADDRESS_SANITIZER) /* a build with little optimisation, which inlines nothing else */
#define SIM_OF_ONE_THREAD __attribute__((always_inline))
#else
#define SIM_OF_ONE_THREAD
#endif

SIM_OF_ONE_THREAD static inline void *sim_vreg_at(const struct sim_warp *warp, uint32_t offset)
{
    return __builtin_assume_aligned(warp->frame + offset, 64);
}

SIM_OF_ONE_THREAD static inline uint32_t *sim_word_at(const struct sim_warp *warp, uint32_t offset)
{
    return (uint32_t *)(void *)(warp->frame + offset);
}

/* The lanes that execute the operation. */
SIM_OF_ONE_THREAD static inline uint32_t sim_active_lanes(
    const struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t word = *sim_word_at(warp, op->guard & ~3u);
    return warp->active & (word ^ (0u - (op->guard & 1u)));
}

static inline uint32_t sim_pc(const struct sim_warp *warp, const struct sim_op *op)
{
    return (uint32_t)(op - warp->code);
}

/* The allocation that the operation, or another one in its place, accessed last. */
static inline struct sim_range *sim_slot(const struct sim_warp *warp, const struct sim_op *op)
{
    return &warp->core->slots[sim_pc(warp, op) % SIM_SLOTS];
}

/* diverge.c */
void sim_group_add(struct sim_warp *warp, uint32_t pc, uint32_t mask, uint32_t depth);
/* Parks the running group and returns the next operation of the group that runs next, or NULL. */
const struct sim_op *sim_warp_park(
    struct sim_warp *warp, uint32_t pc, enum sim_group_state state, uint8_t barrier);
/* Ends the warp's time slice; the running group continues at pc in the next one. */
const struct sim_op *sim_warp_yield(struct sim_warp *warp, uint32_t pc);
const struct sim_op *sim_warp_pick(struct sim_warp *warp);
/* warp.c: operations that wait for the lanes of a mask */
enum sim_sync_source { SIM_SYNC_NOTHING, SIM_SYNC_BIT, SIM_SYNC_WORD, SIM_SYNC_DOUBLE };
struct sim_sync {
    sim_handler run;
    const char *name;
    uint32_t ops;    /* operations that it occupies in the program */
    uint32_t source; /* kind of value that each lane contributes in operand a */
};
const struct sim_sync *sim_sync_find(const struct sim_op *op);

/* sync.c */
/* True when all lanes named by the masks have arrived; *present is then the set of lanes to
 * combine. Otherwise sim_sync_wait returns the operation to run meanwhile. */
bool sim_sync_is_complete(
    const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes, uint32_t *present);
const struct sim_op *sim_sync_wait(
    struct sim_warp *warp, const struct sim_op *op, const uint32_t *masks);
/* Called after lanes ended: other lanes may no longer wait for them. */
void sim_sync_recheck(struct sim_warp *warp);
/* Ends the launch when a group waits for lanes that wait elsewhere; false: no group waits. */
bool sim_sync_deadlock(struct sim_warp *warp);
/* The running group diverges and is to reconverge at pc. */
void sim_reconvergence_add(struct sim_warp *warp, uint32_t pc);
/* Lanes arrive at a reconvergence point; false when others wait for them where they can no longer
 * arrive: a fault. */
bool sim_reconvergence_reach(struct sim_warp *warp, uint32_t pc, uint32_t lanes);

/* barrier.c: called after lanes left the block; barriers may be complete now */
void sim_barriers_recheck(struct sim_block *block);

/* fault.c */
const struct sim_op *sim_fault_access(struct sim_warp *warp, const struct sim_op *op,
    enum sim_fault_kind kind, enum sim_space space, unsigned lane, uint64_t address, uint32_t size,
    bool is_write, const struct sim_range *nearest);
const struct sim_op *sim_fault_raise(
    struct sim_warp *warp, const struct sim_op *op, enum sim_fault_kind kind, uint32_t lanes);
/* Fault of two accesses of a byte: this one, and one of another thread before it. */
struct sim_race {
    uint32_t block, thread, pc; /* of the other access */
    bool is_write;
};
void sim_fault_race(struct sim_warp *warp, const struct sim_op *op, enum sim_space space,
    unsigned lane, uint64_t address, uint32_t bytes, bool is_write, const struct sim_race *other);
/* Fault of a group at a .sync operation: the missing lanes cannot arrive any more. */
void sim_fault_sync(struct sim_warp *warp, const struct sim_group *waiting, uint32_t missing,
    uint32_t missing_pc, bool are_past);
void sim_fault_run(struct sim_run *run, enum sim_fault_kind kind);

/* translate.c: converts the lanes' device addresses to host addresses in place; false: a fault was
 * raised */
bool sim_translate(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    uint64_t *addresses, uint32_t lanes, uint32_t bytes, uint32_t alignment, bool is_write,
    bool is_ordered);

/* The lanes whose generic or global address lies in global memory: not in the shared or local
 * memory of the thread, nor among the parameters. */
uint32_t sim_global_lanes(const struct sim_warp *warp, const uint64_t *addresses, uint32_t lanes);

/* atomic.c: atom or red, and whether it uses what memory held before */
bool sim_is_atomic(const struct sim_op *op);
bool sim_is_read_modify_write(const struct sim_op *op);

/* memory.c: the lanes' addresses of an operand with the flags of an access */
void sim_lane_addresses(const struct sim_warp *warp, uint32_t vreg, uint32_t flags, uint32_t offset,
    uint64_t *addresses);

/* memory.c: loads and stores of all kinds */
const struct sim_op *sim_run_ld(struct sim_warp *warp, const struct sim_op *op);
const struct sim_op *sim_run_st(struct sim_warp *warp, const struct sim_op *op);

/* warp.c: shuffles of any lanes */
const struct sim_op *sim_run_shfl(struct sim_warp *warp, const struct sim_op *op);

/* print.c */
void sim_print_lane(struct sim_warp *warp, uint64_t format, uint64_t arguments);

/* launch.c */
bool sim_stop_requested(struct sim_core *core);

#endif
