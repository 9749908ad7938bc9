/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What devicepool tune measures. The candidates of single numbers are those of the library's table
 * (pool_tuning_each); here are those that need several numbers, and the cases.
 */
#include "tune_groups.h"

#include <stdarg.h>
#include <string.h>

enum { MSM, NTT, POSEIDON, COPY };
static const struct bench_operation *const all_operations[] = {
    [MSM] = &bench_msm, [NTT] = &bench_ntt, [POSEIDON] = &bench_poseidon, [COPY] = &bench_copy};

enum {
    MAX_LOG_MSM = 28, /* of the numbers; also the next */
    MAX_LOG_NTT = 32,
    MAX_LOG_TABLES = 20, /* their memory is a multiple of that of the bases */
    MAX_WINDOW_BITS = 24,
    NTT_BATCH = 64 /* of chunks */
};

/* What a kind of group varies, and what the cases have besides subject and size. */
enum scope { OF_ALL, OF_LENGTH, OF_SIZE };
static const struct kind {
    int operation;
    enum scope scope;
    const char *title;
    const char *numbers[2]; /* whose candidates are tried */
    struct bench_case spec;
} kinds[] = {
    [TUNE_WINDOWS] = {MSM, OF_SIZE, "window bits", {"window_bits"}, {.precompute_factor = 1}},
    [TUNE_TABLE_WINDOWS] = {MSM, OF_SIZE, "window bits with tables", {"table_window_bits"},
        {.precompute_factor = POOL_PRECOMPUTE_ALL}},
    [TUNE_TABLE_FACTOR] = {MSM, OF_LENGTH, "table factor", {"table_factor"},
        {.precompute_factor = POOL_PRECOMPUTE_AUTO}},
    [TUNE_AFFINE] = {MSM, OF_LENGTH, "affine passes", {NULL}, {.precompute_factor = 1}},
    [TUNE_RAMP] = {MSM, OF_ALL, "first chunks from the host", {"ramp_bytes"},
        {.precompute_factor = 1, .from_host = true}},
    [TUNE_NTT_CHOICE] = {NTT, OF_SIZE, "tiles and passes", {"choice"}, {0}},
    [TUNE_NTT_PASSES] = {NTT, OF_LENGTH, "width of tiles, order of passes",
        {"wave_tiles", "long_last"}, {0}},
    [TUNE_NTT_CHUNKS] = {NTT, OF_ALL, "chunks from the host", {"chunk_bytes"},
        {.batch = NTT_BATCH, .from_host = true}},
    [TUNE_POSEIDON] = {POSEIDON, OF_ALL, "threads per state", {"two_thread_states"}, {0}},
    [TUNE_COPY_CHUNKS] = {COPY, OF_ALL, "slots of staged copies", {"chunk_bytes"}, {0}},
    [TUNE_COPY_HELPERS] = {COPY, OF_ALL, "threads of staged copies", {"helpers"}, {0}},
};

/* ---- candidates ------------------------------------------------------------------------------ */

__attribute__((format(printf, 3, 4))) static void assign(
    struct tune_candidate *candidate, uint32_t value, const char *format, ...)
{
    struct tune_assignment *set = &candidate->set[candidate->count++];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(set->name, sizeof(set->name), format, arguments);
    va_end(arguments);
    set->value = value;
}

static struct tune_candidate *add_candidate(struct tune_group *group)
{
    return &group->candidates[group->candidate_count++];
}

static uint32_t log_of(uint64_t size)
{
    return 63 - (uint32_t)__builtin_clzll(size);
}

/* The length of coordinates or elements by which numbers are named. */
static uint32_t length_of(const char *subject)
{
    static const uint32_t msm[] = {8, 12, 16, 24}, ntt[] = {1, 2, 8, 12, 24};
    const bool is_msm = bench_msm.has_subject(subject);
    const uint32_t *lengths = is_msm ? msm : ntt;
    const size_t count = is_msm ? CLI_COUNT_OF(msm) : CLI_COUNT_OF(ntt);
    const uint64_t words =
        is_msm ? pool_point_bytes(pool_curve_by_name(subject), POOL_POINT_AFFINE) / 8
               : pool_field_element_bytes(pool_field_by_name(subject)) / 4;
    size_t i = 0;

    while (i + 1 < count && words > lengths[i])
        i++;
    return lengths[i];
}

struct search {
    char name[TUNE_NAME];
    struct tune_group *group;
};

static int add_candidates_of(void *user, const pool_tuning_number *number)
{
    struct search *search = user;

    if (strcmp(number->name, search->name) != 0)
        return 0;
    for (uint32_t i = 0; i < number->candidate_count; i++)
        assign(add_candidate(search->group), number->candidates[i], "%s", number->name);
    return 1;
}

static void add_candidates(const struct kind *kind, const char *number, const char *subject,
    uint64_t size, const pool_tuning *numbers, struct tune_group *group)
{
    const char *operation = all_operations[kind->operation]->name;
    struct search search = {.group = group};

    if (kind->scope == OF_ALL)
        snprintf(search.name, sizeof(search.name), "%s.%s", operation, number);
    else if (kind->scope == OF_LENGTH)
        snprintf(
            search.name, sizeof(search.name), "%s.%u.%s", operation, length_of(subject), number);
    else
        snprintf(search.name, sizeof(search.name), "%s.%u.%s.%u", operation, length_of(subject),
            number, log_of(size));
    pool_tuning_each(numbers, add_candidates_of, &search);
}

/* ---- affine passes --------------------------------------------------------------------------- */

/*
 * An MSM has an entry per term and window. These bounds hold for the window bits that are chosen or
 * tried, with one window more for halves of scalars. From 2^14 terms on the upper one of a size is
 * at most the lower one of twice the size, so that a number between them separates sizes.
 */
static uint32_t entries_of(const char *curve, uint64_t size, uint32_t window_bits, uint32_t more)
{
    const uint32_t bits = pool_field_bits(pool_curve_scalar_field(pool_curve_by_name(curve)));
    const uint64_t windows = bits / window_bits + more;

    return size > UINT32_MAX / windows ? UINT32_MAX : (uint32_t)(windows * size);
}

static uint32_t fewest_entries(const char *curve, uint64_t size)
{
    const uint32_t log = log_of(size);

    return entries_of(curve, size,
        log > MAX_WINDOW_BITS ? MAX_WINDOW_BITS
        : log > 3             ? log - 1
                              : 2,
        0);
}

static uint32_t more_than_entries(const char *curve, uint64_t size)
{
    const uint32_t log = log_of(size);

    return entries_of(curve, size, log > 8 ? log - 6 : 2, 3);
}

/* A number of a length; 0 also where it is unknown. */
static uint32_t number_of(
    const pool_tuning *numbers, const char *operation, uint32_t length, const char *number)
{
    char name[TUNE_NAME];
    uint32_t value = 0;

    snprintf(name, sizeof(name), "%s.%u.%s", operation, length, number);
    return pool_tuning_get(numbers, name, &value) ? 0 : value;
}

/* The affine passes of MSMs of this size. */
static uint32_t affine_passes_of(const pool_tuning *numbers, const char *curve, uint64_t size)
{
    const uint32_t length = length_of(curve);

    return number_of(numbers, "msm", length, "affine_min_entries") <= fewest_entries(curve, size)
               ? number_of(numbers, "msm", length, "affine_passes")
               : 0;
}

/* Sizes without passes now are tried with them, and sizes with them without. All sizes have as many
 * passes as the next larger one; where that has none, as smaller ones gain less, there are no
 * candidates. */
static void add_affine(const struct tune_plan *plan, size_t index, const pool_tuning *numbers,
    struct tune_group *group)
{
    const char *curve = plan->groups[index].subject;
    const uint64_t size = plan->groups[index].size;
    const uint32_t length = length_of(curve), passes = affine_passes_of(numbers, curve, size);
    uint32_t least = 1, most = 2;

    for (size_t i = index; i-- > 0;)
        if (plan->groups[i].kind == TUNE_AFFINE && strcmp(plan->groups[i].subject, curve) == 0) {
            least = most = affine_passes_of(numbers, curve, plan->groups[i].size);
            break;
        }
    if (!most)
        return;
    for (uint32_t i = least; i <= most; i++) {
        struct tune_candidate *candidate;

        if (i == passes)
            continue;
        candidate = add_candidate(group);
        assign(candidate, i, "msm.%u.affine_passes", length);
        assign(candidate, more_than_entries(curve, size / 2), "msm.%u.affine_min_entries", length);
    }
    if (passes)
        assign(add_candidate(group), more_than_entries(curve, size), "msm.%u.affine_min_entries",
            length);
}

/* ---- tiles of NTTs --------------------------------------------------------------------------- */

/* Tunings to try beside the usual one where there is no other. */
static const char *const variant_numbers[] = {"other.log_radix", "other.log_threads",
    "other.min_tile_width", "other.high_bits", "other.single_bits", "other.blocks",
    "other.log_chunk", "other_by_rule"};
static const struct {
    uint32_t length, values[CLI_COUNT_OF(variant_numbers)];
} variants[] = {{1, {5, 9, 3, 18, 18, 1, 24, 0}}, {1, {5, 9, 3, 18, 18, 2, 24, 0}},
    {1, {4, 8, 3, 18, 18, 4, 24, 0}}, {1, {5, 8, 2, 18, 18, 3, 24, 0}},
    {12, {1, 8, 1, 15, 15, 2, 24, 0}}, {12, {2, 6, 1, 15, 15, 8, 24, 0}},
    {24, {1, 8, 1, 14, 14, 1, 24, 0}}, {24, {1, 6, 1, 14, 14, 6, 24, 0}}};

static void add_variants(uint32_t length, uint32_t log, struct tune_group *group)
{
    for (size_t i = 0; i < CLI_COUNT_OF(variants); i++) {
        struct tune_candidate *candidate;

        if (variants[i].length != length)
            continue;
        candidate = add_candidate(group);
        for (size_t n = 0; n < CLI_COUNT_OF(variant_numbers); n++)
            assign(candidate, variants[i].values[n], "ntt.%u.%s", length, variant_numbers[n]);
        assign(candidate, 2, "ntt.%u.choice.%u", length, log);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void add_case(
    struct tune_group *group, const struct kind *kind, const char *subject, uint64_t size)
{
    const struct bench_operation *operation = all_operations[kind->operation];
    const uint64_t most = operation->max_size ? operation->max_size(subject) : 0;
    struct tune_case added = {operation, kind->spec};

    if ((most && size > most) || group->case_count == TUNE_CASES)
        return;
    added.spec.subject = subject;
    added.spec.size = size;
    group->cases[group->case_count++] = added;
}

/* Of all sizes of the plan. */
static void add_cases(const struct tune_plan *plan, const struct kind *kind, const char *subject,
    struct tune_group *group)
{
    static const uint64_t copies[] = {1 << 20, 8 << 20, 64 << 20};
    const bool is_copy = kind->operation == COPY, is_poseidon = kind->operation == POSEIDON;
    const bool is_usual = is_copy && !plan->has_sizes;
    const uint64_t *sizes = is_usual ? copies : plan->sizes.at;
    const size_t count = is_usual ? CLI_COUNT_OF(copies) : plan->sizes.count;

    for (size_t i = 0; i < count; i++)
        if (is_copy) {
            add_case(group, kind, "to-device", sizes[i]);
            add_case(group, kind, "to-host", sizes[i]);
        } else if (!is_poseidon || sizes[i] <= 1 << 18) {
            add_case(group, kind, subject, sizes[i]);
        }
    /* Around the default, where two threads per state begin to be slower. */
    for (uint64_t size = 1 << 13; is_poseidon && size <= 1 << 15 && !plan->has_sizes; size *= 2)
        add_case(group, kind, subject, size);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void add_group(
    struct tune_plan *plan, enum tune_kind kind, const char *subject, uint64_t size)
{
    if (plan->count == TUNE_MAX_GROUPS)
        return;
    plan->groups[plan->count].kind = kind;
    snprintf(plan->groups[plan->count].subject, sizeof(plan->groups[0].subject), "%s", subject);
    plan->groups[plan->count++].size = size;
}

/* From large sizes to small ones: affine passes end where they lose, and the tunings of NTTs are
 * chosen where they matter most. */
static void add_msm_groups(struct tune_plan *plan, const char *curve)
{
    uint64_t largest_table = 0;

    for (size_t i = plan->sizes.count; i-- > 0;) {
        const uint64_t size = plan->sizes.at[i];

        if (size < 4 || size >> MAX_LOG_MSM > 1)
            continue;
        add_group(plan, TUNE_WINDOWS, curve, size);
        add_group(plan, TUNE_AFFINE, curve, size);
        if (size >> MAX_LOG_TABLES > 1)
            continue;
        add_group(plan, TUNE_TABLE_WINDOWS, curve, size);
        largest_table = size > largest_table ? size : largest_table;
    }
    if (largest_table)
        add_group(plan, TUNE_TABLE_FACTOR, curve, largest_table);
}

static void add_ntt_groups(struct tune_plan *plan, const char *field)
{
    for (size_t i = plan->sizes.count; i-- > 0;)
        if (plan->sizes.at[i] <= bench_ntt.max_size(field) && plan->sizes.at[i] >> MAX_LOG_NTT <= 1)
            add_group(plan, TUNE_NTT_CHOICE, field, plan->sizes.at[i]);
    add_group(plan, TUNE_NTT_PASSES, field, 0);
}

static bool add_subject(struct tune_plan *plan, const char *subject)
{
    if (bench_msm.has_subject(subject)) {
        if (plan->operations[MSM])
            add_msm_groups(plan, subject);
    } else if (bench_ntt.has_subject(subject)) {
        if (plan->operations[NTT])
            add_ntt_groups(plan, subject);
    } else if (bench_poseidon.has_subject(subject)) {
        if (plan->operations[POSEIDON])
            add_group(plan, TUNE_POSEIDON, subject, 0);
    } else {
        return false;
    }
    return true;
}

/* What depends on no subject. */
static void add_host_groups(struct tune_plan *plan)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < plan->sizes.count; i++)
        if (plan->sizes.at[i] > largest && plan->sizes.at[i] <= 1 << 22)
            largest = plan->sizes.at[i];
    if (plan->operations[MSM] && largest)
        add_group(plan, TUNE_RAMP, "bn254_g1", largest);
    if (plan->operations[NTT] && largest)
        add_group(plan, TUNE_NTT_CHUNKS, "bn254_fr", largest < 1 << 16 ? largest : 1 << 16);
    if (plan->operations[COPY]) {
        add_group(plan, TUNE_COPY_CHUNKS, "copies", 0);
        add_group(plan, TUNE_COPY_HELPERS, "copies", 0);
    }
}

static bool read_operations(const char *list, struct tune_plan *plan)
{
    char names[64], *rest = names, *name;

    if (strlen(list) >= sizeof(names))
        return false;
    snprintf(names, sizeof(names), "%s", list);
    while ((name = strsep(&rest, ","))) {
        size_t i = 0;

        while (i < CLI_COUNT_OF(all_operations) && strcmp(all_operations[i]->name, name) != 0)
            i++;
        if (i == CLI_COUNT_OF(all_operations))
            return false;
        plan->operations[i] = true;
    }
    return true;
}

int tune_plan_make(const struct cli_command *command, const char *operations, const char *subjects,
    struct tune_plan *plan)
{
    /* One for each length of coordinates and of elements. */
    const char *list = subjects ? subjects
                                : "bn254_g1,bls12_381_g1,bn254_g2,bls12_381_g2,bn254_fr,"
                                  "bw6_761_fr,goldilocks,babybear,circom-bn254-t3";
    char names[1024], *rest = names, *name;

    if (!read_operations(operations, plan))
        return cli_usage(command, "--operation takes msm, ntt, poseidon and copy, or several");
    plan->has_sizes = plan->sizes.count != 0;
    if (!plan->has_sizes)
        for (uint32_t log = 16; log <= 24; log += 2)
            plan->sizes.at[plan->sizes.count++] = UINT64_C(1) << log;
    for (size_t i = 0; i < plan->sizes.count; i++)
        if (!plan->sizes.at[i] || (plan->sizes.at[i] & (plan->sizes.at[i] - 1)))
            return cli_usage(command, "--sizes must be powers of two");
    if (strlen(list) >= sizeof(names))
        return cli_usage(command, "--subject is too long");
    snprintf(names, sizeof(names), "%s", list);
    while ((name = strsep(&rest, ",")))
        if (!add_subject(plan, name)) {
            struct cli_match match = {0};

            cli_match_kinds(name, CLI_FIELDS | CLI_CURVES | CLI_SETS, &match);
            return cli_usage(command,
                "no curve, field or parameter set '%s'%s; see 'devicepool list fields' (or curves, "
                "sets)",
                name, cli_suggestion(&match));
        }
    add_host_groups(plan);
    return CLI_GO;
}

bool tune_plan_group(const struct tune_plan *plan, size_t index, const pool_tuning *numbers,
    struct tune_group *group)
{
    const enum tune_kind number = plan->groups[index].kind;
    const struct kind *kind = &kinds[number];
    const char *subject = plan->groups[index].subject;
    const uint64_t size = plan->groups[index].size;
    char text[CLI_NUMBER];

    memset(group, 0, sizeof(*group));
    snprintf(group->title, sizeof(group->title), "%s%s%s: %s", subject, size ? " " : "",
        size ? cli_size(size, text, sizeof(text)) : "", kind->title);
    if (number == TUNE_AFFINE)
        add_affine(plan, index, numbers, group);
    else if (number == TUNE_NTT_CHOICE &&
             !number_of(numbers, "ntt", length_of(subject), "other.log_radix"))
        add_variants(length_of(subject), log_of(size), group);
    else
        for (size_t i = 0; i < CLI_COUNT_OF(kind->numbers) && kind->numbers[i]; i++)
            add_candidates(kind, kind->numbers[i], subject, size, numbers, group);
    if (size)
        add_case(group, kind, subject, size);
    else
        add_cases(plan, kind, subject, group);
    return group->candidate_count && group->case_count;
}

size_t tune_plan_operation(const struct tune_plan *plan, size_t index, const char **name)
{
    const int operation = kinds[plan->groups[index].kind].operation;

    *name = all_operations[operation]->name;
    return (size_t)operation;
}
