/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 by libcrypto.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include <devicepool/status.h>

#define BASE_SHA256_BYTES 32

struct base_sha256; /* a digest in progress; one thread at a time */

struct base_sha256 *base_sha256_begin(void); /* NULL: out of memory */
void base_sha256_add(struct base_sha256 *digest, const void *bytes, size_t size);
/* Frees the digest even on failure; a failure of an earlier step is reported here. */
pool_status base_sha256_end(struct base_sha256 *digest, uint8_t out[BASE_SHA256_BYTES]);

/* The digest of one array. */
pool_status base_sha256_of(const void *bytes, size_t size, uint8_t out[BASE_SHA256_BYTES]);

#endif
