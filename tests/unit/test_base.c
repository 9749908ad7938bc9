/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/: statuses and their classes, error detail, log, memory, SHA-256.
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <devicepool.h>

#include "support/assert.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/sha256.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_pool.h"

static void test_math(void **state)
{
    (void)state;
    assert_int_equal(base_min(3, UINT64_MAX), 3);
    assert_true(base_max(3, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(base_ceil_div(0, 7), 0);
    assert_int_equal(base_ceil_div(14, 7), 2);
    assert_int_equal(base_ceil_div(15, 7), 3);
    assert_true(base_ceil_div(UINT64_MAX, 2) == (uint64_t)1 << 63);
    assert_int_equal(base_round_up(0, 256), 0);
    assert_int_equal(base_round_up(1, 256), 256);
    assert_int_equal(base_round_up(12, 6), 12);
    assert_true(base_round_up(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
    assert_false(base_is_power_of_two(0));
    assert_true(base_is_power_of_two(1));
    assert_false(base_is_power_of_two(12));
    assert_true(base_is_power_of_two((uint64_t)1 << 63));
    assert_int_equal(base_log2_ceil(0), 0);
    assert_int_equal(base_log2_ceil(1), 0);
    assert_int_equal(base_log2_ceil(2), 1);
    assert_int_equal(base_log2_ceil(5), 3);
    assert_int_equal(base_log2_ceil(UINT64_MAX), 64);
}

static void test_status_classes(void **state)
{
    (void)state;
    assert_int_equal(pool_status_class(POOL_OK), POOL_CLASS_NONE);
    assert_int_equal(pool_status_class(POOL_ERR_INVALID_ARGUMENT), POOL_CLASS_CALL);
    assert_int_equal(pool_status_class(POOL_ERR_DRIVER), POOL_CLASS_CALL);
    assert_int_equal(pool_status_class(POOL_ERR_DEVICE_UNUSABLE), POOL_CLASS_DEVICE);
    assert_int_equal(pool_status_class(POOL_ERR_NO_DRIVER), POOL_CLASS_HOST);
    assert_int_equal(pool_status_class(POOL_ERR_NO_COMPILER), POOL_CLASS_HOST);
    assert_int_equal(pool_status_class(POOL_ERR_PROCESS_POISONED), POOL_CLASS_PROCESS);
    assert_int_equal(pool_status_class(POOL_ERR_SHUTDOWN), POOL_CLASS_PROCESS);
    assert_int_equal(pool_status_class(POOL_ERR_INTERNAL), POOL_CLASS_INTERNAL);
    assert_int_equal(pool_status_class((pool_status)-77), POOL_CLASS_INTERNAL);
    assert_int_equal(pool_status_class((pool_status)5), POOL_CLASS_INTERNAL);
    assert_string_equal(pool_error_class_name(POOL_CLASS_HOST), "host");
    assert_string_equal(pool_error_class_name((pool_error_class)99), "internal");
    assert_string_equal(pool_status_name(POOL_ERR_FORKED), "POOL_ERR_FORKED");
    assert_string_equal(pool_status_name((pool_status)1), "POOL_ERR_?");
    assert_true(strlen(pool_status_text(POOL_ERR_FORKED)) > 5);
}

static void test_size_texts(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 bytes"}, {1, "1 byte"}, {2, "2 bytes"}, {1024, "1 KiB"},
        {4097, "4097 bytes"}, {10241, "10.00 KiB (10241 bytes)"},
        {1536u << 10, "1.50 MiB (1572864 bytes)"}, {2ull << 30, "2 GiB"}, {1ull << 40, "1 TiB"},
        {1ull << 63, "8 EiB"}, {UINT64_MAX, "16.00 EiB (18446744073709551615 bytes)"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(base_size_text(rows[i].bytes).text, rows[i].text);
    assert_string_equal(base_plural(1), "");
    assert_string_equal(base_plural(0), "s");
}

static void test_text_copy(void **state)
{
    char small[20];

    (void)state;
    base_text_copy(small, sizeof(small), "it fits as it is");
    assert_string_equal(small, "it fits as it is");
    base_text_copy(small, sizeof(small), "the driver refused an argument");
    assert_string_equal(small, "the driver…");
    base_text_copy(small, sizeof(small), "0123456789012345678901234567890");
    assert_string_equal(small, "0123456789012345…");
    base_text_copy(small, sizeof(small), "0123456789012345678");
    assert_string_equal(small, "0123456789012345678");
}

static void test_error_detail(void **state)
{
    (void)state;
    assert_int_equal(base_fail(POOL_ERR_TIMEOUT, "waited %d ms", 5), POOL_ERR_TIMEOUT);
    assert_int_equal(pool_last_error()->status, POOL_ERR_TIMEOUT);
    assert_string_equal(pool_last_error()->message, "waited 5 ms");
    assert_string_equal(pool_last_error()->call, "");
    /* The detail's own texts may be arguments of the next failure. */
    base_fail_driver(POOL_ERR_DRIVER, 700, "X", "cuY(z)", "after: %s", pool_last_error()->message);
    assert_string_equal(pool_last_error()->message, "after: waited 5 ms");
    assert_string_equal(pool_last_error()->call, "cuY(z)");
    assert_int_equal(pool_last_error()->driver_code, 700);

    pool_error_slot slot = {.struct_size = sizeof(slot)};

    /* For libraries that are built on this one. */
    assert_int_equal(pool_error_set(POOL_ERR_IO, "rank 3: %s"), POOL_ERR_IO);
    assert_int_equal(pool_last_error()->status, POOL_ERR_IO);
    assert_string_equal(pool_last_error()->message, "rank 3: %s");
    assert_int_equal(pool_error_set(POOL_ERR_IO, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_error_set(POOL_OK, "none"), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_error_set(POOL_ERR_IO, "rank 4"), POOL_ERR_IO);
    assert_int_equal(pool_error_read(&slot), POOL_OK);
    assert_int_equal(slot.status, POOL_ERR_IO);
    assert_string_equal(slot.message, "rank 4");
    slot.struct_size = 3;
    assert_int_equal(pool_error_read(&slot), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_error_read(NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_int_equal(pool_last_error()->status, POOL_ERR_INVALID_ARGUMENT);

    /* A message that is too long ends after a whole word. */
    {
        char *words = calloc(1, 8001);

        for (int i = 0; i < 8000; i++)
            words[i] = i % 8 == 7 ? ' ' : 'w';
        base_fail(POOL_ERR_INTERNAL, "%s", words);
        assert_non_null(strstr(pool_last_error()->message, "wwwwwww…"));
        assert_true(strlen(pool_last_error()->message) > 4000);
        free(words);
        base_fail_driver(POOL_ERR_DRIVER, 700, "X", "cuY(z)", "after: waited 5 ms");
    }

    struct base_error_copy copy;
    base_error_save(&copy);
    base_fail_memory("a test");
    assert_int_equal(pool_last_error()->status, POOL_ERR_OUT_OF_HOST_MEMORY);
    base_error_restore(&copy);
    assert_string_equal(pool_last_error()->message, "after: waited 5 ms");
}

static void *other_thread_detail(void *arg)
{
    *(int *)arg = pool_last_error()->status;
    base_fail(POOL_ERR_IO, "other thread");
    return NULL;
}

static void test_error_detail_is_per_thread(void **state)
{
    int seen = 1;
    pthread_t thread;

    (void)state;
    base_fail(POOL_ERR_BUSY, "mine");
    assert_int_equal(pthread_create(&thread, NULL, other_thread_detail, &seen), 0);
    pthread_join(thread, NULL);
    assert_int_equal(seen, POOL_OK);
    assert_string_equal(pool_last_error()->message, "mine");
}

struct heard {
    int count;
    pool_log_level level;
    int32_t device, code;
    char lease[64];
    char call[64];
    char last[256];
};

static void hear(void *user, const pool_log_record *record)
{
    struct heard *heard = user;

    heard->count++;
    assert_int_equal(record->struct_size, sizeof(*record));
    heard->level = record->level;
    heard->device = record->device;
    heard->code = record->code;
    snprintf(heard->lease, sizeof(heard->lease), "%s", record->lease);
    snprintf(heard->call, sizeof(heard->call), "%s", record->call);
    snprintf(heard->last, sizeof(heard->last), "%s", record->message);
}

static void test_log_levels(void **state)
{
    struct heard heard = {0};

    (void)state;
    base_log(POOL_LOG_ERROR, "nobody listens");
    pool_log_set(hear, &heard, POOL_LOG_WARN);
    base_log(POOL_LOG_INFO, "too fine");
    assert_int_equal(heard.count, 0);
    base_log(POOL_LOG_WARN, "n=%d", 3);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.last, "n=3");
    base_fail(POOL_ERR_IO, "disk");
    assert_int_equal(heard.count, 2);
    assert_int_equal(heard.level, POOL_LOG_ERROR);
    assert_string_equal(heard.last, "POOL_ERR_IO: disk");
    pool_log_write(POOL_LOG_WARN, "100 %d");
    assert_int_equal(heard.level, POOL_LOG_WARN);
    assert_string_equal(heard.last, "100 %d");
    pool_log_write(POOL_LOG_INFO, "too fine");
    pool_log_write(POOL_LOG_NONE, "no level");
    pool_log_write(POOL_LOG_ERROR, NULL);
    assert_int_equal(heard.count, 3);
    pool_log_set(NULL, NULL, POOL_LOG_DEBUG);
    pool_log_write(POOL_LOG_WARN, "nobody listens");
    assert_false(base_log_wanted(POOL_LOG_ERROR));
}

static int32_t third_device(void)
{
    return 3;
}

/* The fields of a record: a driver's failure has its call and code, and a thread that works on a
 * device has that. */
static void test_log_fields(void **state)
{
    struct heard heard = {0};

    (void)state;
    base_log_set_device(NULL);
    pool_log_set(hear, &heard, POOL_LOG_WARN);
    base_log(POOL_LOG_WARN, "no device");
    assert_int_equal(heard.device, -1);
    assert_string_equal(heard.lease, "");
    assert_string_equal(heard.call, "");
    assert_int_equal(heard.code, 0);
    base_log_set_device(third_device);
    assert_null(base_log_set_label("proof 17"));
    base_fail_driver(POOL_ERR_DRIVER, 700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cuCtxSynchronize()",
        "the driver is unwell");
    assert_int_equal(heard.device, 3);
    assert_string_equal(heard.lease, "proof 17");
    assert_string_equal(heard.call, "cuCtxSynchronize()");
    assert_int_equal(heard.code, 700);
    base_fail(POOL_ERR_IO, "disk");
    assert_string_equal(heard.call, "");
    assert_int_equal(heard.code, 0);
    assert_string_equal(base_log_set_label(NULL), "proof 17");
    base_log_set_device(NULL);
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
}

/* The label of a block ends with the block, and the message has it once. */
static void test_log_labels_nest(void **state)
{
    struct heard heard = {0};

    (void)state;
    pool_log_set(hear, &heard, POOL_LOG_WARN);
    {
        BASE_LOG_LABEL("outer");
        base_log(POOL_LOG_WARN, "one");
        assert_string_equal(heard.last, "one [lease \"outer\"]");
        {
            BASE_LOG_LABEL("inner");
            base_log(POOL_LOG_WARN, "the lease \"inner\" has no bytes left");
            assert_string_equal(heard.lease, "inner");
            assert_string_equal(heard.last, "the lease \"inner\" has no bytes left");
        }
        {
            BASE_LOG_LABEL(NULL);
            base_log(POOL_LOG_WARN, "two");
            assert_string_equal(heard.lease, "outer");
        }
        {
            BASE_LOG_LABEL("");
            base_log(POOL_LOG_WARN, "three");
            assert_string_equal(heard.lease, "");
            assert_string_equal(heard.last, "three");
        }
        base_log(POOL_LOG_WARN, "four");
        assert_string_equal(heard.lease, "outer");
    }
    base_log(POOL_LOG_WARN, "five");
    assert_string_equal(heard.lease, "");
    assert_string_equal(heard.last, "five");
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
}

static void test_printable_text(void **state)
{
    static const struct {
        const char *text;
        size_t printable;
    } cases[] = {
        {"", 0},
        {"block 7", 7},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9},
        {"a\nb", 1},
        {"a\x7f", 1},
        {"\x1b[31m", 0},
        {"a\xc2\x85", 1},        /* C1 */
        {"ab\xff", 2},           /* no first byte */
        {"ab\x80", 2},           /* a continuation */
        {"ab\xe2\x82", 2},       /* cut */
        {"\xc1\xa1", 0},         /* overlong */
        {"\xe0\x82\x82", 0},     /* overlong */
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0}, /* beyond Unicode */
        {"\xf8\x88\x80\x80\x80", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(base_text_printable(cases[i].text), cases[i].printable);
}

static int refuse(void *user)
{
    return (*(int *)user)-- == 0;
}

static int refuse_all(void *user)
{
    (void)user;
    return 1;
}

/* A thread whose first failure finds no memory: status and class text stay, the log has the rest.
 */
static void *fail_without_memory(void *user)
{
    struct base_error_copy copy;

    (void)user;
    base_alloc_set_hook(refuse_all, NULL);
    assert_int_equal(base_fail(POOL_ERR_TIMEOUT, "waited %d ms", 5), POOL_ERR_TIMEOUT);
    assert_int_equal(pool_last_error()->status, POOL_ERR_TIMEOUT);
    assert_non_null(strstr(pool_last_error()->message, pool_status_text(POOL_ERR_TIMEOUT)));
    assert_string_equal(pool_last_error()->call, "");
    base_error_save(&copy);
    assert_int_equal(base_fail((pool_status)-77, "no status"), -77);
    assert_int_equal(pool_last_error()->status, POOL_ERR_INTERNAL);
    base_error_restore(&copy);
    assert_int_equal(pool_last_error()->status, POOL_ERR_TIMEOUT);
    base_alloc_set_hook(NULL, NULL);
    base_fail(POOL_ERR_IO, "memory again");
    assert_string_equal(pool_last_error()->message, "memory again");
    base_error_restore(&copy);
    assert_int_equal(pool_last_error()->status, POOL_ERR_TIMEOUT);
    return NULL;
}

static void test_error_detail_without_memory(void **state)
{
    struct heard heard = {0};
    pthread_t thread;

    (void)state;
    pool_log_set(hear, &heard, POOL_LOG_ERROR);
    assert_int_equal(pthread_create(&thread, NULL, fail_without_memory, NULL), 0);
    pthread_join(thread, NULL);
    pool_log_set(NULL, NULL, POOL_LOG_DEBUG);
    assert_int_equal(heard.count, 3);
    assert_string_equal(heard.last, "POOL_ERR_IO: memory again");
}

static pthread_key_t late_key;

/* Runs before or after the library's own destructor, in no order that POSIX promises. */
static void fail_at_exit(void *user)
{
    (void)user;
    base_fail(POOL_ERR_BUSY, "in a destructor");
    assert_int_equal(pool_last_error()->status, POOL_ERR_BUSY);
}

static void *fail_and_exit(void *user)
{
    base_fail(POOL_ERR_IO, "in a thread");
    pthread_setspecific(late_key, user);
    return NULL;
}

static void test_error_detail_ends_with_its_thread(void **state)
{
    enum { WARM_UP = 8, THREADS = 128 };
    size_t before = 0;

    (void)state;
    assert_int_equal(pthread_key_create(&late_key, fail_at_exit), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, fail_and_exit, &late_key), 0);
        pthread_join(thread, NULL);
        if (i == WARM_UP)
            before = mallinfo2().uordblks;
    }
    /* The detail has more than 4 KiB; a sanitizer's allocator counts nothing here. */
    assert_between(mallinfo2().uordblks, 0, before + sizeof(struct base_error_copy));
    pthread_key_delete(late_key);
}

static void test_error_detail_in_a_child(void **state)
{
    int ended;
    pid_t child;

    (void)state;
    base_fail(POOL_ERR_BUSY, "of the parent");
    child = fork();
    if (child == 0) {
        if (strcmp(pool_last_error()->message, "of the parent") != 0)
            _exit(1);
        base_fail(POOL_ERR_IO, "of the child");
        _exit(strcmp(pool_last_error()->message, "of the child") != 0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_string_equal(pool_last_error()->message, "of the parent");
}

static void test_alloc(void **state)
{
    int countdown = 1;
    char *text;

    (void)state;
    assert_null(base_calloc(SIZE_MAX, 2));
    assert_null(base_realloc(NULL, SIZE_MAX / 2, 3));
    assert_null(base_aligned_calloc(64, SIZE_MAX - 3));
    void *aligned = base_aligned_calloc(4096, 10);
    assert_int_equal((uintptr_t)aligned % 4096, 0);
    base_free(aligned);
    text = base_format("%s-%d", "a", 7);
    assert_string_equal(text, "a-7");
    base_wipe(text, 3);
    assert_int_equal(text[0] | text[1] | text[2], 0);
    base_free(text);
    base_alloc_set_hook(refuse, &countdown);
    text = base_strdup("first");
    assert_non_null(text);
    assert_null(base_strdup("second"));
    base_alloc_set_hook(NULL, NULL);
    base_free(text);
    base_free(NULL);
}

/* FIPS 180-2, appendix B. */
static void test_sha256(void **state)
{
    static const uint8_t abc[4] = {0xba, 0x78, 0x16, 0xbf};
    uint8_t whole[BASE_SHA256_BYTES];
    uint8_t parts[BASE_SHA256_BYTES];
    struct base_sha256 *digest;

    (void)state;
    assert_int_equal(base_sha256_of("abc", 3, whole), POOL_OK);
    assert_memory_equal(whole, abc, 4);
    digest = base_sha256_begin();
    assert_non_null(digest);
    base_sha256_add(digest, "a", 1);
    base_sha256_add(digest, "bc", 2);
    assert_int_equal(base_sha256_end(digest, parts), POOL_OK);
    assert_memory_equal(whole, parts, BASE_SHA256_BYTES);
}

static void test_version(void **state)
{
    (void)state;
    assert_int_equal(pool_version_number(), POOL_VERSION_NUMBER);
    assert_string_equal(pool_version_text(), "0.1.0");
}

struct pool_run {
    atomic_uint started;
    unsigned wanted; /* the run's threads wait until so many have started */
    unsigned count;
    int blocks_signals[8]; /* of each thread */
};

static void note_thread(void *context, unsigned index, unsigned count)
{
    struct pool_run *run = context;
    sigset_t blocked;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    run->blocks_signals[index] = sigismember(&blocked, SIGUSR1);
    if (index == 0)
        run->count = count;
    atomic_fetch_add(&run->started, 1);
    while (atomic_load(&run->started) < run->wanted)
        sched_yield();
}

struct nested_run {
    struct base_thread_pool *pool;
    struct pool_run inner[3];
};

static void run_inner(void *context, unsigned index, unsigned count)
{
    struct nested_run *nested = context;

    (void)count;
    base_thread_pool_run(nested->pool, 3, note_thread, &nested->inner[index]);
}

static void test_thread_pool(void **state)
{
    struct base_thread_pool *pool = NULL;
    struct pool_run run = {.wanted = 3};
    struct nested_run nested = {0};

    (void)state;
    assert_true(base_thread_pool_create(3, &pool));
    base_thread_pool_run(pool, 8, note_thread, &run);
    assert_int_equal(run.count, 3);
    assert_int_equal(run.blocks_signals[0], 0); /* the caller's signal mask is its own */
    assert_int_equal(run.blocks_signals[1], 1); /* the pool's threads take no signals */
    assert_int_equal(run.blocks_signals[2], 1);
    run = (struct pool_run){.wanted = 2};
    base_thread_pool_run(pool, 2, note_thread, &run);
    assert_int_equal(run.count, 2);
    /* All threads are in use, so that every one runs on alone. */
    nested.pool = pool;
    for (int i = 0; i < 3; i++)
        nested.inner[i].wanted = 1;
    base_thread_pool_run(pool, 3, run_inner, &nested);
    for (int i = 0; i < 3; i++)
        assert_between(nested.inner[i].count, 1, 3);
    base_thread_pool_destroy(&pool);
    assert_null(pool);
    base_thread_pool_destroy(&pool);
    run = (struct pool_run){.wanted = 1};
    base_thread_pool_run(NULL, 3, note_thread, &run);
    assert_int_equal(run.count, 1);
    assert_true(base_thread_pool_create(3, &pool));
    base_thread_pool_run(pool, 1, note_thread, &run);
    assert_int_equal(run.count, 1);
    base_thread_pool_forget(&pool); /* no thread has started */
    assert_null(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_pool),
        cmocka_unit_test(test_math),
        cmocka_unit_test(test_status_classes),
        cmocka_unit_test(test_size_texts),
        cmocka_unit_test(test_text_copy),
        cmocka_unit_test(test_error_detail),
        cmocka_unit_test(test_error_detail_is_per_thread),
        cmocka_unit_test(test_error_detail_without_memory),
        cmocka_unit_test(test_error_detail_ends_with_its_thread),
        cmocka_unit_test(test_error_detail_in_a_child),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_log_fields),
        cmocka_unit_test(test_log_labels_nest),
        cmocka_unit_test(test_printable_text),
        cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
