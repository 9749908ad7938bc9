/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of a parameter set: compiled and tested at the first use on a device and found by
 * the set's fingerprint afterwards.
 */
#include "poseidon/kernels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/params.h"
#include "base/status.h"
#include "field/emit_field.h"
#include "pool/device.h"

enum program { PERMUTE_PROGRAM, HASH_PROGRAM, SPONGE_PROGRAM, TWO_THREAD_PROGRAM, PROGRAM_COUNT };

static const struct {
    const char *file;
    enum poseidon_kernel tested; /* the kernel that the self-test launches */
} programs[PROGRAM_COUNT] = {
    [PERMUTE_PROGRAM] = {"poseidon/permute.cu", POSEIDON_PERMUTE},
    [HASH_PROGRAM] = {"poseidon/hash.cu", POSEIDON_HASH},
    [SPONGE_PROGRAM] = {"poseidon/sponge.cu", POSEIDON_SPONGE},
    [TWO_THREAD_PROGRAM] = {"poseidon/hash_2thread.cu", POSEIDON_PERMUTE_2THREAD},
};

static const struct {
    const char *name;
    enum program program;
} kernels[POSEIDON_KERNEL_COUNT] = {
    [POSEIDON_PERMUTE] = {"poseidon_permute", PERMUTE_PROGRAM},
    [POSEIDON_CONVERT] = {"poseidon_convert", PERMUTE_PROGRAM},
    [POSEIDON_HASH] = {"poseidon_hash", HASH_PROGRAM},
    [POSEIDON_MERKLE_LEVEL] = {"poseidon_merkle_level", HASH_PROGRAM},
    [POSEIDON_SPONGE] = {"poseidon_sponge", SPONGE_PROGRAM},
    [POSEIDON_PERMUTE_2THREAD] = {"poseidon_permute_2thread", TWO_THREAD_PROGRAM},
    [POSEIDON_HASH_2THREAD] = {"poseidon_hash_2thread", TWO_THREAD_PROGRAM},
    [POSEIDON_MERKLE_LEVEL_2THREAD] = {"poseidon_merkle_level_2thread", TWO_THREAD_PROGRAM},
};

/* Two threads share a state by dividing dot products of elements of several words. */
static bool has_two_thread_kernels(const pool_poseidon *set)
{
    return set->recurrence.is_used && set->field->words > 2;
}

static size_t program_count(const pool_poseidon *set)
{
    return has_two_thread_kernels(set) ? PROGRAM_COUNT : TWO_THREAD_PROGRAM;
}

static struct module_program_key program_key(const pool_poseidon *set, enum program program)
{
    struct module_program_key key = {.file = programs[program].file};

    memcpy(key.fingerprint, set->fingerprint, sizeof(key.fingerprint));
    return key;
}

/* The generated sources that all programs of a parameter set include. */
struct sources {
    const char *name; /* of the parameter set; borrowed */
    char *field;
    char *dot_products;
    char *parameters;
};

static void free_sources(struct sources *sources)
{
    base_free(sources->field);
    base_free(sources->dot_products);
    base_free(sources->parameters);
}

static pool_status generate_sources(const pool_poseidon *set, struct sources *sources)
{
    const uint32_t lengths[] = {set->width - 1, set->width};
    pool_status status = field_emit_generate(set->field, "fr", &sources->field);

    sources->name = set->name;
    if (!status)
        status = field_emit_generate_dots(set->field, "fr", lengths, 2, &sources->dot_products);
    if (!status)
        status = poseidon_generate(set, &sources->parameters);
    return status;
}

static pool_status visit_program(
    const struct sources *sources, const char *file, module_program_visit visit, void *user)
{
    const pool_module_header headers[] = {{"fr.cuh", sources->field},
        {"fr_dot.cuh", sources->dot_products}, {"parameters.cuh", sources->parameters}};
    const struct module_program program = {
        .file = file, .subject = sources->name, .texts = headers, .text_count = 3};

    return visit(user, &program);
}

static pool_status generate_program(const void *subject, const struct module_program_key *key,
    module_program_visit visit, void *user)
{
    struct sources sources = {0};
    pool_status status = generate_sources(subject, &sources);

    if (!status)
        status = visit_program(&sources, key->file, visit, user);
    free_sources(&sources);
    return status;
}

pool_status poseidon_each_program(const pool_poseidon *set, module_program_visit visit, void *user)
{
    struct sources sources = {0};
    pool_status status = generate_sources(set, &sources);

    for (size_t i = 0; i < program_count(set) && !status; i++)
        status = visit_program(&sources, programs[i].file, visit, user);
    free_sources(&sources);
    return status;
}

/* Loads a program at its first use on a device, tests it then, and returns its module. */
static pool_status load_program(
    const pool_poseidon *set, pool_device *device, enum program program, pool_module **module)
{
    const struct module_generator generator = {generate_program, set};
    const struct module_program_key key = program_key(set, program);
    enum poseidon_kernel tested = programs[program].tested;
    pool_kernel *function;
    pool_status status = module_find_or_load(device, &generator, &key, module);

    if (!status)
        status = pool_kernel_get(*module, kernels[tested].name, &function);
    return status ? status : poseidon_self_test(set, device, *module, tested, function);
}

pool_status poseidon_launch(const pool_poseidon *set, pool_device *device, pool_stream *stream,
    enum poseidon_kernel kernel, const struct poseidon_args *args)
{
    const struct chip chip = chip_of(device);
    const struct poseidon_launch_plan plan =
        poseidon_plan_launch(&set->tuning, &chip, kernel, has_two_thread_kernels(set), args->count);
    const size_t sizes[] = {sizeof(*args)};
    void *arguments[] = {(void *)(uintptr_t)args};
    struct module_launch launch = {.blocks = plan.blocks,
        .threads = POSEIDON_BLOCK,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes,
        .stream = stream};
    pool_module *module;
    pool_status status;

    if (args->count == 0)
        return POOL_OK;
    status = load_program(set, device, kernels[plan.kernel].program, &module);
    if (!status)
        status = pool_kernel_get(module, kernels[plan.kernel].name, &launch.kernel);
    return status ? status : module_launch_enqueue(&launch);
}

pool_status pool_poseidon_warm_up(const pool_poseidon *set, pool_device *device)
{
    const struct module_generator generator = {generate_program, set};
    struct module_program_key keys[PROGRAM_COUNT];
    pool_module *module;
    pool_status status;

    if (!set)
        return base_fail_null("pool_poseidon_warm_up", "set");
    status = device_or_bound(device, &device);
    for (enum program i = 0; i < program_count(set); i++)
        keys[i] = program_key(set, i);
    if (!status)
        status = module_load_keys(device, &generator, keys, program_count(set));
    for (enum program i = 0; i < program_count(set) && !status; i++)
        status = load_program(set, device, i, &module);
    return status;
}
