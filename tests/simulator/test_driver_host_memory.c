/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of host memory fails in turn: the simulated driver returns code 2 (its strings
 * and its start POOL_ERR_OUT_OF_HOST_MEMORY), its state remains consistent, and nothing leaks.
 */
#include "driver.h"

#include "base/alloc.h"

static int left; /* allocations that still work; all callers are on this thread */

static int fail_one(void *user)
{
    (void)user;
    return left-- == 0;
}

struct made {
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUmemoryPool pool;
    CUdeviceptr memory, pooled;
    void *pinned;
};

/* Creates one object of each kind; continues after failures, which must be 2. Returns how many
 * failed. */
static int make(struct made *made)
{
    static char heap[4096];
    const pool_cu_mem_pool_props props = {.allocation_type = 1, .location = {1, 0}};
    pool_cu_result code[12] = {0};
    int failures = 0;

    memset(made, 0, sizeof(*made));
    code[0] = cu->CtxCreate(&made->context, 0, 0);
    if (!code[0]) {
        code[1] = cu->StreamCreateWithPriority(&made->stream, 0, 0);
        code[2] = cu->EventCreate(&made->event, 0);
        code[3] = cu->MemAlloc(&made->memory, 1000);
        code[4] = cu->MemHostAlloc(&made->pinned, 100, 0);
        code[5] = cu->MemPoolCreate(&made->pool, &props);
        if (!code[5])
            code[6] = cu->MemAllocFromPoolAsync(&made->pooled, 100, made->pool, NULL);
        if (!code[3])
            code[7] = cu->MemcpyHtoDAsync(made->memory, heap, 100, NULL);
        if (!code[1] && !code[2])
            code[8] = cu->EventRecord(made->event, made->stream);
        if (!code[2])
            code[9] = cu->StreamWaitEvent(NULL, made->event, 0);
        code[10] = cu->MemHostRegister(heap, sizeof(heap), 0);
        if (!code[10])
            assert_int_equal(cu->MemHostUnregister(heap), 0);
    }
    for (int at = 0; at < 12; at++) {
        assert_true(code[at] == 0 || code[at] == 2);
        failures += code[at] != 0;
    }
    return failures;
}

static void destroy(const struct made *made)
{
    if (!made->context)
        return;
    if (made->pooled)
        assert_int_equal(cu->MemFree(made->pooled), 0);
    if (made->pool)
        assert_int_equal(cu->MemPoolDestroy(made->pool), 0);
    if (made->pinned)
        assert_int_equal(cu->MemFreeHost(made->pinned), 0);
    if (made->memory)
        assert_int_equal(cu->MemFree(made->memory), 0);
    if (made->event)
        assert_int_equal(cu->EventDestroy(made->event), 0);
    if (made->stream)
        assert_int_equal(cu->StreamDestroy(made->stream), 0);
    assert_int_equal(cu->CtxDestroy(made->context), 0);
}

static void test_calls(void **state)
{
    uint64_t leaks = 1;
    struct made made;
    int n = 0, failures;

    (void)state;
    do {
        sim_begin("sim");
        left = n++;
        base_alloc_set_hook(fail_one, NULL);
        failures = make(&made);
        base_alloc_set_hook(NULL, NULL);
        destroy(&made);
        sim_close();
        assert_int_equal(pool_sim_leaks(POOL_TEXT_PLAIN, &leaks, NULL), POOL_OK);
        assert_int_equal(leaks, 0);
    } while (failures > 0);
    assert_true(n > 12);
}

static void test_strings(void **state)
{
    struct sim_rules rules = {NULL, 0};
    pool_status status;
    int n = 0;

    (void)state;
    do {
        left = n++;
        base_alloc_set_hook(fail_one, NULL);
        status = sim_rules_parse("cuMemAlloc=2;cuMemFree=1;cuInit=3", &rules);
        base_alloc_set_hook(NULL, NULL);
        assert_true(status == POOL_OK || status == POOL_ERR_OUT_OF_HOST_MEMORY);
    } while (status);
    assert_int_equal(n, 4);
    sim_rules_free(&rules);
}

static void test_texts(void **state)
{
    CUdeviceptr memory = 0;
    pool_status status;
    int n = 0;

    (void)state;
    sim_begin_context("sim");
    assert_int_equal(cu->MemAlloc(&memory, 1000), 0);
    do {
        char *text = NULL;

        left = n++;
        base_alloc_set_hook(fail_one, NULL);
        status = pool_sim_leaks(POOL_TEXT_PLAIN, NULL, &text);
        base_alloc_set_hook(NULL, NULL);
        assert_true((status == POOL_OK) == (text != NULL));
        pool_text_free(&text);
    } while (status);
    assert_int_equal(cu->MemFree(memory), 0);
    sim_end_context();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
