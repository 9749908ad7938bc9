/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a STARK prover computes between its commitments (commit.h): folds of FRI, layers that are
 * committed to, evaluations of columns at points outside their domain, rows in bit-reversed order.
 * Values are in an extension (field.h), columns in its base field.
 */
#ifndef DEVICEPOOL_FRI_H
#define DEVICEPOOL_FRI_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/commit.h>
#include <devicepool/exec.h>
#include <devicepool/field.h>
#include <devicepool/ntt.h>
#include <devicepool/span.h>
#include <devicepool/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is the default of every member but struct_size, field, domain, log_arity and challenge. */
typedef struct pool_fri_fold_params {
    size_t struct_size;
    const pool_field *field; /* of the values: an extension */
    /* Over its base field: the points of the first layer. */
    const pool_ntt_domain *domain;
    /* The values are at the 2^log_folded-th powers of the domain's points: the sum of log_arity of
       the folds before. */
    uint32_t log_folded;
    uint32_t log_arity;      /* a fold by 2^log_arity: 1, 2 or 3 */
    int32_t is_bit_reversed; /* 1: values and results are in bit-reversed order; 0: natural */
    int32_t on_subgroup;     /* 1: the domain is the subgroup; 0: the coset g <w> */
    const void *challenge;   /* one element of `field`, in host memory, in standard form */
} pool_fri_fold_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_fri_fold_params_init(pool_fri_fold_params *params, size_t struct_size);

/*
 * Folds the values of a polynomial f: with f(x) = sum over j < k = 2^log_arity of x^j f_j(x^k), the
 * results are the values of sum_j challenge^j f_j at the k-th powers of the points (Ben-Sasson and
 * others, FRI, 2018). A fold by 8 is three folds by 2 with the challenge, its square and its fourth
 * power, as in plonky2 and Plonky3, which interpolate.
 *
 * `in` has 2^(log_size - log_folded) packed elements of `field`, `out` 2^log_arity times fewer; in
 * host or device memory, in the same form, not overlapping. In bit-reversed order host memory
 * passes through the device in chunks; in natural order it needs device memory for all elements. Of
 * `exec` all members but on_host, workspace and devices are used. The check is
 * POOL_CHECK_CANONICAL; the challenge is always checked. Progress counts results.
 *
 * POOL_ERR_INVALID_ARGUMENT: counts that do not match, strides, forms that differ, a domain over
 * another field. POOL_ERR_UNSUPPORTED: `field` is a prime field. POOL_ERR_BAD_DATA. After a failure
 * `out` is undefined. Any thread.
 */
POOL_API pool_status pool_fri_fold(const pool_fri_fold_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out);

/*
 * The exact number of device bytes that pool_fri_fold allocates for these arguments: at most
 * exec->memory_limit, unless that is 0. The spans' data may be NULL; a device is not needed.
 */
POOL_API pool_status pool_fri_fold_workspace(const pool_fri_fold_params *params,
    const pool_exec *exec, const pool_span *in, const pool_span *out, uint64_t *bytes);

/* At most this many matrices are a layer. */
#define POOL_FRI_MAX_ARITY 8

/*
 * A layer as matrices for pool_matrix_commit, pool_matrix_open and pool_matrix_verify: row i of the
 * tree has the 2^log_arity values that one fold makes result i from. In bit-reversed order that is
 * one matrix, whose rows are adjacent values, Plonky3's and plonky2's; in natural order 2^log_arity
 * matrices of one value per row, for which `matrices` has space. `layer` has a power of two of
 * packed elements of `field`; its data may be NULL. log_arity is at most 3; 0 has one value per
 * row. Any thread.
 */
POOL_API pool_status pool_fri_layer(const pool_field *field, const pool_span *layer,
    uint32_t log_arity, int32_t is_bit_reversed, pool_matrix *matrices, uint32_t *count);

/*
 * pool_fri_fold, and pool_matrix_commit to the results as a layer for a fold by 2^next_log_arity.
 * The set is over the base field of params->field. A call whose results are in host memory is not
 * asynchronous. Progress counts the fold, then the commitment. Errors: as of both functions;
 * arguments are checked before the fold.
 */
POOL_API pool_status pool_fri_fold_commit(const pool_fri_fold_params *params,
    uint32_t next_log_arity, const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const pool_span *levels);

/* Likewise the most device bytes that it has allocated at a time. */
POOL_API pool_status pool_fri_fold_commit_workspace(const pool_fri_fold_params *params,
    uint32_t next_log_arity, const pool_matrix_commit_params *commit, const pool_exec *exec,
    const pool_span *in, const pool_span *out, const pool_span *levels, uint64_t *bytes);

/* Zero is the default of every member but struct_size and field. */
typedef struct pool_matrix_evaluate_params {
    size_t struct_size;
    const pool_field *field; /* of points and values: an extension of the elements' field */
    /* The columns are values at its points, as many as the matrix has rows. NULL: they are
       coefficients, that of x^0 first, in natural order. */
    const pool_ntt_domain *domain;
    int32_t is_bit_reversed; /* 1: values are in bit-reversed order; 0: natural */
    int32_t on_subgroup;     /* 1: the domain is the subgroup; 0: the coset g <w> */
} pool_matrix_evaluate_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_matrix_evaluate_params_init(
    pool_matrix_evaluate_params *params, size_t struct_size);

/*
 * Evaluates all columns of a matrix at `count` points z, at least 1 and at most 64: value c of
 * point k, at index k width + c of `values`, belongs to column c. Points and values are packed
 * elements of params->field in host memory, in standard form. Values at points x_i of the domain, N
 * of them with the shift s, are interpolated by the barycentric formula (Berrut, Trefethen,
 * "Barycentric Lagrange Interpolation", SIAM Review 46, 2004), for a coset p(z) = ((z / s)^N - 1) /
 * N * sum_i p(x_i) x_i / (z - x_i); the factors of the sum are computed once for all columns.
 *
 * The matrix may be in host memory, all of which is then copied to the device. Blocks until the
 * values are written; is_async must be 0. Of `exec` device, stream, checks, memory_limit, lease,
 * cancel and progress, which counts points, are used. POOL_ERR_INVALID_ARGUMENT: a point of the
 * domain, a domain of another size or field. POOL_ERR_BAD_DATA, POOL_ERR_UNSUPPORTED. Any thread.
 */
POOL_API pool_status pool_matrix_evaluate(const pool_matrix_evaluate_params *params,
    const pool_exec *exec, const pool_matrix *matrix, const void *points, uint32_t count,
    void *values);

/* The exact number of device bytes that it allocates, as pool_fri_fold_workspace reports it. */
POOL_API pool_status pool_matrix_evaluate_workspace(const pool_matrix_evaluate_params *params,
    const pool_exec *exec, const pool_matrix *matrix, uint32_t count, uint64_t *bytes);

/*
 * Row i of `in` becomes row reverse(i) of `out`, which has the same height, width and layout, the
 * same form, and is exactly `in` or does not overlap it. Both are in memory of the device. Of
 * `exec` device, stream, is_async and lease are used; nothing is allocated. Any field. Any thread.
 */
POOL_API pool_status pool_matrix_bit_reverse(
    const pool_field *field, const pool_exec *exec, const pool_matrix *in, const pool_matrix *out);

/* Compiles the kernels of this header for a device, so that no later call waits for that. Blocks.
 * Of `exec` cancel, device, lease and timeout_ns. */
POOL_API pool_status pool_fri_warm_up(const pool_field *field, const pool_exec *exec);

#ifdef __cplusplus
}
#endif

#endif
