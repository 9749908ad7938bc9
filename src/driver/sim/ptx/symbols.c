/* SPDX-License-Identifier: Apache-2.0 */
/* Names and scopes: one hash table whose buckets list the newest symbol first, so that leaving a
 * scope pops its symbols. */
#include "driver/sim/ptx/parser.h"

#include <string.h>

uint32_t ptx_hash(const char *text, uint32_t length)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

void ptx_scope_open(struct ptx_parser *parser)
{
    if (parser->depth + 1 >= PTX_MAX_SCOPES)
        ptx_fail(parser, SIM_LOAD_UNSUPPORTED, parser->token.line, "blocks nested deeper than %d",
            PTX_MAX_SCOPES);
    parser->scope_parents = ptx_grow(parser, parser->scope_parents, parser->scope_count,
        &parser->scope_capacity, sizeof(*parser->scope_parents));
    parser->scope_parents[parser->scope_count] = parser->scope_ids[parser->depth];
    parser->depth++;
    parser->scope_ids[parser->depth] = parser->scope_count++;
    parser->scopes[parser->depth] = NULL;
}

void ptx_scope_close(struct ptx_parser *parser)
{
    for (struct ptx_symbol *symbol = parser->scopes[parser->depth]; symbol;
         symbol = symbol->scope_next)
        parser->buckets[symbol->hash % PTX_SYMBOL_BUCKETS] = symbol->below;
    parser->depth--;
}

struct ptx_symbol *ptx_symbol_add(
    struct ptx_parser *parser, const char *name, uint32_t length, enum ptx_symbol_kind kind)
{
    struct ptx_symbol *symbol = ptx_alloc(parser, sizeof(*symbol));
    symbol->name = name;
    symbol->length = length;
    symbol->hash = ptx_hash(name, length);
    symbol->kind = kind;
    symbol->line = parser->token.line;
    symbol->depth = parser->depth;
    symbol->owner = parser->function ? parser->function->index : UINT32_MAX;
    struct ptx_symbol **bucket = &parser->buckets[symbol->hash % PTX_SYMBOL_BUCKETS];
    symbol->below = *bucket;
    *bucket = symbol;
    symbol->scope_next = parser->scopes[parser->depth];
    parser->scopes[parser->depth] = symbol;
    return symbol;
}

static struct ptx_symbol *find_hashed(
    struct ptx_parser *parser, const char *name, uint32_t length, uint32_t hash)
{
    struct ptx_symbol *symbol = parser->buckets[hash % PTX_SYMBOL_BUCKETS];
    while (symbol && (symbol->hash != hash || symbol->length != length ||
                         memcmp(symbol->name, name, length) != 0))
        symbol = symbol->below;
    return symbol;
}

struct ptx_symbol *ptx_symbol_find(struct ptx_parser *parser, const char *name, uint32_t length)
{
    return find_hashed(parser, name, length, ptx_hash(name, length));
}

struct ptx_symbol *ptx_symbol_in_scope(struct ptx_parser *parser, const char *name, uint32_t length)
{
    struct ptx_symbol *found = ptx_symbol_find(parser, name, length);
    if (!found)
        return NULL;
    return found->depth == parser->depth ? found : NULL;
}

uint32_t ptx_register_new(struct ptx_parser *parser, enum ptx_type type)
{
    struct ptx_function *function = parser->function;
    function->register_types = ptx_grow(parser, function->register_types, function->register_count,
        &function->register_capacity, sizeof(*function->register_types));
    function->register_types[function->register_count] = (uint8_t)type;
    return function->register_count++;
}

/* %r12 of %r<500>: groups the name into the longest declared range name and an index. */
static bool find_in_range(
    struct ptx_parser *parser, const char *name, uint32_t length, uint32_t *id)
{
    uint32_t stem = length;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    if (stem == length || length - stem > 9 || stem == 0)
        return false;
    for (; stem < length; stem++) {
        struct ptx_symbol *range = ptx_symbol_find(parser, name, stem);
        if (!range || range->kind != PTX_SYMBOL_RANGE)
            continue;
        if (name[stem] == '0' && length - stem > 1)
            return false;
        uint32_t index = 0;
        for (uint32_t i = stem; i < length; i++)
            index = index * 10 + (uint32_t)(name[i] - '0');
        if (index >= range->count)
            return false;
        if (range->ids[index] == 0)
            range->ids[index] = ptx_register_new(parser, range->type) + 1;
        *id = range->ids[index] - 1;
        return true;
    }
    return false;
}

bool ptx_register_find(struct ptx_parser *parser, const char *name, uint32_t length, uint32_t *id)
{
    struct ptx_symbol *symbol = ptx_symbol_find(parser, name, length);
    if (symbol && symbol->kind == PTX_SYMBOL_REGISTER) {
        *id = symbol->id;
        return true;
    }
    return !symbol && find_in_range(parser, name, length, id);
}
