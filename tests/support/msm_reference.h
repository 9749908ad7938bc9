/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSMs on the host, which tests compare the kernels with. Points and the result are packed affine
 * points in standard form; scalars are packed integers in standard form, also above the order.
 */
#ifndef TESTS_SUPPORT_MSM_REFERENCE_H
#define TESTS_SUPPORT_MSM_REFERENCE_H

#include <devicepool/msm.h>

/* By Pippenger's bucket method with unsigned digits. */
pool_status msm_reference_buckets(
    const pool_curve *curve, uint64_t count, const void *points, const void *scalars, void *result);
/* Each product by double-and-add; for small counts. */
pool_status msm_reference_double_and_add(
    const pool_curve *curve, uint64_t count, const void *points, const void *scalars, void *result);

#endif
