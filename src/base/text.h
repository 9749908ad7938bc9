/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as messages write them. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* By value, so that an argument of a message needs no buffer of its own. */
struct base_size_text {
    char text[40];
};

/*
 * "1 byte", "4097 bytes", "64 KiB", "2 GiB"; a size of 10 KiB or more that is not a whole number of
 * KiB has both: "1.50 GiB (1610612737 bytes)".
 */
struct base_size_text base_size_text(uint64_t bytes);

/*
 * Copies a string; one that does not fit is truncated after a word and ends with "…". `to` may be
 * `text` itself only if it fits.
 */
void base_text_copy(char *to, size_t size, const char *text);

/* The index of the first byte that does not belong to a printable UTF-8 character; the length if
 * there is none. Control characters (C0, DEL, C1) are not printable. */
size_t base_text_printable(const char *text);

/* Replaces bytes that do not belong to printable characters by "?", but for those in `kept`. */
void base_text_make_printable(char *text, const char *kept);

/* "s" unless there is one: "%llu element%s". */
static inline const char *base_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
