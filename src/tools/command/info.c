/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool info: the header and sections of a file of points, keys or witnesses.
 */
#include "cli.h"

static const char *item_name(const pool_file_section *section)
{
    switch (section->item) {
    case POOL_FILE_POINTS:
        return "points";
    case POOL_FILE_ELEMENTS:
        return "elements";
    default:
        return "coefficients";
    }
}

static void add_section(cJSON *sections, const pool_file_section *section)
{
    cJSON *row = cli_add_row(sections);
    const char *of = section->item == POOL_FILE_POINTS ? pool_curve_name(section->curve)
                                                       : pool_field_name(section->field);

    cJSON_AddStringToObject(row, "name", section->name);
    cJSON_AddStringToObject(row, "items", item_name(section));
    cJSON_AddStringToObject(row, "of", of);
    cJSON_AddNumberToObject(row, "count", (double)section->span.count);
    if (section->levels)
        cJSON_AddNumberToObject(row, "levels", section->levels);
    cJSON_AddStringToObject(
        row, "form", section->span.form == POOL_FORM_MONTGOMERY ? "montgomery" : "standard");
    cJSON_AddNumberToObject(row, "stride", (double)section->span.stride);
    if (section->offset)
        cJSON_AddNumberToObject(row, "offset", (double)section->offset);
}

static void add_count(cJSON *report, const char *name, uint64_t count)
{
    if (count)
        cJSON_AddNumberToObject(report, name, (double)count);
}

static void add_properties(cJSON *report, const pool_file_info *info)
{
    cJSON_AddStringToObject(report, "kind", pool_file_kind_name(info->kind));
    cJSON_AddNumberToObject(report, "version", info->version);
    cJSON_AddNumberToObject(report, "bytes", (double)info->bytes);
    if (info->field)
        cJSON_AddStringToObject(report, "scalars", pool_field_name(info->field));
    if (info->curves[0])
        cJSON_AddStringToObject(report, "g1", pool_curve_name(info->curves[0]));
    if (info->curves[1])
        cJSON_AddStringToObject(report, "g2", pool_curve_name(info->curves[1]));
    add_count(report, "power", info->power);
    add_count(report, "ceremony_power", info->ceremony_power);
    add_count(report, "domain_size", info->domain_size);
    add_count(report, "variables", info->variables);
    add_count(report, "public_signals", info->public_signals);
    add_count(report, "outputs", info->outputs);
    add_count(report, "public_inputs", info->public_inputs);
    add_count(report, "private_inputs", info->private_inputs);
    add_count(report, "labels", info->labels);
    add_count(report, "constraints", info->constraints);
    add_count(report, "custom_gates", info->custom_gates);
    add_count(report, "custom_gate_uses", info->custom_gate_uses);
    add_count(report, "unknown_sections", info->unknown_sections);
}

/* Prints one property per line, and the sections as a table. */
static void print_tables(const cJSON *report, const cJSON *sections)
{
    static const struct cli_column columns[] = {
        {"name", "section", CLI_SHOW_STRING},
        {"items", "items", CLI_SHOW_STRING},
        {"of", "of", CLI_SHOW_STRING},
        {"count", "count", CLI_SHOW_NUMBER},
        {"levels", "levels", CLI_SHOW_NUMBER},
        {"form", "form", CLI_SHOW_STRING},
        {"offset", "offset", CLI_SHOW_NUMBER},
    };
    const cJSON *property;

    cJSON_ArrayForEach(property, report)
    {
        if (cJSON_IsString(property))
            printf("%-16s %s\n", property->string, property->valuestring);
        else if (cJSON_IsNumber(property))
            printf("%-16s %.15g\n", property->string, property->valuedouble);
    }
    if (!cJSON_GetArraySize(sections))
        return;
    putchar('\n');
    cli_print_table(sections, columns, CLI_COUNT_OF(columns), stdout);
}

static pool_status describe_file(const pool_file *file, cJSON *report, cJSON *sections)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(file, &info);

    if (status)
        return status;
    add_properties(report, &info);
    for (uint64_t i = 0; i < info.sections; i++) {
        pool_file_section section = {.struct_size = sizeof(section)};

        status = pool_file_section_at(file, i, &section);
        if (status)
            return status;
        add_section(sections, &section);
    }
    return POOL_OK;
}

int cli_run_info(const struct cli_command *self, struct cli_line *line)
{
    cJSON *report;
    cJSON *sections;
    pool_file *file = NULL;
    pool_status status;
    int code = cli_parse(self, NULL, 0, line);

    if (code != CLI_GO)
        return code;
    status = pool_file_open(line->operands[0], NULL, &file);
    if (status)
        return cli_fail(status, line->as_json);
    report = cJSON_CreateObject();
    sections = cJSON_CreateArray();
    status = describe_file(file, report, sections);
    if (!status && line->as_json) {
        cJSON_AddItemReferenceToObject(report, "sections", sections);
        cli_print_json(report);
        report = NULL;
    } else if (!status) {
        print_tables(report, sections);
    }
    cJSON_Delete(report);
    cJSON_Delete(sections);
    pool_file_destroy(&file);
    return status ? cli_fail(status, line->as_json) : CLI_OK;
}
