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
    assert_int_equal(config.devices[0].capability, 90);
    assert_int_equal(config.devices[0].multiprocessors, 4);
    assert_int_equal(config.devices[0].memory_bytes, UINT64_C(8) << 30);
    assert_int_equal(config.devices[0].free_bytes, config.devices[0].memory_bytes);
    assert_int_equal(config.instruction_limit, 0);
    assert_int_equal(config.reports, 0);
    assert_int_equal(config.devices[0].peers, 0);
    assert_int_equal(config.has_waits, 1);
    assert_string_equal(config.devices[0].name, "Simulated device (cc 9.0)");
}

static void test_all_keys(void **state)
{
    struct sim_config config =
        parsed("sim:4,mem=24G,cc=12.0,free=20G,name=My GPU (x),report=uninit+barrier+leak,"
               "limit=5G,threads=3,sms=132,p2p=0,waits=0,serial=1,mps=50,jitter=4294967295");

    (void)state;
    assert_int_equal(config.device_count, 4);
    assert_int_equal(config.devices[0].capability, 120);
    assert_int_equal(config.devices[0].multiprocessors, 132);
    assert_int_equal(config.devices[0].memory_bytes, UINT64_C(24) << 30);
    assert_int_equal(config.devices[0].free_bytes, UINT64_C(20) << 30);
    assert_int_equal(config.instruction_limit, UINT64_C(5000000000));
    assert_int_equal(config.threads, 3);
    assert_int_equal(config.reports, 7);
    assert_int_equal(config.devices[3].peers, 0);
    assert_int_equal(config.has_waits, 0);
    assert_int_equal(config.is_serial, 1);
    assert_int_equal(config.jitter, UINT32_MAX);
    assert_int_equal(config.mps_percentage, 50);
    assert_string_equal(config.devices[0].name, "My GPU (x)");
    assert_int_equal(parsed("sim:cc=75").devices[0].capability, 75);
    assert_int_equal(parsed("sim:cc=6.0").devices[0].capability, 60);
    assert_int_equal(parsed("sim:mem=16777216").devices[0].memory_bytes, 16777216);
    assert_int_equal(parsed("sim:64").device_count, 64);
    assert_string_equal(parsed("sim:cc=86").devices[0].name, "Simulated device (cc 8.6)");
    assert_true(sim_spec_is_sim("sim"));
    assert_true(sim_spec_is_sim("sim:x"));
    assert_false(sim_spec_is_sim("simple"));
    assert_false(sim_spec_is_sim("0,1"));
    assert_false(sim_spec_is_sim(NULL));
}

/* Each group begins with the defaults. */
static void test_groups(void **state)
{
    struct sim_config config =
        parsed("sim:2,cc=90,mem=80G,sms=132,name=A,waits=0,p2p=0-2+1-3;cc=86,mem=24G;3,sms=7");

    (void)state;
    assert_int_equal(config.device_count, 6);
    assert_int_equal(config.has_waits, 0);
    for (uint32_t i = 0; i < 6; i++) {
        const struct sim_device_config *device = &config.devices[i];

        assert_int_equal(device->identity, i);
        assert_int_equal(device->capability, i == 2 ? 86 : 90);
        assert_int_equal(device->memory_bytes >> 30, i < 2 ? 80 : i == 2 ? 24 : 8);
        assert_int_equal(device->free_bytes, device->memory_bytes);
        assert_int_equal(device->multiprocessors, i < 2 ? 132 : i == 2 ? 4 : 7);
        assert_string_equal(device->name, i < 2    ? "A"
                                          : i == 2 ? "Simulated device (cc 8.6)"
                                                   : "Simulated device (cc 9.0)");
        assert_int_equal(device->peers, i == 0   ? 1 << 2
                                        : i == 1 ? 1 << 3
                                        : i == 2 ? 1 << 0
                                        : i == 3 ? 1 << 1
                                                 : 0);
    }
    assert_int_equal(parsed("sim:3").devices[1].peers, 5);
    assert_int_equal(parsed("sim:2;2,cc=86").devices[3].peers, 7);
    assert_int_equal(parsed("sim:64").devices[63].peers, UINT64_MAX >> 1);
    assert_int_equal(parsed("sim:32;32").device_count, 64);
}

/* What the driver answers for unlike devices, some of which are left out. */
static void test_unlike_devices(void **state)
{
    static const char spec[] = "sim:2,cc=75,mem=1G,sms=9,p2p=0-2;cc=90,mem=2G;3";
    int value = 0, wanted;
    CUcontext context;
    size_t bytes;
    char pci[16];

    (void)state;
    assert_int_equal(sim_open_visible(spec, "2,0,1", &cu), POOL_OK);
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DeviceGetCount(&value), 0);
    assert_int_equal(value, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cu->DeviceTotalMem(&bytes, i), 0);
        assert_int_equal(bytes >> 30, i ? 1 : 2);
        assert_int_equal(cu->DeviceGetAttribute(&value, 16, i), 0); /* multiprocessors */
        assert_int_equal(value, i ? 9 : 4);
        assert_int_equal(cu->DeviceGetAttribute(&value, 75, i), 0); /* major */
        assert_int_equal(value, i ? 7 : 9);
        assert_int_equal(cu->DeviceGetPCIBusId(pci, 16, i), 0);
        assert_string_equal(pci, i == 0   ? "0000:12:00.0"
                                 : i == 1 ? "0000:10:00.0"
                                          : "0000:11:00.0");
        assert_int_equal(cu->DeviceGetByPCIBusId(&value, pci), 0);
        assert_int_equal(value, i);
        assert_int_equal(cu->CtxCreate(&context, 0, i), 0);
        assert_int_equal(cu->MemGetInfo(&bytes, &bytes), 0);
        assert_int_equal(bytes >> 30, i ? 1 : 2);
        assert_int_equal(cu->CtxDestroy(context), 0);
        for (int j = 0; j < 3; j++) {
            wanted = i + j == 1; /* 0 and 2 of the device string */
            assert_int_equal(cu->DeviceCanAccessPeer(&value, i, j), 0);
            assert_int_equal(value, wanted);
            assert_int_equal(cu->DeviceGetP2PAttribute(&value, 2, i, j), i == j ? 101 : 0);
            if (i != j)
                assert_int_equal(value, wanted);
        }
    }
    assert_int_equal(cu->DeviceGetByPCIBusId(&value, "0000:13:00.0"), 101);
    sim_close();
    assert_int_equal(sim_open_visible("sim:2", "", &cu), POOL_OK);
    assert_int_equal(cu->Init(0), 100);
    sim_close();
}

/* "012": the devices that are left, by their identity. */
static const char *restricted(const char *spec, const char *visible)
{
    static char text[SIM_MAX_DEVICES + 1];
    struct sim_config config = parsed(spec);

    sim_config_restrict(&config, visible);
    assert_true(config.device_count <= SIM_MAX_DEVICES);
    for (uint32_t i = 0; i < config.device_count; i++)
        text[i] = (char)('0' + config.devices[i].identity);
    text[config.device_count] = '\0';
    return text;
}

static void test_visible_devices(void **state)
{
    char first[48], text[128];
    pool_cu_uuid uuid;

    (void)state;
    assert_string_equal(restricted("sim:4", "0,1,2,3"), "0123");
    assert_string_equal(restricted("sim:4", "2, 0"), "20");
    assert_string_equal(restricted("sim:4", ""), "");
    assert_string_equal(restricted("sim:4", "-1"), "");
    assert_string_equal(restricted("sim:4", "1,4,2"), "1");
    assert_string_equal(restricted("sim:4", "1,-1,2"), "1");
    assert_string_equal(restricted("sim:4", "3,3,2"), "3");
    assert_string_equal(restricted("sim:4", "3,,2"), "3");
    assert_string_equal(restricted("sim:4", "0x1"), "");
    assert_string_equal(restricted("sim:4", "GPU-"), "");
    assert_string_equal(restricted("sim:4", "MIG-0"), "");
    assert_string_equal(restricted("sim:64", "63"), "o");
    sim_uuid(2, &uuid);
    snprintf(first, sizeof(first), "GPU-%02x%02x%02x%02x-%02X%02X", uuid.bytes[0] & 0xff,
        uuid.bytes[1] & 0xff, uuid.bytes[2] & 0xff, uuid.bytes[3] & 0xff, uuid.bytes[4] & 0xff,
        uuid.bytes[5] & 0xff);
    snprintf(text, sizeof(text), "%s,1", first);
    assert_string_equal(restricted("sim:4", text), "21");
    snprintf(text, sizeof(text), "%s-0000-0000-0000-0000000000000000,1", first);
    assert_string_equal(restricted("sim:4", text), "");
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
        {"sim:p2p=2", "p2p=2 is not 0 (no peers), 1"},
        {"sim:2,p2p=", "p2p= is not 0"},
        {"sim:2,p2p=0-2", "pairs of the devices 0 to 1, as"},
        {"sim:2,p2p=1-1", "p2p=1-1 is not"},
        {"sim:2,p2p=0-1+", "p2p=0-1+ is not"},
        {"sim:2,p2p=0-1-1", "p2p=0-1-1 is not"},
        {"sim:2,p2p=18446744073709551616-1", "is not 0"},
        {"sim:2;", "count="},
        {"sim:2;;3", "count="},
        {"sim:2;3;", "count="},
        {"sim;3", "requested by"},
        {"sim:60;5", "more than 64 devices"},
        {"sim:2;cc=86,threads=2", "threads= holds for all devices"},
        {"sim:2;cc=86,p2p=0", "p2p= holds for all devices"},
        {"sim:2;cc=86,cc=80", "cc= is set twice"},
        {"sim:mem=1G;mem=1G,free=2G", "is more than"},
        {"sim:2;0", "count=0"},
        {"sim:waits=yes", "waits=yes is not a number from 0 to 1"},
        {"sim:mps=0", "mps=0 is not a number from 1 to 100"},
        {"sim:jitter=4294967296", "jitter=4294967296 is not"},
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
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_unlike_devices),
        cmocka_unit_test(test_visible_devices),
        cmocka_unit_test(test_wrong_device_strings),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_wrong_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
