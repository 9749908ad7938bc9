/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of a worker process. It never leaves a core file, because its memory has secrets,
 * unless DEVICEPOOL_WORKER_LIMITS has "core=inherit". The variable can also set the number of open
 * files and the niceness: "files=4096,nice=5". There is no limit of memory: the driver reserves far
 * more addresses than it uses, and what a job uses is limited by the pool.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/settings.h"
#include "driver/worker/server/server.h"

#define VARIABLE "DEVICEPOOL_WORKER_LIMITS"

/* Core files go to a file of at most this size, which is smaller than any, or to a program unless
 * the limit is exactly 1: see core(5). */
static const struct rlimit no_core = {.rlim_cur = 1, .rlim_max = 1};

/* A number that ends at a comma or at the end; false: it is none, or not within the bounds. */
static bool read_value(const char *text, long least, long most, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, 10);
    return end != text && !errno && (!*end || *end == ',') && *value >= least && *value <= most;
}

/* Applies one element; 0, or an errno. */
static int apply(const char *element, bool *inherits_core)
{
    const size_t length = strcspn(element, ",");
    struct rlimit files;
    long value;

    if (length == strlen("core=inherit") && strncmp(element, "core=inherit", length) == 0) {
        *inherits_core = true;
        return 0;
    }
    if (strncmp(element, "files=", 6) == 0 && read_value(element + 6, 1, 1 << 30, &value)) {
        files.rlim_cur = files.rlim_max = (rlim_t)value;
        return setrlimit(RLIMIT_NOFILE, &files) ? errno : 0;
    }
    if (strncmp(element, "nice=", 5) == 0 && read_value(element + 5, -20, 19, &value))
        return setpriority(PRIO_PROCESS, 0, (int)value) ? errno : 0;
    return EINVAL;
}

bool server_set_limits(char *reason, size_t size)
{
    const char *text = base_setting(BASE_SETTING_WORKER_LIMITS), *at = text;
    bool inherits_core = false;
    int failure = 0;

    while (at && *at && !failure) {
        failure = apply(at, &inherits_core);
        if (!failure) {
            at += strcspn(at, ",");
            at += *at == ',';
        }
    }
    if (!failure && !inherits_core && setrlimit(RLIMIT_CORE, &no_core))
        failure = errno;
    if (failure)
        snprintf(reason, size, VARIABLE "=\"%.200s\": \"%.*s\": %s", text ? text : "",
            at ? (int)strcspn(at, ",") : 0, at ? at : "", strerror(failure));
    return !failure;
}
