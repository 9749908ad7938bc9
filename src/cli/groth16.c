/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover. It reads the points of the key from the memory-mapped file, or uses those that are
 * resident; the products with the matrices and the quotient are computed and stay on the device.
 */
#include "groth16.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "snarkjs_json.h"

#define MAX_POINT (4 * POOL_FIELD_MAX_BYTES)

/* The MSMs, in the order of groth16_residents.points. */
enum msm { MSM_A, MSM_B1, MSM_B2, MSM_C, MSM_H };
static const char *const sections[GROTH16_MSMS] = {"A", "B1", "B2", "C", "H"};

struct prover {
    const struct groth16_job *job;
    struct groth16_result *result;
    pool_file_info key;
    pool_span witness;       /* standard form; value 0 is 1, then the public signals */
    const pool_field *field; /* of the circuit */
    size_t width;            /* bytes of its elements */
    pool_device *device;
    pool_stream *stream;
    const char *step;  /* of the MSM that reports its progress */
    pool_buffer *rows; /* A w, B w and C w */
    pool_span quotient;
};

static pool_status fail_data(struct prover *prover, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static pool_status fail_data(struct prover *prover, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(prover->result->failure, sizeof(prover->result->failure), format, list);
    va_end(list);
    return POOL_ERR_BAD_DATA;
}

static pool_status out_of_memory(struct prover *prover)
{
    fail_data(prover, "out of host memory");
    return POOL_ERR_OUT_OF_HOST_MEMORY;
}

static void begin_step(struct prover *prover, const char *step)
{
    prover->step = step;
    if (prover->job->progress)
        prover->job->progress(prover->job->user, step, 0, 1);
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    const struct prover *prover = user;

    if (prover->job->progress)
        prover->job->progress(prover->job->user, prover->step, done, total);
}

static pool_status get_section(
    const struct prover *prover, const char *name, pool_file_section *section)
{
    *section = (pool_file_section){.struct_size = sizeof(*section)};
    return pool_file_get_section(prover->job->key, name, section);
}

/* Items [first, first + count) of a span. */
static pool_span slice_span(
    const pool_span *span, uint64_t first, uint64_t count, uint64_t item_bytes)
{
    pool_span items = *span;

    items.data = (uint8_t *)span->data + first * (span->stride ? span->stride : item_bytes);
    items.count = count;
    return items;
}

/* ---- files ---------------------------------------------------------------------------------- */

static pool_status read_files(struct prover *prover)
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
        return fail_data(prover, "the witness is over %s, the key over %s",
            pool_field_name(values.field), pool_field_name(prover->field));
    if (values.span.count != prover->key.variables)
        return fail_data(prover, "the witness has %llu values, the key %llu variables",
            (unsigned long long)values.span.count, (unsigned long long)prover->key.variables);
    if (memcmp(values.span.data, one, prover->width) != 0)
        return fail_data(prover, "value 0 of the witness is not 1");
    return pool_field_check(prover->field, values.span.data, values.span.count, NULL);
}

/* ---- the quotient --------------------------------------------------------------------------- */

/* Where all operations run. */
static pool_exec exec_of(const struct prover *prover)
{
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = prover->device,
        .stream = prover->stream,
        .lease = prover->job->lease};

    return exec;
}

static uint32_t read32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Refuses an entry of the matrices that is not valid. */
static pool_status check_entry(
    struct prover *prover, const pool_file_section *entries, uint64_t index)
{
    const uint8_t *entry = (const uint8_t *)entries->span.data + index * entries->span.stride;

    if (read32(entry + 8) >= prover->witness.count || read32(entry) > 1 ||
        read32(entry + 4) >= prover->key.domain_size)
        return fail_data(prover, "coefficient %llu of the key is outside its matrices",
            (unsigned long long)index);
    if (pool_field_check(prover->field, entry + POOL_FILE_COEFFICIENT_ELEMENT, 1, NULL))
        return fail_data(prover, "coefficient %llu of the key is not below the modulus",
            (unsigned long long)index);
    return POOL_OK;
}

/* ---- A w and B w on the device --------------------------------------------------------------- */

/*
 * The entries are in no order of rows, so the first kernel links those of each row to a list, which
 * a thread of the second one follows. The file stores an entry v as v R^2, and the witness is in
 * standard form: their Montgomery product is the Montgomery form of v times the signal.
 */
static const char matrix_source[] =
    "#include \"fr.cuh\"\n"
    "\n"
    "struct entry { /* as in the file */\n"
    "    unsigned matrix, row, signal, value[FR_WORDS];\n"
    "};\n"
    "\n"
    "__device__ fr value_of(const entry *entry)\n"
    "{\n"
    "    fr value;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < FR_WORDS; i++)\n"
    "        value.word[i] = entry->value[i];\n"
    "    return value;\n"
    "}\n"
    "\n"
    "/* *bad becomes the index of the first entry that is not valid. */\n"
    "extern \"C\" __global__ void link_entries(unsigned *heads, unsigned *next, unsigned *bad,\n"
    "    const entry *entries, unsigned count, unsigned rows, unsigned signals)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= count)\n"
    "        return;\n"
    "    const entry *e = entries + i;\n"
    "    if (e->matrix > 1 || e->row >= rows || e->signal >= signals ||\n"
    "        !fr_less(value_of(e), fr_modulus()))\n"
    "        atomicMin(bad, i);\n"
    "    else\n"
    "        next[i] = atomicExch(&heads[e->matrix * rows + e->row], i);\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void multiply_rows(fr *products, const unsigned *heads,\n"
    "    const unsigned *next, const entry *entries, const fr *witness, unsigned rows)\n"
    "{\n"
    "    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row >= rows)\n"
    "        return;\n"
    "    fr sum = fr_zero();\n"
    "    for (unsigned i = heads[row]; i != 0xffffffff; i = next[i])\n"
    "        sum = fr_add_lazy(sum, fr_mul_lazy(value_of(entries + i), "
    "witness[entries[i].signal]));\n"
    "    products[row] = fr_reduce(sum);\n"
    "}\n";

/* Device memory of the product. */
enum { HEADS, NEXT, BAD, ENTRIES, WITNESS, PRODUCT_BUFFERS };

struct product {
    pool_file_section section;
    pool_module *module;
    pool_buffer *buffers[PRODUCT_BUFFERS];
    CUdeviceptr addresses[PRODUCT_BUFFERS];
    CUdeviceptr rows;
    uint32_t count, row_count, signals, both; /* both: rows of A and of B */
};

static void product_bytes(
    const pool_file_info *key, const pool_file_section *section, uint64_t bytes[PRODUCT_BUFFERS])
{
    bytes[HEADS] = 2 * key->domain_size * 4;
    bytes[NEXT] = section->span.count * 4 + 4; /* there may be none */
    bytes[BAD] = 4;
    bytes[ENTRIES] = section->span.count * section->span.stride + 4;
    bytes[WITNESS] = key->variables * pool_field_element_bytes(key->field);
}

static pool_status compile_product(struct prover *prover, struct product *product)
{
    const pool_module_arithmetic arithmetic = {.prefix = "fr", .field = prover->field};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = matrix_source,
        .name = "groth16_matrices.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};

    return pool_module_compile(prover->device, &params, &product->module);
}

static pool_status upload_product(struct prover *prover, struct product *product)
{
    const pool_file_section *section = &product->section;
    const uint64_t stride = prover->witness.stride ? prover->witness.stride : prover->width;
    uint64_t bytes[PRODUCT_BUFFERS];
    pool_status status = POOL_OK;

    product_bytes(&prover->key, section, bytes);
    for (int i = 0; i < PRODUCT_BUFFERS && !status; i++) {
        const pool_buffer_params params = {.struct_size = sizeof(params),
            .bytes = bytes[i],
            .stream = prover->stream,
            .lease = prover->job->lease};

        status = pool_buffer_create(prover->device, &params, &product->buffers[i]);
        if (!status)
            status = pool_buffer_address(product->buffers[i], &product->addresses[i]);
    }
    if (!status)
        status = pool_buffer_fill8(product->buffers[HEADS], 0, bytes[HEADS], 0xff, prover->stream);
    if (!status)
        status = pool_buffer_fill8(product->buffers[BAD], 0, bytes[BAD], 0xff, prover->stream);
    if (!status)
        status = pool_copy_to_device(product->buffers[ENTRIES], 0, section->span.data,
            section->span.count * section->span.stride, prover->stream);
    if (!status)
        status = pool_copy_2d(
            &(pool_pitched){.buffer = product->buffers[WITNESS], .pitch = prover->width},
            &(pool_pitched){.host = prover->witness.data, .pitch = stride}, prover->width,
            prover->witness.count, prover->stream);
    return status;
}

static pool_status launch_product(struct prover *prover, const struct product *product,
    const char *name, uint64_t items, void **arguments, uint32_t count)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_kernel *kernel;
    pool_status status = pool_kernel_get(product->module, name, &kernel);

    if (!status)
        status = pool_launch_shape_for(items, &shape);
    shape.argument_count = count;
    return status ? status : pool_launch(kernel, &shape, arguments, prover->stream);
}

static pool_status run_product(struct prover *prover, struct product *product)
{
    CUdeviceptr *at = product->addresses;
    void *linked[] = {&at[HEADS], &at[NEXT], &at[BAD], &at[ENTRIES], &product->count,
        &product->row_count, &product->signals};
    void *multiplied[] = {
        &product->rows, &at[HEADS], &at[NEXT], &at[ENTRIES], &at[WITNESS], &product->both};
    uint32_t bad = 0;
    pool_status status = launch_product(prover, product, "link_entries", product->count, linked, 7);

    if (!status)
        status = launch_product(prover, product, "multiply_rows", product->both, multiplied, 6);
    if (!status)
        status = pool_copy_to_host(&bad, product->buffers[BAD], 0, sizeof(bad), prover->stream);
    if (!status && bad != UINT32_MAX)
        status = check_entry(prover, &product->section, bad);
    return status;
}

/* Computes A w and B w in Montgomery form at `rows` on the device. POOL_ERR_NO_COMPILER: this host
 * compiles no kernels. */
static pool_status multiply_on_device(struct prover *prover, CUdeviceptr rows)
{
    struct product product = {.rows = rows};
    pool_status status = get_section(prover, "coefficients", &product.section);

    if (!status && (product.section.span.count >= UINT32_MAX ||
                       prover->key.domain_size > INT32_MAX || prover->witness.count > UINT32_MAX))
        status = fail_data(prover, "the key has more than 2^32 coefficients");
    product.count = (uint32_t)product.section.span.count;
    product.row_count = (uint32_t)prover->key.domain_size;
    product.signals = (uint32_t)prover->witness.count;
    product.both = 2 * product.row_count;
    if (!status)
        status = compile_product(prover, &product);
    if (!status)
        status = upload_product(prover, &product);
    if (!status)
        status = run_product(prover, &product);
    for (int i = 0; i < PRODUCT_BUFFERS; i++)
        pool_buffer_destroy_on(&product.buffers[i], prover->stream);
    pool_module_destroy(&product.module);
    return status;
}

/* ---- A w and B w without a compiler: sums on the host -----------------------------------------
 */

/* Modular addition of integers of `limbs` 64-bit limbs: sum += summand. */
static void add_modulo(
    uint64_t *sum, const uint64_t *summand, const uint64_t *modulus, size_t limbs)
{
    uint64_t reduced[POOL_FIELD_MAX_BYTES / 8];
    unsigned carry = 0, borrow = 0;

    for (size_t i = 0; i < limbs; i++) {
        uint64_t limb = sum[i] + summand[i], total = limb + carry;

        carry = (limb < sum[i]) | (total < limb);
        sum[i] = total;
    }
    for (size_t i = 0; i < limbs; i++) {
        uint64_t limb = sum[i] - modulus[i];

        reduced[i] = limb - borrow;
        borrow = (sum[i] < modulus[i]) | (limb < borrow);
    }
    if (carry || !borrow)
        memcpy(sum, reduced, limbs * sizeof(*sum));
}

/*
 * Multiplies each matrix entry by its signal. The file stores an entry v as v R^2, which is the
 * Montgomery form of v R, so the products in standard form are the Montgomery forms of v times
 * signal.
 */
static pool_status multiply_entries(
    struct prover *prover, const pool_file_section *entries, uint8_t *products)
{
    const pool_exec exec = exec_of(prover);
    uint64_t count = entries->span.count;
    pool_span signals = {.data = products, .count = count};
    pool_span values = entries->span;
    pool_status status;

    values.data = (uint8_t *)values.data + POOL_FILE_COEFFICIENT_ELEMENT;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = (const uint8_t *)entries->span.data + i * values.stride;
        uint32_t signal = read32(entry + 8);

        status = check_entry(prover, entries, i);
        if (status)
            return status;
        memcpy(products + i * prover->width,
            (const uint8_t *)prover->witness.data + signal * prover->witness.stride, prover->width);
    }
    return pool_vector_mul(prover->field, &exec, &values, &signals, &signals);
}

/* Computes the vectors A w and B w in Montgomery form. */
static pool_status multiply_matrices(struct prover *prover, uint64_t *rows)
{
    uint64_t n = prover->key.domain_size, modulus[POOL_FIELD_MAX_BYTES / 8];
    size_t limbs = prover->width / 8;
    pool_file_section entries;
    uint8_t *products = NULL;
    pool_status status = get_section(prover, "coefficients", &entries);

    if (!status)
        status = pool_field_modulus(prover->field, modulus);
    if (!status && !(products = calloc(entries.span.count + 1, prover->width)))
        status = out_of_memory(prover);
    if (!status)
        status = multiply_entries(prover, &entries, products);
    for (uint64_t i = 0; !status && i < entries.span.count; i++) {
        const uint8_t *entry = (const uint8_t *)entries.span.data + i * entries.span.stride;
        uint64_t row = read32(entry) * n + read32(entry + 4), product[POOL_FIELD_MAX_BYTES / 8];

        memcpy(product, products + i * prover->width, prover->width);
        add_modulo(rows + row * limbs, product, modulus, limbs);
    }
    free(products);
    return status;
}

/* The domain of snarkjs' transforms. The coset generator is a square root of the domain's root. */
static pool_status create_domain(const pool_file_info *key, pool_ntt_domain **domain)
{
    const char *convention = "snarkjs";
    uint8_t root[POOL_FIELD_MAX_BYTES];
    char coset[POOL_FIELD_STRING_BYTES];
    uint32_t log_size = 0;
    pool_status status;

    while (UINT64_C(1) << log_size < key->domain_size)
        log_size++;
    if (pool_field_root_of_unity(key->field, convention, 0, POOL_FORM_STANDARD, root))
        convention = NULL; /* the name is unknown where snarkjs uses the field's default root */
    status =
        pool_field_root_of_unity(key->field, convention, log_size + 1, POOL_FORM_STANDARD, root);
    if (!status)
        status = pool_field_format(
            key->field, POOL_FORM_STANDARD, root, POOL_HEXADECIMAL, coset, sizeof(coset), NULL);
    if (status)
        return status;
    const pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = key->field,
        .log_size = log_size,
        .convention = convention,
        .coset = coset};
    return pool_ntt_domain_create(&params, domain);
}

/* Transforms three vectors of values on the domain to values on the coset. */
static pool_status transform_to_coset(const struct prover *prover, const pool_span *rows)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .batch = 3};
    const pool_exec exec = exec_of(prover);
    const struct groth16_residents *residents = prover->job->residents;
    pool_ntt_domain *own = NULL;
    pool_span out = *rows;
    pool_status status = residents ? POOL_OK : create_domain(&prover->key, &own);

    params.domain = residents ? residents->domain : own;
    params.direction = POOL_NTT_INVERSE;
    params.order = POOL_NTT_NR;
    if (!status)
        status = pool_ntt(&params, &exec, rows, &out);
    params.direction = POOL_NTT_FORWARD;
    params.order = POOL_NTT_RN;
    params.coset = 1;
    if (!status)
        status = pool_ntt(&params, &exec, rows, &out);
    pool_ntt_domain_destroy(&own);
    return status;
}

static pool_status multiply_on_host(struct prover *prover)
{
    uint64_t count = 2 * prover->key.domain_size;
    uint64_t *host_rows = calloc(count, prover->width);
    pool_status status = host_rows ? POOL_OK : out_of_memory(prover);

    if (!status)
        status = multiply_matrices(prover, host_rows);
    if (!status) /* pageable memory has been read when the call returns */
        status =
            pool_copy_to_device(prover->rows, 0, host_rows, count * prover->width, prover->stream);
    free(host_rows);
    return status;
}

/* Allocates the three vectors and computes the first two. */
static pool_status compute_rows(struct prover *prover, pool_span *rows)
{
    uint64_t n = prover->key.domain_size;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = 3 * n * prover->width,
        .stream = prover->stream,
        .lease = prover->job->lease};
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_create(prover->device, &params, &prover->rows);

    if (!status)
        status = pool_buffer_address(prover->rows, &address);
    if (!status)
        status = multiply_on_device(prover, address);
    if (status == POOL_ERR_NO_COMPILER)
        status = multiply_on_host(prover);
    *rows = (pool_span){.data = (void *)(uintptr_t)address,
        .count = 3 * n,
        .form = POOL_FORM_MONTGOMERY,
        .space = POOL_MEMORY_DEVICE};
    return status;
}

/*
 * Computes the values of A w * B w - C w on the coset, in device memory. The values on the domain
 * are 0, so these determine the quotient; the key's points H are the Lagrange basis for them.
 */
static pool_status compute_quotient(struct prover *prover)
{
    const pool_exec exec = exec_of(prover);
    uint64_t n = prover->key.domain_size;
    pool_span rows, a, b, c;
    pool_status status;

    begin_step(prover, "quotient");
    status = compute_rows(prover, &rows);
    a = slice_span(&rows, 0, n, prover->width);
    b = slice_span(&rows, n, n, prover->width);
    c = slice_span(&rows, 2 * n, n, prover->width);
    if (!status) /* a valid witness satisfies A w * B w = C w */
        status = pool_vector_mul(prover->field, &exec, &a, &b, &c);
    if (!status)
        status = transform_to_coset(prover, &rows);
    if (!status)
        status = pool_vector_mul(prover->field, &exec, &a, &b, &a);
    if (!status)
        status = pool_vector_sub(prover->field, &exec, &a, &c, &a);
    prover->quotient = a;
    return status;
}

/* ---- the proof ------------------------------------------------------------------------------ */

/* The MSM over a section's points; the result is a packed affine point in standard form. */
static pool_status section_msm(
    struct prover *prover, enum msm which, const pool_span *scalars, uint8_t *sum)
{
    const struct groth16_residents *residents = prover->job->residents;
    pool_file_section points;
    pool_span result = {.data = sum, .count = 1};
    pool_resident_use *use = NULL;
    pool_status status = get_section(prover, sections[which], &points);

    if (status)
        return status;
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points.curve, .point_layout = points.layout};
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = prover->device,
        .stream = prover->stream,
        .lease = prover->job->lease,
        .progress = on_progress,
        .user = prover,
        .checks = prover->job->is_trusted ? POOL_CHECK_NONE : POOL_CHECK_ON_CURVE};
    begin_step(prover, sections[which]);
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

/* sum += scalar * P for the section's only point P, or sum += P if scalar is NULL. */
static pool_status add_point(
    struct prover *prover, const char *name, const uint8_t *scalar, uint8_t *sum)
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
    const struct prover *prover, const uint8_t *point, const uint8_t *scalar, uint8_t *sum)
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
static pool_status draw_scalar(struct prover *prover, uint8_t *scalar)
{
    uint8_t bytes[2 * POOL_FIELD_MAX_BYTES];
    size_t count = 2 * prover->width;
    pool_status status;

    if (!(prover->job->random ? prover->job->random : system_random)(bytes, count)) {
        fail_data(prover, "the system provides no random numbers");
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
static pool_status compute_msms(struct prover *prover, struct proof *proof, uint8_t *b1)
{
    uint64_t first_private = prover->key.public_signals + 1;
    pool_span private_signals = slice_span(
        &prover->witness, first_private, prover->witness.count - first_private, prover->width);
    uint8_t h[MAX_POINT];
    pool_status status = section_msm(prover, MSM_A, &prover->witness, proof->a);

    if (!status)
        status = section_msm(prover, MSM_B1, &prover->witness, b1);
    if (!status)
        status = section_msm(prover, MSM_B2, &prover->witness, proof->b);
    if (!status)
        status = section_msm(prover, MSM_C, &private_signals, proof->c);
    if (!status)
        status = section_msm(prover, MSM_H, &prover->quotient, h);
    return status ? status : pool_point_add(prover->key.curves[0], NULL, proof->c, h, proof->c);
}

/*
 * a = alpha + sum A_i w_i + r delta, b = beta + sum B_i w_i + s delta, and
 * c = sum C_i w_i + sum H_i q_i + s a + r b - r s delta, with b in G1. The blinding factors r and s
 * are processed by host arithmetic that is not constant-time.
 */
static pool_status blind_proof(struct prover *prover, struct proof *proof, uint8_t *b1)
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

static void write_proof(const struct prover *prover, const struct proof *proof, FILE *file)
{
    const pool_curve *g1 = prover->key.curves[0], *g2 = prover->key.curves[1];

    fputs("{\n", file);
    snarkjs_write_point(file, "pi_a", g1, proof->a);
    snarkjs_write_point(file, "pi_b", g2, proof->b);
    snarkjs_write_point(file, "pi_c", g1, proof->c);
    fprintf(file, " \"protocol\": \"groth16\",\n \"curve\": \"%s\"\n}", snarkjs_curve_name(g1));
}

static void write_public_signals(const struct prover *prover, FILE *file)
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
static pool_status format_json(struct prover *prover, const struct proof *proof, char **json)
{
    size_t length;
    FILE *file = open_memstream(json, &length);

    if (file && proof)
        write_proof(prover, proof, file);
    else if (file)
        write_public_signals(prover, file);
    if (file && !ferror(file) && !fclose(file))
        return POOL_OK;
    return out_of_memory(prover);
}

pool_status groth16_prove(const struct groth16_job *job, struct groth16_result *result)
{
    struct prover prover = {.job = job, .result = result, .device = job->device};
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
        status = compute_quotient(&prover);
    if (!status)
        status = compute_msms(&prover, &proof, b1);
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
    pool_buffer_destroy(&prover.rows);
    pool_stream_destroy(&own_stream);
    return status;
}

/* ---- residents and device memory ------------------------------------------------------------- */

static pool_status register_points(
    device_pool *pool, const pool_file *key, enum msm which, const char *name, pool_resident **made)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    char label[POOL_RESIDENT_NAME_BYTES];
    pool_status status = pool_file_get_section(key, sections[which], &section);

    if (status)
        return status;
    snprintf(label, sizeof(label), "%.50s %s", name, sections[which]);
    const pool_bases_params bases = {
        .struct_size = sizeof(bases), .curve = section.curve, .layout = section.layout};
    const pool_resident_params params = {
        .struct_size = sizeof(params), .name = label, .bases = &bases, .points = &section.span};
    return pool_resident_create(pool, &params, made);
}

pool_status groth16_residents_create(
    struct groth16_residents *residents, device_pool *pool, const pool_file *key, const char *name)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key, &info);

    *residents = (struct groth16_residents){0};
    for (int i = 0; !status && i < GROTH16_MSMS; i++)
        status = register_points(pool, key, (enum msm)i, name, &residents->points[i]);
    if (!status)
        status = create_domain(&info, &residents->domain);
    if (status)
        groth16_residents_destroy(residents);
    return status;
}

pool_status groth16_residents_destroy(struct groth16_residents *residents)
{
    pool_status first = pool_ntt_domain_destroy(&residents->domain);

    for (int i = 0; i < GROTH16_MSMS; i++) {
        pool_status status = pool_resident_destroy(&residents->points[i]);

        first = first ? first : status;
    }
    return first;
}

/* Of one MSM, its bases included where they are resident. */
static pool_status msm_bytes(const pool_file_section *section, const pool_resident *points,
    const pool_exec *exec, uint64_t *bytes)
{
    const pool_span scalars = {.count = section->span.count}, result = {.count = 1};
    pool_msm_params params = {.struct_size = sizeof(params)};
    uint64_t workspace = 0, loading = 0;
    pool_status status;

    if (!points) {
        params.curve = section->curve;
        params.point_layout = section->layout;
        return pool_msm_workspace(&params, exec, &section->span, &scalars, &result, bytes);
    }
    status = pool_resident_open_workspace(points, exec, &loading);
    if (!status)
        status = pool_resident_msm_workspace(points, &params, exec, &scalars, &result, &workspace);
    workspace += pool_resident_bytes(points);
    *bytes = workspace > loading ? workspace : loading;
    return status;
}

pool_status groth16_device_bytes(const pool_file *key, const struct groth16_residents *residents,
    pool_device *device, uint64_t *bytes)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file_info info = {.struct_size = sizeof(info)};
    uint64_t product[PRODUCT_BUFFERS], elements, largest_msm = 0, matrices = 0;
    pool_status status = pool_file_get_info(key, &info);

    if (!status)
        status = pool_file_get_section(key, "coefficients", &section);
    if (!status)
        product_bytes(&info, &section, product);
    for (int i = 0; !status && i < PRODUCT_BUFFERS; i++)
        matrices += product[i];
    /* The vectors A w, B w and C w and, at different times, the matrices with the witness, scratch
     * for the transforms and, without a compiler, the matrices' entries with two operands. */
    elements = 6 * info.domain_size + 3 * section.span.count;
    for (int i = 0; !status && i < GROTH16_MSMS; i++) {
        uint64_t of_msm = 0;

        status = pool_file_get_section(key, sections[i], &section);
        if (!status)
            status = msm_bytes(&section, residents ? residents->points[i] : NULL, &exec, &of_msm);
        largest_msm = of_msm > largest_msm ? of_msm : largest_msm;
    }
    if (!status)
        *bytes = largest_msm + matrices + elements * pool_field_element_bytes(info.field);
    return status;
}

void groth16_result_free(struct groth16_result *result)
{
    free(result->proof);
    free(result->public_signals);
    result->proof = result->public_signals = NULL;
}
