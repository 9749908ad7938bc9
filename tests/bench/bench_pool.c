/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the overhead of the pool. Each figure is compared with a baseline:
 *   pool_next_device, from one and from 16 threads     a relaxed fetch_add
 *   pool_bind + pool_unbind                            the driver's push + pop
 *   pool_best_device between two samples               none: the limit is 50 ns
 *   pool_create, pool_create lazy                      cuInit + contexts, cuInit
 * Runs on real devices or, with --mock or without a driver, on the mock. The rows on creation are
 * omitted on the mock, whose contexts cost nothing. Creation is measured in alternating child
 * processes, because the first cuInit of a process costs most.
 *
 * usage: bench_pool [--devices STRING] [--mock] [--rounds N] [--json FILE]
 */
#include <dlfcn.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "bench_support.h"
#include "pool/device.h"

#define RUNS 11 /* of which the median is reported */
#define CALLS 2000000
#define THREADS 16
#define THREAD_CALLS 1000000
#define PAIR_CALLS 200000
#define BEST_CALLS                                                                                 \
    10000 /* half a millisecond: much shorter than a sample of the free memory is used */

struct row {
    const char *name;
    const char *unit;
    double value;
    const char *against;
    double bare;
    const char *target;
    int is_met;
};

static struct row rows[16];
static size_t row_count;
static const char *program;
static const char *devices;
static int rounds = 7;

static void exit_with_error(const char *what)
{
    fprintf(stderr, "bench_pool: %s: %s\n", what, pool_last_error()->message);
    exit(1);
}

static void add_row(const char *name, const char *unit, double value, const char *against,
    double bare, const char *target, int is_met)
{
    rows[row_count++] = (struct row){name, unit, value, against, bare, target, is_met};
}

/* ---- selection ------------------------------------------------------------------------------ */

static _Alignas(128) atomic_uint_fast64_t bare_counter;
static device_pool *pool;

/* Calls a function `calls` times. Not inlined, so that the overhead of the loop is the same. */
typedef void (*work)(long calls);

__attribute__((noinline)) static void call_fetch_add(long calls)
{
    uint64_t sum = 0;

    /* The sum uses the results, as a selection does, so that the compiler cannot discard them. */
    for (long i = 0; i < calls; i++)
        sum += atomic_fetch_add_explicit(&bare_counter, 1, memory_order_relaxed);
    __asm__ volatile("" : : "r"(sum));
}

__attribute__((noinline)) static void call_next_device(long calls)
{
    pool_device *device = NULL;

    for (long i = 0; i < calls; i++)
        if (pool_next_device(pool, &device))
            exit_with_error("pool_next_device");
}

__attribute__((noinline)) static void call_best_device(long calls)
{
    pool_device *device = NULL;

    for (long i = 0; i < calls; i++)
        if (pool_best_device(pool, &device))
            exit_with_error("pool_best_device");
}

static double time_one_thread(work work, long calls)
{
    double start = bench_now();

    work(calls);
    return (bench_now() - start) * 1e9 / (double)calls;
}

struct team {
    work work;
    long calls;
    pthread_barrier_t start;
};

static void *run_team_thread(void *arg)
{
    struct team *team = arg;

    pthread_barrier_wait(&team->start);
    team->work(team->calls);
    return NULL;
}

/* Wall time divided by the number of calls of all threads: the rate of the shared counter. */
static double time_threads(work work, long calls)
{
    struct team team = {.work = work, .calls = calls};
    pthread_t threads[THREADS];
    double start;

    pthread_barrier_init(&team.start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run_team_thread, &team))
            exit_with_error("pthread_create");
    pthread_barrier_wait(&team.start);
    start = bench_now();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&team.start);
    return (bench_now() - start) * 1e9 / (double)(calls * THREADS);
}

static void measure_selection(void)
{
    double bare[RUNS], ours[RUNS], x, y;

    for (int i = -2; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        bare[at] = time_one_thread(call_fetch_add, CALLS);
        ours[at] = time_one_thread(call_next_device, CALLS);
    }
    x = bench_median(ours, RUNS);
    y = bench_median(bare, RUNS);
    add_row("pool_next_device", "ns", x, "fetch_add", y, "<= 10 ns", x <= 10);
    for (int i = -1; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        bare[at] = time_threads(call_fetch_add, THREAD_CALLS);
        ours[at] = time_threads(call_next_device, THREAD_CALLS);
    }
    x = bench_median(ours, RUNS);
    y = bench_median(bare, RUNS);
    add_row("pool_next_device, 16 threads", "ns", x, "fetch_add", y, "<= 1.2 x fetch_add",
        x <= 1.2 * y);
    for (int i = 0; i < RUNS; i++) {
        call_best_device(1);
        ours[i] = time_one_thread(call_best_device, BEST_CALLS);
    }
    x = bench_median(ours, RUNS);
    add_row("pool_best_device", "ns", x, "", 0, "<= 50 ns", x <= 50);
}

/* ---- binding -------------------------------------------------------------------------------- */

static double time_bind(pool_device *device)
{
    double start = bench_now();

    for (long i = 0; i < PAIR_CALLS; i++)
        if (pool_bind(device) || pool_unbind(device))
            exit_with_error("bind and unbind");
    return (bench_now() - start) * 1e9 / PAIR_CALLS;
}

static double time_push(const pool_cuda_api *cuda, CUcontext context)
{
    CUcontext popped;
    double start = bench_now();

    for (long i = 0; i < PAIR_CALLS; i++)
        if (cuda->CtxPushCurrent(context) || cuda->CtxPopCurrent(&popped))
            exit_with_error("push and pop");
    return (bench_now() - start) * 1e9 / PAIR_CALLS;
}

static void measure_binding(void)
{
    double bare[RUNS], ours[RUNS], x, y;
    pool_device *device = NULL;
    CUcontext context = NULL;

    if (pool_device_at(pool, 0, &device) || pool_device_context(device, &context))
        exit_with_error("the first device");
    for (int i = -2; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        bare[at] = time_push(&device_driver(device)->api, context);
        ours[at] = time_bind(device);
    }
    x = bench_median(ours, RUNS);
    y = bench_median(bare, RUNS);
    add_row(
        "pool_bind + pool_unbind", "ns", x, "push + pop", y, "<= push + pop + 20 ns", x <= y + 20);
}

/* ---- creation, in child processes ----------------------------------------------------------- */

/* The baseline: initializes the driver and, if requested, creates one context per device. */
static int start_driver(int with_contexts)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    pool_cu_result (*init)(unsigned), (*get_count)(int *), (*get)(CUdevice *, int),
        (*retain)(CUcontext *, CUdevice);
    CUcontext context;
    CUdevice device;
    int count = 0;

    if (!library)
        return 1;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&get_count = dlsym(library, "cuDeviceGetCount");
    *(void **)&get = dlsym(library, "cuDeviceGet");
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    if (!init || !get_count || !get || !retain || init(0) || get_count(&count))
        return 1;
    for (int i = 0; with_contexts && i < count; i++)
        if (get(&device, i) || retain(&context, device))
            return 1;
    return 0;
}

/* Runs in the child process. Prints the milliseconds that the kind of start took. */
static int run_child(const char *kind)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    double start = bench_now();
    int failed;

    if (!strcmp(kind, "init"))
        failed = start_driver(0);
    else if (!strcmp(kind, "contexts"))
        failed = start_driver(1);
    else {
        params.lazy = !strcmp(kind, "lazy");
        failed = pool_create(&pool, &params) != POOL_OK;
    }
    printf("%.6f\n", (bench_now() - start) * 1e3);
    if (failed)
        fprintf(stderr, "bench_pool: %s: %s\n", kind, pool_last_error()->message);
    fflush(stdout);
    _exit(failed);
}

static double time_child(const char *kind)
{
    char command[512], line[64] = "";
    FILE *pipe;

    snprintf(command, sizeof(command), "'%s' --child %s --devices '%s'", program, kind,
        devices ? devices : "all");
    pipe = popen(command, "r");
    if (!pipe || !fgets(line, sizeof(line), pipe) || pclose(pipe))
        exit_with_error("the child process");
    return strtod(line, NULL);
}

static void measure_creation(void)
{
    static const char *const kinds[] = {"init", "contexts", "lazy", "pool"};
    double times[4][64], init, contexts, lazy, eager;

    for (int kind = 0; kind < 4; kind++)
        time_child(kinds[kind]);
    for (int i = 0; i < rounds; i++)
        for (int kind = 0; kind < 4; kind++)
            times[kind][i] = time_child(kinds[kind]);
    init = bench_median(times[0], (size_t)rounds);
    contexts = bench_median(times[1], (size_t)rounds);
    lazy = bench_median(times[2], (size_t)rounds);
    eager = bench_median(times[3], (size_t)rounds);
    add_row("pool_create", "ms", eager, "cuInit + contexts", contexts, "<= + 5 %",
        eager <= 1.05 * contexts);
    add_row("pool_create, lazy", "ms", lazy, "cuInit", init, "<= + 10 ms", lazy <= init + 10);
}

/* ---- report --------------------------------------------------------------------------------- */

static void print_rows(const char *where)
{
    printf("%s\n\n| measured | value | against | bare | ratio | target | met |\n", where);
    printf("|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];

        printf("| %s | %.2f %s | %s |", row->name, row->value, row->unit, row->against);
        if (row->bare > 0)
            printf(" %.2f %s | %.3f |", row->bare, row->unit, row->value / row->bare);
        else
            printf(" | |");
        printf(" %s | %s |\n", row->target, row->is_met ? "yes" : "NO");
    }
}

static void write_json(const char *path, const char *where)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "rows");

    cJSON_AddStringToObject(root, "where", where);
    for (size_t i = 0; i < row_count; i++) {
        cJSON *object = cJSON_CreateObject();

        cJSON_AddStringToObject(object, "name", rows[i].name);
        cJSON_AddStringToObject(object, "unit", rows[i].unit);
        cJSON_AddNumberToObject(object, "value", rows[i].value);
        cJSON_AddStringToObject(object, "against", rows[i].against);
        cJSON_AddNumberToObject(object, "bare", rows[i].bare);
        cJSON_AddStringToObject(object, "target", rows[i].target);
        cJSON_AddBoolToObject(object, "met", rows[i].is_met);
        cJSON_AddItemToArray(list, object);
    }
    if (!bench_write_json(path, root))
        exit(1);
}

static void describe_host(char *text, size_t size, int is_mock)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;
    int version;

    if (pool_device_at(pool, 0, &device) || pool_device_get_info(device, &info))
        exit_with_error("the first device");
    version = device_driver(device)->version;
    snprintf(text, size, "%s%zu x %s, CUDA %d.%d, %ld CPUs, devicepool %s",
        is_mock ? "MOCK DRIVER, " : "", pool_device_count(pool), info.name, version / 1000,
        version % 1000 / 10, sysconf(_SC_NPROCESSORS_ONLN), pool_version_text());
}

/*
 * The mock's push and pop take locks and record calls. These stubs do almost nothing, so that the
 * difference is the pool's overhead alone.
 */
static _Thread_local CUcontext stub_stack[64];
static _Thread_local unsigned stub_depth;

static pool_cu_result stub_push(CUcontext context)
{
    if (stub_depth == 64)
        return POOL_CU_INVALID_VALUE;
    stub_stack[stub_depth++] = context;
    return POOL_CU_SUCCESS;
}

static pool_cu_result stub_pop(CUcontext *context)
{
    if (!stub_depth)
        return POOL_CU_INVALID_CONTEXT;
    *context = stub_stack[--stub_depth];
    return POOL_CU_SUCCESS;
}

static pool_cu_result stub_memory(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)1 << 37;
    return POOL_CU_SUCCESS;
}

static pool_cuda_api stub_table;

static pool_mock *create_pool(int is_mock)
{
    pool_mock_params mock_params = {.struct_size = sizeof(mock_params), .devices = 8, .no_log = 1};
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    pool_mock *mock = NULL;

    if (is_mock) {
        if (pool_mock_create(&mock, &mock_params))
            exit_with_error("the mock");
        stub_table = *pool_mock_table(mock);
        stub_table.CtxPushCurrent = stub_push;
        stub_table.CtxPopCurrent = stub_pop;
        stub_table.MemGetInfo = stub_memory;
        params.driver = &stub_table;
    }
    if (pool_create(&pool, &params))
        exit_with_error("pool_create");
    return mock;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {
        {"devices", required_argument, NULL, 'd'},
        {"mock", no_argument, NULL, 'm'},
        {"rounds", required_argument, NULL, 'r'},
        {"json", required_argument, NULL, 'j'},
        {"child", required_argument, NULL, 'c'},
        {0},
    };
    const char *json = NULL, *child = NULL;
    char self[4096] = "", where[256];
    int option, is_mock = 0;
    pool_mock *mock;

    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        if (option == 'd')
            devices = optarg;
        else if (option == 'm')
            is_mock = 1;
        else if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 'j')
            json = optarg;
        else if (option == 'c')
            child = optarg;
        else
            return 2;
    }
    if (child)
        return run_child(child);
    if (rounds < 1 || rounds > 64 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return 2;
    program = self;
    if (!is_mock && start_driver(0)) {
        printf("no driver on this host: measuring on the mock\n");
        is_mock = 1;
    }
    mock = create_pool(is_mock);
    describe_host(where, sizeof(where), is_mock);
    measure_selection();
    measure_binding();
    if (!is_mock)
        measure_creation();
    print_rows(where);
    if (json)
        write_json(json, where);
    if (pool_destroy(&pool))
        exit_with_error("pool_destroy");
    pool_mock_destroy(&mock);
    return 0;
}
