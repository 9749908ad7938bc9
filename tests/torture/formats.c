/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture of opening files: mapped files of each reader, a file whose field has to be created, a
 * raw file, KZG setups as text and as JSON. The driver is not called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/iden3.h"
#include "torture/torture.h"

enum { FILE_OBJECT, FIELD };

static char directory[] = "/tmp/devicepool-torture-XXXXXX";

static const char *name_of(const char *name)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static pool_status open_file(
    struct torture *torture, const char *name, const pool_file_params *params)
{
    pool_file_section section = {.struct_size = sizeof(section)};
    pool_file **file = (pool_file **)&torture->objects[FILE_OBJECT];
    pool_status status = pool_file_open(name_of(name), params, file);

    return status ? status : pool_file_section_at(*file, 0, &section);
}

static pool_status finish(struct torture *torture)
{
    pool_file_destroy((pool_file **)&torture->objects[FILE_OBJECT]);
    pool_field_destroy((pool_field **)&torture->objects[FIELD]);
    return POOL_OK;
}

static pool_status open_key(struct torture *torture)
{
    return open_file(torture, "zkey", NULL);
}

static pool_status open_own_field(struct torture *torture)
{
    return open_file(torture, "wtns", NULL);
}

static pool_status open_raw(struct torture *torture)
{
    const pool_field_params own = {.struct_size = sizeof(own), .modulus = "65537"};
    pool_file_params params = {.struct_size = sizeof(params), .kind = POOL_FILE_RAW};
    pool_status status = pool_field_create(&own, (pool_field **)&torture->objects[FIELD]);

    params.field = torture->objects[FIELD];
    return status ? status : open_file(torture, "raw", &params);
}

static pool_status open_text(struct torture *torture)
{
    return open_file(torture, "text", NULL);
}

static pool_status open_json(struct torture *torture)
{
    return open_file(torture, "json", NULL);
}

static const struct torture_scenario scenarios[] = {
    {.name = "map a key", .run = open_key, .finish = finish},
    {.name = "make a witness' field", .run = open_own_field, .finish = finish},
    {.name = "map a raw array", .run = open_raw, .finish = finish},
    {.name = "decode a KZG text", .run = open_text, .finish = finish},
    {.name = "decode a KZG JSON", .run = open_json, .finish = finish},
};

static int write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name_of(name), "wb");

    return !file || fwrite(bytes, 1, size, file) != size || fclose(file);
}

static int write_iden3(const char *name, const struct iden3 *made)
{
    size_t size;
    uint8_t *bytes = iden3_compose(made, &size);
    int failed = write_bytes(name, bytes, size);

    free(bytes);
    return failed;
}

/* The digits of a curve's generator. */
static int write_generator(const char *name, char *digits)
{
    const pool_curve *curve = pool_curve_by_name(name);
    uint8_t point[192], bytes[96];
    const size_t size = pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED);

    if (pool_curve_generator(curve, NULL, point) ||
        pool_points_encode(curve, NULL, point, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes))
        return 1;
    for (size_t i = 0; i < size; i++)
        sprintf(digits + 2 * i, "%02x", bytes[i]);
    return 0;
}

/* Of one point, so that all groups are a generator. */
static int write_setups(void)
{
    char g1[97], g2[193], text[1024];

    if (write_generator("bls12_381_g1", g1) || write_generator("bls12_381_g2", g2))
        return 1;
    snprintf(text, sizeof(text), "1\n1\n%s\n%s\n%s\n", g1, g2, g1);
    if (write_bytes("text", text, strlen(text)))
        return 1;
    snprintf(
        text, sizeof(text), "{\"g1_lagrange\": [\"0x%s\"], \"g2_monomial\": [\"0x%s\"]}", g1, g2);
    return write_bytes("json", text, strlen(text));
}

static int write_files(void)
{
    static struct iden3 made;
    const pool_field_params own = {.struct_size = sizeof(own), .modulus = "0xffffffffffffffc5"};
    pool_field *field;
    int failed;

    iden3_make_zkey(&made, "bn254");
    failed = write_iden3("zkey", &made);
    if (pool_field_create(&own, &field))
        return 1;
    iden3_make_wtns(&made, field, 3);
    pool_field_destroy(&field);
    failed |= write_iden3("wtns", &made);
    failed |= write_bytes("raw", "12345678", 8);
    return failed | write_setups();
}

int main(int argument_count, char **arguments)
{
    size_t count = sizeof(scenarios) / sizeof(scenarios[0]);
    char command[80];
    int failed;

    if (!mkdtemp(directory) || write_files())
        return 1;
    failed = torture_main(argument_count, arguments, scenarios, count);
    if (torture_file_operations() < 3 * count) {
        printf("the files were not opened\n");
        failed = 1;
    }
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command) || failed;
}
