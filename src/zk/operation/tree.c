/* SPDX-License-Identifier: Apache-2.0 */
/* Trees over several devices: see tree.h. */
#include "zk/operation/tree.h"

#include "base/status.h"
#include "zk/operation/operand.h"

static const pool_span *shards_of(const struct tree_cut *cut)
{
    return cut->levels->data;
}

static uint64_t kept_by_all(const struct tree_cut *cut)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < cut->devices->count; i++)
        all += cut->kept[i];
    return all;
}

void tree_cut_count(const struct tree_cut *cut, uint64_t *digests)
{
    for (uint32_t i = 0; i < cut->devices->count; i++)
        digests[i] = cut->kept[i];
    digests[0] += cut->digest_count - kept_by_all(cut);
}

pool_status tree_cut_check_shards(const struct tree_cut *cut, const char *hint)
{
    uint64_t wanted[EXEC_MAX_DEVICES];

    if (!tree_cut_is_sharded(cut))
        return POOL_OK;
    tree_cut_count(cut, wanted);
    for (uint32_t i = 0; i < cut->devices->count; i++) {
        const pool_span *shard = &shards_of(cut)[i];

        if (shard->count != wanted[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: shard %u of `levels` has %llu digests; %s reports %llu%s", cut->call, i,
                (unsigned long long)shard->count, cut->shards_call, (unsigned long long)wanted[i],
                hint);
        if (shard->stride && shard->stride != cut->digest_bytes)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "%s: unsupported value %llu for `stride` of shard %u of `levels`; it must be 0",
                cut->call, (unsigned long long)shard->stride, i);
    }
    return POOL_OK;
}

pool_span tree_cut_part_levels(const struct tree_cut *cut, uint32_t index)
{
    return tree_cut_is_sharded(cut)
               ? span_slice(&shards_of(cut)[index], cut->digest_bytes, 0, cut->kept[index])
               : *cut->levels;
}

pool_span tree_cut_top_levels(const struct tree_cut *cut, uint64_t count)
{
    return tree_cut_is_sharded(cut)
               ? span_slice(&shards_of(cut)[0], cut->digest_bytes, cut->kept[0], count)
               : span_slice(cut->levels, cut->digest_bytes, kept_by_all(cut), count);
}
