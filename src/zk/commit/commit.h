/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commitments to matrices: the tree's shape (tree.c), the memory and the chunks of a call (plan.c),
 * its stages on a device (run.c), chunks that are extended first (extend.c), openings (open.c) and
 * their verification on the host (verify.c).
 */
#ifndef COMMIT_COMMIT_H
#define COMMIT_COMMIT_H

#include <devicepool/commit.h>

#include "zk/operation/operation.h"
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

extern const struct base_struct commit_params_type;

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

/* ---- commit.c -------------------------------------------------------------------------------- */

/* A call of pool_matrix_commit, pool_matrix_commit_shards or pool_extend_commit, or of a part. */
struct commit_call {
    struct operation_call frame;
    const pool_matrix_commit_params *given;
    const pool_matrix *matrices;
    const pool_extension *extensions; /* instead of matrices */
    uint32_t count;
    const pool_span *levels;
    uint64_t *digests; /* of each shard of the levels, by pool_matrix_commit_shards */
    pool_matrix_commit_params params;
    struct commit_tree tree;
    struct commit_plan plan;
};

/* Steps of all calls. */
#define COMMIT_RULES                                                                               \
    .checks = POOL_CHECK_CANONICAL, .has_async = true, .has_workspace = true,                      \
    .has_memory_limit = true, .has_devices = true
void commit_set_items(void *call);
pool_status commit_check_levels(void *call);
pool_status commit_plan(void *call, uint64_t limit);

/* Operands: a matrix of a tree, and the refusal of one with another number of items. */
void commit_list_matrix(
    const struct commit_tree *tree, uint32_t index, struct operation_operand *operand);
pool_status commit_check_matrices(const char *call, const struct commit_tree *tree);

/* A tree that the call consists of: computes its levels on the device of `exec` or, with `bytes`,
 * forecasts. */
pool_status commit_compute(const char *call, const struct commit_tree *tree, const pool_exec *exec,
    const pool_span *levels, uint64_t *bytes);

/* extend.c, extend_devices.c: one device, or the jobs of several. */
pool_status commit_read_extension(
    const struct commit_call *call, const pool_extension *given, pool_ntt_extend_params *params);
/* Refuses an extension over another field than the tree's. */
pool_status commit_check_field(
    const struct commit_call *call, const pool_ntt_domain *domain, uint32_t index);
pool_status commit_read_jobs(struct commit_call *call);
pool_status commit_divide_jobs(void *call, struct operation_division *division);

/* ---- run.c ----------------------------------------------------------------------------------- */

/* Enqueues the computation of the kept levels. */
pool_status commit_run(void *call);

/* The progress of a call. */
uint64_t commit_work(const struct commit_tree *tree);

#endif
