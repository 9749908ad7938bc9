/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options for NVRTC, each that sets one value once: see options.h.
 */
#include "pool/module/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/nvrtc.h"

/*
 * NVRTC searches the including file's directory unless this option (since 12.0) disables it. It is
 * set when nothing on disk is included, so that a file that is created during the compilation
 * cannot become part of it.
 */
#define NO_SOURCE_INCLUDE "--no-source-include"
#define NO_SOURCE_INCLUDE_VERSION 12000

#define STANDARD "--std=c++17"
#define ARCHITECTURE "gpu-architecture"

/* ---- names ----------------------------------------------------------------------------------- */

/* Options that have a short name of other letters; all of NVRTC 11.2 to 13.0 that set a value. */
static const char *const synonyms[][2] = {
    {"arch", ARCHITECTURE},
    {"rdc", "relocatable-device-code"},
    {"dc", "device-c"},
    {"dw", "device-w"},
    {"ewp", "extensible-whole-program"},
    {"dlto", "dlink-time-opt"},
    {"G", "device-debug"},
    {"lineinfo", "generate-line-info"},
    {"w", "disable-warnings"},
    {"default-device", "device-as-default-execution-space"},
    {"err-no", "display-error-number"},
    {"no-err-no", "no-display-error-number"},
    {"brief-diag", "brief-diagnostics"},
    {"dQ", "version-ident"},
    {"jtd", "jump-table-density"},
    {"Ofc", "Ofast-compile"},
};

/* Options of which each occurrence adds something. */
static const char *const lists[] = {"include-path", "define-macro", "undefine-macro", "include",
    "pre-include", "Xptxas", "ptxas-options", "diag-error", "diag-suppress", "diag-warn",
    "opt-info", "optimization-info"};

struct name {
    const char *text; /* NULL: this is no option that sets a value */
    size_t length;
};

static bool is_name(struct name name, const char *text)
{
    return name.text && strlen(text) == name.length && memcmp(name.text, text, name.length) == 0;
}

/* The long name of the value that an option sets: "std" of "-std=c++14". */
static struct name name_of(const char *option)
{
    static const struct name none = {NULL, 0};
    struct name name = {option, 0};

    if (option[0] != '-' || (option[1] && strchr("IDU", option[1])))
        return none; /* the value of the option before it, or a directory or macro */
    name.text += strspn(option, "-");
    name.length = strcspn(name.text, "=");
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (is_name(name, lists[i]))
            return none;
    for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
        if (is_name(name, synonyms[i][0]))
            return (struct name){synonyms[i][1], strlen(synonyms[i][1])};
    return name;
}

/* The caller's last option from `first` on that sets the same value as `option`, or NULL. */
static const char *find_last(const pool_module_params *params, size_t first, const char *option)
{
    struct name wanted = name_of(option);
    const char *found = NULL;

    for (size_t i = first; wanted.text && i < params->option_count; i++) {
        struct name name = name_of(params->options[i]);

        if (name.length == wanted.length && name.text &&
            memcmp(name.text, wanted.text, name.length) == 0)
            found = params->options[i];
    }
    return found;
}

/* ---- the target ------------------------------------------------------------------------------ */

bool module_options_target(const pool_module_params *params, struct module_target *target)
{
    const char *option = find_last(params, 0, "--" ARCHITECTURE), *chip;
    const char *value = option ? strchr(option, '=') : NULL;
    bool is_machine_code = value && strncmp(value, "=sm_", 4) == 0;

    if (!is_machine_code && (!value || strncmp(value, "=compute_", 9) != 0))
        return false;
    chip = strchr(value, '_') + 1;
    if (!isdigit((unsigned char)*chip) || strlen(chip) >= sizeof(target->chip))
        return false;
    snprintf(target->chip, sizeof(target->chip), "%s", chip);
    target->form = is_machine_code ? MODULE_CUBIN : MODULE_PTX;
    return true;
}

/* ---- the list -------------------------------------------------------------------------------- */

struct list {
    const char **options;
    size_t count;
    char *next; /* in the same allocation */
};

static void add_joined(struct list *list, const char *name, const char *value)
{
    list->options[list->count++] = list->next;
    list->next += 1 + sprintf(list->next, "%s%s", name, value);
}

/* One of the library, unless the caller has another value. */
static void add_default(struct list *list, const pool_module_params *params, const char *option)
{
    if (!find_last(params, 0, option))
        list->options[list->count++] = option;
}

static void add_callers(struct list *list, const pool_module_params *params)
{
    for (size_t i = 0; i < params->option_count; i++) {
        struct module_target target;
        const char *option = params->options[i];
        bool is_target =
            is_name(name_of(option), ARCHITECTURE) && module_options_target(params, &target);

        if (!is_target && !find_last(params, i + 1, option))
            list->options[list->count++] = option;
    }
}

const char **module_options_new(const struct nvrtc *nvrtc, const struct module_request *request,
    const struct module_target *target, int *count)
{
    const pool_module_params *params = request->params;
    struct module_target given;
    size_t texts = 64;
    size_t room = 3 + DRIVER_NVRTC_INCLUDES + params->define_count + params->option_count;
    struct list list = {0};

    for (size_t i = 0; i < params->define_count; i++)
        texts += strlen(params->defines[i]) + 3;
    for (size_t i = 0; i < DRIVER_NVRTC_INCLUDES; i++)
        texts += sizeof(nvrtc->includes[i]) + 2;
    list.options = base_calloc(room * sizeof(*list.options) + texts, 1);
    if (!list.options)
        return NULL;
    list.next = (char *)(list.options + room);
    /* An architecture that cannot be read is NVRTC's to refuse. */
    if (module_options_target(params, &given) || !find_last(params, 0, "--" ARCHITECTURE))
        add_joined(&list,
            target->form == MODULE_CUBIN ? "--" ARCHITECTURE "=sm_" : "--" ARCHITECTURE "=compute_",
            target->chip);
    add_default(&list, params, STANDARD);
    if (!request->reads_files && nvrtc->version >= NO_SOURCE_INCLUDE_VERSION)
        add_default(&list, params, NO_SOURCE_INCLUDE);
    for (size_t i = 0; i < params->define_count; i++)
        add_joined(&list, "-D", params->defines[i]);
    add_callers(&list, params);
    for (size_t i = 0; request->reads_files && i < DRIVER_NVRTC_INCLUDES; i++)
        if (nvrtc->includes[i][0])
            add_joined(&list, "-I", nvrtc->includes[i]);
    *count = (int)list.count;
    return list.options;
}
