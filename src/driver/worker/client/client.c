/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of workers of the process: opening, closing, and the functions that need no worker.
 */
#include "driver/worker/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/math.h"
#include "base/processors.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/text.h"
#include "driver/attributes.h"
#include "driver/sim/table/sim.h"

struct client *client;

static struct base_lock open_lock = BASE_LOCK_INIT;
static unsigned opened_count; /* guarded by open_lock */

/* With fewer processors than this, a side that spins takes the time of the other one. */
#define SPIN_PROCESSORS 4
#define SPIN_NS 20000u
#define SHORT_SPIN_NS 500u

/* The pause before the second replacement in a row; it doubles with each further one. */
#define FIRST_PAUSE_MS 100
/* cuInit takes half a second, on a host with many devices some seconds. */
#define START_TIMEOUT_MS 60000
/* Longer than threads wait for a processor on a host with far too much work. */
#define STOP_TIMEOUT_MS 10000

#define LONGEST_MS 86400000 /* of settings: a day */

bool worker_spec_is_workers(const char *devices, const char **rest)
{
    static const char prefix[] = "workers:";

    if (!devices || strncmp(devices, prefix, sizeof(prefix) - 1) != 0)
        return false;
    if (rest)
        *rest = devices + sizeof(prefix) - 1;
    return true;
}

/* --- functions that need no worker ------------------------------------------------------------ */

pool_cu_result client_cu_Init(unsigned int flags)
{
    if (client_in_host_function())
        return POOL_CU_NOT_PERMITTED;
    if (!client || client->fork_generation != driver_fork_generation())
        return POOL_CU_NOT_INITIALIZED;
    if (flags)
        return POOL_CU_INVALID_VALUE;
    atomic_store(&client->is_initialised, true);
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_DriverGetVersion(int *version)
{
    if (!version)
        return POOL_CU_INVALID_VALUE;
    if (!client)
        return POOL_CU_NOT_INITIALIZED;
    *version = client->driver_version;
    return POOL_CU_SUCCESS;
}

static pool_cu_result describe_code(
    pool_cu_result error, const char *lost, const char *known, const char **text)
{
    if (!text)
        return POOL_CU_INVALID_VALUE;
    *text = error == DRIVER_CODE_LOST ? lost : known;
    return *text ? POOL_CU_SUCCESS : POOL_CU_INVALID_VALUE;
}

pool_cu_result client_cu_GetErrorName(pool_cu_result error, const char **name)
{
    const char *known = driver_code_name(error);

    return describe_code(error, "POOL_WORKER_LOST", strchr(known, '?') ? NULL : known, name);
}

pool_cu_result client_cu_GetErrorString(pool_cu_result error, const char **text)
{
    const char *known = driver_code_name(error), *hint = driver_code_hint(error);

    return describe_code(error, "the worker process of the device has ended",
        strchr(known, '?') ? NULL
        : hint[0]          ? hint
                           : known,
        text);
}

pool_cu_result client_cu_DeviceGetCount(int *count)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!count)
        return POOL_CU_INVALID_VALUE;
    *count = (int)client->count;
    return POOL_CU_SUCCESS;
}

static bool is_device(CUdevice device)
{
    return device >= 0 && (unsigned)device < client->count;
}

pool_cu_result client_cu_DeviceGet(CUdevice *device, int ordinal)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!device)
        return POOL_CU_INVALID_VALUE;
    if (!is_device(ordinal))
        return POOL_CU_INVALID_DEVICE;
    *device = ordinal;
    return POOL_CU_SUCCESS;
}

/* [domain:]bus:device[.function], in hexadecimal. */
static bool parse_address(const char *text, unsigned address[4])
{
    int end = 0;

    address[3] = 0;
    if (sscanf(text, "%x:%x:%x.%x%n", &address[0], &address[1], &address[2], &address[3], &end) ==
        4)
        return !text[end];
    if (sscanf(text, "%x:%x:%x%n", &address[0], &address[1], &address[2], &end) == 3)
        return !text[end];
    address[0] = 0;
    if (sscanf(text, "%x:%x.%x%n", &address[1], &address[2], &address[3], &end) == 3)
        return !text[end];
    return sscanf(text, "%x:%x%n", &address[1], &address[2], &end) == 2 && !text[end];
}

pool_cu_result client_cu_DeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    unsigned wanted[4], found[4];
    char own[64];
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!device || !text || !parse_address(text, wanted))
        return POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < client->count; i++) {
        code = client_cu_DeviceGetPCIBusId(own, sizeof(own), (CUdevice)i);
        if (code)
            return code;
        if (parse_address(own, found) && memcmp(wanted, found, sizeof(found)) == 0) {
            *device = (CUdevice)i;
            return POOL_CU_SUCCESS;
        }
    }
    return POOL_CU_INVALID_DEVICE;
}

/* Kernels of a worker cannot access another worker's memory. */
pool_cu_result client_cu_DeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!can_access)
        return POOL_CU_INVALID_VALUE;
    if (!is_device(device) || !is_device(peer))
        return POOL_CU_INVALID_DEVICE;
    *can_access = 0;
    return POOL_CU_SUCCESS;
}

pool_cu_result client_cu_DeviceGetP2PAttribute(
    int *value, pool_cu_enum attribute, CUdevice source, CUdevice destination)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    if (!value)
        return POOL_CU_INVALID_VALUE;
    if (!is_device(source) || !is_device(destination) || source == destination)
        return POOL_CU_INVALID_DEVICE;
    if (attribute < DRIVER_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attribute > DRIVER_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return POOL_CU_INVALID_VALUE;
    *value = 0;
    return POOL_CU_SUCCESS;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void fill_table(struct client *opened, uint64_t flags, const uint64_t functions[4])
{
    unsigned number = 0;

    opened->table.struct_size = sizeof(opened->table);
    opened->table.flags = flags | POOL_CUDA_ISOLATED_DEVICES;
#define FILL(field, symbol, suffix, version, need, parameters)                                     \
    if (functions[number / 64] >> number % 64 & 1)                                                 \
        opened->table.field = client_cu_##field;                                                   \
    number++;
    POOL_CUDA_FUNCTIONS(FILL)
#undef FILL
}

static pool_status create_workers(struct client *opened, unsigned count)
{
    opened->workers = base_aligned_calloc(128, count * sizeof(*opened->workers));
    if (!opened->workers)
        return base_fail_memory("the workers");
    opened->count = count;
    if (!client_windows_create(opened)) {
        opened->count = 0;
        return base_fail_memory("the workers");
    }
    for (unsigned i = 0; i < count; i++) {
        struct client_worker *worker = &opened->workers[i];

        worker->ordinal = (int)i;
        worker->control = worker->process = worker->lifeline = worker->passing = -1;
        pthread_mutex_init(&worker->primary_lock, NULL);
        pthread_mutex_init(&worker->pass_lock, NULL);
        pthread_mutex_init(&worker->lock, NULL);
        for (unsigned j = 0; j < WORKER_RINGS; j++)
            pthread_mutex_init(&worker->rings[j].mutex, NULL);
    }
    return POOL_OK;
}

static pool_status open_simulated(struct client *opened)
{
    const pool_cuda_api *table = sim_driver_table();
    const uint64_t all[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    struct sim_config config;
    pool_status status = sim_config_parse(opened->devices, &config);

    if (status)
        return status;
    opened->is_simulated = true;
    fill_table(opened, table->flags, all);
    table->DriverGetVersion(&opened->driver_version);
    for (uint32_t i = 0; i < config.device_count; i++)
        opened->device_bytes = base_max(opened->device_bytes, config.devices[i].memory_bytes);
    return create_workers(opened, config.device_count);
}

/* The report of the worker program's --list: numbers, then a line with the UUID of each device. */
static pool_status read_list(struct client *opened, char *text)
{
    char uuids[WORKER_MAX_DEVICES][64], *line, *rest = NULL;
    uint64_t functions[4];
    unsigned count = 0, flags = 0;
    pool_status status;

    line = strtok_r(text, "\n", &rest);
    if (!line || sscanf(line, "devices %d %x %llx %llx %llx %llx", &opened->driver_version, &flags,
                     (unsigned long long *)&functions[0], (unsigned long long *)&functions[1],
                     (unsigned long long *)&functions[2], (unsigned long long *)&functions[3]) != 6)
        return base_fail(POOL_ERR_NO_DRIVER, "no driver for worker processes: %.800s",
            line ? line : "the worker program has reported nothing");
    while (count < WORKER_MAX_DEVICES && (line = strtok_r(NULL, "\n", &rest)))
        snprintf(uuids[count++], sizeof(uuids[0]), "%.63s", line);
    if (!count)
        return base_fail(POOL_ERR_NO_DEVICE, "the driver reports no device to worker processes");
    fill_table(opened, flags, functions);
    status = create_workers(opened, count);
    for (unsigned i = 0; i < count && !status; i++)
        memcpy(opened->workers[i].uuid, uuids[i], sizeof(uuids[i]));
    return status;
}

static pool_status open_real(struct client *opened)
{
    char text[8192];
    pool_status status = client_list_devices(opened, text, sizeof(text));

    return status ? status : read_list(opened, text);
}

static void free_client(struct client *closing)
{
    for (unsigned i = 0; i < closing->count; i++) {
        struct client_worker *worker = &closing->workers[i];

        client_kernels_free(worker);
        if (worker->shared)
            munmap(worker->shared, sizeof(*worker->shared));
        if (worker->control >= 0)
            close(worker->control);
        if (worker->passing >= 0)
            close(worker->passing);
        pthread_mutex_destroy(&worker->primary_lock);
        pthread_mutex_destroy(&worker->pass_lock);
        pthread_mutex_destroy(&worker->lock);
        for (unsigned j = 0; j < WORKER_RINGS; j++)
            pthread_mutex_destroy(&worker->rings[j].mutex);
    }
    client_windows_free(closing);
    client_arena_close(closing);
    if (closing->wake >= 0)
        close(closing->wake);
    worker_layouts_free(&closing->layouts);
    pthread_rwlock_destroy(&closing->memory_lock);
    pthread_mutex_destroy(&closing->lock);
    pthread_cond_destroy(&closing->changed);
    base_free(closing->workers);
    base_free(closing);
}

static pool_status create_client(const char *devices, struct client **created)
{
    struct client *opened = base_calloc(1, sizeof(*opened));
    const char *synchronous = base_setting(BASE_SETTING_WORKERS_SYNCHRONOUS);
    uint64_t pause = FIRST_PAUSE_MS, start = START_TIMEOUT_MS, stop = STOP_TIMEOUT_MS;
    pool_status status = opened ? POOL_OK : base_fail_memory("worker processes");

    if (!status && synchronous && strcmp(synchronous, "0") != 0 && strcmp(synchronous, "1") != 0)
        status = base_setting_refuse(BASE_SETTING_WORKERS_SYNCHRONOUS, "0 or 1");
    if (!status)
        status = base_setting_number(BASE_SETTING_WORKER_PAUSE_MS, 0, LONGEST_MS, &pause);
    if (!status)
        status = base_setting_number(BASE_SETTING_WORKER_START_MS, 1, LONGEST_MS, &start);
    if (!status)
        status = base_setting_number(BASE_SETTING_WORKER_STOPPED_MS, 0, LONGEST_MS, &stop);
    if (status) {
        base_free(opened);
        return status;
    }
    opened->arena = opened->wake = -1;
    opened->fork_generation = driver_fork_generation();
    opened->number = ++opened_count;
    opened->is_synchronous = synchronous && strcmp(synchronous, "0") != 0;
    opened->pause_ns = pause * 1000000;
    opened->start_timeout_ns = start * 1000000;
    opened->stop_timeout_ns = stop * 1000000;
    opened->spin_ns = base_processors() >= SPIN_PROCESSORS ? SPIN_NS : SHORT_SPIN_NS;
    opened->spinners = base_processors() / SPIN_PROCESSORS;
    snprintf(opened->devices, sizeof(opened->devices), "%s", devices);
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->changed, NULL);
    pthread_rwlock_init(&opened->memory_lock, NULL);
    worker_layouts_init(&opened->layouts);
    status = client_find_program(opened->program, sizeof(opened->program));
    if (!status)
        status = devices[0] ? open_simulated(opened) : open_real(opened);
    if (!status)
        status = client_arena_open(opened);
    if (!status)
        status = client_supervise(opened);
    if (status) {
        free_client(opened);
        return status;
    }
    *created = opened;
    return POOL_OK;
}

/* Threads that used earlier workers end beside this one. */
static pool_status open_client(const char *devices)
{
    struct client *opened = NULL;
    pool_status status = create_client(devices, &opened);

    if (status)
        return status;
    call_lock_threads();
    client = opened;
    call_unlock_threads();
    return POOL_OK;
}

pool_status worker_open(const char *devices, const pool_cuda_api **table)
{
    const char *key = sim_spec_is_sim(devices) ? devices : "";
    pool_status status = POOL_OK;

    if (strlen(key) >= sizeof(((struct client *)0)->devices))
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "the device string \"workers:%.40s…\" is longer than %zu bytes", key,
            sizeof(((struct client *)0)->devices) - 1);
    base_lock(&open_lock);
    if (client && client->fork_generation != driver_fork_generation())
        status = base_fail(POOL_ERR_FORKED,
            "worker processes were in use before fork(): they do not work in the child");
    else if (client && strcmp(client->devices, key) != 0)
        status = base_fail(POOL_ERR_BUSY,
            "the process already has worker processes for \"%s\"; \"%s\" has to wait until every "
            "pool with them is destroyed",
            client->devices[0] ? client->devices : "all", devices);
    else if (!client)
        status = open_client(key);
    if (!status) {
        client->references++;
        *table = &client->table;
    }
    base_unlock(&open_lock);
    return status;
}

void worker_set_spin(uint64_t spin_ns)
{
    base_lock(&open_lock);
    if (client && spin_ns > atomic_load(&client->long_spin_ns)) {
        atomic_store(&client->long_spin_ns, spin_ns);
        for (unsigned i = 0; i < client->count; i++) {
            struct client_worker *worker = &client->workers[i];

            pthread_mutex_lock(&worker->lock);
            if (worker->shared)
                atomic_store(&worker->shared->long_spin_ns, spin_ns);
            pthread_mutex_unlock(&worker->lock);
        }
    }
    base_unlock(&open_lock);
}

void worker_close(void)
{
    struct client *closing = NULL;

    base_lock(&open_lock);
    if (client && client->fork_generation == driver_fork_generation() && --client->references == 0)
        closing = client;
    if (closing) {
        client_supervise_end(closing);
        call_lock_threads();
        client = NULL;
        call_unlock_threads();
        free_client(closing);
    }
    base_unlock(&open_lock);
}

pool_status worker_start(const int *ordinals, size_t count)
{
    pool_status status = POOL_OK;

    for (size_t i = 0; i < count; i++)
        client_want(&client->workers[ordinals[i]]);
    for (size_t i = 0; i < count; i++) {
        pool_status started = client_wait_ready(&client->workers[ordinals[i]]);

        status = status ? status : started;
    }
    return status;
}
