/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover. It reads the points of the key from the memory-mapped file, or uses those that are
 * resident; the witness is copied once, and everything up to the sums of points stays on the
 * device. The MSM in G2 runs beside all other steps, on a stream and a thread of its own.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "groth16_prover.h"
#include "snarkjs_json.h"

#define MAX_POINT (4 * POOL_FIELD_MAX_BYTES)

/* The MSMs, in the order of groth16_sections. */
enum msm { MSM_A, MSM_B1, MSM_B2 = GROTH16_BESIDE, MSM_C, MSM_H };

pool_status groth16_refuse(struct groth16_prover *prover, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(prover->result->failure, sizeof(prover->result->failure), format, list);
    va_end(list);
    return POOL_ERR_BAD_DATA;
}

pool_status groth16_out_of_memory(struct groth16_prover *prover)
{
    groth16_refuse(prover, "out of host memory");
    return POOL_ERR_OUT_OF_HOST_MEMORY;
}

pool_exec groth16_exec(const struct groth16_prover *prover)
{
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = prover->device,
        .stream = prover->stream,
        .lease = prover->job->lease};

    return exec;
}

static void begin_step(struct groth16_prover *prover, const char *step)
{
    prover->step = step;
    if (prover->job->progress)
        prover->job->progress(prover->job->user, step, 0, 1);
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    const struct groth16_prover *prover = user;

    if (prover->job->progress)
        prover->job->progress(prover->job->user, prover->step, done, total);
}

static pool_status get_section(
    const struct groth16_prover *prover, const char *name, pool_file_section *section)
{
    *section = (pool_file_section){.struct_size = sizeof(*section)};
    return pool_file_get_section(prover->job->key, name, section);
}

/* ---- files ---------------------------------------------------------------------------------- */

static pool_status read_files(struct groth16_prover *prover)
{
    static const uint8_t one[POOL_FIELD_MAX_BYTES] = {1};
    pool_file_section values = {.struct_size = sizeof(values)};
    pool_status status = pool_file_get_section(prover->job->witness, "values", &values);

    prover->key.struct_size = sizeof(prover->key);
    if (!status)
        status = pool_file_get_info(prover->job->key, &prover->key);
    if (status)
        return status;
    prover->field = prover->key.field;
    prover->width = pool_field_element_bytes(prover->field);
    prover->witness = values.span;
    if (values.field != prover->field)
        return groth16_refuse(prover, "the witness is over %s, the key over %s",
            pool_field_name(values.field), pool_field_name(prover->field));
    if (values.span.count != prover->key.variables)
        return groth16_refuse(prover, "the witness has %llu values, the key %llu variables",
            (unsigned long long)values.span.count, (unsigned long long)prover->key.variables);
    if (memcmp(values.span.data, one, prover->width) != 0)
        return groth16_refuse(prover, "value 0 of the witness is not 1");
    return pool_field_check(prover->field, values.span.data, values.span.count, NULL);
}

/* ---- the proof ------------------------------------------------------------------------------ */

/* Copies the witness to the device. */
static pool_status upload_witness(struct groth16_prover *prover)
{
    const uint64_t stride = prover->witness.stride ? prover->witness.stride : prover->width;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = prover->witness.count * prover->width,
        .stream = prover->stream,
        .lease = prover->job->lease};
    pool_status status = pool_buffer_create(prover->device, &params, &prover->signals);

    if (status)
        return status;
    return pool_copy_2d(&(pool_pitched){.buffer = prover->signals, .pitch = prover->width},
        &(pool_pitched){.host = prover->witness.data, .pitch = stride}, prover->width,
        prover->witness.count, prover->stream);
}

/* Signals from `first` on, on the device. */
static pool_status signals_from(
    const struct groth16_prover *prover, uint64_t first, pool_span *signals)
{
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(prover->signals, &address);

    *signals = (pool_span){.data = (void *)(uintptr_t)(address + first * prover->width),
        .count = prover->witness.count - first,
        .space = POOL_MEMORY_DEVICE};
    return status;
}

/* The MSM over a section's points; the result is a packed affine point in standard form. */
static pool_status section_msm(const struct groth16_prover *prover, enum msm which,
    const pool_span *scalars, pool_exec exec, void *sum)
{
    const struct groth16_residents *residents = prover->job->residents;
    pool_file_section points;
    pool_span result = {.data = sum, .count = 1};
    pool_resident_use *use = NULL;
    pool_status status = get_section(prover, groth16_sections[which], &points);

    if (status)
        return status;
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points.curve, .point_layout = points.layout};
    exec.checks = prover->job->is_trusted ? POOL_CHECK_NONE : POOL_CHECK_ON_CURVE;
    if (!residents)
        return pool_msm(&params, &exec, &points.span, scalars, &result);
    status = pool_resident_open(residents->points[which], &exec, &use); /* checks what it loads */
    if (status)
        return status;
    params = (pool_msm_params){.struct_size = sizeof(params), .bases = pool_resident_bases(use)};
    exec.checks = POOL_CHECK_NONE;
    status = pool_msm(&params, &exec, NULL, scalars, &result);
    pool_resident_close(&use);
    return status;
}

static pool_status report_msm(
    struct groth16_prover *prover, enum msm which, const pool_span *scalars, void *sum)
{
    pool_exec exec = groth16_exec(prover);

    begin_step(prover, groth16_sections[which]);
    exec.progress = on_progress;
    exec.user = prover;
    return section_msm(prover, which, scalars, exec, sum);
}

/* An MSM beside the other steps. */
struct beside {
    const struct groth16_prover *prover;
    pool_span signals;
    pool_stream *stream; /* NULL: none could be created */
    pthread_t thread;
    int is_running;
    pool_status status;
    char failure[512];
    uint8_t sum[MAX_POINT];
};

static void *run_beside(void *argument)
{
    struct beside *beside = argument;
    pool_exec exec = groth16_exec(beside->prover);

    exec.stream = beside->stream;
    beside->status = section_msm(beside->prover, MSM_B2, &beside->signals, exec, beside->sum);
    if (beside->status)
        snprintf(beside->failure, sizeof(beside->failure), "%s", pool_last_error()->message);
    return NULL;
}

/* Begins the MSM in G2 behind the copy of the witness. */
static void begin_beside(struct beside *beside, const pool_span *signals)
{
    const struct groth16_prover *prover = beside->prover;

    beside->signals = *signals;
    if (pool_stream_create(prover->device, NULL, &beside->stream) ||
        pool_stream_fork(prover->stream, &beside->stream, 1))
        return;
    beside->is_running = !pthread_create(&beside->thread, NULL, run_beside, beside);
}

/* Waits for it. Where there was not enough memory for it beside the others, or no thread, it is
 * computed now. */
static pool_status end_beside(struct groth16_prover *prover, struct beside *beside, uint8_t *sum)
{
    int has_run = beside->is_running;

    begin_step(prover, groth16_sections[MSM_B2]);
    if (has_run)
        pthread_join(beside->thread, NULL);
    beside->is_running = 0;
    if (!has_run || beside->status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
        return report_msm(prover, MSM_B2, &beside->signals, sum);
    if (beside->status)
        return pool_error_set(beside->status, beside->failure);
    memcpy(sum, beside->sum, sizeof(beside->sum));
    return POOL_OK;
}

/* No operation of the thread is left when it returns. */
static void leave_beside(struct beside *beside)
{
    if (beside->is_running)
        pthread_join(beside->thread, NULL);
    pool_stream_destroy(&beside->stream);
}

/* sum += scalar * P for the section's only point P, or sum += P if scalar is NULL. */
static pool_status add_point(
    struct groth16_prover *prover, const char *name, const uint8_t *scalar, uint8_t *sum)
{
    pool_file_section section;
    uint8_t point[MAX_POINT];
    pool_status status = get_section(prover, name, &section);

    if (status)
        return status;
    const pool_point_format format = {section.layout, section.span.form, section.span.stride};
    status = pool_points_convert(
        section.curve, &format, section.span.data, 1, POOL_CHECK_ON_CURVE, NULL, point);
    if (!status && scalar)
        status = pool_point_mul(section.curve, NULL, point, scalar, prover->width, point);
    return status ? status : pool_point_add(section.curve, NULL, sum, point, sum);
}

/* sum += scalar * point in G1. */
static pool_status add_multiple(
    const struct groth16_prover *prover, const uint8_t *point, const uint8_t *scalar, uint8_t *sum)
{
    const pool_curve *g1 = prover->key.curves[0];
    uint8_t product[MAX_POINT];
    pool_status status = pool_point_mul(g1, NULL, point, scalar, prover->width, product);

    return status ? status : pool_point_add(g1, NULL, sum, product, sum);
}

static int system_random(void *bytes, size_t count)
{
    return getrandom(bytes, count, 0) == (ssize_t)count;
}

/* Reduces twice as many random bytes as a scalar has: statistical distance at most 2^-128. */
static pool_status draw_scalar(struct groth16_prover *prover, uint8_t *scalar)
{
    uint8_t bytes[2 * POOL_FIELD_MAX_BYTES];
    size_t count = 2 * prover->width;
    pool_status status;

    if (!(prover->job->random ? prover->job->random : system_random)(bytes, count)) {
        groth16_refuse(prover, "the system provides no random numbers");
        return POOL_ERR_IO;
    }
    status = pool_field_reduce_bytes(
        prover->field, count, POOL_LITTLE_ENDIAN, bytes, 1, POOL_FORM_STANDARD, scalar);
    explicit_bzero(bytes, sizeof(bytes));
    return status;
}

struct proof {
    uint8_t a[MAX_POINT], b[MAX_POINT], c[MAX_POINT];
};

/* Computes the terms of a, b and c that do not depend on blinding, and sum B_i w_i in G1. */
static pool_status compute_sums(
    struct groth16_prover *prover, struct beside *beside, struct proof *proof, uint8_t *b1)
{
    pool_span signals, private_signals, quotient;
    uint8_t h[MAX_POINT];
    pool_status status = upload_witness(prover);

    if (!status)
        status = signals_from(prover, 0, &signals);
    if (!status)
        status = signals_from(prover, prover->key.public_signals + 1, &private_signals);
    if (status)
        return status;
    begin_step(prover, "quotient");
    begin_beside(beside, &signals);
    status = groth16_compute_quotient(prover, &quotient);
    if (!status)
        status = report_msm(prover, MSM_H, &quotient, h);
    if (!status)
        status = report_msm(prover, MSM_A, &signals, proof->a);
    if (!status)
        status = report_msm(prover, MSM_B1, &signals, b1);
    if (!status)
        status = report_msm(prover, MSM_C, &private_signals, proof->c);
    if (!status)
        status = end_beside(prover, beside, proof->b);
    return status ? status : pool_point_add(prover->key.curves[0], NULL, proof->c, h, proof->c);
}

/*
 * a = alpha + sum A_i w_i + r delta, b = beta + sum B_i w_i + s delta, and
 * c = sum C_i w_i + sum H_i q_i + s a + r b - r s delta, with b in G1. The blinding factors r and s
 * are processed by host arithmetic that is not constant-time.
 */
static pool_status blind_proof(struct groth16_prover *prover, struct proof *proof, uint8_t *b1)
{
    uint8_t r[POOL_FIELD_MAX_BYTES], s[POOL_FIELD_MAX_BYTES];
    pool_status status = draw_scalar(prover, r);

    if (!status)
        status = draw_scalar(prover, s);
    if (!status)
        status = add_point(prover, "alpha1", NULL, proof->a);
    if (!status)
        status = add_point(prover, "delta1", r, proof->a);
    if (!status)
        status = add_point(prover, "beta2", NULL, proof->b);
    if (!status)
        status = add_point(prover, "delta2", s, proof->b);
    if (!status) /* without s delta, because r s delta is subtracted from c */
        status = add_point(prover, "beta1", NULL, b1);
    if (!status)
        status = add_multiple(prover, proof->a, s, proof->c);
    if (!status)
        status = add_multiple(prover, b1, r, proof->c);
    explicit_bzero(r, sizeof(r));
    explicit_bzero(s, sizeof(s));
    return status;
}

/* ---- the result ----------------------------------------------------------------------------- */

static void write_proof(const struct groth16_prover *prover, const struct proof *proof, FILE *file)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];

    fputs("{\n", file);
    snarkjs_write_point(file, "pi_a", g1, proof->a);
    snarkjs_write_point(file, "pi_b", g2, proof->b);
    snarkjs_write_point(file, "pi_c", g1, proof->c);
    fprintf(file, " \"protocol\": \"groth16\",\n \"curve\": \"%s\"\n}", snarkjs_curve_name(g1));
}

static void write_public_signals(const struct groth16_prover *prover, FILE *file)
{
    fputc('[', file);
    for (uint64_t i = 1; i <= prover->key.public_signals; i++) {
        fputs(i > 1 ? ",\n " : "\n ", file);
        snarkjs_write_element(file, prover->field,
            (const uint8_t *)prover->witness.data + i * prover->witness.stride);
    }
    fputs(prover->key.public_signals ? "\n]" : "]", file);
}

/* Formats the proof, or the public signals if `proof` is NULL. */
static pool_status format_json(
    struct groth16_prover *prover, const struct proof *proof, char **json)
{
    size_t length;
    FILE *file = open_memstream(json, &length);

    if (file && proof)
        write_proof(prover, proof, file);
    else if (file)
        write_public_signals(prover, file);
    if (file && !ferror(file) && !fclose(file))
        return POOL_OK;
    return groth16_out_of_memory(prover);
}

pool_status groth16_prove(const struct groth16_job *job, struct groth16_result *result)
{
    struct groth16_prover prover = {.job = job, .result = result, .device = job->device};
    struct beside beside = {.prover = &prover};
    pool_stream *own_stream = NULL;
    struct proof proof;
    uint8_t b1[MAX_POINT];
    pool_status status;

    *result = (struct groth16_result){0};
    status = read_files(&prover);
    if (!status && job->lease)
        status = pool_lease_device(job->lease, 0, &prover.device);
    if (!status && job->lease)
        status = pool_lease_stream(job->lease, 0, &prover.stream);
    if (!status && !job->lease) {
        status = pool_stream_create(prover.device, NULL, &own_stream);
        prover.stream = own_stream;
    }
    if (!status)
        status = compute_sums(&prover, &beside, &proof, b1);
    if (!status)
        status = blind_proof(&prover, &proof, b1);
    if (!status)
        status = format_json(&prover, &proof, &result->proof);
    if (!status)
        status = format_json(&prover, NULL, &result->public_signals);
    if (status) {
        free(result->proof);
        result->proof = NULL;
    }
    leave_beside(&beside);
    pool_buffer_destroy(&prover.rows);
    pool_buffer_destroy(&prover.signals);
    pool_stream_destroy(&own_stream);
    return status;
}

void groth16_result_free(struct groth16_result *result)
{
    free(result->proof);
    free(result->public_signals);
    result->proof = result->public_signals = NULL;
}
