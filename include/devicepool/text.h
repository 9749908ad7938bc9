/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptions that the library writes: as plain text for people, or as JSON.
 */
#ifndef DEVICEPOOL_TEXT_H
#define DEVICEPOOL_TEXT_H

#include <devicepool/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The format of a description. */
typedef enum pool_text_format {
    POOL_TEXT_PLAIN = 0, /* for people; not meant to be parsed */
    POOL_TEXT_JSON = 1   /* one JSON value; members are only ever added */
} pool_text_format;

/* Frees a text that a function of the library allocated and sets *text to NULL; NULL and a pointer
 * to NULL are no-ops. */
POOL_API void pool_text_free(char **text);

#ifdef __cplusplus
}
#endif

#endif
