/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX executor of the simulated devices: parses PTX into an immutable program and executes
 * launches of it on the host's cores. The simulated driver uses nothing below this header. The
 * executor knows nothing of contexts, streams, CUresult codes or logs; the driver maps `enum
 * sim_load` and `enum sim_fault_kind` to codes.
 *
 * Device addresses are host addresses: the bytes of an allocation at device address A are the host
 * bytes at A. Shared and local memory exist only inside a running launch; their generic addresses
 * are invalid outside it.
 */
#ifndef SIM_EXEC_EXECUTOR_H
#define SIM_EXEC_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/thread_pool.h"

/* ---- loading --------------------------------------------------------------------------------- */

enum sim_load {
    SIM_LOAD_OK = 0,
    SIM_LOAD_NO_MEMORY,   /* host memory: CUDA_ERROR_OUT_OF_MEMORY (2) */
    SIM_LOAD_INVALID,     /* not PTX, or invalid PTX: CUDA_ERROR_INVALID_PTX (218) */
    SIM_LOAD_UNSUPPORTED, /* a feature that the executor does not support; the message names it: 218
                           */
    SIM_LOAD_UNRESOLVED /* an .extern symbol without a definition: CUDA_ERROR_INVALID_PTX (218), as
                           with ptxas */
};

struct sim_load_error {
    uint32_t line; /* the first line is 1; 0: no particular line */
    char text[240];
};

struct sim_program;

/*
 * Parses length bytes of PTX (a trailing NUL is allowed and ignored). On success *program owns all
 * of its data and may be used by any number of threads at once. On failure *program is unchanged
 * and *error (may be NULL) holds the reason. Never reads outside the given bytes; the time is
 * linear in the length up to a logarithmic factor.
 */
enum sim_load sim_program_parse(
    const char *text, size_t length, struct sim_program **program, struct sim_load_error *error);

/* Frees the program and sets the pointer to NULL; a pointer to NULL is a no-op. No launch of the
 * program may be running. */
void sim_program_free(struct sim_program **program);

/* A number of the text: that of another text is another one. */
uint64_t sim_program_digest(const struct sim_program *program);

/* The directive of the source: .target sm_90a is 90. The driver rejects what its device cannot run.
 */
uint32_t sim_program_target(const struct sim_program *program);

/* The line of the source that a line of the PTX was compiled from, and its file: with nvcc's and
 * NVRTC's option -lineinfo. 0: not known. */
uint32_t sim_program_source(
    const struct sim_program *program, uint32_t ptx_line, const char **file);

/* ---- kernels --------------------------------------------------------------------------------- */

struct sim_parameter {
    uint32_t offset; /* in the parameter buffer */
    uint32_t size;
    uint32_t align;
};

struct sim_kernel {
    const char *name;
    uint32_t index;
    uint32_t parameter_count;
    const struct sim_parameter *parameters;
    uint32_t parameter_bytes; /* size of the whole buffer */
    uint32_t shared_bytes;    /* static, of the kernel and all functions it can call */
    uint32_t local_bytes;     /* per thread, along the deepest call path; recursion counts once */
    uint32_t register_count;  /* 32-bit registers that are live at once: an estimate */
    uint32_t max_threads;     /* per block: from .maxntid or .reqntid, else 1024 */
    uint32_t
        bound_threads; /* value of .maxntid or .reqntid, also beyond 1024; 0: neither is given */
    uint32_t required_block[3]; /* .reqntid, else zeros */
    uint32_t min_blocks;        /* .minnctapersm, else 0 */
    bool is_recursive;          /* recursion or calls through pointers: may need stack_bytes */
};

size_t sim_program_kernel_count(const struct sim_program *program);
const struct sim_kernel *sim_program_kernel(const struct sim_program *program, size_t index);
const struct sim_kernel *sim_program_find_kernel(
    const struct sim_program *program, const char *name);

/* ---- module variables ------------------------------------------------------------------------ */

struct sim_variable {
    const char *name;
    uint64_t size;
    uint32_t align;
    uint32_t index;
    bool is_constant; /* .const, else .global */
};

/* The caller provides memory for each variable (.global and .const of module scope), makes it
 * known to its resolver, and stores the addresses in an array by variable index. */
size_t sim_program_variable_count(const struct sim_program *program);
const struct sim_variable *sim_program_variable(const struct sim_program *program, size_t index);
const struct sim_variable *sim_program_find_variable(
    const struct sim_program *program, const char *name);

/* Writes the initial contents of all variables: initialisers, zeros elsewhere, addresses of
 * variables and functions. */
void sim_program_write_variables(const struct sim_program *program, const uint64_t *addresses);

/* ---- launching ------------------------------------------------------------------------------- */

struct sim_range {
    uint64_t base;
    uint64_t size; /* 0: none */
};

/*
 * Finds the allocation that contains the address: returns true and stores it in *range. Otherwise
 * returns false and stores the nearest allocation, for the fault report. Called by several threads
 * at once. Results are cached for the length of the launch, so the driver must not move or free an
 * allocation while a launch that may access it is running.
 */
typedef bool (*sim_resolve)(void *context, uint64_t address, struct sim_range *range);

struct sim_memory {
    sim_resolve resolve;
    void *context;
};

/* An allocation and, for each of its bytes, whether it was written; NULL: all were. */
struct sim_written {
    struct sim_range range;
    unsigned char *bytes;
};

enum sim_check {
    SIM_CHECK_SHARED_INIT =
        1u, /* report reads of shared bytes that no thread of the block has written */
    SIM_CHECK_DIVERGENT_BARRIER =
        2u,               /* report aligned barriers that only some live lanes of a warp reach */
    SIM_CHECK_RACES = 4u, /* report data races in shared and global memory */
    SIM_CHECK_GLOBAL_INIT =
        8u /* report reads of global bytes that are not written, see sim_launch */
};

enum sim_space {
    SIM_SPACE_NONE,
    SIM_SPACE_GLOBAL,
    SIM_SPACE_SHARED,
    SIM_SPACE_LOCAL,
    SIM_SPACE_PARAMETER
};

enum sim_use { SIM_USE_READ, SIM_USE_WRITE, SIM_USE_ATOMIC };

/* The requests of one operation of a launch; profile.h says what is counted. */
struct sim_access_count {
    uint32_t line;           /* line in the PTX source */
    const char *source_file; /* valid as long as the program; NULL: not known */
    uint32_t source_line;
    enum sim_space space; /* SHARED or GLOBAL */
    enum sim_use use;
    uint64_t requests; /* one per warp */
    uint64_t lanes;
    uint64_t units; /* passes over the banks of shared memory, or sectors of global memory */
    uint64_t ideal; /* without bank conflicts, or without gaps between the lanes' addresses */
    uint32_t worst; /* most units of one request; of shared memory for lanes that are served at once
                     */
    uint32_t same;  /* most lanes of one atomic request at one address */
};

struct sim_launch {
    const struct sim_program *program;
    const struct sim_kernel *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    const void *parameters; /* kernel->parameter_bytes bytes; copied */
    uint32_t dynamic_shared_bytes;
    uint32_t stack_bytes; /* per thread, for recursion beyond kernel->local_bytes; 0: 1024 */
    const uint64_t
        *variables; /* address of each module variable, by index; NULL when there are none */
    struct sim_memory memory;
    /* With SIM_CHECK_GLOBAL_INIT: the allocation that contains the address, as with resolve. The
     * launch sets the bytes that it writes. */
    void (*find_written)(void *context, uint64_t address, struct sim_written *written);
    struct base_thread_pool *workers; /* NULL: the launch runs on the caller's thread */
    uint64_t instruction_limit;       /* warp instructions of the whole launch; 0: unlimited */
    const uint32_t *cancel;           /* read atomically; non-zero aborts the launch; may be NULL */
    bool is_cooperative; /* all blocks are resident at once and share the cores in time slices */
    uint32_t checks;     /* of enum sim_check */
    uint32_t multiprocessor_count;   /* %nsmid; 0: 1 */
    const uint16_t *multiprocessors; /* %smid is one of these; NULL: any */
    uint32_t resident_count;         /* how many they are */
    uint64_t grid_id;                /* %gridid */
    /* Receives the output of device code (vprintf), complete lines or parts of them; NULL discards
     * it. Calls are serialised. */
    void (*print)(void *context, const char *text, size_t length);
    void *print_context;
    /* Receives the requests of each operation after a launch without a fault, in order of
     * the program; NULL: they are not counted. */
    void (*count)(void *context, const struct sim_access_count *count);
    void *count_context;
};

enum sim_class {
    SIM_CLASS_INTEGER,  /* add, logic, shift, compare, select, move, convert */
    SIM_CLASS_MULTIPLY, /* integer multiply and multiply-add */
    SIM_CLASS_FLOAT,
    SIM_CLASS_GLOBAL, /* ld and st of global, constant and generic addresses */
    SIM_CLASS_SHARED,
    SIM_CLASS_LOCAL,
    SIM_CLASS_ATOMIC,
    SIM_CLASS_WARP,    /* shfl, vote, match, redux */
    SIM_CLASS_BARRIER, /* bar, fence, membar */
    SIM_CLASS_CONTROL, /* bra, call, ret, exit */
    SIM_CLASS_COUNT
};

struct sim_counts {
    uint64_t warp_instructions;
    uint64_t lane_instructions; /* one per active lane of a warp instruction, whether or not its
                                   guard holds */
    uint64_t warp_by_class[SIM_CLASS_COUNT];
    uint64_t lane_by_class[SIM_CLASS_COUNT];
};

enum sim_fault_kind {
    SIM_FAULT_NONE = 0,
    SIM_FAULT_OUT_OF_BOUNDS,     /* 700 */
    SIM_FAULT_MISALIGNED,        /* 716 */
    SIM_FAULT_TRAP,              /* trap: 719 */
    SIM_FAULT_BREAKPOINT,        /* brkpt: 719 */
    SIM_FAULT_ASSERT,            /* assert() of device code: 710 */
    SIM_FAULT_INVALID_PC,        /* call through a pointer that is no function: 718 */
    SIM_FAULT_STACK_OVERFLOW,    /* calls nested too deeply or stack_bytes too small: 719 */
    SIM_FAULT_INSTRUCTION_LIMIT, /* 702 */
    SIM_FAULT_DEADLOCK, /* every thread waits at a barrier that cannot complete; a GPU hangs: 702 */
    SIM_FAULT_SYNC_DEADLOCK, /* lanes wait in a .sync operation for lanes that can no longer arrive;
                                a GPU hangs: 702 */
    SIM_FAULT_SYNC_MASK, /* a lane executes a .sync operation whose mask does not contain it: 719 */
    SIM_FAULT_CANCELLED, /* *cancel was set */
    SIM_FAULT_NO_BARRIER,        /* a register has the number of a barrier that blocks lack: 715 */
    SIM_FAULT_DIVERGENT_BARRIER, /* reported only when the check is enabled */
    SIM_FAULT_UNINITIALISED_SHARED, /* reported only when the check is enabled */
    SIM_FAULT_UNINITIALISED_GLOBAL, /* reported only when the check is enabled */
    SIM_FAULT_RACE,                 /* reported only when the check is enabled */
    SIM_FAULT_NO_MEMORY             /* host memory ran out before or during the launch */
};

struct sim_fault {
    enum sim_fault_kind kind;
    const char *kernel; /* valid as long as the program */
    uint32_t block[3];
    uint32_t thread[3];
    uint32_t line;           /* line in the PTX source */
    const char *source_file; /* valid as long as the program; NULL: not known */
    uint32_t source_line;
    enum sim_space space;
    uint64_t address; /* of the access; an offset in shared and local space */
    uint32_t size;    /* of the access, bytes */
    bool is_write;
    struct sim_range nearest; /* allocation nearest to the address, or the shared or local window */
    char text[400];           /* complete description in one sentence */
};

/*
 * Runs the launch to completion on the calling thread and the workers. Returns SIM_FAULT_NONE or
 * the kind of the first fault; *counts and *fault (each may be NULL) are written in either case.
 * The caller must have validated grid and block against the device's limits; a block has 1 to 1024
 * threads.
 */
enum sim_fault_kind sim_launch_run(
    const struct sim_launch *launch, struct sim_counts *counts, struct sim_fault *fault);

/* Names for messages: "out of bounds" and so on; the instruction set that the executor uses:
 * "avx512", "avx2", "sse2" or "generic". */
const char *sim_fault_name(enum sim_fault_kind kind);
const char *sim_class_name(enum sim_class instruction_class);

#endif
