/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A setuid program ignores DEVICEPOOL_LIBCUDA and DEVICEPOOL_NVRTC. The program copies itself,
 * gives the copy to another user with the setuid bit and runs it; that takes root, so without it
 * the test is skipped (exit code 77).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/nvrtc.h"
#include "support/child.h"

#define SKIPPED 77
#define OTHER_USER 65534

/* Bits of the helper's exit code. */
#define HELPER_RAN 8
#define TOOK_DRIVER 1
#define TOOK_COMPILER 2
#define SECURE 4

static int helper(void)
{
    const struct nvrtc *nvrtc = NULL;
    struct driver *driver = NULL;
    int code = HELPER_RAN;

    if (driver_open(NULL, &driver) == POOL_OK && strstr(driver->path, FAKE_DIRECTORY))
        code |= TOOK_DRIVER;
    if (driver_nvrtc_open(&nvrtc) == POOL_OK && strstr(nvrtc->path, FAKE_DIRECTORY))
        code |= TOOK_COMPILER;
    if (getauxval(AT_SECURE))
        code |= SECURE;
    driver_close(&driver);
    return code;
}

static int copy_self(const char *path)
{
    static char buffer[1 << 16];
    FILE *from = fopen("/proc/self/exe", "rb"), *to = fopen(path, "wb");
    size_t count;

    if (!from || !to)
        return 1;
    while ((count = fread(buffer, 1, sizeof(buffer), from)) > 0)
        if (fwrite(buffer, 1, count, to) != count)
            return 1;
    fclose(from);
    return fclose(to);
}

static int run_helper(void *path)
{
    execl(path, path, "--helper", (char *)NULL);
    return 0;
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/devicepool-setuid-XXXXXX", path[64];
    int plain, secure;

    if (argc > 1 && strcmp(argv[1], "--helper") == 0)
        _exit(helper()); /* past the leak check, which a setuid program cannot run */
    if (geteuid() != 0 || !mkdtemp(directory)) {
        puts("skipped: takes root");
        return SKIPPED;
    }
    snprintf(path, sizeof(path), "%s/helper", directory);
    setenv("DEVICEPOOL_LIBCUDA", FAKE_DIRECTORY "/libcuda_good.so", 1);
    setenv("DEVICEPOOL_NVRTC", FAKE_DIRECTORY "/libnvrtc_good.so", 1);
    if (copy_self(path) || chmod(directory, 0755) || chmod(path, 0755))
        return 99;
    plain = child_run(run_helper, path);
    secure =
        chown(path, OTHER_USER, OTHER_USER) || chmod(path, 04755) ? 0 : child_run(run_helper, path);
    unlink(path);
    rmdir(directory);
    printf("plain %d, setuid %d\n", plain, secure);
    if (plain != (HELPER_RAN | TOOK_DRIVER | TOOK_COMPILER))
        return 1;
    if (!(secure > 0 && (secure & SECURE))) {
        puts("skipped: the system gives no setuid programs here");
        return SKIPPED;
    }
    return secure == (HELPER_RAN | SECURE) ? 0 : 1;
}
