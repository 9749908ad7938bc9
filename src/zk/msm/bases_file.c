/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of bases and their precomputed multiples. All numbers are little-endian:
 *
 *   0  "dppoints"           24 u64 count          48  curve's fingerprint, 32 bytes
 *   8  u32 version, 1       32 u32 requested factor   80  fingerprint of the points, 32 bytes
 *   12 u32 bytes per point  36 u32 factor         112 all multiples in the format of the kernels
 *   16 u32 window bits      40 u32 bucket sets        followed by the SHA-256 of everything before
 *   20 u32 scalar bits      44 u32 0
 *
 * A file is written under a temporary name and renamed, and read as a whole before the handle is
 * returned.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/math.h"
#include "base/new_file.h"
#include "base/params.h"
#include "base/sha256.h"
#include "base/status.h"
#include "zk/msm/bases.h"
#include "zk/operation/pipeline.h"

enum { HEADER_BYTES = 112, VERSION = 1, CHUNK_BYTES = 16 << 20 };

static const char magic[8] = {'d', 'p', 'p', 'o', 'i', 'n', 't', 's'};

static void put_number(uint8_t *bytes, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *bytes, int size)
{
    uint64_t value = 0;

    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void encode(const struct pool_bases *bases, uint8_t header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof(magic));
    put_number(header + 8, VERSION, 4);
    put_number(header + 12, msm_affine_bytes(bases->curve), 4);
    put_number(header + 16, bases->window_bits, 4);
    put_number(header + 20, bases->scalar_bits, 4);
    put_number(header + 24, bases->count, 8);
    put_number(header + 32, bases->requested_factor, 4);
    put_number(header + 36, bases->factor, 4);
    put_number(header + 40, bases->bucket_sets, 4);
    memcpy(header + 48, bases->curve->fingerprint, POOL_FINGERPRINT_BYTES);
    memcpy(header + 80, bases->fingerprint, POOL_FINGERPRINT_BYTES);
}

static pool_status fail_format(const char *path, const char *what)
{
    return base_fail(POOL_ERR_BAD_DATA, "%s %s", path, what);
}

/* Fills the members of `bases` other than device and curve. */
static pool_status decode(
    const uint8_t header[HEADER_BYTES], const char *path, struct pool_bases *bases)
{
    if (memcmp(header, magic, sizeof(magic)) != 0)
        return fail_format(path, "is not a file of bases");
    if (get_number(header + 8, 4) != VERSION)
        return fail_format(path, "is a file of bases of another version");
    if (memcmp(header + 48, bases->curve->fingerprint, POOL_FINGERPRINT_BYTES) != 0)
        return fail_format(path, "has bases of another curve");
    bases->window_bits = (uint32_t)get_number(header + 16, 4);
    bases->scalar_bits = (uint32_t)get_number(header + 20, 4);
    bases->count = get_number(header + 24, 8);
    bases->requested_factor = (uint32_t)get_number(header + 32, 4);
    bases->factor = (uint32_t)get_number(header + 36, 4);
    bases->bucket_sets = (uint32_t)get_number(header + 40, 4);
    if (get_number(header + 12, 4) != msm_affine_bytes(bases->curve) ||
        get_number(header + 44, 4) || bases->factor == 0 || bases->factor > MSM_BASES_MAX_FACTOR ||
        bases->count > INT32_MAX / bases->factor || bases->window_bits > MSM_MAX_WINDOW_BITS ||
        bases->bucket_sets > POOL_FIELD_MAX_BITS ||
        (bases->factor > 1 &&
            (bases->bucket_sets == 0 || bases->window_bits < MSM_MIN_WINDOW_BITS)))
        return fail_format(path, "has an invalid header");
    return POOL_OK;
}

/* A file that is being read or written, and a host buffer. */
struct transfer {
    struct pool_bases *bases;
    struct exec_target target;
    struct base_sha256 *digest;
    struct base_sha256 *fingerprint; /* of a load: of the bases that were read */
    uint8_t *host;                   /* a chunk */
    const char *path;
    int file;
    struct progress *progress;
};

static pool_status begin_transfer(struct transfer *transfer)
{
    transfer->digest = base_sha256_begin();
    return transfer->digest ? POOL_OK : base_fail_memory("a file of bases");
}

/* Frees the transfer, including unfinished digests. */
static pool_status end_transfer(struct transfer *transfer, pool_status status)
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

static pool_status fail_io(const struct transfer *transfer, const char *what)
{
    return base_fail(POOL_ERR_IO, "cannot %s %s: %s", what, transfer->path, strerror(errno));
}

static pool_status write_some(struct transfer *transfer, const void *bytes, size_t size)
{
    base_sha256_add(transfer->digest, bytes, size);
    return base_write_all(transfer->file, bytes, size) ? fail_io(transfer, "write") : POOL_OK;
}

/* Runs a stage of the pipeline over all multiples of all bases. */
static pool_status transfer_points(
    struct transfer *transfer, pipeline_stage upload, pipeline_stage download)
{
    uint64_t bytes = msm_affine_bytes(transfer->bases->curve);
    uint64_t all = msm_bases_bytes(transfer->bases);
    const struct pipeline pipeline = {.target = transfer->target,
        .progress = transfer->progress,
        .weight = 1,
        .count = all / bytes,
        .chunk_items = CHUNK_BYTES / bytes,
        .slots = 1,
        .upload = upload,
        .download = download,
        .user = transfer};

    transfer->host = base_calloc(1, (size_t)base_min(all, CHUNK_BYTES));
    return transfer->host ? pipeline_run(&pipeline) : base_fail_memory("a file of bases");
}

static pool_status write_chunk(void *user, struct pipeline_chunk *chunk)
{
    struct transfer *transfer = user;
    uint64_t bytes = msm_affine_bytes(transfer->bases->curve), size = chunk->count * bytes;
    pool_status status = pool_copy_to_host(
        transfer->host, transfer->bases->buffer, chunk->first * bytes, size, chunk->target.stream);

    if (!status)
        status = pool_stream_synchronize(chunk->target.stream);
    return status ? status : write_some(transfer, transfer->host, (size_t)size);
}

static pool_status write_all(struct transfer *transfer)
{
    static const pool_exec exec = {.struct_size = sizeof(exec)};
    uint8_t header[HEADER_BYTES], digest[BASE_SHA256_BYTES];
    struct progress progress = {.call = "pool_bases_save", .exec = &exec};
    pool_status status;

    transfer->progress = &progress;
    encode(transfer->bases, header);
    status = write_some(transfer, header, sizeof(header));
    if (!status)
        status = transfer_points(transfer, NULL, write_chunk);
    if (!status)
        status = digest_end(&transfer->digest, digest);
    if (!status && base_write_all(transfer->file, digest, sizeof(digest)))
        status = fail_io(transfer, "write");
    return status;
}

/* `written` owns the file's descriptor. */
static pool_status save_beside(struct transfer *transfer, const char *prefix)
{
    struct base_new_file written;
    pool_status status;

    base_new_file_clear_all(prefix, ".part");
    if (base_new_file_begin(&written, AT_FDCWD, prefix, ".part", 0666))
        return end_transfer(transfer, fail_io(transfer, "write"));
    transfer->file = written.file;
    status = begin_transfer(transfer);
    if (!status)
        status = write_all(transfer);
    transfer->file = -1;
    status = end_transfer(transfer, status);
    if (status)
        base_new_file_discard(&written);
    else if (base_new_file_finish(&written, transfer->path))
        status = fail_io(transfer, "write");
    return status;
}

pool_status pool_bases_save(pool_bases *bases, const char *path)
{
    uint8_t fingerprint[POOL_FINGERPRINT_BYTES];
    struct transfer transfer = {.bases = bases, .path = path, .file = -1};
    char *prefix = NULL;
    int is_inside;
    pool_status status;

    if (!bases || !path)
        return base_fail_null("pool_bases_save", bases ? "path" : "points");
    is_inside = device_begin_operation(bases->device);
    status = pool_bases_fingerprint(bases, fingerprint);
    if (!status)
        status = msm_bases_check(bases);
    if (!status)
        status = pool_stream_default(bases->device, &transfer.target.stream);
    transfer.target.device = bases->device;
    if (!status) {
        prefix = base_format("%s.", path);
        status = prefix ? save_beside(&transfer, prefix) : base_fail_memory("a file's name");
    }
    device_end_operation(bases->device, is_inside);
    base_free(prefix);
    return status;
}

static pool_status read_bytes(struct transfer *transfer, void *bytes, size_t size)
{
    if (base_read_all(transfer->file, bytes, size))
        return fail_io(transfer, "read");
    base_sha256_add(transfer->digest, bytes, size);
    return POOL_OK;
}

static pool_status read_header(struct transfer *transfer, uint8_t header[HEADER_BYTES])
{
    struct stat facts;
    pool_status status;

    if (base_fstat(transfer->file, &facts))
        return fail_io(transfer, "read");
    if (!S_ISREG(facts.st_mode) || facts.st_size < HEADER_BYTES + BASE_SHA256_BYTES)
        return fail_format(transfer->path, "is not a file of bases");
    status = read_bytes(transfer, header, HEADER_BYTES);
    if (!status)
        status = decode(header, transfer->path, transfer->bases);
    if (!status && (uint64_t)facts.st_size !=
                       HEADER_BYTES + msm_bases_bytes(transfer->bases) + BASE_SHA256_BYTES)
        status = fail_format(transfer->path, "is truncated or longer than its header specifies");
    return status;
}

pool_status msm_bases_describe_file(const char *path, struct pool_bases *described)
{
    struct transfer transfer = {.bases = described, .path = path, .file = -1};
    uint8_t header[HEADER_BYTES];
    pool_status status;

    transfer.file = base_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK, 0);
    if (transfer.file < 0)
        return fail_io(&transfer, "open");
    transfer.digest = base_sha256_begin();
    status = transfer.digest ? read_header(&transfer, header)
                             : base_fail_memory("the header of a file of bases");
    return end_transfer(&transfer, status);
}

static pool_status begin_fingerprint(struct transfer *transfer)
{
    transfer->fingerprint = base_sha256_begin();
    if (!transfer->fingerprint)
        return base_fail_memory("a file of bases");
    msm_bases_digest_begin(transfer->bases, transfer->fingerprint);
    return POOL_OK;
}

/*
 * Adds bases in transfer->host to the fingerprint, which bases.c computes for bases on a device.
 * The header's fingerprint is verified with it. Values that are not below the modulus have no
 * standard form.
 */
static pool_status add_to_fingerprint(struct transfer *transfer, uint64_t first, uint64_t count)
{
    const pool_curve *curve = transfer->bases->curve;
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
        status =
            fail_format(transfer->path, "has a header with another fingerprint than its bases");
    return status;
}

/* Only the bases themselves, which come first, are part of the fingerprint. */
static pool_status read_chunk(void *user, struct pipeline_chunk *chunk)
{
    struct transfer *transfer = user;
    uint64_t bytes = msm_affine_bytes(transfer->bases->curve), size = chunk->count * bytes;
    uint64_t count = transfer->bases->count;
    pool_status status = read_bytes(transfer, transfer->host, (size_t)size);

    if (!status && chunk->first < count)
        status = add_to_fingerprint(
            transfer, chunk->first, base_min(chunk->count, count - chunk->first));
    if (!status)
        status = pool_copy_to_device(transfer->bases->buffer, chunk->first * bytes, transfer->host,
            size, chunk->target.stream);
    return status;
}

static pool_status read_points(struct transfer *transfer)
{
    const struct pool_bases *bases = transfer->bases;
    pool_status status = msm_bases_allocate(transfer->bases, &transfer->target);

    transfer->progress->total =
        bases->count * bases->factor + (transfer->progress->exec->checks ? bases->count : 0);
    if (!status)
        status = begin_fingerprint(transfer);
    if (!status)
        status = transfer_points(transfer, read_chunk, NULL);
    return status ? status : pool_stream_synchronize(transfer->target.stream);
}

static pool_status read_all(struct transfer *transfer, uint8_t header[HEADER_BYTES])
{
    uint8_t digest[BASE_SHA256_BYTES], wanted[BASE_SHA256_BYTES];
    pool_status status = begin_transfer(transfer);

    if (!status)
        status = read_header(transfer, header);
    if (!status)
        status = read_points(transfer);
    if (!status && base_read_all(transfer->file, wanted, sizeof(wanted)))
        status = fail_io(transfer, "read");
    if (!status)
        status = digest_end(&transfer->digest, digest);
    if (!status && memcmp(digest, wanted, sizeof(digest)) != 0)
        status = fail_format(transfer->path, "is damaged");
    return status ? status : check_fingerprint(transfer, header);
}

pool_status msm_bases_load(void *user)
{
    struct bases_call *call = user;
    uint8_t header[HEADER_BYTES];
    struct transfer transfer = {.path = call->path,
        .file = -1,
        .target = call->frame.target,
        .progress = &call->frame.progress};
    pool_status status =
        msm_bases_begin(transfer.target.device, call->params.curve, 0, &transfer.bases);

    if (status)
        return status;
    call->frame.made = transfer.bases;
    transfer.file = base_openat(AT_FDCWD, transfer.path, O_RDONLY | O_NONBLOCK, 0);
    status = transfer.file < 0 ? fail_io(&transfer, "open") : read_all(&transfer, header);
    status = end_transfer(&transfer, status);
    if (!status)
        status = msm_bases_check_loaded(transfer.bases, &transfer.target, transfer.progress);
    if (!status)
        msm_bases_set_fingerprint(transfer.bases, header + 80);
    return status;
}
