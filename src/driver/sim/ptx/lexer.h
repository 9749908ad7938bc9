/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer groups PTX source into tokens. It never fails: a character sequence that is no token
 * becomes PTX_TOKEN_BAD, which the parser reports. */
#ifndef SIM_PTX_LEXER_H
#define SIM_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_WORD,    /* a name, %register, $label, .directive, or a complete mnemonic like
                          mad.lo.cc.u32 */
    PTX_TOKEN_INTEGER, /* value */
    PTX_TOKEN_FLOAT32, /* 0f…: bits in value */
    PTX_TOKEN_FLOAT64, /* 0d… or decimal: bits in value */
    PTX_TOKEN_STRING,  /* text without its quotes */
    PTX_TOKEN_MARK,    /* one character of punctuation, in value */
    PTX_TOKEN_BAD
};

struct ptx_token {
    enum ptx_token_kind kind;
    uint32_t line;
    const char *text;
    uint32_t length;
    uint64_t value;
};

struct ptx_lexer {
    const char *next;
    const char *end;
    uint32_t line;
};

void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t length);
void ptx_lexer_read(struct ptx_lexer *lexer, struct ptx_token *token);
/* Skips the rest of the current line: .loc and .file do not end with a semicolon. */
void ptx_lexer_skip_line(struct ptx_lexer *lexer);

#endif
