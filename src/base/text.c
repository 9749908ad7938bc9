/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formatting of numbers for messages, and strings that the caller owns.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include <devicepool/status.h>

#include "base/alloc.h"

struct base_size_text base_size_text(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct base_size_text made;
    int unit = 0;
    uint64_t scale = 1024;

    if (bytes < 10240 && (bytes % 1024 || !bytes)) {
        snprintf(made.text, sizeof(made.text), "%d byte%s", (int)bytes, base_plural(bytes));
        return made;
    }
    while (unit < 5 && bytes / 1024 >= scale) {
        scale *= 1024;
        unit++;
    }
    if (bytes % scale == 0)
        snprintf(made.text, sizeof(made.text), "%d %s", (int)(bytes / scale), units[unit]);
    else
        snprintf(made.text, sizeof(made.text), "%.2f %s (%llu bytes)",
            (double)bytes / (double)scale, units[unit], (unsigned long long)bytes);
    return made;
}

void base_text_copy(char *to, size_t size, const char *text)
{
    static const char mark[] = "…";
    size_t length = strlen(text);

    if (length < size) {
        memcpy(to, text, length + 1);
        return;
    }
    length = size - sizeof(mark);
    for (size_t at = length; at > length / 2; at--)
        if (text[at] == ' ' || text[at] == '\n') {
            length = at;
            break;
        }
    /* Without a space near the end: at least no part of a UTF-8 character. */
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    memcpy(to, text, length);
    memcpy(to + length, mark, sizeof(mark));
}

void pool_text_free(char **text)
{
    if (!text)
        return;
    base_free(*text);
    *text = NULL;
}

/* Bytes of the UTF-8 character at `text`, 0 if it is none; *code is the character. */
static size_t read_character(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t count = *text < 0x80             ? 1
                   : (*text & 0xe0) == 0xc0 ? 2
                   : (*text & 0xf0) == 0xe0 ? 3
                   : (*text & 0xf8) == 0xf0 ? 4
                                            : 0;

    *code = count == 1 ? *text : *text & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xc0) != 0x80) /* also at the terminating zero */
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    if (count && (*code < least[count] || *code > 0x10ffff || (*code >> 11) == 0x1b))
        return 0; /* overlong, beyond Unicode, or a surrogate */
    return count;
}

size_t base_text_printable(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t code;

    while (*at) {
        size_t count = read_character(at, &code);

        if (!count || code < 0x20 || (code >= 0x7f && code < 0xa0))
            break;
        at += count;
    }
    return (size_t)(at - (const unsigned char *)text);
}

void base_text_make_printable(char *text, const char *kept)
{
    for (char *at = text + base_text_printable(text); *at; at += base_text_printable(at)) {
        uint32_t code;
        const size_t count = read_character((const unsigned char *)at, &code);

        if (count == 1 && strchr(kept, *at)) {
            at++;
            continue;
        }
        if (count > 1) /* one of C1 */
            memmove(at + 1, at + count, strlen(at + count) + 1);
        *at++ = '?';
    }
}
