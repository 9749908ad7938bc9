/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files: system errors, raw arrays, requested and existing sections; and KZG setups as
 * text, valid and invalid ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/assert.h"
#include "support/child.h"
#include "support/iden3.h"
#include "zk/formats/formats.h"

static char path[64];

static void write_file(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int make_path(void **state)
{
    int file;

    (void)state;
    strcpy(path, "/tmp/devicepool-formats-XXXXXX");
    file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int drop_path(void **state)
{
    (void)state;
    return unlink(path) && rmdir(path);
}

static void check_fails(
    const char *name, const pool_file_params *params, pool_status expected, const char *text)
{
    pool_file *file = NULL;
    pool_status status = pool_file_open(name, params, &file);

    if (status != expected || !strstr(pool_last_error()->message, text))
        fail_msg("%s: %d, %s", text, status, status ? pool_last_error()->message : "taken");
    assert_null(file);
}

/* ---- the system ----------------------------------------------------------------------------- */

static void test_system(void **state)
{
    char below[96];

    (void)state;
    check_fails(path, NULL, POOL_ERR_BAD_DATA, "is empty");
    check_fails("/nowhere/at/all", NULL, POOL_ERR_NOT_FOUND, "No such file");
    snprintf(below, sizeof(below), "%s/below", path);
    check_fails(below, NULL, POOL_ERR_NOT_FOUND, "Not a directory");
    check_fails("/tmp", NULL, POOL_ERR_BAD_DATA, "/tmp is not a regular file");
    check_fails("/dev/zero", NULL, POOL_ERR_BAD_DATA, "not a regular file");
    check_fails(NULL, NULL, POOL_ERR_INVALID_ARGUMENT, "NULL");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_fails(path, NULL, POOL_ERR_BAD_DATA, "not a regular file"); /* and does not wait */
}

static int refuse(void *user, const char *operation)
{
    return strcmp(user, operation) ? 0 : 5; /* EIO */
}

static void test_refusals(void **state)
{
    static char *const operations[] = {"open", "stat", "read", "map"};

    (void)state;
    write_file("wtns", 4);
    for (size_t i = 0; i < 4; i++) {
        base_file_set_hook(refuse, operations[i]);
        check_fails(path, NULL, POOL_ERR_IO, "Input/output error");
        base_file_set_hook(NULL, NULL);
    }
}

/* ---- requested kinds ----------------------------------------------------------------------- */

static void test_kind(void **state)
{
    static struct iden3 made;
    pool_file_params params;
    pool_file *file;
    uint8_t *bytes;
    size_t size;

    (void)state;
    iden3_make_wtns(&made, pool_field_by_name("bn254_fr"), 2);
    bytes = iden3_compose(&made, &size);
    write_file(bytes, size);
    free(bytes);
    pool_file_params_init(&params, sizeof(params));
    params.kind = POOL_FILE_WTNS;
    assert_int_equal(pool_file_open(path, &params, &file), POOL_OK);
    assert_non_null(file->mapping);
    pool_file_destroy(&file);
    pool_file_destroy(&file);
    pool_file_destroy(NULL);
    params.kind = POOL_FILE_ZKEY;
    check_fails(path, &params, POOL_ERR_BAD_DATA, "is a wtns file, a zkey file was expected");
    params.kind = (pool_file_kind)7;
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "unsupported value 7 for `kind`");
    params.kind = (pool_file_kind)-1;
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "for `kind`");
    params = (pool_file_params){.struct_size = sizeof(params), .trusted = 2};
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "unsupported value 2 for `trusted`");
    params.struct_size = 8;
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "struct_size is 8");
    assert_string_equal(pool_file_kind_name(POOL_FILE_PTAU), "ptau");
    assert_string_equal(pool_file_kind_name(POOL_FILE_KZG), "kzg");
    assert_string_equal(pool_file_kind_name((pool_file_kind)7), "?");
    assert_string_equal(pool_file_kind_name((pool_file_kind)-1), "?");
    pool_file_params_init(NULL, 64);
}

static void test_raw(void **state)
{
    pool_file_params params = {.struct_size = sizeof(params), .kind = POOL_FILE_RAW};
    pool_file_section section = {.struct_size = sizeof(section)};
    static const uint8_t bytes[5 * 72] = {7};
    pool_file *file;

    (void)state;
    write_file(bytes, sizeof(bytes));
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "requires `curve` or `field`");
    params.field = pool_field_by_name("goldilocks");
    params.form = POOL_FORM_MONTGOMERY;
    assert_int_equal(pool_file_open(path, &params, &file), POOL_OK);
    assert_int_equal(pool_file_get_section(file, "data", &section), POOL_OK);
    assert_int_equal(section.item, POOL_FILE_ELEMENTS);
    assert_ptr_equal(section.field, params.field);
    assert_int_equal(section.span.count, 45);
    assert_int_equal(section.span.stride, 8);
    assert_int_equal(section.span.form, POOL_FORM_MONTGOMERY);
    assert_memory_equal(section.span.data, bytes, sizeof(bytes));
    pool_file_destroy(&file);
    params.curve = pool_curve_by_name("bn254_g1");
    params.layout = POOL_POINT_AFFINE_FLAG;
    params.form = POOL_FORM_STANDARD;
    assert_int_equal(pool_file_open(path, &params, &file), POOL_OK);
    assert_int_equal(pool_file_get_section(file, "data", &section), POOL_OK);
    assert_int_equal(section.item, POOL_FILE_POINTS);
    assert_ptr_equal(section.curve, params.curve);
    assert_string_equal(pool_field_name(section.field), "bn254_fr");
    assert_int_equal(section.layout, POOL_POINT_AFFINE_FLAG);
    assert_int_equal(section.span.count, 5);
    assert_int_equal(section.span.stride, 72);
    pool_file_destroy(&file);
    write_file(bytes, 5 * 72 - 1);
    check_fails(path, &params, POOL_ERR_BAD_DATA,
        "byte 288: the file has 71 bytes after the last complete item");
    params.layout = (pool_point_layout)9;
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "unsupported value 9 for `layout`");
    params.layout = POOL_POINT_AFFINE;
    params.form = (pool_form)2;
    check_fails(path, &params, POOL_ERR_INVALID_ARGUMENT, "unsupported value 2 for `form`");
}

/* A curve of the caller's own outlives the caller's reference. */
static void test_raw_own_field(void **state)
{
    const pool_field_params own = {.struct_size = sizeof(own), .modulus = "0xffffffffffffffc5"};
    pool_file_params params = {.struct_size = sizeof(params), .kind = POOL_FILE_RAW};
    static const uint8_t bytes[16];
    pool_field *field;
    pool_file *file;

    (void)state;
    assert_int_equal(pool_field_create(&own, &field), POOL_OK);
    write_file(bytes, sizeof(bytes));
    params.field = field;
    assert_int_equal(pool_file_open(path, &params, &file), POOL_OK);
    pool_field_destroy(&field);
    assert_int_equal(pool_field_bits(file->info.field), 64);
    pool_file_destroy(&file);
}

/* ---- large files ---------------------------------------------------------------------------- */

/* Section headers at their offsets, holes for the points. 0 on a file system without holes. */
static int make_large(int file, uint32_t power)
{
    const uint64_t n = UINT64_C(1) << power;
    const uint64_t sizes[] = {0, 44, (2 * n - 1) * 64, n * 128, n * 64, n * 64, 128};
    static struct iden3 made;
    off_t at = 12;
    size_t size;
    uint8_t *bytes;

    iden3_make_ptau(&made, "bn254", 0, 0);
    bytes = iden3_compose(&made, &size);
    bytes[8] = 6; /* sections */
    bytes[24 + 36] = (uint8_t)power;
    assert_int_equal(pwrite(file, bytes, 68, 0), 68);
    free(bytes);
    for (uint32_t type = 1; type <= 6; type++) {
        struct iden3_part head = {0};

        iden3_put32(&head, type);
        iden3_put64(&head, sizes[type]);
        assert_int_equal(pwrite(file, head.bytes, 12, at), 12);
        at += 12 + (off_t)sizes[type];
    }
    return !ftruncate(file, at);
}

/* Powers of tau of 2^26: sections of more than 2^32 bytes, far apart; only what is read costs. */
static void test_large(void **state)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    const uint64_t n = UINT64_C(1) << 26;
    int descriptor = open(path, O_RDWR);
    static const uint8_t zeros[64];
    pool_file *file;

    (void)state;
    if (!make_large(descriptor, 26)) {
        close(descriptor);
        return;
    }
    if (pool_file_open(path, NULL, &file))
        fail_msg("%s", pool_last_error()->message);
    assert_int_equal(pool_file_get_section(file, "betaTauG1", &section), POOL_OK);
    assert_int_equal(section.span.count, n);
    assert_int_equal(section.offset, 12 + 12 + 44 + 4 * 12 + (2 * n - 1) * 64 + n * 128 + n * 64);
    assert_memory_equal((uint8_t *)section.span.data + (n - 1) * 64, zeros, 64);
    pool_file_destroy(&file);
    assert_int_equal(ftruncate(descriptor, (off_t)(n * 128)), 0);
    check_fails(path, NULL, POOL_ERR_BAD_DATA, "truncated");
    close(descriptor);
}

static uint64_t bytes_read;

static int count_reads(void *user, const char *operation)
{
    (void)user;
    bytes_read += strcmp(operation, "read") == 0;
    return 0;
}

/* A file that begins with zeros or white space is refused by its first 4 KiB. */
static void test_first_bytes(void **state)
{
    char spaces[8192];

    (void)state;
    memset(spaces, ' ', sizeof(spaces));
    for (int i = 0; i < 2; i++) {
        write_file(spaces, i ? sizeof(spaces) : 1);
        assert_int_equal(truncate(path, (off_t)1 << 30), 0);
        bytes_read = 0;
        base_file_set_hook(count_reads, NULL);
        check_fails(path, NULL, POOL_ERR_BAD_DATA, "not the beginning");
        base_file_set_hook(NULL, NULL);
        assert_between(bytes_read, 1, 2); /* the magic and one block */
    }
}

/* Control characters of a name, which a terminal would obey, are not in messages. */
static void test_name(void **state)
{
    static const char *const names[][2] = {{"/tmp/\033]0;x\007\n", "/tmp/?]0;x??"},
        {"/tmp/\302\233"
         "31m\177",
            "/tmp/?31m?"},
        {"/tmp/\233"
         "1m\303",
            "/tmp/?1m?"},
        {"/tmp/\303\274\342\202\254\360\237\230\200", "/tmp/\303\274\342\202\254\360\237\230\200"}};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        pool_file *file = NULL;

        check_fails(names[i][0], NULL, POOL_ERR_NOT_FOUND, names[i][1]);
        assert_int_equal(formats_open_bytes(names[i][0], (const uint8_t *)"x", 1, NULL, &file),
            POOL_ERR_BAD_DATA);
        assert_non_null(strstr(pool_last_error()->message, names[i][1]));
    }
}

/* ---- KZG ------------------------------------------------------------------------------------ */

static void hex_of(const char *curve_name, unsigned factor, char *text)
{
    const pool_curve *curve = pool_curve_by_name(curve_name);
    uint8_t point[192], bytes[96], scalar[1] = {(uint8_t)factor};
    size_t size = pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED);

    assert_int_equal(pool_curve_generator(curve, NULL, point), POOL_OK);
    assert_int_equal(pool_point_mul(curve, NULL, point, scalar, 1, point), POOL_OK);
    assert_int_equal(
        pool_points_encode(curve, NULL, point, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes),
        POOL_OK);
    for (size_t i = 0; i < size; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
}

static char g1[8][97], g2[4][193]; /* multiples of the generators */

static void make_points(void)
{
    for (unsigned i = 0; i < 8; i++)
        hex_of("bls12_381_g1", i, g1[i]); /* the first is infinity */
    for (unsigned i = 0; i < 4; i++)
        hex_of("bls12_381_g2", i, g2[i]);
}

/* Truncates the file at the n-th read from now. */
static int shorten(void *user, const char *operation)
{
    int *countdown = user;

    if (strcmp(operation, "read") == 0 && (*countdown)-- == 0)
        assert_int_equal(truncate(path, 0), 0);
    return 0;
}

/* The number of readings; the file is whole again before each. */
static int open_while_shortened(const void *bytes, size_t size)
{
    pool_file *file = NULL;
    int countdown, reads = 0;

    for (;; reads++) {
        pool_status status;

        write_file(bytes, size);
        countdown = reads;
        base_file_set_hook(shorten, &countdown);
        status = pool_file_open(path, NULL, &file);
        base_file_set_hook(NULL, NULL);
        if (countdown >= 0)
            break;
        assert_int_equal(status, POOL_ERR_BAD_DATA);
        assert_non_null(strstr(pool_last_error()->message, "was truncated while it was opened"));
    }
    pool_file_destroy(&file);
    return reads;
}

/* Nothing is read from the mapping while a file is opened: that would end the program (SIGBUS). */
static void test_file_that_becomes_shorter(void **state)
{
    static struct iden3 made;
    char text[4096];
    uint8_t *bytes;
    size_t size;

    (void)state;
    iden3_make_wtns(&made, pool_field_by_name("bn254_fr"), 2);
    bytes = iden3_compose(&made, &size);
    assert_between(open_while_shortened(bytes, size), 8, 100);
    free(bytes);
    make_points();
    snprintf(text, sizeof(text), "1\n1\n%s\n%s\n", g1[1], g2[1]);
    assert_between(open_while_shortened(text, strlen(text)), 2, 10);
    snprintf(text, sizeof(text), "{\"g1_lagrange\": [\"%s\"]}", g1[1]);
    assert_between(open_while_shortened(text, strlen(text)), 2, 10);
}

/* For setups that are read as they are: these have any points. */
static const pool_file_params trusted = {.struct_size = sizeof(trusted), .trusted = 1};

static void check_text(const char *text, pool_status expected, const char *message)
{
    pool_file *file = NULL;
    pool_status status =
        formats_open_bytes("FILE", (const uint8_t *)text, strlen(text), &trusted, &file);

    if (status != expected || (status && !strstr(pool_last_error()->message, message)))
        fail_msg("%s: %d, %s", message, status, status ? pool_last_error()->message : "taken");
    pool_file_destroy(&file);
}

/* Point `index` of the section is `factor` times the generator. */
static void check_point(const pool_file *file, const char *name, uint64_t index, unsigned factor)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_point_format format;
    uint8_t expected[192], scalar[1] = {(uint8_t)factor};
    int equal = 0;

    assert_int_equal(pool_file_get_section(file, name, &section), POOL_OK);
    assert_true(index < section.span.count);
    format = (pool_point_format){section.layout, section.span.form, section.span.stride};
    assert_int_equal(pool_curve_generator(section.curve, NULL, expected), POOL_OK);
    assert_int_equal(pool_point_mul(section.curve, NULL, expected, scalar, 1, expected), POOL_OK);
    assert_int_equal(
        pool_point_equal(section.curve, &format,
            (uint8_t *)section.span.data + index * section.span.stride, NULL, expected, &equal),
        POOL_OK);
    assert_true(equal);
}

static void test_kzg_text(void **state)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    char text[4096];
    pool_file *file;

    (void)state;
    make_points();
    snprintf(text, sizeof(text), "2\n1\n%s\n%s\n%s\n%s\n%s\n", g1[3], g1[0], g2[2], g1[1], g1[5]);
    assert_int_equal(
        formats_open_bytes("FILE", (const uint8_t *)text, strlen(text), &trusted, &file), POOL_OK);
    assert_int_equal(file->info.kind, POOL_FILE_KZG);
    assert_int_equal(file->info.sections, 3);
    check_point(file, "lagrange", 0, 3);
    check_point(file, "lagrange", 1, 0);
    check_point(file, "g2", 0, 2);
    check_point(file, "monomial", 1, 5);
    pool_file_destroy(&file);
    /* The older form, and spaces of all kinds. */
    snprintf(text, sizeof(text), " 1 \r\n\t2 0x%s %s\r\n%s", g1[7], g2[3], g2[0]);
    assert_int_equal(
        formats_open_bytes("FILE", (const uint8_t *)text, strlen(text), &trusted, &file), POOL_OK);
    check_point(file, "lagrange", 0, 7);
    check_point(file, "g2", 1, 0);
    assert_int_equal(pool_file_get_section(file, "monomial", &section), POOL_ERR_NOT_FOUND);
    pool_file_destroy(&file);
}

static void test_kzg_text_wrong(void **state)
{
    char text[4096];

    (void)state;
    make_points();
    check_text("1", POOL_ERR_BAD_DATA, "the number of points in G2 is missing");
    check_text("0 1", POOL_ERR_BAD_DATA, "the number of points in G1 is missing or 0");
    check_text("4096\n65\n", POOL_ERR_BAD_DATA, "0 words follow");
    check_text("1x 1", POOL_ERR_BAD_DATA, "is not a number of up to nine digits");
    check_text("1234567890 1", POOL_ERR_BAD_DATA, "is not a number of up to nine digits");
    check_text("1 1 a b", POOL_ERR_BAD_DATA, "2 words are too short to be points");
    snprintf(text, sizeof(text), "1 1 %s %s %s %s", g1[1], g2[1], g1[1], g1[1]);
    check_text(text, POOL_ERR_BAD_DATA, "4 words follow");
    snprintf(text, sizeof(text), "1 1 %s %s %.95s", g1[1], g2[1], g1[1]);
    check_text(text, POOL_ERR_BAD_DATA,
        "byte 294: point 0 of bls12_381_g1 does not have 96 hexadecimal digits");
    snprintf(text, sizeof(text), "1 1 %s %s", g2[1], g1[1]);
    check_text(text, POOL_ERR_BAD_DATA, "byte 4: point 0 of bls12_381_g1 does not have 96");
    snprintf(text, sizeof(text), "1 1 %s %s", g1[1], g2[1]);
    check_text(text, POOL_OK, "");
    text[50] = 'g';
    check_text(text, POOL_ERR_BAD_DATA, "has a character that is not a hexadecimal digit");
    snprintf(text, sizeof(text), "1 1 %s %s", g1[1], g2[1]);
    text[4] = '1'; /* the flag of compression */
    check_text(text, POOL_ERR_BAD_DATA, "lacks the compression flag");
    snprintf(text, sizeof(text), "1 1 %s %s", g1[1], g2[1]);
    memset(text + 5, 'f', 95);
    text[4] = '9';
    check_text(text, POOL_ERR_BAD_DATA, "not below the modulus");
}

static void test_kzg_json(void **state)
{
    char text[4096];
    pool_file *file;

    (void)state;
    make_points();
    snprintf(text, sizeof(text),
        "\n {\"x\": {}, \"g2_monomial\": [\"0x%s\", \"0x%s\"], \"g1_lagrange\": [\"0x%s\"]}", g2[1],
        g2[3], g1[4]);
    assert_int_equal(
        formats_open_bytes("FILE", (const uint8_t *)text, strlen(text), &trusted, &file), POOL_OK);
    assert_int_equal(file->info.sections, 2);
    check_point(file, "g2", 1, 3);
    check_point(file, "lagrange", 0, 4);
    pool_file_destroy(&file);
    for (size_t cut = 1; cut < strlen(text) - 2; cut++) {
        char old = text[cut + 2];

        text[cut + 2] = 0;
        check_text(text, POOL_ERR_BAD_DATA, "FILE, byte");
        text[cut + 2] = old;
    }
    check_text("{}", POOL_ERR_BAD_DATA, "g1_lagrange, g1_monomial and g2_monomial are missing");
    check_text("{\"protocol\": \"groth16\", \"curve\": \"bn128\", \"nPublic\": 1}",
        POOL_ERR_BAD_DATA, "a verification key of proof system groth16");
    check_text("{\"pi_a\": [], \"protocol\": \"plonk\"}", POOL_ERR_BAD_DATA,
        "a proof of proof system plonk");
    check_text("{\"protocol\": 1}", POOL_ERR_BAD_DATA, "are missing");
    check_text("{} {}", POOL_ERR_BAD_DATA, "invalid JSON");
    check_text("{\"g1_lagrange\": 1}", POOL_ERR_BAD_DATA, "g1_lagrange is not an array");
    check_text("{\"g1_lagrange\": []}", POOL_ERR_BAD_DATA, "g1_lagrange is not an array of points");
    check_text("{\"g2_monomial\": [1]}", POOL_ERR_BAD_DATA, "g2_monomial[0] is not a string");
    check_text("{\"g1_lagrange\": [\"0x\"]}", POOL_ERR_BAD_DATA, "g1_lagrange[0] does not have 96");
    snprintf(
        text, sizeof(text), "{\"g1_lagrange\": [\"%s\"], \"g1_lagrange\": [\"%s\"]}", g1[1], g1[1]);
    check_text(text, POOL_ERR_BAD_DATA, "g1_lagrange is duplicated");
    snprintf(text, sizeof(text), "{\"g1_monomial\": [\"%s\", \"%s\"]}", g1[1], g1[2]);
    text[18] = '1';
    check_text(text, POOL_ERR_BAD_DATA, "g1_monomial[0] lacks the compression flag");
}

/* The grammar, in values that are passed over. */
static void test_json_values(void **state)
{
    static const char *const good[] = {"0", "-0", "12", "-1.5e+10", "0.25E-3", "1e5", "true",
        "false", "null", "\"\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00aF\"", "[]", "[ ]", "{}", "{ }",
        "[1,2]", "[[],[[]],{}]", "{\"a\":1 , \"a\" : [ {\"b\":{}} ] }",
        "[{},[],\"]\",{\"}\":\"{\"}]"};
    static const char *const bad[] = {"", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "tru",
        "nul", "True", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "[", "]", "[1", "[1,]", "[,1]",
        "[1 2]", "{", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1]", "[1}", "{\"a\" 1}",
        "1 2", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"};
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        snprintf(text, sizeof(text), "{\"x\":%s,\"y\" : %s\r}\t", good[i], good[i]);
        check_text(text, POOL_ERR_BAD_DATA, "are missing");
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), "{\"x\":%s}", bad[i]);
        check_text(text, POOL_ERR_BAD_DATA, "invalid JSON");
    }
    check_text("{,}", POOL_ERR_BAD_DATA, "byte 1: invalid JSON");
    check_text("{\"g1_lagrange\"", POOL_ERR_BAD_DATA, "invalid JSON");
}

enum { HOSTILE = 8 << 20 };

/* The greatest size of the process so far. */
static uint64_t peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static int open_hostile(void *argument)
{
    char *const *parts = argument; /* beginning, what is repeated, end */
    char *text = malloc(HOSTILE + 64);
    size_t length = (size_t)sprintf(text, "%s", parts[0]), step = strlen(parts[1]);
    pool_file *file = NULL;
    uint64_t before;
    pool_status status;

    while (length + step < HOSTILE) {
        memcpy(text + length, parts[1], step);
        length += step;
    }
    strcpy(text + length, parts[2]);
    length += strlen(parts[2]);
    (void)pool_curve_at(0);
    before = peak_bytes();
    status = formats_open_bytes("FILE", (const uint8_t *)text, length, NULL, &file);
    CHILD_CHECK(status == POOL_ERR_BAD_DATA);
    CHILD_CHECK(peak_bytes() - before < 3 * (uint64_t)HOSTILE); /* one copy; it was 42 */
    free(text);
    return 0;
}

static void test_hostile_json_takes_no_memory(void **state)
{
    static char *const texts[][3] = {{"{\"x\":[1", ",1", "]}"}, {"{\"x\":[{}", ",{}", "]}"},
        {"{\"x\":1", ",\"a\":1", "}"}, {"{\"g2_monomial\":[\"\"", ",\"\"", "]}"},
        {"{\"x\":", "[", "}"}, {"{\"x\":\"", "a", "\"}"}};

    (void)state;
#ifdef __SANITIZE_THREAD__ /* its shadow memory counts as the process's */
    skip();
#endif
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(child_run(open_hostile, (void *)(uintptr_t)texts[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_system, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_refusals, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_file_that_becomes_shorter, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_kind, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_raw, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_raw_own_field, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_large, make_path, drop_path),
        cmocka_unit_test_setup_teardown(test_first_bytes, make_path, drop_path),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_kzg_text),
        cmocka_unit_test(test_kzg_text_wrong),
        cmocka_unit_test(test_kzg_json),
        cmocka_unit_test(test_json_values),
        cmocka_unit_test(test_hostile_json_takes_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
