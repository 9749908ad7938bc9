/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files to which commands write their results.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int cli_output_open(const char *path, struct cli_output *output)
{
    *output = (struct cli_output){.path = path, .file = -1};
    if (!path)
        return CLI_GO;
    output->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    output->is_new = output->file >= 0;
    if (!output->is_new && errno == EEXIST)
        output->file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (output->file >= 0)
        return CLI_GO;
    output->path = NULL;
    return cli_fail_with("'%s' cannot be written: %s", path, strerror(errno));
}

int cli_output_write(struct cli_output *output, const void *bytes, size_t count)
{
    const char *rest = bytes;

    /* EINVAL: terminals, pipes and devices have no length. */
    if (ftruncate(output->file, 0) && errno != EINVAL)
        return cli_fail_with("'%s' cannot be written: %s", output->path, strerror(errno));
    while (count) {
        ssize_t written = write(output->file, rest, count);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cli_fail_with("'%s' cannot be written: %s", output->path, strerror(errno));
        rest += written;
        count -= (size_t)written;
    }
    return CLI_OK;
}

int cli_output_close(struct cli_output *output, int code)
{
    if (!output->path)
        return code;
    if (close(output->file) && !code)
        code = cli_fail_with("'%s' cannot be written: %s", output->path, strerror(errno));
    if (code && output->is_new)
        unlink(output->path);
    output->path = NULL;
    return code;
}
