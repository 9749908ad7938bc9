/* SPDX-License-Identifier: Apache-2.0 */
/* Why a host has no usable GPU, see host.h. */
#include "host.h"

#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- facts ----------------------------------------------------------------------------------- */

/* The first line of a file; "" where there is none. */
static void read_line(const char *root, const char *path, char *line, size_t size)
{
    char full[PATH_MAX];
    FILE *file;

    snprintf(full, sizeof(full), "%s%s", root, path);
    line[0] = 0;
    file = fopen(full, "re");
    if (!file)
        return;
    if (!fgets(line, (int)size, file))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    fclose(file);
}

static bool has_path(const char *root, const char *path)
{
    char full[PATH_MAX];

    snprintf(full, sizeof(full), "%s%s", root, path);
    return access(full, F_OK) == 0;
}

/* Display and 3D controllers of vendor 10de. */
static void find_gpus(const char *root, struct host_facts *facts)
{
    char path[PATH_MAX], line[64], link[PATH_MAX];
    DIR *directory;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root);
    directory = opendir(path);
    facts->has_bus = directory != NULL;
    while (directory && (entry = readdir(directory))) {
        ssize_t length;

        if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(facts->gpu))
            continue;
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", entry->d_name);
        read_line(root, path, line, sizeof(line));
        if (strcmp(line, "0x10de") != 0)
            continue;
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", entry->d_name);
        read_line(root, path, line, sizeof(line));
        if (strncmp(line, "0x03", 4) != 0)
            continue;
        if (facts->gpus++ && strcmp(entry->d_name, facts->gpu) > 0)
            continue;
        strcpy(facts->gpu, entry->d_name);
        snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", root, entry->d_name);
        length = readlink(path, link, sizeof(link) - 1);
        link[length < 0 ? 0 : length] = 0;
        snprintf(facts->bound_to, sizeof(facts->bound_to), "%.63s",
            strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
    }
    if (directory)
        closedir(directory);
}

/* The device nodes, and the first that cannot be opened. */
static void find_nodes(const char *root, struct host_facts *facts)
{
    static const char *const names[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    char path[PATH_MAX], name[32];
    struct stat node;
    bool has_device = false;

    for (unsigned i = 0; i < 64 + 2; i++) {
        if (i < 2)
            snprintf(name, sizeof(name), "%s", names[i]);
        else
            snprintf(name, sizeof(name), "/dev/nvidia%u", i - 2);
        snprintf(path, sizeof(path), "%s%s", root, name);
        if (stat(path, &node))
            continue;
        has_device |= i >= 2;
        if (!facts->denied[0] && access(path, R_OK | W_OK)) {
            const struct group *group = getgrgid(node.st_gid);

            snprintf(facts->denied, sizeof(facts->denied), "%s", name);
            if (group && node.st_gid && (node.st_mode & 0060) == 0060)
                snprintf(facts->group, sizeof(facts->group), "%s", group->gr_name);
        }
    }
    facts->has_nodes = has_device && has_path(root, "/dev/nvidiactl");
}

static void find_distribution(const char *root, struct host_facts *facts)
{
    char path[PATH_MAX], line[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/etc/os-release", root);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        const char *id = line + 3;

        if (strncmp(line, "ID=", 3) != 0)
            continue;
        id += *id == '"';
        snprintf(
            facts->distribution, sizeof(facts->distribution), "%.*s", (int)strcspn(id, "\"\n"), id);
    }
    if (file)
        fclose(file);
}

void host_find(const char *root, struct host_facts *facts)
{
    char line[512];

    *facts = (struct host_facts){0};
    find_gpus(root, facts);
    find_nodes(root, facts);
    find_distribution(root, facts);
    facts->has_module =
        has_path(root, "/proc/driver/nvidia/version") || has_path(root, "/sys/module/nvidia");
    read_line(root, "/proc/1/cgroup", line, sizeof(line));
    facts->is_container = has_path(root, "/.dockerenv") || has_path(root, "/run/.containerenv") ||
                          has_path(root, "/run/systemd/container") || strstr(line, "docker") ||
                          strstr(line, "kubepods") || strstr(line, "containerd") ||
                          strstr(line, "lxc") || (!*root && getenv("container"));
    read_line(root, "/proc/version", line, sizeof(line));
    facts->is_wsl = strcasestr(line, "microsoft") != NULL;
    facts->has_wsl_gpu = has_path(root, "/dev/dxg");
}

/* ---- advice ---------------------------------------------------------------------------------- */

/* How the driver is installed. Those of other distributions than Debian are untested. */
static const struct {
    const char *distribution;
    const char *how;
} packages[] = {
    {"debian", "apt-get install nvidia-driver libcuda1, from contrib and non-free"},
    {"ubuntu", "ubuntu-drivers install (untested)"},
    {"fedora", "dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda, from RPM Fusion (untested)"},
};

static const char *how_to_install(const struct host_facts *facts)
{
    for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++)
        if (strcmp(packages[i].distribution, facts->distribution) == 0)
            return packages[i].how;
    return "the package of this distribution, or the one of nvidia.com";
}

static void advise_in_wsl(const struct host_facts *facts, char *text, size_t size)
{
    if (facts->has_wsl_gpu)
        snprintf(text, size,
            "WSL has a GPU device (/dev/dxg), but no libcuda.so.1 that works: install NVIDIA's "
            "driver "
            "for Windows, none inside WSL, and see that /usr/lib/wsl/lib is known to ldconfig.");
    else
        snprintf(text, size,
            "WSL has no GPU device (/dev/dxg): it has to be WSL 2 (wsl --update in Windows), with "
            "NVIDIA's driver for Windows and none inside WSL.");
}

static void advise_in_container(
    const struct host_facts *facts, bool has_library, char *text, size_t size)
{
    if (facts->has_nodes && !has_library)
        snprintf(text, size,
            "This container has the devices of its GPUs, but no libcuda.so.1: start it with "
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility (or all).");
    else if (facts->has_bus && !facts->gpus && !facts->has_module)
        snprintf(text, size,
            "This is a container, and the PCI bus of its host has no NVIDIA device: it needs a "
            "host "
            "with a GPU and NVIDIA's driver.");
    else
        snprintf(text, size,
            "This is a container without a GPU, and its host has %s: start it with its GPUs "
            "(docker "
            "run --gpus all, or podman run --device nvidia.com/gpu=all), for which the host needs "
            "the "
            "NVIDIA Container Toolkit%s.",
            facts->has_module ? "a driver" : "an NVIDIA device",
            facts->has_module ? "" : " and NVIDIA's driver");
}

static void advise_on_host(
    const struct host_facts *facts, bool has_library, char *text, size_t size)
{
    const char *how = how_to_install(facts);

    if (!facts->has_module && facts->has_bus && !facts->gpus)
        snprintf(text, size,
            "No NVIDIA device is on the PCI bus: there is no GPU, or it is disabled in the "
            "firmware or "
            "not passed on to this virtual machine.");
    else if (!facts->has_module && strcmp(facts->bound_to, "vfio-pci") == 0)
        snprintf(text, size,
            "The NVIDIA device %s is reserved for virtual machines (vfio-pci): return it to the "
            "driver "
            "nvidia, or work in the virtual machine that has it.",
            facts->gpu);
    else if (!facts->has_module && facts->bound_to[0])
        snprintf(text, size,
            "The NVIDIA device %s is driven by %s, which has no CUDA: install NVIDIA's driver (%s) "
            "and "
            "restart the host.",
            facts->gpu, facts->bound_to, how);
    else if (!facts->has_module)
        snprintf(text, size,
            "%s%s%s, but NVIDIA's kernel module is not loaded: install the driver (%s) or, where "
            "it is "
            "installed, load it (modprobe nvidia; with Secure Boot it has to be signed).",
            facts->gpus ? "The NVIDIA device " : "The PCI bus cannot be seen", facts->gpu,
            facts->gpus ? " is on the PCI bus" : "", how);
    else if (facts->has_bus && !facts->gpus)
        snprintf(text, size,
            "NVIDIA's kernel module is loaded, but no NVIDIA device is on the PCI bus: the GPU has "
            "been "
            "removed, has fallen off the bus (dmesg) or is not passed on to this virtual machine.");
    else if (!facts->has_nodes)
        snprintf(text, size,
            "NVIDIA's kernel module is loaded, but /dev has no nvidiactl or no nvidia0: run "
            "nvidia-modprobe -c 0 -u, or nvidia-smi as root, which create them.");
    else if (facts->denied[0])
        snprintf(text, size, "This user may not open %s: %s%s%s.", facts->denied,
            facts->group[0] ? "add it to the group " : "correct its permissions (0666 is usual)",
            facts->group, facts->group[0] ? " (usermod -aG) and log in again" : "");
    else if (!has_library)
        snprintf(text, size,
            "The kernel module and its devices are there, but not libcuda.so.1: install the "
            "driver's "
            "CUDA library of the same version (%s).",
            how);
    else
        snprintf(text, size,
            "Kernel module, devices and libcuda.so.1 are there: nvidia-smi and dmesg say more, and "
            "CUDA_VISIBLE_DEVICES must not hide the devices.");
}

const char *host_advice(
    const struct host_facts *facts, bool has_library, const char *indent, char *text, size_t size)
{
    char advice[1024], *rest = advice, *word;
    size_t used = 0, column = 81;

    if (facts->is_wsl)
        advise_in_wsl(facts, advice, sizeof(advice));
    else if (facts->is_container && !(facts->has_nodes && (has_library || facts->denied[0])))
        advise_in_container(facts, has_library, advice, sizeof(advice));
    else
        advise_on_host(facts, has_library, advice, sizeof(advice));
    text[0] = 0;
    while ((word = strsep(&rest, " ")) && used < size) {
        const bool is_new = column + 1 + strlen(word) > 80;
        const int length = snprintf(text + used, size - used, "%s%s%s",
            !is_new ? " "
            : used  ? "\n"
                    : "",
            is_new ? indent : "", word);

        column = (is_new ? strlen(indent) : column + 1) + strlen(word);
        used += (size_t)length;
    }
    return text;
}
