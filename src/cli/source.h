/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where commands take points and elements from, and how they show results.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include "cli.h"

/* What a raw file, which says nothing about itself, consists of: set one of curve and field. */
struct cli_raw {
    const pool_curve *curve;
    const pool_field *field;
    pool_point_layout layout;
    pool_form form;
    int is_big_endian; /* standard integers; points then have no flag beside their coordinates */
    int is_bytes;      /* any bytes: each element takes as many as always fit below the modulus */
};

/* An open source: `section` says what it is, its span is host memory. */
struct cli_source {
    pool_file *file;
    void *owned; /* converted or reordered items, where the file's own were not as wanted */
    pool_file_section section;
};

/*
 * Returns CLI_GO or, having said what is wrong, an exit code. Opens KIND:FILE:SECTION
 * (ptau:FILE:tauG1, ptau:FILE:lagrange:8, zkey:FILE:A, kzg:FILE:lagrange, wtns:FILE), or a raw file
 * of the name.
 */
int cli_source_open(
    const char *name, const struct cli_raw *raw, int as_json, struct cli_source *source);
void cli_source_close(struct cli_source *source);

/* CLI_GO when the source has items of that kind; `name` is what it was opened by. */
int cli_source_expect(const struct cli_command *command, const char *name,
    const struct cli_source *source, pool_file_item item);

/* CLI_GO unless big-endian integers are asked for together with Montgomery form. */
int cli_check_order(const struct cli_command *command, int is_big_endian, int form);

/* Brings a power of two of elements into bit-reversed order, in memory of the source's own. 0 when
 * their number is no power of two. */
int cli_source_reverse(struct cli_source *source);

/* Words of --layout and --form, in the order of their enums, NULL at the end. */
extern const char *const cli_layouts[];
extern const char *const cli_forms[];

/* "0x…", big-endian, into `text` of CLI_ELEMENT characters, which is returned. */
enum { CLI_ELEMENT = 2 * POOL_FIELD_MAX_BYTES + 3 };
const char *cli_element(const pool_field *field, pool_form form, const void *element, char *text);

/* The same elements as big-endian integers, in place. */
void cli_to_big_endian(const pool_field *field, pool_form form, void *elements, uint64_t count);

/* The field or curve of that name; an exit code when there is none, or CLI_GO. */
int cli_find_field(const struct cli_command *command, const char *name, const pool_field **field);
int cli_find_curve(const struct cli_command *command, const char *name, const pool_curve **curve);

/* The device that a single operation runs on: the pool's next one. CLI_GO or an exit code. */
int cli_open_device(const struct cli_line *line, device_pool **pool, pool_device **device);

#endif
