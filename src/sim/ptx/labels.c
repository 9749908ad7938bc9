/* SPDX-License-Identifier: Apache-2.0 */
/* Labels are visible in the block that defines them, before and after the definition: resolved at
 * the body's end. */
#include "sim/ptx/parser.h"

#include <string.h>

struct label_table {
    uint32_t *slots; /* label + 1 */
    uint32_t mask;
};

static uint32_t slot_of(const char *name, uint32_t length, uint32_t scope)
{
    return ptx_hash(name, length) * 31 + scope * 2654435761u;
}

static struct label_table make_table(struct ptx_parser *parser, const struct ptx_function *f)
{
    struct label_table table = {NULL, 15};
    while (table.mask + 1 < f->label_count * 2)
        table.mask = table.mask * 2 + 1;
    table.slots = ptx_alloc(parser, (table.mask + 1) * sizeof(*table.slots));
    for (uint32_t i = 0; i < f->label_count; i++) {
        const struct ptx_label *label = &f->labels[i];
        uint32_t slot = slot_of(label->name, label->length, label->scope) & table.mask;
        while (table.slots[slot])
            slot = (slot + 1) & table.mask;
        table.slots[slot] = i + 1;
    }
    return table;
}

static bool find_in_scope(const struct ptx_function *f, const struct label_table *table,
    const struct ptx_reference *r, uint32_t scope, uint32_t *found)
{
    uint32_t slot = slot_of(r->name, r->length, scope) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const struct ptx_label *label = &f->labels[table->slots[slot] - 1];
        if (label->scope == scope && label->length == r->length &&
            memcmp(label->name, r->name, r->length) == 0) {
            *found = table->slots[slot] - 1;
            return true;
        }
    }
    return false;
}

void ptx_resolve_labels(struct ptx_parser *parser, struct ptx_function *f)
{
    struct label_table table = make_table(parser, f);
    for (uint32_t i = 0; i < f->reference_count; i++) {
        struct ptx_reference *r = &f->references[i];
        uint32_t scope = r->scope;
        bool is_found = find_in_scope(f, &table, r, scope, &r->label);
        while (!is_found && scope != 0) {
            scope = parser->scope_parents[scope];
            is_found = find_in_scope(f, &table, r, scope, &r->label);
        }
        if (!is_found)
            ptx_fail(parser, SIM_LOAD_INVALID, r->line, "'%.*s' is not declared",
                (int)(r->length < 80 ? r->length : 80), r->name);
    }
}
