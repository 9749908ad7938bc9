/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements that need a process of their own: the first initialization of a driver costs most,
 * and compiled kernels stay in the memory of a process.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

/* ---- in the child ---------------------------------------------------------------------------- */

static void fail(struct suite_apart *outcome, pool_status status, const char *reason)
{
    outcome->status = status;
    snprintf(outcome->failure, sizeof(outcome->failure), "%s", reason);
}

static void fail_as_library(struct suite_apart *outcome)
{
    fail(outcome, pool_last_error()->status, pool_last_error()->message);
}

/* Initializes the driver and, if requested, creates one context per device. */
static bool start_driver(bool with_contexts)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    pool_cu_result (*init)(unsigned flags), (*get_count)(int *count),
        (*get)(CUdevice * device, int ordinal), (*retain)(CUcontext * context, CUdevice device);
    const struct {
        void *function;
        const char *name;
    } functions[] = {{&init, "cuInit"}, {&get_count, "cuDeviceGetCount"}, {&get, "cuDeviceGet"},
        {&retain, "cuDevicePrimaryCtxRetain"}};
    CUcontext context;
    CUdevice device;
    int count = 0;

    for (size_t i = 0; i < BENCH_COUNT_OF(functions); i++) {
        void *symbol = library ? dlsym(library, functions[i].name) : NULL;

        if (!symbol)
            return false;
        memcpy(functions[i].function, &symbol, sizeof(symbol));
    }
    if (init(0) || get_count(&count))
        return false;
    for (int i = 0; with_contexts && i < count; i++)
        if (get(&device, i) || retain(&context, device))
            return false;
    return true;
}

/* The child ends without destroying the pool. */
static void measure_start(const char *kind, const char *devices, struct suite_apart *outcome)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const bool has_pool = strcmp(kind, "pool") == 0 || strcmp(kind, "lazy") == 0;
    device_pool *pool = NULL;
    double begin = bench_now();

    params.lazy = strcmp(kind, "lazy") == 0;
    if (!has_pool && !start_driver(strcmp(kind, "contexts") == 0))
        fail(outcome, POOL_ERR_NO_DRIVER, "there is no driver");
    else if (has_pool && pool_create(&pool, &params))
        fail_as_library(outcome);
    outcome->seconds = bench_now() - begin;
    outcome->is_correct = !has_pool || (pool && pool_usable_count(pool) == pool_device_count(pool));
}

/* The caches of the library and of the driver are empty. */
static bool leave_caches(char *directory, size_t size)
{
    const char *temporary = getenv("TMPDIR");
    int length = snprintf(directory, size, "%s/devicepool-bench-XXXXXX",
        temporary && *temporary ? temporary : "/tmp");

    return length > 0 && (size_t)length < size && mkdtemp(directory) &&
           !setenv("DEVICEPOOL_CACHE_DIR", directory, 1) && !unsetenv("DEVICEPOOL_CACHE") &&
           !setenv("CUDA_CACHE_DISABLE", "1", 1);
}

/* From inputs in host memory to the result of the first call. */
static pool_status measure_first(struct bench_run *run, struct suite_apart *outcome)
{
    pool_status status = bench_create(run);
    double begin = bench_now();

    if (!status && run->operation->upload)
        status = run->operation->upload(run);
    if (!status)
        status = run->operation->call(run);
    if (!status)
        status = pool_stream_synchronize(run->stream);
    outcome->seconds = bench_now() - begin;
    if (!status)
        status = run->operation->check(run, &outcome->is_correct);
    return status;
}

static void measure_first_use(const struct suite_row *row, const struct bench_case *spec,
    const char *devices, struct suite_apart *outcome)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};
    struct bench_run *run = bench_alloc(1, sizeof(*run));
    char directory[PATH_MAX];
    device_pool *pool = NULL;
    pool_status status;

    run->operation = row->operation;
    run->spec = *spec;
    if (!leave_caches(directory, sizeof(directory))) {
        fail(outcome, POOL_ERR_IO, "there is no directory for an empty cache");
        return;
    }
    if (pool_create(&pool, &params) || pool_best_device(pool, &run->device)) {
        fail_as_library(outcome);
    } else {
        run->pool = pool;
        status = measure_first(run, outcome);
        bench_end(run, status);
        if (status)
            fail(outcome, status, run->failure);
    }
    pool_cache_clear(NULL);
    rmdir(directory);
}

/* ---- in the parent --------------------------------------------------------------------------- */

/* Reads the outcome. False: the child ended or was ended without one. */
static bool receive(int file, uint64_t timeout, pid_t child, struct suite_apart *outcome)
{
    const double end = bench_now() + (double)timeout;
    size_t received = 0;

    while (received < sizeof(*outcome)) {
        struct pollfd wait = {.fd = file, .events = POLLIN};
        const double rest = end - bench_now();
        int ready = poll(&wait, 1, !timeout ? -1 : rest > 0 ? (int)(rest * 1e3) + 1 : 0);
        ssize_t count;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            kill(child, SIGKILL);
            return false;
        }
        count = read(file, (char *)outcome + received, sizeof(*outcome) - received);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        received += (size_t)count;
    }
    return true;
}

static _Noreturn void work_in_child(
    int file, const struct suite_row *row, const struct bench_case *spec, const char *devices)
{
    struct suite_apart outcome = {0};

    if (row->operation)
        measure_first_use(row, spec, devices, &outcome);
    else
        measure_start(spec->subject, devices, &outcome);
    _exit(write(file, &outcome, sizeof(outcome)) != (ssize_t)sizeof(outcome));
}

void suite_measure_apart(const struct suite_row *row, const struct bench_case *spec,
    const char *devices, uint64_t timeout, struct suite_apart *outcome)
{
    int files[2];
    pid_t child;

    *outcome = (struct suite_apart){0};
    fflush(NULL);
    if (pipe(files)) {
        fail(outcome, POOL_ERR_IO, "there is no pipe");
        return;
    }
    child = fork();
    if (child == 0) {
        close(files[0]);
        work_in_child(files[1], row, spec, devices);
    }
    close(files[1]);
    if (child < 0) {
        fail(outcome, POOL_ERR_OUT_OF_HOST_MEMORY, "no process could be started");
    } else {
        if (!receive(files[0], timeout, child, outcome)) {
            *outcome = (struct suite_apart){0};
            fail(outcome, POOL_ERR_TIMEOUT, "the process of the measurement ended or hung");
        }
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(files[0]);
}
