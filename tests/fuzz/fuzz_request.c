/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request structs of any content: the bytes are the members of one request after another. Every
 * request is granted or refused; a lease has what was requested, and at the end nothing is
 * reserved. Pointers are taken from a few valid ones. The pool has eight devices of the mock.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEVICES 8
#define LEASES 32

static device_pool *pool;

static void open_pool(void)
{
    pool_mock_params mock_params = {
        .struct_size = sizeof(mock_params), .devices = DEVICES, .no_log = 1};
    pool_params params = {.struct_size = sizeof(params)};
    pool_mock *mock = NULL;

    if (pool_mock_create(&mock, &mock_params))
        abort();
    params.driver = pool_mock_table(mock);
    if (pool_create(&pool, &params))
        abort();
}

static int filter(void *user, const pool_candidate *candidate)
{
    return (int)(((const uint8_t *)user)[0] >> (pool_device_index(candidate->device) % 8) & 1);
}

static double score(void *user, const pool_candidate *candidate)
{
    double value;

    (void)candidate;
    memcpy(&value, user, sizeof(value)); /* NaN and infinities too */
    return value;
}

/* Replaces what the bytes have where pointers stand. */
static void set_pointers(pool_request *request, pool_pick *pick, const char *label)
{
    uintptr_t bits[4];

    memcpy(&bits[0], &request->pick, sizeof(bits[0]));
    memcpy(&bits[1], &request->device, sizeof(bits[1]));
    memcpy(&bits[2], &request->label, sizeof(bits[2]));
    if (bits[0] & 2)
        pick->filter = filter;
    if (bits[0] & 4)
        pick->score = score;
    request->pick = bits[0] & 1 ? pick : NULL;
    request->device = NULL;
    if (bits[1] & 1 && pool_device_at(pool, bits[1] / 2 % DEVICES, &request->device))
        abort();
    request->label = bits[2] & 1 ? label : NULL;
    request->near_resident = NULL;
    request->cancel = NULL;
    request->timeout_ns = 0; /* it would wait */
}

static void check_lease(const pool_lease *lease, const pool_request *request)
{
    pool_lease_info info = {.struct_size = sizeof(info)};
    uint32_t devices = request->devices ? request->devices : 1;

    if (pool_lease_get_info(lease, &info) || info.bytes != request->bytes ||
        info.devices != devices || pool_lease_device_count(lease) != devices ||
        info.slots != (request->slots ? request->slots : 1) || info.priority != request->priority)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pool_lease *leases[LEASES] = {NULL};
    pool_lease_counts counts = {.struct_size = sizeof(counts)};
    char label[80] = "";
    uint32_t count = 0;

    if (!pool)
        open_pool();
    for (; size >= sizeof(pool_request) && count < LEASES; count++) {
        pool_pick pick = {.struct_size = sizeof(pick), .user = (void *)data};
        pool_request request;
        uint32_t slot = count;

        memcpy(&request, data, sizeof(request));
        request.struct_size = data[0] & 1 ? sizeof(request) : request.struct_size % 256;
        pick.policy = (pool_policy)(data[1] % 5);
        memcpy(label, data, sizeof(label) - 1);
        set_pointers(&request, &pick, label);
        if (request.struct_size > sizeof(request))
            request.struct_size = 1;
        if (!pool_acquire(pool, &request, &leases[slot]) && request.struct_size == sizeof(request))
            check_lease(leases[slot], &request);
        if (data[2] & 1 && pool_release(&leases[data[3] % LEASES]))
            abort();
        data += sizeof(request);
        size -= sizeof(request);
    }
    for (uint32_t i = 0; i < LEASES; i++)
        if (pool_release(&leases[i]))
            abort();
    if (pool_get_lease_counts(pool, &counts) || counts.leases || counts.waiting)
        abort();
    return 0;
}
