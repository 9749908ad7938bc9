/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a group's program cases. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 4 };

static uint32_t *random_words(const char *name, uint32_t count)
{
    uint32_t *words = malloc((count ? count : 1) * sizeof(*words));
    uint64_t seed = 5381;

    if (!words)
        abort();
    for (; *name; name++)
        seed = seed * 33 + (unsigned char)*name;
    for (uint32_t i = 0; i < count; i++)
        words[i] = (uint32_t)random_next(&seed);
    return words;
}

static void launch(struct runner *runner, pool_module *module, const struct program_case *program,
    const uint32_t *in, uint32_t *out)
{
    uint32_t count = program->out_words;
    CUdeviceptr in_address, out_address;
    void *arguments[] = {&in_address, &out_address, &count};
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .dynamic_shared_bytes = program->dynamic_shared,
        .cooperative = program->cooperative,
        .argument_count = 3};
    pool_buffer *in_buffer, *out_buffer;
    pool_kernel *kernel;

    memcpy(shape.grid, program->grid, sizeof(shape.grid));
    memcpy(shape.block, program->block, sizeof(shape.block));
    must(pool_kernel_get(module, program->kernel, &kernel));
    must(pool_buffer_from_host(runner->device, in, program->in_words * sizeof(*in), &in_buffer));
    must(pool_buffer_zeroed(runner->device, count * sizeof(*out), &out_buffer));
    must(pool_buffer_address(in_buffer, &in_address));
    must(pool_buffer_address(out_buffer, &out_address));
    must(pool_launch(kernel, &shape, arguments, NULL));
    must(pool_copy_to_host(out, out_buffer, 0, count * sizeof(*out), NULL));
    must(pool_buffer_destroy(&in_buffer));
    must(pool_buffer_destroy(&out_buffer));
}

static int compare(const struct group *group, const struct program_case *program,
    const uint32_t *got, const uint32_t *want)
{
    unsigned wrong = 0;

    for (uint32_t i = 0; i < program->out_words; i++)
        if (got[i] != want[i] && wrong++ < SHOWN)
            printf("%s/%s: word %u: got %x, want %x\n", group->name, program->kernel, i, got[i],
                want[i]);
    if (wrong)
        printf("%s/%s: %u of %u words are wrong\n", group->name, program->kernel, wrong,
            program->out_words);
    return wrong != 0;
}

static int run_one(struct runner *runner, const struct group *group, pool_module *module,
    const struct program_case *program)
{
    size_t bytes = program->out_words * sizeof(uint32_t);
    uint32_t *in = random_words(program->kernel, program->in_words);
    uint32_t *got = malloc(bytes), *want = calloc(1, bytes);
    int failed;

    if (!got || !want)
        abort();
    launch(runner, module, program, in, got);
    program->answer(program, in, want);
    failed = compare(group, program, got, want);
    failed |= !group->has_no_digests && digest_check(group->name, program->kernel, got, bytes);
    free(in);
    free(got);
    free(want);
    return failed;
}

void run_programs(struct runner *runner, const struct group *group)
{
    pool_module_params params = {
        .struct_size = sizeof(params), .name = group->name, .source = group->source, .no_cache = 1};
    pool_module *module;

    if (!group->source)
        return;
    must(pool_module_compile(runner->device, &params, &module));
    for (size_t i = 0; i < group->program_count; i++) {
        const struct program_case *program = &group->programs[i];

        if (runner->only && !strstr(program->kernel, runner->only))
            continue;
        runner->run++;
        runner->failed += run_one(runner, group, module, program) != 0;
    }
    pool_module_destroy(&module);
}
