/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the device string of simulated devices, independently of the driver's state.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <devicepool/sim.h>

#include "base/mix.h"
#include "base/status.h"
#include "driver/sim/table/chip.h"
#include "driver/sim/table/sim.h"

#define KIB 1024u
#define DEFAULT_MEMORY ((uint64_t)8 << 30)
#define MIN_MEMORY ((uint64_t)16 << 20)
#define MAX_MEMORY ((uint64_t)512 << 30)
/* Small on purpose: a grid of a few blocks fills such a device, so quick tests reach all paths
 * that depend on the number of multiprocessors. */
#define DEFAULT_MULTIPROCESSORS 4u
#define MAX_MULTIPROCESSORS 1024u
#define MAX_THREADS 1024u

enum key {
    /* of the devices of a group */
    KEY_MEM,
    KEY_FREE,
    KEY_CC,
    KEY_SMS,
    KEY_NAME,
    /* of all devices */
    KEY_THREADS,
    KEY_LIMIT,
    KEY_REPORT,
    KEY_P2P,
    KEY_WAITS,
    KEY_SERIAL,
    KEY_JITTER,
    KEY_MPS,
    KEY_CUDA,
    KEYS
};

static const char *const key_names[KEYS] = {"mem", "free", "cc", "sms", "name", "threads", "limit",
    "report", "p2p", "waits", "serial", "jitter", "mps", "cuda"};

/* A substring of the device string. */
struct substring {
    const char *text;
    size_t length;
};

static bool substring_is(struct substring substring, const char *word)
{
    return substring.length == strlen(word) && memcmp(substring.text, word, substring.length) == 0;
}

/* Reads digits without sign or overflow; *rest is set to the characters that follow. */
static bool read_number(struct substring substring, uint64_t *number, struct substring *rest)
{
    uint64_t value = 0;
    size_t at = 0;

    for (; at < substring.length && substring.text[at] >= '0' && substring.text[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(substring.text[at] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    *rest = (struct substring){substring.text + at, substring.length - at};
    return at > 0;
}

/* A number with one of the suffixes K M G T, each `step` times the previous one. */
static bool read_scaled(struct substring substring, uint64_t step, uint64_t *number)
{
    static const char suffixes[] = "KMGT";
    struct substring rest;
    uint64_t value;

    if (!read_number(substring, &value, &rest))
        return false;
    if (rest.length > 0) {
        const char *suffix = memchr(suffixes, rest.text[0], sizeof(suffixes) - 1);
        if (!suffix || rest.length != 1)
            return false;
        for (const char *at = suffixes; at <= suffix; at++) {
            if (value > UINT64_MAX / step)
                return false;
            value *= step;
        }
    }
    *number = value;
    return true;
}

static pool_status read_memory(const char *key, struct substring value, uint64_t *bytes)
{
    uint64_t number;

    if (!read_scaled(value, KIB, &number))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: %s=%.*s is not a size; give bytes or a number with K, M, G or T", key,
            (int)value.length, value.text);
    *bytes = number;
    return POOL_OK;
}

/* "90", "9.0", "121" or "12.1". */
static pool_status read_capability(struct substring value, uint32_t *capability)
{
    struct substring rest, tail;
    uint64_t number, minor;
    bool is_number = read_number(value, &number, &rest) && number < 1000;

    if (is_number && rest.length == 2 && rest.text[0] == '.') {
        struct substring digit = {rest.text + 1, 1};
        is_number = read_number(digit, &minor, &tail) && number < 100;
        number = number * 10 + (is_number ? minor : 0);
        rest.length = 0;
    }
    if (!is_number || rest.length > 0 || !sim_chip_find((uint32_t)number))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: cc=%.*s is not a compute capability that can be simulated; these can: "
            "%s",
            (int)value.length, value.text, sim_chip_list());
    *capability = (uint32_t)number;
    return POOL_OK;
}

/* "12.4": the CUDA version of the driver. */
static pool_status read_cuda(struct substring value, uint32_t *version)
{
    struct substring rest, tail;
    uint64_t major = 0, minor = 0;
    bool is_version = read_number(value, &major, &rest) && rest.length > 1 && rest.text[0] == '.';

    if (is_version) {
        struct substring digits = {rest.text + 1, rest.length - 1};

        is_version = read_number(digits, &minor, &tail) && tail.length == 0 && major < 100 &&
                     minor < 10 && sim_chip_newest_ptx((uint32_t)(major * 1000 + minor * 10));
    }
    if (!is_version)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: cuda=%.*s is not the CUDA version of a driver that can be simulated; "
            "these can: 11.0 to 11.8, 12.0 to 12.9, 13.0",
            (int)value.length, value.text);
    *version = (uint32_t)(major * 1000 + minor * 10);
    return POOL_OK;
}

static pool_status read_bounded(
    const char *key, struct substring value, uint64_t least, uint64_t most, uint32_t *out)
{
    struct substring rest;
    uint64_t number;

    if (!read_number(value, &number, &rest) || rest.length > 0 || number < least || number > most)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: %s=%.*s is not a number from %llu to %llu", key, (int)value.length,
            value.text, (unsigned long long)least, (unsigned long long)most);
    *out = (uint32_t)number;
    return POOL_OK;
}

static pool_status read_limit(struct substring value, uint64_t *limit)
{
    if (!read_scaled(value, 1000, limit))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: limit=%.*s is not a number of instructions; K, M, G and T are "
            "thousands "
            "of one another, 0 is no limit",
            (int)value.length, value.text);
    return POOL_OK;
}

static pool_status read_name(struct substring value, char *name)
{
    if (value.length == 0 || value.length >= SIM_NAME_BYTES)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: name= takes 1 to %d characters, not %zu", SIM_NAME_BYTES - 1,
            value.length);
    for (size_t at = 0; at < value.length; at++) {
        if (value.text[at] < 0x20 || value.text[at] > 0x7e)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "device string: character %zu of name= is not printable ASCII", at + 1);
    }
    memset(name, 0, SIM_NAME_BYTES);
    memcpy(name, value.text, value.length);
    return POOL_OK;
}

static pool_status read_report_word(struct substring word, uint32_t *reports)
{
    if (substring_is(word, "uninit"))
        *reports |= POOL_SIM_REPORT_UNINITIALISED;
    else if (substring_is(word, "barrier"))
        *reports |= POOL_SIM_REPORT_BARRIER;
    else if (substring_is(word, "races"))
        *reports |= POOL_SIM_REPORT_RACES;
    else if (substring_is(word, "leak"))
        *reports |= POOL_SIM_REPORT_LEAK;
    else if (substring_is(word, "profile"))
        *reports |= POOL_SIM_REPORT_PROFILE;
    else if (substring_is(word, "unwritten"))
        *reports |= POOL_SIM_REPORT_UNWRITTEN;
    else
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: report=%.*s is unknown; there are uninit, unwritten, barrier, races, "
            "leak and profile, joined by +",
            (int)word.length, word.text);
    return POOL_OK;
}

static pool_status read_reports(struct substring value, uint32_t *reports)
{
    pool_status status = POOL_OK;

    *reports = 0;
    for (;;) {
        const char *plus = value.length ? memchr(value.text, '+', value.length) : NULL;
        struct substring word = {value.text, plus ? (size_t)(plus - value.text) : value.length};

        status = read_report_word(word, reports);
        if (status || !plus)
            return status;
        value = (struct substring){plus + 1, value.length - word.length - 1};
    }
}

struct reader {
    struct sim_config config;
    struct sim_device_config device; /* of the group that is being read */
    uint32_t count;                  /* of its devices */
    uint32_t groups;
    unsigned seen; /* bit i: key i of this group, or of all devices */
    struct substring peers;
};

static pool_status read_value(struct reader *reader, enum key key, struct substring value)
{
    struct sim_config *config = &reader->config;
    struct sim_device_config *device = &reader->device;

    switch (key) {
    case KEY_MEM:
        return read_memory("mem", value, &device->memory_bytes);
    case KEY_FREE:
        return read_memory("free", value, &device->free_bytes);
    case KEY_CC:
        return read_capability(value, &device->capability);
    case KEY_SMS:
        return read_bounded("sms", value, 1, MAX_MULTIPROCESSORS, &device->multiprocessors);
    case KEY_NAME:
        return read_name(value, device->name);
    case KEY_THREADS:
        return read_bounded("threads", value, 0, MAX_THREADS, &config->threads);
    case KEY_LIMIT:
        return read_limit(value, &config->instruction_limit);
    case KEY_REPORT:
        return read_reports(value, &config->reports);
    case KEY_P2P:
        reader->peers = value; /* once the devices are known */
        return POOL_OK;
    case KEY_WAITS:
        return read_bounded("waits", value, 0, 1, &config->has_waits);
    case KEY_SERIAL:
        return read_bounded("serial", value, 0, 1, &config->is_serial);
    case KEY_JITTER:
        return read_bounded("jitter", value, 0, UINT32_MAX, &config->jitter);
    case KEY_MPS:
        return read_bounded("mps", value, 1, 100, &config->mps_percentage);
    case KEY_CUDA:
        return read_cuda(value, &config->driver_version);
    default:
        return base_fail(POOL_ERR_INTERNAL, "device string: key %d", (int)key);
    }
}

/* Parses one part between commas: the count (the first part of a group) or key=value. */
static pool_status read_part(struct reader *reader, struct substring part, bool is_first)
{
    const char *equals = part.length ? memchr(part.text, '=', part.length) : NULL;
    struct substring name = {part.text, equals ? (size_t)(equals - part.text) : part.length};

    if (!equals && is_first)
        return read_bounded("count", part, 1, SIM_MAX_DEVICES, &reader->count);
    for (int key = 0; equals && key < KEYS; key++) {
        struct substring value = {equals + 1, part.length - name.length - 1};

        if (!substring_is(name, key_names[key]))
            continue;
        if (key >= KEY_THREADS && reader->groups)
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "device string: %s= holds for all devices: it belongs before the first \";\"",
                key_names[key]);
        if (reader->seen & 1u << key)
            return base_fail(
                POOL_ERR_INVALID_ARGUMENT, "device string: %s= is set twice", key_names[key]);
        reader->seen |= 1u << key;
        return read_value(reader, (enum key)key, value);
    }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "device string: \"%.*s\" is not understood; after \"sim:\" comes a count of devices, then "
        "mem= free= cc= sms= name= threads= limit= report= p2p= waits= serial= jitter= mps= cuda=, "
        "separated by commas; after a \";\" come devices of another kind",
        (int)part.length, part.text);
}

/* Checks conditions that involve several keys, and adds the devices of the group. */
static pool_status end_group(struct reader *reader)
{
    struct sim_device_config *device = &reader->device;
    const char *name = sim_chip_find(device->capability)->name;

    if (device->memory_bytes < MIN_MEMORY || device->memory_bytes > MAX_MEMORY)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "device string: mem= must be between 16M and 512G");
    if (!(reader->seen & 1u << KEY_FREE))
        device->free_bytes = device->memory_bytes;
    if (device->free_bytes > device->memory_bytes)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: free= (%llu bytes) is more than mem= (%llu bytes)",
            (unsigned long long)device->free_bytes, (unsigned long long)device->memory_bytes);
    if (!(reader->seen & 1u << KEY_NAME))
        memcpy(device->name, name, strlen(name));
    if (reader->count > SIM_MAX_DEVICES - reader->config.device_count)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "device string: there are more than %d devices",
            SIM_MAX_DEVICES);
    for (uint32_t i = 0; i < reader->count; i++) {
        device->identity = reader->config.device_count;
        reader->config.devices[reader->config.device_count++] = *device;
    }
    return POOL_OK;
}

/* "2,mem=1G": up to a semicolon or the end, which *at is set to. */
static pool_status read_group(struct reader *reader, const char **at, bool has_parts)
{
    reader->device = (struct sim_device_config){.memory_bytes = DEFAULT_MEMORY,
        .capability = 90,
        .multiprocessors = DEFAULT_MULTIPROCESSORS};
    reader->count = 1;
    reader->seen &= ~0u << KEY_THREADS;
    for (bool is_first = true; has_parts; is_first = false) {
        struct substring part = {*at, strcspn(*at, ",;")};
        pool_status status = read_part(reader, part, is_first);

        if (status)
            return status;
        *at += part.length;
        if (**at != ',')
            break;
        ++*at;
    }
    return end_group(reader);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void connect(struct sim_config *config, uint64_t one, uint64_t other)
{
    config->devices[one].peers |= UINT64_C(1) << other;
    config->devices[other].peers |= UINT64_C(1) << one;
}

/* "0-1": devices that address one another's memory. */
static bool read_pair(struct substring pair, struct sim_config *config)
{
    struct substring rest, tail;
    uint64_t one, other;

    if (!read_number(pair, &one, &rest) || !rest.length || *rest.text != '-')
        return false;
    rest = (struct substring){rest.text + 1, rest.length - 1};
    if (!read_number(rest, &other, &tail) || tail.length || one == other ||
        one >= config->device_count || other >= config->device_count)
        return false;
    connect(config, one, other);
    return true;
}

static pool_status read_peers(struct substring value, struct sim_config *config)
{
    if (!value.text || substring_is(value, "1")) {
        for (uint32_t i = 0; i < config->device_count; i++)
            for (uint32_t j = 0; j < i; j++)
                connect(config, i, j);
        return POOL_OK;
    }
    for (struct substring left = value; !substring_is(value, "0");) {
        const char *plus = left.length ? memchr(left.text, '+', left.length) : NULL;
        const size_t length = plus ? (size_t)(plus - left.text) : left.length;

        if (!read_pair((struct substring){left.text, length}, config))
            return base_fail(POOL_ERR_INVALID_ARGUMENT,
                "device string: p2p=%.*s is not 0 (no peers), 1 (all are peers of one another) or "
                "pairs of the devices 0 to %u, as 0-1+2-3",
                (int)value.length, value.text, config->device_count - 1);
        if (!plus)
            break;
        left = (struct substring){plus + 1, left.length - length - 1};
    }
    return POOL_OK;
}

/* ---------------------------------------------------------------------------------------------- */

bool sim_spec_is_sim(const char *spec)
{
    return spec && strncmp(spec, "sim", 3) == 0 && (spec[3] == '\0' || spec[3] == ':');
}

pool_status sim_config_parse(const char *spec, struct sim_config *config)
{
    struct reader reader = {.config = {.has_waits = 1, .driver_version = SIM_DRIVER_VERSION}};
    const char *at;
    pool_status status;

    if (!sim_spec_is_sim(spec))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "device string: simulated devices are requested by \"sim\" or \"sim:…\", not \"%.64s\"",
            spec ? spec : "(null)");
    at = spec + strlen("sim");
    do {
        const bool has_parts = *at != '\0';

        at += has_parts; /* the colon or the semicolon */
        status = read_group(&reader, &at, has_parts);
        reader.groups++;
    } while (!status && *at);
    if (!status)
        status = read_peers(reader.peers, &reader.config);
    if (!status)
        *config = reader.config;
    return status;
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

void sim_uuid(uint32_t identity, pool_cu_uuid *uuid)
{
    uint64_t state = 0x64706f6f6c73696dull + identity; /* "dpoolsim" */

    for (int half = 0; half < 2; half++) {
        const uint64_t mixed = base_mix(state += BASE_MIX_STEP);

        memcpy(uuid->bytes + 8 * half, &mixed, sizeof(mixed));
    }
}

/* "GPU-" and the first digits of a UUID, in the groups of 8, 4, 4, 4 and 12 digits. */
static bool is_uuid_of(struct substring text, uint32_t identity)
{
    char uuid[48] = "GPU-";
    size_t length = 4;
    pool_cu_uuid bytes;

    sim_uuid(identity, &bytes);
    for (int i = 0; i < 16; i++)
        length += (size_t)snprintf(uuid + length, sizeof(uuid) - length, "%s%02x",
            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)bytes.bytes[i]);
    return text.length > 4 && text.length <= length &&
           strncasecmp(text.text, uuid, text.length) == 0;
}

/* SIM_MAX_DEVICES: no device, or several. */
static uint32_t find_device(const struct sim_config *config, struct substring text)
{
    uint32_t found = SIM_MAX_DEVICES;
    struct substring rest;
    uint64_t ordinal;

    if (read_number(text, &ordinal, &rest) && !rest.length)
        return ordinal < config->device_count ? (uint32_t)ordinal : SIM_MAX_DEVICES;
    for (uint32_t i = 0; i < config->device_count; i++) {
        if (!is_uuid_of(text, i))
            continue;
        if (found < SIM_MAX_DEVICES)
            return SIM_MAX_DEVICES;
        found = i;
    }
    return found;
}

void sim_config_restrict(struct sim_config *config, const char *visible)
{
    const struct sim_config all = *config;
    uint64_t taken = 0;

    config->device_count = 0;
    memset(config->devices, 0, sizeof(config->devices));
    for (const char *at = visible; config->device_count < all.device_count;) {
        struct substring entry = {at, strcspn(at, ",")};
        uint32_t found;

        while (entry.length && *entry.text == ' ')
            entry = (struct substring){entry.text + 1, entry.length - 1};
        while (entry.length && entry.text[entry.length - 1] == ' ')
            entry.length--;
        found = find_device(&all, entry);
        if (found == SIM_MAX_DEVICES || taken >> found & 1)
            return;
        taken |= UINT64_C(1) << found;
        config->devices[config->device_count++] = all.devices[found];
        at += strcspn(at, ",");
        if (!*at++)
            return;
    }
}
