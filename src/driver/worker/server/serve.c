/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a worker process: it maps what it shares with the client, starts the driver, runs a
 * thread for each ring, and ends when the client's end of the lifeline closes.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/thread.h"
#include "driver/driver.h"
#include "driver/sim/table/sim.h"
#include "driver/worker/futex.h"
#include "driver/worker/ring.h"
#include "driver/worker/server/server.h"

/* --- start ------------------------------------------------------------------------------------ */

_Noreturn void server_fail(struct worker_shared *shared, const char *text)
{
    base_text_copy(shared->text, sizeof(shared->text), text);
    atomic_store(&shared->phase, WORKER_FAILED);
    _exit(WORKER_EXIT_START);
}

/* At the client's address, so that kernels can use the address of pinned memory as it is; if that
 * is occupied here, anywhere. */
static void map_arena(struct server *server, const struct worker_config *config, int descriptor)
{
    void *wanted = (void *)(uintptr_t)config->arena_base;
    struct stat status;
    void *mapped;

    if (fstat(descriptor, &status) || (uint64_t)status.st_size < config->arena_bytes)
        server_fail(server->shared, "the arena of pinned memory is smaller than the client says");
    mapped = mmap(wanted, (size_t)config->arena_bytes, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
    if (mapped == MAP_FAILED)
        mapped = mmap(NULL, (size_t)config->arena_bytes, PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (mapped == MAP_FAILED)
        server_fail(server->shared, "the arena of pinned memory cannot be mapped");
    close(descriptor);
    server->arena = mapped;
    server->arena_bytes = config->arena_bytes;
    server->client_arena = config->arena_base;
}

/* The driver then places its memory elsewhere, so that no two workers have equal addresses. */
static void block_addresses(const struct worker_config *config)
{
    if (config->blocked_bytes)
        (void)mmap((void *)(uintptr_t)config->blocked_base, (size_t)config->blocked_bytes,
            PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static const pool_cuda_api *open_driver(
    struct worker_shared *shared, const struct worker_config *config)
{
    const pool_cuda_api *api = NULL;
    struct driver *driver;
    pool_status status;

    if (config->devices[0]) {
        sim_reserve_at(config->region_base, config->region_bytes);
        status = sim_open(config->devices, &api);
        if (!status && api->Init(0))
            status = POOL_ERR_INTERNAL;
        base_text_copy(shared->library, sizeof(shared->library), "simulated");
    } else {
        status = driver_open(NULL, &driver);
        if (!status) {
            api = &driver->api;
            base_text_copy(shared->library, sizeof(shared->library), driver->path);
        }
    }
    if (status)
        server_fail(shared, pool_last_error()->message);
    server_take_step(SERVER_STEP_DRIVER);
    return api;
}

static void publish_driver(struct worker_shared *shared, const pool_cuda_api *api)
{
    unsigned number = 0;
    int version = 0;

#define PUBLISH(field, symbol, suffix, version, need, parameters)                                  \
    if (api->field)                                                                                \
        shared->functions[number / 64] |= UINT64_C(1) << number % 64;                              \
    number++;
    POOL_CUDA_FUNCTIONS(PUBLISH)
#undef PUBLISH
    api->DriverGetVersion(&version);
    shared->driver_version = version;
    shared->driver_flags = (uint32_t)api->flags;
}

/* --- rings ------------------------------------------------------------------------------------ */

static bool is_never_over(void *user)
{
    (void)user;
    return false; /* the main thread ends the process */
}

static void *serve_ring(void *user)
{
    struct server_thread *thread = user;
    struct ring_reader reader;
    struct worker_reply *reply = base_calloc(1, sizeof(*reply));
    union {
        struct worker_header header;
        uint64_t words[WORKER_MESSAGE_BYTES / 8];
    } message;
    bool has_reply, is_waited_for;

    if (!reply)
        _exit(WORKER_EXIT_START);
    ring_reader_open(
        &reader, thread->ring, thread->server->shared->config.spin_ns, &thread->server->spin);
    for (;;) {
        if (ring_receive(&reader, &message.header, is_never_over, NULL) != RING_OK)
            _exit(WORKER_EXIT_PROTOCOL);
        is_waited_for = message.header.flags & WORKER_FLAG_WAITS;
        server_take_step(is_waited_for ? SERVER_STEP_CALL : SERVER_STEP_POSTED);
        if (!server_execute(thread, &message.header, reply, &has_reply))
            _exit(WORKER_EXIT_PROTOCOL);
        server_take_step(is_waited_for ? SERVER_STEP_EXECUTED : SERVER_STEP_DONE);
        ring_complete(&reader, has_reply ? reply : NULL);
        if (is_waited_for)
            server_take_step(SERVER_STEP_REPLY);
    }
    return NULL;
}

static void start_ring(struct server *server, struct worker_ring *ring)
{
    struct server_thread *thread = base_calloc(1, sizeof(*thread));
    pthread_t started;

    server_take_step(SERVER_STEP_RING);
    if (!thread)
        _exit(WORKER_EXIT_START);
    thread->server = server;
    thread->ring = ring;
    thread->stage = ring->stage;
    if (!base_thread_start(&started, serve_ring, thread))
        _exit(WORKER_EXIT_START);
    pthread_detach(started);
}

/* Starts a thread for each ring that the client activates. */
static void *accept_rings(void *user)
{
    struct server *server = user;
    struct worker_shared *shared = server->shared;
    bool is_served[WORKER_RINGS] = {false};

    for (;;) {
        unsigned activations = atomic_load(&shared->activations);

        atomic_fetch_add(&shared->beats, 1);
        for (unsigned i = 0; i < WORKER_RINGS; i++) {
            if (!is_served[i] && atomic_load(&shared->rings[i].is_active)) {
                is_served[i] = true;
                start_ring(server, &shared->rings[i]);
            }
        }
        worker_futex_wait(&shared->activations, activations, WORKER_SLEEP_NS);
    }
    return NULL;
}

void server_run(struct worker_shared *shared, int lifeline, int arena, int passing)
{
    struct worker_config config = shared->config;
    struct pollfd end = {.fd = lifeline, .events = POLLIN};
    const char ready = 'r';
    struct server *server = base_calloc(1, sizeof(*server));
    pthread_t acceptor;

    config.devices[sizeof(config.devices) - 1] = '\0';
    if (shared->build != worker_build())
        server_fail(shared, SERVER_OTHER_BUILD);
    if (!server)
        server_fail(shared, "out of memory");
    block_addresses(&config);
    atomic_store(&shared->phase, WORKER_OPENING_DRIVER);
    server_init(server, open_driver(shared, &config), config.ordinal);
    server->shared = shared;
    server->passing = passing;
    server->spin =
        (struct ring_spin){.long_ns = &shared->long_spin_ns, .most = config.long_spinners};
    map_arena(server, &config, arena);
    publish_driver(shared, server->api);
    server_take_step(SERVER_STEP_TABLE);
    if (!base_thread_start(&acceptor, accept_rings, server))
        server_fail(shared, "no thread can be started");
    atomic_store(&shared->phase, WORKER_READY);
    server_take_step(SERVER_STEP_READY);
    if (write(lifeline, &ready, 1) != 1)
        _exit(WORKER_EXIT_PARENT);
    server_take_step(SERVER_STEP_NOTIFIED);
    /* The client never writes: the descriptor becomes readable when it ends. */
    while (poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
    server_take_step(SERVER_STEP_END);
    _exit(WORKER_EXIT_PARENT);
}
