/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of base points: any bytes are read or refused, and what has been read is saved as exactly
 * the same bytes. The input is tried unchanged, then with the correct digest, then also with the
 * curve, count and fingerprint that match its size and points, so that the code after these checks
 * is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <devicepool.h>

#include "base/sha256.h"
#include "zk/curve/curve.h"
#include "zk/field/field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* See src/zk/msm/bases_file.c. */
enum {
    COUNT_AT = 24,
    LEVELS_AT = 36,
    CURVE_AT = 48,
    FINGERPRINT_AT = 80,
    HEADER_BYTES = 112,
    MOST_LEVELS = 4,
    MOST_BYTES = 1 << 14,
};

static const pool_curve *curve;
static pool_device *device;
static char directory[] = "/tmp/fuzz_bases_XXXXXX";
static char saved_path[sizeof(directory) + 8];

static void remove_directory(void)
{
    unlink(saved_path);
    rmdir(directory);
}

static void set_up(void)
{
    static device_pool *pool;
    pool_params params;

    pool_params_init(&params, sizeof(params));
    params.devices = "sim:1";
    curve = pool_curve_by_name("bn254_g1");
    if (!mkdtemp(directory) || !curve || pool_create(&pool, &params) ||
        pool_next_device(pool, &device))
        abort();
    snprintf(saved_path, sizeof(saved_path), "%s/saved", directory);
    atexit(remove_directory);
}

static pool_bases *load(const char *path, uint32_t checks)
{
    pool_bases_params params = {.struct_size = sizeof(params), .curve = curve};
    pool_exec exec = {.struct_size = sizeof(exec), .device = device, .checks = checks};
    pool_bases *points = NULL;

    if (pool_bases_load(&params, &exec, path, &points) && points)
        abort();
    return points;
}

/* The saved file has to be these bytes. */
static void compare_saved(const uint8_t *data, size_t size)
{
    static uint8_t bytes[MOST_BYTES + 1];
    FILE *file = fopen(saved_path, "rb");
    size_t got;

    if (!file)
        abort();
    got = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    if (got != size || memcmp(bytes, data, size) != 0)
        abort();
}

static void try_bytes(const uint8_t *data, size_t size)
{
    char path[64];
    pool_bases *points, *checked;
    int file = memfd_create("points", MFD_CLOEXEC);

    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    points = load(path, POOL_CHECK_NONE);
    checked = load(path, POOL_CHECK_ON_CURVE);
    if (checked && !points)
        abort();
    if (points) {
        if (pool_bases_save(points, saved_path))
            abort();
        compare_saved(data, size);
    }
    pool_bases_destroy(&checked);
    pool_bases_destroy(&points);
    close(file);
}

static void put(uint8_t *bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static void put_digest(uint8_t *bytes, size_t size)
{
    if (base_sha256_of(bytes, size - BASE_SHA256_BYTES, bytes + size - BASE_SHA256_BYTES))
        abort();
}

/* Of the points of the first level, which have to be below the modulus. */
static void put_fingerprint(uint8_t *bytes, uint64_t count)
{
    const pool_field *field = curve->coordinates.field;
    struct base_sha256 *digest = base_sha256_begin();
    uint64_t limbs[FIELD_MAX_LIMBS];

    if (!digest)
        abort();
    base_sha256_add(digest, curve->fingerprint, POOL_FINGERPRINT_BYTES);
    base_sha256_add(digest, bytes + COUNT_AT, 8);
    for (uint64_t i = 0; i < 2 * count; i++) {
        uint8_t *coordinate = bytes + HEADER_BYTES + i * field->bytes;
        uint8_t standard[POOL_FIELD_MAX_BYTES];

        coordinate[field->bytes - 1] &= 0x1f;
        field_load(field, limbs, coordinate);
        field_from_montgomery(field, limbs, limbs);
        field_store(field, standard, limbs);
        base_sha256_add(digest, standard, field->bytes);
    }
    if (base_sha256_end(digest, bytes + FINGERPRINT_AT))
        abort();
}

/* Returns the size that the changed file has. */
static size_t mend(uint8_t *bytes, size_t size)
{
    uint64_t levels = 1 + bytes[LEVELS_AT] % MOST_LEVELS;
    uint64_t point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    uint64_t count = (size - HEADER_BYTES - BASE_SHA256_BYTES) / (levels * point_bytes);

    memcpy(bytes + CURVE_AT, curve->fingerprint, POOL_FINGERPRINT_BYTES);
    put(bytes + COUNT_AT, count, 8);
    put(bytes + LEVELS_AT, levels, 4);
    size = HEADER_BYTES + count * levels * point_bytes + BASE_SHA256_BYTES;
    put_fingerprint(bytes, count);
    put_digest(bytes, size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[MOST_BYTES];

    if (size > MOST_BYTES)
        return 0;
    if (!device)
        set_up();
    try_bytes(data, size);
    if (size < HEADER_BYTES + BASE_SHA256_BYTES)
        return 0;
    memcpy(bytes, data, size);
    put_digest(bytes, size);
    try_bytes(bytes, size);
    size = mend(bytes, size);
    try_bytes(bytes, size);
    return 0;
}
