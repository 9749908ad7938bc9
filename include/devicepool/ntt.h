/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number-theoretic transforms: values of polynomials at powers of a root of unity, and back.
 *
 * With n = 2^log_size, w the domain's root of order n and g its coset generator:
 *
 *   forward          X[k] = sum over j of x[j] w^(j k)
 *   inverse          x[j] = 1/n sum over k of X[k] w^(-j k)
 *   coset forward    the forward transform of x[j] g^j: values at g w^k
 *   coset inverse    the inverse transform, result j times g^(-j)
 */
#ifndef DEVICEPOOL_NTT_H
#define DEVICEPOOL_NTT_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/exec.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No transform is longer than 2^this, whatever the field's two-adicity. */
#define POOL_NTT_MAX_LOG_SIZE 40

/*
 * A subgroup of order 2^log_size and a coset of it. Immutable for its users: any number of threads
 * may use it at once, on any devices. Its tables are made on a device at the first use there (or by
 * pool_ntt_warm_up) and stay until it is destroyed.
 */
typedef struct pool_ntt_domain pool_ntt_domain;

/* Zero is the default of every member but struct_size and field. Numbers are text: decimal, or
 * hexadecimal after "0x", in standard form. */
typedef struct pool_ntt_domain_params {
    size_t struct_size;
    const pool_field *field; /* retained by the domain */
    uint32_t log_size;
    uint32_t reserved;      /* 0 */
    const char *convention; /* whose root of unity, see pool_field_root_of_unity; NULL: the field's
                               own */
    const char *root;       /* instead of a convention: any primitive 2^log_size-th root of unity */
    const char *coset;      /* coset generator g; NULL: the generator of the field */
} pool_ntt_domain_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ntt_domain_params_init(pool_ntt_domain_params *params, size_t struct_size);

/*
 * Makes a domain; no device is touched. The caller owns one reference. POOL_ERR_INVALID_ARGUMENT:
 * no field, log_size beyond the field's two-adicity or POOL_NTT_MAX_LOG_SIZE, a root whose order is
 * not 2^log_size, coset 0, root and convention both given. POOL_ERR_BAD_DATA: a number that is none
 * or not below the modulus. POOL_ERR_NOT_FOUND: the field knows no such convention.
 */
POOL_API pool_status pool_ntt_domain_create(
    const pool_ntt_domain_params *params, pool_ntt_domain **domain);

/* One more reference, to be given back by pool_ntt_domain_destroy. NULL gives NULL. */
POOL_API pool_ntt_domain *pool_ntt_domain_retain(pool_ntt_domain *domain);

/*
 * Gives one reference back, frees the domain and its tables on all devices with the last one, and
 * sets *domain to NULL. NULL is a no-op. Work that was enqueued before is not disturbed. The tables
 * keep the pools of their devices from being destroyed: destroy domains first.
 */
POOL_API pool_status pool_ntt_domain_destroy(pool_ntt_domain **domain);

/* Facts. With NULL: 0 or NULL. Root and coset generator are each one element. */
POOL_API const pool_field *pool_ntt_domain_field(const pool_ntt_domain *domain);
POOL_API uint32_t pool_ntt_domain_log_size(const pool_ntt_domain *domain);
POOL_API pool_status pool_ntt_domain_root(
    const pool_ntt_domain *domain, pool_form form, void *root);
POOL_API pool_status pool_ntt_domain_coset(
    const pool_ntt_domain *domain, pool_form form, void *coset);

/* From coefficients to values, or back. */
typedef enum pool_ntt_direction { POOL_NTT_FORWARD = 0, POOL_NTT_INVERSE = 1 } pool_ntt_direction;

/* Order of input and output: natural, or bit-reversed (item i at the place that i's log_size bits
 * name when read backwards). */
typedef enum pool_ntt_order {
    POOL_NTT_NN = 0, /* natural to natural */
    POOL_NTT_NR = 1, /* natural to reversed; the cheapest */
    POOL_NTT_RN = 2,
    POOL_NTT_RR = 3
} pool_ntt_order;

/* How a batch lies in memory. */
typedef enum pool_ntt_layout {
    POOL_NTT_ROWS = 0,   /* one transform after another */
    POOL_NTT_COLUMNS = 1 /* interleaved: item i of transform t is at i * batch + t */
} pool_ntt_layout;

/* Zero is the default of every member but struct_size and domain. */
typedef struct pool_ntt_params {
    size_t struct_size;
    pool_ntt_domain *domain;
    pool_ntt_direction direction;
    int32_t coset; /* 1: on the domain's coset */
    pool_ntt_order order;
    pool_ntt_layout layout;
    uint64_t batch; /* transforms; 0: 1 */
} pool_ntt_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_ntt_params_init(pool_ntt_params *params, size_t struct_size);

/*
 * Transforms batch * 2^log_size elements from `in` to `out`. Each may be in host or device memory,
 * packed or strided, in either form; forms that differ cost one multiplication an element, no
 * further pass over memory. `out` may be exactly `in` (same data, same stride); any other
 * overlap in memory is refused. Host memory in batches of rows goes through the device in parts;
 * one transform, and a batch of columns, need room there as a whole. The first use of a field on a
 * device compiles its kernels, the first use of a domain makes tables there; both block, also with
 * is_async.
 *
 * `exec` has a use for all but on_host. Checks: POOL_CHECK_CANONICAL. The workspace is at a
 * multiple of 16, as large as pool_ntt_workspace reports; with one, host memory is not chunked. The
 * smallest chunk is one transform of a batch of packed rows from host to host memory, else all.
 * Progress counts elements.
 *
 * Refused with POOL_ERR_INVALID_ARGUMENT: a count of `in` or `out` that is not batch * 2^log_size,
 * a product of batch, size and stride that overflows, a stride that is smaller than an element or
 * no multiple of 4, device memory that is not aligned to 4 bytes, overlaps, a workspace that is too
 * small or not aligned, values that are no member of their enum. POOL_ERR_WRONG_DEVICE: a stream or
 * workspace of another device. POOL_ERR_BAD_DATA: what the check found.
 * POOL_ERR_NOT_BOUND, POOL_ERR_OUT_OF_DEVICE_MEMORY, POOL_ERR_COMPILE and what the device's state
 * gives. Elements that are not below the modulus give wrong results when they are not checked.
 */
POOL_API pool_status pool_ntt(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out);

/*
 * Device bytes that pool_ntt needs beside `in` and `out` for spans such as these (their data is not
 * looked at beyond whether it is the same), at most: host memory in large batches goes through in
 * parts. 0 is a valid answer. `exec` needs a device, or the calling thread a bound one.
 */
POOL_API pool_status pool_ntt_workspace(const pool_ntt_params *params, const pool_exec *exec,
    const pool_span *in, const pool_span *out, uint64_t *bytes);

/*
 * Compiles the kernels of the domain's field and makes its tables on a device, so that no job has
 * to wait for it: in both directions, for one transform and for many at once, which may need
 * different ones. Blocks. NULL: the device that the calling thread has bound.
 */
POOL_API pool_status pool_ntt_warm_up(pool_ntt_domain *domain, pool_device *device);

#ifdef __cplusplus
}
#endif

#endif
