/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public function that takes a struct with struct_size, with every struct_size from 0 to 64
 * beyond the struct: the memory behind is not readable or writable, so that a byte too many ends
 * the program. Only sizes of a release are taken, and larger ones whose further bytes are zero.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <devicepool/mock.h>

#include "support/pool.h"

enum { BEYOND = 64, PAGE = 4096 };

/* Two pages, the second one closed; structs end where it begins. */
static uint8_t *guarded;

static const char source[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\nret;\n}\n";
static struct {
    pool_module *module;
    pool_kernel *kernel;
    pool_ntt_domain *domain;
    pool_poseidon *set;
    pool_file *file;
    char path[64];
} world;

static const pool_curve *bn254(void)
{
    return pool_curve_by_name("bn254_g1");
}

/* What is right for each struct, and a call with it. `info` is filled by the library. */
struct row {
    const char *name;
    size_t size;
    int is_info;
    void (*fill)(void *params); /* NULL: struct_size alone */
    pool_status (*call)(void *params);
    pool_status status; /* of the call with a size that is right */
};

#define CALL(name) static pool_status name(void *given)

CALL(field_create)
{
    pool_field *field = NULL;
    pool_status status = pool_field_create(given, &field);

    pool_field_destroy(&field);
    return status;
}

static void field_fill(void *params)
{
    ((pool_field_params *)params)->modulus = "101";
}

CALL(curve_create)
{
    pool_curve *curve = NULL;
    pool_status status = pool_curve_create(given, &curve);

    pool_curve_destroy(&curve);
    return status;
}

/* secp256k1 */
static void curve_fill(void *given)
{
    pool_curve_params *params = given;

    params->field = pool_field_by_name("secp256k1_fq");
    params->b[0] = "7";
    params->generator_x[0] = "0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    params->generator_y[0] = "0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    params->order = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
}

CALL(pool_create_one)
{
    device_pool *made = NULL;
    pool_status status = pool_create(&made, given);

    pool_destroy(&made);
    return status;
}

static void pool_fill(void *params)
{
    ((pool_params *)params)->devices = "sim";
}

CALL(pick)
{
    pool_device *picked;

    return pool_pick_device(pool, given, &picked);
}

CALL(acquire)
{
    pool_lease *lease = NULL;
    pool_status status = pool_acquire(pool, given, &lease);

    pool_release(&lease);
    return status;
}

CALL(acquire_async)
{
    pool_ticket *ticket = NULL;
    pool_status status = pool_acquire_async(pool, given, NULL, NULL, &ticket);

    pool_ticket_destroy(&ticket);
    return status;
}

CALL(lease_info)
{
    pool_lease *lease = NULL;
    pool_status status = pool_acquire(pool, NULL, &lease);

    if (!status)
        status = pool_lease_get_info(lease, given);
    pool_release(&lease);
    return status;
}

CALL(lease_usage)
{
    pool_lease *lease = NULL;
    pool_status status = pool_acquire(pool, NULL, &lease);

    if (!status)
        status = pool_lease_get_usage(lease, 0, given);
    pool_release(&lease);
    return status;
}

CALL(lease_counts)
{
    return pool_get_lease_counts(pool, given);
}

CALL(stream_create)
{
    pool_stream *stream = NULL;
    pool_status status = pool_stream_create(device, given, &stream);

    pool_stream_destroy(&stream);
    return status;
}

CALL(buffer_create)
{
    pool_buffer *buffer = NULL;
    pool_status status = pool_buffer_create(device, given, &buffer);

    pool_buffer_destroy(&buffer);
    return status;
}

static void module_fill(void *params)
{
    ((pool_module_params *)params)->source = "extern \"C\" __global__ void nothing() {}";
}

/* Whether this host has a compiler is not the question. */
CALL(module_compile)
{
    pool_module *module = NULL;
    pool_status status = pool_module_compile(device, given, &module);

    pool_module_destroy(&module);
    return status == POOL_ERR_NO_COMPILER ? POOL_OK : status;
}

CALL(warm_up)
{
    pool_status status = pool_warm_up(pool, NULL, given, 1);

    return status == POOL_ERR_NO_COMPILER ? POOL_OK : status;
}

CALL(launch)
{
    return pool_launch(world.kernel, given, NULL, NULL);
}

CALL(shape_for)
{
    return pool_launch_shape_for(1, given);
}

static void domain_fill(void *given)
{
    pool_ntt_domain_params *params = given;

    params->field = pool_field_by_name("babybear");
    params->log_size = 2;
}

CALL(domain_create)
{
    pool_ntt_domain *domain = NULL;
    pool_status status = pool_ntt_domain_create(given, &domain);

    pool_ntt_domain_destroy(&domain);
    return status;
}

static void ntt_fill(void *given)
{
    pool_ntt_params *params = given;

    params->domain = world.domain;
}

/* Spans without elements end the calls of all operations after the params are read. */
static pool_span no_items;

/* For the params of an operation. */
static pool_exec exec_now;

static void exec_fill(void *given)
{
    ((pool_exec *)given)->device = device;
}

CALL(ntt)
{
    return pool_ntt(given, &exec_now, &no_items, &no_items);
}

CALL(ntt_exec)
{
    pool_ntt_params params = {.struct_size = sizeof(params)};

    ntt_fill(&params);
    return pool_ntt(&params, given, &no_items, &no_items);
}

CALL(ntt_workspace)
{
    uint64_t bytes;

    return pool_ntt_workspace(given, &exec_now, &no_items, &no_items, &bytes);
}

CALL(vector_add)
{
    return pool_vector_add(pool_field_by_name("babybear"), given, &no_items, &no_items, &no_items);
}

CALL(vector_scale)
{
    static const uint32_t one = 1;

    return pool_vector_scale(pool_field_by_name("babybear"), given, &one, &no_items, &no_items);
}

CALL(vector_inverse)
{
    return pool_vector_inverse(pool_field_by_name("babybear"), given, &no_items, &no_items);
}

CALL(vector_transpose)
{
    return pool_vector_transpose(pool_field_by_name("babybear"), given, 0, 0, &no_items, &no_items);
}

CALL(vector_powers)
{
    static const uint32_t one = 1;

    return pool_vector_powers(pool_field_by_name("babybear"), given, &one, &no_items);
}

CALL(vector_evaluate)
{
    static const uint32_t one = 1;
    uint32_t value;

    return pool_vector_evaluate(pool_field_by_name("babybear"), given, &no_items, &one, &value);
}

static void points_fill(void *given)
{
    pool_bases_params *params = given;

    params->curve = bn254();
}

CALL(points_create)
{
    pool_span wrong = {.stride = 3};
    pool_bases *points;

    return pool_bases_create(given, &exec_now, &wrong, &points);
}

CALL(points_create_exec)
{
    pool_bases_params params = {.struct_size = sizeof(params), .curve = bn254()};
    pool_span wrong = {.stride = 3};
    pool_bases *points;

    return pool_bases_create(&params, given, &wrong, &points);
}

CALL(points_load)
{
    pool_bases *points;

    return pool_bases_load(given, &exec_now, "/nowhere/at/all", &points);
}

static void msm_fill(void *given)
{
    pool_msm_params *params = given;

    params->curve = bn254();
}

CALL(msm)
{
    return pool_msm(
        given, &exec_now, &no_items, &no_items, &no_items); /* one MSM has one result, not 0 */
}

CALL(msm_exec)
{
    pool_msm_params params = {.struct_size = sizeof(params), .curve = bn254()};

    return pool_msm(&params, given, &no_items, &no_items, &no_items);
}

CALL(msm_workspace)
{
    uint64_t bytes;

    return pool_msm_workspace(given, &exec_now, &no_items, &no_items, &no_items, &bytes);
}

CALL(msm_joint)
{
    return pool_msm_joint(given, &exec_now, &(pool_msm_term){.bases = NULL}, 1, &no_items);
}

CALL(msm_joint_workspace)
{
    uint64_t bytes;

    return pool_msm_joint_workspace(
        given, &exec_now, &(pool_msm_term){.bases = NULL}, 1, &no_items, &bytes);
}

static void run_fill(void *given)
{
    ((pool_exec *)given)->on_host = 1;
}

CALL(permute)
{
    return pool_poseidon_permute(world.set, given, &no_items, &no_items);
}

CALL(hash)
{
    return pool_poseidon_hash(world.set, given, &no_items, 2, &no_items);
}

static void sponge_fill(void *given)
{
    ((pool_poseidon_sponge_params *)given)->elements = 1;
}

CALL(sponge)
{
    pool_exec run = {.struct_size = sizeof(run), .on_host = 1};

    return pool_poseidon_sponge(world.set, &run, given, &no_items, &no_items);
}

static void merkle_fill(void *given)
{
    pool_merkle_params *params = given;

    params->arity = 2;
    params->height = 1;
}

CALL(merkle_shape_params)
{
    pool_merkle_shape shape = {.struct_size = sizeof(shape)};

    return pool_merkle_get_shape(world.set, given, 2, &shape);
}

CALL(merkle_build)
{
    uint8_t data[5 * 32] = {0};
    pool_exec run = {.struct_size = sizeof(run), .on_host = 1};
    pool_span leaves = {.data = data, .count = 2}, rows = {.data = data + 64, .count = 3};

    return pool_poseidon_merkle_build(world.set, &run, given, &leaves, &rows);
}

CALL(merkle_open)
{
    uint8_t data[6 * 32] = {0};
    pool_exec run = {.struct_size = sizeof(run), .on_host = 1};
    pool_span leaves = {.data = data, .count = 2}, rows = {.data = data + 64, .count = 3};
    pool_span path = {.data = data + 160, .count = 1};

    return pool_poseidon_merkle_open(world.set, &run, given, 2, &leaves, &rows, 0, &path);
}

CALL(merkle_verify)
{
    uint8_t element[32] = {0};
    int32_t answer;

    return pool_poseidon_merkle_verify(
        world.set, given, POOL_FORM_STANDARD, element, element, 0, element, &answer);
}

CALL(merkle_shape)
{
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};

    return pool_merkle_get_shape(world.set, &params, 2, given);
}

static void set_fill(void *given)
{
    pool_poseidon_params *params = given;
    static const uint32_t constants[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t matrix[4] = {2, 1, 1, 3};

    params->field = pool_field_by_name("babybear");
    params->width = 2;
    params->alpha = 7;
    params->full_rounds = 4;
    params->round_constants = constants;
    params->round_constant_count = 8;
    params->mds = matrix;
    params->mds_count = 4;
}

CALL(set_create)
{
    pool_poseidon *set = NULL;
    pool_status status = pool_poseidon_create(given, &set);

    pool_poseidon_destroy(&set);
    return status;
}

static void file_fill(void *given)
{
    pool_file_params *params = given;

    params->kind = POOL_FILE_RAW;
    params->field = pool_field_by_name("babybear");
}

CALL(file_open)
{
    pool_file *file = NULL;
    pool_status status = pool_file_open(world.path, given, &file);

    pool_file_destroy(&file);
    return status;
}

CALL(file_info)
{
    return pool_file_get_info(world.file, given);
}

CALL(file_section)
{
    return pool_file_get_section(world.file, "data", given);
}

CALL(file_section_at)
{
    return pool_file_section_at(world.file, 0, given);
}

CALL(device_info)
{
    return pool_device_get_info(device, given);
}

CALL(peer_info)
{
    return pool_device_get_peer(device, device, given);
}

CALL(health)
{
    return pool_get_health(pool, given);
}

CALL(memory_info)
{
    return pool_memory_get_info(device, given);
}

CALL(kernel_info)
{
    return pool_kernel_get_info(world.kernel, given);
}

CALL(host_info)
{
    return pool_host_get_info(given);
}

CALL(last_fault)
{
    return pool_sim_get_last_fault(given);
}

CALL(mock_create)
{
    pool_mock *mock = NULL;
    pool_status status = pool_mock_create(&mock, given);

    pool_mock_destroy(&mock);
    return status;
}

static void mock_kernel_fill(void *given)
{
    ((pool_mock_kernel *)given)->name = "kernel";
}

CALL(mock_kernel)
{
    pool_mock *mock = NULL;
    pool_status status = pool_mock_create(&mock, NULL);

    if (!status)
        status = pool_mock_add_kernel(mock, given);
    pool_mock_destroy(&mock);
    return status;
}

#define BAD POOL_ERR_INVALID_ARGUMENT
#define PARAMS(type, fill, call, status)                                                           \
    {                                                                                              \
#call ": " #type, sizeof(type), 0, fill, call, status                                      \
    }
#define INFO(type, call)                                                                           \
    {                                                                                              \
#call ": " #type, sizeof(type), 1, NULL, call, POOL_OK                                     \
    }
static const struct row rows[] = {
    PARAMS(pool_field_params, field_fill, field_create, POOL_OK),
    PARAMS(pool_curve_params, curve_fill, curve_create, POOL_OK),
    PARAMS(pool_params, pool_fill, pool_create_one, POOL_OK),
    PARAMS(pool_pick, NULL, pick, POOL_OK),
    PARAMS(pool_stream_params, NULL, stream_create, POOL_OK),
    PARAMS(pool_request, NULL, acquire, POOL_OK),
    PARAMS(pool_request, NULL, acquire_async, POOL_OK),
    PARAMS(pool_buffer_params, NULL, buffer_create, POOL_OK),
    PARAMS(pool_module_params, module_fill, module_compile, POOL_OK),
    PARAMS(pool_module_params, module_fill, warm_up, POOL_OK),
    PARAMS(pool_launch_shape, NULL, launch, POOL_OK),
    PARAMS(pool_ntt_domain_params, domain_fill, domain_create, POOL_OK),
    PARAMS(pool_ntt_params, ntt_fill, ntt, BAD),
    PARAMS(pool_ntt_params, ntt_fill, ntt_workspace, BAD),
    PARAMS(pool_exec, exec_fill, ntt_exec, BAD),
    PARAMS(pool_exec, exec_fill, points_create_exec, BAD),
    PARAMS(pool_exec, exec_fill, msm_exec, BAD),
    PARAMS(pool_exec, exec_fill, vector_add, POOL_OK),
    PARAMS(pool_exec, exec_fill, vector_scale, POOL_OK),
    PARAMS(pool_exec, exec_fill, vector_inverse, POOL_OK),
    PARAMS(pool_exec, exec_fill, vector_transpose, POOL_OK),
    PARAMS(pool_exec, exec_fill, vector_powers, POOL_OK),
    PARAMS(pool_exec, exec_fill, vector_evaluate, POOL_OK),
    PARAMS(pool_bases_params, points_fill, points_create, BAD),
    PARAMS(pool_bases_params, points_fill, points_load, POOL_ERR_IO),
    PARAMS(pool_msm_params, msm_fill, msm, BAD),
    PARAMS(pool_msm_params, msm_fill, msm_workspace, BAD),
    PARAMS(pool_msm_joint_params, NULL, msm_joint, BAD),
    PARAMS(pool_msm_joint_params, NULL, msm_joint_workspace, BAD),
    PARAMS(pool_poseidon_params, set_fill, set_create, POOL_OK),
    PARAMS(pool_exec, run_fill, permute, POOL_OK),
    PARAMS(pool_exec, run_fill, hash, POOL_OK),
    PARAMS(pool_poseidon_sponge_params, sponge_fill, sponge, POOL_OK),
    PARAMS(pool_merkle_params, merkle_fill, merkle_shape_params, POOL_OK),
    PARAMS(pool_merkle_params, merkle_fill, merkle_build, POOL_OK),
    PARAMS(pool_merkle_params, merkle_fill, merkle_open, POOL_OK),
    PARAMS(pool_merkle_params, merkle_fill, merkle_verify, POOL_OK),
    PARAMS(pool_file_params, file_fill, file_open, POOL_OK),
    PARAMS(pool_mock_params, NULL, mock_create, POOL_OK),
    PARAMS(pool_mock_kernel, mock_kernel_fill, mock_kernel, POOL_OK),
    INFO(pool_launch_shape, shape_for),
    INFO(pool_merkle_shape, merkle_shape),
    INFO(pool_file_info, file_info),
    INFO(pool_file_section, file_section),
    INFO(pool_file_section, file_section_at),
    INFO(pool_device_info, device_info),
    INFO(pool_peer_info, peer_info),
    INFO(pool_health_info, health),
    INFO(pool_lease_info, lease_info),
    INFO(pool_lease_usage, lease_usage),
    INFO(pool_lease_counts, lease_counts),
    INFO(pool_memory_info, memory_info),
    INFO(pool_kernel_info, kernel_info),
    INFO(pool_host_info, host_info),
    INFO(pool_sim_fault, last_fault),
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* The struct at the end of the open page, of `size` bytes but at least struct_size; aligned, so
 * that up to 7 bytes behind it are there, which are neither zero nor to be written. */
static uint8_t *place(const struct row *row, size_t size, int garbage)
{
    size_t bytes = size < sizeof(size_t) ? sizeof(size_t) : size;
    uint8_t *at = guarded + PAGE - (bytes + 7) / 8 * 8;
    uint64_t whole[2 * PAGE / sizeof(uint64_t)] = {0};

    memset(guarded, 0xee, PAGE);
    if (row->fill)
        row->fill(whole);
    memcpy(at, whole, bytes);
    if (row->is_info)
        memset(at, 0xdd, bytes);
    if (garbage >= 0)
        at[garbage] = 1;
    memcpy(at, &size, sizeof(size));
    return at;
}

static void fail_row(const struct row *row, size_t size, pool_status status)
{
    print_error("%s: struct_size %zu of %zu gives %s: %s\n", row->name, size, row->size,
        pool_status_name(status), pool_last_error()->message);
    fail();
}

/* Answers 1 when the struct was taken and the call answered as it does with the right size. */
static int is_taken(const struct row *row, pool_status status)
{
    if (status != row->status)
        return 0;
    return status != BAD || !strstr(pool_last_error()->message, "struct_size");
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t r = 0; r < ROW_COUNT; r++) {
        const struct row *row = &rows[r];

        for (size_t size = 0; size <= row->size + BEYOND; size++) {
            uint8_t *at = place(row, size, -1);
            pool_status status;

            status = row->call(at);
            if (size >= row->size ? !is_taken(row, status) : status != BAD)
                fail_row(row, size, status);
            if (status == POOL_OK && row->is_info) {
                assert_memory_equal(at, &size, sizeof(size));
                for (size_t i = row->size; i < size; i++)
                    assert_int_equal(at[i], 0);
            }
            for (uint8_t *byte = guarded; byte < guarded + PAGE; byte++)
                if (byte < at || byte >= at + (size < sizeof(size) ? sizeof(size) : size))
                    assert_int_equal(*byte, 0xee);
        }
    }
}

/* One byte beyond what is known: refused in params, wherever it is; cleared in infos. */
static void test_tails(void **state)
{
    (void)state;
    for (size_t r = 0; r < ROW_COUNT; r++) {
        const struct row *row = &rows[r];
        size_t size = row->size + BEYOND;

        for (size_t i = row->size; i < size && !row->is_info; i += 7) {
            pool_status status = row->call(place(row, size, (int)i));

            if (status != BAD || (!strstr(row->name, "pool_mock") && row->status != BAD &&
                                     !strstr(pool_last_error()->message, "struct_size")))
                fail_row(row, size, status);
        }
    }
}

/* Sizes that were never set: nothing beyond struct_size may be read. */
static void test_garbage(void **state)
{
    static const size_t sizes[] = {4097, (size_t)1 << 20, SIZE_MAX / 2, SIZE_MAX - 7, SIZE_MAX};

    (void)state;
    for (size_t r = 0; r < ROW_COUNT; r++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint8_t *at = guarded + PAGE - sizeof(size_t);
            pool_status status;

            memcpy(at, &sizes[i], sizeof(sizes[i]));
            status = rows[r].call(at);
            if (status != BAD)
                fail_row(&rows[r], sizes[i], status);
        }
}

/* Each init with its own type of struct. */
#define INITS(X)                                                                                   \
    X(pool_field_params)                                                                           \
    X(pool_curve_params)                                                                           \
    X(pool_file_params)                                                                            \
    X(pool_buffer_params)                                                                          \
    X(pool_bases_params)                                                                           \
    X(pool_msm_joint_params)                                                                       \
    X(pool_msm_params)                                                                             \
    X(pool_ntt_domain_params)                                                                      \
    X(pool_ntt_params)                                                                             \
    X(pool_params)                                                                                 \
    X(pool_poseidon_params)                                                                        \
    X(pool_poseidon_sponge_params)                                                                 \
    X(pool_merkle_params) X(pool_stream_params) X(pool_exec) X(pool_request)
#define INIT_CALL(type)                                                                            \
    static void init_##type(void *params, size_t struct_size)                                      \
    {                                                                                              \
        type##_init(params, struct_size);                                                          \
    }
INITS(INIT_CALL)

/* Nothing is written beyond the size that an init is reported. */
static void test_inits(void **state)
{
#define INIT_ROW(type) init_##type,
    static void (*const inits[])(void *params, size_t struct_size) = {INITS(INIT_ROW)};

    (void)state;
    for (size_t i = 0; i < sizeof(inits) / sizeof(inits[0]); i++) {
        inits[i](NULL, 64);
        for (size_t size = 0; size <= 256; size++) {
            uint8_t *at = guarded + PAGE - size;

            memset(guarded, 0xee, PAGE);
            inits[i](at, size);
            if (size >= sizeof(size_t))
                assert_memory_equal(at, &size, sizeof(size));
            for (size_t k = 0; k < size; k++)
                if (k >= sizeof(size_t) || size < sizeof(size_t))
                    assert_int_equal(at[k], size < sizeof(size_t) ? 0xee : 0);
            assert_int_equal(at[-1], 0xee);
        }
        inits[i](guarded, SIZE_MAX);
    }
}

static int open_world(void **state)
{
    pool_file_params raw = {
        .struct_size = sizeof(raw), .kind = POOL_FILE_RAW, .field = pool_field_by_name("babybear")};
    pool_ntt_domain_params domain = {.struct_size = sizeof(domain)};
    FILE *file;

    guarded = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guarded == MAP_FAILED || mprotect(guarded + PAGE, PAGE, PROT_NONE) || open_pool(state))
        return -1;
    exec_now = exec_here();
    domain_fill(&domain);
    snprintf(world.path, sizeof(world.path), "/tmp/devicepool-sizes-%ld", (long)getpid());
    file = fopen(world.path, "w");
    if (!file || fwrite(source, 4, 4, file) != 4 || fclose(file))
        return -1;
    return pool_module_load(device, source, sizeof(source), &world.module) ||
           pool_kernel_get(world.module, "nothing", &world.kernel) ||
           pool_ntt_domain_create(&domain, &world.domain) ||
           pool_poseidon_by_name("circom-bn254-t3", &world.set) ||
           pool_file_open(world.path, &raw, &world.file);
}

static int close_world(void **state)
{
    pool_module_destroy(&world.module);
    pool_ntt_domain_destroy(&world.domain);
    pool_poseidon_destroy(&world.set);
    pool_file_destroy(&world.file);
    unlink(world.path);
    munmap(guarded, 2 * PAGE);
    return close_pool(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_inits),
    };

    return cmocka_run_group_tests(tests, open_world, close_world);
}
