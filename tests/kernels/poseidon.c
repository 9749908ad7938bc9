/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of Poseidon and Poseidon2 with one and with two threads per state. The references use
 * the permutation as the papers define it: every round with its constants, S-box and full matrix.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/poseidon_tuning.h"
#include "zk/poseidon/kernels.h"

enum { STATE_LIMBS = POSEIDON_STATE_LIMBS };

/* One check of a kernel: `count` items of `in_elements` to items of `out_elements`. */
struct poseidon_case {
    struct harness *harness;
    const pool_poseidon *set;
    const struct poseidon_stage *row;
    struct poseidon_args args;
    uint64_t in_count; /* items of the input */
    uint32_t in_elements;
    uint32_t out_elements;
    uint64_t padding[STATE_LIMBS]; /* merkle_level: the digest of the padding node */
};

/* Item `index` of the output from all inputs (Montgomery limbs). */
typedef void poseidon_reference(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out);

struct poseidon_stage {
    const char *name;
    enum poseidon_kernel kernel;
    poseidon_reference *reference;
    bool is_shared; /* two threads per state */
    bool is_converted;
    bool overwrites;         /* sponge */
    unsigned padding;        /* sponge */
    uint64_t simulated, gpu; /* items */
};

/* ---- references ------------------------------------------------------------------------------ */

static uint64_t *element(const struct poseidon_case *one, uint64_t *elements, uint64_t index)
{
    return elements + index * one->set->field->limbs;
}

static const uint64_t *input(const struct poseidon_case *one, const uint64_t *in, uint64_t index)
{
    return in + index * one->set->field->limbs;
}

/* The permutation in the order of elements that callers see. */
static void permute(const struct poseidon_case *one, uint64_t *state)
{
    const pool_poseidon *set = one->set;
    uint64_t inner[STATE_LIMBS];

    for (uint32_t i = 0; i < set->width; i++)
        field_copy(
            set->field, element(one, inner, i), element(one, state, poseidon_state_index(set, i)));
    poseidon_permute_reference(set, inner);
    for (uint32_t i = 0; i < set->width; i++)
        field_copy(
            set->field, element(one, state, poseidon_state_index(set, i)), element(one, inner, i));
}

static void reference_permute(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out)
{
    memcpy(out, input(one, in, index * one->in_elements),
        (size_t)one->in_elements * one->set->field->limbs * sizeof(*out));
    permute(one, out);
}

static void reference_convert(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out)
{
    memcpy(out, input(one, in, index * one->in_elements),
        (size_t)one->in_elements * one->set->field->limbs * sizeof(*out));
}

static void init_state(const struct poseidon_case *one, uint64_t *state)
{
    const pool_poseidon *set = one->set;

    memset(state, 0, STATE_LIMBS * sizeof(*state));
    field_copy(set->field, element(one, state, set->domain_tag_index), set->domain_tag);
}

static void digest_of(const struct poseidon_case *one, uint64_t *state, uint64_t *out)
{
    const pool_poseidon *set = one->set;
    uint64_t before[STATE_LIMBS];

    memcpy(before, state, sizeof(before));
    permute(one, state);
    for (uint32_t i = 0; i < set->digest_elements; i++) {
        uint64_t *result = element(one, out, i);

        field_copy(set->field, result, element(one, state, set->output_index + i));
        if (set->feed_forward)
            field_add(set->field, result, result, element(one, before, set->output_index + i));
    }
}

static void reference_hash(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out)
{
    uint64_t state[STATE_LIMBS];

    init_state(one, state);
    for (uint32_t i = 0; i < one->in_elements; i++)
        field_copy(one->set->field, element(one, state, one->set->input_index + i),
            input(one, in, index * one->in_elements + i));
    digest_of(one, state, out);
}

/* A node from its children; the padding node stands for those that the level below does not have.
 */
static void reference_merkle_level(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out)
{
    const pool_poseidon *set = one->set;
    uint64_t state[STATE_LIMBS];

    init_state(one, state);
    for (uint32_t i = 0; i < one->args.arity * set->digest_elements; i++) {
        uint64_t child = index * one->args.arity + i / set->digest_elements;
        const uint64_t *from =
            child < one->in_count
                ? input(one, in, child * set->digest_elements + i % set->digest_elements)
                : input(one, one->padding, i % set->digest_elements);

        field_copy(set->field, element(one, state, set->input_index + i), from);
    }
    digest_of(one, state, out);
}

static void absorb(
    const struct poseidon_case *one, const uint64_t *message, uint32_t at, uint64_t *rate_element)
{
    const pool_field *field = one->set->field;
    uint64_t absorbed[FIELD_MAX_LIMBS] = {0};

    if (at < one->in_elements)
        field_copy(field, absorbed, input(one, message, at));
    else if (!one->row->padding)
        return;
    else if (at == one->in_elements && one->row->padding == POSEIDON_PAD_10)
        field_set_one(field, absorbed);
    if (one->row->overwrites)
        field_copy(field, rate_element, absorbed);
    else
        field_add(field, rate_element, rate_element, absorbed);
}

static void reference_sponge(
    const struct poseidon_case *one, const uint64_t *in, uint64_t index, uint64_t *out)
{
    const pool_poseidon *set = one->set;
    const uint64_t *message = input(one, in, index * one->in_elements);
    uint32_t length = one->in_elements + (one->row->padding == POSEIDON_PAD_10),
             rate = one->args.rate;
    uint64_t state[STATE_LIMBS];

    init_state(one, state);
    if (one->row->kernel == POSEIDON_ROWS) /* the sponge of rows has no domain tag */
        memset(state, 0, sizeof(state));
    for (uint32_t at = 0; at < length; at += rate) {
        for (uint32_t i = 0; i < rate; i++)
            absorb(one, message, at + i, element(one, state, set->input_index + i));
        permute(one, state);
    }
    for (uint32_t squeezed = 0; squeezed < one->out_elements; squeezed++) {
        if (squeezed > 0 && squeezed % rate == 0)
            permute(one, state);
        field_copy(set->field, element(one, out, squeezed),
            element(one, state, set->input_index + squeezed % rate));
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct poseidon_stage stages[] = {
    {"permute", POSEIDON_PERMUTE, reference_permute, false, false, false, 0, 70, 1 << 15},
    {"permute, converted", POSEIDON_PERMUTE, reference_permute, false, true, false, 0, 70, 1 << 12},
    {"permute, two threads", POSEIDON_PERMUTE, reference_permute, true, false, false, 0, 70,
        1 << 12},
    {"convert", POSEIDON_CONVERT, reference_convert, false, true, false, 0, 70, 1 << 15},
    {"hash", POSEIDON_HASH, reference_hash, false, false, false, 0, 70, 1 << 15},
    {"hash, converted", POSEIDON_HASH, reference_hash, false, true, false, 0, 70, 1 << 12},
    {"hash, two threads", POSEIDON_HASH, reference_hash, true, false, false, 0, 70, 1 << 12},
    {"merkle_level", POSEIDON_MERKLE_LEVEL, reference_merkle_level, false, false, false, 0, 67,
        1 << 15},
    {"merkle_level, two threads", POSEIDON_MERKLE_LEVEL, reference_merkle_level, true, false, false,
        0, 67, 1 << 12},
    {"sponge", POSEIDON_SPONGE, reference_sponge, false, false, false, 0, 33, 1 << 12},
    {"sponge, padded", POSEIDON_SPONGE, reference_sponge, false, false, false, POSEIDON_PAD_10, 33,
        1 << 12},
    {"sponge, overwriting", POSEIDON_SPONGE, reference_sponge, false, false, true, 0, 33, 1 << 12},
    {"sponge, overwriting, padded", POSEIDON_SPONGE, reference_sponge, false, false, true,
        POSEIDON_PAD_10, 33, 1 << 12},
    {"sponge, overwriting, zeros", POSEIDON_SPONGE, reference_sponge, false, false, true,
        POSEIDON_PAD_ZERO, 33, 1 << 12},
    {"rows", POSEIDON_ROWS, reference_sponge, false, false, true, 0, 33, 1 << 15},
    {"rows, converted", POSEIDON_ROWS, reference_sponge, false, true, true, 0, 33, 1 << 12},
};

/* ---- one check ------------------------------------------------------------------------------- */

static pool_status launch(struct harness *harness, void *user)
{
    const struct poseidon_case *one = user;
    struct poseidon_args own = one->args, *args = &own;
    const struct exec_target target = {.device = harness->device, .stream = harness->stream};
    struct poseidon_rows_args rows = {.in = args->in,
        .out = args->out,
        .row_stride = args->in_stride,
        .column_stride = one->set->field->bytes,
        .out_stride = args->out_stride,
        .rows = args->count,
        .columns = args->elements,
        .rate = args->rate,
        .digest_elements = args->output_elements,
        .is_first = 1,
        .is_permuted = 1,
        .in_is_converted = args->in_is_converted,
        .out_is_converted = args->out_is_converted,
        .in_is_aligned = one->set->field->bytes % 16 == 0 || one->set->field->bytes == 8,
        .out_is_aligned = args->out_is_aligned};

    if (one->row->kernel == POSEIDON_ROWS)
        return poseidon_launch_rows(one->set, &target, &rows);
    return poseidon_launch(one->set, &target, one->row->kernel, args);
}

/* In the device's form or, converted, in the other one. */
static void pack(
    const struct poseidon_case *one, const uint64_t *elements, size_t count, uint8_t *packed)
{
    const pool_field *field = one->set->field;
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;
    uint64_t standard[FIELD_MAX_LIMBS];

    for (size_t i = 0; i < count; i++) {
        const uint64_t *from = input(one, elements, i);

        if (is_standard != one->row->is_converted) {
            field_from_montgomery(field, standard, from);
            from = standard;
        }
        field_store(field, packed + i * field->bytes, from);
    }
}

/* The numbers of elements per item, and what one kernel reads only. */
static void set_shape(struct poseidon_case *one, uint64_t count)
{
    const pool_poseidon *set = one->set;
    struct poseidon_args *args = &one->args;

    one->in_count = count;
    one->in_elements = one->out_elements =
        one->row->kernel == POSEIDON_CONVERT ? set->digest_elements : set->width;
    if (one->row->kernel == POSEIDON_HASH) {
        one->in_elements = set->max_inputs;
        one->out_elements = set->digest_elements;
    } else if (one->row->kernel == POSEIDON_MERKLE_LEVEL) {
        args->arity = set->max_inputs / set->digest_elements;
        one->in_elements = one->out_elements = set->digest_elements;
        one->in_count = count * args->arity - 1; /* the last child is the padding node */
        args->input_count = one->in_count;
        for (uint32_t i = 0; i < set->digest_elements; i++) {
            element_random(set->field, 9, i, element(one, one->padding, i));
            poseidon_device_words(set->field, args->padding_node + i * set->field->words,
                element(one, one->padding, i));
        }
    } else if (one->row->kernel == POSEIDON_SPONGE || one->row->kernel == POSEIDON_ROWS) {
        args->rate = set->rate;
        one->in_elements = 2 * set->rate + 1;
        one->out_elements =
            one->row->kernel == POSEIDON_ROWS ? set->digest_elements : set->rate + 1;
        args->output_elements = one->out_elements;
        args->overwrites = one->row->overwrites;
        args->padding = one->row->padding;
        args->input_count = one->in_elements + (one->row->padding == POSEIDON_PAD_10);
        poseidon_device_words(set->field, args->domain_tag, set->domain_tag);
    }
    args->elements = one->in_elements;
    args->count = count;
    args->in_stride = (uint64_t)one->in_elements * set->field->bytes;
    args->out_stride = (uint64_t)one->out_elements * set->field->bytes;
    args->in_is_converted = args->out_is_converted = one->row->is_converted;
    args->in_is_aligned = args->in_stride % 16 == 0;
    args->out_is_aligned = args->out_stride % 16 == 0;
}

static void check_stage(
    struct harness *harness, pool_poseidon *set, const struct poseidon_stage *row)
{
    struct poseidon_case one = {.harness = harness, .set = set, .row = row};
    struct stage stage;
    char name[64];

    /* Two threads share sums of products over several words only. */
    if (row->is_shared && !(set->recurrence.is_used && set->field->words > 2))
        return;
    snprintf(name, sizeof(name), "poseidon %s", row->name);
    if (!stage_begin(harness, &stage, name, "%s", pool_poseidon_name(set)))
        return;
    uint64_t count = harness_size(harness, row->simulated, row->gpu);
    set_shape(&one, count);
    size_t in_elements = one.in_count * one.in_elements, results = count * one.out_elements;
    uint64_t *in = elements_random(set->field, 4, in_elements);
    uint64_t *expected = harness_memory(results, set->field->limbs * sizeof(*expected));
    uint8_t *packed = harness_memory(in_elements, set->field->bytes);
    uint8_t *packed_expected = harness_memory(results, set->field->bytes);

    pack(&one, in, in_elements, packed);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t out[2 * STATE_LIMBS];

        row->reference(&one, in, i, out);
        memcpy(element(&one, expected, i * one.out_elements), out,
            (size_t)one.out_elements * set->field->limbs * sizeof(*out));
    }
    pack(&one, expected, results, packed_expected);
    one.args.in = stage_upload(&stage, packed, in_elements * set->field->bytes);
    one.args.out = stage_alloc(&stage, results * set->field->bytes);
    poseidon_tune(set, 0, row->is_shared ? UINT32_MAX : 0);
    stage_run(&stage, launch, &one);
    stage_compare(&stage, "element", one.args.out, packed_expected, results, set->field->bytes);
    stage_time(&stage, launch, &one, (double)count);
    set->tuning = NULL;
    stage_end(&stage);
    free(in);
    free(expected);
    free(packed);
    free(packed_expected);
}

void check_poseidon_stages(struct harness *harness)
{
    static const char *const sets[] = {"circom-bn254-t3", "neptune-bls12_381-arity2",
        "plonky2-goldilocks-t12", "poseidon2-horizen-bn254-t3", "poseidon2-plonky3-babybear-t16"};

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        pool_poseidon *set = NULL;

        MUST(pool_poseidon_by_name(sets[i], &set));
        for (size_t k = 0; k < sizeof(stages) / sizeof(stages[0]); k++)
            check_stage(harness, set, &stages[k]);
        pool_poseidon_destroy(&set);
    }
}
