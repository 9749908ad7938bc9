/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool msm: an MSM over points and scalars from files.
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

struct request {
    const char *curve;
    const char *output;
    int layout;
    int form;
    int scalar_form;
    int is_big_endian;
    int are_scalars_big_endian;
    int is_reversed;
    int is_trusted;
    int is_together;
    uint64_t skip;
    uint64_t count;
    uint64_t batch;
};

/* The operands; fit_terms gives them the same count. */
struct terms {
    struct cli_source points;
    struct cli_source scalars;
};

static pool_status compute_msm(const struct request *request, const struct terms *terms,
    const struct cli_target *target, uint8_t *results)
{
    const pool_file_section *points = &terms->points.section;
    pool_msm_params params = {.struct_size = sizeof(params),
        .curve = points->curve,
        .point_layout = points->layout,
        .batch = request->batch,
        .shared_bases = 1};
    pool_exec exec = target->exec;
    pool_span out = {.data = results, .count = request->batch};

    if (!request->is_trusted) {
        exec.checks = POOL_CHECK_CANONICAL | POOL_CHECK_ON_CURVE;
    }
    return pool_msm(&params, &exec, &points->span, &terms->scalars.section.span, &out);
}

/* Adds a coordinate, which is one or two elements, to the report, or also prints it as a line. */
static void report_coordinate(const pool_curve *curve, const char *name, const uint8_t *coordinate,
    cJSON *report, int as_json)
{
    const pool_field *field = pool_curve_base_field(curve);
    cJSON *list = cJSON_AddArrayToObject(report, name);
    char string[CLI_ELEMENT];

    if (!as_json)
        fputs(name, stdout);
    for (uint32_t i = 0; i < pool_curve_degree(curve); i++) {
        cli_element(
            field, POOL_FORM_STANDARD, coordinate + i * pool_field_element_bytes(field), string);
        cJSON_AddItemToArray(list, cJSON_CreateString(string));
        if (!as_json)
            printf(" %s", string);
    }
    if (!as_json)
        putchar('\n');
}

/* Adds a point to the report, or also prints it. */
static void report_point(const pool_curve *curve, const uint8_t *point, cJSON *report, int as_json)
{
    static const uint8_t zeros[4 * POOL_FIELD_MAX_BYTES];
    size_t compressed = pool_encoding_bytes(curve, POOL_ENCODING_ZCASH_COMPRESSED);
    int is_infinity = memcmp(point, zeros, pool_point_bytes(curve, POOL_POINT_AFFINE)) == 0;
    uint8_t bytes[2 * POOL_FIELD_MAX_BYTES];
    char digits[4 * POOL_FIELD_MAX_BYTES + 1];

    cJSON_AddBoolToObject(report, "infinity", is_infinity);
    if (is_infinity && !as_json) {
        puts("infinity");
    } else if (!is_infinity) {
        report_coordinate(curve, "x", point, report, as_json);
        report_coordinate(curve, "y", point + pool_curve_coordinate_bytes(curve), report, as_json);
    }
    if (compressed &&
        !pool_points_encode(curve, NULL, point, 1, POOL_ENCODING_ZCASH_COMPRESSED, 0, bytes)) {
        cli_hex(bytes, compressed, digits);
        cJSON_AddStringToObject(report, "compressed", digits);
        if (!as_json)
            printf("compressed %s\n", digits);
    }
}

/* The results of a batch are separated by empty lines or, as JSON, in an array. */
static void report_results(const struct request *request, const pool_curve *curve,
    const uint8_t *results, uint64_t terms, int as_json)
{
    const size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    cJSON *report = cJSON_CreateObject(), *list = NULL;

    cJSON_AddStringToObject(report, "curve", pool_curve_name(curve));
    cJSON_AddNumberToObject(report, "terms", (double)terms);
    if (request->batch > 1)
        list = cJSON_AddArrayToObject(report, "results");
    for (uint64_t i = 0; i < request->batch; i++) {
        if (i && !as_json)
            putchar('\n');
        report_point(curve, results + i * bytes, list ? cli_add_row(list) : report, as_json);
    }
    if (as_json)
        cli_print_json(report);
    else
        cJSON_Delete(report);
}

/* Writes affine points in the byte order of the raw files. */
static int write_results(const struct request *request, const pool_curve *curve, uint8_t *results,
    struct output_file *output)
{
    const pool_field *field = pool_curve_base_field(curve);
    size_t bytes = request->batch * pool_point_bytes(curve, POOL_POINT_AFFINE);

    if (request->is_big_endian)
        cli_to_big_endian(
            field, POOL_FORM_STANDARD, results, bytes / pool_field_element_bytes(field));
    return cli_output_write(output, results, bytes);
}

static int run_msm(const struct request *request, const struct terms *terms,
    struct output_file *output, const struct cli_line *line)
{
    const pool_curve *curve = terms->points.section.curve;
    uint64_t count = terms->points.section.span.count;
    uint8_t *results;
    struct cli_target target;
    char size[CLI_NUMBER];
    char names[4096];
    pool_status status;
    int code = cli_open_target(line, request->is_together, &target);

    if (code != CLI_GO)
        return code;
    code = CLI_OK;
    results = bench_alloc(request->batch, pool_point_bytes(curve, POOL_POINT_AFFINE));
    cli_progress(
        "MSM of %s points of %s", cli_size(count, size, sizeof(size)), pool_curve_name(curve));
    cli_watch_begin();
    status = compute_msm(request, terms, &target, results);
    cli_watch_end();
    cli_progress_end();
    snprintf(names, sizeof(names), "%s with %s", line->operands[0], line->operands[1]);
    if (status)
        code = cli_fail_on(names, status, line->as_json);
    else if (output->path)
        code = write_results(request, curve, results, output);
    else
        report_results(request, curve, results, count, line->as_json);
    free(results);
    return cli_close_pool(&target.pool, code, 0);
}

/* Selects the requested scalars, in the requested order, and as many points. */
static int fit_terms(
    const struct cli_command *self, const struct request *request, struct terms *terms)
{
    pool_span *points = &terms->points.section.span;
    pool_span *scalars = &terms->scalars.section.span;
    uint64_t count;

    if (terms->scalars.section.field != pool_curve_scalar_field(terms->points.section.curve))
        return cli_usage(self, "scalars of %s do not match points of %s",
            pool_field_name(terms->scalars.section.field),
            pool_curve_name(terms->points.section.curve));
    if (request->skip > scalars->count || request->count > scalars->count - request->skip)
        return cli_usage(self, "there are only %llu scalars", (unsigned long long)scalars->count);
    scalars->data = (uint8_t *)scalars->data + request->skip * scalars->stride;
    scalars->count = request->count ? request->count : scalars->count - request->skip;
    if (!scalars->count && request->batch > 1)
        return cli_usage(
            self, "there are no scalars for a batch of %llu", (unsigned long long)request->batch);
    if (scalars->count % request->batch)
        return cli_usage(self, "%llu scalars are not a multiple of the batch of %llu",
            (unsigned long long)scalars->count, (unsigned long long)request->batch);
    count = scalars->count / request->batch;
    if (points->count < count)
        return cli_usage(self, "there are %llu scalars%s but only %llu points",
            (unsigned long long)count, request->batch > 1 ? " in each MSM" : "",
            (unsigned long long)points->count);
    points->count = count;
    if (request->is_reversed && !cli_source_reverse(&terms->scalars, request->batch))
        return cli_usage(self, "--bit-reverse needs a power of two of scalars, not %llu",
            (unsigned long long)count);
    return CLI_GO;
}

static int run_files(const struct cli_command *self, const struct request *request,
    const pool_curve *curve, const struct cli_line *line)
{
    struct cli_raw raw_points = {.curve = curve,
        .layout = (pool_point_layout)request->layout,
        .form = (pool_form)request->form,
        .is_big_endian = request->is_big_endian,
        .is_trusted = request->is_trusted};
    struct cli_raw raw_scalars = {.form = (pool_form)request->scalar_form,
        .is_big_endian = request->is_big_endian || request->are_scalars_big_endian};
    struct terms terms;
    struct output_file output;
    int code = cli_source_open(line->operands[0], &raw_points, line->as_json, &terms.points);

    if (code != CLI_GO)
        return code;
    code = cli_source_expect(self, line->operands[0], &terms.points, POOL_FILE_POINTS);
    if (code == CLI_GO) {
        raw_scalars.field = pool_curve_scalar_field(terms.points.section.curve);
        code = cli_source_open(line->operands[1], &raw_scalars, line->as_json, &terms.scalars);
    }
    if (code == CLI_GO) {
        code = cli_source_expect(self, line->operands[1], &terms.scalars, POOL_FILE_ELEMENTS);
        if (code == CLI_GO)
            code = fit_terms(self, request, &terms);
        if (code == CLI_GO)
            code = cli_output_open(request->output, &output);
        if (code == CLI_GO)
            code = cli_output_close(&output, run_msm(request, &terms, &output, line));
        cli_source_close(&terms.scalars);
    }
    cli_source_close(&terms.points);
    return code;
}

static int check_byte_order(const struct cli_command *self, const struct request *request)
{
    int code = cli_check_byte_order(self, request->is_big_endian, request->form);

    if (code == CLI_GO)
        code = cli_check_byte_order(
            self, request->is_big_endian || request->are_scalars_big_endian, request->scalar_form);
    if (code == CLI_GO && request->is_big_endian && request->layout == POOL_POINT_AFFINE_FLAG)
        code = cli_usage(self, "--layout affine-flag has no big-endian form; see "
                               "--big-endian-scalars");
    return code;
}

int cli_run_msm(const struct cli_command *self, struct cli_line *line)
{
    struct request request = {.curve = "bn254_g1", .batch = 1};
    const struct cli_option options[] = {
        {'c', "curve", "CURVE", "curve of a raw file's points (default bn254_g1)", CLI_STRING,
            &request.curve, NULL},
        {'l', "layout", "LAYOUT",
            "layout of a raw file's points: affine (default),\n"
            "affine-flag, jacobian, projective, xyzz",
            CLI_CHOICE, &request.layout, cli_layouts},
        {0, "form", "FORM",
            "form of a raw file's points: standard (default),\n"
            "montgomery",
            CLI_CHOICE, &request.form, cli_forms},
        {0, "scalar-form", "FORM", "form of a raw file's scalars, likewise", CLI_CHOICE,
            &request.scalar_form, cli_forms},
        {0, "big-endian", NULL, "read and write raw files in big-endian byte order", CLI_SWITCH,
            &request.is_big_endian, NULL},
        {0, "big-endian-scalars", NULL, "read a raw file of scalars in big-endian byte order",
            CLI_SWITCH, &request.are_scalars_big_endian, NULL},
        {0, "skip", "COUNT", "skip the first COUNT scalars", CLI_COUNT, &request.skip, NULL},
        {'n', "count", "COUNT", "use only COUNT scalars (default: all)", CLI_COUNT, &request.count,
            NULL},
        {'b', "batch", "COUNT",
            "compute COUNT MSMs over the same points; SCALARS holds\n"
            "their scalars, one MSM after another",
            CLI_COUNT, &request.batch, NULL},
        {0, "bit-reverse", NULL, "use the scalars of each MSM in bit-reversed order", CLI_SWITCH,
            &request.is_reversed, NULL},
        {0, "trusted", NULL,
            "do not check that points are on the curve, scalars\n"
            "are below its order and a KZG setup's groups match",
            CLI_SWITCH, &request.is_trusted, NULL},
        {0, "together", NULL, CLI_TOGETHER_HELP, CLI_SWITCH, &request.is_together, NULL},
        {'o', "output", "FILE", "write the raw point: affine, standard form", CLI_STRING,
            &request.output, NULL},
    };
    const pool_curve *curve;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code == CLI_GO && !request.batch)
        code = cli_usage(self, "--batch must be at least 1");
    if (code == CLI_GO)
        code = cli_find_curve(self, request.curve, &curve);
    if (code == CLI_GO)
        code = check_byte_order(self, &request);
    return code == CLI_GO ? run_files(self, &request, curve, line) : code;
}
