/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses fault strings. It uses the names of driver functions and codes, not the driver's state.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "driver/sim/table/rules.h"
#include "driver/sim/table/state.h"

#define MAX_RULES 256u

static const struct {
    const char *symbol;
    const char *suffix;
} functions[] = {
#define FUNCTION(field, symbol, suffix, version, need, parameters) {symbol, suffix},
    POOL_CUDA_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

static const struct {
    const char *name;
    pool_cu_result code;
} codes[] = {
#define CODE(name, code, harms) {#name, code},
    POOL_CU_RESULTS(CODE)
#undef CODE
};

/* Whether calls of a mode only enqueue work. */
#define ENQUEUES_WAIT false
#define ENQUEUES_SYNC false
#define ENQUEUES_END false
#define ENQUEUES_POST true
#define ENQUEUES_CLEANUP true
#define ENQUEUES_END_LATER true

static const bool enqueues[SIM_CU_COUNT] = {
#define CALL_ROW(function, needs, mode, sides, ...) [SIM_CU_##function] = ENQUEUES_##mode,
#include "driver/calls.def"
};

bool sim_function_enqueues_only(unsigned function)
{
    return enqueues[function];
}

bool sim_function_can_hang(unsigned function)
{
    switch (function) {
    case SIM_CU_MemcpyHtoD:
    case SIM_CU_MemcpyDtoH:
    case SIM_CU_MemcpyDtoD:
    case SIM_CU_MemcpyPeer:
    case SIM_CU_MemsetD8:
    case SIM_CU_MemsetD16:
    case SIM_CU_MemsetD32:
        return true;
    default:
        return sim_function_enqueues_only(function);
    }
}

/* A substring without the spaces around it. */
struct substring {
    const char *text;
    size_t length;
};

static struct substring trim_spaces(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t' || *begin == '\n'))
        begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n'))
        end--;
    return (struct substring){begin, (size_t)(end - begin)};
}

static const char *find_character(struct substring substring, char c)
{
    return substring.length ? memchr(substring.text, c, substring.length) : NULL;
}

static bool read_number(struct substring substring, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t at = 0; at < substring.length; at++) {
        if (substring.text[at] < '0' || substring.text[at] > '9')
            return false;
        value = value * 10 + (uint64_t)(substring.text[at] - '0');
        if (value > most)
            return false;
    }
    *number = value;
    return substring.length > 0;
}

/* Iterative, and linear in the usual case: after a mismatch only the last '*' is retried. */
static bool glob_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool sim_rule_matches(const struct sim_rule *rule, unsigned function)
{
    char full[96];
    size_t length = strlen(functions[function].symbol);

    if (glob_matches(rule->pattern, functions[function].symbol))
        return true;
    if (!functions[function].suffix[0])
        return false;
    memcpy(full, functions[function].symbol, length);
    memcpy(full + length, functions[function].suffix, strlen(functions[function].suffix) + 1);
    return glob_matches(rule->pattern, full);
}

static pool_status read_device(struct substring *name, struct sim_rule *rule)
{
    const char *dot = find_character(*name, '.');
    uint64_t number;

    rule->device = -1;
    if (!dot)
        return POOL_OK;
    struct substring device = trim_spaces(name->text, dot);
    struct substring digits = {device.text + 3, device.length - 3};
    if (device.length < 4 || memcmp(device.text, "dev", 3) != 0 ||
        !read_number(digits, SIM_MAX_DEVICES - 1, &number))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "fault string: \"%.*s\" before the dot is not dev0 … dev%d", (int)device.length,
            device.text, SIM_MAX_DEVICES - 1);
    rule->device = (int)number;
    *name = trim_spaces(dot + 1, name->text + name->length);
    return POOL_OK;
}

static pool_status read_function(struct substring name, struct sim_rule *rule)
{
    const size_t count = sizeof(functions) / sizeof(functions[0]);

    if (name.length == 0 || name.length >= sizeof(rule->pattern))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "fault string: \"%.*s\" is not the name of a driver function", (int)name.length,
            name.text);
    memcpy(rule->pattern, name.text, name.length);
    rule->pattern[name.length] = '\0';
    for (unsigned at = 0; at < count; at++) {
        if (sim_rule_matches(rule, at))
            return POOL_OK;
    }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "fault string: no driver function that the library calls is named \"%s\"", rule->pattern);
}

/* "3", "3+" or "3-5". */
static pool_status read_when(struct substring when, struct sim_rule *rule)
{
    const uint64_t most = UINT64_MAX / 16;
    const char *dash = find_character(when, '-');
    struct substring first = when;
    bool is_right;

    if (dash) {
        first = trim_spaces(when.text, dash);
        is_right = read_number(trim_spaces(dash + 1, when.text + when.length), most, &rule->last) &&
                   read_number(first, most, &rule->first);
    } else if (when.length > 0 && when.text[when.length - 1] == '+') {
        first = trim_spaces(when.text, when.text + when.length - 1);
        is_right = read_number(first, most, &rule->first);
        rule->last = UINT64_MAX;
    } else {
        is_right = read_number(first, most, &rule->first);
        rule->last = rule->first;
    }
    if (!is_right || rule->first == 0 || rule->last < rule->first)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "fault string: \"@%.*s\" says not which call; 3 is the third, 3+ from the third on, "
            "3-5 "
            "third to fifth",
            (int)when.length, when.text);
    return POOL_OK;
}

static bool name_is(struct substring substring, const char *name)
{
    return substring.length == strlen(name) && memcmp(substring.text, name, substring.length) == 0;
}

static pool_status read_what(struct substring what, struct sim_rule *rule)
{
    static const char prefix[] = "CUDA_ERROR_";
    const size_t prefix_length = sizeof(prefix) - 1;
    struct substring name = what;
    uint64_t number = 0;
    bool is_number = read_number(what, 99999, &number);

    rule->is_hang = name_is(what, "hang");
    if (rule->is_hang)
        return POOL_OK;
    if (name.length > prefix_length && memcmp(name.text, prefix, prefix_length) == 0)
        name = (struct substring){name.text + prefix_length, name.length - prefix_length};
    for (size_t at = 1; at < sizeof(codes) / sizeof(codes[0]);
         at++) { /* index 0 is SUCCESS, which is no fault */
        if (is_number ? codes[at].code == number : name_is(name, codes[at].name)) {
            rule->code = codes[at].code;
            return POOL_OK;
        }
    }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "fault string: \"=%.*s\" is neither a driver error by number or name nor \"hang\"",
        (int)what.length, what.text);
}

/* A rule without any effect is reported, because the test would not test anything. */
static pool_status check_hang(const struct sim_rule *rule)
{
    for (unsigned at = 0; at < SIM_CU_COUNT; at++) {
        if (sim_function_can_hang(at) && sim_rule_matches(rule, at))
            return POOL_OK;
    }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "fault string: %s puts no work into a stream, so it cannot hang; launches, copies, fills, "
        "host functions and events can",
        rule->pattern);
}

static pool_status read_rule(struct substring text, struct sim_rule *rule)
{
    const char *end = text.text + text.length;
    const char *equals = find_character(text, '=');
    pool_status status;

    if (!equals)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "fault string: \"%.*s\" has no \"=\"; a rule is [dev0.]function[@n]=code",
            (int)text.length, text.text);
    struct substring name = trim_spaces(text.text, equals);
    const char *at = find_character(name, '@');
    struct substring when = {NULL, 0};
    if (at) {
        when = trim_spaces(at + 1, name.text + name.length);
        name = trim_spaces(name.text, at);
    }
    memset(rule, 0, sizeof(*rule));
    rule->first = 1;
    rule->last = UINT64_MAX;
    status = read_device(&name, rule);
    if (!status)
        status = read_function(name, rule);
    if (!status && at)
        status = read_when(when, rule);
    if (!status)
        status = read_what(trim_spaces(equals + 1, end), rule);
    if (!status && rule->is_hang)
        status = check_hang(rule);
    return status;
}

static pool_status append_rule(struct sim_rules *rules, const struct sim_rule *rule)
{
    struct sim_rule *grown;

    if (rules->count == MAX_RULES)
        return base_fail(POOL_ERR_INVALID_ARGUMENT, "fault string: more than %u rules", MAX_RULES);
    grown = base_realloc(rules->items, rules->count + 1u, sizeof(*grown));
    if (!grown)
        return base_fail_memory("fault rules");
    rules->items = grown;
    rules->items[rules->count++] = *rule;
    return POOL_OK;
}

pool_status sim_rules_parse(const char *text, struct sim_rules *rules)
{
    struct sim_rules result = {NULL, 0};
    pool_status status = POOL_OK;

    while (text && *text && !status) {
        size_t length = strcspn(text, ";");
        struct substring substring = trim_spaces(text, text + length);
        struct sim_rule rule;

        if (substring.length > 0) {
            status = read_rule(substring, &rule);
            if (!status)
                status = append_rule(&result, &rule);
        }
        text += length + (text[length] == ';');
    }
    if (status)
        sim_rules_free(&result);
    else
        *rules = result;
    return status;
}

void sim_rules_free(struct sim_rules *rules)
{
    base_free(rules->items);
    rules->items = NULL;
    rules->count = 0;
}
