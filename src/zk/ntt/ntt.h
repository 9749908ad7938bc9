/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this layer share: domains and their tables, the plan of a transform, kernels of
 * a field on a device, operands on the device.
 */
#ifndef NTT_NTT_H
#define NTT_NTT_H

#include <pthread.h>
#include <stdatomic.h>

#include <devicepool/module.h>
#include <devicepool/ntt.h>
#include <devicepool/vector.h>

#include "ntt/args.h"
#include "ntt/word_args.h"
#include "pool/memory/resident.h"
#include "pool/module/program.h"
#include "pool/tuning/chip.h"
#include "vector/args.h"
#include "zk/field/field.h"
#include "zk/operation/operation.h"
#include "zk/vector/kernels.h"

/* ---- plan.c: pure ---------------------------------------------------------------------------- */

enum { NTT_MAX_PASSES = 16 };
/* Of the sub-transforms that pass_word.cu supports, log2. */
enum { NTT_MIN_LENGTH = 8, NTT_MAX_LENGTH = 12 };

struct ntt_job {
    uint32_t words; /* of an element, 32 bits each */
    uint32_t log_size;
    uint32_t log_done; /* index bits that are transformed already; then the order is NN or NR */
    uint64_t batch;
    pool_ntt_order order;
    pool_ntt_layout layout;
    int coset_in;
    int coset_out;
    bool stores_rows; /* of a batch in columns: results in rows; then the order is NR */
    const struct ntt_tuning *tuning; /* NULL: the plan chooses */
};

/* Writes the tunings that elements of `words` words may use; returns how many. */
enum { NTT_TUNINGS = 2 };
uint32_t ntt_tunings(
    uint32_t words, const struct chip *chip, struct ntt_tuning tunings[NTT_TUNINGS]);
/* The tuning of kernels of one length each; false: these elements have none. */
bool ntt_tuning_of_lengths(uint32_t words, const struct chip *chip, struct ntt_tuning *tuning);
/* 1 for lengths whose tiles have twice as many elements and threads, of half as many blocks per
 * multiprocessor, so that 2^min_tile_width neighbouring elements are accessed together; 0. */
uint32_t ntt_doubled(const struct ntt_tuning *tuning, uint32_t log_length);
/* log2 of the elements of a full tile. */
uint32_t ntt_log_tile(const struct ntt_tuning *tuning);
struct ntt_tuning ntt_tuning_for(const struct ntt_job *job, const struct chip *chip);

/* One pass through memory; ptx/ntt/args.h explains tiles and sub-transforms. */
struct ntt_pass {
    uint32_t log_done;       /* index bits that earlier passes have transformed */
    uint32_t log_length;     /* of a sub-transform */
    uint32_t log_tile_width; /* sub-transforms of a block's tile */
    uint32_t log_tile_inner; /* of them below the local index in the tile's layout */
    uint32_t log_in_warp;    /* stages up to this log_distance exchange points within warps */
    uint32_t flags;          /* NTT_… of ptx/ntt/args.h */
    uint32_t threads;
    uint32_t blocks;
    uint32_t shared_bytes;
    uint64_t sub_transforms; /* of the whole batch */
};

struct ntt_plan {
    uint32_t count;
    bool first_is_out_of_place; /* the first pass must not write where it reads */
    bool last_is_out_of_place;  /* the last pass must not write where it reads */
    struct ntt_pass pass[NTT_MAX_PASSES];
};

/* Returns false when a launch would need more blocks than a grid can have. */
bool ntt_plan_make(const struct ntt_tuning *tuning, const struct chip *chip,
    const struct ntt_job *job, struct ntt_plan *plan);
/* The failure of a call whose plan cannot be made. */
pool_status ntt_plan_fail(const struct ntt_job *job);

/* Whether a transform with these pointers needs a workspace. */
bool ntt_plan_needs_workspace(
    const struct ntt_plan *plan, bool is_in_place, bool in_may_be_overwritten);

/* Where the elements of a call are. */
struct ntt_operands {
    uint64_t element_bytes;
    uint64_t in_stride;
    bool in_is_on_host;
    bool in_is_packed; /* and on the device aligned for vector loads */
    bool out_is_on_host;
    bool out_is_packed;
    bool is_in_place;   /* both are the same memory */
    bool has_workspace; /* of the caller's */
    bool has_checks;
};

/* The device memory of a transform besides its spans. */
struct ntt_memory {
    bool packs_input;         /* a packed copy of the input, which takes the results where it can */
    bool copies_output;       /* packed results that are copied to the output afterwards */
    uint64_t workspace_bytes; /* for the results of passes; 0: none needed */
    uint64_t staged_bytes;    /* copies of spans in host memory */
    uint64_t packed_bytes;    /* of spans that are not packed */
};
struct ntt_memory ntt_plan_memory(
    const struct ntt_plan *plan, const struct ntt_job *job, const struct ntt_operands *operands);

/* Packed rows in host memory are divided into chunks of whole rows. */
struct ntt_chunks {
    uint64_t rows; /* of a chunk */
    uint32_t slots;
    uint64_t workspace_bytes; /* of a slot; 0: none needed, or the caller's */
    uint64_t bytes;           /* of device memory that the call allocates */
};
/* Without regard to a limit: one row at a time where rows are divided. */
pool_status ntt_plan_smallest(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, struct ntt_chunks *chunks);
/* POOL_ERR_OUT_OF_DEVICE_MEMORY when the smallest chunk needs more than `limit`. */
pool_status ntt_plan_chunks(const struct chip *chip, const struct ntt_job *job,
    const struct ntt_operands *operands, uint64_t limit, struct ntt_chunks *chunks);

/* Offsets of a domain's tables in their buffer, in elements. */
struct ntt_table_layout {
    uint32_t log_order; /* largest log2 of the orders that the stage twiddles cover */
    uint32_t high_bits; /* twiddles w^(i 2^low_bits), i < 2^high_bits */
    uint32_t low_bits;
    uint64_t stage_twiddles; /* in standard form where they have quotients, as the next ones */
    uint64_t shared_high, shared_low, shared_low_scaled; /* NTT_ALL_QUOTIENTS; or else 0 */
    uint64_t quotients; /* of the elements before, in the same order */
    uint64_t twiddles_high, twiddles_low, twiddles_low_scaled;
    uint64_t coset_high, coset_low, constants, powers_of_two, total;
};
void ntt_table_layout_make(
    const struct ntt_tuning *tuning, uint32_t log_size, struct ntt_table_layout *layout);

/* ---- domain.c and tables.c ------------------------------------------------------------------- */

/* Scale factors of the last pass, stored in the table `constants`. */
enum ntt_constant {
    NTT_INVERSE_SIZE,
    NTT_R,
    NTT_INVERSE_R,
    NTT_INVERSE_SIZE_R,
    NTT_INVERSE_SIZE_INVERSE_R,
    NTT_CONSTANTS
};

/* One direction's tables on one device, and the kernel that goes with them. */
struct ntt_tables {
    struct memory_resident entry; /* in the device's list, which may evict the tables */
    struct ntt_tables *next;
    pool_ntt_domain *domain;
    char name[80]; /* "2^20 of bn254_fr" */
    pool_device *device;
    pool_ntt_direction direction;
    struct ntt_tuning tuning;
    enum ntt_quotients quotients; /* of this domain and field */
    struct ntt_table_layout layout;
    struct ntt_word_args word; /* of kernels of one length */
    CUdeviceptr address;
    pool_buffer *buffer;
    pool_kernel *kernel;
    bool is_listed; /* by the domain */
};

struct pool_ntt_domain {
    atomic_uint references;
    pool_field *field;
    uint32_t log_size;
    /* Montgomery form; [direction]: the numbers themselves, and their inverses */
    uint64_t root[2][FIELD_MAX_LIMBS];
    uint64_t coset[2][FIELD_MAX_LIMBS];
    uint64_t inverse_size[FIELD_MAX_LIMBS];
    const struct ntt_tuning *tuning; /* of all transforms, for measurements and tests, or NULL */
    unsigned generation;             /* of the process that made it */
    pthread_mutex_t lock;
    /* One thread creates tables on a device; guarded by create_lock, before which no other lock is
     * taken and which is not held meanwhile: a device that hangs delays no other one. */
    struct ntt_creation *creations;
    pthread_mutex_t create_lock;
    pthread_cond_t created;    /* one of them has ended */
    struct ntt_tables *tables; /* guarded by lock; entries do not change once they are in it */
    /* Guarded by lock: domains of powers of root and coset generator, by their log size. */
    pool_ntt_domain *powers[POOL_NTT_MAX_LOG_SIZE];
};

/* The domain of order 2^log_size whose root and coset generator are the 2^(L - log_size)-th powers
 * of those of `domain`, of order 2^L. It belongs to `domain`. */
pool_status ntt_domain_power(pool_ntt_domain *domain, uint32_t log_size, pool_ntt_domain **power);

/* POOL_ERR_FORKED where a thread of the parent process may hold the domain's lock. */
pool_status ntt_domain_check_forked(const pool_ntt_domain *domain);

/* Of the stream's device; compiled and made on the stream at the first call, which then blocks. */
pool_status ntt_tables_get(pool_ntt_domain *domain, pool_stream *stream,
    pool_ntt_direction direction, const struct ntt_tuning *tuning, struct ntt_tables **tables);
/* pool_ntt_warm_up in the directions whose bits are set, for passes that begin at log_done. */
enum { NTT_FORWARD_BIT = 1 << POOL_NTT_FORWARD, NTT_INVERSE_BIT = 1 << POOL_NTT_INVERSE };
pool_status ntt_tables_warm_up(
    pool_ntt_domain *domain, uint32_t log_done, pool_stream *stream, uint32_t directions);
/* Once the work that uses the tables is enqueued: from then on they may be evicted, in the order of
 * the device's streams. NULL: no-op. */
void ntt_tables_release(struct ntt_tables *tables);
/* Frees all tables of a domain that is destroyed. After a failure the rest is left for another
 * attempt; a failure that was survived is in *survived. */
pool_status ntt_tables_destroy_all(pool_ntt_domain *domain, pool_status *survived);

/* ---- kernels.c --------------------------------------------------------------------------------
 */

/* Every program of a field as it is built for a chip. */
pool_status ntt_each_program(
    const pool_field *field, const struct chip *chip, module_program_visit visit, void *user);

/* The compile-time parameters of the pass kernel besides the field; see ptx/ntt/pass.cu. */
struct ntt_build {
    uint32_t log_radix;
    uint32_t log_threads;
    uint32_t blocks;
    uint32_t shift;
    enum ntt_quotients quotients;
    uint32_t length; /* log2; 0: pass.cu, or else pass_word.cu */
};
/* Those of a domain of order 2^log_size. */
enum ntt_quotients ntt_quotients_of(
    const pool_field *field, const struct ntt_tuning *tuning, uint32_t log_size);
/* The kernel of a length, where the tuning has one per length. */
struct ntt_build ntt_build_of_length(const struct ntt_tuning *tuning, uint32_t log_length);
/* For transforms with a root (Montgomery limbs) of order 2^log_size. */
struct ntt_build ntt_build_of(const pool_field *field, const uint64_t *root, uint32_t log_size,
    const struct ntt_tuning *tuning);
pool_status ntt_pass_kernel(pool_device *device, const pool_field *field,
    const struct ntt_build *build, pool_kernel **kernel);

/* Compiles and loads the given pass kernels, at most 6, where the pool has several devices the
 * kernels of columns for the same builds, and the tables and vector programs, in parallel. */
pool_status ntt_load_programs(
    pool_device *device, const pool_field *field, const struct ntt_build *builds, size_t count);

/* A kernel of the field's tables program, compiled and loaded at the first call. */
pool_status ntt_tables_kernel(
    pool_device *device, const pool_field *field, const char *name, pool_kernel **kernel);

/* The kernel of the columns of a transform over several devices, see split.h. */
pool_status ntt_split_kernel(pool_device *device, const pool_field *field,
    const struct ntt_build *build, pool_kernel **kernel);
/* The kernel of extensions, see extend.h. */
pool_status ntt_extend_kernel(pool_device *device, const pool_field *field, pool_kernel **kernel);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* A transform whose input and output are packed, aligned and on the device. */
struct ntt_run {
    struct exec_target target;
    pool_ntt_domain *domain;
    pool_ntt_direction direction;
    struct ntt_job job;
    int form_change; /* +1: standard in, Montgomery out; -1: the other way */
    CUdeviceptr in;
    CUdeviceptr out;
    CUdeviceptr workspace; /* as much as the whole batch; 0: none needed */
    int in_may_be_overwritten;
    bool follows_kernel; /* of the same call: a first pass behind log_done bits may overlap its end
                          */
};

pool_status ntt_run_plan(const struct ntt_run *run, struct ntt_plan *plan);
double ntt_pass_seconds(
    const struct exec_target *target, const struct ntt_job *job, const struct ntt_pass *pass);
pool_status ntt_run_enqueue(const struct ntt_run *run, const struct ntt_plan *plan);
/* The argument of a pass's kernel; `scale` 0: none. */
struct ntt_pass_args ntt_pass_args_of(const struct ntt_run *run, const struct ntt_pass *pass,
    const struct ntt_tables *tables, CUdeviceptr in, CUdeviceptr out, CUdeviceptr scale);
/* The scale factor of the last pass: 1/n, unless the twiddle tables include it, and a change of
 * form. 0: none. */
CUdeviceptr ntt_last_pass_scale(
    const struct ntt_run *run, const struct ntt_tables *tables, bool is_in_tables);

/* A call of pool_ntt. */
struct ntt_call {
    struct operation_call frame;
    const pool_ntt_params *given;
    const pool_span *in, *out;
    pool_ntt_params params; /* batch at least 1 */
    struct ntt_job job;
    struct ntt_operands operands;
    struct ntt_chunks chunks;
    uint32_t log_split; /* log2 of the devices that one transform is split over; 0: none */
    uint64_t first;     /* of the elements in a call over several devices, for messages */
};

/* Streams the chunks through the device. */
pool_status ntt_call_run(void *call);

/* ---- devices.c --------------------------------------------------------------------------------
 */

/* The steps of struct operation for several devices. */
pool_status ntt_divide(void *call, struct operation_division *division);
bool ntt_part(const void *call, const struct operation_division *division, uint32_t index,
    uint32_t number, void *part);

#endif
