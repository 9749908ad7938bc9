/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quotient of a PLONK-style proof in one custom kernel that uses the library's field: at each
 * point x of a coset four times as large as the domain
 *
 *   t = (qL a + qR b + qM a b + qO c + qC
 *        + alpha   ((a + beta x + gamma) (b + beta k1 x + gamma) (c + beta k2 x + gamma) z
 *                   - (a + beta s1 + gamma) (b + beta s2 + gamma) (c + beta s3 + gamma) z')
 *        + alpha^2 (z - 1) L1) / Z
 *
 * where z' is z at the next point of the domain and Z = x^n - 1 takes four values on the coset. The
 * result is compared with plain C.
 *
 *   quotient [DEVICES] [LOG_SIZE]      default: 2^16 points, 2^10 on simulated devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_field.h"

/* Columns of the table, and the scalars of the proof. */
enum { A, B, C, Z, S1, S2, S3, QL, QR, QM, QO, QC, X, L1, COLUMNS };
enum { ALPHA, BETA, GAMMA, K1, K2, ONE, INVERSE_Z, SCALARS = INVERSE_Z + 4 };

static const char source[] =
    "#include \"fr.cuh\"\n"
    "struct columns {\n"
    "    const fr *a, *b, *c, *z, *s1, *s2, *s3, *ql, *qr, *qm, *qo, *qc, *x, *l1;\n"
    "};\n"
    "struct scalars {\n"
    "    fr alpha, beta, gamma, k1, k2, one, inverse_z[4];\n"
    "};\n"
    "\n"
    "/* u + beta v + gamma, lazy. */\n"
    "__device__ fr factor(const scalars &s, fr u, fr v)\n"
    "{\n"
    "    return fr_add_lazy(fr_add_lazy(u, s.gamma), fr_mul_lazy(s.beta, v));\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "quotient(fr *out, columns in, const scalars *proof, unsigned n)\n"
    "{\n"
    "    unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
    "    if (i >= n)\n"
    "        return;\n"
    "    const scalars &s = *proof;\n"
    "    fr a = in.a[i], b = in.b[i], c = in.c[i], z = in.z[i], x = in.x[i];\n"
    "    fr gate = fr_mul_add_lazy(in.ql[i], a, in.qr[i], b);\n"
    "    gate = fr_add_lazy(gate, fr_mul_add_lazy(in.qm[i], fr_mul_lazy(a, b), in.qo[i], c));\n"
    "    gate = fr_add_lazy(gate, in.qc[i]);\n"
    "\n"
    "    fr left = fr_mul_lazy(factor(s, a, x), factor(s, b, fr_mul_lazy(s.k1, x)));\n"
    "    left = fr_mul_lazy(left, factor(s, c, fr_mul_lazy(s.k2, x)));\n"
    "    fr right = fr_mul_lazy(factor(s, a, in.s1[i]), factor(s, b, in.s2[i]));\n"
    "    right = fr_mul_lazy(right, factor(s, c, in.s3[i]));\n"
    "    fr order = fr_mul_sub_lazy(left, z, right, in.z[i + 4 < n ? i + 4 : i + 4 - n]);\n"
    "\n"
    "    fr first = fr_mul_lazy(fr_sub_lazy(z, s.one), in.l1[i]);\n"
    "    fr sum = fr_add_lazy(order, fr_mul_lazy(s.alpha, first));\n"
    "    sum = fr_add_lazy(gate, fr_mul_lazy(s.alpha, sum));\n"
    "    out[i] = fr_reduce(fr_mul_lazy(sum, s.inverse_z[i % 4]));\n"
    "}\n";

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static element plain_factor_of(const element *s, element u, element v)
{
    return plain_add(plain_add(u, s[GAMMA]), plain_mul(s[BETA], v));
}

/* The quotient at point i in plain C; column k begins at table + k n. */
static element plain_quotient(const element *table, const element *s, uint32_t n, uint32_t i)
{
    element v[COLUMNS], gate, left, right, first;
    const element next = table[Z * (size_t)n + (i + 4) % n];

    for (size_t k = 0; k < COLUMNS; k++)
        v[k] = table[k * n + i];
    gate = plain_add(plain_mul(v[QL], v[A]), plain_mul(v[QR], v[B]));
    gate = plain_add(gate, plain_mul(v[QM], plain_mul(v[A], v[B])));
    gate = plain_add(plain_add(gate, plain_mul(v[QO], v[C])), v[QC]);
    left =
        plain_mul(plain_factor_of(s, v[A], v[X]), plain_factor_of(s, v[B], plain_mul(s[K1], v[X])));
    left = plain_mul(left, plain_factor_of(s, v[C], plain_mul(s[K2], v[X])));
    right = plain_mul(plain_factor_of(s, v[A], v[S1]), plain_factor_of(s, v[B], v[S2]));
    right = plain_mul(right, plain_factor_of(s, v[C], v[S3]));
    first = plain_mul(plain_sub(v[Z], s[ONE]), v[L1]);
    left = plain_sub(plain_mul(left, v[Z]), plain_mul(right, next));
    left = plain_add(left, plain_mul(s[ALPHA], first));
    return plain_mul(plain_add(gate, plain_mul(s[ALPHA], left)), s[INVERSE_Z + i % 4]);
}

static void compute(pool_device *device, const pool_field *field, const element *table,
    const element *scalars, uint32_t n, element *out)
{
    const pool_module_arithmetic arithmetic = {.prefix = "fr", .field = field};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .name = "quotient.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    static const size_t sizes[] = {8, 8 * COLUMNS, 8, 4};
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_buffer *columns, *proof, *result;
    CUdeviceptr column[COLUMNS], proof_address, result_address;
    void *arguments[] = {&result_address, column, &proof_address, &n};
    pool_module *module;
    pool_kernel *kernel;

    must(pool_module_compile(device, &params, &module));
    must(pool_kernel_get(module, "quotient", &kernel));
    must(pool_buffer_from_host(device, table, COLUMNS * (uint64_t)n * sizeof(*table), &columns));
    must(pool_buffer_from_host(device, scalars, SCALARS * sizeof(*scalars), &proof));
    must(pool_buffer_alloc(device, (uint64_t)n * sizeof(*out), &result));
    must(pool_buffer_address(columns, &column[0]));
    for (int k = 1; k < COLUMNS; k++)
        column[k] = column[k - 1] + (uint64_t)n * sizeof(*table);
    must(pool_buffer_address(proof, &proof_address));
    must(pool_buffer_address(result, &result_address));
    must(pool_launch_shape_for(n, &shape));
    shape.argument_count = 4;
    shape.argument_bytes = sizes;
    must(pool_launch(kernel, &shape, arguments, NULL));
    must(pool_copy_to_host(out, result, 0, (uint64_t)n * sizeof(*out), NULL));
    must(pool_buffer_destroy(&result));
    must(pool_buffer_destroy(&proof));
    must(pool_buffer_destroy(&columns));
    must(pool_module_destroy(&module));
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_log_size(const char *devices)
{
    return devices && strstr(devices, "sim") ? 10 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    const pool_field *field = pool_field_by_name("bn254_fr");
    const uint32_t log_size = count > 2 ? (uint32_t)atoi(arguments[2]) : default_log_size(devices);
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    element scalars[SCALARS], *table, *out;
    pool_device *device;
    device_pool *pool;
    uint32_t n;

    if (log_size < 3 || log_size > 24)
        return fprintf(stderr, "LOG_SIZE must be 3 to 24\n"), 2;
    n = 1u << log_size;
    table = malloc(COLUMNS * (size_t)n * sizeof(*table));
    out = malloc(n * sizeof(*out));
    if (!table || !out)
        return 1;
    plain_set_field(field);
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    must(pool_random_scalars(field, 1, COLUMNS * (size_t)n, POOL_FORM_MONTGOMERY, table));
    must(pool_random_scalars(field, 2, SCALARS, POOL_FORM_MONTGOMERY, scalars));
    must(pool_field_parse(field, "1", POOL_FORM_MONTGOMERY, &scalars[ONE]));

    compute(device, field, table, scalars, n, out);
    for (uint32_t i = 0; i < n; i++) {
        const element expected = plain_quotient(table, scalars, n, i);

        if (memcmp(&expected, &out[i], sizeof(expected)) != 0)
            return fprintf(stderr, "the quotient at point %u is wrong\n", i), 1;
    }
    printf("quotient at 2^%u points: as in plain C\n", log_size);
    free(out);
    free(table);
    must(pool_destroy(&pool));
    return 0;
}
