/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of a sparse matrix and a vector, y = A w, as a prover computes it for each matrix of
 * a constraint system: compressed rows, one thread per row, in a custom kernel that uses the
 * library's field. The result is compared with plain C.
 *
 *   sparse_product [DEVICES] [LOG_ROWS]      default: 2^16 rows, 2^10 on simulated devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_field.h"

/* Two products share a reduction; a row of an odd number of entries has one more. */
static const char source[] =
    "#include \"fr.cuh\"\n"
    "\n"
    "/* Row i has the entries row_start[i] ... row_start[i + 1] - 1. */\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "multiply(fr *y, const unsigned *row_start, const unsigned *column, const fr *value,\n"
    "    const fr *w, unsigned rows)\n"
    "{\n"
    "    unsigned row = blockIdx.x * 256 + threadIdx.x;\n"
    "    if (row >= rows)\n"
    "        return;\n"
    "    unsigned i = row_start[row], end = row_start[row + 1];\n"
    "    fr sum = fr_zero();\n"
    "    for (; i + 1 < end; i += 2)\n"
    "        sum = fr_add_lazy(sum, fr_mul_add_lazy(\n"
    "            value[i], w[column[i]], value[i + 1], w[column[i + 1]]));\n"
    "    if (i < end)\n"
    "        sum = fr_add_lazy(sum, fr_mul_lazy(value[i], w[column[i]]));\n"
    "    y[row] = fr_reduce(sum);\n"
    "}\n";

struct matrix {
    uint32_t rows;
    uint32_t *row_start, *column;
    element *value;
};

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* Rows of 0 to 6 entries, and every 1000th one of 500. */
static struct matrix make_matrix(const pool_field *field, uint32_t rows)
{
    struct matrix matrix = {.rows = rows};
    uint64_t state = 1;

    matrix.row_start = allocate((size_t)rows + 1, sizeof(*matrix.row_start));
    for (uint32_t i = 0; i < rows; i++)
        matrix.row_start[i + 1] = matrix.row_start[i] + (i % 1000 == 7 ? 500 : i * 5 % 7);
    matrix.column = allocate(matrix.row_start[rows], sizeof(*matrix.column));
    matrix.value = allocate(matrix.row_start[rows], sizeof(*matrix.value));
    must(pool_random_scalars(field, 1, matrix.row_start[rows], POOL_FORM_MONTGOMERY, matrix.value));
    for (uint32_t i = 0; i < matrix.row_start[rows]; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        matrix.column[i] = (uint32_t)(state >> 33) % rows;
    }
    return matrix;
}

static element plain_row(const struct matrix *matrix, const element *w, uint32_t row)
{
    element sum = {{0}};

    for (uint32_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
        sum = plain_add(sum, plain_mul(matrix->value[i], w[matrix->column[i]]));
    return sum;
}

static void multiply(pool_device *device, const pool_field *field, const struct matrix *matrix,
    const element *w, element *y)
{
    const pool_module_arithmetic arithmetic = {.prefix = "fr", .field = field};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = "sparse_product.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    static const size_t sizes[] = {8, 8, 8, 8, 8, 4};
    const uint64_t rows = matrix->rows, entries = matrix->row_start[rows];
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_buffer *buffers[5];
    CUdeviceptr addresses[5];
    void *arguments[6];
    pool_module *module;
    pool_kernel *kernel;

    must(pool_module_compile(device, &params, &module));
    must(pool_kernel_get(module, "multiply", &kernel));
    must(pool_buffer_alloc(device, rows * sizeof(*y), &buffers[0]));
    must(pool_buffer_from_host(device, matrix->row_start, (rows + 1) * 4, &buffers[1]));
    must(pool_buffer_from_host(device, matrix->column, entries * 4, &buffers[2]));
    must(pool_buffer_from_host(device, matrix->value, entries * sizeof(element), &buffers[3]));
    must(pool_buffer_from_host(device, w, rows * sizeof(*w), &buffers[4]));
    for (int i = 0; i < 5; i++) {
        must(pool_buffer_address(buffers[i], &addresses[i]));
        arguments[i] = &addresses[i];
    }
    arguments[5] = (void *)(uintptr_t)&matrix->rows;
    must(pool_launch_shape_for(rows, &shape));
    shape.argument_count = 6;
    shape.argument_bytes = sizes;
    must(pool_launch(kernel, &shape, arguments, NULL));
    must(pool_copy_to_host(y, buffers[0], 0, rows * sizeof(*y), NULL));
    for (int i = 0; i < 5; i++)
        must(pool_buffer_destroy(&buffers[i]));
    must(pool_module_destroy(&module));
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_rows(const char *devices)
{
    return devices && strstr(devices, "sim") ? 10 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    const pool_field *field = pool_field_by_name("bn254_fr");
    const uint32_t log_rows = count > 2 ? (uint32_t)atoi(arguments[2]) : default_log_rows(devices);
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    struct matrix matrix;
    pool_device *device;
    device_pool *pool;
    element *w, *y;

    if (log_rows < 4 || log_rows > 24)
        return fprintf(stderr, "LOG_ROWS must be 4 to 24\n"), 2;
    plain_set_field(field);
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    matrix = make_matrix(field, 1u << log_rows);
    w = allocate(matrix.rows, sizeof(*w));
    y = allocate(matrix.rows, sizeof(*y));
    must(pool_random_scalars(field, 2, matrix.rows, POOL_FORM_MONTGOMERY, w));

    multiply(device, field, &matrix, w, y);
    for (uint32_t row = 0; row < matrix.rows; row++) {
        const element expected = plain_row(&matrix, w, row);

        if (memcmp(&expected, &y[row], sizeof(expected)) != 0)
            return fprintf(stderr, "row %u is wrong\n", row), 1;
    }
    printf("2^%u rows with %u entries: as in plain C\n", log_rows, matrix.row_start[matrix.rows]);
    free(y);
    free(w);
    free(matrix.value);
    free(matrix.column);
    free(matrix.row_start);
    must(pool_destroy(&pool));
    return 0;
}
