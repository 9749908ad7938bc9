/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease/scheduler: every interleaving of the events of four clients on three devices, without those
 * that lead to a state seen before, and long random runs with more of both. After each event the
 * rules of scheduler.h are checked by a second, simpler formulation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "pool/lease/scheduler.h"
#include "support/random.h"
#include "support/sample.h"

#define DEVICES_MAX 8
#define CLIENTS_MAX 24
#define AGING 100

struct client {
    struct scheduler_request request;
    uint32_t granted[DEVICES_MAX];
    uint32_t submits_left;
    uint32_t order; /* of the submission */
    uint32_t
        backfill; /* devices where it was granted behind the head that they are earmarked for */
};

/* Everything that an exploration saves and restores; it stays at its address, so that pointers
 * into it are right after a restore. */
struct world {
    struct scheduler scheduler;
    struct scheduler_device devices[DEVICES_MAX];
    struct client clients[CLIENTS_MAX];
    uint32_t client_count;
    uint32_t changes_left; /* of devices */
    uint32_t submits;      /* so far */
    uint64_t now;
    const struct scheduler_request *head; /* as it was before the event */
    uint32_t earmarked;                   /* likewise */
};

static struct world world;
static uint32_t ranks[CLIENTS_MAX][DEVICES_MAX];

/* --- the rules, written a second time -----------------------------------------------------------
 */

static int is_waiting(const struct client *client)
{
    return client->request.decision == SCHEDULER_WAITING;
}

static int is_granted(const struct client *client)
{
    return client->request.decision == SCHEDULER_GRANTED;
}

static int may_use(const struct scheduler_request *request, uint32_t device)
{
    return !request->ranks || request->ranks[device] != SCHEDULER_EXCLUDED;
}

static int comes_before(const struct client *a, const struct client *b)
{
    int64_t key_a = (int64_t)a->request.submitted - a->request.priority * AGING;
    int64_t key_b = (int64_t)b->request.submitted - b->request.priority * AGING;

    return key_a != key_b ? key_a < key_b : a->order < b->order;
}

static uint64_t bytes_left(uint32_t device)
{
    uint64_t used = 0, capacity = world.devices[device].capacity_bytes;

    for (uint32_t c = 0; c < world.client_count; c++)
        for (uint32_t i = 0; is_granted(&world.clients[c]) && i < world.clients[c].request.devices;
             i++)
            if (world.clients[c].granted[i] == device)
                used += world.clients[c].request.bytes;
    return capacity > used ? capacity - used : 0;
}

static uint32_t slots_left(uint32_t device)
{
    uint32_t used = 0;

    for (uint32_t c = 0; c < world.client_count; c++)
        for (uint32_t i = 0; is_granted(&world.clients[c]) && i < world.clients[c].request.devices;
             i++)
            if (world.clients[c].granted[i] == device)
                used += world.clients[c].request.slots;
    assert_true(used <= world.devices[device].slots);
    return world.devices[device].slots - used;
}

/* Devices that could serve the request without any leases. */
static uint32_t attainable(const struct scheduler_request *request)
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < world.scheduler.device_count; d++)
        count += world.devices[d].state == SCHEDULER_READY && may_use(request, d) &&
                 world.devices[d].capacity_bytes >= request->bytes &&
                 world.devices[d].slots >= request->slots;
    return count;
}

static uint32_t possible(const struct scheduler_request *request)
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < world.scheduler.device_count; d++)
        count += world.devices[d].state != SCHEDULER_LOST && may_use(request, d) &&
                 world.devices[d].limit_bytes >= request->bytes &&
                 world.devices[d].slots >= request->slots;
    return count;
}

static const struct client *plain_head(void)
{
    const struct client *head = NULL;

    for (uint32_t c = 0; c < world.client_count; c++) {
        const struct client *client = &world.clients[c];

        if (is_waiting(client) && attainable(&client->request) >= client->request.devices &&
            (!head || comes_before(client, head)))
            head = client;
    }
    return head;
}

/* Devices that can serve the request now; `head` not NULL: without what the head lacks. */
static uint32_t serving(const struct scheduler_request *request, const struct client *head)
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < world.scheduler.device_count; d++) {
        uint64_t bytes = bytes_left(d);
        uint32_t slots = slots_left(d);
        int fits = world.devices[d].state == SCHEDULER_READY && may_use(request, d) &&
                   bytes >= request->bytes && slots >= request->slots;

        if (fits && head && world.devices[d].is_earmarked)
            fits = slots >= request->slots + head->request.slots &&
                   (request->bytes == 0 || bytes >= request->bytes + head->request.bytes);
        count += fits;
    }
    return count;
}

/* --- invariants ---------------------------------------------------------------------------------
 */

static void check_accounts(void)
{
    for (uint32_t d = 0; d < world.scheduler.device_count; d++) {
        const struct scheduler_device *device = &world.devices[d];

        assert_int_equal(scheduler_free_bytes(device), bytes_left(d));
        assert_int_equal(scheduler_free_slots(device), slots_left(d));
    }
}

static void check_queue(void)
{
    const struct scheduler_request *previous = NULL;
    uint32_t waiting = 0;

    for (const struct scheduler_request *at = world.scheduler.first; at; at = at->next) {
        assert_ptr_equal(at->previous, previous);
        assert_int_equal(at->decision, SCHEDULER_WAITING);
        if (previous)
            assert_true(comes_before((const struct client *)previous, (const struct client *)at));
        previous = at;
        waiting++;
    }
    assert_ptr_equal(world.scheduler.last, previous);
    assert_int_equal(world.scheduler.waiting, waiting);
}

/* No request waits that could be granted, and none that the devices can never serve. */
static void check_nobody_is_forgotten(const struct client *head)
{
    for (uint32_t c = 0; c < world.client_count; c++) {
        const struct client *client = &world.clients[c];
        int is_behind = head && client != head && comes_before(head, client);

        if (!is_waiting(client))
            continue;
        assert_true(possible(&client->request) >= client->request.devices);
        assert_true(serving(&client->request, is_behind ? head : NULL) < client->request.devices);
    }
}

static void check_earmarks(const struct client *head)
{
    uint32_t count = 0;

    assert_ptr_equal(world.scheduler.head, head ? &head->request : NULL);
    for (uint32_t d = 0; d < world.scheduler.device_count; d++) {
        if (!world.devices[d].is_earmarked)
            continue;
        count++;
        assert_non_null(head);
        assert_int_equal(world.devices[d].state, SCHEDULER_READY);
        assert_true(may_use(&head->request, d));
        assert_true(world.devices[d].capacity_bytes >= head->request.bytes);
    }
    if (head)
        assert_true(count >= head->request.devices);
}

/* A lease that is on an earmarked device not only as backfill. */
static int is_older(const struct client *client)
{
    for (uint32_t i = 0; i < client->request.devices; i++)
        if (world.devices[client->granted[i]].is_earmarked &&
            !(client->backfill >> client->granted[i] & 1))
            return 1;
    return 0;
}

/* Once the leases that its devices had when they were earmarked are released, the head is granted,
 * while all backfill stays. */
static void check_head_is_not_delayed(const struct client *head)
{
    static struct world saved;
    uint32_t older = 0;

    if (!head)
        return;
    saved = world;
    for (uint32_t c = 0; c < world.client_count; c++)
        if (is_granted(&world.clients[c]) && is_older(&world.clients[c]))
            older |= 1u << c;
    for (uint32_t c = 0; c < world.client_count; c++)
        if (older >> c & 1)
            scheduler_release(&world.scheduler, &world.clients[c].request, world.now);
    assert_int_equal(head->request.decision, SCHEDULER_GRANTED);
    world = saved;
}

/* A request that was granted does not ask for more than one that waits and comes before it. */
static void check_first_come(const struct client *granted)
{
    for (uint32_t c = 0; c < world.client_count; c++) {
        const struct client *other = &world.clients[c];
        int asks_less = is_waiting(other) && comes_before(other, granted) &&
                        other->request.bytes <= granted->request.bytes &&
                        other->request.slots <= granted->request.slots &&
                        other->request.devices <= granted->request.devices;

        for (uint32_t d = 0; asks_less && d < world.scheduler.device_count; d++)
            asks_less = may_use(&other->request, d) || !may_use(&granted->request, d);
        assert_false(asks_less);
    }
}

static void check_grant(struct client *client)
{
    const struct scheduler_request *request = &client->request;

    for (uint32_t i = 0; i < request->devices; i++) {
        uint32_t d = client->granted[i];

        assert_true(d < world.scheduler.device_count);
        assert_true(i == 0 || d > client->granted[i - 1]);
        assert_int_equal(world.devices[d].state, SCHEDULER_READY);
        assert_true(may_use(request, d));
        assert_true(world.devices[d].reserved_bytes <= world.devices[d].capacity_bytes ||
                    request->bytes == 0);
        assert_true(world.devices[d].reserved_slots <= world.devices[d].slots);
    }
    check_first_come(client);
}

/* After an event: its decisions, and what has to hold always. `was_granted` is before the event. */
static void check_world(const uint8_t *was_granted)
{
    struct scheduler_request *decided;
    const struct client *head;
    uint32_t earmarked = 0;

    while ((decided = scheduler_take_decided(&world.scheduler)))
        assert_true(decided->decision != SCHEDULER_WAITING && decided->decision != SCHEDULER_NONE);
    head = plain_head();
    check_accounts();
    check_queue();
    for (uint32_t d = 0; d < world.scheduler.device_count; d++)
        earmarked |= (uint32_t)world.devices[d].is_earmarked << d;
    for (uint32_t c = 0; c < world.client_count; c++) {
        struct client *client = &world.clients[c];

        if (!is_granted(client)) {
            client->backfill = 0;
            continue;
        }
        /* Earmarks of another head, or newer ones, see the lease as one that was there before. */
        client->backfill &= earmarked & world.earmarked;
        if (&head->request != world.head)
            client->backfill = 0;
        if (was_granted[c])
            continue;
        check_grant(client);
        if (head && &head->request == world.head && comes_before(head, client))
            client->backfill = earmarked & world.earmarked;
    }
    world.head = head ? &head->request : NULL;
    world.earmarked = earmarked;
    check_nobody_is_forgotten(head);
    check_earmarks(head);
    check_head_is_not_delayed(head);
}

/* --- events -------------------------------------------------------------------------------------
 */

enum event_kind {
    EVENT_SUBMIT,
    EVENT_CANCEL,
    EVENT_EXPIRE,
    EVENT_RELEASE,
    EVENT_SUSPEND,
    EVENT_RESUME,
    EVENT_LOSE,
    EVENT_SHRINK,
    EVENT_GROW,
    EVENT_ADVANCE,
    EVENT_KINDS
};

static int is_device_event(enum event_kind kind)
{
    return kind >= EVENT_SUSPEND && kind <= EVENT_GROW;
}

static int can_happen_to_device(enum event_kind kind, uint32_t index)
{
    const struct scheduler_device *device = &world.devices[index];

    if (!world.changes_left)
        return 0;
    switch (kind) {
    case EVENT_SUSPEND:
        return device->state == SCHEDULER_READY;
    case EVENT_RESUME:
        return device->state == SCHEDULER_SUSPENDED;
    case EVENT_LOSE:
        return device->state != SCHEDULER_LOST;
    case EVENT_SHRINK:
        return device->capacity_bytes == device->limit_bytes;
    case EVENT_GROW:
        return device->capacity_bytes < device->limit_bytes;
    default:
        return 0;
    }
}

static int can_happen(enum event_kind kind, uint32_t index)
{
    const struct client *client = &world.clients[index];

    if (is_device_event(kind))
        return index < world.scheduler.device_count && can_happen_to_device(kind, index);
    if (kind == EVENT_ADVANCE)
        return index == 0 && world.now < AGING;
    if (index >= world.client_count)
        return 0;
    switch (kind) {
    case EVENT_SUBMIT:
        return !is_waiting(client) && !is_granted(client) && client->submits_left;
    case EVENT_CANCEL:
    case EVENT_EXPIRE:
        return is_waiting(client);
    case EVENT_RELEASE:
        return is_granted(client);
    default:
        return 0;
    }
}

static void change_device(enum event_kind kind, struct scheduler_device *device)
{
    world.changes_left--;
    /* What fitted next to the head does not need to after that: it counts as older. */
    for (uint32_t c = 0; kind == EVENT_SHRINK && c < world.client_count; c++)
        world.clients[c].backfill &= ~(1u << (device - world.devices));
    if (kind == EVENT_SUSPEND)
        device->state = SCHEDULER_SUSPENDED;
    else if (kind == EVENT_RESUME)
        device->state = SCHEDULER_READY;
    else if (kind == EVENT_LOSE)
        device->state = SCHEDULER_LOST;
    else
        device->capacity_bytes =
            kind == EVENT_SHRINK ? device->limit_bytes / 2 : device->limit_bytes;
    scheduler_devices_changed(&world.scheduler, world.now);
}

static void submit(struct client *client)
{
    int is_possible = possible(&client->request) >= client->request.devices;

    client->submits_left--;
    client->order = world.submits++;
    scheduler_submit(&world.scheduler, &client->request, world.now);
    assert_int_equal(client->request.decision != SCHEDULER_REFUSED, is_possible);
}

static void happen(enum event_kind kind, uint32_t index)
{
    struct client *client = &world.clients[index];
    uint8_t was_granted[CLIENTS_MAX];

    for (uint32_t c = 0; c < world.client_count; c++)
        was_granted[c] = (uint8_t)is_granted(&world.clients[c]);
    if (is_device_event(kind)) {
        change_device(kind, &world.devices[index]);
    } else if (kind == EVENT_SUBMIT) {
        submit(client);
    } else if (kind == EVENT_CANCEL) {
        scheduler_cancel(&world.scheduler, &client->request, SCHEDULER_CANCELLED, world.now);
    } else if (kind == EVENT_EXPIRE) { /* its deadline is now, the others' are not */
        client->request.deadline = world.now;
        assert_int_equal(scheduler_next_deadline(&world.scheduler), world.now);
        scheduler_expire(&world.scheduler, world.now);
        assert_int_equal(client->request.decision, SCHEDULER_EXPIRED);
        client->request.deadline = SCHEDULER_NEVER;
    } else if (kind == EVENT_RELEASE) {
        scheduler_release(&world.scheduler, &client->request, world.now);
    } else {
        world.now += AGING;
        scheduler_devices_changed(&world.scheduler, world.now);
    }
    check_world(was_granted);
}

/* The pool is destroyed: waits end, leases are released, nothing is left. */
static void end_world(void)
{
    while (world.scheduler.first)
        scheduler_cancel(&world.scheduler, world.scheduler.first, SCHEDULER_CANCELLED, world.now);
    for (uint32_t c = 0; c < world.client_count; c++)
        if (is_granted(&world.clients[c]))
            scheduler_release(&world.scheduler, &world.clients[c].request, world.now);
    while (scheduler_take_decided(&world.scheduler))
        ;
    for (uint32_t d = 0; d < world.scheduler.device_count; d++) {
        assert_int_equal(world.devices[d].reserved_bytes, 0);
        assert_int_equal(world.devices[d].reserved_slots, 0);
        assert_false(world.devices[d].is_earmarked);
    }
}

/* --- worlds -------------------------------------------------------------------------------------
 */

/* The request of one client. */
struct demand {
    uint64_t bytes;
    uint32_t slots;
    uint32_t devices;
    int32_t priority;
    uint32_t excluded; /* a bit for each device */
};

static void init_world(uint32_t devices, uint64_t bytes, uint32_t slots)
{
    memset(&world, 0, sizeof(world));
    for (uint32_t d = 0; d < devices; d++)
        world.devices[d] = (struct scheduler_device){
            .capacity_bytes = bytes, .limit_bytes = bytes, .slots = slots};
    scheduler_init(&world.scheduler, world.devices, devices, AGING);
}

static void add_client(const struct demand *demand, uint32_t submits, enum scheduler_policy policy)
{
    uint32_t c = world.client_count++;
    struct client *client = &world.clients[c];

    for (uint32_t d = 0; d < DEVICES_MAX; d++)
        ranks[c][d] = demand->excluded >> d & 1 ? SCHEDULER_EXCLUDED : 0;
    client->request = (struct scheduler_request){.bytes = demand->bytes,
        .slots = demand->slots,
        .devices = demand->devices,
        .priority = demand->priority,
        .policy = policy,
        .deadline = SCHEDULER_NEVER,
        .ranks = demand->excluded ? ranks[c] : NULL,
        .granted = client->granted};
    client->submits_left = submits;
}

/* --- exploration --------------------------------------------------------------------------------
 */

#define SEEN_BITS 22

static uint64_t *seen; /* an open hash table of fingerprints */
static struct world *stack;
static size_t stack_used, stack_size;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Of all that decides what can happen next, and of nothing else: how often clients still submit and
 * in which order they came, but not how the state was reached. */
static uint64_t fingerprint(void)
{
    uint64_t hash = mix(world.scheduler.turn, world.changes_left);

    hash = mix(hash, world.now);
    hash = mix(hash, world.scheduler.is_head_aged);
    for (uint32_t d = 0; d < world.scheduler.device_count; d++) {
        hash = mix(hash, world.devices[d].capacity_bytes);
        hash = mix(hash, (uint64_t)world.devices[d].state * 2 + world.devices[d].is_earmarked);
    }
    for (uint32_t c = 0; c < world.client_count; c++) {
        const struct client *client = &world.clients[c];

        hash = mix(hash, (uint64_t)client->request.decision * 16 + client->submits_left);
        hash = mix(hash, is_waiting(client) ? client->request.submitted : 0);
        hash = mix(hash, client->backfill);
        for (uint32_t i = 0; is_granted(client) && i < client->request.devices; i++)
            hash = mix(hash, client->granted[i]);
    }
    for (const struct scheduler_request *at = world.scheduler.first; at; at = at->next)
        hash = mix(hash, (uint64_t)((const struct client *)at - world.clients));
    return hash ? hash : 1;
}

static int is_new(void)
{
    uint64_t hash = fingerprint();
    size_t at = hash >> (64 - SEEN_BITS);

    while (seen[at] && seen[at] != hash)
        at = (at + 1) & (((size_t)1 << SEEN_BITS) - 1);
    if (seen[at])
        return 0;
    seen[at] = hash;
    return 1;
}

static void push_world(void)
{
    if (stack_used == stack_size) {
        stack_size = stack_size ? 2 * stack_size : 1024;
        stack = realloc(stack, stack_size * sizeof(*stack));
        assert_non_null(stack);
    }
    stack[stack_used++] = world;
}

/* Every event in every state that can be reached from the present one; how many states. */
static size_t explore(void)
{
    uint32_t indices =
        world.client_count > world.scheduler.device_count ? world.client_count : DEVICES_MAX;
    size_t states = 0;

    stack_used = 0;
    memset(seen, 0, sizeof(*seen) << SEEN_BITS);
    assert_true(is_new());
    push_world();
    while (stack_used) {
        struct world here = stack[--stack_used];

        states++;
        assert_true(states < (size_t)3 << (SEEN_BITS - 2));
        for (int kind = 0; kind < EVENT_KINDS; kind++)
            for (uint32_t index = 0; index < indices; index++) {
                world = here;
                if (!can_happen((enum event_kind)kind, index))
                    continue;
                happen((enum event_kind)kind, index);
                if (is_new())
                    push_world();
            }
        world = here;
        end_world();
    }
    return states;
}

static const struct demand whole = {4, 1, 1, 0, 0};
static const struct demand half = {2, 1, 1, 0, 0};
static const struct demand slot_only = {0, 1, 1, 0, 0};
static const struct demand two_slots = {1, 2, 1, 0, 0};
static const struct demand pair = {3, 1, 2, 0, 0};
static const struct demand triple = {2, 1, 3, 0, 0};
static const struct demand all_of_all = {4, 2, 3, 0, 0};
static const struct demand first_device = {4, 2, 1, 0, 6};
static const struct demand urgent = {3, 1, 1, 1, 0};
static const struct demand urgent_pair = {4, 1, 2, 1, 1};

static void explore_clients(const struct demand *const *demands, uint32_t submits, uint32_t changes,
    enum scheduler_policy policy)
{
    init_world(3, 4, 2);
    world.changes_left = changes;
    for (int c = 0; c < 4; c++)
        add_client(demands[c], submits, policy);
    assert_true(explore() > 50000);
}

static void test_all_interleavings(void **state)
{
    static const struct demand *const groups[][4] = {
        {&half, &whole, &pair, &slot_only},
        {&triple, &half, &half, &urgent},
        {&all_of_all, &two_slots, &slot_only, &half},
        {&first_device, &half, &pair, &urgent_pair},
        {&pair, &pair, &triple, &urgent},
        {&whole, &whole, &whole, &all_of_all},
    };

    (void)state;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
        if (is_sampled(g, 3))
            explore_clients(groups[g], 1, 2, g % 2 ? SCHEDULER_ROUND_ROBIN : SCHEDULER_MOST_FREE);
}

/* Clients that request again: leases and requests of several generations at the same time. */
static void test_clients_that_come_back(void **state)
{
    static const struct demand *const groups[][4] = {
        {&half, &pair, &two_slots, &whole},
        {&all_of_all, &half, &slot_only, &urgent},
    };

    (void)state;
    for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
        if (is_sampled(g, 2))
            explore_clients(groups[g], 2, 0, SCHEDULER_LEAST_LOADED);
}

/* --- random runs --------------------------------------------------------------------------------
 */

static struct demand random_demand(uint32_t devices, uint64_t bytes, uint32_t slots)
{
    struct demand demand = {
        .bytes = next_random() % 4 ? next_random() % (bytes + 1) : 0,
        .slots = 1 + (uint32_t)(next_random() % slots),
        .devices = next_random() % 3 ? 1 : 1 + (uint32_t)(next_random() % devices),
        .priority = (int32_t)(next_random() % 3),
        .excluded = next_random() % 4 ? 0 : (uint32_t)next_random() & ((1u << devices) - 1),
    };

    return demand;
}

static void run_at_random(int events)
{
    uint32_t devices = 1 + (uint32_t)(next_random() % DEVICES_MAX);
    uint64_t bytes = 1 + next_random() % 20;
    uint32_t slots = 1 + (uint32_t)(next_random() % 4);

    init_world(devices, bytes, slots);
    world.changes_left = UINT32_MAX;
    for (uint32_t c = 0; c < CLIENTS_MAX; c++) {
        struct demand demand = random_demand(devices, bytes, slots);

        add_client(&demand, UINT32_MAX, (enum scheduler_policy)(next_random() % 3));
    }
    while (events) {
        uint64_t roll = next_random();
        enum event_kind kind = roll % 8 < 3   ? EVENT_SUBMIT
                               : roll % 8 < 6 ? EVENT_RELEASE
                                              : (enum event_kind)(roll / 8 % EVENT_ADVANCE);
        uint32_t index = (uint32_t)(next_random() % CLIENTS_MAX);

        if (kind == EVENT_LOSE && next_random() % 200)
            continue;
        world.now += next_random() % 8 ? 0 : next_random() % 20;
        events--;
        if (can_happen(kind, index))
            happen(kind, index);
    }
    end_world();
}

static void test_random_runs(void **state)
{
    (void)state;
    for (int run = 0; run < 300; run++)
        run_at_random(1000);
}

/* --- single properties ---------------------------------------------------------------------------
 */

/* A stream of small requests does not keep a request for a whole device from being granted. */
static void test_large_request_is_not_starved(void **state)
{
    const struct demand small = {1, 1, 1, 0, 0}, large = {8, 1, 2, 0, 0};

    (void)state;
    init_world(3, 8, 8);
    add_client(&large, 1, SCHEDULER_MOST_FREE);
    for (int c = 0; c < 20; c++)
        add_client(&small, UINT32_MAX, SCHEDULER_MOST_FREE);
    for (uint32_t c = 1; c <= 20; c++)
        happen(EVENT_SUBMIT, c);
    happen(EVENT_SUBMIT, 0);
    assert_true(is_waiting(&world.clients[0]));
    /* Each small lease ends and its client makes its next request immediately. */
    for (uint32_t c = 1; c <= 20; c++) {
        if (is_granted(&world.clients[c]))
            happen(EVENT_RELEASE, c);
        if (can_happen(EVENT_SUBMIT, c))
            happen(EVENT_SUBMIT, c);
    }
    assert_true(is_granted(&world.clients[0]));
    end_world();
}

/* One class of priority is worth AGING, not more. */
static void test_aging(void **state)
{
    const struct demand low = {4, 1, 1, 0, 0}, high = {4, 1, 1, 2, 0};

    (void)state;
    for (int late = 0; late <= 1; late++) {
        init_world(1, 4, 1);
        add_client(&low, 2, SCHEDULER_MOST_FREE);
        add_client(&low, 1, SCHEDULER_MOST_FREE);
        add_client(&high, 1, SCHEDULER_MOST_FREE);
        happen(EVENT_SUBMIT, 0);
        happen(EVENT_SUBMIT, 1);
        world.now = (uint64_t)(2 * AGING - 1 + 2 * late);
        happen(EVENT_SUBMIT, 2);
        happen(EVENT_RELEASE, 0);
        assert_true(is_granted(&world.clients[late ? 1 : 2]));
        end_world();
    }
}

static int open_memory(void **state)
{
    (void)state;
    seen = calloc((size_t)1 << SEEN_BITS, sizeof(*seen));
    return seen ? 0 : -1;
}

static int close_memory(void **state)
{
    (void)state;
    free(seen);
    free(stack);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_request_is_not_starved),
        cmocka_unit_test(test_aging),
        cmocka_unit_test(test_random_runs),
        cmocka_unit_test(test_all_interleavings),
        cmocka_unit_test(test_clients_that_come_back),
    };

    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
