/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of the transforms, and of vectors and folds over extensions: the kernels of
 * fields of every element size through NVRTC to machine code for sm_80, sm_90 and sm_120, as the
 * plan tunes them, with what each may cost recorded in ntt_budgets.def and enforced.
 * `test_compile_ntt record [field [radix log_threads blocks quotients]]` prints its lines again.
 * Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "zk/ntt/ntt.h"

static const char *const fields[] = {
    "babybear", "goldilocks", "bn254_fr", "bls12_381_fr", "bls12_377_fq", "bw6_761_fq"};
static const char *const files[] = {
    "ntt/pass.cu", "ntt/split.cu", "ntt/tables.cu", "vector/vector.cu"};

static const char *const extensions[] = {"babybear_x4", "goldilocks_x2"};
static const char *const extension_files[] = {"ntt/tables.cu", "vector/vector.cu", "fri/fri.cu"};

static const struct budget budgets[] = {
#include "ntt_budgets.def"
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

/* A tuning other than the plan's, for inspection. */
static const struct ntt_tuning *variant;

static struct cost measure(const struct nvrtc *nvrtc, const pool_field *field, const char *file,
    const struct ntt_tuning *tuning, uint32_t length, int chip)
{
    const struct ntt_build of_length = ntt_build_of_length(tuning, length);
    const char *body = source_of(file);
    size_t room = strlen(body) + 224;
    char *source = malloc(room), *generated = compiler_field_header(field, "fr");
    char *shoup = compiler_shoup_header(field, "fr");
    const struct compiler_header texts[] = {{"fr.cuh", generated}, {"fr_shoup.cuh", shoup}};

    if (source == NULL)
        exit(1);
    snprintf(source, room,
        "#define NTT_RADIX %u\n#define NTT_THREADS %u\n#define NTT_BLOCKS %u\n"
        "#define NTT_SHIFT %u\n#define NTT_QUOTIENTS %u\n#define NTT_LENGTH %u\n%s",
        tuning->log_radix, 1u << (length ? of_length.log_threads : tuning->log_threads),
        length ? of_length.blocks : tuning->blocks, field->kind == FIELD_KIND_GOLDILOCKS ? 7u : 0u,
        ntt_quotients_of(field, tuning, 16), length, body);
    struct compiler_image image = compiler_compile(nvrtc, source, texts, 2, chip, false);
    struct cost cost = take_cost(&image);
    free(generated);
    free(shoup);
    free(source);
    return cost;
}

/* `name` is the file's, with another tuning than the usual one marked. `length`: of the pass, where
 * kernels are of one length each, or 0. */
static int one_file(const struct nvrtc *nvrtc, const char *field, const char *file,
    const char *name, const struct ntt_tuning *tuning, uint32_t length, bool is_recording)
{
    struct cost cost[CHIPS];

    for (int i = 0; i < CHIPS; i++)
        cost[i] = measure(nvrtc, pool_field_by_name(field), file, tuning, length, chips[i]);
    return settle(budgets, BUDGETS, field, name, cost, is_recording);
}

static int each_file(const struct nvrtc *nvrtc, const char *field, bool is_recording)
{
    const struct chip limits = {.multiprocessors = 132, .shared_bytes = 99 << 10};
    struct ntt_tuning tunings[NTT_TUNINGS];
    uint32_t count = ntt_tunings(pool_field_by_name(field)->words, &limits, tunings);
    int failures = 0;

    if (variant != NULL)
        tunings[0] = *variant;
    for (size_t s = 0; s < sizeof files / sizeof files[0]; s++)
        failures += one_file(nvrtc, field, files[s], files[s], &tunings[0], 0, is_recording);
    if (count > 1)
        failures +=
            one_file(nvrtc, field, files[0], "ntt/pass.cu, other", &tunings[1], 0, is_recording);
    if (!variant && ntt_tuning_of_lengths(pool_field_by_name(field)->words, &limits, &tunings[0]))
        for (uint32_t length = NTT_MIN_LENGTH; length <= NTT_MAX_LENGTH; length++) {
            char name[32];

            snprintf(name, sizeof(name), "ntt/pass_word.cu, 2^%u", length);
            failures +=
                one_file(nvrtc, field, "ntt/pass_word.cu", name, &tunings[0], length, is_recording);
        }
    return failures;
}

static int each_extension_file(const struct nvrtc *nvrtc, const char *field, bool is_recording)
{
    const struct ntt_tuning none = {.log_radix = 1};
    int failures = 0;

    for (size_t s = 0; s < sizeof extension_files / sizeof extension_files[0]; s++)
        failures +=
            one_file(nvrtc, field, extension_files[s], extension_files[s], &none, 0, is_recording);
    return failures;
}

int main(int argc, char **argv)
{
    bool is_recording = argc > 1 && strcmp(argv[1], "record") == 0;
    const struct nvrtc *nvrtc = NULL;
    int failures = 0;

    if (driver_nvrtc_open(&nvrtc)) {
        printf("skipped: %s\n", pool_last_error()->message);
        return 77;
    }
    static struct ntt_tuning given;
    if (argc > 5) {
        given.log_radix = (uint32_t)atoi(argv[3]);
        given.log_threads = (uint32_t)atoi(argv[4]);
        given.blocks = (uint32_t)atoi(argv[5]);
        given.quotients = argc > 6 ? (enum ntt_quotients)atoi(argv[6]) : NTT_NO_QUOTIENTS;
        variant = &given;
    }
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        if (argc <= 2 || strcmp(argv[2], fields[f]) == 0)
            failures += each_file(nvrtc, fields[f], is_recording);
    for (size_t f = 0; f < sizeof extensions / sizeof extensions[0]; f++)
        if (argc <= 2 || strcmp(argv[2], extensions[f]) == 0)
            failures += each_extension_file(nvrtc, extensions[f], is_recording);
    return failures == 0 ? 0 : 1;
}
