/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of scenarios on simulated devices in worker processes: a call of the driver fails there,
 * once or from then on, beyond the border between the processes. What has to hold: the scenario
 * succeeds or reports a failure of a call, of its device or of the host, never of the process; the
 * detail has the driver's code where it is sticky; everything can be destroyed, at the latest after
 * the death of the processes; and no process and no descriptor is left behind.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture/torture.h"
#include "driver/worker/worker.h"

/* No scenario makes as many calls. */
#define MOST_CALLS 4096

static const pool_cu_result codes[] = {POOL_CU_OUT_OF_MEMORY, POOL_CU_ILLEGAL_ADDRESS,
    POOL_CU_INVALID_CONTEXT, POOL_CU_LAUNCH_FAILED, POOL_CU_DEVICE_UNAVAILABLE, POOL_CU_UNKNOWN,
    POOL_CU_DEINITIALIZED};
enum { CODES = sizeof(codes) / sizeof(codes[0]) };

struct place {
    const struct torture_scenario *scenario;
    unsigned device, call; /* call 0: nothing fails */
    pool_cu_result code;
    int from_then_on;
};

static unsigned findings, descriptors;

static void found(const struct place *place, const char *what, pool_status status, const char *text)
{
    findings++;
    fprintf(stderr, "%s: call %u of device %u fails %s with %u: %s: %s: %s\n",
        place->scenario->name, place->call, place->device,
        place->from_then_on ? "from then on" : "once", place->code, what, pool_status_name(status),
        text);
}

static int is_sticky(pool_cu_result code)
{
    return code == POOL_CU_ILLEGAL_ADDRESS || code == POOL_CU_LAUNCH_FAILED;
}

static void check_status(const struct place *place, pool_status status)
{
    const pool_error *error = pool_last_error();
    pool_error_class error_class = pool_status_class(status);
    char number[16];

    snprintf(number, sizeof(number), "(%u)", place->code);
    if (!place->call)
        found(place, "it fails although no call does", status, error->message);
    else if (error_class != POOL_CLASS_CALL && error_class != POOL_CLASS_DEVICE &&
             error_class != POOL_CLASS_HOST)
        found(place, "wrong class", status, error->message);
    else if (error->status != status || !error->message[0])
        found(place, "the detail is of another failure", status, error->message);
    else if (status == POOL_ERR_DEVICE_LOST && is_sticky(place->code) &&
             error->driver_code != (int)place->code && !strstr(error->message, number))
        found(place, "the detail does not have the driver's code", status, error->message);
}

/* What is in the processes ends with them. */
static void kill_workers(void)
{
    struct worker_status worker;

    for (int i = 0; worker_get_status(i, &worker); i++) {
        pid_t pid = worker.pid;

        if (!pid || kill(pid, SIGKILL))
            continue;
        while (worker_get_status(i, &worker) && worker.pid == pid)
            usleep(100);
    }
}

static void finish(const struct place *place, struct torture *torture)
{
    pool_status status = place->scenario->finish(torture);

    if (!status)
        return;
    if (!place->call)
        found(place, "it cannot be finished", status, pool_last_error()->message);
    kill_workers();
    /* Until the pool has noticed it, calls that destroy something may say so. */
    while ((status = place->scenario->finish(torture)) == POOL_ERR_DEVICE_LOST)
        usleep(1000);
    if (status)
        found(place, "things cannot be given back after the end of the processes", status,
            pool_last_error()->message);
}

static unsigned count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static void check_left(const struct place *place)
{
    unsigned now = count_descriptors();
    siginfo_t child;

    if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0)
        found(place, "a process is left", POOL_OK, "");
    if (descriptors && now != descriptors)
        found(place, "a descriptor is left, or closed twice", POOL_OK, "");
    descriptors = now;
}

/* Whether the scenario fails. */
static int run_place(const struct place *place)
{
    char devices[64], faults[64];
    struct torture torture = {.devices = devices};
    pool_status status;

    snprintf(devices, sizeof(devices), "workers:sim:%u,mem=256M", place->scenario->devices);
    snprintf(faults, sizeof(faults), "dev%u.*@%u%s=%u", place->device, place->call,
        place->from_then_on ? "+" : "", place->code);
    if (place->call)
        setenv("DEVICEPOOL_SIM_FAULTS", faults, 1);
    alarm(torture_seconds_per_run);
    status = place->scenario->run(&torture);
    if (status)
        check_status(place, status);
    unsetenv("DEVICEPOOL_SIM_FAULTS"); /* of replacements */
    finish(place, &torture);
    check_left(place);
    alarm(0);
    return status != POOL_OK;
}

/* The last call of a device without which the scenario fails; 0: there is none. */
static unsigned find_last(const struct torture_scenario *scenario, unsigned device)
{
    struct place place = {
        .scenario = scenario, .device = device, .code = POOL_CU_OUT_OF_MEMORY, .from_then_on = 1};
    unsigned failing = 0, passing = MOST_CALLS;

    while (passing - failing > 1) {
        place.call = (failing + passing) / 2;
        if (run_place(&place))
            failing = place.call;
        else
            passing = place.call;
    }
    return failing;
}

/* Calls after the last one that matters fail in the end of the scenario. */
static unsigned run_device(const struct torture_scenario *scenario, unsigned device, unsigned most)
{
    unsigned calls = find_last(scenario, device) + 4;
    unsigned all = calls * CODES * 2, stride = most && all > most ? all / most : 1, runs = 0;

    stride += stride > 1 && stride % 2 == 0; /* codes and modes change from run to run */
    stride += stride % CODES == 0 ? 2 : 0;
    for (unsigned i = 0; i < all; i += stride, runs++) {
        const struct place place = {.scenario = scenario,
            .device = device,
            .call = i / (CODES * 2) + 1,
            .code = codes[i / 2 % CODES],
            .from_then_on = i % 2};

        run_place(&place);
    }
    printf("%-32s device %u: %3u calls, %5u runs\n", scenario->name, device, calls - 4, runs);
    fflush(stdout);
    return runs;
}

int torture_on_workers(const struct torture_scenario *scenarios, size_t count, unsigned most_runs)
{
    unsigned runs = 0;

    unsetenv("DEVICEPOOL_DEVICES");
    setenv("DEVICEPOOL_TUNING", "off", 1);
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "0", 1);
    for (size_t i = 0; i < count; i++) {
        const struct place nothing = {.scenario = &scenarios[i]};

        if (scenarios[i].needs_mock)
            continue;
        run_place(&nothing); /* creates what the process keeps */
        descriptors = 0;
        run_place(&nothing);
        for (unsigned device = 0; device < scenarios[i].devices; device++)
            runs += run_device(&scenarios[i], device, most_runs);
    }
    printf("%u runs, %u findings\n", runs, findings);
    return findings != 0;
}
