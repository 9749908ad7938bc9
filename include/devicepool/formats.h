/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of provers: powers of tau, Groth16 keys, witnesses, constraint systems (all iden3),
 * Ethereum's KZG setup, and raw arrays.
 *
 * Opening a file checks all its sizes and makes its sections available as spans for operations.
 * Binary files are memory-mapped: a section's span points into the file, nothing is copied, and
 * unused parts are never read from disk. Opening does not check whether points are on their curve
 * and elements below their modulus; pool_points_check and pool_field_check do that.
 *
 * A mapped file must not be truncated while it is open: accesses past its end raise SIGBUS. If it
 * is truncated during pool_file_open, that fails with POOL_ERR_BAD_DATA. Changes of the content
 * appear in the sections, but never change their position or size.
 */
#ifndef DEVICEPOOL_FORMATS_H
#define DEVICEPOOL_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/curve.h>
#include <devicepool/field.h>
#include <devicepool/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open file. Immutable: any number of threads may use one at once. */
typedef struct pool_file pool_file;

/* The format of a file. */
typedef enum pool_file_kind {
    POOL_FILE_ANY = 0,  /* pool_file_open: determined by the first bytes */
    POOL_FILE_RAW = 1,  /* one array without a header; never detected, must be requested */
    POOL_FILE_PTAU = 2, /* powers of tau, version 1 */
    POOL_FILE_ZKEY = 3, /* Groth16 proving key, version 1 */
    POOL_FILE_WTNS = 4, /* witness, versions 1 and 2 */
    POOL_FILE_R1CS = 5, /* constraint system, version 1; its header only */
    POOL_FILE_KZG = 6 /* trusted_setup.txt of c-kzg or trusted_setup_4096.json of consensus-specs */
} pool_file_kind;

/* Returns "ptau", "zkey" and so on, or "?" for an unknown value. Static. */
POOL_API const char *pool_file_kind_name(pool_file_kind kind);

/* Zero is the default of every member but struct_size. */
typedef struct pool_file_params {
    size_t struct_size;
    pool_file_kind kind; /* a file of another kind is refused */
    /* Raw files have points of `curve` or, if that is NULL, elements of `field`. Retained. */
    pool_point_layout layout;
    pool_form form;
    uint32_t trusted; /* 1: do not check that the groups of a KZG setup are one, see below */
    const pool_curve *curve;
    const pool_field *field;
} pool_file_params;

/* Initialises params to defaults; struct_size is the caller's sizeof, see version.h. NULL is a
 * no-op. */
POOL_API void pool_file_params_init(pool_file_params *params, size_t struct_size);

/*
 * Opens a file, reads its header and checks every count, offset and length against its size.
 * Sections may be in any order; unknown ones are skipped and logged (POOL_LOG_INFO). Points of a
 * KZG setup are decoded into memory that the file owns, which takes half a second for 4096 points;
 * they are on their curve then. `params` may be NULL. The caller destroys the file.
 *
 * Unless `trusted` is set, the groups of a KZG setup are checked, without a pairing: the numbers of
 * points are powers of two, no point is infinity, the first monomial points are the generators, and
 * the Lagrange points add up to the generator of G1. With both groups of G1, all points of both are
 * compared by a random polynomial, with the roots of unity from the generator 7; points outside the
 * subgroup can escape that. What is not checked: the order of the Lagrange points in a file without
 * monomial ones, the points of G2 behind the first, and whether all are of one tau.
 *
 * POOL_ERR_NOT_FOUND: no such file. POOL_ERR_IO: the system fails to read or map it.
 * POOL_ERR_BAD_DATA: it violates its format, is truncated or of no known kind; the message has the
 * offset and the reason. POOL_ERR_UNSUPPORTED: an unsupported version, prime or proof system.
 * POOL_ERR_INVALID_ARGUMENT, POOL_ERR_OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_file_open(
    const char *path, const pool_file_params *params, pool_file **file);

/* Unmaps the file and sets *file to NULL. Sections, names and fields of it become invalid. NULL or
 * a pointer to NULL is a no-op. */
POOL_API void pool_file_destroy(pool_file **file);

/* The properties in the header. Those that the kind does not have are 0 or NULL. */
typedef struct pool_file_info {
    size_t struct_size;
    pool_file_kind kind;
    uint32_t version;            /* of the format */
    uint64_t bytes;              /* size of the file */
    uint64_t sections;           /* that pool_file_section_at returns */
    const pool_field *field;     /* of scalars; borrowed from the file */
    const pool_curve *curves[2]; /* G1 and G2; of a raw file its curve */
    uint32_t power;              /* ptau: 2^power points */
    uint32_t ceremony_power;     /* ptau: of the ceremony of which it is a part */
    uint64_t domain_size;        /* zkey: of its transforms, a power of two */
    uint64_t variables;          /* zkey, wtns, r1cs: wires, including the constant one */
    uint64_t public_signals;     /* zkey, r1cs: outputs and public inputs */
    uint64_t outputs;            /* r1cs */
    uint64_t public_inputs;      /* r1cs */
    uint64_t private_inputs;     /* r1cs; also those that circom has removed from the wires */
    uint64_t labels;             /* r1cs */
    uint64_t constraints;        /* r1cs */
    /* Of the roots of unity that the file's sections were made with, for pool_ntt_domain_params.
     * NULL: the field's. Static. */
    const char *convention;
    /*
     * r1cs: of circom's custom templates, whose constraints are not among those of the file. A
     * Groth16 key that is made from it does not enforce them.
     */
    uint64_t custom_gates;     /* listed */
    uint64_t custom_gate_uses; /* in the circuit */
    /* ptau, zkey, wtns, r1cs: sections of a type that the format does not have; their content is
     * not used */
    uint64_t unknown_sections;
} pool_file_info;

/* Fills `info`, whose struct_size is set by the caller. */
POOL_API pool_status pool_file_get_info(const pool_file *file, pool_file_info *info);

/* What the items of a section are. */
typedef enum pool_file_item {
    POOL_FILE_POINTS = 0,   /* of `curve`, in `layout` */
    POOL_FILE_ELEMENTS = 1, /* of `field` */
    /*
     * Entries of a zkey's matrices A and B: three 32-bit little-endian numbers, which are the
     * matrix (0: A, 1: B), the constraint (a row below domain_size) and the signal (a column below
     * variables); then one element of `field`, which is the entry times R^2. That is the Montgomery
     * form of the entry times R, so its product with a signal in standard form is the Montgomery
     * form of entry times signal. The numbers are not checked on opening.
     */
    POOL_FILE_COEFFICIENTS = 2
} pool_file_item;

#define POOL_FILE_COEFFICIENT_ELEMENT 12 /* bytes from an entry's start to its element */

/* A section: the type of its items and where they are. */
typedef struct pool_file_section {
    size_t struct_size;
    const char *name; /* owned by the file; without a level */
    pool_file_item item;
    pool_point_layout layout; /* of points */
    const pool_curve *curve;  /* of points, else NULL */
    const pool_field *field;  /* of elements and coefficients; for points the scalar field */
    pool_span span;           /* read-only host memory of any alignment; stride is never 0 */
    uint64_t offset;          /* of the first item in the file; 0 if it was decoded */
    uint32_t levels;          /* number of consecutive Lagrange bases, see below; else 0 */
    uint32_t reserved;
    const char *convention; /* as in pool_file_info */
} pool_file_section;

/*
 * Finds a section by name:
 *
 *   ptau   tauG1, tauG2, alphaTauG1, betaTauG1, betaG2; and in prepared files lagrange (of tauG1),
 *          lagrangeG2, lagrangeAlpha, lagrangeBeta: consecutive bases of 2^0, 2^1, … points.
 *          "lagrange:8" is the basis of 2^8 points.
 *   zkey   alpha1, beta1, beta2, gamma2, delta1, delta2, IC, A, B1, B2, C, H, coefficients. B2 and
 *          names that end in 2 are in G2. C begins with the first private signal. H has the
 *          Lagrange points of the odd coset.
 *   wtns   values
 *   kzg    lagrange (in natural order: bit-reverse it for blobs), monomial, g2 (monomial); older
 *          text files lack monomial
 *   raw    data
 *
 * Fills `section`, whose struct_size is set by the caller. POOL_ERR_NOT_FOUND: the file has no such
 * section or level; the message lists the existing ones.
 */
POOL_API pool_status pool_file_get_section(
    const pool_file *file, const char *name, pool_file_section *section);

/* Returns a section by index, below pool_file_info.sections, in the order above. */
POOL_API pool_status pool_file_section_at(
    const pool_file *file, uint64_t index, pool_file_section *section);

#ifdef __cplusplus
}
#endif

#endif
