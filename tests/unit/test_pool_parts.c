/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/: parts of a GPU's multiprocessors: strings, params and sizes, against what the driver makes
 * of them; and pools with parts on the mock driver: contexts, identity, states, the memory of the
 * GPU.
 */
#include "support/mock_pool.h"

#include "base/alloc.h"
#include "pool/device/device_spec.h"
#include "pool/device/parts.h"
#include "pool/device/split.h"
#include "pool/tuning/chip.h"

/* ---- strings and params ---------------------------------------------------------------------- */

static void test_grammar(void **state)
{
    struct device_selector *parts = NULL;
    size_t count = 0;

    (void)state;
    assert_ok(
        device_spec_parse("0/16+116, 1-2/2 ,all/1,MIG-GPU-01234567-89ab-cdef-0123-456789abcdef"
                          "/1/2/3,06:00.0/8+8+8,3",
            &parts, &count));
    assert_int_equal(count, 6);
    assert_int_equal(parts[0].kind, DEVICE_SELECT_ORDINALS);
    assert_string_equal(parts[0].text, "0");
    assert_int_equal(parts[0].parts.count, 2);
    assert_false(parts[0].parts.is_equal);
    assert_int_equal(parts[0].parts.sizes[0], 16);
    assert_int_equal(parts[0].parts.sizes[1], 116);
    assert_int_equal(parts[1].last, 2);
    assert_int_equal(parts[1].parts.count, 2);
    assert_true(parts[1].parts.is_equal);
    assert_int_equal(parts[2].kind, DEVICE_SELECT_ALL);
    assert_int_equal(parts[2].parts.count, 0); /* one part is the GPU */
    assert_int_equal(parts[3].kind, DEVICE_SELECT_UUID);
    assert_string_equal(parts[3].text, "MIG-GPU-01234567-89ab-cdef-0123-456789abcdef/1/2");
    assert_int_equal(parts[3].parts.count, 3);
    assert_int_equal(parts[4].kind, DEVICE_SELECT_PCI);
    assert_int_equal(parts[4].parts.count, 3);
    assert_int_equal(parts[5].parts.count, 0);
    base_free(parts);
}

static void test_grammar_refuses(void **state)
{
    static const char more_than_64[] =
        "0/8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+"
        "8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+8";
    static const char *const wrong[] = {"0/", "0/0", "0/x", "0/16+", "0/+16", "0/16++16", "0/16+0",
        "0/2/2", "0/-2", "0/16 + 116", "/2", "0/65", "0/99999", "0/100000+8", "0,/2", "0/2.5",
        more_than_64};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct device_selector *parts = NULL;
        size_t count = 77;

        assert_int_equal(device_spec_parse(wrong[i], &parts, &count), POOL_ERR_INVALID_ARGUMENT);
        assert_null(parts);
        assert_int_equal(count, 77);
    }
}

static void test_params(void **state)
{
    static const uint32_t sizes[] = {16, 116}, zero[] = {16, 0};
    pool_params params = {.struct_size = sizeof(params), .partition_count = 2};
    struct device_parts parts;

    (void)state;
    assert_ok(device_parts_read(&params, &parts));
    assert_int_equal(parts.count, 2);
    assert_true(parts.is_equal);
    params.partitions = sizes;
    assert_ok(device_parts_read(&params, &parts));
    assert_false(parts.is_equal);
    assert_int_equal(parts.sizes[1], 116);
    params.partitions = zero;
    assert_int_equal(device_parts_read(&params, &parts), POOL_ERR_INVALID_ARGUMENT);
    assert_says("partitions[1]");
    params.partition_count = 0;
    assert_int_equal(device_parts_read(&params, &parts), POOL_ERR_INVALID_ARGUMENT);
    assert_says("partition_count");
    params.partitions = NULL;
    params.partition_count = 65;
    assert_int_equal(device_parts_read(&params, &parts), POOL_ERR_INVALID_ARGUMENT);
    assert_says("65");
    params.partition_count = 1;
    assert_ok(device_parts_read(&params, &parts));
    assert_int_equal(parts.count, 0);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A GPU, what is requested, and the parts or a passage of the refusal. */
static const struct row {
    int major, minor, multiprocessors;
    const char *parts, *sizes, *refusal;
} rows[] = {
    {9, 0, 132, "16+116", "16+116", NULL},
    {9, 0, 132, "2", "64+68", NULL},
    {9, 0, 132, "3", "40+40+52", NULL},
    {9, 0, 132, "16", "8+8+8+8+8+8+8+8+8+8+8+8+8+8+8+12", NULL},
    {9, 0, 132, "17", NULL, "16 parts at most"},
    {9, 0, 132, "10+100", "16+116", NULL},
    {9, 0, 132, "1+1", "8+124", NULL},
    {9, 0, 132, "1+1+1", "8+8+116", NULL},
    {9, 0, 132, "16+40+70", "16+40+76", NULL},
    {9, 0, 132, "120+12", "120+12", NULL},
    {9, 0, 132, "16+117", NULL, "\"/16+116\" fits"},
    {9, 0, 132, "10+122", NULL, "\"/16+116\" fits"},
    {9, 0, 132, "132+8", NULL, "\"/120+12\" fits"},
    {9, 0, 132, "66+66+66", NULL, "\"/72+48+12\" fits"},
    {9, 0, 114, "2", "56+58", NULL},
    {9, 0, 114, "16+98", "16+98", NULL},
    {9, 0, 78, "2", "32+46", NULL},
    {9, 0, 78, "3", "24+24+30", NULL},
    {8, 0, 108, "2", "54+54", NULL},
    {8, 0, 108, "4", "26+26+26+30", NULL},
    {8, 0, 108, "5+100", "6+102", NULL},
    {8, 0, 108, "5+103", NULL, "\"/6+102\" fits"},
    {8, 0, 108, "6+10+20", "8+12+88", NULL}, /* of several sizes: multiples of the smallest part */
    {8, 6, 84, "2", "42+42", NULL},
    {8, 6, 84, "28", NULL, "21 parts at most"},
    {7, 5, 40, "3+37", NULL, "\"/4+36\" fits"},
    {7, 5, 40, "20", "2+2+2+2+2+2+2+2+2+2+2+2+2+2+2+2+2+2+2+2", NULL},
    {10, 0, 148, "2", "72+76", NULL},
};

static struct world world_of_chip(const struct row *row)
{
    struct world world = world_of(1);

    assert_ok(pool_mock_set_attribute(
        world.mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, row->major));
    assert_ok(pool_mock_set_attribute(
        world.mock, 0, POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, row->minor));
    assert_ok(pool_mock_set_attribute(
        world.mock, 0, POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, row->multiprocessors));
    return world;
}

/* What the driver of the chip makes of each part but the last alone. */
static void check_by_driver(
    const pool_cuda_api *cu, const struct device_part *split, uint32_t count)
{
    pool_cu_dev_resource all, group;

    assert_int_equal(cu->DeviceGetDevResource(0, &all, 1), 0);
    for (uint32_t i = 0; i + 1 < count; i++) {
        unsigned one = 1;

        assert_int_equal(
            cu->DevSmResourceSplitByCount(&group, &one, &all, NULL, 0, split[i].multiprocessors),
            0);
        assert_int_equal(group.sm_count, split[i].multiprocessors);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct world world = world_of_chip(row);
        struct device_part split[DEVICE_PARTS_MAX] = {0};
        struct device_parts parts, expected;
        struct driver *driver = NULL;
        pool_status status;
        uint32_t sum = 0;

        assert_ok(driver_open(pool_mock_table(world.mock), &driver));
        assert_ok(device_parts_parse(row->parts, row->parts, &parts));
        status = device_split(driver, 0, &parts, split);
        if (row->refusal) {
            assert_int_equal(status, POOL_ERR_INVALID_ARGUMENT);
            assert_says(row->refusal);
        } else {
            assert_ok(status);
            assert_ok(device_parts_parse(row->sizes, row->sizes, &expected));
            assert_int_equal(parts.count, expected.count);
            for (uint32_t k = 0; k < parts.count; k++) {
                assert_int_equal(split[k].multiprocessors, expected.sizes[k]);
                sum += split[k].multiprocessors;
            }
            assert_int_equal(sum, row->multiprocessors);
            check_by_driver(&driver->api, split, parts.count);
        }
        driver_close(&driver);
        world_end(&world);
    }
}

/* ---- pools ----------------------------------------------------------------------------------- */

static const struct row h100 = {.major = 9, .multiprocessors = 132};

static struct world world_with_parts(const char *devices)
{
    struct world world = world_of_chip(&h100);

    world.params.devices = devices;
    assert_ok(pool_create(&world.pool, &world.params));
    return world;
}

static void test_identity(void **state)
{
    struct world world = world_with_parts("0/16+116");
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_device *first = device_of(&world, 0), *second = device_of(&world, 1), *found = NULL;
    CUcontext contexts[2] = {NULL, NULL};

    (void)state;
    assert_int_equal(pool_device_count(world.pool), 2);
    assert_ok(pool_device_get_info(first, &info));
    assert_int_equal(info.multiprocessors, 16);
    assert_int_equal(info.partition, 0);
    assert_int_equal(info.partitions, 2);
    assert_ok(pool_device_get_info(second, &info));
    assert_int_equal(info.multiprocessors, 116);
    assert_int_equal(info.partition, 1);
    assert_int_equal(info.partitions, 2);
    assert_int_equal(info.ordinal, 0);
    assert_string_equal(pool_device_uuid(first), pool_device_uuid(second));
    assert_ptr_equal(pool_device_gpu(first), first);
    assert_ptr_equal(pool_device_gpu(second), first);
    assert_null(pool_device_gpu(NULL));
    assert_int_equal(pool_device_partition(first), 0);
    assert_int_equal(pool_device_partition(second), 1);
    assert_int_equal(pool_device_partition(NULL), -1);
    assert_ok(pool_device_by_uuid(world.pool, pool_device_uuid(second), &found));
    assert_ptr_equal(found, first);
    assert_ok(pool_device_by_pci(world.pool, info.pci, &found));
    assert_ptr_equal(found, first);
    assert_ok(pool_device_by_ordinal(world.pool, 0, &found));
    assert_ptr_equal(found, first);
    assert_ok(pool_device_context(first, &contexts[0]));
    assert_ok(pool_device_context(second, &contexts[1]));
    assert_ptr_not_equal(contexts[0], contexts[1]);
    assert_ok(pool_bind(second));
    assert_ok(pool_bound_device(world.pool, &found));
    assert_ptr_equal(found, second);
    assert_ok(pool_unbind(second));
    world_end(&world);
}

/* A GPU without parts is as before: no green context, no part. */
static void test_whole(void **state)
{
    struct world world = world_with_parts("0/1");
    pool_device_info info = {.struct_size = sizeof(info)};

    (void)state;
    assert_int_equal(pool_device_count(world.pool), 1);
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.multiprocessors, 132);
    assert_int_equal(info.partitions, 0);
    assert_int_equal(pool_device_partition(device_of(&world, 0)), -1);
    assert_ptr_equal(pool_device_gpu(device_of(&world, 0)), device_of(&world, 0));
    assert_int_equal(pool_mock_calls(world.mock, "cuGreenCtxCreate"), 0);
    world_end(&world);
}

static void test_refused(void **state)
{
    static const char *const functions[] = {"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
        "cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuGreenCtxDestroy", "cuCtxFromGreenCtx"};
    static const uint32_t sizes[] = {16, 117};

    (void)state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        struct world world = world_of_chip(&h100);

        assert_ok(pool_mock_remove_function(world.mock, functions[i]));
        world.params.devices = "0/2";
        assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_UNSUPPORTED);
        assert_says("12.4");
        assert_null(world.pool);
        world.params.devices = "0";
        assert_ok(pool_create(&world.pool, &world.params));
        world_end(&world);
    }
    struct world world = world_of_chip(&h100);
    world.params.partitions = sizes;
    world.params.partition_count = 2;
    assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_INVALID_ARGUMENT);
    assert_says("/16+116");
    world.params.partitions = NULL;
    world.params.context_mode = POOL_CONTEXT_OWN;
    assert_int_equal(pool_create(&world.pool, &world.params), POOL_ERR_UNSUPPORTED);
    assert_says("POOL_CONTEXT_OWN");
    world.params.context_mode = POOL_CONTEXT_PRIMARY;
    world.params.devices = "0/16+116"; /* the string's come first */
    world.params.partition_count = 4;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_device_count(world.pool), 2);
    world_end(&world);
}

/* A caller's green context is planned for with what it has; two of one device are refused. */
static void refuse_contexts(struct world *world, const CUcontext *contexts, const char *says)
{
    world->params.contexts = contexts;
    world->params.context_count = 2;
    assert_int_equal(pool_create(&world->pool, &world->params), POOL_ERR_INVALID_ARGUMENT);
    assert_says(says);
}

/* `green` is that of the second context, which it ends. */
static void check_refused_contexts(
    struct world *world, const CUcontext contexts[2], CUgreenCtx green)
{
    const pool_cuda_api *cu = pool_mock_table(world->mock);
    const CUcontext same[2] = {contexts[0], contexts[0]};
    CUcontext own[2] = {contexts[0], NULL};

    refuse_contexts(world, same, "contexts[0] and contexts[1] are the same");
    refuse_contexts(world, own, "must not contain NULL");
    assert_int_equal(cu->CtxCreate(&own[1], 0, 0), 0);
    refuse_contexts(world, own, "do not share memory");
    assert_int_equal(cu->CtxDestroy(own[1]), 0);
    assert_int_equal(cu->GreenCtxDestroy(green), 0);
    refuse_contexts(world, contexts, "contexts[1] has been destroyed");
}

static void test_adopted(void **state)
{
    struct world world = world_of_chip(&h100);
    const pool_cuda_api *cu = pool_mock_table(world.mock);
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_cu_dev_resource all, groups[2];
    CUdevResourceDesc desc = NULL;
    CUgreenCtx green[2] = {NULL, NULL};
    CUcontext contexts[2] = {NULL, NULL};
    unsigned count = 2;

    (void)state;
    assert_int_equal(cu->Init(0), 0);
    assert_int_equal(cu->DeviceGetDevResource(0, &all, 1), 0);
    assert_int_equal(cu->DevSmResourceSplitByCount(groups, &count, &all, NULL, 0, 24), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cu->DevResourceGenerateDesc(&desc, &groups[i], 1), 0);
        assert_int_equal(cu->GreenCtxCreate(&green[i], desc, 0, 1), 0);
        assert_int_equal(cu->CtxFromGreenCtx(&contexts[i], green[i]), 0);
    }
    world.params.context_mode = POOL_CONTEXT_ADOPT;
    world.params.contexts = contexts;
    world.params.context_count = 2;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_device_count(world.pool), 2);
    for (int i = 0; i < 2; i++) {
        assert_ok(pool_device_get_info(device_of(&world, i), &info));
        assert_int_equal(info.multiprocessors, 24);
        assert_int_equal(info.partition, i);
        assert_int_equal(info.partitions, 2);
        assert_ptr_equal(pool_device_gpu(device_of(&world, i)), device_of(&world, 0));
    }
    assert_ok(pool_destroy(&world.pool));
    check_refused_contexts(&world, contexts, green[1]);
    green[1] = NULL;
    world.params.contexts = contexts;
    world.params.context_count = 1;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(pool_device_get_info(device_of(&world, 0), &info));
    assert_int_equal(info.multiprocessors, 24);
    assert_int_equal(info.partitions, 0);
    assert_ok(pool_destroy(&world.pool));
    assert_int_equal(cu->GreenCtxDestroy(green[0]), 0);
    world_end(&world);
}

/* A failure of any call while the contexts are made leaves nothing. */
static void test_failures(void **state)
{
    static const char *const functions[] = {"cuDeviceGetDevResource", "cuDevSmResourceSplitByCount",
        "cuDevResourceGenerateDesc", "cuGreenCtxCreate", "cuCtxFromGreenCtx",
        "cuDevicePrimaryCtxRetain"};

    (void)state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        for (uint64_t n = 1; n <= 2; n++) {
            struct world world = world_of_chip(&h100);

            world.params.devices = "0/2";
            assert_ok(
                pool_mock_fail(world.mock, functions[i], n, POOL_CU_OUT_OF_MEMORY, POOL_MOCK_ONCE));
            (void)pool_create(&world.pool, &world.params);
            world_end(&world);
        }
}

/* ---- states ---------------------------------------------------------------------------------- */

static pool_device_state state_of(pool_device *device)
{
    return device_state(device);
}

static void test_drained_alone(void **state)
{
    struct world world = world_with_parts("0/2");
    pool_device *chosen = NULL;

    (void)state;
    assert_ok(pool_device_drain(device_of(&world, 0)));
    assert_int_equal(state_of(device_of(&world, 0)), POOL_DEVICE_DRAINING);
    assert_int_equal(state_of(device_of(&world, 1)), POOL_DEVICE_READY);
    for (int i = 0; i < 4; i++) {
        assert_ok(pool_next_device(world.pool, &chosen));
        assert_ptr_equal(chosen, device_of(&world, 1));
    }
    world_end(&world);
}

static struct world world_of_two_gpus(void)
{
    struct world world = world_of(2);

    for (int i = 0; i < 2; i++)
        assert_ok(
            pool_mock_set_attribute(world.mock, i, POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132));
    world.params.partition_count = 2;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_int_equal(pool_device_count(world.pool), 4);
    return world;
}

/* What harms a GPU harms all of its parts, and no other GPU. */
static void test_quarantined_together(void **state)
{
    struct world world = world_of_two_gpus();

    (void)state;
    assert_ok(pool_device_quarantine(device_of(&world, 1), "tested"));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            state_of(device_of(&world, i)), i < 2 ? POOL_DEVICE_QUARANTINED : POOL_DEVICE_READY);
    assert_int_equal(pool_device_resume(device_of(&world, 0)), POOL_ERR_BUSY);
    assert_int_equal(pool_usable_count(world.pool), 2);
    world_end(&world);
}

/* The last one: the mock cannot be destroyed behind it. */
static void test_abandoned_together(void **state)
{
    struct world world = world_of_two_gpus();

    (void)state;
    assert_ok(pool_device_abandon(device_of(&world, 3), "tested"));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            state_of(device_of(&world, i)), i < 2 ? POOL_DEVICE_READY : POOL_DEVICE_ABANDONED);
    assert_int_equal(pool_usable_count(world.pool), 2);
    assert_ok(pool_destroy(&world.pool));
}

/* The driver reports the device as lost in a call on one part. */
static void test_lost_together(void **state)
{
    struct world world = world_with_parts("0/2");
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_mock_fail(
        world.mock, "cuMemAllocFromPoolAsync", 1, POOL_CU_DEVICE_UNAVAILABLE, POOL_MOCK_ONCE));
    assert_int_equal(
        pool_buffer_alloc(device_of(&world, 1), MIB, &buffer), POOL_ERR_DEVICE_UNUSABLE);
    assert_int_equal(
        pool_buffer_alloc(device_of(&world, 0), MIB, &buffer), POOL_ERR_DEVICE_UNUSABLE);
    assert_ok(pool_get_health(world.pool, &health));
    assert_int_equal(health.usable_devices, 0);
    assert_int_equal(health.harmed, POOL_CLASS_DEVICE);
    world_end(&world);
}

/* It comes back quarantined: kernels of the mock compute nothing, so its probe fails. */
static void wait_for_return(pool_device *device)
{
    for (int i = 0; i < 2000 && state_of(device) != POOL_DEVICE_QUARANTINED; i++)
        usleep(5000);
    assert_int_equal(state_of(device), POOL_DEVICE_QUARANTINED);
}

/* The end of the GPU's context is that of all its parts, which come back together. */
static void test_reset_together(void **state)
{
    struct world world = world_of_two_gpus();
    pool_buffer *buffers[2] = {NULL, NULL};
    CUcontext context = NULL;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_ok(pool_buffer_alloc(device_of(&world, i), MIB, &buffers[i]));
    assert_ok(pool_bind(device_of(&world, 0))); /* keeps the GPU from coming back */
    assert_ok(pool_mock_reset_device(world.mock, 0));
    assert_int_equal(pool_buffer_fill8(buffers[1], 0, MIB, 1, NULL), POOL_ERR_DEVICE_LOST);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            state_of(device_of(&world, i)), i < 2 ? POOL_DEVICE_UNUSABLE : POOL_DEVICE_READY);
    assert_int_equal(pool_device_context(device_of(&world, 0), &context), POOL_ERR_DEVICE_LOST);
    (void)pool_unbind(device_of(&world, 0));
    for (size_t i = 0; i < 2; i++) {
        wait_for_return(device_of(&world, i));
        assert_int_equal(pool_buffer_fill8(buffers[i], 0, MIB, 1, NULL), POOL_ERR_DEVICE_LOST);
        assert_ok(pool_buffer_destroy(&buffers[i]));
        assert_ok(pool_buffer_alloc(device_of(&world, i), MIB, &buffers[i]));
        assert_ok(pool_buffer_fill8(buffers[i], 0, MIB, 1, NULL));
        assert_ok(pool_buffer_destroy(&buffers[i]));
    }
    assert_ok(pool_destroy(&world.pool)); /* what has ended with the context counts as leaked */
    assert_string_equal(pool_mock_verify(world.mock), "");
    pool_mock_destroy(&world.mock);
}

/* ---- what the parts have in common ----------------------------------------------------------- */

/* Memory of one part is that of the GPU: limited together, and usable on the streams of both. */
static void test_memory(void **state)
{
    struct world world = world_of_chip(&h100);
    pool_memory_info memory = {.struct_size = sizeof(memory)};
    pool_buffer *buffers[2] = {NULL, NULL}, *third = NULL;
    pool_stream *stream = NULL;
    char text[8] = "parts", copy[8] = "";

    (void)state;
    world.params.devices = "0/2";
    world.params.memory_limit = 64 * MIB;
    assert_ok(pool_create(&world.pool, &world.params));
    for (size_t i = 0; i < 2; i++)
        assert_ok(pool_buffer_alloc(device_of(&world, i), 30 * MIB, &buffers[i]));
    assert_int_equal(
        pool_buffer_alloc(device_of(&world, 1), 8 * MIB, &third), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pool_memory_get_info(device_of(&world, i), &memory));
        assert_int_equal(memory.used_bytes, 60 * MIB);
        assert_int_equal(memory.buffers, 2);
    }
    /* Each buffer on a created stream and on the default stream object of the other part. */
    for (size_t i = 0; i < 2; i++) {
        assert_ok(pool_stream_create(device_of(&world, 1 - i), NULL, &stream));
        assert_ok(pool_copy_to_device(buffers[i], 0, text, sizeof(text), stream));
        assert_ok(pool_stream_synchronize(stream));
        assert_ok(pool_stream_destroy(&stream));
        assert_ok(pool_stream_default(device_of(&world, 1 - i), &stream));
        assert_ok(pool_copy_device(buffers[1 - i], 0, buffers[i], 0, sizeof(text), stream));
        assert_ok(pool_copy_to_host(copy, buffers[1 - i], 0, sizeof(copy), stream));
        assert_ok(pool_stream_synchronize(stream));
        assert_string_equal(copy, "parts");
        assert_ok(pool_buffer_fill8(buffers[i], 0, 8, 0, stream));
        assert_ok(pool_stream_synchronize(stream));
    }
    assert_ok(pool_buffer_destroy_on(&buffers[0], stream));
    assert_ok(pool_buffer_destroy(&buffers[1]));
    world_end(&world);
}

static void test_peer(void **state)
{
    struct world world = world_with_parts("0/2");
    pool_peer_info peer = {.struct_size = sizeof(peer)};

    (void)state;
    assert_ok(pool_device_get_peer(device_of(&world, 0), device_of(&world, 1), &peer));
    assert_int_equal(peer.access, 1);
    assert_int_equal(peer.native_atomics, 1);
    assert_ok(pool_device_enable_peer(device_of(&world, 0), device_of(&world, 1)));
    assert_int_equal(pool_mock_calls(world.mock, "cuCtxEnablePeerAccess"), 0);
    world_end(&world);
}

/* Through an MPS server a context has some of the multiprocessors, for which is planned. */
static void test_mps(void **state)
{
    static const struct {
        const char *devices;
        int32_t lazy, multiprocessors, mps;
    } cases[] = {{"sim:1,sms=132,mem=256M", 0, 132, 0},
        {"sim:1,sms=132,mem=256M,mps=100", 0, 132, 1}, {"sim:1,sms=132,mem=256M,mps=50", 0, 66, 1},
        {"sim:1,sms=132,mem=256M,mps=50", 1, 132, 1}, {"sim:1,sms=4,mem=256M,mps=1", 0, 1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const pool_params params = {
            .struct_size = sizeof(params), .devices = cases[i].devices, .lazy = cases[i].lazy};
        pool_device_info info = {.struct_size = sizeof(info)};
        device_pool *pool = NULL;
        pool_device *device;

        assert_ok(pool_create(&pool, &params));
        assert_ok(pool_device_at(pool, 0, &device));
        assert_ok(pool_device_get_info(device, &info));
        assert_int_equal(info.multiprocessors, cases[i].multiprocessors);
        assert_int_equal(info.mps, cases[i].mps);
        assert_int_equal(chip_of(device).multiprocessors, cases[i].multiprocessors);
        assert_ok(pool_destroy(&pool));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mps),
        cmocka_unit_test(test_grammar),
        cmocka_unit_test(test_grammar_refuses),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_adopted),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_drained_alone),
        cmocka_unit_test(test_quarantined_together),
        cmocka_unit_test(test_lost_together),
        cmocka_unit_test(test_reset_together),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_peer),
        cmocka_unit_test(test_abandoned_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
