/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all commands. The command-line tool uses public headers only.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include <devicepool.h>

#include "bench.h"
#include "output_file.h"

#define CLI_COUNT_OF BENCH_COUNT_OF

/* Exit codes: the class of the failure, for scripts. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* the command failed */
    CLI_USAGE = 2,   /* invalid command line */
    CLI_DEVICE = 3,  /* a device is unusable, hangs or computes wrong results */
    CLI_HOST = 4,    /* this host lacks a driver, device or compiler */
    CLI_PROCESS = 5, /* a sticky device fault */
    CLI_INTERNAL = 6 /* a defect of the library */
};

/* Options that several commands share. */
#define CLI_TAKES_DEVICES 1u
#define CLI_TAKES_JSON 2u
#define CLI_TAKES_TIMEOUT 4u

enum { CLI_MAX_OPTIONS = 64 };

struct cli_command;
struct cli_option;

/* A command line. cli_parse fills all members but the first two and `describe`. */
struct cli_line {
    int count;
    char **arguments;
    const char *devices;
    int as_json;
    int is_quiet;
    int wants_progress;
    int verbosity;
    uint64_t timeout; /* seconds */
    char **operands;
    int operand_count;
    const char *given[CLI_MAX_OPTIONS]; /* names of options, as often as they were given */
    size_t given_count;
    /* Not NULL: cli_parse parses nothing and calls this with all options instead. */
    void (*describe)(
        const struct cli_command *command, const struct cli_option *options, size_t count);
};

struct cli_command {
    const char *name;
    int min_operands;
    int max_operands;
    const char *operands; /* in the usage line; "" for none */
    unsigned takes;       /* CLI_TAKES_… */
    const char *summary;
    const char *notes; /* follow the options in the help */
    int (*run)(const struct cli_command *self, struct cli_line *line);
};

extern const struct cli_command cli_commands[];
extern const size_t cli_command_count;

int cli_run_bench(const struct cli_command *self, struct cli_line *line);
int cli_run_completion(const struct cli_command *self, struct cli_line *line);
int cli_run_cache(const struct cli_command *self, struct cli_line *line);
int cli_run_demo(const struct cli_command *self, struct cli_line *line);
int cli_run_devices(const struct cli_command *self, struct cli_line *line);
int cli_run_info(const struct cli_command *self, struct cli_line *line);
int cli_run_list(const struct cli_command *self, struct cli_line *line);
int cli_run_mpi(const struct cli_command *self, struct cli_line *line);
int cli_run_msm(const struct cli_command *self, struct cli_line *line);
int cli_run_ntt(const struct cli_command *self, struct cli_line *line);
int cli_run_poseidon(const struct cli_command *self, struct cli_line *line);
int cli_run_prove(const struct cli_command *self, struct cli_line *line);
int cli_run_selftest(const struct cli_command *self, struct cli_line *line);
int cli_run_sim(const struct cli_command *self, struct cli_line *line);
int cli_run_top(const struct cli_command *self, struct cli_line *line);
int cli_run_tune(const struct cli_command *self, struct cli_line *line);
int cli_run_version(const struct cli_command *self, struct cli_line *line);
int cli_run_warm_up(const struct cli_command *self, struct cli_line *line);

/* ---- options.c: the command line ---- */

enum cli_kind {
    CLI_SWITCH, /* int, incremented */
    CLI_STRING, /* const char * */
    CLI_COUNT,  /* uint64_t: 1048576, 2^20, 1M; without an optional argument 1 */
    CLI_SIZES,  /* struct cli_sizes: counts and ranges, 2^10..2^14,2^20 */
    CLI_CHOICE  /* int: an index into `choices` */
};

#define CLI_MAX_SIZES 64

struct cli_sizes {
    size_t count;
    uint64_t at[CLI_MAX_SIZES];
};

struct cli_option {
    char letter; /* 0: none */
    const char *name;
    /* Its name in the help; NULL for a switch. Completion goes by it: CURVE, FIELD, SET, FILE, DIR,
     * or their plural for lists that commas separate. "[=NAME]": it may be left out. */
    const char *argument;
    const char *help; /* lines are separated by '\n' */
    enum cli_kind kind;
    void *value;                /* holds the default, which stays unless the option is given */
    const char *const *choices; /* terminated by NULL; of CLI_STRING: what completion proposes */
};

/* The values of --order, in the order of pool_ntt_order. */
extern const char *const cli_orders[];

/* Returned in place of an exit code: continue with the command. */
#define CLI_GO (-1)

/* The most names that warm-up accepts, and the most things that these are. */
#define CLI_MAX_NAMES 128
#define CLI_MAX_SUBJECTS 256

/*
 * Parses the line by the command's options and the common ones, and sets up logging and terminal.
 * Returns CLI_GO, or an exit code after printing the help or an error.
 */
int cli_parse(const struct cli_command *command, const struct cli_option *options, size_t count,
    struct cli_line *line);

/*
 * For commands whose operand decides what options mean: reports one that was given and is neither
 * common nor among the words `accepted`; `what` is the operand. Returns CLI_GO or an exit code.
 */
int cli_check_given(const struct cli_command *command, const struct cli_line *line,
    const char *what, const char *accepted);

/* Whether the next word of the line is the option's argument. */
int cli_takes_word(const struct cli_option *option);

/* Return 1, or 0 and leave the output unchanged if the string is invalid. */
int cli_parse_count(const char *string, uint64_t *value);
int cli_parse_sizes(const char *string, struct cli_sizes *sizes);

/* Reports an invalid command line and refers to the help. Returns CLI_USAGE. */
int cli_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports an operation that the command does not have, and names those of its `operands`,
 * "[list|verify] [FILE...]". Returns CLI_USAGE. */
int cli_fail_operation(const struct cli_command *command, const char *wrong);

/* ---- common.c: failures, JSON, number formatting ---- */

/* Returns the exit code for a status. */
int cli_exit_code(pool_status status);

/*
 * Reports the thread's last error: a message on stderr and, with `as_json`, also an object on
 * stdout. Returns the exit code.
 */
int cli_fail(pool_status status, int as_json);

/* The same with the given message. */
int cli_fail_as(pool_status status, const char *message, int driver_code, int as_json);

/* Reports a failure outside the library (a file, a child process). Returns CLI_FAILED. */
int cli_fail_with(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Like cli_fail, for data read from `source`: the message of POOL_ERR_BAD_DATA begins with that
 * name.
 */
int cli_fail_on(const char *source, pool_status status, int as_json);

/* The name that resembles a wrong one most. Zeros: none yet. */
struct cli_match {
    const char *name;
    size_t distance;
};

/* Replaces the match by a candidate that is nearer to `wrong`. */
void cli_match_name(const char *wrong, const char *candidate, struct cli_match *match);

enum { CLI_FIELDS = 1, CLI_CURVES = 2, CLI_SETS = 4 };
/* The same with the names of fields, curves and parameter sets, as `kinds` says. */
void cli_match_kinds(const char *wrong, unsigned kinds, struct cli_match *match);

/* " (did you mean 'X'?)" or "". Static memory. */
const char *cli_suggestion(const struct cli_match *match);

/*
 * Writes the path of a file or directory, which is given relative to the directory of this program:
 * an installed prefix may have been moved. Returns whether the path exists.
 */
int cli_find_beside(const char *relative, char *path, size_t size);

/* Prints what this host lacks for its GPUs, if it has any, in lines behind "  ". `failure` is the
 * driver's. */
void cli_explain_host(FILE *file, pool_status failure);

/*
 * Creates the pool of --devices; `lazy` creates each context on first use. Returns CLI_GO, or an
 * exit code after reporting the failure: CLI_USAGE when --devices is invalid.
 */
int cli_open_pool(const struct cli_line *line, int lazy, device_pool **pool);

/* The same with other params; struct_size and devices are set here. */
int cli_open_pool_of(const struct cli_line *line, pool_params *params, device_pool **pool);

/*
 * Destroys the pool and returns `code`, or the exit code of the destruction when `code` is 0. Exits
 * at once with `code` after bench_run_threads has timed out, as a pool with a hung device cannot be
 * destroyed.
 */
int cli_close_pool(device_pool **pool, int code, int as_json);

/* A device of a pool. */
struct cli_device {
    size_t position; /* of the next device */
    pool_device *device;
    pool_device_info info;
    int is_usable;
    char label[160]; /* index and name, "0 NVIDIA H200" */
};

/* Fills in the pool's next device and returns 1, or returns 0 after the last. The first call takes
 * a struct of zeros. */
int cli_next_device(device_pool *pool, struct cli_device *device);

/* Whether a measurement can fit into the memory of the device. Reports it if not. */
int cli_fits(const struct cli_device *device, const struct bench_operation *operation,
    const struct bench_case *spec);

/* Whether the directory can be written. It is created as the library creates it: a cache may not
 * have stored anything yet. */
int cli_make_directory(const char *path);

/* Adds an empty object to an array and returns it. */
cJSON *cli_add_row(cJSON *rows);

/* Prints a value and a newline to stdout, and deletes it. */
void cli_print_json(cJSON *value);

/* Format "141.1 GiB", "2^20" (or "1000"), "12.3 ms", "1.23 G" into `string`, which they return. */
const char *cli_bytes(uint64_t value, char *string, size_t bytes);
const char *cli_size(uint64_t count, char *string, size_t bytes);
const char *cli_duration(double seconds, char *string, size_t bytes);
const char *cli_amount(double value, char *string, size_t bytes);

/* Formats two digits per byte and a NUL into `digits`, which it returns. */
const char *cli_hex(const void *bytes, size_t count, char *digits);

#define CLI_NUMBER 32 /* enough for any formatted number */

/* ---- watch.c: devices that hang ---- */

/* Called once, by cli_parse. A timeout of 0 watches nothing. */
void cli_watch_setup(const char *command, uint64_t timeout, int as_json);

/*
 * Between these calls, which nest, the process is ended with CLI_DEVICE and a message when there is
 * no progress for --timeout seconds: no work of the watched pool and no bench_report_progress.
 */
void cli_watch_begin(void);
void cli_watch_end(void);

/* The pool whose work is progress; NULL: none. cli_open_pool and cli_close_pool call it. */
void cli_watch_pool(device_pool *pool);

/* ---- cache_packs.c: packs, see devicepool/module.h ---- */

/* The chips of --chip: CLI_GO or an exit code. */
int cli_check_chips(const struct cli_command *self, const struct cli_sizes *chips);
int cli_cache_levels(const struct cli_line *line);
/* Without chips: those of the cache. */
int cli_cache_pack(const struct cli_line *line, const char *directory, struct cli_sizes *chips);
/* Calls `read` for each file. */
int cli_cache_files(const struct cli_line *line,
    pool_status (*read)(const char *path, pool_pack_info *info), char **paths, int count);

/* ---- warm_up.c, warm_up_chips.c: what is compiled ahead ---- */

/* A field, a curve or a parameter set; exactly one of the pointers is set. */
struct cli_subject {
    const char *name;
    const pool_field *field;
    const pool_curve *curve;
    pool_poseidon *set;
};

/* warm-up --chip: compiles for chips that need not be there, into a directory of packs. */
int cli_warm_up_chips(const struct cli_line *line, const struct cli_sizes *chips,
    const char *output, const struct cli_subject *subjects, int count);

/* ---- terminal.c: colours, the progress line ---- */

enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_GREEN, CLI_RED, CLI_YELLOW, CLI_CYAN };

/* Called once, before anything is printed. */
void cli_terminal_setup(int is_quiet, int wants_progress);

/* Returns the escape sequence, or "" if the file is not a terminal or colours are off. */
const char *cli_colour(FILE *file, enum cli_colour colour);

/* Returns "✓" or "✗", or "ok" or "WRONG" in a locale without these characters. */
const char *cli_mark(int is_correct);

/* Shows the current activity on one line of stderr, which the next call replaces and
 * cli_progress_end removes. Only on a terminal, and not with --quiet; with --progress also
 * elsewhere, as lines that follow each other. Any thread. */
void cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_progress_end(void);
/* Shows it again with the time since then, if that is more than two seconds. */
void cli_progress_tick(void);

/* Formats a progress bar of CLI_BAR characters for that line. */
enum { CLI_BAR = 20 };
const char *cli_bar(size_t done, size_t count, char *string, size_t bytes);

/*
 * Prints text that may hold names from elsewhere: control characters, which a terminal would obey,
 * and bytes that are no UTF-8 become "?", but for those in `kept`. At most `columns` characters.
 */
void cli_print_text(FILE *file, const char *text, const char *kept, int columns);
/* The same with a format and line ends. */
void cli_vprint(FILE *file, const char *format, va_list list);

/* Prints a line on stderr unless --quiet is given. Any thread. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- output.c: result files ---- */

/*
 * Checks before the work that the file can be written and is no input (output_file_add_input). An
 * existing file stays as it is until cli_output_close. Returns CLI_GO or an exit code.
 */
int cli_output_open(const char *path, struct output_file *output);

/* Appends to the new content. Returns an exit code. */
int cli_output_write(struct output_file *output, const void *bytes, size_t count);

/* Make the new contents visible, all at once, or discard them if `code` is a failure. Return
 * `code`, or CLI_FAILED when that fails. Outputs without a path are ignored. */
int cli_output_close(struct output_file *output, int code);
int cli_outputs_close(struct output_file *outputs, size_t count, int code);

/* ---- plot.c: plots of median seconds over size, and of latencies, drawn by gnuplot ---- */

/* Checks that gnuplot is installed, and opens the file. Returns CLI_GO or an exit code. */
int cli_plot_open(const char *path, struct output_file *picture);

/* Draws the rows of a benchmark, if there are any, with one line per subject and device, bars from
 * the fastest to the slowest run, and the chips of the pool; those of the operation "share" as
 * latencies by short and long job, one colour per mode, bars from p50 to p99. Returns `code`, or an
 * exit code if drawing failed. */
int cli_plot_close(struct output_file *picture, device_pool *pool, const cJSON *rows,
    const char *operation, int code);

/* ---- table.c: result tables ---- */

/* The format of a column. */
enum cli_show {
    CLI_SHOW_STRING,
    CLI_SHOW_NUMBER,
    CLI_SHOW_FIGURE,   /* four significant digits */
    CLI_SHOW_SIZE,     /* 2^20 */
    CLI_SHOW_BYTES,    /* 1.0 MiB */
    CLI_SHOW_DURATION, /* seconds, with a unit */
    CLI_SHOW_AMOUNT,   /* 1.23 M */
    CLI_SHOW_CHECK     /* a boolean, as a coloured mark */
};

struct cli_column {
    const char *key;
    const char *title;
    enum cli_show show;
};

/*
 * Prints `rows`, an array of objects, as a table of the members that the columns name. Missing
 * members are empty cells; columns that are empty in all rows are omitted.
 */
void cli_print_table(const cJSON *rows, const struct cli_column *columns, size_t count, FILE *file);

/*
 * Prints the rows to stdout as a table or, with --json, as JSON, and their "failure" members to
 * stderr, prefixed by the first two columns. Deletes the rows.
 */
void cli_print_rows(
    cJSON *rows, const struct cli_column *columns, size_t count, const struct cli_line *line);

/* The same after success; after a failure reports that instead. Returns the exit code. */
int cli_print_rows_or_fail(pool_status status, cJSON *rows, const struct cli_column *columns,
    size_t count, const struct cli_line *line);

#endif
