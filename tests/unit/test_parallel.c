/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are compiled in parallel: how many at once, what is compiled at a first use,
 * failures, threads that cannot be started, and cancellation. The compiler and the number of
 * processors are fakes.
 */
#include "support/mock_pool.h"
#include "support/sample.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#include "base/log.h"
#include "base/parallel.h"
#include "pool/module/image.h"
#include "unit/fake/libnvrtc.h"
#include "zk/msm/msm.h"
#include "zk/ntt/ntt.h"

#define FAKE_WORKS FAKE_DIRECTORY "/libnvrtc_works.so"

enum { SIDE = 4, WAIT_US = 10000000 };
enum { WARM_PROGRAMS = MSM_PROGRAMS - MSM_AFFINE_PROGRAMS };

static struct fake_nvrtc *fake;
static struct world world;
static char root[64], command[128];

/* ---- processors and threads ------------------------------------------------------------------ */

static int processors;
static int threads_left; /* pthread_create works so often, then fails */
static atomic_int threads_started;

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    memset(set, 0, size);
    for (int i = 0; i < processors; i++)
        CPU_SET((size_t)i, set);
    return 0;
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");

    if (threads_left-- <= 0)
        return EAGAIN;
    atomic_fetch_add(&threads_started, 1);
    memcpy(&real, &symbol, sizeof(real));
    return real(thread, attributes, body, argument);
}

static atomic_int resting; /* threads in pthread_cond_wait */

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    int result;

    atomic_fetch_add(&resting, 1);
    result = __real_pthread_cond_wait(condition, lock);
    atomic_fetch_sub(&resting, 1);
    return result;
}

/* ---- each test ------------------------------------------------------------------------------- */

static void begin(int processor_count)
{
    memset(fake, 0, sizeof(*fake));
    processors = processor_count;
    threads_left = 100;
    atomic_store(&threads_started, 0);
}

static const uint32_t any_sizes[] = {8};

/* The kernels that are looked up after their program was compiled. */
static pool_status add_kernels(pool_mock *mock)
{
    static const char *const names[] = {"msm_digits_16", "msm_window_combine", "msm_check_bases",
        "msm_check_scalars", "msm_convert_bases", "msm_copy_strided", "msm_affine_pad",
        "msm_affine_sums", "msm_small_sort", "msm_small_accumulate", "msm_small_reduce"};
    pool_status status = POOL_OK;

    for (size_t i = 0; !status && i < sizeof(names) / sizeof(names[0]); i++) {
        const pool_mock_kernel kernel = {.struct_size = sizeof(kernel),
            .name = names[i],
            .argument_bytes = any_sizes,
            .argument_count = 1,
            .max_threads = 512};

        status = pool_mock_add_kernel(mock, &kernel);
    }
    return status;
}

static int set_up(void **state)
{
    char directory[80];

    (void)state;
    begin(SIDE);
    strcpy(root, "/tmp/devicepool-parallel-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(directory, sizeof(directory), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", directory, 1);
    module_image_forget();
    world = world_with_pool(1);
    return add_kernels(world.mock);
}

static int tear_down(void **state)
{
    (void)state;
    world_end(&world);
    assert_int_equal(atomic_load(&fake->created), atomic_load(&fake->destroyed));
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static const pool_curve *curve(void)
{
    return pool_curve_by_name("bn254_g1");
}

static pool_status warm_up(void)
{
    CUcontext before = pool_mock_current_context(world.mock);
    pool_status status = pool_msm_warm_up(
        curve(), &(pool_exec){.struct_size = sizeof(pool_exec), .device = device_of(&world, 0)});

    assert_ptr_equal(pool_mock_current_context(world.mock), before);
    return status;
}

static unsigned compiled(void)
{
    return atomic_load(&fake->compiled);
}

static unsigned most_running(void)
{
    return atomic_load(&fake->most_running);
}

/* Waits until as many compile as there are processors, and looks at its thread's signals. */
static atomic_int open_signals;

static nvrtc_result gather(unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    sigset_t blocked;

    (void)number;
    (void)name;
    (void)cancelled;
    (void)of;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGTERM))
        atomic_fetch_add(&open_signals, 1);
    for (int i = 0; i < WAIT_US && most_running() < (unsigned)processors; i += 100)
        usleep(100);
    return DRIVER_NVRTC_SUCCESS;
}

/* Of programs: the trial of the compiler is loaded too. */
static uint64_t loads(void)
{
    return pool_mock_calls(world.mock, "cuModuleLoadData*") - atomic_load(&fake->trials);
}

static void test_side_by_side(void **state)
{
    (void)state;
    fake->compile = gather;
    atomic_store(&open_signals, 0);
    assert_ok(warm_up());
    assert_int_equal(compiled(), WARM_PROGRAMS);
    assert_int_equal(most_running(), SIDE);
    assert_int_equal(threads_started, SIDE - 1);
    assert_true(open_signals < WARM_PROGRAMS); /* those of the calling thread */
    assert_int_equal(loads(), WARM_PROGRAMS);
    assert_ok(warm_up());
    assert_int_equal(compiled(), WARM_PROGRAMS);
    assert_int_equal(threads_started, SIDE - 1);
}

/* No more threads than compilations at once. */
static void test_many_processors(void **state)
{
    (void)state;
    begin(64);
    assert_int_equal(base_parallel_threads(), 16);
    assert_ok(warm_up());
    assert_int_equal(threads_started, 16 - 1);
    assert_int_equal(compiled(), WARM_PROGRAMS);
}

static char order[1024];

static nvrtc_result note_order(
    unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    (void)number;
    (void)cancelled;
    (void)of;
    strcat(strcat(order, name), " ");
    return DRIVER_NVRTC_SUCCESS;
}

static void assert_one_after_another(void)
{
    order[0] = '\0';
    fake->compile = note_order;
    assert_ok(warm_up());
    assert_int_equal(most_running(), 1);
    assert_string_equal(order, "msm/reduce_tree.cu msm/reduce_segments.cu msm/bucket_merge.cu "
                               "msm/accumulate.cu msm/digits.cu msm/sort_partition.cu "
                               "msm/sort_buckets.cu msm/window_combine.cu msm/check_bases.cu "
                               "msm/convert_bases.cu msm/double_bases.cu msm/check_scalars.cu "
                               "msm/copy_strided.cu msm/split_scalars.cu msm/map_bases.cu "
                               "msm/small_sort.cu msm/small_accumulate.cu msm/small_reduce.cu ");
}

static void test_one_processor(void **state)
{
    (void)state;
    begin(1);
    assert_one_after_another();
    assert_int_equal(threads_started, 0);
}

static void test_no_threads(void **state)
{
    (void)state;
    threads_left = 0;
    assert_one_after_another();
    assert_int_equal(threads_started, 0);
}

static void test_too_few_threads(void **state)
{
    (void)state;
    threads_left = 1;
    assert_ok(warm_up());
    assert_int_equal(threads_started, 1);
    assert_int_equal(compiled(), WARM_PROGRAMS);
    assert_true(most_running() <= 2);
}

/* What is on disk is loaded by the calling thread. */
static void test_cached(void **state)
{
    (void)state;
    assert_ok(warm_up());
    world_end(&world);
    module_image_forget();
    begin(SIDE);
    world = world_with_pool(1);
    assert_ok(warm_up());
    assert_int_equal(compiled(), 0);
    assert_int_equal(threads_started, 0);
    assert_int_equal(loads(), WARM_PROGRAMS);
}

/* A task waits for the other, so that both threads take one. */
static pool_status log_in_task(void *user, size_t index)
{
    atomic_int *arrived = user;

    (void)index;
    atomic_fetch_add(arrived, 1);
    for (int i = 0; i < WAIT_US / 100 && atomic_load(arrived) < 2; i++)
        usleep(100);
    base_log(POOL_LOG_INFO, "a task");
    return atomic_load(arrived) == 2 ? POOL_OK : POOL_ERR_TIMEOUT;
}

static void count_labels(void *user, const pool_log_record *record)
{
    if (strcmp(record->lease, "block 7") == 0)
        atomic_fetch_add((atomic_int *)user, 1);
}

/* Helper threads log on behalf of the caller's lease. */
static void test_label(void **state)
{
    atomic_int arrived = 0, labelled = 0;
    const struct base_parallel job = {.count = 2, .task = log_in_task, .user = &arrived};

    (void)state;
    begin(2);
    pool_log_set(count_labels, &labelled, POOL_LOG_INFO);
    {
        BASE_LOG_LABEL("block 7");
        assert_ok(base_parallel_run(device_threads(device_of(&world, 0)), &job));
    }
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    assert_int_equal(threads_started, 1);
    assert_int_equal(labelled, 2);
}

static unsigned failing;

static nvrtc_result fail_nth(unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    (void)name;
    (void)cancelled;
    (void)of;
    return number == failing ? DRIVER_NVRTC_ERROR_COMPILATION : DRIVER_NVRTC_SUCCESS;
}

static void test_each_fails(void **state)
{
    (void)state;
    for (failing = 1; failing <= WARM_PROGRAMS; failing += takes_a_sample() ? 8 : 1) {
        set_up(NULL);
        fake->compile = fail_nth;
        fake->log = "the compiler's own words";
        assert_int_equal(warm_up(), POOL_ERR_COMPILE);
        assert_int_equal(pool_last_error()->status, POOL_ERR_COMPILE);
        assert_says("the compiler's own words");
        assert_true(compiled() >= failing);
        fake->compile = NULL;
        assert_ok(warm_up()); /* what is there is not compiled again */
        assert_int_equal(compiled(), WARM_PROGRAMS + 1);
        tear_down(NULL);
    }
}

/* The first program and the third fail, one of them later, and the two beside them end when both
 * threads that have failed have nothing to do. Nothing new is begun, and the first one's failure is
 * reported. */
static const char *late;

static void wait_for_resting(int count)
{
    for (int i = 0; i < WAIT_US && atomic_load(&resting) < count; i += 100)
        usleep(100);
}

static nvrtc_result fail_late(unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    bool fails =
        strcmp(name, "msm/reduce_tree.cu") == 0 || strcmp(name, "msm/bucket_merge.cu") == 0;

    gather(number, name, cancelled, of);
    if (!fails)
        wait_for_resting(2);
    else if (strcmp(name, late) == 0)
        wait_for_resting(1);
    return fails ? DRIVER_NVRTC_ERROR_COMPILATION : DRIVER_NVRTC_SUCCESS;
}

static void test_first_failure(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        late = i ? "msm/reduce_tree.cu" : "msm/bucket_merge.cu";
        set_up(NULL);
        fake->compile = fail_late;
        assert_int_equal(warm_up(), POOL_ERR_COMPILE);
        assert_says("msm/reduce_tree.cu does not compile");
        assert_int_equal(compiled(), SIDE);
        tear_down(NULL);
    }
}

static pool_status get_kernel_of(enum msm_kernel name, uint32_t parts)
{
    pool_kernel *found = NULL;

    return msm_kernel_get(device_of(&world, 0), curve(), name, parts, &found);
}

static pool_status get_kernel(enum msm_kernel name)
{
    return get_kernel_of(name, 0);
}

static void test_first_use(void **state)
{
    (void)state;
    assert_ok(get_kernel(MSM_DIGITS_16));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS);
    assert_ok(get_kernel(MSM_WINDOW_COMBINE));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 1);
    assert_ok(get_kernel(MSM_CHECK_BASES));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 2);
    assert_ok(get_kernel(MSM_CONVERT_BASES));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 3);
    assert_ok(get_kernel(MSM_COPY_STRIDED));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 4);
}

/* What a call launches later is compiled in parallel with its first kernel. */
static void test_first_use_with_parts(void **state)
{
    const uint32_t parts = MSM_COMBINES_ON_DEVICE | MSM_CHECKS_BASES;

    (void)state;
    assert_ok(get_kernel_of(MSM_DIGITS_16, parts));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 2);
    assert_ok(get_kernel_of(MSM_WINDOW_COMBINE, parts));
    assert_ok(get_kernel_of(MSM_CHECK_BASES, parts));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 2);
    assert_ok(get_kernel_of(MSM_AFFINE_PAD, MSM_PASSES_AFFINE));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 4);
    assert_ok(get_kernel_of(MSM_AFFINE_SUMS, MSM_PASSES_AFFINE));
    assert_int_equal(compiled(), MSM_REQUIRED_PROGRAMS + 4);
}

/* A small MSM has programs of its own, and none of those that others need; no more threads than
 * programs. */
static void test_first_use_of_few_terms(void **state)
{
    (void)state;
    assert_ok(get_kernel_of(MSM_SMALL_SORT, MSM_IS_SMALL));
    assert_int_equal(compiled(), MSM_SMALL_PROGRAMS);
    assert_int_equal(threads_started, MSM_SMALL_PROGRAMS - 1);
    assert_ok(get_kernel_of(MSM_SMALL_ACCUMULATE, MSM_IS_SMALL));
    assert_ok(get_kernel_of(MSM_SMALL_REDUCE, MSM_IS_SMALL));
    assert_int_equal(compiled(), MSM_SMALL_PROGRAMS);
    assert_ok(get_kernel(MSM_DIGITS_16));
    assert_int_equal(compiled(), MSM_SMALL_PROGRAMS + MSM_REQUIRED_PROGRAMS);
}

/* G1 and G2 have the scalar field in common, and all curves the sort. G2 makes affine passes. */
static void test_shared_between_curves(void **state)
{
    enum { SHARED = 7, OWN = WARM_PROGRAMS - SHARED + MSM_AFFINE_PROGRAMS };

    (void)state;
    assert_ok(warm_up());
    assert_ok(pool_msm_warm_up(pool_curve_by_name("bn254_g2"),
        &(pool_exec){.struct_size = sizeof(pool_exec), .device = device_of(&world, 0)}));
    assert_int_equal(compiled(), WARM_PROGRAMS + OWN);
    assert_int_equal(loads(), WARM_PROGRAMS + OWN);
}

static void test_first_use_with_one_processor(void **state)
{
    (void)state;
    begin(1);
    assert_ok(get_kernel(MSM_CHECK_SCALARS));
    assert_int_equal(compiled(), 1);
    assert_ok(get_kernel(MSM_DIGITS_16));
    assert_int_equal(compiled(), 2);
}

/* Two builds are equal; the other programs are those of tables and vectors. */
static void test_transforms(void **state)
{
    const struct ntt_build builds[] = {{4, 7, 2, 0, NTT_NO_QUOTIENTS, 0},
        {4, 7, 2, 0, NTT_NO_QUOTIENTS, 0}, {4, 7, 2, 3, NTT_NO_QUOTIENTS, 0}};
    const pool_field *field = pool_field_by_name("bn254_fr");

    (void)state;
    fake->compile = gather;
    assert_ok(ntt_load_programs(device_of(&world, 0), field, builds, 3));
    assert_int_equal(compiled(), 4);
    assert_int_equal(most_running(), SIDE);
    assert_ok(ntt_load_programs(device_of(&world, 0), field, builds, 3));
    assert_int_equal(compiled(), 4);
    assert_int_equal(threads_started, SIDE - 1);
    assert_ok(warm_up()); /* the pool's threads have waited for this */
    assert_int_equal(compiled(), 4 + WARM_PROGRAMS);
    assert_int_equal(threads_started, SIDE - 1);
}

/* Compiles until it is cancelled, if it is the one that can be. */
static nvrtc_result until_cancelled(
    unsigned number, const char *name, int (*cancelled)(void *), void *of)
{
    gather(number, name, cancelled, of);
    if (strcmp(name, "cancelled.cu") != 0)
        return DRIVER_NVRTC_SUCCESS;
    for (int i = 0; i < WAIT_US; i += 100) {
        if (cancelled(of))
            return DRIVER_NVRTC_ERROR_CANCELLED;
        usleep(100);
    }
    return DRIVER_NVRTC_SUCCESS;
}

/* When all three compile: before, the one to be cancelled might never begin, and the others wait.
 */
static void *cancel_soon(void *cancel)
{
    for (int i = 0; i < WAIT_US && most_running() < 3; i += 1000)
        usleep(1000);
    pool_cancel_request(cancel);
    return NULL;
}

static void test_cancel(void **state)
{
    pool_module_params params[3] = {
        {.struct_size = sizeof(*params), .name = "a.cu", .source = "a"},
        {.struct_size = sizeof(*params), .name = "cancelled.cu", .source = "b"},
        {.struct_size = sizeof(*params), .name = "c.cu", .source = "c"},
    };
    pool_cancel *cancel = NULL;
    pthread_t thread;

    (void)state;
    begin(3);
    fake->compile = until_cancelled;
    assert_ok(pool_cancel_create(&cancel));
    params[1].cancel = cancel;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
    assert_int_equal(pool_warm_up(world.pool, NULL, params, 3), POOL_ERR_CANCELLED);
    assert_says("cancelled.cu was cancelled");
    pthread_join(thread, NULL);
    assert_int_equal(loads(), 2);
    pool_cancel_destroy(&cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(test_side_by_side),
        CASE(test_many_processors),
        CASE(test_one_processor),
        CASE(test_no_threads),
        CASE(test_too_few_threads),
        CASE(test_cached),
        CASE(test_label),
        cmocka_unit_test(test_each_fails),
        cmocka_unit_test(test_first_failure),
        CASE(test_first_use),
        CASE(test_first_use_with_one_processor),
        CASE(test_first_use_with_parts),
        CASE(test_first_use_of_few_terms),
        CASE(test_shared_between_curves),
        CASE(test_transforms),
        CASE(test_cancel),
    };

    setenv("DEVICEPOOL_NVRTC", FAKE_WORKS, 1);
    unsetenv("DEVICEPOOL_CACHE");
    fake = dlsym(dlopen(FAKE_WORKS, RTLD_NOW | RTLD_LOCAL), "fake_nvrtc_control");
    return fake ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}
