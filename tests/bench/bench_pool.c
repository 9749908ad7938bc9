/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what the pool itself costs, each figure beside the bare thing that it is compared with:
 *   pool_next_device, alone and from 16 threads        bare relaxed fetch_add
 *   pool_bind + pool_unbind                            the driver's push + pop
 *   pool_best_device between two samples               nothing: 50 ns allowed
 *   pool_create, pool_create lazy                      cuInit + contexts, cuInit
 * On real devices, or with --mock (also when there is no driver) on the mock: then the rows about
 * creation are left out, as a mock's contexts cost nothing. Creation is measured in processes of
 * its own, one after another and in turn, because the first cuInit of a process costs most.
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

#define RUNS 11 /* medians of these */
#define CALLS 2000000
#define THREADS 16
#define THREAD_CALLS 1000000
#define PAIR_CALLS 200000
#define BEST_CALLS 10000 /* half a millisecond: well inside one sample's life */

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

static void die(const char *what)
{
    fprintf(stderr, "bench_pool: %s: %s\n", what, pool_last_error()->message);
    exit(1);
}

static void add_row(const char *name, const char *unit, double value, const char *against,
    double bare, const char *target, int is_met)
{
    rows[row_count++] = (struct row){name, unit, value, against, bare, target, is_met};
}

/* ---- choosing ------------------------------------------------------------------------------- */

static _Alignas(128) atomic_uint_fast64_t bare_counter;
static device_pool *pool;

/* Each kind of work does `calls` of its calls. Not inlined, so that all are called alike. */
typedef void (*work)(long calls);

__attribute__((noinline)) static void bare_add(long calls)
{
    uint64_t turns = 0;

    /* The sum makes it an addition whose result somebody wants, as a choice needs it. */
    for (long i = 0; i < calls; i++)
        turns += atomic_fetch_add_explicit(&bare_counter, 1, memory_order_relaxed);
    __asm__ volatile("" : : "r"(turns));
}

__attribute__((noinline)) static void next_device(long calls)
{
    pool_device *device = NULL;

    for (long i = 0; i < calls; i++)
        if (pool_next_device(pool, &device))
            die("pool_next_device");
}

__attribute__((noinline)) static void best_device(long calls)
{
    pool_device *device = NULL;

    for (long i = 0; i < calls; i++)
        if (pool_best_device(pool, &device))
            die("pool_best_device");
}

static double time_alone(work work, long calls)
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

static void *team_member(void *arg)
{
    struct team *team = arg;

    pthread_barrier_wait(&team->start);
    team->work(team->calls);
    return NULL;
}

/* Wall time of all threads by all their calls: the pace of the shared counter. */
static double time_team(work work, long calls)
{
    struct team team = {.work = work, .calls = calls};
    pthread_t threads[THREADS];
    double start;

    pthread_barrier_init(&team.start, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, team_member, &team))
            die("pthread_create");
    pthread_barrier_wait(&team.start);
    start = bench_now();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&team.start);
    return (bench_now() - start) * 1e9 / (double)(calls * THREADS);
}

static void measure_choosing(void)
{
    double bare[RUNS], ours[RUNS], x, y;

    for (int i = -2; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        bare[at] = time_alone(bare_add, CALLS);
        ours[at] = time_alone(next_device, CALLS);
    }
    x = bench_median(ours, RUNS);
    y = bench_median(bare, RUNS);
    add_row("pool_next_device", "ns", x, "fetch_add", y, "<= 10 ns", x <= 10);
    for (int i = -1; i < RUNS; i++) {
        int at = i < 0 ? 0 : i;

        bare[at] = time_team(bare_add, THREAD_CALLS);
        ours[at] = time_team(next_device, THREAD_CALLS);
    }
    x = bench_median(ours, RUNS);
    y = bench_median(bare, RUNS);
    add_row("pool_next_device, 16 threads", "ns", x, "fetch_add", y, "<= 1.2 x fetch_add",
        x <= 1.2 * y);
    for (int i = 0; i < RUNS; i++) {
        best_device(1);
        ours[i] = time_alone(best_device, BEST_CALLS);
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
            die("bind and unbind");
    return (bench_now() - start) * 1e9 / PAIR_CALLS;
}

static double time_push(const pool_cuda_api *cuda, CUcontext context)
{
    CUcontext popped;
    double start = bench_now();

    for (long i = 0; i < PAIR_CALLS; i++)
        if (cuda->CtxPushCurrent(context) || cuda->CtxPopCurrent(&popped))
            die("push and pop");
    return (bench_now() - start) * 1e9 / PAIR_CALLS;
}

static void measure_binding(void)
{
    double bare[RUNS], ours[RUNS], x, y;
    pool_device *device = NULL;
    CUcontext context = NULL;

    if (pool_device_at(pool, 0, &device) || pool_device_context(device, &context))
        die("the first device");
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

/* ---- creation, in processes of its own ------------------------------------------------------ */

/* The bare driver: what a program does that wants one context a device and nothing else. */
static int bare_driver(int with_contexts)
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

/* Runs in the child: prints the milliseconds that its kind of start took. */
static int run_child(const char *kind)
{
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    double start = bench_now();
    int failed;

    if (!strcmp(kind, "init"))
        failed = bare_driver(0);
    else if (!strcmp(kind, "contexts"))
        failed = bare_driver(1);
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
        die("a process that measures creation");
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

static void describe(char *text, size_t size, int is_mock)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;
    int version;

    if (pool_device_at(pool, 0, &device) || pool_device_get_info(device, &info))
        die("the first device");
    version = device_driver(device)->version;
    snprintf(text, size, "%s%zu x %s, CUDA %d.%d, %ld CPUs, devicepool %s",
        is_mock ? "MOCK DRIVER, " : "", pool_device_count(pool), info.name, version / 1000,
        version % 1000 / 10, sysconf(_SC_NPROCESSORS_ONLN), pool_version_text());
}

/*
 * The mock's own push and pop take locks and keep account. These do next to nothing, so that the
 * difference is the pool's part alone.
 */
static _Thread_local CUcontext plain_stack[64];
static _Thread_local unsigned plain_depth;

static pool_cu_result plain_push(CUcontext context)
{
    if (plain_depth == 64)
        return POOL_CU_INVALID_VALUE;
    plain_stack[plain_depth++] = context;
    return POOL_CU_SUCCESS;
}

static pool_cu_result plain_pop(CUcontext *context)
{
    if (!plain_depth)
        return POOL_CU_INVALID_CONTEXT;
    *context = plain_stack[--plain_depth];
    return POOL_CU_SUCCESS;
}

static pool_cu_result plain_memory(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)1 << 37;
    return POOL_CU_SUCCESS;
}

static pool_cuda_api plain_table;

static pool_mock *make_pool(int is_mock)
{
    pool_mock_params mock_params = {.struct_size = sizeof(mock_params), .devices = 8, .no_log = 1};
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    pool_mock *mock = NULL;

    if (is_mock) {
        if (pool_mock_create(&mock, &mock_params))
            die("the mock");
        plain_table = *pool_mock_table(mock);
        plain_table.CtxPushCurrent = plain_push;
        plain_table.CtxPopCurrent = plain_pop;
        plain_table.MemGetInfo = plain_memory;
        params.driver = &plain_table;
    }
    if (pool_create(&pool, &params))
        die("pool_create");
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
    if (!is_mock && bare_driver(0)) {
        printf("no driver here: the rows that need none, on the mock\n");
        is_mock = 1;
    }
    mock = make_pool(is_mock);
    describe(where, sizeof(where), is_mock);
    measure_choosing();
    measure_binding();
    if (!is_mock)
        measure_creation();
    print_rows(where);
    if (json)
        write_json(json, where);
    if (pool_destroy(&pool))
        die("pool_destroy");
    pool_mock_destroy(&mock);
    return 0;
}
