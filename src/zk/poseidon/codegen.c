/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device source of a parameter set, parameters.cuh: its numbers, constants and matrices as the
 * kernels of ptx/poseidon read them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/math.h"
#include "base/status.h"
#include "zk/field/emit.h"
#include "zk/poseidon/codegen.h"
#include "zk/poseidon/kernels.h"

/*
 * Up to this many bytes of constants are stored in constant memory, more in global memory. Constant
 * memory shares a cache with instructions: with t = 12 over 256 bits, 30 KB, they evicted each
 * other (19 to 28 million permutations per second, against 31 from global memory); with t = 3,
 * 12 KB, constant memory was 2 % faster.
 */
enum { CONSTANT_BYTES = 16 * 1024 };
/* The widest state that full rounds keep in registers: in words, and in elements for fields of up
 * to two words. The unrolled code of the 2 t^2 products of a wider one would exceed the instruction
 * cache. */
enum { UNROLLED_WORDS = 24, UNROLLED_ELEMENTS = 24 };

/* Bits of the entries of a small MDS matrix. */
enum { SMALL_BITS = 16 };

/* How the kernels compute Poseidon2's external layer. */
enum external_layer { DENSE, SUM, M4_5713, M4_2311, EXTERNAL_LAYERS };
static const char *const external_names[EXTERNAL_LAYERS] = {"POSEIDON_EXTERNAL_DENSE",
    "POSEIDON_EXTERNAL_SUM", "POSEIDON_EXTERNAL_M4_5713", "POSEIDON_EXTERNAL_M4_2311"};

void poseidon_device_words(const pool_field *field, uint32_t *words, const uint64_t *limbs)
{
    uint64_t element[FIELD_MAX_LIMBS];

    field_copy(field, element, limbs);
    if (field->flags & FIELD_DEVICE_STANDARD)
        field_from_montgomery(field, element, element);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = field_word(element, i);
}

static void emit_words(struct field_emit_writer *writer, const uint32_t *words)
{
    field_emit(writer, "{{");
    for (uint32_t i = 0; i < writer->field->words; i++)
        field_emit(writer, "%s0x%08xu", i == 0 ? "" : ",", words[i]);
    field_emit(writer, "}}");
}

static void emit_element(struct field_emit_writer *writer, const uint64_t *limbs)
{
    uint32_t words[FIELD_MAX_WORDS];

    poseidon_device_words(writer->field, words, limbs);
    emit_words(writer, words);
}

static void begin_array(struct field_emit_writer *writer, const char *name, size_t count)
{
    field_emit(writer, "POSEIDON_CONSTANTS fr poseidon_%s[%zu] = {\n", name, count);
}

/* Elements of an array's count that are not emitted are 0. */
static void emit_elements(struct field_emit_writer *writer, const uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        emit_element(writer, elements + i * writer->field->limbs);
        field_emit(writer, ",\n");
    }
}

static void end_array(struct field_emit_writer *writer)
{
    field_emit(writer, "};\n");
}

static void emit_array(
    struct field_emit_writer *writer, const char *name, const uint64_t *elements, size_t count)
{
    begin_array(writer, name, count);
    emit_elements(writer, elements, count);
    end_array(writer);
}

static void emit_constant_function(
    struct field_emit_writer *writer, const char *name, const uint32_t *words)
{
    field_emit(writer, "__device__ __forceinline__ fr poseidon_%s(void)\n{\n    fr r = ", name);
    emit_words(writer, words);
    field_emit(writer, ";\n    return r;\n}\n");
}

/* The factors that convert between the device's form and the other one, by the device's own
 * multiplication. */
static void emit_form_factors(struct field_emit_writer *writer)
{
    const pool_field *field = writer->field;
    uint64_t factor[FIELD_MAX_LIMBS] = {1};
    uint32_t words[FIELD_MAX_WORDS] = {0};
    bool is_standard = (field->flags & FIELD_DEVICE_STANDARD) != 0;

    /* To Montgomery form: R^2, of which a Montgomery product leaves R. To standard form, on devices
     * that compute in it: 1 / R. */
    if (is_standard)
        field_from_montgomery(field, factor, factor);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = field_word(is_standard ? factor : field->r2, i);
    emit_constant_function(writer, "to_device_form", words);
    for (uint32_t i = 0; i < field->words; i++)
        words[i] = is_standard ? field_word(field->one, i) : i == 0;
    emit_constant_function(writer, "from_device_form", words);
}

static bool matrix_entry_is(const pool_poseidon *set, uint32_t i, uint32_t j, int64_t value)
{
    uint64_t wanted[FIELD_MAX_LIMBS];

    field_set_integer(set->field, wanted, value);
    return field_equal(
        set->field, wanted, set->mds + ((size_t)i * set->width + j) * set->field->limbs);
}

/* Whether the external matrix is the one that `layer` computes. */
static bool is_external_layer(const pool_poseidon *set, enum external_layer layer)
{
    static const int64_t blocks[2][4][4] = {
        {{5, 7, 1, 3}, {4, 6, 1, 1}, {1, 3, 5, 7}, {1, 1, 4, 6}},
        {{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}},
    };
    uint32_t t = set->width;

    if (layer >= M4_5713 && t % 4)
        return false;
    for (uint32_t i = 0; i < t; i++) {
        for (uint32_t j = 0; j < t; j++) {
            int64_t value = i == j ? 2 : 1;
            if (layer >= M4_5713)
                value = blocks[layer - M4_5713][i % 4][j % 4] * (t > 4 && i / 4 == j / 4 ? 2 : 1);
            if (!matrix_entry_is(set, i, j, value))
                return false;
        }
    }
    return true;
}

static enum external_layer external_layer_of(const pool_poseidon *set)
{
    for (enum external_layer layer = SUM; layer < EXTERNAL_LAYERS; layer++)
        if (is_external_layer(set, layer))
            return layer;
    return DENSE;
}

/*
 * An entry of the internal diagonal whose product needs no multiplication: plus or minus a small
 * integer or, in fields below 32 bits whose modulus is 1 modulo 2^k, plus or minus 2^-k
 * (ptx/poseidon/div_pow2.cuh). In Goldilocks, where a product is added before the reduction, only
 * small positive integers are cheaper than it: a shift by k has carries and a reduction of its own.
 */
struct cheap_factor {
    bool is_negative;
    uint32_t integer;      /* 1 to 4, or 0 */
    uint32_t log_quotient; /* k of 2^-k, or 0; both 0: the entry needs a multiplication */
};

enum { INTEGER_MAX = 4, LOG_QUOTIENT_MAX = 32 };

static struct cheap_factor find_cheap_factor(const pool_field *field, const uint64_t *entry)
{
    struct cheap_factor factor = {0};
    uint64_t candidate[FIELD_MAX_LIMBS];
    uint64_t negated[FIELD_MAX_LIMBS];
    bool is_goldilocks = field->kind == FIELD_KIND_GOLDILOCKS;
    uint32_t log_quotient_max =
        field->bits < 32 ? (uint32_t)base_min(field->two_adicity, LOG_QUOTIENT_MAX) : 0;

    for (uint32_t i = 1; i <= INTEGER_MAX + log_quotient_max; i++) {
        if (i <= INTEGER_MAX)
            field_set_integer(field, candidate, i);
        else if (i == INTEGER_MAX + 1)
            field_halve(field, candidate, field->one);
        else
            field_halve(field, candidate, candidate);
        field_neg(field, negated, candidate);
        factor.is_negative = !is_goldilocks && field_equal(field, entry, negated);
        if (!factor.is_negative && !field_equal(field, entry, candidate))
            continue;
        factor.integer = i <= INTEGER_MAX ? i : 0;
        factor.log_quotient = i <= INTEGER_MAX ? 0 : i - INTEGER_MAX;
        return factor;
    }
    return factor;
}

/* x_i = sum + d_i x_i for each state element; first_sum, for element 0, includes the next round's
 * constant. */
static void emit_diagonal_layer(struct field_emit_writer *writer, const pool_poseidon *set)
{
    static const char *const products[INTEGER_MAX + 1] = {NULL, "wide_from(x[%u])",
        "wide_double(wide_from(x[%u]))", "wide_add_element(wide_double(wide_from(x[%u])), x[%u])",
        "wide_double(wide_double(wide_from(x[%u])))"};

    field_emit(writer, "__device__ __forceinline__ void poseidon_diagonal_layer(fr *x, "
                       "wide_sum first_sum, wide_sum sum)\n{\n");
    for (uint32_t i = 0; i < set->width; i++) {
        struct cheap_factor factor =
            find_cheap_factor(set->field, set->diagonal + (size_t)i * set->field->limbs);
        const char *sum = i == 0 ? "first_sum" : "sum";

        if (!factor.log_quotient && !factor.integer) {
            field_emit(writer, "    x[%u] = wide_mul_add(%s, x[%u], poseidon_diagonal[%u]);\n", i,
                sum, i, i);
            continue;
        }
        field_emit(writer, "    x[%u] = wide_reduce(wide_%s(%s, ", i,
            factor.is_negative ? "sub" : "add", sum);
        if (factor.log_quotient)
            field_emit(writer, "wide_from(fr_div_pow2<%u>(x[%u]))", factor.log_quotient, i);
        else
            field_emit(writer, products[factor.integer], i, i);
        field_emit(writer, "));\n");
    }
    field_emit(writer, "}\n");
}

/* The number of constants after the last linear layer; the arrays have zeros there if it is 0. */
static size_t final_constant_count(const pool_poseidon *set)
{
    return set->constant_count - poseidon_round_constant_count(set);
}

static size_t count_array_elements(const pool_poseidon *set)
{
    const struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t t = set->width;
    size_t count = ((size_t)set->full_rounds + 2) * t + set->partial_rounds + t * t;

    if (set->kind == POOL_POSEIDON2)
        return count + t;
    if (!recurrence->is_used)
        return set->constant_count + t + t * t;
    return count + 4 * t * t + 2 * (t - 1) * (recurrence->is_scaled ? set->partial_rounds : 1);
}

/* The name is the caller's and part of no fingerprint: it must not end the comment. */
static const char *title_of(const pool_poseidon *set)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ";

    return set->name[strspn(set->name, safe)] ? "of the caller" : set->name;
}

static void emit_numbers(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const pool_field *field = set->field;
    bool is_wide = field->words > 2 ? set->width * field->words > UNROLLED_WORDS
                                    : set->width > UNROLLED_ELEMENTS;
    /* The rounds as they are defined run in a loop of 2 H + P rounds, of which the first H and the
     * last H are full. H = F and P = -F give an odd number F of full rounds. */
    bool is_odd = set->full_rounds % 2;
    const struct {
        const char *name;
        uint32_t value;
    } numbers[] = {{"WIDTH", set->width}, {"ALPHA", set->alpha},
        {"ALPHA_BITS", 32 - (uint32_t)__builtin_clz(set->alpha)},
        {"HALF_FULL_ROUNDS", is_odd ? set->full_rounds : set->full_rounds / 2},
        {"PARTIAL_ROUNDS", is_odd ? 0 - set->full_rounds : set->partial_rounds},
        {"PARTIAL_INDEX", set->partial_index}, {"MAX_INPUTS", set->max_inputs},
        {"INPUT_INDEX", set->input_index}, {"DOMAIN_TAG_INDEX", set->domain_tag_index},
        {"OUTPUT_INDEX", set->output_index}, {"DIGEST_ELEMENTS", set->digest_elements},
        {"FEED_FORWARD", set->feed_forward}, {"IS_POSEIDON2", set->kind == POOL_POSEIDON2},
        {"HAS_RECURRENCE", set->recurrence.is_used}, {"IS_SCALED", set->recurrence.is_scaled},
        {"IS_UNROLLED", !is_wide}, {"IS_GOLDILOCKS", field->kind == FIELD_KIND_GOLDILOCKS},
        {"EXTERNAL_DENSE", DENSE}, {"EXTERNAL_SUM", SUM}, {"EXTERNAL_M4_5713", M4_5713},
        {"EXTERNAL_M4_2311", M4_2311}};

    field_emit(writer, "/* The Poseidon parameter set %s, generated. */\n", title_of(set));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        field_emit(writer, "#define POSEIDON_%s %d\n", numbers[i].name, (int)numbers[i].value);
    field_emit(writer, "#define POSEIDON_CONSTANTS __device__ %sconst\n",
        count_array_elements(set) * field->bytes <= CONSTANT_BYTES ? "__constant__ " : "");
    field_emit(writer, "#include \"poseidon/div_pow2.cuh\"\n#include \"poseidon/wide_sum.cuh\"\n");
}

/* The coefficients a and h of every round or, unscaled, those of all rounds: 1, a, head, h. */
static void emit_recurrence(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t limbs = set->field->limbs;
    size_t n = set->width - 1;

    if (recurrence->is_scaled) {
        emit_array(writer, "recurrence", recurrence->coefficients, 2 * n * set->partial_rounds);
        return;
    }
    begin_array(writer, "recurrence", 2 * n + 2);
    emit_elements(writer, set->field->one, 1);
    emit_elements(writer, recurrence->coefficients, n);
    emit_elements(writer, recurrence->head, 1);
    emit_elements(writer, recurrence->coefficients + n * limbs, n);
    end_array(writer);
}

/*
 * The entries of a Goldilocks MDS matrix as integers if all are below 2^16: sums of such entries
 * times 32-bit halves of state elements need no carries and one reduction per row.
 */
static bool emit_small_mds(struct field_emit_writer *writer, const pool_poseidon *set)
{
    size_t count = (size_t)set->width * set->width;
    uint64_t entry;

    if (set->field->kind != FIELD_KIND_GOLDILOCKS || set->recurrence.is_scaled)
        return false;
    for (size_t i = 0; i < count; i++) {
        field_from_montgomery(set->field, &entry, set->mds + i);
        if (entry >> SMALL_BITS)
            return false;
    }
    field_emit(writer, "__device__ __constant__ const unsigned poseidon_small_mds[%zu] = {", count);
    for (size_t i = 0; i < count; i++) {
        field_from_montgomery(set->field, &entry, set->mds + i);
        field_emit(writer, "%s%u", i ? "," : "", (unsigned)entry);
    }
    field_emit(writer, "};\n");
    return true;
}

static void emit_recurrence_rounds(struct field_emit_writer *writer, const pool_poseidon *set)
{
    const struct poseidon_recurrence *recurrence = &set->recurrence;
    size_t t = set->width;
    size_t half = (size_t)set->full_rounds / 2 * t;

    field_emit(writer, "#define POSEIDON_HAS_SMALL_MDS %d\n", emit_small_mds(writer, set));
    begin_array(writer, "first_constants", half + t);
    emit_elements(writer, set->constants, half);
    emit_elements(writer, recurrence->entry_constant, 1);
    end_array(writer);
    emit_array(writer, "mds", set->mds, t * t);
    emit_array(writer, "entry_mds", recurrence->entry_mds, t * t);
    emit_recurrence(writer, set);
    emit_array(writer, "partial_constants", recurrence->partial_constants, set->partial_rounds);
    emit_array(writer, "exit_matrix", recurrence->exit_matrix, (t - 1) * (t - 1));
    emit_array(writer, "exit_constants", recurrence->exit_constants, t - 1);
    emit_array(writer, "exit_mds", recurrence->exit_mds, t * t);
    begin_array(writer, "last_constants", half);
    emit_elements(writer,
        set->constants + (half + (set->partial_rounds + 1) * t) * set->field->limbs,
        half - t + final_constant_count(set));
    end_array(writer);
}

/*
 * Up to how many one-word state elements the internal layer sums as an integer s: the value
 * s - floor(s / 2^31) p must be below 2^32. 0 if that is not worth it. Sets how often p must then
 * be subtracted for a value below p.
 */
static uint32_t find_sum_part(const pool_poseidon *set, uint32_t *reductions)
{
    const uint64_t p = set->field->modulus[0], word = UINT64_C(1) << 31;
    const uint32_t t = set->width;
    uint32_t part = t;
    uint64_t largest = 0;

    *reductions = 0;
    if (set->field->words > 1 || p >= word)
        return 0;
    for (uint32_t parts = 1; part > 2; parts++) {
        part = (t + parts - 1) / parts;
        largest = word - 1 + part * (p - 1) / word * (word - p);
        if (largest >> 32 == 0)
            break;
    }
    *reductions = (uint32_t)(largest / p);
    return part > 2 && *reductions <= 2 ? part : 0;
}

static void emit_poseidon2(struct field_emit_writer *writer, const pool_poseidon *set)
{
    size_t limbs = set->field->limbs;
    size_t half = (size_t)set->full_rounds / 2 * set->width;
    enum external_layer external = external_layer_of(set);
    uint32_t reductions, part = find_sum_part(set, &reductions);

    field_emit(writer,
        "#define POSEIDON_EXTERNAL %s\n#define POSEIDON_SUM_PART %u\n"
        "#define POSEIDON_SUM_REDUCTIONS %u\n",
        external_names[external], part, reductions);
    begin_array(writer, "first_constants", half + set->width);
    emit_elements(writer, set->constants, half + (set->partial_rounds ? 1 : 0));
    end_array(writer);
    begin_array(writer, "partial_constants", set->partial_rounds + 1);
    if (set->partial_rounds)
        emit_elements(writer, set->constants + (half + 1) * limbs, set->partial_rounds - 1);
    end_array(writer);
    begin_array(writer, "last_constants", half + set->width);
    emit_elements(writer, set->constants + (half + set->partial_rounds) * limbs,
        half + final_constant_count(set));
    end_array(writer);
    if (external == DENSE)
        emit_array(writer, "mds", set->mds, (size_t)set->width * set->width);
    emit_array(writer, "diagonal", set->diagonal, set->width);
    emit_diagonal_layer(writer, set);
}

static void emit_defined_rounds(struct field_emit_writer *writer, const pool_poseidon *set)
{
    begin_array(writer, "round_constants", poseidon_round_constant_count(set) + set->width);
    emit_elements(writer, set->constants, set->constant_count);
    end_array(writer);
}

pool_status poseidon_generate(const pool_poseidon *set, char **source)
{
    struct field_emit_writer writer = {
        .field = set->field, .prefix = "fr", .words = set->field->words};
    uint32_t words[FIELD_MAX_WORDS];

    emit_numbers(&writer, set);
    emit_form_factors(&writer);
    poseidon_device_words(set->field, words, set->domain_tag);
    emit_constant_function(&writer, "domain_tag", words);
    if (set->kind == POOL_POSEIDON2) {
        emit_poseidon2(&writer, set);
    } else if (poseidon_emit_circulant(&writer, set)) {
        field_emit(&writer, "#define POSEIDON_HAS_CIRCULANT 1\n");
        emit_defined_rounds(&writer, set);
    } else if (set->recurrence.is_used) {
        emit_recurrence_rounds(&writer, set);
    } else {
        emit_defined_rounds(&writer, set);
        emit_array(&writer, "mds", set->mds, (size_t)set->width * set->width);
    }
    if (writer.failed) {
        base_free(writer.data);
        return base_fail_memory("the device source of a Poseidon parameter set");
    }
    *source = writer.data;
    return POOL_OK;
}
