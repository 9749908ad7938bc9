/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover: the files, the blinding, and the proof from the sums that groth16_lanes.c computes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "groth16_prover.h"
#include "snarkjs_json.h"

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

pool_status groth16_get_section(
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
    pool_status status = groth16_get_section(prover, name, &section);

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
    uint8_t multiple[GROTH16_MAX_POINT];
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
    uint8_t a[GROTH16_MAX_POINT], b[GROTH16_MAX_POINT], b1[GROTH16_MAX_POINT];
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

static pool_status check_witness(const struct groth16_prover *prover)
{
    return pool_field_check(prover->field, prover->witness.data, prover->witness.count, NULL);
}

/* What the host does while the devices work. */
static pool_status prepare_on_host(struct groth16_prover *prover, void *blinding)
{
    pool_status status = check_witness(prover);

    return status ? status : draw_blinding(prover, blinding);
}

/* ---- the proof ------------------------------------------------------------------------------ */

struct proof {
    uint8_t a[GROTH16_MAX_POINT], b[GROTH16_MAX_POINT], c[GROTH16_MAX_POINT];
};

/* sum += scalar * point in G1. */
static pool_status add_multiple(
    const struct groth16_prover *prover, const uint8_t *point, const uint8_t *scalar, uint8_t *sum)
{
    const pool_curve *g1 = prover->key.curves[0];
    uint8_t product[GROTH16_MAX_POINT];
    pool_status status = pool_point_mul(g1, NULL, point, scalar, prover->width, product);

    return status ? status : pool_point_add(g1, NULL, sum, product, sum);
}

/*
 * a = alpha + sum A_i w_i + r delta, b = beta + sum B_i w_i + s delta, and
 * c = sum C_i w_i + sum H_i q_i + s a + r b - r s delta, with b in G1: here without s delta,
 * because r s delta is subtracted from c.
 */
static pool_status make_proof(const struct groth16_prover *prover, const struct blinding *blinding,
    uint8_t (*sums)[GROTH16_MAX_POINT], struct proof *proof)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];
    uint8_t b1[GROTH16_MAX_POINT];
    pool_status status = pool_point_add(g1, NULL, sums[GROTH16_A], blinding->a, proof->a);

    if (!status)
        status = pool_point_add(g2, NULL, sums[GROTH16_B2], blinding->b, proof->b);
    if (!status)
        status = pool_point_add(g1, NULL, sums[GROTH16_B1], blinding->b1, b1);
    if (!status)
        status = pool_point_add(g1, NULL, sums[GROTH16_C], sums[GROTH16_H], proof->c);
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
    fputs("\n]", file);
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
    uint8_t sums[GROTH16_MSMS][GROTH16_MAX_POINT];
    struct blinding blinding = {0};
    struct proof proof;
    pool_status status;

    *result = (struct groth16_result){0};
    if (job->device_count > 1)
        prover.device_count =
            job->device_count < GROTH16_DEVICES ? job->device_count : GROTH16_DEVICES;
    status = read_files(&prover);
    if (!status)
        status = groth16_compute_sums(&prover, prepare_on_host, &blinding, sums);
    if (!status)
        status = make_proof(&prover, &blinding, sums, &proof);
    if (!status)
        status = format_json(&prover, &proof, &result->proof);
    if (!status)
        status = format_json(&prover, NULL, &result->public_signals);
    if (status) {
        free(result->proof);
        result->proof = NULL;
    }
    explicit_bzero(&blinding, sizeof(blinding));
    return status;
}

void groth16_result_free(struct groth16_result *result)
{
    free(result->proof);
    free(result->public_signals);
    result->proof = result->public_signals = NULL;
}
