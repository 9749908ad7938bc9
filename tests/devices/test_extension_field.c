/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vectors over extension fields and their operations in custom kernels, on simulated devices or the
 * machine's own, against the answers of tests/kat/extension_fields.py; and what refuses extensions.
 *
 *   test_extension_field [DEVICES]
 */
#include "support/ntt.h"

#include "support/poseidon.h"
#include "support/stark.h"

static struct stark_case one;

typedef pool_status (*binary)(
    const pool_field *, const pool_exec *, const pool_span *, const pool_span *, const pool_span *);

static void check_binary(binary run, const char *name, pool_form form)
{
    unsigned char *a = stark_elements(&one, one.json, "a"),
                  *b = stark_elements(&one, one.json, "b");
    unsigned char *wanted = stark_elements(&one, one.json, name), *out = calloc(9, one.bytes);
    const pool_span spans[] = {{.data = a, .count = 9, .form = form},
        {.data = b, .count = 9, .form = form}, {.data = out, .count = 9}};
    const pool_exec exec = exec_within(0);

    if (form == POOL_FORM_MONTGOMERY) {
        assert_ok(pool_field_to_montgomery(one.field, a, 9, a));
        assert_ok(pool_field_to_montgomery(one.field, b, 9, b));
    }
    assert_ok(run(one.field, &exec, &spans[0], &spans[1], &spans[2]));
    assert_memory_equal(out, wanted, 9 * one.bytes);
    free(a);
    free(b);
    free(wanted);
    free(out);
}

static void test_answers(void **state)
{
    const pool_exec exec = exec_within(0);

    (void)state;
    for (int i = 0; stark_case(&one, i); i++) {
        unsigned char *a = stark_elements(&one, one.json, "a"),
                      *b = stark_elements(&one, one.json, "b");
        unsigned char *wanted = stark_elements(&one, one.json, "inverse"),
                      *out = calloc(9, one.bytes);
        const pool_span in = {.data = a, .count = 9}, to = {.data = out, .count = 9};

        for (int form = 0; form < 2; form++) {
            check_binary(pool_vector_add, "sum", (pool_form)form);
            check_binary(pool_vector_sub, "difference", (pool_form)form);
            check_binary(pool_vector_mul, "product", (pool_form)form);
        }
        assert_ok(pool_vector_inverse(one.field, &exec, &in, &to));
        assert_memory_equal(out, wanted, 9 * one.bytes);
        free(wanted);
        wanted = stark_elements(&one, one.json, "scaled");
        assert_ok(pool_vector_scale(one.field, &exec, b, &in, &to));
        assert_memory_equal(out, wanted, 9 * one.bytes);
        free(wanted);
        wanted = stark_elements(&one, one.json, "powers");
        assert_ok(pool_vector_powers(one.field, &exec, a + one.bytes, &to));
        assert_memory_equal(out, wanted, 9 * one.bytes);
        free(wanted);
        free(a);
        free(b);
        free(out);
    }
}

/* out[i] = (a[i] + 3) b[i] / b[i], and the sum of a warp's a[i]. */
static const char source[] =
    "#include \"fe.cuh\"\n"
    "#include \"fb.cuh\"\n"
    "extern \"C\" __global__ void combine(fe *out, const fe *a, const fe *b, unsigned n)\n"
    "{\n"
    "    unsigned i = threadIdx.x;\n"
    "    fe three = fe_from_u64(3), x = i < n ? fe_to_mont(a[i]) : fe_zero();\n"
    "    fb first = fe_coordinate(x, 0);\n"
    "    fe sum = fe_warp_sum(fe_from_c(first));\n"
    "    if (i < n) {\n"
    "        fe y = fe_to_mont(b[i]);\n"
    "        out[i] = fe_from_mont(fe_mul(fe_mul(fe_add(x, three), y), fe_inverse(y)));\n"
    "    }\n"
    "    if (i == 0)\n"
    "        out[n] = fe_from_mont(fe_sub(sum, fe_mul_c(fe_one(), fb_zero())));\n"
    "}\n";

static void test_kernels(void **state)
{
    (void)state;
    for (int i = 0; stark_case(&one, i); i++) {
        const pool_module_arithmetic arithmetic[] = {
            {.prefix = "fe", .field = one.field}, {.prefix = "fb", .field = one.base}};
        pool_module_params params = {.struct_size = sizeof(params),
            .source = source,
            .arithmetic = arithmetic,
            .arithmetic_count = 2};
        const pool_launch_shape shape = {
            .struct_size = sizeof(shape), .block = {32}, .argument_count = 4};
        const pool_module_arithmetic clash[] = {
            arithmetic[0], {.prefix = "fe_c", .field = one.base}};
        unsigned char *in[2] = {
            stark_elements(&one, one.json, "a"), stark_elements(&one, one.json, "b")};
        unsigned char *out = calloc(10, one.bytes);
        uint64_t three = 3, sum = 0;
        pool_buffer *buffers[3] = {NULL};
        CUdeviceptr addresses[3];
        unsigned n = 9;
        void *arguments[] = {&addresses[2], &addresses[0], &addresses[1], &n};
        pool_module *module;
        pool_kernel *kernel;

        for (int k = 0; k < 3; k++) {
            assert_ok(pool_buffer_from_host(
                device, k < 2 ? in[k] : out, (k < 2 ? 9 : 10) * one.bytes, &buffers[k]));
            assert_ok(pool_buffer_address(buffers[k], &addresses[k]));
        }
        assert_ok(pool_module_compile(device, &params, &module));
        assert_ok(pool_kernel_get(module, "combine", &kernel));
        assert_ok(pool_launch(kernel, &shape, arguments, NULL));
        assert_ok(pool_copy_to_host(out, buffers[2], 0, 10 * one.bytes, NULL));
        for (unsigned k = 0; k < 9; k++) {
            uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS] = {three};

            field_load(one.field, x, in[0] + k * one.bytes);
            sum = (uint64_t)((sum + (unsigned __int128)field_binomial_coordinate(one.field, x, 0)) %
                             one.base->modulus[0]);
            field_add(one.field, x, x, y);
            field_store(one.field, in[0] + k * one.bytes, x);
        }
        assert_memory_equal(out, in[0], 9 * one.bytes);
        assert_memory_equal(out + 9 * one.bytes, &sum, one.base->bytes);
        assert_ok(pool_module_destroy(&module));
        params.arithmetic = clash;
        assert_status(pool_module_compile(device, &params, &module), POOL_ERR_INVALID_ARGUMENT);
        for (int k = 0; k < 3; k++)
            assert_ok(pool_buffer_destroy(&buffers[k]));
        free(in[0]);
        free(in[1]);
        free(out);
    }
}

static void test_refusals(void **state)
{
    const pool_field *field = pool_field_by_name("babybear_x4");
    const pool_ntt_domain_params domain_params = {
        .struct_size = sizeof(domain_params), .field = field, .log_size = 0};
    const pool_curve_params curve_params = {.struct_size = sizeof(curve_params),
        .field = field,
        .a = {"0"},
        .b = {"3"},
        .generator_x = {"1"},
        .generator_y = {"2"},
        .order = "7"};
    pool_poseidon_params poseidon_params = {.struct_size = sizeof(poseidon_params), .field = field};
    unsigned char bytes[POOL_FIELD_STRING_BYTES] = {0};
    const pool_exec exec = {
        .struct_size = sizeof(exec), .device = device, .checks = POOL_CHECK_CANONICAL};
    uint32_t element[8] = {0, 0, 0, 0, 1, 2, UINT32_C(0x78000001), 0};
    const pool_span span = {.data = element, .count = 2};
    pool_ntt_domain *domain = NULL;
    pool_poseidon *set = NULL;
    pool_curve *curve = NULL;
    size_t bad = 0;

    (void)state;
    assert_int_equal(pool_field_degree(field), 4);
    assert_int_equal(pool_field_degree(pool_field_base(field)), 1);
    assert_ptr_equal(pool_field_base(field), pool_field_by_name("babybear"));
    assert_ptr_equal(pool_field_base(pool_field_base(field)), pool_field_by_name("babybear"));
    assert_null(pool_field_base(NULL));
    assert_int_equal(pool_field_degree(NULL), 0);
    assert_int_equal(pool_field_element_bytes(field), 16);
    assert_int_equal(pool_field_bits(field), 124);
    assert_int_equal(pool_field_two_adicity(field), 0);
    assert_status(pool_ntt_domain_create(&domain_params, &domain), POOL_ERR_UNSUPPORTED);
    assert_status(pool_curve_create(&curve_params, &curve), POOL_ERR_UNSUPPORTED);
    assert_status(pool_poseidon_create(&poseidon_params, &set), POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_modulus(field, bytes), POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_generator(field, POOL_FORM_STANDARD, bytes), POOL_ERR_UNSUPPORTED);
    assert_status(
        pool_field_root_of_unity(field, NULL, 0, POOL_FORM_STANDARD, bytes), POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_parse(field, "1", POOL_FORM_STANDARD, bytes), POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_format(field, POOL_FORM_STANDARD, element, POOL_DECIMAL, (char *)bytes,
                      sizeof(bytes), NULL),
        POOL_ERR_UNSUPPORTED);
    assert_status(
        pool_field_from_bytes(field, 16, POOL_LITTLE_ENDIAN, bytes, 1, POOL_FORM_STANDARD, element),
        POOL_ERR_UNSUPPORTED);
    assert_status(
        pool_field_to_bytes(field, POOL_FORM_STANDARD, element, 1, 16, POOL_LITTLE_ENDIAN, bytes),
        POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_reduce_bytes(
                      field, 16, POOL_LITTLE_ENDIAN, bytes, 1, POOL_FORM_STANDARD, element),
        POOL_ERR_UNSUPPORTED);
    assert_status(pool_field_check(field, element, 2, &bad), POOL_ERR_BAD_DATA);
    assert_int_equal(bad, 1);
    assert_status(pool_vector_scale(field, &exec, element + 4, &span, &span), POOL_ERR_BAD_DATA);
    assert_status(pool_vector_inverse(field, &exec, &span, &span), POOL_ERR_BAD_DATA);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers),
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_refusals)};

    int skipped;

    if (ntt_needs_compiler("extension fields"))
        return 77;
    skipped = open_here(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, close_pool);
}
