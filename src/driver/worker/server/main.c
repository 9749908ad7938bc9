/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool-worker: a process that owns one device for a pool in another process. The library
 * starts it, with three descriptors; it is no command for users.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <devicepool/version.h>

#include "driver/driver.h"
#include "driver/worker/server/server.h"

static struct worker_shared *map_control(void)
{
    struct stat status;
    int seals = fcntl(WORKER_FD_CONTROL, F_GET_SEALS);
    void *mapped;

    /* Without the seals the client could shrink it, and reading it would be fatal. */
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(WORKER_FD_CONTROL, &status))
        return NULL;
    if ((size_t)status.st_size < sizeof(struct worker_shared)) {
        const char text[] = SERVER_OTHER_BUILD;

        if (pwrite(WORKER_FD_CONTROL, text, sizeof(text), offsetof(struct worker_shared, text)) < 0)
            return NULL;
        _exit(WORKER_EXIT_START);
    }
    mapped = mmap(NULL, sizeof(struct worker_shared), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_NORESERVE, WORKER_FD_CONTROL, 0);
    close(WORKER_FD_CONTROL);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* --list: the real driver and its devices, on the first descriptor after the standard ones. */
static int list_devices(void)
{
    FILE *out = fdopen(WORKER_FD_LIFELINE, "w");
    uint64_t functions[4] = {0};
    struct driver *driver;
    unsigned number = 0;
    int count = 0;

    if (!out)
        return WORKER_EXIT_PROTOCOL;
    if (driver_open(NULL, &driver)) {
        fprintf(out, "%s\n", pool_last_error()->message);
        return fclose(out) ? WORKER_EXIT_START : 0;
    }
#define LIST(field, symbol, suffix, version, need, parameters)                                     \
    if (driver->api.field)                                                                         \
        functions[number / 64] |= UINT64_C(1) << number % 64;                                      \
    number++;
    POOL_CUDA_FUNCTIONS(LIST)
#undef LIST
    fprintf(out, "devices %d %x %llx %llx %llx %llx\n", driver->version,
        (unsigned)driver->api.flags, (unsigned long long)functions[0],
        (unsigned long long)functions[1], (unsigned long long)functions[2],
        (unsigned long long)functions[3]);
    driver->api.DeviceGetCount(&count);
    for (int i = 0; i < count; i++) {
        pool_cu_uuid uuid = {{0}};
        char name[256] = "";
        CUdevice device;
        bool is_mig;

        driver->api.DeviceGet(&device, i);
        driver->api.DeviceGetName(name, sizeof(name), device);
        is_mig = strstr(name, " MIG ") != NULL && driver->api.DeviceGetUuidV2;
        (void)(is_mig ? driver->api.DeviceGetUuidV2(&uuid, device)
                      : driver->api.DeviceGetUuid(&uuid, device));
        fputs(is_mig ? "MIG-" : "GPU-", out);
        for (int j = 0; j < 16; j++)
            fprintf(out, "%s%02x", j == 4 || j == 6 || j == 8 || j == 10 ? "-" : "",
                (unsigned char)uuid.bytes[j]);
        fputc('\n', out);
    }
    return fclose(out) ? WORKER_EXIT_START : 0;
}

int main(int count, char **arguments)
{
    unsigned ordinal = 0, generation = 0;
    struct worker_shared *shared;
    char reason[512];
    bool is_valid;

    if (count == 3 && strcmp(arguments[1], "--list") == 0)
        return list_devices();
    if (count < 4 || strcmp(arguments[1], "--of") != 0 ||
        sscanf(arguments[3], "device=%9u,generation=%9u", &ordinal, &generation) != 2) {
        fprintf(stderr,
            "devicepool-worker %s: the devicepool library starts this program, one for each device "
            "of a pool with worker processes.\n",
            pool_version_text());
        return 2;
    }
    /* The thread that started this process lives as long as the pool: when it ends, so does this.
     */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != (pid_t)strtol(arguments[2], NULL, 10))
        return WORKER_EXIT_PARENT;
    syscall(SYS_close_range, WORKER_FD_FIRST_OTHER, ~0u, 0);
    signal(SIGPIPE, SIG_IGN);
    is_valid = server_abort_open(ordinal, generation);
    server_take_step(SERVER_STEP_START);
    shared = map_control();
    if (!shared)
        return WORKER_EXIT_PROTOCOL;
    server_take_step(SERVER_STEP_CONTROL);
    if (!is_valid)
        server_fail(shared, SERVER_ABORT_VARIABLE " is not " SERVER_ABORT_SYNTAX);
    if (!server_set_limits(reason, sizeof(reason)))
        server_fail(shared, reason);
    server_run(shared, WORKER_FD_LIFELINE, WORKER_FD_ARENA, WORKER_FD_PASSING);
    return 0;
}
