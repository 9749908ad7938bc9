/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchanges by NCCL, which is opened at run time; the declarations are those of nccl.h since 2.14,
 * as far as they are used here. Its communicator is non-blocking: every call is polled with a
 * deadline, and a communicator that fails is aborted.
 */
#include "mpi/group.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <devicepool/pool.h>

#include "base/alloc.h"
#include "base/clock.h"

/* The path of the library where the dynamic linker does not find it; "off": it is not used. */
#define LIBRARY_VARIABLE "DEVICEPOOL_NCCL"
#define LIBRARY "libnccl.so.2"

typedef struct ncclComm *nccl_comm;
typedef struct nccl_unique_id {
    char bytes[128];
} nccl_unique_id;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_INT8 = 0 };

/* The members of version 2.14. A later library copies `size` bytes of it, the padding at the end as
 * well, and replaces by their defaults all members that are newer than `version`. */
struct nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
};
#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_CONFIG_VERSION 21400u

/* The ABI of nccl.h on 64-bit hosts. */
_Static_assert(sizeof(nccl_unique_id) == 128, "NCCL_UNIQUE_ID_BYTES");
_Static_assert(offsetof(struct nccl_config, blocking) == 16 && sizeof(struct nccl_config) == 24,
    "ncclConfig_t of version 2.14");

struct nccl_functions {
    int (*get_version)(int *version);
    int (*get_unique_id)(nccl_unique_id *id);
    int (*init_rank_config)(
        nccl_comm *comm, int ranks, nccl_unique_id id, int rank, struct nccl_config *config);
    int (*comm_abort)(nccl_comm comm);
    int (*comm_get_async_error)(nccl_comm comm, int *error);
    const char *(*get_error_string)(int error);
    const char *(*get_last_error)(nccl_comm comm);
    int (*group_start)(void);
    int (*group_end)(void);
    int (*send)(
        const void *data, size_t count, int type, int peer, nccl_comm comm, CUstream stream);
    int (*receive)(void *data, size_t count, int type, int peer, nccl_comm comm, CUstream stream);
};

struct group_nccl {
    nccl_comm comm;
};

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static struct nccl_functions nccl;
static bool is_loaded;
static char why_not[512]; /* it is not loaded */

static void load(void)
{
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        {"ncclGetVersion", offsetof(struct nccl_functions, get_version)},
        {"ncclGetUniqueId", offsetof(struct nccl_functions, get_unique_id)},
        {"ncclCommInitRankConfig", offsetof(struct nccl_functions, init_rank_config)},
        {"ncclCommAbort", offsetof(struct nccl_functions, comm_abort)},
        {"ncclCommGetAsyncError", offsetof(struct nccl_functions, comm_get_async_error)},
        {"ncclGetErrorString", offsetof(struct nccl_functions, get_error_string)},
        {"ncclGetLastError", offsetof(struct nccl_functions, get_last_error)},
        {"ncclGroupStart", offsetof(struct nccl_functions, group_start)},
        {"ncclGroupEnd", offsetof(struct nccl_functions, group_end)},
        {"ncclSend", offsetof(struct nccl_functions, send)},
        {"ncclRecv", offsetof(struct nccl_functions, receive)},
    };
    pool_setting setting = {.struct_size = sizeof(setting)};
    const char *name = LIBRARY;
    void *library;
    int version = 0;

    if (!pool_setting_by_name(LIBRARY_VARIABLE, &setting) && setting.value[0])
        name = setting.value;
    if (strcmp(name, "off") == 0) {
        snprintf(why_not, sizeof(why_not), LIBRARY_VARIABLE " is \"off\"");
        return;
    }
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why_not, sizeof(why_not), "%s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *symbol = dlsym(library, rows[i].name);

        if (!symbol) {
            snprintf(why_not, sizeof(why_not), "%.300s has no function %s", name, rows[i].name);
            return;
        }
        memcpy((char *)&nccl + rows[i].at, &symbol, sizeof(symbol));
    }
    if (nccl.get_version(&version) != NCCL_SUCCESS || version < (int)NCCL_CONFIG_VERSION) {
        snprintf(why_not, sizeof(why_not), "%.300s has version %d, less than 21400", name, version);
        return;
    }
    is_loaded = true;
}

bool group_nccl_is_found(void)
{
    pthread_once(&load_once, load);
    return is_loaded;
}

const char *group_nccl_why_not(void)
{
    return group_nccl_is_found() ? "" : why_not;
}

/* Functions of the CUDA driver in this process, which the library has opened; see the driver API.
 */
struct driver_functions {
    void *library;
    int (*get_current)(CUcontext *context);
    int (*get_device)(int *device);
    int (*get_state)(int device, unsigned *flags, int *is_active);
    int (*retain_primary)(CUcontext *context, int device);
    int (*release_primary)(int device);
};

static bool open_driver(struct driver_functions *driver)
{
    static const struct {
        const char *name;
        size_t at;
    } rows[] = {
        {"cuCtxGetCurrent", offsetof(struct driver_functions, get_current)},
        {"cuCtxGetDevice", offsetof(struct driver_functions, get_device)},
        {"cuDevicePrimaryCtxGetState", offsetof(struct driver_functions, get_state)},
        {"cuDevicePrimaryCtxRetain", offsetof(struct driver_functions, retain_primary)},
        {"cuDevicePrimaryCtxRelease_v2", offsetof(struct driver_functions, release_primary)},
    };

    driver->library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && driver->library; i++) {
        void *symbol = dlsym(driver->library, rows[i].name);

        memcpy((char *)driver + rows[i].at, &symbol, sizeof(symbol));
        if (!symbol) {
            dlclose(driver->library);
            driver->library = NULL;
        }
    }
    return driver->library != NULL;
}

static enum group_context find_context(const struct driver_functions *driver, CUcontext ours)
{
    enum group_context kind = GROUP_CONTEXT_OTHER;
    CUcontext current = NULL, primary = NULL;
    unsigned flags = 0;
    int device, is_active = 0;

    if (driver->get_current(&current) || !current || current != ours || driver->get_device(&device))
        return kind;
    kind = GROUP_CONTEXT_NATIVE;
    /* Retaining it would create it, if ours is another one. */
    if (driver->get_state(device, &flags, &is_active) || !is_active ||
        driver->retain_primary(&primary, device))
        return kind;
    if (primary == ours)
        kind = GROUP_CONTEXT_PRIMARY;
    (void)driver->release_primary(device);
    return kind;
}

enum group_context group_context_kind(pool_device *device)
{
    enum group_context kind = GROUP_CONTEXT_OTHER;
    struct driver_functions driver;
    CUcontext ours = NULL;

    if (!open_driver(&driver))
        return kind;
    if (!pool_bind(device)) {
        if (!pool_device_context(device, &ours))
            kind = find_context(&driver, ours);
        if (pool_unbind(device))
            kind = GROUP_CONTEXT_OTHER;
    }
    dlclose(driver.library);
    return kind;
}

static pool_status fail(const char *call, int code)
{
    const char *detail = nccl.get_last_error(NULL);

    return base_fail(POOL_ERR_DRIVER, "%s failed with code %d: %s: %.1000s", call, code,
        nccl.get_error_string(code), detail ? detail : "");
}

/* Messages of NCCL neither fail nor end when a process has ended: MPI knows. */
static bool is_interrupted(pool_mpi *mpi)
{
    int is_there = 0, code;

    if (!mpi->is_tolerant)
        return false;
    code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi->communicator, &is_there,
        MPI_STATUS_IGNORE); /* progress */
    if (code != MPI_SUCCESS || group_knows_ended(mpi))
        group_interrupt(mpi);
    return mpi->is_interrupted;
}

/* Waits until the communicator has finished what a non-blocking call has begun. */
static pool_status wait_for(pool_mpi *mpi, const char *call, int code)
{
    const uint64_t deadline = group_deadline(mpi, 1);
    int error = code;

    while (error == NCCL_IN_PROGRESS) {
        if (base_clock_ns() > deadline)
            return base_fail(POOL_ERR_TIMEOUT, "%s has not ended for %.1f s", call,
                (double)mpi->timeout_ns / 1e9);
        if (is_interrupted(mpi))
            return base_fail(POOL_ERR_IO, "%s: a process has ended", call);
        base_sleep_ns(20000);
        code = nccl.comm_get_async_error(mpi->nccl->comm, &error);
        if (code != NCCL_SUCCESS)
            return fail("ncclCommGetAsyncError", code);
    }
    return error == NCCL_SUCCESS ? POOL_OK : fail(call, error);
}

static pool_status open_comm(pool_mpi *mpi, const nccl_unique_id *id)
{
    struct nccl_config config = {.size = sizeof(config),
        .magic = NCCL_CONFIG_MAGIC,
        .version = NCCL_CONFIG_VERSION,
        .blocking = 0};
    pool_status status = pool_bind(mpi->device);
    int code;

    if (status)
        return status;
    code = nccl.init_rank_config(&mpi->nccl->comm, mpi->ranks, *id, mpi->rank, &config);
    status = wait_for(mpi, "ncclCommInitRankConfig", code);
    if (status)
        (void)pool_unbind(mpi->device);
    else
        status = pool_unbind(mpi->device);
    return status;
}

pool_status group_nccl_open(pool_mpi *mpi)
{
    nccl_unique_id id = {{0}};
    pool_status status, sent;
    void *message;
    int code = NCCL_SUCCESS;

    mpi->nccl = base_calloc(1, sizeof(*mpi->nccl));
    status = mpi->nccl ? group_buffer_get(mpi, GROUP_SENT, sizeof(id), &message)
                       : base_fail_memory("the communicator of NCCL");
    if (status)
        return status;
    if (mpi->rank == 0)
        code = nccl.get_unique_id(&id);
    memcpy(message, &id, sizeof(id));
    sent = group_broadcast(mpi, message, sizeof(id), 0);
    if (code != NCCL_SUCCESS)
        return fail("ncclGetUniqueId", code);
    if (sent)
        return sent;
    memcpy(&id, message, sizeof(id));
    return open_comm(mpi, &id);
}

void group_nccl_close(pool_mpi *mpi)
{
    if (!mpi->nccl)
        return;
    /* Nothing is enqueued: every exchange has been waited for. Abort needs no other rank. */
    if (mpi->nccl->comm && !pool_bind(mpi->device)) {
        (void)nccl.comm_abort(mpi->nccl->comm);
        (void)pool_unbind(mpi->device);
    }
    base_free(mpi->nccl);
    mpi->nccl = NULL;
}

static int enqueue(pool_mpi *mpi, const struct group_exchange *exchange, CUstream stream,
    CUdeviceptr from, CUdeviceptr to)
{
    int code = nccl.group_start();

    for (int rank = 0; rank < mpi->ranks && code == NCCL_SUCCESS; rank++) {
        const uint64_t at = (uint64_t)rank * exchange->bytes;

        if (rank == mpi->rank)
            continue;
        code = nccl.send((const void *)(uintptr_t)(from + at), exchange->bytes, NCCL_INT8, rank,
            mpi->nccl->comm, stream);
        if (code == NCCL_SUCCESS || code == NCCL_IN_PROGRESS)
            code = nccl.receive((void *)(uintptr_t)(to + at), exchange->bytes, NCCL_INT8, rank,
                mpi->nccl->comm, stream);
        if (code == NCCL_IN_PROGRESS)
            code = NCCL_SUCCESS;
    }
    if (code != NCCL_SUCCESS) {
        (void)nccl.group_end();
        return code;
    }
    return nccl.group_end();
}

/* In slices, where a process that ends is known before the timeout. */
static pool_status wait_for_stream(pool_mpi *mpi, pool_stream *stream)
{
    static const uint64_t slice_ns = 10000000;
    const uint64_t deadline = group_deadline(mpi, 1);
    pool_status status;

    if (!mpi->is_tolerant)
        return pool_stream_wait(stream, mpi->timeout_ns);
    do {
        status = pool_stream_wait(stream, slice_ns);
        if (status == POOL_ERR_TIMEOUT && is_interrupted(mpi))
            return base_fail(POOL_ERR_IO, "ncclSend and ncclRecv: a process has ended");
    } while (status == POOL_ERR_TIMEOUT && base_clock_ns() < deadline);
    return status;
}

static pool_status exchange_bound(pool_mpi *mpi, const struct group_exchange *exchange)
{
    CUdeviceptr from = 0, to = 0;
    CUstream stream = NULL;
    pool_status status = pool_buffer_address(exchange->from, &from);

    if (!status)
        status = pool_buffer_address(exchange->to, &to);
    if (!status)
        status = pool_stream_handle(exchange->stream, &stream);
    if (!status)
        status = wait_for(mpi, "ncclGroupEnd", enqueue(mpi, exchange, stream, from, to));
    return status ? status : wait_for_stream(mpi, exchange->stream);
}

/* After a failure the communicator is aborted, which ends its kernels: regions can be freed. */
pool_status group_nccl_exchange(pool_mpi *mpi, const struct group_exchange *exchange)
{
    pool_status status =
        mpi->nccl ? pool_bind(mpi->device)
                  : base_fail(POOL_ERR_IO, "the communicator of NCCL was aborted after a failure");

    if (status)
        return status;
    status = exchange_bound(mpi, exchange);
    (void)pool_unbind(mpi->device);
    if (status) {
        group_nccl_close(mpi);
        mpi->is_broken = true; /* this rank cannot exchange any more */
    }
    return status;
}
