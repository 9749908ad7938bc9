/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Groth16 prover: from snarkjs' key and a witness to a proof that snarkjs verifies. Points of the
 * key are read where they lie in the mapped file; the quotient never leaves the device. Any pairing
 * that the key's header names will do.
 *
 *   groth16 KEY.zkey WITNESS.wtns PROOF.json PUBLIC.json [DEVICES]
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "snarkjs_json.h"

#define MAX_POINT (4 * POOL_FIELD_MAX_BYTES)

struct prover {
    pool_file *key_file;
    pool_file *witness_file;
    pool_file_info key;
    pool_span witness;       /* standard form; the first one is 1, then the public signals */
    const pool_field *field; /* of the circuit */
    size_t width;            /* bytes of its elements */
    device_pool *pool;
    pool_device *device;
    pool_stream *stream;
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void refuse(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *must_have(void *memory)
{
    if (!memory)
        refuse("out of memory");
    return memory;
}

static pool_file_section section_of(const struct prover *prover, const char *name)
{
    pool_file_section section = {.struct_size = sizeof(section)};

    must(pool_file_get_section(prover->key_file, name, &section));
    return section;
}

/* Items [first, first + count) of a span. */
static pool_span part(const pool_span *span, uint64_t first, uint64_t count, uint64_t item_bytes)
{
    pool_span some = *span;

    some.data = (uint8_t *)span->data + first * (span->stride ? span->stride : item_bytes);
    some.count = count;
    return some;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void open_files(struct prover *prover, const char *key_path, const char *witness_path)
{
    const pool_file_params key = {.struct_size = sizeof(key), .kind = POOL_FILE_ZKEY};
    const pool_file_params witness = {.struct_size = sizeof(witness), .kind = POOL_FILE_WTNS};
    pool_file_section values = {.struct_size = sizeof(values)};

    must(pool_file_open(key_path, &key, &prover->key_file));
    must(pool_file_open(witness_path, &witness, &prover->witness_file));
    must(pool_file_get_section(prover->witness_file, "values", &values));
    prover->key.struct_size = sizeof(prover->key);
    must(pool_file_get_info(prover->key_file, &prover->key));
    prover->field = prover->key.field;
    prover->width = pool_field_element_bytes(prover->field);
    prover->witness = values.span;
    if (values.field != prover->field)
        refuse("the witness is over another field than the key");
    if (values.span.count != prover->key.variables)
        refuse("the witness has another number of values than the key has variables");
    must(pool_field_check(prover->field, values.span.data, values.span.count, NULL));
}

/* ---- the quotient --------------------------------------------------------------------------- */

/* What every call here has in common. */
static pool_vector_params vector_params(const struct prover *prover)
{
    pool_vector_params params = {.struct_size = sizeof(params),
        .field = prover->field,
        .device = prover->device,
        .stream = prover->stream};

    return params;
}

static uint32_t read32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* sum += summand modulo the modulus, all of `limbs` 64-bit limbs. */
static void add_modulo(
    uint64_t *sum, const uint64_t *summand, const uint64_t *modulus, size_t limbs)
{
    uint64_t reduced[POOL_FIELD_MAX_BYTES / 8];
    unsigned carry = 0, borrow = 0;

    for (size_t i = 0; i < limbs; i++) {
        uint64_t one = sum[i] + summand[i], all = one + carry;

        carry = (one < sum[i]) | (all < one);
        sum[i] = all;
    }
    for (size_t i = 0; i < limbs; i++) {
        uint64_t one = sum[i] - modulus[i];

        reduced[i] = one - borrow;
        borrow = (sum[i] < modulus[i]) | (one < borrow);
    }
    if (carry || !borrow)
        memcpy(sum, reduced, limbs * sizeof(*sum));
}

/*
 * Each entry of the matrices times its signal. An entry v lies in the file as v R^2, which, read as
 * Montgomery form, is v R: the products, written as integers, are Montgomery forms of v times
 * signal.
 */
static uint8_t *multiply_entries(const struct prover *prover, const pool_file_section *entries)
{
    const pool_vector_params params = vector_params(prover);
    uint64_t count = entries->span.count;
    uint8_t *products = must_have(calloc(count + 1, prover->width));
    pool_span signals = {.data = products, .count = count};
    pool_span values = entries->span;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t signal = read32((const uint8_t *)values.data + i * values.stride + 8);

        if (signal >= prover->witness.count)
            refuse("the key has an entry for a signal that is none");
        memcpy(products + i * prover->width,
            (const uint8_t *)prover->witness.data + signal * prover->witness.stride, prover->width);
    }
    values.data = (uint8_t *)values.data + POOL_FILE_COEFFICIENT_ELEMENT;
    must(pool_vector_mul(&params, &values, &signals, &signals));
    return products;
}

/* The vectors A w and B w, one after the other, and room for a third; in Montgomery form. */
static uint64_t *multiply_matrices(const struct prover *prover)
{
    pool_file_section entries = section_of(prover, "coefficients");
    uint64_t n = prover->key.domain_size, modulus[POOL_FIELD_MAX_BYTES / 8];
    size_t limbs = prover->width / 8;
    uint64_t *rows = must_have(calloc(3 * n, prover->width));
    uint8_t *products = multiply_entries(prover, &entries);

    must(pool_field_modulus(prover->field, modulus));
    for (uint64_t i = 0; i < entries.span.count; i++) {
        const uint8_t *entry = (const uint8_t *)entries.span.data + i * entries.span.stride;
        uint64_t matrix = read32(entry), constraint = read32(entry + 4);
        uint64_t product[POOL_FIELD_MAX_BYTES / 8];

        if (matrix > 1 || constraint >= n)
            refuse("the key has an entry outside its matrices");
        memcpy(product, products + i * prover->width, prover->width);
        add_modulo(rows + (matrix * n + constraint) * limbs, product, modulus, limbs);
    }
    free(products);
    return rows;
}

/*
 * The domain of snarkjs' transforms, and the coset of the places between its own: w with w^2 the
 * domain's root.
 */
static pool_ntt_domain *make_domain(const struct prover *prover)
{
    const char *convention = "snarkjs";
    uint8_t root[POOL_FIELD_MAX_BYTES];
    char text[2 * POOL_FIELD_MAX_BYTES + 3] = "0x";
    uint32_t log_size = 0;
    pool_ntt_domain *domain;

    while (UINT64_C(1) << log_size < prover->key.domain_size)
        log_size++;
    if (pool_field_root_of_unity(prover->field, convention, 0, POOL_FORM_STANDARD, root))
        convention = NULL; /* where it does not differ from the field's own it has no name */
    must(pool_field_root_of_unity(
        prover->field, convention, log_size + 1, POOL_FORM_STANDARD, root));
    for (size_t i = 0; i < prover->width; i++)
        sprintf(text + 2 + 2 * i, "%02x", root[prover->width - 1 - i]);
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = prover->field,
        .log_size = log_size,
        .convention = convention,
        .coset = text};
    must(pool_ntt_domain_create(&params, &domain));
    return domain;
}

/* From values on the domain to values on the coset, three vectors at once. */
static void move_to_coset(
    const struct prover *prover, pool_ntt_domain *domain, const pool_span *rows)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .domain = domain,
        .batch = 3,
        .device = prover->device,
        .stream = prover->stream};
    pool_span out = *rows;

    params.direction = POOL_NTT_INVERSE;
    params.order = POOL_NTT_NR;
    must(pool_ntt(&params, rows, &out));
    params.direction = POOL_NTT_FORWARD;
    params.order = POOL_NTT_RN;
    params.coset = 1;
    must(pool_ntt(&params, rows, &out));
}

/*
 * Values of A w * B w - C w on the coset, in device memory. On the domain they are 0, so that these
 * are all that is needed; the key's points H are the Lagrange basis for them.
 */
static pool_span compute_quotient(const struct prover *prover, pool_buffer **buffer)
{
    const pool_vector_params params = vector_params(prover);
    uint64_t n = prover->key.domain_size;
    uint64_t *host_rows = multiply_matrices(prover);
    pool_ntt_domain *domain = make_domain(prover);
    pool_span rows = {.count = 3 * n, .form = POOL_FORM_MONTGOMERY, .place = POOL_PLACE_DEVICE};
    CUdeviceptr address;

    must(pool_buffer_from_host(prover->device, host_rows, 3 * n * prover->width, buffer));
    must(pool_buffer_address(*buffer, &address));
    rows.data = (void *)(uintptr_t)address;
    pool_span a = part(&rows, 0, n, prover->width), b = part(&rows, n, n, prover->width);
    pool_span c = part(&rows, 2 * n, n, prover->width);
    must(pool_vector_mul(&params, &a, &b, &c)); /* a witness that satisfies: A w * B w = C w */
    move_to_coset(prover, domain, &rows);
    must(pool_vector_mul(&params, &a, &b, &a));
    must(pool_vector_sub(&params, &a, &c, &a));
    must(pool_ntt_domain_destroy(&domain));
    free(host_rows);
    return a;
}

/* ---- the proof ------------------------------------------------------------------------------ */

/* Sum of the section's points times the scalars; a packed affine point in standard form. */
static void sum_up(
    const struct prover *prover, const char *name, const pool_span *scalars, uint8_t sum[MAX_POINT])
{
    const pool_file_section points = section_of(prover, name);
    const pool_msm_params params = {.struct_size = sizeof(params),
        .curve = points.curve,
        .device = prover->device,
        .stream = prover->stream,
        .point_layout = points.layout};
    pool_span result = {.data = sum, .count = 1};

    must(pool_msm(&params, &points.span, scalars, &result));
}

/* sum += scalar times the section's only point, or that point itself when scalar is NULL. */
static void add_point(
    const struct prover *prover, const char *name, const uint8_t *scalar, uint8_t sum[MAX_POINT])
{
    const pool_file_section section = section_of(prover, name);
    const pool_point_format format = {section.layout, section.span.form, section.span.stride};
    uint8_t point[MAX_POINT];

    must(pool_points_convert(
        section.curve, section.span.data, &format, 1, POOL_CHECK_ON_CURVE, point, NULL));
    if (scalar)
        must(pool_point_mul(section.curve, NULL, point, scalar, prover->width, point));
    must(pool_point_add(section.curve, NULL, sum, point, sum));
}

/* sum += scalar * point, both of G1. */
static void add_multiple(const struct prover *prover, const uint8_t *point, const uint8_t *scalar,
    uint8_t sum[MAX_POINT])
{
    uint8_t product[MAX_POINT];

    must(pool_point_mul(prover->key.curves[0], NULL, point, scalar, prover->width, product));
    must(pool_point_add(prover->key.curves[0], NULL, sum, product, sum));
}

/* A uniform scalar: numbers of as many bits as the modulus until one is below it. */
static void draw_scalar(const struct prover *prover, uint8_t scalar[POOL_FIELD_MAX_BYTES])
{
    size_t spare = 8 * prover->width - pool_field_bits(prover->field);

    do {
        if (getrandom(scalar, prover->width, 0) != (ssize_t)prover->width)
            refuse("the system has no random numbers");
        scalar[prover->width - 1] &= (uint8_t)(0xff >> spare);
    } while (pool_field_check(prover->field, scalar, 1, NULL));
}

struct proof {
    uint8_t a[MAX_POINT], b[MAX_POINT], c[MAX_POINT];
};

/*
 * a = alpha + sum A_i w_i + r delta, b = beta + sum B_i w_i + s delta, and
 * c = sum C_i w_i + sum H_i q_i + s a + r b - r s delta, b now in G1. The blinding numbers r and s
 * go through host arithmetic whose time depends on them.
 */
static void prove(const struct prover *prover, struct proof *proof)
{
    const pool_curve *g1 = prover->key.curves[0];
    uint64_t first_private = prover->key.public_signals + 1;
    pool_span private_signals =
        part(&prover->witness, first_private, prover->witness.count - first_private, prover->width);
    uint8_t r[POOL_FIELD_MAX_BYTES], s[POOL_FIELD_MAX_BYTES], h[MAX_POINT], b1[MAX_POINT];
    pool_buffer *rows;
    pool_span quotient = compute_quotient(prover, &rows);

    sum_up(prover, "A", &prover->witness, proof->a);
    sum_up(prover, "B1", &prover->witness, b1);
    sum_up(prover, "B2", &prover->witness, proof->b);
    sum_up(prover, "C", &private_signals, proof->c);
    sum_up(prover, "H", &quotient, h);
    must(pool_buffer_free(&rows));
    draw_scalar(prover, r);
    draw_scalar(prover, s);
    add_point(prover, "alpha1", NULL, proof->a);
    add_point(prover, "delta1", r, proof->a);
    add_point(prover, "beta2", NULL, proof->b);
    add_point(prover, "delta2", s, proof->b);
    add_point(prover, "beta1", NULL, b1); /* without s delta, which - r s delta takes away again */
    must(pool_point_add(g1, NULL, proof->c, h, proof->c));
    add_multiple(prover, proof->a, s, proof->c);
    add_multiple(prover, b1, r, proof->c);
}

/* ---- the answers ---------------------------------------------------------------------------- */

static void write_proof(const struct prover *prover, const struct proof *proof, FILE *file)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];
    const char *name = pool_curve_name(g1);

    fprintf(file, "{\n");
    write_point(file, "pi_a", g1, proof->a);
    write_point(file, "pi_b", g2, proof->b);
    write_point(file, "pi_c", g1, proof->c);
    fprintf(file, " \"protocol\": \"groth16\",\n \"curve\": \"%s\"\n}\n",
        !strcmp(name, "bn254_g1")       ? "bn128"
        : !strcmp(name, "bls12_381_g1") ? "bls12381"
                                        : name);
}

static void write_public(const struct prover *prover, const struct proof *proof, FILE *file)
{
    (void)proof;
    fprintf(file, "[");
    for (uint64_t i = 1; i <= prover->key.public_signals; i++) {
        fprintf(file, "%s\n ", i > 1 ? "," : "");
        write_number(file, (const uint8_t *)prover->witness.data + i * prover->witness.stride,
            prover->width);
    }
    fprintf(file, "\n]\n");
}

static void write_file(const struct prover *prover, const struct proof *proof, const char *path,
    void (*write)(const struct prover *, const struct proof *, FILE *))
{
    FILE *file = fopen(path, "w");

    if (file)
        write(prover, proof, file);
    if (!file || ferror(file) | fclose(file)) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    pool_params params = {.struct_size = sizeof(params)};
    struct prover prover = {0};
    struct proof proof;

    if (count != 5 && count != 6) {
        fprintf(stderr, "usage: %s KEY WITNESS PROOF PUBLIC [DEVICES]\n", arguments[0]);
        return 2;
    }
    params.devices = count == 6 ? arguments[5] : NULL;
    open_files(&prover, arguments[1], arguments[2]);
    must(pool_create(&prover.pool, &params));
    must(pool_next_device(prover.pool, &prover.device));
    must(pool_stream_create(prover.device, NULL, &prover.stream));
    prove(&prover, &proof);
    write_file(&prover, &proof, arguments[3], write_proof);
    write_file(&prover, &proof, arguments[4], write_public);
    printf("%s over %s: %llu variables, domain of %llu\n", arguments[3],
        pool_curve_name(prover.key.curves[0]), (unsigned long long)prover.key.variables,
        (unsigned long long)prover.key.domain_size);
    must(pool_stream_destroy(&prover.stream));
    must(pool_destroy(&prover.pool));
    pool_file_close(&prover.witness_file);
    pool_file_close(&prover.key_file);
    return 0;
}
