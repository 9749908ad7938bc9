/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident objects that their owners use, evict and destroy while allocations of other threads
 * evict them on demand; modules that are launched meanwhile.
 *
 *   test_resident [DEVICES]
 */
#include "support/assert.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    OWNERS = 3,
    SHARED = 2,
    LIMIT_MIB = 8,
    OBJECT_ROUNDS = 60,
    DOMAIN_ROUNDS = 20,
    LAUNCH_ROUNDS = 100,
    VALUES = 100
};

/* Drivers of GPUs hold memory in blocks of some MiB: there all sizes are larger. */
static uint64_t mib = 1 << 20;

static const char *devices = "sim:2,mem=64M";
static device_pool *pool;
static pool_resident *shared[SHARED];
static pool_ntt_domain *shared_domain;
static atomic_bool has_ended;
static atomic_uint wrong;

static void expect(bool is_right)
{
    if (!is_right)
        atomic_fetch_add(&wrong, 1);
}

static pool_device *device_at(size_t index)
{
    pool_device *device = NULL;

    expect(!pool_device_at(pool, index % pool_device_count(pool), &device));
    return device;
}

/* Both are what memory pressure and the other threads make of a valid call. */
static bool is_out_of_memory(pool_status status)
{
    return status == POOL_ERR_OUT_OF_DEVICE_MEMORY;
}

static pool_status fill(void *user, const pool_exec *exec, pool_buffer **buffer)
{
    const uint8_t *byte = user;
    pool_status status = pool_buffer_alloc(exec->device, 3 * mib, buffer);

    if (!status)
        status = pool_buffer_fill8(*buffer, 0, 3 * mib, *byte, exec->stream);
    if (status)
        (void)pool_buffer_destroy(buffer);
    return status;
}

static pool_resident *register_object(uint8_t *byte)
{
    const pool_resident_params params = {.struct_size = sizeof(params),
        .name = "an object",
        .source = fill,
        .user = byte,
        .bytes = 3 * mib};
    pool_resident *made = NULL;

    expect(!pool_resident_create(pool, &params, &made));
    return made;
}

static void sleep_us(long microseconds)
{
    const struct timespec time = {.tv_nsec = microseconds * 1000};

    nanosleep(&time, NULL);
}

/* Allocates all memory of a device again and again, which evicts what is idle there. */
static void *press(void *argument)
{
    pool_device *device = argument;

    while (!atomic_load(&has_ended)) {
        pool_buffer *buffer = NULL;
        pool_status status = pool_buffer_alloc(device, LIMIT_MIB * mib, &buffer);

        expect(!status || is_out_of_memory(status));
        expect(!pool_buffer_destroy(&buffer));
        sleep_us(500); /* the owners have the memory in the meantime */
    }
    return NULL;
}

/* While its use is open the object is there, whatever the others do. */
static void use_object(pool_resident *resident, uint8_t byte, size_t index)
{
    const pool_exec exec = {.struct_size = sizeof(exec), .device = device_at(index)};
    pool_resident *refused = resident;
    pool_resident_use *use = NULL;
    uint8_t seen[4] = {0};
    pool_status status = pool_resident_open(resident, &exec, &use);

    if (is_out_of_memory(status))
        return;
    expect(!status);
    expect(pool_resident_destroy(&refused) == POOL_ERR_BUSY && refused == resident);
    status = pool_copy_to_host(seen, pool_resident_buffer(use), 0, sizeof(seen), NULL);
    expect(!status && seen[0] == byte && seen[3] == byte);
    expect(!pool_resident_close(&use));
}

static void *own_objects(void *argument)
{
    uint8_t bytes[1 + SHARED] = {77, 1, 2};
    unsigned seed = *(const unsigned *)argument;

    for (int i = 0; i < OBJECT_ROUNDS; i++) {
        pool_resident *own = register_object(&bytes[0]);
        size_t which = (size_t)rand_r(&seed) % SHARED, index = (size_t)rand_r(&seed);
        pool_resident_info info = {.struct_size = sizeof(info)};
        pool_status status;

        use_object(own, bytes[0], index);
        use_object(shared[which], bytes[1 + which], index);
        expect(!pool_resident_get_info(shared[which], device_at(index), &info));
        status = pool_resident_evict(shared[which], device_at(index));
        expect(!status || status == POOL_ERR_BUSY);
        use_object(own, bytes[0], index + 1);
        if (i % 2)
            expect(!pool_resident_evict(own, device_at(index)));
        expect(!pool_resident_destroy(&own));
    }
    return NULL;
}

static pool_ntt_domain *create_domain(void)
{
    const pool_ntt_domain_params params = {
        .struct_size = sizeof(params), .log_size = 6, .field = pool_field_by_name("babybear")};
    pool_ntt_domain *made = NULL;

    expect(!pool_ntt_domain_create(&params, &made));
    return made;
}

/* Computes the domain's tables on a device, if there is memory. */
static void use_domain(pool_ntt_domain *domain, size_t index)
{
    pool_status status = pool_ntt_warm_up(
        domain, &(pool_exec){.struct_size = sizeof(pool_exec), .device = device_at(index)});

    expect(!status || is_out_of_memory(status));
}

static void *own_domains(void *argument)
{
    size_t number = *(const unsigned *)argument;

    for (int i = 0; i < DOMAIN_ROUNDS; i++) {
        pool_ntt_domain *own = create_domain();

        use_domain(own, number);
        use_domain(shared_domain, number);
        use_domain(own, number + 1);
        expect(!pool_ntt_domain_destroy(&own));
    }
    return NULL;
}

/* Between the choice of an object and its eviction, so that its owner and others come in between.
 */
static void delay_eviction(void *user, const pool_log_record *record)
{
    (void)user;
    if (strstr(record->message, "is evicted"))
        sleep_us(200);
}

/* ---- modules -----------------------------------------------------------------------------------
 */

/* The driver has not that much, so everything unused is evicted, the library's modules too. */
static void *exhaust(void *argument)
{
    while (!atomic_load(&has_ended)) {
        pool_buffer *none = NULL;

        expect(is_out_of_memory(pool_buffer_alloc(argument, UINT64_C(1) << 45, &none)));
        sleep_us(500);
    }
    return NULL;
}

static void *add_values(void *argument)
{
    const pool_field *field = pool_field_by_name("babybear");
    size_t number = *(const unsigned *)argument;
    uint32_t a[VALUES], b[VALUES];
    const pool_span spans[] = {{.data = a, .count = VALUES}, {.data = b, .count = VALUES}};

    for (size_t round = 0; round < LAUNCH_ROUNDS; round++) {
        const pool_exec exec = {.struct_size = sizeof(exec), .device = device_at(number + round)};

        for (uint32_t i = 0; i < VALUES; i++) {
            a[i] = i;
            b[i] = 1000 * i;
        }
        expect(!pool_vector_add(field, &exec, &spans[0], &spans[1], &spans[1]));
        for (uint32_t i = 0; i < VALUES; i++)
            expect(b[i] == 1001 * i);
    }
    return NULL;
}

/* ---- tests -------------------------------------------------------------------------------------
 */

static uint64_t evictions(void)
{
    static const char name[] = "\ndevicepool_resident_evictions_total{";
    uint64_t count = 0;
    char *text = NULL;

    assert_ok(pool_metrics(pool, POOL_METRICS_PROMETHEUS, &text));
    for (const char *at = text; (at = strstr(at, name)); at += sizeof(name))
        count += strtoull(strchr(at, '}') + 1, NULL, 10);
    pool_text_free(&text);
    return count;
}

static void run_owners(void *(*own)(void *))
{
    pthread_t owners[OWNERS];
    unsigned seeds[OWNERS];

    for (unsigned i = 0; i < OWNERS; i++) {
        seeds[i] = i;
        assert_int_equal(pthread_create(&owners[i], NULL, own, &seeds[i]), 0);
    }
    for (size_t i = 0; i < OWNERS; i++)
        pthread_join(owners[i], NULL);
}

/* One thread per owner, and one thread per device that evicts on demand, until one has. */
static void run_under_pressure(void *(*own)(void *), void *(*evict)(void *))
{
    size_t count = pool_device_count(pool) < 2 ? 1 : 2;
    pthread_t pressing[2];
    uint64_t before = evictions();

    atomic_store(&has_ended, false);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&pressing[i], NULL, evict, device_at(i)), 0);
    do
        run_owners(own);
    while (evictions() == before && !atomic_load(&wrong));
    atomic_store(&has_ended, true);
    for (size_t i = 0; i < count; i++)
        pthread_join(pressing[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(evictions() > before);
}

static void test_objects(void **state)
{
    uint8_t bytes[SHARED] = {1, 2};

    (void)state;
    for (size_t i = 0; i < SHARED; i++)
        shared[i] = register_object(&bytes[i]);
    run_under_pressure(own_objects, press);
    for (size_t i = 0; i < SHARED; i++)
        assert_ok(pool_resident_destroy(&shared[i]));
}

static void test_domains(void **state)
{
    (void)state;
    shared_domain = create_domain();
    run_under_pressure(own_domains, press);
    assert_ok(pool_ntt_domain_destroy(&shared_domain));
}

static void test_modules(void **state)
{
    (void)state;
    run_under_pressure(add_values, exhaust);
}

static int open_pool(void **state)
{
    const pool_params params = {
        .struct_size = sizeof(params), .devices = devices, .memory_limit = LIMIT_MIB * mib};

    (void)state;
    return pool_create(&pool, &params);
}

static int open_pool_without_limit(void **state)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = devices};

    (void)state;
    return pool_create(&pool, &params);
}

static int close_pool(void **state)
{
    (void)state;
    return pool_destroy(&pool);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_objects, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(test_domains, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(test_modules, open_pool_without_limit, close_pool)};

    devices = argc > 1 ? argv[1] : devices;
    if (strncmp(devices, "sim", 3) != 0) {
        if (pool_create(&pool, NULL))
            return 77;
        (void)pool_destroy(&pool);
        mib <<= 6;
    }
    pool_log_set(delay_eviction, NULL, POOL_LOG_INFO);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
