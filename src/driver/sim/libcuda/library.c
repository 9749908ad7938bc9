/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries (cuLibrary…): code that is independent of contexts. A library is loaded as a module in
 * a context when something of it is needed there. A kernel of a library is valid wherever a
 * function of a module is.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/sim/libcuda/functions.h"
#include "driver/sim/table/fatbin.h"
#include "driver/sim/table/image.h"

#define WRAPPER_MAGIC 0x466243b1u
#define MAX_KERNELS 16384u
/* cuLibraryLoadData: the caller keeps the image. */
#define OPTION_BINARY_IS_PRESERVED 1u

/* A library in a context. */
struct loaded {
    unsigned long long context_id;
    CUmodule module;
    struct loaded *next;
};

struct function {
    const struct loaded *loaded;
    CUfunction handle;
    struct function *next;
};

struct libcuda_library {
    void *image;
    struct loaded *loaded;
    struct libcuda_library *next;
};

struct libcuda_kernel {
    struct libcuda_library *library; /* NULL: the place is free */
    char *name;
    struct function *functions;
};

/* In one array, so that a handle is known to be of a kernel by its value. */
static struct {
    pthread_mutex_t lock;
    struct libcuda_library *libraries;
    struct libcuda_kernel kernels[MAX_KERNELS];
    unsigned kernel_count; /* places used so far */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- images ---------------------------------------------------------------------------------- */

/* What the compiler writes before a fat binary. */
struct wrapper {
    uint32_t magic, version;
    const void *image;
    const void *file;
};

const void *libcuda_image(const void *image)
{
    uint32_t magic = 0;

    if (!image)
        return NULL;
    /* Byte by byte: a text may be shorter. */
    for (unsigned at = 0; at < 4; at++) {
        unsigned char byte = ((const unsigned char *)image)[at];

        magic |= (uint32_t)byte << 8 * at;
        if (!byte)
            break;
    }
    return magic == WRAPPER_MAGIC ? ((const struct wrapper *)image)->image : image;
}

/* The bytes of an image that a device can execute; 0: none. */
static size_t image_bytes(const void *image)
{
    const char *body;
    size_t length;
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } head;

    if (sim_fatbin_is(image)) {
        memcpy(&head, image, sizeof(head));
        return head.bytes > SIZE_MAX - head.header_bytes ? 0 : head.header_bytes + head.bytes;
    }
    if (sim_image_check(image, &body, &length))
        return 0;
    return (size_t)(body - (const char *)image) + length + 1;
}

/* ---- libraries ------------------------------------------------------------------------------- */

static bool is_library(const struct libcuda_library *library)
{
    const struct libcuda_library *at = all.libraries;

    while (at && at != library)
        at = at->next;
    return at != NULL;
}

/* Takes the image, which is base_alloc's. */
static pool_cu_result add_library(struct libcuda_library **library, void *image)
{
    struct libcuda_library *added = base_calloc(1, sizeof(*added));

    if (!added) {
        base_free(image);
        return POOL_CU_OUT_OF_MEMORY;
    }
    added->image = image;
    pthread_mutex_lock(&all.lock);
    added->next = all.libraries;
    all.libraries = added;
    pthread_mutex_unlock(&all.lock);
    *library = added;
    return POOL_CU_SUCCESS;
}

/* The image is copied whether the caller keeps his or not. */
static pool_cu_result check_options(const pool_cu_enum *options, unsigned int count)
{
    if (count && !options)
        return POOL_CU_INVALID_VALUE;
    for (unsigned int at = 0; at < count; at++)
        if (options[at] > OPTION_BINARY_IS_PRESERVED)
            return POOL_CU_INVALID_VALUE;
    return POOL_CU_SUCCESS;
}

static pool_cu_result check_initialised(void)
{
    int count;

    return libcuda_table()->DeviceGetCount(&count);
}

pool_cu_result cuLibraryLoadData(libcuda_library *library, const void *code, pool_cu_enum *options,
    void **values, unsigned int count, pool_cu_enum *library_options, void **library_values,
    unsigned int library_count)
{
    pool_cu_result result = check_initialised();
    struct sim_jit jit;
    size_t bytes;
    void *image;

    (void)library_values;
    if (!result)
        result = !library || !code ? POOL_CU_INVALID_VALUE
                                   : check_options(library_options, library_count);
    if (!result)
        result = sim_jit_read(&jit, count, options, values);
    if (result)
        return result;
    code = libcuda_image(code);
    image = code ? sim_image_embedded_ptx(code, UINT64_MAX) : NULL;
    if (image)
        return add_library(library, image);
    bytes = code ? image_bytes(code) : 0;
    if (!bytes)
        return code && !memcmp(code, "\177ELF", 4) ? POOL_CU_NO_BINARY_FOR_GPU
                                                   : POOL_CU_INVALID_IMAGE;
    image = base_calloc(bytes, 1);
    if (!image)
        return POOL_CU_OUT_OF_MEMORY;
    memcpy(image, code, bytes);
    return add_library(library, image);
}

pool_cu_result cuLibraryLoadFromFile(libcuda_library *library, const char *path,
    pool_cu_enum *options, void **values, unsigned int count, pool_cu_enum *library_options,
    void **library_values, unsigned int library_count)
{
    char *image = NULL;
    pool_cu_result code = libcuda_read_file(path, &image);

    if (!code)
        code = cuLibraryLoadData(
            library, image, options, values, count, library_options, library_values, library_count);
    base_free(image);
    return code;
}

/* Runs with the lock held: the library as a module of the current context. */
static pool_cu_result load(struct libcuda_library *library, const struct loaded **loaded)
{
    const pool_cuda_api *cu = libcuda_table();
    CUcontext context = NULL;
    unsigned long long id = 0;
    struct loaded *added;
    pool_cu_result code = cu->CtxGetCurrent(&context);

    if (!code && !context)
        code = POOL_CU_INVALID_CONTEXT;
    if (!code)
        code = cu->CtxGetId(context, &id);
    if (code)
        return code;
    for (*loaded = library->loaded; *loaded; *loaded = (*loaded)->next)
        if ((*loaded)->context_id == id)
            return POOL_CU_SUCCESS;
    added = base_calloc(1, sizeof(*added));
    if (!added)
        return POOL_CU_OUT_OF_MEMORY;
    code = cu->ModuleLoadData(&added->module, library->image);
    if (code) {
        base_free(added);
        return code;
    }
    added->context_id = id;
    added->next = library->loaded;
    library->loaded = added;
    *loaded = added;
    return POOL_CU_SUCCESS;
}

static pool_cu_result lock_library(struct libcuda_library *library)
{
    pool_cu_result code = check_initialised();

    if (code)
        return code;
    pthread_mutex_lock(&all.lock);
    if (is_library(library))
        return POOL_CU_SUCCESS;
    pthread_mutex_unlock(&all.lock);
    return POOL_CU_INVALID_HANDLE;
}

static pool_cu_result unlock(pool_cu_result code)
{
    pthread_mutex_unlock(&all.lock);
    return code;
}

pool_cu_result cuLibraryGetModule(CUmodule *module, libcuda_library library)
{
    const struct loaded *loaded;
    pool_cu_result code = module ? lock_library(library) : POOL_CU_INVALID_VALUE;

    if (code)
        return code;
    code = load(library, &loaded);
    if (!code)
        *module = loaded->module;
    return unlock(code);
}

pool_cu_result cuLibraryGetGlobal(
    CUdeviceptr *address, size_t *bytes, libcuda_library library, const char *name)
{
    CUmodule module;
    pool_cu_result code = cuLibraryGetModule(&module, library);

    return code ? code : libcuda_table()->ModuleGetGlobal(address, bytes, module, name);
}

static void free_kernel(struct libcuda_kernel *kernel)
{
    for (struct function *at = kernel->functions, *next; at; at = next) {
        next = at->next;
        base_free(at);
    }
    base_free(kernel->name);
    *kernel = (struct libcuda_kernel){.library = NULL};
}

/* A module ends with its context; those of other contexts than the current one are unloaded too. */
pool_cu_result cuLibraryUnload(libcuda_library library)
{
    struct libcuda_library **link = &all.libraries;
    pool_cu_result code = lock_library(library);

    if (code)
        return code;
    while (*link != library)
        link = &(*link)->next;
    *link = library->next;
    for (unsigned at = 0; at < all.kernel_count; at++)
        if (all.kernels[at].library == library)
            free_kernel(&all.kernels[at]);
    pthread_mutex_unlock(&all.lock);
    for (struct loaded *at = library->loaded, *next; at; at = next) {
        next = at->next;
        libcuda_table()->ModuleUnload(at->module);
        base_free(at);
    }
    base_free(library->image);
    base_free(library);
    return POOL_CU_SUCCESS;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static bool is_kernel(const void *handle)
{
    uintptr_t first = (uintptr_t)all.kernels, at = (uintptr_t)handle;

    return at >= first && at < first + sizeof(all.kernels) &&
           (at - first) % sizeof(all.kernels[0]) == 0;
}

/* Runs with the lock held. */
static pool_cu_result find_function(struct libcuda_kernel *kernel, CUfunction *handle)
{
    const struct loaded *loaded;
    struct function *function;
    pool_cu_result code = kernel->library ? load(kernel->library, &loaded) : POOL_CU_INVALID_HANDLE;

    if (code)
        return code;
    for (function = kernel->functions; function; function = function->next)
        if (function->loaded == loaded) {
            *handle = function->handle;
            return POOL_CU_SUCCESS;
        }
    code = libcuda_table()->ModuleGetFunction(handle, loaded->module, kernel->name);
    if (code)
        return code;
    function = base_calloc(1, sizeof(*function));
    if (!function)
        return POOL_CU_OUT_OF_MEMORY;
    *function = (struct function){loaded, *handle, kernel->functions};
    kernel->functions = function;
    return POOL_CU_SUCCESS;
}

pool_cu_result cuKernelGetFunction(CUfunction *function, libcuda_kernel kernel)
{
    if (!function)
        return POOL_CU_INVALID_VALUE;
    if (!is_kernel(kernel))
        return POOL_CU_INVALID_HANDLE;
    pthread_mutex_lock(&all.lock);
    return unlock(find_function(kernel, function));
}

CUfunction libcuda_function(CUfunction handle)
{
    CUfunction function = NULL;

    if (!is_kernel(handle))
        return handle;
    return cuKernelGetFunction(&function, (libcuda_kernel)(void *)handle) ? NULL : function;
}

/* Runs with the lock held: the library's kernel of that name, made when there is none. */
static pool_cu_result make_kernel(
    struct libcuda_library *library, const char *name, struct libcuda_kernel **kernel)
{
    struct libcuda_kernel *free_place = NULL;

    for (unsigned at = 0; at < all.kernel_count; at++) {
        *kernel = &all.kernels[at];
        if ((*kernel)->library == library && strcmp((*kernel)->name, name) == 0)
            return POOL_CU_SUCCESS;
        if (!(*kernel)->library)
            free_place = *kernel;
    }
    if (!free_place && all.kernel_count == MAX_KERNELS)
        return POOL_CU_OUT_OF_MEMORY;
    if (!free_place)
        free_place = &all.kernels[all.kernel_count++];
    free_place->name = base_strdup(name);
    if (!free_place->name)
        return POOL_CU_OUT_OF_MEMORY;
    free_place->library = library;
    *kernel = free_place;
    return POOL_CU_SUCCESS;
}

/* In a context, a name that the code does not have is refused; without one it is when the kernel is
 * used. */
pool_cu_result cuLibraryGetKernel(libcuda_kernel *kernel, libcuda_library library, const char *name)
{
    struct libcuda_kernel *found = NULL;
    CUfunction function;
    pool_cu_result code;

    if (!kernel || !name)
        return POOL_CU_INVALID_VALUE;
    code = lock_library(library);
    if (code)
        return code;
    code = make_kernel(library, name, &found);
    if (!code)
        code = find_function(found, &function);
    if (code == POOL_CU_INVALID_CONTEXT)
        code = POOL_CU_SUCCESS;
    if (!code)
        *kernel = found;
    else if (found && !found->functions)
        free_kernel(found);
    return unlock(code);
}

pool_cu_result cuKernelGetLibrary(libcuda_library *library, libcuda_kernel kernel)
{
    if (!library)
        return POOL_CU_INVALID_VALUE;
    if (!is_kernel(kernel) || !kernel->library)
        return POOL_CU_INVALID_HANDLE;
    *library = kernel->library;
    return POOL_CU_SUCCESS;
}

pool_cu_result cuKernelGetName(const char **name, libcuda_kernel kernel)
{
    if (!name)
        return POOL_CU_INVALID_VALUE;
    if (!is_kernel(kernel) || !kernel->library)
        return POOL_CU_INVALID_HANDLE;
    *name = kernel->name;
    return POOL_CU_SUCCESS;
}

pool_cu_result cuKernelGetParamInfo(
    libcuda_kernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    CUfunction function;
    pool_cu_result code = cuKernelGetFunction(&function, kernel);

    return code ? code : libcuda_table()->FuncGetParamInfo(function, index, offset, bytes);
}

/* ---- attributes on a device, in its primary context ------------------------------------------ */

static pool_cu_result enter_primary(CUdevice device)
{
    CUcontext context;
    pool_cu_result code = libcuda_table()->DevicePrimaryCtxRetain(&context, device);

    if (code)
        return code;
    code = libcuda_table()->CtxPushCurrent(context);
    if (code)
        libcuda_table()->DevicePrimaryCtxRelease(device);
    return code;
}

static void leave_primary(CUdevice device)
{
    CUcontext popped;

    libcuda_table()->CtxPopCurrent(&popped);
    libcuda_table()->DevicePrimaryCtxRelease(device);
}

/* Makes the device's primary context current and finds the function there. */
static pool_cu_result enter_kernel(libcuda_kernel kernel, CUdevice device, CUfunction *function)
{
    pool_cu_result code = enter_primary(device);

    if (code)
        return code;
    code = cuKernelGetFunction(function, kernel);
    if (code)
        leave_primary(device);
    return code;
}

pool_cu_result cuKernelGetAttribute(
    int *value, pool_cu_enum attribute, libcuda_kernel kernel, CUdevice device)
{
    CUfunction function;
    pool_cu_result code = enter_kernel(kernel, device, &function);

    if (code)
        return code;
    code = libcuda_table()->FuncGetAttribute(value, attribute, function);
    leave_primary(device);
    return code;
}

pool_cu_result cuKernelSetAttribute(
    pool_cu_enum attribute, int value, libcuda_kernel kernel, CUdevice device)
{
    CUfunction function;
    pool_cu_result code = enter_kernel(kernel, device, &function);

    if (code)
        return code;
    code = libcuda_table()->FuncSetAttribute(function, attribute, value);
    leave_primary(device);
    return code;
}

pool_cu_result cuKernelSetCacheConfig(libcuda_kernel kernel, pool_cu_enum config, CUdevice device)
{
    CUfunction function;
    pool_cu_result code = enter_kernel(kernel, device, &function);

    if (code)
        return code;
    code = libcuda_table()->FuncSetCacheConfig(function, config);
    leave_primary(device);
    return code;
}
