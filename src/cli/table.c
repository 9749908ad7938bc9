/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table that all commands print, from the same rows that they print as JSON: columns as
 * wide as their widest cell, two spaces between.
 */
#include <string.h>

#include "cli.h"

enum { CELL = 512 };

static void number_cell(const struct cli_column *column, double value, char *text)
{
    switch (column->show) {
    case CLI_SHOW_SIZE:
        cli_size((uint64_t)value, text, CELL);
        return;
    case CLI_SHOW_BYTES:
        cli_bytes((uint64_t)value, text, CELL);
        return;
    case CLI_SHOW_DURATION:
        cli_duration(value, text, CELL);
        return;
    case CLI_SHOW_AMOUNT:
        cli_amount(value, text, CELL);
        return;
    default:
        snprintf(text, CELL, "%.15g", value);
    }
}

static const char *cell_of(const cJSON *row, const struct cli_column *column, char *text)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, column->key);

    *text = 0;
    if (cJSON_IsString(value))
        snprintf(text, CELL, "%s", value->valuestring);
    else if (cJSON_IsBool(value))
        snprintf(text, CELL, "%s", cli_mark(cJSON_IsTrue(value)));
    else if (cJSON_IsNumber(value))
        number_cell(column, value->valuedouble, text);
    return text;
}

/* Characters on the screen: bytes of UTF-8 that go on one are not counted. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* 0 when the column is empty in all rows. */
static int column_width(const cJSON *rows, const struct cli_column *column)
{
    char text[CELL];
    const cJSON *row;
    int widest = 0;

    cJSON_ArrayForEach(row, rows)
    {
        int width = width_of(cell_of(row, column, text));

        widest = width > widest ? width : widest;
    }
    if (widest && width_of(column->title) > widest)
        return width_of(column->title);
    return widest;
}

static int is_number(const struct cli_column *column)
{
    return column->show != CLI_SHOW_TEXT && column->show != CLI_SHOW_CHECK;
}

static void print_cell(
    FILE *file, const struct cli_column *column, const char *text, const char *colour, int width)
{
    int space = width > width_of(text) ? width - width_of(text) : 0;

    fprintf(file, "%*s%s%s%s%*s", is_number(column) ? space : 0, "", colour, text,
        *colour ? cli_colour(file, CLI_PLAIN) : "", is_number(column) ? 0 : space, "");
}

/* A row, or the titles when it is NULL. */
static void print_line(
    const cJSON *row, const struct cli_column *columns, const int *widths, size_t count, FILE *file)
{
    const char *gap = "";
    size_t last = count;

    /* No spaces before the end of a line. */
    while (last && !widths[--last])
        continue;
    for (size_t i = 0; i < count; i++) {
        const char *colour = "";
        char text[CELL];

        if (!widths[i])
            continue;
        if (!row) {
            snprintf(text, sizeof(text), "%s", columns[i].title);
            colour = cli_colour(file, CLI_BOLD);
        } else {
            cell_of(row, &columns[i], text);
            if (columns[i].show == CLI_SHOW_CHECK)
                colour = cli_colour(file, strcmp(text, cli_mark(1)) == 0 ? CLI_GREEN : CLI_RED);
        }
        fputs(gap, file);
        print_cell(
            file, &columns[i], text, colour, i == last && !is_number(&columns[i]) ? 0 : widths[i]);
        gap = "  ";
    }
    fputc('\n', file);
}

void cli_print_table(const cJSON *rows, const struct cli_column *columns, size_t count, FILE *file)
{
    int widths[32];
    const cJSON *row;

    cli_progress_end();
    if (!cJSON_GetArraySize(rows))
        return;
    for (size_t i = 0; i < count; i++)
        widths[i] = column_width(rows, &columns[i]);
    print_line(NULL, columns, widths, count, file);
    cJSON_ArrayForEach(row, rows) print_line(row, columns, widths, count, file);
}

static void print_failures(const cJSON *rows, const struct cli_column *columns)
{
    char heads[2][CELL];
    const cJSON *row;

    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *failure = cJSON_GetObjectItemCaseSensitive(row, "failure");

        if (cJSON_IsString(failure))
            fprintf(stderr, "devicepool: %s, %s: %s\n", cell_of(row, &columns[0], heads[0]),
                cell_of(row, &columns[1], heads[1]), failure->valuestring);
    }
}

void cli_print_rows(
    cJSON *rows, const struct cli_column *columns, size_t count, const struct cli_line *line)
{
    cli_progress_end();
    if (!line->as_json)
        cli_print_table(rows, columns, count, stdout);
    fflush(stdout);
    print_failures(rows, columns);
    if (line->as_json)
        cli_print_json(rows);
    else
        cJSON_Delete(rows);
}
