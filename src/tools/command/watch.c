/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends the command when a device hangs. A call of a driver that hangs cannot be left, so a thread
 * of its own watches whether the devices make progress, and ends the process if they do not.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* How often progress is examined: a hang is reported at most this long after --timeout. */
enum { PERIOD_MS = 200 };

/* For the report of a hang, before the process ends without it. */
enum { REPORT_SECONDS = 2 };

static struct {
    pthread_mutex_t lock; /* guards all of this */
    pthread_cond_t changed;
    uint64_t timeout; /* seconds; 0: the command is not watched */
    int as_json;
    const char *command;
    unsigned depth; /* of cli_watch_begin */
    uint64_t count; /* of the calls of cli_watch_begin and cli_watch_end */
    device_pool *pool;
    bool has_thread;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The sum of the samples of a family of metrics. */
static double sum_samples(const cJSON *family)
{
    const cJSON *sample;
    double sum = 0;

    cJSON_ArrayForEach(sample, cJSON_GetObjectItemCaseSensitive(family, "samples"))
    {
        const double value =
            cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(sample, "value"));

        sum += value == value ? value : 0;
    }
    return sum;
}

/* What the pool's devices and the compiler have done so far. It makes no driver call. */
static double pool_progress(device_pool *pool)
{
    static const char *const families[] = {"devicepool_launches_total", "devicepool_copies_total",
        "devicepool_images_total", "devicepool_operations_total"};
    char *text = NULL;
    cJSON *root;
    const cJSON *family;
    double sum = 0;

    if (pool_metrics(pool, POOL_METRICS_JSON, &text))
        return 0;
    root = cJSON_Parse(text);
    cJSON_ArrayForEach(family, cJSON_GetObjectItemCaseSensitive(root, "metrics"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(family, "name"));

        for (size_t i = 0; name && i < CLI_COUNT_OF(families); i++)
            if (strcmp(name, families[i]) == 0)
                sum += sum_samples(family);
    }
    cJSON_Delete(root);
    pool_text_free(&text);
    return sum;
}

static void leave(int signal)
{
    (void)signal;
    _exit(CLI_DEVICE);
}

/* Result files stay as they were. What cannot be written is given up as well: another thread may
 * have locked the output and wait for its reader. */
static void give_up(void)
{
    const struct sigaction action = {.sa_handler = leave};
    char message[160];

    output_files_abandon();
    sigaction(SIGALRM, &action, NULL);
    alarm(REPORT_SECONDS);

    snprintf(message, sizeof(message),
        "%s: no progress for %llu s: the device hangs, or --timeout is too short", watch.command,
        (unsigned long long)watch.timeout);
    cli_fail_as(POOL_ERR_TIMEOUT, message, 0, watch.as_json);
    fflush(stdout);
    _exit(CLI_DEVICE);
}

static void wait_locked(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
}

static void *watch_progress(void *unused)
{
    uint64_t seen = 0, reported = 0;
    double done = 0, begin = bench_now();

    (void)unused;
    pthread_mutex_lock(&watch.lock);
    for (;;) {
        while (!watch.depth)
            pthread_cond_wait(&watch.changed, &watch.lock);
        wait_locked();
        cli_progress_tick();
        if (watch.depth) {
            const double now = watch.pool ? pool_progress(watch.pool) : 0;
            const uint64_t steps = bench_progress();

            if (watch.count != seen || now != done || steps != reported)
                begin = bench_now();
            seen = watch.count;
            done = now;
            reported = steps;
            if (bench_now() - begin >= (double)watch.timeout)
                give_up();
        }
    }
    return NULL;
}

/* Without a thread the command is not watched. */
static void start_thread_locked(void)
{
    pthread_condattr_t attributes;
    pthread_t thread;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    watch.has_thread = pthread_create(&thread, NULL, watch_progress, NULL) == 0;
    if (watch.has_thread)
        pthread_detach(thread);
}

void cli_watch_setup(const char *command, uint64_t timeout, int as_json)
{
    watch.command = command;
    watch.timeout = timeout;
    watch.as_json = as_json;
}

static void change_depth(int by)
{
    pthread_mutex_lock(&watch.lock);
    if (watch.timeout && !watch.has_thread)
        start_thread_locked();
    watch.depth += (unsigned)by;
    watch.count++;
    if (watch.has_thread)
        pthread_cond_signal(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
}

void cli_watch_begin(void)
{
    change_depth(1);
}

void cli_watch_end(void)
{
    change_depth(-1);
}

void cli_watch_pool(device_pool *pool)
{
    pthread_mutex_lock(&watch.lock);
    watch.pool = pool;
    pthread_mutex_unlock(&watch.lock);
}
