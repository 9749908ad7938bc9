/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool selftest: its areas and known answers. All answers were computed without the library,
 * by tests/cli/selftest_answers.py.
 */
#ifndef CLI_SELFTEST_H
#define CLI_SELFTEST_H

#include "cli.h"

/* An area has `count` tests, each of which runs on one device. */
struct selftest_area {
    const char *name;
    size_t (*count)(device_pool *pool);
    const char *(*subject)(size_t index);
    /* Returns POOL_OK and sets *is_correct, or returns the failure of the library. */
    pool_status (*run)(device_pool *pool, pool_device *device, size_t index, int *is_correct);
};

extern const struct selftest_area selftest_copy;
extern const struct selftest_area selftest_vector;
extern const struct selftest_area selftest_msm;
extern const struct selftest_area selftest_ntt;
extern const struct selftest_area selftest_poseidon;

/*
 * The constants K and L of the answers. Element i of an input is (i + 1) K or (i + 1) L modulo p,
 * as written by selftest_multiples.
 */
#define SELFTEST_K "9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95"
#define SELFTEST_L "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef"
enum { SELFTEST_VECTOR = 256, SELFTEST_TRANSFORM_LOG = 10, SELFTEST_MSM = 64 };

void selftest_multiples(const pool_field *field, const char *factor, uint64_t count, void *out);

/*
 * Weighted sums of results over a field: of a + b, a - b, a b and 1/a for SELFTEST_VECTOR multiples
 * a of K and b of L; then of the forward transform of 2^SELFTEST_TRANSFORM_LOG multiples of K, the
 * forward coset transform to bit-reversed order, and the inverse transform. NULL: the field has no
 * such transform.
 */
struct selftest_field {
    const char *name;
    const char *answers[7];
};
extern const struct selftest_field selftest_fields[];
extern const size_t selftest_field_count;

/* The MSM of scalars (i + 1) K over the multiples (i + 1) G of the generator, packed affine. */
struct selftest_msm_answer {
    const char *curve;
    const char *point;
};
extern const struct selftest_msm_answer selftest_msms[];
extern const size_t selftest_msm_count;

/* A hash or a permutation of `count` inputs: 0, 1, 2 … if step is 1, ones if it is 0. */
struct selftest_hash {
    const char *set;
    int is_hash;
    uint32_t step;
    uint32_t count;
    const char *result; /* comma-separated elements */
};
extern const struct selftest_hash selftest_hashes[];
extern const size_t selftest_hash_count;

#endif
