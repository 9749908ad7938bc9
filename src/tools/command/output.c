/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files to which commands write their results.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"

static int fail_output(const struct output_file *output)
{
    return cli_fail_with("'%s' cannot be written: %s", output->path, strerror(errno));
}

int cli_output_open(const char *path, struct output_file *output)
{
    const char *wrong = output_file_open(path, output);

    return wrong ? cli_fail_with("'%s' %s", path, wrong) : CLI_GO;
}

int cli_output_write(struct output_file *output, const void *bytes, size_t count)
{
    return output_file_write(output, bytes, count) ? fail_output(output) : CLI_OK;
}

int cli_outputs_close(struct output_file *outputs, size_t count, int code)
{
    struct output_file *failed;

    if (!output_files_close(outputs, count, code == CLI_OK, &failed))
        return code;
    code = fail_output(failed);
    failed->path = NULL;
    return code;
}

int cli_output_close(struct output_file *output, int code)
{
    return cli_outputs_close(output, 1, code);
}
