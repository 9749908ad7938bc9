/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and functions: signatures, launch directives and bodies. */
#include "driver/sim/ptx/parser.h"

#include "base/math.h"

#include <string.h>

enum {
    MAX_FORMALS = 4096,
    /* The limit of real devices: 4 KiB, and 32,764 bytes since compute capability 7.0. */
    MAX_PARAMETER_BYTES = 32764
};

static struct ptx_symbol *parse_formal(struct ptx_parser *parser, bool is_entry)
{
    if (ptx_accept_word(parser, ".reg")) {
        if (is_entry)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "register as kernel parameter");
        struct ptx_symbol *symbol = ptx_parse_variable(parser, PTX_SPACE_NONE, false, true);
        symbol->kind = PTX_SYMBOL_REGISTER;
        symbol->is_register = true;
        return symbol;
    }
    if (!ptx_accept_word(parser, ".param"))
        ptx_unexpected(parser, "'.param'");
    struct ptx_symbol *symbol = ptx_parse_variable(parser, PTX_PARAM, false, true);
    symbol->is_entry_parameter = is_entry;
    return symbol;
}

static struct ptx_symbol **parse_formals(struct ptx_parser *parser, bool is_entry, uint32_t *count)
{
    struct ptx_symbol **formals = NULL;
    uint32_t capacity = 0;
    *count = 0;
    ptx_expect_mark(parser, '(');
    if (ptx_accept_mark(parser, ')'))
        return NULL;
    do {
        if (*count == MAX_FORMALS)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "too many parameters");
        formals = ptx_grow(parser, formals, *count, &capacity, sizeof(*formals));
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

/* The function's symbol belongs to the module's scope, so its name is parsed before its results. */
static struct ptx_function *find_or_add_function(struct ptx_parser *parser, bool is_entry)
{
    const struct ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "name of a function");
    struct ptx_symbol *symbol = ptx_symbol_find(parser, token->text, token->length);
    if (symbol && (symbol->kind != PTX_SYMBOL_FUNCTION ||
                      parser->functions[symbol->id]->is_entry != is_entry))
        ptx_fail(parser, SIM_LOAD_INVALID, token->line, "'%.*s' is declared twice",
            (int)base_min(token->length, 80), token->text);
    if (symbol)
        return parser->functions[symbol->id];
    symbol = ptx_symbol_add(parser, token->text, token->length, PTX_SYMBOL_FUNCTION);
    struct ptx_function *function = ptx_alloc(parser, sizeof(*function));
    function->name = ptx_copy_string(parser, token->text, token->length);
    function->line = token->line;
    function->is_entry = is_entry;
    function->max_threads = 1024;
    parser->functions = ptx_grow(parser, parser->functions, parser->function_count,
        &parser->function_capacity, sizeof(*parser->functions));
    function->index = symbol->id = parser->function_count;
    parser->functions[parser->function_count++] = function;
    return function;
}

static void parse_dimensions(struct ptx_parser *parser, uint32_t values[3])
{
    for (int i = 0; i < 3; i++) {
        values[i] = 1;
        if (i == 0 || ptx_accept_mark(parser, ',')) {
            uint64_t value = ptx_expect_integer(parser);
            values[i] = value > 65535 ? 65535 : (uint32_t)value;
        }
    }
}

static void set_max_threads(struct ptx_function *function, const uint32_t values[3])
{
    uint64_t product = (uint64_t)values[0] * values[1] * values[2];
    function->bound_threads = product > UINT32_MAX ? UINT32_MAX : (uint32_t)product;
    function->max_threads = product > 1024 || product == 0 ? 1024 : (uint32_t)product;
}

static void parse_directives(struct ptx_parser *parser, struct ptx_function *function)
{
    uint32_t three[3];
    for (;;) {
        if (ptx_accept_word(parser, ".maxntid")) {
            parse_dimensions(parser, three);
            set_max_threads(function, three);
        } else if (ptx_accept_word(parser, ".reqntid")) {
            parse_dimensions(parser, function->required);
            set_max_threads(function, function->required);
        } else if (ptx_accept_word(parser, ".minnctapersm")) {
            function->min_blocks = (uint32_t)ptx_expect_integer(parser);
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

static void lay_out_parameters(struct ptx_parser *parser, struct ptx_function *function)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < function->formal_count; i++) {
        struct ptx_symbol *symbol = function->formals[i];
        offset = base_round_up(offset, symbol->align);
        symbol->offset = offset;
        offset += symbol->size;
        if (offset > MAX_PARAMETER_BYTES)
            ptx_fail(parser, SIM_LOAD_INVALID, symbol->line, "parameters beyond %d bytes",
                MAX_PARAMETER_BYTES);
    }
    function->parameter_bytes = (uint32_t)offset;
}

void ptx_parse_function(struct ptx_parser *parser, bool is_entry, bool is_extern)
{
    struct ptx_lexer lexer = parser->lexer;
    struct ptx_token token = parser->token;
    bool has_results = ptx_is_mark(parser, '(');
    (void)is_extern;
    if (has_results)
        skip_parentheses(parser);
    struct ptx_function *function = find_or_add_function(parser, is_entry);
    struct ptx_function before = *function;
    parser->function = function;
    /* Registers of formal parameters belong to the current declaration only. */
    if (!function->has_body)
        function->register_count = 0;
    ptx_scope_open(parser);
    if (has_results) {
        struct ptx_lexer after = parser->lexer;
        struct ptx_token name = parser->token;
        parser->lexer = lexer;
        parser->token = token;
        function->results = parse_formals(parser, false, &function->result_count);
        parser->lexer = after;
        parser->token = name;
    }
    ptx_advance(parser);
    if (ptx_is_mark(parser, '('))
        function->formals = parse_formals(parser, is_entry, &function->formal_count);
    parse_directives(parser, function);
    lay_out_parameters(parser, function);
    if (ptx_is_mark(parser, '{')) {
        if (before.has_body)
            ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "'%s' has two bodies",
                function->name);
        function->has_body = true;
        function->line = parser->token.line;
        ptx_parse_body(parser, function);
    } else {
        ptx_expect_mark(parser, ';');
        if (before.has_body)
            *function = before;
    }
    ptx_scope_close(parser);
    parser->function = NULL;
}

/* name : .callprototype ( … ) _ ( … ) ; the call itself lists the same sizes. */
void ptx_parse_prototype(struct ptx_parser *parser)
{
    while (!ptx_is_mark(parser, ';')) {
        if (parser->token.kind == PTX_TOKEN_END)
            ptx_unexpected(parser, "';'");
        ptx_advance(parser);
    }
    ptx_advance(parser);
}
