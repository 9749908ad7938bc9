/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of iden3's formats, valid ones and every kind of invalid one: cut at each byte; sections
 * moved, omitted, repeated, unknown, too short and too long; and every number of a header replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include <devicepool/log.h>

#include "support/iden3.h"
#include "zk/formats/formats.h"

enum { KINDS = 7 };

/* One right file of each kind and curve. */
static void make(struct iden3 *file, int kind)
{
    switch (kind) {
    case 0:
        iden3_make_ptau(file, "bn254", 1, 0);
        break;
    case 1:
        iden3_make_ptau(file, "bn254", 2, 4);
        break;
    case 2:
        iden3_make_ptau(file, "bls12_381", 1, 3);
        break;
    case 3:
        iden3_make_zkey(file, "bn254");
        break;
    case 4:
        iden3_make_zkey(file, "bls12_381");
        break;
    case 5:
        iden3_make_wtns(file, pool_field_by_name("bls12_381_fr"), 3);
        break;
    default:
        iden3_make_r1cs(file, pool_field_by_name("goldilocks"));
        break;
    }
}

/* Memory of its very size, so that a sanitizer or valgrind sees one byte too far. */
static pool_status open_exact(const uint8_t *bytes, size_t size, pool_file **file)
{
    uint8_t *exact = malloc(size ? size : 1);
    pool_status status;

    memcpy(exact, bytes, size);
    status = formats_open_bytes("FILE", exact, size, NULL, file);
    if (status)
        free(exact);
    return status;
}

static void close_exact(pool_file **file)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)(*file)->bytes;

    pool_file_destroy(file);
    assert_null(*file);
    free(bytes);
}

/* Every section is entirely within the file; reads each of its bytes. */
static unsigned walk(const pool_file *file)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file_info info = {.struct_size = sizeof(info)};
    unsigned sum = 0;

    assert_int_equal(pool_file_get_info(file, &info), POOL_OK);
    for (uint64_t i = 0; i < info.sections; i++) {
        const uint8_t *data;

        assert_int_equal(pool_file_section_at(file, i, &section), POOL_OK);
        data = section.span.data;
        assert_true(data >= file->bytes);
        assert_true(section.span.count * section.span.stride <= file->size);
        assert_true(data + section.span.count * section.span.stride <= file->bytes + file->size);
        for (uint64_t k = 0; k < section.span.count * section.span.stride; k++)
            sum += data[k];
    }
    return sum;
}

static pool_status try_file(const struct iden3 *made)
{
    size_t size;
    uint8_t *bytes = iden3_compose(made, &size);
    pool_file *file = NULL;
    pool_status status = open_exact(bytes, size, &file);

    free(bytes);
    if (!status) {
        walk(file);
        close_exact(&file);
    } else {
        assert_null(file);
        assert_int_equal(pool_last_error()->status, status);
        assert_non_null(strstr(pool_last_error()->message, "FILE"));
    }
    return status;
}

/* The status, and a part of the text. */
static void check_refused(const struct iden3 *made, pool_status expected, const char *text)
{
    pool_status status = try_file(made);

    if (status != expected || !strstr(pool_last_error()->message, text))
        fail_msg("%s: %d, %s", text, status, status ? pool_last_error()->message : "taken");
}

/* ---- valid files ---------------------------------------------------------------------------- */

static pool_file *open_made(const struct iden3 *made)
{
    size_t size;
    uint8_t *bytes = iden3_compose(made, &size);
    pool_file *file;

    if (open_exact(bytes, size, &file))
        fail_msg("%s", pool_last_error()->message);
    free(bytes);
    return file;
}

static const struct iden3_part *part_of(const struct iden3 *made, uint32_t type)
{
    for (size_t i = 0; i < made->count; i++) {
        if (made->parts[i].type == type)
            return &made->parts[i];
    }
    fail_msg("no section %u", type);
    return NULL;
}

/* The section holds the part's bytes from `ahead` on, `count` items. */
static void check_section(const pool_file *file, const char *name, const struct iden3 *made,
    uint32_t type, size_t ahead, uint64_t count)
{
    const struct iden3_part *part = part_of(made, type);
    pool_file_section section = {.struct_size = sizeof(section)};

    if (pool_file_get_section(file, name, &section))
        fail_msg("%s", pool_last_error()->message);
    assert_int_equal(section.span.count, count);
    assert_int_equal(section.span.space, POOL_MEMORY_HOST);
    assert_true(ahead + count * section.span.stride <= part->size);
    assert_memory_equal(
        section.span.data, part->bytes + ahead, (size_t)(count * section.span.stride));
    assert_ptr_equal(section.span.data, file->bytes + section.offset);
}

static void test_ptau(void **state)
{
    static struct iden3 made;
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file *file;

    (void)state;
    iden3_make_ptau(&made, "bls12_381", 1, 3);
    file = open_made(&made);
    assert_int_equal(file->info.kind, POOL_FILE_PTAU);
    assert_int_equal(file->info.power, 1);
    assert_int_equal(file->info.ceremony_power, 28);
    assert_string_equal(pool_curve_name(file->info.curves[1]), "bls12_381_g2");
    assert_string_equal(pool_field_name(file->info.field), "bls12_381_fr");
    check_section(file, "tauG1", &made, 2, 0, 3);
    check_section(file, "tauG2", &made, 3, 0, 2);
    check_section(file, "alphaTauG1", &made, 4, 0, 2);
    check_section(file, "betaTauG1", &made, 5, 0, 2);
    check_section(file, "betaG2", &made, 6, 0, 1);
    check_section(file, "lagrange", &made, 12, 0, 7);
    check_section(file, "lagrange:0", &made, 12, 0, 1);
    check_section(file, "lagrange:1", &made, 12, 96, 2);
    check_section(file, "lagrange:2", &made, 12, 3 * 96, 4);
    check_section(file, "lagrangeG2:1", &made, 13, 192, 2);
    check_section(file, "lagrangeAlpha:1", &made, 14, 96, 2);
    check_section(file, "lagrangeBeta:01", &made, 15, 96, 2);
    assert_int_equal(pool_file_get_section(file, "lagrangeG2", &section), POOL_OK);
    assert_int_equal(section.levels, 2);
    assert_string_equal(pool_curve_name(section.curve), "bls12_381_g2");
    assert_int_equal(pool_file_get_section(file, "lagrangeG2:0", &section), POOL_OK);
    assert_int_equal(section.levels, 0);
    close_exact(&file);
    iden3_make_ptau(&made, "bn254", 1, 2); /* without the basis of twice the size */
    file = open_made(&made);
    check_section(file, "lagrange:1", &made, 12, 64, 2);
    assert_int_equal(pool_file_get_section(file, "lagrange:2", &section), POOL_ERR_NOT_FOUND);
    close_exact(&file);
}

static void test_zkey(void **state)
{
    static struct iden3 made;
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file *file;
    size_t header;

    (void)state;
    iden3_make_zkey(&made, "bls12_381");
    file = open_made(&made);
    header = 4 + 48 + 4 + 32 + 12;
    assert_int_equal(file->info.variables, 5);
    assert_int_equal(file->info.public_signals, 2);
    assert_int_equal(file->info.domain_size, 4);
    check_section(file, "alpha1", &made, 2, header, 1);
    check_section(file, "beta1", &made, 2, header + 96, 1);
    check_section(file, "beta2", &made, 2, header + 192, 1);
    check_section(file, "gamma2", &made, 2, header + 384, 1);
    check_section(file, "delta1", &made, 2, header + 576, 1);
    check_section(file, "delta2", &made, 2, header + 672, 1);
    check_section(file, "IC", &made, 3, 0, 3);
    check_section(file, "A", &made, 5, 0, 5);
    check_section(file, "B1", &made, 6, 0, 5);
    check_section(file, "B2", &made, 7, 0, 5);
    check_section(file, "C", &made, 8, 0, 2);
    check_section(file, "H", &made, 9, 0, 4);
    check_section(file, "coefficients", &made, 4, 4, 3);
    assert_int_equal(pool_file_get_section(file, "coefficients", &section), POOL_OK);
    assert_int_equal(section.item, POOL_FILE_COEFFICIENTS);
    assert_int_equal(section.span.stride, 44);
    assert_null(section.curve);
    assert_string_equal(pool_field_name(section.field), "bls12_381_fr");
    close_exact(&file);
}

/* A prime that the library has no name for. */
static void test_own_field(void **state)
{
    static struct iden3 made;
    const pool_field_params params = {
        .struct_size = sizeof(params), .modulus = "0xffffffffffffffc5"};
    pool_field *field;
    pool_file *file;

    (void)state;
    assert_int_equal(pool_field_create(&params, &field), POOL_OK);
    iden3_make_wtns(&made, field, 5);
    file = open_made(&made);
    check_section(file, "values", &made, 2, 0, 5);
    assert_int_equal(pool_field_bits(file->info.field), 64);
    assert_true(file->info.field == file->field);
    close_exact(&file);
    made.parts[0].bytes[4] ^= 2; /* 2^64 - 57 is composite */
    check_refused(&made, POOL_ERR_BAD_DATA, "not an odd prime");
    made.parts[0].bytes[4] ^= 1;
    check_refused(&made, POOL_ERR_BAD_DATA, "not an odd prime");
    memset(made.parts[0].bytes + 4, 0, 8);
    check_refused(&made, POOL_ERR_BAD_DATA, "0x0 is not an odd prime");
    pool_field_destroy(&field);
}

static void test_r1cs(void **state)
{
    static struct iden3 made;
    pool_file *file;

    (void)state;
    iden3_make_r1cs(&made, pool_field_by_name("bn254_fr"));
    file = open_made(&made);
    assert_int_equal(file->info.variables, 7);
    assert_int_equal(file->info.outputs, 1);
    assert_int_equal(file->info.public_inputs, 2);
    assert_int_equal(file->info.public_signals, 3);
    assert_int_equal(file->info.private_inputs, 1);
    assert_int_equal(file->info.labels, 9);
    assert_int_equal(file->info.constraints, 2);
    assert_int_equal(file->info.sections, 0);
    close_exact(&file);
    made.count = 2; /* labels may be missing */
    assert_int_equal(try_file(&made), POOL_OK);
}

static char logged[512];

static void store_log(void *user, const pool_log_record *record)
{
    (void)user;
    strcat(logged, record->message);
    strcat(logged, "\n");
}

/* Opens a file while the messages of level INFO are stored. */
static pool_file *open_logged(const struct iden3 *made)
{
    pool_file *file;

    logged[0] = '\0';
    pool_log_set(store_log, NULL, POOL_LOG_INFO);
    file = open_made(made);
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    return file;
}

/* The two sections that circom writes for `pragma custom_templates`, as r1csfile reads them. */
static void add_gates(struct iden3 *made, const pool_field *field)
{
    struct iden3_part *part = iden3_add(made, 4);

    iden3_put32(part, 2);
    iden3_put(part, "Cube", 5);
    iden3_put32(part, 0);
    iden3_put(part, "Range", 6);
    iden3_put32(part, 1);
    for (uint64_t i = 0; i < pool_field_element_bytes(field) / 4; i++)
        iden3_put32(part, i == 0 ? 64 : 0);
    part = iden3_add(made, 5);
    iden3_put32(part, 3);
    for (uint32_t use = 0; use < 3; use++) {
        iden3_put32(part, use / 2);
        iden3_put32(part, 2);
        iden3_put64(part, use);
        iden3_put64(part, use + 1);
    }
}

static void test_custom_gates(void **state)
{
    static struct iden3 made;
    const pool_field *field = pool_field_by_name("bn254_fr");
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_file *file;

    (void)state;
    iden3_make_r1cs(&made, field);
    file = open_logged(&made);
    assert_int_equal(file->info.custom_gates + file->info.custom_gate_uses, 0);
    assert_string_equal(logged, "");
    close_exact(&file);

    add_gates(&made, field);
    file = open_logged(&made);
    assert_int_equal(pool_file_get_info(file, &info), POOL_OK);
    assert_int_equal(info.custom_gates, 2);
    assert_int_equal(info.custom_gate_uses, 3);
    assert_int_equal(info.unknown_sections, 0);
    assert_int_equal(info.constraints, 2);
    assert_non_null(strstr(logged, "2 custom gates with 3 uses, which Groth16 cannot express"));
    close_exact(&file);

    /* More than the sections have. */
    made.parts[made.count - 1].bytes[0] = 60;
    check_refused(&made, POOL_ERR_BAD_DATA, "the number of uses of custom gates, 60");
    made.parts[made.count - 1].size = 3;
    check_refused(&made, POOL_ERR_BAD_DATA, "the number of uses of custom gates has 4 bytes");
    made.count--;
    made.parts[made.count - 1].bytes[3] = 1;
    check_refused(&made, POOL_ERR_BAD_DATA, "the number of custom gates, 16777218");
}

static void test_unknown_sections(void **state)
{
    static struct iden3 made;
    pool_file *file;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&made, kind);
        file = open_logged(&made);
        assert_int_equal(file->info.unknown_sections, 0);
        assert_null(strstr(logged, "section"));
        close_exact(&file);
        iden3_put(iden3_add(&made, 17), "gates", 5);
        iden3_put(iden3_add(&made, 11), "?", 1);
        file = open_logged(&made);
        assert_int_equal(file->info.unknown_sections, 2);
        assert_non_null(strstr(logged, "section 17 (5 bytes) is not one of the format"));
        assert_non_null(strstr(logged, "section 11 (1 byte) is not one of the format"));
        close_exact(&file);
    }
}

/* ---- ways of being wrong -------------------------------------------------------------------- */

static void test_cut(void **state)
{
    static struct iden3 made;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        size_t size;
        uint8_t *bytes;
        pool_file *file;

        make(&made, kind);
        bytes = iden3_compose(&made, &size);
        for (size_t cut = 0; cut < size; cut++) {
            file = NULL;
            if (open_exact(bytes, cut, &file) != POOL_ERR_BAD_DATA)
                fail_msg("kind %d cut at %zu of %zu", kind, cut, size);
            assert_null(file);
        }
        free(bytes);
    }
}

static void test_order_and_unknown(void **state)
{
    static struct iden3 made, changed;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&made, kind);
        assert_int_equal(try_file(&made), POOL_OK);
        changed = made;
        for (size_t i = 0; i < made.count; i++)
            changed.parts[i] = made.parts[made.count - 1 - i];
        assert_int_equal(try_file(&changed), POOL_OK);
        iden3_put(iden3_add(&changed, 99), "?", 1);
        iden3_put(iden3_add(&changed, 99), "twice", 5); /* what is not supported may come twice */
        iden3_put(iden3_add(&changed, 11), "?", 1);
        assert_int_equal(try_file(&changed), POOL_OK);
    }
}

static bool may_be_missing(int kind, uint32_t type)
{
    return type > 9 || (kind < 3 && type == 7) || (kind == 6 && type == 3);
}

static void test_missing_and_repeated(void **state)
{
    static struct iden3 made, changed;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&made, kind);
        for (size_t i = 0; i < made.count; i++) {
            char text[64];

            changed = made;
            changed.parts[changed.count++] = made.parts[i];
            snprintf(text, sizeof(text), "section %u is duplicated", made.parts[i].type);
            check_refused(&changed, POOL_ERR_BAD_DATA, text);
            changed = made;
            changed.parts[i] = changed.parts[--changed.count];
            snprintf(text, sizeof(text), "section %u is missing", made.parts[i].type);
            if (may_be_missing(kind, made.parts[i].type))
                assert_int_equal(try_file(&changed), POOL_OK);
            else
                check_refused(&changed, POOL_ERR_BAD_DATA, text);
        }
    }
}

/* Sections that are not looked into: contributions of both kinds. */
static bool is_opaque(int kind, uint32_t type)
{
    return (kind < 3 && type == 7) || type == 10;
}

static void test_sizes(void **state)
{
    static struct iden3 made, changed;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&made, kind);
        for (size_t i = 0; i < made.count; i++) {
            bool longer_is_right =
                is_opaque(kind, made.parts[i].type) || (kind == 6 && made.parts[i].type == 2);

            changed = made;
            iden3_put(&changed.parts[i], "", 1);
            assert_int_equal(try_file(&changed), longer_is_right ? POOL_OK : POOL_ERR_BAD_DATA);
            changed.parts[i].size -= 2;
            assert_int_equal(try_file(&changed),
                is_opaque(kind, made.parts[i].type) ? POOL_OK : POOL_ERR_BAD_DATA);
            changed.parts[i].size = 0;
            assert_int_equal(try_file(&changed),
                is_opaque(kind, made.parts[i].type) ? POOL_OK : POOL_ERR_BAD_DATA);
        }
    }
}

/* Any number at any offset causes no crash, and no section beyond the file. */
static void test_any_number(void **state)
{
    static const uint8_t numbers[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {2, 0, 0, 0}, {40, 0, 0, 0},
        {63, 0, 0, 0}, {64, 0, 0, 0}, {0, 0, 0, 0x40}, {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0x7f},
        {0xf4, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}};
    static struct iden3 made;
    unsigned taken = 0;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        size_t size;
        uint8_t *bytes;

        make(&made, kind);
        bytes = iden3_compose(&made, &size);
        for (size_t at = 0; at + 4 <= size; at += at < 256 ? 1 : 4) {
            uint8_t old[4];

            memcpy(old, bytes + at, 4);
            for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
                pool_file *file = NULL;

                memcpy(bytes + at, numbers[i], 4);
                if (open_exact(bytes, size, &file))
                    continue;
                taken++;
                walk(file);
                close_exact(&file);
            }
            memcpy(bytes + at, old, 4);
        }
        free(bytes);
    }
    assert_true(taken > 0); /* within points any number is one */
}

/* The 32-bit number of a part at an offset. */
static void set32(struct iden3_part *part, size_t at, uint32_t number)
{
    struct iden3_part four = {0};

    iden3_put32(&four, number);
    memcpy(part->bytes + at, four.bytes, 4);
}

static void test_container(void **state)
{
    static struct iden3 made;
    size_t size;
    uint8_t *bytes;
    pool_file *file = NULL;

    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        make(&made, kind);
        made.version = 0;
        check_refused(&made, POOL_ERR_UNSUPPORTED, "version 0 of the format");
        made.version = kind == 5 ? 3 : 2;
        check_refused(&made, POOL_ERR_UNSUPPORTED, "of the format; the newest supported one is");
    }
    make(&made, 5);
    made.version = 1;
    assert_int_equal(try_file(&made), POOL_OK);
    bytes = iden3_compose(&made, &size);
    memset(bytes + 8, 0xff, 4);
    assert_int_equal(open_exact(bytes, size, &file), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "byte 8: 4294967295 sections do not fit"));
    memset(bytes + 8, 0, 4);
    bytes[8] = 3; /* one more than there are */
    assert_int_equal(open_exact(bytes, size, &file), POOL_ERR_BAD_DATA);
    bytes[8] = 2;
    memset(bytes + 16, 0xff, 8);
    assert_int_equal(open_exact(bytes, size, &file), POOL_ERR_BAD_DATA);
    assert_non_null(
        strstr(pool_last_error()->message, "byte 12: section 1 has 18446744073709551615 bytes"));
    memcpy(bytes, "what", 4);
    assert_int_equal(open_exact(bytes, size, &file), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(pool_last_error()->message, "not the beginning"));
    free(bytes);
}

/* A cut file says so, and where. */
static void test_cut_text(void **state)
{
    static struct iden3 made;
    size_t size;
    uint8_t *bytes;
    pool_file *file = NULL;

    (void)state;
    iden3_make_wtns(&made, pool_field_by_name("bn254_fr"), 3);
    bytes = iden3_compose(&made, &size);
    assert_int_equal(open_exact(bytes, size - 5, &file), POOL_ERR_BAD_DATA);
    assert_string_equal(pool_last_error()->message,
        "FILE, byte 64: section 2 has 96 bytes, of which the file has 91: it is truncated");
    memset(bytes + 12 + 4, 0, 8); /* the length of the first section */
    assert_int_equal(open_exact(bytes, size, &file), POOL_ERR_BAD_DATA);
    assert_non_null(strstr(
        pool_last_error()->message, "FILE, byte 12: the section before byte 24 has length 0"));
    free(bytes);
}

static void test_headers(void **state)
{
    static struct iden3 made;

    (void)state;
    make(&made, 0);
    set32(&made.parts[0], 36, 41);
    check_refused(&made, POOL_ERR_BAD_DATA, "unsupported power 41");
    set32(&made.parts[0], 36, 2);
    check_refused(&made, POOL_ERR_BAD_DATA,
        "the section of tauG1 has 192 bytes; 7 of 64 bytes each were expected");
    make(&made, 0);
    set32(&made.parts[0], 0, 36);
    check_refused(&made, POOL_ERR_BAD_DATA, "unsupported prime size 36");
    set32(&made.parts[0], 0, 104);
    check_refused(&made, POOL_ERR_BAD_DATA, "unsupported prime size 104");
    set32(&made.parts[0], 0, 0);
    check_refused(&made, POOL_ERR_BAD_DATA, "unsupported prime size 0");
    make(&made, 0);
    made.parts[0].bytes[4] ^= 1;
    check_refused(&made, POOL_ERR_UNSUPPORTED, "no built-in pairing over the base field of prime");
    make(&made, 3);
    set32(&made.parts[0], 0, 2);
    check_refused(&made, POOL_ERR_UNSUPPORTED, "(PLONK)");
    set32(&made.parts[0], 0, 10);
    check_refused(&made, POOL_ERR_UNSUPPORTED, "(FFLONK)");
    make(&made, 3);
    made.parts[1].bytes[40] ^= 1;
    check_refused(&made, POOL_ERR_BAD_DATA, "the second prime is not the order of bn254_g1");
    make(&made, 3);
    set32(&made.parts[1], 76, 5);
    check_refused(&made, POOL_ERR_BAD_DATA, "5 public signals among 5 variables");
    make(&made, 3);
    set32(&made.parts[1], 80, 3);
    check_refused(&made, POOL_ERR_BAD_DATA, "domain's size 3 is not a power of two");
    set32(&made.parts[1], 80, 0);
    check_refused(&made, POOL_ERR_BAD_DATA, "domain's size 0 is not a power of two");
    make(&made, 3);
    set32(&made.parts[2], 0, 4);
    check_refused(&made, POOL_ERR_BAD_DATA, "the section of coefficients has 136 bytes; 4 of 44");
}

static void test_more_headers(void **state)
{
    static struct iden3 made;

    (void)state;
    iden3_make_wtns(&made, pool_field_by_name("bn254_fr"), 3);
    set32(&made.parts[0], 36, 4);
    check_refused(&made, POOL_ERR_BAD_DATA, "the section of values has 96 bytes; 4 of 32");
    iden3_make_wtns(&made, pool_field_by_name("babybear"), 3); /* elements of 4 bytes */
    check_refused(&made, POOL_ERR_BAD_DATA, "unsupported prime size 4");
    /* A prime in more bytes than it needs. */
    iden3_make_wtns(&made, pool_field_by_name("goldilocks"), 4);
    memmove(made.parts[0].bytes + 20, made.parts[0].bytes + 12, 4);
    memset(made.parts[0].bytes + 12, 0, 8);
    set32(&made.parts[0], 0, 16);
    made.parts[0].size += 8;
    check_refused(
        &made, POOL_ERR_UNSUPPORTED, "elements of 16 bytes; a prime of 64 bits requires 8");
    make(&made, 6);
    set32(&made.parts[1], 12, 3); /* wires */
    check_refused(&made, POOL_ERR_BAD_DATA, "3 outputs and public inputs among 3 wires");
    set32(&made.parts[1], 12, 8);
    check_refused(&made, POOL_ERR_BAD_DATA, "the section of labels has 56 bytes; 8 of 8");
    make(&made, 6);
    set32(&made.parts[1], 36, 3);
    check_refused(&made, POOL_ERR_BAD_DATA, "24 bytes, too few for 3");
}

static void test_names(void **state)
{
    static const char *const none[] = {"", "tau", "tauG11", "tauG1:0",
        "tauG1:", "lagrange:", "lagrange:3", "lagrange:-1", "lagrange:1x", "lagrange:001",
        "lagrange: 1", ":1"};
    static struct iden3 made;
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file *file;

    (void)state;
    iden3_make_ptau(&made, "bn254", 1, 3);
    file = open_made(&made);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        if (pool_file_get_section(file, none[i], &section) != POOL_ERR_NOT_FOUND)
            fail_msg("\"%s\" found", none[i]);
    }
    pool_file_get_section(file, "lagrange:3", &section);
    assert_string_equal(
        pool_last_error()->message, "FILE: section lagrange has levels 0 to 2, no level \"3\"");
    pool_file_get_section(file, "B", &section);
    assert_string_equal(pool_last_error()->message,
        "FILE has no section \"B\"; it has tauG1, tauG2, alphaTauG1, betaTauG1, betaG2, "
        "lagrange[:level], lagrangeG2[:level], lagrangeAlpha[:level], lagrangeBeta[:level]");
    assert_int_equal(pool_file_section_at(file, 9, &section), POOL_ERR_NOT_FOUND);
    assert_int_equal(pool_file_section_at(file, UINT64_MAX, &section), POOL_ERR_NOT_FOUND);
    close_exact(&file);
}

/* A newer caller's struct is filled as far as it is known here, and cleared behind. */
static void test_struct_sizes(void **state)
{
    static struct iden3 made;
    union {
        pool_file_section section;
        pool_file_info info;
        uint8_t bytes[256];
    } newer;
    pool_file *file;

    (void)state;
    iden3_make_zkey(&made, "bn254");
    file = open_made(&made);
    memset(&newer, 0xee, sizeof(newer));
    newer.section.struct_size = sizeof(pool_file_section) + 8;
    assert_int_equal(pool_file_get_section(file, "A", &newer.section), POOL_OK);
    assert_int_equal(newer.section.struct_size, sizeof(pool_file_section) + 8);
    assert_int_equal(newer.section.span.count, 5);
    assert_int_equal(newer.bytes[sizeof(pool_file_section) + 7], 0);
    assert_int_equal(newer.bytes[sizeof(pool_file_section) + 8], 0xee);
    memset(&newer, 0xee, sizeof(newer));
    newer.info.struct_size = sizeof(pool_file_info);
    assert_int_equal(pool_file_get_info(file, &newer.info), POOL_OK);
    assert_int_equal(newer.info.variables, 5);
    assert_int_equal(newer.bytes[sizeof(pool_file_info)], 0xee);
    newer.info.struct_size = 0;
    assert_int_equal(pool_file_get_info(file, &newer.info), POOL_ERR_INVALID_ARGUMENT);
    close_exact(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptau),
        cmocka_unit_test(test_zkey),
        cmocka_unit_test(test_own_field),
        cmocka_unit_test(test_r1cs),
        cmocka_unit_test(test_custom_gates),
        cmocka_unit_test(test_unknown_sections),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_order_and_unknown),
        cmocka_unit_test(test_missing_and_repeated),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_any_number),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_cut_text),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_more_headers),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_struct_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
