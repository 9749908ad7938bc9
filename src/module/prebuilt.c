/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The maker of images for hosts without NVRTC: PTX that was compiled beforehand. It is for an old
 * chip; the driver, or the simulated one, translates it for the chip at hand.
 */
#include "module/prebuilt.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "base/log.h"
#include "base/status.h"

/* inflateInit2's word for the largest window inside a gzip file. */
enum { GZIP_WINDOW = 15 + 16 };

/* A gzip file ends with the size of its text, low byte first. */
static size_t unpacked_size(const struct module_prebuilt *prebuilt)
{
    const unsigned char *size = prebuilt->bytes + prebuilt->size - 4;

    return size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
}

static pool_status inflate_into(const struct module_prebuilt *prebuilt, struct module_image *image)
{
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)prebuilt->bytes,
        .avail_in = (uInt)prebuilt->size,
        .next_out = (unsigned char *)image->bytes,
        .avail_out = (uInt)image->size};
    int result;

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return base_fail_memory("unpacking prebuilt PTX");
    result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (result != Z_STREAM_END || stream.avail_out)
        return base_fail(POOL_ERR_INTERNAL, "the prebuilt PTX %s does not unpack (zlib says %d)",
            prebuilt->name, result);
    return POOL_OK;
}

pool_status module_prebuilt_unpack(
    const struct module_prebuilt *prebuilt, struct module_image **image)
{
    struct module_image *made = module_image_new(MODULE_PTX, unpacked_size(prebuilt));
    pool_status status;

    if (!made)
        return base_fail_memory("prebuilt PTX");
    status = inflate_into(prebuilt, made);
    if (status)
        module_image_release(made);
    else
        *image = made;
    return status;
}

static const struct module_prebuilt *find(const char *key)
{
    for (const struct module_prebuilt *at = module_prebuilt_programs; at->name; at++)
        if (strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

pool_status module_find_prebuilt(
    const struct module_request *request, const char *reason, struct module_image **image)
{
    char text[2 * BASE_SHA256_BYTES + 1];
    const struct module_prebuilt *found;
    struct module_key key;
    pool_status status = module_text_key_of(request, &key);

    if (status)
        return status;
    module_key_text(&key, text);
    found = find(text);
    if (!found)
        return base_fail(POOL_ERR_NO_COMPILER,
            "%s has to be compiled, it is not one of the library's own kernels that come as "
            "prebuilt PTX: %s",
            request->name, reason);
    status = module_prebuilt_unpack(found, image);
    if (!status)
        base_log(POOL_LOG_INFO, "%s: prebuilt PTX %s of NVRTC %s is used: %s", request->name,
            found->name, found->compiler, reason);
    return status;
}
