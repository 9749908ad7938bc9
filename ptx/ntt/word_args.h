/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second argument of the kernel in pass_word.cu: powers of the root of unity of order 16 within
 * butterflies, in standard form, and their quotients for products (field/emit_shoup.c).
 */
#ifndef PTX_NTT_WORD_ARGS_H
#define PTX_NTT_WORD_ARGS_H

#define NTT_WORD_ROOTS 8

struct ntt_word_args {
    unsigned roots[NTT_WORD_ROOTS];
    unsigned quotients[NTT_WORD_ROOTS];
};

#endif
