/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files from which commands read points and elements, and the format of results.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli.h"

/* The content of a raw file, which has no header; either curve or field is set. */
struct cli_raw {
    const pool_curve *curve;
    const pool_field *field;
    pool_point_layout layout;
    pool_form form;
    int is_big_endian; /* integers in standard form; not for POOL_POINT_AFFINE_FLAG */
    int is_trusted;    /* of a KZG setup: do not check its groups */
    int is_bytes;      /* arbitrary bytes, packed into elements of as many as always fit */
};

/* An open source. The span of `section` is host memory. */
struct cli_source {
    pool_file *file;
    void *owned; /* NULL, or the converted or reordered items, which the span refers to */
    pool_file_section section;
};

/*
 * Opens KIND:FILE:SECTION (ptau:FILE:tauG1, ptau:FILE:lagrange:8, zkey:FILE:A, kzg:FILE:lagrange,
 * wtns:FILE), or else a raw file of that name. Returns CLI_GO, or an exit code after reporting the
 * failure.
 */
int cli_source_open(
    const char *name, const struct cli_raw *raw, int as_json, struct cli_source *source);
void cli_source_close(struct cli_source *source);

/* Returns CLI_GO if the source, which was opened as `name`, has items of that kind. */
int cli_source_expect(const struct cli_command *command, const char *name,
    const struct cli_source *source, pool_file_item item);

/* Returns CLI_GO unless big-endian integers are requested together with Montgomery form. */
int cli_check_byte_order(const struct cli_command *command, int is_big_endian, int form);

/* Puts the elements of each of `batch` vectors into bit-reversed order. Returns 0 if a vector's
 * length is not a power of two. */
int cli_source_reverse(struct cli_source *source, uint64_t batch);

/* The values of --layout and --form, in the order of their enums, terminated by NULL. */
extern const char *const cli_layouts[];
extern const char *const cli_forms[];

/* Formats "0x…" with leading zeros into `string` of CLI_ELEMENT bytes, which it returns. */
enum { CLI_ELEMENT = 2 * POOL_FIELD_MAX_BYTES + 3 };
const char *cli_element(const pool_field *field, pool_form form, const void *element, char *string);

/* Adds packed elements to `list` as strings or, if it is NULL, prints them, one per line. */
void cli_print_elements(
    const pool_field *field, pool_form form, const void *elements, uint64_t count, cJSON *list);

/* Converts elements to big-endian integers in standard form, in place. */
void cli_to_big_endian(const pool_field *field, pool_form form, void *elements, uint64_t count);

/* Find a built-in field or curve. Return CLI_GO, or an exit code after reporting the failure. */
int cli_find_field(const struct cli_command *command, const char *name, const pool_field **field);
int cli_find_curve(const struct cli_command *command, const char *name, const pool_curve **curve);

/* Creates the pool of --devices with these params, and selects its next device. Returns CLI_GO or
 * an exit code. */
int cli_open_device(
    const struct cli_line *line, pool_params *params, device_pool **pool, pool_device **device);

/* Where a single operation runs: on one device or, with --together, on all usable ones. */
enum { CLI_TARGET_DEVICES = 64 };
struct cli_target {
    device_pool *pool;
    pool_device *devices[CLI_TARGET_DEVICES];
    pool_exec exec; /* with either; it refers to `devices` */
};
#define CLI_TOGETHER_HELP "run one job over all devices"
/* Creates the pool; the caller closes it with cli_close_pool. Returns CLI_GO or an exit code. */
int cli_open_target(const struct cli_line *line, int is_together, struct cli_target *target);
/* Sets `exec` to all usable devices of the pool. */
void cli_target_all(struct cli_target *target);

#endif
