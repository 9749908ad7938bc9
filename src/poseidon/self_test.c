/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a program of a parameter set is loaded on a device, it first computes a known answer there.
 * The expected result is the host's, which the tests compare with the answers of the sets' authors.
 * A compiler or a chip that computes it wrong is thus found before it computes a caller's data.
 */
#include <pthread.h>
#include <string.h>

#include <devicepool/memory.h>

#include "base/alloc.h"
#include "base/status.h"
#include "memory/memory.h"
#include "pool/device.h"
#include "poseidon/host.h"
#include "poseidon/kernels.h"

/* The modules of a device that have passed; they are resident as long as the device exists. */
struct tested_modules {
    pthread_mutex_t lock;
    pool_module **modules; /* guarded by lock */
    size_t count;          /* guarded by lock */
};

static pool_status create_tested_modules(pool_device *device, void **object)
{
    struct tested_modules *tested = base_calloc(1, sizeof(*tested));

    (void)device;
    if (!tested)
        return base_fail_memory("a list of modules");
    pthread_mutex_init(&tested->lock, NULL);
    *object = tested;
    return POOL_OK;
}

static void destroy_tested_modules(pool_device *device, void *object, int driver_alive)
{
    struct tested_modules *tested = object;

    (void)driver_alive;
    device_lock_destroy(device, &tested->lock);
    base_free(tested->modules);
    base_free(tested);
}

static pool_status tested_modules_of(pool_device *device, struct tested_modules **tested)
{
    static const struct device_resource_type kind = {
        "Poseidon programs", create_tested_modules, destroy_tested_modules};
    struct device_scope scope;
    void *object = NULL;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = device_leave(&scope, device_resource_get(device, &kind, &object));
    *tested = object;
    return status;
}

static bool is_tested(struct tested_modules *tested, const pool_module *module)
{
    bool found = false;

    pthread_mutex_lock(&tested->lock);
    for (size_t i = 0; i < tested->count && !found; i++)
        found = tested->modules[i] == module;
    pthread_mutex_unlock(&tested->lock);
    return found;
}

static pool_status add_tested(struct tested_modules *tested, pool_module *module)
{
    pool_module **modules;

    pthread_mutex_lock(&tested->lock);
    modules = base_realloc(tested->modules, tested->count + 1, sizeof(*modules));
    if (modules) {
        tested->modules = modules;
        modules[tested->count++] = module;
    }
    pthread_mutex_unlock(&tested->lock);
    return modules ? POOL_OK : base_fail_memory("a list of modules");
}

/* One item with the elements 1, 2, 3, … and its result, both in standard form. */
struct known_answer {
    struct poseidon_args args;
    unsigned char input[POSEIDON_STATE_LIMBS * 8];
    unsigned char expected[POSEIDON_STATE_LIMBS * 8];
    unsigned char result[POSEIDON_STATE_LIMBS * 8];
    size_t in_bytes;
    size_t out_bytes;
};

/* Fills the input and computes the expected result on the host. */
static pool_status compute_known_answer(
    const pool_poseidon *set, enum poseidon_kernel kernel, struct known_answer *answer)
{
    pool_span in = {.data = answer->input, .count = 1};
    pool_span out = {.data = answer->expected, .count = 1};
    bool is_hash = kernel == POSEIDON_HASH;
    bool is_sponge = kernel == POSEIDON_SPONGE;
    uint32_t elements = is_hash ? set->max_inputs : set->width;
    uint32_t results = is_hash || is_sponge ? set->digest_elements : set->width;
    const struct poseidon_sponge sponge = {.elements = elements,
        .output_elements = results,
        .rate = set->rate,
        .padding = POOL_SPONGE_PAD_10};
    static const pool_exec exec;
    struct memory_progress progress = {.exec = &exec};
    uint32_t is_converted = (set->field->flags & FIELD_DEVICE_STANDARD) == 0;

    for (uint32_t i = 0; i < elements; i++)
        answer->input[i * set->field->bytes] = (unsigned char)(i + 1);
    answer->args = (struct poseidon_args){.count = 1,
        .in_is_converted = is_converted,
        .out_is_converted = is_converted,
        .elements = elements,
        .rate = set->rate,
        .output_elements = results,
        .is_padded = 1};
    answer->in_bytes = (size_t)elements * set->field->bytes;
    answer->out_bytes = (size_t)results * set->field->bytes;
    if (is_hash)
        return poseidon_host_hash(set, &in, elements, &out, &progress);
    if (is_sponge)
        return poseidon_host_sponge(set, &sponge, &in, &out, &progress);
    return poseidon_host_permute(set, &in, &out, &progress);
}

/* Computes the known answer in `buffer`, which holds the input and the result. */
static pool_status compute_on_device(
    struct known_answer *answer, pool_kernel *function, pool_buffer *buffer)
{
    const size_t sizes[] = {sizeof(answer->args)};
    void *arguments[] = {&answer->args};
    const struct module_launch launch = {.kernel = function,
        .blocks = 1,
        .threads = POSEIDON_BLOCK,
        .count = 1,
        .arguments = arguments,
        .sizes = sizes};
    size_t out_offset = sizeof(answer->input);
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    answer->args.in = address;
    answer->args.out = address + out_offset;
    if (!status)
        status = pool_copy_to_device(buffer, 0, answer->input, answer->in_bytes, NULL);
    if (!status)
        status = module_launch_enqueue(&launch);
    if (!status)
        status = pool_copy_to_host(answer->result, buffer, out_offset, answer->out_bytes, NULL);
    return status;
}

static pool_status check_known_answer(const pool_poseidon *set, pool_device *device,
    struct known_answer *answer, pool_kernel *function)
{
    pool_buffer *buffer = NULL;
    pool_status destroyed;
    pool_status status = pool_buffer_alloc(device, 2 * sizeof(answer->input), &buffer);

    if (status)
        return status;
    status = compute_on_device(answer, function, buffer);
    destroyed = pool_buffer_destroy(&buffer);
    if (buffer)
        memory_discard(buffer);
    if (!status && memcmp(answer->result, answer->expected, answer->out_bytes))
        status = base_fail(POOL_ERR_INTERNAL,
            "the kernels of %s compute a wrong result on this device and were not used", set->name);
    return status ? status : destroyed;
}

pool_status poseidon_self_test(const pool_poseidon *set, pool_device *device, pool_module *module,
    enum poseidon_kernel kernel, pool_kernel *function)
{
    struct tested_modules *tested;
    struct known_answer *answer;
    pool_status status = tested_modules_of(device, &tested);

    if (status || is_tested(tested, module))
        return status;
    answer = base_calloc(1, sizeof(*answer));
    if (!answer)
        return base_fail_memory("a known answer");
    status = compute_known_answer(set, kernel, answer);
    if (!status)
        status = check_known_answer(set, device, answer, function);
    if (!status)
        status = add_tested(tested, module);
    base_free(answer);
    return status;
}
