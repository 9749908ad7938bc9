/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a STARK prover: folds, rows in bit-reversed order and their arguments (fri.c), columns
 * at points and what the host computes for them (evaluate.c), layers and their commitment
 * (layer.c); chunks and memory (plan.c), what is enqueued (run.c) and the kernels (kernels.c).
 */
#ifndef FRI_FRI_H
#define FRI_FRI_H

#include <stdbool.h>

#include <devicepool/fri.h>

#include "fri/args.h"
#include "pool/module/program.h"
#include "zk/ntt/ntt.h"
#include "zk/operation/operation.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/* Of pool_fri_fold; also its plan. */
struct fri_fold_call {
    struct operation_call frame;
    const pool_fri_fold_params *given;
    const pool_span *in, *out;
    pool_fri_fold_params params;
    struct fri_fold_args args; /* but for the chunk's memory */
    uint32_t log_count;        /* of the results */
    uint64_t item_bytes;       /* of the values of a result */
    uint64_t chunk;            /* results of a chunk */
};

/* Of pool_matrix_evaluate; also its plan. */
struct fri_evaluation {
    struct operation_call frame;
    const pool_matrix_evaluate_params *given;
    const pool_matrix *matrix;
    const unsigned char *points;
    uint32_t count; /* of points */
    unsigned char *values;
    pool_matrix_evaluate_params params;
    unsigned char *partial; /* of a point, in host memory */
    uint64_t segment_rows, segments;
    uint64_t weight_bytes, partial_bytes; /* of the scratch memory */
};

/* Of pool_matrix_bit_reverse. */
struct fri_rows_call {
    struct operation_call frame;
    const pool_field *field;
    const pool_matrix *in, *out;
};

/* ---- plan.c, run.c: the steps of struct operation -------------------------------------------- */

pool_status fri_plan_fold(void *call, uint64_t limit);
pool_status fri_plan_evaluation(void *call, uint64_t limit);
/* The factors of an evaluation's rows, without memory. */
pool_span fri_weights(const struct fri_evaluation *call);

pool_status fri_run_fold(void *call);
pool_status fri_run_evaluation(void *call);
pool_status fri_run_rows(void *call);

/* ---- evaluate.c ------------------------------------------------------------------------------ */

/* Point z, and the factor of all values there. */
pool_status fri_load_point(
    const struct fri_evaluation *call, uint32_t index, uint64_t *z, uint64_t *factor);
/* Adds the segments' sums of a point, which have the matrix's form. */
void fri_store_values(const struct fri_evaluation *call, uint32_t index, const uint64_t *factor);

/* ---- kernels.c ------------------------------------------------------------------------------- */

/* As in struct module_launch: the predicted time, and where the argument has its first block. */
struct fri_cut {
    double seconds;
    unsigned *first_block;
};
/* Enqueues a kernel whose only argument is a struct of `size` bytes. */
pool_status fri_launch(const struct exec_target *target, const char *name, uint64_t blocks,
    const struct fri_cut *cut, void *arguments, size_t size);
/* The same for one thread per item. */
pool_status fri_launch_items(const struct exec_target *target, const char *name, uint64_t items,
    const struct fri_cut *cut, void *arguments, size_t size);
/* The kernel of rows.cu, which has no field. */
pool_status fri_launch_rows(
    const struct exec_target *target, uint64_t items, struct matrix_rows_args *arguments);

/* Compiles and loads the programs on a device. */
/* Of an extension, its vectors included. */
pool_status fri_each_program(const pool_field *field, module_program_visit visit, void *user);
pool_status fri_load_programs(pool_device *device, const pool_field *field);

/* Refuses a field that is no extension, and a domain over another field than its base. */
pool_status fri_check_field(
    const char *call, const pool_field *field, const pool_ntt_domain *domain);
/* The points of a domain, or of the powers 2^log_folded of them. */
void fri_store_points(const pool_ntt_domain *domain, uint32_t log_folded, bool on_subgroup,
    struct fri_points *points);

#endif
