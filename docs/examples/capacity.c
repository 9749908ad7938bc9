/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that jobs need, from the library's own forecasts: the tables of docs/capacity.md. No
 * data exists and nothing is computed, so that it runs anywhere, for any chip that the device
 * string describes.
 *
 *   capacity [DEVICES]     default: a simulated device with the memory and multiprocessors of an
 *                          H200
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>

#define H200 "sim:1,mem=141G,sms=132"

static device_pool *pool;
static pool_device *device;

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(1);
}

static void print_bytes(uint64_t bytes)
{
    if (bytes < 1 << 20)
        printf(" %.1f KiB |", (double)bytes / (1 << 10));
    else if (bytes < 1 << 30)
        printf(" %.1f MiB |", (double)bytes / (1 << 20));
    else
        printf(" %.2f GiB |", (double)bytes / (1 << 30));
}

static pool_span span_of(uint64_t count, pool_memory_space space)
{
    return (pool_span){.count = count, .space = space};
}

/* ---- proving keys ---- */

static void print_bases(const char *name, uint32_t log_size, uint32_t factor)
{
    const pool_bases_params params = {.struct_size = sizeof(params),
        .curve = pool_curve_by_name(name),
        .precompute_factor = factor};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span points = span_of(UINT64_C(1) << log_size, POOL_MEMORY_HOST);
    uint64_t kept, most;

    must(pool_bases_create_workspace(&params, &exec, &points, &kept, &most));
    printf("| %s, 2^%u, precompute factor %u |", name, log_size, factor);
    print_bytes(kept);
    print_bytes(most);
    printf("\n");
}

/* ---- operations ---- */

static void print_msm(
    const char *name, uint32_t log_size, pool_memory_space points_in, uint64_t limit)
{
    const pool_curve *curve = pool_curve_by_name(name);
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device, .memory_limit = limit};
    const uint64_t count = UINT64_C(1) << log_size;
    const pool_span points = span_of(count, points_in);
    const pool_span scalars = span_of(count, POOL_MEMORY_HOST);
    const pool_span result = span_of(1, POOL_MEMORY_HOST);
    uint64_t bytes;

    must(pool_msm_workspace(&params, &exec, &points, &scalars, &result, &bytes));
    printf("| MSM %s, 2^%u, points on the %s, scalars on the host |", name, log_size,
        points_in == POOL_MEMORY_HOST ? "host" : "device");
    if (limit)
        print_bytes(limit);
    else
        printf(" none |");
    print_bytes(bytes);
    printf("\n");
}

static void print_ntt(const char *name, uint32_t log_size, pool_memory_space space)
{
    pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name(name),
        .log_size = log_size};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_ntt_domain *domain = NULL;
    const pool_span data = span_of(UINT64_C(1) << log_size, space);
    uint64_t workspace, tables;

    must(pool_ntt_domain_create(&domain_params, &domain));
    params.domain = domain;
    must(pool_ntt_workspace(&params, &exec, &data, &data, &workspace));
    must(pool_ntt_domain_bytes(domain, device, &tables));
    printf("| NTT %s, 2^%u, natural order, in memory of the %s |", name, log_size,
        space == POOL_MEMORY_HOST ? "host" : "device");
    print_bytes(workspace);
    print_bytes(tables);
    printf("\n");
    pool_ntt_domain_destroy(&domain);
}

static void print_tree(const char *name, uint32_t log_leaves)
{
    pool_poseidon *set = NULL;
    const pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_span leaves = span_of(UINT64_C(1) << log_leaves, POOL_MEMORY_HOST);
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_span levels;
    uint64_t bytes;

    must(pool_poseidon_by_name(name, &set));
    must(pool_merkle_get_shape(set, &params, leaves.count, &shape));
    levels = span_of(shape.digest_count, POOL_MEMORY_HOST);
    must(pool_poseidon_merkle_build_workspace(set, &exec, &params, &leaves, &levels, &bytes));
    printf("| tree %s, arity 2, 2^%u leaves |", name, log_leaves);
    print_bytes(shape.bytes);
    print_bytes(bytes);
    printf("\n");
    pool_poseidon_destroy(&set);
}

int main(int count, char **arguments)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = count > 1 ? arguments[1] : H200};

    must(pool_create(&pool, &params));
    must(pool_device_at(pool, 0, &device));

    printf("| bases | kept | while they are created from host memory |\n|---|---|---|\n");
    for (uint32_t log_size = 20; log_size <= 26; log_size += 2)
        print_bases("bn254_g1", log_size, 1);
    print_bases("bn254_g1", 24, 12);
    print_bases("bn254_g2", 22, 1);
    print_bases("bls12_381_g1", 24, 1);

    printf("\n| operation | memory_limit | device memory |\n|---|---|---|\n");
    for (uint32_t log_size = 20; log_size <= 26; log_size += 2)
        print_msm("bn254_g1", log_size, POOL_MEMORY_DEVICE, 0);
    print_msm("bn254_g1", 24, POOL_MEMORY_HOST, 0);
    print_msm("bn254_g1", 24, POOL_MEMORY_HOST, UINT64_C(1) << 30);
    print_msm("bls12_381_g1", 24, POOL_MEMORY_DEVICE, 0);

    printf("\n| operation | device memory | tables of the domain |\n|---|---|---|\n");
    for (uint32_t log_size = 20; log_size <= 26; log_size += 2)
        print_ntt("bn254_fr", log_size, POOL_MEMORY_DEVICE);
    print_ntt("bn254_fr", 24, POOL_MEMORY_HOST);
    print_ntt("goldilocks", 24, POOL_MEMORY_DEVICE);

    printf("\n| operation | all levels | device memory |\n|---|---|---|\n");
    print_tree("circom-bn254-t3", 20);
    print_tree("circom-bn254-t3", 24);
    must(pool_destroy(&pool));
    return 0;
}
