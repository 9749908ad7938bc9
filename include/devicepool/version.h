/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of the library and the macros that every public header needs.
 */
#ifndef DEVICEPOOL_VERSION_H
#define DEVICEPOOL_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(POOL_BUILDING) && defined(__GNUC__)
#define POOL_API __attribute__((visibility("default")))
#else
#define POOL_API
#endif

/*
 * Structs that begin with struct_size may grow at their end in later versions. The caller sets
 * struct_size to the struct's sizeof: `{.struct_size = sizeof(params)}`, or with the `…_init`
 * function, which takes that size and clears the rest. A program then runs with newer versions of
 * the library and, unless it uses new members, with older ones: members that the caller's struct
 * lacks have their default, which is zero; members that the library does not know must be zero
 * (POOL_ERR_INVALID_ARGUMENT) and are set to zero in structs that the library fills. No byte beyond
 * struct_size is read or written. A struct_size that no version of the struct has had is an error.
 */

/* Version of the headers with which a program is compiled. */
#define POOL_VERSION_MAJOR 0
#define POOL_VERSION_MINOR 1
#define POOL_VERSION_PATCH 0
#define POOL_VERSION_NUMBER                                                                        \
    (POOL_VERSION_MAJOR * 10000 + POOL_VERSION_MINOR * 100 + POOL_VERSION_PATCH)

/*
 * Version of the library with which a program runs, as POOL_VERSION_NUMBER and as a string,
 * "0.1.0". The string is static. Any thread.
 */
POOL_API int pool_version_number(void);
POOL_API const char *pool_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
