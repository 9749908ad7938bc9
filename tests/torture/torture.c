/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The torture harness: one run with one failure, what has to hold after it, and the loops over all
 * points.
 */
#include "torture/torture.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture/watch.h"

#define MAX_TOLD 5 /* findings a scenario writes in full */
#define GROWTH_RUNS 3
#define PLAIN_RUNS 20

unsigned torture_seconds_per_run = 60;
int torture_all;
static int torture_few;
static char watchdog_text[256];

/* DEVICEPOOL_TORTURE_TELL: for one who hunts. */
static int max_printed(void)
{
    const char *wanted = getenv("DEVICEPOOL_TORTURE_TELL");

    return wanted ? atoi(wanted) : MAX_TOLD;
}

static void bite(int signal_number)
{
    (void)signal_number;
    if (write(STDERR_FILENO, watchdog_text, strlen(watchdog_text)) < 0)
        _exit(98);
    _exit(97);
}

/* ---- what has to hold ----------------------------------------------------------------------- */

struct finding {
    struct torture_report *report;
    int count;
    int printed;
    int quiet;
};

static void found(
    struct finding *finding, enum torture_kind kind, const char *what, const char *detail)
{
    const struct point *point = &watch.point;

    finding->report->found[kind]++;
    finding->count++;
    if (finding->quiet || finding->printed >= max_printed())
        return;
    finding->printed++;
    fprintf(stderr, "%s: %s %llu (%s) fails %s with %u: %s%s%s\n", watch.scenario->name,
        source_names[point->source], (unsigned long long)point->n, watch.first,
        point->from_then_on ? "from then on" : "once", point->code, what, detail[0] ? ": " : "",
        detail);
}

static int is_status_right(pool_status status)
{
    const struct point *point = &watch.point;
    pool_error_class class = pool_status_class(status);

    if (point->source == SOURCE_MEMORY)
        return status == POOL_ERR_OUT_OF_HOST_MEMORY || status == POOL_ERR_NO_DEVICE ||
               status == POOL_ERR_DEVICE_UNUSABLE;
    if (point->source == SOURCE_FILE)
        return class == POOL_CLASS_CALL;
    switch ((int)point->code) {
    case POOL_CU_ILLEGAL_ADDRESS:
    case POOL_CU_LAUNCH_FAILED:
        return status == POOL_ERR_PROCESS_POISONED;
    case POOL_CU_DEINITIALIZED:
        return status == POOL_ERR_SHUTDOWN;
    case POOL_CU_UNKNOWN: /* the probe after it may find the process lost */
        return class == POOL_CLASS_CALL || class == POOL_CLASS_DEVICE || class == POOL_CLASS_HOST ||
               status == POOL_ERR_PROCESS_POISONED;
    case POOL_CU_DEVICE_UNAVAILABLE: /* NOT_FOUND: a device that cannot say what it is called */
        return class == POOL_CLASS_DEVICE || class == POOL_CLASS_HOST ||
               status == POOL_ERR_NOT_FOUND;
    case POOL_CU_OUT_OF_MEMORY:
        return status == POOL_ERR_OUT_OF_DEVICE_MEMORY || status == POOL_ERR_OUT_OF_HOST_MEMORY ||
               class == POOL_CLASS_DEVICE || class == POOL_CLASS_HOST ||
               status == POOL_ERR_NOT_FOUND;
    default:
        return class == POOL_CLASS_CALL || class == POOL_CLASS_DEVICE || class == POOL_CLASS_HOST;
    }
}

static void check_status(struct finding *finding, pool_status status, const pool_error *error)
{
    char text[512];

    if (status == POOL_OK) {
        if (watch.made_in_run > 0 && watch.any_not_absorbed)
            found(finding, TORTURE_SWALLOWED, "the scenario succeeded all the same", "");
        return;
    }
    snprintf(text, sizeof(text), "%s: %.400s", pool_status_name(status), error->message);
    if (watch.made_in_run > 0 && !watch.any_not_absorbed) {
        /* The scenario continued without the failed call; its result is not checked. */
        if (error->status != status || !error->message[0])
            found(finding, TORTURE_DETAIL, "the detail is of another failure", text);
        return;
    }
    if (watch.made_in_run == 0)
        found(finding, TORTURE_STATUS, "it failed although nothing had yet", text);
    else if (!is_status_right(status))
        found(finding, TORTURE_STATUS, "wrong status", text);
    if (error->status != status || !error->message[0])
        found(finding, TORTURE_DETAIL, "the detail is of another failure", text);
    else if (strpbrk(error->call, "&>") || strstr(error->message, "(&") ||
             strstr(error->message, "->"))
        found(finding, TORTURE_DETAIL, "the detail has a C expression", text);
    else if (watch.made_in_run > 0 && watch.point.source == SOURCE_DRIVER &&
             error->driver_code != (int)watch.point.code) {
        char number[16];

        /* Where a device is skipped the reason has the code in words. */
        snprintf(number, sizeof(number), "(%u)", watch.point.code);
        if (!strstr(error->message, number))
            found(finding, TORTURE_DETAIL, "the detail does not have the driver's code", text);
    }
}

/* How things stood before the scenario. */
struct before {
    char leaks[512];
    size_t depth;
    int64_t unreturned;
};

static void check_thread(
    struct finding *finding, const struct torture *torture, const struct before *before)
{
    char text[96];

    snprintf(text, sizeof(text), "depth %zu instead of %zu, %s, %lld pushes without a try to pop",
        pool_mock_depth(torture->mock), before->depth,
        pool_mock_current_context(torture->mock) == torture->caller ? "right on top"
                                                                    : "wrong on top",
        (long long)(pool_mock_unpopped(torture->mock) - before->unreturned));
    if (watch.stack_call_failed) {
        if (pool_mock_unpopped(torture->mock) > before->unreturned)
            found(finding, TORTURE_CONTEXT, "a push was left without a try to pop", text);
        return;
    }
    if (pool_mock_depth(torture->mock) != before->depth ||
        pool_mock_current_context(torture->mock) != torture->caller)
        found(finding, TORTURE_CONTEXT, "the caller's context is not as it was", text);
}

/*
 * The lines of a list of leaks that count at this point. With failing stack calls the stack's lines
 * differ; check_thread judges those. When every call fails, what lives in a context cannot be given
 * back, because the context cannot be made current; contexts themselves can be tried.
 */
static void keep_lines(char *kept, size_t size, const char *leaks)
{
    int contexts_only = watch.point.source == SOURCE_DRIVER && watch.point.from_then_on;
    size_t used = 0;

    kept[0] = '\0';
    for (const char *line = leaks; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        int is_stack = strncmp(line, "a thread", 8) == 0;
        const char *reaches = strstr(line, "still reaches");
        int is_context = (strncmp(line, "ctx", 3) == 0 || strncmp(line, "primary", 7) == 0) &&
                         !(reaches && reaches < line + length); /* peer access lives in it */

        if (used + length < size &&
            (is_stack ? !watch.stack_call_failed : is_context || !contexts_only)) {
            memcpy(kept + used, line, length);
            used += length;
            kept[used] = '\0';
        }
        line += length;
    }
}

static void check_handles(struct finding *finding, const struct torture *torture,
    const struct before *before, pool_status status)
{
    const struct point *point = &watch.point;
    const char *leaks = pool_mock_leaks(torture->mock);

    if (watch.noise[0])
        found(finding, TORTURE_NOISE, "after the fault the driver is still called", watch.noise);
    /* The driver accepts no releases any more, or every call reports that it has ended. */
    if (watch.is_lost || status == POOL_ERR_PROCESS_POISONED || status == POOL_ERR_SHUTDOWN ||
        (point->source == SOURCE_DRIVER && watch.made > 0 &&
            (point->code == POOL_CU_DEINITIALIZED || point->code == POOL_CU_UNKNOWN) &&
            point->from_then_on))
        return;
    /* A driver that returns this during the release has probably shut down. */
    if (point->code == POOL_CU_DEINITIALIZED && watch.made > watch.made_in_run)
        return;
    char now[1024];
    char then[sizeof(before->leaks)];
    keep_lines(now, sizeof(now), leaks);
    keep_lines(then, sizeof(then), before->leaks);
    if (strcmp(now, then) != 0)
        found(finding, TORTURE_HANDLES, "left in the driver", now);
}

/* ---- one run -------------------------------------------------------------------------------- */

/*
 * Bytes that the program has from the C library, exact only when that keeps no stores of freed
 * blocks: the test's environment switches them off (see meson.build). 0: not known.
 */
static size_t host_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const char *tunables = getenv("GLIBC_TUNABLES");
    struct mallinfo2 info = mallinfo2();

    if (tunables && strstr(tunables, "tcache_count=0"))
        return info.uordblks + info.hblkhd;
#endif
    return 0;
}

int torture_counts_host_memory(void)
{
    size_t before = host_bytes();
    void *volatile block = malloc(100000);
    int counts = host_bytes() >= before + 100000;

    free(block);
    return counts;
}

static int start(struct torture *torture, const struct torture_scenario *scenario)
{
    const pool_mock_params params = {.struct_size = sizeof(params),
        .devices = scenario->devices,
        .memory_bytes = (uint64_t)256 << 20,
        .no_log = 1};

    memset(torture, 0, sizeof(*torture));
    if (pool_mock_create(&torture->mock, &params) != POOL_OK)
        return 0;
    torture->table = pool_mock_table(torture->mock);
    return torture->table->Init(0) == 0 && torture->table->CtxCreate(&torture->caller, 0, 0) == 0;
}

static void finish(struct finding *finding, struct torture *torture)
{
    pool_status status;

    watch.in_finish = 1;
    status = watch.scenario->finish(torture);
    if (status == POOL_OK)
        return;
    watch_set(torture, 0);
    status = watch.scenario->finish(torture);
    if (status)
        found(finding, TORTURE_STATUS, "things cannot be given back after the trouble has passed",
            pool_last_error()->message);
}

/* Runs the point; what is found counts into `finding`. */
static void run_point(
    const struct torture_scenario *scenario, const struct point *point, struct finding *finding)
{
    struct torture torture;
    struct before before;

    memset(&watch, 0, sizeof(watch));
    watch.point = *point;
    watch.scenario = scenario;
    watch.is_recording = point->n == 0;
    snprintf(watchdog_text, sizeof(watchdog_text),
        "%s: %s %llu failing %s with %u: no end after %u seconds\n", scenario->name,
        source_names[point->source], (unsigned long long)point->n,
        point->from_then_on ? "from then on" : "once", point->code, torture_seconds_per_run);
    alarm(torture_seconds_per_run);
    if (!start(&torture, scenario)) {
        found(finding, TORTURE_PLAIN_RUN, "the mock could not be made", "");
        return;
    }
    if (scenario->prepare)
        scenario->prepare(&torture);
    snprintf(before.leaks, sizeof(before.leaks), "%s", pool_mock_leaks(torture.mock));
    before.depth = pool_mock_depth(torture.mock);
    before.unreturned = pool_mock_unpopped(torture.mock);

    watch_set(&torture, 1);
    pool_status status = scenario->run(&torture);
    check_status(finding, status, pool_last_error());
    finish(finding, &torture);
    watch_set(&torture, 0);
    if (watch.point.n > 0 && watch.made == 0)
        found(finding, TORTURE_PLAIN_RUN, "the point was not reached", "");
    check_thread(finding, &torture, &before);
    check_handles(finding, &torture, &before, status);
    pool_mock_destroy(&torture.mock);
    alarm(0);
}

/* Memory that stays allocated after the first run (a thread's record) is not a leak. A leak recurs.
 */
static void run_point_again_if_it_grew(
    const struct torture_scenario *scenario, const struct point *point, struct finding *finding)
{
    struct torture_report none = {0};
    struct finding unseen = {.report = &none, .quiet = 1};
    size_t before = host_bytes();
    char text[64];

    run_point(scenario, point, finding);
    for (int i = 0; i < GROWTH_RUNS; i++) {
        if (host_bytes() <= before)
            return;
        before = host_bytes();
        run_point(scenario, point, &unseen);
    }
    snprintf(text, sizeof(text), "%zu bytes", host_bytes() - before);
    if (host_bytes() > before)
        found(finding, TORTURE_HOST_MEMORY, "host memory is lost", text);
}

/* ---- all points ----------------------------------------------------------------------------- */

static void run_source(const struct torture_scenario *scenario, enum source source, uint64_t count,
    struct finding *finding)
{
    static const pool_cu_result codes[] = {POOL_CU_OUT_OF_MEMORY, POOL_CU_DEVICE_UNAVAILABLE,
        POOL_CU_INVALID_CONTEXT, POOL_CU_ILLEGAL_ADDRESS, POOL_CU_LAUNCH_FAILED, POOL_CU_UNKNOWN,
        POOL_CU_DEINITIALIZED};
    size_t code_count = source == SOURCE_DRIVER ? sizeof(codes) / sizeof(codes[0]) : 1;
    size_t chosen = 0;

    for (uint64_t n = 1; n <= count; n++) {
        if (!torture_all && !watch_is_distinct(source, n, count))
            continue;
        for (int from_then_on = 0; from_then_on < 2; from_then_on++)
            for (size_t i = 0; i < code_count; i++) {
                struct point point = {.source = source,
                    .n = n,
                    .code = source == SOURCE_DRIVER ? codes[i] : 0,
                    .from_then_on = from_then_on};

                /* Two codes per driver call, one of them once and the other one from then on. */
                if (!torture_all && (chosen + i + 3 * (size_t)from_then_on) % code_count != 0)
                    continue;
                if (torture_few && from_then_on != (int)(chosen % 2))
                    continue;
                run_point_again_if_it_grew(scenario, &point, finding);
                finding->report->points++;
            }
        chosen++;
    }
}

int torture_run(const struct torture_scenario *scenario, struct torture_report *report, int quiet)
{
    struct finding finding = {.report = report, .quiet = quiet};
    const struct point nothing = {0};
    uint64_t count[SOURCES] = {0};

    signal(SIGALRM, bite);
    mallopt(M_MXFAST, 0);
    /* Until two in a row are alike: what the process makes once for good comes with the first run,
     * and a run that the host delays may look at the devices once more. */
    for (int i = 0; i < PLAIN_RUNS; i++) {
        run_point(scenario, &nothing, &finding);
        if (memcmp(count, watch.seen, sizeof(count)) == 0)
            break;
        memcpy(count, watch.seen, sizeof(count));
    }
    if (finding.count > 0) {
        report->found[TORTURE_PLAIN_RUN]++;
        return 1;
    }
    report->driver_calls += count[SOURCE_DRIVER];
    report->allocations += count[SOURCE_MEMORY];
    report->file_operations += count[SOURCE_FILE];
    for (int source = scenario->spares_driver ? SOURCE_MEMORY : 0; source < SOURCES; source++)
        run_source(scenario, (enum source)source, count[source], &finding);
    return finding.count > 0;
}

static uint64_t all_file_operations;

uint64_t torture_file_operations(void)
{
    return all_file_operations;
}

int torture_main(
    int argument_count, char **arguments, const struct torture_scenario *scenarios, size_t count)
{
    const char *nvrtc = getenv("DEVICEPOOL_NVRTC");
    struct torture_report all = {0};
    int bad = 0;

    /* Images come from the disk cache, whose file operations fail, and are not unpacked each time.
     */
    if (nvrtc && strcmp(nvrtc, "last") == 0)
        unsetenv("DEVICEPOOL_NVRTC");
    if (argument_count > 1 && strcmp(arguments[1], "workers:sim") == 0)
        return torture_on_workers(
            scenarios, count, argument_count > 2 ? (unsigned)atoi(arguments[2]) : 0);
    torture_all = argument_count > 1 && strcmp(arguments[1], "all") == 0;
    torture_few = argument_count > 1 && strcmp(arguments[1], "few") == 0;
    unsetenv("DEVICEPOOL_DEVICES");
    unsetenv("CUDA_VISIBLE_DEVICES");
    /* A pool absorbs failures to read a tuning file; a scenario of pool.c has them. */
    setenv("DEVICEPOOL_TUNING", "off", 1);
    for (size_t i = 0; i < count; i++) {
        uint64_t points = all.points;
        uint64_t calls = all.driver_calls;
        uint64_t allocations = all.allocations;
        uint64_t files = all.file_operations;
        int failed = torture_run(&scenarios[i], &all, 0);

        printf(
            "%-28s %4llu driver calls, %3llu allocations, %3llu file operations: %6llu points%s\n",
            scenarios[i].name, (unsigned long long)(all.driver_calls - calls),
            (unsigned long long)(all.allocations - allocations),
            (unsigned long long)(all.file_operations - files),
            (unsigned long long)(all.points - points), failed ? " FAILED" : "");
        fflush(stdout);
        bad += failed;
    }
    all_file_operations = all.file_operations;
    if (getenv("DEVICEPOOL_TORTURE_FUNCTIONS"))
        watch_print_met();
    printf("%llu points run, %d of %zu scenarios failed\n", (unsigned long long)all.points, bad,
        count);
    return bad ? 1 : 0;
}

int torture_main_with_cache(
    int argument_count, char **arguments, const struct torture_scenario *scenarios, size_t count)
{
    char directory[] = "/tmp/devicepool-torture-XXXXXX";
    char cache[64], command[80];
    int failed;

    /* Two levels deep: the cache refuses a directory directly below a world-writable one. */
    if (!mkdtemp(directory))
        return 1;
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    failed = setenv("DEVICEPOOL_CACHE_DIR", cache, 1) ||
             torture_main(argument_count, arguments, scenarios, count);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return system(command) || failed;
}
