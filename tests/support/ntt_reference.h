/* SPDX-License-Identifier: Apache-2.0 */
/* NTTs on the host, which tests compare the kernels with. */
#ifndef TESTS_SUPPORT_NTT_REFERENCE_H
#define TESTS_SUPPORT_NTT_REFERENCE_H

#include <devicepool/ntt.h>

struct ntt_reference {
    const pool_ntt_domain *domain;
    pool_ntt_direction direction;
    pool_ntt_order order;
    pool_ntt_layout layout;
    uint64_t batch;
    int coset;
};

/* Input and output are packed elements of one form; they may be the same memory. */
pool_status ntt_reference_run(const struct ntt_reference *reference, const void *in, void *out);

#endif
