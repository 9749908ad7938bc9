/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device string: "all", ordinals and ranges, prefixes of UUIDs, PCI addresses, in a
 * comma-separated list, each with parts, "/16+116". A pure parser: it does not know which devices
 * exist.
 */
#include "pool/device/device_spec.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/status.h"

#define UUID_LENGTH 36

static const char grammar[] = "expected \"all\", ordinals and ranges (\"0,2-3\"), \"GPU-…\" or "
                              "\"MIG-…\" with the prefix of a UUID, a complete UUID, a PCI address "
                              "(\"0000:06:00.0\"), or \"sim:4\", each also after \"workers:\" and "
                              "before its parts (\"0/16+116\", \"all/2\")";

/* Reads digits as a number of at most `limit` and moves *end past them; 0: there are none. */
static int read_number(const char **end, int base, int64_t limit, int64_t *value)
{
    const char *at = *end;

    if (!(base == 16 ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at)))
        return 0;
    for (*value = 0; base == 16 ? isxdigit((unsigned char)*at) : isdigit((unsigned char)*at);
         at++) {
        int digit =
            isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10;

        *value = *value * base + digit;
        if (*value > limit)
            return 0;
    }
    *end = at;
    return 1;
}

int pci_address_parse(const char *text, struct pci_address *address)
{
    int64_t parts[3], function = -1;
    int count = 0;

    for (;;) {
        if (!read_number(&text, 16, count ? 0xff : 0xffffffff, &parts[count]))
            return 0;
        count++;
        if (*text != ':' || count == 3)
            break;
        text++;
    }
    if (count < 2)
        return 0;
    if (*text == '.') {
        text++;
        if (!read_number(&text, 16, 7, &function))
            return 0;
    }
    if (*text || parts[count - 2] > 0xff || parts[count - 1] > 0x1f)
        return 0;
    address->domain = count == 3 ? parts[0] : -1;
    address->bus = (int)parts[count - 2];
    address->device = (int)parts[count - 1];
    address->function = (int)function;
    return 1;
}

int pci_address_matches(const struct pci_address *wanted, const struct pci_address *whole)
{
    return (wanted->domain < 0 || wanted->domain == whole->domain) && wanted->bus == whole->bus &&
           wanted->device == whole->device &&
           (wanted->function < 0 || wanted->function == whole->function);
}

static int parse_ordinals(const char *text, struct device_selector *selector)
{
    int64_t first, last;

    if (!read_number(&text, 10, INT_MAX, &first))
        return 0;
    last = first;
    if (*text == '-') {
        text++;
        if (!read_number(&text, 10, INT_MAX, &last))
            return 0;
    }
    if (*text || last < first)
        return 0;
    selector->kind = DEVICE_SELECT_ORDINALS;
    selector->first = (int)first;
    selector->last = (int)last;
    return 1;
}

/* The characters of a complete UUID, 8-4-4-4-12 hexadecimal digits. */
static int is_whole_uuid(const char *text)
{
    for (int i = 0; i < UUID_LENGTH; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
                                                    : !isxdigit((unsigned char)text[i]))
            return 0;
    return 1;
}

/* "/1/2", the numbers of the GPU instance and of the compute instance. */
static int is_instance(const char *text)
{
    int64_t number;

    for (int i = 0; i < 2; i++) {
        if (*text++ != '/' || !read_number(&text, 10, INT_MAX, &number))
            return 0;
    }
    return !*text;
}

/* "GPU-" or "MIG-" and at least one digit, at most a complete UUID; a complete UUID alone; and the
 * form that drivers before 470 have for MIG instances, "MIG-GPU-…/1/2". */
static int parse_uuid(const char *text, struct device_selector *selector)
{
    size_t length = strlen(text);
    bool is_prefixed = !strncasecmp(text, "GPU-", 4) || !strncasecmp(text, "MIG-", 4);

    selector->kind = DEVICE_SELECT_UUID;
    if (!strncasecmp(text, DEVICE_OLD_MIG, strlen(DEVICE_OLD_MIG))) {
        text += strlen(DEVICE_OLD_MIG);
        return is_whole_uuid(text) && is_instance(text + UUID_LENGTH);
    }
    if (!is_prefixed)
        return is_whole_uuid(text) && length == UUID_LENGTH;
    return length >= 5 && length <= 4 + UUID_LENGTH && text[4] != '-' &&
           strspn(text + 4, "0123456789abcdefABCDEF-") == length - 4;
}

static int parse_pci(const char *text, struct device_selector *selector)
{
    selector->kind = DEVICE_SELECT_PCI;
    return strchr(text, ':') && pci_address_parse(text, &selector->pci);
}

/* Where "/16+116" begins: behind "MIG-GPU-…/1/2" if the element has that form. */
static size_t length_of_name(const char *part, size_t length)
{
    const bool is_old_mig = length > strlen(DEVICE_OLD_MIG) &&
                            !strncasecmp(part, DEVICE_OLD_MIG, strlen(DEVICE_OLD_MIG));
    size_t slashes = is_old_mig ? 3 : 1, i = 0;

    while (i < length && !(part[i] == '/' && --slashes == 0))
        i++;
    return i;
}

static pool_status parse_parts(const char *part, size_t length, struct device_selector *selector)
{
    char what[512], parts[512];
    const size_t name = length_of_name(part, length);

    if (name == length)
        return POOL_OK;
    if (length >= sizeof(what))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "\"%.*s…\" in the device string is too long: %s", 20, part, grammar);
    snprintf(what, sizeof(what), "%.*s", (int)length, part);
    snprintf(parts, sizeof(parts), "%s", what + name + 1);
    return device_parts_parse(parts, what, &selector->parts);
}

static pool_status parse_selector(const char *part, size_t length, struct device_selector *selector)
{
    pool_status status;

    while (length && isspace((unsigned char)part[0])) {
        part++;
        length--;
    }
    while (length && isspace((unsigned char)part[length - 1]))
        length--;
    if (!length)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "the device string has an empty element: %s", grammar);
    status = parse_parts(part, length, selector);
    if (status)
        return status;
    length = length_of_name(part, length);
    if (length >= sizeof(selector->text))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "\"%.*s…\" in the device string is too long: %s", 20, part, grammar);
    memcpy(selector->text, part, length);
    selector->text[length] = '\0';
    if (!strcasecmp(selector->text, "all")) {
        selector->kind = DEVICE_SELECT_ALL;
        return POOL_OK;
    }
    if (parse_uuid(selector->text, selector) || parse_ordinals(selector->text, selector) ||
        parse_pci(selector->text, selector))
        return POOL_OK;
    if (!strncasecmp(selector->text, "sim", 3))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "simulated devices (\"%s\") cannot be mixed with others in one device string",
            selector->text);
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "\"%s\" in the device string does not name a device: %s", selector->text, grammar);
}

pool_status device_spec_parse(const char *text, struct device_selector **selectors, size_t *count)
{
    struct device_selector *list;
    size_t parts = 1, used = 0;
    pool_status status = POOL_OK;

    for (const char *at = text; *at; at++)
        parts += *at == ',';
    list = base_calloc(parts, sizeof(*list));
    if (!list)
        return base_fail_memory("the device string");
    for (const char *at = text; !status && used < parts; used++) {
        size_t length = strcspn(at, ",");

        status = parse_selector(at, length, &list[used]);
        at += length + (at[length] == ',');
    }
    if (status) {
        base_free(list);
        return status;
    }
    *selectors = list;
    *count = parts;
    return POOL_OK;
}
