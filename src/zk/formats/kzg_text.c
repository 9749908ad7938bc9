/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads trusted_setup.txt of c-kzg, words separated by white space: the number of points in G1 and
 * in G2; the points of G1 in Lagrange form, those of G2, and in newer files those of G1 in monomial
 * form.
 */
#include <inttypes.h>
#include <string.h>

#include "zk/curve/curve.h"
#include "zk/formats/formats.h"

enum { MIN_WORD_LENGTH = 96 }; /* of a point */

static const char space[] = " \t\r\n";

struct words {
    const pool_file *file;
    const char *content;
    size_t at;     /* of the current word */
    size_t length; /* of the current word; 0 after the last one */
};

static void next_word(struct words *words)
{
    words->at += words->length;
    words->at += strspn(words->content + words->at, space);
    words->length = strcspn(words->content + words->at, space);
}

static pool_status read_count(struct words *words, const char *what, uint64_t *count)
{
    uint64_t value = 0;

    next_word(words);
    for (size_t i = 0; i < words->length; i++) {
        char c = words->content[words->at + i];

        if (c < '0' || c > '9' || i == 9)
            return formats_fail_data(
                words->file, words->at, "%s is not a number of up to nine digits", what);
        value = 10 * value + (uint64_t)(c - '0');
    }
    if (!value)
        return formats_fail_data(words->file, words->at, "%s is missing or 0", what);
    *count = value;
    return POOL_OK;
}

static uint64_t count_words(struct words words)
{
    uint64_t count = 0;

    for (next_word(&words); words.length; next_word(&words))
        count++;
    return count;
}

/* The number of remaining words determines whether there is a third group. */
static pool_status read_counts(struct words *words, struct formats_setup *setup)
{
    uint64_t *count = setup->count;
    uint64_t left;
    pool_status status = read_count(words, "the number of points in G1", &count[FORMATS_LAGRANGE]);

    if (!status)
        status = read_count(words, "the number of points in G2", &count[FORMATS_G2]);
    if (status)
        return status;
    left = count_words(*words);
    if (left == 2 * count[FORMATS_LAGRANGE] + count[FORMATS_G2])
        count[FORMATS_MONOMIAL] = count[FORMATS_LAGRANGE];
    else if (left != count[FORMATS_LAGRANGE] + count[FORMATS_G2])
        return formats_fail_data(words->file, words->at,
            "%" PRIu64 " points in G1 (twice, or in Lagrange form only) and %" PRIu64
            " in G2 are expected, %" PRIu64 " words follow",
            count[FORMATS_LAGRANGE], count[FORMATS_G2], left);
    if (left > words->file->size / MIN_WORD_LENGTH)
        return formats_fail_data(
            words->file, words->at, "%" PRIu64 " words are too short to be points", left);
    return POOL_OK;
}

static pool_status read_points(
    struct words *words, const struct formats_setup *setup, enum formats_group group)
{
    for (uint64_t i = 0; i < setup->count[group]; i++) {
        const char *wrong;

        next_word(words);
        wrong = formats_setup_decode(setup, group, i, words->content + words->at, words->length);
        if (wrong)
            return formats_fail_data(words->file, words->at, "point %" PRIu64 " of %s %s", i,
                formats_setup_curve(group)->name, wrong);
    }
    return POOL_OK;
}

pool_status formats_read_kzg_text(pool_file *file, const char *content, struct formats_setup *setup)
{
    struct words words = {file, content, 0, 0};
    pool_status status = read_counts(&words, setup);

    if (!status)
        status = formats_setup_alloc(file, setup);
    if (!status)
        status = read_points(&words, setup, FORMATS_LAGRANGE);
    if (!status)
        status = read_points(&words, setup, FORMATS_G2);
    return status ? status : read_points(&words, setup, FORMATS_MONOMIAL);
}
