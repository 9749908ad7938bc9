/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator of ranks with pools: creation, the choice of the transport, properties, the end.
 */
#include "mpi/group.h"

#include <stdio.h>
#include <string.h>

#include <devicepool/pool.h>

#include "base/alloc.h"
#include "base/clock.h"

static const struct base_struct pool_mpi_params_type = BASE_STRUCT(pool_mpi_params);
static const struct base_struct pool_mpi_info_type = BASE_STRUCT(pool_mpi_info);

#define DEFAULT_TIMEOUT_NS (UINT64_C(120) * 1000000000)
#define DEFAULT_CHUNK_BYTES (UINT64_C(4) << 20)
#define MAX_CHUNK_BYTES (UINT64_C(1) << 30)

static const char *const transport_names[] = {"default", "host", "cuda", "nccl"};
enum { TRANSPORTS = 4 };

void pool_mpi_params_init(pool_mpi_params *params, size_t struct_size)
{
    base_struct_init(params, struct_size);
}

const char *pool_mpi_transport_name(pool_mpi_transport transport)
{
    return (size_t)transport < TRANSPORTS ? transport_names[transport] : "?";
}

/* ---- params ---------------------------------------------------------------------------------- */

static pool_status read_environment(pool_mpi_params *params)
{
    pool_setting setting = {.struct_size = sizeof(setting)};
    pool_status status = pool_setting_by_name("DEVICEPOOL_MPI_TRANSPORT", &setting);
    const char *name = setting.value;

    if (status || !*name)
        return status;
    for (uint32_t i = 0; i < TRANSPORTS; i++)
        if (strcmp(name, transport_names[i]) == 0) {
            params->transport = (pool_mpi_transport)i;
            return POOL_OK;
        }
    return base_fail(POOL_ERR_INVALID_ARGUMENT,
        "pool_mpi_create: DEVICEPOOL_MPI_TRANSPORT is \"%.64s\"; it can be host, cuda, nccl or "
        "default",
        name);
}

static pool_status read_params(const pool_mpi_params *given, pool_mpi_params *params)
{
    static const char call[] = "pool_mpi_create";
    pool_status status = base_struct_read(&pool_mpi_params_type, call, "params", given, params);

    if (!status && !params->device == !params->pool)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: params must have either a device or a pool, of which the device is chosen", call);
    if (!status)
        status = read_environment(params);
    if (!status)
        status = base_check_ranges(call, {"transport", (int64_t)params->transport, 0, 3},
            {"reserved", params->reserved, 0, 0},
            {"chunk_bytes", (int64_t)params->chunk_bytes, 0, (int64_t)MAX_CHUNK_BYTES});
    if (!status && params->chunk_bytes % 4)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: %llu for `chunk_bytes` is not a multiple of 4", call,
            (unsigned long long)params->chunk_bytes);
    return status;
}

/* ---- the communicator ------------------------------------------------------------------------ */

static pool_status check_communicator(MPI_Comm communicator)
{
    int is_initialized = 0, is_finalized = 0, is_inter = 0;

    if (MPI_Initialized(&is_initialized) != MPI_SUCCESS || !is_initialized)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_mpi_create: MPI is not initialised; call MPI_Init_thread first");
    if (MPI_Finalized(&is_finalized) != MPI_SUCCESS || is_finalized)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_mpi_create: MPI_Finalize has been called already");
    if (communicator == MPI_COMM_NULL)
        return base_fail(
            POOL_ERR_INVALID_ARGUMENT, "pool_mpi_create: communicator must not be MPI_COMM_NULL");
    if (MPI_Comm_test_inter(communicator, &is_inter) != MPI_SUCCESS || is_inter)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_mpi_create: communicator is an intercommunicator; merge it first");
    return POOL_OK;
}

static pool_status duplicate_plain(pool_mpi *mpi, MPI_Comm communicator, uint64_t deadline)
{
    struct group_handlers handlers;
    MPI_Request request;
    bool is_over = true;
    int code;

    group_handlers_replace(&handlers, communicator);
    code = MPI_Comm_idup(communicator, &mpi->communicator, &request);
    if (code == MPI_SUCCESS)
        is_over = group_poll(&request, deadline, &code);
    group_handlers_restore(&handlers);
    if (!is_over)
        return POOL_ERR_TIMEOUT;
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPI_Comm_idup", code, -1);
    code = MPI_Comm_set_errhandler(mpi->communicator, MPI_ERRORS_RETURN);
    return code == MPI_SUCCESS ? POOL_OK : group_fail_mpi(mpi, "MPI_Comm_set_errhandler", code, -1);
}

static pool_status duplicate(pool_mpi *mpi, MPI_Comm communicator)
{
    const uint64_t deadline = group_deadline(mpi, 3);
    int code = MPI_Comm_rank(communicator, &mpi->rank);
    pool_status status;

    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(communicator, &mpi->ranks);
    if (code != MPI_SUCCESS)
        return group_fail_mpi(mpi, "MPI_Comm_rank", code, -1);
    mpi->is_tolerant = group_is_tolerant();
    status = mpi->is_tolerant ? group_duplicate_tolerant(mpi, communicator, deadline)
                              : duplicate_plain(mpi, communicator, deadline);
    if (status == POOL_ERR_TIMEOUT)
        return base_fail(status,
            "pool_mpi_create: the communicator has not been duplicated for %.0f s: every rank of "
            "it has to call pool_mpi_create",
            3e-9 * (double)mpi->timeout_ns);
    return status;
}

static pool_mpi_transport best_transport(uint32_t common)
{
    for (uint32_t i = TRANSPORTS - 1; i > POOL_MPI_TRANSPORT_HOST; i--)
        if (common >> i & 1)
            return (pool_mpi_transport)i;
    return POOL_MPI_TRANSPORT_HOST;
}

/* Why this rank may lack the transport; what the others lack is on them to say. */
static const char *needs_of(pool_mpi_transport transport)
{
    if (transport != POOL_MPI_TRANSPORT_NCCL)
        return "this MPI library does not say that it is CUDA-aware, or the device is simulated or "
               "in a worker process";
    return group_nccl_is_found() ? "it needs the primary context of a device of its own for every "
                                   "rank, neither simulated nor in a worker process"
                                 : group_nccl_why_not();
}

static pool_status choose_transport(
    pool_mpi *mpi, const struct group_call *call, pool_mpi_transport wanted)
{
    const uint32_t common = mpi->common;
    pool_status status = POOL_OK;

    mpi->transport = wanted ? wanted : best_transport(common);
    if (!(common >> mpi->transport & 1))
        return base_fail(POOL_ERR_UNSUPPORTED,
            "pool_mpi_create: not every rank has the transport %s; on rank %d: %s",
            transport_names[mpi->transport], mpi->rank,
            mpi->able >> mpi->transport & 1 ? "it is there" : needs_of(mpi->transport));
    if (mpi->transport != POOL_MPI_TRANSPORT_NCCL)
        return POOL_OK;
    status = group_agree(mpi, call, group_nccl_open(mpi));
    if (!status || wanted || mpi->status)
        return status;
    group_nccl_close(mpi); /* two ranks on one GPU, for example */
    mpi->transport = best_transport(common & ~(1u << POOL_MPI_TRANSPORT_NCCL));
    return POOL_OK;
}

static pool_status open_group(pool_mpi *mpi, const pool_mpi_params *params, pool_status status)
{
    struct group_call call = {.name = "pool_mpi_create", .operation = GROUP_CREATE};
    pool_status opened = group_agree_open(mpi);

    if (opened)
        return opened;
    group_call_add(&call, "transport", (uint64_t)params->transport);
    group_call_add(&call, "timeout_ns", mpi->timeout_ns);
    group_call_add(&call, "chunk_bytes", mpi->chunk_bytes);
    status = group_agree(mpi, &call, status);
    if (status)
        return status;
    status = group_find_local_rank(mpi);
    if (!status)
        status = group_choose_device(mpi, params);
    if (!status)
        mpi->able = group_transports(mpi);
    status = group_agree(mpi, &call, status);
    return status ? status : choose_transport(mpi, &call, params->transport);
}

/* Where processes may end meanwhile: all ranks that are left have created it, or none has. */
static pool_status agree_on_creation(pool_mpi *mpi, pool_status status)
{
    enum { TIMEOUTS = 2 };
    pool_status settled;

    if (!mpi->is_tolerant || mpi->status)
        return status;
    if (status)
        snprintf(mpi->outcome, sizeof(mpi->outcome), "%s", pool_last_error()->message);
    settled = group_settle(mpi, "pool_mpi_create", !status, group_deadline(mpi, TIMEOUTS));
    if (status && settled == POOL_ERR_IO && mpi->failed_rank < 0)
        return group_fail_outcome(mpi, status); /* of all ranks, none of which is gone */
    if (settled)
        group_latch(mpi, settled);
    return settled;
}

/* Memory that MPI may still write to stays allocated. */
static void free_group(pool_mpi *mpi)
{
    group_exchange_close(mpi);
    group_nccl_close(mpi);
    if (!mpi->status) {
        group_agree_close(mpi);
        for (int i = 0; i < GROUP_BUFFERS; i++)
            base_free(mpi->buffer[i].data);
        if (mpi->communicator != MPI_COMM_NULL)
            MPI_Comm_free(&mpi->communicator);
    }
    if (!mpi->agreement.is_pending)
        base_free(mpi);
}

pool_status group_create(
    MPI_Comm communicator, const pool_mpi_params *params, const int *numbers, pool_mpi **mpi)
{
    pool_mpi_params known = {0};
    pool_status status, valid = read_params(params, &known);
    pool_mpi *created = base_calloc(1, sizeof(*created));

    if (!created)
        return base_fail_memory("a communicator");
    created->communicator = MPI_COMM_NULL;
    created->failed_rank = -1;
    created->numbers = numbers;
    created->device = known.device;
    created->wanted = known.transport;
    created->timeout_ns = known.timeout_ns ? known.timeout_ns : DEFAULT_TIMEOUT_NS;
    created->chunk_bytes = known.chunk_bytes ? known.chunk_bytes : DEFAULT_CHUNK_BYTES;
    created->host = group_host();
    status = duplicate(created, communicator);
    if (status == POOL_ERR_TIMEOUT) /* MPI may still write to it */
        return status;
    if (status) {
        base_free(created);
        return status;
    }
    if (valid) /* again, because it has to be the thread's last one */
        valid = read_params(params, &known);
    status = agree_on_creation(created, open_group(created, &known, valid));
    created->numbers = NULL;
    if (status) {
        free_group(created);
        return status;
    }
    if (created->warning[0] && created->rank == 0)
        pool_log_write(POOL_LOG_WARN, created->warning);
    *mpi = created;
    return POOL_OK;
}

pool_status pool_mpi_create(MPI_Comm communicator, const pool_mpi_params *params, pool_mpi **mpi)
{
    pool_status status =
        mpi ? check_communicator(communicator) : base_fail_null("pool_mpi_create", "mpi");

    return status ? status : group_create(communicator, params, NULL, mpi);
}

pool_status pool_mpi_destroy(pool_mpi **mpi)
{
    int is_finalized = 0;

    if (!mpi || !*mpi)
        return POOL_OK;
    if (MPI_Finalized(&is_finalized) == MPI_SUCCESS && is_finalized)
        return base_fail(POOL_ERR_INVALID_ARGUMENT,
            "pool_mpi_destroy: MPI_Finalize has been called already; destroy it before");
    free_group(*mpi);
    *mpi = NULL;
    return POOL_OK;
}

/* ---- properties ------------------------------------------------------------------------------ */

static void describe_library(pool_mpi_info *info)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;

    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return;
    text[strcspn(text, "\n")] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\t')
            *at = ' ';
    snprintf(info->library, sizeof(info->library), "%.255s", text);
}

pool_status pool_mpi_get_info(const pool_mpi *mpi, pool_mpi_info *info)
{
    static const char call[] = "pool_mpi_get_info";
    pool_mpi_info known = {.struct_size = sizeof(known)};
    pool_status status = mpi ? POOL_OK : base_fail_null(call, "mpi");

    if (!status)
        status = base_struct_check(&pool_mpi_info_type, call, "info", info);
    if (status)
        return status;
    known.rank = mpi->rank;
    known.ranks = mpi->ranks;
    known.transport = mpi->transport;
    known.status = mpi->status;
    known.failed_rank = mpi->failed_rank;
    known.device = mpi->device;
    known.local_rank = mpi->local_rank;
    known.local_ranks = mpi->local_ranks;
    memcpy(known.warning, mpi->warning, sizeof(known.warning));
    describe_library(&known);
    for (uint32_t i = POOL_MPI_TRANSPORT_HOST; i < TRANSPORTS; i++)
        if (mpi->able >> i & 1)
            snprintf(known.transports + strlen(known.transports),
                sizeof(known.transports) - strlen(known.transports), "%s%s",
                known.transports[0] ? " " : "", transport_names[i]);
    base_struct_write(&pool_mpi_info_type, &known, info);
    return POOL_OK;
}
