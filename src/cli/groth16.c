/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover. It reads the points of the key from the memory-mapped file, or uses those that are
 * resident; the witness is copied once to each device, and everything up to the sums of points
 * stays there. The MSM in G2 runs beside all other steps; more devices take more of the MSMs.
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
    if (prover->job->progress && !prover->is_beside)
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
    return POOL_OK;
}

/* ---- blinding ------------------------------------------------------------------------------- */

/* The key's only point P of a section, or scalar * P. */
static pool_status key_point(
    struct groth16_prover *prover, const char *name, const uint8_t *scalar, uint8_t *point)
{
    pool_file_section section;
    pool_status status = get_section(prover, name, &section);

    if (status)
        return status;
    const pool_point_format format = {section.layout, section.span.form, section.span.stride};
    status = pool_points_convert(
        section.curve, &format, section.span.data, 1, POOL_CHECK_ON_CURVE, NULL, point);
    return status || !scalar
               ? status
               : pool_point_mul(section.curve, NULL, point, scalar, prover->width, point);
}

/* term + scalar * point. */
static pool_status blinded_term(struct groth16_prover *prover, const pool_curve *curve,
    const char *term, const char *point, const uint8_t *scalar, uint8_t *sum)
{
    uint8_t multiple[MAX_POINT];
    pool_status status = key_point(prover, term, NULL, sum);

    if (!status)
        status = key_point(prover, point, scalar, multiple);
    return status ? status : pool_point_add(curve, NULL, sum, multiple, sum);
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

/* Random r and s, and what the proof needs of them beside the sums: alpha + r delta,
 * beta + s delta and beta. The host arithmetic on them is not constant-time. */
struct blinding {
    uint8_t r[POOL_FIELD_MAX_BYTES], s[POOL_FIELD_MAX_BYTES];
    uint8_t a[MAX_POINT], b[MAX_POINT], b1[MAX_POINT];
};

static pool_status draw_blinding(struct groth16_prover *prover, struct blinding *blinding)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];
    pool_status status = draw_scalar(prover, blinding->r);

    if (!status)
        status = draw_scalar(prover, blinding->s);
    if (!status)
        status = blinded_term(prover, g1, "alpha1", "delta1", blinding->r, blinding->a);
    if (!status)
        status = blinded_term(prover, g2, "beta2", "delta2", blinding->s, blinding->b);
    return status ? status : key_point(prover, "beta1", NULL, blinding->b1);
}

/* ---- the sums of points ---------------------------------------------------------------------- */

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

/* The scalars of an MSM but H, on the device: the witness, of which C has the private signals. */
static pool_status scalars_of(
    const struct groth16_prover *prover, enum msm which, pool_span *scalars)
{
    uint64_t first = which == MSM_C ? prover->key.public_signals + 1 : 0;
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(prover->signals, &address);

    *scalars = (pool_span){.data = (void *)(uintptr_t)(address + first * prover->width),
        .count = prover->witness.count - first,
        .space = POOL_MEMORY_DEVICE};
    return status;
}

/* The MSM over a section's points; the result is a packed affine point in standard form. */
static pool_status section_msm(
    struct groth16_prover *prover, enum msm which, const pool_span *scalars, void *sum)
{
    const struct groth16_residents *residents = prover->job->residents;
    pool_exec exec = groth16_exec(prover);
    pool_file_section points;
    pool_span result = {.data = sum, .count = 1};
    pool_resident_use *use = NULL;
    pool_status status = get_section(prover, groth16_sections[which], &points);

    if (status)
        return status;
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points.curve, .point_layout = points.layout};
    exec.checks = prover->job->is_trusted ? POOL_CHECK_NONE : POOL_CHECK_ON_CURVE;
    begin_step(prover, groth16_sections[which]);
    exec.progress = prover->is_beside ? NULL : on_progress;
    exec.user = prover;
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

/*
 * The MSMs are dealt to lanes: a stream each, and a thread, where lane 0 is the caller's and also
 * computes the quotient. An MSM in G2 takes about as long as three in G1.
 */
enum { LANES = 4 };
#define TAKES(msm) (1u << MSM_##msm)
static const struct share {
    uint32_t device; /* its number among those of the job */
    uint32_t msms;
} shares[GROTH16_DEVICES][LANES] = {
    {{0, TAKES(H) | TAKES(A) | TAKES(B1) | TAKES(C)}, {0, TAKES(B2)}},
    {{0, TAKES(H) | TAKES(A) | TAKES(B1)}, {1, TAKES(B2) | TAKES(C)}},
    {{0, TAKES(H) | TAKES(A)}, {1, TAKES(B2)}, {2, TAKES(B1) | TAKES(C)}},
    {{0, TAKES(H)}, {1, TAKES(B2)}, {2, TAKES(A) | TAKES(B1)}, {3, TAKES(C)}},
};

struct lane {
    struct groth16_prover prover; /* with the lane's device, stream and witness */
    uint32_t msms;
    uint8_t (*sums)[MAX_POINT]; /* of all lanes */
    pool_stream *own_stream;
    pool_buffer *own_signals; /* NULL: those of lane 0 */
    pthread_t thread;
    int is_running;
    pool_status status;
    char failure[512];
};

struct lanes {
    struct lane lane[LANES];
    struct blinding blinding;
    uint8_t sums[GROTH16_MSMS][MAX_POINT];
};

/* All MSMs of a lane over the witness. */
static pool_status compute_sums(
    struct groth16_prover *prover, uint32_t msms, uint8_t (*sums)[MAX_POINT])
{
    pool_status status = POOL_OK;

    for (int i = 0; i < GROTH16_MSMS && !status; i++) {
        pool_span scalars;

        if (i == MSM_H || !(msms >> i & 1))
            continue;
        status = scalars_of(prover, (enum msm)i, &scalars);
        if (!status)
            status = section_msm(prover, (enum msm)i, &scalars, sums[i]);
    }
    return status;
}

static void *run_lane(void *argument)
{
    struct lane *lane = argument;
    pool_status status = POOL_OK;

    if (!lane->prover.signals) {
        status = upload_witness(&lane->prover);
        lane->own_signals = lane->prover.signals;
    }
    if (!status)
        status = compute_sums(&lane->prover, lane->msms, lane->sums);
    lane->status = status;
    if (status)
        snprintf(lane->failure, sizeof(lane->failure), "%s", pool_last_error()->message);
    return NULL;
}

/* The device of a lane, and its stream: the lease's where it has that device for itself. */
static pool_status open_lane(struct lane *lane, uint32_t device, int shares_device)
{
    const struct groth16_job *job = lane->prover.job;
    pool_status status = POOL_OK;

    if (job->lease)
        status = pool_lease_device(job->lease, device, &lane->prover.device);
    else
        lane->prover.device = job->device_count ? job->devices[device] : job->device;
    if (!status && job->lease && !shares_device)
        return pool_lease_stream(job->lease, device, &lane->prover.stream);
    if (!status)
        status = pool_stream_create(lane->prover.device, NULL, &lane->own_stream);
    lane->prover.stream = lane->own_stream;
    return status;
}

/* Opens the lanes and copies the witness for lane 0. */
static pool_status open_lanes(const struct groth16_prover *prover, struct lanes *lanes)
{
    const struct share *share = shares[prover->device_count - 1];
    struct lane *first = &lanes->lane[0];
    pool_status status = POOL_OK;

    for (int i = 0; i < LANES && share[i].msms && !status; i++) {
        struct lane *lane = &lanes->lane[i];

        lane->prover = *prover;
        lane->prover.is_beside = i > 0;
        lane->msms = share[i].msms;
        lane->sums = lanes->sums;
        status = open_lane(lane, share[i].device, i > 0 && !share[i].device);
        if (!status && i == 0) {
            status = upload_witness(&lane->prover);
            lane->own_signals = lane->prover.signals;
        }
        if (!status && i > 0 && !share[i].device) { /* behind that copy */
            lane->prover.signals = first->prover.signals;
            status = pool_stream_fork(first->prover.stream, &lane->prover.stream, 1);
        }
    }
    return status;
}

static void start_lanes(struct lanes *lanes)
{
    for (int i = 1; i < LANES; i++) {
        struct lane *lane = &lanes->lane[i];

        lane->is_running = lane->msms && !pthread_create(&lane->thread, NULL, run_lane, lane);
    }
}

/* Waits for a lane. Where there was not enough memory for it beside the others, or no thread, its
 * sums are computed now. */
static pool_status end_lane(struct lane *first, struct lane *lane)
{
    int has_run = lane->is_running;

    for (int i = 0; has_run && i < GROTH16_MSMS; i++)
        if (lane->msms >> i & 1)
            begin_step(&first->prover, groth16_sections[i]);
    if (has_run)
        pthread_join(lane->thread, NULL);
    lane->is_running = 0;
    if (!has_run || lane->status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
        return compute_sums(&first->prover, lane->msms, lane->sums);
    return lane->status ? pool_error_set(lane->status, lane->failure) : POOL_OK;
}

static pool_status check_witness(const struct groth16_prover *prover)
{
    return pool_field_check(prover->field, prover->witness.data, prover->witness.count, NULL);
}

/* Computes the quotient and all sums; the host checks and draws while the devices work. */
static pool_status run_lanes(struct lanes *lanes)
{
    struct lane *first = &lanes->lane[0];
    pool_span quotient;
    pool_status status;

    begin_step(&first->prover, "quotient");
    start_lanes(lanes);
    status = groth16_compute_quotient(&first->prover, &quotient);
    if (!status)
        status = check_witness(&first->prover);
    if (!status)
        status = draw_blinding(&first->prover, &lanes->blinding);
    if (!status)
        status = section_msm(&first->prover, MSM_H, &quotient, lanes->sums[MSM_H]);
    if (!status)
        status = compute_sums(&first->prover, first->msms, lanes->sums);
    for (int i = 1; i < LANES && lanes->lane[i].msms && !status; i++)
        status = end_lane(first, &lanes->lane[i]);
    return status;
}

static void close_lanes(struct lanes *lanes)
{
    explicit_bzero(&lanes->blinding, sizeof(lanes->blinding));
    for (int i = LANES; i-- > 0;) {
        struct lane *lane = &lanes->lane[i];

        if (lane->is_running)
            pthread_join(lane->thread, NULL);
        pool_buffer_destroy(&lane->prover.rows);
        pool_buffer_destroy(&lane->own_signals);
        pool_stream_destroy(&lane->own_stream);
    }
}

/* ---- the proof ------------------------------------------------------------------------------ */

struct proof {
    uint8_t a[MAX_POINT], b[MAX_POINT], c[MAX_POINT];
};

/* sum += scalar * point in G1. */
static pool_status add_multiple(
    const struct groth16_prover *prover, const uint8_t *point, const uint8_t *scalar, uint8_t *sum)
{
    const pool_curve *g1 = prover->key.curves[0];
    uint8_t product[MAX_POINT];
    pool_status status = pool_point_mul(g1, NULL, point, scalar, prover->width, product);

    return status ? status : pool_point_add(g1, NULL, sum, product, sum);
}

/*
 * a = alpha + sum A_i w_i + r delta, b = beta + sum B_i w_i + s delta, and
 * c = sum C_i w_i + sum H_i q_i + s a + r b - r s delta, with b in G1: here without s delta,
 * because r s delta is subtracted from c.
 */
static pool_status make_proof(
    const struct groth16_prover *prover, struct lanes *lanes, struct proof *proof)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];
    const struct blinding *blinding = &lanes->blinding;
    uint8_t b1[MAX_POINT];
    pool_status status = pool_point_add(g1, NULL, lanes->sums[MSM_A], blinding->a, proof->a);

    if (!status)
        status = pool_point_add(g2, NULL, lanes->sums[MSM_B2], blinding->b, proof->b);
    if (!status)
        status = pool_point_add(g1, NULL, lanes->sums[MSM_B1], blinding->b1, b1);
    if (!status)
        status = pool_point_add(g1, NULL, lanes->sums[MSM_C], lanes->sums[MSM_H], proof->c);
    if (!status)
        status = add_multiple(prover, proof->a, blinding->s, proof->c);
    return status ? status : add_multiple(prover, b1, blinding->r, proof->c);
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
    struct groth16_prover prover = {.job = job, .result = result, .device_count = 1};
    struct lanes lanes = {0};
    struct proof proof;
    pool_status status;

    *result = (struct groth16_result){0};
    if (job->device_count > 1)
        prover.device_count =
            job->device_count < GROTH16_DEVICES ? job->device_count : GROTH16_DEVICES;
    status = read_files(&prover);
    if (!status)
        status = open_lanes(&prover, &lanes);
    if (!status)
        status = run_lanes(&lanes);
    if (!status)
        status = make_proof(&prover, &lanes, &proof);
    if (!status)
        status = format_json(&prover, &proof, &result->proof);
    if (!status)
        status = format_json(&prover, NULL, &result->public_signals);
    if (status) {
        free(result->proof);
        result->proof = NULL;
    }
    close_lanes(&lanes);
    return status;
}

void groth16_result_free(struct groth16_result *result)
{
    free(result->proof);
    free(result->public_signals);
    result->proof = result->public_signals = NULL;
}
