/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of docs/examples/quotient.c, written by hand: see bench_custom.c. */
#include "hand_fr.cuh"

struct columns {
    const fr *a, *b, *c, *z, *s1, *s2, *s3, *ql, *qr, *qm, *qo, *qc, *x, *l1;
};
struct scalars {
    fr alpha, beta, gamma, k1, k2, one, inverse_z[4];
};

/* u + beta v + gamma */
HAND_INLINE fr factor(const scalars &s, const fr &u, const fr &v)
{
    return hand_add(hand_add(u, s.gamma), hand_mul(s.beta, v));
}

extern "C" __global__ void __launch_bounds__(256)
quotient(fr *out, columns in, const scalars *proof, unsigned n)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    const scalars &s = *proof;
    fr a = in.a[i], b = in.b[i], c = in.c[i], z = in.z[i], x = in.x[i];
    fr gate = hand_mul_add(in.ql[i], a, in.qr[i], b);
    gate = hand_add(gate, hand_mul_add(hand_mul(a, b), in.qm[i], in.qo[i], c));
    gate = hand_add(gate, in.qc[i]);

    fr left = hand_mul(factor(s, a, x), factor(s, b, hand_mul(s.k1, x)));
    left = hand_mul(left, factor(s, c, hand_mul(s.k2, x)));
    fr right = hand_mul(factor(s, a, in.s1[i]), factor(s, b, in.s2[i]));
    right = hand_mul(right, factor(s, c, in.s3[i]));
    fr order = hand_mul_add(left, z, hand_sub(hand_zero(), right), in.z[i + 4 < n ? i + 4 : i + 4 - n]);

    fr first = hand_mul(hand_sub(z, s.one), in.l1[i]);
    fr sum = hand_add(order, hand_mul(s.alpha, first));
    sum = hand_add(gate, hand_mul(s.alpha, sum));
    out[i] = hand_reduce(hand_mul(sum, s.inverse_z[i % 4]));
}
