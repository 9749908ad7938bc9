/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of files. Each parses the header of a file, fills in its properties and adds sections.
 * The content is untrusted: every number is checked against the file's size before it is used, and
 * read only once, as the file may change under the mapping. Depends on fields and curves, not on
 * devices.
 */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

#include <devicepool/formats.h>

#include <stdbool.h>

#include "zk/field/field.h"

enum {
    FORMATS_MAX_SECTIONS = 16,  /* of a pool_file; a zkey has 13 */
    FORMATS_SECTION_TYPES = 16, /* iden3: section types below this are read */
    FORMATS_MAX_POWER = 40,     /* of a ptau: no size in bytes overflows */
};

struct pool_file {
    char *path;           /* for messages */
    int descriptor;       /* -1: opening has finished, or the caller owns the bytes */
    const uint8_t *bytes; /* NULL for a text file, of which only the decoded points are stored */
    uint64_t size;
    void *mapping;     /* NULL: the caller owns the bytes */
    void *decoded;     /* points decoded from a text file */
    pool_field *field; /* retained for a raw file, or created from the prime in the header */
    pool_curve *curve; /* retained for a raw file */
    pool_file_info info;
    pool_file_section sections[FORMATS_MAX_SECTIONS];
};

/* error.c: POOL_ERR_BAD_DATA at an offset of the file. */
pool_status formats_fail_data(const pool_file *file, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* POOL_ERR_UNSUPPORTED. */
pool_status formats_fail_unsupported(const pool_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of a path as the caller gave it, whose control characters are replaced. */
pool_status formats_fail_name(pool_status status, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The errno of a system call, where `what` is a participle: "opened". */
pool_status formats_fail_system(const char *path, const char *what);

/* input.c: opens a non-empty regular file. The caller closes the descriptor, also after a failure.
 */
pool_status formats_open_regular(const char *path, int *descriptor, uint64_t *size);
/* Maps a file that is being opened. */
pool_status formats_map(pool_file *file);
/*
 * Copies bytes within file->size. Readers do not read from the mapping: a file that is truncated
 * while it is opened gives POOL_ERR_BAD_DATA, not SIGBUS.
 */
pool_status formats_read_at(const pool_file *file, uint64_t offset, void *to, size_t bytes);

/* file.c: opens bytes that outlive the pool_file. `path` is for messages. */
pool_status formats_open_bytes(const char *path, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file);

/* ---- iden3 ---------------------------------------------------------------------------------- */

/* A section of the container. */
struct formats_container_section {
    uint64_t offset;
    uint64_t bytes;
    bool present;
};

struct formats_container {
    struct formats_container_section sections[FORMATS_SECTION_TYPES];
    bool has_empty_end; /* the section that was found last has no bytes */
};

/*
 * container.c: finds all sections. `required` has a bit for each mandatory type, `known` for each
 * type of the format; sections of others are counted and logged, unless `known` is 0.
 */
pool_status formats_read_container(pool_file *file, uint32_t max_version, uint32_t required,
    uint32_t known, struct formats_container *container);

/*
 * Checks that the section has exactly `ahead` bytes followed by `count` items of `item_bytes`.
 * `what` names the items in messages.
 */
pool_status formats_check_section(const pool_file *file,
    const struct formats_container_section *section, uint64_t ahead, uint64_t count,
    uint64_t item_bytes, const char *what);

/*
 * Reads numbers sequentially from a section. A read past the end sets `status`; it and all later
 * reads return 0.
 */
struct formats_reader {
    const pool_file *file;
    uint64_t at;
    uint64_t end;
    pool_status status;
};

struct formats_reader formats_open_reader(
    const pool_file *file, const struct formats_container_section *section);
/* Copies the next bytes, or skips them if `to` is NULL. Returns false past the end. */
bool formats_read_bytes(struct formats_reader *reader, void *to, uint64_t bytes, const char *what);
uint32_t formats_read_u32(struct formats_reader *reader, const char *what);
uint64_t formats_read_u64(struct formats_reader *reader, const char *what);
/* Reads a prime that is preceded by its size in bytes, and returns that size. */
uint32_t formats_read_prime(struct formats_reader *reader, uint64_t prime[FIELD_MAX_LIMBS]);
/* Returns the reader's failure, or POOL_ERR_BAD_DATA if bytes remain. */
pool_status formats_close_reader(struct formats_reader *reader);

/* ---- fields and curves ---------------------------------------------------------------------- */

/* primes.c: sets the built-in field with that modulus, or one that it creates. */
pool_status formats_set_field(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes);
/* Sets the curves of the built-in pairing over that base field, and its scalar field. */
pool_status formats_set_curves(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes);

/* ---- sections ------------------------------------------------------------------------------- */

/* section.c: adds a section of the file whose range was checked. */
pool_file_section *formats_add_section(pool_file *file, const char *name, pool_file_item item,
    uint64_t offset, uint64_t count, uint64_t stride);
/* Adds a section of packed affine points in Montgomery form. */
pool_file_section *formats_add_points(
    pool_file *file, const char *name, const pool_curve *curve, uint64_t offset, uint64_t count);

/* ---- the formats ---------------------------------------------------------------------------- */

pool_status formats_read_ptau(pool_file *file);
pool_status formats_read_zkey(pool_file *file);
pool_status formats_read_wtns(pool_file *file);
pool_status formats_read_r1cs(pool_file *file);
/* Does not check the setup if it is trusted. */
pool_status formats_read_kzg(pool_file *file, bool is_trusted);

/* ---- KZG setups ----------------------------------------------------------------------------- */

enum formats_group { FORMATS_LAGRANGE, FORMATS_MONOMIAL, FORMATS_G2, FORMATS_GROUPS };

/* A decoded setup: the counts are set first, then each point. */
struct formats_setup {
    uint64_t count[FORMATS_GROUPS];
    uint8_t *points[FORMATS_GROUPS];
};

/* kzg.c: returns the curve of a group's points. */
const pool_curve *formats_setup_curve(enum formats_group group);
/* Allocates memory for the points, which the file owns, and adds its sections. The counts were
 * checked against the file's size. */
pool_status formats_setup_alloc(pool_file *file, struct formats_setup *setup);
/* Strips an optional "0x" off a point's digits and checks their number. Returns NULL or a reason.
 */
const char *formats_setup_digits(enum formats_group group, const char **digits, size_t *length);
/* Decodes a point from its hexadecimal digits with an optional "0x". Returns NULL or a reason. */
const char *formats_setup_decode(const struct formats_setup *setup, enum formats_group group,
    uint64_t index, const char *digits, size_t length);

/* Decode the points. `content` has file->size bytes and a terminating NUL. */
pool_status formats_read_kzg_text(
    pool_file *file, const char *content, struct formats_setup *setup);
pool_status formats_read_kzg_json(
    pool_file *file, const char *content, struct formats_setup *setup);

/* kzg_check.c: fails if the decoded groups are not those of a setup. */
pool_status formats_setup_check(const pool_file *file, const struct formats_setup *setup);

#endif
