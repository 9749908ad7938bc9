/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 through libcrypto's digest interface.
 */
#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/alloc.h"
#include "base/status.h"

struct base_sha256 {
    EVP_MD_CTX *context;
    int failed;
};

struct base_sha256 *base_sha256_begin(void)
{
    struct base_sha256 *digest = base_calloc(1, sizeof(*digest));

    if (!digest)
        return NULL;
    digest->context = EVP_MD_CTX_new();
    if (!digest->context) {
        base_free(digest);
        return NULL;
    }
    digest->failed = EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1;
    return digest;
}

void base_sha256_add(struct base_sha256 *digest, const void *bytes, size_t size)
{
    if (!digest->failed)
        digest->failed = EVP_DigestUpdate(digest->context, bytes, size) != 1;
}

pool_status base_sha256_end(struct base_sha256 *digest, uint8_t out[BASE_SHA256_BYTES])
{
    int failed = digest->failed || EVP_DigestFinal_ex(digest->context, out, NULL) != 1;

    EVP_MD_CTX_free(digest->context);
    base_free(digest);
    return failed ? base_fail(POOL_ERR_INTERNAL, "libcrypto could not compute SHA-256") : POOL_OK;
}

pool_status base_sha256_of(const void *bytes, size_t size, uint8_t out[BASE_SHA256_BYTES])
{
    struct base_sha256 *digest = base_sha256_begin();

    if (!digest)
        return base_fail_memory("a digest");
    base_sha256_add(digest, bytes, size);
    return base_sha256_end(digest, out);
}
