/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the device code of a field: CUDA C++ source, specialised for one modulus, that defines
 * an element type and its operations under a prefix. Depends on struct pool_field only.
 *
 * With prefix "fq" the source defines
 *
 *   FQ_WORDS FQ_BITS FQ_LAZY     32-bit words of an element, bits of the modulus, 1 if the lazy
 *                                operations differ from the strict ones
 *   fq                           struct { unsigned word[FQ_WORDS]; }, aligned to up to 16 bytes
 *   fq_zero fq_one               constants (one in the device's form)
 *   fq_modulus fq_r2             the integer p and the factor R^2 mod p
 *   fq_minus_two                 p - 2 as an array of words in constant memory
 *   fq_add fq_sub fq_neg fq_dbl fq_mul fq_sqr
 *   fq_mul_add fq_mul_sub        a b + c d and a b - c d, with one reduction where one suffices
 *   fq_*_lazy                    the same on values in [0, 2p), with results in [0, 2p)
 *   fq_reduce                    [0, 2p) to [0, p)
 *   fq_is_zero fq_eq fq_less fq_select fq_cneg       on reduced values
 *   fq_mul_complex               (a + b u)(c + d u) with u^2 = -1, on lazy values, where FQ_LAZY
 *   fq_is_zero_lazy              whether a value in [0, 2p) is 0 modulo p
 *   FQ_SIGNED                    1 for Montgomery form in one word with a spare bit, where also:
 *   fq_mul_signed                a b of ints with |a b| < 2^31 p (so |a|, |b| < p), in (-p, p)
 *   fq_from_signed               (-p, p) to [0, p)
 *   fq_to_mont fq_from_mont      between the standard form and the device's
 *
 * Every operation is one asm statement, which preserves the carry chains. If the modulus has too
 * little headroom for values in [0, 2p) (4p > R), the lazy names are the strict operations, so that
 * kernels work for both.
 */
#ifndef FIELD_EMIT_FIELD_H
#define FIELD_EMIT_FIELD_H

#include "zk/field/field.h"

/* The caller frees *source by base_free. `prefix` is a C identifier in lower case. */
pool_status field_emit_generate(const pool_field *field, const char *prefix, char **source);

/* The same with `type`, which the source does not define, as the type of elements: so that all
 * prefixes of a field in one program have the same one. NULL: as above. */
pool_status field_emit_generate_typed(
    const pool_field *field, const char *prefix, const char *type, char **source);
/* The definition of `type` for it. */
pool_status field_emit_generate_type(const pool_field *field, const char *type, char **source);

/*
 * Likewise generates prefix_dot<n>(sum, x, c) = sum + x[0] c[0] + … + x[n-1] c[n-1] with one
 * reduction for each n of `lengths`, for kernels that multiply by matrices. `sum` and x may be
 * lazy, c must be reduced; the result is lazy. The source depends on that of the field.
 */
pool_status field_emit_generate_dots(const pool_field *field, const char *prefix,
    const uint32_t *lengths, size_t count, char **source);

/*
 * Likewise generates multiplication by constants with precomputed quotients (Shoup), for fields in
 * which field_emit_has_quotients holds; the source depends on that of the field. A constant w is in
 * standard form, so that a product has the form of its first argument:
 *
 *   FQ_SHOUP                     1; 0 for other fields, which have none of the following
 *   fq_mul_shoup(a, w, w')       a w for w' = floor(w R / p) and a below 4p (2p where FQ_LAZY is
 *                                0); the result is lazy
 *   fq_shoup_quotient(m)         w' of the w whose Montgomery form is m; both are reduced
 *   fq_add_unreduced fq_sub_unreduced    a + b and a - b of lazy values, for such a product
 */
bool field_emit_has_quotients(const pool_field *field);
pool_status field_emit_generate_shoup(const pool_field *field, const char *prefix, char **source);

#endif
