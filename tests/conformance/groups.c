/* SPDX-License-Identifier: Apache-2.0 */
/* The list of groups. */
#include "conformance.h"

extern const struct group integer_group, bits_group, compare_group, convert_group, floats_group;
extern const struct group halves_group;

const struct group *const groups[] = {
    &integer_group, &bits_group, &compare_group, &convert_group, &floats_group, &halves_group};
const size_t group_count = sizeof(groups) / sizeof(groups[0]);
