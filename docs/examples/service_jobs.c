/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, vasprintf */
#endif
#include "service_jobs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROOT_MEMORY (UINT64_C(4) << 20) /* device memory of the largest tree, with its leaves */
#define WITNESS_HEADER 4096             /* at most, besides the values */

uint64_t service_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

pool_status service_key_open(
    struct service_key *key, device_pool *pool, const char *name, const char *path)
{
    const pool_file_params params = {.struct_size = sizeof(params), .kind = POOL_FILE_ZKEY};
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_device *device;
    pool_status status = pool_file_open(path, &params, &key->file);

    if (!status)
        status = pool_file_get_info(key->file, &info);
    if (!status)
        status = pool_next_device(pool, &device);
    if (!status)
        status = groth16_residents_create(
            &key->residents, pool, key->file, &(struct groth16_residents_params){.name = name});
    if (!status)
        status = groth16_device_bytes(key->file, &key->residents, device, &key->device_bytes);
    if (status) {
        service_key_close(key);
        return status;
    }
    key->name = name;
    key->max_body = info.variables * pool_field_element_bytes(info.field) + WITNESS_HEADER;
    return POOL_OK;
}

void service_key_close(struct service_key *key)
{
    groth16_residents_destroy(&key->residents);
    pool_file_destroy(&key->file);
}

pool_status service_key_warm_up(const struct service_key *key, const pool_exec *exec)
{
    pool_file_info info = {.struct_size = sizeof(info)};
    pool_status status = pool_file_get_info(key->file, &info);

    for (size_t i = 0; !status && i < 2; i++)
        status = pool_msm_warm_up(info.curves[i], exec);
    return status;
}

static void set_answer(struct service_job *job, unsigned code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set_answer(struct service_job *job, unsigned code, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    job->code = code;
    if (vasprintf(&job->answer, format, list) < 0)
        job->answer = NULL;
    va_end(list);
}

/* pool_file_open takes a path: the witness gets one without touching a disk. */
static pool_status open_witness(const struct service_job *job, pool_file **witness)
{
    const pool_file_params params = {.struct_size = sizeof(params), .kind = POOL_FILE_WTNS};
    char path[64];
    pool_status status = POOL_ERR_IO;
    int file = memfd_create("witness", MFD_CLOEXEC);

    if (file >= 0 && write(file, job->body, job->length) == (ssize_t)job->length) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
        status = pool_file_open(path, &params, witness);
    }
    if (file >= 0)
        close(file); /* the mapping remains */
    return status;
}

static pool_status prove(struct service_job *job, const pool_file *witness, pool_lease *lease)
{
    const struct groth16_job input = {.key = job->key->file,
        .residents = &job->key->residents,
        .witness = witness,
        .lease = lease};
    struct groth16_result result;
    pool_status status = groth16_prove(&input, &result);

    if (!status)
        set_answer(job, 200, "{\"proof\": %s,\n\"publicSignals\": %s}\n", result.proof,
            result.public_signals);
    else if (*result.failure)
        set_answer(job, status == POOL_ERR_BAD_DATA ? 422 : 503, "%s\n", result.failure);
    groth16_result_free(&result);
    return status;
}

static pool_status compute_root(struct service_job *job, pool_lease *lease)
{
    const pool_merkle_params tree = {.struct_size = sizeof(tree), .arity = 2, .kept_levels = 1};
    const pool_exec exec = {
        .struct_size = sizeof(exec), .lease = lease, .checks = POOL_CHECK_CANONICAL};
    uint8_t root[SERVICE_ELEMENT];
    char digits[2 * SERVICE_ELEMENT + 1];
    const pool_span leaves = {.data = job->body, .count = job->length / SERVICE_ELEMENT};
    const pool_span result = {.data = root, .count = 1};
    pool_status status = pool_poseidon_merkle_build(job->hash, &exec, &tree, &leaves, &result);

    if (status)
        return status;
    for (size_t i = 0; i < SERVICE_ELEMENT; i++)
        snprintf(digits + 2 * i, 3, "%02x", root[SERVICE_ELEMENT - 1 - i]);
    set_answer(job, 200, "%s\n", digits);
    return POOL_OK;
}

/* All scheduling of the service: the pool chooses the device, if possible one that has the key, and
 * makes the job wait if need be. A witness is secret, so all memory of its job is overwritten. */
static pool_status run_with_lease(struct service_job *job, const pool_file *witness)
{
    const uint64_t time = service_now(), left = job->deadline > time ? job->deadline - time : 0;
    const pool_request request = {.struct_size = sizeof(request),
        .bytes = job->key ? job->key->device_bytes : ROOT_MEMORY,
        .timeout_ns = left,
        .duration_ns = left < job->duration_ns ? left : job->duration_ns,
        .near_resident = job->key ? job->key->residents.points[0] : NULL,
        .flags = job->key ? POOL_LEASE_SECRET : 0,
        .label = job->key ? job->key->name : "root"};
    pool_device *device = NULL;
    pool_lease *lease = NULL;
    pool_status status = pool_acquire(job->pool, &request, &lease);

    if (!status)
        status = pool_lease_device(lease, 0, &device);
    atomic_store(&job->device, device);
    if (!status)
        status = job->key ? prove(job, witness, lease) : compute_root(job, lease);
    atomic_store(&job->device, NULL);
    pool_release(&lease);
    return status;
}

/* A job whose device fails is repeated on another one, as long as there is one. */
void service_job_run(struct service_job *job)
{
    pool_file *witness = NULL;
    pool_status status = job->key ? open_witness(job, &witness) : POOL_OK;
    int is_malformed = status == POOL_ERR_BAD_DATA || status == POOL_ERR_UNSUPPORTED;

    if (!status)
        do
            status = run_with_lease(job, witness);
        while (pool_status_class(status) == POOL_CLASS_DEVICE && service_now() < job->deadline);
    if (!job->answer)
        set_answer(job,
            is_malformed                  ? 400
            : status == POOL_ERR_BAD_DATA ? 422
                                          : 503,
            "%s: %s\n", pool_status_text(status), pool_last_error()->message);
    pool_file_destroy(&witness);
}
