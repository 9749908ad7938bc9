/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a part of a test in a child process, so that what it loads, latches or breaks ends with it.
 */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child an assert cannot be used; a failed check ends it and names the line. */
#define CHILD_CHECK(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* The exit code of `part` run in a forked child; -1 when it died of a signal. */
static inline int child_run(int (*part)(void *), void *argument)
{
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        int code = part(argument);

        fflush(NULL);
        _exit(code);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

#endif
