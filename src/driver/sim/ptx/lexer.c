/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer reads the source in one pass and copies nothing. */
#include "driver/sim/ptx/lexer.h"

#include <stdlib.h>
#include <string.h>

enum { CLASS_SPACE = 1, CLASS_DIGIT = 2, CLASS_HEX = 4, CLASS_LETTER = 8, CLASS_WORD = 16 };

/* Character classes. A letter starts a word; dots and digits continue it, so a mnemonic is one
 * token. */
static uint8_t class_of(char c)
{
    unsigned char u = (unsigned char)c;
    if (u == ' ' || (u >= '\t' && u <= '\r'))
        return CLASS_SPACE;
    if (u >= '0' && u <= '9')
        return CLASS_DIGIT | CLASS_HEX | CLASS_WORD;
    if ((u >= 'a' && u <= 'f') || (u >= 'A' && u <= 'F'))
        return CLASS_HEX | CLASS_LETTER | CLASS_WORD;
    if ((u >= 'g' && u <= 'z') || (u >= 'G' && u <= 'Z') || u == '_' || u == '$' || u == '%')
        return CLASS_LETTER | CLASS_WORD;
    if (u == '.')
        return CLASS_LETTER | CLASS_WORD;
    return 0;
}

void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == '\0')
        length--;
    lexer->next = text;
    lexer->end = text + length;
    lexer->line = 1;
}

void ptx_lexer_skip_line(struct ptx_lexer *lexer)
{
    const char *stop = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
    lexer->next = stop ? stop : lexer->end;
}

static void skip_block_comment(struct ptx_lexer *lexer)
{
    const char *p = lexer->next + 2;
    while (p < lexer->end) {
        if (*p == '\n')
            lexer->line++;
        if (*p == '*' && lexer->end - p >= 2 && p[1] == '/') {
            lexer->next = p + 2;
            return;
        }
        p++;
    }
    lexer->next = lexer->end;
}

static void skip_space(struct ptx_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '\n')
            lexer->line++;
        if (class_of(c) == CLASS_SPACE) {
            lexer->next++;
        } else if (c == '/' && lexer->end - lexer->next >= 2 && lexer->next[1] == '/') {
            ptx_lexer_skip_line(lexer);
        } else if (c == '/' && lexer->end - lexer->next >= 2 && lexer->next[1] == '*') {
            skip_block_comment(lexer);
        } else {
            return;
        }
    }
}

static void read_word(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *p = lexer->next + 1;
    /* .reg.b32 is two words; mad.lo.u32 is one. */
    bool is_directive = *lexer->next == '.';
    for (;;) {
        while (p < lexer->end && (class_of(*p) & CLASS_WORD) && !(is_directive && *p == '.'))
            p++;
        /* A double colon is part of a mnemonic (L1::evict_last); a single colon ends a label. */
        if (lexer->end - p >= 3 && p[0] == ':' && p[1] == ':' && (class_of(p[2]) & CLASS_WORD))
            p += 2;
        else
            break;
    }
    token->kind = PTX_TOKEN_WORD;
    token->length = (uint32_t)(p - lexer->next);
    lexer->next = p;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Reads digits of one base; false when there are none or the value exceeds 64 bits. */
static bool read_digits(struct ptx_lexer *lexer, unsigned base, uint64_t *value)
{
    uint64_t sum = 0;
    bool any = false, fits = true;
    while (lexer->next < lexer->end && (unsigned)digit_value(*lexer->next) < base) {
        uint64_t digit = (uint64_t)digit_value(*lexer->next++);
        fits = fits && sum <= (UINT64_MAX - digit) / base;
        sum = sum * base + digit;
        any = true;
    }
    *value = sum;
    return any && fits;
}

static void read_decimal_float(struct ptx_lexer *lexer, struct ptx_token *token)
{
    char copy[64];
    size_t left = (size_t)(lexer->end - token->text);
    size_t length = left < sizeof(copy) - 1 ? left : sizeof(copy) - 1;
    memcpy(copy, token->text, length);
    copy[length] = '\0';
    char *stop = copy;
    double number = strtod(copy, &stop);
    memcpy(&token->value, &number, sizeof(number));
    token->kind = PTX_TOKEN_FLOAT64;
    lexer->next = token->text + (stop - copy);
}

static bool is_decimal_float(const struct ptx_lexer *lexer, const char *start)
{
    const char *p = start;
    while (p < lexer->end && *p >= '0' && *p <= '9')
        p++;
    return p < lexer->end && (*p == '.' || *p == 'e' || *p == 'E') && p > start;
}

static void read_number(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *start = lexer->next;
    char second = lexer->end - start >= 2 ? start[1] : '\0';
    bool ok;
    token->kind = PTX_TOKEN_INTEGER;
    if (*start == '0' && (second == 'x' || second == 'X')) {
        lexer->next += 2;
        ok = read_digits(lexer, 16, &token->value);
    } else if (*start == '0' && (second == 'b' || second == 'B')) {
        lexer->next += 2;
        ok = read_digits(lexer, 2, &token->value);
    } else if (*start == '0' && (second == 'f' || second == 'F')) {
        lexer->next += 2;
        ok = read_digits(lexer, 16, &token->value) && lexer->next - start == 10;
        token->kind = PTX_TOKEN_FLOAT32;
    } else if (*start == '0' && (second == 'd' || second == 'D')) {
        lexer->next += 2;
        ok = read_digits(lexer, 16, &token->value) && lexer->next - start == 18;
        token->kind = PTX_TOKEN_FLOAT64;
    } else if (is_decimal_float(lexer, start)) {
        read_decimal_float(lexer, token);
        ok = true;
    } else {
        ok = read_digits(lexer, *start == '0' ? 8 : 10, &token->value);
    }
    if (ok && token->kind == PTX_TOKEN_INTEGER && lexer->next < lexer->end &&
        (*lexer->next == 'U' || *lexer->next == 'u'))
        lexer->next++;
    if (!ok || (lexer->next < lexer->end && (class_of(*lexer->next) & CLASS_WORD)))
        token->kind = PTX_TOKEN_BAD;
    if (lexer->next == start)
        lexer->next++;
    token->length = (uint32_t)(lexer->next - start);
}

static void read_string(struct ptx_lexer *lexer, struct ptx_token *token)
{
    const char *p = lexer->next + 1;
    while (p < lexer->end && *p != '"' && *p != '\n') {
        if (*p == '\\' && lexer->end - p >= 2 && p[1] != '\n')
            p++;
        p++;
    }
    bool is_closed = p < lexer->end && *p == '"';
    token->kind = is_closed ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
    token->text = lexer->next + 1;
    token->length = (uint32_t)(p - lexer->next - 1);
    lexer->next = is_closed ? p + 1 : p;
}

void ptx_lexer_read(struct ptx_lexer *lexer, struct ptx_token *token)
{
    skip_space(lexer);
    token->line = lexer->line;
    token->text = lexer->next;
    token->length = 0;
    token->value = 0;
    if (lexer->next >= lexer->end) {
        token->kind = PTX_TOKEN_END;
        return;
    }
    uint8_t class = class_of(*lexer->next);
    if (class & CLASS_LETTER) {
        read_word(lexer, token);
    } else if (class & CLASS_DIGIT) {
        read_number(lexer, token);
    } else if (*lexer->next == '"') {
        read_string(lexer, token);
    } else {
        token->kind = PTX_TOKEN_MARK;
        token->value = (unsigned char)*lexer->next++;
        token->length = 1;
    }
}
