/* SPDX-License-Identifier: Apache-2.0 */
/* IS_SANITIZED: a sanitizer keeps memory that is freed, and has threads and mappings of its own. */
#ifndef TESTS_SUPPORT_SANITIZED_H
#define TESTS_SUPPORT_SANITIZED_H

#include <stdbool.h>

/* gcc defines macros, clang has features. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

#endif
