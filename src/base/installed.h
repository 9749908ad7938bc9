/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are installed with the library, where it was installed or where its prefix has been
 * moved to.
 */
#ifndef BASE_INSTALLED_H
#define BASE_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* Where a file or directory is: the path at installation, and relative to the library's directory
 * and to that of a program with the library in it. */
struct base_installed {
    const char *absolute;
    const char *from_library;
    const char *from_program;
};

/*
 * The first path that can be accessed in this mode (X_OK): beside the library first. False: none,
 * and `path` is the absolute one. A program that runs setuid or setgid gets the absolute one only.
 */
bool base_installed_find(const struct base_installed *file, int mode, char *path, size_t size);

#endif
