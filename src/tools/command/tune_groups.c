/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of devicepool tune. Each is a small change of what the plans choose by default:
 * neighbouring window bits, other tiles, chunks of twice and half the size.
 */
#include "tune_groups.h"

#include <stdarg.h>
#include <string.h>

enum { MSM, NTT, POSEIDON, COPY };
static const char *const operation_names[] = {"msm", "ntt", "poseidon", "copy"};

enum {
    MAX_LOG_MSM = 28, /* of the numbers; also the next */
    MAX_LOG_NTT = 32,
    MAX_LOG_TABLES = 20, /* their memory is a multiple of that of the bases */
    MAX_WINDOW_BITS = 24,
    WINDOW_EXCESS = 6, /* the most that window bits may exceed the log2 of the size */
    NTT_BATCH = 64     /* of chunks */
};

/* ---- parts of a group ------------------------------------------------------------------------ */

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

static void add_case(struct tune_group *group, const struct bench_operation *operation,
    const struct bench_case *spec)
{
    if (group->case_count < TUNE_CASES)
        group->cases[group->case_count++] = (struct tune_case){operation, *spec};
}

static uint32_t log_of(uint64_t size)
{
    return 63 - (uint32_t)__builtin_clzll(size);
}

/* The widths by which numbers are named. */
static uint32_t width_of(const uint32_t *widths, size_t count, uint64_t words)
{
    size_t i = 0;

    while (i + 1 < count && words > widths[i])
        i++;
    return widths[i];
}

static uint32_t msm_width(const char *curve)
{
    static const uint32_t widths[] = {8, 12, 16, 24};

    return width_of(widths, CLI_COUNT_OF(widths),
        pool_point_bytes(pool_curve_by_name(curve), POOL_POINT_AFFINE) / 8);
}

static uint32_t ntt_width(const char *field)
{
    static const uint32_t widths[] = {1, 2, 8, 12, 24};

    return width_of(
        widths, CLI_COUNT_OF(widths), pool_field_element_bytes(pool_field_by_name(field)) / 4);
}

/* ---- MSM ------------------------------------------------------------------------------------- */

static void add_windows(struct tune_group *group, uint32_t width, const char *number, uint32_t log,
    uint32_t least, uint32_t most)
{
    for (uint32_t c = least; c <= most; c++)
        assign(add_candidate(group), c, "msm.%u.%s.%u", width, number, log);
}

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

/* The affine passes of MSMs of this size; 0 also where a number is unknown. */
static uint32_t affine_passes_of(const pool_tuning *numbers, const char *curve, uint64_t size)
{
    const uint32_t width = msm_width(curve);
    char name[TUNE_NAME];
    uint32_t passes = 0, least = UINT32_MAX;

    snprintf(name, sizeof(name), "msm.%u.affine_passes", width);
    if (pool_tuning_get(numbers, name, &passes))
        return 0;
    snprintf(name, sizeof(name), "msm.%u.affine_min_entries", width);
    if (pool_tuning_get(numbers, name, &least))
        return 0;
    return least <= fewest_entries(curve, size) ? passes : 0;
}

/* Sizes without passes now are tried with them, and sizes with them without. All sizes have as many
 * passes as the largest. */
static bool fill_affine(struct tune_plan *plan, const char *curve, uint64_t size,
    const pool_tuning *numbers, struct tune_group *group)
{
    const uint32_t width = msm_width(curve);
    const uint32_t passes = affine_passes_of(numbers, curve, size);
    const bool is_largest = strcmp(plan->affine_curve, curve) != 0;

    if (!is_largest && plan->affine_lost)
        return false; /* smaller sizes gain less */
    if (is_largest)
        plan->affine_passes = 0;
    snprintf(plan->affine_curve, sizeof(plan->affine_curve), "%s", curve);
    for (uint32_t i = 1; i <= 2; i++) {
        struct tune_candidate *candidate;

        if (i == passes || (plan->affine_passes && i != plan->affine_passes))
            continue;
        candidate = add_candidate(group);
        assign(candidate, i, "msm.%u.affine_passes", width);
        assign(candidate, more_than_entries(curve, size / 2), "msm.%u.affine_min_entries", width);
    }
    if (passes)
        assign(add_candidate(group), more_than_entries(curve, size), "msm.%u.affine_min_entries",
            width);
    return true;
}

static bool fill_msm(struct tune_plan *plan, enum tune_kind kind, const char *curve, uint64_t size,
    const pool_tuning *numbers, struct tune_group *group)
{
    const uint32_t width = msm_width(curve), log = log_of(size);
    const uint32_t most =
        log + WINDOW_EXCESS < MAX_WINDOW_BITS ? log + WINDOW_EXCESS : MAX_WINDOW_BITS;
    struct bench_case spec = {.subject = curve, .size = size, .precompute_factor = 1};

    switch (kind) {
    case TUNE_WINDOWS:
        add_windows(group, width, "window_bits", log, log > 8 ? log - 6 : 2,
            log > MAX_WINDOW_BITS ? MAX_WINDOW_BITS
            : log > 3             ? log - 1
                                  : 2);
        break;
    case TUNE_TABLE_WINDOWS:
        spec.precompute_factor = POOL_PRECOMPUTE_ALL;
        add_windows(group, width, "table_window_bits", log, log > 6 ? log - 4 : 2,
            log + 2 < most ? log + 2 : most);
        break;
    case TUNE_TABLE_FACTOR:
        spec.precompute_factor = POOL_PRECOMPUTE_AUTO;
        for (uint32_t factor = 2; factor <= 8; factor *= 2)
            assign(add_candidate(group), factor, "msm.%u.table_factor", width);
        break;
    case TUNE_AFFINE:
        if (!fill_affine(plan, curve, size, numbers, group))
            return false;
        break;
    default:
        spec.from_host = true;
        assign(add_candidate(group), 16 << 20, "msm.ramp_bytes");
        assign(add_candidate(group), 64 << 20, "msm.ramp_bytes");
        assign(add_candidate(group), UINT32_MAX, "msm.ramp_bytes");
        break;
    }
    add_case(group, &bench_msm, &spec);
    return true;
}

/* ---- NTT ------------------------------------------------------------------------------------- */

/* Tunings to try beside the usual one where there is no other. */
static const struct {
    uint32_t width, log_radix, log_threads, min_tile_width, bits, blocks;
} variants[] = {{1, 5, 9, 3, 18, 1}, {1, 5, 9, 3, 18, 2}, {1, 4, 8, 3, 18, 4}, {1, 5, 8, 2, 18, 3},
    {12, 1, 8, 1, 15, 2}, {12, 2, 6, 1, 15, 8}, {24, 1, 8, 1, 14, 1}, {24, 1, 6, 1, 14, 6}};

static bool has_other(const pool_tuning *numbers, uint32_t width)
{
    char name[TUNE_NAME];
    uint32_t radix = 0;

    snprintf(name, sizeof(name), "ntt.%u.other.log_radix", width);
    return !pool_tuning_get(numbers, name, &radix) && radix;
}

static void fill_choice(
    const pool_tuning *numbers, uint32_t width, uint32_t log, struct tune_group *group)
{
    if (has_other(numbers, width)) {
        for (uint32_t choice = 1; choice <= 2; choice++)
            assign(add_candidate(group), choice, "ntt.%u.choice.%u", width, log);
        return;
    }
    for (size_t i = 0; i < CLI_COUNT_OF(variants); i++) {
        struct tune_candidate *candidate;

        if (variants[i].width != width)
            continue;
        candidate = add_candidate(group);
        assign(candidate, variants[i].log_radix, "ntt.%u.other.log_radix", width);
        assign(candidate, variants[i].log_threads, "ntt.%u.other.log_threads", width);
        assign(candidate, variants[i].min_tile_width, "ntt.%u.other.min_tile_width", width);
        assign(candidate, variants[i].bits, "ntt.%u.other.high_bits", width);
        assign(candidate, variants[i].bits, "ntt.%u.other.single_bits", width);
        assign(candidate, variants[i].blocks, "ntt.%u.other.blocks", width);
        assign(candidate, 24, "ntt.%u.other.log_chunk", width);
        assign(candidate, 0, "ntt.%u.other_by_rule", width);
        assign(candidate, 2, "ntt.%u.choice.%u", width, log);
    }
}

static bool fill_ntt(const struct tune_plan *plan, enum tune_kind kind, const char *field,
    uint64_t size, const pool_tuning *numbers, struct tune_group *group)
{
    const uint32_t width = ntt_width(field);
    struct bench_case spec = {.subject = field, .size = size};

    if (kind == TUNE_NTT_CHOICE) {
        fill_choice(numbers, width, log_of(size), group);
        add_case(group, &bench_ntt, &spec);
    } else if (kind == TUNE_NTT_PASSES) {
        assign(add_candidate(group), 1, "ntt.%u.wave_tiles", width);
        assign(add_candidate(group), 4, "ntt.%u.wave_tiles", width);
        assign(add_candidate(group), 1, "ntt.%u.long_last", width);
        for (size_t i = 0; i < plan->sizes.count; i++) {
            spec.size = plan->sizes.at[i];
            if (!bench_ntt.max_size(field) || spec.size <= bench_ntt.max_size(field))
                add_case(group, &bench_ntt, &spec);
        }
    } else {
        spec.batch = NTT_BATCH;
        spec.from_host = true;
        for (uint32_t bytes = 4 << 20; bytes <= 64 << 20; bytes *= 2)
            if (bytes != 16 << 20)
                assign(add_candidate(group), bytes, "ntt.chunk_bytes");
        add_case(group, &bench_ntt, &spec);
    }
    return group->candidate_count && group->case_count;
}

/* ---- Poseidon and copies --------------------------------------------------------------------- */

static void fill_poseidon(const struct tune_plan *plan, const char *set, struct tune_group *group)
{
    static const uint32_t states[] = {0, 64, 256, 512};

    for (size_t i = 0; i < CLI_COUNT_OF(states); i++)
        assign(add_candidate(group), states[i], "poseidon.two_thread_states");
    for (size_t i = 0; i < plan->sizes.count; i++)
        if (plan->sizes.at[i] <= 1 << 18)
            add_case(group, &bench_poseidon,
                &(struct bench_case){.subject = set, .size = plan->sizes.at[i]});
    /* Around the default, where two threads per state begin to be slower. */
    for (uint64_t size = 1 << 13; size <= 1 << 15 && !plan->has_sizes; size *= 2)
        add_case(group, &bench_poseidon, &(struct bench_case){.subject = set, .size = size});
}

static void fill_copy(const struct tune_plan *plan, enum tune_kind kind, struct tune_group *group)
{
    static const char *const ways[] = {"to-device", "to-host"};
    static const uint64_t usual[] = {1 << 20, 8 << 20, 64 << 20};
    const size_t count = plan->has_sizes ? plan->sizes.count : CLI_COUNT_OF(usual);
    const uint64_t *sizes = plan->has_sizes ? plan->sizes.at : usual;

    if (kind == TUNE_COPY_CHUNKS)
        for (uint32_t bytes = 256 << 10; bytes <= 4 << 20; bytes *= 2) {
            if (bytes != 1 << 20)
                assign(add_candidate(group), bytes, "copy.chunk_bytes");
        }
    else
        for (uint32_t helpers = 1; helpers <= 7; helpers += 2) {
            if (helpers != 3)
                assign(add_candidate(group), helpers, "copy.helpers");
        }
    for (size_t i = 0; i < count; i++)
        for (size_t way = 0; way < CLI_COUNT_OF(ways); way++)
            add_case(
                group, &bench_copy, &(struct bench_case){.subject = ways[way], .size = sizes[i]});
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
    for (int kind = TUNE_COPY_CHUNKS; plan->operations[COPY] && kind <= TUNE_COPY_HELPERS; kind++)
        add_group(plan, (enum tune_kind)kind, "copies", 0);
}

static bool read_operations(const char *list, struct tune_plan *plan)
{
    char names[64], *rest = names, *name;

    if (strlen(list) >= sizeof(names))
        return false;
    snprintf(names, sizeof(names), "%s", list);
    while ((name = strsep(&rest, ","))) {
        size_t i = 0;

        while (i < CLI_COUNT_OF(operation_names) && strcmp(operation_names[i], name) != 0)
            i++;
        if (i == CLI_COUNT_OF(operation_names))
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

bool tune_plan_group(
    struct tune_plan *plan, size_t index, const pool_tuning *numbers, struct tune_group *group)
{
    static const char *const kinds[] = {[TUNE_WINDOWS] = "window bits",
        [TUNE_TABLE_WINDOWS] = "window bits with tables",
        [TUNE_TABLE_FACTOR] = "table factor",
        [TUNE_AFFINE] = "affine passes",
        [TUNE_RAMP] = "first chunks from the host",
        [TUNE_NTT_CHOICE] = "tiles and passes",
        [TUNE_NTT_PASSES] = "width of tiles, order of passes",
        [TUNE_NTT_CHUNKS] = "chunks from the host",
        [TUNE_POSEIDON] = "threads per state",
        [TUNE_COPY_CHUNKS] = "slots of staged copies",
        [TUNE_COPY_HELPERS] = "threads of staged copies"};
    const enum tune_kind kind = plan->groups[index].kind;
    const char *subject = plan->groups[index].subject;
    const uint64_t size = plan->groups[index].size;
    char number[CLI_NUMBER];

    memset(group, 0, sizeof(*group));
    snprintf(group->title, sizeof(group->title), "%s%s%s: %s", subject, size ? " " : "",
        size ? cli_size(size, number, sizeof(number)) : "", kinds[kind]);
    switch (kind) {
    case TUNE_NTT_CHOICE:
    case TUNE_NTT_PASSES:
    case TUNE_NTT_CHUNKS:
        return fill_ntt(plan, kind, subject, size, numbers, group);
    case TUNE_POSEIDON:
        fill_poseidon(plan, subject, group);
        return group->case_count != 0;
    case TUNE_COPY_CHUNKS:
    case TUNE_COPY_HELPERS:
        fill_copy(plan, kind, group);
        return true;
    default:
        return fill_msm(plan, kind, subject, size, numbers, group);
    }
}

void tune_plan_note(struct tune_plan *plan, size_t index, const pool_tuning *numbers)
{
    if (plan->groups[index].kind != TUNE_AFFINE)
        return;
    plan->affine_passes =
        affine_passes_of(numbers, plan->groups[index].subject, plan->groups[index].size);
    plan->affine_lost = !plan->affine_passes;
}

size_t tune_plan_operation(const struct tune_plan *plan, size_t index, const char **name)
{
    const enum tune_kind kind = plan->groups[index].kind;
    const size_t operation = kind <= TUNE_RAMP         ? MSM
                             : kind <= TUNE_NTT_CHUNKS ? NTT
                             : kind == TUNE_POSEIDON   ? POSEIDON
                                                       : COPY;

    *name = operation_names[operation];
    return operation;
}
