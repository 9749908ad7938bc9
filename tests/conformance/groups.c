/* SPDX-License-Identifier: Apache-2.0 */
/* The list of groups. */
#include "conformance.h"

extern const struct group integer_group, bits_group, compare_group, convert_group, floats_group,
    halves_group, memory_group, warps_group, control_group, atomics_group, blocks_group,
    approximate_group, packed_group, pairs_group, matrices_group, transfers_group;

const struct group *const groups[] = {&integer_group, &bits_group, &compare_group, &convert_group,
    &floats_group, &halves_group, &memory_group, &warps_group, &control_group, &atomics_group,
    &blocks_group, &packed_group, &approximate_group, &pairs_group, &matrices_group,
    &transfers_group};
const size_t group_count = COUNT_OF(groups);
