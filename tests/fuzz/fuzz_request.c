/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases and tickets from any bytes: an input is a sequence of calls, each with a request whose
 * members are extreme values or raw bytes, in a struct of any size. What must be refused is refused
 * with INVALID_ARGUMENT; a lease has what was requested, no device is over-committed, released
 * leases and taken tickets are recognised, and at the end nothing is reserved and nobody waits. The
 * pool has eight devices of the mock.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <devicepool.h>
#include <devicepool/mock.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEVICES = 8, SLOTS = 4, LEASES = 32, TICKETS = 16, CALLS = 64, KNOWN_BYTES = 4096 };

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail(#condition, __LINE__);                                                            \
    } while (0)

static void fail(const char *condition, int line)
{
    fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, line, condition,
        pool_last_error()->message);
    abort();
}

/* ---- the world, made once ----------------------------------------------------------------------
 */

static device_pool *pool, *other_pool;
static pool_device *other_device;
static pool_resident *resident, *other_resident;
static pool_cancel *requested, *unrequested;
static uint64_t capacity; /* of each device, for leases */

static pool_status allocate_copy(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    return pool_buffer_alloc(exec->device, *(const uint64_t *)user, buffer);
}

static device_pool *create_pool(pool_mock *mock, pool_resident **made_resident)
{
    static const uint64_t bytes = 4096;
    pool_resident_params resident_params = {.struct_size = sizeof(resident_params),
        .source = allocate_copy,
        .user = (void *)(uintptr_t)&bytes,
        .bytes = bytes};
    const pool_params params = {.struct_size = sizeof(params), .driver = pool_mock_table(mock)};
    device_pool *made = NULL;

    MUST(!pool_create(&made, &params));
    MUST(!pool_resident_create(made, &resident_params, made_resident));
    return made;
}

static pool_memory_info memory_of(uint32_t index)
{
    pool_memory_info info = {.struct_size = sizeof(info)};
    pool_device *device = NULL;

    MUST(!pool_device_at(pool, index, &device));
    MUST(!pool_memory_get_info(device, &info));
    return info;
}

static void create_world(void)
{
    const pool_mock_params mock_params = {
        .struct_size = sizeof(mock_params), .devices = DEVICES, .no_log = 1};
    pool_mock *mock = NULL;
    pool_exec exec = {.struct_size = sizeof(exec)};
    pool_resident_use *use = NULL;

    MUST(!pool_mock_create(&mock, &mock_params));
    pool = create_pool(mock, &resident);
    other_pool = create_pool(mock, &other_resident);
    MUST(!pool_device_at(other_pool, 0, &other_device));
    MUST(!pool_device_at(pool, 2, &exec.device)); /* the only one with a copy */
    MUST(!pool_resident_open(resident, &exec, &use) && !pool_resident_close(&use));
    MUST(!pool_cancel_create(&requested) && !pool_cancel_create(&unrequested));
    pool_cancel_request(requested);
    capacity = memory_of(0).available_bytes;
}

/* ---- bytes -------------------------------------------------------------------------------------
 */

struct input {
    const uint8_t *data;
    size_t size;
};

/* Zeros after the end. */
static void take(struct input *input, void *to, size_t size)
{
    size_t taken = input->size < size ? input->size : size;

    memset(to, 0, size);
    if (taken)
        memcpy(to, input->data, taken);
    input->data += taken;
    input->size -= taken;
}

static uint8_t take_byte(struct input *input)
{
    uint8_t byte;

    take(input, &byte, 1);
    return byte;
}

/* An extreme value, or raw bytes. */
static uint64_t take_number(struct input *input)
{
    const uint64_t extremes[] = {0, 1, 2, 3, SLOTS, DEVICES, SLOTS + 1, DEVICES + 1, 1 << 20,
        capacity / 2, capacity, capacity + 1, INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX,
        INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX, POOL_LEASE_PRIORITY_MAX,
        (uint64_t)-POOL_LEASE_PRIORITY_MAX, POOL_LEASE_PRIORITY_MAX + 1};
    uint8_t selector = take_byte(input);
    uint64_t raw;

    if (selector < 128)
        return extremes[selector % (sizeof(extremes) / sizeof(extremes[0]))];
    if (selector < 192)
        return selector - 128;
    take(input, &raw, sizeof(raw));
    return raw;
}

/*
 * A copy of a struct in a block of exactly the size that it claims, so that a sanitizer sees one
 * byte too far; a size that no struct has comes with nothing behind it. *is_valid: the library must
 * accept it.
 */
static void *take_struct(struct input *input, const void *known, size_t known_size, bool *is_valid)
{
    uint8_t selector = take_byte(input);
    size_t size = selector < 176   ? known_size
                  : selector < 240 ? known_size + (selector & 63)
                                   : (size_t)take_number(input);
    size_t block_size = size < sizeof(size) || size > KNOWN_BYTES ? sizeof(size) : size;
    uint8_t *block = calloc(1, block_size), unknown = size > known_size ? take_byte(input) : 0;

    MUST(block);
    memcpy(block, known, block_size < known_size ? block_size : known_size);
    memcpy(block, &size, sizeof(size));
    if (unknown & 1 && block_size > known_size) /* a member of a later version */
        block[known_size + unknown % (block_size - known_size)] = unknown;
    else
        unknown = 0;
    *is_valid = (size == known_size || (size > known_size && size <= KNOWN_BYTES)) && !unknown;
    return block;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static int filter(void *user, const pool_candidate *candidate)
{
    return *(const uint8_t *)user >> (pool_device_index(candidate->device) % 8) & 1;
}

static double score(void *user, const pool_candidate *candidate)
{
    uint8_t bits = *(const uint8_t *)user;

    return bits & 1 ? NAN : bits & 2 ? INFINITY : (double)pool_device_index(candidate->device);
}

/* A request with all that its pointers lead to. */
struct terms {
    pool_request request;
    pool_request *given; /* the block that the library receives; NULL: all defaults */
    pool_pick *pick;
    char *label;
    uint8_t mask;
    bool is_invalid;    /* INVALID_ARGUMENT, whatever the pool has */
    bool is_impossible; /* refused at once, for any reason */
};

static void take_pick(struct input *input, struct terms *terms)
{
    pool_pick pick = {.user = &terms->mask};
    uint8_t bits = take_byte(input);
    bool is_valid;

    terms->mask = take_byte(input);
    pick.policy = (pool_policy)(int32_t)take_number(input);
    pick.min_free_bytes = take_number(input);
    pick.filter = bits & 1 ? filter : NULL;
    pick.score = bits & 2 ? score : NULL;
    terms->pick = take_struct(input, &pick, sizeof(pick), &is_valid);
    terms->request.pick = terms->pick;
    if (!is_valid || (int)pick.policy < 0 || pick.policy > POOL_POLICY_SCORE ||
        (pick.policy == POOL_POLICY_SCORE && !pick.score))
        terms->is_invalid = true;
}

static void take_label(struct input *input, struct terms *terms)
{
    size_t length = take_byte(input) % 80;

    terms->label = malloc(length + 1);
    MUST(terms->label);
    take(input, terms->label, length);
    terms->label[length] = 0;
    length = strlen(terms->label);
    terms->request.label = terms->label;
    if (length >= POOL_LEASE_LABEL_BYTES || base_text_printable(terms->label) != length)
        terms->is_invalid = true;
}

static void take_pointers(struct input *input, struct terms *terms)
{
    pool_request *request = &terms->request;
    uint8_t bits = take_byte(input), selector;

    if (bits & 1)
        take_pick(input, terms);
    if (bits & 2) {
        selector = take_byte(input);
        request->device = other_device;
        if (selector < 240)
            MUST(!pool_device_at(pool, selector % DEVICES, &request->device));
        terms->is_invalid |= request->device == other_device;
    }
    if (bits & 4)
        take_label(input, terms);
    if (bits & 8) {
        bool is_other = take_byte(input) >= 240;

        request->near_resident = is_other ? other_resident : resident;
        terms->is_impossible |= is_other;
    }
    if (bits & 16)
        request->cancel = bits & 32 ? requested : unrequested;
}

/* Members that the input does not name have their defaults: most requests shall be possible. */
static uint64_t take_member(struct input *input, bool is_named)
{
    return is_named ? take_number(input) : 0;
}

static void take_terms(struct input *input, struct terms *terms)
{
    pool_request *request = &terms->request;
    uint8_t members = take_byte(input);
    bool is_valid;

    *terms = (struct terms){0};
    request->bytes = take_member(input, members & 1);
    request->slots = (uint32_t)take_member(input, members & 2);
    request->devices = (uint32_t)take_member(input, members & 4);
    request->priority = (int32_t)take_member(input, members & 8);
    request->flags = (uint32_t)take_member(input, members & 16);
    request->timeout_ns = take_member(input, members & 32);
    request->duration_ns = take_member(input, members & 64);
    take_pointers(input, terms);
    terms->given = take_struct(input, request, sizeof(*request), &is_valid);
    request->struct_size = sizeof(*request);
    if (!is_valid || request->priority < -POOL_LEASE_PRIORITY_MAX ||
        request->priority > POOL_LEASE_PRIORITY_MAX || request->flags & ~(uint32_t)POOL_LEASE_SECRET ||
        (request->device && (request->pick || request->devices > 1)))
        terms->is_invalid = true;
    if (request->devices > DEVICES || request->slots > SLOTS || request->bytes > capacity)
        terms->is_impossible = true;
}

static void free_terms(struct terms *terms)
{
    free(terms->given);
    free(terms->pick);
    free(terms->label);
    *terms = (struct terms){0};
}

/* The status of a request that was made, or of its ticket. */
static void check_status(const struct terms *terms, pool_status status)
{
    const pool_request *request = &terms->request;

    if (terms->is_invalid)
        MUST(status == POOL_ERR_INVALID_ARGUMENT);
    if (terms->is_impossible)
        MUST(status != POOL_OK && status != POOL_ERR_TIMEOUT);
    switch (status) {
    case POOL_OK:
    case POOL_ERR_OUT_OF_DEVICE_MEMORY:
        break;
    case POOL_ERR_TIMEOUT:
        MUST(request->timeout_ns != POOL_WAIT_FOREVER);
        break;
    case POOL_ERR_CANCELLED:
        MUST(request->cancel == requested);
        break;
    case POOL_ERR_NOT_FOUND:
        MUST(request->pick);
        break;
    default:
        MUST(status == POOL_ERR_INVALID_ARGUMENT && (terms->is_invalid || terms->is_impossible));
    }
}

/* ---- calls -------------------------------------------------------------------------------------
 */

struct state {
    pool_lease *leases[LEASES];
    pool_lease *released; /* the last one */
    pool_ticket *tickets[TICKETS];
    struct terms terms[TICKETS]; /* of each ticket; `given` and what it leads to are freed */
};

static atomic_uint hooks;

static void count_hook(void *user, pool_ticket *ticket)
{
    (void)user;
    MUST(ticket);
    atomic_fetch_add(&hooks, 1);
}

static void check_lease(const pool_lease *lease, const pool_request *request)
{
    pool_lease_info info = {.struct_size = sizeof(info)};
    uint32_t devices = request->devices ? request->devices : 1, before = 0;

    MUST(!pool_lease_get_info(lease, &info));
    MUST(info.bytes == request->bytes && info.devices == devices);
    MUST(info.slots == (request->slots ? request->slots : 1));
    MUST(info.priority == request->priority && info.flags == request->flags);
    MUST(info.duration_ns == request->duration_ns && pool_lease_device_count(lease) == devices);
    for (uint32_t i = 0; i < devices; i++) {
        pool_lease_usage usage = {.struct_size = sizeof(usage)};

        MUST(!pool_lease_get_usage(lease, i, &usage));
        MUST(usage.limit_bytes == request->bytes && !usage.used_bytes);
        MUST(!i || (uint32_t)pool_device_index(usage.device) > before);
        MUST(!request->device || usage.device == request->device);
        before = (uint32_t)pool_device_index(usage.device);
    }
}

/* Slots and bytes of the leases that the caller has, by device. */
static void check_devices(const struct state *state)
{
    uint64_t bytes[DEVICES] = {0};
    uint32_t slots[DEVICES] = {0};

    for (uint32_t i = 0; i < LEASES; i++) {
        pool_lease_info info = {.struct_size = sizeof(info)};

        if (!state->leases[i])
            continue;
        MUST(!pool_lease_get_info(state->leases[i], &info));
        for (uint32_t d = 0; d < info.devices; d++) {
            pool_device *device = NULL;

            MUST(!pool_lease_device(state->leases[i], d, &device));
            bytes[pool_device_index(device)] += info.bytes;
            slots[pool_device_index(device)] += info.slots;
        }
    }
    for (uint32_t i = 0; i < DEVICES; i++)
        MUST(slots[i] <= SLOTS && bytes[i] <= capacity);
}

static void release(struct state *state, uint32_t slot)
{
    pool_lease_info info = {.struct_size = sizeof(info)};
    pool_lease *lease = state->leases[slot], *again = lease;

    MUST(!pool_release(&state->leases[slot]) && !state->leases[slot]);
    if (!lease)
        return;
    state->released = lease;
    MUST(pool_release(&again) == POOL_ERR_INVALID_ARGUMENT && again == lease);
    MUST(pool_lease_get_info(lease, &info) == POOL_ERR_INVALID_ARGUMENT);
    MUST(pool_lease_device_count(lease) == 0);
}

static void hold(struct state *state, uint32_t slot, pool_lease *lease, const pool_request *request)
{
    check_lease(lease, request);
    release(state, slot % LEASES);
    state->leases[slot % LEASES] = lease;
    check_devices(state);
}

/* A thread of its own cannot wait for what it holds itself: it waits for a moment at most, unless
 * it is cancelled already. */
static void acquire(struct state *state, struct input *input)
{
    uint8_t slot = take_byte(input);
    pool_lease *lease = NULL;
    struct terms terms;
    pool_status status;

    take_terms(input, &terms);
    if (terms.request.cancel != requested || terms.is_invalid) {
        terms.request.timeout_ns %= 2000;
        if (terms.given->struct_size >= offsetof(pool_request, duration_ns) &&
            terms.given->struct_size <= KNOWN_BYTES)
            terms.given->timeout_ns = terms.request.timeout_ns;
    }
    status = pool_acquire(pool, terms.given, &lease);
    check_status(&terms, status);
    MUST(!status == (lease != NULL));
    if (lease)
        hold(state, slot, lease, &terms.request);
    free_terms(&terms);
}

static void destroy_ticket(struct state *state, uint32_t slot)
{
    MUST(!pool_ticket_destroy(&state->tickets[slot]) && !state->tickets[slot]);
}

static void acquire_by_ticket(struct state *state, struct input *input)
{
    uint8_t bits = take_byte(input);
    uint32_t slot = bits % TICKETS;
    struct terms terms;
    pool_status status;
    int fd = -1;

    destroy_ticket(state, slot);
    take_terms(input, &terms);
    status = pool_acquire_async(
        pool, terms.given, bits & 128 ? count_hook : NULL, NULL, &state->tickets[slot]);
    check_status(&terms, status);
    MUST(!status == (state->tickets[slot] != NULL));
    free(terms.given);
    free(terms.pick);
    free(terms.label);
    state->terms[slot] = terms;
    if (!status && bits & 64)
        MUST(!pool_ticket_fd(state->tickets[slot], &fd) && fd >= 0);
}

static void take_ticket(struct state *state, struct input *input)
{
    uint32_t slot = take_byte(input) % TICKETS;
    pool_ticket *ticket = state->tickets[slot];
    pool_lease *lease = NULL, *second = NULL;
    pool_status status;

    if (!ticket) {
        MUST(pool_ticket_take(ticket, &lease) == POOL_ERR_INVALID_ARGUMENT);
        return;
    }
    MUST(pool_ticket_take(ticket, NULL) == POOL_ERR_INVALID_ARGUMENT);
    status = pool_ticket_take(ticket, &lease);
    if (status != POOL_ERR_NOT_READY && status != POOL_ERR_INVALID_ARGUMENT)
        check_status(&state->terms[slot], status);
    MUST(!status == (lease != NULL));
    if (!lease)
        return;
    MUST(pool_ticket_take(ticket, &second) == POOL_ERR_INVALID_ARGUMENT && !second);
    hold(state, slot, lease, &state->terms[slot].request);
}

static void use_wrongly(struct state *state, struct input *input)
{
    pool_lease *lease = state->leases[take_byte(input) % LEASES], *made = NULL;
    uint32_t index = (uint32_t)take_number(input);
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_device *device = NULL;
    pool_ticket *ticket = NULL;

    MUST(pool_acquire(NULL, NULL, &made) == POOL_ERR_INVALID_ARGUMENT);
    MUST(pool_acquire(pool, NULL, NULL) == POOL_ERR_INVALID_ARGUMENT);
    MUST(pool_acquire_async(NULL, NULL, NULL, NULL, &ticket) == POOL_ERR_INVALID_ARGUMENT);
    MUST(pool_acquire_async(pool, NULL, NULL, NULL, NULL) == POOL_ERR_INVALID_ARGUMENT);
    MUST(pool_ticket_fd(NULL, NULL) == POOL_ERR_INVALID_ARGUMENT);
    MUST(!made && !ticket);
    if (index >= pool_lease_device_count(lease)) {
        MUST(pool_lease_device(lease, index, &device) == POOL_ERR_INVALID_ARGUMENT && !device);
        MUST(pool_lease_get_usage(lease, index, &usage) == POOL_ERR_INVALID_ARGUMENT);
    }
    MUST(pool_lease_device(state->released, 0, &device) == POOL_ERR_INVALID_ARGUMENT);
}

static void call(struct state *state, struct input *input)
{
    switch (take_byte(input) % 8) {
    case 0:
    case 1:
        acquire(state, input);
        break;
    case 2:
    case 3:
        acquire_by_ticket(state, input);
        break;
    case 4:
        release(state, take_byte(input) % LEASES);
        break;
    case 5:
        take_ticket(state, input);
        break;
    case 6:
        destroy_ticket(state, take_byte(input) % TICKETS);
        break;
    case 7:
        use_wrongly(state, input);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct state state = {.released = NULL};
    pool_lease_counts counts = {.struct_size = sizeof(counts)};

    if (!pool)
        create_world();
    for (int i = 0; i < CALLS && input.size; i++)
        call(&state, &input);
    for (uint32_t i = 0; i < TICKETS; i++)
        destroy_ticket(&state, i);
    for (uint32_t i = 0; i < LEASES; i++)
        release(&state, i);
    MUST(!pool_get_lease_counts(pool, &counts) && !counts.leases && !counts.waiting);
    for (uint32_t i = 0; i < DEVICES; i++)
        MUST(!memory_of(i).lease_reserved_bytes);
    return 0;
}
