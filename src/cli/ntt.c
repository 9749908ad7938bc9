/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool ntt: transforms a file of elements.
 */
#include <stdlib.h>

#include "source.h"

struct request {
    const char *field;
    const char *output;
    int form;
    int is_big_endian;
    int direction;
    int is_coset;
    int order;
    uint64_t batch;
    int is_together;
    uint64_t log_blowup; /* of an extension; 0: a transform */
};

static pool_status compute_extension(const struct request *request,
    const pool_file_section *section, const struct cli_target *target, uint8_t *results)
{
    uint64_t n = section->span.count / request->batch;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = section->field,
        .log_size = (uint32_t)__builtin_ctzll(n) + (uint32_t)request->log_blowup};
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .log_blowup = (uint32_t)request->log_blowup,
        .order = (pool_ntt_order)request->order,
        .batch = request->batch};
    pool_exec exec = target->exec;
    pool_span out = {.data = results,
        .count = section->span.count << request->log_blowup,
        .form = section->span.form};
    pool_status status = pool_ntt_domain_create(&domain, &params.domain);

    exec.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = pool_ntt_extend(&params, &exec, &section->span, NULL, &out);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

static pool_status compute_ntt(const struct request *request, const pool_file_section *section,
    const struct cli_target *target, uint8_t *results)
{
    uint64_t n = section->span.count / request->batch;
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain),
        .field = section->field,
        .log_size = (uint32_t)__builtin_ctzll(n)};
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = (pool_ntt_direction)request->direction,
        .coset = request->is_coset,
        .order = (pool_ntt_order)request->order,
        .batch = request->batch};
    pool_exec exec = target->exec;
    pool_span out = {.data = results, .count = section->span.count, .form = section->span.form};
    pool_status status = pool_ntt_domain_create(&domain, &params.domain);

    exec.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = pool_ntt(&params, &exec, &section->span, &out);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

static void print_results(
    const pool_file_section *section, const uint8_t *results, uint64_t count, int as_json)
{
    cJSON *list = as_json ? cJSON_CreateArray() : NULL;

    cli_print_elements(section->field, section->span.form, results, count, list);
    if (as_json)
        cli_print_json(list);
}

static int run_ntt(const struct request *request, const struct cli_source *source,
    struct cli_output *output, const struct cli_line *line)
{
    const pool_file_section *section = &source->section;
    uint64_t count = section->span.count << request->log_blowup;
    size_t bytes = count * pool_field_element_bytes(section->field);
    uint8_t *results;
    struct cli_target target;
    pool_status status;
    char size[CLI_NUMBER];
    int code = cli_open_target(line, request->is_together, &target);

    if (code != CLI_GO)
        return code;
    code = CLI_OK;
    results = bench_alloc(1, bytes);
    cli_progress("transforming %s elements of %s",
        cli_size(section->span.count, size, sizeof(size)), pool_field_name(section->field));
    status = request->log_blowup ? compute_extension(request, section, &target, results)
                                 : compute_ntt(request, section, &target, results);
    cli_progress_end();
    if (!status && output->path && request->is_big_endian)
        cli_to_big_endian(section->field, section->span.form, results, count);
    if (status)
        code = cli_fail_on(line->operands[0], status, line->as_json);
    else if (output->path)
        code = cli_output_write(output, results, bytes);
    else
        print_results(section, results, count, line->as_json);
    free(results);
    return cli_close_pool(&target.pool, code, 0);
}

/* Of --extend, for which 0 is an error. */
#define NOT_GIVEN UINT64_MAX

/* Returns CLI_GO or an exit code. */
static int check_request(const struct cli_command *self, struct request *request)
{
    if (!request->batch)
        return cli_usage(self, "--batch must be at least 1");
    if (request->log_blowup == NOT_GIVEN)
        request->log_blowup = 0;
    else if (!request->log_blowup || request->log_blowup > POOL_NTT_MAX_LOG_BLOWUP)
        return cli_usage(self, "--extend must be 1 to %d", POOL_NTT_MAX_LOG_BLOWUP);
    if (request->log_blowup && (request->direction || request->is_coset || request->is_together))
        return cli_usage(self, "--extend does not go with --inverse, --coset or --together");
    return CLI_GO;
}

/* Returns CLI_GO or an exit code. */
static int check_count(
    const struct cli_command *self, const struct request *request, const struct cli_source *source)
{
    uint64_t count = source->section.span.count;
    uint64_t n = count / request->batch;

    if (!n || n * request->batch != count || (n & (n - 1)))
        return cli_usage(self, "%llu elements are not %llu times a power of two",
            (unsigned long long)count, (unsigned long long)request->batch);
    return CLI_GO;
}

int cli_run_ntt(const struct cli_command *self, struct cli_line *line)
{
    struct request request = {.field = "bn254_fr", .batch = 1, .log_blowup = NOT_GIVEN};
    const struct cli_option options[] = {
        {'f', "field", "NAME", "field of a raw file's elements (default bn254_fr)", CLI_STRING,
            &request.field, NULL},
        {0, "form", "FORM", "form of a raw file's elements: standard (default), montgomery",
            CLI_CHOICE, &request.form, cli_forms},
        {0, "big-endian", NULL, "raw files, including --output, are big-endian", CLI_SWITCH,
            &request.is_big_endian, NULL},
        {'i', "inverse", NULL, "the inverse transform", CLI_SWITCH, &request.direction, NULL},
        {0, "coset", NULL, "on the coset of the field's generator", CLI_SWITCH, &request.is_coset,
            NULL},
        {0, "order", "ORDER", "nn (default), nr, rn, rr; n natural, r bit-reversed", CLI_CHOICE,
            &request.order, cli_orders},
        {'b', "batch", "COUNT", "the file has this many transforms, one after another", CLI_COUNT,
            &request.batch, NULL},
        {0, "extend", "BITS",
            "the values at 2^BITS times as many points, on the coset of the\n"
            "field's generator, of the polynomials with these values",
            CLI_COUNT, &request.log_blowup, NULL},
        {0, "together", NULL, CLI_TOGETHER_HELP, CLI_SWITCH, &request.is_together, NULL},
        {'o', "output", "FILE", "write raw elements, in form and byte order of the input",
            CLI_STRING, &request.output, NULL},
    };
    struct cli_raw raw = {0};
    struct cli_source source;
    struct cli_output output;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code == CLI_GO)
        code = cli_find_field(self, request.field, &raw.field);
    if (code == CLI_GO)
        code = cli_check_byte_order(self, request.is_big_endian, request.form);
    if (code == CLI_GO)
        code = check_request(self, &request);
    if (code != CLI_GO)
        return code;
    raw.form = (pool_form)request.form;
    raw.is_big_endian = request.is_big_endian;
    code = cli_source_open(line->operands[0], &raw, line->as_json, &source);
    if (code != CLI_GO)
        return code;
    code = cli_source_expect(self, line->operands[0], &source, POOL_FILE_ELEMENTS);
    if (code == CLI_GO)
        code = check_count(self, &request, &source);
    if (code == CLI_GO)
        code = cli_output_open(request.output, &output);
    if (code == CLI_GO)
        code = cli_output_close(&output, run_ntt(&request, &source, &output, line));
    cli_source_close(&source);
    return code;
}
