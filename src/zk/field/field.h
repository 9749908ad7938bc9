/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internal representation of a prime field: constants derived from one modulus, and host
 * arithmetic. It does not depend on devices; the generator of device code reads this struct only.
 *
 * An element is `limbs` little-endian 64-bit limbs in memory, except that a field of at most 32
 * bits has elements of one 32-bit word wherever arrays of elements leave the library (`bytes` is 4
 * then). Host functions below always work on full 64-bit limbs. "Montgomery form" of x is x * R mod
 * p with R = 2^(32 * words), on host and device alike.
 */
#ifndef FIELD_FIELD_H
#define FIELD_FIELD_H

#include <devicepool/field.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FIELD_MAX_BITS = 768,
    FIELD_MAX_LIMBS = FIELD_MAX_BITS / 64,
    FIELD_MAX_WORDS = FIELD_MAX_BITS / 32,
    FIELD_MAX_NAME = 63,
};

/* How the device computes in the field. The host always uses Montgomery arithmetic. */
enum field_kind {
    FIELD_KIND_MONTGOMERY =
        0, /* any odd prime; device elements in Montgomery form, R = 2^(32 * words) */
    FIELD_KIND_MONTGOMERY_31, /* at most 31 bits, one word, Montgomery form, R = 2^32 */
    FIELD_KIND_GOLDILOCKS,    /* p = 2^64 - 2^32 + 1; device elements in standard form */
    FIELD_KIND_MERSENNE_31,   /* p = 2^31 - 1; device elements in standard form */
};

enum field_flag {
    FIELD_SPARE_BIT =
        1u << 0, /* 2p < R: sums of two reduced values do not overflow; lazy [0,2p) forms exist */
    FIELD_TWO_SPARE_BITS =
        1u << 1, /* 4p < R: Montgomery products of values in [0,2p) stay in [0,2p) */
    FIELD_DEVICE_STANDARD = 1u << 2, /* device elements are in standard, not Montgomery, form */
    FIELD_BUILT_IN = 1u << 3,        /* static storage, never freed */
    FIELD_FULL_GENERATOR = 1u << 4,  /* `generator` was given, not just the smallest non-residue */
};

/* A Montgomery product; arguments and result as of field_mul. */
typedef void field_product(
    const pool_field *field, uint64_t *product, const uint64_t *x, const uint64_t *y);

struct pool_field {
    atomic_uint references; /* unused when FIELD_BUILT_IN */
    char name[FIELD_MAX_NAME + 1];
    uint8_t fingerprint[32]; /* SHA-256 over modulus and root of unity, which determine the device
                                code */
    field_product *product;  /* the fastest for this processor and modulus */
    enum field_kind kind;
    uint32_t flags;       /* enum field_flag */
    uint32_t bits;        /* of the modulus */
    uint32_t limbs;       /* 64-bit limbs: ceil(bits / 64) */
    uint32_t words;       /* 32-bit limbs on the device: 1 when bits <= 32, else 2 * limbs */
    uint32_t bytes;       /* of a packed element: 4 * words */
    uint32_t spare_bits;  /* 32 * words - bits */
    uint32_t two_adicity; /* s, where p - 1 = 2^s * t with t odd */
    uint32_t inverse32;   /* -p^-1 mod 2^32 */
    uint64_t inverse64;   /* -p^-1 mod 2^64 */
    /* all little-endian, `limbs` of them in use, the rest zero */
    uint64_t modulus[FIELD_MAX_LIMBS];
    uint64_t one[FIELD_MAX_LIMBS];       /* R mod p: 1 in Montgomery form */
    uint64_t r2[FIELD_MAX_LIMBS];        /* R^2 mod p: factor into Montgomery form */
    uint64_t odd_part[FIELD_MAX_LIMBS];  /* t, an integer */
    uint64_t generator[FIELD_MAX_LIMBS]; /* Montgomery form; always a quadratic non-residue */
    uint64_t root[FIELD_MAX_LIMBS]; /* Montgomery form; primitive 2^s-th root of unity, generator^t
                                       unless given */
    uint64_t inverse_root[FIELD_MAX_LIMBS]; /* Montgomery form */
    /*
     * Of an extension base[x] / (x^degree - nonresidue), binomial.c; a prime field has NULL, 1, 0.
     * An element is the packed array of its coordinates, that of x^0 first, each as in `base`: 16
     * bytes, two limbs, for every extension there is. `modulus` is then the number of elements of
     * the field, so that x^(modulus - 2) is an inverse as in prime fields; one and r2 have
     * coordinates like every element; there are neither generator nor roots of unity.
     */
    const pool_field *base;
    uint32_t degree;
    uint32_t nonresidue;
};

enum { FIELD_BINOMIAL_LIMBS = 2, FIELD_BINOMIAL_MAX_DEGREE = 4 };

/* The 32-bit word `index` of a limb array, as the device stores it. */
static inline uint32_t field_word(const uint64_t *limbs, uint32_t index)
{
    return (uint32_t)(limbs[index / 2] >> (32 * (index % 2)));
}

/*
 * Host arithmetic (arith.c). Arguments are `field->limbs` limbs, below p, in Montgomery form;
 * results likewise. Results may overlap arguments entirely. Running time and memory access depend
 * on the field only, never on values.
 */
void field_add(const pool_field *field, uint64_t *sum, const uint64_t *x, const uint64_t *y);
void field_sub(const pool_field *field, uint64_t *difference, const uint64_t *x, const uint64_t *y);
void field_neg(const pool_field *field, uint64_t *negative, const uint64_t *x);
void field_double(const pool_field *field, uint64_t *twice, const uint64_t *x);
void field_halve(const pool_field *field, uint64_t *half, const uint64_t *x);
void field_mul(const pool_field *field, uint64_t *product, const uint64_t *x, const uint64_t *y);
void field_sqr(const pool_field *field, uint64_t *square, const uint64_t *x);
/* x^(2^times). */
void field_square_times(
    const pool_field *field, uint64_t *power, const uint64_t *x, uint32_t times);
void field_to_montgomery(const pool_field *field, uint64_t *montgomery, const uint64_t *standard);
void field_from_montgomery(const pool_field *field, uint64_t *standard, const uint64_t *montgomery);
void field_select(const pool_field *field, uint64_t *chosen, uint64_t condition,
    const uint64_t *if_one, const uint64_t *if_zero);
void field_copy(const pool_field *field, uint64_t *to, const uint64_t *from);
void field_set_zero(const pool_field *field, uint64_t *x);
void field_set_one(const pool_field *field, uint64_t *x);
void field_set_integer(const pool_field *field, uint64_t *x, int64_t value);
bool field_is_zero(const pool_field *field, const uint64_t *x);
bool field_equal(const pool_field *field, const uint64_t *x, const uint64_t *y);
bool field_is_canonical(const pool_field *field, const uint64_t *x); /* x < p; any limbs */

/*
 * The candidates for field->product: products in C for every field, and in assembly (mul_x86.c),
 * NULL if there is none for this processor or modulus.
 */
field_product *field_product_plain(const pool_field *field);
field_product *field_product_x86(const pool_field *field);

/*
 * power.c. The exponent is public: time depends on it. field_inverse and field_batch_inverse map 0
 * to 0.
 */
void field_pow(const pool_field *field, uint64_t *power, const uint64_t *base,
    const uint64_t *exponent, size_t exponent_limbs);
void field_inverse(const pool_field *field, uint64_t *inverse, const uint64_t *x);
/* `scratch` holds count * limbs limbs and may not overlap `values`. */
void field_batch_inverse(
    const pool_field *field, uint64_t *values, size_t count, uint64_t *scratch);
/* 1, 0 or -1. */
int field_legendre(const pool_field *field, const uint64_t *x);
/* Returns false, and leaves root unchanged, if x is not a square. Either root; not constant-time.
 */
bool field_sqrt(const pool_field *field, uint64_t *root, const uint64_t *x);
/* Whether standard(x) > (p - 1) / 2: the "lexicographically largest" of x and -x. */
bool field_is_larger_half(const pool_field *field, const uint64_t *x);
/* Primitive 2^log2_order-th root of unity in Montgomery form: root^(2^(two_adicity - log2_order)).
 */
void field_root_of_unity(const pool_field *field, uint64_t *root, uint32_t log2_order);

/* Load and store elements of packed arrays (field->bytes each); no conversion, no check. */
void field_load(const pool_field *field, uint64_t *limbs, const void *packed);
void field_store(const pool_field *field, void *packed, const uint64_t *limbs);

/*
 * form.c. Kernels represent x as x R^degree, R the radix of POOL_FORM_MONTGOMERY: degree 1, or 0 if
 * they compute in standard form. The functions return the degree, compute R^exponent in Montgomery
 * form, and store an element, given in Montgomery form, in the form of the kernels.
 */
int field_device_degree(const pool_field *field);
void field_power_of_r(const pool_field *field, uint64_t *power, int exponent);
void field_store_for_device(const pool_field *field, void *packed, const uint64_t *limbs);

/*
 * The inputs of field_derive, as FIELD_MAX_LIMBS limbs in standard form.
 */
struct field_definition {
    const char *name;
    uint64_t modulus[FIELD_MAX_LIMBS];
    bool has_generator;
    uint64_t generator[FIELD_MAX_LIMBS];
    bool has_root;
    uint64_t root[FIELD_MAX_LIMBS];
};

/*
 * derive.c. The first derives the constants of Montgomery arithmetic, for every odd modulus above
 * 1, prime or not; the second derives all others, for a prime. Generator and root are not checked;
 * create.c checks those of custom fields.
 */
void field_derive_montgomery(pool_field *field, const uint64_t *modulus);
pool_status field_derive(pool_field *field, const struct field_definition *definition);

/* binomial.c: what arith.c does for extensions. */
pool_status field_binomial_derive(pool_field *field, const char *name, const pool_field *base,
    uint32_t degree, uint32_t nonresidue);
void field_binomial_add(
    const pool_field *field, uint64_t *sum, const uint64_t *x, const uint64_t *y);
void field_binomial_sub(
    const pool_field *field, uint64_t *difference, const uint64_t *x, const uint64_t *y);
bool field_binomial_is_canonical(const pool_field *field, const uint64_t *x);
/* A coordinate of an element, as limbs of the base field. */
uint64_t field_binomial_coordinate(const pool_field *field, const uint64_t *x, uint32_t index);
void field_binomial_set_coordinate(
    const pool_field *field, uint64_t *x, uint32_t index, uint64_t value);
/* POOL_ERR_UNSUPPORTED if the field is an extension; `call` is the public function. */
pool_status field_check_prime(const char *call, const pool_field *field);

/* create.c: pool_field_create for complete params; messages call the modulus `what`. */
pool_status field_create(const pool_field_params *params, const char *what, pool_field **field);

/* prime.c. Whether the modulus of a field that field_derive_montgomery has prepared is prime. */
pool_status field_is_prime(const pool_field *field, bool *prime);
/*
 * Its parts. The base of the strong test is in Montgomery form and neither 0 nor 1; the modulus of
 * the strong Lucas test must not be a square.
 */
bool field_passes_strong(const pool_field *field, const uint64_t *base);
bool field_passes_lucas(const pool_field *field);
/* The Jacobi symbol (value / modulus), for a small value of either sign. */
int field_jacobi_small(const pool_field *field, int64_t value);

/* random.c: element `index` of a seed, in standard form. */
void field_random(const pool_field *field, uint64_t seed, uint64_t index, uint64_t *standard);

/* builtin.c: returns another system's generator for roots of unity, or NULL if the field has no
 * such convention. */
const char *field_convention_generator(const pool_field *field, const char *convention);

/*
 * extension.c. Coordinates of points: the field itself (degree 1) or Fp2 = F[u] / (u^2 -
 * nonresidue) (degree 2), an element c0 + c1 u being limbs of c0 and then limbs of c1, both in
 * Montgomery form. Results may overlap arguments.
 */
struct field_extension {
    const pool_field *field;
    uint32_t degree;
    uint32_t limbs;                               /* of an element: degree * field->limbs */
    uint32_t bytes;                               /* of a packed element: degree * field->bytes */
    int32_t nonresidue;                           /* 0 for degree 1 */
    uint64_t nonresidue_element[FIELD_MAX_LIMBS]; /* Montgomery form */
};

enum { FIELD_EXTENSION_MAX_LIMBS = 2 * FIELD_MAX_LIMBS };

/* A nonresidue of 0 means degree 1. Fails if it is a square. */
pool_status field_extension_init(
    struct field_extension *extension, const pool_field *field, int32_t nonresidue);
void field_extension_add(
    const struct field_extension *extension, uint64_t *sum, const uint64_t *x, const uint64_t *y);
void field_extension_sub(const struct field_extension *extension, uint64_t *difference,
    const uint64_t *x, const uint64_t *y);
void field_extension_neg(
    const struct field_extension *extension, uint64_t *negative, const uint64_t *x);
void field_extension_double(
    const struct field_extension *extension, uint64_t *twice, const uint64_t *x);
void field_extension_mul(const struct field_extension *extension, uint64_t *product,
    const uint64_t *x, const uint64_t *y);
void field_extension_sqr(
    const struct field_extension *extension, uint64_t *square, const uint64_t *x);
void field_extension_inverse(
    const struct field_extension *extension, uint64_t *inverse, const uint64_t *x);
/* `scratch` holds count * extension->limbs limbs. Zeros stay zeros. */
void field_extension_batch_inverse(
    const struct field_extension *extension, uint64_t *values, size_t count, uint64_t *scratch);
bool field_extension_sqrt(
    const struct field_extension *extension, uint64_t *root, const uint64_t *x);
void field_extension_copy(
    const struct field_extension *extension, uint64_t *to, const uint64_t *from);
void field_extension_set_zero(const struct field_extension *extension, uint64_t *x);
void field_extension_set_one(const struct field_extension *extension, uint64_t *x);
bool field_extension_is_zero(const struct field_extension *extension, const uint64_t *x);
bool field_extension_equal(
    const struct field_extension *extension, const uint64_t *x, const uint64_t *y);
/* The zcash rule: c1 decides, and c0 when c1 is zero. */
bool field_extension_is_larger_half(const struct field_extension *extension, const uint64_t *x);
/* Load and store packed elements of either form; loading returns false if a coefficient is not
 * below p. */
bool field_extension_load(
    const struct field_extension *extension, uint64_t *x, const void *packed, pool_form form);
void field_extension_store(
    const struct field_extension *extension, void *packed, pool_form form, const uint64_t *x);

#endif
