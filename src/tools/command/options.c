/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command-line parsing and help over getopt_long, both from one table of options per command.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The largest table of options, including the common ones and the terminator. */
enum { MAX_OPTIONS = CLI_MAX_OPTIONS, FIRST_VALUE = 256 };

/* Default of --timeout, in seconds: longer than the compilation of any kernel takes. */
enum { TIMEOUT = 300 };

static const char *const devices_proposals[] = {"all", "sim", "sim:2", "0", NULL};
const char *const cli_orders[] = {"nn", "nr", "rn", "rr", NULL};

struct table {
    struct cli_option options[MAX_OPTIONS];
    size_t count;
};

static void collect_options(const struct cli_command *command, const struct cli_option *options,
    size_t count, struct cli_line *line, struct table *table)
{
    const struct cli_option devices = {'d', "devices", "DEVICES",
        "devices to use: all (default), ordinals such as 0,2-3,\n"
        "a PCI address, the beginning of a UUID; sim or\n"
        "sim:4,mem=24G for simulated devices; 0/16+116 or\n"
        "all/2 for parts of each GPU",
        CLI_STRING, &line->devices, devices_proposals};
    const struct cli_option json = {
        'j', "json", NULL, "print JSON", CLI_SWITCH, &line->as_json, NULL};
    const struct cli_option timeout = {'t', "timeout", "SECONDS",
        "give up when a device makes no progress for this long\n"
        "(default 300; 0: never)",
        CLI_COUNT, &line->timeout, NULL};
    const struct cli_option quiet = {
        'q', "quiet", NULL, "print only results and failures", CLI_SWITCH, &line->is_quiet, NULL};
    const struct cli_option progress = {0, "progress", NULL,
        "show progress although standard error is no terminal", CLI_SWITCH, &line->wants_progress,
        NULL};
    const struct cli_option verbose = {'v', "verbose", NULL,
        "print the library's log; twice: debug messages, too", CLI_SWITCH, &line->verbosity, NULL};

    table->count = 0;
    if (command->takes & CLI_TAKES_DEVICES)
        table->options[table->count++] = devices;
    for (size_t i = 0; i < count; i++)
        table->options[table->count++] = options[i];
    if (command->takes & CLI_TAKES_TIMEOUT)
        table->options[table->count++] = timeout;
    if (command->takes & CLI_TAKES_JSON)
        table->options[table->count++] = json;
    if (command->takes & CLI_TAKES_TIMEOUT)
        table->options[table->count++] = progress;
    table->options[table->count++] = quiet;
    table->options[table->count++] = verbose;
    table->options[table->count++] =
        (struct cli_option){'h', "help", NULL, "print this help", CLI_SWITCH, NULL, NULL};
}

int cli_takes_word(const struct cli_option *option)
{
    return option->argument && strncmp(option->argument, "[=", 2) != 0;
}

static void print_option(const struct cli_option *option)
{
    enum { WIDTH = 22 };
    const char *help = option->help;
    char head[64];

    snprintf(head, sizeof(head), "%c%c%c --%s%s%s", option->letter ? '-' : ' ',
        option->letter ? option->letter : ' ', option->letter ? ',' : ' ', option->name,
        cli_takes_word(option) ? " " : "", option->argument ? option->argument : "");
    if (strlen(head) > WIDTH) {
        printf("  %s\n", head);
        *head = 0;
    }
    while (*help) {
        size_t length = strcspn(help, "\n");

        printf("  %-*s  %.*s\n", WIDTH, head, (int)length, help);
        *head = 0;
        help += length + (help[length] == '\n');
    }
}

/* The operands of the usage line, in lines of at most 80 columns. */
static void print_operands(const char *operands, size_t column)
{
    while (*operands) {
        const size_t length = strcspn(operands, "|") + (strchr(operands, '|') != NULL);

        if (column + length > 80) {
            column = (size_t)printf("\n         ") - 1;
        }
        printf("%.*s", (int)length, operands);
        column += length;
        operands += length;
    }
}

static void print_help(const struct cli_command *command, const struct table *table)
{
    const int column =
        printf("usage: devicepool %s [OPTIONS]%s", command->name, *command->operands ? " " : "");

    print_operands(command->operands, (size_t)column);
    printf("\n\n%c%s.\n\n", toupper(*command->summary), command->summary + 1);
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
        cli_vprint(stderr, format, list);
        va_end(list);
        fputc('\n', stderr);
    }
    fprintf(stderr, "'devicepool %s --help' explains the options\n", command->name);
    return CLI_USAGE;
}

int cli_fail_operation(const struct cli_command *command, const char *wrong)
{
    const char *start = command->operands + strspn(command->operands, "[");
    char copy[256], list[512] = "", *rest = copy, *word;
    struct cli_match match = {0};

    snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(start, "] "), start);
    while ((word = strsep(&rest, "|")) && *word >= 'a') { /* GROUPS is none */
        const size_t used = strlen(list);
        const bool is_last = !rest || *rest < 'a';

        cli_match_name(wrong, word, &match);
        snprintf(list + used, sizeof(list) - used, "%s%s",
            !used     ? ""
            : is_last ? " and "
                      : ", ",
            word);
    }
    return cli_usage(
        command, "%s has no '%s'%s; it has %s", command->name, wrong, cli_suggestion(&match), list);
}

int cli_parse_count(const char *string, uint64_t *value)
{
    unsigned long long number;
    unsigned long shift = 0;
    char *end;

    if (*string < '0' || *string > '9')
        return 0;
    errno = 0;
    number = strtoull(string, &end, 10);
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

/* Parses one item of a list: a count, or a range of sizes that double. */
static int parse_size_range(char *item, struct cli_sizes *sizes)
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

int cli_parse_sizes(const char *string, struct cli_sizes *sizes)
{
    struct cli_sizes found = {0};
    char copy[512];
    char *rest = copy;
    char *item;

    if (strlen(string) >= sizeof(copy))
        return 0;
    strcpy(copy, string);
    while ((item = strsep(&rest, ",")))
        if (!parse_size_range(item, &found))
            return 0;
    *sizes = found;
    return 1;
}

static int fail_choice(
    const struct cli_command *command, const struct cli_option *option, const char *string)
{
    char words[256] = "";

    for (int i = 0; option->choices[i]; i++) {
        strncat(words, i ? ", " : "", sizeof(words) - strlen(words) - 1);
        strncat(words, option->choices[i], sizeof(words) - strlen(words) - 1);
    }
    return cli_usage(command, "--%s must be one of %s, not '%s'", option->name, words, string);
}

static int set_value(
    const struct cli_command *command, const struct cli_option *option, const char *string)
{
    switch (option->kind) {
    case CLI_SWITCH:
        (*(int *)option->value)++;
        return CLI_GO;
    case CLI_STRING:
        *(const char **)option->value = string;
        return CLI_GO;
    case CLI_COUNT:
        if (!string)
            *(uint64_t *)option->value = 1;
        if (!string || cli_parse_count(string, option->value))
            return CLI_GO;
        return cli_usage(command, "--%s takes a number such as 1000, 2^20 or 1M, not '%s'",
            option->name, string);
    case CLI_SIZES:
        if (cli_parse_sizes(string, option->value))
            return CLI_GO;
        return cli_usage(
            command, "--%s takes sizes such as 2^10..2^14,1M, not '%s'", option->name, string);
    default:
        for (int i = 0; option->choices[i]; i++)
            if (strcmp(option->choices[i], string) == 0) {
                *(int *)option->value = i;
                return CLI_GO;
            }
        return fail_choice(command, option, string);
    }
}

/* Translates the table for getopt_long. */
static void make_getopt_tables(const struct table *table, struct option *longs, char *letters)
{
    *letters++ = ':'; /* a missing argument is ':' */
    for (size_t i = 0; i < table->count; i++) {
        const struct cli_option *option = &table->options[i];

        longs[i] = (struct option){.name = option->name,
            .has_arg = cli_takes_word(option) ? required_argument
                       : option->argument     ? optional_argument
                                              : no_argument,
            .val = FIRST_VALUE + (int)i};
        if (!option->letter)
            continue;
        *letters++ = option->letter;
        if (option->argument)
            *letters++ = ':';
        if (option->argument && !cli_takes_word(option))
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

/* What getopt_long refuses: '?' an unknown or ambiguous option, or an argument for a switch; ':' no
 * argument. */
static int fail_option(const struct cli_command *command, const struct table *table,
    const struct cli_line *line, int value)
{
    const char *given = line->arguments[optind - 1];
    struct cli_match match = {0};
    char name[64];
    const struct cli_option *option = optopt ? find_option(table, optopt) : NULL;

    if (value == ':')
        return cli_usage(command, "option '%s' requires an argument", given);
    if (option)
        return cli_usage(command, "option '--%s' takes no argument", option->name);
    if (optopt)
        return cli_usage(command, "no option '-%c'", optopt);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (size_t i = 0; i < table->count; i++)
        cli_match_name(name, table->options[i].name, &match);
    return cli_usage(command, "no option '%s', or its beginning is that of several%s", given,
        cli_suggestion(&match));
}

static int check_operands(const struct cli_command *command, struct cli_line *line)
{
    line->operands = line->arguments + optind;
    line->operand_count = line->count - optind;
    if (line->operand_count > command->max_operands)
        return cli_usage(command, "%s takes no argument '%s'", command->name,
            line->operands[command->max_operands]);
    if (line->operand_count < command->min_operands)
        return cli_usage(command, "%s needs %s", command->name, command->operands);
    return CLI_GO;
}

static void log_line(void *user, const pool_log_record *record)
{
    static const char *const words[] = {"", "error", "warning", "info", "debug"};

    (void)user;
    cli_progress_end();
    fprintf(stderr, "devicepool: %s: ", words[record->level]);
    cli_print_text(stderr, record->message, "\n\t", INT_MAX);
    fputc('\n', stderr);
}

int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count,
    struct cli_line *line)
{
    struct table table;
    struct option longs[MAX_OPTIONS];
    char letters[3 * MAX_OPTIONS + 2];
    int value;

    line->timeout = command->takes & CLI_TAKES_TIMEOUT ? TIMEOUT : 0;
    collect_options(command, options, count, line, &table);
    if (line->describe) {
        line->describe(command, table.options, table.count);
        return CLI_OK;
    }
    make_getopt_tables(&table, longs, letters);
    opterr = 0; /* its messages would have control characters of the arguments */
    while ((value = getopt_long(line->count, line->arguments, letters, longs, NULL)) != -1) {
        const struct cli_option *option = find_option(&table, value);
        int code;

        if (!option)
            return fail_option(command, &table, line, value);
        if (option->letter == 'h') {
            print_help(command, &table);
            return CLI_OK;
        }
        code = set_value(command, option, optarg);
        if (code != CLI_GO)
            return code;
        if (line->given_count < CLI_MAX_OPTIONS)
            line->given[line->given_count++] = option->name;
    }
    cli_terminal_setup(line->is_quiet, line->wants_progress);
    cli_watch_setup(command->name, line->timeout, line->as_json);
    if (line->verbosity)
        pool_log_set(log_line, NULL, line->verbosity > 1 ? POOL_LOG_DEBUG : POOL_LOG_INFO);
    return check_operands(command, line);
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (; *words; words += strspn(words, " ")) {
        const size_t next = strcspn(words, " ");

        if (next == length && memcmp(words, word, length) == 0)
            return true;
        words += next;
    }
    return false;
}

int cli_check_given(const struct cli_command *command, const struct cli_line *line,
    const char *what, const char *accepted)
{
    for (size_t i = 0; i < line->given_count; i++)
        if (!has_word(accepted, line->given[i]) &&
            !has_word("devices json progress quiet timeout verbose", line->given[i]))
            return cli_usage(
                command, "%s %s does not take --%s", command->name, what, line->given[i]);
    return CLI_GO;
}
