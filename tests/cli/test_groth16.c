/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prover of `devicepool prove` as other programs use it: concurrent jobs that share files and
 * devices, with known blinding factors.
 * usage: test_groth16 VECTORS-DIRECTORY
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "groth16.h"
#include "support/needs_compiler.h"
#include "support/sample.h"

static int fill_known_bytes(void *bytes, size_t count)
{
    memset(bytes, 0x5a, count);
    return 1;
}

static int fail_random(void *bytes, size_t count)
{
    (void)bytes;
    (void)count;
    return 0;
}

static void require(int is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "FAILED: %s: %s\n", what, pool_last_error()->message);
    exit(1);
}

static pool_file *open_file(const char *directory, const char *name)
{
    char path[4096];
    pool_file *file = NULL;

    snprintf(path, sizeof(path), "%s/iden3/%s", directory, name);
    require(!pool_file_open(path, NULL, &file), name);
    return file;
}

struct task {
    struct groth16_job job;
    struct groth16_result result;
    pool_status status;
    pthread_t thread;
    unsigned steps;
};

static void count_steps(void *user, const char *step, uint64_t done, uint64_t total)
{
    struct task *task = user;

    require(*step && done <= total, "progress does not exceed the total");
    task->steps += !done;
}

static void *run_task(void *argument)
{
    struct task *task = argument;

    task->status = groth16_prove(&task->job, &task->result);
    return NULL;
}

/* A lease of exactly the bytes that the forecast says is enough, and not far too much. */
static void prove_under_lease(device_pool *pool, const pool_file *key, const pool_file *witness,
    const struct groth16_residents *residents, const char *proof)
{
    pool_lease_usage usage = {.struct_size = sizeof(usage)};
    pool_request request = {.struct_size = sizeof(request), .label = "proof"};
    struct groth16_job job = {
        .key = key, .residents = residents, .witness = witness, .random = fill_known_bytes};
    struct groth16_result result;
    pool_device *device = NULL;

    require(!pool_device_at(pool, 1, &device), "pool_device_at");
    require(groth16_device_bytes(witness, NULL, device, &request.bytes) == POOL_ERR_NOT_FOUND,
        "a zkey");
    require(!groth16_device_bytes(key, residents, device, &request.bytes), "groth16_device_bytes");
    request.device = device;
    require(!pool_acquire(pool, &request, &job.lease), "pool_acquire");
    require(!groth16_prove(&job, &result), "a proof under a lease");
    require(!strcmp(result.proof, proof), "the same proof");
    require(!pool_lease_get_usage(job.lease, 0, &usage), "pool_lease_get_usage");
    require(usage.peak_bytes && !usage.used_bytes, "the memory is charged to the lease");
    require(request.bytes < 8 * usage.peak_bytes, "the bound is not far off");
    require(!pool_release(&job.lease), "pool_release");
    groth16_result_free(&result);
}

/* The bytes of all points with the multiples that are chosen. */
static uint64_t chosen_bytes(device_pool *pool, const pool_file *key, uint32_t factor, uint64_t max)
{
    const struct groth16_residents_params params = {
        .name = "sizes", .precompute_factor = factor, .max_bytes = max};
    struct groth16_residents residents;
    uint64_t bytes = 0;

    require(!groth16_residents_create(&residents, pool, key, &params), "groth16_residents_create");
    for (int i = 0; i < GROTH16_MSMS; i++)
        bytes += pool_resident_bytes(residents.points[i]);
    require(!groth16_residents_destroy(&residents), "groth16_residents_destroy");
    return bytes;
}

/* As many multiples as the bound has memory for, or none. */
static void choose_multiples(device_pool *pool, const pool_file *key)
{
    const uint64_t none = chosen_bytes(pool, key, 1, 0), all = chosen_bytes(pool, key, 0, 0);
    const uint64_t some = chosen_bytes(pool, key, 0, all - 1);

    require(chosen_bytes(pool, key, 0, 1) == none, "none fit");
    require(chosen_bytes(pool, key, 0, all) == all, "all fit");
    require(none < some && some < all, "some fit");
    require(chosen_bytes(pool, key, 0, some) == some, "as many");
}

/* The first proof loads the points, the second one finds them, and the third one after an eviction
 * loads them again. */
static void prove_with_residents(
    device_pool *pool, const pool_file *key, const pool_file *witness, const char *proof)
{
    const struct groth16_residents_params params = {.name = "chain"};
    pool_resident_info info = {.struct_size = sizeof(info)};
    struct groth16_residents residents;
    pool_device *device = NULL;

    require(groth16_residents_create(&residents, pool, witness, &params) == POOL_ERR_NOT_FOUND,
        "a zkey");
    require(!groth16_residents_create(&residents, pool, key, &params), "groth16_residents_create");
    require(!pool_device_at(pool, 1, &device), "pool_device_at");
    for (int i = 0; i < 3; i++) {
        prove_under_lease(pool, key, witness, &residents, proof);
        for (int k = 0; k < GROTH16_MSMS; k++) {
            require(!pool_resident_get_info(residents.points[k], device, &info), "get_info");
            require(info.is_resident && info.loads == (i < 2 ? 1 : 2), "loaded once");
            if (i == 1)
                require(!pool_resident_evict(residents.points[k], device), "pool_resident_evict");
        }
        require(!pool_resident_get_info(residents.matrices, device, &info), "get_info");
        require(info.is_resident && info.loads == (i < 2 ? 1 : 2), "the matrices are loaded once");
        if (i == 1)
            require(!pool_resident_evict(residents.matrices, device), "pool_resident_evict");
    }
    require(!groth16_residents_destroy(&residents), "groth16_residents_destroy");
}

/* The offset of the points of A in a zkey: sections have a number, a length and bytes. */
static size_t points_of_a(const unsigned char *bytes, size_t count)
{
    size_t at = 12;

    while (at + 12 <= count) {
        uint32_t number;
        uint64_t length;

        memcpy(&number, bytes + at, sizeof(number));
        memcpy(&length, bytes + at + 4, sizeof(length));
        if (number == 5)
            return at + 12;
        at += 12 + length;
    }
    require(0, "a section of points");
    return 0;
}

/* A point that is not on the curve, in a key that nobody trusts, with and without residents. */
static void refuse_points(device_pool *pool, const char *directory, const pool_file *witness)
{
    const struct groth16_residents_params params = {.name = "changed"};
    struct groth16_job job = {.witness = witness, .random = fill_known_bytes};
    struct groth16_residents residents;
    enum { POINT_BYTES = 96 };
    char path[4096], reason[64], changed[] = "/tmp/devicepool-key-XXXXXX";
    static unsigned char bytes[1 << 20];
    pool_file *key = NULL;
    size_t count, at, index = 0;
    FILE *file;
    int made;

    snprintf(path, sizeof(path), "%s/iden3/chain_bls12_381.zkey", directory);
    file = fopen(path, "rb");
    require(file != NULL, path);
    count = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    require(count < sizeof(bytes), "a small key");
    at = points_of_a(bytes, count);
    /* Not the first one: a sum that is not on the curve is reported as point 0. */
    while (bytes[at + (index + 1) * POINT_BYTES - 1] == 0 || index == 0)
        index++;
    bytes[at + index * POINT_BYTES] ^= 1;
    snprintf(reason, sizeof(reason), "point %zu is not on the curve", index);
    made = mkstemp(changed);
    require(made >= 0, changed);
    file = fdopen(made, "wb");
    require(file && fwrite(bytes, 1, count, file) == count && !fclose(file), changed);
    require(!pool_file_open(changed, NULL, &key), changed);
    require(!pool_next_device(pool, &job.device), "pool_next_device");
    job.key = key;
    require(!groth16_residents_create(&residents, pool, key, &params), "groth16_residents_create");
    for (int i = 0; i < 2; i++) {
        struct groth16_result result;

        job.residents = i ? &residents : NULL;
        require(groth16_prove(&job, &result) == POOL_ERR_BAD_DATA, "no proof from such a point");
        require(strstr(pool_last_error()->message, reason) != NULL, reason);
        groth16_result_free(&result);
    }
    require(!groth16_residents_destroy(&residents), "groth16_residents_destroy");
    pool_file_destroy(&key);
    remove(changed);
}

/* Over two devices, and over more than a proof can use under a lease. */
static void prove_over_devices(const pool_file *key, const pool_file *witness, const char *proof)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:5"};
    pool_request request = {.struct_size = sizeof(request), .devices = GROTH16_DEVICES + 1};
    pool_device *devices[2];
    struct groth16_job job = {.key = key,
        .witness = witness,
        .devices = devices,
        .device_count = 2,
        .random = fill_known_bytes};
    struct groth16_result result;
    device_pool *pool = NULL;

    require(!pool_create(&pool, &params), "pool_create");
    require(!pool_device_at(pool, 3, &devices[0]), "pool_device_at");
    require(!pool_device_at(pool, 1, &devices[1]), "pool_device_at");
    if (!takes_a_sample()) { /* a sample has them under a lease */
        require(!groth16_prove(&job, &result) && !strcmp(result.proof, proof), "two devices");
        groth16_result_free(&result);
    }
    require(!groth16_device_bytes(key, NULL, devices[0], &request.bytes), "device_bytes");
    require(!pool_acquire(pool, &request, &job.lease), "pool_acquire");
    job.devices = NULL;
    job.device_count = request.devices;
    require(!groth16_prove(&job, &result) && !strcmp(result.proof, proof), "under a lease");
    groth16_result_free(&result);
    require(!pool_release(&job.lease), "pool_release");
    require(!pool_destroy(&pool), "pool_destroy");
}

int main(int count, char **arguments)
{
    const pool_params params = {.struct_size = sizeof(params), .devices = "sim:2"};
    struct task tasks[3] = {{.status = POOL_OK}};
    pool_file *key = NULL;
    pool_file *witness = NULL;
    device_pool *pool = NULL;
    pool_device *device = NULL;

    require(count == 2, "one argument");
    key = open_file(arguments[1], "chain_bls12_381.zkey");
    witness = open_file(arguments[1], "chain_bls12_381.wtns");
    require(!pool_create(&pool, &params), "pool_create");
    require(!pool_device_at(pool, 0, &device), "pool_device_at");
    if (compiler_is_missing(device)) { /* the matrices' kernels have no prebuilt PTX */
        pool_file_destroy(&witness);
        pool_file_destroy(&key);
        require(!pool_destroy(&pool), "pool_destroy");
        return 77;
    }
    for (size_t i = 0; i < 3; i++) {
        tasks[i].job = (struct groth16_job){.key = key,
            .witness = witness,
            .progress = count_steps,
            .user = &tasks[i],
            .random = i < 2 ? fill_known_bytes : fail_random};
        require(!pool_next_device(pool, &tasks[i].job.device), "pool_next_device");
        require(!pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]), "pthread_create");
    }
    for (size_t i = 0; i < 3; i++)
        pthread_join(tasks[i].thread, NULL);
    require(!tasks[0].status && !tasks[1].status, "two proofs");
    require(tasks[0].steps == 6, "the quotient and five MSMs");
    require(!strcmp(tasks[0].result.proof, tasks[1].result.proof),
        "the same blinding factors on two devices give the same proof");
    require(tasks[2].status == POOL_ERR_IO && strstr(tasks[2].result.failure, "random"),
        "no random numbers, no proof");
    require(!tasks[2].result.proof && !tasks[2].result.public_signals, "nothing on failure");
    if (!takes_a_sample()) /* a sample has it with residents */
        prove_under_lease(pool, key, witness, NULL, tasks[0].result.proof);
    choose_multiples(pool, key);
    prove_with_residents(pool, key, witness, tasks[0].result.proof);
    refuse_points(pool, arguments[1], witness);
    require(!pool_destroy(&pool), "pool_destroy");
    prove_over_devices(key, witness, tasks[0].result.proof);
    for (size_t i = 0; i < 3; i++)
        groth16_result_free(&tasks[i].result);
    pool_file_destroy(&witness);
    pool_file_destroy(&key);
    return 0;
}
