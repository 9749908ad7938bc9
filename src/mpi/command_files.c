/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of devicepool-mpi on raw files. Each rank reads its part by MPI-IO, and writes its
 * part of a result, so that no host needs memory for a whole file. Ranks agree before they compute.
 * Rank 0 creates the new file and renames it when all have written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "output_file.h"

/* MPI counts bytes in an int. */
enum { IO_BYTES = 1 << 30 };

/* A file that all ranks have opened. */
struct shared_file {
    const char *path;
    MPI_File file;
    int is_open;
    uint64_t bytes;
};

/* A failure of MPI-IO on this rank; `code` is that of the call. */
static int fail_file(const char *path, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    MPI_Error_string(code, text, &length);
    fprintf(stderr, "devicepool-mpi: on rank %d: '%s' cannot be %s: %s\n", rank, path, what, text);
    return 1;
}

/* What is wrong with the files for all ranks: rank 0 reports it. */
static int fail_all(const char *path, const char *what)
{
    if (!rank)
        fprintf(stderr, "devicepool-mpi: '%s' %s\n", path, what);
    return 1;
}

static int open_file(const char *path, int mode, struct shared_file *file)
{
    MPI_Offset bytes = 0;
    int code = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file->file);
    int failed = 0;

    file->path = path;
    file->is_open = code == MPI_SUCCESS;
    if (file->is_open)
        code = MPI_File_get_size(file->file, &bytes);
    if (code != MPI_SUCCESS)
        failed = fail_file(path, "opened", code);
    file->bytes = (uint64_t)bytes;
    return command_any_failed(failed);
}

static void close_file(struct shared_file *file)
{
    if (file->is_open)
        MPI_File_close(&file->file);
    file->is_open = 0;
}

/* Copies of one path on several hosts may differ. */
static int has_same_size(const struct shared_file *file)
{
    uint64_t sizes[2] = {file->bytes, ~file->bytes}, most[2] = {0};

    MPI_Allreduce(sizes, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most[0] == ~most[1];
}

static int transfer(struct shared_file *file, int writes, uint64_t at, uint64_t bytes, void *data)
{
    uint8_t *to = data;

    while (bytes) {
        const int count = (int)(bytes < IO_BYTES ? bytes : IO_BYTES);
        int done = 0;
        MPI_Status status;
        int code = writes
                       ? MPI_File_write_at(file->file, (MPI_Offset)at, to, count, MPI_BYTE, &status)
                       : MPI_File_read_at(file->file, (MPI_Offset)at, to, count, MPI_BYTE, &status);

        if (code != MPI_SUCCESS)
            return fail_file(file->path, writes ? "written" : "read", code);
        MPI_Get_count(&status, MPI_BYTE, &done);
        if (done <= 0) {
            fprintf(stderr, "devicepool-mpi: on rank %d: '%s' ends at byte %llu\n", rank,
                file->path, (unsigned long long)at);
            return 1;
        }
        to += done;
        at += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return 0;
}

/* Of `count` items the first of rank `index`; the last ranks have one less. */
static uint64_t first_of(uint64_t count, int index)
{
    const uint64_t share = count / (uint64_t)ranks, rest = count % (uint64_t)ranks;

    return share * (uint64_t)index + ((uint64_t)index < rest ? (uint64_t)index : rest);
}

/* This rank's items of the first `count`. */
static int read_part(struct shared_file *file, uint64_t count, uint64_t item_bytes, pool_span *part)
{
    const uint64_t first = first_of(count, rank);

    part->count = first_of(count, rank + 1) - first;
    part->data = allocate(part->count, item_bytes);
    return transfer(file, 0, first * item_bytes, part->count * item_bytes, part->data);
}

/* ---- MSM ------------------------------------------------------------------------------------- */

static int print_point(const pool_curve *curve, const uint8_t *point)
{
    const pool_field *field = pool_curve_base_field(curve);
    const size_t bytes = pool_field_element_bytes(field);
    const size_t all = pool_point_bytes(curve, POOL_POINT_AFFINE);
    char text[POOL_FIELD_STRING_BYTES];
    size_t zeros = 0;

    while (zeros < all && !point[zeros])
        zeros++;
    if (zeros == all) {
        say("infinity\n");
        return 0;
    }
    for (int coordinate = 0; coordinate < 2; coordinate++) {
        say("%s", coordinate ? "y" : "x");
        for (uint32_t i = 0; i < pool_curve_degree(curve); i++, point += bytes) {
            pool_status status = pool_field_format(
                field, POOL_FORM_STANDARD, point, POOL_HEXADECIMAL, text, sizeof(text), NULL);

            if (status)
                return fail(status);
            say(" %s", text);
        }
        say("\n");
    }
    return 0;
}

static int compute_msm(
    struct command *command, const pool_curve *curve, const pool_span *points, pool_span *scalars)
{
    const pool_msm_params params = {.struct_size = sizeof(params), .curve = curve};
    const pool_exec exec = {.struct_size = sizeof(exec),
        .device = command->device,
        .checks = POOL_CHECK_CANONICAL | POOL_CHECK_ON_CURVE};
    uint8_t sum[4 * POOL_FIELD_MAX_BYTES] = {0};
    const pool_span result = {.data = sum, .count = 1};
    pool_status status = pool_mpi_msm(command->mpi, &params, &exec, points, scalars, &result);

    return status ? fail(status) : print_point(curve, sum);
}

int run_msm_on_files(struct command *command)
{
    const pool_curve *curve = pool_curve_by_name(command->curve);
    struct shared_file points = {0}, scalars = {0};
    pool_span own_points = {0}, own_scalars = {0};
    uint64_t point_bytes, scalar_bytes, count;
    int failed = 0;

    if (!curve)
        return fail(pool_last_error()->status);
    point_bytes = pool_point_bytes(curve, POOL_POINT_AFFINE);
    scalar_bytes = pool_field_element_bytes(pool_curve_scalar_field(curve));
    failed = open_file(command->operands[0], MPI_MODE_RDONLY, &points);
    if (!failed)
        failed = open_file(command->operands[1], MPI_MODE_RDONLY, &scalars);
    count = scalars.bytes / scalar_bytes;
    if (!failed && (!has_same_size(&points) || !has_same_size(&scalars)))
        failed = fail_all(command->operands[0], "or the scalars differ between the ranks' hosts");
    if (!failed && points.bytes % point_bytes)
        failed = fail_all(points.path, "has no whole number of points of the curve");
    if (!failed && scalars.bytes % scalar_bytes)
        failed = fail_all(scalars.path, "has no whole number of scalars of the curve");
    if (!failed && points.bytes / point_bytes < count)
        failed = fail_all(points.path, "has fewer points than there are scalars");
    if (!failed)
        failed = command_any_failed(read_part(&points, count, point_bytes, &own_points) ||
                                    read_part(&scalars, count, scalar_bytes, &own_scalars));
    if (!failed)
        failed = compute_msm(command, curve, &own_points, &own_scalars);
    close_file(&points);
    close_file(&scalars);
    free(own_points.data);
    free(own_scalars.data);
    return failed;
}

/* ---- NTT ------------------------------------------------------------------------------------- */

/* Collective: the output as rank 0 sees it. */
static int open_output(const struct command *command, struct output_file *output)
{
    const char *wrong = NULL;
    int failed = 0;

    if (!rank) {
        output_file_add_input(command->operands[0]);
        wrong = output_file_open(command->output, output);
    }
    if (wrong)
        failed = fail_all(command->output, wrong);
    return command_any_failed(failed);
}

/* Collective. Rank 0 creates the new file, which the others would not create: without a file system
 * that all hosts share, opening it fails. */
static int open_new_file(struct output_file *output, struct shared_file *file)
{
    static char name[PATH_MAX];
    int failed = 0;

    if (!rank && output_file_create(output))
        failed = fail_all(output->path, strerror(errno));
    if (!rank)
        strcpy(name, output->is_direct ? output->target : output->temporary);
    failed = command_any_failed(failed);
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    return failed ? failed : open_file(name, MPI_MODE_WRONLY, file);
}

static int write_transform(const pool_span *part, uint64_t bytes, struct output_file *output)
{
    struct shared_file file = {0};
    const uint64_t own = part->count * bytes;
    int failed = open_new_file(output, &file), code = MPI_SUCCESS, is_direct = output->is_direct;

    MPI_Bcast(&is_direct, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!failed && !is_direct) {
        code = MPI_File_set_size(file.file, (MPI_Offset)(own * (uint64_t)ranks));
        failed =
            command_any_failed(code == MPI_SUCCESS ? 0 : fail_file(file.path, "written", code));
    }
    if (!failed)
        failed = command_any_failed(transfer(&file, 1, own * (uint64_t)rank, own, part->data));
    close_file(&file);
    return failed;
}

/* Collective: the file becomes visible unless a rank has failed. */
static int close_output(struct output_file *output, int failed)
{
    struct output_file *lost;

    if (!rank && output_files_close(output, 1, !failed, &lost))
        failed = fail_all(lost->path, strerror(errno));
    return command_any_failed(failed);
}

static int compute_ntt(struct command *command, uint32_t log_size, const pool_span *part)
{
    const pool_ntt_domain_params domain_params = {.struct_size = sizeof(domain_params),
        .field = pool_field_by_name(command->field),
        .log_size = log_size};
    pool_ntt_params params = {.struct_size = sizeof(params),
        .direction = command->is_inverse ? POOL_NTT_INVERSE : POOL_NTT_FORWARD};
    const pool_exec exec = {
        .struct_size = sizeof(exec), .device = command->device, .checks = POOL_CHECK_CANONICAL};
    pool_status status = pool_ntt_domain_create(&domain_params, &params.domain);

    if (!status)
        status = pool_mpi_ntt(command->mpi, &params, &exec, POOL_MPI_BLOCK, part, part);
    if (status)
        (void)fail(status);
    (void)pool_ntt_domain_destroy(&params.domain);
    return status != POOL_OK;
}

int run_ntt_on_file(struct command *command)
{
    const pool_field *field = pool_field_by_name(command->field);
    struct shared_file file = {0};
    struct output_file output = {.file = -1};
    pool_span part = {0};
    uint64_t bytes, count;
    uint32_t log_size = 0;
    int failed;

    if (!field)
        return fail(pool_last_error()->status);
    bytes = pool_field_element_bytes(field);
    failed = open_file(command->operands[0], MPI_MODE_RDONLY, &file);
    count = file.bytes / bytes;
    while (log_size < 63 && UINT64_C(1) << log_size < count)
        log_size++;
    if (!failed && !has_same_size(&file))
        failed = fail_all(file.path, "differs between the ranks' hosts");
    if (!failed && (file.bytes % bytes || UINT64_C(1) << log_size != count))
        failed = fail_all(file.path, "does not have a power of two of elements of the field");
    if (!failed && count % (uint64_t)ranks)
        failed = fail_all(file.path, "cannot be divided into equal parts, one for each rank");
    if (!failed)
        failed = command_any_failed(read_part(&file, count, bytes, &part));
    close_file(&file);
    if (!failed)
        failed = open_output(command, &output);
    if (!failed)
        failed = compute_ntt(command, log_size, &part);
    if (!failed)
        failed = write_transform(&part, bytes, &output);
    failed = close_output(&output, failed);
    if (!failed)
        say("transform of %llu elements of %s over %d rank%s, transport %s\n",
            (unsigned long long)count, command->field, ranks, ranks == 1 ? "" : "s",
            pool_mpi_transport_name(command->info.transport));
    free(part.data);
    return failed;
}
