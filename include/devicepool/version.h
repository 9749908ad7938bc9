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
 * Structs that begin with struct_size may grow at their end from one version to the next. The
 * caller sets struct_size to the struct's sizeof: `{.struct_size = sizeof(params)}`, or with the
 * `…_init` function, which takes that size and clears the rest. Then a program runs with a newer
 * library and, unless it uses what is new, with an older one: members that the caller's struct
 * lacks have their default, which is zero; members that the library does not know have to be zero
 * (POOL_ERR_INVALID_ARGUMENT) and are set to zero in structs that the library fills. No byte beyond
 * struct_size is read or written. A struct_size that the struct has had in no version is refused.
 */

/* Version of the headers a program was compiled with. */
#define POOL_VERSION_MAJOR 0
#define POOL_VERSION_MINOR 1
#define POOL_VERSION_PATCH 0
#define POOL_VERSION_NUMBER                                                                        \
    (POOL_VERSION_MAJOR * 10000 + POOL_VERSION_MINOR * 100 + POOL_VERSION_PATCH)

/*
 * Version of the library a program runs with, as POOL_VERSION_NUMBER and as text ("0.1.0").
 * The text is static. Any thread, any time.
 */
POOL_API int pool_version_number(void);
POOL_API const char *pool_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
