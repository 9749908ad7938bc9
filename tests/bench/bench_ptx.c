/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The speed of the PTX simulator: lane instructions per second on one core and on all, for a kernel
 * of carry chains (Montgomery products of eight 32-bit limbs in a loop), and milliseconds to parse
 * one megabyte of PTX.
 */
#include "driver/sim/exec/executor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/bench.h"

enum { LIMBS = 8, ROUNDS = 400, BLOCKS = 16, THREADS = 128, RUNS = 5 };

static const uint32_t modulus[LIMBS] = {
    0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};

/* %x = %x * %y / 2^256 modulo the BN254 base field, below twice the modulus: rows of low and of
 * high halves. */
static void write_product(FILE *ptx)
{
    fprintf(ptx, "{\n.reg .b32 %%t<10>, %%m;\n");
    for (int i = 0; i < 10; i++)
        fprintf(ptx, "mov.u32 %%t%d, 0;\n", i);
    for (int i = 0; i < LIMBS; i++) {
        for (int j = 0; j < LIMBS; j++)
            fprintf(ptx, "mad%s.lo.cc.u32 %%t%d, %%x%d, %%y%d, %%t%d;\n", j ? "c" : "", j, j, i, j);
        fprintf(ptx, "addc.u32 %%t8, %%t8, 0;\n");
        for (int j = 0; j < LIMBS; j++)
            fprintf(ptx, "mad%s.hi.cc.u32 %%t%d, %%x%d, %%y%d, %%t%d;\n", j ? "c" : "", j + 1, j, i,
                j + 1);
        fprintf(ptx, "addc.u32 %%t9, 0, 0;\nmul.lo.u32 %%m, %%t0, 0xe4866389;\n");
        for (int j = 0; j < LIMBS; j++)
            fprintf(
                ptx, "mad%s.lo.cc.u32 %%t%d, %%m, %u, %%t%d;\n", j ? "c" : "", j, modulus[j], j);
        fprintf(ptx, "addc.cc.u32 %%t8, %%t8, 0;\naddc.u32 %%t9, %%t9, 0;\n");
        fprintf(ptx, "mad.hi.cc.u32 %%t0, %%m, %u, %%t1;\n", modulus[0]);
        for (int j = 1; j < LIMBS; j++)
            fprintf(ptx, "madc.hi.cc.u32 %%t%d, %%m, %u, %%t%d;\n", j, modulus[j], j + 1);
        fprintf(ptx, "addc.u32 %%t8, %%t9, 0;\n");
    }
    for (int i = 0; i < LIMBS; i++)
        fprintf(ptx, "mov.u32 %%x%d, %%t%d;\n", i, i);
    fprintf(ptx, "}\n");
}

static void write_kernel(FILE *ptx, int index, int products)
{
    fprintf(ptx, ".visible .entry k%d(.param .u64 out)\n{\n.reg .b32 %%x<8>, %%y<8>, %%i, %%j;\n",
        index);
    fprintf(ptx,
        ".reg .b64 %%p;\n.reg .pred %%q;\nld.param.u64 %%p, [out];\nmov.u32 %%i, %%ctaid.x;\n");
    fprintf(ptx,
        "mov.u32 %%j, %%ntid.x;\nmul.lo.u32 %%i, %%i, %%j;\nmov.u32 %%j, %%tid.x;\nadd.u32 %%i, "
        "%%i, %%j;\n");
    for (int i = 0; i < LIMBS; i++)
        fprintf(ptx, "add.u32 %%x%d, %%i, %d;\nadd.u32 %%y%d, %%i, %d;\n", i, i, i, i * 7);
    fprintf(ptx, "mad.wide.u32 %%p, %%i, 4, %%p;\nmov.u32 %%j, 0;\n$L%d:\n", index);
    for (int i = 0; i < products; i++)
        write_product(ptx);
    fprintf(
        ptx, "add.u32 %%j, %%j, 1;\nsetp.lt.u32 %%q, %%j, %d;\n@%%q bra $L%d;\n", ROUNDS, index);
    fprintf(ptx, "st.global.u32 [%%p], %%x0;\nret;\n}\n");
}

static bool resolve_address(void *context, uint64_t address, struct sim_range *range)
{
    *range = *(struct sim_range *)context;
    return address - range->base < range->size;
}

static struct sim_program *parse_ptx(const char *ptx, size_t length, double *seconds)
{
    struct sim_program *program = NULL;
    struct sim_load_error error;
    double start = bench_now();

    if (sim_program_parse(ptx, length, &program, &error) != SIM_LOAD_OK) {
        fprintf(stderr, "line %u: %s\n", error.line, error.text);
        exit(1);
    }
    *seconds = bench_now() - start;
    return program;
}

/* Runs the first kernel five times and prints the best rate. */
static void report_execution(
    const struct sim_program *program, struct base_thread_pool *workers, const char *what)
{
    uint32_t *out = bench_alloc(BLOCKS * THREADS, sizeof(*out));
    uint64_t parameter = (uint64_t)(uintptr_t)out;
    struct sim_range range = {parameter, BLOCKS * THREADS * sizeof(*out)};
    struct sim_launch launch = {.program = program,
        .kernel = sim_program_kernel(program, 0),
        .grid = {BLOCKS, 1, 1},
        .block = {THREADS, 1, 1},
        .parameters = &parameter,
        .memory = {resolve_address, &range},
        .workers = workers};
    struct sim_counts counts;
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        double start = bench_now();

        if (sim_launch_run(&launch, &counts, NULL) != SIM_FAULT_NONE)
            exit(1);
        best = fmin(best, bench_now() - start);
    }
    printf("%-9s %6.2f G lane instructions/s (%.1f ns per warp instruction)\n", what,
        (double)counts.lane_instructions / best / 1e9,
        best * 1e9 / (double)counts.warp_instructions);
    free(out);
}

/* Returns a module of as many kernels as reach `length` bytes, each with several products. */
static char *create_ptx(size_t *length, size_t min_length, int products)
{
    char *text = NULL;
    FILE *ptx = open_memstream(&text, length);

    fputs(".version 9.0\n.target sm_90\n.address_size 64\n", ptx);
    for (int i = 0; i == 0 || (size_t)ftell(ptx) < min_length; i++)
        write_kernel(ptx, i, products);
    fclose(ptx);
    return text;
}

int main(void)
{
    size_t length;
    char *ptx = create_ptx(&length, 0, 1);
    struct base_thread_pool *workers = NULL;
    double seconds, best = 1e9;
    struct sim_program *program = parse_ptx(ptx, length, &seconds);

    report_execution(program, NULL, "one core");
    if (base_thread_pool_create(0, &workers))
        report_execution(program, workers, "all cores");
    base_thread_pool_destroy(&workers);
    sim_program_free(&program);
    free(ptx);
    ptx = create_ptx(&length, 1000000, 5);
    for (int i = 0; i < RUNS; i++) {
        program = parse_ptx(ptx, length, &seconds);
        best = fmin(best, seconds);
        sim_program_free(&program);
    }
    printf("parse   %zu bytes in %.1f ms\n", length, best * 1e3);
    free(ptx);
    return 0;
}
