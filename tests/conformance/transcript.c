/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: driver_transcript --device sim|0|workers:sim|workers:0 [--vectors DIRECTORY]
 *     [--expect FILE | --against DEVICE] [--only SECTION]
 *
 * Prints the transcript and compares it line by line with that of a file or of another device. What
 * worker processes do differently on purpose is then left out. Exit 77: no such driver here.
 */
#include "transcript.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/sim/table/sim.h"
#include "driver/worker/worker.h"

enum { SKIPPED = 77, LINE_ROOM = 512, SECTION_SECONDS = 60 };

const pool_cuda_api *cu;
CUcontext primary;
const char *vectors = ".";
int is_initialised;

static struct driver *real;
static const char *device = "sim";
static const char *against;
static FILE *expected;
static FILE *recording; /* instead of printing and comparing */
static unsigned different, line_number;

/* Memory of the caller cannot be registered with the driver of another process. The sections of
 * faults are not for workers either, which are replaced after one. tests/workers has both. */
static const char *const not_in_workers[] = {
    "MemHostRegister", "MemHostUnregister", "registered: "};

/* Before init: the table with what that section asks, straight from the library. */
static int open_uninitialised(void)
{
    static pool_cuda_api table;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function;

    if (!library)
        return SKIPPED;
#define TAKE(field, symbol)                                                                        \
    function = dlsym(library, symbol);                                                             \
    memcpy(&table.field, &function, sizeof(function));
    TAKE(Init, "cuInit")
    TAKE(DriverGetVersion, "cuDriverGetVersion")
    TAKE(GetErrorName, "cuGetErrorName")
    TAKE(DeviceGetCount, "cuDeviceGetCount")
    TAKE(DeviceGet, "cuDeviceGet")
    TAKE(CtxGetCurrent, "cuCtxGetCurrent")
    TAKE(CtxSynchronize, "cuCtxSynchronize")
    TAKE(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")
    TAKE(MemGetInfo, "cuMemGetInfo_v2")
    TAKE(MemAlloc, "cuMemAlloc_v2")
    TAKE(StreamSynchronize, "cuStreamSynchronize")
    TAKE(DeviceTotalMem, "cuDeviceTotalMem_v2")
    cu = &table;
    return 0;
}

static int open_driver(int initialise)
{
    const char *text;

    if (strcmp(device, "sim") == 0) {
        if (sim_open("sim:mem=8G,sms=132,report=leak", &cu))
            return 1;
    } else if (worker_spec_is_workers(device, &text)) {
        if (worker_open(strcmp(text, "sim") == 0 ? "sim:mem=8G,sms=132" : text, &cu)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return SKIPPED;
        }
    } else if (!initialise) {
        return open_uninitialised();
    } else {
        if (driver_open(NULL, &real)) {
            printf("skipped: %s\n", pool_last_error()->message);
            return SKIPPED;
        }
        cu = &real->api;
    }
    if (initialise && cu->Init(0))
        return 1;
    is_initialised = initialise;
    return 0;
}

/* In the child: runs one section and ends. */
static int run_section(const struct section *section)
{
    int status = open_driver(strcmp(section->name, "before init") != 0);

    if (status)
        return status;
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(SECTION_SECONDS);
    if (section->needs_context) {
        QUIET(DevicePrimaryCtxRetain(&primary, 0));
        QUIET(CtxPushCurrent(primary));
    }
    section->run();
    fflush(stdout);
    _exit(0);
}

static bool is_simulated(const char *name)
{
    const char *text = name;

    (void)worker_spec_is_workers(name, &text);
    return strncmp(text, "sim", 3) == 0;
}

/* A driver of a GPU ends the process for some wrong arguments, and a worker with it. So these calls
 * are made on simulated devices only, and compared with those of another one. */
static bool is_left_out(const struct section *section)
{
    return strcmp(section->name, "misuse") == 0 &&
           !(is_simulated(device) && (!against || is_simulated(against)));
}

static bool concerns_workers(void)
{
    return worker_spec_is_workers(device, NULL) || worker_spec_is_workers(against, NULL);
}

static void take_line(const char *line)
{
    char want[LINE_ROOM];

    for (size_t i = 0; i < sizeof(not_in_workers) / sizeof(not_in_workers[0]); i++)
        if (concerns_workers() && strncmp(line, not_in_workers[i], strlen(not_in_workers[i])) == 0)
            return;
    if (recording) {
        fputs(line, recording);
        return;
    }
    line_number++;
    printf("%s", line);
    if (!expected)
        return;
    if (!fgets(want, sizeof(want), expected))
        strcpy(want, "(nothing)\n");
    if (strcmp(want, line) == 0)
        return;
    different++;
    printf("^^^ line %u, expected: %s", line_number, want);
}

/* Runs the section in a new process of this program, so that no driver has forked. */
static int spawn(const struct section *section, char *self)
{
    char line[LINE_ROOM];
    int ends[2], status;
    FILE *output;
    pid_t child;

    fflush(NULL);
    if (pipe(ends))
        return 1;
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", self, "--device", device, "--vectors", vectors, "--section",
            section->name, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    output = fdopen(ends[0], "r");
    snprintf(line, sizeof(line), "== %s\n", section->name);
    take_line(line);
    while (output && fgets(line, sizeof(line), output))
        take_line(line);
    if (output)
        fclose(output);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    snprintf(line, sizeof(line), "-- ended by signal %d\n", WTERMSIG(status));
    take_line(line);
    return 0;
}

static int for_each(const char *only, char *self, int is_child)
{
    int status;

    for (size_t i = 0; i < section_list_count; i++)
        for (const struct section *section = section_lists[i]; section->name; section++) {
            if (only && strcmp(only, section->name) != 0)
                continue;
            if (concerns_workers() && strncmp(section->name, "fault", 5) == 0)
                continue;
            if (is_left_out(section) ||
                (!is_child && !against && strcmp(section->name, "misuse") == 0))
                continue;
            status = is_child ? run_section(section) : spawn(section, self);
            if (status)
                return status;
        }
    return 0;
}

/* What the other device answers becomes what is expected. */
static int record_other(const char *only, char *self)
{
    const char *first = device;
    int status;

    recording = tmpfile();
    if (!recording)
        return 1;
    device = against;
    against = first;
    status = for_each(only, self, 0);
    against = device;
    device = first;
    rewind(recording);
    expected = recording;
    recording = NULL;
    return status;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"device", 1, NULL, 'd'}, {"vectors", 1, NULL, 'v'},
        {"expect", 1, NULL, 'e'}, {"against", 1, NULL, 'a'}, {"only", 1, NULL, 'o'},
        {"section", 1, NULL, 's'}, {NULL, 0, NULL, 0}};
    const char *only = NULL, *section = NULL;
    char extra[LINE_ROOM];
    int option, status;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        if (option == 'd')
            device = optarg;
        else if (option == 'v')
            vectors = optarg;
        else if (option == 'o')
            only = optarg;
        else if (option == 's')
            section = optarg;
        else if (option == 'a')
            against = optarg;
        else if (option != 'e' || !(expected = fopen(optarg, "r")))
            return 2;
    }
    if (section)
        return for_each(section, NULL, 1);
    status = against ? record_other(only, arguments[0]) : 0;
    if (!status)
        status = for_each(only, arguments[0], 0);
    if (status)
        return status;
    if (expected && fgets(extra, sizeof(extra), expected)) {
        different++;
        printf("^^^ expected more: %s", extra);
    }
    printf("%u lines, %u different\n", line_number, different);
    return different != 0;
}
