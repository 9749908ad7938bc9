/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Groth16 prover: from snarkjs' key and a witness to a proof that snarkjs verifies. It uses the
 * library's public headers only, knows nothing of the command line, and can be taken over into
 * other programs together with snarkjs_json.c.
 */
#ifndef CLI_GROTH16_H
#define CLI_GROTH16_H

#include <devicepool.h>

/* What to prove. Any number of jobs may share files and devices, each on a thread of its own. */
struct groth16_job {
    const pool_file *key;     /* a zkey, over any pairing that its header names */
    const pool_file *witness; /* a wtns */
    pool_device *device;
    int is_trusted; /* 1: points of the key are not checked to lie on their curves */
    /* Called on the calling thread when a step begins, and during MSMs; NULL: nobody. */
    void (*progress)(void *user, const char *step, uint64_t done, uint64_t total);
    void *user;
    /* Fills `bytes` with uniform random bytes for the blinding factors and returns 1, or 0 when
     * there are none. NULL: the operating system's. Anything predictable is for tests only: who
     * knows the blinding factors learns about the witness. */
    int (*random)(void *bytes, size_t count);
};

/* Both texts are the caller's, to be freed by groth16_result_free. */
struct groth16_result {
    char *proof;          /* proof.json */
    char *public_signals; /* public.json */
    /* Why the files were refused; empty after a failure of the library, see pool_last_error. */
    char failure[320];
};

/*
 * Blocks until the proof is there. POOL_ERR_BAD_DATA: key and witness do not belong together, or
 * one of them is damaged. That the witness satisfies the circuit cannot be seen from these files:
 * the proof of one that does not is refused by every verifier.
 */
pool_status groth16_prove(const struct groth16_job *job, struct groth16_result *result);

void groth16_result_free(struct groth16_result *result);

#endif
