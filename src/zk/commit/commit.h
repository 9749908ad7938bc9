/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments to matrices: the tree's shape (tree.c), the memory and the chunks of a call (plan.c),
 * its stages on a device (run.c), chunks that are extended first (extend.c), openings (open.c) and
 * their verification on the host (verify.c).
 */
#ifndef COMMIT_COMMIT_H
#define COMMIT_COMMIT_H

#include <devicepool/commit.h>

#include "zk/operation/exec.h"
#include "zk/operation/operand.h"
#include "zk/poseidon/poseidon.h"

enum { COMMIT_MAX_MATRICES = 4096, COMMIT_MAX_LOG_HEIGHT = 40 };

/* ---- tree.c ---------------------------------------------------------------------------------- */

/* A tree of validated params and sizes. */
struct commit_tree {
    const pool_poseidon *set;
    const pool_poseidon *row_set;
    const pool_field *field;
    const pool_matrix *matrices;
    const struct commit_extension *extensions; /* per matrix, of pool_extend_commit; or NULL */
    const struct commit_source *sources;       /* per matrix of one device's part; or NULL */
    /* The digests of level 0, packed in host memory and in the form of the levels; NULL: they are
     * those of rows. */
    const unsigned char *leaves;
    uint32_t count;
    bool keeps_short_rows;
    uint64_t rows;        /* of the tallest matrices; of a part, any number of subtrees */
    uint32_t height;      /* levels above level 0 */
    uint32_t first_level; /* the lowest kept one */
    uint64_t digest_count;
    uint64_t row_elements;
    size_t digest_bytes;
    uint64_t level_target[COMMIT_MAX_LOG_HEIGHT + 1]; /* of kept levels: first item of `levels` */
};

/* A copy of validated params, but for the levels that they choose. */
pool_status commit_params_read(
    const char *call, const pool_matrix_commit_params *given, pool_matrix_commit_params *params);

/* `call` is the public function. Reads nothing of the matrices' spans. */
pool_status commit_tree_init(const char *call, const pool_matrix_commit_params *given,
    const pool_matrix *matrices, uint32_t count, struct commit_tree *tree);

static inline uint64_t commit_level_nodes(const struct commit_tree *tree, uint32_t level)
{
    return tree->rows >> level;
}

/* Of a kept level, in digests from the start of the lowest one. */
static inline uint64_t commit_level_start(const struct commit_tree *tree, uint32_t level)
{
    return 2 * (commit_level_nodes(tree, tree->first_level) - commit_level_nodes(tree, level));
}

/* The elements of a row of the matrices with as many rows as the level has nodes; 0: there are
 * none. */
uint64_t commit_level_width(const struct commit_tree *tree, uint32_t level);

/* The level whose nodes have the rows of a matrix. */
static inline uint32_t commit_matrix_level(
    const struct commit_tree *tree, const pool_matrix *matrix)
{
    return (uint32_t)__builtin_ctzll(tree->rows / matrix->height);
}

/* The elements of an item of a matrix's span, and the number of items. */
static inline uint64_t commit_item_elements(const pool_matrix *matrix)
{
    return matrix->layout == POOL_MATRIX_ROWS ? matrix->width : matrix->height;
}
static inline uint64_t commit_item_count(const pool_matrix *matrix)
{
    return matrix->layout == POOL_MATRIX_ROWS ? matrix->height : matrix->width;
}

static inline struct span_item commit_item_of(const pool_field *field, const pool_matrix *matrix)
{
    return (struct span_item){.bytes = commit_item_elements(matrix) * field->bytes,
        .kind = "rows or columns",
        .name = field->name};
}

/* Checks the spans of all matrices, with `site` also their data; NULL: without. */
pool_status commit_check_matrices(
    const char *call, const struct commit_tree *tree, const struct exec_target *site);

/* Refuses data at NULL in the matrices in host memory; commit_check_matrices does for all. */
pool_status commit_check_host_data(const char *call, const struct commit_tree *tree);

/* Checks the span of the levels, but not its data. */
pool_status commit_check_levels(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels);

/* The sponge of a row of `elements` elements. */
struct poseidon_sponge commit_row_sponge(const struct commit_tree *tree, uint32_t elements);

/* ---- extend.c -------------------------------------------------------------------------------- */

/* A matrix that is the low-degree extension of another one, column by column. */
struct commit_extension {
    pool_ntt_extend_params params; /* batch: all columns */
    pool_span trace;               /* items are columns */
    bool is_kept;                  /* the extended columns have memory of the caller's */
    pool_device *device;
};

/* The extension of a matrix of the tree; NULL: it is given. */
const struct commit_extension *commit_extension_of(
    const struct commit_tree *tree, const pool_matrix *matrix);
static inline uint64_t commit_trace_height(const struct commit_extension *extension)
{
    return UINT64_C(1) << (pool_ntt_domain_log_size(extension->params.domain) -
                           extension->params.log_blowup);
}
/* The device memory that the extension of that many columns allocates besides them. */
uint64_t commit_extension_bytes(
    const struct commit_extension *extension, const pool_matrix *matrix, uint64_t columns);
/* Enqueues the extension of `in` to `out`, both in device memory. */
pool_status commit_extend_columns(const struct commit_extension *extension,
    const struct exec_target *target, const pool_span *in, const pool_span *out);

/* ---- sources.c ------------------------------------------------------------------------------- */

/* Where a part of a matrix comes from that one of several devices hashes. */
struct commit_source {
    /* It is copied to a chunk's scratch memory: from this device, whose memory this one cannot
     * address, or, NULL, with gaps from pinned host memory. */
    bool is_fetched;
    pool_device *owner;
    uint32_t matrix;         /* of the call, for messages, like the rest: */
    uint64_t first_item;     /* of the matrix's span */
    uint64_t first_element;  /* of its items */
    uint64_t whole_elements; /* likewise */
};

static inline bool commit_is_fetched(const struct commit_tree *tree, const pool_matrix *matrix)
{
    return tree->sources && tree->sources[matrix - tree->matrices].is_fetched;
}
/* Enqueues copies of the items of a part from item `first` on, packed, to `to`. */
pool_status commit_fetch(const struct commit_tree *tree, const pool_matrix *matrix,
    const struct exec_target *target, uint64_t first, uint64_t count, CUdeviceptr to);

/* ---- plan.c: pure ---------------------------------------------------------------------------- */

/* A matrix in host memory passes through the device in chunks of its span's items. */
struct commit_chunks {
    uint64_t items;
    uint64_t bytes; /* of a chunk's copies, and of its extension if that is not kept */
    uint32_t slots;
};

struct commit_plan {
    uint64_t chunk_bytes; /* of a chunk's items; commit_plan_chunks follows from it */
    uint32_t slots;       /* chunks in progress at a time, at most */
    /* Device memory: */
    uint64_t staging_bytes;    /* kept levels for host memory */
    uint64_t scratch_bytes[2]; /* levels that are not kept, alternating */
    uint64_t pair_bytes;       /* pairs of a node and the digest of a row */
    uint64_t state_bytes;      /* sponges between launches */
    uint64_t bytes;            /* in all */
};

/* False when the least memory, which is then plan->bytes, exceeds `limit`. */
bool commit_plan_make(const struct commit_tree *tree, bool levels_are_on_host, bool has_checks,
    uint64_t limit, struct commit_plan *plan);

struct commit_chunks commit_plan_chunks(
    const struct commit_plan *plan, const struct commit_tree *tree, const pool_matrix *matrix);

/* ---- commit.c: for validated arguments ------------------------------------------------------- */

/* What commitments support of a pool_exec. */
extern const struct exec_rules commit_exec_rules;
/* Refuses a workspace of `exec` that overlaps matrices, traces or levels. */
pool_status commit_check_workspace(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels);
/* Computes the levels on `site`, whose device memory is validated, and ends the call. */
pool_status commit_compute(const struct commit_tree *tree, const struct exec_target *site,
    const pool_span *levels, struct progress *progress);
/* Refuses levels without data or in memory of another device, and initialises `site`. */
pool_status commit_init_site(const char *call, const struct commit_tree *tree,
    const pool_exec *exec, const pool_span *levels, struct exec_target *site);
/* The device memory that commit_compute allocates. */
pool_status commit_forecast(const char *call, const struct commit_tree *tree, const pool_exec *exec,
    const pool_span *levels, uint64_t *bytes);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* Computes the kept levels for validated arguments; the caller ends the call on the device. */
pool_status commit_run(const struct commit_tree *tree, const struct commit_plan *plan,
    const struct exec_target *site, const pool_span *levels, struct progress *progress);

/* The progress of a call. */
uint64_t commit_work(const struct commit_tree *tree);

#endif
