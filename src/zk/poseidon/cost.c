/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the duration of building a Merkle tree: see plan.h. */
#include "zk/poseidon/plan.h"

#include <math.h>

#include "base/math.h"

/* Levels of few nodes take as long as one hash does. */
static double cost_of_levels(
    const struct chip_rates *rates, uint32_t arity, uint64_t nodes, uint64_t last)
{
    double seconds = 0;

    while (nodes > last) {
        nodes = base_ceil_div(nodes, arity);
        seconds += fmax(rates->poseidon_level, (double)nodes / rates->poseidon_hashes);
    }
    return seconds;
}

double poseidon_tree_cost(
    const struct chip_rates *rates, uint64_t leaves, uint32_t arity, uint32_t devices)
{
    const uint64_t part = base_ceil_div(leaves, devices);
    uint64_t subtrees = part;

    if (devices == 1)
        return cost_of_levels(rates, arity, leaves, 1);
    while (base_ceil_div(subtrees, arity) >= POSEIDON_SUBTREES)
        subtrees = base_ceil_div(subtrees, arity);
    return cost_of_levels(rates, arity, part, subtrees) + rates->parts +
           cost_of_levels(rates, arity, subtrees * devices, 1);
}
