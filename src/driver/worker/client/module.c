/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and their kernels: images on their way to the worker, and the parameters of kernels on
 * their way back.
 */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "driver/attributes.h"
#include "driver/worker/client/client_calls.h"

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

const struct worker_layout *client_kernel_layout(
    const struct client_call *call, CUfunction function)
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
