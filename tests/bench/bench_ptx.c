/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of the PTX machine: lane instructions a second on one core and on all for a carry-chain
 * kernel (Montgomery products of eight 32-bit limbs in a loop), and milliseconds to parse a text of
 * one megabyte.
 */
#include "sim/exec/executor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIMBS = 8, ROUNDS = 400, BLOCKS = 16, THREADS = 128 };

struct text {
    char *bytes;
    size_t length, room;
};

static const uint32_t modulus[LIMBS] = {
    0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (t->length + (size_t)n + 1 > t->room) {
        t->room = (t->room + (size_t)n) * 2;
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes)
            exit(1);
    }
    memcpy(t->bytes + t->length, line, (size_t)n + 1);
    t->length += (size_t)n;
}

/* %x = %x * %y / 2^256 modulo the BN254 base field, below twice the modulus: rows of low and of
 * high halves. */
static void put_product(struct text *t)
{
    put(t, "{\n.reg .b32 %%t<10>, %%m;\n");
    for (int i = 0; i < 10; i++)
        put(t, "mov.u32 %%t%d, 0;\n", i);
    for (int i = 0; i < LIMBS; i++) {
        for (int j = 0; j < LIMBS; j++)
            put(t, "mad%s.lo.cc.u32 %%t%d, %%x%d, %%y%d, %%t%d;\n", j ? "c" : "", j, j, i, j);
        put(t, "addc.u32 %%t8, %%t8, 0;\n");
        for (int j = 0; j < LIMBS; j++)
            put(t, "mad%s.hi.cc.u32 %%t%d, %%x%d, %%y%d, %%t%d;\n", j ? "c" : "", j + 1, j, i,
                j + 1);
        put(t, "addc.u32 %%t9, 0, 0;\nmul.lo.u32 %%m, %%t0, 0xe4866389;\n");
        for (int j = 0; j < LIMBS; j++)
            put(t, "mad%s.lo.cc.u32 %%t%d, %%m, %u, %%t%d;\n", j ? "c" : "", j, modulus[j], j);
        put(t, "addc.cc.u32 %%t8, %%t8, 0;\naddc.u32 %%t9, %%t9, 0;\n");
        put(t, "mad.hi.cc.u32 %%t0, %%m, %u, %%t1;\n", modulus[0]);
        for (int j = 1; j < LIMBS; j++)
            put(t, "madc.hi.cc.u32 %%t%d, %%m, %u, %%t%d;\n", j, modulus[j], j + 1);
        put(t, "addc.u32 %%t8, %%t9, 0;\n");
    }
    for (int i = 0; i < LIMBS; i++)
        put(t, "mov.u32 %%x%d, %%t%d;\n", i, i);
    put(t, "}\n");
}

static void put_kernel(struct text *t, int index, int products)
{
    put(t, ".visible .entry k%d(.param .u64 out)\n{\n.reg .b32 %%x<8>, %%y<8>, %%i, %%j;\n", index);
    put(t, ".reg .b64 %%p;\n.reg .pred %%q;\nld.param.u64 %%p, [out];\nmov.u32 %%i, %%ctaid.x;\n");
    put(t, "mov.u32 %%j, %%ntid.x;\nmul.lo.u32 %%i, %%i, %%j;\nmov.u32 %%j, %%tid.x;\nadd.u32 %%i, "
           "%%i, %%j;\n");
    for (int i = 0; i < LIMBS; i++)
        put(t, "add.u32 %%x%d, %%i, %d;\nadd.u32 %%y%d, %%i, %d;\n", i, i, i, i * 7);
    put(t, "mad.wide.u32 %%p, %%i, 4, %%p;\nmov.u32 %%j, 0;\n$L%d:\n", index);
    for (int i = 0; i < products; i++)
        put_product(t);
    put(t, "add.u32 %%j, %%j, 1;\nsetp.lt.u32 %%q, %%j, %d;\n@%%q bra $L%d;\n", ROUNDS, index);
    put(t, "st.global.u32 [%%p], %%x0;\nret;\n}\n");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool resolve(void *context, uint64_t address, struct sim_range *range)
{
    *range = *(struct sim_range *)context;
    return address - range->base < range->size;
}

static struct sim_program *parse(const struct text *t, double *seconds)
{
    struct sim_program *program = NULL;
    struct sim_load_error error;
    double start = now();
    if (sim_program_parse(t->bytes, t->length, &program, &error) != SIM_LOAD_OK) {
        fprintf(stderr, "line %u: %s\n", error.line, error.text);
        exit(1);
    }
    *seconds = now() - start;
    return program;
}

static void bench_run(
    const struct sim_program *program, struct base_thread_pool *workers, const char *what)
{
    uint32_t *out = calloc(BLOCKS * THREADS, sizeof(*out));
    uint64_t parameter = (uint64_t)(uintptr_t)out;
    struct sim_range range = {parameter, BLOCKS * THREADS * sizeof(*out)};
    struct sim_launch launch = {.program = program,
        .kernel = sim_program_kernel(program, 0),
        .grid = {BLOCKS, 1, 1},
        .block = {THREADS, 1, 1},
        .parameters = &parameter,
        .memory = {resolve, &range},
        .workers = workers};
    struct sim_counts counts;
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        double start = now();
        if (sim_launch_run(&launch, &counts, NULL) != SIM_FAULT_NONE)
            exit(1);
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    printf("%-7s %-9s %6.2f G lane instructions/s (%.1f ns a warp instruction)\n", sim_lanes_name(),
        what, (double)counts.lane_instructions / best / 1e9,
        best * 1e9 / (double)counts.warp_instructions);
    free(out);
}

int main(void)
{
    struct text small = {0}, large = {0};
    struct base_thread_pool *workers = NULL;
    double seconds, best = 1e9;
    const char *head = ".version 9.0\n.target sm_90\n.address_size 64\n";
    put(&small, "%s", head);
    put_kernel(&small, 0, 1);
    struct sim_program *program = parse(&small, &seconds);
    bench_run(program, NULL, "one core");
    if (base_thread_pool_create(0, &workers))
        bench_run(program, workers, "all cores");
    base_thread_pool_destroy(&workers);
    sim_program_free(&program);
    put(&large, "%s", head);
    for (int i = 0; large.length < 1000000; i++)
        put_kernel(&large, i, 5);
    for (int i = 0; i < 5; i++) {
        program = parse(&large, &seconds);
        best = seconds < best ? seconds : best;
        sim_program_free(&program);
    }
    printf("parse   %zu bytes in %.1f ms\n", large.length, best * 1e3);
    free(small.bytes);
    free(large.bytes);
    return 0;
}
