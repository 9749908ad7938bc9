/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public function with zero for every argument. Nothing may crash, and a function that
 * returns a status has to fail with a detail, unless zeros are a valid call. The table is generated
 * from the headers, so that it includes every new function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/status.h"

/* Enough for every function; a callee does not see arguments that it does not have. */
typedef long (*any_function)(long, long, long, long, long, long, long, long, long);
#define MOST_ARGUMENTS 9

enum kind { STATUS, OTHER };

static const struct {
    const char *name;
    any_function call;
    enum kind kind;
    int arguments;
} functions[] = {
#define X(name, kind, arguments) {#name, (any_function)(void (*)(void))name, kind, arguments},
#include "all_null.def"
#undef X
};

/* Zeros are a valid call of these: nothing to release, no counts requested, no faults. */
static const char *const takes_zeros[] = {"pool_destroy", "pool_stream_destroy",
    "pool_event_destroy", "pool_module_destroy", "pool_buffer_destroy", "pool_buffer_destroy_on",
    "pool_pinned_destroy", "pool_ntt_domain_destroy", "pool_bases_destroy", "pool_resident_close",
    "pool_resident_destroy", "pool_graph_destroy", "pool_physical_destroy", "pool_range_destroy",
    "pool_cache_clear", "pool_cache_verify", "pool_sim_set_faults", "pool_sim_leaks",
    "pool_sim_resume", "pool_release", "pool_ticket_destroy", NULL};

/* These take no pointer that they need. */
static const char *const without_pointers[] = {"pool_cache_clear", "pool_cache_verify",
    "pool_sim_kernel_stats_reset", "pool_sim_set_reports", NULL};

static int may_succeed(const char *name)
{
    for (const char *const *known = takes_zeros; *known; known++)
        if (strcmp(name, *known) == 0)
            return 1;
    return 0;
}

/* "FUNCTION: ARGUMENT must not be NULL"; functions that enter the device first do not name it. */
static int says_what_is_null(const char *name)
{
    const char *message = pool_last_error()->message;

    for (const char *const *known = without_pointers; *known; known++)
        if (strcmp(name, *known) == 0)
            return message[0] != 0;
    return strstr(message, " must not be NULL") &&
           (strncmp(message, "pool_", 5) == 0 || strcmp(message, "device must not be NULL") == 0);
}

static void test_zeros(void **state)
{
    size_t statuses = 0;
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        const char *name = functions[i].name;

        assert_true(functions[i].arguments <= MOST_ARGUMENTS);
        base_fail(POOL_ERR_INTERNAL, "not of this call");
        fprintf(stderr, "%s\r", name); /* the last one seen is the one that crashed */
        long answer = functions[i].call(0, 0, 0, 0, 0, 0, 0, 0, 0);
        if (functions[i].kind != STATUS)
            continue;
        statuses++;
        pool_status status = (pool_status)(int)answer;
        if (status == POOL_OK && may_succeed(name))
            continue;
        if (status != POOL_OK && pool_status_class(status) == POOL_CLASS_CALL &&
            pool_last_error()->status == status && says_what_is_null(name))
            continue;
        print_error("%s: %s, detail %s: %s\n", name, pool_status_name(status),
            pool_status_name(pool_last_error()->status), pool_last_error()->message);
        wrong++;
    }
    fprintf(stderr, "%zu functions, %zu with a status\n", sizeof(functions) / sizeof(functions[0]),
        statuses);
    assert_true(statuses > 30);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros)};
    char directory[] = "/tmp/devicepool-null-XXXXXX";

    /* pool_cache_clear is among them. */
    if (!mkdtemp(directory) || setenv("DEVICEPOOL_CACHE_DIR", directory, 1))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
