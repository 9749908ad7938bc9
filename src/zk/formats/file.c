/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files: recognises the kind by the first bytes and calls the reader of the format.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "zk/formats/formats.h"

static const struct base_struct file_params_type = BASE_STRUCT(pool_file_params);

void pool_file_params_init(pool_file_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

const char *pool_file_kind_name(pool_file_kind kind)
{
    static const char *const names[] = {"any", "raw", "ptau", "zkey", "wtns", "r1cs", "kzg"};

    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

/* ---- recognising ---------------------------------------------------------------------------- */

/* Finds the first character that is not white space in the first 4 KiB; '\0' if there is none. */
static pool_status find_first_character(const pool_file *file, char *found)
{
    char block[4096];
    const size_t length = file->size < sizeof(block) ? (size_t)file->size : sizeof(block);
    pool_status status = formats_read_at(file, 0, block, length);
    size_t spaces = 0;

    while (!status && spaces < length && memchr(" \t\r\n", block[spaces], 4))
        spaces++;
    *found = !status && spaces < length ? block[spaces] : '\0';
    return status;
}

static pool_status recognise(const pool_file *file, pool_file_kind *kind)
{
    static const struct {
        const char *magic;
        pool_file_kind kind;
    } kinds[] = {{"ptau", POOL_FILE_PTAU}, {"zkey", POOL_FILE_ZKEY}, {"wtns", POOL_FILE_WTNS},
        {"r1cs", POOL_FILE_R1CS}};
    char first, magic[4] = "";
    pool_status status = POOL_OK;

    *kind = POOL_FILE_ANY;
    if (file->size >= sizeof(magic))
        status = formats_read_at(file, 0, magic, sizeof(magic));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!memcmp(magic, kinds[i].magic, sizeof(magic)))
            *kind = kinds[i].kind;
    }
    if (status || *kind)
        return status;
    status = find_first_character(file, &first);
    if (first && strchr("{0123456789", first))
        *kind = POOL_FILE_KZG;
    return status;
}

/* A raw file is one array of points or elements. */
static pool_status read_raw(pool_file *file, const pool_file_params *params)
{
    uint64_t stride = params->curve ? pool_point_bytes(params->curve, params->layout)
                                    : pool_field_element_bytes(params->field);
    pool_file_section *section;

    file->curve = pool_curve_retain(params->curve);
    file->field = pool_field_retain(params->curve ? NULL : params->field);
    file->info.curves[0] = file->curve;
    file->info.field = file->curve ? pool_curve_scalar_field(file->curve) : file->field;
    if (file->size % stride)
        return formats_fail_data(file, file->size - file->size % stride,
            "the file has %" PRIu64 " byte%s after the last complete item of %" PRIu64,
            file->size % stride, base_plural(file->size % stride), stride);
    section = formats_add_section(file, "data",
        params->curve ? POOL_FILE_POINTS : POOL_FILE_ELEMENTS, 0, file->size / stride, stride);
    section->curve = file->curve;
    section->layout = params->curve ? params->layout : POOL_POINT_AFFINE;
    section->span.form = params->form;
    return POOL_OK;
}

static pool_status read_kind(pool_file *file, const pool_file_params *params)
{
    pool_file_kind kind = POOL_FILE_RAW;
    pool_status status = params->kind == POOL_FILE_RAW ? POOL_OK : recognise(file, &kind);

    if (!status && kind == POOL_FILE_ANY)
        return formats_fail_data(
            file, 0, "not the beginning of a ptau, zkey, wtns, r1cs or KZG file");
    if (!status && kind != POOL_FILE_KZG)
        status = formats_map(file);
    if (status)
        return status;
    if (params->kind && params->kind != kind)
        return formats_fail_data(file, 0, "this is a %s file, a %s file was expected",
            pool_file_kind_name(kind), pool_file_kind_name(params->kind));
    file->info.kind = kind;
    file->info.bytes = file->size;
    switch (kind) {
    case POOL_FILE_PTAU:
        return formats_read_ptau(file);
    case POOL_FILE_ZKEY:
        return formats_read_zkey(file);
    case POOL_FILE_WTNS:
        return formats_read_wtns(file);
    case POOL_FILE_R1CS:
        return formats_read_r1cs(file);
    case POOL_FILE_KZG:
        return formats_read_kzg(file, params->trusted);
    case POOL_FILE_RAW:
    case POOL_FILE_ANY:
        break;
    }
    return read_raw(file, params);
}

/* ---- opening -------------------------------------------------------------------------------- */

static pool_status check_params(const pool_file_params *params, pool_file_params *given)
{
    static const pool_file_params none = {.struct_size = sizeof(none)};
    pool_status status = base_struct_read(
        &file_params_type, "pool_file_open", "params", params ? params : &none, given);

    if (!status)
        status = base_check_ranges("pool_file_open", {"kind", given->kind, 0, POOL_FILE_KZG},
            {"trusted", given->trusted, 0, 1}, {"form", given->form, 0, POOL_FORM_MONTGOMERY},
            {"layout", given->layout, 0, POOL_POINT_XYZZ});
    if (status)
        return status;
    if (given->kind != POOL_FILE_RAW)
        return POOL_OK;
    if (!given->curve && !given->field)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_file_open: a raw file requires `curve` or `field`");
    return POOL_OK;
}

static pool_status create_file(const char *path, pool_file **file)
{
    pool_file *created = base_calloc(1, sizeof(*created));

    if (created)
        created->path = base_strdup(path);
    if (!created || !created->path) {
        base_free(created);
        return base_fail_memory("an open file");
    }
    base_text_make_printable(created->path, "");
    *file = created;
    return POOL_OK;
}

/* Reads an open file, or bytes in memory if `descriptor` is -1. */
static pool_status read_file(const char *path, int descriptor, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file)
{
    pool_file_params given;
    pool_file *created = NULL;
    pool_status status = check_params(params, &given);

    if (!status)
        status = create_file(path, &created);
    if (status)
        return status;
    created->descriptor = descriptor;
    created->bytes = bytes;
    created->size = size;
    status = read_kind(created, &given);
    created->descriptor = -1;
    if (status)
        pool_file_destroy(&created);
    else
        *file = created;
    return status;
}

pool_status formats_open_bytes(const char *path, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file)
{
    return read_file(path, -1, bytes, size, params, file);
}

pool_status pool_file_open(const char *path, const pool_file_params *params, pool_file **file)
{
    int descriptor = -1;
    uint64_t size = 0;
    pool_status status;

    if (!path || !file)
        return base_fail_null("pool_file_open", path ? "file" : "path");
    status = formats_open_regular(path, &descriptor, &size);
    if (!status)
        status = read_file(path, descriptor, NULL, size, params, file);
    base_close(descriptor);
    return status;
}

void pool_file_destroy(pool_file **file)
{
    pool_file *closed = file ? *file : NULL;

    if (!closed)
        return;
    *file = NULL;
    base_unmap(closed->mapping, (size_t)closed->size);
    pool_curve_destroy(&closed->curve);
    pool_field_destroy(&closed->field);
    base_free(closed->decoded);
    base_free(closed->path);
    base_free(closed);
}

pool_status pool_file_get_info(const pool_file *file, pool_file_info *info)
{
    static const struct base_struct type = BASE_STRUCT(pool_file_info);
    pool_status status = file ? base_struct_check(&type, "pool_file_get_info", "info", info)
                              : base_fail_null("pool_file_get_info", "file");

    if (!status)
        base_struct_write(&type, &file->info, info);
    return status;
}
