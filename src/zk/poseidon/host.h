/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on the host, for validated spans in host memory.
 */
#ifndef POSEIDON_HOST_H
#define POSEIDON_HOST_H

#include <devicepool/span.h>

#include "zk/operation/exec.h"
#include "zk/poseidon/poseidon.h"

/* POOL_ERR_BAD_DATA for an element of `span` that is not below p. `first` is the index of the
 * span's first item in messages, `name` the argument's name. */
pool_status poseidon_host_check(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t first, const char *name);
pool_status poseidon_host_permute(const pool_poseidon *set, const pool_span *states,
    const pool_span *results, struct progress *progress);
pool_status poseidon_host_hash(const pool_poseidon *set, const pool_span *inputs, uint32_t elements,
    const pool_span *digests, struct progress *progress);
pool_status poseidon_host_sponge(const pool_poseidon *set, const struct poseidon_sponge *sponge,
    const pool_span *messages, const pool_span *results, struct progress *progress);

/* One item of a span as limbs in Montgomery form. */
void poseidon_load_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, uint64_t *limbs);
void poseidon_store_item(const pool_poseidon *set, const pool_span *span, uint32_t elements,
    uint64_t index, const uint64_t *limbs);

#endif
