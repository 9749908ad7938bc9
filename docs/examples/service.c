/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service that uses a pool. It reads jobs from standard input, one per line,
 *
 *     LOG_LEAVES SEED [MILLISECONDS]
 *
 * and prints for each the root of a Poseidon tree over 2^LOG_LEAVES random leaves, or the reason of
 * its failure. Worker threads choose a device per job, round robin. A job that does not complete
 * within its milliseconds after it was read is reported as late. SIGUSR1 prints metrics and health
 * to standard error. SIGTERM and the end of the input drain the service: it accepts no new jobs,
 * completes the accepted ones and releases all resources.
 *
 * Exit codes: 0: drained; 75: a sticky fault ended the use of the GPUs, or a hanging kernel
 * prevents the release of resources, so the supervisor should restart the process; 77: no device;
 * 1: another failure at the start or the end.
 *
 *   service [DEVICES] [WORKERS]
 */
#include <devicepool.h>

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ELEMENT 32 /* bytes of a BN254 scalar, and of a root */
#define MAX_LOG_LEAVES 20
#define MAX_WORKERS 64
#define MAX_DEVICES 64
#define DEFAULT_MILLISECONDS 60000
#define EXIT_AGAIN 75
#define END_SECONDS 5 /* for releasing all resources after the last job */

struct job {
    struct job *next;
    uint64_t number;
    uint64_t log_leaves;
    uint64_t seed;
    uint64_t deadline; /* on the clock of `now` */
};

static struct service {
    device_pool *pool;
    pool_poseidon *set;

    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t changed;
    struct job *first, **last;
    uint64_t queued, done, late, failed;
    uint64_t by_device[MAX_DEVICES];
    int is_draining;
    int is_lost; /* a sticky fault: only another process can continue */
} service = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &service.first};

/* Nanoseconds of the monotonic clock. */
static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* ---- one job ----------------------------------------------------------------------------------
 */

/* The resources of a job on its device. */
struct work {
    pool_stream *stream;
    pool_buffer *leaves;
    pool_buffer *root;
};

static pool_status on_device(pool_buffer *buffer, uint64_t count, pool_span *span)
{
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    if (!status)
        *span = (pool_span){
            .data = (void *)(uintptr_t)address, .count = count, .space = POOL_MEMORY_DEVICE};
    return status;
}

/* Enqueues the whole job and waits for it, at most until its deadline. */
static pool_status work_run(
    struct work *work, const struct job *job, pool_device *device, uint8_t root[ELEMENT])
{
    uint64_t count = UINT64_C(1) << job->log_leaves, time;
    pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2, .kept_levels = 1};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .is_async = 1};
    pool_buffer_params memory = {.struct_size = sizeof(memory), .bytes = count * ELEMENT};
    pool_span leaves, rows;
    pool_status status;
    uint8_t *host = malloc(count * ELEMENT);

    if (!host)
        return POOL_ERR_OUT_OF_HOST_MEMORY;
    status = pool_random_scalars(
        pool_poseidon_field(service.set), job->seed, count, POOL_FORM_STANDARD, host);
    if (!status)
        status = pool_stream_create(device, NULL, &work->stream);
    exec.stream = memory.stream = work->stream;
    if (!status)
        status = pool_buffer_create(device, &memory, &work->leaves);
    memory.bytes = ELEMENT;
    if (!status)
        status = pool_buffer_create(device, &memory, &work->root);
    if (!status)
        status = pool_copy_to_device(work->leaves, 0, host, count * ELEMENT, work->stream);
    free(host); /* pageable memory has been read when the copy returns */
    if (!status)
        status = on_device(work->leaves, count, &leaves);
    if (!status)
        status = on_device(work->root, 1, &rows);
    if (!status)
        status = pool_poseidon_merkle_build(service.set, &exec, &tree, &leaves, &rows);
    time = now();
    if (!status)
        status = pool_stream_wait(work->stream, job->deadline > time ? job->deadline - time : 0);
    return status ? status : pool_copy_to_host(root, work->root, 0, ELEMENT, work->stream);
}

/* In stream order, so that this does not wait for a job that has missed its deadline. */
static pool_status work_end(struct work *work)
{
    pool_status status = pool_buffer_destroy_on(&work->leaves, work->stream);
    pool_status second = pool_buffer_destroy_on(&work->root, work->stream);
    pool_status third = pool_stream_destroy(&work->stream);

    return status ? status : second ? second : third;
}

/* ---- workers ----------------------------------------------------------------------------------
 */

static void print_answer(const struct job *job, pool_device *device, const uint8_t root[ELEMENT])
{
    flockfile(stdout);
    printf("job %" PRIu64 " device %d root ", job->number, pool_device_ordinal(device));
    for (int i = ELEMENT - 1; i >= 0; i--)
        printf("%02x", root[i]);
    printf("\n");
    funlockfile(stdout);
}

/*
 * The class of a failure decides. A failed call or an unusable device fails this job only, because
 * pool_next_device does not choose unusable devices. A poisoned process starts draining; the queued
 * jobs then fail quickly, as every call fails immediately.
 */
static void answer(const struct job *job)
{
    struct work work = {0};
    pool_device *device = NULL;
    uint8_t root[ELEMENT];
    int is_lost;
    pool_status status =
        now() < job->deadline ? pool_next_device(service.pool, &device) : POOL_ERR_TIMEOUT;

    if (!status)
        status = work_run(&work, job, device, root);
    if (!status)
        print_answer(job, device, root);
    else
        printf("job %" PRIu64 " %s: %s\n", job->number,
            status == POOL_ERR_TIMEOUT ? "late" : "failed", pool_status_text(status));
    fflush(stdout);
    is_lost = pool_status_class(status) == POOL_CLASS_PROCESS;
    if (work_end(&work) && !status)
        fprintf(stderr, "after job %" PRIu64 ": %s\n", job->number, pool_last_error()->message);

    pthread_mutex_lock(&service.lock);
    service.done += !status;
    service.late += status == POOL_ERR_TIMEOUT;
    service.failed += status && status != POOL_ERR_TIMEOUT;
    if (!status)
        service.by_device[pool_device_index(device) % MAX_DEVICES]++;
    service.is_lost |= is_lost;
    pthread_mutex_unlock(&service.lock);
    if (is_lost)
        kill(getpid(), SIGTERM);
}

static void *worker(void *unused)
{
    struct job *job;

    for (;;) {
        pthread_mutex_lock(&service.lock);
        while (!service.first && !service.is_draining)
            pthread_cond_wait(&service.changed, &service.lock);
        job = service.first;
        if (job) {
            service.first = job->next;
            if (!service.first)
                service.last = &service.first;
            service.queued--;
        }
        pthread_mutex_unlock(&service.lock);
        if (!job)
            return unused;
        answer(job);
        free(job);
    }
}

/* ---- input ------------------------------------------------------------------------------------
 */

static void accept_line(const char *line, uint64_t number)
{
    struct job *job = calloc(1, sizeof(*job));
    uint64_t milliseconds = DEFAULT_MILLISECONDS;

    if (!job)
        return;
    job->number = number;
    if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &job->log_leaves, &job->seed,
            &milliseconds) < 2 ||
        job->log_leaves > MAX_LOG_LEAVES) {
        printf("job %" PRIu64 " refused: LOG_LEAVES SEED [MILLISECONDS]\n", number);
        free(job);
        return;
    }
    job->deadline = now() + milliseconds * 1000000;
    pthread_mutex_lock(&service.lock);
    *service.last = job;
    service.last = &job->next;
    service.queued++;
    pthread_cond_signal(&service.changed);
    pthread_mutex_unlock(&service.lock);
}

static void *reader(void *unused)
{
    char line[128];

    for (uint64_t number = 1; fgets(line, sizeof(line), stdin); number++)
        accept_line(line, number);
    kill(getpid(), SIGTERM);
    return unused;
}

/* ---- operating --------------------------------------------------------------------------------
 */

/* In the text format of Prometheus. */
static void print_metrics(void)
{
    pool_health_info health = {.struct_size = sizeof(health)};

    flockfile(stderr);
    pthread_mutex_lock(&service.lock);
    fprintf(stderr, "service_jobs_total{outcome=\"done\"} %" PRIu64 "\n", service.done);
    fprintf(stderr, "service_jobs_total{outcome=\"late\"} %" PRIu64 "\n", service.late);
    fprintf(stderr, "service_jobs_total{outcome=\"failed\"} %" PRIu64 "\n", service.failed);
    fprintf(stderr, "service_jobs_queued %" PRIu64 "\n", service.queued);
    for (size_t i = 0; i < pool_device_count(service.pool) && i < MAX_DEVICES; i++) {
        pool_memory_info memory = {.struct_size = sizeof(memory)};
        pool_device *device;

        if (pool_device_at(service.pool, i, &device))
            continue;
        fprintf(stderr, "service_device_jobs_total{uuid=\"%s\"} %" PRIu64 "\n",
            pool_device_uuid(device), service.by_device[i]);
        if (!pool_memory_get_info(device, &memory))
            fprintf(stderr, "service_device_used_bytes{uuid=\"%s\"} %" PRIu64 "\n",
                pool_device_uuid(device), memory.used_bytes);
    }
    pthread_mutex_unlock(&service.lock);
    if (!pool_get_health(service.pool, &health))
        fprintf(stderr, "pool_devices %u\npool_usable_devices %u\npool_lost %d\n%s%s%s",
            health.devices, health.usable_devices, health.harmed == POOL_CLASS_PROCESS,
            health.first_cause[0] ? "# " : "", health.first_cause,
            health.first_cause[0] ? "\n" : "");
    funlockfile(stderr);
}

/* Writes the fault to the operator's log once, with its first cause. */
static void report_fault(void *user, const pool_fault *fault)
{
    (void)user;
    fprintf(
        stderr, "fault of the %s: %s\n", pool_error_class_name(fault->error_class), fault->message);
}

/* Builds a small tree on each device, so that no job waits for the compiler or detects a defective
 * device. */
static void warm_up(void)
{
    struct job job = {.log_leaves = 1, .deadline = UINT64_MAX};
    uint8_t root[ELEMENT];

    for (size_t i = 0; i < pool_device_count(service.pool); i++) {
        struct work work = {0};
        pool_device *device;

        if (pool_device_at(service.pool, i, &device) || work_run(&work, &job, device, root))
            fprintf(stderr, "device %zu: %s\n", i, pool_last_error()->message);
        work_end(&work);
    }
}

static int start(const char *devices)
{
    pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .fault_hook = report_fault};
    pool_status status = pool_create(&service.pool, &params);

    if (!status)
        status = pool_poseidon_by_name("circom-bn254-t3", &service.set);
    if (!status)
        return 0;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    return pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1;
}

/* pool_destroy would wait for a kernel that never ends. */
static void give_up(int unused)
{
    static const char text[] = "a device does not finish its work; left to the operating system\n";

    (void)unused;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(EXIT_AGAIN);
}

/* Handles signals until one requests draining. */
static void operate(const sigset_t *signals)
{
    int signal_number = 0;

    while (!sigwait(signals, &signal_number) && signal_number == SIGUSR1)
        print_metrics();
}

int main(int count, char **arguments)
{
    int workers = count > 2 ? atoi(arguments[2]) : 4, code;
    pthread_t threads[MAX_WORKERS], input;
    sigset_t signals;

    if (workers < 1 || workers > MAX_WORKERS)
        return fprintf(stderr, "1 to %d workers\n", MAX_WORKERS), 1;
    /* Before any thread exists, so that all threads block these signals for sigwait. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    code = start(count > 1 ? arguments[1] : NULL);
    if (code)
        return code;
    warm_up();
    for (int i = 0; i < workers; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL))
            return 1;
    if (pthread_create(&input, NULL, reader, NULL))
        return 1;
    fprintf(stderr, "ready: %zu devices, %d workers\n", pool_usable_count(service.pool), workers);

    operate(&signals);

    pthread_cancel(input); /* it may be waiting for input */
    pthread_join(input, NULL);
    pthread_mutex_lock(&service.lock);
    service.is_draining = 1;
    pthread_cond_broadcast(&service.changed);
    pthread_mutex_unlock(&service.lock);
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    print_metrics();
    signal(SIGALRM, give_up);
    alarm(END_SECONDS);
    pool_poseidon_destroy(&service.set);
    if (pool_destroy(&service.pool)) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        return 1;
    }
    fprintf(stderr, "drained\n");
    return service.is_lost ? EXIT_AGAIN : 0;
}
