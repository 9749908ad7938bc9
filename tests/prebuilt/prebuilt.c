/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX of ptx/prebuilt: makes it, and finds out whether it is what the present sources give.
 *
 * - prebuilt keys: every program of programs.def is embedded, for the present sources, the same on
 *   every chip, and the oldest simulated device loads it; needs no NVRTC.
 * - prebuilt assemble FILE [all]: ptxas takes it for the target sm_50.
 * - prebuilt compare FILE [all]: recompiles it; the PTX must be equal if NVRTC has the same
 * version.
 * - prebuilt make DIRECTORY FILE: compiles all and writes what is another text than before, has
 * ptxas take what has changed, and writes FILE.
 * - prebuilt ptx DIRECTORY: writes the PTX, for inspection.
 *
 * FILE (checked.txt) has a digest for each program that passed assemble and compare; programs that
 * have not changed since are left out, but with "all".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>

#include <devicepool.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "base/status.h"
#include "driver/nvrtc.h"
#include "pool/module/prebuilt.h"
#include "pool/module/program.h"
#include "zk/ecntt/ecntt.h"
#include "zk/msm/msm.h"
#include "zk/ntt/ntt.h"
#include "zk/poseidon/kernels.h"

/*
 * Every driver since CUDA 11 takes this version, and every chip since Turing translates this
 * target. NVRTC writes its own newest version into the text, whatever the text needs.
 */
#define PTX_VERSION ".version 7.0\n"
enum { TARGET = 75, MAX_SEEN = 256 };

/* What all of it may add to the library. */
enum { MAX_BYTES = 2400000 };

/* One program of the list, to be dealt with by `visit`. */
struct job {
    pool_status (*each)(
        struct job *job, const char *name, const struct module_request *request, const char *key);
    const struct nvrtc *nvrtc;
    char compiler[16]; /* its version as text */
    const char *directory;
    char *checked; /* the text of checked.txt; NULL: nothing is left out */
    bool has_assembler;
    FILE *index;
    FILE *record; /* of make: the next checked.txt */
    pool_device *device;
    const char *subject;              /* field, set or curve */
    struct module_key seen[MAX_SEEN]; /* of the programs so far */
    size_t seen_count;
    int count;
    int unchanged; /* since it was checked */
    int failures;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void fail(struct job *job, const char *format, ...)
{
    va_list arguments;

    printf("FAIL ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    job->failures++;
}

static const struct module_prebuilt *embedded(const char *name)
{
    for (const struct module_prebuilt *at = module_prebuilt_programs; at->name; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

/* "ntt/tables.cu" of bn254_fr is ntt-tables.bn254_fr, "ntt/pass.cu" with NTT_RADIX=2
 * ntt-pass.bn254_fr.radix2; "msm/sort_buckets.cu", which has no sources of a curve, is
 * msm-sort_buckets. */
static void name_of(
    const struct module_program *program, const char *subject, char *name, size_t size)
{
    int is_common = !program->text_count;
    unsigned radix = 0, shift = 0, quotients = 0, length_of_pass = 0;
    size_t length;

    snprintf(name, size, "%.*s%s%s", (int)(strlen(program->file) - strlen(".cu")), program->file,
        is_common ? "" : ".", is_common ? "" : subject);
    for (size_t i = 0; i < program->define_count; i++) {
        sscanf(program->defines[i], "NTT_RADIX=%u", &radix);
        sscanf(program->defines[i], "NTT_SHIFT=%u", &shift);
        sscanf(program->defines[i], "NTT_QUOTIENTS=%u", &quotients);
        sscanf(program->defines[i], "NTT_LENGTH=%u", &length_of_pass);
    }
    length = strlen(name);
    if (radix)
        snprintf(name + length, size - length, ".radix%u", radix);
    length = strlen(name);
    if (shift)
        snprintf(name + length, size - length, "-shift%u", shift);
    length = strlen(name);
    if (quotients)
        snprintf(name + length, size - length, "-quotients%u", quotients);
    length = strlen(name);
    if (length_of_pass)
        snprintf(name + length, size - length, ".length%u", length_of_pass);
    for (char *slash; (slash = strchr(name, '/')) != NULL;)
        *slash = '-';
}

/* Whether the program was here before, for another subject: those of all curves, and those of a
 * scalar field that curves share. */
static int is_repeated(struct job *job, const struct module_key *key)
{
    for (size_t i = 0; i < job->seen_count; i++)
        if (memcmp(&job->seen[i], key, sizeof(*key)) == 0)
            return 1;
    if (job->seen_count == MAX_SEEN) {
        printf("FAIL more than %d programs\n", MAX_SEEN);
        exit(1);
    }
    job->seen[job->seen_count++] = *key;
    return 0;
}

static pool_status visit(void *user, const struct module_program *program)
{
    struct job *job = user;
    pool_module_params params;
    struct module_request request = {
        .params = &params, .name = program->file, .compute_capability = TARGET, .ptx_only = 1};
    char text[2 * BASE_SHA256_BYTES + 1], name[128];
    struct module_key key;
    pool_status status;

    status = module_program_params(program, &params);
    if (status)
        return status;
    status = module_text_key_of(&request, &key);
    if (!status && !is_repeated(job, &key)) {
        module_key_text(&key, text);
        name_of(program, job->subject, name, sizeof(name));
        status = job->each(job, name, &request, text);
        job->count++;
    }
    base_free((void *)(uintptr_t)params.headers);
    return status;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* The least that a block of a chip since 7.0 can ask for; these chips must not differ in programs.
 * Older ones use some of the same. */
static const struct chip oldest = {.multiprocessors = 1, .shared_bytes = 48 << 10};
static const struct chip smallest = {.multiprocessors = 1, .shared_bytes = 64 << 10};
static const struct chip largest = {.multiprocessors = 148, .shared_bytes = 227 << 10};

static pool_status each_ntt(struct job *job, const char *field, const struct chip *chip)
{
    job->subject = field;
    return ntt_each_program(pool_field_by_name(field), chip, visit, job);
}

static pool_status each_poseidon(struct job *job, const char *name)
{
    pool_poseidon *set;
    pool_status status = pool_poseidon_by_name(name, &set);

    if (status)
        return status;
    job->subject = name;
    status = poseidon_each_program(set, visit, job);
    pool_poseidon_destroy(&set);
    return status;
}

static pool_status each_msm(struct job *job, const char *curve)
{
    job->subject = curve;
    return msm_each_program(pool_curve_by_name(curve), visit, job);
}

static pool_status each_ecntt(struct job *job, const char *curve)
{
    job->subject = curve;
    return ecntt_each_program(pool_curve_by_name(curve), visit, job);
}

static void each_program(struct job *job, const struct chip *chip)
{
    pool_status status = POOL_OK;

    job->seen_count = 0;
#define NTT(field) status = status ? status : each_ntt(job, field, chip);
#define POSEIDON(set) status = status ? status : each_poseidon(job, set);
#define MSM(curve) status = status ? status : each_msm(job, curve);
#define ECNTT(curve) status = status ? status : each_ecntt(job, curve);
#include "prebuilt/programs.def"
#undef NTT
#undef POSEIDON
#undef MSM
#undef ECNTT
    if (status)
        fail(job, "%s: %s", job->subject, pool_last_error()->message);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static pool_status check_key(
    struct job *job, const char *name, const struct module_request *request, const char *key)
{
    const struct module_prebuilt *found = embedded(name);
    struct module_image *image;
    pool_module *module;
    pool_status status;

    (void)request;
    if (!found) {
        fail(job, "%s is not there: ninja prebuilt-ptx", name);
        return POOL_OK;
    }
    if (strcmp(found->key, key) != 0) {
        fail(job, "%s is of other sources than the present: ninja prebuilt-ptx", name);
        return POOL_OK;
    }
    if (!job->device)
        return POOL_OK;
    status = module_prebuilt_unpack(found, &image);
    if (status)
        return status;
    status = module_prebuilt_lower(image, name, 60);
    if (!status)
        status = pool_module_load(job->device, image->bytes, image->size, &module);
    module_image_release(image);
    if (!status)
        pool_module_destroy(&module);
    return status;
}

static int check_keys(void)
{
    pool_params params = {.struct_size = sizeof(params), .devices = "sim:1,cc=60"};
    struct job job = {.each = check_key};
    device_pool *pool = NULL;
    int count, embedded_count;

    if (pool_create(&pool, &params) || pool_device_at(pool, 0, &job.device)) {
        fail(&job, "%s", pool_last_error()->message);
        return 1;
    }
    each_program(&job, &smallest);
    count = embedded_count = job.count;
    job.device = NULL;
    each_program(&job, &largest);
    each_program(&job, &oldest);
    for (const struct module_prebuilt *at = module_prebuilt_programs; at->name; at++) {
        job.bytes += at->size;
        count--;
    }
    if (job.bytes > MAX_BYTES)
        fail(&job, "all together have %zu bytes, more than %d", job.bytes, MAX_BYTES);
    if (count)
        fail(&job, "there are %d programs more in the index than in the list", -count);
    if (pool_destroy(&pool))
        fail(&job, "%s", pool_last_error()->message);
    printf("%d programs, %d failures\n", embedded_count, job.failures);
    return job.failures != 0;
}

/* ---- what has been checked ------------------------------------------------------------------- */

/* Of a program's sources and options, compiler and text. */
static uint64_t digest_of(const char *key, const char *compiler, const struct module_image *image)
{
    struct base_sha256 *sha = base_sha256_begin();
    uint8_t bytes[BASE_SHA256_BYTES];
    uint64_t digest = 0;

    base_sha256_add(sha, key, strlen(key) + 1);
    base_sha256_add(sha, compiler, strlen(compiler) + 1);
    base_sha256_add(sha, image->bytes, image->size);
    if (base_sha256_end(sha, bytes)) {
        printf("FAIL %s\n", pool_last_error()->message);
        exit(1);
    }
    for (size_t i = 0; i < sizeof(digest); i++)
        digest = digest << 8 | bytes[i];
    return digest;
}

static bool is_checked(const struct job *job, const char *name, uint64_t digest)
{
    char line[192];

    if (!job->checked)
        return false;
    snprintf(line, sizeof(line), "\n%s 0x%016" PRIx64 "\n", name, digest);
    return strstr(job->checked, line) != NULL;
}

/* The caller frees. The first line of the file is a comment. */
static char *read_checked(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* ---- targets --------------------------------------------------------------------------------- */

/* The assembler checks each instruction against the text's target; it need not know that chip. */
static pool_status assemble_image(struct job *job, const char *name, struct module_image *image)
{
    pool_status status = module_prebuilt_lower(image, name, 50);
    FILE *input = popen("ptxas --opt-level 0 --gpu-name sm_75 --output-file /dev/null -", "w");

    if (!status && (!input || fwrite(image->bytes, 1, image->size, input) != image->size))
        fail(job, "%s: ptxas does not read it", name);
    if (input && pclose(input))
        fail(job, "%s is not for the target sm_50", name);
    return status;
}

static pool_status assemble(
    struct job *job, const char *name, const struct module_request *request, const char *key)
{
    const struct module_prebuilt *found = embedded(name);
    struct module_image *image;
    pool_status status = found ? module_prebuilt_unpack(found, &image) : POOL_OK;

    (void)request;
    (void)key;
    if (status || !found)
        return status;
    if (is_checked(job, name, digest_of(found->key, found->compiler, image)))
        job->unchanged++;
    else
        status = assemble_image(job, name, image);
    module_image_release(image);
    return status;
}

enum { SKIPPED = 77 };

static bool has_assembler(void)
{
    return system("ptxas --version > /dev/null 2>&1") == 0;
}

static int check_each(struct job *job)
{
    each_program(job, &smallest);
    printf("%d programs, %d unchanged since they were checked, %d failures\n", job->count,
        job->unchanged, job->failures);
    free(job->checked);
    return job->failures != 0;
}

/* ---- compilation ----------------------------------------------------------------------------- */

/* Takes what older drivers do not know out of the text: its version, and advice on loads. */
static void make_old(struct module_image *image)
{
    char *to = image->bytes;

    for (char *line = image->bytes, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");

        next = line + length + (line[length] == '\n');
        if (strncmp(line + strspn(line, "\t "), ".pragma \"used_bytes_mask", 24) == 0)
            continue;
        if (strncmp(line, ".version ", 9) == 0) {
            line = next - strlen(PTX_VERSION); /* the shortest there is */
            memcpy(line, PTX_VERSION, strlen(PTX_VERSION));
        }
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
    image->size = (size_t)(to - image->bytes);
}

static pool_status compile(const struct module_request *request, struct module_image **image)
{
    char reason[DRIVER_NVRTC_REASON] = "";
    const struct nvrtc *nvrtc = driver_nvrtc_candidate(0, reason, sizeof(reason));
    pool_status status = nvrtc ? module_compile_nvrtc(nvrtc, request, reason, sizeof(reason), image)
                               : POOL_ERR_NO_COMPILER;

    if (status == POOL_ERR_NO_COMPILER)
        base_fail(status, "%s", reason);
    if (!status)
        make_old(*image);
    return status;
}

/* Whether the entry's text is that. */
static pool_status is_text_of(
    const struct module_prebuilt *prebuilt, const struct module_image *image, int *is_same)
{
    struct module_image *then;
    pool_status status = module_prebuilt_unpack(prebuilt, &then);

    if (status)
        return status;
    *is_same = then->size == image->size && memcmp(then->bytes, image->bytes, then->size) == 0;
    module_image_release(then);
    return POOL_OK;
}

static pool_status compare_text(
    struct job *job, const char *name, const struct module_request *request, const char *key)
{
    const struct module_prebuilt *found = embedded(name);
    struct module_image *image = NULL;
    bool is_of_other = found && strcmp(found->compiler, job->compiler) != 0;
    int is_same = 1;
    uint64_t digest = 0;
    pool_status status = found ? module_prebuilt_unpack(found, &image) : POOL_OK;

    (void)key;
    if (found && !status)
        digest = digest_of(found->key, found->compiler, image);
    module_image_release(image);
    image = NULL;
    if (!status && found && !is_of_other && is_checked(job, name, digest)) {
        job->unchanged++;
        return POOL_OK;
    }
    if (!status)
        status = compile(request, &image);
    if (status)
        return status;
    if (!found)
        fail(job, "%s is not there: ninja prebuilt-ptx", name);
    else if (is_of_other)
        printf("%s was made by NVRTC %s: only compiled\n", name, found->compiler);
    else
        status = is_text_of(found, image, &is_same);
    if (!is_same)
        fail(job, "%s is another text than NVRTC %s gives now: ninja prebuilt-ptx", name,
            job->compiler);
    module_image_release(image);
    return status;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* The caller frees. */
static unsigned char *pack(const struct module_image *image, size_t *size)
{
    size_t room = lzma_stream_buffer_bound(image->size);
    unsigned char *bytes = malloc(room);

    *size = 0;
    if (!bytes || lzma_easy_buffer_encode(6 | LZMA_PRESET_EXTREME, LZMA_CHECK_CRC32, NULL,
                      (const uint8_t *)image->bytes, image->size, bytes, size, room) != LZMA_OK)
        exit(1);
    return bytes;
}

/* What make has compiled has passed compare; what ptxas takes as well is recorded. The image is
 * changed. */
static pool_status record_checked(
    struct job *job, const char *name, const char *key, struct module_image *image)
{
    const uint64_t digest = digest_of(key, job->compiler, image);
    const int failures = job->failures;
    pool_status status = POOL_OK;

    if (is_checked(job, name, digest))
        job->unchanged++;
    else if (!job->has_assembler)
        return POOL_OK;
    else
        status = assemble_image(job, name, image);
    if (!status && job->failures == failures)
        fprintf(job->record, "%s 0x%016" PRIx64 "\n", name, digest);
    return status;
}

/* A file whose text is the same stays as it is, whatever liblzma packed it. */
static pool_status make_file(
    struct job *job, const char *name, const struct module_request *request, const char *key)
{
    const struct module_prebuilt *found = embedded(name);
    struct module_image *image;
    unsigned char *packed;
    char path[1024];
    size_t size = found ? found->size : 0;
    int is_same = 0;
    pool_status status = compile(request, &image);

    if (status)
        return status;
    fprintf(job->index, "%s %s %s %zu\n", name, key, job->compiler, image->size);
    if (found)
        status = is_text_of(found, image, &is_same);
    if (!status && !is_same) {
        packed = pack(image, &size);
        snprintf(path, sizeof(path), "%s/%s.ptx.xz", job->directory, name);
        write_file(path, packed, size);
        printf("%s: %zu bytes, packed %zu\n", name, image->size, size);
        fflush(stdout);
        free(packed);
    }
    job->bytes += size;
    if (!status)
        status = record_checked(job, name, key, image);
    module_image_release(image);
    return status;
}

static pool_status write_text(
    struct job *job, const char *name, const struct module_request *request, const char *key)
{
    const struct module_prebuilt *found = embedded(name);
    struct module_image *image;
    char path[1024];
    pool_status status;

    (void)request;
    (void)key;
    if (!found)
        return POOL_OK;
    status = module_prebuilt_unpack(found, &image);
    if (status)
        return status;
    snprintf(path, sizeof(path), "%s/%s.ptx", job->directory, name);
    write_file(path, image->bytes, image->size);
    module_image_release(image);
    return POOL_OK;
}

static const char index_head[] = "# name, key, NVRTC, size of the text. Written with the files "
                                 "beside it by `ninja prebuilt-ptx`.\n";

static const char checked_head[] =
    "# Programs that passed prebuilt_assemble and prebuilt_compare, with a digest. "
    "Written by `ninja prebuilt-ptx`.\n";

/* Index and record are written last and as a whole: until then they are those of before. */
static void make(struct job *job, const char *checked)
{
    char path[1024];
    char *text = NULL, *record = NULL;
    size_t size, record_size;

    job->each = make_file;
    job->has_assembler = has_assembler();
    job->checked = read_checked(checked);
    job->index = open_memstream(&text, &size);
    job->record = open_memstream(&record, &record_size);
    if (!job->index || !job->record)
        exit(1);
    fputs(index_head, job->index);
    fputs(checked_head, job->record);
    each_program(job, &smallest);
    fclose(job->index);
    fclose(job->record);
    if (!job->failures) {
        snprintf(path, sizeof(path), "%s/index.txt", job->directory);
        write_file(path, text, size);
        write_file(checked, record, record_size);
    }
    printf("%d programs, %zu bytes packed, %d unchanged since they were checked\n", job->count,
        job->bytes, job->unchanged);
    if (!job->has_assembler)
        printf("There is no ptxas: tests compile what has changed, until this has run with one.\n");
    free(text);
    free(record);
    free(job->checked);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "keys";
    struct job job = {.directory = argc > 2 ? argv[2] : "."};

    if (strcmp(mode, "keys") == 0)
        return check_keys();
    if (strcmp(mode, "ptx") == 0) {
        job.each = write_text;
        each_program(&job, &smallest);
        return job.failures != 0;
    }
    if (argc > 2 && strcmp(mode, "make") != 0 && !(argc > 3 && strcmp(argv[3], "all") == 0))
        job.checked = read_checked(argv[2]);
    if (strcmp(mode, "assemble") == 0) {
        if (!has_assembler()) {
            printf("skipped: there is no ptxas\n");
            return SKIPPED;
        }
        job.each = assemble;
        return check_each(&job);
    }
    if (driver_nvrtc_open(&job.nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return strcmp(mode, "make") == 0 ? 1 : SKIPPED;
    }
    snprintf(job.compiler, sizeof(job.compiler), "%d.%d", job.nvrtc->version / 1000,
        job.nvrtc->version % 1000 / 10);
    if (strcmp(mode, "make") == 0) {
        if (argc != 4)
            return 2;
        make(&job, argv[3]);
        return job.failures != 0;
    }
    job.each = compare_text;
    return check_each(&job);
}
