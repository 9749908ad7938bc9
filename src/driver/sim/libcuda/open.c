/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the simulated devices at the first call of the program, and reports on standard error what
 * a driver would not say.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool/log.h>
#include <devicepool/sim.h>
#include <devicepool/status.h>

#include "base/settings.h"
#include "driver/sim/libcuda/libcuda.h"
#include "driver/sim/table/sim.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;
static pid_t opened_by;

void libcuda_log(const char *format, ...)
{
    const char *quiet = base_setting(BASE_SETTING_SIM_QUIET);
    char line[4400];
    va_list arguments;

    if (quiet && strcmp(quiet, "1") == 0)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "simulated libcuda: %s\n", line);
}

static void write_record(void *user, const pool_log_record *record)
{
    (void)user;
    libcuda_log("%s", record->message);
}

static void open_devices(void)
{
    const char *spec = base_setting(BASE_SETTING_SIM);
    const pool_cuda_api *table;

    opened_by = getpid();
    pool_log_set(write_record, NULL, POOL_LOG_WARN);
    is_open =
        sim_open_visible(spec ? spec : "sim", getenv("CUDA_VISIBLE_DEVICES"), &table) == POOL_OK;
    /* cuInit returns 100, no device. */
    if (!is_open)
        libcuda_log("DEVICEPOOL_SIM: %s", pool_last_error()->message);
    if (is_open && base_setting(BASE_SETTING_SIM_PROFILE))
        pool_sim_set_reports(sim_reports() | POOL_SIM_REPORT_PROFILE);
}

const pool_cuda_api *libcuda_table(void)
{
    pthread_once(&once, open_devices);
    return sim_driver_table();
}

/* The name with the number of the process in the place of %p. */
static void expand(const char *name, char *path, size_t size)
{
    const char *at = strstr(name, "%p");

    if (at)
        snprintf(path, size, "%.*s%ld%s", (int)(at - name), name, (long)getpid(), at + 2);
    else
        snprintf(path, size, "%s", name);
}

static void write_profile(const char *name)
{
    const size_t length = strlen(name);
    const bool is_json = length > 5 && strcmp(name + length - 5, ".json") == 0;
    char path[PATH_MAX], *text = NULL;
    FILE *file = stderr;
    bool is_written;

    if (pool_sim_profile_text(is_json ? POOL_TEXT_JSON : POOL_TEXT_PLAIN, &text)) {
        libcuda_log("DEVICEPOOL_SIM_PROFILE: %s", pool_last_error()->message);
        return;
    }
    expand(name, path, sizeof(path));
    if (strcmp(name, "-") != 0)
        file = fopen(path, "we");
    is_written = file && fputs(text, file) >= 0;
    if (file && file != stderr)
        is_written = !fclose(file) && is_written;
    if (!is_written)
        libcuda_log("DEVICEPOOL_SIM_PROFILE: the profile cannot be written to %s: %s", path,
            strerror(errno));
    pool_text_free(&text);
}

/* When the program ends. A child that was forked has no devices of its own. */
__attribute__((destructor)) static void report_profile(void)
{
    const char *name = base_setting(BASE_SETTING_SIM_PROFILE);

    if (is_open && opened_by == getpid() && name)
        write_profile(name);
}

/* With report=leak: what the program has left behind when it ends. Nothing is closed, as threads of
 * the program may still call. */
__attribute__((destructor)) static void report_leaks(void)
{
    const char *spec = base_setting(BASE_SETTING_SIM);
    uint64_t count = 0;
    char *text = NULL;

    if (!is_open || !spec || !strstr(spec, "leak"))
        return;
    if (!pool_sim_leaks(POOL_TEXT_PLAIN, &count, &text) && count)
        libcuda_log("left behind: %s", text);
    pool_text_free(&text);
}
