/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, launches and memory pools: functions of the client with structures in their arguments.
 */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/attributes.h"
#include "worker/client_calls.h"

/* --- images ----------------------------------------------------------------------------------- */

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *unused;
};

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t payload_bytes;
};

/* The end of machine code: of its section headers, or of the section that ends last. */
static size_t elf_bytes(const unsigned char *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;

    end = base_max(end, header->e_phoff + (uint64_t)header->e_phnum * header->e_phentsize);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section =
            (const void *)(image + header->e_shoff + (size_t)i * header->e_shentsize);

        if (section->sh_type != SHT_NOBITS)
            end = base_max(end, section->sh_offset + section->sh_size);
    }
    return (size_t)end;
}

/* The bytes of PTX, machine code or a fat binary; the driver's interface does not say them. */
static size_t image_bytes(const void **image)
{
    const unsigned char *bytes = *image;
    uint32_t magic = 0;

    /* Byte by byte: a short string may end before four bytes. */
    for (unsigned i = 0; i < 4 && (i == 0 || bytes[i - 1]); i++)
        magic |= (uint32_t)bytes[i] << 8 * i;
    if (magic == FATBIN_WRAPPER_MAGIC) {
        *image = ((const struct fatbin_wrapper *)*image)->data;
        bytes = *image;
        magic = FATBIN_MAGIC;
    }
    if (magic == FATBIN_MAGIC)
        return (size_t)(((const struct fatbin_header *)*image)->header_bytes +
                        ((const struct fatbin_header *)*image)->payload_bytes);
    if (memcmp(&magic, ELFMAG, SELFMAG) == 0)
        return elf_bytes(bytes);
    return strlen(*image) + 1;
}

/* An image that is being loaded: in the stage of the ring, or in the arena if it is longer. */
struct loading {
    uint64_t offset, bytes;
    struct call_stage stage;
};

static pool_cu_result open_loading(struct loading *loading, const void *image)
{
    *loading = (struct loading){.offset = WORKER_STAGE};
    if (!image)
        return POOL_CU_SUCCESS;
    loading->bytes = image_bytes(&image);
    if (loading->bytes <= WORKER_STAGE_BYTES) {
        loading->stage.from = image;
        loading->stage.bytes = (size_t)loading->bytes;
        return POOL_CU_SUCCESS;
    }
    loading->offset = client_arena_borrow(loading->bytes);
    if (loading->offset == UINT64_MAX)
        return POOL_CU_OUT_OF_MEMORY;
    memcpy(client->arena_base + loading->offset, image, (size_t)loading->bytes);
    return POOL_CU_SUCCESS;
}

static void close_loading(const struct loading *loading)
{
    if (loading->offset != WORKER_STAGE)
        client_arena_return(loading->offset, loading->bytes);
}

static void write_image(
    struct client_call *call, const struct loading *loading, const void *image, bool has_module)
{
    call_word(call, has_module);
    call_word(call, image != NULL);
    call_word(call, loading->offset);
    call_word(call, loading->bytes);
}

pool_cu_result client_cu_ModuleLoadData(CUmodule *module, const void *image)
{
    struct loading loading;
    struct client_call call;
    pool_cu_result code = call_check();

    if (!code)
        code = open_loading(&loading, image);
    if (code)
        return code;
    call_begin(&call, WORKER_ModuleLoadData, CLIENT_WAIT);
    write_image(&call, &loading, image, module != NULL);
    code = call_run_staged(&call, &loading.stage);
    close_loading(&loading);
    if (!code && module)
        *module = call_result_handle(&call, WORKER_MODULE);
    return code;
}

/* The logs of a load. The worker writes them to the halves of the stage. */
struct logs {
    char *text[2];
    size_t size[2];
    void **used[2];
};

static void read_logs(
    struct logs *logs, unsigned int count, const pool_cu_enum *options, void **values)
{
    *logs = (struct logs){0};
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case DRIVER_JIT_INFO_LOG_BUFFER:
        case DRIVER_JIT_ERROR_LOG_BUFFER:
            logs->text[options[i] == DRIVER_JIT_ERROR_LOG_BUFFER] = values[i];
            break;
        case DRIVER_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        case DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            logs->used[options[i] == DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES] = &values[i];
            logs->size[options[i] == DRIVER_JIT_ERROR_LOG_BUFFER_SIZE_BYTES] =
                (size_t)(uintptr_t)values[i];
            break;
        default:
            break;
        }
    }
}

/* After the call, while the stage is this thread's. */
static void return_logs(struct client_call *call, const unsigned char *stage, void *user)
{
    const struct logs *logs = user;

    for (unsigned i = 0; i < 2; i++) {
        uint64_t used = call_result(call);
        size_t bytes = (size_t)base_min(base_min(used, logs->size[i]), WORKER_STAGE_BYTES / 2);

        if (logs->used[i])
            *logs->used[i] = (void *)(uintptr_t)bytes;
        if (logs->text[i] && logs->size[i]) {
            memcpy(logs->text[i], stage + i * (WORKER_STAGE_BYTES / 2), bytes);
            logs->text[i][bytes < logs->size[i] ? bytes : bytes - 1] = '\0';
        }
    }
}

pool_cu_result client_cu_ModuleLoadDataEx(
    CUmodule *module, const void *image, unsigned int count, pool_cu_enum *options, void **values)
{
    struct loading loading;
    struct client_call call;
    struct logs logs;
    pool_cu_result code = call_check();

    if (!code && count && (!options || !values || count > 40))
        code = POOL_CU_INVALID_VALUE;
    if (!code)
        code = open_loading(&loading, image);
    if (code)
        return code;
    read_logs(&logs, count, options, values);
    call_begin(&call, WORKER_ModuleLoadDataEx, CLIENT_WAIT);
    write_image(&call, &loading, image, module != NULL);
    call_word(&call, count);
    for (unsigned i = 0; i < count; i++) {
        bool is_log =
            options[i] == DRIVER_JIT_INFO_LOG_BUFFER || options[i] == DRIVER_JIT_ERROR_LOG_BUFFER;

        call_word(&call, options[i]);
        call_word(&call, is_log ? values[i] != NULL : (uint64_t)(uintptr_t)values[i]);
    }
    loading.stage.user = &logs;
    loading.stage.after = return_logs;
    code = call_run_staged(&call, &loading.stage);
    close_loading(&loading);
    if (!code && module)
        *module = call_result_handle(&call, WORKER_MODULE);
    return code;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* The entry of a kernel; NULL: there is none, and none can be made. */
static struct client_kernel *kernel_entry(
    struct client_worker *worker, const void *function, bool creates)
{
    unsigned index = (client_handle_read(function).id & WORKER_INDEX_MASK) - WORKER_FIRST_INDEX;
    _Atomic(struct client_kernel *) *chunk;
    struct client_kernel *found, *made;

    if (index >= CLIENT_KERNEL_CHUNK * CLIENT_KERNEL_CHUNKS)
        return NULL;
    chunk = &worker->kernels[index / CLIENT_KERNEL_CHUNK];
    found = atomic_load(chunk);
    if (!found && creates) {
        made = base_calloc(CLIENT_KERNEL_CHUNK, sizeof(*made));
        if (made && !atomic_compare_exchange_strong(chunk, &found, made))
            base_free(made);
        found = atomic_load(chunk);
    }
    return found ? &found[index % CLIENT_KERNEL_CHUNK] : NULL;
}

void client_kernels_free(struct client_worker *worker)
{
    for (unsigned i = 0; i < CLIENT_KERNEL_CHUNKS; i++)
        base_free(atomic_exchange(&worker->kernels[i], NULL));
}

/* Stores the parameters that the reply lists. A kernel that had the index before is gone. */
static pool_cu_result store_kernel(struct client_call *call, CUfunction function)
{
    uint64_t handle = (uint64_t)(uintptr_t)function;
    uint32_t count = (uint32_t)call_result(call), sizes[WORKER_MAX_PARAMETERS] = {0};
    struct client_kernel *entry = kernel_entry(call->worker, function, true);
    const struct worker_layout *layout;

    if (count > WORKER_MAX_PARAMETERS)
        count = WORKER_LAYOUT_UNKNOWN;
    for (uint32_t i = 0; count != WORKER_LAYOUT_UNKNOWN && i < count; i++)
        sizes[i] = (uint32_t)call_result(call);
    layout = worker_layouts_add(&client->layouts, count, sizes);
    if (!entry || !layout)
        return POOL_CU_OUT_OF_MEMORY;
    pthread_mutex_lock(&call->worker->lock);
    if (atomic_load_explicit(&entry->handle, memory_order_relaxed) != handle) {
        atomic_store_explicit(&entry->handle, 0, memory_order_relaxed);
        atomic_store_explicit(&entry->layout, layout, memory_order_release);
        atomic_store_explicit(&entry->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&call->worker->lock);
    return POOL_CU_SUCCESS;
}

/* NULL: the kernel is none, or no more. */
static const struct worker_layout *find_layout(const struct client_call *call, CUfunction function)
{
    const struct client_kernel *entry =
        call->worker ? kernel_entry(call->worker, function, false) : NULL;
    uint64_t handle = (uint64_t)(uintptr_t)function;
    const struct worker_layout *layout;

    if (!entry || atomic_load_explicit(&entry->handle, memory_order_acquire) != handle)
        return NULL;
    layout = atomic_load_explicit(&entry->layout, memory_order_acquire);
    return atomic_load_explicit(&entry->handle, memory_order_relaxed) == handle ? layout : NULL;
}

pool_cu_result client_cu_ModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct client_call call;
    CUfunction made;
    pool_cu_result code = call_check();

    if (code)
        return code;
    call_begin(&call, WORKER_ModuleGetFunction, CLIENT_WAIT);
    call_word(&call, function != NULL);
    call_handle(&call, WORKER_MODULE, module);
    call_text(&call, name);
    code = call_run(&call);
    if (code)
        return code;
    made = call_result_handle(&call, WORKER_KERNEL);
    code = store_kernel(&call, made);
    if (!code && function)
        *function = made;
    return code;
}

/* --- launches --------------------------------------------------------------------------------- */

enum { ARGUMENTS_NONE, ARGUMENTS_EACH, ARGUMENTS_BUFFER };
enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };

/* Appends the bytes of the arguments, each at a multiple of 8. */
static pool_cu_result write_each(struct client_call *call, CUfunction function, void **arguments)
{
    const struct worker_layout *layout = find_layout(call, function);

    if (!layout) {
        call_word(call, ARGUMENTS_NONE);
        call_word(call, 0);
        return POOL_CU_SUCCESS; /* the worker will refuse the handle */
    }
    if (layout->count == WORKER_LAYOUT_UNKNOWN)
        return POOL_CU_NOT_SUPPORTED;
    call_word(call, ARGUMENTS_EACH);
    if (call->count + 1 + layout->bytes / 8 > WORKER_MESSAGE_BYTES / 8)
        return POOL_CU_NOT_SUPPORTED;
    call_word(call, layout->bytes);
    for (uint32_t i = 0; i < layout->count; i++) {
        size_t words = (size_t)(worker_parameter_bytes(layout->sizes[i]) / 8);

        if (!arguments[i])
            return POOL_CU_INVALID_VALUE;
        if (words)
            call->message.words[call->count + words - 1] = 0;
        memcpy(call->message.words + call->count, arguments[i], layout->sizes[i]);
        call->count += words;
    }
    return POOL_CU_SUCCESS;
}

static pool_cu_result write_arguments(
    struct client_call *call, CUfunction function, void **arguments, void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;

    if (arguments && extra)
        return POOL_CU_INVALID_VALUE;
    if (arguments)
        return write_each(call, function, arguments);
    for (; extra && (uintptr_t)*extra != EXTRA_END; extra += 2) {
        if ((uintptr_t)*extra == EXTRA_BUFFER)
            buffer = extra[1];
        else if ((uintptr_t)*extra == EXTRA_SIZE)
            bytes = *(const size_t *)extra[1];
        else
            return POOL_CU_INVALID_VALUE;
    }
    call_word(call, buffer ? ARGUMENTS_BUFFER : ARGUMENTS_NONE);
    call_bytes(call, buffer, buffer ? bytes : 0);
    return POOL_CU_SUCCESS;
}

struct launch {
    CUfunction function;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    CUstream stream;
    void **arguments, **extra;
};

static pool_cu_result write_launch(struct client_call *call, const struct launch *launch)
{
    call_handle(call, WORKER_KERNEL, launch->function);
    for (int i = 0; i < 3; i++)
        call_word(call, launch->grid[i]);
    for (int i = 0; i < 3; i++)
        call_word(call, launch->block[i]);
    call_word(call, launch->dynamic_shared_bytes);
    call_handle(call, WORKER_STREAM, launch->stream);
    return write_arguments(call, launch->function, launch->arguments, launch->extra);
}

static pool_cu_result run_launch(enum worker_function function, const struct launch *launch)
{
    struct client_call call;
    pool_cu_result code;

    call_begin(&call, function, CLIENT_POST);
    code = write_launch(&call, launch);
    return code ? code : call_run(&call);
}

pool_cu_result client_cu_LaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
    unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
    unsigned int dynamic_shared_bytes, CUstream stream, void **arguments, void **extra)
{
    struct launch launch = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
        dynamic_shared_bytes, stream, arguments, extra};
    pool_cu_result code = call_check();

    return code ? code : run_launch(WORKER_LaunchKernel, &launch);
}

pool_cu_result client_cu_LaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
    unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
    unsigned int block_z, unsigned int dynamic_shared_bytes, CUstream stream, void **arguments)
{
    struct launch launch = {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
        dynamic_shared_bytes, stream, arguments, NULL};
    pool_cu_result code = call_check();

    return code ? code : run_launch(WORKER_LaunchCooperativeKernel, &launch);
}

/* A launch with attributes, of which a message has at most 8. */
static pool_cu_result write_extended(struct client_call *call, const pool_cu_launch_config *config,
    CUfunction function, void **arguments, void **extra)
{
    static const pool_cu_launch_config none;
    const pool_cu_launch_config *given = config ? config : &none;
    struct launch launch = {.function = function,
        .dynamic_shared_bytes = given->dynamic_shared_bytes,
        .stream = given->stream,
        .arguments = arguments,
        .extra = extra};
    unsigned count = given->attributes ? given->attribute_count : 0;

    memcpy(launch.grid, given->grid, sizeof(launch.grid));
    memcpy(launch.block, given->block, sizeof(launch.block));
    call_word(call, config != NULL);
    call_word(call, given->attribute_count);
    call_word(call, given->attributes != NULL);
    for (unsigned i = 0; i < count; i++) {
        call_word(call, given->attributes[i].id);
        call_bytes(call, &given->attributes[i].value, sizeof(given->attributes[i].value));
    }
    return write_launch(call, &launch);
}

static pool_cu_result check_extended(const pool_cu_launch_config *config)
{
    pool_cu_result code = call_check();

    if (code)
        return code;
    return config && config->attributes && config->attribute_count > 8 ? POOL_CU_NOT_SUPPORTED
                                                                       : POOL_CU_SUCCESS;
}

pool_cu_result client_cu_LaunchKernelEx(
    const pool_cu_launch_config *config, CUfunction function, void **arguments, void **extra)
{
    struct client_call call;
    pool_cu_result code = check_extended(config);

    if (code)
        return code;
    call_begin(&call, WORKER_LaunchKernelEx, CLIENT_POST);
    code = write_extended(&call, config, function, arguments, extra);
    return code ? code : call_run(&call);
}

static pool_cu_result ask_clusters(
    enum worker_function name, int *value, CUfunction function, const pool_cu_launch_config *config)
{
    struct client_call call;
    pool_cu_result code = check_extended(config);

    if (code)
        return code;
    call_begin(&call, name, CLIENT_WAIT);
    call_word(&call, value != NULL);
    code = write_extended(&call, config, function, NULL, NULL);
    if (!code)
        code = call_run(&call);
    if (!code && value)
        *value = (int)call_result(&call);
    return code;
}

pool_cu_result client_cu_OccupancyMaxPotentialClusterSize(
    int *blocks, CUfunction function, const pool_cu_launch_config *config)
{
    return ask_clusters(WORKER_OccupancyMaxPotentialClusterSize, blocks, function, config);
}

pool_cu_result client_cu_OccupancyMaxActiveClusters(
    int *clusters, CUfunction function, const pool_cu_launch_config *config)
{
    return ask_clusters(WORKER_OccupancyMaxActiveClusters, clusters, function, config);
}

pool_cu_result client_cu_OccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
    CUfunction function, pool_cu_block_to_shared shared_of, size_t dynamic_shared_bytes,
    int block_size_limit)
{
    struct client_call call;
    uint64_t sizes[33] = {0};
    int grid, block;
    pool_cu_result code = call_check();

    if (code)
        return code;
    /* The driver tries multiples of the warp size. */
    for (int i = 1; shared_of && i <= 32; i++)
        sizes[i] = shared_of(32 * i);
    call_begin(&call, WORKER_OccupancyMaxPotentialBlockSize, CLIENT_WAIT);
    call_word(&call, min_grid_size != NULL);
    call_word(&call, block_size != NULL);
    call_handle(&call, WORKER_KERNEL, function);
    call_word(&call, dynamic_shared_bytes);
    call_word(&call, (uint64_t)(int64_t)block_size_limit);
    call_word(&call, shared_of != NULL);
    call_bytes(&call, sizes, shared_of ? sizeof(sizes) : 0);
    code = call_run(&call);
    if (code)
        return code;
    grid = (int)call_result(&call);
    block = (int)call_result(&call);
    if (min_grid_size)
        *min_grid_size = grid;
    if (block_size)
        *block_size = block;
    return POOL_CU_SUCCESS;
}
