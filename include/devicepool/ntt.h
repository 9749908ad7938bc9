/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number-theoretic transforms (NTT): the evaluation of polynomials at the powers of a root of
 * unity, and its inverse.
 *
 * With n = 2^log_size, w the domain's root of order n and g its coset generator:
 *
 *   forward          X[k] = sum over j of x[j] w^(j k)
 *   inverse          x[j] = 1/n sum over k of X[k] w^(-j k)
 *   coset forward    the forward transform of x[j] g^j: the values at g w^k
 *   coset inverse    the inverse transform, with x[j] multiplied by g^(-j)
 */
#ifndef DEVICEPOOL_NTT_H
#define DEVICEPOOL_NTT_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/exec.h>
#include <devicepool/field.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum log_size of a transform; the field's two-adicity may be smaller. */
#define POOL_NTT_MAX_LOG_SIZE 40

/*
 * A multiplicative subgroup of order 2^log_size with a coset generator. Immutable: any number of
 * threads may use it concurrently, on any devices. Its tables of twiddles are computed on a device
 * at the first use there, or by pool_ntt_warm_up, and stay until the domain is destroyed.
 */
typedef struct pool_ntt_domain pool_ntt_domain;

/* Zero is the default of every member but struct_size and field. Numbers are strings in standard
 * form: decimal, or hexadecimal after "0x". */
typedef struct pool_ntt_domain_params {
    size_t struct_size;
    const pool_field *field; /* retained by the domain */
    uint32_t log_size;
    uint32_t reserved;      /* 0 */
    const char *convention; /* of the root of unity, see pool_field_root_of_unity; NULL: the
                               field's root */
    const char *root;       /* any primitive 2^log_size-th root of unity, instead of a convention */
    const char *coset;      /* coset generator g; NULL: the field's generator */
} pool_ntt_domain_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ntt_domain_params_init(pool_ntt_domain_params *params, size_t struct_size);

/*
 * Creates a domain without using a device. The caller owns one reference.
 * POOL_ERR_INVALID_ARGUMENT: no field, log_size above the field's two-adicity or
 * POOL_NTT_MAX_LOG_SIZE, a root whose order is not 2^log_size, coset 0, both root and convention
 * set. POOL_ERR_BAD_DATA: a string that is not a number, or a number that is not below the modulus.
 * POOL_ERR_NOT_FOUND: an unknown convention.
 */
POOL_API pool_status pool_ntt_domain_create(
    const pool_ntt_domain_params *params, pool_ntt_domain **domain);

/* Adds a reference, which pool_ntt_domain_destroy releases. Returns NULL for NULL. */
POOL_API pool_ntt_domain *pool_ntt_domain_retain(pool_ntt_domain *domain);

/*
 * Releases a reference, frees the domain and its tables on all devices with the last one, and sets
 * *domain to NULL. NULL or a pointer to NULL is a no-op. Work that is already enqueued is not
 * affected. A pool cannot be destroyed while a domain has tables on its devices.
 */
POOL_API pool_status pool_ntt_domain_destroy(pool_ntt_domain **domain);

/* Properties. Return 0 or NULL for NULL. Root and coset generator are single elements. Any thread.
 */
POOL_API const pool_field *pool_ntt_domain_field(const pool_ntt_domain *domain);
POOL_API uint32_t pool_ntt_domain_log_size(const pool_ntt_domain *domain);
POOL_API pool_status pool_ntt_domain_root(
    const pool_ntt_domain *domain, pool_form form, void *root);
POOL_API pool_status pool_ntt_domain_coset(
    const pool_ntt_domain *domain, pool_form form, void *coset);

/*
 * The domain of 2^log_size points whose root and coset generator are those of `domain` to the power
 * of 2^(its log_size - log_size), as the columns and the rows of a larger transform need them. It
 * belongs to `domain`, which destroys it, and is made at the first call; of the domain's own size
 * it is `domain`. Any thread.
 */
POOL_API pool_status pool_ntt_domain_power(
    pool_ntt_domain *domain, uint32_t log_size, pool_ntt_domain **power);

/*
 * The device memory that the domain's tables take on a device after pool_ntt_warm_up: an upper
 * bound for calls without it, which compute only the tables that they use. Smaller domains that
 * pool_ntt_extend and transforms over several devices derive from this one do not count. Tables are
 * not charged to leases, and are evicted when their memory is needed and no call uses them.
 * Of `exec` cancel, device, lease and timeout_ns.
 */
POOL_API pool_status pool_ntt_domain_bytes(
    const pool_ntt_domain *domain, pool_device *device, uint64_t *bytes);

/* Forward: from coefficients to values. Inverse: from values to coefficients. */
typedef enum pool_ntt_direction { POOL_NTT_FORWARD = 0, POOL_NTT_INVERSE = 1 } pool_ntt_direction;

/* Order of input and output: natural, or bit-reversed (element i at the index whose log_size bits
 * are those of i reversed). */
typedef enum pool_ntt_order {
    POOL_NTT_NN = 0, /* natural to natural */
    POOL_NTT_NR = 1, /* natural to bit-reversed; the fastest */
    POOL_NTT_RN = 2, /* bit-reversed to natural */
    POOL_NTT_RR = 3  /* bit-reversed to bit-reversed */
} pool_ntt_order;

/* The layout of a batch in memory. */
typedef enum pool_ntt_layout {
    POOL_NTT_ROWS = 0,   /* one transform after another */
    POOL_NTT_COLUMNS = 1 /* interleaved: element i of transform t has the index i * batch + t */
} pool_ntt_layout;

/* Zero is the default of every member but struct_size and domain. */
typedef struct pool_ntt_params {
    size_t struct_size;
    pool_ntt_domain *domain;
    pool_ntt_direction direction;
    int32_t coset; /* 1: on the domain's coset */
    pool_ntt_order order;
    pool_ntt_layout layout;
    uint64_t batch; /* number of transforms; 0: 1 */
} pool_ntt_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ntt_params_init(pool_ntt_params *params, size_t struct_size);

/*
 * Transforms batch * 2^log_size elements from `in` to `out`. Each may be in host or device memory,
 * packed or strided, in either form; different forms cost one multiplication per element and no
 * further pass over memory. `out` may be exactly `in` (same data, same stride); any other overlap
 * is an error. Batches of rows in host memory pass through the device in chunks; a single transform
 * or a batch of columns must fit in device memory as a whole. The first use of a field on a device
 * compiles its kernels and the first use of a domain computes its tables there; both block, also
 * with is_async.
 *
 * With exec->device_count at least as many transforms as devices are distributed whole: spans are
 * in host memory (a batch in rows) or sharded between transforms. Fewer are split, one after the
 * other, over the largest power of two of the devices. Shard d of k then has, of each transform,
 * the d-th n/k elements of a bit-reversed order, or elements d, d + k, d + 2 k ... of the natural
 * order; k must be a power of two up to 16 and the square root of n. See docs/several-devices.md.
 *
 * Of `exec` all members but on_host are used. Checks: POOL_CHECK_CANONICAL. A workspace that is
 * aligned to 256 bytes and has the bytes that pool_ntt_workspace reports for the call without it
 * takes all of the call's memory. A smaller one takes the results of passes: it must be aligned to
 * 16 bytes and have as many bytes as all elements, packed, also if the transform needs less. Host
 * memory is then not chunked, and the copies of spans that are not packed in device memory are
 * allocated besides. With exec->device_count a workspace takes all memory of its device. The
 * smallest chunk is one transform of a batch of packed rows from host to host memory, otherwise
 * everything. Progress counts elements.
 *
 * POOL_ERR_INVALID_ARGUMENT: a count of `in` or `out` other than batch * 2^log_size, a product of
 * batch, size and stride that overflows, a stride that is smaller than an element or not a multiple
 * of 4, device memory that is not aligned to 4 bytes, overlaps, a workspace that is too small or
 * misaligned, unknown enumeration values. POOL_ERR_WRONG_DEVICE: a stream or workspace of another
 * device. POOL_ERR_BAD_DATA: the check failed. POOL_ERR_NOT_BOUND, POOL_ERR_OUT_OF_DEVICE_MEMORY,
 * POOL_ERR_CANCELLED, POOL_ERR_COMPILE, and the errors of every device call (status.h). Without the
 * check, elements that are not below the modulus give wrong results. Any thread.
 */
POOL_API pool_status pool_ntt(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out);

/*
 * The exact number of device bytes that pool_ntt allocates for these spans, params and exec: at
 * most exec->memory_limit, unless that is 0. Of the spans' data only the addresses are compared;
 * they may be NULL, and two in device memory are then the same memory. Kernels and the domain's
 * tables (pool_ntt_domain_bytes) do not count. 0 is a valid result. Requires exec->device, or a
 * device that the calling thread has bound; with exec->device_count it sets bytes[i] for device i.
 */
POOL_API pool_status pool_ntt_workspace(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes);

/*
 * Compiles the kernels of the domain's field and computes its tables on a device, so that no later
 * call waits for them: for both directions, for single transforms and for batches, which may use
 * different kernels. In a pool of several devices it compiles the kernel of transforms over several
 * of them as well, whose other tables the first call computes. Blocks. `device` NULL: the one that
 * the calling thread has bound.
 */
POOL_API pool_status pool_ntt_warm_up(pool_ntt_domain *domain, const pool_exec *exec);

/* ---- low-degree extensions ------------------------------------------------------------------- */

/* The maximum log_blowup of an extension. */
#define POOL_NTT_MAX_LOG_BLOWUP 4

/* Zero is the default of every member but struct_size and domain. */
typedef struct pool_ntt_extend_params {
    size_t struct_size;
    pool_ntt_domain *domain; /* of the results: root w of order N = 2^log_size and generator g */
    /* b: a column has n = N / 2^b elements; at most log_size and POOL_NTT_MAX_LOG_BLOWUP. */
    uint32_t log_blowup;
    /* 1: the input has coefficients; 0: values at the powers of w^(2^b). */
    int32_t from_coefficients;
    pool_ntt_order order;   /* of the n elements of the input and the N of the output */
    pool_ntt_layout layout; /* of input, coefficients and output */
    uint64_t batch;         /* number of columns; 0: 1 */
} pool_ntt_extend_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ntt_extend_params_init(pool_ntt_extend_params *params, size_t struct_size);

/*
 * The low-degree extension of a batch of columns, as STARK provers commit to it: for each column
 * the polynomial of degree below n whose values at 1, v, v^2, ... with v = w^(2^b) are the column,
 * evaluated at g w^k for all k < N. These points are the 2^b cosets g w^c <v>. In bit-reversed
 * order the results of a coset are adjacent: coset c begins at n times c bit-reversed, and is in
 * bit-reversed order itself.
 *
 * `in` has batch * n elements, `out` batch * N. `coefficients`, NULL or batch * n elements, takes
 * the coefficients in natural order; with from_coefficients it must be NULL. All three are packed,
 * in host or device memory, in either form, on the device aligned to an element or 16 bytes.
 * `out` may begin with the input (the same device memory), which is then overwritten; the
 * coefficients may be exactly the input. Any other overlap is an error.
 *
 * The coefficients are computed as by pool_ntt; one pass reads each of them once and writes it,
 * multiplied, to all 2^b cosets; the passes of a transform of n elements follow. POOL_NTT_NR is the
 * fastest order: natural results need memory for another batch * N elements.
 *
 * Of `exec` all members but on_host are used; a workspace takes all device memory of the call, as
 * pool_ntt_extend_workspace reports it. Checks: POOL_CHECK_CANONICAL. With exec->device_count
 * whole columns are distributed: spans are in host memory, in the layout POOL_NTT_ROWS, or
 * sharded with the same columns on each device, in either layout (see docs/several-devices.md).
 * Batches of rows pass through the device in chunks where the input, the output and the
 * coefficients, if they are kept, are in host memory; the smallest chunk is one column. Other
 * calls need device memory for everything. Progress counts results. The first use blocks as for
 * pool_ntt. Errors: as of pool_ntt, and POOL_ERR_UNSUPPORTED for a span that is not packed or
 * aligned. Any thread.
 */
POOL_API pool_status pool_ntt_extend(const pool_ntt_extend_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *coefficients, const pool_span *out);

/*
 * The exact number of device bytes that pool_ntt_extend allocates for these arguments: at most
 * exec->memory_limit, unless that is 0. Of the spans' data only the addresses are compared, as in
 * pool_ntt_workspace, but spans without data are never the same memory. Requires exec->device, or a
 * device that the calling thread has bound; with exec->device_count it sets bytes[i] for device i.
 */
POOL_API pool_status pool_ntt_extend_workspace(const pool_ntt_extend_params *params,
    const pool_exec *exec, const pool_span *in, const pool_span *coefficients, const pool_span *out,
    uint64_t *bytes);

/*
 * Compiles the kernels and computes the tables of extensions with these params, of any order,
 * layout and batch, so that no later call waits for them: of the domain forward, and of the
 * columns' domain, which belongs to it, in the other direction. Blocks. Of `exec` cancel, device,
 * lease and timeout_ns.
 */
POOL_API pool_status pool_ntt_extend_warm_up(
    const pool_ntt_extend_params *params, const pool_exec *exec);

#ifdef __cplusplus
}
#endif

#endif
