/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of the arguments that the operations and Merkle trees have in common.
 */
#ifndef POSEIDON_ARGUMENTS_H
#define POSEIDON_ARGUMENTS_H

#include <devicepool/exec.h>

#include "zk/poseidon/poseidon.h"

/* A span of items of packed elements. */
struct poseidon_operand {
    const pool_span *span;
    uint32_t elements; /* per item */
    const char *name;  /* of the argument */
};

/* Refuses a NULL parameter set, and copies `given`; NULL stands for all defaults. */
pool_status poseidon_read_exec(
    const char *call, const pool_poseidon *set, const pool_exec *given, pool_exec *exec);

/* Refuses a span that is NULL, of an unknown form or memory space, with a stride below the size of
 * an item or that exceeds the address space. `exec` says whether it may be sharded. */
pool_status poseidon_check_operand(const char *call, const pool_field *field, const pool_exec *exec,
    const struct poseidon_operand *operand);
/* Refuses data at NULL in a span of items. */
pool_status poseidon_check_data(const char *call, const struct poseidon_operand *operand);

/* Checks both operands of an operation that writes `results` items, but not their data, and with
 * exec->on_host that both are in host memory. */
pool_status poseidon_check_operands(const char *call, const pool_field *field,
    const pool_exec *exec, const struct poseidon_operand *in, const struct poseidon_operand *out,
    uint64_t results);

#endif
