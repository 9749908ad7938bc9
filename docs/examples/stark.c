/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STARK of the Fibonacci sequence: two columns a, b over BabyBear with a' = b and b' = a + b,
 * from a = b = 1. The proof says which b is in the last row. It is written as JSON and verified by
 * tests/stark/verify.py, which shares no code with this library.
 *
 *   stark [DEVICES] [LOG_ROWS] [FILE]      default: 2^20 rows, 2^5 on simulated devices;
 *                                       proof.json
 *
 * With N rows, the trace domain of w, and L = 4 N points x = g w_L^i in bit-reversed order:
 *
 *   1. The columns are extended to the L points and committed to (pool_extend_commit).
 *   2. With Z = x^N - 1, a kernel computes
 *        q = alpha^0 (a(w x) - b) (x - w^-1) / Z + alpha^1 (b(w x) - a - b) (x - w^-1) / Z
 *          + alpha^2 (a - 1) / (x - 1) + alpha^3 (b - 1) / (x - 1)
 *          + alpha^4 (b - result) / (x - w^-1),
 *      which is committed to.
 *   3. a, b and q are evaluated at z, a and b at w z (pool_matrix_evaluate).
 *   4. The DEEP quotient (Ben-Sasson and others, "DEEP-FRI", 2019), whose values are those of a
 *      polynomial of degree below N only if all of these evaluations are right,
 *        d = gamma^0 (a - a(z)) / (x - z) + gamma^1 (b - b(z)) / (x - z)
 *          + gamma^2 (q - q(z)) / (x - z)
 *          + gamma^3 (a - a(w z)) / (x - w z) + gamma^4 (b - b(w z)) / (x - w z)
 *      is computed by a kernel and folded by 8, at last by less, to 4 equal values
 *      (pool_fri_fold_commit).
 *   5. Rows at QUERIES positions are opened.
 *
 * Transcript: a state of 8 elements, at first zero. With H the sponge of the set
 * poseidon2-plonky3-babybear-t16 without padding, as rows are hashed, absorbing n elements under a
 * label replaces it by H(state, label, n, elements, zeros up to a multiple of 8), and a challenge
 * by H(state, label, 0 ... 0), of which it is the first 4 elements. 40 queries at the rate 1/4 are
 * for an example; a deployment derives its parameters from a proof of soundness.
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"

enum { WIDTH = 2, DEGREE = 4, DIGEST = 8, LOG_BLOWUP = 2, QUERIES = 40, MAX_LOG = 27 };
enum { VALUES = 5, MAX_LAYERS = 16, MAX_ABSORBED = 64, MAX_ARITY = 3 };
/* Labels of the transcript. */
enum { STATEMENT, TRACE, ALPHA, QUOTIENT, POINT, EVALUATIONS, GAMMA, LAYER, BETA, CONSTANT, QUERY };

typedef uint32_t element;
typedef element extension[DEGREE];
typedef element digest[DIGEST];

static const char source[] =
    "#include \"fe.cuh\"\n"
    "struct proof {\n"
    "    fe power[5], value[5];\n" /* powers of alpha or gamma; evaluations */
    "    fe_c first, last, result, inverse_z[4];\n"
    "};\n"
    "\n"
    "/* The position of natural index i + 4, the next row of the trace. */\n"
    "__device__ unsigned next(unsigned position, unsigned log_size)\n"
    "{\n"
    "    unsigned i = __brev(position) >> (32 - log_size);\n"
    "    return __brev((i + 4) & ((1u << log_size) - 1)) >> (32 - log_size);\n"
    "}\n"
    "\n"
    "/* out[i] = x[i] - 1 and out[size + i] = x[i] - w^-1. */\n"
    "extern \"C\" __global__ void boundaries(fe_c *out, const fe_c *x, const proof *p, unsigned "
    "size)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= size)\n"
    "        return;\n"
    "    out[i] = fe_c_sub(x[i], fe_c_one());\n"
    "    out[size + i] = fe_c_sub(x[i], p->last);\n"
    "}\n"
    "\n"
    "/* `inverse` has the inverses of boundaries. */\n"
    "extern \"C\" __global__ void compose(fe *out, const fe_c *trace, const fe_c *x,\n"
    "    const fe_c *inverse, const proof *p, unsigned size, unsigned log_size)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= size)\n"
    "        return;\n"
    "    unsigned k = next(i, log_size);\n"
    "    fe_c a = trace[i], b = trace[size + i], a_next = trace[k], b_next = trace[size + k];\n"
    "    fe_c step = fe_c_mul(fe_c_sub(x[i], p->last),\n"
    "        p->inverse_z[__brev(i) >> (32 - log_size) & 3]);\n"
    "    fe q = fe_mul_c(p->power[0], fe_c_mul(fe_c_sub(a_next, b), step));\n"
    "    fe_c sum = fe_c_mul(fe_c_sub(b_next, fe_c_add(a, b)), step);\n"
    "    q = fe_add(q, fe_mul_c(p->power[1], sum));\n"
    "    q = fe_add(q, fe_mul_c(p->power[2], fe_c_mul(fe_c_sub(a, p->first), inverse[i])));\n"
    "    q = fe_add(q, fe_mul_c(p->power[3], fe_c_mul(fe_c_sub(b, p->first), inverse[i])));\n"
    "    sum = fe_c_mul(fe_c_sub(b, p->result), inverse[size + i]);\n"
    "    out[i] = fe_add(q, fe_mul_c(p->power[4], sum));\n"
    "}\n"
    "\n"
    "/* out[i] = x[i] - z and out[size + i] = x[i] - w z; the two points are p->power. */\n"
    "extern \"C\" __global__ void distances(fe *out, const fe_c *x, const proof *p, unsigned "
    "size)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= size)\n"
    "        return;\n"
    "    out[i] = fe_sub(fe_from_c(x[i]), p->power[0]);\n"
    "    out[size + i] = fe_sub(fe_from_c(x[i]), p->power[1]);\n"
    "}\n"
    "\n"
    "/* The DEEP quotient; `inverse` has the inverses of distances. */\n"
    "extern \"C\" __global__ void deep(fe *out, const fe_c *trace, const fe *quotient,\n"
    "    const fe *inverse, const proof *p, unsigned size)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= size)\n"
    "        return;\n"
    "    fe a = fe_from_c(trace[i]), b = fe_from_c(trace[size + i]);\n"
    "    fe here = fe_mul(p->power[0], fe_sub(a, p->value[0]));\n"
    "    here = fe_add(here, fe_mul(p->power[1], fe_sub(b, p->value[1])));\n"
    "    here = fe_add(here, fe_mul(p->power[2], fe_sub(quotient[i], p->value[2])));\n"
    "    fe there = fe_mul(p->power[3], fe_sub(a, p->value[3]));\n"
    "    there = fe_add(there, fe_mul(p->power[4], fe_sub(b, p->value[4])));\n"
    "    out[i] = fe_mul_add(here, inverse[i], there, inverse[size + i]);\n"
    "}\n";

/* The kernels' struct proof, in Montgomery form. */
struct constants {
    extension power[5], value[5];
    element first, last, result, inverse_z[1 << LOG_BLOWUP];
    element padding; /* fe is aligned to 16 bytes */
};

/* A committed matrix: its rows in device memory, the digests of all levels in host memory. */
struct commitment {
    pool_matrix matrix;
    pool_buffer *buffer;
    digest *digests;
    pool_span levels;
    pool_matrix_commit_shape shape;
    uint32_t log_arity; /* of a layer */
};

struct prover {
    pool_exec exec;
    pool_device *device;
    const pool_field *base, *field;
    pool_poseidon *set;
    pool_matrix_commit_params commit;
    pool_ntt_domain *domain; /* of the L points */
    pool_module *module;
    pool_buffer *constants;
    uint32_t log_rows, log_size, rows, size;
    element result;
    digest state; /* of the transcript */
    struct commitment trace, quotient, layers[MAX_LAYERS];
    uint32_t layer_count;
    extension values[VALUES], constant;
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memory;
}

static void fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    exit(1);
}

/* ---- single elements, in standard form ------------------------------------------------------- */

static const uint32_t modulus = 0x78000001;

static element add(element a, element b)
{
    return (element)(((uint64_t)a + b) % modulus);
}

static element multiply(element a, element b)
{
    return (element)((uint64_t)a * b % modulus);
}

static element power(element base, uint64_t exponent)
{
    element result = 1;

    for (; exponent; exponent >>= 1, base = multiply(base, base))
        if (exponent & 1)
            result = multiply(result, base);
    return result;
}

static element root_of_unity(const struct prover *prover, uint32_t log_order)
{
    element root;

    must(pool_field_root_of_unity(prover->base, NULL, log_order, POOL_FORM_STANDARD, &root));
    return root;
}

/* Powers of a number of the extension, computed by the vector function. */
static void powers_of(const struct prover *prover, const extension base, extension *powers)
{
    const pool_span out = {.data = powers, .count = 5};

    must(pool_vector_powers(prover->field, &prover->exec, base, &out));
}

/* ---- transcript ------------------------------------------------------------------------------ */

static void absorb(struct prover *prover, uint32_t label, const element *elements, uint32_t count)
{
    element message[DIGEST + 2 + MAX_ABSORBED + DIGEST] = {0};
    const uint32_t length = (DIGEST + 2 + count + DIGEST - 1) / DIGEST * DIGEST;
    const pool_poseidon_sponge_params params = {
        .struct_size = sizeof(params), .elements = length, .mode = POOL_SPONGE_OVERWRITE};
    const pool_exec on_host = {.struct_size = sizeof(on_host), .on_host = 1};
    const pool_span in = {.data = message, .count = 1}, out = {.data = prover->state, .count = 1};

    memcpy(message, prover->state, sizeof(prover->state));
    message[DIGEST] = label;
    message[DIGEST + 1] = count;
    if (count)
        memcpy(message + DIGEST + 2, elements, count * sizeof(*elements));
    must(pool_poseidon_sponge(prover->set, &on_host, &params, &in, &out));
}

static void challenge(struct prover *prover, uint32_t label, extension value)
{
    absorb(prover, label, NULL, 0);
    memcpy(value, prover->state, sizeof(extension));
}

/* ---- device memory --------------------------------------------------------------------------- */

static void *address_of(pool_buffer *buffer)
{
    CUdeviceptr address;

    must(pool_buffer_address(buffer, &address));
    return (void *)(uintptr_t)address;
}

/* `count` items on the device, in the form of the kernels. */
static pool_span new_span(struct prover *prover, uint64_t count, size_t bytes, pool_buffer **buffer)
{
    must(pool_buffer_alloc(prover->device, count * bytes, buffer));
    return (pool_span){.data = address_of(*buffer),
        .count = count,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
}

static void upload_constants(struct prover *prover, const struct constants *standard)
{
    struct constants copy = *standard;

    must(pool_field_to_montgomery(prover->base, &copy, sizeof(copy) / sizeof(element), &copy));
    must(pool_copy_to_device(prover->constants, 0, &copy, sizeof(copy), NULL));
    must(pool_device_synchronize(prover->device));
}

/* Launches a kernel with one thread per point; all arguments have 8 bytes but the last two. */
static void launch(struct prover *prover, const char *name, void **pointers, uint32_t count)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_kernel *kernel;
    void *arguments[8];

    for (uint32_t i = 0; i < count; i++)
        arguments[i] = &pointers[i];
    arguments[count++] = &prover->size;
    if (strcmp(name, "compose") == 0)
        arguments[count++] = &prover->log_size;
    must(pool_kernel_get(prover->module, name, &kernel));
    must(pool_launch_shape_for(prover->size, &shape));
    shape.argument_count = count;
    must(pool_launch(kernel, &shape, arguments, NULL));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void make_levels(struct prover *prover, struct commitment *to)
{
    to->shape.struct_size = sizeof(to->shape);
    must(pool_matrix_commit_get_shape(&prover->commit, &to->matrix, 1, &to->shape));
    to->digests = allocate(to->shape.digest_count, sizeof(digest));
    to->levels = (pool_span){.data = to->digests, .count = to->shape.digest_count};
}

static const element *root_of(const struct commitment *commitment)
{
    return commitment->digests[commitment->shape.digest_count - 1];
}

static void commit_trace(struct prover *prover)
{
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .domain = prover->domain,
        .log_blowup = LOG_BLOWUP,
        .order = POOL_NTT_NR,
        .batch = WIDTH};
    element *columns = allocate((size_t)WIDTH * prover->rows, sizeof(element)), statement[6];
    element a = 1, b = 1;

    for (uint32_t i = 0; i < prover->rows; i++) {
        const element sum = add(a, b);

        columns[i] = a;
        columns[prover->rows + i] = prover->result = b;
        a = b;
        b = sum;
    }
    prover->trace.matrix = (pool_matrix){.height = prover->size, .width = WIDTH};
    make_levels(prover, &prover->trace);
    pool_extension extension = {.params = &params,
        .trace = {.data = columns, .count = (uint64_t)WIDTH * prover->rows},
        .extended = new_span(
            prover, (uint64_t)WIDTH * prover->size, sizeof(element), &prover->trace.buffer)};
    must(pool_extend_commit(&prover->commit, &prover->exec, &extension, 1, &prover->trace.levels));
    prover->trace.matrix.span = extension.extended;
    prover->trace.matrix.span.count = WIDTH;
    free(columns);
    memcpy(statement, (element[]){prover->log_rows, LOG_BLOWUP, QUERIES, 1, 1, prover->result},
        sizeof(statement));
    absorb(prover, STATEMENT, statement, 6);
    absorb(prover, TRACE, root_of(&prover->trace), DIGEST);
}

/* The L points in bit-reversed order. */
static pool_span make_points(struct prover *prover, pool_buffer **buffer)
{
    const pool_span points = new_span(prover, prover->size, sizeof(element), buffer);
    const element root = root_of_unity(prover, prover->log_size);
    element shift;

    must(pool_ntt_domain_coset(prover->domain, POOL_FORM_STANDARD, &shift));
    must(pool_vector_powers(prover->base, &prover->exec, &root, &points));
    must(pool_vector_scale(prover->base, &prover->exec, &shift, &points, &points));
    must(pool_vector_bit_reverse(prover->base, &prover->exec, &points, &points));
    return points;
}

static void commit_quotient(struct prover *prover, const pool_span *points)
{
    const element step = root_of_unity(prover, prover->log_rows);
    struct constants constants = {
        .first = 1, .last = power(step, prover->rows - 1), .result = prover->result};
    struct commitment *quotient = &prover->quotient;
    pool_buffer *inverse_buffer;
    pool_span inverses =
        new_span(prover, 2 * (uint64_t)prover->size, sizeof(element), &inverse_buffer);
    void *constant = address_of(prover->constants);
    extension alpha;
    element shift;

    must(pool_ntt_domain_coset(prover->domain, POOL_FORM_STANDARD, &shift));
    for (uint32_t i = 0; i < 1 << LOG_BLOWUP; i++) {
        const element x = multiply(shift, power(root_of_unity(prover, prover->log_size), i));

        constants.inverse_z[i] = power(add(power(x, prover->rows), modulus - 1), modulus - 2);
    }
    challenge(prover, ALPHA, alpha);
    powers_of(prover, (const element *)alpha, constants.power);
    upload_constants(prover, &constants);
    launch(prover, "boundaries", (void *[]){inverses.data, points->data, constant}, 3);
    must(pool_vector_inverse(prover->base, &prover->exec, &inverses, &inverses));
    quotient->matrix = (pool_matrix){.height = prover->size,
        .width = DEGREE,
        .layout = POOL_MATRIX_ROWS,
        .span = new_span(prover, prover->size, sizeof(extension), &quotient->buffer)};
    launch(prover, "compose",
        (void *[]){quotient->matrix.span.data, prover->trace.matrix.span.data, points->data,
            inverses.data, constant},
        5);
    make_levels(prover, quotient);
    must(pool_matrix_commit(
        &prover->commit, &prover->exec, &quotient->matrix, 1, &quotient->levels));
    must(pool_buffer_destroy(&inverse_buffer));
    absorb(prover, QUOTIENT, root_of(quotient), DIGEST);
}

/* a, b and q at z, a and b at w z. */
static void evaluate(struct prover *prover, extension points[2])
{
    const pool_matrix_evaluate_params params = {.struct_size = sizeof(params),
        .field = prover->field,
        .domain = prover->domain,
        .is_bit_reversed = 1};
    const element step = root_of_unity(prover, prover->log_rows);
    extension columns[2][WIDTH], coordinates[DEGREE];

    challenge(prover, POINT, points[0]);
    for (int i = 0; i < DEGREE; i++)
        points[1][i] = multiply(points[0][i], step);
    must(pool_matrix_evaluate(&params, &prover->exec, &prover->trace.matrix, points, 2, columns));
    must(pool_matrix_evaluate(
        &params, &prover->exec, &prover->quotient.matrix, points, 1, coordinates));
    memcpy(prover->values[0], columns[0], sizeof(columns[0]));
    memcpy(prover->values[3], columns[1], sizeof(columns[1]));
    /* q(z) is the sum of the coordinates' values times x^k, x^4 = 11. */
    for (int k = 0; k < DEGREE; k++)
        for (int i = 0; i < DEGREE; i++) {
            element *to = &prover->values[2][(i + k) % DEGREE];

            *to = add(*to, multiply(coordinates[k][i], i + k < DEGREE ? 1 : 11));
        }
    absorb(prover, EVALUATIONS, prover->values[0], VALUES * DEGREE);
}

/* The DEEP quotient, as the first layer of FRI. */
static void make_first_layer(struct prover *prover, const pool_span *points, extension at[2])
{
    struct commitment *layer = &prover->layers[0];
    struct constants constants = {0};
    pool_buffer *inverse_buffer;
    pool_span inverses =
        new_span(prover, 2 * (uint64_t)prover->size, sizeof(extension), &inverse_buffer);
    pool_span values = new_span(prover, prover->size, sizeof(extension), &layer->buffer);
    void *constant = address_of(prover->constants);
    extension gamma;
    uint32_t count;

    memcpy(constants.power, at, 2 * sizeof(extension));
    upload_constants(prover, &constants);
    launch(prover, "distances", (void *[]){inverses.data, points->data, constant}, 3);
    must(pool_vector_inverse(prover->field, &prover->exec, &inverses, &inverses));
    challenge(prover, GAMMA, gamma);
    powers_of(prover, (const element *)gamma, constants.power);
    memcpy(constants.value, prover->values, sizeof(constants.value));
    upload_constants(prover, &constants);
    launch(prover, "deep",
        (void *[]){values.data, prover->trace.matrix.span.data, prover->quotient.matrix.span.data,
            inverses.data, constant},
        5);
    must(pool_fri_layer(prover->field, &values, layer->log_arity, 1, &layer->matrix, &count));
    make_levels(prover, layer);
    must(pool_matrix_commit(&prover->commit, &prover->exec, &layer->matrix, 1, &layer->levels));
    must(pool_buffer_destroy(&inverse_buffer));
}

/* A layer's values, whose number is 2^log_count. */
static pool_span values_of(const struct commitment *layer, uint32_t log_count)
{
    pool_span values = layer->matrix.span;

    values.count = UINT64_C(1) << log_count;
    return values;
}

static uint32_t arity_of(uint32_t log_count)
{
    return log_count - LOG_BLOWUP < MAX_ARITY ? log_count - LOG_BLOWUP : MAX_ARITY;
}

static void fold_layers(struct prover *prover)
{
    uint32_t log_count = prover->log_size;
    extension last[1 << LOG_BLOWUP];

    for (;;) {
        struct commitment *layer = &prover->layers[prover->layer_count++], *next = layer + 1;
        extension beta;
        pool_fri_fold_params fold = {.struct_size = sizeof(fold),
            .field = prover->field,
            .domain = prover->domain,
            .log_folded = prover->log_size - log_count,
            .log_arity = layer->log_arity,
            .is_bit_reversed = 1,
            .challenge = beta};
        const pool_span in = values_of(layer, log_count);
        pool_span out = {.data = last, .count = 1 << LOG_BLOWUP, .form = in.form};
        uint32_t count;

        absorb(prover, LAYER, root_of(layer), DIGEST);
        challenge(prover, BETA, beta);
        log_count -= layer->log_arity;
        if (log_count == LOG_BLOWUP) {
            must(pool_fri_fold(&fold, &prover->exec, &in, &out));
            break;
        }
        next->log_arity = arity_of(log_count);
        out = new_span(prover, UINT64_C(1) << log_count, sizeof(extension), &next->buffer);
        must(pool_fri_layer(prover->field, &out, next->log_arity, 1, &next->matrix, &count));
        make_levels(prover, next);
        must(pool_fri_fold_commit(
            &fold, next->log_arity, &prover->commit, &prover->exec, &in, &out, &next->levels));
    }
    for (int i = 1; i < 1 << LOG_BLOWUP; i++)
        if (memcmp(last[0], last[i], sizeof(extension)) != 0)
            fail("the last layer is not constant");
    must(pool_field_from_montgomery(prover->field, last, 1, prover->constant));
    absorb(prover, CONSTANT, prover->constant, DEGREE);
}

/* ---- the proof ------------------------------------------------------------------------------- */

static void write_elements(FILE *file, const element *elements, uint64_t count)
{
    fprintf(file, "[");
    for (uint64_t i = 0; i < count; i++)
        fprintf(file, "%s%u", i ? ", " : "", (unsigned)elements[i]);
    fprintf(file, "]");
}

/* Opens the rows `positions` >> shift. */
static void write_openings(struct prover *prover, FILE *file, const struct commitment *from,
    const uint64_t *positions, uint32_t shift)
{
    const uint64_t width = from->shape.row_elements, height = from->shape.height;
    element *rows = allocate(QUERIES * width, sizeof(element));
    digest *paths = allocate(QUERIES * height + 1, sizeof(digest));
    const pool_span row_span = {.data = rows, .count = QUERIES};
    const pool_span path_span = {.data = paths, .count = QUERIES * height};
    uint64_t indices[QUERIES];

    for (int i = 0; i < QUERIES; i++)
        indices[i] = positions[i] >> shift;
    must(pool_matrix_open(&prover->commit, &prover->exec, &from->matrix, 1, &from->levels, indices,
        QUERIES, &row_span, &path_span));
    fprintf(file, "[");
    for (uint64_t i = 0; i < QUERIES; i++) {
        fprintf(file, "%s\n{\"row\": ", i ? "," : "");
        write_elements(file, rows + i * width, width);
        fprintf(file, ", \"path\": [");
        for (uint64_t k = 0; k < height; k++) {
            fprintf(file, "%s", k ? ", " : "");
            write_elements(file, paths[i * height + k], DIGEST);
        }
        fprintf(file, "]}");
    }
    fprintf(file, "]");
    free(rows);
    free(paths);
}

static void write_commitment(struct prover *prover, FILE *file, const struct commitment *from,
    const uint64_t *positions, uint32_t shift)
{
    fprintf(file, "{\"root\": ");
    write_elements(file, root_of(from), DIGEST);
    fprintf(file, ", \"openings\": ");
    write_openings(prover, file, from, positions, shift);
    fprintf(file, "}");
}

static void write_proof(struct prover *prover, const char *name)
{
    FILE *file = fopen(name, "w");
    uint64_t positions[QUERIES];
    uint32_t shift = 0;

    if (!file) {
        perror(name);
        exit(1);
    }
    for (int i = 0; i < QUERIES; i++) {
        if (i % DIGEST == 0)
            absorb(prover, QUERY, NULL, 0);
        positions[i] = prover->state[i % DIGEST] & (prover->size - 1);
    }
    fprintf(file,
        "{\"log_rows\": %u, \"log_blowup\": %d, \"queries\": %d,\n\"first\": [1, 1], \"result\": "
        "%u,\n",
        (unsigned)prover->log_rows, LOG_BLOWUP, QUERIES, (unsigned)prover->result);
    fprintf(file, "\"values\": [");
    for (int i = 0; i < VALUES; i++) {
        fprintf(file, "%s", i ? ", " : "");
        write_elements(file, prover->values[i], DEGREE);
    }
    fprintf(file, "],\n\"constant\": ");
    write_elements(file, prover->constant, DEGREE);
    fprintf(file, ",\n\"trace\": ");
    write_commitment(prover, file, &prover->trace, positions, 0);
    fprintf(file, ",\n\"quotient\": ");
    write_commitment(prover, file, &prover->quotient, positions, 0);
    fprintf(file, ",\n\"layers\": [");
    for (uint32_t i = 0; i < prover->layer_count; i++) {
        shift += prover->layers[i].log_arity;
        fprintf(file, "%s", i ? ",\n" : "");
        write_commitment(prover, file, &prover->layers[i], positions, shift);
    }
    fprintf(file, "]}\n");
    if (ferror(file) | fclose(file)) {
        perror(name);
        exit(1);
    }
}

static void create(struct prover *prover, pool_device *device, uint32_t log_rows)
{
    const pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = pool_field_by_name("babybear"),
        .log_size = log_rows + LOG_BLOWUP};
    const pool_module_arithmetic arithmetic = {
        .prefix = "fe", .field = pool_field_by_name("babybear_x4")};
    const pool_module_params module = {.struct_size = sizeof(module),
        .source = source,
        .name = "stark.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};

    prover->device = device;
    prover->exec = (pool_exec){.struct_size = sizeof(pool_exec), .device = device};
    prover->base = domain.field;
    prover->field = arithmetic.field;
    prover->log_rows = log_rows;
    prover->log_size = domain.log_size;
    prover->rows = 1u << log_rows;
    prover->size = 1u << domain.log_size;
    must(pool_poseidon_by_name("poseidon2-plonky3-babybear-t16", &prover->set));
    prover->commit =
        (pool_matrix_commit_params){.struct_size = sizeof(prover->commit), .set = prover->set};
    must(pool_ntt_domain_create(&domain, &prover->domain));
    must(pool_module_compile(device, &module, &prover->module));
    must(pool_buffer_alloc(device, sizeof(struct constants), &prover->constants));
    prover->layers[0].log_arity = arity_of(prover->log_size);
}

static void release(struct commitment *commitment)
{
    must(pool_buffer_destroy(&commitment->buffer));
    free(commitment->digests);
}

static void destroy(struct prover *prover)
{
    release(&prover->trace);
    release(&prover->quotient);
    for (uint32_t i = 0; i < prover->layer_count; i++)
        release(&prover->layers[i]);
    must(pool_buffer_destroy(&prover->constants));
    must(pool_module_destroy(&prover->module));
    must(pool_ntt_domain_destroy(&prover->domain));
    pool_poseidon_destroy(&prover->set);
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_rows(const char *devices)
{
    return devices && strstr(devices, "sim") ? 5 : 20;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 && *arguments[1] ? arguments[1] : NULL;
    const uint32_t log_rows = count > 2 ? (uint32_t)atoi(arguments[2]) : default_log_rows(devices);
    const char *file = count > 3 ? arguments[3] : "proof.json";
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    static struct prover prover;
    extension at[2];
    pool_span points;
    pool_buffer *point_buffer;
    pool_device *device;
    device_pool *pool;

    if (log_rows < 3 || log_rows > MAX_LOG - LOG_BLOWUP)
        fail("stark [DEVICES] [LOG_ROWS: 3 ... 25] [FILE]");
    must(pool_create(&pool, &params));
    must(pool_device_at(pool, 0, &device));
    show_step("compiling");
    create(&prover, device, log_rows);
    points = make_points(&prover, &point_buffer);
    show_step("1 of 6: committing to the trace");
    commit_trace(&prover);
    show_step("2 of 6: committing to the quotient");
    commit_quotient(&prover, &points);
    show_step("3 of 6: evaluating at a point outside of the domain");
    evaluate(&prover, at);
    show_step("4 of 6: the first layer of FRI");
    make_first_layer(&prover, &points, at);
    show_step("5 of 6: folding");
    fold_layers(&prover);
    show_step("6 of 6: opening the queries");
    write_proof(&prover, file);
    show_step(NULL);
    printf("proof of 2^%u rows: %s\n", (unsigned)log_rows, file);
    must(pool_buffer_destroy(&point_buffer));
    destroy(&prover);
    must(pool_destroy(&pool));
    return 0;
}
