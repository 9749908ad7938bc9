/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the rows that all commands also print as JSON as a table. Columns are as wide as their
 * widest cell and are separated by two spaces.
 */
#include <string.h>

#include "cli.h"

enum { CELL = 512 };

static void format_number(const struct cli_column *column, double value, char *cell)
{
    switch (column->show) {
    case CLI_SHOW_FIGURE:
        snprintf(cell, CELL, value >= 1000 ? "%.0f" : "%.4g", value);
        return;
    case CLI_SHOW_SIZE:
        cli_size((uint64_t)value, cell, CELL);
        return;
    case CLI_SHOW_BYTES:
        cli_bytes((uint64_t)value, cell, CELL);
        return;
    case CLI_SHOW_DURATION:
        cli_duration(value, cell, CELL);
        return;
    case CLI_SHOW_AMOUNT:
        cli_amount(value, cell, CELL);
        return;
    default:
        snprintf(cell, CELL, "%.15g", value);
    }
}

static const char *format_cell(const cJSON *row, const struct cli_column *column, char *cell)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, column->key);

    *cell = 0;
    if (cJSON_IsString(value))
        snprintf(cell, CELL, "%s", value->valuestring);
    else if (cJSON_IsBool(value))
        snprintf(cell, CELL, "%s", cli_mark(cJSON_IsTrue(value)));
    else if (cJSON_IsNumber(value))
        format_number(column, value->valuedouble, cell);
    return cell;
}

/* Returns the number of characters: UTF-8 continuation bytes are not counted. */
static int width_of(const char *cell)
{
    int width = 0;

    for (; *cell; cell++)
        width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

/* Returns 0 if the column is empty in all rows. */
static int column_width(const cJSON *rows, const struct cli_column *column)
{
    char cell[CELL];
    const cJSON *row;
    int widest = 0;

    cJSON_ArrayForEach(row, rows)
    {
        int width = width_of(format_cell(row, column, cell));

        widest = width > widest ? width : widest;
    }
    if (widest && width_of(column->title) > widest)
        return width_of(column->title);
    return widest;
}

static int is_number(const struct cli_column *column)
{
    return column->show != CLI_SHOW_STRING && column->show != CLI_SHOW_CHECK;
}

static void print_cell(
    FILE *file, const struct cli_column *column, const char *cell, const char *colour, int width)
{
    int space = width > width_of(cell) ? width - width_of(cell) : 0;

    fprintf(file, "%*s%s", is_number(column) ? space : 0, "", colour);
    cli_print_text(file, cell, "", CELL);
    fprintf(file, "%s%*s", *colour ? cli_colour(file, CLI_PLAIN) : "",
        is_number(column) ? 0 : space, "");
}

/* Prints a row, or the titles if it is NULL. */
static void print_line(
    const cJSON *row, const struct cli_column *columns, const int *widths, size_t count, FILE *file)
{
    const char *gap = "";
    size_t last = count;

    /* The last column is not padded. */
    while (last && !widths[--last])
        continue;
    for (size_t i = 0; i < count; i++) {
        const char *colour = "";
        char cell[CELL];

        if (!widths[i])
            continue;
        if (!row) {
            snprintf(cell, sizeof(cell), "%s", columns[i].title);
            colour = cli_colour(file, CLI_BOLD);
        } else {
            format_cell(row, &columns[i], cell);
            if (columns[i].show == CLI_SHOW_CHECK)
                colour = cli_colour(file, strcmp(cell, cli_mark(1)) == 0 ? CLI_GREEN : CLI_RED);
        }
        fputs(gap, file);
        print_cell(
            file, &columns[i], cell, colour, i == last && !is_number(&columns[i]) ? 0 : widths[i]);
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
            cli_fail_with("%s, %s: %s", format_cell(row, &columns[0], heads[0]),
                format_cell(row, &columns[1], heads[1]), failure->valuestring);
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

int cli_print_rows_or_fail(pool_status status, cJSON *rows, const struct cli_column *columns,
    size_t count, const struct cli_line *line)
{
    int code = status ? cli_fail(status, line->as_json) : CLI_OK;

    if (status)
        cJSON_Delete(rows);
    else
        cli_print_rows(rows, columns, count, line);
    return code;
}
