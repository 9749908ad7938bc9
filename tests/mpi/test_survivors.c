/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes end by SIGKILL under an MPI that tolerates it (User-Level Failure Mitigation): all
 * ranks that are left return POOL_ERR_IO soon, name the same rank, one that is gone, and continue
 * without it. Started by test_survivors.sh.
 *
 *   test_survivors create POINT      the last rank ends at that call of MPI in pool_mpi_create
 *   test_survivors operations POINT  ... of all operations; "random": at any time of them
 *   test_survivors root_create POINT, root_operations POINT: rank 0 does
 *   test_survivors two POINT         and rank 1 at another one
 *   test_survivors shrink POINT      rank 1 at that call in pool_mpi_shrink, after the last one
 *   test_survivors hang POINT        the last rank stops instead, and continues when it was missed
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mpi.h>
#include <mpi-ext.h>

#include "support/assert.h"
#include "support/pool.h"

#include "operations.h"

/* Far above what a notification may take, far below the timeout. */
enum { SECONDS = 15, TIMEOUT_SECONDS = 120, HANG_SECONDS = 2 };

static bool is_counting;
static unsigned posts, fatal_post;

/* ---- MPI ------------------------------------------------------------------------------------- */

static void count_call(void)
{
    if (is_counting && ++posts == fatal_post)
        raise(SIGKILL);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int target, int tag,
    MPI_Comm communicator, MPI_Request *request)
{
    count_call();
    return PMPI_Isend(data, count, type, target, tag, communicator, request);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm communicator,
    MPI_Request *request)
{
    count_call();
    return PMPI_Irecv(data, count, type, source, tag, communicator, request);
}

int MPIX_Comm_iagree(MPI_Comm communicator, int *flag, MPI_Request *request)
{
    int code;

    count_call();
    code = PMPIX_Comm_iagree(communicator, flag, request);
    count_call();
    return code;
}

int MPIX_Comm_shrink(MPI_Comm communicator, MPI_Comm *smaller)
{
    int code;

    count_call();
    code = PMPIX_Comm_shrink(communicator, smaller);
    count_call();
    return code;
}

/* ---- ranks that end -------------------------------------------------------------------------- */

static bool is_victim(int victim, const char *point)
{
    unsigned microseconds = 0;

    if (rank != victim)
        return false;
    posts = 0;
    if (strcmp(point, "random") != 0) {
        fatal_post = (unsigned)strtoul(point, NULL, 10);
        return true;
    }
    assert_int_equal(getentropy(&microseconds, sizeof(microseconds)), 0);
    microseconds %= 100000;
    printf("rank %d is killed after %u us\n", rank, microseconds);
    fflush(NULL);
    if (!fork()) {
        usleep(microseconds);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    return true;
}

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static pool_status create_group(MPI_Comm communicator, uint64_t timeout_s)
{
    const pool_mpi_params params = {.struct_size = sizeof(params),
        .pool = pool,
        .timeout_ns = timeout_s * 1000000000,
        .chunk_bytes = 32};

    return pool_mpi_create(communicator, &params, &group);
}

/* Until one fails: the victims end in the first round, or in any. */
static pool_status run_operations(void)
{
    pool_status status = POOL_OK;

    while (!status)
        for (size_t i = 0; i < OPERATIONS && !status; i++)
            status = operations[i].run();
    return status;
}

/* Programs are loaded before, so that the ranks' times are those of messages. */
static void create_and_meet(uint64_t timeout_s)
{
    assert_ok(create_group(MPI_COMM_WORLD, timeout_s));
    for (size_t i = 0; i < OPERATIONS; i++)
        assert_ok(operations[i].run());
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void assert_names_rank(int expected)
{
    const char *at = strstr(pool_last_error()->message, " rank");
    bool is_named = false;

    for (; at && *at && !is_named; at++)
        is_named = (*at == ' ') && atoi(at + 1) == expected && at[1] >= '0' && at[1] <= '9';
    if (!is_named)
        fail_msg("rank %d is not named: %s", expected, pool_last_error()->message);
}

/* ---- ranks that are left --------------------------------------------------------------------- */

/* `victims` are the ranks of MPI_COMM_WORLD that end, ascending, at least `least` of them by now:
 * the status names one that is gone. Returns which. */
static int check_failure(pool_status status, double started, const int *victims, int count)
{
    pool_mpi_info info = {.struct_size = sizeof(info)};
    bool is_gone = false;

    assert_status(status, POOL_ERR_IO);
    assert_true(seconds() - started < SECONDS);
    printf("rank %d: %.3f s: %s\n", rank, seconds() - started, pool_last_error()->message);
    assert_ok(pool_mpi_get_info(group, &info));
    for (int i = 0; i < count; i++)
        is_gone |= info.failed_rank == victims[i];
    assert_true(is_gone);
    assert_int_equal(info.status, POOL_ERR_IO);
    assert_int_equal(run_divide(), POOL_ERR_IO);
    assert_says("no longer in step");
    assert_names_rank(info.failed_rank);
    return info.failed_rank;
}

/* All ranks that are left agree on who they are, and on what they were told; and continue. */
static void check_survivors(MPI_Comm survivors, const int32_t *ended, int32_t ended_count,
    const int *victims, int count, int told)
{
    pool_mpi_info info = {.struct_size = sizeof(info)};
    int values[2] = {told, -told}, now = -1, size = 0, place;
    double started = seconds();

    assert_int_equal(ended_count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(ended[i], victims[i]);
    assert_int_equal(MPI_Comm_rank(survivors, &now), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_size(survivors, &size), MPI_SUCCESS);
    assert_int_equal(size, ranks - count);
    place = rank;
    for (int i = 0; i < count; i++)
        place -= victims[i] < rank;
    assert_int_equal(now, place);
    assert_int_equal(
        PMPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_MAX, survivors), MPI_SUCCESS);
    assert_int_equal(values[0], told);
    assert_int_equal(values[1], -told);
    assert_ok(pool_mpi_get_info(group, &info));
    assert_int_equal(info.rank, now);
    assert_int_equal(info.ranks, size);
    assert_int_equal(info.status, POOL_OK);
    assert_int_equal(info.failed_rank, -1);
    rank = now;
    ranks = size;
    for (size_t i = 0; i < OPERATIONS; i++)
        if ((size & (size - 1)) == 0 || operations[i].run == run_msm ||
            operations[i].run == run_divide)
            assert_ok(operations[i].run());
    assert_true(seconds() - started < SECONDS);
    assert_ok(pool_mpi_destroy(&group));
    assert_int_equal(MPI_Comm_free(&survivors), MPI_SUCCESS);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const char *point;
static int victim; /* where there is one */

/* The communicator of the caller keeps its error handler, which would end the job. */
static void test_create(void **state)
{
    const double started = seconds();
    MPI_Errhandler handler;
    pool_status status;

    (void)state;
    (void)is_victim(victim, point);
    is_counting = true;
    status = create_group(MPI_COMM_WORLD, TIMEOUT_SECONDS);
    is_counting = false;
    if (rank == victim)
        raise(SIGKILL); /* it has fewer calls */
    assert_status(status, POOL_ERR_IO);
    assert_says("has ended");
    assert_names_rank(victim);
    assert_null(group);
    assert_true(seconds() - started < SECONDS);
    assert_int_equal(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler), MPI_SUCCESS);
    assert_true(handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void test_operations(void **state)
{
    int32_t ended[MOST_RANKS] = {0}, ended_count = 0;
    MPI_Comm survivors = MPI_COMM_NULL;
    pool_status status;
    double started;
    int told;

    (void)state;
    create_and_meet(TIMEOUT_SECONDS);
    is_counting = is_victim(victim, point);
    started = seconds();
    status = run_operations();
    told = check_failure(status, started, &victim, 1);
    assert_ok(pool_mpi_shrink(&group, &survivors, ended, &ended_count));
    check_survivors(survivors, ended, ended_count, &victim, 1, told);
}

/* The second one may end while the others agree on the first. */
static void test_two(void **state)
{
    const int victims[] = {1, ranks - 1};
    int32_t ended[MOST_RANKS] = {0}, ended_count = 0;
    MPI_Comm survivors = MPI_COMM_NULL;
    pool_status status;
    double started;
    int told;

    (void)state;
    create_and_meet(TIMEOUT_SECONDS);
    is_counting = is_victim(ranks - 1, point) || is_victim(1, point);
    started = seconds();
    status = run_operations();
    if (rank == 1)
        raise(SIGKILL);
    told = check_failure(status, started, victims, 2);
    do {
        status = pool_mpi_shrink(&group, &survivors, ended, &ended_count);
        assert_true(!status || status == POOL_ERR_IO);
    } while (status);
    if (ended_count == 1) { /* the other one ends later, when the next call fails */
        const int other = ended[0] == 1 ? ranks - 2 : 1;

        do
            status = run_msm();
        while (!status);
        assert_status(status, POOL_ERR_IO);
        assert_names_rank(other);
        MPI_Comm_free(&survivors);
        assert_ok(pool_mpi_shrink(&group, &survivors, ended, &ended_count));
        assert_int_equal(ended_count, 1);
        assert_int_equal(ended[0], other);
        MPI_Comm_free(&survivors);
        assert_ok(pool_mpi_destroy(&group));
        return;
    }
    check_survivors(survivors, ended, ended_count, victims, 2, told);
}

static void test_shrink(void **state)
{
    const int victims[] = {1, ranks - 1};
    int32_t ended[MOST_RANKS] = {0}, ended_count = 0;
    MPI_Comm survivors = MPI_COMM_NULL;
    double started;
    int told, tries = 0;
    pool_status status;

    (void)state;
    create_and_meet(TIMEOUT_SECONDS);
    is_counting = is_victim(ranks - 1, "6");
    started = seconds();
    told = check_failure(run_operations(), started, victims + 1, 1);
    is_counting = is_victim(1, point);
    started = seconds();
    while ((status = pool_mpi_shrink(&group, &survivors, ended, &ended_count)) != POOL_OK) {
        assert_status(status, POOL_ERR_IO);
        assert_names_rank(1);
        assert_null(survivors == MPI_COMM_NULL ? NULL : group);
        assert_true(++tries < 2);
    }
    if (rank == 1)
        raise(SIGKILL);
    assert_true(seconds() - started < SECONDS);
    printf("rank %d: %d failures before\n", rank, tries);
    if (ended_count == 2)
        check_survivors(survivors, ended, ended_count, victims, 2, told);
}

/* A rank that stops is missed at the timeout. When it continues, it is in the same group as the
 * others: nobody has ended. */
static void test_hang(void **state)
{
    int32_t ended_count = -1;
    MPI_Comm survivors;
    pool_status status = POOL_OK;
    pid_t child;
    int size = 0;

    (void)state;
    create_and_meet(HANG_SECONDS);
    if (rank == ranks - 1) {
        const pid_t parent = getpid();

        child = fork();
        if (!child) {
            kill(parent, SIGSTOP);
            sleep(8 * HANG_SECONDS);
            kill(parent, SIGCONT);
            _exit(0);
        }
    }
    while (!status)
        status = run_msm();
    assert_ok(pool_mpi_shrink(&group, &survivors, NULL, &ended_count));
    assert_int_equal(ended_count, 0);
    assert_int_equal(MPI_Comm_size(survivors, &size), MPI_SUCCESS);
    assert_int_equal(size, ranks);
    assert_ok(run_msm());
    assert_ok(pool_mpi_destroy(&group));
    MPI_Comm_free(&survivors);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* In a file, because mpirun may lose output. */
static void report(const char *what)
{
    const char *path = getenv("RANKS_REPORT");
    FILE *file = path ? fopen(path, "a") : stdout;

    if (!file)
        return;
    fprintf(file, "rank %d: %s\n", rank, what);
    fclose(file);
}

int main(int count, char **arguments)
{
    const struct {
        const char *name;
        const struct CMUnitTest test;
        bool is_root; /* rank 0 ends */
    } cases[] = {
        {"create", cmocka_unit_test(test_create), false},
        {"root_create", cmocka_unit_test(test_create), true},
        {"operations", cmocka_unit_test(test_operations), false},
        {"root_operations", cmocka_unit_test(test_operations), true},
        {"two", cmocka_unit_test(test_two), false},
        {"shrink", cmocka_unit_test(test_shrink), false},
        {"hang", cmocka_unit_test(test_hang), false},
    };
    int failed = 1;

    if (count != 3 || MPI_Init(&count, &arguments) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 4)
        return 1;
    point = arguments[2];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(cases[i].name, arguments[1]) == 0) {
            const struct CMUnitTest test[] = {cases[i].test};

            victim = cases[i].is_root ? 0 : ranks - 1;
            failed = cmocka_run_group_tests(test, open_pool, NULL);
        }
    report(failed ? "failed" : "passed");
    _exit(failed ? 1 : 0); /* MPI_Finalize may wait for the ranks that are gone */
}
