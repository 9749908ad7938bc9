/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plug-in host does: opens libdevicepool.so at run time, calls it by symbols from the main
 * thread and one that was started before, reads each thread's own error and closes the library.
 * usage: test_abi_dlopen LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <devicepool.h>

static struct functions {
    const pool_error *(*last_error)(void);
    void (*params_init)(pool_params *params, size_t struct_size);
    pool_status (*create)(device_pool **pool, const pool_params *params);
    pool_status (*destroy)(device_pool **pool);
    pool_status (*next_device)(device_pool *pool, pool_device **device);
} functions;

static pthread_barrier_t opened;

/* dlsym returns an object pointer, which ISO C does not convert to a function pointer. */
static int look_up(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof(symbol));
    if (!symbol)
        fprintf(stderr, "%s\n", dlerror());
    return !symbol;
}

static int check_error(const char *device)
{
    device_pool *pool = NULL;
    pool_params params;
    pool_status status;

    if (functions.last_error()->status != POOL_OK)
        return 1;
    functions.params_init(&params, sizeof(params));
    params.devices = device;
    status = functions.create(&pool, &params);
    if (status == POOL_OK || functions.last_error()->status != status ||
        !strstr(functions.last_error()->message, device + strlen("sim:"))) {
        fprintf(stderr, "error of %s: %s\n", device, functions.last_error()->message);
        return 1;
    }
    return 0;
}

static int use_devices(void)
{
    device_pool *pool = NULL;
    pool_device *device = NULL;
    pool_params params;

    functions.params_init(&params, sizeof(params));
    params.devices = "sim:2";
    return functions.create(&pool, &params) || functions.next_device(pool, &device) ||
           functions.destroy(&pool);
}

/* A thread that is older than the library has no storage for it yet. */
static void *older_thread(void *failed)
{
    pthread_barrier_wait(&opened);
    *(int *)failed = check_error("sim:older");
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    int thread_failed = 1;
    void *library;
    int failed;

    if (count != 2 || pthread_barrier_init(&opened, NULL, 2) ||
        pthread_create(&thread, NULL, older_thread, &thread_failed))
        return 2;
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    failed = look_up(library, "pool_last_error", &functions.last_error) |
             look_up(library, "pool_params_init", &functions.params_init) |
             look_up(library, "pool_create", &functions.create) |
             look_up(library, "pool_destroy", &functions.destroy) |
             look_up(library, "pool_next_device", &functions.next_device);
    if (failed)
        return 1;
    pthread_barrier_wait(&opened);
    pthread_join(thread, NULL);
    if (thread_failed || check_error("sim:main") || use_devices() || dlclose(library))
        return 1;
    printf("opened, used from two threads, closed\n");
    return 0;
}
