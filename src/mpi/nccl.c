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
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

typedef struct ncclComm *nccl_comm;
typedef struct nccl_unique_id {
    char bytes[128];
} nccl_unique_id;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_INT8 = 0 };

/* The members of version 2.14, which later versions complete with their defaults. */
struct nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking;
};
#define NCCL_CONFIG_MAGIC 0xcafebeefu
#define NCCL_CONFIG_VERSION 21400u

struct nccl_functions {
    int (*get_version)(int *version);
    int (*get_unique_id)(nccl_unique_id *id);
    int (*init_rank_config)(
        nccl_comm *comm, int ranks, nccl_unique_id id, int rank, struct nccl_config *config);
    int (*comm_abort)(nccl_comm comm);
    int (*comm_get_async_error)(nccl_comm comm, int *error);
    const char *(*get_error_string)(int error);
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
        {"ncclGroupStart", offsetof(struct nccl_functions, group_start)},
        {"ncclGroupEnd", offsetof(struct nccl_functions, group_end)},
        {"ncclSend", offsetof(struct nccl_functions, send)},
        {"ncclRecv", offsetof(struct nccl_functions, receive)},
    };
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    bool is_complete = library != NULL;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && is_complete; i++) {
        void *symbol = dlsym(library, rows[i].name);

        is_complete = symbol != NULL;
        memcpy((char *)&nccl + rows[i].at, &symbol, sizeof(symbol));
    }
    is_loaded = is_complete;
}

bool group_nccl_is_found(void)
{
    pthread_once(&load_once, load);
    return is_loaded;
}

bool group_device_is_native(pool_device *device)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    int (*get_current)(CUcontext * context) = NULL;
    CUcontext ours = NULL, current = NULL;
    void *symbol;

    if (!driver)
        return false;
    symbol = dlsym(driver, "cuCtxGetCurrent");
    memcpy(&get_current, &symbol, sizeof(symbol));
    if (symbol && !pool_bind(device)) {
        if (pool_device_context(device, &ours) || get_current(&current))
            ours = NULL;
        if (pool_unbind(device))
            ours = NULL;
    }
    dlclose(driver);
    return ours && ours == current;
}

static pool_status fail(const char *call, int code)
{
    return base_fail(
        POOL_ERR_DRIVER, "%s failed with code %d: %s", call, code, nccl.get_error_string(code));
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
    return status ? status : pool_stream_wait(exchange->stream, mpi->timeout_ns);
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
        mpi->failed_rank = mpi->rank; /* for the others: this one cannot exchange any more */
    }
    return status;
}
