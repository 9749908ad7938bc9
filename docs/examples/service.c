/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small prover service: HTTP on the loopback interface, or on the address of -a. It has no login
 * and no encryption: other hosts reach it through a proxy that has.
 *
 *     POST /prove/KEY   body: a .wtns file. Answer: {"proof": ..., "publicSignals": ...} of Groth16
 *                       under the zkey that the command line registers as KEY.
 *     POST /root        body: packed elements of 32 bytes. Answer: the root of their Poseidon tree
 *                       in hexadecimal.
 *     GET /metrics      pool_metrics, for Prometheus
 *     GET /healthz      200, or 503 while the service drains or has no usable device
 *
 * Each accepted request gets a thread, which acquires a lease: the pool decides when and where the
 * job runs. Keys stay on the devices as long as their memory is not needed otherwise. The
 * connection's own thread waits for the result, but only until the request's deadline, so that a
 * device that hangs delays no answer. Every request gets one complete answer: 4xx with the reason
 * if it is wrong, 503 with the reason if it cannot be served now.
 *
 * A device whose work makes no progress is quarantined, and abandoned if that lasts: what it had is
 * then repeated on another device, so that a request survives a device that hangs.
 *
 * SIGTERM and SIGINT drain: new requests get 503, accepted ones are answered, everything is
 * released. Exit codes: 0 drained; 75 a sticky fault, or a device that was abandoned, so that the
 * supervisor has to start the service again; 77 no device; 1 another failure.
 *
 * The jobs are in service_jobs.c, the prover is that of `devicepool prove`. Build with an installed
 * library and libmicrohttpd: make service
 *
 * Usage (port 0, the default: any free port, which is printed):
 *
 *     service [-d DEVICES] [-a ADDRESS] [-p PORT] [-t MILLISECONDS] [-q REQUESTS]
 *         [--status-socket PATH] [KEY=FILE.zkey]...
 *
 * With devices "workers:all" each device is used by a process of its own: a fault ends that
 * process, and the requests it had are repeated on other devices.
 *
 * Under systemd (Type=notify) it says when it is ready and when it drains, and every second that
 * its supervisor runs (WatchdogSec). -t is the deadline of a request, -q the number of requests
 * that may wait or run. `devicepool top PATH` shows the devices and leases of a service with a
 * status socket.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4, explicit_bzero */
#endif
#include <devicepool.h>

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "service_jobs.h"

#define MAX_KEYS 16
#define MAX_CONNECTIONS 1024 /* further ones are closed */
#define IDLE_SECONDS 30      /* a silent connection is closed */
#define END_SECONDS 5        /* for the jobs that are left after the last answer */
/*
 * The deadline of a request has space for attempts on several devices: a lease lasts for a part of
 * it, after which it is overdue, and a device is stalled that makes no progress for half of that.
 */
#define ATTEMPTS 4
#define LOOK_NS (100 * MILLISECOND) /* between two looks at an attempt's device */
#define WARM_UP_SECONDS 120         /* of a device; without cached kernels they are compiled */
#define EXIT_AGAIN 75
#define EXIT_NO_DEVICE 77
#define MILLISECOND UINT64_C(1000000) /* in nanoseconds */
#define SECOND (1000 * MILLISECOND)

/* One request. The connection and each attempt hold a reference. */
struct request {
    const struct service_key *key; /* NULL: a root */
    size_t length, max_body;
    uint8_t *body;
    int is_too_large;
    uint64_t deadline;
    pthread_cond_t finished;
    /* guarded by service.lock */
    int references;
    struct attempt *attempt; /* the latest one; NULL: it has ended */
    int is_finished;
    unsigned code; /* of the first attempt that has ended, as the next one */
    char *answer;
};

/* A job for a request, with a thread of its own, which a device that hangs keeps for ever: the
 * request then gets another attempt. */
struct attempt {
    struct request *request;
    struct service_job job;
};

static struct service {
    device_pool *pool;
    pool_poseidon *hash;
    struct service_key keys[MAX_KEYS];
    size_t key_count;
    uint64_t timeout_ns;
    unsigned max_jobs;
    const char *status_socket;
    pool_cancel *stop;         /* of the warm-ups */
    _Atomic(uint64_t) stalled; /* a bit for each device that has made no progress */
    atomic_int is_ending;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    unsigned requests; /* without a complete answer */
    unsigned jobs;     /* whose thread runs or waits for a lease; also warm-ups */
    int is_draining;
} service = {.timeout_ns = 60000 * MILLISECOND, .max_jobs = 64, .lock = PTHREAD_MUTEX_INITIALIZER};

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Returns 0 when the deadline has passed. The caller holds service.lock. */
static int wait_until(pthread_cond_t *condition, uint64_t deadline)
{
    struct timespec time = {
        .tv_sec = (time_t)(deadline / SECOND), .tv_nsec = (long)(deadline % SECOND)};

    return pthread_cond_timedwait(condition, &service.lock, &time) != ETIMEDOUT;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* Releases a reference; the caller holds service.lock. */
static void release_request(struct request *request)
{
    if (--request->references)
        return;
    if (request->body)
        explicit_bzero(request->body, request->length); /* a witness is secret */
    free(request->body);
    free(request->answer);
    pthread_cond_destroy(&request->finished);
    free(request);
}

static void *attempt_thread(void *argument)
{
    struct attempt *attempt = argument;
    struct request *request = attempt->request;

    service_job_run(&attempt->job);
    pthread_mutex_lock(&service.lock);
    if (request->attempt == attempt)
        request->attempt = NULL;
    if (request->is_finished) {
        free(attempt->job.answer);
    } else {
        request->is_finished = 1;
        request->code = attempt->job.code;
        request->answer = attempt->job.answer;
        pthread_cond_signal(&request->finished);
    }
    free(attempt);
    release_request(request);
    service.jobs--;
    pthread_cond_signal(&service.changed);
    pthread_mutex_unlock(&service.lock);
    return NULL;
}

/* 0: there is no thread or memory. The caller holds service.lock. */
static int start_attempt(struct request *request)
{
    struct attempt *attempt = calloc(1, sizeof(*attempt));
    pthread_t thread;

    if (!attempt)
        return 0;
    attempt->request = request;
    attempt->job = (struct service_job){.pool = service.pool,
        .hash = service.hash,
        .key = request->key,
        .body = request->body,
        .length = request->length,
        .deadline = request->deadline,
        .duration_ns = service.timeout_ns / ATTEMPTS};
    if (pthread_create(&thread, NULL, attempt_thread, attempt)) {
        free(attempt);
        return 0;
    }
    pthread_detach(thread);
    request->attempt = attempt;
    request->references++;
    service.jobs++;
    return 1;
}

/* Whether the latest attempt is on a device that was abandoned. The caller holds service.lock. */
static int is_stuck(const struct request *request)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *device = request->attempt ? atomic_load(&request->attempt->job.device) : NULL;

    return device && !pool_device_get_info(device, &info) && info.state == POOL_DEVICE_ABANDONED;
}

/* ---- HTTP ----------------------------------------------------------------------------------- */

/* Answers with a copy of `text`. While the service drains, the connection is closed afterwards. */
static enum MHD_Result send_text(
    struct MHD_Connection *connection, unsigned code, const char *text, int is_last)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
        text[0] == '{' ? "application/json" : "text/plain; version=0.0.4; charset=utf-8");
    if (is_last)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* Starts the job and waits for it, until the deadline of the request and no longer. */
static enum MHD_Result run_request(struct MHD_Connection *connection, struct request *request)
{
    const char *refusal = NULL, *answer;
    unsigned code = MHD_HTTP_SERVICE_UNAVAILABLE;
    int is_last;

    request->deadline = service_now() + service.timeout_ns;
    pthread_mutex_lock(&service.lock);
    if (service.is_draining)
        refusal = "the service is draining\n";
    else if (service.jobs >= service.max_jobs)
        refusal = "the queue is full\n";
    else if (!start_attempt(request))
        refusal = "no thread for the request\n";
    answer = refusal;
    if (!refusal) {
        while (!request->is_finished && service_now() < request->deadline) {
            uint64_t next = service_now() + LOOK_NS;

            wait_until(&request->finished, next < request->deadline ? next : request->deadline);
            if (!request->is_finished && is_stuck(request))
                start_attempt(request);
        }
        code = request->is_finished && request->answer ? request->code : code;
        answer = request->is_finished ? request->answer : "the deadline has passed\n";
    }
    is_last = service.is_draining;
    pthread_mutex_unlock(&service.lock);
    return send_text(connection, code, answer ? answer : "out of host memory\n", is_last);
}

static enum MHD_Result serve_metrics(struct MHD_Connection *connection)
{
    char *text = NULL;
    pool_status status = pool_metrics(service.pool, POOL_METRICS_PROMETHEUS, &text);
    enum MHD_Result result = status ? send_text(connection, 503, pool_last_error()->message, 0)
                                    : send_text(connection, 200, text, 0);

    pool_text_free(&text);
    return result;
}

static enum MHD_Result serve_health(struct MHD_Connection *connection)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    char text[sizeof(health.first_cause) + 128];
    int is_draining, is_healthy;

    pthread_mutex_lock(&service.lock);
    is_draining = service.is_draining;
    pthread_mutex_unlock(&service.lock);
    is_healthy = !pool_get_health(service.pool, &health) && health.harmed != POOL_CLASS_PROCESS &&
                 health.usable_devices;
    snprintf(text, sizeof(text), "%s: %u of %u devices are usable\n%s\n",
        !is_healthy   ? "unhealthy"
        : is_draining ? "draining"
                      : "healthy",
        health.usable_devices, health.devices, health.first_cause);
    return send_text(connection, is_healthy && !is_draining ? 200 : 503, text, is_draining);
}

/* Finds what a POST asks for; NULL: no such path. */
static struct request *create_request(const char *path)
{
    const struct service_key *key = NULL;
    struct request *request;

    for (size_t i = 0; i < service.key_count && !strncmp(path, "/prove/", 7); i++)
        if (!strcmp(path + 7, service.keys[i].name))
            key = &service.keys[i];
    if ((!key && strcmp(path, "/root") != 0) || !(request = calloc(1, sizeof(*request))))
        return NULL;
    request->key = key;
    request->max_body = key ? key->max_body : (size_t)SERVICE_MAX_LEAVES * SERVICE_ELEMENT;
    request->references = 1;
    init_condition(&request->finished);
    return request;
}

/* A body that is too large is received, so that the client can read the answer, but not stored. */
static void store_body(struct request *request, const char *data, size_t bytes)
{
    if (!request->body)
        request->body = malloc(request->max_body);
    if (request->is_too_large || !request->body || bytes > request->max_body - request->length) {
        request->is_too_large = 1;
        return;
    }
    memcpy(request->body + request->length, data, bytes);
    request->length += bytes;
}

static enum MHD_Result serve_post(struct MHD_Connection *connection, struct request *request)
{
    char text[128];

    if (request->is_too_large) {
        snprintf(text, sizeof(text), "the body exceeds %zu bytes\n", request->max_body);
        return send_text(connection, MHD_HTTP_CONTENT_TOO_LARGE, text, 0);
    }
    if (!request->length || (!request->key && request->length % SERVICE_ELEMENT)) {
        snprintf(text, sizeof(text), "the body has %zu bytes, expected %s\n", request->length,
            request->key ? "a .wtns file" : "elements of 32 bytes");
        return send_text(connection, MHD_HTTP_BAD_REQUEST, text, 0);
    }
    return run_request(connection, request);
}

/* *state: NULL at the first call of a request, then its struct request, or &service where it is no
 * job. */
static enum MHD_Result serve(void *unused, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *data, size_t *bytes, void **state)
{
    int is_post = !strcmp(method, MHD_HTTP_METHOD_POST);

    (void)unused;
    (void)version;
    if (!*state) {
        *state = is_post ? create_request(path) : NULL;
        if (!*state)
            *state = &service;
        pthread_mutex_lock(&service.lock);
        service.requests++;
        pthread_mutex_unlock(&service.lock);
        return MHD_YES;
    }
    if (*bytes) {
        if (*state != &service)
            store_body(*state, data, *bytes);
        *bytes = 0;
        return MHD_YES;
    }
    if (*state != &service)
        return serve_post(connection, *state);
    if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 && strcmp(path, "/metrics") == 0)
        return serve_metrics(connection);
    if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 && strcmp(path, "/healthz") == 0)
        return serve_health(connection);
    return send_text(connection, MHD_HTTP_NOT_FOUND,
        "not found: POST /prove/KEY, POST /root, GET /metrics and GET /healthz are served\n", 0);
}

static void end_request(void *unused, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode reason)
{
    (void)unused;
    (void)connection;
    (void)reason;
    if (!*state)
        return;
    pthread_mutex_lock(&service.lock);
    if (*state != &service)
        release_request(*state);
    service.requests--;
    pthread_cond_signal(&service.changed);
    pthread_mutex_unlock(&service.lock);
    *state = NULL;
}

static struct MHD_Daemon *start_server(struct in_addr at, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = at};

    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                                MHD_USE_POLL | MHD_USE_ITC,
        port, NULL, NULL, serve, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
        MHD_OPTION_END);
}

/* ---- start and end -------------------------------------------------------------------------- */

/* Writes the first cause into the operator's log when it happens. After a sticky fault the
 * requests in progress fail at once, so that draining takes no time. A fault of one device that has
 * unfinished kernels is that it makes no progress. */
static void report_fault(void *unused, const pool_fault *fault)
{
    (void)unused;
    fprintf(
        stderr, "fault of the %s: %s\n", pool_error_class_name(fault->error_class), fault->message);
    if (fault->error_class == POOL_CLASS_PROCESS)
        kill(getpid(), SIGTERM);
    else if (fault->kernel_count)
        atomic_fetch_or(&service.stalled, UINT64_C(1) << pool_device_index(fault->device));
}

/* Tells the service manager, if there is one: "READY=1", "STOPPING=1", "WATCHDOG=1". */
static void notify_manager(const char *message)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = path ? strlen(path) : 0;
    int manager;

    if (!length || length >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* an abstract address */
        address.sun_path[0] = 0;
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)sendto(manager, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&address,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(manager);
}

/* Stalled devices get no new leases. A second later they are in service again or given up. */
static void *supervise_devices(void *unused)
{
    const struct timespec second = {.tv_sec = 1};
    pool_health_info health = {.struct_size = sizeof(health)};
    uint64_t suspected = 0;
    pool_device *device;

    while (!atomic_load(&service.is_ending)) {
        nanosleep(&second, NULL);
        notify_manager("WATCHDOG=1");
        pool_get_health(service.pool, &health);
        for (size_t i = 0; suspected >> i && !pool_device_at(service.pool, i, &device); i++)
            if (suspected >> i & 1 && health.stalled_devices)
                pool_device_abandon(device, "its work makes no progress");
            else if (suspected >> i & 1 && !pool_device_probe(device, SECOND))
                pool_device_resume(device);
        suspected = atomic_exchange(&service.stalled, 0);
        for (size_t i = 0; suspected >> i && !pool_device_at(service.pool, i, &device); i++)
            if (suspected >> i & 1)
                pool_device_quarantine(device, "its work makes no progress");
    }
    return unused;
}

/* Registers KEY=FILE. */
static pool_status register_key(char *argument)
{
    char *path = strchr(argument, '=');
    pool_status status;

    if (!path || service.key_count == MAX_KEYS) {
        fprintf(stderr, "%s: expected KEY=FILE.zkey, at most %d\n", argument, MAX_KEYS);
        exit(1);
    }
    *path++ = 0;
    status = service_key_open(&service.keys[service.key_count], service.pool, argument, path);
    service.key_count += !status;
    return status;
}

/* So that no request waits for the compiler; this finds bad devices too. Each device has a thread:
 * one that hangs delays neither the others nor the end. */
static void *warm_up_thread(void *argument)
{
    pool_device *device = argument;
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = device,
        .cancel = service.stop,
        .timeout_ns = WARM_UP_SECONDS * SECOND};
    pool_status status = pool_poseidon_warm_up(service.hash, &exec);

    for (size_t i = 0; !status && i < service.key_count; i++)
        status = service_key_warm_up(&service.keys[i], &exec);
    if (status && status != POOL_ERR_CANCELLED)
        fprintf(stderr, "device %d: %s\n", pool_device_index(device), pool_last_error()->message);
    /* A device that is quarantined hangs: it has not returned from a call. */
    if (pool_device_resume(device) == POOL_ERR_BUSY)
        pool_device_abandon(device, "its warm-up does not end");
    pthread_mutex_lock(&service.lock);
    service.jobs--;
    pthread_cond_signal(&service.changed);
    pthread_mutex_unlock(&service.lock);
    return NULL;
}

/* Devices get no requests before they are warm, so they are drained; requests wait for them. */
static void warm_up(void)
{
    pool_device *device;
    pthread_t thread;

    for (size_t i = 0; !pool_device_at(service.pool, i, &device); i++) {
        if (pool_device_drain(device))
            continue; /* it is unusable */
        pthread_mutex_lock(&service.lock);
        service.jobs++;
        pthread_mutex_unlock(&service.lock);
        if (pthread_create(&thread, NULL, warm_up_thread, device)) {
            fprintf(stderr, "no thread for the warm-up of device %zu\n", i);
            exit(1);
        }
        pthread_detach(thread);
    }
}

static void start(const char *devices, char **keys)
{
    const pool_params params = {.struct_size = sizeof(params),
        .devices = devices,
        .fault_hook = report_fault,
        .stall_timeout_ns = service.timeout_ns / ATTEMPTS / 2,
        .status_socket = service.status_socket};
    pool_status status = pool_create(&service.pool, &params);

    if (!status)
        status = pool_cancel_create(&service.stop);
    if (!status)
        status = pool_poseidon_by_name("circom-bn254-t3", &service.hash);
    while (!status && *keys)
        status = register_key(*keys++);
    if (status) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        exit(pool_status_class(status) == POOL_CLASS_HOST ? EXIT_NO_DEVICE : 1);
    }
    warm_up();
}

/* Waits until every request has its complete answer. */
static void finish_requests(void)
{
    uint64_t deadline = service_now() + service.timeout_ns + IDLE_SECONDS * SECOND;

    pthread_mutex_lock(&service.lock);
    while (service.requests && wait_until(&service.changed, deadline))
        ;
    pthread_mutex_unlock(&service.lock);
}

/*
 * Answers all requests, then closes the connections: first those whose answer says so, as all do
 * now, at the end those on which no request comes.
 */
static void drain(struct MHD_Daemon *server)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    uint64_t deadline;
    int listener, connection;

    pthread_mutex_lock(&service.lock);
    service.is_draining = 1;
    pthread_mutex_unlock(&service.lock);
    pool_cancel_request(service.stop);
    finish_requests();
    listener = MHD_quiesce_daemon(server);
    /* Connections that the system has accepted get an answer too. */
    while ((connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        MHD_add_connection(server, connection, NULL, 0);
    close(listener);
    deadline = service_now() + SECOND;
    while (service_now() < deadline &&
           MHD_get_daemon_info(server, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections)
        nanosleep(&pause, NULL);
    finish_requests();
    MHD_stop_daemon(server);
}

/* Releases everything. A job inside a driver call that never returns cannot be ended: then all is
 * left to the operating system. */
static int end(pthread_t supervisor)
{
    pool_health_info health = {.struct_size = sizeof(health)};
    uint64_t deadline = service_now() + END_SECONDS * SECOND;

    pthread_mutex_lock(&service.lock);
    while (service.jobs && wait_until(&service.changed, deadline))
        ;
    if (service.jobs) {
        fprintf(stderr, "%u jobs on a device that hangs do not end\n", service.jobs);
        _exit(EXIT_AGAIN);
    }
    pthread_mutex_unlock(&service.lock);
    atomic_store(&service.is_ending, 1);
    pthread_join(supervisor, NULL);
    pool_get_health(service.pool, &health);
    for (size_t i = 0; i < service.key_count; i++)
        service_key_close(&service.keys[i]);
    pool_poseidon_destroy(&service.hash);
    pool_cancel_destroy(&service.stop);
    if (pool_destroy(&service.pool)) {
        fprintf(stderr, "%s\n", pool_last_error()->message);
        return 1;
    }
    fprintf(stderr, "drained\n");
    return health.harmed == POOL_CLASS_PROCESS || health.abandoned_devices ? EXIT_AGAIN : 0;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {{"status-socket", required_argument, NULL, 's'}, {0}};
    const char *devices = NULL;
    struct MHD_Daemon *server;
    pthread_t supervisor;
    struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
    char text[INET_ADDRSTRLEN] = "";
    uint16_t port = 0;
    sigset_t signals;
    int option, signal_number;

    while ((option = getopt_long(count, arguments, "a:d:p:t:q:", options, NULL)) != -1) {
        switch (option) {
        case 'a':
            if (inet_pton(AF_INET, optarg, &address) != 1) {
                fprintf(stderr, "-a takes an address such as 0.0.0.0, not '%s'\n", optarg);
                return 1;
            }
            break;
        case 'd':
            devices = optarg;
            break;
        case 'p':
            port = (uint16_t)atoi(optarg);
            break;
        case 't':
            service.timeout_ns = strtoull(optarg, NULL, 10) * MILLISECOND;
            break;
        case 'q':
            service.max_jobs = (unsigned)atoi(optarg);
            break;
        case 's':
            service.status_socket = optarg;
            break;
        default:
            fprintf(stderr, "service [-d DEVICES] [-a ADDRESS] [-p PORT] [-t MILLISECONDS] "
                            "[-q REQUESTS] [--status-socket PATH] [KEY=FILE.zkey]...\n");
            return 1;
        }
    }
    /* Before any thread exists, so that all of them leave these signals to sigwait. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    init_condition(&service.changed);

    start(devices, arguments + optind);
    server = start_server(address, port);
    if (!server || pthread_create(&supervisor, NULL, supervise_devices, NULL)) {
        fprintf(stderr, "port %u: %s\n", port, strerror(errno));
        return 1;
    }
    notify_manager("READY=1");
    fprintf(stderr, "ready: http://%s:%u, %zu devices\n",
        inet_ntop(AF_INET, &address, text, sizeof(text)),
        MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port,
        pool_device_count(service.pool));
    sigwait(&signals, &signal_number);
    notify_manager("STOPPING=1");
    drain(server);
    return end(supervisor);
}
