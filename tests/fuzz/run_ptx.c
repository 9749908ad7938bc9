/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/run_ptx.h"

#include <stdlib.h>
#include <string.h>

#include "driver/sim/exec/executor.h"

enum { MOST_BYTES = 1 << 16, MOST_VARIABLES = 64 };

struct memory {
    struct sim_range ranges[MOST_VARIABLES + 1];
    unsigned count;
};

static bool resolve(void *context, uint64_t address, struct sim_range *range)
{
    const struct memory *memory = context;
    for (unsigned i = 0; i < memory->count; i++)
        if (address - memory->ranges[i].base < memory->ranges[i].size) {
            *range = memory->ranges[i];
            return true;
        }
    return false;
}

static uint64_t give(struct memory *memory, size_t bytes)
{
    void *at = NULL;
    if (posix_memalign(&at, 256, bytes + 1) != 0)
        abort();
    memset(at, 0, bytes);
    memory->ranges[memory->count++] = (struct sim_range){(uint64_t)(uintptr_t)at, bytes};
    return (uint64_t)(uintptr_t)at;
}

static void run(const struct sim_program *program, const struct sim_kernel *kernel,
    struct memory *memory, const uint64_t *variables, uint64_t buffer)
{
    static uint64_t parameters[MOST_BYTES / 8];
    struct sim_launch launch = {.program = program,
        .kernel = kernel,
        .grid = {2, 1, 1},
        .block = {40, 1, 1},
        .parameters = parameters,
        .dynamic_shared_bytes = 64,
        .variables = variables,
        .memory = {resolve, memory},
        .instruction_limit = 2000,
        .checks = SIM_CHECK_SHARED_INIT | SIM_CHECK_RACES};
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
        parameters[i] = buffer;
    struct sim_counts counts;
    struct sim_fault fault;
    sim_launch_run(&launch, &counts, &fault);
}

bool run_ptx(const char *text, size_t size, uint8_t left[RUN_BUFFER_BYTES])
{
    /* Always at the same address, so that values computed from it are the same in every run. */
    static _Alignas(256) uint8_t buffer[RUN_BUFFER_BYTES];
    struct sim_program *program = NULL;
    struct sim_load_error error;
    if (sim_program_parse(text, size, &program, &error) != SIM_LOAD_OK)
        return false;
    struct memory memory = {.count = 0};
    uint64_t variables[MOST_VARIABLES];
    size_t count = sim_program_variable_count(program);
    bool is_small = count < MOST_VARIABLES;
    for (size_t i = 0; is_small && i < count; i++)
        is_small = sim_program_variable(program, i)->size <= MOST_BYTES;
    if (is_small) {
        for (size_t i = 0; i < count; i++)
            variables[i] = give(&memory, (size_t)sim_program_variable(program, i)->size);
        sim_program_write_variables(program, variables);
        uint64_t address = (uint64_t)(uintptr_t)buffer;
        memset(buffer, 0, sizeof(buffer));
        memory.ranges[memory.count++] = (struct sim_range){address, sizeof(buffer)};
        for (size_t i = 0; i < sim_program_kernel_count(program) && i < 4; i++) {
            const struct sim_kernel *kernel = sim_program_kernel(program, i);
            if (kernel->local_bytes <= 4096 && kernel->shared_bytes <= MOST_BYTES)
                run(program, kernel, &memory, variables, address);
        }
        if (left)
            memcpy(left, buffer, sizeof(buffer));
    }
    for (size_t i = 0; is_small && i < count; i++)
        free((void *)(uintptr_t)variables[i]);
    sim_program_free(&program);
    return true;
}
