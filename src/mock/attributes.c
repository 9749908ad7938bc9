/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default properties of a mock device: an H200. Values are those that its driver reports;
 * attributes that are not listed are 0.
 */
#include "mock/mock.h"

#include <stdio.h>
#include <string.h>

static const struct {
    short attribute; /* CUdevice_attribute */
    int value;
} h200[] = {
    {1, 1024},        /* threads of a block */
    {2, 1024},        /* block x */
    {3, 1024},        /* block y */
    {4, 64},          /* block z */
    {5, 2147483647},  /* grid x */
    {6, 65535},       /* grid y */
    {7, 65535},       /* grid z */
    {8, 49152},       /* shared memory of a block */
    {9, 65536},       /* constant memory */
    {10, 32},         /* warp */
    {11, 2147483647}, /* pitch */
    {12, 65536},      /* registers of a block */
    {13, 1980000},    /* clock, kHz */
    {14, 512},        /* texture alignment */
    {15, 1},          /* copies overlap kernels */
    {16, 132},        /* multiprocessors */
    {19, 1},          /* maps host memory */
    {30, 512},        /* surface alignment */
    {31, 1},          /* concurrent kernels */
    {32, 1},          /* ECC */
    {36, 3201000},    /* memory clock, kHz */
    {37, 6144},       /* memory bus, bits */
    {38, 62914560},   /* L2 */
    {39, 2048},       /* threads of a multiprocessor */
    {40, 3},          /* copy engines */
    {41, 1},          /* unified addressing */
    {51, 32},         /* pitch alignment */
    {75, 9},          /* compute capability, major */
    {76, 0},          /* and minor */
    {78, 1},          /* stream priorities */
    {79, 1},          /* global loads cached in L1 */
    {80, 1},          /* local loads cached in L1 */
    {81, 233472},     /* shared memory of a multiprocessor */
    {82, 65536},      /* registers of a multiprocessor */
    {83, 1},          /* managed memory */
    {87, 2},          /* single to double precision */
    {89, 1},          /* concurrent managed access */
    {90, 1},          /* compute preemption */
    {91, 1},          /* host addresses of registered memory */
    {95, 1},          /* cooperative launch */
    {97, 232448},     /* shared memory of a block that opts in */
    {98, 1},          /* flush of remote writes */
    {99, 1},          /* host register */
    {102, 1},         /* virtual memory management */
    {103, 1},         /* file descriptors as handles */
    {106, 32},        /* blocks of a multiprocessor */
    {107, 1},         /* compression */
    {111, 1024},      /* reserved shared memory of a block */
    {113, 1},         /* read-only registering */
    {115, 1},         /* memory pools */
    {120, 1},         /* clusters */
    {130, 0},         /* not a NUMA node */
    {131, -1},        /* its NUMA node */
    {134, 0},         /* the host's NUMA node */
};

void mock_device_defaults(struct mock_device *device, int index, int count, uint64_t memory)
{
    static const unsigned char uuid[16] = {0x4d, 0x6f, 0x63, 0x6b, 0x44, 0x72, 0x41, 0x76, 0x89,
        0x72, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

    snprintf(device->name, sizeof(device->name), "Mock H200");
    memcpy(device->uuid.bytes, uuid, sizeof(uuid));
    /* The first byte differs, so that short UUID prefixes are unique. */
    device->uuid.bytes[0] = (char)(uuid[0] + index);
    device->uuid.bytes[15] = (char)index;
    device->instance = device->uuid;
    device->total = memory;
    for (size_t i = 0; i < sizeof(h200) / sizeof(h200[0]); i++)
        device->attributes[h200[i].attribute] = h200[i].value;
    device->attributes[33] = 6 + index; /* PCI bus */
    for (int peer = 0; peer < count; peer++)
        if (peer != index)
            device->peers[peer] = (struct mock_peer){.access = 1, .atomics = 1, .rank = 0};
}
