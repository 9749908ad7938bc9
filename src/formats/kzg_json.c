/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trusted_setup_4096.json of the consensus specifications: an object with the arrays g1_lagrange,
 * g1_monomial and g2_monomial of strings; any of them may be missing, other members are passed
 * over. The text is read twice, first to check and count and then to decode, so that no memory
 * depends on it but that of the points.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/formats.h"

static const char *const keys[FORMATS_GROUPS] = {"g1_lagrange", "g1_monomial", "g2_monomial"};

/* Of the values that are passed over; setups have none. */
enum { MAX_DEPTH = 32 };

struct json {
    const pool_file *file;
    const char *text;
    size_t at;
    size_t size;
    struct formats_setup *setup;
    bool decodes; /* second time */
};

/* 0 behind the end, which no valid text has in a place where it is looked for. */
static char peek(const struct json *json)
{
    return json->at < json->size ? json->text[json->at] : '\0';
}

static bool take(struct json *json, char wanted)
{
    if (peek(json) != wanted || json->at == json->size)
        return false;
    json->at++;
    return true;
}

static void skip_space(struct json *json)
{
    while (peek(json) == ' ' || peek(json) == '\t' || peek(json) == '\r' || peek(json) == '\n')
        json->at++;
}

/* A character of the grammar, with white space around it. */
static bool take_token(struct json *json, char wanted)
{
    bool is_there;

    skip_space(json);
    is_there = take(json, wanted);
    skip_space(json);
    return is_there;
}

static pool_status fail_syntax(const struct json *json)
{
    return formats_wrong(json->file, json->at, "the text is no JSON from here on");
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool skip_escape(struct json *json)
{
    char c = peek(json);

    if (!c || !strchr("\"\\/bfnrtu", c))
        return false;
    json->at++;
    for (int i = 0; c == 'u' && i < 4; i++, json->at++)
        if (!is_hex(peek(json)))
            return false;
    return true;
}

/* What stands between the quotes, escapes as they are: the strings that matter have none. */
static bool read_string(struct json *json, const char **text, size_t *length)
{
    size_t begin = json->at + 1;

    if (!take(json, '"'))
        return false;
    while (!take(json, '"')) {
        if ((unsigned char)peek(json) < ' ')
            return false;
        if (json->text[json->at++] == '\\' && !skip_escape(json))
            return false;
    }
    *text = json->text + begin;
    *length = json->at - 1 - begin;
    return true;
}

static bool skip_digits(struct json *json)
{
    size_t begin = json->at;

    while (peek(json) >= '0' && peek(json) <= '9')
        json->at++;
    return json->at > begin;
}

static bool skip_number(struct json *json)
{
    (void)take(json, '-');
    if (!take(json, '0') && !skip_digits(json))
        return false;
    if (take(json, '.') && !skip_digits(json))
        return false;
    if (!take(json, 'e') && !take(json, 'E'))
        return true;
    if (!take(json, '+'))
        (void)take(json, '-');
    return skip_digits(json);
}

static bool skip_word(struct json *json)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);

        if (json->size - json->at < length || memcmp(json->text + json->at, words[i], length))
            continue;
        json->at += length;
        return true;
    }
    return false;
}

static bool skip_key(struct json *json)
{
    const char *text;
    size_t length;

    return read_string(json, &text, &length) && take_token(json, ':');
}

/* Any value. Nothing is called again for what it contains: the brackets that are open are bits. */
static bool skip_value(struct json *json)
{
    uint32_t is_object = 0; /* bit 0: the innermost one */
    const char *text;
    size_t length;
    int depth = 0;

    for (;;) {
        char c = peek(json);
        bool opens = c == '{' || c == '[';

        if (opens) {
            if (++depth > MAX_DEPTH)
                return false;
            is_object = is_object << 1 | (c == '{');
            take_token(json, c);
            if (peek(json) != (c == '{' ? '}' : ']')) {
                if (c == '{' && !skip_key(json))
                    return false;
                continue;
            }
        } else if (c == '"' ? !read_string(json, &text, &length)
                            : !skip_number(json) && !skip_word(json)) {
            return false;
        }
        skip_space(json);
        while (depth && take_token(json, is_object & 1 ? '}' : ']')) {
            depth--;
            is_object >>= 1;
        }
        if (!depth)
            return true;
        if (!take_token(json, ',') || (is_object & 1 && !skip_key(json)))
            return false;
    }
}

static pool_status read_point(struct json *json, enum formats_group group, uint64_t index)
{
    const char *text, *wrong = "is no string";
    size_t begin = json->at, length;

    if (json->at == json->size)
        return fail_syntax(json);
    if (peek(json) == '"') {
        if (!read_string(json, &text, &length))
            return fail_syntax(json);
        wrong = json->decodes ? formats_setup_decode(json->setup, group, index, text, length)
                              : formats_setup_digits(group, &text, &length);
    }
    if (wrong)
        return formats_wrong(json->file, begin, "%s[%" PRIu64 "] %s", keys[group], index, wrong);
    return POOL_OK;
}

static pool_status read_array(struct json *json, enum formats_group group)
{
    uint64_t count = 0;
    pool_status status;

    if (!json->decodes && json->setup->count[group])
        return formats_wrong(json->file, json->at, "%s comes a second time", keys[group]);
    if (json->at == json->size)
        return fail_syntax(json);
    if (!take_token(json, '[') || peek(json) == ']')
        return formats_wrong(json->file, json->at, "%s is no array with points in it", keys[group]);
    do {
        status = read_point(json, group, count++);
    } while (!status && take_token(json, ','));
    if (!status && !take_token(json, ']'))
        status = fail_syntax(json);
    json->setup->count[group] = count;
    return status;
}

static pool_status read_member(struct json *json)
{
    const char *key;
    size_t length;

    if (!read_string(json, &key, &length) || !take_token(json, ':'))
        return fail_syntax(json);
    for (int group = 0; group < FORMATS_GROUPS; group++)
        if (length == strlen(keys[group]) && !memcmp(key, keys[group], length))
            return read_array(json, (enum formats_group)group);
    return skip_value(json) ? POOL_OK : fail_syntax(json);
}

static pool_status read_setup(struct json *json)
{
    pool_status status = POOL_OK;

    json->at = 0;
    if (!take_token(json, '{'))
        return fail_syntax(json);
    if (peek(json) != '}') {
        do {
            status = read_member(json);
        } while (!status && take_token(json, ','));
    }
    if (!status && (!take_token(json, '}') || json->at != json->size))
        status = fail_syntax(json);
    return status;
}

pool_status formats_read_kzg_json(pool_file *file, const char *text)
{
    struct formats_setup setup = {0};
    struct json json = {.file = file, .text = text, .size = (size_t)file->size, .setup = &setup};
    pool_status status = read_setup(&json);

    if (!status && !setup.count[0] && !setup.count[1] && !setup.count[2])
        status = formats_wrong(file, 0, "%s, %s and %s are all missing: it is no KZG setup",
            keys[0], keys[1], keys[2]);
    if (!status)
        status = formats_setup_alloc(file, &setup);
    json.decodes = true;
    return status ? status : read_setup(&json);
}
