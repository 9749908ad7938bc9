/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching of fault rules against driver functions.
 */
#ifndef SIM_DRIVER_RULES_H
#define SIM_DRIVER_RULES_H

#include <stdbool.h>

#include "driver/sim/table/sim.h"

/* Whether the rule's pattern matches the function at that index of POOL_CUDA_FUNCTIONS, with or
 * without the "_v2" of its name. */
bool sim_rule_matches(const struct sim_rule *rule, unsigned function);

/* Whether the function only enqueues work, so that faults show later; and whether it enqueues work
 * at all, waiting for it or not. */
bool sim_function_enqueues_only(unsigned function);
bool sim_function_can_hang(unsigned function);

#endif
