/* SPDX-License-Identifier: Apache-2.0 */
/* Transcript: modules, functions, launches and their errors. */
#include <string.h>

#include "transcript.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char good[] =
    HEAD ".visible .global .align 4 .u32 counter = 5;\n"
         ".const .align 8 .b8 table[64];\n"
         ".visible .entry one(.param .u32 n)\n.maxntid 64, 1, 1\n{\n    ret;\n}\n"
         ".visible .entry plain()\n{\n    ret;\n}\n"
         ".visible .entry add(.param .u64 to, .param .u32 n, .param .align 8 .b8 more[24])\n{\n"
         ".reg .b64 a; .reg .b32 b, c; .shared .align 4 .b8 s[1024];\n"
         "ld.param.u64 a, [to]; ld.param.u32 b, [n]; mov.u32 c, s; st.shared.u32 [c], b;\n"
         "atom.global.add.u32 c, [a], b; ret;\n}\n"
         ".visible .entry huge()\n{\n.reg .b32 c; .shared .align 4 .b8 s[49152];\n"
         "mov.u32 c, s; st.shared.u32 [c], 1; ret;\n}\n";

static const struct {
    const char *what;
    const char *text;
} images[] = {
    {"good", good},
    {"empty module", HEAD},
    {"empty text", ""},
    {"garbage", "this is no module"},
    {"no version", ".target sm_80\n.address_size 64\n"},
    {"no target", ".version 8.0\n"},
    {"version of the future", ".version 99.0\n.target sm_80\n.address_size 64\n"},
    {"old version",
        ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"target of a newer chip",
        ".version 8.8\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"unknown target", ".version 8.0\n.target sm_999\n.address_size 64\n"},
    {"version too old for the target", ".version 7.0\n.target sm_90\n.address_size 64\n"},
    {"own chip only",
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"},
    {"unknown opcode", HEAD ".visible .entry k() { frobnicate.u32 1; ret; }\n"},
    {"undeclared register", HEAD ".visible .entry k() { mov.u32 a, 1; ret; }\n"},
    {"wrong width", HEAD ".visible .entry k() { .reg .b64 a; add.u32 a, a, 1; ret; }\n"},
    {"unknown label", HEAD ".visible .entry k() { bra nowhere; ret; }\n"},
    {"unclosed", HEAD ".visible .entry k() { ret;\n"},
    {"twice", HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n"},
    {"extern function", HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }\n"},
};

static void loads(void)
{
    static char image[1 << 16];
    char path[512];
    CUmodule module;
    FILE *file;

    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        pool_cu_result code = cu->ModuleLoadData(&module, images[i].text);

        printf("%s -> %u\n", images[i].what, code);
        if (!code)
            QUIET(ModuleUnload(module));
    }
    SAY(ModuleLoadData(NULL, good));
    SAY(ModuleLoadData(&module, NULL));
    snprintf(path, sizeof(path), "%s/sm75.cubin", vectors);
    file = fopen(path, "rb");
    VALUE(file && fread(image, 1, sizeof(image), file) > 1000);
    if (file)
        fclose(file);
    printf("machine code of another chip -> %u\n", cu->ModuleLoadData(&module, image));
}

static void names(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr address = 0;
    size_t bytes = 0, offset = 0;
    uint32_t value = 0;

    QUIET(ModuleLoadData(&module, good));
    SAY(ModuleGetFunction(&function, module, "two"));
    SAY(ModuleGetFunction(&function, module, ""));
    SAY(ModuleGetFunction(&function, module, NULL));
    SAY(ModuleGetFunction(NULL, module, "one"));
    SAY(ModuleGetFunction(&function, NULL, "one"));
    SAY(ModuleGetFunction(&function, module, "counter"));
    SAY(ModuleGetFunction(&function, module, "add"));
    SAY(ModuleGetGlobal(&address, &bytes, module, "counter"));
    VALUE(bytes);
    SAY(MemcpyDtoH(&value, address, 4));
    VALUE(value);
    SAY(ModuleGetGlobal(&address, NULL, module, "counter"));
    SAY(ModuleGetGlobal(NULL, &bytes, module, "counter"));
    SAY(ModuleGetGlobal(&address, &bytes, module, "add"));
    SAY(ModuleGetGlobal(&address, &bytes, module, "nothing"));
    SAY(ModuleGetGlobal(&address, &bytes, module, NULL));
    for (size_t i = 0; i < 4; i++) {
        pool_cu_result code = cu->FuncGetParamInfo(function, i, &offset, &bytes);

        printf("parameter %zu -> %u", i, code);
        printf(code ? "\n" : ": %zu bytes at %zu\n", bytes, offset);
    }
    SAY(ModuleUnload(module));
    SAY(ModuleUnload(NULL));
}

static void functions(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    int value = 0, blocks = 0;

    QUIET(ModuleLoadData(&module, good));
    QUIET(ModuleGetFunction(&function, module, "add"));
    for (pool_cu_enum attribute = 0; attribute < 12; attribute++)
        printf(
            "attribute %u -> %u\n", attribute, cu->FuncGetAttribute(&value, attribute, function));
    SAY(FuncGetAttribute(&value, 0, function));
    VALUE(value);
    SAY(FuncGetAttribute(&value, 1, function));
    VALUE(value);
    SAY(FuncGetAttribute(&value, 3, function));
    VALUE(value);
    SAY(FuncGetAttribute(&value, 777, function));
    SAY(FuncGetAttribute(NULL, 0, function));
    SAY(FuncGetAttribute(&value, 0, NULL));
    SAY(FuncSetAttribute(function, 8, 100000));
    SAY(FuncGetAttribute(&value, 8, function));
    VALUE(value);
    SAY(FuncSetAttribute(function, 8, 227 * 1024 - 1024));
    SAY(FuncSetAttribute(function, 8, 227 * 1024));
    SAY(FuncSetAttribute(function, 8, 1 << 24));
    SAY(FuncSetAttribute(function, 8, -1));
    SAY(FuncSetAttribute(function, 0, 10));
    SAY(FuncSetAttribute(function, 9, 50));
    SAY(FuncSetAttribute(function, 9, 101));
    SAY(FuncSetAttribute(function, 777, 1));
    SAY(FuncSetCacheConfig(function, 1));
    SAY(FuncSetCacheConfig(function, 99));
    SAY(OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0));
    SAY(OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 2048, 0));
    VALUE(blocks);
    SAY(OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
    VALUE(blocks);
    SAY(OccupancyMaxActiveBlocksPerMultiprocessor(NULL, function, 32, 0));
    QUIET(ModuleGetFunction(&function, module, "one"));
    SAY(FuncGetAttribute(&value, 0, function));
    VALUE(value);
    SAY(OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0));
    VALUE(blocks);
}

#define LAUNCH(gx, gy, gz, bx, by, bz, shared)                                                     \
    SAY(LaunchKernel(function, gx, gy, gz, bx, by, bz, shared, NULL, arguments, NULL))

/* Launches with attributes. */
static void extended(CUfunction function, void **arguments)
{
    pool_cu_launch_attribute attributes[2] = {{.id = 6, .value.number = 1}, {.id = 0}};
    pool_cu_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    SAY(LaunchKernelEx(NULL, function, arguments, NULL));
    SAY(LaunchKernelEx(&config, NULL, arguments, NULL));
    config.attributes = attributes;
    config.attribute_count = 1;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.attribute_count = 2;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    attributes[0].value.number = 0;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.attributes = NULL;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.attributes = attributes;
    attributes[0].id = 2;
    attributes[0].value.number = 1;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.grid[0] = 1000000;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.grid[0] = 0;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    config.grid[0] = 1;
    attributes[0].id = 1000;
    SAY(LaunchKernelEx(&config, function, arguments, NULL));
    SAY(CtxSynchronize());
}

static void launches(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    unsigned n = 1;
    void *arguments[] = {&n};

    QUIET(ModuleLoadData(&module, good));
    QUIET(ModuleGetFunction(&function, module, "plain"));
    LAUNCH(1, 1, 1, 1, 1, 1, 0);
    LAUNCH(0, 1, 1, 1, 1, 1, 0);
    LAUNCH(1, 0, 1, 1, 1, 1, 0);
    LAUNCH(1, 1, 1, 0, 1, 1, 0);
    LAUNCH(1, 1, 1, 1, 1, 0, 0);
    LAUNCH(1, 1, 1, 1024, 1, 1, 0);
    LAUNCH(1, 1, 1, 1025, 1, 1, 0);
    LAUNCH(1, 1, 1, 32, 33, 1, 0);
    LAUNCH(1, 1, 1, 1, 1, 64, 0);
    LAUNCH(1, 1, 1, 1, 1, 65, 0);
    LAUNCH(1, 65535, 1, 1, 1, 1, 0);
    LAUNCH(1, 65536, 1, 1, 1, 1, 0);
    LAUNCH(1, 1, 65536, 1, 1, 1, 0);
    LAUNCH(0x80000000, 1, 1, 1, 1, 1, 0);
    LAUNCH(1, 1, 1, 32, 1, 1, 49152);
    LAUNCH(1, 1, 1, 32, 1, 1, 49153);
    LAUNCH(1, 1, 1, 32, 1, 1, 1 << 20);
    SAY(FuncSetAttribute(function, 8, 65536));
    LAUNCH(1, 1, 1, 32, 1, 1, 65536);
    LAUNCH(1, 1, 1, 32, 1, 1, 65537);
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(LaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    SAY(LaunchCooperativeKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, NULL));
    SAY(LaunchCooperativeKernel(function, 1000000, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    SAY(LaunchCooperativeKernel(function, 0, 1, 1, 32, 1, 1, 0, NULL, NULL));
    SAY(CtxSynchronize());
    extended(function, arguments);
    QUIET(ModuleGetFunction(&function, module, "one"));
    LAUNCH(1, 1, 1, 64, 1, 1, 0);
    LAUNCH(1, 1, 1, 65, 1, 1, 0);
    LAUNCH(1, 1, 1, 8, 8, 1, 0);
    LAUNCH(1, 1, 1, 8, 8, 2, 0);
    QUIET(ModuleGetFunction(&function, module, "huge"));
    LAUNCH(1, 1, 1, 32, 1, 1, 0);
    LAUNCH(1, 1, 1, 32, 1, 1, 1);
    SAY(CtxSynchronize());
}

static void without_arguments(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;

    QUIET(ModuleLoadData(&module, good));
    QUIET(ModuleGetFunction(&function, module, "one"));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    SAY(CtxSynchronize());
}

static void other_context(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUstream stream = NULL, mine = NULL;
    CUcontext own = NULL;
    unsigned n = 1;
    void *arguments[] = {&n};

    QUIET(ModuleLoadData(&module, good));
    QUIET(ModuleGetFunction(&function, module, "plain"));
    QUIET(StreamCreateWithPriority(&stream, 1, 0));
    QUIET(CtxCreate(&own, 0, 0));
    QUIET(StreamCreateWithPriority(&mine, 1, 0));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, mine, arguments, NULL));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    SAY(StreamSynchronize(stream));
    SAY(ModuleGetFunction(&function, module, "one"));
    SAY(CtxDestroy(own));
    SAY(LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    SAY(CtxSynchronize());
}

const struct section module_sections[] = {{"module loads", loads, 1}, {"module names", names, 1},
    {"functions", functions, 1}, {"launches", launches, 1},
    {"launch without arguments", without_arguments, 1}, {"other context", other_context, 1},
    {NULL, NULL, 0}};
