/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads trusted_setup_4096.json of the consensus specifications: an object with the string arrays
 * g1_lagrange, g1_monomial and g2_monomial, each of which may be missing; other members are
 * skipped. The content is parsed twice, first to validate and count and then to decode, so that
 * only the points need memory.
 */
#include <inttypes.h>
#include <string.h>

#include "zk/formats/formats.h"

static const char *const keys[FORMATS_GROUPS] = {"g1_lagrange", "g1_monomial", "g2_monomial"};

/* Nesting of skipped values; setups have none. */
enum { MAX_DEPTH = 32 };

struct json {
    const pool_file *file;
    const char *content;
    size_t at;
    size_t size;
    struct formats_setup *setup;
    bool decodes; /* the second pass */
    /* Of the members that snarkjs writes; the string of "protocol", and whether a key was found. */
    const char *protocol;
    size_t protocol_length;
    bool has_key_member;
};

/* Returns 0 at the end, which is not valid anywhere in JSON. */
static char peek(const struct json *json)
{
    return json->at < json->size ? json->content[json->at] : '\0';
}

static bool accept(struct json *json, char wanted)
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

/* Accepts a character of the grammar, with white space around it. */
static bool accept_token(struct json *json, char wanted)
{
    bool is_accepted;

    skip_space(json);
    is_accepted = accept(json, wanted);
    skip_space(json);
    return is_accepted;
}

static pool_status fail_syntax(const struct json *json)
{
    return formats_fail_data(json->file, json->at, "invalid JSON");
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

/* Returns the characters between the quotes with escapes unresolved: relevant strings have none. */
static bool read_string(struct json *json, const char **content, size_t *length)
{
    size_t begin = json->at + 1;

    if (!accept(json, '"'))
        return false;
    while (!accept(json, '"')) {
        if ((unsigned char)peek(json) < ' ')
            return false;
        if (json->content[json->at++] == '\\' && !skip_escape(json))
            return false;
    }
    *content = json->content + begin;
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
    (void)accept(json, '-');
    if (!accept(json, '0') && !skip_digits(json))
        return false;
    if (accept(json, '.') && !skip_digits(json))
        return false;
    if (!accept(json, 'e') && !accept(json, 'E'))
        return true;
    if (!accept(json, '+'))
        (void)accept(json, '-');
    return skip_digits(json);
}

static bool skip_word(struct json *json)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);

        if (json->size - json->at < length || memcmp(json->content + json->at, words[i], length))
            continue;
        json->at += length;
        return true;
    }
    return false;
}

static bool skip_key(struct json *json)
{
    const char *content;
    size_t length;

    return read_string(json, &content, &length) && accept_token(json, ':');
}

/* Skips any value without recursion: the open brackets are stored as bits. */
static bool skip_value(struct json *json)
{
    uint32_t is_object = 0; /* bit 0: the innermost one */
    const char *content;
    size_t length;
    int depth = 0;

    for (;;) {
        char c = peek(json);
        bool opens = c == '{' || c == '[';

        if (opens) {
            if (++depth > MAX_DEPTH)
                return false;
            is_object = is_object << 1 | (c == '{');
            accept_token(json, c);
            if (peek(json) != (c == '{' ? '}' : ']')) {
                if (c == '{' && !skip_key(json))
                    return false;
                continue;
            }
        } else if (c == '"' ? !read_string(json, &content, &length)
                            : !skip_number(json) && !skip_word(json)) {
            return false;
        }
        skip_space(json);
        while (depth && accept_token(json, is_object & 1 ? '}' : ']')) {
            depth--;
            is_object >>= 1;
        }
        if (!depth)
            return true;
        if (!accept_token(json, ',') || (is_object & 1 && !skip_key(json)))
            return false;
    }
}

static pool_status read_point(struct json *json, enum formats_group group, uint64_t index)
{
    const char *content, *wrong = "is not a string";
    size_t begin = json->at, length;

    if (json->at == json->size)
        return fail_syntax(json);
    if (peek(json) == '"') {
        if (!read_string(json, &content, &length))
            return fail_syntax(json);
        wrong = json->decodes ? formats_setup_decode(json->setup, group, index, content, length)
                              : formats_setup_digits(group, &content, &length);
    }
    if (wrong)
        return formats_fail_data(
            json->file, begin, "%s[%" PRIu64 "] %s", keys[group], index, wrong);
    return POOL_OK;
}

static pool_status read_array(struct json *json, enum formats_group group)
{
    uint64_t count = 0;
    pool_status status;

    if (!json->decodes && json->setup->count[group])
        return formats_fail_data(json->file, json->at, "%s is duplicated", keys[group]);
    if (json->at == json->size)
        return fail_syntax(json);
    if (!accept_token(json, '[') || peek(json) == ']')
        return formats_fail_data(json->file, json->at, "%s is not an array of points", keys[group]);
    do {
        status = read_point(json, group, count++);
    } while (!status && accept_token(json, ','));
    if (!status && !accept_token(json, ']'))
        status = fail_syntax(json);
    json->setup->count[group] = count;
    return status;
}

static bool is_key(const char *key, size_t length, const char *wanted)
{
    return length == strlen(wanted) && !memcmp(key, wanted, length);
}

/* Notes what the messages about JSON files of other kinds need. */
static bool note_member(struct json *json, const char *key, size_t length)
{
    struct json value = *json;

    if (is_key(key, length, "nPublic"))
        json->has_key_member = true;
    if (!is_key(key, length, "protocol") || peek(json) != '"')
        return true;
    return read_string(&value, &json->protocol, &json->protocol_length);
}

/* None of the groups was found. */
static pool_status fail_kind(const struct json *json)
{
    enum { MAX_SHOWN = 16 };

    if (json->protocol)
        return formats_fail_data(json->file, 0,
            "not a KZG setup, but a %s of proof system %.*s, which this library does not read",
            json->has_key_member ? "verification key" : "proof",
            (int)(json->protocol_length < MAX_SHOWN ? json->protocol_length : MAX_SHOWN),
            json->protocol);
    return formats_fail_data(json->file, 0, "%s, %s and %s are missing: this is not a KZG setup",
        keys[0], keys[1], keys[2]);
}

static pool_status read_member(struct json *json)
{
    const char *key;
    size_t length;

    if (!read_string(json, &key, &length) || !accept_token(json, ':'))
        return fail_syntax(json);
    for (int group = 0; group < FORMATS_GROUPS; group++)
        if (is_key(key, length, keys[group]))
            return read_array(json, (enum formats_group)group);
    return note_member(json, key, length) && skip_value(json) ? POOL_OK : fail_syntax(json);
}

static pool_status read_setup(struct json *json)
{
    pool_status status = POOL_OK;

    json->at = 0;
    if (!accept_token(json, '{'))
        return fail_syntax(json);
    if (peek(json) != '}') {
        do {
            status = read_member(json);
        } while (!status && accept_token(json, ','));
    }
    if (!status && (!accept_token(json, '}') || json->at != json->size))
        status = fail_syntax(json);
    return status;
}

pool_status formats_read_kzg_json(pool_file *file, const char *content, struct formats_setup *setup)
{
    struct json json = {
        .file = file, .content = content, .size = (size_t)file->size, .setup = setup};
    pool_status status = read_setup(&json);

    if (!status && !setup->count[0] && !setup->count[1] && !setup->count[2])
        status = fail_kind(&json);
    if (!status)
        status = formats_setup_alloc(file, setup);
    json.decodes = true;
    return status ? status : read_setup(&json);
}
