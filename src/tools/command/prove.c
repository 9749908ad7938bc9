/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool prove: creates a Groth16 proof from snarkjs files, in snarkjs' format.
 */
#include <string.h>

#include "groth16.h"
#include "source.h"

/* Indices of the operands. */
enum { KEY, WITNESS, PROOF, PUBLIC, OPERANDS };

static void show_step(void *user, const char *step, uint64_t done, uint64_t total)
{
    char bar[4 * CLI_BAR + 8];

    (void)user;
    if (done)
        cli_progress(
            "proving: %s  %s", step, cli_bar((size_t)done, (size_t)total, bar, sizeof(bar)));
    else
        cli_progress("proving: %s", step);
}

static pool_status open_files(
    char **paths, struct groth16_job *job, pool_file **key, pool_file **witness)
{
    const pool_file_params key_params = {.struct_size = sizeof(key_params), .kind = POOL_FILE_ZKEY};
    const pool_file_params witness_params = {
        .struct_size = sizeof(witness_params), .kind = POOL_FILE_WTNS};
    pool_status status = pool_file_open(paths[KEY], &key_params, key);

    output_file_add_input(paths[KEY]);
    output_file_add_input(paths[WITNESS]);
    if (!status)
        status = pool_file_open(paths[WITNESS], &witness_params, witness);
    job->key = *key;
    job->witness = *witness;
    return status;
}

/* Reports the failure of the prover or else of the library. */
static int report_failure(
    pool_status status, const struct groth16_result *result, char **paths, int as_json)
{
    char names[2048];
    char message[4096];

    snprintf(names, sizeof(names), "%s with %s", paths[KEY], paths[WITNESS]);
    if (!*result->failure)
        return cli_fail_on(names, status, as_json);
    snprintf(message, sizeof(message), "%s: %s", names, result->failure);
    return cli_fail_as(status, message, 0, as_json);
}

static void report_proof(
    const pool_file *key, char **paths, double seconds, const struct cli_line *line)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    char size[CLI_NUMBER];
    char time[CLI_NUMBER];
    cJSON *report;

    pool_file_get_info(key, &info);
    if (!line->as_json) {
        cli_note("%s: %s, %llu variables (public: %llu), domain of %s, %s", paths[PROOF],
            pool_curve_name(info.curves[0]), (unsigned long long)info.variables,
            (unsigned long long)info.public_signals, cli_size(info.domain_size, size, sizeof(size)),
            cli_duration(seconds, time, sizeof(time)));
        return;
    }
    report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "proof", paths[PROOF]);
    cJSON_AddStringToObject(report, "public", paths[PUBLIC]);
    cJSON_AddStringToObject(report, "curve", pool_curve_name(info.curves[0]));
    cJSON_AddNumberToObject(report, "variables", (double)info.variables);
    cJSON_AddNumberToObject(report, "public_signals", (double)info.public_signals);
    cJSON_AddNumberToObject(report, "domain_size", (double)info.domain_size);
    cJSON_AddNumberToObject(report, "seconds", seconds);
    cli_print_json(report);
}

/* Devices and pipes last: what they have taken cannot be withdrawn. */
static int write_outputs(struct output_file outputs[2], const struct groth16_result *result)
{
    const char *const contents[2] = {result->proof, result->public_signals};
    int code = CLI_OK;

    for (int is_direct = 0; is_direct <= 1; is_direct++) {
        for (size_t i = 0; i < 2 && !code; i++) {
            if (outputs[i].is_direct == is_direct)
                code = cli_output_write(&outputs[i], contents[i], strlen(contents[i]));
        }
    }
    return code;
}

static int run_prover(struct groth16_job *job, int is_together, struct output_file outputs[2],
    const struct cli_line *line)
{
    struct groth16_result result = {0};
    struct cli_target target;
    double begin = bench_now();
    pool_status status;
    int code = cli_open_target(line, is_together, &target);

    if (code != CLI_GO)
        return code;
    code = CLI_OK;
    job->device = target.exec.device;
    job->devices = target.exec.devices;
    job->device_count = target.exec.device_count;
    cli_watch_begin();
    status = groth16_prove(job, &result);
    cli_watch_end();
    cli_progress_end();
    if (status)
        code = report_failure(status, &result, line->operands, line->as_json);
    else
        code = write_outputs(outputs, &result);
    if (!code)
        report_proof(job->key, line->operands, bench_now() - begin, line);
    groth16_result_free(&result);
    return cli_close_pool(&target.pool, code, 0);
}

int cli_run_prove(const struct cli_command *self, struct cli_line *line)
{
    struct groth16_job job = {.progress = show_step};
    int is_together = 0;
    const struct cli_option options[] = {
        {0, "trusted", NULL, "do not check that the key's points are on their curves", CLI_SWITCH,
            &job.is_trusted, NULL},
        {0, "together", NULL, CLI_TOGETHER_HELP, CLI_SWITCH, &is_together, NULL},
    };
    struct output_file outputs[2] = {{.file = -1}, {.file = -1}};
    pool_file *key = NULL;
    pool_file *witness = NULL;
    pool_status status;
    int code = cli_parse(self, options, CLI_COUNT_OF(options), line);

    if (code != CLI_GO)
        return code;
    status = open_files(line->operands, &job, &key, &witness);
    if (status)
        code = cli_fail(status, line->as_json);
    if (code == CLI_GO)
        code = cli_output_open(line->operands[PROOF], &outputs[0]);
    if (code == CLI_GO)
        code = cli_output_open(line->operands[PUBLIC], &outputs[1]);
    if (code == CLI_GO)
        code = run_prover(&job, is_together, outputs, line);
    code = cli_outputs_close(outputs, 2, code);
    pool_file_destroy(&witness);
    pool_file_destroy(&key);
    return code;
}
