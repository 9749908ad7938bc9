/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-test of Poseidon: every built-in parameter set, compared with a value that its project
 * published, if any, and with the host implementation on random states.
 */
#include <stdlib.h>
#include <string.h>

#include "selftest.h"

/* States compared with the host: more than a warp, not a multiple of one, and no more than
 * bench_poseidon compares. */
enum { STATES = 61 };

static size_t count_sets(device_pool *pool)
{
    (void)pool;
    return pool_poseidon_count();
}

static const char *set_name(size_t index)
{
    return pool_poseidon_name_at(index);
}

/* Compares elements with a comma-separated list. */
static int elements_match(const pool_field *field, const uint8_t *elements, const char *list)
{
    size_t bytes = pool_field_element_bytes(field);
    uint8_t expected[POOL_FIELD_MAX_BYTES];
    char copy[4096];
    char *rest = copy;
    char *item;

    snprintf(copy, sizeof(copy), "%s", list);
    for (; (item = strsep(&rest, ",")); elements += bytes)
        if (pool_field_parse(field, item, POOL_FORM_STANDARD, expected) ||
            memcmp(elements, expected, bytes) != 0)
            return 0;
    return 1;
}

static pool_status run_known(const pool_poseidon *set, const pool_exec *exec,
    const struct selftest_hash *known, int *is_correct)
{
    const pool_field *field = pool_poseidon_field(set);
    size_t bytes = pool_field_element_bytes(field);
    uint8_t inputs[POOL_POSEIDON_MAX_WIDTH * POOL_FIELD_MAX_BYTES] = {0};
    uint8_t results[POOL_POSEIDON_MAX_WIDTH * POOL_FIELD_MAX_BYTES] = {0};
    pool_span in = {.data = inputs, .count = 1};
    pool_span out = {.data = results, .count = 1};
    pool_status status;

    for (uint32_t i = 0; i < known->count; i++) {
        uint32_t value = known->step ? i : 1;

        memcpy(inputs + i * bytes, &value, sizeof(value));
    }
    status = known->is_hash ? pool_poseidon_hash(set, exec, &in, known->count, &out)
                            : pool_poseidon_permute(set, exec, &in, &out);
    if (!status)
        *is_correct &= elements_match(field, results, known->result);
    return status;
}

/* Compares permutations of random states with the host implementation. */
static pool_status run_random(
    device_pool *pool, pool_device *device, const char *name, int *is_correct)
{
    struct bench_run run = {.operation = &bench_poseidon,
        .spec = {.subject = name, .size = STATES, .is_permutation = true},
        .pool = pool,
        .device = device,
        .repeat = 1};
    pool_status status = bench_measure(&run);

    *is_correct &= run.is_correct;
    return status;
}

static pool_status run_set(device_pool *pool, pool_device *device, size_t index, int *is_correct)
{
    const char *name = pool_poseidon_name_at(index);
    pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_by_name(name, &set);

    if (status)
        return status;
    *is_correct = 1;
    for (size_t i = 0; i < selftest_hash_count && !status; i++)
        if (strcmp(selftest_hashes[i].set, name) == 0)
            status = run_known(set, &exec, &selftest_hashes[i], is_correct);
    if (!status)
        status = run_random(pool, device, name, is_correct);
    pool_poseidon_destroy(&set);
    return status;
}

const struct selftest_area selftest_poseidon = {"poseidon", count_sets, set_name, run_set};
