/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transcript: kernels with faults, each in a process of its own, and what every call returns
 * afterwards.
 */
#include <string.h>

#include "transcript.h"

static const char faulty[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry store_wild()\n{ .reg .b64 a; mov.u64 a, 0x10; st.global.u32 [a], 1; ret; }\n"
    ".visible .entry load_wild()\n{ .reg .b64 a; .reg .b32 b; mov.u64 a, 0x7000000000000; "
    "ld.global.u32 b, [a]; st.global.u32 [a], b; ret; }\n"
    ".visible .entry misaligned(.param .u64 p)\n{ .reg .b64 a; .reg .b32 b; ld.param.u64 a, [p]; "
    "add.u64 a, a, 2; ld.global.u32 b, [a]; add.u32 b, b, 1; st.global.u32 [a], b; ret; }\n"
    ".visible .entry trapping()\n{ trap; }\n"
    ".visible .entry shared_wild(.param .u64 p)\n{ .reg .b32 a; .reg .b64 b; ld.param.u64 b, [p]; "
    "cvt.u32.u64 a, b; and.b32 a, a, 0xf000; or.b32 a, a, 0x800000; st.shared.u32 [a], a; ret; }\n"
    ".visible .entry atomic_wild()\n{ .reg .b64 a; .reg .b32 b; mov.u64 a, 0x100; "
    "atom.global.add.u32 b, [a], 1; ret; }\n"
    ".visible .entry fine()\n{ ret; }\n";

static void fault(const char *name)
{
    CUmodule module = NULL, another = NULL;
    CUfunction function = NULL, harmless = NULL;
    CUdeviceptr address = 0, other = 0;
    CUstream stream = NULL, before = NULL;
    CUevent event = NULL;
    CUcontext context = NULL;
    size_t bytes;
    int number = 0;
    uint32_t data = 0;
    void *host = NULL;

    QUIET(ModuleLoadData(&module, faulty));
    QUIET(ModuleGetFunction(&function, module, name));
    QUIET(ModuleGetFunction(&harmless, module, "fine"));
    QUIET(MemAlloc(&address, 4096));
    QUIET(StreamCreateWithPriority(&before, 1, 0));
    QUIET(EventCreate(&event, 0));
    {
        void *arguments[] = {&address};

        SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, before, arguments, NULL));
    }
    SAY(StreamSynchronize(before));
    SAY(StreamSynchronize(before));
    SAY(CtxSynchronize());
    SAY(StreamQuery(before));
    SAY(MemAlloc(&other, 4096));
    SAY(MemFree(address));
    SAY(MemcpyDtoH(&data, address, 4));
    SAY(MemHostAlloc(&host, 4096, 0));
    SAY(MemGetInfo(&bytes, &bytes));
    SAY(StreamCreateWithPriority(&stream, 1, 0));
    SAY(EventRecord(event, before));
    SAY(EventQuery(event));
    SAY(EventDestroy(event));
    SAY(LaunchKernel(harmless, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(ModuleLoadData(&another, faulty));
    SAY(ModuleGetFunction(&function, module, "fine"));
    SAY(ModuleUnload(module));
    SAY(StreamDestroy(before));
    SAY(CtxGetCurrent(&context));
    VALUE(context == primary);
    SAY(CtxGetDevice(&number));
    SAY(DeviceGetCount(&number));
    SAY(DeviceGetAttribute(&number, 75, 0));
    SAY(CtxPopCurrent(&context));
    SAY(CtxPushCurrent(primary));
    SAY(CtxCreate(&context, 0, 0));
    SAY(DevicePrimaryCtxRelease(0));
}

#define FAULT(name)                                                                                \
    static void name(void)                                                                         \
    {                                                                                              \
        fault(#name);                                                                              \
    }
FAULT(store_wild)
FAULT(load_wild)
FAULT(misaligned)
FAULT(trapping)
FAULT(shared_wild)
FAULT(atomic_wild)

const struct section fault_sections[] = {{"fault: store to nowhere", store_wild, 1},
    {"fault: load from nowhere", load_wild, 1}, {"fault: misaligned load", misaligned, 1},
    {"fault: trap", trapping, 1}, {"fault: beyond shared memory", shared_wild, 1},
    {"fault: atomic on nowhere", atomic_wild, 1}, {NULL, NULL, 0}};
