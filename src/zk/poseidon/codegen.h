/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the device source of a parameter set that have a file of their own.
 */
#ifndef POSEIDON_CODEGEN_H
#define POSEIDON_CODEGEN_H

#include "zk/field/emit.h"
#include "zk/poseidon/poseidon.h"

/* circulant.c: emits poseidon_circulant(y, x), y = mds * x on limbs of state elements. False, and
 * nothing is emitted, if the matrix is not a circulant of small integers over Goldilocks, with any
 * small additions on the diagonal, whose products modulo x^(t/2) - 1 and x^(t/2) + 1 give that
 * modulo x^t - 1 without a division. */
bool poseidon_emit_circulant(struct field_emit_writer *writer, const pool_poseidon *set);

#endif
