/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the functions of the headers for custom kernels cost: kernels of one call each through NVRTC
 * to machine code, their registers and spilled bytes held against custom_budgets.def.
 * `test_compile_custom record` prints its lines again. Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "budget.h"
#include "zk/custom/header.h"
#include "zk/curve/curve.h"
#include "zk/poseidon/poseidon.h"

static const struct budget budgets[] = {
#include "custom_budgets.def"
};

enum { BUDGETS = sizeof(budgets) / sizeof(budgets[0]) };

/* A call, as the body of a kernel of (ar *out, const ar *a, const ar *b) for thread i. */
struct call {
    const char *name;
    const char *types; /* of out, a and b */
    const char *body;
};

static const struct call field_calls[] = {
    {"mul", "ar *out, const ar *a, const ar *b", "out[i] = ar_mul(a[i], b[i]);"},
    {"mul_add", "ar *out, const ar *a, const ar *b",
        "out[i] = ar_mul_add(a[i], b[i], a[i + 1], b[i + 1]);"},
    {"dot4", "ar *out, const ar *a, const ar *b",
        "out[i] = ar_reduce(ar_dot<4>(out[i], a + 4 * i, b + 4 * i));"},
    {"inverse", "ar *out, const ar *a, const ar *", "out[i] = ar_inverse(a[i]);"},
};
static const struct call extension_calls[] = {
    {"mul", "ar *out, const ar *a, const ar *b", "out[i] = ar_mul(a[i], b[i]);"},
    {"mul_c", "ar *out, const ar *a, const ar_c *b", "out[i] = ar_mul_c(a[i], b[i]);"},
    {"inverse", "ar *out, const ar *a, const ar *", "out[i] = ar_inverse(a[i]);"},
};
static const struct call curve_calls[] = {
    {"add_mixed", "ar_xyzz *out, const ar_xyzz *a, const ar_affine *b",
        "out[i] = ar_add_mixed(a[i], b[i]);"},
    {"add", "ar_xyzz *out, const ar_xyzz *a, const ar_xyzz *b", "out[i] = ar_add(a[i], b[i]);"},
    {"to_affine", "ar_affine *out, const ar_xyzz *a, const ar_xyzz *",
        "out[i] = ar_to_affine(a[i]);"},
};
static const struct call set_calls[] = {
    {"permute", "ar_element *out, const ar_element *a, const ar_element *",
        "ar_element state[ar_width];"
        "for (int k = 0; k < ar_width; k++) state[k] = a[i * ar_width + k];"
        "ar_permute(state);"
        "for (int k = 0; k < ar_width; k++) out[i * ar_width + k] = state[k];"},
};

/* Curves and sets, whose kernels take seconds, for sm_90 only: on the other chips the same text has
 * given no further information. */
static void check(struct budget_run *run, const char *subject, const pool_module_arithmetic *entry,
    const struct call *calls, size_t count)
{
    char *generated = NULL;

    if (arithmetic_generate(entry, &generated)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct compiler_header header = {"ar.cuh", generated};
    for (size_t i = 0; i < count; i++) {
        char text[1024];
        const struct budget_source source = {
            .text = text, .headers = &header, .header_count = 1, .is_for_sm90_only = !entry->field};

        snprintf(text, sizeof(text),
            "#include \"ar.cuh\"\n"
            "extern \"C\" __global__ void __launch_bounds__(256) kernel(%s)\n"
            "{\n    unsigned i = blockIdx.x * 256 + threadIdx.x;\n    %s\n}\n",
            calls[i].types, calls[i].body);
        budget_check(run, subject, calls[i].name, &source);
    }
    base_free(generated);
}

/* The header's inlined functions are compiled to the very PTX of the library's own kernels, so they
 * are as fast. (Names of called ones contain that of the element's type.) */
static void compare_with_own(struct budget_run *run, const pool_field *field)
{
    static const char kernel[] =
        "#define FF ar\n"
        "extern \"C\" __global__ void kernel(ar *out, const ar *a, const ar *b)\n"
        "{\n"
        "    unsigned i = blockIdx.x * 256 + threadIdx.x;\n"
        "    ar x = ar_add_lazy(ar_mul_lazy(a[i], b[i]), ar_mul_add_lazy(a[i], a[i], b[i], "
        "b[i]));\n"
        "    out[i] = ar_mul(ar_reduce(x), ar_from_mont(ar_sqr(a[i])));\n"
        "}\n";
    const pool_module_arithmetic entry = {.prefix = "ar", .field = field};
    char source[2][sizeof(kernel) + 128], *text = NULL, *own = compiler_field_header(field, "ar");
    struct compiler_image images[2];

    if (arithmetic_generate(&entry, &text)) {
        printf("%s\n", pool_last_error()->message);
        exit(1);
    }
    const struct compiler_header headers[] = {{"ar.cuh", text}, {"ar.cuh", own}};
    snprintf(source[0], sizeof(source[0]), "#include \"ar.cuh\"\n%s", kernel);
    snprintf(source[1], sizeof(source[1]),
        "#include \"ar.cuh\"\n#define FF ar\n#include \"ff/generic.cuh\"\n#undef FF\n%s", kernel);
    for (int i = 0; i < 2; i++)
        images[i] = compiler_compile(run->nvrtc, source[i], &headers[i], 1, 90, true);
    if (images[0].size != images[1].size ||
        memcmp(images[0].bytes, images[1].bytes, images[0].size) != 0) {
        printf("FAIL the header of %s is not compiled to the PTX of the library's own\n",
            pool_field_name(field));
        run->failures++;
    }
    for (int i = 0; i < 2; i++)
        compiler_image_free(&images[i]);
    base_free(text);
    free(own);
}

int main(int argc, char **argv)
{
    static const char *const fields[] = {"bn254_fr", "bls12_381_fr", "goldilocks", "babybear"};
    static const char *const extensions[] = {"goldilocks_x2", "babybear_x4"};
    static const char *const curves[] = {"bn254_g1", "bls12_381_g1", "bn254_g2"};
    static const char *const sets[] = {"circom-bn254-t3", "poseidon2-plonky3-babybear-t16"};
    struct budget_run run = budget_start(budgets, BUDGETS, argc, argv);

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        check(&run, fields[i],
            &(pool_module_arithmetic){.prefix = "ar", .field = pool_field_by_name(fields[i])},
            field_calls, sizeof(field_calls) / sizeof(field_calls[0]));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        compare_with_own(&run, pool_field_by_name(fields[i]));
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
        check(&run, extensions[i],
            &(pool_module_arithmetic){.prefix = "ar", .field = pool_field_by_name(extensions[i])},
            extension_calls, sizeof(extension_calls) / sizeof(extension_calls[0]));
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        check(&run, curves[i],
            &(pool_module_arithmetic){.prefix = "ar", .curve = pool_curve_by_name(curves[i])},
            curve_calls, sizeof(curve_calls) / sizeof(curve_calls[0]));
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        pool_poseidon *set;

        if (pool_poseidon_by_name(sets[i], &set))
            return 1;
        check(&run, sets[i], &(pool_module_arithmetic){.prefix = "ar", .poseidon = set}, set_calls,
            sizeof(set_calls) / sizeof(set_calls[0]));
        pool_poseidon_destroy(&set);
    }
    return budget_finish(&run);
}
