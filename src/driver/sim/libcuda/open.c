/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the simulated devices at the first call of the program, and reports on standard error what
 * a driver would not say.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/log.h>
#include <devicepool/sim.h>
#include <devicepool/status.h>

#include "base/settings.h"
#include "driver/sim/libcuda/libcuda.h"
#include "driver/sim/table/sim.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_open;

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

    pool_log_set(write_record, NULL, POOL_LOG_WARN);
    is_open =
        sim_open_visible(spec ? spec : "sim", getenv("CUDA_VISIBLE_DEVICES"), &table) == POOL_OK;
    /* cuInit returns 100, no device. */
    if (!is_open)
        libcuda_log("DEVICEPOOL_SIM: %s", pool_last_error()->message);
}

const pool_cuda_api *libcuda_table(void)
{
    pthread_once(&once, open_devices);
    return sim_driver_table();
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
