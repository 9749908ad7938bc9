/* SPDX-License-Identifier: Apache-2.0 */
/* Data of the soak's jobs: operands, the answers that the host computed, and resident objects. */
#include "soak/soak.h"

#include <stdlib.h>
#include <string.h>

#include "support/msm_reference.h"
#include "support/ntt_reference.h"

const char *soak_kind_name(enum soak_kind kind)
{
    static const char *const names[SOAK_KINDS] = {
        "msm", "msm over resident bases", "ntt", "poseidon", "copy", "resident buffer"};

    return names[kind];
}

void soak_must(pool_status status, const char *call)
{
    if (!status)
        return;
    fprintf(
        stderr, "soak: %s: %s: %s\n", call, pool_status_name(status), pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

uint64_t soak_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

static uint8_t *allocate(size_t bytes)
{
    uint8_t *made = calloc(1, bytes);

    if (!made) {
        fprintf(stderr, "soak: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return made;
}

static pool_span host_span(const void *data, uint64_t count)
{
    return (pool_span){.data = (void *)(uintptr_t)data, .count = count};
}

/* Device memory that a job on the first device takes. */
static pool_exec first_device(const struct soak *soak)
{
    return (pool_exec){.struct_size = sizeof(pool_exec), .device = soak->devices[0]};
}

/* ---- MSM ---------------------------------------------------------------------------------------
 */

/* An MSM over resident bases, which may have to be loaded before it. */
static uint64_t forecast_bases(const pool_resident *bases, const pool_exec *exec,
    const pool_span *scalars, const pool_span *result)
{
    const pool_msm_params params = {.struct_size = sizeof(params)};
    uint64_t loading = 0, workspace = 0;

    SOAK_MUST(pool_resident_open_workspace(bases, exec, &loading));
    SOAK_MUST(pool_resident_msm_workspace(bases, &params, exec, scalars, result, &workspace));
    workspace += pool_resident_bytes(bases);
    return workspace > loading ? workspace : loading;
}

static void create_msm(struct soak *soak)
{
    struct soak_work *work = &soak->work;
    uint64_t count = UINT64_C(1) << soak->options.log_msm;
    const pool_field *scalars = pool_curve_scalar_field(work->curve);
    size_t scalar_bytes = pool_field_element_bytes(scalars);
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = work->curve};
    const pool_bases_params bases = {.struct_size = sizeof(bases), .curve = work->curve};
    pool_exec exec = first_device(soak);
    pool_span points, operands, result;

    work->point_bytes = pool_point_bytes(work->curve, POOL_POINT_AFFINE);
    work->points = allocate(count * work->point_bytes);
    SOAK_MUST(pool_random_points(work->curve, soak->options.seed, count, NULL, work->points, NULL));
    for (unsigned i = 0; i < SOAK_PROBLEMS; i++) {
        struct soak_problem *problem = &work->problems[SOAK_MSM][i];

        problem->in = allocate(count * scalar_bytes);
        problem->answer = allocate(work->point_bytes);
        SOAK_MUST(pool_random_scalars(
            scalars, soak->options.seed + i + 1, count, POOL_FORM_STANDARD, problem->in));
        SOAK_MUST(
            msm_reference_buckets(work->curve, count, work->points, problem->in, problem->answer));
        work->problems[SOAK_BASES][i] = *problem;
    }
    points = host_span(work->points, count);
    operands = host_span(work->problems[SOAK_MSM][0].in, count);
    result = host_span(work->problems[SOAK_MSM][0].answer, 1);
    SOAK_MUST(pool_msm_workspace(
        &params, &exec, &points, &operands, &result, &work->lease_bytes[SOAK_MSM]));
    work->answer_bytes[SOAK_MSM] = work->answer_bytes[SOAK_BASES] = work->point_bytes;
    SOAK_MUST(pool_resident_create(soak->pool,
        &(pool_resident_params){.struct_size = sizeof(pool_resident_params),
            .name = "bases",
            .bases = &bases,
            .points = &points},
        &work->bases));
    work->lease_bytes[SOAK_BASES] = forecast_bases(work->bases, &exec, &operands, &result);
}

/* ---- NTT ---------------------------------------------------------------------------------------
 */

static void create_ntt(struct soak *soak)
{
    struct soak_work *work = &soak->work;
    uint64_t count = UINT64_C(1) << soak->options.log_ntt;
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_curve_scalar_field(work->curve),
        .log_size = soak->options.log_ntt};
    size_t bytes = count * pool_field_element_bytes(domain.field);
    pool_ntt_params params = {.struct_size = sizeof(params)};
    pool_exec exec = first_device(soak);
    pool_span in, out;

    SOAK_MUST(pool_ntt_domain_create(&domain, &work->domain));
    params.domain = work->domain;
    for (unsigned i = 0; i < SOAK_PROBLEMS; i++) {
        struct soak_problem *problem = &work->problems[SOAK_NTT][i];
        const struct ntt_reference reference = {.domain = work->domain, .batch = 1};

        problem->in = allocate(bytes);
        problem->answer = allocate(bytes);
        SOAK_MUST(pool_random_scalars(
            domain.field, soak->options.seed + 50 + i, count, POOL_FORM_STANDARD, problem->in));
        SOAK_MUST(ntt_reference_run(&reference, problem->in, problem->answer));
    }
    in = host_span(work->problems[SOAK_NTT][0].in, count);
    out = host_span(work->problems[SOAK_NTT][0].answer, count);
    SOAK_MUST(pool_ntt_workspace(&params, &exec, &in, &out, &work->lease_bytes[SOAK_NTT]));
    work->answer_bytes[SOAK_NTT] = bytes;
}

/* ---- Poseidon ----------------------------------------------------------------------------------
 */

static void create_poseidon(struct soak *soak)
{
    struct soak_work *work = &soak->work;
    const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};
    uint64_t count = soak->options.hashes;
    pool_span in, out;

    SOAK_MUST(pool_poseidon_by_name(pool_poseidon_name_at(0), &work->set));
    work->element_bytes = pool_field_element_bytes(pool_poseidon_field(work->set));
    work->answer_bytes[SOAK_POSEIDON] =
        count * pool_poseidon_digest_elements(work->set) * work->element_bytes;
    for (unsigned i = 0; i < SOAK_PROBLEMS; i++) {
        struct soak_problem *problem = &work->problems[SOAK_POSEIDON][i];

        problem->in = allocate(count * work->element_bytes);
        problem->answer = allocate(work->answer_bytes[SOAK_POSEIDON]);
        SOAK_MUST(pool_random_scalars(pool_poseidon_field(work->set), soak->options.seed + 90 + i,
            count, POOL_FORM_STANDARD, problem->in));
        in = host_span(problem->in, count);
        out = host_span(problem->answer, count);
        SOAK_MUST(pool_poseidon_hash(work->set, &on_host, &in, 1, &out));
    }
    in = host_span(NULL, count);
    SOAK_MUST(pool_poseidon_hash_workspace(
        work->set, NULL, &in, 1, &in, &work->lease_bytes[SOAK_POSEIDON]));
}

/* ---- copies and resident buffers ---------------------------------------------------------------
 */

static void create_copies(struct soak *soak)
{
    struct soak_work *work = &soak->work;
    uint64_t bytes = soak->options.copy_bytes, random = soak->options.seed + 7;

    for (unsigned i = 0; i < SOAK_PROBLEMS; i++) {
        struct soak_problem *problem = &work->problems[SOAK_COPY][i];

        problem->in = problem->answer = allocate(bytes);
        for (uint64_t at = 0; at + sizeof(random) <= bytes; at += sizeof(random)) {
            uint64_t word = soak_random(&random);

            memcpy(problem->in + at, &word, sizeof(word));
        }
    }
    work->answer_bytes[SOAK_COPY] = bytes;
    work->lease_bytes[SOAK_COPY] = 2 * bytes;
}

static pool_status fill_buffer(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    const struct soak_source *source = user;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = source->bytes,
        .stream = exec->stream,
        .lease = exec->lease};
    pool_status status = pool_buffer_create(exec->device, &params, buffer);

    return status ? status
                  : pool_buffer_fill8(*buffer, 0, source->bytes, source->byte, exec->stream);
}

static void create_residents(struct soak *soak)
{
    struct soak_work *work = &soak->work;
    /* not all fit below the limit, so that some are evicted */
    uint64_t bytes =
        soak->options.memory_limit ? soak->options.memory_limit / 8 : soak->options.copy_bytes * 4;

    for (unsigned i = 0; i < SOAK_RESIDENTS; i++) {
        struct soak_source *source = &work->sources[i];
        char name[32];

        source->bytes = bytes;
        source->byte = (uint8_t)(i + 1);
        snprintf(name, sizeof(name), "buffer %u", i);
        SOAK_MUST(pool_resident_create(soak->pool,
            &(pool_resident_params){.struct_size = sizeof(pool_resident_params),
                .name = name,
                .source = fill_buffer,
                .user = source,
                .bytes = bytes},
            &source->resident));
    }
    work->answer_bytes[SOAK_RESIDENT] = SOAK_WINDOW;
    work->lease_bytes[SOAK_RESIDENT] = bytes;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

void soak_work_create(struct soak *soak)
{
    soak->work.curve = pool_curve_by_name("bn254_g1");
    if (!soak->work.curve) {
        fprintf(stderr, "soak: there is no curve bn254_g1\n");
        exit(1);
    }
    create_msm(soak);
    create_ntt(soak);
    create_poseidon(soak);
    create_copies(soak);
    create_residents(soak);
}

void soak_work_destroy(struct soak *soak)
{
    struct soak_work *work = &soak->work;

    SOAK_MUST(pool_resident_destroy(&work->bases));
    for (unsigned i = 0; i < SOAK_RESIDENTS; i++)
        SOAK_MUST(pool_resident_destroy(&work->sources[i].resident));
    SOAK_MUST(pool_ntt_domain_destroy(&work->domain));
    pool_poseidon_destroy(&work->set);
    free(work->points);
    for (int kind = 0; kind < SOAK_KINDS; kind++)
        for (unsigned i = 0; i < SOAK_PROBLEMS && kind != SOAK_BASES; i++) {
            struct soak_problem *problem = &work->problems[kind][i];

            if (problem->answer != problem->in)
                free(problem->answer);
            free(problem->in);
        }
}
