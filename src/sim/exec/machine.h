/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a running launch: run → cores (one a CPU thread) → blocks → warps. A warp keeps the
 * group of lanes that runs in `active`; groups that wait elsewhere are its splits. Handlers of
 * exec_*.c work on these.
 */
#ifndef SIM_EXEC_MACHINE_H
#define SIM_EXEC_MACHINE_H

#include "sim/exec/executor.h"
#include "sim/exec/ops.h"
#include "sim/exec/program.h"

#include <pthread.h>

enum {
    SIM_MAX_WARPS = 32,
    SIM_BARRIERS = 16,
    SIM_RANGES = 16, /* allocations that a core remembers, by operation */
    SIM_WORKSPACE_BYTES = 64,
    SIM_MAX_DEPTH = 4096, /* calls within calls */
    SIM_JOINS = 48        /* that a warp remembers; older ones are forgotten, and not checked */
};

enum sim_split_state { SIM_SPLIT_READY, SIM_SPLIT_AT_BARRIER, SIM_SPLIT_AT_SYNC };

struct sim_split {
    uint32_t pc;
    uint32_t mask;
    uint32_t depth;
    uint32_t members; /* lanes that it waits for, itself among them: SIM_SPLIT_AT_SYNC */
    uint8_t state;
    uint8_t barrier;
};

/* Lanes that parted at a branch and are to meet at pc. */
struct sim_join {
    uint32_t pc;
    uint32_t depth;
    uint32_t pending; /* on their way */
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
    unsigned char *local; /* of lane 0; the next lane's is local_stride further */
    uint32_t local_stride;
    uint32_t local_bytes; /* that a lane may use */
    uint32_t active;
    uint32_t live;
    uint32_t depth;
    uint32_t index; /* in the block */
    uint32_t spin;  /* blocks run while other groups were ready */
    uint32_t hold; /* blocks that the group in turn may still run before order by pc counts again */
    uint32_t met;  /* lanes whose operation is done together just now, else 0 */
    uint8_t status;
    uint32_t split_count, join_count;
    struct sim_split splits[SIM_LANES];
    struct sim_join joins[SIM_JOINS]; /* oldest first */
    uint32_t stack_top[SIM_LANES];    /* of alloca, grows down */
    struct sim_frame_record *records; /* [depth][lane] */
    uint32_t record_room;             /* depths */
    unsigned char **saved;            /* registers of recursive callers, by depth */
    uint32_t saved_room;
};

struct sim_barrier {
    uint32_t arrived[SIM_MAX_WARPS]; /* lanes of each warp */
    uint32_t expected;               /* threads; 0: all */
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
    unsigned char *shadow; /* a byte is 1 once its shared byte is written; NULL: not checked */
    struct sim_barrier barriers[SIM_BARRIERS];
    struct sim_block *next;
    bool is_fresh; /* its frames' constants are not filled yet */
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
    uint64_t instructions; /* atomic: taken from the limit so far */
    uint32_t stop;         /* atomic: a fault was seen */
    unsigned core_count;
    int64_t fuel; /* instructions between looks at limit and cancel flag */
    pthread_mutex_t lock;
    struct sim_fault fault;   /* guarded by lock */
    struct sim_counts counts; /* guarded by lock */
    unsigned char *parameters;
    uint32_t parameter_bytes;
    unsigned char *workspace; /* SIM_WORKSPACE_BYTES for the barriers of a cooperative grid */
};

struct sim_core {
    struct sim_run *run;
    int64_t fuel;
    unsigned index;
    bool is_sliced; /* fuel ran out or a thread slept: another warp's turn */
    bool has_faulted;
    uint32_t strong_loads;
    struct sim_range ranges[SIM_RANGES];
    struct sim_block_count *counts;
    struct sim_block *idle; /* blocks whose memory is free for the next */
};

static inline void *sim_row_at(const struct sim_warp *warp, uint32_t offset)
{
    return __builtin_assume_aligned(warp->frame + offset, 64);
}

static inline uint32_t *sim_word_at(const struct sim_warp *warp, uint32_t offset)
{
    return (uint32_t *)(void *)(warp->frame + offset);
}

/* Lanes for which the operation is to be done. */
static inline uint32_t sim_lanes_of(const struct sim_warp *warp, const struct sim_op *op)
{
    uint32_t word = *sim_word_at(warp, op->guard & ~3u);
    return warp->active & (word ^ (0u - (op->guard & 1u)));
}

static inline uint32_t sim_pc(const struct sim_warp *warp, const struct sim_op *op)
{
    return (uint32_t)(op - warp->code);
}

/* diverge.c */
void sim_split_add(struct sim_warp *warp, uint32_t pc, uint32_t mask, uint32_t depth);
/* Puts the running group aside and gives the group that runs next, or NULL. */
const struct sim_op *sim_warp_park(
    struct sim_warp *warp, uint32_t pc, enum sim_split_state state, uint8_t barrier);
/* Ends the warp's turn; the running group goes on at pc when the next one comes. */
const struct sim_op *sim_warp_yield(struct sim_warp *warp, uint32_t pc);
const struct sim_op *sim_warp_pick(struct sim_warp *warp);
/* warp.c: operations that wait for the lanes of a mask */
enum sim_sync_source { SIM_SYNC_NOTHING, SIM_SYNC_BIT, SIM_SYNC_WORD, SIM_SYNC_DOUBLE };
struct sim_sync {
    sim_handler run;
    const char *name;
    uint32_t ops;    /* that it takes in the program */
    uint32_t source; /* what each lane brings, in operand a */
};
const struct sim_sync *sim_sync_find(const struct sim_op *op);

/* sync.c */
/* True when the lanes that the masks name have come, and those in *present are to be looked at;
 * else sim_sync_wait says what to run meanwhile. */
bool sim_sync_met(
    const struct sim_warp *warp, const uint32_t *masks, uint32_t lanes, uint32_t *present);
const struct sim_op *sim_sync_wait(
    struct sim_warp *warp, const struct sim_op *op, const uint32_t *masks);
/* Lanes have ended: others may wait for nobody else now. */
void sim_sync_recheck(struct sim_warp *warp);
/* Ends the launch when a group waits for lanes that wait elsewhere; false: none waits. */
bool sim_sync_deadlock(struct sim_warp *warp);
/* The running group parts and is to meet at pc. */
void sim_join_open(struct sim_warp *warp, uint32_t pc);
/* Lanes come to a join; false when others wait for them where they will never come: a fault. */
bool sim_join_reach(struct sim_warp *warp, uint32_t pc, uint32_t lanes);

/* barrier.c: lanes have left the block, barriers may be complete now */
void sim_barriers_recheck(struct sim_block *block);

/* fault.c */
const struct sim_op *sim_fault_access(struct sim_warp *warp, const struct sim_op *op,
    enum sim_fault_kind kind, enum sim_space space, unsigned lane, uint64_t address, uint32_t size,
    bool is_write, const struct sim_range *nearest);
const struct sim_op *sim_fault_raise(
    struct sim_warp *warp, const struct sim_op *op, enum sim_fault_kind kind, uint32_t lanes);
/* A group at an operation that waits for lanes of its mask: those missing will not come. */
void sim_fault_sync(struct sim_warp *warp, const struct sim_split *waiting, uint32_t missing,
    uint32_t missing_pc, bool are_past);
void sim_fault_run(struct sim_run *run, enum sim_fault_kind kind);

/* translate.c: device addresses of the lanes become host addresses in place; false: a fault
 * was raised */
bool sim_translate(struct sim_warp *warp, const struct sim_op *op, uint32_t space,
    uint64_t *addresses, uint32_t lanes, uint32_t bytes, uint32_t alignment, bool is_write);

/* print.c */
void sim_print_lane(struct sim_warp *warp, uint64_t format, uint64_t arguments);

/* launch.c */
bool sim_stop_asked(struct sim_core *core);

#endif
