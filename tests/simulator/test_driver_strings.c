/* SPDX-License-Identifier: Apache-2.0 */
/* The device string and the fault string: their meaning, and the errors of invalid ones. */
#include "driver.h"

static struct sim_config parsed(const char *spec)
{
    struct sim_config config;

    memset(&config, 0xee, sizeof(config));
    if (sim_config_parse(spec, &config))
        fail_msg("\"%s\": %s", spec, pool_last_error()->message);
    return config;
}

static void test_defaults(void **state)
{
    struct sim_config config = parsed("sim");

    (void)state;
    assert_int_equal(config.device_count, 1);
    assert_int_equal(config.capability, 90);
    assert_int_equal(config.multiprocessors, 4);
    assert_int_equal(config.memory_bytes, UINT64_C(8) << 30);
    assert_int_equal(config.free_bytes, config.memory_bytes);
    assert_int_equal(config.instruction_limit, 0);
    assert_int_equal(config.reports, 0);
    assert_int_equal(config.has_peer_access, 1);
    assert_int_equal(config.has_waits, 1);
    assert_string_equal(config.name, "Simulated device (cc 9.0)");
}

static void test_all_keys(void **state)
{
    struct sim_config config =
        parsed("sim:4,mem=24G,cc=12.0,free=20G,name=My GPU (x),report=uninit+barrier+leak,"
               "limit=5G,threads=3,sms=132,p2p=0,waits=0,serial=1,mps=50");

    (void)state;
    assert_int_equal(config.device_count, 4);
    assert_int_equal(config.capability, 120);
    assert_int_equal(config.multiprocessors, 132);
    assert_int_equal(config.memory_bytes, UINT64_C(24) << 30);
    assert_int_equal(config.free_bytes, UINT64_C(20) << 30);
    assert_int_equal(config.instruction_limit, UINT64_C(5000000000));
    assert_int_equal(config.threads, 3);
    assert_int_equal(config.reports, 7);
    assert_int_equal(config.has_peer_access, 0);
    assert_int_equal(config.has_waits, 0);
    assert_int_equal(config.is_serial, 1);
    assert_int_equal(config.mps_percentage, 50);
    assert_string_equal(config.name, "My GPU (x)");
    assert_int_equal(parsed("sim:cc=75").capability, 75);
    assert_int_equal(parsed("sim:cc=6.0").capability, 60);
    assert_int_equal(parsed("sim:mem=16777216").memory_bytes, 16777216);
    assert_int_equal(parsed("sim:64").device_count, 64);
    assert_string_equal(parsed("sim:cc=86").name, "Simulated device (cc 8.6)");
    assert_true(sim_spec_is_sim("sim"));
    assert_true(sim_spec_is_sim("sim:x"));
    assert_false(sim_spec_is_sim("simple"));
    assert_false(sim_spec_is_sim("0,1"));
    assert_false(sim_spec_is_sim(NULL));
}

static void test_wrong_device_strings(void **state)
{
    static const struct {
        const char *spec, *says;
    } wrong[] = {
        {"0", "requested by"},
        {"simx", "requested by"},
        {"sim:0", "count=0 is not a number from 1 to 64"},
        {"sim:65", "count=65"},
        {"sim:-1", "count=-1"},
        {"sim:", "count="},
        {"sim:,mem=1G", "count="},
        {"sim:2,", "\"\" is not understood"},
        {"sim:2,3", "\"3\" is not understood"},
        {"sim:cc=90,4", "\"4\" is not understood"},
        {"sim:cc=91", "these can: 60, 61, 62, 70, 72, 75, 80"},
        {"sim:cc=9.", "compute capability"},
        {"sim:cc=9.x", "compute capability"},
        {"sim:cc=", "compute capability"},
        {"sim:mem=24g", "not a size"},
        {"sim:mem=1.5G", "not a size"},
        {"sim:mem=G", "not a size"},
        {"sim:mem=", "not a size"},
        {"sim:mem=99999999999999999999", "not a size"},
        {"sim:mem=18446744073709551615T", "not a size"},
        {"sim:mem=1M", "between 16M and 512G"},
        {"sim:mem=1T", "between 16M and 512G"},
        {"sim:mem=1G,mem=1G", "set twice"},
        {"sim:mem=1G,free=2G", "is more than"},
        {"sim:limit=x", "number of instructions"},
        {"sim:report=uninit+nothing", "report=nothing is unknown"},
        {"sim:report=", "report= is unknown"},
        {"sim:p2p=2", "p2p=2 is not a number from 0 to 1"},
        {"sim:waits=yes", "waits=yes is not a number from 0 to 1"},
        {"sim:mps=0", "mps=0 is not a number from 1 to 100"},
        {"sim:serial=2", "serial=2 is not a number from 0 to 1"},
        {"sim:report=leak+", "report= is unknown"},
        {"sim:name=", "1 to 95 characters"},
        {"sim:name=a\tb", "character 2 of name="},
        {"sim:threads=1025", "threads=1025"},
        {"sim:sms=0", "sms=0"},
        {"sim:Mem=1G", "not understood"},
        {"sim:me=1G", "not understood"},
        {"sim:memo=1G", "not understood"},
    };
    struct sim_config config, before;

    (void)state;
    memset(&before, 0x11, sizeof(before));
    for (size_t at = 0; at < sizeof(wrong) / sizeof(wrong[0]); at++) {
        memset(&config, 0x11, sizeof(config));
        assert_int_equal(sim_config_parse(wrong[at].spec, &config), POOL_ERR_INVALID_ARGUMENT);
        if (!strstr(pool_last_error()->message, wrong[at].says))
            fail_msg("\"%s\" answers: %s", wrong[at].spec, pool_last_error()->message);
        assert_memory_equal(&config, &before, sizeof(config));
    }
    assert_int_equal(sim_config_parse(NULL, &config), POOL_ERR_INVALID_ARGUMENT);
}

static void test_rules(void **state)
{
    struct sim_rules rules;

    (void)state;
    assert_int_equal(
        sim_rules_parse(" cuMemAlloc*@3=2; dev1.cuLaunchKernel@1=700;;\n cuLaunchKernel @ 7 = hang "
                        "; *@5+=OUT_OF_MEMORY; cuMem?pyHtoD@2-4=CUDA_ERROR_UNKNOWN;cuCtxCreate=46;",
            &rules),
        POOL_OK);
    assert_int_equal(rules.count, 6);
    assert_string_equal(rules.items[0].pattern, "cuMemAlloc*");
    assert_int_equal(rules.items[0].device, -1);
    assert_int_equal(rules.items[0].first, 3);
    assert_int_equal(rules.items[0].last, 3);
    assert_int_equal(rules.items[0].code, 2);
    assert_int_equal(rules.items[1].device, 1);
    assert_int_equal(rules.items[1].code, 700);
    assert_true(rules.items[2].is_hang);
    assert_int_equal(rules.items[2].first, 7);
    assert_int_equal(rules.items[3].first, 5);
    assert_true(rules.items[3].last == UINT64_MAX);
    assert_int_equal(rules.items[3].code, 2);
    assert_int_equal(rules.items[4].first, 2);
    assert_int_equal(rules.items[4].last, 4);
    assert_int_equal(rules.items[4].code, 999);
    assert_int_equal(rules.items[5].first, 1);
    assert_true(rules.items[5].last == UINT64_MAX);
    sim_rules_free(&rules);
    assert_int_equal(sim_rules_parse("", &rules), POOL_OK);
    assert_int_equal(rules.count, 0);
    assert_int_equal(sim_rules_parse(" ; ", &rules), POOL_OK);
    assert_int_equal(rules.count, 0);
    assert_int_equal(sim_rules_parse("cuMemAlloc_v2=2;cuDeviceGetUuid=1", &rules), POOL_OK);
    sim_rules_free(&rules);
}

static void test_wrong_rules(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"cuMemAlloc", "has no \"=\""},
        {"cuMemAlloc@1", "has no \"=\""},
        {"=2", "not the name of a driver function"},
        {"cuMemAllocate=2", "no driver function that the library calls is named \"cuMemAllocate\""},
        {"xyz*=2", "no driver function"},
        {"cuMemAlloc=", "neither a driver error"},
        {"cuMemAlloc=0", "neither a driver error"},
        {"cuMemAlloc=12345", "neither a driver error"},
        {"cuMemAlloc=SUCCESS", "neither a driver error"},
        {"cuMemAlloc=hang", "cannot hang"},
        {"cuMem*Alloc=hang", "cannot hang"},
        {"cuMemAlloc=hangs", "neither a driver error"},
        {"cuMemAlloc@0=2", "says not which call"},
        {"cuMemAlloc@=2", "says not which call"},
        {"cuMemAlloc@+=2", "says not which call"},
        {"cuMemAlloc@5-3=2", "says not which call"},
        {"cuMemAlloc@-3=2", "says not which call"},
        {"cuMemAlloc@x=2", "says not which call"},
        {"cuMemAlloc@99999999999999999999999=2", "says not which call"},
        {"dev64.cuMemAlloc=2", "not dev0 … dev63"},
        {"gpu1.cuMemAlloc=2", "not dev0 … dev63"},
        {".cuMemAlloc=2", "not dev0 … dev63"},
        {"dev.cuMemAlloc=2", "not dev0 … dev63"},
        {"cuMemAlloc=2; oops", "\"oops\" has no"},
    };
    struct sim_rules rules = {NULL, 77};

    (void)state;
    for (size_t at = 0; at < sizeof(wrong) / sizeof(wrong[0]); at++) {
        assert_int_equal(sim_rules_parse(wrong[at].text, &rules), POOL_ERR_INVALID_ARGUMENT);
        if (!strstr(pool_last_error()->message, wrong[at].says))
            fail_msg("\"%s\" answers: %s", wrong[at].text, pool_last_error()->message);
        assert_int_equal(rules.count, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_wrong_device_strings),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_wrong_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
