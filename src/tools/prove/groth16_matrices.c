/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The products of a key's matrices with a witness: on the device, by kernels of the prover's own,
 * or on a host without a compiler for them by sums of products there.
 */
#include <stdlib.h>
#include <string.h>

#include "groth16_prover.h"

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

/* The matrices on a device. HEADS and NEXT are the lists. */
enum { HEADS, NEXT, BAD, ENTRIES, PARTS };

struct matrices {
    pool_file_section section;
    uint32_t count, rows, signals; /* entries, rows of each matrix, columns */
    uint64_t offset[PARTS];        /* of the parts in the buffer */
    uint64_t bytes;
};

static pool_status plan_matrices(const pool_file *key, struct matrices *matrices)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key, &info);

    *matrices = (struct matrices){.section = {.struct_size = sizeof(matrices->section)}};
    if (!status)
        status = pool_file_get_section(key, "coefficients", &matrices->section);
    if (status)
        return status;
    const pool_span *entries = &matrices->section.span;
    if (entries->count >= UINT32_MAX || info.domain_size > INT32_MAX || info.variables > UINT32_MAX)
        return POOL_ERR_UNSUPPORTED;
    const uint64_t bytes[PARTS] = {
        2 * info.domain_size * 4, entries->count * 4, 4, entries->count * entries->stride};
    for (int i = 0; i < PARTS; i++) {
        matrices->offset[i] = matrices->bytes;
        matrices->bytes += bytes[i];
    }
    matrices->count = (uint32_t)entries->count;
    matrices->rows = (uint32_t)info.domain_size;
    matrices->signals = (uint32_t)info.variables;
    return POOL_OK;
}

pool_status groth16_matrices_bytes(const pool_file *key, uint64_t *bytes)
{
    struct matrices matrices;
    pool_status status = plan_matrices(key, &matrices);

    *bytes = matrices.bytes;
    return status;
}

/* NULL: a module for this proof alone. */
static pool_status open_module(pool_device *device, const pool_field *field,
    struct groth16_modules *modules, struct groth16_module **use, pool_module **module)
{
    const pool_module_arithmetic arithmetic = {.prefix = "fr", .field = field};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = matrix_source,
        .name = "groth16_matrices.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    pool_status status;

    if (!modules)
        return pool_module_compile(device, &params, module);
    status = groth16_module_open(modules, device, &params, use);
    if (!status)
        *module = groth16_module_of(*use);
    return status;
}

static pool_status launch(pool_module *module, const char *name, uint64_t items, void **arguments,
    uint32_t count, pool_stream *stream)
{
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_kernel *kernel;
    pool_status status = pool_kernel_get(module, name, &kernel);

    if (!status)
        status = pool_launch_shape_for(items, &shape);
    shape.argument_count = count;
    return status ? status : pool_launch(kernel, &shape, arguments, stream);
}

/* Uploads the entries and links them. */
static pool_status fill_matrices(
    struct matrices *matrices, pool_module *module, pool_stream *stream, pool_buffer *buffer)
{
    const pool_span *entries = &matrices->section.span;
    CUdeviceptr at[PARTS], base = 0;
    void *arguments[] = {&at[HEADS], &at[NEXT], &at[BAD], &at[ENTRIES], &matrices->count,
        &matrices->rows, &matrices->signals};
    uint32_t bad = 0;
    pool_status status = pool_buffer_address(buffer, &base);

    for (int i = 0; i < PARTS; i++)
        at[i] = base + matrices->offset[i];
    if (!status)
        status = pool_buffer_fill8(buffer, 0, matrices->offset[ENTRIES], 0xff, stream);
    if (!status)
        status = pool_copy_to_device(buffer, matrices->offset[ENTRIES], entries->data,
            entries->count * entries->stride, stream);
    if (!status)
        status = launch(module, "link_entries", matrices->count, arguments, 7, stream);
    if (!status)
        status = pool_copy_to_host(&bad, buffer, matrices->offset[BAD], sizeof(bad), stream);
    return !status && bad != UINT32_MAX ? POOL_ERR_BAD_DATA : status;
}

static pool_status load_matrices(
    const pool_file *key, const pool_exec *exec, uint32_t flags, pool_buffer **matrices)
{
    pool_buffer_params params = {.struct_size = sizeof(params),
        .stream = exec->stream,
        .lease = exec->lease,
        .flags = flags};
    pool_module *module = NULL;
    struct matrices planned;
    pool_status status = plan_matrices(key, &planned);

    if (!status)
        status = open_module(exec->device, planned.section.field, NULL, NULL, &module);
    params.bytes = planned.bytes;
    if (!status)
        status = pool_buffer_create(exec->device, &params, matrices);
    if (!status)
        status = fill_matrices(&planned, module, exec->stream, *matrices);
    if (status)
        pool_buffer_destroy_on(matrices, exec->stream);
    pool_module_destroy(&module);
    return status;
}

pool_status groth16_load_matrices(void *key, const pool_exec *exec, pool_buffer **matrices)
{
    return load_matrices(key, exec, POOL_BUFFER_DURABLE, matrices);
}

static uint32_t read32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Refuses an entry that is not valid. */
static pool_status check_entry(
    struct groth16_prover *prover, const pool_span *entries, uint64_t index)
{
    const uint8_t *entry = (const uint8_t *)entries->data + index * entries->stride;

    if (read32(entry + 8) >= prover->witness.count || read32(entry) > 1 ||
        read32(entry + 4) >= prover->key.domain_size)
        return groth16_refuse(prover, "coefficient %llu of the key is outside its matrices",
            (unsigned long long)index);
    if (pool_field_check(prover->field, entry + POOL_FILE_COEFFICIENT_ELEMENT, 1, NULL))
        return groth16_refuse(prover, "coefficient %llu of the key is not below the modulus",
            (unsigned long long)index);
    return POOL_OK;
}

/* Refuses the first entry that is not valid: the device has found one. */
static pool_status refuse_entries(struct groth16_prover *prover, const pool_span *entries)
{
    pool_status status = POOL_OK;

    for (uint64_t i = 0; !status && i < entries->count; i++)
        status = check_entry(prover, entries, i);
    return status ? status : POOL_ERR_BAD_DATA;
}

static pool_status multiply_on_device(
    struct groth16_prover *prover, struct matrices *matrices, pool_buffer *buffer, CUdeviceptr rows)
{
    uint32_t both = 2 * matrices->rows;
    CUdeviceptr heads = 0, next, entries, signals = 0;
    void *arguments[] = {&rows, &heads, &next, &entries, &signals, &both};
    struct groth16_modules *modules =
        prover->job->residents ? prover->job->residents->modules : NULL;
    struct groth16_module *use = NULL;
    pool_module *module = NULL;
    pool_status status = pool_buffer_address(buffer, &heads);

    next = heads + matrices->offset[NEXT];
    entries = heads + matrices->offset[ENTRIES];
    if (!status)
        status = pool_buffer_address(prover->signals, &signals);
    if (!status)
        status = open_module(prover->device, prover->field, modules, &use, &module);
    if (!status)
        status = launch(module, "multiply_rows", both, arguments, 6, prover->stream);
    if (use)
        groth16_module_close(modules, use, status);
    else
        pool_module_destroy(&module);
    return status;
}

/* With the matrices that are resident, or with a copy for this proof alone. */
static pool_status load_and_multiply(
    struct groth16_prover *prover, struct matrices *matrices, CUdeviceptr rows)
{
    const struct groth16_residents *residents = prover->job->residents;
    const pool_exec exec = groth16_exec(prover);
    pool_resident_use *use = NULL;
    pool_buffer *own = NULL;
    pool_status status = residents ? pool_resident_open(residents->matrices, &exec, &use)
                                   : load_matrices(prover->job->key, &exec, 0, &own);

    if (!status)
        status = multiply_on_device(prover, matrices, use ? pool_resident_buffer(use) : own, rows);
    pool_resident_close(&use);
    pool_buffer_destroy_on(&own, prover->stream);
    return status;
}

/* ---- without a compiler ---------------------------------------------------------------------- */

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
    struct groth16_prover *prover, const pool_span *entries, uint8_t *products)
{
    const pool_exec exec = groth16_exec(prover);
    uint64_t count = entries->count;
    pool_span signals = {.data = products, .count = count};
    pool_span values = *entries;
    pool_status status;

    values.data = (uint8_t *)values.data + POOL_FILE_COEFFICIENT_ELEMENT;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *entry = (const uint8_t *)entries->data + i * values.stride;
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
static pool_status sum_products(
    struct groth16_prover *prover, const pool_span *entries, uint64_t *rows)
{
    uint64_t n = prover->key.domain_size, modulus[POOL_FIELD_MAX_BYTES / 8];
    size_t limbs = prover->width / 8;
    uint8_t *products = NULL;
    pool_status status = pool_field_modulus(prover->field, modulus);

    if (!status && !(products = calloc(entries->count + 1, prover->width)))
        status = groth16_out_of_memory(prover);
    if (!status)
        status = multiply_entries(prover, entries, products);
    for (uint64_t i = 0; !status && i < entries->count; i++) {
        const uint8_t *entry = (const uint8_t *)entries->data + i * entries->stride;
        uint64_t row = read32(entry) * n + read32(entry + 4), product[POOL_FIELD_MAX_BYTES / 8];

        memcpy(product, products + i * prover->width, prover->width);
        add_modulo(rows + row * limbs, product, modulus, limbs);
    }
    free(products);
    return status;
}

static pool_status multiply_on_host(struct groth16_prover *prover, const pool_span *entries)
{
    uint64_t count = 2 * prover->key.domain_size;
    uint64_t *host_rows = calloc(count, prover->width);
    pool_status status = host_rows ? POOL_OK : groth16_out_of_memory(prover);

    if (!status)
        status = sum_products(prover, entries, host_rows);
    if (!status) /* pageable memory has been read when the call returns */
        status =
            pool_copy_to_device(prover->rows, 0, host_rows, count * prover->width, prover->stream);
    free(host_rows);
    return status;
}

pool_status groth16_multiply_matrices(struct groth16_prover *prover, CUdeviceptr rows)
{
    struct matrices matrices;
    pool_status status = plan_matrices(prover->job->key, &matrices);

    if (status == POOL_ERR_UNSUPPORTED)
        return groth16_refuse(prover, "the key has more than 2^32 coefficients");
    if (!status)
        status = load_and_multiply(prover, &matrices, rows);
    if (status == POOL_ERR_BAD_DATA)
        return refuse_entries(prover, &matrices.section.span);
    return status == POOL_ERR_NO_COMPILER ? multiply_on_host(prover, &matrices.section.span)
                                          : status;
}
