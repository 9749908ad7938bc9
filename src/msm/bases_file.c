/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points and tables in files. All numbers are little-endian:
 *
 *   0  "dppoints"           24 u64 count          48  curve's fingerprint, 32 bytes
 *   8  u32 version, 1       32 u32 factor asked   80  fingerprint of the points, 32 bytes
 *   12 u32 bytes a point    36 u32 levels         112 the points of all levels as kernels read them
 *   16 u32 window bits      40 u32 groups             and then SHA-256 of all before it
 *   20 u32 scalar bits      44 u32 0
 *
 * Written beside its place and renamed; read whole before anybody gets the handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/new_file.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "msm/bases.h"

enum { HEADER_BYTES = 112, VERSION = 1, PART_BYTES = 16 << 20 };

static const char magic[8] = {'d', 'p', 'p', 'o', 'i', 'n', 't', 's'};

static void put(uint8_t *bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *bytes, int size)
{
    uint64_t value = 0;

    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void encode(const struct pool_bases *points, uint8_t header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof(magic));
    put(header + 8, VERSION, 4);
    put(header + 12, msm_affine_bytes(points->curve), 4);
    put(header + 16, points->window_bits, 4);
    put(header + 20, points->scalar_bits, 4);
    put(header + 24, points->count, 8);
    put(header + 32, points->asked, 4);
    put(header + 36, points->levels, 4);
    put(header + 40, points->groups, 4);
    memcpy(header + 48, points->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    memcpy(header + 80, points->fingerprint, POOL_FINGERPRINT_BYTES);
}

static pool_status bad(const char *path, const char *what)
{
    return base_fail(POOL_ERR_BAD_DATA, "%s %s", path, what);
}

/* Fills the handle, which has device and curve. */
static pool_status decode(
    const uint8_t header[HEADER_BYTES], const char *path, struct pool_bases *points)
{
    if (memcmp(header, magic, sizeof(magic)) != 0)
        return bad(path, "is no file of points");
    if (get(header + 8, 4) != VERSION)
        return bad(path, "is a file of points of another version");
    if (memcmp(header + 48, points->curve->fingerprint, POOL_FINGERPRINT_BYTES) != 0)
        return bad(path, "has points of another curve");
    points->window_bits = (uint32_t)get(header + 16, 4);
    points->scalar_bits = (uint32_t)get(header + 20, 4);
    points->count = get(header + 24, 8);
    points->asked = (uint32_t)get(header + 32, 4);
    points->levels = (uint32_t)get(header + 36, 4);
    points->groups = (uint32_t)get(header + 40, 4);
    if (get(header + 12, 4) != msm_affine_bytes(points->curve) || get(header + 44, 4) ||
        points->levels == 0 || points->levels > POINTS_MAX_LEVELS ||
        points->count > INT32_MAX / points->levels || points->window_bits > MSM_MAX_WINDOW_BITS ||
        points->groups > POOL_FIELD_MAX_BITS ||
        (points->levels > 1 && (points->groups == 0 || points->window_bits < MSM_MIN_WINDOW_BITS)))
        return bad(path, "has a header that cannot be");
    return POOL_OK;
}

/* A file of points under way, and the bytes that pass through the host. */
struct transfer {
    struct pool_bases *points;
    pool_stream *stream;
    struct base_sha256 *digest;
    struct base_sha256 *fingerprint; /* of a load: of the points that were read */
    uint8_t *host;                   /* PART_BYTES */
    const char *path;
    int file;
    const pool_exec *exec; /* of a load */
};

static pool_status begin(struct transfer *transfer)
{
    transfer->digest = base_sha256_begin();
    transfer->host = base_calloc(PART_BYTES, 1);
    if (!transfer->digest || !transfer->host)
        return base_fail_memory("a file of points");
    return POOL_OK;
}

/* Also gives the digests back, where they are still there. */
static pool_status finish(struct transfer *transfer, pool_status status)
{
    uint8_t unused[BASE_SHA256_BYTES];
    struct base_error_copy first;

    base_error_save(&first);
    if (transfer->digest)
        (void)base_sha256_end(transfer->digest, unused);
    if (transfer->fingerprint)
        (void)base_sha256_end(transfer->fingerprint, unused);
    if (status)
        base_error_restore(&first);
    base_free(transfer->host);
    base_close(transfer->file);
    return status;
}

static pool_status digest_end(struct base_sha256 **digest, uint8_t result[BASE_SHA256_BYTES])
{
    struct base_sha256 *whole = *digest;

    *digest = NULL;
    return base_sha256_end(whole, result);
}

static pool_status io(const struct transfer *transfer, const char *what)
{
    return base_fail(POOL_ERR_IO, "cannot %s %s: %s", what, transfer->path, strerror(errno));
}

static pool_status write_some(struct transfer *transfer, const void *bytes, size_t size)
{
    base_sha256_add(transfer->digest, bytes, size);
    return base_write_all(transfer->file, bytes, size) ? io(transfer, "write") : POOL_OK;
}

static pool_status write_all(struct transfer *transfer)
{
    uint8_t header[HEADER_BYTES], digest[BASE_SHA256_BYTES];
    uint64_t total = points_bytes(transfer->points);
    pool_status status;

    encode(transfer->points, header);
    status = write_some(transfer, header, sizeof(header));
    for (uint64_t at = 0; !status && at < total; at += PART_BYTES) {
        uint64_t size = total - at < PART_BYTES ? total - at : PART_BYTES;

        status = pool_copy_to_host(transfer->host, transfer->points->buffer, at, size, NULL);
        if (!status)
            status = write_some(transfer, transfer->host, (size_t)size);
    }
    if (!status)
        status = digest_end(&transfer->digest, digest);
    if (!status && base_write_all(transfer->file, digest, sizeof(digest)))
        status = io(transfer, "write");
    return status;
}

/* The file's descriptor belongs to `written`. */
static pool_status save_beside(struct transfer *transfer, const char *prefix)
{
    struct base_new_file written;
    pool_status status;

    base_new_file_clear_all(prefix, ".part");
    if (base_new_file_begin(&written, AT_FDCWD, prefix, ".part", 0666))
        return finish(transfer, io(transfer, "write"));
    transfer->file = written.file;
    status = begin(transfer);
    if (!status)
        status = write_all(transfer);
    transfer->file = -1;
    status = finish(transfer, status);
    if (status)
        base_new_file_discard(&written);
    else if (base_new_file_finish(&written, transfer->path))
        status = io(transfer, "write");
    return status;
}

pool_status pool_bases_save(pool_bases *points, const char *path)
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    struct transfer transfer = {.points = points, .path = path, .file = -1};
    char *prefix;
    pool_status status;

    if (!points || !path)
        return base_fail_null("pool_bases_save", points ? "path" : "points");
    status = pool_bases_fingerprint(points, fingerprint);
    if (status)
        return status;
    prefix = base_format("%s.", path);
    if (!prefix)
        return base_fail_memory("a file's name");
    status = save_beside(&transfer, prefix);
    base_free(prefix);
    return status;
}

static pool_status read_some(struct transfer *transfer, void *bytes, size_t size)
{
    if (base_read_all(transfer->file, bytes, size))
        return io(transfer, "read");
    base_sha256_add(transfer->digest, bytes, size);
    return POOL_OK;
}

static pool_status read_header(struct transfer *transfer, uint8_t header[HEADER_BYTES])
{
    struct stat facts;
    pool_status status;

    if (base_fstat(transfer->file, &facts))
        return io(transfer, "read");
    if (!S_ISREG(facts.st_mode) || facts.st_size < HEADER_BYTES + BASE_SHA256_BYTES)
        return bad(transfer->path, "is no file of points");
    status = read_some(transfer, header, HEADER_BYTES);
    if (!status)
        status = decode(header, transfer->path, transfer->points);
    if (!status && (uint64_t)facts.st_size !=
                       HEADER_BYTES + points_bytes(transfer->points) + BASE_SHA256_BYTES)
        status = bad(transfer->path, "is cut short or has more than its header says");
    return status;
}

static pool_status begin_fingerprint(struct transfer *transfer)
{
    uint8_t count[8];

    transfer->fingerprint = base_sha256_begin();
    if (!transfer->fingerprint)
        return base_fail_memory("a file of points");
    put(count, transfer->points->count, sizeof(count));
    base_sha256_add(
        transfer->fingerprint, transfer->points->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    base_sha256_add(transfer->fingerprint, count, sizeof(count));
    return POOL_OK;
}

/*
 * What bases.c computes of points on a device, for points in transfer->host: that the header's
 * fingerprint is theirs is not believed. Values that are not below the modulus have no standard
 * form.
 */
static pool_status add_to_fingerprint(struct transfer *transfer, uint64_t first, uint64_t count)
{
    const pool_curve *curve = transfer->points->curve;
    const pool_field *field = curve->coordinates.field;
    uint64_t limbs[FIELD_MAX_LIMBS], elements = 2 * curve->coordinates.degree;
    uint8_t standard[4 * POOL_FIELD_MAX_BYTES];

    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t j = 0; j < elements; j++) {
            field_load(field, limbs, transfer->host + (i * elements + j) * field->bytes);
            if (!field_is_canonical(field, limbs))
                return base_fail(POOL_ERR_BAD_DATA,
                    "%s: point %llu has a coordinate that is not below the modulus", transfer->path,
                    (unsigned long long)(first + i));
            if (field_device_degree(field))
                field_from_montgomery(field, limbs, limbs);
            field_store(field, standard + j * field->bytes, limbs);
        }
        base_sha256_add(transfer->fingerprint, standard, elements * field->bytes);
    }
    return POOL_OK;
}

static pool_status check_fingerprint(struct transfer *transfer, const uint8_t header[HEADER_BYTES])
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    pool_status status = digest_end(&transfer->fingerprint, fingerprint);

    if (!status && memcmp(fingerprint, header + 80, sizeof(fingerprint)) != 0)
        status = bad(transfer->path, "has a fingerprint in its header that is not its points'");
    return status;
}

/* The bytes of the points alone, without their multiples, are the first. */
static pool_status read_part(struct transfer *transfer, uint64_t at, uint64_t size)
{
    uint64_t bytes = msm_affine_bytes(transfer->points->curve);
    uint64_t first = at / bytes, count = transfer->points->count;
    pool_status status = read_some(transfer, transfer->host, (size_t)size);

    if (!status && first < count)
        status = add_to_fingerprint(
            transfer, first, size / bytes < count - first ? size / bytes : count - first);
    if (!status)
        status = pool_copy_to_device(
            transfer->points->buffer, at, transfer->host, size, transfer->stream);
    return status;
}

static pool_status read_points(struct transfer *transfer)
{
    uint64_t total = points_bytes(transfer->points), count = transfer->points->count;
    uint64_t part = PART_BYTES - PART_BYTES % msm_affine_bytes(transfer->points->curve);
    pool_status status = points_allocate(transfer->points, transfer->stream);

    if (!status)
        status = begin_fingerprint(transfer);
    for (uint64_t at = 0; !status && at < total; at += part) {
        uint64_t size = total - at < part ? total - at : part;

        status = memory_exec_cancelled("pool_bases_load", transfer->exec);
        if (!status)
            status = read_part(transfer, at, size);
        if (!status)
            memory_exec_report(
                transfer->exec, (uint64_t)((unsigned __int128)count * (at + size) / total), count);
    }
    return status ? status : pool_stream_synchronize(transfer->stream);
}

static pool_status read_all(struct transfer *transfer, uint8_t header[HEADER_BYTES])
{
    uint8_t digest[BASE_SHA256_BYTES], wanted[BASE_SHA256_BYTES];
    pool_status status = begin(transfer);

    if (!status)
        status = read_header(transfer, header);
    if (!status)
        status = read_points(transfer);
    if (!status && base_read_all(transfer->file, wanted, sizeof(wanted)))
        status = io(transfer, "read");
    if (!status)
        status = digest_end(&transfer->digest, digest);
    if (!status && memcmp(digest, wanted, sizeof(digest)) != 0)
        status = bad(transfer->path, "is damaged");
    return status ? status : check_fingerprint(transfer, header);
}

static pool_status load_inside(const pool_curve *curve, const pool_exec *exec,
    const struct exec_target *site, struct transfer *transfer, pool_bases **points)
{
    uint8_t header[HEADER_BYTES];
    pool_status status = points_begin(site->device, curve, 0, &transfer->points);

    if (status)
        return status;
    transfer->stream = site->stream;
    transfer->exec = exec;
    transfer->file = base_openat(AT_FDCWD, transfer->path, O_RDONLY | O_NONBLOCK, 0);
    status = transfer->file < 0 ? io(transfer, "open") : read_all(transfer, header);
    status = finish(transfer, status);
    if (!status)
        status = points_check_loaded(transfer->points, exec, site);
    if (status)
        return points_discard(transfer->points, status);
    points_make_known(transfer->points, header + 80);
    *points = transfer->points;
    return POOL_OK;
}

pool_status pool_bases_load(const pool_bases_params *given, const pool_exec *given_exec,
    const char *path, pool_bases **points)
{
    struct transfer transfer = {.path = path, .file = -1};
    pool_bases *made = NULL;
    pool_bases_params params;
    pool_exec exec;
    struct exec_target site;
    struct device_scope scope;
    pool_status status = points_params_copy("pool_bases_load", given, given_exec, &params, &exec);

    if (!status && (!path || !points))
        status = base_fail_null("pool_bases_load", path ? "points" : "path");
    if (!status)
        status = exec_target_init(&site, exec.device, exec.stream);
    if (!status)
        status = device_enter(site.device, &scope);
    if (status)
        return status;
    status = device_leave(&scope, load_inside(params.curve, &exec, &site, &transfer, &made));
    return points_hand_over(made, status, points);
}
