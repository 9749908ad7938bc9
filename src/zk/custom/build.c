/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images without a device: compiled for a chip, and loaded from files.
 */
#include "zk/custom/header.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/params.h"
#include "base/status.h"
#include "driver/nvrtc.h"
#include "pool/device/device.h"
#include "pool/module/image.h"
#include "pool/module/module.h"

static pool_status compile_image(const struct arithmetic_expansion *expansion,
    int32_t compute_capability, pool_image_form form, struct module_image **image)
{
    const struct module_request request = {.params = &expansion->params,
        .generator = &expansion->generator,
        .name = expansion->params.name ? expansion->params.name : "kernel.cu",
        .compute_capability = compute_capability,
        .ptx_only = form == POOL_IMAGE_PTX};
    pool_status status = module_image_get(&request, image);

    if (status || ((*image)->form == MODULE_PTX) == (form == POOL_IMAGE_PTX))
        return status;
    module_image_release(*image);
    return base_fail(POOL_ERR_UNSUPPORTED,
        "pool_module_build: NVRTC does not compile to machine code of compute capability %d.%d; "
        "build PTX or install a newer NVRTC",
        compute_capability / 10, compute_capability % 10);
}

pool_status pool_module_build(const pool_module_params *params, int32_t compute_capability,
    pool_image_form form, void **image, size_t *size)
{
    struct arithmetic_expansion expansion;
    struct module_image *made = NULL;
    pool_status status = base_check_pointers("pool_module_build", {"image", image}, {"size", size});

    if (!status)
        status = base_check_ranges("pool_module_build",
            {"compute_capability", compute_capability, 10, 999}, {"form", form, 0, 1});
    if (!status)
        status = arithmetic_expand("pool_module_build", params, &expansion);
    if (status)
        return status;
    status = compile_image(&expansion, compute_capability, form, &made);
    arithmetic_release(&expansion);
    if (status)
        return status;
    *image = base_calloc(made->size + 1, 1);
    if (*image) {
        memcpy(*image, made->bytes, made->size);
        *size = made->size;
    } else {
        status = base_fail_memory("an image");
    }
    module_image_release(made);
    return status;
}

void pool_image_free(void **image)
{
    if (!image)
        return;
    base_free(*image);
    *image = NULL;
}

pool_status pool_module_load_file(pool_device *device, const char *path, pool_module **module)
{
    struct stat about;
    void *bytes = NULL;
    int file;
    pool_status status = base_check_pointers(
        "pool_module_load_file", {"device", device}, {"path", path}, {"module", module});

    if (!status)
        status = device_check(device, DEVICE_USE_HOST);
    if (status)
        return status;
    file = base_openat(AT_FDCWD, path, O_RDONLY, 0);
    if (file < 0)
        return base_fail(POOL_ERR_IO, "pool_module_load_file: %s: %s", path, strerror(errno));
    if (base_fstat(file, &about)) {
        status = base_fail(POOL_ERR_IO, "pool_module_load_file: %s: %s", path, strerror(errno));
    } else if (!S_ISREG(about.st_mode) || about.st_size == 0) {
        status = base_fail(POOL_ERR_IO, "pool_module_load_file: %s is %s", path,
            S_ISREG(about.st_mode) ? "empty" : "not a regular file");
    } else {
        bytes = base_calloc((size_t)about.st_size, 1);
        if (!bytes)
            status = base_fail_memory("the image in a file");
        else if (base_read_all(file, bytes, (size_t)about.st_size))
            status = base_fail(POOL_ERR_IO, "pool_module_load_file: %s: %s", path, strerror(errno));
    }
    base_close(file);
    if (!status)
        status = pool_module_load(device, bytes, (size_t)about.st_size, module);
    base_free(bytes);
    return status;
}
