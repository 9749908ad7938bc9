/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says on a host without a usable GPU: each kind of host is a directory with the
 * files that tell it apart.
 */
#include "host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/assert.h"

static char root[] = "/tmp/devicepool-host-XXXXXX";

/* Creates a file below the root, and the directories above it. */
static void put(const char *path, const char *content)
{
    char full[PATH_MAX];
    FILE *file;

    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

#define GPU "/sys/bus/pci/devices/0000:3b:00.0"

static void put_gpu(const char *driver)
{
    char link[PATH_MAX];

    put("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n"); /* not a GPU */
    put("/sys/bus/pci/devices/0000:00:1f.0/class", "0x030000\n");
    put("/sys/bus/pci/devices/0000:3b:00.1/vendor", "0x10de\n"); /* its sound */
    put("/sys/bus/pci/devices/0000:3b:00.1/class", "0x040300\n");
    put(GPU "/vendor", "0x10de\n");
    put(GPU "/class", "0x030200\n");
    snprintf(link, sizeof(link), "%s" GPU "/driver", root);
    if (driver)
        assert_int_equal(symlink(driver, link), 0);
}

static void put_module(void)
{
    put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Module  580.82.07\n");
}

static void put_nodes(void)
{
    put("/dev/nvidiactl", "");
    put("/dev/nvidia0", "");
    put("/dev/nvidia-uvm", "");
}

/* Compares the advice for the root, which is emptied again; all of it fits 80 columns. */
static void check(bool has_library, const char *expected)
{
    struct host_facts facts;
    char text[2048], command[PATH_MAX];

    host_find(root, &facts);
    host_advice(&facts, has_library, "  ", text, sizeof(text));
    for (char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        assert_int_equal(strncmp(line, "  ", 2), 0);
        assert_true(strcspn(line, "\n") <= 80);
    }
    for (char *end = text; (end = strstr(end, "\n  "));)
        memmove(end + 1, end + 3, strlen(end + 3) + 1), *end = ' ';
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in \"%s\"", expected, text);
    snprintf(command, sizeof(command), "rm -rf '%s'/*", root);
    assert_int_equal(system(command), 0);
}

static void test_bus(void **state)
{
    (void)state;
    put("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
    check(false, "No NVIDIA device is on the PCI bus");
    put_gpu(NULL);
    put("/etc/os-release", "NAME=\"Debian\"\nID=debian\n");
    check(false,
        "0000:3b:00.0 is on the PCI bus, but NVIDIA's kernel module is not loaded: install "
        "the driver (apt-get install nvidia-driver libcuda1");
    put_gpu("../../../bus/pci/drivers/nouveau");
    put("/etc/os-release", "\nA\n#\n\nID=\"fedora\"\nB");
    check(false, "is driven by nouveau, which has no CUDA: install NVIDIA's driver (dnf install "
                 "akmod-nvidia xorg-x11-drv-nvidia-cuda, from RPM Fusion (untested))");
    put_gpu("../../../bus/pci/drivers/vfio-pci");
    check(false, "0000:3b:00.0 is reserved for virtual machines (vfio-pci)");
    put_module();
    put("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
    check(true, "kernel module is loaded, but no NVIDIA device is on the PCI bus");
    check(false, "The PCI bus cannot be seen");
}

static void test_driver(void **state)
{
    (void)state;
    put_gpu("../nvidia");
    put_module();
    check(true, "/dev has no nvidiactl or no nvidia0: run nvidia-modprobe");
    put_gpu("../nvidia");
    put_module();
    put_nodes();
    put("/etc/os-release", "ID=ubuntu\n");
    check(false, "not libcuda.so.1: install the driver's CUDA library of the same version "
                 "(ubuntu-drivers install (untested))");
    put_gpu("../nvidia");
    put_module();
    put_nodes();
    check(true, "nvidia-smi and dmesg say more");
}

static void test_permissions(void **state)
{
    struct host_facts facts = {.gpus = 1,
        .has_bus = true,
        .has_module = true,
        .has_nodes = true,
        .denied = "/dev/nvidia0"};
    char text[2048], path[PATH_MAX];

    (void)state;
    host_advice(&facts, true, "", text, sizeof(text));
    assert_non_null(strstr(text, "This user may not open /dev/nvidia0: correct its permissions"));
    strcpy(facts.group, "video");
    host_advice(&facts, true, "", text, sizeof(text));
    assert_non_null(strstr(text, "add it to the group video (usermod -aG)"));
    if (!geteuid())
        return; /* may open everything */
    put_gpu("../nvidia");
    put_module();
    put_nodes();
    snprintf(path, sizeof(path), "%s/dev/nvidia-uvm", root);
    assert_int_equal(chmod(path, 0), 0);
    check(true, "This user may not open /dev/nvidia-uvm");
}

static void test_container(void **state)
{
    (void)state;
    put_gpu("../nvidia");
    put_module();
    put("/.dockerenv", "");
    check(false, "This is a container without a GPU, and its host has a driver: start it with its "
                 "GPUs (docker run --gpus all");
    put_gpu(NULL);
    put("/run/.containerenv", "");
    check(false, "its host has an NVIDIA device: start it with its GPUs");
    put("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
    put("/proc/1/cgroup", "0::/kubepods/besteffort/pod\n");
    check(false, "the PCI bus of its host has no NVIDIA device");
    put_gpu("../nvidia");
    put_module();
    put_nodes();
    put("/.dockerenv", "");
    check(false, "NVIDIA_DRIVER_CAPABILITIES=compute,utility");
}

static void test_wsl(void **state)
{
    (void)state;
    put("/proc/version", "Linux version 5.15.90.1-microsoft-standard-WSL2\n");
    put("/dev/dxg", "");
    check(false, "NVIDIA's driver for Windows, none inside WSL, and see that /usr/lib/wsl/lib");
    put("/proc/version", "Linux version 4.4.0-19041-Microsoft\n");
    check(false, "it has to be WSL 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bus),
        cmocka_unit_test(test_driver),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_wsl),
    };
    int failed;

    if (!mkdtemp(root))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(root);
    return failed;
}
