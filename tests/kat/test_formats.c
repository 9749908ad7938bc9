/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other programs: a ceremony's powers of tau, a key with its witness and the values that
 * snarkjs prints for them, Ethereum's KZG setup.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include <devicepool/formats.h>

#include "support/vectors.h"

static const pool_point_format standard = {POOL_POINT_AFFINE, POOL_FORM_STANDARD, 0};

static pool_file *open_vector(const char *name)
{
    char path[1024];
    pool_file *file;

    snprintf(path, sizeof(path), "%s/%s", TEST_VECTORS, name);
    if (pool_file_open(path, NULL, &file))
        fail_msg("%s", pool_last_error()->message);
    return file;
}

static pool_file_info info_of(const pool_file *file)
{
    pool_file_info info = {.struct_size = sizeof(info)};

    assert_int_equal(pool_file_get_info(file, &info), POOL_OK);
    return info;
}

static pool_file_section section_of(const pool_file *file, const char *name)
{
    pool_file_section section = {.struct_size = sizeof(section)};

    if (pool_file_get_section(file, name, &section))
        fail_msg("%s", pool_last_error()->message);
    return section;
}

static pool_point_format format_of(const pool_file_section *section)
{
    return (pool_point_format){section->layout, section->span.form, section->span.stride};
}

static const void *item(const pool_file_section *section, uint64_t index)
{
    return (const uint8_t *)section->span.data + index * section->span.stride;
}

/* In standard form. */
static void read_item(const pool_file_section *section, uint64_t index, uint8_t point[192])
{
    pool_point_format format = format_of(section);

    assert_true(index < section->span.count);
    assert_int_equal(pool_points_convert(section->curve, &format, item(section, index), 1,
                         POOL_CHECK_ON_CURVE, &standard, point),
        POOL_OK);
}

/* The points of a Lagrange basis add up to that point. */
static void check_sum(const pool_file_section *section, const pool_file_section *expected)
{
    const pool_curve *curve = section->curve;
    uint8_t sum[192] = {0}, point[192];

    for (uint64_t i = 0; i < section->span.count; i++) {
        read_item(section, i, point);
        assert_int_equal(pool_point_add(curve, NULL, sum, point, sum), POOL_OK);
    }
    read_item(expected, 0, point);
    assert_memory_equal(sum, point, pool_point_bytes(curve, POOL_POINT_AFFINE));
}

static void check_subgroup(const pool_file_section *section)
{
    pool_point_format format = format_of(section);

    assert_int_equal(section->item, POOL_FILE_POINTS);
    if (pool_points_check(section->curve, &format, section->span.data, section->span.count,
            POOL_CHECK_SUBGROUP, NULL))
        fail_msg("%s: %s", section->name, pool_last_error()->message);
}

static void check_generator(const pool_file_section *section)
{
    uint8_t point[192], generator[192];

    read_item(section, 0, point);
    assert_int_equal(pool_curve_generator(section->curve, NULL, generator), POOL_OK);
    assert_memory_equal(point, generator, pool_point_bytes(section->curve, POOL_POINT_AFFINE));
}

/* ---- powers of tau -------------------------------------------------------------------------- */

static void check_ptau(const char *name, const char *pairing, uint32_t power)
{
    static const char *const pairs[][2] = {{"lagrange", "tauG1"}, {"lagrangeG2", "tauG2"},
        {"lagrangeAlpha", "alphaTauG1"}, {"lagrangeBeta", "betaTauG1"}};
    pool_file *file = open_vector(name);
    pool_file_info info = info_of(file);
    pool_file_section section = {.struct_size = sizeof(section)};
    char curve[32];

    assert_int_equal(info.kind, POOL_FILE_PTAU);
    assert_int_equal(info.power, power);
    snprintf(curve, sizeof(curve), "%s_g1", pairing);
    assert_string_equal(pool_curve_name(info.curves[0]), curve);
    snprintf(curve, sizeof(curve), "%s_g2", pairing);
    assert_string_equal(pool_curve_name(info.curves[1]), curve);
    assert_ptr_equal(info.field, pool_curve_scalar_field(info.curves[0]));
    assert_int_equal(info.sections, 9);
    for (uint64_t i = 0; i < info.sections; i++) {
        assert_int_equal(pool_file_section_at(file, i, &section), POOL_OK);
        check_subgroup(&section);
    }
    section = section_of(file, "tauG1");
    check_generator(&section);
    section = section_of(file, "tauG2");
    check_generator(&section);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        pool_file_section powers = section_of(file, pairs[i][1]);
        uint32_t levels = section_of(file, pairs[i][0]).levels;

        assert_int_equal(levels, i ? power + 1 : power + 2);
        for (uint32_t level = 0; level < levels; level++) {
            char level_name[32];

            snprintf(level_name, sizeof(level_name), "%s:%u", pairs[i][0], level);
            section = section_of(file, level_name);
            assert_int_equal(section.span.count, 1u << level);
            check_sum(&section, &powers);
        }
    }
    pool_file_destroy(&file);
}

static void test_ptau(void **state)
{
    (void)state;
    check_ptau("iden3/powersOfTau28_hez_final_08.ptau", "bn254", 8);
    check_ptau("iden3/bls12_381_04.ptau", "bls12_381", 4);
}

/* The sum of w^i L_i is tau: the bases are in natural order, for the root of unity of snarkjs. */
static void check_order(const char *name, const char *convention)
{
    pool_file *file = open_vector(name);
    pool_file_section basis = section_of(file, "lagrange:2"), powers = section_of(file, "tauG1");
    uint8_t sum[192] = {0}, point[192], root[32];

    assert_int_equal(
        pool_field_root_of_unity(basis.field, convention, 2, POOL_FORM_STANDARD, root), POOL_OK);
    for (uint64_t i = 0; i < 4; i++) {
        read_item(&basis, i, point);
        for (uint64_t k = 0; k < i; k++)
            assert_int_equal(pool_point_mul(basis.curve, NULL, point, root, 32, point), POOL_OK);
        assert_int_equal(pool_point_add(basis.curve, NULL, sum, point, sum), POOL_OK);
    }
    read_item(&powers, 1, point);
    assert_memory_equal(sum, point, pool_point_bytes(basis.curve, POOL_POINT_AFFINE));
    pool_file_destroy(&file);
}

static void test_ptau_order(void **state)
{
    (void)state;
    check_order("iden3/powersOfTau28_hez_final_08.ptau", NULL);
    check_order("iden3/bls12_381_04.ptau", "snarkjs");
}

/* The smaller file was cut from the same ceremony. */
static void test_ptau_cut(void **state)
{
    pool_file *small = open_vector("iden3/powersOfTau28_hez_final_08.ptau");
    pool_file *large = open_vector("iden3/powersOfTau28_hez_final_09.ptau");
    pool_file_section of_small = {.struct_size = sizeof(of_small)};

    (void)state;
    assert_int_equal(info_of(large).power, 9);
    assert_int_equal(info_of(large).ceremony_power, 28);
    assert_int_equal(info_of(small).ceremony_power, 28);
    for (uint64_t i = 0; i < info_of(small).sections; i++) {
        pool_file_section of_large;

        assert_int_equal(pool_file_section_at(small, i, &of_small), POOL_OK);
        of_large = section_of(large, of_small.name);
        assert_memory_equal(of_small.span.data, of_large.span.data,
            (size_t)(of_small.span.count * of_small.span.stride));
    }
    pool_file_destroy(&large);
    pool_file_destroy(&small);
}

/* ---- key, witness, constraints -------------------------------------------------------------- */

/* [x, y, 1], or over the extension [[c0, c1], …], decimal. */
static void check_json_point(const cJSON *json, const pool_file_section *section, uint64_t index)
{
    const pool_field *field = pool_curve_base_field(section->curve);
    size_t width = pool_field_element_bytes(field);
    uint8_t expected[192], point[192];
    size_t at = 0;

    for (int i = 0; i < 2; i++) {
        const cJSON *coordinate = cJSON_GetArrayItem(json, i);

        for (uint32_t k = 0; k < pool_curve_degree(section->curve); k++, at += width) {
            const cJSON *part =
                cJSON_IsArray(coordinate) ? cJSON_GetArrayItem(coordinate, (int)k) : coordinate;

            assert_int_equal(pool_field_parse(field, cJSON_GetStringValue(part), POOL_FORM_STANDARD,
                                 expected + at),
                POOL_OK);
        }
    }
    read_item(section, index, point);
    assert_memory_equal(point, expected, at);
}

/* Points of the key are those that snarkjs exported as its verification key. */
static void check_key(const char *stem, const char *curve, uint64_t variables, uint64_t domain_size)
{
    static const char *const points[][2] = {{"alpha1", "vk_alpha_1"}, {"beta2", "vk_beta_2"},
        {"gamma2", "vk_gamma_2"}, {"delta2", "vk_delta_2"}};
    char name[128];
    pool_file *file;
    pool_file_info info;
    pool_file_section section = {.struct_size = sizeof(section)};
    cJSON *json;

    snprintf(name, sizeof(name), "iden3/%s.zkey", stem);
    file = open_vector(name);
    snprintf(name, sizeof(name), "iden3/%s_verification_key.json", stem);
    json = read_vectors(name);
    info = info_of(file);
    assert_int_equal(info.kind, POOL_FILE_ZKEY);
    assert_string_equal(pool_curve_name(info.curves[0]), curve);
    assert_int_equal(info.variables, variables);
    assert_int_equal(info.domain_size, domain_size);
    assert_int_equal(info.public_signals,
        (uint64_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "nPublic")));
    for (uint64_t i = 0; i < info.sections; i++) {
        assert_int_equal(pool_file_section_at(file, i, &section), POOL_OK);
        if (section.item == POOL_FILE_POINTS)
            check_subgroup(&section);
    }
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        section = section_of(file, points[i][0]);
        assert_int_equal(section.span.count, 1);
        check_json_point(cJSON_GetObjectItemCaseSensitive(json, points[i][1]), &section, 0);
    }
    section = section_of(file, "IC");
    assert_int_equal(section.span.count, info.public_signals + 1);
    for (uint64_t i = 0; i < section.span.count; i++)
        check_json_point(
            cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "IC"), (int)i), &section, i);
    cJSON_Delete(json);
    pool_file_destroy(&file);
}

static uint32_t number_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Rows and columns are within the matrices, and an entry that is 1 in the circuit is R^2 here. */
static void test_coefficients(void **state)
{
    pool_file *file = open_vector("iden3/poseidon_bn254.zkey");
    pool_file_section section = section_of(file, "coefficients");
    uint8_t one[32] = {1}, squared[32];
    int ones = 0;

    (void)state;
    assert_int_equal(section.item, POOL_FILE_COEFFICIENTS);
    assert_int_equal(section.span.count, 641); /* (bytes of the section - 4) / 44 */
    assert_int_equal(section.span.stride, 44);
    assert_int_equal(pool_field_to_montgomery(section.field, one, 1, squared), POOL_OK);
    assert_int_equal(pool_field_to_montgomery(section.field, squared, 1, squared), POOL_OK);
    for (uint64_t i = 0; i < section.span.count; i++) {
        const uint8_t *entry = item(&section, i);

        assert_true(number_at(entry) < 2);
        assert_true(number_at(entry + 4) < 256);
        assert_true(number_at(entry + 8) < 215);
        ones += !memcmp(entry + POOL_FILE_COEFFICIENT_ELEMENT, squared, 32);
    }
    assert_true(ones > 0);
    pool_file_destroy(&file);
}

static void test_keys(void **state)
{
    (void)state;
    check_key("poseidon_bn254", "bn254_g1", 215, 256);
    check_key("chain_bls12_381", "bls12_381_g1", 44, 64);
}

static void check_witness(const char *stem, const char *field, uint64_t count)
{
    static const uint8_t one[32] = {1};
    char name[128];
    pool_file *file;
    pool_file_section section;
    cJSON *json;

    snprintf(name, sizeof(name), "iden3/%s.wtns", stem);
    file = open_vector(name);
    section = section_of(file, "values");
    snprintf(name, sizeof(name), "iden3/%s_public.json", stem);
    json = read_vectors(name);
    assert_int_equal(info_of(file).kind, POOL_FILE_WTNS);
    assert_int_equal(info_of(file).version, 2);
    assert_int_equal(section.item, POOL_FILE_ELEMENTS);
    assert_int_equal(section.span.count, count);
    assert_int_equal(section.span.form, POOL_FORM_STANDARD);
    assert_ptr_equal(section.field, pool_field_by_name(field));
    assert_int_equal(
        pool_field_check(section.field, section.span.data, (size_t)count, NULL), POOL_OK);
    assert_memory_equal(item(&section, 0), one, 32);
    for (int i = 0; i < cJSON_GetArraySize(json); i++) {
        uint8_t expected[32];

        assert_int_equal(pool_field_parse(section.field, cJSON_GetArrayItem(json, i)->valuestring,
                             POOL_FORM_STANDARD, expected),
            POOL_OK);
        assert_memory_equal(item(&section, (uint64_t)i + 1), expected, 32);
    }
    cJSON_Delete(json);
    pool_file_destroy(&file);
}

static void test_witness(void **state)
{
    (void)state;
    check_witness("poseidon_bn254", "bn254_fr", 215);
    check_witness("chain_bls12_381", "bls12_381_fr", 44);
}

/* What `snarkjs r1cs info` prints. */
static void test_constraints(void **state)
{
    pool_file *file = open_vector("iden3/poseidon_bn254.r1cs");
    pool_file_info info = info_of(file);

    (void)state;
    assert_int_equal(info.kind, POOL_FILE_R1CS);
    assert_ptr_equal(info.field, pool_field_by_name("bn254_fr"));
    assert_int_equal(info.variables, 215);
    assert_int_equal(info.constraints, 213);
    assert_int_equal(info.private_inputs, 1);
    assert_int_equal(info.public_inputs, 0);
    assert_int_equal(info.outputs, 1);
    assert_int_equal(info.public_signals, 1);
    assert_int_equal(info.labels, 583);
    assert_int_equal(info.sections, 0);
    pool_file_destroy(&file);
    file = open_vector("iden3/chain_bls12_381.r1cs");
    info = info_of(file);
    assert_ptr_equal(info.field, pool_field_by_name("bls12_381_fr"));
    assert_string_equal(info.convention, "snarkjs");
    assert_int_equal(info.variables, 44);
    assert_int_equal(info.constraints, 41);
    assert_int_equal(info.private_inputs, 1);
    assert_int_equal(info.public_inputs, 1);
    assert_int_equal(info.outputs, 2);
    assert_int_equal(info.labels, 56);
    pool_file_destroy(&file);
}

/* circom 2 removes private inputs that no constraint has, and counts them all the same. */
static void test_removed_inputs(void **state)
{
    pool_file *file = open_vector("iden3/ignored_inputs.r1cs");
    pool_file_info info = info_of(file);

    (void)state;
    assert_int_equal(info.variables, 3);
    assert_int_equal(info.outputs, 1);
    assert_int_equal(info.public_inputs, 0);
    assert_int_equal(info.private_inputs, 4);
    assert_int_equal(info.labels, 6);
    assert_int_equal(info.constraints, 1);
    pool_file_destroy(&file);
    file = open_vector("iden3/no_constraints.r1cs");
    info = info_of(file);
    assert_int_equal(info.variables, 2);
    assert_int_equal(info.public_inputs, 1);
    assert_int_equal(info.private_inputs, 1);
    assert_int_equal(info.labels, 3);
    assert_int_equal(info.constraints, 0);
    pool_file_destroy(&file);
}

/* ---- KZG ------------------------------------------------------------------------------------ */

static void test_kzg(void **state)
{
    pool_file *file = open_vector("kzg/trusted_setup.txt");
    pool_file_section lagrange = section_of(file, "lagrange"),
                      monomial = section_of(file, "monomial"), g2 = section_of(file, "g2");

    (void)state;
    assert_int_equal(info_of(file).kind, POOL_FILE_KZG);
    assert_int_equal(info_of(file).sections, 3);
    assert_int_equal(lagrange.span.count, 4096);
    assert_int_equal(monomial.span.count, 4096);
    assert_int_equal(g2.span.count, 65);
    check_generator(&monomial);
    check_generator(&g2);
    assert_null(info_of(file).convention);
    assert_null(lagrange.convention);
    check_sum(&lagrange, &monomial);
    pool_file_destroy(&file);
}

/* Writes lines [first, first + count) of the text as a JSON array. */
static void write_array(FILE *to, const char *key, char *const *lines, int first, int count)
{
    fprintf(to, "\"%s\": [", key);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s\"0x%s\"", i ? ", " : "", lines[first + i]);
    fprintf(to, "]");
}

static void same_section(const pool_file *a, const pool_file *b, const char *name)
{
    pool_file_section of_a = section_of(a, name), of_b = section_of(b, name);

    assert_int_equal(of_a.span.count, of_b.span.count);
    assert_memory_equal(
        of_a.span.data, of_b.span.data, (size_t)(of_a.span.count * of_a.span.stride));
}

/* The same setup as consensus-specs writes it. */
static void test_kzg_json(void **state)
{
    char *text = read_vector_file("kzg/trusted_setup.txt"), *rest = NULL;
    char path[] = "/tmp/devicepool-kzg-XXXXXX";
    static char *lines[8259];
    pool_file *from_text = open_vector("kzg/trusted_setup.txt"), *from_json;
    int count = 0;
    FILE *json;

    (void)state;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    assert_int_equal(count, 8259);
    json = fdopen(mkstemp(path), "w");
    fprintf(json, "{\n  ");
    write_array(json, "g1_monomial", lines, 2 + 4096 + 65, 4096);
    fprintf(json, ",\n  ");
    write_array(json, "g1_lagrange", lines, 2, 4096);
    fprintf(json, ",\n  \"roots_of_unity\": [1, 2], ");
    write_array(json, "g2_monomial", lines, 2 + 4096, 65);
    fprintf(json, "\n}\n");
    fclose(json);
    assert_int_equal(pool_file_open(path, NULL, &from_json), POOL_OK);
    unlink(path);
    same_section(from_text, from_json, "lagrange");
    same_section(from_text, from_json, "monomial");
    same_section(from_text, from_json, "g2");
    pool_file_destroy(&from_json);
    pool_file_destroy(&from_text);
    free(text);
}

/* ---- setups that are none ------------------------------------------------------------------- */

enum { SETUP_POINTS = 4, G2_POINTS = 2, SETUP_LINES = 2 + SETUP_POINTS + G2_POINTS + SETUP_POINTS };

/* The lines of a setup of four points with tau = 5. */
struct setup {
    const char *lagrange[SETUP_POINTS], *g2[G2_POINTS], *monomial[SETUP_POINTS];
    int lagrange_count, monomial_count;
};

static struct setup setup_of(char *const *lines)
{
    struct setup setup = {.lagrange_count = SETUP_POINTS, .monomial_count = SETUP_POINTS};

    for (int i = 0; i < SETUP_POINTS; i++) {
        setup.lagrange[i] = lines[2 + i];
        setup.monomial[i] = lines[2 + SETUP_POINTS + G2_POINTS + i];
    }
    for (int i = 0; i < G2_POINTS; i++)
        setup.g2[i] = lines[2 + SETUP_POINTS + i];
    return setup;
}

static void add_points(char *json, const char *key, const char *const *points, int count)
{
    sprintf(json + strlen(json), "%s\"%s\": [", strlen(json) > 1 ? ", " : "", key);
    for (int i = 0; i < count; i++)
        sprintf(json + strlen(json), "%s\"0x%s\"", i ? ", " : "", points[i]);
    strcat(json, "]");
}

/* Opens a setup as JSON; a count of 0 omits the group. `reason` is NULL for one that is right. */
static void check_setup(const struct setup *setup, const char *reason)
{
    char json[4096] = "{";
    char path[] = "/tmp/devicepool-kzg-XXXXXX";
    pool_file_params trusted = {.struct_size = sizeof(trusted), .trusted = 1};
    pool_file *file = NULL;
    pool_status status;
    FILE *to = fdopen(mkstemp(path), "w");

    if (setup->lagrange_count)
        add_points(json, "g1_lagrange", setup->lagrange, setup->lagrange_count);
    if (setup->monomial_count)
        add_points(json, "g1_monomial", setup->monomial, setup->monomial_count);
    add_points(json, "g2_monomial", setup->g2, G2_POINTS);
    fprintf(to, "%s}", json);
    fclose(to);
    status = pool_file_open(path, NULL, &file);
    if (status != (reason ? POOL_ERR_BAD_DATA : POOL_OK) ||
        (reason && !strstr(pool_last_error()->message, reason)))
        fail_msg("%s: %d, %s", reason ? reason : "right", status, pool_last_error()->message);
    pool_file_destroy(&file);
    assert_int_equal(pool_file_open(path, &trusted, &file), POOL_OK);
    pool_file_destroy(&file);
    unlink(path);
}

static void exchange(const char **a, const char **b)
{
    const char *kept = *a;

    *a = *b;
    *b = kept;
}

static void test_kzg_wrong(void **state)
{
    static const char infinity[] = "c00000000000000000000000000000000000000000000000"
                                   "000000000000000000000000000000000000000000000000";
    char *text = read_vector_file("kzg/tau_5.txt"), *rest = NULL;
    char *lines[SETUP_LINES + 1];
    struct setup right, setup;
    int count = 0;

    (void)state;
    for (char *line = strtok_r(text, "\n", &rest); line && count <= SETUP_LINES;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    assert_int_equal(count, SETUP_LINES);
    right = setup_of(lines);
    check_setup(&right, NULL);
    for (int i = 0; i < SETUP_POINTS; i++) {
        setup = right;
        setup.monomial[i] = right.lagrange[i]; /* one point replaced */
        check_setup(&setup, i ? "not of the same polynomials" : "is not the generator");
        setup = right;
        setup.lagrange[i] = right.monomial[i];
        check_setup(&setup, i ? "do not add up to the generator: one is damaged"
                              : "its Lagrange points are monomial");
        setup.lagrange[i] = infinity;
        check_setup(&setup, "of the Lagrange points is infinity");
        setup = right;
        setup.monomial[i] = infinity;
        check_setup(&setup, "of the monomial points of G1 is infinity");
    }
    setup = right;
    exchange(&setup.lagrange[1], &setup.lagrange[2]); /* bit-reversed */
    check_setup(&setup, "another order");
    setup.monomial_count = 0; /* nothing shows it */
    check_setup(&setup, NULL);
    setup = right;
    exchange(&setup.monomial[1], &setup.monomial[2]);
    check_setup(&setup, "another order");
    setup = right;
    for (int i = 0; i < SETUP_POINTS; i++)
        exchange(&setup.lagrange[i], &setup.monomial[i]);
    check_setup(&setup, "its groups of G1 are exchanged");
    setup.monomial_count = 0; /* as in files of old ceremonies */
    check_setup(&setup, "its Lagrange points are monomial");
    setup.lagrange_count = 0;
    setup.monomial_count = SETUP_POINTS;
    check_setup(&setup, "is not the generator");
    setup = right;
    setup.lagrange_count = 3;
    check_setup(&setup, "3 is not a power of two");
    setup.lagrange_count = 2;
    check_setup(&setup, "2 Lagrange points and 4 monomial points of G1 are not one setup");
    setup.lagrange_count = 0;
    check_setup(&setup, NULL);
    setup = right;
    exchange(&setup.g2[0], &setup.g2[1]);
    check_setup(&setup, "the first of the monomial points of G2 is not the generator");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptau),
        cmocka_unit_test(test_ptau_order),
        cmocka_unit_test(test_ptau_cut),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_witness),
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_removed_inputs),
        cmocka_unit_test(test_kzg),
        cmocka_unit_test(test_kzg_json),
        cmocka_unit_test(test_kzg_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
