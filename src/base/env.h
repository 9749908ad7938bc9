/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Environment variables.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stdlib.h>

/* The variable's value, or NULL if it is not set or the program runs setuid or setgid. */
static inline const char *base_env(const char *name)
{
    return secure_getenv(name);
}

#endif
