/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the headers of custom kernels: see header.h.
 *
 * A header contains everything that it needs: the include lines of ptx/ are replaced by the files
 * they name. Curves and parameter sets, whose files define the same names for each of them, stand
 * in a namespace of their own, and every macro of these files is undefined at the end, so that a
 * program can use several. The elements of a field have one type in all headers of a program.
 */
#include "zk/custom/header.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "zk/curve/emit_curve.h"
#include "zk/field/emit_field.h"
#include "pool/module/sources.h"
#include "zk/poseidon/kernels.h"

enum {
    TYPE_BYTES = 48,
    PREFIX_BYTES = 24,
    MAX_GENERATED = 3,
    MAX_INCLUDED = 32,
    MAX_MACROS = 160,
    DOT_LENGTHS = 24
};

/* The characters of identifiers. */
#define IDENTIFIER "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* A generated source, which files of ptx/ include by name. */
struct generated {
    const char *name;
    char *text;
};

/* A substring of one of the texts. */
struct name {
    const char *start;
    size_t length;
};

/* A header while it is written. After a failure `status` is set and further output is ignored. */
struct header {
    char *text;
    size_t length, capacity;
    struct generated generated[MAX_GENERATED];
    size_t generated_count;
    const char *included[MAX_INCLUDED]; /* names of the files that were written */
    size_t included_count;
    struct name macros[MAX_MACROS]; /* to be undefined */
    size_t macro_count;
    pool_status status;
};

static void append(struct header *header, const char *text, size_t length)
{
    size_t needed = header->length + length + 1;

    if (header->status)
        return;
    if (needed > header->capacity) {
        size_t capacity = header->capacity ? header->capacity : 65536;
        char *grown;

        while (capacity < needed)
            capacity *= 2;
        grown = base_realloc(header->text, capacity, 1);
        if (!grown) {
            header->status = base_fail_memory("a header of the library's arithmetic");
            return;
        }
        header->text = grown;
        header->capacity = capacity;
    }
    memcpy(header->text + header->length, text, length);
    header->length += length;
    header->text[header->length] = '\0';
}

static void append_string(struct header *header, const char *text)
{
    append(header, text, strlen(text));
}

/* Appends and frees a formatted string. */
static void append_formatted(struct header *header, char *text)
{
    if (text)
        append_string(header, text);
    else if (!header->status)
        header->status = base_fail_memory("a header of the library's arithmetic");
    base_free(text);
}

static void add_macro(struct header *header, const char *start)
{
    struct name macro = {start, strspn(start, IDENTIFIER)};

    for (size_t i = 0; i < header->macro_count; i++)
        if (header->macros[i].length == macro.length &&
            memcmp(header->macros[i].start, start, macro.length) == 0)
            return;
    if (header->macro_count == MAX_MACROS) {
        if (!header->status)
            header->status = base_fail(
                POOL_ERR_INTERNAL, "a header of the library's arithmetic has too many macros");
        return;
    }
    header->macros[header->macro_count++] = macro;
}

static void write_file(struct header *header, const char *text);

/* Whether the file was written before; ff/generic.cuh, which has no guard, is meant to be written
 * once per header as well. */
static bool was_included(struct header *header, const char *name)
{
    for (size_t i = 0; i < header->included_count; i++)
        if (strcmp(header->included[i], name) == 0)
            return true;
    if (header->included_count < MAX_INCLUDED)
        header->included[header->included_count++] = name;
    else if (!header->status)
        header->status =
            base_fail(POOL_ERR_INTERNAL, "a header of the library's arithmetic has too many files");
    return false;
}

/* Writes the file that an include line names: generated, or of ptx/. */
static void write_included(struct header *header, const char *name, size_t length)
{
    for (size_t i = 0; i < header->generated_count; i++) {
        const struct generated *source = &header->generated[i];

        if (strlen(source->name) != length || memcmp(source->name, name, length) != 0)
            continue;
        if (!was_included(header, source->name))
            write_file(header, source->text);
        return;
    }
    for (size_t i = 0; i < module_sources_count; i++) {
        const struct module_source *source = &module_sources[i];

        if (strlen(source->name) != length || memcmp(source->name, name, length) != 0)
            continue;
        if (!was_included(header, source->name))
            write_file(header, source->text);
        return;
    }
    if (!header->status)
        header->status =
            base_fail(POOL_ERR_INTERNAL, "there is no device source \"%.*s\"", (int)length, name);
}

/* Writes a text with the files that it includes. */
static void write_file(struct header *header, const char *text)
{
    static const char include[] = "#include \"", define[] = "#define ";

    while (*text && !header->status) {
        size_t length = strcspn(text, "\n");

        length += text[length] == '\n';
        if (strncmp(text, include, sizeof(include) - 1) == 0) {
            const char *name = text + sizeof(include) - 1;

            write_included(header, name, strcspn(name, "\""));
        } else {
            if (strncmp(text, define, sizeof(define) - 1) == 0)
                add_macro(header, text + sizeof(define) - 1);
            append(header, text, length);
        }
        text += length;
    }
}

static void undefine_macros(struct header *header)
{
    for (size_t i = 0; i < header->macro_count; i++) {
        append_string(header, "#undef ");
        append(header, header->macros[i].start, header->macros[i].length);
        append_string(header, "\n");
    }
}

/* ---- headers --------------------------------------------------------------------------------- */

/* The name of the type of a field's elements. */
static pool_status name_type(const pool_field *field, char type[TYPE_BYTES])
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    pool_status status = pool_field_fingerprint(field, fingerprint);
    int length = snprintf(type, TYPE_BYTES, "pool_element_");

    for (size_t i = 0; i < 12 && !status; i++)
        length += snprintf(type + length, (size_t)(TYPE_BYTES - length), "%02x", fingerprint[i]);
    return status;
}

/* Every header defines the type of its elements, the first one of a program that includes it. */
static void write_type(struct header *header, const pool_field *field, const char *type)
{
    char *definition = NULL;

    if (!header->status)
        header->status = field_emit_generate_type(field, type, &definition);
    if (header->status)
        return;
    append_formatted(header, base_format("#ifndef %s_defined\n#define %s_defined\n%s#endif\n\n",
                                 type, type, definition));
    base_free(definition);
}

/* Adds a source that was generated with `status`. */
static void add_generated(
    struct header *header, const char *name, pool_status status, char *const *text)
{
    if (!status)
        header->generated[header->generated_count++] = (struct generated){name, *text};
    else if (!header->status)
        header->status = status;
}

/* Skips a comment or a string literal at `text`; returns `text` if there is none. */
static const char *skip_literal(const char *text)
{
    const char *end = text;

    if (text[0] == '/' && text[1] == '*') {
        end = strstr(text + 2, "*/");
        return end ? end + 2 : text + strlen(text);
    }
    if (*text != '"')
        return text;
    for (end++; *end && *end != '"'; end++)
        end += *end == '\\' && end[1];
    return *end ? end + 1 : end;
}

/* Whether code contains this identifier. */
static bool has_identifier(const char *code, const char *name)
{
    size_t length = strlen(name);

    while (*code) {
        const char *next = skip_literal(code);

        if (next == code) {
            size_t word = strspn(code, IDENTIFIER);

            if (word == length && memcmp(code, name, length) == 0)
                return true;
            next += word ? word : 1;
        }
        code = next;
    }
    return false;
}

static const char field_files[] = "#include \"ff/generic.cuh\"\n#include \"custom/sums.cuh\"\n"
                                  "#include \"custom/field.cuh\"\n#undef FF\n";
static const char extension_files[] = "#include \"ff/generic.cuh\"\n#include \"custom/sums.cuh\"\n"
                                      "#include \"custom/extension.cuh\"\n#undef FF\n";

static const char *files_of(const pool_field *field)
{
    return field->base ? extension_files : field_files;
}

static pool_status generate_operations(
    const pool_field *field, const char *prefix, const char *type, char **operations, char **dots)
{
    uint32_t lengths[DOT_LENGTHS];
    pool_status status = field_emit_generate_typed(field, prefix, type, operations);

    for (uint32_t i = 0; i < DOT_LENGTHS; i++)
        lengths[i] = i + 1;
    *dots = NULL;
    if (field->base)
        return status;
    return status ? status : field_emit_generate_dots(field, prefix, lengths, DOT_LENGTHS, dots);
}

/* The prefix is also the name of a type: a variable or keyword of the functions cannot be one. */
static void refuse_used_name(
    struct header *header, const char *prefix, const char *type, const pool_field *field)
{
    struct header files = {0};
    char *operations = NULL, *dots = NULL;

    if (header->status)
        return;
    write_file(&files, files_of(field));
    header->status = files.status;
    if (!header->status) /* under a prefix that no caller can give */
        header->status = generate_operations(field, "FF_", type, &operations, &dots);
    if (!header->status &&
        (has_identifier(operations, prefix) || (dots && has_identifier(dots, prefix)) ||
            has_identifier(files.text, prefix)))
        header->status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "unsupported prefix \"%s\" of a field: the generated functions use that name", prefix);
    base_free(operations);
    base_free(dots);
    base_free(files.text);
}

static void write_field(struct header *header, const char *prefix, const pool_field *field)
{
    char type[TYPE_BYTES], coordinate[PREFIX_BYTES];
    char *operations = NULL, *dots = NULL;

    if (field->base) {
        snprintf(coordinate, sizeof(coordinate), "%s_c", prefix);
        write_field(header, coordinate, field->base);
    }
    header->included_count = 0; /* the same files for another prefix */
    if (!header->status)
        header->status = name_type(field, type);
    refuse_used_name(header, prefix, type, field);
    write_type(header, field, type);
    if (!header->status)
        header->status = generate_operations(field, prefix, type, &operations, &dots);
    if (!header->status) {
        append_string(header, operations); /* its macros PREFIX_WORDS … are for the kernels */
        if (dots)
            append_string(header, dots);
    }
    base_free(operations);
    base_free(dots);
    append_formatted(header, base_format("#define FF %s\n", prefix));
    write_file(header, files_of(field));
    undefine_macros(header);
}

/* The files `text` in a namespace, then `custom`, which gives their operations the prefix. */
static void write_space(
    struct header *header, const char *prefix, const char *text, const char *custom)
{
    append_formatted(header, base_format("namespace %s_arithmetic {\n", prefix));
    write_file(header, text);
    append_formatted(header,
        base_format("}\n#define CUSTOM %s\n#define CUSTOM_SPACE %s_arithmetic\n", prefix, prefix));
    write_file(header, custom);
    undefine_macros(header);
    append_string(header, "#undef CUSTOM\n#undef CUSTOM_SPACE\n");
}

static void write_curve(struct header *header, const char *prefix, const pool_curve *curve)
{
    const pool_field *field = curve->coordinates.field;
    char type[TYPE_BYTES], *text = NULL;

    header->status = name_type(field, type);
    write_type(header, field, type);
    if (!header->status)
        add_generated(header, "curve.cuh", curve_emit_typed(curve, type, &text), &text);
    write_space(header, prefix, "#include \"ec/xyzz.cuh\"\n#include \"ec/convert.cuh\"\n",
        "#include \"custom/curve.cuh\"\n");
}

static void write_poseidon(struct header *header, const char *prefix, const pool_poseidon *set)
{
    const pool_field *field = set->field;
    char type[TYPE_BYTES], *text = NULL;

    header->status = name_type(field, type);
    write_type(header, field, type);
    if (!header->status)
        add_generated(header, "fr.cuh", field_emit_generate_typed(field, "fr", type, &text), &text);
    if (!header->status)
        add_generated(header, "fr_dot.cuh", poseidon_generate_dot_products(set, &text), &text);
    if (!header->status)
        add_generated(header, "parameters.cuh", poseidon_generate(set, &text), &text);
    write_space(header, prefix, "#include \"poseidon/permutation.cuh\"\n",
        "#include \"custom/poseidon.cuh\"\n");
}

atomic_uint_fast64_t arithmetic_generated;

pool_status arithmetic_generate(const pool_module_arithmetic *entry, char **text)
{
    struct header header = {0};

    atomic_fetch_add_explicit(&arithmetic_generated, 1, memory_order_relaxed);
    append_string(&header, "#pragma once\n");
    if (header.status)
        return header.status;
    if (entry->field)
        write_field(&header, entry->prefix, entry->field);
    else if (entry->curve)
        write_curve(&header, entry->prefix, entry->curve);
    else
        write_poseidon(&header, entry->prefix, entry->poseidon);
    for (size_t i = 0; i < header.generated_count; i++)
        base_free(header.generated[i].text);
    if (header.status) {
        base_free(header.text);
        return header.status;
    }
    *text = header.text;
    return POOL_OK;
}
