/* SPDX-License-Identifier: Apache-2.0 */
#include "base/params.h"
#include "base/math.h"

#include <string.h>

#include "base/text.h"

enum { SIZES_MAX = sizeof(((struct base_struct *)0)->sizes) / sizeof(size_t) };

static size_t current_size(const struct base_struct *type)
{
    size_t size = 0;

    for (size_t i = 0; i < SIZES_MAX && type->sizes[i]; i++)
        size = type->sizes[i];
    return size;
}

static bool is_size(const struct base_struct *type, size_t size)
{
    for (size_t i = 0; i < SIZES_MAX && type->sizes[i]; i++)
        if (size == type->sizes[i])
            return true;
    return size > current_size(type) && size <= BASE_STRUCT_BYTES_MAX;
}

/* The first byte beyond the current size that is not 0; `size` if there is none. */
static size_t first_unknown(const struct base_struct *type, const void *given, size_t size)
{
    size_t i = current_size(type);

    while (i < size && !((const unsigned char *)given)[i])
        i++;
    return i < size ? i : size;
}

bool base_struct_is_valid(const struct base_struct *type, const void *given)
{
    size_t size = 0;

    if (given)
        memcpy(&size, given, sizeof(size));
    return is_size(type, size) && first_unknown(type, given, size) == size;
}

pool_status base_struct_check(
    const struct base_struct *type, const char *call, const char *argument, const void *info)
{
    size_t size;

    if (!info)
        return base_fail_null(call, argument);
    memcpy(&size, info, sizeof(size));
    if (!is_size(type, size))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s->struct_size is %zu; set it to sizeof(%s), here %zu", call, argument, size,
            type->name, current_size(type));
    return POOL_OK;
}

pool_status base_struct_read(const struct base_struct *type, const char *call, const char *argument,
    const void *given, void *known)
{
    size_t current = current_size(type);
    size_t size, unknown;
    pool_status status = base_struct_check(type, call, argument, given);

    memset(known, 0, current);
    if (status)
        return status;
    memcpy(&size, given, sizeof(size));
    unknown = first_unknown(type, given, size);
    if (unknown < size)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %s->struct_size is %zu and byte %zu is not 0: a member that this version of the "
            "library, whose %s has %zu bytes, does not know",
            call, argument, size, unknown, type->name, current);
    memcpy(known, given, base_min(size, current));
    memcpy(known, &current, sizeof(current));
    return POOL_OK;
}

void base_struct_write(const struct base_struct *type, const void *known, void *info)
{
    size_t current = current_size(type);
    size_t size;

    memcpy(&size, info, sizeof(size));
    memcpy((char *)info + sizeof(size), (const char *)known + sizeof(size),
        base_min(size, current) - sizeof(size));
    if (size > current)
        memset((char *)info + current, 0, size - current);
}

void base_struct_init(void *params, size_t struct_size)
{
    if (!params || struct_size < sizeof(size_t) || struct_size > BASE_STRUCT_BYTES_MAX)
        return;
    memset(params, 0, struct_size);
    memcpy(params, &struct_size, sizeof(struct_size));
}

pool_status base_ranges_check(const char *call, const struct base_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct base_range *range = &ranges[i];

        if (range->value < range->least || range->value > range->most)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                range->least == range->most
                    ? "%s: unsupported value %lld for `%s`; it must be %lld"
                    : "%s: unsupported value %lld for `%s`; it must be %lld to %lld",
                call, (long long)range->value, range->member, (long long)range->least,
                (long long)range->most);
    }
    return POOL_OK;
}

pool_status base_flags_check(const char *call, const char *member, uint32_t flags, uint32_t known)
{
    if (flags & ~known)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: unsupported value 0x%x for `%s`; the supported flags are 0x%x", call, flags,
            member, known);
    return POOL_OK;
}

pool_status base_fail_null(const char *call, const char *name)
{
    return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %s must not be NULL", call, name);
}

pool_status base_pointers_check(const char *call, const struct base_pointer *pointers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!pointers[i].pointer)
            return base_fail_null(call, pointers[i].name);
    return POOL_OK;
}

pool_status base_check_array(
    const char *call, const char *name, uint64_t count, uint64_t stride, uint64_t bytes)
{
    uint64_t all;

    if (count == 0)
        return POOL_OK;
    if (__builtin_mul_overflow(count - 1, stride, &all) ||
        __builtin_add_overflow(all, bytes, &all) || all > PTRDIFF_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "%s: %llu %s of %s do not fit in memory", call,
            (unsigned long long)count, name, base_size_text(base_max(stride, bytes)).text);
    return POOL_OK;
}
