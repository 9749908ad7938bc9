/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands share. The command line uses public headers only.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include <devicepool.h>

/* Exit codes: the class of the failure, so that scripts can tell them apart. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* the call: this command could not be done */
    CLI_USAGE = 2,   /* the command line is wrong */
    CLI_DEVICE = 3,  /* a device is unusable, or computes wrongly */
    CLI_HOST = 4,    /* driver, device or compiler are missing on this host */
    CLI_PROCESS = 5, /* a sticky device fault */
    CLI_INTERNAL = 6 /* a defect of the library */
};

struct cli_command {
    const char *name;
    const char *operands; /* for the usage line, "" for none */
    const char *summary;
    const char *notes; /* below the options of the help: what else is worth reading */
    int (*run)(const struct cli_command *self, int count, char **arguments);
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

int cli_run_bench(const struct cli_command *self, int count, char **arguments);
int cli_run_cache(const struct cli_command *self, int count, char **arguments);
int cli_run_demo(const struct cli_command *self, int count, char **arguments);
int cli_run_devices(const struct cli_command *self, int count, char **arguments);
int cli_run_info(const struct cli_command *self, int count, char **arguments);
int cli_run_list(const struct cli_command *self, int count, char **arguments);
int cli_run_msm(const struct cli_command *self, int count, char **arguments);
int cli_run_ntt(const struct cli_command *self, int count, char **arguments);
int cli_run_poseidon(const struct cli_command *self, int count, char **arguments);
int cli_run_prove(const struct cli_command *self, int count, char **arguments);
int cli_run_selftest(const struct cli_command *self, int count, char **arguments);
int cli_run_version(const struct cli_command *self, int count, char **arguments);
int cli_run_warm_up(const struct cli_command *self, int count, char **arguments);

/* ---- options.c: the command line ---- */

enum cli_kind {
    CLI_SWITCH, /* int, set to 1 */
    CLI_TEXT,   /* const char * */
    CLI_COUNT,  /* uint64_t: 1048576, 2^20, 1M */
    CLI_SIZES,  /* struct cli_sizes: counts and ranges, 2^10..2^14,2^20 */
    CLI_CHOICE  /* int, the place of the word in `choices` */
};

#define CLI_MAX_SIZES 64

struct cli_sizes {
    size_t count;
    uint64_t at[CLI_MAX_SIZES];
};

struct cli_option {
    char letter; /* 0: none */
    const char *name;
    const char *argument; /* as the help calls it; NULL for a switch */
    const char *text;     /* for the help, lines separated by '\n' */
    enum cli_kind kind;
    void *value;                /* keeps what it has, the default, when the option is not given */
    const char *const *choices; /* NULL after the last */
};

/* Options that several commands have. */
#define CLI_TAKES_DEVICES 1u
#define CLI_TAKES_JSON 2u

/* A command line, and what cli_parse made of it. */
struct cli_line {
    int count;
    char **arguments;
    unsigned takes; /* CLI_TAKES_… */
    int most_operands;
    int least_operands;
    const char *devices;
    int as_json;
    int is_quiet;
    int is_verbose;
    char **operands;
    int operand_count;
};

/* The command goes on. */
#define CLI_GO (-1)

/*
 * Reads the line by the command's own options and the common ones, and sets up log and terminal.
 * Returns CLI_GO, or the exit code when the help was asked for and printed or something is wrong.
 */
int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count,
    struct cli_line *line);

/* 1 and *value, or 0 when `text` is no count. */
int cli_parse_count(const char *text, uint64_t *value);
int cli_parse_sizes(const char *text, struct cli_sizes *sizes);

/* A wrong command line: prints the sentence and where the help is. Returns CLI_USAGE. */
int cli_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- common.c: failures, JSON, numbers as text ---- */

/* The exit code of a status. */
int cli_exit_code(pool_status status);

/*
 * Reports the thread's last failure: a sentence on stderr, and with `as_json` also an object on
 * stdout. Returns the exit code.
 */
int cli_fail(pool_status status, int as_json);

/* The same with a sentence of the caller's. */
int cli_fail_as(pool_status status, const char *message, int driver_code, int as_json);

/* Reports a failure of the command's own (a file, a child process). Returns CLI_FAILED. */
int cli_fail_with(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The same for data that was read from `source`, a file or several: where the data are wrong, the
 * sentence begins with that name.
 */
int cli_fail_on(const char *source, pool_status status, int as_json);

/*
 * The pool of --devices; `lazy` makes no context before a device is used. CLI_GO or, having said
 * what is wrong, an exit code: CLI_USAGE when --devices makes no sense.
 */
int cli_open_pool(const struct cli_line *line, int lazy, device_pool **pool);

/*
 * Destroys the pool; the exit code is `code`, or that of the destruction when `code` is 0. Ends the
 * process at once with `code` when cli_watch has given up, as a hung device cannot be destroyed.
 */
int cli_close_pool(device_pool **pool, int code, int as_json);

/* "0 NVIDIA H200": place in the pool and name. */
const char *cli_device_label(pool_device *device, char *text, size_t size);

/* Memory that is always there: without it the command ends. Zeroed. */
void *cli_alloc(size_t count, size_t bytes);

/* Seconds from a fixed moment. */
double cli_now(void);

/* Prints a value and a newline on stdout, and deletes it. */
void cli_print_json(cJSON *value);

/* "141.1 GiB", "2^20" (or "1000"), "12.3 ms", "1.23 G" into `text`, which is returned. */
const char *cli_bytes(uint64_t bytes, char *text, size_t size);
const char *cli_size(uint64_t count, char *text, size_t size);
const char *cli_duration(double seconds, char *text, size_t size);
const char *cli_amount(double value, char *text, size_t size);

/* Two digits a byte and an end into `digits`, which is returned. */
const char *cli_hex(const void *bytes, size_t count, char *digits);

#define CLI_NUMBER 32 /* room for any of them */

/* ---- watch.c: work that a hung device may keep from ending ---- */

/* Default of --timeout, in seconds. */
#define CLI_TIMEOUT 300
#define CLI_TIMEOUT_TEXT                                                                           \
    "give a device up on which nothing ends for so long (default\n"                                \
    "300; 0: never)"

/*
 * Runs work(argument) on that many threads at once and returns 1 when all have returned. Returns 0
 * when a thread is still running and none has ended or called cli_watch_progress for `timeout`
 * seconds (0: waits for ever); the threads then go on, and what they use must never be freed.
 */
int cli_watch(size_t threads, uint64_t timeout, void *(*work)(void *argument), void *argument);
void cli_watch_progress(void);
int cli_watch_has_given_up(void);

/* ---- terminal.c: colours, the progress line ---- */

enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_GREEN, CLI_RED, CLI_YELLOW, CLI_CYAN };

/* Once, before anything is printed. */
void cli_terminal_setup(int is_quiet);

/* The escape sequence, or "" where the file is no terminal or colours are not wanted. */
const char *cli_colour(FILE *file, enum cli_colour colour);

/* "✓" or "✗"; "ok" or "WRONG" where the locale has no such characters. */
const char *cli_mark(int is_right);

/* What is being done now, on one line of stderr that the next one replaces; only on a terminal,
 * and not with --quiet. Any thread. cli_progress_end takes the line away. */
void cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_progress_end(void);

/* A bar of CLI_BAR characters for that line. */
enum { CLI_BAR = 20 };
const char *cli_bar(size_t done, size_t count, char *text, size_t size);

/* A line on stderr for people, left out with --quiet. Any thread. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- output.c ---- */

/* A file that is written when the command has its result. */
struct cli_output {
    const char *path; /* NULL: no such file is wanted */
    int file;
    int is_new;
};

/*
 * Opens the file before the work, so that a path that cannot be written costs nothing; what an
 * existing one holds stays until the result is there. CLI_GO or an exit code.
 */
int cli_output_open(const char *path, struct cli_output *output);

/* Replaces the content. An exit code. */
int cli_output_write(struct cli_output *output, const void *bytes, size_t count);

/* Closes the file, and deletes it when it is new and `code` is a failure. Returns `code`. */
int cli_output_close(struct cli_output *output, int code);

/* ---- table.c ---- */

/* How a column shows a value of a row. */
enum cli_show {
    CLI_SHOW_TEXT,
    CLI_SHOW_NUMBER,
    CLI_SHOW_SIZE,     /* 2^20 */
    CLI_SHOW_BYTES,    /* 1.0 MiB */
    CLI_SHOW_DURATION, /* of seconds */
    CLI_SHOW_AMOUNT,   /* 1.23 M */
    CLI_SHOW_CHECK     /* of a boolean: coloured mark */
};

struct cli_column {
    const char *key;
    const char *title;
    enum cli_show show;
};

/*
 * Prints `rows`, an array of objects, as a table: the members named by the columns. A row without a
 * member has an empty cell there, a column that is empty in all rows is left out.
 */
void cli_print_table(const cJSON *rows, const struct cli_column *columns, size_t count, FILE *file);

/*
 * The same rows as the user asked for them: that table on stdout, or as JSON. What rows have as
 * "failure" follows on stderr, headed by the first two columns. Deletes the rows.
 */
void cli_print_rows(
    cJSON *rows, const struct cli_column *columns, size_t count, const struct cli_line *line);

#endif
