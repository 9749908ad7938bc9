/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of the simulated driver: argument validation, execution, statistics, and the conversion
 * of a kernel's fault to the sticky fault.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/math.h"
#include "base/text.h"
#include "driver/sim/table/function.h"
#include "driver/sim/table/state.h"

/* Keys of the `extra` argument. */
#define EXTRA_END ((void *)0)
#define EXTRA_BUFFER ((void *)1)
#define EXTRA_SIZE ((void *)2)

/* ---- validation ------------------------------------------------------------------------------ */

static pool_cu_result check_shape(const struct sim_launch_request *work)
{
    static const uint32_t grid_most[3] = {0x7fffffff, 65535, 65535};
    static const uint32_t block_most[3] = {1024, 1024, 64};
    const struct sim_function_object *function = work->function;
    const uint32_t *required = function->kernel->required_block;
    uint64_t threads = 1;

    for (int axis = 0; axis < 3; axis++) {
        if (work->grid[axis] == 0 || work->grid[axis] > grid_most[axis] || work->block[axis] == 0 ||
            work->block[axis] > block_most[axis])
            return POOL_CU_INVALID_VALUE;
        threads *= work->block[axis];
    }
    if (threads > SIM_BLOCK_THREADS)
        return POOL_CU_INVALID_VALUE;
    if (required[0] && memcmp(required, work->block, sizeof(work->block)) != 0)
        return POOL_CU_INVALID_VALUE;
    if (work->dynamic_shared_bytes > (uint32_t)function->max_dynamic_shared)
        return POOL_CU_INVALID_VALUE;
    if (threads > function->kernel->max_threads) /* .maxntid */
        return POOL_CU_INVALID_VALUE;
    if (threads > (uint64_t)sim_function_max_threads(function))
        return POOL_CU_LAUNCH_OUT_OF_RESOURCES;
    if (!work->is_cooperative)
        return POOL_CU_SUCCESS;
    uint64_t resident =
        (uint64_t)sim_function_blocks(function, (int)threads, work->dynamic_shared_bytes) *
        sim_config_of(function->module->context->device)->multiprocessors;
    uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
    return blocks > resident ? POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE : POOL_CU_SUCCESS;
}

/* Finds the packed argument buffer in the `extra` argument. */
static pool_cu_result find_packed_arguments(void **extra, const void **buffer, size_t *bytes)
{
    const size_t *size = NULL;

    *buffer = NULL;
    for (size_t at = 0; extra[at] != EXTRA_END; at += 2) {
        if (extra[at] == EXTRA_BUFFER)
            *buffer = extra[at + 1];
        else if (extra[at] == EXTRA_SIZE)
            size = extra[at + 1];
        else
            return POOL_CU_INVALID_VALUE;
    }
    if (!*buffer || !size)
        return POOL_CU_INVALID_VALUE;
    *bytes = *size;
    return POOL_CU_SUCCESS;
}

/* Copies the arguments: the caller may reuse their memory after the call. */
static pool_cu_result copy_arguments(
    struct sim_launch_request *work, void **arguments, void **extra)
{
    const struct sim_kernel *kernel = work->function->kernel;
    const void *buffer = NULL;
    size_t bytes = 0;

    if ((arguments && extra) || (!arguments && !extra && kernel->parameter_count > 0))
        return POOL_CU_INVALID_VALUE;
    if (extra && find_packed_arguments(extra, &buffer, &bytes))
        return POOL_CU_INVALID_VALUE;
    if (extra && bytes != kernel->parameter_bytes)
        return POOL_CU_INVALID_VALUE;
    for (uint32_t at = 0; arguments && at < kernel->parameter_count; at++) {
        if (!arguments[at])
            return POOL_CU_INVALID_VALUE;
    }
    work->parameters = base_calloc(1, kernel->parameter_bytes ? kernel->parameter_bytes : 1);
    if (!work->parameters)
        return POOL_CU_OUT_OF_MEMORY;
    if (extra)
        memcpy(work->parameters, buffer, bytes);
    for (uint32_t at = 0; arguments && at < kernel->parameter_count; at++)
        memcpy((char *)work->parameters + kernel->parameters[at].offset, arguments[at],
            kernel->parameters[at].size);
    return POOL_CU_SUCCESS;
}

/* A kernel and a stream of one context may be combined whatever context is current. */
static pool_cu_result find_stream(const struct sim_call *call,
    const struct sim_function_object *function, CUstream handle, struct sim_stream **stream)
{
    pool_cu_result code = POOL_CU_SUCCESS;

    *stream = sim_handle_get(SIM_HANDLE_STREAM, handle);
    if (!*stream && !call->scope->is_alive) /* a green context that ended during a wait */
        code = POOL_CU_CONTEXT_IS_DESTROYED;
    else if (!*stream)
        code = sim_stream_of(call->scope, handle, stream);
    if (!code && function->module->context != (*stream)->context->root)
        code = POOL_CU_INVALID_HANDLE;
    return code;
}

static bool may_launch(const struct sim_context *context, uint64_t value)
{
    (void)value;
    return !context->launch_blocks;
}

/*
 * As on a GPU, a launch waits while another thread waits in certain calls, and the first launch of
 * a kernel that needs more local memory than all before waits for all work of the context. *waits
 * is false when nothing had to be waited for, and
 * the kernel and the stream of the launch are therefore those that they were.
 */
static pool_cu_result wait_to_launch(
    const struct sim_function_object *function, const struct sim_stream *stream, bool *waits)
{
    struct sim_context *context = stream->context->root;
    const uint64_t local_bytes = function->kernel->local_bytes;
    pool_cu_result code;

    *waits = false;
    if (!sim_state.config.has_waits || stream->capture)
        return POOL_CU_SUCCESS; /* a captured launch only becomes a part of the graph */
    *waits = true;
    if (context->launch_blocks)
        return sim_context_wait(context, may_launch, 0);
    if (local_bytes > context->local_bytes) {
        code = sim_context_wait_for_work(context, false);
        if (!code)
            context->local_bytes = base_max(context->local_bytes, local_bytes);
        return code;
    }
    *waits = false;
    return POOL_CU_SUCCESS;
}

static pool_cu_result launch(enum sim_driver_function name, CUfunction handle,
    const struct sim_launch_request *shape, CUstream stream_handle, void **arguments, void **extra)
{
    struct sim_function_object *function;
    struct sim_stream *stream;
    struct sim_call call;
    struct sim_work *work;
    bool waits = true;
    pool_cu_result code = sim_function_enter(&call, name, handle, &function);

    if (code)
        return code;
    while (!code && waits) {
        code = find_stream(&call, function, stream_handle, &stream);
        if (!code)
            code = wait_to_launch(function, stream, &waits);
        if (!code && waits) { /* they may have been destroyed meanwhile */
            function = sim_handle_get(SIM_HANDLE_KERNEL, handle);
            code = function ? POOL_CU_SUCCESS : POOL_CU_INVALID_HANDLE;
        }
    }
    if (code)
        return sim_leave(code);
    work = sim_work_create(SIM_WORK_LAUNCH);
    if (!work)
        return sim_leave(POOL_CU_OUT_OF_MEMORY);
    work->u.launch = *shape;
    work->u.launch.function = function;
    work->u.launch.module = function->module;
    work->u.launch.scope = stream->context;
    if (!shape->has_priority)
        work->u.launch.priority = stream->priority;
    code = check_shape(&work->u.launch);
    if (!code)
        code = copy_arguments(&work->u.launch, arguments, extra);
    if (code) {
        sim_work_free(work);
        return sim_leave(code);
    }
    return sim_leave(sim_enqueue(&call, stream, work));
}

pool_cu_result sim_cu_LaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
    unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
    unsigned int dynamic_shared_bytes, CUstream stream, void **arguments, void **extra)
{
    const struct sim_launch_request shape = {.grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared_bytes = dynamic_shared_bytes};

    return launch(SIM_CU_LaunchKernel, function, &shape, stream, arguments, extra);
}

pool_cu_result sim_cu_LaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
    unsigned int block_z, unsigned int dynamic_shared_bytes, CUstream stream, void **arguments)
{
    const struct sim_launch_request shape = {.grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared_bytes = dynamic_shared_bytes,
        .is_cooperative = true};

    return launch(SIM_CU_LaunchCooperativeKernel, function, &shape, stream, arguments, NULL);
}

/* Programmatic dependent launch has no effect. Clusters of one block are what launches without
 * clusters have; larger ones would need barriers and distributed shared memory between blocks,
 * which the executor does not have. */
static pool_cu_result read_attributes(
    const pool_cu_launch_config *config, struct sim_launch_request *shape)
{
    if (config->attribute_count && !config->attributes)
        return POOL_CU_INVALID_VALUE;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const pool_cu_launch_attribute *attribute = &config->attributes[i];

        if (attribute->id == DRIVER_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            const unsigned *cluster = attribute->value.cluster;

            if (cluster[0] != 1 || cluster[1] != 1 || cluster[2] != 1)
                return POOL_CU_NOT_SUPPORTED;
            continue;
        }
        if (attribute->id == DRIVER_LAUNCH_ATTRIBUTE_PRIORITY) {
            shape->has_priority = true;
            shape->priority = sim_clamp_priority(attribute->value.number);
        } else if (attribute->id == DRIVER_LAUNCH_ATTRIBUTE_COOPERATIVE)
            shape->is_cooperative = attribute->value.number != 0;
        else if (attribute->id != DRIVER_LAUNCH_ATTRIBUTE_IGNORE &&
                 attribute->id != DRIVER_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return POOL_CU_INVALID_VALUE;
    }
    return POOL_CU_SUCCESS;
}

pool_cu_result sim_cu_LaunchKernelEx(
    const pool_cu_launch_config *config, CUfunction function, void **arguments, void **extra)
{
    struct sim_launch_request shape = {0};
    pool_cu_result code = POOL_CU_INVALID_VALUE;

    if (config) {
        memcpy(shape.grid, config->grid, sizeof(shape.grid));
        memcpy(shape.block, config->block, sizeof(shape.block));
        shape.dynamic_shared_bytes = config->dynamic_shared_bytes;
        code = read_attributes(config, &shape);
    }
    if (code)
        return code;
    return launch(SIM_CU_LaunchKernelEx, function, &shape, config->stream, arguments, extra);
}

/* ---- execution ------------------------------------------------------------------------------- */

/* The sticky code for an executor's fault. */
static pool_cu_result code_of_fault(enum sim_fault_kind kind)
{
    switch (kind) {
    case SIM_FAULT_NONE:
    case SIM_FAULT_CANCELLED:
        return POOL_CU_SUCCESS;
    case SIM_FAULT_OUT_OF_BOUNDS:
        return POOL_CU_ILLEGAL_ADDRESS;
    case SIM_FAULT_MISALIGNED:
        return POOL_CU_MISALIGNED_ADDRESS;
    case SIM_FAULT_ASSERT:
        return POOL_CU_ASSERT;
    case SIM_FAULT_NO_BARRIER:
        return POOL_CU_ILLEGAL_INSTRUCTION;
    case SIM_FAULT_INVALID_PC:
        return POOL_CU_INVALID_PC;
    case SIM_FAULT_INSTRUCTION_LIMIT:
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_SYNC_DEADLOCK:
        return POOL_CU_LAUNCH_TIMEOUT;
    default:
        return POOL_CU_LAUNCH_FAILED;
    }
}

static const char *space_name(enum sim_space space)
{
    switch (space) {
    case SIM_SPACE_GLOBAL:
        return "global";
    case SIM_SPACE_SHARED:
        return "shared";
    case SIM_SPACE_LOCAL:
        return "local";
    case SIM_SPACE_PARAMETER:
        return "parameter";
    default:
        return "";
    }
}

static void report_fault(const struct sim_fault *fault, int device)
{
    struct sim_range freed;
    pool_sim_fault out;

    memset(&out, 0, sizeof(out));
    out.device = device;
    snprintf(out.kind, sizeof(out.kind), "%s", sim_fault_name(fault->kind));
    snprintf(out.kernel, sizeof(out.kernel), "%s", fault->kernel ? fault->kernel : "");
    memcpy(out.block, fault->block, sizeof(out.block));
    memcpy(out.thread, fault->thread, sizeof(out.thread));
    out.line = fault->line;
    out.source_line = fault->source_line;
    snprintf(out.source_file, sizeof(out.source_file), "%s",
        fault->source_line ? fault->source_file : "");
    snprintf(out.space, sizeof(out.space), "%s", space_name(fault->space));
    out.address = fault->address;
    out.bytes = fault->size;
    out.is_write = fault->is_write;
    out.nearest_address = fault->nearest.base;
    out.nearest_bytes = fault->nearest.size;
    if (fault->kind == SIM_FAULT_OUT_OF_BOUNDS && sim_memory_freed(fault->address, &freed))
        snprintf(out.text, sizeof(out.text),
            "%s The address lies in memory that was freed before: %s at 0x%llx.", fault->text,
            base_size_text(freed.size).text, (unsigned long long)freed.base);
    else
        snprintf(out.text, sizeof(out.text), "%s", fault->text);
    sim_poison(code_of_fault(fault->kind), &out);
}

static struct sim_stats *find_or_add_stats(const char *kernel, int device)
{
    struct sim_stats *grown;

    for (size_t at = 0; at < sim_state.stats_count; at++) {
        if (sim_state.stats[at].device == device && strcmp(sim_state.stats[at].kernel, kernel) == 0)
            return &sim_state.stats[at];
    }
    grown = base_realloc(sim_state.stats, sim_state.stats_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    sim_state.stats = grown;
    grown += sim_state.stats_count;
    memset(grown, 0, sizeof(*grown));
    grown->kernel = base_strdup(kernel);
    if (!grown->kernel)
        return NULL;
    grown->device = device;
    sim_state.stats_count++;
    return grown;
}

/* Statistics that cannot be allocated are dropped: the launch itself was successful. */
static void record_counts(
    const struct sim_launch_request *work, int device, const struct sim_counts *counts)
{
    const uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
    struct sim_stats *stats = find_or_add_stats(work->function->kernel->name, device);

    if (!stats)
        return;
    stats->launches++;
    stats->blocks += blocks;
    stats->threads += blocks * work->block[0] * work->block[1] * work->block[2];
    stats->counts.warp_instructions += counts->warp_instructions;
    stats->counts.lane_instructions += counts->lane_instructions;
    for (int at = 0; at < SIM_CLASS_COUNT; at++) {
        stats->counts.warp_by_class[at] += counts->warp_by_class[at];
        stats->counts.lane_by_class[at] += counts->lane_by_class[at];
    }
}

/* printf of device code goes to the log; the library itself never writes to stdout. */
static void log_print(void *context, const char *text, size_t length)
{
    (void)context;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    if (length > 0)
        base_log(POOL_LOG_INFO, "kernel prints: %.*s", (int)length, text);
}

static void init_launch(
    struct sim_launch *out, struct sim_context *context, const struct sim_launch_request *work)
{
    *out = (struct sim_launch){
        .program = work->module->program,
        .kernel = work->function->kernel,
        .grid = {work->grid[0], work->grid[1], work->grid[2]},
        .block = {work->block[0], work->block[1], work->block[2]},
        .parameters = work->parameters,
        .dynamic_shared_bytes = work->dynamic_shared_bytes,
        .multiprocessors = work->scope->multiprocessors,
        .resident_count =
            work->scope->multiprocessors ? partition_size(&work->scope->partition) : 0,
        .stack_bytes = (uint32_t)context->limits[DRIVER_LIMIT_STACK_SIZE],
        .variables = work->module->variables,
        .memory = {sim_memory_resolve, context},
        .find_written = sim_memory_find_written,
        .workers = sim_state.workers,
        .instruction_limit = sim_state.config.instruction_limit,
        .cancel = &sim_state.cancel,
        .is_cooperative = work->is_cooperative,
        .checks =
            ((sim_state.reports & POOL_SIM_REPORT_UNINITIALISED) ? SIM_CHECK_SHARED_INIT : 0) |
            ((sim_state.reports & POOL_SIM_REPORT_UNWRITTEN) ? SIM_CHECK_GLOBAL_INIT : 0) |
            ((sim_state.reports & POOL_SIM_REPORT_BARRIER) ? SIM_CHECK_DIVERGENT_BARRIER : 0) |
            ((sim_state.reports & POOL_SIM_REPORT_RACES) ? SIM_CHECK_RACES : 0),
        .multiprocessor_count = sim_config_of(context->device)->multiprocessors,
        .grid_id = ++sim_state.launches,
        .print = log_print,
    };
}

void sim_launch_execute(struct sim_context *context, struct sim_launch_request *work)
{
    struct sim_launch run;
    struct sim_counts counts;
    struct sim_fault fault;
    struct sim_requests requests = {0};

    init_launch(&run, context, work);
    if (sim_state.reports & POOL_SIM_REPORT_PROFILE) {
        run.count = sim_requests_add;
        run.count_context = &requests;
    }
    memset(&counts, 0, sizeof(counts));
    memset(&fault, 0, sizeof(fault));
    sim_written_begin_launch();
    pthread_mutex_unlock(&sim_state.lock);
    enum sim_fault_kind kind = sim_launch_run(&run, &counts, &fault);
    pthread_mutex_lock(&sim_state.lock);
    sim_written_end_launch();
    if (kind == SIM_FAULT_NONE && run.count)
        sim_profile_record(work, context->device, &counts, &requests);
    if (kind == SIM_FAULT_NONE)
        record_counts(work, context->device, &counts);
    else if (code_of_fault(kind))
        report_fault(&fault, context->device);
}
