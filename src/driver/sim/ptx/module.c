/* SPDX-License-Identifier: Apache-2.0 */
/* The top of the grammar (version, target, functions and variables) and the parser's helper
 * functions. */
#include "base/alloc.h"
#include "base/math.h"
#include "base/mix.h"
#include "driver/sim/exec/program.h"
#include "driver/sim/ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ptx_fail(
    struct ptx_parser *parser, enum sim_load result, uint32_t line, const char *format, ...)
{
    parser->error->line = line;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error->text, sizeof(parser->error->text), format, arguments);
    va_end(arguments);
    parser->result = result;
    longjmp(parser->on_error, 1);
}

void *ptx_alloc(struct ptx_parser *parser, size_t size)
{
    void *memory = base_arena_alloc(&parser->scratch, size);
    if (!memory)
        ptx_fail(parser, SIM_LOAD_NO_MEMORY, 0, "no host memory to parse PTX");
    return memory;
}

void *ptx_grow(
    struct ptx_parser *parser, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    uint32_t larger = *capacity ? *capacity * 2 : 16;
    void *moved = ptx_alloc(parser, larger * size);
    if (count)
        memcpy(moved, items, count * size);
    *capacity = larger;
    return moved;
}

const char *ptx_copy_string(struct ptx_parser *parser, const char *text, uint32_t length)
{
    char *copy = base_arena_alloc(&parser->program->arena, (size_t)length + 1);
    if (!copy)
        ptx_fail(parser, SIM_LOAD_NO_MEMORY, 0, "no host memory to parse PTX");
    memcpy(copy, text, length);
    return copy;
}

void ptx_advance(struct ptx_parser *parser)
{
    ptx_lexer_read(&parser->lexer, &parser->token);
}

static bool token_is(const struct ptx_token *token, const char *word)
{
    return token->kind == PTX_TOKEN_WORD && strlen(word) == token->length &&
           memcmp(word, token->text, token->length) == 0;
}

bool ptx_is_word(const struct ptx_parser *parser, const char *word)
{
    return token_is(&parser->token, word);
}

bool ptx_is_mark(const struct ptx_parser *parser, char mark)
{
    return parser->token.kind == PTX_TOKEN_MARK && parser->token.value == (unsigned char)mark;
}

bool ptx_accept_mark(struct ptx_parser *parser, char mark)
{
    if (!ptx_is_mark(parser, mark))
        return false;
    ptx_advance(parser);
    return true;
}

bool ptx_accept_word(struct ptx_parser *parser, const char *word)
{
    if (!ptx_is_word(parser, word))
        return false;
    ptx_advance(parser);
    return true;
}

void ptx_unexpected(struct ptx_parser *parser, const char *wanted)
{
    const struct ptx_token *token = &parser->token;
    if (token->kind == PTX_TOKEN_END)
        ptx_fail(parser, SIM_LOAD_INVALID, token->line, "%s expected, the text ends", wanted);
    char shown[49];
    uint32_t n = (uint32_t)base_min(token->length, 48);
    for (uint32_t i = 0; i < n; i++)
        shown[i] = token->text[i] >= ' ' && token->text[i] < 127 ? token->text[i] : '?';
    shown[n] = '\0';
    ptx_fail(parser, SIM_LOAD_INVALID, token->line, "%s expected before '%s'", wanted, shown);
}

void ptx_expect_mark(struct ptx_parser *parser, char mark)
{
    char wanted[4] = {'\'', mark, '\'', '\0'};
    if (!ptx_accept_mark(parser, mark))
        ptx_unexpected(parser, wanted);
}

uint64_t ptx_expect_integer(struct ptx_parser *parser)
{
    if (parser->token.kind != PTX_TOKEN_INTEGER)
        ptx_unexpected(parser, "number");
    uint64_t value = parser->token.value;
    ptx_advance(parser);
    return value;
}

static void skip_line(struct ptx_parser *parser)
{
    ptx_lexer_skip_line(&parser->lexer);
    ptx_advance(parser);
}

static void skip_to_semicolon(struct ptx_parser *parser)
{
    while (!ptx_is_mark(parser, ';')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "';'");
        ptx_advance(parser);
    }
    ptx_advance(parser);
}

/* ---- source lines ---------------------------------------------------------------------------- */

/* The rest of the line that the lexer has not read; what is malformed there is no error, as nothing
 * depends on it. */
struct rest {
    const char *at, *end;
};

static struct rest rest_of_line(const struct ptx_parser *parser)
{
    const char *at = parser->lexer.next;
    const char *end = memchr(at, '\n', (size_t)(parser->lexer.end - at));

    return (struct rest){at, end ? end : parser->lexer.end};
}

static bool read_number(struct rest *rest, uint32_t *number)
{
    uint64_t value = 0;
    const char *first;

    while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t'))
        rest->at++;
    for (first = rest->at; rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9';
         rest->at++) {
        value = value * 10 + (uint64_t)(*rest->at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *number = (uint32_t)value;
    return rest->at > first;
}

static void add_location(struct ptx_parser *parser, uint32_t file, uint32_t line)
{
    parser->locations = ptx_grow(parser, parser->locations, parser->location_count,
        &parser->location_capacity, sizeof(*parser->locations));
    parser->locations[parser->location_count++] =
        (struct sim_location){parser->token.line, file, line};
}

void ptx_locations_end(struct ptx_parser *parser)
{
    add_location(parser, 0, 0);
}

/* .loc 1 23 5, function_name … */
static void read_location(struct ptx_parser *parser)
{
    struct rest rest = rest_of_line(parser);
    uint32_t file, line;

    if (read_number(&rest, &file) && read_number(&rest, &line))
        add_location(parser, file, line);
}

/* .file 1 "/path/kernel.cu", 0, 0 */
static void read_file(struct ptx_parser *parser)
{
    struct rest rest = rest_of_line(parser);
    const char *first, *last;
    uint32_t number;

    if (!read_number(&rest, &number))
        return;
    first = memchr(rest.at, '"', (size_t)(rest.end - rest.at));
    last = first ? memchr(first + 1, '"', (size_t)(rest.end - first - 1)) : NULL;
    if (!last || last - first > 4096)
        return;
    parser->files = ptx_grow(
        parser, parser->files, parser->file_count, &parser->file_capacity, sizeof(*parser->files));
    parser->files[parser->file_count++] = (struct sim_source_file){
        number, ptx_copy_string(parser, first + 1, (uint32_t)(last - first - 1))};
}

/* Reads or skips debug directives and hints, which do not affect results; returns true when there
 * was one. */
bool ptx_skip_debug(struct ptx_parser *parser)
{
    const bool is_location = ptx_is_word(parser, ".loc");

    if (is_location || ptx_is_word(parser, ".file")) {
        if (is_location)
            read_location(parser);
        else
            read_file(parser);
        skip_line(parser);
        return true;
    }
    if (ptx_is_word(parser, ".pragma")) {
        skip_to_semicolon(parser);
        return true;
    }
    if (!ptx_is_word(parser, ".section"))
        return false;
    while (!ptx_is_mark(parser, '{')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "'{'");
        ptx_advance(parser);
    }
    while (!ptx_is_mark(parser, '}')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "'}'");
        ptx_advance(parser);
    }
    ptx_advance(parser);
    return true;
}

/* .version 9.0: the lexer reads a decimal number; the token's source has the digits. */
static void parse_version(struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->token;
    uint32_t major = 0, minor = 0, i = 0;
    if (token->kind != PTX_TOKEN_FLOAT64 || token->length > 6)
        ptx_unexpected(parser, "version number");
    for (; i < token->length && token->text[i] >= '0' && token->text[i] <= '9'; i++)
        major = major * 10 + (uint32_t)(token->text[i] - '0');
    for (i++; i < token->length && token->text[i] >= '0' && token->text[i] <= '9'; i++)
        minor = minor * 10 + (uint32_t)(token->text[i] - '0');
    parser->version = major * 10 + minor;
    ptx_advance(parser);
}

static void parse_target(struct ptx_parser *parser)
{
    do {
        const struct ptx_token *token = &parser->token;
        if (token->kind != PTX_TOKEN_WORD)
            ptx_unexpected(parser, "target");
        if (token->length > 3 && memcmp(token->text, "sm_", 3) == 0) {
            uint32_t target = 0;
            for (uint32_t i = 3; i < token->length && i < 7; i++)
                if (token->text[i] >= '0' && token->text[i] <= '9')
                    target = target * 10 + (uint32_t)(token->text[i] - '0');
            parser->target = target;
        }
        ptx_advance(parser);
    } while (ptx_accept_mark(parser, ','));
}

static void parse_header(struct ptx_parser *parser)
{
    if (!ptx_accept_word(parser, ".version"))
        ptx_unexpected(parser, "'.version'");
    parse_version(parser);
    if (!ptx_accept_word(parser, ".target"))
        ptx_unexpected(parser, "'.target'");
    parse_target(parser);
    if (ptx_accept_word(parser, ".address_size") && ptx_expect_integer(parser) != 64)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line, "address size other than 64");
}

static bool accept_linkage(struct ptx_parser *parser, bool *is_extern)
{
    bool is_here = ptx_is_word(parser, ".extern");
    if (!is_here && !ptx_is_word(parser, ".visible") && !ptx_is_word(parser, ".weak") &&
        !ptx_is_word(parser, ".common"))
        return false;
    *is_extern = *is_extern || is_here;
    ptx_advance(parser);
    return true;
}

static void parse_item(struct ptx_parser *parser)
{
    bool is_extern = false;
    if (ptx_skip_debug(parser) || ptx_accept_mark(parser, ';'))
        return;
    while (accept_linkage(parser, &is_extern))
        continue;
    if (ptx_accept_word(parser, ".entry"))
        ptx_parse_function(parser, true, is_extern);
    else if (ptx_accept_word(parser, ".func"))
        ptx_parse_function(parser, false, is_extern);
    else if (ptx_accept_word(parser, ".global"))
        ptx_parse_variables(parser, PTX_GLOBAL, is_extern);
    else if (ptx_accept_word(parser, ".const"))
        ptx_parse_variables(parser, PTX_CONST, is_extern);
    else if (ptx_accept_word(parser, ".shared"))
        ptx_parse_variables(parser, PTX_SHARED, is_extern);
    else if (parser->token.kind == PTX_TOKEN_WORD)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
            "directive '%.*s' is not supported", (int)base_min(parser->token.length, 60),
            parser->token.text);
    else
        ptx_unexpected(parser, "directive");
}

static void parse_module(struct ptx_parser *parser)
{
    ptx_advance(parser);
    while (ptx_skip_debug(parser))
        continue;
    parse_header(parser);
    while (parser->token.kind != PTX_TOKEN_END)
        parse_item(parser);
    ptx_lower_module(parser);
    parser->program->version = parser->version;
    parser->program->target = parser->target;
}

static uint64_t digest_of(const char *text, size_t length)
{
    uint64_t digest = length;

    for (size_t at = 0; at < length; at += 8) {
        uint64_t word = 0;

        memcpy(&word, text + at, base_min(length - at, 8));
        digest = base_mix(digest ^ word) + BASE_MIX_STEP;
    }
    return digest;
}

enum sim_load sim_program_parse(
    const char *text, size_t length, struct sim_program **program, struct sim_load_error *error)
{
    struct sim_load_error unused;
    struct ptx_parser *parser = base_calloc(1, sizeof(*parser));
    struct sim_program *made = base_calloc(1, sizeof(*made));
    memset(error ? error : &unused, 0, sizeof(unused));
    if (!parser || !made || length > UINT32_MAX / 2) {
        base_free(parser);
        base_free(made);
        return length > UINT32_MAX / 2 ? SIM_LOAD_INVALID : SIM_LOAD_NO_MEMORY;
    }
    parser->program = made;
    made->digest = digest_of(text, length);
    parser->error = error ? error : &unused;
    parser->register_budget = 1000000 + (uint64_t)length;
    ptx_lexer_start(&parser->lexer, text, length);
    if (setjmp(parser->on_error) == 0)
        parse_module(parser);
    enum sim_load result = parser->result;
    base_arena_free(&parser->scratch);
    if (result == SIM_LOAD_OK)
        *program = parser->program;
    else
        sim_program_free(&parser->program);
    base_free(parser);
    return result;
}
