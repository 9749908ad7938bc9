/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank fails at every message of every operation: the operation ends on all ranks, and the
 * failure names the rank. Started by mpirun.
 *
 *   test_failures all            every message, of rank 0 and of the last rank
 *   test_failures kill POINT     the last rank ends itself by SIGKILL at message POINT of one run
 *                                of all operations
 *   test_failures kill random    another process ends the last rank by SIGKILL at a random time
 *
 * The functions of MPI that the library calls are intercepted here (MPI's profiling interface). A
 * rank that has failed in `all` sends nothing from then on, and its calls of MPI are errors. Time
 * is not the host's there: the library's clock counts how often every rank that is in an operation
 * has polled MPI, so that a deadline passes when all of them wait and no message arrives, and never
 * because the host is slow. See meson.build.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mpi.h>

#include "support/assert.h"
#include "support/pool.h"

#include "operations.h"

/* A deadline passes after this many polls, more than the library makes without its clock. */
enum { TIMEOUT_POLLS = 2500, EXCHANGE_TAG = 3 };

/* Shared by all ranks. */
struct progress {
    _Atomic uint64_t now;  /* it passes when every active rank has polled at this time */
    _Atomic int survivors; /* that have been notified */
    struct {
        atomic_bool is_active; /* in an operation; others do not hold up time */
        _Atomic uint64_t polled_at;
        _Atomic uint64_t polls;
    } of[MOST_RANKS];
};

static struct progress *progress;
static bool has_virtual_time, is_dead, is_fatal, is_random;
static unsigned posts, fatal_post; /* this rank fails at its message of this number; 0: never */
static bool is_counting;           /* in an operation of the library */

/* ---- time ------------------------------------------------------------------------------------ */

static void count_poll(void)
{
    uint64_t now = atomic_load(&progress->now);

    atomic_store(&progress->of[rank].polled_at, now);
    atomic_fetch_add(&progress->of[rank].polls, 1);
    if (!atomic_load(&progress->of[rank].is_active))
        return;
    for (int i = 0; i < ranks; i++)
        if (atomic_load(&progress->of[i].is_active) &&
            atomic_load(&progress->of[i].polled_at) != now)
            return;
    atomic_compare_exchange_strong(&progress->now, &now, now + 1);
}

/* In place of clock_gettime and nanosleep in the library. */
int ranks_clock(clockid_t clock, struct timespec *time);
int ranks_clock(clockid_t clock, struct timespec *time)
{
    if (!has_virtual_time)
        return clock_gettime(clock, time);
    *time = (struct timespec){.tv_sec = (time_t)atomic_load(&progress->now)};
    return 0;
}

int ranks_sleep(const struct timespec *duration, struct timespec *rest);
int ranks_sleep(const struct timespec *duration, struct timespec *rest)
{
    return has_virtual_time ? sched_yield() : nanosleep(duration, rest);
}

static void set_active(bool is_active)
{
    atomic_store(&progress->of[rank].polled_at, UINT64_MAX);
    atomic_store(&progress->of[rank].is_active, is_active);
}

static void meet(void)
{
    PMPI_Barrier(MPI_COMM_WORLD);
}

/* ---- SIGKILL --------------------------------------------------------------------------------- */

/* The time passes without this rank. */
static void end_by_signal(void)
{
    set_active(false);
    raise(SIGKILL);
}

/* Another process ends this one, wherever it is by then. */
static void end_at_random_time(void)
{
    const pid_t parent = getpid();
    unsigned microseconds = 0;

    assert_int_equal(getentropy(&microseconds, sizeof(microseconds)), 0);
    microseconds %= 100000;
    printf("rank %d is killed after %u us\n", rank, microseconds);
    fflush(NULL);
    if (fork())
        return;
    usleep(microseconds);
    kill(parent, SIGKILL);
    while (getppid() == parent)
        sched_yield();
    set_active(false);
    _exit(0);
}

/* ---- MPI ------------------------------------------------------------------------------------- */

static void log_call(char call);

static bool fails_now(void)
{
    if (is_counting && ++posts == fatal_post) {
        if (is_fatal)
            end_by_signal();
        is_dead = true;
    }
    return is_dead;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int target, int tag,
    MPI_Comm communicator, MPI_Request *request)
{
    if (tag == EXCHANGE_TAG)
        log_call('X');
    return fails_now() ? MPI_ERR_OTHER
                       : PMPI_Isend(data, count, type, target, tag, communicator, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
    MPI_Request *request)
{
    return fails_now() ? MPI_ERR_OTHER
                       : PMPI_Irecv(data, count, type, source, tag, communicator, request);
}

int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status)
{
    int code = is_dead ? MPI_ERR_OTHER : PMPI_Test(request, is_done, status);

    count_poll();
    if (code == MPI_SUCCESS && !*is_done)
        sched_yield(); /* to a rank that holds up time */
    return code;
}

/* ---- the order of a batch -------------------------------------------------------------------- */

/* What the library does, in order: N an NTT is enqueued, S the call's stream is waited for, X the
 * messages of an exchange. */
static char calls[64];
static pool_stream *logged_stream;
static bool has_no_streams; /* none can be created */

static void log_call(char call)
{
    const size_t length = strlen(calls);

    if (logged_stream && length + 1 < sizeof(calls) &&
        (!length || calls[length - 1] != call || call == 'N'))
        calls[length] = call;
}

/* In place of these functions in the library. */
pool_status ranks_ntt(const pool_ntt_params *params, const pool_exec *exec, const pool_span *in,
    const pool_span *out);
pool_status ranks_ntt(
    const pool_ntt_params *params, const pool_exec *exec, const pool_span *in, const pool_span *out)
{
    log_call('N');
    return pool_ntt(params, exec, in, out);
}

pool_status ranks_synchronize(pool_stream *stream);
pool_status ranks_synchronize(pool_stream *stream)
{
    if (stream == logged_stream)
        log_call('S');
    return pool_stream_synchronize(stream);
}

pool_status ranks_stream_create(
    pool_device *of, const pool_stream_params *params, pool_stream **stream);
pool_status ranks_stream_create(
    pool_device *of, const pool_stream_params *params, pool_stream **stream)
{
    return has_no_streams ? POOL_ERR_OUT_OF_DEVICE_MEMORY : pool_stream_create(of, params, stream);
}

/* ---- creation -------------------------------------------------------------------------------- */

static pool_status create_group(void)
{
    const pool_mpi_params params = {.struct_size = sizeof(params),
        .device = device,
        .timeout_ns =
            has_virtual_time ? TIMEOUT_POLLS * UINT64_C(1000000000) : UINT64_C(10000000000),
        .chunk_bytes = 32};

    return pool_mpi_create(MPI_COMM_WORLD, &params, &group);
}

/* ---- a rank that fails at every message ------------------------------------------------------ */

static void assert_named(int victim)
{
    char text[32];

    snprintf(text, sizeof(text), "rank %d", victim);
    assert_says(text);
}

/* The status is a failure that names the victim, and every later call fails at once. */
static void check_survivor(int victim, pool_status (*run)(void), pool_status status)
{
    pool_mpi_info info = {.struct_size = sizeof(info)};

    assert_true(status != POOL_OK);
    assert_named(victim);
    if (!group) /* it could not be created */
        return;
    assert_ok(pool_mpi_get_info(group, &info));
    assert_int_equal(info.status, status);
    assert_int_equal(info.failed_rank, victim);
    assert_int_equal(run(), status);
    assert_says("no longer in step");
    assert_named(victim);
}

/* Returns whether the victim has failed: its operation has at least `post` messages. A survivor
 * that was notified of success before rank 0 failed knows at the end of the next operation. */
static bool fail_at(int victim, unsigned post, pool_status (*run)(void))
{
    int has_failed;
    pool_status status;

    if (run != create_group)
        assert_ok(create_group());
    meet();
    set_active(true);
    meet();
    posts = 0;
    fatal_post = rank == victim ? post : 0;
    is_counting = true;
    status = run();
    has_failed = is_dead;
    if (rank == victim)
        assert_int_equal(is_dead, status != POOL_OK);
    else if (status)
        check_survivor(victim, run_ntt, status);
    set_active(false);
    is_counting = false;
    PMPI_Bcast(&has_failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    if (!has_failed)
        assert_int_equal(status, POOL_OK);
    if (has_failed && rank != victim && !status) {
        set_active(true);
        status = run_ntt();
        check_survivor(victim, run_ntt, status);
        set_active(false);
    }
    meet();
    is_dead = false;
    fatal_post = 0;
    assert_ok(pool_mpi_destroy(&group));
    return has_failed;
}

static void fail_at_every_message(const char *name, pool_status (*run)(void))
{
    const int victims[] = {ranks - 1, 0};

    for (int v = 0; v < 2; v++) {
        unsigned post = 1;

        while (fail_at(victims[v], post, run))
            post++;
        assert_true(post > 2);
        if (rank == 0)
            printf("%s: rank %d has failed at each of %u messages\n", name, victims[v], post - 1);
    }
}

static void test_create(void **state)
{
    (void)state;
    fail_at_every_message("creation", create_group);
}

static void test_operations(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++)
        fail_at_every_message(operations[i].name, operations[i].run);
}

/* ---- batches --------------------------------------------------------------------------------- */

static pool_status compute_batch(bool extends, uint64_t batch)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name("babybear"),
        .log_size = 5};
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = batch};
    pool_ntt_extend_params extend = {
        .struct_size = sizeof(extend), .log_blowup = 1, .batch = batch};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device, .stream = logged_stream};
    uint32_t elements[96] = {1}, results[96];
    const uint64_t share = 32 / (uint64_t)ranks;
    const pool_span whole = {.data = elements, .count = batch * share};
    const pool_span half = {.data = elements, .count = batch * share / 2};
    const pool_span out = {.data = results, .count = batch * share};
    pool_status status;

    memset(calls, 0, sizeof(calls));
    assert_ok(pool_ntt_domain_create(&domain_params, &params.domain));
    extend.domain = params.domain;
    status = extends ? pool_mpi_extend(group, &extend, &exec, POOL_MPI_CYCLIC, &half, NULL, &out)
                     : pool_mpi_ntt(group, &params, &exec, POOL_MPI_CYCLIC, &whole, &out);
    assert_ok(pool_ntt_domain_destroy(&params.domain));
    return status;
}

/* The messages of a job are sent after the next one's computation was enqueued, without waiting for
 * it. Where a rank cannot do that, none does, because exchanges have one order. */
static void test_overlap(void **state)
{
    (void)state;
    assert_ok(create_group());
    assert_ok(pool_stream_create(device, NULL, &logged_stream));
    assert_ok(compute_batch(false, 1));
    assert_string_equal(calls, "NSXSNS");
    has_no_streams = rank == ranks - 1;
    assert_ok(compute_batch(false, 3));
    assert_string_equal(calls, "NSXSNNSXSNNSXSNS");
    has_no_streams = false;
    assert_ok(compute_batch(false, 3));
    assert_string_equal(calls, "NNXNNXNXNS");
    assert_ok(compute_batch(true, 2));
    assert_string_equal(calls, "NNXNNXNNXNXNS");
    assert_ok(pool_stream_destroy(&logged_stream));
    assert_ok(pool_mpi_destroy(&group));
}

/* ---- slow ranks ------------------------------------------------------------------------------ */

/* The others wait for a rank that computes. */
static void test_late(void **state)
{
    pool_status status;

    (void)state;
    assert_ok(create_group());
    meet();
    set_active(true);
    meet();
    while (rank == ranks - 1 && atomic_load(&progress->of[0].polls) < 4 * TIMEOUT_POLLS)
        sched_yield();
    status = run_ntt();
    set_active(false);
    assert_ok(status);
    assert_ok(pool_mpi_destroy(&group));
}

/* A rank that exceeds the timeout: the others name it, and so does the rank itself, later. */
static void test_too_late(void **state)
{
    (void)state;
    assert_ok(create_group());
    meet();
    set_active(rank != ranks - 1);
    meet();
    if (rank != ranks - 1) {
        check_survivor(ranks - 1, run_ntt, run_ntt());
        set_active(false);
        meet();
    } else {
        meet();
        set_active(true);
        check_survivor(ranks - 1, run_ntt, run_ntt());
        set_active(false);
    }
    meet();
    /* mpirun tolerates no process that ends here; test_survivors.c has the other case. */
    assert_status(pool_mpi_shrink(NULL, NULL, NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_mpi_shrink(&group, NULL, NULL, NULL), POOL_ERR_UNSUPPORTED);
    assert_non_null(group);
    assert_ok(pool_mpi_destroy(&group));
    assert_status(pool_mpi_shrink(&group, NULL, NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
}

/* ---- a rank that is killed ------------------------------------------------------------------- */

/* Once, or until the rank is killed. */
static pool_status run_operations(void)
{
    pool_status status = POOL_OK;

    do
        for (size_t i = 0; i < OPERATIONS && !status; i++)
            status = operations[i].run();
    while (is_random && !status);
    return status;
}

static void test_killed(void **state)
{
    const bool is_victim = rank == ranks - 1;
    pool_status status;

    (void)state;
    assert_ok(create_group());
    meet();
    set_active(true);
    meet();
    is_counting = true;
    if (is_random && is_victim)
        end_at_random_time();
    status = run_operations();
    if (is_victim)
        end_by_signal(); /* it has fewer messages */
    if (!status)
        status = run_ntt();
    check_survivor(ranks - 1, run_ntt, status);
    set_active(false);
}

/* In a file, because MPICH's process manager may lose output of ranks when one has ended. */
static void report_survivor(const char *what)
{
    const char *path = getenv("RANKS_REPORT");
    FILE *file = path ? fopen(path, "a") : stdout;

    if (file)
        fprintf(file, "rank %d of %d: %s\n", rank, ranks, what);
    fflush(NULL);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* No shared window: MPICH 5.0.2 finds no two ranks on one host. */
static int open_shared(void **state)
{
    char path[] = "/tmp/ranks-XXXXXX";
    int file = rank ? -1 : mkstemp(path);
    bool is_there = rank || (file >= 0 && ftruncate(file, sizeof(*progress)) == 0);

    PMPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank)
        file = open(path, O_RDWR);
    progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    meet();
    if (!rank)
        unlink(path);
    if (file >= 0)
        close(file);
    if (!is_there || progress == MAP_FAILED)
        return -1;
    return open_pool(state) || pool_device_at(pool, 0, &device);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_too_late),
    };
    const struct CMUnitTest killed[] = {cmocka_unit_test(test_killed)};
    int failed, is_there;

    if (MPI_Init(&count, &arguments) != MPI_SUCCESS)
        return 1;
    /* MPICH's process manager sends this to the others when a rank has ended. */
    signal(SIGUSR1, SIG_IGN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2 || ranks > MOST_RANKS)
        return 1;
    device_text = "sim";
    has_virtual_time = true;
    if (count == 3 && strcmp(arguments[1], "kill") == 0) {
        is_fatal = true;
        is_random = strcmp(arguments[2], "random") == 0;
        if (!is_random && rank == ranks - 1)
            fatal_post = (unsigned)strtoul(arguments[2], NULL, 10);
        failed = cmocka_run_group_tests(killed, open_shared, NULL);
        report_survivor(failed ? "failed" : "survived and was notified");
        /* MPI_Finalize waits for the rank that is gone, and MPICH's process manager ends all ranks
         * when one ends without it. */
        atomic_fetch_add(&progress->survivors, 1);
        while (!failed && atomic_load(&progress->survivors) < ranks - 1)
            PMPI_Iprobe(0, 0, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE); /* sends what is left */
        _exit(failed ? 1 : 0);
    }
    failed = cmocka_run_group_tests(all, open_shared, close_pool);
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1); /* the others wait for this rank */
    MPI_Finalize();
    return 0;
}
