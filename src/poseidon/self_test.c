/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first use of a set's program on a device computes a known answer there before anybody else's
 * input: the host's, which the tests hold to the answers of the sets' authors. A compiler or a chip
 * that gets it wrong is found then and not in a proof.
 */
#include <pthread.h>
#include <string.h>

#include <devicepool/memory.h>

#include "base/alloc.h"
#include "base/status.h"
#include "memory/memory.h"
#include "pool/device.h"
#include "poseidon/kernels.h"

/* What a device has proven; kept as long as its pool. */
struct proven {
    pthread_mutex_t lock;
    struct module_key *keys; /* guarded by lock */
    size_t count;            /* guarded by lock */
};

static pool_status create_verified_programs(pool_device *device, void **object)
{
    struct proven *proven = base_calloc(1, sizeof(*proven));

    (void)device;
    if (!proven)
        return base_fail_memory("a list of programs");
    pthread_mutex_init(&proven->lock, NULL);
    *object = proven;
    return POOL_OK;
}

static void destroy_verified_programs(pool_device *device, void *object, int driver_alive)
{
    struct proven *proven = object;

    (void)driver_alive;
    device_lock_destroy(device, &proven->lock);
    base_free(proven->keys);
    base_free(proven);
}

static const struct device_resource_type proven_kind = {
    "Poseidon programs", create_verified_programs, destroy_verified_programs};

static pool_status proven_of(pool_device *device, struct proven **proven)
{
    struct device_scope scope;
    void *object = NULL;
    pool_status status = device_enter(device, &scope);

    if (status)
        return status;
    status = device_leave(&scope, device_resource_get(device, &proven_kind, &object));
    *proven = object;
    return status;
}

static bool is_known(struct proven *proven, const struct module_key *key)
{
    bool found = false;

    pthread_mutex_lock(&proven->lock);
    for (size_t i = 0; i < proven->count && !found; i++)
        found = memcmp(&proven->keys[i], key, sizeof(*key)) == 0;
    pthread_mutex_unlock(&proven->lock);
    return found;
}

static pool_status remember(struct proven *proven, const struct module_key *key)
{
    struct module_key *keys;

    pthread_mutex_lock(&proven->lock);
    keys = base_realloc(proven->keys, proven->count + 1, sizeof(*keys));
    if (keys) {
        proven->keys = keys;
        keys[proven->count++] = *key;
    }
    pthread_mutex_unlock(&proven->lock);
    return keys ? POOL_OK : base_fail_memory("a list of programs");
}

/* One item of 1, 2, 3, … and what a file's kernel must give for it, in standard form. */
struct question {
    const pool_poseidon *set;
    enum poseidon_kernel kernel;
    struct poseidon_args args;
    struct poseidon_sponge sponge;
    unsigned char in[POSEIDON_STATE_LIMBS * 8];
    unsigned char want[POSEIDON_STATE_LIMBS * 8];
    unsigned char got[POSEIDON_STATE_LIMBS * 8];
    size_t in_bytes;
    size_t out_bytes;
};

static pool_status ask(struct question *question, const pool_poseidon *set, int file)
{
    pool_span in = {.data = question->in, .count = 1};
    pool_span want = {.data = question->want, .count = 1};
    bool permutes = file == 0 || file == 3;
    uint32_t elements = file == 1 ? set->inputs : set->width;
    uint32_t results = permutes ? set->width : set->digest;
    struct poseidon_watch watch = {0};

    question->set = set;
    for (uint32_t i = 0; i < elements; i++)
        question->in[i * set->field->bytes] = (unsigned char)(i + 1);
    question->args = (struct poseidon_args){.count = 1,
        .elements = elements,
        .rate = set->rate,
        .output_elements = results,
        .is_padded = 1};
    question->args.in_is_converted = question->args.out_is_converted =
        !(set->field->flags & FIELD_DEVICE_STANDARD);
    question->in_bytes = (size_t)elements * set->field->bytes;
    question->out_bytes = (size_t)results * set->field->bytes;
    question->kernel = permutes ? POSEIDON_PERMUTE : file == 1 ? POSEIDON_HASH : POSEIDON_SPONGE;
    if (permutes)
        return poseidon_host_permute(set, &in, &want, &watch);
    if (file == 1)
        return poseidon_host_hash(set, &in, elements, &want, &watch);
    question->sponge = (struct poseidon_sponge){.elements = elements,
        .squeezed = results,
        .rate = set->rate,
        .padding = POOL_SPONGE_PAD_10};
    return poseidon_host_sponge(set, &question->sponge, &in, &want, &watch);
}

static pool_status answer(struct question *question, pool_kernel *kernel, pool_buffer *buffer)
{
    void *arguments[1] = {&question->args};
    pool_launch_shape shape = {
        .struct_size = sizeof(shape), .grid = {1}, .block = {POSEIDON_BLOCK}, .argument_count = 1};
    size_t offset = sizeof(question->in);
    CUdeviceptr address;
    pool_status status = pool_buffer_address(buffer, &address);

    question->args.in = address;
    question->args.out = address + offset;
    if (!status)
        status = pool_copy_to_device(buffer, 0, question->in, question->in_bytes, NULL);
    if (!status)
        status = pool_launch(kernel, &shape, arguments, NULL);
    if (!status)
        status = pool_copy_to_host(question->got, buffer, offset, question->out_bytes, NULL);
    return status;
}

static pool_status prove(struct question *question, pool_device *device, pool_kernel *kernel)
{
    pool_buffer *buffer = NULL;
    pool_status freed;
    pool_status status = pool_buffer_alloc(device, 2 * sizeof(question->in), &buffer);

    if (status)
        return status;
    status = answer(question, kernel, buffer);
    freed = pool_buffer_destroy(&buffer);
    if (buffer)
        memory_discard(buffer);
    if (!status && memcmp(question->got, question->want, question->out_bytes))
        status = base_fail(POOL_ERR_INTERNAL,
            "the kernels of %s give a wrong answer on this device; nothing was computed with them",
            question->set->name);
    return status ? status : freed;
}

pool_status poseidon_prove(const pool_poseidon *set, pool_device *device,
    const struct module_key *key, int file, pool_module *module)
{
    static const char *const names[] = {
        "poseidon_permute", "poseidon_hash", "poseidon_sponge", "poseidon_permute_2thread"};
    struct proven *proven;
    struct question *question;
    pool_kernel *kernel;
    pool_status status = proven_of(device, &proven);

    if (status || is_known(proven, key))
        return status;
    question = base_calloc(1, sizeof(*question));
    if (!question)
        return base_fail_memory("a known answer");
    status = ask(question, set, file);
    if (!status)
        status = pool_kernel_get(module, names[file], &kernel);
    if (!status)
        status = prove(question, device, kernel);
    if (!status)
        status = remember(proven, key);
    base_free(question);
    return status;
}
