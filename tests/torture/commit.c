/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of commitments to matrices: columns and rows in host memory with progress and a check,
 * matrices of two heights, openings whose lowest levels are computed again; a fold in chunks with
 * its commitment, and columns at a point.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/nvrtc.h"
#include "fri/args.h"
#include "ntt/args.h"
#include "ntt/extend_args.h"
#include "poseidon/args.h"
#include "poseidon/rows_args.h"
#include "torture/torture.h"
#include "zk/poseidon/host.h"

enum { POOL, BUFFER, DOMAIN };
enum { HEIGHT = 8, WIDTH = 24, DIGEST = 4, LEVELS = 15 };

static pool_poseidon *set;

static pool_form form_of(unsigned is_converted)
{
    return is_converted ? POOL_FORM_MONTGOMERY : POOL_FORM_STANDARD;
}

/* The results of self-tests must be right; others are not compared. Devices compute in standard
 * form with this set. */
static pool_cu_result hash(void *user, const pool_mock_launch *launch)
{
    struct poseidon_args args;
    static const pool_exec exec;
    struct progress progress = {.exec = &exec};
    pool_span in, out;

    (void)user;
    memcpy(&args, launch->arguments[0], sizeof(args));
    in = (pool_span){.data = (void *)(uintptr_t)args.in,
        .count = args.count,
        .stride = args.in_stride,
        .form = form_of(args.in_is_converted)};
    out = (pool_span){.data = (void *)(uintptr_t)args.out,
        .count = args.count,
        .stride = args.out_stride,
        .form = form_of(args.out_is_converted)};
    return poseidon_host_hash(set, &in, args.elements, &out, &progress) ? 719 : 0;
}

static pool_cu_result hash_rows(void *user, const pool_mock_launch *launch)
{
    struct poseidon_rows_args args;
    static const pool_exec exec;
    struct progress progress = {.exec = &exec};
    struct poseidon_sponge sponge = {.mode = POOL_SPONGE_OVERWRITE};
    pool_span in, out;

    (void)user;
    memcpy(&args, launch->arguments[0], sizeof(args));
    if (args.rows > 1) /* no self-test */
        return 0;
    sponge.elements = (uint32_t)args.columns;
    sponge.output_elements = args.digest_elements;
    sponge.rate = args.rate;
    in = (pool_span){
        .data = (void *)(uintptr_t)args.in, .count = 1, .form = form_of(args.in_is_converted)};
    out = (pool_span){
        .data = (void *)(uintptr_t)args.out, .count = 1, .form = form_of(args.out_is_converted)};
    return poseidon_host_sponge(set, &sponge, &in, &out, &progress) ? 719 : 0;
}

static void prepare(struct torture *torture)
{
    static const uint32_t args[] = {sizeof(struct poseidon_args)};
    static const uint32_t rows[] = {sizeof(struct poseidon_rows_args)};
    static const uint32_t gather[] = {sizeof(struct poseidon_gather_args)};
    static const uint32_t check[] = {16, 8, 8, 4}, pass[] = {sizeof(struct ntt_pass_args)},
                          spread[] = {sizeof(struct ntt_extend_args)};
    static const uint32_t powers[] = {8, 8, 8, 8, 8, 4, 8}, twiddles[] = {8, 8, 4, 4};
    static const uint32_t fold[] = {sizeof(struct fri_fold_args)};
    static const uint32_t denominators[] = {sizeof(struct fri_denominators_args)};
    static const uint32_t dot[] = {sizeof(struct fri_dot_args)}, invert[] = {16, 16, 8, 8, 8, 4, 4};
    const pool_mock_kernel kernels[] = {
        {.name = "poseidon_hash", .argument_bytes = args, .argument_count = 1, .effect = hash},
        {.name = "poseidon_merkle_level",
            .argument_bytes = args,
            .argument_count = 1,
            .effect = hash},
        {.name = "poseidon_rows", .argument_bytes = rows, .argument_count = 1, .effect = hash_rows},
        {.name = "poseidon_gather", .argument_bytes = gather, .argument_count = 1},
        {.name = "vector_check", .argument_bytes = check, .argument_count = 4},
        {.name = "ntt_pass", .argument_bytes = pass, .argument_count = 1},
        {.name = "ntt_extend", .argument_bytes = spread, .argument_count = 1},
        {.name = "vector_powers", .argument_bytes = powers, .argument_count = 7},
        {.name = "ntt_stage_twiddles", .argument_bytes = twiddles, .argument_count = 4},
        {.name = "fri_fold2", .argument_bytes = fold, .argument_count = 1},
        {.name = "fri_denominators", .argument_bytes = denominators, .argument_count = 1},
        {.name = "fri_dot", .argument_bytes = dot, .argument_count = 1},
        {.name = "vector_invert", .argument_bytes = invert, .argument_count = 7},
    };

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        pool_mock_kernel kernel = kernels[i];

        kernel.struct_size = sizeof(kernel);
        pool_mock_add_kernel(torture->mock, &kernel);
    }
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
    pool_status status = pool_buffer_destroy((pool_buffer **)&torture->objects[BUFFER]);

    if (!status)
        status = pool_ntt_domain_destroy((pool_ntt_domain **)&torture->objects[DOMAIN]);
    if (status)
        return status;
    return pool_destroy((device_pool **)&torture->objects[POOL]);
}

static uint64_t elements[HEIGHT * WIDTH], digests[LEVELS * DIGEST];

static const pool_matrix matrices[] = {
    {.span = {.data = elements, .count = WIDTH}, .height = HEIGHT, .width = WIDTH},
    {.span = {.data = elements, .count = 4}, .height = 4, .width = 2, .layout = POOL_MATRIX_ROWS},
};
static const pool_span levels = {.data = digests, .count = LEVELS};

static pool_status commit(struct torture *torture)
{
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = set};
    pool_exec run;
    pool_status status = create(torture, &run);

    run.checks = POOL_CHECK_CANONICAL;
    if (!status) /* sponges between chunks of columns, several slots */
        status =
            pool_matrix_commit_workspace(&params, &run, matrices, 2, &levels, &run.memory_limit);
    run.memory_limit = run.memory_limit * 7 / 8;
    return status ? status : pool_matrix_commit(&params, &run, matrices, 2, &levels);
}

static pool_status enqueue(struct torture *torture)
{
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = set};
    pool_stream *stream;
    pool_exec run;
    pool_status status = create(torture, &run);

    run.is_async = 1;
    if (!status)
        status = pool_matrix_commit(&params, &run, matrices, 2, &levels);
    if (!status)
        status = pool_stream_default(run.device, &stream);
    return status ? status : pool_stream_synchronize(stream);
}

static pool_status open_rows(struct torture *torture)
{
    static const uint64_t indices[] = {6, 1};
    const pool_matrix_commit_params params = {
        .struct_size = sizeof(params), .set = set, .kept_levels = 2};
    uint64_t opened[2 * WIDTH], siblings[2 * 3 * DIGEST];
    const pool_span rows = {.data = opened, .count = 2}, paths = {.data = siblings, .count = 6};
    pool_buffer **buffer = (pool_buffer **)&torture->objects[BUFFER];
    pool_matrix on_device = matrices[0];
    pool_exec run;
    pool_status status = create(torture, &run);

    run.progress = NULL;
    if (!status)
        status = pool_buffer_from_host(run.device, elements, sizeof(elements), buffer);
    if (!status)
        status = pool_buffer_span(*buffer, 0, WIDTH, POOL_FORM_STANDARD, &on_device.span);
    return status
               ? status
               : pool_matrix_open(&params, &run, &on_device, 1, &levels, indices, 2, &rows, &paths);
}

/* Columns that are extended in chunks, and the extension downloaded. */
static pool_status extend_with(struct torture *torture, bool has_workspace)
{
    static uint64_t extended[2 * HEIGHT * WIDTH], nodes[2 * LEVELS * DIGEST + DIGEST];
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = set};
    pool_ntt_domain **domain = (pool_ntt_domain **)&torture->objects[DOMAIN];
    const pool_ntt_domain_params domain_params = {
        .struct_size = sizeof(domain_params), .field = pool_poseidon_field(set), .log_size = 4};
    pool_ntt_extend_params extension_params = {.struct_size = sizeof(extension_params),
        .log_blowup = 1,
        .order = POOL_NTT_NR,
        .batch = WIDTH};
    const pool_extension extension = {.params = &extension_params,
        .trace = {.data = elements, .count = HEIGHT * WIDTH},
        .extended = {.data = extended, .count = 2 * HEIGHT * WIDTH}};
    const pool_span digest_levels = {.data = nodes, .count = 2 * LEVELS + 1};
    pool_exec run;
    pool_status status = create(torture, &run);

    if (!status)
        status = pool_ntt_domain_create(&domain_params, domain);
    extension_params.domain = *domain;
    if (!status)
        status = pool_extend_commit_workspace(
            &params, &run, &extension, 1, &digest_levels, &run.memory_limit);
    if (!status && has_workspace) {
        status = pool_buffer_alloc(
            run.device, run.memory_limit, (pool_buffer **)&torture->objects[BUFFER]);
        run.workspace = torture->objects[BUFFER];
    }
    run.memory_limit = run.memory_limit * 7 / 8;
    return status ? status : pool_extend_commit(&params, &run, &extension, 1, &digest_levels);
}

static pool_status extend(struct torture *torture)
{
    return extend_with(torture, false);
}

static pool_status extend_in_workspace(struct torture *torture)
{
    return extend_with(torture, true);
}

/* A domain over the set's field. */
static pool_status create_domain(struct torture *torture, uint32_t log_size)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = pool_poseidon_field(set), .log_size = log_size};

    return pool_ntt_domain_create(&params, (pool_ntt_domain **)&torture->objects[DOMAIN]);
}

static pool_status fold(struct torture *torture)
{
    static uint64_t folded[32][2], nodes[31 * DIGEST];
    static const uint64_t challenge[2] = {3, 4};
    const pool_matrix_commit_params params = {.struct_size = sizeof(params), .set = set};
    const pool_span in = {.data = elements, .count = 64}, out = {.data = folded, .count = 32};
    const pool_span digest_levels = {.data = nodes, .count = 31};
    pool_fri_fold_params fold_params = {.struct_size = sizeof(fold_params),
        .field = pool_field_by_name("goldilocks_x2"),
        .log_arity = 1,
        .is_bit_reversed = 1,
        .challenge = challenge};
    pool_exec run;
    pool_status status = create(torture, &run);

    run.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = create_domain(torture, 6);
    fold_params.domain = torture->objects[DOMAIN];
    if (!status)
        status = pool_fri_fold_workspace(&fold_params, &run, &in, &out, &run.memory_limit);
    run.memory_limit /= 2;
    if (!status)
        status = pool_fri_fold(&fold_params, &run, &in, &out);
    run.memory_limit = 0;
    return status ? status
                  : pool_fri_fold_commit(&fold_params, 1, &params, &run, &in, &out, &digest_levels);
}

static pool_status evaluate(struct torture *torture)
{
    static const uint64_t points[2][2] = {{3, 4}, {5, 6}};
    static uint64_t values[2][4][2];
    const pool_matrix matrix = {.span = {.data = elements, .count = 4}, .height = 16, .width = 4};
    pool_matrix_evaluate_params params = {
        .struct_size = sizeof(params), .field = pool_field_by_name("goldilocks_x2")};
    pool_exec run;
    pool_status status = create(torture, &run);

    run.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = create_domain(torture, 4);
    params.domain = torture->objects[DOMAIN];
    return status ? status : pool_matrix_evaluate(&params, &run, &matrix, points, 2, values);
}

/* As for Poseidon. */
static const char *const absorbed[] = {"cuDeviceGetAttribute", "file", "malloc", "cuMemAllocHost",
    "cuMemHostAlloc", "cuMemAllocFromPoolAsync", "cuCtxGetCurrent", "cuCtxGetId",
    "cuCtxPushCurrent", "cuModuleLoadDataEx", NULL};

static const struct torture_scenario scenarios[] = {
    {.name = "columns and rows from host memory",
        .devices = 1,
        .prepare = prepare,
        .run = commit,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "an asynchronous commitment",
        .devices = 1,
        .prepare = prepare,
        .run = enqueue,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "extensions",
        .devices = 1,
        .prepare = prepare,
        .run = extend,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "extensions within a workspace",
        .devices = 1,
        .prepare = prepare,
        .run = extend_in_workspace,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "folds in chunks and with a commitment",
        .devices = 1,
        .prepare = prepare,
        .run = fold,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "columns at points",
        .devices = 1,
        .prepare = prepare,
        .run = evaluate,
        .finish = finish,
        .absorbs = absorbed},
    {.name = "openings",
        .devices = 1,
        .prepare = prepare,
        .run = open_rows,
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
    int failed = torture_main_with_cache(
        argument_count, arguments, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
    pool_poseidon_destroy(&set);
    return failed;
}
