/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching fault rules against driver functions.
 */
#ifndef SIM_DRIVER_RULES_H
#define SIM_DRIVER_RULES_H

#include <stdbool.h>

#include "sim/driver/sim.h"

/* Whether the rule's pattern matches the function at that place of POOL_CUDA_FUNCTIONS, by its name
 * with or without the "_v2". */
bool sim_rule_matches(const struct sim_rule *rule, unsigned function);

/* Whether the function only puts work into a stream, so that faults show later; and whether it puts
 * work into a stream at all, waiting for it or not. */
bool sim_function_is_asynchronous(unsigned function);
bool sim_function_can_hang(unsigned function);

#endif
