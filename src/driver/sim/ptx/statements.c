/* SPDX-License-Identifier: Apache-2.0 */
/* Function bodies: blocks, labels, guards, mnemonics and operands. */
#include "driver/sim/ptx/opcodes.h"

#include "base/math.h"
#include "driver/sim/ptx/parser.h"

#include <string.h>

enum { MAX_OPERANDS = 200 };

/*
 * Splits the current mnemonic, once per distinct string, and reports words that it does not know.
 */
static void split_mnemonic(struct ptx_parser *parser, struct ptx_mnemonic *mnemonic)
{
    const char *p = mnemonic->text, *end = mnemonic->text + mnemonic->length;
    const char *dot = memchr(p, '.', mnemonic->length);
    uint32_t stem = (uint32_t)((dot ? dot : end) - p);
    if (ptx_mnemonic_is_refused(mnemonic->text, mnemonic->length))
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
            "'%.*s' is valid PTX that simulated devices do not execute",
            (int)base_min(mnemonic->length, 80), mnemonic->text);
    mnemonic->opcode = ptx_opcode_find(p, stem);
    if (!mnemonic->opcode)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line, "unknown opcode '%.*s'",
            (int)base_min(mnemonic->length, 80), mnemonic->text);
    for (p += stem; p < end;) {
        const char *word = ++p;
        while (p < end && *p != '.')
            p++;
        uint32_t length = (uint32_t)(p - word);
        enum ptx_type type = ptx_type_find(word, length);
        enum ptx_modifier modifier =
            type == PTX_NONE ? ptx_modifier_find(word, length) : PTX_M_NONE;
        if (type == PTX_NONE && modifier == PTX_M_NONE && ptx_word_is_refused(word, length))
            ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
                "'.%.*s' in '%.*s' is valid PTX that simulated devices do not execute", (int)length,
                word, (int)base_min(mnemonic->length, 80), mnemonic->text);
        if ((type == PTX_NONE && modifier == PTX_M_NONE) || mnemonic->type_count == PTX_MAX_TYPES ||
            mnemonic->modifier_count == PTX_MAX_MODIFIERS)
            ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
                "unknown type or modifier '.%.*s' in '%.*s'", (int)base_min(length, 40), word,
                (int)base_min(mnemonic->length, 80), mnemonic->text);
        if (type != PTX_NONE) {
            mnemonic->types[mnemonic->type_count++] = (uint8_t)type;
        } else {
            mnemonic->modifiers[mnemonic->modifier_count++] = (uint8_t)modifier;
            mnemonic->set[modifier / 64] |= UINT64_C(1) << (modifier % 64);
        }
    }
}

static struct ptx_mnemonic *intern_mnemonic(struct ptx_parser *parser)
{
    const struct ptx_token *token = &parser->token;
    uint32_t hash = ptx_hash(token->text, token->length);
    struct ptx_mnemonic **bucket = &parser->mnemonics[hash % PTX_MNEMONIC_BUCKETS];
    for (struct ptx_mnemonic *mnemonic = *bucket; mnemonic; mnemonic = mnemonic->next)
        if (mnemonic->hash == hash && mnemonic->length == token->length &&
            memcmp(mnemonic->text, token->text, token->length) == 0)
            return mnemonic;
    struct ptx_mnemonic *mnemonic = ptx_alloc(parser, sizeof(*mnemonic));
    mnemonic->text = token->text;
    mnemonic->length = token->length;
    mnemonic->hash = hash;
    split_mnemonic(parser, mnemonic);
    mnemonic->next = *bucket;
    *bucket = mnemonic;
    return mnemonic;
}

static struct ptx_operand *new_operand(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    function->operands = ptx_grow(parser, function->operands, function->operand_count,
        &function->operand_capacity, sizeof(*function->operands));
    struct ptx_operand *operand = &function->operands[function->operand_count++];
    memset(operand, 0, sizeof(*operand));
    return operand;
}

static uint32_t add_reference(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    function->references = ptx_grow(parser, function->references, function->reference_count,
        &function->reference_capacity, sizeof(*function->references));
    struct ptx_reference *reference = &function->references[function->reference_count];
    reference->name = parser->token.text;
    reference->length = parser->token.length;
    reference->line = parser->token.line;
    reference->scope = parser->scope_ids[parser->depth];
    return function->reference_count++;
}

static uint64_t parse_signed_integer(struct ptx_parser *parser)
{
    bool is_minus = ptx_accept_mark(parser, '-');
    uint64_t value = ptx_expect_integer(parser);
    return is_minus ? 0 - value : value;
}

/* +8, -4, +-4 after a base; several offsets are added. */
static uint64_t parse_offset(struct ptx_parser *parser)
{
    uint64_t offset = 0;
    for (;;) {
        if (ptx_accept_mark(parser, '+'))
            offset += parse_signed_integer(parser);
        else if (ptx_accept_mark(parser, '-'))
            offset -= ptx_expect_integer(parser);
        else
            return offset;
    }
}

static void set_symbol(struct ptx_operand *operand, const struct ptx_symbol *symbol)
{
    operand->symbol = symbol;
    if (symbol->kind == PTX_SYMBOL_VARIABLE && symbol->space == PTX_GLOBAL &&
        symbol->owner == UINT32_MAX)
        operand->id = symbol->id;
}

/* A name as an operand: register, special register, variable, function, or a label that is defined
 * later. */
static void parse_name(struct ptx_parser *parser, struct ptx_operand *operand)
{
    const struct ptx_token *token = &parser->token;
    uint32_t id;
    if (token->length == 1 && token->text[0] == '_') {
        operand->kind = PTX_OPERAND_SINK;
    } else if (token->length == 7 && memcmp(token->text, "WARP_SZ", 7) == 0) {
        operand->kind = PTX_OPERAND_INTEGER; /* WARP_SZ, the only constant that PTX names */
        operand->value = SIM_LANES;
    } else if (ptx_register_find(parser, token->text, token->length, &id)) {
        operand->kind = PTX_OPERAND_REGISTER;
        operand->id = id;
    } else if (token->text[0] == '%' && sim_special_find(token->text, token->length, &id)) {
        operand->kind = PTX_OPERAND_SPECIAL;
        operand->id = id;
    } else {
        const struct ptx_symbol *symbol = ptx_symbol_find(parser, token->text, token->length);
        if (symbol &&
            (symbol->kind == PTX_SYMBOL_VARIABLE || symbol->kind == PTX_SYMBOL_FUNCTION ||
                symbol->kind == PTX_SYMBOL_TARGETS || symbol->kind == PTX_SYMBOL_PROTOTYPE)) {
            operand->kind = PTX_OPERAND_SYMBOL;
            set_symbol(operand, symbol);
        } else if (token->text[0] == '%') {
            ptx_fail(parser, SIM_LOAD_INVALID, token->line, "register '%.*s' is not known",
                (int)base_min(token->length, 80), token->text);
        } else {
            operand->kind = PTX_OPERAND_LABEL;
            operand->id = add_reference(parser);
        }
    }
    ptx_advance(parser);
}

static void parse_address(struct ptx_parser *parser, struct ptx_operand *operand)
{
    if (parser->token.kind == PTX_TOKEN_INTEGER || ptx_is_mark(parser, '-')) {
        operand->kind = PTX_OPERAND_ADDRESS_INTEGER;
        operand->value = parse_signed_integer(parser);
    } else if (parser->token.kind == PTX_TOKEN_WORD) {
        uint32_t line = parser->token.line;
        parse_name(parser, operand);
        if (operand->kind == PTX_OPERAND_REGISTER)
            operand->kind = PTX_OPERAND_ADDRESS_REGISTER;
        else if (operand->kind == PTX_OPERAND_SYMBOL &&
                 operand->symbol->kind == PTX_SYMBOL_VARIABLE)
            operand->kind = PTX_OPERAND_ADDRESS_SYMBOL;
        else
            ptx_fail(parser, SIM_LOAD_INVALID, line, "address is neither register nor variable");
        operand->value = parse_offset(parser);
    } else {
        ptx_unexpected(parser, "address");
    }
    ptx_expect_mark(parser, ']');
}

static void parse_operand(struct ptx_parser *parser, bool may_nest);

static void parse_elements(struct ptx_parser *parser, uint32_t index, char stop)
{
    uint32_t count = 0;
    if (!ptx_accept_mark(parser, stop)) {
        do {
            if (++count > MAX_OPERANDS)
                ptx_fail(parser, SIM_LOAD_INVALID, parser->token.line, "too many operands");
            parse_operand(parser, false);
        } while (ptx_accept_mark(parser, ','));
        ptx_expect_mark(parser, stop);
    }
    parser->function->operands[index].count = (uint8_t)count;
}

static void parse_scalar(struct ptx_parser *parser, struct ptx_operand *operand)
{
    const struct ptx_token *token = &parser->token;
    bool is_minus = ptx_accept_mark(parser, '-');
    if (token->kind == PTX_TOKEN_INTEGER) {
        operand->kind = PTX_OPERAND_INTEGER;
        operand->value = is_minus ? 0 - token->value : token->value;
        ptx_advance(parser);
    } else if (token->kind == PTX_TOKEN_FLOAT32 || token->kind == PTX_TOKEN_FLOAT64) {
        bool is_narrow = token->kind == PTX_TOKEN_FLOAT32;
        operand->kind = is_narrow ? PTX_OPERAND_FLOAT32 : PTX_OPERAND_FLOAT64;
        operand->value = token->value ^ (is_minus ? UINT64_C(1) << (is_narrow ? 31 : 63) : 0);
        ptx_advance(parser);
    } else if (token->kind == PTX_TOKEN_WORD && !is_minus) {
        parse_name(parser, operand);
        if (operand->kind == PTX_OPERAND_SYMBOL)
            operand->value = parse_offset(parser);
    } else {
        ptx_unexpected(parser, "operand");
    }
}

static void parse_operand(struct ptx_parser *parser, bool may_nest)
{
    uint32_t index = parser->function->operand_count;
    struct ptx_operand *operand = new_operand(parser);
    if (may_nest && ptx_accept_mark(parser, '{')) {
        operand->kind = PTX_OPERAND_VECTOR;
        parse_elements(parser, index, '}');
    } else if (may_nest && ptx_accept_mark(parser, '(')) {
        operand->kind = PTX_OPERAND_LIST;
        parse_elements(parser, index, ')');
    } else if (ptx_accept_mark(parser, '[')) {
        parse_address(parser, operand);
    } else {
        operand->is_negated = ptx_accept_mark(parser, '!');
        parse_scalar(parser, operand);
    }
    if (may_nest && ptx_accept_mark(parser, '|')) {
        parser->function->operands[index].is_paired = true;
        parse_operand(parser, false);
    }
}

static void parse_guard(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    instruction->has_guard = true;
    instruction->is_guard_negated = ptx_accept_mark(parser, '!');
    const struct ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_WORD ||
        !ptx_register_find(parser, token->text, token->length, &instruction->guard))
        ptx_unexpected(parser, "predicate");
    if (parser->function->register_types[instruction->guard] != PTX_PRED)
        ptx_fail(parser, SIM_LOAD_INVALID, token->line, "guard is no predicate");
    ptx_advance(parser);
}

static void parse_instruction(struct ptx_parser *parser)
{
    struct ptx_function *function = parser->function;
    struct ptx_instruction made = {0};
    if (ptx_accept_mark(parser, '@'))
        parse_guard(parser, &made);
    if (parser->token.kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "instruction");
    made.line = parser->token.line;
    made.mnemonic = intern_mnemonic(parser);
    made.first = function->operand_count;
    ptx_advance(parser);
    if (!ptx_accept_mark(parser, ';')) {
        do {
            if (++made.count > MAX_OPERANDS)
                ptx_fail(parser, SIM_LOAD_INVALID, made.line, "too many operands");
            parse_operand(parser, true);
        } while (ptx_accept_mark(parser, ','));
        ptx_expect_mark(parser, ';');
    }
    function->instructions = ptx_grow(parser, function->instructions, function->instruction_count,
        &function->instruction_capacity, sizeof(*function->instructions));
    function->instructions[function->instruction_count++] = made;
}

static void define_label(struct ptx_parser *parser, const struct ptx_token *name)
{
    struct ptx_function *function = parser->function;
    if (ptx_symbol_in_scope(parser, name->text, name->length))
        ptx_fail(parser, SIM_LOAD_INVALID, name->line, "'%.*s' is declared twice",
            (int)base_min(name->length, 80), name->text);
    struct ptx_symbol *symbol = ptx_symbol_add(parser, name->text, name->length, PTX_SYMBOL_LABEL);
    function->labels = ptx_grow(parser, function->labels, function->label_count,
        &function->label_capacity, sizeof(*function->labels));
    symbol->id = function->label_count;
    function->labels[function->label_count++] = (struct ptx_label){
        .instruction = function->instruction_count,
        .name = name->text,
        .length = name->length,
        .scope = parser->scope_ids[parser->depth],
    };
}

static void parse_targets(struct ptx_parser *parser, const struct ptx_token *name)
{
    struct ptx_function *function = parser->function;
    struct ptx_symbol *symbol =
        ptx_symbol_add(parser, name->text, name->length, PTX_SYMBOL_TARGETS);
    function->targets = ptx_grow(parser, function->targets, function->targets_count,
        &function->targets_capacity, sizeof(*function->targets));
    struct ptx_targets *list = &function->targets[function->targets_count];
    symbol->id = function->targets_count++;
    list->first = function->reference_count;
    do {
        if (parser->token.kind != PTX_TOKEN_WORD)
            ptx_unexpected(parser, "label");
        add_reference(parser);
        ptx_advance(parser);
    } while (ptx_accept_mark(parser, ','));
    list->count = function->reference_count - list->first;
    ptx_expect_mark(parser, ';');
}

/* A word followed by a colon is a label, a branch target list or a prototype. */
static bool parse_label(struct ptx_parser *parser)
{
    const char *p = parser->lexer.next;
    while (p < parser->lexer.end && (*p == ' ' || *p == '\t'))
        p++;
    if (parser->token.kind != PTX_TOKEN_WORD || parser->token.text[0] == '.' ||
        p == parser->lexer.end || *p != ':')
        return false;
    struct ptx_token name = parser->token;
    ptx_advance(parser);
    ptx_expect_mark(parser, ':');
    if (ptx_accept_word(parser, ".branchtargets")) {
        parse_targets(parser, &name);
    } else if (ptx_is_word(parser, ".callprototype") || ptx_is_word(parser, ".calltargets")) {
        ptx_symbol_add(parser, name.text, name.length, PTX_SYMBOL_PROTOTYPE);
        ptx_parse_prototype(parser);
    } else {
        define_label(parser, &name);
    }
    return true;
}

static bool parse_declaration(struct ptx_parser *parser)
{
    if (ptx_skip_debug(parser))
        return true;
    if (parser->token.kind != PTX_TOKEN_WORD || parser->token.text[0] != '.')
        return false;
    bool is_extern = ptx_accept_word(parser, ".extern");
    if (ptx_accept_word(parser, ".reg"))
        ptx_parse_registers(parser);
    else if (ptx_accept_word(parser, ".local"))
        ptx_parse_variables(parser, PTX_LOCAL, is_extern);
    else if (ptx_accept_word(parser, ".shared"))
        ptx_parse_variables(parser, PTX_SHARED, is_extern);
    else if (ptx_accept_word(parser, ".param"))
        ptx_parse_variables(parser, PTX_PARAM, is_extern);
    else if (ptx_accept_word(parser, ".global"))
        ptx_parse_variables(parser, PTX_GLOBAL, is_extern);
    else if (ptx_accept_word(parser, ".const"))
        ptx_parse_variables(parser, PTX_CONST, is_extern);
    else
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
            "directive '%.*s' is not supported", (int)base_min(parser->token.length, 60),
            parser->token.text);
    return true;
}

void ptx_parse_body(struct ptx_parser *parser, struct ptx_function *function)
{
    uint32_t outside = parser->depth;
    ptx_locations_end(parser); /* of the function before */
    parser->scope_count = 0;
    parser->scope_ids[parser->depth] = parser->scope_count++;
    for (uint32_t i = 0; i < function->formal_count + function->result_count; i++) {
        struct ptx_symbol *symbol = i < function->formal_count
                                        ? function->formals[i]
                                        : function->results[i - function->formal_count];
        if (symbol->is_register)
            symbol->id = ptx_register_new(parser, symbol->type);
    }
    parser->scope_parents = ptx_grow(
        parser, parser->scope_parents, 0, &parser->scope_capacity, sizeof(*parser->scope_parents));
    parser->scope_parents[0] = 0;
    /* Never NULL, even for an empty body. */
    function->operands = ptx_grow(parser, function->operands, function->operand_count,
        &function->operand_capacity, sizeof(*function->operands));
    function->instructions = ptx_grow(parser, function->instructions, function->instruction_count,
        &function->instruction_capacity, sizeof(*function->instructions));
    do {
        if (ptx_accept_mark(parser, '{')) {
            ptx_scope_open(parser);
        } else if (ptx_accept_mark(parser, '}')) {
            ptx_scope_close(parser);
        } else if (parser->token.kind == PTX_TOKEN_END) {
            ptx_unexpected(parser, "'}'");
        } else if (!ptx_accept_mark(parser, ';') && !parse_declaration(parser) &&
                   !parse_label(parser)) {
            parse_instruction(parser);
        }
    } while (parser->depth > outside);
    ptx_resolve_labels(parser, function);
}
