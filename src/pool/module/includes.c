/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a compilation may read, and a digest over them.
 */
#include "pool/module/includes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/status.h"

/* Far more than the largest headers of the toolkit need; a larger set is not cached. */
#define MAX_FILES 8192u
#define MAX_BYTES (UINT64_C(256) << 20)

/* A file or a source in memory whose #include lines have to be read. */
struct text {
    char *bytes;     /* ends in a NUL */
    char *directory; /* of the file, "" is the current one */
    dev_t device, directory_device;
    ino_t file, directory_file;
    bool is_file;
};

struct search {
    const struct module_request *request;
    const char **directories;
    size_t directory_count;
    struct text *texts;
    size_t count, room;
    uint64_t bytes;
    bool reads_macros; /* a macro asks for headers, so that names in macros may be theirs */
    struct base_sha256 *digest;
    struct module_includes *found;
};

/* ---- Search paths -------------------------------------------------------------------------
 */

/* The value of option `name`, which follows it directly or is the next option. */
static const char *option_value(
    const pool_module_params *params, size_t *index, const char *name, bool may_be_joined)
{
    const char *option = params->options[*index];
    size_t length = strlen(name);

    if (strncmp(option, name, length) != 0)
        return NULL;
    if (option[length] == '=')
        return option + length + 1;
    if (option[length])
        return may_be_joined ? option + length : NULL;
    return *index + 1 < params->option_count ? params->options[++*index] : NULL;
}

static pool_status list_directories(const struct nvrtc *nvrtc, struct search *search)
{
    const pool_module_params *params = search->request->params;

    search->directories =
        base_calloc(params->option_count + DRIVER_NVRTC_INCLUDES, sizeof(*search->directories));
    if (!search->directories)
        return base_fail_memory("the include directories");
    for (size_t i = 0; i < params->option_count; i++) {
        const char *path = option_value(params, &i, "-I", true);

        if (!path)
            path = option_value(params, &i, "--include-path", false);
        if (path)
            search->directories[search->directory_count++] = path;
        else if (strstr(params->options[i], "-pch"))
            search->found->is_complete = false; /* a precompiled header cannot be read */
    }
    for (size_t i = 0; i < DRIVER_NVRTC_INCLUDES && nvrtc->includes[i][0]; i++)
        search->directories[search->directory_count++] = nvrtc->includes[i];
    return POOL_OK;
}

/* ---- Texts ------------------------------------------------------------------------------------
 */

static pool_status add_text(struct search *search, const struct text *text)
{
    if (search->count == search->room) {
        size_t room = search->room ? 2 * search->room : 64;
        struct text *more = base_realloc(search->texts, room, sizeof(*more));

        if (!more)
            return base_fail_memory("the files that a source includes");
        search->texts = more;
        search->room = room;
    }
    search->texts[search->count++] = *text;
    return POOL_OK;
}

/* "a/b" of "a/b/c.h", "" of "c.h", "/" of "/c.h". NULL: no memory. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 0;
    char *made = base_calloc(length + 1, 1);

    if (made)
        memcpy(made, path, length);
    return made;
}

/* Joins lines that end in a backslash, as the preprocessor does first. */
static void join_lines(char *text)
{
    char *to = text;

    for (const char *slash = strchr(text, '\\'); slash; slash = strchr(text, '\\')) {
        size_t removed = slash[1] == '\n' ? 2 : slash[1] == '\r' && slash[2] == '\n' ? 3 : 0;
        size_t kept = (size_t)(slash - text) + (removed ? 0 : 1);

        memmove(to, text, kept);
        to += kept;
        text += kept + removed;
    }
    memmove(to, text, strlen(text) + 1);
}

static pool_status add_memory(struct search *search, const char *name, const char *bytes)
{
    struct text text = {
        .directory = directory_of(name), .bytes = base_calloc(strlen(bytes) + 1, 1)};
    pool_status status;

    if (!text.directory || !text.bytes)
        status = base_fail_memory("the files that a source includes");
    else
        status = add_text(search, &text);
    if (status) {
        base_free(text.directory);
        base_free(text.bytes);
        return status;
    }
    memcpy(text.bytes, bytes, strlen(bytes));
    join_lines(text.bytes);
    return POOL_OK;
}

static bool is_listed(const struct search *search, const struct text *text)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct text *other = &search->texts[i];

        if (other->is_file && other->file == text->file && other->device == text->device &&
            other->directory_file == text->directory_file &&
            other->directory_device == text->directory_device)
            return true;
    }
    return false;
}

static void add_to_digest(struct search *search, const void *bytes, size_t size)
{
    uint64_t length = size;

    base_sha256_add(search->digest, &length, sizeof(length));
    base_sha256_add(search->digest, bytes, size);
}

/* Reads an open file into `text` unless it is listed already. */
static pool_status read_file(struct search *search, int file, const char *path, struct text *text)
{
    struct stat about, directory;
    size_t size;

    if (base_fstat(file, &about)) {
        search->found->is_complete = false;
        return POOL_OK;
    }
    if (!S_ISREG(about.st_mode))
        return POOL_OK;
    text->device = about.st_dev;
    text->file = about.st_ino;
    if (stat(text->directory[0] ? text->directory : ".", &directory) == 0) {
        text->directory_device = directory.st_dev;
        text->directory_file = directory.st_ino;
    }
    if (is_listed(search, text))
        return POOL_OK;
    size = (size_t)about.st_size;
    search->bytes += size;
    if (search->found->files >= MAX_FILES || search->bytes > MAX_BYTES) {
        search->found->is_complete = false;
        return POOL_OK;
    }
    text->bytes = base_calloc(size + 1, 1);
    if (!text->bytes)
        return base_fail_memory("the files that a source includes");
    if (base_read_all(file, text->bytes, size)) {
        search->found->is_complete = false;
        return POOL_OK;
    }
    search->found->files++;
    add_to_digest(search, path, strlen(path));
    add_to_digest(search, text->bytes, size);
    text->is_file = true;
    join_lines(text->bytes);
    return add_text(search, text);
}

/* A path that the compiler may try. A path that does not exist or is not a file is skipped. */
static pool_status try_path(struct search *search, const char *directory, const char *name)
{
    struct text text = {0};
    char path[PATH_MAX];
    pool_status status;
    int file;

    if (snprintf(path, sizeof(path), "%s%s%s", directory,
            directory[0] && directory[strlen(directory) - 1] != '/' ? "/" : "",
            name) >= (int)sizeof(path))
        return POOL_OK;
    file = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (file < 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP &&
            errno != ENAMETOOLONG)
            search->found->is_complete = false;
        return POOL_OK;
    }
    text.directory = directory_of(path);
    status = text.directory ? read_file(search, file, path, &text)
                            : base_fail_memory("the files that a source includes");
    base_close(file);
    if (status || !text.is_file) {
        base_free(text.directory);
        base_free(text.bytes);
    }
    return status;
}

static bool is_in_memory(const struct search *search, const char *name)
{
    const pool_module_params *params = search->request->params;

    for (size_t i = 0; i < params->header_count; i++)
        if (strcmp(params->headers[i].name, name) == 0)
            return true;
    return false;
}

/* All files to which `name` in a source of that directory can refer. */
static pool_status look_up(struct search *search, const char *directory, const char *name)
{
    pool_status status = POOL_OK;

    if (is_in_memory(search, name))
        return POOL_OK;
    if (name[0] == '/')
        return try_path(search, "", name);
    status = try_path(search, directory, name);
    for (size_t i = 0; !status && i < search->directory_count; i++)
        status = try_path(search, search->directories[i], name);
    return status;
}

/* ---- Reading #include lines -------------------------------------------------------------------
 */

static const char *skip_blanks(const char *at)
{
    for (;;) {
        while (*at == ' ' || *at == '\t' || *at == '\v' || *at == '\f')
            at++;
        if (at[0] != '/' || at[1] != '*')
            return at;
        const char *end = strstr(at + 2, "*/");

        if (!end)
            return at + strlen(at);
        at = end + 2;
    }
}

static const char query[] = "__has_include";

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Every name in quotes or angle brackets on a preprocessor line, whatever its use. */
static pool_status read_names(struct search *search, const char *directory, const char *line)
{
    size_t length = strcspn(line, "\n");

    for (const char *at = line; at < line + length; at++) {
        const char *end;
        char name[PATH_MAX];
        pool_status status;

        if (*at != '"' && *at != '<')
            continue;
        end = memchr(at + 1, *at == '"' ? '"' : '>', (size_t)(line + length - at - 1));
        if (!end)
            continue;
        if (end == at + 1 || end - at > PATH_MAX)
            continue;
        memcpy(name, at + 1, (size_t)(end - at - 1));
        name[end - at - 1] = '\0';
        status = look_up(search, directory, name);
        if (status)
            return status;
        if (*at == '"')
            at = end;
    }
    return POOL_OK;
}

/* Whether a directive's file name is computed by macros and therefore unknown. */
static bool is_computed(const char *word, size_t length, bool defines)
{
    size_t size = strcspn(word, "\n");

    if (length >= 7 && strncmp(word, "include", 7) == 0) {
        const char *name = skip_blanks(word + length);

        return *name != '"' && *name != '<';
    }
    for (const char *at = word; at < word + size; at++) {
        const char *name;

        if (strncmp(at, query, sizeof(query) - 1) != 0)
            continue;
        at += sizeof(query) - 1;
        at += strncmp(at, "_next", 5) == 0 ? 5 : 0;
        name = skip_blanks(at);
        if (*name != '(')
            continue;
        name = skip_blanks(name + 1);
        /* The parameter of a macro: the name is in the macro's uses. */
        if (*name != '"' && *name != '<' && !(defines && is_word(*name)))
            return true;
    }
    return false;
}

/*
 * Lines within comments and strings are read too: an additional name only enlarges the set, a
 * missing one would make it wrong. Strings in macros are names of headers only if a macro includes
 * headers.
 */
static pool_status read_lines(struct search *search, const char *bytes, const char *directory)
{
    pool_status status = POOL_OK;

    for (const char *line = bytes; !status && line && *line;) {
        const char *at = skip_blanks(line), *word;
        size_t length = 0;
        bool defines;

        if (*at == '#' || (at[0] == '%' && at[1] == ':')) {
            word = skip_blanks(at + (*at == '#' ? 1 : 2));
            while (is_word(word[length]))
                length++;
            defines = length == 6 && strncmp(word, "define", 6) == 0;
            if (is_computed(word, length, defines))
                search->found->is_complete = false;
            if (defines && memmem(word, strcspn(word, "\n"), query, sizeof(query) - 1))
                search->reads_macros = true;
            if (!defines || search->reads_macros)
                status = read_names(search, directory, word);
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return status;
}

/* ---- The whole --------------------------------------------------------------------------------
 */

/* Headers that options include before the source. */
static pool_status add_options(struct search *search)
{
    const pool_module_params *params = search->request->params;
    pool_status status = POOL_OK;

    for (size_t i = 0; !status && i < params->option_count; i++) {
        const char *name = option_value(params, &i, "-include", false);

        if (!name)
            name = option_value(params, &i, "--pre-include", false);
        if (name)
            status = look_up(search, search->texts[0].directory, name);
    }
    return status;
}

static pool_status find(struct search *search)
{
    const pool_module_params *params = search->request->params;
    pool_status status = add_memory(search, search->request->name, params->source);

    for (size_t i = 0; !status && i < params->header_count; i++)
        status = add_memory(search, params->headers[i].name, params->headers[i].text);
    if (!status)
        status = add_options(search);
    for (size_t i = 0; !status && i < search->count && search->found->is_complete; i++) {
        bool reads_macros = search->reads_macros;

        status = read_lines(search, search->texts[i].bytes, search->texts[i].directory);
        if (search->reads_macros != reads_macros)
            i = SIZE_MAX; /* the macros of all texts are read now */
    }
    return status;
}

pool_status module_includes_find(const struct nvrtc *nvrtc, const struct module_request *request,
    struct module_includes *includes)
{
    struct search search = {.request = request, .found = includes};
    pool_status status, ended;

    memset(includes, 0, sizeof(*includes));
    includes->is_complete = true;
    search.digest = base_sha256_begin();
    if (!search.digest)
        return base_fail_memory("the digest of what a source includes");
    status = list_directories(nvrtc, &search);
    if (!status)
        status = find(&search);
    ended = base_sha256_end(search.digest, includes->digest.bytes);
    if (!includes->files)
        memset(&includes->digest, 0, sizeof(includes->digest));
    for (size_t i = 0; i < search.count; i++) {
        base_free(search.texts[i].bytes);
        base_free(search.texts[i].directory);
    }
    base_free(search.texts);
    base_free(search.directories);
    return status ? status : ended;
}
