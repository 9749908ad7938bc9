/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: a command declares its options once, and from that they are read and explained.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Longest table of options, common ones and the end included. */
enum { MAX_OPTIONS = 40, FIRST_VALUE = 256 };

struct table {
    struct cli_option options[MAX_OPTIONS];
    size_t count;
};

static void collect(
    struct table *table, const struct cli_option *options, size_t count, struct cli_line *line)
{
    const struct cli_option devices = {'d', "devices", "LIST",
        "which devices: all (default), 0,2-3, GPU-<uuid start>, a PCI\n"
        "address, sim or sim:4,mem=24G for simulated ones",
        CLI_TEXT, &line->devices, NULL};
    const struct cli_option json = {'j', "json", NULL, "as JSON", CLI_SWITCH, &line->as_json, NULL};
    const struct cli_option quiet = {
        'q', "quiet", NULL, "only results and failures", CLI_SWITCH, &line->is_quiet, NULL};
    const struct cli_option verbose = {'v', "verbose", NULL,
        "the library's log on stderr; twice: all of it", CLI_SWITCH, &line->is_verbose, NULL};

    table->count = 0;
    if (line->takes & CLI_TAKES_DEVICES)
        table->options[table->count++] = devices;
    for (size_t i = 0; i < count; i++)
        table->options[table->count++] = options[i];
    if (line->takes & CLI_TAKES_JSON)
        table->options[table->count++] = json;
    table->options[table->count++] = quiet;
    table->options[table->count++] = verbose;
    table->options[table->count++] =
        (struct cli_option){'h', "help", NULL, "this text", CLI_SWITCH, NULL, NULL};
}

static void print_option(const struct cli_option *option)
{
    enum { WIDTH = 22 };
    const char *text = option->text;
    char head[64];

    snprintf(head, sizeof(head), "%c%c%c --%s%s%s", option->letter ? '-' : ' ',
        option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
        option->argument ? " " : "", option->argument ? option->argument : "");
    if (strlen(head) > WIDTH) {
        printf("  %s\n", head);
        *head = 0;
    }
    while (*text) {
        size_t length = strcspn(text, "\n");

        printf("  %-*s  %.*s\n", WIDTH, head, (int)length, text);
        *head = 0;
        text += length + (text[length] == '\n');
    }
}

static void print_help(const struct cli_command *command, const struct table *table)
{
    printf("usage: devicepool %s [OPTIONS]%s%s\n\n%s.\n\n", command->name,
        *command->operands ? " " : "", command->operands, command->summary);
    for (size_t i = 0; i < table->count; i++)
        print_option(&table->options[i]);
    if (*command->notes)
        printf("\n%s", command->notes);
}

int cli_usage(const struct cli_command *command, const char *format, ...)
{
    va_list list;

    if (format) {
        fputs("devicepool: ", stderr);
        va_start(list, format);
        vfprintf(stderr, format, list);
        va_end(list);
        fputc('\n', stderr);
    }
    fprintf(stderr, "'devicepool %s --help' explains the options\n", command->name);
    return CLI_USAGE;
}

int cli_parse_count(const char *text, uint64_t *value)
{
    unsigned long long number;
    unsigned long shift = 0;
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end == '^') {
        if (number != 2 || end[1] < '0' || end[1] > '9')
            return 0;
        shift = strtoul(end + 1, &end, 10);
        number = 1;
    } else if (*end) {
        const char *units = "KMGT";
        const char *unit = strchr(units, *end);

        if (!unit)
            return 0;
        shift = 10 * (unsigned long)(unit - units + 1);
        end++;
    }
    if (*end || errno || shift > 63 || number > UINT64_MAX >> shift)
        return 0;
    *value = (uint64_t)number << shift;
    return 1;
}

/* One item of a list: a count, or a range whose sizes double. */
static int add_sizes(char *item, struct cli_sizes *sizes)
{
    char *dots = strstr(item, "..");
    uint64_t first;
    uint64_t last;

    if (dots)
        *dots = 0;
    if (!cli_parse_count(item, &first) || !cli_parse_count(dots ? dots + 2 : item, &last))
        return 0;
    if (!first || last < first)
        return 0;
    for (uint64_t size = first;; size *= 2) {
        if (sizes->count == CLI_MAX_SIZES)
            return 0;
        sizes->at[sizes->count++] = size;
        if (size > last / 2)
            return 1;
    }
}

int cli_parse_sizes(const char *text, struct cli_sizes *sizes)
{
    struct cli_sizes found = {0};
    char copy[512];
    char *rest = copy;
    char *item;

    if (strlen(text) >= sizeof(copy))
        return 0;
    strcpy(copy, text);
    while ((item = strsep(&rest, ",")))
        if (!add_sizes(item, &found))
            return 0;
    *sizes = found;
    return 1;
}

static int find_choice(const char *const *choices, const char *text)
{
    for (int i = 0; choices[i]; i++)
        if (strcmp(choices[i], text) == 0)
            return i;
    return -1;
}

static int wrong_choice(
    const struct cli_command *command, const struct cli_option *option, const char *text)
{
    char words[256] = "";

    for (int i = 0; option->choices[i]; i++) {
        strncat(words, i ? ", " : "", sizeof(words) - strlen(words) - 1);
        strncat(words, option->choices[i], sizeof(words) - strlen(words) - 1);
    }
    return cli_usage(command, "--%s is one of %s, not '%s'", option->name, words, text);
}

static int take(
    const struct cli_command *command, const struct cli_option *option, const char *text)
{
    int choice;

    switch (option->kind) {
    case CLI_SWITCH:
        (*(int *)option->value)++;
        return CLI_GO;
    case CLI_TEXT:
        *(const char **)option->value = text;
        return CLI_GO;
    case CLI_COUNT:
        if (cli_parse_count(text, option->value))
            return CLI_GO;
        return cli_usage(
            command, "--%s takes a number such as 1000, 2^20 or 1M, not '%s'", option->name, text);
    case CLI_SIZES:
        if (cli_parse_sizes(text, option->value))
            return CLI_GO;
        return cli_usage(
            command, "--%s takes sizes such as 2^10..2^14,1M, not '%s'", option->name, text);
    default:
        choice = find_choice(option->choices, text);
        if (choice < 0)
            return wrong_choice(command, option, text);
        *(int *)option->value = choice;
        return CLI_GO;
    }
}

/* What getopt_long wants to know, from the table. */
static void describe(const struct table *table, struct option *longs, char *letters)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct cli_option *option = &table->options[i];

        longs[i] = (struct option){.name = option->name,
            .has_arg = option->argument ? required_argument : no_argument,
            .val = FIRST_VALUE + (int)i};
        if (!option->letter)
            continue;
        *letters++ = option->letter;
        if (option->argument)
            *letters++ = ':';
    }
    longs[table->count] = (struct option){0};
    *letters = 0;
}

static const struct cli_option *find_option(const struct table *table, int value)
{
    if (value >= FIRST_VALUE)
        return &table->options[value - FIRST_VALUE];
    for (size_t i = 0; i < table->count; i++)
        if (table->options[i].letter == value)
            return &table->options[i];
    return NULL;
}

static int check_operands(const struct cli_command *command, struct cli_line *line)
{
    line->operands = line->arguments + optind;
    line->operand_count = line->count - optind;
    if (line->operand_count > line->most_operands)
        return cli_usage(command, "%s takes no argument '%s'", command->name,
            line->operands[line->most_operands]);
    if (line->operand_count < line->least_operands)
        return cli_usage(command, "%s needs %s", command->name, command->operands);
    return CLI_GO;
}

static void log_line(void *user, pool_log_level level, const char *message)
{
    static const char *const words[] = {"", "error", "warning", "info", "debug"};

    (void)user;
    cli_progress_end();
    fprintf(stderr, "devicepool: %s: %s\n", words[level], message);
}

int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count,
    struct cli_line *line)
{
    struct table table;
    struct option longs[MAX_OPTIONS];
    char letters[2 * MAX_OPTIONS];
    int value;

    collect(&table, options, count, line);
    describe(&table, longs, letters);
    while ((value = getopt_long(line->count, line->arguments, letters, longs, NULL)) != -1) {
        const struct cli_option *option = find_option(&table, value);
        int code;

        if (!option)
            return cli_usage(command, NULL); /* getopt has said what is wrong */
        if (option->letter == 'h') {
            print_help(command, &table);
            return CLI_OK;
        }
        code = take(command, option, optarg);
        if (code != CLI_GO)
            return code;
    }
    cli_terminal_setup(line->is_quiet);
    if (line->is_verbose)
        pool_log_set(log_line, NULL, line->is_verbose > 1 ? POOL_LOG_DEBUG : POOL_LOG_INFO);
    return check_operands(command, line);
}
