/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NVRTC compiles for a device: builtins libraries beside compilers outside the loader's path,
 * the order of several compilers, drivers that refuse what one of them makes, and verdicts in the
 * disk cache. The compilers are fakes in the directory of a toolkit; those of the host are not
 * found, neither by the loader's cache nor in /usr/local/cuda.
 */
#include "support/mock_pool.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "pool/module/image.h"
#include "support/child.h"
#include "support/loader.h"
#include "unit/fake/libnvrtc.h"

static char root[64], lib[96];
static struct fake_nvrtc *fake, *old; /* the controls of versions 13.0 and 12.4 in this process */

static struct {
    atomic_int warnings, errors;
    char warning[2048], used[512];
} heard;

static void hear(void *user, const pool_log_record *record)
{
    (void)user;
    if (record->level == POOL_LOG_WARN && strstr(record->message, "NVRTC does not work: ")) {
        snprintf(heard.warning, sizeof(heard.warning), "%s", record->message);
        atomic_fetch_add(&heard.warnings, 1);
    }
    if (record->level == POOL_LOG_INFO && strstr(record->message, " is used instead"))
        snprintf(heard.used, sizeof(heard.used), "%s", record->message);
    if (record->level == POOL_LOG_ERROR)
        atomic_fetch_add(&heard.errors, 1);
}

/* For the library's calls; the fakes have their own. */
static _Thread_local char hidden[512];
void *__real_dlopen(const char *name, int flags);
char *__real_dlerror(void);
void *__wrap_dlopen(const char *name, int flags);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *name, int flags)
{
    hidden[0] = '\0';
    if (!name || strncmp(name, "/usr/local/cuda/", 16) != 0)
        return __real_dlopen(name, flags);
    snprintf(hidden, sizeof(hidden), "%s: No such file or directory", name);
    return NULL;
}

char *__wrap_dlerror(void)
{
    return hidden[0] ? hidden : __real_dlerror();
}

static int shell(const char *format, ...)
{
    char command[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    return system(command);
}

/* A new toolkit directory with the given compilers, each with its builtins library. */
static void lay_out(bool has_new, bool has_old)
{
    assert_int_equal(shell("rm -rf %s && mkdir -p %s", root, lib), 0);
    if (has_new)
        assert_int_equal(shell("cp %s/libnvrtc_works.so %s/libnvrtc.so.13 && "
                               "cp %s/libnvrtc_builtins_13.0.so %s/libnvrtc-builtins.so.13.0",
                             FAKE_DIRECTORY, lib, FAKE_DIRECTORY, lib),
            0);
    if (has_old)
        assert_int_equal(shell("cp %s/libnvrtc_works_old.so %s/libnvrtc.so.12 && "
                               "cp %s/libnvrtc_builtins_12.4.so %s/libnvrtc-builtins.so.12.4",
                             FAKE_DIRECTORY, lib, FAKE_DIRECTORY, lib),
            0);
}

static struct fake_nvrtc *control_of(const char *name)
{
    char path[160];
    void *library;

    snprintf(path, sizeof(path), "%s/%s", lib, name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, "fake_nvrtc_control") : NULL;
}

/* In a child: the controls of the compilers that were laid out, both as the real one is. */
static void find_controls(void)
{
    pool_log_set(hear, NULL, POOL_LOG_INFO);
    fake = control_of("libnvrtc.so.13");
    old = control_of("libnvrtc.so.12");
    if (fake)
        fake->needs_builtins = 1;
    if (old)
        old->needs_builtins = 1;
}

static pool_status compile(struct world *world, const char *source)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = source, .name = "own.cu"};
    pool_module *module = NULL;
    pool_status status = pool_module_compile(device_of(world, 0), &params, &module);

    pool_module_destroy(&module);
    return status;
}

static pool_component compiler_of(struct world *world)
{
    pool_component compiler;

    assert_ok(pool_device_get_compiler(device_of(world, 0), &compiler));
    return compiler;
}

static bool describes(struct world *world, const char *first, const char *second)
{
    char *text, *json;
    bool result;

    assert_ok(pool_describe(world->pool, POOL_TEXT_PLAIN, &text));
    assert_ok(pool_describe(world->pool, POOL_TEXT_JSON, &json));
    result = strstr(text, first) && strstr(text, second) && strstr(json, second);
    if (!result)
        fprintf(stderr, "%s\n%s\n", text, json);
    pool_text_free(&text);
    pool_text_free(&json);
    return result;
}

static bool has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fprintf(stderr, "\"%s\" is not in: %s\n", part, text);
    return strstr(text, part) != NULL;
}

/* ---- the builtins library -------------------------------------------------------------------- */

static int use_outside_path(void *argument)
{
    struct world world = world_with_pool(1);
    pool_component compiler;

    (void)argument;
    find_controls();
    CHILD_CHECK(compile(&world, "own") == POOL_OK);
    CHILD_CHECK(fake->compiled == 1 && fake->trials == 1);
    compiler = compiler_of(&world);
    CHILD_CHECK(!compiler.status && compiler.version == 13000 && !compiler.message[0]);
    CHILD_CHECK(has(compiler.path, root) && heard.warnings == 0 && heard.errors == 0);
    world_end(&world);
    return 0;
}

static void test_builtins_beside_it(void **state)
{
    (void)state;
    lay_out(true, false);
    assert_int_equal(child_run(use_outside_path, NULL), 0);
    /* The library is a link to another directory; its builtins are beside it or beside the link. */
    lay_out(true, false);
    assert_int_equal(shell("cd %s && mkdir ../real && mv *.so.13* ../real && "
                           "ln -s ../real/libnvrtc.so.13 .",
                         lib),
        0);
    assert_int_equal(child_run(use_outside_path, NULL), 0);
    lay_out(true, false);
    assert_int_equal(shell("cd %s && mkdir ../real && mv libnvrtc.so.13 ../real && "
                           "ln -s ../real/libnvrtc.so.13 .",
                         lib),
        0);
    assert_int_equal(child_run(use_outside_path, NULL), 0);
}

/* What a compiler says that does not work, wherever one asks. */
static int use_without_builtins(void *argument)
{
    const char *reason = argument;
    struct world world = world_with_pool(1);
    pool_host_info info = {.struct_size = sizeof(info)};
    pool_component compiler;

    find_controls();
    CHILD_CHECK(describes(&world, "compiler  ", "it has not been tried yet"));
    CHILD_CHECK(pool_msm_warm_up(pool_curve_by_name("bn254_g1"),
                    &(pool_exec){.struct_size = sizeof(pool_exec),
                        .device = device_of(&world, 0)}) == POOL_OK);
    CHILD_CHECK(heard.warnings == 1 && heard.errors == 0 && fake->compiled == 0);
    CHILD_CHECK(strncmp(heard.warning, "NVRTC does not work: ", 21) == 0);
    CHILD_CHECK(has(heard.warning, reason) && has(heard.warning, "; reinstall NVRTC, or set"));
    CHILD_CHECK(!strchr(heard.warning, '\n'));
    compiler = compiler_of(&world);
    CHILD_CHECK(compiler.status == POOL_ERR_NO_COMPILER && compiler.version == 0);
    CHILD_CHECK(strcmp(compiler.message, heard.warning) == 0);
    CHILD_CHECK(describes(&world, "compiler  none (NVRTC does not work: ", reason));
    CHILD_CHECK(describes(&world, "), the library uses its prebuilt PTX", "reinstall NVRTC"));
    CHILD_CHECK(fake->trials == 1);
    CHILD_CHECK(compile(&world, "own") == POOL_ERR_NO_COMPILER && fake->trials == 1);
    CHILD_CHECK(has(pool_last_error()->message, heard.warning));
    CHILD_CHECK(pool_host_get_info(&info) == POOL_OK);
    CHILD_CHECK(info.compiler.status == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(strcmp(info.compiler.message, heard.warning) == 0 && heard.warnings == 1);
    world_end(&world);
    return 0;
}

static void test_missing_builtins(void **state)
{
    char place[160];

    (void)state;
    lay_out(true, false);
    unlink(strcat(strcpy(place, lib), "/libnvrtc-builtins.so.13.0"));
    assert_int_equal(child_run(use_without_builtins, place), 0);
    assert_int_equal(child_run(use_without_builtins, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"), 0);
}

static void test_foreign_builtins(void **state)
{
    (void)state;
    lay_out(true, false);
    assert_int_equal(shell("cp %s/libnvrtc_builtins_12.4.so %s/libnvrtc-builtins.so.13.0 && "
                           "sed -i 's/libnvrtc-builtins.so.12.4/libnvrtc-builtins.so.13.0/' "
                           "%s/libnvrtc-builtins.so.13.0",
                         FAKE_DIRECTORY, lib, lib),
        0);
    assert_int_equal(
        child_run(use_without_builtins, "builtins.h(1): error: foreign builtins; its"), 0);
    assert_int_equal(shell("echo this is no library > %s/libnvrtc-builtins.so.13.0", lib), 0);
    assert_int_equal(child_run(use_without_builtins, "libnvrtc-builtins.so.13.0"), 0);
}

/* ---- several compilers ----------------------------------------------------------------------- */

/* A driver that refuses what the given versions make. */
struct refusal {
    pool_cu_code code;
    bool of_new, of_old;
    unsigned seen_new, seen_old; /* images */
};

static pool_cu_result refuse(void *user, const char *function, uint64_t call)
{
    struct refusal *refusal = user;
    bool is_new = fake && fake->images != refusal->seen_new;
    bool is_old = old && old->images != refusal->seen_old;

    (void)call;
    if (strcmp(function, "cuModuleLoadDataEx") != 0)
        return 0;
    refusal->seen_new = fake ? fake->images : 0;
    refusal->seen_old = old ? old->images : 0;
    return (is_new && refusal->of_new) || (is_old && refusal->of_old)
               ? (pool_cu_result)refusal->code
               : 0;
}

static int use_older(void *argument)
{
    struct refusal refusal = {.code = *(pool_cu_code *)argument, .of_new = true};
    struct world world = world_with_pool(2);
    pool_component compiler;
    char number[16];

    find_controls();
    pool_mock_set_hook(world.mock, refuse, &refusal);
    CHILD_CHECK(compile(&world, "own") == POOL_OK);
    CHILD_CHECK(fake->trials == 1 && fake->compiled == 0);
    CHILD_CHECK(old->trials == 1 && old->compiled == 1);
    CHILD_CHECK(heard.errors == 0 && heard.warnings == 1);
    snprintf(number, sizeof(number), "(%d)", refusal.code);
    CHILD_CHECK(has(heard.warning, "does not load the machine code that NVRTC 13.0 of "));
    CHILD_CHECK(
        has(heard.warning, number) && has(heard.warning, "; update the driver, or install"));
    CHILD_CHECK(has(heard.used, "NVRTC 12.4 of "));
    compiler = compiler_of(&world);
    CHILD_CHECK(!compiler.status && compiler.version == 12040);
    CHILD_CHECK(strcmp(compiler.message, heard.warning) == 0);
    CHILD_CHECK(describes(&world, "libnvrtc.so.12, NVRTC 12.4; NVRTC does not work: ", number));
    /* The second device has the same chip and driver. */
    CHILD_CHECK(!pool_device_get_compiler(device_of(&world, 1), &compiler));
    CHILD_CHECK(compiler.version == 12040 && fake->trials == 1 && old->trials == 1);
    world_end(&world);
    return 0;
}

static void test_newer_than_the_driver(void **state)
{
    pool_cu_code codes[] = {
        POOL_CU_UNSUPPORTED_PTX_VERSION, POOL_CU_NO_BINARY_FOR_GPU, POOL_CU_INVALID_IMAGE};

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        lay_out(true, true);
        assert_int_equal(child_run(use_older, &codes[i]), 0);
    }
}

static int use_for_old_chip(void *argument)
{
    struct world world = world_with_pool(1);
    pool_component compiler;

    (void)argument;
    find_controls();
    fake->oldest_arch = 100;
    CHILD_CHECK(compile(&world, "own") == POOL_OK);
    compiler = compiler_of(&world);
    CHILD_CHECK(compiler.version == 12040 && has(compiler.message, "does not compile for sm_90"));
    world_end(&world);
    return 0;
}

static void test_chip_of_older_one(void **state)
{
    (void)state;
    lay_out(true, true);
    assert_int_equal(child_run(use_for_old_chip, NULL), 0);
}

static int use_prebuilt(void *argument)
{
    struct refusal refusal = {.code = POOL_CU_UNSUPPORTED_PTX_VERSION, true, true, 0, 0};
    struct world world = world_with_pool(1);
    pool_component compiler;

    (void)argument;
    find_controls();
    pool_mock_set_hook(world.mock, refuse, &refusal);
    CHILD_CHECK(pool_msm_warm_up(pool_curve_by_name("bn254_g1"),
                    &(pool_exec){.struct_size = sizeof(pool_exec),
                        .device = device_of(&world, 0)}) == POOL_OK);
    CHILD_CHECK(fake->trials == 1 && old->trials == 1 && !fake->compiled && !old->compiled);
    CHILD_CHECK(heard.errors == 0 && heard.warnings == 2);
    CHILD_CHECK(compile(&world, "own") == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(has(pool_last_error()->message, "own.cu has to be compiled"));
    CHILD_CHECK(has(pool_last_error()->message, "NVRTC 13.0 of "));
    CHILD_CHECK(has(pool_last_error()->message, "NVRTC 12.4 of "));
    compiler = compiler_of(&world);
    CHILD_CHECK(compiler.status == POOL_ERR_NO_COMPILER && has(compiler.message, "(222)"));
    world_end(&world);
    return 0;
}

static void test_none_of_them(void **state)
{
    (void)state;
    lay_out(true, true);
    assert_int_equal(child_run(use_prebuilt, NULL), 0);
}

/* ---- what was compiled and is refused -------------------------------------------------------- */

/* The trial is loaded, and later the driver refuses the first image of a program. */
static int refuse_program(void *argument)
{
    bool is_compiler = *(bool *)argument;
    struct world world = world_with_pool(1);
    struct refusal refusal = {.code = POOL_CU_INVALID_IMAGE, .of_new = is_compiler};

    find_controls();
    CHILD_CHECK(compile(&world, "own") == POOL_OK && fake->trials == 1);
    if (is_compiler)
        pool_mock_set_hook(world.mock, refuse, &refusal);
    else
        pool_mock_fail(world.mock, "cuModuleLoadDataEx", 1, POOL_CU_INVALID_IMAGE, POOL_MOCK_ONCE);
    refusal.seen_new = fake->images;
    if (is_compiler) {
        CHILD_CHECK(compile(&world, "other") == POOL_OK && old->compiled == 1);
        CHILD_CHECK(heard.errors == 0 && heard.warnings == 1);
        CHILD_CHECK(compiler_of(&world).version == 12040);
    } else { /* the same image once more is loaded here: only the compiler's part is tested */
        CHILD_CHECK(compile(&world, "other") == POOL_OK && old->compiled == 0);
        CHILD_CHECK(compiler_of(&world).version == 13000 && heard.warnings == 0);
    }
    CHILD_CHECK(fake->trials == 2);
    world_end(&world);
    return 0;
}

static int refuse_for_good(void *argument)
{
    struct world world = world_with_pool(1);
    pool_module_params params = {.struct_size = sizeof(params), .source = "x", .name = "own.cu"};
    pool_module *module = NULL;

    (void)argument;
    find_controls();
    CHILD_CHECK(compile(&world, "own") == POOL_OK);
    /* The second and later loads of the program; the trial between them is loaded. */
    pool_mock_expect(world.mock, "...", 0);
    pool_mock_expect(world.mock, "cuModuleLoadDataEx", POOL_CU_INVALID_IMAGE);
    pool_mock_expect(world.mock, "...", 0);
    pool_mock_expect(world.mock, "cuModuleLoadDataEx", 0);
    pool_mock_expect(world.mock, "...", 0);
    pool_mock_expect(world.mock, "cuModuleLoadDataEx", POOL_CU_INVALID_IMAGE);
    pool_mock_expect(world.mock, "...", 0);
    CHILD_CHECK(pool_module_compile(device_of(&world, 0), &params, &module) == POOL_ERR_BAD_IMAGE);
    CHILD_CHECK(!module && pool_last_error()->driver_code == POOL_CU_INVALID_IMAGE);
    CHILD_CHECK(has(pool_last_error()->message, "newer compiler than the driver knows"));
    CHILD_CHECK(heard.errors == 1 && compiler_of(&world).version == 13000);
    world_end(&world);
    return 0;
}

static nvrtc_result fail_internally(
    unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    (void)number;
    (void)name;
    (void)cancelled;
    (void)of;
    return DRIVER_NVRTC_ERROR_INTERNAL_ERROR;
}

/* A compiler that works fails on one program: the next one compiles that. */
static int fail_on_program(void *argument)
{
    struct world world = world_with_pool(1);

    (void)argument;
    find_controls();
    fake->compile = fail_internally;
    CHILD_CHECK(compile(&world, "own") == POOL_OK);
    CHILD_CHECK(fake->compiled == 1 && fake->trials == 2 && old->compiled == 1);
    CHILD_CHECK(heard.errors == 0 && heard.warnings == 0);
    CHILD_CHECK(compiler_of(&world).version == 13000);
    fake->compile = NULL;
    CHILD_CHECK(compile(&world, "other") == POOL_OK && fake->compiled == 2);
    world_end(&world);
    return 0;
}

static void test_program_that_fails(void **state)
{
    (void)state;
    lay_out(true, true);
    assert_int_equal(child_run(fail_on_program, NULL), 0);
}

static void test_refused_program(void **state)
{
    bool is_compiler = true;

    (void)state;
    lay_out(true, true);
    assert_int_equal(child_run(refuse_program, &is_compiler), 0);
    is_compiler = false;
    lay_out(true, true);
    assert_int_equal(child_run(refuse_program, &is_compiler), 0);
    lay_out(true, true);
    assert_int_equal(child_run(refuse_for_good, NULL), 0);
}

/* ---- verdicts in the disk cache -------------------------------------------------------------- */

static int count_entry(void *user, const pool_cache_entry *entry)
{
    *(int *)user += strcmp(entry->name, "devicepool_trial.cu") == 0 && entry->valid;
    return 0;
}

static int stored_verdicts(void)
{
    int count = 0;

    assert_ok(pool_cache_each(count_entry, &count));
    return count;
}

/* The exit code is the number of trials, 100 more if something else went wrong. */
static int count_trials(void *argument)
{
    const bool is_broken = argument && *(bool *)argument;
    struct world world = world_with_pool(1);
    pool_status expected = is_broken ? POOL_ERR_NO_COMPILER : POOL_OK;

    find_controls();
    fake->trial = is_broken ? DRIVER_NVRTC_ERROR_INTERNAL_ERROR : 0;
    if (compile(&world, "own") != expected || compile(&world, "other") != expected)
        return 100;
    world_end(&world);
    return (int)fake->trials;
}

static void test_stored_verdicts(void **state)
{
    bool is_broken = true;

    (void)state;
    lay_out(true, false);
    assert_int_equal(child_run(count_trials, &is_broken), 1);
    assert_int_equal(stored_verdicts(), 0);
    assert_int_equal(child_run(count_trials, NULL), 1);
    assert_int_equal(stored_verdicts(), 1);
    assert_int_equal(child_run(count_trials, NULL), 0);
    /* Another file of either library has to be tried. */
    assert_int_equal(shell("touch -d '2001-01-01' %s/libnvrtc-builtins.so.13.0", lib), 0);
    assert_int_equal(shell("rm -f %s/cache/*", root), 0);
    assert_int_equal(child_run(count_trials, NULL), 1);
    assert_int_equal(shell("touch -d '2001-01-02' %s/libnvrtc-builtins.so.13.0", lib), 0);
    assert_int_equal(shell("cd %s/cache && for f in *; do "
                           "grep -q devicepool_trial $f || rm $f; done",
                         root),
        0);
    assert_int_equal(child_run(count_trials, NULL), 1);
    assert_int_equal(stored_verdicts(), 2);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtins_beside_it),
        cmocka_unit_test(test_missing_builtins),
        cmocka_unit_test(test_foreign_builtins),
        cmocka_unit_test(test_newer_than_the_driver),
        cmocka_unit_test(test_chip_of_older_one),
        cmocka_unit_test(test_none_of_them),
        cmocka_unit_test(test_program_that_fails),
        cmocka_unit_test(test_refused_program),
        cmocka_unit_test(test_stored_verdicts),
    };
    char path[96];
    int failed;

    (void)argument_count;
    restart_without_loader_cache(arguments);
    if (dlopen("libnvrtc.so.13", RTLD_LAZY) || dlopen("libnvrtc.so.12", RTLD_LAZY)) {
        puts("this host has NVRTC in a directory that the loader always searches");
        return 77;
    }
    strcpy(root, "/tmp/devicepool-compiler-XXXXXX");
    if (!mkdtemp(root))
        return 99;
    snprintf(lib, sizeof(lib), "%s/lib64", root);
    snprintf(path, sizeof(path), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", path, 1);
    unsetenv("DEVICEPOOL_NVRTC");
    unsetenv("CUDA_PATH");
    setenv("CUDA_HOME", root, 1);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    shell("rm -rf %s", root);
    return failed;
}
