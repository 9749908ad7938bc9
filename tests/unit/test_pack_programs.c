/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack has every program that a warm-up of the same fields and curves compiles on a pool of two
 * devices: with a fake NVRTC, which compiles at once, the keys in the cache are among those in the
 * pack. Sets are left out, whose kernels are tested when they are loaded. With the argument "all":
 * every built-in field and curve.
 */
#include "support/mock_pool.h"

#include <dirent.h>
#include <fcntl.h>

#include "pool/module/disk.h"
#include "pool/module/pack.h"
#include "pool/module/trial.h"
#include "support/child.h"

enum { CHIP = 90, MOST = 64 };

static char root[64], cache[80], level[80];
static const pool_field *fields[MOST];
static const pool_curve *curves[MOST];
static size_t field_count, curve_count;

static bool is_everything; /* else some, of each kind and width */

static void find_names(void)
{
    static const char *const some_fields[] = {"bn254_fr", "bls12_381_fq", "goldilocks", "babybear",
        "mersenne31", "goldilocks_x2", "babybear_x4", "koalabear_x4"};
    static const char *const some_curves[] = {"bn254_g1", "bls12_381_g2"};

    for (size_t i = is_everything ? 5 : 0; i < sizeof(some_fields) / sizeof(some_fields[0]); i++)
        fields[field_count++] = pool_field_by_name(some_fields[i]);
    for (size_t i = 0; is_everything && i < pool_field_count(); i++)
        fields[field_count++] = pool_field_at(i);
    for (size_t i = 0; !is_everything && i < sizeof(some_curves) / sizeof(some_curves[0]); i++)
        curves[curve_count++] = pool_curve_by_name(some_curves[i]);
    for (size_t i = 0; is_everything && i < pool_curve_count(); i++)
        curves[curve_count++] = pool_curve_at(i);
}

static pool_status warm_up_field(const pool_field *field, const pool_exec *exec)
{
    pool_ntt_domain_params params = {.struct_size = sizeof(params), .field = field};
    pool_ntt_domain *domain = NULL;
    pool_status status;

    if (pool_field_degree(field) > 1)
        return pool_fri_warm_up(field, exec);
    status = pool_vector_warm_up(field, exec);
    params.log_size = pool_field_two_adicity(field) < 4 ? pool_field_two_adicity(field) : 4;
    if (!status)
        status = pool_ntt_domain_create(&params, &domain);
    if (!status)
        status = pool_ntt_warm_up(domain, exec);
    pool_ntt_domain_destroy(&domain);
    return status;
}

/* The fake's image has no kernels: where a warm-up looks for one, its programs have been loaded. */
static bool has_loaded(pool_status status)
{
    if (status && status != POOL_ERR_NOT_FOUND)
        fprintf(stderr, "%s\n", pool_last_error()->message);
    return !status || status == POOL_ERR_NOT_FOUND;
}

static int warm_up(void *argument)
{
    struct world world = world_with_pool(2);
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device_of(&world, 0)};

    (void)argument;
    for (size_t i = 0; i < field_count; i++)
        CHILD_CHECK(has_loaded(warm_up_field(fields[i], &exec)));
    for (size_t i = 0; i < curve_count; i++) {
        CHILD_CHECK(has_loaded(pool_msm_warm_up(curves[i], &exec)));
        if (pool_field_two_adicity(pool_curve_scalar_field(curves[i])))
            CHILD_CHECK(has_loaded(pool_ecntt_warm_up(curves[i], &exec)));
    }
    CHILD_CHECK(pool_destroy(&world.pool) == POOL_OK);
    return 0;
}

static int build(void *argument)
{
    pool_pack_params params = {.struct_size = sizeof(params),
        .compute_capability = CHIP,
        .fields = fields,
        .field_count = field_count,
        .curves = curves,
        .curve_count = curve_count};

    (void)argument;
    setenv("DEVICEPOOL_CACHE", "off", 1);
    CHILD_CHECK(pool_pack_build(level, &params, NULL) == POOL_OK);
    return 0;
}

/* A pool_cache_visitor: counts the entries that the pack lacks. */
struct comparison {
    struct pack pack;
    size_t found, missing;
};

static int look_up(void *user, const pool_cache_entry *entry)
{
    struct comparison *comparison = user;
    struct module_key key;

    assert_true(entry->valid);
    if (strcmp(entry->name, MODULE_TRIAL_NAME) == 0)
        return 0;
    module_key_parse(entry->key, &key);
    if (pack_find(&comparison->pack, &key)) {
        comparison->found++;
    } else {
        printf("the pack lacks %s\n", entry->name);
        comparison->missing++;
    }
    return 0;
}

static void test_programs(void **state)
{
    struct comparison comparison = {.found = 0};
    char path[120], reason[256];

    (void)state;
    find_names();
    assert_int_equal(child_run(warm_up, NULL), 0);
    assert_int_equal(child_run(build, NULL), 0);
    snprintf(path, sizeof(path), "%s/sm_90.pack", level);
    assert_int_equal(
        pack_open(AT_FDCWD, path, &comparison.pack, reason, sizeof(reason)), DISK_GOOD);
    assert_ok(pool_cache_each(look_up, &comparison));
    assert_int_equal(comparison.missing, 0);
    assert_true(comparison.found > (is_everything ? 200 : 60));
    assert_true(comparison.pack.count >= comparison.found);
    printf("%zu programs of warm-ups, %zu in the pack\n", comparison.found, comparison.pack.count);
    pack_close(&comparison.pack);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
    char command[128];
    int failed;

    is_everything = argc > 1 && strcmp(argv[1], "all") == 0;
    strcpy(root, "/tmp/devicepool-programs-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    snprintf(cache, sizeof(cache), "%s/cache", root);
    snprintf(level, sizeof(level), "%s/level", root);
    setenv("DEVICEPOOL_CACHE_DIR", cache, 1);
    unsetenv("DEVICEPOOL_CACHE");
    setenv("DEVICEPOOL_CACHE_LEVELS", "off", 1);
    setenv("DEVICEPOOL_NVRTC", FAKE_DIRECTORY "/libnvrtc_works.so", 1);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) || failed;
}
