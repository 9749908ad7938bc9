/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon on a device against the host: `test_poseidon sim` on simulated devices, without an
 * argument on the machine's own. Random states of every parameter set, built in or custom, hashes
 * and sponges; a second argument is the prefix of the names to test, "own" selects custom sets.
 */
#include "support/poseidon.h"
#include "support/poseidon_tuning.h"
#include "support/sample.h"

static const char *only; /* a set's name begins so */

/* Zeros, ones below p and random states. */
static void check_permute(const pool_poseidon *set, pool_form in_form, pool_form out_form)
{
    enum { COUNT = 6 };
    size_t t = pool_poseidon_width(set);
    size_t bytes = t * element_bytes(set);
    unsigned char *states = random_elements(set, COUNT * t, in_form);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    unsigned char top[POOL_FIELD_MAX_BYTES];
    pool_span in = {.data = states, .count = COUNT, .form = in_form};
    pool_span out = {.data = want, .count = COUNT, .form = out_form};
    pool_exec run = here();

    memset(states, 0, bytes);
    assert_ok(pool_field_modulus(pool_poseidon_field(set), top));
    top[0] = (unsigned char)(top[0] - 1);
    for (size_t i = 0; i < t; i++)
        memcpy(states + bytes + i * element_bytes(set), top, element_bytes(set));
    assert_ok(pool_poseidon_permute(set, &on_host, &in, &out));
    out.data = got;
    assert_ok(pool_poseidon_permute(set, &run, &in, &out));
    compare(set, "permutations", got, want, COUNT * bytes);
    free(states);
    free(want);
    free(got);
}

static void check_hash(const pool_poseidon *set, uint32_t elements)
{
    enum { COUNT = 3 };
    size_t bytes = pool_poseidon_digest_elements(set) * element_bytes(set);
    unsigned char *inputs = random_elements(set, COUNT * elements, POOL_FORM_STANDARD);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    pool_span in = {.data = inputs, .count = COUNT};
    pool_span out = {.data = want, .count = COUNT};
    pool_exec run = here();

    assert_ok(pool_poseidon_hash(set, &on_host, &in, elements, &out));
    out.data = got;
    assert_ok(pool_poseidon_hash(set, &run, &in, elements, &out));
    compare(set, "hashes", got, want, COUNT * bytes);
    free(inputs);
    free(want);
    free(got);
}

static void test_every_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_poseidon_count(); i++) {
        const char *name = pool_poseidon_name_at(i);
        pool_poseidon *set;

        if (!is_sampled(i, 4) || (only && strncmp(name, only, strlen(only))))
            continue;
        fprintf(stderr, "%s\n", name);
        assert_ok(pool_poseidon_by_name(name, &set));
        check_permute(set, (pool_form)(i % 2), (pool_form)(i / 2 % 2));
        check_hash(set, pool_poseidon_max_inputs(set));
        pool_poseidon_destroy(&set);
    }
}

/* The same with one thread per state: launches of few items use two if the set has such kernels. */
static void test_one_thread(void **state)
{
    static const char *const names[] = {"circom-bn254-t2", "circom-bn254-t3", "circom-bn254-t12",
        "neptune-bls12_381-arity4", "neptune-bls12_381-arity16", "orchard-pallas-t3",
        "starknet-stark252-t3"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pool_poseidon *set;
        if (!is_sampled(i, 3) || (only && strncmp(names[i], only, strlen(only))))
            continue;
        assert_ok(pool_poseidon_by_name(names[i], &set));
        poseidon_tune(set, 0, 0);
        check_permute(set, POOL_FORM_STANDARD, POOL_FORM_MONTGOMERY);
        check_hash(set, pool_poseidon_max_inputs(set));
        set->tuning = NULL;
        pool_poseidon_destroy(&set);
    }
}

static void check_sponge(const pool_poseidon *set, const pool_poseidon_sponge_params *params)
{
    enum { COUNT = 2 };
    size_t bytes = params->output_elements * element_bytes(set);
    unsigned char *messages = random_elements(set, COUNT * params->elements, POOL_FORM_MONTGOMERY);
    unsigned char *want = calloc(COUNT, bytes);
    unsigned char *got = calloc(COUNT, bytes);
    pool_span in = {.data = messages, .count = COUNT, .form = POOL_FORM_MONTGOMERY};
    pool_span out = {.data = want, .count = COUNT};
    pool_exec run = here();

    assert_ok(pool_poseidon_sponge(set, &on_host, params, &in, &out));
    out.data = got;
    assert_ok(pool_poseidon_sponge(set, &run, params, &in, &out));
    compare(set, "sponges", got, want, COUNT * bytes);
    free(messages);
    free(want);
    free(got);
}

static void test_sponges(void **state)
{
    static const char *const names[] = {
        "circom-bn254-t3", "starknet-stark252-t3", "poseidon2-plonky3-koalabear-t16"};
    static const uint32_t lengths[] = {0, 1, 2, 7, 8, 9, 17};
    unsigned char tag[POOL_FIELD_MAX_BYTES] = {5, 1};

    (void)state;
    for (size_t n = 0; n < 3; n++) {
        pool_poseidon *set;
        assert_ok(pool_poseidon_by_name(names[n], &set));
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            for (int how = 0; how < 6; how++) {
                pool_poseidon_sponge_params params = {.struct_size = sizeof(params),
                    .elements = lengths[i],
                    .output_elements = how == 3 || how == 4 ? 19 : 3,
                    .mode = (pool_sponge_mode)(how & 1),
                    .padding = (pool_sponge_padding)(how >> 1),
                    .domain_tag = n != 1 && how ? tag : NULL,
                    .rate = n == 2 && how == 2 ? 5 : 0};
                check_sponge(set, &params);
            }
        }
        pool_poseidon_destroy(&set);
    }
}

/* Custom sets over every field, narrow and wide, with matrices of random elements, so that sums of
 * products meet every amount of headroom above the modulus. */
static void check_own(
    const pool_field *field, uint32_t width, pool_poseidon_kind kind, uint32_t full, bool is_final)
{
    uint32_t partial = full % 2 ? 0 : 3;
    size_t each = kind == POOL_POSEIDON2 ? 1 : width;
    size_t count = full * width + partial * each + (is_final ? width : 0);
    size_t bytes = pool_field_element_bytes(field);
    unsigned char *elements = calloc(count + (size_t)width * width + width, bytes);
    pool_poseidon *set = NULL;
    pool_poseidon_params params = {.struct_size = sizeof(params),
        .field = field,
        .kind = kind,
        .width = width,
        .alpha = 3,
        .full_rounds = full,
        .partial_rounds = partial,
        .partial_index = width / 2,
        .round_constants = elements,
        .round_constant_count = count,
        .mds = elements + count * bytes,
        .mds_count = (size_t)width * width};

    assert_ok(pool_random_scalars(
        field, width, count + width * width + width, POOL_FORM_STANDARD, elements));
    if (kind == POOL_POSEIDON2) {
        params.internal_diagonal = elements + (count + (size_t)width * width) * bytes;
        params.internal_diagonal_count = width;
    }
    while (pool_poseidon_create(&params, &set)) {
        params.alpha += 2;
        assert_true(params.alpha < 32);
    }
    fprintf(stderr, "%s, %u lanes, alpha %u, %u full rounds%s\n", pool_field_name(field), width,
        params.alpha, full, is_final ? ", final constants" : "");
    check_permute(set, POOL_FORM_STANDARD, POOL_FORM_MONTGOMERY);
    check_permute(set, POOL_FORM_MONTGOMERY, POOL_FORM_STANDARD);
    check_hash(set, width - 1);
    pool_poseidon_destroy(&set);
    free(elements);
}

static void test_own(void **state)
{
    (void)state;
    if (only && strcmp(only, "own"))
        return;
    for (size_t i = 0; i < pool_field_count(); i++) {
        if (!is_sampled(i, 4))
            continue;
        check_own(pool_field_at(i), 5, POOL_POSEIDON, 4, i % 2);
        check_own(pool_field_at(i), 8, POOL_POSEIDON2, 4, i % 2);
        if (i % 4 == 0)
            check_own(pool_field_at(i), 3, POOL_POSEIDON, 5, i % 8 == 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sponges),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_every_set),
    };

    if (open_here(argc, argv))
        return 77;
    only = argc > 2 ? argv[2] : NULL;
    return cmocka_run_group_tests(tests, NULL, close_pool);
}
