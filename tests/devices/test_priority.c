/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities at work, on a simulated device that executes one launch at a time, the most urgent one
 * first: launches of all levels are enqueued behind one that holds the device, the least urgent
 * first, and note the order in which they run. Streams of leases, default streams, streams of the
 * library, and graphs, which keep the priorities of their capture.
 *
 *   test_devices_priority [DEVICES]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "support/assert.h"
#include "support/pool.h"

enum { LEVELS = 6, WORDS = 64 };

/* `hold` runs until its word of pinned memory is not 0. `note` appends its number to the words
 * behind the first one, which counts them. */
static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry hold(.param .u64 words)\n{\n"
                          "\t.reg .u64 %rd<2>;\n\t.reg .u32 %r<2>;\n\t.reg .pred %p<2>;\n"
                          "\tld.param.u64 %rd1, [words];\n"
                          "again:\n\tld.volatile.global.u32 %r1, [%rd1];\n"
                          "\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra again;\n\tret;\n}\n"
                          ".visible .entry note(.param .u64 words, .param .u32 number)\n{\n"
                          "\t.reg .u64 %rd<4>;\n\t.reg .u32 %r<3>;\n"
                          "\tld.param.u64 %rd1, [words];\n\tld.param.u32 %r1, [number];\n"
                          "\tatom.global.add.u32 %r2, [%rd1], 1;\n"
                          "\tmul.wide.u32 %rd2, %r2, 4;\n\tadd.u64 %rd3, %rd1, %rd2;\n"
                          "\tst.global.u32 [%rd3+4], %r1;\n\tret;\n}\n";

static struct {
    pool_module *module;
    pool_kernel *hold, *note;
    pool_buffer *words;
    pool_pinned *released;
    pool_stream *holding, *copying;
} with;

static int open_all(void **state)
{
    pool_params params = {.struct_size = sizeof(params), .devices = device_text, .slots = LEVELS};

    (void)state;
    assert_ok(pool_create(&pool, &params));
    assert_ok(pool_device_at(pool, 0, &device));
    assert_ok(pool_module_load(device, ptx, sizeof(ptx), &with.module));
    assert_ok(pool_kernel_get(with.module, "hold", &with.hold));
    assert_ok(pool_kernel_get(with.module, "note", &with.note));
    assert_ok(pool_buffer_alloc(device, WORDS * sizeof(uint32_t), &with.words));
    assert_ok(pool_stream_create(device,
        &(pool_stream_params){.struct_size = sizeof(pool_stream_params), .priority = -5},
        &with.holding));
    assert_ok(pool_pinned_create(device, sizeof(uint32_t), 0, &with.released));
    assert_ok(pool_stream_create(device, NULL, &with.copying));
    return 0;
}

static int close_all(void **state)
{
    assert_ok(pool_stream_destroy(&with.holding));
    assert_ok(pool_stream_destroy(&with.copying));
    assert_ok(pool_pinned_destroy(&with.released));
    assert_ok(pool_buffer_destroy(&with.words));
    assert_ok(pool_module_destroy(&with.module));
    return close_pool(state);
}

/* From now on launches wait: this one is the first of the most urgent ones. */
static void hold(void)
{
    CUdeviceptr released = (uintptr_t)pool_pinned_data(with.released);
    void *arguments[] = {&released};
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 1};

    __atomic_store_n((uint32_t *)pool_pinned_data(with.released), 0, __ATOMIC_SEQ_CST);
    assert_ok(pool_buffer_fill8(with.words, 0, WORDS * sizeof(uint32_t), 0, with.copying));
    assert_ok(pool_stream_synchronize(with.copying));
    assert_ok(pool_launch(with.hold, &shape, arguments, with.holding));
}

static void note(uint32_t number, pool_stream *stream)
{
    CUdeviceptr words = 0;
    void *arguments[] = {&words, &number};
    const pool_launch_shape shape = {.struct_size = sizeof(shape), .argument_count = 2};

    assert_ok(pool_buffer_address(with.words, &words));
    assert_ok(pool_launch(with.note, &shape, arguments, stream));
}

/* Checks the order in which the launches have run. */
static void check_order(const uint32_t *wanted, uint32_t count)
{
    uint32_t words[WORDS];

    /* With a worker process, it has enqueued the launches when a query is answered. */
    assert_status(pool_stream_query(with.holding), POOL_ERR_NOT_READY);
    __atomic_store_n((uint32_t *)pool_pinned_data(with.released), 1, __ATOMIC_SEQ_CST);
    assert_ok(pool_device_synchronize(device));
    assert_ok(pool_copy_to_host(words, with.words, 0, sizeof(words), with.copying));
    assert_ok(pool_stream_synchronize(with.copying));
    assert_int_equal(words[0], count);
    for (uint32_t i = 0; i < count; i++)
        if (words[1 + i] != wanted[i])
            fail_msg("launch %u was %u instead of %u", i, words[1 + i], wanted[i]);
}

static pool_lease *lease_of(int32_t class)
{
    const pool_request request = {
        .struct_size = sizeof(request), .priority = class, .label = "priority"};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

static pool_stream *stream_of(pool_lease *lease)
{
    pool_stream *stream;

    assert_ok(pool_lease_stream(lease, 0, &stream));
    return stream;
}

static void test_leases(void **state)
{
    static const int32_t classes[LEVELS] = {-100, -1, 0, 1, 10, 100};
    static const uint32_t wanted[LEVELS] = {5, 4, 3, 2, 1, 0};
    pool_lease *leases[LEVELS];

    (void)state;
    hold();
    for (uint32_t i = 0; i < LEVELS; i++) {
        leases[i] = lease_of(classes[i]);
        note(i, stream_of(leases[i]));
    }
    check_order(wanted, LEVELS);
    for (uint32_t i = 0; i < LEVELS; i++)
        assert_ok(pool_release(&leases[i]));
}

/* A call on the default stream is as urgent as a lease of class 0. */
static void test_default_stream(void **state)
{
    pool_lease *before = lease_of(1), *behind = lease_of(-1);

    (void)state;
    hold();
    note(1, stream_of(behind));
    note(2, NULL);
    note(3, stream_of(before));
    check_order((const uint32_t[]){3, 2, 1}, 3);
    assert_ok(pool_release(&before));
    assert_ok(pool_release(&behind));
}

static pool_stream *stream_with(int32_t priority)
{
    const pool_stream_params params = {.struct_size = sizeof(params), .priority = priority};
    pool_stream *stream = NULL;

    assert_ok(pool_stream_create(device, &params, &stream));
    return stream;
}

/* A graph is as urgent as the streams of its capture, whatever lease it is launched under. */
static void test_graphs(void **state)
{
    pool_stream *urgent = stream_with(-4), *background = stream_with(1);
    pool_lease *normal = lease_of(0), *first = lease_of(100), *last = lease_of(-100);
    pool_graph *graphs[2] = {NULL, NULL};

    (void)state;
    assert_ok(pool_stream_begin_capture(urgent));
    note(1, urgent);
    assert_ok(pool_stream_end_capture(urgent, &graphs[0]));
    assert_ok(pool_stream_begin_capture(background));
    note(2, background);
    assert_ok(pool_stream_end_capture(background, &graphs[1]));
    for (int i = 0; i < 2; i++) {
        hold();
        assert_ok(pool_graph_launch(graphs[1], stream_of(first)));
        note(3, stream_of(normal));
        assert_ok(pool_graph_launch(graphs[0], stream_of(last)));
        check_order((const uint32_t[]){1, 3, 2}, 3);
    }

    /* An update brings the priorities of its capture. */
    assert_ok(pool_stream_begin_capture(background));
    note(4, background);
    assert_ok(pool_graph_update(graphs[0], background));
    hold();
    assert_ok(pool_graph_launch(graphs[0], stream_of(first)));
    note(3, stream_of(normal));
    check_order((const uint32_t[]){3, 4}, 2);
    for (int i = 0; i < 2; i++)
        assert_ok(pool_graph_destroy(&graphs[i]));
    assert_ok(pool_release(&normal));
    assert_ok(pool_release(&first));
    assert_ok(pool_release(&last));
    assert_ok(pool_stream_destroy(&urgent));
    assert_ok(pool_stream_destroy(&background));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leases),
        cmocka_unit_test(test_default_stream), cmocka_unit_test(test_graphs)};

    device_text = argc > 1 ? argv[1] : "sim:1,serial=1";
    return cmocka_run_group_tests(tests, open_all, close_all);
}
