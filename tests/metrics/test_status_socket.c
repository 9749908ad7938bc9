/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status socket of a pool: what it writes, whom it refuses, and what it survives.
 */
#include "support/assert.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool.h>

static char directory[] = "/tmp/devicepool-status-XXXXXX";
static char path[64];

static pool_status create(const char *at, device_pool **pool)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:2", .status_socket = at};

    return pool_create(pool, &params);
}

static int connect_to(const char *at)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 30};
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(client >= 0);
    strcpy(address.sun_path, at);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    if (connect(client, (const struct sockaddr *)&address, sizeof(address))) {
        close(client);
        return -1;
    }
    return client;
}

/* Everything until the end of the connection, parsed; closes it. */
static cJSON *read_snapshot(int client)
{
    static char text[1 << 20];
    size_t size = 0;
    ssize_t count;
    cJSON *root;

    while ((count = read(client, text + size, sizeof(text) - 1 - size)) > 0)
        size += (size_t)count;
    assert_int_equal(count, 0);
    close(client);
    text[size] = 0;
    root = cJSON_Parse(text);
    assert_non_null(root);
    return root;
}

static void test_snapshot(void **state)
{
    device_pool *pool = NULL;
    pool_device *device;
    struct stat file;
    cJSON *root, *reason;

    (void)state;
    assert_ok(create(path, &pool));
    assert_int_equal(lstat(path, &file), 0);
    assert_true(S_ISSOCK(file.st_mode));
    assert_int_equal(file.st_mode & 0777, 0600);
    root = read_snapshot(connect_to(path));
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(root, "pid")) == getpid());
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(root, "metrics")) > 20);
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "health"), "harmed")),
        "none");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "reasons")), 0);
    cJSON_Delete(root);
    assert_ok(pool_device_at(pool, 1, &device));
    assert_ok(pool_device_quarantine(device, "its results are suspect"));
    root = read_snapshot(connect_to(path));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "reasons")), 1);
    reason = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "reasons"), 0);
    assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(reason, "device")) == 1);
    assert_string_equal(
        cJSON_GetStringValue(cJSON_GetObjectItem(reason, "reason")), "its results are suspect");
    cJSON_Delete(root);
    assert_ok(pool_destroy(&pool));
    assert_int_equal(lstat(path, &file), -1);
    assert_int_equal(errno, ENOENT);
}

/* Of many leases those that were requested first are listed, and of many requests the next ones. */
static void test_lists_are_bounded(void **state)
{
    enum { LEASES = 100, LISTED = 64 };
    pool_params params = {
        .struct_size = sizeof(params), .devices = "sim:2", .status_socket = path, .slots = LEASES};
    pool_request request = {.struct_size = sizeof(request)};
    pool_ticket *tickets[LEASES] = {NULL};
    pool_lease *leases[LEASES] = {NULL};
    device_pool *pool = NULL;
    char label[16];
    cJSON *root;

    (void)state;
    assert_ok(pool_create(&pool, &params));
    root = read_snapshot(connect_to(path)); /* before the first request */
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "leases")), 0);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "requests")), 0);
    cJSON_Delete(root);
    assert_ok(pool_device_at(pool, 1, &request.device));
    request.label = label;
    for (int i = 0; i < LEASES; i++) {
        snprintf(label, sizeof(label), "%d", i);
        assert_ok(pool_acquire(pool, &request, &leases[i]));
    }
    assert_ok(pool_release(&leases[0]));
    assert_ok(pool_release(&leases[50]));
    request.slots = LEASES; /* which waits for all others */
    request.timeout_ns = POOL_WAIT_FOREVER;
    for (int i = 0; i < LEASES; i++) {
        snprintf(label, sizeof(label), "%d", i);
        request.priority = i; /* so the last one is the next */
        assert_ok(pool_acquire_async(pool, &request, NULL, NULL, &tickets[i]));
    }
    root = read_snapshot(connect_to(path));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "leases")), LISTED);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "requests")), LISTED);
    assert_true(
        cJSON_GetNumberValue(cJSON_GetObjectItem(root, "leases_omitted")) == LEASES - 2 - LISTED);
    assert_true(
        cJSON_GetNumberValue(cJSON_GetObjectItem(root, "requests_omitted")) == LEASES - LISTED);
    for (int i = 0; i < LISTED; i++) {
        const cJSON *lease = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "leases"), i);
        const cJSON *waiting = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "requests"), i);

        snprintf(label, sizeof(label), "%d", i + 1 + (i + 1 >= 50));
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(lease, "label")), label);
        assert_true(cJSON_GetNumberValue(
                        cJSON_GetArrayItem(cJSON_GetObjectItem(lease, "devices"), 0)) == 1);
        snprintf(label, sizeof(label), "%d", LEASES - 1 - i);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(waiting, "label")), label);
    }
    cJSON_Delete(root);
    for (int i = 0; i < LEASES; i++)
        assert_ok(pool_ticket_destroy(&tickets[i]));
    for (int i = 0; i < LEASES; i++)
        assert_ok(pool_release(&leases[i]));
    assert_ok(pool_destroy(&pool));
}

/* The path is someone's file: it stays as it is. */
static void test_existing_files_are_refused(void **state)
{
    device_pool *pool = NULL, *second = NULL;
    struct stat file;
    int made = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);

    (void)state;
    assert_true(made >= 0);
    close(made);
    assert_status(create(path, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_says("is not a socket");
    assert_int_equal(lstat(path, &file), 0);
    assert_true(S_ISREG(file.st_mode));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/nonexistent", path), 0);
    assert_status(create(path, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_status(create(path, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(rmdir(path), 0);

    /* A running service's socket is not replaced, also not in the end of the refused pool. */
    assert_ok(create(path, &pool));
    assert_status(create(path, &second), POOL_ERR_BUSY);
    assert_says("running service");
    cJSON_Delete(read_snapshot(connect_to(path)));
    assert_ok(pool_destroy(&pool));
}

static void test_stale_sockets_are_replaced(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    device_pool *pool = NULL;

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(left, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(chmod(path, 0777), 0);
    close(left);
    assert_ok(create(path, &pool));
    cJSON_Delete(read_snapshot(connect_to(path)));
    /* A file that has taken the socket's name meanwhile is not deleted. */
    assert_int_equal(unlink(path), 0);
    left = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
    assert_true(left >= 0);
    close(left);
    assert_ok(pool_destroy(&pool));
    assert_int_equal(unlink(path), 0);
}

static void test_paths(void **state)
{
    char longest[256];
    device_pool *pool = NULL;

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[255] = 0;
    assert_status(create(longest, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_says("status_socket");
    longest[108] = 0; /* sun_path has 108 bytes, NUL included */
    assert_status(create(longest, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(create("", &pool)); /* none, whatever the setting says */
    assert_ok(pool_destroy(&pool));
    assert_status(create("/nonexistent/directory/socket", &pool), POOL_ERR_IO);
    assert_null(pool);
}

static void test_many_clients(void **state)
{
    enum { CLIENTS = 100 };
    device_pool *pool = NULL;
    pid_t children[CLIENTS];

    (void)state;
    assert_ok(create(path, &pool));
    for (int i = 0; i < CLIENTS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (!children[i]) {
            char byte;
            int client = connect_to(path);

            _exit(client >= 0 && read(client, &byte, 1) == 1 && byte == '{' ? 0 : 1);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        int code;

        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_int_equal(code, 0);
    }
    assert_ok(pool_destroy(&pool));
}

/* Clients that do not read delay no other client, and the pool can be destroyed while they are
 * connected. */
static void test_slow_clients(void **state)
{
    enum { SLOW = 8 };
    device_pool *pool = NULL;
    int slow[SLOW], tiny = 1;
    char byte;

    (void)state;
    assert_ok(create(path, &pool));
    for (int i = 0; i < SLOW; i++) {
        slow[i] = connect_to(path);
        assert_true(slow[i] >= 0);
        setsockopt(slow[i], SOL_SOCKET, SO_RCVBUF, &tiny, sizeof(tiny));
    }
    cJSON_Delete(read_snapshot(connect_to(path)));
    assert_ok(pool_destroy(&pool));
    for (int i = 0; i < SLOW; i++) {
        while (read(slow[i], &byte, 1) > 0)
            ;
        close(slow[i]);
    }
    assert_int_equal(connect_to(path), -1);
}

/* A child destroys its copy of the pool; the parent's socket stays. */
static void test_forked_child(void **state)
{
    device_pool *pool = NULL;
    pid_t child;
    int code;

    (void)state;
    assert_ok(create(path, &pool));
    child = fork();
    if (!child)
        _exit(pool_destroy(&pool) ? 1 : 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    cJSON_Delete(read_snapshot(connect_to(path)));
    assert_ok(pool_destroy(&pool));
}

/* What a child inherits would keep clients connected and the path in use. */
static void test_forked_child_has_no_descriptors(void **state)
{
    device_pool *pool = NULL;
    int slow, tiny = 1, code;
    pid_t child;

    (void)state;
    assert_ok(create(path, &pool));
    slow = connect_to(path);
    setsockopt(slow, SOL_SOCKET, SO_RCVBUF, &tiny, sizeof(tiny));
    cJSON_Delete(read_snapshot(connect_to(path))); /* the other one was accepted before */
    child = fork();
    if (!child) {
        struct dirent *entry;
        DIR *list = opendir("/proc/self/fd");
        int found = 0;

        close(slow);
        while ((entry = readdir(list))) {
            char target[128] = "";

            if (readlinkat(dirfd(list), entry->d_name, target, sizeof(target) - 1) > 0)
                found += strstr(target, "socket") != NULL;
        }
        _exit(found);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    close(slow);
    assert_ok(pool_destroy(&pool));
}

/* Runs this program again, see main; its standard output can be read from *output. */
static pid_t start_self(const char *what, int *output)
{
    int ends[2];
    pid_t child;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (!child) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_status_socket", what, path, (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    *output = ends[0];
    return child;
}

/* A service that has forked a child; writes the child's id once both run. */
static int serve_with_child(const char *at)
{
    device_pool *pool = NULL;
    pid_t child;

    if (create(at, &pool))
        return 1;
    if (fork())
        return pause();
    /* The child says so itself: until it has run, it still has the parent's descriptors. Not for
     * ever, as a test that fails does not end it. */
    alarm(60);
    child = getpid();
    if (write(STDOUT_FILENO, &child, sizeof(child)) != sizeof(child))
        return 1;
    close(STDOUT_FILENO);
    return pause();
}

/* The status of an attempt to serve the path. */
static int try_to_serve(const char *at)
{
    device_pool *pool = NULL;
    pool_status status = create(at, &pool);

    return status == POOL_OK ? (pool_destroy(&pool), 0) : status == POOL_ERR_BUSY ? 2 : 1;
}

static void test_restart_while_a_child_lives(void **state)
{
    device_pool *pool = NULL;
    struct stat found;
    pid_t service, child;
    char lock[80];
    int output, code;

    (void)state;
    service = start_self("serve", &output);
    assert_int_equal(read(output, &child, sizeof(child)), sizeof(child));
    assert_status(create(path, &pool), POOL_ERR_BUSY);
    snprintf(lock, sizeof(lock), "process %d", (int)service);
    assert_says(lock);
    assert_int_equal(kill(service, SIGKILL), 0);
    assert_int_equal(waitpid(service, &code, 0), service);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    assert_int_equal(lstat(lock, &found), 0); /* the killed process has left it */
    assert_ok(create(path, &pool));
    cJSON_Delete(read_snapshot(connect_to(path)));
    assert_ok(pool_destroy(&pool));
    assert_int_equal(lstat(lock, &found), -1);
    kill(child, SIGKILL);
    close(output);
}

/* A refused attempt of the same process does not give the lock up. */
static void test_lock_survives_attempts(void **state)
{
    device_pool *pool = NULL, *second = NULL;
    int output, code;
    pid_t other;

    (void)state;
    assert_ok(create(path, &pool));
    assert_status(create(path, &second), POOL_ERR_BUSY);
    /* Also when the socket's file is gone, so that only the lock refuses. */
    assert_int_equal(unlink(path), 0);
    assert_status(create(path, &second), POOL_ERR_BUSY);
    other = start_self("try", &output);
    assert_int_equal(waitpid(other, &code, 0), other);
    assert_int_equal(WEXITSTATUS(code), 2);
    close(output);
    assert_ok(pool_destroy(&pool));
    assert_ok(create(path, &pool));
    assert_ok(pool_destroy(&pool));
}

/* A service that has bound its socket and does not listen yet. */
static void test_bound_sockets_are_kept(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int bound = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    device_pool *pool = NULL;
    struct stat before, after;

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(bound, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(lstat(path, &before), 0);
    assert_status(create(path, &pool), POOL_ERR_BUSY);
    assert_says(".lock");
    assert_int_equal(lstat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_int_equal(listen(bound, 1), 0);
    assert_status(create(path, &pool), POOL_ERR_BUSY);
    close(bound);
    assert_ok(create(path, &pool));
    assert_ok(pool_destroy(&pool));
}

static void *close_soon(void *bound)
{
    usleep(200000);
    close(*(int *)bound);
    return NULL;
}

/* A child that its service had forked just before it was killed has not run yet. */
static void test_late_child(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int bound = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    device_pool *pool = NULL;
    pthread_t child;

    (void)state;
    strcpy(address.sun_path, path);
    assert_int_equal(bind(bound, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(bound, 1), 0);
    assert_int_equal(pthread_create(&child, NULL, close_soon, &bound), 0);
    assert_ok(create(path, &pool));
    cJSON_Delete(read_snapshot(connect_to(path)));
    pthread_join(child, NULL);
    assert_ok(pool_destroy(&pool));
}

/* The lock file is someone's: it stays as it is. */
static void test_lock_files_are_refused(void **state)
{
    device_pool *pool = NULL;
    char lock[80];

    (void)state;
    snprintf(lock, sizeof(lock), "%s.lock", path);
    assert_int_equal(symlink("/nonexistent", lock), 0);
    assert_status(create(path, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_says(lock);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkdir(lock, 0700), 0);
    assert_status(create(path, &pool), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(rmdir(lock), 0);
}

static int make_directory(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof(path), "%s/socket", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory); /* fails if anything is left */
}

int main(int count, char **arguments)
{
    if (count == 3 && !strcmp(arguments[1], "serve"))
        return serve_with_child(arguments[2]);
    if (count == 3 && !strcmp(arguments[1], "try"))
        return try_to_serve(arguments[2]);

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_lists_are_bounded),
        cmocka_unit_test(test_existing_files_are_refused),
        cmocka_unit_test(test_stale_sockets_are_replaced),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_slow_clients),
        cmocka_unit_test(test_forked_child),
        cmocka_unit_test(test_forked_child_has_no_descriptors),
        cmocka_unit_test(test_restart_while_a_child_lives),
        cmocka_unit_test(test_lock_survives_attempts),
        cmocka_unit_test(test_bound_sockets_are_kept),
        cmocka_unit_test(test_late_child),
        cmocka_unit_test(test_lock_files_are_refused),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
