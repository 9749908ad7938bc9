/* SPDX-License-Identifier: Apache-2.0 */
/* Function bodies: blocks, labels, guards, mnemonics and operands. */
#include "sim/exec/ops.h"
#include "sim/ptx/opcodes.h"
#include "sim/ptx/parser.h"

#include <string.h>

enum { MAX_OPERANDS = 200 };

/* Takes the mnemonic in hand apart, once for each text; names what it does not know. */
static void take_apart(struct ptx_parser *parser, struct ptx_mnemonic *m)
{
    const char *p = m->text, *end = m->text + m->length;
    const char *dot = memchr(p, '.', m->length);
    uint32_t stem = (uint32_t)((dot ? dot : end) - p);
    m->opcode = ptx_opcode_find(p, stem);
    if (!m->opcode)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line, "unknown opcode '%.*s'",
            (int)(m->length < 80 ? m->length : 80), m->text);
    for (p += stem; p < end;) {
        const char *word = ++p;
        while (p < end && *p != '.')
            p++;
        uint32_t length = (uint32_t)(p - word);
        enum ptx_type type = ptx_type_find(word, length);
        enum ptx_modifier modifier =
            type == PTX_NONE ? ptx_modifier_find(word, length) : PTX_M_NONE;
        if ((type == PTX_NONE && modifier == PTX_M_NONE) || m->type_count == PTX_MAX_TYPES ||
            m->modifier_count == PTX_MAX_MODIFIERS)
            ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line,
                "unknown type or modifier '.%.*s' in '%.*s'", (int)(length < 40 ? length : 40),
                word, (int)(m->length < 80 ? m->length : 80), m->text);
        if (type != PTX_NONE) {
            m->types[m->type_count++] = (uint8_t)type;
        } else {
            m->modifiers[m->modifier_count++] = (uint8_t)modifier;
            m->set[modifier / 64] |= UINT64_C(1) << (modifier % 64);
        }
    }
}

struct ptx_mnemonic *ptx_mnemonic_intern(struct ptx_parser *parser)
{
    const struct ptx_token *t = &parser->token;
    uint32_t hash = ptx_hash(t->text, t->length);
    struct ptx_mnemonic **bucket = &parser->mnemonics[hash % PTX_MNEMONIC_BUCKETS];
    for (struct ptx_mnemonic *m = *bucket; m; m = m->next)
        if (m->hash == hash && m->length == t->length && memcmp(m->text, t->text, t->length) == 0)
            return m;
    struct ptx_mnemonic *m = ptx_alloc(parser, sizeof(*m));
    m->text = t->text;
    m->length = t->length;
    m->hash = hash;
    take_apart(parser, m);
    m->next = *bucket;
    *bucket = m;
    return m;
}

static struct ptx_operand *new_operand(struct ptx_parser *parser)
{
    struct ptx_function *f = parser->function;
    f->operands =
        ptx_grow(parser, f->operands, f->operand_count, &f->operand_room, sizeof(*f->operands));
    struct ptx_operand *o = &f->operands[f->operand_count++];
    memset(o, 0, sizeof(*o));
    return o;
}

static uint32_t add_reference(struct ptx_parser *parser)
{
    struct ptx_function *f = parser->function;
    f->references = ptx_grow(
        parser, f->references, f->reference_count, &f->reference_room, sizeof(*f->references));
    struct ptx_reference *r = &f->references[f->reference_count];
    r->name = parser->token.text;
    r->length = parser->token.length;
    r->line = parser->token.line;
    r->scope = parser->scope_ids[parser->depth];
    return f->reference_count++;
}

static uint64_t signed_integer(struct ptx_parser *parser)
{
    bool is_minus = ptx_accept_mark(parser, '-');
    uint64_t value = ptx_expect_integer(parser);
    return is_minus ? 0 - value : value;
}

/* +8, -4, +-4 after a base; several are added. */
static uint64_t parse_offset(struct ptx_parser *parser)
{
    uint64_t offset = 0;
    for (;;) {
        if (ptx_accept_mark(parser, '+'))
            offset += signed_integer(parser);
        else if (ptx_accept_mark(parser, '-'))
            offset -= ptx_expect_integer(parser);
        else
            return offset;
    }
}

static void take_symbol(
    struct ptx_parser *parser, struct ptx_operand *o, const struct ptx_symbol *s)
{
    o->symbol = s;
    if (s->kind == PTX_SYMBOL_FUNCTION)
        parser->functions[s->id]->is_called = true;
    if (s->kind == PTX_SYMBOL_VARIABLE && s->space == PTX_GLOBAL && s->owner == UINT32_MAX)
        o->id = s->id;
}

/* A name as an operand: register, special register, variable, function, or else a label seen later.
 */
static void parse_name(struct ptx_parser *parser, struct ptx_operand *o)
{
    const struct ptx_token *t = &parser->token;
    uint32_t id;
    if (t->length == 1 && t->text[0] == '_') {
        o->kind = PTX_OPERAND_SINK;
    } else if (t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0) {
        o->kind = PTX_OPERAND_INTEGER; /* the one constant that PTX names */
        o->value = SIM_LANES;
    } else if (ptx_register_find(parser, t->text, t->length, &id)) {
        o->kind = PTX_OPERAND_REGISTER;
        o->id = id;
    } else if (t->text[0] == '%' && sim_special_find(t->text, t->length, &id)) {
        o->kind = PTX_OPERAND_SPECIAL;
        o->id = id;
    } else {
        const struct ptx_symbol *s = ptx_symbol_find(parser, t->text, t->length);
        if (s && (s->kind == PTX_SYMBOL_VARIABLE || s->kind == PTX_SYMBOL_FUNCTION ||
                     s->kind == PTX_SYMBOL_TARGETS || s->kind == PTX_SYMBOL_PROTOTYPE)) {
            o->kind = PTX_OPERAND_SYMBOL;
            take_symbol(parser, o, s);
        } else if (t->text[0] == '%') {
            ptx_fail(parser, SIM_LOAD_INVALID, t->line, "register '%.*s' is not known",
                (int)(t->length < 80 ? t->length : 80), t->text);
        } else {
            o->kind = PTX_OPERAND_LABEL;
            o->id = add_reference(parser);
        }
    }
    ptx_advance(parser);
}

static void parse_address(struct ptx_parser *parser, struct ptx_operand *o)
{
    if (parser->token.kind == PTX_TOKEN_INTEGER || ptx_is_mark(parser, '-')) {
        o->kind = PTX_OPERAND_ADDRESS_INTEGER;
        o->value = signed_integer(parser);
    } else if (parser->token.kind == PTX_TOKEN_WORD) {
        uint32_t line = parser->token.line;
        parse_name(parser, o);
        if (o->kind == PTX_OPERAND_REGISTER)
            o->kind = PTX_OPERAND_ADDRESS_REGISTER;
        else if (o->kind == PTX_OPERAND_SYMBOL && o->symbol->kind == PTX_SYMBOL_VARIABLE)
            o->kind = PTX_OPERAND_ADDRESS_SYMBOL;
        else
            ptx_fail(parser, SIM_LOAD_INVALID, line, "address is neither register nor variable");
        o->value = parse_offset(parser);
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

static void parse_simple(struct ptx_parser *parser, struct ptx_operand *o)
{
    const struct ptx_token *t = &parser->token;
    bool is_minus = ptx_accept_mark(parser, '-');
    if (t->kind == PTX_TOKEN_INTEGER) {
        o->kind = PTX_OPERAND_INTEGER;
        o->value = is_minus ? 0 - t->value : t->value;
        ptx_advance(parser);
    } else if (t->kind == PTX_TOKEN_FLOAT32 || t->kind == PTX_TOKEN_FLOAT64) {
        bool is_narrow = t->kind == PTX_TOKEN_FLOAT32;
        o->kind = is_narrow ? PTX_OPERAND_FLOAT32 : PTX_OPERAND_FLOAT64;
        o->value = t->value ^ (is_minus ? UINT64_C(1) << (is_narrow ? 31 : 63) : 0);
        ptx_advance(parser);
    } else if (t->kind == PTX_TOKEN_WORD && !is_minus) {
        parse_name(parser, o);
        if (o->kind == PTX_OPERAND_SYMBOL)
            o->value = parse_offset(parser);
    } else {
        ptx_unexpected(parser, "operand");
    }
}

static void parse_operand(struct ptx_parser *parser, bool may_nest)
{
    uint32_t index = parser->function->operand_count;
    struct ptx_operand *o = new_operand(parser);
    if (may_nest && ptx_accept_mark(parser, '{')) {
        o->kind = PTX_OPERAND_VECTOR;
        parse_elements(parser, index, '}');
    } else if (may_nest && ptx_accept_mark(parser, '(')) {
        o->kind = PTX_OPERAND_LIST;
        parse_elements(parser, index, ')');
    } else if (ptx_accept_mark(parser, '[')) {
        parse_address(parser, o);
    } else {
        o->is_negated = ptx_accept_mark(parser, '!');
        parse_simple(parser, o);
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
    const struct ptx_token *t = &parser->token;
    if (t->kind != PTX_TOKEN_WORD ||
        !ptx_register_find(parser, t->text, t->length, &instruction->guard))
        ptx_unexpected(parser, "predicate");
    if (parser->function->register_types[instruction->guard] != PTX_PRED)
        ptx_fail(parser, SIM_LOAD_INVALID, t->line, "guard is no predicate");
    ptx_advance(parser);
}

static void parse_instruction(struct ptx_parser *parser)
{
    struct ptx_function *f = parser->function;
    struct ptx_instruction made = {0};
    if (ptx_accept_mark(parser, '@'))
        parse_guard(parser, &made);
    if (parser->token.kind != PTX_TOKEN_WORD)
        ptx_unexpected(parser, "instruction");
    made.line = parser->token.line;
    made.mnemonic = ptx_mnemonic_intern(parser);
    made.first = f->operand_count;
    ptx_advance(parser);
    if (!ptx_accept_mark(parser, ';')) {
        do {
            if (++made.count > MAX_OPERANDS)
                ptx_fail(parser, SIM_LOAD_INVALID, made.line, "too many operands");
            parse_operand(parser, true);
        } while (ptx_accept_mark(parser, ','));
        ptx_expect_mark(parser, ';');
    }
    f->instructions = ptx_grow(parser, f->instructions, f->instruction_count, &f->instruction_room,
        sizeof(*f->instructions));
    f->instructions[f->instruction_count++] = made;
}

static void define_label(struct ptx_parser *parser, const struct ptx_token *name)
{
    struct ptx_function *f = parser->function;
    if (ptx_symbol_here(parser, name->text, name->length))
        ptx_fail(parser, SIM_LOAD_INVALID, name->line, "'%.*s' is declared twice",
            (int)(name->length < 80 ? name->length : 80), name->text);
    struct ptx_symbol *s = ptx_symbol_add(parser, name->text, name->length, PTX_SYMBOL_LABEL);
    f->labels = ptx_grow(parser, f->labels, f->label_count, &f->label_room, sizeof(*f->labels));
    s->id = f->label_count;
    f->labels[f->label_count++] = (struct ptx_label){
        .instruction = f->instruction_count,
        .name = name->text,
        .length = name->length,
        .scope = parser->scope_ids[parser->depth],
    };
}

static void parse_targets(struct ptx_parser *parser, const struct ptx_token *name)
{
    struct ptx_function *f = parser->function;
    struct ptx_symbol *s = ptx_symbol_add(parser, name->text, name->length, PTX_SYMBOL_TARGETS);
    f->targets =
        ptx_grow(parser, f->targets, f->targets_count, &f->targets_room, sizeof(*f->targets));
    struct ptx_targets *list = &f->targets[f->targets_count];
    s->id = f->targets_count++;
    list->first = f->reference_count;
    do {
        if (parser->token.kind != PTX_TOKEN_WORD)
            ptx_unexpected(parser, "label");
        add_reference(parser);
        ptx_advance(parser);
    } while (ptx_accept_mark(parser, ','));
    list->count = f->reference_count - list->first;
    ptx_expect_mark(parser, ';');
}

/* A word followed by a colon is a label, a list of branch targets or a prototype. */
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
            "directive '%.*s' is not supported",
            (int)(parser->token.length < 60 ? parser->token.length : 60), parser->token.text);
    return true;
}

void ptx_parse_body(struct ptx_parser *parser, struct ptx_function *f)
{
    uint32_t outside = parser->depth;
    parser->scope_count = 0;
    parser->scope_ids[parser->depth] = parser->scope_count++;
    for (uint32_t i = 0; i < f->formal_count + f->result_count; i++) {
        struct ptx_symbol *s =
            i < f->formal_count ? f->formals[i] : f->results[i - f->formal_count];
        if (s->is_register)
            s->id = ptx_register_new(parser, s->type);
    }
    parser->scope_parents = ptx_grow(
        parser, parser->scope_parents, 0, &parser->scope_room, sizeof(*parser->scope_parents));
    parser->scope_parents[0] = 0;
    /* Never NULL, however empty the body is. */
    f->operands =
        ptx_grow(parser, f->operands, f->operand_count, &f->operand_room, sizeof(*f->operands));
    f->instructions = ptx_grow(parser, f->instructions, f->instruction_count, &f->instruction_room,
        sizeof(*f->instructions));
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
    ptx_resolve_labels(parser, f);
}
