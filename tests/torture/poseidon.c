/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of Poseidon: the first use (compilation and self-test), states in host memory in chunks
 * on several streams, a tree from and to host memory, both with progress; the same asynchronous;
 * the measurement of rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/nvrtc.h"
#include "poseidon/args.h"
#include "support/poseidon_tuning.h"
#include "torture/torture.h"
#include "zk/poseidon/host.h"

enum { POOL };

static pool_poseidon *set;
static pool_poseidon *measured_set; /* of pool_measure_rates */
static const pool_poseidon *launched_set;

static pool_form form_of(uint32_t is_converted)
{
    const bool is_standard = (launched_set->field->flags & FIELD_DEVICE_STANDARD) != 0;

    return is_standard == (is_converted != 0) ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD;
}

/* The result of the self-test must be right; other results are not compared. */
static pool_cu_result compute(void *user, const pool_mock_launch *launch)
{
    struct poseidon_args args;
    static const pool_exec exec;
    struct progress progress = {.exec = &exec};
    pool_span in = {0}, out = {0};
    int is_hash = strcmp(launch->kernel, "poseidon_hash") == 0 ||
                  strcmp(launch->kernel, "poseidon_merkle_level") == 0;
    uint64_t count;
    pool_status status;

    (void)user;
    memcpy(&args, launch->arguments[0], sizeof(args));
    count = args.count < 16 ? args.count : 16;
    in = (pool_span){.data = (void *)(uintptr_t)args.in,
        .count = count,
        .stride = args.in_stride,
        .form = form_of(args.in_is_converted)};
    out = (pool_span){.data = (void *)(uintptr_t)args.out,
        .count = count,
        .stride = args.out_stride,
        .form = form_of(args.out_is_converted)};
    if (is_hash)
        status = poseidon_host_hash(launched_set, &in, args.elements, &out, &progress);
    else if (strcmp(launch->kernel, "poseidon_sponge") == 0)
        status = poseidon_host_sponge(launched_set,
            &(struct poseidon_sponge){.elements = args.elements,
                .output_elements = args.output_elements,
                .rate = args.rate,
                .padding = POOL_SPONGE_PAD_10},
            &in, &out, &progress);
    else if (strcmp(launch->kernel, "poseidon_convert") == 0) {
        memcpy(out.data, in.data, args.elements * launched_set->field->bytes);
        status = POOL_OK;
    } else
        status = poseidon_host_permute(launched_set, &in, &out, &progress);
    return status ? 719 : 0;
}

static void prepare(struct torture *torture)
{
    static const uint32_t sizes[] = {sizeof(struct poseidon_args)};
    static const char *const names[] = {"poseidon_permute", "poseidon_hash", "poseidon_sponge",
        "poseidon_merkle_level", "poseidon_convert"};

    for (int i = 0; i < 5; i++) {
        const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
            .name = names[i],
            .argument_bytes = sizes,
            .argument_count = 1,
            .effect = compute};
        pool_mock_add_kernel(torture->mock, &kernel);
    }
    static const uint32_t check_sizes[] = {16, 8, 8, 4};
    const pool_mock_kernel check = {.struct_size = sizeof(check),
        .name = "vector_check",
        .argument_bytes = check_sizes,
        .argument_count = 4};
    pool_mock_add_kernel(torture->mock, &check);
    launched_set = set;
}

static void prepare_rates(struct torture *torture)
{
    prepare(torture);
    launched_set = measured_set;
    pool_mock_set_attribute(torture->mock, 0, POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1);
}

static void listen(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    *(uint64_t *)user = done;
}

static pool_status create(struct torture *torture, pool_exec *run)
{
    static uint64_t reported;
    pool_params params = {
        .struct_size = sizeof(params), .driver = torture->table, .devices = torture->devices};
    pool_status status = pool_create((device_pool **)&torture->objects[POOL], &params);

    *run = (pool_exec){.struct_size = sizeof(*run), .progress = listen, .user = &reported};
    return status ? status : pool_device_at(torture->objects[POOL], 0, &run->device);
}

static pool_status finish(struct torture *torture)
{
    return pool_destroy((device_pool **)&torture->objects[POOL]);
}

static pool_status permute(struct torture *torture)
{
    static uint64_t states[7 * 9], results[7 * 8];
    pool_exec run;
    pool_span in = {.data = states, .count = 7, .stride = 72};
    pool_span out = {.data = results, .count = 7};
    pool_status status = create(torture, &run);

    run.checks = POOL_CHECK_CANONICAL;
    return status ? status : pool_poseidon_permute(set, &run, &in, &out);
}

static pool_status warm_up(struct torture *torture)
{
    pool_exec run;
    pool_status status = create(torture, &run);

    return status ? status
                  : pool_poseidon_warm_up(
                        set, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run.device});
}

static pool_status enqueue(struct torture *torture)
{
    static uint64_t states[7 * 8], elements[9 * 4], digests[20 * 4];
    pool_exec run;
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_span in = {.data = states, .count = 7};
    pool_span leaves = {.data = elements, .count = 9};
    pool_span rows = {.data = digests, .count = 20};
    pool_stream *stream;
    pool_status status = create(torture, &run);

    run.is_async = 1;
    if (!status)
        status = pool_poseidon_permute(set, &run, &in, &in);
    if (!status)
        status = pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows);
    if (!status)
        status = pool_stream_default(run.device, &stream);
    return status ? status : pool_stream_synchronize(stream);
}

static pool_status build(struct torture *torture)
{
    static uint64_t elements[9 * 5], digests[(9 + 5 + 3 + 2 + 1) * 5];
    pool_exec run;
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_span leaves = {.data = elements, .count = 9, .stride = 40};
    pool_span rows = {.data = digests, .count = 20, .stride = 40};
    pool_status status = create(torture, &run);

    return status ? status : pool_poseidon_merkle_build(set, &run, &params, &leaves, &rows);
}

/* After a failure the rate is what it was. */
static pool_status measure_rates(struct torture *torture)
{
    uint64_t before = 0, after = 0;
    pool_exec run;
    pool_status status = create(torture, &run), failed;

    if (status)
        return status;
    status = pool_device_get_rate(run.device, &before);
    failed = status ? status : pool_measure_rates(torture->objects[POOL]);
    if (failed && !status && !pool_device_get_rate(run.device, &after) && after != before)
        abort();
    return failed;
}

/*
 * A property that the driver does not report is 0; staging falls back to the driver's own copies; a
 * full device is tried again, and so is entering a context to give memory back; a disk that fails
 * is a cache that misses.
 */
static const char *const absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "states in pieces",
        .devices = 1,
        .prepare = prepare,
        .run = permute,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "warming up",
        .devices = 1,
        .prepare = prepare,
        .run = warm_up,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "asynchronous calls",
        .devices = 1,
        .prepare = prepare,
        .run = enqueue,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "measuring rates",
        .devices = 1,
        .prepare = prepare_rates,
        .run = measure_rates,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "a tree from host memory",
        .devices = 1,
        .prepare = prepare,
        .run = build,
        .finish = finish,
        .absorbs = absorbed},
};

int main(int argument_count, char **arguments)
{
    const struct nvrtc *nvrtc;

    if (driver_nvrtc_open(&nvrtc))
        return 77;
    if (pool_poseidon_by_name("poseidon2-plonky3-goldilocks-t8", &set))
        return 1;
    if (pool_poseidon_by_name("circom-bn254-t3", &measured_set))
        return 1;
    poseidon_tune(set, 128, 128);
    int failed = torture_main_with_cache(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
    pool_poseidon_destroy(&set);
    pool_poseidon_destroy(&measured_set);
    return failed;
}
