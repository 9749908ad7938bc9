/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator sets without changing the program: environment variables, and the configuration
 * file for those that the environment does not have. settings.def lists them.
 */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

enum base_setting {
#define SETTING(id, name, fallback, meaning) BASE_SETTING_##id,
#include "base/settings.def"
#undef SETTING
    BASE_SETTINGS
};

/* The value; NULL: it is not set, or empty, or the program runs setuid or setgid. The file is read
 * once in a process, the environment each time. */
const char *base_setting(enum base_setting setting);

/* For messages: "the environment variable DEVICEPOOL_SLOTS", or "DEVICEPOOL_SLOTS in line 3 of
 * FILE". */
struct base_setting_origin {
    char text[600];
};
struct base_setting_origin base_setting_origin(enum base_setting setting);

/* INVALID_ARGUMENT: the setting, of which pool_create says what it must be. */
pool_status base_setting_refuse(enum base_setting setting, const char *expected);

/* *value stays where it is not set. */
pool_status base_setting_number(
    enum base_setting setting, uint64_t least, uint64_t most, uint64_t *value);

/* "NAME=VALUE" for each setting that comes from the file: `lines`, of BASE_SETTINGS, into `text`,
 * of BASE_SETTINGS_BYTES. Returns how many. */
#define BASE_SETTINGS_BYTES 20480
size_t base_settings_of_file(char *text, size_t size, char **lines);

/* The failure to read the configuration file, with its line. */
pool_status base_settings_check(const char *call);

#endif
