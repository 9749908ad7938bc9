/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs that the real NVRTC makes: the driver gets exactly the machine code that NVRTC gives, from
 * a process with the NVRTC and from one without, in which nothing is compiled; devices that take
 * PTX only do not use it. Each step is a process of its own, with its own NVRTC. Exit 77 without
 * NVRTC.
 */
#include "support/mock_pool.h"

#include "base/sha256.h"
#include "driver/nvrtc.h"
#include "pool/module/counters.h"
#include "pool/module/image.h"
#include "support/child.h"

enum { CHIP = 90, PROGRAMS = 3, SKIPPED = 77 };

static char root[64], level[80];

/* The digests of the images that were loaded or compiled, in the file `name` of the root. */
static void add_digest(const char *name, const void *bytes, size_t size)
{
    uint8_t digest[BASE_SHA256_BYTES];
    char path[120];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    file = fopen(path, "a");
    assert_non_null(file);
    assert_ok(base_sha256_of(bytes, size, digest));
    for (size_t i = 0; i < sizeof(digest); i++)
        fprintf(file, "%02x", digest[i]);
    fprintf(file, " %zu\n", size);
    fclose(file);
}

static const pool_field *extension(void)
{
    return pool_field_by_name("babybear_x4");
}

static int build(void *argument)
{
    const pool_field *const fields[] = {extension()};
    pool_pack_params params = {.struct_size = sizeof(params),
        .compute_capability = *(int *)argument,
        .fields = fields,
        .field_count = 1};
    pool_pack_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_pack_build(level, &params, &info);

    if (*(int *)argument == 999) {
        CHILD_CHECK(status == POOL_ERR_UNSUPPORTED);
        CHILD_CHECK(strstr(pool_last_error()->message, "sm_999") != NULL);
        return 0;
    }
    CHILD_CHECK(status == POOL_OK && info.entries == PROGRAMS);
    CHILD_CHECK(info.compute_capability == CHIP && info.compiler_version >= 12040);
    CHILD_CHECK(pool_pack_verify(info.path, NULL) == POOL_OK);
    CHILD_CHECK(pool_pack_at(0, &info) == POOL_OK && info.is_used);
    return 0;
}

static pool_cu_result (*load_real)(CUmodule *, const void *, unsigned int, pool_cu_enum *, void **);

/* Machine code is an ELF file, whose section headers are its end. */
static size_t size_of_elf(const void *image)
{
    uint64_t sections, segments;
    uint16_t size, count, segment_size, segment_count;
    const char *bytes = image;
    size_t end, other;

    memcpy(&segments, bytes + 32, 8);
    memcpy(&sections, bytes + 40, 8);
    memcpy(&segment_size, bytes + 54, 2);
    memcpy(&segment_count, bytes + 56, 2);
    memcpy(&size, bytes + 58, 2);
    memcpy(&count, bytes + 60, 2);
    end = (size_t)sections + (size_t)size * count;
    other = (size_t)segments + (size_t)segment_size * segment_count;
    return end > other ? end : other;
}

static pool_cu_result load(
    CUmodule *module, const void *image, unsigned int count, pool_cu_enum *options, void **values)
{
    if (memcmp(image, "\177ELF", 4) == 0)
        add_digest("loaded", image, size_of_elf(image));
    else
        add_digest("loaded", image, strlen(image));
    return load_real(module, image, count, options, values);
}

static uint64_t images_from(enum module_image_source source)
{
    return atomic_load(&module_counters.images[source]);
}

/* Warms the extension up on a device whose driver notes what it is given. */
static int warm_up(struct world *world)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device_of(world, 0)};

    CHILD_CHECK(pool_fri_warm_up(extension(), &exec) == POOL_OK);
    return 0;
}

static int load_on_mock(void *argument)
{
    const bool from_level = *(bool *)argument;
    struct world world = world_of(1);
    pool_cuda_api table = *world.params.driver;
    char *text;
    int result;

    load_real = table.ModuleLoadDataEx;
    table.ModuleLoadDataEx = load;
    world.params.driver = &table;
    CHILD_CHECK(pool_create(&world.pool, &world.params) == POOL_OK);
    result = warm_up(&world);
    CHILD_CHECK(images_from(MODULE_IMAGE_LEVEL) == (from_level ? PROGRAMS : 0));
    CHILD_CHECK(images_from(MODULE_IMAGE_COMPILER) == (from_level ? 0 : PROGRAMS));
    CHILD_CHECK(pool_describe(world.pool, POOL_TEXT_PLAIN, &text) == POOL_OK);
    CHILD_CHECK(!from_level == !strstr(text, "/level/sm_90.pack, 3 programs that NVRTC "));
    pool_text_free(&text);
    CHILD_CHECK(pool_destroy(&world.pool) == POOL_OK);
    return result;
}

/* PTX for simulated devices, in place of the machine code. */
static int build_ptx(void *argument)
{
    const pool_field *const fields[] = {extension()};
    pool_pack_params params = {.struct_size = sizeof(params),
        .compute_capability = CHIP,
        .form = POOL_IMAGE_PTX,
        .fields = fields,
        .field_count = 1};

    (void)argument;
    CHILD_CHECK(pool_pack_build(level, &params, NULL) == POOL_OK);
    return 0;
}

/* `argument`: whether the pack has PTX. */
static int load_on_sim(void *argument)
{
    const bool from_level = *(bool *)argument;
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:1,cc=90"};
    struct world world = {0};
    int result;

    CHILD_CHECK(pool_create(&world.pool, &params) == POOL_OK);
    result = warm_up(&world);
    CHILD_CHECK(images_from(MODULE_IMAGE_LEVEL) == (from_level ? PROGRAMS : 0));
    CHILD_CHECK(images_from(MODULE_IMAGE_COMPILER) == (from_level ? 0 : PROGRAMS));
    CHILD_CHECK(pool_destroy(&world.pool) == POOL_OK);
    return result;
}

/* The driver of an older toolkit: machine code that it refuses is not used, and nothing is lost. */
static pool_cu_result refuse_machine_code(
    CUmodule *module, const void *image, unsigned int count, pool_cu_enum *options, void **values)
{
    if (memcmp(image, "\177ELF", 4) == 0)
        return POOL_CU_INVALID_IMAGE;
    return load_real(module, image, count, options, values);
}

static int refuse_level(void *argument)
{
    struct world world = world_of(1);
    pool_cuda_api table = *world.params.driver;

    (void)argument;
    load_real = table.ModuleLoadDataEx;
    table.ModuleLoadDataEx = refuse_machine_code;
    world.params.driver = &table;
    CHILD_CHECK(pool_create(&world.pool, &world.params) == POOL_OK);
    /* No prebuilt PTX either: the message has both reasons. */
    CHILD_CHECK(
        pool_fri_warm_up(extension(), &(pool_exec){.struct_size = sizeof(pool_exec),
                                          .device = device_of(&world, 0)}) == POOL_ERR_NO_COMPILER);
    CHILD_CHECK(strstr(pool_last_error()->message, "does not load the machine code") != NULL);
    CHILD_CHECK(strstr(pool_last_error()->message, "DEVICEPOOL_NVRTC") != NULL);
    CHILD_CHECK(pool_destroy(&world.pool) == POOL_OK);
    return 0;
}

/* What was loaded is what was compiled, but for the compiler's trial, in any order. */
static void check_loaded(void)
{
    char command[400];

    snprintf(command, sizeof(command),
        "cd %s && sort compiled > a && sort loaded > b && test -z \"$(comm -13 a b)\" && "
        "test $(sort -u b | wc -l) = %d && test $(wc -l < a) = %d",
        root, (int)PROGRAMS, (int)PROGRAMS + 1);
    assert_int_equal(system(command), 0);
}

static void rename_file(const char *from, const char *to)
{
    char command[400];

    snprintf(command, sizeof(command), "cd %s && mv %s %s && rm -rf cache", root, from, to);
    assert_int_equal(system(command), 0);
}

static int has_compiler(void *argument)
{
    const struct nvrtc *nvrtc;

    (void)argument;
    return driver_nvrtc_open(&nvrtc) ? SKIPPED : 0;
}

static void test_packs(void **state)
{
    const char *given = getenv("DEVICEPOOL_NVRTC");
    char *nvrtc = given ? strdup(given) : NULL;
    int chip = CHIP, unknown_chip = 999;
    bool yes = true, no = false;

    (void)state;
    setenv("DEVICEPOOL_CACHE_LEVELS", "off", 1);
    assert_int_equal(child_run(load_on_mock, &no), 0); /* compiles */
    rename_file("loaded", "compiled");
    setenv("DEVICEPOOL_CACHE_LEVELS", level, 1);
    assert_int_equal(child_run(build, &unknown_chip), 0);
    assert_int_equal(child_run(build, &chip), 0);
    rename_file("level/sm_90.pack", "level/sm_90.pack2");
    rename_file("level/sm_90.pack2", "level/sm_90.pack"); /* and no cache */
    assert_int_equal(child_run(load_on_mock, &yes), 0);
    check_loaded();
    rename_file("loaded", "loaded_with");
    assert_int_equal(child_run(load_on_sim, &no), 0);
    setenv("DEVICEPOOL_NVRTC", "off", 1);
    assert_int_equal(child_run(load_on_mock, &yes), 0);
    check_loaded();
    assert_int_equal(child_run(refuse_level, NULL), 0);
    if (nvrtc)
        setenv("DEVICEPOOL_NVRTC", nvrtc, 1);
    else
        unsetenv("DEVICEPOOL_NVRTC");
    assert_int_equal(child_run(build_ptx, NULL), 0);
    rename_file("level", "level2");
    rename_file("level2", "level");
    assert_int_equal(child_run(load_on_sim, &yes), 0);
    free(nvrtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_packs)};
    char command[128];
    int failed;

    if (child_run(has_compiler, NULL) == SKIPPED)
        return SKIPPED;
    strcpy(root, "/tmp/devicepool-packs-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(level, sizeof(level), "%s/level", root);
    snprintf(command, sizeof(command), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", command, 1);
    unsetenv("DEVICEPOOL_CACHE");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) || failed;
}
