/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's state and the functions that its files share. An error leaves the parser by
 * longjmp: all memory is in two arenas, so nothing leaks, and no function has to pass a status up
 * through the grammar.
 */
#ifndef SIM_PTX_PARSER_H
#define SIM_PTX_PARSER_H

#include "base/arena.h"
#include "driver/sim/ptx/lexer.h"
#include "driver/sim/ptx/module.h"

#include <setjmp.h>

struct sim_program;

enum { PTX_SYMBOL_BUCKETS = 4096, PTX_MNEMONIC_BUCKETS = 512, PTX_MAX_SCOPES = 200 };

struct ptx_parser {
    struct ptx_lexer lexer;
    struct ptx_token token; /* current token */
    struct base_arena scratch;
    struct sim_program *program;
    struct sim_load_error *error;
    enum sim_load result;
    jmp_buf on_error;

    struct ptx_symbol *buckets[PTX_SYMBOL_BUCKETS];
    struct ptx_symbol *scopes[PTX_MAX_SCOPES]; /* newest symbol of each open scope */
    uint32_t depth;
    uint32_t scope_ids[PTX_MAX_SCOPES]; /* ids of the open scopes, unique within the function */
    uint32_t *scope_parents;            /* by scope id */
    uint32_t scope_count, scope_capacity;
    uint64_t register_budget; /* register range elements that the source may still declare */

    struct ptx_mnemonic *mnemonics[PTX_MNEMONIC_BUCKETS];
    struct ptx_function **functions;
    uint32_t function_count, function_capacity;
    struct ptx_function *function; /* the function whose body is being parsed, or NULL */
    struct ptx_symbol **variables; /* .global, .const */
    uint32_t variable_count, variable_capacity;
    struct ptx_symbol **shared; /* .shared variables of the module and of function bodies */
    uint32_t shared_count, shared_capacity;
    uint32_t version, target;
    struct sim_location *locations;
    uint32_t location_count, location_capacity;
    struct sim_source_file *files;
    uint32_t file_count, file_capacity;
};

__attribute__((noreturn, format(printf, 4, 5))) void ptx_fail(
    struct ptx_parser *parser, enum sim_load result, uint32_t line, const char *format, ...);

void *ptx_alloc(struct ptx_parser *parser, size_t size);
/* Makes room for one more item; returns the array, which is reallocated when it was full. */
void *ptx_grow(
    struct ptx_parser *parser, void *items, uint32_t count, uint32_t *capacity, size_t size);
const char *ptx_copy_string(struct ptx_parser *parser, const char *text, uint32_t length);

void ptx_advance(struct ptx_parser *parser);
bool ptx_is_word(const struct ptx_parser *parser, const char *word);
bool ptx_is_mark(const struct ptx_parser *parser, char mark);
bool ptx_accept_mark(struct ptx_parser *parser, char mark);
bool ptx_accept_word(struct ptx_parser *parser, const char *word);
void ptx_expect_mark(struct ptx_parser *parser, char mark);
uint64_t ptx_expect_integer(struct ptx_parser *parser);
__attribute__((noreturn)) void ptx_unexpected(struct ptx_parser *parser, const char *wanted);

/* symbols.c */
void ptx_scope_open(struct ptx_parser *parser);
void ptx_scope_close(struct ptx_parser *parser);
struct ptx_symbol *ptx_symbol_add(
    struct ptx_parser *parser, const char *name, uint32_t length, enum ptx_symbol_kind kind);
struct ptx_symbol *ptx_symbol_find(struct ptx_parser *parser, const char *name, uint32_t length);
/* Searches the innermost scope only. */
struct ptx_symbol *ptx_symbol_in_scope(
    struct ptx_parser *parser, const char *name, uint32_t length);
/* Finds a register by name and creates it on first use when a range declares it; false when there
 * is none. */
bool ptx_register_find(struct ptx_parser *parser, const char *name, uint32_t length, uint32_t *id);
uint32_t ptx_register_new(struct ptx_parser *parser, enum ptx_type type);
uint32_t ptx_hash(const char *text, uint32_t length);

/* variables.c: parses what follows .global, .const, .shared, .local, .param and .reg */
struct ptx_symbol *ptx_parse_variable(
    struct ptx_parser *parser, enum ptx_space space, bool is_extern, bool is_formal);
void ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, bool is_extern);
void ptx_parse_registers(struct ptx_parser *parser);

/* statements.c */
void ptx_parse_body(struct ptx_parser *parser, struct ptx_function *function);

/* labels.c */
void ptx_resolve_labels(struct ptx_parser *parser, struct ptx_function *function);

/* functions.c */
void ptx_parse_function(struct ptx_parser *parser, bool is_entry, bool is_extern);
void ptx_parse_prototype(struct ptx_parser *parser);

/* module.c */
bool ptx_skip_debug(struct ptx_parser *parser);
/* No location holds from here on up to the next .loc. */
void ptx_locations_end(struct ptx_parser *parser);

/* lower.c: creates the module's executable program */
void ptx_lower_module(struct ptx_parser *parser);

#endif
