/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Poseidon parameter sets and the host's operations: refused arguments, failing allocations,
 * fingerprints, spans, trees compared with trees computed hash by hash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "zk/poseidon/poseidon.h"

static const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};

static pool_poseidon *get(const char *name)
{
    pool_poseidon *set = NULL;
    assert_int_equal(pool_poseidon_by_name(name, &set), POOL_OK);
    return set;
}

/* A small set over babybear whose parts a test may spoil. */
struct parts {
    uint32_t constants[4 * 3 + 5 * 3 + 2 * 3];
    uint32_t mds[9];
    uint32_t diagonal[3];
    uint32_t domain_tag;
    pool_poseidon_params params;
};

static void parts_init(struct parts *parts)
{
    static const uint32_t matrix[9] = {2, 1, 1, 1, 3, 1, 1, 1, 5};

    memset(parts, 0, sizeof(*parts));
    for (uint32_t i = 0; i < 33; i++)
        parts->constants[i] = 1000003 * (i + 1);
    memcpy(parts->mds, matrix, sizeof(matrix));
    parts->diagonal[0] = 3;
    parts->diagonal[1] = 5;
    parts->diagonal[2] = 9;
    parts->domain_tag = 77;
    parts->params = (pool_poseidon_params){.struct_size = sizeof(parts->params),
        .field = pool_field_by_name("babybear"),
        .width = 3,
        .alpha = 7,
        .full_rounds = 4,
        .partial_rounds = 5,
        .round_constants = parts->constants,
        .round_constant_count = 27,
        .mds = parts->mds,
        .mds_count = 9};
}

static void expect(struct parts *parts, pool_status wanted, const char *text)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_create(&parts->params, &set);

    if (status != wanted || (status && !strstr(pool_last_error()->message, text)))
        fail_msg("%s, wanted \"%s\": %s", pool_status_name(status), text,
            status ? pool_last_error()->message : "");
    if (status)
        assert_null(set);
    pool_poseidon_destroy(&set);
}

static void refuse(struct parts *parts, const char *text)
{
    expect(parts, POOL_ERR_INVALID_ARGUMENT, text);
    parts_init(parts);
}

static void test_refused(void **state)
{
    struct parts parts;

    (void)state;
    parts_init(&parts);
    expect(&parts, POOL_OK, "");
    parts.params.field = NULL, refuse(&parts, "field must not be NULL");
    parts.params.kind = (pool_poseidon_kind)2, refuse(&parts, "value 2 for `kind`");
    parts.params.form = (pool_form)2, refuse(&parts, "value 2 for `form`");
    parts.params.width = 1, refuse(&parts, "value 1 for `width`; it must be 2 to 64");
    parts.params.width = 65, refuse(&parts, "value 65 for `width`");
    parts.params.alpha = 1, refuse(&parts, "value 1 for `alpha`; it must be an odd number");
    parts.params.alpha = 4, refuse(&parts, "value 4 for `alpha`");
    parts.params.alpha = 257, refuse(&parts, "value 257 for `alpha`");
    parts.params.alpha = 3, refuse(&parts, "common factor 3");
    parts.params.alpha = 5, refuse(&parts, "common factor 5");
    parts.params.alpha = 21, refuse(&parts, "common factor 3");
    parts.params.full_rounds = 3,
    refuse(&parts, "value 3 for `full_rounds`; it must be even, except");
    parts.params.full_rounds = 0, refuse(&parts, "value 0 for `full_rounds`; it must be 2 to 128");
    parts.params.full_rounds = 130, refuse(&parts, "value 130 for `full_rounds`");
    parts.params.full_rounds = 3, parts.params.partial_rounds = 0;
    parts.params.kind = POOL_POSEIDON2,
    refuse(&parts, "value 3 for `full_rounds`; it must be even");
    parts.params.partial_rounds = 1025, refuse(&parts, "value 1025 for `partial_rounds`");
    parts.params.partial_index = 3, refuse(&parts, "value 3 for `partial_index`");
    parts.params.round_constant_count = 26,
    refuse(&parts, "`round_constants` must be 27 elements, or 30 with final constants, 26");
    parts.params.round_constants = NULL, refuse(&parts, "round_constants must not be NULL");
    parts.params.round_constant_count = 33, refuse(&parts, "or 30 with final constants, 33 are");
    parts.params.mds_count = 8, refuse(&parts, "`mds` must be 9 elements, 8");
    parts.params.mds = NULL, refuse(&parts, "mds must not be NULL");
    parts.params.internal_diagonal = parts.diagonal,
    refuse(&parts, "`internal_diagonal` must be NULL");
    memcpy(parts.mds + 3, parts.mds, 12), refuse(&parts, "`mds` must be invertible");
    parts.params.max_inputs = 4,
    refuse(&parts, "`max_inputs` 4 and `input_index` 0 exceed the state of 3");
    parts.params.max_inputs = 3, parts.params.input_index = 1,
    refuse(&parts, "`max_inputs` 3 and `input_index` 1 exceed");
    parts.params.rate = 3, refuse(&parts, "`rate` 3 and");
    parts.params.digest_elements = 4, refuse(&parts, "`digest_elements` 4 and");
    parts.params.output_index = 3,
    refuse(&parts, "`digest_elements` 1 and `output_index` 3 exceed");
    parts.params.domain_tag_index = 3, refuse(&parts, "value 3 for `domain_tag_index`");
    parts.params.domain_tag_index = 1, parts.params.domain_tag = &parts.domain_tag;
    refuse(&parts, "`domain_tag_index` 1 is within the inputs");
    parts.params.name = "a name that is longer than the sixty-three characters that are allowed";
    refuse(&parts, "63 are allowed");
    parts.params.struct_size = 0, refuse(&parts, "struct_size");
    parts.constants[26] = 0x78000001,
    expect(&parts, POOL_ERR_BAD_DATA, "element 26 of `round_constants`");
    parts_init(&parts);
    parts.mds[4] = UINT32_MAX, expect(&parts, POOL_ERR_BAD_DATA, "element 4 of `mds`");
    parts_init(&parts);
    parts.domain_tag = 0x78000001, parts.params.domain_tag = &parts.domain_tag;
    expect(&parts, POOL_ERR_BAD_DATA, "element 0 of `domain_tag`");
    parts_init(&parts);
    parts.params.kind = POOL_POSEIDON2;
    parts.params.round_constant_count = 17;
    expect(&parts, POOL_ERR_INVALID_ARGUMENT, "internal_diagonal must not be NULL");
    parts.params.internal_diagonal = parts.diagonal;
    parts.params.internal_diagonal_count = 3;
    expect(&parts, POOL_OK, "");
    memset(parts.diagonal, 0, sizeof(parts.diagonal));
    expect(&parts, POOL_ERR_INVALID_ARGUMENT, "J + diag(`internal_diagonal`) must be invertible");
}

/* A domain tag of 0 has no effect, whether it is omitted or 0, also in a state element of the
 * inputs. */
static void test_tag_of_zero(void **state)
{
    struct parts parts;
    uint32_t zero = 0, message = 5, results[2];
    pool_exec run = {.struct_size = sizeof(run), .on_host = 1};
    pool_poseidon_sponge_params params = {.struct_size = sizeof(params), .elements = 1, .rate = 2};
    pool_span in = {.data = &message, .count = 1}, out = {.data = results, .count = 1};
    pool_poseidon *set = NULL;

    (void)state;
    parts_init(&parts);
    parts.params.domain_tag_index = 1;
    parts.params.domain_tag = &zero;
    assert_int_equal(pool_poseidon_create(&parts.params, &set), POOL_OK);
    assert_int_equal(pool_poseidon_sponge(set, &run, &params, &in, &out), POOL_OK);
    out.data = results + 1;
    params.domain_tag = &zero;
    assert_int_equal(pool_poseidon_sponge(set, &run, &params, &in, &out), POOL_OK);
    assert_int_equal(results[0], results[1]);
    params.domain_tag = &message;
    assert_int_equal(
        pool_poseidon_sponge(set, &run, &params, &in, &out), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "`domain_tag` must be 0"));
    pool_poseidon_destroy(&set);
}

/* Members with few values take no others; runs too. */
static void test_unknown_values(void **state)
{
    struct parts parts;
    pool_poseidon *set = get("circom-bn254-t3");
    pool_exec run = {.struct_size = sizeof(run), .on_host = 2};
    pool_span none = {0};

    (void)state;
    parts_init(&parts);
    parts.params.feed_forward = 2;
    refuse(&parts, "pool_poseidon_create: unsupported value 2 for `feed_forward`");
    assert_int_equal(pool_poseidon_permute(set, &run, &none, &none), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message,
        "pool_poseidon_permute: unsupported value 2 for `on_host`; it must be 0 to 1"));
    run = (pool_exec){.struct_size = sizeof(run), .is_async = -1};
    assert_int_equal(pool_poseidon_hash(set, &run, &none, 1, &none), POOL_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(pool_last_error()->message, "value -1 for `is_async`"));
    pool_poseidon_destroy(&set);
}

/* Every member that changes the function changes the fingerprint; the name does not. */
static void test_fingerprint(void **state)
{
    struct parts parts;
    uint8_t prints[9][POOL_FINGERPRINT_BYTES];
    pool_poseidon *set;

    (void)state;
    for (int i = 0; i < 9; i++) {
        parts_init(&parts);
        if (i == 8)
            parts.params.round_constant_count += 3;
        if (i == 1)
            parts.params.name = "other";
        if (i == 2)
            parts.constants[13]++;
        if (i == 3)
            parts.mds[8]++;
        if (i == 4)
            parts.params.domain_tag = &parts.domain_tag;
        if (i == 5)
            parts.params.output_index = 1;
        if (i == 6)
            parts.params.partial_index = 1;
        if (i == 7)
            parts.params.feed_forward = 1;
        assert_int_equal(pool_poseidon_create(&parts.params, &set), POOL_OK);
        assert_int_equal(pool_poseidon_fingerprint(set, prints[i]), POOL_OK);
        pool_poseidon_destroy(&set);
        for (int j = 0; j < i; j++)
            assert_int_equal(memcmp(prints[i], prints[j], POOL_FINGERPRINT_BYTES) == 0, i == 1);
    }
}

/* As defined, in short form without and with scaling, on random states: all one. */
static void test_forms_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < pool_poseidon_count(); i++) {
        pool_poseidon *set = get(pool_poseidon_name_at(i));
        for (int scaled = 0; scaled < 2; scaled++) {
            uint64_t plain[POSEIDON_STATE_LIMBS];
            uint64_t brief[POSEIDON_STATE_LIMBS];
            size_t limbs = set->field->limbs;

            assert_int_equal(poseidon_recurrence_derive(set, scaled), POOL_OK);
            assert_int_equal(
                set->recurrence.is_used, set->kind == POOL_POSEIDON && set->partial_rounds > 0);
            for (uint32_t k = 0; k < set->width; k++)
                field_random(set->field, i, k, plain + k * limbs);
            memcpy(brief, plain, sizeof(plain));
            poseidon_permute_reference(set, plain);
            poseidon_permute(set, brief);
            if (memcmp(plain, brief, set->width * limbs * 8))
                fail_msg("%s, scaled %d", set->name, scaled);
        }
        pool_poseidon_destroy(&set);
    }
}

/* A matrix that never mixes the lower state elements with element 0 has no recurrence and still
 * works. */
static void test_no_window(void **state)
{
    struct parts parts;
    pool_poseidon *set;
    uint32_t in[3] = {1, 2, 3};
    uint32_t out[3];
    pool_span from = {.data = in, .count = 1};
    pool_span to = {.data = out, .count = 1};

    (void)state;
    parts_init(&parts);
    parts.mds[1] = parts.mds[2] = parts.mds[3] = parts.mds[6] = 0;
    assert_int_equal(pool_poseidon_create(&parts.params, &set), POOL_OK);
    assert_false(set->recurrence.is_used);
    assert_int_equal(pool_poseidon_permute(set, &on_host, &from, &to), POOL_OK);
    pool_poseidon_destroy(&set);
}

/* The definition over babybear, in plain integers. */
enum { BABYBEAR = 0x78000001 };

static uint64_t power_7(uint64_t x)
{
    uint64_t cube = x * x % BABYBEAR * x % BABYBEAR;
    return cube * cube % BABYBEAR * x % BABYBEAR;
}

static void multiply_plainly(const struct parts *parts, int is_internal, uint64_t *x)
{
    uint64_t sum[3];

    for (int i = 0; i < 3; i++) {
        sum[i] = 0;
        for (int j = 0; j < 3; j++)
            sum[i] += x[j] *
                      (is_internal ? 1 + (i == j ? parts->diagonal[i] : 0) : parts->mds[3 * i + j]);
    }
    for (int i = 0; i < 3; i++)
        x[i] = sum[i] % BABYBEAR;
}

static void permute_plainly(const struct parts *parts, uint64_t *x)
{
    const pool_poseidon_params *p = &parts->params;
    const uint32_t *constant = parts->constants;
    int is_second = p->kind == POOL_POSEIDON2;

    if (is_second)
        multiply_plainly(parts, 0, x);
    for (uint32_t round = 0; round < p->full_rounds + p->partial_rounds; round++) {
        uint32_t half = p->full_rounds / 2;
        int is_full = round < half || round >= half + p->partial_rounds;

        for (uint32_t i = 0; i < 3; i++)
            if (is_full || !is_second || i == p->partial_index)
                x[i] = (x[i] + *constant++) % BABYBEAR;
        for (uint32_t i = 0; i < 3; i++)
            if (is_full || i == p->partial_index)
                x[i] = power_7(x[i]);
        multiply_plainly(parts, is_second && !is_full, x);
    }
    for (int i = 0; i < 3 && constant < parts->constants + p->round_constant_count; i++)
        x[i] = (x[i] + *constant++) % BABYBEAR;
}

/* Every shape of a parameter set: kinds, widths, with and without partial rounds and final
 * constants, odd numbers of full rounds. */
static void test_shapes(void **state)
{
    (void)state;
    for (uint32_t shape = 0; shape < 2 * 3 * 2 * 2 * 5; shape++) {
        struct parts parts;
        pool_poseidon_params *p = &parts.params;
        pool_poseidon *set = NULL;
        uint32_t in[3] = {1, BABYBEAR - 1, 3}, out[3];
        uint64_t x[3] = {1, BABYBEAR - 1, 3};
        pool_span from = {.data = in, .count = 1};
        pool_span to = {.data = out, .count = 1};

        parts_init(&parts);
        p->kind = shape % 2 ? POOL_POSEIDON2 : POOL_POSEIDON;
        p->partial_index = shape / 2 % 3;
        p->partial_rounds = shape / 6 % 2 ? 5 : 0;
        p->full_rounds = 2 + shape / 24;
        if (p->full_rounds > 4 && p->partial_rounds)
            p->partial_rounds = 2;
        p->round_constant_count =
            p->full_rounds * 3 + p->partial_rounds * (shape % 2 ? 1 : 3) + (shape / 12 % 2 ? 3 : 0);
        p->internal_diagonal = shape % 2 ? parts.diagonal : NULL;
        p->internal_diagonal_count = 3;
        if (p->full_rounds % 2 && (shape % 2 || p->partial_rounds))
            continue;
        assert_int_equal(pool_poseidon_create(p, &set), POOL_OK);
        assert_int_equal(pool_poseidon_permute(set, &on_host, &from, &to), POOL_OK);
        permute_plainly(&parts, x);
        for (int i = 0; i < 3; i++)
            assert_int_equal(out[i], x[i]);
        pool_poseidon_destroy(&set);
    }
}

/* The n-th allocation fails. */
struct failing {
    int left;
    int seen;
};

static int count_down(void *user)
{
    struct failing *failing = user;
    failing->seen++;
    return failing->left-- == 0;
}

enum { OPERATIONS = 5 };

static pool_status operate(int operation, struct parts *parts, pool_poseidon *set)
{
    static uint32_t leaves[9 * 5];
    static uint32_t rows[32 * 8];
    static uint32_t path[32 * 8];
    pool_span from = {.data = leaves, .count = 9};
    pool_span to = {.data = rows, .count = 32};
    pool_span way = {.data = path, .count = 32};
    pool_poseidon *made = NULL;
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = 5};
    pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2, .leaf_elements = 5};
    pool_status status = POOL_OK;

    if (operation == 0) {
        status = pool_poseidon_create(&parts->params, &made);
        pool_poseidon_destroy(&made);
    } else if (operation == 1) {
        status = pool_poseidon_by_name("poseidon2-plonky3-babybear-t24", &made);
        pool_poseidon_destroy(&made);
    } else if (operation == 2) {
        status = pool_poseidon_sponge(set, &on_host, &sponge, &from, &to);
    } else if (operation == 3) {
        status = pool_poseidon_merkle_build(set, &on_host, &tree, &from, &to);
    } else {
        tree.kept_levels = 2;
        status = pool_poseidon_merkle_build(set, &on_host, &tree, &from, &to);
        if (!status)
            status = pool_poseidon_merkle_open(set, &on_host, &tree, 9, &from, &to, 8, &way);
    }
    return status;
}

static void test_failing_memory(void **state)
{
    struct parts parts;
    pool_poseidon *set = get("poseidon2-plonky3-babybear-t16");

    (void)state;
    parts_init(&parts);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        int n = 0;
        for (;; n++) {
            struct failing failing = {.left = n};
            base_alloc_set_hook(count_down, &failing);
            pool_status status = operate(operation, &parts, set);
            base_alloc_set_hook(NULL, NULL);
            if (failing.seen <= n) {
                assert_int_equal(status, POOL_OK);
                break;
            }
            assert_int_equal(status, POOL_ERR_OUT_OF_HOST_MEMORY);
        }
        assert_true(n >= 1);
    }
    pool_poseidon_destroy(&set);
}

static void test_references(void **state)
{
    struct parts parts;
    pool_poseidon *set = NULL;
    pool_poseidon *again;

    (void)state;
    parts_init(&parts);
    assert_int_equal(pool_poseidon_create(&parts.params, &set), POOL_OK);
    assert_string_equal(pool_poseidon_name(set), "custom");
    again = pool_poseidon_retain(set);
    pool_poseidon_destroy(&set);
    assert_null(set);
    assert_int_equal(pool_poseidon_width(again), 3);
    assert_int_equal(pool_poseidon_max_inputs(again), 2);
    assert_int_equal(pool_poseidon_rate(again), 2);
    assert_int_equal(pool_poseidon_digest_elements(again), 1);
    assert_ptr_equal(pool_poseidon_field(again), parts.params.field);
    pool_poseidon_destroy(&again);
    pool_poseidon_destroy(&again);
    assert_int_equal(pool_poseidon_by_name("no such", &set), POOL_ERR_NOT_FOUND);
    assert_null(pool_poseidon_name_at(pool_poseidon_count()));
}

static void test_spans(void **state)
{
    pool_poseidon *set = get("circom-bn254-t3");
    uint64_t elements[64] = {0};
    pool_span in = {.data = elements, .count = 2};
    pool_span out = {.data = elements + 32, .count = 2};
    pool_exec run = on_host;
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge), .elements = 3};

    (void)state;
#define REFUSED(call) assert_int_equal(call, POOL_ERR_INVALID_ARGUMENT)
    REFUSED(pool_poseidon_hash(set, &run, &in, 0, &out));
    REFUSED(pool_poseidon_hash(set, &run, &in, 3, &out));
    REFUSED(pool_poseidon_hash(set, &run, NULL, 2, &out));
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, NULL));
    in.stride = 63;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    in.stride = UINT64_MAX / 2;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    in.stride = 0, out.count = 1;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    out.count = 2, out.data = NULL;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    out.data = elements + 32, in.form = (pool_form)5;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    in.form = POOL_FORM_STANDARD, in.space = (pool_memory_space)5;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    in.space = POOL_MEMORY_DEVICE;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    in.space = POOL_MEMORY_HOST, run.is_async = 1;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    run.on_host = 0, run.is_async = 2;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    run = on_host, sponge.rate = 3;
    REFUSED(pool_poseidon_sponge(set, &run, &sponge, &in, &out));
    sponge.rate = 0, sponge.mode = (pool_sponge_mode)2;
    REFUSED(pool_poseidon_sponge(set, &run, &sponge, &in, &out));
    sponge.mode = POOL_SPONGE_ADD, sponge.padding = (pool_sponge_padding)3;
    REFUSED(pool_poseidon_sponge(set, &run, &sponge, &in, &out));
    memset(elements + 12, 255, 32); /* element 1 of item 1 */
    run.checks = POOL_CHECK_ON_CURVE;
    REFUSED(pool_poseidon_hash(set, &run, &in, 2, &out));
    run.checks = POOL_CHECK_CANONICAL;
    assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_ERR_BAD_DATA);
    assert_string_equal(pool_last_error()->message,
        "element 1 of item 1 of the inputs is not below the modulus of bn254_fr");
    run.checks = POOL_CHECK_NONE;
    assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_OK);
    in.count = 0, in.data = NULL;
    assert_int_equal(pool_poseidon_hash(set, &run, &in, 2, &out), POOL_OK);
    pool_poseidon_destroy(&set);
}

/* Strides and forms are only ways of saying the same. */
static void test_layouts(void **state)
{
    pool_poseidon *set = get("circom-bn254-t3");
    const pool_field *field = pool_poseidon_field(set);
    uint64_t packed[5 * 8];
    uint64_t wide[5 * 9] = {0};
    uint64_t want[5 * 4];
    uint64_t got[5 * 6] = {0};
    uint64_t check[4];
    pool_span in = {.data = packed, .count = 5};
    pool_span out = {.data = want, .count = 5};

    (void)state;
    assert_int_equal(pool_random_scalars(field, 3, 10, POOL_FORM_STANDARD, packed), POOL_OK);
    assert_int_equal(pool_poseidon_hash(set, &on_host, &in, 2, &out), POOL_OK);
    for (int i = 0; i < 5; i++)
        pool_field_to_montgomery(field, packed + 8 * i, 2, wide + 9 * i);
    in = (pool_span){.data = wide, .count = 5, .stride = 72, .form = POOL_FORM_MONTGOMERY};
    out = (pool_span){.data = got, .count = 5, .stride = 48, .form = POOL_FORM_MONTGOMERY};
    assert_int_equal(pool_poseidon_hash(set, &on_host, &in, 2, &out), POOL_OK);
    for (int i = 0; i < 5; i++) {
        pool_field_from_montgomery(field, got + 6 * i, 1, check);
        assert_memory_equal(check, want + 4 * i, 32);
        assert_true(got[6 * i + 4] == 0 && got[6 * i + 5] == 0);
    }
    pool_poseidon_destroy(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_memory), /* first: sets are not made yet */
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_tag_of_zero),
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_forms_agree),
        cmocka_unit_test(test_no_window),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
