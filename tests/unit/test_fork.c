/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children forked while another thread of the parent holds a lock of the library: they can log, use
 * built-in parameter sets, fields and curves, are notified of the fork, and can compile.
 */
#include "support/mock_pool.h"

#include <dlfcn.h>

#include "base/alloc.h"
#include "base/log.h"
#include "pool/module/image.h"
#include "support/child.h"
#include "unit/fake/libnvrtc.h"

#define FAKE_WORKS FAKE_DIRECTORY "/libnvrtc_works.so"

static struct fake_nvrtc *fake;

/* A child that hangs dies of this. */
enum { CHILD_SECONDS = 20 };

/* A point at which a thread waits until it is released; or it has passed. */
static struct gate {
    atomic_int is_reached, is_open, is_passed;
} gate;

static void wait_at_gate(void)
{
    atomic_store(&gate.is_reached, 1);
    while (!atomic_load(&gate.is_open))
        usleep(100);
}

static void let_reach_gate(pthread_t *thread, void *(*body)(void *), void *argument)
{
    gate = (struct gate){0};
    assert_int_equal(pthread_create(thread, NULL, body, argument), 0);
    while (!atomic_load(&gate.is_reached))
        usleep(100);
}

static void open_gate(pthread_t thread)
{
    atomic_store(&gate.is_open, 1);
    pthread_join(thread, NULL);
}

/* The thread waits at its n-th allocation from now on; 0: at none. */
static _Thread_local int stops_at_allocation;

static int wait_at_allocation(void *user)
{
    (void)user;
    if (stops_at_allocation > 0 && --stops_at_allocation == 0)
        wait_at_gate();
    return 0;
}

static void count_message(void *user, const pool_log_record *record)
{
    (void)record;
    atomic_fetch_add((atomic_int *)user, 1);
}

static int can_log(void)
{
    atomic_int heard = 0;

    pool_log_set(count_message, &heard, POOL_LOG_INFO);
    base_log(POOL_LOG_WARN, "from the child");
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    return atomic_load(&heard) == 1;
}

static int log_in_child(void *argument)
{
    (void)argument;
    alarm(CHILD_SECONDS);
    CHILD_CHECK(can_log());
    return 0;
}

static atomic_int is_over;

static void *set_log(void *argument)
{
    while (!atomic_load(&is_over))
        pool_log_set(NULL, argument, POOL_LOG_NONE);
    return NULL;
}

/* Nothing can wait inside of the log's lock, so it is taken all the time: about every third child
 * finds it held. */
static void test_log(void **state)
{
    pthread_t thread;

    (void)state;
    atomic_store(&is_over, 0);
    assert_int_equal(pthread_create(&thread, NULL, set_log, NULL), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(child_run(log_in_child, NULL), 0);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
}

static void *get_set(void *argument)
{
    pool_poseidon *set = NULL;

    stops_at_allocation = 1;
    *(pool_status *)argument = pool_poseidon_by_name("circom-bn254-t3", &set);
    pool_poseidon_destroy(&set);
    return NULL;
}

static int get_set_in_child(void *argument)
{
    pool_status status = POOL_ERR_INTERNAL;

    (void)argument;
    alarm(CHILD_SECONDS);
    atomic_store(&gate.is_open, 1);
    get_set(&status);
    CHILD_CHECK(status == POOL_OK && can_log());
    return 0;
}

static void test_built_in_set(void **state)
{
    pool_status status = POOL_ERR_INTERNAL;
    pthread_t thread;

    (void)state;
    base_alloc_set_hook(wait_at_allocation, NULL);
    let_reach_gate(&thread, get_set, &status);
    assert_int_equal(child_run(get_set_in_child, NULL), 0);
    open_gate(thread);
    base_alloc_set_hook(NULL, NULL);
    assert_int_equal(status, POOL_OK);
}

static void *derive(void *argument)
{
    stops_at_allocation = 1;
    *(const pool_curve **)argument = pool_curve_at(0);
    return NULL;
}

static int derive_in_child(void *argument)
{
    const pool_curve *curve = NULL;

    alarm(CHILD_SECONDS);
    atomic_store(&gate.is_open, 1);
    derive(&curve);
    CHILD_CHECK(curve && curve == pool_curve_by_name(argument));
    CHILD_CHECK(pool_field_at(0));
    return 0;
}

/* The first allocation is made while both fields and curves are derived. */
static void test_built_in_fields_and_curves(void **state)
{
    const pool_curve *curve = NULL;
    pthread_t thread;

    (void)state;
    base_alloc_set_hook(wait_at_allocation, NULL);
    let_reach_gate(&thread, derive, &curve);
    assert_int_equal(child_run(derive_in_child, (void *)(uintptr_t) "bn254_g1"), 0);
    open_gate(thread);
    base_alloc_set_hook(NULL, NULL);
    assert_ptr_equal(curve, pool_curve_by_name("bn254_g1"));
}

static nvrtc_result stop_in_compiler(
    unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    (void)number;
    (void)name;
    (void)cancelled;
    (void)of;
    wait_at_gate();
    return DRIVER_NVRTC_SUCCESS;
}

static pool_status compile(pool_device *device, const char *source)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = source, .no_cache = 1};
    pool_module *module = NULL;
    pool_status status = pool_module_compile(device, &params, &module);

    pool_module_destroy(&module);
    return status;
}

struct compiling {
    struct world world;
    const char *source;
    int stops;
    pool_status status;
};

static void *compile_there(void *argument)
{
    struct compiling *compiling = argument;
    pool_device *device = NULL;

    compiling->status = pool_device_at(compiling->world.pool, 0, &device);
    stops_at_allocation = compiling->stops;
    if (!compiling->status)
        compiling->status = compile(device, compiling->source);
    if (stops_at_allocation > 0)
        compiling->stops = 0;
    atomic_store(&gate.is_passed, 1);
    atomic_store(&gate.is_reached, 1);
    return NULL;
}

/* As for a device of the child's own. */
static pool_status get_image(const char *source)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = source, .no_cache = 1};
    struct module_request request = {
        .params = &params, .name = "kernel.cu", .compute_capability = 90};
    struct module_image *image = NULL;
    pool_status status = module_image_get(&request, &image);

    module_image_release(image);
    return status;
}

static int compile_in_child(void *argument)
{
    struct compiling *compiling = argument;
    alarm(CHILD_SECONDS);
    CHILD_CHECK(compile(device_of(&compiling->world, 0), compiling->source) == POOL_ERR_FORKED);
    CHILD_CHECK(can_log());
    atomic_store(&gate.is_open, 1);
    CHILD_CHECK(get_image(compiling->source) == POOL_OK);
    CHILD_CHECK(get_image("another") == POOL_OK);
    return 0;
}

static void fork_while(struct compiling *compiling)
{
    pthread_t thread;

    compiling->status = POOL_ERR_INTERNAL;
    let_reach_gate(&thread, compile_there, compiling);
    if (!atomic_load(&gate.is_passed))
        assert_int_equal(child_run(compile_in_child, compiling), 0);
    open_gate(thread);
    assert_int_equal(compiling->status, POOL_OK);
}

static void test_compile_under_way(void **state)
{
    struct compiling compiling = {.world = world_with_pool(1), .source = "in progress"};

    (void)state;
    fake->compile = stop_in_compiler;
    fork_while(&compiling);
    fake->compile = NULL;
    world_end(&compiling.world);
}

/* At each allocation of a compilation; one of them is made under the lock of the table of images.
 */
static void test_every_allocation_of_a_compile(void **state)
{
    struct compiling compiling = {.world = world_with_pool(1)};
    char source[32];
    int n = 0;

    (void)state;
    compiling.source = source;
    base_alloc_set_hook(wait_at_allocation, NULL);
    do {
        compiling.stops = ++n;
        snprintf(source, sizeof(source), "stops at %d", n);
        fork_while(&compiling);
    } while (compiling.stops);
    base_alloc_set_hook(NULL, NULL);
    assert_true(n > 5);
    world_end(&compiling.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_fields_and_curves), /* first: while none is derived */
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_built_in_set),
        cmocka_unit_test(test_compile_under_way),
        cmocka_unit_test(test_every_allocation_of_a_compile),
    };

    setenv("DEVICEPOOL_NVRTC", FAKE_WORKS, 1);
    fake = dlsym(dlopen(FAKE_WORKS, RTLD_NOW | RTLD_LOCAL), "fake_nvrtc_control");
    return fake ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}
