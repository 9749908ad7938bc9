/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validation of the arguments of public functions with uniform messages: structs that begin with
 * struct_size, members with few values, pointers, sizes that are products.
 *
 * A struct's size is that of a version of the library: a caller built against an older one has a
 * smaller struct, whose missing members are zero; a caller built against a newer one has a larger
 * struct, which is valid if the bytes that this library does not know are zero. Every other size is
 * an error, including sizes that end inside a member.
 */
#ifndef BASE_PARAMS_H
#define BASE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* No version of any struct is larger: a struct_size above this was never set. */
#define BASE_STRUCT_BYTES_MAX 4096

/*
 * A public struct and the sizes it has had in releases, the current one last. A release that
 * appends members appends the new size; the first of the new members must begin at
 * the old size and not in the padding that ended it (tests/abi/sizes.def).
 */
struct base_struct {
    const char *name;
    size_t sizes[4]; /* ascending, then zeros */
};

#define BASE_STRUCT(type)                                                                          \
    {                                                                                              \
#type,                                                                                     \
        {                                                                                          \
            sizeof(type)                                                                           \
        }                                                                                          \
    }

/* Whether base_struct_read would succeed: for members that are needed before the call's arguments
 * are validated. */
bool base_struct_is_valid(const struct base_struct *type, const void *given);

/*
 * Copies the caller's struct into `known`, which has the current size; members that the caller's
 * lacks are zero, and known->struct_size is the current size. `call` and `argument` are for
 * messages: the public function, and the name of its argument, which must not be NULL.
 */
pool_status base_struct_read(const struct base_struct *type, const char *call, const char *argument,
    const void *given, void *known);

/* Checks a struct that is to be filled: `info` is not NULL and its struct_size is valid. */
pool_status base_struct_check(
    const struct base_struct *type, const char *call, const char *argument, const void *info);

/* Fills a checked struct, but no byte beyond its size; struct_size is unchanged, and members that
 * this library does not know are set to 0. */
void base_struct_write(const struct base_struct *type, const void *known, void *info);

/* Sets struct_size to `struct_size` and clears the rest of the struct. No-op for NULL and for sizes
 * that no struct has. */
void base_struct_init(void *params, size_t struct_size);

/* An integer member, its value, and its range. */
struct base_range {
    const char *member;
    int64_t value;
    int64_t least;
    int64_t most;
};
pool_status base_ranges_check(const char *call, const struct base_range *ranges, size_t count);
#define base_check_ranges(call, ...)                                                               \
    base_ranges_check(call, (const struct base_range[]){__VA_ARGS__},                              \
        sizeof((const struct base_range[]){__VA_ARGS__}) / sizeof(struct base_range))

/* Fails for bits that are not in `known`. */
pool_status base_flags_check(const char *call, const char *member, uint32_t flags, uint32_t known);

/* A pointer that must not be NULL. */
struct base_pointer {
    const char *name;
    const void *pointer;
};
pool_status base_pointers_check(
    const char *call, const struct base_pointer *pointers, size_t count);
#define base_check_pointers(call, ...)                                                             \
    base_pointers_check(call, (const struct base_pointer[]){__VA_ARGS__},                          \
        sizeof((const struct base_pointer[]){__VA_ARGS__}) / sizeof(struct base_pointer))

/* "CALL: NAME must not be NULL". */
pool_status base_fail_null(const char *call, const char *name);

/* Fails if `count` items that are `stride` bytes apart (the last of `bytes`) exceed PTRDIFF_MAX
 * bytes and therefore cannot be an array in memory. */
pool_status base_check_array(
    const char *call, const char *name, uint64_t count, uint64_t stride, uint64_t bytes);

#endif
