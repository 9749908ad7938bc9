/* SPDX-License-Identifier: Apache-2.0 */
/* Accessors of a parsed program. */
#include "driver/sim/exec/program.h"

#include "base/alloc.h"
#include "base/math.h"

#include <string.h>

void sim_program_free(struct sim_program **program)
{
    if (!*program)
        return;
    base_arena_free(&(*program)->arena);
    base_free(*program);
    *program = NULL;
}

uint64_t sim_program_digest(const struct sim_program *program)
{
    return program->digest;
}

uint32_t sim_program_target(const struct sim_program *program)
{
    return program->target;
}

uint32_t sim_program_source(const struct sim_program *program, uint32_t ptx_line, const char **file)
{
    const struct sim_location *location;
    uint32_t low = 0, high = program->location_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (program->locations[middle].ptx_line <= ptx_line)
            low = middle + 1;
        else
            high = middle;
    }
    location = low ? &program->locations[low - 1] : NULL;
    for (uint32_t i = 0; location && location->line && i < program->file_count; i++)
        if (program->files[i].number == location->file) {
            *file = program->files[i].name;
            return location->line;
        }
    return 0;
}

size_t sim_program_kernel_count(const struct sim_program *program)
{
    return program->kernel_count;
}

const struct sim_kernel *sim_program_kernel(const struct sim_program *program, size_t index)
{
    return index < program->kernel_count ? &program->kernels[index] : NULL;
}

const struct sim_kernel *sim_program_find_kernel(
    const struct sim_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, name) == 0)
            return &program->kernels[i];
    return NULL;
}

size_t sim_program_variable_count(const struct sim_program *program)
{
    return program->variable_count;
}

const struct sim_variable *sim_program_variable(const struct sim_program *program, size_t index)
{
    return index < program->variable_count ? &program->variables[index] : NULL;
}

const struct sim_variable *sim_program_find_variable(
    const struct sim_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->variable_count; i++)
        if (strcmp(program->variables[i].name, name) == 0)
            return &program->variables[i];
    return NULL;
}

void sim_program_write_variables(const struct sim_program *program, const uint64_t *addresses)
{
    for (uint32_t i = 0; i < program->variable_count; i++)
        memset((void *)(uintptr_t)addresses[i], 0, program->variables[i].size);
    for (uint32_t i = 0; i < program->initial_count; i++) {
        const struct sim_initial *initial = &program->initials[i];
        uint64_t value = initial->value;
        if (initial->kind == 1)
            value += addresses[initial->target];
        else if (initial->kind == 2)
            value += SIM_CODE_BASE + (uint64_t)(initial->target + 1) * SIM_CODE_STEP;
        value >>= initial->shift;
        memcpy((unsigned char *)(uintptr_t)addresses[initial->variable] + initial->offset, &value,
            base_min(initial->size, 8));
    }
}
