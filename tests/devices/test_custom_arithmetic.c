/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's arithmetic in custom kernels: fields of every kind, curves and parameter sets, many
 * of them in one program, against plain C on the host; and what pool_module_compile refuses.
 *
 *   test_custom_arithmetic [DEVICES]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/assert.h"
#include "support/field.h"
#include "support/needs_compiler.h"
#include "support/pool.h"

#include "base/alloc.h"
#include "pool/module/counters.h"
#include "zk/curve/curve.h"
#include "zk/custom/header.h"
#include "zk/poseidon/poseidon.h"

static const pool_exec on_host = {.struct_size = sizeof(pool_exec), .on_host = 1};

static pool_module *compile(
    const char *source, const pool_module_arithmetic *arithmetic, size_t count)
{
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .arithmetic = arithmetic,
        .arithmetic_count = count};
    pool_module *module;

    assert_ok(pool_module_compile(device, &params, &module));
    return module;
}

/* Launches a kernel of (out, a, b, n) with one block of 64 threads and returns `bytes` of `out`,
 * which the caller frees. */
static void *run(pool_module *module, const char *name, const void *a, size_t a_bytes,
    const void *b, size_t b_bytes, uint32_t n, size_t bytes)
{
    pool_buffer *in[2], *out;
    CUdeviceptr addresses[3];
    void *arguments[] = {&addresses[0], &addresses[1], &addresses[2], &n};
    const pool_launch_shape shape = {
        .struct_size = sizeof(shape), .block = {64}, .argument_count = 4};
    void *result = base_calloc(bytes, 1);
    pool_kernel *kernel;

    assert_non_null(result);
    assert_ok(pool_kernel_get(module, name, &kernel));
    assert_ok(pool_buffer_from_host(device, a, a_bytes, &in[0]));
    assert_ok(pool_buffer_from_host(device, b, b_bytes, &in[1]));
    assert_ok(pool_buffer_alloc(device, bytes, &out));
    assert_ok(pool_buffer_address(out, &addresses[0]));
    for (int i = 0; i < 2; i++)
        assert_ok(pool_buffer_address(in[i], &addresses[i + 1]));
    assert_ok(pool_launch(kernel, &shape, arguments, NULL));
    assert_ok(pool_copy_to_host(result, out, 0, bytes, NULL));
    assert_ok(pool_buffer_destroy(&out));
    assert_ok(pool_buffer_destroy(&in[0]));
    assert_ok(pool_buffer_destroy(&in[1]));
    return result;
}

/* ---- fields ---------------------------------------------------------------------------------- */

enum { ELEMENTS = 40, RESULTS = 13 };

static const char field_kernel[] =
    "#define KERNEL(F)                                                                   \\\n"
    "    extern \"C\" __global__ void kernel_##F(F *out, const F *a, const F *b, unsigned n) \\\n"
    "    {                                                                               \\\n"
    "        __shared__ F scratch[32];                                                   \\\n"
    "        unsigned i = threadIdx.x;                                                   \\\n"
    "        F sum = F##_block_sum(i < n ? a[i] : F##_zero(), scratch);                  \\\n"
    "        if (i >= n)                                                                 \\\n"
    "            return;                                                                 \\\n"
    "        F x = a[i], y = b[i], many[13], factors[13], z = x;                         \\\n"
    "        for (int k = 0; k < 13; k++) {                                              \\\n"
    "            many[k] = z;                                                            \\\n"
    "            factors[k] = y;                                                         \\\n"
    "            z = F##_add(z, x);                                                      \\\n"
    "        }                                                                           \\\n"
    "        F *r = out + 13 * i;                                                        \\\n"
    "        r[0] = F##_mul(x, y);                                                       \\\n"
    "        r[1] = F##_add(x, y);                                                       \\\n"
    "        r[2] = F##_sub(x, y);                                                       \\\n"
    "        r[3] = F##_sqr(x);                                                          \\\n"
    "        r[4] = F##_inverse(x);                                                      \\\n"
    "        r[5] = F##_reduce(F##_dot<13>(x, many, factors));                           \\\n"
    "        r[6] = F##_to_mont(F##_from_mont(x));                                       \\\n"
    "        r[7] = F##_from_u64(0xfedcba9876543210ull - i);                             \\\n"
    "        r[8] = F##_reduce(F##_sub_lazy(F##_mul_lazy(x, y), F##_dbl_lazy(x)));       \\\n"
    "        r[9] = F##_mul_sub(x, y, x, x);                                             \\\n"
    "        r[10] = F##_cneg(x, i & 1);                                                 \\\n"
    "        r[11] = F##_reduce(F##_dot<2>(x, many, factors));                           \\\n"
    "        r[12] = i == 0 ? sum : F##_zero();                                          \\\n"
    "    }\n";

/* The same in Montgomery form on the host; `sum` is that of all x. */
static void expect_field(const pool_field *field, uint64_t (*r)[FIELD_MAX_LIMBS], const uint64_t *x,
    const uint64_t *y, const uint64_t *sum, uint32_t i)
{
    uint64_t t[FIELD_MAX_LIMBS], factor[FIELD_MAX_LIMBS], high[FIELD_MAX_LIMBS];
    const uint64_t integer = UINT64_C(0xfedcba9876543210) - i;

    field_mul(field, r[0], x, y);
    field_add(field, r[1], x, y);
    field_sub(field, r[2], x, y);
    field_sqr(field, r[3], x);
    field_inverse(field, r[4], x);
    for (int k = 0; k < 2; k++) { /* x + x y (1 + … + n) */
        field_set_integer(field, factor, k == 0 ? 13 * 14 / 2 : 3);
        field_mul(field, t, r[0], factor);
        field_add(field, r[k == 0 ? 5 : 11], t, x);
    }
    field_copy(field, r[6], x);
    field_set_integer(field, high, (int64_t)(integer >> 32));
    field_set_integer(field, factor, INT64_C(1) << 32);
    field_mul(field, high, high, factor);
    field_set_integer(field, t, (int64_t)(integer & UINT32_MAX));
    field_add(field, r[7], high, t);
    field_double(field, t, x);
    field_sub(field, r[8], r[0], t);
    field_sub(field, r[9], r[0], r[3]);
    field_copy(field, r[10], x);
    if (i & 1)
        field_neg(field, r[10], x);
    field_set_zero(field, r[12]);
    if (i == 0)
        field_copy(field, r[12], sum);
}

/* Random elements, and those at both ends: Montgomery form in `limbs`, the device's in `packed`. */
static void fill_elements(const pool_field *field, uint64_t seed,
    uint64_t (*limbs)[FIELD_MAX_LIMBS], unsigned char *packed)
{
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        field_random(field, seed, i, limbs[i]);
        field_to_montgomery(field, limbs[i], limbs[i]);
        if (i < 3)
            field_set_integer(field, limbs[i], (int64_t)i - 1);
        field_store_for_device(field, packed + i * field->bytes, limbs[i]);
    }
}

static void check_field(pool_module *module, const char *prefix, const pool_field *field)
{
    static uint64_t a[ELEMENTS][FIELD_MAX_LIMBS], b[ELEMENTS][FIELD_MAX_LIMBS];
    unsigned char *packed = base_calloc(2 * ELEMENTS, field->bytes);
    unsigned char want[FIELD_MAX_LIMBS * 8], *got;
    uint64_t r[RESULTS][FIELD_MAX_LIMBS], sum[FIELD_MAX_LIMBS];
    char name[32];

    assert_non_null(packed);
    fill_elements(field, 1, a, packed);
    fill_elements(field, 2, b, packed + ELEMENTS * field->bytes);
    field_set_zero(field, sum);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        field_add(field, sum, sum, a[i]);
    snprintf(name, sizeof(name), "kernel_%.16s", prefix);
    got = run(module, name, packed, ELEMENTS * field->bytes, packed + ELEMENTS * field->bytes,
        ELEMENTS * field->bytes, ELEMENTS, RESULTS * ELEMENTS * field->bytes);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        expect_field(field, r, a[i], b[i], sum, i);
        for (uint32_t k = 0; k < RESULTS; k++) {
            field_store_for_device(field, want, r[k]);
            if (memcmp(got + (i * RESULTS + k) * field->bytes, want, field->bytes) != 0)
                fail_msg("%s, %s: result %u of element %u is wrong", prefix, pool_field_name(field),
                    k, i);
        }
    }
    base_free(got);
    base_free(packed);
}

/* A dozen fields in one program: every generator, one word to twelve, none and many spare bits. */
static void test_fields(void **state)
{
    static const char *const names[] = {"bn254_fr", "goldilocks", "babybear", "mersenne31",
        "bls12_381_fq", "stark252", "secp256k1_fq"};
    static const size_t custom[] = {0, 3, 5, 6, 7, 9, 11};
    enum { NAMED = 7, COUNT = 14 };
    char prefixes[COUNT][16], *source = base_strdup("");
    pool_module_arithmetic entries[COUNT] = {{0}};
    pool_field *fields[COUNT];
    pool_module *module;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        char *longer;

        fields[i] = i < NAMED ? pool_field_retain(pool_field_by_name(names[i]))
                              : tested_field(pool_field_count() + custom[i - NAMED]);
        assert_non_null(fields[i]);
        snprintf(prefixes[i], sizeof(prefixes[i]), "f%u_x", (unsigned)i);
        entries[i].prefix = prefixes[i];
        entries[i].field = fields[i];
        longer = base_format("%s#include \"%s.cuh\"\n%sKERNEL(%s)\n", source, prefixes[i],
            i == 0 ? field_kernel : "", prefixes[i]);
        assert_non_null(longer);
        base_free(source);
        source = longer;
    }
    module = compile(source, entries, COUNT);
    base_free(source);
    for (size_t i = 0; i < COUNT; i++) {
        check_field(module, prefixes[i], fields[i]);
        pool_field_destroy(&fields[i]);
    }
    assert_ok(pool_module_destroy(&module));
}

/* Two prefixes of one field have one type, and macros as the header's generator defines them. */
static void test_one_type(void **state)
{
    static const char source[] =
        "#include \"fr.cuh\"\n#include \"f2.cuh\"\n#include \"fr.cuh\"\n"
        "static_assert(FR_WORDS == 8 && F2_BITS == 254, \"macros\");\n"
        "extern \"C\" __global__ void both(fr *out, const f2 *a, const fr *b, unsigned n)\n"
        "{ if (threadIdx.x < n) out[threadIdx.x] = f2_mul(a[threadIdx.x], b[threadIdx.x]); }\n";
    const pool_field *field = pool_field_by_name("bn254_fr");
    const pool_module_arithmetic entries[] = {
        {.prefix = "fr", .field = field}, {.prefix = "f2", .field = field}};
    uint64_t a[4], b[4], product[4], *got;
    pool_module *module = compile(source, entries, 2);

    (void)state;
    assert_ok(pool_random_scalars(field, 1, 1, POOL_FORM_MONTGOMERY, a));
    assert_ok(pool_random_scalars(field, 2, 1, POOL_FORM_MONTGOMERY, b));
    field_mul(field, product, a, b);
    got = run(module, "both", a, sizeof(a), b, sizeof(b), 1, sizeof(product));
    assert_memory_equal(got, product, sizeof(product));
    base_free(got);
    assert_ok(pool_module_destroy(&module));
}

/* ---- curves ---------------------------------------------------------------------------------- */

enum { POINTS = 6, SUMS = 8 };

static const char curve_kernel[] =
    "#define KERNEL(G)                                                                      \\\n"
    "    extern \"C\" __global__ void kernel_##G(                                           \\\n"
    "        G##_affine *out, const G##_affine *points, const unsigned *scalars, unsigned n) \\\n"
    "    {                                                                                  \\\n"
    "        unsigned i = threadIdx.x;                                                      \\\n"
    "        if (i >= n)                                                                    \\\n"
    "            return;                                                                    \\\n"
    "        G##_affine p = points[i], q = points[(i + 1) % n], *r = out + 8 * i;           \\\n"
    "        G##_xyzz x = G##_from_affine(p), y = G##_from_affine(q), s[8];                 \\\n"
    "        G##_coordinate scratch[8];                                                     \\\n"
    "        s[0] = G##_add_mixed(x, q);                                                    \\\n"
    "        s[1] = G##_add(G##_double(x), y);                                              \\\n"
    "        s[2] = G##_add_mixed(x, p);                                                    \\\n"
    "        s[3] = G##_add(x, G##_neg(x));                                                 \\\n"
    "        s[4] = G##_mul(p, scalars + 2 * i, 2);                                         \\\n"
    "        s[5] = G##_from_jacobian(G##_to_jacobian(s[1]));                               \\\n"
    "        s[6] = G##_from_projective(G##_to_projective(s[1]));                           \\\n"
    "        s[7] = G##_select(i & 1, G##_infinity(), G##_from_affine(G##_cneg(p, i)));     \\\n"
    "        G##_batch_to_affine(s, r, scratch, 8, 1);                                      \\\n"
    "        if (G##_is_infinity(s[3]) != G##_is_infinity(r[3]))                            \\\n"
    "            r[3] = p;                                                                  \\\n"
    "        r[0] = G##_to_affine(G##_reduce(s[0]));                                        \\\n"
    "    }\n";

/* Point i, and the next one. */
static void expect_sums(const pool_curve *curve, struct curve_jacobian *r,
    const struct curve_jacobian *p, const struct curve_jacobian *q, uint64_t scalar, uint32_t i)
{
    struct curve_jacobian minus;

    curve_jacobian_add(curve, &r[0], p, q);
    curve_jacobian_double(curve, &r[2], p);
    curve_jacobian_add(curve, &r[1], &r[2], q);
    curve_jacobian_set_infinity(curve, &r[3]);
    curve_multiply(curve, &r[4], p, &scalar, 1);
    r[5] = r[6] = r[1];
    curve_jacobian_neg(curve, &minus, p);
    curve_jacobian_set_infinity(curve, &r[7]);
    if (i % 2 == 0)
        r[7] = i ? minus : *p;
}

static void check_curve(pool_module *module, const char *prefix, const pool_curve *curve)
{
    const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    unsigned char *points = base_calloc(POINTS, bytes), *want = base_calloc(1, bytes), *got;
    uint64_t scalars[POINTS];
    char name[32];

    assert_ok(pool_random_points(curve, 5, POINTS, &format, points, NULL));
    memset(points + 3 * bytes, 0, bytes);                  /* infinity */
    memcpy(points + 5 * bytes, points + 4 * bytes, bytes); /* equal neighbours */
    for (size_t i = 0; i < POINTS; i++)
        scalars[i] = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    snprintf(name, sizeof(name), "kernel_%.16s", prefix);
    got = run(module, name, points, POINTS * bytes, scalars, sizeof(scalars), POINTS,
        SUMS * POINTS * bytes);
    for (uint32_t i = 0; i < POINTS; i++) {
        struct curve_jacobian p, q, r[SUMS];

        assert_null(curve_load(curve, &p, &format, points + i * bytes));
        assert_null(curve_load(curve, &q, &format, points + (i + 1) % POINTS * bytes));
        expect_sums(curve, r, &p, &q, scalars[i], i);
        for (uint32_t k = 0; k < SUMS; k++) {
            curve_store(curve, &format, want, &r[k]);
            if (memcmp(got + (i * SUMS + k) * bytes, want, bytes) != 0)
                fail_msg("%s: result %u of point %u is wrong", prefix, k, i);
        }
    }
    base_free(got);
    base_free(want);
    base_free(points);
}

static void test_curves(void **state)
{
    const pool_module_arithmetic entries[] = {
        {.prefix = "g1", .curve = pool_curve_by_name("bn254_g1")},
        {.prefix = "g2", .curve = pool_curve_by_name("bn254_g2")},
        {.prefix = "stark", .curve = pool_curve_by_name("bls12_381_g1")}};
    char *source = base_format("#include \"g1.cuh\"\n#include \"g2.cuh\"\n#include \"stark.cuh\"\n"
                               "%sKERNEL(g1)\nKERNEL(g2)\nKERNEL(stark)\n",
        curve_kernel);
    pool_module *module;

    (void)state;
    assert_non_null(source);
    module = compile(source, entries, 3);
    base_free(source);
    for (size_t i = 0; i < 3; i++)
        check_curve(module, entries[i].prefix, entries[i].curve);
    assert_ok(pool_module_destroy(&module));
}

/* ---- parameter sets -------------------------------------------------------------------------- */

static const char poseidon_kernel[] =
    "#define KERNEL(H)                                                                       \\\n"
    "    extern \"C\" __global__ void permute_##H(                                           \\\n"
    "        H##_element *out, const H##_element *in, const H##_element *, unsigned n)       \\\n"
    "    {                                                                                   \\\n"
    "        H##_element state[H##_width];                                                   \\\n"
    "        if (threadIdx.x >= n)                                                           \\\n"
    "            return;                                                                     \\\n"
    "        for (int i = 0; i < H##_width; i++)                                             \\\n"
    "            state[i] = in[threadIdx.x * H##_width + i];                                 \\\n"
    "        H##_permute(state);                                                             \\\n"
    "        for (int i = 0; i < H##_width; i++)                                             \\\n"
    "            out[threadIdx.x * H##_width + i] = state[i];                                \\\n"
    "    }                                                                                   \\\n"
    "    extern \"C\" __global__ void hash_##H(                                              \\\n"
    "        H##_element *out, const H##_element *in, const H##_element *, unsigned n)       \\\n"
    "    {                                                                                   \\\n"
    "        if (threadIdx.x < n)                                                            \\\n"
    "            H##_hash<2>(out + threadIdx.x * H##_digest_elements, in + threadIdx.x * 2); \\\n"
    "    }\n";

static void check_set(pool_module *module, const char *prefix, const pool_poseidon *set)
{
    enum { STATES = 3 };
    const pool_field *field = pool_poseidon_field(set);
    pool_form form =
        field->flags & FIELD_DEVICE_STANDARD ? POOL_FORM_STANDARD : POOL_FORM_MONTGOMERY;
    size_t width = pool_poseidon_width(set), digest = pool_poseidon_digest_elements(set);
    unsigned char *in = base_calloc(STATES * width, field->bytes);
    unsigned char *want = base_calloc(STATES * width, field->bytes), *got;
    pool_span from = {.data = in, .count = STATES, .form = form};
    pool_span to = {.data = want, .count = STATES, .form = form};
    char name[32];

    assert_ok(pool_random_scalars(field, 7, STATES * width, form, in));
    assert_ok(pool_poseidon_permute(set, &on_host, &from, &to));
    snprintf(name, sizeof(name), "permute_%.16s", prefix);
    got = run(module, name, in, STATES * width * field->bytes, in, 8, STATES,
        STATES * width * field->bytes);
    assert_memory_equal(got, want, STATES * width * field->bytes);
    base_free(got);
    assert_ok(pool_poseidon_hash(set, &on_host, &from, 2, &to));
    snprintf(name, sizeof(name), "hash_%.16s", prefix);
    got = run(
        module, name, in, STATES * 2 * field->bytes, in, 8, STATES, STATES * digest * field->bytes);
    assert_memory_equal(got, want, STATES * digest * field->bytes);
    base_free(got);
    base_free(want);
    base_free(in);
}

/* Several sets, one of them with the type of a field's entry. */
static void test_sets(void **state)
{
    static const char *const names[] = {"circom-bn254-t3", "plonky2-goldilocks-t12",
        "poseidon2-plonky3-babybear-t16", "mina-kimchi-pallas-t3"};
    enum { COUNT = 4 };
    pool_module_arithmetic entries[COUNT + 1] = {{.prefix = "h0"}, {.prefix = "h1"},
        {.prefix = "h2"}, {.prefix = "h3"},
        {.prefix = "fr", .field = pool_field_by_name("bn254_fr")}};
    pool_poseidon *sets[COUNT];
    char *source = base_format("#include \"h0.cuh\"\n#include \"h1.cuh\"\n#include \"h2.cuh\"\n"
                               "#include \"h3.cuh\"\n#include \"fr.cuh\"\n"
                               "%sKERNEL(h0)\nKERNEL(h1)\nKERNEL(h2)\nKERNEL(h3)\n"
                               "__device__ fr one_type(h0_element x) { return fr_sqr(x); }\n",
        poseidon_kernel);
    pool_module *module;

    (void)state;
    assert_non_null(source);
    for (size_t i = 0; i < COUNT; i++) {
        assert_ok(pool_poseidon_by_name(names[i], &sets[i]));
        entries[i].poseidon = sets[i];
    }
    module = compile(source, entries, COUNT + 1);
    base_free(source);
    for (size_t i = 0; i < COUNT; i++) {
        check_set(module, entries[i].prefix, sets[i]);
        pool_poseidon_destroy(&sets[i]);
    }
    assert_ok(pool_module_destroy(&module));
}

/* ---- cache and refusals ---------------------------------------------------------------------- */

/* The same source with another field under the prefix is another module. */
static void test_key(void **state)
{
    static const char source[] =
        "#include \"fr.cuh\"\n"
        "extern \"C\" __global__ void one(unsigned *out, const fr *, const fr *, unsigned n)\n"
        "{ if (threadIdx.x < n) *out = fr_one().word[0]; }\n";
    static const char *const names[] = {"babybear", "koalabear", "babybear"};
    uint32_t in = 0, *got[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const pool_module_arithmetic entry = {
            .prefix = "fr", .field = pool_field_by_name(names[i])};
        pool_module *module = compile(source, &entry, 1);

        got[i] = run(module, "one", &in, 4, &in, 4, 1, 4);
        assert_ok(pool_module_destroy(&module));
    }
    assert_int_not_equal(*got[0], *got[1]);
    assert_int_equal(*got[0], *got[2]);
    for (size_t i = 0; i < 3; i++)
        base_free(got[i]);
}

/* Of repeated options the last one counts, so that their order is part of the key. */
static void test_order_of_options(void **state)
{
    static const char *const options[2][2] = {{"-DN=111", "-DN=222"}, {"-DN=222", "-DN=111"}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const pool_module_params params = {.struct_size = sizeof(params),
            .source = "extern \"C\" __global__ void last(unsigned *out, const unsigned *,\n"
                      "    const unsigned *, unsigned n) { if (threadIdx.x < n) *out = N; }\n",
            .options = options[i],
            .option_count = 2};
        pool_module *module;
        uint32_t in = 0, *got;

        assert_ok(pool_module_compile(device, &params, &module));
        got = run(module, "last", &in, 4, &in, 4, 1, 4);
        assert_int_equal(*got, i == 0 ? 222 : 111);
        base_free(got);
        assert_ok(pool_module_destroy(&module));
    }
}

static pool_status compile_with(
    const char *source, const char *const *options, size_t count, pool_module **module)
{
    const pool_module_params params = {
        .struct_size = sizeof(params), .source = source, .options = options, .option_count = count};

    return pool_module_compile(device, &params, module);
}

/* Of options that set one value the last one counts, and all count before the library's own. */
static void test_repeated_options(void **state)
{
    static const char source[] =
        "extern \"C\" __global__ void last(unsigned *out, const unsigned *,\n"
        "    const unsigned *, unsigned n) { if (threadIdx.x < n) *out = __cplusplus; }\n";
    static const char *const options[] = {"-std=c++11", "--std=c++14", "-maxrregcount=32",
        "--maxrregcount=64", "--use_fast_math", "-use_fast_math", "-lineinfo", "-lineinfo"};
    static const char *const none[] = {"--gpu-architecture=compute_10"};
    pool_module *module;
    uint32_t in = 0, *got;

    (void)state;
    for (int is_given = 0; is_given < 2; is_given++) {
        assert_ok(compile_with(source, options, is_given ? 8 : 0, &module));
        got = run(module, "last", &in, 4, &in, 4, 1, 4);
        assert_int_equal(*got, is_given ? 201402 : 201703);
        base_free(got);
        assert_ok(pool_module_destroy(&module));
    }
    /* The chip too; NVRTC knows none that old. */
    assert_int_equal(compile_with(source, none, 1, &module), POOL_ERR_COMPILE);
    assert_non_null(strstr(pool_last_error()->message, "gpu-architecture"));
}

/* The name of a set, which is part of no key, adds nothing to the generated text. */
static void test_name_of_a_set(void **state)
{
    pool_module_arithmetic entry = {.prefix = "h"};
    char name[sizeof(entry.poseidon->name)];
    pool_poseidon *set;
    pool_module *module;

    (void)state;
    assert_ok(pool_poseidon_by_name("plonky2-goldilocks-t12", &set));
    memcpy(name, set->name, sizeof(name));
    snprintf(set->name, sizeof(set->name), "*/\n#define ADDED 1\n/*");
    entry.poseidon = set;
    module = compile("#include \"h.cuh\"\n#ifdef ADDED\n#error added\n#endif\n"
                     "extern \"C\" __global__ void named(void) {}\n",
        &entry, 1);
    memcpy(set->name, name, sizeof(name));
    assert_ok(pool_module_destroy(&module));
    pool_poseidon_destroy(&set);
}

/* Headers are generated for a compilation only, not when the binary is found in memory or on disk.
 */
static void test_hit_generates_nothing(void **state)
{
    static const char source[] =
        "#include \"fr.cuh\"\n#include \"g1.cuh\"\n"
        "extern \"C\" __global__ void three(fr *out) { *out = fr_one(); }\n";
    const pool_module_arithmetic entries[] = {
        {.prefix = "fr", .field = pool_field_by_name("bn254_fr")},
        {.prefix = "g1", .curve = pool_curve_by_name("bn254_g1")}};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .arithmetic = entries,
        .arithmetic_count = 2};
    uint64_t compiled = 0, generated = 0;

    (void)state;
    for (int round = 0; round < 4; round++) {
        pool_module *module = compile(source, entries, 2);

        assert_ok(pool_warm_up(pool, NULL, &params, 1));
        assert_ok(pool_module_destroy(&module));
        if (round == 0) {
            compiled = atomic_load(&module_counters.images[MODULE_IMAGE_COMPILER]);
            generated = atomic_load(&arithmetic_generated);
        } else if (round == 2) {
            module_image_forget(); /* the next binary is on disk, if that may be used */
        }
    }
    compiled = atomic_load(&module_counters.images[MODULE_IMAGE_COMPILER]) - compiled;
    assert_int_equal(atomic_load(&arithmetic_generated) - generated, 2 * compiled);
    assert_between(compiled, 0, 1);
}

/* A header with the text that stands for a generated one in the key is not taken for that. */
static void test_given_header_is_not_generated(void **state)
{
    const pool_module_arithmetic entry = {.prefix = "fr", .field = pool_field_by_name("babybear")};
    pool_module_params params = {.struct_size = sizeof(params),
        .source = "#include \"fr.cuh\"\n"
                  "extern \"C\" __global__ void four(fr *out) { *out = fr_one(); }\n",
        .arithmetic = &entry,
        .arithmetic_count = 1};
    struct arithmetic_expansion expansion;
    pool_module *module;

    (void)state;
    assert_ok(pool_module_compile(device, &params, &module));
    assert_ok(pool_module_destroy(&module));
    assert_ok(arithmetic_expand("test", &params, &expansion));
    assert_int_equal(pool_module_compile(device, &expansion.params, &module), POOL_ERR_COMPILE);
    arithmetic_release(&expansion);
}

/* A warm-up generates the same headers, so a later compilation finds its binary. */
static void test_warm_up(void **state)
{
    static const char source[] =
        "#include \"fr.cuh\"\n"
        "extern \"C\" __global__ void two(fr *out, const fr *, const fr *, unsigned n)\n"
        "{ if (threadIdx.x < n) *out = fr_dbl(fr_one()); }\n";
    const pool_module_arithmetic entry = {
        .prefix = "fr", .field = pool_field_by_name("goldilocks")};
    const pool_module_params params = {.struct_size = sizeof(params),
        .source = source,
        .arithmetic = &entry,
        .arithmetic_count = 1};
    uint64_t in = 0, *got, compiled;
    pool_module *module;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_ok(pool_warm_up(pool, NULL, &params, 1));
    compiled = atomic_load(&module_counters.images[MODULE_IMAGE_COMPILER]);
    assert_ok(pool_module_compile(device, &params, &module));
    assert_int_equal(atomic_load(&module_counters.images[MODULE_IMAGE_COMPILER]), compiled);
    got = run(module, "two", &in, 8, &in, 8, 1, 8);
    assert_int_equal(*got, 2);
    base_free(got);
    assert_ok(pool_module_destroy(&module));
}

static void test_refusals(void **state)
{
    const pool_field *field = pool_field_by_name("bn254_fr");
    const pool_curve *curve = pool_curve_by_name("bn254_g1");
    const pool_module_header header = {"fr.cuh", ""};
    const struct {
        pool_module_arithmetic entries[2];
        const char *message;
    } cases[] = {
        {{{.field = field}, {"b", field, NULL, NULL}}, "prefix of `arithmetic[0]` must not be"},
        {{{"Fr", field, NULL, NULL}, {"b", field, NULL, NULL}}, "unsupported prefix \"Fr\""},
        {{{"9", field, NULL, NULL}, {"b", field, NULL, NULL}}, "unsupported prefix \"9\""},
        {{{"", field, NULL, NULL}, {"b", field, NULL, NULL}}, "unsupported prefix \"\""},
        {{{"abcdefghijklmnopq", field, NULL, NULL}, {"b", field, NULL, NULL}}, "unsupported"},
        {{{"a", NULL, NULL, NULL}, {"b", field, NULL, NULL}}, "(\"a\") has 0 of"},
        {{{"a", field, NULL, NULL}, {"b", field, curve, NULL}}, "(\"b\") has 2 of"},
        {{{"a", field, NULL, NULL}, {"a", NULL, curve, NULL}}, "the same prefix \"a\""},
        {{{"ab", field, NULL, NULL}, {"fr", field, NULL, NULL}}, "`headers[0]` has the name"},
        {{{"sum", field, NULL, NULL}, {"b", NULL, curve, NULL}}, "functions use that name"},
        {{{"ab", field, NULL, NULL}, {"int", field, NULL, NULL}}, "functions use that name"},
    };
    pool_module_params params = {.struct_size = sizeof(params),
        .source = "",
        .headers = &header,
        .header_count = 1,
        .arithmetic_count = 2};
    pool_module *module = NULL;

    (void)state;
    assert_int_equal(pool_module_compile(device, &params, &module), POOL_ERR_INVALID_ARGUMENT);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        params.arithmetic = cases[i].entries;
        assert_int_equal(pool_module_compile(device, &params, &module), POOL_ERR_INVALID_ARGUMENT);
        if (!strstr(pool_last_error()->message, cases[i].message))
            fail_msg("case %zu: %s", i, pool_last_error()->message);
        assert_int_equal(pool_warm_up(pool, NULL, &params, 1), POOL_ERR_INVALID_ARGUMENT);
    }
    assert_null(module);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_one_type),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_order_of_options),
        cmocka_unit_test(test_repeated_options),
        cmocka_unit_test(test_name_of_a_set),
        cmocka_unit_test(test_hit_generates_nothing),
        cmocka_unit_test(test_given_header_is_not_generated),
        cmocka_unit_test(test_warm_up),
        cmocka_unit_test(test_refusals),
    };

    device_text = count > 1 ? arguments[1] : NULL;
    if (open_pool(NULL)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    if (compiler_is_missing(device)) {
        close_pool(NULL);
        return 77;
    }
    close_pool(NULL);
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
