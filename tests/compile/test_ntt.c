/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile matrix of the transforms, and of vectors and folds over extensions: the kernels of
 * fields of every element size through NVRTC to machine code for sm_80, sm_90 and sm_120, as the
 * plan tunes them, with what each may cost recorded in ntt_budgets.def and enforced.
 * `test_compile_ntt record [field]` prints its lines again.
 * Exit 77 without NVRTC.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

/* `name` is the file's, with another tuning than the usual one marked. `length`: of the pass, where
 * kernels are of one length each, or 0. */
static void check(struct budget_run *run, const char *field_name, const char *file,
    const char *name, const struct ntt_tuning *tuning, uint32_t length)
{
    const pool_field *field = pool_field_by_name(field_name);
    const struct ntt_build of_length = ntt_build_of_length(tuning, length);
    char *generated = compiler_field_header(field, "fr"),
         *shoup = compiler_shoup_header(field, "fr");
    const struct compiler_header headers[] = {{"fr.cuh", generated}, {"fr_shoup.cuh", shoup}};
    char *text = base_format(
        "#define NTT_RADIX %u\n#define NTT_THREADS %u\n#define NTT_BLOCKS %u\n"
        "#define NTT_SHIFT %u\n#define NTT_QUOTIENTS %u\n#define NTT_LENGTH %u\n%s",
        tuning->log_radix, 1u << (length ? of_length.log_threads : tuning->log_threads),
        length ? of_length.blocks : tuning->blocks, field->kind == FIELD_KIND_GOLDILOCKS ? 7u : 0u,
        ntt_quotients_of(field, tuning, 16), length, source_of(file));
    const struct budget_source source = {.text = text, .headers = headers, .header_count = 2};

    if (!text)
        exit(1);
    budget_check(run, field_name, name, &source);
    free(generated);
    free(shoup);
    base_free(text);
}

static void check_field(struct budget_run *run, const char *field)
{
    const struct chip limits = {.multiprocessors = 132, .shared_bytes = 99 << 10};
    struct ntt_tuning tunings[NTT_TUNINGS];
    uint32_t words = pool_field_by_name(field)->words;
    uint32_t count = ntt_tunings(words, &limits, tunings);

    for (size_t s = 0; s < sizeof files / sizeof files[0]; s++)
        check(run, field, files[s], files[s], &tunings[0], 0);
    if (count > 1)
        check(run, field, files[0], "ntt/pass.cu, other", &tunings[1], 0);
    if (!ntt_tuning_of_lengths(words, &limits, &tunings[0]))
        return;
    for (uint32_t length = NTT_MIN_LENGTH; length <= NTT_MAX_LENGTH; length++) {
        char name[32];

        snprintf(name, sizeof(name), "ntt/pass_word.cu, 2^%u", length);
        check(run, field, "ntt/pass_word.cu", name, &tunings[0], length);
    }
}

int main(int argc, char **argv)
{
    static const struct ntt_tuning none = {.log_radix = 1};
    struct budget_run run = budget_start(budgets, BUDGETS, argc, argv);

    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        check_field(&run, fields[f]);
    for (size_t f = 0; f < sizeof extensions / sizeof extensions[0]; f++)
        for (size_t s = 0; s < sizeof extension_files / sizeof extension_files[0]; s++)
            check(&run, extensions[f], extension_files[s], extension_files[s], &none, 0);
    return budget_finish(&run);
}
