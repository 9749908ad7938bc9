/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of variables in every state space, with their initialisers, and of registers. */
#include "driver/sim/ptx/parser.h"

#include "base/math.h"

#include <string.h>

/* Larger than any device's memory; keeps sums of sizes far from overflow. */
#define VARIABLE_LIMIT (UINT64_C(1) << 40)

static enum ptx_type parse_type(struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->token;
    enum ptx_type type = PTX_NONE;
    if (token->kind == PTX_TOKEN_WORD && token->length > 1 && token->text[0] == '.')
        type = ptx_type_find(token->text + 1, token->length - 1);
    if (type == PTX_NONE) {
        if (token->kind != PTX_TOKEN_WORD)
            ptx_unexpected(parser, "type");
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, token->line, "type '%.*s' is not supported",
            (int)base_min(token->length, 60), token->text);
    }
    ptx_advance(parser);
    return type;
}

static uint32_t parse_vector_size(struct ptx_parser *parser)
{
    if (ptx_accept_word(parser, ".v2"))
        return 2;
    if (ptx_accept_word(parser, ".v4"))
        return 4;
    return ptx_accept_word(parser, ".v8") ? 8 : 1;
}

static uint32_t parse_align(struct ptx_parser *parser)
{
    uint64_t align = ptx_expect_integer(parser);
    if (align > 65536 || !base_is_power_of_two(align))
        ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "alignment is not a power of two");
    return (uint32_t)align;
}

/* Parses dimensions [4][8] to their product; an empty first bracket takes the size from the
 * initialiser. */
static void parse_dimensions(struct ptx_parser *parser, struct ptx_symbol *symbol, uint32_t item)
{
    symbol->size = item;
    while (ptx_accept_mark(parser, '[')) {
        if (ptx_accept_mark(parser, ']')) {
            symbol->size = 0;
            continue;
        }
        uint64_t count = ptx_expect_integer(parser);
        ptx_expect_mark(parser, ']');
        if (count > VARIABLE_LIMIT || symbol->size * count > VARIABLE_LIMIT)
            ptx_fail(parser, SIM_LOAD_INVALID, symbol->line, "variable is too large");
        symbol->size *= count;
    }
}

static void add_initial(struct ptx_parser *parser, struct ptx_symbol *s, uint64_t offset,
    uint64_t value, const struct ptx_symbol *symbol, uint32_t size, uint32_t shift)
{
    struct ptx_initial *initial = ptx_alloc(parser, sizeof(*initial));
    *initial = (struct ptx_initial){offset, value, symbol, size, shift, NULL};
    *s->initial_end = initial;
    s->initial_end = &initial->next;
}

static uint64_t float_bits(const struct ptx_token *token, enum ptx_type type)
{
    uint64_t bits = token->value;
    if (token->kind == PTX_TOKEN_FLOAT64 && type == PTX_F32) {
        double wide;
        memcpy(&wide, &bits, sizeof(wide));
        float narrow = (float)wide;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
        return narrow_bits;
    }
    if (token->kind == PTX_TOKEN_FLOAT32 && type == PTX_F64) {
        uint32_t narrow_bits = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof(narrow));
        double wide = (double)narrow;
        memcpy(&bits, &wide, sizeof(bits));
    }
    return bits;
}

static void parse_address(struct ptx_parser *parser, struct ptx_symbol *symbol, uint64_t offset,
    uint32_t size, uint32_t shift)
{
    bool is_generic = ptx_accept_word(parser, "generic");
    if (is_generic)
        ptx_expect_mark(parser, '(');
    if (parser->token.kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "initial value");
    struct ptx_symbol *target = ptx_symbol_find(parser, parser->token.text, parser->token.length);
    if (!target || (target->kind != PTX_SYMBOL_VARIABLE && target->kind != PTX_SYMBOL_FUNCTION))
        ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line,
            "initialiser names '%.*s', which is not declared",
            (int)base_min(parser->token.length, 80), parser->token.text);
    if (target->kind == PTX_SYMBOL_VARIABLE && target->space != PTX_GLOBAL &&
        target->space != PTX_CONST)
        ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "initialiser is no global address");
    if (target->kind == PTX_SYMBOL_FUNCTION)
        parser->functions[target->id]->is_address_taken = true;
    ptx_advance(parser);
    uint64_t addend = 0;
    bool is_minus = ptx_is_mark(parser, '-');
    if (is_minus || ptx_is_mark(parser, '+')) {
        ptx_advance(parser);
        addend = ptx_expect_integer(parser);
        addend = is_minus ? 0 - addend : addend;
    }
    if (is_generic)
        ptx_expect_mark(parser, ')');
    /* [generic(x)+8] is also written generic(x)+8. */
    if (is_generic && ptx_accept_mark(parser, '+'))
        addend += ptx_expect_integer(parser);
    add_initial(parser, symbol, offset, addend, target, size, shift);
}

/* 0xFF0000(name): one byte of an address, used in packed structures. */
static void parse_value(struct ptx_parser *parser, struct ptx_symbol *symbol, uint64_t offset)
{
    uint32_t size = ptx_type_size(symbol->type);
    bool is_minus = ptx_accept_mark(parser, '-');
    struct ptx_token token = parser->token;
    if (token.kind == PTX_TOKEN_WORD && !is_minus) {
        parse_address(parser, symbol, offset, size, 0);
        return;
    }
    ptx_advance(parser);
    if (token.kind == PTX_TOKEN_INTEGER && !is_minus && ptx_accept_mark(parser, '(')) {
        uint32_t shift = 0;
        while (shift < 64 && token.value != 0 && !(token.value >> shift & 0xff))
            shift += 8;
        parse_address(parser, symbol, offset, size, shift);
        ptx_expect_mark(parser, ')');
        return;
    }
    if (token.kind == PTX_TOKEN_FLOAT32 || token.kind == PTX_TOKEN_FLOAT64) {
        uint64_t bits = float_bits(&token, symbol->type);
        uint64_t sign = is_minus && size ? UINT64_C(1) << (size * 8 - 1) : 0;
        add_initial(parser, symbol, offset, bits ^ sign, NULL, size, 0);
    } else if (token.kind == PTX_TOKEN_INTEGER) {
        add_initial(
            parser, symbol, offset, is_minus ? 0 - token.value : token.value, NULL, size, 0);
    } else {
        parser->token = token;
        ptx_unexpected(parser, "initial value");
    }
}

/* Nested braces are flattened: all known producers of PTX write complete rows. */
static void parse_initialiser(struct ptx_parser *parser, struct ptx_symbol *symbol, bool is_open)
{
    uint32_t size = ptx_type_size(symbol->type);
    uint64_t offset = 0;
    uint32_t depth = 0;
    do {
        while (ptx_accept_mark(parser, '{'))
            depth++;
        if (!ptx_is_mark(parser, '}')) {
            if (!is_open && offset + size > symbol->size)
                ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "too many initial values");
            parse_value(parser, symbol, offset);
            offset += size;
        }
        while (depth > 0 && ptx_accept_mark(parser, '}'))
            depth--;
    } while (depth > 0 && ptx_accept_mark(parser, ','));
    if (depth != 0)
        ptx_unexpected(parser, "'}'");
    if (is_open)
        symbol->size = offset;
}

static void place_local(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    struct ptx_function *function = parser->function;
    if (symbol->space == PTX_LOCAL) {
        uint64_t offset = base_round_up(function->local_bytes, symbol->align);
        if (offset + symbol->size > (1u << 20))
            ptx_fail(
                parser, SIM_LOAD_INVALID, symbol->line, "local variables beyond 1 MiB a thread");
        symbol->offset = offset;
        function->local_bytes = (uint32_t)(offset + symbol->size);
    } else if (symbol->space == PTX_PARAM) {
        function->call_parameters =
            ptx_grow(parser, function->call_parameters, function->call_parameter_count,
                &function->call_parameter_capacity, sizeof(*function->call_parameters));
        function->call_parameters[function->call_parameter_count++] = symbol;
    }
}

static void place_variable(struct ptx_parser *parser, struct ptx_symbol *symbol, bool is_formal)
{
    if (symbol->space == PTX_GLOBAL || symbol->space == PTX_CONST) {
        parser->variables = ptx_grow(parser, parser->variables, parser->variable_count,
            &parser->variable_capacity, sizeof(*parser->variables));
        symbol->id = parser->variable_count;
        parser->variables[parser->variable_count++] = symbol;
    } else if (symbol->space == PTX_SHARED) {
        if (symbol->size > (1u << 24))
            ptx_fail(parser, SIM_LOAD_INVALID, symbol->line, "shared variable beyond 16 MiB");
        parser->shared = ptx_grow(parser, parser->shared, parser->shared_count,
            &parser->shared_capacity, sizeof(*parser->shared));
        symbol->id = parser->shared_count;
        parser->shared[parser->shared_count++] = symbol;
    } else if (!is_formal) {
        if (!parser->function)
            ptx_fail(parser, SIM_LOAD_UNSUPPORTED, symbol->line,
                "variable of a function's space outside any function");
        place_local(parser, symbol);
    }
}

/* Attributes between the state space and the name: .align 8 .v2 .b8 and, for pointers, .ptr
 * .global .align 16. */
static enum ptx_type parse_attributes(
    struct ptx_parser *parser, uint32_t *align, uint32_t *elements)
{
    enum ptx_type type = PTX_NONE;
    for (;;) {
        if (ptx_accept_word(parser, ".align")) {
            uint32_t given = parse_align(parser);
            *align = type == PTX_NONE ? given : *align;
        } else if (ptx_is_word(parser, ".v2") || ptx_is_word(parser, ".v4") ||
                   ptx_is_word(parser, ".v8")) {
            *elements = parse_vector_size(parser);
        } else if (type != PTX_NONE &&
                   (ptx_accept_word(parser, ".ptr") || ptx_accept_word(parser, ".global") ||
                       ptx_accept_word(parser, ".shared") || ptx_accept_word(parser, ".const") ||
                       ptx_accept_word(parser, ".local"))) {
            continue;
        } else if (ptx_accept_word(parser, ".attribute")) {
            ptx_expect_mark(parser, '(');
            while (!ptx_accept_mark(parser, ')')) {
                if (parser->token.kind == PTX_TOKEN_END)
                    ptx_unexpected(parser, "')'");
                ptx_advance(parser);
            }
        } else if (type == PTX_NONE) {
            type = parse_type(parser);
        } else {
            return type;
        }
    }
}

struct ptx_symbol *ptx_parse_variable(
    struct ptx_parser *parser, enum ptx_space space, bool is_extern, bool is_formal)
{
    uint32_t align = 0, elements = 1;
    enum ptx_type type = parse_attributes(parser, &align, &elements);
    if (parser->token.kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "name");
    if (type == PTX_PRED && space != PTX_SPACE_NONE)
        ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "predicates have no address");
    const struct ptx_symbol *old =
        ptx_symbol_in_scope(parser, parser->token.text, parser->token.length);
    if (old && !(old->kind == PTX_SYMBOL_VARIABLE && old->is_extern) &&
        !(is_formal && old->length == 1 && old->name[0] == '_'))
        ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "'%.*s' is declared twice",
            (int)base_min(parser->token.length, 80), parser->token.text);
    struct ptx_symbol *symbol =
        ptx_symbol_add(parser, parser->token.text, parser->token.length, PTX_SYMBOL_VARIABLE);
    symbol->type = type;
    symbol->space = space;
    symbol->elements = elements;
    symbol->is_extern = is_extern;
    symbol->initial_end = &symbol->initial;
    uint32_t item = ptx_type_size(type) * elements;
    uint32_t natural = align ? ptx_type_size(type) : item;
    symbol->align = align > natural ? align : (natural ? natural : 1);
    ptx_advance(parser);
    parse_dimensions(parser, symbol, item);
    if (!is_formal && ptx_accept_mark(parser, '=')) {
        if (space != PTX_GLOBAL && space != PTX_CONST)
            ptx_fail(
                parser, SIM_LOAD_INVALID, symbol->line, "only .global and .const are initialised");
        parse_initialiser(parser, symbol, symbol->size == 0);
    }
    place_variable(parser, symbol, is_formal);
    return symbol;
}

void ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, bool is_extern)
{
    if (ptx_accept_mark(parser, '[')) { /* .const[2] banks of old PTX versions */
        ptx_expect_integer(parser);
        ptx_expect_mark(parser, ']');
    }
    ptx_parse_variable(parser, space, is_extern, false);
    if (ptx_is_mark(parser, ','))
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
            "several variables in one declaration");
    ptx_expect_mark(parser, ';');
}

static void add_register(struct ptx_parser *parser, enum ptx_type type)
{
    const struct ptx_token name = parser->token;
    if (name.kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "register name");
    ptx_advance(parser);
    bool is_range = ptx_accept_mark(parser, '<');
    const struct ptx_symbol *old = ptx_symbol_in_scope(parser, name.text, name.length);
    if (old)
        ptx_fail(parser, SIM_LOAD_INVALID, name.line, "'%.*s' is declared twice",
            (int)base_min(name.length, 80), name.text);
    struct ptx_symbol *symbol = ptx_symbol_add(
        parser, name.text, name.length, is_range ? PTX_SYMBOL_RANGE : PTX_SYMBOL_REGISTER);
    symbol->type = type;
    if (!is_range) {
        symbol->id = ptx_register_new(parser, type);
        return;
    }
    uint64_t count = ptx_expect_integer(parser);
    ptx_expect_mark(parser, '>');
    if (count > parser->register_budget)
        ptx_fail(
            parser, SIM_LOAD_INVALID, name.line, "more registers than any text this long uses");
    parser->register_budget -= count;
    symbol->count = (uint32_t)count;
    symbol->ids = ptx_alloc(parser, (size_t)count * sizeof(*symbol->ids));
}

void ptx_parse_registers(struct ptx_parser *parser)
{
    uint32_t line = parser->token.line;
    if (parse_vector_size(parser) != 1)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, line, "vector registers");
    enum ptx_type type = parse_type(parser);
    if (parse_vector_size(parser) != 1)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, line, "vector registers");
    do
        add_register(parser, type);
    while (ptx_accept_mark(parser, ','));
    ptx_expect_mark(parser, ';');
}
