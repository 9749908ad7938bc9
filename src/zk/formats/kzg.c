/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads Ethereum's KZG setup: compressed BLS12-381 points as hexadecimal digits. This file has the
 * code common to the text and JSON formats; decoded points are affine, in Montgomery form.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/curve/curve.h"
#include "zk/formats/formats.h"

enum {
    MAX_BYTES = 1 << 28,        /* a setup of 2^20 points */
    MAX_ENCODED_BYTES = 2 * 48, /* a compressed point of G2 */
};

const pool_curve *formats_setup_curve(enum formats_group group)
{
    return pool_curve_by_name(group == FORMATS_G2 ? "bls12_381_g2" : "bls12_381_g1");
}

static size_t group_point_bytes(size_t group)
{
    return pool_point_bytes(formats_setup_curve((enum formats_group)group), POOL_POINT_AFFINE);
}

pool_status formats_setup_alloc(pool_file *file, struct formats_setup *setup)
{
    static const char *const names[FORMATS_GROUPS] = {"lagrange", "monomial", "g2"};
    uint64_t bytes = 0;

    for (size_t group = 0; group < FORMATS_GROUPS; group++)
        bytes += setup->count[group] * group_point_bytes(group);
    file->decoded = base_calloc(1, (size_t)bytes);
    if (!file->decoded)
        return base_fail_memory("the points of a KZG setup");
    bytes = 0;
    for (size_t group = 0; group < FORMATS_GROUPS; group++) {
        pool_file_section *section;

        setup->points[group] = (uint8_t *)file->decoded + bytes;
        bytes += setup->count[group] * group_point_bytes(group);
        if (!setup->count[group])
            continue;
        section = formats_add_points(file, names[group],
            formats_setup_curve((enum formats_group)group), 0, setup->count[group]);
        section->span.data = setup->points[group];
    }
    return POOL_OK;
}

static bool read_hex(uint8_t *bytes, const char *digits, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        int c = tolower((unsigned char)digits[i]);

        if (!isxdigit(c))
            return false;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
    }
    return true;
}

const char *formats_setup_digits(enum formats_group group, const char **digits, size_t *length)
{
    size_t size = pool_encoding_bytes(formats_setup_curve(group), POOL_ENCODING_ZCASH_COMPRESSED);

    if (*length >= 2 && (*digits)[0] == '0' && (*digits)[1] == 'x') {
        *digits += 2;
        *length -= 2;
    }
    if (*length == 2 * size)
        return NULL;
    return group == FORMATS_G2 ? "does not have 192 hexadecimal digits"
                               : "does not have 96 hexadecimal digits";
}

const char *formats_setup_decode(const struct formats_setup *setup, enum formats_group group,
    uint64_t index, const char *digits, size_t length)
{
    static const pool_point_format format = {POOL_POINT_AFFINE, POOL_FORM_MONTGOMERY, 0};
    const pool_curve *curve = formats_setup_curve(group);
    uint8_t bytes[MAX_ENCODED_BYTES] = {0};
    struct curve_affine point;
    const char *wrong = formats_setup_digits(group, &digits, &length);

    if (wrong)
        return wrong;
    if (!read_hex(bytes, digits, length / 2))
        return "has a character that is not a hexadecimal digit";
    wrong = curve_decode(curve, POOL_ENCODING_ZCASH_COMPRESSED, &point, bytes);
    if (!wrong)
        curve_store_affine(
            curve, &format, setup->points[group] + index * group_point_bytes(group), &point);
    return wrong;
}

pool_status formats_read_kzg(pool_file *file, bool is_trusted)
{
    struct formats_setup setup = {0};
    pool_status status;
    char *content;

    if (file->size > MAX_BYTES)
        return formats_fail_unsupported(file, "a text file of more than %d bytes", MAX_BYTES);
    file->info.curves[0] = formats_setup_curve(FORMATS_LAGRANGE);
    file->info.curves[1] = formats_setup_curve(FORMATS_G2);
    file->info.field = file->info.curves[0]->scalar_field;
    /* A copy, because content that is read twice must not change in between. */
    content = base_calloc((size_t)file->size + 1, 1);
    if (!content)
        return base_fail_memory("the content of a KZG setup");
    status = formats_read_at(file, 0, content, (size_t)file->size);
    if (!status)
        status = content[strspn(content, " \t\r\n")] == '{'
                     ? formats_read_kzg_json(file, content, &setup)
                     : formats_read_kzg_text(file, content, &setup);
    base_free(content);
    return status || is_trusted ? status : formats_setup_check(file, &setup);
}
