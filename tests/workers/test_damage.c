/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process may write anything into what it shares with the client: it costs its device and
 * nothing else. The program damaging_worker damages what the worker of one of two devices writes.
 * Calls for that device return, with whatever status and result; the other device computes right
 * results; everything can be destroyed, and nothing is left behind.
 *
 *   test_damage [SEEDS [FIRST]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool/graph.h>
#include <devicepool/metrics.h>
#include <devicepool/virtual.h>

#include "job.h"
#include "left_behind.h"
#include "support/assert.h"
#include "support/child.h"

enum { DEVICES = 2, VICTIM = 1, COUNT = 32, POINT = 64, ELEMENT = 32, BYTES = 3 << 20 };

static unsigned seeds = 24, first_seed = 1;
static device_pool *pool;
static unsigned char points[COUNT * POINT], scalars[COUNT * ELEMENT], bytes[BYTES];
static unsigned calls, failures;

static int create_work(void **state)
{
    const pool_curve *curve = pool_curve_by_name("bn254_g1");

    (void)state;
    assert_ok(pool_random_points(curve, 1, COUNT, NULL, points, NULL));
    return pool_random_scalars(
        pool_curve_scalar_field(curve), 2, COUNT, POOL_FORM_STANDARD, scalars);
}

/* What becomes of calls for the damaged device is not known, only that they return. */
static pool_status note(pool_status status)
{
    calls++;
    failures += status != POOL_OK;
    return status;
}

/* ---- calls for the damaged device --------------------------------------------------------------
 */

static void describe(pool_device *device)
{
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_memory_info memory = {.struct_size = sizeof(memory)};
    char *text = NULL;
    int32_t lowest, highest;

    note(pool_device_get_info(device, &info));
    note(pool_memory_get_info(device, &memory));
    note(pool_stream_get_priority_range(device, &lowest, &highest));
    note(pool_describe(pool, POOL_TEXT_JSON, &text));
    pool_text_free(&text);
    note(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    pool_text_free(&text);
    note(pool_memory_trim(device, 0));
}

/* Copies through the stage, the arena, from one device to the other, and to a place in a pitch. */
static void copy(pool_device *device, pool_device *other)
{
    pool_buffer *buffer = NULL, *peer = NULL, *slice = NULL;
    pool_device *found = NULL;
    CUdeviceptr address = 0;

    note(pool_buffer_alloc(device, BYTES, &buffer));
    note(pool_buffer_alloc(other, BYTES, &peer));
    if (buffer && peer) {
        note(pool_copy_to_device(buffer, 0, bytes, BYTES, NULL));
        note(pool_buffer_fill32(buffer, 0, 7, 1000, NULL));
        note(pool_copy_device(peer, 0, buffer, 0, BYTES, NULL));
        note(pool_copy_device(buffer, 0, peer, 0, BYTES, NULL));
        note(pool_copy_to_host(bytes, buffer, 0, BYTES, NULL));
        note(pool_buffer_address(buffer, &address));
        note(pool_pointer_device(pool, (void *)(uintptr_t)address, &found));
        note(pool_buffer_slice(buffer, 4096, 4096, &slice));
    }
    note(pool_buffer_destroy(&slice));
    note(pool_buffer_destroy(&buffer));
    note(pool_buffer_destroy(&peer));
}

static void map_range(pool_device *device)
{
    const pool_buffer_params params = {
        .struct_size = sizeof(params), .bytes = 1 << 20, .flags = POOL_BUFFER_DURABLE};
    pool_buffer *buffer = NULL;

    if (!note(pool_buffer_create(device, &params, &buffer)))
        note(pool_copy_to_device(buffer, 0, bytes, 1 << 20, NULL));
    note(pool_buffer_destroy(&buffer));
}

static void launch(pool_device *device)
{
    /* to[blockIdx.x * blockDim.x + threadIdx.x] += value */
    static const char ptx[] =
        ".version 7.0\n.target sm_60\n.address_size 64\n"
        ".visible .entry add(.param .u64 to, .param .u32 value)\n{\n"
        "\t.reg .b32 %r<6>;\n\t.reg .b64 %d<3>;\n"
        "\tld.param.u64 %d1, [to];\n\tld.param.u32 %r1, [value];\n"
        "\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n"
        "\tmad.lo.u32 %r2, %r2, %r3, %r4;\n\tmul.wide.u32 %d2, %r2, 4;\n\tadd.u64 %d1, %d1, %d2;\n"
        "\tld.global.u32 %r5, [%d1];\n\tadd.u32 %r5, %r5, %r1;\n\tst.global.u32 [%d1], %r5;\n"
        "\tret;\n}\n";
    pool_launch_shape shape = {.struct_size = sizeof(shape)};
    pool_kernel_info info = {.struct_size = sizeof(info)};
    pool_module *module = NULL;
    pool_kernel *kernel = NULL;
    pool_buffer *buffer = NULL;
    uint32_t value = 1, occupancy = 0;
    CUdeviceptr address = 0;
    void *arguments[] = {&address, &value};

    if (!note(pool_module_load(device, ptx, sizeof(ptx) - 1, &module)) &&
        !note(pool_kernel_get(module, "add", &kernel)) &&
        !note(pool_buffer_alloc(device, 4096, &buffer))) {
        note(pool_kernel_get_info(kernel, &info));
        note(pool_kernel_get_occupancy(kernel, 256, 0, &occupancy));
        note(pool_launch_shape_for(1024, &shape));
        shape.argument_count = 2;
        note(pool_buffer_address(buffer, &address));
        note(pool_launch(kernel, &shape, arguments, NULL));
    }
    note(pool_buffer_destroy(&buffer));
    note(pool_module_destroy(&module));
}

static void sum(pool_device *device)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    const pool_msm_params params = {
        .struct_size = sizeof(params), .curve = pool_curve_by_name("bn254_g1")};
    const pool_span given = {.data = points, .count = COUNT};
    const pool_span factors = {.data = scalars, .count = COUNT};
    unsigned char result[POINT];
    const pool_span to = {.data = result, .count = 1};

    note(pool_msm(&params, &exec, &given, &factors, &to));
}

/* Resident bases, in durable memory that is exported. */
static void sum_resident(pool_device *device)
{
    const pool_bases_params bases = {
        .struct_size = sizeof(bases), .curve = pool_curve_by_name("bn254_g1")};
    const pool_span given = {.data = points, .count = COUNT};
    const pool_span factors = {.data = scalars, .count = COUNT};
    const pool_resident_params params = {
        .struct_size = sizeof(params), .name = "key", .bases = &bases, .points = &given};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device};
    pool_msm_params msm = {.struct_size = sizeof(msm)};
    unsigned char result[POINT];
    const pool_span to = {.data = result, .count = 1};
    pool_resident *resident = NULL;
    pool_resident_use *resident_use = NULL;

    assert_ok(pool_resident_create(pool, &params, &resident));
    if (!note(pool_resident_open(resident, &exec, &resident_use))) {
        msm.bases = pool_resident_bases(resident_use);
        note(pool_msm(&msm, &exec, NULL, &factors, &to));
    }
    note(pool_resident_close(&resident_use));
    note(pool_resident_evict(resident, device));
    note(pool_resident_destroy(&resident));
}

static void repeat_graph(pool_device *device)
{
    pool_stream *stream = NULL;
    pool_buffer *buffer = NULL;
    pool_graph *graph = NULL;

    if (!note(pool_stream_create(device, NULL, &stream)) &&
        !note(pool_buffer_alloc(device, 4096, &buffer)) &&
        !note(pool_stream_begin_capture(stream))) {
        note(pool_buffer_fill32(buffer, 0, 7, 1000, stream));
        note(pool_stream_end_capture(stream, &graph));
        if (graph)
            note(pool_graph_launch(graph, stream));
    }
    note(pool_graph_destroy(&graph));
    note(pool_buffer_destroy(&buffer));
    note(pool_stream_destroy(&stream));
}

static void use(pool_device *device, pool_device *other)
{
    static void (*const uses[])(pool_device * device) = {
        describe, map_range, launch, sum, sum_resident, repeat_graph};

    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        note(run_job(device, (uint32_t)i));
        copy(device, other);
        uses[i](device);
    }
    note(pool_device_synchronize(device));
    note(pool_device_probe(device, 1000000000));
}

/* ---- tests -------------------------------------------------------------------------------------
 */

/* What a pool has left behind, in so many words: a worker that is replaced again and again may keep
 * the pool's own threads for longer than pool_destroy waits. */
static bool is_left;

static void read_log(void *user, const pool_log_record *record)
{
    (void)user;
    is_left |= strstr(record->message, "is not freed") != NULL;
}

/* Whether nothing is left behind, or the library has said so. */
static bool is_clean(struct left_behind before)
{
    struct left_behind after = look();

    for (int i = 0; i < 30000 && !is_left && after.threads > before.threads; i++) {
        usleep(1000);
        after = look();
    }
    return is_left ||
           (after.descriptors == before.descriptors && after.mappings == before.mappings &&
               after.children == before.children && after.threads <= before.threads);
}

struct plan {
    unsigned seed, every;
};

enum { NO_FAILURES = 0, FAILURES = 10 };

/* In a process of its own: FAILURES if calls have failed, 1 if something is wrong. */
static int run_pool(void *argument)
{
    const struct plan *plan = argument;
    const pool_params params = {.struct_size = sizeof(params),
        .devices = "workers:sim:2,mem=1G",
        .min_devices = 1,
        .stall_timeout_ns = 2000000000};
    pool_device *healthy = NULL, *damaged = NULL;
    struct left_behind before = look();
    pool_health_info health = {.struct_size = sizeof(health)};
    pool_status status;
    char text[64];

    snprintf(text, sizeof(text), "%u,%u", plan->seed, plan->every);
    setenv("DEVICEPOOL_TEST_DAMAGE", text, 1);
    pool_log_set(read_log, NULL, POOL_LOG_WARN);
    status = pool_create(&pool, &params);
    if (status) {
        CHILD_CHECK(strstr(pool_last_error()->message, "device 1"));
        CHILD_CHECK(is_clean(before));
        return FAILURES;
    }
    /* What the damaged one says about itself may change the order, or leave it out. */
    CHILD_CHECK(!pool_device_by_ordinal(pool, 0, &healthy));
    if (!pool_device_by_ordinal(pool, VICTIM, &damaged))
        use(damaged, healthy);
    status = run_job(healthy, plan->seed);
    /* The tables of a domain that both devices have used are freed on both. */
    CHILD_CHECK(!status || strstr(pool_last_error()->message, "device 1"));
    CHILD_CHECK(status != POOL_ERR_INTERNAL);
    CHILD_CHECK(!pool_get_health(pool, &health));
    CHILD_CHECK(health.harmed != POOL_CLASS_PROCESS);
    while ((status = pool_destroy(&pool)) == POOL_ERR_BUSY)
        usleep(10000); /* a probe that has not been answered, until the device is stalled */
    CHILD_CHECK(!status);
    CHILD_CHECK(is_clean(before));
    printf("seed %u: %u calls, %u failures%s\n", plan->seed, calls, failures,
        is_left ? ", left behind" : "");
    return failures ? FAILURES : NO_FAILURES;
}

static void test_damages(void **state)
{
    unsigned failed = 0;

    (void)state;
    for (unsigned seed = first_seed; seed < first_seed + seeds; seed++) {
        struct plan plan = {seed, 4u << seed / 2 % 6};
        int code = child_run(run_pool, &plan);

        if (code != NO_FAILURES && code != FAILURES)
            fail_msg("seed %u: exit code %d", seed, code);
        failed += code == FAILURES;
    }
    assert_true(failed > seeds / 2);
}

/* Without damages everything is right. */
static void test_none(void **state)
{
    struct plan plan = {0, 0};

    (void)state;
    assert_int_equal(child_run(run_pool, &plan), NO_FAILURES);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_damages),
    };

    if (count > 1)
        seeds = (unsigned)strtoul(arguments[1], NULL, 10);
    if (count > 2)
        first_seed = (unsigned)strtoul(arguments[2], NULL, 10);
    return cmocka_run_group_tests(tests, create_work, NULL);
}
