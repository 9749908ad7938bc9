/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool poseidon: hashes, permutations and Merkle trees over a file of elements or bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

enum { HASH, PERMUTE, SPONGE, TREE };
static const char *const verbs[] = {"hash", "permute", "sponge", "tree", NULL};

/* In the order of pool_sponge_mode and pool_sponge_padding. */
static const char *const modes[] = {"add", "overwrite", NULL};
static const char *const paddings[] = {"none", "10", "zero", NULL};

struct request {
    int verb;
    const char *set_name;
    const char *output;
    int form;
    int is_big_endian;
    int is_bytes;
    uint64_t elements; /* per item; 0: depends on the verb */
    uint64_t arity;
    int mode; /* of a sponge, as the two members below */
    int padding;
    const char *tag; /* NULL: 0 */
    unsigned char domain_tag[POOL_FIELD_MAX_BYTES];
    int is_together;
    pool_poseidon *set;
};

/* The numbers of items and results, and of elements in each. */
struct shape {
    uint32_t elements;
    uint64_t items;
    uint64_t results;
    uint32_t result_elements;
};

static int compute_shape(const struct cli_command *self, const struct request *request,
    const pool_span *span, struct shape *shape)
{
    uint32_t inputs = pool_poseidon_max_inputs(request->set);
    uint64_t elements = request->elements;

    if (!elements)
        elements = request->verb == HASH      ? inputs
                   : request->verb == PERMUTE ? pool_poseidon_width(request->set)
                   : request->verb == TREE    ? pool_poseidon_digest_elements(request->set)
                                              : span->count;
    if (!span->count || !elements || elements > UINT32_MAX || span->count % elements)
        return cli_usage(self, "%llu elements are not items of %llu; see --elements",
            (unsigned long long)span->count, (unsigned long long)elements);
    if (request->verb == HASH && elements > inputs)
        return cli_usage(self, "%s hashes at most %u elements; 'sponge' takes any number",
            request->set_name, inputs);
    if (request->verb == PERMUTE && elements != pool_poseidon_width(request->set))
        return cli_usage(self, "%s permutes states of %u elements, not %llu", request->set_name,
            pool_poseidon_width(request->set), (unsigned long long)elements);
    *shape = (struct shape){.elements = (uint32_t)elements,
        .items = span->count / elements,
        .results = 1,
        .result_elements = pool_poseidon_digest_elements(request->set)};
    if (request->verb != TREE)
        shape->results = shape->items;
    if (request->verb == PERMUTE)
        shape->result_elements = shape->elements;
    return CLI_GO;
}

static pool_status build_tree(const struct request *request, const struct shape *shape,
    const pool_exec *exec, const pool_span *items, uint8_t *root, cJSON *properties)
{
    pool_merkle_params params = {.struct_size = sizeof(params),
        .arity = (uint32_t)request->arity,
        .leaf_elements = shape->elements,
        .kept_levels = 1};
    pool_merkle_shape tree = {.struct_size = sizeof(tree)};
    pool_span rows = {.data = root, .count = 1};
    pool_status status = pool_merkle_get_shape(request->set, &params, items->count, &tree);

    if (status)
        return status;
    cJSON_AddNumberToObject(properties, "height", tree.height);
    return pool_poseidon_merkle_build(request->set, exec, &params, items, &rows);
}

static pool_status compute_results(const struct request *request, const struct shape *shape,
    const struct cli_target *target, const pool_span *span, uint8_t *results, cJSON *properties)
{
    const pool_exec exec = target->exec;
    pool_poseidon_sponge_params sponge = {.struct_size = sizeof(sponge),
        .elements = shape->elements,
        .mode = (pool_sponge_mode)request->mode,
        .padding = (pool_sponge_padding)request->padding,
        .domain_tag = request->tag ? request->domain_tag : NULL};
    pool_span items = *span;
    pool_span out = {.data = results, .count = shape->results};

    items.count = shape->items;
    items.stride = span->stride * shape->elements;
    if (request->verb == HASH)
        return pool_poseidon_hash(request->set, &exec, &items, shape->elements, &out);
    if (request->verb == PERMUTE)
        return pool_poseidon_permute(request->set, &exec, &items, &out);
    if (request->verb == SPONGE)
        return pool_poseidon_sponge(request->set, &exec, &sponge, &items, &out);
    return build_tree(request, shape, &exec, &items, results, properties);
}

static int run_verb(const struct request *request, const struct shape *shape, const pool_span *span,
    struct output_file *output, const struct cli_line *line)
{
    const pool_field *field = pool_poseidon_field(request->set);
    uint64_t elements = shape->results * shape->result_elements;
    size_t bytes = elements * pool_field_element_bytes(field);
    uint8_t *results;
    cJSON *properties;
    cJSON *list = NULL;
    struct cli_target target;
    pool_status status;
    char size[CLI_NUMBER];
    int code = cli_open_target(line, request->is_together, &target);

    if (code != CLI_GO)
        return code;
    code = CLI_OK;
    results = bench_alloc(1, bytes);
    properties = cJSON_CreateObject();
    cJSON_AddStringToObject(properties, "set", request->set_name);
    cJSON_AddNumberToObject(properties, "items", (double)shape->items);
    cli_progress("%s over %s items", request->set_name, cli_size(shape->items, size, sizeof(size)));
    cli_watch_begin();
    status = compute_results(request, shape, &target, span, results, properties);
    cli_watch_end();
    cli_progress_end();
    if (!status && output->path && request->is_big_endian)
        cli_to_big_endian(field, POOL_FORM_STANDARD, results, elements);
    if (line->as_json)
        list =
            cJSON_AddArrayToObject(properties, request->verb == PERMUTE ? "elements" : "digests");
    if (status)
        code = cli_fail(status, line->as_json);
    else if (output->path)
        code = cli_output_write(output, results, bytes);
    else
        cli_print_elements(field, POOL_FORM_STANDARD, results, elements, list);
    if (!code && !output->path && line->as_json)
        cli_print_json(properties);
    else
        cJSON_Delete(properties);
    free(results);
    return cli_close_pool(&target.pool, code, 0);
}

/* On the host, to compile no kernel for it. */
static pool_status check_elements(const pool_file_section *section)
{
    return pool_field_check(section->field, section->span.data, section->span.count, NULL);
}

static int run_file(
    const struct cli_command *self, const struct request *request, const struct cli_line *line)
{
    struct cli_raw raw = {.field = pool_poseidon_field(request->set),
        .form = (pool_form)request->form,
        .is_big_endian = request->is_big_endian,
        .is_bytes = request->is_bytes};
    struct cli_source source;
    struct output_file output;
    struct shape shape = {0};
    pool_status status;
    int code = cli_source_open(line->operands[1], &raw, line->as_json, &source);

    if (code != CLI_GO)
        return code;
    code = cli_source_expect(self, line->operands[1], &source, POOL_FILE_ELEMENTS);
    if (code == CLI_GO && source.section.field != raw.field)
        code = cli_usage(self, "'%s' holds elements of %s, and %s takes those of %s",
            line->operands[1], pool_field_name(source.section.field), request->set_name,
            pool_field_name(raw.field));
    if (code == CLI_GO) {
        status = check_elements(&source.section);
        code = status ? cli_fail_on(line->operands[1], status, line->as_json)
                      : compute_shape(self, request, &source.section.span, &shape);
    }
    if (code == CLI_GO)
        code = cli_output_open(request->output, &output);
    if (code == CLI_GO)
        code = cli_output_close(
            &output, run_verb(request, &shape, &source.section.span, &output, line));
    cli_source_close(&source);
    return code;
}

/* Reads the tag; the options of a sponge are refused for everything else. */
static int check_sponge_options(
    const struct cli_command *self, struct request *request, const struct cli_line *line)
{
    const pool_field *field = pool_poseidon_field(request->set);

    if (request->verb != SPONGE && (request->tag || request->mode || request->padding))
        return cli_usage(self, "--tag, --mode and --padding are options of 'sponge', not of '%s'",
            line->operands[0]);
    if (request->tag &&
        pool_field_parse(field, request->tag, POOL_FORM_STANDARD, request->domain_tag))
        return cli_usage(self, "--tag '%s' is not an element of %s: %s", request->tag,
            pool_field_name(field), pool_last_error()->message);
    return CLI_GO;
}

static int find_verb(const char *name)
{
    for (int i = 0; verbs[i]; i++)
        if (strcmp(verbs[i], name) == 0)
            return i;
    return -1;
}

int cli_run_poseidon(const struct cli_command *self, struct cli_line *line)
{
    struct request request = {.set_name = "circom-bn254-t3", .arity = 2};
    const struct cli_option options[] = {
        {'s', "set", "SET", "parameter set (default circom-bn254-t3)", CLI_STRING,
            &request.set_name, NULL},
        {'e', "elements", "COUNT",
            "elements per item; default: hash, the most that fit;\n"
            "permute, the width of the state; sponge, all; tree,\n"
            "those of a digest",
            CLI_COUNT, &request.elements, NULL},
        {'a', "arity", "COUNT", "tree: children of a node (default 2)", CLI_COUNT, &request.arity,
            NULL},
        {0, "tag", "ELEMENT",
            "sponge: domain tag, such as 0x50000000000000000\n"
            "(default 0)",
            CLI_STRING, &request.tag, NULL},
        {0, "mode", "MODE",
            "sponge: add blocks to the state (add, the default) or\n"
            "replace its elements by them (overwrite)",
            CLI_CHOICE, &request.mode, modes},
        {0, "padding", "PADDING",
            "sponge: none (default); 10, a 1 and zeros; zero,\n"
            "zeros, with a block of them for an empty message",
            CLI_CHOICE, &request.padding, paddings},
        {0, "form", "FORM",
            "form of a raw file's elements: standard (default),\n"
            "montgomery",
            CLI_CHOICE, &request.form, cli_forms},
        {0, "big-endian", NULL, "read and write raw files in big-endian byte order", CLI_SWITCH,
            &request.is_big_endian, NULL},
        {0, "bytes", NULL,
            "pack the bytes of any file into elements of as many\n"
            "bytes as always fit (31 in a 254-bit field),\n"
            "little-endian",
            CLI_SWITCH, &request.is_bytes, NULL},
        {0, "together", NULL, CLI_TOGETHER_HELP, CLI_SWITCH, &request.is_together, NULL},
        {'o', "output", "FILE", "write raw digests or states, in standard form", CLI_STRING,
            &request.output, NULL},
    };
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    request.verb = find_verb(line->operands[0]);
    if (request.verb < 0)
        return cli_fail_operation(self, line->operands[0]);
    code = cli_check_byte_order(self, request.is_big_endian, request.form);
    if (code != CLI_GO)
        return code;
    if (request.arity < 2 || request.arity > 16)
        return cli_usage(self, "--arity must be 2 to 16");
    if (pool_poseidon_by_name(request.set_name, &request.set)) {
        struct cli_match match = {0};

        cli_match_kinds(request.set_name, CLI_SETS, &match);
        return cli_usage(self, "no parameter set '%s'%s; see 'devicepool list sets'",
            request.set_name, cli_suggestion(&match));
    }
    code = check_sponge_options(self, &request, line);
    if (code == CLI_GO)
        code = run_file(self, &request, line);
    pool_poseidon_destroy(&request.set);
    return code;
}
