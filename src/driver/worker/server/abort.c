/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends the worker process at a given step of the protocol, for tests: DEVICEPOOL_WORKER_ABORT in
 * the environment, "devN[.genG].STEP[@COUNT]", kills the G-th process of device N, the first one
 * without .genG, when it takes the step for the COUNT-th time, the first time without @COUNT.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/settings.h"
#include "driver/worker/server/server.h"

bool server_has_abort;
static enum server_step abort_step;
static unsigned abort_count;
static atomic_uint steps_taken;

static bool find_step(const char *name, size_t length)
{
    static const char *const names[] = {
#define NAME(step, name) [step] = name,
        SERVER_STEPS(NAME)
#undef NAME
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) {
            abort_step = (enum server_step)i;
            return true;
        }
    }
    return false;
}

/* A number after `prefix`; *text then stands behind it. */
static bool read_number(const char **text, const char *prefix, unsigned *number)
{
    int length = 0;

    if (strncmp(*text, prefix, strlen(prefix)) != 0 ||
        sscanf(*text + strlen(prefix), "%9u%n", number, &length) != 1)
        return false;
    *text += strlen(prefix) + (size_t)length;
    return true;
}

bool server_abort_open(unsigned ordinal, unsigned generation)
{
    const char *text = base_setting(BASE_SETTING_WORKER_ABORT);
    unsigned wanted_ordinal, wanted_generation = 1;
    size_t length;

    if (!text)
        return true;
    abort_count = 1;
    if (!read_number(&text, "dev", &wanted_ordinal))
        return false;
    (void)read_number(&text, ".gen", &wanted_generation);
    if (*text++ != '.')
        return false;
    length = strcspn(text, "@");
    if (!find_step(text, length))
        return false;
    text += length;
    if (*text && (!read_number(&text, "@", &abort_count) || *text || !abort_count))
        return false;
    server_has_abort = wanted_ordinal == ordinal && wanted_generation == generation;
    return true;
}

void server_abort_count(enum server_step step)
{
    if (step == abort_step && atomic_fetch_add(&steps_taken, 1) + 1 == abort_count)
        for (;;)
            kill(getpid(), SIGKILL);
}
