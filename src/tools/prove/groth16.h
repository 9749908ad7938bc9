/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Groth16 prover: creates a proof that snarkjs verifies from a snarkjs key and a witness. It uses
 * the library's public headers only and is independent of the command line, so other programs can
 * copy it: groth16*.c and snarkjs_json.c, with their headers.
 */
#ifndef CLI_GROTH16_H
#define CLI_GROTH16_H

#include <devicepool.h>

enum { GROTH16_MSMS = 5, GROTH16_DEVICES = 4 };

/* What stays on the devices of a pool from one proof with a key to the next. */
struct groth16_residents {
    pool_resident *points[GROTH16_MSMS]; /* of the key's sections A, B1, B2, C and H */
    pool_resident *matrices;
    struct groth16_modules *modules; /* the kernels that multiply by them */
    pool_ntt_domain *domain;
};

struct groth16_residents_params {
    const char *name; /* for descriptions */
    /*
     * Of the points, as in pool_bases_params; 1: none. 0: chosen, as many multiples as take at most
     * `max_bytes` of a device together, and 1 where not even two fit.
     */
    uint32_t precompute_factor;
    /* Of the points with their chosen multiples; 0: a quarter of the memory that the library may
     * hold on the smallest device of the pool. */
    uint64_t max_bytes;
};

/*
 * Registers the points and matrices of a key with a pool, with the open file as their source:
 * copies are loaded by the first proof on a device, evicted when memory is needed, and loaded
 * again. The file must outlive the residents. On failure nothing remains.
 */
pool_status groth16_residents_create(struct groth16_residents *residents, device_pool *pool,
    const pool_file *key, const struct groth16_residents_params *params);

/* No job may use them. All zero: no-op. Returns the first failure. */
pool_status groth16_residents_destroy(struct groth16_residents *residents);

/* The inputs. Any number of threads may run jobs that share files and devices. */
struct groth16_job {
    const pool_file *key;     /* a zkey, over any supported pairing */
    const pool_file *witness; /* a wtns */
    /* NULL: points and matrices are copied from the key for this proof alone. */
    const struct groth16_residents *residents;
    pool_device *device;
    /* One proof over several devices: `device` is ignored. At most GROTH16_DEVICES are used, as
     * there is no more to share out. 0: one device. */
    pool_device *const *devices;
    uint32_t device_count;
    /* NULL: no lease. Otherwise the job runs on the lease's first device, or its first
     * `device_count` ones, and their streams, its memory is charged to the lease, and `device` and
     * `devices` are ignored. */
    pool_lease *lease;
    int is_trusted; /* 1: points of the key are not checked to be on their curves */
    /* Called on the calling thread when a step begins, and during MSMs; may be NULL. */
    void (*progress)(void *user, const char *step, uint64_t done, uint64_t total);
    void *user;
    /* Fills `bytes` with uniform random bytes for the blinding factors and returns 1, or 0 on
     * failure. NULL: the operating system's generator. Predictable bytes are for tests only: the
     * blinding factors reveal information about the witness. */
    int (*random)(void *bytes, size_t count);
};

/* The caller owns both strings and frees them by groth16_result_free. */
struct groth16_result {
    char *proof;          /* proof.json */
    char *public_signals; /* public.json */
    /* Why the files were refused; empty if the library failed, see pool_last_error. */
    char failure[320];
};

/*
 * Blocks until the proof is complete. POOL_ERR_BAD_DATA: key and witness do not match, or one of
 * them is damaged. The files do not show whether the witness satisfies the circuit; every verifier
 * rejects the proof if it does not.
 */
pool_status groth16_prove(const struct groth16_job *job, struct groth16_result *result);

/*
 * An upper bound of the memory of a device that a job with this key allocates, for a lease, where
 * each MSM is computed in one chunk and the one in G2 beside the others; with residents (or NULL),
 * whose MSMs in G1 are one joint MSM, including those that are in use at a time. Twiddle tables are
 * not included: they stay on the device. POOL_ERR_NOT_FOUND: the file is not a zkey.
 */
pool_status groth16_device_bytes(const pool_file *key, const struct groth16_residents *residents,
    pool_device *device, uint64_t *bytes);

void groth16_result_free(struct groth16_result *result);

#endif
