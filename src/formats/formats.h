/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers of files. Each takes the bytes of a whole file, fills what the header says and adds
 * sections. Nothing in the bytes is believed: every number is compared with the file's size before
 * it is used, and read only once, as the file may change under the mapping. Knows of fields and
 * curves, not of devices.
 */
#ifndef DEVICEPOOL_FORMATS_FORMATS_H
#define DEVICEPOOL_FORMATS_FORMATS_H

#include <devicepool/formats.h>

#include <stdbool.h>

#include "field/field.h"

enum {
    FORMATS_MAX_SECTIONS = 16, /* of a pool_file; a zkey has 13 */
    FORMATS_TYPES = 16,        /* iden3: section types below it are read */
    FORMATS_MAX_POWER = 40,    /* of a ptau: sizes in bytes stay far from overflow */
};

struct pool_file {
    char *path;           /* for texts */
    int descriptor;       /* while it is opened; -1: the bytes are somebody else's, or mapped */
    const uint8_t *bytes; /* NULL for a text, of which only what was decoded stays */
    uint64_t size;
    void *mapping; /* NULL when the bytes are somebody else's */
    void *decoded; /* points that were text */
    pool_field *field;
    pool_curve *curve; /* retained for a raw file, as `field`, which may also have been made */
    pool_file_info info;
    pool_file_section sections[FORMATS_MAX_SECTIONS];
};

/* POOL_ERR_BAD_DATA with the file's name and the place. */
pool_status formats_wrong(const pool_file *file, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* POOL_ERR_UNSUPPORTED with the file's name. */
pool_status formats_unsupported(const pool_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * file.c: copies bytes that are there by file->size. While a file is opened nothing is read from
 * the mapping: a file that becomes shorter meanwhile is POOL_ERR_BAD_DATA, not SIGBUS.
 */
pool_status formats_read_at(const pool_file *file, uint64_t offset, void *to, size_t bytes);

/* file.c: reads bytes that outlive the file. `path` is for texts. */
pool_status formats_open_bytes(const char *path, const uint8_t *bytes, uint64_t size,
    const pool_file_params *params, pool_file **file);

/* ---- iden3 ---------------------------------------------------------------------------------- */

/* A section of the container. */
struct formats_chunk {
    uint64_t offset;
    uint64_t bytes;
    bool present;
};

struct formats_container {
    struct formats_chunk chunks[FORMATS_TYPES];
};

/* container.c: finds all sections; `required` has a bit for each type that may not be missing. */
pool_status formats_read_container(
    pool_file *file, uint32_t max_version, uint32_t required, struct formats_container *container);

/*
 * Whether the chunk has exactly `ahead` bytes and then `count` items of `item_bytes`. `what` are
 * they.
 */
pool_status formats_check_chunk(const pool_file *file, const struct formats_chunk *chunk,
    uint64_t ahead, uint64_t count, uint64_t item_bytes, const char *what);

/*
 * Takes numbers from a chunk one after another. The first that is not wholly there sets `status`;
 * it and all later ones are 0 then.
 */
struct formats_reader {
    const pool_file *file;
    uint64_t at;
    uint64_t end;
    pool_status status;
};

struct formats_reader formats_reader_of(const pool_file *file, const struct formats_chunk *chunk);
/* Copies the next bytes; with `to` NULL they are passed over. Whether they were there. */
bool formats_take(struct formats_reader *reader, void *to, uint64_t bytes, const char *what);
uint32_t formats_take32(struct formats_reader *reader, const char *what);
uint64_t formats_take64(struct formats_reader *reader, const char *what);
/* A prime with its size ahead of it; the size in bytes is returned. */
uint32_t formats_take_prime(struct formats_reader *reader, uint64_t prime[FIELD_MAX_LIMBS]);
/* POOL_OK, the reader's failure, or that of bytes behind what was taken. */
pool_status formats_reader_end(struct formats_reader *reader);

/* ---- fields and curves ---------------------------------------------------------------------- */

/* primes.c: the built-in field of that modulus, or one made from it that the file keeps. */
pool_status formats_set_field(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes);
/* The built-in pairing over that base field, G1 and G2, and its scalar field. */
pool_status formats_set_curves(
    pool_file *file, const uint64_t prime[FIELD_MAX_LIMBS], uint32_t element_bytes);

/* ---- sections ------------------------------------------------------------------------------- */

/* section.c: adds one that lies in the file, checked before. */
pool_file_section *formats_add(pool_file *file, const char *name, pool_file_item item,
    uint64_t offset, uint64_t count, uint64_t stride);
/* Affine points in Montgomery form, one after another. */
pool_file_section *formats_add_points(
    pool_file *file, const char *name, const pool_curve *curve, uint64_t offset, uint64_t count);

/* ---- the formats ---------------------------------------------------------------------------- */

pool_status formats_read_ptau(pool_file *file);
pool_status formats_read_zkey(pool_file *file);
pool_status formats_read_wtns(pool_file *file);
pool_status formats_read_r1cs(pool_file *file);
pool_status formats_read_kzg(pool_file *file);

/* ---- KZG setups ----------------------------------------------------------------------------- */

enum formats_group { FORMATS_LAGRANGE, FORMATS_MONOMIAL, FORMATS_G2, FORMATS_GROUPS };

/* What a setup's text is decoded into: counts first, then the points one by one. */
struct formats_setup {
    uint64_t count[FORMATS_GROUPS];
    uint8_t *points[FORMATS_GROUPS];
};

/* kzg.c: the curve of a group's points. */
const pool_curve *formats_setup_curve(enum formats_group group);
/* Memory for the counted points, kept by the file, and sections over it. The counts have been
 * compared with the file's size. */
pool_status formats_setup_alloc(pool_file *file, struct formats_setup *setup);
/* Takes a 0x ahead off a point's digits and checks their number. NULL or what is wrong with them.
 */
const char *formats_setup_digits(enum formats_group group, const char **text, size_t *length);
/* One point from its hexadecimal digits, 0x ahead of them or not. NULL or what is wrong with it. */
const char *formats_setup_decode(const struct formats_setup *setup, enum formats_group group,
    uint64_t index, const char *text, size_t length);

/* A text of file->size bytes with a zero behind them. */
pool_status formats_read_kzg_text(pool_file *file, const char *text);
pool_status formats_read_kzg_json(pool_file *file, const char *text);

#endif
