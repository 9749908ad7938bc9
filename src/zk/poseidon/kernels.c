/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of a parameter set: compiled and tested at the first use on a device and found by
 * the set's fingerprint afterwards.
 */
#include "zk/poseidon/kernels.h"

#include "base/math.h"
#include "base/parallel.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "zk/field/emit_field.h"
#include "zk/operation/operation.h"
#include "zk/operation/slices.h"

static const char *set_name(const void *set)
{
    return pool_poseidon_name(set);
}

static pool_status generate_field(const void *set, char **text)
{
    return field_emit_generate(((const pool_poseidon *)set)->field, "fr", text);
}

pool_status poseidon_generate_dot_products(const void *subject, char **text)
{
    const pool_poseidon *set = subject;
    const uint32_t lengths[] = {set->width - 1, set->width};

    return field_emit_generate_dots(set->field, "fr", lengths, 2, text);
}

static pool_status generate_parameters(const void *set, char **text)
{
    return poseidon_generate(set, text);
}

static const struct module_subject set_subject = {.name = set_name,
    .sources = {{"fr.cuh", generate_field}, {"fr_dot.cuh", poseidon_generate_dot_products},
        {"parameters.cuh", generate_parameters}}};

/*
 * A program per kernel that permutes, because nearly all of its compilation is the permutation:
 * what a caller does not launch is not compiled. ROWS is for matrices, whose own warm-up loads it.
 */
enum program {
    PERMUTE,
    HASH,
    MERKLE_LEVEL,
    SPONGE,
    CONVERT,
    PERMUTE_2THREAD,
    HASH_2THREAD,
    MERKLE_LEVEL_2THREAD,
    ROWS,
    PROGRAMS
};

static const struct module_program_type programs[PROGRAMS] = {
    [PERMUTE] = {.file = "poseidon/permute.cu", .subject = &set_subject},
    [HASH] = {.file = "poseidon/hash.cu", .subject = &set_subject},
    [MERKLE_LEVEL] = {.file = "poseidon/merkle_level.cu", .subject = &set_subject},
    [SPONGE] = {.file = "poseidon/sponge.cu", .subject = &set_subject},
    [CONVERT] = {.file = "poseidon/convert.cu", .subject = &set_subject},
    [PERMUTE_2THREAD] = {.file = "poseidon/permute_2thread.cu", .subject = &set_subject},
    [HASH_2THREAD] = {.file = "poseidon/hash_2thread.cu", .subject = &set_subject},
    [MERKLE_LEVEL_2THREAD] = {.file = "poseidon/merkle_level_2thread.cu", .subject = &set_subject},
    [ROWS] = {.file = "poseidon/rows.cu", .subject = &set_subject},
};

/* The kernel of each program that the self-test launches. */
static const enum poseidon_kernel tested_kernels[PROGRAMS] = {
    [PERMUTE] = POSEIDON_PERMUTE,
    [HASH] = POSEIDON_HASH,
    [MERKLE_LEVEL] = POSEIDON_MERKLE_LEVEL,
    [SPONGE] = POSEIDON_SPONGE,
    [CONVERT] = POSEIDON_CONVERT,
    [PERMUTE_2THREAD] = POSEIDON_PERMUTE_2THREAD,
    [HASH_2THREAD] = POSEIDON_HASH_2THREAD,
    [MERKLE_LEVEL_2THREAD] = POSEIDON_MERKLE_LEVEL_2THREAD,
    [ROWS] = POSEIDON_ROWS,
};

static const struct module_kernel_type kernels[POSEIDON_KERNEL_COUNT] = {
    [POSEIDON_PERMUTE] = {&programs[PERMUTE], "poseidon_permute"},
    [POSEIDON_CONVERT] = {&programs[CONVERT], "poseidon_convert"},
    [POSEIDON_HASH] = {&programs[HASH], "poseidon_hash"},
    [POSEIDON_MERKLE_LEVEL] = {&programs[MERKLE_LEVEL], "poseidon_merkle_level"},
    [POSEIDON_SPONGE] = {&programs[SPONGE], "poseidon_sponge"},
    [POSEIDON_ROWS] = {&programs[ROWS], "poseidon_rows"},
    [POSEIDON_GATHER] = {&programs[ROWS], "poseidon_gather"},
    [POSEIDON_PERMUTE_2THREAD] = {&programs[PERMUTE_2THREAD], "poseidon_permute_2thread"},
    [POSEIDON_HASH_2THREAD] = {&programs[HASH_2THREAD], "poseidon_hash_2thread"},
    [POSEIDON_MERKLE_LEVEL_2THREAD] = {&programs[MERKLE_LEVEL_2THREAD],
        "poseidon_merkle_level_2thread"},
};

/* Two threads share a state by dividing dot products of elements of several words. */
static bool has_two_thread_kernels(const pool_poseidon *set)
{
    return set->recurrence.is_used && set->field->words > 2;
}

/* The programs of permutations, hashes, sponges and trees. */
static size_t program_count(const pool_poseidon *set)
{
    return has_two_thread_kernels(set) ? ROWS : PERMUTE_2THREAD;
}

pool_status poseidon_each_program(const pool_poseidon *set, module_program_visit visit, void *user)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < PROGRAMS && !status; i++) {
        const struct module_program_key key = module_key_for(&programs[i], set->fingerprint);

        if (i < program_count(set) || i == ROWS)
            status = module_program_generate(set, &key, visit, user);
    }
    return status;
}

/* Loads a program at its first use on a device, tests it then, and returns its module. */
static pool_status load_program(const pool_poseidon *set, pool_device *device,
    const struct module_program_type *program, pool_module **module)
{
    const struct module_program_key key = module_key_for(program, set->fingerprint);
    enum poseidon_kernel tested = tested_kernels[program - programs];
    pool_status status = module_find_or_load(device, set, &key, module);

    return status ? status : poseidon_self_test(set, *module, tested, kernels[tested].name);
}

/* Compiles the kernels of a tree's levels: the wide ones at the bottom have a thread per state,
 * those above two. In parallel that takes as long as the slower one. */
static pool_status load_levels(const pool_poseidon *set, pool_device *device)
{
    const struct module_program_key keys[] = {
        module_key_for(&programs[MERKLE_LEVEL], set->fingerprint),
        module_key_for(&programs[MERKLE_LEVEL_2THREAD], set->fingerprint)};
    pool_module *module;
    pool_status status = module_registry_find(device, &keys[0], &module);

    if (status || module || !has_two_thread_kernels(set) || base_parallel_threads() == 1)
        return status;
    return module_load_keys(device, set, keys, 2);
}

/*
 * What a permutation costs in products: S-boxes of three, and the linear layers. Dense matrices in
 * full rounds and sparse ones in the others are dot products, a term of which costs 0.7; the sums
 * of Poseidon2 weigh less the longer elements are. For 256 bits within 10 % of what 2^20 hashes
 * take with states of 3 to 17 elements, within 35 % for other fields and Poseidon2 (H200).
 */
static double permutation_products(const pool_poseidon *set)
{
    const double width = set->width, full = set->full_rounds, partial = set->partial_rounds;
    const double sboxes = 3 * (full * width + partial);

    return set->kind == POOL_POSEIDON2
               ? sboxes + (4 * full + 3 * partial) * width / set->field->words
               : sboxes + 0.7 * (full * width * width + partial * (2 * width - 1));
}

/* A launch of one thread per item, whose only argument is a struct. */
struct poseidon_enqueued {
    struct poseidon_launch_plan plan;
    void *args;
    size_t size;
    unsigned *first_block; /* of the args */
    double permutations;   /* of all items */
    double bytes;          /* that they read and write */
};

static pool_status launch_kernel(const pool_poseidon *set, const struct exec_target *target,
    const struct poseidon_enqueued *enqueued)
{
    const enum poseidon_kernel kernel = enqueued->plan.kernel;
    void *arguments[] = {enqueued->args};
    struct module_launch launch = {.blocks = enqueued->plan.blocks,
        .threads = POSEIDON_BLOCK,
        .count = 1,
        .arguments = arguments,
        .sizes = &enqueued->size,
        .stream = target->stream,
        .pdl = kernel == POSEIDON_MERKLE_LEVEL || kernel == POSEIDON_MERKLE_LEVEL_2THREAD,
        .seconds = slices_seconds(target->device, set->field->words,
            enqueued->permutations * permutation_products(set), enqueued->bytes),
        .first_block = enqueued->first_block};
    pool_module *module;
    pool_status status;

    if (launch.blocks == 0)
        return POOL_OK;
    status = kernel == POSEIDON_MERKLE_LEVEL ? load_levels(set, target->device) : POOL_OK;
    if (!status)
        status = load_program(set, target->device, kernels[kernel].program, &module);
    if (!status)
        status = pool_kernel_get(module, kernels[kernel].name, &launch.kernel);
    return status ? status : slices_launch(target->slices, target->slice_ns, &launch);
}

pool_status poseidon_launch(const pool_poseidon *set, const struct exec_target *target,
    enum poseidon_kernel kernel, struct poseidon_args *args)
{
    const struct chip chip = chip_of(target->device);
    const double items = (double)args->count;
    struct poseidon_enqueued enqueued = {
        .plan = poseidon_plan_launch(set->tuning ? set->tuning : &chip_tuning(&chip)->poseidon,
            &chip, kernel, has_two_thread_kernels(set), args->count),
        .args = args,
        .size = sizeof(*args),
        .first_block = &args->first_block,
        .permutations = kernel == POSEIDON_CONVERT ? 0 : items,
        .bytes = items * (double)(args->in_stride + args->out_stride)};

    if (kernel == POSEIDON_SPONGE)
        enqueued.permutations *= (double)(base_ceil_div(args->input_count, args->rate) +
                                          base_ceil_div(args->output_elements, args->rate) - 1);
    return launch_kernel(set, target, &enqueued);
}

pool_status poseidon_launch_rows(
    const pool_poseidon *set, const struct exec_target *target, struct poseidon_rows_args *args)
{
    const struct poseidon_enqueued enqueued = {
        .plan = {.kernel = POSEIDON_ROWS, .blocks = base_ceil_div(args->rows, POSEIDON_BLOCK)},
        .args = args,
        .size = sizeof(*args),
        .first_block = &args->first_block,
        .permutations = (double)args->rows * (double)base_ceil_div(args->columns, args->rate) *
                        args->is_permuted,
        .bytes = (double)args->rows * (double)args->columns * set->field->bytes};

    return launch_kernel(set, target, &enqueued);
}

pool_status poseidon_launch_gather(
    const pool_poseidon *set, const struct exec_target *target, struct poseidon_gather_args *args)
{
    enum { SECTORS = 4 }; /* of 32 bytes, for an element at a random place and its copy */
    const struct poseidon_enqueued enqueued = {
        .plan = {.kernel = POSEIDON_GATHER,
            .blocks = base_ceil_div(args->count * args->columns, POSEIDON_BLOCK)},
        .args = args,
        .size = sizeof(*args),
        .first_block = &args->first_block,
        .bytes = (double)SECTORS * 32.0 * (double)(args->count * args->columns)};

    return launch_kernel(set, target, &enqueued);
}

pool_status poseidon_warm_up_rows(const pool_poseidon *set, pool_device *device)
{
    pool_module *module;

    return load_program(set, device, &programs[ROWS], &module);
}

static pool_status load(struct operation_call *call, const void *user)
{
    const pool_poseidon *set = user;
    pool_device *device = call->exec.device;
    struct module_program_key keys[PROGRAMS];
    pool_module *module;
    pool_status status;

    for (size_t i = 0; i < program_count(set); i++)
        keys[i] = module_key_for(&programs[i], set->fingerprint);
    status = module_load_keys(device, set, keys, program_count(set));
    for (size_t i = 0; i < program_count(set) && !status; i++)
        status = load_program(set, device, &programs[i], &module);
    return status;
}

pool_status pool_poseidon_warm_up(const pool_poseidon *set, const pool_exec *exec)
{
    return operation_warm_up(__func__, exec, "set", set, load);
}
