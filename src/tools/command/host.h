/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a host has no usable GPU, from what its file system shows without a driver.
 */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include <stdbool.h>
#include <stddef.h>

struct host_facts {
    unsigned gpus;     /* NVIDIA display or compute controllers on the PCI bus */
    bool has_bus;      /* the PCI bus can be seen at all */
    char gpu[64];      /* the address of the first one */
    char bound_to[64]; /* its kernel driver; "": none */
    bool has_module;   /* NVIDIA's kernel module is loaded */
    bool has_nodes;    /* /dev/nvidiactl and a device */
    char denied[64];   /* the first of them that this user may not open; "": none */
    char group[64];    /* its group */
    bool is_container;
    bool is_wsl;
    bool has_wsl_gpu;      /* /dev/dxg */
    char distribution[32]; /* ID of /etc/os-release */
};

/* Looks below `root`, "" for that of this process. */
void host_find(const char *root, struct host_facts *facts);

/* What is missing, and what to do about it: sentences in lines of at most 80 columns, each behind
 * `indent`. `has_library`: libcuda.so.1 can be loaded. Returns `text`. */
const char *host_advice(
    const struct host_facts *facts, bool has_library, const char *indent, char *text, size_t size);

#endif
