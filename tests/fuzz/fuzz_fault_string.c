/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fault string of simulated devices: any bytes are read or refused, and every rule that is read
 * can be triggered.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/sim/table/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_rules rules;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (sim_rules_parse(text, &rules) == POOL_OK) {
        for (uint32_t at = 0; at < rules.count; at++) {
            const struct sim_rule *rule = &rules.items[at];

            if (rule->first == 0 || rule->last < rule->first || rule->device < -1 ||
                rule->device >= SIM_MAX_DEVICES || rule->is_hang == (rule->code != 0))
                abort();
        }
        sim_rules_free(&rules);
    }
    free(text);
    return 0;
}
