/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a program of a parameter set is loaded on a device, it first computes a known answer there.
 * The expected result is the host's, which the tests compare with the answers of the sets' authors.
 * A compiler or a chip that computes it wrong is thus found before it computes a caller's data.
 */
#include <string.h>

#include <devicepool/memory.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pool/device/device.h"
#include "pool/memory/memory.h"
#include "pool/module/module.h"
#include "zk/poseidon/host.h"
#include "zk/poseidon/kernels.h"

/* One item with the elements 1, 2, 3, … and its result, both in standard form. */
struct known_answer {
    struct poseidon_args args;
    struct poseidon_rows_args rows; /* of POSEIDON_ROWS: the item is a row */
    unsigned char input[POSEIDON_STATE_LIMBS * 8];
    unsigned char expected[POSEIDON_STATE_LIMBS * 8];
    unsigned char result[POSEIDON_STATE_LIMBS * 8];
    size_t in_bytes;
    size_t out_bytes;
};

/* The row is absorbed as a message of a sponge that overwrites. */
static struct poseidon_rows_args rows_args_of(
    const pool_poseidon *set, const struct poseidon_args *args)
{
    return (struct poseidon_rows_args){.rows = 1,
        .columns = args->elements,
        .column_stride = set->field->bytes,
        .rate = args->rate,
        .digest_elements = args->output_elements,
        .is_first = 1,
        .is_permuted = 1,
        .in_is_converted = args->in_is_converted,
        .out_is_converted = args->out_is_converted};
}

static bool is_level(enum poseidon_kernel kernel)
{
    return kernel == POSEIDON_MERKLE_LEVEL || kernel == POSEIDON_MERKLE_LEVEL_2THREAD;
}

/* The elements of the item; those of a tree's level are the digests of one node's children. */
static uint32_t element_count(const pool_poseidon *set, enum poseidon_kernel kernel)
{
    if (is_level(kernel))
        return set->max_inputs / set->digest_elements * set->digest_elements;
    if (kernel == POSEIDON_CONVERT)
        return set->digest_elements;
    return kernel == POSEIDON_HASH || kernel == POSEIDON_HASH_2THREAD ? set->max_inputs
                                                                      : set->width;
}

/* Fills the input and computes the expected result on the host. */
static pool_status compute_known_answer(
    const pool_poseidon *set, enum poseidon_kernel kernel, struct known_answer *answer)
{
    pool_span in = {.data = answer->input, .count = 1};
    pool_span out = {.data = answer->expected, .count = 1};
    bool is_hash = kernel == POSEIDON_HASH || kernel == POSEIDON_HASH_2THREAD || is_level(kernel);
    bool is_row = kernel == POSEIDON_ROWS;
    bool is_sponge = kernel == POSEIDON_SPONGE || is_row;
    uint32_t elements = element_count(set, kernel);
    bool is_digest = is_hash || is_sponge || kernel == POSEIDON_CONVERT;
    uint32_t results = is_digest ? set->digest_elements : set->width;
    const struct poseidon_sponge sponge = {.elements = elements,
        .output_elements = results,
        .rate = set->rate,
        .mode = is_row ? POOL_SPONGE_OVERWRITE : POOL_SPONGE_ADD,
        .padding = is_row ? POOL_SPONGE_PAD_NONE : POOL_SPONGE_PAD_10};
    static const pool_exec exec;
    struct progress progress = {.exec = &exec};
    uint32_t is_converted = (set->field->flags & FIELD_DEVICE_STANDARD) == 0;

    for (uint32_t i = 0; i < elements; i++)
        answer->input[i * set->field->bytes] = (unsigned char)(i + 1);
    answer->args = (struct poseidon_args){.count = 1,
        .in_is_converted = is_converted,
        .out_is_converted = is_converted,
        .elements = elements,
        .rate = set->rate,
        .output_elements = results,
        .padding = POSEIDON_PAD_10,
        .arity = elements / set->digest_elements,
        .input_count =
            is_sponge ? poseidon_padded_length(&sponge) : elements / set->digest_elements,
        .in_stride = is_level(kernel) ? set->digest_elements * set->field->bytes : 0};
    answer->rows = rows_args_of(set, &answer->args);
    answer->in_bytes = (size_t)elements * set->field->bytes;
    answer->out_bytes = (size_t)results * set->field->bytes;
    if (kernel == POSEIDON_CONVERT) { /* to the device's form and back */
        memcpy(answer->expected, answer->input, answer->in_bytes);
        return POOL_OK;
    }
    if (is_hash)
        return poseidon_host_hash(set, &in, elements, &out, &progress);
    if (is_sponge)
        return poseidon_host_sponge(set, &sponge, &in, &out, &progress);
    return poseidon_host_permute(set, &in, &out, &progress);
}

/* Computes the known answer in `buffer`, which holds the input and the result. */
static pool_status compute_on_device(
    struct known_answer *answer, bool is_row, pool_kernel *function, pool_buffer *buffer)
{
    const size_t sizes[] = {is_row ? sizeof(answer->rows) : sizeof(answer->args)};
    void *arguments[] = {is_row ? (void *)&answer->rows : (void *)&answer->args};
    const struct module_launch launch = {.kernel = function,
        .blocks = 1,
        .threads = POSEIDON_BLOCK,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes};
    size_t out_offset = sizeof(answer->input);
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    answer->args.in = answer->rows.in = address;
    answer->args.out = answer->rows.out = address + out_offset;
    if (!status)
        status = pool_copy_to_device(buffer, 0, answer->input, answer->in_bytes, NULL);
    if (!status)
        status = module_launch_enqueue(&launch);
    if (!status)
        status = pool_copy_to_host(answer->result, buffer, out_offset, answer->out_bytes, NULL);
    return status;
}

static pool_status check_known_answer(const pool_poseidon *set, pool_device *device,
    struct known_answer *answer, bool is_row, pool_kernel *function)
{
    pool_buffer *buffer = NULL;
    pool_status destroyed;
    pool_status status = pool_buffer_alloc(device, 2 * sizeof(answer->input), &buffer);

    if (status)
        return status;
    status = compute_on_device(answer, is_row, function, buffer);
    destroyed = pool_buffer_destroy(&buffer);
    if (buffer)
        memory_discard(buffer);
    if (!status && memcmp(answer->result, answer->expected, answer->out_bytes))
        status = base_fail(POOL_ERR_INTERNAL,
            "the kernels of %s compute a wrong result on this device and were not used", set->name);
    return status ? status : destroyed;
}

pool_status poseidon_self_test(
    const pool_poseidon *set, pool_module *module, enum poseidon_kernel kernel, const char *name)
{
    struct known_answer *answer;
    pool_kernel *function;
    pool_status status;

    if (atomic_load(&module->is_verified))
        return POOL_OK;
    answer = base_calloc(1, sizeof(*answer));
    if (!answer)
        return base_fail_memory("a known answer");
    status = pool_kernel_get(module, name, &function);
    if (!status)
        status = compute_known_answer(set, kernel, answer);
    if (!status)
        status = check_known_answer(set, module->device, answer, kernel == POSEIDON_ROWS, function);
    if (!status)
        atomic_store(&module->is_verified, true);
    base_free(answer);
    return status;
}
