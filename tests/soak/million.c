/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small jobs under leases, as a service has them: each copies operands of another size to a buffer
 * of its own, adds vectors and compares. After a tenth of the jobs the process must not grow any
 * more: not its resident set, and not its page tables, which the memory limit of a container
 * counts.
 *
 *   million [JOBS [DEVICES]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>

#include "support/assert.h"
#include "support/sanitized.h"

enum { MOST = 3000, WARM_PARTS = 10 };
#define GROWTH_KIB 4096

static uint64_t values[MOST], sums[MOST];

/* The resident set and the page tables. */
static size_t process_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    size_t kib = 0, part;
    char line[256];

    if (!status)
        return 0;
    while (fgets(line, sizeof(line), status))
        if (sscanf(line, "VmRSS: %zu", &part) == 1 || sscanf(line, "VmPTE: %zu", &part) == 1)
            kib += part;
    fclose(status);
    return kib;
}

static pool_status run_job(pool_lease *lease, size_t number)
{
    const size_t count = 1 + number * 7919 % MOST;
    pool_exec exec = {.struct_size = sizeof(exec), .lease = lease};
    pool_span a = {.data = values, .count = count}, b = {.count = count},
              out = {.data = sums, .count = count};
    pool_buffer *copy = NULL;
    CUdeviceptr address = 0;
    pool_device *device;
    pool_status status = pool_lease_device(lease, 0, &device);

    if (!status)
        status = pool_buffer_from_host(device, values, count * sizeof(*values), &copy);
    if (!status)
        status = pool_buffer_address(copy, &address);
    b.data = (void *)(uintptr_t)address;
    b.space = POOL_MEMORY_DEVICE;
    if (!status)
        status = pool_vector_add(pool_field_by_name("goldilocks"), &exec, &a, &b, &out);
    if (!status && (sums[0] != 2 * values[0] || sums[count - 1] != 2 * values[count - 1])) {
        fprintf(stderr, "job %zu: wrong\n", number);
        status = POOL_ERR_INTERNAL;
    }
    (void)pool_buffer_destroy(&copy);
    return status;
}

static pool_status lease_and_run(device_pool *pool, size_t number)
{
    const pool_request request = {
        .struct_size = sizeof(request), .bytes = 1 << 20, .timeout_ns = POOL_WAIT_FOREVER};
    pool_lease *lease = NULL;
    pool_status status = pool_acquire(pool, &request, &lease);

    if (!status)
        status = run_job(lease, number);
    (void)pool_release(&lease);
    return status;
}

int main(int argc, char **argv)
{
    const size_t jobs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    const pool_params params = {
        .struct_size = sizeof(params), .devices = argc > 2 ? argv[2] : "sim:2,mem=80G"};
    device_pool *pool = NULL;
    size_t warm = 0, end;

    assert_ok(pool_create(&pool, &params));
    for (size_t i = 0; i < MOST; i++)
        values[i] = i * UINT64_C(0x12345678) + 1;
    for (size_t i = 0; i < jobs; i++) {
        if (i == jobs / WARM_PARTS)
            warm = process_kib();
        assert_ok(lease_and_run(pool, i));
    }
    end = process_kib();
    assert_ok(pool_destroy(&pool));
    printf("%zu jobs: %zu KiB after a tenth of them, %zu KiB in the end\n", jobs, warm, end);
    return !warm || (end > warm + GROWTH_KIB && !IS_SANITIZED);
}
