/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a GPU's multiprocessors: see parts.h.
 */
#include "pool/device/parts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "base/status.h"

#define SIZE_MAX_DIGITS 4 /* no GPU has 10,000 multiprocessors */

static const char grammar[] =
    "expected \"/2\" for two equal parts, or the multiprocessors of each part, \"/16+116\"";

/* Reads a number above 0 and moves *at past it; 0: there is none. */
static uint32_t read_number(const char **at)
{
    uint32_t value = 0;
    int digits = 0;

    for (; isdigit((unsigned char)**at) && digits <= SIZE_MAX_DIGITS; digits++)
        value = value * 10 + (uint32_t)(*(*at)++ - '0');
    return digits <= SIZE_MAX_DIGITS ? value : 0;
}

static pool_status check_count(const char *what, uint32_t count)
{
    if (count <= DEVICE_PARTS_MAX)
        return POOL_OK;
    return base_fail(POOL_ERR_INVALID_ARGUMENT, "\"%s\": a GPU can have at most %u parts", what,
        (unsigned)DEVICE_PARTS_MAX);
}

pool_status device_parts_parse(const char *text, const char *what, struct device_parts *parts)
{
    struct device_parts read = {0};
    uint32_t number;

    for (const char *at = text;; at++) {
        number = read_number(&at);
        if (!number || (*at && *at != '+'))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "\"%s\" in the device string does not say how the GPU is partitioned: %s", what,
                grammar);
        if (check_count(what, read.count + 1))
            return POOL_ERR_INVALID_ARGUMENT;
        read.sizes[read.count++] = number;
        if (!*at)
            break;
    }
    if (read.count == 1) {
        if (check_count(what, number))
            return POOL_ERR_INVALID_ARGUMENT;
        read = (struct device_parts){.count = number > 1 ? number : 0, .is_equal = number > 1};
    }
    *parts = read;
    return POOL_OK;
}

pool_status device_parts_read(const pool_params *params, struct device_parts *parts)
{
    *parts = (struct device_parts){0};
    if (params->partitions && !params->partition_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `partitions` is set, but `partition_count` is 0");
    if (params->partition_count > DEVICE_PARTS_MAX)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_create: `partition_count` is %u; a GPU can have at most %u parts",
            params->partition_count, (unsigned)DEVICE_PARTS_MAX);
    for (uint32_t i = 0; params->partitions && i < params->partition_count; i++) {
        if (!params->partitions[i])
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "pool_create: `partitions[%u]` is 0; it is a number of multiprocessors", i);
        parts->sizes[i] = params->partitions[i];
    }
    /* One part of a given size has no other that would take the rest: the GPU is one device. */
    parts->count = params->partition_count > 1 ? params->partition_count : 0;
    parts->is_equal = !params->partitions;
    return POOL_OK;
}

static uint32_t round_up(const struct device_granularity *chip, uint32_t size)
{
    uint32_t more = size > chip->fewest ? size - chip->fewest : 0;

    return chip->fewest + (uint32_t)base_ceil_div(more, chip->step) * chip->step;
}

static uint32_t round_down(const struct device_granularity *chip, uint32_t size)
{
    return chip->fewest + (size - chip->fewest) / chip->step * chip->step;
}

/* Sizes as close to `wanted` as all parts can have: each leaves the least to those after it. */
static void fit(const struct device_granularity *chip, uint32_t count, const uint32_t *wanted,
    uint32_t sizes[DEVICE_PARTS_MAX])
{
    uint32_t left = chip->multiprocessors;

    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t most = round_down(chip, left - chip->fewest * (count - 1 - i));

        sizes[i] = (uint32_t)base_min(round_up(chip, wanted[i]), most);
        left -= sizes[i];
    }
    sizes[count - 1] = left;
}

static pool_status refuse(const struct device_parts *parts, const struct device_granularity *chip,
    const char *name, const uint32_t *sizes)
{
    char asked[128] = "", possible[128] = "";
    size_t at = 0, end = 0;

    for (uint32_t i = 0; i < parts->count && at < sizeof(asked) && end < sizeof(possible); i++) {
        at +=
            (size_t)snprintf(asked + at, sizeof(asked) - at, "%s%u", i ? "+" : "", parts->sizes[i]);
        end += (size_t)snprintf(
            possible + end, sizeof(possible) - end, "%s%u", i ? "+" : "", sizes[i]);
    }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "the parts \"/%s\" do not fit into the %u multiprocessors of %s: a part has at least %u, "
        "and all but the last a multiple of %u more; \"/%s\" fits",
        asked, chip->multiprocessors, name, chip->fewest, chip->step, possible);
}

pool_status device_parts_round(const struct device_parts *parts,
    const struct device_granularity *chip, const char *name, uint32_t sizes[DEVICE_PARTS_MAX])
{
    const uint32_t most = chip->multiprocessors / chip->fewest, last = parts->count - 1;
    uint32_t equal[DEVICE_PARTS_MAX];
    bool is_less = false;

    if (parts->count > most)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%u parts do not fit into the %u multiprocessors of %s: a part has at least %u, so %u "
            "parts at most",
            parts->count, chip->multiprocessors, name, chip->fewest, most);
    for (uint32_t i = 0; parts->is_equal && i < parts->count; i++)
        equal[i] = round_down(chip, chip->multiprocessors / parts->count);
    fit(chip, parts->count, parts->is_equal ? equal : parts->sizes, sizes);
    if (parts->is_equal)
        return POOL_OK;
    for (uint32_t i = 0; i < last; i++)
        is_less = is_less || sizes[i] < parts->sizes[i];
    return is_less || sizes[last] < parts->sizes[last] ? refuse(parts, chip, name, sizes) : POOL_OK;
}
