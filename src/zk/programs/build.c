/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of fields, curves and parameter sets, compiled for a chip that need not be there,
 * into a pack. The programs of one subject are compiled at once, on several threads.
 */
#include <devicepool/module.h>

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/params.h"
#include "base/status.h"
#include "pool/module/compiler.h"
#include "pool/module/levels.h"
#include "pool/module/pack_files.h"
#include "pool/module/program.h"
#include "zk/ecntt/ecntt.h"
#include "zk/fri/fri.h"
#include "zk/msm/msm.h"
#include "zk/ntt/ntt.h"
#include "zk/poseidon/kernels.h"

static const char call_name[] = "pool_pack_build";

/* A program that is to be compiled, with texts of its own. */
struct job {
    const char *file;
    pool_module_params params;
    char *texts[MODULE_MAX_SOURCES];
    char *defines[MODULE_KEY_PARAMETERS];
    struct pack_row row; /* the result */
};

enum { MAX_JOBS = 64 };

struct build {
    const pool_pack_params *params;
    struct pack_builder builder;
    struct job jobs[MAX_JOBS]; /* of the present subject */
    size_t count;
    struct module_key *seen; /* the sources of all subjects so far: some share programs */
    size_t seen_count, seen_capacity;
    pthread_mutex_t lock;
    bool has_maker; /* guarded by lock, as the builder */
};

static void free_job(struct job *job)
{
    for (size_t i = 0; i < MODULE_MAX_SOURCES; i++)
        base_free(job->texts[i]);
    for (size_t i = 0; i < MODULE_KEY_PARAMETERS; i++)
        base_free(job->defines[i]);
    base_free((void *)(uintptr_t)job->params.headers);
    pack_row_free(&job->row);
    *job = (struct job){0};
}

/* Notes the sources of a program; *is_new is false if another subject has had them. */
static pool_status note_sources(struct build *build, const struct job *job, bool *is_new)
{
    const struct module_request request = {.params = &job->params, .name = job->file};
    struct module_key key;
    pool_status status = module_text_key_of(&request, &key);

    *is_new = true;
    for (size_t i = 0; i < build->seen_count && *is_new; i++)
        *is_new = memcmp(&build->seen[i], &key, sizeof(key)) != 0;
    if (status || !*is_new)
        return status;
    if (build->seen_count == build->seen_capacity) {
        const size_t capacity = build->seen_capacity ? 2 * build->seen_capacity : 256;
        struct module_key *larger = base_realloc(build->seen, capacity, sizeof(*larger));

        if (!larger)
            return base_fail_memory("the list of programs");
        build->seen = larger;
        build->seen_capacity = capacity;
    }
    build->seen[build->seen_count++] = key;
    return POOL_OK;
}

/* The program's texts end with the visit, so that the job gets copies. */
static pool_status copy_texts(struct job *job, const struct module_program *program)
{
    pool_module_header *headers = (pool_module_header *)(uintptr_t)job->params.headers;

    for (size_t i = 0; i < program->text_count; i++) {
        job->texts[i] = base_format("%s", program->texts[i].text);
        headers[i].text = job->texts[i];
    }
    for (size_t i = 0; i < program->define_count; i++)
        job->defines[i] = base_format("%s", program->defines[i]);
    job->params.defines = (const char *const *)job->defines;
    for (size_t i = 0; i < program->text_count; i++)
        if (!job->texts[i])
            return base_fail_memory("the sources of a program");
    for (size_t i = 0; i < program->define_count; i++)
        if (!job->defines[i])
            return base_fail_memory("the defines of a program");
    return POOL_OK;
}

/* A module_program_visit. */
static pool_status add_job(void *user, const struct module_program *program)
{
    struct build *build = user;
    struct job *job = &build->jobs[build->count];
    pool_status status;
    bool is_new;

    if (build->count == MAX_JOBS)
        return base_fail(
            POOL_ERR_INTERNAL, "%s has more than %d programs", program->subject, (int)MAX_JOBS);
    status = module_program_params(program, &job->params);
    if (status)
        return status;
    build->count++;
    job->file = program->file;
    status = copy_texts(job, program);
    if (!status)
        status = note_sources(build, job, &is_new);
    if (!status && !is_new)
        free_job(&build->jobs[--build->count]);
    return status;
}

/* ---- compilation ----------------------------------------------------------------------------- */

static pool_status check_form(
    const struct build *build, const struct module_choice *choice, const struct module_image *image)
{
    const int chip = build->params->compute_capability;
    char version[400] = "without an NVRTC";

    if (!choice->nvrtc)
        return base_fail(POOL_ERR_NO_COMPILER, "%s: %s", call_name, choice->reason);
    if ((image->form == MODULE_PTX) == (build->params->form == 1))
        return POOL_OK;
    snprintf(version, sizeof(version), "NVRTC %d.%d of %s", choice->nvrtc->version / 1000,
        choice->nvrtc->version % 1000 / 10, choice->nvrtc->path);
    return base_fail(POOL_ERR_UNSUPPORTED,
        "%s: %s does not compile machine code for sm_%d; DEVICEPOOL_NVRTC names another one",
        call_name, version, chip);
}

/* All programs are compiled by the same one. */
static pool_status check_maker(struct build *build, const struct module_maker *maker)
{
    bool is_same;

    pthread_mutex_lock(&build->lock);
    if (!build->has_maker)
        build->builder.maker = *maker;
    build->has_maker = true;
    is_same = memcmp(build->builder.maker.digest, maker->digest, sizeof(maker->digest)) == 0;
    pthread_mutex_unlock(&build->lock);
    if (is_same)
        return POOL_OK;
    return base_fail(POOL_ERR_NO_COMPILER,
        "%s: one NVRTC compiled a program that another one did not; set DEVICEPOOL_NVRTC to the "
        "one that is to be used",
        call_name);
}

/* A task: compiles one program of the subject. */
static pool_status compile_job(void *user, size_t index)
{
    static const struct module_key no_files;
    struct build *build = user;
    struct job *job = &build->jobs[index];
    const struct module_request request = {.params = &job->params,
        .name = job->file,
        .compute_capability = build->params->compute_capability,
        .ptx_only = build->params->form == 1};
    struct disk_header header = {.compute_capability = request.compute_capability};
    struct module_image *image = NULL;
    struct module_choice choice;
    struct module_key key;
    pool_status status;

    module_choice_begin(&choice, &request);
    choice.skips_levels = true;
    status = module_image_choose(&choice, &image);
    if (!status)
        status = check_form(build, &choice, image);
    if (!status)
        status = levels_maker_of(choice.nvrtc, &header.maker);
    if (!status)
        status = check_maker(build, &header.maker);
    if (!status)
        status = module_key_of(&request, &header.maker, &no_files, &key);
    snprintf(header.name, sizeof(header.name), "%s", job->file);
    if (!status)
        status = pack_encode(&key, &header, image, &job->row);
    module_image_release(image);
    return status;
}

/* A task: the programs of a parameter set have its constants in common, so that the first one as
 * dictionary of the others makes them a quarter as long. */
static pool_status compress_job(void *user, size_t index)
{
    struct build *build = user;

    return pack_compress(&build->jobs[index].row, index ? &build->jobs[0].row : NULL);
}

/* Compiles the subject's programs and adds them, unless collecting them has failed. */
static pool_status run_jobs(
    struct build *build, struct base_thread_pool *threads, const char *subject, pool_status status)
{
    struct base_parallel all = {.count = build->count, .task = compile_job, .user = build};
    const uint64_t count = build->count;

    if (!status)
        status = base_parallel_run(threads, &all);
    all.task = compress_job;
    if (!status)
        status = base_parallel_run(threads, &all);
    for (size_t i = 0; i < build->count && !status; i++) {
        status = pack_add(&build->builder, &build->jobs[i].row);
        build->jobs[i].row = (struct pack_row){.packed = NULL};
    }
    while (build->count)
        free_job(&build->jobs[--build->count]);
    if (!status && build->params->progress &&
        build->params->progress(build->params->user, subject, count))
        status = base_fail(POOL_ERR_CANCELLED, "%s was cancelled by the caller", call_name);
    return status;
}

/* ---- subjects -------------------------------------------------------------------------------- */

static pool_status add_field(struct build *build, const pool_field *field)
{
    /* The chip's limits decide which programs there are: as much as any chip since 7.0 has, of
     * which tests/prebuilt says that more makes no difference. */
    const struct chip chip = {.multiprocessors = 1,
        .shared_bytes = build->params->compute_capability < 70 ? 48 << 10 : 64 << 10};

    return field->base ? fri_each_program(field, add_job, build)
                       : ntt_each_program(field, &chip, add_job, build);
}

static pool_status add_curve(struct build *build, const pool_curve *curve)
{
    pool_status status = msm_each_program(curve, add_job, build);

    if (status || !pool_field_two_adicity(pool_curve_scalar_field(curve)))
        return status;
    return ecntt_each_program(curve, add_job, build);
}

static pool_status build_all(struct build *build, struct base_thread_pool *threads)
{
    const pool_pack_params *params = build->params;
    pool_status status = POOL_OK;

    for (size_t i = 0; i < params->field_count && !status; i++)
        status = run_jobs(build, threads, pool_field_name(params->fields[i]),
            add_field(build, params->fields[i]));
    for (size_t i = 0; i < params->curve_count && !status; i++)
        status = run_jobs(build, threads, pool_curve_name(params->curves[i]),
            add_curve(build, params->curves[i]));
    for (size_t i = 0; i < params->set_count && !status; i++)
        status = run_jobs(build, threads, pool_poseidon_name(params->sets[i]),
            poseidon_each_program(params->sets[i], add_job, build));
    return status;
}

static pool_status check_params(const char *directory, const pool_pack_params *given,
    const pool_pack_info *info, pool_pack_params *params)
{
    static const struct base_struct type = BASE_STRUCT(pool_pack_params);
    pool_status status = directory ? base_struct_read(&type, call_name, "params", given, params)
                                   : base_fail_null(call_name, "directory");

    if (!status)
        status = base_check_ranges(call_name,
            {"compute_capability", params->compute_capability, 10, 999},
            {"form", params->form, 0, 1});
    if (!status)
        status = pack_info_check(call_name, info);
    for (size_t i = 0; !status && i < params->field_count; i++)
        if (!params->fields || !params->fields[i])
            status = base_fail_null(call_name, "params->fields");
    for (size_t i = 0; !status && i < params->curve_count; i++)
        if (!params->curves || !params->curves[i])
            status = base_fail_null(call_name, "params->curves");
    for (size_t i = 0; !status && i < params->set_count; i++)
        if (!params->sets || !params->sets[i])
            status = base_fail_null(call_name, "params->sets");
    if (!status && !params->field_count && !params->curve_count && !params->set_count)
        status = base_fail(POOL_ERR_INVALID_ARGUMENT,
            "%s: there are no fields, curves or parameter sets to compile", call_name);
    return status;
}

pool_status pool_pack_build(
    const char *directory, const pool_pack_params *params, pool_pack_info *info)
{
    struct base_thread_pool *threads = NULL;
    pool_pack_params copy;
    struct build *build;
    pool_status status = check_params(directory, params, info, &copy);

    if (status)
        return status;
    build = base_calloc(1, sizeof(*build));
    if (!build || !base_thread_pool_create(UINT_MAX, &threads)) {
        base_free(build);
        return base_fail_memory("compiling a pack");
    }
    build->params = &copy;
    build->builder.compute_capability = copy.compute_capability;
    pthread_mutex_init(&build->lock, NULL);
    status = build_all(build, threads);
    if (!status)
        status = pack_finish(call_name, &build->builder, directory, info);
    pthread_mutex_destroy(&build->lock);
    pack_builder_free(&build->builder);
    base_free(build->seen);
    base_thread_pool_destroy(&threads);
    base_free(build);
    return status;
}
