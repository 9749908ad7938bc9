/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that is available on the host, by files as Linux has them, and integrated devices,
 * which share it.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/host_memory.h"
#include "support/mock_pool.h"

static char root[] = "/tmp/host_memory_XXXXXX";

static void write_file(const char *path, const char *text)
{
    char whole[512];
    FILE *file;

    snprintf(whole, sizeof(whole), "%s%s", root, path);
    for (char *at = whole + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        (void)mkdir(whole, 0700);
        *at = '/';
    }
    file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void clear(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(root, 0700), 0);
}

static void write_meminfo(void)
{
    write_file("/proc/meminfo",
        "MemTotal:       131072000 kB\nMemFree:         2097152 kB\nMemAvailable:   104857600 kB\n"
        "Cached:         99999999 kB\n");
}

static void test_without_groups(void **state)
{
    (void)state;
    assert_int_equal(base_host_available(root), 0);
    write_meminfo();
    assert_int_equal(base_host_available(root), 100 * GIB);
    write_file("/proc/self/cgroup", "0::/\n");
    assert_int_equal(base_host_available(root), 100 * GIB);
    clear();
}

static void test_version_2(void **state)
{
    (void)state;
    write_meminfo();
    write_file("/proc/self/cgroup", "0::/user.slice/job.scope\n");
    write_file("/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n");
    write_file("/sys/fs/cgroup/user.slice/job.scope/memory.current", "1000\n");
    assert_int_equal(base_host_available(root), 100 * GIB);
    /* The limit of the group above: 8 GiB, 5 used, of these 2 of inactive page cache. */
    write_file("/sys/fs/cgroup/user.slice/memory.max", "8589934592\n");
    write_file("/sys/fs/cgroup/user.slice/memory.current", "5368709120\n");
    write_file("/sys/fs/cgroup/user.slice/memory.stat",
        "anon 3221225472\nfile 2147483648\ninactive_file 2147483648\n");
    assert_int_equal(base_host_available(root), 5 * GIB);
    write_file("/sys/fs/cgroup/user.slice/job.scope/memory.max", "1073741824\n");
    assert_int_equal(base_host_available(root), GIB - 1000);
    write_file("/sys/fs/cgroup/user.slice/job.scope/memory.current", "2147483648\n");
    assert_int_equal(base_host_available(root), 0);
    clear();
}

/* In a container the files of its group are at the mount. */
static void test_container(void **state)
{
    (void)state;
    write_meminfo();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file("/sys/fs/cgroup/memory.max", "4294967296\n");
    write_file("/sys/fs/cgroup/memory.current", "1073741824\n");
    assert_int_equal(base_host_available(root), 3 * GIB);
    clear();
}

static void test_version_1(void **state)
{
    (void)state;
    write_meminfo();
    write_file("/proc/self/cgroup", "12:cpu,cpuacct:/x\n5:memory:/docker/abc\n0::/ignored\n");
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "17179869184\n");
    write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "2147483648\n");
    write_file("/sys/fs/cgroup/memory/memory.stat", "cache 5\ntotal_inactive_file 1073741824\n");
    assert_int_equal(base_host_available(root), 15 * GIB);
    write_file("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "4096\n");
    assert_int_equal(base_host_available(root), 15 * GIB);
    clear();
}

static struct world integrated_world(uint32_t devices)
{
    pool_mock_params params = {
        .struct_size = sizeof(params), .devices = devices, .memory_bytes = 128 * GIB};
    struct world world = {0};

    assert_ok(pool_mock_create(&world.mock, &params));
    pool_params_init(&world.params, sizeof(world.params));
    world.params.driver = pool_mock_table(world.mock);
    world.params.host_memory = pool_mock_host_memory;
    world.params.host_memory_user = world.mock;
    for (uint32_t i = 0; i < devices; i++) {
        assert_ok(pool_mock_set_attribute(world.mock, (int)i, POOL_CU_ATTRIBUTE_INTEGRATED, 1));
        assert_ok(pool_mock_set_free_memory(world.mock, (int)i, 2 * GIB));
    }
    return world;
}

static pool_status acquire(
    struct world *world, uint64_t bytes, uint32_t devices, pool_device *device, pool_lease **lease)
{
    pool_request request = {
        .struct_size = sizeof(request), .bytes = bytes, .devices = devices, .device = device};

    return pool_acquire(world->pool, &request, lease);
}

/* Page cache counts as free, and every sample reads the host again. */
static void test_integrated_device(void **state)
{
    struct world world = integrated_world(1);
    pool_device_info info = {.struct_size = sizeof(info)};
    pool_lease *lease = NULL, *second = NULL;

    (void)state;
    assert_ok(pool_create(&world.pool, &world.params));
    assert_status(acquire(&world, 3 * GIB, 0, NULL, &lease), POOL_ERR_TIMEOUT); /* not known */
    assert_ok(pool_mock_set_host_memory(world.mock, 100 * GIB));
    usleep(50000);
    assert_ok(acquire(&world, 90 * GIB, 0, NULL, &lease));
    assert_status(acquire(&world, 20 * GIB, 0, NULL, &second), POOL_ERR_TIMEOUT);
    assert_ok(pool_release(&lease));
    assert_ok(pool_mock_set_host_memory(world.mock, 10 * GIB));
    usleep(50000);
    assert_status(acquire(&world, 90 * GIB, 0, NULL, &lease), POOL_ERR_TIMEOUT);
    assert_ok(acquire(&world, 9 * GIB, 0, NULL, &lease));
    assert_ok(pool_release(&lease));
    world_end(&world);
}

/* What is reserved or used on one is missing on the other, and twice the memory is never granted.
 */
static void test_two_share_one_account(void **state)
{
    struct world world = integrated_world(2);
    pool_lease *first = NULL, *second = NULL;
    pool_buffer *buffer = NULL;

    (void)state;
    assert_ok(pool_mock_set_host_memory(world.mock, 100 * GIB));
    assert_ok(pool_create(&world.pool, &world.params));
    assert_ok(acquire(&world, 60 * GIB, 0, device_of(&world, 0), &first));
    assert_status(acquire(&world, 60 * GIB, 0, device_of(&world, 1), &second), POOL_ERR_TIMEOUT);
    assert_ok(acquire(&world, 39 * GIB, 0, device_of(&world, 1), &second));
    assert_ok(pool_release(&second));
    assert_ok(pool_release(&first));
    assert_status(acquire(&world, 60 * GIB, 2, NULL, &first), POOL_ERR_TIMEOUT);
    assert_ok(acquire(&world, 49 * GIB, 2, NULL, &first));
    assert_ok(pool_release(&first));
    /* 64 GiB at most could ever be reserved on each of two. */
    assert_status(acquire(&world, 65 * GIB, 2, NULL, &first), POOL_ERR_OUT_OF_DEVICE_MEMORY);
    assert_says("at most 63.75 GiB");
    assert_ok(pool_buffer_alloc(device_of(&world, 0), GIB, &buffer));
    assert_status(acquire(&world, 99 * GIB, 0, device_of(&world, 1), &first), POOL_ERR_TIMEOUT);
    assert_ok(pool_buffer_destroy(&buffer));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_groups),
        cmocka_unit_test(test_version_2),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_integrated_device),
        cmocka_unit_test(test_two_share_one_account),
    };
    char command[64];
    int failed;

    if (!mkdtemp(root))
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -rf %s", root);
    return system(command) || failed;
}
