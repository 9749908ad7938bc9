/* SPDX-License-Identifier: Apache-2.0 */
/* Labels are visible in the whole block that defines them, so references are resolved at the end
 * of the body. */
#include "driver/sim/ptx/parser.h"

#include "base/math.h"

#include <string.h>

struct label_table {
    uint32_t *slots; /* label + 1 */
    uint32_t mask;
};

static uint32_t hash_slot(const char *name, uint32_t length, uint32_t scope)
{
    return ptx_hash(name, length) * 31 + scope * 2654435761u;
}

static struct label_table build_label_table(
    struct ptx_parser *parser, const struct ptx_function *function)
{
    struct label_table table = {NULL, 15};
    while (table.mask + 1 < function->label_count * 2)
        table.mask = table.mask * 2 + 1;
    table.slots = ptx_alloc(parser, (table.mask + 1) * sizeof(*table.slots));
    for (uint32_t i = 0; i < function->label_count; i++) {
        const struct ptx_label *label = &function->labels[i];
        uint32_t slot = hash_slot(label->name, label->length, label->scope) & table.mask;
        while (table.slots[slot])
            slot = (slot + 1) & table.mask;
        table.slots[slot] = i + 1;
    }
    return table;
}

static bool find_in_scope(const struct ptx_function *function, const struct label_table *table,
    const struct ptx_reference *reference, uint32_t scope, uint32_t *found)
{
    uint32_t slot = hash_slot(reference->name, reference->length, scope) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const struct ptx_label *label = &function->labels[table->slots[slot] - 1];
        if (label->scope == scope && label->length == reference->length &&
            memcmp(label->name, reference->name, reference->length) == 0) {
            *found = table->slots[slot] - 1;
            return true;
        }
    }
    return false;
}

void ptx_resolve_labels(struct ptx_parser *parser, struct ptx_function *function)
{
    struct label_table table = build_label_table(parser, function);
    for (uint32_t i = 0; i < function->reference_count; i++) {
        struct ptx_reference *reference = &function->references[i];
        uint32_t scope = reference->scope;
        bool is_found = find_in_scope(function, &table, reference, scope, &reference->label);
        while (!is_found && scope != 0) {
            scope = parser->scope_parents[scope];
            is_found = find_in_scope(function, &table, reference, scope, &reference->label);
        }
        if (!is_found)
            ptx_fail(parser, SIM_LOAD_INVALID, reference->line, "'%.*s' is not declared",
                (int)base_min(reference->length, 80), reference->name);
    }
}
