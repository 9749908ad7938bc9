/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on devices.
 */
#include "base/status.h"
#include "poseidon/poseidon.h"

static pool_status unsupported(void)
{
    return base_fail(
        POOL_ERR_UNSUPPORTED, "this build has no Poseidon kernels; on_host computes on the host");
}

pool_status poseidon_device_permute(const pool_poseidon *set, const pool_poseidon_run *run,
    const pool_span *states, const pool_span *results)
{
    (void)set, (void)run, (void)states, (void)results;
    return unsupported();
}

pool_status poseidon_device_hash(const pool_poseidon *set, const pool_poseidon_run *run,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    (void)set, (void)run, (void)inputs, (void)elements, (void)digests;
    return unsupported();
}

pool_status poseidon_device_sponge(const pool_poseidon *set, const pool_poseidon_run *run,
    const struct poseidon_sponge *sponge, const pool_span *messages, const pool_span *results)
{
    (void)set, (void)run, (void)sponge, (void)messages, (void)results;
    return unsupported();
}

pool_status poseidon_device_build(const pool_poseidon *set, const pool_poseidon_run *run,
    const struct poseidon_tree *tree, const pool_span *leaves, const pool_span *rows)
{
    (void)set, (void)run, (void)tree, (void)leaves, (void)rows;
    return unsupported();
}

pool_status poseidon_device_read(
    const pool_poseidon_run *run, const void *from, void *to, size_t bytes)
{
    (void)run, (void)from, (void)to, (void)bytes;
    return unsupported();
}
