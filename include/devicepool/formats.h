/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that provers keep their data in: powers of tau, Groth16 keys, witnesses, constraint systems
 * (all iden3), Ethereum's KZG setup, and raw arrays.
 *
 * A file is opened once and all its sizes are checked; then its sections are arrays that lie ready
 * for an operation. Binary files are mapped: a section's span points into the file itself, nothing
 * is copied, and what nobody touches is never read from disk. Whether points lie on their curve and
 * elements below their modulus is not looked at; pool_points_check and pool_field_check do that.
 *
 * A mapped file must not become shorter once it is open: the system then ends a program that
 * touches what is gone (SIGBUS); while it is being opened, that is POOL_ERR_BAD_DATA. Bytes that
 * change while it is open change in the sections, but never where a section lies or how long it is.
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

/* What a file is. */
typedef enum pool_file_kind {
    POOL_FILE_ANY = 0,  /* to open: whichever the first bytes say */
    POOL_FILE_RAW = 1,  /* one array without a header; never guessed, has to be asked for */
    POOL_FILE_PTAU = 2, /* powers of tau, version 1 */
    POOL_FILE_ZKEY = 3, /* Groth16 proving key, version 1 */
    POOL_FILE_WTNS = 4, /* witness, versions 1 and 2 */
    POOL_FILE_R1CS = 5, /* constraint system, version 1; its facts only */
    POOL_FILE_KZG = 6 /* trusted_setup.txt of c-kzg or trusted_setup_4096.json of consensus-specs */
} pool_file_kind;

/* "ptau", "zkey" and so on; "?" for a value that is none. Static. */
POOL_API const char *pool_file_kind_name(pool_file_kind kind);

/* Zero is the default of every member but struct_size. */
typedef struct pool_file_params {
    size_t struct_size;
    pool_file_kind kind; /* any other kind than the file's is refused */
    /* Of a raw file: points of `curve`, or, when that is NULL, elements of `field`. Retained. */
    pool_point_layout layout;
    pool_form form;
    uint32_t reserved; /* 0 */
    const pool_curve *curve;
    const pool_field *field;
} pool_file_params;

/* Sets struct_size, the caller's sizeof, and clears the rest; see version.h. NULL: no-op. */
POOL_API void pool_file_params_init(pool_file_params *params, size_t struct_size);

/*
 * Opens a file, reads its header and checks every count, offset and length against its size.
 * Sections may stand in any order; unknown ones are passed over. Points of a KZG setup are decoded
 * into memory of the file, which takes half a second for 4096; each is then on its curve. `params`
 * may be NULL. The caller closes the file.
 *
 * POOL_ERR_NOT_FOUND: no such file. POOL_ERR_IO: the system does not let it be read or mapped.
 * POOL_ERR_BAD_DATA: it breaks its format, is cut short or of no known kind; the text says what is
 * wrong at which place. POOL_ERR_UNSUPPORTED: right as it seems, but of a version, prime or proof
 * system that is not read here. POOL_ERR_INVALID_ARGUMENT, POOL_ERR_OUT_OF_HOST_MEMORY.
 */
POOL_API pool_status pool_file_open(
    const char *path, const pool_file_params *params, pool_file **file);

/* Unmaps the file and sets *file to NULL; sections, names and fields from it end with it. NULL is
 * nothing. */
POOL_API void pool_file_destroy(pool_file **file);

/* What the header says. Counts that the kind does not have are 0, fields and curves NULL. */
typedef struct pool_file_info {
    size_t struct_size;
    pool_file_kind kind;
    uint32_t version;            /* of the format */
    uint64_t bytes;              /* size of the file */
    uint64_t sections;           /* that pool_file_section_at gives */
    const pool_field *field;     /* of scalars; borrowed from the file */
    const pool_curve *curves[2]; /* G1 and G2; of a raw file its curve */
    uint32_t power;              /* ptau: 2^power points */
    uint32_t ceremony_power;     /* ptau: of the ceremony that it was cut from */
    uint64_t domain_size;        /* zkey: of its transforms, a power of two */
    uint64_t variables;          /* zkey, wtns, r1cs: wires, the constant one included */
    uint64_t public_signals;     /* zkey, r1cs: outputs and public inputs */
    uint64_t outputs;            /* r1cs */
    uint64_t public_inputs;      /* r1cs */
    uint64_t private_inputs;     /* r1cs */
    uint64_t labels;             /* r1cs */
    uint64_t constraints;        /* r1cs */
} pool_file_info;

/* Fills `info`, whose struct_size the caller has set. */
POOL_API pool_status pool_file_get_info(const pool_file *file, pool_file_info *info);

/* What the items of a section are. */
typedef enum pool_file_item {
    POOL_FILE_POINTS = 0,   /* of `curve`, in `layout` */
    POOL_FILE_ELEMENTS = 1, /* of `field` */
    /*
     * Entries of a zkey's matrices A and B: three 32-bit numbers, little-endian, that are the
     * matrix (0: A, 1: B), the constraint (a row below domain_size) and the signal (a column below
     * variables); then one element of `field`, which is the entry times R^2. Read as Montgomery
     * form it is the entry times R, so that its product with a signal is, as an integer, the
     * Montgomery form of entry times signal. The numbers are not checked on opening.
     */
    POOL_FILE_COEFFICIENTS = 2
} pool_file_item;

#define POOL_FILE_COEFFICIENT_ELEMENT 12 /* bytes from an entry's start to its element */

/* One section: what its items are and where they lie. */
typedef struct pool_file_section {
    size_t struct_size;
    const char *name; /* of the file, without a level */
    pool_file_item item;
    pool_point_layout layout; /* of points */
    const pool_curve *curve;  /* of points, else NULL */
    const pool_field *field;  /* of elements and coefficients; of points their curve's scalars */
    pool_span span;  /* host memory that is only read, at any alignment; stride is never 0 */
    uint64_t offset; /* of the first item in the file; 0 when it was decoded */
    uint32_t levels; /* Lagrange bases that lie one behind the other, see below; else 0 */
    uint32_t reserved;
} pool_file_section;

/*
 * The section of that name:
 *
 *   ptau   tauG1, tauG2, alphaTauG1, betaTauG1, betaG2; and in prepared files lagrange (of tauG1),
 *          lagrangeG2, lagrangeAlpha, lagrangeBeta: bases of 2^0, 2^1, … points, one behind the
 *          other. "lagrange:8" is the one of 2^8 points.
 *   zkey   alpha1, beta1, beta2, gamma2, delta1, delta2, IC, A, B1, B2, C, H, coefficients. B2 and
 *          what ends in 2 lies in G2. C begins with the first private signal. H holds Lagrange
 *          points of the odd coset.
 *   wtns   values
 *   kzg    lagrange (in natural order: bit-reverse it for blobs), monomial, g2 (monomial); older
 *          text files lack monomial
 *   raw    data
 *
 * Fills `section`, whose struct_size is set. POOL_ERR_NOT_FOUND: the file has no such section or no
 * such level; the text names those that it has.
 */
POOL_API pool_status pool_file_get_section(
    const pool_file *file, const char *name, pool_file_section *section);

/* The same by place, below pool_file_info.sections, in the order above. */
POOL_API pool_status pool_file_section_at(
    const pool_file *file, uint64_t index, pool_file_section *section);

#ifdef __cplusplus
}
#endif

#endif
