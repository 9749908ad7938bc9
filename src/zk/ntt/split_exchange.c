/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of devices that work on one transform, and exchanges of its elements by copies: where a
 * device cannot address the memory of another, and before results are downloaded.
 */
#include "zk/ntt/split_run.h"

pool_status ntt_split_wait(struct ntt_split_run *run, uint32_t index, int event)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++)
        if (i != index)
            status = pool_stream_wait_event(
                run->device[index].of_call.target.stream, run->device[i].set->event[event]);
    return status;
}

pool_status ntt_split_record(struct ntt_split_run *run, uint32_t index, int event)
{
    return pool_event_record(
        run->device[index].set->event[event], run->device[index].of_call.target.stream);
}

/* Block `to` of a region becomes block `from` of the other region of device `to`. */
static pool_status copy_blocks(struct ntt_split_run *run, int region, uint32_t from)
{
    const uint64_t bytes = run->local / run->count * ntt_split_element_bytes(run);
    struct ntt_split_device *source = &run->device[from];
    pool_status status = ntt_split_wait(run, from, NTT_SPLIT_READY);

    for (uint32_t to = 0; to < run->count && !status; to++)
        status = pool_copy_device(run->device[to].view[!region], from * bytes, source->view[region],
            to * bytes, bytes, source->of_call.target.stream);
    return status ? status : ntt_split_record(run, from, NTT_SPLIT_SENT);
}

/* Column i of the block from device d becomes column i 2^shift + first[d] of the other region. */
static pool_status place_blocks(
    struct ntt_split_run *run, int region, uint32_t index, uint32_t shift, const uint64_t *first)
{
    const uint64_t block = run->local / run->count * ntt_split_element_bytes(run);
    const uint64_t column =
        ntt_split_element_bytes(run) << run->plan.log_rows >> run->plan.log_devices;
    struct ntt_split_device *device = &run->device[index];
    pool_status status = ntt_split_wait(run, index, NTT_SPLIT_SENT);

    for (uint32_t i = 0; i < run->count && !status; i++) {
        const pool_pitched from = {
            .buffer = device->view[region], .offset = i * block, .pitch = column};
        const pool_pitched to = {
            .buffer = device->view[!region], .offset = first[i] * column, .pitch = column << shift};

        status = pool_copy_2d(&to, &from, column, block / column, device->of_call.target.stream);
    }
    return status;
}

/* Exchanges the blocks of a region of all devices and places their columns in the same region. */
static pool_status exchange_blocks(
    struct ntt_split_run *run, int region, uint32_t shift, const uint64_t *first)
{
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++)
        status = copy_blocks(run, region, i);
    for (uint32_t i = 0; i < run->count && !status; i++)
        status = place_blocks(run, !region, i, shift, first);
    return status;
}

/* Without peer access the driver stages copies through pinned memory. */
pool_status ntt_split_exchange(struct ntt_split_run *run)
{
    uint64_t first[NTT_SPLIT_DEVICES];
    uint32_t shift = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct ntt_split_args args = ntt_split_args_of(&run->plan, i, true);

        first[i] = args.first_place;
        shift = args.place_shift;
    }
    return exchange_blocks(run, NTT_SPLIT_SECOND, shift, first);
}

pool_status ntt_split_collect(struct ntt_split_run *run)
{
    uint64_t first[NTT_SPLIT_DEVICES];
    pool_status status = POOL_OK;

    for (uint32_t i = 0; i < run->count && !status; i++) {
        first[i] = i;
        status = ntt_split_record(run, i, NTT_SPLIT_READY);
    }
    return status ? status : exchange_blocks(run, NTT_SPLIT_FIRST, run->plan.log_devices, first);
}
