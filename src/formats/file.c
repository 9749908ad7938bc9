/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files: mapped, recognised by their first bytes, read by the format's reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/params.h"
#include "base/status.h"
#include "base/text.h"
#include "formats/formats.h"

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

pool_status formats_wrong(const pool_file *file, uint64_t offset, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return base_fail(POOL_ERR_BAD_DATA, "%s, byte %" PRIu64 ": %s", file->path, offset, text);
}

pool_status formats_unsupported(const pool_file *file, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return base_fail(POOL_ERR_UNSUPPORTED, "%s is not read: %s", file->path, text);
}

static pool_status fail_system(const char *path, const char *what)
{
    int code = errno;

    return base_fail(code == ENOENT || code == ENOTDIR ? POOL_ERR_NOT_FOUND : POOL_ERR_IO,
        "%s cannot be %s: %s", path, what, strerror(code));
}

/* Of a file that is being opened; somebody else's bytes are there already. */
static pool_status map_file(pool_file *file)
{
    if (file->descriptor < 0)
        return POOL_OK;
    file->mapping = base_map(file->descriptor, (size_t)file->size);
    file->bytes = file->mapping;
    return file->mapping ? POOL_OK : fail_system(file->path, "mapped");
}

pool_status formats_read_at(const pool_file *file, uint64_t offset, void *to, size_t bytes)
{
    if (file->descriptor < 0) {
        memcpy(to, file->bytes + offset, bytes);
        return POOL_OK;
    }
    if (!base_read_at(file->descriptor, to, bytes, offset))
        return POOL_OK;
    if (errno)
        return fail_system(file->path, "read");
    return formats_wrong(file, offset,
        "the file had %" PRIu64 " byte%s and became shorter meanwhile", file->size,
        base_plural(file->size));
}

/* ---- recognising ---------------------------------------------------------------------------- */

/* The first character of a text that is no white space; 0: there is none. */
static pool_status first_character(const pool_file *file, char *found)
{
    char text[4096];
    pool_status status = POOL_OK;

    *found = '\0';
    for (uint64_t at = 0; !status && !*found && at < file->size; at += sizeof(text)) {
        size_t length = file->size - at < sizeof(text) ? (size_t)(file->size - at) : sizeof(text);
        size_t spaces = 0;

        status = formats_read_at(file, at, text, length);
        while (!status && spaces < length && memchr(" \t\r\n", text[spaces], 4))
            spaces++;
        if (!status && spaces < length)
            *found = text[spaces];
    }
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
    status = first_character(file, &first);
    if (first && strchr("{0123456789", first))
        *kind = POOL_FILE_KZG;
    return status;
}

/* One array of points or elements that fills the whole file. */
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
        return formats_wrong(file, file->size - file->size % stride,
            "the file has %" PRIu64 " byte%s after the last whole item of %" PRIu64,
            file->size % stride, base_plural(file->size % stride), stride);
    section = formats_add(file, "data", params->curve ? POOL_FILE_POINTS : POOL_FILE_ELEMENTS, 0,
        file->size / stride, stride);
    section->curve = file->curve;
    section->layout = params->curve ? params->layout : POOL_POINT_AFFINE;
    section->span.form = params->form;
    return POOL_OK;
}

static pool_status read_kind(pool_file *file, const pool_file_params *params)
{
    pool_file_kind kind = POOL_FILE_RAW;
    pool_status status = params->kind == POOL_FILE_RAW ? POOL_OK : recognise(file, &kind);

    if (!status && kind != POOL_FILE_KZG)
        status = map_file(file);
    if (status)
        return status;
    if (kind == POOL_FILE_ANY)
        return formats_wrong(file, 0, "not the beginning of a ptau, zkey, wtns, r1cs or KZG file");
    if (params->kind && params->kind != kind)
        return formats_wrong(file, 0, "this is a %s file, a %s file was expected",
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
        return formats_read_kzg(file);
    case POOL_FILE_RAW:
    case POOL_FILE_ANY:
        break;
    }
    return read_raw(file, params);
}

/* ---- opening -------------------------------------------------------------------------------- */

static pool_status read_params(const pool_file_params *params, pool_file_params *given)
{
    static const pool_file_params none = {.struct_size = sizeof(none)};
    pool_status status = base_struct_read(
        &file_params_type, "pool_file_open", "params", params ? params : &none, given);

    if (!status)
        status = base_check_ranges("pool_file_open", {"kind", given->kind, 0, POOL_FILE_KZG},
            {"reserved", given->reserved, 0, 0}, {"form", given->form, 0, POOL_FORM_MONTGOMERY},
            {"layout", given->layout, 0, POOL_POINT_XYZZ});
    if (status)
        return status;
    if (given->kind != POOL_FILE_RAW)
        return POOL_OK;
    if (!given->curve && !given->field)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "a raw file needs the curve of its points or the field of its elements");
    return POOL_OK;
}

static pool_status make_file(const char *path, pool_file **file)
{
    pool_file *made = base_calloc(1, sizeof(*made));

    if (made)
        made->path = base_strdup(path);
    if (!made || !made->path) {
        base_free(made);
        return base_fail_memory("an open file");
    }
    *file = made;
    return POOL_OK;
}

/* Reads a file that is open, or the bytes. */
static pool_status read_file(const char *path, int descriptor, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file)
{
    pool_file_params given;
    pool_file *made = NULL;
    pool_status status = read_params(params, &given);

    if (!status)
        status = make_file(path, &made);
    if (status)
        return status;
    made->descriptor = descriptor;
    made->bytes = bytes;
    made->size = size;
    status = read_kind(made, &given);
    made->descriptor = -1;
    if (status)
        pool_file_destroy(&made);
    else
        *file = made;
    return status;
}

pool_status formats_open_bytes(const char *path, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file)
{
    return read_file(path, -1, bytes, size, params, file);
}

/* O_NONBLOCK: to open a pipe must not wait for somebody who writes into it. */
static pool_status open_regular(const char *path, int *descriptor, uint64_t *size)
{
    pool_status status = POOL_OK;
    struct stat facts;

    *descriptor = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (*descriptor < 0)
        return fail_system(path, "opened");
    if (base_fstat(*descriptor, &facts))
        status = fail_system(path, "examined");
    else if (!S_ISREG(facts.st_mode))
        status = base_fail(POOL_ERR_BAD_DATA, "%s is no regular file", path);
    else if (facts.st_size <= 0)
        status = base_fail(POOL_ERR_BAD_DATA, "%s is empty", path);
    else
        *size = (uint64_t)facts.st_size;
    return status;
}

pool_status pool_file_open(const char *path, const pool_file_params *params, pool_file **file)
{
    int descriptor = -1;
    uint64_t size = 0;
    pool_status status;

    if (!path || !file)
        return base_fail_null("pool_file_open", path ? "file" : "path");
    status = open_regular(path, &descriptor, &size);
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
