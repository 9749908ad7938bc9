/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and functions: signature, launch directives, and the body where there is one. */
#include "sim/ptx/parser.h"

#include <string.h>

enum {
    MAX_FORMALS = 4096,
    /* Real devices take 4 KiB, since compute capability 7.0 32,764 bytes. */
    MAX_PARAMETER_BYTES = 32764
};

static struct ptx_symbol *parse_formal(struct ptx_parser *parser, bool is_entry)
{
    if (ptx_accept_word(parser, ".reg")) {
        if (is_entry)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "register as kernel parameter");
        struct ptx_symbol *s = ptx_parse_variable(parser, PTX_SPACE_NONE, false, true);
        s->kind = PTX_SYMBOL_REGISTER;
        s->is_register = true;
        return s;
    }
    if (!ptx_accept_word(parser, ".param"))
        ptx_unexpected(parser, "'.param'");
    struct ptx_symbol *s = ptx_parse_variable(parser, PTX_PARAM, false, true);
    s->is_entry_parameter = is_entry;
    return s;
}

static struct ptx_symbol **parse_formals(struct ptx_parser *parser, bool is_entry, uint32_t *count)
{
    struct ptx_symbol **formals = NULL;
    uint32_t room = 0;
    *count = 0;
    ptx_expect_mark(parser, '(');
    if (ptx_accept_mark(parser, ')'))
        return NULL;
    do {
        if (*count == MAX_FORMALS)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "too many parameters");
        formals = ptx_grow(parser, formals, *count, &room, sizeof(*formals));
        formals[(*count)++] = parse_formal(parser, is_entry);
    } while (ptx_accept_mark(parser, ','));
    ptx_expect_mark(parser, ')');
    return formals;
}

static void skip_parentheses(struct ptx_parser *parser)
{
    ptx_expect_mark(parser, '(');
    while (!ptx_is_mark(parser, ')')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "')'");
        ptx_advance(parser);
    }
    ptx_advance(parser);
}

/* The function symbol stands in the module's scope, so its name is read before its results are. */
static struct ptx_function *find_or_add(struct ptx_parser *parser, bool is_entry)
{
    const struct ptx_token *t = &parser->token;
    if (t->kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "name of a function");
    struct ptx_symbol *s = ptx_symbol_find(parser, t->text, t->length);
    if (s && (s->kind != PTX_SYMBOL_FUNCTION || parser->functions[s->id]->is_entry != is_entry))
        ptx_fail(parser, SIM_LOAD_INVALID, t->line, "'%.*s' is declared twice",
            (int)(t->length < 80 ? t->length : 80), t->text);
    if (s)
        return parser->functions[s->id];
    s = ptx_symbol_add(parser, t->text, t->length, PTX_SYMBOL_FUNCTION);
    struct ptx_function *f = ptx_alloc(parser, sizeof(*f));
    f->name = ptx_text(parser, t->text, t->length);
    f->line = t->line;
    f->is_entry = is_entry;
    f->max_threads = 1024;
    parser->functions = ptx_grow(parser, parser->functions, parser->function_count,
        &parser->function_room, sizeof(*parser->functions));
    f->index = s->id = parser->function_count;
    parser->functions[parser->function_count++] = f;
    return f;
}

static void parse_three(struct ptx_parser *parser, uint32_t values[3])
{
    for (int i = 0; i < 3; i++) {
        values[i] = 1;
        if (i == 0 || ptx_accept_mark(parser, ',')) {
            uint64_t value = ptx_expect_integer(parser);
            values[i] = value > 65535 ? 65535 : (uint32_t)value;
        }
    }
}

static void bound_threads(struct ptx_function *f, const uint32_t values[3])
{
    uint64_t product = (uint64_t)values[0] * values[1] * values[2];
    f->bound_threads = product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
    f->max_threads = product > 1024 || product == 0 ? 1024 : (uint32_t)product;
}

static void parse_directives(struct ptx_parser *parser, struct ptx_function *f)
{
    uint32_t three[3];
    for (;;) {
        if (ptx_accept_word(parser, ".maxntid")) {
            parse_three(parser, three);
            bound_threads(f, three);
        } else if (ptx_accept_word(parser, ".reqntid")) {
            parse_three(parser, f->required);
            bound_threads(f, f->required);
        } else if (ptx_accept_word(parser, ".minnctapersm")) {
            f->min_blocks = (uint32_t)ptx_expect_integer(parser);
        } else if (ptx_accept_word(parser, ".maxnreg") ||
                   ptx_accept_word(parser, ".maxnctapersm") ||
                   ptx_accept_word(parser, ".abi_preserve") ||
                   ptx_accept_word(parser, ".abi_preserve_control")) {
            ptx_expect_integer(parser);
        } else if (!ptx_accept_word(parser, ".noreturn") && !ptx_skip_debug(parser)) {
            return;
        }
    }
}

static void place_parameters(struct ptx_parser *parser, struct ptx_function *f)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < f->formal_count; i++) {
        struct ptx_symbol *s = f->formals[i];
        offset = (offset + s->align - 1) / s->align * s->align;
        s->offset = offset;
        offset += s->size;
        if (offset > MAX_PARAMETER_BYTES)
            ptx_fail(parser, SIM_LOAD_INVALID, s->line, "parameters beyond %d bytes",
                MAX_PARAMETER_BYTES);
    }
    f->parameter_bytes = (uint32_t)offset;
}

void ptx_parse_function(struct ptx_parser *parser, bool is_entry, bool is_extern)
{
    struct ptx_lexer lexer = parser->lexer;
    struct ptx_token token = parser->token;
    bool has_results = ptx_is_mark(parser, '(');
    (void)is_extern;
    if (has_results)
        skip_parentheses(parser);
    struct ptx_function *f = find_or_add(parser, is_entry);
    struct ptx_function before = *f;
    parser->function = f;
    /* Registers of formals belong to the declaration in hand. */
    if (!f->has_body)
        f->register_count = 0;
    ptx_scope_open(parser);
    if (has_results) {
        struct ptx_lexer after = parser->lexer;
        struct ptx_token name = parser->token;
        parser->lexer = lexer;
        parser->token = token;
        f->results = parse_formals(parser, false, &f->result_count);
        parser->lexer = after;
        parser->token = name;
    }
    ptx_advance(parser);
    if (ptx_is_mark(parser, '('))
        f->formals = parse_formals(parser, is_entry, &f->formal_count);
    parse_directives(parser, f);
    place_parameters(parser, f);
    if (ptx_is_mark(parser, '{')) {
        if (before.has_body)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "'%s' has two bodies", f->name);
        f->has_body = true;
        f->line = parser->token.line;
        ptx_parse_body(parser, f);
    } else {
        ptx_expect_mark(parser, ';');
        if (before.has_body)
            *f = before;
    }
    ptx_scope_close(parser);
    parser->function = NULL;
}

/* name : .callprototype ( … ) _ ( … ) ; — the call itself lists the same sizes. */
void ptx_parse_prototype(struct ptx_parser *parser)
{
    while (!ptx_is_mark(parser, ';')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "';'");
        ptx_advance(parser);
    }
    ptx_advance(parser);
}
