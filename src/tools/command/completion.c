/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool completion: the completion scripts of shells, written from the tables of commands and
 * options.
 */
#include <string.h>

#include "cli.h"

/* ---- what completes an argument -------------------------------------------------------------- */

enum { DESCRIPTION = 72 };

enum kind { NONE, WORDS, FILES, DIRECTORIES, PROGRAMS };

struct values {
    enum kind kind;
    bool is_list; /* several words, separated by commas */
    char name[32];
    char words[8192]; /* separated by spaces */
};

static void add_word(struct values *values, const char *word)
{
    const size_t used = strlen(values->words);

    values->kind = WORDS;
    snprintf(values->words + used, sizeof(values->words) - used, "%s%s", used ? " " : "", word);
}

static void add_names(struct values *values, unsigned kinds)
{
    for (size_t i = 0; kinds & CLI_FIELDS && i < pool_field_count(); i++)
        add_word(values, pool_field_name(pool_field_at(i)));
    for (size_t i = 0; kinds & CLI_CURVES && i < pool_curve_count(); i++)
        add_word(values, pool_curve_name(pool_curve_at(i)));
    for (size_t i = 0; kinds & CLI_SETS && i < pool_poseidon_count(); i++)
        add_word(values, pool_poseidon_name_at(i));
}

/* By the name of an argument in the help. */
static void describe_values(const char *name, struct values *values)
{
    static const struct {
        const char *name;
        unsigned names;
        enum kind kind;
    } known[] = {{"FIELD", CLI_FIELDS, WORDS}, {"CURVE", CLI_CURVES, WORDS},
        {"SET", CLI_SETS, WORDS}, {"NAME...", CLI_FIELDS | CLI_CURVES | CLI_SETS, WORDS},
        {"NAMES", CLI_FIELDS | CLI_CURVES | CLI_SETS, WORDS}, {"FILE", 0, FILES},
        {"DIR", 0, DIRECTORIES}, {"PROGRAM", 0, PROGRAMS}, {"POINTS", 0, FILES},
        {"SCALARS", 0, FILES}, {"KEY", 0, FILES}, {"WITNESS", 0, FILES}, {"PROOF", 0, FILES},
        {"PUBLIC", 0, FILES}, {"[FILE...]", 0, FILES}, {"SOCKET", 0, FILES},
        {"[ARGUMENT...]", 0, FILES}};
    size_t length = strlen(name);

    *values = (struct values){.kind = NONE};
    snprintf(values->name, sizeof(values->name), "%s", name);
    for (size_t i = 0; i < CLI_COUNT_OF(known); i++) {
        const size_t own = strlen(known[i].name);

        if (strncmp(name, known[i].name, own) != 0 || length > own + 1 ||
            (length == own + 1 && name[own] != 'S'))
            continue;
        values->kind = known[i].kind;
        values->is_list = known[i].kind == WORDS && name[length - 1] == 'S';
        add_names(values, known[i].names);
        return;
    }
    values->is_list = name[length - 1] == 'S' || strcmp(name, "LIST") == 0;
}

static void describe_argument(const struct cli_option *option, struct values *values)
{
    describe_values(option->argument, values);
    for (size_t i = 0; option->choices && option->choices[i]; i++)
        add_word(values, option->choices[i]);
}

/* The operand number `index` as the usage names it: "hash|permute FILE". False: there is none. */
static bool describe_operand(const struct cli_command *command, size_t index, struct values *values)
{
    char names[256], *rest = names, *name = NULL, *word;
    size_t at = 0;

    snprintf(names, sizeof(names), "%s", command->operands);
    while ((name = strsep(&rest, " ")))
        if (*name && strcmp(name, "--") != 0 && at++ == index)
            break;
    if (!name)
        return false;
    if (!strchr(name, '|')) {
        describe_values(name, values);
        return true;
    }
    *values = (struct values){.kind = WORDS, .name = "operation"};
    name += strspn(name, "[");
    name[strcspn(name, "]")] = 0;
    while ((word = strsep(&name, "|")))
        if (*word >= 'a')
            add_word(values, word);
    return true;
}

static bool is_repeated(const struct values *values)
{
    return strstr(values->name, "...");
}

/* The first clause of a help text, on one line, as far as it is short. */
static const char *shorten(const char *help, char text[DESCRIPTION])
{
    size_t length = 0, end = 0;

    for (;; length++) {
        const bool is_end = !help[length] || help[length] == ';' || help[length] == '(';

        if (is_end || help[length] == ' ' || help[length] == '\n')
            end = length;
        if (is_end || length + 1 == DESCRIPTION)
            break;
        text[length] = help[length] == '\n' ? ' ' : help[length];
    }
    while (end && strchr(" ,:", text[end - 1]))
        end--;
    text[end] = 0;
    return text;
}

/* Prints the text with a backslash before each of these characters, and quotes as in '\''. */
static void print_escaped(const char *text, const char *characters)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr(characters, *text))
            putchar('\\');
        putchar(*text);
    }
}

static void each_command(void (*describe)(
    const struct cli_command *command, const struct cli_option *options, size_t count))
{
    char *arguments[] = {NULL, NULL};

    for (size_t i = 0; i < cli_command_count; i++)
        cli_commands[i].run(&cli_commands[i],
            &(struct cli_line){.count = 0, .arguments = arguments, .describe = describe});
}

static void print_command_names(void)
{
    for (size_t i = 0; i < cli_command_count; i++)
        printf("%s ", cli_commands[i].name);
    fputs("help", stdout);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void print_bash_values(const struct values *values)
{
    switch (values->kind) {
    case WORDS:
        printf("_devicepool_%s '%s'", values->is_list ? "list" : "words", values->words);
        break;
    case DIRECTORIES:
        fputs("_devicepool_paths -d", stdout);
        break;
    case PROGRAMS:
        fputs("_devicepool_paths -c", stdout);
        break;
    case FILES:
        fputs("_devicepool_paths -f", stdout);
        break;
    default:
        fputs(":", stdout);
    }
}

static void print_bash_pattern(const struct cli_option *option)
{
    printf("--%s", option->name);
    if (option->letter)
        printf(" | -%c", option->letter);
}

static void describe_in_bash(
    const struct cli_command *command, const struct cli_option *options, size_t count)
{
    struct values values;
    bool has_arguments = false;

    printf("    %s)\n        case $last in\n", command->name);
    for (size_t i = 0; i < count; i++) {
        if (!cli_takes_word(&options[i]))
            continue;
        describe_argument(&options[i], &values);
        fputs("        ", stdout);
        print_bash_pattern(&options[i]);
        fputs(") ", stdout);
        print_bash_values(&values);
        fputs(" && return ;;\n", stdout);
    }
    fputs("        esac\n        options='", stdout);
    for (size_t i = 0; i < count; i++)
        printf("%s--%s", i ? " " : "", options[i].name);
    fputs("'\n        _devicepool_operand '", stdout);
    for (size_t i = 0; i < count; i++) {
        if (!cli_takes_word(&options[i]))
            continue;
        printf("%s--%s", has_arguments ? " " : "", options[i].name);
        if (options[i].letter)
            printf(" -%c", options[i].letter);
        has_arguments = true;
    }
    fputs("'\n        case $operand in\n", stdout);
    for (size_t i = 0; describe_operand(command, i, &values); i++) {
        if (is_repeated(&values))
            printf("        *) ");
        else
            printf("        %zu) ", i);
        print_bash_values(&values);
        fputs(" ;;\n", stdout);
    }
    fputs("        esac\n        ;;\n", stdout);
}

static void print_bash(void)
{
    fputs("# Completion of devicepool in bash, written by 'devicepool completion bash'.\n\n"
          "# The words of the line: bash separates them at = and : also, and replaces only what "
          "follows.\n"
          "_devicepool_split() {\n"
          "    local i part joins=0\n"
          "    words=()\n"
          "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
          "        part=${COMP_WORDS[i]}\n"
          "        case $part in [=:]*) [ \"$i\" -lt 2 ] || joins=1 ;; esac\n"
          "        if [ $joins = 1 ]; then words[${#words[@]} - 1]+=$part; else "
          "words+=(\"$part\"); fi\n"
          "        joins=0\n"
          "        case $part in = | : | ::) joins=1 ;; esac\n"
          "    done\n"
          "    word=${words[${#words[@]} - 1]} last=\"\" own=${COMP_WORDS[COMP_CWORD]}\n"
          "    [ ${#words[@]} -lt 2 ] || last=${words[${#words[@]} - 2]}\n"
          "    case $own in [=:]*) own=\"\" ;; esac\n"
          "    option=\"\"\n"
          "    case $word in --*=*) option=${word%%=*}= last=${word%%=*} word=${word#*=} ;; esac\n"
          "}\n\n"
          "# The proposals in $1 without what bash has already; $2 is before each.\n"
          "_devicepool_reply() {\n"
          "    local whole=$option$word\n"
          "    local kept=${whole%\"$own\"}\n"
          "    local i\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$option$2\" -W \"$1\" -- \"${word#\"$2\"}\")\n"
          "    for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]#\"$kept\"}; done\n"
          "}\n\n"
          "_devicepool_words() {\n"
          "    _devicepool_reply \"$1\" \"\"\n"
          "}\n\n"
          "# The last one of several words that commas separate.\n"
          "_devicepool_list() {\n"
          "    local before=\"\"\n"
          "    case $word in *,*) before=\"${word%,*},\" ;; esac\n"
          "    _devicepool_reply \"$1\" \"$before\"\n"
          "}\n\n"
          "_devicepool_paths() {\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    local before=\"\" path=$own\n"
          "    case $own in --*=*) before=$option path=$word ;; esac\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$before\" \"$1\" -- \"$path\")\n"
          "}\n\n"
          "# The number of operands before the cursor; $1: options that take an argument.\n"
          "_devicepool_operand() {\n"
          "    local i\n"
          "    operand=0\n"
          "    for ((i = 2; i < ${#words[@]} - 1; i++)); do\n"
          "        case \" $1 \" in *\" ${words[i]} \"*) ((i++)) && continue ;; esac\n"
          "        case ${words[i]} in -*) ;; *) ((operand += 1)) ;; esac\n"
          "    done\n"
          "}\n\n"
          "_devicepool() {\n"
          "    local words word last own option options=\"\" operand=0\n"
          "    COMPREPLY=()\n"
          "    _devicepool_split\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        _devicepool_words '",
        stdout);
    print_command_names();
    fputs(" --help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", stdout);
    each_command(describe_in_bash);
    fputs("    help) _devicepool_words '", stdout);
    print_command_names();
    fputs("' ;;\n    esac\n"
          "    case $option$word in *=*) ;; -*) _devicepool_words \"$options\" ;; esac\n"
          "}\n\n"
          "complete -F _devicepool devicepool\n",
        stdout);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* ":NAME:ACTION" inside single quotes. */
static void print_zsh_values(const struct values *values)
{
    char words[sizeof(values->words)], *rest = words, *word;

    putchar(':');
    print_escaped(values->name, ":");
    putchar(':');
    switch (values->kind) {
    case WORDS:
        snprintf(words, sizeof(words), "%s", values->words);
        fputs(values->is_list ? "_sequence compadd -" : "(", stdout);
        while ((word = strsep(&rest, " "))) {
            if (values->is_list || word != words)
                putchar(' ');
            print_escaped(word, ":");
        }
        if (!values->is_list)
            putchar(')');
        break;
    case FILES:
        fputs("_files", stdout);
        break;
    case DIRECTORIES:
        fputs("_files -/", stdout);
        break;
    case PROGRAMS:
        fputs("_command_names -e", stdout);
        break;
    default:
        putchar(' ');
    }
}

static void describe_in_zsh(
    const struct cli_command *command, const struct cli_option *options, size_t count)
{
    struct values values;
    char text[DESCRIPTION];

    printf("        %s) _arguments -s", command->name);
    for (size_t i = 0; i < count; i++) {
        const struct cli_option *option = &options[i];
        const bool takes_word = cli_takes_word(option);

        fputs(" \\\n            ", stdout);
        /* "-d+" and "--devices=": the value may be in the same word. */
        if (option->letter)
            printf("'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                takes_word ? "+" : "", option->name, takes_word ? "=" : "");
        else
            printf("'--%s%s[", option->name, takes_word ? "=" : "");
        print_escaped(shorten(option->help, text), "[]\\");
        putchar(']');
        if (takes_word) {
            describe_argument(option, &values);
            print_zsh_values(&values);
        }
        putchar('\'');
    }
    for (size_t i = 0; describe_operand(command, i, &values); i++) {
        if (is_repeated(&values))
            fputs(" \\\n            '*", stdout);
        else
            printf(" \\\n            '%zu", i + 1);
        print_zsh_values(&values);
        putchar('\'');
    }
    fputs(" ;;\n", stdout);
}

static void print_zsh(void)
{
    fputs("#compdef devicepool\n"
          "# Completion of devicepool in zsh, written by 'devicepool completion zsh'.\n\n"
          "_devicepool() {\n"
          "    local curcontext=\"$curcontext\" state line\n"
          "    local -a commands\n"
          "    commands=(\n",
        stdout);
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("        '%s:", cli_commands[i].name);
        print_escaped(cli_commands[i].summary, "\\");
        fputs("'\n", stdout);
    }
    fputs("        'help:explain a command'\n"
          "    )\n"
          "    _arguments -C '(- *)'{-h,--help}'[list the commands]' \\\n"
          "        '(- *)--version[show versions]' '1: :->command' '*:: :->argument'\n"
          "    case $state in\n"
          "    command) _describe command commands ;;\n"
          "    argument)\n"
          "        case $line[1] in\n",
        stdout);
    each_command(describe_in_zsh);
    fputs("        help) _describe command commands ;;\n"
          "        esac\n"
          "        ;;\n"
          "    esac\n"
          "}\n\n"
          "if [ \"$funcstack[1]\" = _devicepool ]; then\n"
          "    _devicepool \"$@\"\n"
          "else\n"
          "    compdef _devicepool devicepool\n"
          "fi\n",
        stdout);
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* In single quotes, where a backslash escapes itself and the quote. */
static void print_fish_text(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_fish_values(const struct values *values)
{
    switch (values->kind) {
    case WORDS:
        if (values->is_list)
            printf(" -x -a '(__devicepool_list %s)'", values->words);
        else
            printf(" -x -a '%s'", values->words);
        break;
    case FILES:
        fputs(" -F -r", stdout);
        break;
    case DIRECTORIES:
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
        break;
    case PROGRAMS:
        fputs(" -x -a '(__fish_complete_command)'", stdout);
        break;
    default:
        fputs(" -x", stdout);
    }
}

static void describe_in_fish(
    const struct cli_command *command, const struct cli_option *options, size_t count)
{
    struct values values;
    char text[DESCRIPTION];

    fputs("complete -c devicepool -n __fish_use_subcommand -a ", stdout);
    printf("%s -d ", command->name);
    print_fish_text(command->summary);
    putchar('\n');
    for (size_t i = 0; i < count; i++) {
        const struct cli_option *option = &options[i];

        printf("complete -c devicepool -n '__devicepool_is %s' -l %s", command->name, option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        fputs(" -d ", stdout);
        print_fish_text(shorten(option->help, text));
        if (cli_takes_word(option)) {
            describe_argument(option, &values);
            print_fish_values(&values);
        }
        putchar('\n');
    }
    for (size_t i = 0; describe_operand(command, i, &values); i++) {
        if (values.kind == NONE)
            continue;
        printf("complete -c devicepool -n '__devicepool_is %s", command->name);
        if (!is_repeated(&values) && values.kind == WORDS)
            printf("; and not __fish_seen_subcommand_from %s", values.words);
        putchar('\'');
        print_fish_values(&values);
        putchar('\n');
    }
}

static void print_fish(void)
{
    fputs("# Completion of devicepool in fish, written by 'devicepool completion fish'.\n\n"
          "function __devicepool_is\n"
          "    set -l words (commandline -opc)\n"
          "    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
          "end\n\n"
          "# The last one of several words that commas separate.\n"
          "function __devicepool_list\n"
          "    set -l before (string match -r -- '.*,' (commandline -ct))\n"
          "    printf '%s\\n' \"$before\"$argv\n"
          "end\n\n"
          "complete -c devicepool -f\n"
          "complete -c devicepool -n __fish_use_subcommand -l help -d 'list the commands'\n"
          "complete -c devicepool -n __fish_use_subcommand -l version -d 'show versions'\n"
          "complete -c devicepool -n __fish_use_subcommand -a help -d 'explain a command'\n"
          "complete -c devicepool -n '__devicepool_is help' -a '",
        stdout);
    print_command_names();
    fputs("'\n", stdout);
    each_command(describe_in_fish);
}

int cli_run_completion(const struct cli_command *self, struct cli_line *line)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    int code = cli_parse(self, NULL, 0, line);

    if (code != CLI_GO)
        return code;
    for (size_t i = 0; i < CLI_COUNT_OF(shells); i++)
        if (strcmp(shells[i].name, line->operands[0]) == 0) {
            shells[i].print();
            return CLI_OK;
        }
    return cli_fail_operation(self, line->operands[0]);
}
