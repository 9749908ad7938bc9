/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sumcheck over the product of two multilinear polynomials, with two custom kernels that use the
 * library's field: one computes a round's polynomial, g(X) = the sum of a(X, y) b(X, y) over all y,
 * at X = 0, 1 and 2; the other fixes the variable to the challenge. Round polynomials and folded
 * tables are compared with plain C, and a verifier checks every round and the last value.
 *
 *   sumcheck [DEVICES] [VARIABLES]      default: 16 variables, 9 on simulated devices
 */
#include <devicepool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain_field.h"

#define THREADS 256

static const char source[] =
    "#include \"fr.cuh\"\n"
    "\n"
    "/* The tables' first halves have X = 0, their second halves X = 1. Each block writes its "
    "sums\n"
    " * of a b for X = 0 and 1, and of the leading coefficients (a1 - a0) (b1 - b0); one more "
    "launch\n"
    " * with one block adds those of the blocks: g(0), g(1), and g(2) = 2 (g(1) + leading) - g(0). "
    "*/\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "round_sums(fr *sums, const fr *a, const fr *b, unsigned half)\n"
    "{\n"
    "    __shared__ fr scratch[32];\n"
    "    fr sum[3] = {fr_zero(), fr_zero(), fr_zero()};\n"
    "    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < half; i += gridDim.x * 256) {\n"
    "        fr a0 = a[i], a1 = a[i + half], b0 = b[i], b1 = b[i + half];\n"
    "        sum[0] = fr_add_lazy(sum[0], fr_mul_lazy(a0, b0));\n"
    "        sum[1] = fr_add_lazy(sum[1], fr_mul_lazy(a1, b1));\n"
    "        sum[2] = fr_add_lazy(sum[2], fr_mul_lazy(fr_sub_lazy(a1, a0), fr_sub_lazy(b1, b0)));\n"
    "    }\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        fr total = fr_block_sum(fr_reduce(sum[k]), scratch);\n"
    "        if (threadIdx.x == 0)\n"
    "            sums[blockIdx.x * 3 + k] = total;\n"
    "    }\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "add_sums(fr *total, const fr *sums, unsigned blocks)\n"
    "{\n"
    "    __shared__ fr scratch[32];\n"
    "    fr sum[3];\n"
    "#pragma unroll\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        sum[k] = fr_zero();\n"
    "        for (unsigned i = threadIdx.x; i < blocks; i += 256)\n"
    "            sum[k] = fr_add(sum[k], sums[i * 3 + k]);\n"
    "        sum[k] = fr_block_sum(sum[k], scratch);\n"
    "    }\n"
    "    if (threadIdx.x == 0) {\n"
    "        total[0] = sum[0];\n"
    "        total[1] = sum[1];\n"
    "        total[2] = fr_sub(fr_dbl(fr_add(sum[1], sum[2])), sum[0]);\n"
    "    }\n"
    "}\n"
    "\n"
    "/* table[i] = (1 - r) table[i] + r table[i + half] */\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "fold(fr *table, fr r, unsigned half)\n"
    "{\n"
    "    unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
    "    if (i < half) {\n"
    "        fr low = table[i];\n"
    "        table[i] = fr_reduce(\n"
    "            fr_add_lazy(low, fr_mul_lazy(fr_sub_lazy(table[i + half], low), r)));\n"
    "    }\n"
    "}\n";

static void must(pool_status status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", pool_last_error()->message);
    exit(pool_status_class(status) == POOL_CLASS_HOST ? 77 : 1);
}

static void wrong(const char *what, uint32_t round)
{
    fprintf(stderr, "round %u: %s\n", round, what);
    exit(1);
}

static int is_equal(element a, element b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* ---- the prover: on the device, and in plain C ----------------------------------------------- */

struct prover {
    pool_kernel *round_sums, *add_sums, *fold;
    pool_buffer *tables[2], *sums, *total;
    uint32_t blocks;
};

static void launch(pool_kernel *kernel, uint32_t blocks, uint32_t arguments_count, void **arguments)
{
    const pool_launch_shape shape = {.struct_size = sizeof(shape),
        .grid = {blocks},
        .block = {THREADS},
        .argument_count = arguments_count};

    must(pool_launch(kernel, &shape, arguments, NULL));
}

/* The round's polynomial at 0, 1 and 2. */
static void prove_round(const struct prover *prover, uint32_t half, element g[3])
{
    CUdeviceptr a, b, sums, total;
    uint32_t needed = (half + THREADS - 1) / THREADS;
    uint32_t blocks = needed < prover->blocks ? needed : prover->blocks;

    must(pool_buffer_address(prover->tables[0], &a));
    must(pool_buffer_address(prover->tables[1], &b));
    must(pool_buffer_address(prover->sums, &sums));
    must(pool_buffer_address(prover->total, &total));
    launch(prover->round_sums, blocks, 4, (void *[]){&sums, &a, &b, &half});
    launch(prover->add_sums, 1, 3, (void *[]){&total, &sums, &blocks});
    must(pool_copy_to_host(g, prover->total, 0, 3 * sizeof(*g), NULL));
}

static void fold_tables(const struct prover *prover, uint32_t half, element challenge)
{
    for (int k = 0; k < 2; k++) {
        CUdeviceptr table;

        must(pool_buffer_address(prover->tables[k], &table));
        launch(
            prover->fold, (half + THREADS - 1) / THREADS, 3, (void *[]){&table, &challenge, &half});
    }
}

static void check_round(element *const tables[2], uint32_t half, const element g[3], uint32_t round)
{
    element sum[3] = {{{0}}};

    for (uint32_t i = 0; i < half; i++) {
        element value[2][3];

        for (int k = 0; k < 2; k++) {
            value[k][0] = tables[k][i];
            value[k][1] = tables[k][i + half];
            value[k][2] = plain_sub(plain_add(value[k][1], value[k][1]), value[k][0]);
        }
        for (int k = 0; k < 3; k++)
            sum[k] = plain_add(sum[k], plain_mul(value[0][k], value[1][k]));
    }
    for (int k = 0; k < 3; k++)
        if (!is_equal(sum[k], g[k]))
            wrong("the polynomial differs from that of plain C", round);
}

static void fold_plain(element *table, uint32_t half, element r)
{
    for (uint32_t i = 0; i < half; i++)
        table[i] = plain_add(table[i], plain_mul(r, plain_sub(table[i + half], table[i])));
}

/* ---- the verifier ---------------------------------------------------------------------------- */

/* g(r) of the polynomial of degree 2 with these values at 0, 1 and 2:
 * g0 + r (g1 - g0) + r (r - 1) (g2 - 2 g1 + g0) / 2. */
static element interpolate(const element g[3], element r, element one, element half)
{
    element slope = plain_sub(g[1], g[0]);
    element bend = plain_sub(plain_sub(g[2], g[1]), slope);
    element pair = plain_mul(plain_mul(r, plain_sub(r, one)), half);

    return plain_add(plain_add(g[0], plain_mul(r, slope)), plain_mul(pair, bend));
}

static void run_rounds(const struct prover *prover, element *const tables[2], uint32_t variables)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    element claim = {{0}}, one, half_of_one, last[2];

    must(pool_field_parse(field, "1", POOL_FORM_MONTGOMERY, &one));
    must(pool_field_parse(field,
        "10944121435919637611123202872628637544274182200208017171849102093287904247809",
        POOL_FORM_MONTGOMERY, &half_of_one)); /* (p + 1) / 2 */
    for (uint32_t round = 0; round < variables; round++) {
        uint32_t half = 1u << (variables - 1 - round);
        element g[3], challenge;

        prove_round(prover, half, g);
        check_round(tables, half, g, round);
        if (round > 0 && !is_equal(plain_add(g[0], g[1]), claim))
            wrong("g(0) + g(1) is not the claim", round);
        /* A real verifier derives the challenge from a transcript. */
        must(pool_random_scalars(field, 100 + round, 1, POOL_FORM_MONTGOMERY, &challenge));
        claim = interpolate(g, challenge, one, half_of_one);
        fold_tables(prover, half, challenge);
        for (int k = 0; k < 2; k++)
            fold_plain(tables[k], half, challenge);
    }
    for (int k = 0; k < 2; k++) {
        must(pool_copy_to_host(&last[k], prover->tables[k], 0, sizeof(last[k]), NULL));
        if (!is_equal(last[k], tables[k][0]))
            wrong("the last value differs from that of plain C", variables);
    }
    if (!is_equal(plain_mul(last[0], last[1]), claim))
        wrong("the last claim is not the product of the tables' last values", variables);
}

/* What takes a GPU milliseconds takes simulated devices minutes. */
static uint32_t default_variables(const char *devices)
{
    return devices && strstr(devices, "sim") ? 9 : 16;
}

int main(int count, char **arguments)
{
    const char *devices = count > 1 ? arguments[1] : NULL;
    const pool_field *field = pool_field_by_name("bn254_fr");
    const uint32_t variables =
        count > 2 ? (uint32_t)atoi(arguments[2]) : default_variables(devices);
    const pool_module_arithmetic arithmetic = {.prefix = "fr", .field = field};
    const pool_module_params text = {.struct_size = sizeof(text),
        .source = source,
        .name = "sumcheck.cu",
        .arithmetic = &arithmetic,
        .arithmetic_count = 1};
    pool_params params = {.struct_size = sizeof(params), .devices = devices};
    struct prover prover = {.blocks = 264};
    element *tables[2];
    pool_device *device;
    pool_module *module;
    device_pool *pool;
    uint64_t bytes;

    if (variables < 1 || variables > 24)
        return fprintf(stderr, "VARIABLES must be 1 to 24\n"), 2;
    bytes = sizeof(element) << variables;
    plain_set_field(field);
    must(pool_create(&pool, &params));
    must(pool_next_device(pool, &device));
    must(pool_module_compile(device, &text, &module));
    must(pool_kernel_get(module, "round_sums", &prover.round_sums));
    must(pool_kernel_get(module, "add_sums", &prover.add_sums));
    must(pool_kernel_get(module, "fold", &prover.fold));
    for (int k = 0; k < 2; k++) {
        tables[k] = malloc(bytes);
        if (!tables[k])
            return 1;
        must(pool_random_scalars(
            field, 1 + (uint64_t)k, bytes / sizeof(element), POOL_FORM_MONTGOMERY, tables[k]));
        must(pool_buffer_from_host(device, tables[k], bytes, &prover.tables[k]));
    }
    must(pool_buffer_alloc(device, prover.blocks * 3 * sizeof(element), &prover.sums));
    must(pool_buffer_alloc(device, 3 * sizeof(element), &prover.total));

    run_rounds(&prover, tables, variables);
    printf("sumcheck over %u variables: accepted\n", variables);

    must(pool_buffer_destroy(&prover.total));
    must(pool_buffer_destroy(&prover.sums));
    for (int k = 0; k < 2; k++) {
        must(pool_buffer_destroy(&prover.tables[k]));
        free(tables[k]);
    }
    must(pool_module_destroy(&module));
    must(pool_destroy(&pool));
    return 0;
}
