/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running job, shared by the sources of the prover.
 */
#ifndef CLI_GROTH16_PROVER_H
#define CLI_GROTH16_PROVER_H

#include "groth16.h"

struct groth16_prover {
    const struct groth16_job *job;
    struct groth16_result *result;
    pool_file_info key;
    pool_span witness;       /* on the host, standard form; value 0 is 1, then the public signals */
    const pool_field *field; /* of the circuit */
    size_t width;            /* bytes of its elements */
    pool_device *device;
    pool_stream *stream;
    uint32_t device_count; /* that the job is divided over */
    int is_beside;         /* on a thread that does not report progress */
    const char *step;      /* that reports its progress */
    pool_buffer *signals;  /* the witness on the device, packed */
    pool_buffer *rows;     /* A w, B w and C w */
};

enum { GROTH16_MAX_POINT = 4 * POOL_FIELD_MAX_BYTES };

/* The MSMs, in the order of groth16_residents.points. */
enum groth16_msm { GROTH16_A, GROTH16_B1, GROTH16_B2, GROTH16_C, GROTH16_H };

/* The key's sections with the points of the MSMs. */
extern const char *const groth16_sections[GROTH16_MSMS];

/* Where all operations run. */
pool_exec groth16_exec(const struct groth16_prover *prover);

pool_status groth16_get_section(
    const struct groth16_prover *prover, const char *name, pool_file_section *section);

/* Says why the files are refused. */
pool_status groth16_refuse(struct groth16_prover *prover, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

pool_status groth16_out_of_memory(struct groth16_prover *prover);

/* ---- the MSMs (groth16_lanes.c) -------------------------------------------------------------- */

/*
 * Computes the sums of all MSMs over the witness and the quotient; packed affine points in standard
 * form. While the devices work, `on_host` runs with `user` on a thread of its own; it has returned
 * when this returns.
 */
pool_status groth16_compute_sums(const struct groth16_prover *prover,
    pool_status (*on_host)(struct groth16_prover *prover, void *user), void *user,
    uint8_t (*sums)[GROTH16_MAX_POINT]);

/* The result of a term of a joint MSM of these MSMs, behind `next` others in the order of
 * groth16_msm: that of C for H, otherwise the next one. */
uint64_t groth16_joint_result(uint32_t msms, enum groth16_msm which, uint64_t next);

/* ---- matrices (groth16_matrices.c) ----------------------------------------------------------- */

/*
 * The entries of a key's matrices A and B on a device: a list per row. POOL_ERR_NO_COMPILER: this
 * host compiles no kernels. POOL_ERR_BAD_DATA: an entry is not valid. The signature of
 * pool_resident_source; `key` is the pool_file.
 */
pool_status groth16_load_matrices(void *key, const pool_exec *exec, pool_buffer **matrices);

/* Of that buffer. */
pool_status groth16_matrices_bytes(const pool_file *key, uint64_t *bytes);

/* Computes A w and B w in Montgomery form at `rows` on the device, from prover->signals. */
pool_status groth16_multiply_matrices(struct groth16_prover *prover, CUdeviceptr rows);

/* ---- modules (groth16_modules.c) ------------------------------------------------------------- */

pool_status groth16_modules_create(struct groth16_modules **modules);
/* No proof may use them. NULL: no-op. */
pool_status groth16_modules_destroy(struct groth16_modules **modules);

/* The module of these params on a device, compiled and loaded at the first use there. It is closed
 * with the status of the work: after a failure the next use loads it again. */
struct groth16_module;
pool_status groth16_module_open(struct groth16_modules *modules, pool_device *device,
    const pool_module_params *params, struct groth16_module **use);
pool_module *groth16_module_of(const struct groth16_module *use);
void groth16_module_close(
    struct groth16_modules *modules, struct groth16_module *use, pool_status status);

/* ---- the quotient (groth16_quotient.c) ------------------------------------------------------- */

/* The domain of snarkjs' transforms. The coset generator is a square root of the domain's root. */
pool_status groth16_create_domain(const pool_file_info *key, pool_ntt_domain **domain);

/*
 * Computes the values of A w * B w - C w on the coset, in prover->rows. The values on the domain
 * are 0, so these determine the quotient; the key's points H are the Lagrange basis for them.
 */
pool_status groth16_compute_quotient(struct groth16_prover *prover, pool_span *quotient);

#endif
