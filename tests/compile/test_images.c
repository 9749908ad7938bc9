/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to an image through the real NVRTC: errors with source lines, headers and defines,
 * one compilation per key in a process however many threads request it, two processes on one disk
 * cache, cancellation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool/log.h>

#include "base/clock.h"
#include "driver/nvrtc.h"
#include "pool/module/image.h"

#define THREADS 16

static const char scale_source[] = "extern \"C\" __global__ void scale(float *x, float by, int n)\n"
                                   "{\n"
                                   "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "    if (i < n)\n"
                                   "        x[i] *= by;\n"
                                   "}\n";

static atomic_int compiles; /* counted from the log */
static char root[64];
static char directory[80];

static void count_compiles(void *user, const pool_log_record *record)
{
    (void)user;
    if (strncmp(record->message, "compiled ", 9) == 0)
        atomic_fetch_add(&compiles, 1);
}

static int fresh_cache(void **state)
{
    (void)state;
    strcpy(root, "/tmp/devicepool-images-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(directory, sizeof(directory), "%s/cache", root);
    setenv("DEVICEPOOL_CACHE_DIR", directory, 1);
    module_image_forget();
    atomic_store(&compiles, 0);
    pool_log_set(count_compiles, NULL, POOL_LOG_INFO);
    return 0;
}

static int drop_cache(void **state)
{
    char command[128];

    (void)state;
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command);
}

static pool_status get(
    const pool_module_params *params, int chip, int ptx_only, struct module_image **image)
{
    struct module_request request = {.params = params,
        .name = params->name ? params->name : "kernel.cu",
        .compute_capability = chip,
        .ptx_only = ptx_only};

    *image = NULL;
    return module_image_get(&request, image);
}

static void test_forms(void **state)
{
    pool_module_params params = {.struct_size = sizeof(params), .source = scale_source};
    struct module_image *image;

    (void)state;
    assert_int_equal(get(&params, 90, 0, &image), POOL_OK);
    assert_int_equal(image->form, MODULE_CUBIN);
    assert_memory_equal(image->bytes, "\177ELF", 4);
    module_image_release(image);
    assert_int_equal(get(&params, 90, 1, &image), POOL_OK);
    assert_int_equal(image->form, MODULE_PTX);
    assert_non_null(strstr(image->bytes, ".target sm_90"));
    assert_non_null(strstr(image->bytes, ".entry scale"));
    module_image_release(image);
    /* For a chip that is newer than this NVRTC, it compiles PTX for the newest chip that it
     * supports. */
    assert_int_equal(get(&params, 990, 0, &image), POOL_OK);
    assert_int_equal(image->form, MODULE_PTX);
    module_image_release(image);
    assert_int_equal(get(&params, 35, 0, &image), POOL_ERR_NO_COMPILER);
    assert_non_null(strstr(pool_last_error()->message, "sm_35"));
    assert_int_equal(compiles, 3);
}

static void test_errors_carry_source_lines(void **state)
{
    static const pool_module_header header = {
        "tools.h", "// first\nint twice(int x) { return y; }\n"};
    pool_module_params params = {.struct_size = sizeof(params),
        .name = "broken.cu",
        .source = "int a;\nint b = nowhere;\nint c;\n"};
    struct module_image *image;
    const char *text;

    (void)state;
    assert_int_equal(get(&params, 90, 0, &image), POOL_ERR_COMPILE);
    text = pool_last_error()->message;
    assert_non_null(strstr(text, "broken.cu(2)"));
    assert_non_null(strstr(text, ">    2 | int b = nowhere;"));
    assert_non_null(strstr(text, "     1 | int a;"));
    params.source = "#include \"tools.h\"\n";
    params.headers = &header;
    params.header_count = 1;
    assert_int_equal(get(&params, 90, 0, &image), POOL_ERR_COMPILE);
    assert_non_null(strstr(pool_last_error()->message, ">    2 | int twice(int x) { return y; }"));
    const char *bad_option = "--no-such-option";
    params.options = &bad_option;
    params.option_count = 1;
    assert_int_equal(get(&params, 90, 0, &image), POOL_ERR_COMPILE);
}

static void test_key_tells_requests_apart(void **state)
{
    static const char *const one[] = {"N=1"};
    static const char *const two[] = {"N=2"};
    static const char *const options[] = {"--use_fast_math", "-lineinfo"};
    static const char *const swapped[] = {"-lineinfo", "--use_fast_math"};
    pool_module_params params = {.struct_size = sizeof(params),
        .source = "extern \"C\" __global__ void k(int *x) { *x = N; }",
        .defines = one,
        .define_count = 1,
        .options = options,
        .option_count = 2};
    struct module_image *images[4];

    (void)state;
    assert_int_equal(get(&params, 90, 1, &images[0]), POOL_OK);
    params.options = swapped;
    assert_int_equal(get(&params, 90, 1, &images[1]), POOL_OK);
    assert_ptr_not_equal(images[0], images[1]); /* the last of repeated options counts */
    params.defines = two;
    assert_int_equal(get(&params, 90, 1, &images[2]), POOL_OK);
    assert_ptr_not_equal(images[1], images[2]);
    assert_int_equal(get(&params, 80, 1, &images[3]), POOL_OK);
    assert_ptr_not_equal(images[2], images[3]);
    assert_int_equal(compiles, 4);
    for (int i = 0; i < 4; i++)
        module_image_release(images[i]);
}

static void *ask(void *arg)
{
    static const pool_module_params params = {
        .struct_size = sizeof(params), .source = scale_source, .name = "raced.cu"};
    struct module_image *image;
    pool_status status = get(&params, 90, 0, &image);

    module_image_release(image);
    *(pool_status *)arg = status;
    return NULL;
}

static void race(void)
{
    pool_status statuses[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &statuses[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(statuses[i], POOL_OK);
}

static void test_threads_compile_once(void **state)
{
    (void)state;
    race();
    assert_int_equal(compiles, 1);
    module_image_forget();
    race(); /* from disk now */
    assert_int_equal(compiles, 1);
}

static void test_processes_share_the_disk(void **state)
{
    pid_t children[2];
    int status;

    (void)state;
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (!children[i]) {
            race();
            _exit(atomic_load(&compiles) <= 1 ? 0 : 1);
        }
    }
    for (int i = 0; i < 2; i++) {
        waitpid(children[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    race();
    assert_int_equal(compiles, 0);
}

/* Text that keeps NVRTC busy for seconds. The caller frees it. */
static char *slow_source(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, "extern \"C\" __global__ void k(unsigned *x) {\n  unsigned a = x[0], b = x[1];\n");
    for (unsigned i = 0; i < 60000; i++)
        fprintf(out, "  a = a * %uu + (b ^ a >> %u); b += a / (b | %uu);\n", 2 * i + 3, i % 31, i);
    fprintf(out, "  x[0] = a; x[1] = b;\n}\n");
    fclose(out);
    return text;
}

static void *cancel_later(void *arg)
{
    usleep(300000);
    pool_cancel_request(arg);
    return NULL;
}

static void test_cancel(void **state)
{
    pool_module_params params = {.struct_size = sizeof(params), .name = "slow.cu"};
    struct module_image *image;
    pool_cancel *cancel;
    pthread_t thread;
    uint64_t start;
    char *source;

    (void)state;
    source = slow_source();
    assert_int_equal(pool_cancel_create(&cancel), POOL_OK);
    params.source = source;
    params.cancel = cancel;
    params.no_cache = 1;
    start = base_clock_ns();
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, cancel), 0);
    assert_int_equal(get(&params, 90, 0, &image), POOL_ERR_CANCELLED);
    print_message("cancelled after %.2f s\n", (double)(base_clock_ns() - start) / 1e9);
    pthread_join(thread, NULL);
    assert_int_equal(get(&params, 90, 0, &image), POOL_ERR_CANCELLED);
    pool_cancel_destroy(&cancel);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh_cache, drop_cache)
        CASE(test_processes_share_the_disk),
        CASE(test_forms),
        CASE(test_errors_carry_source_lines),
        CASE(test_key_tells_requests_apart),
        CASE(test_threads_compile_once),
        CASE(test_cancel),
    };
    const struct nvrtc *nvrtc;

    /* No NVRTC is loaded yet in the two forked processes: they load their own. */
    if (access("/usr/local/cuda/lib64/libnvrtc.so", F_OK) && driver_nvrtc_open(&nvrtc))
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
