/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations on devices. Spans in device memory are worked on where they are; those in host
 * memory go through device memory piece by piece.
 */
#include <string.h>

#include <devicepool/memory.h>

#include "base/status.h"
#include "poseidon/launch.h"

static pool_status work(void *user, const struct memory_site *site, const pool_span *in,
    const pool_span *out, uint64_t first)
{
    (void)first;
    return poseidon_pass_launch(user, site, in, out, in->count);
}

/* Every item of `in` through the pass. Without is_async all is done when a call returns. */
static pool_status run_pass(const struct poseidon_pass *pass, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const char *what)
{
    struct poseidon_watch watch = poseidon_watch_of(exec, in->count);
    struct poseidon_pieces pieces = {.in = in,
        .out = out,
        .in_bytes = pass->in_bytes,
        .out_bytes = pass->out_bytes,
        .unit = 1,
        .weight = 1,
        .work = work,
        .user = (void *)(uintptr_t)pass,
        .watch = &watch,
        .checks = exec->checks != 0,
        .field = pass->set->field,
        .elements = pass->args.elements,
        .what = what};
    pool_status status = memory_site_init(&pieces.site, exec->device, exec->stream);

    if (!status)
        status = poseidon_pass_check(&pieces.site, in, pass->in_bytes, "input");
    if (!status)
        status = poseidon_pass_check(&pieces.site, out, pass->out_bytes, "output");
    if (status)
        return status;
    return memory_site_end(&pieces.site, exec->is_async, poseidon_pieces_run(&pieces));
}

static struct poseidon_pass pass_of(const pool_poseidon *set, enum poseidon_kernel kernel,
    uint32_t in_elements, uint32_t out_elements)
{
    return (struct poseidon_pass){.set = set,
        .kernel = kernel,
        .in_bytes = (size_t)in_elements * set->field->bytes,
        .out_bytes = (size_t)out_elements * set->field->bytes,
        .args = {.elements = in_elements}};
}

pool_status poseidon_device_permute(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *states, const pool_span *results)
{
    struct poseidon_pass pass = pass_of(set, POSEIDON_PERMUTE, set->width, set->width);

    return run_pass(&pass, exec, states, results, "states");
}

pool_status poseidon_device_hash(const pool_poseidon *set, const pool_exec *exec,
    const pool_span *inputs, uint32_t elements, const pool_span *digests)
{
    struct poseidon_pass pass = pass_of(set, POSEIDON_HASH, elements, set->digest);

    return run_pass(&pass, exec, inputs, digests, "inputs");
}

pool_status poseidon_device_sponge(const pool_poseidon *set, const pool_exec *exec,
    const struct poseidon_sponge *sponge, const pool_span *messages, const pool_span *results)
{
    struct poseidon_pass pass = pass_of(set, POSEIDON_SPONGE, sponge->elements, sponge->squeezed);

    poseidon_pass_sponge(&pass, sponge);
    return run_pass(&pass, exec, messages, results, "messages");
}

pool_status poseidon_device_read(const pool_exec *exec, const void *from, void *to, size_t bytes)
{
    const pool_span span = {
        .data = (void *)(uintptr_t)from, .count = 1, .place = POOL_MEMORY_DEVICE};
    struct memory_site site;
    pool_buffer *view = NULL;
    pool_status status = memory_site_init(&site, exec->device, exec->stream);

    if (!status)
        status = poseidon_pass_check(&site, &span, bytes, "row");
    if (!status)
        status = pool_buffer_adopt(site.device, (CUdeviceptr)(uintptr_t)from, bytes, &view);
    if (!status)
        status = pool_copy_to_host(to, view, 0, bytes, site.stream);
    if (!status)
        status = pool_stream_synchronize(site.stream);
    if (view) {
        pool_status freed = pool_buffer_destroy(&view);
        status = status ? status : freed;
    }
    return status;
}
