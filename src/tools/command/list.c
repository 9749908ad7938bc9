/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool list: the fields, curves and Poseidon parameter sets that other commands accept.
 */
#include <string.h>

#include "cli.h"

static pool_status list_fields(cJSON *rows)
{
    for (size_t i = 0; i < pool_field_count(); i++) {
        const pool_field *field = pool_field_at(i);
        cJSON *row = cli_add_row(rows);

        cJSON_AddStringToObject(row, "name", pool_field_name(field));
        cJSON_AddNumberToObject(row, "bits", pool_field_bits(field));
        cJSON_AddNumberToObject(row, "bytes", (double)pool_field_element_bytes(field));
        cJSON_AddNumberToObject(row, "two_adicity", pool_field_two_adicity(field));
    }
    return POOL_OK;
}

static pool_status list_curves(cJSON *rows)
{
    for (size_t i = 0; i < pool_curve_count(); i++) {
        const pool_curve *curve = pool_curve_at(i);
        const char *base = pool_field_name(pool_curve_base_field(curve));
        const char *scalars = pool_field_name(pool_curve_scalar_field(curve));
        size_t bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
        cJSON *row = cli_add_row(rows);

        cJSON_AddStringToObject(row, "name", pool_curve_name(curve));
        cJSON_AddStringToObject(row, "base_field", base);
        cJSON_AddNumberToObject(row, "degree", pool_curve_degree(curve));
        cJSON_AddStringToObject(row, "scalar_field", scalars);
        cJSON_AddNumberToObject(row, "affine_bytes", (double)bytes);
    }
    return POOL_OK;
}

static pool_status list_sets(cJSON *rows)
{
    for (size_t i = 0; i < pool_poseidon_count(); i++) {
        pool_poseidon *set = NULL;
        pool_status status = pool_poseidon_by_name(pool_poseidon_name_at(i), &set);
        cJSON *row;

        if (status)
            return status;
        row = cli_add_row(rows);
        cJSON_AddStringToObject(row, "name", pool_poseidon_name(set));
        cJSON_AddStringToObject(row, "field", pool_field_name(pool_poseidon_field(set)));
        cJSON_AddNumberToObject(row, "width", pool_poseidon_width(set));
        cJSON_AddNumberToObject(row, "inputs", pool_poseidon_max_inputs(set));
        cJSON_AddNumberToObject(row, "digest", pool_poseidon_digest_elements(set));
        pool_poseidon_destroy(&set);
    }
    return POOL_OK;
}

static const struct cli_column field_columns[] = {
    {"name", "field", CLI_SHOW_STRING},
    {"bits", "bits", CLI_SHOW_NUMBER},
    {"bytes", "bytes", CLI_SHOW_NUMBER},
    {"two_adicity", "2-adicity", CLI_SHOW_NUMBER},
};
static const struct cli_column curve_columns[] = {
    {"name", "curve", CLI_SHOW_STRING},
    {"base_field", "coordinates", CLI_SHOW_STRING},
    {"degree", "degree", CLI_SHOW_NUMBER},
    {"scalar_field", "scalars", CLI_SHOW_STRING},
    {"affine_bytes", "affine bytes", CLI_SHOW_NUMBER},
};
static const struct cli_column set_columns[] = {
    {"name", "parameter set", CLI_SHOW_STRING},
    {"field", "field", CLI_SHOW_STRING},
    {"width", "width", CLI_SHOW_NUMBER},
    {"inputs", "inputs", CLI_SHOW_NUMBER},
    {"digest", "digest", CLI_SHOW_NUMBER},
};

static const struct {
    const char *name;
    pool_status (*add_rows)(cJSON *rows);
    const struct cli_column *columns;
    size_t count;
} lists[] = {
    {"fields", list_fields, field_columns, CLI_COUNT_OF(field_columns)},
    {"curves", list_curves, curve_columns, CLI_COUNT_OF(curve_columns)},
    {"sets", list_sets, set_columns, CLI_COUNT_OF(set_columns)},
};

int cli_run_list(const struct cli_command *self, struct cli_line *line)
{
    int code = cli_parse(self, NULL, 0, line);
    size_t i = 0;
    cJSON *rows;

    if (code != CLI_GO)
        return code;
    while (i < CLI_COUNT_OF(lists) && strcmp(lists[i].name, line->operands[0]) != 0)
        i++;
    if (i == CLI_COUNT_OF(lists))
        return cli_fail_operation(self, line->operands[0]);
    rows = cJSON_CreateArray();
    return cli_print_rows_or_fail(
        lists[i].add_rows(rows), rows, lists[i].columns, lists[i].count, line);
}
