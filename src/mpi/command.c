/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devicepool-mpi: what the ranks of an MPI job have, and their operations with random data or on
 * files. A program of its own, so that the command devicepool needs no MPI; 'devicepool mpi' runs
 * it. Public headers only.
 */
#include "command.h"

#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "usage.h"

enum { MAX_LOG_SIZE = 36, CALLS = 5 };

int rank, ranks;

void say(const char *format, ...)
{
    va_list arguments;

    if (rank)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

int fail(pool_status status)
{
    fprintf(stderr, "devicepool-mpi: on rank %d: %s: %s\n", rank, pool_status_name(status),
        pool_last_error()->message);
    return 1;
}

void *allocate(uint64_t count, uint64_t bytes)
{
    void *memory = calloc((size_t)count + 1, (size_t)bytes);

    if (!memory) {
        fprintf(stderr, "devicepool-mpi: rank %d has no memory for %llu items of %llu bytes\n",
            rank, (unsigned long long)count, (unsigned long long)bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double start_together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

/* The median of the calls, and the first one, which compiles; each one's time is that of the
 * slowest rank. */
static void report_times(const struct command *command, const char *operation, const char *subject,
    uint32_t log_size, double *seconds, int count)
{
    double slowest[CALLS] = {0}, first;

    MPI_Allreduce(seconds, slowest, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    first = slowest[0];
    qsort(slowest, (size_t)count, sizeof(double), compare);
    say("%s %s 2^%u over %d rank%s, %s memory, transport %s: %.3f ms (%.3f to %.3f; first call "
        "%.3f), correct\n",
        operation, subject, log_size, ranks, ranks == 1 ? "" : "s",
        command->on_device ? "device" : "host", pool_mpi_transport_name(command->info.transport),
        1e3 * slowest[count / 2], 1e3 * slowest[0], 1e3 * slowest[count - 1], 1e3 * first);
}

/* `span` becomes that of a copy in device memory. */
static pool_status to_device(const struct command *command, const void *data, uint64_t bytes,
    pool_buffer **buffer, pool_span *span)
{
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_from_host(command->device, data, bytes, buffer);

    if (!status)
        status = pool_buffer_address(*buffer, &address);
    span->data = (void *)(uintptr_t)address;
    span->space = POOL_MEMORY_DEVICE;
    return status;
}

/* ---- info ------------------------------------------------------------------------------------ */

static int show_info(struct command *command)
{
    pool_device_info device = {.struct_size = sizeof(device)};
    char host[64] = "", line[512], *lines = NULL;

    if (pool_device_get_info(command->device, &device))
        return fail(pool_last_error()->status);
    gethostname(host, sizeof(host) - 1);
    snprintf(line, sizeof(line), "rank %d  %s  device %d %s %s  can use: %s", rank, host,
        device.ordinal, device.name, device.uuid, command->info.transports);
    if (!rank)
        lines = allocate((uint64_t)ranks, sizeof(line));
    MPI_Gather(line, sizeof(line), MPI_CHAR, lines, sizeof(line), MPI_CHAR, 0, MPI_COMM_WORLD);
    say("devicepool %s, %d rank%s\n%s\ntransport: %s\n", pool_version_text(), ranks,
        ranks == 1 ? "" : "s", command->info.library,
        pool_mpi_transport_name(command->info.transport));
    for (int i = 0; i < ranks && lines; i++)
        say("%s\n", lines + (size_t)i * sizeof(line));
    if (command->info.warning[0])
        say("warning: %s\n", command->info.warning);
    free(lines);
    return 0;
}

/* ---- MSM ------------------------------------------------------------------------------------- */

/* Points of this rank that one thread generates. */
struct generation {
    const pool_curve *curve;
    uint64_t seed, count;
    uint8_t *points, *multiples;
    pool_status status;
    pthread_t thread;
};

static void *generate_points(void *user)
{
    struct generation *part = user;

    part->status = pool_random_points(
        part->curve, part->seed, (size_t)part->count, NULL, part->points, part->multiples);
    return NULL;
}

/* One processor takes a microsecond per point. */
static pool_status random_points(
    const pool_curve *curve, uint64_t count, uint8_t *points, uint8_t *multiples)
{
    enum { THREADS = 16, LEAST = 4096 };
    const uint64_t point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    const uint64_t scalar_bytes = pool_field_element_bytes(pool_curve_scalar_field(curve));
    const uint64_t share = count / THREADS < LEAST ? LEAST : (count + THREADS - 1) / THREADS;
    struct generation parts[THREADS];
    int started = 0;
    pool_status status = POOL_OK;

    for (uint64_t at = 0; at < count; at += share, started++) {
        parts[started] = (struct generation){.curve = curve,
            .seed = (uint64_t)rank * THREADS + (uint64_t)started,
            .count = count - at < share ? count - at : share,
            .points = points + at * point_bytes,
            .multiples = multiples + at * scalar_bytes};
        if (pthread_create(&parts[started].thread, NULL, generate_points, &parts[started])) {
            fprintf(stderr, "devicepool-mpi: rank %d cannot start a thread\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < started; i++) {
        pthread_join(parts[i].thread, NULL);
        status = status ? status : parts[i].status;
    }
    return status;
}

/* Points are multiples of the generator that are known, so that the sum can be checked on the host:
 * it is the inner product of both vectors of scalars, times the generator. */
static int check_sum(const pool_curve *curve, const pool_exec *exec, const void *multiples,
    const pool_span *scalars, uint64_t count, const void *sum)
{
    const pool_field *field = pool_curve_scalar_field(curve);
    const uint64_t bytes = pool_field_element_bytes(field);
    uint8_t *products = allocate(count, bytes), *parts = allocate((uint64_t)ranks, bytes);
    uint8_t *wanted = allocate(1, pool_point_bytes(curve, POOL_POINT_AFFINE));
    uint8_t one[POOL_FIELD_MAX_BYTES] = {1}, total[POOL_FIELD_MAX_BYTES] = {0};
    const pool_span factors = {.data = (void *)(uintptr_t)multiples, .count = count};
    const pool_span results = {.data = products, .count = count};
    const pool_span shares = {.data = parts, .count = (uint64_t)ranks};
    pool_status status = POOL_OK;
    int32_t is_equal = 0;

    if (count)
        status = pool_vector_mul(field, exec, &factors, scalars, &results);
    if (!status) /* the value at 1 is the sum of the elements */
        status = pool_vector_evaluate(field, exec, &results, one, total);
    MPI_Allgather(total, (int)bytes, MPI_BYTE, parts, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    if (!status)
        status = pool_vector_evaluate(field, exec, &shares, one, total);
    if (!status)
        status = pool_curve_generator(curve, NULL, wanted);
    if (!status)
        status = pool_point_mul(curve, NULL, wanted, total, (size_t)bytes, wanted);
    if (!status)
        status = pool_point_equal(curve, NULL, wanted, NULL, sum, &is_equal);
    free(products);
    free(parts);
    free(wanted);
    if (status)
        return fail(status);
    if (!is_equal)
        fprintf(stderr, "devicepool-mpi: rank %d: the sum is wrong\n", rank);
    return !is_equal;
}

int command_any_failed(int failed)
{
    int any = 1;

    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

static int run_msm(struct command *command, uint32_t log_size, int calls)
{
    const pool_curve *curve = pool_curve_by_name(command->curve);
    pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    const pool_exec exec = {.struct_size = sizeof(exec), .device = command->device};
    const uint64_t n = UINT64_C(1) << log_size;
    const uint64_t first = n / (uint64_t)ranks * (uint64_t)rank;
    const uint64_t count = rank == ranks - 1 ? n - first : n / (uint64_t)ranks;
    pool_span points = {.count = count}, scalars = {.count = count}, sum = {.count = 1};
    pool_buffer *buffers[2] = {NULL, NULL};
    pool_span where[2]; /* of points and scalars */
    double seconds[CALLS];
    pool_status status;
    void *multiples;
    int failed = 0;

    if (!curve)
        return fail(pool_last_error()->status);
    points.data = allocate(count, pool_point_bytes(curve, POOL_POINT_AFFINE));
    scalars.data = allocate(count, pool_field_element_bytes(pool_curve_scalar_field(curve)));
    multiples = allocate(count, pool_field_element_bytes(pool_curve_scalar_field(curve)));
    sum.data = allocate(1, pool_point_bytes(curve, POOL_POINT_AFFINE));
    status = random_points(curve, count, points.data, multiples);
    if (!status)
        status = pool_random_scalars(pool_curve_scalar_field(curve), (uint64_t)rank + 1000,
            (size_t)count, POOL_FORM_STANDARD, scalars.data);
    where[0] = points;
    where[1] = scalars;
    if (!status && command->on_device && count) {
        status = to_device(command, points.data, count * pool_point_bytes(curve, POOL_POINT_AFFINE),
            &buffers[0], &where[0]);
        if (!status)
            status = to_device(command, scalars.data,
                count * pool_field_element_bytes(pool_curve_scalar_field(curve)), &buffers[1],
                &where[1]);
    }
    /* A rank without memory must not leave the others waiting. */
    if (status)
        MPI_Abort(MPI_COMM_WORLD, fail(status));
    for (int i = 0; i < calls && !status; i++) {
        const double start = start_together();

        status = pool_mpi_msm(command->mpi, &params, NULL, &where[0], &where[1], &sum);
        seconds[i] = MPI_Wtime() - start;
    }
    failed =
        status ? fail(status)
               : command_any_failed(check_sum(curve, &exec, multiples, &scalars, count, sum.data));
    if (!failed)
        report_times(command, "msm", command->curve, log_size, seconds, calls);
    (void)pool_buffer_destroy(&buffers[0]);
    (void)pool_buffer_destroy(&buffers[1]);
    free(points.data);
    free(scalars.data);
    free(multiples);
    free(sum.data);
    return failed;
}

/* ---- NTT ------------------------------------------------------------------------------------- */

static pool_status transform_and_back(struct command *command, pool_ntt_params *params,
    const pool_span *span, int calls, double *seconds)
{
    pool_status status = POOL_OK;

    for (int i = 0; i < calls && !status; i++) {
        const double start = start_together();

        params->direction = POOL_NTT_FORWARD;
        status = pool_mpi_ntt(command->mpi, params, NULL, POOL_MPI_CYCLIC, span, span);
        seconds[i] = MPI_Wtime() - start;
        params->direction = POOL_NTT_INVERSE;
        if (!status)
            status = pool_mpi_ntt(command->mpi, params, NULL, POOL_MPI_CYCLIC, span, span);
    }
    return status;
}

static int run_ntt(struct command *command, uint32_t log_size, int calls)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name(command->field),
        .log_size = log_size};
    pool_ntt_params params = {.struct_size = sizeof(params)};
    const uint64_t count = (UINT64_C(1) << log_size) / (uint64_t)ranks;
    const uint64_t bytes = pool_field_element_bytes(domain_params.field);
    uint8_t *given, *got;
    pool_buffer *buffer = NULL;
    pool_span span = {.count = count};
    double seconds[CALLS];
    pool_status status;
    int failed;

    if (!domain_params.field || pool_ntt_domain_create(&domain_params, &params.domain))
        return fail(pool_last_error()->status);
    given = allocate(count, bytes);
    got = allocate(count, bytes);
    status = pool_random_scalars(
        domain_params.field, (uint64_t)rank, (size_t)count, POOL_FORM_STANDARD, given);
    memcpy(got, given, count * bytes);
    span.data = got;
    if (!status && command->on_device)
        status = to_device(command, given, count * bytes, &buffer, &span);
    /* A rank without memory must not leave the others waiting. */
    if (status)
        MPI_Abort(MPI_COMM_WORLD, fail(status));
    status = transform_and_back(command, &params, &span, calls, seconds);
    if (status)
        failed = fail(status);
    else if (command->on_device && pool_copy_to_host(got, buffer, 0, count * bytes, NULL))
        failed = fail(pool_last_error()->status);
    else if ((failed = memcmp(given, got, count * bytes) != 0))
        fprintf(stderr, "devicepool-mpi: rank %d: the inverse differs from the input\n", rank);
    if (!status)
        failed = command_any_failed(failed);
    if (!failed)
        report_times(command, "ntt", command->field, log_size, seconds, calls);
    (void)pool_buffer_destroy(&buffer);
    free(given);
    free(got);
    (void)pool_ntt_domain_destroy(&params.domain);
    return failed;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* A tree over 64 leaves per rank; the last leaf is opened, and the opening verified. */
static int run_tree(struct command *command)
{
    enum { LEAVES = 64, DIGEST = 32 };
    pool_merkle_params params = {.struct_size = sizeof(params), .arity = 2};
    pool_merkle_shape below = {.struct_size = sizeof(below)},
                      above = {.struct_size = sizeof(above)};
    const uint64_t index = (uint64_t)ranks * LEAVES - 1;
    uint8_t leaf[DIGEST], *memory = allocate(4 * LEAVES + 4 * (uint64_t)ranks + 128, DIGEST);
    pool_span leaves = {.data = memory, .count = LEAVES}, levels = {0}, top = {0}, path = {0};
    pool_poseidon *set = NULL;
    int32_t is_member = 0;
    pool_status status = pool_poseidon_by_name("circom-bn254-t3", &set);

    if (!status)
        status = pool_random_scalars(
            pool_poseidon_field(set), (uint64_t)rank, LEAVES, POOL_FORM_STANDARD, leaves.data);
    if (!status)
        status = pool_mpi_merkle_get_shape(command->mpi, set, &params, LEAVES, &below, &above);
    levels = (pool_span){.data = memory + LEAVES * DIGEST, .count = below.digest_count};
    top = (pool_span){
        .data = (uint8_t *)levels.data + levels.count * DIGEST, .count = above.digest_count};
    path = (pool_span){.data = (uint8_t *)top.data + top.count * DIGEST,
        .count = below.path_count + above.path_count};
    if (!status)
        status = pool_mpi_merkle_build(command->mpi, set, NULL, &params, &leaves, &levels, &top);
    if (!status)
        status = pool_mpi_merkle_open(
            command->mpi, set, NULL, &params, LEAVES, &leaves, &levels, &top, index, &path);
    memcpy(leaf, memory + (LEAVES - 1) * DIGEST, DIGEST);
    MPI_Bcast(leaf, DIGEST, MPI_BYTE, ranks - 1, MPI_COMM_WORLD);
    params.height = below.height + above.height;
    if (!status)
        status = pool_poseidon_merkle_verify(set, &params, POOL_FORM_STANDARD,
            (uint8_t *)top.data + (top.count - 1) * DIGEST, leaf, index, path.data, &is_member);
    pool_poseidon_destroy(&set);
    free(memory);
    if (status)
        return fail(status);
    say("tree of %llu leaves over %d ranks, the last one opened: %s\n",
        (unsigned long long)index + 1, ranks, is_member ? "correct" : "wrong");
    return !is_member;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int run_demo(struct command *command)
{
    uint32_t log_size = 10;

    while (log_size < MAX_LOG_SIZE && 1 << (log_size / 2) < ranks)
        log_size++;
    return run_msm(command, 8, 1) || run_ntt(command, log_size, 1) || run_tree(command);
}

static int run_bench(struct command *command)
{
    const char *only = command->operand_count ? command->operands[0] : "";

    return (strcmp(only, "ntt") != 0 && run_msm(command, command->log_size, CALLS)) ||
           (strcmp(only, "msm") != 0 && run_ntt(command, command->log_size, CALLS));
}

static int run_command(struct command *command)
{
    if (strcmp(command->name, "info") == 0)
        return show_info(command);
    if (strcmp(command->name, "demo") == 0)
        return run_demo(command);
    if (strcmp(command->name, "msm") == 0)
        return command->operand_count ? run_msm_on_files(command)
                                      : run_msm(command, command->log_size, 1);
    if (strcmp(command->name, "ntt") == 0)
        return command->operand_count ? run_ntt_on_file(command)
                                      : run_ntt(command, command->log_size, 1);
    return run_bench(command);
}

static pool_status open_pool(struct command *command)
{
    /* A context on the rank's own device only. */
    const pool_params params = {
        .struct_size = sizeof(params), .devices = command->devices, .lazy = 1};
    pool_mpi_params mpi_params = {.struct_size = sizeof(mpi_params),
        .timeout_ns = (uint64_t)command->timeout_seconds * 1000000000u};
    pool_status status = pool_create(&command->pool, &params);

    if (status)
        (void)fail(status); /* of this rank; the call below fails on all */
    mpi_params.pool = command->pool;
    status = pool_mpi_create(MPI_COMM_WORLD, &mpi_params, &command->mpi);
    command->info.struct_size = sizeof(command->info);
    if (!status)
        status = pool_mpi_get_info(command->mpi, &command->info);
    command->device = command->info.device;
    return status;
}

static int is_number(const char *text, unsigned long most, uint32_t *number)
{
    char *end = NULL;
    unsigned long value = strtoul(text, &end, 10);

    if (!*text || *end || value > most || text[0] == '-')
        return 0;
    *number = (uint32_t)value;
    return 1;
}

/* The operands that the subcommand takes. */
static int takes_operands(const struct command *command)
{
    const char *first = command->operands[0];

    if (strcmp(command->name, "msm") == 0)
        return (command->operand_count == 0 || command->operand_count == 2) && !command->output;
    if (strcmp(command->name, "ntt") == 0)
        return command->operand_count == (command->output ? 1 : 0);
    if (command->output || command->is_inverse)
        return 0;
    if (strcmp(command->name, "bench") == 0 && command->operand_count == 1)
        return strcmp(first, "msm") == 0 || strcmp(first, "ntt") == 0;
    return command->operand_count == 0 &&
           (strcmp(command->name, "info") == 0 || strcmp(command->name, "demo") == 0 ||
               strcmp(command->name, "bench") == 0);
}

/* Whether the command line is valid. */
static int read_options(struct command *command, int count, char **arguments)
{
    const struct option options[] = {{"devices", required_argument, NULL, 'd'},
        {"log-size", required_argument, NULL, 'n'}, {"curve", required_argument, NULL, 'c'},
        {"field", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
        {"inverse", no_argument, &command->is_inverse, 1},
        {"device-memory", no_argument, &command->on_device, 1},
        {"timeout", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option, is_valid = 1;

    opterr = 0;
    while ((option = getopt_long(count, arguments, "d:n:c:f:o:h", options, NULL)) != -1)
        switch (option) {
        case 0:
            break;
        case 'd':
            command->devices = optarg;
            break;
        case 'n':
            is_valid &= is_number(optarg, MAX_LOG_SIZE, &command->log_size);
            break;
        case 'c':
            command->curve = optarg;
            break;
        case 'f':
            command->field = optarg;
            break;
        case 'o':
            command->output = optarg;
            break;
        case 't':
            is_valid &= is_number(optarg, 1000000, &command->timeout_seconds);
            break;
        default:
            is_valid = 0;
        }
    if (!is_valid || optind >= count || count - optind > 3)
        return 0;
    command->name = arguments[optind];
    command->operand_count = count - optind - 1;
    for (int i = 0; i < command->operand_count; i++)
        command->operands[i] = arguments[optind + 1 + i];
    return takes_operands(command);
}

int main(int count, char **arguments)
{
    struct command command = {.curve = "bn254_g1", .field = "bn254_fr", .log_size = 20};
    const int is_valid = read_options(&command, count, arguments);
    int level, failed = 0;
    pool_status status;

    if (count > 1 && (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0))
        return fputs(MPI_USAGE, stdout) < 0;
    if (!is_valid)
        return fputs("devicepool-mpi: invalid command line; --help explains it\n", stderr) < 0 ? 1
                                                                                               : 2;
    if (MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    status = open_pool(&command);
    failed = status ? fail(status) : run_command(&command);
    (void)pool_mpi_destroy(&command.mpi);
    (void)pool_destroy(&command.pool);
    MPI_Finalize();
    return failed;
}
