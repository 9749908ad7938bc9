/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A polynomial that is divided over the ranks of an MPI job is committed: its values on a large
 * domain are interpolated, its coefficients are committed by a KZG-like MSM over bases that are
 * divided likewise, and its low-degree extension by a Merkle tree. Each rank only ever has its
 * part, so that the polynomial may be larger than one device. The coefficients are transformed back
 * and compared.
 *
 *   mpirun -n 4 mpi_commit [DEVICES] [LOG_SIZE]      default: 2^20 values, 2^6 on
 *   simulated devices; ranks: a power of two
 */
#include <devicepool.h>
#include <devicepool/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT 32 /* bytes of a BN254 scalar; a digest is one element */
#define POINT 64
#define LOG_BLOWUP 1

static int rank, ranks;

/* A failure of any rank is one of all, with the same message. */
static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "on rank %d: %s\n", rank, pool_last_error()->message);
    MPI_Abort(MPI_COMM_WORLD, pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void *allocate(uint64_t count, size_t bytes)
{
    void *memory = calloc((size_t)count, bytes);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* Coefficients of this rank and the values of its part of the extension. */
static void extend(pool_mpi *mpi, pool_ntt_domain *domain, const pool_span *values,
    const pool_span *coefficients, const pool_span *extension)
{
    const pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .log_blowup = LOG_BLOWUP,
        .order = POOL_NTT_NR};

    must(pool_mpi_extend(mpi, &params, NULL, POOL_MPI_CYCLIC, values, coefficients, extension));
}

/* The bases of this rank belong to the coefficients that it has. */
static void commit(pool_mpi *mpi, const pool_span *coefficients, uint8_t commitment[POINT])
{
    const pool_msm_params params = {
        .struct_size = sizeof(params), .curve = pool_curve_by_name("bn254_g1")};
    pool_span bases = {.count = coefficients->count};
    const pool_span result = {.data = commitment, .count = 1};

    bases.data = allocate(bases.count, POINT);
    must(pool_random_points(
        params.curve, (uint64_t)rank, (size_t)bases.count, NULL, bases.data, NULL));
    must(pool_mpi_msm(mpi, &params, NULL, &bases, coefficients, &result));
    free(bases.data);
}

/* The root of the tree over the extension, and whether leaf `index` opens to it. */
static int build_and_open(
    pool_mpi *mpi, const pool_span *extension, uint64_t index, uint8_t root[ELEMENT])
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_merkle_shape below = {.struct_size = sizeof(below)},
                      above = {.struct_size = sizeof(above)};
    const uint64_t owner = index / extension->count;
    pool_span levels = {0}, top = {0}, path = {0};
    uint8_t leaf[ELEMENT];
    int32_t is_member = 0;
    pool_poseidon *set;

    must(pool_poseidon_by_name("circom-bn254-t3", &set));
    must(pool_mpi_merkle_get_shape(mpi, set, &params, extension->count, &below, &above));
    levels.data = allocate(levels.count = below.digest_count, ELEMENT);
    top.data = allocate(top.count = above.digest_count, ELEMENT);
    path.data = allocate(path.count = below.path_count + above.path_count, ELEMENT);
    must(pool_mpi_merkle_build(mpi, set, NULL, &params, extension, &levels, &top));
    must(pool_mpi_merkle_open(
        mpi, set, NULL, &params, extension->count, extension, &levels, &top, index, &path));
    memcpy(root, (uint8_t *)top.data + (top.count - 1) * ELEMENT, ELEMENT);
    if ((uint64_t)rank == owner)
        memcpy(leaf, (uint8_t *)extension->data + index % extension->count * ELEMENT, ELEMENT);
    MPI_Bcast(leaf, ELEMENT, MPI_BYTE, (int)owner, MPI_COMM_WORLD);
    params.height = below.height + above.height;
    must(pool_poseidon_merkle_verify(
        set, &params, POOL_FORM_STANDARD, root, leaf, index, path.data, &is_member));
    free(levels.data);
    free(top.data);
    free(path.data);
    pool_poseidon_destroy(&set);
    return is_member;
}

/* Transforms the coefficients back; the values must be those that were given. */
static int check_values(
    pool_mpi *mpi, pool_ntt_domain *domain, const pool_span *coefficients, const pool_span *values)
{
    const pool_ntt_params params = {.struct_size = sizeof(params), .domain = domain};
    pool_span again = *values;
    int is_equal;

    again.data = allocate(again.count, ELEMENT);
    must(pool_mpi_ntt(mpi, &params, NULL, POOL_MPI_CYCLIC, coefficients, &again));
    is_equal = memcmp(again.data, values->data, again.count * ELEMENT) == 0;
    free(again.data);
    return is_equal;
}

static int run(pool_mpi *mpi, uint32_t log_size)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .field = field, .log_size = log_size};
    pool_span values = {.count = (UINT64_C(1) << log_size) / (uint64_t)ranks};
    pool_span coefficients = values, extension = {.count = values.count << LOG_BLOWUP};
    uint8_t commitment[POINT], root[ELEMENT];
    pool_ntt_domain *small, *large;
    int is_right;

    values.data = allocate(values.count, ELEMENT);
    coefficients.data = allocate(coefficients.count, ELEMENT);
    extension.data = allocate(extension.count, ELEMENT);
    must(pool_ntt_domain_create(&params, &small));
    params.log_size += LOG_BLOWUP;
    must(pool_ntt_domain_create(&params, &large));
    must(pool_random_scalars(
        field, (uint64_t)rank, (size_t)values.count, POOL_FORM_STANDARD, values.data));
    extend(mpi, large, &values, &coefficients, &extension);
    commit(mpi, &coefficients, commitment);
    is_right = build_and_open(mpi, &extension, extension.count * (uint64_t)ranks - 2, root);
    is_right &= check_values(mpi, small, &coefficients, &values);
    if (rank == 0)
        printf("2^%u values over %d ranks: commitment %02x%02x..., root %02x%02x..., %s\n",
            log_size, ranks, commitment[0], commitment[1], root[0], root[1],
            is_right ? "correct" : "wrong");
    free(values.data);
    free(coefficients.data);
    free(extension.data);
    must(pool_ntt_domain_destroy(&small));
    must(pool_ntt_domain_destroy(&large));
    return is_right ? 0 : 1;
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 6 : 20;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    const unsigned long log_size =
        count > 2 ? strtoul(arguments[2], NULL, 10) : default_log_size(devices);
    pool_mpi_params mpi_params = {.struct_size = sizeof(mpi_params)};
    device_pool *pool;
    pool_mpi *mpi;
    int level, failed;

    if (log_size > 28)
        return fprintf(stderr, "2^%lu values are too many here\n", log_size), 1;
    if (MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(pool_create(&pool, &params));
    mpi_params.pool = pool; /* one device per rank of a host */
    must(pool_mpi_create(MPI_COMM_WORLD, &mpi_params, &mpi));
    failed = run(mpi, (uint32_t)log_size);
    must(pool_mpi_destroy(&mpi));
    must(pool_destroy(&pool));
    MPI_Finalize();
    return failed;
}
