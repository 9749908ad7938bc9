/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device string of simulated devices: any bytes are read or refused, and what is read is within
 * its limits.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/sim/table/sim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_devices(const struct sim_config *config)
{
    for (uint32_t i = 0; i < config->device_count; i++) {
        const struct sim_device_config *device = &config->devices[i];

        if (device->free_bytes > device->memory_bytes || device->name[0] == '\0' ||
            !memchr(device->name, 0, sizeof device->name) || device->identity >= SIM_MAX_DEVICES ||
            device->peers >> device->identity & 1)
            abort();
    }
}

static void check(const struct sim_config *config)
{
    if (config->device_count == 0 || config->device_count > SIM_MAX_DEVICES)
        abort();
    check_devices(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_config config;
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (sim_config_parse(text, &config) == POOL_OK) {
        check(&config);
        sim_config_restrict(&config, text + strcspn(text, ","));
        check_devices(&config);
    }
    free(text);
    return 0;
}
