/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images for hosts without NVRTC: PTX that was compiled in advance for an old chip; the driver, or
 * the simulated one, compiles it for the device's chip.
 *
 * The PTX is NVRTC 13.0's, whose oldest target is sm_75, but nothing in it needs more than sm_50
 * (test prebuilt_assemble). For older chips the target is lowered when it is loaded. It is not low
 * in the files: for targets below sm_70 ptxas keeps warps converged as older chips do, which
 * changes the machine code of newer ones.
 */
#include "pool/module/prebuilt.h"

#include <string.h>

#include <lzma.h>

#include "base/log.h"
#include "base/status.h"

/* The target of the files, and the oldest chip that self-tests were run for. */
#define TARGET_LINE "\n.target sm_75\n"
enum { TARGET = 75, OLDEST = 60 };

/* The maximum dictionary size of the compressed PTX. */
enum { UNPACK_BYTES = 16 << 20 };

pool_status module_prebuilt_unpack(
    const struct module_prebuilt *prebuilt, struct module_image **image)
{
    struct module_image *made = module_image_new(MODULE_PTX, prebuilt->text_size);
    uint64_t memory = UNPACK_BYTES;
    size_t in = 0, out = 0;
    lzma_ret result;

    if (!made)
        return base_fail_memory("prebuilt PTX");
    result = lzma_stream_buffer_decode(&memory, 0, NULL, prebuilt->bytes, &in, prebuilt->size,
        (uint8_t *)made->bytes, &out, made->size);
    if (result == LZMA_OK && in == prebuilt->size && out == made->size) {
        *image = made;
        return POOL_OK;
    }
    module_image_release(made);
    return result == LZMA_MEM_ERROR
               ? base_fail_memory("unpacking prebuilt PTX")
               : base_fail(POOL_ERR_INTERNAL,
                     "the prebuilt PTX %s does not unpack to its %zu bytes (liblzma says %d)",
                     prebuilt->name, prebuilt->text_size, (int)result);
}

pool_status module_prebuilt_lower(struct module_image *image, const char *name, int capability)
{
    char *line = strstr(image->bytes, TARGET_LINE);
    char *digits = line ? line + strlen(TARGET_LINE) - 3 : NULL;

    if (!digits)
        return base_fail(
            POOL_ERR_INTERNAL, "the prebuilt PTX %s is not for sm_%d", name, (int)TARGET);
    digits[0] = (char)('0' + capability / 10);
    digits[1] = (char)('0' + capability % 10);
    return POOL_OK;
}

static const struct module_prebuilt *find(const char *key)
{
    for (const struct module_prebuilt *at = module_prebuilt_programs; at->name; at++)
        if (strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

pool_status module_look_for_prebuilt(const struct module_request *request, bool *exists)
{
    char text[2 * BASE_SHA256_BYTES + 1];
    struct module_key key;
    pool_status status = module_text_key_of(request, &key);

    *exists = false;
    if (status)
        return status;
    module_key_text(&key, text);
    *exists = find(text) && request->compute_capability >= OLDEST;
    return POOL_OK;
}

pool_status module_find_prebuilt(
    const struct module_request *request, const char *reason, struct module_image **image)
{
    char text[2 * BASE_SHA256_BYTES + 1];
    const struct module_prebuilt *found;
    struct module_image *made = NULL;
    struct module_key key;
    pool_status status = module_text_key_of(request, &key);

    if (status)
        return status;
    module_key_text(&key, text);
    found = find(text);
    if (!found)
        return base_fail(POOL_ERR_NO_COMPILER,
            "%s has to be compiled, because there is no prebuilt PTX for it: "
            "%s",
            request->name, reason);
    if (request->compute_capability && request->compute_capability < OLDEST)
        return base_fail(POOL_ERR_NO_COMPILER,
            "%s has to be compiled, because prebuilt PTX is for chips from %d.%d on: %s",
            request->name, OLDEST / 10, OLDEST % 10, reason);
    status = module_prebuilt_unpack(found, &made);
    if (!status && request->compute_capability && request->compute_capability < TARGET)
        status = module_prebuilt_lower(made, found->name, request->compute_capability);
    if (status)
        module_image_release(made);
    else
        *image = made;
    if (!status)
        base_log(POOL_LOG_INFO, "%s: prebuilt PTX %s of NVRTC %s is used: %s", request->name,
            found->name, found->compiler, reason);
    return status;
}
