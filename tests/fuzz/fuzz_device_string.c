/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device string of simulated devices: any bytes are read or refused, and what is read is within
 * its limits.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/sim/table/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_config config;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (sim_config_parse(text, &config) == POOL_OK &&
        (config.device_count == 0 || config.device_count > SIM_MAX_DEVICES ||
            config.free_bytes > config.memory_bytes || config.name[0] == '\0' ||
            !memchr(config.name, 0, sizeof config.name)))
        abort();
    free(text);
    return 0;
}
