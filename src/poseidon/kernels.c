/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set's programs, made when a device first needs them and kept with the set, and launches.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "field/emit_field.h"
#include "pool/device.h"
#include "poseidon/kernels.h"

enum { FILE_COUNT = 4, TWO_THREAD_FILE = 3 };

static const char *const files[FILE_COUNT] = {
    "poseidon/permute.cu", "poseidon/hash.cu", "poseidon/sponge.cu", "poseidon/hash_2thread.cu"};

static const struct {
    const char *name;
    int file;
} kernels[POSEIDON_KERNEL_COUNT] = {
    [POSEIDON_PERMUTE] = {"poseidon_permute", 0},
    [POSEIDON_CONVERT] = {"poseidon_convert", 0},
    [POSEIDON_HASH] = {"poseidon_hash", 1},
    [POSEIDON_MERKLE_LEVEL] = {"poseidon_merkle_level", 1},
    [POSEIDON_SPONGE] = {"poseidon_sponge", 2},
    [POSEIDON_PERMUTE_2THREAD] = {"poseidon_permute_2thread", TWO_THREAD_FILE},
    [POSEIDON_HASH_2THREAD] = {"poseidon_hash_2thread", TWO_THREAD_FILE},
    [POSEIDON_MERKLE_LEVEL_2THREAD] = {"poseidon_merkle_level_2thread", TWO_THREAD_FILE},
};

/* 128 states a multiprocessor are a warp for each of its schedulers. Up to there a state's own time
 * counts, which two threads shorten: on an H200 by 1.4 (t = 3) to 1.75 (t = 12) up to 2^13 states,
 * by up to 1.3 at 2^14; at 2^15 they lose. */
uint32_t poseidon_pairs_below = 128;

/* Whether two threads can share a state: sums of products over several words are what they split.
 */
static bool is_shared(const pool_poseidon *set)
{
    return set->window.is_used && set->field->words > 2;
}

/* The kernel for so many items. */
static enum poseidon_kernel kernel_for(
    const pool_poseidon *set, pool_device *device, enum poseidon_kernel kernel, uint64_t count)
{
    uint64_t most =
        (uint64_t)poseidon_pairs_below * (uint32_t)device_properties(device)->multiprocessors;

    if (!is_shared(set) || count > most)
        return kernel;
    return kernel == POSEIDON_PERMUTE        ? POSEIDON_PERMUTE_2THREAD
           : kernel == POSEIDON_HASH         ? POSEIDON_HASH_2THREAD
           : kernel == POSEIDON_MERKLE_LEVEL ? POSEIDON_MERKLE_LEVEL_2THREAD
                                             : kernel;
}

/* Immutable once a set has it. */
struct poseidon_program {
    char *field_text;
    char *dot_text;
    char *set_text;
    pool_module_header texts[3];
    struct module_program programs[FILE_COUNT];
    struct module_key keys[FILE_COUNT];
};

void poseidon_program_free(struct poseidon_program *program)
{
    if (!program)
        return;
    base_free(program->field_text);
    base_free(program->dot_text);
    base_free(program->set_text);
    base_free(program);
}

static pool_status program_make(const pool_poseidon *set, struct poseidon_program **made)
{
    struct poseidon_program *program = base_calloc(1, sizeof(*program));
    const uint32_t lengths[] = {set->width - 1, set->width};
    pool_status status;

    if (!program)
        return base_fail_memory("a Poseidon set's program");
    status = field_emit_generate(set->field, "fr", &program->field_text);
    if (!status)
        status = field_emit_generate_dots(set->field, "fr", lengths, 2, &program->dot_text);
    if (!status)
        status = poseidon_generate(set, &program->set_text);
    program->texts[0] = (pool_module_header){"fr.cuh", program->field_text};
    program->texts[1] = (pool_module_header){"fr_dot.cuh", program->dot_text};
    program->texts[2] = (pool_module_header){"parameters.cuh", program->set_text};
    for (int i = 0; i < FILE_COUNT && !status; i++) {
        program->programs[i] =
            (struct module_program){.file = files[i], .texts = program->texts, .text_count = 3};
        status = module_program_identify(&program->programs[i], &program->keys[i]);
    }
    if (status)
        poseidon_program_free(program);
    else
        *made = program;
    return status;
}

/* The set's program; of several threads that make it the first one's stays. */
static pool_status program_of(const pool_poseidon *set, const struct poseidon_program **program)
{
    struct poseidon_program *found =
        atomic_load_explicit(&((pool_poseidon *)(uintptr_t)set)->program, memory_order_acquire);
    struct poseidon_program *mine = NULL;

    if (!found) {
        pool_status status = program_make(set, &mine);
        if (status)
            return status;
        if (atomic_compare_exchange_strong(
                &((pool_poseidon *)(uintptr_t)set)->program, &found, mine))
            found = mine;
        else
            poseidon_program_free(mine);
    }
    *program = found;
    return POOL_OK;
}

pool_status poseidon_each_program(const pool_poseidon *set, module_program_visit visit, void *user)
{
    const struct poseidon_program *program;
    pool_status status = program_of(set, &program);

    for (int i = 0; i < FILE_COUNT && !status; i++)
        if (i != TWO_THREAD_FILE || is_shared(set))
            status = visit(user, &program->programs[i]);
    return status;
}

pool_status poseidon_launch(const pool_poseidon *set, pool_device *device, pool_stream *stream,
    enum poseidon_kernel kernel, const struct poseidon_args *args)
{
    const struct poseidon_program *program;
    size_t bytes = sizeof(*args);
    void *arguments[1] = {(void *)(uintptr_t)args};
    enum poseidon_kernel chosen = kernel_for(set, device, kernel, args->count);
    uint64_t threads = args->count * (kernels[chosen].file == TWO_THREAD_FILE ? 2 : 1);
    uint64_t blocks = (threads + POSEIDON_BLOCK - 1) / POSEIDON_BLOCK;
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .block = {POSEIDON_BLOCK},
        .argument_count = 1,
        .argument_bytes = &bytes};
    pool_module *module;
    pool_kernel *function;
    pool_status status;

    if (args->count == 0)
        return POOL_OK;
    if (blocks > INT32_MAX)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "%llu items in one launch", (unsigned long long)args->count);
    shape.grid[0] = (uint32_t)blocks;
    status = program_of(set, &program);
    if (!status)
        status = module_program_get(device, &program->programs[kernels[chosen].file],
            &program->keys[kernels[chosen].file], &module);
    if (!status)
        status = poseidon_prove(
            set, device, &program->keys[kernels[chosen].file], kernels[chosen].file, module);
    if (!status)
        status = pool_kernel_get(module, kernels[chosen].name, &function);
    if (!status)
        status = pool_launch(function, &shape, arguments, stream);
    return status;
}

/* What warm-up loads. */
struct warming {
    const pool_poseidon *set;
    pool_device *device;
    const struct poseidon_program *program;
};

/* Loads a program and tests it. */
static pool_status warm_up_program(void *user, size_t index, bool only_ready, bool *is_there)
{
    const struct warming *warming = user;
    pool_module *module = NULL;
    struct module_building building = {
        .device = warming->device, .module = &module, .only_ready = only_ready};
    pool_status status = module_program_build(&building, &warming->program->programs[index]);

    *is_there = module != NULL;
    return status || !module ? status
                             : poseidon_prove(warming->set, warming->device,
                                   &warming->program->keys[index], (int)index, module);
}

pool_status pool_poseidon_warm_up(const pool_poseidon *set, pool_device *device)
{
    struct warming warming = {.set = set};
    struct module_loading loading = {.load = warm_up_program, .user = &warming};
    pool_status status;

    if (!set)
        return base_fail_null("pool_poseidon_warm_up", "set");
    loading.count = is_shared(set) ? FILE_COUNT : TWO_THREAD_FILE;
    status = device_or_bound(device, &warming.device);
    if (!status)
        status = program_of(set, &warming.program);
    return status ? status : module_load_programs(&loading);
}
