/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads points and elements from files, and formats results.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

const char *const cli_layouts[] = {"affine", "affine-flag", "jacobian", "projective", "xyzz", NULL};
const char *const cli_forms[] = {"standard", "montgomery", NULL};

/* Splits the kind off the beginning of a name. Returns POOL_FILE_RAW for a plain file name. */
static pool_file_kind split_kind(const char **name)
{
    static const pool_file_kind kinds[] = {
        POOL_FILE_PTAU, POOL_FILE_ZKEY, POOL_FILE_WTNS, POOL_FILE_KZG, POOL_FILE_RAW};

    for (size_t i = 0; i < CLI_COUNT_OF(kinds); i++) {
        size_t length = strlen(pool_file_kind_name(kinds[i]));

        if (strncmp(*name, pool_file_kind_name(kinds[i]), length) != 0 || (*name)[length] != ':')
            continue;
        *name += length + 1;
        return kinds[i];
    }
    return POOL_FILE_RAW;
}

/* Splits the section name off `path`: it follows the last colon or, if that is followed by the
 * number of a level, the last but one. Returns "" if there is none. */
static const char *split_section(char *path)
{
    char *colon = strrchr(path, ':');
    char *section;

    if (!colon)
        return "";
    if (colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        *colon = 0;
        section = strrchr(path, ':');
        *colon = ':';
        colon = section ? section : colon;
    }
    *colon = 0;
    return colon + 1;
}

/* Packs bytes into elements of as many bytes as always fit; the last one may have fewer. */
static void pack_bytes(
    const struct cli_raw *raw, const uint8_t *bytes, uint64_t count, struct cli_source *source)
{
    size_t width = (pool_field_bits(raw->field) - 1) / 8;
    size_t size = pool_field_element_bytes(raw->field);
    uint64_t elements = (count + width - 1) / width;
    uint8_t *owned = bench_alloc(elements, size);

    for (uint64_t i = 0; i < elements; i++)
        memcpy(owned + i * size, bytes + i * width,
            count - i * width < width ? count - i * width : width);
    source->owned = owned;
    source->section.span = (pool_span){.data = owned, .count = elements, .stride = size};
}

/* Converts elements, or the coordinates of points, from big-endian integers. */
static pool_status from_big_endian(const struct cli_raw *raw, struct cli_source *source)
{
    pool_span *span = &source->section.span;
    const pool_field *field = raw->curve ? pool_curve_base_field(raw->curve) : raw->field;
    size_t size = pool_field_element_bytes(field);
    uint64_t elements = span->count * (span->stride / size);
    void *owned = bench_alloc(elements, size);
    pool_status status = pool_field_from_bytes(
        field, size, POOL_BIG_ENDIAN, span->data, elements, POOL_FORM_STANDARD, owned);

    source->owned = owned;
    span->data = owned;
    span->form = POOL_FORM_STANDARD;
    return status;
}

void cli_to_big_endian(const pool_field *field, pool_form form, void *elements, uint64_t count)
{
    size_t size = pool_field_element_bytes(field);
    uint8_t element[POOL_FIELD_MAX_BYTES];

    for (uint8_t *at = elements; count--; at += size) {
        memcpy(element, at, size);
        /* Cannot fail: results of the library are canonical. */
        pool_field_to_bytes(field, form, element, 1, size, POOL_BIG_ENDIAN, at);
    }
}

/* Reads a file into memory that the caller frees. Returns NULL and sets errno on failure. */
static uint8_t *read_bytes(const char *path, size_t *count)
{
    enum { CHUNK_BYTES = 1 << 20 };
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t got = CHUNK_BYTES;

    *count = 0;
    while (file && got == CHUNK_BYTES) {
        uint8_t *more = realloc(bytes, *count + CHUNK_BYTES);

        if (!more)
            break;
        bytes = more;
        got = fread(bytes + *count, 1, CHUNK_BYTES, file);
        *count += got;
    }
    if (!file || got == CHUNK_BYTES || ferror(file)) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* pool_file_open refuses raw files whose size is not a multiple of the item size. */
static int open_bytes(const char *path, const struct cli_raw *raw, struct cli_source *source)
{
    size_t count;
    uint8_t *bytes = read_bytes(path, &count);

    if (!bytes)
        return cli_fail_with("'%s' cannot be read: %s", path, strerror(errno));
    output_file_add_input(path);
    source->section.field = raw->field;
    source->section.item = POOL_FILE_ELEMENTS;
    pack_bytes(raw, bytes, count, source);
    free(bytes);
    return CLI_GO;
}

int cli_source_open(
    const char *name, const struct cli_raw *raw, int as_json, struct cli_source *source)
{
    pool_file_params params = {.struct_size = sizeof(params)};
    const char *section = "data";
    char path[4096];
    pool_status status;
    int converting;
    int code;

    *source = (struct cli_source){.section = {.struct_size = sizeof(source->section)}};
    params.kind = split_kind(&name);
    params.trusted = (uint32_t)raw->is_trusted;
    snprintf(path, sizeof(path), "%s", name);
    if (params.kind == POOL_FILE_RAW && raw->is_bytes)
        return open_bytes(path, raw, source);
    if (params.kind == POOL_FILE_RAW) {
        params.curve = raw->curve;
        params.field = raw->field;
        params.layout = raw->layout;
        params.form = raw->form;
    } else if (params.kind == POOL_FILE_WTNS) {
        section = "values";
    } else {
        section = split_section(path);
    }
    output_file_add_input(path);
    cli_progress("reading %s", path);
    status = pool_file_open(path, &params, &source->file);
    if (!status)
        status = pool_file_get_section(source->file, section, &source->section);
    cli_progress_end();
    converting = !status && params.kind == POOL_FILE_RAW && raw->is_big_endian;
    if (converting)
        status = from_big_endian(raw, source);
    if (!status)
        return CLI_GO;
    code = converting ? cli_fail_on(path, status, as_json) : cli_fail(status, as_json);
    cli_source_close(source);
    return code;
}

void cli_source_close(struct cli_source *source)
{
    pool_file_destroy(&source->file);
    free(source->owned);
    source->owned = NULL;
}

int cli_source_expect(const struct cli_command *command, const char *name,
    const struct cli_source *source, pool_file_item item)
{
    static const char *const items[] = {"points", "elements", "coefficients of matrices"};

    if (source->section.item == item)
        return CLI_GO;
    return cli_usage(
        command, "'%s' holds %s, not %s", name, items[source->section.item], items[item]);
}

int cli_check_byte_order(const struct cli_command *command, int is_big_endian, int form)
{
    if (!is_big_endian || form == POOL_FORM_STANDARD)
        return CLI_GO;
    return cli_usage(command, "--big-endian requires --form standard, not montgomery");
}

int cli_source_reverse(struct cli_source *source, uint64_t batch)
{
    pool_span *span = &source->section.span;
    const uint64_t count = span->count / batch;
    uint8_t *owned;

    if (!count || (count & (count - 1)))
        return 0;
    owned = bench_alloc(span->count, span->stride);
    for (uint64_t vector = 0; vector < batch; vector++) {
        uint64_t reversed = 0;

        for (uint64_t i = 0; i < count; i++) {
            uint64_t bit = count >> 1;

            memcpy(owned + (vector * count + reversed) * span->stride,
                (const uint8_t *)span->data + (vector * count + i) * span->stride, span->stride);
            /* Increments the bit-reversed counter. */
            for (; reversed & bit; bit >>= 1)
                reversed ^= bit;
            reversed ^= bit;
        }
    }
    free(source->owned);
    source->owned = owned;
    span->data = owned;
    return 1;
}

const char *cli_element(const pool_field *field, pool_form form, const void *element, char *string)
{
    size_t bytes = pool_field_element_bytes(field);
    uint8_t big_endian[POOL_FIELD_MAX_BYTES] = {0};

    /* Cannot fail: results of the library are canonical. */
    pool_field_to_bytes(field, form, element, 1, bytes, POOL_BIG_ENDIAN, big_endian);
    string[0] = '0';
    string[1] = 'x';
    cli_hex(big_endian, bytes, string + 2);
    return string;
}

void cli_print_elements(
    const pool_field *field, pool_form form, const void *elements, uint64_t count, cJSON *list)
{
    size_t bytes = pool_field_element_bytes(field);
    char string[CLI_ELEMENT];

    for (uint64_t i = 0; i < count; i++) {
        cli_element(field, form, (const uint8_t *)elements + i * bytes, string);
        if (list)
            cJSON_AddItemToArray(list, cJSON_CreateString(string));
        else
            puts(string);
    }
}

int cli_find_field(const struct cli_command *command, const char *name, const pool_field **field)
{
    struct cli_match match = {0};

    *field = pool_field_by_name(name);
    if (*field)
        return CLI_GO;
    cli_match_kinds(name, CLI_FIELDS, &match);
    return cli_usage(
        command, "no field '%s'%s; see 'devicepool list fields'", name, cli_suggestion(&match));
}

int cli_find_curve(const struct cli_command *command, const char *name, const pool_curve **curve)
{
    struct cli_match match = {0};

    *curve = pool_curve_by_name(name);
    if (*curve)
        return CLI_GO;
    cli_match_kinds(name, CLI_CURVES, &match);
    return cli_usage(
        command, "no curve '%s'%s; see 'devicepool list curves'", name, cli_suggestion(&match));
}

int cli_open_device(
    const struct cli_line *line, pool_params *params, device_pool **pool, pool_device **device)
{
    int code = cli_open_pool_of(line, params, pool);
    pool_status status;

    if (code != CLI_GO)
        return code;
    status = pool_next_device(*pool, device);
    return status ? cli_close_pool(pool, cli_fail(status, line->as_json), 0) : CLI_GO;
}

static bool are_alike(const pool_device_info *a, const pool_device_info *b)
{
    return a->multiprocessors == b->multiprocessors && a->clock_khz == b->clock_khz &&
           strcmp(a->name, b->name) == 0;
}

void cli_target_all(struct cli_target *target)
{
    struct cli_device next = {0};
    pool_device_info first = {0};
    bool is_mixed = false;
    uint32_t count = 0;

    while (count < CLI_TARGET_DEVICES && cli_next_device(target->pool, &next)) {
        if (!next.is_usable)
            continue;
        if (!count)
            first = next.info;
        is_mixed |= !are_alike(&first, &next.info);
        target->devices[count++] = next.device;
    }
    cli_watch_begin();
    if (is_mixed && pool_measure_rates(target->pool))
        cli_note("devicepool: the speeds of the devices could not be measured: %s",
            pool_last_error()->message);
    cli_watch_end();
    target->exec = (pool_exec){
        .struct_size = sizeof(target->exec), .devices = target->devices, .device_count = count};
}

int cli_open_target(const struct cli_line *line, int is_together, struct cli_target *target)
{
    pool_device *device = NULL;
    int code;

    *target = (struct cli_target){.exec = {.struct_size = sizeof(target->exec)}};
    code = cli_open_device(line, &(pool_params){.lazy = 1}, &target->pool, &device);
    if (code != CLI_GO)
        return code;
    if (is_together)
        cli_target_all(target);
    else
        target->exec.device = device;
    return CLI_GO;
}
