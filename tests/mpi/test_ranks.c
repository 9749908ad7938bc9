/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations over ranks against those on one device, refusals on all ranks, and ranks that
 * fail. Started by mpirun with any number of ranks; each has its own pool.
 *
 *   test_ranks DEVICES [operations|fault|workers]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>
#include <devicepool/mpi.h>

#include "support/assert.h"
#include "support/pool.h"

static pool_mpi *group;
static int rank, ranks;
static uint64_t chunk_bytes;

static int open_group(void **state)
{
    pool_mpi_params params = {.struct_size = sizeof(params)};

    if (open_pool(state) || pool_device_at(pool, (size_t)rank % pool_device_count(pool), &device))
        return -1;
    params.device = device;
    params.chunk_bytes = chunk_bytes;
    return pool_mpi_create(MPI_COMM_WORLD, &params, &group);
}

static int close_group(void **state)
{
    return pool_mpi_destroy(&group) || close_pool(state);
}

/* The last rank is the one that differs; alone it is rank 0 and differs from no other. */
static int is_last(void)
{
    return rank == ranks - 1;
}

static void assert_names_last(void)
{
    char text[32];

    snprintf(text, sizeof(text), "rank %d", ranks - 1);
    assert_says(text);
}

static int log2_of(int value)
{
    int log = 0;

    while (1 << (log + 1) <= value)
        log++;
    return log;
}

static int is_simulated(void)
{
    return strncmp(device_text, "sim", 3) == 0;
}

/* ---- MSM ------------------------------------------------------------------------------------- */

enum { BATCH = 2, MOST_POINTS = 64, POINT = 64, SCALAR = 32 };

/* Rank r has r points, so that rank 0 has none, but the only rank, which has three. */
static size_t points_of(int index)
{
    return ranks == 1 ? 3 : (size_t)index;
}

struct msm_data {
    uint8_t points[MOST_POINTS * POINT];
    uint8_t scalars[BATCH * MOST_POINTS * SCALAR];
    uint8_t own[BATCH * MOST_POINTS * SCALAR]; /* of this rank, MSM by MSM */
    size_t count;
    size_t first;
    pool_span own_points;
    pool_span own_scalars;
};

static void make_msm(struct msm_data *data)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    size_t mine = points_of(rank);

    for (int i = 0; i < ranks; i++) {
        if (i == rank)
            data->first = data->count;
        data->count += points_of(i);
    }
    assert_true(data->count <= MOST_POINTS);
    assert_ok(pool_random_points(curve, 1, data->count, NULL, data->points, NULL));
    assert_ok(pool_random_scalars(
        pool_curve_scalar_field(curve), 2, BATCH * data->count, POOL_FORM_STANDARD, data->scalars));
    for (size_t b = 0; b < BATCH; b++)
        memcpy(data->own + b * mine * SCALAR,
            data->scalars + (b * data->count + data->first) * SCALAR, mine * SCALAR);
    data->own_points = (pool_span){.data = data->points + data->first * POINT, .count = mine};
    data->own_scalars = (pool_span){.data = data->own, .count = BATCH * mine};
}

static pool_msm_params msm_params(void)
{
    return (pool_msm_params){.struct_size = sizeof(pool_msm_params),
        .curve = pool_curve_by_name("bn254_g1"),
        .batch = BATCH,
        .shared_bases = 1};
}

static void test_msm(void **state)
{
    struct msm_data *data = calloc(1, sizeof(*data));
    pool_msm_params params = msm_params();
    const pool_exec exec = exec_here();
    uint8_t sums[BATCH * POINT], strided[BATCH * 200];
    const pool_point_format format = {POOL_POINT_XYZZ, POOL_FORM_MONTGOMERY, 200};
    const pool_span results = {.data = sums, .count = BATCH};
    const pool_span others = {
        .data = strided, .count = BATCH, .stride = 200, .form = POOL_FORM_MONTGOMERY};
    pool_span points, scalars;

    (void)state;
    make_msm(data);
    points = (pool_span){.data = data->points, .count = data->count};
    scalars = (pool_span){.data = data->scalars, .count = BATCH * data->count};
    assert_ok(pool_msm(&params, &exec, &points, &scalars, &results));
    params.result_layout = format.layout;
    memset(strided, 0xa5, sizeof(strided));
    assert_ok(pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars, &others));
    for (size_t i = 0; i < BATCH; i++) {
        int32_t is_equal = 0;

        assert_ok(pool_point_equal(
            params.curve, NULL, sums + i * POINT, &format, strided + i * 200, &is_equal));
        assert_int_equal(is_equal, 1);
        assert_int_equal(strided[i * 200 + 199], 0xa5);
    }
    free(data);
}

/* What one rank does otherwise is refused on all, before and without data, and is named. */
static void test_msm_is_refused(void **state)
{
    struct msm_data *data = calloc(1, sizeof(*data));
    pool_msm_params params = msm_params();
    const pool_exec async = {.struct_size = sizeof(async), .is_async = 1};
    uint8_t sums[BATCH * POINT];
    const pool_span results = {.data = sums, .count = BATCH};
    const pool_span fewer = {.data = sums, .count = 1};

    (void)state;
    make_msm(data);
    assert_status(pool_mpi_msm(group, &params, NULL, &data->own_points,
                      is_last() ? NULL : &data->own_scalars, &results),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    assert_says("scalars");
    assert_status(pool_mpi_msm(group, &params, is_last() ? &async : NULL, &data->own_points,
                      &data->own_scalars, &results),
        POOL_ERR_UNSUPPORTED);
    assert_names_last();
    assert_status(pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars,
                      is_last() ? &fewer : &results),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    /* Only the computation sees that these counts do not match. */
    data->own_scalars.count += (uint64_t)is_last();
    assert_status(
        pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars, &results),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    data->own_scalars.count -= (uint64_t)is_last();
    if (ranks > 1) {
        if (is_last())
            params.batch = 1;
        assert_status(pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars,
                          is_last() ? &fewer : &results),
            POOL_ERR_INVALID_ARGUMENT);
        assert_names_last();
        assert_says("batch");
        params.batch = BATCH;
        if (is_last())
            params.curve = pool_curve_by_name("grumpkin");
        assert_status(
            pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars, &results),
            POOL_ERR_INVALID_ARGUMENT);
        assert_says("the curve grumpkin, rank 0 bn254_g1");
    }
    /* The ranks are still in step. */
    params.curve = pool_curve_by_name("bn254_g1");
    assert_ok(pool_mpi_msm(group, &params, NULL, &data->own_points, &data->own_scalars, &results));
    free(data);
}

/* ---- transforms ------------------------------------------------------------------------------ */

static bool takes_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_RN || order == POOL_NTT_RR;
}

static bool gives_reversed(pool_ntt_order order)
{
    return order == POOL_NTT_NR || order == POOL_NTT_RR;
}

/* Between the elements of all transforms and those of this rank. */
static void copy_part(uint8_t *part, uint8_t *whole, size_t batch, size_t n, size_t bytes,
    bool is_cyclic, bool to_part)
{
    const size_t share = n / (size_t)ranks;

    for (size_t t = 0; t < batch; t++)
        for (size_t i = 0; i < share; i++) {
            size_t index = is_cyclic ? i * (size_t)ranks + (size_t)rank : (size_t)rank * share + i;
            uint8_t *a = part + (t * share + i) * bytes, *b = whole + (t * n + index) * bytes;

            memcpy(to_part ? a : b, to_part ? b : a, bytes);
        }
}

struct transform_case {
    const char *field;
    pool_ntt_order order;
    pool_ntt_direction direction;
    int32_t coset;
    pool_mpi_distribution distribution;
    bool on_device;
};

static pool_ntt_domain *open_domain(const char *field, uint32_t log_size)
{
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = pool_field_by_name(field), .log_size = log_size};
    pool_ntt_domain *domain = NULL;

    assert_ok(pool_ntt_domain_create(&params, &domain));
    return domain;
}

static void upload(pool_span *span, pool_buffer **buffer, size_t bytes)
{
    CUdeviceptr address;

    assert_ok(pool_buffer_from_host(device, span->data, bytes, buffer));
    assert_ok(pool_buffer_address(*buffer, &address));
    span->data = (void *)(uintptr_t)address;
    span->space = POOL_MEMORY_DEVICE;
}

static void check_ntt(const struct transform_case *test, pool_ntt_domain *domain)
{
    const pool_field *field = pool_field_by_name(test->field);
    const size_t n = (size_t)1 << pool_ntt_domain_log_size(domain), share = n / (size_t)ranks;
    const size_t bytes = pool_field_element_bytes(field);
    const pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .direction = test->direction,
        .coset = test->coset,
        .order = test->order,
        .batch = BATCH};
    pool_exec exec = exec_here();
    uint8_t *whole = calloc(BATCH * n, bytes), *wanted = calloc(BATCH * n, bytes);
    uint8_t *part = calloc(BATCH * share, bytes), *got = calloc(BATCH * share, bytes);
    const bool is_cyclic = test->distribution == POOL_MPI_CYCLIC;
    pool_span all = {.data = whole, .count = BATCH * n};
    pool_span results = {.data = wanted, .count = BATCH * n, .form = POOL_FORM_MONTGOMERY};
    pool_span in = {.data = part, .count = BATCH * share};
    pool_span out = {.data = got, .count = BATCH * share, .form = POOL_FORM_MONTGOMERY};
    pool_buffer *in_memory = NULL, *out_memory = NULL;

    assert_ok(pool_random_scalars(field, 7, BATCH * n, POOL_FORM_STANDARD, whole));
    assert_ok(pool_ntt(&params, &exec, &all, &results));
    copy_part(part, whole, BATCH, n, bytes, is_cyclic && !takes_reversed(test->order), true);
    if (test->on_device) {
        upload(&in, &in_memory, BATCH * share * bytes);
        upload(&out, &out_memory, BATCH * share * bytes);
    }
    exec.checks = POOL_CHECK_CANONICAL;
    assert_ok(pool_mpi_ntt(group, &params, &exec, test->distribution, &in, &out));
    if (test->on_device)
        assert_ok(pool_copy_to_host(got, out_memory, 0, BATCH * share * bytes, NULL));
    copy_part(part, wanted, BATCH, n, bytes, is_cyclic && !gives_reversed(test->order), true);
    assert_memory_equal(got, part, BATCH * share * bytes);
    assert_ok(pool_buffer_destroy(&in_memory));
    assert_ok(pool_buffer_destroy(&out_memory));
    free(whole);
    free(wanted);
    free(part);
    free(got);
}

static void test_ntt(void **state)
{
    struct transform_case test = {.field = "goldilocks"};
    pool_ntt_domain *domain = open_domain(test.field, 6), *second = open_domain("bn254_fr", 7);

    (void)state;
    for (int order = 0; order < 4; order++)
        for (int kind = 0; kind < 8; kind++) {
            test.order = (pool_ntt_order)order;
            test.direction = kind & 1 ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
            test.coset = kind >> 1 & 1;
            test.distribution = kind & 4 ? POOL_MPI_BLOCK : POOL_MPI_CYCLIC;
            test.on_device = (order + kind) % 3 == 0;
            check_ntt(&test, domain);
        }
    test = (struct transform_case){.field = "bn254_fr", .coset = 1, .on_device = true};
    check_ntt(&test, second);
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_ntt_domain_destroy(&second));
}

static void test_ntt_in_place(void **state)
{
    pool_ntt_domain *domain = open_domain("babybear", 6);
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    uint32_t given[64], elements[64];
    const pool_span span = {.data = elements, .count = (uint64_t)64 / (uint64_t)ranks};

    (void)state;
    assert_ok(pool_random_scalars(
        pool_field_by_name("babybear"), 3, span.count, POOL_FORM_STANDARD, given));
    memcpy(elements, given, sizeof(given));
    assert_ok(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span));
    assert_memory_not_equal(elements, given, span.count * 4);
    params.direction = POOL_NTT_INVERSE;
    assert_ok(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span));
    assert_memory_equal(elements, given, span.count * 4);
    assert_ok(pool_ntt_domain_destroy(&domain));
}

static void test_ntt_is_refused(void **state)
{
    pool_ntt_domain *domain = open_domain("goldilocks", 6), *small = open_domain("goldilocks", 1);
    pool_ntt_domain *other = open_domain("babybear", 6);
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    uint64_t elements[64] = {0};
    pool_span span = {.data = elements, .count = (uint64_t)64 / (uint64_t)ranks};
    pool_exec checked = {.struct_size = sizeof(checked), .checks = POOL_CHECK_CANONICAL};

    (void)state;
    span.count += (uint64_t)is_last();
    assert_status(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    span.count -= (uint64_t)is_last();
    /* An element that only its rank sees fails while the others have computed. */
    if (is_last())
        elements[0] = UINT64_MAX;
    assert_status(
        pool_mpi_ntt(group, &params, &checked, POOL_MPI_CYCLIC, &span, &span), POOL_ERR_BAD_DATA);
    assert_names_last();
    elements[0] = 0;
    if (ranks > 1) {
        params.direction = is_last() ? POOL_NTT_INVERSE : POOL_NTT_FORWARD;
        assert_status(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span),
            POOL_ERR_INVALID_ARGUMENT);
        assert_says("direction");
        params.direction = POOL_NTT_FORWARD;
        params.domain = is_last() ? other : domain;
        assert_status(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span),
            POOL_ERR_INVALID_ARGUMENT);
        assert_says("the field babybear, rank 0 goldilocks");
        params.domain = small;
        assert_status(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span),
            POOL_ERR_INVALID_ARGUMENT);
        params.domain = domain;
        /* Different calls. */
        if (is_last())
            assert_status(
                pool_mpi_msm(group, NULL, NULL, NULL, NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
        else
            assert_status(pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span),
                POOL_ERR_INVALID_ARGUMENT);
        assert_names_last();
    }
    assert_ok(pool_mpi_ntt(group, &params, &checked, POOL_MPI_CYCLIC, &span, &span));
    assert_ok(pool_ntt_domain_destroy(&domain));
    assert_ok(pool_ntt_domain_destroy(&small));
    assert_ok(pool_ntt_domain_destroy(&other));
}

/* ---- extensions ------------------------------------------------------------------------------ */

static void check_extend(pool_ntt_domain *domain, uint32_t log_blowup, pool_ntt_order order,
    int from_coefficients, bool is_cyclic, bool keeps)
{
    const pool_field *field = pool_field_by_name("goldilocks");
    const size_t most = (size_t)1 << pool_ntt_domain_log_size(domain), n = most >> log_blowup;
    const size_t share = n / (size_t)ranks;
    const pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .log_blowup = log_blowup,
        .from_coefficients = from_coefficients,
        .order = order,
        .batch = BATCH};
    const pool_exec exec = exec_here();
    uint64_t *memory = calloc(6 * BATCH * most, 8);
    uint64_t *whole = memory, *wanted = memory + BATCH * most, *part = wanted + BATCH * most;
    uint64_t *got = part + BATCH * most, *kept = got + BATCH * most, *known = kept + BATCH * most;
    const pool_span all = {.data = whole, .count = BATCH * n};
    const pool_span results = {.data = wanted, .count = BATCH * most};
    const pool_span coefficients = {.data = known, .count = BATCH * n};
    const pool_span in = {.data = part, .count = BATCH * share};
    const pool_span out = {.data = got, .count = BATCH * (share << log_blowup)};
    const pool_span own = {.data = kept, .count = BATCH * share};

    assert_ok(pool_random_scalars(field, 9, BATCH * n, POOL_FORM_STANDARD, whole));
    assert_ok(pool_ntt_extend(&params, &exec, &all, keeps ? &coefficients : NULL, &results));
    copy_part(
        (uint8_t *)part, (uint8_t *)whole, BATCH, n, 8, is_cyclic && !takes_reversed(order), true);
    assert_ok(pool_mpi_extend(group, &params, NULL, is_cyclic ? POOL_MPI_CYCLIC : POOL_MPI_BLOCK,
        &in, keeps ? &own : NULL, &out));
    copy_part((uint8_t *)part, (uint8_t *)wanted, BATCH, most, 8,
        is_cyclic && !gives_reversed(order), true);
    assert_memory_equal(got, part, BATCH * (share << log_blowup) * 8);
    if (keeps) {
        copy_part((uint8_t *)part, (uint8_t *)known, BATCH, n, 8, is_cyclic, true);
        assert_memory_equal(kept, part, BATCH * share * 8);
    }
    free(memory);
}

static void test_extend(void **state)
{
    enum { LOG_BLOWUP = 2 };
    pool_ntt_domain *domain = open_domain("goldilocks", 6 + LOG_BLOWUP);

    (void)state;
    for (int order = 0; order < 4; order++)
        for (int kind = 0; kind < 4; kind++)
            check_extend(
                domain, LOG_BLOWUP, (pool_ntt_order)order, kind & 1, !(kind & 2), !(kind & 1));
    assert_ok(pool_ntt_domain_destroy(&domain));
}

/* The domains of columns and rows are kept for a while: here one in use is the next to be replaced.
 */
static void test_many_domains(void **state)
{
    enum { DOMAINS = 4 };
    pool_ntt_domain *domains[DOMAINS];
    const struct transform_case test = {.field = "goldilocks"};
    uint32_t log_ranks = 0;

    (void)state;
    while ((2 << log_ranks) <= ranks)
        log_ranks++;
    for (int i = 0; i < DOMAINS; i++)
        domains[i] = open_domain("goldilocks", 10);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < DOMAINS; i++) {
            check_ntt(&test, domains[i]);
            if (i == DOMAINS - 1)
                check_extend(domains[0], log_ranks, POOL_NTT_NN, 0, true, true);
        }
    for (int i = 0; i < DOMAINS; i++)
        assert_ok(pool_ntt_domain_destroy(&domains[i]));
}

/* ---- trees ----------------------------------------------------------------------------------- */

enum { LEAVES = 4, DIGEST = 32, MOST_DIGESTS = 4 * 8 * LEAVES };

static void check_tree(uint32_t kept_levels, uint32_t height, bool has_padding)
{
    const uint8_t absent[DIGEST] = {5};
    pool_merkle_params params = {.struct_size = sizeof(params),
        .arity = 2,
        .height = height,
        .padding = has_padding ? absent : NULL};
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};
    pool_merkle_shape subtree = {.struct_size = sizeof(subtree)};
    pool_merkle_shape upper = {.struct_size = sizeof(upper)};
    const uint64_t count = (uint64_t)ranks * LEAVES;
    const pool_exec exec = exec_here();
    uint8_t *memory = calloc(5 * MOST_DIGESTS, DIGEST);
    uint8_t *leaves = memory, *tree = leaves + MOST_DIGESTS * DIGEST;
    uint8_t *own = tree + MOST_DIGESTS * DIGEST, *above = own + MOST_DIGESTS * DIGEST;
    uint8_t *path = above + MOST_DIGESTS * DIGEST, *wanted = path + MOST_DIGESTS / 2 * DIGEST;
    pool_span all = {.data = leaves, .count = count}, levels = {.data = tree};
    pool_span mine = {.data = leaves + (size_t)rank * LEAVES * DIGEST, .count = LEAVES};
    pool_span below = {.data = own}, top = {.data = above}, opening = {.data = path};
    pool_span reference = {.data = wanted};
    pool_poseidon *set = NULL;

    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_ok(pool_random_scalars(pool_poseidon_field(set), 4, count, POOL_FORM_STANDARD, leaves));
    assert_ok(pool_merkle_get_shape(set, &params, count, &shape));
    levels.count = shape.digest_count;
    assert_true(shape.digest_count <= MOST_DIGESTS);
    assert_ok(pool_poseidon_merkle_build(set, &exec, &params, &all, &levels));
    params.kept_levels = kept_levels;
    assert_ok(pool_mpi_merkle_get_shape(group, set, &params, LEAVES, &subtree, &upper));
    assert_int_equal(subtree.path_count + upper.path_count, shape.path_count);
    below.count = subtree.digest_count;
    top.count = upper.digest_count;
    assert_ok(pool_mpi_merkle_build(group, set, NULL, &params, &mine, &below, &top));
    assert_memory_equal(above + (upper.digest_count - 1) * DIGEST,
        tree + (shape.digest_count - 1) * DIGEST, DIGEST);
    params.kept_levels = 0;
    for (uint64_t index = 0; index < count; index += 3) {
        reference.count = opening.count = shape.path_count;
        assert_ok(pool_poseidon_merkle_open(
            set, &exec, &params, count, &all, &levels, index, &reference));
        params.kept_levels = kept_levels;
        assert_ok(pool_mpi_merkle_open(
            group, set, NULL, &params, LEAVES, &mine, &below, &top, index, &opening));
        params.kept_levels = 0;
        assert_memory_equal(path, wanted, shape.path_count * DIGEST);
    }
    assert_status(pool_mpi_merkle_open(
                      group, set, NULL, &params, LEAVES, &mine, &below, &top, count, &opening),
        POOL_ERR_INVALID_ARGUMENT);
    pool_poseidon_destroy(&set);
    free(memory);
}

static void test_merkle(void **state)
{
    (void)state;
    check_tree(0, 0, false);
    check_tree(1, 8, true);
}

static void test_merkle_is_refused(void **state)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    uint8_t memory[64 * DIGEST] = {0};
    const pool_span leaves = {.data = memory, .count = is_last() ? 3 : LEAVES};
    pool_merkle_shape subtree = {.struct_size = sizeof(subtree)};
    pool_merkle_shape upper = {.struct_size = sizeof(upper)};
    pool_span levels = {.data = memory}, top = {.data = memory};
    pool_poseidon *set = NULL;

    (void)state;
    assert_ok(pool_poseidon_by_name("circom-bn254-t3", &set));
    assert_ok(pool_mpi_merkle_get_shape(group, set, &params, LEAVES, &subtree, &upper));
    levels.count = subtree.digest_count;
    top.count = upper.digest_count;
    assert_status(pool_mpi_merkle_build(group, set, NULL, &params, &leaves, &levels, &top),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    assert_says("3 leaves");
    pool_poseidon_destroy(&set);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The shares of all ranks: contiguous, complete, and within a job of what the rates say. */
static void check_division(uint64_t jobs, uint64_t done, uint64_t elapsed_ns, const double *rates)
{
    uint64_t own[2] = {0}, all[2 * 8];
    double total = 0;

    assert_ok(pool_mpi_divide(group, jobs, done, elapsed_ns, &own[0], &own[1]));
    MPI_Allgather(own, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        total += rates[i];
    for (int i = 0; i < ranks; i++) {
        const double exact = (double)jobs * rates[i] / total;

        assert_true(all[2 * i] == (i ? all[2 * i - 2] + all[2 * i - 1] : 0));
        assert_true(
            (double)all[2 * i + 1] < exact + 1.001 && (double)all[2 * i + 1] > exact - 1.001);
    }
    assert_true(all[2 * ranks - 2] + all[2 * ranks - 1] == jobs);
}

static void test_divide(void **state)
{
    double equal[8], rates[8];
    uint64_t first = 7, count = 7;

    (void)state;
    for (int i = 0; i < ranks; i++) {
        equal[i] = 1;
        rates[i] = i + 1;
    }
    check_division(1000, 0, 0, equal); /* nothing is known */
    check_division(0, 0, 0, equal);
    /* Rank r is r + 1 times as fast as rank 0, which is not measured in the first round but counts
     * as the mean of the others. */
    rates[0] = ranks > 1 ? (double)(ranks + 2) / 2 : 1;
    check_division(1000, rank ? 10 * (uint64_t)(rank + 1) : 0, 1000, rates);
    rates[0] = 1;
    check_division(UINT64_C(1) << 48, rank ? 0 : 10, 1000, rates);
    check_division(1, 10 * (uint64_t)(rank + 1), 1000, rates);
    /* Rates follow a change: the mean of before and now. */
    check_division(1000, 30 * (uint64_t)(rank + 1), 1000, rates);
    assert_status(pool_mpi_divide(NULL, 1, 0, 0, &first, &count), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_mpi_divide(group, 1, 0, 0, is_last() ? NULL : &first, &count),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    assert_status(pool_mpi_divide(group, is_last() ? UINT64_MAX : 1, 0, 0, &first, &count),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    assert_true(first == 7 && count == 7);
    if (ranks > 1) {
        assert_status(pool_mpi_divide(group, is_last() ? 2 : 1, 0, 0, &first, &count),
            POOL_ERR_INVALID_ARGUMENT);
        assert_says("jobs");
    }
    assert_ok(pool_mpi_divide(group, 1, 0, 0, &first, &count));
}

/* ---- the communicator ------------------------------------------------------------------------ */

static void test_info(void **state)
{
    char host[64] = "";
    pool_mpi_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_ok(pool_mpi_get_info(group, &info));
    assert_int_equal(info.rank, rank);
    assert_int_equal(info.ranks, ranks);
    assert_int_equal(info.status, POOL_OK);
    assert_int_equal(info.failed_rank, -1);
    if (is_simulated())
        assert_string_equal(pool_mpi_transport_name(info.transport), "host");
    printf("rank %d: transport %s of %s\n", rank, pool_mpi_transport_name(info.transport),
        info.transports);
    assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
    printf("host of rank %d: %s\n", rank, host);
    assert_string_equal(pool_mpi_transport_name((pool_mpi_transport)9), "?");
    assert_non_null(strstr(info.transports, "host"));
    assert_true(strlen(info.library) > 0);
}

static char logged[256];

static void keep_message(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN)
        snprintf(logged, sizeof(logged), "%s", record->message);
}

/* A rank's device is that of its number on its host; where there are more ranks than devices, two
 * have the same one. */
static void test_device_of_pool(void **state)
{
    enum { NAME = 65, MOST = 8 };
    const pool_mpi_params params = {.struct_size = sizeof(params), .pool = pool};
    pool_mpi_info info = {.struct_size = sizeof(info)};
    char own[NAME] = "", all[MOST][NAME];
    int local = 0, together = 0;
    pool_mpi *other = NULL;

    (void)state;
    assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
    MPI_Allgather(own, NAME, MPI_CHAR, all, NAME, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        if (strcmp(all[i], own) == 0) {
            together++;
            local += i < rank;
        }
    logged[0] = '\0';
    pool_log_set(keep_message, NULL, POOL_LOG_WARN);
    assert_ok(pool_mpi_create(MPI_COMM_WORLD, &params, &other));
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    assert_ok(pool_mpi_get_info(other, &info));
    assert_int_equal(info.local_rank, local);
    assert_int_equal(info.local_ranks, together);
    assert_int_equal(pool_device_index(info.device), (size_t)local % pool_device_count(pool));
    if (is_simulated() && ranks > (int)pool_device_count(pool))
        assert_non_null(strstr(info.warning, "have the same device"));
    if (ranks == 1)
        assert_string_equal(info.warning, "");
    assert_string_equal(logged, rank ? "" : info.warning);
    assert_ok(pool_mpi_destroy(&other));
}

static void test_create_is_refused(void **state)
{
    pool_mpi_params params = {.struct_size = sizeof(params), .device = device};
    pool_mpi *other = NULL;

    (void)state;
    assert_status(pool_mpi_create(MPI_COMM_NULL, &params, &other), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_mpi_create(MPI_COMM_WORLD, &params, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_status(pool_mpi_get_info(NULL, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_ok(pool_mpi_destroy(NULL));
    assert_ok(pool_mpi_destroy(&other));
    assert_status(pool_mpi_create(MPI_COMM_WORLD, is_last() ? NULL : &params, &other),
        POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    params.pool = is_last() ? pool : NULL; /* and a device */
    assert_status(pool_mpi_create(MPI_COMM_WORLD, &params, &other), POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    params.pool = NULL;
    params.chunk_bytes = is_last() ? 6 : 0;
    assert_status(pool_mpi_create(MPI_COMM_WORLD, &params, &other), POOL_ERR_INVALID_ARGUMENT);
    assert_names_last();
    params.chunk_bytes = 0;
    assert_int_equal(unsetenv("DEVICEPOOL_MPI_TRANSPORT"), 0);
    if (is_simulated()) {
        params.transport = POOL_MPI_TRANSPORT_NCCL;
        assert_status(pool_mpi_create(MPI_COMM_WORLD, &params, &other), POOL_ERR_UNSUPPORTED);
        assert_says("nccl");
    }
    assert_null(other);
    /* The environment decides, and an unknown name is an error. */
    assert_int_equal(setenv("DEVICEPOOL_MPI_TRANSPORT", "host", 1), 0);
    assert_ok(pool_mpi_create(MPI_COMM_WORLD, &params, &other));
    assert_ok(pool_mpi_destroy(&other));
    assert_int_equal(setenv("DEVICEPOOL_MPI_TRANSPORT", "carrier", 1), 0);
    assert_status(pool_mpi_create(MPI_COMM_WORLD, &params, &other), POOL_ERR_INVALID_ARGUMENT);
    assert_says("carrier");
    assert_int_equal(unsetenv("DEVICEPOOL_MPI_TRANSPORT"), 0);
}

/* ---- failures -------------------------------------------------------------------------------- */

static pool_status small_ntt(void)
{
    pool_ntt_domain *domain = open_domain("babybear", 6);
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    uint32_t elements[64] = {1};
    const pool_span span = {.data = elements, .count = (uint64_t)64 / (uint64_t)ranks};
    pool_status status = pool_mpi_ntt(group, &params, NULL, POOL_MPI_CYCLIC, &span, &span);

    assert_ok(pool_ntt_domain_destroy(&domain));
    return status;
}

/* A rank that is late by less than the timeout delays the others, and that is all. */
static void test_slow_rank(void **state)
{
    (void)state;
    if (is_last())
        usleep(300000);
    assert_ok(small_ntt());
}

/* A device's fault on one rank is the status and the cause on all; the ranks stay in step. */
static void test_fault(void **state)
{
    (void)state;
    assert_ok(small_ntt());
    if (is_last())
        assert_ok(pool_sim_set_faults("cuLaunchKernel*@1=700"));
    assert_status(small_ntt(), POOL_ERR_PROCESS_POISONED);
    assert_names_last();
    assert_status(small_ntt(), POOL_ERR_PROCESS_POISONED);
    assert_names_last();
}

/* ---- workers --------------------------------------------------------------------------------- */

/* A kernel that stores to an address that nobody has. */
static void cause_fault(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry store(.param .u64 address)\n{\n"
                              "\t.reg .u64 %a;\n"
                              "\tld.param.u64 %a, [address];\n"
                              "\tst.global.u32 [%a], 1;\n\tret;\n}\n";
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 1};
    CUdeviceptr address = 0x10;
    void *arguments[] = {&address};
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_stream *stream = NULL;

    assert_ok(pool_module_load(device, ptx, strlen(ptx), &module));
    assert_ok(pool_kernel_get(module, "store", &kernel));
    assert_ok(pool_stream_create(device, NULL, &stream));
    assert_ok(pool_launch(kernel, &shape, arguments, stream));
    assert_status(pool_stream_synchronize(stream), POOL_ERR_DEVICE_LOST);
    (void)pool_stream_destroy(&stream);
    pool_module_destroy(&module);
}

/* A rank whose device is in a worker process survives its fault: the operation fails on all ranks,
 * and further ones of the same pool_mpi are right when the device has returned into service. */
static void test_worker_fault(void **state)
{
    int tries = 0;
    pool_status status;

    (void)state;
    test_ntt(state);
    /* A device that is back before the next call makes none fail; all ranks count the same tries.
     */
    for (int round = 0; round < 2 || (!tries && round < 50); round++) {
        assert_ok(small_ntt());
        if (is_last())
            cause_fault();
        while ((status = small_ntt()) != POOL_OK && ++tries < 100000) {
            assert_int_equal(status, POOL_ERR_DEVICE_LOST);
            assert_names_last();
            usleep(1000);
        }
        assert_ok(status);
    }
    assert_true(tries > 0);
    test_ntt(state);
    test_msm(state);
}

static int test_workers(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worker_fault)};

    /* Replacements start at once, as after a first loss. */
    setenv("DEVICEPOOL_WORKER_PAUSE_MS", "0", 1);
    return cmocka_run_group_tests(tests, open_group, close_group);
}

static int test_fault_only(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fault)};

    /* The pool of a process with a fault is not destroyed. */
    return cmocka_run_group_tests(tests, open_group, NULL);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_device_of_pool),
        cmocka_unit_test(test_create_is_refused),
        cmocka_unit_test(test_msm),
        cmocka_unit_test(test_msm_is_refused),
        cmocka_unit_test(test_ntt),
        cmocka_unit_test(test_ntt_in_place),
        cmocka_unit_test(test_ntt_is_refused),
        cmocka_unit_test(test_extend),
        cmocka_unit_test(test_many_domains),
        cmocka_unit_test(test_merkle),
        cmocka_unit_test(test_merkle_is_refused),
        cmocka_unit_test(test_divide),
        cmocka_unit_test(test_slow_rank),
    };
    const char *mode = count > 2 ? arguments[2] : "operations";
    int level = 0, failed;

    if (MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (log2_of(ranks) > 3)
        return 1;
    device_text = count > 1 ? arguments[1] : "sim";
    chunk_bytes = 64; /* many chunks of few elements */
    if (strcmp(mode, "workers") == 0)
        failed = test_workers();
    else if (strcmp(mode, "fault") == 0)
        failed = test_fault_only();
    else
        failed = cmocka_run_group_tests(tests, open_group, close_group);
    MPI_Finalize();
    return failed ? 1 : 0;
}
