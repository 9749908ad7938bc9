/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations over the ranks of an MPI communicator, each with a pool of its own: a library beside
 * devicepool (libdevicepool-mpi, pkg-config devicepool-mpi), built where MPI is found.
 *
 * All functions that take a pool_mpi, except pool_mpi_get_info and pool_mpi_destroy, are
 * collective: every rank calls the same ones in the same order. Arguments that must be the same on
 * all ranks are compared before any data is transferred; if they differ, a rank's own arguments are
 * invalid or a rank fails while it computes, every rank returns the same status and a message that
 * names the rank. See docs/hosts.md.
 */
#ifndef DEVICEPOOL_MPI_H
#define DEVICEPOOL_MPI_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include <devicepool/msm.h>
#include <devicepool/ntt.h>
#include <devicepool/poseidon.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The ranks of a communicator. One thread at a time uses it, and that thread is one that may call
 * MPI: the main thread for MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED.
 */
typedef struct pool_mpi pool_mpi;

/* How elements reach the memory of another rank's device. */
typedef enum pool_mpi_transport {
    POOL_MPI_TRANSPORT_DEFAULT = 0, /* the last one of the list that all ranks have */
    POOL_MPI_TRANSPORT_HOST = 1,    /* pinned host memory and non-blocking messages, in chunks */
    POOL_MPI_TRANSPORT_CUDA = 2,    /* device addresses are passed to a CUDA-aware MPI */
    POOL_MPI_TRANSPORT_NCCL = 3     /* NCCL, which is opened at run time */
} pool_mpi_transport;

/* Zero is the default of every member but struct_size; a device or a pool is required. */
typedef struct pool_mpi_params {
    size_t struct_size;
    /* Of this rank: calls whose exec names no device run on it, and exchanges use it. It must
     * outlive the pool_mpi. */
    pool_device *device;
    /* In place of `device`: this rank's device is the one of its number among the ranks of its
     * host, modulo the pool's number of devices. Ranks are on one host if their host name and the
     * boot number of their kernel are the same. pool_mpi_get_info reports the device. */
    device_pool *pool;
    /* One that a rank does not have is POOL_ERR_UNSUPPORTED on all ranks. The environment variable
     * DEVICEPOOL_MPI_TRANSPORT (host, cuda or nccl) replaces it. */
    pool_mpi_transport transport;
    uint32_t reserved; /* 0 */
    /*
     * The longest time without a message from another rank after which it counts as failed; 0: two
     * minutes. Has to be longer than the ranks' computations differ. A call returns
     * POOL_ERR_TIMEOUT at the latest after seven times as long, plus its own computation.
     */
    uint64_t timeout_ns;
    uint64_t chunk_bytes; /* of messages between hosts' memories; 0: 4 MiB */
} pool_mpi_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_mpi_params_init(pool_mpi_params *params, size_t struct_size);

/*
 * Duplicates the communicator, whose errors are then returned, and agrees on versions and on the
 * transport. MPI must be initialised. A rank whose own params are invalid waits for the default
 * timeout. Meanwhile the error handlers of the communicator, of MPI_COMM_WORLD and of MPI_COMM_SELF
 * are MPI_ERRORS_RETURN. Two ranks with one device, by its UUID, are a warning in the log of rank 0
 * and in pool_mpi_info. POOL_ERR_INVALID_ARGUMENT: MPI is not initialised or is finalised,
 * MPI_COMM_NULL, an intercommunicator; on all ranks: neither device nor pool on one of them,
 * different versions or params. POOL_ERR_IO on all ranks that are left: a process has ended, where
 * MPI reports that (see pool_mpi_shrink); the message names the rank.
 */
POOL_API pool_status pool_mpi_create(
    MPI_Comm communicator, const pool_mpi_params *params, pool_mpi **mpi);

/*
 * Frees everything but, after a call in which a rank did not answer, what MPI may still access: the
 * duplicate of the communicator and the memory of its messages. Call it before MPI_Finalize, and on
 * all ranks, because MPI frees communicators collectively. Sets *mpi to NULL; NULL and a pointer to
 * NULL are no-ops.
 */
POOL_API pool_status pool_mpi_destroy(pool_mpi **mpi);

/* Set struct_size before the call. */
typedef struct pool_mpi_info {
    size_t struct_size;
    int32_t rank;
    int32_t ranks;
    pool_mpi_transport transport;
    /* POOL_OK, or the first failure after which messages may be outstanding: every later collective
     * call returns it. */
    pool_status status;
    /* The lowest rank whose process has ended, where MPI reports that, else the rank that did not
     * reply: the same on all ranks that know one. -1: none, or unknown. */
    int32_t failed_rank;
    pool_device *device;
    int32_t local_rank;  /* the number of this rank among those of its host */
    int32_t local_ranks; /* how many these are */
    char library[256];   /* the MPI library's first line about itself */
    char transports[64]; /* what this rank has: "host cuda nccl" */
    char warning[256];   /* "ranks 0 and 1 have the same device", or "" */
} pool_mpi_info;

/* Fills `info`; not collective. */
POOL_API pool_status pool_mpi_get_info(const pool_mpi *mpi, pool_mpi_info *info);

/* "host", "cuda", "nccl" or "default"; "?" for other values. Static. Any thread. */
POOL_API const char *pool_mpi_transport_name(pool_mpi_transport transport);

/*
 * After a failure in which a rank did not reply: replaces *mpi by one of the remaining ranks,
 * numbered in the same order, with the same device and params. Where the MPI library has User-Level
 * Failure Mitigation and it is switched on (Open MPI from 5.0 on: `mpirun --with-ft ulfm`);
 * POOL_ERR_UNSUPPORTED elsewhere, and *mpi stays. All remaining ranks call it: it waits without a
 * deadline for ranks that MPI does not report as ended.
 *
 * `survivors` (NULL: not wanted) takes a communicator of the remaining ranks, in the same order,
 * whose errors are returned; the caller frees it. `ended` (NULL: not wanted) takes the lost ranks
 * of the replaced *mpi, ascending, at most pool_mpi_info.ranks, and `ended_count` (required with
 * `ended`) how many they are.
 *
 * POOL_ERR_IO on all remaining ranks: another process has ended meanwhile; the message has its rank
 * in the replaced *mpi. After any failure *mpi stays, and this function can be called again.
 * Buffers, bases and trees belong to the device and stay valid; the caller restores the division of
 * the job's data over the ranks. Other errors: as of pool_mpi_create.
 */
POOL_API pool_status pool_mpi_shrink(
    pool_mpi **mpi, MPI_Comm *survivors, int32_t *ended, int32_t *ended_count);

/* ---- batches --------------------------------------------------------------------------------- */

/*
 * Divides `jobs` independent jobs of a batch over the ranks in proportion to their measured rates:
 * this rank's are jobs *first ... *first + *count - 1. In repeated rounds each rank passes how many
 * jobs it has computed since the last call and how long it took, without waiting; the rate is half
 * of a new measurement and half of the earlier ones. `done` 0: no new measurement. A rank that has
 * none counts as the mean of those that have one, so the first shares are equal. Shares differ by
 * less than one job from the exact ones, and a rank may have none. `jobs`, at most 2^48, must be
 * the same on all ranks. The jobs are the caller's: the library transfers nothing of them.
 */
POOL_API pool_status pool_mpi_divide(pool_mpi *mpi, uint64_t jobs, uint64_t done,
    uint64_t elapsed_ns, uint64_t *first, uint64_t *count);

/* ---- MSM ------------------------------------------------------------------------------------- */

/*
 * pool_msm over the points of all ranks: each one computes the sums over its own points and
 * scalars, as many as the caller chooses (also 0), as pool_msm does with the same arguments, on one
 * device or several; every rank receives the sums of all. Curve and batch must be the same on all
 * ranks. `results` has as many points as there are MSMs, in host memory. is_async must be 0.
 * Errors: as of pool_msm, of any rank.
 */
POOL_API pool_status pool_mpi_msm(pool_mpi *mpi, const pool_msm_params *params,
    const pool_exec *exec, const pool_span *points, const pool_span *scalars,
    const pool_span *results);

/* ---- NTT ------------------------------------------------------------------------------------- */

/* Which elements of a transform in natural order a rank has, of R ranks: n/R consecutive ones in
 * the order of the index in memory. Bit-reversed orders are in blocks with either. */
typedef enum pool_mpi_distribution {
    POOL_MPI_CYCLIC = 0, /* rank r has elements r, r + R, r + 2 R, ...: one exchange */
    POOL_MPI_BLOCK = 1   /* rank r has elements r n/R ... : one more on each natural side */
} pool_mpi_distribution;

/*
 * Transforms of 2^log_size elements over the ranks, whose number R is a power of two, with R^2 at
 * most 2^log_size. Each rank has n/R elements of each transform, one transform after the other: of
 * a bit-reversed order the r-th n/R, of the natural order what `distribution` says, so that the
 * ranks' elements are distributed as shards (docs/several-devices.md). Params (layout
 * POOL_NTT_ROWS) and distribution must be the same on all ranks; domains may be different handles
 * of the same one. Spans are packed, in host memory or the device's, in either form; `out` may be
 * `in`; they must not overlap otherwise. Of `exec` device, stream, checks (POOL_CHECK_CANONICAL),
 * cancel and lease are used. Allocates 2 n/R elements of device memory, and once more for spans in
 * host memory. For a batch it allocates twice as much where all ranks have it, so that the
 * exchange of one transform overlaps with the computation of the next. Errors: as of pool_ntt, of
 * any rank.
 */
POOL_API pool_status pool_mpi_ntt(pool_mpi *mpi, const pool_ntt_params *params,
    const pool_exec *exec, pool_mpi_distribution distribution, const pool_span *in,
    const pool_span *out);

/*
 * pool_ntt_extend over the ranks: `in` has each rank's n/R elements of each column, `out` its N/R,
 * column by column (layout POOL_NTT_ROWS), distributed as by pool_mpi_ntt; R^2 is at most n.
 * `coefficients` (NULL: not wanted) takes n/R coefficients of each column, in natural order and
 * `distribution`. exec and errors as for pool_mpi_ntt. Allocates 3 N/R elements of device memory,
 * twice that for a batch as pool_mpi_ntt does, and those of the spans in host memory.
 */
POOL_API pool_status pool_mpi_extend(pool_mpi *mpi, const pool_ntt_extend_params *params,
    const pool_exec *exec, pool_mpi_distribution distribution, const pool_span *in,
    const pool_span *coefficients, const pool_span *out);

/* ---- Merkle trees ---------------------------------------------------------------------------- */

/*
 * The shapes of a tree over all ranks, each of which has `leaves` leaves: a power of the arity, one
 * or more. `subtree` is the tree over a rank's leaves, of which params->kept_levels levels are
 * kept, counted from its root (0: all), `top` the one over the roots of the subtrees, of which all
 * levels are kept. params->height is the height of the whole tree; 0: the smallest. Set both
 * struct_sizes before the call. Not collective.
 */
POOL_API pool_status pool_mpi_merkle_get_shape(const pool_mpi *mpi, const pool_poseidon *set,
    const pool_merkle_params *params, uint64_t leaves, pool_merkle_shape *subtree,
    pool_merkle_shape *top);

/*
 * Builds the tree over the leaves of all ranks, rank by rank: the tree that
 * pool_poseidon_merkle_build builds over all of them. Each rank builds the subtree of its leaves,
 * with the same arguments as that function, and stores its levels; `top` takes the levels above on
 * every rank, in host memory, the root last. `levels` has digest_count digests of the subtree's
 * shape, `top` as many as the top's. The set, all params and the number of leaves must be the same
 * on all ranks. is_async must be 0. Errors: those of pool_poseidon_merkle_build of any rank.
 */
POOL_API pool_status pool_mpi_merkle_build(pool_mpi *mpi, const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, const pool_span *leaves,
    const pool_span *levels, const pool_span *top);

/*
 * Writes the opening of leaf `index` of all leaves to `path` on every rank, in host memory: as many
 * digests as the subtree's and the top's path_count together, for pool_poseidon_merkle_verify with
 * the height of the whole tree. The rank of the leaf reads its levels (and leaves, where the lowest
 * levels were not kept); `index` and the form of `path` must be the same on all ranks.
 */
POOL_API pool_status pool_mpi_merkle_open(pool_mpi *mpi, const pool_poseidon *set,
    const pool_exec *exec, const pool_merkle_params *params, uint64_t leaf_count,
    const pool_span *leaves, const pool_span *levels, const pool_span *top, uint64_t index,
    const pool_span *path);

#ifdef __cplusplus
}
#endif

#endif
