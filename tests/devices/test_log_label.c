/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease label of log records: every call that takes a lease logs with its label, and with the
 * one before once it has returned, whatever the call and however it ends.
 *
 *   test_devices_log_label [DEVICES]
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/ntt.h"
#include "support/pool.h"

enum { LOG_SIZE = 6, COUNT = 1 << LOG_SIZE };

/* The last record, and how many had each of two labels. Warm-up logs on several threads at once. */
static struct {
    atomic_int records, outer, inner;
    char lease[64], message[1024];
} heard;

static void hear(void *user, const pool_log_record *record)
{
    (void)user;
    atomic_fetch_add(&heard.records, 1);
    atomic_fetch_add(&heard.outer, strcmp(record->lease, "block 7") == 0);
    atomic_fetch_add(&heard.inner, strcmp(record->lease, "inner") == 0);
    if (record->level > POOL_LOG_ERROR)
        return;
    snprintf(heard.lease, sizeof(heard.lease), "%s", record->lease);
    snprintf(heard.message, sizeof(heard.message), "%s", record->message);
}

static void listen_to(pool_log_level level)
{
    memset(&heard, 0, sizeof(heard));
    pool_log_set(hear, NULL, level);
}

static pool_lease *acquire(const char *label, uint64_t bytes)
{
    const pool_request request = {
        .struct_size = sizeof(request), .bytes = bytes, .device = device, .label = label};
    pool_lease *lease = NULL;

    assert_ok(pool_acquire(pool, &request, &lease));
    return lease;
}

/* A failure outside of all leases. */
static void assert_label_is_gone(void)
{
    assert_int_not_equal(pool_get_health(NULL, NULL), POOL_OK);
    assert_string_equal(heard.lease, "");
    assert_null(strstr(heard.message, "[lease"));
}

/* ---- every function with a pool_exec ----------------------------------------------------------
 */

static pool_status call_without_operands(int function, const pool_exec *exec)
{
    switch (function) {
    case 0:
        return pool_bases_create(NULL, exec, NULL, NULL);
    case 1:
        return pool_bases_load(NULL, exec, NULL, NULL);
    case 2:
        return pool_msm(NULL, exec, NULL, NULL, NULL);
    case 3:
        return pool_msm_workspace(NULL, exec, NULL, NULL, NULL, NULL);
    case 4:
        return pool_ntt(NULL, exec, NULL, NULL);
    case 5:
        return pool_ntt_workspace(NULL, exec, NULL, NULL, NULL);
    case 6:
        return pool_vector_add(NULL, exec, NULL, NULL, NULL);
    case 7:
        return pool_vector_sub(NULL, exec, NULL, NULL, NULL);
    case 8:
        return pool_vector_mul(NULL, exec, NULL, NULL, NULL);
    case 9:
        return pool_vector_scale(NULL, exec, NULL, NULL, NULL);
    case 10:
        return pool_vector_inverse(NULL, exec, NULL, NULL);
    case 11:
        return pool_vector_bit_reverse(NULL, exec, NULL, NULL);
    case 12:
        return pool_vector_transpose(NULL, exec, 0, 0, NULL, NULL);
    case 13:
        return pool_vector_powers(NULL, exec, NULL, NULL);
    case 14:
        return pool_vector_evaluate(NULL, exec, NULL, NULL, NULL);
    case 15:
        return pool_poseidon_permute(NULL, exec, NULL, NULL);
    case 16:
        return pool_poseidon_hash(NULL, exec, NULL, 0, NULL);
    case 17:
        return pool_poseidon_sponge(NULL, exec, NULL, NULL, NULL);
    case 18:
        return pool_poseidon_merkle_build(NULL, exec, NULL, NULL, NULL);
    case 19:
        return pool_poseidon_merkle_open(NULL, exec, NULL, 0, NULL, NULL, 0, NULL);
    default:
        return pool_resident_open(NULL, exec, NULL);
    }
}

static void test_every_function(void **state)
{
    struct {
        pool_exec exec;
        uint64_t member; /* of a later version */
    } later = {.exec.struct_size = sizeof(later)};
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_lease *lease = acquire("block 7", 0);

    (void)state;
    listen_to(POOL_LOG_ERROR);
    exec.lease = lease;
    later.exec.lease = (pool_lease *)(uintptr_t)8; /* not read if the struct is not valid */
    later.member = 1;
    for (int i = 0; i <= 20; i++) {
        assert_int_not_equal(call_without_operands(i, &exec), POOL_OK);
        assert_string_equal(heard.lease, "block 7");
        assert_non_null(strstr(heard.message, " [lease \"block 7\"]"));
        assert_label_is_gone();
        assert_int_not_equal(call_without_operands(i, &later.exec), POOL_OK);
        assert_string_equal(heard.lease, "");
        assert_int_not_equal(call_without_operands(i, NULL), POOL_OK);
        assert_string_equal(heard.lease, "");
    }
    assert_ok(pool_release(&lease));
    /* The label of a released lease appears in no later record. */
    assert_int_not_equal(call_without_operands(4, &exec), POOL_OK);
    assert_string_equal(heard.lease, "");
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
}

/* ---- requests and buffers ---------------------------------------------------------------------
 */

static void test_requests_and_buffers(void **state)
{
    pool_request request = {.struct_size = sizeof(request), .label = "request", .devices = 9999};
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = 4096};
    pool_buffer *buffer = NULL;
    pool_lease *lease = NULL;

    (void)state;
    listen_to(POOL_LOG_ERROR);
    assert_status(pool_acquire(pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_string_equal(heard.lease, "request");
    assert_label_is_gone();
    request.label = "two\nlines";
    assert_status(pool_acquire(pool, &request, &lease), POOL_ERR_INVALID_ARGUMENT);
    assert_says("byte 3 of `label` is 0x0a");
    assert_string_equal(heard.lease, "");

    lease = acquire("block 7", 1024);
    params.lease = lease;
    assert_status(pool_buffer_create(device, &params, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(heard.lease, "block 7");
    assert_null(strstr(heard.message, "[lease")); /* the message quotes it already */
    assert_label_is_gone();
    params.flags = 0x80;
    assert_status(pool_buffer_create(device, &params, &buffer), POOL_ERR_INVALID_ARGUMENT);
    assert_string_equal(heard.lease, "block 7");
    assert_status(pool_lease_stream(lease, 9999, NULL), POOL_ERR_INVALID_ARGUMENT);
    assert_string_equal(heard.lease, "block 7");
    assert_label_is_gone();
    assert_ok(pool_release(&lease));
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
}

/* ---- operations -------------------------------------------------------------------------------
 */

struct transform {
    pool_ntt_domain *domain;
    uint8_t *data;
    pool_lease *inner;
};

static pool_status transform(const struct transform *job, const pool_exec *exec)
{
    pool_ntt_params params = {.struct_size = sizeof(params), .domain = job->domain};
    pool_span span = ntt_host(job->data, COUNT);

    return pool_ntt(&params, exec, &span, &span);
}

/* A call under another lease fails within the operation. */
static void fail_within(void *user, uint64_t done, uint64_t total)
{
    struct transform *job = user;
    pool_buffer_params params = {.struct_size = sizeof(params), .bytes = 4096, .lease = job->inner};
    pool_buffer *buffer = NULL;

    (void)done;
    (void)total;
    assert_status(pool_buffer_create(device, &params, &buffer), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_string_equal(heard.lease, "inner");
    assert_int_not_equal(pool_get_health(NULL, NULL), POOL_OK);
    assert_string_equal(heard.lease, "block 7");
}

static void test_operations(void **state)
{
    const pool_field *field = ntt_field("bn254_fr");
    struct transform job = {.domain = ntt_domain(field, LOG_SIZE),
        .data = ntt_random(field, 1, COUNT),
        .inner = acquire("inner", 1)};
    pool_lease *lease = acquire("block 7", 64 << 20);
    pool_exec exec = {.struct_size = sizeof(exec), .lease = lease};
    pool_cancel *cancel = NULL;

    (void)state;
    /* Everything that the first call in this process logs, on whichever thread, has its label. */
    listen_to(POOL_LOG_DEBUG);
    assert_ok(transform(&job, &exec));
    assert_true(atomic_load(&heard.records) > 0);
    assert_int_equal(atomic_load(&heard.outer), atomic_load(&heard.records));

    exec.progress = fail_within;
    exec.user = &job;
    assert_ok(transform(&job, &exec));
    assert_true(atomic_load(&heard.inner) > 0);
    assert_label_is_gone();
    exec.progress = NULL;

    assert_ok(pool_cancel_create(&cancel));
    pool_cancel_request(cancel);
    exec.cancel = cancel;
    assert_status(transform(&job, &exec), POOL_ERR_CANCELLED);
    assert_string_equal(heard.lease, "block 7");
    assert_label_is_gone();
    exec.cancel = NULL;

    exec.is_async = 1;
    (void)transform(&job, &exec); /* of pageable memory: refused or done, as the operation rules */
    assert_label_is_gone();

    assert_ok(pool_release(&lease));
    assert_ok(pool_release(&job.inner));
    pool_log_set(NULL, NULL, POOL_LOG_NONE);
    pool_cancel_destroy(&cancel);
    assert_ok(pool_ntt_domain_destroy(&job.domain));
    free(job.data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), /* first: it hears the compiler */
        cmocka_unit_test(test_every_function),
        cmocka_unit_test(test_requests_and_buffers),
    };

    device_text = argc > 1 ? argv[1] : "sim";
    if (strncmp(device_text, "sim", 3) != 0) {
        if (pool_create(&pool, NULL))
            return 77;
        (void)pool_destroy(&pool);
    }
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
