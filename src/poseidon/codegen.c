/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device text of a set: its numbers as macros, its constants in constant memory, each array in
 * the order in which the permutation reads it.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "field/emit.h"
#include "poseidon/args.h"

/*
 * Up to this many bytes of constants lie in constant memory, more in global memory. Constants are
 * cached beside instructions: with t = 12 over 256 bits, 30 KB, they drove each other out (19 to
 * 28 million permutations a second, 31 from global memory); with t = 3, 12 KB, constant memory was
 * 2 % faster.
 */
enum { CONSTANT_BYTES = 16 * 1024 };
/* Widest state in words (96: twelve lanes of 256 bits) and widest in lanes of up to two words that
 * full rounds keep in registers: beyond, the 2 t^2 products of their code written out would not fit
 * the instruction cache. */
enum { UNROLLED_WORDS = 24, UNROLLED_LANES = 24 };
enum { SMALL_BITS = 16 };

/* How Poseidon2's external matrix is computed; names of the device text. */
static const char *const externals[] = {
    "POSEIDON_DENSE", "POSEIDON_SUM", "POSEIDON_BLOCKS_57", "POSEIDON_BLOCKS_23"};

void poseidon_device_words(const pool_field *field, uint32_t *words, const uint64_t *limbs)
{
    uint64_t element[FIELD_MAX_LIMBS];

    field_copy(field, element, limbs);
    if (field->flags & FIELD_DEVICE_STANDARD)
        field_from_montgomery(field, element, element);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = field_word(element, i);
}

static void put_words(struct field_emit_writer *writer, const uint32_t *words)
{
    field_emit(writer, "{{");
    for (uint32_t i = 0; i < writer->field->words; i++)
        field_emit(writer, "%s0x%08xu", i == 0 ? "" : ",", words[i]);
    field_emit(writer, "}}");
}

static void put_element(struct field_emit_writer *writer, const uint64_t *limbs)
{
    uint32_t words[FIELD_MAX_WORDS];

    poseidon_device_words(writer->field, words, limbs);
    put_words(writer, words);
}

static void begin_array(struct field_emit_writer *writer, const char *name, size_t count)
{
    field_emit(writer, "POSEIDON_CONSTANTS fr poseidon_%s[%zu] = {\n", name, count);
}

/* What stays of an array's count is zeros. */
static void put_elements(struct field_emit_writer *writer, const uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_element(writer, elements + i * writer->field->limbs);
        field_emit(writer, ",\n");
    }
}

static void end_array(struct field_emit_writer *writer)
{
    field_emit(writer, "};\n");
}

static void put_array(
    struct field_emit_writer *writer, const char *name, const uint64_t *elements, size_t count)
{
    begin_array(writer, name, count);
    put_elements(writer, elements, count);
    end_array(writer);
}

static void put_function(struct field_emit_writer *writer, const char *name, const uint32_t *words)
{
    field_emit(writer, "__device__ __forceinline__ fr poseidon_%s(void)\n{\n    fr r = ", name);
    put_words(writer, words);
    field_emit(writer, ";\n    return r;\n}\n");
}

/* Factors between the caller's other form and the device's; the product is the device's own. */
static void put_factors(struct field_emit_writer *writer)
{
    const pool_field *field = writer->field;
    uint64_t factor[FIELD_MAX_LIMBS] = {1};
    uint32_t words[FIELD_MAX_WORDS] = {0};
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;

    /* From standard form: R^2 / R = R; from Montgomery form, where the device computes in standard
     * form: 1 / R. */
    if (is_standard)
        field_from_montgomery(field, factor, factor);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = field_word(is_standard ? factor : field->r2, i);
    put_function(writer, "into", words);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = is_standard ? field_word(field->one, i) : i == 0;
    put_function(writer, "out_of", words);
}

static bool entry_is(const pool_poseidon *set, uint32_t i, uint32_t j, int64_t value)
{
    uint64_t wanted[FIELD_MAX_LIMBS];

    field_set_integer(set->field, wanted, value);
    return field_equal(
        set->field, wanted, set->matrix + ((size_t)i * set->width + j) * set->field->limbs);
}

/* Whether the external matrix is that of externals[which]. */
static bool is_external(const pool_poseidon *set, int which)
{
    static const int64_t blocks[2][4][4] = {
        {{5, 7, 1, 3}, {4, 6, 1, 1}, {1, 3, 5, 7}, {1, 1, 4, 6}},
        {{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}},
    };
    uint32_t t = set->width;

    if (which >= 2 && t % 4)
        return false;
    for (uint32_t i = 0; i < t; i++) {
        for (uint32_t j = 0; j < t; j++) {
            int64_t value = i == j ? 2 : 1;
            if (which >= 2)
                value = blocks[which - 2][i % 4][j % 4] * (t > 4 && i / 4 == j / 4 ? 2 : 1);
            if (!entry_is(set, i, j, value))
                return false;
        }
    }
    return true;
}

static int external_of(const pool_poseidon *set)
{
    for (int which = 1; which < 4; which++)
        if (is_external(set, which))
            return which;
    return 0;
}

/*
 * An entry of the internal diagonal that needs no product: a small integer or, in Goldilocks and
 * fields below 32 bits where the modulus is 1 modulo 2^k, 2^-k (ptx/poseidon/halved.cuh); either
 * sign.
 */
struct cheap {
    bool is_negative;
    uint32_t times;    /* 1 to 4, or 0 */
    uint32_t halvings; /* k, or 0; both 0: a product after all */
};

enum { TIMES_MAX = 4, HALVINGS_MAX = 32 };

static struct cheap cheap_entry(const pool_field *field, const uint64_t *entry)
{
    struct cheap cheap = {0};
    uint64_t wanted[FIELD_MAX_LIMBS];
    uint64_t negated[FIELD_MAX_LIMBS];
    bool can_halve = field->kind == FIELD_KIND_GOLDILOCKS || field->bits < 32;
    uint32_t halvings = field->two_adicity < HALVINGS_MAX ? field->two_adicity : HALVINGS_MAX;

    if (!can_halve)
        halvings = 0;
    for (uint32_t i = 1; i <= TIMES_MAX + halvings; i++) {
        if (i <= TIMES_MAX)
            field_set_integer(field, wanted, i);
        else if (i == TIMES_MAX + 1)
            field_halve(field, wanted, field->one);
        else
            field_halve(field, wanted, wanted);
        field_neg(field, negated, wanted);
        cheap.is_negative = field_equal(field, entry, negated);
        if (!cheap.is_negative && !field_equal(field, entry, wanted))
            continue;
        cheap.times = i <= TIMES_MAX ? i : 0;
        cheap.halvings = i <= TIMES_MAX ? 0 : i - TIMES_MAX;
        return cheap;
    }
    return cheap;
}

/* Lane by lane: x_i = sum + d_i x_i, where lane 0 has a sum of its own, with the next constant. */
static void put_internal(struct field_emit_writer *writer, const pool_poseidon *set)
{
    static const char *const times[TIMES_MAX + 1] = {NULL, "x[%u]", "fr_dbl_lazy(x[%u])",
        "fr_add_lazy(x[%u], fr_dbl_lazy(x[%u]))", "fr_dbl_lazy(fr_dbl_lazy(x[%u]))"};

    field_emit(writer, "__device__ __forceinline__ void poseidon_internal(fr *x, lane_sum first, "
                       "lane_sum sum)\n{\n");
    for (uint32_t i = 0; i < set->width; i++) {
        struct cheap cheap = cheap_entry(set->field, set->diagonal + (size_t)i * set->field->limbs);
        const char *sum = i == 0 ? "first" : "sum";
        if (!cheap.halvings && !cheap.times) {
            field_emit(writer, "    x[%u] = sum_and_product(%s, x[%u], poseidon_diagonal[%u]);\n",
                i, sum, i, i);
            continue;
        }
        field_emit(writer, "    x[%u] = sum_reduce(sum_%s(%s, ", i,
            cheap.is_negative ? "minus" : "plus", sum);
        if (cheap.halvings)
            field_emit(writer, "fr_halved<%u>(x[%u])", cheap.halvings, i);
        else
            field_emit(writer, times[cheap.times], i, i);
        field_emit(writer, "));\n");
    }
    field_emit(writer, "}\n");
}

/* Elements of the constants after the last linear layer: arrays have zeros there without any. */
static size_t final_count(const pool_poseidon *set)
{
    return set->constant_count - poseidon_constant_count(set);
}

static size_t count_constants(const pool_poseidon *set)
{
    const struct poseidon_window *window = &set->window;
    size_t t = set->width;
    size_t count = ((size_t)set->full_rounds + 2) * t + set->partial_rounds + t * t;

    if (set->kind == POOL_POSEIDON2)
        return count + t;
    if (!window->is_used)
        return set->constant_count + t + t * t;
    return count + 4 * t * t + 2 * (t - 1) * (window->is_scaled ? set->partial_rounds : 1);
}

static void put_numbers(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const pool_field *field = set->field;
    bool is_wide =
        field->words > 2 ? set->width * field->words > UNROLLED_WORDS : set->width > UNROLLED_LANES;
    /* Rounds as they are defined run in a loop of 2 H + P rounds, full before H and from H + P on;
     * H = F and P = -F make that F full rounds for an odd number F, too. */
    bool is_odd = set->full_rounds % 2;
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {{"WIDTH", set->width}, {"ALPHA", set->alpha},
        {"ALPHA_BITS", 32 - (uint32_t)__builtin_clz(set->alpha)},
        {"HALF_ROUNDS", is_odd ? set->full_rounds : set->full_rounds / 2},
        {"PARTIAL_ROUNDS", is_odd ? 0 - set->full_rounds : set->partial_rounds},
        {"PARTIAL_LANE", set->partial_lane}, {"INPUTS", set->inputs},
        {"INPUT_LANE", set->input_lane}, {"TAG_LANE", set->tag_lane},
        {"OUTPUT_LANE", set->output_lane}, {"DIGEST", set->digest},
        {"FEED_FORWARD", set->feed_forward}, {"IS_SECOND", set->kind == POOL_POSEIDON2},
        {"HAS_WINDOW", set->window.is_used}, {"IS_SCALED", set->window.is_scaled},
        {"UNROLLED", !is_wide}, {"IS_GOLDILOCKS", field->kind == FIELD_KIND_GOLDILOCKS},
        {"DENSE", 0}, {"SUM", 1}, {"BLOCKS_57", 2}, {"BLOCKS_23", 3}};

    field_emit(writer, "/* The Poseidon set %s, generated. */\n", set->name);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        field_emit(writer, "#define POSEIDON_%s %d\n", numbers[i].name, (int)numbers[i].value);
    field_emit(writer, "#define POSEIDON_CONSTANTS __device__ %sconst\n",
        count_constants(set) * field->bytes <= CONSTANT_BYTES ? "__constant__ " : "");
    field_emit(writer, "#include \"poseidon/sum.cuh\"\n");
}

/* a and h by round; or once, with one before a and the head before h. */
static void put_sums(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const struct poseidon_window *window = &set->window;
    size_t limbs = set->field->limbs;
    size_t n = set->width - 1;

    if (window->is_scaled) {
        put_array(writer, "sums", window->sums, 2 * n * set->partial_rounds);
        return;
    }
    begin_array(writer, "sums", 2 * n + 2);
    put_elements(writer, set->field->one, 1);
    put_elements(writer, window->sums, n);
    put_elements(writer, window->head, 1);
    put_elements(writer, window->sums + n * limbs, n);
    end_array(writer);
}

/*
 * Goldilocks matrices of entries below 2^16, as integers: sums of halves of lanes times such
 * entries need no carries and one reduction a row.
 */
static bool put_small_matrix(struct field_emit_writer *writer, const pool_poseidon *set)
{
    size_t count = (size_t)set->width * set->width;
    uint64_t entry;

    if (set->field->kind != FIELD_KIND_GOLDILOCKS || set->window.is_scaled)
        return false;
    for (size_t i = 0; i < count; i++) {
        field_from_montgomery(set->field, &entry, set->matrix + i);
        if (entry >> SMALL_BITS)
            return false;
    }
    field_emit(writer, "__device__ __constant__ const unsigned poseidon_small[%zu] = {", count);
    for (size_t i = 0; i < count; i++) {
        field_from_montgomery(set->field, &entry, set->matrix + i);
        field_emit(writer, "%s%u", i ? "," : "", (unsigned)entry);
    }
    field_emit(writer, "};\n");
    return true;
}

static void put_window(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const struct poseidon_window *window = &set->window;
    size_t t = set->width;
    size_t half = (size_t)set->full_rounds / 2 * t;

    field_emit(writer, "#define POSEIDON_SMALL_MATRIX %d\n", put_small_matrix(writer, set));
    begin_array(writer, "before", half + t);
    put_elements(writer, set->constants, half);
    put_elements(writer, window->first, 1);
    end_array(writer);
    put_array(writer, "matrix", set->matrix, t * t);
    put_array(writer, "entry", window->entry, t * t);
    put_sums(writer, set);
    put_array(writer, "lane", window->lane, set->partial_rounds);
    put_array(writer, "exit", window->exit, (t - 1) * (t - 1));
    put_array(writer, "after", window->after, t - 1);
    put_array(writer, "back", window->back, t * t);
    begin_array(writer, "behind", half);
    put_elements(writer,
        set->constants + (half + (set->partial_rounds + 1) * t) * set->field->limbs,
        half - t + final_count(set));
    end_array(writer);
}

static void put_second(struct field_emit_writer *writer, const pool_poseidon *set)
{
    size_t limbs = set->field->limbs;
    size_t half = (size_t)set->full_rounds / 2 * set->width;
    int external = external_of(set);

    field_emit(writer, "#define POSEIDON_EXTERNAL %s\n", externals[external]);
    begin_array(writer, "before", half + set->width);
    put_elements(writer, set->constants, half + (set->partial_rounds ? 1 : 0));
    end_array(writer);
    begin_array(writer, "lane", set->partial_rounds + 1);
    if (set->partial_rounds)
        put_elements(writer, set->constants + (half + 1) * limbs, set->partial_rounds - 1);
    end_array(writer);
    begin_array(writer, "behind", half + set->width);
    put_elements(
        writer, set->constants + (half + set->partial_rounds) * limbs, half + final_count(set));
    end_array(writer);
    if (external == 0)
        put_array(writer, "matrix", set->matrix, (size_t)set->width * set->width);
    put_array(writer, "diagonal", set->diagonal, set->width);
    put_internal(writer, set);
}

pool_status poseidon_text(const pool_poseidon *set, char **text)
{
    struct field_emit_writer writer = {
        .field = set->field, .prefix = "fr", .words = set->field->words};
    uint32_t words[FIELD_MAX_WORDS];

    put_numbers(&writer, set);
    put_factors(&writer);
    poseidon_device_words(set->field, words, set->tag);
    put_function(&writer, "tag", words);
    if (set->kind == POOL_POSEIDON2) {
        put_second(&writer, set);
    } else if (set->window.is_used) {
        put_window(&writer, set);
    } else {
        begin_array(&writer, "before", poseidon_constant_count(set) + set->width);
        put_elements(&writer, set->constants, set->constant_count);
        end_array(&writer);
        put_array(&writer, "matrix", set->matrix, (size_t)set->width * set->width);
    }
    if (writer.failed) {
        base_free(writer.data);
        return base_fail_memory("the device text of a Poseidon set");
    }
    *text = writer.data;
    return POOL_OK;
}
