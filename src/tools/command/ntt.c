/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool ntt: transforms a file of elements, or of points.
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

struct request {
    const char *field;
    const char *curve; /* of a raw file's points; NULL: raw files have elements */
    int layout;        /* of these points */
    const char *output;
    int form;
    int is_big_endian;
    int direction;
    int is_coset;
    int order;
    uint64_t batch;
    int is_together;
    uint64_t log_blowup; /* of an extension; 0: a transform */
    const char *root;    /* NULL: as the file's section says */
};

/* The domain of the results. */
static pool_status create_domain(const struct request *request, const pool_file_section *section,
    const pool_field *field, pool_ntt_domain **domain)
{
    const uint64_t n = section->span.count / request->batch;
    pool_ntt_domain_params params = {.struct_size = sizeof(params),
        .field = field,
        .log_size = (uint32_t)__builtin_ctzll(n) + (uint32_t)request->log_blowup,
        .convention = section->convention};

    if (request->root) {
        const int is_number = *request->root >= '0' && *request->root <= '9';
        const int is_default = strcmp(request->root, "default") == 0;

        params.root = is_number ? request->root : NULL;
        params.convention = is_number || is_default ? NULL : request->root;
    }
    return pool_ntt_domain_create(&params, domain);
}

static pool_status compute_extension(const struct request *request,
    const pool_file_section *section, const struct cli_target *target, uint8_t *results)
{
    pool_ntt_extend_params params = {.struct_size = sizeof(params),
        .log_blowup = (uint32_t)request->log_blowup,
        .order = (pool_ntt_order)request->order,
        .batch = request->batch};
    pool_exec exec = target->exec;
    pool_span out = {.data = results,
        .count = section->span.count << request->log_blowup,
        .form = section->span.form};
    pool_status status = create_domain(request, section, section->field, &params.domain);

    exec.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = pool_ntt_extend(&params, &exec, &section->span, NULL, &out);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

static pool_status compute_ntt(const struct request *request, const pool_file_section *section,
    const struct cli_target *target, uint8_t *results)
{
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = (pool_ntt_direction)request->direction,
        .coset = request->is_coset,
        .order = (pool_ntt_order)request->order,
        .batch = request->batch};
    pool_exec exec = target->exec;
    pool_span out = {.data = results, .count = section->span.count, .form = section->span.form};
    pool_status status = create_domain(request, section, section->field, &params.domain);

    exec.checks = POOL_CHECK_CANONICAL;
    if (!status)
        status = pool_ntt(&params, &exec, &section->span, &out);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

/* Results are affine points in standard form. */
static pool_status compute_points(const struct request *request, const pool_file_section *section,
    const struct cli_target *target, uint8_t *results)
{
    pool_ecntt_params params = {.struct_size = sizeof(params),
        .curve = section->curve,
        .direction = (pool_ntt_direction)request->direction,
        .coset = request->is_coset,
        .order = (pool_ntt_order)request->order,
        .batch = request->batch,
        .point_layout = section->layout};
    pool_exec exec = target->exec;
    pool_span out = {.data = results, .count = section->span.count};
    pool_status status =
        create_domain(request, section, pool_curve_scalar_field(section->curve), &params.domain);

    exec.checks = POOL_CHECK_SUBGROUP;
    if (!status)
        status = pool_ecntt(&params, &exec, &section->span, &out);
    pool_ntt_domain_destroy(&params.domain);
    return status;
}

/* The results of a request: elements, or the coordinates of points. */
struct results {
    const pool_field *field;
    pool_form form;
    uint64_t count; /* of elements */
    uint8_t *data;
};

static struct results results_of(const struct request *request, const pool_file_section *section)
{
    struct results results = {.field = section->field,
        .form = section->span.form,
        .count = section->span.count << request->log_blowup};

    if (section->item == POOL_FILE_POINTS)
        results = (struct results){.field = pool_curve_base_field(section->curve),
            .count = section->span.count * 2 * pool_curve_degree(section->curve)};
    results.data = bench_alloc(results.count, pool_field_element_bytes(results.field));
    return results;
}

static void print_results(const struct results *results, int as_json)
{
    cJSON *list = as_json ? cJSON_CreateArray() : NULL;

    cli_print_elements(results->field, results->form, results->data, results->count, list);
    if (as_json)
        cli_print_json(list);
}

static int run_ntt(const struct request *request, const struct cli_source *source,
    struct output_file *output, const struct cli_line *line)
{
    const pool_file_section *section = &source->section;
    const bool has_points = section->item == POOL_FILE_POINTS;
    struct results results;
    struct cli_target target;
    pool_status status;
    char size[CLI_NUMBER];
    int code = cli_open_target(line, request->is_together, &target);

    if (code != CLI_GO)
        return code;
    code = CLI_OK;
    results = results_of(request, section);
    cli_progress("transforming %s %s of %s", cli_size(section->span.count, size, sizeof(size)),
        has_points ? "points" : "elements",
        has_points ? pool_curve_name(section->curve) : pool_field_name(section->field));
    cli_watch_begin();
    if (has_points)
        status = compute_points(request, section, &target, results.data);
    else
        status = request->log_blowup ? compute_extension(request, section, &target, results.data)
                                     : compute_ntt(request, section, &target, results.data);
    cli_watch_end();
    cli_progress_end();
    if (!status && output->path && request->is_big_endian)
        cli_to_big_endian(results.field, results.form, results.data, results.count);
    if (status)
        code = cli_fail_on(line->operands[0], status, line->as_json);
    else if (output->path)
        code = cli_output_write(
            output, results.data, results.count * pool_field_element_bytes(results.field));
    else
        print_results(&results, line->as_json);
    free(results.data);
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
    if (request->log_blowup && (request->direction || request->is_coset))
        return cli_usage(self, "--extend does not go with --inverse or --coset");
    return CLI_GO;
}

/* Returns CLI_GO or an exit code. */
static int check_count(
    const struct cli_command *self, const struct request *request, const struct cli_source *source)
{
    uint64_t count = source->section.span.count;
    uint64_t n = count / request->batch;

    if (!n || n * request->batch != count || (n & (n - 1)))
        return cli_usage(self,
            "the file has %llu %s, and a transform takes a power of two%s: see --batch",
            (unsigned long long)count,
            source->section.item == POOL_FILE_POINTS ? "points" : "elements",
            request->batch > 1 ? " for each of the batch" : "");
    if (source->section.item == POOL_FILE_POINTS && request->log_blowup)
        return cli_usage(self, "--extend does not go with points");
    return CLI_GO;
}

/* Returns CLI_GO or an exit code. */
static int describe_raw(
    const struct cli_command *self, const struct request *request, struct cli_raw *raw)
{
    int code = request->curve ? cli_find_curve(self, request->curve, &raw->curve)
                              : cli_find_field(self, request->field, &raw->field);

    raw->layout = (pool_point_layout)request->layout;
    raw->form = (pool_form)request->form;
    raw->is_big_endian = request->is_big_endian;
    if (code == CLI_GO)
        code = cli_check_byte_order(self, request->is_big_endian, request->form);
    if (code == CLI_GO && request->is_big_endian && request->layout == POOL_POINT_AFFINE_FLAG)
        code = cli_usage(self, "--layout affine-flag has no big-endian form");
    return code;
}

static const char *const roots[] = {"default", "snarkjs", "halo2", "icicle", "plonky2", NULL};

int cli_run_ntt(const struct cli_command *self, struct cli_line *line)
{
    struct request request = {.field = "bn254_fr", .batch = 1, .log_blowup = NOT_GIVEN};
    const struct cli_option options[] = {
        {'f', "field", "FIELD", "field of a raw file's elements (default bn254_fr)", CLI_STRING,
            &request.field, NULL},
        {'c', "curve", "CURVE", "read the raw file as points of CURVE", CLI_STRING, &request.curve,
            NULL},
        {'l', "layout", "LAYOUT",
            "layout of a raw file's points: affine (default),\n"
            "affine-flag, jacobian, projective, xyzz",
            CLI_CHOICE, &request.layout, cli_layouts},
        {0, "form", "FORM",
            "form of a raw file's elements: standard (default),\n"
            "montgomery",
            CLI_CHOICE, &request.form, cli_forms},
        {0, "big-endian", NULL, "read and write raw files in big-endian byte order", CLI_SWITCH,
            &request.is_big_endian, NULL},
        {'i', "inverse", NULL, "compute the inverse transform", CLI_SWITCH, &request.direction,
            NULL},
        {0, "coset", NULL, "transform on the coset of the field's generator", CLI_SWITCH,
            &request.is_coset, NULL},
        {0, "order", "ORDER",
            "order of input and output: nn (default), nr, rn, rr;\n"
            "n natural, r bit-reversed",
            CLI_CHOICE, &request.order, cli_orders},
        {'b', "batch", "COUNT", "compute COUNT transforms, one after another in FILE", CLI_COUNT,
            &request.batch, NULL},
        {0, "extend", "BITS",
            "evaluate the polynomials with these values at 2^BITS\n"
            "times as many points, on the coset of the field's\n"
            "generator",
            CLI_COUNT, &request.log_blowup, NULL},
        {0, "root", "ROOT",
            "root of unity: a number, default (the field's) or a\n"
            "convention (snarkjs, halo2, icicle, plonky2); without\n"
            "it that of the file's tool, else the field's",
            CLI_STRING, &request.root, roots},
        {0, "together", NULL, CLI_TOGETHER_HELP, CLI_SWITCH, &request.is_together, NULL},
        {'o', "output", "FILE",
            "write raw elements in form and byte order of the\n"
            "input, or affine points in standard form",
            CLI_STRING, &request.output, NULL},
    };
    struct cli_raw raw = {0};
    struct cli_source source;
    struct output_file output;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code == CLI_GO)
        code = describe_raw(self, &request, &raw);
    if (code == CLI_GO)
        code = check_request(self, &request);
    if (code != CLI_GO)
        return code;
    code = cli_source_open(line->operands[0], &raw, line->as_json, &source);
    if (code != CLI_GO)
        return code;
    code = source.section.item == POOL_FILE_POINTS
               ? CLI_GO
               : cli_source_expect(self, line->operands[0], &source, POOL_FILE_ELEMENTS);
    if (code == CLI_GO)
        code = check_count(self, &request, &source);
    if (code == CLI_GO)
        code = cli_output_open(request.output, &output);
    if (code == CLI_GO)
        code = cli_output_close(&output, run_ntt(&request, &source, &output, line));
    cli_source_close(&source);
    return code;
}
