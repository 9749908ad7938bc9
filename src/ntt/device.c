/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of a field on a device: which programs there are, compiled at first use, found by the
 * field's fingerprint from then on.
 */
#include "ntt/ntt.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "field/ptx.h"
#include "module/program.h"

static const char *const files[] = {
    [NTT_PROGRAM_PASS] = "ntt/pass.cu",
    [NTT_PROGRAM_TABLES] = "ntt/tables.cu",
    [NTT_PROGRAM_VECTOR] = "ntt/vector.cu",
};

/* A program of a field that this device has. */
struct known {
    struct known *next;
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    enum ntt_program program;
    uint32_t radix; /* 0 for programs that do not depend on the tuning */
    uint32_t log_threads;
    uint32_t blocks;
    pool_module *module;
};

struct known_list {
    pthread_mutex_t lock;
    struct known *first; /* guarded by lock */
};

static pool_status make_list(pool_device *device, void **object)
{
    struct known_list *list = base_calloc(1, sizeof(*list));

    (void)device;
    if (!list)
        return base_fail_memory("the list of transform kernels");
    pthread_mutex_init(&list->lock, NULL);
    *object = list;
    return POOL_OK;
}

/* Modules are kept by the module room and go with the device. */
static void unmake_list(pool_device *device, void *object, int driver_alive)
{
    struct known_list *list = object;

    (void)device;
    (void)driver_alive;
    while (list->first) {
        struct known *gone = list->first;

        list->first = gone->next;
        base_free(gone);
    }
    pthread_mutex_destroy(&list->lock);
    base_free(list);
}

static const struct device_keep kind = {
    .name = "the list of transform kernels", .make = make_list, .unmake = unmake_list};

/* Set between measurements only. */
static struct ntt_tuning chosen_tuning;

void ntt_tuning_set(const struct ntt_tuning *tuning)
{
    chosen_tuning = *tuning;
}

struct ntt_chip ntt_chip_of(const pool_device *device)
{
    const pool_device_info *facts = device_facts(device);

    return (struct ntt_chip){
        .multiprocessors = facts->multiprocessors > 0 ? (uint32_t)facts->multiprocessors : 1,
        .shared_bytes = facts->shared_bytes_per_block_optin ? facts->shared_bytes_per_block_optin
                                                            : facts->shared_bytes_per_block};
}

struct ntt_tuning ntt_tuning_on(const pool_device *device, const pool_field *field)
{
    struct ntt_chip chip = ntt_chip_of(device);

    return chosen_tuning.radix ? chosen_tuning : ntt_tuning_for(field->words, &chip);
}

static pool_module *find(struct known_list *list, const struct known *wanted)
{
    pool_module *module = NULL;

    pthread_mutex_lock(&list->lock);
    for (const struct known *at = list->first; at && !module; at = at->next)
        if (at->program == wanted->program && at->radix == wanted->radix &&
            at->log_threads == wanted->log_threads && at->blocks == wanted->blocks &&
            memcmp(at->fingerprint, wanted->fingerprint, sizeof(at->fingerprint)) == 0)
            module = at->module;
    pthread_mutex_unlock(&list->lock);
    return module;
}

static pool_status build(
    pool_device *device, const pool_field *field, const struct known *wanted, pool_module **module)
{
    char radix[32], threads[32], blocks[32];
    const char *const defines[] = {radix, threads, blocks};
    pool_module_header text = {.name = "fr.cuh"};
    struct module_program program = {.file = files[wanted->program],
        .texts = &text,
        .text_count = 1,
        .defines = defines,
        .define_count = wanted->radix ? 3 : 0};
    struct module_key id;
    char *generated = NULL;
    pool_status status = field_ptx_generate(field, "fr", &generated);

    if (status)
        return status;
    text.text = generated;
    snprintf(radix, sizeof(radix), "NTT_RADIX=%u", wanted->radix);
    snprintf(threads, sizeof(threads), "NTT_THREADS=%u", 1u << wanted->log_threads);
    snprintf(blocks, sizeof(blocks), "NTT_BLOCKS=%u", wanted->blocks);
    status = module_program_identify(&program, &id);
    if (!status)
        status = module_program_get(device, &program, &id, module);
    base_free(generated);
    return status;
}

/* Twice in the list is possible, when two threads were first at once, and harmless. */
static pool_status remember(struct known_list *list, const struct known *wanted)
{
    struct known *made = base_calloc(1, sizeof(*made));

    if (!made)
        return base_fail_memory("an entry of the list of transform kernels");
    *made = *wanted;
    pthread_mutex_lock(&list->lock);
    made->next = list->first;
    list->first = made;
    pthread_mutex_unlock(&list->lock);
    return POOL_OK;
}

pool_status ntt_kernel(pool_device *device, const pool_field *field, enum ntt_program program,
    const char *name, pool_kernel **kernel)
{
    struct ntt_tuning tuning = ntt_tuning_on(device, field);
    struct known wanted = {.program = program};
    void *object = NULL;
    pool_status status = device_kept(device, &kind, &object);

    if (status)
        return status;
    memcpy(wanted.fingerprint, field->fingerprint, sizeof(wanted.fingerprint));
    if (program == NTT_PROGRAM_PASS) {
        wanted.radix = tuning.radix;
        wanted.log_threads = tuning.log_threads;
        wanted.blocks = tuning.blocks;
    }
    wanted.module = find(object, &wanted);
    if (!wanted.module) {
        status = build(device, field, &wanted, &wanted.module);
        if (!status)
            status = remember(object, &wanted);
    }
    return status ? status : pool_kernel_get(wanted.module, name, kernel);
}

pool_status ntt_enqueue(const struct ntt_launch *launch)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {(uint32_t)launch->blocks, 1, 1},
        .block = {launch->threads, 1, 1},
        .dynamic_shared_bytes = launch->shared_bytes,
        .argument_count = launch->count,
        .argument_bytes = launch->sizes};

    if (launch->blocks > INT32_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%llu blocks are more than one launch can have",
            (unsigned long long)launch->blocks);
    return pool_launch(launch->kernel, &shape, launch->arguments, launch->stream);
}
