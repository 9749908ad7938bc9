/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transcript: partitions of multiprocessors; and, from the rows of calls.def, what every function
 * returns for what it must refuse.
 */
#include <string.h>

#include "support/misuse.h"
#include "transcript.h"

#define SM 1u

static const char empty[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry text() { ret; }\n";

/* On a device of 132 multiprocessors and compute capability 9.0. */
static void green_contexts(void)
{
    pool_cu_dev_resource all, group, rest, mine;
    unsigned long long own_id = 0, primary_id = 0;
    CUdevResourceDesc desc = NULL;
    CUstream stream = NULL, second = NULL;
    CUcontext context = NULL, found = NULL;
    unsigned count = 1, version = 0, flags = 0;
    CUgreenCtx green = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    int least = 9, greatest = 9, active = 0, value = 0;
    CUdeviceptr address = 0, again = 0;
    CUdevice device = -1;

    SAY(DeviceGetDevResource(0, &all, SM));
    VALUE(all.sm_count);
    SAY(DevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 16));
    VALUE(count);
    VALUE(group.sm_count);
    VALUE(rest.sm_count);
    SAY(DevResourceGenerateDesc(&desc, &group, 1));
    SAY(GreenCtxCreate(&green, desc, 0, 1));
    SAY(CtxFromGreenCtx(&context, green));
    SAY(CtxSetCurrent(context));
    SAY(CtxGetDevice(&device));
    VALUE(device);
    SAY(CtxGetApiVersion(context, &version));
    VALUE(version);
    SAY(CtxGetId(context, &own_id));
    SAY(CtxGetId(primary, &primary_id));
    VALUE(own_id != primary_id);
    SAY(DeviceGetAttribute(&value, 16, 0));
    VALUE(value);
    SAY(CtxGetDevResource(context, &mine, SM));
    VALUE(mine.sm_count);
    SAY(StreamCreateWithPriority(&stream, 0, 0));
    SAY(StreamCreateWithPriority(&second, 1, 0));
    SAY(StreamGetCtx(second, &found));
    VALUE(found == context);
    SAY(CtxGetStreamPriorityRange(&least, &greatest));
    VALUE(least);
    VALUE(greatest);
    SAY(ModuleLoadData(&module, empty));
    SAY(ModuleGetFunction(&function, module, "text"));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (CUstream)2, NULL, NULL));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, second, NULL, NULL));
    SAY(MemAlloc(&address, 1 << 20));
    SAY(MemsetD8(address, 1, 1 << 20));
    SAY(CtxGetCurrent(&found));
    VALUE(found == context);
    SAY(DevicePrimaryCtxRelease(0));
    SAY(DevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(active);
    SAY(MemAlloc(&again, 1 << 20));
    SAY(CtxDestroy(context));
    SAY(GreenCtxDestroy(green));
    SAY(DevicePrimaryCtxGetState(0, &flags, &active));
    VALUE(active);
    SAY(MemFree(again));
    SAY(CtxSetCurrent(context));
    SAY(CtxGetDevice(&device));
}

/* Handles that are NULL: a driver dereferences others. */
static void misuse(void)
{
    const pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    const pool_cu_mem_allocation_prop prop = {.type = 1, .location = {1, 0}};
    struct misuse with = {.context = primary};
    pool_cu_dev_resource all;

    QUIET(StreamCreateWithPriority(&with.STREAM, 1, 0));
    QUIET(EventCreate(&with.EVENT, 0));
    QUIET(ModuleLoadData(&with.MODULE, empty));
    QUIET(ModuleGetFunction(&with.KERNEL, with.MODULE, "text"));
    QUIET(MemPoolCreate(&with.MEMORY_POOL, &props));
    QUIET(MemCreate(&with.ALLOCATION, 2 << 20, &prop, 0));
    QUIET(StreamBeginCapture(with.STREAM, 0));
    QUIET(StreamEndCapture(with.STREAM, &with.GRAPH));
    QUIET(GraphInstantiateWithFlags(&with.GRAPH_EXEC, with.GRAPH, 0));
    QUIET(DeviceGetDevResource(0, &all, SM));
    QUIET(DevResourceGenerateDesc(&with.RESOURCE_DESC, &all, 1));
    QUIET(GreenCtxCreate(&with.GREEN, with.RESOURCE_DESC, 0, 1));
    for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        struct misused found = {0};

        for (int number = 0; !found.is_beyond; number++) {
            found = misuses[i].call(cu, &with, number);
            if (found.argument)
                printf("%s without %s -> %u\n", misuses[i].name, found.argument, found.code);
        }
    }
}

const struct section green_sections[] = {
    {"green contexts", green_contexts, 1}, {"misuse", misuse, 1}, {NULL, NULL, 0}};
