/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX machine of the simulated devices: text in, immutable program out, launches executed on
 * the host's cores. This header is all that the simulated driver sees of it. It knows nothing of
 * contexts, streams, CUresult codes or logs; the driver maps `enum sim_load` and `enum
 * sim_fault_kind` to codes.
 *
 * Device addresses are host addresses: the bytes of an allocation at device address A are the host
 * bytes at A. Shared and local memory live inside a running launch; their generic addresses mean
 * nothing outside it.
 */
#ifndef SIM_EXECUTOR_H
#define SIM_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- loading --------------------------------------------------------------------------------- */

enum sim_load {
    SIM_LOAD_OK = 0,
    SIM_LOAD_NO_MEMORY,   /* host memory: CUDA_ERROR_OUT_OF_MEMORY (2) */
    SIM_LOAD_INVALID,     /* not PTX, or PTX that breaks the rules: CUDA_ERROR_INVALID_PTX (218) */
    SIM_LOAD_UNSUPPORTED, /* valid or not, this machine does not execute it; named in the text: 218
                           */
    SIM_LOAD_UNRESOLVED /* an .extern symbol that nothing defines: CUDA_ERROR_INVALID_PTX (218), as
                           ptxas says */
};

struct sim_load_error {
    uint32_t line; /* first line is 1; 0: not about one line */
    char text[240];
};

struct sim_program;

/*
 * Parses length bytes of PTX (a trailing NUL is allowed and ignored). On success *program owns
 * everything; any number of threads may use it at once. On failure *program is untouched and *error
 * (may be NULL) says why. Never reads outside the text; time is linear in its length up to a
 * logarithm.
 */
enum sim_load sim_program_parse(
    const char *text, size_t length, struct sim_program **program, struct sim_load_error *error);

/* Frees and sets NULL; NULL inside is fine. No launch of it may be running. */
void sim_program_free(struct sim_program **program);

/* What the text asks for: .version 9.0 → 90, .target sm_90a → 90. The driver refuses what its
 * device cannot run. */
uint32_t sim_program_version(const struct sim_program *program);
uint32_t sim_program_target(const struct sim_program *program);

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
    uint32_t parameter_bytes;   /* size of the whole buffer */
    uint32_t shared_bytes;      /* static, of the kernel and all it can call */
    uint32_t local_bytes;       /* per thread, along the deepest call path; recursion counts once */
    uint32_t register_count;    /* 32-bit registers live at once: an estimate */
    uint32_t max_threads;       /* of a block: from .maxntid or .reqntid, else 1024 */
    uint32_t bound_threads;     /* what .maxntid or .reqntid says, beyond 1024 too; 0: neither */
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

/* The caller backs each variable (.global and .const of module scope) with memory, registers that
   memory with its resolver, and keeps the addresses in an array by variable index. */
size_t sim_program_variable_count(const struct sim_program *program);
const struct sim_variable *sim_program_variable(const struct sim_program *program, size_t index);
const struct sim_variable *sim_program_find_variable(
    const struct sim_program *program, const char *name);

/* Writes the initial bytes (initialisers, zeros elsewhere, addresses of variables and functions) of
 * all variables. */
void sim_program_write_variables(const struct sim_program *program, const uint64_t *addresses);

/* ---- launching ------------------------------------------------------------------------------- */

struct sim_range {
    uint64_t base;
    uint64_t size; /* 0: none */
};

/*
 * Finds the allocation that contains address: true, and *range says which. False when none does;
 * then *range is the nearest allocation, for the report. Called from several threads at once. The
 * answer is kept for the length of the launch, so the driver keeps every allocation in place while
 * a launch that may touch it runs.
 */
typedef bool (*sim_resolve)(void *context, uint64_t address, struct sim_range *range);

struct sim_memory {
    sim_resolve resolve;
    void *context;
};

/* CPU threads that launches share. A launch that finds them busy runs on its caller's thread alone.
 */
struct sim_workers;
bool sim_workers_create(
    unsigned count, struct sim_workers **workers); /* count 0: one per core; false: no memory */
void sim_workers_destroy(struct sim_workers **workers);
unsigned sim_workers_count(const struct sim_workers *workers);

enum sim_check {
    SIM_CHECK_SHARED_INIT =
        1u, /* report reads of shared bytes that no thread of the block has written */
    SIM_CHECK_DIVERGENT_BARRIER =
        2u /* report aligned barriers that only some live lanes of a warp reach */
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
    struct sim_workers *workers;   /* NULL: the caller's thread alone */
    uint64_t instruction_limit;    /* warp instructions of the whole launch; 0: none */
    const uint32_t *cancel;        /* read atomically; non-zero ends the launch; may be NULL */
    bool is_cooperative;           /* all blocks resident at once, taking turns */
    uint32_t checks;               /* of enum sim_check */
    uint32_t multiprocessor_count; /* %nsmid; 0: 1 */
    uint64_t grid_id;              /* %gridid */
    /* Receives what device code prints (vprintf), whole lines or parts; NULL drops it. Calls are
     * serialised. */
    void (*print)(void *context, const char *text, size_t length);
    void *print_context;
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
    uint64_t lane_instructions; /* one for each active lane of a warp instruction, whatever its
                                   guard says */
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
    SIM_FAULT_INVALID_PC,        /* call through a pointer to no function: 718 */
    SIM_FAULT_STACK_OVERFLOW,    /* calls too deep or stack_bytes too few: 719 */
    SIM_FAULT_INSTRUCTION_LIMIT, /* 702 */
    SIM_FAULT_DEADLOCK, /* every thread waits at a barrier that cannot complete; a GPU hangs here:
                           702 */
    SIM_FAULT_SYNC_DEADLOCK, /* lanes wait in a .sync operation for others that never come; a GPU
                                hangs here: 702 */
    SIM_FAULT_SYNC_MASK,     /* a lane in a .sync operation whose mask does not name it: 719 */
    SIM_FAULT_CANCELLED,     /* *cancel was set */
    SIM_FAULT_DIVERGENT_BARRIER,    /* report, when checked for */
    SIM_FAULT_UNINITIALISED_SHARED, /* report, when checked for */
    SIM_FAULT_NO_MEMORY             /* host memory ran out before or during the launch */
};

enum sim_space {
    SIM_SPACE_NONE,
    SIM_SPACE_GLOBAL,
    SIM_SPACE_SHARED,
    SIM_SPACE_LOCAL,
    SIM_SPACE_PARAMETER
};

struct sim_fault {
    enum sim_fault_kind kind;
    const char *kernel; /* lives as long as the program */
    uint32_t block[3];
    uint32_t thread[3];
    uint32_t line; /* of the PTX text */
    enum sim_space space;
    uint64_t address; /* of the access; an offset in shared and local space */
    uint32_t size;    /* of the access, bytes */
    bool is_write;
    struct sim_range nearest; /* allocation nearest to the address, or the shared or local window */
    char text[360];           /* all of it as one sentence */
};

/*
 * Runs the launch to its end on the calling thread and the workers. Returns SIM_FAULT_NONE or the
 * kind of the first fault seen; *counts and *fault (each may be NULL) are written in either case.
 * Grid and block must be checked by the caller against the device's limits; a block holds 1 to 1024
 * threads.
 */
enum sim_fault_kind sim_launch_run(
    const struct sim_launch *launch, struct sim_counts *counts, struct sim_fault *fault);

/* "out of bounds" and so on; "avx512", "avx2", "sse2" or "generic": the lanes this process runs. */
const char *sim_fault_name(enum sim_fault_kind kind);
const char *sim_class_name(enum sim_class instruction_class);
const char *sim_lanes_name(void);

#endif
