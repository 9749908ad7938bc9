/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures folds of FRI in device memory, on the coset and in bit-reversed order, alone or with the
 * commitment to the next layer, whose openings are verified on the host. The size is the number of
 * values. They are those of a random polynomial; the results have to be the values of the
 * polynomial whose coefficients are folded by plain arithmetic. Both are checked at a random point.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The sets of the provers that have these fields. */
static const struct {
    const char *base;
    const char *set;
} sets[] = {{"goldilocks", "plonky2-goldilocks-t12"},
    {"babybear", "poseidon2-plonky3-babybear-t16"},
    {"koalabear", "poseidon2-plonky3-koalabear-t16"}};

struct fold_state {
    struct bench_small_field small;
    const pool_field *base;
    pool_fri_fold_params params;
    uint64_t count;   /* values */
    uint64_t results; /* after the fold */
    size_t bytes;     /* of a value */
    uint8_t challenge[POOL_FIELD_MAX_BYTES];
    uint8_t *coefficients;
    struct bench_array values;
    struct bench_array folded;
    /* Of the next layer, with spec.commits: */
    pool_poseidon *set;
    pool_matrix_commit_params commit;
    pool_matrix_commit_shape shape;
    uint32_t next_log_arity;
    pool_matrix layer;
    struct bench_array levels;
};

/* The next fold is by as many values, or by all that are left. */
static pool_status create_commitment(struct fold_state *fold)
{
    const char *name = NULL;
    pool_status status;

    for (size_t i = 0; i < BENCH_COUNT_OF(sets); i++)
        if (strcmp(sets[i].base, pool_field_name(fold->base)) == 0)
            name = sets[i].set;
    fold->next_log_arity = fold->params.log_arity;
    while (fold->next_log_arity && fold->results >> fold->next_log_arity == 0)
        fold->next_log_arity--;
    fold->layer.height = fold->results >> fold->next_log_arity;
    fold->layer.width = fold->small.degree << fold->next_log_arity;
    fold->layer.layout = POOL_MATRIX_ROWS;
    status = pool_poseidon_by_name(name, &fold->set);
    fold->commit =
        (pool_matrix_commit_params){.struct_size = sizeof(fold->commit), .set = fold->set};
    fold->shape.struct_size = sizeof(fold->shape);
    return status ? status
                  : pool_matrix_commit_get_shape(&fold->commit, &fold->layer, 1, &fold->shape);
}

static pool_status create_fold(struct bench_run *run)
{
    const struct bench_case *spec = &run->spec;
    struct fold_state *fold = bench_keep(run, 1, sizeof(*fold));
    const pool_field *field;
    pool_ntt_domain *domain = NULL;
    pool_status status;

    run->state = fold;
    run->units = (double)spec->size;
    bench_small_field(spec->subject, &fold->small);
    field = fold->small.field;
    fold->base = pool_field_base(field);
    fold->bytes = pool_field_element_bytes(field);
    fold->count = spec->size;
    fold->results = spec->size >> spec->log_arity;
    fold->coefficients = bench_keep(run, fold->count, fold->bytes);
    status = bench_create_domain(fold->base, spec->size, &domain);
    fold->params = (pool_fri_fold_params){.struct_size = sizeof(fold->params),
        .field = field,
        .domain = domain,
        .log_arity = spec->log_arity,
        .is_bit_reversed = 1,
        .challenge = fold->challenge};
    if (!status)
        status =
            bench_random_scalars(field, 1, fold->count, POOL_FORM_STANDARD, fold->coefficients);
    if (!status)
        status = bench_random_scalars(field, 2, 1, POOL_FORM_STANDARD, fold->challenge);
    return status || !spec->commits ? status : create_commitment(fold);
}

static pool_status warm_up_fold(struct bench_run *run)
{
    const struct fold_state *fold = run->state;
    pool_status status = pool_fri_warm_up(
        fold->params.field, &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});

    return status || !run->spec.commits
               ? status
               : pool_matrix_commit_warm_up(&fold->commit,
                     &(pool_exec){.struct_size = sizeof(pool_exec), .device = run->device});
}

/* The transform whose results are the values on the coset: coordinate by coordinate. */
static pool_ntt_params forward_of(
    const struct fold_state *fold, const pool_ntt_domain *domain, int32_t coset)
{
    return (pool_ntt_params){.struct_size = sizeof(pool_ntt_params),
        .domain = (pool_ntt_domain *)(uintptr_t)domain,
        .coset = coset,
        .order = POOL_NTT_NR,
        .layout = POOL_NTT_COLUMNS,
        .batch = fold->small.degree};
}

static pool_status upload_fold(struct bench_run *run)
{
    struct fold_state *fold = run->state;
    const pool_ntt_params forward = forward_of(fold, fold->params.domain, 1);
    const pool_exec exec = {.struct_size = sizeof(exec), .device = run->device};
    const pool_span in = {.data = fold->coefficients, .count = fold->count * fold->small.degree};
    pool_span out;
    uint32_t matrices = 0;
    pool_status status = bench_place(
        run, &(struct bench_items){.item_bytes = fold->bytes, .count = fold->count}, &fold->values);

    if (!status)
        status = bench_place(run,
            &(struct bench_items){.item_bytes = fold->bytes, .count = fold->results},
            &fold->folded);
    if (!status) {
        out = fold->values.span;
        out.count = in.count;
        status = pool_ntt(&forward, &exec, &in, &out);
    }
    if (!status && run->spec.commits)
        status = pool_fri_layer(fold->params.field, &fold->folded.span, fold->next_log_arity, 1,
            &fold->layer, &matrices);
    if (!status && run->spec.commits)
        status = bench_place(run,
            &(struct bench_items){.item_bytes = fold->shape.bytes / fold->shape.digest_count,
                .count = fold->shape.digest_count},
            &fold->levels);
    return status;
}

static pool_status call_fold(struct bench_run *run)
{
    const struct fold_state *fold = run->state;

    return run->spec.commits
               ? pool_fri_fold_commit(&fold->params, fold->next_log_arity, &fold->commit,
                     &run->exec, &fold->values.span, &fold->folded.span, &fold->levels.span)
               : pool_fri_fold(&fold->params, &run->exec, &fold->values.span, &fold->folded.span);
}

/* ---- the check ------------------------------------------------------------------------------- */

struct folding {
    const struct fold_state *fold;
    uint64_t challenge[BENCH_MAX_DEGREE];
    uint64_t shift[BENCH_MAX_DEGREE];
    uint8_t *folded;
};

static void fold_range(void *user, uint64_t first, uint64_t end)
{
    const struct folding *folding = user;
    const struct fold_state *fold = folding->fold;
    const struct bench_small_field *small = &fold->small;
    const uint32_t arity = 1u << fold->params.log_arity;
    uint64_t term[BENCH_MAX_DEGREE], scale[BENCH_MAX_DEGREE];

    bench_small_power(small, scale, folding->shift, first);
    for (uint64_t i = first; i < end; i++) {
        uint64_t sum[BENCH_MAX_DEGREE] = {0};

        for (uint32_t j = arity; j-- > 0;) {
            bench_small_multiply(small, sum, sum, folding->challenge);
            bench_small_load(small, fold->coefficients, i * arity + j, term);
            bench_small_add(small, sum, sum, term);
        }
        bench_small_scale(small, sum, sum, scale[0]);
        bench_small_store(small, folding->folded, i, sum);
        bench_small_scale(small, scale, scale, folding->shift[0]);
    }
}

/*
 * The coefficients of sum over j of challenge^j f_j, each times a power of the coset's generator
 * g^k, so that the values on the coset are those of a plain transform.
 */
static void fold_coefficients(const struct fold_state *fold, uint8_t *folded)
{
    const struct bench_small_field *small = &fold->small;
    struct folding folding = {.fold = fold, .folded = folded};

    bench_small_load(small, fold->challenge, 0, folding.challenge);
    pool_ntt_domain_coset(fold->params.domain, POOL_FORM_STANDARD, folding.shift);
    for (uint32_t i = 0; i < fold->params.log_arity; i++)
        bench_small_multiply(small, folding.shift, folding.shift, folding.shift);
    bench_run_ranges(fold->results, fold_range, &folding);
}

static pool_status check_values(const struct fold_state *fold, bool *is_correct)
{
    const pool_ntt_params forward = forward_of(fold, fold->params.domain, 1);
    uint8_t *values = bench_alloc(fold->count, fold->bytes);
    pool_status status = bench_gather(&fold->values, values);

    if (!status)
        *is_correct = bench_check_ntt(&forward, fold->coefficients, values);
    free(values);
    return status;
}

static pool_status check_folded(
    const struct fold_state *fold, const uint8_t *folded, bool *is_correct)
{
    uint8_t *coefficients = bench_alloc(fold->results, fold->bytes);
    pool_ntt_domain *domain = NULL;
    pool_status status = bench_create_domain(fold->base, fold->results, &domain);

    if (!status) {
        const pool_ntt_params forward = forward_of(fold, domain, 0);

        fold_coefficients(fold, coefficients);
        *is_correct =
            *is_correct &&
            !pool_field_check(fold->base, folded, fold->results * fold->small.degree, NULL) &&
            bench_check_ntt(&forward, coefficients, folded);
    }
    pool_ntt_domain_destroy(&domain);
    free(coefficients);
    return status;
}

static pool_status check_layer(struct bench_run *run, const uint8_t *folded, bool *is_correct)
{
    const struct fold_state *fold = run->state;
    const pool_exec exec = {.struct_size = sizeof(exec), .device = run->device};
    uint8_t *root = bench_alloc(1, fold->levels.item_bytes);
    const struct bench_commitment commitment = {.params = &fold->commit,
        .exec = &exec,
        .matrix = &fold->layer,
        .levels = &fold->levels.span,
        .root = root,
        .elements = folded};
    bool has_rows = false;
    pool_status status = bench_copy_root(&fold->levels, root);

    if (!status)
        status = bench_check_openings(&commitment, &has_rows);
    *is_correct = *is_correct && has_rows;
    free(root);
    return status;
}

static pool_status check_fold(struct bench_run *run, bool *is_correct)
{
    const struct fold_state *fold = run->state;
    uint8_t *folded = bench_alloc(fold->results, fold->bytes);
    pool_status status = bench_gather(&fold->folded, folded);

    if (!status)
        status = check_values(fold, is_correct);
    if (!status)
        status = check_folded(fold, folded, is_correct);
    if (!status && run->spec.commits)
        status = check_layer(run, folded, is_correct);
    free(folded);
    return status;
}

static void destroy_fold(struct bench_run *run)
{
    struct fold_state *fold = run->state;
    pool_ntt_domain *domain = (pool_ntt_domain *)(uintptr_t)fold->params.domain;

    pool_ntt_domain_destroy(&domain);
    pool_poseidon_destroy(&fold->set);
}

const struct bench_operation bench_fold = {
    .name = "fold",
    .options = "arity commit",
    .unit = "elements",
    .option = "field",
    .arrays = 1,
    .default_subjects = "babybear_x4",
    .default_sizes = "2^10,2^12,2^14",
    .needs_powers = true,
    .has_subject = bench_has_extension,
    .max_size = bench_max_transform,
    .create = create_fold,
    .warm_up = warm_up_fold,
    .upload = upload_fold,
    .call = call_fold,
    .check = check_fold,
    .destroy = destroy_fold,
};
