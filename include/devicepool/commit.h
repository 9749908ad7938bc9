/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments to matrices, as STARK provers make them: each row is hashed by a sponge, and the
 * digests are the leaves of a Merkle tree. Matrices of several heights share one tree. The trees
 * are as in Plonky3's MerkleTreeMmcs and plonky2's MerkleTree.
 */
#ifndef DEVICEPOOL_COMMIT_H
#define DEVICEPOOL_COMMIT_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/exec.h>
#include <devicepool/ntt.h>
#include <devicepool/poseidon.h>
#include <devicepool/span.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a matrix is stored. */
typedef enum pool_matrix_layout {
    POOL_MATRIX_COLUMNS = 0, /* one column after another, as POOL_NTT_ROWS stores columns */
    POOL_MATRIX_ROWS = 1     /* one row after another, as POOL_NTT_COLUMNS does */
} pool_matrix_layout;

/* A plain value that owns nothing, like its span. */
typedef struct pool_matrix {
    /* POOL_MATRIX_COLUMNS: `width` items, columns of `height` elements; POOL_MATRIX_ROWS: `height`
       items, rows of `width` elements. The stride is from one item to the next. */
    pool_span span;
    uint64_t height; /* rows: a power of two, at most 2^40 */
    uint32_t width;  /* elements of a row, at least 1 */
    pool_matrix_layout layout;
} pool_matrix;

/*
 * The tree. With H the greatest height, level 0 has H digests, level i has H / 2^i. A row is hashed
 * by a sponge with the set's rate whose blocks overwrite state elements, without padding; the rows
 * of matrices of equal height are one row, in the order of the matrices. Level 0 has the digests of
 * the tallest matrices' rows. A node of the next level is the fixed-length hash c(l, r) of the two
 * digests below it, and where matrices have as many rows as the level has nodes, node j is c(c(l,
 * r), d) with the digest d of their row j. Plonky3's names are PaddingFreeSponge and
 * TruncatedPermutation. Zero is the default of every member but struct_size and `set`.
 */
typedef struct pool_matrix_commit_params {
    size_t struct_size;
    const pool_poseidon *set; /* hashes two digests */
    /* Hashes rows, as Plonky3's configurations do with a wider permutation; of the same field and
       digest size. NULL: `set`. */
    const pool_poseidon *row_set;
    /* 1: a row of at most a digest's elements is not hashed: its digest is the row, followed by
       zeros, as in plonky2. */
    int32_t keeps_short_rows;
    /* The tree ends with the level of 2^cap_height digests, plonky2's cap; 0: with the root. No
       matrix may have fewer rows. */
    uint32_t cap_height;
    uint32_t kept_levels; /* levels that are stored, counted from the cap; 0: all */
    uint32_t reserved;    /* 0 */
} pool_matrix_commit_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_matrix_commit_params_init(pool_matrix_commit_params *params, size_t struct_size);

/* The sizes of a commitment. Set struct_size before the call. */
typedef struct pool_matrix_commit_shape {
    size_t struct_size;
    uint32_t height;       /* of the tree: the levels above level 0, digests of a path */
    uint32_t first_level;  /* the lowest kept level; 0 if all are kept */
    uint64_t digest_count; /* of all kept levels, the items of the `levels` span */
    uint64_t cap_count;    /* of the last level: its digests are the last of that span */
    uint64_t row_elements; /* of an opening: the sum of all widths */
    uint64_t bytes;        /* of all kept levels, packed */
} pool_matrix_commit_shape;

/* Fills `shape`, whose struct_size is set. Of the matrices' spans nothing is read. Any thread. */
POOL_API pool_status pool_matrix_commit_get_shape(const pool_matrix_commit_params *params,
    const pool_matrix *matrices, uint32_t count, pool_matrix_commit_shape *shape);

/*
 * Commits to `count` matrices, 1 … 4096: writes the kept levels, from the lowest one to the cap,
 * digest_count items of the set's digest_elements elements each. Matrices and levels may be in host
 * or device memory and in either form. Matrices in host memory pass through the device in chunks of
 * up to 32 MiB of columns or rows, those in device memory are read in place. Row i of the tree is
 * row i in memory: POOL_NTT_NR and POOL_NTT_RR write rows in the bit-reversed order that Plonky3
 * and plonky2 commit to.
 *
 * Of `exec` all members but on_host are used; a workspace takes all device memory of the call, as
 * pool_matrix_commit_workspace reports it. The check is POOL_CHECK_CANONICAL. The smallest chunk
 * is one column or row; levels and, where columns come in several chunks or several matrices have
 * the same height, the sponges' states (the row set's width in elements per row) are not divided.
 * Progress counts elements of matrices and nodes above level 0.
 *
 * With exec->device_count each device builds subtrees. Matrices are in host memory or sharded:
 * items of the span, columns or rows, on each device, and shards of rows have the same parts of the
 * tree in all matrices. Levels are in host memory or sharded as pool_matrix_commit_shards
 * reports. See docs/several-devices.md.
 *
 * POOL_ERR_INVALID_ARGUMENT: a height that is not a power of two or less than 2^cap_height, a count
 * of a span other than its columns or rows, sets that do not fit each other, and what
 * pool_poseidon_sponge refuses. POOL_ERR_UNSUPPORTED: digests of more than 64 words.
 * POOL_ERR_OUT_OF_DEVICE_MEMORY, POOL_ERR_CANCELLED, POOL_ERR_BAD_DATA. After a failure `levels` is
 * undefined. Any thread.
 */
POOL_API pool_status pool_matrix_commit(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels);

/*
 * The exact number of device bytes that pool_matrix_commit allocates for these arguments: at most
 * exec->memory_limit, unless that is 0. The spans' data may be NULL; a device is not needed. With
 * exec->device_count it sets bytes[i] for device i; the array of shards is read, but not their
 * data.
 */
POOL_API pool_status pool_matrix_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    uint64_t *bytes);

/*
 * Sets digests[i] to the number of digests in shard i of `levels` where the levels of a commitment
 * over several devices stay there (POOL_MEMORY_SHARDED). exec->device_count must not be 0. Each
 * device has the kept levels of its subtrees from the lowest one to the level of their roots, which
 * is the same on all devices; the first device has the levels above that behind them, up to the
 * cap. The division follows the devices' rates, the heights, and the shards of rows: for
 * pool_extend_commit `matrices` are the extensions' heights and widths, with spans in host memory.
 * The data of spans is not read (except for the array of shards) and may be NULL. Errors: as of
 * pool_matrix_commit_workspace for these arguments. Any thread.
 */
POOL_API pool_status pool_matrix_commit_shards(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, uint64_t *digests);

/* A plain value: the low-degree extension of columns, and where it is stored. */
typedef struct pool_extension {
    /* As for pool_ntt_extend: the domain of the extended columns, blow-up, order, columns (batch).
       The layout must be POOL_NTT_ROWS. */
    const pool_ntt_extend_params *params;
    pool_span trace; /* the input of pool_ntt_extend */
    /* Its output, a matrix of 2^log_size rows in the layout POOL_MATRIX_COLUMNS. With count
       0 the extended columns are not kept. */
    pool_span extended;
} pool_extension;

/*
 * Extends columns and commits to the extensions, `count` matrices in the order of the extensions:
 * pool_ntt_extend and pool_matrix_commit in one call. Where the trace or the extension is in host
 * memory, or the extension is not kept, columns pass through the device in chunks of up to 32 MiB;
 * the next chunk is uploaded and extended while one is hashed. Otherwise a matrix is extended as a
 * whole. Of `exec` the same members are used as for pool_matrix_commit; the check applies to the
 * traces. Progress counts elements of the extensions and nodes above level 0. With
 * exec->device_count columns are distributed over the devices, as by pool_ntt_extend, and all are
 * extended before rows are hashed: extensions that are not kept need device memory until then.
 *
 * Errors: as of both functions; POOL_ERR_UNSUPPORTED for another layout. No extension may
 * overlap another one, or another one's trace. After a failure `levels` and extensions are
 * undefined. pool_matrix_commit_warm_up and pool_ntt_extend_warm_up compile its kernels. Any
 * thread.
 */
POOL_API pool_status pool_extend_commit(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels);

/*
 * The exact number of device bytes that pool_extend_commit allocates for these arguments: at most
 * exec->memory_limit, unless that is 0. The spans' data may be NULL, a kept extension is one with a
 * count. Requires exec->device, or a device that the calling thread has bound; with
 * exec->device_count it sets bytes[i] for device i. Tables of the domains do not count.
 */
POOL_API pool_status pool_extend_commit_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_extension *extensions, uint32_t count,
    const pool_span *levels, uint64_t *bytes);

/* Compiles the kernels of both sets for a device, so that no later call waits for them. Blocks.
 * Of `exec` cancel, device, lease and timeout_ns. */
POOL_API pool_status pool_matrix_commit_warm_up(
    const pool_matrix_commit_params *params, const pool_exec *exec);

/*
 * Opens rows. Index i of the tallest matrices is row i >> k of a matrix with 2^k times fewer rows.
 * For each index `rows` receives the row of every matrix, in the order of the matrices: one item of
 * row_elements elements per index. `paths` receives the sibling on each level from 0 on: `height`
 * items, digests, per index, one index after another. Both are in host memory, in either form.
 * `levels` is the result of pool_matrix_commit for the same matrices. If the lowest levels were not
 * kept, the subtree of each index is built again from the matrices. Blocks until rows and paths are
 * written. Of `exec` device, stream, workspace (of the bytes that pool_matrix_open_workspace
 * reports), memory_limit, lease, cancel, devices and workspaces are used; is_async must be 0. With
 * exec->device_count matrices and levels are where pool_matrix_commit takes them, and shards of
 * rows begin with subtrees that are built again: otherwise POOL_ERR_UNSUPPORTED.
 *
 * POOL_ERR_INVALID_ARGUMENT: an index that is not below the greatest height, too few items.
 */
POOL_API pool_status pool_matrix_open(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    const uint64_t *indices, uint64_t index_count, const pool_span *rows, const pool_span *paths);
/* The device memory that pool_matrix_open allocates, as pool_matrix_commit_workspace reports it. */
POOL_API pool_status pool_matrix_open_workspace(const pool_matrix_commit_params *params,
    const pool_exec *exec, const pool_matrix *matrices, uint32_t count, const pool_span *levels,
    uint64_t index_count, const pool_span *rows, const pool_span *paths, uint64_t *bytes);

/*
 * Sets *is_member to 1 if `row` (row_elements elements) and `path` (`height` digests) open the
 * commitment `cap` (cap_count digests) at `index`, else to 0. Everything is packed, in host memory
 * and in `form`, and is computed on the host. Of the matrices only height and width are read.
 * POOL_ERR_BAD_DATA for an element that is not below p; an index that is not below the greatest
 * height is not a member. Any thread.
 */
POOL_API pool_status pool_matrix_verify(const pool_matrix_commit_params *params, pool_form form,
    const pool_matrix *matrices, uint32_t count, const void *cap, uint64_t index, const void *row,
    const void *path, int32_t *is_member);

#ifdef __cplusplus
}
#endif

#endif
