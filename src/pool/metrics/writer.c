/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two formats: Prometheus's is text that grows, JSON is a tree that is printed at the end.
 */
#include "pool/metrics/writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/alloc.h"
#include "base/status.h"

struct metrics_writer {
    char *text; /* NULL: JSON */
    size_t used;
    size_t size;
    const char *family; /* the name of the current one */
    cJSON *root;
    cJSON *families;
    cJSON *samples; /* of the current family */
    bool has_failed;
};

struct metrics_writer *metrics_writer_new(pool_metrics_format format)
{
    struct metrics_writer *writer = base_calloc(1, sizeof(*writer));

    if (!writer)
        return NULL;
    if (format == POOL_METRICS_JSON) {
        writer->root = cJSON_CreateObject();
        writer->families = writer->root ? cJSON_AddArrayToObject(writer->root, "metrics") : NULL;
        writer->has_failed = !writer->families;
        return writer;
    }
    writer->size = 16384;
    writer->text = base_calloc(writer->size, 1);
    writer->has_failed = !writer->text;
    return writer;
}

__attribute__((format(printf, 2, 3))) static void append(
    struct metrics_writer *writer, const char *format, ...)
{
    while (!writer->has_failed) {
        size_t left = writer->size - writer->used;
        va_list arguments;
        char *larger;
        int length;

        va_start(arguments, format);
        length = vsnprintf(writer->text + writer->used, left, format, arguments);
        va_end(arguments);
        if (length >= 0 && (size_t)length < left) {
            writer->used += (size_t)length;
            return;
        }
        larger = length < 0 ? NULL : base_calloc(writer->size + (size_t)length, 2);
        if (!larger) {
            writer->has_failed = true;
            return;
        }
        memcpy(larger, writer->text, writer->used);
        base_free(writer->text);
        writer->text = larger;
        writer->size = 2 * (writer->size + (size_t)length);
    }
}

/* Backslash, quotation mark and line feed are escaped in label values. */
static void append_label_value(struct metrics_writer *writer, const char *value)
{
    for (; *value; value++) {
        if (*value == '\n')
            append(writer, "\\n");
        else if (*value == '\\' || *value == '"')
            append(writer, "\\%c", *value);
        else
            append(writer, "%c", *value);
    }
}

void metrics_begin_family(struct metrics_writer *writer, const struct metrics_family *family)
{
    static const char *const types[] = {[METRICS_GAUGE] = "gauge",
        [METRICS_COUNTER] = "counter",
        [METRICS_HISTOGRAM] = "histogram"};
    static const char *const units[] = {
        [METRICS_NO_UNIT] = "", [METRICS_BYTES] = "bytes", [METRICS_SECONDS] = "seconds"};
    const char *type = types[family->type];
    cJSON *object;

    if (writer->has_failed)
        return;
    writer->family = family->name;
    if (writer->text) {
        append(
            writer, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name, type);
        return;
    }
    object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(writer->families, object)) {
        cJSON_Delete(object);
        writer->has_failed = true;
        return;
    }
    writer->samples = cJSON_AddStringToObject(object, "name", family->name) &&
                              cJSON_AddStringToObject(object, "type", type) &&
                              cJSON_AddStringToObject(object, "unit", units[family->unit]) &&
                              cJSON_AddStringToObject(object, "help", family->help)
                          ? cJSON_AddArrayToObject(object, "samples")
                          : NULL;
    writer->has_failed = !writer->samples;
}

/* Whole numbers have no decimal point; 17 digits tell any two doubles apart. */
static void append_number(struct metrics_writer *writer, double value)
{
    if (isinf(value))
        append(writer, "+Inf");
    else if (value == floor(value) && fabs(value) < 9007199254740992.0)
        append(writer, "%.0f", value);
    else
        append(writer, "%.17g", value);
}

static void append_sample(struct metrics_writer *writer, const char *suffix,
    const struct metrics_label *labels, size_t count, double value)
{
    append(writer, "%s%s", writer->family, suffix);
    for (size_t i = 0; i < count; i++) {
        append(writer, "%s%s=\"", i ? "," : "{", labels[i].name);
        append_label_value(writer, labels[i].value);
        append(writer, "\"");
    }
    append(writer, "%s ", count ? "}" : "");
    append_number(writer, value);
    append(writer, "\n");
}

static bool add_json_sample(struct metrics_writer *writer, const char *suffix,
    const struct metrics_label *labels, size_t count, double value)
{
    cJSON *sample = cJSON_CreateObject();
    cJSON *named;

    if (!sample || !cJSON_AddItemToArray(writer->samples, sample)) {
        cJSON_Delete(sample);
        return false;
    }
    if (*suffix && !cJSON_AddStringToObject(sample, "suffix", suffix))
        return false;
    named = cJSON_AddObjectToObject(sample, "labels");
    for (size_t i = 0; named && i < count; i++)
        if (!cJSON_AddStringToObject(named, labels[i].name, labels[i].value))
            return false;
    return named && cJSON_AddNumberToObject(sample, "value", value);
}

void metrics_sample(struct metrics_writer *writer, const char *suffix,
    const struct metrics_label *labels, size_t count, double value)
{
    if (writer->has_failed)
        return;
    if (writer->text)
        append_sample(writer, suffix, labels, count, value);
    else
        writer->has_failed = !add_json_sample(writer, suffix, labels, count, value);
}

/* cJSON's allocator is the C library's; pool_text_free's is the library's. */
static void print_json(struct metrics_writer *writer)
{
    char *printed = writer->has_failed ? NULL : cJSON_PrintUnformatted(writer->root);

    if (printed)
        writer->text = base_calloc(strlen(printed) + 1, 1);
    if (writer->text)
        memcpy(writer->text, printed, strlen(printed) + 1);
    writer->has_failed = !writer->text;
    free(printed);
}

pool_status metrics_writer_end(struct metrics_writer *writer, char **text)
{
    pool_status status = POOL_OK;

    if (!writer)
        return base_fail_memory("the metrics of a pool");
    if (writer->root) {
        print_json(writer);
        cJSON_Delete(writer->root);
    }
    if (writer->has_failed) {
        base_free(writer->text);
        status = base_fail_memory("the metrics of a pool");
    } else {
        *text = writer->text;
    }
    base_free(writer);
    return status;
}
