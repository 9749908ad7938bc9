/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a STARK prover: kernels (kernels.c), folds (fold.c), layers and their commitment
 * (layer.c), columns at a point (evaluate.c), rows in bit-reversed order (rows.c).
 */
#ifndef FRI_FRI_H
#define FRI_FRI_H

#include <stdbool.h>

#include <devicepool/fri.h>

#include "fri/args.h"
#include "zk/operation/exec.h"
#include "zk/operation/operand.h"
#include "pool/module/program.h"
#include "zk/ntt/ntt.h"

/* ---- kernels.c ------------------------------------------------------------------------------- */

/* Enqueues a kernel whose only argument is a struct of `size` bytes, with `threads` per block. */
pool_status fri_launch(const struct exec_target *target, const char *name, uint64_t blocks,
    uint32_t threads, void *arguments, size_t size);
/* The same for one thread per item. */
pool_status fri_launch_items(const struct exec_target *target, const char *name, uint64_t items,
    void *arguments, size_t size);
/* The kernel of rows.cu, which has no field. */
pool_status fri_launch_rows(
    const struct exec_target *target, uint64_t items, struct matrix_rows_args *arguments);

/* Refuses a field that is no extension, and a domain over another field than its base. */
pool_status fri_check_field(
    const char *call, const pool_field *field, const pool_ntt_domain *domain);
/* An element of the base field, or of the extension, in Montgomery form, as words of the kernels.
 */
void fri_store(const pool_field *field, unsigned *words, const uint64_t *limbs);
/* The points of a domain, or of the powers 2^log_folded of them. */
void fri_store_points(const pool_ntt_domain *domain, uint32_t log_folded, bool on_subgroup,
    struct fri_points *points);
/* x^(2^times). */
void fri_square(const pool_field *field, uint64_t *power, const uint64_t *x, uint32_t times);

#endif
