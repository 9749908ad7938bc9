/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching fault rules against driver functions.
 */
#ifndef SIM_DRIVER_RULES_H
#define SIM_DRIVER_RULES_H

#include <stdbool.h>

#include "sim/sim.h"

/* Whether the rule's pattern matches the function at that place of POOL_CUDA_FUNCTIONS, by its name
 * with or without the "_v2". */
bool sim_rule_matches(const struct sim_rule *rule, unsigned function);

#endif
