/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the PTX executor: device memory that is an array of blocks, and launches of a kernel
 * in PTX.
 */
#ifndef TESTS_SIMULATOR_EXECUTOR_H
#define TESTS_SIMULATOR_EXECUTOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "driver/sim/exec/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_BLOCKS = 32 };

struct machine {
    struct sim_program *program;
    struct sim_range blocks[MACHINE_BLOCKS];
    unsigned block_count;
    uint64_t variables[64];
    struct base_thread_pool *workers;
    struct sim_counts counts;
    struct sim_fault fault;
    uint64_t limit;
    uint32_t checks;
    uint32_t dynamic_shared;
    uint32_t stack_bytes;
    bool is_cooperative;
    void (*count)(void *context, const struct sim_access_count *count);
    void *count_context;
    char printed[4096];
};

static inline bool machine_resolve(void *context, uint64_t address, struct sim_range *range)
{
    struct machine *m = context;
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < m->block_count; i++) {
        const struct sim_range *b = &m->blocks[i];
        uint64_t distance = address < b->base ? b->base - address : address - b->base;
        if (address >= b->base && address - b->base < b->size) {
            *range = *b;
            return true;
        }
        if (distance < best) {
            best = distance;
            *range = *b;
        }
    }
    return false;
}

static inline void machine_print(void *context, const char *text, size_t length)
{
    struct machine *m = context;
    size_t used = strlen(m->printed);
    if (length > sizeof(m->printed) - 1 - used)
        length = sizeof(m->printed) - 1 - used;
    memcpy(m->printed + used, text, length);
    m->printed[used + length] = '\0';
}

/* Device memory of exactly so many bytes, with nothing allocated behind it. */
static inline void *machine_alloc(struct machine *m, size_t bytes)
{
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, 256, bytes ? bytes : 1), 0);
    memset(memory, 0, bytes);
    assert_true(m->block_count < MACHINE_BLOCKS);
    m->blocks[m->block_count++] = (struct sim_range){(uint64_t)(uintptr_t)memory, bytes};
    return memory;
}

static inline void machine_load(struct machine *m, const char *text)
{
    struct sim_load_error error;
    enum sim_load result = sim_program_parse(text, strlen(text), &m->program, &error);
    if (result != SIM_LOAD_OK)
        fail_msg("line %u: %s", error.line, error.text);
    for (size_t i = 0; i < sim_program_variable_count(m->program); i++)
        m->variables[i] = (uint64_t)(uintptr_t)machine_alloc(
            m, (size_t)sim_program_variable(m->program, i)->size);
    sim_program_write_variables(m->program, m->variables);
}

static inline enum sim_fault_kind machine_launch(struct machine *m, const char *kernel,
    uint32_t blocks, uint32_t threads, const void *parameters)
{
    struct sim_launch launch = {
        .program = m->program,
        .kernel = sim_program_find_kernel(m->program, kernel),
        .grid = {blocks, 1, 1},
        .block = {threads, 1, 1},
        .parameters = parameters,
        .dynamic_shared_bytes = m->dynamic_shared,
        .stack_bytes = m->stack_bytes,
        .variables = m->variables,
        .memory = {machine_resolve, m},
        .workers = m->workers,
        .instruction_limit = m->limit,
        .is_cooperative = m->is_cooperative,
        .checks = m->checks,
        .multiprocessor_count = 4,
        .grid_id = 7,
        .print = machine_print,
        .print_context = m,
        .count = m->count,
        .count_context = m->count_context,
    };
    assert_non_null(launch.kernel);
    return sim_launch_run(&launch, &m->counts, &m->fault);
}

static inline void machine_run(struct machine *m, const char *kernel, uint32_t blocks,
    uint32_t threads, const void *parameters)
{
    if (machine_launch(m, kernel, blocks, threads, parameters) != SIM_FAULT_NONE)
        fail_msg("%s", m->fault.text);
}

static inline void machine_free(struct machine *m)
{
    for (unsigned i = 0; i < m->block_count; i++)
        free((void *)(uintptr_t)m->blocks[i].base);
    sim_program_free(&m->program);
    base_thread_pool_destroy(&m->workers);
}

#endif
